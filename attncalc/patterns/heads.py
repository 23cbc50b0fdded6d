"""Which heads have the same weights, and how far apart the others are."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from attncalc.numbers.rounding import blocks_of_rows
from attncalc.numbers.types import Matrix
from attncalc.patterns.attended import Attended
from attncalc.patterns.pattern import NEAR, Pattern

MOST_HEADS = 16
"""Heads that are compared each with each; more are compared with the first."""


class _Pair(NamedTuple):
    """Two heads, from 1, and by how much each of their rows differs, its sizes added up."""

    one: int
    other: int
    apart: Matrix


def heads_alike(attended: Attended, pairs: list[_Pair]) -> Iterator[Pattern]:
    """Yield groups of heads whose weights are the same, but for `NEAR` in each row."""
    groups: list[set[int]] = []
    for one, other, apart in pairs:
        if apart.max() < NEAR:
            known = next((group for group in groups if one in group), None)
            if known is None:
                groups.append({one, other})
            elif _all_near(pairs, known, other):
                known.add(other)
    for group in map(sorted, groups):
        yield attended.pattern("heads-alike", "heads", {"heads": group, "threshold": NEAR})


def _all_near(pairs: list[_Pair], known: set[int], other: int) -> bool:
    """Say whether a head is near all of a group that were compared with it."""
    return all(
        pair.apart.max() < NEAR for pair in pairs if pair.other == other and pair.one in known
    )


def heads_differ(attended: Attended, pairs: list[_Pair]) -> Iterator[Pattern]:
    """Yield, of the heads that are not alike, the two that differ most, and where."""
    differing = [pair for pair in pairs if pair.apart.max() >= NEAR]
    if not differing:
        return
    most = max(differing, key=lambda pair: float(pair.apart.mean()))
    leads = [attended.heads[number - 1].weights.argmax(axis=1) for number in most[:2]]
    values = {
        "heads": [most.one, most.other],
        "output": int(most.apart.argmax()) + 1,
        "elsewhere": attended.amount(most.apart.max() / 2),
        "mean": attended.amount(most.apart.mean() / 2),
        "leads": (np.flatnonzero(leads[0] != leads[1]) + 1).tolist(),
        "pairs": [[pair.one, pair.other] for pair in differing],
        "only_with_first": len(attended.heads) > MOST_HEADS,
        "threshold": NEAR,
    }
    yield attended.pattern("heads-differ", "heads", values)


def compared(attended: Attended) -> list[_Pair]:
    """Return pairs of heads: all, or of very many those with the first."""
    numbers = range(1, len(attended.heads) + 1)
    every = len(numbers) <= MOST_HEADS
    pairs = combinations(numbers, 2) if every else ((1, other) for other in numbers[1:])
    return [_Pair(one, other, _apart(attended, one, other)) for one, other in pairs]


def _apart(attended: Attended, one: int, other: int) -> Matrix:
    left, right = (attended.heads[number - 1].weights for number in (one, other))
    blocks = blocks_of_rows(left.shape)
    return np.concatenate([np.abs(left[rows] - right[rows]).sum(axis=1) for rows in blocks])
