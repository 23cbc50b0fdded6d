"""The lines of the map: which inputs the solid and the dashed line of each output lead to."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from attncalc.grading.key import Key
from attncalc.grading.rules import Rules, Status
from attncalc.numbers.types import Matrix
from attncalc.reading.answers.answer import WrittenConnection, WrittenMatrix
from attncalc.reading.answers.lines import names_in
from attncalc.solving.connections import Connection, connections
from attncalc.text import of_each, on_a_line

_WEIGHT = re.compile(r"(?<!\s)\s*+\([^()]*\)$")
_MORE = re.compile(r"(\d{1,6}) more")


class LineMark(NamedTuple):
    """The lines of one output, marked.

    Parameters
    ----------
    head
        Which head, from 1; 0 for the only one.
    written
        What was said of them; None where nothing was.
    right
        Where they should lead, by the script's own weights where these differ from the key's.
    status
        Correct, following from own weights, wrong, or blank.
    share
        How much of them is right: the solid and the dashed line count alike.
    """

    head: int
    written: WrittenConnection | None
    right: Connection
    status: Status
    share: Fraction


def mark_lines(
    key: Key, written: Sequence[WrittenConnection], weights: WrittenMatrix | None, rules: Rules
) -> tuple[LineMark, ...]:
    """Mark the lines of every output: by the key, then by the script's own weights.

    Parameters
    ----------
    weights
        The script's own A as the plan has it, where it is usable.
    """
    by_output = {
        (max(each.head, 1), _index(each.output, key.problem.queries)): each for each in written
    }
    marks = []
    for place, head in enumerate(key.solution.heads):
        own = head.connections if weights is None else _own_lines(weights, place, head.weights)
        for ours, theirs in zip(head.connections, own, strict=True):
            found = by_output.get((place + 1, ours.output))
            marks.append(_marked(key, head.number, found, (ours, theirs), rules))
    return tuple(marks)


def unknown_outputs(key: Key, written: Sequence[WrittenConnection]) -> tuple[str, ...]:
    """Return the outputs that lines are drawn for, and that the problem does not have."""
    places = ((each.output, _index(each.output, key.problem.queries)) for each in written)
    return tuple(name for name, place in places if place is None or place >= key.problem.n)


def _own_lines(weights: WrittenMatrix, head: int, of_key: Matrix) -> tuple[Connection, ...]:
    """Return where the lines lead by the script's own weights; the key's where it has none."""
    values = weights.values if weights.values.ndim == 2 else weights.values[head]
    filled = np.where(np.isnan(values), of_key, values)
    return connections(filled, filled != 0)


def _marked(
    key: Key,
    head: int,
    found: WrittenConnection | None,
    right: tuple[Connection, Connection],
    rules: Rules,
) -> LineMark:
    """Mark the lines of one output; `right` is where they lead by the key, and by own weights."""
    ours, theirs = right
    if found is None:
        return LineMark(head, None, ours, Status.BLANK, Fraction(0))
    by_key, by_own = (_share(key, found, each) for each in right)
    if by_key >= by_own:
        status = Status.CORRECT if by_key == 1 else Status.WRONG
        return LineMark(head, found, ours, status, by_key)
    status = Status.FOLLOWS if by_own == 1 else Status.WRONG
    return LineMark(head, found, theirs, status, by_own * rules.credit(Status.FOLLOWS))


def _share(key: Key, found: WrittenConnection, right: Connection) -> Fraction:
    """Return how many of the two lines lead where they should."""
    pairs = ((found.most, right.most), (found.second, right.second))
    return Fraction(sum(_are_same(key, names, inputs) for names, inputs in pairs), 2)


def _are_same(key: Key, names: Sequence[str], inputs: tuple[int, ...]) -> bool:
    """Say whether names stand for these inputs; "and 2 more", as our own sentences have, counts."""
    labels = [on_a_line(key.problem.keys[index]) for index in inputs]
    if names and names == names_in(of_each(labels) if labels else ""):
        return True  # "salt and pepper" is one label, and read as two
    more = _MORE.fullmatch(names[-1]) if names else None
    named = {_index(name, key.problem.keys) for name in (names[:-1] if more else names)}
    return named <= set(inputs) and len(named) + int(more[1] if more else 0) == len(inputs)


def _index(name: str, labels: Sequence[str]) -> int | None:
    """Return which token is meant, from 0: by its name, or by its number."""
    plain = name.strip().strip("\"'`*")
    if plain in labels:
        return labels.index(plain)
    plain = _WEIGHT.sub("", plain)
    if plain in labels:
        return labels.index(plain)
    if plain.isascii() and plain.isdigit() and len(plain) < 9:
        return int(plain) - 1
    folded = [label.lower() for label in labels]
    return folded.index(plain.lower()) if plain.lower() in folded else None
