"""Counted lines, rewritten as rows of matrices."""

import re
from collections.abc import Callable, Collection, Iterator

from attncalc.reading.plain.marks import COLUMN, COMMA
from attncalc.reading.plain.rows import split_row

_COUNTED_LINE = re.compile(
    r"(?:(?P<before>[^\d\t:=|]{0,30}?[^\W\d_][^\d\t:=|]{0,9}?)(?P<number>\d{1,2})"
    r"|\s{0,20}(?P<first>\d{1,2})[.ªº]{0,2} ?(?P<word>[^\W\d_]{2,20}))"
    r"(?P<behind>[^\d\t,;|]{0,9}?) ++(?P<row>[-+.\d][^\t|]*)"
)
"""A row, and a word with its number: row 1: 0 1, or 1. row: 0 1."""
_COUNT_INSIDE = re.compile(
    r"\b([^\W\d_]{2,20}) (\d{1,2})"
    rf"(?=: ?[-+.\d(\[]| ?[(\[] ?[-+.{COMMA}\d]{{1,12}}[,; ]{{1,2}}[-+.\d])"
)
_MARKED = re.compile(r"^[\s*#>+-]*(?:\[[ xX✓]\]\s*)?")
"""The mark of a list, and its box."""
SHORT, LEAST = 300, 2
"""The length of a counted line, at most, and the number of lines and of entries, at least."""


def with_counted_rows(
    text: str, names_a_row: Callable[[str], bool], shapes: Collection[tuple[int, ...]] = ()
) -> str:
    r"""Return a text with "row" or "column" for the unknown words that count lines of a matrix.

    Parameters
    ----------
    text
        The text.
    names_a_row
        Returns whether words name a row of a step: these stay.
    shapes
        The shapes of the steps. Words are for columns if their lines fit only as columns.

    Examples
    --------
    >>> with_counted_rows("पंक्ति 1:  0  1\nपंक्ति 2:  1  2", lambda words: False)
    'row 1: 0  1\nrow 2: 1  2'
    >>> with_counted_rows("1. oszlop: 0 1 4\n2. oszlop: 1 2 4", lambda words: False, [(3, 2)])
    'column 1: 0 1 4\ncolumn 2: 1 2 4'
    """
    lines = [_with_counts_inside(line, names_a_row) for line in text.split("\n")]
    groups = [*_counted_groups(lines, names_a_row)]
    fits = {(words, (len(rows), width)) for _, words, rows, width in groups}
    for start, words, rows, _ in groups:
        sizes = {size for each, size in fits if each == words and size[0] != size[1]}
        are_turned = sizes and all(size[::-1] in shapes and size not in shapes for size in sizes)
        kind = "column" if are_turned or COLUMN.search(words) else "row"
        own = [f"{kind} {k}: {row}" for k, row in enumerate(rows, start=1)]
        lines[start : start + len(own)] = own
    return "\n".join(lines)


def _counted_line(line: str) -> tuple[str, int, str] | None:
    """Return the words and the number before a row on a line, and the row."""
    match = _COUNTED_LINE.fullmatch(line) if len(line) < SHORT else None
    if match is None:
        return None
    if match["first"]:
        return match["word"], int(match["first"]), match["row"]
    return match["before"], int(match["number"]), match["row"]


def _counted_groups(
    lines: list[str], names_a_row: Callable[[str], bool]
) -> Iterator[tuple[int, str, list[str], int]]:
    """Yield where lines begin that the same words count, the words, the rows, and their width."""
    found = [_counted_line(line) for line in lines]
    for start, first in enumerate(found):
        if first is None or first[1] != 1:
            continue
        said = _MARKED.sub("", first[0]) + "1"
        if names_a_row(said) or names_a_row(said.rpartition(" of ")[2]):
            continue
        rows = list[str]()
        for k, each in enumerate(found[start:], start=1):
            if not each or each[:2] != (first[0], k) or len(split_row(each[2]) or ()) < LEAST:
                break
            rows.append(each[2])
        if len(rows) >= LEAST:
            yield start, first[0], rows, len(split_row(rows[0]) or ())


def _with_counts_inside(line: str, names_a_row: Callable[[str], bool]) -> str:
    """Return a line with "row" for the unknown word that counts the rows on it: rad 1: 0 1."""
    found = _COUNT_INSIDE.findall(line) if len(line) < SHORT else []
    words = {word for word, _ in found}
    if len(found) < LEAST or len(words) > 1 or names_a_row(f"{found[0][0]} 1"):
        return line
    if [int(number) for _, number in found] != [*range(1, len(found) + 1)]:
        return line
    return _COUNT_INSIDE.sub(r"row \2", line)
