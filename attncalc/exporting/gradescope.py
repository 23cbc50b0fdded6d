"""An autograder for Gradescope: a zip that marks submissions, with attncalc's sentences.

The format is that of https://gradescope-autograders.readthedocs.io/en/latest/specs/.
"""

import json
from collections.abc import Sequence

from attncalc.base.text import in_json
from attncalc.exporting import template
from attncalc.exporting.handed_in import CLASS, COURSE, PROBLEM
from attncalc.exporting.rules import Exported, Versions, write_course
from attncalc.exporting.wheels import packed, wheel_of_attncalc, wheel_of_numpy
from attncalc.languages.catalogue import catalogue
from attncalc.reading.roster import path_name
from attncalc.writing.problem_file import write_problem

OLDEST = (3, 11)
"""The oldest Python of attncalc; Gradescope's default image has an older one."""
KNOWN = ("python3.11", "python3.12", "python3.13", "python3.14", "python3")

ENDED = (
    "This could not be marked: the autograder was ended before it was done, as because memory or "
    "time ran out. Ask your teacher to look at it."
)
NOTE = (
    "it includes attncalc{also}; setup.sh downloads what else the machine of Gradescope lacks when "
    "the image is built"
)
FAILED = "This could not be marked. It is not your fault: ask your teacher to look at it."


def exported(problems: Sequence[Versions]) -> Exported:
    """Return a zip for each problem, with the problems of all students of a class.

    Marking requires only numpy: both are included as wheels, numpy for the exporting Python and
    system, if these are Linux on x86-64.
    """
    numpy = wheel_of_numpy()
    python = f"python{numpy.python[2]}.{numpy.python[3:]}" if numpy else KNOWN[0]
    wheels = {
        f"wheels/{wheel.name}": wheel.content for wheel in (wheel_of_attncalc(), numpy) if wheel
    }
    files, notes = dict[str, bytes](), list[str]()
    for each in problems:
        name = f"{path_name(each.name, 'problem')}.zip"
        files[name] = packed(_texts(each, python) | wheels)
        _, course = each.made[0]
        count = "count" if course.rules.may_skip else "are required"
        steps = f"{', '.join(course.asked)} {count}, {course.possible} points in total"
        notes.append(f"problem {each.name}: {steps}" if len(problems) > 1 else steps)
    also = f" and numpy for {python}" if numpy else ""
    return files, (*notes, NOTE.format(also=also))


def _texts(problem: Versions, python: str) -> dict[str, bytes]:
    """Return the scripts of a zip, the rules, and the problem, or those of a class."""
    (key, course), *_ = problem.made
    say = catalogue(key.problem.language).say
    own = {PROBLEM: "".join(write_problem(key.problem))}
    texts = {
        "setup.sh": template("setup.sh") % _pythons(python),
        "run_autograder": template("run_autograder.sh") % {"ended": json.dumps(say(ENDED))},
        "grade.py": template("grade.py.txt") % {"failed": json.dumps(say(FAILED))},
        "unpack.py": template("unpack.py.txt"),
        COURSE: write_course(course),
        **(_of_class(problem) if problem.students else own),
    }
    return {name: text.encode() for name, text in texts.items()}


def _of_class(problem: Versions) -> dict[str, str]:
    """Return the files of a class: the list of students, and the problem of each."""
    files = {
        f"problems/{number}.json": "".join(write_problem(key.problem))
        for number, (key, _) in enumerate(problem.made, start=1)
    }
    listed = [
        {"name": student.name, "id": student.id, "email": student.email, "file": place}
        for student, place in zip(problem.students, files, strict=True)
    ]
    return {CLASS: in_json(listed, indent=1), **files}


def _pythons(first: str) -> dict[str, str]:
    known = dict.fromkeys((first, *KNOWN))
    return {
        "oldest": ", ".join(map(str, OLDEST)),
        "needed": ".".join(map(str, OLDEST)),
        "known": " ".join(known),
        "fetched": " ".join(dict.fromkeys((first, *KNOWN[:3]))),
    }
