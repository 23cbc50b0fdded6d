"""The number systems of a plan: floats for speed, exact decimals for every shown digit.

An operation is written once, in numpy, which applies it to floats and to arrays of Decimals alike.
Functions that numpy lacks for Decimals (tanh, sine, cosine) are implemented here for both.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.types import Matrix

COST_OF_FUNCTION = 230
"""The cost of a power of e at 60 digits, in products of Decimals."""


class Digits(NamedTuple):
    """How many digits exact decimals carry, and up to which decimal place they can be trusted."""

    precision: int
    guard: int

    @property
    def context(self) -> Context:
        """The context in which Decimals are computed with; e to minus a million is not 0 either."""
        return Context(prec=self.precision, Emin=MIN_EMIN, Emax=MAX_EMAX)


def to_decimal(number: Decimal | Fraction) -> Decimal:
    """Return a Decimal: a fraction is divided out in the precision of the current context."""
    if isinstance(number, Decimal):
        return number
    return Decimal(number.numerator) / Decimal(number.denominator)


def decimals_of(matrix: Matrix) -> Matrix:
    """Return a matrix of numbers as typed as Decimals, in the precision of the current context."""
    return each_entry(to_decimal, matrix)


def in_system_of(matrix: Matrix, number: Fraction) -> Any:
    """Return `number` as the entries of `matrix` are: a float, or a Decimal."""
    return to_decimal(number) if matrix.dtype == object else matrix.dtype.type(float(number))


def infinity_of(matrix: Matrix) -> Any:
    """Return infinity in the type of the entries of `matrix`."""
    return Decimal("Infinity") if matrix.dtype == object else matrix.dtype.type(np.inf)


def not_a_number(matrix: Matrix) -> Any:
    """Return the value of what has none in the type of the entries of `matrix`."""
    return Decimal("NaN") if matrix.dtype == object else matrix.dtype.type(np.nan)


def tolerance_of(matrix: Matrix) -> Any:
    """Return the relative difference up to which two results are equal."""
    return in_system_of(matrix, Fraction(1, 10**30 if matrix.dtype == object else 10**12))


def tanh(matrix: Matrix) -> Matrix:
    """Return the hyperbolic tangent of each entry."""
    return each_entry(_decimal_tanh, matrix) if matrix.dtype == object else np.tanh(matrix)


@contextmanager
def untrapped() -> Iterator[None]:
    """Compute with Decimals as with floats: without a value they are not a number."""
    with localcontext() as context:
        context.clear_traps()
        yield


def ln(matrix: Matrix) -> Matrix:
    """Return the natural logarithm of each entry."""
    return each_entry(Decimal.ln, matrix) if matrix.dtype == object else np.log(matrix)


def erf(matrix: Matrix) -> Matrix:
    """Return the error function of each entry."""
    if matrix.dtype == object:
        return each_entry(_decimal_erf, matrix)
    values: Matrix = np.asarray(np.frompyfunc(math.erf, 1, 1)(matrix)).astype(matrix.dtype)
    return values


def pi_of(matrix: Matrix) -> Any:
    """Return π as the entries of `matrix` are: a float, or a Decimal."""
    return _decimal_pi() if matrix.dtype == object else matrix.dtype.type(math.pi)


def cos_sin(angles: Matrix) -> tuple[Matrix, Matrix]:
    """Return the cosine and the sine of each angle, in radians."""
    if angles.dtype != object:
        return np.cos(angles), np.sin(angles)
    return each_entry(_decimal_cos, angles), each_entry(_decimal_sin, angles)


def each_entry(function: Callable[[Any], Any], matrix: Matrix) -> Matrix:
    """Return the results of a function of each entry, as an array of objects."""
    return np.asarray(np.frompyfunc(function, 1, 1)(matrix), dtype=object)


def _decimal_tanh(x: Decimal) -> Decimal:
    if abs(x) > 2 * getcontext().prec:  # 1 to more digits than are carried
        return Decimal(1).copy_sign(x)
    # one exp, not the two of (e^x - e^-x) / (e^x + e^-x)
    doubled = (2 * x).exp()
    return (doubled - 1) / (doubled + 1)


def _decimal_erf(x: Decimal) -> Decimal:
    """Sum erf x = 2/√π e^-x² (x + 2x³/3 + 4x⁵/(3·5) + …): its terms have one sign."""
    if x * x > 3 * getcontext().prec:  # 1 to more digits than are carried
        return Decimal(1).copy_sign(x)
    with localcontext() as context:
        context.prec += 10
        term = total = x
        smallest = Decimal(1).scaleb(-context.prec)
        n = 1
        while abs(term) > smallest * abs(total):
            term *= 2 * x * x / (2 * n + 1)
            total += term
            n += 1
        value = 2 * total * (-x * x).exp() / _decimal_pi().sqrt()
    return +value


def _decimal_cos(x: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec += 10 + max(0, x.adjusted())  # x may be much larger than π / 2
        cosine = _decimal_sin(x + _decimal_pi() / 2)
    return +cosine


def _decimal_sin(x: Decimal) -> Decimal:
    """Sum sin x = x - x³/3! + x⁵/5! - …, after subtracting full turns."""
    with localcontext() as context:
        # subtracting full turns from a large angle cancels its leading digits
        context.prec += 10 + max(0, x.adjusted())
        turn = 2 * _decimal_pi()
        angle = x - turn * (x / turn).to_integral_value()
        term = total = angle
        smallest = Decimal(1).scaleb(-context.prec)
        n = 1
        while abs(term) > smallest:
            term *= -angle * angle / ((n + 1) * (n + 2))
            total += term
            n += 2
    return +total


def _decimal_pi() -> Decimal:
    return _pi_to(getcontext().prec)


@lru_cache(maxsize=16)
def _pi_to(digits: int) -> Decimal:
    """Return π to this many digits by Machin's formula, π = 16 arctan(1/5) - 4 arctan(1/239)."""
    with localcontext() as context:
        context.prec = digits + 10
        pi = 16 * _arctan_of_one_over(5) - 4 * _arctan_of_one_over(239)
        context.prec = digits
        return +pi


def _arctan_of_one_over(n: int) -> Decimal:
    """Sum arctan x = x - x³/3 + x⁵/5 - …, at x = 1/n."""
    smallest = Decimal(1).scaleb(-getcontext().prec)
    term = total = Decimal(1) / n
    k = 1
    while abs(term) > smallest:
        term /= -n * n
        k += 2
        total += term / k
    return total
