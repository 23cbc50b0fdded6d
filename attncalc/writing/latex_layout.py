"""How LaTeX breaks long work and wide matrices, by widths of Computer Modern at 10 points."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import NamedTuple

from attncalc.base.latex_text import LETTER, in_latex
from attncalc.base.text import capital, shown_names
from attncalc.solving.work import Derivation
from attncalc.writing.document import Cell, Grid, blocks_of, parts_of
from attncalc.writing.latex_math import TexMath, in_tex, name_in_tex

LINE = 330.0
"""Points that fit on a line: 345 of LaTeX's own article, less some for safety."""
LINE_OF_OWN = 478.0
"""Points that fit on a line of a document of our own."""
BETWEEN_COLUMNS = 12.0
_WIDTHS = {" ": 2.5, ".": 2.8, ",": 2.8, "(": 3.9, ")": 3.9, "[": 2.8, "]": 2.8, "^": 0.0}
_WIDTHS |= {"·": 7.4, "+": 8.0, "-": 8.0, "=": 8.0, "≈": 8.0, "×": 8.0, "√": 8.5, "∞": 10.0}
_WIDTHS |= dict.fromkeys(r"{}\_", 0.0)
_WIDTHS |= {"†": 5.0, "…": 14.0, "∂": 6.0}
_DIGIT, _LETTER = 5.1, 7.5
_SIGNS = {r"\cdot": "·", r"\times": "×", r"\infty": "∞", r"\sqrt": "√", r"\approx": "≈"}
_SIGNS |= {r"\dagger": "†", r"\cdots": "…", r"\vdots": " ", r"\mathbf": " ", r"\quad": "…"}
_SIGNS |= {r"\partial": "∂", r"\sum": "…"} | dict.fromkeys((r"\lt", r"\gt", r"\le", r"\ge"), "=")
_SET = _WIDTHS | {" ": 0.0, "+": 12.3, "=": 13.4, "·": 7.3, "≈": 13.4, "×": 12.3, "&": 0.0}
_WORDS = {r"\tanh": "tanh", r"\sin": "sin", r"\cos": "cos", r"\Phi": "Φ"}
"""Commands that are set as letters."""
_NARROW, _BROAD = 5.7, 10.5
SCRIPT, BOLD = 0.8, 1.16
"""How wide small and bold letters are, relative to others."""
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[^\\]")
_FIXED = re.compile(r"\\(?:left|right)(?=[\[\]()])")
_COMMAND = re.compile(r"\\[A-Za-z]+")
COLUMN_GAP, BRACKETS = 10.0, 14.0
MOST_ROWS, MOST_EMPTY_ROWS = 25, 18
"""Rows of one matrix: more would not fit on a page."""
LONGEST_NAME = 24
WIDEST_HEAD = 60.0
"""Points of a name that fits over a column; wider ones are listed above the matrix."""
BETWEEN = 20.0
"""Points between two matrices on one line."""
EMPTY_STRUT = re.compile(r"\\rule\{0pt\}\{([\d.]+)em\}")
_EMPTY_WIDTHS = {
    rf"\rule{{0pt}}{{{high}em}}\underline{{\hspace{{{wide}em}}}}": 10.0 * wide
    for wide, high in ((3, 1.5), (1.6, 1.3), (1.6, 1.0))
}
BLANKS = tuple(_EMPTY_WIDTHS)
"""The blanks of worksheets, the widest first."""
_DOTS = r"\cdots", r"\vdots"
_BESIDE = "\n\\qquad "
"""The space between two equations on a line."""
_STRUT = r"\vphantom{\tfrac{1}{2}}"
"""Keeps the names of rows as far apart as rows with fractions are."""
LOOKS = {"most": r"\mathbf{%s}", "second": r"\underline{%s}", "wrong": r"\textbf{%s}"}


def width(tex: str) -> float:
    """Return how wide mathematics is at most, in points; superscripts count in full."""
    plain = _COMMAND.sub(lambda command: (_SIGNS | _WORDS).get(command[0], ""), tex)
    return sum(_WIDTHS.get(c, _DIGIT if c.isdigit() else _LETTER) for c in plain)


def set_width(tex: str) -> float:
    """Return the width of typeset mathematics, in points: like `width`, closer for small parts."""
    return _of_group(iter(_TOKEN.findall(tex)))


def text_width(tex: str) -> float:
    """Return how wide text is at most, in points; a letter that LaTeX lacks is shown as U+732B."""
    plain = _COMMAND.sub("M", LETTER.sub("MMMM", tex))
    return sum(_of_token(letter, iter(())) for letter in plain if letter not in "{}\\^_")


def _of_group(tokens: Iterator[str]) -> float:
    """Return the width up to the brace that closes a group; its scripts overlap."""
    total, scripts = 0.0, [0.0]
    for token in tokens:
        if token == "}":
            break
        if token in "^_":
            scripts.append(SCRIPT * _of_token(next(tokens, ""), tokens))
            continue
        total += max(scripts) + _of_token(token, tokens)
        scripts = [0.0]
    return total + max(scripts)


def _of_token(token: str, tokens: Iterator[str]) -> float:
    """Return the width of a token with its parts."""

    def argument() -> float:
        return _of_token(next(tokens, ""), tokens)

    if token == "{":
        return _of_group(tokens)
    if token in (r"\frac", r"\tfrac"):
        return max(argument(), argument()) + 4
    if token in (r"\mathbf", r"\textbf"):
        return BOLD * argument()
    if token in _WORDS:
        return _NARROW * len(_WORDS[token]) + 2
    if token.startswith("\\"):
        return _SET.get(_SIGNS.get(token, ""), 0.0 if token[1:].isalpha() else 2 * _DIGIT)
    if token.isalpha():
        return _BROAD if token in "mwMWQ" else _LETTER + 1 if token.isupper() else _NARROW
    return _SET.get(token, _WIDTHS.get(token, _DIGIT))


def by_rows(lines: Sequence[Derivation], at_least: int = 1) -> Iterator[list[Derivation]]:
    """Yield the work in groups of complete rows of a matrix, each of at least so many entries."""
    group: list[Derivation] = []
    for _, row in groupby(lines, key=lambda line: line.entry.place[:-1]):
        group += row
        if len(group) >= at_least:
            yield group
            group = []
    if group:
        yield group


def in_columns(lines: Sequence[Derivation], room: float) -> Iterator[str]:
    """Yield rows of an aligned block, with as many entries side by side as fit."""
    texts = [in_rows(line, room) for line in lines]
    widths = [math.inf if "\n" in text else set_width(text) + BETWEEN_COLUMNS for text in texts]
    of_row = len(next(iter(by_rows(lines))))
    even = (n for n in range(len(lines), 1, -1) if of_row % n == 0 or n % of_row == 0)
    beside = next((count for count in even if count * max(widths) <= room), 1)
    for start in range(0, len(texts), beside):
        yield " & ".join(texts[start : start + beside])


def in_rows(line: Derivation, room: float) -> str:
    """Return the work of one entry for an aligned block, on as many rows as it needs."""
    entry = in_tex(line.entry)
    result = in_tex(line.result)
    if line.hidden:
        result = rf"{{{result}}}^{{\dagger}}"
    parts = [*(("=", TexMath().pieces(form), in_tex(form)) for form in line.forms)]
    parts.append(("=" if line.is_exact else r"\approx", [result], result))
    if line.remark:
        remark = rf"\quad\text{{({in_latex(line.remark)})}}"
        parts.append(("", [remark], remark))
    rows = _rows_of(parts, room - width(entry) - width("="))
    return " \\\\\n".join([f"{entry} &{rows[0]}", *(f"&{row}" for row in rows[1:])])


def _rows_of(parts: Sequence[tuple[str, list[str], str]], room: float) -> list[str]:
    """Arrange parts (sign, pieces, unbroken form) side by side, stacked or broken."""
    rows = [""]
    for sign, pieces, whole in parts:
        if rows[-1] and width(rows[-1]) + width(whole) + width(sign) > room:
            rows.append("")
        if width(whole) + width(sign) <= room:
            rows[-1] = f"{rows[-1]} {sign} {whole}".strip()
            continue
        rows[-1] = f"{sign} {pieces[0]}"
        for piece in pieces[1:]:
            if width(rows[-1]) + width(piece) > room:
                rows.append(r"\qquad")
            rows[-1] += f" {piece}"
    return rows


class MatrixBlock(NamedTuple):
    """A matrix, or the part of one that fits a line.

    matrix: its rows in brackets, with names of tokens before and above them, in TeX.
    width: the largest width of all of this, in points.
    caption: which part it is, if not all.
    columns: the names of its columns, if they are too wide to be above them.
    """

    name: str
    matrix: str
    width: float
    caption: str
    columns: str = ""


def matrix_blocks(
    grid: Grid, room: float, say: Callable[[str], str] = str, empty: str = BLANKS[0]
) -> Iterator[MatrixBlock]:
    """Yield a matrix in blocks of columns that fit a line, and of rows that fit a page."""
    texts = [
        [_entry(cell, empty) if cell else _DOTS[place is None] for cell in row]
        for place, row in zip(grid.row_places, grid.cells(), strict=True)
    ]
    names = names_in_latex(grid.rows, grid.row_places) if grid.tokens[0] else []
    titles = names_in_latex(grid.columns, grid.column_places) if grid.tokens[1] else []
    heads = titles if max(map(text_width, titles), default=0.0) <= WIDEST_HEAD else []
    name = name_in_tex(grid.name, grid.head)
    beside = set_width(f"{name} =") + BRACKETS + max(map(_name_width, names), default=0.0)
    widths = [max(map(_entry_width, column)) for column in zip(*texts, strict=True)]
    widths = [max(pair) for pair in zip_longest(widths, map(text_width, heads), fillvalue=0.0)]
    most = MOST_EMPTY_ROWS if empty in texts[0] else MOST_ROWS
    for down, across, said in parts_of(grid, widths, room - beside, COLUMN_GAP, most, say):
        columns = ""
        if titles and not heads:
            columns = f"{in_latex(say('columns:'))} {'; '.join(titles[across])}"
        matrix = _bracketed(
            names[down], _headed(heads[across], [row[across] for row in texts[down]])
        )
        wide = beside + sum(widths[across]) + COLUMN_GAP * (len(widths[across]) - 1)
        yield MatrixBlock(name, matrix, wide, ", ".join(map(in_latex, said)), columns)


def fits_beside(equation: str, block: MatrixBlock, room: float) -> bool:
    """Return whether a matrix fits on the line of its equation, without labels above it."""
    is_plain = not (block.caption or block.columns)
    return is_plain and set_width(f"{equation} =") + block.width <= room


def columns_of(blocks: Iterable[MatrixBlock]) -> str | None:
    """Return the names of the columns of whole matrices, once; None if they are in parts."""
    found = {(block.caption, block.columns) for block in blocks}
    caption, columns = found.pop() if len(found) == 1 else ("", "")
    return None if caption or found else columns


def side_by_side(blocks: Iterable[MatrixBlock], room: float, first: str = "") -> Iterator[str]:
    """Yield lines of a display, each with as many matrices as fit it, after a first equation.

    Names of columns are above the first of the matrices that they belong to.
    """
    line, above, known = [first] if first else [], "", ""
    used = set_width(first) + BETWEEN if first else 0.0
    for block in blocks:
        columns, known = block.columns if block.columns != known else "", block.columns
        said = ", ".join(filter(None, (block.caption, columns)))
        if line and (said or block.caption or used + block.width > room):
            yield above + _BESIDE.join(line)
            line, above, used = [], "", 0.0
        if said:
            wide = min(room, LINE_OF_OWN)
            above = f"\\parbox{{{wide:.0f}pt}}{{\\raggedright {capital(said)}.}} \\\\*\n"
        line.append(f"{block.name} = {block.matrix}")
        used += room if block.caption else block.width + BETWEEN
    if line:
        yield above + _BESIDE.join(line)


def paragraph(equation: str) -> str:
    """Return an equation as a paragraph, without brackets that TeX never breaks."""
    loose = _FIXED.sub("", equation)
    return rf"\noindent\({loose}\)\par\nopagebreak"


def displayed(lines: Sequence[str], room: float, first: str = "") -> Iterator[str]:
    """Yield one display of lines; an equation before them stays on the page of the first.

    An equation that is wider than a line is a paragraph, which TeX breaks between its signs.
    """
    if set_width(first) > room:
        yield paragraph(first)
        first = ""
    if lines or first:
        body = " \\\\\n".join(lines)
        together = " \\\\*\n".join(filter(None, (first, body)))
        yield f"\\begin{{gather*}}\n{together}\n\\end{{gather*}}\\par"


def names_in_latex(names: Sequence[str], shown: Sequence[int | None] | None = None) -> list[str]:
    """Return names of tokens in LaTeX, long ones cut, and still distinct."""
    places = range(len(names)) if shown is None else shown
    return shown_names(names, places, LONGEST_NAME, in_latex, ("…", r"\dots{}"))


def tabulars(grid: Grid, room: float) -> Iterator[str]:
    """Yield numbers under headings as tables, each as wide as a line and as long as a page."""
    names = names_in_latex(grid.rows, grid.row_places)
    heads = names_in_latex(grid.columns, grid.column_places)

    def text(cell: Cell | None) -> str:
        if cell is None:
            return r"\dots{}"
        return in_latex(cell.content) if isinstance(cell.content, str) else rf"\({_entry(cell)}\)"

    texts = [[*map(text, row)] for row in grid.cells()]
    columns = zip(heads, *texts, strict=True)
    widths = [max(map(text_width, column)) for column in columns]
    room -= max(map(_name_width, names), default=0.0)
    for top, bottom in blocks_of([1] * len(names), MOST_ROWS, 0):
        for left, right in blocks_of(widths, room, COLUMN_GAP):
            rows = [["", *heads[left:right]]]
            rows += [[names[i], *texts[i][left:right]] for i in range(top, bottom)]
            first, *lines = (" & ".join(row) + r" \\" for row in rows)
            begin = rf"\par\noindent\begin{{tabular}}{{l*{{{right - left}}}{{r}}}}"
            end = r"\end{tabular}\par\medskip"
            yield "\n".join([begin, rf"{first} \hline", *lines, end])


def _headed(heads: Sequence[str], rows: list[list[str]]) -> tuple[str, list[list[str]]]:
    """Return names over columns, in TeX, and the rows, widened to make room for them."""
    if not heads:
        return "", rows
    widest = [max(column, key=_entry_width) for column in zip(*rows, strict=True)]
    wide = [list(row) for row in rows]
    for place, (head, entry) in enumerate(zip(heads, widest, strict=True)):
        missing = text_width(head) - _entry_width(entry)
        if missing > 0:
            pad = rf"\hspace{{{missing / 2:.0f}pt}}"
            widest[place] = f"{pad}{entry}{pad}"
            row = next(row for row in wide if row[place] == entry)
            row[place] = widest[place]
    names = " & ".join(rf"\makebox[0pt]{{{head}}}" for head in heads)
    phantoms = " & ".join(rf"\hphantom{{{entry}}}" for entry in widest)
    return f"\\begin{{matrix}}\n{names} \\\\[-1em]\n{phantoms}\n\\end{{matrix}}", wide


def _bracketed(names: Sequence[str], headed: tuple[str, list[list[str]]]) -> str:
    """Return one matrix, and before it the names of its rows."""
    over, rows = headed
    lines = [" & ".join(row) for row in rows]
    matrix = "\\begin{bmatrix}\n" + " \\\\\n".join(lines) + "\n\\end{bmatrix}"
    if over:
        matrix = f"\\overset{{{over}}}{{{matrix}}}"
    if not names:
        return matrix
    strut = found[0] if (found := EMPTY_STRUT.search(rows[0][0])) else _STRUT
    beside = " \\\\\n".join(rf"\text{{{name}}}{strut}" for name in names)
    return f"\\begin{{matrix}}\n{beside}\n\\end{{matrix}}\n{matrix}"


def _entry(cell: Cell, empty: str = BLANKS[0]) -> str:
    content = cell.content
    if content is None:
        return empty
    if isinstance(content, str):  # the answer, and the sign of its mark
        sign, look = (cell.mark.sign, cell.mark.look) if cell.mark else ("", "")
        return LOOKS.get(look, r"\text{%s}") % in_latex(f"{content} {sign}".strip())
    text = in_tex(content)
    if cell.hidden:
        text = rf"{{{text}}}^{{\dagger}}"
    return LOOKS.get(cell.rank, "%s") % text


def _entry_width(text: str) -> float:
    return _EMPTY_WIDTHS.get(text) or set_width(text)


def _name_width(name: str) -> float:
    return text_width(name) + COLUMN_GAP
