"""The interactive page of a solution, or why the page is static."""

import json
from dataclasses import replace
from math import prod
from typing import Any

from attncalc.base.errors import InputError
from attncalc.equations.operation import UnstatedError
from attncalc.languages.catalogue import ENGLISH
from attncalc.writing.html.page import Live, write_html
from attncalc.writing.html.style import style
from attncalc.writing.live.data import language_data, live_data, page_data, unmarked_data
from attncalc.writing.live.script import PAGE, PRACTICE, UNMARKED, script
from attncalc.writing.page import Page

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

    page: the page; a worksheet is interactive only for practice.
    unfolded: whether the work is open.
    practice: whether a worksheet is to be filled in where it is read.
    marks: whether a worksheet for practice marks what is filled in.
    compact: whether it is shown in a notebook, with little space.
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
    data, runs = _data(page, what), script(what)
    if what != PAGE:
        data |= language_data(page.problem, runs + json.dumps(data, ensure_ascii=False))
    said = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    looks = ("page.css",) if what == PAGE else ("page.css", "practice.css")
    return Live(said, runs, "".join(style("attncalc.writing.live", each) for each in looks))


def _data(page: Page, what: str) -> dict[str, Any]:
    if what == UNMARKED:
        return unmarked_data(page.problem)
    if what == PRACTICE:
        return live_data(page.problem, page.fractions) | unmarked_data(page.problem)
    return page_data(page.problem, page.fractions)


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
