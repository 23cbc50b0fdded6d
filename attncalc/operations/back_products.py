"""What goes back through products of matrices: Aᵀ dO, dQ Wᵀ, and sums over what was repeated."""

from dataclasses import dataclass
from math import prod

import numpy as np

from attncalc.equations.expressions import (
    Expression,
    Product,
    Transposed,
)
from attncalc.equations.operation import PLAIN, Operation, Shape, Statement
from attncalc.numbers.types import Matrix

OVER_HEADS = "Σ_heads"
"""What sums are called: over heads that share a matrix, and over rows."""


@dataclass(frozen=True, eq=False, repr=False)
class _OfHeads(Operation):
    """A product for each head, those of heads that share a matrix added.

    Parameters
    ----------
    heads
        How many heads the result has; None where it has none.
    sharing
        How many heads share one of the result.
    """

    heads: int | None = None
    sharing: int = 1

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the products of all heads."""
        *heads, rows, columns = self._each(*shapes)
        return prod((*heads, rows, columns)) * self._length(*shapes), 0

    def factors(self, *factors: int) -> int:
        """Return those of both."""
        return sum(factors)

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of one product, for each head of the result."""
        own = self._each(*shapes)[-2:]
        return own if self.heads is None else (self.heads, *own)

    def _each(self, *shapes: Shape) -> Shape:
        """Return the shape of the products before any are added."""
        raise NotImplementedError

    def _length(self, *shapes: Shape) -> int:
        """Return how many products of entries each entry adds, in one head."""
        raise NotImplementedError

    def _gathered(self, product: Matrix) -> Matrix:
        """Add the products of the heads that share one of the result."""
        return gathered(product, self.heads)

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation: of one head, with heads added up, or with groups of them."""
        count = max((shape[0] for shape in shapes if len(shape) == 3), default=self.sharing)
        if self.heads is None:
            adds = len(max(shapes, key=len)) == 3 or self.sharing > 1
            settings = {"sharing": max(count, self.sharing)}
            return Statement(type(self).__name__, settings=settings).with_flags(heads=adds)
        sharing = max(1, count // self.heads) if PLAIN not in shapes else self.sharing
        made = Statement(type(self).__name__, settings={"sharing": sharing})
        return made.with_flags(grouped=sharing > 1)


@dataclass(frozen=True, eq=False, repr=False)
class TransposedTimes(_OfHeads):
    """Aᵀ B: (n, p) and (n, q) give (p, q), as dV = Aᵀ dO, dK = dSᵀ Q, dW = Xᵀ dQ.

    Parameters
    ----------
    is_turned
        Whether it is Bᵀ A instead, for weights that are stored (out, in).
    """

    is_turned: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply, and add those of heads that share."""
        left, right = reversed(matrices) if self.is_turned else matrices
        return self._gathered(left.swapaxes(-1, -2) @ right)

    def _each(self, *shapes: Shape) -> Shape:
        left, right = reversed(shapes) if self.is_turned else shapes
        return (*np.broadcast_shapes(left[:-2], right[:-2]), left[-1], right[-1])

    def _length(self, *shapes: Shape) -> int:
        return shapes[0][-2]

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return super().statement(*shapes).with_flags(turned=self.is_turned)


@dataclass(frozen=True, eq=False, repr=False)
class TimesTransposed(_OfHeads):
    """A Bᵀ: (n, q) and (p, q) give (n, p), as dX = dQ W_Qᵀ."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply, and add those of heads that share."""
        left, right = matrices
        return self._gathered(left @ right.swapaxes(-1, -2))

    def _each(self, *shapes: Shape) -> Shape:
        left, right = shapes
        return (*np.broadcast_shapes(left[:-2], right[:-2]), left[-2], right[-2])

    def _length(self, *shapes: Shape) -> int:
        return shapes[0][-1]


@dataclass(frozen=True, eq=False, repr=False)
class SumTo(Operation):
    """The sum over the rows, or the heads, that a matrix was repeated for: db = colsum(dQ).

    Parameters
    ----------
    to
        The shape of that matrix.
    over_heads
        Whether heads share it: then theirs are added, too.
    """

    to: Shape
    over_heads: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add the rows, and the heads."""
        (total,) = matrices
        if self.to[-2] == 1:
            total = total.sum(axis=-2, keepdims=True)
        if total.ndim > 2 and (len(self.to) == 2 or self.to[0] == 1):
            keeps = total.ndim > 3 or len(self.to) == 3
            total = total.sum(axis=-3, keepdims=keeps)
        return total

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the matrix."""
        return self.to

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the entries that are added."""
        return prod(shapes[0]), 0

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        found = Statement("SumTo").summing(shapes, self.to)
        if not self.over_heads:
            return found
        if len(self.to) > 2:  # only the notation is asked for
            return found._replace(settings={"sharing": 1, **found.settings}).with_flags(
                grouped=True
            )
        return found._replace(given=found.given - {"one"} | {"heads"})


def gathered(product: Matrix, heads: int | None) -> Matrix:
    """Add the matrices of heads that share one: (h, p, q) gives (heads, p, q), or (p, q)."""
    if product.ndim == 2:
        return product
    if heads is None:
        # of a family of problems every matrix keeps an axis for heads, here of one
        total: Matrix = product.sum(axis=-3, keepdims=product.ndim > 3)
        return total
    *family, count, rows, columns = product.shape
    if count == heads:
        return product
    parted = product.reshape(*family, heads, count // heads, rows, columns)
    added_up: Matrix = parted.sum(axis=-3)
    return added_up


def heads_in(shape: Shape) -> int | None:
    """Return how many heads a matrix of this shape has; None for one without."""
    return shape[0] if len(shape) > 2 else None


def is_shared(own: Shape, other: Shape) -> bool:
    """Say whether a matrix of one shape serves several heads of another's."""
    return (heads_in(other) or 1) > (heads_in(own) or 1)


def ordered(left: Expression, right: Expression, sign: str = "·") -> Expression:
    """Return a product whose order the layout decides: of matrices, or of their entries."""
    return Product((left, right), sign, is_ordered=True)


def transposed(expression: Expression) -> Expression:
    """Return a matrix transposed; one that is transposed already stands as it is."""
    return expression.matrix if isinstance(expression, Transposed) else Transposed(expression)
