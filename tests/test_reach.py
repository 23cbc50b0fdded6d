"""How far a step's results can lie from one another when its inputs are known to some decimals."""

from dataclasses import dataclass

import numpy as np
import pytest
from conftest import many, mostly_slow
from gradient_kinds import FURTHER, Chance
from hypothesis import given
from hypothesis import strategies as st
from oracle_kinds import Kind
from test_kinds import FORMS, Form, kinds
from test_pages import is_solvable

from attncalc import InputError, Problem, solve
from attncalc.base.types import Range
from attncalc.equations.operations.angles import Rotate
from attncalc.equations.operations.entrywise import Mask, SoftCap
from attncalc.equations.operations.normalising import DivideBySum, HardMax, Softmax
from attncalc.equations.operations.products import Scores, Weigh
from attncalc.solving.plan import plan

SLACK = 1e-9
OF_SHARES = ("SoftmaxBack", "SinkBack", "CrossEntropy")
"""What reads weights that are shares: they cannot lie below 0, or beyond 1."""


@pytest.mark.slow
@many(150)
@given(kinds(rounding=("display",), decimals=3), st.sampled_from(FORMS), st.integers(0, 2**32))
def test_every_result_of_values_within_reach_is_within_reach(
    kind: Kind, form: Form, seed: int
) -> None:
    problem = form.problem(kind)
    if not is_solvable(problem):
        return
    random = np.random.default_rng(seed)
    check_reach(problem, random)


@pytest.mark.parametrize("what", mostly_slow(sorted(FURTHER), every=8))
def test_every_gradient_and_all_after_a_step_is_within_reach(what: str) -> None:
    """Slopes, and tables of distances, that a step made are known to their last digit alone."""
    for seed in range(4):
        fields = FURTHER[what](Chance(seed))
        problem = Problem(**fields, **({"backward": True} if what == "distance" else {"step": 0.1}))
        check_reach(problem, np.random.default_rng(seed))


def check_reach(problem: Problem, random: np.random.Generator) -> None:
    known = problem.given | dict(solve(problem).floats)
    for step in plan(problem):
        inputs = [known[name] for name in step.inputs]
        steps = [name not in problem.names for name in step.inputs]
        spreads = [0.05 if is_step else 0.0 for is_step in steps]
        ranges = [
            Range.around(matrix, spread) if spread else Range(matrix, matrix)
            for matrix, spread in zip(inputs, spreads, strict=True)
        ]
        reached = step.operation.reach(*ranges)
        moved = [
            matrix + spread * random.choice([-1.0, 0.3, 1.0], matrix.shape) if spread else matrix
            for matrix, spread in zip(inputs, spreads, strict=True)
        ]
        for place, name in enumerate(step.inputs):
            own = name.rpartition(".")[2].removesuffix("_new")
            if own.startswith(("var_", "ms_")):
                moved[place] = moved[place].clip(0)
            elif own in ("A", "prob") and step.operation.name in OF_SHARES:
                moved[place] = moved[place].clip(0, 1)
        if isinstance(step.operation, Weigh) and step.operation.of_shares:
            moved[0] = other_shares(inputs[0], 0.05, random)
        try:
            result = step.operation.apply(*moved)
        except InputError:  # a row of scores that then sums to 0
            continue
        slack = SLACK * (1 + np.abs(np.nan_to_num(result, neginf=0.0)))
        assert (result >= reached.low - slack).all(), step.name
        assert (result <= reached.high + slack).all(), step.name


def other_shares(weights: np.ndarray, spread: float, random: np.random.Generator) -> np.ndarray:
    """Return weights no further away than the spread, whose rows still sum to 1."""
    other = random.dirichlet(np.ones(weights.shape[-1]) / 3, size=weights.shape[:-1])
    away = np.where(weights.sum(axis=-1, keepdims=True) > 0, other - weights, 0.0)
    furthest = np.abs(away).max(axis=-1, keepdims=True)
    moved: np.ndarray = weights + away * np.minimum(1, spread / np.maximum(furthest, 1e-9))
    return moved


def test_weights_that_sum_to_1_reach_no_further_than_the_values() -> None:
    weights, values = np.array([[1.0, 0.0]]), np.array([[50.0], [-60.0]])
    low, high = Weigh(of_shares=True).reach(Range.around(weights, 0.005), Range.at(values))
    assert low == pytest.approx(50 - 0.005 * 110)
    assert high == pytest.approx(50)
    low, high = Weigh().reach(Range.around(weights, 0.005), Range.at(values))
    assert (low, high) == (pytest.approx(50 - 0.55), pytest.approx(50 + 0.55))


@pytest.mark.parametrize("weight", [0.0, 0.9])
def test_weights_that_cannot_sum_to_1_are_treated_like_others(weight: float) -> None:
    """A row without unmasked keys, or one written without dividing by its sum."""
    weights, values = np.array([[weight, weight]]), np.array([[50.0], [-60.0]])
    low, high = Weigh(of_shares=True).reach(Range.around(weights, 0.005), Range.at(values))
    assert low == pytest.approx(-10 * weight - 0.005 * 110)
    assert high == pytest.approx(-10 * weight + 0.005 * 110)


def test_exact_values_have_no_range() -> None:
    scores = np.array([[1.0, -np.inf, 3.0]])
    for operation in (Softmax(masked=True), HardMax()):
        low, high = operation.reach(Range(scores, scores))
        assert low == pytest.approx(high)
        assert low == pytest.approx(operation.apply(scores))


def test_a_product_reaches_as_far_as_its_terms_allow() -> None:
    Q, K = np.array([[2.0, -1.0]]), np.array([[3.0, 4.0]])
    low, high = Scores().reach(Range.around(Q, 0.5), Range.around(K, 0.5))
    assert low == pytest.approx(np.array([[1.5 * 2.5 - 1.5 * 4.5]]))
    assert high == pytest.approx(np.array([[2.5 * 3.5 - 0.5 * 3.5]]))


def test_softmax_reaches_from_all_others_highest_to_all_others_lowest() -> None:
    scores = np.array([[0.0, 0.0]])
    low, high = Softmax().reach(Range.around(scores, 0.5))
    assert low == pytest.approx(np.full((1, 2), 1 / (1 + np.e)))
    assert high == pytest.approx(np.full((1, 2), np.e / (1 + np.e)))


def test_hardmax_finds_the_scores_that_may_win() -> None:
    low, high = HardMax().reach(Range.around(np.array([[1.0, 1.05, 3.0]]), 0.1))
    assert low.tolist() == [[0, 0, 1]]
    assert high.tolist() == [[0, 0, 1]]
    low, high = HardMax().reach(Range.around(np.array([[1.0, 1.05, 0.0]]), 0.1))
    assert low.tolist() == [[0, 0, 0]]
    assert high.tolist() == [[1, 1, 0]]


def test_caps_masks_and_turns_move_the_ends() -> None:
    low, high = SoftCap(cap=2).reach(Range(np.array([[-100.0]]), np.array([[0.0]])))  # type: ignore[arg-type]
    assert low == pytest.approx(np.array([[-2.0]]))
    assert high == pytest.approx(np.array([[0.0]]))
    marks = np.array([[True, False]])
    low, high = Mask(("keep",)).reach(
        Range.around(np.array([[1.0, 1.0]]), 0.5), Range(marks, marks)
    )
    assert low.tolist() == [[0.5, -np.inf]]
    assert high.tolist() == [[1.5, -np.inf]]
    turn = Rotate(10_000, 1, "halves")  # type: ignore[arg-type]
    low, high = turn.reach(Range.around(np.array([[1.0, 0.0]]), 0.1))
    width = 0.1 * (np.cos(1) + np.sin(1))
    assert high - low == pytest.approx(np.full((1, 2), 2 * width))
    one_known = Range(np.array([[0.9, 0.0]]), np.array([[1.1, 0.0]]))
    low, high = turn.reach(one_known)
    assert high - low == pytest.approx(np.array([[0.2 * np.cos(1), 0.2 * np.sin(1)]]))


def test_an_operation_for_some_rows_keeps_its_settings() -> None:
    """A field that is added later, a window say, is not dropped in silence."""

    @dataclass(frozen=True, eq=False, repr=False)
    class Window(Mask):
        window: int = 0

    @dataclass(frozen=True, eq=False, repr=False)
    class Signed(DivideBySum):
        signs: str = ""

    window = Window(("keep",), causal_from=1, window=5).at(slice(4, 8), slice(2, 8))
    assert isinstance(window, Window)
    assert (window.masks, window.causal_from, window.window) == (("keep",), 3, 5)
    signed = Signed(first_row=1, signs="both").at(slice(4, 8))
    assert isinstance(signed, Signed)
    assert (signed.first_row, signed.signs) == (5, "both")
