"""How large texts are, and where those on lines are: they never overlap."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

from attncalc.base.text import harmless, shortened

Point = tuple[float, float]
Floats = NDArray[np.float64]

POINTS = 72.0
"""Points in an inch."""
SMALLEST_TEXT = 5.0
"""The smallest size of text in points; smaller text is omitted."""
SMALLEST_NAME = 6.0
LONGEST_NAME = 28
BOLD = 1.15
"""The width of bold letters, relative to others."""

CLEARANCE = 0.05
"""Inches kept free around each text on a line."""
MOST_COUNTED = 1000
"""Lines that are looked at for crossings; of more, an even sample."""
_POSITIONS = np.linspace(0.08, 0.92, 85)
_FAVOURITE = 0.3
"""The best place of a text: nearer to its output than to its input."""
_PULL = 4.0
"""The number of lines that a text prefers to cover rather than move along its entire line."""


def text_width(text: str, size: float) -> float:
    """Return the width of a text in inches, with a little room at both sides."""
    font = FontProperties(size=size)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / POINTS + 0.06


def widest(texts: Iterable[str], size: float) -> float:
    """Return the width of the widest text in inches; each different text is measured once."""
    return max((text_width(text, size) for text in set(texts)), default=0.0)


def row_text_size(wanted: float, pitch: float) -> float:
    """Return a size of text, in points, that leaves two rows apart that are `pitch` inches away."""
    return min(wanted, pitch * POINTS * 0.8)


def name_step(pitch: float) -> int:
    """Return which rows have room for a name: every one, every second, every fifth, and so on.

    >>> [name_step(inches) for inches in (0.5, 0.07, 0.007)]
    [1, 2, 20]
    """
    steps = (power * digit for power, digit in product((1, 10, 100, 1000, 10000), (1, 2, 5)))
    fits = (step for step in steps if row_text_size(SMALLEST_NAME, step * pitch) >= SMALLEST_NAME)
    return next(fits, 100_000)


def drawn_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as written in a picture: escaped, short, and still distinct."""
    return shortened([harmless(name) for name in names], LONGEST_NAME)


def wrapped(text: str, size: float, width: float, *, most_lines: int | None = None) -> str:
    """Return a text in lines for so many inches; text after the last line is omitted."""
    if not text.strip():
        return ""
    fitting = int(len(text) * width / text_width(text, size))
    lines = textwrap.wrap(text.replace(" ·", "\xa0·"), max(fitting, 1))  # none begins with a dot
    return "\n".join(lines[:most_lines]).replace("\xa0·", " ·")


@dataclass(frozen=True)
class Segment:
    """A line from an output's dot to an input's, in inches, and the size of the text on it."""

    output: Point
    input: Point
    width: float
    height: float


def place(labelled: Sequence[Segment], others: Sequence[Segment]) -> list[Point | None]:
    """Return the center of each segment's text, where few segments cross it, or None."""
    counted = others[:: 1 + len(others) // MOST_COUNTED]
    starts = np.array([segment.output for segment in counted])
    ends = np.array([segment.input for segment in counted])
    taken = np.empty((len(labelled), 4))
    count = 0
    spots: list[Point | None] = []
    for segment in labelled:
        spot = _best_spot(segment, taken[:count], starts, ends)
        spots.append(spot)
        if spot:
            taken[count] = (*spot, segment.width, segment.height)
            count += 1
    return spots


def _best_spot(segment: Segment, taken: Floats, starts: Floats, ends: Floats) -> Point | None:
    x = segment.output[0] + _POSITIONS * (segment.input[0] - segment.output[0])
    y = segment.output[1] + _POSITIONS * (segment.input[1] - segment.output[1])
    left, right = sorted((segment.output[0], segment.input[0]))
    margin = segment.width / 2 + 0.1  # clear of the dots at both ends
    free = (x > left + margin) & (x < right - margin) & _free(segment, x, y, taken)
    if not free.any():
        return None
    crossed = _crossings(segment, x, y, starts, ends)
    cost = np.where(free, crossed + _PULL * np.abs(_POSITIONS - _FAVOURITE), np.inf)
    best = int(cost.argmin())
    return float(x[best]), float(y[best])


def _free(segment: Segment, x: Floats, y: Floats, taken: Floats) -> NDArray[np.bool_]:
    """Return where the text keeps clear of all that are placed: x, y, width and height, (k, 4)."""
    other_x, other_y, widths, heights = taken.T[:, :, np.newaxis]
    apart = np.abs(x - other_x) > (segment.width + widths) / 2 + CLEARANCE
    above = np.abs(y - other_y) > (segment.height + heights) / 2 + CLEARANCE
    return np.asarray((apart | above).all(axis=0))


def _crossings(segment: Segment, x: Floats, y: Floats, starts: Floats, ends: Floats) -> Floats:
    """Count the segments that run through the text, for each spot."""
    slope = (ends[:, 1] - starts[:, 1]) / (ends[:, 0] - starts[:, 0])

    def height_at(where: Floats) -> Any:
        heights = starts[:, 1] + slope * (where[:, np.newaxis] - starts[:, 0])
        return heights - y[:, np.newaxis]

    left, right = height_at(x - segment.width / 2), height_at(x + segment.width / 2)
    apart = (np.minimum(left, right) > segment.height / 2) | (
        np.maximum(left, right) < -segment.height / 2
    )
    return np.asarray((~apart).sum(axis=1), dtype=np.float64)
