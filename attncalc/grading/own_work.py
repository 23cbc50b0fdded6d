"""The written-out work of steps that follow from the answer's own values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, cached_property

import numpy as np

from attncalc.base.errors import AttncalcError
from attncalc.base.rounding import fixed
from attncalc.base.types import Matrix, Place
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Status
from attncalc.grading.slack import stands_for_minus_infinity
from attncalc.problem.attention.declared import EACH_STEP
from attncalc.solving.solution import Run, Solution, given_in_decimals
from attncalc.solving.work import Derivation, Work

FROM_OWN = frozenset({Status.FOLLOWS, Status.MATCHES_KEY})
"""The statuses of entries that were marked by the answer's own values."""


@dataclass(frozen=True, eq=False, repr=False)
class _OfScript(Solution):
    """A problem whose later steps read the written values of earlier ones.

    written: the written matrices, in Decimals, by step.
    """

    written: Mapping[str, Matrix] = field(default_factory=dict)

    @cached_property
    def _in_decimals(self) -> Run:
        made: dict[str, Matrix] = {}
        known = given_in_decimals(self.problem)
        with self.arithmetic():
            for step in self.plan:
                made[step.name] = step.operation.apply(*(known[each] for each in step.inputs))
                if step.name not in step.inputs:  # given matrices are read as given
                    own = self.written.get(step.name)
                    known[step.name] = self._round_off(made[step.name]) if own is None else own
        return Run(made, {step.name: known[step.name] for step in self.plan})


class OwnWork:
    """The work of an answer's steps from its own values (marking: the marked answer)."""

    def __init__(self, marking: Marking) -> None:
        self.marking = marking
        self._work = cache(self._made)

    def line(self, marks: StepMarks, place: Place) -> Derivation | None:
        """Return the work of an entry from earlier ones as written, or None.

        None if the key's work is the same, or if the credited value requires more digits than are
        written: the work must give the credited value.
        """
        key, name = self.marking.key, marks.step.name
        expected = float(marks.expected[place])
        is_own = expected != key.shown[name][place] or marks.status(place) in FROM_OWN
        work = self._work(name) if is_own else None
        try:
            line = None if work is None else work.line(name, place)
        except (AttncalcError, ArithmeticError):  # own values with a divisor of 0
            return None
        if work is None or line is None:
            return None
        result = float(fixed(work.solution.digits[name][place], key.problem.decimals))
        return line if result in self._credited(marks, place) else None

    def _credited(self, marks: StepMarks, place: Place) -> tuple[float, ...]:
        """Return the possible values of an entry: the expected, or the written and credited one."""
        expected = float(marks.expected[place])
        if marks.status(place) is not Status.FOLLOWS or marks.written is None:
            return (expected,)
        return expected, float(marks.written.values[place])

    def _made(self, name: str) -> Work | None:
        """Return the work up to a step, which reads the written values before it."""
        key, written = self.marking.key, self._written_before(name)
        if written is None:
            return None
        # by name: the step of an answer that another process marked is a copy
        names = [each.name for each in key.solution.plan]
        plan = key.solution.plan[: names.index(name) + 1]
        problem = replace(key.problem, rounding=EACH_STEP)  # it is read as written
        solution = _OfScript(problem, plan, proves=False, written=written)
        try:
            _ = solution.floats
        except (AttncalcError, ArithmeticError):
            return None
        return Work(solution)

    def _written_before(self, name: str) -> Mapping[str, Matrix] | None:
        """Return the written values of the steps that one depends on; None for impossible work."""
        before = self.marking.key.before[name] - {name}
        found = {
            marks.step.name: self._as_written(marks)
            for marks in self.marking.steps
            if marks.step.name in before and marks.written is not None
        }
        read = {name: own for name, own in found.items() if own is not None}
        return read if len(read) == len(found) else None

    def _as_written(self, marks: StepMarks) -> Matrix | None:
        """Return a step as later ones read it: computed values if it was not written.

        None if it has more digits than written-out work shows, or another shape.
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
