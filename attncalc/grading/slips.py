"""Slips of a single entry: its sign, its digits, its place, a term of its sum."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import fixed
from attncalc.base.types import Matrix, Place, Range
from attncalc.equations.operations.assembling import Add, Concat, Mean, Same
from attncalc.equations.operations.normalising import Softmax
from attncalc.grading.known import Known
from attncalc.grading.rules import Cause
from attncalc.grading.slack import Slack
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

MOST_MEANT = 4
"""The largest number of intended values that are all tried."""
MOST_TERMS = 64
"""The largest number of terms of a sum that are left out in turn."""


def slips(known: Known, step: Step, place: Place, written: WrittenMatrix) -> tuple[Cause, ...]:
    """Return the possible slips of one entry, each once.

    known: the values of the answer itself.
    step, place: the step, and the place of the entry in the layout of the plan.
    written: the matrix in the answer, in the layout of the plan.
    """
    found: dict[str, str] = {}
    entry = _Entry(known.slack, float(written.values[place]), int(written.decimals[place]))
    for rule in known.rules(step):
        for code, says in _slips(known, step, place, entry, known.result(step, rule)):
            found.setdefault(code, says)
    return tuple(Cause(code, says, step.name, is_slip=True) for code, says in found.items())


def _slips(
    known: Known, step: Step, place: Place, entry: "_Entry", right: Range
) -> Iterator[tuple[str, str]]:
    low, high = float(right.low[place]), float(right.high[place])
    decimals = known.key.problem.decimals
    if not np.isfinite([entry.written, low, high]).all():
        return
    meant = [*_could_be_meant(low, high, decimals), *_in_scripts(known, step, place)]
    yield from _of_the_number(entry, low, high, meant, decimals)
    for name, there in _neighbours(right.low, place):
        if entry.is_near(float(right.low[there]), float(right.high[there])):
            yield "neighbour", f"the entry {name} is written here"
            break
    if any(entry.is_near(*ends) for ends in _without_a_term(known, step, place)):
        yield "term-dropped", "a term of its sum is left out"


class _Entry(NamedTuple):
    """A written number, and its accepted difference."""

    slack: Slack
    written: float
    decimals: int

    def is_near(self, low: float, high: float) -> bool:
        """Return whether a value in this range may give the written number."""
        right = Range(np.array([low]), np.array([high]))
        written, decimals = np.array([self.written]), np.array([self.decimals])
        return bool(self.slack.near(written, decimals, right)[0])


def _of_the_number(
    entry: _Entry, low: float, high: float, meant: Sequence[float], decimals: int
) -> Iterator[tuple[str, str]]:
    """Yield the slips of the number itself, for a few intended values."""
    if entry.written != 0 and entry.is_near(-high, -low):
        yield "sign-lost", "its sign is lost" if entry.written > 0 else "it has a minus too many"
    if any(_digits_are_swapped(entry.written, number, decimals) for number in meant):
        yield "digits-swapped", "two of its digits are swapped"
    for factor, words in ((10, "large"), (0.1, "small")):
        if any(number and entry.is_near(number * factor, number * factor) for number in meant):
            yield "factor-ten", f"it is ten times too {words}"


def _could_be_meant(low: float, high: float, decimals: int) -> list[float]:
    """Return the numbers of so many decimals that a person may have intended."""
    unit = 10.0**-decimals
    if not math.isfinite(max(-low, high) / unit):
        return []
    first, last = math.floor(low / unit), math.ceil(high / unit)
    if last - first > MOST_MEANT:
        middle = (low + high) / 2 / unit
        first, last = math.floor(middle), math.ceil(middle)
    return [round(place * unit, decimals) for place in range(first, last + 1)]


def _in_scripts(known: Known, step: Step, place: Place) -> list[float]:
    """Return the values of flawless answers at a place, if own mistakes do not change it."""
    right = known.result(step, None)
    scripts = (script.get(step.name) for script in known.key.scripts.values())
    shown = {
        float(each[place]) for each in scripts if each is not None and each.shape == right.low.shape
    }
    unit = 10.0**-known.key.problem.decimals
    low, high = float(right.low[place]) - unit, float(right.high[place]) + unit
    return [each for each in shown if low <= each <= high]


def _digits_are_swapped(written: float, right: float, decimals: int) -> bool:
    """Return whether two digits are exchanged: 0.12 and 0.21, 13.25 and 12.35."""
    here, there = (fixed(abs(each), decimals) for each in (written, right))
    width = max(len(here), len(there))
    here, there = here.zfill(width), there.zfill(width)
    differ = [i for i in range(width) if here[i] != there[i]]
    if len(differ) != 2 or written * right < 0:
        return False
    first, second = differ
    return here[first] == there[second] and here[second] == there[first]


def _neighbours(matrix: Matrix, place: Place) -> Iterator[tuple[str, Place]]:
    """Yield the place of each neighbor of an entry, with a description."""
    *head, i, j = place
    rows, columns = matrix.shape[-2:]
    names = ("to its left", "to its right", "above it", "below it")
    for name, (down, right) in zip(names, ((0, -1), (0, 1), (-1, 0), (1, 0)), strict=True):
        if 0 <= i + down < rows and 0 <= j + right < columns:
            yield name, (*head, i + down, j + right)


def _without_a_term(known: Known, step: Step, place: Place) -> Iterator[tuple[float, float]]:
    """Yield the value of an entry without each term of its sum."""
    if isinstance(step.operation, Add | Concat | Mean | Same):
        return
    first, *others = (known.read(name, None) for name in step.inputs)
    if first.low.ndim < 2 or first.low.shape[-1] > MOST_TERMS:
        return
    if place[-2] >= first.low.shape[-2]:  # its rows are not summed, like keys after earlier ones
        return
    nothing = -np.inf if isinstance(step.operation, Softmax) else 0.0
    # with another number of heads, such as for the sum of a gradient, all of them give the term
    has_own = first.low.ndim == len(place) and place[0] < len(first.low)
    row: tuple[Any, ...] = place[:-1] if has_own else (..., place[-2])
    for k in range(first.low.shape[-1]):
        if step.role == "weights" and k == place[-1]:
            continue
        is_left_out = np.zeros(first.low.shape, bool)
        is_left_out[(*row, k)] = True
        without = first.replaced(is_left_out, Range.at(np.array(nothing)))
        try:
            with np.errstate(all="ignore"):
                made = step.operation.over(without, *others)
        except InputError:  # the remaining scores sum to 0
            continue
        yield float(made.low[place]), float(made.high[place])
