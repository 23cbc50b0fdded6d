"""Cuts of the numbers of a text: the best positions for the rows of a known matrix."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import Entry
from attncalc.reading.answers.expected import are_weights, near
from attncalc.reading.plain.marks import COMMA
from attncalc.reading.plain.numerals import read_entry

MOST_NUMBERS, MOST_ENTRIES, MOST_WORK = 4000, 256, 2_000_000
"""The largest numbers of a text and entries of a matrix, and their largest product, for a search.
"""
WIDEST = 16
"""The largest distance between rows of a matrix, in numbers, if other rows are beside them."""
STRIDES = 6
"""The largest distance between the entries of a row, in numbers, if others are between them."""
GAPS = ((0, 0.0), (1, 0.1), (2, 0.3), (3, 0.6))
JUMP = 1.5
"""The cost of skipped numbers between two rows, in agreeing entries."""
TINY, BRACKET, OPENS = 1e-9, 1e-3, ("(", "[", "{")
"""A row rather begins behind a bracket, if as many entries agree."""

_INDEX = re.compile(
    r"(?<![\d.])\d ?(?:×|x|\\times) ?\d(?![\d.])"
    r"|\^\{[^{}]*\}|\^\s?\(?-?[\w.+*]+\)?|_\{[^}]*\}|_\w+"
    r"|(?<=[A-Za-z])[(\[]\d ?, ?\d[)\]]"
    r"|\b(?:token|word|input|output|row|head|Wort|Zeile|Ausgabe|mot|ligne|palabra|fila"
    r"|slide|słowo|слово) \d{1,2}\b(?! ?[.,;/] ?-?\d)"
    r"|\b[ij] ?= ?\d{1,2}(?![\d.,])"
    r"|(?:(?<=[^\W\d_]{2} )|(?<=\b[a-z]=))\d{1,2}(?= ?(?:[|:=→]|->))"
    r"|√(?<=[÷:=*·×(]√) ?\d{1,4}(?![\d.])|√(?<=[÷:=*·×(] √|[^\W\d_] √) ?\d{1,4}(?![\d.])"
    r"|√ ?\d{1,4}(?= ?(?:[=≈)'’]|[^\W\d_]))|sqrt ?\(\d{1,4}\)"
    r"|\\(?:mathbb|hspace|vspace|phantom|sqrt)\{[^{}]*\}"
)
"""Powers, indices, sizes and counts, whose digits are not entries of a matrix."""
_TIME = re.compile(
    r"(?<![\d.])(?:\d{4}-\d\d?-\d\d?|\d\d?:\d\d(?::\d\d)?|\d\d?[./]\d\d?[./]\d{4})(?![\d.])"
    r"|\b[^\W\d_]{3,9}\.? \d\d?(?:st|nd|rd|th)?,? (?:19|20)\d\d\b"
    r"|\b\d\d?\.? [^\W\d_]{3,9}\.? (?:19|20)\d\d\b"
    r"|\b(?:pp?|pag|pág|page|página|str|strona|s|seite|sida|sayfa|стр)\.? ?\d{1,3} ?/ ?\d{1,3}\b"
    r"|\+\d{1,3}(?:[ /-]?\d{2,5}){2,5}|\(\d{1,4} rows?\)|(?<=  )\(\d{1,2}\.\d{1,2}\)\s*$"
)
"""A date, a time, a page, a telephone number, a number of rows, or the number of an equation."""
_FRACTION = re.compile(r"\\[tdc]?frac\s*(?:\{(-?[\d.]+)\}\s*\{([\d.]+)\}|(\d)(\d))")
_NUMBER = re.compile(
    rf"(?<![\w.{COMMA}])[-−–—⁻]?\s?(?:inf(?:inity|ty)?\b|∞|\\infty"
    rf"|(?<!/)\d*√\d+|(?:\d+(?:[.{COMMA}]\d+)?(?:e[-+]?\d+)?|[.{COMMA}]\d+)(?![^\W\d_]))"
    rf"(?:/√?\d+(?:[.{COMMA}]\d+)?(?![\w.]))?(?:\s?\\?%)?",
    re.IGNORECASE,
)
_COUNT = re.compile(r"^[\s>*-]*\d{1,2}[.):、](?=\s)")
_EMPHASIZED = re.compile(
    rf"(?<![\w)*])([*_]{{1,3}})([-−–]?\d{{1,9}}(?:[.{COMMA}]\d{{1,9}})? ?%?)\1(?![\w(*]|\s*[\d(])"
)
"""A number in bold or in italics, whose signs are no product."""
_RESULT = re.compile(r"[=≈:→]\s*+&?\s*+[\[({]*+\s*+$")
_OPERATOR = re.compile(r"\s*+[)\]]*+\s*+(?:[*·×^+/@]|\\cdot|\\times|-\s)|\)\(-?\d+\)")
_BEHIND = re.compile(r"(?:[*·×^+/@]|\\cdot|\\times|\\frac|\bexp)\s*+[\[({]*+\s*+$|\(-?\d+\)\($")
_RELATION, _EQUALS = re.compile(r"[=≈→]"), re.compile(r"\s*+[=≈]")
_WORD = re.compile(
    rf"(?:[-−–—]\s?)?[\dOoQlI]{{1,7}}(?:[.{COMMA}][\dOoQlI]{{1,7}})?(?![\w.]\w)(?!\w)"
)
_SCANNED = re.compile(
    rf"(?<![\w.])\d{{0,6}}(?:[OlI]\d{{0,6}}[.{COMMA}]\d|[.{COMMA}]\d{{0,6}}[OlI]\d)"
)
_NAMES = re.compile(r"\s*+[=:≈]")
_DIGITS = str.maketrans("OoQlI", "00011")


class Number(NamedTuple):
    """A number of a text: its entry and value, its line, and its position.

    `is_result` is true directly after a relation, with no operator after it; `is_last` if no
    relation follows in its line; `is_operand` beside an operator; `is_first` behind a bracket.
    """

    entry: Entry
    value: float
    line: int
    start: int
    end: int
    is_result: bool
    is_last: bool
    is_operand: bool
    is_first: bool


class Cut(NamedTuple):
    """A cut of a matrix from the numbers: their places row by row, and which of them agree.

    A place is -1 for an entry that the text leaves out, such as a masked score.
    """

    rows: list[list[int]]
    agreeing: Matrix
    layout: str
    stride: int = 1

    @property
    def written(self) -> list[list[int]]:
        """The places of each row, without the entries that the text leaves out."""
        return [[place for place in row if place >= 0] for row in self.rows]

    @property
    def places(self) -> list[int]:
        """All places, in reading order of the matrix."""
        return [place for row in self.rows for place in row if place >= 0]

    @property
    def is_turned(self) -> bool:
        """Whether its rows are not one after another, as where columns are written as rows."""
        return any(b[0] < a[-1] for a, b in pairwise(self.written) if a and b)

    @property
    def share(self) -> float:
        """The share of its written entries that agree with the expected matrix."""
        return float(self.agreeing.sum() / len(self.places))


_LISTED = re.compile(r"(?m)^(?:[ \t]{0,9}- [-−]?\d[^\n]{0,200}(?:\n|\Z)){2,}")
"""A list of numbers: its dashes are no signs."""


def numbers_of(text: str) -> list[Number]:
    """Return the numbers of a text with their lines; at most `MOST_NUMBERS`."""
    found: list[Number] = []
    is_scanned = _SCANNED.search(text) is not None
    text = _LISTED.sub(lambda match: match[0].replace("- ", "  "), text)
    for number, line in enumerate(text.split("\n"), start=1):
        if len(found) > MOST_NUMBERS or len(line) > MOST_NUMBERS:
            break
        clean = _FRACTION.sub(_as_fraction, line.replace("−", "-"))
        clean = _EMPHASIZED.sub(lambda own: own[2].center(len(own[0])), clean)
        for pattern in (_INDEX, _COUNT, _TIME):
            clean = _blanked(pattern, clean)
        clean = with_digits(clean, is_scanned=is_scanned)
        last = max((each.end() for each in _RELATION.finditer(clean)), default=0)
        for each in _NUMBER.finditer(clean):
            entry = read_entry(each[0].strip().replace("—", "-").replace("⁻", "-"))
            if entry.value is None:
                continue
            before = clean[max(0, each.start() - 12) : each.start()]
            is_quotient = "/" in each[0] and _EQUALS.match(clean, each.end()) is not None
            is_before = is_quotient or _OPERATOR.match(clean, each.end()) is not None
            is_operand = is_before or _BEHIND.search(before) is not None
            is_result = not is_before and _RESULT.search(before) is not None
            found.append(
                Number(entry, float(entry.value), number, each.start(), each.end(), is_result,
                       each.start() >= last, is_operand, before.rstrip()[-1:] in OPENS)
            )  # fmt: skip
    return found[:MOST_NUMBERS]


def with_digits(line: str, *, is_scanned: bool = False) -> str:
    """Return a line with digits for the letters that a scanner puts in their place.

    A letter alone is a digit only beside a number, or in a column of a scanned text, and not
    before a relation.

    >>> with_digits("O.l4  l   -l  2"), with_digits("O = l.O of I")
    ('0.14  1   -1  2', 'O = 1.0 of I')
    >>> with_digits("cat   O  l", is_scanned=True)
    'cat   0  1'
    """
    if not any(letter in line for letter in "OoQlI"):
        return line
    words = [
        m for m in _WORD.finditer(line) if not line[max(0, m.start() - 1) : m.start()].isalnum()
    ]
    are_sure = [
        any(c.isdigit() or c in f".{COMMA}" for c in m[0])
        or m[0][0] in "-−–—"
        or (is_scanned and line[: m.start()].endswith("  ") and not _NAMES.match(line, m.end()))
        for m in words
    ]
    for order in (range(1, len(words)), range(len(words) - 2, -1, -1)):
        for i in order:
            j = i - 1 if order.step > 0 else i + 1
            a, b = sorted((words[i], words[j]), key=lambda m: m.start())
            is_beside = not line[a.end() : b.start()].strip(" \t,;&|()[]\\")
            is_name = _NAMES.match(line, words[i].end())
            are_sure[i] = are_sure[i] or (are_sure[j] and is_beside and not is_name)
    pieces, stop = [], 0
    for word, is_sure in zip(words, are_sure, strict=True):
        pieces += [line[stop : word.start()], word[0].translate(_DIGITS) if is_sure else word[0]]
        stop = word.end()
    return "".join([*pieces, line[stop:]])


def _blanked(pattern: re.Pattern[str], line: str) -> str:
    return pattern.sub(lambda each: " " * len(each[0]), line)


def _as_fraction(match: re.Match[str]) -> str:
    return f"{match[1] or match[3]}/{match[2] or match[4]}".ljust(len(match[0]))


def cuts(
    numbers: Sequence[Number],
    key: Matrix,
    free: Matrix,
    *,
    turned: bool,
    least: float,
    strides: int = 1,
    rows_of_head: int = 0,
) -> list[Cut]:
    """Return the best cut of each layout: rows, columns of a table, results, columns for rows.

    Layouts in which fewer entries can agree are left out; a cut with fewer may be returned.

    key: the expected matrix.
    free: which numbers may be taken.
    turned: whether it may be transposed.
    least: the smallest share of entries that must agree.
    strides: the largest distance between the entries of a row, in numbers.
    rows_of_head: the rows of each of several heads, one below the other.
    """
    is_large = key.size > MOST_ENTRIES or key.size * len(numbers) > MOST_WORK
    if key.ndim != 2 or is_large or not free.any():
        return []
    skipped, last = np.flatnonzero(free)[[0, -1]]
    numbers, free = numbers[skipped : last + 1], free[skipped : last + 1]
    values = np.array([each.value for each in numbers])
    agree = near(values[:, np.newaxis, np.newaxis], key[np.newaxis])
    is_there, is_seen = agree[free].any(axis=0), unmasked(key)
    if is_there.sum() < least * (is_seen | is_there).sum():
        return []
    is_operand = np.array([each.is_operand for each in numbers], bool)
    is_result = np.array([each.is_result for each in numbers], bool)
    is_last = np.array([each.is_last for each in numbers], bool)
    is_first = BRACKET * np.array([each.is_first for each in numbers])
    is_decimal = np.array([bool(each.entry.decimals) for each in numbers], bool)
    agree &= free[:, np.newaxis, np.newaxis]
    runs = {
        "in order": free & ~is_operand,
        "as results": free & is_result,
        "behind relations": free & is_last,
        "decimals": free & ~is_operand & is_decimal,  # among counts of tokens
        "among others": ~is_operand,  # at equal distances, whatever is between
    }
    seen, found = set[bytes](), []
    for layout, is_in in runs.items():
        run = np.flatnonzero(is_in)
        if run.tobytes() in seen:
            continue
        seen.add(run.tobytes())
        for way in ("", ", columns as rows") if turned else ("",):
            own = agree[run].swapaxes(1, 2) if way else agree[run]
            seen_there = is_seen.T if way else is_seen
            height = 0 if way else rows_of_head
            for rows, stride in _arrangements(
                own, seen_there, is_first[run], strides, least, height
            ):
                places = np.where(rows >= 0, run[rows], -1)
                places = places.T if way else places
                is_written = places >= 0
                if not (free[places[is_written]].all() and is_written.any(axis=1).all()):
                    continue
                agreeing = near(values[places], key) & is_written
                places = np.where(is_written, places + skipped, -1)
                found.append(Cut(places.tolist(), agreeing, layout + way, stride))
    return found


def unmasked(key: Matrix) -> Matrix:
    """Return which entries are not masked: scores of -inf, and weights of 0 above the diagonal."""
    height, width = key.shape[-2:]  # of several heads, side by side or one below the other
    rows, columns = (np.arange(size) % max(1, min(height, width)) for size in (height, width))
    above = columns > rows[:, np.newaxis]
    is_masked = are_weights(key) and not np.where(above, key, 0).any()
    seen: Matrix = np.isfinite(key) & ~(above & is_masked)
    return seen


def _arrangements(
    agree: Matrix,
    is_seen: Matrix,
    is_first: Matrix,
    strides: int,
    least: float,
    rows_of_head: int,
) -> Iterator[tuple[Matrix, int]]:
    """Yield the best rows of a matrix among numbers, and the distance of the entries in a row.

    `agree` holds for each number whether it agrees with each entry; `is_seen` is false for masked
    entries, which are often left out.
    """
    _, height, width = agree.shape
    for stride in range(1, 1 + (strides if width > 1 else 1)):
        starts = len(agree) - stride * (width - 1)
        if starts < 1:
            break
        columns = [agree[stride * j :][:starts, :, j] for j in range(width)]
        scores = np.sum(columns, axis=0, dtype=float).T + is_first[:starts]
        if not _can_be(scores, height * width, least):
            continue
        spans = [stride * (width - 1) + 1] * (height - 1)
        for rows in (
            _in_order([*scores], spans, rows_of_head),
            _beside(scores, stride, width, rows_of_head),
        ):
            if rows is not None:
                yield rows[:, None] + stride * np.arange(width), stride
    if not is_seen.all() and is_seen.any(axis=1).all():
        places = [np.flatnonzero(row) for row in is_seen]
        shortest = [max(0, len(agree) - len(own) + 1) for own in places]
        counts = [
            np.sum([agree[j:, i, k][:count] for j, k in enumerate(own)], axis=0, dtype=float)
            for i, (own, count) in enumerate(zip(places, shortest, strict=True))
        ]
        can_be = _can_be(counts, is_seen.sum(), least)
        spans = [len(own) for own in places[:-1]]
        rows = _in_order(counts, spans, rows_of_head) if can_be else None
        if rows is not None:
            yield np.where(is_seen, rows[:, None] + np.cumsum(is_seen, axis=1) - 1, -1), 1


def _can_be(scores: Iterable[Matrix], size: int, least: float) -> bool:
    """Return whether the best place of each row, wherever it is, makes enough entries agree."""
    return float(sum(each.max(initial=0) for each in scores)) > least * size - TINY


def _beside(scores: Matrix, stride: int, width: int, rows_of_head: int) -> Matrix | None:
    """Return the first numbers of the best rows that begin at equal distances, in each head."""
    height = rows_of_head or len(scores)
    best, found = 0.0, None
    for step in range(width if stride == 1 else 1, stride * (width - 1) + 1 + WIDEST):
        starts = scores.shape[1] - step * (height - 1)
        if starts < 1:
            break
        heads = [
            np.sum([scores[head + i, i * step : i * step + starts] for i in range(height)], axis=0)
            for head in range(0, len(scores), height)
        ]
        total, back = heads[0], []
        for own in heads[1:]:
            most, where = _best_before(total)
            back.append(where)
            total = own + np.append(-np.inf, most[:-1])
        place = int(np.argmax(total))
        if total[place] > best:
            firsts = [place]
            for where in reversed(back):
                firsts.append(int(where[firsts[-1] - 1]))
            best = total[place]
            found = np.concatenate([each + step * np.arange(height) for each in firsts[::-1]])
    return found


def _best_before(total: Matrix) -> tuple[Matrix, Matrix]:
    """Return the largest value up to each place, and where it is."""
    most = np.maximum.accumulate(total)
    return most, np.maximum.accumulate(np.where(total == most, np.arange(len(total)), 0))


def _in_order(scores: Sequence[Matrix], spans: Sequence[int], rows_of_head: int) -> Matrix | None:
    """Return the first numbers of the best rows in order, by dynamic programming.

    `scores` holds how many entries of each row agree, for each number where it may begin; `spans`
    the numbers from the beginning of a row to its end. A jump before a head costs a little less.
    """
    if min(map(len, scores)) < 1:
        return None
    total, back = scores[0], []
    for row, (score, span) in enumerate(zip(scores[1:], spans, strict=True), start=1):
        is_first = rows_of_head > 0 and row % rows_of_head == 0
        jump = JUMP - GAPS[1][1] * is_first
        starts = len(score)
        best, came = np.full(starts, -np.inf), np.zeros(starts, int)
        jumps, where = _best_before(total)
        for gap, cost in (*GAPS, (0, jump)):
            shift = span + gap
            if shift >= starts:
                continue
            count = min(starts - shift, len(total))
            gain = (jumps if cost == jump else total)[:count] - cost
            better = gain > best[shift : shift + count]
            from_there = where if cost == jump else np.arange(len(total))
            best[shift : shift + count][better] = gain[better]
            came[shift : shift + count][better] = from_there[:count][better]
        total = best + score
        back.append(came)
    place = int(np.argmax(total))
    if not np.isfinite(total[place]):
        return None
    rows = [place]
    for came in reversed(back):
        rows.append(int(came[rows[-1]]))
    return np.array(rows[::-1])
