"""Matrices as programs write them: `[1 3; -1 1]`, `[[1, 3], [-1, 1]]`, `((1, 3), (-1, 1))`.

Nothing is evaluated: nested brackets become lists, to a limited depth, and their content is text.
"""

import itertools
import re

from attncalc.reading.plain.marks import COMMA, GRID
from attncalc.reading.plain.numerals import looks_like_entry
from attncalc.reading.plain.rows import Rows, fitted, parted
from attncalc.reading.plain.valuing import value_of

DEEPEST = 8
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
    if not all(map(looks_like_entry, itertools.chain(*rows))):
        return False
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
    if not cells or any(len(cell) > LONGEST_CELL for cell in cells):
        return False
    misspelt = [cell for cell in cells if not looks_like_entry(cell)]
    bad = len(misspelt)
    if len(rows) == 1 and any(map(_WORD.fullmatch, misspelt)):  # [6 pts]
        return False
    if not any(_NUMBERLIKE.search(cell) for cell in cells):
        return False
    may_be = all(map(_BLOT.fullmatch, misspelt)) if is_round else True
    return may_be and 2 * bad <= len(cells)
