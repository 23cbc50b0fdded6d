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
    CLAUSE,
    ENOUGH,
    EVERY,
    TIE,
    Groups,
    fit_of,
    is_output,
    members,
)
from attncalc.reading.answers.map_words import SAID, Lexeme, lexemes_in, phrases, rank_in
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
_SEPARATED = re.compile(rf"{CLAUSE.pattern}|\b{phrases('and')}\b")
_LESS, _MORE = re.compile(r"(?<!\w)<(?![-=\w])"), re.compile(r"(?<![-=\w])>(?!\w)")
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
    are_sided: bool
    """Whether words tell outputs from inputs."""
    may_be_part: bool
    """Whether other outputs may have no statement."""
    are_named: bool
    """Whether its output and its first input are called so."""

    @property
    def is_even(self) -> bool:
        """Whether it has a word for a tie."""
        return any("equal" in _kinds(each) for each in (*self.words, self.behind))


class _Map(NamedTuple):
    """The statements of a head, their inputs, and how well the weights fit."""

    rows: Sequence[_Row]
    groups: Sequence[Groups]
    fit: float
    is_firm: bool
    """Whether all its words are known."""


def maps_in_rows(
    names: Sequence[Reading], heads: Matrix, labels: Tokens
) -> tuple[list[WrittenConnection], bool]:
    """Return the map of all heads in statements of one form, and whether its words are all known.

    heads: the weights of each head, of shape (heads, outputs, inputs).
    """
    best, found = (False, False, -1.0, 0), list[_Map]()
    for each in (_joined(one.mentions) for one in names if one.mentions):
        with_rest = [*_with_rest(each)]
        texts = (each, with_rest)[: 1 + (len(with_rest) > len(each))]
        for mentions in texts:
            for rows in _ways(mentions, len(heads[0])):
                own = _of_heads(rows, heads)
                if own and _worth(own, len(heads[0])) > best:
                    best, found = _worth(own, len(heads[0])), own
    lines = [line for k, own in enumerate(found) for line in _written(own, k, heads, labels)]
    return lines, best[1]


def _joined(mentions: Sequence[Mention]) -> list[Mention]:
    """Return names with all words of their sentences before them, and heads if several are."""
    heads = {each.head for each in mentions}
    found = [mentions[0], *(
        each._replace(before=f"{last.behind} {each.before}")
        if each.goes_on and last.line < each.line
        else each
        for last, each in pairwise(mentions)
    )]  # fmt: skip
    return found if len(heads) > 1 else [each._replace(head=0) for each in found]


def _worth(maps: Sequence[_Map], count: int) -> tuple[bool, bool, float, int]:
    """Return whether maps have all outputs, and only known words; and how well the weights fit."""
    ties = sum(row.is_even for each in maps for row in each.rows)
    are_whole, fit = all(len(each.rows) == count for each in maps), sum(each.fit for each in maps)
    return are_whole, all(each.is_firm for each in maps), fit, ties


def _ways(mentions: Sequence[Mention], count: int) -> Iterator[list[_Row]]:
    """Yield the statements of a text, cut in each way."""
    yield [
        row
        for outputs, inputs in _by_sides(mentions)
        for row in _row(outputs, inputs, count, are_sided=True)
    ]
    begins = [*_begins(mentions)]
    for each, are_lists in product(begins, (False, True)):
        yield [*_rows(mentions, each, count, are_lists=are_lists)]
    for each, are_lists in product(begins[:2], (False, True)):
        yield [*_rows(mentions, each, count, are_lists=are_lists, in_any_order=True)]


def _by_sides(mentions: Sequence[Mention]) -> Iterator[tuple[list[Mention], list[Mention]]]:
    """Yield the outputs and the inputs of each statement, by the words for these."""
    outputs, inputs = list[Mention](), list[Mention]()
    for sentence in _in_sentences(mentions):
        sides, leading = _sides(sentence), list[Mention]()
        is_turned = sides[0] == "in" and "out" in sides  # input 2 is the first one of output 1
        for each, side in zip(sentence, sides, strict=True):
            of_all = [] if side == "out" else _of_all(each)
            is_far = bool(outputs) and not (each.is_near or _goes_on(outputs, each))
            if of_all or is_far:
                yield outputs, inputs
                outputs = of_all[:1] or [each] * (side == "out")
                inputs, is_turned = of_all[1:], False
            elif side != "out" or (not leading and _is_likened(outputs, inputs, each)):
                (leading if is_turned else inputs).append(each)
            elif not leading and _is_joined(outputs, inputs, each, is_turned=is_turned):
                outputs.append(each)
            else:
                yield outputs, inputs
                outputs, is_turned = [each], bool(leading)
                inputs = [own._replace(before=each.before) for own in leading[:1]] + leading[1:]
                leading = []
        inputs += leading
    yield outputs, inputs


def _is_likened(outputs: Sequence[Mention], inputs: Sequence[Mention], mention: Mention) -> bool:
    """Return whether an output is that which the one before it is like: 3 is the same as 1."""
    is_beside = bool(outputs) and not inputs and _is_beside(outputs[-1], mention)
    return is_beside and not {*_kinds(mention.before)} <= _LISTING


def _is_joined(
    outputs: Sequence[Mention], inputs: Sequence[Mention], mention: Mention, *, is_turned: bool
) -> bool:
    """Return whether a statement is about one more output: 1 and 2; and so does output 3."""
    kinds = {*_kinds(mention.before)}
    if not outputs or not mention.goes_on:
        return False
    if "likewise" in kinds and inputs:
        return not SAID & kinds
    is_listed = is_turned or (not inputs and kinds <= _LISTING)
    return is_listed and _is_beside(outputs[-1], mention) and not _states(mention)


def _states(mention: Mention) -> bool:
    """Return whether the words behind an output say what it attends to."""
    return not {"attends", "takes", "equal"}.isdisjoint(_kinds(CLAUSE.split(mention.behind)[0]))


def _is_beside(last: Mention, mention: Mention) -> bool:
    """Return whether only words of one sentence are between two names."""
    is_in_line = mention.line == last.line and not SENTENCE.search(mention.before)
    return is_in_line and _goes_on([last], mention)


def _in_sentences(mentions: Sequence[Mention]) -> Iterator[list[Mention]]:
    """Yield the names of each sentence."""
    starts = [k for k, each in enumerate(mentions) if not (k and each.goes_on)]
    for start, stop in pairwise([*starts, len(mentions)]):
        yield [*mentions[start:stop]]


def _sides(sentence: Sequence[Mention]) -> list[str]:
    """Return the side of each name of a sentence, "out" or "in"; "" if no word tells it."""
    sides = list[str]()
    for k, each in enumerate(sentence):
        kinds = _kinds(each.before)
        is_listed = k and "sep" in kinds and {*kinds} <= {"sep", "token", ""}
        sides.append(_side(each) or (sides[-1] if is_listed else ""))
    return sides


def _side(mention: Mention) -> str:
    """Return the side of a name by the word before it, or behind it; "" if these are others."""
    return "out" if is_output(mention) else _noun(mention).kind.removeprefix("symbol ")


def _noun(mention: Mention) -> Lexeme:
    """Return the word for outputs or inputs before a name, or behind it, or its letter."""
    *before, name = lexemes_in(f"{_tail(mention)[-LONGEST_END:]}1", {}) or [Lexeme("")]
    behind = lexemes_in(f"1 {mention.behind}", {})[1:]
    if name.kind in ("symbol in", "symbol out"):
        return name
    words = (next((e for e in own if e.kind not in ("token", "")), name)
             for own in (before[::-1], behind))  # fmt: skip
    return next((each for each in words if each.kind in ("in", "out")), Lexeme(""))


def _are_named(mentions: Sequence[Mention]) -> bool:
    """Return whether words call names outputs or inputs, and not rows or columns."""
    nouns = [*map(_noun, mentions)]
    return all(e.kind in ("in", "out") and e.said not in ("row", "column") for e in nouns)


def _with_rest(mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the names of a text, and words for all others behind a name in its sentence."""
    for k, each in enumerate(mentions):
        yield each
        behind = mentions[k + 1] if k + 1 < len(mentions) else None
        goes_on = behind is not None and behind.goes_on and behind.line == each.line
        text = behind.before if behind is not None and goes_on else each.behind
        match = _REST.search(text)
        verbs = {*_kinds(text[match.end() :])} if match and goes_on else set()
        if match and not verbs & {"attends", "takes", "most"}:  # 1 and 2 both look at 3
            yield each._replace(
                output=-1,
                input=OTHERS if match["rest"] else EVERY[0],
                before=text[: match.end()],
                is_near=True,
                goes_on=True,
                behind=text[match.end() :],
            )


def _of_heads(rows: Sequence[_Row], heads: Matrix) -> list[_Map]:
    """Return the maps of the heads; [] if one lacks outputs that no word calls so."""
    count, several = len(heads[0]), len(heads) > 1
    runs = [run for run in _runs(rows) if len(run) == count or run[0].may_be_part]
    are_named = several and {run[0].head for run in runs} >= {*range(1, len(heads) + 1)}
    whole = [run for run in runs if len(run) == count]
    found = []
    for k, weights in enumerate(heads):
        if are_named:
            own = [run for run in runs if run[0].head == k + 1]
        elif len(whole) == 1 and whole[0][0].is_of_all and not whole[0][0].head:
            own = whole
        else:
            own = whole[k :: len(heads)] if len(whole) % len(heads) == 0 else []
            own = own or (runs if not several else [])
        maps = [each for run in own if (each := _map(run, weights))]
        if not maps:
            return []
        found.append(max(maps, key=lambda each: (len(each.rows), each.is_firm, each.fit)))
    return found


def _begins(mentions: Sequence[Mention]) -> Iterator[list[bool]]:
    """Yield which names may begin a statement: of lines, of sentences, or before some words."""
    lines = [True, *(last.line != each.line for last, each in pairwise(mentions))]
    yield lines
    sentences = [a or not each.goes_on for a, each in zip(lines, mentions, strict=True)]
    yield sentences
    yield [True, *(not each.goes_on for each in mentions[1:])]
    yield [a or is_output(each) for a, each in zip(sentences, mentions, strict=True)]
    words = [*(_plain(each.before) for each in mentions[1:]), ""]
    verbs = [not _VERBS.isdisjoint(_kinds(text)) for text in words]
    yield [a or b for a, b in zip(sentences, verbs, strict=True)]
    behind_first = (text for text, each in zip(words, mentions, strict=True) if each.output == 0)
    for text, count in Counter(behind_first).most_common(MOST_FORMS):
        if text and words.count(text) > count:
            yield [own == text for own in words]


def _rows(
    mentions: Sequence[Mention],
    begins: Sequence[bool],
    count: int,
    *,
    are_lists: bool = False,
    in_any_order: bool = False,
) -> Iterator[_Row]:
    """Yield the statements that begin with the outputs in their order, again and again.

    are_lists: whether a statement may begin with a list of outputs.
    in_any_order: whether every name that may begin a statement does.
    """
    row: list[Mention] = []
    again = ""

    def rows() -> Iterator[_Row]:
        listed = _listed(row, are_lists=are_lists)
        return _row(row[:listed], row[listed:], count)

    for each, is_first in zip(mentions, begins, strict=True):
        if row and not _goes_on(row, each):
            yield from rows()
            row = []
        wanted = (row[_listed(row, are_lists=are_lists) - 1].output + 1) % count if row else 0
        of_all = _of_all(each) if is_first and not is_output(each) else []
        is_again = is_first and _is_again(row, each)
        is_next = len(row) > 1 and is_first and rank_in(_tail(each)) == "second"
        is_wanted = in_any_order or each.output in (wanted, 0)
        if of_all or (is_first and is_wanted and not (is_again or is_next)):
            if row and each.goes_on and row[-1].line == each.line:
                row[-1] = row[-1]._replace(behind=each.before)
            yield from rows()
            row, again = of_all or [each], ""
        elif is_again:
            again = "; "  # the output is named again, with its next input
        elif row:
            row.append(each._replace(before=again + each.before))
            again = ""
    yield from rows()


def _goes_on(row: Sequence[Mention], mention: Mention) -> bool:
    """Return whether only words are between a statement and a name."""
    is_word = len(row) > 1 or ":" in mention.before or WORD.search(mention.before)
    return mention.is_near or bool(is_word and _GAP.fullmatch(mention.before))


def _of_all(mention: Mention) -> list[Mention]:
    """Return the beginning of a statement about all outputs; [] if the name begins none."""
    match = None if mention.goes_on else ALL.search(_tail(mention))
    if not match or FORMULA.search(mention.before, mention.before.rindex(match[0])):
        return []
    text, behind = _tail(mention)[: match.start()], _tail(mention)[match.end() :]
    if {"token", "out", "attends", "takes"} & {*_kinds(text)} or not {"out", "token", *SAID} & {
        *_kinds(behind)
    }:
        return []  # tokens one and two both; the largest weight, both counted from 1
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


def _row(
    outputs: Sequence[Mention], inputs: Sequence[Mention], count: int, *, are_sided: bool = False
) -> Iterator[_Row]:
    """Yield the statement of names for each of its outputs."""
    denied = (k for k, each in enumerate(inputs) if k and "no" in _kinds(each.before))
    inputs = inputs[: next(denied, None)]  # nothing from input 3
    if not outputs or not inputs or (not are_sided and _is_turned(outputs, inputs)):
        return
    first, behind = outputs[0], inputs[-1].behind[:LONGEST_END]
    texts = [*(each.before for each in inputs), behind]
    if any(VALUE in each and _WORK.search(each) for each in texts):
        return
    are_weights = VALUE in texts[0] or sum(VALUE in each for each in texts) >= len(inputs)
    ranks, words = _ranks(texts), [*map(_plain, texts[:-1])]
    if are_sided and not words[0]:
        return
    if are_weights and len(inputs) > 1 and "second" not in ranks:
        return  # all weights, in any order
    if ranks == ["second", "most"] or (len(inputs) == 2 and _LESS.search(texts[1])):
        inputs, words, ranks = inputs[::-1], words[:1] * 2, ["most", "second"]
    elif ranks[0] == "second" and "most" not in ranks:
        return  # its first input is unknown
    words[1:] = [
        f"; {word}" if rank == "second" or _MORE.search(text) else word
        for word, rank, text in zip(words[1:], ranks[1:], texts[1:], strict=False)
    ]
    is_of_all = first.output == EVERY[0]
    are_tokens = all(_kinds(each.before)[-1:] == ["token"] for each in (first, inputs[0]))
    are_named = are_sided and _are_named([first, inputs[0]])
    may_be_part = are_named or (are_tokens and "attends" in _kinds(words[0]))
    named = range(count) if is_of_all else [each.output for each in outputs]
    for output in named if min(named) >= 0 and max(named) < count else ():
        places = (*(input_of(each, output) for each in inputs),)
        yield _Row(
            first.line, first.head, output, _tail(first), places, (*words,), behind, is_of_all,
            are_sided, may_be_part, are_named,
        )  # fmt: skip


def _ranks(texts: Sequence[str]) -> list[str]:
    """Return the rank of each input, by the words before it, or behind it up to "and" or a comma.

    texts: those before the inputs, and the one behind the last.
    """
    pieces = [_SEPARATED.split(text) for text in texts]
    before = [rank_in(own[-1]) for own in pieces[:-1]]
    behind = [rank_in(own[0]) if len(own) > 1 else "" for own in pieces[1:-1]]
    return [a or b for a, b in zip(before, [*behind, rank_in(pieces[-1][0])], strict=True)]


def _is_turned(outputs: Sequence[Mention], inputs: Sequence[Mention]) -> bool:
    """Return whether words call an input an output, or an output an input."""
    return any(map(is_output, inputs)) or any(_side(each) == "in" for each in outputs)


def _plain(text: str) -> str:
    """Return words between names in one spelling, with a bar between cells."""
    text = _SIGN.sub(lambda own: own[0] if own[0] in ",;:" else " ", text.replace(VALUE, " "))
    return " ".join(_CELL.sub(" | ", text.strip("\n")).lower().split())


def _runs(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    """Yield the statements of one head about different outputs, near one another.

    The second inputs of all outputs may follow the first ones.
    """
    run: list[_Row] = []
    seconds = 0
    for each in rows:
        known = {own.output: k for k, own in enumerate(run)}
        is_near = bool(run) and each.line - run[-1].line <= FARTHEST + seconds
        if not is_near or each.head != run[-1].head:
            yield from [run] * bool(run)
            run, seconds = [each], 0
        elif each.output not in known:
            run.append(each)
        elif seconds or rank_in(each.before) == "second":
            own, seconds = run[known[each.output]], seconds + 1
            words = (*own.words, *(f"; {text}" for text in each.words))
            run[known[each.output]] = own._replace(
                inputs=(*own.inputs, *each.inputs), words=words, behind=each.behind
            )
        else:
            yield run
            run = [each]
    yield from [run] * bool(run)


def _map(run: Sequence[_Row], weights: Matrix) -> _Map | None:
    """Return the map that statements make, with the best meaning of their words."""
    words = (row.words[row.inputs[0] == EVERY[0] :] for row in run)  # no preference, all are equal
    texts = [_kinds(each) for own in words for each in own] + [*map(_kinds_behind, run)]
    if any({"no", "bad"} & {*each} for each in texts):
        return None
    keys = dict.fromkeys(key for row in run for key in _keys(row))
    known = {key: said for key in keys if (said := _known(key[0], is_even=key[1]))}
    free = [key for key in keys if key not in known]
    if len(free) > MOST_UNKNOWN:
        return None
    are_known = all("equal" in _kinds(text) or _SAME.search(text) for text, _ in free)
    best, most_likely = None, 0
    for meanings in product("TN", repeat=len(free)):
        guessed = dict(zip(free, meanings, strict=True))
        groups = _groups(run, known | guessed, weights)
        likely = sum(_is_likely(*each) for each in guessed.items())
        fits = [fit_of(own, weights[row.output]) for row, own in zip(run, groups, strict=True)]
        seconds = sum(len(own) > 1 and fit > 1 for own, fit in zip(groups, fits, strict=True))
        fit = sum(fits) + seconds / 100
        if all(groups) and (fit, likely) > (best.fit if best else -1, most_likely):
            best, most_likely = _Map(run, groups, fit, are_known), likely
    return _checked(best, weights) if best is not None else None


def _keys(row: _Row) -> Iterator[tuple[str, bool]]:
    """Yield the words between inputs, each with whether the statement has a word for a tie."""
    yield from ((text, row.is_even) for text in row.words[1:])


def _known(text: str, *, is_even: bool) -> str:
    """Return what words between two inputs mean: N is next, T is tied; "" for unknown ones.

    is_even: whether a word of the statement says that inputs tie.
    """
    if rank_in(text) == "second" or ";" in text:
        return "N"
    return "T" if text in ("=", "&", "+") or (is_even and _is_and(text)) else ""


def _is_and(text: str) -> bool:
    """Return whether words between two inputs only join them."""
    return text not in ("", ",") and {*_kinds(text)} <= {"sep", "in", "token", "to", ""}


def _is_likely(key: tuple[str, bool], meaning: str) -> bool:
    """Return whether unknown words usually have this meaning: words for a tie, and "and", tie."""
    text, is_even = key
    return (meaning == "T") == (is_even or _is_and(text))


def _kinds(text: str) -> list[str]:
    return [each.kind for each in lexemes_in(f"1 {text}", {})[1:]]


def _kinds_behind(row: _Row) -> Sequence[str]:
    """Return the kinds of words behind a statement; none if it has no second input."""
    kinds = _kinds(row.behind)
    at = kinds.index("no") if "no" in kinds else 0
    return () if {*kinds[:at]} & {"sep", "second", "then"} else kinds


def _groups(
    run: Sequence[_Row], meanings: Mapping[tuple[str, bool], str], weights: Matrix
) -> list[Groups]:
    """Return the inputs of each output, which may be like an earlier one; () for wrong ones."""
    firsts = Counter(row.words[0] for row in run)
    found = dict[int, Groups]()
    for row in run:
        own = _inputs(row, meanings, weights)
        of = row.inputs[0]
        if len(row.inputs) == 1 and of in found:
            is_same = _SAME.search(f" {row.words[0]} ") or _SAME.search(row.behind)
            is_open = firsts[row.words[0]] == 1 and not SAID & {*_kinds(row.words[0])}
            fits = [fit_of(each, weights[row.output]) for each in (own, found[of])]
            own = found[of] if is_same or (is_open and fits[1] > fits[0]) else own
        found[row.output] = own
    return [*found.values()]


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


def _checked(found: _Map, weights: Matrix) -> _Map | None:
    """Return statements that are those of a map by their words, or by their fit; None of others."""
    rows = found.rows
    fits = [fit_of(own, weights[row.output]) for row, own in zip(rows, found.groups, strict=True)]
    words = Counter(word for row in rows for word in {*row.words[0].split()})
    are_alike = max(words.values(), default=0) >= max(2, ENOUGH * len(rows))
    said = SAID if any(fits) else SAID - {"second", "then"}
    is_said = any(said & {*_kinds(text)} for row in rows for text in row.words)
    is_said = is_said or any((said - {"takes"}) & {*_kinds(row.behind)} for row in rows)
    is_said = is_said or any({"most", "attends"} & {*_kinds(row.before)} for row in rows)
    places = [(*map(tuple, own),) for own in found.groups]
    if not is_said and places == [((row.output,),) for row in rows]:
        return None  # row 1 = cat, row 2 = sat
    is_said = is_said or all(row.are_named for row in rows)
    if any(row.is_of_all for row in rows):
        is_said = any(said & {*_kinds(text)} for row in rows for text in (*row.words, row.behind))
        return found if is_said and (found.is_firm or all(fits)) else None
    if len(rows) < len(weights):
        return found if all(map(_is_stated, rows)) else None
    if is_said:
        return found if all(fits) or are_alike or rows[0].are_sided else None
    found = found._replace(is_firm=False)
    bits = [
        log2(len(row) * (len(row) - 1 if len(own) > 1 and fit > 1 else 1)) if fit else -WRONG_BITS
        for own, row, fit in zip(found.groups, weights, fits, strict=False)
    ]
    if len({*places}) == 1:
        bits = bits[:1]  # row 1 sums to 1, row 2 sums to 1
    are_words = all(_OPEN.search(row.words[0]) for row in rows)
    is_whole = all(fits) or len({row.words[0] for row in rows}) == 1
    is_map = (
        are_alike and not rows[0].are_sided and are_words and is_whole and sum(bits) >= ENOUGH_BITS
    )
    return found if is_map and len(rows) == len(weights) else None


def _is_stated(row: _Row) -> bool:
    """Return whether a word of a statement says that an output attends to its inputs."""
    kinds, verbs = {*_kinds(row.words[0])}, {"attends", "most"}
    is_said = bool(verbs & kinds) or not verbs.isdisjoint(_kinds(row.behind))
    return row.may_be_part and is_said and "stop" not in kinds


def _written(found: _Map, k: int, heads: Matrix, labels: Tokens) -> Iterator[WrittenConnection]:
    """Yield the lines of the map of a head, from 0, with the names of the tokens."""

    def named(places: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
        return tuple(names[i] if any(names) else str(i + 1) for i in places)

    head = k + 1 if len(heads) > 1 else 0
    pairs = sorted(zip(found.rows, found.groups, strict=True), key=lambda each: each[0].output)
    for row, groups in pairs:
        most, *others = groups
        weights = heads[k][row.output]
        are_tied = row.is_even or all(_known(each, is_even=False) != "N" for each in row.words[1:])
        if others and are_tied and weights[[*most, *others[0]]].min() >= weights.max() - TIE:
            most, *others = (*sorted((*most, *others[0])),), *others[1:]  # then 3, which is equal
        if others and row.is_of_all and weights[[*others[0]]].max() <= 0:
            others = []  # all have input 2 as their second one, but it is masked here
        second = others[0] if others else ()
        (name,) = named([row.output], labels.queries)
        ranks = named(most, labels.keys), named(second, labels.keys)
        yield WrittenConnection(head, name, *ranks, line=row.line, is_told=True)
