"""A problem at each of many values: what is watched there, and where the largest weight changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, prod
from typing import NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import fixed, round_floats
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.problem import Problem
from attncalc.problem.step import Report
from attncalc.solving.connections import leading
from attncalc.solving.exactness import cost_in_its_decimals
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.studies.changes import FINE, Change, Infinity, Moved, Span, moved, order_of
from attncalc.studies.family import (
    OF_PROBLEM,
    OF_VALUE,
    Point,
    ProblemFamily,
    at_point,
    check_count,
    chunks,
    families,
    is_batched,
    of_solution,
)
from attncalc.studies.watched import Watched, watched_values

HALVINGS = 100
"""After so many a bracket is one float, whatever its ends were."""
MOST_SPLITS = 6
"""How often a bracket in which a third input leads for a while is split."""
MOST_WEIGHTS = 20_000_000
"""Weights that are looked at before it is looked at fewer values."""


MOST_SCORES = 10_000
"""Scores of a problem in which changeovers are looked for: each takes some sixty solves."""
MOST_EXACT = 500
"""Problems that are solved one by one, for the digits of each; more are solved in floats."""
COST_EXACT = 30_000_000
"""Work of all these problems together in exact decimals, in multiply-and-adds: a few seconds."""
ASKED = 13
"""Problems of which the work is estimated, before they are solved one by one."""
COST_OF_SOLVING = 15_000
"""What it takes to solve a problem however small it is, in multiply-and-adds."""
MOST_CHANGES = 2
"""One makes a curve, two make a grid."""
POINTS = 301
"""Values of a range in a picture."""
Study = tuple[tuple[Change, ...], tuple[Watched, ...], tuple[Point, ...]]
Found = tuple[Matrix, tuple[tuple[str, ...], ...], bool]


class Changeover(NamedTuple):
    """A value at which another input becomes the first of an output.

    head, output: whose first place it is, from 0.
    before, after: the inputs that have it below this value and above, from 0; several where they
        share it.
    weights: the step of the weights in whose rows it is.
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


def changeovers(problem: Problem, change: Change) -> tuple[Changeover, ...]:
    """Return where the largest weight of an output moves to another input, in order of the values.

    The result is empty if there are no values between those given, as with words and integers.
    """
    if not change.is_smooth:
        return ()
    found: list[Changeover] = []
    for name in (step.name for step in plan(problem) if step.role == "weights"):
        sought = _Sought(problem, change, name)
        values = _looked_at(sought)
        brackets = list(_brackets(values, sought)) if len(values) > 1 else []
        sign = 1 if not len(values) or values[0] <= values[-1] else -1
        own = _found(sought, brackets, MOST_SPLITS)
        found += sorted(own, key=lambda each: (sign * each.at, each[1:]))
    return tuple(found)


class _Sought(NamedTuple):
    """Weights, and the change that may move their largest one."""

    problem: Problem
    change: Change
    weights: str

    def at(self, values: Matrix) -> Iterator[Matrix]:
        """Yield the weights at each of these values, (heads or 1, n, m)."""
        for part in chunks(len(values), ProblemFamily(self.problem).chunk):
            points = [(Fraction(float(value)),) for value in values[part]]
            for family, count in families(self.problem, (self.change,), points, self.weights):
                weights = family[self.weights]
                yield from np.broadcast_to(weights, (count, *weights.shape[1:]))


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


def _brackets(values: Matrix, sought: _Sought) -> Iterator[_Bracket]:
    """Yield between which neighbors those that have led lead no more."""
    led = zip(map(float, values), map(leading, sought.at(values)), strict=True)
    last, current = next(led)
    for value, first in led:
        both = current & first
        lost = ~both.any(axis=-1) & current.any(axis=-1) & first.any(axis=-1)
        for head, output in np.argwhere(lost):
            before, after = (
                tuple(map(int, np.flatnonzero(each[head, output]))) for each in (current, first)
            )
            yield _Bracket(last, value, int(head), int(output), before, after)
        # those that share a place keep it until they share it no more
        last, current = value, np.where(both.any(axis=-1, keepdims=True), both, first)


def _found(sought: _Sought, brackets: list[_Bracket], splits: int) -> list[Changeover]:
    """Return the changeovers in these brackets, all of them halved at once."""
    if not brackets:
        return []
    low, high = np.array([each[:2] for each in brackets]).T
    before, after = np.array([(each.before[0], each.after[0]) for each in brackets]).T
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
    found, halves = [], []
    for bracket, value, row in zip(brackets, at, rows, strict=True):
        third = tuple(map(int, np.flatnonzero(leading(row))))
        if splits and not {*third} & {*bracket.before, *bracket.after}:
            halves.append(bracket._replace(high=float(value), after=third))
            halves.append(bracket._replace(low=float(value), before=third))
        else:
            found.append(Changeover(float(value), *bracket[2:], sought.weights))
    return found + _found(sought, halves, splits - 1)


def _rows_at(sought: _Sought, values: Matrix, brackets: list[_Bracket]) -> Matrix:
    """Return the weights of each bracket's output at its own value, (brackets, m)."""
    pairs = zip(sought.at(values), brackets, strict=True)
    return np.stack([weights[each.head, each.output] for weights, each in pairs])


@dataclass(frozen=True, eq=False)
class Variation:
    """What is watched of a problem, at each value of what changes.

    changes: what changes: one thing, or two that make a grid.
    points: the values of the changes, one row after another; in a grid the second changes fastest.
    values: what is watched there, in floats, (points, watched).
    digits: the same at the shown decimals, (points, watched) texts.
    changeovers: where the largest weight of an output moves to another input; of a single change
        only.
    is_exact: whether the digits of entries are those of exact decimals.
    is_sought: whether changeovers were looked for.
    moved: where the order of tokens changes, how the outputs change at each value.
    """

    problem: Problem
    changes: tuple[Change, ...]
    watched: tuple[Watched, ...]
    points: tuple[Point, ...]
    values: Matrix
    digits: tuple[tuple[str, ...], ...]
    changeovers: tuple[Changeover, ...] = ()
    is_exact: bool = True
    is_sought: bool = False
    moved: tuple[Moved, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each change takes."""
        return tuple(len(change.values) for change in self.changes)


@np.errstate(over="ignore", invalid="ignore")  # what overflows is refused where it shows
def vary(
    problem: Problem,
    changes: Sequence[Change],
    watched: Sequence[Watched],
    report: Report | None = None,
    *,
    agreed: bool = False,
) -> Variation:
    """Solve a problem at each value of one change, or at each pair of those of two.

    Raises InputError if it would take very long and that is not agreed, a value cannot be solved,
    or one change leaves nothing of another.

    problem: what is solved.
    report: called with how many solves of how many are done.
    agreed: whether it may take very long.
    """
    for first, second in pairwise(changes):
        if second.leaves_nothing_of(first, problem):
            texts = f"{quoted(first.text)} and {quoted(second.text)}"
            raise InputError(f"{texts} set the same, so the first has no effect")
    count = prod(len(change.values) for change in changes)
    each = OF_VALUE if all(map(is_batched, changes)) else OF_PROBLEM
    check_count(problem, count, each, agreed=agreed)
    points = tuple(product(*(change.values for change in changes)))
    study = tuple(changes), tuple(watched), points
    one_by_one = count <= MOST_EXACT
    if one_by_one:  # how many digits they take differs from value to value: some are estimated
        some = points[:: -(-count // ASKED)]
        costs = [cost_in_its_decimals(at_point(problem, study[0], point)) for point in some]
        one_by_one = count * (COST_OF_SOLVING + sum(costs) / len(costs)) <= COST_EXACT
    solving = _one_by_one if one_by_one else _together
    values, digits, is_exact = solving(problem, study, report)
    scores = sum(each.scores for each in problem.attentions)
    sought = len(changes) == 1 and changes[0].is_smooth and 0 < scores <= MOST_SCORES
    found = changeovers(problem, changes[0]) if sought else ()
    is_order = len(changes) == 1 and changes[0].how == "permute"
    listed = [order_of(value) for (value,) in points] if is_order else []
    effects = [moved(problem, [changes[0].name], order) for order in listed]
    return Variation(problem, *study, values, digits, found, is_exact, sought, tuple(effects))


@np.errstate(over="ignore", invalid="ignore")
def curve(variation: Variation) -> Variation:
    """Return the same study in floats, with as many values of its range as a picture shows."""
    (change,) = variation.changes
    span = change.values
    if isinstance(span, tuple) or span.count:
        return variation
    if isinstance(span.last, Infinity):
        first, *inner, last = span
        start = [first] if first == 0 else []
        low, high = (value for value in (inner[0] if start else first, inner[-1]))
        assert isinstance(low, Fraction)
        assert isinstance(high, Fraction)
        tens = Span(low, high, POINTS, is_log=True)
        finer = replace(change, values=(*start, *tens, last))
    else:
        finer = replace(change, values=replace(span, count=POINTS))
    points = tuple((value,) for value in finer.values)
    study = (finer,), variation.watched, points
    values, digits, _ = _together(variation.problem, study, None)
    return replace(variation, changes=(finer,), points=points, values=values, digits=digits)


def _one_by_one(problem: Problem, study: Study, report: Report | None) -> Found:
    changes, watched, points = study
    rows, digits, is_exact = [], [], True
    for done, point in enumerate(points, start=1):
        solution = solve(at_point(problem, changes, point))
        row = watched_values(watched, of_solution(solution), 1)[0]
        is_exact &= solution.is_proven
        decimals = solution.problem.decimals
        rounded = round_floats(row, decimals)
        rows.append(row)
        digits.append(
            tuple(
                # only an entry has digits of its own; a measure is computed from floats
                fixed(number if own is None else own[each.place], decimals)
                for each, number in zip(watched, rounded, strict=True)
                for own in [solution.digits.get(each.step)]
            )
        )
        if report:
            report(done, len(points))
    return np.array(rows), tuple(digits), is_exact


def _together(problem: Problem, study: Study, report: Report | None) -> Found:
    changes, watched, points = study
    parts, decimals = [], [problem.decimals] * len(points)
    for place, change in enumerate(changes):
        if change.name == "decimals":
            decimals = [int(float(str(point[place]))) for point in points]
    size = ProblemFamily(problem).chunk
    for part in chunks(len(points), size):
        here = points[part]
        for family, count in families(problem, changes, here):
            parts.append(watched_values(watched, family, count))
        if report:
            report(part.stop, len(points))
    values = np.concatenate(parts)
    texts = (
        tuple(fixed(number, places) for number in round_floats(row, places))
        for row, places in zip(values, decimals, strict=True)
    )
    return values, tuple(texts), False
