"""A marking as JSON, with codes that stay."""

import json
from typing import Any

from attncalc.grading.compare import deviation
from attncalc.grading.credit import score
from attncalc.grading.flags import flags
from attncalc.grading.marks import Marking, StepMarks
from attncalc.writing.reports.marks import heads_of, place_of, size_of
from attncalc.writing.verdict import expected_text, found_text, verdict


def marking_as_json(marking: Marking) -> str:
    """Return the JSON text of one marking."""
    return json.dumps(as_values(marking), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_values(marking: Marking) -> dict[str, Any]:
    """Return what the JSON of a marking holds.

    Credits and scores are fractions, as "7/2". A step's `cause` lists codes: one where it is
    known, several where one cannot tell which.
    """
    earned, possible = score(marking)
    return {
        "answer": marking.answer.place,
        "score": {"earned": str(earned), "possible": str(possible)},
        "steps": [_step(marking, marks) for marks in marking.steps],
        "first_wrong": _first_wrong(marking),
        "rounding": marking.style.code if marking.style else None,
        "connections": [_line(marking, line) for line in marking.lines],
        "flags": [{"step": flag.step, "code": flag.code} for flag in flags(marking)],
        "not_asked": list(marking.not_asked),
        "faults": list(marking.answer.faults),
        "verdict": "\n".join(verdict(marking)),
    }


def _step(marking: Marking, marks: StepMarks) -> dict[str, Any]:
    grids = [_codes(marking, marks, head) for head in heads_of(marks)]
    step: dict[str, Any] = {
        "name": marks.step.name,
        "credit": str(marks.credit(marking.rules)),
        "entries": grids[0] if marks.statuses.ndim == 2 else grids,
        "cause": [cause.code for cause in marks.causes],
        "follows": marks.from_own,
    }
    if marks.is_repeated:
        step["repeated"] = True
    if marks.problem:
        step["problem"] = marks.problem
    if marking.rules.in_tolerance:
        step["deviation"] = _deviation(marking, marks)
    return step


def _codes(marking: Marking, marks: StepMarks, head: tuple[int, ...]) -> list[list[str]]:
    rows, columns = size_of(marking, marks)
    return [
        [marks.status(place_of(marking, (*head, i, j))).value for j in range(columns)]
        for i in range(rows)
    ]


def _first_wrong(marking: Marking) -> dict[str, Any] | None:
    wrong = marking.first_wrong
    if wrong is None:
        return None
    name = wrong.marks.step.name
    if wrong.place is None:
        return {
            "step": name,
            "row": None,
            "column": None,
            "found": wrong.marks.problem,
            "expected": None,
        }
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
    return {
        "differ": off.differ,
        "of": off.entries,
        "absolute": _finite(off.absolute),
        "relative": _finite(off.relative),
        "worst": worst,
    }


def _finite(value: float) -> float | str:
    return value if value < float("inf") else "inf"


def _line(marking: Marking, line: Any) -> dict[str, Any]:
    problem = marking.key.problem
    return {
        **({"head": line.head} if line.head else {}),
        "output": problem.queries[line.right.output],
        "code": line.status.value,
        "most": [problem.keys[index] for index in line.right.most],
        "second": [problem.keys[index] for index in line.right.second],
    }
