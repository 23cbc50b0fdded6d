"""Consecutive layers as separate problems: only one is in memory at a time."""

from collections.abc import Callable, Iterable
from typing import Any

from attncalc.base.arrays import Owned
from attncalc.base.types import Matrix
from attncalc.problem.fields import LAST
from attncalc.problem.problem import Problem
from attncalc.solving.solution import solve

Fields = dict[str, Any]


def through(
    start: Fields,
    layers: Iterable[Fields | Callable[[Fields], Fields]],
    report: Callable[[int], None] | None = None,
) -> Fields:
    """Return the outputs of the layers, as the tokens that the next one reads.

    start: the fields of the tokens and of all parts before the first layer; in a decoder with the
        outputs of the encoder, as X2.
    layers: the fields of each, computed when needed; or functions of the tokens that return them.
    report: called with the number of each finished layer, from 1.
    """
    tokens, number = start, 0
    for each in layers:
        fields = each(tokens) if callable(each) else each
        made = solve(Problem(**(fields | tokens)), keep=(LAST,))[LAST]
        del each, fields  # before the next layer is read
        number += 1  # noqa: SIM113 - enumerate would keep the fields of two layers
        tokens = read_after(start, made)
        if report is not None:
            report(number)
    return tokens


def read_after(start: Fields, made: Matrix) -> Fields:
    """Return what a layer reads after the outputs of another."""
    return {"X1": Owned(made), "X2": start["X2"]} if "X2" in start else {"X": Owned(made)}
