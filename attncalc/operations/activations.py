"""What is done between projections, entry by entry: ReLU, GELU, SiLU, and tanh in a head."""

from dataclasses import dataclass
from math import prod

import numpy as np

from attncalc.equations.operation import Shape, Statement
from attncalc.numbers.types import Matrix, Range
from attncalc.operations.activation_kinds import KINDS, NUMBERS, Activating

NEGATIVE = "a negative number becomes 0"


@dataclass(frozen=True, eq=False, repr=False)
class Activate(Activating):
    """A function of each entry."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Take the function of each entry."""
        return KINDS[self.kind].apply(matrices[0])

    def factors(self, *factors: int) -> int:
        """Return those of the entry, or 1 where it becomes a number of its own."""
        return factors[0] if self.is_rational else 1

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the values of functions that each entry takes."""
        return prod(shapes[0]), KINDS[self.kind].functions * prod(shapes[0])

    def reach(self, *ranges: Range) -> Range:
        """Return the function of the ends, and where it is least between them."""
        (x,) = ranges
        lowest = KINDS[self.kind].lowest
        ends = [self.apply(end) for end in x]
        low, high = np.minimum.reduce(ends), np.maximum.reduce(ends)
        if np.isfinite(lowest):
            least = self.apply(np.full_like(x.low, lowest))
            low = np.where((x.low < lowest) & (x.high > lowest), least, low)
        return Range(low, high)

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(KINDS[self.kind].equation, settings=NUMBERS)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Activating):
    """A function of each entry of one matrix, times the entry of another: act(F_1) ⊙ F_3.

    Shazeer, *GLU Variants Improve Transformer* (2020).
    """

    @property
    def _activate(self) -> Activate:
        return Activate(self.kind)

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply, entry by entry."""
        x, gate = matrices
        product: Matrix = self._activate.apply(x) * gate
        return product

    def factors(self, *factors: int) -> int:
        """Return those of both."""
        return self._activate.factors(factors[0]) + factors[1]

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return that of the function."""
        return self._activate.cost(*shapes)

    def reach(self, *ranges: Range) -> Range:
        """Return the least and the largest product of the ends."""
        x, gate = ranges
        ends = [one * other for one in self._activate.reach(x) for other in gate]
        return Range(np.minimum.reduce(ends), np.maximum.reduce(ends))

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement(f"Gated{KINDS[self.kind].equation}", settings=NUMBERS)
