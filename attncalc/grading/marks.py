"""An answer, marked: the status of each entry, and what explains those that are wrong."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from attncalc.grading.rules import STATUSES, Rules, Status
from attncalc.numbers.types import Matrix, Place
from attncalc.problem.fields import LINES
from attncalc.problem.step import Step

if TYPE_CHECKING:  # whoever solves and never marks imports this module, and no more of the room
    from attncalc.grading.key import Key, Style
    from attncalc.grading.lines import LineMark
    from attncalc.grading.rules import Cause
    from attncalc.reading.answers.answer import Answer, Unread, WrittenMatrix


def are(statuses: Matrix, *wanted: Status) -> Matrix:
    """Say which entries, by the numbers of their statuses, have one of these."""
    table = np.array([each in wanted for each in STATUSES])
    found: Matrix = table[statuses]
    return found


@dataclass(frozen=True, eq=False)
class StepMarks:
    """One step of an answer, marked. Matrices are as the plan has them.

    Parameters
    ----------
    step
        The step.
    written
        What was written; None where the step is asked for and was not found.
    statuses
        The status of each entry, as its number in `STATUSES`.
    expected
        What each entry should be: of the key, or what follows from the script's own values.
    causes
        What went wrong, where a wrong recipe gives every entry; several: one cannot tell which.
    is_repeated
        Whether the same cause was charged for in an earlier step.
    problem
        What is wrong with the matrix as a whole: its shape, though that may follow.
    from_mistakes
        Where earlier mistakes lead to another value than the key's.
    way
        How it was rounded on the way, where that explains what is else wrong.
    misread
        The earlier matrices of another shape than the key's from which it is marked.
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

    @cached_property
    def counts(self) -> Mapping[Status, int]:
        """How many entries have each status."""
        found = np.bincount(self.statuses.ravel(), minlength=len(STATUSES)).tolist()
        return dict(zip(STATUSES, found, strict=True))

    def count(self, *statuses: Status) -> int:
        """Return how many entries have one of these statuses."""
        return sum(self.counts[each] for each in statuses)

    def status(self, place: Place) -> Status:
        """Return the status of one entry."""
        return STATUSES[int(self.statuses[place])]

    def places(self, *statuses: Status) -> Iterator[Place]:
        """Yield the places of the entries that have one of these statuses."""
        if not self.count(*statuses):
            return
        found = are(self.statuses, *statuses)
        for index in np.flatnonzero(found):  # a place at a time: few are asked for, of millions
            yield tuple(int(each) for each in np.unravel_index(index, found.shape))

    @property
    def cause(self) -> "Cause | None":
        """The cause, where one alone fits."""
        return self.causes[0] if len(self.causes) == 1 else None

    @property
    def from_own(self) -> bool:
        """Whether any entry was judged by the script's own earlier values."""
        return self.count(Status.FOLLOWS) > 0

    @property
    def is_right(self) -> bool:
        """Whether every entry is correct, or differs by rounding alone."""
        return self.count(*(each for each in Status if each.is_right)) == self.statuses.size

    def credit(self, rules: Rules) -> Fraction:
        """Return the share of the step that is earned."""
        if not self.statuses.size:
            return Fraction(0)
        counts = ((each, count) for each, count in self.counts.items() if count)
        earned = sum((rules.credit(each) * count for each, count in counts), Fraction(0))
        wrong, lost = self.count(Status.WRONG, Status.WRONG_SHAPE), self.deduction(rules)
        if self.is_repeated:
            earned += wrong * rules.credit(Status.FOLLOWS)
        elif lost is not None:
            earned = max(earned + wrong - lost * self.statuses.size, Fraction(0))
        return earned / self.statuses.size

    def deduction(self, rules: Rules) -> Fraction | None:
        """Return the share of the step that is lost for its cause; None where entries count."""
        return None if self.is_repeated else rules.deduction(self.causes)


class Wrong(NamedTuple):
    """The first wrong entry; `place` is None where a matrix has the wrong shape."""

    marks: StepMarks
    place: Place | None


@dataclass(frozen=True, eq=False)
class Marking:
    """An answer, marked.

    Parameters
    ----------
    key
        What it was compared with.
    answer
        What was written.
    steps
        The steps that are asked for, in the order of the plan.
    rules
        How it was marked, with `asked` for what was counted.
    style
        How the script rounds, where that is not the key's way and explains every such entry.
    not_asked
        Names of matrices that are no step of this problem.
    lines
        The lines of the map, where they are asked for.
    passed
        The steps that are left out on the way to a written later one, each with that one.
    """

    key: "Key"
    answer: "Answer"
    steps: tuple[StepMarks, ...]
    rules: Rules
    style: "Style | None" = None
    not_asked: tuple[str, ...] = ()
    lines: "tuple[LineMark, ...]" = ()
    passed: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        """Whether every entry is correct or rounding, and every line leads where it should."""
        return all(marks.is_right for marks in self.steps) and all(
            line.status is Status.CORRECT for line in self.lines
        )

    @cached_property
    def credits(self) -> Mapping[str, Fraction]:
        """The share of each step that is earned."""
        return {marks.step.name: marks.credit(self.rules) for marks in self.steps}

    @property
    def is_provisional(self) -> bool:
        """Whether something was not read that could be a matrix, or a line that is missing."""
        return self.answer.has_unread_matrix or bool(self.unread_lines)

    @property
    def unread_lines(self) -> "tuple[Unread, ...]":
        """What was not read and seems to be of the map, where lines of the map are missing."""
        is_missing = any(line.status is Status.BLANK for line in self.lines)
        return tuple(each for each in self.answer.unread if each.of_map and is_missing)

    @property
    def is_done(self) -> bool:
        """Whether all of it is right, and nothing that could be a matrix is unread."""
        return self.is_right and not self.is_provisional

    @property
    def not_found(self) -> tuple[str, ...]:
        """What was asked for and is nowhere in the answer: steps, and "connections" for the map."""
        steps = tuple(marks.step.name for marks in self.steps if marks.written is None)
        has_no_map = bool(self.lines) and all(line.written is None for line in self.lines)
        return (*steps, LINES) if has_no_map else steps

    @property
    def not_counted(self) -> tuple[str, ...]:
        """What is in the answer and was not asked for: steps, and "connections" for the map."""
        asked = self.rules.asked or ()
        steps = (name for name in self.key.steps if name in self.answer.matrices)
        drawn = () if self.answer.connections is None else (LINES,)
        return tuple(name for name in (*steps, *drawn) if name not in asked)

    @cached_property
    def first_wrong(self) -> Wrong | None:
        """The first wrong entry, in the order of the steps, row by row."""
        for marks in self.steps:
            if marks.count(Status.WRONG_SHAPE):
                return Wrong(marks, None)
            for place in marks.places(Status.WRONG):
                return Wrong(marks, place)
        return None
