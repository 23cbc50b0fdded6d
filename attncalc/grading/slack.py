"""The accepted difference: to the digit, or within a tolerance."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from attncalc.base.rounding import Rule, round_floats
from attncalc.base.types import Matrix, Range
from attncalc.reading.answers.expected import MINUS_INFINITY_WRITTEN
from attncalc.solving.solution import Solution

RULES: tuple[Rule, ...] = ("half-away", "half-even", "truncate")
DUST = 1e-6
"""The rounding error of float64 in a bound, in units of the last place."""
MOST_CUT = 50
"""The most decimals of a rounded number; one with more was not rounded."""
MOST_COMPARED = 9
"""The most decimals to which a cause is compared; beyond them floats differ."""
LARGEST_CUT = 1 - 1e-9
"""The largest change by truncation, in units of the last place; an entire unit is a mistake."""
RELATIVE_DUST = 1e-13
BEYOND_ALL_SCORES = 10
"""How many times the largest unmasked score a number that replaces -∞ is at least."""


def stands_for_minus_infinity(written: Matrix, right: Matrix) -> Matrix:
    """Return where -∞ is right and written: as -∞, or as a number below all scores."""
    forbidden = np.isneginf(right)
    if not forbidden.any():
        return forbidden
    largest = float(np.abs(right[np.isfinite(right)]).max(initial=0.0))
    below: Matrix = written <= min(MINUS_INFINITY_WRITTEN, -BEYOND_ALL_SCORES * largest)
    return forbidden & below


def _alike_at_infinity(written: Matrix, right: Range) -> Matrix:
    """Return where an infinity is right and written: no tolerance applies."""
    if np.isfinite(right.high).all():
        return np.zeros(right.high.shape, dtype=bool)
    same: Matrix = np.isinf(written) & (written == right.low) & (written == right.high)
    return same | stands_for_minus_infinity(written, right.high)


def unit_of_digits(values: Matrix, digits: int) -> Matrix:
    """Return the unit of the last of so many significant digits; 0 where there are none."""
    counts = np.isfinite(values) & (values != 0)
    size = np.floor(np.log10(np.abs(np.where(counts, values, 1.0))))
    return np.where(counts, 10.0 ** (size + 1 - digits), 0.0)


def round_digits(values: Matrix, digits: int) -> Matrix:
    """Round to so many significant digits, half away from zero."""
    unit = unit_of_digits(values, digits)
    counts = unit > 0
    scaled = np.abs(np.where(counts, values, 0.0)) / np.where(counts, unit, 1.0)
    rounded = np.floor(scaled + 0.5 + DUST) * unit * np.sign(values)
    return np.where(counts, rounded, values)


@dataclass(frozen=True)
class ToTheDigit:
    """Numbers written to some decimals: rounded in any way, or cut.

    decimals: the required number.
    cuts: whether digits are truncated. A rounded number is within half a unit of its last place; a
        truncated one is less than a unit nearer to zero.
    digits: the largest number of significant digits; 0 for any.
    """

    decimals: int
    cuts: bool = False
    digits: int = 0
    rules: ClassVar[tuple[Rule, ...]] = RULES

    def shown(self, solution: Solution, name: str) -> Matrix:
        """Return a step at the required decimals."""
        return np.asarray(solution.digits[name]).astype(np.float64)

    def written(self, values: Matrix) -> Matrix:
        """Return values at the required decimals."""
        return round_floats(values, self.decimals)

    def near(self, written: Matrix, decimals: Matrix, right: Range) -> Matrix:
        """Return which numbers their true values may give when rounded or truncated."""
        unit = self._unit(written, np.minimum(decimals, self.decimals))
        dust = DUST * unit + RELATIVE_DUST * np.where(np.isfinite(written), np.abs(written), 0)
        half = unit / 2 + dust
        if self.digits:  # the number may be rounded already
            low, high = (round_digits(end, self.digits) for end in right)
            right = Range(np.minimum(right.low, low), np.maximum(right.high, high))
        inwards = unit * LARGEST_CUT if self.cuts else half
        below = np.where(right.low > 0, inwards, half)
        above = np.where(right.high < 0, inwards, half)
        inside: Matrix = (written >= right.low - below) & (written <= right.high + above)
        return (inside & np.isfinite(written)) | _alike_at_infinity(written, right)

    def _unit(self, written: Matrix, decimals: Matrix) -> Matrix:
        """Return the unit of the last place: of the decimals, or of the significant digits."""
        unit: Matrix = 10.0 ** -decimals.astype(float)
        if not self.digits:
            return unit
        return np.maximum(unit, unit_of_digits(written, self.digits))

    def as_written(self) -> "ToTheDigit":
        """Return the same for all written decimals, even if fewer are required."""
        return replace(self, decimals=MOST_COMPARED)

    def behind(self, written: Matrix, decimals: Matrix) -> Range:
        """Return half a unit of the last place on both sides; or an entire one, away from zero."""
        unit = self._unit(written, np.minimum(decimals, MOST_CUT))
        unit = np.where(decimals > MOST_CUT, 0.0, unit)
        if not self.cuts:
            return Range.around(written, unit / 2)
        return Range(written - unit * (written <= 0), written + unit * (written >= 0))


@dataclass(frozen=True)
class Within:
    """Numbers of a program: the largest error is atol + rtol · |right|, as in numpy.

    atol, rtol: the absolute and the relative tolerance.
    share: a share of the largest number of a step that is added to them.
    """

    atol: float
    rtol: float
    share: float = 0.0
    rules: ClassVar[tuple[Rule, ...]] = ()
    digits: ClassVar[int] = 0

    def shown(self, solution: Solution, name: str) -> Matrix:
        """Return an unrounded step, as the next one reads it."""
        return solution.carried[name].astype(np.float64, copy=False)

    def written(self, values: Matrix) -> Matrix:
        """Return the values themselves."""
        return values

    def near(self, written: Matrix, decimals: Matrix, right: Range) -> Matrix:
        """Return which numbers are within the tolerance."""
        with np.errstate(invalid="ignore", over="ignore"):  # of infinities, and next to them
            more = self.share * np.abs(right.high[np.isfinite(right.high)]).max(initial=0.0)
            low, high = (self.atol + self.rtol * np.abs(end) + more for end in right)
            inside: Matrix = (written >= right.low - low) & (written <= right.high + high)
        return (inside & np.isfinite(written)) | _alike_at_infinity(written, right)

    def as_written(self) -> "Within":
        """Return the same: a tolerance has no decimals."""
        return self

    def behind(self, written: Matrix, decimals: Matrix) -> Range:
        """Return the numbers themselves: a program writes unrounded values."""
        return Range.at(written)


Slack = ToTheDigit | Within
"""The accepted difference between a written number and the right one."""
