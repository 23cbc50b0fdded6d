"""A marked answer: the status of each entry, the causes of wrong ones, and steps to review."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncalc.base.types import Matrix, Place
from attncalc.grading.rules import STATUSES, Rules, Status
from attncalc.problem.fields import LINES
from attncalc.problem.step import Step

if TYPE_CHECKING:  # solving without marking imports this module, so it imports little
    from attncalc.grading.key import Key, Style
    from attncalc.grading.lines import LineMark
    from attncalc.grading.rules import Cause
    from attncalc.reading.answers.answer import Answer, Unread, WrittenMatrix


CREDITED = (Status.CORRECT, Status.ROUNDING, Status.FOLLOWS, Status.MATCHES_KEY, Status.PRECISION)


def are(statuses: Matrix, *wanted: Status) -> Matrix:
    """Return which entries have one of these statuses, from their numbers."""
    table = np.array([each in wanted for each in STATUSES])
    return np.asarray(table[statuses])


@dataclass(frozen=True, eq=False)
class StepMarks:
    """One step of an answer, marked. Matrices are in the layout of the plan.

    written: the matrix in the answer; None if the step is asked for and was not found.
    statuses: the status of each entry, as its number in `STATUSES`.
    expected: the right value of each entry: of the key, or from the answer's own values.
    causes: the wrong recipes that give every entry; if there are several, any of them.
    is_repeated: whether points were deducted for the same cause in an earlier step.
    problem: an error of the entire matrix: its shape, though that may follow.
    from_mistakes: where earlier mistakes change the right value.
    way: the rounding within the step, if it explains differences.
    misread: the earlier matrices of another shape than the key's on which the marks are based.
    pays_for: the earlier steps that do not count, and whose causes are deducted here.
    """

    step: Step
    written: "WrittenMatrix | None"
    statuses: Matrix
    expected: Matrix
    causes: "tuple[Cause, ...]" = ()
    is_repeated: bool = False
    problem: str = ""
    from_mistakes: Matrix | bool = False
    way: "Cause | None" = None
    misread: tuple[str, ...] = ()
    pays_for: "tuple[StepMarks, ...]" = ()

    @cached_property
    def counts(self) -> Mapping[Status, int]:
        """The number of entries with each status."""
        found = np.bincount(self.statuses.ravel(), minlength=len(STATUSES)).tolist()
        return dict(zip(STATUSES, found, strict=True))

    def count(self, *statuses: Status) -> int:
        """Return the number of entries with one of these statuses."""
        return sum(self.counts[each] for each in statuses)

    def status(self, place: Place) -> Status:
        """Return the status of one entry."""
        return STATUSES[int(self.statuses[place])]

    def places(self, *statuses: Status) -> Iterator[Place]:
        """Yield the places of the entries that have one of these statuses."""
        if not self.count(*statuses):
            return
        found = are(self.statuses, *statuses)
        for index in np.flatnonzero(found):  # one place at a time: few are used, of millions
            yield tuple(int(each) for each in np.unravel_index(index, found.shape))

    @property
    def cause(self) -> "Cause | None":
        """The cause, if only one fits."""
        return self.causes[0] if len(self.causes) == 1 else None

    @property
    def from_own(self) -> bool:
        """Whether any entry was marked by the answer's own earlier values."""
        return self.count(Status.FOLLOWS) > 0

    @property
    def is_right(self) -> bool:
        """Whether every entry is correct, or differs only by rounding."""
        return self.count(*(each for each in Status if each.is_right)) == self.statuses.size

    def credit(self, rules: Rules) -> Fraction:
        """Return the earned share of the step."""
        if not self.statuses.size:
            return Fraction(0)
        counts = ((each, count) for each, count in self.counts.items() if count)
        earned = sum((rules.credit(each) * count for each, count in counts), Fraction(0))
        wrong, lost = self.count(Status.WRONG, Status.WRONG_SHAPE), self.deduction(rules)
        if self.is_repeated:
            earned += wrong * rules.credit(Status.FOLLOWS)
        elif rules.deduction(self.causes) is not None:  # instead of its wrong entries
            earned += wrong
        return max(earned / self.statuses.size - lost, Fraction(0))

    def deduction(self, rules: Rules) -> Fraction:
        """Return the share that is lost for its cause, and for those it pays for."""
        own = None if self.is_repeated else rules.deduction(self.causes)
        paid = sum((each.deduction(rules) for each in self.pays_for), Fraction(0))
        return min((own or 0) + paid, Fraction(1))


class Score(NamedTuple):
    """The earned points, and the possible ones."""

    earned: Fraction
    possible: Fraction


class Wrong(NamedTuple):
    """The first wrong entry; `place` is None if a matrix has the wrong shape."""

    marks: StepMarks
    place: Place | None


@dataclass(frozen=True, eq=False)
class Marking:
    """A marked answer.

    steps: the steps that are asked for, in the order of the plan.
    rules: the rules of marking, with `asked` for the counted steps.
    style: the rounding of the answer, if it is not the key's and explains every such entry.
    not_asked: names of matrices that are not steps of this problem.
    lines: the lines of the map, if they are asked for.
    passed: the left-out steps, each with the written later step that follows from it.
    grounds: written steps that do not count, and that counted ones are computed from.
    """

    key: "Key"
    answer: "Answer"
    steps: tuple[StepMarks, ...]
    rules: Rules
    style: "Style | None" = None
    not_asked: tuple[str, ...] = ()
    lines: "tuple[LineMark, ...]" = ()
    passed: Mapping[str, str] = field(default_factory=dict)
    grounds: tuple[StepMarks, ...] = ()

    @property
    def is_right(self) -> bool:
        """Whether every entry is correct or differs by rounding, and every line is right."""
        return all(marks.is_right for marks in self.steps) and all(
            line.status is Status.CORRECT for line in self.lines
        )

    @property
    def is_provisional(self) -> bool:
        """Whether an unread part could be a matrix, or a missing line."""
        return self.answer.has_unread_matrix or bool(self.unread_lines)

    @property
    def unread_lines(self) -> "tuple[Unread, ...]":
        """The unread parts that seem to be about the map, if lines of the map are missing."""
        is_missing = any(line.status is Status.BLANK for line in self.lines)
        return tuple(each for each in self.answer.unread if each.of_map and is_missing)

    @property
    def is_done(self) -> bool:
        """Whether all of it is right, and no unread part could be a matrix."""
        return self.is_right and not self.is_provisional

    @property
    def not_found(self) -> tuple[str, ...]:
        """The missing parts that are asked for: steps, and "connections" for the map."""
        steps = tuple(marks.step.name for marks in self.steps if marks.written is None)
        has_no_map = bool(self.lines) and all(line.written is None for line in self.lines)
        return (*steps, LINES) if has_no_map else steps

    @property
    def not_counted(self) -> tuple[str, ...]:
        """The parts that are not asked for: steps, and "connections" for the map."""
        asked = self.rules.asked or ()
        steps = (name for name in self.key.steps if name in self.answer.matrices)
        drawn = () if self.answer.connections is None else (LINES,)
        return tuple(name for name in (*steps, *drawn) if name not in asked)

    @cached_property
    def judged(self) -> tuple[StepMarks, ...]:
        """The counted steps and their grounds, in the order of the plan."""
        places = list(self.key.steps)
        both = (*self.steps, *self.grounds)
        return tuple(sorted(both, key=lambda each: places.index(each.step.name)))

    @cached_property
    def first_wrong(self) -> Wrong | None:
        """The first wrong entry, in the order of the steps, row by row."""
        for marks in self.judged:
            if marks.count(Status.WRONG_SHAPE):
                return Wrong(marks, None)
            for place in marks.places(Status.WRONG):
                return Wrong(marks, place)
        return None

    @cached_property
    def shares(self) -> Mapping[str, Fraction]:
        """The earned share of each step, and of the map if it counts.

        A left-out step earns the share of the later one, and all of it if one cause explains what
        is wrong there: the remaining steps are then right.
        """
        by_name = {marks.step.name: marks for marks in self.steps}
        shares: dict[str, Fraction] = {}
        for name in self.key.steps:
            if name in by_name:
                shares[name] = by_name[name].credit(self.rules)
            elif name in self.passed:
                later = by_name[self.passed[name]]
                is_known = bool(later.causes) and not any(each.is_slip for each in later.causes)
                shares[name] = Fraction(1) if is_known else later.credit(self.rules)
        if self.lines:
            shares[LINES] = sum((line.share for line in self.lines), Fraction(0)) / len(self.lines)
        for name in shares.keys() & self.rules.hints.keys():
            cost = self.rules.hint_cost(self.rules.hints[name])
            shares[name] = max(shares[name] - cost, Fraction(0))
        return shares

    @cached_property
    def points(self) -> Mapping[str, Score]:
        """The score of each step, and of the map, in the order of the plan: weight times share."""
        rules = self.rules
        total = sum(map(rules.weight, self.shares), Fraction(0))
        unit = rules.points / total if rules.points is not None and total else 1
        return {
            name: Score(share * rules.weight(name) * unit, rules.weight(name) * unit)
            for name, share in self.shares.items()
        } or {"": Score(Fraction(0), Fraction(0))}

    @cached_property
    def score(self) -> Score:
        """The earned and the possible points."""
        both = zip(*self.points.values(), strict=True)
        return Score(*(sum(each, Fraction(0)) for each in both))


class Flag(NamedTuple):
    """A step that a person should review, and the reason: `code` is for JSON."""

    step: str
    code: str
    says: str


def flags(marking: Marking) -> tuple[Flag, ...]:
    """Return the trivial steps of an answer that earn points, there or in later steps."""
    return tuple(flag for marks in marking.steps for flag in _of_step(marking, marks))


def _of_step(marking: Marking, marks: StepMarks) -> Iterator[Flag]:
    name = marks.step.name
    if marks.written is None or marks.count(Status.WRONG_SHAPE) or not marks.count(*CREDITED):
        return
    values, right = marks.written.values, marking.key.shown[name]
    answered = values[~np.isnan(values)]
    if answered.size < max(2, values.size) or _is_constant(right) or marks.is_right:
        return
    if _is_constant(answered):
        code, what = ("all-zeros", "zero") if answered[0] == 0 else ("constant", "the same number")
        yield Flag(name, code, f"every entry of {name} is {what}")
    elif marks.step.role == "weights" and _is_one_hot(values) and not _is_one_hot(right):
        yield Flag(name, "one-hot", f"every row of {name} is a single 1 among zeros")


def _is_constant(matrix: Matrix) -> bool:
    return bool((matrix == matrix.flat[0]).all())


def _is_one_hot(matrix: Matrix) -> bool:
    return bool(np.isin(matrix, (0.0, 1.0)).all() and (matrix.sum(axis=-1) == 1).all())
