"""Answers as CSV: named blocks, a folder with a file for each step, or a worksheet."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, pairwise, takewhile

import numpy as np

from attncalc.base.errors import InputError
from attncalc.problem.serialising import RESULTS
from attncalc.reading.answers.answer import (
    Answer,
    Unread,
    WrittenConnection,
    is_sparse,
    renumbered,
)
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.lines import attention_in, connection_in, is_about_lines, names_in
from attncalc.reading.answers.map_lines import MapReader, told_in
from attncalc.reading.answers.own_page import MapLines
from attncalc.reading.answers.raw import Raw, assembled, unread
from attncalc.reading.answers.records import steps_of_records
from attncalc.reading.answers.text import read_text_answer
from attncalc.reading.cells import Faults
from attncalc.reading.csv_text import Row, delimiter_of, rows_of
from attncalc.reading.naming.at_hand import name_at_hand
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.naming.name import head_in, name_in
from attncalc.reading.plain.grids import Line
from attncalc.reading.plain.numerals import is_number_cell
from attncalc.reading.plain.rows import Rows, without_names

LONGEST_SHEET = 20_000
"""The largest number of lines of a sheet that are searched for matrices side by side."""
_ENTRY = 3
"""The fewest cells of an entry: its step, row and column; its value may be blank."""
JOINED = "its decimal commas separate cells, too: 1,00,-2,00 is read as 1,00 and -2,00"
_COMMA = re.compile(r"[+\-−]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_DECIMALS = re.compile(r"[+\-−]?[0-9]+,[0-9]{2,}")
_COUNTED = re.compile(r"([QKVqkv])_?\d{1,2}")
"""A column of queries, keys or values."""
_OWN = ("settings", "conventions", "problem")
"""Files beside the steps that contain none."""
_WORDS = ("connections", "notes", "work")


@dataclass
class _Block:
    """The rows below a name; a spreadsheet pads every line with empty cells."""

    name: str
    is_padded: bool = False
    decimal_comma: bool = False
    rows: list[Row] = field(default_factory=list)

    @property
    def is_labelled(self) -> bool:
        """Whether its first row has an empty corner, as between names of rows and columns."""
        return bool(self.rows) and not self.rows[0].cells[0]


def read_sheet(text: str, place: str, expected: Expected | None = None) -> Answer:
    """Return the answer of a sheet: named blocks, or any other layout."""
    try:
        answer, reason = read_csv_answer(text, place, expected), None
    except InputError as error:
        answer, reason = None, error
    expected = expected or Expected()
    if records := _of_records(text, place, expected):
        return records
    if answer and answer.matrices and not any(_trouble(answer, expected)[:2]):
        return answer
    other = read_text_answer(_with_tabs(text, place), place, expected)
    found = [each for each in (answer, or_side_by_side(other, text, place, expected)) if each]
    best = min(found, key=lambda each: _trouble(each, expected))
    if (joined := _with_joined_cells(text)) and any(_trouble(best, expected)[:2]):
        other = read_sheet(joined, place, expected)
        if _trouble(other, expected) < _trouble(best, expected):
            return replace(other, remarks=(*other.remarks, JOINED))
    if reason and not best.matrices:
        raise reason
    return best


def _with_joined_cells(text: str) -> str:
    r"""Return a sheet whose decimal commas also separate its cells, with semicolons; "" for others.

    >>> _with_joined_cells("Q\ncat,1,00,-2,50\nsat,0,25,1,00")
    'Q\ncat;1,00;-2,50\nsat;0,25;1,00'
    """
    joined = list[str]()
    for line in text.split("\n"):
        cells = [each.strip() for each in line.rstrip(", \t\r").split(",")]
        start = next((i for i, cell in enumerate(cells) if is_number_cell(cell)), len(cells))
        start += (len(cells) - start) % 2  # the number of its row
        numbers = [",".join(cells[i : i + 2]) for i in range(start, len(cells), 2)]
        if not all(map(_DECIMALS.fullmatch, numbers)):
            return ""
        joined.append(";".join([*cells[:start], *numbers]))
    return "\n".join(joined) if any("," in line for line in joined) else ""


def _of_records(text: str, place: str, expected: Expected) -> Answer | None:
    """Return the answer of a table of entries, and of the lines of a map below it; None if none."""
    delimiter = delimiter_of(text)
    rows = [*rows_of(text, delimiter, Faults(place))]
    records = [row for row in rows if not _is_short(row)]
    others = [row for row in rows if _is_short(row)]
    cells = [[_with_point(c) if delimiter != "," else c for c in row.cells] for row in records]
    are_matrices = any(is_number_cell(_with_point(row.filled[0])) for row in others)
    found = None
    if cells and not are_matrices:
        found = steps_of_records(cells, [row.line for row in records], expected)
    if not found:
        return None
    told, missed = _map(others, expected)
    missed = [each for each in missed if any(map(str.isdecimal, each.text))]
    return assembled(place, found.steps, [*found.unread, *missed], told or None, expected)


def _is_short(row: Row) -> bool:
    """Return whether a row has too few cells for the step, row, column and value of an entry."""
    return len(row.filled) < _ENTRY


def or_side_by_side(answer: Answer, text: str, place: str, expected: Expected) -> Answer:
    """Return the answer of a sheet as a text, or with its matrices side by side if that is better.

    A sheet in a text has tabs between its cells.
    """
    if not any(_trouble(answer, expected)[:2]):
        return answer
    beside = _side_by_side(text, place, expected)
    is_better = beside is not None and _trouble(beside, expected) < _trouble(answer, expected)
    return beside if beside is not None and is_better else answer


def _side_by_side(text: str, place: str, expected: Expected) -> Answer | None:
    """Return the answer of a sheet with matrices side by side, separated by empty columns."""
    lines: list[tuple[int, str]] = []
    are_beside, heads = False, dict[int, int]()
    sheet = _with_tabs(text, place).split("\n")
    cells = [line.split("\t") for line in sheet]
    width = max(map(len, cells))
    for (is_blank, _), group in groupby(range(len(sheet)), _sections_of(cells)):
        rows = [*group]
        bands = [] if is_blank else _bands([cells[i] for i in rows])
        are_beside = are_beside or bool(bands)
        if len(lines) + len(rows) * len(bands) > LONGEST_SHEET:
            return None
        names = _names_of(bands, [cells[i] for i in rows], heads)
        heads = next(filter(None, (_heads_over(cells[i]) for i in rows)), heads)
        for (start, stop), name in zip(bands or [(0, width)], names or [""], strict=True):
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


def _heads_over(cells: Sequence[str]) -> dict[int, int]:
    """Return the heads that a line names, by their first column: Head 1, blanks, Head 2."""
    said = {j: head_in(cell) for j, cell in enumerate(cells) if cell}
    return said if len(said) > 1 and all(said.values()) else {}


def _names_of(
    bands: Sequence[tuple[int, int]], rows: Sequence[Sequence[str]], heads: Mapping[int, int]
) -> list[str]:
    """Return the names of bands if a line above gives their heads: one name is that of each."""
    letters = [_letter_of(rows[0][a:b]) for a, b in bands]
    if all(letters):
        of = [head for cell in rows[0] if (head := head_in(cell))]
        return [f"{each} (head {of[0]})" if len({*of}) == 1 else each for each in letters]
    if not bands or not heads:
        return [""] * len(bands)
    places = sorted(heads)
    own = [max((j for j in places if j <= b), default=places[0]) for _, b in bands]
    said = [rows[0][a] if len(rows[0]) > a and name_in(rows[0][a]) else "" for a, _ in bands]
    if not said[0] or {*said[1:]} - {"", said[0]} or len({*own}) < len(bands):
        return [""] * len(bands)
    return [f"{said[0]} (head {heads[j]})" for j in own]


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


def _trouble(answer: Answer, expected: Expected) -> tuple[bool, int, int]:
    """Return whether nothing was read, how many parts are unread or odd, and numbers missing."""
    shaped = {name: matrix for name, matrix in answer.matrices.items() if name in expected.steps}
    odd = sum(not expected.fits(name, matrix.values) for name, matrix in shaped.items())
    read = sum(int(np.isfinite(matrix.values).sum()) for matrix in shaped.values())
    missing = sum(np.size(key) for key in expected.steps.values()) - read
    return not answer.matrices, len(answer.faults) + len(answer.unread) + odd, max(0, missing)


def _with_tabs(text: str, place: str) -> str:
    """Return a sheet as lines with tabs between cells."""
    delimiter = delimiter_of(text)
    lines = [""]
    for row in rows_of(text, delimiter, Faults(place), blank=True):
        cells = [_with_point(cell) if delimiter != "," else cell for cell in row.cells]
        lines += [""] * (row.line - len(lines))
        lines.append("\t".join(cells).rstrip("\t").replace("\n", " "))
    return "\n".join(lines[1:])


def read_csv_answer(text: str, place: str, expected: Expected | None = None) -> Answer:
    """Return the answer of one file of blocks; in attncalc's output, of those after the problem."""
    delimiter = delimiter_of(text)
    rows = list(rows_of(text, delimiter, Faults(place), blank=True))
    for i, row in enumerate(rows):
        if row.filled == [RESULTS]:
            rows = rows[i + 1 :]
            break
    blocks = _blocks(rows, decimal_comma=delimiter != ",")
    if not blocks:
        raise InputError(f"{place}: no step is named: head each block with its name, as Q")
    taken = {id(row) for block in blocks for row in block.rows}
    before = takewhile(lambda row: id(row) not in taken, rows)
    lost = [
        Unread(row.line, " ".join(row.filled), "no name of a step is above it", True)
        for row in before
        if any(is_number_cell(_with_point(cell)) for cell in row.filled)
    ]
    return _answer(place, blocks, lost, expected)


def read_csv_folder(
    texts: Mapping[str, str], place: str, expected: Expected | None = None
) -> Answer:
    """Return the answer of files by their names: Q.csv contains Q, or its heads in blocks."""
    blocks: list[_Block] = []
    not_read: list[Unread] = []
    for stem, text in texts.items():
        if name_of_key(stem) or stem.lower() in _WORDS:
            delimiter = delimiter_of(text)
            rows = list(rows_of(text, delimiter, Faults(f"{place}/{stem}"), blank=True))
            blocks += _blocks(rows, stem, decimal_comma=delimiter != ",")
        elif stem.lower() not in _OWN:
            not_read.append(unread(stem, text))
    return _answer(place, blocks, not_read, expected)


def _blocks(rows: list[Row], name: str = "", *, decimal_comma: bool) -> list[_Block]:
    """Split rows into blocks at lines with a single name; `name` is that of the first."""
    blocks = [_Block(name, decimal_comma=decimal_comma)] if name else []
    for row in rows:
        heading = _heading(row, may_be_padded=not (blocks and blocks[-1].is_labelled))
        of_map = bool(blocks) and blocks[-1].name.lower() == "connections"
        if of_map and name_of_key(heading) is None and heading.lower() not in (*_WORDS, *_OWN):
            heading = ""  # a sentence
        if heading and (not name or _is_head_of(heading, name)):
            blocks.append(_Block(heading, len(row.cells) > 1, decimal_comma))
        elif blocks:
            blocks[-1].rows.append(row)
    return blocks


def _is_head_of(heading: str, name: str) -> bool:
    """Return whether a line in the file of a step names one of its heads: "A head 2" in A.csv."""
    part, whole = name_of_key(heading), name_of_key(name)
    if part is None or whole is None or part.matrix != whole.matrix:
        return False
    return part.head > 0 or part.number > 0


def _heading(row: Row, *, may_be_padded: bool) -> str:
    """Return the name that a line gives to the rows below it, or "".

    Spreadsheets pad it with empty cells; among labeled rows, an empty row looks the same.
    """
    name = row.cells[0].rstrip(":")
    if len(row.cells) == 1:
        return name if name[:1].isalpha() or name_at_hand(name) else ""
    return name if may_be_padded and len(row.filled) == 1 and name_of_key(name) else ""


def _answer(
    place: str,
    blocks: list[_Block],
    not_read: Sequence[Unread] = (),
    expected: Expected | None = None,
) -> Answer:
    found: list[Raw] = []
    connections: list[WrittenConnection] = []
    for block in blocks:
        if block.name.lower() == "connections":
            lines, missed = _map([row for row in block.rows if row.filled], expected)
            connections += lines
            not_read = [*not_read, *missed]
        elif block.name.lower() not in _WORDS and any(row.filled for row in block.rows):
            cells = without_names(_cells(block))
            found.append(Raw(block.name, 0, cells, block.rows[0].line))
    return assembled(place, found, not_read, connections or None)


def _map(
    rows: Sequence[Row], expected: Expected | None
) -> tuple[list[WrittenConnection], list[Unread]]:
    """Return the lines of the map in rows, and the rows that are not understood."""
    of_map = MapLines(expected.names if expected else ())
    knows = MapReader(expected or Expected()).knows
    stated = [(row, _connection(row, of_map)) for row in rows]
    own = [line for _, line in stated if line]
    # a heading with one cell is not a line of the map
    rest = [row for row, line in stated if not line and len(row.filled) == 1]
    if not own or not all(knows(each) and each.output.strip() for each in own):
        own, rest = [], [*rows]
    told, missed = told_in([Line(row.line, _as_line(row)) for row in rest], expected)
    return [*own, *told], missed


def _as_line(row: Row) -> str:
    """Return a row as a line of text: a sentence, or cells between bars."""
    text = " ".join(row.filled)
    is_sentence = len(row.filled) == 1 or is_about_lines(text)
    return text if is_sentence else f"| {' | '.join(row.cells)} |"


def _cells(block: _Block) -> Rows:
    """Return the cells of a block, without padding."""
    rows = [row.cells for row in block.rows]
    width = max(map(len, rows))
    if block.is_padded:
        width = max(i for row in rows for i, cell in enumerate(row, start=1) if cell)
        while not any(rows[-1]):
            rows = rows[:-1]
    is_filled_up = not is_sparse(width * len(rows), sum(map(len, rows)))
    return [
        [_with_point(cell) if block.decimal_comma else cell for cell in row[:width]]
        + [""] * (width - len(row) if len(row) > 1 and is_filled_up else 0)
        for row in rows
    ]


def _with_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point; other text is unchanged."""
    return cell.replace(",", ".") if _COMMA.fullmatch(cell) else cell


def _connection(row: Row, of_map: MapLines) -> WrittenConnection | None:
    """Read a sentence of attncalc's own form, or an output with its solid and dashed line."""
    told = (connection_in(of_map.told(cell)) for cell in row.cells)
    sentence = next((of_map.named(each) for each in told if each), None)
    if sentence:
        of = attention_in(row.cells[0]) or sentence.of
        return sentence._replace(head=head_in(row.cells[0]), of=of)
    if any(map(is_about_lines, row.cells)):
        return None  # not filled in
    if len(row.cells) < 2 or row.cells[0].lower() in ("output", "outputs"):
        return None
    output, most, *second = row.cells
    return WrittenConnection(0, output, names_in(most), names_in(second[0] if second else ""))
