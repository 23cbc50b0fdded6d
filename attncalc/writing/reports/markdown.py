"""A marking as markdown: to be handed back with the answer."""

from collections.abc import Iterator, Sequence

from attncalc.grading.credit import score
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Status
from attncalc.problem.stated import heading
from attncalc.text import shown_names
from attncalc.writing.markdown import LONGEST_NAME, escaped
from attncalc.writing.page import kept
from attncalc.writing.reports.many import Marked, rows, summary
from attncalc.writing.reports.marks import MARKS, heads_of, legend, percent, place_of, size_of
from attncalc.writing.sentences import shape
from attncalc.writing.verdict import found_text, verdict


def marking_in_markdown(marking: Marking, *, full: bool) -> str:
    """Return the marking as a page: the verdict first, then each step with its marks."""
    return "\n\n".join(_parts(marking, full=full)) + "\n"


def _parts(marking: Marking, *, full: bool) -> Iterator[str]:
    earned, possible = score(marking)
    yield f"# {escaped(heading(marking.key.problem))}"
    yield f"Answer: {escaped(marking.answer.place)}"
    yield f"**Score: {earned} of {possible}** ({percent(score(marking))})"
    yield "\n".join(f"- {escaped(sentence)}" for sentence in verdict(marking))
    for marks in marking.steps:
        yield from _step(marking, marks, full=full)
    if signs := [f"{sign} {means}" for sign, means in legend(marking)]:
        yield ", ".join(signs)


def _step(marking: Marking, marks: StepMarks, *, full: bool) -> Iterator[str]:
    size = shape(marking.key.solution, marks.step)
    yield f"## `{marks.step.name}`: {size}, credit {marks.credit(marking.rules)}"
    if marks.written is None or marks.count(Status.WRONG_SHAPE):
        yield escaped(marks.problem or "left out")
        return
    for head in heads_of(marks):
        if head:
            yield f"Head {head[0] + 1} of {len(marks.statuses)}"
        yield _table(marking, marks, head, full=full)


def _table(marking: Marking, marks: StepMarks, head: tuple[int, ...], *, full: bool) -> str:
    solution, size = marking.key.solution, size_of(marking, marks)
    rows, columns = (kept(length, full=full) for length in size)
    row_names = shown_names(solution.row_labels(marks.step), rows, LONGEST_NAME, escaped)
    column_names = shown_names(solution.column_labels(marks.step), columns, LONGEST_NAME, escaped)

    def cell(i: int | None, j: int | None) -> str:
        if i is None or j is None:
            return "…"
        place = place_of(marking, (*head, i, j))
        mark, text = MARKS[marks.status(place)], escaped(found_text(marks, place))
        wrong = marks.status(place) is Status.WRONG
        return f"**{text}** {mark.sign}" if wrong else f"{text} {mark.sign}".strip()

    lines = [["", *column_names], ["---", *("---:" for _ in columns)]]
    lines += [
        [f"**{name}**", *(cell(i, j) for j in columns)]
        for name, i in zip(row_names, rows, strict=True)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def summary_in_markdown(answers: Sequence[Marked]) -> str:
    """Return a table with a row for each answer, and which mistakes were common."""
    headings, *listed = rows(answers)
    lines = [
        headings,
        ["---"] * len(headings),
        *([escaped(cell) for cell in row] for row in listed),
    ]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    said = "\n".join(f"- {escaped(sentence)}" for sentence in summary(answers))
    return f"# Answers\n\n{table}\n\n{said}\n"
