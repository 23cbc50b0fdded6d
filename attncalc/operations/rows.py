"""Rows taken out of a matrix: the first, the last, those that ids name; or averaged."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from attncalc.equations.operation import Operation, Shape, Statement
from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix


@dataclass(frozen=True, eq=False, repr=False)
class TakeRow(Operation):
    """One row of a matrix: (n, d) gives (1, d).

    Parameters
    ----------
    which
        "first" or "last".
    """

    which: str

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return the row."""
        (X,) = matrices
        return X[..., :1, :] if self.which == "first" else X[..., -1:, :]

    def shape(self, *shapes: Shape) -> Shape:
        """Return one row."""
        return (*shapes[0][:-2], 1, shapes[0][-1])

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(f"Take{self.which.title()}")


class TokenMean(Operation):
    """The mean of all rows: (n, d) gives (1, d)."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Average the rows."""
        (X,) = matrices
        count = in_system_of(X, Fraction(X.shape[-2]))
        mean: Matrix = X.sum(axis=-2, keepdims=True) / count
        return mean

    def shape(self, *shapes: Shape) -> Shape:
        """Return one row."""
        return (*shapes[0][:-2], 1, shapes[0][-1])


@dataclass(frozen=True, eq=False, repr=False)
class Lookup(Operation):
    """The rows of a table that ids name: ids (1, n) and a table (v, d) give (n, d).

    Parameters
    ----------
    first
        The id of the table's first row.
    """

    first: int = 0

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Take the rows."""
        ids, table = matrices
        rows = ids.astype(np.intp).swapaxes(-1, -2) - self.first
        return np.take_along_axis(table, rows, axis=-2)

    def shape(self, *shapes: Shape) -> Shape:
        """Return a row for each id."""
        ids, table = shapes
        return ids[-1], table[-1]
