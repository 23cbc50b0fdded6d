"""`attncalc export` of a set for a class: every student's version of each problem."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from attncalc.base.errors import OutputError, about
from attncalc.base.text import amount
from attncalc.base.workers import cores, mapped
from attncalc.cli.commands import marking
from attncalc.cli.commands.refusals import refuse_of_a_set
from attncalc.cli.streams import counted
from attncalc.cli.targets import Output, Target, check_targets, deliver
from attncalc.exporting import gradescope, moodle, numbas, prairielearn, stack
from attncalc.exporting.rules import also_counted, course_of
from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.languages.catalogue import catalogue
from attncalc.reading import read_problem
from attncalc.reading.roster import path_name
from attncalc.reading.sets import ClassSet, read_set
from attncalc.writing.files import Content

TITLE = "Attention"
Versions = Sequence[Sequence[Any]]
"""The versions of each problem, in the order of the class."""


def export_class(flags: Mapping[str, Any], target: Target, points: Fraction | None) -> None:
    """Write all versions of a set's problems, and print how to distribute them."""
    system = flags["to"]
    refuse_of_a_set(flags)
    given = read_set(Path(flags["file"]))
    target = _target(target, system, given)
    check_targets(target)  # again, since inputs are known now
    rules = marking.rules_from({**flags, "atol": None, "rtol": None})
    samples = marking.keys_of_one_student(given, rules)
    rules = marking.with_known_steps(rules, flags, *samples)
    versions = _versions(given, partial(_version, system, rules, points))
    files, notes = WRITERS[system](given, versions)
    place = target.place or Path("-")
    for name, key in zip(given.problems, () if flags["steps"] else samples, strict=False):
        course = course_of(key, marking.rules_of_one(rules, key), points)
        notes += tuple(f"problem {name}: {said}" for said in also_counted(key, course))
    named = {place / name if target.is_folder else place: files[name] for name in files}
    count = f"{amount(len(given.problems), 'problem')} in {len(given.students):,} versions"
    deliver(Output(target, named, (*notes, f"{count}: {GIVEN_OUT[system]}")))


def _target(target: Target, system: str, given: ClassSet) -> Target:
    """Return the target: a folder of autograders if there are several problems."""
    if system != "gradescope" or len(given.problems) == 1:
        return target
    assert target.place is not None
    if target.place.suffix:
        raise OutputError(
            f"{target.place}: an assignment in Gradescope has one problem, and the set has "
            f"{len(given.problems)}: name a folder for their zips, as -o autograders/"
        )
    return Target(target.place, is_folder=True)


def _versions(given: ClassSet, make: Callable[[tuple[Path, str]], Any]) -> list[list[Any]]:
    things = [
        (handed.file, student.name)
        for problem in range(len(given.problems))
        for student, handed in zip(
            given.students, (row[problem] for row in given.handed), strict=True
        )
    ]
    made = list(counted(mapped(make, things, cores()), len(things)))
    each = len(given.students)
    return [made[start : start + each] for start in range(0, len(made), each)]


def _version(system: str, rules: Rules, points: Fraction | None, thing: tuple[Path, str]) -> Any:
    """Return one student's version of a problem, with its rules; in Moodle, as a question."""
    file, name = thing
    with about(str(file)):
        key = key_of(read_problem(file), rules)
        course = course_of(key, marking.rules_of_one(rules, key), points)
        in_moodle = {"moodle": moodle.question, "stack": stack.question}.get(system)
        return in_moodle(key, course, name) if in_moodle else (key, course)


Written = tuple[Mapping[Path, Content], tuple[str, ...]]
"""Files, within the target if it is a folder, and notes."""


def _quiz(note: str, given: ClassSet, versions: Versions) -> Written:
    parts: list[str] = []
    for name, questions in zip(given.problems, versions, strict=True):
        parts += [moodle.category(f"attncalc, problem {name}"), *questions]
    return {Path(): moodle.quiz(parts)}, (note,)


def _exam(_: ClassSet, versions: Versions) -> Written:
    title = catalogue(versions[0][0][0].problem.language).say(TITLE)
    return {Path(): numbas.exam(title, map(numbas.question, versions))}, (numbas.NOTE,)


def _autograders(given: ClassSet, versions: Versions) -> Written:
    made = {}
    for name, own in zip(given.problems, versions, strict=True):
        problems = [key.problem for key, _ in own]
        files = gradescope.of_class(given.students, problems)
        made[Path(f"{path_name(name, 'problem')}.zip")] = gradescope.autograder(
            files, own[0][1], problems[0].language
        )
    points, *others = zip(*(each.notes for each in made.values()), strict=True)
    if len(made) > 1:
        points = tuple(map("problem {}: {}".format, given.problems, points))
    notes = (*points, *(each[0] for each in others))
    return {name: each.content for name, each in made.items()}, notes


def _questions(given: ClassSet, versions: Versions) -> Written:
    several = len(given.problems) > 1
    return {
        Path(path_name(name, "problem") if several else "", file): content
        for name, own in zip(given.problems, versions, strict=True)
        for file, content in prairielearn.of_class(own).items()
    }, prairielearn.NOTES


WRITERS: Mapping[str, Callable[[ClassSet, Versions], Written]] = {
    "gradescope": _autograders,
    "moodle": partial(_quiz, moodle.NOTE),
    "numbas": _exam,
    "prairielearn": _questions,
    "stack": partial(_quiz, stack.NOTE),
}
GIVEN_OUT = {
    "gradescope": "each student is marked by their own, found by id, e-mail address or name",
    **dict.fromkeys(("numbas", "prairielearn"), "each student gets a random one of each problem"),
    **dict.fromkeys(
        ("moodle", "stack"),
        "a category for each problem, of which a quiz can take a random question",
    ),
}
"""How versions are assigned: only Gradescope tells whose submission it is."""
