"""A marking on a terminal: each step with a mark beside what is not simply right, the verdict."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from attncalc.grading.credit import score
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Status
from attncalc.problem.stated import heading
from attncalc.solving.plan import formula
from attncalc.text import on_a_line, within
from attncalc.writing.frames import Cell, Screen, fitting, framed
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import kept
from attncalc.writing.reports.many import Marked, rows, summary
from attncalc.writing.reports.marks import (
    MARKS,
    heads_of,
    legend,
    percent,
    place_of,
    size_of,
)
from attncalc.writing.sentences import BLANK, shape
from attncalc.writing.verdict import found_text, verdict

LONGEST_ROW_NAME = 24
LONGEST_COLUMN_NAME = 12


def marking_in_tables(marking: Marking, screen: Screen) -> Iterator[Text]:
    """Yield the heading, each step with its marks, what they mean, the score and the verdict."""
    yield Text(f"{heading(marking.key.problem)}", style="bold")
    yield Text(f"answer: {on_a_line(marking.answer.place)}")
    for marks in marking.steps:
        yield from _step(marking, marks, screen)
    signs = [f"{within(screen.encoding, sign)} {means}" for sign, means in legend(marking)]
    yield Text()
    if signs:
        yield Text("   ".join(signs))
        yield Text()
    earned, possible = score(marking)
    yield Text(f"Score: {earned} of {possible} ({percent(score(marking))})", style="bold")
    for sentence in verdict(marking):
        yield Text(within(screen.encoding, sentence))


def _step(marking: Marking, marks: StepMarks, screen: Screen) -> Iterator[Text]:
    solution = marking.key.solution
    equation = in_text(formula(marks.step, marking.key.problem))
    yield Text()
    title = Text(within(screen.encoding, f"{marks.step.name} = {equation}"), style="bold")
    credit = marks.credit(marking.rules)
    said = f"   {shape(solution, marks.step)}, credit {credit}"
    yield title.append(within(screen.encoding, said), style="not bold")
    if marks.written is None or marks.count(Status.WRONG_SHAPE):
        yield Text(within(screen.encoding, marks.problem or "left out"))
        return
    for head in heads_of(marks):
        if head:
            yield Text(f"head {head[0] + 1} of {len(marks.statuses)}")
        columns = kept(size_of(marking, marks)[1], full=screen.full)
        yield from framed(_cells(marking, marks, head, screen), columns, screen)


def _cells(
    marking: Marking, marks: StepMarks, head: tuple[int, ...], screen: Screen
) -> list[list[Cell]]:
    """Return the entries as they were written, each with its mark, between their names."""
    solution = marking.key.solution
    row_names, column_names = (
        solution.row_labels(marks.step),
        solution.column_labels(marks.step),
    )
    height, width = size_of(marking, marks)
    rows, columns = (kept(size, full=screen.full) for size in (height, width))
    signs = {
        status: within(screen.encoding, MARKS[status].sign)
        for status in Status
        if marks.count(status)
    }
    wide = max(map(len, signs.values()))
    room = " " * (wide + 1) if wide else ""

    def cell(i: int | None, j: int | None) -> Cell:
        if i is None or j is None:
            return screen.ellipsis + room, ""
        place = place_of(marking, (*head, i, j))
        mark = MARKS[marks.status(place)]
        text = within(screen.encoding, found_text(marks, place)) or BLANK
        sign = f" {signs[marks.status(place)]:{wide}}" if wide else ""
        return text + sign, mark.style

    names = fitting(row_names, rows, LONGEST_ROW_NAME, screen)
    headings = fitting(column_names, columns, LONGEST_COLUMN_NAME, screen)
    return [
        [("", ""), *((name + room, "bold") for name in headings)],
        *(
            [(name, "bold"), *(cell(i, j) for j in columns)]
            for name, i in zip(names, rows, strict=True)
        ),
    ]


def many_in_tables(answers: Sequence[Marked], screen: Screen) -> Iterator[Text]:
    """Yield a row for each answer, and which mistakes were common."""
    for row in rows(answers)[1:]:
        place, earned, possible, share, first, causes, flagged, faults = row
        said = f"{earned} of {possible} ({share})" if earned else "not marked"
        parts = [
            f"first wrong {first}" if first else "",
            causes,
            f"look at {flagged}" if flagged else "",
            faults,
        ]
        line = "   ".join([on_a_line(place), said, *(on_a_line(part) for part in parts if part)])
        yield Text(within(screen.encoding, line))
    yield Text()
    for sentence in summary(answers):
        yield Text(within(screen.encoding, on_a_line(sentence)))
