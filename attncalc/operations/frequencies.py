"""How fast rope turns each pair of columns: its frequencies, and how models slow them down."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from attncalc.numbers.decimals import in_system_of, pi_of
from attncalc.numbers.types import Matrix

LINEAR, LLAMA3 = "linear", "llama3"


class RopeScaling(NamedTuple):
    """How rope's frequencies are slowed down for longer texts than a model was trained on.

    Parameters
    ----------
    kind
        "linear": all of them divided by the factor (Chen et al., *Extending Context Window of
        Large Language Models via Positional Interpolation*, 2023). "llama3": those alone that
        turn fewer than `low` times within the original length; those of more than `high` turns
        stay, and in between goes over from one to the other (Llama Team, *The Llama 3 Herd of
        Models*, 2024, and its published code).
    factor
        What frequencies are divided by.
    low, high, original
        Of llama3: turns, and a number of tokens.
    """

    kind: str
    factor: Fraction
    low: Fraction = Fraction(1)
    high: Fraction = Fraction(4)
    original: Fraction = Fraction(8192)

    def kept(self, slowness: Matrix) -> Matrix:
        """Return how much of each pair's own frequency is kept: 1 all of it, 0 none.

        Parameters
        ----------
        slowness
            One over each frequency, in floats or Decimals.
        """
        one, zero = (in_system_of(slowness, Fraction(each)) for each in (1, 0))
        if self.kind == LINEAR:
            none: Matrix = np.full_like(slowness, zero)
            return none
        low, span, original = (
            in_system_of(slowness, each) for each in (self.low, self.high - self.low, self.original)
        )
        turns = original / (slowness * (2 * pi_of(slowness)))
        share: Matrix = np.minimum(np.maximum((turns - low) / span, zero), one)
        return share

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
    """Return base^(2i/d), one over the frequency of each pair i of d columns: (1, ⌈d/2⌉).

    Parameters
    ----------
    like
        A matrix in whose number system it is: float64 for all floats, or Decimals.
    d
        How many columns are turned.
    base
        The base.
    """
    exponents = numbers_like(like, [Fraction(2 * i, d) for i in range((d + 1) // 2)])
    powers: Matrix = numbers_like(like, [base]) ** exponents
    return powers


def numbers_like(like: Matrix, numbers: list[Fraction]) -> Matrix:
    """Return numbers as a row in the number system of a matrix, float32 as float64."""
    system: Any = like if like.dtype == object else np.empty(0)
    return np.array([[in_system_of(system, number) for number in numbers]], system.dtype)
