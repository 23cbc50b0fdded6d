"""Maps in columns, maps that a program prints, and maps that mark weights: 0.2, **0.7**, *0.1*."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, combinations, product

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.map_order import (
    MOST_BETWEEN,
    MOST_LINES,
    STRUCK,
    TIE,
    Said,
    count_exact,
    is_ranked,
    maps_in_order,
    plain,
    written,
)
from attncalc.reading.answers.map_words import lexemes_in
from attncalc.reading.naming.name import Tokens
from attncalc.reading.plain.marks import COMMA

LONGEST = 400
_CALLS = (
    r"\[\w{1,9}, ?\w{1,9}\] ?= ?(?:max|sort)\b"
    r"|\b(?:arg_?max|which\.max|idxmax|max\.col|arg_?sort|sortperm|topk|nlargest)"
)
CALL = re.compile(rf"(?:{_CALLS})\(", re.IGNORECASE)
"""A call of a program that gives the places of the largest weights."""
_LARGEST = re.compile(
    rf"(?:{_CALLS}|\b(?:(?:sort|order(?:ing)?)(?=[(\[])|rank(?:ing|s)?|ordine|ordre|orden|ordem"
    r"|reihenfolge|kolejność|порядок))\b|순위|顺序|順位",
    re.IGNORECASE,
)
_TAG = "(?:b|strong|i|em|u|ins|mark)"
_SIGNS = "*_★☆†‡●○◎◉△▲▽▼✓✔←!^"
_WEIGHT = re.compile(
    rf"((?:\\[a-z]{{2,12}} ?\{{|<{_TAG}>|[{_SIGNS}] ?)*)(?<![\d.])"
    rf"(\d{{1,9}}(?:\{{?[.,{COMMA}]\}}?\d{{1,9}})?)[%}}]{{0,3}}((?:</{_TAG}>| ?[{_SIGNS}])*)"
)
"""A number with the marks before and behind it."""
_POINT = re.compile(rf"\{{?[.,{COMMA}]\}}?")
_WHOLE = re.compile(rf"(?<![\w.,{COMMA}])\d{{1,3}}(?![\w.,{COMMA}]*\d)")
_COUNTED = re.compile(r"\[\d{1,3}\](?=\s)")
"""Places that a program prints, and R's count before a vector."""
_GROUP, _WORD = re.compile(r"[{\[(]([^{}\[\]()]{1,100})[}\])]"), re.compile(r"[^\W_]+")
_ARRANGED = ((2, False), (2, True), (1, False), (3, False))
"""What is printed: the inputs of each output, or two rows; and whether these are rows. Behind the
name of each output are three.
"""
_Places = tuple[tuple[int, ...], ...]
"""The inputs of each output."""
_BRACKETS = re.compile(
    r"^\W*\[\d{1,3},\]|[\[\](){}:;]|^\W*(?:tensor|array)\b|\\\\|\\[a-z]{1,4}(?:line|rule)\b"
)
_SEPARATOR = re.compile(r"[|│,>&]| /(?= )")
_CELL_OF_TOKEN = re.compile(r"(?:[^\W\d]{1,8}[. ]?)?(\d{1,3})")
_NO_INPUT = ("", "-", "–", "—", "/", "n/a", "na", "none", "nan")
MOST_COLUMNS, MOST_NAMED = 12, 4
"""The most columns of a row, and the most of them that may name its output."""
ENOUGH_BITS = 6
"""How improbable it is that columns fit the weights by chance."""


def stated_map(
    lines: Sequence[tuple[int, str]], heads: Matrix, labels: Tokens, text: str = ""
) -> list[WrittenConnection]:
    """Return the map that sentences, columns or a program state, and the weights confirm best.

    lines: the lines that belong to no step, with their numbers.
    heads: the weights of each head, of shape (heads, outputs, inputs).
    text: the whole text, which may mark the largest weights.
    """
    stated, most = maps_in_order(lines, heads, labels), len(heads) * len(heads[0])
    for other in (map_in_columns, printed_map, partial(_marked_map, text)):
        right = count_exact(stated, heads, labels)
        found = other(lines, heads, labels) if right < most else []
        if found and (not stated or count_exact(found, heads, labels) > right):
            stated = found
    return stated


def printed_map(
    lines: Sequence[tuple[int, str]], heads: Matrix, labels: Tokens
) -> list[WrittenConnection]:
    """Return the map that a program prints, where the weights confirm it; [] if there is none.

    heads: the weights, of shape (heads, outputs, inputs). Each head is printed behind the one
    before; of one head, the second inputs may be printed behind the first ones.
    """
    short = [(line, plain(text)) for line, text in lines[-MOST_LINES:] if len(text) < LONGEST]
    found, last = list[Said](), 0
    for weights in heads:
        made = _next_printed(short, last, weights, labels.keys, ((),) * len(weights))
        if made is None:
            return []
        last = max(made.lines)
        if len(heads) == 1 and {*map(len, made.inputs)} == {1}:
            made = _next_printed(short, last, weights, labels.keys, made.inputs) or made
        found.append(made)
    return _of_heads(found, heads, labels)


def _next_printed(
    lines: Sequence[tuple[int, str]],
    start: int,
    weights: Matrix,
    keys: Sequence[str],
    before: _Places,
) -> Said | None:
    """Return what is printed below a line, with the inputs before it, if the weights confirm it."""
    seen = np.maximum(1, np.count_nonzero(weights > TIE, axis=1)).tolist()
    for place, (line, text) in enumerate(lines):
        called = _LARGEST.search(text) if line > start else None
        stop = line + len(weights) + MOST_BETWEEN
        rest = [each for each in lines[place + 1 :] if called and each[0] <= stop]
        own = [(line, text[called.end() :]), *rest] if called else []
        for last, made in _printed(own, len(weights), keys):
            inputs = tuple((a + b)[:n] for a, b, n in zip(before, made, seen, strict=False))
            if len(made) == len(weights) and all(map(is_ranked, inputs, weights)):
                return Said((*[line] * (len(weights) - 1), last), inputs, len(made))
    return None


def _printed(
    lines: Sequence[tuple[int, str]], count: int, keys: Sequence[str]
) -> Iterator[tuple[int, _Places]]:
    """Yield the last line, and inputs from the last names or numbers of it and those before."""
    results = [each for each in lines if not _LARGEST.search(each[1])]
    results = [each for each in results if _WHOLE.search(each[1]) or [*_named(each[1], keys)]]
    wholes = [*accumulate(results, lambda above, own: (own[0], f"{above[1]}\n{own[1]}"))]
    for (width, are_rows), (last, own) in product(_ARRANGED, [*lines[:1], *wholes]):
        places = [int(number) for number in _WHOLE.findall(_COUNTED.sub("", own))]
        for every in (places, [place - 1 for place in places], [*_named(own, keys)]):
            said = every[-count * width :]
            if len(said) == count * width:
                rows = [
                    said[k::count] if are_rows else said[k * width :][:width] for k in range(count)
                ]
                are_named = width == 2 and [row[0] for row in rows] == [*range(count)]
                if are_named and every is not places:
                    yield last, tuple(tuple(row[1:]) for row in rows)
                yield last, tuple(tuple(row[-2:]) for row in rows)
        groups = (tuple(_named(group, keys)) for group in _GROUP.findall(own))
        yield last, tuple(filter(None, groups))


def map_in_columns(
    lines: Sequence[tuple[int, str]], heads: Matrix, labels: Tokens
) -> list[WrittenConnection]:
    """Return the map in columns of inputs, where the weights confirm it; [] if there is none.

    A row is of one output, whose name may be in it; it has the inputs of each head, or only those
    with the largest weights. A program prints places, from 0 or 1, of all inputs or the first ones.
    """
    count = len(heads[0])
    rows = [
        (line, cells)
        for line, text in lines[-MOST_LINES:]
        if len(text) < LONGEST and any(c.isalnum() for c in text)
        for cells in [_cells(plain(text), labels)]
    ]
    for groups in ([heads], [*heads[:, None]] if len(heads) > 1 else []):
        found, start, total = list[Said](), 0, 0.0
        for group in groups:  # all heads beside one another, or one after another
            start, inputs, bits = _first_of_columns(rows, start, group)
            at = tuple(line for line, _ in rows[start - count : start])
            found, total = [*found, *(Said(at, own, count) for own in inputs)], total + bits
        if len(found) == len(heads) and total >= ENOUGH_BITS / (1 + _is_said(lines, found[0])):
            return _of_heads(found, heads, labels)
    return []


def _is_said(lines: Sequence[tuple[int, str]], said: Said) -> bool:
    """Return whether a line soon above says that inputs are ordered by their weights."""
    first = min(said.lines)
    above = [text[:LONGEST] for line, text in lines if first - MOST_BETWEEN <= line < first]
    words = {each.kind for text in above for each in lexemes_in(text, {})}
    return bool(words & {"most", "second"}) or any(map(_LARGEST.search, above))


def _first_of_columns(
    rows: Sequence[tuple[int, list[int | None] | None]], start: int, heads: Matrix
) -> tuple[int, list[_Places], float]:
    """Return the end of the first columns that fit, the inputs of each head, and their bits."""
    count = len(heads[0])
    for stop in range(start + count, len(rows) + 1):
        own = [cells for _, cells in rows[stop - count : stop] if cells]
        fitting = [*_of_columns(own, heads)] if len(own) == count else []
        if fitting:
            return stop, *max(fitting, key=lambda each: each[1])
    return len(rows), [], 0


def _cells(text: str, labels: Tokens) -> list[int | None] | None:
    """Return the tokens of the cells of a line, from 1, and None for none; None for other cells."""
    bare = _BRACKETS.sub(" ", text).strip().strip("|│")
    cells = _SEPARATOR.split(bare) if _SEPARATOR.search(bare) else bare.split()
    found: list[int | None] = []
    for cell in (each.strip().lower() for each in cells[: MOST_COLUMNS + 1]):
        sides = [[*map(str.lower, side)] for side in (labels.keys, labels.queries)]
        if cell and (side := next((each for each in sides if cell in each), None)):
            found.append(side.index(cell) + 1)
        elif match := _CELL_OF_TOKEN.fullmatch(cell):
            found.append(int(match[1]))
        elif cell in _NO_INPUT:
            found.append(None)
        else:
            return None
    return found if len(found) <= MOST_COLUMNS else None


def _of_columns(
    rows: Sequence[list[int | None]], heads: Matrix
) -> Iterator[tuple[list[_Places], float]]:
    """Yield the inputs of each head that columns contain, and how improbable that is by chance."""
    width = max(map(len, rows))
    columns = [[row[k] if k < len(row) else None for row in rows] for k in range(width)]
    columns = [own for own in columns if any(each is not None for each in own)]
    for base in (1, 0):
        names = [*range(base, len(rows) + base)]
        places = [k for k, own in enumerate(columns) if own == names][:MOST_NAMED]
        for count in range(len(places) + 1):
            for named in combinations(places, count):
                kept = [own for k, own in enumerate(columns) if k not in named]
                for ranks in _ranked_columns(kept, heads):
                    inputs = [_inputs(own, base) for own in ranks]
                    bits = [*map(_bits, inputs, heads)]
                    if all(bits):
                        yield inputs, sum(bits) + count * np.log2(len(rows))


def _ranked_columns(
    columns: Sequence[list[int | None]], heads: Matrix
) -> Iterator[Sequence[Sequence[list[int | None]]]]:
    """Yield the columns of each head, by rank."""
    count = len(heads)
    if len(columns) == 2 * count:
        yield [columns[2 * k : 2 * k + 2] for k in range(count)]
        yield [columns[k::count] for k in range(count)]
    elif len(columns) == heads.shape[-1] and count == 1:
        yield [columns[:2]]


def _inputs(columns: Sequence[list[int | None]], base: int) -> _Places:
    return tuple(
        tuple(each - base for each in row if each is not None) for row in zip(*columns, strict=True)
    )


def _bits(inputs: _Places, weights: Matrix) -> float:
    """Return how improbable it is that inputs are ranked so by chance, in bits; 0 if they are not.

    Only an output with one weight has no second input.
    """
    bits = 1e-9
    for own, row in zip(inputs, weights, strict=True):
        choices = int(np.count_nonzero(row > TIE))
        if not is_ranked(own[: max(1, min(2, choices))], row) or len(own) < min(2, choices):
            return 0
        bits += float(np.log2(max(1, choices * (choices - 1))))
    return bits


def _marked_map(
    text: str, lines: Sequence[tuple[int, str]], heads: Matrix, labels: Tokens
) -> list[WrittenConnection]:
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
                return _of_heads(found, heads, labels)
    return []


def _of_heads(found: Sequence[Said], heads: Matrix, labels: Tokens) -> list[WrittenConnection]:
    """Return the lines of the map of each head."""
    numbers = range(1, len(heads) + 1) if len(heads) > 1 else [0]
    own = zip(found, heads, numbers, strict=True)
    return [each for said, weights, k in own for each in written(said, weights, k, labels)]


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
            values = [float(_POINT.sub(".", cell[2])) for cell in cells]
            values += [0.0] * (len(row) - len(values))
            if np.allclose(values, row, atol=TIE):
                found.append((line, marks))
            else:
                found = []
            if len(found) == len(weights):
                yield found
                found = []


def _named(text: str, keys: Sequence[str]) -> Iterator[int]:
    return (keys.index(word) for word in _WORD.findall(text) if word in keys)
