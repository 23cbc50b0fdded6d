"""The number systems a plan runs in: float64 for speed, exact decimals for every shown digit.

An operation is written once, in numpy; numpy applies it to float64 and to arrays of Decimals alike.
"""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.problem import Problem
from attncalc.rounding import Matrix

LONGEST_CHAIN = 6
"""Factors at most multiplied into one entry: X W_Q (X W_K)ᵀ has four, with room to spare."""
SPARE_DIGITS = 50
TRUSTED_DIGITS = 20
"""Places beyond the finest exact product that are still right after every step."""
MOST_DIGITS = 400
LARGEST_COST = 4_000_000
"""Work, in multiply-and-adds of Decimals (60 ns each), up to which digits are exact."""


@dataclass(frozen=True)
class Digits:
    """How many digits exact decimals carry, and up to which decimal place they can be trusted."""

    precision: int
    guard: int


def digits_for(problem: Problem) -> Digits | None:
    """Return the digits that make each shown figure exact, or None where float64 must do.

    A sum of products of numbers as typed is then held whole: from the largest possible place to
    the smallest. None where that takes more than 400 digits (1e300 beside 1e-300), or where the
    problem is so large that its decimals would take seconds.
    """
    if _cost(problem, SPARE_DIGITS) > LARGEST_COST:
        return None
    numbers = [entry for name in problem.names for entry in problem.as_typed(name).flat]
    if isinstance(problem.scale, Fraction):
        numbers.append(problem.scale)
    high = max(1, *(_highest_place(number) for number in numbers))
    low = min(-problem.decimals, *(_lowest_place(number) for number in numbers))
    digits = Digits(
        precision=SPARE_DIGITS + LONGEST_CHAIN * (high - low),
        guard=TRUSTED_DIGITS - LONGEST_CHAIN * low,
    )
    if digits.precision > MOST_DIGITS or _cost(problem, digits.precision) > LARGEST_COST:
        return None
    return digits


def as_decimals(problem: Problem) -> dict[str, Matrix]:
    """Return the given matrices as Decimals, in the precision of the current context."""
    convert = np.frompyfunc(to_decimal, 1, 1)
    return {name: np.asarray(convert(problem.as_typed(name))) for name in problem.names}


def to_decimal(number: Decimal | Fraction) -> Decimal:
    """Return a Decimal: a fraction is divided out in the precision of the current context."""
    if isinstance(number, Decimal):
        return number
    return Decimal(number.numerator) / Decimal(number.denominator)


def in_system_of(matrix: Matrix, number: Fraction) -> Any:
    """Return `number` as the entries of `matrix` are: a float, or a Decimal."""
    return to_decimal(number) if matrix.dtype == object else float(number)


def _cost(problem: Problem, precision: int) -> float:
    """Estimate a run in Decimals; at 60 digits an exp costs as much as 230 multiply-and-adds."""
    given = problem.matrices()
    projections = sum(
        given[source].shape[0] * given[name].size
        for name, source in (
            ("W_Q", problem.query_source),
            ("W_K", problem.key_source),
            ("W_V", problem.key_source),
        )
    )
    per_weight = problem.d_k + given["W_V"].shape[1] + 230 * (precision / 60) ** 2
    return float(projections + problem.n * problem.m * per_weight)


def _highest_place(number: Decimal | Fraction) -> int:
    if isinstance(number, Fraction):
        return len(str(abs(number.numerator) // number.denominator))
    return number.adjusted() + 1 if number else 0


def _lowest_place(number: Decimal | Fraction) -> int:
    if isinstance(number, Fraction):
        return -len(str(number.denominator))
    return int(number.as_tuple().exponent)
