"""Proven digits of problems that are too large for exact decimals: their plan as equations."""

from collections.abc import Mapping

import numpy as np

from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operation import is_grouped
from attncalc.equations.proven import Proven, Stage, TooMuchWorkError, prove
from attncalc.numbers.types import Matrix
from attncalc.operations.distances import Alibi
from attncalc.operations.step import Plan
from attncalc.problem.fields import role_of
from attncalc.problem.problem import Problem

MOST_SCORES = 1024 * 1024
"""Scores up to which digits are proven: beyond, bounds and digits would take much memory."""
MOST_WORK = 40_000_000
"""Products of Decimals, some 60 ns each, for the entries that bounds leave open."""


def proven(problem: Problem, plan: Plan) -> Mapping[str, Proven] | None:
    """Return the digits of each step, or None where to prove them would take seconds."""
    if problem.most_scores > MOST_SCORES:
        return None
    given = typed(problem)
    if (made := stages(problem, plan, given)) is None:
        return None
    try:
        return prove(made, given, problem.decimals, most_work=MOST_WORK)
    except (TooMuchWorkError, ArithmeticError):
        return None


def typed(problem: Problem) -> dict[str, Matrix]:
    """Return the given matrices as typed, with tokens as rows; marks stay true and false."""

    def one(name: str) -> Matrix:
        if role_of(name) == "marks":
            return np.asarray(problem.given[name], bool)
        if name not in problem.typed and problem.given[name].dtype == np.float64:
            return problem.given[name]  # nothing was lost
        return problem.turned(name, problem.as_typed(name))

    return {name: one(name) for name in problem.names}


def stages(problem: Problem, plan: Plan, given: dict[str, Matrix]) -> tuple[Stage, ...] | None:
    """Return a plan as equations; what they read beyond the plan is added to what is given.

    None where no equation states how heads share a matrix, or slopes of ALiBi are irrational.
    """
    shapes = {name: matrix.shape for name, matrix in problem.given.items()}
    made = []
    for step in plan:
        own = [shapes[name] for name in step.inputs]
        shapes[step.name] = step.operation.shape(*own)
        reads = list(step.inputs)
        if isinstance(step.operation, Alibi) and not step.operation.has_own:
            if not step.operation.is_rational:
                return None
            reads.append(f"slopes of {step.name}")
            given[reads[-1]] = step.operation.slopes(np.empty(0))  # powers of two
        found = step.operation.statement(*own)
        if is_grouped(own) and not found.name.startswith("Grouped"):
            return None
        inputs = dict(zip(inputs_of(found.name, found.given), reads, strict=True))
        stated = equation(found.name, found.given)
        tables = {name: table for name, table in found.tables.items() if name not in inputs}
        made.append(Stage(step.name, stated, inputs, found.settings, tables))
    return tuple(made)
