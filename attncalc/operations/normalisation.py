"""Each token normalised over its features: its mean, its variance, and what is made of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.base import GRADIENT, Operand, Operation, Shape, Way
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
    added,
    explained,
    whole,
)
from attncalc.operations.norms import Normalising

_D, _EPS = Symbol("d"), Symbol("ε")


class _OfFeatures(Operation):
    """One number for each token, from all of its features."""

    def shape(self, *shapes: Shape) -> Shape:
        """Return one column."""
        return (*shapes[0][:-1], 1)

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return as much work as there are features of tokens."""
        return 2 * prod(shapes[0]), 0


class FeatureMean(_OfFeatures):
    """The mean of the features of each token: (n, d) gives (n, 1)."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Average each row."""
        (X,) = matrices
        return _averaged(X, X.shape[-1])

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return for each feature its share of the gradient."""
        from attncalc.operations.back_normalisation import MeanBack

        return Way(MeanBack(shapes[0][-1]))

    def formula(self, *operands: Expression) -> Expression:
        """Return mean(R_1)."""
        return Call("mean", operands[0])

    def reach(self, *ranges: Range) -> Range:
        """Return the means of the ends."""
        return ranges[0].map(self.apply)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum of the features, over their number."""
        row = _row(operands[0], place)
        return explained(Quotient(added(*row), whole(len(row))))


@dataclass(frozen=True, eq=False, repr=False)
class FeatureVariance(_OfFeatures):
    """The variance of the features of each token, from these and their mean.

    Parameters
    ----------
    ddof
        What is taken off the number of features before it divides: 0, or 1 of a sample.
    """

    ddof: int = 0

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Average the squares of what each entry differs from the mean of its row."""
        X, mean = matrices
        return _averaged(_squared(X - mean), self._count(X.shape[-1]))

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return dvar ⊙ 2 (X - mu) / d; nothing for mu, about which deviations sum to 0."""
        from attncalc.operations.back_normalisation import VarianceBack

        return Way(VarianceBack(self.ddof), (0, 1, GRADIENT)) if to == 0 else None

    def factors(self, *factors: int) -> int:
        """Return twice as many: each is squared."""
        return 2 * max(factors)

    def formula(self, *operands: Expression) -> Expression:
        """Return mean((R_1 - mu_1)^2), or var of a sample."""
        X, mean = operands
        square = Power(Sum((X, Negative(mean))), whole(2))
        if not self.ddof:
            return Call("mean", square)
        return Quotient(Call("sum", square), Sum((_D, Negative(whole(self.ddof)))))

    def reach(self, *ranges: Range) -> Range:
        """Return the means of the least and of the largest squares."""
        X, mean = ranges
        low, high = _square_of(Range(X.low - mean.high, X.high - mean.low))
        return Range(*(_averaged(end, self._count(end.shape[-1])) for end in (low, high)))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum of the squares, over their number."""
        X, mean = operands
        own = mean.at(*place)
        squares = tuple(Power(Sum((entry, Negative(own))), whole(2)) for entry in _row(X, place))
        return explained(Quotient(added(*squares), whole(self._count(len(squares)))))

    def _count(self, features: int) -> int:
        return features - self.ddof


class FeatureSquares(_OfFeatures):
    """The mean of the squares of the features of each token."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Average the squares of each row."""
        (X,) = matrices
        return _averaged(_squared(X), X.shape[-1])

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return dms ⊙ 2 X / d."""
        from attncalc.operations.back_normalisation import SquaresBack

        return Way(SquaresBack(), (0, GRADIENT))

    def factors(self, *factors: int) -> int:
        """Return twice as many: each is squared."""
        return 2 * factors[0]

    def formula(self, *operands: Expression) -> Expression:
        """Return mean(R_1^2)."""
        return Call("mean", Power(operands[0], whole(2)))

    def reach(self, *ranges: Range) -> Range:
        """Return the means of the least and of the largest squares."""
        low, high = _square_of(ranges[0])
        return Range(*(_averaged(end, end.shape[-1]) for end in (low, high)))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum of the squares, over their number."""
        squares = tuple(Power(entry, whole(2)) for entry in _row(operands[0], place))
        return explained(Quotient(added(*squares), whole(len(squares))))


@dataclass(frozen=True, eq=False, repr=False)
class Normalise(Normalising):
    """Each token less its mean, over the root of its variance, times a gain, plus a bias.

    It reads the tokens, their means (where they are centred), their variances, a gain and a bias
    (where there are any). Ba et al., *Layer Normalization* (2016); Zhang and Sennrich, *Root Mean
    Square Layer Normalization* (2019), where nothing is taken off.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Normalise each row; refuse one that would be divided by 0."""
        X, mean, variance, gain, bias = self.parted(matrices)
        below = self.divisor(variance)
        if (below == 0).any():
            row = int(np.argwhere(below == 0)[0][-2]) + 1
            raise InputError(
                f"all features of {self.of} {row} are {'alike' if self.is_centred else '0'}: there "
                f"is nothing to divide by (give {self.eps_field} above 0)"
            )
        normal: Matrix = (X if mean is None else X - mean) / below
        if gain is not None:
            normal = normal * gain
        return normal if bias is None else normal + bias

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return the way to the tokens, their means, their variances, the gain or the bias."""
        from attncalc.operations.back_normalisation import normalise_back

        return normalise_back(self, to, shapes)

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a few products for each entry."""
        return 4 * prod(shapes[0]), 0

    def factors(self, *factors: int) -> int:
        """Return 1, or 2 with a gain: a normalised entry is a number of its own."""
        return 1 + self.has_gain

    def formula(self, *operands: Expression) -> Expression:
        """Return gamma ⊙ (R_1 - mu_1) / √(var_1 + eps) + beta."""
        X, mean, variance, gain, bias = self.parted(operands)
        normal: Expression = Quotient(_less(X, mean), self.root(variance, _EPS))
        if gain is not None:
            normal = Product((gain, normal), ENTRYWISE)
        return normal if bias is None else Sum((normal, bias))

    def reach(self, *ranges: Range) -> Range:
        """Return the least and the largest quotient at the corners of both numbers, and so on."""
        X, mean, variance, gain, bias = self.parted(ranges)
        above = X if mean is None else Range(X.low - mean.high, X.high - mean.low)
        with np.errstate(divide="ignore", invalid="ignore"):
            below = [self.divisor(np.maximum(end, 0.0)) for end in variance]
            made = _corners([end / each for end in above for each in below])
        if gain is not None:
            made = _corners([end * each for end in made for each in gain])
        return made if bias is None else Range(made.low + bias.low, made.high + bias.high)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the quotient, what stands above and below, the gain and the bias."""
        X, mean, variance, gain, bias = self.parted(operands)
        entry, own = X.at(*place), None if mean is None else mean.at(*place)
        quotient = Quotient(_less(entry, own), self.root(variance.at(*place), X.own(self.eps)))
        value = X.matrix[X.place(*place)]
        if X.matrix.dtype != variance.matrix.dtype and entry.exact is not None:
            value = in_system_of(variance.matrix, entry.exact)  # given tokens are floats
        above = value if mean is None else value - mean.matrix[mean.place(*place)]
        spread = variance.matrix[variance.place(*place)]
        below = self.divisor(np.full(1, spread, variance.matrix.dtype))[0]
        exact = quotient.top.exact
        short = Quotient(X.write(above, exact), X.write(below, quotient.bottom.exact))
        at_end = [each if each is None else each.at(*place) for each in (gain, bias)]
        return explained(*(_with(form, *at_end) for form in (quotient, short)))


def _less(entry: Expression, mean: Expression | None) -> Expression:
    return entry if mean is None else Sum((entry, Negative(mean)))


def _with(normal: Expression, gain: Expression | None, bias: Expression | None) -> Expression:
    if gain is not None:
        normal = Product((gain, normal))
    return normal if bias is None else Sum((normal, bias))


def _averaged(matrix: Matrix, count: int) -> Matrix:
    total: Matrix = matrix.sum(axis=-1, keepdims=True) / in_system_of(matrix, Fraction(count))
    return total


def _squared(matrix: Matrix) -> Matrix:
    square: Matrix = matrix * matrix
    return square


def _square_of(values: Range) -> Range:
    """Return the squares of what may be of either sign."""
    low, high = (_squared(end) for end in values)
    crosses = (values.low <= 0) & (values.high >= 0)
    return Range(np.where(crosses, 0.0, np.minimum(low, high)), np.maximum(low, high))


def _corners(ends: list[Matrix]) -> Range:
    return Range(np.minimum.reduce(ends), np.maximum.reduce(ends))


def _row(operand: Operand, place: Place) -> tuple[Expression, ...]:
    *before, _ = place
    return tuple(operand.at(*before, column) for column in range(operand.matrix.shape[-1]))
