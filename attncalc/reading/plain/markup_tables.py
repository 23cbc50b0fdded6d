"""Tables of HTML, wikis, Typst and psql within other texts, as tables of Markdown."""

import re

from attncalc.reading.html_page import matrix_of_lines, text_of_html
from attncalc.reading.plain.marks import BREAK

_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_ROW = re.compile(r"^[ \t]*\|.*<br.*$", re.IGNORECASE | re.MULTILINE)
"""A row of a Markdown table with a cell of several lines."""
_WIKI = re.compile(r"^\{\|(?!.*\\).*\n(?:(?!\|\})[ \t]*+[|!].*\n)*+\|\}.*$", re.MULTILINE)
_WIKI_HEAD = re.compile(r"^\|\|.*\|\|[ \t]*$", re.MULTILINE)
_WIKI_CELLS = re.compile(r"\|\||!!")
_NO_ROW = "|---|"
"""A line of a table without cells."""
_TYPST_ROW = re.compile(
    r"[ \t]*+(?:table\.header\()?((?:\[[^\[\]\n]{0,80}\],?[ \t]*+){2,40}+)\)?,?[ \t]*+"
)
_TYPST_CELL = re.compile(r"\[([^\[\]]{0,80})\]")
_PSQL = re.compile(
    r"^([^|\n]*+\|.*)\n[ \t]{0,40}(-[-+]{2,2000}-)[ \t]*((?:\n[^|\n]*+\|.*)*+)$", re.MULTILINE
)


def with_wiki_tables(text: str) -> str:
    r"""Return a text with the tables of its wiki as Markdown; lines stay lines.

    Examples
    --------
    >>> print(with_wiki_tables("{|\n|+ Q\n! a !! b\n|-\n| 1\n| 2\n|}"))
    |---|
    Q
    | a | b |
    |---|
    | 1 | 2 |
    |---|
    |---|
    """
    if "{|" in text:  # a page of a wiki, with bold and italic words
        text = _WIKI.sub(_of_wiki, text.replace("'''", "").replace("''", ""))
    return _WIKI_HEAD.sub(lambda head: head[0].replace("||", "|"), text)


def _of_wiki(table: "re.Match[str]") -> str:
    """Return the lines of a table, each row on its first."""
    lines, first = list[str](), -1
    for line in map(str.strip, table[0].split("\n")):
        if line[:1] not in ("|", "!") or line[:2] in ("|-", "|+", "|}"):
            first = -1
            lines.append(line[2:].strip() if line.startswith("|+") else _NO_ROW)
            continue
        cells = [cell.rpartition("|")[2].strip() for cell in _WIKI_CELLS.split(line[1:])]
        lines.append(f"| {' | '.join(cells)} |" if first < 0 else _NO_ROW)
        if first >= 0:
            lines[first] += f" {' | '.join(cells)} |"
        first = len(lines) - 1 if first < 0 else first
    return "\n".join(lines)


def with_typst_tables(text: str) -> str:
    """Return a text with the rows of Typst's tables between bars: [1], [2], -> | 1 | 2 |."""
    if "table(" not in text or "columns:" not in text:
        return text
    lines, is_table = text.split("\n"), False
    for i, line in enumerate(lines):
        if "table(" in line or is_table:
            is_table = line.strip() != ")"
            if row := _TYPST_ROW.fullmatch(line):
                lines[i] = f"| {' | '.join(_TYPST_CELL.findall(row[1]))} |"
            elif not line.strip("() ,#").startswith(("[", "$")):
                lines[i] = ""
    return "\n".join(lines)


def with_bars(text: str) -> str:
    r"""Return a text with outer bars around tables without these, as psql prints them.

    Examples
    --------
    >>> print(with_bars(" a | b\n---+---\n 1 | 2"))
    | a | b|
    |---|---|
    | 1 | 2|
    """
    return _PSQL.sub(_with_outer_bars, text) if "-+-" in text else text


def _with_outer_bars(table: "re.Match[str]") -> str:
    lines = [table[1], table[2].replace("+", "|"), *table[3].split("\n")[1:]]
    return "\n".join(f"|{line}|" for line in lines)


def with_flat_tables(text: str) -> str:
    r"""Return a text with the tables of its HTML as Markdown, each at its first line.

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
        lines = [line for line in text_of_html(text[start:stop]).text.split("\n") if line]
        ends = "\n" * text.count("\n", start, stop)
        pieces += [text[position:start], BREAK.join(["", *lines, ends])]
        position = stop
    return "".join([*pieces, text[position:]])


def _of_breaks(cell: str) -> str:
    """Return a cell of a Markdown table with lines of numbers as one matrix."""
    return matrix_of_lines([line.strip() for line in _BREAK.split(cell)]) or cell
