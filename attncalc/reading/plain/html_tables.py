"""HTML tables within other texts, as tables of Markdown."""

import re

from attncalc.reading.html_page import matrix_of_lines, text_of_html
from attncalc.reading.plain.marks import BREAK

_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_ROW = re.compile(r"^[ \t]*\|.*<br.*$", re.IGNORECASE | re.MULTILINE)
"""A row of a Markdown table with a cell of several lines."""


def with_flat_tables(text: str) -> str:
    r"""Return a text with each table, unless it contains others, as Markdown at its first line.

    Examples
    --------
    >>> with_flat_tables("<table><tr><td style='x'>\n<p>1</p>\n</td></tr></table>").strip("\ue006")
    '| 1 |\ue006\n\n'
    """
    text = _ROW.sub(lambda row: "|".join(map(_of_breaks, row[0].split("|"))), text)
    lower = text.lower()
    pieces: list[str] = []
    position = 0
    while (end := lower.find("</table>", position)) >= 0:
        stop = end + len("</table>")
        start = lower.rfind("<table", position, end)
        start = stop if start < 0 else start
        pieces += [text[position:start], _flat(text[start:stop])]
        position = stop
    return "".join([*pieces, text[position:]])


def _of_breaks(cell: str) -> str:
    """Return a cell of a Markdown table with lines of numbers as one matrix."""
    return matrix_of_lines([line.strip() for line in _BREAK.split(cell)]) or cell


def _flat(table: str) -> str:
    lines = [line for line in text_of_html(table).text.split("\n") if line]
    return BREAK.join(["", *lines, "\n" * table.count("\n")])
