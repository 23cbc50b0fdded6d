"""A worksheet as HTML for the page of another system, with inert texts.

Systems interpret more than HTML in a page: gaps in braces, templates, mathematics, filters. Special
characters of texts are therefore written as character references. Names and equations are MathML:
browsers set it without a script or a setting of the system, and no system removes it from a
question.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape
from itertools import groupby
from math import prod

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import distinct_names, of_each, on_a_line
from attncalc.exporting.lines import Line, lines_of
from attncalc.exporting.rules import Course
from attncalc.languages.catalogue import catalogue
from attncalc.problem.fields import LINES
from attncalc.problem.problem import Problem
from attncalc.problem.stated import heading
from attncalc.problem.step import Step
from attncalc.solving.solution import Solution
from attncalc.writing import document as parts
from attncalc.writing.document import DocumentWriter, Grid
from attncalc.writing.html.elements import Html, element
from attncalc.writing.html.mathml import MathMl, name_in_mathml
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import Contents, make_page
from attncalc.writing.translated import in_language

_SIGN = re.compile(r"[^\w\s.,\x80-\U0010ffff-]|_", re.ASCII)
"""Special characters of ASCII."""
_NAME = re.compile(r"\b([A-Za-z]+_[A-Za-z0-9]+|X\d)\b")
_IN_ELEMENT = re.compile(r"(?<=>)[^<>]++(?=<)")
MOST_GAPS = 900
"""PHP and PrairieLearn accept 1,000 fields of a form, some of them their own."""
_ROOM = "padding: 0 0.5em"
_BESIDE = "display: inline-block; vertical-align: top; margin-right: 2em"
INSTRUCTION = "Compute the matrices that are asked for below, and enter each of their numbers."
TO_CHOOSE = (
    "For each output, choose the input of its largest weight and that of its second. If several "
    "share the largest weight, choose one of them. Choose none as the second then, and where all "
    "other weights show as 0."
)
Asks = Callable[[Grid], str]
"""Returns the HTML of the fields for a matrix."""
Chooses = Callable[[Line], str]
"""Returns the HTML of the drop-down for a line of the map."""


def inert(text: str) -> str:
    """Return text as HTML in which all characters but letters, digits and blanks are escaped.

    >>> inert("{1:SA:=x} <b>")
    '&#123;1&#58;SA&#58;&#61;x&#125; &#60;b&#62;'
    """
    return _SIGN.sub(lambda found: f"&#{ord(found[0])};", on_a_line(text))


def in_symbols(text: str) -> str:
    """Return inert text in which names such as W_Q and X1 are MathML.

    >>> in_symbols("X1 = 0")
    '<math><msub><mi>X</mi><mn>1</mn></msub></math> &#61; 0'
    """
    return "".join(
        _formula(name_in_mathml(piece)) if place % 2 else inert(piece)
        for place, piece in enumerate(_NAME.split(text))
    )


def _formula(*parts: Html, is_equation: bool = False) -> str:
    """Return a formula, its texts inert; the fractions of an equation are large."""
    formula = element("math", *parts, displaystyle="true" if is_equation else None)
    return _IN_ELEMENT.sub(lambda found: inert(unescape(found[0])), formula)


def statement(solution: Solution) -> str:
    """Return the instruction, the conventions, and the given matrices side by side."""
    page = in_language(make_page(solution, Contents((), blank=True)))
    instruction = catalogue(page.language).say(INSTRUCTION)
    return "\n".join((f"<p>{instruction}</p>", *_Html(page.language).body(page.parts))) + "\n"


def questions(solution: Solution, course: Course, asks: Asks, chooses: Chooses) -> str:
    """Return the asked matrices, with their equations and fields, and the lines of the map."""
    page = in_language(make_page(solution, Contents(_needed(solution, course), blank=True)))
    drawn = _map(solution, chooses) if LINES in course.asked else ()
    asked = _Html(page.language, asks, course.asked)
    return "\n".join((*asked.body(page.sections), *drawn)) + "\n"


def _needed(solution: Solution, course: Course) -> tuple[Step, ...]:
    """Return the asked steps, and those that define what their equations read."""
    names = set(course.asked)
    for step in reversed(solution.plan):
        if step.name in names:
            names.update(step.inputs)
    return tuple(step for step in solution.plan if step.name in names)


def _map(solution: Solution, chooses: Chooses) -> Iterator[str]:
    """Yield the drop-downs of the map: a table for each head, with a row for each output."""
    say = catalogue(solution.problem.language).say
    (weights,) = solution.all_weights
    outputs = distinct_names(solution.problem.attention_of(weights.name).queries)
    columns = [say(each) for each in ("largest weight", "second")]
    yield f"<h4>{say('What each output attends to')}</h4>"
    yield f"<p>{say(TO_CHOOSE)}</p>"
    for head, lines in groupby(lines_of(solution), lambda line: line.head):
        if head:
            yield f"<p>{say(f'Head {head}')}</p>"
        cells = list(map(chooses, lines))
        yield table(outputs, columns, list(zip(cells[::2], cells[1::2], strict=True)))


def title_of(problem: Problem) -> str:
    """Return the name of a question, in the language of the problem."""
    return on_a_line(catalogue(problem.language).say(heading(problem)))


def refuse_what_gaps_cannot_hold(
    solution: Solution, course: Course, system: str, *, only_finite: bool = True
) -> None:
    """Refuse to ask for more entries than a system allows in one question, and infinities."""
    counts = map(prod, map(solution.shape_of, course.steps))
    count = sum(counts) + (len([*lines_of(solution)]) if LINES in course.asked else 0)
    if count > MOST_GAPS:
        raise InputError(
            f"{count:,} entries are required, but a question in {system} takes at most "
            f"{MOST_GAPS}: reduce the steps with --steps"
        )
    shown = {name: np.asarray(solution.shown(name), np.float64) for name in course.steps}
    infinite = [name for name, numbers in shown.items() if not np.isfinite(numbers).all()]
    if infinite and only_finite:
        others = ",".join(name for name in course.asked if name not in infinite)
        raise InputError(
            f"{of_each(infinite)} {'has' if len(infinite) == 1 else 'have'} -inf, which a "
            f"{system} gap cannot contain: use --steps {others}"
        )


def refuse_other_steps(asked: Iterable[str]) -> None:
    """Refuse versions whose questions differ: a system shows the same fields for all."""
    if len(set(asked)) > 1:
        raise InputError(
            "the versions of a problem ask for different matrices: export them one by one"
        )


def table(rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Return a table, its rows and columns named; each cell is HTML."""
    head = "".join(f"<th scope='col' style='{_ROOM}'>{inert(name)}</th>" for name in columns)
    align = f"<td style='text-align: right; {_ROOM}'>"
    lines = (
        f"<tr><th scope='row'>{inert(name)}</th>{''.join(f'{align}{x}</td>' for x in row)}</tr>"
        for name, row in zip(rows, cells, strict=True)
    )
    return f"<table>\n<tr><td></td>{head}</tr>\n" + "\n".join(lines) + "\n</table>"


class _Html(DocumentWriter[str]):
    """Yields headings, lists and tables."""

    def __init__(
        self, language: str, asks: Asks = lambda grid: "", asked: Sequence[str] = ()
    ) -> None:
        self.words, self.asks, self.asked = catalogue(language), asks, asked
        self.equations: list[str] = []

    def field(self, field: parts.Field) -> Iterator[str]:
        """Omit the line for a name: the system knows the student."""
        yield from ()

    def facts(self, facts: parts.Facts) -> Iterator[str]:
        yield f"<ul>{''.join(f'<li>{in_symbols(text)}</li>' for text in facts.texts)}</ul>"

    def given(self, given: parts.Given) -> Iterator[str]:
        yield f"<h4>{self.say('Given')}</h4>"
        for grid in given.grids:
            cells = [[_text(cell) for cell in row] for row in grid.cells()]
            yield self._beside(grid, table(grid.rows, grid.columns, cells))

    def section(self, section: parts.Section) -> Iterator[str]:
        name, formula = name_in_mathml(section.step.name), MathMl().write(section.formula)
        equation = _formula(name, element("mo", "="), formula, is_equation=True)
        self.equations.append(f"<p>{equation}</p>")
        if section.step.name not in self.asked:
            return
        yield f"<h4>{_formula(name)}&#58; {inert(section.said)}</h4>"
        yield from self.equations
        self.equations = []
        for grid in section.grids:
            yield self._beside(grid, self.asks(grid)) if grid.head else self.asks(grid)

    def connections(self, connections: parts.Connections) -> Iterator[str]:
        """Omit the map, which is not asked for."""
        yield from ()

    def _beside(self, grid: Grid, content: str) -> str:
        """Return what is beside others like it, below its name."""
        name = _formula(name_in_mathml(grid.name))
        named = name + (f", {self.say(f'head {grid.head}')}" if grid.head else "")
        return f"<div style='{_BESIDE}'><p>{named}</p>\n{content}\n</div>"


def _text(cell: parts.Cell | None) -> str:
    assert cell is not None  # a worksheet omits nothing
    content = cell.content
    return inert(content if isinstance(content, str) else in_text(content)) if content else ""
