"""The changes of a study: a setting, or entries of a matrix, with their values."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from attncalc.base.typed import as_written
from attncalc.base.types import Matrix
from attncalc.problem.attention.declared import NONE
from attncalc.problem.problem import Problem
from attncalc.studies.permuting import in_order

How = Literal["set", "add", "multiply", "permute"]
SIGNIFICANT = 6
"""Digits of a value between the ends of a range: it is used as shown."""
USUAL = 11
"""Values of a range by default."""
LOWEST_OF_LADDER = Fraction(1, 100)
LADDER_TO_INFINITY = 13
"""The values 1, 2, 5, 10, … from a hundredth to a hundred, or as many from the start of a range."""
FINE = 1000
"""Parts of a range for changeovers and for the points of pictures."""


INFINITE = math.inf
Infinity = float
"""The type of the limit of a scale: all other numbers are fractions."""
Value = Fraction | Infinity | str


@dataclass(frozen=True)
class Span:
    """A range of values.

    first, last: its ends; the last may be infinite.
    count: how many values it has; 0 for the usual number.
    is_log: whether neighbors have the same ratio, and not the same difference.
    """

    first: Fraction
    last: Fraction | Infinity
    count: int = 0
    is_log: bool = False

    def __len__(self) -> int:
        if isinstance(self.last, Infinity):
            return sum(1 for _ in self)
        return self.count or USUAL

    def __iter__(self) -> Iterator[Value]:
        if isinstance(self.last, Infinity):
            yield self.first
            yield from _ladder(self.first)
            yield self.last
            return
        most = len(self) - 1
        yield from (self._at(step, most, self.last) for step in range(most + 1))

    def _at(self, step: int, most: int, last: Fraction) -> Fraction:
        if step in (0, most):
            return last if step else self.first
        if self.is_log:
            low, high = math.log(self.first), math.log(last)
            return significant(math.exp(low + step / most * (high - low)))
        value = self.first + Fraction(step, most) * (last - self.first)
        return value if "/" not in as_written(value) else significant(float(value))


Values = Span | tuple[Value, ...]
"""A range, or separate values: words if the setting has words as values."""


@dataclass(frozen=True, eq=False)
class Change:
    """A change, with its kind and its values.

    text: the change, as typed.
    name: the changed field of the problem.
    about: the change, as in a heading: "scale", "K[a] *=".
    how: whether a value replaces the entries, is added to them, multiplies them, or is the order of
        the tokens.
    place: the changed place of the matrix as given; () for all of it, and for settings.
    direction: the factor of a value that is added, or None.
    is_setting: whether it is a setting, or the order of tokens, that changes.
    is_smooth: whether any number between two values is possible.
    """

    text: str
    name: str
    about: str
    how: How
    values: Values
    place: tuple[Any, ...] = ()
    direction: Matrix | None = None
    is_setting: bool = False
    is_smooth: bool = True

    def applied(self, problem: Problem, value: Value) -> Problem:
        """Return the problem with this value, exactly."""
        if self.how == "permute":
            return in_order(problem, [self.name], order_of(value))
        if self.is_setting:
            return _with_setting(problem, self.name, value)
        matrix: Any = np.frompyfunc(_exactly, 1, 1)(problem.as_typed(self.name))
        matrix[self.place] = self._changed(matrix[self.place], value)
        return problem.with_field(self.name, matrix)

    def leaves_nothing_of(self, other: "Change", problem: Problem) -> bool:
        """Return whether it overwrites everything that another change sets."""
        if self.name != other.name or self.how != "set":
            return False
        if self.is_setting:
            return True
        left = np.zeros(np.shape(problem.stored(self.name)), dtype=bool)
        left[other.place] = True
        left[self.place] = False
        return not left.any()

    def on_each(self, matrices: Matrix, values: Matrix) -> Matrix:
        """Return a matrix for each value, in floats.

        matrices: as they are given, one for all values or one for each: (1 or values, …).
        values: what each of them is, (values,).
        """
        each = np.broadcast_to(matrices, (len(values), *matrices.shape[1:])).copy()
        place = (slice(None), *self.place)
        one_for_each = values.reshape(-1, *[1] * (each[place].ndim - 1))
        each[place] = self._changed(each[place], one_for_each)
        return each

    def _changed(self, part: Any, value: Any) -> Any:
        if self.direction is not None:
            own = isinstance(value, Fraction)
            value = value * (self.direction if own else self.direction.astype(np.float64))
        if self.how == "set":
            return value
        return part + value if self.how == "add" else part * value


def order_of(value: Value) -> list[int]:
    """Return an order of tokens, from 0: "3 1 2" is [2, 0, 1]."""
    return [int(each) - 1 for each in str(value).split()]


def significant(value: float) -> Fraction:
    """Return a number of six digits.

    >>> significant(1 / 3)
    Fraction(333333, 1000000)
    """
    return Fraction(Decimal(f"{value:.{SIGNIFICANT}g}"))


def value_text(value: Value) -> str:
    """Return a value as shown.

    >>> value_text(Fraction(1, 10)), value_text(Fraction(1, 3)), value_text(INFINITE)
    ('0.1', '1/3', 'inf')
    """
    return as_written(value) if isinstance(value, Fraction) else str(value)


def _ladder(above: Fraction) -> Iterator[Fraction]:
    """Yield 1, 2, 5, 10, … from the start of a range."""
    tens, found = LOWEST_OF_LADDER, 0
    while tens <= above / 10:
        tens *= 10
    while found < LADDER_TO_INFINITY:
        for rung in (tens, 2 * tens, 5 * tens):
            if rung > above and found < LADDER_TO_INFINITY:
                found += 1
                yield rung
        tens *= 10


def _with_setting(problem: Problem, name: str, value: Value) -> Problem:
    if not isinstance(value, Infinity):
        return problem.with_field(name, value)
    prefix = name.removesuffix("scale")
    fields = problem.inner[prefix] if prefix else problem
    # at an infinite scale the largest score has all the weight, and ties share it
    normalizer = "hardmax" if fields.normalizer == "softmax" else fields.normalizer
    return problem.with_field(name, NONE).with_field(f"{prefix}normalizer", normalizer)


def _exactly(number: Decimal | Fraction) -> Fraction | float:
    # a bias may be -inf, which is not a Fraction
    return Fraction(number) if isinstance(number, Fraction) or number.is_finite() else -math.inf
