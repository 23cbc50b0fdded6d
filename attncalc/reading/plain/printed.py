"""Matrices that programs print in pieces: columns below columns, heads one by one, YAML's lists.

Each is combined on the line where it begins, and lines stay lines.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

_COLUMNS = re.compile(
    r"[ \t]*Columns? (\d{1,4})(?: ?(?:through|thru|to|and|-) ?(\d{1,4}))? ?:?[ \t]*", re.I
)
_ROW = re.compile(
    r"[ \t]*+(?:[-+]?[.\d][-+.\deE/]*+|[-+]?(?:Inf|NaN|nan|inf))"
    r"(?:[ \t]++[-+.\deEInfaN/]++)*+[ \t]*+"
)
_ITEM = re.compile(
    r"([ \t]{0,40}+)((?:-[ ]{1,4}+)+)([-+]?[.\d][-+.\deE/%]{0,30}|[-+]?\.?inf)[ \t]*", re.I
)
_WRAPPED = re.compile(r"\s{2}\\\s*$")
"""The sign that pandas prints after the names of columns if others continue below."""
_DEEP = re.compile(r"(?m)^[ \t]{0,40}-[ ]{1,4}-[ ]{1,4}\S")
_RULE = re.compile(r"[ \t]{0,40}-[-+]{2,2000}-[ \t]*")
DEEPEST = 4
"""The depth of nested lists."""


def with_printed(text: str) -> str:
    r"""Return a text with each matrix that a program printed in pieces combined.

    Examples
    --------
    >>> with_printed("Columns 1 and 2\n 1 2\n 3 4\nColumn 3\n 5\n 6").split("\n")
    ['', '1 2  5', '3 4  6', '', '', '']
    >>> with_printed("A:\n- - 1\n  - 2\n- - 3\n  - 4").split("\n")[:2]
    ['A:', '[[1, 2], [3, 4]]']
    """
    lines = text.split("\n")
    if "olumn" in text:
        lines = _with_columns(lines)
    if "\\\n" in text or "\\ \n" in text:
        lines = _with_frames(lines)
    if "-+-" in text:
        lines = _with_bars(lines)
    if _DEEP.search(text):
        lines = _with_lists(lines)
    return "\n".join(lines)


def _rows_below(lines: Sequence[str], start: int) -> tuple[list[int], int]:
    """Return the lines of numbers below a heading, skipping blank ones, and their end."""
    found, i = [], _past_blank(lines, start)
    while i < len(lines) and _ROW.fullmatch(lines[i]):
        found.append(i)
        i += 1
    return found, i


def _past_blank(lines: Sequence[str], i: int) -> int:
    while i < len(lines) and not lines[i].strip():
        i += 1
    return i


def _with_columns(lines: list[str]) -> list[str]:
    """Combine columns below one another side by side: Columns 1 through 3, Column 4."""
    found, i = [*lines], 0
    while i < len(lines):
        match = _COLUMNS.fullmatch(lines[i])
        i += 1
        if match is None or match[1] != "1":
            continue
        headings, pieces, width = [i - 1], [], int(match[2] or match[1])
        own, i = _rows_below(lines, i)
        pieces.append(own)
        while own and (at := _past_blank(lines, i)) < len(lines):
            match = _COLUMNS.fullmatch(lines[at])
            if match is None or int(match[1]) != width + 1:
                break
            own, i = _rows_below(lines, at + 1)
            headings.append(at)
            pieces.append(own)
            width = int(match[2] or match[1])
        rows = [" ".join(lines[k].strip() + " " for k in row).rstrip()
                for row in zip(*pieces, strict=False)]  # fmt: skip
        is_whole = len({len(piece) for piece in pieces}) == 1
        if is_whole and all(len(row.split()) == width for row in rows):
            for k in [*headings, *(k for piece in pieces for k in piece)]:
                found[k] = ""
            for k, row in zip(pieces[0], rows, strict=True):
                found[k] = row
    return found


def _with_frames(lines: list[str]) -> list[str]:
    """Combine the columns of a frame that pandas prints below one another."""
    found, i = [*lines], 0
    while i < len(lines):
        i += 1
        if not _WRAPPED.search(lines[i - 1]):
            continue
        pieces, at = [], i - 1
        while at < len(lines) and (piece := _piece_of_frame(lines, at)):
            pieces.append(piece)
            i = max(i, at + 1 + len(piece.rows))
            at = _past_blank(lines, i)
            if not piece.goes_on:
                break
        labels = {tuple(piece.labels) for piece in pieces}
        if len(pieces) < 2 or pieces[-1].goes_on or len(labels) > 1:
            continue
        start = pieces[0].line
        found[start:i] = [""] * (i - start)
        found[start] = " ".join("  ".join(piece.names) for piece in pieces)
        found[start] = " " * (1 + max(map(len, pieces[0].labels))) + found[start]
        for k, label in enumerate(pieces[0].labels, start=1):
            cells = [cell for piece in pieces for cell in piece.rows[k - 1]]
            found[start + k] = f"{label}  {'  '.join(cells)}"
    return found


class _Piece(NamedTuple):
    """Some columns of a frame: their names, and the names of the rows."""

    line: int
    names: list[str]
    labels: list[str]
    rows: list[list[str]]
    goes_on: bool


def _piece_of_frame(lines: Sequence[str], start: int) -> _Piece | None:
    """Return the columns of a frame named in a line, and the rows below it."""
    names = _WRAPPED.sub("", lines[start]).split()
    if not names or not lines[start][:1].isspace():
        return None
    labels, rows, i = [], [], start + 1
    while i < len(lines) and lines[i].strip():
        label, *cells = lines[i].strip().rsplit(None, len(names))
        if len(cells) < len(names) or not all(map(_ROW.fullmatch, cells)):
            break
        labels.append(label)
        rows.append(cells)
        i += 1
    goes_on = _WRAPPED.search(lines[start]) is not None
    return _Piece(start, names, labels, rows, goes_on) if rows else None


def _with_bars(lines: list[str]) -> list[str]:
    """Return tables without outer bars, as psql prints them, with these."""
    found = [*lines]
    for i, line in enumerate(lines):
        if not _RULE.fullmatch(line) or not i or "|" not in lines[i - 1]:
            continue
        found[i - 1], found[i] = f"|{lines[i - 1]}|", f"|{line.strip().replace('+', '|')}|"
        for k in range(i + 1, len(lines)):
            if "|" not in lines[k]:
                break
            found[k] = f"|{lines[k]}|"
    return found


def _with_lists(lines: list[str]) -> list[str]:
    """Combine YAML's nested lists, an item per line: - - 1, and below it - 2."""
    found, i = [*lines], 0
    while i < len(lines):
        start, tree = i, list[object]()
        open_lists: list[tuple[int, list[object]]] = []
        while i < len(lines) and (item := _ITEM.fullmatch(lines[i])):
            if not _put(item, open_lists, tree):
                break
            i += 1
        if tree and any(isinstance(each, list) for each in tree):
            found[start:i] = [""] * (i - start)
            found[start] = _literal(tree)
        i = max(i, start + 1)
    return found


def _put(
    item: "re.Match[str]", open_lists: list[tuple[int, list[object]]], tree: list[object]
) -> bool:
    """Insert an item at the depth of its dashes; return False if no open list fits."""
    starts = [item.start(2) + k for k, sign in enumerate(item[2]) if sign == "-"]
    if not open_lists:
        open_lists.append((starts[0], tree))
    while open_lists and open_lists[-1][0] > starts[0]:
        open_lists.pop()
    if not open_lists or open_lists[-1][0] != starts[0] or len(starts) > DEEPEST:
        return False
    for column in starts[1:]:
        inner: list[object] = []
        open_lists[-1][1].append(inner)
        open_lists.append((column, inner))
    open_lists[-1][1].append(item[3])
    return True


def _literal(tree: Sequence[object]) -> str:
    inner = (_literal(each) if isinstance(each, list) else str(each) for each in tree)
    return f"[{', '.join(inner)}]"
