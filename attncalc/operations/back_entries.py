"""What goes back through a function of each entry: the gradient times its slope there."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

from attncalc.equations.expressions import Explanation, Operand
from attncalc.equations.operation import Shape, Statement
from attncalc.numbers.decimals import erf, in_system_of, pi_of, tanh
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.activation_kinds import CUBE, KINDS, NUMBERS, Activating
from attncalc.operations.ranges import times

LEFT_OF_ZERO = "the slope of ReLU is 0 up to 0"


class _Slope(NamedTuple):
    """The slope of an activation.

    Parameters
    ----------
    apply
        What it is at each entry.
    bounds
        Between which numbers it lies.
    """

    apply: Callable[[Matrix], Matrix]
    bounds: tuple[float, float]


def _relu(x: Matrix) -> Matrix:
    one, zero = (in_system_of(x, Fraction(each)) for each in (1, 0))
    slope: Matrix = np.where(x > zero, one, zero)
    return slope


def _gelu(x: Matrix) -> Matrix:
    """Return Φ(x) + x φ(x)."""
    one, two = (in_system_of(x, Fraction(each)) for each in (1, 2))
    share = (one + erf(x / _root(x, two))) / two
    density = np.exp(-x * x / two) / _root(x, two * pi_of(x))
    slope: Matrix = share + x * density
    return slope


def _gelu_tanh(x: Matrix) -> Matrix:
    """Return (1 + t) / 2 + x (1 - t²) u' / 2, with t = tanh(u), u = √(2/π) (x + c x³)."""
    one, two = (in_system_of(x, Fraction(each)) for each in (1, 2))
    cube = in_system_of(x, CUBE)
    root = _root(x, two / pi_of(x))
    t = tanh(root * (x + cube * x * x * x))
    inner = root * (one + (one + two) * cube * x * x)
    slope: Matrix = (one + t) / two + x * (one - t * t) * inner / two
    return slope


def _silu(x: Matrix) -> Matrix:
    """Return s + x s (1 - s), with s = 1 / (1 + e^-x)."""
    one = in_system_of(x, Fraction(1))
    with np.errstate(over="ignore"):  # of floats, 1 / ∞ is the 0 that it should be
        share = one / (one + np.exp(-x))
    slope: Matrix = share + x * share * (one - share)
    return slope


def _root(x: Matrix, number: Any) -> Matrix:
    root: Matrix = np.sqrt(np.full((1,) * x.ndim, number, x.dtype))
    return root


def _tanh(x: Matrix) -> Matrix:
    """Return 1 - tanh(x)²."""
    t = tanh(x)
    slope: Matrix = in_system_of(x, Fraction(1)) - t * t
    return slope


SLOPES = {
    "relu": _Slope(_relu, (0.0, 1.0)),
    "gelu": _Slope(_gelu, (-0.13, 1.13)),
    "gelu-tanh": _Slope(_gelu_tanh, (-0.13, 1.13)),
    "silu": _Slope(_silu, (-0.1, 1.1)),
    "tanh": _Slope(_tanh, (0.0, 1.0)),
}
"""The slopes of `KINDS`; that of ReLU at 0 is taken as 0, as all libraries do."""


@dataclass(frozen=True, eq=False, repr=False)
class ActivateBack(Activating):
    """dG ⊙ f'(F): the gradient times the slope of the function at each entry.

    It reads what the function was taken of, and the gradient.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply by the slope."""
        x, gradient = matrices
        product: Matrix = gradient * SLOPES[self.kind].apply(x)
        return product

    def factors(self, *factors: int) -> int:
        """Return those of the gradient, and one of a slope that is a number of its own."""
        return factors[1] + (not self.is_rational)

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the values of functions that each entry takes."""
        return prod(shapes[0]), (KINDS[self.kind].functions + 1) * prod(shapes[0])

    def reach(self, *ranges: Range) -> Range:
        """Return the products of the gradient with all that the slope may be."""
        x, gradient = ranges
        slopes = self._slopes(x)
        return times(slopes, gradient)

    def _slopes(self, x: Range) -> Range:
        """Return between what the slopes lie: as they are where an entry is known."""
        slope = SLOPES[self.kind]
        low, high = (slope.apply(end) for end in x)
        if self.is_rational:  # it never falls
            return Range(low, high)
        known = x.low == x.high
        least, most = slope.bounds
        return Range(np.where(known, low, least), np.where(known, high, most))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the slope; that of GELU by tanh counts as irrational everywhere."""
        made = super().explain(place, *operands)
        return made._replace(exact=None) if self.kind == "gelu-tanh" else made

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(f"{KINDS[self.kind].equation}Back", settings=NUMBERS)


@dataclass(frozen=True, eq=False, repr=False)
class GatedBack(Activating):
    """dG ⊙ F_3 ⊙ f'(F_1): the gradient times the gate, times the slope of the function.

    It reads what the function was taken of, the gate, and the gradient.
    """

    @property
    def _ungated(self) -> ActivateBack:
        return ActivateBack(self.kind)

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply by the gate and by the slope."""
        x, gate, gradient = matrices
        return self._ungated.apply(x, gradient * gate)

    def factors(self, *factors: int) -> int:
        """Return those of the gradient and of the gate, and one of the slope."""
        return factors[1] + factors[2] + (not self.is_rational)

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return that of the slope."""
        return self._ungated.cost(*shapes)

    def reach(self, *ranges: Range) -> Range:
        """Return the products of all that the three may be."""
        x, gate, gradient = ranges
        return self._ungated.reach(x, times(gate, gradient))

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(f"{KINDS[self.kind].equation}Back", frozenset({"U"}), NUMBERS)
