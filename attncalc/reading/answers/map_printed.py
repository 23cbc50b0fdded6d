"""Maps that a program prints: the places of the largest weights, from 0 or 1."""

import re
from collections.abc import Iterator, Sequence
from itertools import product

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.map_order import (
    MOST_BETWEEN,
    MOST_LINES,
    Said,
    is_ranked,
    plain,
    written,
)
from attncalc.reading.naming.name import Tokens

LONGEST = 400
_LARGEST = re.compile(
    r"\b(?:arg_?max|which\.max|idxmax|max\.col|arg_?sort|sortperm|sort|topk|order)\b", re.IGNORECASE
)
_WHOLE, _COUNTED = re.compile(r"(?<![\w.,])\d{1,3}(?![\w.,]*\d)"), re.compile(r"\[\d{1,3}\](?=\s)")
"""Places that a program prints, and R's count before a vector."""


def printed_map(
    lines: Sequence[tuple[int, str]], weights: Matrix, labels: Tokens
) -> list[WrittenConnection]:
    """Return the map that a program prints, where the weights confirm it; [] if there is none."""
    short = [(line, plain(text)) for line, text in lines[-MOST_LINES:] if len(text) < LONGEST]
    for place, (line, text) in enumerate(short):
        if called := _LARGEST.search(text):
            stop = line + len(weights) + MOST_BETWEEN
            below = [each for each in short[place + 1 :] if each[0] <= stop]
            for at, made in _printed([(line, text[called.end() :]), *below], len(weights)):
                if all(map(is_ranked, made, weights)):
                    return written(Said(at, made, len(made)), weights, 0, labels)
    return []


def _printed(
    lines: Sequence[tuple[int, str]], count: int
) -> Iterator[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]]:
    """Yield lines and inputs from the last numbers of a line or of all: pairs, two rows, or one."""
    results = [each for each in lines if not _LARGEST.search(each[1]) and _WHOLE.search(each[1])]
    whole = [(results[-1][0], "\n".join(text for _, text in results))] if results else []
    arranged = ((2, False), (2, True), (1, False))
    for (width, are_rows), (last, own), first in product(arranged, [*lines, *whole], (0, 1)):
        said = [int(n) - first for n in _WHOLE.findall(_COUNTED.sub("", own))][-count * width :]
        if len(said) == count * width:
            rows = [said[k::count] if are_rows else said[k * width :][:width] for k in range(count)]
            yield (*[lines[0][0]] * (count - 1), last), tuple(map(tuple, rows))
