"""Cuts of the numbers of a text: the best positions for the rows of a known matrix."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import Entry
from attncalc.reading.answers.expected import NEAR
from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.numerals import read_entry

MOST_NUMBERS, MOST_ENTRIES, MOST_WORK = 4000, 256, 2_000_000
"""The largest numbers of a text and entries of a matrix, and their largest product, for a search.
"""
WIDEST = 16
"""The largest distance between rows of a matrix, in numbers, if other rows are beside them."""
GAPS = ((0, 0.0), (1, 0.1), (2, 0.3), (3, 0.6))
JUMP = 1.5
"""The cost of skipped numbers between two rows, in agreeing entries."""

_SCANNED = re.compile(
    rf"(?<![^\W_])[lI](?=[.{COMMA}]?\d)|(?<=-)[lI](?![^\W_])|(?<=\d)[lIO](?![^\W_])"
    rf"|(?<![^\W_])O(?=[.{COMMA}]\d)"
)
"""Letters that a scanner puts in place of digits."""
_INDEX = re.compile(
    r"(?<![\d.])\d ?(?:×|x|\\times) ?\d(?![\d.])"
    r"|\^\{[^{}]*\}|\^\s?\(?-?[\w.+*]+\)?|_\{[^}]*\}|_\w+"
    r"|(?<=[A-Za-z])[(\[]\d ?, ?\d[)\]]"
    r"|(?<=[^\W\d_]{2} )\d{1,2}(?= ?[|:=])"
    r"|\\(?:mathbb|hspace|vspace|phantom|sqrt)\{[^{}]*\}|sqrt ?\(\d{1,4}\)"
)
"""Powers, indices and sizes, whose digits are not entries of a matrix."""
_FRACTION = re.compile(r"\\[tdc]?frac\s*(?:\{(-?[\d.]+)\}\s*\{([\d.]+)\}|(\d)(\d))")
_NUMBER = re.compile(
    rf"(?<![\w.{COMMA}])[-−–]?\s?(?:inf(?:inity|ty)?\b|∞|\\infty|\d+(?:[.{COMMA}]\d+)?(?:e[-+]?\d+)?|[.{COMMA}]\d+)"
    r"(?:/√?\d+(?:\.\d+)?(?![\w.]))?(?:\s?\\?%)?",
    re.IGNORECASE,
)
_COUNT = re.compile(r"^[\s>*-]*\d{1,2}[.):、](?=\s)")
_RESULT = re.compile(r"[=≈:→]\s*+&?\s*+[\[({]*+\s*+$")
_OPERATOR = re.compile(r"\s*+[)\]]*+\s*+(?:[*·×^+/@]|\\cdot|\\times|-\s)")
_BEHIND = re.compile(r"(?:[*·×^+/@]|\\cdot|\\times|\\frac)\s*+[\[({]*+\s*+$")
_RELATION = re.compile(r"[=≈→]")


class Number(NamedTuple):
    """A number of a text: its entry and value, its line, and its position.

    `is_result` is true directly after a relation, with no operator after it; `is_last` if no
    relation follows in its line; `is_operand` beside an operator.
    """

    entry: Entry
    value: float
    line: int
    start: int
    end: int
    is_result: bool
    is_last: bool
    is_operand: bool


class Cut(NamedTuple):
    """A cut of a matrix from the numbers: their places, row by row, and how many agree."""

    rows: list[list[int]]
    agreeing: Matrix
    layout: str

    @property
    def places(self) -> list[int]:
        """All places, in reading order of the matrix."""
        return [place for row in self.rows for place in row]

    @property
    def share(self) -> float:
        """The share of its entries that agree with the expected matrix."""
        return float(self.agreeing.mean())


def numbers_of(text: str) -> list[Number]:
    """Return the numbers of a text with their lines; at most `MOST_NUMBERS`."""
    found: list[Number] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if len(found) > MOST_NUMBERS or len(line) > MOST_NUMBERS:
            break
        clean = _blanked(_COUNT, _blanked(_INDEX, _FRACTION.sub(_as_fraction, line)))
        clean = _SCANNED.sub(lambda each: "0" if each[0] == "O" else "1", clean)
        last = max((each.end() for each in _RELATION.finditer(clean)), default=0)
        for each in _NUMBER.finditer(clean):
            entry = read_entry(each[0].strip())
            if entry.value is None:
                continue
            before = clean[max(0, each.start() - 12) : each.start()]
            is_before = _OPERATOR.match(clean, each.end()) is not None
            is_operand = is_before or _BEHIND.search(before) is not None
            is_result = not is_before and _RESULT.search(before) is not None
            found.append(
                Number(entry, float(entry.value), number, each.start(), each.end(), is_result,
                       each.start() >= last, is_operand)
            )  # fmt: skip
    return found[:MOST_NUMBERS]


def _blanked(pattern: re.Pattern[str], line: str) -> str:
    return pattern.sub(lambda each: " " * len(each[0]), line)


def _as_fraction(match: re.Match[str]) -> str:
    return f"{match[1] or match[3]}/{match[2] or match[4]}".ljust(len(match[0]))


def near(values: Matrix, other: Matrix) -> Matrix:
    """Return where numbers agree within rounding."""
    with np.errstate(invalid="ignore"):
        alike = np.abs(values - other) <= NEAR * np.maximum(1, np.abs(other) / 10)
    return np.asarray(alike | (values == other))


def cuts(
    numbers: Sequence[Number], key: Matrix, free: Matrix, *, turned: bool, least: float
) -> list[Cut]:
    """Return the best cut of each layout: rows, columns of a table, results, columns for rows.

    Parameters
    ----------
    numbers
        The numbers of the text.
    key
        The expected matrix.
    free
        Which numbers may be taken.
    turned
        Whether it may be transposed.
    least
        The smallest share of entries that must agree.
    """
    if key.ndim != 2 or key.size > MOST_ENTRIES or key.size * len(numbers) > MOST_WORK:
        return []
    values = np.array([each.value for each in numbers])
    is_there = near(values[free][:, np.newaxis], key.ravel()[np.newaxis, :]).any(axis=0)
    if is_there.sum() < least * key.size:
        return []
    runs = {
        "in order": np.flatnonzero(free & ~np.array([each.is_operand for each in numbers], bool)),
        "as results": np.flatnonzero(free & np.array([each.is_result for each in numbers], bool)),
        "behind relations": np.flatnonzero(
            free & np.array([each.is_last for each in numbers], bool)
        ),
    }
    found = []
    for layout, run in runs.items():
        for matrix, way in ((key, ""), (key.T, ", columns as rows")) if turned else ((key, ""),):
            for rows in (_in_order(values[run], matrix), _beside(values[run], matrix)):
                if rows is None:
                    continue
                places = run[rows] if not way else run[rows].T
                agreeing = near(values[places], key)
                found.append(Cut(places.tolist(), agreeing, layout + way))
    return found


def _agreement(values: Matrix, key: Matrix) -> Matrix:
    """Return how many entries agree, for each row and each number where it may begin."""
    height, width = key.shape
    starts = len(values) - width + 1
    if starts < 1:
        return np.zeros((height, 0))
    columns = [near(values[np.newaxis, j : j + starts], key[:, j : j + 1]) for j in range(width)]
    return np.asarray(np.sum(columns, axis=0, dtype=float))


def _beside(values: Matrix, key: Matrix) -> Matrix | None:
    """Return the best rows that begin at equal distances."""
    height, width = key.shape
    scores = _agreement(values, key)
    best, found = 0.0, None
    for step in range(width, width + WIDEST):
        starts = scores.shape[1] - step * (height - 1)
        if starts < 1:
            break
        rows = [scores[i, i * step : i * step + starts] for i in range(height)]
        total = np.sum(rows, axis=0)
        place = int(np.argmax(total))
        if total[place] > best:
            best, found = total[place], place + step * np.arange(height)
    return None if found is None else found[:, None] + np.arange(width)


def _in_order(values: Matrix, key: Matrix) -> Matrix | None:
    """Return the best rows in order, by dynamic programming over their first numbers."""
    height, width = key.shape
    scores = _agreement(values, key)
    starts = scores.shape[1]
    if starts < 1:
        return None
    total, back = scores[0], []
    for i in range(1, height):
        best, came = np.full(starts, -np.inf), np.zeros(starts, int)
        jumps = np.maximum.accumulate(total)
        where = np.maximum.accumulate(np.where(total == jumps, np.arange(starts), 0))
        for gap, cost in (*GAPS, (0, JUMP)):
            shift = width + gap
            if shift >= starts:
                continue
            before = jumps if cost == JUMP else total
            gain = before[: starts - shift] - cost
            better = gain > best[shift:]
            from_there = where if cost == JUMP else np.arange(starts)
            best[shift:][better] = gain[better]
            came[shift:][better] = from_there[: starts - shift][better]
        total = best + scores[i]
        back.append(came)
    place = int(np.argmax(total))
    if not np.isfinite(total[place]):
        return None
    rows = [place]
    for came in reversed(back):
        rows.append(int(came[rows[-1]]))
    return np.array(rows[::-1])[:, None] + np.arange(width)
