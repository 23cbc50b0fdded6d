"""The keys of configs by type, in reading/models/keys.txt: those of the classes of transformers.

`python tests/test_models_keys.py --write` writes the file.
"""

import inspect
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import attncalc.reading.models
from attncalc import InputError, count
from attncalc.reading.models.families import FAMILIES
from attncalc.reading.models.folder import Config
from attncalc.reading.models.unknown import WHY

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

    kinds = sorted(
        {kind for each in FAMILIES for kind in each.types if kind in CONFIG_MAPPING_NAMES}
    )
    found = {kind: keys_of(kind) for kind in kinds}
    for key in sorted(listed()):
        yield f"{key}: {' '.join(kind for kind in kinds if key in found[kind])}"


USUAL = {
    "vocab_size": 31,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "max_position_embeddings": 12,
}
ROUTED = {"num_local_experts": 4, "num_experts_per_tok": 2, "num_key_value_heads": 2}


def counted(folder: Path, kind: str, **said: Any) -> int:
    """Return the number of parameters of a config."""
    folder.joinpath("config.json").write_text(json.dumps({"model_type": kind, **said}))
    return int(count(folder)["parameters"]["total"])


@pytest.mark.parametrize(
    ("kind", "said", "stray"),
    [
        ("minimax_m2", USUAL | ROUTED, {"moe_intermediate_size": 7}),
        ("mixtral", USUAL | ROUTED, {"n_shared_experts": 1, "moe_layers": [1]}),
        ("llama", USUAL, {"mlp_ratio": 3, "use_mask_token": True, "kv_lora_rank": 4}),
        ("bert", USUAL | {"type_vocab_size": 2}, {"head_dim": 8, "global_head_dim": 6}),
        ("gpt2", {"n_embd": 16, "n_head": 4, "n_layer": 2, "n_positions": 9, "vocab_size": 31},
         {"intermediate_size": 20, "num_key_value_heads": 2, "d_ff": 20}),
    ],
)  # fmt: skip
def test_keys_that_a_type_does_not_have_change_no_count(
    kind: str, said: dict[str, Any], stray: dict[str, Any], tmp_path: Path
) -> None:
    usual = counted(tmp_path, kind, **said)
    for key, value in stray.items():
        assert counted(tmp_path, kind, **said, **{key: value}) == usual, key


def test_biases_of_projections_are_those_of_falcon_h1_alone() -> None:
    for family in FAMILIES:
        for kind in {"bamba", "falcon_h1"} & {*family.types}:
            said = Config("", {"model_type": kind, "projectors_bias": True})
            assert family.own_config(said).is_so("projectors_bias", False) is (kind != "bamba")


def test_a_width_that_no_class_derives_is_asked_for(tmp_path: Path) -> None:
    """Only some types, such as GPT-2, have a feed-forward part of 4 times the width."""
    said = {key: value for key, value in USUAL.items() if key != "intermediate_size"}
    with pytest.raises(InputError, match='it has no "intermediate_size", which its model needs'):
        counted(tmp_path, "llama", **said)
    sides = {"d_model": 16, "vocab_size": 31, "max_position_embeddings": 12}
    sides |= {f"{side}_layers": 2 for side in ("encoder", "decoder")}
    sides |= {f"{side}_attention_heads": 4 for side in ("encoder", "decoder")}
    with pytest.raises(InputError, match='it has no "encoder_ffn_dim"'):
        counted(tmp_path, "bart", **sides)


def test_a_refused_setting_is_that_of_the_nearest_row(tmp_path: Path) -> None:
    """wav2vec 2.0 has two rows, with normalizations before the parts and after."""
    said = USUAL | {"do_stable_layer_norm": True, "add_adapter": True}
    with pytest.raises(InputError, match='"add_adapter" is "True"'):
        counted(tmp_path, "wav2vec2", **said)


def test_a_head_that_sums_layers_is_not_counted(tmp_path: Path) -> None:
    said = USUAL | {"use_weighted_layer_sum": True, "conv_dim": [6], "conv_kernel": [3]}
    said |= {"conv_stride": [2], "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}
    with pytest.raises(InputError, match='"use_weighted_layer_sum" is "True"'):
        counted(tmp_path, "wav2vec2", architectures=["Wav2Vec2ForSequenceClassification"], **said)


def test_types_that_are_refused_with_a_reason_are_not_opened() -> None:
    opened = {kind for each in FAMILIES for kind in each.types}
    assert not opened & {*WHY}


@pytest.mark.slow
def test_types_that_are_refused_with_a_reason_exist() -> None:
    auto = pytest.importorskip("transformers.models.auto.configuration_auto")
    assert not {*WHY} - {*auto.CONFIG_MAPPING_NAMES}


@pytest.mark.slow
def test_the_keys_of_types_are_those_of_their_classes() -> None:
    pytest.importorskip("transformers")
    assert FILE.read_text(encoding="utf-8").splitlines() == [*lines()]


if __name__ == "__main__" and "--write" in sys.argv:
    made = "\n".join(lines())
    FILE.write_text(f"{made}\n", encoding="utf-8")
