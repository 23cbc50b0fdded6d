"""Matrices as CSV: comma, semicolon or tab; decimal commas; headers and columns of tokens."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.text import without_quote
from attncalc.base.typed import is_number, quoted
from attncalc.problem.fields import LABELLED, MATRICES, SETTINGS, TEXTS, own_name
from attncalc.problem.serialising import COLUMN_NAMES, RESULTS, ROW_NAMES
from attncalc.reading.cells import Faults, read_cells
from attncalc.reading.names import canonical, field_called, read_by_equations, unknown

Fields = dict[str, Any]

HOW_TO_NAME = "head each block with a line that has its name, as X or W_Q"
_LABEL_HEADINGS = ("token", "tokens", "label", "labels", "word", "words")
HOW_TO_LABEL = (
    "its first column has words and numbers: if these are tokens, "
    'head the column with the word "token"'
)
_SLICE = re.compile(r"\[(\d{1,4})\]$")
"""The end of the heading of one of several matrices of a name, such as W[0]: its index, from 0."""

_LISTS = ("asked", "equations")
"""Settings whose value may contain commas, in one cell or in several."""

_MASK_ENTRIES = ("true", "false", "-inf")
_DELIMITERS = ("\t", ";", ",")
_LINES_TO_JUDGE_BY = 200


@dataclass(frozen=True)
class Row:
    """A line of cells, and its line number in the file."""

    cells: list[str]
    line: int

    @property
    def filled(self) -> list[str]:
        """The cells that are not empty."""
        return [cell for cell in self.cells if cell]


@dataclass
class _Sheet:
    """The rows of one matrix, and the format of its numbers."""

    name: str
    decimal_comma: bool
    rows: list[Row] = field(default_factory=list)

    def is_entry(self, cell: str) -> bool:
        """Return whether a cell is an entry of a matrix."""
        return _is_entry(cell, decimal_comma=self.decimal_comma)


def read_csv_problem(text: str, faults: Faults) -> Fields:
    """Return the fields of a problem from one file of blocks, each headed by a matrix's name.

    Lines such as `scale,none` or `title,Three tokens` may precede the first block.
    """
    delimiter = delimiter_of(text)
    fields: Fields = {}
    sheets: dict[str, _Sheet] = {}
    sheet: _Sheet | None = None
    # results in attncalc's own output follow the problem
    for row in takewhile(lambda row: row.filled != [RESULTS], rows_of(text, delimiter, faults)):
        if heading := _heading(row, decimal_comma=delimiter != ","):
            sheet = _named_sheet(heading, row.line, fields, sheets, faults)
            sheet.decimal_comma = delimiter != ","
        elif sheet and not _is_setting(row, sheet):
            sheet.rows.append(row)
        else:
            _read_setting(row, delimiter != ",", fields, faults)
    if not sheets:
        raise InputError(f"{faults.place}: no matrix is named: {HOW_TO_NAME}")
    more: Fields = {}
    for name, each in sheets.items():
        of_name = fields if _SLICE.sub("", name) in MATRICES else more
        _read_sheet(each, of_name, faults)
        _join_slice(name, of_name, faults)
    if more:
        fields["more"] = more
    faults.raise_if_any()
    return fields


def _named_sheet(
    heading: str, line: int, fields: Fields, sheets: dict[str, _Sheet], faults: Faults
) -> _Sheet:
    """Return the sheet below a heading: of a field, or of a matrix that an equation reads."""
    base = _SLICE.sub("", heading)
    read = read_by_equations(fields.get("equations"))
    name = field_called(base, read)
    if name is None and base in read:
        name = base
    elif name is None or name not in MATRICES:
        faults.add(f"line {line}: {_why_no_name(heading, faults)}")
        return _Sheet(heading, False)  # its rows belong to no known matrix
    name += heading[len(base) :]
    if name in sheets:
        faults.add(f"line {line}: {name} is given twice")
    sheets[name] = _Sheet(name, False)
    return sheets[name]


def _join_slice(name: str, fields: Fields, faults: Faults) -> None:
    """Append a slice with a name such as W[1] to the earlier ones of W."""
    if (found := _SLICE.search(name)) is None:
        return
    base = name[: found.start()]
    before, rows = fields.setdefault(base, []), fields.pop(name)
    if not isinstance(before, list):
        faults.add(f"{name}: {base} is given whole before it")
    elif int(found[1]) != len(before):
        faults.add(f"{name}: {base}[{len(before)}] is missing before it")
    else:
        before.append(rows)


def read_csv_matrix(name: str, text: str, fields: Fields, faults: Faults) -> None:
    """Add the only matrix of a CSV file to `fields`, with the labels of its tokens."""
    delimiter = delimiter_of(text)
    rows = list(rows_of(text, delimiter, faults))
    heads = [canonical(_heading(row, decimal_comma=delimiter != ",")) for row in rows]
    if name in heads:  # a file of blocks: this matrix is one of them
        start = heads.index(name) + 1
        ends = [i for i, head in enumerate(heads) if i >= start and head in MATRICES]
        rows = rows[start : ends[0] if ends else None]
    _read_sheet(_Sheet(name, delimiter != ",", rows), fields, faults)


def rows_of(
    text: str, delimiter: str, faults: Faults, *, blank: bool = False, stripped: bool = True
) -> Iterator[Row]:
    """Yield the rows with content, or all rows that have cells; their cells stripped, or as is."""
    lines = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=stripped, strict=True
    )
    try:
        for cells in lines:
            row = Row([cell.strip() for cell in cells] if stripped else cells, lines.line_num)
            if row.filled or (blank and len(row.cells) > 1):
                yield row
    except csv.Error as error:
        reason = "a quotation mark is opened and never closed"
        if "end of data" not in str(error):
            reason = str(error)
        raise InputError(f"{faults.place}: not CSV at line {lines.line_num}: {reason}") from None


def delimiter_of(text: str) -> str:
    """Return the delimiter for which most cells are numbers."""
    sample = "\n".join(text[:1_000_000].splitlines()[:_LINES_TO_JUDGE_BY])

    def numbers(delimiter: str) -> int:
        try:
            rows = list(csv.reader(io.StringIO(sample), delimiter=delimiter, skipinitialspace=True))
        except csv.Error:
            return 0
        return sum(_is_entry(cell, decimal_comma=delimiter != ",") for row in rows for cell in row)

    used = [delimiter for delimiter in _DELIMITERS if delimiter in sample]
    return max(used, key=numbers, default=",")


def _heading(row: Row, *, decimal_comma: bool) -> str:
    """Return the name that a line with one word gives to the rows below it, or ""."""
    if len(row.filled) != 1 or not row.cells[0]:
        return ""
    return "" if _is_entry(row.cells[0], decimal_comma=decimal_comma) else row.cells[0].rstrip(":")


def _is_entry(cell: str, *, decimal_comma: bool) -> bool:
    """Return whether a cell is an entry of a matrix: a number, or an entry of a mask."""
    return is_number(cell, decimal_comma=decimal_comma) or cell.lower() in _MASK_ENTRIES


def _read_setting(row: Row, decimal_comma: bool, fields: Fields, faults: Faults) -> None:
    if (tokens := _labelled(row)) is not None:
        names = list(map(without_quote, row.filled[1:]))
        for axis in (ROW_NAMES, COLUMN_NAMES):  # tokens have names in each layout
            fields.setdefault(axis, {})[tokens] = names
        return
    name = canonical(row.cells[0].rstrip(":"))
    lists = name in _LISTS and len(row.filled) > 2
    if name is None or not _sets(name) or (len(row.filled) != 2 and not lists):
        faults.add(f"line {row.line}: these cells are not part of a matrix: {HOW_TO_NAME}")
    elif name in fields:
        faults.add(f"line {row.line}: {name} is given twice")
    else:
        value = without_quote(", ".join(row.filled[1:]))
        has_commas = name in (*TEXTS, *_LISTS)
        fields[name] = value if has_commas or not decimal_comma else value.replace(",", ".")


def _labelled(row: Row) -> str | None:
    """Return the field of tokens that a row names, such as labels X,the,cat; or None."""
    word, _, tokens = row.cells[0].rstrip(":").partition(" ")
    name = tokens.strip().upper() or "X"
    if word.lower() != "labels" or name not in LABELLED or len(row.filled) < 2:
        return None
    return name


def _sets(name: str | None) -> bool:
    """Return whether a name is that of a setting of any part."""
    return name in TEXTS or (name is not None and own_name(name) in SETTINGS)


def _is_setting(row: Row, sheet: _Sheet) -> bool:
    """Return whether a row below a block sets a convention, and is not a token of that name."""
    name = canonical(row.cells[0].rstrip(":"))
    if (name in _LISTS and len(row.filled) > 2) or _labelled(row) is not None:
        return True
    if len(row.filled) != 2 or not _sets(name):
        return False
    has_labels = bool(sheet.rows) and not sheet.is_entry(sheet.rows[0].cells[0])
    return not (has_labels and sheet.is_entry(row.filled[1]))


def _why_no_name(heading: str, faults: Faults) -> str:
    if faults.enough:
        return "unknown name"
    if all(is_number(word) for word in heading.replace("|", " ").split()):
        return f"{quoted(heading)}: cells are separated by commas, semicolons or tabs"
    return unknown(heading, MATRICES)


def _read_sheet(sheet: _Sheet, fields: Fields, faults: Faults) -> None:
    rows = _without_blank_margin(sheet.rows)
    header, rows = _split_header(rows, sheet)
    cells = [row.cells for row in rows]
    headings = header.cells if header else []
    if _has_labels(header, cells, sheet):
        _keep_names(ROW_NAMES, sheet, [row[0] for row in cells], fields)
        cells = [row[1:] for row in cells]
        headings = headings[1:]
    elif _has_some_labels(cells, sheet):
        faults.add(f"{sheet.name}: {HOW_TO_LABEL}")
    if cells and len(headings) == len(cells[0]):
        _keep_names(COLUMN_NAMES, sheet, headings, fields)
    lines, comma = [f" (line {row.line})" for row in rows], sheet.decimal_comma
    fields[sheet.name] = read_cells(
        sheet.name, cells, faults, decimal_comma=comma, line=lines.__getitem__
    )


def _keep_names(axis: str, sheet: _Sheet, names: list[str], fields: Fields) -> None:
    """Store the names of rows or columns that may be tokens; others are ignored."""
    if sheet.name in LABELLED:
        fields.setdefault(axis, {})[sheet.name] = list(map(without_quote, names))


def _has_some_labels(cells: list[list[str]], sheet: _Sheet) -> bool:
    """Return whether the first column contains words and numbers: tokens such as "7", possibly."""
    return (
        sheet.name in LABELLED
        and len(cells) > 1
        and all(len(row) > 1 for row in cells)
        and not all(sheet.is_entry(row[0]) for row in cells)
        and all(sheet.is_entry(cell) for row in cells for cell in row[1:])
    )


def _without_blank_margin(rows: list[Row]) -> list[Row]:
    """Remove the empty columns that a spreadsheet writes to the right of a narrow block."""
    width = max((i for row in rows for i, cell in enumerate(row.cells, start=1) if cell), default=0)
    return [Row(row.cells[:width], row.line) for row in rows]


def _split_header(rows: list[Row], sheet: _Sheet) -> tuple[Row | None, list[Row]]:
    """Separate a first row without numbers from the rows below, if there are any."""
    first = rows[0].cells if len(rows) > 1 else []
    if first and (first[0].lower() in _LABEL_HEADINGS or not any(map(sheet.is_entry, first))):
        return rows[0], rows[1:]
    return None, rows


def _has_labels(header: Row | None, cells: list[list[str]], sheet: _Sheet) -> bool:
    """Return whether the first column contains tokens: no number, or a heading for tokens."""
    if not cells or any(len(row) < 2 for row in cells):
        return False
    if header and header.cells[0].lower() in _LABEL_HEADINGS:
        return True
    return all(row[0] and not sheet.is_entry(row[0]) for row in cells)
