"""What every operation is: a pure function of matrices that can say its own equation."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.expressions import Explanation, Expression, Indexed

Shape = tuple[int, ...]
DUST_OF_SUMS = Decimal("1e-60")
"""What thirds leave behind where a sum in Decimals is 0."""


class Operand(NamedTuple):
    """A matrix whose entries can stand in an expression.

    Parameters
    ----------
    name
        Its name.
    matrix
        Its values as the plan has them.
    quote
        Returns the entry at a place as it is written.
    entry
        Returns the name of the entry at a place.
    write
        Returns a value that was computed on the way, with its true value where that is known to
        be rational, as it is written.
    own
        Returns a number of the person's own, a factor say, as it is written.
    """

    name: str
    matrix: Matrix
    quote: Callable[[Place], Expression]
    entry: Callable[[Place], Indexed]
    write: Callable[[Any, Fraction | None], Expression]
    own: Callable[[Fraction], Expression]

    def at(self, *place: int) -> Expression:
        """Return an entry; a matrix without heads, or of a single row, serves all alike."""
        return self.quote(self.place(*place))

    def write_sum(self, value: Any, rational: Fraction | None) -> Expression:
        """Write a value that was added up: what decimals leave where all cancels is nothing."""
        is_dust = isinstance(value, Decimal) and abs(value) < DUST_OF_SUMS
        return self.write(Decimal(0) if is_dust else value, rational)

    def place(self, *place: int) -> Place:
        """Return which of its own entries serves this place of a larger matrix."""
        shape = self.matrix.shape
        # aligned on the right, as numpy broadcasts
        own = place[len(place) - len(shape) :]
        return tuple(0 if size == 1 else i for i, size in zip(own, shape, strict=True))


GRADIENT, RESULT = -1, -2
"""What a way back may read behind the inputs: the gradient that arrives, and the result."""


class Way(NamedTuple):
    """How a gradient goes back through an operation to one of its inputs.

    Parameters
    ----------
    operation
        What makes the gradient of the input.
    reads
        What that reads: inputs by their number, `RESULT` and `GRADIENT`.
    """

    operation: "Operation"
    reads: tuple[int, ...] = (GRADIENT,)


class Operation:
    """A pure function of matrices that can say its own equation, and explain each entry.

    Most operations do the same to every row of the queries and to every score; those that do not
    say what they are for a part of them.
    """

    @property
    def is_rational(self) -> bool:
        """Whether rational numbers stay rational."""
        return True

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return the matrix of the step; written into `out` where that saves an array."""
        raise NotImplementedError

    def formula(self, *operands: Expression) -> Expression:
        """Return the right-hand side of the step's equation, for these inputs."""
        raise NotImplementedError

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Return how the entry at a place comes about from entries of the inputs."""
        raise NotImplementedError

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return how a gradient goes back to an input, or None where the result hangs on it not.

        Parameters
        ----------
        to
            Which input, from 0.
        shapes
            The shapes of all inputs.

        Raises
        ------
        InputError
            When no way back is known, or there is none.
        """
        raise InputError(f"no way back through {type(self).__name__} is known")

    def reach(self, *ranges: Range) -> Range:
        """Return between which values the results lie when each input lies within its range.

        An operation that adds products of its inputs, as most do, reaches furthest where all
        terms have one sign: |x| + δ in place of |x| tells how far.
        """
        sizes = [np.abs(each.middle) for each in ranges]
        # (|x| + δ)(|y| + ε) - |x||y| is the furthest a product can be off, whatever the signs
        grown = (size + each.spread for size, each in zip(sizes, ranges, strict=True))
        spread = np.abs(self.added(*grown) - self.added(*sizes))
        return Range.around(self.apply(*(each.middle for each in ranges)), spread)

    def added(self, *sizes: Matrix) -> Matrix:
        """Return what it makes of sizes where all of its terms are added, and none is taken off."""
        return self.apply(*sizes)

    def over(self, *ranges: Range) -> Range:
        """Return what the step comes to on these ranges: one value each, where inputs have one."""
        if all(each.is_point for each in ranges):
            return Range.at(self.apply(*(each.low for each in ranges)))
        return self.reach(*ranges)

    def shape(self, *shapes: Shape) -> Shape:
        """Return the shape of the result, from those of the inputs."""
        return shapes[0]

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return how many multiply-and-adds it takes, and how many values of functions."""
        return prod(self.shape(*shapes)), 0

    def factors(self, *factors: int) -> int:
        """Return how many numbers are multiplied into one entry, from those of the inputs."""
        return max(factors)

    def at(self, rows: slice, keys: slice = slice(None)) -> "Operation":
        """Return the operation for these rows of queries, and these keys, alone."""
        return self

    def in_head(self, head: int) -> "Operation":
        """Return the operation for the scores of one head alone, counted from 0."""
        return self

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return a bound for the size of the results, from one for the first matrix."""
        return largest
