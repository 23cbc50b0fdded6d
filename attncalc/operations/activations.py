"""Functions of each entry, between projections and in a head: ReLU, GELU, SiLU, tanh.

Hendrycks and Gimpel, *Gaussian Error Linear Units* (2016); Elfwing et al. (2018).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from attncalc.equations.operation import Operation, Shape, Statement

NUMBERS = {"half": Fraction(1, 2), "cube": Fraction(44715, 1_000_000)}
"""The numbers of the approximation of GELU by tanh."""


class _Kind(NamedTuple):
    """An activation: what it is called, and the equation that states it."""

    title: str
    equation: str


KINDS = {
    "relu": _Kind("ReLU", "ReLU"),
    "gelu": _Kind("GELU", "GELU"),
    "gelu-tanh": _Kind("GELU", "GELUtanh"),
    "silu": _Kind("SiLU", "SiLU"),
    "tanh": _Kind("tanh", "Tanh"),
}


@dataclass(frozen=True, eq=False, repr=False)
class Activate(Operation):
    """A function of each entry: one of `KINDS`."""

    kind: str

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(KINDS[self.kind].equation, settings=NUMBERS)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Operation):
    """A function of each entry of one matrix, times the entry of another: act(F_1) ⊙ F_3.

    Shazeer, *GLU Variants Improve Transformer* (2020).
    """

    kind: str

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(f"Gated{KINDS[self.kind].equation}", settings=NUMBERS)
