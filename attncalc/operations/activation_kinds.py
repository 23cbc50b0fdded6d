"""The functions of one number that activations are: their values, and how they are written."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from attncalc.numbers.decimals import erf, in_system_of, pi_of, tanh
from attncalc.numbers.types import Matrix, Place
from attncalc.operations.base import Operand, Operation
from attncalc.operations.expressions import (
    PI,
    Call,
    E,
    Expression,
    Negative,
    Power,
    Product,
    Quotient,
    Root,
    Sum,
    whole,
)

CUBE = Fraction(44715, 1_000_000)
"""What the cube is multiplied by in the approximation of GELU by tanh."""
HALF = Fraction(1, 2)


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
    title
        What it is called.
    apply
        What it makes of a matrix, entry by entry.
    lowest
        Where it is least: left of that it falls, right of it it rises.
    explain
        Returns the forms of one entry.
    functions
        How many values of functions an entry takes.
    """

    title: str
    apply: Callable[[Matrix], Matrix]
    lowest: float
    explain: Callable[[Operand, Place], tuple[Expression, ...]]
    functions: int


def _relu_in_words(x: Operand, place: Place) -> tuple[Expression, ...]:
    return (Call("ReLU", x.at(*place)),)


def _gelu_in_words(x: Operand, place: Place) -> tuple[Expression, ...]:
    entry = x.at(*place)
    share = x.write_sum(value_at(x, place, _phi), None)
    return Product((entry, Call("Φ", entry))), Product((entry, share))


def _gelu_tanh_in_words(x: Operand, place: Place) -> tuple[Expression, ...]:
    entry, half = x.at(*place), x.own(HALF)
    root = Root(Quotient(whole(2), PI))
    inner = Sum((entry, Product((x.own(CUBE), Power(entry, whole(3))))))
    share = Sum((whole(1), Call("tanh", Product((root, inner)))))
    written = x.write_sum(value_at(x, place, _one_plus_tanh), None)
    return Product((half, entry, share)), Product((half, entry, written))


def _silu_in_words(x: Operand, place: Place) -> tuple[Expression, ...]:
    entry = x.at(*place)
    below = Sum((whole(1), Power(E, Negative(entry))))
    return Quotient(entry, below), Quotient(
        entry, x.write(value_at(x, place, _one_plus_power), None)
    )


def _tanh_in_words(x: Operand, place: Place) -> tuple[Expression, ...]:
    return (Call("tanh", x.at(*place)),)


def value_at(x: Operand, place: Place, function: Callable[[Matrix], Matrix]) -> Any:
    """Return a function of one entry."""
    return function(np.full(1, x.matrix[x.place(*place)], x.matrix.dtype))[0]


KINDS = {
    "relu": _Kind("ReLU", _relu, -np.inf, _relu_in_words, 0),
    "gelu": _Kind("GELU", _gelu, -0.7517915243, _gelu_in_words, 3),
    "gelu-tanh": _Kind("GELU", _gelu_tanh, -0.7524614221, _gelu_tanh_in_words, 2),
    "silu": _Kind("SiLU", _silu, -1.2784645428, _silu_in_words, 1),
    "tanh": _Kind("tanh", tanh, -np.inf, _tanh_in_words, 1),
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

    @property
    def is_rational(self) -> bool:
        """Whether it is ReLU."""
        return self.kind == "relu"
