"""An autograder for Gradescope: a zip that marks submissions, with attncalc's sentences.

The format is that of https://gradescope-autograders.readthedocs.io/en/latest/specs/.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attncalc.base.text import in_json
from attncalc.exporting.handed_in import CLASS, COURSE, PROBLEM
from attncalc.exporting.rules import Course, write_course
from attncalc.exporting.wheels import packed, wheel_of_attncalc, wheel_of_numpy
from attncalc.problem.problem import Problem
from attncalc.reading.roster import Student
from attncalc.writing.languages.catalogue import catalogue
from attncalc.writing.problem_file import write_problem

OLDEST = (3, 11)
"""The oldest Python of attncalc; Gradescope's default image has an older one."""
KNOWN = ("python3.11", "python3.12", "python3.13", "python3.14", "python3")

SETUP = r"""#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image: it finds a Python, and unpacks the wheels.
set -eu
root="${AUTOGRADER_ROOT:-/autograder}"
cd "$root/source"

fits() {
  command -v "$1" > /dev/null &&
    "$1" -I -c 'import sys; sys.exit(sys.version_info < (%(oldest)s))' 2> /dev/null
}

python=""
for each in %(known)s; do
  if [ -z "$python" ] && fits "$each"; then python="$(command -v "$each")"; fi
done
if [ -z "$python" ]; then
  echo "There is no Python %(needed)s or newer here: it is fetched from the network."
  apt-get update -q
  for each in %(fetched)s; do
    if [ -z "$python" ] && apt-get install -y -q "$each" && fits "$each"; then
      python="$(command -v "$each")"
    fi
  done
fi
if [ -z "$python" ]; then
  echo "There is no Python %(needed)s or newer: choose a newer image in Gradescope's settings."
  exit 1
fi
"$python" -I unpack.py
printf '%%s' "$python" > python
echo "attncalc is set up."
"""

UNPACK = '''"""Unpack the wheels that fit this Python; fetch numpy where none does."""

import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
LIB = HERE / "lib"


def fits(wheel):
    python = wheel.name.split("-")[2]
    return python in ("py3", "cp%d%d" % sys.version_info[:2])


for wheel in sorted((HERE / "wheels").glob("*.whl")):
    if fits(wheel):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(LIB)
sys.path.insert(0, str(LIB))
try:
    import numpy
except ImportError:
    print("There is no numpy for this Python in the zip: it is fetched from the network.")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(LIB), "numpy>=2"]
    if subprocess.run(pip).returncode:
        sys.exit("numpy cannot be fetched: export the problem with Python %d.%d on Linux, "
                 "and numpy is in the zip" % sys.version_info[:2])
import attncalc.exporting.handed_in
'''

RUN = """#!/usr/bin/env bash
# Gradescope runs this for each submission: it marks, and writes results.json whatever happens.
root="${AUTOGRADER_ROOT:-/autograder}"
results="$root/results/results.json"
mkdir -p "$root/results"
rm -f "$results"
"$(cat "$root/source/python")" -I "$root/source/grade.py" "$root"
if [ ! -s "$results" ]; then
  cat > "$results" << 'END'
{"score": 0, "output": %(ended)s, "tests": []}
END
fi
exit 0
"""

GRADE = '''"""Mark one submission, and write results.json, whatever comes."""

import json
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "source" / "lib"))
FAILED = %(failed)s

try:
    from attncalc.exporting.handed_in import results

    text = results(ROOT / "source", ROOT / "submission")
except Exception as error:
    text = json.dumps({"score": 0, "output": FAILED, "tests": []})
    print(f"{type(error).__name__}: {error}", file=sys.stderr)  # for the teacher alone
place = ROOT / "results" / "results.json"
ready = place.with_suffix(".tmp")
ready.write_text(text, encoding="utf-8", errors="backslashreplace")
ready.replace(place)
'''


ENDED = (
    "This could not be marked: the autograder was ended before it was done, as because memory or "
    "time ran out. Ask your teacher to look at it."
)
FAILED = "This could not be marked. It is not your fault: ask your teacher to look at it."


class Autograder(NamedTuple):
    """The zip, and remarks for the teacher."""

    content: bytes
    notes: tuple[str, ...]


def autograder(files: Mapping[str, str], course: Course, language: str) -> Autograder:
    """Return the zip for a problem.

    Marking requires only numpy: both are included as wheels, numpy for the exporting Python and
    system, if these are Linux on x86-64.

    files: the problem, or those of a class: see `of_one` and `of_class`.
    course: the rules of marking.
    language: that of the sentences for students.
    """
    say = catalogue(language).say
    numpy = wheel_of_numpy()
    wheels = [wheel_of_attncalc(), *([numpy] if numpy else [])]
    first = f"python{numpy.python[2]}.{numpy.python[3:]}" if numpy else KNOWN[0]
    texts = {
        "setup.sh": SETUP % _pythons(first),
        "run_autograder": RUN % {"ended": json.dumps(say(ENDED))},
        "grade.py": GRADE % {"failed": json.dumps(say(FAILED))},
        "unpack.py": UNPACK,
        COURSE: write_course(course),
        **files,
    }
    packing = {name: text.encode() for name, text in texts.items()}
    packing |= {f"wheels/{wheel.name}": wheel.content for wheel in wheels}
    return Autograder(packed(packing), (_on_points(course), _on_network(first if numpy else "")))


def of_one(problem: Problem) -> dict[str, str]:
    """Return the file of a problem that all students get."""
    return {PROBLEM: "".join(write_problem(problem))}


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


def _on_points(course: Course) -> str:
    return f"{', '.join(course.asked)} are required, {course.possible} points in total"


def _on_network(python: str) -> str:
    if python:
        return (
            f"attncalc and numpy are in it: with {python} on Gradescope's machine nothing is "
            "downloaded; otherwise setup.sh downloads what is missing when the image is built"
        )
    return (
        "it includes attncalc but not numpy (which needs a numpy for Linux on x86-64): setup.sh "
        "downloads numpy when the image is built"
    )
