"""Tables: Markdown's, those of word processors and spreadsheets, and the frames of worksheets."""

import re
from collections.abc import Callable, Sequence

from attncalc.reading.plain.grids import Line
from attncalc.reading.plain.numerals import is_number_cell, looks_like_entry
from attncalc.reading.plain.rows import Rows, fitted, parted, without_names

_TABLE = re.compile(r"\s*[|│╭├╰┌└┏┡└+]")
_RULE = re.compile(r"[\s|:+\-─━═│┃╭├╰┌└┬┼┴╮┤╯┐┘=]*")
_DELIMITER = re.compile(r"(?=[^|]*+\|)[ \t]*+:?--[-:| \t]*+|(?=[ \t|+-]*---)[-:|+ \t]*+")
_BAR = re.compile(r"[|│┃]")
_OUTER = re.compile(r"^[|│┃]|[|│┃]$")
_FRAMES = "╭├╰┌└+│┃"
_SUM = re.compile(
    r"(?:(?:row|line|row's) ?)?(?:sums?|totals?|check)|[Σ∑].{0,12}|(?:zeilen)?summe|sommes?|sumas?",
    re.I,
)
TABLE_SIGN = re.compile(r"[|│╭├╰┌└┏┡+]")
"""What stands in every line at which a table may begin, if it is no tab."""
_HAS_NUMBER = re.compile(r"[\d½¼¾?_]")


def table_at(lines: Sequence[Line], start: int) -> int:
    """Return how many lines a table has that begins here; 0 where none does."""
    text = lines[start].text
    below = lines[start + 1].text if start + 1 < len(lines) else ""
    if "\t" in text.strip():
        return _tabs(lines, start)
    begins = _TABLE.match(text) and _BAR.search(text + below)
    if not begins and not ("|" in text and _DELIMITER.fullmatch(below)):
        return 0
    stop = start
    while stop < len(lines) and (_TABLE.match(lines[stop].text) or "|" in lines[stop].text):
        stop += 1
    return stop - start


def _tabs(lines: Sequence[Line], start: int) -> int:
    """Return how many consecutive lines are parted by tabs."""
    stop = start
    while stop < len(lines) and "\t" in lines[stop].text.strip("\n "):
        stop += 1
    count = stop - start
    has_words = any("=" in line.text for line in lines[start:stop])
    return 0 if has_words or not count else count


def groups_of_table(lines: Sequence[Line], is_name: Callable[[str], bool]) -> dict[str, Rows]:
    """Return several matrices of one table, each under a name over its columns; {} for others.

    A name stands over the first of its columns, with nothing over the others, or over each.
    """
    head, *rows = _filled(_cells_by_line(lines)) or [[]]
    starts = [j for j, cell in enumerate(head) if cell and is_name(cell)]
    starts = [j for k, j in enumerate(starts) if not k or head[j] != head[starts[k - 1]]]
    others = [cell for cell in head[starts[0] :] if cell and not is_name(cell)] if starts else []
    if others or len(starts) < 2 or len(starts) == len(head) - starts[0] or not rows:
        return {}
    if len({head[j] for j in starts}) < len(starts):
        return {}
    stops = [*starts[1:], len(head)]
    found = {}
    for start, stop in zip(starts, stops, strict=True):
        labelled = [[*row[: min(1, starts[0])], *row[start:stop]] for row in rows]
        found[head[start]] = without_names(labelled)
    return found


def _cells_by_line(lines: Sequence[Line]) -> Rows:
    """Return the cells of each line of a table, but not its rules."""
    if "\t" in lines[0].text and not _TABLE.match(lines[0].text):
        rows = [[cell.strip() for cell in line.text.rstrip("\n").split("\t")] for line in lines]
        return [row for row in rows if any(row)]
    rows = []
    for line in lines:
        text = line.text.strip()
        if not _RULE.fullmatch(text) or (text.strip("|│ ") == "" and "│" not in text):
            rows.append([cell.strip() for cell in _BAR.split(_OUTER.sub("", text))])
    return rows


def cells_of_table(lines: Sequence[Line]) -> tuple[Rows, str]:
    """Return the rows of a table, without the names around them, and the name in its corner."""
    rows = _cells_by_line(lines)
    if "\t" in lines[0].text and not _TABLE.match(lines[0].text):
        return _named(_without_sums(_without_margin(_filled(rows))))
    framed = any(line.text.lstrip()[:1] in _FRAMES for line in lines)
    if framed and rows and not _holds_numbers(rows[0][0]):
        return _framed(rows), ""
    if rows and all(len(row) == 1 for row in rows):
        parts = [parted(row[0]) or row for row in rows]
        return without_names(fitted(parts)), ""
    return _named(_without_sums(_filled(rows)))


def _framed(rows: Rows) -> Rows:
    """Return the entries of a worksheet of our own: its first line and column are names."""
    width = len(_entries(" ".join(rows[0][1:])))
    found = [_entries(" ".join(row[1:])) for row in rows[1:]]
    return [row or [""] * width for row in found]


def _entries(line: str) -> list[str]:
    """Part a line of a worksheet into entries: by two blanks, or by one where that is needed.

    Examples
    --------
    >>> _entries("1.00  2 1/2 ●"), _entries("1 -2.5")
    (['1.00', '2 1/2'], ['1', '-2.5'])
    """
    cells: list[str] = []
    for cell in re.split(r"  |\t", re.sub(r"[●○†]", " ", line).strip()):
        cell = cell.strip()
        if cell:
            cells += [cell] if looks_like_entry(cell) or " " not in cell else cell.split()
    return cells


def _holds_numbers(cell: str) -> bool:
    return _HAS_NUMBER.search(cell) is not None


def _named(rows: Rows) -> tuple[Rows, str]:
    """Part the name in a table's corner, or alone in its first column, from its entries."""
    if not rows:
        return rows, ""
    corner = rows[0][0]
    if corner and not looks_like_entry(corner):
        if len(rows) > 1 and not any(rows[0][1:]):
            return without_names(rows[1:]), corner
        alone = len(rows) > 1 and not any(row[0] for row in rows[1:])
        if alone and any(map(is_number_cell, rows[0][1:])) and len(rows[0]) > 1:
            return without_names([row[1:] for row in rows]), corner
        return without_names(rows), corner
    return without_names(rows), ""


def _without_sums(rows: Rows) -> Rows:
    """Return a table without its columns of sums: what a person checks rows by."""
    head = rows[0] if len(rows) > 1 and not any(map(is_number_cell, rows[0])) else []
    sums = [j for j, cell in enumerate(head) if j and _SUM.fullmatch(cell.strip(" *_:"))]
    if not sums:
        return rows
    return [[cell for j, cell in enumerate(row) if j not in sums] for row in rows]


def _without_margin(rows: Rows) -> Rows:
    """Return a sheet without the empty columns before it."""
    margin = 0
    width = min(map(len, rows), default=0)
    while margin < width - 1 and not any(row[margin] for row in rows):
        margin += 1
    return [row[margin:] for row in rows]


def _filled(rows: Rows) -> Rows:
    """Pad rows whose last cells were left out."""
    width = max((i for row in rows for i, cell in enumerate(row, start=1) if cell), default=1)
    rows = [row[:width] for row in rows]
    return [row + [""] * (width - len(row)) if len(row) >= width - 1 else row for row in rows]
