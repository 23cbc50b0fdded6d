"""Long inputs: blocks give what the whole gives, keep no more than asked, and say no in time."""

import itertools
import re
import threading
import time
from typing import Any

import numpy as np
import pytest
from conftest import mostly_slow

from attncalc import InputError, Problem, Solution, solve
from attncalc.equations.operations.entrywise import Mask
from attncalc.solving import limits as memory
from attncalc.solving import long_inputs as blocks
from attncalc.solving import solution

pytestmark = pytest.mark.campaign(4)

N, M = 300, 420
RANDOM = np.random.default_rng(11)


def queries_keys_values(heads: int = 1, groups: int = 1) -> dict[str, np.ndarray]:
    """Return Q, K and V with heads side by side."""
    return {
        "Q": RANDOM.normal(size=(N, 8 * heads)),
        "K": RANDOM.normal(size=(M, 8 * groups)),
        "V": RANDOM.normal(size=(M, 6 * groups)),
    }


KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "unscaled": {"scale": "none"},
    "factor": {"scale": 3},
    "causal": {"causal": True},
    "bottom-right": {"causal": True, "causal_alignment": "bottom-right"},
    "window": {"window": 37, "causal": True},
    "window alone": {"window": 100, "causal_alignment": "bottom-right"},
    "window, unsafe exponents": {"window": 37, "scale": 200},
    "window, hardmax": {"window": 37, "normalizer": "hardmax", "heads": 2},
    "alibi": {"alibi": True, "heads": 3, "causal": True},
    "alibi both ways": {"alibi_slopes": [3], "causal_alignment": "bottom-right"},
    "alibi, padded": {"alibi_slopes": [3], "ignore": np.arange(M)[None] < 380},
    "alibi, window": {"alibi": True, "window": 40, "rounding": "display"},
    "relative bias": {"rel_bias": RANDOM.normal(size=(32, 4)), "heads": 4},
    "relative bias, causal": {"rel_bias": RANDOM.normal(size=(32, 1)), "causal": True},
    "sinks": {"sinks": [1, -2, 30, 0.5], "heads": 4},
    "sinks, unsafe exponents": {"sinks": [900], "scale": 40, "causal": True},
    "softcap": {"softcap": 3, "causal": True},
    "hardmax": {"normalizer": "hardmax"},
    "keep": {"keep": RANDOM.integers(0, 2, (N, M))},
    "ignore": {"ignore": RANDOM.integers(0, 2, (1, M))},
    "nothing left": {"ignore": np.arange(N)[:, None] % 3 == np.zeros(M, int)},
    "bias": {"bias": np.where(RANDOM.random((N, M)) < 0.3, -np.inf, RANDOM.normal(size=(N, M)))},
    "rope": {"positions": "rope"},
    "unsafe exponents": {"scale": 200},
    "heads": {"heads": 4},
    "grouped": {"heads": 4, "groups": 2, "causal": True},
    "multi-query": {"heads": 4, "groups": 1, "keep": RANDOM.integers(0, 2, (4, N, M))},
    "projected": {"heads": 2, "W_O": RANDOM.normal(size=(12, 5)), "b_O": np.ones(5)},
}


def problem_of(kind: dict[str, Any]) -> Problem:
    heads = kind.get("heads", 1)
    fields = {name: value for name, value in kind.items() if name != "groups"}
    return Problem(**queries_keys_values(heads, kind.get("groups", heads)), **fields)


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every input long, and blocks so small that several meet in it."""
    monkeypatch.setattr(solution, "LONG", 0)
    monkeypatch.setattr(blocks, "ROWS", 64)
    monkeypatch.setattr(blocks, "AREA", 0)
    monkeypatch.setattr(blocks, "TILE_ROWS", 70)
    monkeypatch.setattr(blocks, "TILE_KEYS", 90)


def whole(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> Solution:
    with monkeypatch.context() as patch:
        patch.setattr(solution, "LONG", 10**15)
        return solve(problem)


def near(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two matrices agree to 1e-13 of the size of their entries."""
    finite = np.isfinite(one)
    size = np.abs(one[finite]).max(initial=1e-300)
    return bool(
        (finite == np.isfinite(other)).all()
        and np.abs(one[finite] - other[finite]).max(initial=0.0) <= 1e-13 * size
    )


@pytest.mark.campaign(3)
@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize("kind", mostly_slow(KINDS, 4))
def test_blocks_equal_the_computation_at_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(KINDS[kind])
    expected = whole(problem, monkeypatch)
    in_parts = solve(problem)
    assert list(in_parts.floats) == list(expected.floats)
    for name in expected.floats:
        assert near(expected[name], in_parts[name]), name
    only = solve(problem, keep=("O",))
    assert list(only.floats) == ["O"]
    assert near(expected["O"], only["O"])


@pytest.mark.slow
@pytest.mark.usefixtures("in_blocks")
def test_each_step_rounding_and_sums_in_blocks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"Q": 130, "K": 200, "V": 200}  # three blocks and tiles: decimals take long
    given = {k: np.abs(matrix[: rows[k]]) for k, matrix in queries_keys_values().items()}
    for fields in ({"rounding": "each-step"}, {"normalizer": "sum", "scale": "none"}):
        problem = Problem(**given, **fields)
        expected, found = whole(problem, monkeypatch), solve(problem, keep=("A", "O"))
        assert near(expected["A"], found["A"])
        assert near(expected["O"], found["O"])


@pytest.mark.usefixtures("in_blocks")
def test_float32_stays_float32() -> None:
    given = {name: m.astype(np.float32) for name, m in queries_keys_values().items()}
    for keep in (None, ("O",)):
        assert {m.dtype for m in solve(Problem(**given), keep=keep).floats.values()} == {
            np.dtype(np.float32)
        }


@pytest.mark.campaign(4)
@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize("value", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize(
    ("dtype", "largest"),
    [("float32", score) for score in (60, 79, 86, 100, 190)]
    + [("float64", score) for score in (590, 640, 700, 720, 1500)],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_scores_whose_powers_overflow_or_vanish_weigh_values_of_any_size(
    dtype: str, largest: float, value: float, sign: int
) -> None:
    """All weights are equal, so each output is a value; only sums of powers overflow."""
    root = np.full((M, 1), largest**0.5, dtype)
    V = np.full((M, 2), [value, 1], dtype)
    found = solve(Problem(Q=sign * root, K=root, V=V, scale="none"), keep=("O",))["O"]
    assert found.dtype == dtype
    assert np.allclose(found, V, rtol=2e-5, atol=0)


@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize(
    ("product", "fields"),
    [
        (3600, {}),  # divided by √16
        (300, {"scale": -3}),
        (-300, {"scale": -3}),
        (300, {"scale": 3}),
        (0, {"bias": np.full((1, M), 900.0)}),
        (0, {"bias": np.full((1, M), -900.0)}),
        (2000, {"softcap": 900}),
    ],
)
def test_scores_that_grow_on_their_way_to_the_softmax_do_not_overflow(
    product: float, fields: dict[str, Any]
) -> None:
    Q = np.full((M, 16), np.sign(product) * (abs(product) / 16) ** 0.5)
    V = RANDOM.normal(size=(M, 3))
    found = solve(Problem(Q=Q, K=np.abs(Q), V=V, **fields), keep=("O",))["O"]
    assert np.allclose(found, V.mean(axis=0), rtol=0, atol=1e-13)


@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize("keep", [None, ("O",)])
@pytest.mark.parametrize("over", [0, 1, 2])
def test_the_causal_edge_may_fall_on_the_first_key_of_a_tile(
    over: int, keep: tuple[str, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last query sees a tile's first key alone, which is then no tile to leave out."""
    n = 90 + over  # TILE_KEYS, and so many more
    monkeypatch.setattr(blocks, "TILE_ROWS", 1)
    V = np.zeros((n, 1))
    V[90:] = 1
    problem = Problem(Q=np.zeros((n, 2)), K=np.zeros((n, 2)), V=V, causal=True)
    outputs = solve(problem, keep=keep)["O"][:, 0]
    assert outputs == pytest.approx([max(0, i + 1 - 90) / (i + 1) for i in range(n)])


@pytest.mark.slow
@pytest.mark.usefixtures("in_blocks")
def test_rows_that_sum_to_nothing_and_overflow_are_named_by_their_place() -> None:
    given = queries_keys_values()
    given["Q"][250] = 0
    with pytest.raises(InputError) as error:
        solve(Problem(**given, normalizer="sum"))
    assert str(error.value) == (
        "the scores of row 251 sum to 0: the normalizer sum cannot divide by that"
    )
    given["Q"][260] = 1e308
    with pytest.raises(InputError) as error:
        solve(Problem(**given))
    assert str(error.value) == (
        "output 261 exceeds the largest float64 (about 1.8e+308): give smaller numbers"
    )


@pytest.mark.usefixtures("in_blocks")
def test_progress_is_reported_block_by_block() -> None:
    seen: list[tuple[int, int]] = []
    solve(problem_of({}), report=lambda done, of: seen.append((done, of)))
    assert sorted(seen) == [(i, 5) for i in range(1, 6)]  # 300 rows, 64 at a time


def test_every_core_gets_rows_of_a_short_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "cores", lambda: 8)
    counts: set[int] = set()
    given = {name: RANDOM.normal(size=(1024, 8)) for name in "QKV"}
    solve(Problem(**given), keep=("O",), report=lambda done, of: counts.add(of))
    assert counts == {8}


def test_the_first_block_that_fails_is_reported_and_no_other_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "cores", lambda: 2)
    second_failed = threading.Event()
    started: list[int] = []

    def work(block: tuple[int, slice]) -> None:
        started.append(block[0])
        if block[0] == 0:
            assert second_failed.wait(10)
            time.sleep(0.05)  # the other thread has time to start a block, if it does
        else:
            second_failed.set()
        raise InputError(f"block {block[0]}")

    with pytest.raises(InputError, match="block 0"):
        blocks._on_all_cores(work, [(place, slice(0)) for place in range(50)], None)
    assert sorted(started) == [0, 1]


@pytest.mark.parametrize("exp2", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 5e-6)])
@pytest.mark.parametrize("scale", ["sqrt_dk", "1/3", -0.25, 3, "none"])
def test_scaled_queries_and_powers_of_two_equal_the_formula(
    scale: Any, dtype: str, tolerance: float, exp2: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not numpy's exp2 is the faster one on this machine."""
    monkeypatch.setattr(solution, "LONG", 0)
    monkeypatch.setattr(blocks, "_is_exp2_fast", lambda: exp2)
    given = {
        name: matrix.astype(dtype).astype(float)
        for name, matrix in queries_keys_values(2, 2).items()
    }
    factor = {"sqrt_dk": 8**-0.5, "1/3": 1 / 3, "none": 1}.get(scale, scale)
    expected = by_formula(
        given | {"Q": given["Q"] * factor * 8**0.5}, 2, 2, 0.0, np.ones((N, M), bool)
    )
    typed = {name: matrix.astype(dtype) for name, matrix in given.items()}
    found = solve(Problem(**typed, scale=scale, heads=2), keep=("O",))["O"]
    assert found.dtype == dtype
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.slow
@pytest.mark.parametrize("window", [None, 1, 2, 5])
def test_masks_by_position_exclude_keys_outside_the_window_and_after_the_edge(
    window: int | None,
) -> None:
    for n, m, first in itertools.product(
        (1, 3, 300), (1, 4, 280), (-400, -2, 0, 1, 2, 3, 200, 600)
    ):
        forbidden = Mask(causal_from=first, window=window).forbidden((n, m), {})
        found = np.zeros((n, m), dtype=bool)
        for each in forbidden.values():
            found |= each
        seen = [
            [j < i + first and (window is None or j >= i + first - window) for j in range(m)]
            for i in range(n)
        ]
        assert (found == ~np.array(seen)).all(), (n, m, first)


def test_finite_numbers_whose_squares_overflow_are_not_refused() -> None:
    V = np.array([[1e200, -1e300], [1e200, -1e300]])
    found = solve(Problem(Q=np.zeros((2, 1)), K=np.zeros((2, 1)), V=V))
    assert (found["O"] == V).all()


def test_only_a_part_of_the_plan_can_be_kept() -> None:
    with pytest.raises(InputError) as error:
        solve(problem_of({}), keep=("X",))
    assert str(error.value) == "no step X: this problem has S, S_scaled, A, O"


def test_a_request_too_large_for_memory_is_refused_with_sizes_and_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """30,000 tokens: S, S_scaled and A take 6.7 GiB each, and O alone 14 MiB."""
    monkeypatch.setattr(memory, "available", lambda: 8 * 2**30)
    n = 30_000
    problem = Problem(Q=np.zeros((n, 64)), K=np.zeros((n, 64)), V=np.zeros((n, 64)))
    with pytest.raises(InputError) as error:
        solve(problem)
    assert re.match(r"this needs 2\d\.\d GiB of memory", str(error.value))
    assert "(S 6.7 GiB, S_scaled 6.7 GiB, A 6.7 GiB, O 15 MiB, workspace " in str(error.value)
    assert str(error.value).endswith(
        "and 8.0 GiB are free: request fewer steps with --only O --format npz or "
        'solve(problem, keep=("O",))'
    )


def test_memory_is_read_from_the_system() -> None:
    free = memory.available()
    assert free is None or free > 2**20


SHAPES = {
    "one query": (1, 1, 1, 5000),
    "one query, heads": (8, 8, 1, 700),
    "few queries, grouped": (8, 2, 3, 900),
    "few keys": (1, 1, 5000, 5),
    "few keys, heads": (8, 8, 2500, 16),
    "few keys, multi-query": (4, 1, 700, 63),
    "just enough to bound": (4, 2, 64, 1025),
    "a tile and one more": (1, 1, 1025, 1025),
}
MASKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": True},
    "bottom-right": {"causal": True, "causal_alignment": "bottom-right"},
    "window": {"keep": 200},
    "bias": {"bias": True},
}


def allowed(masks: dict[str, Any], n: int, m: int) -> np.ndarray:
    """Say by place alone, (n, m), where a query may attend."""
    i, j = np.arange(n)[:, np.newaxis], np.arange(m)
    if "keep" in masks:  # a window of keys around the own place
        return np.abs(i * m // n - j) < masks["keep"]
    if masks.get("causal"):
        return j <= i + (m - n if "causal_alignment" in masks else 0)
    return np.ones((n, m), dtype=bool)


def by_formula(
    given: dict[str, np.ndarray], heads: int, groups: int, bias: Any, may: np.ndarray
) -> np.ndarray:
    """Return softmax(Q Kᵀ / √d_k) V, head by head, with a row of zeros where nothing is allowed."""
    outputs = []
    for head in range(heads):
        serving = head * groups // heads
        Q = given["Q"][:, 8 * head : 8 * (head + 1)]
        K = given["K"][:, 8 * serving : 8 * (serving + 1)]
        V = given["V"][:, 6 * serving : 6 * (serving + 1)]
        scores = np.where(may, Q @ K.T / np.sqrt(8) + bias, -np.inf)
        top = scores.max(axis=1, keepdims=True)
        powers = np.exp(scores - np.where(np.isfinite(top), top, 0))
        total = powers.sum(axis=1, keepdims=True)
        outputs.append(powers @ V / np.where(total > 0, total, 1))
    return np.concatenate(outputs, axis=1)


@pytest.mark.campaign(6)
@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("shape", SHAPES)
def test_uneven_lengths_agree_with_the_formula(
    shape: str, masks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solution, "LONG", 0)
    heads, groups, n, m = SHAPES[shape]
    given = {
        "Q": RANDOM.normal(size=(n, 8 * heads)),
        "K": RANDOM.normal(size=(m, 8 * groups)),
        "V": RANDOM.normal(size=(m, 6 * groups)),
    }
    fields, may = dict(MASKS[masks]), allowed(MASKS[masks], n, m)
    bias = RANDOM.normal(size=(n, m)) if "bias" in fields else 0.0
    fields |= {"keep": may} if "keep" in fields else {}
    fields |= {"bias": bias} if "bias" in fields else {}
    found = solve(Problem(**given, **fields, heads=heads), keep=("O",))["O"]
    assert np.abs(found - by_formula(given, heads, groups, bias, may)).max() <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("alignment", ["top-left", "bottom-right"])
def test_no_tile_is_left_out_that_the_causal_edge_only_touches(
    alignment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of any height and width: the last row of one may see the first key of a tile alone."""
    monkeypatch.setattr(solution, "LONG", 0)
    monkeypatch.setattr(blocks, "AREA", 0)
    n, m = 97, 129
    given = {name: RANDOM.normal(size=(n if name == "Q" else m, 8)) for name in "QKV"}
    given["V"] = given["V"][:, :6]
    problem = Problem(**given, causal=True, causal_alignment=alignment)
    masks = {"causal": True} | ({} if alignment == "top-left" else {"causal_alignment": alignment})
    expected = by_formula(given, 1, 1, 0.0, allowed(masks, n, m))
    for height, width in ((1, 1), (8, 8), (16, 32), (32, 16), (7, 5), (96, 96)):
        monkeypatch.setattr(blocks, "TILE_ROWS", height)
        monkeypatch.setattr(blocks, "TILE_KEYS", width)
        assert np.abs(solve(problem, keep=("O",))["O"] - expected).max() <= 1e-12, (height, width)


@pytest.mark.parametrize(
    ("dtype", "sizes", "tolerance"),
    [(np.float32, (60, 100, 180), 1e-3), (np.float64, (500, 690, 1500), 1e-9)],
)
def test_large_scores_subtract_their_maximum(
    dtype: type, sizes: tuple[int, ...], tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """e^100 is beyond float32, and e^710 beyond float64, however safe their bounds may seem."""
    monkeypatch.setattr(solution, "LONG", 0)
    for size in sizes:
        for sign in (1, -1):
            scores = sign * np.linspace(0.9 * size, size, 128)
            given = {
                "Q": np.full((128, 1), 1),
                "K": scores[:, np.newaxis],
                "V": RANDOM.random((128, 2)),
            }
            given = {name: matrix.astype(dtype) for name, matrix in given.items()}
            found = solve(Problem(**given, scale="none"), keep=("O",))["O"]
            powers = np.exp(given["K"][:, 0].astype(float) - given["K"].max())
            expected = powers @ given["V"] / powers.sum()
            assert np.abs(found - expected).max() <= tolerance, sign * size
