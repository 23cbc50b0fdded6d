"""What is watched in a study: entries of steps, and measures of their rows.

Everything is asked of a family: matrices of (problems, heads, rows, columns), tokens as rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from attncalc.numbers.types import Matrix, Place

Matrices = Mapping[str, Matrix]
Measure = Callable[[Matrices], Matrix]
"""Returns what is watched of each problem of a family, (problems,)."""


@dataclass(frozen=True, eq=False)
class Watched:
    """Something that is watched.

    Parameters
    ----------
    name
        What it is called: "A[1,1]", "norm(O[1,:])".
    measure
        What it comes to.
    step, place
        Of an entry, the step, and where it stands in the plan's matrix; "" for a measure.
    is_weight
        Whether it lies between 0 and 1, as a weight does.
    """

    name: str
    measure: Measure
    step: str = ""
    place: Place = ()
    is_weight: bool = False


def entry_of(step: str, place: Place) -> Measure:
    """Return the measure of one entry, at a place of the plan's matrix."""
    *head, row, column = place

    def measure(family: Matrices) -> Matrix:
        found: Matrix = family[step][:, head[0] if head else 0, row, column]
        return found

    return measure


def row_of(step: str, head: int, row: int, of: Callable[[Matrix], Matrix]) -> Measure:
    """Return a measure of one row of a step: `of` takes (problems, columns)."""
    return lambda family: of(family[step][:, head, row, :])


def distance_of(step: str, head: int, row: int, target: Callable[[Matrices], Matrix]) -> Measure:
    """Return how far, by the Euclidean norm, a row of a step is from a target."""

    def measure(family: Matrices) -> Matrix:
        return norm(family[step][:, head, row, :] - target(family))

    return measure


def mean_of_rows(name: str, rows: tuple[int, ...]) -> Callable[[Matrices], Matrix]:
    """Return what gives the mean of some rows of a matrix, (problems, columns)."""
    return lambda family: family[name][:, 0, list(rows), :].mean(axis=1)


def entropy(weights: Matrix) -> Matrix:
    """Return the entropy of rows of weights in nats, -Σ a ln a; a weight of 0 adds nothing.

    Examples
    --------
    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).round(6).tolist()
    [0.693147, 0.0]
    """
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return np.asarray(-(weights * logs).sum(axis=-1) + 0.0)


def effective_inputs(weights: Matrix) -> Matrix:
    """Return e to the entropy of rows of weights: among how many inputs they are spread.

    Examples
    --------
    >>> effective_inputs(np.array([[0.5, 0.5, 0.0]])).round(6).tolist()
    [2.0]
    """
    return np.asarray(np.exp(entropy(weights)))


def largest(rows: Matrix) -> Matrix:
    """Return the largest entry of each row."""
    return np.asarray(rows.max(axis=-1))


def norm(rows: Matrix) -> Matrix:
    """Return the Euclidean norm of each row."""
    return np.asarray(np.sqrt((rows * rows).sum(axis=-1)))


def watched_values(watched: tuple[Watched, ...], family: Matrices, count: int) -> Matrix:
    """Return what is watched, (problems, watched)."""
    columns = [np.broadcast_to(each.measure(family), (count,)) for each in watched]
    return np.stack(columns, axis=-1)
