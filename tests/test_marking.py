"""Marking: every status, what follows from a mistake, its cost, and its report."""

import importlib.util
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import planting
import pytest
from conftest import IN_FULL, ROOT, SLOW

from attncalc import Problem, read_problem, solve
from attncalc.base.types import Range
from attncalc.equations.intervals import _others
from attncalc.equations.operation import Operation
from attncalc.equations.operations.normalising import Softmax
from attncalc.equations.operations.products import Weigh
from attncalc.grading.digits import DigitsWalk
from attncalc.grading.key import Key, key_of
from attncalc.grading.known import Known
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking, flags
from attncalc.grading.rules import Rules, Status
from attncalc.grading.slack import ToTheDigit, Within
from attncalc.problem.samples import ANSWERS, sample
from attncalc.reading.answers import read_answer, read_answer_bytes
from attncalc.solving.work import Work
from attncalc.writing.reports.marking import as_values
from attncalc.writing.verdict import verdict

HOMEWORK = read_problem(sample("self").path)
HAND = {
    "Q": [[1, 3], [-1, 1], [2.5, -2]],
    "K": [[3, -0.5], [2, -1.5], [-2.5, 3.5]],
    "V": [[2.5, -1.5], [-1, 3], [-2, -3]],
    "S": [[1.5, -2.5, 8], [-3.5, -3.5, 6], [8.5, 8, -13.25]],
    "A": [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]],
    "O": [[-2, -3], [-2, -3], [1.17, 0.21]],
}
"""The hand solution of problems.md, section 1, in its own digits."""


HOMEWORK_KEY = Key(HOMEWORK, ToTheDigit(2))


def marked(answer: Any, problem: Problem = HOMEWORK, **rules: Any) -> Marking:
    """Mark an answer; by default, the steps that it contains are asked for."""
    is_shared = problem is HOMEWORK and not Rules(**rules).in_tolerance
    key = HOMEWORK_KEY if is_shared else key_of(problem, Rules(**rules))
    held = tuple(name for name in answer if name in (*key.steps, "connections"))
    marked_by = Rules(**{"asked": held, **rules})
    return mark(key, read_answer_bytes(json.dumps(answer).encode(), "a.json"), marked_by)


def with_entry(step: str, row: int, column: int, entry: Any, **others: Any) -> dict[str, Any]:
    """Return the hand solution with another entry, places counted from 1."""
    answer = json.loads(json.dumps(HAND)) | others
    answer[step][row - 1][column - 1] = entry
    return dict(answer)


def status(marking: Marking, step: str, row: int, column: int) -> Status:
    (marks,) = (marks for marks in marking.steps if marks.step.name == step)
    return marks.status((row - 1, column - 1))


def statuses(marking: Marking, step: str) -> set[Status]:
    (marks,) = (marks for marks in marking.steps if marks.step.name == step)
    return {marks.status(place) for place in np.ndindex(marks.statuses.shape)}


def said(marking: Marking) -> list[str]:
    """Return the verdict without the lines that say what was counted."""
    openings = ("Points: ", "Not found: ", "Not counted, ")
    return [text for text in verdict(marking) if not text.startswith(openings)]


def test_the_hand_solution_is_right_with_its_rounding() -> None:
    marking = marked(HAND)
    assert marking.is_right
    assert all(statuses(marking, name) == {Status.CORRECT} for name in HAND)
    assert marking.score == (6, 6)
    assert said(marking) == ["Every entry is right: Q, K, V, S, A and O."]


def test_carrying_full_precision_is_rounding_and_is_named() -> None:
    marking = marked(HAND | {"O": [["-1.99", "-3.00"], ["-2.00", "-3.00"], ["1.18", "0.20"]]})
    assert marking.is_right
    assert statuses(marking, "O") == {Status.CORRECT, Status.ROUNDING}
    assert marking.style is not None
    assert marking.style.code == "display, half-away"
    assert said(marking)[1] == (
        "3 entries differ from the key only by rounding: full precision is carried from step to "
        "step. This counts as correct."
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rounding", "rule"), [(r, rule) for r, rule in planting.STYLES if rule != "half-away"]
)
def test_other_roundings_are_recognised_and_named(rounding: str, rule: str) -> None:
    named = set()
    for seed in range(12):
        rng = random.Random(seed)
        task = planting.random_task(rng)
        script = planting.written(task, (rounding, rule), task.steps)
        assert script is not None
        answer = {name: matrix.tolist() for name, matrix in script.items()}
        answer = json.loads(json.dumps(answer).replace("-Infinity", '"-inf"'))
        marking = marked(answer, Problem(**task.fields))
        assert all(marks.is_right for marks in marking.steps)
        named.add(marking.style.code if marking.style else None)
    assert f"{rounding}, {rule}" in named


def test_results_of_a_mistake_are_right() -> None:
    marking = mark(HOMEWORK_KEY, read_answer(sample("lost-sign").path), Rules())
    assert status(marking, "Q", 3, 2) is Status.WRONG
    assert [status(marking, "S", 3, j) for j in (1, 2, 3)] == [Status.FOLLOWS] * 3
    assert status(marking, "S", 1, 1) is Status.CORRECT
    assert statuses(marking, "O") == {Status.CORRECT, Status.FOLLOWS}
    assert marking.score.earned == 6 + Fraction(5, 6)  # and the lines of the map
    assert said(marking)[:4] == [
        "The first mistake is in Q, row 3, column 2: Q[3,2] is -2.00, not 2. "
        "Q[3,2] = (-2·1) + (2·0) + (-1·0) + (0·1) = -2.00",
        "It is the only wrong entry of Q.",
        "Possible cause: its sign is lost.",
        "S, A and O are correct given your earlier values; no points deducted.",
    ]


def test_the_key_in_spite_of_a_mistake_is_credited_and_flagged() -> None:
    marking = marked(with_entry("Q", 3, 2, 2))
    assert statuses(marking, "S") == {Status.CORRECT, Status.MATCHES_KEY}
    assert [status(marking, "S", 3, j) for j in (1, 2, 3)] == [Status.MATCHES_KEY] * 3
    assert marking.score.earned == 5 + Fraction(5, 6)
    assert (
        "S[3,1], S[3,2] and S[3,3] match the key, but do not follow from your earlier values: "
        "counted as correct, to be reviewed by a person."
    ) in said(marking)


@pytest.mark.slow
def test_too_few_decimals_differ_from_wrong() -> None:
    marking = marked(with_entry("A", 3, 1, "0.6"))
    assert status(marking, "A", 3, 1) is Status.PRECISION
    assert not marking.is_right
    assert marking.first_wrong is None
    assert marking.score.earned == 5 + Fraction(17, 18)
    assert said(marking)[1] == (
        "1 entry has the right value with fewer than the required 2 decimals, for example A[3,1]: "
        "0.6 instead of 0.62."
    )
    assert status(marked(with_entry("A", 3, 1, "0.7")), "A", 3, 1) is Status.WRONG


@pytest.mark.campaign(3)
@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("0.62", Status.CORRECT),
        ("0.6225", Status.CORRECT),  # more decimals than asked, and right
        ("0.622", Status.CORRECT),
        ("0.623", Status.ROUNDING),
        ("0.6274", Status.ROUNDING),  # within half a unit of 0.62246
        ("0.6276", Status.WRONG),
        ("62/100", Status.CORRECT),
        ("0.63", Status.WRONG),
        ("62e-2", Status.CORRECT),
        ("0.60", Status.WRONG),
    ],
)
def test_more_decimals_and_fractions_must_be_right(entry: str, expected: Status) -> None:
    assert status(marked(with_entry("A", 3, 1, entry)), "A", 3, 1) is expected


def test_trailing_zeros_may_be_left_out() -> None:
    marking = marked(with_entry("Q", 3, 1, "5/2"))
    assert status(marking, "Q", 3, 1) is Status.CORRECT
    assert status(marked(with_entry("Q", 3, 1, "2.50")), "Q", 3, 1) is Status.CORRECT


def test_blank_and_unreadable_entries_cost_only_themselves() -> None:
    answer = with_entry("Q", 1, 1, None)
    answer["Q"][1][0] = "?"
    answer["K"][0][0] = "three"
    marking = marked(answer)
    assert status(marking, "Q", 1, 1) is Status.BLANK
    assert status(marking, "Q", 2, 1) is Status.BLANK
    assert status(marking, "K", 1, 1) is Status.UNREADABLE
    assert statuses(marking, "S") == {Status.CORRECT}
    assert marking.score.earned == 4 + Fraction(4, 6) + Fraction(5, 6)
    assert said(marking) == [
        "No mistakes in what you wrote.",
        "2 entries are blank, in Q.",
        "1 entry is not readable as a number, in K.",
        'Not read: K[1,1]: "three" is not a number.',
    ]


@pytest.mark.slow
def test_results_of_a_blank_entry_follow_from_its_inputs() -> None:
    """Q[3,2] has lost its sign; S[3,1] is left blank, and A is computed with it anyway."""
    Q, K = np.array([[1, 3], [-1, 1], [2.5, 2]]), np.array(HAND["K"])
    scores = Q @ K.T
    weights = planting.cut(planting.softmax(scores), 2, "half-away")
    written: list[list[Any]] = scores.tolist()
    for column in range(3):
        blank = [*written[:2], [None if j == column else s for j, s in enumerate(written[2])]]
        marking = marked({"Q": Q.tolist(), "K": HAND["K"], "S": blank, "A": weights.tolist()})
        assert status(marking, "S", 3, column + 1) is Status.BLANK
        assert not marking.steps[3].count(Status.WRONG, Status.MATCHES_KEY)
    right = marked({"Q": HAND["Q"], "K": HAND["K"], "S": [*blank[:2], [None] * 3], "A": HAND["A"]})
    assert statuses(right, "A") == {Status.CORRECT}


def test_after_a_wrong_shape_the_key_is_used() -> None:
    marking = marked(HAND | {"Q": [[1, -1, 2.5], [3, 1, -2]]})
    assert statuses(marking, "Q") == {Status.WRONG_SHAPE}
    assert statuses(marking, "S") == {Status.CORRECT}
    assert said(marking) == [
        "Q has the wrong shape: 2 × 3 is written, where it is 3 × 2. "
        "Later steps are marked with the Q of the key.",
        "Every entry of Q matches this mistake: the rows of Q are written as columns.",
    ]
    assert marked(HAND | {"Q": [[1, 3], [-1]]}).steps[0].problem == (
        "row 1 has 2 entries, row 2 has 1"
    )


def test_a_cause_that_gives_every_entry_is_named_and_costs_only_its_step() -> None:
    marking = mark(HOMEWORK_KEY, read_answer(sample("transposed-scores").path), Rules())
    (cause,) = marking.steps[3].causes
    assert (marking.steps[3].step.name, cause.code) == ("S", "scores-transposed")
    assert [marks.credit(marking.rules) for marks in marking.steps] == [
        1, 1, 1, 0, 1, 1,
    ]  # fmt: skip
    assert said(marking)[2] == (
        "Every entry of S matches this mistake: K Qᵀ is computed, not Q Kᵀ: the scores are "
        "transposed."
    )


def test_the_same_cause_costs_once() -> None:
    X, weights = np.array([[1, 2], [3, -1]]), {}
    weights = {"W_Q": [[1, 2], [3, 4]], "W_K": [[0, 1], [2, 5]], "W_V": [[1, -1], [2, 0]]}
    problem = Problem(X=X, **weights)
    answer = {name[-1]: (X @ np.array(W).T).tolist() for name, W in weights.items()}
    marking = marked(answer, problem)
    assert [marks.cause and marks.cause.code for marks in marking.steps] == [
        "weights-transposed"
    ] * 3
    assert [marks.is_repeated for marks in marking.steps] == [False, True, True]
    first, *others = (marks.credit(marking.rules) for marks in marking.steps)
    assert first < 1
    assert others == [1, 1]
    assert (
        "Every entry of K matches this mistake: W_K is transposed. "
        "This repeats an earlier mistake; no further points deducted."
    ) in said(marking)


def test_where_several_mistakes_fit_none_is_named() -> None:
    X = np.array([[1, 2], [3, -1]])
    same = {"W_Q": [[1, 2], [3, 4]], "W_K": [[0, 1], [2, 5]], "W_V": [[0, 1], [2, 5]]}
    problem = Problem(X=X, **same)
    marking = marked({"Q": (X @ np.array(same["W_K"])).tolist()}, problem)
    assert [cause.code for cause in marking.steps[0].causes] == [
        "weights-swapped:W_K",
        "weights-swapped:W_V",
    ]
    assert marking.steps[0].cause is None
    assert said(marking)[-1] == (
        "2 mistakes explain all of Q equally well: W_K is used in place of W_Q, or W_V is used in "
        "place of W_Q."
    )


@pytest.mark.slow
def test_a_mistake_in_an_omitted_step_is_found_in_later_steps() -> None:
    problem = Problem(
        X=[[1, 0.5], [0.25, -1]],
        W_Q=[[1, 0], [0.5, 2]],
        W_K=[[1, 1], [0, 1]],
        W_V=[[1, 5], [4, 2]],
        decimals=3,
    )
    unscaled = solve(Problem(**{**fields_of(problem), "scale": "none"}))
    marking = marked({"O": unscaled.shown("O")}, problem)
    assert [cause.code for cause in marking.steps[0].causes] == ["scale-none"]
    assert said(marking)[2] == (
        "Every entry of O matches this mistake: the scores are not scaled (in S_scaled)."
    )


def fields_of(problem: Problem) -> dict[str, Any]:
    return {name: getattr(problem, name) for name in ("X", "W_Q", "W_K", "W_V", "decimals")}


def test_penalties_and_weights_are_fractions() -> None:
    answer = read_answer(sample("lost-sign").path)
    key = HOMEWORK_KEY
    rules = Rules(follow_penalty=Fraction(1, 2), weights={"Q": Fraction(3), "O": Fraction(0)})
    marking = mark(key, answer, rules)
    parts = {marks.step.name: marks.credit(rules) for marks in marking.steps}
    assert parts["Q"] == Fraction(5, 6)
    assert parts["S"] == 1 - Fraction(3, 9) / 2  # a row of three follows
    total = marking.score
    assert total.possible == 3 + 1 + 1 + 1 + 1 + 0 + 1
    expected = 3 * parts["Q"] + parts["K"] + parts["V"] + parts["S"] + parts["A"] + 1
    assert total.earned == expected
    rounded = marked(
        HAND | {"O": [["-1.99", "-3"], ["-2", "-3"], ["1.18", "0.20"]]},
        rounding_penalty=Fraction(1, 3),
    )
    assert rounded.steps[-1].credit(rounded.rules) == 1 - Fraction(3, 6) / 3


def test_steps_that_are_asked_for_and_left_out_count() -> None:
    marking = marked({"Q": HAND["Q"]}, asked=("Q", "A", "connections"))
    assert marking.score == (1, 3)
    assert statuses(marking, "A") == {Status.NOT_FOUND}
    assert verdict(marking) == (
        "No mistakes in what you wrote.",
        "Not found: A and the lines of the map.",
        "Points: Q 1, A 0 of 1, the lines of the map 0 of 1.",
    )
    assert marked({"Q": HAND["Q"], "S_scaled": [[1]]}).not_asked == ("S_scaled",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ([[0, 0, 0]] * 3, "all-zeros"),
        ([[0.5, 0.5, 0.5]] * 3, None),  # nothing of it is right
        ([[0, 0, 1], [0, 0, 1], [1, 0, 0]], "one-hot"),
        (HAND["A"], None),
    ],
)
def test_trivial_answers_that_gain_are_shown_to_a_person(
    weights: list[list[float]], code: str | None
) -> None:
    marking = marked({"A": weights})
    assert [flag.code for flag in flags(marking)] == ([code] if code else [])
    follows = marked({"A": weights, "O": (np.array(weights) @ np.array(HAND["V"])).tolist()})
    assert follows.steps[1].credit(follows.rules) == 1


def test_weights_that_sum_to_1_make_no_output_beyond_the_values() -> None:
    """Half a unit of each weight, apart, would allow O to be 50.55."""
    problem = Problem(Q=[[1]], K=[[12], [1]], V=[[50], [-60]], scale="none")
    for entry, expected in (("50.00", "correct"), ("49.80", "rounding"), ("50.40", "wrong")):
        marking = marked({"S": [[12, 1]], "A": [["1.00", "0.00"]], "O": [[entry]]}, problem)
        assert marking.steps[-1].status((0, 0)).value == expected


def test_results_of_unrounded_values_with_the_keys_digits_follow() -> None:
    """0.00 of a score that should be masked is 0.0025, and weighs a thousand."""
    problem = Problem(Q=[[1], [1]], K=[[6], [0]], V=[[0], [1000]], causal=True)
    answer = {"S_masked": [[6, 0], [6, 0]], "A": [["1.00", "0.00"]] * 2, "O": [["2.47"], ["2.47"]]}
    marking = marked(answer, problem)
    assert status(marking, "O", 1, 1) is Status.FOLLOWS
    assert status(marking, "O", 2, 1) is Status.CORRECT


def test_a_sum_of_0_to_divide_by_stops_no_marking() -> None:
    problem = Problem(
        Q=[[1], [1]],
        K=[[Fraction(4, 10)], [Fraction(-3, 10)]],
        V=[[0], [10]],
        normalizer="sum",
        decimals=0,
    )
    assert marked({"A": solve(problem).shown("A")}, problem).is_right
    problem = Problem(Q=[[1], [2]], K=[[4], [-3]], V=[[0], [10]], normalizer="sum")
    marking = marked({"S": [[3, -3], [8, -6]], "A": [[1, 0], [4, -3]]}, problem)
    assert status(marking, "S", 1, 1) is Status.WRONG
    assert status(marking, "A", 2, 1).is_right


def test_the_rounding_of_the_key_is_not_named() -> None:
    answer = with_entry("A", 3, 1, "0.6249")
    marking = marked(answer)
    assert status(marking, "A", 3, 1) is Status.ROUNDING
    assert marking.style is None
    assert said(marking)[1] == (
        "1 entry differs from the key only by rounding. This counts as correct."
    )


def test_what_follows_from_a_mistake_shows_no_rounding() -> None:
    """The weights 1 / (1 + e^10) agree by chance with cut digits of 1 / (1 + e^5) = 0.0067."""
    problem = Problem(Q=[[1], [1]], K=[[0], [5]], V=[[1], [0]], scale="none")
    weights = [["0.00", "1.00"]] * 2
    for answer in ({"S": [[0, 10]] * 2, "A": weights}, {"A": [["0.00", "0.99"]] * 2}):
        marking = marked(answer, problem)
        assert statuses(marking, "A") <= {Status.ROUNDING, Status.FOLLOWS, Status.CORRECT}
        is_cut = "digits are cut off, not rounded" in " ".join(said(marking))
        assert is_cut == ("S" not in answer)


def test_matrices_of_the_problem_are_not_strange_to_it() -> None:
    problem = Problem(Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]])
    answer = {"Q": [[1, 0]], "S": solve(problem).shown("S"), "S_capped": [[1]]}
    assert marked(answer, problem).not_asked == ("S_capped",)


def test_a_row_that_counts_the_columns_is_not_a_row_of_the_matrix() -> None:
    marking = marked({"A": [[1, 2, 3], *HAND["A"]]})
    assert statuses(marking, "A") == {Status.CORRECT}
    around = [["", 1, 2, 3], *([name, *row] for name, row in zip("213", HAND["A"], strict=True))]
    assert statuses(marked({"A": around}), "A") == {Status.CORRECT}


def test_one_entry_names_no_cause() -> None:
    marking = marked({"A": [[None] * 3, [None] * 3, [None, None, 1]]})
    assert all(cause.is_slip for cause in marking.steps[0].causes)


def lines(*pairs: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [
        {"output": number, "most": most, "second": second}
        for number, (most, second) in enumerate(pairs, start=1)
    ]


@pytest.mark.parametrize(
    ("pairs", "expected", "earned"),
    [
        ([(3, None), (3, None), (1, 2)], ["correct"] * 3, 1),
        ([(3, 1), (3, None), (1, 2)], ["wrong", "correct", "correct"], Fraction(5, 6)),
        ([(3, None), (3, None), (2, 1)], ["correct", "correct", "wrong"], Fraction(2, 3)),
        ([(3, None), (3, None)], ["correct", "correct", "blank"], Fraction(2, 3)),
    ],
)
def test_the_lines_of_the_map_are_marked(
    pairs: Sequence[tuple[Any, Any]], expected: list[str], earned: Fraction
) -> None:
    marking = marked({"connections": lines(*pairs)})
    assert [line.status.value for line in marking.lines] == expected
    assert marking.score == (earned, 1)


def test_lines_of_an_unknown_output_are_reported() -> None:
    pairs = [(3, None), (3, None), (1, 2), (1, None)]
    marking = marked({"connections": lines(*pairs)})
    assert said(marking)[0] == "The map has no output 4."
    assert marking.score == (1, 1)


def test_lines_follow_from_the_weights_that_are_written() -> None:
    weights = [[0, 0, 1], [0, 0, 1], [0.38, 0.62, 0]]
    marking = marked({"A": weights, "connections": lines((3, None), (3, None), (2, 1))})
    assert [line.status for line in marking.lines] == [
        Status.CORRECT,
        Status.CORRECT,
        Status.FOLLOWS,
    ]
    assert marking.score.earned == Fraction(7, 9) + 1


EARLY = {
    "before scaling": """S = Q K^T, masked:
0 -inf -inf
-2 0 -inf
-1 2 0
S / sqrt(2)
0 -inf -inf
-1.41 0 -inf
-0.71 1.41 0""",
    "up to the diagonal": """scores
the 0
cat -2 0
sat -1 2 0
scaled scores
the 0
cat -1.41 0
sat -0.71 1.41 0
weights
the: 1
cat: 0.20, 0.80
sat: 0.09, 0.73, 0.18""",
    "in words": "scaled\tthe\tcat\tsat\nthe\t0\tmask\tmask\n"
    "cat\t-1.41\t0\tmask\nsat\t-0.71\t1.41\t0",
}


@pytest.mark.parametrize("way", EARLY)
def test_scores_may_be_masked_early_or_end_at_the_mask(way: str) -> None:
    tokens, labels = [[0, 1], [-2, 4], [-1, 3]], ["the", "cat", "sat"]
    names = {"X1": labels, "X2": labels}
    problem = Problem(
        Q=tokens, K=[[1, 0], [4, 2], [3, 1]], V=[[1], [2], [3]], causal=True, labels=names
    )
    key = key_of(problem, Rules())
    with key.names_at_hand():
        answer = read_answer_bytes(EARLY[way].encode(), "a.txt", key.expected)
    marking = mark(key, answer, Rules())
    wrong = Status.WRONG, Status.BLANK, Status.UNREADABLE, Status.WRONG_SHAPE
    assert answer.matrices
    assert not any(each.count(*wrong) for each in marking.steps)
    assert not marking.is_provisional


@pytest.mark.slow
def test_masked_scores_may_be_written_as_programs_do() -> None:
    problem = read_problem(sample("causal").path)
    solution = solve(problem)
    shown = solution.shown("S_masked")
    assert "-inf" in shown[0]
    for text in ("-inf", "-∞", "-1e9", "-10000"):
        answer = {"S_masked": [[text if e == "-inf" else e for e in row] for row in shown]}
        marking = marked(answer | {"A": solution.shown("A")}, problem)
        assert marking.is_right
    answer = {"S_masked": [[e.replace("-inf", "0") for e in row] for row in shown]}
    assert marked(answer, problem).first_wrong is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heads", "grouped", "columns", "rope", "positions", "torch"])
def test_keys_of_every_kind_are_right_and_an_entry_changed_is_found(name: str) -> None:
    problem = read_problem(sample(name).path)
    solution = solve(problem)
    answer = {step.name: solution.shown(step.name) for step in solution.plan}
    key = key_of(problem, Rules())

    def markings(content: Any) -> Marking:
        return mark(key, read_answer_bytes(json.dumps(content).encode(), "a.json"), Rules())

    assert markings(answer).is_right
    for step in solution.plan:
        changed = json.loads(json.dumps(answer))
        rows = changed[step.name] if solution[step.name].ndim == 2 else changed[step.name][-1]
        rows[0][-1] = str(float(rows[0][-1]) + 3)
        wrong = markings(changed).first_wrong
        assert wrong is not None
        assert wrong.marks.step.name == step.name
        assert wrong.place is not None
        (entry,) = wrong.marks.places(Status.WRONG)
        named = key.work.entry(step.name, entry)
        assert named.place[-2:] == (1, len(rows[0]))


@pytest.mark.slow
def test_the_sample_answers_match_their_names() -> None:
    key = HOMEWORK_KEY
    firsts = {}
    for each in ANSWERS:
        if each.path.is_dir():
            continue
        wrong = mark(key, read_answer(each.path), Rules()).first_wrong
        firsts[each.name] = wrong and (wrong.marks.step.name, wrong.place)
    assert firsts == {
        "hand": None,
        "full-precision": None,
        "lost-sign": ("Q", (2, 1)),
        "swapped-digits": ("S", (2, 2)),
        "dropped-term": ("S", (0, 2)),
        "transposed-scores": ("S", (0, 1)),
        "worksheet": ("A", (0, 2)),
        "unfinished": None,
    }


# ---------------------------------------------------------------- numbers of a program


@cache
def layer() -> tuple[Problem, dict[str, np.ndarray]]:
    """Return a layer of five heads, and what a program computed of it."""
    rng = np.random.default_rng(3)
    n, d, heads = 6, 10, 5
    X, *weights = (rng.normal(size=size) for size in [(n, d), (d, d), (d, d), (d, d)])
    problem = Problem(X=X, **dict(zip(("W_Q", "W_K", "W_V"), weights, strict=True)), heads=heads)
    Q, K, V = (np.stack(np.split(X @ W, heads, axis=1)) for W in weights)
    S = Q @ K.swapaxes(1, 2)
    A = planting.softmax(S / 2**0.5)
    H = A @ V
    return problem, {"Q": Q, "K": K, "V": V, "S": S, "S_scaled": S / 2**0.5, "A": A, "H": H}


def of_program(problem: Problem, arrays: dict[str, np.ndarray], **rules: Any) -> Marking:
    from attncalc.reading.answers.answer import Answer, matrix_of_floats

    key = Key(problem, Within(rules.get("atol", 0.0), rules.get("rtol", 0.0)))
    matrices = {name: matrix_of_floats(array) for name, array in arrays.items()}
    return mark(key, Answer("dump.npz", matrices), Rules(**rules))


@pytest.mark.slow
def test_a_programs_numbers_are_compared_within_a_tolerance() -> None:
    problem, arrays = layer()
    assert of_program(problem, arrays, atol=1e-12).is_right
    off = {name: array + 1e-7 for name, array in arrays.items()}
    assert of_program(problem, off, atol=1e-6).is_right
    assert of_program(problem, {k: a * (1 + 1e-7) for k, a in arrays.items()}, rtol=1e-6).is_right
    assert not of_program(problem, off, atol=1e-8).is_right


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "change", "code"),
    [
        ("S_scaled", lambda a: a * 2**0.5 * 1.7, "scaled-by:2.40416"),
        ("S_scaled", lambda a: a * 2**0.5, "scale-none"),
        ("H", lambda a: a[[0, 2, 1, 3, 4]], "heads-order:1,3,2,4,5"),
        ("S", lambda a: a.swapaxes(1, 2), "scores-transposed"),
        ("V", lambda a: a.swapaxes(1, 2), "transposed"),
    ],
)
def test_a_scale_a_transpose_or_the_order_of_heads_explains_a_difference(
    step: str, change: Any, code: str
) -> None:
    problem, arrays = layer()
    marking = of_program(problem, arrays | {step: change(arrays[step])}, atol=1e-9)
    wrong = marking.first_wrong
    assert wrong is not None
    assert wrong.marks.step.name == step
    assert [cause.code for cause in wrong.marks.causes] == [code]


def test_the_worst_entry_and_the_largest_errors_are_reported() -> None:
    problem, arrays = layer()
    changed = arrays["A"].copy()
    changed[3, 4, 2] += 0.25
    marking = of_program(problem, arrays | {"A": changed}, atol=1e-6)
    relative = 0.25 / arrays["A"][3, 4, 2]
    assert said(marking)[1] == (
        "1 of 180 entries of A is outside the tolerance; the worst is A[4,5,3]. "
        f"The largest error is 0.25, the largest relative error {relative:.3g}."
    )


@pytest.mark.slow
def test_nan_in_a_program_is_wrong() -> None:
    problem, arrays = layer()
    broken = arrays["A"].copy()
    broken[0, 0, 0] = np.nan
    marking = of_program(problem, arrays | {"A": broken}, atol=1e-6)
    wrong = marking.first_wrong
    assert wrong is not None
    assert (wrong.marks.step.name, wrong.place) == ("A", (0, 0, 0))


def test_steps_that_are_rounded_are_right_within_a_tolerance() -> None:
    arrays = {step.name: solve(HOMEWORK)[step.name] for step in solve(HOMEWORK).plan}
    assert HOMEWORK.rounding == "each-step"
    assert of_program(HOMEWORK, arrays, atol=1e-9).is_right


# ---------------------------------------------------------------- what no test saw before


@pytest.mark.parametrize(
    ("Q", "K", "scaled", "expected"),
    [
        ("0.5", 0.5, "25", Status.FOLLOWS),  # of a score of 0.25, carried in full
        ("0.5", 0.5, "30", Status.FOLLOWS),  # of 0.3, rounded half away from zero
        ("0.5", 0.5, "20", Status.FOLLOWS),  # of 0.2, rounded half to even
        ("0.5", 0.5, "10", Status.WRONG),
        ("0.7", 0.4, "30", Status.FOLLOWS),  # of a score of 0.28, rounded
        ("0.7", 0.4, "20", Status.FOLLOWS),  # cut off
        ("0.7", 0.4, "40", Status.WRONG),
    ],
)
def test_an_omitted_step_may_have_any_rounding(
    Q: str, K: float, scaled: str, expected: Status
) -> None:
    """The scores between an own, wrong Q and what is 100 times their size are not written."""
    problem = Problem(
        X=[[1]], W_Q=[[1.5]], W_K=[[K]], W_V=[[1]], decimals=1, scale="100", rounding="each-step"
    )
    answer = {"Q": [[Q]], "K": [[K]], "S_scaled": [[scaled]]}
    marking = marked(answer, problem)
    assert status(marking, "Q", 1, 1) is Status.WRONG
    assert status(marking, "S_scaled", 1, 1) is expected


@pytest.mark.slow
def test_a_repeated_mistake_costs_only_the_follow_penalty() -> None:
    X = np.array([[1, 2], [3, -1]])
    weights = {"W_Q": [[1, 2], [3, 4]], "W_K": [[0, 1], [2, 5]], "W_V": [[1, -1], [2, 0]]}
    answer = {name[-1]: (X @ np.array(W).T).tolist() for name, W in weights.items()}
    problem = Problem(X=X, **weights)
    for penalty in (Fraction(0), Fraction(1, 4), Fraction(1)):
        marking = marked(answer, problem, follow_penalty=penalty)
        for marks in marking.steps[1:]:
            wrong = Fraction(marks.count(Status.WRONG), 4)
            assert marks.is_repeated
            assert wrong > 0
            assert marks.credit(marking.rules) == 1 - wrong * penalty


def test_lines_of_the_map_have_the_weight_of_the_rules() -> None:
    answer = {"Q": HAND["Q"], "connections": lines((3, 1), (3, None), (1, 2))}
    for weight in (Fraction(0), Fraction(1, 2), Fraction(4)):
        marking = marked(answer, weights={"connections": weight})
        assert marking.score == (1 + weight * Fraction(5, 6), 1 + weight)


def test_single_ones_where_the_key_has_them_too_are_nothing_to_look_at() -> None:
    """Hardmax leads to a single 1 in each row: an answer that has one elsewhere is just wrong."""
    problem = Problem(Q=[[1], [-1]], K=[[3], [1]], V=[[1], [2]], normalizer="hardmax")
    assert solve(problem).shown("A") == [["1.00", "0.00"], ["0.00", "1.00"]]
    marking = marked({"A": [[1, 0], [1, 0]]}, problem)
    assert marking.steps[0].credit(marking.rules) == Fraction(1, 2)
    assert flags(marking) == ()


def test_a_written_matrix_keeps_its_entries_when_rearranged() -> None:
    """A field that is added later is not dropped in silence, nor is the kind of matrix."""
    from attncalc.reading.answers.answer import WrittenMatrix

    @dataclass(frozen=True, eq=False)
    class Photographed(WrittenMatrix):
        page: int = 0

    values = np.arange(6.0).reshape(1, 2, 3)
    written = Photographed(values, np.zeros((1, 2, 3), dtype=int), place="p", page=7)
    for made in (written.arranged(lambda matrix: matrix[0]), written.with_heads(2)):
        assert isinstance(made, Photographed)
        assert (made.page, made.place) == (7, "p")


def test_a_corrected_script_keeps_everything_else() -> None:
    @dataclass(frozen=True, eq=False)
    class Dated(Known):
        day: str = ""

    known = Dated(HOMEWORK_KEY, HOMEWORK_KEY.slack, day="monday", doubtful={"Q"})
    known.keep("Q", np.zeros((3, 2)), Range.around(np.zeros((3, 2)), 0.005))
    mended = known.mended({"Q": np.eye(3, 2, dtype=bool)})
    assert isinstance(mended, Dated)
    assert (mended.day, mended.doubtful) == ("monday", {"Q"})
    assert mended.points["Q"].tolist() == [[1, 0], [0, 1], [0, 0]]


def test_a_script_that_shows_how_it_rounds_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way to read a script is a walk over its steps, and most need a single one."""
    walks = []
    marks = DigitsWalk.marks

    def counted(walk: DigitsWalk) -> Any:
        walks.append(walk.slack)
        return marks(walk)

    monkeypatch.setattr(DigitsWalk, "marks", counted)
    problem = Problem(**THIRDS)
    for rule, cuts in (("half-away", False), ("truncate", True)):
        solution = solve(Problem(**THIRDS, decimals=9))
        digits = {
            step.name: planting.cut(solution[step.name], 2, rule).tolist() for step in solution.plan
        }
        digits["O"][0][0] += 5  # which nothing explains
        walks.clear()
        assert marked(digits, problem).first_wrong is not None
        assert walks == [ToTheDigit(2, cuts=cuts)]


def test_an_answer_with_ambiguous_digits_is_read_with_both_roundings() -> None:
    """All before is whole; from an own Q of 8 come scores of 24, and 24 / 9 is cut to 2.66."""
    problem = Problem(X=[[1]], W_Q=[[7]], W_K=[[3]], W_V=[[1]], scale="1/9")
    answer = {"Q": [["8"]], "K": [["3"]], "S": [["24"]], "S_scaled": [["2.66"]]}
    marking = marked(answer, problem)
    assert status(marking, "Q", 1, 1) is Status.WRONG
    assert status(marking, "S_scaled", 1, 1) is Status.FOLLOWS


def test_results_of_too_few_decimals_have_their_range() -> None:
    """0.6 of 0.62 may have been anything up to 0.65: times 10, that is 6.40, too."""
    problem = Problem(X=[[1]], W_Q=[[0.62]], W_K=[[10]], W_V=[[1]], scale="none")
    marking = marked({"Q": [["0.6"]], "S": [["6.40"]]}, problem)
    assert statuses(marking, "Q") == {Status.PRECISION}
    assert statuses(marking, "S") <= {Status.ROUNDING, Status.FOLLOWS}


THIRDS: dict[str, Any] = {
    "X": [[Fraction(1, 3), Fraction(2, 3)], [Fraction(5, 7), Fraction(-1, 7)]],
    "W_Q": [[Fraction(1, 7), 2], [1, Fraction(1, 9)]],
    "W_K": [[Fraction(2, 3), 1], [Fraction(1, 9), Fraction(5, 7)]],
    "W_V": [[1, Fraction(1, 3)], [Fraction(4, 7), 2]],
}


@pytest.mark.slow
def test_causes_of_a_wrong_dump_are_found_only_when_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each name is made of the labels of all rows: naming every entry is cubic."""
    problem, arrays = layer()
    named = []
    plain = Work.entry

    def counted(self: Work, name: str, place: Any) -> Any:
        named.append(place)
        return plain(self, name, place)

    monkeypatch.setattr(Work, "entry", counted)
    noise = np.random.default_rng(0).normal(size=arrays["S"].shape)
    for wrong in ("S", "Q", "A"):
        off = arrays | {wrong: arrays[wrong] + noise[..., : arrays[wrong].shape[-1]]}
        marking = of_program(problem, off, atol=1e-6)
        assert sum(marks.count(Status.CORRECT) < marks.statuses.size for marks in marking.steps)
        assert named == []
        said(marking)
        as_values(marking)
        assert 0 < len(named) < 60
        named.clear()


def test_too_few_decimals_all_over_are_counted_and_one_is_named() -> None:
    answer = {"A": [["0.0", "0.0", "1.0"], ["0.0", "0.0", "1.0"], ["0.6", "0.4", "0.0"]]}
    assert said(marked(answer))[1] == (
        "2 entries have the right value with fewer than the required 2 decimals, for example "
        "A[3,1]: 0.6 instead of 0.62."
    )


@pytest.mark.slow
def test_within_a_tolerance_no_range_of_weights_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The numbers of a program are points; a range costs n · m · d_v, and n · m for each other."""
    problem, arrays = layer()

    def refuse(*_: Any) -> Any:
        raise AssertionError("a range was worked out")

    for operation in (Operation, Softmax, Weigh):
        monkeypatch.setattr(operation, "reach", refuse)
    off = {name: array + 0.01 * index for index, (name, array) in enumerate(arrays.items())}
    assert not of_program(problem, off, atol=1e-6).is_right


def test_the_others_of_a_row_are_summed_in_the_room_of_the_row() -> None:
    """A row of 200,000 would need 320 GB for a matrix of its size squared."""
    row = np.arange(200_000.0)[np.newaxis]
    assert (_others(row) == row.sum() - row).all()
    assert _others(np.array([[1.0, np.inf, 2.0]])).tolist() == [[np.inf, 3.0, np.inf]]
    assert _others(np.array([[7.0]])).tolist() == [[0.0]]


# ---------------------------------------------------------------- how often it is right


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = ROOT / "benchmarks" / "marking.py"
    spec = importlib.util.spec_from_file_location("marking_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "problems"),
    [(102, 1), *(pytest.param(s, 10, marks=SLOW) for s in (101, 102, 103)[: 3 if IN_FULL else 1])],
)
def test_planted_mistakes_are_found_and_no_wrong_cause_is_named(
    benchmark: ModuleType, seed: int, problems: int
) -> None:
    """A part of what benchmarks/marking.py counts; the shares have room for small numbers."""
    table = benchmark.Table(random.Random(seed)).fill(problems)
    assert table.counts["causes named"].keys() == {"right"}
    for style in planting.STYLES:
        assert table.share(f"correct, {', '.join(style)}", "right") == 1
    for kind in ("wrong recipe", "slip"):
        assert table.share(f"{kind}: first wrong step", "right") >= 0.98
        assert table.share(f"{kind}: cause", "named", "listed") >= 0.97
