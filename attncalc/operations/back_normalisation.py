"""What goes back through a normalisation: to the tokens, their means, their variances, the gain.

Each is a step of the chain rule by itself; what reaches the tokens through their means and
variances is added to what reaches them straight. Ioffe and Szegedy, *Batch Normalization* (2015),
section 3, writes the same chain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from attncalc.equations.expressions import (
    Expression,
    Negative,
    Sum,
    Symbol,
)
from attncalc.equations.operation import GRADIENT, Operation, Shape, Statement, Way
from attncalc.errors import InputError
from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Range
from attncalc.operations.back_products import SumTo, is_shared
from attncalc.operations.norms import Normalising
from attncalc.operations.ranges import less as difference
from attncalc.operations.ranges import negative, over, times, total

_D, _EPS = Symbol("d"), Symbol("ε")


@dataclass(frozen=True, eq=False, repr=False)
class MeanBack(Operation):
    """The gradient of a mean over features, an equal share for each: (n, 1) gives (n, d)."""

    features: int

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Divide, and repeat for each feature."""
        (mean,) = matrices
        share = mean / in_system_of(mean, Fraction(self.features))
        return np.broadcast_to(share, (*mean.shape[:-1], self.features)).copy()

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the tokens."""
        return (*shapes[0][:-1], self.features)

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement("MeanBack", settings={"d": self.features})


@dataclass(frozen=True, eq=False, repr=False)
class VarianceBack(Operation):
    """dvar ⊙ 2 (X - mu) / d: the slope of a mean of squares.

    It reads the tokens, their means, and the gradient of their variances.

    Parameters
    ----------
    ddof
        What is taken off the number of features.
    """

    ddof: int = 0

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply by the slope."""
        X, mean, gradient = matrices
        two, count = (in_system_of(X, Fraction(each)) for each in (2, X.shape[-1] - self.ddof))
        slope: Matrix = gradient * (two * (X - mean)) / count
        return slope

    def reach(self, *ranges: Range) -> Range:
        """Return the products of the ends."""
        X, mean, gradient = ranges
        factor = 2.0 / (X.low.shape[-1] - self.ddof)
        return times(gradient, difference(X, mean)).map(lambda end: end * factor)

    def factors(self, *factors: int) -> int:
        """Return those of the token and of the gradient."""
        return max(factors[:2]) + factors[2]

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return super().statement(*shapes).with_flags(sample=self.ddof)


class SquaresBack(Operation):
    """dms ⊙ 2 X / d: the slope of a mean of squares of the tokens themselves."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply by the slope."""
        X, gradient = matrices
        two, count = (in_system_of(X, Fraction(each)) for each in (2, X.shape[-1]))
        slope: Matrix = gradient * (two * X) / count
        return slope

    def factors(self, *factors: int) -> int:
        """Return those of both."""
        return sum(factors)


def normalise_back(normalise: Normalising, to: int, shapes: Sequence[Shape]) -> Way:
    """Return the way back through a normalisation, to the input of this number."""
    tokens, mean, variance, gain, bias = normalise.parted(tuple(range(len(shapes))))
    if to == bias:
        return Way(SumTo(shapes[to], is_shared(shapes[to], shapes[tokens])))
    of_gain = () if gain is None else (gain,)
    if to == gain:
        reads = (tokens, *(() if mean is None else (mean,)), variance, GRADIENT)
        own = shapes[to]
        return Way(GainBack(normalise, SumTo(own, is_shared(own, shapes[tokens]))), reads)
    if to == variance:
        reads = (tokens, *(() if mean is None else (mean,)), variance, *of_gain, GRADIENT)
        return Way(SpreadBack(normalise), reads)
    if to == mean:
        return Way(CentreBack(normalise), (variance, *of_gain, GRADIENT))
    return Way(QuotientBack(normalise), (variance, *of_gain, GRADIENT))


@dataclass(frozen=True, eq=False, repr=False)
class _Back(Operation):
    """One way back through a normalisation.

    Parameters
    ----------
    normalise
        The normalisation.
    """

    normalise: Normalising

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a few products for each entry."""
        return 6 * max(map(prod, shapes)), 0

    def factors(self, *factors: int) -> int:
        """Return those of the gradient and one more: a quotient is a number of its own."""
        return factors[-1] + 1 + self.normalise.has_gain

    def _gained(self, parts: tuple[Any, ...]) -> Any:
        """Return the gain, the last of these but the gradient, where there is one."""
        return parts[-2] if self.normalise.has_gain else None

    def _weighed(self, matrices: tuple[Matrix, ...]) -> Matrix:
        """Return the gradient times the gain."""
        gain = self._gained(matrices)
        return matrices[-1] if gain is None else gain * matrices[-1]

    def _weighed_range(self, ranges: tuple[Range, ...]) -> Range:
        """Return where the gradient times the gain may lie."""
        gain = self._gained(ranges)
        return ranges[-1] if gain is None else times(gain, ranges[-1])

    def _divisors(self, variance: Range) -> Range:
        """Return where what each token is divided by may lie."""
        return variance.map(lambda end: self.normalise.divisor(np.maximum(end, 0.0)))


class QuotientBack(_Back):
    """gamma ⊙ dN / √(var + ε): what reaches the tokens straight."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Divide."""
        quotient: Matrix = self._weighed(matrices) / self.normalise.divisor(matrices[0])
        return quotient

    def reach(self, *ranges: Range) -> Range:
        """Return the quotients of the ends."""
        return over(self._weighed_range(ranges), self._divisors(ranges[0]))

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the gradient."""
        return shapes[-1]

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return self.normalise.stated("QuotientBack")


class CentreBack(_Back):
    """-rowsum(gamma ⊙ dN) / √(var + ε): what reaches the means."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add the rows, and divide."""
        summed = self._weighed(matrices).sum(axis=-1, keepdims=True)
        quotient: Matrix = -summed / self.normalise.divisor(matrices[0])
        return quotient

    def reach(self, *ranges: Range) -> Range:
        """Return the quotients of the ends."""
        summed = total(self._weighed_range(ranges), axis=-1)
        return negative(over(summed, self._divisors(ranges[0])))

    def shape(self, *shapes: Shape) -> Shape:
        """Return one column."""
        return shapes[0]

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return self.normalise.stated("CentreBack")


class SpreadBack(_Back):
    """-rowsum(gamma ⊙ dN ⊙ (X - mu)) / (2 (var + ε)^(3/2)): what reaches the variances."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add the rows, and divide."""
        X, mean, variance = self._tokens(matrices)
        less_mean = X if mean is None else X - mean
        summed = (self._weighed(matrices) * less_mean).sum(axis=-1, keepdims=True)
        below = self._cubed(variance)
        if (below == 0).any():
            row = int(np.argwhere(below == 0)[0][-2]) + 1
            raise InputError(
                f"all features of token {row} are alike: a root has no slope at 0 (give eps "
                "inside the root, above 0)"
            )
        quotient: Matrix = -summed / below
        return quotient

    def reach(self, *ranges: Range) -> Range:
        """Return the quotients of the ends."""
        X, mean, variance = self._tokens(ranges)
        less_mean = X if mean is None else difference(X, mean)
        summed = total(times(self._weighed_range(ranges), less_mean), axis=-1)
        below = variance.map(lambda end: self._cubed(np.maximum(end, 0.0)))
        return negative(over(summed, below))

    def _tokens(self, inputs: tuple[Any, ...]) -> tuple[Any, Any, Any]:
        """Return tokens, means (None where they are not taken off) and variances."""
        if self.normalise.is_centred:
            return inputs[0], inputs[1], inputs[2]
        return inputs[0], None, inputs[1]

    def _cubed(self, variance: Matrix) -> Matrix:
        """Return 2 (var + ε)^(3/2); with ε beside the root, 2 √var (√var + ε)²."""
        below = self.normalise.divisor(variance)
        root = below if self.normalise.is_inside else np.sqrt(variance)
        cubed: Matrix = in_system_of(variance, Fraction(2)) * root * below * below
        return cubed

    def shape(self, *shapes: Shape) -> Shape:
        """Return one column."""
        return (*shapes[0][:-1], 1)

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return self.normalise.stated("SpreadBack")


@dataclass(frozen=True, eq=False, repr=False)
class GainBack(_Back):
    """colsum(dN ⊙ (X - mu) / √(var + ε)): the gradient times the normalised tokens, added.

    Parameters
    ----------
    to
        What adds over the tokens, and over the heads that share the gain.
    """

    to: SumTo

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add over the tokens, and over heads that share the gain."""
        return self.to.apply(matrices[-1] * self._normal(matrices))

    def reach(self, *ranges: Range) -> Range:
        """Return the sums of the ends."""
        X, gradient = ranges[0], ranges[-1]
        above = difference(X, ranges[1]) if self.normalise.is_centred else X
        return times(gradient, over(above, self._divisors(ranges[-2]))).map(self.to.apply)

    def factors(self, *factors: int) -> int:
        """Return those of the gradient and one more: a normalised entry is a number of its own."""
        return factors[-1] + 1

    def _normal(self, matrices: tuple[Matrix, ...]) -> Matrix:
        above = matrices[0] - matrices[1] if self.normalise.is_centred else matrices[0]
        normal: Matrix = above / self.normalise.divisor(matrices[-2])
        return normal

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the gain."""
        return self.to.to

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return self.normalise.stated("GainBack").with_flags(heads=self.to.over_heads)


def less(entry: Expression, mean: Expression | None) -> Expression:
    """Return an entry less its mean, where that is taken off."""
    return entry if mean is None else Sum((entry, Negative(mean)))
