"""A problem at each of many values: what is watched there, and where the largest weight changes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from math import prod

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.rounding import fixed, round_floats
from attncalc.numbers.typed import quoted
from attncalc.numbers.types import Matrix
from attncalc.problem.problem import Problem
from attncalc.problem.step import Report
from attncalc.solving.exactness import cost_in_its_decimals
from attncalc.solving.solution import solve
from attncalc.studies.changeovers import Changeover, can_be_sought, changeovers
from attncalc.studies.changes import Change, Infinity, Listed, Span
from attncalc.studies.cost import OF_PROBLEM, OF_VALUE, check_count
from attncalc.studies.families import Point, at_point, families, is_batched
from attncalc.studies.family import Family, chunks, of_solution
from attncalc.studies.watched import Watched, watched_values

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


@dataclass(frozen=True, eq=False)
class Variation:
    """What is watched of a problem, at each value of what changes.

    Parameters
    ----------
    problem
        The problem that changes.
    changes
        What changes: one thing, or two that make a grid.
    watched
        What is watched.
    points
        The values of the changes, one row after another; in a grid the second changes fastest.
    values
        What is watched there, in floats, (points, watched).
    digits
        The same at the shown decimals, (points, watched) texts.
    changeovers
        Where the largest weight of an output changes hands; of one change alone.
    is_exact
        Whether the digits of entries are those of exact decimals.
    is_sought
        Whether changeovers were looked for.
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

    Parameters
    ----------
    problem
        What is solved.
    changes, watched
        What changes, and what is watched.
    report
        What is told how many solves of how many are done.
    agreed
        Whether it may take very long.

    Raises
    ------
    InputError
        When it would take very long and nobody has agreed, a value cannot be solved, or one change
        leaves nothing of another.
    """
    for first, second in pairwise(changes):
        if second.leaves_nothing_of(first, problem):
            texts = f"{quoted(first.text)} and {quoted(second.text)}"
            raise InputError(f"{texts} set the same, so the first would count for nothing")
    count = prod(len(change.values) for change in changes)
    each = OF_VALUE if all(map(is_batched, changes)) else OF_PROBLEM
    check_count(problem, count, each, agreed=agreed)
    study = tuple(changes), tuple(watched)
    points = tuple(product(*(change.values for change in changes)))
    one_by_one = count <= MOST_EXACT and count * _cost(problem, study[0], points) <= COST_EXACT
    solving = _one_by_one if one_by_one else _together
    values, digits, is_exact = solving(problem, *study, points, report)
    sought = len(changes) == 1 and changes[0].is_smooth and is_sought_in(problem)
    found = changeovers(problem, changes[0]) if sought else ()
    return Variation(problem, *study, points, values, digits, found, is_exact, sought)


def _cost(problem: Problem, changes: tuple[Change, ...], points: tuple[Point, ...]) -> float:
    """Return about how much work one of the problems is in exact decimals.

    How many digits they take differs from value to value: some of them are asked.
    """
    some = points[:: -(-len(points) // ASKED)]
    costs = [cost_in_its_decimals(at_point(problem, changes, point)) for point in some]
    return COST_OF_SOLVING + sum(costs) / len(costs)


def is_sought_in(problem: Problem) -> bool:
    """Say whether changeovers are looked for: where there are weights, and not too many."""
    return bool(problem.attentions) and can_be_sought(problem)


@np.errstate(over="ignore", invalid="ignore")
def curve(variation: Variation) -> Variation:
    """Return the same study in floats, with as many values of its range as a picture shows."""
    (change,) = variation.changes
    span = change.values
    if isinstance(span, Listed) or span.count:
        return variation
    if isinstance(span.last, Infinity):
        first, *inner, last = span
        start = [first] if first == 0 else []
        low, high = (value for value in (inner[0] if start else first, inner[-1]))
        assert isinstance(low, Fraction)
        assert isinstance(high, Fraction)
        tens = Span(low, high, POINTS, is_log=True)
        finer = replace(change, values=Listed((*start, *tens, last)))
    else:
        finer = replace(change, values=replace(span, count=POINTS))
    points = tuple((value,) for value in finer.values)
    values, digits, _ = _together(variation.problem, (finer,), variation.watched, points, None)
    return replace(variation, changes=(finer,), points=points, values=values, digits=digits)


Found = tuple[Matrix, tuple[tuple[str, ...], ...], bool]


def _one_by_one(
    problem: Problem,
    changes: tuple[Change, ...],
    watched: tuple[Watched, ...],
    points: tuple[Point, ...],
    report: Report | None,
) -> Found:
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
                # only an entry has digits of its own; a measure is worked out from floats
                fixed(solution.digits[each.step][each.place] if each.step else number, decimals)
                for each, number in zip(watched, rounded, strict=True)
            )
        )
        if report:
            report(done, len(points))
    return np.array(rows), tuple(digits), is_exact


def _together(
    problem: Problem,
    changes: tuple[Change, ...],
    watched: tuple[Watched, ...],
    points: tuple[Point, ...],
    report: Report | None,
) -> Found:
    parts, decimals = [], [problem.decimals] * len(points)
    for place, change in enumerate(changes):
        if change.name == "decimals":
            decimals = [int(float(str(point[place]))) for point in points]
    size = Family(problem).chunk
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
