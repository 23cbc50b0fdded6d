"""Combines lines that belong together: continued work, and rows in separate brackets."""

import itertools
import re
from collections.abc import Container, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from attncalc.reading.plain.grids import Document, Grid, Line
from attncalc.reading.plain.marks import GRID
from attncalc.reading.plain.numerals import looks_like_entry
from attncalc.reading.plain.rows import fitted, split_row

_GOES_ON = re.compile(r"\s*[+*·×](?=\s*[\d(e])|\s*-\s+(?=[\d(e].*=)")
_OPEN_END = re.compile(r"[+*·×/(]\s*$|[\d)}]\s*-\s*$")
_BULLET = re.compile(rf"(\s*)(?:[-*]|\d{{1,2}}[.)]) {{1,3}}({GRID.pattern}\s*)")
_BARS = re.compile(r"([^|\t]{0,60})\|([^|\t]{1,400})\|\s*")
_NAMED = re.compile(
    r"\s*([^=:→]{1,60}?(?:[=:→]|->|\b(?:are|is|sind|ist|sont|est|son|es)\b:?))\s*([^=:→]{3,2000})"
)
_ROW_SIGNS = (" / ", " | ", " || ", " // ")
_NAME, _RULE = re.compile(r"[^\s|]+(?: [^\s|]+)*"), re.compile(r"(?=\s*+[─━=-]{3})[\s─━=-]*+")
"""A name over one of several matrices side by side, and a line below it."""
_BEFORE_TOKEN = re.compile(
    r"\s{0,9}([^\s|](?:[^|]{0,30}?[^\s|:])??)(?:\s{2,80}|:\s{1,9})([^\s:]{1,40}):?\s{1,80}"
    rf"(?:[-−.\d]|{GRID.pattern})"
)
_OWN_NAME = re.compile(r"(?<!\S)([^\W\d][^=:|\t]{0,30}?)\s?[=:]\s{0,9}(?=[-+.\d])")
_LABEL_BEFORE, _WORD = re.compile(r"\s*+[^\W\d]\S{0,30}\s++"), re.compile(r"\S+")
MOST_ROWS = 200
LEAST_BESIDE = 2
"""The fewest rows, matrices, and numbers in a row of each, of matrices side by side."""
LONGEST_COUNTED = 2000
_HEAD = re.compile(r"\s*[^\W\d_]{3,12} \d\s*")
"""A head before a row between bars: head 1 | 1 3 |."""
_RULE_OF_PAGE = re.compile(r"\s*\|?-{3,200}[+|]-{3,200}\|?\s*")
_BRACKETS = " \t,;.|()[]"
_AND = re.compile(
    rf"{GRID.pattern}(?:\s{{0,80}}(?:[,;]|\b(?:and|und|et|y|e|en|och|og|i|a|ve|dan|и)\b|[和与と])"
    rf"\s{{0,80}}{GRID.pattern}){{1,15}}"
)
_LISTS = re.compile(r"[,;&]|\b(?:and|und|et|y|e|en|och|og|i|ve|dan|и)\b|[和与と、]")
"""Words and signs that join matrices, and those by which their names are a list."""


def stacked(document: Document, labels: Container[str] = ()) -> list[Line]:
    """Return the lines of a document, with the lines of one matrix or equation combined."""
    lines = _apart([*_below_own_names([*_columns_of_page(document.lines)], labels)])
    document.lines = [_without_bullet(line) for line in lines]
    lines = [_with_lists(document, line) for line in _with_bars(document)]
    lines = _stacked(document, _joined(lines))
    return [_with_heads(document, line) for line in lines]


def _columns_of_page(lines: list[Line]) -> Iterator[Line]:
    """Yield lines with the left column of a page that a bar divides above the right one.

    Both have lines with words, and rows of numbers.
    """
    bars = [0]
    for line in lines:
        bars.append(bars[-1] if _RULE_OF_PAGE.fullmatch(line.text) else _bar_of(line.text))
    for at, group in itertools.groupby(zip(bars[1:], lines, strict=True), key=itemgetter(0)):
        run = [line for _, line in group]
        halves = [_halves(line.text, at) for line in run if at > 0]
        sides = [[half.strip() for half in side] for side in zip(*halves, strict=True)]
        if sides and all(map(_is_page, sides)):
            for side in range(2):
                for line, half in zip(run, halves, strict=True):
                    yield Line(line.number, half[side])
                yield Line(run[-1].number, "")
        else:
            yield from run


def _bar_of(text: str) -> int:
    """Return where the bar within a line is; 0 for lines with none, or several."""
    bars = [k for k, sign in enumerate(text[:LONGEST_COUNTED]) if sign == "|"]
    inside = bars[1:-1] if len(bars) == 3 and bars[::2] == [0, len(text) - 1] else bars
    return inside[0] if len(inside) == 1 else 0


def _halves(text: str, at: int) -> tuple[str, str]:
    """Return what is on both sides of a bar; nothing of a rule."""
    is_rule = _RULE_OF_PAGE.fullmatch(text)
    return ("", "") if is_rule else (text[:at].lstrip("|"), text[at + 1 :].rstrip("|"))


def _is_page(side: list[str]) -> bool:
    """Return whether lines have several names alone, and several rows of numbers."""
    rows = sum(len(split_row(text) or ()) >= LEAST_BESIDE for text in side)
    names = sum(text[:1].isalpha() and not split_row(text) for text in side)
    return min(rows, names) >= LEAST_BESIDE


def _below_own_names(lines: list[Line], labels: Container[str]) -> Iterator[Line]:
    """Yield lines with the name of a matrix before its first row, and its token, on its own line.

    >>> rows = [Line(1, "Q   cat  1 3"), Line(2, "    sat  2 1")]
    >>> [line.text for line in _below_own_names(rows, ["cat", "sat"])]
    ['Q:', '    cat  1 3', '    sat  2 1']
    """
    for line, below in itertools.zip_longest(lines, lines[1:]):
        if below and (names := _names_of_row(line.text, below.text)):
            yield Line(line.number, names)
            line = Line(line.number, _OWN_NAME.sub(_blank, line.text))
        named = _BEFORE_TOKEN.match(line.text)
        row = _LABEL_BEFORE.match(below.text) if named and below else None
        if named and row and named[2] in labels and row[0].strip(" :\t") in labels:
            yield Line(line.number, f"{named[1]}:")
            line = Line(line.number, " " * named.start(2) + line.text[named.start(2) :])
        yield line


def _names_of_row(text: str, below: str) -> str:
    """Return the names of matrices side by side before their first rows, each above its numbers."""
    names = [*_OWN_NAME.finditer(text, 0, LONGEST_COUNTED)]
    rows = [split_row(_OWN_NAME.sub(_blank, text)), split_row(below)] if len(names) > 1 else [None]
    if not all(rows) or len({len(row or ()) for row in rows}) > 1:
        return ""
    above = ""
    for name in names:
        above = f"{above.ljust(name.end())}{name[1]}"
    return above


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _apart(lines: list[Line]) -> list[Line]:
    """Return lines with matrices side by side placed below one another.

    They are separated by bars, or by gaps below their names: `Q | K` over `1 2 | 3 4`, `Q     K`
    over `cat  1 2   3 4`. Names are beside each other in the line above; one name there is that of
    each, by heads.
    """
    found: list[Line] = []
    groups = [_groups(line.text) for line in lines]
    i = 0
    while i < len(lines):
        heads, back = _names_above(found, lines[i])
        rows = _between_bars(groups, i) or _below_names(lines[i : i + MOST_ROWS], heads)
        if len(rows) < LEAST_BESIDE:
            found.append(lines[i])
            i += 1
            continue
        names = [f"{each[0]}:" for each in heads]
        if len(names) == 1 and rows[0][0][0]:
            names = [f"head {k + 1} {names[0]}" for k in range(len(rows[0]))]
        is_named = len(names) == len(rows[0])
        number = found[-back].number if is_named else lines[i].number
        del found[len(found) - back * is_named :]
        for place, own in enumerate(zip(*rows, strict=True)):
            found.append(Line(number, names[place] if is_named else ""))
            for line, (label, cells) in zip(lines[i:], own, strict=False):
                found.append(Line(line.number, f"{label}{' '.join(cells)}"))
        i += len(rows)
    return found


Labelled = tuple[str, list[str]]
"""The label of a row, and its cells."""


def _between_bars(groups: list[list[Labelled]], start: int) -> list[list[Labelled]]:
    """Return the rows of matrices side by side between bars; [] for one matrix."""
    own = [len(row) for _, row in groups[start]]
    if len(own) < LEAST_BESIDE:
        return []
    below = (groups[i] for i in range(start, len(groups)))
    return [*itertools.takewhile(lambda rows: [len(row) for _, row in rows] == own, below)]


def _names_above(found: list[Line], line: Line) -> tuple[list[re.Match[str]], int]:
    """Return the names on the line above another, perhaps with a rule between, and the distance."""
    back = 2 if found and _RULE.fullmatch(found[-1].text) else 1
    above = found[-back] if len(found) >= back else line
    if len(found) < back or line.number - above.number > back:
        return [], back
    return [*_NAME.finditer(above.text, 0, LONGEST_COUNTED)], back


def _below_names(lines: Sequence[Line], names: list[re.Match[str]]) -> list[list[Labelled]]:
    """Return the rows of matrices side by side below their names, each with its label and cells.

    The gaps between matrices are wider than those within; [] if there are no such gaps.
    """
    labels: list[str] = []
    rows: list[list[re.Match[str]]] = []
    if len(names) < LEAST_BESIDE:
        return []
    for line in itertools.takewhile(lambda each: each.text.strip(), lines):
        label = _LABEL_BEFORE.match(line.text, 0, LONGEST_COUNTED)
        cells = [*_WORD.finditer(line.text, label.end() if label else 0, LONGEST_COUNTED)]
        is_like = not rows or (len(cells) == len(rows[0]) and bool(label) == bool(labels[0]))
        if not is_like or not all(looks_like_entry(cell[0]) for cell in cells):
            break
        labels.append(label[0].strip() + " " if label else "")
        rows.append(cells)
    if len(rows) < LEAST_BESIDE or len(rows[0]) < LEAST_BESIDE * len(names):
        return []
    columns = [*zip(*rows, strict=True)]
    spans = [(min(c.start() for c in own), max(c.end() for c in own)) for own in columns]
    gaps = [b[0] - a[1] for a, b in itertools.pairwise(spans)]
    least = sorted(gaps)[1 - len(names)]
    sides = [0, *(j for j, gap in enumerate(gaps, start=1) if gap >= least), len(columns)]
    stops = [*itertools.pairwise(sides)]
    are_below = len(stops) == len(names) and all(
        b - a >= LEAST_BESIDE
        and name.start() < spans[b - 1][1]
        and spans[a][0] < name.end()
        and any(map(str.isalpha, name[0]))
        for name, (a, b) in zip(names, stops, strict=True)
    )
    return [
        [(label, [cell[0] for cell in row[a:b]]) for a, b in stops]
        for label, row in zip(labels, rows if are_below else [], strict=False)
    ]


def _groups(text: str) -> list[Labelled]:
    """Return the rows that bars separate on a line, each with its label; [] for other lines."""
    if "|" not in text or len(text) > LONGEST_COUNTED:
        return []
    label = _LABEL_BEFORE.match(text)
    rows = [split_row(each) or [] for each in text[label.end() if label else 0 :].split("|")]
    said = label[0].strip() + " " if label else ""
    return [(said, row) for row in rows] if min(map(len, rows)) >= LEAST_BESIDE else []


def _without_bullet(line: Line) -> Line:
    """Return a line with only a row in brackets without the list marker before it."""
    match = _BULLET.fullmatch(line.text)
    return line._replace(text=match[1] + match[2]) if match else line


def _with_lists(document: Document, line: Line) -> Line:
    """Return a line with the rows after a name as one grid: (1, 2), (3, 4), or 1 2 / 3 4."""
    if document.is_full or not (match := _NAMED.fullmatch(line.text)):
        return line
    marks = GRID.findall(match[2])
    if len(marks) > 1 and not GRID.sub("", match[2]).strip(" ,;."):
        grids = [document.grids[mark] for mark in marks]
        rows = [row for grid in grids for row in grid.rows]
        if all(grid.kind == "row" for grid in grids) and len({len(row) for row in rows}) == 1:
            kept = Grid((rows,), grids[0].line, grids[-1].last, "stack")
            return Line(line.number, f"{match[1]} {document.add(kept)}")
        return line
    for sign in (sign for sign in _ROW_SIGNS if sign in match[2]):
        parts = [split_row(part) for part in match[2].split(sign)]
        rows = [part for part in parts if part]
        if len(parts) == len(rows) > 1 and len({len(r) for r in rows}) == 1 < len(rows[0]):
            kept = Grid((rows,), line.number, line.number, "stack")
            return Line(line.number, f"{match[1]} {document.add(kept)}")
    return line


def _joined(lines: list[Line]) -> list[Line]:
    """Join the lines of work that continues below."""
    found: list[Line] = []
    for line in lines:
        before = found[-1].text if found else ""
        goes_on = "=" in before and len(before) < 2000 and not GRID.search(before)
        goes_on = goes_on and any(map(str.isalnum, before))  # not a frame: +====+
        if (
            goes_on
            and line.text.strip()
            and (
                _GOES_ON.match(line.text) or (_OPEN_END.search(before) and "=" not in line.text[:6])
            )
        ):
            found[-1] = found[-1]._replace(text=f"{before.rstrip()} {line.text.strip()}")
        else:
            found.append(line)
    return found


def _stacked(document: Document, lines: list[Line]) -> list[Line]:
    """Combine rows in separate brackets below one another to matrices."""
    found: list[Line] = []
    marks = [_row_grids(document, line.text) for line in lines]
    ends = _ends_of_runs(marks)
    i = 0
    while i < len(lines):
        run = _even(lines, marks, i)
        uneven = _uneven(document, lines[i : ends[i]], marks[i : ends[i]])
        if uneven and len(uneven.lines) > len(run.lines):
            run = uneven
        found.append(run.merged(document) if len(run.lines) > 1 else lines[i])
        i += max(len(run.lines), 1)
    return found


def _ends_of_runs(marks: list[list[str]]) -> list[int]:
    """Return, for each line, the end of its run of lines with rows in brackets.

    If the run is longer than any matrix, the line itself is its end, so that the run is not read.
    """
    ends, end = [0] * len(marks), len(marks)
    for i in range(len(marks) - 1, -1, -1):
        end = end if marks[i] else i
        ends[i] = end if end - i <= MOST_ROWS else i
    return ends


class _Run(NamedTuple):
    """Lines with rows of matrices side by side: the names and the rows of each matrix."""

    lines: Sequence[Line]
    names: list[str]
    marks: list[list[str]]

    def merged(self, document: Document) -> Line:
        """Return one line with each of the matrices as one grid."""
        pieces: list[str] = []
        for name, marks in zip(self.names, self.marks, strict=True):
            grids = [document.grids[mark] for mark in marks]
            rows = fitted([row for grid in grids for row in grid.rows])
            kept = Grid((rows,), grids[0].line, grids[-1].last, "stack")
            pieces += [name, document.add(kept)]
        return Line(self.lines[0].number, " ".join(pieces))


def _even(lines: Sequence[Line], marks: list[list[str]], start: int) -> _Run:
    """Return matrices of one height: each line has as many rows, and no second name of one."""
    count = len(marks[start])
    names, stop = [""] * count, start
    while stop < len(lines) and len(marks[stop]) == count > 0:
        *outside, tail = (each.strip(_BRACKETS) for each in GRID.split(lines[stop].text))
        is_again = any(map(all, zip(names, outside, strict=True)))
        if is_again or (tail and not tail.startswith(("#", "<", "%", "^", "*", "†"))):
            break
        names = [name or said for name, said in zip(names, outside, strict=True)]
        stop += 1
    texts = [GRID.split(line.text) for line in lines[start:stop]]
    for slot, between in enumerate(zip(*texts, strict=True)):
        if 0 < slot < count and "," in map(str.strip, between):
            names[slot] = names[slot] or ","
    return _Run(lines[start:stop], names, [*map(list, zip(*marks[start:stop], strict=True))])


def _uneven(document: Document, lines: Sequence[Line], rows: list[list[str]]) -> _Run | None:
    """Return the matrices of different heights in a run of lines, each named once."""
    if len({len(marks) for marks in rows}) < 2 or document.is_full:
        return None
    places = [document.grids[mark].column for mark in max(rows, key=len)]
    near = min((b - a for a, b in itertools.pairwise(places)), default=0) / 2
    names = [""] * len(places)
    found: list[list[str]] = [[] for _ in places]
    for line, marks in zip(lines, rows, strict=True):
        *outside, tail = (each.strip(_BRACKETS) for each in GRID.split(line.text))
        for said, mark in zip(outside, marks, strict=True):
            column = document.grids[mark].column
            slot = min(range(len(places)), key=lambda k: abs(places[k] - column))
            if abs(places[slot] - column) > near or tail or (said and names[slot]):
                return None
            names[slot] = names[slot] or said
            found[slot].append(mark)
    return _Run(lines, names, found) if all(names) else None


def _with_heads(document: Document, line: Line) -> Line:
    """Return a line with matrices of one size, joined by a word or a comma, as heads of one."""
    if document.is_full or not (match := _AND.search(line.text)):
        return line
    grids = [document.grids[mark] for mark in GRID.findall(match[0])]
    sizes = {(len(rows), *map(len, rows)) for each in grids for rows in each.heads}
    if len(sizes) > 1 or min(sizes)[0] < LEAST_BESIDE or _LISTS.search(line.text[: match.start()]):
        return line
    heads = tuple(rows for each in grids for rows in each.heads)
    mark = document.add(Grid(heads, grids[0].line, grids[-1].last, "stack"))
    return line._replace(text=line.text[: match.start()] + mark + line.text[match.end() :])


def _row_grids(document: Document, text: str) -> list[str]:
    marks = GRID.findall(text)
    return marks if all(document.grids[mark].kind == "row" for mark in marks) else []


def _with_bars_beside(document: Document, line: Line) -> Line:
    """Return a line with rows between bars side by side as grids: Q = | 1 3 | K = | 3 -1 |."""
    if line.text.count("|") < 4 or line.text.count("|") > MOST_ROWS or document.is_full:
        return line
    pieces = line.text.split("|")
    rows = [split_row(piece) or [] for piece in pieces[1::2]]
    outside = pieces[::2]
    outside = [f"{each.rstrip()} =" if _HEAD.fullmatch(each) else each for each in outside]
    are_names = all(not each.strip() or each.rstrip()[-1:] in "=:≈" for each in outside)
    if len(pieces) % 2 == 0 or not are_names or not all(len(row) > 1 for row in rows):
        return line
    text = outside[0]
    for row, behind in zip(rows, outside[1:], strict=True):
        grid = Grid(([row],), line.number, line.number, "row", len(text))
        text += document.add(grid) + behind
    return line._replace(text=text)


def _with_bars(document: Document) -> list[Line]:
    """Return the lines with a row between two bars as a grid, if some have names.

    Rows with only bars are tables.
    """
    rows = [_BARS.fullmatch(line.text) for line in document.lines]
    found = [_with_bars_beside(document, line) for line in document.lines]
    named = any(each and each[1].strip() for each in rows)
    for i, match in enumerate(rows):
        cells = split_row(match[2]) if match and named else None
        if match and cells and len(cells) > 1 and not document.is_full:
            line = document.lines[i]
            mark = document.add(Grid(([cells],), line.number, line.number, "row"))
            found[i] = Line(line.number, f"{match[1]}{mark}")
    return found
