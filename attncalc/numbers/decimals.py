"""The number systems a plan runs in: floats for speed, exact decimals for every shown digit.

An operation is written once, in numpy; numpy applies it to floats and to arrays of Decimals alike.
What numpy cannot do with Decimals (tanh, sine, cosine) stands here for both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.numbers.types import Matrix
from attncalc.problem.fields import MARKS
from attncalc.problem.problem import Problem

LONGEST_CHAIN = 6
"""Factors at most multiplied into one entry: X W_Q (X W_K)ᵀ has four, with room to spare."""
SPARE_DIGITS = 90
TRUSTED_DIGITS = 60
"""Places beyond the finest exact product that are still right after every step."""
MOST_DIGITS = 2000
LARGEST_COST = 4_000_000
"""Work, in multiply-and-adds of Decimals (60 ns each), up to which digits are exact."""


@dataclass(frozen=True)
class Digits:
    """How many digits exact decimals carry, and up to which decimal place they can be trusted."""

    precision: int
    guard: int


def digits_for(problem: Problem) -> Digits | None:
    """Return the digits that make each shown figure exact, or None where floats must do.

    A sum of products of numbers as typed is then held whole: from the largest possible place to
    the smallest. None where that takes more than 2000 digits (1e300 beside 1e-300), or where the
    problem is so large that its decimals would take seconds.
    """
    if _cost(problem, SPARE_DIGITS) > LARGEST_COST:
        return None
    numbers = [
        entry
        for name in problem.names
        if name not in MARKS
        for entry in problem.as_typed(name).flat
        if isinstance(entry, Fraction) or entry.is_finite()  # a bias may be -inf
    ]
    numbers += [each for each in (problem.scale, problem.softcap) if isinstance(each, Fraction)]
    high = max(1, *(_highest_place(number) for number in numbers))
    low = min(-problem.decimals, *(_lowest_place(number) for number in numbers))
    digits = Digits(
        precision=SPARE_DIGITS + LONGEST_CHAIN * (high - low),
        guard=TRUSTED_DIGITS - LONGEST_CHAIN * low,
    )
    if digits.precision > MOST_DIGITS or _cost(problem, digits.precision) > LARGEST_COST:
        return None
    return digits


def to_decimal(number: Decimal | Fraction) -> Decimal:
    """Return a Decimal: a fraction is divided out in the precision of the current context."""
    if isinstance(number, Decimal):
        return number
    return Decimal(number.numerator) / Decimal(number.denominator)


def decimals_of(matrix: Matrix) -> Matrix:
    """Return a matrix of numbers as typed as Decimals, in the precision of the current context."""
    return _each(to_decimal, matrix)


def in_system_of(matrix: Matrix, number: Fraction) -> Any:
    """Return `number` as the entries of `matrix` are: a float, or a Decimal."""
    return to_decimal(number) if matrix.dtype == object else matrix.dtype.type(float(number))


def infinity_of(matrix: Matrix) -> Any:
    """Return what stands for infinity among the entries of `matrix`."""
    return Decimal("Infinity") if matrix.dtype == object else matrix.dtype.type(np.inf)


def tolerance_of(matrix: Matrix) -> Any:
    """Return how far apart, relative to their size, two results of equal worth may come out."""
    return in_system_of(matrix, Fraction(1, 10**30 if matrix.dtype == object else 10**12))


def tanh(matrix: Matrix) -> Matrix:
    """Return the hyperbolic tangent of each entry."""
    return _each(_decimal_tanh, matrix) if matrix.dtype == object else np.tanh(matrix)


def cos_sin(angles: Matrix) -> tuple[Matrix, Matrix]:
    """Return the cosine and the sine of each angle, in radians."""
    if angles.dtype != object:
        return np.cos(angles), np.sin(angles)
    return _each(_decimal_cos, angles), _each(_decimal_sin, angles)


def _each(function: Callable[[Any], Decimal], matrix: Matrix) -> Matrix:
    return np.asarray(np.frompyfunc(function, 1, 1)(matrix), dtype=object)


def _decimal_tanh(x: Decimal) -> Decimal:
    if abs(x) > 2 * getcontext().prec:  # 1 to more digits than are carried
        return Decimal(1).copy_sign(x)
    doubled = (2 * x).exp()
    return (doubled - 1) / (doubled + 1)


def _decimal_cos(x: Decimal) -> Decimal:
    return _decimal_sin(x + _decimal_pi() / 2)


def _decimal_sin(x: Decimal) -> Decimal:
    """Sum sin x = x - x³/3! + x⁵/5! - …, after whole turns are taken off."""
    with localcontext() as context:
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
    """Return π by Machin's formula, π = 16 arctan(1/5) - 4 arctan(1/239)."""
    with localcontext() as context:
        context.prec += 10
        pi = 16 * _arctan_of_one_over(5) - 4 * _arctan_of_one_over(239)
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


def _cost(problem: Problem, precision: int) -> float:
    """Estimate a run in Decimals; at 60 digits an exp costs as much as 230 multiply-and-adds."""
    rows = {"W_Q": problem.n, "W_K": problem.m, "W_V": problem.m, "W_O": problem.n}
    projections = sum(
        tokens * getattr(problem, name).size
        for name, tokens in rows.items()
        if getattr(problem, name) is not None
    )
    functions = 1 if problem.softcap is None else 3
    per_weight = problem.d_k + problem.d_v + functions * 230 * (precision / 60) ** 2.3
    return float(projections + problem.n_heads * problem.n * problem.m * per_weight)


def _highest_place(number: Decimal | Fraction) -> int:
    if isinstance(number, Fraction):
        return len(str(abs(number.numerator) // number.denominator))
    return number.adjusted() + 1 if number else 0


def _lowest_place(number: Decimal | Fraction) -> int:
    if isinstance(number, Fraction):
        return -len(str(number.denominator))
    return int(number.as_tuple().exponent)
