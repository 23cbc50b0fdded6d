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

from attncalc.errors import InputError
from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.back_products import SumTo, is_shared
from attncalc.operations.base import GRADIENT, Operand, Operation, Shape, Way
from attncalc.operations.expressions import (
    ENTRYWISE,
    ROW_SUM,
    Call,
    Explanation,
    Expression,
    Negative,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    Symbol,
    added,
    explained,
    whole,
)
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

    def formula(self, *operands: Expression) -> Expression:
        """Return dmu_1 / d."""
        return Quotient(operands[0], _D)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the share."""
        return explained(Quotient(operands[0].at(*place), whole(self.features)))


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

    def formula(self, *operands: Expression) -> Expression:
        """Return dvar_1 ⊙ 2 (R_1 - mu_1) / d."""
        X, mean, gradient = operands
        count = Sum((_D, Negative(whole(self.ddof)))) if self.ddof else _D
        twice = Product((whole(2), Sum((X, Negative(mean)))), "")
        return Quotient(Product((gradient, twice), ENTRYWISE), count)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the product, over the number of features."""
        X, mean, gradient = operands
        count = X.matrix.shape[-1] - self.ddof
        rest = Sum((X.at(*place), Negative(mean.at(*place))))
        return explained(
            Quotient(Product((gradient.at(*place), whole(2), rest)), whole(count)),
        )


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

    def formula(self, *operands: Expression) -> Expression:
        """Return dms_1 ⊙ 2 R_1 / d."""
        X, gradient = operands
        return Quotient(Product((gradient, Product((whole(2), X), "")), ENTRYWISE), _D)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the product, over the number of features."""
        X, gradient = operands
        above = Product((gradient.at(*place), whole(2), X.at(*place)))
        return explained(Quotient(above, whole(X.matrix.shape[-1])))


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

    @property
    def is_rational(self) -> bool:
        """Never: a root is not."""
        return False

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

    def _weighed_in_words(self, gain: Expression | None, gradient: Expression) -> Expression:
        return gradient if gain is None else Product((gain, gradient), ENTRYWISE)

    def _weighed_entry(self, operands: tuple[Operand, ...], place: Place) -> list[Expression]:
        gain = self._gained(operands)
        gained = [] if gain is None else [gain.at(*place)]
        return [*gained, operands[-1].at(*place)]

    def _below(self, variance: Operand, place: Place) -> Expression:
        return self.normalise.root(variance.at(*place), variance.own(self.normalise.eps))

    def _divisor_at(self, variance: Operand, place: Place) -> Any:
        own = variance.matrix[variance.place(*place)]
        return self.normalise.divisor(np.full(1, own, variance.matrix.dtype))[0]


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

    def formula(self, *operands: Expression) -> Expression:
        """Return gamma_1 ⊙ dN_1 / √(var_1 + ε)."""
        above = self._weighed_in_words(self._gained(operands), operands[-1])
        return Quotient(above, self.normalise.root(operands[0], _EPS))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the quotient, and what stands above and below."""
        factors = self._weighed_entry(operands, place)
        above = factors[0] if len(factors) == 1 else Product(tuple(factors))
        weighed = _value(operands, place, gain=self._gained(operands))
        below = self._below(operands[0], place)
        return explained(
            Quotient(above, below),
            Quotient(
                operands[-1].write_sum(weighed, above.exact),
                operands[-1].write_sum(self._divisor_at(operands[0], place), below.exact),
            ),
        )


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

    def formula(self, *operands: Expression) -> Expression:
        """Return -rowsum(gamma_1 ⊙ dN_1) / √(var_1 + ε)."""
        above = Call(ROW_SUM, self._weighed_in_words(self._gained(operands), operands[-1]))
        return Quotient(Negative(above), self.normalise.root(operands[0], _EPS))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum of the row, over the root, and what both come to."""
        *head, i, _ = place
        columns = range(operands[-1].matrix.shape[-1])
        terms = []
        summed: Any = 0
        for k in columns:
            factors = self._weighed_entry(operands, (*head, i, k))
            terms.append(factors[0] if len(factors) == 1 else Product(tuple(factors)))
            summed = summed + _value(operands, (*head, i, k), gain=self._gained(operands))
        above = added(*(Negative(each) for each in terms))
        below = self._below(operands[0], place)
        return explained(
            Quotient(above, below),
            Quotient(
                operands[-1].write_sum(-summed, above.exact),
                operands[-1].write_sum(self._divisor_at(operands[0], place), below.exact),
            ),
        )


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

    def formula(self, *operands: Expression) -> Expression:
        """Return -rowsum(gamma_1 ⊙ dN_1 ⊙ (R_1 - mu_1)) / (2 √(var_1 + ε)³)."""
        X, mean, variance = self._tokens(operands)
        weighed = self._weighed_in_words(self._gained(operands), operands[-1])
        above = Call(ROW_SUM, Product((weighed, less(X, mean)), ENTRYWISE))
        return Quotient(Negative(above), self._cubed_in_words(variance, _EPS))

    def _cubed_in_words(self, variance: Expression, eps: Expression) -> Expression:
        root = self.normalise.root(variance, eps)
        if self.normalise.is_inside or not self.normalise.eps:
            return Product((whole(2), Power(root, whole(3))))
        return Product((whole(2), Root(variance), Power(root, whole(2))))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the sum of the row, over twice the cube of the root, and what both come to."""
        X, mean, variance = self._tokens(operands)
        *head, i, _ = place
        terms: list[Expression] = []
        summed: Any = 0
        for k in range(X.matrix.shape[-1]):
            there = (*head, i, k)
            entry = less(X.at(*there), None if mean is None else mean.at(*there))
            terms.append(Negative(Product((*self._weighed_entry(operands, there), entry))))
            summed = summed + _value(operands, there, gain=self._gained(operands)) * _less(
                X, mean, there, like=variance.matrix
            )
        own = variance.matrix[variance.place(*place)]
        below = self._cubed(np.full(1, own, variance.matrix.dtype))[0]
        above, under = (
            added(*terms),
            self._cubed_in_words(variance.at(*place), variance.own(self.normalise.eps)),
        )
        return explained(
            Quotient(above, under),
            Quotient(
                operands[-1].write_sum(-summed, above.exact),
                operands[-1].write_sum(below, under.exact),
            ),
        )


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

    def formula(self, *operands: Expression) -> Expression:
        """Return colsum(dN_1 ⊙ (R_1 - mu_1) / √(var_1 + ε))."""
        mean = operands[1] if self.normalise.is_centred else None
        above = Product((operands[-1], less(operands[0], mean)), ENTRYWISE)
        return self.to.formula(Quotient(above, self.normalise.root(operands[-2], _EPS)))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out for each token its gradient times its normalised entry, and what these are."""
        X, gradient, variance = operands[0], operands[-1], operands[-2]
        mean = operands[1] if self.normalise.is_centred else None
        long, short = [], []
        heads = [(each,) for each in range(len(X.matrix))] if self.to.over_heads else [place[:-2]]
        for there in ((*h, i, place[-1]) for h in heads for i in range(X.matrix.shape[-2])):
            entry = less(X.at(*there), None if mean is None else mean.at(*there))
            below = self._below(variance, there)
            value = _less(X, mean, there, like=variance.matrix) / self._divisor_at(variance, there)
            own = gradient.at(*there)
            long.append(Product((own, Quotient(entry, below))))
            short.append(Product((own, gradient.write_sum(value, long[-1].factors[1].exact))))
        return explained(added(*long), added(*short))


def less(entry: Expression, mean: Expression | None) -> Expression:
    """Return an entry less its mean, where that is taken off."""
    return entry if mean is None else Sum((entry, Negative(mean)))


def _value(operands: tuple[Operand, ...], place: Place, gain: Operand | None) -> Any:
    """Return the gradient at a place, times the gain there."""
    gradient = operands[-1]
    own = gradient.matrix[gradient.place(*place)]
    if gain is None:
        return own
    return own * _number(gain, place, like=gradient.matrix)


def _less(X: Operand, mean: Operand | None, place: Place, like: Matrix) -> Any:
    own = _number(X, place, like=like)
    return own if mean is None else own - mean.matrix[mean.place(*place)]


def _number(operand: Operand, place: Place, like: Matrix) -> Any:
    """Return an entry as those of another matrix are: what is given is in floats."""
    value, written = operand.matrix[operand.place(*place)], operand.at(*place)
    if operand.matrix.dtype != like.dtype and written.exact is not None:
        return in_system_of(like, written.exact)
    return value
