"""One layer from whatever is at hand: the names models use, their masks, their batches of one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command
from tensor_files import bfloat16, save_tensors

from attncalc import InputError, read_problem, solve
from attncalc.problem.stated import conventions

N, D, HEADS = 3, 4, 2
Arrays = dict[str, Any]


def weights(answering: int = HEADS) -> Arrays:
    """Return weights (out, in) and biases of an attention, by q, k, v and o."""
    random = np.random.default_rng(7)
    narrow = D // HEADS * answering
    rows = {"q": D, "k": narrow, "v": narrow, "o": D}
    made = {f"W{each}": random.normal(size=(count, D)) for each, count in rows.items()}
    return made | {f"b{each}": random.normal(size=count) for each, count in rows.items()}


def attended(
    X: Any, of: Mapping[str, Any], allowed: Any = None, added: Any = 0.0, answering: int = HEADS
) -> Any:
    """Return what an attention gives, in plain numpy, head by head."""
    Q, K, V = (X @ of[f"W{each}"].T + of.get(f"b{each}", 0) for each in "qkv")
    width, joined = D // HEADS, []
    for head in range(HEADS):
        own = slice(head * width, (head + 1) * width)
        place = head // (HEADS // answering)
        other = slice(place * width, (place + 1) * width)
        scores = Q[:, own] @ K[:, other].T / np.sqrt(width) + added
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        joined.append(powers / powers.sum(axis=1, keepdims=True) @ V[:, other])
    return np.hstack(joined) @ of["Wo"].T + of.get("bo", 0)


def apart(q: str, k: str, v: str, o: str) -> Callable[[Arrays], Arrays]:
    """Return what names the four projections so."""
    named = dict(zip("qkvo", (q, k, v, o), strict=True))

    def names(of: Arrays) -> Arrays:
        kinds = (("W", "weight"), ("b", "bias"))
        return {
            f"{name}.{kind}": of[letter + each]
            for each, name in named.items()
            for letter, kind in kinds
            if letter + each in of
        }

    return names


def fused(name: str, o: str, *, turned: bool = False) -> Callable[[Arrays], Arrays]:
    """Return what puts Q, K and V into one array, weights perhaps (in, out)."""

    def names(of: Arrays) -> Arrays:
        W, b = (np.concatenate([of[letter + each] for each in "qkv"]) for letter in "Wb")
        dot = "_" if name == "in_proj" else "."
        return {
            f"{name}{dot}weight": W.T if turned else W,
            f"{name}{dot}bias": b,
            f"{o}.weight": of["Wo"].T if turned else of["Wo"],
            f"{o}.bias": of["bo"],
        }

    return names


NAMINGS = {
    "Llama": apart(*(f"model.layers.3.self_attn.{each}_proj" for each in "qkvo")),
    "BART": apart("q_proj", "k_proj", "v_proj", "out_proj"),
    "BERT": apart(
        *(f"encoder.layer.0.attention.self.{each}" for each in ("query", "key", "value")),
        "encoder.layer.0.attention.output.dense",
    ),
    "ViT": apart(
        *(f"vit.layer.1.attention.attention.{each}" for each in ("query", "key", "value")),
        "vit.layer.1.attention.output.dense",
    ),
    "DistilBERT": apart("a.q_lin", "a.k_lin", "a.v_lin", "a.out_lin"),
    "GPT-2": fused("transformer.h.0.attn.c_attn", "transformer.h.0.attn.c_proj", turned=True),
    "nanoGPT": fused("h.0.attn.c_attn", "h.0.attn.c_proj"),
    "Phi": fused("self_attn.qkv_proj", "self_attn.o_proj"),
    "timm": fused("blocks.0.attn.qkv", "blocks.0.attn.out_proj"),
    "PyTorch": fused("in_proj", "out_proj"),
    "PyTorch in a model": fused("encoder.attn.in_proj", "encoder.attn.out_proj"),
}
X = np.random.default_rng(8).normal(size=(N, D))


def saved(path: Path, **arrays: Any) -> Path:
    """Save arrays in the form that the path says."""
    if path.suffix == ".safetensors":
        return save_tensors(path, **arrays)
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
@pytest.mark.parametrize("naming", NAMINGS)
def test_a_layer_is_read_under_the_names_of_its_model(
    naming: str, ending: str, tmp_path: Path
) -> None:
    of = weights()
    path = saved(tmp_path / f"layer{ending}", X=X, num_heads=HEADS, **NAMINGS[naming](of))
    assert np.allclose(solve(read_problem(path))["O"], attended(X, of), rtol=0, atol=1e-12)


@pytest.mark.parametrize("naming", ["Llama", "Phi"])
def test_fewer_heads_of_keys_are_read(naming: str, tmp_path: Path) -> None:
    of = weights(answering=1)
    counts = {"num_attention_heads": HEADS, "num_key_value_heads": 1}
    path = saved(tmp_path / "layer.safetensors", X=X, **counts, **NAMINGS[naming](of))
    found = solve(read_problem(path))["O"]
    assert np.allclose(found, attended(X, of, answering=1), rtol=0, atol=1e-12)


def refused(path: Path, **changes: Any) -> str:
    with pytest.raises(InputError) as error:
        read_problem(path, **changes)
    return str(error.value).removeprefix(f"{path}: ")


def test_heads_of_one_array_are_never_guessed(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npz", X=X, num_heads=HEADS, **NAMINGS["Phi"](weights(answering=1)))
    assert refused(path) == (
        "self_attn.qkv_proj.weight: its 8 rows are not parts for Q, K and V: where keys have "
        "fewer heads, num_key_value_heads says how many"
    ) or refused(path).startswith("2 things are wrong\n  self_attn.qkv_proj.weight: its 8 rows")
    path = saved(tmp_path / "b.npz", X=X, **NAMINGS["Llama"](weights()))
    assert "unknown number of heads" in refused(path)


def test_a_wrong_number_of_heads_of_keys_is_refused(tmp_path: Path) -> None:
    counts = {"num_heads": HEADS, "num_key_value_heads": 1}
    path = saved(tmp_path / "a.npz", X=X, **counts, **NAMINGS["Llama"](weights()))
    assert refused(path) == (
        "the keys' weights have 4 outputs and the queries' 4: with 2 query heads these are not 1 "
        "heads of one width"
    )


def test_settings_may_be_in_the_metadata(tmp_path: Path) -> None:
    said = {"format": "pt", "num_heads": "2", "normalizer": "hardmax", "title": "A layer"}
    of = NAMINGS["Llama"](weights())
    problem = read_problem(saved(tmp_path / "a.safetensors", metadata=said, X=X, **of))
    assert (problem.n_heads, problem.normalizer, problem.title) == (2, "hardmax", "A layer")


def test_two_layers_in_one_file_are_refused(tmp_path: Path) -> None:
    one = {"0.q_proj.weight": np.eye(4), "1.q_proj.weight": np.eye(4)}
    assert refused(saved(tmp_path / "a.npz", X=X, heads=2, **one)) == (
        'W_Q fits two of its names, "0.q_proj.weight" and "1.q_proj.weight": keep one layer (of a '
        "whole model, attncalc open reads one)"
    )


def test_a_message_about_several_layers_names_one_field(tmp_path: Path) -> None:
    both = {f"{n}.{x}_proj.weight": np.eye(4) for n in range(2) for x in "qkv"}
    found = refused(saved(tmp_path / "a.npz", X=X, heads=2, **both))
    assert found.count("\n") == 0
    assert '"1.q_proj.weight", and 2 more of its fields fit two: keep one layer' in found


def test_heads_within_one_array_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npz", X=X, heads=2, **{"h.query_key_value.weight": np.eye(4)})
    assert refused(path) == (
        '"h.query_key_value.weight" has Q, K and V side by side within each head, in an order '
        "that models do not share: save them apart, as q_proj.weight, k_proj.weight and "
        "v_proj.weight"
    )


def test_settings_of_a_layer_are_never_guessed(tmp_path: Path) -> None:
    gates = {f"mlp.{name}_proj.weight": np.eye(4) for name in ("gate", "up", "down")}
    path = saved(tmp_path / "a.npz", X=X, **gates, **{"input_layernorm.weight": np.ones(4)})
    assert refused(path) == (
        "a layer of a model without its activation and its norm and its normalization: "
        "add arrays of these names to the file, or give --activation and --norm and "
        "--normalization to attncalc encoder or decoder (of a folder with a config.json, attncalc "
        "open knows them)"
    )
    said = {"activation": "silu", "norm": "pre", "normalization": "rms", "eps": "1e-6"}
    found = solve(read_problem(path, **said))["Y"]
    N_1 = X / np.sqrt((X**2).mean(axis=1, keepdims=True) + 1e-6)
    assert np.allclose(found, X + N_1 / (1 + np.exp(-N_1)) * N_1, rtol=0, atol=1e-12)


def test_buffers_are_skipped_and_reported(tmp_path: Path) -> None:
    of = NAMINGS["GPT-2"](weights())
    more = {"transformer.h.0.attn.bias": np.ones((1, 1, 8, 8), bool)}
    problem = read_problem(saved(tmp_path / "a.safetensors", X=X, num_heads=2, **of, **more))
    assert conventions(problem)[-1] == (
        '"transformer.h.0.attn.bias" is passed over: it follows from what a model is'
    )


# -- batches and masks ----------------------------------------------------------------------------

ALLOWED = np.array([[1, 0, 1], [1, 1, 0], [1, 1, 1]], dtype=bool)
LARGE = np.finfo(np.float32).min
MASKS: dict[str, tuple[str, Arrays, Any, str]] = {
    # (names of weights, what the file holds, what may be seen, what the heading says)
    "MultiheadAttention forbids where it is true": (
        "PyTorch",
        {"attn_mask": ~ALLOWED},
        ALLOWED,
        "attn_mask is taken for ignore: 1 may not attend",
    ),
    "a mask of numbers is added": (
        "Llama",
        {"attn_mask": np.where(ALLOWED, 0, -1e9)},
        ALLOWED,
        "attn_mask is taken for bias: added to the scores",
    ),
    "the smallest number of float32, in four dimensions": (
        "Llama",
        {"attention_mask": np.where(ALLOWED, 0, LARGE)[None, None]},
        ALLOWED,
        "attention_mask is taken for bias: added to the scores",
    ),
    "attention_mask allows where it is 1": (
        "Llama",
        {"attention_mask": np.array([[1, 1, 0]])},
        np.array([[1, 1, 0]], bool),
        "attention_mask is taken for keep: 1 may attend",
    ),
    "key_padding_mask forbids where it is true": (
        "Llama",
        {"key_padding_mask": np.array([False, False, True])},
        np.array([[1, 1, 0]], bool),
        "key_padding_mask is taken for ignore: 1 may not attend",
    ),
    "both forbid": (
        "PyTorch",
        {"attn_mask": ~ALLOWED, "key_padding_mask": np.array([[False, True, False]])},
        ALLOWED & np.array([[1, 0, 1]], bool),
        "key_padding_mask is taken for ignore: 1 may not attend",
    ),
    "is_causal": (
        "Llama",
        {"is_causal": True},
        np.tri(N, dtype=bool),
        "is_causal is taken for causal",
    ),
}


@pytest.mark.parametrize("what", MASKS)
def test_masks_keep_their_polarity_with_a_heading(what: str, tmp_path: Path) -> None:
    naming, masks, allowed, said = MASKS[what]
    of = weights()
    path = saved(tmp_path / "a.npz", X=X, num_heads=HEADS, **NAMINGS[naming](of), **masks)
    problem = read_problem(path)
    assert np.allclose(solve(problem)["O"], attended(X, of, allowed), rtol=0, atol=1e-12)
    assert conventions(problem)[-1] == said


def test_sdpa_keeps_where_its_mask_is_true(tmp_path: Path) -> None:
    """Without weights, query, key and value are Q, K and V: (batch, heads, tokens, width)."""
    random = np.random.default_rng(2)
    given = {name: random.normal(size=(1, 2, N, 2)) for name in ("query", "key", "value")}
    problem = read_problem(saved(tmp_path / "a.npz", **given, attn_mask=ALLOWED))
    scores = given["query"][0] @ given["key"][0].swapaxes(1, 2) / np.sqrt(2)
    powers = np.exp(np.where(ALLOWED, scores, -np.inf))
    heads = powers / powers.sum(axis=2, keepdims=True) @ given["value"][0]
    assert np.allclose(solve(problem)["O"], np.hstack(heads), rtol=0, atol=1e-12)
    assert conventions(problem)[-1] == "attn_mask is taken for keep: 1 may attend"


def test_a_mask_that_may_mean_either_is_refused(tmp_path: Path) -> None:
    of = NAMINGS["Llama"](weights())
    assert refused(saved(tmp_path / "a.npz", X=X, num_heads=2, **of, attn_mask=ALLOWED)) == (
        "attn_mask of true and false: MultiheadAttention forbids where it is true, "
        "scaled_dot_product_attention allows: name it ignore, or keep"
    )


def test_a_batch_of_two_is_refused(tmp_path: Path) -> None:
    of = NAMINGS["Llama"](weights())
    masks = {"attention_mask": np.zeros((2, 1, 3, 3))}
    assert refused(saved(tmp_path / "a.npz", X=X, num_heads=2, **of, **masks)) == (
        "attention_mask is 2 × 1 × 3 × 3: a batch of one is read, and no more: give one of it"
    )


@pytest.mark.parametrize("where", ["first", "middle"])
def test_a_batch_of_one_is_removed_and_reported(where: str, tmp_path: Path) -> None:
    of = weights()
    batch = {"query": X[None] if where == "first" else X[:, None]}
    path = saved(tmp_path / "a.npz", **batch, num_heads=HEADS, **NAMINGS["PyTorch"](of))
    problem = read_problem(path)
    assert np.allclose(solve(problem)["O"], attended(X, of), rtol=0, atol=1e-12)
    behind = "" if where == "first" else ", behind the tokens"
    assert conventions(problem)[-1] == f"query: a batch of one is taken off{behind}"


def test_a_layer_of_bfloat16_is_computed_in_float32(attncalc: Command, tmp_path: Path) -> None:
    of = {name: bfloat16(array) for name, array in NAMINGS["Llama"](weights()).items()}
    cut = {
        name: (array.astype("<f4").view("<u4") & 0xFFFF0000).view("<f4").astype(float)
        for name, array in weights().items()
    }
    tokens = X.astype(np.float32)
    path = saved(tmp_path / "a.safetensors", X=tokens, num_heads=HEADS, **of)
    solution = solve(read_problem(path))
    assert solution["O"].dtype == np.float32
    assert np.allclose(solution["O"], attended(tokens, cut), rtol=0, atol=1e-5)
    run = attncalc("self", "a.safetensors")
    assert run.code == 0
    assert "given in bfloat16, read as float32" in run.out
