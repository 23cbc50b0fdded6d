"""Plans of equations with every digit proven: a floating-point filter, and exact numbers behind it.

Each matrix is computed in float64 with a bound of each entry's error. Where the bound leaves the
shown digit open, that entry alone is computed in Decimals, from the rows that it depends on, with
as many digits as it needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from attncalc.equations.evaluate import (
    FUNCTIONS,
    Axes,
    Compiled,
    Compiler,
    Frame,
    Value,
    constant,
    evaluated,
)
from attncalc.equations.extents import Setting, extents
from attncalc.equations.measure import cost
from attncalc.equations.near import (
    LARGEST_WHOLE,
    Near,
    UndecidedError,
    _rounded,
    function,
    near,
    nearest_digits,
    number,
    rounded_whole,
    size,
    weigh,
)
from attncalc.equations.tree import (
    ONE,
    Entry,
    Equation,
    Function,
    Marked,
    Name,
    Node,
    Operator,
    Row,
)
from attncalc.numbers.decimals import to_decimal
from attncalc.numbers.rounding import half_away
from attncalc.numbers.types import Matrix

DIGITS = (40, 90, 200, 500, 1000, 2000)
"""Digits that Decimals carry, one after another until an entry is decided."""
CONSTANTS = 50
"""Digits of a constant that is not rational."""
SPARE = 20
"""Digits that a constant is computed with, beyond those that are kept."""
GUARD = 60
"""The decimal place up to which numbers are told apart: what is nearer to a tie counts as one."""
LARGEST_SHOWN = 10**15
"""Floats hold any 15 digits; numbers of more are Decimals."""
COST_OF_FUNCTION = 230
"""What a power of e costs, in products of Decimals."""
COST_OF_ROW = 8000
"""What it costs to start on a row or an entry, in products of Decimals."""
FEW = 4
"""Open entries of one row up to which each is computed by itself."""


class TooMuchWorkError(Exception):
    """The open entries need more work than was allowed."""


class Stage(NamedTuple):
    """A step of a plan: its name, its equation, and what the equation reads.

    Parameters
    ----------
    name, equation
        The matrix in the plan, and its equation.
    inputs
        For each matrix of the equation, its name in the plan.
    settings
        The numbers that it reads by name.
    tables
        Matrices of whole numbers, or of conditions, that are no matrices of the plan.
    """

    name: str
    equation: Equation
    inputs: Mapping[str, str]
    settings: Mapping[str, Setting] = {}
    tables: Mapping[str, Matrix] = {}


@dataclass(frozen=True, eq=False)
class Proven:
    """A matrix and its digits.

    Parameters
    ----------
    value
        The values, with a bound of the error of each.
    digits
        The values at the shown decimals, half away from zero: whole numbers of 10**-decimals, in
        float64, or in an array of Python's whole numbers where some are 2**53 or more.
    decimals
        How many decimals are shown.
    opened
        How many entries the bounds left open.
    ties
        The places of those that stay open with the most digits: ties, as far as can be seen.
    """

    value: Near
    digits: Matrix
    decimals: int
    opened: int = 0
    ties: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def rounded(self) -> Matrix:
        """The digits as numbers: floats, or Decimals where a float would not hold them."""
        sizes = np.abs(self.digits)
        if not (sizes.max(initial=0, where=sizes < np.inf) >= LARGEST_SHOWN):
            return np.asarray(self.digits, float) / 10.0**self.decimals
        with localcontext(_context(max(DIGITS))):
            scale = Decimal(1).scaleb(-self.decimals)
            each = np.frompyfunc(lambda k: Decimal(k) * scale, 1, 1)
            return np.asarray(each(self.digits), object)

    @cached_property
    def carried(self) -> Near:
        """The digits as the next step reads them, known exactly."""
        unit = Fraction(1, 10**self.decimals)
        if self.digits.dtype == object:
            return Near.typed(self.rounded)
        most = float(np.abs(self.digits).max(initial=0.0, where=np.isfinite(self.digits)))
        return Near(whole=self.digits, unit=unit, most=most)


class _Frame(Frame):
    """What an equation is computed from: numbers with bounds, in floats or in Decimals."""

    __slots__ = ("in_decimals",)

    def __init__(self, *args: Any, in_decimals: bool = False, **named: Any) -> None:
        super().__init__(*args, **named)
        if any(isinstance(each, _Rows) for each in self.matrices.values()):
            in_decimals = True
        self.in_decimals = in_decimals
        self.like = np.empty(0, object if in_decimals else float)

    def number(self, value: Any) -> Near:
        return number(value, self.like)

    def array(self, value: Value) -> Any:
        return near(value)

    def zeros(self, shape: tuple[int, ...]) -> Any:
        return Near(np.full(shape, Decimal(0) if self.in_decimals else 0.0), np.zeros(shape))

    def function(self, name: str, argument: Any) -> Any:
        return function(name, argument, FUNCTIONS[name])

    def weigh(self, kind: str, scores: Any, beside: list[Any], first: str, out: Any) -> Any:
        return weigh(kind, scores, beside)

    def compiled(self, x: Node, axes: Axes, indices: frozenset[str]) -> Compiled:
        return _compiled(x, axes, indices)

    def constant(self, x: Node) -> Near:
        """Return a number: exactly where it is rational, else to more digits than are carried."""
        digits = _digits() if self.in_decimals else CONSTANTS
        with localcontext(_context(digits + SPARE)):
            value = constant(x, Frame({"x": np.empty(0, object)}, self.numbers))
        return self.number(value)

    def counted(self, whole: Any) -> Near:
        """Return whole numbers as the others are."""
        if self.in_decimals:
            return Near(np.asarray(np.frompyfunc(lambda k: Decimal(int(k)), 1, 1)(whole), object))
        return near(np.asarray(whole))


class _Compiler(Compiler):
    """Knows that whole numbers and constants are numbers with bounds, too."""

    def value(self, x: Node, axes: Axes) -> Compiled:
        if self._is_constant(x):

            def found(frame: Any) -> Value:
                if found not in frame.kept:
                    frame.kept[found] = frame.constant(x)
                return frame.kept[found]

            return found
        if isinstance(x, Name) or (isinstance(x, Operator) and x.sign in ("//", "%")):
            whole = self.whole(x, axes)
            return lambda frame: frame.counted(whole(frame))  # type: ignore[attr-defined]
        if (logistic := _logistic(x)) is not None:
            return self._over_logistic(*logistic, axes)
        return super().value(x, axes)

    def _over_logistic(self, a: Node, b: Node, axes: Axes) -> Compiled:
        """Return a / (1 + exp(b)) of powers that cannot overflow."""
        top, power = self.value(a, axes), self.value(b, axes)

        def made(frame: Frame) -> Value:
            y: Any = near(power(frame))
            t = frame.function("exp", frame.number(0) - frame.function("abs", y))
            one = frame.number(1)
            return top(frame) * (np.where(y > 0, t, one) / (one + t))

        return made

    def entry(self, x: Entry, axes: Axes) -> Compiled:
        made = super().entry(x, axes)

        def read(frame: Frame) -> Value:
            value = made(frame)
            return value[...] if isinstance(value, _Rows) else value

        return read


def _logistic(x: Node) -> tuple[Node, Node] | None:
    """Return a and b of a / (1 + exp(b))."""
    if isinstance(x, Operator) and x.sign == "/":
        below = x.arguments[1]
        while isinstance(below, Marked):
            below = below.body
        match below:
            case Operator("+", (one, Function("exp", (b,)))) if one == ONE:
                return x.arguments[0], b
    return None


@lru_cache(maxsize=4096)
def _compiled(x: Node, axes: Axes, indices: frozenset[str]) -> Compiled:
    return _Compiler(indices).value(x, axes)


def _context(digits: int) -> Context:
    return Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)


def _digits() -> int:
    from decimal import getcontext

    return getcontext().prec


def prove(
    stages: Sequence[Stage],
    given: Mapping[str, Matrix],
    decimals: int,
    *,
    each_step: bool = False,
    guard: int = GUARD,
    most_work: float = np.inf,
) -> dict[str, Proven]:
    """Return the matrix of each step with its digits.

    Parameters
    ----------
    stages
        The plan.
    given
        The matrices it starts from: Decimals and Fractions as typed, or floats that stand for the
        shortest decimals stored as these floats; conditions as booleans.
    decimals
        How many decimals are shown.
    each_step
        Whether the next step reads each matrix at the shown decimals.
    guard
        The decimal place up to which numbers are told apart from ties: what is nearer counts as
        a tie, as thirds of a tie and the like should.
    most_work
        How many products of Decimals may be computed.

    Raises
    ------
    TooMuchWorkError
        When the open entries need more of them.
    UndecidedError
        When an entry depends on a choice that no number of digits decides.
    """
    known: dict[str, Any] = {}
    exact: dict[str, _Exact] = {}
    for name, matrix in given.items():
        known[name] = matrix if matrix.dtype == bool else Near.typed(matrix)
        if matrix.dtype != bool:
            exact[name] = _Exact(known[name], matrix)
    made: dict[str, Proven] = {}
    budget = [most_work]
    for stage in stages:
        matrices = {own: known[name] for own, name in stage.inputs.items()}
        shapes = {name: np.shape(m) for name, m in (*matrices.items(), *stage.tables.items())}
        numbers = {**stage.settings, **extents(stage.equation, shapes, stage.settings)}
        sources = {own: exact.get(name, known[name]) for own, name in stage.inputs.items()}
        try:
            value = near(evaluated(stage.equation, _Frame({**matrices, **stage.tables}, numbers)))
        except UndecidedError:
            shape = tuple(int(numbers[each]) for each in stage.equation.at)
            value = Near(np.zeros(shape), np.inf)
        own = _Exact(value, None, stage, numbers, sources, budget)
        digits, opened, ties = _round(own, decimals, guard)
        made[stage.name] = Proven(value, digits, decimals, opened, ties)
        is_given = stage.name in stage.inputs.values()
        if each_step and not is_given:
            known[stage.name] = made[stage.name].carried
            own = _Exact(known[stage.name], _as_typed(made[stage.name]))
        else:
            known[stage.name] = value
        exact[stage.name] = own
    return made


def _as_typed(made: Proven) -> Matrix | None:
    return made.rounded if made.digits.dtype == object else None


def _round(exact: "_Exact", decimals: int, guard: int) -> tuple[Matrix, int, list[tuple[int, ...]]]:
    """Return digits as whole numbers of the last place; what is open is computed exactly."""
    value = exact.near
    if value.whole is not None and (made := rounded_whole(value, decimals)) is not None:
        return made, 0, []
    digits, places = nearest_digits(value.values, value.errors, decimals)
    if not places.size:
        return digits, 0, []
    found, ties = exact.decided(places, decimals, guard)
    flat = digits.reshape(-1)
    if any(abs(k) >= LARGEST_WHOLE for k in found):
        flat = np.array([int(k) if np.isfinite(k) else k for k in flat], object)
    flat[places] = np.array(found, flat.dtype)
    at = [tuple(map(int, np.unravel_index(each, digits.shape))) for each in ties]
    return flat.reshape(digits.shape), places.size, at


class _Exact:
    """A matrix whose rows are computed in Decimals when they are asked for.

    Parameters
    ----------
    near
        Its values in floats, with bounds.
    typed
        Its values as typed, where it is given.
    stage, numbers, sources
        Else what makes it: its step, the numbers of that, and the matrices it reads.
    """

    def __init__(
        self,
        near_: Near,
        typed: Matrix | None = None,
        stage: Stage | None = None,
        numbers: Mapping[str, Setting] | None = None,
        sources: "Mapping[str, Any] | None" = None,
        budget: list[float] | None = None,
    ) -> None:
        self.budget = budget or [np.inf]
        self.near, self.typed, self.stage = near_, typed, stage
        self.numbers, self.sources = dict(numbers or {}), sources or {}
        self._rows: dict[int, _Rows] = {}

    @cached_property
    def work(self) -> float:
        """How many products of Decimals an entry takes."""
        assert self.stage is not None
        shapes = {name: np.shape(_values(each)) for name, each in self.sources.items()}
        shapes |= {name: each.shape for name, each in self.stage.tables.items()}
        products, functions = cost(self.stage.equation, shapes, self.stage.settings)
        return (products + COST_OF_FUNCTION * functions) / max(1, prod(self.near.shape))

    def spend(self, entries: int) -> None:
        """Count the work of entries that are computed exactly."""
        self.budget[0] -= self.work * entries + COST_OF_ROW
        if self.budget[0] < 0:
            raise TooMuchWorkError

    def rows(self) -> "_Rows":
        """Return its rows at the digits of the current context."""
        digits = _digits()
        if digits not in self._rows:
            self._rows = {digits: _Rows(self)}  # those of fewer digits are of no use any more
        return self._rows[digits]

    def decided(self, places: Matrix, decimals: int, guard: int) -> tuple[list[Any], list[int]]:
        """Return the digits of entries, by their flat places, and those that stay open."""
        found: dict[int, Any] = {}
        left = [int(each) for each in places]
        ties: list[int] = []
        for digits in DIGITS:
            with localcontext(_context(digits)):
                values, errors = self.rows().entries(left)
                again: list[int] = []
                for place, value, error in zip(left, values, errors, strict=True):
                    wide = error + 10.0**-guard if error else 0.0
                    ends = _ends(value, wide, decimals)
                    found[place] = max(ends, key=abs)
                    if ends[0] != ends[1]:
                        (ties if error < 10.0**-guard else again).append(place)
            left = again
            if not left:
                return [found[int(each)] for each in places], ties
        raise UndecidedError("an entry depends on a choice that no number of digits decides")


def _values(source: "_Exact | Matrix") -> Any:
    return source.near if isinstance(source, _Exact) else source


def _ends(value: Decimal, error: float, decimals: int) -> tuple[Any, Any]:
    """Return the digits at both ends of what a value may be, as whole numbers."""
    if not value.is_finite():
        return float(value), float(value)
    if not np.isfinite(error):
        return 0, 1
    with localcontext(_context(2 * _digits() + abs(value.adjusted()) + decimals + 330)):
        wide = Decimal(error)
        ends = [
            int(half_away(end, decimals).scaleb(decimals)) for end in (value - wide, value + wide)
        ]
    return ends[0], ends[1]


class _Rows:
    """The rows of a matrix in Decimals of one precision, each computed once."""

    dtype = np.dtype(object)

    def __init__(self, exact: _Exact) -> None:
        self.exact = exact
        self.shape = exact.near.shape
        count = int(np.prod(self.shape[:-1], dtype=int))
        self.values = np.empty(self.shape, object)
        self.errors = np.zeros(self.shape)
        self.known = np.zeros(count, bool)
        self.is_known = False
        self.is_given = exact.typed is not None or exact.near.whole is not None
        numbered = np.arange(count).reshape((*self.shape[:-1], 1))
        self.numbered = np.broadcast_to(numbered, self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def transpose(self, axes: Sequence[int]) -> Any:
        return self[...].transpose(axes)

    def __getitem__(self, at: Any) -> Near:
        if not self.is_known:
            asked = self.numbered[at]
            if self.is_given:
                if FEW * asked.size < self.numbered.size:
                    return near(self._given(at))
                made: Near = self._given(...)
                self.values, self.errors = made.values, made.errors
                self.is_known = True
                return made[at]
            rows = np.unique(asked)
            for row in rows[~self.known[rows]]:
                self._compute(int(row))
            self.is_known = bool(self.known.all())
        return Near(self.values[at], self.errors[at])

    def of(self, lead: tuple[int, ...], count: int) -> "_Rows | _Part":
        """Return the part that an equation of fewer indices reads, where axes are carried along."""
        more = self.ndim - count
        if not more:
            return self
        sides = self.shape[:more]
        own = lead[len(lead) - more :]
        return _Part(self, tuple(0 if s == 1 else i for i, s in zip(own, sides, strict=True)))

    def entries(self, places: Sequence[int]) -> tuple[list[Decimal], list[float]]:
        """Return entries by their flat places: whole rows where many are asked for."""
        width = self.shape[-1]
        rows, counts = np.unique(np.asarray(places) // width, return_counts=True)
        stage = self.exact.stage
        by_rows = (
            stage is None
            or self.is_given
            or stage.equation.recurs is not None
            or any(isinstance(y, Row) for y in stage.equation.nodes)
        )
        many = {int(r) for r, k in zip(rows, counts, strict=True) if by_rows or k > FEW}
        values, errors = [], []
        for place in places:
            at = np.unravel_index(place, self.shape)
            if place // width in many or self.known[place // width]:
                one = self[at]
            else:
                one = self._evaluated(tuple(map(int, at)))
            values.append(one.values.item())
            errors.append(float(one.errors))
        return values, errors

    def _compute(self, row: int) -> None:
        """Compute one row; a matrix that reads its own rows is computed whole."""
        at = tuple(map(int, np.unravel_index(row, self.shape[:-1]))) if self.shape[:-1] else ()
        stage = self.exact.stage
        if stage is None:
            raise TypeError("a matrix needs numbers as typed, or a step that makes it")
        if stage.equation.recurs is not None:
            count = len(stage.equation.at)
            lead = at[: len(self.shape) - count]
            self.exact.spend(prod(self.shape[len(lead) :]))
            made = near(evaluated(stage.equation, self._frame(lead, {})))
            self.values[lead], self.errors[lead] = made.values, made.errors
            own = self.numbered[lead]
            self.known[own.ravel()] = True
            return
        made = self._evaluated(at)
        self.values[at], self.errors[at] = made.values, made.errors
        self.known[row] = True

    def _given(self, at: Any) -> Any:
        """Return entries that are known without computing them."""
        if self.exact.near.whole is not None:
            counts = np.asarray(self.exact.near.whole[at])
            unit = number(self.exact.near.unit, self.values)
            return Near(np.asarray(np.frompyfunc(Decimal, 1, 1)(counts), object)) * unit
        typed = np.asarray(np.asarray(self.exact.typed)[at])
        if typed.dtype != object:  # floats stand for their shortest decimals
            typed = np.asarray(np.frompyfunc(lambda x: Decimal(str(x)), 1, 1)(typed))
        made, unit_ = _rounded(np.frompyfunc(to_decimal, 1, 1), typed)
        made = np.asarray(made, object)
        return Near(made, size(made) * unit_)

    def _evaluated(self, at: tuple[int, ...]) -> Any:
        """Return the entries of a row, or a single one, where the first indices are fixed."""
        stage = self.exact.stage
        assert stage is not None
        equation = stage.equation
        more = self.ndim - len(equation.at)
        fixed = dict(zip(equation.at, at[more:], strict=False))
        axes = tuple(each for each in equation.at if each not in fixed)
        self.exact.spend(prod(int(self.exact.numbers[each]) for each in axes))
        frame = self._frame(at[:more], fixed)
        with np.errstate(all="ignore"):
            entry = frame.compiled(equation.right, axes, equation.indices - frozenset(fixed))
            made = near(entry(frame))
        width = tuple(int(self.exact.numbers[each]) for each in axes)
        made = made.reshape(made.shape[made.ndim - len(axes) :])
        return made if made.shape == width else np.broadcast_to(made, width)

    def _frame(self, lead: tuple[int, ...], fixed: Mapping[str, int]) -> _Frame:
        stage = self.exact.stage
        assert stage is not None
        axes = {x.name: len(x.at) for x in stage.equation.nodes if isinstance(x, Entry)}
        matrices: dict[str, Any] = {}
        for name, source in self.exact.sources.items():
            if isinstance(source, _Exact):
                rows = source.rows()
                matrices[name] = rows.of(lead, axes.get(name, rows.ndim))
            else:
                more = max(0, source.ndim - axes.get(name, source.ndim))
                own = lead[len(lead) - more :]
                part = tuple(0 if s == 1 else i for i, s in zip(own, source.shape, strict=False))
                matrices[name] = source[part]
        numbers = {**self.exact.numbers, **fixed}
        return _Frame({**matrices, **stage.tables}, numbers, in_decimals=True)


class _Part(_Rows):
    """A part of the rows of a matrix: those of one head, or of one problem of a family."""

    def __init__(self, rows: _Rows, lead: tuple[int, ...]) -> None:
        self.rows, self.lead = rows, lead
        self.shape = rows.shape[len(lead) :]

    def __getitem__(self, at: Any) -> Near:
        places = at if isinstance(at, tuple) else (at,)
        return self.rows[(*self.lead, *(each for each in places if each is not Ellipsis))]
