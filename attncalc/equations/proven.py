"""Plans of equations with every digit proven: a floating-point filter before exact decimals.

Each matrix is computed in float64 with a bound of each entry's error. Where the bound leaves the
shown digit open, the row of that entry alone is computed in Decimals, from the rows it depends on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, Inexact, getcontext, localcontext
from fractions import Fraction
from functools import cached_property, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.decimals import COST_OF_FUNCTION, Digits, decimals_of, to_decimal
from attncalc.base.rounding import half_away
from attncalc.base.types import Matrix, Place
from attncalc.equations.evaluate import Frame, compiled, evaluated
from attncalc.equations.extents import Setting, extents
from attncalc.equations.measure import cost, is_rational
from attncalc.equations.near import LARGEST_SHOWN, Near, NearFrame, near, nearest_digits
from attncalc.equations.tree import Entry, Equation

COST_OF_ROW = 3000
"""What it costs to start on a row, in products of Decimals."""


class UnprovenError(Exception):
    """A digit that is not proven: it takes more work, or more digits, than is allowed."""


class Stage(NamedTuple):
    """A step of a plan: its name, its equation, and what the equation reads.

    name, equation: the matrix in the plan, and its equation.
    inputs: for each matrix of the equation, its name in the plan.
    tables: matrices of whole numbers, or of conditions, that are no matrices of the plan.
    """

    name: str
    equation: Equation
    inputs: Mapping[str, str]
    settings: Mapping[str, Setting] = {}
    tables: Mapping[str, Matrix] = {}


class Proven(NamedTuple):
    """A matrix with proven digits.

    digits: the values at the shown decimals, half away from zero.
    opened: how many entries the bounds left open.
    ties: where an irrational value is too near to a tie to tell: it counts as one.
    """

    value: Near
    digits: Matrix
    opened: int = 0
    ties: tuple[Place, ...] = ()


@np.errstate(all="ignore")
def prove(
    stages: Sequence[Stage],
    given: Mapping[str, Matrix],
    decimals: int,
    exactly: Callable[[], Digits],
    *,
    each_step: bool = False,
    work: float = np.inf,
) -> dict[str, Proven]:
    """Return the matrix of each step with its digits.

    Raises UnprovenError if the open entries need more of them, or a number is too large for its
    digits.

    given: the given matrices: Decimals and Fractions as typed, or floats, which mean the shortest
        decimals stored as these floats; conditions as booleans.
    exactly: returns the digits in which open entries are computed, where there are any.
    each_step: whether the next step reads each matrix at the shown decimals.
    work: how many products of Decimals may be computed.
    """
    sources: dict[str, Any] = {
        name: matrix if matrix.dtype == bool else _Rows(Near.typed(matrix), partial(_typed, matrix))
        for name, matrix in given.items()
    }
    rational, proof = set(given), _Proof(exactly, work)
    made: dict[str, Proven] = {}
    for stage in stages:
        name, reads = stage.name, stage.inputs
        step = _Step(stage, {own: sources[each] for own, each in reads.items()}, proof)
        if rational.issuperset(reads.values()) and is_rational(stage.equation, step.numbers):
            rational.add(name)
        rows = sources[name] = _Rows(step.values(), step.row)
        whole, opened, ties = _whole_digits(rows, decimals, proof)
        ties = () if name in rational else ties
        made[name] = Proven(rows.near, whole / 10.0**decimals, opened, ties)
        if each_step and name not in reads.values():  # what is given is read as it was given
            unit = Fraction(1, 10**decimals)
            sources[name] = _Rows(Near(whole=whole, unit=unit, most=LARGEST_SHOWN))
            rational.add(name)
    return made


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


def _whole_digits(
    rows: "_Rows", decimals: int, proof: _Proof
) -> tuple[Matrix, int, tuple[Place, ...]]:
    """Return digits as whole numbers of the last place; what is open is computed exactly."""
    whole, places = nearest_digits(rows.near, decimals)
    if not places.size:
        return whole, 0, ()
    ties = []
    with localcontext(proof.digits.context):
        flags, dust = getcontext().flags, Decimal(1).scaleb(-proof.digits.guard)
        for at in zip(*np.unravel_index(places, whole.shape), strict=True):
            flags[Inexact] = False
            value: Decimal = rows[at].item()
            is_exact = not flags[Inexact]
            if not value.is_finite():
                whole[at] = float(value)
                continue
            # thirds and roots leave residues: digits beyond the guard are no distance from a tie
            cleared = value.quantize(dust, rounding=ROUND_HALF_EVEN)
            rounded = half_away(cleared, decimals).scaleb(decimals)
            if abs(rounded) >= LARGEST_SHOWN:
                raise UnprovenError
            whole[at] = float(rounded)
            if not is_exact and abs(cleared.scaleb(decimals) % 1) == Decimal("0.5"):
                ties.append(tuple(map(int, at)))
    return whole, places.size, tuple(ties)


class _Rows:
    """A matrix that is read as an array of Decimals is; a row is computed when it is read.

    near_: its values, with bounds.
    row: returns a row by its place, or more: the part at a place that the row's begins with.
    """

    dtype = np.dtype(object)

    def __init__(
        self, near_: Near, row: Callable[[Place], tuple[Place, Matrix]] | None = None
    ) -> None:
        self.near, self.shape, self.ndim = near_, near_.shape, near_.ndim
        self.row = row if row and near_.whole is None else self._whole_row

    @cached_property
    def _values(self) -> Matrix:
        return np.empty(self.shape, object)

    @cached_property
    def _state(self) -> Matrix:
        """Which rows are not known, 0, known, 1, and known with nothing rounded on the way, 2."""
        return np.zeros(self.shape[:-1], int)

    @cached_property
    def _numbered(self) -> Matrix:
        numbered = np.arange(self._state.size).reshape((*self.shape[:-1], 1))
        return np.broadcast_to(numbered, self.shape)

    def __getitem__(self, at: Any) -> Any:
        flags, state = getcontext().flags, self._state.reshape(-1)
        asked = np.unique(self._numbered[at])
        for row in asked[state[asked] == 0]:
            if not state[row]:  # nor computed with one before it
                place = tuple(map(int, np.unravel_index(row, self._state.shape)))
                before, flags[Inexact] = flags[Inexact], False
                part, self._values[part] = self.row(place)
                self._state[part], flags[Inexact] = 1 if flags[Inexact] else 2, before
        flags[Inexact] |= bool((state[asked] < 2).any())
        return np.asarray(self._values[at], object)  # a number, too, is read as an array is

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        return np.asarray(self[...], dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return ufunc(*(x[...] if isinstance(x, _Rows) else x for x in inputs), **named)

    def __getattr__(self, name: str) -> Any:
        """Return sums, transposes and what else arrays have."""
        return getattr(self[...], name)

    def _whole_row(self, row: Place) -> tuple[Place, Matrix]:
        unit = to_decimal(self.near.unit)
        counts = [int(k) if np.isfinite(k) else k for k in self.near.whole[row].tolist()]
        return row, np.array([Decimal(k) * unit for k in counts], object)


class _Part(_Rows):
    """The rows of one head, or of one problem of a family."""

    def __init__(self, rows: _Rows, lead: Place) -> None:
        self.rows, self.lead, self.shape = rows, lead, rows.shape[len(lead) :]
        self.ndim = len(self.shape)

    def __getitem__(self, at: Any) -> Any:
        places = at if isinstance(at, tuple) else (at,)
        return self.rows[(*self.lead, *(each for each in places if each is not Ellipsis))]


def _typed(matrix: Matrix, row: Place) -> tuple[Place, Matrix]:
    """Return a row of numbers as typed; floats mean their shortest decimals."""
    if matrix.dtype == object:
        return row, decimals_of(matrix[row])
    return row, np.array([Decimal(x) for x in matrix[row].astype(str)], object)


class _Step:
    """A step, with the matrices and the numbers that its equation reads."""

    def __init__(self, stage: Stage, sources: Mapping[str, Any], proof: _Proof) -> None:
        self.equation, self.tables = stage.equation, stage.tables
        self.sources, self.proof = sources, proof
        shapes = {name: each.shape for name, each in (*sources.items(), *stage.tables.items())}
        own = extents(stage.equation, shapes, stage.settings)
        self.numbers: dict[str, Setting] = {**stage.settings, **own}
        self.axes = {x.name: len(x.at) for x in self.equation.nodes if isinstance(x, Entry)}
        self.cost = cost(self.equation, shapes, stage.settings)

    def values(self) -> Near:
        """Return the values, with bounds."""
        known = {name: getattr(each, "near", each) for name, each in self.sources.items()}
        return near(evaluated(self.equation, NearFrame({**known, **self.tables}, self.numbers)))

    def row(self, row: Place) -> tuple[Place, Matrix]:
        """Return a row in Decimals; of a matrix that reads its own rows, all of them."""
        equation, more = self.equation, len(row) + 1 - len(self.equation.at)
        sizes = [int(self.numbers[each]) for each in equation.at]
        is_whole = equation.recurs is not None
        products, functions = self.cost
        work = products + functions * COST_OF_FUNCTION * (self.proof.digits.precision / 60) ** 2.3
        self.proof.spend(work if is_whole else work / prod(sizes[:-1]))
        lead, fixed = row[:more], dict(zip(equation.at, row[more:], strict=False))
        matrices = {name: self._part(name, lead) for name in self.sources}
        frame = Frame({**matrices, **self.tables}, self.numbers)
        if is_whole:
            return lead, evaluated(equation, frame)
        frame.numbers = {**self.numbers, **fixed}
        entry = compiled(equation.right, equation.at[-1:], equation.indices - frozenset(fixed))
        return row, np.asarray(entry(frame), object)

    def _part(self, name: str, lead: Place) -> Any:
        """Return what the equation reads of a matrix, where axes are carried along."""
        source = self.sources[name]
        more = source.ndim - self.axes.get(name, source.ndim)
        if more <= 0:
            return source
        own = zip(lead[len(lead) - more :], source.shape, strict=False)
        part = tuple(0 if side == 1 else i for i, side in own)
        return _Part(source, part) if isinstance(source, _Rows) else source[part]
