"""Token ids: typed, or computed from a text by the tokenizer in a model's folder."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.sources import remember
from attncalc.base.typed import quoted
from attncalc.reading.files import decode, in_units, read_bytes, refuse_found

TOKENIZER = "tokenizer.json"
MASKS = ("[MASK]", "<mask>")
MOST_BYTES = 64 * 2**20
"""The largest number of bytes of a tokenizer: the largest vocabularies have half of that."""
MOST_SECONDS, MOST_WAITED = 5, 30
"""The largest CPU time of a tokenizer, and the largest waiting time, in seconds."""
MOST_MEMORY = 2 * 2**30
_WHOLE = re.compile(r"[0-9]{1,12}")
_PACKAGE = "pip install 'attncalc[models]' installs it"


def read_ids(text: str, flag: str = "--tokens") -> list[int]:
    """Return typed token ids, with commas or spaces between them.

    Raises InputError if one of them is not an id, or there is none.

    >>> read_ids("15496, 995"), read_ids("[1 2]")
    ([15496, 995], [1, 2])
    """
    cells = text.strip().removeprefix("[").removesuffix("]").replace(",", " ").split()
    for cell in cells:
        if not _WHOLE.fullmatch(cell):
            raise InputError(f"{flag}: {quoted(cell)} is not a token id: give integers, as 3, 7")
    if not cells:
        raise InputError(f"{flag} names no token: give ids, as 3, 7")
    return [int(cell) for cell in cells]


def ids_of(folder: Path, text: str) -> list[int]:
    """Return the token ids of a text, by the folder's tokenizer.

    Raises InputError if there is none, it cannot be used, or its library is not installed.
    """
    path = folder / TOKENIZER
    if not path.exists():
        raise InputError(f"{folder}: it has no {TOKENIZER}, which --text needs: give --tokens")
    if find_spec("tokenizers") is None:
        raise InputError(f"--text needs the package tokenizers: {_PACKAGE} (or give --tokens)")
    found: list[int] = _tokenized(path, text=text)["ids"]
    if not found:
        raise InputError("--text has no token: it is empty")
    return found


def words_of(folder: Path, ids: Sequence[int], tell: Callable[[str], None]) -> list[str]:
    """Return the names of tokens: their texts if a tokenizer has them, otherwise their ids.

    ids: the tokens.
    tell: called with the reason why a tokenizer is not used.
    """
    path = folder / TOKENIZER
    if path.exists() and find_spec("tokenizers") is not None:
        try:
            words: list[str] = _tokenized(path, ids=ids)["words"]
        except InputError as why:
            tell(f"tokens have their ids for names: {why}")
        else:
            return words
    return [str(each) for each in ids]


def text_of(folder: Path, ids: Sequence[int]) -> str:
    """Return the text of tokens; their ids with spaces if no tokenizer can be used."""
    path = folder / TOKENIZER
    if path.exists() and find_spec("tokenizers") is not None:
        with suppress(InputError):  # which `words_of` has reported
            return str(_tokenized(path, ids=ids)["text"])
    return " ".join(str(each) for each in ids)


def masked_of(folder: Path) -> int | None:
    """Return the id of the mask token; None if no file contains it."""
    path = folder / TOKENIZER
    if not path.exists():
        return None
    refuse_found(path, may_link=True)
    try:
        said = json.loads(decode(read_bytes(path), str(path)))
        added = [(each["content"], each["id"]) for each in said["added_tokens"]]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return next((found for name, found in added if name in MASKS and type(found) is int), None)


def _tokenized(path: Path, text: str = "", ids: Sequence[int] | None = None) -> dict[str, Any]:
    """Return the ids and the words of a text or of ids, from a separate process.

    Raises InputError if the file is not a tokenizer, or requires too much time or memory.
    """
    asked = {
        "path": [str(each) for each in sys.path],
        "seconds": MOST_SECONDS,
        "bytes": MOST_MEMORY,
        "most": MOST_BYTES,
        "text": text,
        "ids": ids,
    }
    remember(path)
    refuse_found(path, may_link=True)
    content = read_bytes(path, MOST_BYTES)
    alone = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(Path(__file__).with_name("tokenizing.py"))],
            input=json.dumps(asked).encode() + b"\n" + content,
            capture_output=True,
            timeout=MOST_WAITED,
            check=False,
            env=os.environ | alone,
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except OSError as why:
        raise InputError(f"{path}: no process can be started for the tokenizer: {why}") from None
    except (subprocess.TimeoutExpired, ValueError):  # stopped by a limit, without a message
        raise InputError(
            f"{path}: the tokenizer was stopped: it crashed, or takes more than {MOST_SECONDS} s "
            f"or {in_units(MOST_MEMORY)} of memory"
        ) from None
    if "error" in found:
        raise InputError(f"{path}: cannot be read as a tokenizer: {found['error']}")
    return found
