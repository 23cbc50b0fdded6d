"""The document of a marking: each step with a mark beside what is not simply right, the verdict."""

from collections.abc import Iterator

from attncalc.grading.credit import score
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Status
from attncalc.problem.stated import heading
from attncalc.solving.influence import shape
from attncalc.solving.plan import formula
from attncalc.text import of_each, on_a_line
from attncalc.writing.document import (
    Cell,
    Document,
    Extent,
    Field,
    Grid,
    Legend,
    Part,
    Section,
    Verdict,
)
from attncalc.writing.reports.marks import MARKS, heads_of, percent, place_of
from attncalc.writing.verdict import found_text, labels_of, verdict


def marking_document(marking: Marking, extent: Extent = "elided") -> Document:
    """Return the document: to be read on a screen, or to be handed back with the answer."""
    return Document(heading(marking.key.problem), tuple(_parts(marking, extent)))


def _parts(marking: Marking, extent: Extent) -> Iterator[Part]:
    earned, possible = score(marking)
    yield Field("answer", on_a_line(marking.answer.place))
    yield Verdict(f"{earned} of {possible}", percent(score(marking)), verdict(marking))
    if extent == "brief":
        return
    for marks in marking.steps:
        yield _section(marking, marks, full=extent == "full")
    if signs := _signs(marking):
        yield Legend(signs)


def _section(marking: Marking, marks: StepMarks, *, full: bool) -> Section:
    equation = formula(marks.step, marking.key.problem)
    said = f"{shape(marking.key.solution, marks.step)}, credit {marks.credit(marking.rules)}"
    section = Section(marks.step, equation, said, is_marked=True)
    if marks.written is None or marks.count(Status.WRONG_SHAPE):
        return section._replace(remarks=(marks.problem or "not found",))
    grids = (_grid(marking, marks, head, full=full) for head in heads_of(marks))
    remarks = (_followed(marks),) if marks.problem else ()
    return section._replace(grids=tuple(grids), remarks=remarks)


def _followed(marks: StepMarks) -> str:
    """Say where the shape of a step comes from that is another one than the key's."""
    return f"{marks.problem}: so it follows from {of_each(list(marks.misread))}"


def _grid(marking: Marking, marks: StepMarks, head: tuple[int, ...], *, full: bool) -> Grid:
    """Return the entries as they were written, each with its mark."""
    names = labels_of(marking, marks)

    def cell(i: int, j: int) -> Cell:
        place = place_of(marking, (*head, i, j))
        return Cell(found_text(marks, place), mark=MARKS[marks.status(place)])

    number = head[0] + 1 if head else 0
    return Grid(marks.step.name, number, *names, cell, full)


def _signs(marking: Marking) -> tuple[tuple[str, str], ...]:
    """Return the signs that are used, and what each means."""
    return tuple(
        (mark.sign, mark.means)
        for status, mark in MARKS.items()
        if mark.sign
        and status is not Status.WRONG_SHAPE
        and any(marks.count(status) for marks in marking.steps)
    )
