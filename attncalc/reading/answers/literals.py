"""Matrices as programs write them: `[1 3; -1 1]`, `[[1, 3], [-1, 1]]`, `tensor([[1., 3.]])`.

Nothing is evaluated: brackets are followed to a limited depth; what stands between them is text.
"""

import re

Rows = list[list[str]]

DEEPEST = 8
LONGEST_CELL = 60
_CELL = re.compile(r"[^\[\],;\n]*")


class TooDeep(ValueError):  # noqa: N818 - it is what happened
    """Brackets nested beyond every matrix."""


class _List(list["_List | str"]):
    """What stands between two brackets: lists, or one text."""


def literal_at(text: str, start: int) -> tuple[list[Rows], int] | None:
    """Return the matrix whose bracket opens at `start`, for each head, and where it ends.

    None where it is no matrix.

    Raises
    ------
    TooDeep
        When brackets are nested beyond eight.

    Examples
    --------
    >>> literal_at("[1 3; -1 1]", 0)
    ([[['1', '3'], ['-1', '1']]], 11)
    """
    parsed = _parse(text, start)
    if parsed is None:
        return None
    tree, stop = parsed
    while len(tree) == 1 and isinstance(tree[0], _List) and _depth(tree) > 2:
        tree = tree[0]  # a batch of one
    heads = _heads(tree)
    if heads is None or not all(_is_matrix(rows) for rows in heads):
        return None
    return heads, stop


def _parse(text: str, start: int) -> tuple[_List, int] | None:
    stack: list[_List] = []
    position = start
    while position < len(text):
        character = text[position]
        if character == "[":
            inner = _List()
            if stack:
                stack[-1].append(inner)
            stack.append(inner)
            if len(stack) > DEEPEST:
                raise TooDeep
            position += 1
        elif character == "]":
            closed = stack.pop()
            position += 1
            if not stack:
                return closed, position
        else:
            stop = _next_bracket(text, position)
            stack[-1].append(text[position:stop])
            position = stop
    return None


def _next_bracket(text: str, position: int) -> int:
    found = [place for mark in "[]" if (place := text.find(mark, position)) >= 0]
    return min(found, default=len(text))


def _depth(tree: _List) -> int:
    return 1 + max((_depth(each) for each in tree if isinstance(each, _List)), default=0)


def _heads(tree: _List) -> list[Rows] | None:
    """Return the rows of each head, or None where lists and texts are mixed."""
    lists = [each for each in tree if isinstance(each, _List)]
    between = "".join(each for each in tree if isinstance(each, str))
    if not lists:
        return [_flat_rows(between)]
    if between.strip(" ,;\n\t."):
        return None
    depth = _depth(tree)
    if depth == 2:
        return [[_cells("".join(map(str, row)).replace("\n", " ")) for row in lists]]
    if depth == 3:
        heads = [_heads(each) for each in lists]
        return [rows[0] for rows in heads if rows] if all(heads) else None
    return None


def _flat_rows(text: str) -> Rows:
    """Part `1 3; -1 1` into rows at semicolons and at the ends of lines."""
    return [_cells(row) for row in re.split(r"[;\n]", text.replace("...\n", " ")) if row.strip()]


def _cells(row: str) -> list[str]:
    if "," in row:
        cells = [cell.strip() for cell in row.split(",")]
        return cells[:-1] if len(cells) > 1 and not cells[-1] else cells
    return row.split()


def _is_matrix(rows: Rows) -> bool:
    """Say whether the texts can be entries: short ones, and a number or a blank among them."""
    cells = [cell for row in rows for cell in row]
    return (
        bool(cells)
        and all(len(cell) <= LONGEST_CELL for cell in cells)
        and any(re.fullmatch(r"[\"']?(?:.*\d.*|[?_]+|.*[½¼¾⅓⅔].*|.*inf.*)[\"']?", c) for c in cells)
    )
