"""Half away from zero of the *decimal* value: 2.675 → 2.68, for any binary float.

One rule in two number systems: exact decimals (every small problem) and float64 (the large ones).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np

from attncalc.base.decimals import each_entry
from attncalc.base.errors import InputError
from attncalc.base.types import Matrix

Rule = Literal["half-away", "half-even", "truncate"]
"""How a number is cut: ours, the one of IEEE 754 and of statistics, and digits left out."""

INFINITE = float("inf")
RELATIVE_TIE = 1e-12
"""How near to a half, relative to the value, a float64 counts as the tie it came from …"""
POCKET_TIE = 5e-11
"""How near to the next digit, relative to the value, a pocket calculator shows that digit."""
LARGEST_TIE = 1e-4
"""… but never further than this share of the last place, or large values would all be ties."""
AT_ONCE = 2**18
"""Entries of a matrix that are rounded at once, so that no large copy is needed."""
LARGEST_SCALED = 2.0**51
"""From here on float64 represents only whole numbers and halves: nothing is left to round."""


def round_floats(values: Matrix, decimals: int, rule: Rule = "half-away") -> Matrix:
    """Round a float64 array at `decimals` decimals: half away from zero, or as others do.

    >>> round_floats(np.array([2.675, 0.125, -1.005, -0.001]), 2)
    array([ 2.68,  0.13, -1.01,  0.  ])
    >>> round_floats(np.array([2.675, 0.125, -1.009]), 2, "half-even")
    array([ 2.68,  0.12, -1.01])
    >>> round_floats(np.array([2.675, 0.125, -1.009]), 2, "truncate")
    array([ 2.67,  0.12, -1.  ])
    """
    if values.ndim < 2 or values.size <= AT_ONCE:
        return _rounded(values, decimals, rule)
    rounded = np.empty_like(values)
    for rows in blocks_of_rows(values.shape):
        rounded[rows] = _rounded(values[rows], decimals, rule)
    return rounded


def blocks_of_rows(shape: tuple[int, ...]) -> Iterator[tuple[int | slice, ...]]:
    """Yield where the blocks of rows are in which a large matrix is gone through.

    >>> list(blocks_of_rows((2, 3, 2**18)))[:2]
    [(0, slice(0, 1, None)), (0, slice(1, 2, None))]
    """
    *heads, n, m = shape
    height = max(1, AT_ONCE // m)
    for head in np.ndindex(*heads):
        for start in range(0, n, height):
            yield (*head, slice(start, start + height))


@dataclass(frozen=True, eq=False)
class Rounded:
    """A large matrix at the shown decimals, rounded when read: half away from zero.

    A row or an entry of it is an array; larger parts stay unrounded until they are read.
    """

    exact: Matrix
    decimals: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape, with an axis of heads first where it has any."""
        return self.exact.shape

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return self.exact.ndim

    def __getitem__(self, place: Any) -> Any:
        """Return an entry or a row, rounded, or a part that will be."""
        part = self.exact[place]
        if part.ndim > 1:
            return Rounded(part, self.decimals)
        return round_floats(part, self.decimals)

    def __len__(self) -> int:
        """Return how many rows, or heads, it has."""
        return len(self.exact)

    def __iter__(self) -> Iterator[Any]:
        """Yield its rows, or its heads."""
        return (self[index] for index in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        """Return all of it, rounded."""
        return np.asarray(round_floats(self.exact, self.decimals), dtype)


def rounded_as_read(values: Matrix, decimals: int) -> "Matrix | Rounded":
    """Return a matrix of floats at the shown decimals; a large one is not kept a second time."""
    if values.size <= AT_ONCE:
        return round_floats(values, decimals)
    return Rounded(values, decimals)


def _rounded(values: Matrix, decimals: int, rule: Rule) -> Matrix:
    unit = 10.0**decimals
    size = np.abs(values)  # both signs round alike; the sign is restored at the end
    roundable = size < LARGEST_SCALED / unit
    scaled = np.where(roundable, size, 0.0) * unit
    whole = np.floor(scaled)
    # 2.675 is stored a little below the tie it was typed as: a float this near a half is one
    tie = np.minimum(RELATIVE_TIE * scaled, LARGEST_TIE)
    rest = scaled - whole
    if rule == "truncate":
        up = rest >= 1 - np.minimum(POCKET_TIE * scaled, LARGEST_TIE)
    elif rule == "half-even":
        up = (rest > 0.5 + tie) | ((rest >= 0.5 - tie) & (whole % 2 == 1))
    else:
        up = rest >= 0.5 - tie
    rounded = (whole + up) / unit
    signed: Matrix = np.where(roundable, np.copysign(rounded, values), values) + 0.0
    return signed  # + 0.0 turns -0.0 into 0.0


def round_decimals(values: Matrix, decimals: int, guard: int) -> Matrix:
    """Round an array of Decimals half away from zero at `decimals` decimals.

    Raises InputError if a value has more digits than can be trusted.

    guard: the decimal place (such as 40) up to which the values can be trusted: later digits are
        errors of irrational steps and of thirds, and are cleared before ties are decided.

    >>> thirds = np.array([Decimal("0.37499999999999999999999999999999")], dtype=object)
    >>> round_decimals(thirds, 2, guard=20)
    array([Decimal('0.38')], dtype=object)
    """
    # a third times three is 0.999…9 in any number of digits: that is cleared first, or ties are
    # missed
    dust = Decimal(1).scaleb(-guard)

    def one(value: Decimal) -> Decimal:
        if not value.is_finite():  # a masked score
            return value
        return half_away(value.quantize(dust, rounding=ROUND_HALF_EVEN), decimals)

    try:
        return each_entry(one, values)
    except InvalidOperation:  # more digits before the point than there is room for
        raise InputError(
            "numbers grow so large that their last digits are lost: a divisor is nearly 0, for "
            "example the sum of scores that nearly cancel"
        ) from None


def half_away(value: Decimal, decimals: int) -> Decimal:
    """Round one Decimal half away from zero, and never to -0.

    >>> half_away(Decimal("-1.005"), 2), half_away(Decimal("-0.001"), 2)
    (Decimal('-1.01'), Decimal('0.00'))
    """
    rounded = value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    return rounded if rounded else abs(rounded)


def fixed(value: float | Decimal, decimals: int) -> str:
    """Write a rounded value with all its decimals, and never as -0.00.

    >>> fixed(-0.0, 2), fixed(Decimal("2.5"), 2)
    ('0.00', '2.50')
    """
    if value in (INFINITE, -INFINITE):
        return "inf" if value > 0 else "-inf"
    # already rounded: formatting adds zeros, and must never round again
    text = f"{value:.{decimals}f}"
    return text if text.strip("-0.") else text.lstrip("-")
