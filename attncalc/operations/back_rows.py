"""What goes back through matrices that were put together, and through rows taken out of them."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.equations.operation import Operation, Shape, Statement
from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Range


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

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return super().statement(*shapes).with_flags(one=self.stop == self.start + 1)


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

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(f"Place{self.which.title()}", settings={"n": self.rows})


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

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement("ShareAmongRows", settings={"n": self.rows})


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

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement("GatherRows", settings={"v": self.rows, "first": self.first})
