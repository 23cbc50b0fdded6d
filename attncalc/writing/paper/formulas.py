"""Formulas as boxes, from their MathML: the same elements that browsers set."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, fromstring

from attncalc.equations.expressions import Expression
from attncalc.languages.catalogue import ENGLISH
from attncalc.writing.html.elements import Html, element
from attncalc.writing.html.mathml import MathMl, name_in_mathml
from attncalc.writing.paper.ink import SIZE, Box, Ink, Look, Stroke, beside, placed, rule
from attncalc.writing.translated import formulas_in_language

SCRIPT = 0.72
"""The size of a script, as a share of its base."""
SMALLEST = 6.0
AXIS = 0.26
"""The height of the line of a fraction above the baseline, as a share of the size."""
_OF_ROOT = 0.95, 0.259, 1.232
"""Of the sign of a root: its width, its depth and its height, as shares of its size."""
_SPACED = re.compile(r"[=≈+×⊙−]")
_CLOSE = "([∂√"


class Formulas:
    """Sets formulas in one size, with their words in a language."""

    def __init__(self, ink: Ink, size: float = SIZE, language: str = ENGLISH) -> None:
        self.ink, self.size, self.language = ink, size, language

    def name(self, name: str, head: int = 0) -> Box:
        """Return the name of a matrix, or of one head of it."""
        return self.box(self._tree(name_in_mathml(name, head)), self.size)

    def whole(self, expression: Expression) -> Box:
        """Return an expression on one line."""
        return self.box(self._tree(MathMl().write(expression)), self.size)

    def sign(self, sign: str) -> Box:
        """Return a sign between two sides of an equation, with its space."""
        return self._spaced(sign, self.size)

    def pieces(self, expression: Expression, room: float) -> Iterator[Box]:
        """Yield an expression in boxes of at most this width, to be set one after another."""
        for place, piece in enumerate(MathMl().pieces(expression)):
            tree = self._tree(piece)
            signs = [each for each in tree.iter("mo") if place and each is _first(tree)]
            for sign in signs:  # it is between this piece and the one before
                sign.set("form", "infix")
            yield from self._fitting(tree, room)

    def _tree(self, markup: Html) -> Element:
        return _tree(Html(formulas_in_language(markup, self.language)))

    def _fitting(self, node: Element, room: float) -> Iterator[Box]:
        """Yield an element, or its parts where it is wider than the room: no digit is lost."""
        box = self.box(node, self.size)
        if box.width <= room:
            yield box
        elif node.tag in ("mrow", "math"):
            yield from self._row_fitting(node, room)
        elif len(node):
            for place, child in enumerate(node):
                if place:
                    yield self.sign("/" if node.tag == "mfrac" else "^")
                yield self.ink.text("(", Look(self.size))
                yield from self._fitting(child, room)
                yield self.ink.text(")", Look(self.size))
        else:
            for part in self.ink.cut(node.text or "", room, Look(self.size)):
                yield self.ink.text(part, Look(self.size))

    def _row_fitting(self, node: Element, room: float) -> Iterator[Box]:
        """Yield the parts of a row: a sign stays with what follows it, if both fit."""
        sign: Box | None = None
        for place, child in enumerate(node):
            boxes = list(self._fitting(child, room))
            boxes = [self._child(node, place, self.size)] if len(boxes) == 1 else boxes
            if sign is not None and sign.width + boxes[0].width <= room:
                boxes[0] = beside([sign, boxes[0]])
            elif sign is not None:
                yield sign
            sign = None
            if child.tag == "mo" and child.text not in (")", "]"):
                sign = boxes.pop()
            yield from boxes
        if sign is not None:
            yield sign

    def box(self, node: Element, size: float) -> Box:
        """Return an element of MathML as a box."""
        made: Box = getattr(self, f"_{node.tag}")(node, size)
        return made

    def _child(self, node: Element, place: int, size: float) -> Box:
        """Return a part of a row: a minus between two terms has space around it."""
        child = node[place]
        if child.tag != "mo":
            return self.box(child, size)
        before = node[place - 1] if place else None
        is_first = before is None or (before.tag == "mo" and before.text in (*_CLOSE, "=", "≈"))
        if child.text in ("−", "+") and is_first and not child.get("form"):
            return self.ink.text(child.text, Look(size))
        return self._spaced(child.text or "", size)

    def _spaced(self, sign: str, size: float) -> Box:
        between = " " if _SPACED.fullmatch(sign) else ""
        after = " " if sign in ";," else ""
        return self.ink.text(f"{between}{sign}{between}{after}", Look(size))

    def _mrow(self, node: Element, size: float) -> Box:
        parts = [self._child(node, place, size) for place in range(len(node))]
        return beside(self._grown(node, parts, size))

    _math = _mrow

    def _grown(self, node: Element, parts: list[Box], size: float) -> list[Box]:
        """Return the parts with brackets as high as what is between them."""
        high = max((part.up for part in parts), default=0.0)
        low = max((part.down for part in parts), default=0.0)
        if high + low < 1.7 * size:
            return parts
        return [
            _bracket(child.text or "", high, low, size)
            if child.tag == "mo" and child.text in ("(", ")", "[", "]")
            else part
            for child, part in zip(node, parts, strict=True)
        ]

    def _mi(self, node: Element, size: float) -> Box:
        text = node.text or ""
        is_slanted = len(text) == 1 and text.isalpha() and text != "Φ"
        return self.ink.text(text, Look(size, slanted=is_slanted))

    def _mn(self, node: Element, size: float) -> Box:
        return self.ink.text(node.text or "", Look(size))

    def _mo(self, node: Element, size: float) -> Box:
        return self._spaced(node.text or "", size)

    _mtext = _mn

    def _mspace(self, node: Element, size: float) -> Box:
        return self.ink.text("\u2009", Look(size))

    def _mfrac(self, node: Element, size: float) -> Box:
        top, bottom = (self.box(child, max(SMALLEST, 0.88 * size)) for child in node)
        width, axis = max(top.width, bottom.width) + 2.0, AXIS * size
        line = rule(width, axis)
        above = ((width - top.width) / 2, axis + 1.8 + top.down, top)
        below = ((width - bottom.width) / 2, axis - 1.8 - bottom.up, bottom)
        return beside([Box(1.0), placed([(0, 0, line), above, below], width), Box(1.0)])

    def _msqrt(self, node: Element, size: float) -> Box:
        inner = beside(self.box(child, size) for child in node)
        tall = max(0.9 * size, (inner.height + 1.5) / _OF_ROOT[2])
        lift = _OF_ROOT[1] * tall - inner.down - 0.5
        sign, top = self.ink.text("√", Look(tall)), lift + (_OF_ROOT[2] - _OF_ROOT[1]) * tall
        over = _OF_ROOT[0] * tall, top - 0.3, rule(inner.width + 1.5, 0.0, 0.05 * tall)
        root = Box(_OF_ROOT[0] * tall, top + 1.0, inner.down + 0.5, placed([(0, lift, sign)]).marks)
        return placed([(0.0, 0.0, root), over, (root.width + 0.5, 0.0, inner)])

    def _scripted(self, node: Element, size: float) -> Box:
        main, small = self.box(node[0], size), max(SMALLEST, SCRIPT * size)
        parts = [(0.0, 0.0, main)]
        if "sub" in node.tag:
            script = self.box(node[1], small)
            parts.append((main.width, -max(0.18 * size, main.down - 0.1 * size), script))
        if "sup" in node.tag:
            script = self.box(node[-1], small)
            parts.append((main.width + 0.6, max(0.42 * size, main.up - 0.4 * size), script))
        return beside([placed(parts), Box(0.6)])

    _msub = _msup = _msubsup = _scripted

    def _munder(self, node: Element, size: float) -> Box:
        sign = self.box(node[0], 1.25 * size if node[0].text == "∑" else size)
        under = self.box(node[1], max(SMALLEST, SCRIPT * size))
        width = max(sign.width, under.width)
        lower = ((width - under.width) / 2, -sign.down - under.up, under)
        return beside([placed([((width - sign.width) / 2, 0, sign), lower], width), Box(1.5)])


def _first(node: Element) -> Element:
    """Return the first sign or letter of an element."""
    return _first(node[0]) if len(node) else node


def _tree(markup: Html) -> Element:
    """Return our own MathML as a tree; texts in it are escaped."""
    return fromstring(element("math", markup))


def _bracket(sign: str, high: float, low: float, size: float) -> Box:
    """Return a bracket of any height, drawn."""
    width, reach = 0.34 * size, 0.2 * size
    if sign in "[]":
        xs: tuple[float, ...] = (width - 0.8, 0.12 * size, 0.12 * size, width - 0.8)
        ys: tuple[float, ...] = (high, high, -low, -low)
    else:  # a parabola
        steps = [place / 8 - 1 for place in range(17)]
        xs = tuple(width - 0.8 - reach * (1 - step * step) for step in steps)
        ys = tuple((high - low) / 2 + step * (high + low) / 2 for step in steps)
    if sign in ")]":
        xs = tuple(width - x for x in xs)
    return Box(width, high, low, (Stroke(xs, ys, 0.7),))
