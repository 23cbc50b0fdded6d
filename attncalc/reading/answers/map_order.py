"""Maps in any words: output 1 and its inputs, then output 2 and its inputs.

Sentences in any language name the tokens of a map in one of a few orders. This module finds them
without knowing the words between the names: either all outputs name as many inputs, or the weights
rank the inputs of each first. The weights arbitrate between readings.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise, product, takewhile
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection
from attncalc.reading.answers.map_names import (
    LONGEST,
    LONGEST_END,
    SENTENCE,
    VALUE,
    WORD,
    Mention,
    input_of,
)
from attncalc.reading.answers.map_words import (
    SAID,
    Lexeme,
    lexemes_in,
    phrases,
    place_of,
    rank_in,
)
from attncalc.reading.naming.name import Tokens
from attncalc.reading.naming.vocabulary import concept_of, plain_word

MOST_LISTED = 8
TIE = 0.0005
"""The largest difference of weights that are equal when they are rounded."""
SMALL = 0.005
"""The largest weight of inputs that need not be named."""
TINY = 1e-9
"""The smallest weight of an input that may be named as the second."""
EVERY = (-3,)
"""All inputs with a weight, as a list of inputs."""
ENOUGH, FEWEST = 0.6, 3
"""The share of outputs that make a map, if they fit the weights in equal words; the fewest that do
so in any words.
"""
NUMBERED = r"(?:token )?(\d{1,7})(?: \([^()\d]{1,80}\))?"
"""A token by its number, perhaps with its name: token 2, 2 (cat)."""
_BESIDE = re.compile(NUMBERED)
_STOP = re.compile(r"[,.;!?。；！？\n)]")
CLAUSE = re.compile(rf"{SENTENCE.pattern}|[,;，、]")
_LETTERS = re.compile(r"[^\W\d_]+")
_SAYS = re.compile(r"[^\W\d_]|[→⇒⟶➔➜↦>|│:]")
_AND = re.compile(r"[\s,]{0,3}(?:[^\W\d_]{1,4}|&)\s?")
_SUM = re.compile(r"\b(?:sum|add|som[am]|сум|topla|zusammen)|合計|合计|之和|합", re.IGNORECASE)
_WORDS_OF_MAP = {"peta", "harita", "diagram", "drawing", "schema", "arrows"}
"""Words for a map that name no step."""
ALL = re.compile(phrases("all"), re.IGNORECASE)
_LAYOUTS = "oms omOs mosO om+Os mo+sO o+M+Os o+M+sO m+o+s m+s ms o+MS MS+o MS om"
"""The orders of names in a map: outputs, the inputs that they attend to most, and second ones.

Each part of an order comes back for each output, but capital M and S are for all; a capital O is an
output that is named again.
"""
_OF_ALL = ("M", "MS")


class Said(NamedTuple):
    """The inputs of each output of a head, the most attended first, as names state them."""

    lines: tuple[int, ...]
    inputs: tuple[tuple[int, ...], ...]
    fit: int
    """How many outputs the weights confirm."""
    bits: float = 0.0
    """How improbable it is by chance."""
    is_sure: bool = True
    begin: int = 0
    """How many names are before it."""
    stop: int = 0
    """How many names are before its end."""
    columns: tuple[int, ...] = ()
    """The places of its first inputs, if these come back with a period."""
    period: int = 0
    is_of_all: bool = False
    """Whether it begins with a word for all."""

    @property
    def worth(self) -> tuple[bool, int, float]:
        """Whether the weights confirm all of it, how many inputs it names, and its bits."""
        return self.fit == len(self.inputs), sum(map(len, self.inputs)), self.bits

    @property
    def span(self) -> int:
        """The number of names from its first to its last one."""
        return self.stop - self.begin


Groups = Sequence[Sequence[int]]
"""The inputs of an output: those with the largest weight, then the next ones."""
Order = list[tuple[str, tuple[int, ...]]]
"""What each name of a run is, and of which outputs: "o" is an output, "m" the input that it attends
to most, "s" the next one.
"""


class Run(NamedTuple):
    """Names that follow one another, and what each of them is in a map."""

    mentions: Sequence[Mention]
    order: Order

    @property
    def roles(self) -> str:
        """The role of each name."""
        return "".join(role for role, _ in self.order)

    @property
    def gaps(self) -> dict[str, list[str]]:
        """The texts between names, by the roles of these."""
        roles = self.roles
        signs = " ,;." + "|" * (roles[1:2] == "o")  # in the heading of a table
        found: dict[str, list[str]] = {}
        for k, each in enumerate(self.mentions[1 : len(roles)]):
            found.setdefault(roles[k : k + 2], []).append(
                " ".join(each.before.split()).strip(signs)
            )
        return found

    def inputs(self, count: int) -> tuple[tuple[int, ...], ...]:
        """Return the inputs of each of so many outputs, in their order."""
        found: list[list[int]] = [[] for _ in range(count)]
        for mention, (role, outputs) in zip(self.mentions, self.order, strict=True):
            for k in outputs if role != "o" else ():
                found[k].append(input_of(mention, k))
        return (*map(tuple, found),)

    def lines(self, count: int) -> tuple[int, ...]:
        """Return the line of the first name about each of so many outputs."""
        pairs = [*zip(self.mentions, self.order, strict=True)][::-1]
        first = {k: mention.line for mention, (_, outputs) in pairs for k in outputs}
        return (*(first.get(k, 0) for k in range(count)),)

    def can_be_said(self) -> bool:
        """Return whether a list of outputs is in a sentence, and no rows of numbers are in it.

        The outputs of a list are in their order, no statement is between them, and no input is
        called an output.
        """
        roles, gaps = self.roles, self.gaps
        listed = (
            pair
            for pair, of in zip(pairwise(self.mentions), pairwise(roles), strict=False)
            if of == ("o", "o")
        )
        inputs = (m for m, role in zip(self.mentions, roles, strict=False) if role != "o")
        return (
            not any(map(is_output, inputs))
            and are_ranked_so(self.mentions, roles)
            and all(m.goes_on and last.output < m.output for last, m in listed)
            and all(
                gap.count("\0") <= (of == "om") for of in ("oo", "om") for gap in gaps.get(of, ())
            )
            and all(e.kind not in SAID for gap in gaps.get("oo", ()) for e in lexemes_in(gap, {}))
        )


def are_ranked_so(mentions: Sequence[Mention], roles: Sequence[str]) -> bool:
    """Return whether no word ranks inputs otherwise: the words before them, or those behind them.

    roles: "m" of an input with the largest weight, "s" of a second one.
    """
    before = [rank_in(CLAUSE.split(each.before)[-1]) for each in mentions]
    texts = [f"{a.behind * (a.line < b.line)}{b.before}" for a, b in pairwise(mentions)]
    texts += [each.behind for each in mentions[-1:]]
    behind = [rank_in(CLAUSE.split(text)[0]) for text in texts]
    pairs = ("m", "second"), ("s", "most")
    is_so, may_be = (
        not any(pair in pairs for pair in zip(roles, ranks, strict=True))
        for ranks in (before, behind)
    )
    clauses = (CLAUSE.split(e.before)[-1] for e, role in zip(mentions, roles, strict=True) if role)
    if any(each.kind == "no" for text in clauses for each in lexemes_in(f"1 {text}", {})):
        return False  # 1 ignores 2
    are_behind = all(rank for role, rank in zip(roles, behind, strict=True) if role in "ms")
    return is_so or (may_be and are_behind)


def maps_in_order(mentions: Sequence[Mention], weights: Matrix) -> Iterator[Said]:
    """Yield what runs of names state about the outputs of a head."""
    for order, start in chain(_in_orders(mentions, weights), Fitting(mentions, weights).runs()):
        stop = start + len(order)
        if said := _stated(Run(mentions[start:stop], order), weights):
            is_of_all = ALL.search(mentions[start].before) is not None
            yield said._replace(begin=start, stop=stop, is_of_all=is_of_all)


def _is_end(mentions: Sequence[Mention], stop: int) -> bool:
    """Return whether a run ends before this name, which is not the next of a list."""
    behind = [each.before for each in mentions[stop : stop + 1]]
    return all(_STOP.search(before) and before.strip() != "," for before in behind)


def _in_orders(mentions: Sequence[Mention], weights: Matrix) -> Iterator[tuple[Order, int]]:
    """Yield the runs of names in an order in which outputs have the same number of inputs."""
    orders, every = [*_orders(weights)], (*range(len(weights)),)
    ends = [_is_end(mentions, stop) for stop in range(len(mentions) + 1)]
    words = [_LETTERS.findall(each.before)[-2:] for each in mentions]  # attends to
    begin, reach = 0, -1
    for start in range(len(mentions)):
        if start > reach or not mentions[start].is_near:
            far = (k for k in range(start + 1, len(mentions)) if not mentions[k].is_near)
            begin, reach = start, next(far, len(mentions))
        is_again = bool(words[start]) and words[start] in words[begin:start]
        for order in orders:
            stop = start + len(order)
            if stop > reach or not ends[stop]:
                continue
            outputs = _outputs(mentions[start:stop], order)
            # without outputs, nothing else is near that may name one
            if outputs or (outputs is not None and stop == reach and not is_again):
                places = [(role, (outputs.get(k, k),) if k >= 0 else every) for role, k in order]
                yield places, start


def _outputs(run: Sequence[Mention], order: Sequence[tuple[str, int]]) -> dict[int, int] | None:
    """Return the outputs that names in an order are about; None if they do not have that order."""
    found: dict[int, int] = {}
    for mention, (role, k) in zip(run, order, strict=True):
        if role == "o" and found.setdefault(k, mention.output) != mention.output:
            return None
    return found if sorted(found.values()) == sorted(found) else None


def _orders(weights: Matrix) -> Iterator[list[tuple[str, int]]]:
    """Yield the orders of names in which a map is stated: the role and output of each name.

    An output with only one weight, as the first below a causal mask, may have no second input; it
    is named alone, or not again.
    """
    single = np.flatnonzero(np.count_nonzero(weights > TIE, axis=1) < 2)
    for left, layout in product(("", "s", "sO") if single.size else ("",), _LAYOUTS.split()):
        yield [
            (role.lower(), k)
            for block in layout.split("+")
            for k in ((-1,) if block in _OF_ALL else range(len(weights)))
            for role in block
            if not (role in left and k in single)
        ]


class Fitting:
    """Statements that follow one another, whose inputs the weights rank in this order.

    rank: how many inputs of each output are named before these.
    """

    def __init__(self, mentions: Sequence[Mention], weights: Matrix, rank: int = 0) -> None:
        self.mentions, self.weights, self.rank = mentions, weights, rank
        self.ranked = np.sort(weights)[:, ::-1]

    def runs(self) -> Iterator[tuple[Order, int]]:
        """Yield the longest run from each name on, if it is about enough outputs.

        The second inputs may follow those that all outputs attend to most.
        """
        count, orders = len(self.weights), chain(*map(enumerate, self._best()))
        enough = min(count, max(FEWEST, ENOUGH * count))
        found = [(order, at) for at, order in orders if _size(order)[0] >= enough]
        yield from found
        firsts = [each for each in found if all(role != "s" for role, _ in each[0])]
        seconds, _ = Fitting(self.mentions, self.weights, rank=1)._best() if firsts else ([], [])
        for order, at in firsts:
            behind = seconds[at + len(order) :][:1]
            yield from (([*order, *each], at) for each in behind if each)

    def _best(self) -> tuple[list[Order], list[Order]]:
        """Return the longest runs from each name on, of outputs in their order and in any."""
        in_order: list[Order] = [[] for _ in self.mentions]
        in_any: list[Order] = [[] for _ in self.mentions]
        for at in reversed(range(len(self.mentions))):
            for own in self.statements(at):
                stop = at + len(own)
                may_end = _is_end(self.mentions, stop) and not self._goes_on(stop)
                is_near = any(each.is_near for each in self.mentions[stop : stop + 1])
                for best in (in_order, in_any):
                    rest = best[stop] if is_near else []
                    if rest and _is_next(own, rest, in_order=best is in_order):
                        best[at] = max(best[at], [*own, *rest], key=_size)
                    elif may_end:
                        best[at] = max(best[at], own, key=_size)
        return in_order, in_any

    def _goes_on(self, stop: int) -> bool:
        """Return whether a name is in the sentence and on the line of the one before it."""
        pairs = pairwise(self.mentions[stop - 1 : stop + 1])
        return any(b.goes_on and a.line == b.line for a, b in pairs)

    def statements(self, at: int) -> Iterator[Order]:
        """Yield the orders of one statement: of one output, several, all, or all others."""
        count, outputs, gaps = len(self.weights), list[int](), set[str]()
        if ALL.search(_STOP.split(self.mentions[at].before)[-1]):
            begin = next((k for k in range(at, 0, -1) if not self.mentions[k].goes_on), 0)
            named = {each.output for each in self.mentions[begin:at]}
            others = (*(k for k in range(count) if k not in named),)
            for own in dict.fromkeys(((*range(count),), others)):
                yield from self._inputs(at, own) if own else ()
        for k, (each, behind) in enumerate(pairwise(self.mentions[at : at + MOST_LISTED]), at):
            is_listed = k == at or self._is_listed(k)
            if not (is_listed and max(outputs, default=-1) < each.output < count):
                return
            gaps |= {each.before} if outputs else set()
            outputs.append(each.output)
            is_said = behind.goes_on and behind.before not in gaps and _SAYS.search(behind.before)
            for inputs in self._inputs(at + len(outputs), (*outputs,)) if is_said else ():
                yield [*(("o", (k,)) for k in outputs), *inputs]

    def _is_listed(self, k: int) -> bool:
        """Return whether a name is on the line of the last, or behind "and" at its end."""
        last, each = self.mentions[k - 1 : k + 1]
        is_and = _AND.fullmatch(last.behind) is not None
        return each.goes_on and (each.line == last.line or is_and)

    def _inputs(self, start: int, outputs: tuple[int, ...]) -> Iterator[Order]:
        """Yield the orders of the inputs from a name on, as long as the weights rank them so."""
        rows, named, width = np.array(outputs), list[Matrix](), self.weights.shape[1]
        are_equal = self.ranked[rows, 0] - self.ranked[rows, -1] <= TIE
        listed = 0 if are_equal.any() else min(width - self.rank, 1 if self.rank else MOST_LISTED)
        for place, each in enumerate(self.mentions[start : start + listed]):
            own = np.array([input_of(each, k) for k in outputs])
            if own.max() >= width or (named and not each.goes_on) or is_output(each):
                return
            least = np.maximum(self.ranked[rows, self.rank + place] - TIE, TINY if place else -1)
            if (
                any((own == other).any() for other in named)
                or (self.weights[rows, own] < least).any()
            ):
                return
            named.append(own)
            yield [("s" if self.rank + k else "m", outputs) for k in range(len(named))]


def _outputs_of(order: Order) -> set[int]:
    return {k for _, outputs in order for k in outputs}


def _is_next(own: Order, rest: Order, *, in_order: bool) -> bool:
    """Return whether a run is about other outputs than a statement before it, or later ones."""
    there, others = _outputs_of(own), _outputs_of(rest)
    return max(there) < min(others) if in_order else there.isdisjoint(others)


def _size(order: Order) -> tuple[int, int]:
    return len(_outputs_of(order)), len(order)


def is_ranked(inputs: Sequence[int], row: Matrix) -> bool:
    """Return whether inputs have the largest weights of a row, the larger first."""
    is_there = 0 < len({*inputs}) == len(inputs) and max(inputs) < len(row)
    own, largest = row[[*inputs]] if is_there else row[:0], np.sort(row)[::-1][: len(inputs)]
    return is_there and bool((own >= largest - TIE).all() and (own[1:] > 0).all())


def is_output(mention: Mention) -> bool:
    """Return whether the word or letter before a name is one for an output: like output 2, q2.

    A word with a letter directly behind the last name is about that one: cat's output.
    """
    if mention.before[:1].isalpha() or mention.before[:1] in ("'", "’"):
        return False
    *_, word, name = [Lexeme(""), Lexeme(""), *lexemes_in(f"{mention.before[-LONGEST_END:]}1", {})]
    return name.kind == "symbol out" or (word.kind == "out" and word.said != "row")


def _stated(run: Run, weights: Matrix) -> Said | None:
    """Return what names in an order state; None if words and weights do not make them a map."""
    inputs, (count, width) = run.inputs(len(weights)), weights.shape
    if any(len({*own}) < len(own) or max(own, default=0) >= width for own in inputs):
        return None
    fits = [*map(is_ranked, inputs, weights)]
    if not run.can_be_said() or (run.mentions[0].goes_on and "o" not in run.roles):
        return None
    if not (_is_right(run, inputs) if all(fits) else _is_firm(run, fits)):
        return None
    is_alike = len({*run.gaps.get("om", ())}) == 1 and 1 < sum(fits) >= ENOUGH * count
    return Said(run.lines(count), inputs, sum(fits), float(sum(fits)), all(fits) or is_alike)


def _is_firm(run: Run, fits: Sequence[bool]) -> bool:
    """Return whether names are a map, though the weights do not confirm all of it.

    Outputs come first and in their order. A word before inputs that fit is also before each input
    that does not.
    """
    words: dict[bool, list[set[str]]] = {True: [], False: []}
    for each, of, (_, outputs) in zip(
        run.mentions[1:], pairwise(run.roles), run.order[1:], strict=False
    ):
        if of == ("o", "m"):
            fit = all(fits[k] for k in outputs)
            words[fit].append({*each.before.replace("|", " ").split()})
    common = set[str]().union(*words[True])
    named = [own[0] for role, own in run.order if role == "o"]
    return (
        run.roles[0] == "o"
        and [*dict.fromkeys(named)] == sorted({*named})
        and not any(VALUE in each.before for each in run.mentions[1:])
        and (not words[True] or all(common & own for own in words[False]))
        and _is_of_map(run)
    )


def _is_right(run: Run, inputs: Sequence[tuple[int, ...]]) -> bool:
    """Return whether names that the weights confirm are a map, and no chance.

    It has the words of one, common words are between outputs and inputs, or there are many outputs.
    """
    gaps = run.gaps.get("om", [])
    if _is_of_map(run) or len(gaps) < 2 or not all(map(_SAYS.search, gaps)):
        return _is_of_map(run)
    is_of_others = any(own != (k,) for k, own in enumerate(inputs))
    length = run.mentions[-1].line - run.mentions[0].line
    is_dense = is_of_others and max(FEWEST, length + 1) <= len(inputs)
    return is_dense or bool(set.intersection(*({*WORD.findall(gap)} for gap in gaps)))


def _is_of_map(run: Run) -> bool:
    """Return whether the words between names are those of a map, or are the same each time."""
    names, roles = run.mentions, run.roles
    words = " ".join([names[0].before[-80:], *(e.before for e in names[1:]), names[-1].behind])
    kinds = {each.kind for each in lexemes_in(words[:LONGEST], {})}
    said = {plain_word(word) for word in _LETTERS.findall(words)}
    if bool(said & _WORDS_OF_MAP) or any(concept_of(word) == "map" for word in said):
        return True
    if len(names) > 1 and "o" not in roles:
        about = words if all(each.goes_on for each in names[1:]) else names[0].before
        is_of_all = ALL.search(about) is not None and not _SUM.search(words)
        return is_of_all or bool(kinds & {"attends", "most"})
    is_sum = len(names) == 1 and _SUM.search(words) is not None  # every row sums to 1
    is_alone = roles[0] == "o" or len(names) == 1
    if kinds & SAID or (is_alone and ALL.search(words) and not is_sum):
        return True
    alike = [{*gaps} for of, gaps in run.gaps.items() if len(gaps) > 1 and of not in ("oo", "mm")]
    return any(len(gaps) == 1 and any(gaps) for gaps in alike)


def places_of(names: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Return the places of tokens by their names or numbers, as `place_of` does."""
    plain = (each if each in labels else _BESIDE.sub(r"\1", each) for each in names)
    return [place_of(each, labels) for each in plain]


def fit_of(groups: Groups, row: Matrix) -> float:
    """Return how well inputs fit the weights of an output: 2 exactly, 1 in part, 0 not at all."""
    if not groups or not groups[0]:
        return 0
    most, second = [*groups[0]], [*(groups[1] if len(groups) > 1 else ())]
    if max(most) >= len(row) or (row[most] < row.max() - TIE).any():
        return 0
    others = np.delete(row, most)
    is_all = not (others >= row.max() - TIE).any()
    if not second or not others.size:
        return 2 if is_all and (not others.size or others.max() <= SMALL) else 1
    tied = others >= others.max() - TIE
    if (row[second] < others.max() - TIE).any() or row[second].min() <= 0:
        return 0
    return 2 if is_all and len(second) == tied.sum() else 1


def count_exact(lines: Sequence[WrittenConnection], heads: Matrix, labels: Tokens) -> int:
    """Return how many lines name the inputs with the two largest weights, or all equal ones."""
    count = 0
    for each in lines:
        weights = heads[max(0, each.head - 1) % len(heads)]
        (output,) = places_of([each.output], labels.queries)
        own = places_of([*each.most, *each.second], labels.keys)
        if 0 <= output < len(weights) and min(own, default=-1) >= 0:
            row = weights[output]
            are_tied = len(each.second) > 1 and max(own) < len(row)
            are_tied = are_tied and bool(np.ptp(row[own[len(each.most) :]]) <= TIE)
            sure, there = int((row > TIE).sum()), int((row > 0).sum())
            is_full = min(2, sure) <= len(own) <= min(2, there) or are_tied
            is_tied = len(each.most) > 1 and max(own) < len(row)
            is_tied = is_tied and bool((row[own] >= row.max() - TIE).all())
            groups = (own[: len(each.most)], own[len(each.most) :])
            is_exact = fit_of(groups, row) > 1 and max(own) < len(row)
            count += is_exact or is_tied or (is_full and is_ranked(own, row))
    return count


def members(inputs: Sequence[int], output: int, row: Matrix) -> list[int]:
    """Return the places of a list of inputs of an output: itself is -1, all are -3."""
    if (*inputs,) == EVERY:  # those behind an output may be masked
        some, every = {int(each) for each in np.flatnonzero(row > TIE)}, {*range(len(row))}
        may_be_masked = output + 1 < len(row) and not row[output + 1 :].any()
        some = some if some >= {*range(output + 1)} & every else every
        return [] if some == every and may_be_masked else sorted(some)
    return sorted({output if each < 0 else each for each in inputs})


def written(said: Said, heads: Matrix, k: int, labels: Tokens) -> list[WrittenConnection]:
    """Return the lines of the map of a head, from 0, with the names of the tokens.

    Inputs share a place if outputs have other numbers of inputs and their weights are equal.
    """

    def named(places: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
        return tuple(names[i] if any(names) else str(i + 1) for i in places)

    are_single = len({*map(len, said.inputs)}) == 1 and len(said.inputs[0]) <= 2
    head, found = (k + 1 if len(heads) > 1 else 0), []
    for output, (places, row) in enumerate(zip(said.inputs, heads[k], strict=True)):
        ties = sorted(takewhile((row >= row.max() - TIE).__getitem__, places))
        ties = [] if are_single and len(ties) < len(places) else ties
        most, rest = ties or places[:1], places[max(1, len(ties)) :]
        second = [i for i in rest if are_single or abs(row[i] - row[rest[0]]) <= TIE]
        (name,) = named([output], labels.queries)
        line = WrittenConnection(head, name, named(most, labels.keys), named(second, labels.keys))
        found += [line._replace(line=said.lines[output], is_told=True)] if places else []
    return found
