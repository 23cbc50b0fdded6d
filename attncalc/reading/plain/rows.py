"""Rows of numbers without brackets: their separators, and the names before them."""

import re
from collections import Counter
from collections.abc import Container, Sequence
from copy import copy
from functools import lru_cache

from attncalc.reading.plain.marks import CELL, COMMA
from attncalc.reading.plain.numerals import (
    is_number_cell,
    looks_like_entry,
)

Rows = list[list[str]]

LONGEST_ROW = 20_000
SHORT = 200
LONGEST_OF_WORK = 1000
_STRONG = re.compile(rf"[\t|│{CELL}]")
_WIDE = re.compile(r" {2,}")
_LABEL = re.compile(
    r"\s*+(?:[-*·]\s++)?(?P<label>(?:row|line|zeile|fila|ligne|token|tok|input|output|word|pos|position|"
    r"query|key|head)\s*\d{1,4}|[A-Za-z]\w{0,3}_?\{?\d{1,3}\}?|[^\W\d_][\w' ()-]{0,30})"
    r"(?:\s*+(?P<sign>[:=|→]|->)|[^\S\t]*+\t)\s*+(?P<rest>\S.*)",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?<=\d)\s++\([^()\d=]{2,60}\)\s*+$")
"""Words in brackets after a row: tok 1 → 1 (only sees itself)."""
_BARE_LABEL = re.compile(
    r"\s*(?P<label>(?:row|line|zeile|fila|ligne|token|tok|input|output|query|key|word) ?\d{1,3}"
    r"|[^\W\d_][\w'()-]{0,30})[:.)]?\s+(?P<rest>[^\s=≈].*)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s*(?:row |zeile |fila |ligne |token )?(\d{1,3})[.):]\s+(?P<rest>\S.*)", re.I
)
_HAS_DIGIT = re.compile(r"[\d½¼¾⅓⅔]|__|[?…]|∞")
_JOINED = re.compile(r"(?<=[\d.)])\s?/\s?(?=[\d(√])")
_PROPER = re.compile(r"(\d{1,6})\s?/\s?(\d{1,6})")
_WHOLE = re.compile(r"[-+]?\d{1,6}")
_DIGITS = re.compile(r"\d+")
_RELATION = re.compile(r"[=≈:]")
_LIST_ITEM = re.compile(r"\s{0,40}\(?\d{1,2}[.)]\s+[^\W\d_]")
_APART, _GLUED = re.compile(r"\d\s+[-+]?[.\d]"), re.compile(r"(?<=\d),(?=\d)")
"""Blanks between numbers, where a comma within one is that of a decimal: 0,5 -1,25."""
_AND = re.compile(r",? (?:and|und|et|y|e|en|和|と) (?=[-+−–.\d])", re.IGNORECASE)
_CROSSES = ("x", "X", "×", "*", "/")
"""Signs in the entries that a mask excludes."""
SCANNED = re.compile(r"[-−–]?[\dOoQlI]{0,6}[." + COMMA + r"](?=[OoQlI]*\d)[\dOoQlI]{1,6}")
"""A decimal with letters in place of digits, by a scanner or by hand: O,00 and l3.25."""
_BESIDE = re.compile(r" {2,}|\t+|[,;|] ?")
_ARITHMETIC = re.compile(r"(?:sqrt|[-+*·×/√().\d " + COMMA + r"]){2,80}")
_ALONE = re.compile(r"[-+]?[.\d" + COMMA + r"]{1,40}")
_RESULT = re.compile(r"[-+]?[.\d][./\d" + COMMA + r"]{0,40}")


class Spaced(list[str]):
    """Cells separated by blanks: some may belong together, such as 2 1/2."""


def split_row(text: str) -> list[str] | None:
    """Return the cells of a line that contains only numbers; None for any other line.

    >>> split_row("1, 3"), split_row(" 0.5  -1/2 "), split_row("1 - 2"), split_row("a 1")
    (['1', '3'], ['0.5', '-1/2'], None, None)
    """
    if len(text) > LONGEST_ROW or not _HAS_DIGIT.search(text):
        return None
    cells = _cells_of_short(text) if len(text) < SHORT else _cells(text)
    return copy(cells)


def _cells(text: str) -> list[str] | None:
    cells = parted(text)
    if not cells or not looks_like_entry(cells[0]):
        return None
    masked, stop = _CROSSES if _STRONG.search(text) else (), len(cells)
    while cells[stop - 1] in _CROSSES[:3]:  # not between numbers, where it is a product
        stop -= 1
    return cells if all(looks_like_entry(c) or c in masked for c in cells[1:stop]) else None


# the same line is read by everything that it might begin or continue
_cells_of_short = lru_cache(1000)(_cells)


def listed_row(text: str) -> list[str] | None:
    """Return the cells of a row with an optional word before the last: 1, 2 and 3.

    >>> listed_row("1 e 3"), listed_row("0.5, 2 and -1/2"), listed_row("1 2")
    (['1', '3'], ['0.5', '2', '-1/2'], ['1', '2'])
    """
    return split_row(_AND.sub("; " if ";" in text else ", ", text))


def parted(text: str) -> list[str]:
    """Split a row at its bars and tabs, else at commas, else at semicolons, else at blanks."""
    if _STRONG.search(text):
        return [cell.strip() for cell in _STRONG.split(text.strip(" |│"))]
    clean = text.strip(" \t,;")
    if clean.count(" / ") > 1 and all(map(looks_like_entry, cells := clean.split(" / "))):
        return [cell.strip() for cell in cells]
    if "," in clean and ", " not in clean and _APART.search(clean):
        return _words(_GLUED.sub(COMMA, clean))
    for sign in (",", ";"):
        if sign in clean:
            return [cell.strip() for cell in clean.split(sign)]
    wide = [cell.strip() for cell in _WIDE.split(clean)]
    if len(wide) > 1 and all(" " not in cell or looks_like_entry(cell) for cell in wide):
        return wide
    return _words(clean)


def _words(text: str) -> list[str]:
    """Split a line at its blanks, but not beside a sign that belongs to a number."""
    found: list[str] = []
    glue = False
    for word in _JOINED.sub("/", text).split():
        if glue or (found and word in ("●", "○", "†", "✓", "%")):
            found[-1] += word
            glue = False
        elif word in ("≈", "~") or (word in ("-", "+") and not found):
            found.append(word)
            glue = True
        else:
            found.append(word)
    stop = len(found)
    while stop > 1 and found[stop - 1] == "-":  # at the end they are masked entries
        stop -= 1
    stop = len(found) if len(found) < 3 else stop
    if any(word in ("-", "+", "/", "*", "·", "×", "^") for word in found[:stop]):
        return []
    return Spaced(found)


def row_of_equations(text: str) -> list[str] | None:
    """Return the results of calculations side by side; None for any other line.

    >>> row_of_equations("2/√3 = 1.155   -3/√3 = -1.732")
    ['1.155', '-1.732']
    >>> row_of_equations("e^2 = 7.39  e^1 = 2.72")
    """
    if len(text) > LONGEST_OF_WORK or not ("=" in text or "≈" in text):
        return None
    found = [result_of(piece) for piece in _BESIDE.split(text.strip())]
    return [each for each in found if each] if len(found) > 1 and all(found) else None


def result_of(piece: str) -> str:
    """Return the value of a calculation with only numbers; powers of e are intermediate results.

    >>> result_of("1·2 + 3 = 5"), result_of("e^2 = 7.39"), result_of("3")
    ('5', '', '')
    """
    left, _, right = piece.replace("≈", "=").partition("=")
    is_work = _ARITHMETIC.fullmatch(left.strip()) and not _ALONE.fullmatch(left.strip())
    return right.strip() if is_work and _RESULT.fullmatch(right.strip()) else ""


def labelled_row(text: str, labels: Container[str] = ()) -> tuple[str, list[str]] | None:
    """Return the name before a row, and its cells; None without a name.

    >>> labelled_row("x1: 1 3"), labelled_row("row 2 | 1/2, -1"), labelled_row("cat 1 3", ["cat"])
    (('x1', ['1', '3']), ('row 2', ['1/2', '-1']), ('cat', ['1', '3']))
    """
    if len(text) > LONGEST_ROW:
        return None
    if (match := _LABEL.fullmatch(text)) and match["sign"] != "=":
        rest = _REMARK.sub("", match["rest"])
        cells = listed_row(rest) or row_of_equations(rest)
        if cells:
            return match["label"].strip(), cells
    if match := _COUNTED.fullmatch(text):
        cells = split_row(match["rest"])
        if cells and len(cells) > 1:
            return match[1], cells
    if match := _BARE_LABEL.fullmatch(text):
        cells = split_row(match["rest"])
        if cells and (len(cells) > 1 or match["label"] in labels):
            return match["label"].strip(), cells
    return None


def broken_row(text: str, width: int) -> list[str] | None:
    """Return the cells of a row with a malformed number: as many as its neighbors have."""
    if _RELATION.search(text) or _LIST_ITEM.match(text):
        return None
    cells = parted(text)
    if len(cells) != width or width < 2:
        return None
    bad = [cell for cell in cells if not looks_like_entry(cell)]
    if 2 * sum(map(is_number_cell, cells)) < len(cells):
        return None
    are_numbers = all(
        len(cell) <= 2 or (len(cell) <= 8 and _HAS_DIGIT.search(cell)) for cell in bad
    )
    return cells if are_numbers and 2 * len(bad) <= len(cells) else None


def fitted(rows: Rows, width: int = 0) -> Rows:
    """Return rows of one width, if mixed numbers and single cells allow it.

    `2 1/2` beside other numbers is one number or two: the width of the other rows decides.

    >>> fitted([Spaced(["1", "3"]), Spaced(["2", "1/2", "-2"])])
    [['1', '3'], ['2 1/2', '-2']]
    """
    rows = [_parted_cell(row) for row in rows]
    if all(not _mixed(row) for row in rows):
        return rows
    sure = [len(row) for row in rows if not _mixed(row)]
    target = Counter(sure).most_common(1)[0][0] if sure else width
    if not target:
        target = min(len(row) - len(_mixed(row)) for row in rows)
        if any(len(row) - len(_mixed(row)) > target or len(row) < target for row in rows):
            return rows
    return [_merged(row, target) for row in rows]


def _parted_cell(row: list[str]) -> list[str]:
    """Split the only cell of a row that contains several numbers."""
    if len(row) == 1 and not looks_like_entry(row[0]):
        return split_row(row[0]) or row
    return row


def _mixed(row: list[str]) -> list[int]:
    """Return the positions of whole numbers followed by a blank and a proper fraction."""
    if not isinstance(row, Spaced):
        return []
    return [
        i
        for i in range(len(row) - 1)
        if _WHOLE.fullmatch(row[i])
        and row[i].strip("+-0")
        and (part := _PROPER.fullmatch(row[i + 1]))
        and int(part[1]) < int(part[2])
    ]


def _merged(row: list[str], target: int) -> list[str]:
    places = _mixed(row)
    if len(row) - target != len(places):
        return row
    found: list[str] = []
    for i, cell in enumerate(row):
        if i - 1 in places:
            found[-1] += " " + cell
        else:
            found.append(cell)
    return found


def without_names(rows: Rows) -> Rows:
    """Return a table's entries, without the names of its rows and columns.

    A line of words contains names; so do consecutive whole numbers above and before the entries,
    as in attncalc's own tables.

    >>> without_names([["", "1", "2"], ["1", "0.3", "0.7"]])
    [['0.3', '0.7']]
    >>> without_names([["1", "3"], ["-1", "1"]])
    [['1', '3'], ['-1', '1']]
    """
    if not rows or not rows[0]:
        return rows
    first = [row[0] if row else "" for row in rows[1:]]
    is_table = len(rows) > 1 and len(rows[0]) > 1 and not is_number_cell(rows[0][0])
    is_table = is_table and not are_alike(rows[0][0], first[0])
    if is_table and _are_names(rows[0][1:]) and _are_names(first):
        return [row[1:] for row in rows[1:]]
    if len(rows) > 1 and (_are_words(rows[0]) or not any(cell.strip() for cell in rows[0])):
        rows = rows[1:]
    if len(rows[0]) > 1 and _are_words([row[0] for row in rows if row]):
        rows = [row[1:] for row in rows]
    return rows


def without_counted_columns(rows: Rows) -> Rows | None:
    """Return rows without those that count their columns, from 0 or from 1; None without them."""
    return rows[1:] if len(rows) > 1 < len(rows[0]) and are_counts(rows[0]) else None


def without_counted_rows(rows: Rows) -> Rows | None:
    """Return rows without the numbers that count them, from 0 or from 1; None without them.

    They can also be entries: the shape decides, or `without_uneven_counts`.
    """
    firsts = [row[0] for row in rows if row]
    if len(firsts) < max(2, len(rows)) or min(map(len, rows)) < 2:
        return None
    return [row[1:] for row in rows] if are_counts(firsts) else None


def are_counts(cells: Sequence[str]) -> bool:
    """Return whether cells count from 0 or from 1."""
    return any([*cells] == [str(i + start) for i in range(len(cells))] for start in (0, 1))


def are_alike(name: str, other: str) -> bool:
    """Return whether two names differ only in their numbers: Token 1, Token 2."""
    return bool(name) and _DIGITS.sub("#", name) == _DIGITS.sub("#", other)


def _are_words(cells: Sequence[str]) -> bool:
    return bool(cells) and all(not looks_like_entry(cell) for cell in cells)


def _are_names(cells: Sequence[str]) -> bool:
    """Return whether cells contain a word and no blank, or count up by one."""
    if all(cells) and not all(cell in _CROSSES or is_number_cell(cell) for cell in cells):
        return True
    numbers = [cell.strip("* `") for cell in cells]
    if not all(number.isdigit() and len(number) < 9 for number in numbers):
        return False
    start = int(numbers[0])
    return start > 0 and numbers == [str(start + i) for i in range(len(numbers))]
