"""HTML tables on one line: word processors and notebooks spread a cell over many."""

import re

_ATTRIBUTES = re.compile(r"<(/?[a-zA-Z][\w:]{0,12})\s[^<>]{0,4000}>")
_HIDDEN = re.compile(r"<[!?][^<>]{0,400}>")
_CELLS = re.compile(r"</?t[dhr]>", re.IGNORECASE)
_BLOCKS = re.compile(r"</?(?:p|div|ul|ol|li|pre|h[1-6]|br|o:p|a|caption|center) ?/?>", re.I)
_TAG = re.compile(r"<[^<>]{0,80}>")


def with_flat_tables(text: str) -> str:
    r"""Return a text with each table, unless it contains others, on its first line.

    Examples
    --------
    >>> with_flat_tables("<table><tr><td style='x'>\n<p>1</p>\n</td></tr></table>")
    '<table><tr><td> 1 </td></tr></table>\n\n'
    """
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


def _flat(table: str) -> str:
    """Return a table on one line, if each of its cells contains one text; otherwise unchanged."""
    line = " ".join(each.strip() for each in table.split("\n"))
    line = _ATTRIBUTES.sub(r"<\1>", _HIDDEN.sub("", line))
    for cell in _CELLS.split(line):
        texts = [_TAG.sub("", piece).strip() for piece in _BLOCKS.split(cell)]
        if sum(map(bool, texts)) > 1:
            return table
    return " ".join(_BLOCKS.sub(" ", line).split()) + "\n" * table.count("\n")
