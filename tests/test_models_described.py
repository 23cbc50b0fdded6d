"""Families described in a file: the numbers of `transformers`, under unknown types and names."""

import contextlib
import functools
import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command, mostly_slow
from tensor_files import save_tensors

from attncalc import InputError, count, generate, layers, open_model, solve
from attncalc.reading.models.described import drafted
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
def test_a_described_family_is_counted_as_its_row(
    name: str, in_float64: Any, tmp_path: Path
) -> None:
    """Parameters are those of PyTorch; the other counts are those of the row in the table."""
    model = in_float64.made(name, tmp_path)
    expected = count(tmp_path, tokens=7)
    family, names, keys = DESCRIBED[name]
    renamed(tmp_path, names, keys)
    found = count(tmp_path, tokens=7, family=family)
    total = sum(each.numel() for each in model.parameters())
    assert found["parameters"]["total"] == expected["parameters"]["total"] == total
    for key in ("multiply_adds", "activations", "attention_matrix", "kv_cache"):
        for part in {"total", "bytes"} & {*expected[key]}:
            assert name == "Phi" or found[key][part] == expected[key][part], key  # it has a window


def test_a_described_family_is_counted_by_the_shapes_of_its_tensors(
    attncalc: Command, tmp_path: Path
) -> None:
    novel(tmp_path)
    numbers = sum(array.size for array in find_weights(tmp_path).values())
    run = attncalc("count", str(tmp_path), "--family", str(tmp_path / "novel.json"),
                   "--tokens", "5", "--format", "json")  # fmt: skip
    assert json.loads(run.out)["parameters"]["total"] == numbers
    assert "G_O" in json.loads(run.out)["multiply_adds"]["by_step"]
    (tmp_path / "novel.json").rename(tmp_path / "family.json")
    assert count(tmp_path, vary={"tokens": [4, 8]})["growth"]["powers"]["S_scaled"] == 2
    run = attncalc("count", str(tmp_path), "--vary", "hidden_size=8,16")
    assert "tokens or batch can vary" in run.err


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
    with pytest.raises(InputError, match=r"of-nobody.* is none of the \d+ types opened here"):
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


def examples() -> list[Fields]:
    """Return the files of the documentation."""
    text = (Path(__file__).parent.parent / "docs" / "models.md").read_text(encoding="utf-8")
    section = text.partition("### Describe a family")[2].partition("### Quantized")[0]
    found = [each.partition("```")[0] for each in section.split("```json")[1:]]
    return [json.loads(each) for each in found]


def saved_as(folder: Path, names: Mapping[str, tuple[int, ...]], **config: Any) -> None:
    """Save a model with random tensors."""
    rng = np.random.default_rng(2)
    arrays = {name: rng.normal(size=shape) * 0.4 for name, shape in names.items()}
    save_tensors(folder / "model.safetensors", **arrays)
    (folder / "config.json").write_text(json.dumps({"model_type": "mine", **config}))


def test_the_first_example_of_the_documentation_is_llama_by_other_names(tmp_path: Path) -> None:
    """Its numbers are those of the row of Llama on the same tensors."""
    mine = examples()[0]
    d, ff, words = (8,), (12, 8), (11, 8)
    of_layer = {"att.q": (8, 8), "att.k": (4, 8), "att.v": (4, 8), "att.o": (8, 8), "norm_a": d,
                "norm_b": d, "ff.gate": ff, "ff.up": ff, "ff.down": ff[::-1]}  # fmt: skip
    names = {f"blocks.{n}.{each}": shape for n in range(2) for each, shape in of_layer.items()}
    names |= {"embed.weight": words, "norm.weight": d, "lm_head.weight": words}
    config = {"architectures": ["MineForCausalLM"], "rope_theta": 100.0, "window": 3, "depth": 2}
    config |= {"n_heads": 4, "n_kv_heads": 2, "norm_eps": 1e-5, "act": "swiglu"}
    saved_as(tmp_path, names, **config)
    found = solve(open_model(tmp_path, tokens=IDS[:3], family=mine))
    by_layer = [each.problem for each in layers(tmp_path, tokens=IDS[:3], family=mine)]
    assert [each.window for each in by_layer] == [None, 3]
    llama = {"q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj"}
    swapped = {f"att.{old}": f"{new}.weight" for old, new in llama.items()}
    swapped |= {"att.o": "self_attn.o_proj.weight", "norm_a": "input_layernorm.weight"}
    swapped |= {"norm_b": "post_attention_layernorm.weight", "embed.weight": "embed_tokens.weight"}
    swapped |= {f"ff.{each}": f"mlp.{each}_proj.weight" for each in ("gate", "up", "down")}
    arrays = {}
    for name, each in find_weights(tmp_path).items():
        other = name.replace("blocks.", "layers.")
        for old, new in swapped.items():
            other = other.replace(old, new) if other.endswith(old) else other
        arrays[other if other == "lm_head.weight" else f"model.{other}"] = np.asarray(each)
    save_tensors(tmp_path / "model.safetensors", **arrays)
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "rope_theta": 100.0,
              "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
              "rms_norm_eps": 1e-5, "hidden_act": "silu", "hidden_size": 8}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    expected = solve(open_model(tmp_path, tokens=IDS[:3]))  # three tokens fit the window
    assert np.abs(found["logits"] - expected["logits"]).max() < 1e-12


def test_the_example_with_equations_of_the_documentation_runs(tmp_path: Path) -> None:
    """Its scores and gated outputs, in plain numpy, from the steps before."""
    names = {
        f"model.layers.0.self_attn.{each}": (8, 8)
        for each in (
            "q_proj.weight",
            "k_proj.weight",
            "v_proj.weight",
            "o_proj.weight",
            "gate.weight",
        )
    }
    names |= {
        f"model.layers.0.{each}_layernorm.weight": (8,) for each in ("input", "post_attention")
    }
    names |= {f"model.layers.0.mlp.{each}_proj.weight": (12, 8) for each in ("gate", "up")}
    names |= {"model.layers.0.mlp.down_proj.weight": (8, 12), "lm_head.weight": (11, 8)}
    names |= {"model.embed_tokens.weight": (11, 8), "model.norm.weight": (8,)}
    names |= {"model.layers.0.self_attn.slopes": (2,)}
    saved_as(
        tmp_path,
        names,
        architectures=["MineForCausalLM"],
        num_hidden_layers=1,
        rms_norm_eps=1e-6,
        hidden_act="silu",
        score_cap=2.5,
        num_attention_heads=2,
    )
    problem = open_model(tmp_path, tokens=[3, 7, 5, 1], layer=0, family=examples()[1])
    found, weights = solve(problem), find_weights(tmp_path)
    slope = weights["model.layers.0.self_attn.slopes"]
    distance = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    capped = 2.5 * np.tanh(found["Q"] @ found["K"].swapaxes(1, 2) / (2 * 2.5))
    assert np.abs(found["S_scaled"] - (capped - slope[:, None, None] * distance)).max() < 1e-12
    gate = 1 / (1 + np.exp(-found["N_1"] @ weights["model.layers.0.self_attn.gate.weight"].T))
    assert np.abs(found["R_1"] - found.problem.X - gate * found["O"]).max() < 1e-12


NOVEL: Fields = {
    "title": "Novel",
    "layers": "blocks.{}.",
    "count": {"key": "depth"},
    "settings": {
        "block": "decoder",
        "causal": True,
        "norm": "pre",
        "normalization": "rms",
        "heads": {"key": "n_heads"},
        "eps": {"key": "epsilon"},
        "activation": "relu2",
        "cap": {"key": "caps"},
        "far": [2, 9],
        "equations": [
            "S_scaled[h,i,j] = cap * tanh(S[h,i,j] / (sqrt(d_k) * cap)) "
            "- slope[h] * min(abs(i - j), far)  # capped scores, with a bias by distance",
            "G_O[i,c] = sigmoid(sum(N_1[i,a] * W_G[c,a] for a in d)) * O[i,c]  # gated outputs",
            "R_1[i,c] = X[i,c] + G_O[i,c]",
        ],
    },
    "tensors": {"q": "W_Q", "k": "W_K", "v": "W_V", "o": "W_O", "n1": "gamma_1", "n2": "gamma_2",
                "up": "W_1", "down": "W_2", "slope": "slope", "gate": "W_G"},
    "tokens": "embed",
    "ends": {"gamma_out": "norm"},
    "heads": {"ForCausalLM": {"tensors": {"W_out": "head"}}},
}  # fmt: skip
OF_NOVEL: Fields = {"model_type": "novel", "architectures": ["NovelForCausalLM"], "depth": 2,
                    "n_heads": 2, "epsilon": 1e-6, "caps": [3.0, 0.5]}  # fmt: skip


def novel(folder: Path) -> dict[str, Any]:
    """Save a model of a new architecture with its family, and return its tensors."""
    rng = np.random.default_rng(5)
    d, words = 8, 11

    def drawn(*shape: int) -> Any:
        return rng.normal(size=shape) * 0.4

    arrays = {"embed": drawn(words, d), "head": drawn(words, d), "norm": 1 + drawn(d)}
    for layer in range(2):
        own = {each: drawn(d, d) for each in ("q", "k", "v", "o", "gate")}
        own |= {"n1": 1 + drawn(d), "n2": 1 + drawn(d), "slope": np.abs(drawn(2))}
        own |= {"up": drawn(12, d), "down": drawn(d, 12)}
        arrays |= {f"blocks.{layer}.{name}": each for name, each in own.items()}
    save_tensors(folder / "model.safetensors", **arrays)
    (folder / "config.json").write_text(json.dumps(OF_NOVEL))
    (folder / "novel.json").write_text(json.dumps(NOVEL))
    return arrays


def run_novel(arrays: Mapping[str, Any], ids: list[int]) -> tuple[list[Any], list[Any], Any]:
    """Return the weights and the outputs of each layer, and the logits, in plain numpy."""

    def normed(X: Any, gain: Any) -> Any:
        return X / np.sqrt((X**2).mean(axis=1, keepdims=True) + 1e-6) * gain

    places = np.arange(len(ids))
    distance = np.abs(places[:, None] - places)
    X, weights, outputs = arrays["embed"][ids], [], []
    for layer, (cap, far) in enumerate(((3.0, 2), (0.5, 9))):
        own = {name: arrays[f"blocks.{layer}.{name}"] for name in NOVEL["tensors"]}
        N = normed(X, own["n1"])
        of_heads, made = [], []
        for head in range(2):
            part = slice(4 * head, 4 * head + 4)
            Q, K, V = (N @ own[name].T[:, part] for name in "qkv")
            S = cap * np.tanh(Q @ K.T / (2 * cap)) - own["slope"][head] * np.minimum(distance, far)
            S[places[:, None] < places] = -np.inf
            A = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
            made.append(A)
            of_heads.append(A @ V)
        gate = 1 / (1 + np.exp(-(N @ own["gate"].T)))
        X = X + gate * (np.hstack(of_heads) @ own["o"].T)
        X = X + np.maximum(normed(X, own["n2"]) @ own["up"].T, 0) ** 2 @ own["down"].T
        weights.append(np.array(made))
        outputs.append(X)
    return weights, outputs, normed(X, arrays["norm"]) @ arrays["head"].T


def test_a_new_architecture_by_equations_has_the_numbers_of_numpy(tmp_path: Path) -> None:
    """Capped scores with a learned bias by distance, gated outputs, numbers of the config."""
    ids = [3, 1, 4, 1, 5]
    weights, outputs, logits = run_novel(novel(tmp_path), ids)
    given: Fields = {"tokens": ids, "family": tmp_path / "novel.json"}
    for number, solution in enumerate(layers(tmp_path, **given)):
        assert np.abs(solution["A"] - weights[number]).max() < 1e-12
        assert np.abs(solution["Y"] - outputs[number]).max() < 1e-12
    solution = solve(open_model(tmp_path, **given))
    assert np.abs(solution["logits"][0] - logits[-1]).max() < 1e-12
    found = generate(tmp_path, 3, tokens=ids, family=NOVEL).found
    for number, step in enumerate(found.steps):  # distances count from the first token
        _, _, logits = run_novel(novel(tmp_path), [*ids, *found.tokens[:number]])
        assert step.candidates[0].token == logits[-1].argmax()
        assert step.candidates[0].logit == pytest.approx(logits[-1].max(), abs=1e-12)


def test_equations_read_tokens_with_their_positions(tmp_path: Path) -> None:
    """X is what the first layer reads; a gain of an equation is no part of a logit."""
    ids = [3, 1, 4, 5]
    arrays = novel(tmp_path)
    places = np.random.default_rng(2).normal(size=(6, 8))
    alpha = {f"blocks.{layer}.alpha": np.linspace(-1, 2, 8) for layer in range(2)}
    save_tensors(tmp_path / "model.safetensors", **arrays, places=places, **alpha)
    moved = arrays["embed"].copy()
    moved[ids] += places[:4]
    weights, outputs, _ = run_novel({**arrays, "embed": moved}, ids)
    family = {**NOVEL, "begins": {"P": "places"}, "positions": "P", "ignored": ["alpha"]}
    for number, solution in enumerate(layers(tmp_path, tokens=ids, family=family)):
        assert np.abs(solution["A"] - weights[number]).max() < 1e-12
        assert np.abs(solution["Y"] - outputs[number]).max() < 1e-12
    equations = [NOVEL["settings"]["equations"][0], "R_1[i,c] = X[i,c] + alpha[c] * O[i,c]"]
    family |= {"settings": {**NOVEL["settings"], "equations": equations}, "ignored": ["gate"]}
    family["tensors"] = {**NOVEL["tensors"], "alpha": "alpha", "gate": None}
    found = layers(tmp_path, tokens=ids, family=family).why("logits[4,2]").found[0]
    assert "R_1" not in found.how
    assert len(found.parts) == 1 + 2 * 3


def test_a_draft_for_unknown_names_has_the_start_of_the_layers(
    attncalc: Command, tmp_path: Path
) -> None:
    novel(tmp_path)
    run = attncalc("open", str(tmp_path), "--draft")
    assert json.loads(run.out)["layers"] == "blocks.{}."


PLAIN = {
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "vocab_size": 20,
    "rms_norm_eps": 1e-6,
    "hidden_act": "silu",
    "max_position_embeddings": 16,
}
OF_BLOCKS = {
    "attention.wq.weight": (8, 8),
    "attention.wk.weight": (8, 8),
    "attention.wv.weight": (8, 8),
    "attention.wo.weight": (8, 8),
    "feed_forward.w1.weight": (12, 8),
    "feed_forward.w2.weight": (8, 12),
    "feed_forward.w3.weight": (12, 8),
    "attention_norm.weight": (8,),
    "ffn_norm.weight": (8,),
}


def of_blocks(folder: Path, start: str, kind: str, **more: tuple[int, ...]) -> dict[str, Any]:
    """Write a model with Llama's arithmetic and other names, and return its tensors."""
    shapes = {"my.tokens": (20, 8), "my.norm": (8,), "my.words": (20, 8)} | more
    shapes |= {f"{start}{n}.{end}": size for n in range(2) for end, size in OF_BLOCKS.items()}
    random = np.random.default_rng(3)
    arrays = {name: random.normal(size=shape) for name, shape in shapes.items()}
    save_tensors(folder / "model.safetensors", **arrays)
    (folder / "config.json").write_text(json.dumps(PLAIN | {"model_type": kind}))
    return arrays


@pytest.mark.parametrize("start", ["my.block_", "my.blk."])
def test_a_filled_draft_of_layers_with_another_start_opens_them(start: str, tmp_path: Path) -> None:
    """With the numbers that Llama has by its own names."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    arrays = of_blocks(ours, start, "of-nobody")
    text, near = drafted(ours)
    made = json.loads(text)
    assert (near, made["like"], made["layers"]) == ("Llama", "llama", f"{start}{{}}.")
    assert {*made.pop("?")} == {"my.norm", "my.words"} | {"my.tokens"}
    made |= {"tokens": "my.tokens", "ends": {"gamma_out": "my.norm"}}
    made |= {"heads": {"ForCausalLM": {"tensors": {"W_out": ["my.words"]}}}}
    own = {
        "my.tokens": "embed_tokens.weight",
        "my.norm": "norm.weight",
        "my.words": "lm_head.weight",
    }
    renamed_ = {
        own.get(name, name.replace(start, "layers.")): each for name, each in arrays.items()
    }
    save_tensors(theirs / "model.safetensors", **renamed_)
    (theirs / "config.json").write_text(json.dumps(PLAIN | {"model_type": "llama"}))
    found, expected = (
        solve(open_model(folder, tokens=[3, 1, 4], **said))["logits"]
        for folder, said in ((ours, {"family": made}), (theirs, {}))
    )
    assert np.array_equal(found, expected)


def test_projections_of_a_list_are_not_merged_and_no_name_is_cut(tmp_path: Path) -> None:
    long = f"my.{'very_' * 20}long"
    sizes = {f"my.block_{n}.ffn.{at}.weight": (8, 8) for n in range(2) for at in (0, 2)}
    of_blocks(tmp_path, "my.block_", "of-nobody", **sizes, **{long: (3,)})
    with pytest.raises(InputError) as error:
        open_model(tmp_path, tokens=[1])
    said = str(error.value)
    assert '"my.block_…", 2 layers:' in said
    assert all(f'"my.block_0.ffn.{at}.weight", 8 × 8: ? (2 such' in said for at in (0, 2))
    assert f'"{long}", 3: ?' in said


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("my.block_0.indexer.wk.weight", "it chooses the keys of each query by another attention"),
        ("my.block_0.conv_module.weight", "its layers also have convolutions"),
        ("my.block_0.mixer.A_log", "some of its layers have no attention, but a recurrent state"),
        ("my.query_tokens", "learned queries attend to the outputs of another model"),
    ],
)
def test_an_unknown_type_is_refused_by_the_kind_of_its_tensors(
    name: str, why: str, tmp_path: Path
) -> None:
    of_blocks(tmp_path, "my.block_", "of-nobody", **{name: (2,)})
    with pytest.raises(InputError, match=f"lists them\\): {why}"):
        open_model(tmp_path, tokens=[1])


def test_an_equation_of_scores_that_nothing_reads_is_refused(tmp_path: Path) -> None:
    novel(tmp_path)
    settings = {**NOVEL["settings"], "scale": "none"}
    with pytest.raises(InputError, match="S_scaled: nothing reads this equation"):
        open_model(tmp_path, tokens=[1, 2], family={**NOVEL, "settings": settings})


@pytest.mark.campaign(6)
@pytest.mark.parametrize(
    ("command", "shows"),
    [
        (("why", "{}", "logits[5,3]"), "layer 1, O, head 2"),
        (("generate", "{}", "--count", "1"), "Generated: "),
        (("open", "{}", "--generate", "1"), "Generated: "),
        (("open", "{}", "--lens"), "Logit lens: Novel"),
        (("open", "{}", "--ablate", "0.1", "--only", "A"), "H[1,:,:] of layer 0 set to 0"),
        (("open", "{}", "--layer", "0", "--work", "--only", "S_scaled"), "tanh"),
    ],
)
def test_every_command_that_opens_a_model_takes_its_family(
    command: tuple[str, ...], shows: str, attncalc: Command, tmp_path: Path
) -> None:
    novel(tmp_path)
    typed = [each.format(tmp_path) for each in command]
    run = attncalc(*typed, "--tokens", "3 1 4 1 5", "--family", str(tmp_path / "novel.json"))
    assert run.code == 0, run.err
    assert shows in run.out
    refused = attncalc(*typed, "--tokens", "3 1 4 1 5")
    assert (refused.code, '"novel"' in refused.err) == (2, True)


def test_a_number_without_an_equation_that_reads_it_is_unknown(tmp_path: Path) -> None:
    novel(tmp_path)
    settings = {**NOVEL["settings"], "capp": 1}
    with pytest.raises(InputError, match='settings: unknown name "capp": did you mean'):
        open_model(tmp_path, tokens=[1], family={**NOVEL, "settings": settings})
    settings = {**NOVEL["settings"], "far": "near"}
    with pytest.raises(InputError, match='settings: far takes a number, not "near"'):
        open_model(tmp_path, tokens=[1], family={**NOVEL, "settings": settings})


BAD: list[Any] = [
    *(
        None,
        True,
        -1,
        1e400,
        float("nan"),
        10**30,
        1.5,
        "",
        "\x1b[31m\x00",
        "{}",
        "W_Q",
        "vit",
        "t5",
    ),
    *([], {}, [None], [[]], {"key": 5}, {"key": ["a", 1]}, {"key": "depth", "default": None}),
    *({"key": "depth", "power": 1e308}, {"key": "depth", "times": {"key": "depth", "values": []}}),
    *({"key": "depth", "values": {"2": {"key": "depth"}}}, {"ForCausalLM": {"tensors": None}}),
    *(["S[i,j] = "], ["S[i,j] = 1/0"], "S[i,j] = boom[i,j]", ["A[i,j] = A[i,j]"], {"heads": None}),
    functools.reduce(lambda inner, _: [inner], range(5000), "x"),
]
OTHER_KEYS = ("like", "offset", "factor", "key_heads", "fused", "shared", "sides",
              "widens", "asks", "decoder", "begins", "ignored", "heads", "\x1b[2J")  # fmt: skip


def places_in(row: Any) -> list[tuple[Any, Any]]:
    """Return each object or list of a file, with each of its keys."""
    pairs = list(row.items() if isinstance(row, dict) else enumerate(row))
    inner = [each for _, one in pairs if isinstance(one, dict | list) for each in places_in(one)]
    return [(row, key) for key, _ in pairs] + inner


@pytest.mark.parametrize("seed", mostly_slow(range(40), 20))
def test_any_file_is_a_family_or_one_message(seed: int, tmp_path: Path) -> None:
    """Files with one or two values replaced by others of all kinds."""
    novel(tmp_path)
    rng = random.Random(seed)
    for _ in range(30):
        row = json.loads(json.dumps(NOVEL))
        for _ in range(rng.choice((1, 2))):
            inner, key = rng.choice([*places_in(row), *((row, name) for name in OTHER_KEYS)])
            inner[key] = rng.choice(BAD)
            if inner[key] is BAD[-1]:
                break
        with contextlib.suppress(InputError):
            solve(open_model(tmp_path, tokens=[3, 1], family=row))


def test_names_of_a_file_show_no_control_characters(attncalc: Command, tmp_path: Path) -> None:
    novel(tmp_path)
    row = {**NOVEL, "\x1b[2J": 1, "tensors": {"\x1b[31mq": "W_\x07"}}
    (tmp_path / "bad.json").write_text(json.dumps(row))
    run = attncalc("open", str(tmp_path), "--tokens", "1", "--family", str(tmp_path / "bad.json"))
    assert run.code == 2
    assert run.err.replace("\n", "").isprintable(), run.err


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
