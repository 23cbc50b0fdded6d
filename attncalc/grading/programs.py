"""Mistakes that are read off a program's numbers, which nothing was cut from."""

from collections.abc import Iterator

import numpy as np

from attncalc.grading.known import Known
from attncalc.numbers.types import Matrix, Range
from attncalc.operations import Concat
from attncalc.operations.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

Finding = tuple[str, str]
"""A code, and what was done, as a clause."""


def findings(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Finding]:
    """Yield what explains every number of a step: one factor for all, or heads out of order."""
    right = known.result(step, None).low
    if right.shape != written.shape:
        return
    if factor := _factor(known, written, right):
        yield f"scaled-by:{factor:.6g}", f"every number is {factor:.6g} times what it should be"
    theirs, ours = written.values, right
    if isinstance(step.operation, Concat):
        count = len(known.read(step.inputs[0], None).low)
        theirs, ours = (np.stack(np.split(each, count, axis=1)) for each in (theirs, ours))
    if theirs.ndim == 3 and (order := _order(known, theirs, ours)):
        named = ",".join(str(head + 1) for head in order)
        yield f"heads-order:{named}", f"the heads stand in the order {named.replace(',', ', ')}"


def _factor(known: Known, written: WrittenMatrix, right: Matrix) -> float | None:
    """Return the one factor between what is written and what is right, if there is one."""
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
    """Return which right head stands in the place of each; None where they are no permutation."""
    decimals = np.zeros(right.shape[1:])
    order = []
    for head in written:
        fits = (
            number
            for number, each in enumerate(right)
            if number not in order and known.slack.near(head, decimals, Range.at(each)).all()
        )
        number = next(fits, None)
        if number is None:
            return None
        order.append(number)
    return order
