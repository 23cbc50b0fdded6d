"""Steps that no rule read, found by their numbers among all numbers of a text."""

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from attncalc.numbers.types import Matrix
from attncalc.reading.answers.answer import Taken, Unread, WrittenMatrix, matrix_of_entries
from attncalc.reading.answers.expected import NEAR, Expected
from attncalc.reading.answers.keeping import Collected
from attncalc.reading.answers.parts import Part
from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.numerals import read_entry

ENOUGH = 0.75
"""The share of a step's numbers from which they may be the step, with a mistake in it."""
MOST_CELLS = 2_000_000
"""Comparisons of a number with a step's number, for one step; with more it is not looked for."""
FEWEST = 4
"""Different numbers in a step, at the least: fewer are found anywhere by chance."""
_GAPS = ((0, 0.0), (1, 0.02), (2, 0.1), (3, 0.2))
"""Numbers that may stand between two rows, as a row's own number, and what each gap costs."""
_JUMP = 0.5
_CLEANED = (
    (re.compile(r"\\[td]?frac\{(-?[\d.]{1,12})\}\{([\d.]{1,12})\}"), r"\1/\2"),
    (re.compile(r"-\s?(?:\\infty|∞|inf(?:inity)?\b)", re.IGNORECASE), "-inf"),
    (re.compile(r"(?<=[\d.])[lI](?=[\d\s]|$)|(?<![A-Za-z\d])[lI](?=[\d.])"), "1"),
    (re.compile(r"(?<![A-Za-z\d])O(?=\.\d)|(?<=[\d.])O(?![A-Za-z])"), "0"),
    (re.compile(r"\\mathbb\{?R\}?\^\{[^}]{1,40}\}|[_^]\{[^}]{1,20}\}|[_^]\w{1,3}"), " "),
    (re.compile(r"^\s{0,8}\d{1,2}(?:[.)](?=\s)|、)"), " "),
)
_NUMBER = re.compile(
    r"(?<![\w.])-?(?:inf\b|(?:\d{1,15}(?:\.\d{1,20})?|\.\d{1,20})(?:e[-+]?\d{1,3})?"
    r"(?:/\d{1,9})?%?)(?!\w)"
)
_BEFORE_RESULT = re.compile(r"[=≈:]\s?&?\s?[\[({]?\s?$")
_OPERATOR = re.compile(r"\s?(?:[*·×+/^]|\\cdot|[-−]\s)")
_CLOSES = re.compile(r"\s?\\?[\])}]")
_BETWEEN_DIGITS = re.compile(r"(?<=\d),(?=\d)")
_COUNT = re.compile(r"[^\W\d]\s\d{1,3}\s?[:=]|shape\s?[=:]?\s?[\[(][\d\s,]{1,20}[\])]")


class Number(NamedTuple):
    """A number of a text: as typed, its value, its line, and whether arithmetic ends in it.

    `before` is what stands between it and the number before it; `closes` says that a bracket
    closes behind it.
    """

    text: str
    value: float
    line: int
    is_result: bool
    before: str
    closes: bool


class Place(NamedTuple):
    """Where a step may stand: the share of its numbers that agree, and the numbers, by rows."""

    share: float
    rows: list[list[int]]


def numbers_of(text: str) -> list[Number]:
    """Return all numbers of a text, in order; those in names and exponents are none.

    Examples
    --------
    >>> [(each.text, each.is_result) for each in numbers_of("q1·k1 = 2*3 = 6")]
    [('2', False), ('3', False), ('6', True)]
    """
    found = []
    for line, typed in enumerate(text.replace("−", "-").replace(COMMA, ".").split("\n"), start=1):
        for pattern, plain in _CLEANED:
            typed = pattern.sub(plain, typed)
        end = 0
        for match in _NUMBER.finditer(typed):
            entry = read_entry(match[0])
            if entry.value is not None:
                before = _BEFORE_RESULT.search(typed[max(0, match.start() - 5) : match.start()])
                is_result = bool(before) and not _OPERATOR.match(typed, match.end())
                closes = bool(_CLOSES.match(typed, match.end()))
                before_it = typed[end : match.start()].strip()
                value = float(entry.value)
                found.append(Number(match[0], value, line, is_result, before_it, closes))
                end = match.end()
    return found


def best_place(numbers: list[Number], key: Matrix, used: set[int]) -> Place | None:
    """Return where the rows of a step stand best, in order, each side by side; None for nowhere."""
    every = list(range(len(numbers)))
    places = (
        _best_among(run, numbers, key, used)
        for run in (every, [i for i in every if numbers[i].is_result])
    )
    return max((each for each in places if each), key=lambda each: each.share, default=None)


def _best_among(run: list[int], numbers: list[Number], key: Matrix, used: set[int]) -> Place | None:
    height, width = key.shape
    count = len(run) - width + 1
    if count < 1 or len(run) < key.size:
        return None
    values = np.array([numbers[i].value for i in run])
    free = np.array([i not in used for i in run])
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    is_free = np.lib.stride_tricks.sliding_window_view(free, width).all(axis=1)
    best, back = np.zeros(count), []
    agreed = np.zeros((height, count))
    for i, row in enumerate(key):
        with np.errstate(invalid="ignore"):
            near = np.abs(windows - row) <= NEAR * np.maximum(1, np.abs(row) / 10)
        agreed[i] = np.where(is_free, (near | (windows == row)).sum(axis=1), -99.0)
        if i:
            before, start = _after(best, width)
            back.append(start)
            best = before + agreed[i]
        else:
            best = agreed[0]
    starts = [int(np.argmax(best))]
    for start in reversed(back):
        starts.append(int(start[starts[-1]]))
    if min(starts) < 0:
        return None
    starts.reverse()
    share = sum(agreed[i, p] for i, p in enumerate(starts)) / key.size
    return Place(float(share), [run[p : p + width] for p in starts])


def _after(best: Matrix, width: int) -> tuple[Matrix, Matrix]:
    """Return the best of the rows before each place, less what the gap costs, and its place."""
    count = len(best)
    top, start = np.full(count, -999.0), np.full(count, -1)
    highest = np.maximum.accumulate(best)
    first = np.maximum.accumulate(np.where(best == highest, np.arange(count), 0))
    for gap, cost, own, where in (
        *((gap, cost, best, np.arange(count)) for gap, cost in _GAPS),
        (0, _JUMP, highest, first),
    ):
        shift = width + gap
        if shift < count:
            better = own[: count - shift] - cost > top[shift:]
            top[shift:] = np.where(better, own[: count - shift] - cost, top[shift:])
            start[shift:] = np.where(better, where[: count - shift], start[shift:])
    return top, start


def with_witnessed(
    matrices: dict[str, WrittenMatrix],
    text: str,
    expected: Expected,
    found: Collected,
    parts: list[Part],
) -> dict[str, WrittenMatrix]:
    """Return the steps of an answer with those that only their numbers show, and say so.

    A step that was read whole stays as it is. One that was not is read where all its numbers
    stand, row by row; where most of them do, the lines are listed, and nothing is judged.
    """
    _drop_repeated(found, matrices)
    missing = [name for name in expected.steps if _is_missing(name, matrices, expected)]
    if not missing:
        return matrices
    out = {each.line for each in found.taken if each.how in ("struck out", "commented out")}
    numbers = [each for each in numbers_of(text) if each.line not in out]
    used: set[int] = set()
    unread = {each.line for each in found.unread}
    known = [expected.given[name] for name in expected.given]
    known += [each.values for name, each in matrices.items() if name not in missing]
    for values in known:
        place = _place(numbers, values, used)
        while place and place.share == 1:
            used.update(i for row in place.rows for i in row)
            place = _place(numbers, values, used)
    for name in missing:
        key = expected.steps[name]
        kept = {
            part.line
            for part in parts
            if part.name in matrices and part.name != name
            if part.name not in missing or expected.fits(part.name, matrices[part.name].values)
        }
        place = _place(numbers, key, used | _of_others(numbers, found, kept, unread))
        if place is None or not _is_likely(place, key, numbers):
            continue
        if place.share < 1:
            if name not in matrices and not any(each.could_be_matrix for each in found.unread):
                _list(name, place, numbers, found)
            continue
        used.update(i for row in place.rows for i in row)
        matrices = {**matrices, name: _read(name, place, numbers, key.shape[-2], found)}
        sizes = [float(each) for each in key.shape]
        known = {numbers[i].value for i in used}
        _drop_unread(found, *_lines(place, numbers), known, sizes, has_commas=COMMA in text)
    return matrices


def _lines(place: Place, numbers: list[Number]) -> tuple[int, int]:
    return numbers[place.rows[0][0]].line, numbers[place.rows[-1][-1]].line


def _said(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"


def _read(
    name: str, place: Place, numbers: list[Number], height: int, found: Collected
) -> WrittenMatrix:
    """Return the step that stands at a place, and say why it is read there."""
    first, last = _lines(place, numbers)
    how = f"read as {name}, because its numbers are those of {name}"
    found.remarks.append(f"{_said(first, last)}: {how}")
    found.taken.append(Taken(first, last, name, how, ""))
    rows = [[read_entry(numbers[i].text) for i in row] for row in place.rows]
    heads = [rows[i : i + height] for i in range(0, len(rows), height)]
    return matrix_of_entries(heads, f"line {first}")


def _list(name: str, place: Place, numbers: list[Number], found: Collected) -> None:
    """List the numbers of a place that may be a step, with a mistake in it."""
    first, last = _lines(place, numbers)
    typed = "; ".join(" ".join(numbers[i].text for i in row) for row in place.rows)
    why = f"{name} may be in {_said(first, last)}, which could not be read as such"
    found.unread.append(Unread(first, typed, why, could_be_matrix=True))


def _is_missing(name: str, matrices: dict[str, WrittenMatrix], expected: Expected) -> bool:
    """Say whether a step was not read, or not in its shape, or with blanks in it."""
    read = matrices.get(name)
    if read is None or not expected.fits(name, read.values):
        return True
    return bool(np.isnan(read.values).any()) and not read.faults


def _of_others(
    numbers: list[Number], found: Collected, kept: set[int], unread: set[int]
) -> set[int]:
    """Return the numbers on lines that were read as steps or factors, with nothing unread there.

    What stands there beside a step is what it is made of; only in softmax(…) are scores.
    """
    lines = {
        line
        for each in found.taken
        if (each.what and each.line in kept) or each.how.startswith("factors")
        for line in range(each.line, each.last + 1)
        if line not in unread
    }
    others, is_inside = set(), False
    for i, each in enumerate(numbers):
        is_inside = "softmax" in each.before or (is_inside and "=" not in each.before)
        if each.line in lines and not is_inside:
            others.add(i)
    return others


def _is_likely(place: Place, key: Matrix, numbers: list[Number]) -> bool:
    """Say whether a step may stand at a place, and its numbers are not there by chance."""
    is_found = place.share >= ENOUGH and len(np.unique(key)) >= FEWEST
    return is_found and _has_rows(place, numbers)


def _has_rows(place: Place, numbers: list[Number]) -> bool:
    """Say whether something tells the rows of a place apart: lines, signs, or brackets around."""
    rows = [[numbers[i] for i in row] for row in place.rows]
    first, last = rows[0][0], rows[-1][-1]
    steps = {after[0].line - row[0].line for row, after in pairwise(rows)}
    if place.share < 1 and len(steps) > 1:
        return False
    if first.line < last.line:
        return True
    within = {each.before for row in rows for each in row[1:]}
    between = {row[0].before for row in rows[1:]}
    return not within & between or (first.before[-1:] in ("[", "(", "{") and last.closes)


def _place(numbers: list[Number], values: Matrix, used: set[int]) -> Place | None:
    rows = values.reshape(-1, values.shape[-1]) if values.ndim > 1 else np.atleast_2d(values)
    if rows.size * len(numbers) > MOST_CELLS or np.isnan(rows).all() or not rows.size:
        return None
    return best_place(numbers, rows, used)


def _drop_unread(
    found: Collected,
    first: int,
    last: int,
    known: set[float],
    sizes: list[float],
    *,
    has_commas: bool,
) -> None:
    """Take lines off the list of what is not read whose numbers, but for sizes, were read now."""

    def is_read(text: str) -> bool:
        plain = _COUNT.sub(" :", _BETWEEN_DIGITS.sub(".", text) if has_commas else text)
        values = [number.value for number in numbers_of(plain)]
        return values == sizes or known.issuperset(values)

    found.unread[:] = [
        each for each in found.unread if not (first <= each.line <= last and is_read(each.text))
    ]


def _drop_repeated(found: Collected, matrices: dict[str, WrittenMatrix]) -> None:
    """Take lines off the list of what is not read that only repeat rows of steps that were."""
    rows: dict[int, set[tuple[float, ...]]] = {}
    for matrix in (each.values for each in matrices.values() if found.unread):
        for turned in (matrix, np.swapaxes(matrix, -1, -2)):
            for row in turned.reshape(-1, turned.shape[-1]).tolist():
                rows.setdefault(len(row), set()).add(tuple(row))
    for each in [*found.unread]:
        values = [number.value for number in numbers_of(each.text)]
        count, i = 0, 0
        while width := next((w for w in rows if w > 1 and tuple(values[i : i + w]) in rows[w]), 0):
            count, i = count + 1, i + width
        if count > 1 and i == len(values):
            found.unread.remove(each)
            found.taken.append(Taken(each.line, each.line, "", "rows of what was read", each.text))
