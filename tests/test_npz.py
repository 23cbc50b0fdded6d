"""NumPy's files: problems, single matrices and PyTorch layers; never a pickle."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import GOOD, Command

from attncalc import InputError, Problem, read_problem, solve
from attncalc.reading import read_matrix, read_stream


def saved(folder: Path, **arrays: object) -> Path:
    np.savez(folder / "in.npz", **{name: np.asarray(value) for name, value in arrays.items()})
    return folder / "in.npz"


def test_a_problem_is_read_with_its_settings_and_labels(tmp_path: Path) -> None:
    path = saved(tmp_path, **GOOD, labels=["the", "cat"], scale="none", decimals=3, causal=True)
    problem = read_problem(path)
    assert (problem.queries, problem.scale, problem.decimals) == (("the", "cat"), "none", 3)
    assert problem.causal
    assert np.array_equal(problem.X, GOOD["X"])


def test_the_type_of_floats_is_kept(tmp_path: Path) -> None:
    given = {name: np.array(matrix, dtype=np.float32) for name, matrix in GOOD.items()}
    solution = solve(read_problem(saved(tmp_path, **given)))
    assert solution["O"].dtype == np.float32
    mixed = solve(read_problem(saved(tmp_path, **given | {"X": np.array(GOOD["X"], float)})))
    assert mixed["O"].dtype == np.float64


def test_float32_digits_are_those_of_the_numbers_meant() -> None:
    """0.1 stored in float32 is 0.100000001490…, and yet 0.1 is shown."""
    third = np.array([[0.1]], dtype=np.float32)
    one = np.array([[1]], dtype=np.float32)
    solution = solve(Problem(X=one, W_Q=one, W_K=one, W_V=third, decimals=12))
    assert solution.shown("V") == [["0.100000000000"]]


def test_a_matrix_alone_is_read_from_npy_or_npz(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.eye(2))
    assert np.array_equal(read_matrix("W_Q", str(tmp_path / "w.npy"))["W_Q"], np.eye(2))
    path = saved(tmp_path, w_q=np.eye(3), other=np.eye(1))
    assert np.array_equal(read_matrix("W_Q", str(path))["W_Q"], np.eye(3))
    with pytest.raises(InputError, match="it has w_q, other, and no W_K"):
        read_matrix("W_K", str(path))


def layer(width: int = 4) -> dict[str, np.ndarray]:
    """Return what the state dict of a MultiheadAttention holds, in its own names."""
    random = np.random.default_rng(5)
    return {
        "in_proj_weight": random.normal(size=(3 * width, width)),
        "in_proj_bias": random.normal(size=3 * width),
        "out_proj.weight": random.normal(size=(width, width)),
        "out_proj.bias": random.normal(size=width),
    }


def test_a_pytorch_layer_is_read_unchanged(tmp_path: Path) -> None:
    state, X = layer(), np.random.default_rng(6).normal(size=(3, 4))
    found = solve(read_problem(saved(tmp_path, X=X, num_heads=2, **state)))
    W_Q, W_K, W_V = (state["in_proj_weight"][i : i + 4].T for i in (0, 4, 8))
    b_Q, b_K, b_V = np.split(state["in_proj_bias"], 3)
    by_hand = Problem(
        X=X,
        **{"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": state["out_proj.weight"].T},
        **{"b_Q": b_Q, "b_K": b_K, "b_V": b_V, "b_O": state["out_proj.bias"]},
        heads=2,
    )
    assert np.allclose(found["O"], solve(by_hand)["O"], rtol=1e-14, atol=0)


NO_HEADS = (
    "a PyTorch layer of an unknown number of heads (no state dict contains it): add the array "
    "num_heads to the file, or give --heads (in Python: read_problem(…, heads=…))"
)
PARTS_OF_A_LAYER: dict[str, dict[str, Any]] = {
    "a whole state dict": {"X": np.ones((2, 4)), **layer()},
    "query, key and value": {name: np.ones((2, 4)) for name in ("query", "key", "value")} | layer(),
    "weights apart": {
        "query": np.ones((2, 4)),
        "key": np.ones((2, 3)),
        **{f"{name}_proj_weight": np.ones((4, 4 if name == "q" else 3)) for name in "qkv"},
    },
    "no bias": {"X": np.ones((2, 4)), "in_proj_weight": np.ones((12, 4))},
    "an output projection": {**GOOD, "W_V": [[1, 1]], "out_proj.weight": np.ones((1, 1))},
}
"""Layers of several heads, as far as a file can say: read as one head, each gives a number."""


@pytest.mark.parametrize("what", PARTS_OF_A_LAYER)
def test_a_layer_without_a_number_of_heads_is_refused(what: str, tmp_path: Path) -> None:
    path = saved(tmp_path, **PARTS_OF_A_LAYER[what])
    for changes in ({}, {"heads": None}, {"decimals": 3}):
        with pytest.raises(InputError) as error:
            read_problem(path, **changes)
        assert str(error.value) == f"{path}: {NO_HEADS}"
    with pytest.raises(InputError) as error:
        read_stream(path.read_bytes(), "standard input")
    assert str(error.value) == f"standard input: {NO_HEADS}"


@pytest.mark.parametrize("what", PARTS_OF_A_LAYER)
def test_heads_of_a_layer_may_be_given_beside_the_file(what: str, tmp_path: Path) -> None:
    arrays = PARTS_OF_A_LAYER[what]
    heads = 1 if what == "an output projection" else 2
    expected = solve(read_problem(saved(tmp_path, **arrays, num_heads=heads)))["A"]
    assert (solve(read_problem(saved(tmp_path, **arrays, heads=heads)))["A"] == expected).all()
    path = saved(tmp_path, **arrays)
    assert (solve(read_problem(path, heads=heads))["A"] == expected).all()
    stream = read_stream(path.read_bytes(), "standard input", heads=heads)
    assert (solve(stream)["A"] == expected).all()


def test_heads_beside_the_file_override_those_in_it_but_not_with_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path, **PARTS_OF_A_LAYER["a whole state dict"], num_heads=2)
    assert read_problem(path, heads=4).n_heads == 4
    with pytest.raises(InputError, match="unknown number of heads"):
        read_problem(path, heads=None)


@pytest.mark.campaign(2)
@pytest.mark.parametrize("command", ["self", "plot", "check"])
def test_every_command_requires_the_heads_of_a_layer(
    command: str, attncalc: Command, tmp_path: Path
) -> None:
    saved(tmp_path, **PARTS_OF_A_LAYER["a whole state dict"])
    np.savez(tmp_path / "dump.npz", Q=np.ones((2, 2, 2)))
    words = {
        "self": ("self", "in.npz"),
        "plot": ("plot", "in.npz", "-o", "map.svg"),
        "check": ("check", "in.npz", "dump.npz", "--atol", "1e9"),
    }[command]
    refused = attncalc(*words)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == f"error: in.npz: {NO_HEADS}\n"
    assert not (tmp_path / "map.svg").exists()
    taken = attncalc(*words, "--heads", "2")
    assert taken.code == 0, taken.err


def test_attncalc_s_own_file_of_a_layer_needs_no_flag(attncalc: Command, tmp_path: Path) -> None:
    saved(tmp_path, **PARTS_OF_A_LAYER["a whole state dict"])
    attncalc("self", "in.npz", "--heads", "2", "-o", "out.npz")
    assert read_problem(tmp_path / "out.npz").n_heads == 2


def test_query_key_and_value_become_the_kind_of_attention_they_are(tmp_path: Path) -> None:
    state, X, Y = layer(), np.ones((2, 4)), np.zeros((3, 4))
    for tokens, names in (
        ({"query": X, "key": X, "value": X}, {"X"}),
        ({"query": X, "key": Y, "value": Y}, {"X1", "X2"}),
        ({"query": X, "key": Y, "value": Y + 1}, {"X1", "X2", "X3"}),
    ):
        problem = read_problem(saved(tmp_path, **tokens, **state, num_heads=2))
        assert {name for name in problem.names if name.startswith("X")} == names


BAD: dict[str, tuple[bytes, str]] = {
    "truncated": (b"PK\x03\x04 and no more", "in.npz: cannot be read as NumPy's arrays: "),
    "not npy": (b"\x93NUMPY\x09", "in.npz: cannot be read as NumPy's arrays: "),
}


@pytest.mark.parametrize("name", BAD)
def test_broken_files_are_refused(name: str) -> None:
    data, expected = BAD[name]
    with pytest.raises(InputError) as error:
        read_stream(data, "in.npz")
    assert str(error.value).startswith(expected)


def test_pickles_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", X=np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError) as error:
        read_problem(tmp_path / "in.npz")
    assert str(error.value) == (
        f"{tmp_path}/in.npz: cannot be read as NumPy's arrays: it has Python objects, not numbers"
    )


def test_names_that_are_not_known_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_problem(saved(tmp_path, **GOOD, in_proj_wait=np.eye(2), bias_k=np.eye(2)))
    assert str(error.value).split("\n")[1:] == [
        "  bias_k: keys and values added by a layer (add_bias_kv) are not known here",
        '  unknown name "in_proj_wait": did you mean in_proj_weight?',
    ]


def test_settings_may_be_saved_as_arrays_of_one(tmp_path: Path) -> None:
    arrays = {"heads": [1], "decimals": [[3]], "scale": np.float32(0.1), "layout": ["rows"]}
    problem = read_problem(saved(tmp_path, **GOOD, **arrays))
    assert (problem.heads, problem.decimals, problem.layout) == (1, 3, "rows")
    assert problem.scale == Fraction(1, 10)
    with pytest.raises(InputError, match=r'in\.npz: heads takes a whole number from 1: "\[1 2\]"'):
        read_problem(saved(tmp_path, **GOOD, heads=[1, 2]))
