"""Marking at the edges of numbers: infinities, NaN, the huge, the tiny, and zeros left out."""

import json
import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import planting
import pytest
from conftest import many, mostly_slow, some_of
from hypothesis import Phase, example, given
from hypothesis import strategies as st

from attncalc import Problem, check, solve
from attncalc.base.types import Range
from attncalc.grading.key import key_of
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Rules, Status
from attncalc.grading.slack import Slack, ToTheDigit, Within
from attncalc.reading.answers.answer import Answer, matrix_of_floats
from attncalc.writing.reports.marking import marking_as_json
from attncalc.writing.verdict import verdict

pytestmark = pytest.mark.campaign(4)

CREDITED = {
    *(Status.CORRECT, Status.ROUNDING, Status.FOLLOWS),
    *(Status.MATCHES_KEY, Status.PRECISION),
}
INF, NAN = float("inf"), float("nan")


def status(marking: Marking, step: str, *place: int) -> Status:
    """Return the status of an entry, its place counted from 1."""
    (marks,) = (marks for marks in marking.steps if marks.step.name == step)
    return marks.status(tuple(index - 1 for index in place))


def of_program(problem: Problem, arrays: Mapping[str, Any], **rules: Any) -> Marking:
    matrices = {name: matrix_of_floats(np.array(array)) for name, array in arrays.items()}
    marked_by = Rules(asked=tuple(arrays), **rules)
    return mark(key_of(problem, marked_by), Answer("dump.npz", matrices), marked_by)


# ---------------------------------------------------------------- one comparison

SLACKS: list[Slack] = [
    ToTheDigit(2),
    ToTheDigit(2, cuts=True),
    ToTheDigit(0),
    ToTheDigit(12),
    Within(1e-6, 0.0),
    Within(0.0, 1e-6),
    Within(0.0, 0.0),
    Within(1e300, 0.5),
]


@pytest.mark.campaign(10)
@pytest.mark.parametrize("slack", SLACKS, ids=str)
@pytest.mark.parametrize(
    ("written", "right", "is_near"),
    [
        (-INF, -INF, True),
        (INF, INF, True),
        (INF, -INF, False),
        (-INF, INF, False),
        (NAN, -INF, False),
        (NAN, INF, False),
        (NAN, 0.0, False),
        (NAN, NAN, False),
        (0.0, NAN, False),
        (INF, NAN, False),
        (-INF, NAN, False),
        (0.0, -INF, False),
        (777.123, -INF, False),
        (1e-300, -INF, False),
        (-1e-300, -INF, False),
        (-9999.0, -INF, False),
        (-1e4, -INF, True),
        (-65504.0, -INF, True),
        (-1e9, -INF, True),
        (-1e300, -INF, True),
        (1e9, -INF, False),
        (1e300, -INF, False),
        (-1e300, INF, False),
        (1e300, INF, False),
        (0.0, INF, False),
        (-INF, 0.0, False),
        (-INF, -1e300, False),
        (-INF, -1e9, False),
        (INF, 0.0, False),
        (INF, 1e300, False),
        (1e300, 1e300, True),
        (-1e300, -1e300, True),
        (1e-300, 1e-300, True),
        (0.0, 0.0, True),
        (-0.0, 0.0, True),
    ],
)
def test_no_infinity_is_near_a_number(
    slack: Slack, written: float, right: float, is_near: bool
) -> None:
    values, decimals = np.array([[written]]), np.array([[99]])
    near = slack.near(values, decimals, Range.at(np.array([[right]])))
    assert near.tolist() == [[is_near]]


@pytest.mark.parametrize("decimals", [0, 1, 2, 12, 99, 300])
def test_an_unbounded_entry_is_not_infinite(decimals: int) -> None:
    """A share of a sum that may be 0 may be anything, but not an infinity."""
    anything = Range(np.full((1, 4), -INF), np.full((1, 4), INF))
    written = np.array([[5.0, INF, -INF, NAN]])
    near = ToTheDigit(2).near(written, np.full((1, 4), decimals), anything)
    assert near.tolist() == [[True, False, False, False]]


@pytest.mark.parametrize(
    ("slack", "written", "right", "is_near"),
    [
        (Within(1e-6, 0.0), 1e300, 1.01e300, False),
        (Within(1e-6, 0.0), 1e300, -1e300, False),
        (Within(0.0, 1e-6), 1.0000001e300, 1e300, True),
        (Within(0.0, 1e-6), -1e308, 1e308, False),
        (Within(0.0, 1e-6), 1e-300, 2e-300, False),
        (Within(0.0, 1e-6), 0.0, 1e-300, False),
        (Within(0.0, 1e-6), 1e-300, 0.0, False),
        (Within(1e-6, 0.0), 1e-300, 0.0, True),
        (ToTheDigit(2), 1e300, 1.01e300, False),
        (ToTheDigit(2), 1e300, -1e300, False),
        (ToTheDigit(2), 0.0, 1e-300, True),
        (ToTheDigit(12), 0.0, 1e-10, False),
    ],
)
def test_huge_and_tiny_numbers_differ(
    slack: Slack, written: float, right: float, is_near: bool
) -> None:
    near = slack.near(np.array([[written]]), np.array([[99]]), Range.at(np.array([[right]])))
    assert near.tolist() == [[is_near]]


def test_a_number_that_scores_reach_is_not_minus_infinity() -> None:
    """Beside scores of 20,000 the number -20,000 is a score that no mask was laid on."""
    right = np.array([[20_000.0, -INF], [-20_000.0, -INF]])
    written = np.array([[20_000.0, -20_000.0], [-20_000.0, -1e9]])
    near = ToTheDigit(2).near(written, np.full((2, 2), 2), Range.at(right))
    assert near.tolist() == [[True, False], [True, True]]


# ---------------------------------------------------------------- a masked score

CAUSAL = Problem(Q=[[1], [2]], K=[[1], [0.5]], V=[[1], [2]], causal=True, scale="none")
"""Its scores are 1, 0.5 and 2, 1; the first query may attend to the first key alone."""
TOLERANCES = [{}, {"atol": 1e-6}, {"rtol": 1e-6}, {"atol": 1e-6, "rtol": 1e-6}, {"atol": 0.0}]


@pytest.mark.campaign(14)
@pytest.mark.parametrize("rules", TOLERANCES, ids=str)
@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize(
    ("entry", "is_right"),
    [
        *((text, True) for text in ("-inf", "-∞", "-1e9", "-10000", "-1e300", "-10000.000")),
        *((text, False) for text in ("0", "0.0", "0.5", "0.50", "0.500", "0.5000", "1/2", "777")),
        *((text, False) for text in ("777.1", "777.123", "7/3", "-777.123", "-9999.999", "1e300")),
        *((text, False) for text in ("1e9", "1e-300", "0.000000000000000001", "?")),
    ],
)
def test_only_minus_infinity_is_right_at_masked_entries(
    entry: str, is_right: bool, rounding: str, rules: dict[str, Any]
) -> None:
    problem = Problem(**{**fields_of(CAUSAL), "rounding": rounding})
    marking = check(problem, {"S_masked": [["1.00", entry], ["2.00", "1.00"]]}, **rules)
    assert (status(marking, "S_masked", 1, 2) in CREDITED) is is_right
    assert marking.steps[0].credit(marking.rules) in ((1,) if is_right else (0, Fraction(3, 4)))


@pytest.mark.campaign(4)
@pytest.mark.parametrize("rules", TOLERANCES, ids=str)
@pytest.mark.parametrize("entry", ["-inf", "-∞", "-1e9", "-1e300", "1e300"])
def test_where_a_number_belongs_no_infinity_is_right(entry: str, rules: dict[str, Any]) -> None:
    marking = check(CAUSAL, {"S_masked": [[entry, "-inf"], ["2.00", "1.00"]]}, **rules)
    assert status(marking, "S_masked", 1, 1) is Status.WRONG
    assert marking.steps[0].credit(marking.rules) == Fraction(3, 4)


@pytest.mark.campaign(7)
@pytest.mark.parametrize("rules", TOLERANCES, ids=str)
@pytest.mark.parametrize("dtype", mostly_slow(["float16", "float32", "float64"]))
@pytest.mark.parametrize(
    ("value", "is_right"),
    [(-INF, True), (-65504.0, True), (INF, False), (NAN, False), (777.125, False), (0.5, False)],
)
def test_infinities_of_programs_follow_the_same_rule(
    value: float, is_right: bool, dtype: str, rules: dict[str, Any]
) -> None:
    array = np.array([[1, value], [2, 1]], dtype=dtype)
    marking = of_program(CAUSAL, {"S_masked": array}, **rules)
    assert status(marking, "S_masked", 1, 2) is (Status.CORRECT if is_right else Status.WRONG)
    assert marking.is_right is is_right
    array = np.array([[value, -INF], [2, 1]], dtype=dtype)
    assert not of_program(CAUSAL, {"S_masked": array}, **rules).is_right


@pytest.mark.campaign(5)
@pytest.mark.parametrize("decimals", [0, 1, 2, 3, 4, 8])
@pytest.mark.parametrize("rules", TOLERANCES, ids=str)
def test_a_mask_left_out_is_found_with_any_decimals(decimals: int, rules: dict[str, Any]) -> None:
    scores = [[0.3125, 1.71875], [-2.40625, 4.84375]]
    problem = Problem(
        Q=[[1, 0], [0, 1]],
        K=np.array(scores).T.tolist(),
        V=[[1], [2]],
        causal=True,
        scale="none",
        decimals=2,
    )
    texts = [[f"{score:.{decimals}f}" for score in row] for row in scores]
    marking = check(problem, {"S_masked": texts}, asked=("S_masked",), **rules)
    assert status(marking, "S_masked", 1, 2) is Status.WRONG
    if decimals >= 5 or (decimals >= 2 and not rules):
        assert marking.score.earned in (0, Fraction(3, 4))
        assert [cause.code for cause in marking.steps[0].causes][:1] == ["mask-forgotten"]


@pytest.mark.slow
def test_a_mask_left_out_of_scores_in_the_thousands_is_found() -> None:
    problem = Problem(Q=[[-100], [-200]], K=[[80], [90]], V=[[1], [2]], causal=True, scale="none")
    for masked, is_right in (("-9000", False), ("-18000", False), ("-1e9", True)):
        answer = {"S_masked": [["-8000", masked], ["-16000", "-18000"]]}
        assert check(problem, answer, asked=("S_masked",)).is_right is is_right
    keep = Problem(Q=[[1]], K=[[20_000], [-20_000]], V=[[1], [2]], keep=[[1, 0]], scale="none")
    assert not check(keep, {"S_masked": [[20_000, -20_000]]}, asked=("S_masked",)).is_right


@pytest.mark.slow
def test_numbers_for_minus_infinity_follow_and_explain_as_minus_infinity_does() -> None:
    problem = Problem(
        Q=[[1, 2], [3, -1], [0.5, 1]],
        K=[[1, 0], [2, 1], [1, -1]],
        V=[[1], [2], [4]],
        causal=True,
        scale="none",
    )
    shown = [[1, -1e9, -1e9], [3, 5, -1e9], [0.5, 2, -0.5]]
    wrong = [[2, -1e9, -1e9], [3, 5, -1e9], [0.5, 2, -0.5]]
    scores = [[2, 4, -1], [3, 5, 4], [0.5, 2, -0.5]]
    assert check(problem, {"S_masked": shown}, asked=("S_masked",)).is_right
    marking = check(problem, {"S": scores, "S_masked": wrong})
    assert status(marking, "S_masked", 1, 1) is Status.FOLLOWS
    assert status(marking, "S_masked", 1, 2) is Status.CORRECT
    forbidden = {(i, j) for i in range(3) for j in range(3) if j > i}
    inverted = [
        [-1e9 if (i, j) not in forbidden else [[1, 4, -1], [3, 5, 4], [0.5, 2, -0.5]][i][j]
         for j in range(3)]
        for i in range(3)
    ]  # fmt: skip
    (cause,) = check(problem, {"S_masked": inverted}, asked=("S_masked",)).steps[0].causes
    assert cause.code == "mask-inverted"
    twice = [[x * 2.5 for x in row] for row in shown]
    (cause,) = of_program(problem, {"S_masked": twice}, atol=1e-6).steps[0].causes
    assert cause.code == "scaled-by:2.5"


def test_a_style_is_named_beside_numbers_for_minus_infinity() -> None:
    """Digits are cut off: 0.666 is 0.66, 1.777 is 1.77, and -1e9 is no digit of any style."""
    problem = Problem(Q=[[1], [2]], K=[[0.666], [0.8889]], V=[[1], [2]], causal=True, scale="none")
    for masked in ("-inf", "-1e9"):
        answer = {"S_masked": [["0.66", masked], ["1.33", "1.77"]]}
        marking = check(problem, answer)
        assert marking.style is not None
        assert marking.style.rule == "truncate"


def test_results_of_invalid_scores_are_not_nan() -> None:
    problem = Problem(Q=[[1], [2]], K=[[4], [-3]], V=[[0], [10]], normalizer="sum", scale="none")
    arrays = {"S": [[3, -3], [8, -6]], "A": [[1, 2], [4, -3]]}
    marking = of_program(problem, arrays, atol=1e-6)
    assert status(marking, "A", 1, 2) is Status.WRONG
    assert "In A 2 entries are wrong: A[1,1] is 4, not 1 (row 1, column 1)." in verdict(marking)
    assert not any("nan" in sentence.lower() for sentence in verdict(marking))


# ---------------------------------------------------------------- any number, anywhere

SPECIAL = st.one_of(
    st.sampled_from([INF, -INF, NAN, 0.0, -0.0, 1e300, -1e300, 1e308, -1e308, 1e-300, 5e-324]),
    st.sampled_from([777.123, -9999.0, -10000.0, -1e9, -65504.0, 0.5, 1.0, 0.62, 2.0]),
    st.floats(),
)
KINDS = st.fixed_dictionaries(
    {
        "normalizer": st.sampled_from(["softmax", "hardmax", "sum"]),
        "rounding": st.sampled_from(["display", "each-step"]),
        "decimals": st.sampled_from([0, 2, 12]),
        "causal": st.booleans(),
        "scale": st.sampled_from(["none", "sqrt_dk", "1/3"]),
    }
)
THREE = {
    "Q": [[1, 0.5], [2, 1], [0.25, 3]],
    "K": [[1, 2], [0.5, 0.125], [3, 0.5]],
    "V": [[1, -4], [2, 0.5], [7, 3]],
}


def fields_of(problem: Problem) -> dict[str, Any]:
    names = ("Q", "K", "V", "causal", "scale", "rounding", "decimals")
    return {name: getattr(problem, name) for name in names}


@pytest.mark.slow
@many(150, phases=[Phase.explicit, Phase.generate])
@given(KINDS, st.sampled_from(TOLERANCES), st.data())
def test_an_entry_is_never_credited_if_only_one_side_is_infinite(
    kind: dict[str, Any], rules: dict[str, Any], data: st.DataObject
) -> None:
    problem = Problem(**THREE, **kind)
    name = data.draw(st.sampled_from([step.name for step in solve(problem).plan]))
    shape = solve(problem)[name].shape
    values = np.array(
        data.draw(st.lists(SPECIAL, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    ).reshape(shape)
    marking = of_program(problem, {name: values}, **rules)
    for i, j in np.ndindex(shape):
        is_forbidden = name == "S_masked" and j > i
        is_credited = status(marking, name, i + 1, j + 1) in CREDITED
        if is_forbidden:
            assert is_credited is bool(values[i, j] <= -1e4)
        elif not np.isfinite(values[i, j]):
            assert not is_credited
    verdict(marking)
    json.loads(marking_as_json(marking))


@pytest.mark.slow
@many(100, phases=[Phase.explicit, Phase.generate])
@given(KINDS, st.sampled_from(TOLERANCES), st.data())
@example({"normalizer": "softmax", "decimals": 12}, {}, None)
def test_one_impossible_number_in_a_right_script_costs_itself_and_stops_nothing(
    kind: dict[str, Any], rules: dict[str, Any], data: st.DataObject | None
) -> None:
    """All else is right, so an infinity can follow from no infinity but this one."""
    problem = Problem(**THREE, **kind)
    solution = solve(problem)
    arrays = {
        step.name: (solution[step.name] if rules else solution.rounded(step.name)).astype(float)
        for step in solution.plan
    }
    if data is None:
        name, place, value = "S", (0, 0), 1e300
    else:
        name = data.draw(st.sampled_from(list(arrays)))
        place = data.draw(st.sampled_from(list(np.ndindex(arrays[name].shape))))
        value = data.draw(SPECIAL)
    was = arrays[name][place]
    arrays[name] = arrays[name].copy()
    arrays[name][place] = value
    marking = of_program(problem, arrays, **rules)
    is_credited = status(marking, name, place[0] + 1, place[1] + 1) in CREDITED
    if not np.isfinite(value) or not np.isfinite(was):
        assert is_credited is bool(value == was or (np.isneginf(was) and value <= -1e4))
    verdict(marking)
    json.loads(marking_as_json(marking))


# ---------------------------------------------------------------- zeros that are left out


def without_zeros(text: str) -> str:
    """Return a number as programs and people write it: 0.2 for 0.20, and 0.0 for 0.00."""
    if "." not in text:
        return text
    whole, part = text.split(".")
    return f"{whole}.{part.rstrip('0') or '0'}"


def test_02_for_020_that_follows_costs_nothing() -> None:
    """The score is 0.24, written as 0.2: half. From the own Q of 0.5 it is 0.20: all."""
    problem = Problem(X=[[1]], W_Q=[[0.6]], W_K=[[0.4]], W_V=[[1]], scale="none")
    marking = check(problem, {"Q": [["0.5"]], "K": [["0.4"]], "S": [["0.2"]]})
    assert status(marking, "Q", 1, 1) is Status.WRONG
    assert status(marking, "S", 1, 1) is Status.FOLLOWS
    alone = check(problem, {"Q": [["0.6"]], "K": [["0.4"]], "S": [["0.2"]]})
    assert status(alone, "S", 1, 1) is Status.PRECISION


def test_00_for_000_that_follows_costs_nothing() -> None:
    problem = Problem(X=[[1]], W_Q=[[0.1]], W_K=[[0.4]], W_V=[[1]], scale="none")
    for zero in ("0.00", "0.0", "0", 0, 0.0):
        marking = check(problem, {"Q": [["0"]], "K": [["0.4"]], "S": [[zero]]})
        assert status(marking, "S", 1, 1) is Status.FOLLOWS
    assert status(check(problem, {"S": [["0.0"]]}), "S", 1, 1) is Status.PRECISION


@pytest.mark.slow
def test_zeros_left_out_of_what_another_rounding_gives_cost_nothing() -> None:
    """0.354 · 0.584 is 0.207, or 0.203 where each step is rounded to two decimals first."""
    problem = Problem(X=[[1]], W_Q=[[0.354]], W_K=[[0.584]], W_V=[[1]], scale="none")
    for rounding, shown in (("display", "0.21"), ("each-step", "0.20")):
        other = Problem(**{**fields_of_tokens(problem), "rounding": rounding})
        assert solve(other).shown("S") == [[shown]]
        for entry in ("0.20", "0.2", ".2", "1/5", "0.200"):
            marking = check(other, {"Q": [["0.35"]], "K": [["0.58"]], "S": [[entry]]})
            assert status(marking, "S", 1, 1).is_right, (rounding, entry)


def fields_of_tokens(problem: Problem) -> dict[str, Any]:
    names = ("X", "W_Q", "W_K", "W_V", "scale", "decimals")
    return {name: getattr(problem, name) for name in names}


def test_too_few_decimals_that_do_not_follow_earn_no_more_than_those_that_do() -> None:
    problem = Problem(X=[[1]], W_Q=[[0.6]], W_K=[[0.4]], W_V=[[1]], scale="none")
    marking = check(problem, {"Q": [["0.9"]], "K": [["0.4"]], "S": [["0.2"]]})
    assert status(marking, "S", 1, 1) is Status.PRECISION


@pytest.mark.slow
@pytest.mark.parametrize("seed", some_of(40))
def test_a_script_without_its_trailing_zeros_is_marked_as_with_them(seed: int) -> None:
    """In text, in JSON and from a program; with a mistake in it, or none, in every style."""
    rng = random.Random(seed)
    task = planting.random_task(rng)
    problem = Problem(**task.fields)
    key = key_of(problem, Rules())
    for style in planting.STYLES:
        slips = None
        if rng.random() < 0.7:
            step = rng.choice(task.steps)
            kind = rng.choice(planting.SLIPS)
            slips = {step: planting.slipping(kind, step, task, style, rng)}
        script = planting.written(task, style, task.steps, slips=slips)
        if script is None or any(np.isnan(matrix).any() for matrix in script.values()):
            continue
        padded = {name: _texts(matrix, task.decimals) for name, matrix in script.items()}
        short = {name: _each(without_zeros, rows) for name, rows in padded.items()}
        floats = {name: _each(float, rows) for name, rows in padded.items()}
        markings = [_mark(key, padded), _mark(key, short), _mark(key, floats)]
        markings.append(mark(key, _program(script), Rules()))
        whole, *others = ([marks.statuses for marks in each.steps] for each in markings)
        for other in others:
            for ours, theirs in zip(whole, other, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def _texts(matrix: np.ndarray, decimals: int) -> Any:
    return [_texts(part, decimals) if np.ndim(part) else f"{part:.{decimals}f}" for part in matrix]


def _each(function: Any, rows: Any) -> Any:
    return [_each(function, row) for row in rows] if isinstance(rows, list) else function(rows)


def _mark(key: Any, matrices: dict[str, Any]) -> Marking:
    from attncalc.reading.answers import read_answer_bytes

    text = json.dumps(matrices).replace("-Infinity", '"-inf"')
    return mark(key, read_answer_bytes(text.encode(), "a.json"), Rules())


def _program(script: Mapping[str, np.ndarray]) -> Answer:
    return Answer("a.npz", {name: matrix_of_floats(matrix) for name, matrix in script.items()})
