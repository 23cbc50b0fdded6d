"""An autograder for Gradescope: a zip that marks submissions, with attncalc's sentences.

The format is that of https://gradescope-autograders.readthedocs.io/en/latest/specs/.
"""

import json
from collections.abc import Mapping, Sequence

from attncalc.base.text import in_json
from attncalc.exporting import template
from attncalc.exporting.handed_in import CLASS, COURSE, PROBLEM
from attncalc.exporting.rules import Course, Exported, Versions, write_course
from attncalc.exporting.wheels import Wheel, packed, wheel_of_attncalc, wheel_of_numpy
from attncalc.languages.catalogue import catalogue
from attncalc.problem.problem import Problem
from attncalc.reading.roster import Student, path_name
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
    """Return a zip for each problem; each contains the problems of all students of a class."""
    files: dict[str, bytes] = {}
    notes: list[str] = []
    numpy = wheel_of_numpy()
    for each in problems:
        (key, course), *_ = each.made
        alone = {PROBLEM: "".join(write_problem(key.problem))}
        versions = [own.problem for own, _ in each.made]
        packing = of_class(each.students, versions) if each.students else alone
        name = f"{path_name(each.name, 'problem')}.zip"
        files[name] = autograder(packing, course, key.problem.language, numpy)
        which = f"problem {each.name}: " if len(problems) > 1 else ""
        steps = f"{', '.join(course.asked)} are required"
        notes.append(f"{which}{steps}, {course.possible} points in total")
    also = f" and numpy for {_python_of(numpy)}" if numpy else ""
    return Exported(files, (*notes, NOTE.format(also=also)))


def autograder(
    files: Mapping[str, str], course: Course, language: str, numpy: Wheel | None
) -> bytes:
    """Return the zip for a problem.

    Marking requires only numpy: both are included as wheels, numpy for the exporting Python and
    system, if these are Linux on x86-64.
    """
    say = catalogue(language).say
    wheels = [wheel_of_attncalc(), *([numpy] if numpy else [])]
    first = _python_of(numpy) if numpy else KNOWN[0]
    texts = {
        "setup.sh": template("setup.sh") % _pythons(first),
        "run_autograder": template("run_autograder.sh") % {"ended": json.dumps(say(ENDED))},
        "grade.py": template("grade.py.txt") % {"failed": json.dumps(say(FAILED))},
        "unpack.py": template("unpack.py.txt"),
        COURSE: write_course(course),
        **files,
    }
    packing = {name: text.encode() for name, text in texts.items()}
    packing |= {f"wheels/{wheel.name}": wheel.content for wheel in wheels}
    return packed(packing)


def _python_of(numpy: Wheel) -> str:
    """Return the name of the Python of a wheel, such as python3.12."""
    return f"python{numpy.python[2]}.{numpy.python[3:]}"


def of_class(students: Sequence[Student], problems: Sequence[Problem]) -> dict[str, str]:
    """Return the files of a class: the list of students, and the problem of each."""
    places = [f"problems/{number}.json" for number in range(1, len(students) + 1)]
    listed = [
        {"name": student.name, "id": student.id, "email": student.email, "file": place}
        for student, place in zip(students, places, strict=True)
    ]
    texts = ("".join(write_problem(problem)) for problem in problems)
    return {CLASS: in_json(listed, indent=1), **dict(zip(places, texts, strict=True))}


def _pythons(first: str) -> dict[str, str]:
    known = dict.fromkeys((first, *KNOWN))
    return {
        "oldest": ", ".join(map(str, OLDEST)),
        "needed": ".".join(map(str, OLDEST)),
        "known": " ".join(known),
        "fetched": " ".join(dict.fromkeys((first, *KNOWN[:3]))),
    }
