"""A submission, marked in the format of Gradescope: a test for each step, never a crash."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from attncalc.base.errors import AttncalcError, InputError
from attncalc.base.text import in_json, of_each, on_a_line
from attncalc.exporting.rules import Course, read_course
from attncalc.grading.key import Key, key_of
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.languages.catalogue import catalogue
from attncalc.problem.fields import LINES
from attncalc.reading import read_problem
from attncalc.reading.answers import ENDINGS, SHEETS, read_answer
from attncalc.reading.answers.answer import Answer
from attncalc.reading.files import refuse_found
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.sets import of_another_code
from attncalc.writing.verdict import verdict, verdict_of_left_out, verdict_of_lines, verdict_of_step

PROBLEM, COURSE, CLASS = "problem.json", "rules.json", "class.json"
"""A problem, the rules, and the class: its students, each with the file of their problem."""
FIRST = "problems/1.json"
"""The problem of the first student of a class."""
METADATA = "submission_metadata.json"
"""What Gradescope knows about a submission, beside its folder."""
MOST_FILES = 100
"""The largest number of files of a submission that are read."""
DIGITS = 6
"""Decimals of points: halves and quarters are exact."""
NOTHING = (
    "Nothing was submitted. Hand in one file with your matrices, each with its name, as in "
    "Q = [1 3; -1 1]: a text, Markdown, LaTeX, CSV, JSON, or the worksheet filled in."
)


def results(source: Path, submission: Path) -> str:
    """Return results.json for a submission; `source` has the files that `gradescope` writes."""
    course = read_course(source / COURSE)
    any_problem = source / (FIRST if (source / CLASS).is_file() else PROBLEM)
    say = catalogue(read_problem(any_problem).language).say
    try:
        key = key_of(read_problem(_problem(source, submission)), course.rules)
        with key.names_at_hand():
            answer = handed_in(submission, key)
        results = of_marking(mark(key, answer, course.rules), course)
    except AttncalcError as error:
        why = say(str(error)).replace(f"{submission}{os.sep}", "")
        missing = map(partial(_test, course=course, said=[say("Not found.")]), course.asked)
        results = _told(Fraction(0), why.replace(str(submission), "what was handed in"), [*missing])
    return in_json(results, indent=2) + "\n"


def of_marking(marking: Marking, course: Course) -> dict[str, Any]:
    """Return the earned points, and the sentences: all at the top, and a step's at its test."""
    say = catalogue(marking.key.problem.language).say
    shares = {**dict.fromkeys(course.asked, Fraction(0)), **marking.shares}
    said: dict[str, Iterable[str]]
    said = {marks.step.name: verdict_of_step(marking, marks) for marks in marking.steps}
    by_name = {marks.step.name: marks for marks in marking.steps}
    for name, later in marking.passed.items():
        said[name] = [verdict_of_left_out([name], by_name[later])]
    if marking.lines:
        said[LINES] = [*verdict_of_lines(marking)] or ["Not found."]
    titles = {name: step.title for name, step in marking.key.steps.items()}
    named = {name: say(titles.get(name, "the map")) for name in course.asked}
    tests = [
        _test(name, course, map(say, said[name]), title, shares[name])
        for name, title in named.items()
    ]
    earned = sum((course.most(name) * shares[name] for name in course.asked), Fraction(0))
    place = on_a_line(Path(marking.answer.place).name)
    return _told(earned, "\n".join(map(say, (f"Read from {place}.", *verdict(marking)))), tests)


def _told(earned: Fraction, output: str, tests: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "score": _points(earned),
        "output": output,
        **dict.fromkeys(("output_format", "test_output_format", "test_name_format"), "text"),
        "tests": tests,
    }


def _test(
    name: str, course: Course, said: Iterable[str], title: str = "", share: Fraction = Fraction(0)
) -> dict[str, Any]:
    most = course.most(name)
    return {
        "number": str(course.asked.index(name) + 1),
        "name": f"{name}: {title}" if title else name,
        "score": _points(share * most),
        "max_score": _points(most),
        "status": "passed" if share == 1 else "failed",
        "output": "\n".join(said),
    }


def _points(points: Fraction) -> float:
    return float(round(points, DIGITS))


# -- students -----------------------------------------------------------------------------------


def _problem(source: Path, submission: Path) -> Path:
    """Return the file of the problem: in a class, that of the students who submit.

    Raises InputError if Gradescope names no student of the class, or several with different
    problems.
    """
    if not (source / CLASS).is_file():
        return source / PROBLEM
    students = json.loads((source / CLASS).read_text(encoding="utf-8"))
    users = json.loads((submission.parent / METADATA).read_text(encoding="utf-8"))["users"]
    found = [_files_of(user, students) for user in users]
    (files, *others) = found or [set()]
    if len(files) == 1 and all(each == files for each in others):
        return source / files.pop()
    names = [on_a_line(str(user.get("email") or user.get("name"))) for user in users]
    raise InputError(
        "The class list has no problem, or several, for "
        f"{of_each(names or ['this submission'])}: ask your teacher to look at it."
    )


def _files_of(user: Mapping[str, Any], students: list[dict[str, str]]) -> set[str]:
    """Return the problems of a user: by id, else by e-mail address, else by name."""
    for own, theirs in (("id", "sid"), ("email", "email"), ("name", "name")):
        wanted = str(user.get(theirs) or "").strip().casefold()
        hits = {each["file"] for each in students if each[own].strip().casefold() == wanted}
        if wanted and hits:
            return hits
    return set()


# -- submissions --------------------------------------------------------------------------------


def handed_in(folder: Path, key: Key) -> Answer:
    """Return the one answer in a folder.

    Raises InputError, in the language of the problem, if there is none, or several.
    """
    say, files = catalogue(key.problem.language).say, list(_files(folder))
    if not files:
        raise InputError(NOTHING)
    if home := _home_of_steps(files):
        return read_answer(home, key.expected)
    named = [path for path in files if path.suffix.lower() in ENDINGS] or files
    read, refused = [], []
    for path in named:
        try:
            refuse_found(path)
            if why := of_another_code(str(path), key.problem.code):
                raise InputError(f"{path}: {say(why)}")
            read.append(read_answer(path, key.expected))
        except AttncalcError as error:
            refused.append(say(str(error)))
    if len(read) == 1:
        return read[0]
    if read:
        names = of_each([on_a_line(Path(each.place).name) for each in read])
        raise InputError(f"{len(read)} files contain an answer ({names}): submit only one")
    raise InputError("\n".join(refused[:3]))


def _files(folder: Path, depth: int = 3) -> Iterator[Path]:
    """Yield the files of a student, a few folders deep, and links, which are not followed."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        is_deep = len(Path(place).relative_to(folder).parts) >= depth
        links = [name for name in folders if Path(place, name).is_symlink()]
        folders[:] = [] if is_deep else sorted(name for name in folders if _is_theirs(name))
        found += [Path(place, name) for name in sorted((*names, *links)) if _is_theirs(name)]
    yield from found[:MOST_FILES]


def _is_theirs(name: str) -> bool:
    """Return whether a file is from the student, and not from version control or a Mac."""
    return not name.startswith((".", "__"))


def _home_of_steps(files: list[Path]) -> Path | None:
    """Return the folder whose files have names of steps, Q.csv and A.csv, if there is one."""
    homes = {
        path.parent
        for path in files
        if path.suffix.lower() in SHEETS and name_of_key(path.stem) is not None
    }
    return homes.pop() if len(homes) == 1 else None
