"""Where the largest weight of an output changes hands, found by bisection and not by the grid."""

from collections.abc import Iterator
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np

from attncalc.numbers.types import Matrix
from attncalc.problem.problem import Problem
from attncalc.solving.connections import TIE
from attncalc.solving.plan import plan
from attncalc.studies.changes import FINE, Change, Span
from attncalc.studies.families import is_batched, weights_at

HALVINGS = 100
"""After so many a bracket is one float, whatever its ends were."""
MOST_SPLITS = 6
"""How often a bracket in which a third input leads for a while is parted."""
MOST_WEIGHTS = 20_000_000
"""Weights that are looked at before it is looked at fewer values."""


MOST_SCORES = 10_000
"""Scores of a problem in which changeovers are looked for: each takes some sixty solves."""


class Changeover(NamedTuple):
    """A value at which another input becomes the first of an output.

    Parameters
    ----------
    at
        The value.
    head, output
        Whose first place it is, from 0.
    before, after
        The inputs that have it below this value and above, from 0; several where they share it.
    weights
        The step of the weights in whose rows it is.
    """

    at: float
    head: int
    output: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    weights: str = "A"


class _Bracket(NamedTuple):
    """Two values between which one input loses the first place and another has it in the end."""

    low: float
    high: float
    head: int
    output: int
    before: tuple[int, ...]
    after: tuple[int, ...]


def can_be_sought(problem: Problem) -> bool:
    """Say whether a problem is small enough for its changeovers to be looked for."""
    return sum(each.scores for each in problem.attentions) <= MOST_SCORES


def changeovers(problem: Problem, change: Change) -> tuple[Changeover, ...]:
    """Return where the largest weight of an output changes hands, in the order of the values.

    Nothing where there are no values between those given, as of words and whole numbers.
    """
    if not change.is_smooth:
        return ()
    names = [step.name for step in plan(problem) if step.role == "weights"]
    return tuple(each for name in names for each in _of_attention(_Sought(problem, change, name)))


class _Sought(NamedTuple):
    """Weights, and what changes: where they change hands is looked for."""

    problem: Problem
    change: Change
    weights: str

    def at(self, values: Matrix) -> Iterator[Matrix]:
        """Yield the weights at each of these values."""
        return weights_at(self.problem, self.change, values, self.weights)


def _of_attention(sought: _Sought) -> list[Changeover]:
    values = _looked_at(sought)
    brackets = list(_brackets(values, sought)) if len(values) > 1 else []
    found = _found(sought, brackets, MOST_SPLITS)
    rising = values[0] <= values[-1] if len(values) else True
    return sorted(found, key=lambda each: (each.at if rising else -each.at, each[1:]))


def _looked_at(sought: _Sought) -> Matrix:
    """Return the finite values of a change, and others between them."""
    change = sought.change
    numbers = (float(value) for value in change.values)
    values = np.array([number for number in numbers if np.isfinite(number)])
    most = FINE if is_batched(change) else FINE // 5
    scores = sum(each.scores for each in sought.problem.attentions)
    most = min(most, MOST_WEIGHTS // scores)
    parts = ceil(most / max(1, len(values) - 1))
    if parts < 2 or len(values) < 2:
        return values
    is_log = isinstance(change.values, Span) and change.values.is_log
    spaced = np.geomspace if is_log else np.linspace
    between = [spaced(low, high, parts, endpoint=False) for low, high in pairwise(values)]
    return np.concatenate([*between, values[-1:]])


def _leading(weights: Matrix) -> Matrix:
    """Say which inputs share the first place of their row; none where all weights are 0."""
    largest: Matrix = weights.max(axis=-1, keepdims=True)
    leads: Matrix = np.where(largest > 0, weights >= largest * (1 - TIE), False)
    return leads


def _brackets(values: Matrix, sought: _Sought) -> Iterator[_Bracket]:
    """Yield between which neighbours those that have led lead no more."""
    current: Matrix | None = None
    last = 0.0
    for value, weights in zip(values, sought.at(values), strict=True):
        leading = _leading(weights)
        if current is None:
            current, last = leading, float(value)
            continue
        both = current & leading
        lost = ~both.any(axis=-1) & current.any(axis=-1) & leading.any(axis=-1)
        for head, output in np.argwhere(lost):
            before, after = (
                tuple(map(int, np.flatnonzero(each[head, output]))) for each in (current, leading)
            )
            yield _Bracket(last, float(value), int(head), int(output), before, after)
        # those that share a place keep it until they share it no more
        current = np.where(both.any(axis=-1, keepdims=True), both, leading)
        last = float(value)


def _found(sought: _Sought, brackets: list[_Bracket], splits: int) -> list[Changeover]:
    """Return the changeovers in these brackets, all of them halved at once."""
    if not brackets:
        return []
    low = np.array([each.low for each in brackets])
    high = np.array([each.high for each in brackets])
    sides = [each.before for each in brackets], [each.after for each in brackets]
    before, after = (np.array([each[0] for each in side]) for side in sides)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if ((middle == low) | (middle == high)).all():
            break
        rows = _rows_at(sought, middle, brackets)
        pick = np.arange(len(brackets))
        is_over = rows[pick, after] > rows[pick, before]
        low, high = np.where(is_over, low, middle), np.where(is_over, middle, high)
    at = (low + high) / 2
    rows = _rows_at(sought, at, brackets)
    found, parted = [], []
    for bracket, value, row in zip(brackets, at, rows, strict=True):
        third = tuple(map(int, np.flatnonzero(_leading(row[np.newaxis])[0])))
        if splits and not {*third} & {*bracket.before, *bracket.after}:
            parted.append(bracket._replace(high=float(value), after=third))
            parted.append(bracket._replace(low=float(value), before=third))
        else:
            found.append(Changeover(float(value), *bracket[2:], sought.weights))
    return found + _found(sought, parted, splits - 1)


def _rows_at(sought: _Sought, values: Matrix, brackets: list[_Bracket]) -> Matrix:
    """Return the weights of each bracket's output at its own value, (brackets, m)."""
    pairs = zip(sought.at(values), brackets, strict=True)
    return np.stack([weights[each.head, each.output] for weights, each in pairs])
