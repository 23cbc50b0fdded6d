"""HTML pages as lines of text: tables as in Markdown, without parts for display only.

On attncalc's own pages, `data-step` and `data-head` identify a table (see `writing/html/page.py`),
and the equations and work beside it are not read.
"""

import html
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from itertools import pairwise
from typing import NamedTuple

_START = re.compile(r"\s{0,99}(?:<\?xml[^>]{0,200}>\s{0,9})?(?:<!--.{0,500}?-->\s{0,9})?"
                    r"<(?:!doctype html|html)\b", re.IGNORECASE | re.DOTALL)  # fmt: skip
_PART = re.compile(
    r"\s{0,99}<(?:h[1-6]|p|div|body|head|meta|style|section|article|main|table|math)\b"
)
"""The start of a part of a page."""
_OWN = re.compile(r"<meta name=\"?generator\"? content=\"?attncalc\b")
_STRUCK = ("s", "del", "strike")
_MARKS = {"b": "**", "strong": "**", "u": "__", "i": "*", "em": "*", "mark": "**"}
"""The signs around a number in a cell that is set off from others."""
_LANGUAGE = re.compile(r"<html lang=\"?(\w{2})\b")
_SKIPPED = ("style", "script", "template", "svg", "title", "head", "noscript", "button", "select",
            "annotation-xml")  # fmt: skip
_BESIDE = ("facts", "equation", "work", "legend", "remark", "on-paper", "unseen", "label",
           "patterns")  # fmt: skip
"""Classes of the elements beside the matrices of attncalc's own pages."""
_VOID = ("meta", "link", "br", "img", "input", "hr", "col", "wbr", "base", "source", "mspace")
_BLOCKS = ("p", "div", "li", "ul", "ol", "section", "main", "article", "pre", "br", "summary",
           "details", "figure", "figcaption", "header", "footer", "body", "blockquote", "caption",
           "dd", "dt")  # fmt: skip
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MATHEMATICS = {"mtable": " [", "mtr": "; ", "mtd": " ", "mfenced": "("}
"""Text for the parts of a matrix in MathML."""
_ENDS = {"mtable": "] ", "mfenced": ")"}
_SIGNS = {"mfrac": "/", "msub": "_", "msup": "^", "msqrt": ""}
"""The sign between the children of an element of MathML."""
_SIMPLE = re.compile(r"-?√?[\w.,∞]*")
_BLANKS = re.compile(r"\s+")
_LONG_REFERENCE = re.compile(r"&#([0-9]{9,}+)")
LONGEST_REFERENCE = 8
"""The number of digits of a reference that are kept; so many are never a character."""
_SEPARATORS = re.compile(r"\s*[;|]\s*|,?\s+")
_ENTRY = re.compile(r"[-−–+]?[\d√∞][\d.,/√]*")
_NUMBER = re.compile(r"\d{1,9}(?:[.,]\d{1,9})? ?%?")


def with_short_references(text: str) -> str:
    """Return a text whose numeric references have few digits and the same meaning.

    Python refuses to read a number of more than 4,300 digits.

    >>> with_short_references("&#00000000000960; &#" + "1" * 5000 + ";")
    '&#960; &#11111111;'
    """
    return _LONG_REFERENCE.sub(
        lambda found: f"&#{found[1].lstrip('0')[:LONGEST_REFERENCE] or '0'}", text
    )


def unescaped(text: str) -> str:
    r"""Return a text with its character references replaced by characters.

    Examples
    --------
    >>> unescaped("2 &lt; &#960;"), unescaped("&#" + "1" * 5000 + ";")
    ('2 < π', '\ufffd')
    """
    return html.unescape(with_short_references(text))


def is_html(text: str) -> bool:
    """Return whether a text is an HTML page, or a part of one without Markdown."""
    text = text.removeprefix("\ufeff")
    if _START.match(text):
        return True
    lines = (
        [line.lstrip() for line in text.split("\n") if line.strip()] if _PART.match(text) else []
    )
    return 2 * sum(line.startswith("<") for line in lines) > len(lines)


class Page(NamedTuple):
    """An HTML page as lines of text, whether attncalc wrote it, and the file line of each line.

    language: the code of its language, if it names one.
    """

    text: str
    is_own: bool
    places: tuple[int, ...] = ()
    language: str = ""


def text_of_html(text: str) -> Page:
    """Return the lines of a page, each at its line in the file if possible.

    >>> page = "<html><h2>Q</h2><table><tr><td>1<td>2</tr><tr><td>3<td>4</tr></table>"
    >>> print(text_of_html(page).text)
    ## Q
    <BLANKLINE>
    | 1 | 2 |
    | 3 | 4 |
    """
    reader = _Reader(is_own=_OWN.search(text[:20_000]) is not None)
    reader.feed(with_short_references(text))
    reader.close()
    reader.end_line()
    language = _LANGUAGE.search(text[:20_000])
    return Page(
        "\n".join(reader.lines),
        reader.is_own,
        tuple(reader.places),
        language[1] if language else "",
    )


class _Reader(HTMLParser):
    """Collects the lines of a page."""

    def __init__(self, *, is_own: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.is_own = is_own
        self.lines: list[str] = []
        self.places: list[int] = []
        self.rows_at: list[int] = []
        self.piece: list[str] = []
        self.skipping: list[str] = []
        self.prefix = self.mark = ""
        self.rows: list[list[str]] | None = None
        self.named_rows = False
        self.whose: tuple[str, str] = ("", "")
        self.in_cell = self.is_pre = self.in_caption = self.is_close = False
        self.caption = ""
        self.open: list[tuple[str, list[int]]] = []
        """The open elements of MathML, each with the places of its children in `piece`."""

    # -- elements
    # -----------------------------------------------------------------------------------

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Handle the start of an element."""
        said = {name: value or "" for name, value in attrs}
        self.mark = _MARKS.get(tag, "")
        if self.skipping or self._is_skipped(tag, said):
            if tag not in _VOID:
                self.skipping.append(tag)
        elif tag in _STRUCK:
            self.handle_data("~~")
        elif tag == "math" or self.open:
            self._begin_mathematics(tag, said)
        elif tag == "table":
            self._begin_table(said)
        elif self.rows is not None:
            self._in_table(tag, said)
        elif tag in (*_BLOCKS, *_HEADINGS):
            self.end_line()
            self.is_close = tag == "br"
            self._begin_block(tag, said)

    def handle_endtag(self, tag: str) -> None:
        """Handle the end of an element."""
        self.mark = ""
        if self.skipping:
            self._end_skipped(tag)
        elif tag in _STRUCK:
            self.handle_data("~~")
        elif self.open:
            self._end_mathematics(tag)
        elif tag == "table":
            self._end_table()
        elif self.rows is not None:
            self.in_cell = self.in_cell and tag not in ("td", "th", "tr")
            self.in_caption = self.in_caption and tag != "caption"
        elif tag in (*_BLOCKS, *_HEADINGS):
            self.end_line()
            self.is_pre = self.is_pre and tag != "pre"

    def _end_skipped(self, tag: str) -> None:
        if tag in self.skipping:
            while self.skipping.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        """Handle text."""
        if self.skipping:
            return
        if self.open:
            self.piece.append(data if self.open[-1][0] == "mtext" else data.strip())
        elif self.rows is not None:
            if self.in_cell:
                mark = self.mark if _NUMBER.fullmatch(data) else ""
                self.rows[-1][-1] += f"{mark}{data}{mark}"
            elif self.in_caption:
                self.caption += data
        elif self.is_pre:
            self._pre(data)
        else:
            self.piece.append(data)

    def _is_skipped(self, tag: str, said: dict[str, str]) -> bool:
        classes = said.get("class", "").split()
        if tag in _SKIPPED or "katex-html" in classes:
            return True
        return self.is_own and (tag in _HEADINGS or any(each in _BESIDE for each in classes))

    # -- mathematics ------------------------------------------------------------------------------

    def _begin_mathematics(self, tag: str, said: dict[str, str]) -> None:
        if said.get("display") == "block" and self.rows is None:
            self.end_line()
        if self.open:
            self.open[-1][1].append(len(self.piece))
        if tag not in _VOID:
            self.open.append((tag, []))
            self.piece.append(_MATHEMATICS.get(tag, ""))

    def _end_mathematics(self, tag: str) -> None:
        """End an element, and write its children as in a line of text: 1/2, √2, K^T."""
        if all(name != tag for name, _ in self.open):
            return
        while self.open:
            name, starts = self.open.pop()
            if name in _SIGNS and starts:
                ends = pairwise((*starts, len(self.piece)))
                children = ["".join(self.piece[start:stop]) for start, stop in ends]
                self.piece[starts[0] :] = [_written(name, children)]
            elif name == "annotation" and self.open:  # the TeX of all of it
                self.piece[self.open[0][1][0] :] = [f" ${self.piece[-1]}$ "]
            self.piece.append(_ENDS.get(name, ""))
            if name == tag:
                break
        if not self.open and self.in_cell and self.rows:
            self.rows[-1][-1] += "".join(self.piece)
            self.piece = []

    # -- words ------------------------------------------------------------------------------------

    def _begin_block(self, tag: str, said: dict[str, str]) -> None:
        self.is_pre = self.is_pre or tag == "pre"
        self.prefix = "## " if tag in _HEADINGS else "- " if tag == "li" else ""
        if self.is_own and "data-weights" in said:
            self._heading_of_map(said["data-weights"], said.get("data-head", ""))

    def _heading_of_map(self, weights: str, head: str) -> None:
        of = f": {weights}" if "." in weights else ""
        self._write([f"## What each output attends to{of}", *([f"Head {head}"] if head else [])])

    def _pre(self, data: str) -> None:
        first, *others = data.split("\n")
        self.piece.append(first)
        for count, each in enumerate(others):
            self.end_line(keep=True)
            self.places[-1] += count
            self.piece.append(each)

    def end_line(self, *, keep: bool = False) -> None:
        """Write the words since the last line."""
        text = "".join(self.piece)
        text = text.rstrip() if self.is_pre or keep else _BLANKS.sub(" ", text).strip()
        self.piece = []
        if text or keep:
            self._write([self.prefix + text], close=keep)
        if not keep:
            self.prefix = ""

    def _write(self, lines: list[str], *, close: bool = False) -> None:
        """Write lines at their position in the file, after a blank one unless they are close."""
        if not (close or self.is_close):
            self.lines += [""] * (self.getpos()[0] - 1 - len(self.lines))
            if self.lines and self.lines[-1]:
                self.lines.append("")
        self.is_close = False
        self.lines += lines
        self.places += [self.getpos()[0]] * (len(self.lines) - len(self.places))

    # -- tables -----------------------------------------------------------------------------------

    def _begin_table(self, said: dict[str, str]) -> None:
        self.end_line()
        if self.rows is None:
            self.rows = []
            name = said.get("data-step") or said.get("data-given") or ""
            self.whose = (name, said.get("data-head", "")) if self.is_own else ("", "")
            self.named_rows = False

    def _in_table(self, tag: str, said: dict[str, str]) -> None:
        assert self.rows is not None
        if tag == "caption" and not self.is_own:
            self.caption, self.in_caption = "", True
        elif tag == "tr":
            self.rows.append([])
            self.rows_at.append(self.getpos()[0])
        elif tag in ("td", "th"):
            self.rows = self.rows or [[]]
            self.rows_at = self.rows_at or [self.getpos()[0]]
            self.rows[-1].append("")
            self.in_cell = True
            self.named_rows = self.named_rows or said.get("scope") == "row"
        elif tag == "input" and self.in_cell:
            self.rows[-1][-1] += said.get("value", "")
        elif tag in ("br", "p", "div") and self.in_cell:
            self.rows[-1][-1] += "\r"

    def _end_table(self) -> None:
        rows = [[_cell(text) for text in row] for row in self.rows or [] if row]
        at = [at for at, row in zip(self.rows_at, self.rows or [], strict=False) if row]
        self.rows, self.rows_at, self.in_cell = None, [], False
        name, head = self.whose
        lines = [f"## `{name}`"] if name else []
        if caption := _BLANKS.sub(" ", self.caption).strip():
            lines += ["", caption]
        self.caption = ""
        lines += ["", f"Head {head}"] if head else []
        lines += [""] if lines else []
        self._write([*lines, *_piped(rows, is_own=bool(name))])
        self.places[len(self.places) - len(at) :] = at


def _cell(text: str) -> str:
    """Return the text of a cell, whose lines a carriage return separates, on one."""
    lines = [line for each in text.split("\r") if (line := _BLANKS.sub(" ", each).strip())]
    return matrix_of_lines(lines) or " ".join(lines)


def matrix_of_lines(lines: Sequence[str]) -> str:
    """Return the lines of a cell as one matrix; "" if they are not rows of numbers.

    >>> matrix_of_lines(["1 2", "0 -1"]), matrix_of_lines(["first", "1"])
    ('[1 2; 0 -1]', '')
    """
    rows = [_SEPARATORS.split(line.strip()) for line in lines]
    are_numbers = all(_ENTRY.fullmatch(cell) for row in rows for cell in row)
    is_matrix = are_numbers and len(rows) > 1 and len({*map(len, rows)}) == 1 < len(rows[0])
    return f"[{'; '.join(lines)}]" if is_matrix else ""


def _written(name: str, children: list[str]) -> str:
    """Return the children of an element of MathML as in a line of text."""
    parts = [each if _SIMPLE.fullmatch(each) else f"({each})" for each in children]
    if name == "msqrt":
        only = "".join(children)
        return f"√{only}" if _SIMPLE.fullmatch(only) else f"√({only})"
    return _SIGNS[name].join([children[0] if name != "mfrac" else parts[0], *parts[1:]])


def _piped(rows: list[list[str]], *, is_own: bool) -> list[str]:
    """Return a table as in Markdown; its names as on attncalc's own pages."""
    cells = [[cell.replace("|", "&#124;") for cell in row] for row in rows]
    if is_own and cells:
        head, *others = cells
        named = [[f"**{row[0]}**", *row[1:]] for row in others]
        cells = [["", *head[1:]], ["---", *["---:"] * (len(head) - 1)], *named]
    return [f"| {' | '.join(row)} |" for row in cells]
