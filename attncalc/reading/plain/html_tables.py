"""HTML tables on one line: word processors and notebooks spread a cell over many."""

import re
from collections.abc import Sequence

_ATTRIBUTES = re.compile(r"<(/?[a-zA-Z][\w:]{0,12})\s[^<>]{0,4000}>")
_HIDDEN = re.compile(r"<[!?][^<>]{0,400}>")
_CELLS = re.compile(r"(</?t[dhr]>)", re.IGNORECASE)
_BLOCKS = re.compile(r"</?(?:p|div|ul|ol|li|pre|h[1-6]|br|o:p|a|caption|center) ?/?>", re.I)
_TAG = re.compile(r"<[^<>]{0,80}>")
_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_SEPARATORS = re.compile(r"\s*[;|]\s*|,?\s+")
_NUMBER = re.compile(r"[-−–+]?[\d√∞][\d.,/√]*")
_ROW = re.compile(r"^[ \t]*\|.*<br.*$", re.IGNORECASE | re.MULTILINE)
"""A row of a Markdown table with a cell of several lines."""


def with_flat_tables(text: str) -> str:
    r"""Return a text with each table, unless it contains others, on its first line.

    Examples
    --------
    >>> with_flat_tables("<table><tr><td style='x'>\n<p>1</p>\n</td></tr></table>")
    '<table><tr><td> 1 </td></tr></table>\n\n'
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


def matrix_of_lines(lines: Sequence[str]) -> str:
    """Return the lines of a cell as one matrix; "" if they are not rows of numbers.

    >>> matrix_of_lines(["1 2", "0 -1"]), matrix_of_lines(["first", "1"])
    ('[1 2; 0 -1]', '')
    """
    rows = [_SEPARATORS.split(line.strip()) for line in lines]
    are_numbers = all(_NUMBER.fullmatch(cell) for row in rows for cell in row)
    is_matrix = are_numbers and len(rows) > 1 and len({*map(len, rows)}) == 1 < len(rows[0])
    return f"[{'; '.join(lines)}]" if is_matrix else ""


def _of_breaks(cell: str) -> str:
    """Return a cell of a Markdown table with lines of numbers as one matrix."""
    return matrix_of_lines([line.strip() for line in _BREAK.split(cell)]) or cell


def _flat(table: str) -> str:
    """Return a table on one line, unless a cell contains several texts that are no matrix."""
    line = " ".join(each.strip() for each in table.split("\n"))
    line = _ATTRIBUTES.sub(r"<\1>", _HIDDEN.sub("", line))
    pieces = _CELLS.split(line)
    for i, cell in enumerate(pieces):
        texts = [text for each in _BLOCKS.split(cell) if (text := _TAG.sub("", each).strip())]
        if len(texts) > 1:
            pieces[i] = matrix_of_lines(texts)
            if not pieces[i]:
                return table
    return " ".join(_BLOCKS.sub(" ", "".join(pieces)).split()) + "\n" * table.count("\n")
