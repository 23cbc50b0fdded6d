"""The options of a picture: its kind, its texts, its colors and its size."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from attncalc.base.errors import InputError, OutputError
from attncalc.base.typed import NotANumber, quoted, read_number

KINDS = ("map", "heatmap", "both")
SMALLEST_SIDE, LARGEST_SIDE = 1, 40
"""Inches; beyond, a PNG of 200 dots per inch requires too much memory."""

LARGEST_DRAWN = 1e300
"""Numbers up to this size are drawn: axes extend beyond them, and are floats too."""

Size = tuple[float, float | None]


@dataclass(frozen=True)
class Look:
    """The appearance of a picture; the default is the map that homework requires.

    Raises InputError for another kind, and for every line of a heatmap. The text starts with the
    name of the option, so that a command can put its dashes before it.

    kind: `"map"`, `"heatmap"` or `"both"`.
    every_line: whether the map has a line for every weight that does not round to zero.
    size: width and height in inches, or the width and None; None for an automatic size.
    """

    kind: str = "map"
    every_line: bool = False
    values: bool = True
    dark: bool = False
    size: Size | None = None

    def __post_init__(self) -> None:
        """Refuse impossible options."""
        if self.kind not in KINDS:
            raise InputError(f"kind takes map, heatmap or both, not {quoted(str(self.kind))}")
        if self.every_line and not self.has_map:
            raise InputError(
                "all draws every line of the map, and a heatmap has no lines: "
                "omit it, or use the kind map or both"
            )

    @property
    def has_map(self) -> bool:
        """Whether the map is part of the picture."""
        return self.kind != "heatmap"

    @property
    def has_heatmap(self) -> bool:
        """Whether the heatmap is part of the picture."""
        return self.kind != "map"


def check_drawn(largest: float) -> None:
    """Refuse numbers that no axis has room for.

    Raises OutputError if it is too large.
    """
    if largest > LARGEST_DRAWN:
        raise OutputError(
            f"a picture shows numbers up to {LARGEST_DRAWN:g}, and the largest here is "
            f"{largest:.3g}: write a table instead, for example -o study.csv"
        )


def read_size(given: object) -> Size | None:
    """Read a size in inches: "12x8", "12", 12, (12, 8) or None.

    Raises InputError for anything else, and for impossible sides.

    >>> read_size("12x8"), read_size(6.5)
    ((12.0, 8.0), (6.5, None))
    """
    if given is None:
        return None
    sides = _sides(given)
    if sides is None:
        raise InputError(f"size takes inches, as 12x8 or a width as 12, not {quoted(str(given))}")
    if not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in sides):
        raise InputError(
            f"size takes {SMALLEST_SIDE} to {LARGEST_SIDE} inches a side, not {quoted(str(given))}"
        )
    return sides[0], sides[1] if len(sides) == 2 else None


def _sides(given: object) -> list[float] | None:
    """Return the one or two numbers of a size, or None if it is not a size."""
    parts: list[Any] = [given]
    if isinstance(given, str):
        parts = [part.strip() for part in re.split(r"[x×]", given.lower())]
    elif isinstance(given, Iterable):
        parts = list(given)
    if not 1 <= len(parts) <= 2 or any(isinstance(part, bool) for part in parts):
        return None
    try:
        sides = [float(read_number(part) if isinstance(part, str) else part) for part in parts]
    except (NotANumber, TypeError, ValueError):
        return None
    return sides if all(math.isfinite(side) for side in sides) else None
