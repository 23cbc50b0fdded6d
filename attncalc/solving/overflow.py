"""Saying no to numbers that grow beyond floats, before anybody reads them."""

import math
from collections.abc import Mapping
from itertools import dropwhile

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.types import Matrix
from attncalc.operations.step import Plan


def refuse_overflow(matrices: Mapping[str, Matrix], plan: Plan) -> None:
    """Refuse infinite and undefined numbers, but not where a mask forbids: they never matter there.

    Parameters
    ----------
    matrices
        The matrix of every step, by name.
    plan
        The steps.

    Raises
    ------
    InputError
        That names the first step, row and column.
    """
    for name, matrix in matrices.items():
        # a finite sum of squares has no nan or ∞ in it, and is faster than a test of each entry
        if math.isfinite(np.vdot(matrix, matrix)) or np.isfinite(matrix).all():
            continue
        wrong = ~np.isfinite(matrix)
        # a score that overflows where a mask forbids never reaches an output
        for forbidden in _masked_from(name, matrices, plan):
            if matrix.shape == forbidden.shape:
                wrong &= ~np.isneginf(forbidden)
        if wrong.any():
            *head, row, column = (int(index) + 1 for index in np.argwhere(wrong)[0])
            place = f"head {head[0]}, " if head else ""
            raise InputError(
                f"{name}, {place}row {row}, column {column} grows beyond the largest "
                f"{matrix.dtype} (about {np.finfo(matrix.dtype).max:.1e}): give smaller numbers"
            )


def _masked_from(name: str, matrices: Mapping[str, Matrix], plan: Plan) -> list[Matrix]:
    """Return the first masked scores from a step on, which are those of its own attention.

    An equation may forbid before scores are scaled: of what comes after it, those are masked, too.
    """
    masked = [step.name for step in plan if step.role == "masked" and step.name in matrices]
    behind = [step.name for step in dropwhile(lambda step: step.name != name, plan)]
    found = [each for each in masked if each in behind][:1] or masked[-1:]
    return [matrices[each] for each in found]


def refuse_overflow_of(outputs: Matrix, first_row: int) -> None:
    """Refuse outputs of a block of rows: whatever overflowed on the way has reached them."""
    # one sum in place of n × d_v questions: nan and ∞ survive it
    if np.isfinite(outputs.sum()):
        return
    finite = np.isfinite(outputs).all(axis=-1)
    if not finite.all():
        raise InputError(
            f"output {first_row + int(finite.argmin()) + 1} grows beyond the largest "
            f"{outputs.dtype} (about {np.finfo(outputs.dtype).max:.1e}): give smaller numbers"
        )
