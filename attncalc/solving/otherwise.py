"""An attention in layers under other conventions: its steps again, for the same tokens."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attncalc.base.types import Matrix
from attncalc.equations.operations import Weigh
from attncalc.problem.attention.steps import attention_steps
from attncalc.problem.scope import changed
from attncalc.problem.step import Plan, Step, run
from attncalc.solving.long_inputs import run_in_blocks
from attncalc.solving.solution import Solution, given_in_decimals


def weights_otherwise(
    solution: Solution, weights: Step, fields: Mapping[str, Any]
) -> tuple[Matrix, ...] | None:
    """Return the weights of each head with other fields and the same inputs; None beyond floats."""
    steps = _steps(solution, weights, fields)
    known = {**solution.problem.given, **solution.carried}
    if solution.is_exact:
        known = {**given_in_decimals(solution.problem), **solution.carried}
        with solution.arithmetic():
            found = run(steps, known, solution.rounding_between)[weights.name]
    else:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = _in_floats(solution, steps, known)[weights.name]
    made = np.asarray(found).astype(np.float64)
    if not np.isfinite(made).all():
        return None
    return tuple(made) if made.ndim == 3 else (made,)


def _steps(solution: Solution, weights: Step, fields: Mapping[str, Any]) -> Plan:
    """Return the steps of the attention up to its weights, with these fields."""
    part = solution.problem.calculation.part_of(weights.name)
    assert part.attention is not None
    made = part._replace(steps=tuple(attention_steps(changed(part.attention, **fields)))).plan
    end = next(i for i, step in enumerate(made) if isinstance(step.operation, Weigh))
    return made[: end + 1]  # blocks of long inputs end with the step that weighs the values


def _in_floats(solution: Solution, steps: Plan, known: Mapping[str, Matrix]) -> Mapping[str, Any]:
    if not solution.problem.is_long:
        return run(steps, known, solution.rounding_between)
    decimals = solution.problem.decimals if solution.rounding_between else None
    return run_in_blocks(steps, known, {step.name for step in steps[-2:]}, decimals)
