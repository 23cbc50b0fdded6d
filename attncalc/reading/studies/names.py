"""Names in the languages of studies: tokens by label or number, entries, rows of numbers."""

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import of_each, on_a_line
from attncalc.base.typed import NotANumber, quoted, read_number
from attncalc.base.types import Matrix
from attncalc.problem.fields import BIASES, FIXED, GIVEN, own_name
from attncalc.problem.problem import Problem
from attncalc.reading.names import canonical, unknown
from attncalc.solving.plan import plan


def read_row(text: str) -> Matrix:
    """Read a row of numbers in brackets, exactly: "[1, -1/2]"."""
    inner = text.strip().strip("[]").strip()
    cells = [cell for part in inner.split(",") for cell in part.split() or [""]]
    return np.array([number_of(cell) for cell in cells], dtype=object)


def number_of(text: str) -> Fraction:
    """Read a number exactly. Raises InputError if it is not a number."""
    try:
        return Fraction(read_number(text))
    except NotANumber as reason:
        raise InputError(str(reason)) from None


class _Axis(NamedTuple):
    kind: str
    size: int
    labels: tuple[str, ...] = ()


def place_of(name: str, text: str | None, problem: Problem) -> tuple[int | slice, ...]:
    """Return the place of a change in a given matrix: [a] is a token, [2,1] an entry."""
    if text is None:
        return ()
    matrix: Matrix = problem.stored(name)
    names = tokens_of(name, problem)
    others = problem.keys if name in ("S", "A") else ()
    rows, columns = problem.standing.pair(names, others)
    found = [_Axis("row", matrix.shape[-2], rows), _Axis("column", matrix.shape[-1], columns)]
    axes = [_Axis("head", matrix.shape[0]), *found] if matrix.ndim == 3 else found
    indices = split_list(text)
    what = f"{name} is {' × '.join(map(str, matrix.shape))}"
    if len(indices) == 1 and len(axes) > 1:
        if own_name(name) in BIASES:  # its numbers are counted, and not tokens
            token = -2 if problem.standing.by_columns else -1
        else:
            token = -1 if problem.standing.has_token_columns(name) else -2
        place: list[int | slice] = [slice(None)] * len(axes)
        place[token] = _index(indices[0], axes[token], what)
        return tuple(place)
    if len(indices) != len(axes):
        form = f"{name}[{'head,' if len(axes) == 3 else ''}row,column]"
        raise InputError(f"{what}: write {form}, with : for all of a kind")
    return tuple(_index(index, axis, what) for index, axis in zip(indices, axes, strict=True))


def tokens_of(name: str, problem: Problem) -> tuple[str, ...]:
    """Return the names of the tokens of a given matrix; () if it has none."""
    if name in (problem.query_source, problem.query_source.replace("X", "P"), "Q", "S", "A"):
        return problem.queries
    if name in ("K", "V", "X", "X2", "P2"):
        return problem.keys
    return ()


_PIECES = re.compile(r"""\"[^\"]*+\"|'[^']*+'|[^,"']++|[,"']""")
"""Names in quotes, the text between commas, and the rest: a comma, or a single quote."""


def split_list(text: str) -> list[str]:
    """Return the parts between commas; a name in quotes may contain one."""
    cells = [""]
    for piece in _PIECES.findall(text):
        if piece == ",":
            cells.append("")
        else:
            cells[-1] += piece
    found = [cell.strip() for cell in cells]
    return found[:-1] if len(found) > 1 and not found[-1] else found


def _index(text: str, axis: _Axis, what: str) -> int | slice:
    if text == ":":
        return slice(None)
    return index_of(text, axis.kind, axis.size, axis.labels, what)


def index_of(text: str, kind: str, size: int, labels: Sequence[str], what: str) -> int:
    """Return the index of an item, from 0: by its label, or by its number from 1."""
    plain = text.strip("\"'")
    if plain in labels:
        return list(labels).index(plain)
    if re.fullmatch(r"[0-9]{1,12}", text):
        if 1 <= int(text) <= size:
            return int(text) - 1
        raise InputError(f"{what}, so there is no {kind} {int(text)}: give 1 to {size}")
    known = f"there are {of_each([on_a_line(each) for each in labels])}" if labels else ""
    raise InputError(
        f"{what}, and no {kind} is called {quoted(plain)}: {known or f'give 1 to {size}'}"
    )


def split_outside(text: str) -> list[str]:
    """Return the parts between commas outside brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def given_name(text: str, problem: Problem, others: Iterable[str] = ()) -> str:
    """Return the name of the given matrix that a text means."""
    if text in problem.more:
        return text
    name = canonical(text)
    if not name or own_name(name) not in GIVEN or own_name(name) in FIXED:
        check_given(text, problem, among_steps=True)
        known = [each for each in (*problem.names, *others) if each not in FIXED]
        raise InputError(unknown(text, known))
    check_given(name, problem)
    return name


def check_given(name: str, problem: Problem, *, among_steps: bool = False) -> None:
    """Refuse a matrix that is not given, and cannot change; `among_steps` refuses only steps."""
    if name in problem.names:
        return
    steps = [step.name for step in plan(problem)]
    if among_steps and name not in steps:
        return
    given = of_each([each for each in problem.names if each not in FIXED])
    how = f"{name} is computed here" if name in steps else f"this problem has no {name}"
    raise InputError(f"{how}, and only what is given can change: there are {given}")


_ROW_OF = re.compile(
    r"((?:\d{1,4}\.)?(?:(?:self|cross)\.)?[^\W\d]\w*+)\s*+\[(.+)\]|([xkvq])_(?:\{(.+)\}|(.+))",
    re.DOTALL,
)


def row_named(text: str, problem: Problem) -> Matrix | None:
    """Return a row of a given matrix by name, such as "K[b]" or "k_b"; None if it is not one."""
    found = _ROW_OF.fullmatch(text.strip())
    if found is None:
        return None
    name = found[1] or found[3].upper()
    token = found[2] or found[4] or found[5]
    if own_name(name) not in GIVEN:
        return None
    check_given(name, problem)
    row: Matrix = problem.as_typed(name)[place_of(name, token, problem)]
    return np.array([Fraction(number) for number in row.reshape(-1)], dtype=object)
