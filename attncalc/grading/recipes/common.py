"""What a wrong recipe is, and what recipes are made with."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from attncalc.numbers.types import Matrix, Range
from attncalc.operations.step import Step
from attncalc.problem.problem import Problem

Read = Callable[[str], Range]
"""Returns where the values of a matrix may lie."""


class Recipe(NamedTuple):
    """A wrong way to come by a step.

    Parameters
    ----------
    code
        What it is called in JSON.
    says
        What was done, as a clause: "K was not transposed".
    step
        The step it stands in for.
    make
        Returns what it comes to, from what it reads; None where shapes do not allow it.
    """

    code: str
    says: str
    step: str
    make: Callable[[Read], Range | None]


Make = Callable[[Read], Range | None]
Wrong = tuple[str, str, Make]
"""A code, what is done, and what comes of it."""


def transposed(values: Range) -> Range:
    """Return a matrix with its rows as columns."""
    return values.map(lambda end: end.swapaxes(-1, -2))


def times(values: Range, factor: float) -> Range:
    """Return a matrix times a factor of either sign."""
    product = values.map(lambda end: end * factor)
    return product if factor >= 0 else Range(product.high, product.low)


def entry_by_entry(values: Range, factors: Matrix) -> Range:
    """Return a matrix times another one, entry by entry."""
    low, high = (end * factors for end in values)
    return Range(np.minimum(low, high), np.maximum(low, high))


def of_tiled_heads(step: Step, problem: Problem) -> Iterator[Wrong]:
    """Yield what comes of the fewer heads of keys or values over and over again: 1, 2, 1, 2."""
    asking, shared = step.inputs
    if not 1 < problem.n_kv_heads < problem.n_heads:
        return

    def of_tiled(read: Read) -> Range:
        times = problem.n_heads // problem.n_kv_heads
        heads = read(shared).map(lambda end: np.tile(end, (times, 1, 1)))
        return step.operation.over(read(asking), heads)

    says = f"the shared heads of {shared} are tiled (1, 2, 1, 2), and not repeated (1, 1, 2, 2)"
    yield "heads-tiled", says, of_tiled


def done_right(step: Step, read: Read) -> Range:
    """Return what a step comes to when it is done as it should be."""
    return step.operation.over(*map(read, step.inputs))
