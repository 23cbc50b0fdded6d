"""The loss L, its gradient in the outputs, and a step of gradient descent."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.equations.operation import Operation, Shape, Stated, Statement


def summed(name: str, *shapes: Shape) -> Stated:
    """Return an operation that makes one number, L, of matrices of these shapes."""
    return Stated(Statement(name).summing(shapes, (1, 1)))


def ones(shape: Shape) -> Stated:
    """Return an operation that makes 1 of each entry: the gradient of their sum."""
    return Stated(Statement("Ones").with_flags(heads=len(shape) > 2))


def less_one_hot(ids: Sequence[int]) -> Stated:
    """Return the gradient of the cross-entropy in logits: 1 less at the column of each id."""
    return Stated(Statement("LessOneHot", tables={"ids": np.array([ids])}))


def descend(rate: Fraction, shape: Shape, *, is_turned: bool, of_heads: bool) -> Stated:
    """Return a step against the gradient, W - η dW (Robbins and Monro, 1951).

    is_turned: whether W, stored (out, in), is transposed first.
    of_heads: whether W has a row for each head, each a matrix, and dW has them below one another.
    """
    apart = of_heads and len(shape) > 2
    made = Statement("Descend", settings={"rate": rate})
    return Stated(made.with_flags(turned=is_turned, heads=apart))


@dataclass(frozen=True, eq=False, repr=False)
class CrossEntropy(Operation):
    """L = -Σ log prob[t]: of each row of probabilities, that of what should have come."""

    ids: tuple[int, ...]

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add the logarithms; refuse one of 0."""
        found = matrices[0][..., np.arange(len(self.ids)), list(self.ids)]
        if (found == 0).any():
            row = int(np.argwhere(found == 0)[0][-1])
            raise InputError(
                f"L: the probability of target {self.ids[row]} in row {row + 1} is 0 (as it is "
                "carried), and 0 has no logarithm: give smaller weights, or more decimals"
            )
        return super().apply(*matrices)

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement("CrossEntropy", tables={"ids": np.array([self.ids])})
