"""Well-known mistakes in every step.

A recipe is the equation of a step with a change: well-known changes are listed in `mistakes.eq`,
any other single change of a tree is a rewrite. Or it is the right operation on other matrices, or
with another setting. None of them implements a step again. Each has a clause for the sentence
"every entry is what you get when …".
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, permutations

from attncalc.base.types import Range
from attncalc.equations.operations.assembling import Concat, Given, Same
from attncalc.equations.operations.entrywise import Mask
from attncalc.equations.operations.normalising import Normalise
from attncalc.equations.operations.products import DistanceScores, Project, Scoring
from attncalc.equations.own import Own
from attncalc.grading.recipes.common import (
    Read,
    Recipe,
    Steps,
    Wrong,
    done_right,
    in_place,
    times,
    transposed,
)
from attncalc.grading.recipes.inputs import (
    in_rows_with_keys,
    of_gradient,
    of_mask,
    of_normalised,
    of_outputs,
    of_projection,
    of_scale_not_asked,
    of_scores,
    of_settings,
    of_skipped,
    of_sum,
    of_weights,
)
from attncalc.grading.recipes.mistakes import of_equation, of_rewritten
from attncalc.grading.recipes.roundings import roundings
from attncalc.problem.attention.attention import Attention
from attncalc.problem.gradients.naming import gradient_from
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step

__all__ = ["Read", "Recipe", "in_place", "recipes", "recipes_between", "rewrites", "roundings"]

MOST_PERMUTED = 4
"""The largest number of heads of which every order is tried; of more, only the reverse."""


def recipes(
    step: Step, problem: Problem | Attention, steps: Plan, attention: Attention | None
) -> tuple[Recipe, ...]:
    """Return the known mistakes in a step.

    problem: its attention, with the names of that attention; for other parts, the entire problem.
    attention: the attention again; None for other parts.
    """
    if isinstance(step.operation, Given) and attention is not None:
        return ()  # given matrices can only be copied
    by_name = {each.name: each for each in steps}
    listed = chain(
        of_rewritten(step) if isinstance(step.operation, Own) else (),
        of_equation(step, problem, by_name, attention),
        _of_inputs(step, problem, by_name, attention),
        of_settings(step, attention),
        () if attention is None else of_scale_not_asked(step, attention, by_name),
    )
    if isinstance(step.operation, Mask):
        listed = chain(in_rows_with_keys(step, listed))
    return _made(step, chain(listed, _of_the_whole(step, attention)))


def recipes_between(step: Step, steps: Plan) -> tuple[Recipe, ...]:
    """Return the known mistakes in a step of an attention that concern the part before it."""
    return _made(step, of_skipped(step, {each.name: each for each in steps}))


def rewrites(step: Step) -> tuple[Recipe, ...]:
    """Return the single changes of the equation of a built-in step."""
    return () if isinstance(step.operation, Given | Own) else _made(step, of_rewritten(step))


def _made(step: Step, found: Iterable[Wrong]) -> tuple[Recipe, ...]:
    return tuple(Recipe(code, says, step.name, make) for code, says, make in found)


def _of_inputs(
    step: Step, problem: Problem | Attention, steps: Steps, attention: Attention | None
) -> Iterator[Wrong]:
    """Yield the operation of a step on other matrices."""
    operation = step.operation
    if gradient_from(step.name) is not None:
        yield from of_gradient(step, steps)
        return
    if isinstance(operation, Project):
        yield from of_projection(step, problem, attention)
    elif isinstance(operation, Normalise):
        yield from of_normalised(step, operation, steps)
    if attention is None:
        yield from chain(of_skipped(step, steps), of_sum(step, steps))
    elif isinstance(operation, Mask):
        yield from of_mask(step, operation)
    else:
        yield from chain(of_scores(step, steps), of_weights(step, steps), of_outputs(step, steps))


def _of_the_whole(step: Step, attention: Attention | None) -> Iterator[Wrong]:
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
