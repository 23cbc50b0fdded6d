"""The problems at many values, solved as few families as can be, and their weights."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.typed import quoted
from attncalc.numbers.types import Matrix
from attncalc.problem.fields import own_name
from attncalc.problem.problem import Problem
from attncalc.studies.changes import Change, Infinity, Value
from attncalc.studies.family import Family, chunks
from attncalc.studies.watched import Matrices

Point = tuple[Value, ...]


def weights_at(
    problem: Problem, change: Change, values: Matrix, weights_name: str
) -> Iterator[Matrix]:
    """Yield the weights of an attention at each of these values, (heads or 1, n, m)."""
    for part in chunks(len(values), Family(problem).chunk):
        points = [(Fraction(float(value)),) for value in values[part]]
        for family, count in families(problem, (change,), points, weights_name):
            weights = family[weights_name]
            yield from np.broadcast_to(weights, (count, *weights.shape[1:]))


def families(
    problem: Problem, changes: tuple[Change, ...], points: Sequence[Point], until: str = ""
) -> Iterator[tuple[Matrices, int]]:
    """Yield the problems at these points, solved: as few families as can be, in order.

    With the name of a step, nothing behind that is worked out.
    """
    if not all(is_batched(change) for change in changes) or any(
        isinstance(value, Infinity) for point in points for value in point
    ):
        for point in points:
            yield Family(at_point(problem, changes, point)).solve({}, until=until), 1
        return
    columns = [np.array([float(value) for value in column]) for column in zip(*points, strict=True)]
    matrices: dict[str, Matrix] = {}
    scales: dict[str, Matrix] = {}
    for change, values in zip(changes, columns, strict=True):
        if change.is_setting:
            scales[change.name] = values
        else:
            before = matrices.get(change.name, problem.stored(change.name)[np.newaxis])
            matrices[change.name] = change.on_each(before, values)
    yield Family(problem).solve(matrices, scales, until), len(points)


def is_batched(change: Change) -> bool:
    """Say whether problems that differ in this alone have one plan."""
    return not change.is_setting or (own_name(change.name) == "scale" and change.is_smooth)


def at_point(problem: Problem, changes: Sequence[Change], point: Point) -> Problem:
    """Return the problem at a point, exactly; what it refuses names the value.

    Raises
    ------
    InputError
        When there is no such problem.
    """
    try:
        pairs = zip(changes, point, strict=True)
        return reduce(lambda changed, pair: pair[0].applied(changed, pair[1]), pairs, problem)
    except InputError as error:
        texts = ", ".join(change.text for change in changes)
        raise InputError(f"{quoted(texts)}: {error}") from None
