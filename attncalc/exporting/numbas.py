"""An exam for Numbas: a gap for each matrix, marked by the script that marks practice pages.

The format is that of https://docs.numbas.org.uk/en/latest/. The script computes the key in the
browser, from the given matrices; the file contains no result.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import in_json, on_a_line
from attncalc.base.typed import quoted
from attncalc.equations.operation import UnstatedError
from attncalc.exporting.handed_in import DIGITS
from attncalc.exporting.rules import Course
from attncalc.exporting.worksheet import (
    questions,
    refuse_other_steps,
    refuse_the_map,
    refuse_too_many,
    statement,
    title_of,
)
from attncalc.grading.key import Key
from attncalc.grading.rules import Rules, Status
from attncalc.solving.solution import Solution
from attncalc.writing.document import Grid
from attncalc.writing.languages.catalogue import catalogue
from attncalc.writing.live.data import language_data, live_data
from attncalc.writing.live.script import NUMBAS, script

MOST_CELLS = 900
"""The number of fields from which a browser takes seconds for a page."""
SPECIAL = "{}$\\"
"""Characters that Numbas interprets as parts of formulas, even in a text."""
NOTE = (
    "Numbas marks each step from the student's own earlier matrices, as practice pages do: it "
    "finds no causes, and each entry counts"
)
PREAMBLE = "if (!Numbas.attncalc) {{\n{script}}}\nquestion.attncalc = Numbas.attncalc({data});\n"
FUNCTIONS = {
    "attn_statement": (("version",), "html", "return question.attncalc.statements[version];"),
    "attn_key": (("version", "gap"), "matrix", "return question.attncalc.key(version, gap);"),
    "attn_mark": (
        ("version", "gap"),
        "list",
        'var gaps = question.getPart("p0").gaps; return question.attncalc.marked(version, gap, '
        "gaps.map(function(each) { return each.studentAnswer; }));",
    ),
}
"""Functions of the question: their parameters, results, and JavaScript."""
MARKING = """attn_marked: attn_mark(attn_version, {gap})

mark: set_credit(attn_marked[0], attn_marked[1])

interpreted_answer: studentAnswer
"""


def exam(title: str, problems: Iterable[Mapping[str, Any]]) -> str:
    """Return an exam with these questions."""
    whole = {
        "name": on_a_line(title),
        "duration": 0,
        "percentPass": 0,
        "question_groups": [
            {"name": "", "pickingStrategy": "all-ordered", "questions": [each]} for each in problems
        ],
    }
    return f"// Numbas version: exam_results_page_options\n{in_json(whole, indent=1)}\n"


def question(versions: Sequence[tuple[Key, Course]]) -> dict[str, Any]:
    """Return a question, of which each student gets one of these versions.

    Raises
    ------
    InputError
        If a page cannot compute a step, Numbas would read a text as a formula, or the versions
        ask for different matrices.
    """
    for key, course in versions:
        _refuse_what_numbas_cannot_hold(key.solution, course)
    (key, course), *_ = versions
    gaps: list[Grid] = []

    def asks(grid: Grid) -> str:
        gaps.append(grid)
        return f"<p>[[{len(gaps) - 1}]]</p>"

    prompt = questions(key.solution, course, asks)
    refuse_other_steps(questions(k.solution, c, lambda grid: "") for k, c in versions)
    last = len(versions) - 1
    return {
        "name": title_of(key.problem),
        "tags": [],
        "metadata": {"description": "", "licence": "None specified"},
        "statement": "<div>{attn_statement(attn_version)}</div>",
        "advice": "",
        "rulesets": {},
        "extensions": [],
        "variables": {"attn_version": _variable("attn_version", f"random(0..{last})")},
        "variablesTest": {"condition": "", "maxRuns": 100},
        "ungrouped_variables": ["attn_version"],
        "variable_groups": [],
        "functions": dict(_functions()),
        "preamble": {"js": _preamble(versions, gaps), "css": ""},
        "parts": [
            {
                "type": "gapfill",
                "prompt": prompt,
                "sortAnswers": False,
                "gaps": [_gap(key.solution, course, grid, at) for at, grid in enumerate(gaps)],
            }
        ],
    }


def _refuse_what_numbas_cannot_hold(solution: Solution, course: Course) -> None:
    problem = solution.problem
    refuse_the_map(course, "Numbas")
    refuse_too_many(solution, course, "Numbas", MOST_CELLS)
    finite = {n: np.isfinite(np.asarray(solution.shown(n), np.float64)) for n in course.asked}
    infinite = [name for name, each in finite.items() if not each.all()]
    if infinite:
        others = ",".join(name for name in course.asked if name not in infinite)
        raise InputError(f"{infinite[0]} holds -inf, which a cell cannot: use --steps {others}")
    names = (each for one in problem.attentions for each in (*one.queries, *one.keys))
    for text in (problem.title or "", *names):
        if any(sign in text for sign in SPECIAL):
            raise InputError(
                f"{quoted(text)}: Numbas takes {' '.join(SPECIAL)} for parts of a formula: "
                "give the title or the token another name"
            )


def _preamble(versions: Sequence[tuple[Key, Course]], gaps: Iterable[Grid]) -> str:
    """Return the script of a question, with its versions."""
    try:
        data = [live_data(key.problem) for key, _ in versions]
    except UnstatedError as error:
        raise InputError(f"no equation states how {error} is computed in Numbas") from None
    steps, *others = (each.pop("steps") for each in data)
    refuse_other_steps(in_json(each) for each in (steps, *others))
    said = {
        "steps": steps,
        "versions": data,
        "statements": [statement(key.solution) for key, _ in versions],
        "gaps": [[grid.name, grid.head] for grid in gaps],
        "credits": _credits(versions[0][1].rules),
    }
    said |= language_data(versions[0][0].problem, script(NUMBAS))
    text = json.dumps(said, ensure_ascii=True, separators=(",", ":"))
    return PREAMBLE.format(script=script(NUMBAS), data=text)


def _credits(rules: Rules) -> dict[str, float]:
    """Return the share of each status; what only `check` can decide earns it."""
    known = {each.value: float(rules.credit(each)) for each in Status if rules.credit(each)}
    return known | {"undecided": float(rules.credit(Status.FOLLOWS))}


def _variable(name: str, definition: str) -> dict[str, str]:
    return {
        "name": name,
        "group": "Ungrouped variables",
        "definition": definition,
        "description": "",
        "templateType": "anything",
    }


def _functions() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, (parameters, kind, definition) in FUNCTIONS.items():
        yield (
            name,
            {
                "parameters": [[each, "number"] for each in parameters],
                "type": kind,
                "language": "javascript",
                "definition": definition,
            },
        )


def _named(solution: Solution, grid: Grid) -> str:
    say = catalogue(solution.problem.language).say
    return f"{grid.name}, {say(f'head {grid.head}')}" if grid.head else grid.name


def _gap(solution: Solution, course: Course, grid: Grid, at: int) -> Mapping[str, Any]:
    """Return the gap of a matrix: its size, its points, and its marking."""
    heads = {False: 1, True: solution.shape_of(grid.name)[0]}[bool(grid.head)]
    return {
        "type": "matrix",
        "useCustomName": True,
        "customName": _named(solution, grid),
        "marks": float(round(course.most(grid.name) / heads, DIGITS)),
        "showCorrectAnswer": True,
        "correctAnswer": f"attn_key(attn_version, {at})",
        "numRows": str(len(grid.rows)),
        "numColumns": str(len(grid.columns)),
        "allowResize": False,
        "markPerCell": True,
        "allowFractions": True,
        "precisionType": "none",
        "customMarkingAlgorithm": MARKING.format(gap=at),
        "extendBaseMarkingAlgorithm": True,
    }
