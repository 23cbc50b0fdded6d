"""`attncalc export`: a problem, or each student's of a set for a class, for a course system."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from attncalc.api.marking import number_of
from attncalc.base.errors import InputError, OutputError, about
from attncalc.base.text import amount, as_key
from attncalc.base.typed import quoted
from attncalc.base.workers import cores, mapped
from attncalc.cli.commands.marking import (
    keys_of_one_student,
    rules_from,
    rules_of_one,
    with_known_steps,
)
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import refuse_of_a_set
from attncalc.cli.streams import counted
from attncalc.cli.targets import STDOUT, Output, Target, check_targets, deliver, target_of
from attncalc.exporting.rules import Course, Versions, also_counted, course_of
from attncalc.grading.key import Key, key_of
from attncalc.grading.rules import Rules
from attncalc.reading import read_problem
from attncalc.reading.sets import ClassSet, is_set, read_set


class System(NamedTuple):
    """A course system: its name, the ending of its file, or "" for a folder.

    module: its module in `exporting`.
    given_out: which version of a class a student gets; only Gradescope tells whose submission it
        is.
    """

    name: str
    ending: str
    module: str
    given_out: str


_AT_RANDOM = "each student gets a random one of each problem"
_IN_CATEGORIES = "a category for each problem, of which a quiz can take a random question"
_BY_NAME = "each student is marked by their own, found by id, e-mail address or name"
SYSTEMS = {
    each.module: each
    for each in (
        System("Gradescope", ".zip", "gradescope", _BY_NAME),
        System("Moodle", ".xml", "moodle", _IN_CATEGORIES),
        System("PrairieLearn", "", "prairielearn", _AT_RANDOM),
        System("Numbas", ".exam", "numbas", _AT_RANDOM),
        System("STACK", ".xml", "stack", _IN_CATEGORIES),
    )
}
OF_MARKING = {
    "weight": None,
    "follow_penalty": "0",
    "rounding_penalty": "0",
    "precision_penalty": "1/2",
}
"""Rules that only systems with attncalc can follow, and their defaults."""


class _Way(NamedTuple):
    """How problems are marked, in which system."""

    system: System
    rules: Rules
    points: Fraction | None

    def course(self, key: Key) -> Course:
        """Return the rules of a problem."""
        has_choices = self.system.module != "gradescope"
        return course_of(key, rules_of_one(self.rules, key), self.points, has_choices=has_choices)

    def version(self, key: Key, student: str = "") -> Any:
        """Return a version of a problem: its question, or what the system's module needs of it."""
        make = getattr(self.exporting, "version", None)
        course = self.course(key)
        return (key, course) if make is None else make(key, course, student)

    def of_student(self, thing: tuple[Path, str]) -> Any:
        """Return the version of a student, from its file and their name."""
        file, name = thing
        with about(str(file)):
            return self.version(key_of(read_problem(file), self.rules), name)

    @property
    def exporting(self) -> Any:
        """The module of the system: some load slowly."""
        return import_module(f"attncalc.exporting.{self.system.module}")


def export(flags: Mapping[str, Any]) -> None:
    """Write the problem, or all versions of a set's problems, in the form of the system."""
    system = SYSTEMS[flags["to"]]
    target = _target(flags["out"], system)
    check_targets(target)
    _refuse_ignored_rules(flags, system)
    points = None if flags["points"] is None else number_of("--points", flags["points"], None)
    if points == 0:
        raise InputError("--points takes a number above 0")
    rules, given = rules_from({**flags, "atol": None, "rtol": None}), None
    if flags["file"] is not None and is_set(flags["file"]):
        refuse_of_a_set(flags)
        given = read_set(Path(flags["file"]))
        target = _target_of_class(target, system, given)
        samples = keys_of_one_student(given, rules)
    else:
        samples = [key_of(problem_from(flags, fallback="self"), rules)]
    check_targets(target)  # again, since inputs are known now
    _refuse_another_ending(target, system)
    way = _Way(system, with_known_steps(rules, flags, *samples), points)
    if given is not None:
        problems = list(_of_class(given, samples, way))
    else:
        problems = [Versions([way.version(samples[0])])]
    files, notes = way.exporting.exported(problems)
    place = target.place or Path("-")
    named = {place / name if target.is_folder else place: each for name, each in files.items()}
    for problem, key in zip(problems, () if flags["steps"] else samples, strict=False):
        of_it = f"problem {problem.name}: " if given else ""
        notes += tuple(of_it + said for said in also_counted(key, way.course(key)))
    if given is not None:
        count = f"{amount(len(given.problems), 'problem')} in {len(given.students):,} versions"
        notes += (f"{count}: {system.given_out}",)
    deliver(Output(target, named, notes))


def _of_class(given: ClassSet, samples: Sequence[Key], way: _Way) -> Iterator[Versions]:
    """Yield the problems of a set, each with the versions of all students."""
    counts = Counter(as_key(student.name) for student in given.students)
    things = [
        (handed.file, student.name if counts[as_key(student.name)] == 1 else student.called)
        for versions in zip(*given.handed, strict=True)
        for student, handed in zip(given.students, versions, strict=True)
    ]
    made = list(counted(mapped(way.of_student, things, cores()), len(things)))
    each = len(given.students)
    for place, name in enumerate(given.problems):
        own, language = made[place * each : (place + 1) * each], samples[place].problem.language
        yield Versions(own, name, given.students, language)


def _target(out: str | None, system: System) -> Target:
    target = target_of("--out", out)
    if system.module in ("moodle", "numbas", "stack"):
        if out is not None and out.endswith("/"):
            named = f"{out.rstrip('/')}{system.ending}"
            raise OutputError(f"{out}: an export for {system.name} is one file, as -o {named}")
        return target
    if target == STDOUT:
        what = "a zip: name its file" if system.ending else "a folder: name it"
        raise OutputError(f"a problem for {system.name} is {what} with --out")
    return Target(target.place, is_folder=not system.ending)


def _target_of_class(target: Target, system: System, given: ClassSet) -> Target:
    """Return the target: a folder of autograders if there are several problems."""
    if system.module != "gradescope" or len(given.problems) == 1:
        return target
    assert target.place is not None
    if target.place.suffix:
        raise OutputError(
            f"{target.place}: an assignment in Gradescope has one problem, and the set has "
            f"{len(given.problems)}: name a folder for their zips, as -o autograders/"
        )
    return Target(target.place, is_folder=True)


def _refuse_another_ending(target: Target, system: System) -> None:
    """Refuse a name with the ending of another form: no program would open the file."""
    ending = "" if target.place is None else target.place.suffix
    if ending and system.ending and ending.lower() != system.ending:
        raise OutputError(
            f"{target.place}: a file for {system.name} ends in {system.ending}, not in "
            f"{quoted(ending)}"
        )


def _refuse_ignored_rules(flags: Mapping[str, Any], system: System) -> None:
    if system.module in ("moodle", "prairielearn") and flags["points"] is not None:
        raise InputError(f"--points: in {system.name} they are set where the question is used")
    for name, default in OF_MARKING.items():
        flag = f"--{name.replace('_', '-')}"
        if system.module == "stack" and name != "weight" and flags[name] not in (None, default):
            raise InputError(f"{flag}: STACK has no deductions")
        if system.module == "moodle" and (flags[name] or None) not in (None, default):
            raise InputError(f"{flag}: Moodle marks each entry alone, and counts it as 1")
