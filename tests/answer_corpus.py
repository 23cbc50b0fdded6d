"""The answers in `tests/answers`, as people write them, and what each must be read as."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attncalc import read_problem
from attncalc.base.errors import AttncalcError
from attncalc.grading.key import Key
from attncalc.grading.slack import ToTheDigit
from attncalc.problem.samples import sample
from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.answers.answer import Answer

FOLDER = Path(__file__).parent / "answers"
PROBLEMS = FOLDER / "problems"
KNOWN: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
_READY: dict[str, Any] = {}


class Outcome(NamedTuple):
    """What became of a file: "whole", "noted" or "silent", and why."""

    became: str
    why: str


def expected(problem: str) -> Any:
    """Return what the answers to a sample, or to a problem of the corpus, may hold."""
    if problem not in _READY:
        own = PROBLEMS / f"{problem}.json"
        read = read_problem(own if own.exists() else sample(problem).path)
        _READY[problem] = Key(read, ToTheDigit(read.decimals)).expected
    return _READY[problem]


def outcome(name: str) -> Outcome:
    """Read a file of the corpus, and compare the result with its content."""
    known = KNOWN[name]
    try:
        answer = read_answer_bytes((FOLDER / name).read_bytes(), name, expected(known["problem"]))
    except AttncalcError as error:
        return Outcome("noted" if known["reads"] else "whole", str(error))
    must_note, blanks = known.get("unread", False), known.get("blank", False)
    return compared(answer, known["reads"], must_note=must_note, blanks=blanks)


def compared(
    answer: Answer, reads: dict[str, Any], *, must_note: bool = False, blanks: bool = False
) -> Outcome:
    """Return whether an answer was read as what it is.

    What is null in the truth must be noted as a fault, unless it was left blank.
    """
    became, why = "whole", ""
    for step, rows in reads.items():
        truth = np.array(rows, dtype=float)
        matrix = answer.matrices.get(step)
        values = None if matrix is None else matrix.values
        if values is not None and values.ndim == 3 and len(values) == 1 and truth.ndim == 2:
            values = values[0]
        if values is not None and np.array_equal(values, truth, equal_nan=True):
            if not blanks and np.isnan(truth).sum() != len(matrix.faults if matrix else ()):
                return Outcome("silent", f"{step}: a blank that is no fault")
        elif matrix is None and answer.has_unread_matrix:
            became, why = "noted", f"{step} is not read"
        else:
            shape = None if values is None else values.shape
            return Outcome("silent", f"{step} is read as {shape}: {values}")
    extra = [name for name in answer.matrices if name not in reads]
    if extra:
        return Outcome("silent", f"{extra} were never written")
    if must_note and not answer.has_unread_matrix:
        return Outcome("silent", "what is not readable is not listed")
    if became == "whole" and answer.has_unread_matrix and not must_note:
        return Outcome("noted", f"listed as not read: {answer.unread[0]}")
    return Outcome(became, why)
