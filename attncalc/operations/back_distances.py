"""What goes back to the numbers that biases by distance are made of: slopes, and a table."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Place
from attncalc.operations.back_products import heads_in
from attncalc.operations.base import Operand, Operation, Shape
from attncalc.operations.buckets import Buckets
from attncalc.operations.expressions import (
    ENTRYWISE,
    ZERO,
    Call,
    Explanation,
    Expression,
    Negative,
    Product,
    Symbol,
    added,
    explained,
    whole,
)

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

    def formula(self, *operands: Expression) -> Expression:
        """Return -sum(dS ⊙ distance)."""
        both = Product((operands[0], Symbol("distance")), ENTRYWISE)
        return Negative(Call(TOTAL, both))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out each gradient times its distance; those at distance 0 are left out."""
        (gradient,) = operands
        head = place[:-2]
        n, m = gradient.matrix.shape[-2:]
        terms = [
            Negative(Product((gradient.at(*head, i, j), whole(abs(i + self.place - j)))))
            for i in range(n)
            for j in range(m)
            if i + self.place != j
        ]
        return explained(added(*terms) if terms else ZERO)


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

    def formula(self, *operands: Expression) -> Expression:
        """Return sum(dS ⊙ onehot(bucket))."""
        one_hot = Call("onehot", Symbol("bucket"))
        return Call(TOTAL, Product((operands[0], one_hot), ENTRYWISE))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the gradients of the scores in this bucket."""
        (gradient,) = operands
        bucket, number = place
        head = (number,) if gradient.matrix.ndim == 3 else ()
        there = np.argwhere(self._buckets(*gradient.matrix.shape[-2:]) == bucket)
        which = f"bucket {bucket + 1} of {self.buckets.number}"
        if not len(there):
            return explained(ZERO, remark=f"no key stands so far off: {which}")
        terms = [gradient.at(*head, int(i), int(j)) for i, j in there]
        return explained(added(*terms), remark=which)
