"""Mistakes of copying: an entry of a given matrix that was taken for another number."""

from collections.abc import Iterator

import numpy as np

from attncalc.equations.operations import Project
from attncalc.grading.causes import Cause
from attncalc.grading.known import Known
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

MISCOPIED = "miscopied"
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
    # after a step against the gradients, weights are a step themselves
    if not isinstance(step.operation, Project) or not given.keys() >= set(step.inputs):
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
    value = round(own + change, _decimals_of(given[name])) + 0.0  # not -0
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
    entry, own = entry_name(known, name, place), float(known.key.problem.given[name][place])
    says = f"{entry} is taken for {value:g} and not {own:g}"
    return Cause(f"{MISCOPIED}-{entry}:{value:g}", says, step.name)


def entry_name(known: Known, name: str, place: Place) -> str:
    """Return an entry of a matrix as it is called in the problem's layout: S[2,3]."""
    entry = ",".join(str(index + 1) for index in known.key.problem.standing.place(place))
    return f"{name}[{entry}]"
