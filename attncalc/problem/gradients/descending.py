"""A step against the gradients: the new weights, the outputs after it, and by how much L fell."""

from collections.abc import Iterator

from attncalc.errors import InputError
from attncalc.operations.losses import Descend, Difference
from attncalc.operations.products import Project
from attncalc.operations.step import Plan, Step
from attncalc.problem.fields import role_of
from attncalc.problem.gradients.naming import gradient_name
from attncalc.problem.gradients.starting import LOSS, Start
from attncalc.problem.scope import Scope

LEARNED = ("weights", "bias", "table", "heads")
"""Roles of given matrices that a step changes."""


def new_name(name: str) -> str:
    """Return what a matrix is called after the step."""
    return f"{name}_new"


def steps_of_descent(
    problem: Scope, forward: Plan, start: Start, leaves: list[str]
) -> Iterator[Step]:
    """Yield the new weights, all that follows from them, L after the step, and how far it fell.

    Raises
    ------
    InputError
        When there are no weights to change, or a table of distances beside them.
    """
    learned = [name for name in leaves if role_of(name) in LEARNED]
    for name in leaves:
        if role_of(name) == "buckets":
            raise InputError(
                f"step changes weights, and no tables of distances: leave {name} out, or step"
            )
    if not learned:
        raise InputError("step is given, and there are no weights or biases that it could change")
    standing = problem.standing
    changed: dict[str, str] = {}
    for name in learned:
        operation = Descend(problem.step, standing.is_transposed(name))
        title = f"{name} after the step"
        inputs = (name, gradient_name(name))
        yield Step(new_name(name), title, operation, inputs, "values", "features")
        changed[name] = new_name(name)
    for step in (*forward, start.loss):
        if not any(name in changed for name in step.inputs):
            continue
        is_product = isinstance(step.operation, Project)
        is_turned = is_product and standing.is_transposed(step.inputs[1])
        changed_weights = is_turned and step.inputs[1] in changed
        changed[step.name] = new_name(step.name)
        yield step._replace(
            name=changed[step.name],
            title=f"{step.title} after the step",
            operation=Project(is_turned=True) if changed_weights else step.operation,
            inputs=tuple(changed.get(name, name) for name in step.inputs),
            role="masked" if step.role == "masked" else "",
            is_between=True,
        )
    inputs = (LOSS, new_name(LOSS))
    yield Step("L_fell", "by how much L fell", Difference(), inputs, "values", "features")
