"""Mistakes of copying: an entry of a given matrix that is another one, rows in other places."""

from collections.abc import Iterator

import numpy as np

from attncalc.grading.causes import Cause
from attncalc.grading.known import Known
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations import Project
from attncalc.operations.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

MOST_TRIED = 400
"""Entries of a given matrix up to which each is tried."""
MOST_DECIMALS = 4
"""Decimals that somebody types; a value with more was not copied."""

Found = tuple[Cause, int]
"""A cause, and in how many entries it is seen."""


def miscopied(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Found]:
    """Yield the entries of given matrices that give all of a projection if one alone is another.

    The product is linear in each of them, so that its value is found by solving back.
    """
    given = known.key.problem.given
    if not isinstance(step.operation, Project) or step.inputs[0] not in given:
        return
    right = known.key.exact[step.name]
    if right.shape != written.shape or not np.isfinite(written.values).all():
        return
    for name in step.inputs[:2]:
        places = np.ndindex(given[name].shape) if given[name].size <= MOST_TRIED else ()
        for place in places:
            yield from _of_one_entry(known, step, written, name, place)


def _of_one_entry(
    known: Known, step: Step, written: WrittenMatrix, name: str, place: Place
) -> Iterator[Found]:
    """Yield what an entry was taken for, if that gives all that is written."""
    given = known.key.problem.given
    own = float(given[name][place])

    def made_with(value: float) -> Matrix:
        matrix = given[name].copy()
        matrix[place] = value
        inputs = (matrix if each == name else given[each] for each in step.inputs)
        return step.operation.apply(*inputs)

    right = made_with(own)
    effect = made_with(own + 1) - right
    size = float((effect**2).sum())
    if not size:
        return
    change = float(((written.values - right) * effect).sum()) / size
    value = round(own + change, _decimals_of(given[name]))
    made = made_with(value)
    near = known.slack.near(written.values, written.decimals, Range.at(made))
    if value != own and near.all():
        unit = 10.0**-known.key.problem.decimals
        seen_in = int((np.abs(made - right) > unit / 2).sum())
        if seen_in > 1:  # of one entry a slip says as much
            yield _taken_for(known, step, name, place, value), seen_in


def _decimals_of(matrix: Matrix) -> int:
    """Return how many decimals the entries of a given matrix have."""
    fits = (d for d in range(MOST_DECIMALS) if (np.abs(matrix - np.round(matrix, d)) < 1e-12).all())
    return next(fits, MOST_DECIMALS)


def _taken_for(known: Known, step: Step, name: str, place: Place, value: float) -> Cause:
    entry = ",".join(str(index + 1) for index in known.key.problem.standing.place(place))
    own = float(known.key.problem.given[name][place])
    says = f"{name}[{entry}] is taken for {value:g} and not {own:g}"
    return Cause(f"miscopied-{name}[{entry}]:{value:g}", says, step.name)


def rows_moved(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Found]:
    """Yield that two rows are exchanged, or that one stands in the place of another, too."""
    right = known.result(step, None)
    if written.values.ndim != 2 or right.low.shape != written.shape:
        return
    sources = [_source(known, written, number, right) for number in range(len(written.values))]
    moved = [number for number, source in enumerate(sources) if source != number]
    if -1 in sources or not moved:
        return
    line, places = known.key.problem.standing.line, [number + 1 for number in moved]
    seen_in = len(moved) * written.shape[-1]
    if sorted(sources) == list(range(len(sources))) and len(moved) == 2:
        says = f"{line}s {places[0]} and {places[1]} are exchanged"
        yield Cause(f"rows-swapped:{places[0]},{places[1]}", says, step.name), seen_in
    elif len(moved) == 1:
        says = f"{line} {sources[moved[0]] + 1} stands in the place of {line} {places[0]}, too"
        yield Cause(f"row-repeated:{places[0]}", says, step.name), seen_in


def _source(known: Known, written: WrittenMatrix, number: int, right: Range) -> int:
    """Return which right row is written as this one, its own first; -1 for none."""
    values, decimals = written.values[[number]], written.decimals[[number]]
    rows = sorted(range(len(right.low)), key=lambda row: row != number)
    near = (
        row
        for row in rows
        if known.slack.near(values, decimals, Range(right.low[[row]], right.high[[row]])).all()
    )
    return next(near, -1)
