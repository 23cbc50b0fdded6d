"""What a kernel should return, and how far rounding can take it from there.

The reference is the plan of the case's problem in float64. Its bound follows the plan: the range of
each step for the ranges of its inputs (`Operation.reach`), widened by the roundings of the step
itself. A step of k operations per entry, which are accumulated with relative error u, is off by at
most k u times the sum of the absolute values of its terms (Higham, Accuracy and Stability of
Numerical Algorithms, section 3.1), and by one rounding more when it is stored. Weights may be
computed as exp(s - L), where L is the logarithm of the sum, as kernels that merge blocks do.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.conforming.case import ROUNDING, Case
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step, run
from attncalc.solving.plan import plan

GRADIENTS = ("dQ", "dK", "dV")
EXACT = 64 * 2.0**-53
"""Relative error of the reference itself: far below any bound but that of float64."""


@dataclass(frozen=True, eq=False)
class Expected:
    """Results by name (`O`, `dQ`, `dK`, `dV`), each (batch, heads, tokens, width)."""

    values: Mapping[str, Matrix]
    bounds: Mapping[str, Matrix]
    empty: Matrix
    """Where a query has no key: (batch, heads, queries)."""


def expected(case: Case, fields: Sequence[Mapping[str, Any]] = ()) -> Expected:
    """Return the results of a case, and the largest error of each entry in its type."""
    stored, accumulated = ROUNDING[case.dtype]
    values: dict[str, list[Matrix]] = {}
    bounds: dict[str, list[Matrix]] = {}
    empty: list[Matrix] = []
    for own in fields or [case.fields(batch) for batch in range(len(case.q))]:
        steps, ranges = _ranges(Problem(**own), stored, accumulated)
        weights = next(step.name for step in steps if step.role == "weights")
        empty.append(np.atleast_3d(ranges[weights].middle.T).T.sum(axis=-1) == 0)
        for name in _names(case):
            values.setdefault(name, []).append(_apart(case, ranges[name].middle))
            bounds.setdefault(name, []).append(_apart(case, ranges[name].spread))
    return Expected(
        {name: np.stack(each) for name, each in values.items()},
        {name: np.stack(each) for name, each in bounds.items()},
        np.stack(empty),
    )


def outputs(case: Case, fields: Iterable[Mapping[str, Any]]) -> dict[str, Matrix]:
    """Return the results of other problems in place of those of a case, without bounds."""
    made: dict[str, list[Matrix]] = {}
    for own in fields:
        problem = Problem(**own)
        given = {name: np.asarray(each) for name, each in problem.given.items()}
        with np.errstate(all="ignore"):  # a wrong way may overflow
            found = run(plan(problem), given)
        for name in _names(case):
            made.setdefault(name, []).append(_apart(case, found[name]))
    return {name: np.stack(each) for name, each in made.items()}


def _names(case: Case) -> tuple[str, ...]:
    return ("O",) if case.upstream is None else ("O", *GRADIENTS)


def _apart(case: Case, matrix: Matrix) -> Matrix:
    if matrix.ndim == 3:
        return matrix
    return np.asarray(matrix.reshape(len(matrix), case.q.shape[1], -1).swapaxes(0, 1))


@np.errstate(all="ignore")  # a wrong way may overflow
def _ranges(problem: Problem, stored: float, accumulated: float) -> tuple[Plan, dict[str, Range]]:
    """Return the steps of a problem, and the range of each in arithmetic of these errors."""
    steps = plan(problem)
    given = {name: np.asarray(each) for name, each in problem.given.items()}
    exact = run(steps, given)
    ranges = {name: Range.at(each) for name, each in given.items()}
    largest: dict[str, float] = {}
    for step in steps:
        inputs = [ranges[name] for name in step.inputs]
        operation, value = step.operation, exact[step.name]
        reached = operation.reach(*inputs)
        count = sum(operation.cost(*(each.low.shape for each in inputs))) / max(1, value.size)
        error = stored * np.abs(value) + (count + 1) * accumulated * _terms(step, inputs, value)
        for name in largest.keys() & {*step.inputs}:  # their rows need not sum to exactly 1
            error = error + 2 * accumulated * largest[name] * _terms(step, inputs, value)
        if step.role == "weights":  # exp(s - log of the sum) rounds a number as large as the scores
            scores = np.where(np.isfinite(exact[step.inputs[0]]), exact[step.inputs[0]], 0.0)
            largest[step.name] = np.abs(scores).max(initial=0.0)
        error = np.where(np.isfinite(value), error + EXACT * np.abs(value), 0.0)
        low, high = np.minimum(reached.low, value), np.maximum(reached.high, value)
        spread = np.maximum(high - value, value - low)
        spread = np.where(np.isfinite(value), spread, 0.0) + error
        ranges[step.name] = Range.around(value, np.nan_to_num(spread))
    return steps, ranges


def _terms(step: Step, inputs: list[Range], value: Matrix) -> Matrix:
    """Return the sum of the absolute values of the terms of each entry."""
    sizes = [np.maximum(*map(np.abs, each)).astype(float) for each in inputs]
    if not step.operation.is_rational or not all(np.isfinite(each).all() for each in sizes):
        return np.abs(value)
    both = step.operation.reach(*(Range(-each, each) for each in sizes))
    return np.asarray(np.maximum(np.abs(both.low), np.abs(both.high)))
