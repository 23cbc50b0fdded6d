"""Maps and heatmaps as boxes, from the SVG of pages: the same drawing, in gray."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, fromstring

from attncalc.writing.html.elements import Html
from attncalc.writing.paper.ink import Box, Disc, Ink, Look, Mark, Stroke, moved, upright

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
        look = self._look(class_)
        box = self.ink.text(node.text or "", look)
        x, y = self._at(node, "x", "y")
        if turn := node.get("transform"):
            yield from self._turned(turn, box)
            return
        is_weight = "weights" in class_
        anchor = node.get("text-anchor", "middle" if is_weight else "start")
        x -= box.width * _ANCHORS.get(anchor, 0.0)
        if is_weight:  # the lines pass behind the numbers
            left, right, low, high = x - 1.5, x + box.width + 1.5, y - 1.5, y + box.up
            yield Stroke((left, right, right, left), (low, low, high, high), 0.0, fill=1.0)
        yield from (moved(mark, x, y) for mark in box.marks)

    def _look(self, class_: str) -> Look:
        size = WEIGHT if "weights" in class_ else NAME
        return Look(size * self.scale, "head" in class_, grey=1.0 if "deep" in class_ else 0.0)

    def _turned(self, turn: str, box: Box) -> Iterator[Mark]:
        """Yield a name that rises over its column."""
        x, y = turn[len("translate(") :].split(")")[0].split()
        left, down = float(x) * self.scale, self.height * self.scale - float(y) * self.scale
        yield from (moved(mark, left, down) for mark in upright(box, 0.0))
