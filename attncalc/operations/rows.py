"""Rows taken out of a matrix: the first, the last, those that ids name; or averaged."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Place
from attncalc.operations.base import GRADIENT, Operand, Operation, Shape, Way
from attncalc.operations.expressions import (
    Call,
    Explanation,
    Expression,
    Product,
    Quotient,
    added,
    explained,
    whole,
)


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

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return the gradient in its row, and 0 in all others."""
        from attncalc.operations.back_rows import PlaceRow

        return Way(PlaceRow(self.which, shapes[0][-2]))

    def shape(self, *shapes: Shape) -> Shape:
        """Return one row."""
        return (*shapes[0][:-2], 1, shapes[0][-1])

    def formula(self, *operands: Expression) -> Expression:
        """Return first(Y)."""
        return Call(self.which, operands[0])

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Name the entry."""
        (X,) = operands
        *head, _, column = place
        row = 0 if self.which == "first" else X.matrix.shape[-2] - 1
        there = (*head, row, column)
        return Explanation((X.entry(there),), exact=X.at(*there).exact)


class TokenMean(Operation):
    """The mean of all rows: (n, d) gives (1, d)."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Average the rows."""
        (X,) = matrices
        count = in_system_of(X, Fraction(X.shape[-2]))
        mean: Matrix = X.sum(axis=-2, keepdims=True) / count
        return mean

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return for each row its share of the gradient."""
        from attncalc.operations.back_rows import ShareAmongRows

        return Way(ShareAmongRows(shapes[0][-2]))

    def shape(self, *shapes: Shape) -> Shape:
        """Return one row."""
        return (*shapes[0][:-2], 1, shapes[0][-1])

    def formula(self, *operands: Expression) -> Expression:
        """Return mean(Y)."""
        return Call("mean", operands[0])

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum of the tokens' entries, over their number."""
        (X,) = operands
        *head, _, column = place
        rows = range(X.matrix.shape[-2])
        terms = tuple(X.quote((*head, row, column)) for row in rows)
        return explained(Quotient(added(*terms), whole(len(terms))))


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

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return for each row of the table the gradients of the tokens that it was taken for."""
        from attncalc.operations.back_rows import GatherRows

        return Way(GatherRows(shapes[1][-2], self.first), (0, GRADIENT)) if to else None

    def shape(self, *shapes: Shape) -> Shape:
        """Return a row for each id."""
        ids, table = shapes
        return ids[-1], table[-1]

    def formula(self, *operands: Expression) -> Expression:
        """Return onehot(ids) W_E: what taking rows is as a product."""
        ids, table = operands
        return Product((Call("onehot", ids), table), "", is_ordered=True)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Name the entry of the table, and say which of its rows it is in."""
        ids, table = operands
        row, column = place[-2:]
        token = int(ids.matrix[..., 0, row])
        there = (token - self.first, column)
        remark = f"row {there[0] + 1} is that of id {token}"
        return Explanation((table.entry(there),), remark, table.quote(there).exact)
