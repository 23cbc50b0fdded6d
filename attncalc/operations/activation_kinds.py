"""The functions of one number that activations are: their values, and how they are written."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from attncalc.equations.operation import Operation
from attncalc.numbers.decimals import erf, in_system_of, pi_of, tanh
from attncalc.numbers.types import Matrix

CUBE = Fraction(44715, 1_000_000)
"""What the cube is multiplied by in the approximation of GELU by tanh."""
HALF = Fraction(1, 2)
NUMBERS = {"half": HALF, "cube": CUBE}
"""The numbers that equations of activations read by name."""


def _relu(x: Matrix) -> Matrix:
    positive: Matrix = np.maximum(x, in_system_of(x, Fraction(0)))
    return positive


def _gelu(x: Matrix) -> Matrix:
    product: Matrix = x * _phi(x)
    return product


def _phi(x: Matrix) -> Matrix:
    """Return the share of a normal distribution below x."""
    one, two = (in_system_of(x, Fraction(each)) for each in (1, 2))
    share: Matrix = (one + erf(x / np.sqrt(np.full((1,) * x.ndim, two, x.dtype)))) / two
    return share


def _gelu_tanh(x: Matrix) -> Matrix:
    half: Matrix = in_system_of(x, HALF) * x * _one_plus_tanh(x)
    return half


def _one_plus_tanh(x: Matrix) -> Matrix:
    one, two = (in_system_of(x, Fraction(each)) for each in (1, 2))
    root = np.sqrt(np.full((1,) * x.ndim, two / pi_of(x), x.dtype))
    share: Matrix = one + tanh(root * (x + in_system_of(x, CUBE) * x * x * x))
    return share


def _silu(x: Matrix) -> Matrix:
    quotient: Matrix = x / _one_plus_power(x)
    return quotient


def _one_plus_power(x: Matrix) -> Matrix:
    with np.errstate(over="ignore"):  # of floats, x / ∞ is the 0 that it should be
        total: Matrix = in_system_of(x, Fraction(1)) + np.exp(-x)
    return total


class _Kind(NamedTuple):
    """An activation.

    Parameters
    ----------
    title, equation
        How it is called, and the equation that states it.
    apply
        What it makes of a matrix, entry by entry.
    lowest
        Where it is least: left of that it falls, right of it it rises.
    functions
        How many values of functions an entry takes.
    """

    title: str
    equation: str
    apply: Callable[[Matrix], Matrix]
    lowest: float
    functions: int


KINDS = {
    "relu": _Kind("ReLU", "ReLU", _relu, -np.inf, 0),
    "gelu": _Kind("GELU", "GELU", _gelu, -0.7517915243, 3),
    "gelu-tanh": _Kind("GELU", "GELUtanh", _gelu_tanh, -0.7524614221, 2),
    "silu": _Kind("SiLU", "SiLU", _silu, -1.2784645428, 1),
    "tanh": _Kind("tanh", "Tanh", tanh, -np.inf, 1),
}
"""Hendrycks and Gimpel, *Gaussian Error Linear Units* (2016); Elfwing et al. (2018)."""


@dataclass(frozen=True, eq=False, repr=False)
class Activating(Operation):
    """What goes by a function of each entry.

    Parameters
    ----------
    kind
        Which of `KINDS`.
    """

    kind: str
