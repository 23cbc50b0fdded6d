"""Ways to round within a step that a teacher accepts, held against the whole of what is written."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix, Range
from attncalc.equations.operations import Softmax
from attncalc.grading.known import Known
from attncalc.grading.recipes import Recipe
from attncalc.grading.rules import Cause
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

FAR = 0.025
"""A weight that is further off was not rounded on the way: too much was lost to call it that."""
LARGEST_SCORE = 30.0
"""Beyond it no rounding of its power shows."""
PAIRED = 6
"""Ways of one step, the most common ones, that are tried together with one of another step."""
PLAINEST = 2
"""Ways that are looked for before weights may have been moved to sum to 1: a sum is soon 1."""
MANY = 5
"""Entries of which one may be wrong, and the others still show how they were rounded."""
ADJUSTED = "weights-adjusted"


class Accepted(NamedTuple):
    """Which entries come out when somebody rounds in this way; `way` says how, as a clause."""

    way: Cause
    near: Matrix


def accepted(known: Known, step: Step, written: WrittenMatrix, wrong: Matrix) -> Accepted | None:
    """Return the first way to round on the way that gives every entry of a step, if there is one.

    Parameters
    ----------
    known
        What the script itself had to go on.
    step, written
        The step, and what is written, as the plan has it.
    wrong
        Where nothing else explains what is written.
    """
    if _is_far(known, step, written, wrong):
        return None
    nearly: Accepted | None = None
    for found in _ways(known, step, written):
        misses = int((~found.near & ~np.isnan(written.values)).sum())
        if not misses:
            return found
        explained = int((found.near & wrong).sum())
        if nearly is None and misses == 1 and explained > 1 and written.values.size >= MANY:
            nearly = found
    return nearly


def _is_far(known: Known, step: Step, written: WrittenMatrix, wrong: Matrix) -> bool:
    """Return whether more than one entry is further off than rounding on the way may lead."""
    right = known.result(step, None)
    if right.low.shape != written.shape:
        return True
    unit = 10.0**-known.key.problem.decimals
    room: Matrix | float = FAR + unit
    if step.role != "weights":
        finite = np.abs(right.low[np.isfinite(right.low)])
        room = 2 * room * max(1.0, float(finite.max(initial=0.0)))
    elif isinstance(step.operation, Softmax):  # small powers lose much of what they are
        scores = known.read(step.inputs[0], None).low
        total = np.exp(np.minimum(scores, LARGEST_SCORE)).sum(axis=-1, keepdims=True)
        room = room + unit * (scores.shape[-1] + 1) / np.maximum(total, unit)
    with np.errstate(invalid="ignore"):
        far = (written.values < right.low - room) | (written.values > right.high + room)
    return int((far & wrong).sum()) > (1 if wrong.sum() > 2 else 0)


def _ways(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Accepted]:
    """Yield which entries each way gives: those of the step, and of steps that are left out."""
    fine = np.maximum(written.decimals, known.key.problem.decimals)
    for number, recipes in enumerate(_recipes(known, step)):
        if number == PLAINEST and step.role == "weights":
            yield _adjusted(known, step, written)
        near = np.zeros(written.shape, dtype=bool)
        for rule in known.rules(step):
            with suppress(ValueError, InputError), np.errstate(all="ignore"):
                made = known.result(step, rule, *recipes)
                if made.low.shape == written.shape:
                    near |= known.slack.as_written().near(written.values, fine, made)
        codes = "+".join(each.code for each in recipes)
        says = ", and ".join(each.says for each in recipes)
        yield Accepted(Cause(codes, says, recipes[-1].step), near)


def _recipes(known: Known, step: Step) -> Iterator[tuple[Recipe, ...]]:
    """Yield single ways, then the most common ones of two steps together."""
    names = dict.fromkeys(each.name for each in (*known.missing(step), step))
    ways = [known.key.roundings[name] for name in names if known.key.roundings[name]]
    for each in ways:
        yield from ((recipe,) for recipe in each)
    for place, first in enumerate(ways):
        for second in ways[place + 1 :]:
            for one in islice(first, PAIRED):
                yield from ((one, other) for other in islice(second, PAIRED))


def _adjusted(known: Known, step: Step, written: WrittenMatrix) -> Accepted:
    """Say which rows hold weights that were moved by a last place, so that they sum to 1."""
    unit = 10.0**-known.key.problem.decimals
    values = written.values
    sums_to_1 = np.abs(values.sum(axis=-1, keepdims=True) - 1) < unit / 10
    right = _hull(known.result(step, rule) for rule in known.rules(step))
    one_off = (values > right.low - 1.001 * unit) & (values < right.high + 1.001 * unit)
    fits = known.slack.as_written().near(values, written.decimals, right)
    # what is missing may also have been put on one entry, the largest say
    rest = (~one_off).sum(axis=-1, keepdims=True) <= 1
    room = unit * (values.shape[-1] / 2 + 1)
    on_one = rest & (values > right.low - room) & (values < right.high + room)
    near = fits | (sums_to_1 & (one_off | on_one))
    return Accepted(Cause(ADJUSTED, "each row is made to sum to 1 after rounding", step.name), near)


def _hull(ranges: Iterator[Range]) -> Range:
    """Return from the lowest to the highest of what may be right."""
    lows, highs = zip(*ranges, strict=True)
    return Range(np.minimum.reduce(lows), np.maximum.reduce(highs))
