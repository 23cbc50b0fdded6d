"""Matrices put together and rows taken out of them, heads joined, an image cut into patches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from attncalc.equations.expressions import Explanation, Expression, Operand, Sum, explained
from attncalc.equations.library import stated
from attncalc.equations.operation import (
    GRADIENT,
    Operation,
    Shape,
    Stated,
    Statement,
    UnstatedError,
    Way,
)
from attncalc.numbers.types import Matrix, Place, Range


class Add(Operation):
    """The sum of two matrices or more, or of a matrix and a row.

    The library states that of up to eight; of more, it is written here.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add them."""
        return reduce(add, matrices)

    def reach(self, *ranges: Range) -> Range:
        """Return the sums of the ends."""
        return Range(*map(self.apply, *ranges))

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return the gradient as it is; of a row, its sum over the rows that it was added to."""
        whole = np.broadcast_shapes(*shapes)
        if shapes[to] == whole:
            return Way(Same(), (GRADIENT,))
        return Way(Stated(Statement("SumTo").summing([whole], shapes[to])), (GRADIENT,))

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the largest."""
        return np.broadcast_shapes(*shapes)

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the numbers that are added."""
        return (len(shapes) - 1) * int(np.prod(self.shape(*shapes))), 0

    def factors(self, *factors: int) -> int:
        """Return the most of any."""
        return max(factors)

    def statement(self, *shapes: Shape) -> Statement:
        """Return the equation of its name, which has up to eight matrices."""
        if len(shapes) > len(stated()["Add"].inputs):
            raise UnstatedError(f"the sum of {len(shapes)} matrices")
        return super().statement(*shapes)

    def formula(self, *operands: Expression) -> Expression:
        """Return X + P."""
        return Sum(operands)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum of the entries."""
        return explained(Sum(tuple(operand.at(*place) for operand in operands)))


class Concat(Operation):
    """The heads side by side: (h, n, d_v) gives (n, h · d_v)."""


class Mean(Operation):
    """The mean of the heads: (h, n, d_v) gives (n, d_v)."""


class Stack(Operation):
    """The rows of one matrix, and below them those of another: earlier keys, and the new ones."""


class Same(Operation):
    """The matrix under another name."""


class Given(Same):
    """A matrix that is given as a step, under its own name: weights in place of scores."""


@dataclass(frozen=True, eq=False, repr=False)
class TakeRow(Operation):
    """One row of a matrix, the "first" or the "last": (n, d) gives (1, d)."""

    which: str

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(f"Take{self.which.title()}")


class TokenMean(Operation):
    """The mean of all rows: (n, d) gives (1, d)."""


@dataclass(frozen=True, eq=False, repr=False)
class Lookup(Operation):
    """The rows of a table that ids name: ids (1, n) and a table (v, d) give (n, d).

    Parameters
    ----------
    first
        The id of the table's first row.
    """

    first: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Patches(Operation):
    """The patches of an image, flattened: (H, W) or (channels, H, W) gives (patches, numbers).

    Dosovitskiy et al., *An Image is Worth 16x16 Words* (2021), section 3.1.

    Parameters
    ----------
    size
        The rows and the columns of a patch.
    order
        What changes least often within a patch, and what more often: by default channel, row,
        column, as the weights of a convolution are flattened.
    down_first
        Whether patches are counted down the image first, and not in reading order.
    """

    size: tuple[int, int]
    order: tuple[str, ...] = ("channel", "row", "column")
    down_first: bool = False

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        (p, q), (*channels, H, W) = self.size, shapes[0]
        lengths = {"channel": channels[0] if channels else 1, "row": p, "column": q}
        settings, stride = {"p": p, "q": q}, 1
        for axis in reversed(self.order):
            settings[f"of_{axis}"] = stride
            stride *= lengths[axis]
        settings["of_down"] = 1 if self.down_first else W // q
        settings["of_across"] = H // p if self.down_first else 1
        return Statement("Patches", settings=settings).with_flags(channels=channels)
