"""Ranges: the bounds of each entry if each input is within its range.

The evaluator runs on `Interval`, which implements numpy's functions like an array. Exact values
stay ordinary arrays, with the evaluator's own values.
"""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.equations.algebra import plain
from attncalc.equations.derive import slope_of
from attncalc.equations.evaluate import (
    Axes,
    Compiled,
    Compiler,
    Frame,
    Program,
    Value,
    defined,
    expanded,
)
from attncalc.equations.extents import Setting
from attncalc.equations.intervals import (
    Interval,
    Weights,
    ends_of,
    even,
    hardmax,
    share,
    softmax,
    wave,
)
from attncalc.equations.tree import (
    Aggregate,
    Entry,
    Equation,
    Function,
    If,
    Name,
    Node,
    Operator,
    Row,
    names_in,
    rebuilt,
    walk,
)

HALVINGS = 30
"""The number of halvings of a range in which a function may turn."""
TIGHT = 1e-12
"""The largest relative distance of a tight bound from the values."""
MOST_PIECES = 1 << 18
"""Pieces of ranges that are bounded more tightly at once; of more, each is bounded as a whole."""
_VARIABLE = Entry("x", (Name("p"),))


def reach(
    equation: Equation,
    ranges: Mapping[str, Range],
    settings: Mapping[str, Setting] | None = None,
    shares: Collection[str] = (),
) -> Range:
    """Return the range of the results.

    ranges: the range of each matrix; points for matrices that places read. Nonnegative matrices,
        such as variances, are clipped before.
    shares: inputs that are weights of a softmax: from 0 to 1, and each row sums to 1.
    """
    settings = settings or {}
    given: Any = {
        name: each.low if each.is_point or np.array_equal(*each) else Interval(*each)
        for name, each in ranges.items()
    }
    own = _program(equation, frozenset(shares))
    numbers, shape, kept = own.know(given, settings)
    made: Any = own.run(_Frame(given, numbers, kept=kept), shape)
    return Range(made.low, made.high) if isinstance(made, Interval) else Range.at(made)


@lru_cache(maxsize=1024)
def _program(equation: Equation, shares: frozenset[str]) -> Program:
    return Program(equation, _Compiler(equation.indices, shares))


class _Frame(Frame):
    """The inputs of an equation, some of them intervals."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.like = np.empty(0)

    def array(self, value: Value) -> Any:
        return value if isinstance(value, Interval) else super().array(value)

    def zeros(self, shape: tuple[int, ...]) -> Any:
        return Interval(np.zeros(shape), np.zeros(shape))

    def function(self, name: str, argument: Any) -> Any:
        of = partial(super().function, name)
        if not isinstance(argument, Interval):
            return of(argument)
        if name == "abs":
            return even(argument, np.abs)
        if name in ("sin", "cos"):
            return wave(argument, of, 0.25 if name == "sin" else 0.0)
        if name in ("sqrt", "log"):
            argument = argument.each(lambda end: np.maximum(end, 0.0))
        return argument.each(of)

    def weigh(self, kind: str, scores: Any, beside: list[Any]) -> Any:
        if not any(isinstance(each, Interval) for each in (scores, *beside)):
            return super().weigh(kind, scores, beside)
        low, high = ends_of(scores)
        if kind == "softmax":
            made = softmax(low, high, [ends_of(each) for each in beside])
            return made if beside else Weights(made.low, made.high)
        return hardmax(low, high) if kind == "hardmax" else share(low, high)


class _Compiler(Compiler):
    """Bounds that need more than the ends: non-monotonic functions, and weights that sum to 1."""

    def __init__(
        self, indices: frozenset[str], shares: frozenset[str] = frozenset(), turns: bool = True
    ) -> None:
        super().__init__(indices)
        self.shares, self.turns = shares, turns

    def value(self, x: Node, axes: Axes) -> Compiled:
        entries = {y for y in walk(x) if isinstance(y, Entry)}
        if self.turns and entries and isinstance(x, Operator | Function):
            tree = expanded(plain(x))
            only = entries.pop()
            if not entries and (of := self._curve(tree, only)):
                argument, ends = self.value(only, axes), super().value(x, axes)

                def curve(frame: Frame) -> Value:
                    given = argument(frame)
                    return of(given, frame) if isinstance(given, Interval) else ends(frame)

                return curve
        return super().value(x, axes)

    def _function(self, name: str, arguments: tuple[Node, ...], axes: Axes) -> Compiled:
        tree = defined(name, _VARIABLE) if self.turns else None
        if tree is not None and (of := self._curve(expanded(tree), _VARIABLE)):
            argument = self.value(arguments[0], axes)
            return lambda frame: of(argument(frame), frame)
        return super()._function(name, arguments, axes)

    def _power(self, a: Node, b: Node, axes: Axes) -> Compiled:
        base, exponent = self.value(a, axes), self.value(b, axes)
        return lambda frame: np.power(base(frame), exponent(frame))

    def entry(self, x: Entry, axes: Axes) -> Compiled:
        made = super().entry(x, axes)
        if x.name not in self.shares:
            return made
        are_rows = axes and x.at[-1] == Name(axes[-1])

        def clipped(frame: Frame) -> Value:
            value = made(frame)
            if not isinstance(value, Interval):
                return value
            low, high = (np.clip(end, 0.0, 1.0) for end in ends_of(value))
            return Weights(low, high, value) if are_rows else Interval(low, high)

        return clipped

    def _curve(self, tree: Node, only: Entry) -> Callable[[Any, Frame], Value] | None:
        """Return the range of a function of one entry that reads it more than once."""
        uses = sum(y == only for y in walk(tree))
        tree = _of_variable(tree, only)
        breaks = any(isinstance(y, If | Aggregate | Row) or _is_whole(y) for y in walk(tree))
        if uses < 2 or breaks or (names_in(tree) & self.indices) - {"p"}:
            return None
        index = frozenset({"p"})
        value, slope = (
            _Compiler(index, turns=False).value(each, ("p",)) for each in (tree, slope_of(tree))
        )

        def range_of(given: Any, frame: Frame) -> Value:
            def at(compiled: Compiled, *ends: Matrix) -> Any:
                x: Any = ends[0] if len(ends) == 1 else Interval(*ends)
                here = _Frame({"x": x}, {**frame.numbers, "p": ends[0].size}, kept=frame.kept)
                return compiled(here)

            if not isinstance(given, Interval):
                return at(value, np.ravel(given)).reshape(np.shape(given))
            made = _turning(partial(at, value), partial(at, slope), *map(np.ravel, ends_of(given)))
            return made.reshape(given.shape)

        return range_of


def _turning(
    value: Callable[..., Any], slope: Callable[..., Any], low: Matrix, high: Matrix
) -> Interval:
    """Return the range of a function: at the ends, and where its slope may change its sign.

    Ranges in which it may are halved until any bound of them is tight.
    """
    ends = value(low), value(high)
    least, most = np.minimum(*ends), np.maximum(*ends)
    is_finite = np.isfinite(low) & np.isfinite(high)
    endless = np.flatnonzero((low < high) & ~is_finite)
    if endless.size:
        bare = ends_of(value(low[endless], high[endless]))
        least[endless], most[endless] = bare
    owner = np.flatnonzero((low < high) & is_finite)
    low, high = low[owner], high[owner]
    for halving in range(HALVINGS + 1):
        steep = ends_of(slope(low, high))
        turns = ~((steep[0] >= 0) | (steep[1] <= 0))
        low, high, owner = low[turns], high[turns], owner[turns]
        if not low.size:
            break
        middle = (low + high) / 2
        made = value(middle)
        # how far the steepest slope leads from the middle
        around = np.maximum(*map(np.abs, steep))[turns] * (high - low) / 2
        is_tight = (around <= TIGHT * (1 + np.abs(made))).all()
        if is_tight or halving == HALVINGS or 2 * low.size > MOST_PIECES:
            bare = ends_of(value(low, high))
            np.minimum.at(least, owner, np.fmax(made - around, bare[0]))
            np.maximum.at(most, owner, np.fmin(made + around, bare[1]))
            break
        np.minimum.at(least, owner, made)
        np.maximum.at(most, owner, made)
        owner = np.concatenate([owner, owner])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return Interval(least, most)


def _of_variable(x: Node, only: Entry) -> Node:
    return _VARIABLE if x == only else rebuilt(x, lambda y: _of_variable(y, only))


def _is_whole(x: Node) -> bool:
    return isinstance(x, Operator) and x.sign not in ("+", "-", "neg", "*", "/", "**")
