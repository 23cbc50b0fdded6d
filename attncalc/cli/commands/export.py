"""`attncalc export`: a problem for the system of a course."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from attncalc.api.marking import number_of
from attncalc.base.errors import InputError, OutputError
from attncalc.base.typed import quoted
from attncalc.cli.commands.marking import rules_from, with_known_steps
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.streams import note
from attncalc.cli.targets import STDOUT, Output, Target, check_targets, deliver, output, target_of
from attncalc.exporting.handed_in import PROBLEM
from attncalc.exporting.rules import Course, also_counted, course_of
from attncalc.exporting.worksheet import title_of
from attncalc.grading.key import Key, key_of
from attncalc.reading.sets import is_set
from attncalc.writing.problem_file import write_problem

NAMES = {
    "gradescope": "Gradescope",
    "moodle": "Moodle",
    "prairielearn": "PrairieLearn",
    "numbas": "Numbas",
    "stack": "STACK",
}
ENDINGS = {"gradescope": ".zip", "moodle": ".xml", "numbas": ".exam", "stack": ".xml"}
"""The file endings of systems."""
OF_MARKING = {
    "weight": None,
    "follow_penalty": "0",
    "rounding_penalty": "0",
    "precision_penalty": "1/2",
}
"""Rules that only systems with attncalc can follow, and their defaults."""


def export(flags: Mapping[str, Any]) -> None:
    """Write the problem to where it is asked for, in the form of the system."""
    system = flags["to"]
    target = _target(flags["out"], system)
    check_targets(target)
    _refuse_ignored_rules(flags, system)
    points = None if flags["points"] is None else number_of("--points", flags["points"], None)
    if points == 0:
        raise InputError("--points takes a number above 0")
    if flags["file"] is not None and is_set(flags["file"]):
        from attncalc.cli.commands.export_class import export_class

        _refuse_another_ending(target, system)
        export_class(flags, target, points)
        return
    problem = problem_from(flags, fallback="self")
    rules = rules_from({**flags, "atol": None, "rtol": None})
    key = key_of(problem, rules)
    rules = with_known_steps(rules, flags, key)
    course = course_of(key, rules, points, has_choices=system != "gradescope")
    check_targets(target)  # again, since inputs are known now
    _refuse_another_ending(target, system)
    deliver(_exported(system, key, course, target))
    for said in () if flags["steps"] else also_counted(key, course):
        note(said)


def _target(out: str | None, system: str) -> Target:
    target = target_of("--out", out)
    if system in ("moodle", "numbas", "stack"):
        if out is not None and out.endswith("/"):
            named = f"{out.rstrip('/')}{ENDINGS[system]}"
            raise OutputError(f"{out}: an export for {NAMES[system]} is one file, as -o {named}")
        return target
    if target == STDOUT:
        what = "a zip: name its file" if system == "gradescope" else "a folder: name it"
        raise OutputError(f"a problem for {NAMES[system]} is {what} with --out")
    return Target(target.place, is_folder=system == "prairielearn")


def _refuse_another_ending(target: Target, system: str) -> None:
    """Refuse a name with the ending of another form: no program would open the file."""
    ending, known = "" if target.place is None else target.place.suffix, ENDINGS.get(system)
    if target.place is None or not ending or known is None or ending.lower() == known:
        return
    raise OutputError(
        f"{target.place}: a file for {NAMES[system]} ends in {known}, not in {quoted(ending)}"
    )


def _refuse_ignored_rules(flags: Mapping[str, Any], system: str) -> None:
    if system in ("moodle", "prairielearn") and flags["points"] is not None:
        raise InputError(f"--points: in {NAMES[system]} they are set where the question is used")
    for name, default in OF_MARKING.items():
        flag = f"--{name.replace('_', '-')}"
        if system == "stack" and name != "weight" and flags[name] not in (None, default):
            raise InputError(f"{flag}: STACK has no deductions")
        if system == "moodle" and (flags[name] or None) not in (None, default):
            raise InputError(f"{flag}: Moodle marks each entry alone, and counts it as 1")


def _exported(system: str, key: Key, course: Course, target: Target) -> Output:
    module: Any = import_module(f"attncalc.exporting.{system}")  # this one alone: some load slowly
    if system == "gradescope":
        problem = {PROBLEM: "".join(write_problem(key.problem))}
        made = module.autograder(problem, course, key.problem.language)
        return output(target, made.content, *made.notes)
    if system == "prairielearn":
        assert target.place is not None
        made = module.question(key, course)
        files = {target.place / Path(name): each for name, each in made.items()}
        return Output(target, files, module.NOTES)
    if system == "numbas":
        made = module.exam(title_of(key.problem), [module.question([(key, course)])])
    else:
        made = import_module("attncalc.exporting.moodle").quiz([module.question(key, course)])
    return output(target, made, module.NOTE)
