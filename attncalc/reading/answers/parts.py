"""Combines matrices from their parts: entire matrices, heads, rows, columns and entries."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import (
    Entry,
    WrittenConnection,
    WrittenMatrix,
    is_sparse,
    matrix_of_entries,
    not_filled,
)
from attncalc.reading.answers.expected import near
from attncalc.reading.plain.numerals import is_number_cell, read_entry
from attncalc.reading.plain.rows import Rows

Cells = list[list[Entry]]


class Part(NamedTuple):
    """One part of a matrix as found.

    `head`, `row` and `column` count from 1; 0 means all, and -1 an index of 0 in a count from 0.
    """

    name: str
    head: int
    row: int
    column: int
    rows: Rows
    line: int
    row_from: int = 0
    column_from: int = 0
    turned: bool = False
    shown: str = ""
    is_again: bool = False

    @property
    def corrects(self) -> bool:
        """Whether it is a row or an entry marked as a correction of an earlier one."""
        return self.is_again and not self.is_whole

    @property
    def is_whole(self) -> bool:
        """Whether it is not a single row, column or entry."""
        return self.row == self.column == 0

    @property
    def size(self) -> tuple[int, int]:
        """The number of its rows and columns."""
        height, width = len(self.rows), max((len(row) for row in self.rows), default=0)
        return (width, height) if self.turned else (height, width)

    @property
    def values(self) -> Matrix:
        """Its numbers, as they are written."""
        return values_of([self.rows])

    @property
    def what(self) -> str:
        """Its name, with its head and its place."""
        head = f" head {max(self.head, 0)}" if self.head else ""
        place = [str(max(each, 0)) if each else ":" for each in (self.row, self.column)]
        index = "" if self.is_whole else f"[{','.join(place)}]"
        return f"{self.name}{index}{head}"


class TooSparse(ValueError):  # noqa: N818 - it is what happened
    """Entries so far apart that their matrix would be almost entirely blank."""


def entries_of(rows: Rows) -> Cells:
    """Return rows of cells as entries."""
    return [[read_entry(cell) for cell in row] for row in rows]


def values_of(heads: Iterable[Rows]) -> Matrix:
    """Return the numbers in the rows of one head, or of several."""
    return matrix_of_entries([entries_of(rows) for rows in heads], "").values


def transposed(rows: Rows) -> Rows:
    """Return rows as columns; blanks fill up rows of unequal length."""
    width = max((len(row) for row in rows), default=0)
    if is_sparse(width * len(rows), sum(map(len, rows))):
        return rows  # still uneven, which is reported
    return [[row[j] if j < len(row) else "" for row in rows] for j in range(width)]


def matrix_of(parts: Sequence[Part], shape: tuple[int, ...], by_columns: bool) -> WrittenMatrix:
    """Return the matrix of all parts with one name.

    parts: entire matrices, rows, columns and entries; the last one for a place counts.
    shape: the expected shape; () if it is not known.
    by_columns: whether tokens are columns, so that a part with only a row number is a column.
    """
    place = f"line {parts[0].line}" if parts[0].line else ""
    own_heads = from_one([part.head for part in parts])
    numbers = list(dict.fromkeys(own_heads))
    if len(numbers) > 1 and 0 in numbers:  # A, and A of head 2: the heads count, if not quoted
        wholes = {bool(part.head) for part in parts if part.is_whole}
        numbers = [0] if wholes == {False} else [each for each in numbers if each]
    by_head: dict[int, list[Part]] = {number: [] for number in numbers}
    for head, part in zip(own_heads, parts, strict=True):
        by_head.get(head, []).append(part)
    try:
        heads = {number: _of_head(own, shape, by_columns) for number, own in by_head.items()}
    except TooSparse as why:
        return not_filled(str(why), place)
    if 0 in heads:
        return matrix_of_entries([heads[0]], place)
    some = next(iter(heads.values()))
    size = sum(map(len, some))
    if is_sparse(max(heads) * size, len(heads) * size):
        return not_filled(
            f"head {max(heads)} is written, and of those before it {len(heads) - 1}", place
        )
    blank = [[Entry("") for _ in row] for row in some]
    listed = [heads.get(number, blank) for number in range(1, max(heads) + 1)]
    matrix = matrix_of_entries(listed, place)
    if matrix.values.ndim == 2:  # only head 1: it may still be one of several
        return matrix.arranged(lambda each: each[np.newaxis])
    return matrix


def _of_head(parts: Sequence[Part], shape: tuple[int, ...], by_columns: bool) -> Cells:
    wholes = [part for part in parts if part.is_whole]
    rows = _from_wholes(wholes)
    if any(entry.text for row in rows for entry in row):
        return _corrected(rows, [part for part in parts if part.corrects], by_columns)
    pieces = [part for part in parts if not part.is_whole]
    return _from_pieces(pieces, shape[-2:]) if pieces else rows


def _corrected(rows: Cells, parts: Sequence[Part], by_columns: bool) -> Cells:
    """Return the entries of a matrix, with corrected rows and entries."""
    for part in parts:
        for i, j, entry in _places(part):
            if i < len(rows) and j < len(rows[i]):
                rows[i][j] = entry
    return rows


def contradicting(parts: Sequence[Part], by_columns: bool) -> list[Part]:
    """Return the rows and entries that contradict their entire matrix.

    The entire matrix counts, and they would be lost without a message.
    """
    found = []
    for head in dict.fromkeys(part.head for part in parts):
        own = [part for part in parts if part.head == head]
        rows = _from_wholes([part for part in own if part.is_whole])
        if any(entry.text for row in rows for entry in row):
            rows = _corrected(rows, [part for part in own if part.corrects], by_columns)
            pieces = [part for part in own if not part.is_whole]
            found += [part for part in pieces if not _agrees(part, rows)]
    return found


def _agrees(part: Part, rows: Cells) -> bool:
    """Return whether a matrix contains a row, a column or an entry, rounded or not.

    A calculation never contradicts: its numbers are rounded themselves.
    """
    for i, j, entry in _places(part):
        if not is_number_cell(entry.text):
            continue
        other = rows[i][j].value if i < len(rows) and j < len(rows[i]) else None
        if other is None or not near(np.array(float(entry.value or 0)), np.array(float(other))):
            return False
    return True


def _from_wholes(parts: Sequence[Part]) -> Cells:
    """Return the entries of a matrix whose parts are beside and below one another."""
    rows: Cells = []
    for part in parts:
        cells = transposed(part.rows) if part.turned else part.rows
        start = min(part.row_from, len(rows))
        for i, row in enumerate(cells, start=start):
            if i == len(rows):
                rows.append([])
            rows[i] += [read_entry(cell) for cell in row]
    return rows


def from_one(numbers: Sequence[int]) -> list[int]:
    """Return numbers counted from 1: all increase by one if one of them is -1, an index of 0.

    >>> from_one([-1, 1, 0]), from_one([1, 2])
    ([1, 2, 0], [1, 2])
    """
    shift = int(-1 in numbers)
    return [each + shift if each > 0 else abs(each) for each in numbers]


def lines_from_one(connections: Iterable[WrittenConnection]) -> tuple[WrittenConnection, ...]:
    """Return the lines of a map with their heads counted from 1."""
    listed = list(connections)
    heads = from_one([each.head for each in listed])
    return tuple(each._replace(head=head) for each, head in zip(listed, heads, strict=True))


def _places(part: Part) -> list[tuple[int, int, Entry]]:
    """Return the entries of a row, a column or an entry with their places, from 0."""
    cells = [read_entry(cell) for row in part.rows for cell in row]
    return [
        (part.row - 1 if part.row else k, part.column - 1 if part.column else k, entry)
        for k, entry in enumerate(cells)
    ]


def _from_pieces(parts: Sequence[Part], shape: tuple[int, ...]) -> Cells:
    """Return the matrix that rows, columns and entries fill."""
    filled: dict[tuple[int, int], Entry] = {}
    for part in sorted(parts, key=lambda part: bool(part.row and part.column)):
        filled |= {(i, j): entry for i, j, entry in _places(part)}
    if not filled:
        return [[Entry("")]]
    height, width = (1 + max(place[axis] for place in filled) for axis in (0, 1))
    if shape:
        height, width = max(height, shape[0]), max(width, shape[1])
    if height * width > prod(shape[-2:]) and is_sparse(height * width, len(filled)):
        raise TooSparse(
            f"it has entries up to row {height}, column {width}, and only {len(filled)} of all"
        )
    return [[filled.get((i, j), Entry("")) for j in range(width)] for i in range(height)]
