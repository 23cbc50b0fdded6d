"""Maps that mark the weights: 0.2, **0.7**, *0.1*."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.map_names import STRUCK
from attncalc.reading.answers.map_order import TIE, Said, is_ranked
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


def marked_map(text: str, heads: Matrix) -> list[Said]:
    """Return the map of each head whose inputs are marked in the rows of weights; [] if none is.

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
                return [Said((*lines_of[each],), (*inputs[each],), count) for each in own]
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
