"""The rules of marking for an exported problem: rules, points, and asked steps."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.text import in_json, of_each
from attncalc.grading.credit import all_asked
from attncalc.grading.key import Key
from attncalc.grading.rules import Rules
from attncalc.languages.catalogue import ENGLISH
from attncalc.problem.fields import LINES
from attncalc.reading.roster import Student

BY_NAME = ("weights", "deductions")
PENALTIES = ("follow_penalty", "rounding_penalty", "precision_penalty")


class Versions(NamedTuple):
    """A problem with a version for each student of a class; alone with one, and no students.

    made: for each version its key and course, or what `version` of the system's module makes of
        them.
    """

    made: Sequence[Any]
    name: str = ""
    students: Sequence[Student] = ()
    language: str = ENGLISH


Exported = tuple[Mapping[str, str | bytes], tuple[str, ...]]
"""Files by their places in the folder of a system, or a single file; and notes."""


@dataclass(frozen=True)
class Course:
    """The rules of marking in a course, with the asked steps: the same for all students."""

    rules: Rules

    @property
    def asked(self) -> tuple[str, ...]:
        """The steps that are asked for, and "connections" for the map."""
        return self.rules.asked or ()

    @property
    def steps(self) -> list[str]:
        """The asked steps, without the map."""
        return [name for name in self.asked if name != LINES]

    def most(self, name: str) -> Fraction:
        """Return the largest points of a step, or of the map."""
        weight, points = self.rules.weight(name), self.rules.points
        return weight if points is None else weight * points / self._total

    @property
    def _total(self) -> Fraction:
        return sum(map(self.rules.weight, self.asked), Fraction(0))

    @property
    def possible(self) -> Fraction:
        """The points of a flawless answer."""
        return self._total if self.rules.points is None else self.rules.points


def course_of(
    key: Key, rules: Rules, points: Fraction | None = None, *, has_choices: bool = False
) -> Course:
    """Return the rules of a problem: the counted steps do not depend on an answer.

    By default, every step counts except those that an answer may skip, and the map of the only
    attention. Of a single problem, a system without drop-downs does not ask for the map.

    Raises InputError if none of the requested steps counts, or one is not a step of the problem.
    """
    said = rules.asked if rules.asked is not None else key.problem.asked
    known = (*key.steps, *((LINES,) if len(key.problem.attentions) == 1 else ()))
    if said is None:
        between = {name for name, step in key.steps.items() if step.is_between}
        drawn = {LINES} if has_choices or key.problem.code else set()
        said = tuple(name for name in known if name in drawn or name in {*key.steps} - between)
    for name in said:
        if name not in known:
            raise InputError(f"{name} is required but is not one of {', '.join(known)}")
    wanted = tuple(name for name in known if name in said)
    if not sum(map(rules.weight, wanted)):
        raise InputError("no required step counts: give a step a --weight above 0")
    may_skip = rules.asked is None and key.problem.asked is None
    return Course(replace(rules, asked=wanted, may_skip=may_skip, points=points))


def also_counted(key: Key, course: Course) -> tuple[str, ...]:
    """Return the note on steps that `check` counts and an export leaves out, if there are any."""
    others = [name for name in all_asked(key, Rules()) if name not in course.asked]
    same = "--steps, or asked in the problem, makes both count the same steps"
    is_said = key.problem.asked is not None or not others
    return () if is_said else (f"attncalc check also counts {of_each(others)}: {same}",)


def write_course(course: Course) -> str:
    """Return it as JSON, its numbers as fractions."""
    rules = course.rules
    values: dict[str, Any] = {name: str(getattr(rules, name)) for name in PENALTIES}
    for name in BY_NAME:
        values[name] = {each: str(number) for each, number in getattr(rules, name).items()}
    points = None if rules.points is None else str(rules.points)
    said = {**values, "asked": list(course.asked), "may_skip": rules.may_skip, "points": points}
    return in_json(said, indent=2) + "\n"


def read_course(path: Path) -> Course:
    """Return what `write_course` wrote."""
    said = json.loads(path.read_text(encoding="utf-8"))
    there = [name for name in (*PENALTIES, "points") if said[name] is not None]
    rules: dict[str, Any] = {name: Fraction(said[name]) for name in there}
    for name in BY_NAME:
        rules[name] = {each: Fraction(number) for each, number in said[name].items()}
    return Course(Rules(**rules, asked=tuple(said["asked"]), may_skip=said["may_skip"]))
