"""A step against the gradients: the new weights, the outputs after it, and by how much L fell."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from attncalc.equations.operation import Operation, Shape, Stated, Statement
from attncalc.errors import InputError
from attncalc.operations.distances import RelativeBias
from attncalc.operations.losses import descend
from attncalc.operations.products import ConcatScores, Project
from attncalc.operations.step import Plan, Step
from attncalc.problem.fields import role_of
from attncalc.problem.gradients.naming import gradient_name
from attncalc.problem.gradients.starting import LOSS, Start
from attncalc.problem.scope import Scope
from attncalc.problem.standing import Standing

LEARNED = ("weights", "bias", "table", "heads", "buckets")
"""Roles of given matrices that a step changes."""
OF_ITSELF = ("weights", "buckets")
"""Those of them that may stand another way where they are given than in the house."""


def new_name(name: str) -> str:
    """Return what a matrix is called after the step."""
    return f"{name}_new"


def steps_of_descent(
    problem: Scope, forward: Plan, start: Start, leaves: list[str], shapes: Mapping[str, Shape]
) -> Iterator[Step]:
    """Yield the new weights, all that follows from them, L after the step, and how far it fell.

    Raises
    ------
    InputError
        When there are no weights to change.
    """
    learned = [name for name in leaves if role_of(name) in LEARNED or name in (problem.more or ())]
    if not learned:
        raise InputError("step is given, and there are no weights or biases that it could change")
    standing = problem.standing
    changed: dict[str, str] = {}
    for name in learned:
        of_heads = role_of(name) == "buckets"  # a row for each head, and given as its columns
        is_turned = standing.stands_otherwise(name) != of_heads
        operation = descend(problem.step, shapes[name], is_turned=is_turned, of_heads=of_heads)
        title = f"{name} after the step"
        inputs = (name, gradient_name(name))
        yield Step(new_name(name), title, operation, inputs, "values", "features")
        changed[name] = new_name(name)
    for step in (*forward, start.loss):
        if not any(name in changed for name in step.inputs):
            continue
        changed[step.name] = new_name(step.name)
        yield step._replace(
            name=changed[step.name],
            title=f"{step.title} after the step",
            operation=_reading(step, changed, standing),
            inputs=tuple(changed.get(name, name) for name in step.inputs),
            role="masked" if step.role == "masked" else "",
            is_between=True,
        )
    inputs = (LOSS, new_name(LOSS))
    less = Stated(Statement("Difference"))
    yield Step("L_fell", "by how much L fell", less, inputs, "values", "features")


def _reading(step: Step, changed: Mapping[str, str], standing: Standing) -> Operation:
    """Return the operation of a step, reading changed matrices as they stand where they are given.

    Those of the house are upright; what a step against the gradient makes stands as it is shown.
    """
    operation = step.operation
    weights = [name for name in step.inputs if name in changed and role_of(name) in OF_ITSELF]
    if isinstance(operation, RelativeBias) and weights:
        return replace(operation, stands="columns" if standing.by_columns else "rows")
    if isinstance(operation, Project | ConcatScores) and any(
        map(standing.stands_otherwise, weights)
    ):
        return replace(operation, is_turned=True)
    return operation
