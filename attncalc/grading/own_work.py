"""The work of what follows from a script: a step written out as its own values lead to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from attncalc.errors import AttncalcError
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Status
from attncalc.grading.slack import stands_for_minus_infinity
from attncalc.numbers.rounding import fixed
from attncalc.numbers.types import Matrix, Place
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.problem.step import Step
from attncalc.solving.solution import Run, Solution, given_in_decimals
from attncalc.solving.work import Derivation, Work

FROM_OWN = frozenset({Status.FOLLOWS, Status.MATCHES_KEY})
"""What is said of entries that were judged by the script's own values."""


@dataclass(frozen=True, eq=False, repr=False)
class _OfScript(Solution):
    """A problem whose later steps read what was written of earlier ones.

    Parameters
    ----------
    written
        What was written, in Decimals, by step.
    """

    written: Mapping[str, Matrix] = field(default_factory=dict)

    @cached_property
    def _in_decimals(self) -> Run:
        made: dict[str, Matrix] = {}
        known = given_in_decimals(self.problem)
        with self.arithmetic():
            for step in self.plan:
                made[step.name] = step.operation.apply(*(known[each] for each in step.inputs))
                if step.name not in step.inputs:  # what is given is read as it was given
                    own = self.written.get(step.name)
                    known[step.name] = self._round_off(made[step.name]) if own is None else own
        return Run(made, {step.name: known[step.name] for step in self.plan})


class OwnWork:
    """The work of a script's steps from the values that it holds itself.

    Parameters
    ----------
    marking
        The script, marked.
    """

    def __init__(self, marking: Marking) -> None:
        self.marking = marking
        self._works: dict[str, Work | None] = {}

    def line(self, marks: StepMarks, place: Place) -> Derivation | None:
        """Return how an entry follows from earlier ones as they were written.

        Nothing where the key's work says it, or where own values were read in another way than as
        they stand there, with more digits say: no line is written that does not come to what was
        credited.
        """
        key, name = self.marking.key, marks.step.name
        expected = float(marks.expected[place])
        is_own = expected != key.shown[name][place] or marks.status(place) in FROM_OWN
        work = self._work(marks.step) if is_own else None
        try:
            line = None if work is None else work.line(name, place)
        except (AttncalcError, ArithmeticError):  # own values that leave nothing to divide by
            return None
        if work is None or line is None:
            return None
        result = float(fixed(work.solution.digits[name][place], key.problem.decimals))
        return line if result in self._credited(marks, place) else None

    def _credited(self, marks: StepMarks, place: Place) -> tuple[float, ...]:
        """Return what an entry may be: as it was expected, or as it was written and credited."""
        expected = float(marks.expected[place])
        if marks.status(place) is not Status.FOLLOWS or marks.written is None:
            return (expected,)
        return expected, float(marks.written.values[place])

    def _work(self, step: Step) -> Work | None:
        if step.name not in self._works:
            self._works[step.name] = self._made(step)
        return self._works[step.name]

    def _made(self, step: Step) -> Work | None:
        """Return the work up to a step, which reads what was written before it."""
        key, written = self.marking.key, self._written_before(step)
        if written is None:
            return None
        # by name: the step of an answer that another process marked is a copy
        names = [each.name for each in key.solution.plan]
        plan = key.solution.plan[: names.index(step.name) + 1]
        problem = replace(key.problem, rounding=EACH_STEP)  # it is read as it was written
        solution = _OfScript(problem, plan, proves=False, written=written)
        try:
            _ = solution.floats
        except (AttncalcError, ArithmeticError):
            return None
        return Work(solution)

    def _written_before(self, step: Step) -> Mapping[str, Matrix] | None:
        """Return what was written of the steps that one goes back to; nothing if a line cannot."""
        before = self.marking.key.before[step.name] - {step.name}
        found = {
            marks.step.name: self._as_written(marks)
            for marks in self.marking.steps
            if marks.step.name in before and marks.written is not None
        }
        read = {name: own for name, own in found.items() if own is not None}
        return read if len(read) == len(found) else None

    def _as_written(self, marks: StepMarks) -> Matrix | None:
        """Return a step as later ones read it: what it follows from where there are no own ones.

        Nothing where it has more digits than a line of work shows, or another shape.
        """
        assert marks.written is not None
        shown, values = self.marking.key.shown[marks.step.name], marks.written.values
        if values.shape != shown.shape:
            return None
        points = np.where(np.isnan(values), marks.expected, values)
        points = np.where(stands_for_minus_infinity(points, shown), -np.inf, points)
        texts = [fixed(value, self.marking.key.problem.decimals) for value in points.flat]
        if [float(each) for each in texts] != points.ravel().tolist():
            return None
        read = np.empty(points.size, dtype=object)
        read[:] = list(map(Decimal, texts))
        return read.reshape(points.shape)
