"""Formulas as boxes, from the MathML of browsers; and matrices, in blocks that fit a line."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, fromstring

from attncalc.base.text import shown_names
from attncalc.equations.expressions import Expression
from attncalc.languages.catalogue import ENGLISH
from attncalc.writing.document import DAGGER, LEFT_OUT, Cell, Grid, parts_of
from attncalc.writing.html.elements import Html, element
from attncalc.writing.html.mathml import MathMl, name_in_mathml
from attncalc.writing.paper.ink import (
    SIZE,
    Box,
    Ink,
    Letters,
    Look,
    Mark,
    Stroke,
    beside,
    placed,
    rule,
    upright,
)
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
        """Return our own MathML as a tree; texts in it are escaped."""
        own = Html(formulas_in_language(markup, self.language))
        return fromstring(element("math", own))

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
        """Return parts side by side, with brackets as high as what is between them."""
        parts = [self._child(node, place, size) for place in range(len(node))]
        high = max((part.up for part in parts), default=0.0)
        low = max((part.down for part in parts), default=0.0)
        for place, child in enumerate(node if high + low >= 1.7 * size else ()):
            if child.tag == "mo" and child.text in ("(", ")", "[", "]"):
                parts[place] = _bracket(child.text, high, low, size)
        return beside(parts)

    _math = _mrow

    def _mi(self, node: Element, size: float) -> Box:
        text = node.text or "\u2009"  # that of a space
        is_slanted = node.tag == "mi" and len(text) == 1 and text.isalpha() and text != "Φ"
        return self.ink.text(text, Look(size, slanted=is_slanted))

    _mn = _mtext = _mspace = _mi

    def _mo(self, node: Element, size: float) -> Box:
        return self._spaced(node.text or "", size)

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


GAP, LEADING = 11.0, 4.0
"""Points between columns, and between rows."""
BLANK = (34.0, 22.0)
"""The room for an answer: its width and its height."""
BRACKET = 5.0
LONGEST_NAME = 24
WIDEST_HEAD = 70.0
"""Points of a name over its column; wider ones rise."""
MOST_ROWS, MOST_EMPTY = 36, 24
NAMES = Look(8.5, grey=0.3)


class Block(NamedTuple):
    """A matrix, or a part of one that fits a line, with and without its name; which part it is."""

    box: Box
    bare: Box
    caption: str


def matrix_blocks(
    grid: Grid,
    formulas: Formulas,
    room: float,
    say: Callable[[str], str] = str,
    equals: str = "=",
    empty: tuple[float, float] = BLANK,
) -> Iterator[Block]:
    """Yield a matrix under its name, in parts of columns and rows."""
    cells = [[_cell(cell, formulas, empty) for cell in row] for row in grid.cells()]
    names, heads = _names(grid, 0, formulas), _names(grid, 1, formulas)
    turned = any(head.width > WIDEST_HEAD for head in heads)
    first = beside([formulas.name(grid.name, grid.head), formulas.sign(equals)])
    side = first.width + max((name.width for name in names), default=0.0) + 4 * BRACKET
    widths = [max(box.width for box in column) for column in zip(*cells, strict=True)]
    if heads and not turned:
        widths = [max(a, head.width) for a, head in zip(widths, heads, strict=True)]
    most = MOST_EMPTY if grid.cell(0, 0).content is None else MOST_ROWS
    for down, across, said in parts_of(grid, widths, room - side, GAP, most, say):
        rows = [row[across] for row in cells[down]]
        part = _table(rows, widths[across], names[down], heads[across], turned=turned)
        yield Block(beside([first, part]), part, ", ".join(said))


def _names(grid: Grid, axis: int, formulas: Formulas) -> list[Box]:
    """Return the names of rows or columns, if they are more than numbers."""
    if not grid.tokens[axis]:
        return []
    sides = (grid.rows, grid.row_places), (grid.columns, grid.column_places)
    shown = shown_names(*sides[axis], LONGEST_NAME, str)
    return [formulas.ink.text(name, NAMES) for name in shown]


def _table(
    cells: Sequence[Sequence[Box]],
    widths: Sequence[float],
    names: Sequence[Box],
    heads: Sequence[Box],
    *,
    turned: bool,
) -> Box:
    """Return rows in brackets, their middle on the baseline's axis."""
    ups = [max(box.up for box in row) for row in cells]
    downs = [max(box.down for box in row) for row in cells]
    height = sum(ups) + sum(downs) + LEADING * (len(cells) - 1)
    top = height / 2 + 0.26 * SIZE
    left = max((name.width for name in names), default=0.0) + (4.0 if names else 0.0)
    inner = sum(widths) + GAP * (len(widths) - 1)
    parts, y = [], top
    for place, row in enumerate(cells):
        y -= ups[place]
        if names:
            parts.append((left - 4.0 - names[place].width, y, names[place]))
        x = left + 2 * BRACKET
        for box, width in zip(row, widths, strict=True):
            parts.append((x + width - box.width, y, box))
            x += width + GAP
        y -= downs[place] + LEADING
    parts.append((left, 0.0, _side(top, height, is_left=True)))
    parts.append((left + 3 * BRACKET + inner, 0.0, _side(top, height, is_left=False)))
    parts += _over(heads, widths, left + 2 * BRACKET, top + 4.0, turned=turned)
    return placed(parts, left + inner + 4 * BRACKET)


def _over(
    heads: Sequence[Box], widths: Sequence[float], x: float, y: float, *, turned: bool
) -> Iterator[tuple[float, float, Box]]:
    """Yield the names over columns; wide ones rise."""
    for head, width in zip(heads, widths, strict=False):
        if turned:
            marks = upright(head, head.up)
            yield x + (width - head.up) / 2, y, Box(head.up, head.width, 0.0, marks)
        else:
            yield x + width - head.width, y + head.down, head
        x += width + GAP


def _side(top: float, height: float, *, is_left: bool) -> Box:
    """Return a square bracket."""
    inner, outer = (BRACKET, 1.0) if is_left else (0.0, BRACKET - 1.0)
    ys = (top + 2, top + 2, top - height - 2, top - height - 2)
    stroke = Stroke((inner, outer, outer, inner), ys, 0.8)
    return Box(BRACKET, top + 2, height + 2 - top, (stroke,))


def _cell(cell: Cell | None, formulas: Formulas, empty: tuple[float, float]) -> Box:
    ink = formulas.ink
    if cell is None:
        return ink.text(LEFT_OUT)
    if cell.content is None:
        width, height = empty
        line = rule(width, -3.0)
        return placed([(0.0, 0.0, line), (0.0, 0.0, Box(width, height - 3.0, 3.0))])
    look = cell.mark.look if cell.mark else cell.rank
    sign = f"{DAGGER if cell.hidden else ''}{' ' + cell.mark.sign if cell.mark else ''}".rstrip()
    bold = Look(bold=look in ("most", "wrong"))
    if isinstance(cell.content, str):
        return ink.text(f"{cell.content}{sign}", bold)
    box = formulas.whole(cell.content)
    if look == "most":
        box = Box(*box[:3], tuple(_in_bold(mark) for mark in box.marks))
    if look == "second":
        box = placed([(0.0, 0.0, box), (0.0, -box.down + 0.5, rule(box.width, 0.0, 0.6))])
    return beside([box, ink.text(sign)]) if sign else box


def _in_bold(mark: Mark) -> Mark:
    return mark._replace(look=mark.look._replace(bold=True)) if isinstance(mark, Letters) else mark
