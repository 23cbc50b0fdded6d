"""Numbers of programs: within a tolerance or not, possible causes, and the size of errors."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix, Place, Range
from attncalc.equations.operations.assembling import Concat
from attncalc.grading.causes import pairs_that_fit, recipes_that_fit
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import NUMBER_OF, Cause, Status
from attncalc.grading.slips import mistakes_of_copying
from attncalc.grading.walk import Walk
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenMatrix


class CompareWalk(Walk):
    """Compares numbers that were not rounded."""

    follows_key = Status.CORRECT

    def beside_key(self, name: str, written: WrittenMatrix) -> tuple[Matrix, Matrix]:
        """Mark entries by the tolerance."""
        right = _allowed(self.key, name, written)
        codes = np.where(right, NUMBER_OF[Status.CORRECT], NUMBER_OF[Status.WRONG])
        return codes, np.zeros_like(right)

    def causes(
        self, known: Known, step: Step, written: WrittenMatrix, wrong: Matrix | None = None
    ) -> tuple[Cause, ...]:
        """Return the recipes that give every number; otherwise one factor, or an order of heads."""
        recipes = tuple(recipes_that_fit(known, step, written))
        if wrong is not None:
            recipes += tuple(mistakes_of_copying(known, step, written, is_explained=bool(recipes)))
        found = recipes or tuple(_of_all_numbers(known, step, written))
        if found or not any(known.missing(step)):
            return found
        return tuple(pairs_that_fit(known, step, written))


def _allowed(key: Key, name: str, written: WrittenMatrix) -> Matrix:
    """Return which numbers are within the tolerance, before or after rounding."""
    values, decimals = written.values, written.decimals
    exact, shown = key.exact[name], key.shown[name]
    near = key.slack.near(values, decimals, Range.at(exact))
    return near if exact is shown else near | key.slack.near(values, decimals, Range.at(shown))


def _of_all_numbers(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Cause]:
    """Yield causes for every number of a step: one factor for all, or permuted heads."""
    right = known.result(step, None).low
    if right.shape != written.shape:
        return
    if factor := _factor(known, written, right):
        says = f"every number is {factor:.6g} times what it should be"
        yield Cause(f"scaled-by:{factor:.6g}", says, step.name)
    theirs, ours = written.values, right
    if isinstance(step.operation, Concat):
        count = len(known.read(step.inputs[0], None).low)
        theirs, ours = (np.stack(np.split(each, count, axis=1)) for each in (theirs, ours))
    if theirs.ndim == 3 and (order := _order(known, theirs, ours)):
        named = ", ".join(str(head + 1) for head in order)
        code = f"heads-order:{named.replace(' ', '')}"
        yield Cause(code, f"the heads are in the order {named}", step.name)


def _factor(known: Known, written: WrittenMatrix, right: Matrix) -> float | None:
    """Return the common factor between the written and the right numbers, or None."""
    finite = np.isfinite(written.values) & np.isfinite(right)
    if not finite.any() or not np.abs(right[finite]).max() > 0:
        return None
    largest = np.abs(np.where(finite, right, 0.0)).argmax()
    with np.errstate(over="ignore", invalid="ignore"):
        factor = float(written.values.flat[largest] / right.flat[largest])
        scaled = Range.at(np.where(np.isfinite(right), right * factor, right))
    near = known.slack.near(written.values, written.decimals, scaled)
    return factor if factor != 0 and near.all() else None


def _order(known: Known, written: Matrix, right: Matrix) -> list[int] | None:
    """Return the right head in place of each; None if they are not a permutation."""
    decimals = np.zeros(right.shape[1:])
    order: list[int] = []
    for head in written:
        left = (number for number in range(len(right)) if number not in order)
        near = known.slack.near
        fits = (each for each in left if near(head, decimals, Range.at(right[each])).all())
        number = next(fits, None)
        if number is None:
            return None
        order.append(number)
    return order


class Deviation(NamedTuple):
    """The errors of one step, compared with the solution of the problem.

    differ, entries: the number of entries with an error above the tolerance, and of all entries.
    absolute, relative: the largest absolute and the largest relative error.
    worst: the place of the largest error; None if nothing could be compared.
    """

    differ: int
    entries: int
    absolute: float
    relative: float
    worst: Place | None


def deviation(marking: Marking, marks: StepMarks) -> Deviation:
    """Return the deviation of a step from the key."""
    right, written = marking.key.exact[marks.step.name], marks.written
    if written is None or written.shape != right.shape:
        return Deviation(right.size, right.size, np.inf, np.inf, None)
    values, near = written.values, _allowed(marking.key, marks.step.name, written)
    same = (values == right) | (near & np.isneginf(right))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        absolute = np.where(same, 0.0, np.abs(values - right))
        relative = np.where(absolute == 0, 0.0, absolute / np.abs(right))
    absolute, relative = (np.where(np.isnan(each), np.inf, each) for each in (absolute, relative))
    worst = tuple(int(i) for i in np.unravel_index(int(absolute.argmax()), absolute.shape))
    differ, largest = int((~near).sum()), (float(absolute.max()), float(relative.max()))
    return Deviation(differ, right.size, *largest, worst)
