"""Answers as students give them, and what check, and what a worksheet that is practiced on, say."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import numpy as np
import planting
from live_pages import drawn, in_node

from attncalc.base.errors import AttncalcError
from attncalc.base.rounding import fixed, round_floats
from attncalc.base.types import Range
from attncalc.grading.key import key_of
from attncalc.grading.marking import mark
from attncalc.grading.recipes.roundings import roundings
from attncalc.grading.rules import Rules
from attncalc.problem.problem import Problem
from attncalc.problem.step import run
from attncalc.reading.answers import answer_of
from attncalc.solving.solution import Solution, solve
from attncalc.writing.live.data import live_data

MARKED = "return $marks.mark($solve.solve(line.data), line.texts);"
Texts = dict[str, list[str]]


def answered(rng: Random, solution: Solution) -> Texts:
    """Return an answer that rounds in one way, with occasional mistakes."""
    decimals = solution.problem.decimals
    rule = rng.choice(["half-away", "half-away", "half-even", "truncate"])
    carried = rng.choice([None, None, decimals, decimals, decimals, 3, 4])
    rounds_within = rng.random() < 0.2
    mistaken = rng.choice([None, *(step.name for step in solution.plan)])

    def after(matrix: Any) -> Any:
        return matrix if carried is None else round_floats(matrix, carried, rule)

    matrices = dict(solution.problem.given)
    written: Texts = {}
    for step in solution.plan:
        matrix = run((step,), matrices)[step.name]
        ways = roundings(step, decimals) if rounds_within else ()
        if ways:  # √2 as 1.41, powers of e rounded, and the like
            made = rng.choice(ways).make(lambda name: Range.at(matrices[name]))
            matrix = matrix if made is None else made.middle
        if step.name == mistaken:
            matrix = matrix.copy()
            place = rng.randrange(matrix.size)
            matrix.flat[place] += rng.choice([1, -1, 10, 0.5]) * 10.0 ** -rng.choice(
                [0, 0, decimals]
            )
        matrices[step.name] = after(matrix)
        if step.name in step.inputs:  # what is given, and only shown as a step, is no answer
            continue
        shown = round_floats(np.asarray(matrix), decimals, rule)
        written[step.name] = [_text(rng, value, decimals) for value in shown.flat]
    return written


def _text(rng: Random, value: float, decimals: int) -> str:
    """Return a number as it is written: mostly with all its decimals, now and then blank."""
    if np.isinf(value):
        return "-inf"
    kind = rng.random()
    if kind < 0.05:
        return ""
    if kind > 0.97 and decimals:
        return fixed(round_floats(np.array([value]), decimals - 1)[0], decimals - 1)
    text = fixed(value, decimals)
    if kind < 0.2 and "." in text:
        return text.rstrip("0").rstrip(".") or "0"
    return text


def statuses(solution: Solution, written: Texts) -> dict[str, list[str]]:
    """Return what check says of each entry."""
    held = {}
    for name, texts in written.items():
        if any(texts):
            shape = solution.digits[name].shape
            rows = np.array([text or None for text in texts], dtype=object).reshape(shape)
            held[name] = solution.problem.standing.shown(rows).tolist()
    rules = Rules(asked=tuple(held))
    key = key_of(solution.problem, rules)
    with key.names_at_hand():
        marking = mark(key, answer_of(held), rules)
    return {
        marks.step.name: [
            marks.status(tuple(place)).value for place in np.ndindex(marks.statuses.shape)
        ]
        for marks in marking.steps
    }


def compared(seed: int, count: int, *, planted: bool = False) -> Counter[tuple[str, str]]:
    """Return how often the worksheet says the one, and check the other."""
    rng = Random(seed)
    pairs = list(islice(_planted(rng), count) if planted else _pairs(rng, count))
    lines = ({"data": live_data(solution.problem), "texts": texts} for solution, texts in pairs)
    found: Counter[tuple[str, str]] = Counter()
    for (solution, texts), said in zip(pairs, in_node(MARKED, lines), strict=True):
        assert "error" not in said, said
        for name, wanted in statuses(solution, texts).items():
            found.update(zip(said[name], wanted, strict=True))
    return found


def _planted(rng: Random) -> Iterator[tuple[Solution, Texts]]:
    """Yield answers that hold a known mistake, or a slip, and what follows from it."""
    while True:
        task = planting.random_task(rng)
        try:
            solution = solve(Problem(**task.fields))
        except AttncalcError:
            continue
        style, step = rng.choice(planting.STYLES), rng.choice(task.steps)
        slip = planting.slipping(rng.choice(planting.SLIPS), step, task, style, rng)
        where, _, make = rng.choice(planting.recipes_of(task))
        for wrong in ({"slips": {step: slip}}, {"recipe": (where, make)}):
            with np.errstate(all="ignore"):
                script = planting.written(task, style, task.steps, **wrong)
            if script is None or any(
                script[name].shape != solution.digits[name].shape or np.isnan(script[name]).any()
                for name in script
            ):
                continue
            texts = {
                name: [_text(rng, value, task.decimals) for value in matrix.flat]
                for name, matrix in script.items()
            }
            yield solution, texts


def _pairs(rng: Random, count: int) -> Iterator[tuple[Solution, Texts]]:
    while count:
        solution = drawn(rng)
        try:
            with np.errstate(all="ignore"):
                texts = answered(rng, solution)
        except AttncalcError:  # a mistake that divides by nothing
            continue
        written = [text for texts_ in texts.values() for text in texts_]
        if not any(written) or any("nan" in text for text in written):
            continue
        count -= 1
        yield solution, texts
