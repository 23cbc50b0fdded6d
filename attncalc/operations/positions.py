"""Positions of tokens: sinusoids that are added to them, and rotations of queries and keys."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from attncalc.numbers.decimals import cos_sin, in_system_of
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.base import Operand, Operation, Shape
from attncalc.operations.expressions import (
    Call,
    Explanation,
    Expression,
    Negative,
    Power,
    Product,
    Quotient,
    Sum,
    Symbol,
    explained,
    given,
    whole,
)

SINUSOIDS_BASE = Fraction(10_000)
ANGLE, FREQUENCY = 3, 2
"""What the sine and cosine of an angle, and the power in it, are worth in powers of e."""


@dataclass(frozen=True, eq=False, repr=False)
class Sinusoids(Operation):
    """Sinusoidal positions of tokens: sin(t / 10000^(2i/d)) and, beside it, its cosine.

    Token t is counted from `offset`; Vaswani et al. (2017), section 3.5.
    """

    offset: int = 0

    @property
    def is_rational(self) -> bool:
        """Never: sines and cosines are not."""
        return False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return positions for tokens of this shape."""
        (X,) = matrices
        n, d = X.shape[-2:]
        cosines, sines = cos_sin(_angles(X, n, d, SINUSOIDS_BASE, Fraction(self.offset)))
        positions: Matrix = np.empty_like(X)
        positions[..., 0::2] = sines
        # of an odd width the last sine has no cosine beside it
        positions[..., 1::2] = cosines[:, : d // 2]
        return positions

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return what its sines and cosines are worth in powers of e."""
        return prod(shapes[0]), _functions(*shapes[0][-2:])

    def formula(self, *operands: Expression) -> Expression:
        """Return the two formulas, for even and odd columns."""
        exponent = Quotient(Symbol("2i"), Symbol("d"))
        angle = Quotient(Symbol("t"), Power(given(SINUSOIDS_BASE), exponent))
        return Call("sin, cos", angle)

    def reach(self, *ranges: Range) -> Range:
        """Return the positions: they depend on no token."""
        return Range.around(self.apply(ranges[0].low))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the angle, and which function of it is taken."""
        t, column = place
        place_of_t = Fraction(t + self.offset)
        angle = _angle(place_of_t, SINUSOIDS_BASE, column // 2, operands[0].matrix.shape[-1])
        return explained(Call("cos" if column % 2 else "sin", angle))


@dataclass(frozen=True, eq=False, repr=False)
class Rotate(Operation):
    """Rotary positions: each pair of columns turned by the angle t / base^(2i/d).

    Token t is counted from `offset`. Su et al., *RoFormer* (2021), equation 34; columns are
    paired with those half the width away ("halves") or beside them ("interleaved").
    """

    base: Fraction
    offset: Fraction
    pairing: str

    @property
    def is_rational(self) -> bool:
        """Never: sines and cosines are not."""
        return False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row by its place."""
        (X,) = matrices
        n, d = X.shape[-2:]
        cosines, sines = cos_sin(_angles(X, n, d, self.base, self.offset))
        first, second = self._pairs(d)
        cosines, sines = cosines.astype(X.dtype), sines.astype(X.dtype)
        x, y = X[..., first], X[..., second]
        turned: Matrix = np.empty_like(X)
        turned[..., first] = x * cosines - y * sines
        turned[..., second] = x * sines + y * cosines
        return turned

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the products of its turns, and what sines and cosines are worth."""
        return 2 * prod(shapes[0]), _functions(*shapes[0][-2:])

    def formula(self, *operands: Expression) -> Expression:
        """Return rope(Q)."""
        return Call("rope", operands[0])

    def reach(self, *ranges: Range) -> Range:
        """Return the turned middle, and around it what a turn makes of the spread at most."""
        (X,) = ranges
        n, d = X.low.shape[-2:]
        cosines, sines = cos_sin(_angles(X.low, n, d, self.base, self.offset))
        first, second = self._pairs(d)
        x, y = X.spread[..., first], X.spread[..., second]
        spread = np.empty_like(X.low)
        spread[..., first] = x * np.abs(cosines) + y * np.abs(sines)
        spread[..., second] = x * np.abs(sines) + y * np.abs(cosines)
        return Range.around(self.apply(X.middle), spread)

    def _pairs(self, d: int) -> tuple[slice, slice]:
        """Return the columns that are turned, and those they are paired with."""
        if self.pairing == "halves":
            return slice(0, d // 2), slice(d // 2, None)
        return slice(0, None, 2), slice(1, None, 2)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the turn of a pair, and what its cosine and sine come to."""
        (X,) = operands
        *head, t, column = place
        d = X.matrix.shape[-1]
        pair, is_second = divmod(column, 2)
        if self.pairing == "halves":
            is_second, pair = divmod(column, d // 2)
        step = d // 2 if self.pairing == "halves" else 1
        x, y = (X.at(*head, t, column + (i - is_second) * step) for i in (0, 1))
        at = Fraction(t) + self.offset
        angle = _angle(at, self.base, pair, d)
        values = cos_sin(_angles(X.matrix, 1, d, self.base, at))
        forms = [
            _turned(x, y, cosine, sine, second=bool(is_second))
            for cosine, sine in (
                (Call("cos", angle), Call("sin", angle)),
                [X.write(each[0, pair], None) for each in values],
            )
        ]
        return explained(*forms)


def _functions(n: int, d: int) -> int:
    """Return what the angles of n tokens of width d are worth in powers of e."""
    pairs = (d + 1) // 2
    return pairs * (n * ANGLE + FREQUENCY)


def _turned(
    x: Expression, y: Expression, cosine: Expression, sine: Expression, *, second: bool
) -> Expression:
    """Return one of a pair that is turned: x cos - y sin, or x sin + y cos."""
    if second:
        return Sum((Product((x, sine)), Product((y, cosine))))
    return Sum((Product((x, cosine)), Negative(Product((y, sine)))))


def _angle(place: Fraction, base: Fraction, pair: int, d: int) -> Expression:
    """Return the angle t / base^(2i/d) of a pair of columns; t alone where i is 0."""
    if pair == 0:
        return given(place)
    return Quotient(given(place), Power(given(base), Quotient(whole(2 * pair), whole(d))))


def _angles(like: Matrix, n: int, d: int, base: Fraction, offset: Fraction) -> Matrix:
    """Return (t + offset) / base^(2i/d) for each of n tokens t and each pair i, (n, ⌈d/2⌉)."""
    system = like if like.dtype == object else np.empty(0)  # float64, for float32 too

    def convert(numbers: list[Fraction]) -> Any:
        return np.array([[in_system_of(system, number) for number in numbers]], system.dtype)

    places = convert([t + offset for t in range(n)])
    exponents = convert([Fraction(2 * i, d) for i in range((d + 1) // 2)])
    angles: Matrix = places.T / convert([base]) ** exponents
    return angles
