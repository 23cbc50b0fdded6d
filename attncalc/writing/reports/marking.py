"""The document of a marking: each step with its marks, and the verdict."""

from collections.abc import Iterator

from attncalc.base.text import of_each, on_a_line
from attncalc.grading.credit import Score, points_of, score
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Status
from attncalc.problem.stated import heading
from attncalc.solving.influence import shape
from attncalc.solving.plan import formula
from attncalc.writing.document import (
    Cell,
    Document,
    Extent,
    Field,
    Grid,
    Legend,
    Mark,
    Part,
    Section,
    Verdict,
)
from attncalc.writing.verdict import Said, found_text, labels_of, points_text, verdict

MARKS = {
    Status.CORRECT: Mark("", "correct", ""),
    Status.ROUNDING: Mark("≈", "right except for rounding", ""),
    Status.FOLLOWS: Mark("→", "follows from your own values", "follows"),
    Status.MATCHES_KEY: Mark("!", "equal to the key, not from your own values", "doubtful"),
    Status.PRECISION: Mark("…", "too few decimals", "doubtful"),
    Status.WRONG: Mark("✗", "wrong", "wrong"),
    Status.NOT_FOUND: Mark("", "not found", ""),
    Status.BLANK: Mark("", "blank", ""),
    Status.UNREADABLE: Mark("?", "not readable", "unreadable"),
    Status.WRONG_SHAPE: Mark("✗", "wrong", "wrong"),
}


def _heads_of(marks: StepMarks) -> list[tuple[int, ...]]:
    if marks.statuses.ndim == 2:
        return [()]
    return [(head,) for head in range(len(marks.statuses))]


def percent(score: Score) -> str:
    """Return the earned share, such as 98 %; "" if nothing can be earned."""
    if not score.possible:
        return "-"
    rounded = round(100 * score.earned / score.possible)
    if 0 < score.earned < score.possible:  # neither all of it nor nothing
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"


def marking_document(
    marking: Marking, extent: Extent = "elided", said: Said = points_text
) -> Document:
    """Return the document: for a screen, or to be returned with the answer.

    `said` writes points.
    """
    problem = marking.key.problem
    parts = tuple(_parts(marking, extent, said))
    return Document(heading(problem), parts, language=problem.language)


def _parts(marking: Marking, extent: Extent, said: Said) -> Iterator[Part]:
    total = score(marking)
    texts = f"{said(total.earned)} of {said(total.possible, least=0)}", percent(total)
    yield Field("answer", on_a_line(marking.answer.place))
    yield Verdict(*texts, verdict(marking, said))
    if extent == "brief":
        return
    for marks in marking.steps:
        yield _section(marking, marks, said, full=extent == "full")
    if signs := _signs(marking):
        yield Legend(signs)


def _section(marking: Marking, marks: StepMarks, said: Said, *, full: bool) -> Section:
    equation = formula(marks.step, marking.key.problem)
    earned, possible = points_of(marking)[marks.step.name]
    size = shape(marking.key.solution, marks.step)
    words = f"{size}, {said(earned, least=0)} of {said(possible, least=0)}"
    section = Section(marks.step, equation, words, is_marked=True)
    if marks.written is None or marks.count(Status.WRONG_SHAPE):
        return section._replace(remarks=(marks.problem or "not found",))
    grids = (_grid(marking, marks, head, full=full) for head in _heads_of(marks))
    remarks: tuple[str, ...] = ()
    if marks.problem:  # its shape differs from the key's
        remarks = (f"{marks.problem}: so it follows from {of_each(list(marks.misread))}",)
    return section._replace(grids=tuple(grids), remarks=remarks)


def _grid(marking: Marking, marks: StepMarks, head: tuple[int, ...], *, full: bool) -> Grid:
    """Return the entries as written, each with its mark."""
    names = labels_of(marking, marks)

    def cell(i: int, j: int) -> Cell:
        place = marking.key.work.turned((*head, i, j))
        return Cell(found_text(marks, place), mark=MARKS[marks.status(place)])

    number = head[0] + 1 if head else 0
    return Grid(marks.step.name, number, *names, cell, full)._replace(one=marks.step.slices)


def _signs(marking: Marking) -> tuple[tuple[str, str], ...]:
    """Return the used signs, with their meanings."""
    return tuple(
        (mark.sign, mark.means)
        for status, mark in MARKS.items()
        if mark.sign
        and status is not Status.WRONG_SHAPE
        and any(marks.count(status) for marks in marking.steps)
    )
