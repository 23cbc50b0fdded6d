"""How far the numbers of a program are off, step by step."""

from typing import NamedTuple

import numpy as np

from attncalc.grading.marks import Marking, StepMarks
from attncalc.numbers.types import Place


class Deviation(NamedTuple):
    """How far one step is off what the problem itself gives.

    Parameters
    ----------
    differ, entries
        How many entries are off by more than the tolerance, of how many.
    absolute, relative
        The largest error, and the largest in relation to what is right.
    worst
        Where the largest error is; None where nothing could be compared.
    """

    differ: int
    entries: int
    absolute: float
    relative: float
    worst: Place | None


def deviation(marking: Marking, marks: StepMarks) -> Deviation:
    """Return how far a step is off, beside the key."""
    right = marking.key.exact[marks.step.name]
    written = marks.written
    if written is None or written.shape != right.shape:
        return Deviation(right.size, right.size, np.inf, np.inf, None)
    values, near = written.values, marking.key.allows(marks.step.name, written)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        absolute = np.where(
            (values == right) | (near & np.isneginf(right)), 0.0, np.abs(values - right)
        )
        relative = np.where(absolute == 0, 0.0, absolute / np.abs(right))
    absolute = np.where(np.isnan(absolute), np.inf, absolute)
    relative = np.where(np.isnan(relative), np.inf, relative)
    worst = tuple(int(i) for i in np.unravel_index(int(absolute.argmax()), absolute.shape))
    return Deviation(
        int((~near).sum()), right.size, float(absolute.max()), float(relative.max()), worst
    )
