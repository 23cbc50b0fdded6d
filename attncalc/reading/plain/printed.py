"""Matrices that programs print in pieces: columns below columns and YAML's lists.

Each is combined on the line where it begins, and lines stay lines.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

_COLUMNS = re.compile(
    r"[ \t]*Columns? (\d{1,4})(?: ?(?:through|thru|to|and|-) ?(\d{1,4}))? ?:?[ \t]*", re.I
)
_NUMBER = re.compile(r"[-+]?[.\d][-+.\deE/]*+|[-+]?(?:Inf|NaN|nan|inf)")
_WRAPPED = re.compile(r"\s{2}\\\s*$")
"""The sign that pandas prints after the names of columns if others continue below."""
_LISTS = re.compile(
    r"^[ \t]{0,40}+(?:- {1,4}+){2,}+\S++[ \t]*+(?:\n[ \t]{0,40}+(?:- {1,4}+)++\S++[ \t]*+)++$", re.M
)
_ITEM = re.compile(
    r"[ \t]*+((?:- +)+)([-+]?[.\d][-+.\deE/%]{0,30}|[-+]?\.?inf)[ \t]*", re.IGNORECASE
)


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
    if counted := _COLUMNS.fullmatch(lines[start]):
        is_next = int(counted[1]) == 1 + sum(len(piece.rows[0]) for piece in before)
        names, width = [], int(counted[2] or counted[1]) - int(counted[1]) + 1
    else:
        is_next = lines[start][:1].isspace() and (before[-1].goes_on if before else goes_on)
        names = _WRAPPED.sub("", lines[start]).split()
        width = len(names)
    first = i = _past_blank(lines, start + 1)
    labels, rows = list[str](), list[list[str]]()
    while is_next and i < len(lines) and (cells := lines[i].strip().rsplit(None, width)):
        label = cells.pop(0) if len(cells) > width else ""
        if len(cells) != width or not all(map(_NUMBER.fullmatch, cells)):
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
