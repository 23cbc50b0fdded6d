"""What is watched of a family, (problems, heads, rows, columns): entries, measures of rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix, Place

Matrices = Mapping[str, Matrix]
Measure = Callable[[Matrices], Matrix]
"""Returns what is watched of each problem of a family, (problems,)."""


@dataclass(frozen=True, eq=False)
class Watched:
    """Something that is watched.

    name: what it is called: "A[1,1]", "norm(O[1,:])".
    measure: what computes it.
    step, place: of an entry, the step, and its place in the plan's matrix; "" for a measure.
    is_weight: whether it lies between 0 and 1, as a weight does.
    is_masked: whether it may be -∞, as a masked score is.
    """

    name: str
    measure: Measure
    step: str = ""
    place: Place = ()
    is_weight: bool = False
    is_masked: bool = False


COMPARISONS: Mapping[str, Any] = {
    **{"<=": np.less_equal, ">=": np.greater_equal, "<": np.less, ">": np.greater},
    **{"≤": np.less_equal, "≥": np.greater_equal},
}


class Condition(NamedTuple):
    """A comparison of two quantities: as it was typed, the key of COMPARISONS, and the sides."""

    text: str
    sign: str
    sides: tuple[Watched, Watched]

    def holds(self, family: Matrices, count: int) -> Matrix:
        """Return which problems meet it, (problems,)."""
        return np.asarray(COMPARISONS[self.sign](*watched_values(self.sides, family, count).T))


def entry_of(step: str, place: Place) -> Measure:
    """Return the measure of one entry, at a place of the plan's matrix."""
    *head, row, column = place

    def measure(family: Matrices) -> Matrix:
        return np.asarray(family[step][:, head[0] if head else 0, row, column])

    return measure


def row_of(step: str, head: int, row: int, of: Callable[[Matrix], Matrix]) -> Measure:
    """Return a measure of one row of a step: `of` takes (problems, columns)."""
    return lambda family: of(family[step][:, head, row, :])


def distance_of(step: str, head: int, row: int, target: Callable[[Matrices], Matrix]) -> Measure:
    """Return how far, by the Euclidean norm, a row of a step is from a target."""
    return lambda family: distance(family[step][:, head, row, :], target(family))


def mean_of_rows(name: str, rows: tuple[int, ...], head: int) -> Callable[[Matrices], Matrix]:
    """Return what gives the mean of some rows of a matrix, (problems, columns)."""

    def mean(family: Matrices) -> Matrix:
        small, power = scaled(family[name][:, head, list(rows), :], 1)
        return np.asarray(np.ldexp(small.mean(axis=1), power[:, 0]))

    return mean


def entropy(weights: Matrix) -> Matrix:
    """Return the entropy of rows of weights in nats, -Σ a ln a; a weight of 0 adds nothing.

    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).round(6).tolist()
    [0.693147, 0.0]
    """
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return np.asarray(-(weights * logs).sum(axis=-1) + 0.0)


def effective_inputs(weights: Matrix) -> Matrix:
    """Return e to the entropy of rows of weights: among how many inputs they are spread.

    >>> effective_inputs(np.array([[0.5, 0.5, 0.0]])).round(6).tolist()
    [2.0]
    """
    return np.asarray(np.exp(entropy(weights)))


def largest(rows: Matrix) -> Matrix:
    """Return the largest entry of each row."""
    return np.asarray(rows.max(axis=-1))


def norm(rows: Matrix) -> Matrix:
    """Return the Euclidean norm of each row; the squares neither overflow nor underflow.

    >>> norm(np.array([[3e307, 4e307], [3e-200, 4e-200]])).tolist()
    [5e+307, 5e-200]
    """
    small, power = scaled(rows, -1)
    return np.asarray(np.ldexp(np.sqrt((small * small).sum(axis=-1)), power[..., 0]))


@np.errstate(over="ignore")
def distance(rows: Matrix, others: Matrix) -> Matrix:
    """Return the Euclidean norm of each row less another; ∞ where that is beyond floats."""
    return norm(rows - others)


def scaled(values: Matrix, axis: int | None) -> tuple[Matrix, Matrix]:
    """Return values over a power of two, 1 in size at most along an axis, and the exponent.

    What is computed from these is exact up to `np.ldexp(result, exponent)`, and sums and squares
    do not overflow on the way.
    """
    power = np.frexp(np.abs(values).max(axis=axis, keepdims=True, initial=0.0))[1]
    return np.ldexp(values, -power), power


def watched_values(watched: tuple[Watched, ...], family: Matrices, count: int) -> Matrix:
    """Return what is watched, (problems, watched)."""
    columns = [np.broadcast_to(each.measure(family), (count,)) for each in watched]
    for each, column in zip(watched, columns, strict=True):
        if not (np.isfinite(column) | (np.isneginf(column) & each.is_masked)).all():
            raise beyond_floats(each.name)
    return np.stack(columns, axis=-1) if columns else np.empty((count, 0))


def beyond_floats(name: str) -> InputError:
    """Return the error for something that overflows in a study."""
    return InputError(
        f"{name} exceeds the largest float64 (about 1.8e+308) at some of these values: use a "
        "smaller range"
    )
