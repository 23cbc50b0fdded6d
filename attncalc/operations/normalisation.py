"""Each token normalised over its features: its mean, its variance, and what is made of them."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.equations.expressions import (
    Symbol,
)
from attncalc.equations.operation import Operation, Shape, Statement
from attncalc.errors import InputError
from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Range
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

    def reach(self, *ranges: Range) -> Range:
        """Return the means of the ends."""
        return ranges[0].map(self.apply)


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

    def factors(self, *factors: int) -> int:
        """Return twice as many: each is squared."""
        return 2 * max(factors)

    def reach(self, *ranges: Range) -> Range:
        """Return the means of the least and of the largest squares."""
        X, mean = ranges
        low, high = _square_of(Range(X.low - mean.high, X.high - mean.low))
        return Range(*(_averaged(end, self._count(end.shape[-1])) for end in (low, high)))

    def _count(self, features: int) -> int:
        return features - self.ddof

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return super().statement(*shapes).with_flags(sample=self.ddof)


class FeatureSquares(_OfFeatures):
    """The mean of the squares of the features of each token."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Average the squares of each row."""
        (X,) = matrices
        return _averaged(_squared(X), X.shape[-1])

    def factors(self, *factors: int) -> int:
        """Return twice as many: each is squared."""
        return 2 * factors[0]

    def reach(self, *ranges: Range) -> Range:
        """Return the means of the least and of the largest squares."""
        low, high = _square_of(ranges[0])
        return Range(*(_averaged(end, end.shape[-1]) for end in (low, high)))


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

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a few products for each entry."""
        return 4 * prod(shapes[0]), 0

    def factors(self, *factors: int) -> int:
        """Return 1, or 2 with a gain: a normalised entry is a number of its own."""
        return 1 + self.has_gain

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

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return self.stated("Normalise")


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
