"""Proven digits of problems that are too large for exact decimals: their plan as equations."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from attncalc.base.decimals import Digits
from attncalc.base.errors import InputError
from attncalc.base.types import Matrix, Place
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operation import is_grouped
from attncalc.equations.operations.distances import Alibi
from attncalc.equations.proven import Stage, UnprovenError, prove
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, shapes_of
from attncalc.solving.exactness import MOST_DIGITS, needed_digits

MOST_WORK = 25_000_000
"""The largest number of products of Decimals, some 100 ns each, for undecided entries."""


class Proof(NamedTuple):
    """Proven digits by step; the unrounded values of rounded steps; and ties as in `Proven`."""

    digits: Mapping[str, Matrix]
    made: Mapping[str, Matrix]
    ties: Mapping[str, tuple[Place, ...]]


def proven(
    problem: Problem, plan: Plan, names: Collection[str], *, each_step: bool
) -> Proof | None:
    """Return the digits of these steps, or None if proving them would take seconds."""

    def exactly() -> Digits:
        digits = needed_digits(problem, plan)
        if digits.precision > MOST_DIGITS:
            raise UnprovenError
        return digits

    if each_step and any(step.operation.recurs for step in plan):
        return None  # rows are rounded before later ones read them: exact decimals do that
    given = dict(problem.given_as_typed)
    try:
        found = stages(problem, plan, given)
        made = prove(found, given, problem.decimals, exactly, each_step=each_step, work=MOST_WORK)
    except (UnprovenError, ArithmeticError, InputError):
        return None
    return Proof(
        {name: made[name].digits for name in names},
        {name: made[name].value.values for name in names if each_step},
        {name: made[name].ties for name in names if made[name].ties},
    )


def stages(problem: Problem, plan: Plan, given: dict[str, Matrix]) -> tuple[Stage, ...]:
    """Return a plan as equations; inputs that are not in the plan are added to `given`."""
    shapes, made = shapes_of(plan, problem.given), []
    for step in plan:
        own = [shapes[name] for name in step.inputs]
        reads = list(step.inputs)
        if isinstance(step.operation, Alibi) and not step.operation.has_own:
            if not step.operation.is_rational:
                raise UnprovenError(step.name)
            reads.append(f"slopes of {step.name}")
            given[reads[-1]] = step.operation.slopes(np.empty(0))  # powers of two
        found = step.operation.statement(*own)
        if is_grouped(own) and not found.name.startswith("Grouped"):
            raise UnprovenError
        inputs = dict(zip(inputs_of(found.name, found.given), reads, strict=True))
        stated = equation(found.name, found.given)
        tables = {name: table for name, table in found.tables.items() if name not in inputs}
        made.append(Stage(step.name, stated, inputs, found.settings, tables))
    return tuple(made)
