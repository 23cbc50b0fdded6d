"""Random draws: a row, an entry or each row of a matrix, normal or uniform."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix

GENERATOR = "numpy's default_rng"
NEARLY_NOTHING = 1e-12
"""The share of the largest variance up to which a variance is rounding error."""


@dataclass(frozen=True, eq=False)
class Normal:
    """Normal rows: a mean and a root of the covariance for each.

    means: (rows, d).
    roots: L for each, with L Lᵀ the covariance: (rows, d, d).
    """

    means: Matrix
    roots: Matrix

    def sample(self, generator: np.random.Generator, count: int) -> Matrix:
        """Return so many draws of all rows, (count, rows, d)."""
        standard = generator.standard_normal((count, *self.means.shape))
        # summed term by term: the order of a library's product may differ between machines
        drawn = np.broadcast_to(self.means, standard.shape).copy()
        for term in range(standard.shape[-1]):
            drawn += self.roots[:, :, term] * standard[:, :, term, np.newaxis]
        return drawn


@dataclass(frozen=True, eq=False)
class Uniform:
    """Rows of uniform numbers between two ends."""

    low: float
    high: float
    shape: tuple[int, int]

    def sample(self, generator: np.random.Generator, count: int) -> Matrix:
        """Return so many draws of all rows, (count, rows, d)."""
        # halves: numpy refuses a range wider than the largest float
        return 2 * generator.uniform(self.low / 2, self.high / 2, (count, *self.shape))


@dataclass(frozen=True, eq=False)
class Draw:
    """A random draw of a given matrix.

    text: the draw as typed.
    law: the distribution of its rows.
    is_turned: whether the rows of the law are columns of the matrix.
    """

    text: str
    name: str
    place: tuple[Any, ...]
    law: Normal | Uniform
    is_turned: bool = False

    def on_each(self, matrices: Matrix, generator: np.random.Generator, count: int) -> Matrix:
        """Return draws of the entire matrix, (count, …), from its other values: (1 or count, …)."""
        each = np.broadcast_to(matrices, (count, *matrices.shape[1:])).copy()
        place = (slice(None), *self.place)
        part = each[place]
        drawn = self.law.sample(generator, count)
        each[place] = (
            drawn.swapaxes(-1, -2).reshape(part.shape)
            if self.is_turned and part.ndim == 3
            else drawn.reshape(part.shape)
        )
        return each


def generators(seed: int, count: int) -> list[np.random.Generator]:
    """Return a generator for each draw: the first is `default_rng(seed)` itself."""
    return [np.random.default_rng(seed if place == 0 else [seed, place]) for place in range(count)]


def root_of(covariance: Matrix) -> Matrix:
    """Return a lower triangular L with L Lᵀ the covariance, which may be singular.

    >>> root_of(np.array([[4.0, 2.0], [2.0, 1.0]])).tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """
    size = len(covariance)
    root = np.zeros((size, size))
    dust = NEARLY_NOTHING * max(float(np.abs(covariance).max()), 1e-300)
    # Cholesky without LAPACK, which refuses a singular covariance
    for column in range(size):
        known = root[column, :column]
        left = covariance[column, column] - (known * known).sum()
        if left <= dust:
            continue
        root[column, column] = np.sqrt(left)
        for row in range(column + 1, size):
            rest = covariance[row, column] - (root[row, :column] * known).sum()
            root[row, column] = rest / root[column, column]
    return root


def check_covariance(covariance: Matrix) -> None:
    """Refuse a matrix that is not a covariance; the message states why."""
    differing = np.argwhere(~np.isclose(covariance, covariance.T, rtol=1e-12, atol=0.0))
    if len(differing):
        i, j = map(int, differing[0])
        raise InputError(
            f"not a covariance because it is not symmetric: row {i + 1}, column {j + 1} is "
            f"{covariance[i, j]:g}, and row {j + 1}, column {i + 1} is {covariance[j, i]:g}"
        )
    values = np.linalg.eigvalsh(covariance)
    if values[0] < -1e-9 * max(1.0, float(values[-1])):
        what = "a variance cannot be" if len(values) == 1 else "no direction may have a variance"
        raise InputError(
            f"not a covariance because it has the eigenvalue {values[0]:.6g}: {what} below 0"
        )
