"""Well-known mistakes in every step.

A recipe is the equation of a step with a change: well-known changes are listed in `mistakes.eq`,
any other single change of a tree is a rewrite. Or it is the right operation on other matrices, or
with another setting. None of them implements a step again. Each has a clause for the sentence
"every entry is what you get when …".
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from attncalc.equations.operations.assembling import Given
from attncalc.equations.operations.entrywise import Mask
from attncalc.equations.operations.normalising import Normalise
from attncalc.equations.operations.products import Project
from attncalc.equations.own import Own
from attncalc.grading.recipes.common import Read, Recipe, Wrong, in_place
from attncalc.grading.recipes.inputs import (
    of_gradient,
    of_normalised,
    of_outputs,
    of_projection,
    of_scale_not_asked,
    of_scores,
    of_skipped,
    of_sum,
    of_weights,
)
from attncalc.grading.recipes.masks import of_mask
from attncalc.grading.recipes.mistakes import of_equation
from attncalc.grading.recipes.rewrites import of_rewritten
from attncalc.grading.recipes.roundings import roundings
from attncalc.grading.recipes.settings import of_settings, scale_of
from attncalc.grading.recipes.whole import of_the_whole
from attncalc.problem.attention.attention import Attention
from attncalc.problem.gradients.naming import gradient_from
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step

__all__ = [
    "Read",
    "Recipe",
    "in_place",
    "recipes",
    "recipes_between",
    "rewrites",
    "roundings",
]


def recipes(
    step: Step, problem: Problem | Attention, steps: Plan, attention: Attention | None
) -> tuple[Recipe, ...]:
    """Return the known mistakes in a step.

    step: a step of the plan.
    problem: its attention, with the names of that attention; for other parts, the entire problem.
    steps: its plan.
    attention: the attention again; None for other parts.
    """
    if isinstance(step.operation, Given) and attention is not None:
        return ()  # given matrices can only be copied
    listed = chain(
        of_rewritten(step) if isinstance(step.operation, Own) else (),
        of_equation(step, problem, steps, attention),
        _of_inputs(step, problem, steps, attention),
        of_settings(step, attention),
    )
    if attention is not None:
        listed = chain(listed, of_scale_not_asked(step, attention, steps))
    return _made(step, chain(listed, of_the_whole(step, attention)))


def recipes_between(step: Step, steps: Plan) -> tuple[Recipe, ...]:
    """Return the known mistakes in a step of an attention that concern the part before it."""
    return _made(step, of_skipped(step, steps))


def rewrites(step: Step) -> tuple[Recipe, ...]:
    """Return the single changes of the equation of a built-in step."""
    return () if isinstance(step.operation, Given | Own) else _made(step, of_rewritten(step))


def _made(step: Step, found: Iterable[Wrong]) -> tuple[Recipe, ...]:
    return tuple(Recipe(code, says, step.name, make) for code, says, make in found)


def _of_inputs(
    step: Step, problem: Problem | Attention, steps: Plan, attention: Attention | None
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
        yield from of_mask(step, operation, scale_of(attention))
    else:
        yield from chain(of_scores(step, steps), of_weights(step, steps), of_outputs(step, steps))
