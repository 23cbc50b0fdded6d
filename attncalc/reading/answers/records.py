"""Tables with one row for each entry: the name of its step, its head, its row and column."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from attncalc.reading.answers.answer import Unread, is_sparse
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.raw import Raw
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.naming.name import head_in, name_in
from attncalc.reading.plain.numerals import is_number_cell
from attncalc.reading.plain.rows import Rows

FEWEST = 4
"""The fewest entries of a table of entries."""
_COUNT = re.compile(r"(?:[^\W\d_]{1,12}[ _-]?)?(\d{1,6})")
"""The number of a row or a column, which a word may precede: dim 2."""
_VALUE = re.compile(
    r"(?:value|val|wert|valeur|valore?|waarde|värde|entry|eintrag)\b|值|値|값", re.I
)
_VERTICAL = re.compile(r"(?:col|spalte|kol)", re.IGNORECASE)
"""The start of the title of the column of columns."""
_ALL = ("", "-", "–", "—")


class Records(NamedTuple):
    """The steps of a table of entries, and the rows that are not read."""

    steps: list[Raw]
    unread: list[Unread]


class _Entry(NamedTuple):
    head: int
    row: int
    column: int
    text: str
    line: int


def steps_of_records(rows: Rows, lines: Sequence[int], expected: Expected) -> Records | None:
    """Return the steps of a table whose rows are entries; None for any other table.

    rows: the heading of the columns, then the cells of each entry.
    lines: the line of each row in its file.
    """
    heading, *body = rows or [[]]
    body = [[*row, *[""] * (len(heading) - len(row))] for row in body]
    if len(body) < FEWEST or any(len(row) != len(heading) for row in body):
        return None
    columns = [[*each] for each in zip(*body, strict=True)]
    names: list[str] = []
    for cell in columns[0]:  # a blank cell goes on with the step above it
        names.append(_step(cell, expected) if cell or not names else names[-1])
    heads = [k for k, title in enumerate(heading) if k and head_in(f"{title} 1")]
    head = heads[0] if heads else 0
    row, column, *others = [k for k in range(1, len(heading)) if k != head] + [0] * 2
    if _VERTICAL.match(heading[row]) and not _VERTICAL.match(heading[column]):
        row, column = column, row
    numeric = [
        k
        for k in others
        if k and any(columns[k]) and all(map(is_number_cell, filter(None, columns[k])))
    ]
    value = next((k for k in numeric if _VALUE.match(heading[k])), (numeric or [0])[0])
    is_unclear = len(numeric) > 1 and not _VALUE.match(heading[value])
    if not value or is_unclear or any(map(is_number_cell, heading)) or not all(names):
        return None
    places = [_places(columns[k], expected) for k in (row, column)]
    own_heads = [_head(cell) for cell in columns[head]] if head else [0] * len(body)
    if not all(places) or None in own_heads:
        return None
    entries: dict[str, list[_Entry]] = {}
    stated = zip(own_heads, *places, columns[value], lines[1:], strict=True)
    for own, name in zip(stated, names, strict=True):
        entries.setdefault(name, []).append(_Entry(*own))
    found = Records([], [])
    for name, own_entries in entries.items():
        _add(name, own_entries, found)
    return found if found.steps else None


def _step(cell: str, expected: Expected) -> str:
    """Return a name of a step as a key, which may have its head; "" for another text."""
    if name_of_key(cell):
        return cell
    name = name_in(cell, expected.labels)
    return name.matrix if name else ""


def _head(cell: str) -> int | None:
    """Return the head of an entry: 0 for a step of all heads; None if the cell has no number."""
    match = _COUNT.fullmatch(cell)
    return int(match[1]) if match else 0 if cell in _ALL else None


def _places(cells: Sequence[str], expected: Expected) -> list[int]:
    """Return the row or the column of each entry, from 1; [] if the cells do not say it."""
    for labels in (expected.labels.queries, expected.labels.keys):
        named = {label: place for place, label in enumerate(labels, start=1) if label}
        counts = [None if cell in named else _COUNT.fullmatch(cell) for cell in cells]
        if all(cell in named or count for cell, count in zip(cells, counts, strict=True)):
            numbers = [
                int(count[1]) if count else named[cell]
                for cell, count in zip(cells, counts, strict=True)
            ]
            shift = int(0 in numbers)
            return [n + shift * (cell not in named) for n, cell in zip(numbers, cells, strict=True)]
    return []


def _add(name: str, entries: Sequence[_Entry], found: Records) -> None:
    """Add a step, and the reasons why some of its entries are not read."""
    first = entries[0].line
    for head in dict.fromkeys(each.head for each in entries):
        own = [each for each in entries if each.head == head]
        height, width = max(each.row for each in own), max(each.column for each in own)
        if is_sparse(height * width, len(own)):
            found.unread.append(Unread(first, name, f"{name}: too sparse", could_be_matrix=True))
            continue
        counts = Counter((each.row, each.column) for each in own)
        for row, column in (place for place, count in counts.items() if count > 1):
            why = f"{name}: row {row}, column {column} is there twice: the later one counts"
            found.unread.append(Unread(first, name, why, could_be_matrix=True))
        cells = [[""] * width for _ in range(height)]
        for each in own:
            cells[each.row - 1][each.column - 1] = each.text
        found.steps.append(Raw(name, head, cells, own[0].line))
