"""One scale of weights for all heads of a picture, so that they can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attncalc.numbers.types import Matrix
from attncalc.solving.solution import Head

FULL_FROM = 0.5
"""A largest weight from which the scale reaches to 1; a smaller one ends the scale itself."""


@dataclass(frozen=True)
class Scale:
    """The smallest and the largest weight a picture can show.

    From 0 to 1 for most; weights that were divided by their sum may be negative or beyond 1, and
    where many tokens share the weight, the scale ends at the largest.
    """

    low: float
    high: float

    def strengths(self, weights: Matrix) -> Matrix:
        """Return how strong lines of these weights are, from 0 to 1, whatever their sign."""
        reach = max(self.high, -self.low)
        return np.clip(np.abs(np.asarray(weights, dtype=np.float64)) / reach, 0.0, 1.0)


def scale_of(heads: Sequence[Head]) -> Scale:
    """Return the scale that holds the weights of all these heads.

    Examples
    --------
    >>> weights = np.array([[0.2, 0.8]])
    >>> scale_of([Head(0, weights, weights)])
    Scale(low=0.0, high=1.0)
    >>> scale_of([Head(0, weights / 10, weights / 10)])
    Scale(low=0.0, high=0.08)
    """
    low = min(float(head.weights.min()) for head in heads)
    high = max(float(head.weights.max()) for head in heads)
    if high <= 0 and low >= 0:  # nothing is attended to
        return Scale(0.0, 1.0)
    if FULL_FROM <= high <= 1:
        high = 1.0
    return Scale(min(low, 0.0), max(high, 0.0))
