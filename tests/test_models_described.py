"""Families described in a file: the numbers of `transformers`, under unknown types and names."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command
from tensor_files import save_tensors

from attncalc import InputError, layers, open_model, solve
from attncalc.reading.models.described import read_family
from attncalc.reading.models.folder import find_weights

Fields = dict[str, Any]
IDS = [3, 7, 5, 40, 8, 8, 2, 11]
ROPE = {"positions": "rope", "rope_pairing": "halves"}
LLAMA: Fields = {
    "title": "Mine",
    "layers": "stack.{}.",
    "count": {"key": "depth"},
    "settings": {
        "block": "decoder",
        "causal": True,
        "norm": "pre",
        "normalization": "rms",
        **ROPE,
        "heads": {"key": "my_num_attention_heads"},
        "eps": {"key": "my_rms_norm_eps"},
        "activation": {"key": "my_hidden_act"},
    },
    "key_heads": {"key": "my_num_key_value_heads"},
    "tensors": {
        "att.query_matrix": "W_Q",
        "att.key_matrix": "W_K",
        "att.value_matrix": "W_V",
        "att.mix": "W_O",
        "before": "gamma_1",
        "between": "gamma_2",
        "ff.gated": "W_1",
        "ff.up": "W_3",
        "ff.down": "W_2",
    },
    "tokens": "table",
    "ends": {"gamma_out": "after"},
    "heads": {"ForCausalLM": {"tensors": {"W_out": "words"}}},
}
NAMES_OF_LLAMA = {
    r"model\.layers\.": "stack.",
    r"self_attn\.q_proj\.weight": "att.query_matrix",
    r"self_attn\.k_proj\.weight": "att.key_matrix",
    r"self_attn\.v_proj\.weight": "att.value_matrix",
    r"self_attn\.o_proj\.weight": "att.mix",
    r"input_layernorm\.weight": "before",
    r"post_attention_layernorm\.weight": "between",
    r"mlp\.gate_proj\.weight": "ff.gated",
    r"mlp\.up_proj\.weight": "ff.up",
    r"mlp\.down_proj\.weight": "ff.down",
    r"model\.embed_tokens\.weight": "table",
    r"model\.norm\.weight": "after",
    r"lm_head\.weight": "words",
}
GPT_2: Fields = {
    "layers": "t.{}.",
    "count": {"key": "depth"},
    "settings": {
        "block": "decoder",
        "causal": True,
        "norm": "pre",
        "normalization": "layer",
        "heads": {"key": "my_n_head"},
        "eps": {"key": "my_layer_norm_epsilon"},
        "activation": {"key": "my_activation_function"},
    },
    "weights_layout": "in-out",
    "tensors": {
        "all.kernel": "W_QKV",
        "all.offset": "b_QKV",
        "join.kernel": "W_O",
        "join.offset": "b_O",
        "one.kernel": "W_1",
        "one.offset": "b_1",
        "two.kernel": "W_2",
        "two.offset": "b_2",
        "na.scale": "gamma_1",
        "na.shift": "beta_1",
        "nb.scale": "gamma_2",
        "nb.shift": "beta_2",
    },
    "tokens": "words",
    "begins": {"P": "places"},
    "positions": "P",
    "ends": {"gamma_out": "nz.scale", "beta_out": "nz.shift"},
    "heads": {"LMHeadModel": {"tensors": {"W_out": "words"}}},
}
NAMES_OF_GPT_2 = {
    r"transformer\.h\.": "t.",
    r"transformer\.wte\.weight": "words",
    r"transformer\.wpe\.weight": "places",
    r"transformer\.ln_f": "nz",
    r"attn\.c_attn": "all",
    r"attn\.c_proj": "join",
    r"mlp\.c_fc": "one",
    r"mlp\.c_proj": "two",
    r"ln_1": "na",
    r"ln_2": "nb",
    r"(n[abz])\.weight": r"\1.scale",
    r"(n[abz])\.bias": r"\1.shift",
    r"weight$": "kernel",
    r"bias$": "offset",
}
NEOX: Fields = {
    "layers": "layers.{}.",
    "count": {"key": "num_hidden_layers"},
    "settings": {
        "block": "decoder",
        "causal": True,
        "norm": "pre",
        "normalization": "layer",
        "positions": "rope",
        "rope_pairing": "halves",
        "rope_dims": {
            "key": "my_share",
            "times": {"key": "hidden_size", "times": {"key": "num_attention_heads", "power": -1}},
        },
        "parallel": {"key": "use_parallel_residual", "values": {"true": "own", "false": "none"}},
        "heads": {"key": "num_attention_heads"},
        "eps": {"key": ["layer_norm_epsilon", "layer_norm_eps"]},
        "activation": {"key": "hidden_act"},
    },
    "fused": {"blocks": {"key": "num_attention_heads"}, "order": "QKV"},
    "tensors": {
        f"{name}.{end}": field + number
        for name, number in (
            ("attention.query_key_value", "QKV"),
            ("attention.dense", "O"),
            ("mlp.dense_h_to_4h", "1"),
            ("mlp.dense_4h_to_h", "2"),
        )
        for end, field in (("weight", "W_"), ("bias", "b_"))
    },
    "tokens": "embed_in.weight",
    "ends": {"gamma_out": "final_layer_norm.weight", "beta_out": "final_layer_norm.bias"},
    "heads": {"ForCausalLM": {"tensors": {"W_out": ["embed_out.weight", "lm_head.weight"]}}},
}
T5: Fields = {
    "like": "t5",
    "settings": {"heads": {"key": "my_num_heads"}},
    "decoder": {"settings": {"heads": {"key": "my_num_heads"}}},
}
DESCRIBED: dict[str, tuple[Fields, dict[str, str], dict[str, str]]] = {
    # (the file, the new names of tensors, the new keys of the config)
    "Llama": (
        LLAMA,
        NAMES_OF_LLAMA,
        {
            "num_hidden_layers": "depth",
            **{key: f"my_{key}" for key in ("num_attention_heads", "num_key_value_heads")},
            **{key: f"my_{key}" for key in ("rms_norm_eps", "hidden_act")},
        },
    ),
    "GPT-2": (
        GPT_2,
        NAMES_OF_GPT_2,
        {
            "n_layer": "depth",
            **{k: f"my_{k}" for k in ("n_head", "layer_norm_epsilon", "activation_function")},
        },
    ),
    "GPT-NeoX": (NEOX, {}, {"rope_parameters": "my_rope"}),
    "Phi": (
        {
            "like": "phi",
            "tensors": {"fc_first.weight": "W_1", "fc_first.bias": "b_1"},
            "settings": {"eps": 1e-5, "window": [None, 3, None]},
        },
        {r"mlp\.fc1": "mlp.fc_first"},
        {"layer_norm_eps": "epsilon"},
    ),
    "Mistral": (
        {"like": "llama", "settings": {"window": {"key": "my_window"}}},
        {},
        {"sliding_window": "my_window"},
    ),
}


@pytest.fixture
def in_float64() -> Iterator[Any]:
    """Yield the models of the other tests, with float32 as float64 in the package."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    import test_models_transformers as others

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "float32", torch.float64)
        patch.setattr(torch, "float", torch.float64)
        patch.setattr(torch.Tensor, "float", torch.Tensor.double)
        torch.set_default_dtype(torch.float64)
        yield others
        torch.set_default_dtype(others.FLOAT32)


def renamed(folder: Path, names: Mapping[str, str], keys: Mapping[str, str]) -> None:
    """Give a model an unknown type, and other names of tensors and keys."""
    weights = find_weights(folder)
    arrays = {}
    for name in weights:
        other = name
        for old, new in names.items():
            other = re.sub(old, new, other)
        arrays[other] = np.asarray(weights[name])
    save_tensors(folder / "model.safetensors", **arrays)
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = "of-nobody"
    if "rope_parameters" in keys:
        config["my_share"] = config["rope_parameters"].pop("partial_rotary_factor")
    for old, new in keys.items():
        config[new] = config.pop(old)
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("name", DESCRIBED)
def test_a_described_family_has_the_numbers_of_the_package(
    name: str, in_float64: Any, tmp_path: Path
) -> None:
    """Weights and outputs of every layer, and the logits; as the row of the family has them."""
    torch = in_float64.torch
    model = in_float64.made(name, tmp_path)
    family, names, keys = DESCRIBED[name]
    known = [] if name == "Phi" else [solve(open_model(tmp_path, tokens=IDS))["logits"]]
    renamed(tmp_path, names, keys)
    with pytest.raises(InputError, match=r"of-nobody.* is none of those opened here"):
        open_model(tmp_path, tokens=IDS)
    (tmp_path / "mine.json").write_text(json.dumps(family))
    if name == "Phi":  # a window of one layer, as a mask
        layer = model.model.layers[1].self_attn
        far = torch.ones(len(IDS), len(IDS)).tril(-3).bool()
        forward = layer.forward

        def near(*args: Any, attention_mask: Any = None, **more: Any) -> Any:
            mask = torch.zeros(1, 1, len(IDS), len(IDS)).masked_fill(
                torch.ones(len(IDS), len(IDS)).triu(1).bool() | far, -1e30
            )
            return forward(*args, attention_mask=mask, **more)

        layer.forward = near
    out, _ = in_float64.run(model, torch.tensor([IDS]))
    given: Fields = {"tokens": IDS, "family": tmp_path / "mine.json"}
    for number, solution in enumerate(layers(tmp_path, only="A,Y", **given)):
        assert np.abs(solution["A"] - out.attentions[number][0].numpy()).max() < 1e-10
        if number < 2:
            there = out.hidden_states[number + 1][0].numpy()
            assert np.abs(solution["Y"] - there).max() < 1e-10
    solution = solve(open_model(tmp_path, **given))
    assert np.abs(solution["logits"][0] - out.logits[0, -1].numpy()).max() < 1e-10
    for each in known:
        assert np.abs(solution["logits"] - each).max() < 1e-12
    assert f"the family is that of {tmp_path / 'mine.json'}" in solution.problem.remarks


@pytest.mark.torch
@pytest.mark.slow
def test_a_described_encoder_and_decoder_has_the_numbers_of_its_row(
    in_float64: Any, tmp_path: Path
) -> None:
    in_float64.made("T5", tmp_path)
    given: Fields = {"tokens": IDS, "decoder_tokens": [0, 4, 9]}
    known = solve(open_model(tmp_path, **given))["logits"]
    renamed(tmp_path, {}, {"num_heads": "my_num_heads"})
    (tmp_path / "family.json").write_text(json.dumps(T5))
    assert (solve(open_model(tmp_path, **given))["logits"] == known).all()


def test_the_example_of_the_documentation_is_a_family() -> None:
    text = (Path(__file__).parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    example = text.partition("### Describe a family")[2].partition("```json")[2]
    family = read_family(json.loads(example.partition("```")[0]))
    assert family.own["att.q"] == "W_Q"


def test_every_mistake_in_a_file_is_listed(attncalc: Command, tmp_path: Path) -> None:
    assert attncalc("samples", "model", "-o", "cats").code == 0
    given = {"titel": "x", "like": "gpt3", "offset": -1, "tensors": {"attn.qkv": "W_QKVV"}}
    (tmp_path / "row.json").write_text(json.dumps(given))
    run = attncalc("open", "cats", "--tokens", "1", "--family", "row.json")
    assert (run.code, run.err.splitlines()) == (
        2,
        [
            "error: row.json: 4 things are wrong",
            '  unknown name "titel": did you mean title?',
            '  like: unknown name "gpt3": did you mean gptj?',
            "  offset takes a whole number from 1, not -1",
            '  tensors: unknown name "W_QKVV": did you mean W_QKV?',
        ],
    )


def test_a_field_without_a_tensor_and_a_tensor_without_a_field_are_errors(
    attncalc: Command, tmp_path: Path
) -> None:
    attncalc("samples", "model", "-o", "cats")
    (tmp_path / "row.json").write_text(
        '{"like": "gpt2", "tensors": {"attn.c_attnn.weight": "W_O"}}'
    )
    run = attncalc("open", "cats", "--tokens", "1", "--family", "row.json")
    assert run.err == (
        'error: row.json: tensors: there is no tensor "attn.c_attnn.weight" in a layer: did you '
        'mean "attn.c_attn.weight"?\n'
    )
    arrays = {name: np.asarray(each) for name, each in find_weights(tmp_path / "cats").items()}
    save_tensors(tmp_path / "cats" / "model.safetensors", **arrays, extra=np.ones(3))
    (tmp_path / "row.json").write_text('{"like": "gpt2"}')
    run = attncalc("open", "cats", "--tokens", "1", "--family", "row.json")
    assert run.err == (
        'error: row.json: "extra" has no field: name it in tokens, begins, ends, heads or ignored\n'
    )
    (tmp_path / "row.json").write_text('{"like": "gpt2", "ignored": ["extra"]}')
    assert attncalc("open", "cats", "--tokens", "1", "--family", "row.json").code == 0
