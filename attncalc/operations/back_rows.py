"""What goes back through matrices that were put together, and through rows taken out of them."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.back_products import ordered, transposed
from attncalc.operations.base import Operand, Operation, Shape
from attncalc.operations.expressions import (
    ZERO,
    Call,
    Explanation,
    Expression,
    Quotient,
    Where,
    added,
    explained,
    whole,
)


@dataclass(frozen=True, eq=False, repr=False)
class SplitHeads(Operation):
    """Heads that stand side by side, parted: (n, h · d_v) gives (h, n, d_v)."""

    heads: int

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Part the columns."""
        (joined,) = matrices
        # of a family of problems every matrix keeps an axis for heads, here of one
        family = joined.shape[:-3]
        n, width = joined.shape[-2:]
        parted: Matrix = joined.reshape(*family, n, self.heads, width // self.heads)
        return parted.swapaxes(-3, -2)

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the heads."""
        n, width = shapes[0]
        return self.heads, n, width // self.heads

    def formula(self, *operands: Expression) -> Expression:
        """Return heads(dC)."""
        return Call("heads", operands[0])

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Name the entry that the head gave."""
        (joined,) = operands
        head, row, column = place
        there = (row, head * (joined.matrix.shape[-1] // self.heads) + column)
        return Explanation((joined.entry(there),), exact=joined.at(*there).exact)


@dataclass(frozen=True, eq=False, repr=False)
class ShareAmongHeads(Operation):
    """The gradient of a mean of heads, an equal share for each: (n, d_v) gives (h, n, d_v)."""

    heads: int

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Divide, and repeat for each head."""
        (mean,) = matrices
        share = mean / in_system_of(mean, Fraction(self.heads))
        family = () if mean.ndim == 2 else mean.shape[:-3]
        return np.broadcast_to(share, (*family, self.heads, *mean.shape[-2:])).copy()

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the heads."""
        return (self.heads, *shapes[0])

    def formula(self, *operands: Expression) -> Expression:
        """Return dC / h."""
        return Quotient(operands[0], whole(self.heads))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the share."""
        return explained(Quotient(operands[0].at(*place[1:]), whole(self.heads)))


@dataclass(frozen=True, eq=False, repr=False)
class TakeRows(Operation):
    """Some rows of a matrix, from `start` (counted from 0) to before `stop`."""

    start: int
    stop: int

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return them."""
        (X,) = matrices
        return X[..., self.start : self.stop, :]

    def shape(self, *shapes: Shape) -> Shape:
        """Return as many rows."""
        *head, _, columns = shapes[0]
        return (*head, self.stop - self.start, columns)

    def formula(self, *operands: Expression) -> Expression:
        """Return "tokens 3 to 4" of dK_all."""
        first, last = self.start + 1, self.stop
        which = f"token {last}" if first == last else f"tokens {first} to {last}"
        return Call(which, operands[0])

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Name the entry."""
        (X,) = operands
        *head, row, column = place
        there = (*head, row + self.start, column)
        return Explanation((X.entry(there),), exact=X.quote(there).exact)


@dataclass(frozen=True, eq=False, repr=False)
class PlaceRow(Operation):
    """A row in its place among others that are 0: (1, d) gives (n, d).

    Parameters
    ----------
    which
        "first" or "last".
    rows
        How many rows there are.
    """

    which: str
    rows: int

    @property
    def _place(self) -> int:
        return 0 if self.which == "first" else self.rows - 1

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Put it there."""
        (row,) = matrices
        shape = (*row.shape[:-2], self.rows, row.shape[-1])
        placed = np.full(shape, in_system_of(row, Fraction(0)), row.dtype)
        placed[..., self._place, :] = row[..., 0, :]
        return placed

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of all rows."""
        *head, _, columns = shapes[0]
        return (*head, self.rows, columns)

    def formula(self, *operands: Expression) -> Expression:
        """Return dY_last where it is the last token, else 0."""
        return Where(operands[0], f"it is the {self.which} token", ZERO)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Name the entry, or say that this token was not read."""
        (row,) = operands
        *head, i, column = place
        if i != self._place:
            return explained(ZERO, remark="this token is not read")
        there = (*head, 0, column)
        return Explanation((row.entry(there),), exact=row.quote(there).exact)


@dataclass(frozen=True, eq=False, repr=False)
class ShareAmongRows(Operation):
    """The gradient of a mean of rows, an equal share for each: (1, d) gives (n, d)."""

    rows: int

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Divide, and repeat for each row."""
        (mean,) = matrices
        share = mean / in_system_of(mean, Fraction(self.rows))
        shape = (*mean.shape[:-2], self.rows, mean.shape[-1])
        return np.broadcast_to(share, shape).copy()

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of all rows."""
        *head, _, columns = shapes[0]
        return (*head, self.rows, columns)

    def formula(self, *operands: Expression) -> Expression:
        """Return dY_mean / n."""
        return Quotient(operands[0], whole(self.rows))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the share."""
        *head, _, column = place
        return explained(Quotient(operands[0].quote((*head, 0, column)), whole(self.rows)))


@dataclass(frozen=True, eq=False, repr=False)
class GatherRows(Operation):
    """The rows of a gradient, each added to that row of a table that its id names.

    Ids (1, n) and a gradient (n, d) give (v, d): what a table has that tokens are looked up in.

    Parameters
    ----------
    rows
        How many the table has.
    first
        The id of its first row.
    """

    rows: int
    first: int = 0

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add the rows of each id; 0 for an id that no token has."""
        ids, gradient = matrices
        shape = (*gradient.shape[:-2], self.rows, gradient.shape[-1])
        gathered = np.full(shape, in_system_of(gradient, Fraction(0)), gradient.dtype)
        for row in range(gradient.shape[-2]):
            # of a family of problems each may have other ids
            named = ids[..., 0, row].astype(np.intp) - self.first
            at = named[..., np.newaxis, np.newaxis]
            kept = np.take_along_axis(gathered, at, axis=-2) + gradient[..., row : row + 1, :]
            np.put_along_axis(gathered, at, kept, axis=-2)
        return gathered

    def reach(self, *ranges: Range) -> Range:
        """Return the sums of the ends: ids are as they are given."""
        ids, gradient = ranges
        return gradient.map(lambda end: self.apply(ids.low, end))

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the table."""
        return self.rows, shapes[1][-1]

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the entries that are added."""
        return prod(shapes[1]), 0

    def factors(self, *factors: int) -> int:
        """Return those of the gradient."""
        return factors[1]

    def formula(self, *operands: Expression) -> Expression:
        """Return onehot(ids)ᵀ dX: what gathering rows is as a product."""
        ids, gradient = operands
        return ordered(transposed(Call("onehot", ids)), gradient, sign="")

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the entries of the tokens that have the id of this row."""
        ids, gradient = operands
        *_, row, column = place
        token = row + self.first
        named = [each for each, found in enumerate(ids.matrix[0]) if int(found) == token]
        if not named:
            return explained(ZERO, remark=f"no token has id {token}")
        remark = f"id {token} is that of row {row + 1}"
        if len(named) == 1:
            there = (named[0], column)
            return Explanation((gradient.entry(there),), remark, gradient.quote(there).exact)
        return explained(added(*(gradient.quote((each, column)) for each in named)), remark=remark)
