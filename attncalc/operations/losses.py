"""What is made small, L, the gradient that it starts with, and a step against a gradient."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.equations.operation import Operation, Shape, Statement, of_all_heads
from attncalc.errors import InputError
from attncalc.numbers.decimals import in_system_of, ln
from attncalc.numbers.types import Matrix, Range
from attncalc.operations.ranges import less

HALF = Fraction(1, 2)


class _OneNumber(Operation):
    """One number of all entries."""

    def shape(self, *shapes: Shape) -> Shape:
        """Return 1 × 1."""
        return (1, 1)

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a product for each entry."""
        return prod(shapes[0]), 0


class Total(_OneNumber):
    """L = Σ O: of this, every entry of the gradient is 1."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add all entries."""
        return _summed(matrices[0])

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return of_all_heads("Total", shapes)


class TotalProduct(_OneNumber):
    """L = Σ dO ⊙ O: of this, dO is the gradient."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply entry by entry, and add."""
        made, dO = matrices
        return _summed(made * dO)

    def factors(self, *factors: int) -> int:
        """Return those of both."""
        return sum(factors)

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return of_all_heads("TotalProduct", shapes)


class HalfSquares(_OneNumber):
    """L = ½ Σ (O - T)²: half the sum of the squares of what is missed."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add the squares, and halve."""
        made, T = matrices
        missed = made - T
        half: Matrix = _summed(missed * missed) * in_system_of(missed, HALF)
        return half

    def reach(self, *ranges: Range) -> Range:
        """Return half the sums of the least and of the largest squares."""
        missed = less(*ranges)
        ends = [end * end for end in missed]
        crosses = (missed.low <= 0) & (missed.high >= 0)
        low = np.where(crosses, 0.0, np.minimum(*ends))
        return Range(*(_summed(end) / 2 for end in (low, np.maximum(*ends))))

    def factors(self, *factors: int) -> int:
        """Return twice as many, and the half."""
        return 2 * max(factors) + 1

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return of_all_heads("HalfSquares", shapes)


@dataclass(frozen=True, eq=False, repr=False)
class CrossEntropy(_OneNumber):
    """L = -Σ log prob[t]: of each row of probabilities, that of what should have come.

    Parameters
    ----------
    ids
        Which it is in each row, from 0.
    """

    ids: tuple[int, ...]

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add the logarithms."""
        (prob,) = matrices
        found = prob[..., np.arange(len(self.ids)), list(self.ids)]
        if (found == 0).any():
            row = int(np.argwhere(found == 0)[0][-1])
            raise InputError(
                f"L: the probability of target {self.ids[row]} in row {row + 1} is 0 (as it is "
                "carried), and 0 has no logarithm: give smaller weights, or more decimals"
            )
        total: Matrix = -ln(found).sum(axis=-1, keepdims=True)
        return total[..., np.newaxis]

    def reach(self, *ranges: Range) -> Range:
        """Return the sums of the ends: a larger probability makes L smaller."""
        ends = (np.clip(end, 1e-300, None) for end in ranges[0])
        low, high = map(self.apply, ends)
        return Range(high, low)

    def factors(self, *factors: int) -> int:
        """Return 1: a logarithm is a number of its own."""
        return 1

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a logarithm for each row."""
        return len(self.ids), 3 * len(self.ids)

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement("CrossEntropy", tables={"ids": np.array([self.ids])})


class Ones(Operation):
    """1 for every entry: the gradient of the sum of all entries."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return as many."""
        (made,) = matrices
        return np.full(made.shape, in_system_of(made, Fraction(1)), made.dtype)

    def factors(self, *factors: int) -> int:
        """Return 1."""
        return 1

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return of_all_heads("Ones", shapes)


class Difference(Operation):
    """O - T: the gradient of half the sum of squares."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Take one off the other."""
        made, T = matrices
        difference: Matrix = made - T
        return difference

    def reach(self, *ranges: Range) -> Range:
        """Return the differences of the ends."""
        return less(*ranges)


@dataclass(frozen=True, eq=False, repr=False)
class LessOneHot(Operation):
    """prob - onehot: the gradient of the cross-entropy, through the softmax, in the logits.

    Parameters
    ----------
    ids
        Where the 1 stands in each row, from 0.
    """

    ids: tuple[int, ...]

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Take 1 off in each row."""
        gradient = matrices[0].copy()
        gradient[..., np.arange(len(self.ids)), list(self.ids)] -= in_system_of(
            gradient, Fraction(1)
        )
        return gradient

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement("LessOneHot", tables={"ids": np.array([self.ids])})


@dataclass(frozen=True, eq=False, repr=False)
class Descend(Operation):
    """W - η dW: a step against the gradient. Robbins and Monro (1951).

    Parameters
    ----------
    rate
        η.
    is_turned
        Whether W is transposed first, for weights that are stored (out, in).
    of_heads
        Whether W has a row for each head, each a matrix, and dW has them below one another.
    """

    rate: Fraction
    is_turned: bool = False
    of_heads: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Take the step."""
        W, dW = matrices
        if self.of_heads and W.ndim > 2:
            # of a family of problems every matrix keeps an axis for heads, here of one
            W = W.swapaxes(-2, -3) if W.ndim > 3 else W[..., 0, :]
        stored = W.swapaxes(-1, -2) if self.is_turned else W
        stepped: Matrix = stored - in_system_of(dW, self.rate) * dW
        return stepped

    def reach(self, *ranges: Range) -> Range:
        """Return the differences of the ends: the rate is above 0."""
        W, dW = ranges
        return Range(self.apply(W.low, dW.high), self.apply(W.high, dW.low))

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the gradient."""
        return shapes[1]

    def factors(self, *factors: int) -> int:
        """Return those of the gradient, and the rate."""
        return max(factors[0], factors[1] + 1)

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        apart = self.of_heads and len(shapes[0]) > 2
        return super().statement(*shapes).with_flags(turned=self.is_turned, heads=apart)


def _summed(matrix: Matrix) -> Matrix:
    """Return the sum of all entries of each problem, 1 × 1."""
    is_family = matrix.ndim > 3
    total = matrix.sum(axis=tuple(range(1 if is_family else 0, matrix.ndim)))
    if is_family:
        return np.asarray(total)[:, np.newaxis, np.newaxis, np.newaxis]
    return np.full((1, 1), total, matrix.dtype)
