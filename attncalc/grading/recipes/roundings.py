"""Accepted roundings within a step: a root as 1.41, e as 2.72, powers of e rounded.

Like wrong recipes, they are the right operations on other numbers, applied to the answer's own
values.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, product

import numpy as np

from attncalc.base.rounding import round_floats
from attncalc.base.types import Matrix, Range
from attncalc.equations.operations.entrywise import DivideBySqrt, Multiply
from attncalc.equations.operations.normalising import DivideBySum, Softmax
from attncalc.equations.rows import exponentials
from attncalc.grading.recipes.common import (
    Read,
    Recipe,
    Wrong,
    beside_sinks,
    done_right,
    entry_by_entry,
    times,
)
from attncalc.grading.slack import round_digits
from attncalc.problem.step import Step

E_WRITTEN = (2.72, 2.718, 2.71, 2.7183)
"""Common approximations of e."""
CALCULATOR = 5e-4
"""The relative difference of four significant digits."""
FINEST = 4
"""The most decimals to which roots, factors and powers are rounded by hand."""

Cut = Callable[[Matrix], Matrix]


def roundings(step: Step, decimals: int) -> tuple[Recipe, ...]:
    """Return the accepted roundings within a step, the most common ones first."""
    found: Iterator[Wrong] = iter(())
    if isinstance(step.operation, DivideBySqrt):
        found = _of_root(step.inputs[0], float(step.operation.d_k) ** 0.5)
    elif isinstance(step.operation, Multiply):
        found = _of_factor(step.inputs[0], float(step.operation.factor), "the factor")
    elif isinstance(step.operation, Softmax):
        powers = _of_powers(step.inputs[0], decimals, step.operation)
        found = ((code, says, beside_sinks(step, make)) for code, says, make in powers)
    elif step.operation.name == "SoftmaxBack":
        found = _of_row_sum(step.inputs[0], step.inputs[1], decimals)
    if step.role == "weights" and len(step.inputs) == 1:  # with a sink they sum to less than 1
        found = chain(found, _adjusted(step, decimals))
    return tuple(Recipe(code, says, step.name, make) for code, says, make in found)


def _of_row_sum(A: str, dA: str, decimals: int) -> Iterator[Wrong]:
    """Yield gradients of scores with rounded sums of A ⊙ dA, and with rounded differences, too."""
    for digits in dict.fromkeys((decimals, *range(2, FINEST + 1))):
        for code, cuts_rest in (("rowsum-rounded", False), ("difference-rounded", True)):
            also = ", and so is dA minus these sums" if cuts_rest else ""
            says = f"the sums of A ⊙ dA are rounded to {digits} decimals{also}"
            cut = partial(_less_rounded_sum, A, dA, _to(digits), cuts_rest)
            yield f"{code}:{digits}", says, cut


def _less_rounded_sum(A: str, dA: str, cut: Cut, cuts_rest: bool, read: Read) -> Range:
    weights, slopes = read(A), read(dA)
    products = entry_by_entry(weights, slopes)
    sums = products.map(lambda end: cut(end.sum(axis=-1, keepdims=True)))
    rest = Range(slopes.low - sums.high, slopes.high - sums.low)
    return entry_by_entry(weights, rest.map(cut) if cuts_rest else rest)


def _of_root(scores: str, root: float) -> Iterator[Wrong]:
    for text in _written(root):
        scaled = partial(_scaled, scores, 1 / float(text))
        yield f"root-rounded:{text}", f"√d_k is taken as {text}", scaled
    yield from _of_factor(scores, 1 / root, "1 / √d_k")


def _of_factor(scores: str, factor: float, name: str) -> Iterator[Wrong]:
    for text in _written(factor):
        scaled = partial(_scaled, scores, float(text))
        yield f"factor-rounded:{text}", f"{name} is taken as {text}", scaled


def _written(number: float) -> Iterator[str]:
    """Yield a number with two or more decimals, rounded and truncated, if that changes it."""
    seen: set[float] = set()
    for decimals in range(2, FINEST + 1):
        for rule in ("half-away", "truncate"):
            (value,) = round_floats(np.array([number]), decimals, rule).tolist()
            if value and abs(value - number) > 1e-12 and value not in seen:
                seen.add(value)
                yield f"{value:.{decimals}f}"


def _scaled(scores: str, factor: float, read: Read) -> Range:
    return times(read(scores), factor)


def _of_powers(scores: str, decimals: int, softmax: Softmax) -> Iterator[Wrong]:
    places = tuple(dict.fromkeys((decimals, *range(2, FINEST + 1))))
    for digits, shifted in product(places, (False, True)):
        yield _rounded_powers(scores, digits, shifted)
    for e in E_WRITTEN:
        code, says, factor = f"e-rounded:{e}", f"e is taken as {e}", float(np.log(e))
        yield code, says, partial(_of_other_e, softmax, scores, factor)
        for is_shifted in (False, True):
            _, also, _ = _rounded_powers(scores, decimals, is_shifted)
            both = partial(_divided, scores, _to(decimals), is_shifted, factor)
            yield f"{code}+{decimals}", f"{says}, and {also}", both
    for digits, shifted in product((FINEST, FINEST - 1), (False, True)):
        says = f"the powers of e are rounded to {digits} digits before they are divided"
        cut = partial(round_digits, digits=digits)
        yield f"exp-digits:{digits}", says, partial(_divided, scores, cut, shifted, 1.0)
    for digits in places:
        says = f"the powers of e are cut off at {digits} decimals before they are divided"
        cut = partial(round_floats, decimals=digits, rule="truncate")
        yield f"exp-cut:{digits}", says, partial(_divided, scores, cut, False, 1.0)
    says = "four digits are carried, as calculators show them"
    yield "four-digits", says, partial(_in_four_digits, softmax, scores)


def _adjusted(step: Step, decimals: int) -> Iterator[Wrong]:
    """Yield rounded weights, with the largest of each row adjusted so that it sums to 1."""
    says = "each row is made to sum to 1 after rounding"
    for rule in ("half-away", "truncate"):
        cut = partial(round_floats, decimals=decimals, rule=rule)
        yield "weights-adjusted", says, partial(_summing_to_1, step, cut)


def _summing_to_1(step: Step, cut: Cut, read: Read) -> Range:
    weights = cut(done_right(step, read).middle)
    total = weights.sum(axis=-1, keepdims=True)
    largest = np.arange(weights.shape[-1]) == weights.argmax(axis=-1)[..., np.newaxis]
    return Range.at(weights + np.where(largest & (total != 0), 1 - total, 0.0))


def _rounded_powers(scores: str, digits: int, shifted: bool) -> Wrong:
    after = " after the largest score is subtracted," if shifted else ""
    says = f"the powers of e are rounded to {digits} decimals{after} before they are divided"
    code = f"exp-rounded:{digits}{'-shifted' if shifted else ''}"
    return code, says, partial(_divided, scores, _to(digits), shifted, 1.0)


def _to(digits: int) -> Cut:
    return partial(round_floats, decimals=digits)


def _divided(scores: str, cut: Cut, shifted: bool, factor: float, read: Read) -> Range:
    """Return the rounded powers of e, each divided by the sum of its row."""
    exponents = times(read(scores), factor)
    if shifted:
        exponents = _less_the_largest(exponents)

    def powers(end: Matrix) -> Matrix:
        return np.asarray(np.where(np.isneginf(end), -np.inf, cut(exponentials(end.copy()))))

    return DivideBySum().over(exponents.map(powers))


def _less_the_largest(scores: Range) -> Range:
    """Return scores minus the largest of their row, which becomes 0 exactly."""
    largest = Range(*(end.max(axis=-1, keepdims=True) for end in scores))
    largest = largest.map(lambda end: np.where(np.isneginf(end), 0.0, end))
    if scores.is_point:
        return Range.at(scores.low - largest.low)
    high = np.minimum(scores.high - largest.low, 0.0)
    may_be = scores.high >= scores.low.max(axis=-1, keepdims=True)
    is_largest = may_be & (may_be.sum(axis=-1, keepdims=True) == 1)
    lesser = Range(np.minimum(scores.low - largest.high, high), high)
    return lesser.replaced(is_largest, Range.at(np.zeros_like(high)))


def _of_other_e(softmax: Softmax, scores: str, factor: float, read: Read) -> Range:
    return softmax.over(times(read(scores), factor))


def _in_four_digits(softmax: Softmax, scores: str, read: Read) -> Range:
    """Return the weights with each score, each power of e, and their sum in four digits."""
    given = read(scores)
    room = CALCULATOR * (1 + np.abs(np.where(np.isfinite(given.middle), given.middle, 0.0)))
    weights = softmax.over(Range(given.low - room, given.high + room))
    return Range(weights.low * (1 - CALCULATOR), weights.high * (1 + CALCULATOR))
