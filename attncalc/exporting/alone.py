"""The numbers that are right for an entry if an answer's other entries are not known.

Systems that mark each entry alone accept these: the range that any rounding of earlier steps to the
problem's decimals or more can give, and flawless answers outside it, such as cut digits.
"""

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.grading.key import Key

FINER = 6
"""Decimals of bounds in addition to those of the problem, so that halves stay exact."""


class Alone(NamedTuple):
    """The accepted numbers of an entry: the shown one, from `low` to `high`, and `others`."""

    shown: Decimal
    low: Decimal
    high: Decimal
    others: tuple[Decimal, ...]


def accepted_alone(key: Key, name: str) -> list[Any]:
    """Return the accepted numbers of each entry of a step, nested as it is shown.

    >>> from attncalc.grading.rules import Rules
    >>> from attncalc.grading.key import key_of
    >>> from attncalc.problem.problem import Problem
    >>> key = key_of(Problem(Q=[[1.25]], K=[[1]], V=[[1]], decimals=1), Rules())
    >>> accepted_alone(key, "S")[0][0][:3]
    (Decimal('1.3'), Decimal('1.2'), Decimal('1.3'))
    """
    decimals, standing = key.problem.decimals, key.problem.standing
    ends = map(standing.shown, _rounded(ranges_alone(key)[name], decimals))
    all_styles = [standing.shown(each[name]) for each in key.scripts.values() if name in each]
    low, high = (_decimals(each, decimals + FINER) for each in ends)
    written = [_decimals(each, decimals) for each in all_styles]
    found = np.empty(low.shape, object)
    for place in np.ndindex(low.shape):
        shown, *styles = dict.fromkeys(each[place] for each in written)
        outside = (each for each in styles if not low[place] <= each <= high[place])
        found[place] = Alone(shown, low[place], high[place], tuple(outside))
    return _nested(found)


def ranges_alone(key: Key) -> dict[str, Range]:
    """Return the range of each step before it is rounded, over all roundings of earlier steps."""
    found: dict[str, Range] = {}
    read = {name: Range.at(matrix) for name, matrix in key.problem.given.items()}
    for name, step in key.steps.items():
        with np.errstate(all="ignore"):
            found[name] = step.operation.over(*(read[each] for each in step.inputs))
        rounded, exactly = _rounded(found[name], key.problem.decimals), key.is_shown_exactly[name]
        read[name] = rounded.replaced(exactly, Range.at(key.shown[name]))
    return found


def _rounded(exact: Range, decimals: int) -> Range:
    half = 0.5 * 10.0**-decimals
    return Range(exact.low - half, exact.high + half)


def _nested(found: Any) -> list[Any]:
    """Return an array of named tuples as lists; numpy's own would unpack them."""
    return [each if isinstance(each, Alone) else _nested(each) for each in found]


def _decimals(matrix: Matrix, decimals: int) -> Any:
    plain = [Decimal(f"{each:.{decimals}f}").normalize() + 0 for each in matrix.flat]
    return np.array(plain, object).reshape(matrix.shape)
