"""Answers with the numbers of the problem of another student."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache

import numpy as np

from attncalc.base.errors import AttncalcError
from attncalc.grading.key import Key, key_of
from attncalc.grading.rules import Rules
from attncalc.reading import read_problem
from attncalc.reading.answers.answer import Answer
from attncalc.reading.scans import read_file
from attncalc.reading.sets import ClassSet, Paired
from attncalc.writing.reports.gradebook import Outcome, Stray

LEAST, SHARE = 12, 0.9
"""The numbers of an answer that are compared at least, and the share of them that is equal."""
FIRST, SUSPECT = 3, Fraction(3, 4)
"""Steps that the tokens give, and their mean points from which an answer is to its own problem."""
Rows = Mapping[int, tuple[Outcome, ...]]


def copied(given: ClassSet, paired: Sequence[Paired], rows: Rows, rules: Rules) -> Iterator[Stray]:
    """Yield answers whose first steps are wrong, and right for the problem of another student."""

    @cache
    def key(student: int, problem: int) -> Key:
        return key_of(read_problem(given.handed[student][problem].file), rules)

    for each in paired:
        shares = [*rows[each.student][each.problem].shares.values()][:FIRST]
        if sum(map(Fraction, shares)) >= SUSPECT * len(shares):
            continue
        own = key(each.student, each.problem)
        with suppress(AttncalcError), own.names_at_hand():
            answer = read_file(str(each.place), own.expected)
            for place, student in enumerate(given.students):
                if place != each.student and _has_numbers(answer, key(place, each.problem)):
                    why = f"its numbers are those of the problem of {student.name}"
                    yield Stray(str(each.place), why, "to review")


def _has_numbers(answer: Answer, key: Key) -> bool:
    """Return whether nearly all numbers of an answer are those of a key."""
    steps, near, equal = key.expected.steps, 10.0**-key.problem.decimals, [np.zeros(0)]
    for name, written in answer.matrices.items():
        if name in steps and written.shape == steps[name].shape:
            equal.append(np.ravel(np.abs(written.values - steps[name]) <= near))
    every = np.concatenate(equal)
    return every.size >= LEAST and bool(every.mean() >= SHARE)
