"""The lines of the map: the inputs of the solid and the dashed line of each output."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from attncalc.base.text import of_each, on_a_line
from attncalc.base.types import Matrix
from attncalc.grading.key import Key
from attncalc.grading.rules import Rules, Status
from attncalc.problem.attention.attention import Attention
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenConnection, WrittenMatrix
from attncalc.reading.answers.lines import names_in
from attncalc.solving.connections import Connection, connections

_WEIGHT = re.compile(r"(?<!\s)\s*+\([^()]*\)$")
_MORE = re.compile(r"(\d{1,6}) more")


class LineMark(NamedTuple):
    """The lines of one output, marked.

    head: the head, from 1; 0 for the only one.
    written: the lines as written; None if there are none.
    right: the right lines, by the answer's own weights if these differ from the key's.
    status: correct, following from own weights, wrong, or blank if a line is missing
        and none is wrong.
    share: the share that is right: the solid and the dashed line count equally.
    weights: the step of the weights of the map.
    """

    head: int
    written: WrittenConnection | None
    right: Connection
    status: Status
    share: Fraction
    weights: str = "A"

    def are_right(self, key: Key) -> tuple[bool, bool]:
        """Return whether the solid and the dashed line are right."""
        if self.written is None:
            return False, False
        return _are_right(key.problem.attention_of(self.weights), self.written, self.right)


class Map(NamedTuple):
    """The map of one attention."""

    key: Key
    weights: Step
    is_only: bool

    @property
    def tokens(self) -> Attention:
        """The attention, with the names of its queries and keys."""
        return self.key.problem.attention_of(self.weights.name)

    def own(self, written: Sequence[WrittenConnection]) -> list[WrittenConnection]:
        """Return the written lines that belong to this map."""
        if self.is_only:
            return list(written)
        names = [each.name for each in self.key.solution.all_weights]
        return [each for each in written if meant_by(each.of, names) == self.weights.name]

    def is_drawn(self, written: Sequence[WrittenConnection]) -> bool:
        """Return whether lines of this map are drawn, or described for every output."""
        own = self.own(written)
        told = {(max(each.head, 1), _index(each.output, self.tokens.queries)) for each in own}
        heads = self.key.solution.heads_of(self.weights)
        return any(not each.is_told for each in own) or (
            bool(own) and len(told) >= len(heads) * len(self.tokens.queries)
        )


def maps_of(key: Key) -> tuple[Map, ...]:
    """Return the maps of a problem, one for each attention."""
    weights = key.solution.all_weights
    return tuple(Map(key, each, len(weights) == 1) for each in weights)


def meant_by(said: str, names: Sequence[str]) -> str | None:
    """Return the weights for a layer and a side, if they are unique.

    >>> meant_by("cross", ["self.A", "cross.A"]), meant_by("self", ["1.self.A", "2.self.A"])
    ('cross.A', None)
    """
    wanted = set(said.split(".")) - {""}
    found = [name for name in names if wanted <= set(name.split(".")[:-1])]
    return found[0] if wanted and len(found) == 1 else None


def nameless(key: Key, written: Sequence[WrittenConnection]) -> bool:
    """Return whether some lines do not state their map."""
    maps = maps_of(key)
    return any(not any(each in one.own(written) for one in maps) for each in written)


def mark_lines(
    of: Map, written: Sequence[WrittenConnection], weights: WrittenMatrix | None, rules: Rules
) -> tuple[LineMark, ...]:
    """Mark the lines of every output: by the key, then by the answer's own weights.

    weights: the answer's own A in the layout of the plan, if it is usable.
    """
    by_output = {
        (max(each.head, 1), _index(each.output, of.tokens.queries)): each
        for each in of.own(written)
    }
    marks = []
    for place, head in enumerate(of.key.solution.heads_of(of.weights)):
        values = head.weights
        if weights is not None:  # the key's where it has none
            own = weights.values if weights.values.ndim == 2 else weights.values[place]
            values = np.where(np.isnan(own), values, own)
        drawn = head.connections if weights is None else connections(values, values != 0)
        for i, (ours, theirs) in enumerate(zip(head.connections, drawn, strict=True)):
            found = by_output.get((place + 1, ours.output))
            right = [
                _accepted(of.tokens, found, each, row)
                for each, row in ((ours, head.weights[i]), (theirs, values[i]))
            ]
            marks.append(_marked(of, head.number, found, right, rules))
    return tuple(marks)


def unknown_outputs(key: Key, written: Sequence[WrittenConnection]) -> tuple[str, ...]:
    """Return the outputs with lines that the problem does not have."""
    return tuple(
        each.output
        for one in maps_of(key)
        for each in one.own(written)
        if (place := _index(each.output, one.tokens.queries)) is None
        or place >= len(one.tokens.queries)
    )


def _accepted(
    tokens: Attention, found: WrittenConnection | None, right: Connection, row: Matrix
) -> Connection:
    """Return the right lines; behind a tie, or above weights shown as 0, the next may be second.

    Where one input is chosen from a list, its question states that a tie has no second.
    """
    if found is None or found.is_one or not found.second or right.second:
        return right
    rest = row.copy()
    rest[list(right.most)] = 0
    (behind,) = connections(rest[np.newaxis], rest[np.newaxis] != 0)
    other = replace(right, second=behind.most)
    return other if all(_are_right(tokens, found, other)) else right


def _marked(
    of: Map, head: int, found: WrittenConnection | None, right: Sequence[Connection], rules: Rules
) -> LineMark:
    """Mark the lines of one output; `right` are those by the key, and by own weights."""
    ours, theirs = right
    weights = of.weights.name
    if found is None:
        return LineMark(head, None, ours, Status.BLANK, Fraction(0), weights)
    halves = [_are_right(of.tokens, found, each) for each in right]
    by_key, by_own = (Fraction(sum(each), 2) for each in halves)
    by, whole = (ours, Status.CORRECT) if by_key >= by_own else (theirs, Status.FOLLOWS)
    share = by_key if by is ours else by_own * rules.credit(Status.FOLLOWS)
    solid, dashed = halves[by is theirs]
    is_half = solid and not (found.second or found.is_one)
    status = whole if solid and dashed else Status.BLANK if is_half else Status.WRONG
    return LineMark(head, found, by, status, share, weights)


def _are_right(tokens: Attention, found: WrittenConnection, right: Connection) -> tuple[bool, bool]:
    """Return whether the solid and the dashed line are right; of a tie, one dashed line is.

    Words that name the first of two inputs imply that the other one is second.
    """
    solid, dashed = (found.most, right.most), (found.second, right.second)
    if found.is_one:
        return _is_one_of(*solid), _is_one_of(*dashed)
    if found.is_told and not found.second and len(right.second) == 1 and len(tokens.keys) == 2:
        is_right = _are_same(tokens, *solid)
        return is_right, is_right
    is_one = len(found.second) == 1 and _index(found.second[0], tokens.keys) in right.second
    return _are_same(tokens, *solid), is_one or _are_same(tokens, *dashed)


def _is_one_of(numbers: Sequence[str], inputs: tuple[int, ...]) -> bool:
    """Return whether the one chosen input is one of those that tie; none, if there is none."""
    return all(int(number) - 1 in inputs for number in numbers) if numbers else not inputs


def _are_same(tokens: Attention, names: Sequence[str], inputs: tuple[int, ...]) -> bool:
    """Return whether names are those of these inputs; "and 2 more" on attncalc's pages counts."""
    labels = [on_a_line(tokens.keys[index]) for index in inputs]
    if names and names == names_in(of_each(labels) if labels else ""):
        return True  # "salt and pepper" is one label, but read as two
    more = _MORE.fullmatch(names[-1]) if names else None
    named = {_index(name, tokens.keys) for name in (names[:-1] if more else names)}
    return named <= set(inputs) and len(named) + int(more[1] if more else 0) == len(inputs)


def _index(name: str, labels: Sequence[str]) -> int | None:
    """Return the index of a token, by its name or by its number."""
    shown = [on_a_line(label).strip() for label in labels]
    quoted = name.strip().strip("\"'`*")
    plain = _WEIGHT.sub("", quoted)
    forms = ((name, labels), (name.strip(), shown), (quoted, labels), (plain, labels))
    for wanted, known in forms:
        if wanted in known:
            return known.index(wanted)
    if plain.isascii() and plain.isdigit() and len(plain) < 9:
        return int(plain) - 1
    folded = [label.lower() for label in labels]
    return folded.index(plain.lower()) if plain.lower() in folded else None
