"""Matrices put together: added, heads joined side by side or averaged, or taken as they are."""

from fractions import Fraction

import numpy as np

from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Place
from attncalc.operations.base import Operand, Operation, Shape
from attncalc.operations.expressions import (
    Call,
    Explanation,
    Expression,
    Quotient,
    Sum,
    explained,
    whole,
)


class Add(Operation):
    """The sum of two matrices, or of a matrix and a row."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add them."""
        left, right = matrices
        total: Matrix = left + right
        return total

    def formula(self, *operands: Expression) -> Expression:
        """Return X + P."""
        return Sum(operands)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum of two entries."""
        return explained(Sum(tuple(operand.at(*place) for operand in operands)))


class Concat(Operation):
    """The heads side by side: (h, n, d_v) gives (n, h · d_v)."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Join the heads; nothing is copied where they already stand side by side in memory."""
        (heads,) = matrices
        *family, count, n, width = heads.shape
        joined = heads.swapaxes(-3, -2).reshape(*family, n, count * width)
        # of a family of problems every matrix keeps an axis for heads, here of one
        return joined[..., np.newaxis, :, :] if family else joined

    def shape(self, *shapes: Shape) -> Shape:
        """Return one matrix, as wide as all heads together."""
        heads, n, width = shapes[0]
        return n, heads * width

    def formula(self, *operands: Expression) -> Expression:
        """Return concat(H)."""
        return Call("concat", operands[0])

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Name the entry of the head that stands here."""
        (heads,) = operands
        head, column = divmod(place[-1], heads.matrix.shape[-1])
        return _same_as(heads, (head, place[0], column))


class Mean(Operation):
    """The mean of the heads: (h, n, d_v) gives (n, d_v)."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Average the heads."""
        (heads,) = matrices
        is_family = heads.ndim > 3
        total = heads.sum(axis=-3, keepdims=is_family)
        mean: Matrix = total / in_system_of(heads, Fraction(heads.shape[-3]))
        return mean

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of one head."""
        return shapes[0][1:]

    def formula(self, *operands: Expression) -> Expression:
        """Return mean(H)."""
        return Call("mean", operands[0])

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum of the heads, over their number."""
        (heads,) = operands
        count = len(heads.matrix)
        terms = tuple(heads.at(head, *place) for head in range(count))
        return explained(Quotient(Sum(terms), whole(count)))


class Same(Operation):
    """The matrix under another name."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return it."""
        return matrices[0]

    def formula(self, *operands: Expression) -> Expression:
        """Return its own name."""
        return operands[0]

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Name the same entry of the other matrix."""
        return _same_as(operands[0], place)


def _same_as(operand: Operand, place: Place) -> Explanation:
    # its name, for the number alone would not say where it comes from
    return Explanation((operand.entry(place),), exact=operand.at(*place).exact)
