"""The plan of a problem: the steps of its parts, one after another."""

from attncalc.operations.expressions import Expression
from attncalc.operations.step import Plan, Step
from attncalc.problem.parts import PARTS
from attncalc.problem.problem import Problem


def plan(problem: Problem) -> Plan:
    """Return the steps of `problem`, each after those it reads.

    Examples
    --------
    >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]], causal=True)
    >>> [step.name for step in plan(problem)]
    ['Q', 'K', 'V', 'S', 'S_scaled', 'S_masked', 'A', 'O']
    """
    return tuple(step for part in PARTS for step in part.steps(problem))


def formula(step: Step, problem: Problem) -> Expression:
    """Return the right-hand side of a step's equation in the problem's layout, as in X W_Q."""
    standing = problem.standing
    return standing.expression(step.operation.formula(*map(standing.symbol, step.inputs)))
