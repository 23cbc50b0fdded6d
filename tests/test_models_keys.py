"""The keys of configs by type, in reading/models/keys.txt: those of the classes of transformers.

`python tests/test_models_keys.py --write` writes the file.
"""

import inspect
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import attncalc.reading.models
from attncalc.reading.models.families import FAMILIES

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
FILE = Path(attncalc.reading.models.__file__).with_name("keys.txt")


def keys_of(kind: str) -> set[str]:
    """Return the keys that the class of a type has, reads under another name, or converts."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    made = CONFIG_MAPPING[kind]
    usual = made()
    inner = [each for each in usual.to_dict().values() if isinstance(each, dict)]
    found = {*dir(usual), *made.attribute_map, *(key for each in inner for key in each)}
    path = Path(inspect.getfile(made))
    code = path.with_name(path.name.replace("configuration_", "modeling_"))
    read = code.read_text(encoding="utf-8") if code.exists() else ""
    words = re.findall(r"\w+", inspect.getsource(made))
    return found | {*words, *re.findall(r'getattr\(\w*\.?config, "(\w+)"', read)}


def listed() -> list[str]:
    """Return the keys of the file."""
    return [line.partition(":")[0] for line in FILE.read_text(encoding="utf-8").splitlines()]


def lines() -> Iterator[str]:
    """Yield the lines of the file: a key, and the types of the families that have it."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    kinds = sorted({kind for each in FAMILIES for kind in each.types if kind in CONFIG_MAPPING_NAMES})
    found = {kind: keys_of(kind) for kind in kinds}
    for key in sorted(listed()):
        yield f"{key}: {' '.join(kind for kind in kinds if key in found[kind])}"


@pytest.mark.slow
def test_the_keys_of_types_are_those_of_their_classes() -> None:
    pytest.importorskip("transformers")
    assert FILE.read_text(encoding="utf-8").splitlines() == [*lines()]


if __name__ == "__main__" and "--write" in sys.argv:
    made = "\n".join(lines())
    FILE.write_text(f"{made}\n", encoding="utf-8")
