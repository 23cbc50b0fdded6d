"""Maps by the order of names: output 1 and its inputs, then output 2 and its inputs.

Sentences in any language name the tokens of a map in one of a few orders. This module finds them
without knowing the words between the names; the weights only arbitrate between readings.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.map_numbers import (
    MOST_LINES,
    NUMBERED,
    OF_ALL,
    TAG,
    TIE,
    TOKEN,
    plain,
)
from attncalc.reading.answers.map_words import lexemes_in, place_of
from attncalc.reading.naming.name import Tokens, head_in
from attncalc.reading.naming.vocabulary import concept_of, plain_word

LONGEST, MOST_MENTIONS = 600, 2000
FARTHEST = 3
"""The largest distance of lines between two names of a map."""
_STOP = re.compile(r"[.;!?。；！？\n)]")
_FORMULA = re.compile(r"\d|=(?=\s*[^\s>])|[\[\]*·×^{}]")
"""A sign of numbers or work between two names, which are then no map."""
_WEIGHT = re.compile(r"[≈~]? ?[-+]?(?<!\d)\d{0,9}[.,]\d{1,20} ?%?|[≈~] ?\d{1,9}|(?<!\d)\d{1,9} ?%")
_NONE, _ASIDE = re.compile(r"(?!)"), re.compile(r"\([^()\d\x00]{0,80}\)")
_COUNT = re.compile(r"^\n\W*\d{0,2}\W*")
"""The beginning of a line, with a count of the line or of its head."""
_VALUE = " \x00 "
"""A weight between names, which may rank them against their order."""
_SCRIPTS = re.compile(
    r"(?<=[^\W\d_\u2e80-\uffff])(?=[\u2e80-\uffff])|(?<=[\u2e80-\uffff])(?=[^\W\d_\u2e80-\uffff])"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_SAID = {"attends", "takes", "feeds", "arrow", "most", "second", "then"}
_SIGNS, _TO = " ,;.", ("om", "mo", "os", "so")
"""Signs that only separate names, and the roles of names with the same words between them."""
_WORDS_OF_MAP = {"peta", "harita", "diagram", "drawing", "schema", "arrows"}
"""Words for a map that name no step."""


class _Mention(NamedTuple):
    """A token that is named: its places as output and as input, from 0; -1 is "itself"."""

    line: int
    output: int
    input: int
    before: str


class _Said(NamedTuple):
    """The inputs of each output, the most attended first, from one run of names."""

    lines: tuple[int, ...]
    inputs: tuple[tuple[int, ...], ...]
    fit: int


def maps_in_order(
    lines: Sequence[tuple[int, str]], heads: Matrix, labels: Tokens
) -> list[WrittenConnection]:
    """Return the map that names state by their order; [] if it does not state every output.

    lines: the lines that belong to no step, with their numbers.
    heads: the weights of each head, of shape (heads, outputs, inputs).
    labels: the names of the tokens.

    >>> text = "Peta: je paling melihat am, lalu je. am paling melihat je, lalu am."
    >>> names = Tokens(("je", "am"), ("je", "am"))
    >>> weights = np.array([[[0.4, 0.6], [0.7, 0.3]]])
    >>> [each.says for each in maps_in_order([(1, text)], weights, names)]
    ['output je → input am, second je', 'output am → input je, second am']
    """
    plain_lines = [
        (line, NUMBERED.sub("", _WEIGHT.sub(_VALUE, _SCRIPTS.sub(" ", plain(TAG.sub(" ", text))))))
        for line, text in lines[-MOST_LINES:]
        if len(text) <= LONGEST
    ]
    sides = [[each.lower() for each in side] for side in (labels.queries, labels.keys)]
    found: list[dict[int, _Said]] = []
    for are_names, aside in ((True, _ASIDE), (True, _NONE), (False, _ASIDE)):
        mentions = [*_mentions(plain_lines, sides, aside, are_names=are_names)][-MOST_MENTIONS:]
        by_head = _by_head(lines[-MOST_LINES:], mentions, heads)
        if by_head and (
            are_names or all(each.fit == len(each.inputs) for each in by_head.values())
        ):
            found.append(by_head)
    best = max(found, key=lambda each: [*map(_worth, each.values())], default={})
    return [
        each
        for head, said in best.items()
        for each in _written(said, head if len(heads) > 1 else 0, labels)
    ]


def _mentions(
    lines: Sequence[tuple[int, str]],
    sides: list[list[str]],
    aside: re.Pattern[str],
    *,
    are_names: bool,
) -> Iterator[_Mention]:
    """Yield the tokens that lines name, without those in brackets that match `aside`."""
    known = {*sides[0], *sides[1]}
    for line, text in lines:
        clean, end = aside.sub(" ", text), 0
        for match in TOKEN.finditer(clean):
            word = match[0].lower()
            if match["itself"]:
                places = -1, -1
            elif match["number"] and int(word) and not (are_names and any(sides[1])):
                places = len(sides[0]) if are_names else int(word) - 1, int(word) - 1
            elif are_names and word in known:
                there = [side.index(word) if word in side else len(side) for side in sides]
                places = there[0], there[1]
            else:
                continue
            yield _Mention(line, *places, ("" if end else "\n") + clean[end : match.start()])
            end = match.end()


def _by_head(
    lines: Sequence[tuple[int, str]], mentions: Sequence[_Mention], heads: Matrix
) -> dict[int, _Said]:
    """Return what names state about each head, from 1; {} if a head is missing.

    If lines do not name the heads, their maps follow one another.
    """
    named, head = dict[int, int](), 0
    for line, text in lines:
        head = head_in(text) or head
        named[line] = head
    for are_named in (True, False):
        found, after = dict[int, _Said](), 0
        for k, weights in enumerate(heads, start=1):
            own = [m for m in mentions if (named[m.line] == k if are_named else m.line > after)]
            stated = [*_stated(own if len(heads) > 1 else mentions, weights)]
            first = stated[0] if stated else None
            is_first = len(heads) > 1 and not are_named
            if best := first if is_first else max(stated, key=_worth, default=None):
                found[k], after = best, max(best.lines)
        if len(found) == len(heads):
            return found
    return {}


def _worth(said: _Said) -> tuple[bool, int, int]:
    return said.fit == len(said.inputs), sum(map(len, said.inputs)), said.fit


def _stated(mentions: Sequence[_Mention], weights: Matrix) -> Iterator[_Said]:
    """Yield what runs of names state about every output."""
    orders = [*_orders(weights)]
    for start in range(len(mentions)):
        for order in orders:
            stop = start + len(order)
            outputs = _outputs(mentions[start:stop], order)
            is_end = all(_STOP.search(each.before) for each in mentions[stop : stop + 1])
            if outputs and is_end and _is_of_map(mentions[start:stop], order):
                own = [(role, outputs.get(k, k)) for role, k in order]
                said = _read(mentions[start:stop], own, weights)
                is_in_order = order[0][0] == "o" and [*outputs.values()] == sorted(outputs)
                if said and (is_in_order or said.fit == len(weights)):
                    yield said


def _outputs(run: Sequence[_Mention], order: Sequence[tuple[str, int]]) -> dict[int, int]:
    """Return the outputs that names in an order are about; {} if they do not have that order."""
    found: dict[int, int] = {}
    if len(run) == len(order):
        for mention, (role, k) in zip(run, order, strict=True):
            if role == "o" and found.setdefault(k, mention.output) != mention.output:
                return {}
    return found if sorted(found.values()) == sorted(found) else {}


def _orders(weights: Matrix) -> Iterator[list[tuple[str, int]]]:
    """Yield the orders of names in which a map is stated: the role and output of each name.

    "o" is an output, "m" the input that it attends to most, "s" the second one; inputs may come
    first. An output with only one weight, as the first below a causal mask, may have no second.
    """
    outputs = range(len(weights))
    most, second = ([[("o", k), (role, k)] for k in outputs] for role in "ms")
    of_all = [("o", k) for k in outputs]
    for others in (second, *_without_second(second, weights)):
        yield [*chain(*(a + b[1:] for a, b in zip(most, others, strict=True)))]
        for step in (1, -1):
            sides = [(a[::step], b[::step]) for a, b in zip(most, others, strict=True)]
            yield [*chain(*(a + b for a, b in sides))]
            for begin in (chain(*(a for a, _ in sides)), (*of_all, ("m", -1))):
                yield [*begin, *chain(*(b for _, b in sides))]
    yield [*of_all, ("m", -1), ("s", -1)]
    yield [*chain(*most)]


def _without_second(
    second: list[list[tuple[str, int]]], weights: Matrix
) -> Iterator[list[list[tuple[str, int]]]]:
    """Yield second inputs without that of one output, which is named alone, or not again."""
    if (np.count_nonzero(weights > TIE, axis=1) < 2).sum() == 1:
        for k in range(len(second)):
            for own in ([], second[k][:1]):
                yield [*second[:k], own, *second[k + 1 :]]


def _read(
    run: Sequence[_Mention], order: Sequence[tuple[str, int]], weights: Matrix
) -> _Said | None:
    """Return what names in an order state; None if their inputs cannot be those of a map."""
    inputs: list[list[int]] = [[] for _ in weights]
    lines = [0] * len(weights)
    for mention, (role, output) in zip(run, order, strict=True):
        for k in range(len(weights)) if output < 0 else [output]:
            if role == "o":
                lines[k] = lines[k] or mention.line
            else:
                inputs[k].append(k if mention.input < 0 else mention.input)
    if any(len({*own}) < len(own) or max(own) >= weights.shape[1] for own in inputs):
        return None
    made = [tuple(own) for own in inputs]
    turned = [own[::-1] for own in made]  # the second input is named first
    fit, other = (sum(map(_is_ranked, each, weights)) for each in (made, turned))
    is_turned = other == len(weights) > 2 * fit
    if any(_VALUE in each.before for each in run[1:]) and max(fit, other) < len(weights):
        return None
    return _Said(tuple(lines), tuple(turned if is_turned else made), max(fit, other * is_turned))


def _are_largest(inputs: Sequence[int], row: Matrix) -> bool:
    return all(row[k] >= row.max() - TIE for k in inputs)


def _is_ranked(inputs: Sequence[int], row: Matrix) -> bool:
    """Return whether inputs have the largest weight, and the second largest."""
    first, *second = inputs
    is_second = all(row[k] >= np.sort(row)[-2] - TIE for k in second)
    return bool(is_second and _are_largest([first], row))


def count_exact(lines: Sequence[WrittenConnection], heads: Matrix, labels: Tokens) -> int:
    """Return how many lines name the inputs with the two largest weights."""
    count = 0
    for each in lines:
        weights = heads[max(0, each.head - 1) % len(heads)]
        row = place_of(each.output, labels.queries)
        own = [place_of(name, labels.keys) for name in (*each.most, *each.second)]
        is_there = 0 <= row < len(weights) and all(0 <= k < weights.shape[1] for k in own)
        is_full = len(own) == min(2, np.count_nonzero(weights[row] > TIE)) if is_there else False
        is_tied = is_there and len(each.most) > 1 and _are_largest(own, weights[row])
        count += is_tied or (is_full and _is_ranked(own, weights[row]))
    return count


def _is_of_map(run: Sequence[_Mention], order: Sequence[tuple[str, int]]) -> bool:
    """Return whether the words between names are those of a map, or are the same each time."""
    gaps = [each.before for each in run]
    if any(b.line - a.line > FARTHEST for a, b in pairwise(run)):
        return False
    if any(_FORMULA.search(_COUNT.sub("", gap)) for gap in gaps[1:]):
        return False
    words = " ".join([gaps[0][-80:], *gaps[1:]])
    kinds = {each.kind for each in lexemes_in(words[:LONGEST], {})}
    said = {plain_word(word) for word in _LETTERS.findall(words)}
    is_named = bool(said & _WORDS_OF_MAP) or any(concept_of(word) == "map" for word in said)
    if kinds & _SAID or is_named or OF_ALL.search(words):
        return True
    between: dict[str, list[str]] = {}
    signs = _SIGNS + "|" * (order[1][0] == "o")  # in the heading of a table
    for gap, (a, _), (b, _) in zip(gaps[1:], order, order[1:], strict=False):
        between.setdefault(a + b, []).append(" ".join(gap.split()).strip(signs))
    return any(len({*own}) == 1 < len(own) and own[0] for of, own in between.items() if of in _TO)


def _written(said: _Said, head: int, labels: Tokens) -> list[WrittenConnection]:
    """Return the lines of the map with the names of the tokens."""

    def named(place: int, names: Sequence[str]) -> str:
        return names[place] if any(names) else str(place + 1)

    return [
        WrittenConnection(
            head, named(k, labels.queries), (named(own[0], labels.keys),),
            tuple(named(j, labels.keys) for j in own[1:]), "", said.lines[k], is_told=True
        )
        for k, own in enumerate(said.inputs)
    ]  # fmt: skip
