"""A question for PrairieLearn: a folder in which attncalc marks the typed entries.

The files follow https://prairielearn.readthedocs.io/en/latest/question/; info.json follows
apps/prairielearn/src/schemas/schemas/infoQuestion.json of PrairieLearn.
"""

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from attncalc.base.text import in_json
from attncalc.exporting import template, worksheet
from attncalc.exporting.handed_in import COURSE, PROBLEM
from attncalc.exporting.lines import Line, options_of, right_options
from attncalc.exporting.rules import Course, Exported, Versions, write_course
from attncalc.exporting.typed_in import VERSIONS, Entry, entries_of
from attncalc.exporting.wheels import wheel_of_attncalc
from attncalc.grading.key import Key
from attncalc.languages.catalogue import Catalogue, catalogue
from attncalc.reading.roster import path_name
from attncalc.solving.solution import Solution
from attncalc.writing.document import Grid
from attncalc.writing.problem_file import write_problem

WHEEL = "attncalc.whl"
NOTES = (
    "it includes attncalc; the course's PrairieLearn needs Python 3.11 or newer and numpy 2 "
    "(server.py checks this)",
    "set its points in the assessment that uses it",
)

_STATEMENT = "{{{params.statement}}}\n"
_FEEDBACK = """<pl-submission-panel>
{{#feedback.verdict}}<p>{{.}}</p>
{{/feedback.verdict}}</pl-submission-panel>
"""


def exported(problems: Sequence[Versions]) -> Exported:
    """Return the files of a question, or of several in a folder each.

    Raises InputError if too many entries are asked for.
    """
    files: dict[str, str | bytes] = {}
    for each in problems:
        folder = f"{path_name(each.name, 'problem')}/" if len(problems) > 1 else ""
        files |= {folder + name: content for name, content in _question(each).items()}
    return files, NOTES


def _question(problem: Versions) -> dict[str, str | bytes]:
    """Return the files of a question, of a class with the versions of its students.

    The seed of a variant selects the version: questions do not know the student.
    """
    (key, course), *_ = problem.made
    files = {PROBLEM: "".join(write_problem(key.problem))}
    page = _STATEMENT if problem.students else _page(key, course)
    if problem.students:
        worksheet.refuse_other_steps(str([*entries_of(*each)]) for each in problem.made)
        files = dict(_versions(problem.made))
    rules, title = write_course(course), worksheet.title_of(key.problem)
    return {
        "info.json": _info(title, "".join(files.values()) + rules),
        "question.html": page + _FEEDBACK,
        "server.py": template("server.py.txt"),
        **files,
        COURSE: rules,
        WHEEL: wheel_of_attncalc().content,
    }


def _versions(made: Sequence[tuple[Key, Course]]) -> Iterator[tuple[str, str]]:
    """Yield the files of each version: its problem, and its page."""
    for number, (key, course) in enumerate(made, 1):
        problem = replace(key.problem, student="", code="")  # another student may get it
        yield f"{VERSIONS}/{number}.json", "".join(write_problem(problem))
        yield f"{VERSIONS}/{number}.html", _page(key, course)


def _info(title: str, content: str) -> str:
    """Return the metadata of a question; the same problem is the same question."""
    digest = hashlib.sha256(content.encode()).digest()
    said = {
        "uuid": str(uuid.UUID(bytes=digest[:16], version=4)),
        "title": title,
        "topic": "Attention",
        "tags": ["attncalc"],
        "type": "v3",
        "gradingMethod": "Internal",
        "singleVariant": True,
        "partialCredit": True,
    }
    return in_json(said, indent=2) + "\n"


def _page(key: Key, course: Course) -> str:
    worksheet.refuse_what_gaps_cannot_hold(key.solution, course, "PrairieLearn", only_finite=False)
    fields, solution = partial(_fields, catalogue(key.problem.language)), key.solution
    chooses = partial(_drop_down, solution, right_options(key, course))
    return worksheet.statement(solution) + worksheet.questions(solution, course, fields, chooses)


def _drop_down(solution: Solution, right: Mapping[Line, set[int]], line: Line) -> str:
    """Return a drop-down, which only the server sees whole; of inputs that tie, one is right."""
    answers = (
        f'<pl-answer correct="{str(number == min(right[line])).lower()}">{each}</pl-answer>'
        for number, each in enumerate(map(worksheet.inert, options_of(solution)))
    )
    return (
        f'<pl-dropdown answers-name="{line.name}" sort="fixed" blank="true" allow-blank="true">'
        f"{''.join(answers)}</pl-dropdown>"
    )


def _fields(words: Catalogue, grid: Grid) -> str:
    """Return a table of fields: each keeps the typed text, decimals and blanks unchanged."""

    def field(row: int, column: int) -> str:
        name = Entry(grid.name, grid.head, row, column).name
        where = f"row {row + 1}, column {column + 1}"
        where = f"head {grid.head}, {where}" if grid.head else where
        label = worksheet.inert(f"{grid.name}, {words.say(where)}")
        return (
            f'<pl-string-input answers-name="{name}" aria-label="{label}" size="6" '
            'allow-blank="true" remove-leading-trailing="true" show-help-text="false">'
            "</pl-string-input>"
        )

    columns = range(len(grid.columns))
    rows = [[field(i, j) for j in columns] for i in range(len(grid.rows))]
    return worksheet.table(grid.rows, grid.columns, rows)
