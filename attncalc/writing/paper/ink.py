"""Boxes of ink: text with its true widths, rules, dots and shades, in points from a baseline.

Maps and heatmaps become boxes from the SVG of pages: the same drawing, in gray.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, fromstring

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags

from attncalc.writing.html.elements import Html
from attncalc.writing.plotting.style import fonts_for, undrawable

FONT = "STIXGeneral"
"""The font of matplotlib with the letters of mathematics; others follow for letters it lacks."""
SIZE = 10.5
"""Points of the letters of a page."""
UP, DOWN = 0.72, 0.22
"""The height of a line above and below its baseline, as a share of its size."""
_EM = 1000
_JOINING = "\u200d\ufe0e\ufe0f"
_WIDE = "\u2e80-\U0010ffff"
_PIECE = re.compile(f"[（「]*(?:[{_WIDE}]|[^ {_WIDE}]+ ?| )[、。，；：）」]*")
"""A word with the space after it; in writing without spaces, a letter with signs beside it."""


class Look(NamedTuple):
    """How text looks: its size in points, bold, slanted, and its shade of gray."""

    size: float = SIZE
    bold: bool = False
    slanted: bool = False
    grey: float = 0.0


PLAIN = Look()


class Letters(NamedTuple):
    """Text that begins at a point; turned text rises from there."""

    x: float
    y: float
    text: str
    look: Look
    families: tuple[str, ...]
    width: float
    turned: bool = False

    def joined(self, other: "Mark") -> "Letters | None":
        """Return this text with the one that continues it; None if the other does not."""
        if not isinstance(other, Letters):
            return None
        gap = abs(self.x + self.width - other.x) + abs(self.y - other.y)
        if gap > 0.02 or other.look != self.look or other.families != self.families:
            return None
        return self._replace(text=self.text + other.text, width=self.width + other.width)


class Stroke(NamedTuple):
    """A line between points, dashed or not; a closed one may be filled with a gray."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    width: float = 0.6
    dashed: bool = False
    fill: float | None = None
    grey: float = 0.0
    hatched: bool = False


class Disc(NamedTuple):
    """A filled circle."""

    x: float
    y: float
    radius: float


Mark = Letters | Stroke | Disc


class Box(NamedTuple):
    """Marks, and the room they take: to the right, above the baseline and below it."""

    width: float
    up: float = 0.0
    down: float = 0.0
    marks: tuple[Mark, ...] = ()

    @property
    def height(self) -> float:
        """The height of all of it."""
        return self.up + self.down


def moved(mark: Mark, x: float, y: float, share: float = 1.0) -> Mark:
    """Return a mark at a share of its size and at another place."""
    if isinstance(mark, Stroke):
        xs, ys = (tuple(each * share for each in side) for side in (mark.xs, mark.ys))
        return mark._replace(xs=tuple(a + x for a in xs), ys=tuple(b + y for b in ys))
    at = mark.x * share + x, mark.y * share + y
    if isinstance(mark, Disc):
        return Disc(*at, mark.radius * share)
    look = mark.look if share == 1 else mark.look._replace(size=mark.look.size * share)
    return mark._replace(x=at[0], y=at[1], look=look, width=mark.width * share)


def upright(box: Box, x: float) -> tuple[Mark, ...]:
    """Return the texts of a box, turned so that they rise from a point of the baseline."""
    letters = (mark._replace(x=mark.x + x) for mark in box.marks if isinstance(mark, Letters))
    return tuple(each._replace(turned=True) for each in letters)


def scaled(box: Box, share: float) -> Box:
    """Return a box at a share of its size."""
    marks = tuple(moved(mark, 0.0, 0.0, share) for mark in box.marks)
    return Box(box.width * share, box.up * share, box.down * share, marks)


def placed(parts: Iterable[tuple[float, float, Box]], width: float | None = None) -> Box:
    """Return boxes at their places, as one."""
    found = list(parts)
    marks = tuple(moved(mark, x, y) for x, y, box in found for mark in box.marks)
    right = max((x + box.width for x, _, box in found), default=0.0)
    up = max((y + box.up for _, y, box in found), default=0.0)
    down = max((box.down - y for _, y, box in found), default=0.0)
    return Box(right if width is None else width, up, down, marks)


def beside(boxes: Iterable[Box], gap: float = 0.0) -> Box:
    """Return boxes on one baseline, from left to right."""

    def parts() -> Iterator[tuple[float, float, Box]]:
        x = 0.0
        for box in boxes:
            yield x, 0.0, box
            x += box.width + gap

    return placed(parts())


def rule(width: float, y: float = 0.0, thick: float = 0.5) -> Box:
    """Return a horizontal line."""
    return Box(width, max(y, 0.0), max(-y, 0.0), (Stroke((0.0, width), (y, y), thick),))


class Ink:
    """Sets text in the fonts at hand, and remembers letters that none of them has."""

    def __init__(self) -> None:
        self.lacking: set[str] = set()

    def text(self, text: str, look: Look = PLAIN) -> Box:
        """Return text on a line; letters without a font as their code, such as U+6F22."""
        shown, families = _drawable(text)
        self.lacking.update(undrawable([text]) if shown != text else "")
        width = sum(_advance(families, look.bold, look.slanted, each) for each in shown)
        width *= look.size / _EM
        marks = (Letters(0.0, 0.0, shown, look, families, width),)
        return Box(width, UP * look.size, DOWN * look.size, marks)

    def wrapped(self, text: str, room: float, look: Look = PLAIN) -> Iterator[Box]:
        """Yield the lines of a paragraph; a word wider than a line is broken."""
        line = ""
        for piece in _PIECE.findall(text):
            for part in self.cut(piece, room, look):
                if line and self.text(f"{line}{part}".rstrip(), look).width > room:
                    yield self.text(line.rstrip(), look)
                    line = ""
                line += part
        if line.strip():
            yield self.text(line.rstrip(), look)

    def cut(self, text: str, room: float, look: Look = PLAIN) -> Iterator[str]:
        """Yield a text in parts that are no wider than the room."""
        part = ""
        for letter in text:
            if part and self.text(part + letter.strip(), look).width > room:
                yield part
                part = ""
            part += letter
        yield part


@lru_cache(maxsize=4096)
def _drawable(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text with codes for letters without a font, and the fonts that draw it.

    Between codes of emoji, the signs that join them would move what follows.
    """
    missing = undrawable([text])
    kept = (each for each in text if not missing or each not in _JOINING)
    shown = "".join(f"U+{ord(each):04X}" if each in missing else each for each in kept)
    return shown, tuple(dict.fromkeys([FONT, *fonts_for([shown])]))


@lru_cache(maxsize=64)
def _fonts(families: tuple[str, ...], bold: bool, slanted: bool) -> Sequence[Any]:
    return [get_font(findfont(properties((each,), bold, slanted))) for each in families]


@lru_cache(maxsize=8192)
def _advance(families: tuple[str, ...], bold: bool, slanted: bool, letter: str) -> float:
    """Return how wide a letter is, in thousandths of its size."""
    fonts = _fonts(families, bold, slanted)
    font = next((each for each in fonts if each.get_char_index(ord(letter))), fonts[0])
    font.set_size(_EM, 72)
    glyph = font.load_char(ord(letter), flags=LoadFlags.NO_HINTING)
    return float(glyph.linearHoriAdvance / 65536)


@lru_cache(maxsize=256)
def properties(
    families: tuple[str, ...], bold: bool, slanted: bool, size: float | None = None
) -> FontProperties:
    """Return fonts as matplotlib has them."""
    weight: Any = "bold" if bold else "normal"
    style: Any = "italic" if slanted else "normal"
    return FontProperties(family=list(families), size=size, style=style, weight=weight)


SCALE = 0.75
"""Points of a pixel."""
NAME, WEIGHT, NOTE = 13.0, 12.0, 11.0
"""Sizes of texts of pages, in pixels."""
_ANCHORS = {"end": 1.0, "middle": 0.5}
DARK = 0.5
"""The shade from which numbers are white."""


def picture(svg: Html, ink: Ink, room: float, tallest: float) -> Box:
    """Return a picture no larger than the room for it."""
    root = fromstring(svg)
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    scale = min(SCALE, room / width, tallest / height)
    marks = tuple(_Drawing(ink, scale, height).marks(root))
    return Box(width * scale, height * scale, 0.0, marks)


class _Drawing:
    """Converts elements of SVG to marks."""

    def __init__(self, ink: Ink, scale: float, height: float) -> None:
        self.ink, self.scale, self.height = ink, scale, height

    def marks(self, node: Element, inside: str = "") -> Iterator[Mark]:
        """Yield the marks of an element and its parts."""
        class_ = f"{inside} {node.get('class', '')}"
        if node.tag in ("pattern", "title", "desc"):
            return
        if node.tag in ("line", "circle", "rect", "text"):
            yield from getattr(self, f"_{node.tag}")(node, class_)
            return
        for child in node:
            yield from self.marks(child, class_)

    def _at(self, node: Element, x: str, y: str) -> tuple[float, float]:
        down = float(node.get(y, 0)) * self.scale
        return float(node.get(x, 0)) * self.scale, self.height * self.scale - down

    def _line(self, node: Element, class_: str) -> Iterator[Mark]:
        (x1, y1), (x2, y2) = self._at(node, "x1", "y1"), self._at(node, "x2", "y2")
        width = float(node.get("stroke-width", 1.0)) * self.scale
        is_drawn = "most" in class_ or "second" in class_
        grey = 0.25 if is_drawn else 0.8
        yield Stroke((x1, x2), (y1, y2), width, "second" in class_, grey=grey)

    def _circle(self, node: Element, _: str) -> Iterator[Mark]:
        yield Disc(*self._at(node, "cx", "cy"), float(node.get("r", 3)) * self.scale)

    def _rect(self, node: Element, class_: str) -> Iterator[Mark]:
        x, y = self._at(node, "x", "y")
        wide, high = (float(node.get(side, 0)) * self.scale for side in ("width", "height"))
        shade = 1 - 0.85 * float(node.get("fill-opacity", 1))
        corners = (x, x + wide, x + wide, x), (y, y, y - high, y - high)
        if "qr" in class_:
            yield Stroke(*corners, 0.0, fill=1.0 if "ground" in class_ else 0.0)
            return
        is_masked = "masked" in class_
        yield Stroke(*corners, 0.4, fill=shade, grey=0.75, hatched=is_masked)

    def _text(self, node: Element, class_: str) -> Iterator[Mark]:
        if "note" in class_ or ("masked" in class_ and "heatmap" in class_):
            return
        is_weight, grey = "weights" in class_, 1.0 if "deep" in class_ else 0.0
        size = (WEIGHT if is_weight else NAME) * self.scale
        box = self.ink.text(node.text or "", Look(size, "head" in class_, grey=grey))
        x, y = self._at(node, "x", "y")
        if turn := node.get("transform"):  # a name that rises over its column
            left, down = map(float, turn[len("translate(") :].split(")")[0].split())
            x, y = left * self.scale, self.height * self.scale - down * self.scale
            yield from (moved(mark, x, y) for mark in upright(box, 0.0))
            return
        anchor = node.get("text-anchor", "middle" if is_weight else "start")
        x -= box.width * _ANCHORS.get(anchor, 0.0)
        if is_weight:  # the lines pass behind the numbers
            left, right, low, high = x - 1.5, x + box.width + 1.5, y - 1.5, y + box.up
            yield Stroke((left, right, right, left), (low, low, high, high), 0.0, fill=1.0)
        yield from (moved(mark, x, y) for mark in box.marks)
