"""An exam for Numbas: a gap for each matrix, marked by the script that marks practice pages.

The format is that of https://docs.numbas.org.uk/en/latest/. The script computes the key in the
browser, from the given matrices. The file contains no digit of it, but what common mistakes make of
each step, so that the script can name the cause of a wrong one. These results follow from the key's
own earlier steps. Entries that have a number of the key, such as those of a transposed matrix, are
stated by their places in it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import distinct_names, in_json, on_a_line
from attncalc.base.typed import quoted
from attncalc.base.types import Range
from attncalc.equations.operation import UnstatedError
from attncalc.exporting import template, worksheet
from attncalc.exporting.handed_in import DIGITS
from attncalc.exporting.lines import Line, lines_of, options_of
from attncalc.exporting.rules import Course, Exported, Versions
from attncalc.grading.causes import made_instead
from attncalc.grading.key import Key
from attncalc.grading.known import Known
from attncalc.grading.rules import Status
from attncalc.languages.catalogue import catalogue
from attncalc.problem.fields import LINES
from attncalc.solving.solution import Solution, solve
from attncalc.writing.document import Grid
from attncalc.writing.live.data import language_data, live_data
from attncalc.writing.live.script import NUMBAS, script
from attncalc.writing.verdict import done

FINER_BOUNDS = 4
"""Decimals of bounds in addition to those of the problem."""
SPECIAL = "{}$\\"
"""Characters that Numbas interprets as parts of formulas, even in a text."""
NOTE = (
    "Numbas marks each step from the student's own earlier matrices, as practice pages do: each "
    "entry counts, and a common cause is named if all before it is right"
)
PREAMBLE = "if (!Numbas.attncalc) {{\n{script}}}\nquestion.attncalc = Numbas.attncalc({data});\n"
MARKING = """attn_marked: attn_mark(attn_version, {gap})

mark: set_credit(attn_marked[0], attn_marked[1])

interpreted_answer: studentAnswer
"""


TITLE = "Attention"
"""The name of an exam for a class."""


def exported(problems: Sequence[Versions]) -> Exported:
    """Return an exam with a question for each problem."""
    (first, _), *_ = problems[0].made
    title = worksheet.title_of(first.problem)
    if problems[0].students:
        title = catalogue(first.problem.language).say(TITLE)
    groups = [
        {"name": "", "pickingStrategy": "all-ordered", "questions": [question(each.made)]}
        for each in problems
    ]
    whole = {"name": title, "duration": 0, "percentPass": 0, "question_groups": groups}
    text = f"// Numbas version: exam_results_page_options\n{in_json(whole, indent=1)}\n"
    return {"": text}, (NOTE,)


def question(versions: Sequence[tuple[Key, Course]]) -> dict[str, Any]:
    """Return a question, of which each student gets one of these versions.

    Raises InputError if a page cannot compute a step, Numbas would read a text as a formula, or the
    versions ask for different matrices.
    """
    for key, course in versions:
        _refuse_what_numbas_cannot_hold(key.solution, course)
    (key, course), *_ = versions
    shown = [each.solution for each, _ in versions]
    if len({repr(each.problem.labels) for each in shown}) > 1:  # names of tokens are left out
        shown = [solve(replace(each.problem, labels=None)) for each in shown]
    solution = shown[0]
    gaps: list[Grid | Line] = []

    def asks(asked: Grid | Line) -> str:
        gaps.append(asked)
        return f"[[{len(gaps) - 1}]]"

    prompt = worksheet.questions(solution, course, lambda grid: f"<p>{asks(grid)}</p>", asks)
    both = zip(shown, versions, strict=True)
    worksheet.refuse_other_steps(_asked(one, course) for one, (_, course) in both)
    made: dict[str, Any] = json.loads(template("numbas-question.json"))
    made["variables"]["attn_version"]["definition"] = f"random(0..{len(versions) - 1})"
    made |= {"name": worksheet.title_of(key.problem)}
    made["preamble"]["js"] = _preamble(versions, gaps)
    fields = [_gap(solution, course, each, at) for at, each in enumerate(gaps)]
    made["parts"][0] |= {"prompt": prompt, "gaps": fields}
    return made


def _refuse_what_numbas_cannot_hold(solution: Solution, course: Course) -> None:
    problem = solution.problem
    worksheet.refuse_what_gaps_cannot_hold(solution, course, "Numbas")
    names = (each for one in problem.attentions for each in (*one.queries, *one.keys))
    for text in (problem.title or "", *names):
        if any(sign in text for sign in SPECIAL):
            raise InputError(
                f"{quoted(text)}: Numbas takes {' '.join(SPECIAL)} for parts of a formula: "
                "give the title or the token another name"
            )


def _asked(solution: Solution, course: Course) -> str:
    """Return what a question asks for, without its gaps."""
    options = on_a_line(", ".join(options_of(solution))) if LINES in course.asked else ""
    return worksheet.questions(solution, course, lambda grid: "", lambda line: options)


def _preamble(versions: Sequence[tuple[Key, Course]], gaps: Iterable[Grid | Line]) -> str:
    """Return the script of a question, with its versions."""
    try:
        data = [live_data(key.problem) for key, _ in versions]
    except UnstatedError as error:
        raise InputError(f"no equation states how {error} is computed in Numbas") from None
    (key, course), rules = versions[0], versions[0][1].rules
    steps, *others = (each.pop("steps") for each in data)
    worksheet.refuse_other_steps(in_json(each) for each in (steps, *others))
    said = {
        "steps": steps,
        "versions": data,
        "statements": [worksheet.statement(key.solution) for key, _ in versions],
        "gaps": [[each.name, each.head] if isinstance(each, Grid) else list(each) for each in gaps],
        **({"weights": key.solution.all_weights[0].name,
            "line": _marks_of_a_line(key.solution, course)} if LINES in course.asked else {}),
        # the share of each status; what only `check` can decide earns that of what follows
        "credits": {each.value: float(rules.credit(each)) for each in Status if rules.credit(each)}
        | {"undecided": float(rules.credit(Status.FOLLOWS))},
        **mistakes(versions),
    }  # fmt: skip
    said |= language_data(key.problem, script(NUMBAS))
    text = json.dumps(said, ensure_ascii=True, separators=(",", ":"))
    return PREAMBLE.format(script=script(NUMBAS), data=text)


def _marks_of_a_line(solution: Solution, course: Course) -> float:
    return float(round(course.most(LINES) / len([*lines_of(solution)]), DIGITS))


def _gap(solution: Solution, course: Course, asked: Grid | Line, at: int) -> Mapping[str, Any]:
    """Return the gap of a matrix, or of a line of the map."""
    marking = {
        "useCustomName": True,
        "customMarkingAlgorithm": MARKING.format(gap=at),
        "extendBaseMarkingAlgorithm": True,
        "showCorrectAnswer": True,
    }
    if isinstance(asked, Line):
        return marking | _drop_down(solution, course, asked, at)
    return marking | _matrix(solution, course, asked, at)


def _told(solution: Solution, line: Line) -> str:
    """Return which line of the map is chosen: the head, the output, and the rank."""
    say = catalogue(solution.problem.language).say
    outputs = distinct_names(solution.problem.attention_of(solution.all_weights[0].name).queries)
    which = outputs[line.output], say("second" if line.is_dashed else "largest weight")
    return on_a_line(", ".join((say(f"head {line.head}"), *which) if line.head else which))


def _drop_down(solution: Solution, course: Course, line: Line, at: int) -> dict[str, Any]:
    """Return the gap of a line of the map; its right options have its marks."""
    return {
        "type": "1_n_2",
        "customName": _told(solution, line),
        "marks": _marks_of_a_line(solution, course),
        "displayType": "dropdownlist",
        "shuffleChoices": False,
        "choices": list(map(worksheet.inert, options_of(solution))),
        "matrix": f"attn_right(attn_version, {at})",
    }


def _matrix(solution: Solution, course: Course, grid: Grid, at: int) -> dict[str, Any]:
    """Return the gap of a matrix: its size and its points."""
    heads = solution.shape_of(grid.name)[0] if grid.head else 1
    head = catalogue(solution.problem.language).say(f"head {grid.head}")
    return {
        "type": "matrix",
        "customName": f"{grid.name}, {head}" if grid.head else grid.name,
        "marks": float(round(course.most(grid.name) / heads, DIGITS)),
        "correctAnswer": f"attn_key(attn_version, {at})",
        "numRows": str(len(grid.rows)),
        "numColumns": str(len(grid.columns)),
        "allowResize": False,
        "markPerCell": True,
        "allowFractions": True,
        "precisionType": "none",
    }


def steps_before(key: Key, course: Course) -> dict[str, list[str]]:
    """Return the asked steps that each asked step depends on."""
    before = {name: key.before[name] - {name} for name in course.steps}
    return {name: [each for each in course.steps if each in before[name]] for name in before}


def mistakes(versions: Sequence[tuple[Key, Course]]) -> dict[str, Any]:
    """Return the mistakes as data: `clauses`, and for each version its steps.

    A step has a list for each mistake: its code, the number of its clause, and its lowest and its
    highest numbers, entry by entry in the layout of the plan; or instead places in the key from 1,
    below 0 for the other sign.
    """
    clauses: dict[str, int] = {}
    found = [_of_version(key, course, clauses) for key, course in versions]
    key, course = versions[0]
    return {"clauses": list(clauses), "before": steps_before(key, course), "mistakes": found}


def _of_version(key: Key, course: Course, clauses: dict[str, int]) -> Mapping[str, Any]:
    found, say = dict[str, Any](), catalogue(key.problem.language).say
    for name, before in steps_before(key, course).items():
        points = {each: key.shown[each] for each in before}
        known = Known(key, key.slack, points, {each: key.ranges[each] for each in before})
        finite = [
            each for each in made_instead(known, key.steps[name]) if np.isfinite(each[1]).all()
        ]
        entries = (
            [cause.code, clauses.setdefault(say(done(cause, name)), len(clauses)),
             *_numbers(made, key, name)]
            for cause, made in finite
        )  # fmt: skip
        found[name] = list({repr(each): each for each in entries}.values())
    return found


def _numbers(made: Range, key: Key, name: str) -> list[list[float]]:
    """Return the bounds of the entries of a result, or their places in the key."""
    decimals, shown = key.problem.decimals, key.shown[name]
    middle = made.middle.round(decimals)
    is_same = abs(middle.reshape(-1, 1)) == abs(shown.ravel())
    if is_same.any(axis=1).all():
        places = is_same.argmax(axis=1)
        is_turned = (middle.ravel() < 0) != (shown.ravel()[places] < 0)
        return [np.where(is_turned, -1 - places, places + 1).tolist()]
    room = 10.0 ** -(decimals + FINER_BOUNDS)
    ends = (made.low - room, made.high + room)
    return [each.round(decimals + FINER_BOUNDS).ravel().tolist() for each in ends]
