"""Answers as CSV: named blocks, a folder with a file for each step, or a worksheet."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby, pairwise

from attncalc.problem.serialising import RESULTS
from attncalc.reading.answers.answer import (
    Answer,
    renumbered,
)
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.own_page import MapLines
from attncalc.reading.answers.raw import BLANK, trouble, unread
from attncalc.reading.answers.text import read_text_answer
from attncalc.reading.cells import Faults
from attncalc.reading.csv_text import Row, delimiter_of, rows_of
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.naming.name import head_in
from attncalc.reading.plain.numerals import is_number_cell
from attncalc.reading.plain.rows import Rows

LONGEST_SHEET = 20_000
"""The largest number of lines of a sheet that are searched for matrices side by side."""
_COMMA = re.compile(r"[+\-−]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_COUNTED = re.compile(r"([QKVqkv])_?\d{1,2}")
"""A column of queries, keys or values."""
_OF_MAP = "connections"
_BESIDE = ("settings", "conventions", "problem", "notes", "work", "patterns")
"""Files and blocks beside the steps that contain none."""


def read_sheet(text: str, place: str, expected: Expected | None = None) -> Answer:
    """Return the answer of a sheet in any layout."""
    expected = expected or Expected()
    answer = _read({"": text}, place, expected)
    return or_side_by_side(answer, text, place, expected)


def read_csv_folder(
    texts: Mapping[str, str], place: str, expected: Expected | None = None
) -> Answer:
    """Return the answer of files by their names: Q.csv contains Q, or its heads in blocks."""
    is_step = {stem: bool(name_of_key(stem)) or stem.lower() == _OF_MAP for stem in texts}
    steps = {stem: text for stem, text in texts.items() if is_step[stem]}
    answer = _read(steps, place, expected or Expected())
    others = [stem for stem in texts if not is_step[stem] and stem.lower() not in _BESIDE]
    not_read = (unread(stem, texts[stem]) for stem in others)
    return replace(answer, unread=(*answer.unread, *not_read))


def _read(texts: Mapping[str, str], place: str, expected: Expected) -> Answer:
    """Return the answer of sheets, each below its name, with the line numbers of each."""
    of_map = MapLines(expected.names)
    lines = [
        line
        for name, text in texts.items()
        for line in _lines_of_sheet(text, f"{place}/{name}" if name else place, of_map, name)
    ]
    answer = read_text_answer("\n".join(text for _, text in lines), place, expected)
    answer = renumbered(answer, [number for number, _ in lines])
    named = tuple(map(of_map.named, answer.connections or ()))
    return replace(answer, connections=named or answer.connections)


def _lines_of_sheet(
    text: str, place: str, of_map: MapLines, name: str = ""
) -> Iterator[tuple[int, str]]:
    """Yield the rows of a sheet as numbered lines with tabs between cells.

    Of attncalc's own sheets, only the answer is there, with numbers for the names of tokens. Blank
    cells below a name are marked, unless a program filled up all lines with blank cells.
    """
    rows = _rows_of_sheet(text, place)
    start = next((i for i, row in enumerate(rows, start=1) if row.filled == [RESULTS]), 0)
    is_own, may_be_blank, count, width, last = start > 0 or bool(name), bool(name), 0, 0, 0
    if name:
        yield 0, f"{name.replace('_', ' ')}:"
    for row in rows[start:]:
        yield from ((number, "") for number in range(last + 1, row.line))
        last, cells = row.line, row.cells
        is_of_map = is_own and name == _OF_MAP
        is_alone = len(row.filled) == 1 and cells[0] != "" and not is_number_cell(cells[0])
        if is_alone and not (is_of_map and name_of_key(cells[0]) is None):
            name, may_be_blank, count, width = cells[0].rstrip(":"), len(cells) == 1, 0, 0
        elif is_of_map:
            cells = [" ".join(map(of_map.told, row.filled))]
        elif is_own and name in _BESIDE:
            cells = []
        elif is_own and row.filled and (count or not cells[0]):  # numbers for names
            width = width or max(k for k, cell in enumerate(cells, start=1) if cell)
            own = [cell or BLANK for cell in cells[1:width]]
            cells = [str(count), *own] if count else ["", *map(str, range(1, width))]
            count += 1
        elif may_be_blank and len(cells) > 1:
            cells = [cell or BLANK for cell in cells]
        yield row.line, "\t".join(cells).rstrip("\t").replace("\n", " ")


def _rows_of_sheet(text: str, place: str) -> list[Row]:
    """Return the rows of a sheet, with decimal points."""
    delimiter = delimiter_of(text)
    rows = rows_of(text, delimiter, Faults(place), blank=True)
    if delimiter == ",":
        return [*rows]
    return [Row([*map(_with_point, row.cells)], row.line) for row in rows]


def or_side_by_side(answer: Answer, text: str, place: str, expected: Expected) -> Answer:
    """Return the answer of a sheet as a text, or with its matrices side by side if that is better.

    A sheet in a text has tabs between its cells.
    """
    if not any(trouble(answer, expected)[:2]):
        return answer
    beside = _side_by_side(text, place, expected)
    is_better = beside is not None and trouble(beside, expected) < trouble(answer, expected)
    return beside if beside is not None and is_better else answer


def _side_by_side(text: str, place: str, expected: Expected) -> Answer | None:
    """Return the answer of a sheet with matrices side by side, separated by empty columns."""
    lines: list[tuple[int, str]] = []
    are_beside = False
    sheet = _with_tabs(text, place).split("\n")
    cells = [line.split("\t") for line in sheet]
    width = max(map(len, cells))
    for (is_blank, _), group in groupby(range(len(sheet)), _sections_of(cells)):
        rows = [*group]
        bands = [] if is_blank else _bands([cells[i] for i in rows])
        are_beside = are_beside or bool(bands)
        if len(lines) + len(rows) * len(bands) > LONGEST_SHEET:
            return None
        heads = {head for cell in cells[rows[0]] if (head := head_in(cell))}
        for start, stop in bands or [(0, width)]:
            name = _name_of(cells[rows[0]][start:stop], heads) if bands else ""
            lines += [(rows[0] + 1, name)] if name else []
            lines += _lines_of_band(rows, [cells[i][start:stop] for i in rows])
            lines.append((rows[-1] + 1, ""))
    if len(lines) > LONGEST_SHEET or not are_beside:
        return None
    answer = read_text_answer("\n".join(line for _, line in lines), place, expected)
    return renumbered(answer, [number for number, _ in lines])


def _lines_of_band(places: Sequence[int], rows: Rows) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a band; a name before the first of its rows has its own line."""
    for i, (row, below) in zip(places, pairwise([*rows, []]), strict=True):
        if _has_numbers(row) and _has_numbers(below) and row[0] and not below[0]:
            yield i + 1, row[0]
            yield i + 1, "\t".join(["", *row[1:]]).rstrip("\t")
        else:
            yield i + 1, "\t".join(row).rstrip("\t")


def _has_numbers(row: Sequence[str]) -> bool:
    return any(map(is_number_cell, row[1:]))


def _sections_of(cells: Rows) -> Callable[[int], tuple[bool, int]]:
    """Return whether each line is blank, and its section: one begins at a cell of words alone."""
    filled = [[cell for cell in row if cell.strip()] for row in cells]
    starts = [len(row) == 1 and not is_number_cell(row[0]) for row in filled]
    ends = [False, *starts[:-1]]
    sections = [*accumulate(map(operator.add, starts, ends))]
    return lambda i: (not filled[i], sections[i])


def _name_of(cells: Sequence[str], heads: set[int]) -> str:
    """Return the name of a band whose columns are counted, and its only head; "" for others."""
    letter = _letter_of(cells)
    return f"{letter} (head {min(heads)})" if letter and len(heads) == 1 else letter


def _letter_of(cells: Sequence[str]) -> str:
    """Return the letter of columns that it counts, as Q for q1 and q2; "" for others."""
    counted = [match[1] for cell in cells if (match := _COUNTED.fullmatch(cell))]
    return counted[0].upper() if len(counted) > 1 and len({*counted}) == 1 else ""


def _bands(rows: Rows) -> list[tuple[int, int]]:
    """Return the first and last columns of bands between empty columns; [] for one band.

    A column with a heading alone begins the band behind it.
    """
    full, below = (
        {j for row in own for j, cell in enumerate(row) if cell} for own in (rows, rows[1:])
    )
    heads = {j for j in full - below if j + 1 in below and not is_number_cell(rows[0][j])}
    full -= heads
    numbered = {j for row in rows for j, cell in enumerate(row) if cell and is_number_cell(cell)}
    starts = sorted(j - (j - 1 in heads) for j in full if j - 1 not in full)
    stops = sorted(j + 1 for j in full if j + 1 not in full)
    bands = [*zip(starts, stops, strict=True)]
    are_matrices = all(not numbered.isdisjoint(range(a, b)) for a, b in bands)
    return bands if len(bands) > 1 and are_matrices else []


def _with_tabs(text: str, place: str) -> str:
    """Return a sheet as lines with tabs between cells."""
    lines = [""]
    for row in _rows_of_sheet(text, place):
        lines += [""] * (row.line - len(lines))
        lines.append("\t".join(row.cells).rstrip("\t").replace("\n", " "))
    return "\n".join(lines[1:])


def _with_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point; other text is unchanged."""
    return cell.replace(",", ".") if _COMMA.fullmatch(cell) else cell
