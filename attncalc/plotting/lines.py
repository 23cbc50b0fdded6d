"""Which lines the map of a head has, of which rank, and what is written on each."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attncalc.numbers.rounding import fixed
from attncalc.solving.solution import Head

MOST_TEXTS = 3
"""Tied lines that each carry their weight; more of them share one text beside the output."""
MOST_PLACED = 400
"""Weights that are written in a map; to find room for more takes seconds."""
MOST_PLACED_OTHERS = 40
"""The same for lines that are neither first nor second: more of them hide the lines."""
MOST, SECOND, OTHER = range(3)
"""The ranks of lines."""

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class MapLines:
    """The lines of one head, output by output and the largest weight first; and what has none.

    Parameters
    ----------
    outputs, inputs, ranks, weights
        Whence and whither each line runs, its rank and its weight; (k,) each.
    texts
        What is written on each line, "" for nothing.
    left_out
        How many smaller weights have no line, for there would be too many.
    too_small
        How many weights have no line, for they show as zero.
    unwritten
        How many lines do not carry their weight, for there would be too many texts.
    """

    outputs: Indices
    inputs: Indices
    ranks: Indices
    weights: NDArray[np.float64]
    texts: tuple[str, ...]
    left_out: int = 0
    too_small: int = 0
    unwritten: int = 0


def lines_of(
    head: Head, decimals: int, *, every_line: bool, values: bool, most_lines: int
) -> MapLines:
    """Choose the lines of a head.

    Parameters
    ----------
    head, decimals
        Whose weights they stand for, and how these are written.
    every_line
        Whether every weight that does not show as zero has a line, or only first and second.
    values
        Whether the lines carry their weights.
    most_lines
        Of more, the largest weights are kept: those that are first or second before all others.
    """
    found = _found(head, every_line=every_line)
    count = found.shape[1]
    sizes = np.abs(head.weights[found[0], found[1]].astype(np.float64))
    kept = _largest(sizes, found[2], most_lines)
    outputs, inputs, ranks = found[:, kept]
    left_out = count - len(kept)
    too_small = int(np.count_nonzero(head.weights)) - count if every_line else 0
    texts, unwritten = [""] * len(kept), 0
    if values and left_out:
        unwritten = len(kept)
    elif values:
        texts, unwritten = _thinned(_texts(head, decimals, outputs, inputs, ranks), ranks)
    weights = head.weights[outputs, inputs].astype(np.float64)
    return MapLines(outputs, inputs, ranks, weights, tuple(texts), left_out, too_small, unwritten)


def _found(head: Head, *, every_line: bool) -> Indices:
    """Return the output, the input and the rank of all lines, (3, k), by output and rank."""
    groups = [_group(*each) for each in _ranked(head)]
    if every_line:
        groups += [_group(output, inputs, OTHER) for output, inputs in _others(head)]
    if not groups:
        return np.zeros((3, 0), dtype=np.intp)
    found = np.concatenate(groups, axis=1)
    return found[:, np.lexsort((found[2], found[0]))]


def _ranked(head: Head) -> Iterator[tuple[int, tuple[int, ...], int]]:
    for each in head.connections:
        yield each.output, each.most, MOST
        yield each.output, each.second, SECOND


def _others(head: Head) -> Iterator[tuple[int, Indices]]:
    """Yield, for each output, the inputs that are neither first nor second, nor show as zero."""
    for each, row in zip(head.connections, head.rounded, strict=True):
        visible = np.asarray(row != 0, dtype=bool)
        visible[[*each.most, *each.second]] = False
        yield each.output, np.flatnonzero(visible)


def _group(output: int, inputs: Iterable[int], rank: int) -> Indices:
    columns = np.asarray(inputs, dtype=np.intp)
    return np.stack([np.full_like(columns, output), columns, np.full_like(columns, rank)])


def _largest(sizes: NDArray[np.float64], ranks: Indices, most: int) -> Indices:
    """Return which lines are kept: ranked ones first, then by weight, and evenly among ties."""
    if len(sizes) <= most:
        return np.arange(len(sizes))
    keys = sizes + np.where(ranks == OTHER, 0.0, 1.0 + sizes.max())
    cut = np.partition(keys, -most)[-most]
    sure, tied = np.flatnonzero(keys > cut), np.flatnonzero(keys == cut)
    evenly = np.linspace(0, len(tied) - 1, most - len(sure)).astype(np.intp)
    return np.sort(np.concatenate([sure, tied[evenly]]))


def _texts(
    head: Head, decimals: int, outputs: Indices, inputs: Indices, ranks: Indices
) -> list[str]:
    """Return what is written on each line; of many that share a place, on the middle one alone."""
    places = list(zip(outputs.tolist(), ranks.tolist(), strict=True))
    sharing, turn = Counter(places), Counter[tuple[int, int]]()
    texts = []
    for place, column in zip(places, inputs.tolist(), strict=True):
        weight = fixed(head.rounded[place[0], column], decimals)
        count = sharing[place]
        if place[1] == OTHER or count <= MOST_TEXTS:
            texts.append(weight)
        else:
            texts.append(f"{count} × {weight}" if turn[place] == count // 2 else "")
        turn[place] += 1
    return texts


def _thinned(texts: list[str], ranks: Indices) -> tuple[list[str], int]:
    """Take away the texts there are too many of; return the others, and how many are gone."""
    wanted = sum(map(bool, texts))
    if (ranks == OTHER).sum() > MOST_PLACED_OTHERS:
        texts = ["" if rank == OTHER else text for text, rank in zip(texts, ranks, strict=True)]
    if sum(map(bool, texts)) > MOST_PLACED:
        texts = [""] * len(texts)
    return texts, wanted - sum(map(bool, texts))
