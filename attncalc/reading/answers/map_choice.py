"""The choice among all that the names and the marks of a text may state as a map.

Marks are those of the largest weights: 0.2, **0.7**, *0.1*.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.map_lines import cells_of
from attncalc.reading.answers.map_names import (
    MOST_MENTIONS,
    STRUCK,
    Lines,
    Mention,
    Reading,
    head_of,
    readings,
)
from attncalc.reading.answers.map_order import (
    TIE,
    Said,
    count_exact,
    is_ranked,
    maps_in_order,
    places_of,
    written,
)
from attncalc.reading.answers.map_periods import lines_about, maps_in_periods
from attncalc.reading.answers.map_rows import maps_in_rows
from attncalc.reading.naming.name import Tokens
from attncalc.reading.plain.marks import COMMA

LONGEST_MARKED, MOST_WRONG = 400, 200
"""The longest line with marks, and the most names among which a wrong map is searched."""
_TAG = "(?:b|strong|i|em|u|ins|mark)"
_SIGNS = "*+_★☆†‡●○◎◉△▲▽▼✓✔←!^"
_WEIGHT = re.compile(
    rf"((?:\\[a-z]{{2,12}} ?\{{|<{_TAG}>|[{_SIGNS}] ?){{0,6}})(?<![\d.])"
    rf"(\d{{1,9}}(?:\{{?[.,{COMMA}]\}}?\d{{1,9}})?)[%}}]{{0,3}}((?:</{_TAG}>| ?[{_SIGNS}])*)"
)
"""A number with the marks before and behind it."""
_SHORT_HEAD = re.compile(r"^([\s>*•·-]{0,8})[hH]_?(\d)(?=\s?[:：,|])")
_LETTER = re.compile(r"[^\W\d_]|\d")
_POINT = re.compile(rf"\{{?[.,{COMMA}]\}}?")
Search = Callable[[Sequence[Mention], Matrix], Iterable[Said]]


def stated_map(
    lines: Lines, heads: Matrix, labels: Tokens, text: str = "", whole: set[int] | None = None
) -> list[WrittenConnection]:
    """Return the map that names or marks state, and the weights confirm best; [] if none does.

    lines: the lines that belong to no step, with their numbers.
    heads: the weights of each head, of shape (heads, outputs, inputs).
    labels: the names of the tokens.
    text: the whole text, which may mark the largest weights.
    whole: the lines of a map that are read whole are added to it.

    >>> import numpy as np
    >>> text = "Peta: je paling melihat am, lalu je. am paling melihat je, lalu am."
    >>> names = Tokens(("je", "am"), ("je", "am"))
    >>> weights = np.array([[[0.4, 0.6], [0.7, 0.3]]])
    >>> [each.says for each in stated_map([(1, text)], weights, names)]
    ['output je → input am, second je', 'output am → input je, second am']
    """
    lines = [*_by_heads(lines, len(heads))]
    names, about = readings((*lines,), labels, len(heads[0])), lines_about(lines)
    from_one = [each for each in names if not each.is_from_zero]
    counted = names if about.printed else from_one
    in_lines = [each for each in counted if not each.is_of_sections]
    searches = (
        partial(best_map, from_one, maps_in_order),
        partial(best_map, in_lines, partial(maps_in_periods, about=about)),
        partial(_marked_map, text),
    )
    in_rows, are_known = maps_in_rows(names, heads, labels)
    most = len(heads) * len(heads[0])
    stated, part = (in_rows, []) if len(in_rows) == most else ([], in_rows)
    own_lines, right = {each.line for each in stated}, count_exact(stated, heads, labels)

    def lines_of(own: Sequence[Said]) -> list[WrittenConnection]:
        return [each for k, said in enumerate(own) for each in written(said, heads, k, labels)]

    for search in searches:
        own = search(heads) if right < most else []
        found = lines_of(own)
        exact = count_exact(found, heads, labels)
        # a map that states as much, or second inputs of some outputs, is not corrected by weights
        is_firm = 2 * right > len(stated) and (
            _count_named(found) <= _count_named(stated) or _is_sound(stated, heads, labels)
        )
        is_firm = is_firm or (are_known and not _goes_on(stated, found))
        is_there = own_lines <= {each.line for each in found}
        if found and (not stated or (exact > right and is_there and not is_firm)):
            stated, right, own_lines = found, exact, set()
    if whole is not None:
        whole |= own_lines
    few = [each for each in in_lines if len(each.mentions) <= MOST_WRONG]
    if not stated and about.said and few:
        stated = lines_of(best_map(few, partial(maps_in_periods, about=about, wrong=1), heads))
    return stated or part


def _by_heads(lines: Lines, count: int) -> Iterator[tuple[int, str]]:
    """Yield lines, with the rows of a table whose columns are heads as statements of each head."""
    rows: list[tuple[int, list[str]]] = []
    for line, own in [*lines, (0, "")]:
        text = _SHORT_HEAD.sub(r"\1head \2", own) if count > 1 else own
        cells = cells_of(text, count + 1) if text.strip() else []
        if rows and (len(cells) == count + 1 or not _LETTER.search(text)):
            rows.append((line, cells))
            if text.strip():
                continue
        for head, (number, row) in product(range(1, count + 1), rows):
            if len(row) > count:
                yield number, f"head {head}: {row[0]} → {row[head]}"
        is_heading = count > 1 and [*map(head_of, cells[1:])] == [*range(1, count + 1)]
        rows = [(line, [])] if is_heading else []
        if not is_heading and line:
            yield line, text


def _is_sound(lines: Sequence[WrittenConnection], heads: Matrix, labels: Tokens) -> bool:
    """Return whether a map has a line of each output, and second inputs, all ranked by weights."""
    if len(lines) != len(heads) * len(heads[0]) or not any(each.second for each in lines):
        return False
    for each in lines:
        (output,) = places_of([each.output], labels.queries)
        inputs = places_of([*each.most, *each.second], labels.keys)
        weights = heads[max(0, each.head - 1) % len(heads)]
        if not 0 <= output < len(weights) or not is_ranked(inputs, weights[output]):
            return False
    return True


def _goes_on(lines: Sequence[WrittenConnection], found: Sequence[WrittenConnection]) -> bool:
    """Return whether another map names the same first inputs, and second ones of most outputs."""
    most = {(each.head, each.output): each.most for each in lines}
    others = {(each.head, each.output): each.most for each in found}
    seconds = sum(bool(each.second) for each in found)
    is_more = _count_named(found) > _count_named(lines) and 2 * seconds >= len(found)
    return most.items() <= others.items() and is_more


def _count_named(lines: Sequence[WrittenConnection]) -> int:
    """Return how many inputs the lines of a map name."""
    return sum(len(each.most) + len(each.second) for each in lines)


def best_map(names: Sequence[Reading], search: Search, heads: Matrix) -> list[Said]:
    """Return the best map of each head in all readings; [] if none has one of every head."""
    found = [(each, _in_reading(each, heads, search)) for each in names]
    maps = [own for each, own in found if each.are_names or all(said.is_sure for said in own)]
    best = max(filter(None, maps), key=_worths, default=[])
    return max((own for own in maps if own and _extends(own, best)), key=_worths, default=best)


def _in_reading(names: Reading, heads: Matrix, search: Search) -> list[Said]:
    return _of_heads(names.mentions[-MOST_MENTIONS:], heads, search)


def _extends(longer: Sequence[Said], best: Sequence[Said]) -> bool:
    """Return whether a map of more names has the lines of another, and second inputs behind its."""
    pairs = [*zip(longer, best, strict=True)]
    inputs = [each for a, b in pairs for each in zip(a.inputs, b.inputs, strict=True)]
    is_same = all(a.lines == b.lines and a.span >= b.span for a, b in pairs)
    is_same = is_same and all(own[: len(other)] == other for own, other in inputs)
    is_more = any(len(own) > len(other) for own, other in inputs)
    return is_same and is_more and any(a.span > b.span for a, b in pairs)


def _worths(maps: Sequence[Said]) -> list[tuple[bool, int, float]]:
    return [each.worth for each in maps]


def _of_heads(mentions: Sequence[Mention], heads: Matrix, search: Search) -> list[Said]:
    """Return what names state about each head; [] if a head is missing.

    If no text names the heads, their maps follow one another, or are beside one another.
    """
    if len(heads) > 1 and {each.head for each in mentions} >= {*range(1, len(heads) + 1)}:
        named = ([m for m in mentions if m.head == k] for k in range(1, len(heads) + 1))
        found = [[*search(own, weights)] for own, weights in zip(named, heads, strict=True)]
        if all(found):
            return [max(own, key=lambda said: said.worth) for own in found]
    maps: list[list[Said]] = [[]]
    for weights in heads:
        longer = []
        for said in search(mentions, weights):
            before = [own for own in maps if not own or _follows(own[-1], said)]
            longer += [[*max(before, key=_worths), said]] if before else []
        maps = longer
    if maps:
        return max(maps, key=_worths)
    for said in search(mentions, heads[0]):  # in both heads, ...
        if said.is_of_all and all(all(map(is_ranked, said.inputs, each)) for each in heads):
            return [said] * len(heads)
    return []


def _follows(last: Said, said: Said) -> bool:
    """Return whether the map of a head is behind that of the head before, or beside it."""
    if said.begin >= last.stop:
        return True
    is_beside = said.period == last.period > 0 and {*said.columns}.isdisjoint(last.columns)
    return is_beside and 0 < said.columns[0] - last.columns[0] < said.period


def _marked_map(text: str, heads: Matrix) -> list[Said]:
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
        for piece in STRUCK.sub("", own[:LONGEST_MARKED]).split("\\\\"):
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
