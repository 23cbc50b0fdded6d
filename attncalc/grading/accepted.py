"""Accepted roundings within a step, compared with all entries of an answer."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix, Range
from attncalc.equations.operations.normalising import Softmax
from attncalc.grading.known import Known
from attncalc.grading.recipes import Recipe
from attncalc.grading.rules import Cause
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

FAR = 0.025
"""The largest difference of a weight that rounding within a step can explain."""
LARGEST_SCORE = 30.0
"""The largest score for which rounding its power can be visible."""
PAIRED = 6
"""The most common roundings of one step, which are combined with those of another step."""
PLAINEST = 2
"""The number of roundings that are tried before adjusted sums, since a sum is often 1 by chance."""
MANY = 5
"""The number of entries from which one may be wrong, and the others still show the rounding."""
ADJUSTED = "weights-adjusted"


class Accepted(NamedTuple):
    """The entries that a rounding explains; `way` describes it as a clause."""

    way: Cause
    near: Matrix


def accepted(known: Known, step: Step, written: WrittenMatrix, wrong: Matrix) -> Accepted | None:
    """Return the first rounding within a step that gives every entry, or None.

    known: the values of the answer itself.
    step, written: the step, and its matrix in the answer, in the layout of the plan.
    wrong: the entries that nothing else explains.
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
    """Return whether more than one entry differs by more than rounding within a step can."""
    right = known.result(step, None)
    if right.low.shape != written.shape:
        return True
    unit = 10.0**-known.key.problem.decimals
    room: Matrix | float = FAR + unit
    if step.role != "weights":
        finite = np.abs(right.low[np.isfinite(right.low)])
        room = 2 * room * max(1.0, float(finite.max(initial=0.0)))
    elif isinstance(step.operation, Softmax):  # small powers lose most of their digits
        scores = known.read(step.inputs[0], None).low
        total = np.exp(np.minimum(scores, LARGEST_SCORE)).sum(axis=-1, keepdims=True)
        room = room + unit * (scores.shape[-1] + 1) / np.maximum(total, unit)
    with np.errstate(invalid="ignore"):
        far = (written.values < right.low - room) | (written.values > right.high + room)
    return int((far & wrong).sum()) > (1 if wrong.sum() > 2 else 0)


def _ways(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Accepted]:
    """Yield the entries for each rounding: in the step, and in steps that are left out."""
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
    """Yield single roundings, then the most common pairs for two steps."""
    names = dict.fromkeys(each.name for each in (*known.missing(step), step))
    ways = [known.key.roundings[name] for name in names if known.key.roundings[name]]
    for each in ways:
        yield from ((recipe,) for recipe in each)
    for first, second in combinations(ways, 2):
        yield from product(first[:PAIRED], second[:PAIRED])


def _adjusted(known: Known, step: Step, written: WrittenMatrix) -> Accepted:
    """Return the rows of weights that were adjusted by a last place so that they sum to 1."""
    unit = 10.0**-known.key.problem.decimals
    values = written.values
    sums_to_1 = np.abs(values.sum(axis=-1, keepdims=True) - 1) < unit / 10
    lows, highs = zip(*(known.result(step, rule) for rule in known.rules(step)), strict=True)
    right = Range(np.minimum.reduce(lows), np.maximum.reduce(highs))
    one_off = (values > right.low - 1.001 * unit) & (values < right.high + 1.001 * unit)
    fits = known.slack.as_written().near(values, written.decimals, right)
    # the difference may also have been added to one entry, such as the largest
    rest = (~one_off).sum(axis=-1, keepdims=True) <= 1
    room = unit * (values.shape[-1] / 2 + 1)
    on_one = rest & (values > right.low - room) & (values < right.high + room)
    near = fits | (sums_to_1 & (one_off | on_one))
    return Accepted(Cause(ADJUSTED, "each row is made to sum to 1 after rounding", step.name), near)
