"""Steps to review: answers that earn points with the same number everywhere."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Status

CREDITED = (Status.CORRECT, Status.ROUNDING, Status.FOLLOWS, Status.MATCHES_KEY, Status.PRECISION)


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
