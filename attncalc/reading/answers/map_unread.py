"""Lines that look like a part of a map, and what a reader of maps makes of other lines."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, groupby, pairwise

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import Unread, WrittenConnection
from attncalc.reading.answers.cuts import numbers_of
from attncalc.reading.answers.map_names import (
    FARTHEST,
    LONGEST,
    MOST_LINES,
    MOST_MENTIONS,
    SENTENCE,
    WORD,
    Lines,
    readings,
)
from attncalc.reading.answers.map_order import count_exact
from attncalc.reading.answers.map_words import labels_of, lexemes_in, place_of
from attncalc.reading.naming.name import Tokens, heads_in

MOST_BEFORE, MOST_BETWEEN = 2, 6
"""The most lines before a map, and between its parts, that may be another part of it."""
_NAMED = ("number", "doubtful", "symbol", "symbol in", "symbol out")
_ITSELF = "itself"
_OF_TOKENS = {"out", "in", "token", "symbol", "ordinal"}
_BARS, _NAME, _LETTERS = re.compile(r"[|│\t]"), re.compile(r"\w+"), re.compile(r"[^\W\d_]+")
_NUMBERS = re.compile(r"[(\[] ?-?\d[\d.]{0,9}[,; ]{1,3}-?\d")
"""The start of a vector."""
_WORD = re.compile(r"[^\W\d_]{2}")
_WORK = re.compile(r"[=×^√\[]|\d ?\* ?\d|\d[.,]\d{2}|\d(?:pt|em|cm|mm|px)\b")
"""A sign of work, of a weight, or of a length, on a line."""
UNCLEAR = 'it seems to be of the map: write it as "output 1 attends to input 3"'


def is_prose(line: str) -> bool:
    """Return whether a line has several sentences, so that one may be about the map."""
    sentences = filter(WORD.search, SENTENCE.split(line.strip(" .\t")))
    return not _BARS.search(line) and len([*sentences]) > 1


def words_beside(line: str, rows: Collection[tuple[float, ...]]) -> str:
    """Return the words before and behind the rows of matrices on a line; "" if none is behind."""
    numbers, before, stop, place = numbers_of(line), "", 0, 0
    values = [each.value for each in numbers]
    widths = sorted({*map(len, rows)}, reverse=True)
    while place < len(numbers):
        found = (w for w in widths if (*values[place : place + w],) in rows)
        width = next((w for w in found if place + w <= len(numbers)), 0)
        if width:
            if WORD.search(line, numbers[place].end, numbers[place + width - 1].start):
                return ""  # the inputs of all weights are named
            before = before or line[: numbers[place].start]
            stop = numbers[place + width - 1].end
        place += max(1, width)
    return f"{before} | {line[stop:]}" if stop and _NAME.search(line, stop) else ""


def lines_that_may_state(lines: Lines, labels: Tokens, *, is_begun: bool) -> Iterator[int]:
    """Yield the lines that seem to state what outputs attend to: names, and such words.

    is_begun: whether a part of a map is read, which ranks may continue.
    """
    known = labels_of((*labels.keys, *labels.queries))
    for line, text in lines[-MOST_LINES:]:
        words = lexemes_in(text[:LONGEST], known)
        kinds = {each.kind.partition(" ")[0] for each in words}
        named = [each.said for each in words if each.kind in (*_NAMED, "ordinal")]
        count = len(labels.queries) or MOST_MENTIONS
        named = [each for each in named if place_of(each, labels.keys) < count]
        is_list = named in ([*labels.keys], [*labels.queries])
        are_numbers = all(map(str.isdigit, named)) and not kinds & _OF_TOKENS
        counted = sum(each.kind in _NAMED for each in words)
        may_go_on = counted > 1 and (("ordinal", "2") in words or kinds >= {"out", "in"})
        sides = Counter(each.kind for each in words if each.kind in ("out", "in"))
        are_vectors = _NUMBERS.search(text[:LONGEST]) is not None
        is_of_pairs = min(sides["out"], sides["in"]) > 1 and counted > 3 and not are_vectors
        is_said = (
            is_of_pairs
            or bool(kinds & {"attends", "feeds", "most", "arrow"})
            or (is_begun and may_go_on)
        )
        is_asked = "data" in kinds or "…" in text or text.rstrip().endswith("?")
        is_named = len(named) > 1 or (named and "out" in kinds and kinds & {"attends", "feeds"})
        if is_said and is_named and not (is_list or are_numbers or is_asked):
            yield line


def lines_with_names(lines: Lines, heads: Matrix, labels: Tokens) -> Iterator[int]:
    """Yield lines near one another that name as many tokens as a map does, in any words.

    lines: those that belong to no step.
    """
    named, every = dict[int, list[int]](), [*range(heads.shape[-1])]
    found = readings((*lines,), labels, len(heads[0]))
    usual = (each.mentions for each in found if not (each.is_of_sections or each.is_from_zero))
    by_line = (groupby(mentions, key=lambda each: each.line) for mentions in usual)
    for line, names in chain.from_iterable(by_line):
        own = [*names]
        places = [each.output for each in own]
        if len(own) > 1 and places != every and all(each.is_near for each in own[1:]):
            named[line] = max(named.get(line, []), places, key=len)
    texts = dict(lines)
    near = [n for n in named if _WORD.search(texts[n]) and not _WORK.search(texts[n])]
    outputs = {int(k) for k in np.flatnonzero(np.count_nonzero(heads[0], axis=1) > 1)}
    starts = [k for k, line in enumerate(near) if not k or line - near[k - 1] > FARTHEST]
    for start, stop in pairwise([*starts, len(near)]):
        places = [place for line in near[start:stop] for place in named[line]]
        if len(places) >= 2 * max(2, len(outputs)) and outputs <= {*places}:
            yield from near[start:stop]


def may_go_on(lines: Lines, last: int, labels: Tokens) -> bool:
    """Return whether a line behind a map without second inputs may name them.

    It names a second input, or it is soon after the last line and names as many inputs as it has.
    """
    known = labels_of(labels.keys)
    for number, text in (each for each in lines if last <= each[0] <= last + MOST_LINES):
        count = sum(word in labels.keys for word in _LETTERS.findall(text))
        if last < number <= last + MOST_BETWEEN and count >= len(labels.queries):
            return True
        words = lexemes_in(text[:LONGEST], known)
        behind = words if number > last else lexemes_in(_behind(text), known)
        ranks = {each.kind for each in words}
        ranks |= {each.said for each in behind if each.kind == "ordinal"}
        if ranks & {"second", "2"} and any(each.kind in _NAMED for each in words):
            return True
    return False


def lines_in_part(
    read: Sequence[WrittenConnection],
    whole: Collection[int],
    lines: Lines,
    heads: Matrix,
    labels: Tokens,
) -> tuple[set[int], set[int]]:
    """Return the lines of a map that are read in part, and lines near it that are not read.

    The first state inputs that do not have the largest weights, and name more tokens than what is
    read of them, or name outputs that the map lacks. The others name such outputs, too.

    whole: the lines that are read whole.
    """
    told = [each for each in read if each.is_told]
    begin, end = min(each.line for each in told), max(each.line for each in told)
    own = {each.line for each in told} - {*whole}
    wrong = {each.line for each in told if not count_exact([each], heads, labels)}
    names = [*labels.queries] if any(labels.queries) else [str(k + 1) for k in range(len(heads[0]))]
    outputs = Counter(each.output for each in told)
    missing = {name for name in names if outputs[name] < len(heads)}
    in_part, near = set[int](), set[int]()
    for line, text in lines:
        if begin - MOST_BEFORE <= line <= end + MOST_BETWEEN:
            more = _names_on(text, labels) - _names_in(read, line)
            is_part = (bool(more) and line in wrong) or not missing.isdisjoint(more)
            in_part |= {line} if is_part and line in own else set()
            is_other = line not in own and line not in whole
            near |= {line} if is_other and not missing.isdisjoint(more) else set()
    return in_part, near


def _names_on(text: str, labels: Tokens) -> "Counter[str]":
    """Return how often a line names each token."""
    known = labels_of((*labels.keys, *labels.queries))
    text = text[:LONGEST]
    for start, end, _ in reversed([*heads_in(text)]):
        text = f"{text[:start]} {text[end:]}"
    words = lexemes_in(text, known)
    named = Counter(each.said for each in words if each.kind in _NAMED)
    named[_ITSELF] = sum(each.kind == _ITSELF for each in words)
    counted = [*known.values()] or [str(place + 1) for place, _ in enumerate(labels.keys)]
    return Counter({name: named[name] for name in (*counted, _ITSELF)})


def _names_in(read: Sequence[WrittenConnection], line: int) -> "Counter[str]":
    """Return how often the statements that were read from a line name each token."""
    own = [each for each in read if each.line == line]
    named = Counter(name for each in own for name in (each.output, *each.most, *each.second))
    named[_ITSELF] = sum(each.output in (*each.most, *each.second) for each in own)
    return named


def _behind(text: str) -> str:
    """Return the sentences of a line behind its first one."""
    return " ".join(SENTENCE.split(text[:LONGEST])[1:])


def unclear(line: int, text: str) -> Unread:
    """Return a text that seems to be about the map, as one that is not read."""
    return Unread(line, text, UNCLEAR, False, of_map=True)
