"""Matrices put together: added, heads joined side by side or averaged, rows stacked."""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import add

import numpy as np

from attncalc.equations.expressions import (
    Explanation,
    Expression,
    Operand,
    Sum,
    explained,
)
from attncalc.equations.library import stated
from attncalc.equations.operation import Operation, Shape, Statement, UnstatedError, Way
from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Place


class Add(Operation):
    """The sum of two matrices or more, or of a matrix and a row."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add them."""
        return reduce(add, matrices)

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return the gradient as it is; of a row, its sum over the rows that it was added to."""
        from attncalc.operations.back_products import SumTo

        whole_shape = np.broadcast_shapes(*shapes)
        return Way(Same() if shapes[to] == whole_shape else SumTo(shapes[to]))

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


class Stack(Operation):
    """The rows of one matrix, and below them those of another: earlier keys, and the new ones."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Put them below one another, in each head, and in each of a family of problems."""
        lead = np.broadcast_shapes(*(each.shape[:-2] for each in matrices))
        each = [np.broadcast_to(each, (*lead, *each.shape[-2:])) for each in matrices]
        return np.concatenate(each, axis=-2)

    def shape(self, *shapes: Shape) -> Shape:
        """Return as many rows as both have."""
        first, second = shapes
        return (*first[:-2], first[-2] + second[-2], first[-1])


class Same(Operation):
    """The matrix under another name."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return it."""
        return matrices[0]


class Given(Same):
    """A matrix that is given as a step, under its own name: weights in place of scores."""
