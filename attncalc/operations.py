"""What a step does to whole matrices, and how its equation is written.

Each operation is written once, in numpy, and so runs on float64 and on arrays of Decimals alike.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from attncalc.arithmetic import in_system_of
from attncalc.rounding import Matrix


class Operation(Protocol):
    """A pure function of matrices that can say its own equation."""

    def apply(self, *matrices: Matrix) -> Matrix:
        """Return the matrix of the step."""

    def formula(self, *names: str) -> str:
        """Return the right-hand side of the step's equation, for inputs of these names."""


@dataclass(frozen=True)
class MatMul:
    """The matrix product, L R or L Rᵀ.

    Parameters
    ----------
    transpose_right
        Multiply by the transpose of the second matrix: (n, d) and (m, d) give (n, m).
    """

    transpose_right: bool = False

    def apply(self, *matrices: Matrix) -> Matrix:
        """Multiply two matrices."""
        left, right = matrices
        product: Matrix = left @ (right.swapaxes(-1, -2) if self.transpose_right else right)
        return product

    def formula(self, *names: str) -> str:
        """Return `Q Kᵀ` or `A V`."""
        return " ".join(names) + ("ᵀ" if self.transpose_right else "")


@dataclass(frozen=True)
class DivideBySqrt:
    """Division by √d_k, which keeps scores of wide queries and keys in the range of narrow ones.

    Vaswani et al. (2017), equation 1.
    """

    d_k: int

    def apply(self, *matrices: Matrix) -> Matrix:
        """Divide each score."""
        (scores,) = matrices
        root = np.sqrt(np.full((1, 1), in_system_of(scores, Fraction(self.d_k)), scores.dtype))
        scaled: Matrix = scores / root
        return scaled

    def formula(self, *names: str) -> str:
        """Return `S / √d_k`."""
        return f"{names[0]} / √d_k"


@dataclass(frozen=True)
class Multiply:
    """Multiplication by a number of the person's own choice, kept exactly: 1/3 stays a third."""

    factor: Fraction

    def apply(self, *matrices: Matrix) -> Matrix:
        """Multiply each score."""
        (scores,) = matrices
        scaled: Matrix = scores * in_system_of(scores, self.factor)
        return scaled

    def formula(self, *names: str) -> str:
        """Return `S × 1/3`."""
        return f"{names[0]} × {self.factor}"


@dataclass(frozen=True)
class Softmax:
    """Softmax along each row: exp(s_j) / Σ exp(s_i).

    The largest score of the row is subtracted first, which changes nothing but keeps exp finite.
    """

    def apply(self, *matrices: Matrix) -> Matrix:
        """Turn each row of scores into weights that sum to 1."""
        (scores,) = matrices
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights: Matrix = powers / powers.sum(axis=-1, keepdims=True)
        return weights

    def formula(self, *names: str) -> str:
        """Return `softmax(S)`."""
        return f"softmax({names[0]})"
