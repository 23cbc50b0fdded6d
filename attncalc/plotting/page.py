"""The page a picture is laid out on: one unit of its axes is one inch on paper."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from matplotlib.axes import Axes
from matplotlib.textpath import TextPath

from attncalc.plotting.style import Palette
from attncalc.problem.problem import Problem
from attncalc.problem.stated import conventions
from attncalc.text import harmless, shortened

TEXT_SIZE, WEIGHT_SIZE, TITLE_SIZE, SMALL_SIZE = 11.0, 8.5, 13.0, 7.5
SMALLEST_TEXT = 5.0
"""Points; what would have to be smaller is not written."""
SMALLEST_NAME = 6.0
LONGEST_NAME = 28
POINTS = 72.0
"""Points in an inch."""
MOST_PANELS_IN_A_ROW = 4


@dataclass(frozen=True)
class Frame:
    """A part of the page, in inches."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def width(self) -> float:
        """From its left side to its right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From its bottom to its top."""
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        """Half way between its sides."""
        return (self.left + self.right) / 2


def around(frames: Iterable[Frame]) -> Frame:
    """Return the smallest frame around all of these.

    Examples
    --------
    >>> around([Frame(0, 1, 0, 1), Frame(2, 3, -1, 0)])
    Frame(left=0, right=3, bottom=-1, top=1)
    """
    left, right, bottom, top = zip(
        *((frame.left, frame.right, frame.bottom, frame.top) for frame in frames), strict=True
    )
    return Frame(min(left), max(right), min(bottom), max(top))


def text_width(text: str, size: float) -> float:
    """Return the width of a text in inches, with a little room at both sides."""
    plain = text.replace("$", r"\$")  # a TextPath would read what stands between two as math
    return float(TextPath((0, 0), plain, size=size).get_extents().width) / POINTS + 0.06


def widest(texts: Iterable[str], size: float) -> float:
    """Return the width of the widest text in inches; each different text is measured once."""
    return max(text_width(text, size) for text in set(texts))


def row_text_size(wanted: float, pitch: float) -> float:
    """Return a size of text, in points, that leaves two rows apart that are `pitch` inches away."""
    return min(wanted, pitch * POINTS * 0.8)


def label_step(pitch: float) -> int:
    """Return which rows have room for a name: every one, every second or every fifth, say.

    Examples
    --------
    >>> [label_step(inches) for inches in (0.5, 0.07, 0.007)]
    [1, 2, 20]
    """
    steps = (power * digit for power, digit in product((1, 10, 100, 1000, 10000), (1, 2, 5)))
    fits = (step for step in steps if row_text_size(SMALLEST_NAME, step * pitch) >= SMALLEST_NAME)
    return next(fits, 100_000)


def shown_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as they are written in a picture: harmless, short, and still told apart."""
    return shortened([harmless(name) for name in names], LONGEST_NAME)


def write_title(
    axes: Axes, title: str, frame: Frame, bottom: float, palette: Palette, width: float | None
) -> None:
    """Write the heading above the middle of a frame, in lines for a page of this width, if any."""
    most = max(24, int((frame.width + 2) * 9)) if width is None else max(10, int((width - 0.5) * 7))
    lines = textwrap.wrap(harmless(title), most)
    axes.text(
        frame.middle,
        bottom,
        "\n".join(lines[:4]),
        ha="center",
        va="bottom",
        size=TITLE_SIZE,
        weight="bold",
        color=palette.strong,
        parse_math=False,
        gid="title",
    )


def write_conventions(
    axes: Axes,
    problem: Problem,
    frame: Frame,
    top: float,
    palette: Palette,
    width: float | None,
) -> None:
    """State the conventions in small print, for a picture that is shown without its tables."""
    most = (
        max(50, int((frame.width + 2) * 14)) if width is None else max(16, int((width - 0.5) * 13))
    )
    lines = textwrap.wrap(" · ".join(conventions(problem)), most)
    axes.text(
        frame.middle,
        top,
        "\n".join(lines),
        ha="center",
        va="top",
        size=SMALL_SIZE,
        color=palette.small_print,
        parse_math=False,
        gid="conventions",
    )
