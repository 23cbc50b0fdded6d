"""What readers of forms share: matrices as text, and which of two readings is better."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attncalc.base.typed import quoted
from attncalc.problem.fields import MATRICES, role_of
from attncalc.reading.answers.answer import Answer, Unread
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.prose import is_of_sums, numbers_in
from attncalc.reading.naming.at_hand import is_step_at_hand, names_there
from attncalc.reading.naming.keys import words_of_key
from attncalc.reading.naming.name import name_in
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.plain.rows import Rows

MOST_HEADS = 1000
BLANK = "__"
"""The sign for a blank entry."""
_NO_SIGN = str.maketrans({"[": "(", "]": ")", "\t": " ", "\n": " ", "=": "≈"})
"""Signs of a matrix in a text, which no name and no entry of it contains."""


class Raw(NamedTuple):
    """One matrix, or one head of one, as texts; its head is 0 if none is known."""

    name: str
    head: int
    rows: Rows


def as_text(found: Sequence[Raw]) -> str:
    r"""Return matrices as a text, each on a line of its own.

    >>> as_text([Raw("q_1", 2, [["1", ""]])])
    'q_1 (head 2) = [[1\t__]]'
    """
    return "\n".join(map(_line, found))


def _line(raw: Raw) -> str:
    name = words_of_key(raw.name.translate(_NO_SIGN))
    name = name if name_in(name) else name.replace("_", " ")
    head = f" (head {raw.head})" if raw.head else ""
    rows = ("\t".join(cell.translate(_NO_SIGN) or BLANK for cell in row) for row in raw.rows)
    return f"{name}{head} = [{'; '.join(f'[{row}]' for row in rows)}]"


def is_given(name: str) -> bool:
    """Return whether a matrix is given by the problem, and therefore also on worksheets."""
    is_gradient = role_of(name) == "arriving" and name in names_there()  # a step of a target
    is_step = name in STEPS or is_step_at_hand(name)
    return name in MATRICES and not is_step and not is_gradient


def unread(name: str, what: str, *, is_step: bool = False) -> Unread:
    """Return the unread part under a name, and the reason: the name, or its content."""
    if is_step:
        return Unread(0, name, f"{name}: {what}", could_be_matrix=True)
    text = f"{name}: {what}"[:200]
    why = f"unknown name {quoted(name)}: it is not a step"
    return Unread(0, text, why, len(numbers_in(what)) > 1 and not is_of_sums(name))


def trouble(answer: Answer, expected: Expected) -> tuple[bool, int, int]:
    """Return whether nothing was read, how many parts are unread or odd, and numbers missing."""
    shaped = {name: matrix for name, matrix in answer.matrices.items() if name in expected.steps}
    odd = sum(not expected.fits(name, matrix.values) for name, matrix in shaped.items())
    read = sum(int(np.isfinite(matrix.values).sum()) for matrix in shaped.values())
    missing = sum(np.size(key) for key in expected.steps.values()) - read
    return not answer.matrices, len(answer.faults) + len(answer.unread) + odd, max(0, missing)
