"""Matrices put together and rows taken out of them, heads joined, an image cut into patches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from attncalc.base.types import Matrix
from attncalc.equations.operation import GRADIENT, Operation, Shape, Stated, Statement, Way


class Add(Operation):
    """The sum of two matrices or more, or of a matrix and a row."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add them."""
        return reduce(add, matrices)

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return the gradient as it is; of a row, its sum over the rows that it was added to."""
        whole = np.broadcast_shapes(*shapes)
        if shapes[to] == whole:
            return Way(Same(), (GRADIENT,))
        return Way(Stated(Statement("SumTo").summing([whole], shapes[to])), (GRADIENT,))


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

    first: the id of the table's first row.
    """

    first: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Patches(Operation):
    """The patches of an image, flattened: (H, W) or (channels, H, W) gives (patches, numbers).

    Dosovitskiy et al., *An Image is Worth 16x16 Words* (2021), section 3.1.

    size: the rows and the columns of a patch.
    order: what changes least often within a patch, and what more often: by default channel, row,
        column, as the weights of a convolution are flattened.
    down_first: whether patches are counted down the image first, and not in reading order.
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
