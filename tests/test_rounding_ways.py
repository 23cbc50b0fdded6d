"""Ways to round within a step that teachers accept: right, told by name, and no cover for slips."""

import random

import numpy as np
import planting
import pytest
from conftest import mostly_slow
from test_recipes import flawless, key_to, marked, task_of

from attncalc import Problem
from attncalc.grading.accepted import ADJUSTED
from attncalc.grading.key import Key
from attncalc.grading.rules import Status
from attncalc.grading.slack import ToTheDigit
from attncalc.writing.reports.json_text import as_values
from attncalc.writing.verdict import verdict

STYLE = ("each-step", "half-away")
NEAR = 0.025
WAYS = sorted({kind for seed in range(60) for kind in planting.ways_of(task_of(seed)[0])})
NAMED = ("powers rounded", "powers rounded, largest off", "factor to 2 decimals")
NAMED += ("root to 2 decimals", "weights adjusted")
"""Ways that no plainer one explains in every script."""


def test_every_accepted_way_to_round_has_a_planter() -> None:
    """A way that is added without a planter is noticed here."""
    assert set(WAYS) == set(planting.KIND_OF_WAY)
    accepted = {
        way.code.split(":")[0]
        for seed in range(60)
        for ways in key_to(seed).roundings.values()
        for way in ways
    }
    assert accepted | {ADJUSTED} == set(planting.KIND_OF_WAY.values())


@pytest.mark.campaign(3)
@pytest.mark.parametrize("kind", mostly_slow(WAYS, 8))
def test_scripts_that_round_on_the_way_are_right_and_told_so(kind: str) -> None:
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


def test_powers_rounded_after_the_largest_score_is_taken_off_are_named() -> None:
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


def test_weights_that_are_far_from_the_truth_are_not_called_rounding() -> None:
    """Of exp(-4) and exp(-5), to two decimals, 0.67 : 0.33 is left where 0.73 : 0.27 is right."""
    problem = Problem(X=[[1], [1.25]], W_Q=[[-4]], W_K=[[1]], W_V=[[1]], scale="none")
    marking = marked(Key(problem, ToTheDigit(2)), {"A": weights([[0.02, 0.01], [0.01, 0.01]])})
    assert marking.first_wrong is not None
