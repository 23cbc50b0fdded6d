"""The reading of an answer, as text, and as an answer to be corrected."""

from typing import Any

import numpy as np

from attncalc.base.text import on_a_line
from attncalc.reading.answers.answer import Answer, Taken, WrittenMatrix
from attncalc.writing.studies.common import in_json

WIDEST = 44
"""Characters of a line that are shown."""


def reading_in_text(answer: Answer) -> str:
    """Return how each part of an answer was interpreted, and what is unread or missing.

    >>> print(reading_in_text(Answer("a.txt", {}, unread=())).splitlines()[0])
    a.txt
    """
    lines = [on_a_line(answer.place), ""]
    lines += _parts(answer)
    passed = [taken for taken in answer.taken if not taken.what and taken.how != "words"]
    if passed:
        lines += ["", "passed over"]
        lines += [f"  {_place(t):<9} {t.how}: {_cut(t.text)}" for t in passed]
    if answer.unread:
        lines += ["", "not read"]
        lines += [
            f"  {_line(u.line):<9} {_cut(u.text)}: {u.why}"
            + (" (it could be a matrix)" if u.could_be_matrix else "")
            for u in answer.unread
        ]
    if answer.remarks:
        lines += ["", "remarks", *(f"  {on_a_line(remark)}" for remark in answer.remarks)]
    return "\n".join(lines) + "\n"


def _parts(answer: Answer) -> list[str]:
    """Return a line for each part, or for each matrix where the form has no lines."""
    parts = [taken for taken in answer.taken if taken.what]
    if not parts:
        return [f"  {name:<10} {_size(matrix)}" for name, matrix in answer.matrices.items()]
    rows = [f"  {_place(t):<9} {on_a_line(t.what):<14} {t.how}: {_cut(t.text)}" for t in parts]
    sizes = [f"{name} {_size(matrix)}" for name, matrix in answer.matrices.items()]
    return [*rows, "", f"read: {', '.join(sizes) or 'no step'}"]


def _place(taken: Taken) -> str:
    if not taken.line:
        return ""
    return f"{taken.line}" if taken.last == taken.line else f"{taken.line}-{taken.last}"


def _line(line: int) -> str:
    return f"line {line}" if line else ""


def _size(matrix: WrittenMatrix) -> str:
    return matrix.problem or " × ".join(map(str, matrix.shape))


def _cut(text: str) -> str:
    line = on_a_line(" ".join(text.split()))
    return line if len(line) <= WIDEST else line[: WIDEST - 1] + "…"


def reading_as_json(answer: Answer) -> str:
    """Return an answer as read, its entries as typed, in the form of an answer."""
    content: dict[str, Any] = {name: _texts(matrix) for name, matrix in answer.matrices.items()}
    if answer.connections is not None:
        content["connections"] = _connections(answer)
    notes = [
        *(
            f"{_line(each.line)}: not read: {each.text}: {each.why}".removeprefix(": ")
            for each in answer.unread
        ),
        *answer.remarks,
    ]
    if notes:
        content["notes"] = notes
    return in_json(content, of_lines=(list, dict, str))


def _texts(matrix: WrittenMatrix) -> list[Any]:
    texts = np.empty(matrix.shape, dtype=object)
    for place in np.ndindex(matrix.shape):
        blank = matrix.texts is not None and not str(matrix.texts[place]).strip("_?… ")
        texts[place] = None if blank else matrix.text(place)
    listed: list[Any] = texts.tolist()
    return listed


def _connections(answer: Answer) -> list[Any]:
    lines = [
        (
            each.head,
            {"output": each.output, "most": list(each.most), "second": list(each.second)}
            | ({"of": each.of} if each.of else {}),
        )
        for each in answer.connections or ()
    ]
    heads = max((head for head, _ in lines), default=0)
    if not heads:
        return [line for _, line in lines]
    return [[line for head, line in lines if head == h] for h in range(1, heads + 1)]
