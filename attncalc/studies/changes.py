"""The changes of a study: a setting, entries of a matrix, or the order of tokens."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from attncalc.base.typed import as_written
from attncalc.base.types import Matrix
from attncalc.problem.attention.declared import NONE
from attncalc.problem.gradients.naming import is_of_the_way_back
from attncalc.problem.problem import Problem
from attncalc.solving.solution import solve

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
QUERIES = ("X", "X1", "Q")
PERMUTABLE = (*QUERIES, "X2", "X3", "K", "V")
"""Given matrices that have a row for each token."""
SAME = 1e-9
"""By how much outputs that are the same may differ, relative to the largest of them."""


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
            tens, found = LOWEST_OF_LADDER, 0
            while tens <= self.first / 10:
                tens *= 10
            while found < LADDER_TO_INFINITY:
                for rung in (tens, 2 * tens, 5 * tens):
                    if rung > self.first and found < LADDER_TO_INFINITY:
                        found += 1
                        yield rung
                tens *= 10
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
            if not isinstance(value, Infinity):
                return problem.with_field(self.name, value)
            prefix = self.name.removesuffix("scale")
            fields = problem.inner[prefix] if prefix else problem
            # at an infinite scale the largest score has all the weight, and ties share it
            normalizer = "hardmax" if fields.normalizer == "softmax" else fields.normalizer
            return problem.with_field(self.name, NONE).with_field(f"{prefix}normalizer", normalizer)
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


def _exactly(number: Decimal | Fraction) -> Fraction | float:
    # a bias may be -inf, which is not a Fraction
    return Fraction(number) if isinstance(number, Fraction) or number.is_finite() else -math.inf


class Moved(NamedTuple):
    """How the outputs change when tokens are in another order.

    how: "alike" if they are in the same new order, "same" if they do not change, "otherwise" else.
    outputs: which outputs differ from the expected ones, from 0.
    """

    step: str
    how: str
    outputs: tuple[int, ...]


def in_order(problem: Problem, names: Sequence[str], order: Sequence[int]) -> Problem:
    """Return a problem with the tokens of some matrices, and their labels, in another order.

    Masks, biases and positions stay where they are.
    """
    changed = problem
    labels: Any = problem.labels
    for name in names:
        axis = -1 if problem.standing.has_token_columns(name) else -2
        changed = changed.with_field(name, np.take(problem.as_typed(name), order, axis=axis))
        own = labels.get(name) if isinstance(labels, Mapping) else labels
        if own is not None and len(own) == len(order):
            moved = tuple(own[place] for place in order)
            labels = {**labels, name: moved} if isinstance(labels, Mapping) else moved
    return changed if labels is problem.labels else changed.with_field("labels", labels)


def tokens_in(problem: Problem, name: str) -> int:
    """Return how many tokens a given matrix has."""
    axis = -1 if problem.standing.has_token_columns(name) else -2
    return int(np.shape(problem.as_typed(name))[axis])


def moved(problem: Problem, names: Sequence[str], order: Sequence[int]) -> Moved:
    """Return how the outputs change with the tokens of some matrices in another order."""
    names_of_steps = (each.name for each in problem.calculation.steps)
    step = [name for name in names_of_steps if not is_of_the_way_back(name)][-1]
    before = solve(problem, keep=(step,)).floats[step]
    after = solve(in_order(problem, names, order), keep=(step,)).floats[step]
    near = SAME * max(1.0, float(np.abs(before).max()))
    is_of_queries = any(name in QUERIES for name in names) and before.shape[-2] == len(order)
    expected = before[..., list(order), :] if is_of_queries else before
    apart = np.abs(after - expected) > near
    differing = np.flatnonzero(apart.any(axis=(0, -1) if apart.ndim == 3 else -1))
    how = "otherwise" if len(differing) else "alike" if is_of_queries else "same"
    return Moved(step, how, tuple(differing.tolist()))


def orders(count: int) -> Iterator[list[int]]:
    """Yield a cycle and an exchange of so many tokens, which together make up every order."""
    places = list(range(count))
    if count > 2:
        yield [*places[1:], 0]
    yield [1, 0, *places[2:]]


def what_depends_on_order(problem: Problem) -> tuple[str, ...]:
    """Return what in a problem depends on the places of tokens: positions, masks, equations."""
    found: dict[str, None] = {}
    attentions = problem.attentions or (problem,)
    kind = next((each.positions for each in attentions if each.positions != "none"), "none")
    named = any(name.rpartition(".")[2] in ("P", "P1", "P2") for name in problem.names)
    if kind != "none" or named:
        found[f"the positions ({kind})" if kind != "none" else "the positions"] = None
    for each in attentions:
        words = {
            "the causal mask": each.causal,
            "the window": each.window is not None,
            "ALiBi": bool(each.alibi) or each.alibi_slopes is not None,
            "the relative bias": each.rel_bias is not None,
            "the mask keep": each.keep is not None,
            "the mask ignore": each.ignore is not None,
            "the bias": each.bias is not None,
            "the cache": each.past_K is not None or each.past_V is not None,
        }
        found |= dict.fromkeys(word for word, holds in words.items() if holds)
    if problem.equations:
        found["the equations"] = None
    return tuple(found)
