"""Output of programs: prompts, matrices of R, SymPy and Maple, YAML, and references of sheets.

Columns that are printed below other columns, and nested lists of YAML, are combined to one matrix
on the line where it begins; lines stay lines.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from attncalc.reading.plain.rewriting import rewritten

_COUNTED_COLUMNS = re.compile(r"(?m)^[ \t]*(?:\[,\d{1,4}\][ \t]*)+$")
_COUNTED_ROW = re.compile(r"(?m)^([ \t]*)\[\d{1,4},\](?=[ \t]+[-.\d])")
_MATRIX = re.compile(
    r"\bmatrix\( ?c\(([-+.,\d\s/]{1,4000})\)"
    r"((?: ?, ?(?:(?:nrow|ncol|byrow) ?= ?)?[\w.]{1,9}){1,3})"
    r"(?: ?, ?dimnames ?= ?list\((?:c\([^()\n]{0,80}\)|[^()\n]){1,160}+\))? ?\)"
)
_VECTOR = re.compile(r"\bc\(([^()=]{1,400})\)")
_BOUND = re.compile(r"\b([rc])bind\(((?:\s*+(?:\w{1,20} ?= ?)?c\([^()=]{1,400}\)\s*+,?){2,100}+)\)")
"""R's rbind(c(1, 2), c(3, 4)), with or without names."""
MOST = 2000
"""The largest number of entries of a sparse matrix."""
_PRINTED = re.compile(r"\bprint\((\w{1,20})\)")
_PRINTS = re.compile(r"[>\s]{0,8}print\(\w{1,20}\)(?: ?; ?print\(\w{1,20}\)){1,9}\s{0,8}")
_PROMPT = re.compile(r"[ \t]*(?:>>>|In ?\[)")
MOST_PRINTED = 60
"""How many lines below the call of several prints are looked at."""
_SPARSE = re.compile(
    r"\bMatrix\( ?(\d{1,3}) ?, ?(\d{1,3}) ?, ?\{([^{}\n]{1,20000})\}"
    r"(?:, ?\w{1,20} ?= ?[\w\[\]]{1,40}){0,6}\)"
)
"""A matrix of Maple's lprint: Matrix(2,2,{(1, 1) = 3, (1, 2) = 4}); missing entries are 0."""
_PLACED = re.compile(r"\((\d{1,3}), ?(\d{1,3})\) ?= ?([-+.\deE/]{1,40})")
_KNITTED = re.compile(r"(?m)^##[ \t][^\n]*(?:\n##[ \t][^\n]*)*+")
LEAST = 2
"""The smallest number of lines of a matrix of R Markdown: column numbers, and a row."""
_COUNT = re.compile(r"\d+")
_FACTOR = re.compile(r"[ \t]*1\.0{1,6}e([-+]\d{2,3}) ?\*[ \t]*")
_BELOW_FACTOR = re.compile(r"[ \t]+[-.\d][-.\d \tInfaN]*|[ \t]*Columns? .{1,40}|[ \t]*")
_DECIMAL = re.compile(r"(?<![\d.])\d{1,12}\.\d{1,9}(?![\d.])")
_OPTION = re.compile(r"(?:(nrow|ncol|byrow) ?= ?)?([\w.]+)")
_HEADING = re.compile(
    r"[ \t]*Columns? (\d{1,4})(?: ?(?:through|thru|to|and|-) ?(\d{1,4}))? ?:?[ \t]*", re.I
)
_PRINTED_NUMBER = re.compile(r"[-+]?[.\d][-+.\deE/]*+|[-+]?(?:Inf|NaN|nan|inf)")
_WRAPPED = re.compile(r"\s{2}\\\s*$")
"""The sign that pandas prints after the names of columns if others continue below."""
_LISTS = re.compile(
    r"^[ \t]{0,40}+(?:- {1,4}+){2,}+\S++[ \t]*+(?:\n[ \t]{0,40}+(?:- {1,4}+)++\S++[ \t]*+)++$", re.M
)
_ITEM = re.compile(
    r"[ \t]*+((?:- +)+)([-+]?[.\d][-+.\deE/%]{0,30}|[-+]?\.?inf)[ \t]*", re.IGNORECASE
)
_CELL = re.compile(r"[ \t]{0,8}\$?([A-Z]{1,2})\$?(\d{1,4})[ \t]{0,4}[:=|\t][ \t]{0,4}(?=\S)")
_BESIDE = re.compile(r"(?<![ \t])[ \t]++[A-Z]{1,2}\d{1,4}: ?(?=[-+.\d])")
"""A reference before a further cell of a line."""
_FORMULA = re.compile(
    r"(?m)^[ \t]{0,8}[A-Z]{1,2}\d{1,4}:[A-Z]{1,2}\d{1,4}[ \t]{0,20}=(?=[A-Z\d])"
    r"[^\n=→]{1,120}?(?:->|→|= ?)"
)
"""A range of cells and its formula before the values: B2:D4 =MMULT(X;WQ) -> 1 2."""
LEAST_CELLS = 3
"""The smallest number of lines with references that make a sheet."""


def without_session(text: str) -> str:
    """Return a text without the prompts of a session and R's counts of rows and columns.

    >>> without_session("In [3]: Q = matrix(c(1, 2, 3, 4), nrow=2, byrow=TRUE)")
    'Q = [1 2; 3 4]'
    """
    if "\n## " in text:
        text = _KNITTED.sub(_without_marks, text)
    if "print(" in text:
        text = _with_names_of_prints(text)
    text = rewritten(text, "programs")
    if "bind(" in text:
        text = _BOUND.sub(_as_bound, text)
    if "[," in text:
        text = _COUNTED_ROW.sub(r"\1", _COUNTED_COLUMNS.sub(_as_heading, text))
    if "e+" in text or "e-" in text:
        text = _with_factors(text)
    if "Matrix(" in text:
        text = _SPARSE.sub(_of_places, text)
    return _MATRIX.sub(_as_rows, text) if "matrix(" in text else text


def _without_marks(match: "re.Match[str]") -> str:
    """Return the output of an R Markdown chunk without its marks; headings stay."""
    lines = match[0].split("\n")
    if len(lines) < LEAST or not any(map(_COUNTED_ROW.match, (line[2:] for line in lines))):
        return match[0]
    return "\n".join(line[2:] for line in lines)


def _as_heading(match: "re.Match[str]") -> str:
    """Return R's column numbers as a heading of MATLAB, which later columns continue."""
    counts = _COUNT.findall(match[0])
    return f"Columns {counts[0]} to {counts[-1]}"


def _with_names_of_prints(text: str) -> str:
    """Return a text with the names of print(Q); print(K) before the arrays that these print."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        names = _PRINTED.findall(line) if _PRINTS.fullmatch(line) else []
        for k in range(i + 1, min(len(lines), i + MOST_PRINTED) if names else 0):
            if _PROMPT.match(lines[k]) or not names:
                break
            if lines[k].startswith("["):  # inner rows begin with a blank
                lines[k] = f"{names.pop(0)} = {lines[k]}"
    return "\n".join(lines)


def _with_factors(text: str) -> str:
    """Return a text with the factor that MATLAB prints above a matrix multiplied in."""
    lines = text.split("\n")
    power = 0

    def times(number: "re.Match[str]") -> str:
        return f"{Decimal(number[0]).scaleb(power):f}"

    for i, line in enumerate(lines):
        if factor := _FACTOR.fullmatch(line):
            power, lines[i] = int(factor[1]), ""
        elif power and _BELOW_FACTOR.fullmatch(line):
            lines[i] = _DECIMAL.sub(times, line)
        else:
            power = 0
    return "\n".join(lines)


def _of_places(match: "re.Match[str]") -> str:
    """Return Maple's Matrix(1, 2, {(1, 1) = 3}) as [3 0]."""
    height, width = int(match[1]), int(match[2])
    said = {(int(i), int(j)): value for i, j, value in _PLACED.findall(match[3])}
    if len(said) != match[3].count("=") or len(said) > height * width or height * width > MOST:
        return match[0]
    rows = [
        " ".join(said.get((i, j), "0") for j in range(1, width + 1)) for i in range(1, height + 1)
    ]
    return f"[{'; '.join(rows)}]"


def _as_bound(match: "re.Match[str]") -> str:
    """Return the vectors of R's rbind as rows, and those of cbind as columns."""
    vectors = [[cell.strip() for cell in each.split(",")] for each in _VECTOR.findall(match[2])]
    if len({len(each) for each in vectors}) != 1:
        return match[0]
    rows = vectors if match[1] == "r" else zip(*vectors, strict=True)
    return "[" + "; ".join(map(" ".join, rows)) + "]" + "\n" * match[0].count("\n")


def _as_rows(match: "re.Match[str]") -> str:
    """Return a matrix of R as rows: it fills columns first, unless byrow is set."""
    cells = [cell.strip() for cell in match[1].split(",")]
    options = dict(zip(("nrow", "ncol", "byrow"), ("", "", "FALSE"), strict=True))
    for place, (key, value) in enumerate(_OPTION.findall(match[2])):
        options[key or ("nrow", "ncol", "byrow")[place]] = value
    size, other = options["nrow"], options["ncol"]
    height = int(size) if size.isdigit() else len(cells) // int(other) if other.isdigit() else 0
    if not height or len(cells) % height:
        return match[0]
    width = len(cells) // height
    by_row = options["byrow"].upper().startswith("T")
    rows = [
        [cells[i * width + j] if by_row else cells[j * height + i] for j in range(width)]
        for i in range(height)
    ]
    return "[" + "; ".join(" ".join(row) for row in rows) + "]" + "\n" * match[0].count("\n")


def with_printed(text: str) -> str:
    r"""Return a text with each matrix that a program printed in pieces combined.

    Examples
    --------
    >>> with_printed("Columns 1 and 2\n 1 2\n 3 4\nColumn 3\n 5\n 6").split("\n")
    ['', '1  2  5', '3  4  6', '', '', '']
    >>> with_printed("A:\n- - 1\n  - 2\n- - 3\n  - 4").split("\n")[:2]
    ['A:', '[[1, 2], [3, 4]]']
    """
    if "olumn" in text or "\\\n" in text or "\\ \n" in text:
        text = "\n".join(_with_columns(text.split("\n")))
    return _LISTS.sub(_as_literal, text) if "- - " in text else text


class _Piece(NamedTuple):
    """Some columns of a matrix below their names or numbers, and the labels of its rows."""

    names: list[str]
    labels: list[str]
    rows: list[list[str]]
    first: int
    end: int
    goes_on: bool


def _with_columns(lines: list[str]) -> list[str]:
    """Combine columns below one another side by side: Columns 1 through 3, Column 4."""
    found, i = [*lines], 0
    while i < len(lines):
        pieces = _pieces(lines, i)
        start, i = i, pieces[-1].end if pieces else i + 1
        if not pieces or pieces[-1].goes_on:
            continue
        found[start:i] = [""] * (i - start)
        labels = pieces[0].labels
        names = [name for piece in pieces for name in piece.names]
        found[start] = " " * max(map(len, labels)) + "  ".join(["", *names]) if names else ""
        for k, label in enumerate(labels):
            cells = [cell for piece in pieces for cell in piece.rows[k]]
            found[pieces[0].first + k] = "  ".join([label, *cells] if label else cells)
    return found


def _pieces(lines: Sequence[str], start: int) -> list[_Piece]:
    """Return the pieces of the matrix that begins in a line; [] for none."""
    found: list[_Piece] = []
    while start < len(lines) and (piece := _piece(lines, start, found)):
        found.append(piece)
        start = _past_blank(lines, piece.end)
    return found


def _piece(lines: Sequence[str], start: int, before: Sequence[_Piece]) -> _Piece | None:
    """Return the columns named or counted in a line, with the rows below it."""
    goes_on = _WRAPPED.search(lines[start]) is not None
    if counted := _HEADING.fullmatch(lines[start]):
        is_next = int(counted[1]) == 1 + sum(len(piece.rows[0]) for piece in before)
        names, width = [], int(counted[2] or counted[1]) - int(counted[1]) + 1
    else:
        is_next = lines[start][:1].isspace() and (before[-1].goes_on if before else goes_on)
        names = _WRAPPED.sub("", lines[start]).split()
        width = len(names)
    if not is_next:
        return None
    first = i = _past_blank(lines, start + 1)
    labels, rows = list[str](), list[list[str]]()
    while i < len(lines) and (cells := lines[i].strip().rsplit(None, width)):
        label = cells.pop(0) if len(cells) > width else ""
        if len(cells) != width or not all(map(_PRINTED_NUMBER.fullmatch, cells)):
            break
        labels.append(label)
        rows.append(cells)
        i += 1
    is_like = not before or labels == before[0].labels
    return _Piece(names, labels, rows, first, i, goes_on) if rows and is_like else None


def _past_blank(lines: Sequence[str], i: int) -> int:
    while i < len(lines) and not lines[i].strip():
        i += 1
    return i


def _as_literal(lists: "re.Match[str]") -> str:
    """Return YAML's nested lists, an item per line, as one literal: - - 1, and below it - 2.

    Each dash begins a list, except the last; these lists end before it.
    """
    items = [_ITEM.fullmatch(line) for line in lists[0].split("\n")]
    depths = [item[1].count("-") for item in items if item]
    if len({item and item.start(2) for item in items}) > 1 or max(depths, default=0) > depths[0]:
        return lists[0]
    cells = [item[2] for item in items if item]
    inner = "".join(
        f"{']' * (depth - 1)}, {'[' * (depth - 1)}{cell}"
        for depth, cell in zip(depths[1:], cells[1:], strict=True)
    )
    ends = "]" * depths[0]
    return "[" * depths[0] + cells[0] + inner + ends + "\n" * (len(items) - 1)


def without_references(text: str) -> str:
    r"""Return a text without cell references, if it is clearly a sheet.

    It is a sheet if such a line contains words, like a heading: rows of a matrix contain numbers.
    A sheet contains each cell once; T1, the name of a row, may repeat.

    Examples
    --------
    >>> without_references("A1: Scores\nA2: 1 | 3\nA3: -1 | 1").splitlines()
    ['Scores', '1 | 3', '-1 | 1']
    >>> without_references("A1: 0 1\nA2: 1 0\nA3: 0 1").splitlines()
    ['A1: 0 1', 'A2: 1 0', 'A3: 0 1']
    >>> without_references("T1: Scores\nT1: 1 0\nT2: 0 1").splitlines()
    ['T1: Scores', 'T1: 1 0', 'T2: 0 1']
    """
    text = _FORMULA.sub("", text)
    lines = text.split("\n")
    found = [_CELL.match(line) for line in lines]
    cells = [match for match in found if match]
    is_sheet = len(cells) >= LEAST_CELLS and any(map(_is_heading, cells))
    are_once = len({match.groups() for match in cells}) == len(cells)  # T1, a row, may repeat
    if not is_sheet or not are_once or 2 * len(cells) < sum(map(bool, map(str.strip, lines))):
        return text
    return "\n".join(
        _BESIDE.sub("  ", line[match.end() :]) if match else line
        for line, match in zip(lines, found, strict=True)
    )


def _is_heading(cell: "re.Match[str]") -> bool:
    """Return whether a cell contains words, and no number."""
    rest = cell.string[cell.end() :].strip().strip("\"'")
    return rest[:1].isalpha() and "|" not in rest
