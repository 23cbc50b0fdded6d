"""A question for Moodle: a cloze with a gap for each entry, in Moodle's XML.

Its syntax: `qtype_multianswer_extract_question` in question/type/multianswer/questiontype.php of
Moodle, and https://docs.moodle.org/en/Embedded_Answers_(Cloze)_question_type.
"""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from xml.sax.saxutils import escape

from attncalc.base.text import on_a_line
from attncalc.exporting import template
from attncalc.exporting.alone import Alone, accepted_alone
from attncalc.exporting.lines import Line, options_of, right_options
from attncalc.exporting.rules import Course, Exported, Versions
from attncalc.exporting.worksheet import (
    questions,
    refuse_what_gaps_cannot_hold,
    statement,
    table,
    title_of,
)
from attncalc.grading.key import Key
from attncalc.languages.catalogue import catalogue
from attncalc.solving.solution import Solution
from attncalc.writing.document import Grid

NOTE = (
    "Moodle marks each gap separately: a mistake costs points in every later step too (Gradescope "
    "and PrairieLearn mark from the student's own values)"
)
_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\uD800-\uDFFF\uFFFE\uFFFF]")
"""Characters that XML cannot contain: https://www.w3.org/TR/xml/#charsets."""
_EDGES = re.compile(r"[}~#/\"\\]")
"""What ends an answer of a gap, unless a backslash precedes it."""


def exported(problems: Iterable[Versions], note: str = NOTE) -> Exported:
    """Return the XML of a quiz: questions, those of a class in a category for each problem."""
    parts: list[str] = []
    for each in problems:
        name = catalogue(each.language).say(f"attncalc, problem {each.name}")
        parts += [category(name)] if each.students else []
        parts += each.made
    quiz = f'<?xml version="1.0" encoding="UTF-8"?>\n<quiz>\n{"".join(parts)}</quiz>\n'
    return {"": quiz}, (note,)


def category(name: str) -> str:
    """Return the XML that puts the questions after it into a category of the course.

    >>> print(category("a/b <c>").splitlines()[1].strip())
    <category><text>$course$/top/a//b &lt;c&gt;</text></category>
    """
    whole = template("moodle-category.xml").format(name=escape(on_a_line(name).replace("/", "//")))
    return plain(whole)


def version(key: Key, course: Course, student: str = "") -> str:
    """Return the XML of a question; its name, which teachers see, contains the student.

    A gap accepts what `check` accepts whatever the other entries are: every usual rounding.

    Raises InputError if an asked entry is not a finite number, or there are too many for one
    question.
    """
    refuse_what_gaps_cannot_hold(key.solution, course, "Moodle")
    text = statement(key.solution)
    chooses = partial(_drop_down, key.solution, right_options(key, course))
    text += questions(key.solution, course, partial(_gaps, key), chooses)
    words = catalogue(key.problem.language)
    closing = f"<p>{words.say('Each entry is marked separately.')}</p>\n"
    name = title_of(key.problem) + (f" ({student})" if student else "")
    filled = template("moodle-question.xml")
    return plain(filled.format(name=escape(on_a_line(name)), text=text + closing))


def plain(xml: str) -> str:
    """Return text without the characters that XML cannot contain."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", xml)


def _gaps(key: Key, grid: Grid) -> str:
    rows = accepted_alone(key, grid.name, grid.head)
    return table(grid.rows, grid.columns, [[_gap(each) for each in row] for row in rows])


def _drop_down(solution: Solution, right: Mapping[Line, set[int]], line: Line) -> str:
    """Return the syntax of a drop-down: each right option earns all, others nothing."""
    safe = (_EDGES.sub(r"\\\g<0>", escape(each)) for each in options_of(solution))
    answers = (("=" if n in right[line] else "%0%") + each for n, each in enumerate(safe))
    return "{1:MULTICHOICE:" + "~".join(answers) + "}"


def _gap(accepted: Alone) -> str:
    """Return the syntax of a gap: numbers with their tolerances, first the one it shows later."""
    both = [((low + high) / 2, (high - low) / 2) for low, high in accepted.ranges]
    answers = (f"={value.normalize():f}:{room.normalize():f}" for value, room in both)
    return "{1:NUMERICAL:" + "~".join(answers) + "}"
