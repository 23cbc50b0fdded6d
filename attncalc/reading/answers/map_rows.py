"""Maps with a statement for each output, in any words: the output, then its inputs.

The words between two inputs mean that both tie, or that the second has the smaller weight. Known
words say which; for others the weights decide, with one meaning for the same words everywhere.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import log2
from typing import NamedTuple

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.map_names import (
    FORMULA,
    LONGEST_END,
    SENTENCE,
    VALUE,
    WORD,
    Mention,
    Reading,
    input_of,
)
from attncalc.reading.answers.map_order import (
    ALL,
    ENOUGH,
    EVERY,
    TIE,
    Groups,
    fit_of,
    is_output,
    members,
)
from attncalc.reading.answers.map_words import SAID, lexemes_in, phrases
from attncalc.reading.naming.name import Tokens

MOST_UNKNOWN = 6
"""The most texts between inputs whose meaning is searched."""
ENOUGH_BITS = 3.0
"""How improbable by chance a map without known words must be."""
WRONG_BITS = 1.0
"""How much less improbable it is with a wrong output."""
MOST_FORMS = 8
"""The most texts behind outputs that may mark them."""
OTHERS = -4
"""All inputs that are not named, as an input."""
FARTHEST = 4
"""The most lines from one statement to the next."""
_REST = re.compile(rf"(?P<rest>{phrases('rest')})|{ALL.pattern}", re.IGNORECASE)
_SAME = re.compile(rf"{phrases('same')}|{phrases('like')}", re.IGNORECASE)
_CELL = re.compile(r"\s*\|[\s|]*|\s{2,}")
_SIGN = re.compile(r"[^\w\s|=/&+→>-]")
_VERBS = {"attends", "takes", "arrow"}
_LISTING = {"sep", "to", "token", "out", ""}
"""The kinds of words between outputs of a list."""
_WORK = re.compile(r"[=+*·×^]")
_GAP = re.compile(r"(?:[\s=:,{}\[\]_]|[^\W\d_])*+")
"""Words and signs between names of a statement: 1 = 3; 3 = the same as 1; cat: {most: [cat]}."""
_OPEN = re.compile(r"[^\W\d_]|[→⇒⟶⟹➔➜↦>|:=←-]")


class _Row(NamedTuple):
    """A statement: an output, and each of its inputs with the words before it."""

    line: int
    head: int
    output: int
    before: str
    inputs: tuple[int, ...]
    words: tuple[str, ...]
    behind: str
    is_of_all: bool
    """Whether it is about all outputs."""

    @property
    def is_even(self) -> bool:
        """Whether it has a word for a tie."""
        return any("equal" in _kinds(each) for each in (*self.words, self.behind))


class _Map(NamedTuple):
    """The statements of a head, their inputs, and how well the weights fit."""

    rows: Sequence[_Row]
    groups: Sequence[Groups]
    fit: float


def maps_in_rows(
    names: Sequence[Reading], heads: Matrix, labels: Tokens
) -> list[WrittenConnection]:
    """Return the map of all heads in statements of one form; [] if there is none.

    heads: the weights of each head, of shape (heads, outputs, inputs).
    """
    best, found = -1.0, list[_Map]()
    for each in (one for one in names if one.mentions):
        with_rest = [*_with_rest(each.mentions)]
        texts = (each.mentions, with_rest)[: 1 + (len(with_rest) > len(each.mentions))]
        for mentions, are_lists in product(texts, (False, True)):
            rows = (
                [*_rows(mentions, begins, len(heads[0]), are_lists=are_lists)]
                for begins in _begins(mentions)
            )
            maps = [_of_heads(own, heads) for own in rows]
            own = max(maps, key=_fit_of_all)
            fit = _fit_of_all(own)
            if own and fit > best:
                best, found = fit, own
    return [line for k, own in enumerate(found) for line in _written(own, k, heads, labels)]


def _with_rest(mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the names of a text, and words for all others behind a name in its sentence."""
    for k, each in enumerate(mentions):
        yield each
        behind = mentions[k + 1] if k + 1 < len(mentions) else None
        goes_on = behind is not None and behind.goes_on and behind.line == each.line
        text = behind.before if behind is not None and goes_on else each.behind
        if match := _REST.search(text):
            yield each._replace(
                output=-1,
                input=OTHERS if match["rest"] else EVERY[0],
                before=text[: match.end()],
                is_near=True,
                goes_on=True,
                behind=text[match.end() :],
            )


def _of_heads(rows: Sequence[_Row], heads: Matrix) -> list[_Map]:
    """Return the map of each head; [] if one has none."""
    runs = [*_runs(rows, len(heads[0]))]
    named = {run[0].head for run in runs}
    found = []
    for k, weights in enumerate(heads):
        if len(heads) > 1 and named >= {*range(1, len(heads) + 1)}:
            own = [run for run in runs if run[0].head == k + 1]
        else:
            own = runs[k :: len(heads)] if len(runs) % len(heads) == 0 else []
        maps = [each for run in own if (each := _map(run, weights))]
        if not maps:
            return []
        found.append(max(maps, key=lambda each: each.fit))
    return found


def _fit_of_all(maps: Sequence[_Map]) -> float:
    return sum(each.fit for each in maps)


def _begins(mentions: Sequence[Mention]) -> Iterator[list[bool]]:
    """Yield which names may begin a statement: of lines, of sentences, or before some words."""
    lines = [True, *(last.line != each.line for last, each in pairwise(mentions))]
    yield lines
    sentences = [a or not each.goes_on for a, each in zip(lines, mentions, strict=True)]
    yield sentences
    yield [a or is_output(each) for a, each in zip(sentences, mentions, strict=True)]
    words = [*(_plain(each.before) for each in mentions[1:]), ""]
    verbs = [not _VERBS.isdisjoint(_kinds(text)) for text in words]
    yield [a or b for a, b in zip(sentences, verbs, strict=True)]
    behind_first = (text for text, each in zip(words, mentions, strict=True) if each.output == 0)
    for text, count in Counter(behind_first).most_common(MOST_FORMS):
        if text and words.count(text) > count:
            yield [own == text for own in words]


def _rows(
    mentions: Sequence[Mention], begins: Sequence[bool], count: int, *, are_lists: bool
) -> Iterator[_Row]:
    """Yield the statements that begin with the outputs in their order, again and again.

    are_lists: whether a statement may begin with a list of outputs.
    """
    row: list[Mention] = []
    again = ""
    for each, is_first in zip(mentions, begins, strict=True):
        if row and not _goes_on(row, each):
            yield from _row(row, count, are_lists=are_lists)
            row = []
        wanted = (row[_listed(row, are_lists=are_lists) - 1].output + 1) % count if row else 0
        of_all = _of_all(each) if is_first else []
        is_again = is_first and _is_again(row, each)
        is_next = len(row) > 1 and is_first and _is_next(_tail(each))
        if of_all or (is_first and each.output in (wanted, 0) and not (is_again or is_next)):
            if row and each.goes_on and row[-1].line == each.line:
                row[-1] = row[-1]._replace(behind=each.before)
            yield from _row(row, count, are_lists=are_lists)
            row, again = of_all or [each], ""
        elif is_again:
            again = "; "  # the output is named again, with its next input
        elif row:
            row.append(each._replace(before=again + each.before))
            again = ""
    yield from _row(row, count, are_lists=are_lists)


def _goes_on(row: Sequence[Mention], mention: Mention) -> bool:
    """Return whether only words are between a statement and a name."""
    is_word = len(row) > 1 or WORD.search(mention.before)
    return mention.is_near or bool(is_word and _GAP.fullmatch(mention.before))


def _of_all(mention: Mention) -> list[Mention]:
    """Return the beginning of a statement about all outputs; [] if the name begins none."""
    match = None if mention.goes_on else ALL.search(_tail(mention))
    if not match or FORMULA.search(mention.before, mention.before.rindex(match[0])):
        return []
    behind = _tail(mention)[match.end() :]
    return [mention._replace(output=EVERY[0]), mention._replace(before=behind)]


def _is_again(row: Sequence[Mention], mention: Mention) -> bool:
    """Return whether a name is again that of the output of a statement."""
    return len(row) > 1 and mention.output == row[0].output and _is_said(row[1:])


def _listed(row: Sequence[Mention], *, are_lists: bool) -> int:
    """Return how many names at the beginning of a statement are its outputs: 1 and 3 attend to."""
    count = 1
    while are_lists and count + 1 < len(row) and row[count].output > row[count - 1].output:
        text = row[count].before
        if not text.strip() or not {*_kinds(text)} <= _LISTING:
            break
        count += 1
    return count


def _is_said(names: Sequence[Mention]) -> bool:
    return any(SAID & {*_kinds(each.before)} for each in names)


def _tail(mention: Mention) -> str:
    """Return the words before a name in its own sentence."""
    return SENTENCE.split(mention.before)[-1]


def _row(names: Sequence[Mention], count: int, *, are_lists: bool) -> Iterator[_Row]:
    """Yield the statement of names for each of its outputs."""
    if len(names) < 2:
        return
    listed = _listed(names, are_lists=are_lists)
    first, inputs = names[0], names[listed:]
    denied = (k for k, each in enumerate(inputs) if k and "no" in _kinds(each.before))
    inputs = inputs[: next(denied, None)]  # nothing from input 3
    behind = inputs[-1].behind[:LONGEST_END]
    texts = [*(each.before for each in inputs), behind]
    words = (*map(_plain, texts[:-1]),)
    if any(VALUE in each and _WORK.search(each) for each in texts):
        return
    are_weights = VALUE in texts[0] or sum(VALUE in each for each in texts) >= len(inputs)
    if are_weights and len(inputs) > 1 and not any(map(_is_next, words)):
        return  # all weights, in any order
    is_of_all = first.output == EVERY[0]
    for output in range(count) if is_of_all else (each.output for each in names[:listed]):
        places = (*(input_of(each, output) for each in inputs),)
        yield _Row(first.line, first.head, output, _tail(first), places, words, behind, is_of_all)


def _plain(text: str) -> str:
    """Return words between names in one spelling, with a bar between cells."""
    text = _SIGN.sub(lambda own: own[0] if own[0] in ",;:" else " ", text.replace(VALUE, " "))
    return " ".join(_CELL.sub(" | ", text.strip("\n")).lower().split())


def _runs(rows: Sequence[_Row], count: int) -> Iterator[list[_Row]]:
    """Yield the statements of all outputs in their order, near one another."""
    run: list[_Row] = []
    for each in rows:
        is_near = bool(run) and each.line - run[-1].line <= FARTHEST
        is_next = is_near and each.output == run[-1].output + 1 and each.head == run[-1].head
        run = [*run, each] if is_next else [each] * (each.output == 0)
        if len(run) == count:
            yield run
            run = []


def _map(run: Sequence[_Row], weights: Matrix) -> _Map | None:
    """Return the map that statements make, with the best meaning of their words."""
    texts = (each for row in run for each in (*map(_kinds, row.words), _kinds_behind(row)))
    if any({"no", "bad"} & {*each} for each in texts):
        return None
    keys = dict.fromkeys(key for row in run for key in _keys(row))
    known = {key: said for key in keys if (said := _known(key[0]))}
    free = [key for key in keys if key not in known]
    if len(free) > MOST_UNKNOWN:
        return None
    best, most_likely = None, 0
    for meanings in product("TN", repeat=len(free)):
        guessed = dict(zip(free, meanings, strict=True))
        groups = _groups(run, known | guessed, weights)
        likely = sum(_is_likely(*each) for each in guessed.items())
        fits = [*map(fit_of, groups, weights)]
        seconds = sum(len(own) > 1 and fit > 1 for own, fit in zip(groups, fits, strict=True))
        fit = sum(fits) + seconds / 100
        if all(groups) and (fit, likely) > (best.fit if best else -1, most_likely):
            best, most_likely = _Map(run, groups, fit), likely
    return best if best is not None and _is_map(best, weights) else None


def _keys(row: _Row) -> Iterator[tuple[str, bool]]:
    """Yield the words between inputs, each with whether the statement has a word for a tie."""
    yield from ((text, row.is_even) for text in row.words[1:])


def _known(text: str) -> str:
    """Return what words between two inputs mean: N is next, T is tied; "" for unknown ones."""
    if _is_next(text) or ";" in text:
        return "N"
    return "T" if text in ("=", "&", "+") else ""


def _is_likely(key: tuple[str, bool], meaning: str) -> bool:
    """Return whether unknown words usually have this meaning: words for a tie, and "and", tie."""
    text, is_even = key
    is_and = text not in ("", ",") and {*_kinds(text)} <= {"sep", "in", "token", "to", ""}
    return (meaning == "T") == (is_even or is_and)


def _is_next(text: str) -> bool:
    """Return whether words before an input say that it is the second."""
    words = lexemes_in(f"1 {text}", {})
    return any(each.kind in ("second", "then") or each == ("ordinal", "2") for each in words)


def _kinds(text: str) -> list[str]:
    return [each.kind for each in lexemes_in(f"1 {text}", {})[1:]]


def _kinds_behind(row: _Row) -> Sequence[str]:
    """Return the kinds of words behind a statement; none if it has no second input."""
    kinds = _kinds(row.behind)
    return () if "no" in kinds and _is_next(row.behind) else kinds


def _groups(
    run: Sequence[_Row], meanings: Mapping[tuple[str, bool], str], weights: Matrix
) -> list[Groups]:
    """Return the inputs of each output, which may be like an earlier one; () for wrong ones."""
    firsts = Counter(row.words[0] for row in run)
    found: list[Groups] = []
    for row in run:
        own = _inputs(row, meanings, weights)
        of = row.inputs[0]
        if len(row.inputs) == 1 and 0 <= of < len(found):
            is_same = _SAME.search(f" {row.words[0]} ") or _SAME.search(row.behind)
            is_open = firsts[row.words[0]] == 1 and not SAID & {*_kinds(row.words[0])}
            fits = [fit_of(each, weights[row.output]) for each in (own, found[of])]
            own = found[of] if is_same or (is_open and fits[1] > fits[0]) else own
        found.append(own)
    return found


def _inputs(row: _Row, meanings: Mapping[tuple[str, bool], str], weights: Matrix) -> Groups:
    """Return the inputs of one statement; none if it names one twice, or one that is not there."""
    listed = [[row.inputs[0]]]
    for place, key in zip(row.inputs[1:], _keys(row), strict=True):
        if meanings[key] == "N":
            listed.append([])
        listed[-1].append(place)
    groups = list[list[int]]()
    for each in listed:
        named = [place for place in each if place not in (*EVERY, OTHERS)]
        before = {place for own in groups for place in own}
        rest = {*members(EVERY, row.output, weights[row.output])} - before
        if named or each != [*EVERY] or len(before) < 2:  # 1, 3 and 4 are all equal
            groups.append(sorted(named or rest))
    places = [place for own in groups for place in own]
    is_there = all(0 <= place < weights.shape[1] for place in places)
    is_once = len({*row.inputs}) == len(row.inputs) and len({*places}) == len(places)
    return (*map(tuple, groups),) if is_there and is_once and all(groups) else ()


def _is_map(found: _Map, weights: Matrix) -> bool:
    """Return whether statements are those of a map: by their words, or by their fit."""
    rows, fits = found.rows, [*map(fit_of, found.groups, weights)]
    words = Counter(word for row in rows for word in {*row.words[0].split()})
    are_alike = max(words.values(), default=0) >= max(2, ENOUGH * len(rows))
    texts = [text for row in rows for text in (*row.words, row.behind)]
    said = SAID if any(fits) else SAID - {"second", "then"}
    is_said = any(said & {*_kinds(text)} for text in texts)
    is_said = is_said or any({"most", "attends"} & {*_kinds(row.before)} for row in rows)
    if any(row.is_of_all for row in rows):
        return all(fits) and is_said
    if is_said:
        return all(fits) or are_alike
    if all((*map(tuple, own),) == ((k,),) for k, own in enumerate(found.groups)):
        return False  # row 1 = cat, row 2 = sat
    bits = sum(
        log2(len(row) * (len(row) - 1 if len(own) > 1 and fit > 1 else 1)) if fit else -WRONG_BITS
        for own, row, fit in zip(found.groups, weights, fits, strict=True)
    )
    are_words = all(_OPEN.search(row.words[0]) for row in rows)
    is_whole = all(fits) or len({row.words[0] for row in rows}) == 1
    return are_alike and are_words and is_whole and bits >= ENOUGH_BITS


def _written(found: _Map, k: int, heads: Matrix, labels: Tokens) -> Iterator[WrittenConnection]:
    """Yield the lines of the map of a head, from 0, with the names of the tokens."""

    def named(places: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
        return tuple(names[i] if any(names) else str(i + 1) for i in places)

    head = k + 1 if len(heads) > 1 else 0
    for row, groups in zip(found.rows, found.groups, strict=True):
        most, *others = groups
        weights = heads[k][row.output]
        if (
            fit_of(groups, weights)
            and others
            and weights[[*others[0]]].min() >= weights.max() - TIE
        ):
            most, *others = (*sorted((*most, *others[0])),), *others[1:]  # the first of equal ones
        second = others[0] if others else ()
        (name,) = named([row.output], labels.queries)
        ranks = named(most, labels.keys), named(second, labels.keys)
        yield WrittenConnection(head, name, *ranks, line=row.line, is_told=True)
