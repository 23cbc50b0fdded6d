"""Tables of Markdown, word processors and spreadsheets, and the frames of worksheets."""

import re
from collections.abc import Callable, Sequence
from itertools import groupby, takewhile

from attncalc.reading.plain.grids import Line
from attncalc.reading.plain.numerals import is_number_cell, looks_like_entry
from attncalc.reading.plain.rows import (
    Rows,
    are_alike,
    are_counts,
    fitted,
    parted,
    result_of,
    split_row,
    without_names,
)

_TABLE = re.compile(r"\s*[|│╭├╰┌└┏┡└+]")
_RULE = re.compile(r"[\s|:+\-─━═│┃╭├╰┌└┬┼┴╮┤╯┐┘=]*")
_DELIMITER = re.compile(r"(?=[^|]*+\|)[ \t]*+:?--[-:| \t]*+|(?=[ \t|+-]*---)[-:|+ \t]*+")
_BAR = re.compile(r"[|│┃]")
_OUTER = re.compile(r"^[|│┃]|[|│┃]$")
_FRAMES = "╭├╰┌└+│┃"
_SUM = re.compile(
    r"(?:(?:row|line|row's) ?)?(?:sums?|totals?|check|max(?:imum)?)|[Σ∑].{0,12}"
    r"|(?:zeilen)?(?:summe|max(?:imum)?)|kontrolle|sommes?|sumas?|contrôle|control",
    re.I,
)
_OF_ROWS = ("row", "i", "index", "token", "zeile", "fila", "ligne", "idx", "pos", "#", "r")
TABLE_SIGN = re.compile(r"[|│╭├╰┌└┏┡+]")
"""A character of every line that may begin a table, except a tab."""
_NUMBERED = re.compile(r"\s{0,40}(?:[^\W\d_]{1,12} )?\(?\d{1,2}[.):]\t+\s{0,9}(?=[^\W\d_]{2})")
_COLUMN_NUMBER = re.compile(r"(?<=[^\W\d_])_?\d{1,2}$")
LONGEST_HEADING = 200
LEAST_WIDTH = 3
"""The smallest number of columns or rows of a table before its sums: a name, and two numbers."""
MOST_OF_FRAME = 2
"""The number of cells of a row in attncalc's own frames: its name, and all its entries."""
_OF_A_ROW = re.compile(r"[^\W\d_]{1,6}[ _]?\d{1,3}")
"""A possible name of a row without entries: k2."""
LEAST = 2
"""The smallest number of sections of a sheet."""
PLACED = 3
"""The number of cells of an entry with its place: row, column, number."""
_HAS_NUMBER = re.compile(r"[\d½¼¾?_]")


def table_at(lines: Sequence[Line], start: int) -> int:
    """Return the number of lines of the table that begins here; 0 if none does."""
    text = lines[start].text
    below = lines[start + 1].text if start + 1 < len(lines) else ""
    if "\t" in text.strip():
        return _tabs(lines, start)
    begins = _TABLE.match(text) and _BAR.search(text + below)
    if not begins and not ("|" in text and _DELIMITER.fullmatch(below)):
        return 0
    stop = start
    while stop < len(lines) and (_TABLE.match(lines[stop].text) or _BAR.search(lines[stop].text)):
        stop += 1
    return stop - start


def _tabs(lines: Sequence[Line], start: int) -> int:
    """Return the number of consecutive lines separated by tabs."""
    stop = start
    while stop < len(lines) and "\t" in lines[stop].text.strip("\n "):
        if is_numbered_heading(lines[stop].text):
            break
        stop += 1
    count = stop - start
    has_words = any("=" in line.text for line in lines[start:stop])
    return 0 if has_words or not count else count


def is_numbered_heading(text: str) -> bool:
    """Return whether a line is a list number and words, as word processors paste headings."""
    match = _NUMBERED.match(text) if len(text) < LONGEST_HEADING else None
    return match is not None and not any(map(str.isdigit, text[match.end() :]))


def groups_of_table(lines: Sequence[Line], is_name: Callable[[str], bool]) -> dict[str, Rows]:
    """Return several matrices of one table, each under a name over its columns; {} for others.

    The name is above the first column of its matrix, or above each, with or without its number.
    """
    head, *rows = _filled(_spread(cells_by_line(lines))) or [[]]
    if head and not is_name(head[0]):  # not the corner of one table
        head = _without_numbers(head)
    starts = [j for j, cell in enumerate(head) if cell and is_name(cell)]
    starts = [j for k, j in enumerate(starts) if not k or head[j] != head[starts[k - 1]]]
    others = [cell for cell in head[starts[0] :] if cell and not is_name(cell)] if starts else []
    if others or len(starts) < 2 or len(starts) == len(head) - starts[0] or not rows:
        return {}
    if len({head[j] for j in starts}) < len(starts):
        return {}
    stops = [*starts[1:], len(head)]
    return {
        head[start]: without_names(_without_gaps([row[start:stop] for row in rows]))
        for start, stop in zip(starts, stops, strict=True)
    }


def _without_numbers(head: list[str]) -> list[str]:
    """Return the names of columns without their numbers, if each matrix has as many: q1 q2 k1 k2.

    >>> _without_numbers(["token", "q1", "q2", "v"]), _without_numbers(["q1", "k1"])
    (['token', 'q', 'q', 'v'], ['q1', 'k1'])
    """
    stems = [_COLUMN_NUMBER.sub("", cell) for cell in head]
    numbers = [cell[len(stem) :].strip("_") for cell, stem in zip(head, stems, strict=True)]
    runs = [[*own] for stem, own in groupby(range(len(head)), key=lambda j: stems[j]) if stem]
    are_counted = all(
        [numbers[j] for j in own] in ([""], [str(k) for k in range(1, len(own) + 1)])
        for own in runs
    )
    return stems if are_counted and max(map(len, runs), default=0) > 1 else head


def _spread(rows: Rows) -> Rows:
    """Return a table with each name of its head over the first column that it spans."""
    head, *others = rows or [[]]
    widths = {len(row) for row in others}
    if len(head) < LEAST_WIDTH or len(widths) != 1:
        return rows
    span, rest = divmod(widths.pop() - 1, len(head) - 1)
    if rest or span < 2 or any(map(is_number_cell, head)):
        return rows
    gap = [""] * (span - 1)
    return [[head[0], *(cell for name in head[1:] for cell in (name, *gap))], *others]


def _without_gaps(rows: Rows) -> Rows:
    """Return rows without the empty columns before the next matrix."""
    width = max(map(len, rows))
    kept = [j for j in range(width) if any(row[j : j + 1] != [""] for row in rows if row[j:])]
    return [[row[j] for j in kept if j < len(row)] for row in rows]


def sections_of_table(
    lines: Sequence[Line], is_name: Callable[[str], bool]
) -> list[tuple[Line, list[Line]]]:
    """Return the sections of a sheet in one table, each with its heading; [] for others.

    The heading has its own row. Names of columns may be above all sections, or below a heading
    outside the table.
    """
    found: list[tuple[Line, list[Line]]] = []
    above: list[Line] = []
    for line in lines:
        cells = [cell for row in cells_by_line([line]) for cell in row if cell]
        is_named = len(cells) == 1 and not is_number_cell(cells[0]) and is_name(cells[0])
        is_named = is_named and not (above and _OF_A_ROW.fullmatch(cells[0]))
        if is_named:
            found.append((Line(line.number, cells[0]), []))
        elif cells and not found:
            above.append(line)
        elif cells:
            found[-1][1].append(line)
    if len(found) + bool(found and above) < LEAST or not all(own for _, own in found):
        return []
    rows = cells_by_line(above) if above else []
    has_rows = any(is_number_cell(cell) for row in rows for cell in row)
    return [(Line(above[0].number, ""), above), *found] if has_rows else found


def groups_by_name(lines: Sequence[Line], is_name: Callable[[str], bool]) -> dict[str, Rows]:
    """Return several matrices of one table whose first column names them; {} for others.

    The name precedes the first row of its matrix, or each; counts may follow it.
    """
    rows = [row for row in cells_by_line(lines) if any(row)]
    above = [*takewhile(lambda row: not any(map(split_row, row)), rows)]
    header = above[-1] if above else []
    groups: dict[str, Rows] = {}
    last = ""
    rows = rows[len(above) :]
    for row in rows:
        name = row[0].strip(" *`:") or last
        if not name or (name != last and (name in groups or not is_name(name))):
            return {}
        groups.setdefault(name, []).append(row[1:])
        last = name
    if len(groups) < 2 or len(rows) < 2 * len(groups):
        return {}
    titles = [title.lower().strip(" .") for title in header[1:3]]
    found = {name: _placed(own) or _without_counts(own, titles) for name, own in groups.items()}
    return found if all(found.values()) else {}


def _placed(rows: Rows) -> Rows:
    """Return the matrix whose entries have a row each: its row, its column, its number; or []."""
    if not all(len(row) == PLACED and row[0].isdecimal() and row[1].isdecimal() for row in rows):
        return []
    entries = {(int(i), int(j)): cell for i, j, cell in rows}
    firsts, seconds = (sorted({place[k] for place in entries}) for k in (0, 1))
    is_whole = len(rows) == len(entries) == len(firsts) * len(seconds)
    are_counts = all(own == [*range(own[0], own[0] + len(own))] for own in (firsts, seconds))
    if not is_whole or not are_counts or max(firsts[0], seconds[0]) > 1:
        return []
    return [[entries[i, j] for j in seconds] for i in firsts]


def _without_counts(rows: Rows, titles: Sequence[str]) -> Rows:
    """Return the rows of one group without their names or counts; [] if they are not a matrix."""
    width = max((i for row in rows for i, cell in enumerate(row, start=1) if cell), default=0)
    rows = [(row + [""] * width)[:width] for row in rows]
    firsts = [row[0] for row in rows if row]
    is_counted = bool(titles) and titles[0] in _OF_ROWS
    is_counted = is_counted or (are_counts(firsts) and (len(rows) > 1 or bool(titles)))
    if width > 1 and (is_counted or not any(map(looks_like_entry, firsts))):
        return [row[1:] for row in rows]
    return rows


def cells_by_line(lines: Sequence[Line]) -> Rows:
    """Return the cells of each line of a table, without its rules; of calculations, the results."""
    if "\t" in lines[0].text and not _TABLE.match(lines[0].text):
        tabs = [[*map(_cell, line.text.rstrip("\n").split("\t"))] for line in lines]
        return [row for row in tabs if any(row)]
    rows: Rows = []
    for line in lines:
        text = line.text.strip()
        if not _RULE.fullmatch(text) or (text.strip("|│ ") == "" and "│" not in text):
            rows.append([*map(_cell, _BAR.split(_OUTER.sub("", text)))])
    return rows


def _cell(text: str) -> str:
    return result_of(text) or text.strip()


def cells_of_table(lines: Sequence[Line]) -> tuple[Rows, str]:
    """Return the rows of a table without the names around them, and the name in its corner."""
    rows = cells_by_line(lines)
    if "\t" in lines[0].text and not _TABLE.match(lines[0].text):
        return _named(_filled(_without_sums(_without_margin(rows))))
    framed = any(line.text.lstrip()[:1] in _FRAMES for line in lines)
    is_ours = max(map(len, rows), default=0) <= MOST_OF_FRAME
    if framed and is_ours and rows and not _HAS_NUMBER.search(rows[0][0]):
        return _framed(rows), ""
    if rows and all(len(row) == 1 for row in rows):
        parts = [parted(row[0]) or row for row in rows]
        return without_names(fitted(parts)), ""
    return _named(_filled(_without_sums(rows)))


def _framed(rows: Rows) -> Rows:
    """Return the entries of attncalc's own worksheet: its first line and column are names."""
    head, *found = [_entries(" ".join(row[1:])) for row in rows]
    return [row or [""] * len(head) for row in found]


def _entries(line: str) -> list[str]:
    """Split a line of a worksheet into entries, without marks: at two blanks, or one if necessary.

    >>> _entries("1.00  2 1/2 ●"), _entries("1 -2.5")
    (['1.00', '2 1/2'], ['1', '-2.5'])
    """
    cells: list[str] = []
    for cell in map(str.strip, re.split(r"  |\t", re.sub(r"[●○†]", " ", line).strip())):
        is_one = looks_like_entry(cell) or " " not in cell
        cells += [] if not cell else [cell] if is_one else cell.split()
    return cells


def _named(rows: Rows) -> tuple[Rows, str]:
    """Separate the name in the corner or alone in the first column of a table from its entries."""
    if not rows:
        return rows, ""
    corner = rows[0][0]
    if corner and not looks_like_entry(corner):
        if len(rows) > 1 and not any(rows[0][1:]):
            return without_names(rows[1:]), corner
        alone = len(rows) > 1 and not any(row[0] for row in rows[1:])
        if alone and any(map(is_number_cell, rows[0][1:])) and len(rows[0]) > 1:
            return without_names([row[1:] for row in rows]), corner
        return without_names(rows), "" if _is_one_of_names(rows) else corner
    return without_names(rows), ""


def _is_one_of_names(rows: Rows) -> bool:
    """Return whether the text in a corner is the first name of rows or columns: q1 above q2."""
    head, firsts = rows[0], [row[0] for row in rows[1:]]
    if len(head) > 1 and are_alike(head[0], head[1]) and all(map(is_number_cell, firsts)):
        return True
    are_rows = all(map(is_number_cell, head[1:])) and not any(map(looks_like_entry, firsts))
    return are_rows and bool(firsts) and len(head) > 1 and not are_counts(head[1:])


def _without_sums(rows: Rows) -> Rows:
    """Return a table without its named sums: columns, and the last row."""
    if len(rows) > LEAST_WIDTH and _is_sum(rows[-1][0]) and not is_number_cell(rows[-2][0]):
        rows = rows[:-1]
    head = rows[0] if len(rows) > 1 and not any(map(is_number_cell, rows[0])) else []
    sums = [j for j, cell in enumerate(head) if j and _is_sum(cell)]
    return [[cell for j, cell in enumerate(row) if j not in sums] for row in rows]


def _is_sum(cell: str) -> bool:
    """Return whether a name is that of sums."""
    return _SUM.fullmatch(cell.strip(" *_:")) is not None


def _without_margin(rows: Rows) -> Rows:
    """Return a sheet without the empty columns before it."""
    margin = 0
    width = min(map(len, rows), default=0)
    while margin < width - 1 and not any(row[margin] for row in rows):
        margin += 1
    return [row[margin:] for row in rows]


def _filled(rows: Rows) -> Rows:
    """Pad rows whose last cells are missing."""
    width = max((i for row in rows for i, cell in enumerate(row, start=1) if cell), default=1)
    rows = [row[:width] for row in rows]
    return [row + [""] * (width - len(row)) if len(row) >= width - 1 else row for row in rows]
