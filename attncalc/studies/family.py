"""A family of problems: one plan, run at once in floats over matrices with a leading axis.

Every matrix of a family is (problems, heads, rows, columns), with 1 where all are alike.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, reduce

import numpy as np

from attncalc.equations.operations import Multiply, MultiplyEach
from attncalc.numbers.rounding import round_floats
from attncalc.numbers.types import Matrix
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step, run
from attncalc.solving.plan import plan
from attncalc.solving.solution import Solution
from attncalc.studies.watched import beyond_floats

AT_ONCE = 2**20
"""Scores that are worked out at once: more would only take more memory."""
_ANY, _ANOTHER = Fraction(1, 2), Fraction(1, 3)
"""Scales that have a step of their own; where they differ is where a scale is read."""

Matrices = Mapping[str, Matrix]


@dataclass(frozen=True, eq=False)
class Family:
    """Problems that differ in some matrices, or in their scale, and in nothing else.

    Parameters
    ----------
    problem
        The problem that they are variants of.
    """

    problem: Problem

    def solve(
        self, changed: Matrices, scales: Matrices | None = None, until: str = ""
    ) -> dict[str, Matrix]:
        """Return every given matrix and every step of all problems, by name.

        Parameters
        ----------
        changed
            The matrices in which they differ, as the problem has them given: (problems, …).
        scales
            The scales in which they differ, as "scale" or "1.scale": (problems,).
        until
            The last step that is worked out; "" for all of them.

        Returns
        -------
        dict
            Arrays of floats, (problems or 1, heads or 1, rows, columns), tokens as rows.

        Raises
        ------
        InputError
            When numbers grow beyond floats.
        """
        given = {**self._given, **{name: self._turned(name, changed[name]) for name in changed}}
        rounds = self.problem.rounding == EACH_STEP
        after = partial(round_floats, decimals=self.problem.decimals) if rounds else None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            plan_of_all = self._scaled(scales) if scales else self._plan
            steps = run(_up_to(plan_of_all, until), given, after)
        refuse_overflow_in(steps, plan_of_all, alone=self.problem.is_alone)
        return {**given, **steps}

    @property
    def chunk(self) -> int:
        """How many problems are best worked out at once."""
        return max(1, AT_ONCE // numbers_of(self.problem))

    @cached_property
    def _plan(self) -> Plan:
        return plan(self.problem)

    def _scaled(self, scales: Matrices) -> Plan:
        """Return the plan in which each problem has scales of its own."""
        problem = reduce(lambda each, name: each.with_field(name, _ANY), scales, self.problem)
        steps = plan(problem)
        for name, values in scales.items():
            factors = values.reshape(-1, 1, 1, 1)
            others = plan(problem.with_field(name, _ANOTHER))
            steps = tuple(
                step._replace(operation=MultiplyEach(factors)) if _differ(step, other) else step
                for step, other in zip(steps, others, strict=True)
            )
        return steps

    @cached_property
    def _given(self) -> dict[str, Matrix]:
        return {name: in_family(matrix) for name, matrix in self.problem.given.items()}

    def _turned(self, name: str, matrices: Matrix) -> Matrix:
        """Return matrices as given as the house knows them, turned as one matrix would be."""
        shape = matrices.shape[1:]
        # where each number goes is asked of the numbers 0, 1, 2, …: turning is never written twice
        places = self.problem.turned(name, np.arange(int(np.prod(shape))).reshape(shape))
        turned: Matrix = matrices.reshape(len(matrices), -1)[:, places]
        return turned if turned.ndim == 4 else turned[:, np.newaxis]


def numbers_of(problem: Problem) -> int:
    """Return about how many numbers a problem has: scores, and what each token is multiplied by."""
    scores = sum(each.scores for each in problem.attentions)
    given = sum(matrix.size for matrix in problem.given.values())
    if problem.is_alone:
        return scores + given
    tokens = max(int(matrix.shape[-2]) for matrix in problem.given.values())
    return scores + given + tokens * sum(int(m.shape[-1]) for m in problem.given.values())


def _up_to(steps: Plan, last: str) -> Plan:
    names = [step.name for step in steps]
    return steps[: names.index(last) + 1] if last else steps


def _differ(step: Step, other: Step) -> bool:
    """Say whether two steps multiply by different scales."""
    one, another = step.operation, other.operation
    if not (isinstance(one, Multiply) and isinstance(another, Multiply)):
        return False
    return one.factor != another.factor


def in_family(matrix: Matrix) -> Matrix:
    """Return a matrix of one problem as that of a family, (1, heads or 1, rows, columns)."""
    return matrix.reshape((1,) * (4 - matrix.ndim) + matrix.shape)


def of_solution(solution: Solution, *, exactly: bool = True) -> dict[str, Matrix]:
    """Return what a solution was given, and its steps, as those of a family of one.

    Parameters
    ----------
    solution
        The solution.
    exactly
        Whether the steps are the floats nearest to exact values, or what float arithmetic gives.
    """
    given = {name: in_family(matrix) for name, matrix in solution.problem.given.items()}
    found = solution.carried if exactly else solution.floats
    steps = {name: in_family(each.astype(np.float64)) for name, each in found.items()}
    return {**given, **steps}


def chunks(count: int, size: int) -> Iterator[slice]:
    """Yield the parts in which many problems are worked out.

    Examples
    --------
    >>> list(chunks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def refuse_overflow_in(steps: Matrices, plan_of_all: Plan, *, alone: bool) -> None:
    """Refuse outputs beyond floats: of an attention, whatever overflowed has reached them.

    In layers it has not: a ReLU makes 0 of what is below all floats.
    """
    *_, last = steps
    names = (step.name for step in plan_of_all if step.name in steps and step.role != "masked")
    for name in [last] if alone else names:
        if not np.isfinite(steps[name]).all():
            raise beyond_floats(name)
