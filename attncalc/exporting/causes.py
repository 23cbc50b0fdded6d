"""What well-known mistakes make of each step, for systems that cannot search for causes.

The results follow from the key's own earlier steps, so they explain a step if an answer has these
right. Entries that have a number of the key, such as those of a transposed matrix, are stated by
their places in it: no digit of the key is in them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.base.types import Range
from attncalc.exporting.rules import Course
from attncalc.grading.causes import made_instead
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.grading.rules import Cause
from attncalc.languages.catalogue import catalogue

FINER = 4
"""Decimals of bounds in addition to those of the problem."""


def steps_before(key: Key, course: Course) -> dict[str, list[str]]:
    """Return the asked steps that each asked step depends on."""
    before = {name: key.before[name] - {name} for name in course.steps}
    return {name: [each for each in course.steps if each in before[name]] for name in before}


def mistakes(versions: Sequence[tuple[Key, Course]]) -> dict[str, Any]:
    """Return the mistakes as data: `clauses`, and for each version its steps.

    A step has a list for each mistake: its code, the number of its clause, and its lowest and its
    highest numbers, entry by entry in the layout of the plan; or instead places in the key from 1,
    below 0 for the other sign.
    """
    clauses: dict[str, int] = {}
    found = [_of_version(key, course, clauses) for key, course in versions]
    key, course = versions[0]
    return {"clauses": list(clauses), "before": steps_before(key, course), "mistakes": found}


def _of_version(key: Key, course: Course, clauses: dict[str, int]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for name, before in steps_before(key, course).items():
        points = {each: key.shown[each] for each in before}
        known = Known(key, key.slack, points, {each: key.ranges[each] for each in before})
        finite = [
            each for each in made_instead(known, key.steps[name]) if np.isfinite(each[1]).all()
        ]
        entries = (
            [cause.code, _numbered(cause, name, key, clauses), *_numbers(made, key, name)]
            for cause, made in finite
        )
        found[name] = list({repr(each): each for each in entries}.values())
    return found


def _numbered(cause: Cause, name: str, key: Key, clauses: dict[str, int]) -> int:
    """Return the number of a clause in the language of the problem."""
    says = cause.says if cause.step == name else f"{cause.says} (in {cause.step})"
    return clauses.setdefault(catalogue(key.problem.language).say(says), len(clauses))


def _numbers(made: Range, key: Key, name: str) -> list[list[float]]:
    """Return the bounds of the entries of a result, or their places in the key."""
    decimals, shown = key.problem.decimals, key.shown[name]
    middle = made.middle.round(decimals)
    is_same = abs(middle.reshape(-1, 1)) == abs(shown.ravel())
    if is_same.any(axis=1).all():
        places = is_same.argmax(axis=1)
        is_turned = (middle.ravel() < 0) != (shown.ravel()[places] < 0)
        return [np.where(is_turned, -1 - places, places + 1).tolist()]
    room = 10.0 ** -(decimals + FINER)
    ends = (made.low - room, made.high + room)
    return [each.round(decimals + FINER).ravel().tolist() for each in ends]
