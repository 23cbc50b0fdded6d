"""`attncalc export` of a set for a class: every student's version of each problem, in one file."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from attncalc.base.errors import InputError, about
from attncalc.base.sources import remember
from attncalc.base.workers import cores, mapped
from attncalc.cli.commands.marking import (
    keys_of_one_student,
    rules_from,
    rules_of_one,
    with_known_steps,
)
from attncalc.cli.commands.refusals import refuse_of_a_set
from attncalc.cli.progress import reporting
from attncalc.cli.targets import Target, check_targets, deliver, output
from attncalc.exporting.moodle import NOTE as OF_MOODLE
from attncalc.exporting.moodle import category, quiz
from attncalc.exporting.moodle import question as in_moodle
from attncalc.exporting.numbas import NOTE as OF_NUMBAS
from attncalc.exporting.numbas import exam
from attncalc.exporting.numbas import question as in_numbas
from attncalc.exporting.rules import course_of
from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.reading import read_problem
from attncalc.reading.sets import ClassSet, read_set

TITLE = "Attention"


class _Way(NamedTuple):
    """The request, and the system."""

    system: str
    rules: Rules
    points: Fraction | None


def export_class(flags: Mapping[str, Any], target: Target, points: Fraction | None) -> None:
    """Write all versions of a set's problems, and print how to distribute them."""
    system = flags["to"]
    refuse_of_a_set(flags)
    given = read_set(Path(flags["file"]))
    if system not in WRITERS:
        one = given.handed[0][0].file
        raise InputError(
            f"{flags['file']}: class sets go to Moodle or Numbas; for this system, export one "
            f"problem, as {one}"
        )
    for row in given.handed:
        for handed in row:
            remember(handed.file)
    check_targets(target)  # again, since inputs are known now
    rules = rules_from({**flags, "atol": None, "rtol": None})
    samples = keys_of_one_student(given, rules)
    way = _Way(system, with_known_steps(rules, *samples), points)
    versions = _versions(given, way)
    content = WRITERS[system](given.problems, versions)
    deliver(output(target, content, NOTES[system], _counted(given, system)))


def _versions(given: ClassSet, way: _Way) -> list[list[Any]]:
    """Return each student's version of each problem, by problem."""
    things = [
        (handed.file, student.name)
        for problem in range(len(given.problems))
        for student, handed in zip(
            given.students, (row[problem] for row in given.handed), strict=True
        )
    ]
    made: list[Any] = []
    with reporting() as report:
        for one in mapped(partial(_version, way), things, cores()):
            made.append(one)
            if report is not None:
                report(len(made), len(things))
    each = len(given.students)
    return [made[start : start + each] for start in range(0, len(made), each)]


def _version(way: _Way, thing: tuple[Path, str]) -> Any:
    """Return one student's version of a problem, as the system has questions."""
    file, name = thing
    with about(str(file)):
        key = key_of(read_problem(file), way.rules)
        course = course_of(key, rules_of_one(way.rules, key), way.points)
        if way.system == "moodle":
            return in_moodle(key, course, name)
        return key, course


def _quiz(problems: Sequence[str], versions: Sequence[Sequence[Any]]) -> str:
    parts: list[str] = []
    for name, questions in zip(problems, versions, strict=True):
        parts += [category(f"attncalc, problem {name}"), *questions]
    return quiz(parts)


def _exam(_: Sequence[str], versions: Sequence[Sequence[Any]]) -> str:
    return exam(TITLE, map(in_numbas, versions))


def _counted(given: ClassSet, system: str) -> str:
    problems, versions = len(given.problems), len(given.students)
    what = "1 problem" if problems == 1 else f"{problems} problems"
    return f"{what} in {versions:,} versions: {GIVEN_OUT[system]}"


WRITERS: Mapping[str, Callable[[Sequence[str], Sequence[Sequence[Any]]], str]] = {
    "moodle": _quiz,
    "numbas": _exam,
}
NOTES = {"moodle": OF_MOODLE, "numbas": OF_NUMBAS}
GIVEN_OUT = {
    "moodle": "a category for each problem, of which a quiz can take a random question",
    "numbas": "each student gets a random one of each problem",
}
"""How versions are assigned: these systems do not know the class list."""
