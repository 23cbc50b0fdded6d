"""Solution: what each step of a problem comes to, and how it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Context, localcontext
from functools import cached_property

import numpy as np

from attncalc.arithmetic import Digits, as_decimals, digits_for
from attncalc.connections import Connection, connections
from attncalc.errors import InputError
from attncalc.labels import numbered
from attncalc.plan import Axis, Step, plan, run
from attncalc.problem import DISPLAY, EACH_STEP, Problem
from attncalc.rounding import Matrix, fixed, round_decimals, round_floats


@dataclass(frozen=True, eq=False)
class Solution:
    """The matrices of all steps, by name: `solution["A"]` is an array.

    Parameters
    ----------
    problem
        What was asked.
    steps
        The plan that was followed.
    """

    problem: Problem
    steps: tuple[Step, ...]

    def __getitem__(self, name: str) -> Matrix:
        """Return the matrix of one step, in float64."""
        if name not in self.values:
            raise KeyError(f"no step {name}: this problem has {', '.join(self.values)}")
        return self.values[name]

    def step(self, name: str) -> Step:
        """Return a step of the plan by its name."""
        return next(step for step in self.steps if step.name == name)

    def rounded(self, name: str) -> Matrix:
        """Return the matrix of one step at the shown decimals: Decimals, or float64 when large."""
        return self._rounded[name]

    def shown(self, name: str) -> list[list[str]]:
        """Return the matrix of one step as it is shown, half away from zero.

        Examples
        --------
        >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2.675], [4]])
        >>> solve(problem).shown("O")
        [['2.68']]
        """
        decimals = self.problem.decimals
        return [[fixed(value, decimals) for value in row] for row in self.rounded(name)]

    def row_labels(self, step: Step) -> tuple[str, ...]:
        """Return what the rows of a step stand for: tokens, by name."""
        return self._labels(step.rows, self[step.name].shape[0])

    def column_labels(self, step: Step) -> tuple[str, ...]:
        """Return what the columns of a step stand for: tokens, or the numbers of features."""
        return self._labels(step.columns, self[step.name].shape[1])

    @cached_property
    def values(self) -> Mapping[str, Matrix]:
        """Each step's matrix in float64; with `each-step` rounding, the rounded one."""
        if self.problem.rounding == EACH_STEP:
            floats = {name: matrix.astype(float) for name, matrix in self._rounded.items()}
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                floats = run(self.steps, self.problem.matrices())
        for name, matrix in floats.items():
            _refuse_overflow(name, matrix)
        return floats

    @cached_property
    def connections(self) -> tuple[Connection, ...]:
        """Which inputs influence each output most, and second."""
        return connections(self["A"], self.rounded("A") != 0)

    @cached_property
    def other_rounding(self) -> "Solution":
        """The same problem under the other rounding rule."""
        other = DISPLAY if self.problem.rounding == EACH_STEP else EACH_STEP
        return solve(replace(self.problem, rounding=other))

    @cached_property
    def _rounded(self) -> Mapping[str, Matrix]:
        digits = digits_for(self.problem)
        return self._rounded_floats() if digits is None else self._rounded_decimals(digits)

    def _rounded_decimals(self, digits: Digits) -> Mapping[str, Matrix]:
        def round_off(matrix: Matrix) -> Matrix:
            return round_decimals(matrix, self.problem.decimals, digits.guard)

        with localcontext(Context(prec=digits.precision)):
            given = as_decimals(self.problem)
            if self.problem.rounding == EACH_STEP:
                return run(self.steps, given, after=round_off)
            return {name: round_off(matrix) for name, matrix in run(self.steps, given).items()}

    def _rounded_floats(self) -> Mapping[str, Matrix]:
        def round_off(matrix: Matrix) -> Matrix:
            return round_floats(matrix, self.problem.decimals)

        if self.problem.rounding == EACH_STEP:
            with np.errstate(over="ignore", invalid="ignore"):
                return run(self.steps, self.problem.matrices(), after=round_off)
        return {name: round_off(matrix) for name, matrix in self.values.items()}

    def _labels(self, axis: Axis, size: int) -> tuple[str, ...]:
        tokens = {"queries": self.problem.queries, "keys": self.problem.keys}
        return tokens.get(axis) or numbered(size)


def solve(problem: Problem) -> Solution:
    """Work out every step of a problem.

    Parameters
    ----------
    problem
        The matrices and the conventions.

    Returns
    -------
    Solution
        `solution["A"]` is an array; `solution.shown("A")` its digits as they are handed in.

    Raises
    ------
    InputError
        When numbers grow beyond float64 on the way.

    Notes
    -----
    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V: Vaswani et al., *Attention Is All You Need*
    (2017), equation 1.

    Examples
    --------
    >>> problem = Problem(X=[[0, 0], [0, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
    >>> solve(problem)["A"]
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    solution = Solution(problem, plan(problem))
    _ = solution.values  # worked out now, so that what cannot be solved is refused here
    return solution


def _refuse_overflow(name: str, matrix: Matrix) -> None:
    finite = np.isfinite(matrix)
    if not finite.all():
        row, column = np.argwhere(~finite)[0] + 1
        raise InputError(
            f"{name}, row {row}, column {column} grows beyond the largest float64 "
            "(about 1.8e308): give smaller numbers"
        )
