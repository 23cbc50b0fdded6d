"""The types of numbers: a matrix, a place in one, and a range of values."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[Any]
else:
    Matrix = np.ndarray  # numpy.typing takes milliseconds to import, at every start

Place = tuple[int, ...]
"""Where an entry of a plan's matrix is: (row, column), or (head, row, column), from 0."""


class Range(NamedTuple):
    """The lower and upper bounds of each entry of a matrix, in floats."""

    low: Matrix
    high: Matrix

    @property
    def middle(self) -> Matrix:
        """The values half way."""
        middle: Matrix = (self.low + self.high) / 2
        return middle

    @property
    def spread(self) -> Matrix:
        """How far from the middle the values may lie; 0 for a masked score."""
        with np.errstate(invalid="ignore"):  # of -∞ and -∞
            spread = (self.high - self.low) / 2
        return np.where(self.low == self.high, 0.0, spread)

    def map(self, function: Callable[[Matrix], Matrix]) -> "Range":
        """Return the range of the results of a monotonic function."""
        low = function(self.low)
        return Range(low, low if self.is_point else function(self.high))

    def replaced(self, where: Matrix, by: "Range") -> "Range":
        """Return the range with the values of another one in these places."""
        low = np.where(where, by.low, self.low)
        is_point = self.is_point and by.is_point
        return Range(low, low if is_point else np.where(where, by.high, self.high))

    @property
    def is_point(self) -> bool:
        """Whether there is one value for each entry, and no doubt."""
        return self.low is self.high

    @classmethod
    def at(cls, matrix: Matrix) -> "Range":
        """Return the range of values that are known."""
        return cls(matrix, matrix)

    @classmethod
    def around(cls, matrix: Matrix, spread: Matrix | float = 0.0) -> "Range":
        """Return the range of values this near to those of a matrix."""
        return cls(matrix - spread, matrix + spread)
