"""Answers in text: Markdown, LaTeX, literals of MATLAB and Python, and filled-in worksheets.

One pass over the lines: a heading or `Q =` says whose the next matrix is; a matrix is a table, an
environment of LaTeX, a bracketed literal, or plain rows of numbers.
"""

import re
from typing import NamedTuple

from attncalc.reading.answers.answer import Answer, WrittenConnection
from attncalc.reading.answers.entry import looks_like_entry
from attncalc.reading.answers.lines import connection_in, is_about_lines
from attncalc.reading.answers.literals import TooDeep, literal_at
from attncalc.reading.answers.raw import Raw, Rows, assembled, named, without_names

_TABLE = re.compile(r"\s*[|│╭├╰┌└+]")
_RULE = re.compile(r"[\s|:+\-─│╭├╰┌└┬┼┴╮┤╯┐┘]*")
_OUTER = re.compile(r"^[|│]|[|│]$")
_DELIMITER = re.compile(r"[ \t]*:?-{2,}[-:| \t]*\|[-:| \t]*")
_BAR = re.compile(r"[|│]")
_ENVIRONMENT = re.compile(r"\\begin\s*\{(\w*matrix\*?|array)\}(?:\s*\{[^{}]*\})?")
_START = re.compile(rf"{_ENVIRONMENT.pattern}|(?<![\w\\}}\]\[])\[")
_ASSIGNED = re.compile(r"(\\?[A-Za-z][^=:<>\n&$]{0,60}?)\s*(?:=|:=?|←)(?![=>])")
_BEGUN = re.compile(r"(?m)^([ \t]*[A-Za-z]\w*[ \t]*[=:])[ \t]+([-+.\d½¼¾?][^\[\]|&\\=\n]*)$")
"""A name with the first row of its matrix beside it."""
_EQUATION = re.compile(r"\$\$?|\\\[|\\\(|\\qquad|\\quad|;|\n|&")
_CAPTION = re.compile(r"\b(row|column)s? (\d{1,6})(?: to (\d{1,6}))? of \d+", re.IGNORECASE)
_HEAD = re.compile(r"\bhead (\d{1,4})\b", re.IGNORECASE)
_LOOSE = re.compile(
    r"\\(?:noindent|par|textbf|subsection|section|paragraph)\*?|[{}#*`>$]|\\[()\[\]]"
)


class _Block(NamedTuple):
    """A matrix that was found: its rows, and where it ends in the text."""

    rows: Rows
    stop: int


def read_text_answer(text: str, place: str) -> Answer:
    """Return the answer that a text holds; what cannot be read is noted, and the rest is kept."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    scanner = _Scanner(_BEGUN.sub(r"\1\n\2", lines))
    scanner.run()
    return assembled(
        place,
        [each for each in scanner.found if each.name],
        scanner.faults,
        scanner.connections or None,
    )


class _Scanner:
    """Reads a text from its first line to its last, and keeps whose the next matrix is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Raw] = []
        self.faults: list[str] = []
        self.connections: list[WrittenConnection] = []
        self.name = ""
        self.is_fresh = False
        self.head = 0
        self.row_from = self.column_from = 0
        self.last_stop = 0
        self.missing: set[str] = set()
        self.line = 0
        self.counted = 0

    def run(self) -> None:
        """Read all of it."""
        position = 0
        while position < len(self.text):
            end = self._end_of_line(position)
            line = self.text[position:end]
            if self._is_table(line, end):
                position = self._table(position)
            elif start := _START.search(self.text, position, end):
                position = self._bracketed(position, start)
            elif self.is_fresh and self.name and self._is_row(line):
                position = self._rows(position)
            else:
                self._said(line)
                position = end + 1

    def _end_of_line(self, position: int) -> int:
        end = self.text.find("\n", position)
        return len(self.text) if end < 0 else end

    def _is_table(self, line: str, end: int) -> bool:
        """Say whether a table begins: with a bar or a frame, or without, above a line of dashes."""
        below = self.text[end + 1 : self._end_of_line(end + 1)]
        if _TABLE.match(line):
            return _BAR.search(line + below) is not None
        return "|" in line and _DELIMITER.fullmatch(below) is not None

    def _table(self, position: int) -> int:
        """Read consecutive lines of a table: Markdown's, or the frame of a worksheet."""
        rows: Rows = []
        start, framed = position, False
        while position < len(self.text):
            end = self._end_of_line(position)
            line = self.text[position:end]
            if not _TABLE.match(line) and "|" not in line:
                break
            framed = framed or line.lstrip()[:1] in "╭├╰┌└+│"
            if not _RULE.fullmatch(line) or (line.strip("|│ ") == "" and "│" not in line):
                rows.append([cell.strip() for cell in _BAR.split(_OUTER.sub("", line.strip()))])
            position = end + 1
        if framed:  # a worksheet of our own: its first line and column are names
            width = len(_parted(" ".join(rows[0][1:]))) if rows else 0
            parted = [_parted(" ".join(row[1:])) for row in rows[1:]]
            rows = [row or [""] * width for row in parted]
        else:
            rows = without_names(_filled(rows))
        self._keep(start, [row for row in rows if row])
        return position

    def _bracketed(self, position: int, start: "re.Match[str]") -> int:
        """Read an environment or a literal, and what stands before it on its line."""
        before = self.text[self.last_stop : start.start()]
        is_new = self._introduced(before, position)
        block = self._environment(start) if start[1] else self._literal(start.start())
        if block is None:
            self._said(self.text[position : self._end_of_line(position)])
            return self._end_of_line(position) + 1
        if not is_new and self.found and self.found[-1].name == self.name:
            self.found.pop()  # a product and its result, or names of rows and their matrix
        self.last_stop = block.stop
        self._keep(start.start(), block.rows)
        return block.stop

    def _introduced(self, before: str, position: int) -> bool:
        """Take the name from what stands before a matrix; say whether there is a new one."""
        self.last_stop = max(self.last_stop, position)
        equation = _EQUATION.split(before.rstrip())[-1]
        captions = list(_CAPTION.finditer(before))
        matches = list(_ASSIGNED.finditer(equation))
        if head := _HEAD.match(equation.strip()):
            self.head = int(head[1])
        for match in matches:
            if what := named(match[1].split(",")[-1]):
                self._begin(what[0], what[1] or (self.head if head else 0))
                for caption in captions:
                    self._caption(caption)
                return True
        for caption in captions:
            self._caption(caption)
        if matches and re.search(r"[A-Za-z]", matches[0][1]) and not _only_tex(matches[0][1]):
            self._begin(matches[0][1].strip(), 0)
            return True
        return "\n\n" in before or bool(captions)

    def _environment(self, start: "re.Match[str]") -> _Block | None:
        closing = f"\\end{{{start[1]}}}"
        stop = -1 if closing in self.missing else self.text.find(closing, start.end())
        if stop < 0:
            self.missing.add(closing)
            self.faults.append(f"line {self._line(start.start())}: {start[0]} is never closed")
            return None
        content = re.sub(r"(?<!\\)%.*", "", self.text[start.end() : stop])
        content = re.sub(r"\\(?:hline|noalign\{[^{}]*\})", "", content)
        rows = [row for row in re.split(r"\\\\(?:\[[^\]]*\])?|\\cr\b", content) if row.strip()]
        return _Block([row.split("&") for row in rows], stop + len(closing))

    def _literal(self, start: int) -> _Block | None:
        try:
            found = literal_at(self.text, start)
        except TooDeep:
            self.faults.append(f"line {self._line(start)}: brackets are nested too deeply")
            return None
        if found is None:
            if self.name and self.text.find("]", start) < 0:
                self.faults.append(
                    f"line {self._line(start)}: the [ of {self.name} is never closed"
                )
            return None
        heads, stop = found
        if len(heads) > 1:
            for number, rows in enumerate(heads[:-1], start=1):
                self.head = number
                self._keep(start, rows)
            self.head = len(heads)
        return _Block(heads[-1], stop)

    def _is_row(self, line: str) -> bool:
        """Say whether a line is a row of numbers, or of spaces for them."""
        cells = _row_cells(line)
        return bool(re.search(r"\d|__|[?½¼¾]", line)) and all(map(looks_like_entry, cells))

    def _rows(self, position: int) -> int:
        """Read plain rows of numbers under a name."""
        start, rows = position, []
        while position < len(self.text):
            end = self._end_of_line(position)
            line = self.text[position:end]
            if not self._is_row(line):
                break
            rows.append(_row_cells(line))
            position = end + 1
        self._keep(start, rows)
        return position

    def _said(self, line: str) -> None:
        """Take from a line of words whose the next matrix is."""
        clean = _LOOSE.sub(" ", line).strip()
        captions = list(_CAPTION.finditer(line))
        for caption in captions:
            self._caption(caption)
        if is_about_lines(line):
            found = connection_in(line, self.head)
            self.connections += [found] if found else []
            self.is_fresh = False
        elif (head := _HEAD.match(clean)) and not named(clean):
            self.head, self.is_fresh = int(head[1]), True
        elif what := _named_in(line, clean):
            self._begin(*what)
        elif not captions and line.lstrip().startswith(("#", r"\section", r"\subsection")):
            self._begin("", 0)

    def _begin(self, name: str, head: int) -> None:
        self.head = head
        self.name, self.is_fresh = name, True
        self.row_from = self.column_from = 0

    def _caption(self, caption: "re.Match[str]") -> None:
        place = int(caption[2]) - 1
        if caption[1].lower() == "row":
            self.row_from, self.column_from = place, 0
        else:
            self.column_from = place

    def _keep(self, start: int, rows: Rows) -> None:
        where, self.is_fresh = f"line {self._line(start)}", False
        if not rows:
            return
        if not self.name:
            if sum(len(row) for row in rows) > 1:
                self.faults.append(f"{where}: a matrix without a name: head it with one, as Q")
            return
        self.found.append(
            Raw(
                self.name,
                self.head,
                rows,
                where,
                row_from=self.row_from,
                column_from=self.column_from,
            )
        )

    def _line(self, position: int) -> int:
        self.line += self.text.count("\n", self.counted, position) if position > self.counted else 0
        self.counted = max(self.counted, position)
        return self.line + 1


def _parted(line: str) -> list[str]:
    """Part a line of a worksheet into entries: by two blanks, or by one where that is needed.

    Examples
    --------
    >>> _parted("1.00  2 1/2 ●"), _parted("1 -2.5")
    (['1.00', '2 1/2'], ['1', '-2.5'])
    """
    cells: list[str] = []
    for cell in re.split(r"  |\t", re.sub(r"[●○†]", " ", line).strip()):
        cell = cell.strip()
        if not cell:
            continue
        cells += [cell] if looks_like_entry(cell) or " " not in cell else cell.split()
    return cells


def _row_cells(line: str) -> list[str]:
    """Part a plain row at commas, semicolons or tabs, and else at blanks."""
    parts = re.split(r"[,;\t]", line.strip())
    return [part.strip() for part in parts] if len(parts) > 1 else line.split()


def _filled(rows: Rows) -> Rows:
    """Take HTML's blanks out of cells, and pad rows whose last cells were left out."""
    width = max((len(row) for row in rows), default=0)
    clean = [[re.sub(r"&nbsp;|<br ?/?>", " ", cell).strip() for cell in row] for row in rows]
    return [row + [""] * (width - len(row)) if len(row) >= width - 1 else row for row in clean]


def _only_tex(text: str) -> bool:
    return re.fullmatch(r"[\s\\a-z{}^·*⊤ᵀT_&.()\d+-]*", text) is not None and "\\" in text


def _named_in(line: str, clean: str) -> tuple[str, int] | None:
    """Return the matrix that a line of words announces: a heading, `Q =` or `Q: queries`."""
    candidates = [re.split(r"[:=←]|,| {2,}", clean)[0].strip(), clean]
    if match := _ASSIGNED.search(line):
        candidates.append(match[1])
    return next((what for each in candidates if each and (what := named(each))), None)
