"""The inputs that influence each output most and second most, including ties."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from attncalc.base.types import Matrix

TIE = 1e-9
"""Weights this near each other, relative to the larger, share a place."""


@dataclass(frozen=True)
class Connection:
    """The inputs that one output attends to, by index from 0.

    Inputs that tie for the largest weight are all in `most`, and `second` is then empty; inputs
    that tie for the second are all in `second`. A weight of 0 connects nothing.
    """

    output: int
    most: tuple[int, ...]
    second: tuple[int, ...]


def connections(weights: Matrix, visible: Iterable[Matrix]) -> tuple[Connection, ...]:
    """Rank the inputs of each output.

    weights: the attention weights, (n, m).
    visible: where a weight is not zero at the shown decimals, row by row: only such an input can be
        second.

    >>> A = np.array([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4]])
    >>> connections(A, A >= 0.005)
    (Connection(output=0, most=(1,), second=(2,)), Connection(output=1, most=(0, 2), second=()))
    """
    places = tuple(range(weights.shape[1]))  # one object for each place
    return tuple(
        _ranked(output, row, seen, places)
        for output, (row, seen) in enumerate(zip(weights, visible, strict=True))
    )


def count_first_places(weights: Matrix) -> int:
    """Return how many inputs have the largest weight of their row, in all rows together."""
    return sum(len(_sharing_first_place(row)) for row in weights)


def leading(weights: Matrix) -> Matrix:
    """Return which inputs share the first place of their row; none where all weights are 0.

    >>> leading(np.array([[0.4, 0.4, 0.2]])).tolist()
    [[True, True, False]]
    """
    most = weights.max(axis=-1, keepdims=True)
    return np.asarray((weights >= most * (1 - TIE)) & (most > 0))


def count_ties(weights: Matrix) -> int:
    """Return in how many rows several inputs share the largest weight."""
    return int((leading(weights).sum(axis=-1) > 1).sum())


def _ranked(output: int, row: Matrix, visible: Matrix, places: Sequence[int]) -> Connection:
    if row.max() <= 0:
        return Connection(output, (), ())
    most = tuple(places[index] for index in _sharing_first_place(row))
    if len(most) > 1:
        return Connection(output, most, ())
    # a weight shown as 0.00 is never second
    rest = np.where(visible, row, 0.0)
    rest[list(most)] = 0.0
    second = _sharing_first_place(rest)[: None if rest.max() > 0 else 0]
    return Connection(output, most, tuple(places[index] for index in second))


def _sharing_first_place(row: Matrix) -> Matrix:
    return np.flatnonzero(row >= row.max() * (1 - TIE))
