"""Every wrong recipe is recognized: each is done once in plain numpy, and must be named."""

import contextlib
import json
import random
import re
from functools import cache
from pkgutil import get_data
from typing import Any

import numpy as np
import plans
import planting
import pytest
from conftest import mostly_slow

from attncalc import Problem
from attncalc.base.errors import AttncalcError, InputError
from attncalc.base.types import Range
from attncalc.equations.library import stated
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.recipes import rewrites
from attncalc.grading.recipes.common import Recipe
from attncalc.grading.rules import OF_COPYING, Rules, Status
from attncalc.grading.slack import ToTheDigit, Within
from attncalc.reading.answers import read_answer_bytes

Script = dict[str, np.ndarray]


def marked(key: Key, script: Script) -> Marking:
    answer = {name: texts(matrix, key.problem.decimals) for name, matrix in script.items()}
    data = json.dumps(answer).encode()
    return mark(key, read_answer_bytes(data, "answer.json"), Rules(asked=tuple(script)))


def texts(matrix: np.ndarray, decimals: int) -> Any:
    if matrix.ndim > 1:
        return [texts(row, decimals) for row in matrix]
    return [f"{value:.{decimals}f}" for value in planting.cut(matrix, decimals, "half-away")]


def causes(marking: Marking, step: str) -> list[str]:
    (marks,) = (marks for marks in marking.steps if marks.step.name == step)
    return [cause.code for cause in marks.causes]


@cache
def task_of(seed: int) -> tuple[planting.Task, list[tuple[str, str, planting.Recipe]]]:
    """Return a random task, and what can go wrong in it; all tests share them."""
    task = planting.random_task(random.Random(seed))
    return task, planting.recipes_of(task)


@cache
def flawless(seed: int) -> Script | None:
    task, _ = task_of(seed)
    return planting.written(task, ("each-step", "half-away"), task.steps)


@cache
def key_to(seed: int) -> Key:
    task, _ = task_of(seed)
    return Key(Problem(**task.fields), ToTheDigit(task.decimals))


def kind(code: str) -> str:
    """Return what a code is without numbers: entries, values, the order of heads."""
    return re.sub(r"(-\w+\[[\d,]+\])?(:.*)?$", "", code)


PLANTED = sorted({kind(code) for seed in range(40) for _, code, _ in task_of(seed)[1]})
"""Each recipe that the planter knows; below, those that it does not."""


@pytest.mark.campaign(3)
@pytest.mark.parametrize("code", mostly_slow(PLANTED, 6))
def test_a_planted_recipe_is_named_or_among_those_listed(code: str) -> None:
    found: list[tuple[str, list[str]]] = []
    seen = 2 if code == "entries-swapped" else 3
    for seed in range(2000):
        task, recipes = task_of(seed)
        for step, name, make in recipes:
            if kind(name) != code or len(found) >= 6:
                continue
            right, style = flawless(seed), ("each-step", "half-away")
            wrong = planting.written(task, style, task.steps, recipe=(step, make))
            if wrong is None or right is None or np.isnan(wrong[step]).any():
                continue
            if wrong[step].shape != right[step].shape or (wrong[step] != right[step]).sum() < seen:
                continue
            try:
                marking = marked(key_to(seed), wrong)
            except AttncalcError:
                continue
            found.append((name, causes(marking, step)))
        if len(found) >= 6:
            break
    assert found
    assert all(name in listed for name, listed in found), found
    assert any(listed == [name] for name, listed in found)  # named alone, at least once


X, W_Q, W_K, W_V = plans.HAND
GIVEN = plans.HAND.fields
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
PLANS = plans.plans()


@pytest.mark.campaign(4)
@pytest.mark.parametrize("plan", mostly_slow(PLANS, 6), ids=lambda plan: f"{plan.code}-{plan.step}")
def test_a_plan_that_random_tasks_have_no_room_for_is_named(plan: plans.Plan) -> None:
    marking = marked(Key(Problem(**plan.fields), ToTheDigit(2)), {plan.step: plan.wrong})
    assert causes(marking, plan.step) == [plan.code]


EQUATIONS = (get_data("attncalc.grading.recipes", "mistakes.eq") or b"").decode()
OPERATIONS = {line for line in EQUATIONS.splitlines() if line and line[0] not in " #"}


def test_every_mistake_belongs_to_an_operation_and_changes_its_equation() -> None:
    names = {name for line in OPERATIONS for name in line.split(", ")}
    assert names <= stated().keys()
    mistakes = [line for line in EQUATIONS.splitlines() if line.startswith("    ")]
    assert all(re.fullmatch(r"    [\w:-]+: \S.*  # \S.*", line) for line in mistakes)


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: f"{plan.code}-{plan.step}")
def test_each_single_change_of_a_step_gives_a_matrix_or_does_not_fit(plan: plans.Plan) -> None:
    key = Key(Problem(**plan.fields), ToTheDigit(2))
    for step in key.steps.values():
        for recipe in rewrites(step):
            with contextlib.suppress(ValueError, InputError), np.errstate(all="ignore"):
                made = recipe.make(key.range_of)
                assert made is None or made.low.ndim in (2, 3)


@pytest.mark.parametrize("seed", mostly_slow(range(12), 3))
def test_a_recipe_gives_a_matrix_or_does_not_fit_the_shapes(seed: int) -> None:
    key = key_to(seed)
    for name, found in key.recipes.items():
        for recipe in (*found, *rewrites(key.steps[name])):
            with contextlib.suppress(ValueError, InputError), np.errstate(all="ignore"):
                made = recipe.make(key.range_of)
                assert made is None or made.low.ndim in (2, 3)


def test_a_mistake_whose_result_is_no_numbers_is_not_tried() -> None:
    """The exchange of scores and of the entries to keep may give where scores are masked."""
    key = Key(Problem(**GIVEN), ToTheDigit(2))
    where = Recipe("where", "", "S", lambda read: Range.at(np.ones((3, 3), bool)))
    with pytest.raises(ValueError, match="where gives no numbers"):
        Known(key, ToTheDigit(2)).result(key.steps["S"], None, where)


@pytest.mark.slow
def test_a_single_change_of_a_built_in_equation_is_named() -> None:
    key = Key(Problem(**GIVEN, softcap=2), ToTheDigit(4))
    wrong = np.tanh(plans.HAND.scaled / 2)
    assert causes(marked(key, {"S_capped": wrong}), "S_capped") == ["equation-no-factor:cap"]
    rms = Key(Problem(**GIVEN, qk_norm="rms"), ToTheDigit(4))
    unsquared = plans.HAND.Q.mean(axis=1, keepdims=True)
    assert causes(marked(rms, {"ms_Q": unsquared}), "ms_Q") == ["equation-no-power:2"]


@pytest.mark.slow
def test_a_single_wrong_entry_is_a_slip_and_no_change_of_the_equation() -> None:
    key = Key(Problem(**GIVEN, softcap=2), ToTheDigit(4))
    wrong = 2 * np.tanh(plans.HAND.scaled / 2)
    wrong[1, 2] /= 2
    found = causes(marked(key, {"S_capped": wrong}), "S_capped")
    assert not any(code.startswith("equation-") for code in found)


@pytest.mark.slow
def test_rope_forgotten_in_the_scores_is_named() -> None:
    key, wide = Key(Problem(**plans.rope(plans.HAND)), ToTheDigit(2)), plans.wide(plans.HAND)
    marking = marked(key, {"S": wide @ (wide @ np.eye(4)[::-1]).T})
    assert "rope-forgotten" in causes(marking, "S")


@pytest.mark.slow
def test_every_recipe_has_a_planter() -> None:
    """A recipe that is added without a planter is noticed here."""
    planted = {kind(code) for code in (*PLANTED, *(plan.code for plan in PLANS))}
    problems = [Problem(**plan.fields) for plan in PLANS]
    problems += [Problem(**planting.random_task(random.Random(seed)).fields) for seed in range(60)]
    known = {
        kind(recipe.code)
        for problem in problems
        for found in Key(problem, ToTheDigit(2)).recipes.values()
        for recipe in found
    }
    known |= {*OF_COPYING}
    assert known <= planted, known - planted


def test_powers_of_minus_s_are_named_under_a_mask() -> None:
    seen = np.tril(np.ones((3, 3), dtype=bool))
    scaled = plans.HAND.scaled
    wrong = planting.softmax(np.where(seen, -scaled, -np.inf))
    script = {"S_masked": np.where(seen, scaled, -np.inf), "A": wrong}
    marking = marked(Key(Problem(**GIVEN, causal=True), ToTheDigit(2)), script)
    assert causes(marking, "A") == ["exp-negative"]


def test_a_miscopied_entry_is_found_by_solving_back_and_charged_once() -> None:
    """X[2,3] is read as 3: Q, K and V result from it, and later steps follow."""
    other = X.copy()
    other[1, 2] = 3
    script = {name: other @ W for name, W in (("Q", W_Q), ("K", W_K), ("V", W_V))}
    script["S"] = script["Q"] @ script["K"].T
    marking = marked(Key(Problem(**GIVEN), ToTheDigit(2)), script)
    assert causes(marking, "Q") == ["miscopied-X[2,3]:3"]
    assert [marks.is_repeated for marks in marking.steps] == [False, True, True, False]
    assert marking.steps[-1].count(Status.WRONG) == 0
    weights = W_Q.copy()
    weights[0, 0] = -2
    marking = marked(Key(Problem(**GIVEN), ToTheDigit(2)), {"Q": X @ weights})
    assert causes(marking, "Q") == ["miscopied-W_Q[1,1]:-2"]


@pytest.mark.slow
def test_two_mistakes_are_found_from_only_the_outputs_of_a_program() -> None:
    """The scores are not scaled, and W_K is used for the values: A K is the same, and listed."""
    wrong = planting.softmax(Q @ K.T) @ (X @ W_K)
    key = Key(Problem(**GIVEN), Within(1e-6, 1e-6))
    data = json.dumps({"O": wrong.tolist()}).encode()
    marking = mark(key, read_answer_bytes(data, "a.json"), Rules(atol=1e-6, rtol=1e-6))
    assert causes(marking, "O") == ["scale-none+weights-swapped:W_K", "scale-none+a-k"]


def test_rows_that_are_exchanged_or_repeated_are_named() -> None:
    key = Key(Problem(**GIVEN), ToTheDigit(2))
    assert causes(marked(key, {"Q": Q[[1, 0, 2]]}), "Q") == ["rows-swapped:1,2"]
    assert causes(marked(key, {"Q": Q[[0, 1, 1]]}), "Q") == ["row-repeated:3"]


@pytest.mark.parametrize(
    ("code", "step", "place", "written"),
    [
        ("sign-lost", "S", (2, 2), "13.25"),
        ("digits-swapped", "S", (2, 2), "-12.35"),
        ("factor-ten", "S", (0, 0), "15"),
        ("neighbour", "V", (1, 0), "2.5"),
        ("term-dropped", "S", (0, 2), "10.5"),
        ("term-dropped", "A", (2, 0), "1.00"),
    ],
)
def test_a_slip_of_one_entry_is_listed_and_never_named(
    code: str, step: str, place: tuple[int, int], written: str
) -> None:
    from attncalc import read_problem, solve
    from attncalc.problem.samples import sample

    problem = read_problem(sample("self").path)
    answer = {step: solve(problem).shown(step)}
    answer[step][place[0]][place[1]] = written
    key = Key(problem, ToTheDigit(2))
    written = read_answer_bytes(json.dumps(answer).encode(), "a.json")
    marking = mark(key, written, Rules(asked=(step,)))
    listed = causes(marking, step)
    assert code in listed
    assert listed[-1] == "slip"
    assert marking.steps[0].cause is None


def test_an_entry_whose_row_sums_to_zero_without_one_term_is_marked() -> None:
    key = Key(Problem(S=[[1, -1, 2]], V=[[1], [2], [3]], normalizer="sum"), ToTheDigit(2))
    (marks, *_) = marked(key, {"A": np.array([[0.6, -0.5, 1.0]])}).steps
    assert [marks.status((0, place)) for place in range(3)] == [Status.WRONG, *[Status.CORRECT] * 2]
