"""Steps that no rule of layout or wording found: their numbers say where they are.

A step that was not read, or was read in another shape, is looked for among the numbers of lines
that belong to no other step: its rows in order, the entries of each side by side, small gaps
allowed. Numbers alone are no judge: it is read only where most of them are the key's, where nothing
else of the answer has these numbers, and it is said.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import Taken, WrittenMatrix, matrix_of_entries
from attncalc.reading.answers.expected import NEAR, Expected
from attncalc.reading.answers.keeping import Collected
from attncalc.reading.answers.parts import entries_of

ENOUGH, AGAIN = 0.75, 0.1
"""The share of a step's entries that must be the key's, and by how much more than elsewhere."""
FEWEST, MOST_NUMBERS, MOST_CELLS = 4, 4_000, 20_000_000
"""Entries of a step that is looked for; numbers of a text that are looked at; pairs compared."""
GAPS = (0.0, 0.02, 0.1, 0.2)
"""What numbers between two rows cost, by how many they are; any other distance costs `FAR`."""
FAR = 0.5
_NUMBER = re.compile(
    r"(?<![\w.,/^])[-−–+]?(?:\d+(?:\.\d+)?|\.\d+|∞|inf)(?:/\d+)?(?![\w^/]|[.,]\d)", re.IGNORECASE
)
_ZERO = re.compile(r"(?<![^\W\d_])O(?=\.\d)|(?<=\d)O(?![^\W\d_])")
_ONE = re.compile(r"(?<![^\W\d_])[lI](?=\.\d)|(?<=\d)[lI](?![^\W\d_])")
_OF_PRODUCTS = re.compile(r"\s*(?:[*·×^+]|\\cdot|\\times)")
"""What stands behind a number of the arithmetic, and behind no result."""


@dataclass(frozen=True)
class Token:
    """A number of a text, with its line, and where it starts and ends there."""

    text: str
    value: float
    line: int
    column: int
    end: int


def witnessed(
    text: str, expected: Expected, matrices: Mapping[str, WrittenMatrix], found: Collected
) -> Iterator[tuple[str, WrittenMatrix, Taken]]:
    """Yield the steps that the numbers alone show, each with where it is.

    Parameters
    ----------
    text
        The answer, line by line.
    expected
        The steps that it may hold.
    matrices
        What was read of it.
    found
        What lines were taken for, and those that were not read.
    """
    missing = {n: key for n, key in expected.steps.items() if _is_looked_for(n, expected, matrices)}
    if not missing:
        return
    lines = [_without_slips(line) for line in text.split("\n")]
    tokens = list(islice(_tokens(lines), MOST_NUMBERS))
    if len(tokens) == MOST_NUMBERS:
        found.remarks.append(
            f"steps without a name are looked for in {MOST_NUMBERS:,} numbers only"
        )
    if not tokens:
        return
    of_others = _lines_of(found, lambda each: each.what != "" or each.last > each.line)
    free = np.array([each.line not in of_others for each in tokens])
    for name, key in missing.items():
        own = _lines_of(found, partial(_is_of, name))
        usable = free | np.array([each.line in own for each in tokens])
        # where entries alone could not be read, all of them must agree
        is_faulty = name in matrices and matrices[name].shape == key.shape
        rows = _rows_of(key, tokens, usable, lines, 1.0 if is_faulty else ENOUGH)
        if rows is None or (own and not own & {each.line for row in rows for each in row}):
            continue
        free &= usable
        first, last = rows[0][0].line, rows[-1][-1].line
        cells = [[each.text for each in row] for row in rows]
        where = f"line {first}" if first == last else f"lines {first} to {last}"
        written = matrix_of_entries([entries_of(cells)], where)
        how = f"read as {name}, because its numbers are those of {name}{_slips(rows, text)}"
        yield name, written, Taken(first, last, name, how, "; ".join(" ".join(r) for r in cells))


def _lines_of(found: Collected, wanted: Callable[[Taken], bool]) -> set[int]:
    """Return the lines that were taken for something."""
    ranges = (
        range(each.line, max(each.line, each.last) + 1) for each in found.taken if wanted(each)
    )
    return {line for lines in ranges for line in lines}


def _is_of(name: str, taken: Taken) -> bool:
    return taken.what == name or taken.what.startswith((f"{name}[", f"{name} "))


def _slips(rows: list[list[Token]], text: str) -> str:
    """Say which letters are read as digits."""
    lines = text.split("\n")
    typed = {each: lines[each.line - 1][each.column : each.end] for row in rows for each in row}
    said = [f"{given} as {each.text}" for each, given in typed.items() if re.search("[OlI]", given)]
    return f", with {', '.join(said)}" if said else ""


def _without_slips(line: str) -> str:
    """Return a line with the letters that a reader of pictures takes for digits as digits.

    Examples
    --------
    >>> _without_slips("-O.5 1.4l Ol")
    '-0.5 1.41 Ol'
    """
    return _ZERO.sub("0", _ONE.sub("1", line))


def _is_looked_for(name: str, expected: Expected, matrices: Mapping[str, WrittenMatrix]) -> bool:
    """Say whether a step is not read, and its numbers could be those of no other matrix."""
    key = expected.steps[name]
    if key.ndim != 2 or key.size < FEWEST or len(np.unique(key)) < 3:
        return False
    if name in matrices and not _is_broken(matrices[name], key):
        return False
    others = [each for other, each in expected.steps.items() if other != name]
    others += [*expected.given.values()]
    others += [each.values for other, each in matrices.items() if other != name]
    wanted = np.sort(key.ravel())
    alike = (each for each in others if each.size == key.size)
    return all(_near(np.sort(each.ravel()), wanted).mean() < ENOUGH for each in alike)


def _is_broken(written: WrittenMatrix, key: Matrix) -> bool:
    """Say whether a matrix has fewer numbers than its step, a row without any, or a fault."""
    if written.shape != key.shape:
        return int((~np.isnan(written.values)).sum()) <= key.size
    return bool(np.isnan(written.values).all(axis=1).any() or written.faults)


def _rows_of(
    key: Matrix, tokens: list[Token], free: Matrix, lines: list[str], enough: float
) -> list[list[Token]] | None:
    """Return the rows of a step among numbers that are free, and take these; None for nowhere."""
    values, width = np.array([each.value for each in tokens]), key.shape[1]
    share, starts = _best(values, free, key)
    rows = [tokens[start : start + width] for start in starts]
    if share < enough or not _are_apart(rows, lines, is_whole=share == 1):
        return None
    others = free.copy()
    for start in starts:
        others[start : start + width] = False
    if _best(values, others, key)[0] >= share - AGAIN:
        return None  # it is there twice: which of them is meant, nothing says
    free[:] = others
    return rows


def _are_apart(rows: list[list[Token]], lines: list[str], *, is_whole: bool) -> bool:
    """Say whether what is between two rows differs from what is between two entries of one.

    Where some numbers differ from the key's, all entries must be parted alike, too.
    """

    def between(one: Token, other: Token) -> str:
        if one.line != other.line:
            return "\n"
        return re.sub(r"\d", "", lines[one.line - 1][one.end : other.column]).strip()

    within = {between(*pair) for row in rows for pair in pairwise(row)}
    if not is_whole and len(within) > 1:
        return False
    return all(between(one[-1], other[0]) not in within for one, other in pairwise(rows))


def _tokens(lines: list[str]) -> Iterator[Token]:
    """Yield the numbers of a text that may be results: none of a product, an index or a count."""
    for number, line in enumerate(lines, start=1):
        for found in _NUMBER.finditer(line):
            if _OF_PRODUCTS.match(line, found.end()):
                continue
            typed = found[0].replace("−", "-").replace("–", "-").lstrip("+")
            yield Token(typed, _value(typed), number, found.start(), found.end())


def _value(text: str) -> float:
    if text.lstrip("-") in ("∞", "inf"):
        return -np.inf
    top, _, bottom = text.partition("/")
    try:
        return float(top) / (float(bottom) if bottom else 1)
    except (ValueError, ZeroDivisionError):
        return np.nan


def _near(values: Matrix, others: Matrix) -> Matrix:
    with np.errstate(invalid="ignore"):
        near = np.abs(values - others) <= NEAR * np.maximum(1, np.abs(others) / 10)
    return np.asarray(near | (values == others))


def _best(values: Matrix, free: Matrix, key: Matrix) -> tuple[float, list[int]]:
    """Return where the rows of a key are best among numbers, in order: the share, and the starts.

    Dynamic programming over the rows; each start of a row is tried.
    """
    width = key.shape[1]
    count = len(values) - width + 1
    if count < 1 or count * key.size > MOST_CELLS:
        return 0.0, []
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    is_free = np.lib.stride_tricks.sliding_window_view(free, width).all(axis=1)
    hits = np.array([np.where(is_free, _near(windows, row).sum(axis=1), -9.0) for row in key])
    best, back = hits[0], []
    for row in hits[1:]:
        before, came = _reached(best, width)
        back.append(came)
        best = before + row
    starts = [int(best.argmax())]
    share = float(best[starts[0]]) / key.size
    for came in reversed(back):
        starts.append(int(came[starts[-1]]))
    return (share, starts[::-1]) if min(starts) >= 0 else (0.0, [])


def _reached(best: Matrix, width: int) -> tuple[Matrix, Matrix]:
    """Return the best sum of the rows before each start, and where the last row starts."""
    count = len(best)
    places = np.arange(count)
    running = np.maximum.accumulate(best)
    first = np.maximum.accumulate(np.where(best == running, places, 0))
    far = places - width
    made = np.where(far >= 0, running[np.maximum(far, 0)] - FAR, -99.0)
    came = np.where(far >= 0, first[np.maximum(far, 0)], -1)
    for gap, cost in enumerate(GAPS):
        start = places - width - gap
        sums = np.where(start >= 0, best[np.maximum(start, 0)] - cost, -99.0)
        came = np.where(sums > made, start, came)
        made = np.maximum(made, sums)
    return made, came
