"""A marking as a document, each step with its marks, and as JSON, with codes that stay."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from attncalc.base.text import in_json, of_each, on_a_line
from attncalc.grading.compare import deviation
from attncalc.grading.marks import Marking, Score, StepMarks, flags
from attncalc.grading.rules import STATUSES, Status
from attncalc.problem.stated import heading
from attncalc.solving.influence import shape
from attncalc.solving.plan import formula
from attncalc.writing import document as parts
from attncalc.writing.verdict import (
    Said,
    expected_text,
    found_text,
    labels_of,
    points_text,
    verdict,
)

MARKS = {
    Status.CORRECT: parts.Mark("", "correct", ""),
    Status.ROUNDING: parts.Mark("≈", "right except for rounding", ""),
    Status.FOLLOWS: parts.Mark("→", "follows from your own values", "follows"),
    Status.MATCHES_KEY: parts.Mark("!", "equal to the key, not from your own values", "doubtful"),
    Status.PRECISION: parts.Mark("…", "too few decimals", "doubtful"),
    Status.WRONG: parts.Mark("✗", "wrong", "wrong"),
    Status.NOT_FOUND: parts.Mark("", "not found", ""),
    Status.BLANK: parts.Mark("", "blank", ""),
    Status.UNREADABLE: parts.Mark("?", "not readable", "unreadable"),
    Status.WRONG_SHAPE: parts.Mark("✗", "wrong", "wrong"),
}

MOST_LISTED = 10_000
"""Entries of a step that are listed by default; of more, only the counts of codes are."""


def percent(score: Score) -> str:
    """Return the earned share, such as 98 %; "" if nothing can be earned."""
    if not score.possible:
        return "-"
    rounded = round(100 * score.earned / score.possible)
    if 0 < score.earned < score.possible:  # neither all of it nor nothing
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"


def marking_document(
    marking: Marking, extent: parts.Extent = "elided", said: Said = points_text
) -> parts.Document:
    """Return the document: for a screen, or to be returned with the answer.

    `said` writes points.
    """
    problem = marking.key.problem
    content = tuple(_parts(marking, extent, said))
    return parts.Document(heading(problem), content, language=problem.language)


def _parts(marking: Marking, extent: parts.Extent, said: Said) -> Iterator[parts.Part]:
    total = marking.score
    texts = f"{said(total.earned)} of {said(total.possible, least=0)}", percent(total)
    yield parts.Field("answer", on_a_line(marking.answer.place))
    yield parts.Verdict(*texts, verdict(marking, said))
    if extent == "brief":
        return
    for marks in marking.steps:
        yield _section(marking, marks, said, full=extent == "full")
    if signs := _signs(marking):
        yield parts.Legend(signs)


def _section(marking: Marking, marks: StepMarks, said: Said, *, full: bool) -> parts.Section:
    equation = formula(marks.step, marking.key.problem)
    earned, possible = marking.points[marks.step.name]
    size = shape(marking.key.solution, marks.step)
    words = f"{size}, {said(earned, least=0)} of {said(possible, least=0)}"
    section = parts.Section(marks.step, equation, words, is_marked=True)
    if marks.written is None or marks.count(Status.WRONG_SHAPE):
        return section._replace(remarks=(marks.problem or "not found",))
    heads = np.ndindex(marks.statuses.shape[:-2])
    grids = (_grid(marking, marks, head, full=full) for head in heads)
    remarks: tuple[str, ...] = ()
    if marks.problem:  # its shape differs from the key's
        remarks = (f"{marks.problem}: so it follows from {of_each(list(marks.misread))}",)
    return section._replace(grids=tuple(grids), remarks=remarks)


def _grid(marking: Marking, marks: StepMarks, head: tuple[int, ...], *, full: bool) -> parts.Grid:
    names = labels_of(marking, marks)

    def cell(i: int, j: int) -> parts.Cell:
        place = marking.key.work.turned((*head, i, j))
        return parts.Cell(found_text(marks, place), mark=MARKS[marks.status(place)])

    number = head[0] + 1 if head else 0
    return parts.Grid(marks.step.name, number, *names, cell, full)._replace(one=marks.step.slices)


def _signs(marking: Marking) -> tuple[tuple[str, str], ...]:
    return tuple(
        (mark.sign, mark.means)
        for status, mark in MARKS.items()
        if mark.sign
        and status is not Status.WRONG_SHAPE
        and any(marks.count(status) for marks in marking.steps)
    )


def marking_as_json(marking: Marking, extent: parts.Extent = "elided") -> str:
    """Return the JSON text of one marking."""
    values = as_values(marking, extent)
    return in_json(values, indent=2) + "\n"


def as_values(marking: Marking, extent: parts.Extent = "elided") -> dict[str, Any]:
    """Return the content of the JSON of a marking.

    Credits and scores are fractions, such as "7/2". `cause` of a step lists codes: one if it is
    known, several if any of them is possible. `way` is the code of the accepted rounding that
    explains it, or null. `counts` contains the number of entries with each code. `entries` lists
    the code of each entry; it is null for a step of more than `MOST_LISTED`, unless all are
    requested, and for every step if only the verdict is.
    """
    earned, possible = marking.score
    return {
        "answer": marking.answer.place,
        "score": {"earned": str(earned), "possible": str(possible)},
        "provisional": marking.is_provisional,
        "asked": list(marking.rules.asked or ()),
        "not_found": list(marking.not_found),
        "not_shown": list(marking.passed),
        "points": [
            {"step": name, "earned": str(each.earned), "possible": str(each.possible)}
            for name, each in marking.points.items()
        ],
        "steps": [_step_values(marking, marks, extent) for marks in marking.steps],
        "first_wrong": _first_wrong(marking),
        "rounding": marking.style.code if marking.style else None,
        "connections": [_line_values(marking, line) for line in marking.lines],
        "flags": [{"step": flag.step, "code": flag.code} for flag in flags(marking)],
        "not_asked": [*marking.not_counted, *marking.not_asked],
        "unread": [
            {"line": each.line, "text": each.text, "why": each.why}
            for each in marking.answer.unread
        ],
        "remarks": list(marking.answer.remarks),
        "faults": list(marking.answer.faults),
        "verdict": "\n".join(verdict(marking)),
    }


def not_listed(marking: Marking, extent: parts.Extent) -> str:
    """Return the names of the steps that are too large for their entries to be listed."""
    names = [marks.step.name for marks in marking.steps if not _is_listed(marks, extent)]
    return ", ".join(names) if extent == "elided" else ""


def _is_listed(marks: StepMarks, extent: parts.Extent) -> bool:
    return extent == "full" or (extent == "elided" and marks.statuses.size <= MOST_LISTED)


def _step_values(marking: Marking, marks: StepMarks, extent: parts.Extent) -> dict[str, Any]:
    codes = np.array([status.value for status in STATUSES], dtype=object)
    shown = marking.key.problem.standing.shown
    step: dict[str, Any] = {
        "name": marks.step.name,
        "credit": str(marks.credit(marking.rules)),
        "counts": {status.value: count for status, count in marks.counts.items() if count},
        "entries": shown(codes[marks.statuses]).tolist() if _is_listed(marks, extent) else None,
        "cause": [cause.code for cause in marks.causes],
        "deduction": str(marks.deduction(marking.rules)),
        "way": marks.way.code if marks.way else None,
        "follows": marks.from_own,
    }
    if marks.is_repeated:
        step["repeated"] = True
    if marks.problem:
        step["problem"] = marks.problem
    if marking.rules.in_tolerance:
        step["deviation"] = _deviation(marking, marks)
    return step


def _first_wrong(marking: Marking) -> dict[str, Any] | None:
    wrong = marking.first_wrong
    if wrong is None:
        return None
    name, problem = wrong.marks.step.name, wrong.marks.problem
    if wrong.place is None:
        return {"step": name, "row": None, "column": None, "found": problem, "expected": None}
    *head, row, column = marking.key.work.entry(name, wrong.place).place
    return {
        "step": name,
        **({"head": head[0]} if head else {}),
        "row": row,
        "column": column,
        "found": found_text(wrong.marks, wrong.place),
        "expected": expected_text(marking, wrong.marks, wrong.place),
    }


def _deviation(marking: Marking, marks: StepMarks) -> dict[str, Any]:
    off = deviation(marking, marks)
    worst = None
    if off.worst is not None:
        worst = list(marking.key.work.entry(marks.step.name, off.worst).place)
    errors = {"absolute": off.absolute, "relative": off.relative}
    finite = {name: size if size < float("inf") else "inf" for name, size in errors.items()}
    return {"differ": off.differ, "of": off.entries, **finite, "worst": worst}


def _line_values(marking: Marking, line: Any) -> dict[str, Any]:
    problem = marking.key.problem
    tokens = problem.attention_of(line.weights)
    return {
        **({"weights": line.weights} if problem.where(line.weights) else {}),
        **({"head": line.head} if line.head else {}),
        "output": tokens.queries[line.right.output],
        "code": line.status.value,
        "most": [tokens.keys[index] for index in line.right.most],
        "second": [tokens.keys[index] for index in line.right.second],
    }
