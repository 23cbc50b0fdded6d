"""What is made small, L, the gradient that it starts with, and a step against a gradient."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.decimals import in_system_of, ln
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.base import Operand, Operation, Shape
from attncalc.operations.expressions import (
    ENTRYWISE,
    Call,
    Explanation,
    Expression,
    Negative,
    Power,
    Product,
    Quotient,
    Sum,
    Symbol,
    Transposed,
    added,
    explained,
    given,
    whole,
)
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

    def formula(self, *operands: Expression) -> Expression:
        """Return sum(O)."""
        return Call("sum", operands[0])

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum."""
        (made,) = operands
        return explained(added(*(made.quote(each) for each in np.ndindex(made.matrix.shape))))


class TotalProduct(_OneNumber):
    """L = Σ dO ⊙ O: of this, dO is the gradient."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply entry by entry, and add."""
        made, dO = matrices
        return _summed(made * dO)

    def factors(self, *factors: int) -> int:
        """Return those of both."""
        return sum(factors)

    def formula(self, *operands: Expression) -> Expression:
        """Return sum(dO ⊙ O)."""
        made, dO = operands
        return Call("sum", Product((dO, made), ENTRYWISE))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the products."""
        made, dO = operands
        places = list(np.ndindex(made.matrix.shape))
        return explained(added(*(Product((dO.quote(each), made.quote(each))) for each in places)))


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

    def formula(self, *operands: Expression) -> Expression:
        """Return 1/2 sum((O - target)²)."""
        made, T = operands
        square = Power(Sum((made, Negative(T))), whole(2))
        return Quotient(Call("sum", square), whole(2))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the squares, over 2."""
        made, T = operands
        squares = (
            Power(Sum((made.quote(each), Negative(T.quote(each)))), whole(2))
            for each in np.ndindex(made.matrix.shape)
        )
        return explained(Quotient(added(*squares), whole(2)))


@dataclass(frozen=True, eq=False, repr=False)
class CrossEntropy(_OneNumber):
    """L = -Σ log prob[t]: of each row of probabilities, that of what should have come.

    Parameters
    ----------
    ids
        Which it is in each row, from 0.
    """

    ids: tuple[int, ...]

    @property
    def is_rational(self) -> bool:
        """Never: a logarithm is not."""
        return False

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

    def formula(self, *operands: Expression) -> Expression:
        """Return -sum(log of target(prob))."""
        return Negative(Call("sum", Call("log of target", operands[0])))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the logarithms."""
        (prob,) = operands
        places = list(enumerate(self.ids))
        written = (prob.write(prob.matrix[place], prob.at(*place).exact) for place in places)
        return Explanation((Sum(tuple(Negative(Call("log", each)) for each in written)),))


class Ones(Operation):
    """1 for every entry: the gradient of the sum of all entries."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return as many."""
        (made,) = matrices
        return np.full(made.shape, in_system_of(made, Fraction(1)), made.dtype)

    def factors(self, *factors: int) -> int:
        """Return 1."""
        return 1

    def formula(self, *operands: Expression) -> Expression:
        """Return 1."""
        return whole(1)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Return 1."""
        return explained(whole(1))


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

    def formula(self, *operands: Expression) -> Expression:
        """Return O - target."""
        made, T = operands
        return Sum((made, Negative(T)))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the difference."""
        made, T = operands
        return explained(Sum((made.at(*place), Negative(T.at(*place)))))


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

    def formula(self, *operands: Expression) -> Expression:
        """Return prob - onehot(target_ids)."""
        return Sum((operands[0], Negative(Call("onehot", Symbol("target_ids")))))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the probability, and the 1 or 0 that is taken off."""
        is_target = self.ids[place[-2]] == place[-1]
        return explained(Sum((operands[0].at(*place), Negative(whole(int(is_target))))))


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

    def formula(self, *operands: Expression) -> Expression:
        """Return W_Q - 0.1 dW_Q."""
        W, dW = operands
        stored = W.matrix if self.is_turned and isinstance(W, Transposed) else W
        return Sum((stored, Negative(Product((given(self.rate), dW), ""))))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the step."""
        W, dW = operands
        *head, i, j = place
        if self.is_turned:
            i, j = j, i
        own = W.at(i, 0, j) if self.of_heads else W.at(*head, i, j)
        return explained(Sum((own, Negative(Product((dW.own(self.rate), dW.at(*place)))))))


def _summed(matrix: Matrix) -> Matrix:
    """Return the sum of all entries of each problem, 1 × 1."""
    is_family = matrix.ndim > 3
    total = matrix.sum(axis=tuple(range(1 if is_family else 0, matrix.ndim)))
    if is_family:
        return np.asarray(total)[:, np.newaxis, np.newaxis, np.newaxis]
    return np.full((1, 1), total, matrix.dtype)
