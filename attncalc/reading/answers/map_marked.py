"""Maps that mark the weights: 0.2, **0.7**, *0.1*; and the choice among all readings of a map."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.map_names import STRUCK, Lines
from attncalc.reading.answers.map_order import (
    TIE,
    Said,
    count_exact,
    is_ranked,
    maps_in_order,
    of_heads,
)
from attncalc.reading.answers.map_periods import map_in_periods
from attncalc.reading.naming.name import Tokens
from attncalc.reading.plain.marks import COMMA

LONGEST = 400
_TAG = "(?:b|strong|i|em|u|ins|mark)"
_SIGNS = "*+_★☆†‡●○◎◉△▲▽▼✓✔←!^"
_WEIGHT = re.compile(
    rf"((?:\\[a-z]{{2,12}} ?\{{|<{_TAG}>|[{_SIGNS}] ?){{0,6}})(?<![\d.])"
    rf"(\d{{1,9}}(?:\{{?[.,{COMMA}]\}}?\d{{1,9}})?)[%}}]{{0,3}}((?:</{_TAG}>| ?[{_SIGNS}])*)"
)
"""A number with the marks before and behind it."""
_POINT = re.compile(rf"\{{?[.,{COMMA}]\}}?")


def stated_map(
    lines: Lines, heads: Matrix, labels: Tokens, text: str = ""
) -> list[WrittenConnection]:
    """Return the map that names or marks state, and the weights confirm best.

    lines: the lines that belong to no step, with their numbers.
    heads: the weights of each head, of shape (heads, outputs, inputs).
    text: the whole text, which may mark the largest weights.
    """
    stated, most = maps_in_order(lines, heads, labels), len(heads) * len(heads[0])
    for other in (map_in_periods, partial(_marked_map, text)):
        right = count_exact(stated, heads, labels)
        found = other(lines, heads, labels) if right < most else []
        is_more = count_exact(found, heads, labels) > right
        # a map that states as much is not corrected by the weights
        is_firm = 2 * right > len(stated) and _count_named(found) <= _count_named(stated)
        if found and (not stated or (is_more and not is_firm)):
            stated = found
    return stated


def _count_named(lines: Sequence[WrittenConnection]) -> int:
    """Return how many inputs the lines of a map name."""
    return sum(len(each.most) + len(each.second) for each in lines)


def _marked_map(text: str, lines: Lines, heads: Matrix, labels: Tokens) -> list[WrittenConnection]:
    """Return the map whose inputs are marked in the rows of the weights; [] if none is.

    One mark is in every row, and another one may be in each row with several weights.
    """
    every = [*heads.reshape(-1, heads.shape[-1])]
    for rows in _marked_rows(text, every):
        counts = [Counter(marks.values()) for _, marks in rows]
        others = [*dict.fromkeys(mark for count in counts for mark in count), ""]
        full = [mark for mark in others if all(count[mark] == 1 for count in counts)]
        for ranks in ((a, b) for a, b in product(full, others) if a != b):
            inputs = [
                tuple(k for rank in ranks for k, mark in marks.items() if mark == rank)
                for _, marks in rows
            ]
            if 2 * sum(map(is_ranked, inputs, every)) > len(rows):
                lines_of = [line for line, _ in rows]
                count = len(heads[0])
                own = [slice(start, start + count) for start in range(0, len(rows), count)]
                found = [Said((*lines_of[each],), (*inputs[each],), count) for each in own]
                return of_heads(found, heads, labels)
    return []


def _marked_rows(
    text: str, weights: Sequence[Matrix]
) -> Iterator[list[tuple[int, dict[int, str]]]]:
    """Yield the lines of rows of the weights, and the marks of their numbers, by column."""
    found = list[tuple[int, dict[int, str]]]()
    for line, own in enumerate(text.split("\n"), start=1):
        for piece in STRUCK.sub("", own[:LONGEST]).split("\\\\"):
            cells = [*_WEIGHT.finditer(piece)][-len(weights[0]) :]
            marks = {k: f"{cell[1]}{cell[3]}" for k, cell in enumerate(cells)}
            marks = {k: mark for k, mark in marks.items() if mark}
            if not marks:
                continue
            row = weights[len(found)]
            values = [float(_POINT.sub(".", c[2])) / (100 if "%" in c[0] else 1) for c in cells]
            values += [0.0] * (len(row) - len(values))
            if np.allclose(values, row, atol=TIE):
                found.append((line, marks))
            else:
                found = []
            if len(found) == len(weights):
                yield found
                found = []
