"""Answers as CSV: blocks under their names, a folder with a file for each step, or a worksheet."""

from collections.abc import Mapping

from attncalc.answer import Answer, WrittenConnection
from attncalc.errors import InputError
from attncalc.fields import RESULTS
from attncalc.reading.answers.lines import connection_in, is_about_lines, names_in
from attncalc.reading.answers.raw import Raw, assembled, named, without_names
from attncalc.reading.cells import Faults
from attncalc.reading.csv_text import Row, delimiter_of, rows_of

_WORDS = ("connections", "notes", "work")


def read_csv_answer(text: str, place: str) -> Answer:
    """Return the answer of one file of blocks; in our own output, what follows the problem."""
    delimiter = delimiter_of(text)
    rows = list(rows_of(text, delimiter, Faults(place)))
    for i, row in enumerate(rows):
        if row.filled == [RESULTS]:
            rows = rows[i + 1 :]
            break
    blocks = _blocks(rows)
    if not blocks:
        raise InputError(f"{place}: no step is named: head each block with its name, as Q")
    return _answer(place, blocks, delimiter != ",")


def read_csv_folder(texts: Mapping[str, str], place: str) -> Answer:
    """Return the answer of files by their names: Q.csv holds Q, or its heads in blocks."""
    blocks: list[tuple[str, list[Row]]] = []
    comma = False
    for stem, text in texts.items():
        if not named(stem) and stem.lower() not in _WORDS:
            continue
        delimiter = delimiter_of(text)
        comma = comma or delimiter != ","
        rows = list(rows_of(text, delimiter, Faults(f"{place}/{stem}")))
        blocks += _blocks(rows, stem)
    return _answer(place, [(name, rows) for name, rows in blocks if rows], comma)


def _blocks(rows: list[Row], name: str = "") -> list[tuple[str, list[Row]]]:
    """Part rows into blocks, each headed by a line of a single name; `name` heads the first."""
    blocks: list[tuple[str, list[Row]]] = [(name, [])] if name else []
    for row in rows:
        is_labelled = bool(blocks and blocks[-1][1]) and not blocks[-1][1][0].cells[0]
        heading = _heading(row, padded=not is_labelled)
        if heading and (not name or _is_head_of(heading, name)):
            blocks.append((heading, []))
        elif blocks:
            blocks[-1][1].append(row)
    return blocks


def _is_head_of(heading: str, name: str) -> bool:
    """Say whether a line in the file of a step heads one of its heads: "A head 2" in A.csv."""
    part, whole = named(heading), named(name)
    return part is not None and whole is not None and part[0] == whole[0] and part[1] > 0


def _heading(row: Row, *, padded: bool) -> str:
    """Return the name that a line gives to the rows below it, or "".

    Spreadsheets pad it with empty cells; among labelled rows, one without answers looks the same.
    """
    name = row.cells[0].rstrip(":")
    if len(row.cells) == 1:
        return name if name[:1].isalpha() else ""
    return name if padded and len(row.filled) == 1 and named(name) else ""


def _answer(place: str, blocks: list[tuple[str, list[Row]]], comma: bool) -> Answer:
    found: list[Raw] = []
    connections: list[WrittenConnection] = []
    for name, rows in blocks:
        if name.lower() == "connections":
            connections += _connections(rows)
        elif name.lower() not in _WORDS and rows:
            cells = without_names(_cut([row.cells for row in rows]))
            found.append(Raw(name, 0, cells, f"line {rows[0].line}", comma))
    return assembled(place, found, (), connections or None)


def _cut(rows: list[list[str]]) -> list[list[str]]:
    """Drop the empty columns that a spreadsheet writes to the right of a narrow block.

    A block of our own has a name above every column: what it has none for is no part of it.
    """
    width = max((i for row in rows for i, cell in enumerate(row, start=1) if cell), default=0)
    return [row[:width] + [""] * (width - len(row)) if len(row) > 1 else row for row in rows]


def _connections(rows: list[Row]) -> list[WrittenConnection]:
    """Read our own sentences, or lines of an output, its solid and its dashed line."""
    found = []
    for row in rows:
        sentence = next((each for cell in row.cells if (each := connection_in(cell))), None)
        if sentence:
            head = named(f"A {row.cells[0]}") if row.cells[0] else None
            found.append(sentence._replace(head=head[1] if head else 0))
        elif any(map(is_about_lines, row.cells)):
            continue  # still to be filled in
        elif len(row.cells) >= 2 and row.cells[0].lower() not in ("output", "outputs"):
            output, most, *second = row.cells
            found.append(
                WrittenConnection(0, output, names_in(most), names_in(second[0]) if second else ())
            )
    return found
