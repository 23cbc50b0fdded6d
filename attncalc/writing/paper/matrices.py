"""Matrices as boxes: in brackets, with names of tokens, in blocks that fit a line and a page."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from attncalc.base.text import shown_names
from attncalc.writing.blocks import parts_of
from attncalc.writing.document import DAGGER, LEFT_OUT, Cell, Grid
from attncalc.writing.paper.formulas import Formulas
from attncalc.writing.paper.ink import (
    SIZE,
    Box,
    Letters,
    Look,
    Mark,
    Stroke,
    beside,
    placed,
    rule,
    upright,
)

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
    """Yield a matrix under its name, in parts of columns and rows.

    empty: the width and the height of the room for an answer.
    """
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
