"""The interactive page of a solution, or why it is static; and one that computes any problem."""

import json
from collections.abc import Iterable
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from attncalc.base.errors import InputError
from attncalc.equations.operation import UnstatedError
from attncalc.languages.catalogue import ENGLISH
from attncalc.problem.problem import Problem
from attncalc.writing.html.elements import element
from attncalc.writing.html.page import Live, data_script, whole_page, write_html
from attncalc.writing.html.style import style
from attncalc.writing.live.data import LOOK, language_data, live_data, page_data, unmarked_data
from attncalc.writing.live.script import PAGE, PLAYGROUND, PRACTICE, UNMARKED, script
from attncalc.writing.page import Page

TITLE = "Attention, by hand: the attncalc playground"
KEPT = ("settings", "given", "problem", "digits", "weights")
"""What a template of the playground has of the data of a page, besides its plans."""
LARGEST_SIDE = 512
MOST_ENTRIES = 100_000
"""Rows or columns of a matrix, and entries of all of them, for which a page stays fast.

With so many, Chromium opens a page in about 5 s, and an edit takes up to half a second.
"""


def write_page(
    page: Page,
    *,
    unfolded: bool = False,
    practice: bool = False,
    marks: bool = True,
    compact: bool = False,
) -> str:
    """Return the page of a solution as HTML: interactive, or with a note that states why not.

    Raises InputError if it is to be for practice, and cannot be computed in the page.

    practice: whether a worksheet is to be filled in where it is read.
    marks: whether a worksheet for practice marks what is filled in.
    """
    if not practice and (page.language != ENGLISH or page.is_blank):
        return write_html(page, unfolded=unfolded)  # static without a note: it is handed out
    what, live = (PRACTICE if marks else UNMARKED) if practice else PAGE, None
    if (why := _why_not(page, what)) is None:
        try:
            live = live_for(page, what)
        except UnstatedError as error:
            why = f"no equation states how {error} is computed"
    if practice and why is not None:
        raise InputError(f"--practice is not possible: {why}")
    if live is None:
        note = f"this page is not interactive: {why}"
        return write_html(replace(page, notes=(*page.notes, note)), unfolded=unfolded)
    return write_html(page, live=live, unfolded=unfolded, compact=compact)


def is_live(page: Page) -> bool:
    """Return whether the page of a solution is interactive."""
    if _why_not(page, PAGE) is not None:
        return False
    try:
        page_data(page.problem, page.fractions, others=False)
    except UnstatedError:
        return False
    return True


def live_for(page: Page, what: str = PAGE) -> Live:
    """Return the data and script of a page: of a key, or of a worksheet for practice."""
    problem, fractions, runs = page.problem, page.fractions, script(what)
    if what == PAGE:
        data = page_data(problem, fractions)
    else:
        data = live_data(problem, fractions) if what == PRACTICE else {}
        data |= unmarked_data(problem)
        data |= language_data(problem, runs + json.dumps(data, ensure_ascii=False))
    said = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    looks = ("page.css",) if what == PAGE else ("page.css", "practice.css")
    return Live(said, runs, "".join(style("attncalc.writing.live", each) for each in looks))


def _why_not(page: Page, what: str) -> str | None:
    solution, problem = page.solution, page.problem
    sizes = [solution.shape_of(step.name) for step in solution.steps]
    sizes += [problem.stored(name).shape for name in problem.names]
    if max(map(max, sizes)) > LARGEST_SIDE:
        return f"a matrix has more than {LARGEST_SIDE} rows or columns"
    if what == PRACTICE and not solution.is_exact:
        return "it is too large for exact decimals, which marking needs"
    if what == PAGE and not solution.is_proven:
        return "its digits come from floats, and the page could show other digits"
    if sum(map(prod, sizes)) > MOST_ENTRIES:
        return f"it has more than {MOST_ENTRIES:,} numbers"
    return None


class Template(NamedTuple):
    """A problem that the playground begins with.

    key: its name in the address of the page.
    others: whether a reader may choose other conventions than its own.
    """

    key: str
    group: str
    title: str
    problem: Problem
    others: bool = False


def write_playground(templates: Iterable[Template], first: str) -> str:
    """Return the playground: templates, and the one that it opens with."""
    problem = json.dumps(_of_all(templates, first), separators=(",", ":"))
    start = data_script(json.dumps(f"problem={first}"), "start")
    scripts = [data_script(problem, "problem"), start, script(PLAYGROUND)]
    body = element("div", element("h1", TITLE), element("p", "This page needs JavaScript."),
                   id="playground")  # fmt: skip
    look = style("attncalc.writing.live", "playground.css")
    return whole_page(TITLE, body, look, scripts, allows="img-src data:")


def _of_all(templates: Iterable[Template], first: str) -> dict[str, Any]:
    """Return all templates; steps that several have are stored once."""
    known: dict[str, int] = {}
    found = {}
    for key, group, title, problem, others in templates:
        data = page_data(problem, others=others)
        place = [known.setdefault(json.dumps(each), len(known)) for each in data["steps"]]
        plans = {
            name: {"steps": [place[k] for k in each["steps"]], "longest": each["longest"]}
            for name, each in data["plans"].items()
        }
        given = data["given"].values()
        turned = any("from" in each or each["shape"] != each["given"] for each in given)
        named = {"group": group, "title": title, "command": problem.what}
        found[key] = {each: data[each] for each in KEPT} | named
        found[key] |= {"plans": plans, "isTurned": turned}
    return {"first": first, "templates": found, "steps": list(map(json.loads, known)), "look": LOOK}
