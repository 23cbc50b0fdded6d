"""A text as a list of named blocks, not yet interpreted."""

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace

from attncalc.reading.plain.clauses import Clause, clauses_of
from attncalc.reading.plain.grids import Document, Grid, Line, document_of
from attncalc.reading.plain.marks import COLUMN, GRID, typed
from attncalc.reading.plain.numerals import is_number_cell, looks_like_entry
from attncalc.reading.plain.rows import (
    LONGEST_OF_WORK,
    Rows,
    broken_row,
    fitted,
    labelled_row,
    row_of_equations,
    scanned_row,
    split_row,
    without_uneven_counts,
)
from attncalc.reading.plain.stacks import stacked
from attncalc.reading.plain.tables import (
    TABLE_SIGN,
    cells_by_line,
    cells_of_table,
    groups_by_name,
    groups_of_table,
    rows_of_table,
    sections_of_table,
    table_at,
)

_APART = re.compile(r"(?<! ) {2,}+(?=[^\W\d])")
_NAMED_ROW = re.compile(r"(?P<name>[^\W\d][^=:]{0,30})[=:](?P<row>[^=:A-Za-z]+)")
PREAMBLE = re.compile(
    r"[ >*]{0,8}(?:(?:from|to|cc|date|sent|subject|von|an|datum|gesendet|betreff|fecha|asunto"
    r"|objet|envoyé|revision|author|created"
    r"|name|student|nom|nombre|nome|naam|imię|jméno) ?: ?(?=.*[^\W\d_])"
    r"|#\+(?:TBLFM|ATTR_\w{1,12}|OPTIONS|PLOT):"
    r"|posted (?:by|on) (?=.*\d\d)"
    r"|(?:I?Python|R version|GNU Octave|Octave|Julia|MATLAB|Wolfram|SageMath)\b[^=\n]{0,40}\d\.)",
    re.I,
)
"""The header of a mail, or the lines that a program prints when it starts."""
_REMARKED = re.compile(
    rf"(?P<row>\s*(?P<label>[^\W\d_]{{1,30}})[:\s]\s*{GRID.pattern}) {{3,}}"
    rf"[^=≈{GRID.pattern[1:-1]}]+"
)
"""A row of a token, and a remark far behind it: cat [1, 3]       1 pt per row."""
_HEADED_ROW = re.compile(
    rf"\s*(?P<name>[^:=≈{GRID.pattern[1:-1]}]{{1,40}}[:=])\s+"
    rf"(?P<row>[^\W\d_]{{1,30}} ?{GRID.pattern})"
)
"""The name of a matrix before the row of its first token: Q: cat [1, 3]."""
_TOKEN_ROW = re.compile(rf"\s*[^\W\d_]{{1,30}}[: ] ?{GRID.pattern}")
_BEHIND_ROW = re.compile(r"(?<=[\d.%]) {2,}+\((?=[^()]*[^\d\s.,;()])[^()]{3,160}\)$")
"""Work in brackets after a row of numbers."""
_GOES_ON = re.compile(r"\s*+(?:[=→]|≈(?![-.\d]))")
_OF_PATTERNS = re.compile(r"[\s#*]*+What the weights show[\s*]*+")
_ENDS_PATTERNS = re.compile(rf"^\s*+#{{1,6}}\s|[=≈:]\s?{GRID.pattern}|\t|\||[=≈:]\s?$")
_HEADING = re.compile(r"\s*#{1,6}\s")
_SIGN = re.compile(r"[=≈:+·×*/@\d^]")
_LISTED = re.compile(r" ?, ?(?:and\s|und\s|et\s|y\s)?|\s(?:and|und|et|y|&)\s")
_ANDS = re.compile(
    r"^(?:[,;.\s]*(?:and|then|und|dann|et|puis|y|respectively)\b)?[,;.\s]*", re.IGNORECASE
)
MOST_BESIDE = 12
"""The largest number of matrices that a sentence may name in sequence."""
MOST_HEADS = 60
"""The largest number of columns with a name each."""
MOST_TRIES = 140
"""The largest number of lines of a paragraph that are tried as the start of a table without
success.
"""
MOST_BLOCKS = 6000
"""The largest number of parts of a text; the rest is not read, and this is reported."""
MOST_REFUSED = 10_000
"""The largest number of lines that are tried again as a table after a refusal."""


@dataclass
class Block:
    """A part of a text with numbers, or words that may name the next part.

    line, last: its first and last line in the file.
    text: its text, as typed.
    names: its names in its own lines: the sides of an equation without numbers.
    grid: its matrix or row; None for words, and for work without a result.
    factors: matrices before it in its equation.
    work: the calculation before its result.
    turned: whether it is marked as transposed.
    goes_on: whether it continues the equation of the previous block.
    is_new: whether a blank line or a heading precedes it.
    is_single: whether it is one number, and not a matrix with one entry.
    """

    line: int
    last: int
    text: str
    names: list[str] = field(default_factory=list)
    grid: Grid | None = None
    factors: list[Grid] = field(default_factory=list)
    work: list[str] = field(default_factory=list)
    row_names: list[str] = field(default_factory=list)
    turned: bool = False
    goes_on: bool = False
    is_new: bool = False
    is_single: bool = False
    is_heading: bool = False
    is_table: bool = False
    is_other: bool = False


_ASIDE = re.compile(r"^(\s{0,9}[^\W\d_][^\d()\[\]=:]{1,60}) ?\([^()]{1,200}=[^()]{1,80}\):\s*$")
"""A heading with work in brackets: Weights (row 1: e^2 + e^1 = 10.11):"""
_SENTENCES = re.compile(rf"(?<={GRID.pattern})\.\s+(?=[A-ZÀ-Ý])")
"""The boundary between sentences, where one ends with numbers."""
Named = Callable[[str], bool]
Other = Callable[[Sequence[Line], int], bool]


def blocks_of(
    text: str, names_a_row: Named, is_other: Other, labels: Container[str] = ()
) -> tuple[list[Block], Document]:
    """Return the blocks of a text in order, and the document with its other findings.

    text: the whole text.
    names_a_row: returns whether the text before a row names it, like q1, and does not only count
        it.
    is_other: returns whether a line is about something else, and not a block.
    labels: the tokens, which may precede rows.
    """
    document = document_of(text)
    document.lines = [
        Line(line.number, _ASIDE.sub(r"\1:", part))
        for line in stacked(document, labels)
        for part in _SENTENCES.split(line.text)
    ]
    parter = _Parter(document, names_a_row, is_other, labels)
    parter.run()
    return parter.blocks, document


class _Parter:
    """Collects the blocks of a text, line by line."""

    def __init__(
        self, document: Document, names_a_row: Named, is_other: Other, labels: Container[str]
    ) -> None:
        self.document = document
        self.lines = document.lines
        self.names_a_row = names_a_row
        self.is_other = is_other
        self.labels = labels
        self.blocks: list[Block] = []
        self.is_new = True
        self.tries = 0
        self.clauses: tuple[Line | None, str, list[Clause]] = None, "", []
        self.refused_to, self.patience = 0, MOST_REFUSED

    def run(self) -> None:
        i = 0
        while i < len(self.lines) and len(self.blocks) < MOST_BLOCKS:
            i += self._take(i)
        if i < len(self.lines):
            self.document.cut_at = self.lines[i].number

    def _take(self, i: int) -> int:
        """Read one line, or several that belong together; return how many."""
        line = self.lines[i]
        if not line.text.strip():
            self.is_new, self.tries = True, 0
            return 1
        if PREAMBLE.match(line.text):
            self._add(Block(line.number, line.number, line.text))
            return 1
        if _OF_PATTERNS.fullmatch(line.text):
            return self._patterns(i)
        if self.is_other(self.lines, i):
            self._add(Block(line.number, line.number, line.text, is_other=True))
            return 1
        if count := self._whole_table(i):
            return count
        if not GRID.search(line.text) and (count := self._rows(i)):
            return count
        if (
            (count := self._under_names(i))
            or (count := self._columns(i))
            or (count := self._beside(i))
        ):
            return count
        self._said(self._without_name(i))
        return 1

    def _without_name(self, i: int) -> Line:
        """Return a line, without the name of a matrix before the row of its first token."""
        line, below = self.lines[i], self.lines[i + 1 : i + 2]
        is_first = any(_TOKEN_ROW.fullmatch(each.text) for each in below)
        if not is_first or (match := _HEADED_ROW.fullmatch(line.text)) is None:
            return line
        self._said(Line(line.number, match["name"]))
        return Line(line.number, match["row"])

    def _patterns(self, i: int) -> int:
        """Skip the sentences about patterns on attncalc's own pages, which contain no step."""
        stop = i + 1
        while stop < len(self.lines) and not _ENDS_PATTERNS.search(self.lines[stop].text):
            stop += 1
        for line in self.lines[i:stop]:
            if line.text.strip():
                self._add(Block(line.number, line.number, line.text, is_other=True))
        return stop - i

    def _add(self, block: Block) -> None:
        block.is_new = block.is_new or self.is_new
        block.text = typed(self._with_grids(block.text)).strip()
        self.is_new = False
        self.blocks.append(block)

    def _with_grids(self, text: str) -> str:
        grids = self.document.grids
        return GRID.sub(lambda match: f"[{grids[match[0]].text}]", text)

    def _whole_table(self, i: int) -> int:
        """Read the table that begins here, and return its number of lines.

        A refused table is tried again from its next line, a limited number of times: each trial
        reads all of it.
        """
        text = self.lines[i].text
        if "\t" not in text and not TABLE_SIGN.search(text):
            return 0
        if self.tries > MOST_TRIES or (i < self.refused_to and self.patience <= 0):
            return 0
        count = table_at(self.lines, i)
        if count and self._table(i, count):
            return count
        self.tries += not count
        self.refused_to = i + count
        self.patience -= count
        return 0

    def _table(self, i: int, count: int) -> bool:
        """Read a table if it contains numbers, or blanks to fill in."""
        lines = self.lines[i : i + count]
        if sections := sections_of_table(lines, self.names_a_row):
            for heading, own in sections:
                text = f"{heading.text.rstrip(':')}:"
                if heading.text:
                    self._add(Block(heading.number, heading.number, text, [heading.text]))
                self._table_of(own)
            return True
        return self._table_of(lines)

    def _table_of(self, lines: Sequence[Line]) -> bool:
        """Read a single table if it contains numbers, or blanks to fill in."""
        count = len(lines)
        text = " / ".join(line.text.strip() for line in lines)
        first, last = lines[0].number, lines[-1].number
        if GRID.search(text):
            return self._table_of_matrices(lines) or self._table_of_vectors(lines)
        if self._table_of_vectors(lines) or self._rows_of_vectors(lines, cells_by_line(lines)):
            return True
        if self._several_of_table(lines):
            return True
        rows, corner = cells_of_table(lines)
        rows = self._without_tokens([row for row in rows if row])
        if not rows:
            return not any(c.isalnum() for c in text)
        if _has_words(rows):
            self._add(Block(first, last, text))
            return True
        cells = [cell for row in rows for cell in row]
        good = sum(map(looks_like_entry, cells))
        if 2 * good < len(cells) or (count == 1 and not _is_plain_row(rows)):
            return False
        grid = Grid((fitted(rows),), first, last, "table")
        self._add(Block(first, last, text, [corner] if corner else [], grid, is_table=True))
        return True

    def _without_tokens(self, rows: Rows) -> Rows:
        """Return rows without the tokens before them; a token may be a sign such as "."."""
        firsts = [row[0].strip(" *`'\"") for row in rows]
        are_tokens = len(rows) > 1 and all(each in self.labels for each in firsts)
        are_tokens = are_tokens and len({*firsts}) == len(firsts)
        if are_tokens and min(map(len, rows)) > 1 and not all(map(is_number_cell, firsts)):
            return [row[1:] for row in rows]
        return rows

    def _several_of_table(self, lines: Sequence[Line]) -> bool:
        """Read a table of several matrices, or of rows with a name each."""
        first, last = lines[0].number, lines[-1].number
        named = [(name, [row], "rows") for name, row in rows_of_table(lines)] or [
            (name, own, "table")
            for name, own in (
                groups_of_table(lines, self.names_a_row) or groups_by_name(lines, self.names_a_row)
            ).items()
        ]
        for name, own, kind in named:
            kept = Grid((fitted(own),), first, last, kind)
            self._add(Block(first, last, f"{name}: {kept.text}", [name], kept))
        return bool(named)

    def _table_of_vectors(self, lines: Sequence[Line]) -> bool:
        """Read a table of vectors, with a column for each matrix and a row for each token."""
        cells = [
            [c.strip() for c in re.split(r"[|│\t]", line.text.strip().strip("|│"))]
            for line in lines
        ]
        cells = [row for row in cells if any(set(cell) - set("-: ") for cell in row)]
        width = len(cells[0]) if cells else 0
        is_even = len(cells) > 1 < width and all(len(row) == width for row in cells)
        if not is_even or self.names_a_row(cells[1][0]):
            return False
        columns = [[self._vector(row[j]) for row in cells[1:]] for j in range(width)]
        heads = [cells[0][j] for j, column in enumerate(columns) if all(column)]
        is_typed = any(GRID.search(line.text) for line in lines)
        if not heads or not (is_typed or all(map(self.names_a_row, heads))):
            return False
        for j, column in enumerate(columns):
            rows: Rows = [row for vectors in column for row in vectors]
            if not all(column):
                rows = [[row[j]] for row in cells[1:]] if j else []
                rows = rows if all(looks_like_entry(row[0]) and row[0] for row in rows) else []
            if rows:
                kept = Grid((rows,), lines[0].number, lines[-1].number, "table")
                self._add(
                    Block(kept.line, kept.last, f"{cells[0][j]} {kept.text}", [cells[0][j]], kept)
                )
        return True

    def _table_of_matrices(self, lines: Sequence[Line]) -> bool:
        """Read a table whose rows each contain a name and its matrix."""
        rows = [row for row in cells_by_line(lines) if any(set(cell) - set("-: ") for cell in row)]
        if self._rows_of_vectors(lines, rows):
            return True
        named = [row for row in rows if GRID.search("".join(row))]
        names = [row[0].strip(" *") for row in named]
        cells = [[cell for cell in row[1:] if GRID.fullmatch(cell.strip(" $"))] for row in named]
        heights = [len(self.document.grids[own[0].strip(" $")].rows) for own in cells if own]
        if len(rows) - len(named) > 1 or not all(len(own) == 1 for own in cells):
            return False
        if max(heights, default=0) < 2 or not all(map(self.names_a_row, names)):
            return False
        for name, own in zip(names, cells, strict=True):
            kept = self.document.grids[own[0].strip(" $")]
            self._add(Block(kept.line, kept.last, f"{name} {kept.text}", [name], kept))
        return True

    def _rows_of_vectors(self, lines: Sequence[Line], rows: Rows) -> bool:
        """Read a table of vectors, with a row for each matrix and a column for each token."""
        names = [row[0].strip(" *") for row in rows[1:]]
        found = [[self._vector(cell.strip(" $")) for cell in row[1:]] for row in rows[1:]]
        widths = {len(row) for row in found}
        if len(names) < 2 or len(widths) > 1 or min(widths) < 2 or not all(map(all, found)):
            return False
        if not all(map(self.names_a_row, names)):
            return False
        for name, vectors in zip(names, found, strict=True):
            own = [row for vector in vectors for row in vector]
            kept = Grid((own,), lines[0].number, lines[-1].number, "table")
            self._add(Block(kept.line, kept.last, f"{name} {kept.text}", [name], kept))
        return True

    def _vector(self, cell: str) -> Rows:
        """Return the rows in a cell of a table: (1, 3), or 1, 3."""
        if GRID.fullmatch(cell):
            return self.document.grids[cell].rows
        row = None if looks_like_entry(cell) else split_row(cell)
        return [row] if row and len(row) > 1 else []

    def _rows(self, i: int) -> int:
        """Read rows of numbers, with or without names."""
        rows: Rows = []
        names: list[str] = []
        stop = i + self._counts_columns(i)
        while stop < len(self.lines) and (row := self._row(stop, rows)):
            if rows and bool(row[0]) != bool(names[0]):
                break
            are_tokens = bool(rows) and names[0] in self.labels and row[0] in self.labels
            if rows and not are_tokens and _are_unlike(names[0], rows[0], *row):
                break
            names.append(row[0])
            rows.append(row[1])
            stop += 1
        names, rows = _counted(names, rows)
        rows = without_uneven_counts(rows) if rows and not names[0] else rows
        if len(rows) > 1 and all(map(COLUMN.search, names)) and len({*map(len, rows)}) == 1:
            names, rows = [""] * len(rows), [list(column) for column in zip(*rows, strict=True)]
        if not rows or (names[0] and len(rows) < 2 and not self._may_be_row(names[0], rows[0])):
            return 0
        self._grid(i, stop, [], rows, names if names[0] else [])
        return stop - i

    def _counts_columns(self, i: int) -> bool:
        """Return whether a line counts the columns of the rows of tokens below it, as in pandas."""
        text = self.lines[i].text
        heads = text.split() if len(text) < LONGEST_OF_WORK else []
        counts = [[str(k + start) for k in range(len(heads))] for start in (0, 1)]
        if len(heads) < 2 or heads not in counts:
            return False
        below = self._of_token(i + 1)
        return below is not None and len(below[1]) == len(heads)

    def _of_token(self, i: int) -> tuple[str, list[str]] | None:
        """Return the token and the cells of a row that follows the name of a token."""
        text = self.lines[i].text if i < len(self.lines) else ""
        found = None if GRID.search(text) else labelled_row(text, self.labels)
        return found if found and found[0] in self.labels else None

    def _may_be_row(self, name: str, row: list[str]) -> bool:
        """Return whether a single row after a name is a row of a matrix named above."""
        return name in self.labels and len(row) > 1

    def _row(self, i: int, before: Rows) -> tuple[str, list[str]] | None:
        """Return the name and the cells of the row in a line, or None."""
        text = _BEHIND_ROW.sub("", self.lines[i].text.rstrip())
        if GRID.search(text) or _GOES_ON.match(text) or self.is_other(self.lines, i):
            return None
        if cells := split_row(_without_bars(text)) or row_of_equations(text):
            return "", cells
        found = labelled_row(text, self.labels)
        if found and (not self.names_a_row(found[0]) or self._is_among_tokens(i, found)):
            return found
        near = before[-1] if before else self._row_below(i)
        if near and (cells := broken_row(text, len(near))):
            return "", cells
        if cells := scanned_row(text):
            return "", cells
        return None

    def _is_among_tokens(self, i: int, row: tuple[str, list[str]]) -> bool:
        """Return whether a token with the name of a step is among other tokens: a, below upon."""
        if row[0] not in self.labels:
            return False
        near = [self._of_token(k) for k in (i - 1, i + 1) if k >= 0]
        return any(each and len(each[1]) == len(row[1]) for each in near)

    def _row_below(self, i: int) -> list[str] | None:
        """Return the first row of numbers below a line, after other malformed rows."""
        below = [_without_bars(line.text) for line in self.lines[i + 1 : i + 4]]
        return next((row for text in below if (row := split_row(text))), None)

    def _under_names(self, i: int) -> int:
        """Read named rows below a line with as many names: k1 k2 k3 above q1 1 2 3."""
        heads = _names_over(self.lines[i].text, self.labels)
        rows: Rows = []
        names: list[str] = []
        stop = i + 1
        while heads and stop < len(self.lines):
            text = _BEHIND_ROW.sub("", self.lines[stop].text.rstrip())
            found = None if GRID.search(text) else labelled_row(text, self.labels)
            if found is None or len(found[1]) != len(heads):
                break
            names.append(found[0])
            rows.append(found[1])
            stop += 1
        if len(rows) < 2:
            return 0
        self._grid(i, stop, [], rows, names)
        return stop - i

    def _columns(self, i: int) -> int:
        """Read matrices without brackets side by side, each below its name: Q = 1 3 K = 3 2."""
        text = self.lines[i].text
        named = _named_columns(text)
        starts = [start for start, _, _ in named]
        if len(named) < 2:
            return 0
        rows = [[row] for _, _, row in named]
        stop = i + 1
        while stop < len(self.lines) and (pieces := _cut(self.lines[stop].text, starts)):
            for own, piece in zip(rows, pieces, strict=True):
                own += [piece] if piece else []
            stop += 1
        if stop == i + 1:
            return 0
        for (_, name, _), own in zip(named, rows, strict=True):
            self._grid(i, stop, [name], [row for row in own if row], [])
        return stop - i

    def _beside(self, i: int) -> int:
        """Read a matrix that begins on the line of its name and continues below."""
        below = self.lines[i + 1].text if i + 1 < len(self.lines) else ""
        if not below.strip() or GRID.search(below):
            return 0
        clauses = self._clauses(self.lines[i], _without_bars(self.lines[i].text))
        last = clauses[-1]
        if last.kind != "row" or not last.names:
            return 0
        first = split_row(last.value)
        rows, stop = [first or []], i + 1
        while stop < len(self.lines) and (row := self._row(stop, rows)) and not row[0]:
            rows.append(row[1])
            stop += 1
        if len(rows) < 2 or (len(rows[0]) == 1 and max(map(len, rows)) > 1):
            return 0
        for clause in clauses[:-1]:
            self._clause(clause, self.lines[i])
        self._grid(i, stop, last.names, rows, [])
        return stop - i

    def _grid(self, i: int, stop: int, names: list[str], rows: Rows, row_names: list[str]) -> None:
        lines = self.lines[i:stop]
        text = " / ".join(line.text.strip() for line in lines)
        grid = Grid((fitted(rows),), lines[0].number, lines[-1].number, "rows")
        single = len(rows) == 1 and len(rows[0]) == 1
        block = Block(grid.line, grid.last, text, names, grid, row_names=row_names)
        self._add(replace(block, is_single=single))

    def _clauses(self, line: Line, text: str) -> list[Clause]:
        """Return the clauses of a line; cached, since each line is read twice."""
        before, said, found = self.clauses
        if before is not line or said != text:
            found = clauses_of(text)
            self.clauses = line, text, found
        return found

    def _said(self, line: Line) -> None:
        """Split a line at its equals signs."""
        if _HEADING.match(line.text):
            self.is_new = True
        text = _with_signs(_without_bars(line.text), self.names_a_row)
        if (row := _REMARKED.fullmatch(text)) and row["label"] in self.labels:
            text = row["row"]
        clauses = self._clauses(line, text)
        if all(clause.kind == "nothing" and not clause.factors for clause in clauses):
            names = [name for clause in clauses for name in clause.names]
            work = [each for clause in clauses for each in clause.work]
            heading = _HEADING.match(line.text) is not None
            self._add(
                Block(line.number, line.number, line.text, names, work=work, is_heading=heading,
                      goes_on=clauses[0].continues)
            )  # fmt: skip
            return
        for clause in clauses:
            self._clause(clause, line)

    def _clause(self, clause: Clause, line: Line) -> None:
        grids = self.document.grids
        grid = None
        is_said = clause.kind != "nothing" or clause.factors
        text = line.text if is_said else " ".join([*clause.names, *clause.work])
        if clause.kind == "grid":
            grid = grids[clause.value]
        elif clause.kind == "row":
            rows = fitted([split_row(clause.value) or [clause.value]])
            grid = Grid((rows,), line.number, line.number, "rows")
        factors = [grids[mark] for mark in clause.factors]
        last = max([line.number, *(each.last for each in [*factors, *([grid] if grid else [])])])
        single = clause.kind == "row" and grid is not None and len(grid.rows[0]) == 1
        self._add(
            Block(line.number, last, text, clause.names, grid, factors, clause.work,
                  turned=clause.turned, goes_on=clause.continues, is_single=single)
        )  # fmt: skip


def _with_signs(text: str, names_a_row: Named) -> str:
    """Return a sentence of several matrices with an equals sign before each.

    Examples: "Q and K are M and M, respectively", and "softmax gives M and multiplying by V M".
    """
    marks = GRID.findall(text)
    if not 2 <= len(marks) <= MOST_BESIDE or len(text) > LONGEST_OF_WORK or _SIGN.search(text):
        return text
    before, *between = GRID.split(text)
    words = [piece.strip(" .,;:$") for piece in [before, *between[:-1]]]
    listed = [each.strip() for each in _LISTED.split(words[0]) if each.strip()]
    if not any(_ANDS.sub("", each).strip(" ,") for each in words[1:]):
        is_list = len(listed) == len(marks) and all(map(names_a_row, listed))
        pairs = zip(listed, marks, strict=True) if is_list else None
    else:
        names = [_ANDS.sub("", each, count=1).strip(" ,") for each in words]
        pairs = zip(names, marks, strict=True) if all(map(names_a_row, names)) else None
    return text if pairs is None else ", ".join(f"{name} = {mark}" for name, mark in pairs)


def _are_unlike(name: str, row: list[str], other: str, cells: list[str]) -> bool:
    """Return whether rows of different widths have different words: powers, and their sum."""
    are_words = name.isalpha() and other.isalpha() and name != other
    return are_words and 1 in (len(row), len(cells)) and len(row) != len(cells)


def _names_over(text: str, labels: Container[str]) -> list[str]:
    """Return the names of columns in a line: tokens, or one name with counts."""
    heads = text.split()
    stems = {head.rstrip("0123456789_") for head in heads}
    are_counted = len(stems) == 1 and all(head[-1:].isdigit() for head in heads)
    are_names = are_counted and any(map(str.isalpha, stems))
    is_row = 1 < len(heads) <= MOST_HEADS and (are_names or all(head in labels for head in heads))
    return heads if is_row else []


def _counted(names: list[str], rows: Rows) -> tuple[list[str], Rows]:
    """Move a count after one word before all rows into their names: from 1, from 2."""
    firsts = [row[0] for row in rows]
    counts = [[str(i + start) for i in range(len(rows))] for start in (0, 1)]
    if len(rows) > 1 and names[0] and set(names) == {names[0]} and firsts in counts:
        numbered = [f"{name} {first}" for name, first in zip(names, firsts, strict=True)]
        return numbered, [row[1:] for row in rows]
    return names, rows


def _named_columns(text: str) -> list[tuple[int, str, list[str]]]:
    """Return the position, name and row of each row that a line names: Q = 1 3 K = 3 2."""
    if len(text) > LONGEST_OF_WORK or text.count("=") + text.count(":") < 2:
        return []
    indent = len(text) - len(text.lstrip())
    starts = [indent, *(match.end() for match in _APART.finditer(text, indent))]
    pieces = [text[a:b].strip() for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    found = [
        (start, match["name"].strip(), row)
        for start, piece in zip(starts, pieces, strict=True)
        if (match := _NAMED_ROW.fullmatch(piece)) and (row := split_row(match["row"].strip()))
    ]
    return found if len(found) == len(pieces) else []


def _cut(text: str, starts: Sequence[int]) -> list[list[str]] | None:
    """Return the rows below names in columns; None if a line is split differently."""
    if not text.strip() or GRID.search(text):
        return None
    pieces = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    if text[: starts[0]].strip() or any(piece[-1:].strip() for piece in pieces[:-1]):
        return None
    found = [split_row(piece) if piece.strip() else [] for piece in pieces]
    return None if None in found else [row or [] for row in found]


def _without_bars(text: str) -> str:
    """Remove the bars around a row: | 1 2 |, and Q = | 1 2 |."""
    clean = text.strip()
    if clean.count("|") == 2 and clean.endswith("|"):
        before, inner, _ = clean.split("|")
        if before.rstrip()[-1:] in ("=", ":", "≈", "") and split_row(inner):
            return f"{before} {inner}"
    return text


def _has_words(rows: Rows) -> bool:
    """Return whether a column of a table contains only words: it is not a matrix."""
    width = min(map(len, rows))
    columns = [[row[j] for row in rows] for j in range(width)]
    return len(rows) > 1 and any(
        not any(map(looks_like_entry, column))
        and all(any(c.isalpha() for c in cell) for cell in column)
        for column in columns
    )


def _is_plain_row(rows: Rows) -> bool:
    return all(map(looks_like_entry, rows[0])) and len(rows[0]) > 1
