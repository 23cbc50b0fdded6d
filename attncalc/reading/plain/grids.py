"""Matrices in brackets: `[1 3; -1 1]`, `[[1, 3], [-1, 1]]`, `(1, 3)`, `⎡1 3⎤`, environments.

Each is replaced in its text by a single character.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from attncalc.reading.plain.comments import Comment, without_comments
from attncalc.reading.plain.marks import (
    BREAK,
    CELL,
    COMMA,
    FIRST_GRID,
    GRID,
    JOIN,
    MOST_GRIDS,
    PRIVATE,
    ROW,
    typed,
)
from attncalc.reading.plain.numerals import looks_like_entry
from attncalc.reading.plain.rows import Rows, fitted, parted, without_names
from attncalc.reading.plain.tex import BARE, CLOSE, OPEN, without_macros, without_tex
from attncalc.reading.plain.tidy import Struck, tidied, with_decimal_commas, within_bounds
from attncalc.reading.plain.valuing import value_of

DEEPEST = 8
WIDEST = 400
"""The largest number of columns of a line that is searched for matrices side by side."""
_FILL = "\ue007"
_INNERMOST = re.compile(f"{OPEN}([^{OPEN}{CLOSE}]*){CLOSE}")
_OPENING = re.compile(r"(?<![\w\\}\]^_√)'])[\[(]|(?<=[\w'] )[\[(]")
_INDEX = re.compile(r"[\[(]\s?\d{1,4}\s?(?:[,;]\s?\d{1,4}\s?){1,2}[\])]\s?(?:=|≈|:|→)")
_TALL = re.compile("[⎡⎢⎣⎛⎜⎝]([^⎡⎢⎣⎛⎜⎝⎤⎥⎦⎞⎟⎠\n]*)[⎤⎥⎦⎞⎟⎠]")
_WRAPPER = re.compile(
    rf"(?:\b(?:np|numpy|torch|jnp|tf|sp|sympy)\.)?\b(?:array|tensor|matrix|Matrix|asarray|mat|"
    rf"Tensor|constant|FloatTensor|Array|DeviceArray)\(\s*({GRID.pattern}){_FILL}*(?:,[^()]{{0,120}})?"
    rf"(?:\([^()\n]{{0,40}}\)[^()]{{0,80}})?\)"
)
_AROUND = re.compile(rf"[\[(]\s*({GRID.pattern}){_FILL}*\s*[\])]")
LONGEST_CELL = 60
_BRACKET = re.compile(r"[\[\]()]")
_COMMENT = re.compile(r"(?:#|%(?=[ \t]{0,40}[A-Za-z]))[^\n]*")
"""A comment after a row; a percent sign alone is not a comment."""
_BLOT = re.compile(r"[▒▓░█■□#?¿!�]{1,4}")
"""Signs in place of an illegible number."""
_WORD = re.compile(r"[^\W\d_]{3,}\.?")
_LEFT_OUT = ("...", "…")
_OF_ARITHMETIC = re.compile(r"[-+*·×/√^.\dEexpsqrt ]{1,80}+")
_OPERATOR_BEFORE, _OPERATOR_BEHIND = (
    re.compile(r"[-+*·×/√^] ?$|[A-Za-z]$"),
    re.compile(r" ?[-+*·×/^]"),
)
"""What is beside the brackets of a calculation: exp(2), 1/(1 + e), (1 + e)/2."""
_NUMBERLIKE = re.compile(r"\d|[½¼¾⅓⅔]|_{2,}|\?|∞|inf", re.IGNORECASE)
_UNCLOSED = re.compile(r"\[\s*[-+.\d\[]")
_LINE, _FILE_LINE = re.compile(f"[\n{BREAK}]"), re.compile(f"[\n{JOIN}]")


class Grid(NamedTuple):
    """A block of cells: rows of texts for each head, and its position."""

    heads: tuple[Rows, ...]
    line: int
    last: int
    kind: str
    column: int = 0

    @property
    def rows(self) -> Rows:
        """The rows of its last head."""
        return self.heads[-1]

    @property
    def text(self) -> str:
        """Its cells as one line."""
        rows = [" ".join(row) for head in self.heads for row in head]
        return typed("; ".join(rows))


class Line(NamedTuple):
    """One line of a document as it is read, and its line in the file."""

    number: int
    text: str


@dataclass
class Document:
    """A text as lines; a single character represents each grid."""

    lines: list[Line] = field(default_factory=list)
    grids: dict[str, Grid] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)
    struck: list[Struck] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    cut_at: int = 0
    shortened: list[tuple[int, str]] = field(default_factory=list)
    """Matrices that a program abbreviated, and their lines."""

    def add(self, grid: Grid) -> str:
        """Store a grid, and return the character that represents it."""
        mark = chr(FIRST_GRID + len(self.grids))
        self.grids[mark] = grid
        return mark

    @property
    def is_full(self) -> bool:
        """Whether it contains as many grids as an answer may."""
        return len(self.grids) >= MOST_GRIDS


def document_of(text: str) -> Document:
    """Return a text as a document."""
    document = Document()
    text, said = within_bounds(text)
    document.faults += [(0, each) for each in said]
    text, document.struck = tidied(without_macros(text))
    text, document.comments = without_comments(with_decimal_commas(text))
    converted = without_tex(text)
    document.faults += converted.faults
    finder = _Finder(document, converted.text)
    found = finder.environments(finder.text)
    found = _TALL.sub(finder.tall, found)
    found = finder.brackets(found)
    for pattern in (_WRAPPER, _AROUND):
        found = pattern.sub(lambda match: match[1] + _FILL * (len(match[0]) - 1), found)
    finder.lines(found)
    return document


def only_grid(text: str) -> Grid | None:
    """Return the matrix of a text with no other content: `1 3; -1 1`, `[[1, 3]]`; or None.

    >>> only_grid("1 3; -1 1/2").rows
    [['1', '3'], ['-1', '1/2']]
    """
    clean = text.strip().rstrip(";")
    if not clean.startswith(("[", "(", "\\", "⎡", "⎛", "$")) and "[" not in clean:
        clean = f"[{clean}]"
    document = document_of(PRIVATE.sub("", clean))
    lines = [line.text.strip(" .;,$") for line in document.lines]
    lines = [line for line in lines if line]
    if len(lines) == 1 and GRID.fullmatch(lines[0]):
        return document.grids[lines[0]]
    return None


class _Finder:
    """Replaces grids in a text without moving the text after them."""

    def __init__(self, document: Document, text: str) -> None:
        self.document = document
        self.text = text.replace(JOIN, " ")
        self.ends = [match.end() for match in _FILE_LINE.finditer(text)]

    def line(self, offset: int) -> int:
        return 1 + bisect_right(self.ends, offset)

    def lines(self, text: str) -> None:
        start = 0
        for match in _LINE.finditer(text):
            self._line(text, start, match.start())
            start = match.end()
        self._line(text, start, len(text))

    def _line(self, text: str, start: int, stop: int) -> None:
        clean = text[start:stop].replace(_FILL, "")
        self.document.lines.append(Line(self.line(start), clean))

    def _kept(self, heads: list[Rows], start: int, stop: int, kind: str) -> str:
        column = start - max(self.text.rfind("\n", max(0, start - WIDEST), start), start - WIDEST)
        grid = Grid(tuple(heads), self.line(start), self.line(stop - 1), kind, column)
        return self.document.add(grid) + _FILL * (stop - start - 1)

    def environments(self, text: str) -> str:
        """Replace LaTeX's matrices, innermost first; other arrays only set lines."""
        for _ in range(DEEPEST):
            text, count = _INNERMOST.subn(self._environment, text)
            if not count:
                break
        return text.translate(dict.fromkeys(map(ord, (OPEN, CLOSE, BARE)), _FILL))

    def _environment(self, match: "re.Match[str]") -> str:
        inner = match[1].replace(_FILL, "").lstrip(BARE)
        cells = [[cell.strip() for cell in row.split(CELL)] for row in inner.split(ROW)]
        rows = [row for row in cells if any(row)]
        if "=" in inner or GRID.search(inner) or self.document.is_full:
            return match[0].translate({ord(OPEN): BREAK, ord(CLOSE): BREAK, ord(BARE): _FILL,
                                       ord(CELL): " ", ord(ROW): BREAK})  # fmt: skip
        if not rows:
            return _FILL * len(match[0])
        kind = "bare" if match[1].startswith(BARE) else "environment"
        behind = match.string[match.end() : match.end() + 40].lstrip()
        if kind == "bare" and len(rows[0]) == 1 and behind.startswith(OPEN):
            return _FILL * len(match[0])  # the names of the rows
        rows = fitted(rows)
        own = without_names(rows) if kind == "bare" else rows
        return self._kept([own], match.start(), match.end(), kind)

    def tall(self, match: "re.Match[str]") -> str:
        """Replace one line between tall brackets."""
        cells = parted(match[1])
        if not cells or not all(map(looks_like_entry, cells)) or self.document.is_full:
            return match[0]
        return self._kept([[cells]], match.start(), match.end(), "row")

    def brackets(self, text: str) -> str:
        """Replace literals of programs, and vectors."""
        pieces: list[str] = []
        position = 0
        while (match := _OPENING.search(text, position)) and not self.document.is_full:
            start = match.start()
            pieces.append(text[position:start])
            heads, position, kind = self._literal(text, start)
            if heads:
                pieces.append(self._kept(heads, start, position, kind))
            else:
                pieces.append(text[start:position] if not kind else _FILL * (position - start))
        return "".join([*pieces, text[position:]])

    def _literal(self, text: str, start: int) -> tuple[list[Rows], int, str]:
        """Return the matrix that begins here, where to continue, and its kind; [] for none.

        A matrix that a program abbreviated is no matrix, and ends there.
        """
        nothing = list[Rows](), start + 1, ""
        if _INDEX.match(text, start) and text[start - 1 : start].strip() == "" and start:
            before = text[max(0, start - 12) : start].rstrip()
            if before[-1:].isalpha():
                return nothing
        try:
            tree, stop = parse(text, start)
        except TooDeep:
            self._fault(start, "brackets are nested too deeply")
            return [], start + len(text[start:]) - len(text[start:].lstrip("[( \n\t")), ""
        if tree is None:
            if text[start] == "[" and _UNCLOSED.match(text, start):
                self._fault(start, "a [ is never closed")
            return nothing
        if text[start] == "[" and is_shortened(tree):
            self.document.shortened.append((self.line(start), text[start:stop].replace(_FILL, "")))
            return [], stop, "shortened"
        is_round = text[start] == "("
        heads = heads_of(tree, is_round=is_round)
        if heads is None or not all(is_matrix(rows, is_round) for rows in heads):
            return nothing
        count = sum(len(row) for rows in heads for row in rows)
        is_row = len(heads) == len(heads[0]) == 1 and all(isinstance(each, str) for each in tree)
        return (heads, stop, "row" if is_row else "literal") if count > is_round else nothing

    def _fault(self, start: int, what: str) -> None:
        self.document.faults.append((self.line(start), what))


class TooDeep(ValueError):  # noqa: N818 - it is what happened
    """Brackets nested too deeply for a matrix."""


class Tree(list["Tree | str"]):
    """The content of two brackets: lists, or texts."""


def parse(text: str, start: int) -> tuple[Tree | None, int]:
    """Return the lists that begin with a bracket, and their end; None if there are none."""
    stack: list[Tree] = []
    position = start
    while position < len(text):
        stop = _end_of_piece(text, position) if stack else position
        if stop is None:
            return None, start
        if stop > position:
            stack[-1].append(text[position:stop])
        elif text[position] in "[(":
            inner = Tree()
            if stack:
                stack[-1].append(inner)
            stack.append(inner)
            if len(stack) > DEEPEST:
                raise TooDeep
        else:
            closed = stack.pop()
            if not stack:
                return closed, position + 1
        position = max(stop, position + 1)
    return None, start


def _end_of_piece(text: str, start: int) -> int | None:
    """Return the end of the text before a bracket of a list; None if it is not of a matrix."""
    if text[start] in "[]()":
        return (_end_of_arithmetic(text, start) if text[start] == "(" else 0) or start
    match = _BRACKET.search(text, start)
    stop = match.start() if match else len(text)
    piece = text[start:stop]
    is_between = not piece.strip(" ,\t\n") and text[stop : stop + 1] == "["
    if ("\n\n" in piece and not is_between) or "=" in piece or GRID.search(piece):
        return None  # a matrix does not continue in another paragraph
    return stop


def _end_of_arithmetic(text: str, start: int) -> int:
    """Return the end of a bracket that is part of a calculation in an entry; 0 for a list."""
    depth, stop = 0, start
    while stop < len(text) and (depth or stop == start) and stop - start < LONGEST_CELL:
        match = _OF_ARITHMETIC.match(text, stop)
        if text[stop] in "()":
            depth += 1 if text[stop] == "(" else -1
            stop += 1
        elif match is None:
            return 0
        else:
            stop = match.end()
    before = text[max(0, start - 2) : start]
    is_beside = _OPERATOR_BEFORE.search(before) or _OPERATOR_BEHIND.match(text, stop)
    return stop if not depth and is_beside and value_of(text[start:stop]) is not None else 0


def _depth(tree: Tree) -> int:
    return 1 + max((_depth(each) for each in tree if isinstance(each, Tree)), default=0)


def heads_of(tree: Tree, *, is_round: bool = False) -> list[Rows] | None:
    """Return the rows of each head, or None if lists and texts are mixed.

    In round brackets, and with decimal commas, semicolons separate the entries of one row.
    """
    while len(lists := [each for each in tree if isinstance(each, Tree)]) == 1 and (
        _depth(tree) > 2 and not "".join(each for each in tree if isinstance(each, str)).strip()
    ):
        tree = lists[0]  # a batch of one
    between = _COMMENT.sub("", _joined(tree))
    if not lists:
        return [_flat_rows(between, is_round=is_round)]
    if between.strip(" ,;\n\t.…"):
        return None
    depth = _depth(tree)
    if depth == 2:
        return [
            fitted([parted(_COMMENT.sub("", _joined(row)).replace("\n", " ")) for row in lists])
        ]
    if depth == 3:
        heads = [heads_of(each) for each in lists]
        return [rows[0] for rows in heads if rows] if all(heads) else None
    return None


def is_shortened(tree: Tree) -> bool:
    """Return whether a program abbreviated the rows, like numpy: … in each of them.

    >>> is_shortened(parse("[[1 2 ... 9], [3 4 ... 7]]", 0)[0])
    True
    >>> is_shortened(parse("[[1 2 ...], [3 4 9]]", 0)[0])
    False
    """
    lists = [each for each in tree if isinstance(each, Tree)]
    if len(lists) < 2 or _depth(tree) > 2:
        return any(map(is_shortened, lists))
    rows = [parted(_joined(row)) for row in lists]
    if any(each.strip(" ,;\n\t") in _LEFT_OUT for each in tree if isinstance(each, str)):
        return True
    inner = [{j for j, cell in enumerate(row[1:-1]) if cell in _LEFT_OUT} for row in rows]
    return bool(set.intersection(*inner))


def _joined(tree: Tree) -> str:
    return "".join(each for each in tree if isinstance(each, str))


def _flat_rows(text: str, *, is_round: bool) -> Rows:
    """Split `1 3; -1 1` into rows at semicolons and line ends."""
    text = text.replace("...\n", " ")
    rows = [parted(row) or row.split() for row in re.split(r"[;\n]", text) if row.strip(" ,\t")]
    if (is_round or COMMA in text) and "\n" not in text and all(len(row) == 1 for row in rows):
        return [[row[0] for row in rows]]
    for sign in (" / ", "|"):
        parts = [parted(row) or row.split() for row in text.split(sign)]
        if len(rows) == 1 < len(parts) and len({len(row) for row in parts}) == 1 < len(parts[0]):
            return fitted(parts)
    return fitted(rows)


def is_matrix(rows: Rows, is_round: bool) -> bool:
    """Return whether the texts can be entries: short, and mostly numbers or blanks."""
    cells = [cell for row in rows for cell in row]
    if any(len(cell) > LONGEST_CELL for cell in cells):
        return False
    misspelt = [cell for cell in cells if not looks_like_entry(cell)]
    bad = len(misspelt)
    if len(rows) == 1 and any(map(_WORD.fullmatch, misspelt)):  # [6 pts]
        return False
    if not any(_NUMBERLIKE.search(cell) for cell in cells):
        return False
    may_be = all(map(_BLOT.fullmatch, misspelt)) if is_round else True
    return may_be and 2 * bad <= len(cells)
