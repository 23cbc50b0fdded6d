"""Where the weights are written: on their lines, and never on one another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Point = tuple[float, float]

CLEARANCE = 0.05
"""Inches kept free around each weight."""
MOST_COUNTED = 1000
"""Lines that are looked at for crossings; of more, an even part stands for all."""
_POSITIONS = np.linspace(0.08, 0.92, 85)
_FAVOURITE = 0.3
"""Where a text best stands: nearer to its output than to its input."""
_PULL = 4.0
"""Lines a text would rather cover than move along its whole line."""


@dataclass(frozen=True)
class Line:
    """A line from an output's dot to an input's, in inches, and the size of the text on it."""

    output: Point
    input: Point
    width: float
    height: float


def place(lines: Sequence[Line], others: Sequence[Line]) -> list[Point | None]:
    """Return the centre of each line's text, or None where there is no free spot on it.

    Parameters
    ----------
    lines
        The lines that carry a text.
    others
        All lines of the picture: a spot that few of them cross is the better one.
    """
    counted = others[:: 1 + len(others) // MOST_COUNTED]
    starts = np.array([line.output for line in counted])
    ends = np.array([line.input for line in counted])
    taken = np.empty((len(lines), 4))
    count = 0
    spots: list[Point | None] = []
    for line in lines:
        spot = _best_spot(line, taken[:count], starts, ends)
        spots.append(spot)
        if spot:
            taken[count] = (*spot, line.width, line.height)
            count += 1
    return spots


def _best_spot(
    line: Line,
    taken: NDArray[np.float64],
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
) -> Point | None:
    x = line.output[0] + _POSITIONS * (line.input[0] - line.output[0])
    y = line.output[1] + _POSITIONS * (line.input[1] - line.output[1])
    free = _within(line, x) & _free(line, x, y, taken)
    if not free.any():
        return None
    crossed = _crossings(line, x, y, starts, ends)
    cost = np.where(free, crossed + _PULL * np.abs(_POSITIONS - _FAVOURITE), np.inf)
    best = int(cost.argmin())
    return float(x[best]), float(y[best])


def _within(line: Line, x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say where the text keeps clear of the dots at both ends."""
    left, right = sorted((line.output[0], line.input[0]))
    margin = line.width / 2 + 0.1
    return (x > left + margin) & (x < right - margin)


def _free(
    line: Line, x: NDArray[np.float64], y: NDArray[np.float64], taken: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Say where the text keeps clear of all that are placed: x, y, width and height, (k, 4)."""
    other_x, other_y, widths, heights = taken.T[:, :, np.newaxis]
    apart = np.abs(x - other_x) > (line.width + widths) / 2 + CLEARANCE
    above = np.abs(y - other_y) > (line.height + heights) / 2 + CLEARANCE
    return np.asarray((apart | above).all(axis=0))


def _crossings(
    line: Line,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Count the lines that run through the text, for each spot.

    Every line runs from one column of dots to the other, so it crosses the text where its
    heights at the text's two sides are not both above or both below.
    """
    slope = (ends[:, 1] - starts[:, 1]) / (ends[:, 0] - starts[:, 0])

    def height_at(where: NDArray[np.float64]) -> Any:
        heights = starts[:, 1] + slope * (where[:, np.newaxis] - starts[:, 0])
        return heights - y[:, np.newaxis]

    left, right = height_at(x - line.width / 2), height_at(x + line.width / 2)
    apart = (np.minimum(left, right) > line.height / 2) | (
        np.maximum(left, right) < -line.height / 2
    )
    return np.asarray((~apart).sum(axis=1), dtype=np.float64)
