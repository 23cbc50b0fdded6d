"""What goes back through the weights to the scores: softmax, sum, softcap, mask."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.equations.expressions import (
    Explanation,
    Expression,
    Negative,
    Operand,
    Power,
    Quotient,
    Sum,
    whole,
)
from attncalc.equations.operation import Operation, Shape, Statement
from attncalc.numbers.decimals import in_system_of, infinity_of
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.scaling import Masking
from attncalc.operations.ranges import hull, less, negative, over, times, total


class _OfWeights(Operation):
    """What reads the weights, (n, m), and their gradient: each weight is multiplied twice."""

    def factors(self, *factors: int) -> int:
        """Return those of the weight twice, and of the gradient."""
        return 2 * factors[0] + factors[1]

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return two products for each entry."""
        return 2 * prod(shapes[0]), 0


class SoftmaxBack(_OfWeights):
    """A ⊙ (dA - rowsum(A ⊙ dA)): the softmax's Jacobian of each row, diag(a) - a aᵀ, times dA.

    Bridle, *Probabilistic Interpretation of Feedforward Classification Network Outputs* (1990).
    It reads the weights, (n, m), and their gradient, and gives that of the scores.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Take the mean of the gradient, by the weights, off each of its rows; then weigh."""
        A, dA = matrices
        scores: Matrix = A * dA
        mean = scores.sum(axis=-1, keepdims=True)
        # in the room of the products, which nobody reads again
        np.subtract(dA, mean, out=scores)
        scores *= A
        return scores

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the entry; it counts as rational only where its own weight does."""
        made = super().explain(place, *operands)
        return made if operands[0].at(*place).exact is not None else made._replace(exact=None)

    def reach(self, *ranges: Range) -> Range:
        """Return the least and the largest product at the corners of the weight and the rest.

        A weight is from 0 to 1, and a mean by the weights lies among what it is of.
        """
        A, dA = ranges
        weights = Range(np.clip(A.low, 0.0, 1.0), np.clip(A.high, 0.0, 1.0))
        return times(weights, less(dA, total(times(weights, dA), axis=-1)))


@dataclass(frozen=True, eq=False, repr=False)
class SinkBack(_OfWeights):
    """-Σ (1 - rowsum(A)) rowsum(A ⊙ dA): what reaches the sink of a head, from all of its rows.

    A sink is one more score of each row, whose weight, what the others leave of 1, goes to no key.
    It reads the weights, (heads, n, m), and their gradient, and gives (heads, 1, 1).

    Parameters
    ----------
    to
        The shape of the sinks.
    """

    to: Shape

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply what is left of 1 by the mean of the gradient, for each row; then add."""
        A, dA = matrices
        left = in_system_of(A, Fraction(1)) - A.sum(axis=-1, keepdims=True)
        means = (A * dA).sum(axis=-1, keepdims=True)
        summed: Matrix = -(left * means).sum(axis=-2, keepdims=True)
        return summed

    def reach(self, *ranges: Range) -> Range:
        """Return the sums of the products at the corners: what is left is from 0 to 1."""
        A, dA = ranges
        weights = Range(np.clip(A.low, 0.0, 1.0), np.clip(A.high, 0.0, 1.0))
        taken = total(weights, axis=-1)
        left = Range(np.clip(1 - taken.high, 0.0, 1.0), np.clip(1 - taken.low, 0.0, 1.0))
        return negative(total(times(left, total(times(weights, dA), axis=-1)), axis=-2))

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the sinks."""
        return self.to


@dataclass(frozen=True, eq=False, repr=False)
class DivideBySumBack(Operation):
    """(dA - rowsum(A ⊙ dA)) / rowsum(S), and 0 where a score is forbidden: it counts as nothing.

    It reads the scores, the weights and their gradient, and gives that of the scores.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Take the mean of the gradient off each of its rows; then divide."""
        S, A, dA = matrices
        one, zero = (in_system_of(dA, Fraction(each)) for each in (1, 0))
        allowed = np.not_equal(S, -infinity_of(S))
        below = np.where(allowed, S, zero).sum(axis=-1, keepdims=True)
        mean = (A * dA).sum(axis=-1, keepdims=True)
        slope: Matrix = (dA - mean) / np.where(allowed.any(axis=-1, keepdims=True), below, one)
        return np.where(allowed, slope, zero)

    def reach(self, *ranges: Range) -> Range:
        """Return the least and the largest quotient of what both sums may be."""
        S, A, dA = ranges
        allowed = np.isfinite(S.low)
        counted = Range(*(np.where(allowed, end, 0.0) for end in S))
        made = over(less(dA, total(times(A, dA), axis=-1)), total(counted, axis=-1))
        return Range(*(np.where(allowed, end, 0.0) for end in made))

    def factors(self, *factors: int) -> int:
        """Return those of the weight and of the gradient: a quotient is a number of its own."""
        return factors[1] + factors[2]

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return two products for each entry."""
        return 2 * prod(shapes[0]), 0


@dataclass(frozen=True, eq=False, repr=False)
class SoftCapBack(Operation):
    """dS ⊙ (1 - (s / c)²) with s the capped score: the slope of a tanh is 1 less its square."""

    cap: Fraction

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply by the slope."""
        capped, gradient = matrices
        share = capped / in_system_of(capped, self.cap)
        slope: Matrix = gradient * (in_system_of(capped, Fraction(1)) - share * share)
        return slope

    def factors(self, *factors: int) -> int:
        """Return those of the capped score twice, and of the gradient."""
        return 2 * factors[0] + factors[1] + 2

    def reach(self, *ranges: Range) -> Range:
        """Return the least and the largest product: a slope is from 0 to 1."""
        capped, gradient = ranges
        shares = [np.clip(end / float(self.cap), -1.0, 1.0) ** 2 for end in capped]
        crosses = (capped.low <= 0) & (capped.high >= 0)
        least = np.where(crosses, 0.0, np.minimum(*shares))
        return hull((1 - share) * g for share in (least, np.maximum(*shares)) for g in gradient)

    def _slope(self, capped: Expression, cap: Expression) -> Expression:
        return Sum((whole(1), Negative(Power(Quotient(capped, cap), whole(2)))))


@dataclass(frozen=True, eq=False, repr=False)
class MaskBack(Operation):
    """The gradient where a query may attend, and 0 where it may not.

    Parameters
    ----------
    mask
        The mask; what it was given follows the gradient among the inputs.
    """

    mask: Masking

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Copy the gradient, and put 0 where it is forbidden."""
        gradient, *given = matrices
        masks = dict(zip(self.mask.masks, given, strict=True))
        let_through = gradient.copy()
        for forbidden in self.mask.forbidden(gradient.shape, masks).values():
            np.copyto(let_through, in_system_of(gradient, Fraction(0)), where=forbidden)
        return let_through

    def reach(self, *ranges: Range) -> Range:
        """Return the ends, likewise: masks are as they are given."""
        gradient, *masks = ranges
        return Range(*(self.apply(end, *(mask.low for mask in masks)) for end in gradient))

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return self.mask.stated("MaskBack")
