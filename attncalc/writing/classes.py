"""A set for a class: each student's problem, worksheet and key, and the manifest."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from attncalc.problem.problem import Problem
from attncalc.problem.step import Report
from attncalc.solving.solution import solve
from attncalc.writing.document import Document, Field
from attncalc.writing.files import Content
from attncalc.writing.html.page import write_html
from attncalc.writing.latex import write_latex, write_sheet, write_together
from attncalc.writing.live.made import write_page
from attncalc.writing.markdown import write_markdown
from attncalc.writing.page import Contents, Page, make_page
from attncalc.writing.problem_file import write_problem

if TYPE_CHECKING:  # it loads matplotlib
    from attncalc.writing.paper.writer import Paper

MANIFEST, TOGETHER, KEYS = "manifest.json", "worksheets", "keys"
"""The content of a set in addition to its students' folders."""
PROBLEM = "problem.json"
FORMS: Mapping[str, tuple[str, Callable[[Document], str]]] = {
    "markdown": (".md", write_markdown),
    "latex": (".tex", lambda document: write_latex(document, standalone=True)),
    "html": (".html", write_html),
}
"""The forms of worksheets, keys and feedback: file endings, and writers."""
PAPER = "pdf"
HANDED_OUT = (*FORMS, PAPER)
"""The forms of worksheets and keys."""
PRACTICE = {"practice": True, "fill-in": False}
"""Worksheets to fill in within the browser, and whether they mark."""


def paper(documents: Sequence[Document], report: Report | None = None) -> "Paper":
    """Return documents as one PDF, each on new pages."""
    from attncalc.writing.paper.writer import write_paper  # it loads matplotlib

    return write_paper(documents, report)


class Handout(NamedTuple):
    """The files of one problem for a student by path, and the worksheet for all in one.

    lacking: the letters that its PDF pages show as codes.
    """

    files: Mapping[str, Content]
    sheet: str
    lacking: str = ""


def worksheet_of(problem: Problem) -> Page:
    """Return the worksheet of a problem."""
    solution = solve(problem)
    return make_page(solution, Contents(solution.plan, blank=True))


def pages_of(problem: Problem) -> tuple[Page, Page]:
    """Return the worksheet and the key of a problem."""
    worksheet = worksheet_of(problem)
    return worksheet, make_page(worksheet.solution, Contents(worksheet.solution.plan))


def handout(problem: Problem, folder: str, formats: Sequence[str]) -> Handout:
    """Return a student's problem, worksheet and key.

    formats: the forms of the worksheet and of the key, as `HANDED_OUT` has them, and those of
        `PRACTICE`.
    """
    worksheet, key = pages_of(problem)
    named_key = replace(key, parts=(Field("Key for", problem.whose), *key.parts[1:]))
    files: dict[str, Content] = {f"{folder}/{PROBLEM}": "".join(write_problem(problem))}
    sheet = write_sheet(worksheet)
    for form in formats:
        if form in PRACTICE:
            page = write_page(worksheet, practice=True, marks=PRACTICE[form])
            files[f"{folder}/{form}.html"] = page
        elif form in FORMS:
            ending, write = FORMS[form]
            whole = "".join(write_together([sheet])) if form == "latex" else write(worksheet)
            files[f"{folder}/worksheet{ending}"] = whole
    of_key = f"{KEYS}/{folder}/key"
    for form in [each for each in formats if each in HANDED_OUT] or ["markdown"]:
        if form in FORMS:
            ending, write = FORMS[form]
            files[f"{of_key}{ending}"] = write(named_key)
    if PAPER not in formats:
        return Handout(files, sheet)
    papers = paper([worksheet]), paper([named_key])
    files |= {f"{folder}/worksheet.pdf": papers[0].content, f"{of_key}.pdf": papers[1].content}
    return Handout(files, sheet, "".join(each.lacking for each in papers))
