"""Plans of equations with every digit proven: a floating-point filter, and exact decimals behind it.

Each matrix is computed in float64 with a bound of each entry's error. Where the bound leaves the
shown digit open, the row of that entry alone is computed in Decimals, from the rows it depends on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np

from attncalc.equations.evaluate import Frame, compiled, evaluated
from attncalc.equations.extents import Setting, extents
from attncalc.equations.measure import cost, is_rational
from attncalc.equations.near import (
    LARGEST_SHOWN,
    Near,
    NearFrame,
    UndecidedError,
    near,
    nearest_digits,
    rounded_whole,
)
from attncalc.equations.tree import Entry, Equation
from attncalc.numbers.decimals import COST_OF_FUNCTION, Digits, decimals_of, to_decimal
from attncalc.numbers.rounding import half_away
from attncalc.numbers.types import Matrix, Place

COST_OF_ROW = 3000
"""What it costs to start on a row, in products of Decimals."""


class UnprovenError(Exception):
    """A digit that is not proven: it takes more work, or more digits, than is allowed."""


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


class Proven(NamedTuple):
    """A matrix with proven digits.

    Parameters
    ----------
    value
        The values, with a bound of the error of each.
    digits
        The values at the shown decimals, half away from zero.
    opened
        How many entries the bounds left open.
    ties
        Where an irrational value is too near to a tie to tell: it counts as one.
    """

    value: Near
    digits: Matrix
    opened: int = 0
    ties: tuple[Place, ...] = ()


def prove(
    stages: Sequence[Stage],
    given: Mapping[str, Matrix],
    decimals: int,
    exactly: Callable[[], Digits],
    *,
    each_step: bool = False,
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
    exactly
        Returns the digits in which open entries are computed, where there are any.
    each_step
        Whether the next step reads each matrix at the shown decimals.
    most_work
        How many products of Decimals may be computed.

    Raises
    ------
    UnprovenError
        When the open entries need more of them, or a number is too large for its digits.
    """
    known: dict[str, Any] = {}
    sources: dict[str, Any] = {}
    rational = set(given)
    proof = _Proof(exactly, most_work)
    for name, matrix in given.items():
        known[name] = sources[name] = matrix
        if matrix.dtype != bool:
            known[name] = Near.typed(matrix)
            sources[name] = _Rows(proof, known[name], typed=matrix)
    made: dict[str, Proven] = {}
    for stage in stages:
        reads = stage.inputs.items()
        own = _Own(stage, {each: known[name] for each, name in reads})
        exact = {each: sources[name] for each, name in reads}
        rows = _Rows(proof, own.value, own=own, sources=exact)
        if is_rational(stage.equation, own.numbers) and rational.issuperset(stage.inputs.values()):
            rational.add(stage.name)
        whole, opened, ties = _whole_digits(rows, decimals)
        told = () if stage.name in rational else ties
        made[stage.name] = Proven(own.value, whole / 10.0**decimals, opened, told)
        if each_step and stage.name not in stage.inputs.values():  # what is given stays as it is
            unit = Fraction(1, 10**decimals)
            rows = _Rows(proof, Near(whole=whole, unit=unit, most=LARGEST_SHOWN))
            rational.add(stage.name)
        known[stage.name], sources[stage.name] = rows.near, rows
    return made


class _Own:
    """A step with the numbers that its equation reads, and its values."""

    def __init__(self, stage: Stage, matrices: Mapping[str, Any]) -> None:
        self.stage, self.equation = stage, stage.equation
        self.shapes = {name: np.shape(m) for name, m in (*matrices.items(), *stage.tables.items())}
        own = extents(stage.equation, self.shapes, stage.settings)
        self.numbers: dict[str, Setting] = {**stage.settings, **own}
        self.shape = tuple(int(self.numbers[each]) for each in stage.equation.at)
        self.axes = {x.name: len(x.at) for x in self.equation.nodes if isinstance(x, Entry)}
        try:
            frame = NearFrame({**matrices, **stage.tables}, self.numbers)
            self.value = near(evaluated(stage.equation, frame))
        except UndecidedError:
            self.value = Near(np.zeros(self.shape), np.inf)

    def work(self, digits: Digits) -> float:
        """Return what all entries cost, in products of Decimals."""
        products, functions = cost(self.equation, self.shapes, self.stage.settings)
        return products + functions * COST_OF_FUNCTION * (digits.precision / 60) ** 2.3


@dataclass
class _Proof:
    """What open entries of all steps share: the digits of Decimals, and the work that is left."""

    exactly: Callable[[], Digits]
    left: float

    @cached_property
    def digits(self) -> Digits:
        return self.exactly()

    def spend(self, work: float) -> None:
        self.left -= work + COST_OF_ROW
        if self.left < 0:
            raise UnprovenError


def _whole_digits(rows: "_Rows", decimals: int) -> tuple[Matrix, int, tuple[Place, ...]]:
    """Return digits as whole numbers of the last place; what is open is computed exactly."""
    if rows.near.whole is not None and (made := rounded_whole(rows.near, decimals)) is not None:
        return made, 0, ()
    whole, places = nearest_digits(rows.near, decimals)
    if not places.size:
        return whole, 0, ()
    ties = []
    digits = rows.proof.digits
    with localcontext(digits.context), np.errstate(all="ignore"):
        dust = Decimal(1).scaleb(-digits.guard)
        for at in zip(*np.unravel_index(places, whole.shape), strict=True):
            value: Decimal = rows[at].item()
            if not value.is_finite():
                whole[at] = float(value)
                continue
            # thirds and roots leave dust: what lies beyond the guard is no distance from a tie
            cleared = value.quantize(dust, rounding=ROUND_HALF_EVEN)
            rounded = half_away(cleared, decimals).scaleb(decimals)
            if abs(rounded) >= LARGEST_SHOWN:
                raise UnprovenError
            whole[at] = float(rounded)
            if cleared != value and cleared.scaleb(decimals) % 1 in (HALF, -HALF):
                ties.append(tuple(map(int, at)))
    return whole, places.size, tuple(ties)


HALF = Decimal("0.5")


class _Rows(np.lib.mixins.NDArrayOperatorsMixin):
    """A matrix that is read as an array of Decimals is; a row is computed when it is read."""

    dtype = np.dtype(object)

    def __init__(
        self,
        proof: _Proof,
        near_: Near,
        typed: Matrix | None = None,
        own: _Own | None = None,
        sources: "Mapping[str, Any] | None" = None,
    ) -> None:
        self.proof, self.near, self.typed, self.own = proof, near_, typed, own
        self.sources = sources or {}
        self.shape, self.ndim = near_.shape, near_.ndim

    @cached_property
    def _values(self) -> Matrix:
        return np.empty(self.shape, object)

    @cached_property
    def _known(self) -> Matrix:
        return np.zeros(self.shape[:-1], bool)

    @cached_property
    def _numbered(self) -> Matrix:
        numbered = np.arange(self._known.size).reshape((*self.shape[:-1], 1))
        return np.broadcast_to(numbered, self.shape)

    def __getitem__(self, at: Any) -> Any:
        if not self._known.all():
            for row in np.unique(self._numbered[at]):
                place = tuple(map(int, np.unravel_index(row, self._known.shape)))
                if not self._known[place]:
                    self._compute(place)
        return np.asarray(self._values[at], object)  # a number, too, is read as an array is

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        return np.asarray(self[...], dtype)

    def __getattr__(self, name: str) -> Any:
        """Return sums, transposes and what else arrays have."""
        return getattr(self[...], name)

    def _compute(self, row: Place) -> None:
        if self.near.whole is not None:
            unit = to_decimal(self.near.unit)
            counts = [int(k) if np.isfinite(k) else k for k in self.near.whole[row].tolist()]
            self._values[row] = [Decimal(k) * unit for k in counts]
        elif self.typed is not None:
            self._values[row] = decimals_of(_as_typed(self.typed[row]))
        else:
            assert self.own is not None
            row = self._compute_from(self.own, row)
        self._known[row] = True

    def _compute_from(self, own: _Own, row: Place) -> Place:
        """Compute a row of a step; a matrix that reads its own rows, whole."""
        equation, more = own.equation, self.ndim - len(own.equation.at)
        lead = row[:more]
        at = row if equation.recurs is None else lead
        self.proof.spend(own.work(self.proof.digits) / prod(self.shape[: len(at)]))
        fixed = dict(zip(equation.at, row[more:], strict=False))
        matrices = {
            name: _part(source, lead, own.axes.get(name, source.ndim))
            for name, source in self.sources.items()
        }
        numbers = own.numbers if equation.recurs is not None else {**own.numbers, **fixed}
        frame = Frame({**matrices, **own.stage.tables}, numbers)
        if equation.recurs is not None:
            self._values[at] = evaluated(equation, frame)
            return at
        entry = compiled(equation.right, equation.at[-1:], equation.indices - frozenset(fixed))
        self._values[at] = np.asarray(entry(frame), object)
        return at


def _as_typed(row: Matrix) -> Matrix:
    """Return numbers as typed; floats stand for their shortest decimals."""
    if row.dtype == object:
        return row
    return np.array([Decimal(repr(x)) for x in row.tolist()], object)


def _part(source: Any, lead: Place, count: int) -> Any:
    """Return the part that an equation of fewer indices reads, where axes are carried along."""
    more = source.ndim - count
    if more <= 0:
        return source
    own = lead[len(lead) - more :]
    part = tuple(0 if side == 1 else i for i, side in zip(own, source.shape, strict=False))
    return _Part(source, part) if isinstance(source, _Rows) else source[part]


class _Part(_Rows):
    """A part of the rows of a matrix: those of one head, or of one problem of a family."""

    def __init__(self, rows: _Rows, lead: Place) -> None:
        self.rows, self.lead = rows, lead
        self.shape = rows.shape[len(lead) :]
        self.ndim = len(self.shape)

    def __getitem__(self, at: Any) -> Any:
        places = at if isinstance(at, tuple) else (at,)
        return self.rows[(*self.lead, *(each for each in places if each is not Ellipsis))]
