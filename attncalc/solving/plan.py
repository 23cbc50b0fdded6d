"""The plan of a problem: the steps of its parts, one after another."""

from attncalc.base.errors import InputError
from attncalc.equations.expressions import Expression
from attncalc.problem.fields import LAST
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step


def plan(problem: Problem) -> Plan:
    """Return the steps of `problem`, each after its inputs.

    >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]], causal=True)
    >>> [step.name for step in plan(problem)]
    ['Q', 'K', 'V', 'S', 'S_scaled', 'S_masked', 'A', 'O']
    """
    return problem.calculation.steps


def outputs_of(problem: Problem) -> str:
    """Return the name of the outputs of a problem; InputError if no values give any."""
    if not problem.is_alone:
        return LAST
    for step in plan(problem):
        if step.role == "outputs":
            return step.name
    if not problem.start:  # of equations only
        forward = problem.calculation.parts[: -1 if problem.backward else None]
        return next(part.plan[-1].name for part in reversed(forward) if part.plan)
    raise InputError(f"{problem.start} is given without values, so there are no outputs; add V")


def formula(step: Step, problem: Problem) -> Expression:
    """Return the right-hand side of a step's equation in the problem's layout, such as X W_Q."""
    standing = problem.standing
    operands = map(standing.symbol, step.inputs + step.rows_of)
    return standing.expression(step.operation.formula(*operands))
