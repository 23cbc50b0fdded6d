"""Which steps of a plan patterns are worked out of."""

from attncalc.errors import InputError
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan

NO_ATTENTION = "this problem has no attention: there are no weights to explain"


def needed_for_patterns(problem: Problem) -> dict[str, None]:
    """Return the names of the steps that patterns are worked out of.

    Raises
    ------
    InputError
        When there is no attention.
    """
    if not problem.attentions:
        raise InputError(NO_ATTENTION)
    plan = problem.calculation.steps
    if problem.is_alone:
        return _of_attention(plan)
    # what an attention in layers reads, and all of it that has no column for each key
    return {
        step.name: None
        for step in plan
        if step.columns != "keys" or step.role in ("masked", "weights")
    }


def _of_attention(plan: Plan) -> dict[str, None]:
    place = next(i for i, step in enumerate(plan) if step.role == "weights")
    after = plan[place + 1 :]
    read = {name for step in after for name in step.inputs}
    return {
        step.name: None
        for step in plan
        if step.role in ("masked", "weights") or step.name in read or step in after
    }
