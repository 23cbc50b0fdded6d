"""Statements about single outputs, in sentences that the weights confirm or whose nouns are clear.

A sentence is read only if all the tokens it names are outputs and their inputs: "output 3 attends
to input 1 and less to input 2", "1 -> 3, 2 -> 3", "input 3 influences outputs 1 and 2 the most".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby, pairwise, product
from typing import NamedTuple

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.lines import attention_in
from attncalc.reading.answers.map_names import (
    SENTENCE,
    VALUE,
    VECTOR,
    Lines,
    Mention,
    input_of,
    readings,
)
from attncalc.reading.answers.map_order import Fitting, Order, Run, Said, is_ranked, written
from attncalc.reading.answers.map_words import SAID, lexemes_in
from attncalc.reading.naming.name import Tokens


class _Share(NamedTuple):
    """An input of an output: its rank as "m" or "s", its place from 0, and its line."""

    output: int
    role: str
    place: int
    line: int


MOST_NAMED, MOST_OUTPUTS = 40, 8
"""The most tokens that a sentence names, and outputs of one statement."""
_DASHED = ("⇢", "⤏", "- ")
_QUOTES = "'‘’"
_NOUNS = ("out", "in", "token", "arrow")
_NO_SECOND = {("no", "second"), ("no", "ordinal")}
_NO_STATEMENT = {"no", "bad", "data"}
_VERBS = {"attends", "takes", "feeds", "arrow"}
_SAID_AROUND = {*_VERBS, "most"}
_PASSED = ("token", "all", "", "sep")


def statements(
    lines: Lines, weights: Mapping[str, Matrix], labels: Tokens
) -> dict[WrittenConnection, set[int]]:
    """Return the lines of a map that sentences state, with the lines of these sentences.

    lines: the lines that belong to no step, with their numbers.
    weights: those of each head by attention, of shape (heads, outputs, inputs).

    >>> labels = Tokens(("", ""), ("", ""))
    >>> import numpy as np
    >>> weights = {"": np.array([[[0.4, 0.6], [0.7, 0.3]]])}
    >>> [e.says for e in statements([(1, "input 1 influences output 2 most")], weights, labels)]
    ['output 2 → input 1']
    """
    sections: dict[str, list[tuple[int, str]]] = {}
    are_several, of = len(weights) > 1, ""
    for line, text in lines:
        of = (attention_in(text) or of) if are_several else ""
        sections.setdefault(of, []).append((line, text))
    found = {}
    for own, heads in weights.items():
        of, count = own if are_several else "", heads.shape[1:]
        fits = (len(labels.queries), len(labels.keys)) == count
        names = labels if fits else Tokens(*(("",) * size for size in count))
        for each, own_lines in _of_heads(sections.get(of, []), heads, names):
            found[each._replace(of=of)] = own_lines
    return found


def are_denied(
    found: Sequence[WrittenConnection], said: Mapping[WrittenConnection, set[int]]
) -> bool:
    """Return whether sentences on other lines than those of a map state other inputs."""
    lines = {each.line for each in found}
    known = {(each.head, each.output): (*each.most, *each.second) for each in found}
    return any(
        own.isdisjoint(lines) and not {*known.get(key, each.most)}.intersection(each.most)
        for each, own in said.items()
        for key in [(each.head, each.output)]
    )


def _of_heads(
    lines: Lines, heads: Matrix, labels: Tokens
) -> Iterator[tuple[WrittenConnection, set[int]]]:
    best: dict[tuple[int, int], dict[int, int]] = {}
    names = readings((*lines,), labels, len(heads[0]))
    for reading in (each for each in names if not each.is_from_zero):
        found: dict[tuple[int, int], tuple[dict[int, int], dict[int, int]]] = {}
        for head, each in _in_sentences(
            reading.mentions, heads, partial(_read, are_names=reading.are_names)
        ):
            ranks = found.setdefault((head, each.output), ({}, {}))
            ranks[each.role == "s"].setdefault(each.place, each.line)
        for key, (first, second) in found.items():
            if first and len(first | second) > len(best.get(key, ())):
                best[key] = first | second
    for (head, output), inputs in sorted(best.items(), key=lambda each: each[0]):
        rows = [tuple(inputs) if k == output else () for k in range(len(heads[0]))]
        said = Said((min(inputs.values()),) * len(rows), (*rows,), 1)
        for line in written(said, heads, head - 1, labels):
            yield line, {*inputs.values()}


def _in_sentences(
    mentions: Sequence[Mention], heads: Matrix, stated: Callable[..., Iterator[_Share]]
) -> Iterator[tuple[int, _Share]]:
    """Yield what sentences state, or their lines where they cannot be read, by head."""
    starts = [i for i, each in enumerate(mentions) if not (i and each.goes_on)]
    found: dict[int, list[_Share]] = {}
    for start, stop in pairwise([*starts, len(mentions)]):
        run = [*mentions[start:stop]]
        for own in (run, *([*each] for _, each in groupby(run, key=lambda each: each.line))):
            head = own[0].head if len(heads) > 1 else 1
            if not 0 < head <= len(heads):
                continue
            before = found.setdefault(head, [])
            read = [*stated(own, heads[head - 1])] or [*_likened(own, before, heads[head - 1])]
            yield from ((head, each) for each in read)
            before += read
            if own is run and read:
                break


def _likened(run: Sequence[Mention], before: Sequence[_Share], weights: Matrix) -> Iterator[_Share]:
    """Yield the inputs of an output that is like another, or like the last: so does output 2."""
    words = _words(run)
    said = {kind for own in words for kind in own}
    of = run[1].output if len(run) == 2 else before[-1].output if before else -1
    inputs = [each for each in before if each.output == of]
    (output, line), places = run[0][1::-1], [each.place for each in inputs]
    # output 3 is the same as output 2, but output 3 also attends to input 2
    likens = said & ({"equal"} if len(run) == 2 else {"equal", "likewise"})
    is_there = 0 <= output < len(weights) and len(run) < 3 and bool(likens)
    are_outputs = [*map(_side, words, words[1:])] == ["out", "out"]
    if is_there and inputs and (are_outputs or is_ranked(places, weights[output])):
        yield from (each._replace(output=output, line=line) for each in inputs)


def _words(run: Sequence[Mention]) -> list[list[str]]:
    """Return the kinds of the words before each name of a sentence, and behind the last."""
    before = [SENTENCE.split(run[0].before)[-1]]
    before += [f"{a.behind * (a.line < b.line)}{b.before}" for a, b in pairwise(run)]
    words = [_kinds(text, is_first=not i) for i, text in enumerate(before)]
    behind = [word.kind for word in lexemes_in(f"1 {run[-1].behind.replace(VALUE, ' ')}", {})]
    return [*words, _but_no_second([kind for kind in behind[1:] if kind != "data"])]


def _but_no_second(behind: Sequence[str]) -> list[str]:
    """Return the kinds of words behind a statement, without "no second", which denies nothing."""
    pairs = enumerate(pairwise(behind))
    at = next((i for i, pair in pairs if pair in _NO_SECOND), len(behind))
    return [*behind[:at], *behind[at + 2 :]]


def _read(run: Sequence[Mention], weights: Matrix, *, are_names: bool) -> Iterator[_Share]:
    """Yield the inputs of the outputs of a sentence, whose names are all tokens."""
    *said, behind = _words(run)
    end = next((i for i, own in enumerate(said) if i and "stop" in own), len(run))
    run, said = run[:end], said[:end]
    sides = [*map(_side, said, [*said[1:], behind])]
    kinds = {kind for own in (*said, behind) for kind in own}
    gaps = {kind for own in said[1:] for kind in own}
    are_letters = [each.before[-1:].isalpha() or each.before.endswith("_") for each in run]
    # the names of tokens may be common words
    around = {"most"} if are_names else _SAID_AROUND
    is_said = bool(gaps & SAID or (kinds - gaps) & around)
    is_said = is_said or ({*sides} >= {"out", "in"} and not (are_names or any(are_letters)))
    is_entry = "arrow" in kinds and any(are_letters) and not all(are_letters)  # q1 -> 3
    is_work = is_entry or any(VECTOR.search(each.before) for each in run)
    pairs = {pair for own in (*said, behind) for pair in pairwise(own)}
    is_work = is_work or any(("ordinal", noun) in pairs for noun in _NOUNS)  # not among the names
    if not 1 < len(run) <= MOST_NAMED or kinds & _NO_STATEMENT or not is_said or is_work:
        return
    are_tokens = bool(are_names or kinds.intersection(_NOUNS) or any(sides))
    ranks = (0, 1) if kinds & {"second", "then"} else (0,)
    is_led = ("feeds" in kinds) != ("by" in kinds and bool(kinds & {"attends", "takes", "feeds"}))
    orders = _orders(run, sides, weights, () if is_led else ranks) if are_tokens else []
    orders = orders or (_clear(run, sides, said, weights) if kinds & _VERBS else [])
    ranks_before = ([kind for kind in own if kind in ("most", "second")][-1:] for own in said)
    first = zip(orders, ranks_before, strict=False)
    if any(role == "m" and rank == ["second"] for (role, _), rank in first):
        return  # the name of its first input is unknown
    for mention, (role, outputs) in zip(run, orders, strict=False):
        for k in outputs if role in ("m", "s") else ():
            yield _Share(k, role, input_of(mention, k), mention.line)


def _kinds(before: str, *, is_first: bool) -> list[str]:
    """Return the kinds of the words before a token, behind another, and of its letter: o_1, k3."""
    gap = "" if before[-1:].isalpha() or before.endswith("_") else " "
    text = f"{before.replace(VALUE, ' ').strip(_QUOTES)}{gap}1"
    words = lexemes_in(text if is_first else f"1 {text}", {})
    is_second = [
        word == ("ordinal", "2") or (word.kind == "arrow" and word.said.startswith(_DASHED))
        for word in words
    ]
    kinds = ["second" if is_so else word.kind for word, is_so in zip(words, is_second, strict=True)]
    *sides, token = kinds[-1].split()[::-1] if kinds else [""]
    is_other = not gap and token not in ("symbol", "number")  # H1
    return [*kinds[not is_first : -1], *sides, *["bad"][:is_other]]


def _side(before: Sequence[str], behind: Sequence[str]) -> str:
    """Return the side of a token by the words beside it: "out", "in", or "" if none names it."""
    last = next((kind for kind in reversed(before) if kind not in _PASSED), "")
    first, *rest = [kind for kind in behind if kind not in _PASSED] or [""]
    sides = (last, first if rest else "")  # input 3; the third input is
    return next((side for side in sides if side in ("out", "in")), "")


def _orders(
    run: Sequence[Mention], sides: Sequence[str], weights: Matrix, ranks: Sequence[int]
) -> Order:
    """Return what each name of a sentence is, if the weights confirm all; [] if they do not.

    ranks: 0 where the first inputs that it names may be the most attended ones, 1 the second ones;
    none where it names inputs before their outputs, as an input that influences outputs.
    """
    fitting = [Fitting(run, weights, rank) for rank in ranks]
    best: list[Order | None] = [None] * len(run) + [[]]
    for at in reversed(range(len(run))):
        turned = _turned(run[at:], sides[at:], weights, is_led=not ranks)
        for own in (*chain(*(each.statements(at) for each in fitting)), *turned):
            rest = best[at + len(own)]
            fits = all(
                side in ("", "out" if role == "o" else "in")
                for side, (role, _) in zip(sides[at:], own, strict=False)
            )
            is_longer = rest is not None and len(own) + len(rest) > len(best[at] or ())
            if is_longer and fits and Run(run[at : at + len(own)], own).can_be_said():
                best[at] = [*own, *(rest or ())]
    return best[0] or []


def _turned(
    run: Sequence[Mention], sides: Sequence[str], weights: Matrix, *, is_led: bool
) -> Iterator[Order]:
    """Yield the orders of a statement that names inputs first, and then their outputs."""
    for count, stop in product((1, 2), range(2, MOST_OUTPUTS + 2)):
        inputs, outputs = [m.input for m in run[:count]], [m.output for m in run[count:stop]]
        is_there = count < stop <= len(run) and 0 <= min(outputs) <= max(outputs) < len(weights)
        is_said = is_led or "in" in sides[:count] or sides[stop - 1 : stop] == ["out"]
        if not is_there or not is_said or len({*outputs}) < len(outputs):
            continue
        own = (*outputs,)
        order = [*((role, own) for role in "ms"[:count]), *(("o", (k,)) for k in own)]
        behind = [each.input for each in run[stop : stop + 1]] if count == 1 else []
        if all(is_ranked(inputs, weights[k]) for k in own):
            yield order
        if behind and all(is_ranked([*inputs, *behind], weights[k]) for k in own):
            yield [*order, ("s", own)]  # and then input 2


def _clear(
    run: Sequence[Mention], sides: Sequence[str], words: Sequence[Sequence[str]], weights: Matrix
) -> Order:
    """Return what names are whose nouns are all given, whatever the weights; [] if they are not.

    Of two inputs, a word must rank the second.
    """
    count = sides.count("out")
    roles = ("o" * count + "ms")[: len(run)]
    if "in" not in sides:  # the inputs of a verb need no noun
        sides = [side or "in" for side in sides]
    outputs, inputs = (*(m.output for m in run[:count]),), [m.input for m in run[count:]]
    is_clear = 0 < count < len(run) and [*sides] == ["out" if r == "o" else "in" for r in roles]
    is_ranked_so = "s" not in roles or not {"second", "then"}.isdisjoint(words[-1])
    are_there = all(0 <= k < len(weights) for k in outputs)
    are_there = are_there and all(0 <= k < weights.shape[1] for k in inputs)
    if not (is_clear and is_ranked_so and are_there):
        return []
    return [*zip(roles, [*((k,) for k in outputs), *[outputs] * len(inputs)], strict=True)]
