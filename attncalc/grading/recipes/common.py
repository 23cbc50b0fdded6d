"""The type of a recipe, and functions to build recipes."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.equations.operation import Stated
from attncalc.problem.calculation import Built
from attncalc.problem.step import Step

_A_NAME = re.compile(r"\b(?:[WbP]_[A-Za-z0-9]+|[QKVSAHCO](?:_[a-z]+)?|X[123]?(?:_P)?)\b")
"""A possible name of a matrix in a clause."""
Read = Callable[[str], Range]
"""Returns the range of the values of a matrix."""
Steps = Mapping[str, Step]
"""The steps of a plan, by name."""


class Recipe(NamedTuple):
    """A mistake in a step.

    code: its name in JSON.
    says: the mistake, as a clause: "K was not transposed".
    make: returns the result from its inputs; None if shapes do not allow it.
    """

    code: str
    says: str
    step: str
    make: Callable[[Read], Range | None]


def in_place(recipe: Recipe, part: Built) -> Recipe:
    """Return the recipe of a placed part, with the full names of matrices.

    Recipes know a part by its own names: its attention reads X, which may be N_1 in the
    calculation.
    """
    step = part.name(recipe.step)
    if not (part.prefix or part.names):
        return recipe

    def make(read: Read) -> Range | None:
        return recipe.make(lambda name: read(part.name(name)))

    says = _A_NAME.sub(lambda match: part.name(match[0]), recipe.says)
    return Recipe(recipe.code, says, step, make)


Make = Callable[[Read], Range | None]
Wrong = tuple[str, str, Make]
"""A code, a clause, and a function that returns the result."""


def transposed(values: Range) -> Range:
    """Return the transpose of a matrix."""
    return values.map(lambda end: end.swapaxes(-1, -2))


def times(values: Range, factor: float) -> Range:
    """Return a matrix multiplied by a factor of either sign."""
    product = values.map(lambda end: end * factor)
    return product if factor >= 0 else Range(product.high, product.low)


def entry_by_entry(values: Range, factors: Range | Matrix) -> Range:
    """Return the entrywise product of two matrices."""
    others = factors if isinstance(factors, Range) else (factors,)
    made = [end * other for end in values for other in others]
    return Range(np.minimum.reduce(made), np.maximum.reduce(made))


def beside_sinks(step: Step, make: Make) -> Make:
    """Return a function that computes weights with the sinks of heads, if any, after the scores.

    A sink is a score of no key: a row with a sink is like a row with one more score.
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


def by_equation(
    step: Step, operation: Stated, reads: Sequence[str | None], read: Read
) -> Range | None:
    """Return the result of an equation; None for a name is the right result of the step."""
    with suppress(IndexError, KeyError):  # it reads outside a matrix, or its own rows
        return operation.over(
            *(done_right(step, read) if name is None else read(name) for name in reads)
        )
    return None


def done_right(step: Step, read: Read) -> Range:
    """Return the right result of a step."""
    return step.operation.over(*map(read, step.inputs))
