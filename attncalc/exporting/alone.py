"""The numbers that are right for an entry if an answer's other entries are not known.

Systems that mark each entry alone accept these: what flawless calculations give that round every
step to the problem's decimals or more, or none, whatever lies between them, and half a unit of the
last place around it; and flawless answers outside it, such as cut digits.
"""

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import Rule, round_floats
from attncalc.base.types import Matrix, Range
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.problem.step import run

FINER = 6
"""Decimals of bounds in addition to those of the problem, so that halves stay exact."""
CARRIED = 4
"""The numbers of decimals that are tried: those of the problem, one more, and so on."""
TIES: tuple[Rule, ...] = ("half-away", "half-even")


class Alone(NamedTuple):
    """The accepted numbers of an entry: the shown one, from `low` to `high`, and `others`."""

    shown: Decimal
    low: Decimal
    high: Decimal
    others: tuple[Decimal, ...]

    @property
    def ranges(self) -> list[tuple[Decimal, Decimal]]:
        """The ranges of these numbers, first that of the shown one."""
        middle = (self.low + self.high) / 2
        lone = [(each, each) for each in (self.shown, *self.others) if each != middle]
        lone.insert(0 if self.shown == middle else 1, (self.low, self.high))
        return lone


def accepted_alone(key: Key, name: str, head: int = 0) -> list[Any]:
    """Return the accepted numbers of each entry of a step, or of one head of it, as it is shown.

    >>> from attncalc.grading.rules import Rules
    >>> from attncalc.grading.key import key_of
    >>> from attncalc.problem.problem import Problem
    >>> key = key_of(Problem(Q=[[1.25]], K=[[1]], V=[[1]], decimals=1), Rules())
    >>> accepted_alone(key, "S")[0][0][:3]
    (Decimal('1.3'), Decimal('1.2'), Decimal('1.3'))
    """
    decimals, standing = key.problem.decimals, key.problem.standing
    half, range_ = 0.5 * 10.0**-decimals, ranges_alone(key)[name]
    ends = (standing.shown(range_.low - half), standing.shown(range_.high + half))
    all_styles = [standing.shown(each[name]) for each in key.scripts.values() if name in each]
    low, high = (_decimals(each, decimals + FINER) for each in ends)
    written = [_decimals(each, decimals) for each in all_styles]
    found = np.empty(low.shape, object)
    for place in np.ndindex(low.shape):
        shown, *styles = dict.fromkeys(each[place] for each in written)
        outside = (each for each in styles if not low[place] <= each <= high[place])
        found[place] = Alone(shown, low[place], high[place], tuple(outside))
    return list((found[head - 1] if head else found).tolist())


def ranges_alone(key: Key) -> dict[str, Range]:
    """Return the range of each step before it is rounded, over the roundings of earlier steps."""
    ways = [
        partial(round_floats, decimals=key.problem.decimals + more, rule=rule)
        for more in range(CARRIED)
        for rule in TIES
    ]
    low, high = dict[str, Matrix](key.exact), dict[str, Matrix](key.exact)
    for way in (None, *ways):
        made: dict[str, Matrix] = {}
        with np.errstate(all="ignore"), suppress(InputError):  # a divisor is 0
            run(key.solution.plan, key.problem.given, way, made)
        for name, each in made.items():
            low[name], high[name] = np.fmin(low[name], each), np.fmax(high[name], each)
    return {name: Range(low[name], high[name]) for name in key.steps}


def rooms_after(key: Key, asked: Sequence[str], name: str) -> Matrix:
    """Return how far a step may be from its value by the earlier steps that are asked for.

    They are rounded, and the numbers behind them are what the step was computed from; steps between
    that are not asked for are computed with full precision, or rounded in any way. All entries have
    the largest room of the step: one that is exact in the key need not be so after a mistake.
    """
    step, own = key.steps[name], {each: key.shown[each] for each in asked if each in key.shown}
    as_written = Known(key, key.slack, own, {each: Range.at(own[each]) for each in own})
    known = Known(key, key.slack, own, {each: _behind(key, each) for each in own})
    value = as_written.result(step, None).low
    room = np.zeros(value.shape)
    for found in (known.result(step, rule) for rule in known.rules(step)):
        with np.errstate(invalid="ignore"):  # of -inf
            room = np.fmax(room, np.fmax(value - found.low, found.high - value))
    return np.full_like(room, room.max()).round(key.problem.decimals + FINER)


def _behind(key: Key, name: str) -> Range:
    """Return the ranges of the numbers behind those of a step as written, also after a mistake.

    Weights that are exact in the key, such as 0 and 1, need not be so then.
    """
    found, shown, half = key.ranges[name], key.shown[name], 0.5 * 10.0**-key.problem.decimals
    if all(key.steps[each].operation.is_rational for each in key.before[name]):
        return found
    return Range(np.fmin(found.low, shown - half), np.fmax(found.high, shown + half))


def _decimals(matrix: Matrix, decimals: int) -> Any:
    plain = [Decimal(f"{each:.{decimals}f}").normalize() + 0 for each in matrix.flat]
    return np.array(plain, object).reshape(matrix.shape)
