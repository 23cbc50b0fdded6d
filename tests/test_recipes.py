"""Every wrong recipe is recognised: each is done once in plain numpy, and must be named."""

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import planting
import pytest

from attncalc import Problem
from attncalc.errors import AttncalcError
from attncalc.grading.key import Key
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Rules, Status
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


PLANTED = sorted({code for seed in range(300) for _, code, _ in task_of(seed)[1]})
"""Each recipe that the planter knows; below, those that it does not."""


@pytest.mark.parametrize("code", PLANTED)
def test_a_planted_recipe_is_named_or_among_those_listed(code: str) -> None:
    found = []
    for seed in range(2000):
        task, recipes = task_of(seed)
        for step, name, make in recipes:
            if name != code or len(found) >= 6:
                continue
            right, style = flawless(seed), ("each-step", "half-away")
            wrong = planting.written(task, style, task.steps, recipe=(step, make))
            if wrong is None or right is None or np.isnan(wrong[step]).any():
                continue
            if wrong[step].shape != right[step].shape or (wrong[step] != right[step]).sum() < 3:
                continue
            try:
                marking = marked(key_to(seed), wrong)
            except AttncalcError:
                continue
            found.append(causes(marking, step))
        if len(found) >= 6:
            break
    assert found
    assert all(code in listed for listed in found), found
    assert [code] in found  # named alone, at least once


X = np.array([[1.0, -1, 0.5], [0, 2, 1], [-1, 0.5, 2]])
W_Q = np.array([[1.0, 0.5, 0], [0, 1, -1], [0.5, 0, 1.5]])
W_K = np.array([[0.5, 1, 0], [1, 0, 1], [0, -0.5, 1]])
W_V = np.array([[2.0, 0, 1], [0, 1, 1], [1, 0.5, 0]])
GIVEN = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}
P = np.array([[0.5, 0, 0.25], [0, 1, 0], [1, 0, 0.5]])
BIAS = np.array([[0.5, 0, 1], [0, 2, 0], [1, 0, -1]])
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
SCALED = Q @ K.T / 3**0.5
A = planting.softmax(SCALED)


def rotated(matrix: np.ndarray, *, paired: Callable[[int], tuple[int, int]], start: int = 0) -> Any:
    """Turn pairs of columns by the token's place: rope with a base of 100."""
    out = matrix.copy()
    pairs = matrix.shape[1] // 2
    for t in range(len(matrix)):
        for pair in range(pairs):
            i, j = paired(pair)
            angle = (t + start) / 100 ** (2 * pair / matrix.shape[1])
            x, y = matrix[t, i], matrix[t, j]
            out[t, i] = x * np.cos(angle) - y * np.sin(angle)
            out[t, j] = x * np.sin(angle) + y * np.cos(angle)
    return out


X4 = np.hstack([X, X[:, :1] + 1])
HALVES = {"paired": lambda pair: (pair, pair + 2)}
BESIDE = {"paired": lambda pair: (2 * pair, 2 * pair + 1)}
ROPE = {"X": X4, "W_Q": np.eye(4), "W_K": np.eye(4)[::-1], "W_V": np.eye(4)}
ROPE |= {"positions": "rope", "rope_base": 100}
HEADS = {"X": X, "heads": 2, "W_Q": np.hstack([W_Q, W_K]), "W_K": np.hstack([W_K, W_V])}
HEADS |= {"W_V": np.hstack([W_V, W_Q])}
H = np.stack(
    [
        planting.softmax((X @ W_Q) @ (X @ W_K).T / 3**0.5) @ (X @ W_V),
        planting.softmax((X @ W_K) @ (X @ W_V).T / 3**0.5) @ (X @ W_Q),
    ]
)

QS = [X @ W for W in (W_Q, W_K, W_V, W_Q.T)]
KS = [X @ W for W in (W_K, W_V)]
SHARED: dict[str, Any] = {"X": X, "heads": 4}
SHARED |= {"W_Q": np.hstack([W_Q, W_K, W_V, W_Q.T]), "W_K": np.hstack([W_K, W_V])}
SHARED |= {"W_V": np.hstack([W_V, W_Q])}

OTHERS: dict[str, tuple[dict[str, Any], str, np.ndarray]] = {
    "bias-forgotten": (GIVEN | {"b_O": [[1, 2, 3]]}, "O", A @ V),
    "bias-not-added": (GIVEN | {"bias": BIAS}, "S_masked", SCALED),
    "mask-shifted": (
        GIVEN | {"keep": [[1, 0, 1], [1, 1, 0], [0, 1, 1]]},
        "S_masked",
        np.where([[1, 1, 0], [1, 1, 1], [0, 0, 1]], SCALED, -np.inf),
    ),
    "mask-turned": (
        GIVEN | {"causal": True},
        "S_masked",
        np.where(np.triu(np.ones((3, 3), dtype=bool)), SCALED, -np.inf),
    ),
    "mask-zero": (
        GIVEN | {"causal": True},
        "S_masked",
        np.where(np.tril(np.ones((3, 3), dtype=bool)), SCALED, 0.0),
    ),
    "negated": (GIVEN, "Q", -Q),
    "positions-forgotten": (GIVEN | {"P": P}, "Q", X @ W_Q),
    "cap-forgotten": (GIVEN | {"softcap": 2}, "S_capped", SCALED),
    "softmax-not-asked": (GIVEN | {"normalizer": "sum"}, "A", A),
    "scale-divided": (GIVEN | {"scale": "1/5"}, "S_scaled", Q @ K.T * 5),
    "scale-not-asked": (GIVEN | {"scale": "none"}, "A", A),
    "unprojected": (GIVEN | {"W_O": W_K}, "O", A @ V),
    "transposed": (GIVEN, "V", V.T),
    "rope-forgotten": (ROPE, "Q_rot", X4),
    "rope-pairing": (ROPE, "Q_rot", rotated(X4, **BESIDE)),
    "rope-offset": (ROPE, "Q_rot", rotated(X4, start=1, **HALVES)),
    "places-of-keys": (ROPE | {"rope_query_offset": 5}, "Q_rot", rotated(X4, **HALVES)),
    "mean-for-concat": (HEADS, "C", H.mean(axis=0)),
    "concat-for-mean": (HEADS | {"combine": "mean"}, "C", np.concatenate(list(H), axis=1)),
    "sum-for-mean": (HEADS | {"combine": "mean"}, "C", H.sum(axis=0)),
    "heads-order:2,1": (HEADS, "H", H[::-1]),
    "bias-subtracted": (GIVEN | {"b_Q": [[1, 2, 3]]}, "Q", Q - np.array([1, 2, 3])),
    "bias-multiplied": (GIVEN | {"b_Q": [[1, 2, 3]]}, "Q", Q * np.array([1, 2, 3])),
    "bias-before-scale": (GIVEN | {"bias": BIAS}, "S_masked", (Q @ K.T + BIAS) / 3**0.5),
    "weights-signless": (GIVEN, "Q", X @ np.abs(W_Q)),
    "weights-first": (GIVEN, "Q", W_Q @ X),
    "weights-scaled": (GIVEN, "A", A / 3**0.5),
    "sum-for-concat": (HEADS, "C", H.sum(axis=0)),
    "heads-interleaved": (HEADS, "C", np.dstack(list(H)).reshape(3, 6)),
    "heads-viewed": (HEADS, "C", np.array(H.ravel()).reshape(3, 6)),
    "heads-tiled": (SHARED, "S", np.stack([QS[i] @ KS[i % 2].T for i in range(4)])),
    "window-off": (
        GIVEN | {"keep": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
        "S_masked",
        np.where([[1, 0, 0], [1, 1, 0], [0, 1, 1]], SCALED, -np.inf),
    ),
}


@pytest.mark.parametrize("code", OTHERS)
def test_what_the_planter_does_not_know_is_named_too(code: str) -> None:
    fields, step, wrong = OTHERS[code]
    marking = marked(Key(Problem(**fields), ToTheDigit(2)), {step: wrong})
    assert causes(marking, step) == [code]


def test_rope_forgotten_in_the_scores_is_named() -> None:
    marking = marked(Key(Problem(**ROPE), ToTheDigit(2)), {"S": X4 @ (X4 @ np.eye(4)[::-1]).T})
    assert "rope-forgotten" in causes(marking, "S")


def test_every_recipe_of_the_house_has_a_test() -> None:
    """A recipe that is added without a test is noticed here."""
    tested = {code.split(":")[0] for code in (*PLANTED, *OTHERS)}
    problems = [Problem(**fields) for fields, _, _ in OTHERS.values()]
    problems += [Problem(**planting.random_task(random.Random(seed)).fields) for seed in range(60)]
    known = {
        recipe.code.split(":")[0]
        for problem in problems
        for found in Key(problem, ToTheDigit(2)).recipes.values()
        for recipe in found
    }
    assert known <= tested, known - tested


def test_heads_that_take_turns_in_a_projection_are_named() -> None:
    """Columns 1, 3, 5 are taken for the first head, or rows of six are read on as rows of three."""
    beside = X @ HEADS["W_Q"]
    key = Key(Problem(**HEADS), ToTheDigit(2))
    turns = np.stack([beside[:, ::2], beside[:, 1::2]])
    assert causes(marked(key, {"Q": turns}), "Q") == ["heads-interleaved"]
    assert causes(marked(key, {"Q": beside.reshape(2, 3, 3)}), "Q") == ["heads-viewed"]


def test_a_bias_of_scores_that_is_subtracted_is_named() -> None:
    marking = marked(Key(Problem(**GIVEN, bias=BIAS), ToTheDigit(2)), {"S_masked": SCALED - BIAS})
    assert causes(marking, "S_masked") == ["bias-subtracted"]


def test_powers_of_minus_s_are_named_under_a_mask() -> None:
    seen = np.tril(np.ones((3, 3), dtype=bool))
    wrong = planting.softmax(np.where(seen, -SCALED, -np.inf))
    script = {"S_masked": np.where(seen, SCALED, -np.inf), "A": wrong}
    marking = marked(Key(Problem(**GIVEN, causal=True), ToTheDigit(2)), script)
    assert causes(marking, "A") == ["exp-negative"]


def test_a_miscopied_entry_is_found_by_solving_back_and_charged_once() -> None:
    """X[2,3] is read as 3: all of Q, K and V come of it, and what comes after follows."""
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


def test_of_a_programs_outputs_alone_two_mistakes_are_found() -> None:
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
