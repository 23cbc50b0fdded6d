"""Common wrong ways to compute a step.

Each applies the right operations to other matrices, so none of them implements a step again; each
has a clause for the sentence "every entry is what comes out when …".
"""

from collections.abc import Iterator
from fractions import Fraction

from attncalc.equations.operations import (
    DivideBySqrt,
    Given,
    Mask,
    Multiply,
    Project,
    Scores,
    Scoring,
    Weigh,
)
from attncalc.equations.operations.distances import Alibi, RelativeBias
from attncalc.grading.recipes.common import Read, Recipe, Wrong, in_place
from attncalc.grading.recipes.distances import of_alibi, of_relative
from attncalc.grading.recipes.gradients import of_gradients
from attncalc.grading.recipes.layers import of_layers, of_normalised, of_skipped
from attncalc.grading.recipes.masks import of_mask
from attncalc.grading.recipes.others import of_others, of_outputs, of_the_whole
from attncalc.grading.recipes.projections import of_projection
from attncalc.grading.recipes.rewrites import of_own
from attncalc.grading.recipes.roundings import roundings
from attncalc.grading.recipes.scores import of_scale, of_scale_not_asked, of_scores
from attncalc.grading.recipes.scoring import of_other_scores, of_scored
from attncalc.grading.recipes.weights import of_weights
from attncalc.problem.attention.attention import Attention
from attncalc.problem.gradients.naming import is_of_the_way_back
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step

__all__ = [
    "Read",
    "Recipe",
    "in_place",
    "recipes",
    "recipes_between",
    "recipes_of_layers",
    "roundings",
]


def recipes(step: Step, problem: Attention, steps: Plan) -> tuple[Recipe, ...]:
    """Return the wrong recipes of a step of a problem's plan."""
    found: list[Wrong] = []
    operation = step.operation
    if isinstance(operation, Given):
        return ()  # given matrices can only be copied
    found += of_own(step)
    if isinstance(operation, Project | Scoring):
        found += _of_product(step, problem, steps)
    elif isinstance(operation, DivideBySqrt | Multiply | Mask | Alibi | RelativeBias):
        found += _of_changed_scores(step, problem)
    elif isinstance(operation, Weigh):
        found += of_outputs(step, problem, steps)
    elif step.role == "weights":
        found += of_weights(step, problem, steps)
    elif step.name.endswith(("_Q", "_K", "_norm")):
        found += of_normalised(step, steps)
    else:
        found += of_others(step, problem)
    found += of_scale_not_asked(step, problem, steps)
    found += of_the_whole(step, problem)
    return tuple(Recipe(code, says, step.name, make) for code, says, make in found)


def _of_product(step: Step, problem: Attention, steps: Plan) -> Iterator[Wrong]:
    """Return the wrong recipes of projections, and of scores of queries and keys."""
    if step.name in ("Q_S", "K_S"):
        return of_scored(step)
    if isinstance(step.operation, Project):
        return of_projection(step, problem)
    if isinstance(step.operation, Scores):
        return of_scores(step, problem, steps)
    return of_other_scores(step)


def _of_changed_scores(step: Step, problem: Attention) -> Iterator[Wrong]:
    """Yield the results of other scales, masks and biases."""
    operation = step.operation
    if isinstance(operation, Mask):
        yield from of_mask(step, operation, _scale(problem))
    elif isinstance(operation, Alibi):
        yield from of_alibi(step, operation, _scale(problem))
    elif isinstance(operation, RelativeBias):
        yield from of_relative(step, operation, _scale(problem))
    else:
        yield from of_scale(step, problem)


def recipes_between(step: Step, steps: Plan) -> tuple[Recipe, ...]:
    """Return the wrong recipes of a step of an attention that read the part before it."""
    found = of_skipped(step, steps)
    return tuple(Recipe(code, says, step.name, make) for code, says, make in found)


def recipes_of_layers(step: Step, problem: Problem, steps: Plan) -> tuple[Recipe, ...]:
    """Return the wrong recipes of a step of a part that is not an attention."""
    of_part = of_gradients if is_of_the_way_back(step.name) else of_layers
    found = (*of_own(step), *of_part(step, problem, steps))
    return tuple(Recipe(code, says, step.name, make) for code, says, make in found)


def _scale(problem: Attention) -> float:
    """Return the factor of the scores of a problem."""
    if isinstance(problem.scale, Fraction):
        return float(problem.scale)
    return 1.0 if problem.scale == "none" else float(problem.d_k**-0.5)
