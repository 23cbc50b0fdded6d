"""Candidates at a glance: solved in floats without being read and checked, as most are rejected."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from attncalc.base.rounding import round_floats
from attncalc.base.types import Matrix
from attncalc.making.drawing import stood
from attncalc.making.judging import IN_FLOATS, Judged, judged_by
from attncalc.making.wishes import Wishes
from attncalc.problem.attention.declared import DISPLAY, EACH_STEP
from attncalc.problem.problem import Problem
from attncalc.problem.step import run
from attncalc.solving.limits import refuse_overflow
from attncalc.solving.plan import plan
from attncalc.solving.solution import Run, Solution


class Glance:
    """Judges candidates that differ from a problem only in the entries of the drawn matrices.

    Floats are enough to reject a candidate. Exact decimals must accept it.

    problem: an earlier candidate.
    matrices: its drawn matrices, upright.
    """

    def __init__(self, problem: Problem, matrices: Mapping[str, Matrix]) -> None:
        self.problem = problem
        self.places = {name: _places(problem, name, each.shape) for name, each in matrices.items()}

    def judged(self, matrices: Mapping[str, Matrix], wishes: Wishes) -> Judged:
        """Return why a candidate is certainly rejected, if it is."""
        drawn = {
            name: matrix.ravel().astype(self.problem.stored(name).dtype)[self.places[name]]
            for name, matrix in matrices.items()
        }
        given = {**self.problem.given, **drawn}
        found = judged_by(IN_FLOATS, lambda: _InFloats.of(self.problem, given, self), wishes)
        return found if found.wish != "entries" else Judged()

    @cached_property
    def other(self) -> Problem:
        """The same problem under the other rounding rule."""
        rule = DISPLAY if self.problem.rounding == EACH_STEP else EACH_STEP
        return replace(self.problem, rounding=rule)


def _places(problem: Problem, name: str, shape: tuple[int, ...]) -> Matrix:
    """Return the place of each entry of a given matrix, as steps read it, in the drawn one."""
    places = np.arange(int(np.prod(shape))).reshape(shape)
    stored = stood(problem.standing, name, places)
    return problem.turned(name, stored.reshape(problem.stored(name).shape))


@dataclass(frozen=True, eq=False, repr=False)
class _InFloats(Solution):
    """The solution of a candidate in floats, with the problem of another for all but numbers."""

    given: Mapping[str, Matrix] = field(default_factory=dict)
    glance: Glance | None = None

    @classmethod
    def of(cls, problem: Problem, given: Mapping[str, Matrix], glance: Glance) -> "_InFloats":
        return cls(problem, plan(problem), proves=False, given=given, glance=glance)

    @cached_property
    def other_rounding(self) -> "_InFloats":
        assert self.glance is not None
        return _InFloats.of(self.glance.other, self.given, self.glance)

    @cached_property
    def _digits(self) -> None:
        return None

    @cached_property
    def _in_floats(self) -> Run:
        rounds = self.problem.rounding == EACH_STEP
        after = partial(round_floats, decimals=self.problem.decimals) if rounds else None
        made: dict[str, Matrix] = {}
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            carried = run(self.plan, self.given, after, made)
        refuse_overflow(carried, self.plan)
        return Run(made, carried)
