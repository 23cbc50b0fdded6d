"""Each kind of attention as an ordered list of named steps.

Q = X W_Q, K = X W_K, V = X W_V, S = Q Kᵀ, S_scaled = S / √d_k, A = softmax(S_scaled), O = A V.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from attncalc.operations import DivideBySqrt, MatMul, Multiply, Operation, Softmax
from attncalc.problem import NONE, SQRT_DK, Problem
from attncalc.rounding import Matrix

Axis = Literal["queries", "keys", "features"]


@dataclass(frozen=True)
class Step:
    """One named matrix: the operation that makes it, and what its rows and columns stand for."""

    name: str
    title: str
    operation: Operation
    inputs: tuple[str, ...]
    rows: Axis
    columns: Axis

    @property
    def formula(self) -> str:
        """The right-hand side of the step's equation, as in `X W_Q`."""
        return self.operation.formula(*self.inputs)


def plan(problem: Problem) -> tuple[Step, ...]:
    """Return the steps of `problem`, each after those it reads.

    Examples
    --------
    >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
    >>> [f"{step.name} = {step.formula}" for step in plan(problem)][3:]
    ['S = Q Kᵀ', 'S_scaled = S / √d_k', 'A = softmax(S_scaled)', 'O = A V']
    """
    asking, answering = problem.query_source, problem.key_source
    scaling = _scaling(problem)
    scores = scaling[-1].name if scaling else "S"
    return (
        Step("Q", "queries", MatMul(), (asking, "W_Q"), "queries", "features"),
        Step("K", "keys", MatMul(), (answering, "W_K"), "keys", "features"),
        Step("V", "values", MatMul(), (answering, "W_V"), "keys", "features"),
        Step("S", "scores", MatMul(transpose_right=True), ("Q", "K"), "queries", "keys"),
        *scaling,
        Step("A", "attention weights", Softmax(), (scores,), "queries", "keys"),
        Step("O", "outputs", MatMul(), ("A", "V"), "queries", "features"),
    )


def run(
    steps: tuple[Step, ...],
    given: Mapping[str, Matrix],
    after: Callable[[Matrix], Matrix] = lambda matrix: matrix,
) -> dict[str, Matrix]:
    """Take the steps in turn and return each one's matrix by name.

    Parameters
    ----------
    steps
        The plan.
    given
        The matrices the plan starts from, in any one number system.
    after
        What happens to a step's matrix before the next step reads it: rounding, say.
    """
    known = dict(given)
    for step in steps:
        known[step.name] = after(step.operation.apply(*(known[name] for name in step.inputs)))
    return {step.name: known[step.name] for step in steps}


def _scaling(problem: Problem) -> tuple[Step, ...]:
    operation: Operation
    if problem.scale == SQRT_DK:
        operation = DivideBySqrt(problem.d_k)
    elif isinstance(problem.scale, Fraction) and problem.scale != 1:
        operation = Multiply(problem.scale)
    else:
        assert problem.scale in (NONE, 1)
        return ()
    return (Step("S_scaled", "scaled scores", operation, ("S",), "queries", "keys"),)
