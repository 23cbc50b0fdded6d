"""Positions as angles: sinusoids added to tokens, and rotations of queries and keys."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.decimals import cos_sin, in_system_of, pi_of
from attncalc.base.typed import exact
from attncalc.base.types import Matrix, Place
from attncalc.equations.expressions import Explanation, Operand, given
from attncalc.equations.operation import GRADIENT, Operation, Setting, Shape, Statement, Way

LINEAR, LLAMA3 = "linear", "llama3"


class RopeScaling(NamedTuple):
    """How rope's frequencies are slowed down for longer texts than a model was trained on.

    kind: "linear": all of them divided by the factor (Chen et al., *Extending Context Window of
        Large Language Models via Positional Interpolation*, 2023). "llama3": those alone that turn
        fewer than `low` times within the original length; those of more than `high` turns stay, and
        in between goes over from one to the other (Llama Team, *The Llama 3 Herd of Models*, 2024,
        and its published code).
    factor: what frequencies are divided by.
    low, high, original: of llama3: turns, and a number of tokens.
    """

    kind: str
    factor: Fraction
    low: Fraction = Fraction(1)
    high: Fraction = Fraction(4)
    original: Fraction = Fraction(8192)

    def kept(self, slowness: Matrix) -> Matrix:
        """Return how much of each pair's own frequency is kept, by 1/frequency: 1 all, 0 none."""
        one, zero = (in_system_of(slowness, Fraction(each)) for each in (1, 0))
        if self.kind == LINEAR:
            return np.asarray(np.full_like(slowness, zero))
        low, span, original = (
            in_system_of(slowness, each) for each in (self.low, self.high - self.low, self.original)
        )
        turns = original / (slowness * (2 * pi_of(slowness)))
        return np.asarray(np.minimum(np.maximum((turns - low) / span, zero), one))

    def slowed(self, slowness: Matrix) -> Matrix:
        """Return one over each frequency once it is slowed down."""
        one, factor = (in_system_of(slowness, Fraction(each)) for each in (1, self.factor))
        kept = self.kept(slowness)
        # a frequency that is kept or divided whole comes out so: nothing is rounded on the way
        between: Matrix = slowness / ((one - kept) / factor + kept)
        return np.where(kept == one, slowness, np.where(kept == 0, slowness * factor, between))

    @property
    def settings(self) -> dict[str, Fraction]:
        """The numbers that the equation of rotations reads by name."""
        own = {name: getattr(self, name) for name in ("factor", "low", "high", "original")}
        return own | {"kept": 1 / self.factor, "rest": 1 - 1 / self.factor}


def slowness_of(like: Matrix, d: int, base: Fraction) -> Matrix:
    """Return base^(2i/d), 1 / frequency of each pair i, (1, ⌈d/2⌉), in numbers like these."""
    exponents = numbers_like(like, [Fraction(2 * i, d) for i in range((d + 1) // 2)])
    return np.asarray(numbers_like(like, [base]) ** exponents)


def numbers_like(like: Matrix, numbers: list[Fraction]) -> Matrix:
    """Return numbers as a row in the number system of a matrix, float32 as float64."""
    system: Any = like if like.dtype == object else np.empty(0)
    return np.array([[in_system_of(system, number) for number in numbers]], system.dtype)


ANGLE, FREQUENCY = 3, 2
"""What the sine and cosine of an angle, and the power in it, are worth in powers of e."""


@dataclass(frozen=True, eq=False, repr=False)
class Sinusoids(Operation):
    """Sinusoidal positions of tokens: sin(t / base^(2i/d)) and, beside it, its cosine.

    Token t is counted from `offset`; Vaswani et al. (2017), section 3.5.
    """

    offset: int = 0
    base: Fraction = Fraction(10_000)

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return positions for tokens of this shape."""
        (X,) = matrices
        n, d = X.shape[-2:]
        places = _places(X, n, Fraction(self.offset))
        cosines, sines = cos_sin(places / slowness_of(X, d, self.base))
        positions: Matrix = np.empty_like(X)
        positions[..., 0::2] = sines
        # of an odd width the last sine has no cosine beside it
        positions[..., 1::2] = cosines[:, : d // 2]
        return positions

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return what its sines and cosines are worth in powers of e."""
        return prod(shapes[0]), _functions(*shapes[0][-2:])


@dataclass(frozen=True, eq=False, repr=False)
class Rotate(Operation):
    """Rotary positions: each pair of columns turned by the angle t / base^(2i/d).

    Token t is counted from `offset`. Su et al., *RoFormer* (2021), equation 34; columns are
    paired with those half the width away ("halves") or beside them ("interleaved"). Frequencies
    may follow as a second matrix, (1, pairs), in place of those of the base.

    scaling: how the frequencies are slowed down; None where they are not.
    dims: how many columns are turned, the first ones; None for all.
    is_back: whether the angle is the opposite: what was turned is turned back, and so are
        gradients.
    factor: what the turned columns are multiplied by (Peng et al., *YaRN*, 2023).
    """

    base: Fraction
    offset: Fraction
    pairing: str
    scaling: RopeScaling | None = None
    dims: int | None = None
    is_back: bool = False
    factor: Fraction = Fraction(1)

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row by its place."""
        X, *frequencies = matrices
        d = self.dims or X.shape[-1]
        first, second = slice(0, d, 2), slice(1, d, 2)
        if self.pairing == "halves":
            first, second = slice(0, d // 2), slice(d // 2, d)
        cosines, sines = (each.astype(X.dtype) for each in cos_sin(self._angles(X, d, frequencies)))
        if self.factor != 1:
            cosines, sines = (each * in_system_of(X, self.factor) for each in (cosines, sines))
        sines = -sines if self.is_back else sines
        x, y = X[..., first], X[..., second]
        turned: Matrix = np.empty_like(X)
        turned[..., first] = x * cosines - y * sines
        turned[..., second] = x * sines + y * cosines
        turned[..., d:] = X[..., d:]
        return turned

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return the turn by the opposite angle: the transpose of a turn is its inverse."""
        if to:
            return super().way_back(to, shapes)
        return Way(replace(self, is_back=not self.is_back), (GRADIENT, *range(1, len(shapes))))

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the products of its turns, and what sines and cosines are worth."""
        n, d = shapes[0][-2:]
        return 2 * prod(shapes[0]), _functions(n, self.dims or d)

    def _angles(self, X: Matrix, d: int, frequencies: list[Matrix]) -> Matrix:
        """Return the angle of each token, and of each pair of d columns."""
        places = _places(X, X.shape[-2], self.offset)
        if frequencies:
            (own,) = frequencies
            if places.dtype == object and own.dtype != object:  # as they were typed
                own = np.asarray(np.frompyfunc(exact, 1, 1)(own), dtype=object)
            return np.asarray(places * (own if own.dtype == object else own.astype(np.float64)))
        slowness = slowness_of(X, d, self.base)
        if self.scaling is not None:
            slowness = self.scaling.slowed(slowness)
        return np.asarray(places / slowness)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the turn of a pair; bases and places are decimals among fractions, too."""
        return super().explain(place, *(each._replace(own=given) for each in operands))

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        width = self.dims or shapes[0][-1]
        settings: dict[str, Setting] = {"offset": self.offset, "base": self.base, "width": width}
        settings |= {"grown": self.factor} if self.factor != 1 else {}
        kind = "own" if len(shapes) > 1 else "plain"
        if self.scaling is not None and len(shapes) == 1:
            kind = "linear" if self.scaling.kind == LINEAR else "llama"
            settings |= self.scaling.settings
        return Statement("Rotate", frozenset({kind}), settings).with_flags(
            part=width < shapes[0][-1],
            halves=self.pairing == "halves",
            back=self.is_back,
            grown=self.factor != 1,
        )


def _functions(n: int, d: int) -> int:
    """Return what the angles of n tokens of width d are worth in powers of e."""
    pairs = (d + 1) // 2
    return pairs * (n * ANGLE + FREQUENCY)


def _places(like: Matrix, n: int, start: Fraction) -> Matrix:
    """Return the places of n tokens, (n, 1), the first of which is at `start`."""
    return numbers_like(like, [t + start for t in range(n)]).T
