"""Rows and columns of numbers in a lesson, and what sentences repeat with a misprint."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from attncalc.reading.plain.marks import COMMA
from attncalc.reading.sums import misprints

FEWEST_TELLING = 2
"""The number of exponents of a line that is no row."""
MOST_NUMBERS = 20_000
"""The largest number of numbers of an example that are compared."""
PRODUCTS = frozenset("·×*\\")
"""The signs of products; LaTeX commands begin with the last."""
DECIMALS = 2
"""The fewest decimals, without zeros at their end, of a number that tells its row."""
FEWEST_WORDS = 3
"""The fewest words of a line that repeats a row in a sentence."""
_NUMBER, _WORD = (
    re.compile(r"-?\d{1,9}(?:\.\d{1,15})?"),
    re.compile(r"[^\W\d_]{2,}|[\u3040-\u9fff]"),
)
_ROW = re.compile(
    rf"(?<![\w.-]){_NUMBER.pattern}(?:(?: ?[,;&|]| ?\\[ ,;]| (?=[-\d.]))(?:\\[ ,;]| ){{0,2}}"
    rf"{_NUMBER.pattern}){{1,15}}(?![\w.]\d)"
)
_POWER = re.compile(
    r"(?:\be ?\^ ?\{?|\bexp(?:\\left)?\(|\bexp ?\{)\s?(-?\d{1,9}(?:\.\d{1,15})?)(?=[\s)}])"
)


class Printed(NamedTuple):
    """A number of a text: its line, its text, its value, and the signs before it."""

    line: int
    text: str
    value: float
    signs: str = ""

    @property
    def decimals(self) -> int:
        """The number of its decimals."""
        return len(self.text.partition(".")[2])

    @property
    def unit(self) -> float:
        """The unit of its last digit."""
        return 10.0**-self.decimals


Rows = list[list[Printed]]


def stacked(numbers: Sequence[Printed]) -> Iterator[Rows]:
    """Yield lines below each other with the same count of numbers.

    Products of written-out work, and what follows them, are in no block.
    """
    block: Rows = []
    rows = [*filter(None, map(_before_products, _by_line(numbers)))]
    for row in (*rows, []):
        values = [each.value for each in row]
        is_heading = values in ([*range(len(row))], [*range(1, len(row) + 1)])
        gap = block[1][0].line - block[0][0].line if block[1:] else 2
        if block and (
            len(row) != len(block[0]) or is_heading or row[0].line > block[-1][0].line + gap
        ):
            yield block
            block = []
        block += [row] * (not is_heading)


def _before_products(row: list[Printed]) -> list[Printed]:
    ends = [i for i, each in enumerate(row) if i and PRODUCTS & {*each.signs}]
    return row[: ends[0] - 1] if ends else row


def factors_of(numbers: Sequence[Printed]) -> Iterator[list[Printed]]:
    """Yield the first and the second factors of each sum of products that is written out."""
    for line in _by_line(numbers):
        is_second = [bool(PRODUCTS & {*each.signs}) for each in line]
        pairs = [i for i in range(1, len(line)) if is_second[i] and not is_second[i - 1]]
        for _, run in groupby(enumerate(pairs), lambda each: each[1] - 2 * each[0]):
            places = [i for _, i in run]
            yield from ([line[i - back] for i in places] for back in (1, 0))


def matrices_of(block: Rows) -> Iterator[Rows]:
    """Yield the vectors in brackets, below or beside each other, or the whole block, and parts.

    Single numbers below each other are a vector.
    """
    width = len(block[0]) if block else 0
    begins = [i for i in range(width) if all({*"(["} & {*row[i].signs} for row in block)]
    ends = [i for i in range(1, width) if all({*")]"} & {*row[i].signs} for row in block)]
    spans = [(i, min([j for j in (*ends, width) if j > i])) for i in begins]
    if block and width == 1:
        yield [[row[0] for row in block]]
    elif len(block) == 1:
        yield [block[0][i:j] for i, j in spans if j - i == spans[0][1] - spans[0][0] > 1]
    elif block:
        spans = spans or [(i, j) for i in (0, 1) for j in (width, width - 1)]
        yield from ([row[i:j] for row in block] for i, j in spans if j - i > 1)


def rows_of(numbers: Sequence[Printed]) -> Iterator[list[Printed]]:
    """Yield the numbers of each line between which the signs are the same."""
    for line in _by_line(numbers):
        for _, run in groupby(pairwise(line), lambda pair: pair[1].signs):
            pairs = [*run]
            yield [pairs[0][0], *(second for _, second in pairs)]


def _by_line(numbers: Sequence[Printed]) -> list[list[Printed]]:
    return [[*own] for _, own in groupby(numbers, key=lambda each: each.line)]


def misprinted(lines: Sequence[str]) -> Iterator[tuple[str, Printed, str]]:
    """Yield what sentences repeat with a misprint: its name, the wrong number, and the right one.

    Digits of this number are swapped, or its sign is. All other numbers of a row are the same.
    """
    lines = [line.replace(COMMA, ".").replace("−", "-") for line in lines]
    rows = [(n, row) for n, line in enumerate(lines, start=1) for row in _ROW.findall(line)]
    texts = [(n, _NUMBER.findall(row)) for n, row in rows][:MOST_NUMBERS]
    powers = [(n, _POWER.findall(line)) for n, line in enumerate(lines, start=1)]
    texts = sorted([*texts, *(each for each in powers if len(each[1]) > FEWEST_TELLING)])
    counts = Counter(text for _, row in texts for text in row)
    texts += [(n, row[1:]) for n, row in texts if row[0].isdecimal() and "." in row[-1] and row[2:]]
    texts.sort()
    by_place: dict[tuple[int, int, tuple[str, ...]], dict[str, int]] = {}
    for line, row in texts:
        for at, text in enumerate(row):
            others = (*row[:at], *row[at + 1 :])
            known = by_place.setdefault((len(row), at, others), {})
            meant = [each for each in misprints(text) if known.get(each, line) < line]
            tells = max(map(_decimals, others)) >= DECIMALS <= _decimals(text)
            is_one = len(meant) == len(known) == counts[text] == 1
            is_said = _is_sentence(lines, line) or _POWER.search(lines[line - 1])
            if is_one and tells and is_said:
                yield "a repeated row", Printed(line, text, float(text)), meant[0]
            known.setdefault(text, line)


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def _is_sentence(lines: Sequence[str], line: int) -> bool:
    """Return whether a line, from 1, is part of a sentence, and not of a table."""
    words = _WORD.findall(" ".join(lines[max(0, line - 2) : line]))
    return len(words) >= FEWEST_WORDS and not {*"&|"} & {*lines[line - 1]}
