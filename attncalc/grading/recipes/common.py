"""What a recipe is, and what recipes are made with."""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.problem.calculation import Built
from attncalc.problem.step import Step

_A_NAME = re.compile(r"\b(?:[WbP]_[A-Za-z0-9]+|[QKVSAHCO](?:_[a-z]+)?|X[123]?(?:_P)?)\b")
"""What may be the name of a matrix in a clause."""
Read = Callable[[str], Range]
"""Returns where the values of a matrix may lie."""


class Recipe(NamedTuple):
    """A mistake in a step.

    Parameters
    ----------
    code
        Its name in JSON.
    says
        What was done, as a clause: "K was not transposed".
    step
        The step.
    make
        Returns the result, from what it reads; None where shapes do not allow it.
    """

    code: str
    says: str
    step: str
    make: Callable[[Read], Range | None]


def in_place(recipe: Recipe, part: Built) -> Recipe:
    """Return the recipe of a step of a part with the names of the whole calculation.

    Recipes know a part by its own names: its attention reads X, which may be N_1 in the whole.
    """
    step = part.name(recipe.step)
    if not (part.prefix or part.names):
        return recipe

    def make(read: Read) -> Range | None:
        return recipe.make(lambda name: read(part.name(name)))

    return Recipe(recipe.code, _in_words(recipe.says, part), step, make)


def _in_words(says: str, part: Built) -> str:
    """Return a clause with the names of matrices as they are in the calculation."""
    return _A_NAME.sub(lambda match: part.name(match[0]), says)


Make = Callable[[Read], Range | None]
Wrong = tuple[str, str, Make]
"""A code, what is done, and what returns the result."""


def transposed(values: Range) -> Range:
    """Return a matrix with its rows as columns."""
    return values.map(lambda end: end.swapaxes(-1, -2))


def times(values: Range, factor: float) -> Range:
    """Return a matrix times a factor of either sign."""
    product = values.map(lambda end: end * factor)
    return product if factor >= 0 else Range(product.high, product.low)


def entry_by_entry(values: Range, factors: Range | Matrix) -> Range:
    """Return a matrix times another one, entry by entry."""
    others = factors if isinstance(factors, Range) else (factors,)
    made = [end * other for end in values for other in others]
    return Range(np.minimum.reduce(made), np.maximum.reduce(made))


def less(left: Range, right: Range) -> Range:
    """Return the differences of two matrices."""
    return Range(left.low - right.high, left.high - right.low)


def total(values: Range, axis: int) -> Range:
    """Return the sums along an axis, which stays."""
    return values.map(lambda end: end.sum(axis=axis, keepdims=True))


def beside_sinks(step: Step, make: Make) -> Make:
    """Return what makes weights when the sinks of heads, if any, stand behind the scores.

    A sink is a score of no key: what is right or wrong for a row of scores is so for one longer.
    """
    scores, *sinks = step.inputs
    if not sinks:
        return make

    def made(read: Read) -> Range | None:
        def longer(name: str) -> Range:
            return _joined(read(name), read(sinks[0])) if name == scores else read(name)

        weights = make(longer)
        return None if weights is None else weights.map(lambda end: end[..., :-1])

    return made


def _joined(scores: Range, sinks: Range) -> Range:
    ends = [
        np.concatenate([end, np.broadcast_to(sink, (*end.shape[:-1], 1))], axis=-1)
        for end, sink in zip(scores, sinks, strict=True)
    ]
    return Range.at(ends[0]) if scores.is_point else Range(*ends)


def done_right(step: Step, read: Read) -> Range:
    """Return what a step comes to when it is done as it should be."""
    return step.operation.over(*map(read, step.inputs))
