"""The right result in another form: transposed, negated, its heads permuted."""

from collections.abc import Iterator
from functools import partial
from itertools import permutations

from attncalc.base.types import Range
from attncalc.equations.operations.assembling import Concat, Same
from attncalc.equations.operations.products import DistanceScores, Scoring
from attncalc.grading.recipes.common import Read, Wrong, done_right, times, transposed
from attncalc.problem.attention.attention import Attention
from attncalc.problem.step import Step

MOST_PERMUTED = 4
"""The largest number of heads of which every order is tried; of more, only the reverse."""


def of_the_whole(step: Step, attention: Attention | None) -> Iterator[Wrong]:
    """Yield the matrix of any step transposed, negated, or with its heads permuted."""
    if attention is None or not isinstance(step.operation, Scoring | Same):
        says = f"the rows of {step.name} are written as columns"
        yield "transposed", says, lambda read: transposed(done_right(step, read))
    is_signed = step.role != "weights" and not isinstance(step.operation, DistanceScores)
    if attention is None or is_signed:
        says = "every sign is the other one"
        yield "negated", says, lambda read: times(done_right(step, read), -1.0)
    if attention is not None:
        yield from _of_heads(step, attention)


def _of_heads(step: Step, problem: Attention) -> Iterator[Wrong]:
    heads = problem.n_kv_heads if step.rows == "keys" else problem.n_heads
    if heads == 1:
        return
    says = "the axes of heads and of tokens are exchanged"
    yield "axes-swapped", says, partial(_with_axes_swapped, step)
    for head in range(heads):
        says = f"head {head + 1} is written for every head"
        yield f"head-repeated:{head + 1}", says, partial(_reordered, step, [head] * heads)
    every = permutations(range(heads)) if heads <= MOST_PERMUTED else [tuple(range(heads))[::-1]]
    for order in every:
        if order != tuple(range(heads)):
            named = ", ".join(str(head + 1) for head in order)
            says = f"the heads are in the order {named}"
            code = f"heads-order:{named.replace(' ', '')}"
            yield code, says, partial(_reordered, step, list(order))


def _with_axes_swapped(step: Step, read: Read) -> Range | None:
    right = done_right(step, read)
    return right.map(lambda end: end.swapaxes(0, 1)) if right.low.ndim == 3 else None


def _reordered(step: Step, order: list[int], read: Read) -> Range | None:
    is_joined = isinstance(step.operation, Concat)
    of_heads = read(step.inputs[0]) if is_joined else done_right(step, read)
    # after another recipe there may be more heads, or fewer
    if of_heads.low.ndim != 3 or len(of_heads.low) != len(order):
        return None
    turned = of_heads.map(lambda end: end[order])
    return step.operation.over(turned) if is_joined else turned
