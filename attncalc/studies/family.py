"""A family of problems: one plan, run at once in floats over matrices with a leading axis.

Every matrix of a family is (problems, heads, rows, columns), with 1 for an axis without
differences.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, reduce

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import round_floats
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.equations.operations.entrywise import Multiply, MultiplyEach
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.problem.fields import own_name
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, Step, run
from attncalc.solving.plan import plan
from attncalc.solving.solution import Solution
from attncalc.studies.changes import Change, Infinity, Value
from attncalc.studies.watched import Matrices, beyond_floats

MOST_UNASKED = 10_000_000
"""Solves that require no confirmation."""
MOST_COUNTED = 10**18
"""The largest number of solves whose time is estimated."""
LONGEST_UNASKED = 10.0
"""Seconds."""
OF_DRAW, OF_VALUE, OF_PROBLEM = 2e-6, 1e-4, 5e-3
"""Seconds of a solve: of a draw, of a value with its digits, of one with its plan."""
OF_SCORE, OF_NUMBER = 4e-8, 4e-9
"""Seconds of each score, and of each multiply-add."""
AT_ONCE = 2**20
"""Scores that are computed at once: more would only require more memory."""
_ANY, _ANOTHER = Fraction(1, 2), Fraction(1, 3)
"""Two scales with a separate step; where the plans differ, a scale is read."""
Point = tuple[Value, ...]


def check_count(problem: Problem, solves: int, each: float, *, agreed: bool) -> None:
    """Refuse a study that takes very long, unless `agreed`.

    Raises InputError naming the count and the estimated time; or for a problem too long to keep its
    scores.

    each: the seconds of a solve, in addition to those of its scores: `OF_DRAW` or `OF_VALUE`.
    agreed: whether to run even if it takes very long.
    """
    if problem.is_long:
        scores = problem.most_scores
        raise InputError(f"studies are for up to 4,000,000 scores: this problem has {scores:,}")
    attentions = problem.attentions
    scores = sum(of.scores for of in attentions)
    numbers = sum(matrix.size for matrix in problem.given.values())
    most = max((max(of.n, of.m) for of in attentions), default=problem.n)
    products = sum(of.scores * (of.d_k + of.d_v) for of in attentions) + numbers * most
    seconds = min(solves, MOST_COUNTED) * (each + OF_SCORE * scores + OF_NUMBER * products)
    if agreed or (solves <= MOST_UNASKED and seconds <= LONGEST_UNASKED):
        return
    raise InputError(
        f"this is {solves:,} solves, which would take about {duration(seconds)}: "
        "reduce them, or pass --yes"
    )


def duration(seconds: float) -> str:
    """Return a time as text.

    >>> duration(5), duration(600), duration(9000)
    ('5 seconds', '10 minutes', '2.5 hours')
    """
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{max(1, round(seconds))} seconds"


@dataclass(frozen=True, eq=False)
class ProblemFamily:
    """Problems that differ only in some matrices, or in their scale.

    problem: the original problem.
    """

    problem: Problem

    def solve(
        self, changed: Matrices, scales: Matrices | None = None, until: str = ""
    ) -> dict[str, Matrix]:
        """Return every given matrix and every step of all problems, by name.

        Returns arrays of floats, (problems or 1, heads or 1, rows, columns), tokens as rows. Raises
        InputError if numbers exceed floats.

        changed: the matrices in which they differ, in the layout of the problem: (problems, …).
        scales: the scales in which they differ, such as "scale" or "1.scale": (problems,).
        until: the last step that is computed; "" for all of them.
        """
        given = {**self._given, **{name: self._turned(name, changed[name]) for name in changed}}
        rounds = self.problem.rounding == EACH_STEP
        after = partial(round_floats, decimals=self.problem.decimals) if rounds else None
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            plan_of_all = self._scaled(scales) if scales else self._plan
            names = [step.name for step in plan_of_all]
            steps = run(plan_of_all[: names.index(until) + 1 if until else None], given, after)
        *_, last = steps
        # in an attention, every overflow reaches the outputs; in layers, a ReLU replaces -∞ by 0
        others = (step.name for step in plan_of_all if step.name in steps and step.role != "masked")
        for name in [last] if self.problem.is_alone else others:
            if not np.isfinite(steps[name]).all():
                raise beyond_floats(name)
        return {**given, **steps}

    @property
    def chunk(self) -> int:
        """The best number of problems to compute at once."""
        return max(1, AT_ONCE // numbers_of(self.problem))

    @cached_property
    def _plan(self) -> Plan:
        return plan(self.problem)

    def _scaled(self, scales: Matrices) -> Plan:
        """Return the plan with a scale for each problem."""
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
        """Return given matrices with tokens as rows and weights (in, out)."""
        turned: Matrix = matrices.reshape(len(matrices), -1)[:, self.problem.places_of(name)]
        return turned if turned.ndim == 4 else turned[:, np.newaxis]


def numbers_of(problem: Problem) -> int:
    """Return the approximate number of numbers of a problem: scores, and factors of tokens."""
    scores = sum(each.scores for each in problem.attentions)
    given = sum(matrix.size for matrix in problem.given.values())
    if problem.is_alone:
        return scores + given
    tokens = max(int(matrix.shape[-2]) for matrix in problem.given.values())
    return scores + given + tokens * sum(int(m.shape[-1]) for m in problem.given.values())


def _differ(step: Step, other: Step) -> bool:
    """Return whether two steps multiply by different scales."""
    one, another = step.operation, other.operation
    return (
        isinstance(one, Multiply) and isinstance(another, Multiply) and one.factor != another.factor
    )


def in_family(matrix: Matrix) -> Matrix:
    """Return a matrix of one problem as that of a family, (1, heads or 1, rows, columns)."""
    return matrix.reshape((1,) * (4 - matrix.ndim) + matrix.shape)


def of_solution(solution: Solution, *, exactly: bool = True) -> dict[str, Matrix]:
    """Return the given matrices and the steps of a solution as a family of one.

    exactly: whether the steps are the floats nearest to exact values, or results of float
        arithmetic.
    """
    given = {name: in_family(matrix) for name, matrix in solution.problem.given.items()}
    found = solution.carried if exactly else solution.floats
    steps = {name: in_family(each.astype(np.float64)) for name, each in found.items()}
    return {**given, **steps}


def chunks(count: int, size: int) -> Iterator[slice]:
    """Yield the chunks in which many problems are computed.

    >>> list(chunks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def families(
    problem: Problem, changes: tuple[Change, ...], points: Sequence[Point], until: str = ""
) -> Iterator[tuple[Matrices, int]]:
    """Yield the problems at these points, solved: as few families as possible, in order.

    With the name of a step, later steps are not computed.
    """
    if not all(is_batched(change) for change in changes) or any(
        isinstance(value, Infinity) for point in points for value in point
    ):
        for point in points:
            yield ProblemFamily(at_point(problem, changes, point)).solve({}, until=until), 1
        return
    columns = [np.array([float(value) for value in column]) for column in zip(*points, strict=True)]
    matrices: dict[str, Matrix] = {}
    scales: dict[str, Matrix] = {}
    for change, values in zip(changes, columns, strict=True):
        if change.is_setting:
            scales[change.name] = values
        else:
            before = matrices.get(change.name, problem.stored(change.name)[np.newaxis])
            matrices[change.name] = change.on_each(before, values)
    yield ProblemFamily(problem).solve(matrices, scales, until), len(points)


def is_batched(change: Change) -> bool:
    """Return whether problems that differ only in this have one plan."""
    return not change.is_setting or (own_name(change.name) == "scale" and change.is_smooth)


def at_point(problem: Problem, changes: Sequence[Change], point: Point) -> Problem:
    """Return the problem at a point, exactly; an error names the value."""
    try:
        pairs = zip(changes, point, strict=True)
        return reduce(lambda changed, pair: pair[0].applied(changed, pair[1]), pairs, problem)
    except InputError as error:
        texts = ", ".join(change.text for change in changes)
        raise InputError(f"{quoted(texts)}: {error}") from None
