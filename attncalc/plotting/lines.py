"""Which lines the map of a head has, of which rank, and what is written on each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attncalc.numbers.rounding import fixed
from attncalc.problem.problem import Problem
from attncalc.solving.solution import Head

MOST_TEXTS = 3
"""Tied lines that each carry their weight; more of them share one text beside the output."""
MOST_PLACED = 400
"""Weights that are written in a panel; to find room for more takes seconds."""
MOST_PLACED_OTHERS = 40
"""The same for lines that are neither first nor second: more of them hide the lines."""
MOST, SECOND, OTHER = range(3)

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Drawn:
    """One line of the map: from an output to an input, its rank, and what is written on it."""

    output: int
    input: int
    weight: float
    rank: int
    text: str


@dataclass(frozen=True)
class Lines:
    """The lines of one head, and what was left out.

    Parameters
    ----------
    drawn
        The lines, output by output, the largest weight first.
    left_out
        How many smaller weights have no line, for there would be too many.
    too_small
        How many weights have no line, for they show as zero.
    unwritten
        How many lines do not carry their weight, for there would be too many texts.
    """

    drawn: tuple[Drawn, ...]
    left_out: int = 0
    too_small: int = 0
    unwritten: int = 0


@dataclass(frozen=True)
class _Found:
    """Lines by column: whence, whither, rank, and how many share that place, counted from 0."""

    outputs: Indices
    inputs: Indices
    ranks: Indices
    turns: Indices
    sharing: Indices

    def __getitem__(self, chosen: Indices) -> "_Found":
        """Return some of the lines."""
        return _Found(*(column[chosen] for column in self.columns))

    @property
    def columns(self) -> tuple[Indices, ...]:
        """All columns, in their order."""
        return self.outputs, self.inputs, self.ranks, self.turns, self.sharing


def lines_of(
    problem: Problem,
    head: Head,
    *,
    every_line: bool,
    values: bool,
    has_room: bool = True,
    most_lines: int,
) -> Lines:
    """Choose the lines of a head.

    Parameters
    ----------
    problem, head
        Whose weights they stand for.
    every_line
        Whether every weight that does not show as zero has a line, or only first and second.
    values
        Whether the lines carry their weights.
    has_room
        Whether a text can be written between two rows.
    most_lines
        Of more, the largest weights are kept: those that are first or second before all others.
    """
    found = _found(head, every_line=every_line)
    weights = head.weights[found.outputs, found.inputs].astype(np.float64)
    kept = _largest(np.abs(weights), found.ranks, most_lines)
    left_out = len(weights) - len(kept)
    too_small = int(np.count_nonzero(head.weights)) - len(weights) if every_line else 0
    found, weights = found[kept], weights[kept]
    texts, unwritten = [""] * len(kept), 0
    if values and has_room and not left_out:
        texts, unwritten = _thinned(_texts(problem, head, found), found.ranks)
    elif values:
        unwritten = len(kept)
    columns = (found.outputs, found.inputs, weights, found.ranks)
    rows = zip(*(column.tolist() for column in columns), texts, strict=True)
    return Lines(tuple(Drawn(*row) for row in rows), left_out, too_small, unwritten)


def _found(head: Head, *, every_line: bool) -> _Found:
    """Return all lines, sorted by output and rank."""
    groups = list(_others(head)) if every_line else []
    for each in head.connections:
        for rank, inputs in ((MOST, each.most), (SECOND, each.second)):
            if inputs:
                groups.append(_group(each.output, np.array(inputs), rank, len(inputs)))
    if not groups:
        return _Found(*(np.zeros(0, dtype=np.intp) for _ in range(5)))
    found = _Found(*(np.concatenate(column) for column in zip(*groups, strict=True)))
    return found[np.lexsort((found.ranks, found.outputs))]


def _others(head: Head) -> Iterator[tuple[Indices, ...]]:
    """Yield, for each output, the inputs that are neither first nor second, nor show as zero."""
    for each, row in zip(head.connections, head.rounded, strict=True):
        visible = np.asarray(row != 0, dtype=bool)
        visible[[*each.most, *each.second]] = False
        yield _group(each.output, np.flatnonzero(visible), OTHER, 1)


def _group(output: int, inputs: Indices, rank: int, sharing: int) -> tuple[Indices, ...]:
    turns = np.arange(len(inputs)) if sharing > 1 else np.zeros(len(inputs), dtype=np.intp)
    same = (np.full(len(inputs), value, dtype=np.intp) for value in (output, rank, sharing))
    outputs, ranks, shared = same
    return outputs, inputs, ranks, turns, shared


def _largest(sizes: NDArray[np.float64], ranks: Indices, most: int) -> Indices:
    """Return which lines are kept: ranked ones first, then by weight, and evenly among ties."""
    if len(sizes) <= most:
        return np.arange(len(sizes))
    keys = sizes + np.where(ranks == OTHER, 0.0, 1.0 + sizes.max())
    cut = np.partition(keys, -most)[-most]
    sure, tied = np.flatnonzero(keys > cut), np.flatnonzero(keys == cut)
    evenly = np.linspace(0, len(tied) - 1, most - len(sure)).astype(np.intp)
    return np.sort(np.concatenate([sure, tied[evenly]]))


def _texts(problem: Problem, head: Head, found: _Found) -> list[str]:
    """Return what is written on each line; of many that share a place, on the middle one alone."""

    def text(output: int, input: int, rank: int, turn: int, sharing: int) -> str:  # noqa: A002
        weight = fixed(head.rounded[output, input], problem.decimals)
        if sharing <= MOST_TEXTS:
            return weight
        return f"{sharing} × {weight}" if turn == sharing // 2 else ""

    columns = (column.tolist() for column in found.columns)
    return [text(*row) for row in zip(*columns, strict=True)]


def _thinned(texts: list[str], ranks: Any) -> tuple[list[str], int]:
    """Take away the texts there are too many of; return the others, and how many are gone."""
    wanted = sum(map(bool, texts))
    if (ranks == OTHER).sum() > MOST_PLACED_OTHERS:
        texts = ["" if rank == OTHER else text for text, rank in zip(texts, ranks, strict=True)]
    if sum(map(bool, texts)) > MOST_PLACED:
        texts = [""] * len(texts)
    return texts, wanted - sum(map(bool, texts))
