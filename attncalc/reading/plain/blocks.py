"""A text as a list of named blocks, not yet interpreted."""

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace

from attncalc.reading.plain.clauses import Clause, clauses_of
from attncalc.reading.plain.grids import Document, Grid, Line, document_of
from attncalc.reading.plain.marks import COLUMN, GRID, typed
from attncalc.reading.plain.numerals import looks_like_entry
from attncalc.reading.plain.rows import (
    Rows,
    broken_row,
    fitted,
    labelled_row,
    row_of_equations,
    split_row,
)
from attncalc.reading.plain.stacks import stacked
from attncalc.reading.plain.tables import (
    TABLE_SIGN,
    cells_by_line,
    cells_of_table,
    groups_by_name,
    groups_of_table,
    sections_of_table,
    table_at,
)

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
_BEHIND_ROW = re.compile(r"(?<=[\d.%]) {2,}+\((?=[^()]*[^\d\s.,;()])[^()]{3,160}\)$")
"""Work in brackets after a row of numbers."""
_OF_PATTERNS = re.compile(r"[\s#*]*+What the weights show[\s*]*+")
_ENDS_PATTERNS = re.compile(rf"^\s*+#{{1,6}}\s|[=≈:]\s?{GRID.pattern}|\t|\||[=≈:]\s?$")
_HEADING = re.compile(r"\s*#{1,6}\s")
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
    goes_on: bool = False
    is_new: bool = False
    is_single: bool = False
    is_heading: bool = False
    is_table: bool = False
    is_other: bool = False


_ASIDE = re.compile(r"^(\s{0,9}[^\W\d_][^\d()\[\]=:]{1,60}) ?\([^()]{1,200}=[^()]{1,80}\):\s*$")
"""A heading with work in brackets: Weights (row 1: e^2 + e^1 = 10.11):"""
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
        Line(line.number, _ASIDE.sub(r"\1:", line.text)) for line in stacked(document, labels)
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
        if count := self._beside(i):
            return count
        self._said(line)
        return 1

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
        grids = self.document.grids
        text = GRID.sub(lambda match: f"[{grids[match[0]].text}]", block.text)
        block.text = typed(text).strip()
        self.is_new = False
        self.blocks.append(block)

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
        table = cells_by_line(lines)
        if matrices := self._several_of_table(lines, table):
            for name, rows in matrices:
                own = [*rows]
                while len(own) > 1 and not any(map(str.strip, own[-1])):
                    own.pop()  # beside a taller matrix
                kept = Grid((fitted(own),), first, last, "table")
                self._add(Block(first, last, f"{name}: {kept.text}", [name], kept))
            return True
        if GRID.search(text):
            return False
        rows, corner = cells_of_table(lines)
        rows = [row for row in rows if row]
        if not rows:
            return not any(c.isalnum() for c in text)
        if _has_words(rows):
            self._add(Block(first, last, text))
            return True
        cells = [cell for row in rows for cell in row]
        good = sum(map(looks_like_entry, cells))
        if 2 * good < len(cells) or (count == 1 and (good < len(cells) or good < 2)):
            return False
        grid = Grid((fitted(rows),), first, last, "table")
        firsts = [row[0].strip() for row in table if any(set(cell) - set("-: ") for cell in row)]
        self._add(
            Block(first, last, text, [corner] if corner else [], grid, is_table=True,
                  row_names=firsts[-len(rows) :] if len(rows) > 1 else [])
        )  # fmt: skip
        return True

    def _several_of_table(self, lines: Sequence[Line], table: Rows) -> list[tuple[str, Rows]]:
        """Return the matrices of a table, each with its name; [] for one matrix."""
        cells = [row for row in table if any(set(cell) - set("-: ") for cell in row)]
        if len({*map(len, cells)}) == 1:
            turned = [list(column) for column in zip(*cells, strict=True)]
            if found := self._vectors(cells) or self._vectors(turned):
                return found
        named = groups_of_table(lines, self.names_a_row) or groups_by_name(lines, self.names_a_row)
        return [*named.items()]

    def _vectors(self, cells: Rows) -> list[tuple[str, Rows]]:
        """Return the matrices of a table of vectors below their names, beside columns of numbers.

        The other columns and rows are words.
        """
        heads, *body = cells
        body = [row for row in body if any(map(self._vector, row))]
        if len(heads) < 2 or not body or self.names_a_row(body[0][0]):
            return []
        columns = [
            (head, [self._vector(cell) for cell in own], own)
            for head, own in zip(heads, zip(*body, strict=True), strict=True)
        ]
        names = [head for head, vectors, _ in columns if all(vectors)]
        if not names or not all(map(self.names_a_row, names)):
            return []
        return [
            (
                head,
                [row for rows in vectors for row in rows] if all(vectors) else [[c] for c in own],
            )
            for head, vectors, own in columns
            if all(vectors) or (head != heads[0] and all(c and looks_like_entry(c) for c in own))
        ]

    def _vector(self, cell: str) -> Rows:
        """Return the rows in a cell of a table: (1, 3), or 1, 3."""
        if GRID.fullmatch(clean := cell.strip(" $*")):
            return self.document.grids[clean].rows
        row = None if looks_like_entry(cell) else split_row(cell)
        return [row] if row and len(row) > 1 else []

    def _rows(self, i: int) -> int:
        """Read rows of numbers, with or without names, perhaps below names of their columns."""
        text = self.lines[i].text
        heads = [] if split_row(text) else _names_over(text, self.labels)
        rows: Rows = []
        names: list[str] = []
        stop = i + bool(heads)
        while stop < len(self.lines) and (row := self._row(stop, rows, len(heads))):
            if rows and bool(row[0]) != bool(names[0]):
                break
            names.append(row[0])
            rows.append(row[1])
            stop += 1
        are_columns = len(rows) > 1 and not heads and all(map(COLUMN.search, names))
        if are_columns and len({*map(len, rows)}) == 1:
            names, rows = [""] * len(rows), [list(column) for column in zip(*rows, strict=True)]
        is_row = bool(rows) and names[0] in self.labels and len(rows[0]) > 1
        if not rows or (names[0] and len(rows) < 2 and (heads or not is_row)):
            return 0
        self._grid(i, stop, [], rows, names if names[0] else [])
        return stop - i

    def _of_token(self, i: int) -> tuple[str, list[str]] | None:
        """Return the token and the cells of a row that follows the name of a token."""
        text = self.lines[i].text if i < len(self.lines) else ""
        found = labelled_row(text, self.labels)
        return found if found and found[0] in self.labels else None

    def _row(self, i: int, before: Rows, width: int = 0) -> tuple[str, list[str]] | None:
        """Return the name and the cells of the row in a line, or None.

        width: the number of cells of a row below names of columns, which may have any name.
        """
        text = _BEHIND_ROW.sub("", self.lines[i].text.rstrip())
        found = labelled_row(text, self.labels)
        if width:
            return found if found and len(found[1]) == width else None
        if cells := split_row(text) or row_of_equations(text):
            return "", cells
        if found and (not self.names_a_row(found[0]) or self._is_among_tokens(i, found)):
            return found
        near = before[-1] if before else self._row_below(i)
        if near and (cells := broken_row(text, len(near))):
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
        below = [line.text for line in self.lines[i + 1 : i + 4]]
        return next((row for text in below if (row := split_row(text))), None)

    def _beside(self, i: int) -> int:
        """Read a matrix that begins on the line of its name and continues below."""
        below = self.lines[i + 1].text if i + 1 < len(self.lines) else ""
        if not below.strip() or GRID.search(below):
            return 0
        clauses = self._clauses(self.lines[i], self.lines[i].text)
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
        text = line.text
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
                  goes_on=clause.continues, is_single=single)
        )  # fmt: skip


def _names_over(text: str, labels: Container[str]) -> list[str]:
    """Return the names of columns in a line: tokens, or one name with counts."""
    heads = text.split()
    stems = {head.rstrip("0123456789_") for head in heads}
    are_counted = len(stems) == 1 and all(head[-1:].isdigit() for head in heads)
    are_names = are_counted and any(map(str.isalpha, stems))
    is_row = 1 < len(heads) <= MOST_HEADS and (are_names or all(head in labels for head in heads))
    return heads if is_row else []


def _has_words(rows: Rows) -> bool:
    """Return whether a column of a table contains only words: it is not a matrix."""
    width = min(map(len, rows))
    columns = [[row[j] for row in rows] for j in range(width)]
    return len(rows) > 1 and any(
        not any(map(looks_like_entry, column))
        and all(any(c.isalpha() for c in cell) for cell in column)
        for column in columns
    )
