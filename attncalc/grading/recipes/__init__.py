"""The wrong ways to come by a step that people are known for.

Each is made of the right operations on other matrices, so none of them is a second implementation;
each says what is done as a clause: "every entry is what comes out when …".
"""

from fractions import Fraction

from attncalc.grading.recipes.common import Read, Recipe, Wrong
from attncalc.grading.recipes.masks import of_mask
from attncalc.grading.recipes.others import of_others, of_outputs, of_the_whole
from attncalc.grading.recipes.projections import of_projection
from attncalc.grading.recipes.roundings import roundings
from attncalc.grading.recipes.scores import of_scale, of_scale_not_asked, of_scores
from attncalc.grading.recipes.weights import of_weights
from attncalc.operations import DivideBySqrt, Mask, Multiply, Project, Scores, Weigh
from attncalc.operations.step import Plan, Step
from attncalc.problem.problem import Problem

__all__ = ["Read", "Recipe", "recipes", "roundings"]


def recipes(step: Step, problem: Problem, steps: Plan) -> tuple[Recipe, ...]:
    """Return the wrong ways to come by a step of a problem's plan."""
    found: list[Wrong] = []
    operation = step.operation
    if isinstance(operation, Project):
        found += of_projection(step, problem)
    elif isinstance(operation, Scores):
        found += of_scores(step, problem)
    elif isinstance(operation, DivideBySqrt | Multiply):
        found += of_scale(step, problem)
    elif isinstance(operation, Mask):
        found += of_mask(step, operation, _scale(problem))
    elif isinstance(operation, Weigh):
        found += of_outputs(step, problem, steps)
    elif step.role == "weights":
        found += of_weights(step, problem, steps)
    else:
        found += of_others(step, problem)
    found += of_scale_not_asked(step, problem, steps)
    found += of_the_whole(step, problem)
    return tuple(Recipe(code, says, step.name, make) for code, says, make in found)


def _scale(problem: Problem) -> float:
    """Return what the scores of a problem are multiplied by."""
    if isinstance(problem.scale, Fraction):
        return float(problem.scale)
    return 1.0 if problem.scale == "none" else float(problem.d_k**-0.5)
