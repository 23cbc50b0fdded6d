"""The data of the page of a marked answer: the mark of each entry, with its work."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from attncalc.base.types import Place
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.own_work import OwnWork
from attncalc.grading.rules import Status
from attncalc.solving.work import Work
from attncalc.writing.document import Extent, Given, Part, Section
from attncalc.writing.html.elements import id_of
from attncalc.writing.html.page import Live, write_html
from attncalc.writing.html.style import style
from attncalc.writing.live.script import MARKED, script
from attncalc.writing.page import given_grids
from attncalc.writing.prose import line_in_text
from attncalc.writing.reports.marking import MARKS, marking_document
from attncalc.writing.verdict import Said, entry_named, expected_text, found_text, points_text

MOST_NUMBERS = 20_000
"""Numbers in the work of a page: of more, it would grow large."""
SHOULD_BE = frozenset({Status.WRONG, Status.PRECISION, Status.UNREADABLE, Status.BLANK})
"""Marks of entries that need a correction."""


def write_marking(marking: Marking, extent: Extent = "elided", said: Said = points_text) -> str:
    """Return the HTML page of a marked answer: interactive, or with a note that states why not."""
    document = marking_document(marking, extent, said)
    if not document.sections:  # only the verdict is requested
        return write_html(document)
    if (why := _why_not(marking)) is not None:
        note = f"this page does not show how entries are calculated: {why}"
        return write_html(replace(document, notes=(*document.notes, note)))
    data = json.dumps(marked_data(marking), ensure_ascii=True, separators=(",", ":"))
    live = Live(data, script(MARKED), style("attncalc.writing.live", "page.css"))
    # the given matrices come before all steps: they light up, too
    given: Part = Given(tuple(given_grids(marking.key.work, full=True)))
    first = next(i for i, part in enumerate(document.parts) if isinstance(part, Section))
    whole = (*document.parts[:first], given, *document.parts[first:])
    return write_html(replace(document, parts=whole), live=live)


def marked_data(marking: Marking) -> dict[str, Any]:
    """Return the mark of each entry of the page and the entries it was made from, by name."""
    own, on_page = OwnWork(marking), {marks.step.name for marks in _shown(marking)}
    entries: dict[str, Any] = {}
    for marks in _shown(marking):
        *heads, rows, columns = marks.statuses.shape
        for shown in np.ndindex(*heads, *marking.key.problem.standing.pair(rows, columns)):
            place = marking.key.work.turned(shown)
            texts = list(_said(marking, marks, place, own))
            is_alike = marks.statuses.shape == marking.key.solution.digits[marks.step.name].shape
            read = _read(marking.key.work, on_page, marks.step.name, place, set())
            reads = list(dict.fromkeys(read)) if is_alike else []
            entries[_id(marks.step.name, shown)] = {"said": texts, "reads": reads}
    return {"entries": entries}


def _why_not(marking: Marking) -> str | None:
    key = marking.key
    if marking.rules.in_tolerance:
        return "its numbers are compared within a tolerance, but work needs exact decimals"
    if not key.solution.is_exact:
        return "the problem is too large for exact decimals"
    entries = sum(marks.statuses.size for marks in marking.steps)
    longest = max(max(matrix.shape) for matrix in key.problem.given.values())
    if entries * longest > MOST_NUMBERS:
        return f"its work has more than {MOST_NUMBERS:,} numbers (--work writes the key's)"
    return None


def _shown(marking: Marking) -> Iterator[StepMarks]:
    """Yield the steps whose entries the page shows."""
    for marks in marking.steps:
        if marks.written is not None and not marks.count(Status.WRONG_SHAPE):
            yield marks


def _id(name: str, shown: Place) -> str:
    *head, row, column = (index + 1 for index in shown)
    return id_of("", name, row, column, head=head[0] if head else 0)


def _said(marking: Marking, marks: StepMarks, place: Place, own: OwnWork) -> Iterator[str]:
    """Yield the verdict on an entry, and its work, from own values and of the key."""
    status, name = marks.status(place), entry_named(marking, marks, place).name
    found, mark = found_text(marks, place), MARKS[marks.status(place)]
    written = f"{name}, written as {found}" if found else name
    should = f"; it should be {expected_text(marking, marks, place)}" if status in SHOULD_BE else ""
    yield f"{written}: {f'{mark.sign} {mark.means}'.strip()}{should}"
    if marks.statuses.shape != marking.key.shown[marks.step.name].shape:
        yield "It is calculated from matrices whose shapes differ from the key."
        return
    if (line := own.line(marks, place)) is not None:
        yield f"From your own values: {line_in_text(line)}"
    elif marks.expected[place] != marking.key.shown[marks.step.name][place]:
        yield f"From your own values it is {expected_text(marking, marks, place)}."
    yield f"In the key: {line_in_text(marking.key.work.line(marks.step.name, place))}"


def _read(
    work: Work, on_page: set[str], name: str, place: Place, seen: set[tuple[str, Place]]
) -> Iterator[str]:
    """Yield what an entry was computed from, as far back as the page shows it.

    An omitted entry that has been `seen` adds nothing.
    """
    for read, there in work.reads(name, place):
        if (read, there) in seen:
            continue
        seen.add((read, there))
        if read in work.problem.names:
            shape = work.problem.stored(read).shape
            at = work.problem.places_of(read)[there]
            yield _id(read, tuple(map(int, np.unravel_index(at, shape))))
        elif read in on_page:
            yield _id(read, work.turned(there))
        else:  # a step that was left out
            yield from _read(work, on_page, read, there, seen)
