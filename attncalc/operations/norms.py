"""What tokens are divided by where they are normalised, there and on the way back."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.equations.operation import Operation, Statement
from attncalc.numbers.decimals import in_system_of
from attncalc.numbers.types import Matrix


@dataclass(frozen=True, eq=False, repr=False)
class Normalising(Operation):
    """What goes by the means and variances of tokens.

    Parameters
    ----------
    eps
        What is added, so that nothing is divided by 0.
    is_inside
        Whether that stands inside the root, or is added to it.
    is_centred
        Whether the mean is taken off.
    has_gain, has_bias
        Whether a gain, and a bias, follow among the inputs.
    of, eps_field
        What its rows are, and what ε is called, in messages.
    """

    eps: Fraction
    is_inside: bool = True
    is_centred: bool = True
    has_gain: bool = False
    has_bias: bool = False
    of: str = "token"
    eps_field: str = "an eps"

    def parted(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return tokens, means, variances, gain and bias; None for what there is not."""
        rest = iter(inputs)
        has = (True, self.is_centred, True, self.has_gain, self.has_bias)
        return tuple(next(rest) if each else None for each in has)

    def divisor(self, variance: Matrix) -> Matrix:
        """Return what each token is divided by."""
        eps = in_system_of(variance, self.eps)
        root: Matrix = np.sqrt(variance + eps) if self.is_inside else np.sqrt(variance) + eps
        return root

    def stated(self, name: str) -> Statement:
        """Return the equation of a name, with what this normalisation has."""
        return Statement(name, settings={"eps": self.eps}).with_flags(
            mean=self.is_centred,
            gain=self.has_gain,
            bias=self.has_bias,
            inside=self.is_inside,
            eps=self.eps,
        )
