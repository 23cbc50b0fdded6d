"""Decides whether a problem is solved in exact decimals, and with how many digits."""

from bisect import bisect_right
from decimal import Decimal
from fractions import Fraction
from functools import partial

from attncalc.base.decimals import COST_OF_FUNCTION, Digits
from attncalc.problem.fields import role_of
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, shapes_of

SPARE_FACTORS = 2
"""Factors of an entry beyond those that the plan multiplies."""
SPARE_DIGITS = 90
TRUSTED_DIGITS = 60
"""Places beyond the finest exact product that are still right after every step."""
MOST_DIGITS = 2000
LARGEST_COST = 4_000_000
"""The largest cost for exact digits, in multiply-adds of Decimals (60 ns each)."""


def digits_for(problem: Problem, plan: Plan) -> Digits | None:
    """Return the digits that make each shown figure exact; None if these are too many."""
    # checked first with the fewest digits: counting those of a million entries would take seconds
    if (most := most_digits(problem, plan)) < SPARE_DIGITS:
        return None
    digits = needed_digits(problem, plan)
    return digits if digits.precision <= most else None


def needed_digits(problem: Problem, plan: Plan) -> Digits:
    """Return the digits, from the largest place, that store an exact sum of products as typed."""
    numbers = [
        entry
        for name in problem.names
        if role_of(name) != "marks"
        for entry in problem.as_typed(name).flat
        if isinstance(entry, Fraction) or entry.is_finite()  # a bias may be -inf
    ]
    factors_said = (problem.scale, problem.softcap, problem.softcap_out, problem.step)
    numbers += [each for each in factors_said if isinstance(each, Fraction)]
    places = [(1, -problem.decimals), *map(_places, numbers)]
    high, low = max(high for high, _ in places), min(low for _, low in places)
    factors = longest_product(plan) + SPARE_FACTORS
    return Digits(
        precision=SPARE_DIGITS + factors * (high - low), guard=TRUSTED_DIGITS - factors * low
    )


def most_digits(problem: Problem, plan: Plan) -> int:
    """Return the most digits affordable for these shapes; below `SPARE_DIGITS`, floats."""
    cost = partial(_cost, *_work_of(problem, plan))
    return bisect_right(range(MOST_DIGITS + 1), float(LARGEST_COST), key=cost) - 1


def longest_product(plan: Plan) -> int:
    """Return how many typed numbers are multiplied into one entry at most.

    >>> from attncalc.solving.plan import plan
    >>> X, W = [[1]], [[2]]
    >>> longest_product(plan(Problem(X=X, W_Q=W, W_K=W, W_V=W)))  # X W_Q (X W_K)ᵀ
    4
    """
    factors: dict[str, int] = {}
    for step in plan:
        factors[step.name] = step.operation.factors(*(factors.get(name, 1) for name in step.inputs))
    return max(factors.values())


def cost_in_its_decimals(problem: Problem) -> float:
    """Estimate a run in the digits of the problem; 0 for floats."""
    steps = problem.calculation.steps
    digits = digits_for(problem, steps)
    return _cost(*_work_of(problem, steps), digits.precision) if digits else 0.0


def _cost(products: int, functions: int, precision: int) -> float:
    # a power of e takes longer with more digits: with the power 2.3 of their number
    return products + functions * COST_OF_FUNCTION * float((precision / 60) ** 2.3)


def _work_of(problem: Problem, plan: Plan) -> tuple[int, int]:
    """Return the number of multiply-adds and of functions of a run."""
    shapes = shapes_of(plan, problem.given)
    costs = [step.operation.cost(*(shapes[name] for name in step.inputs)) for step in plan]
    return sum(products for products, _ in costs), sum(functions for _, functions in costs)


def _places(number: Decimal | Fraction) -> tuple[int, int]:
    """Return the highest place of a number, and the lowest."""
    if isinstance(number, Fraction):
        return len(str(abs(number.numerator) // number.denominator)), -len(str(number.denominator))
    return (number.adjusted() + 1 if number else 0), int(number.as_tuple().exponent)
