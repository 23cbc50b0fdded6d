"""Matrices in LaTeX: in blocks that fit a line and a page, and small ones side by side."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from attncalc.text import shown_names
from attncalc.writing.blocks import blocks_of, caption
from attncalc.writing.document import Cell, Grid, Mark
from attncalc.writing.latex_lines import LINE, width
from attncalc.writing.latex_math import in_tex, name_in_tex
from attncalc.writing.latex_text import in_latex

COLUMN_GAP, BRACKETS = 10.0, 20.0
MOST_ROWS = 25
"""Rows that stand in one matrix: more would not fit on a page."""
LONGEST_NAME = 24
BETWEEN = 30.0
"""Points between two matrices on one line."""
_EMPTY, _EMPTY_WIDTH = r"\rule{0pt}{1.8em}\underline{\hspace{3em}}", 30.0
_DOTS = r"\cdots", r"\vdots"
_STRUT = r"\vphantom{\tfrac{1}{2}}"
"""Keeps the names of rows as far apart as rows with fractions are."""


LOOKS = {"most": r"\mathbf{%s}", "second": r"\underline{%s}", "wrong": r"\textbf{%s}"}


class Block(NamedTuple):
    """A matrix, or the part of one that fits a line.

    Parameters
    ----------
    name
        What it is called, in TeX.
    matrix
        Its rows in brackets, with names of tokens before them, in TeX.
    width
        How wide all of this is at most, in points.
    caption
        What is said above it: the names of its columns, or which part it is.
    """

    name: str
    matrix: str
    width: float
    caption: str


def matrix_blocks(grid: Grid) -> Iterator[Block]:
    """Yield a matrix in blocks of columns that fit a line, and of rows that fit a page."""
    rows, columns = grid.row_places, grid.column_places
    texts = [
        [_entry(cell) if cell else _DOTS[place is None] for cell in row]
        for place, row in zip(rows, grid.cells(), strict=True)
    ]
    names = names_in_latex(grid.rows, rows) if grid.tokens[0] else []
    name = name_in_tex(grid.name, grid.head)
    beside = width(f"{name} =") + BRACKETS + max(map(_name_width, names), default=0.0)
    widths = [max(map(_entry_width, column)) for column in zip(*texts, strict=True)]
    across = list(blocks_of(widths, LINE - beside, COLUMN_GAP))
    down = list(blocks_of([1] * len(rows), MOST_ROWS, 0))
    for top, bottom in down:
        for left, right in across:
            said = [caption("row", rows[top:bottom], len(rows))] if len(down) > 1 else []
            if len(across) > 1:
                said.append(caption("column", columns[left:right], len(grid.columns)))
            if grid.tokens[1]:
                tokens = names_in_latex(grid.columns, columns[left:right])
                said.append(f"columns: {'; '.join(tokens)}")
            yield Block(
                name,
                _bracketed(names[top:bottom], [row[left:right] for row in texts[top:bottom]]),
                beside + sum(widths[left:right]) + COLUMN_GAP * (right - left),
                ", ".join(said),
            )


def fits_beside(equation: str, block: Block) -> bool:
    """Say whether a matrix fits on the line of its equation, with nothing to say above it."""
    return not block.caption and width(f"{equation} =") + block.width <= LINE


def side_by_side(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield displays, each with as many matrices as fit a line."""
    line: list[str] = []
    used = 0.0
    for block in blocks:
        if line and (block.caption or used + block.width > LINE):
            yield _display(line)
            line, used = [], 0.0
        equation = f"{block.name} = {block.matrix}"
        if block.caption:
            yield rf"\noindent {block.caption[0].upper()}{block.caption[1:]}.\par"
            yield _display([equation])
            continue
        line.append(equation)
        used += block.width + BETWEEN
    if line:
        yield _display(line)


def names_in_latex(names: Sequence[str], shown: Sequence[int | None] | None = None) -> list[str]:
    """Return names of tokens in LaTeX, long ones cut and still told apart."""
    places = range(len(names)) if shown is None else shown
    return shown_names(names, places, LONGEST_NAME, in_latex, ("…", r"\dots{}"))


def _display(equations: list[str]) -> str:
    return "\\[" + "\n\\qquad ".join(equations) + "\\]"


def _bracketed(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return one matrix, and before it the names of its rows."""
    lines = [" & ".join(row) for row in rows]
    matrix = "\\begin{bmatrix}\n" + " \\\\\n".join(lines) + "\n\\end{bmatrix}"
    if not names:
        return matrix
    beside = " \\\\\n".join(rf"\text{{{name}}}{_STRUT}" for name in names)
    return f"\\begin{{matrix}}\n{beside}\n\\end{{matrix}}\n{matrix}"


def _entry(cell: Cell) -> str:
    content = cell.content
    if content is None:
        return _EMPTY
    if isinstance(content, str):
        return _written(content, cell.mark)
    text = in_tex(content)
    if cell.hidden:
        text = rf"{{{text}}}^{{\dagger}}"
    return LOOKS.get(cell.rank, "%s") % text


def _written(text: str, mark: Mark | None) -> str:
    """Return what a person wrote, and the sign of its mark."""
    sign, look = (mark.sign, mark.look) if mark else ("", "")
    return LOOKS.get(look, r"\text{%s}") % in_latex(f"{text} {sign}".strip())


def _entry_width(text: str) -> float:
    return _EMPTY_WIDTH if text == _EMPTY else width(text)


def _name_width(name: str) -> float:
    return width(name) + COLUMN_GAP
