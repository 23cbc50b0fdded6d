"""Many answers to one problem: a row for each, and which mistakes were common."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean, median
from typing import NamedTuple

from attncalc.grading.credit import score, share_of_lines
from attncalc.grading.flags import flags
from attncalc.grading.marks import Marking
from attncalc.grading.rules import LINES
from attncalc.text import harmless_cell, on_a_line
from attncalc.writing.document import Appendix, Bullets, Document, Extent, Table
from attncalc.writing.reports.json_text import as_values
from attncalc.writing.reports.marking import marking_document
from attncalc.writing.reports.marks import percent
from attncalc.writing.verdict import entry_named

COLUMNS = ("answer", "earned", "possible", "percent", "first wrong", "causes", "flags", "note")
MOST_COMMON = 10
MOST_FAULTS = 3
"""What cannot be read in an answer, of which a row says no more."""


class Marked(NamedTuple):
    """One of many answers: its marking, or why there is none."""

    place: str
    marking: Marking | None
    error: str = ""


def as_csv(answers: Sequence[Marked], names: Sequence[str]) -> str:
    """Return a row for each answer, with what it earns in each of the named steps."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*COLUMNS, *names, LINES])
    for answer in answers:
        earned = _credits(answer, names)
        writer.writerow([harmless_cell(cell) for cell in (*_row(answer), *earned)])
    return buffer.getvalue()


def as_json(answers: Sequence[Marked], extent: Extent = "elided") -> str:
    """Return all markings, and the summary, as one JSON object."""
    listed = [
        {"answer": each.place, "error": each.error}
        if each.marking is None
        else as_values(each.marking, extent)
        for each in answers
    ]
    content = {"answers": listed, "summary": list(summary(answers))}
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def answers_document(answers: Sequence[Marked], extent: Extent = "elided") -> Document:
    """Return a row for each answer, which mistakes were common, and then each marking."""
    rows = [tuple(map(on_a_line, _row(each))) for each in answers]
    table = Table("Answers", COLUMNS, tuple(rows), tuple(map(_told, rows)))
    said = tuple(map(on_a_line, summary(answers)))
    markings = (each.marking for each in answers if each.marking is not None)
    each_alone = tuple(marking_document(marking, extent) for marking in markings)
    return Document("", (table, Bullets(said), Appendix(each_alone)))


def _told(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return what there is to say in a row, in words."""
    place, earned, possible, share, first, causes, flagged, faults = row
    said = f"{earned} of {possible} ({share})" if earned else "not marked"
    wrong, look = f"first wrong {first}", f"look at {flagged}"
    parts = (place, said, first and wrong, causes, flagged and look, faults)
    return tuple(part for part in parts if part)


def summary(answers: Sequence[Marked]) -> Iterator[str]:
    """Yield how many were right, what the mean is, and which mistakes were common."""
    markings = [each.marking for each in answers if each.marking is not None]
    right = sum(marking.is_right for marking in markings)
    yield f"{len(markings)} of {_answers(len(answers))} marked, {right} without a mistake."
    scores = [score(marking) for marking in markings]
    shares = [each.earned / each.possible for each in scores if each.possible]
    if shares:
        yield f"Mean {round(100 * mean(shares))} %, median {round(100 * median(shares))} %."
    first = Counter(
        marking.first_wrong.marks.step.name for marking in markings if marking.first_wrong
    )
    for name, count in first.most_common(MOST_COMMON):
        yield f"{_answers(count)} first went wrong in {name}."
    for (name, says), count in _mistakes(markings).most_common(MOST_COMMON):
        yield f"{_answers(count)}, {name}: {says}."


def _mistakes(markings: Sequence[Marking]) -> Counter[tuple[str, str]]:
    return Counter(
        (marks.step.name, marks.cause.says)
        for marking in markings
        for marks in marking.steps
        if marks.cause is not None
    )


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count} answers"


def _row(answer: Marked) -> Iterator[str]:
    """Yield the cells of an answer's row."""
    marking = answer.marking
    yield answer.place
    if marking is None:
        yield from ("", "", "", "", "", "", answer.error)
        return
    total = score(marking)
    yield from (str(total.earned), str(total.possible), percent(total))
    yield _first_wrong(marking)
    yield "; ".join(
        f"{marks.step.name}: {' or '.join(cause.code for cause in marks.causes)}"
        for marks in marking.steps
        if marks.causes
    )
    yield "; ".join(f"{flag.step}: {flag.code}" for flag in flags(marking))
    faults = marking.answer.faults
    more = [f"{len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
    yield "; ".join([*faults[:MOST_FAULTS], *more])


def _first_wrong(marking: Marking) -> str:
    wrong = marking.first_wrong
    if wrong is None:
        return ""
    if wrong.place is None:
        return f"{wrong.marks.step.name}: shape"
    return entry_named(marking, wrong.marks, wrong.place).name


def _credits(answer: Marked, names: Sequence[str]) -> Iterator[str]:
    marking = answer.marking
    steps = {} if marking is None else {each.step.name: each for each in marking.steps}
    for name in names:
        yield str(steps[name].credit(marking.rules)) if marking and name in steps else ""
    yield str(share_of_lines(marking)) if marking and marking.lines else ""


def has_mistakes(answers: Sequence[Marked]) -> bool:
    """Say whether any answer was not marked, or is not right."""
    return any(each.marking is None or not each.marking.is_right for each in answers)
