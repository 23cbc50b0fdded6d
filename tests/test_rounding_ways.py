"""Accepted ways to round within a step: right, reported by name, and no excuse for slips."""

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import planting
import pytest
from conftest import mostly_slow
from test_recipes import flawless, key_to, marked, task_of

from attncalc import Problem, check
from attncalc.grading.digits import WRONG
from attncalc.grading.key import Key
from attncalc.grading.marking import mark
from attncalc.grading.rules import Rules, Status
from attncalc.grading.slack import ToTheDigit
from attncalc.grading.walk import ADJUSTED
from attncalc.reading.answers import read_answer_bytes
from attncalc.writing.reports.marking import as_values
from attncalc.writing.verdict import verdict

STYLE = ("each-step", "half-away")
NEAR = 0.025
WAYS = sorted({kind for seed in range(60) for kind in planting.ways_of(task_of(seed)[0])})
NAMED = ("powers rounded", "powers rounded, largest off", "factor to 2 decimals")
NAMED += ("root to 2 decimals", "weights adjusted")
"""Ways that no plainer one explains in every script."""


@pytest.mark.slow
def test_every_accepted_rounding_has_a_planter() -> None:
    """A way that is added without a planter is noticed here."""
    assert set(WAYS) == set(planting.KIND_OF_WAY)
    accepted = {
        way.code.split(":")[0]
        for seed in range(60)
        for ways in key_to(seed).roundings.values()
        for way in ways
    }
    assert accepted | {ADJUSTED} == set(planting.KIND_OF_WAY.values())


@pytest.mark.slow
@pytest.mark.campaign(3)
@pytest.mark.parametrize("kind", mostly_slow(WAYS, 8))
def test_answers_rounded_within_steps_are_right_and_reported(kind: str) -> None:
    """Done in plain numpy: weights stay near the truth, and some digit is another one."""
    ways, tried = [], 0
    for seed in range(400):
        task, right = task_of(seed)[0], flawless(seed)
        way = planting.ways_of(task).get(kind)
        if way is None or right is None or tried >= 12:
            continue
        script = planting.written(task, STYLE, task.steps, **way)
        if script is None or not np.abs(script["A"] - right["A"]).max() <= NEAR:
            continue
        if all((script[name] == right[name]).all() for name in right):
            continue
        tried += 1
        marking = marked(key_to(seed), script)
        assert marking.first_wrong is None, (seed, verdict(marking))
        ways += [each.way.code.split(":")[0] for each in marking.steps if each.way]
    assert tried >= 6
    if kind in NAMED:
        assert planting.KIND_OF_WAY[kind] in ways


def weights(powers: list[list[float]]) -> np.ndarray:
    matrix = np.array(powers)
    return matrix / matrix.sum(axis=1, keepdims=True)


def test_powers_rounded_after_subtracting_the_largest_score_are_named() -> None:
    """exp(-2.88) is 0.06: of 1.06 that is 0.06, where the true weight is 0.05."""
    problem = Problem(X=[[0], [1.2], [2.4]], W_Q=[[1]], W_K=[[1]], W_V=[[1]], scale="none")
    scores = np.outer([0, 1.2, 2.4], [0, 1.2, 2.4])
    powers = np.round(np.exp(np.round(scores - scores.max(axis=1, keepdims=True), 2)), 2)
    marking = marked(Key(problem, ToTheDigit(2)), {"A": weights(powers.tolist())})
    (marks,) = marking.steps
    assert marking.is_right
    assert marks.way is not None
    assert marks.way.code == "exp-rounded:2-shifted"
    assert as_values(marking)["steps"][0]["way"] == "exp-rounded:2-shifted"
    assert any(
        "in A the powers of e are rounded to 2 decimals" in each for each in verdict(marking)
    )


@pytest.mark.slow
def test_a_slip_beside_powers_that_are_rounded_is_the_only_wrong_entry() -> None:
    for seed in range(200):
        task = planting.random_task(random.Random(seed))
        way = planting.ways_of(task)["powers rounded, largest off"]
        script, right = (planting.written(task, STYLE, ["A"], **how) for how in (way, {}))
        if script is None or right is None or script["A"].size < 6:
            continue
        differ = np.argwhere(script["A"] != right["A"])
        if len(differ) < 3 or np.abs(script["A"] - right["A"]).max() > NEAR:
            continue
        script["A"][tuple(differ[0])] += 0.3
        marking = marked(Key(Problem(**task.fields), ToTheDigit(task.decimals)), script)
        assert marking.steps[0].count(Status.WRONG) == 1
        return
    raise AssertionError("no script was tried")


@pytest.mark.slow
def test_weights_that_are_far_from_the_truth_are_not_called_rounding() -> None:
    """Of exp(-4) and exp(-5), to two decimals, 0.67 : 0.33 is left where 0.73 : 0.27 is right."""
    problem = Problem(X=[[1], [1.25]], W_Q=[[-4]], W_K=[[1]], W_V=[[1]], scale="none")
    marking = marked(Key(problem, ToTheDigit(2)), {"A": weights([[0.02, 0.01], [0.01, 0.01]])})
    assert marking.first_wrong is not None


@pytest.mark.slow
@pytest.mark.campaign(2)
@pytest.mark.parametrize("digits", [3, 4])
@pytest.mark.parametrize("carried", [True, False])
def test_scripts_of_few_significant_digits_are_right_in_full(*, digits: int, carried: bool) -> None:
    """As `13.3` for 13.25, or `23.050` for 23.049: cut to so many digits, carried on or not."""
    told = 0
    for seed in range(40):
        task = task_of(seed)[0]
        script = planting.in_digits(task, digits, carried=carried)
        if script is None or any(np.isnan(matrix).any() for matrix in script.values()):
            continue
        forms = (f".{digits}g", *([f".{task.decimals}f"] if digits == 4 else []))
        answers = ({n: _texts(m, form) for n, m in script.items()} for form in forms)
        for answer in answers:
            data = json.dumps(answer).encode()
            marking = mark(key_to(seed), read_answer_bytes(data, "a.json"), Rules())
            assert marking.score.earned == len(task.steps), (seed, verdict(marking))
            told += marking.style is not None and marking.style.digits > 0
    assert told > 3


def _texts(matrix: np.ndarray, form: str) -> Any:
    if matrix.ndim > 1:
        return [_texts(row, form) for row in matrix]
    return [f"{value:{form}}" for value in matrix]


def test_in_few_significant_digits_a_slip_is_still_one() -> None:
    answer = {"Q": [["13.3", "1.25"], ["2.50", "123"]]}
    problem = Problem(X=[[13.25, 1.25], [2.5, 123.45]], W_Q=np.eye(2), W_K=np.eye(2), W_V=np.eye(2))
    marking = check(problem, answer, asked="Q")
    assert marking.score == (1, 1)
    assert marking.style is not None
    assert marking.style.code == "3 digits"
    assert "numbers are kept to 3 significant digits" in " ".join(marking.verdict)
    answer["Q"][0][0] = "13.5"
    marking = check(problem, answer, asked="Q")
    assert marking.score.earned == Fraction(3, 4)


@pytest.mark.slow
def test_values_that_follow_from_a_mistake_do_not_show_a_rounding(tmp_path: Path) -> None:
    """W_K is used for W_Q: some weights agree with truncated ones of the key by chance."""
    problem = {
        "scale": "sqrt_dk",
        "rounding": "display",
        "decimals": 2,
        "X": [[2, 1, 0, 0], [1, 0, 0, -2], [0, -2, 1, -1]],
        "W_Q": [[-1, 1], [-1, 0], [0, 1], [-1, 0]],
        "W_K": [[0, 1], [2, 0], [0, 1], [-2, 0]],
        "W_V": [[-1, 0], [0, 1], [-1, -1], [0, -1]],
    }
    answer = """Q = [2.00 2.00; 4.00 1.00; -2.00 1.00]
K = [2.00 2.00; 4.00 1.00; -2.00 1.00]
V = [-2.00 1.00; -1.00 2.00; -1.00 -2.00]
S = [8.00 10.00 -2.00; 10.00 17.00 -7.00; -2.00 -7.00 5.00]
S_scaled = [5.66 7.07 -1.41; 7.07 12.02 -4.95; -1.41 -4.95 3.54]
A = [0.20 0.80 0.00; 0.01 0.99 0.00; 0.01 0.00 0.99]
O = [-1.20 1.80; -1.01 1.99; -1.01 -1.98]"""
    (tmp_path / "key.json").write_text(json.dumps(problem))
    (tmp_path / "answer.txt").write_text(answer)
    marking = check(tmp_path / "key.json", tmp_path / "answer.txt")
    assert [marks.step.name for marks in marking.steps if marks.count(*WRONG)] == ["Q"]
