"""What goes back to the numbers that biases by distance are made of: slopes, and a table."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.equations.operation import Operation, Shape, Statement
from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix
from attncalc.operations.back_products import heads_in
from attncalc.operations.buckets import Buckets

TOTAL = "sum"
"""The function that adds all entries."""


@dataclass(frozen=True, eq=False, repr=False)
class _OfDistances(Operation):
    """A sum over scores, by how far apart their query and key stand."""

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the entries that are added."""
        return prod(shapes[0]), 0


@dataclass(frozen=True, eq=False, repr=False)
class SlopeBack(_OfDistances):
    """-sum(dS ⊙ distance): what reaches a head's slope, (n, m) gives (1, 1).

    Parameters
    ----------
    place
        How many places after the first key the first query stands.
    to
        The shape of the slopes.
    """

    place: int
    to: Shape

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply by the distances, and add."""
        (gradient,) = matrices
        n, m = gradient.shape[-2:]
        far = np.abs(np.arange(n)[:, np.newaxis] + self.place - np.arange(m))
        of_each = far.astype(gradient.dtype)
        summed: Matrix = -(gradient * of_each).sum(axis=(-2, -1), keepdims=True)
        return summed

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the slopes."""
        return self.to

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement("SlopeBack", settings={"place": self.place})


@dataclass(frozen=True, eq=False, repr=False)
class BucketBack(_OfDistances):
    """The sums of the gradients of each bucket's scores: (heads, n, m) gives (buckets, heads).

    That is how the table is given, and how all libraries keep it.

    Parameters
    ----------
    place
        How many places after the first key the first query stands.
    buckets
        Those of the table.
    """

    place: int
    buckets: Buckets

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add the gradients of each bucket."""
        (gradient,) = matrices
        buckets = self._buckets(*gradient.shape[-2:])
        *family, heads = gradient.shape[:-2] or (1,)
        zero = in_system_of(gradient, Fraction(0))
        summed = np.full((*family, self.buckets.number, heads), zero, gradient.dtype)
        for bucket in np.unique(buckets):
            summed[..., bucket, :] = gradient[..., buckets == bucket].sum(axis=-1)
        # of a family of problems every matrix keeps an axis for heads, here of one
        return summed[:, np.newaxis] if family else summed

    def _buckets(self, n: int, m: int) -> Matrix:
        """Return the bucket of each score."""
        before = np.arange(n)[:, np.newaxis] + self.place - np.arange(m)
        return self.buckets.of(before)

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the table as it is given."""
        return self.buckets.number, heads_in(shapes[0]) or 1

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        made = self.buckets.stated("BucketBack", self.place)
        return made.with_flags(heads=len(shapes[0]) > 2)
