"""Maps that a program prints: the names or the places, from 0 or 1, of the largest weights."""

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
    r"\b(?:arg_?max|which\.max|idxmax|max\.col|arg_?sort|sortperm|topk|(?:sort|order(?:ing)?)(?=[(\[]))",
    re.IGNORECASE,
)
_WHOLE, _COUNTED = re.compile(r"(?<![\w.,])\d{1,3}(?![\w.,]*\d)"), re.compile(r"\[\d{1,3}\](?=\s)")
"""Places that a program prints, and R's count before a vector."""
_GROUP, _WORD = re.compile(r"[{\[(]([^{}\[\]()]{1,100})[}\])]"), re.compile(r"[^\W_]+")
_ARRANGED = ((2, False), (2, True), (1, False), (3, False))
"""What is printed: the inputs of each output, or two rows; and whether these are rows. Behind the
name of each output are three.
"""
_Places = tuple[tuple[int, ...], ...]
"""The inputs of each output."""


def printed_map(
    lines: Sequence[tuple[int, str]], weights: Matrix, labels: Tokens
) -> list[WrittenConnection]:
    """Return the map that a program prints, where the weights confirm it; [] if there is none."""
    short = [(line, plain(text)) for line, text in lines[-MOST_LINES:] if len(text) < LONGEST]
    for place, (line, text) in enumerate(short):
        if called := _LARGEST.search(text):
            stop = line + len(weights) + MOST_BETWEEN
            own = [(line, text[called.end() :]), *(e for e in short[place + 1 :] if e[0] <= stop)]
            for last, made in _printed(own, len(weights), labels.keys):
                if len(made) == len(weights) and all(map(is_ranked, made, weights)):
                    at = (*[line] * (len(weights) - 1), last)
                    return written(Said(at, made, len(made)), weights, 0, labels)
    return []


def _printed(
    lines: Sequence[tuple[int, str]], count: int, keys: Sequence[str]
) -> Iterator[tuple[int, _Places]]:
    """Yield the last line, and inputs from the last names or numbers of a line or of all."""
    results = [each for each in lines if not _LARGEST.search(each[1])]
    results = [each for each in results if _WHOLE.search(each[1]) or [*_named(each[1], keys)]]
    whole = [(results[-1][0], "\n".join(text for _, text in results))] if results else []
    for (width, are_rows), (last, own) in product(_ARRANGED, [*lines, *whole]):
        places = [int(number) for number in _WHOLE.findall(_COUNTED.sub("", own))]
        for every in (places, [place - 1 for place in places], [*_named(own, keys)]):
            said = every[-count * width :]
            if len(said) == count * width:
                rows = [
                    said[k::count] if are_rows else said[k * width :][:width] for k in range(count)
                ]
                yield last, tuple(tuple(row[-2:]) for row in rows)
        groups = (tuple(_named(group, keys)) for group in _GROUP.findall(own))
        yield last, tuple(filter(None, groups))


def _named(text: str, keys: Sequence[str]) -> Iterator[int]:
    return (keys.index(word) for word in _WORD.findall(text) if word in keys)
