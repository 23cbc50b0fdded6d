"""Lines that belong together: work that goes on below, and rows in brackets of their own."""

import re
from collections.abc import Sequence

from attncalc.reading.plain.grids import Document, Grid, Line
from attncalc.reading.plain.marks import GRID
from attncalc.reading.plain.rows import fitted, split_row

_GOES_ON = re.compile(r"\s*[+*·×](?=\s*[\d(e])|\s*-\s+(?=[\d(e].*=)")
_OPEN_END = re.compile(r"[+*·×/(]\s*$|[\d)}]\s*-\s*$")
_BARS = re.compile(r"([^|\t]{0,60})\|([^|\t]{1,400})\|\s*")
_BRACKETS = " \t,;.|()[]"


def stacked(document: Document) -> list[Line]:
    """Return the lines of a document, those put together that are one matrix or one equation."""
    return _stacked(document, _joined(_with_bars(document)))


def _joined(lines: list[Line]) -> list[Line]:
    """Join lines of work that go on below."""
    found: list[Line] = []
    for line in lines:
        before = found[-1].text if found else ""
        goes_on = "=" in before and len(before) < 2000 and not GRID.search(before)
        if (
            goes_on
            and line.text.strip()
            and (
                _GOES_ON.match(line.text) or (_OPEN_END.search(before) and "=" not in line.text[:6])
            )
        ):
            found[-1] = _with_text(found[-1], f"{before.rstrip()} {line.text.strip()}")
        else:
            found.append(line)
    return found


def _with_text(line: Line, text: str) -> Line:
    """Return a line with another text."""
    return Line(line.number, text)


def _stacked(document: Document, lines: list[Line]) -> list[Line]:
    """Put rows in brackets of their own, one below the other, together to matrices."""
    found: list[Line] = []
    i = 0
    while i < len(lines):
        stop = _stack(document, lines, i)
        if stop - i > 1:
            found.append(_merged(document, lines[i:stop]))
        else:
            found.append(lines[i])
        i = max(stop, i + 1)
    return found


def _stack(document: Document, lines: Sequence[Line], start: int) -> int:
    """Return where a run of lines ends that each hold the same number of rows in brackets."""
    count = len(_row_grids(document, lines[start].text))
    if not count:
        return start
    named = [0] * count
    stop = start
    while stop < len(lines) and len(_row_grids(document, lines[stop].text)) == count:
        outside = [bool(each.strip(_BRACKETS)) for each in _outside(lines[stop].text)[:-1]]
        tail = _outside(lines[stop].text)[-1].strip(_BRACKETS)
        named = [n + is_named for n, is_named in zip(named, outside, strict=True)]
        if max(named) > 1 or (tail and not tail.startswith(("#", "<", "%", "^"))):
            break
        stop += 1
    return stop


def _row_grids(document: Document, text: str) -> list[str]:
    marks = GRID.findall(text)
    return marks if all(document.grids[mark].kind == "row" for mark in marks) else []


def _outside(text: str) -> list[str]:
    return GRID.split(text)


def _merged(document: Document, lines: Sequence[Line]) -> Line:
    """Return one line in which each stack of rows is one grid."""
    columns = list(zip(*(GRID.findall(line.text) for line in lines), strict=True))
    outside = [_outside(line.text) for line in lines]
    pieces: list[str] = []
    for slot, marks in enumerate(columns):
        said = [each[slot].strip(_BRACKETS) for each in outside]
        grids = [document.grids[mark] for mark in marks]
        rows = fitted([row for grid in grids for row in grid.rows])
        kept = Grid((rows,), grids[0].line, grids[-1].last, "stack")
        pieces += [next((text for text in said if text), ""), document.add(kept)]
    number = lines[0].number
    return Line(number, " ".join(pieces))


def _with_bars(document: Document) -> list[Line]:
    """Return the lines with a row between two bars as a grid, where a name stands before one.

    Rows of bars alone are tables.
    """
    rows = [_BARS.fullmatch(line.text) for line in document.lines]
    found = list(document.lines)
    for i, match in enumerate(rows):
        near = [rows[j] for j in range(max(0, i - 6), min(len(rows), i + 7))]
        named = any(each and each[1].strip() for each in near)
        cells = split_row(match[2]) if match and named else None
        if match and cells and len(cells) > 1 and not document.is_full:
            line = document.lines[i]
            mark = document.add(Grid(([cells],), line.number, line.number, "row"))
            found[i] = Line(line.number, f"{match[1]}{mark}")
    return found
