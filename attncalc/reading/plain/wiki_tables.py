"""Tables of wikis as tables of Markdown: {| … |- | 1 || 2 … |}, and headings ||a||b||."""

import re
from collections.abc import Iterator

_CELLS = re.compile(r"\|\||!!")
_RULE = "|---|"
"""A line of a table without cells."""


def with_flat_wiki(text: str) -> str:
    r"""Return a text with bars between the cells of its wiki tables; lines stay lines.

    Examples
    --------
    >>> print(with_flat_wiki("{|\n|+ Q\n! a !! b\n|-\n| 1\n| 2\n|}"))
    |---|
    Q
    | a | b |
    |---|
    | 1 | 2 |
    |---|
    |---|
    """
    if "{|" in text:  # a page of a wiki, with bold and italic words
        text = text.replace("'''", "").replace("''", "")
    return "\n".join(_flat(text.split("\n")))


def _flat(lines: list[str]) -> Iterator[str]:
    start = 0
    while start < len(lines):
        stop = _end_of_table(lines, start)
        is_head = lines[start].startswith("||") and lines[start].rstrip().endswith("||")
        plain = lines[start].replace("||", "|") if is_head else lines[start]
        yield from _rows(lines[start:stop]) if stop else [plain]
        start = stop or start + 1


def _end_of_table(lines: list[str], start: int) -> int:
    """Return the line after a table that begins here; 0 if none does."""
    if not lines[start].startswith("{|") or "\\" in lines[start]:
        return 0
    for i in range(start + 1, len(lines)):
        if lines[i].startswith("|}"):
            return i + 1
        if not lines[i].lstrip().startswith(("|", "!")):
            return 0
    return 0


def _rows(lines: list[str]) -> list[str]:
    """Return the lines of one table, each row on its first, below its caption."""
    rows: dict[int, list[str]] = {}
    captions = {i: line[2:].strip() for i, line in enumerate(lines) if line.startswith("|+")}
    first = -1
    for i, line in enumerate(map(str.strip, lines)):
        if line[:1] not in ("|", "!") or line[:2] in ("|-", "|+", "|}"):
            first = -1
            continue
        first = i if first < 0 else first
        cells = [cell.rpartition("|")[2].strip() for cell in _CELLS.split(line[1:])]
        rows.setdefault(first, []).extend(cells)
    found = {**captions, **{i: f"| {' | '.join(cells)} |" for i, cells in rows.items()}}
    return [found.get(i, _RULE) for i in range(len(lines))]
