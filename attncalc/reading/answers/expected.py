"""The expected content of an answer, as plain values: reading does not import solving."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import WrittenMatrix
from attncalc.reading.naming.name import NO_TOKENS, Tokens, name_in

NEAR = 0.0151
"""The largest difference of numbers that may be equal, with different rounding of steps."""
MASKS = -1000
"""The largest value that a mask adds to excluded scores."""
SCORES = ("S", "S_scaled")
"""Steps before the mask, which people may write with it."""
MINUS_INFINITY_WRITTEN = -1e4
"""The largest number that people and programs write for -∞."""


@dataclass(frozen=True, eq=False)
class Expected:
    """The steps that an answer may contain, and the matrices that it may copy.

    steps: the values of each step, in the order of the plan: (rows, columns), or (heads, rows,
        columns), in the layout of the problem.
    given: the given matrices of the problem.
    labels: the names of the tokens.
    by_columns: whether tokens are columns.
    names: the names of all tokens, as on attncalc's own pages.
    follows: returns the steps that follow from matrices of an answer, as `steps` has them.
    mistaken: yields what common mistakes give for some of the steps, from matrices of an answer.
    has_map: whether an answer may state which inputs an output attends to.
    """

    steps: Mapping[str, Matrix] = field(default_factory=dict)
    given: Mapping[str, Matrix] = field(default_factory=dict)
    labels: Tokens = NO_TOKENS
    by_columns: bool = False
    names: tuple[str, ...] = ()
    follows: Callable[[Mapping[str, Matrix]], Mapping[str, Matrix]] = lambda own: {}
    mistaken: Callable[[Mapping[str, Matrix], Collection[str]], Iterable[tuple[str, Matrix]]] = (
        lambda own, names: ()
    )
    has_map: bool = True

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a step; () if there is no such step."""
        return tuple(self.steps[name].shape) if name in self.steps else ()

    def size(self, name: str) -> tuple[int, int]:
        """Return the number of rows and columns of a step, or of one head of it; 0 if unknown."""
        height, width = (0, 0, *self.shape(name))[-2:]
        return height, width

    def is_whole(self, name: str, values: Matrix) -> bool:
        """Return whether a matrix has the shape of a step, and no entry is missing."""
        return values.shape == self.shape(name) and not np.isnan(values).any()

    def whole(self, read: Mapping[str, WrittenMatrix]) -> dict[str, Matrix]:
        """Return the values of the steps that were read in their shape, without gaps."""
        own = {name: each.values for name, each in read.items()}
        return {name: each for name, each in own.items() if self.is_whole(name, each)}

    def step_in(self, words: str, *, whole: bool = True) -> str:
        """Return the step that words name, or a part of which, unless `whole`; "" for none."""
        name = name_in(words, self.labels)
        is_part = name and any((name.head, name.row, name.column, name.number, name.turned))
        return "" if name is None or (whole and is_part) else name.matrix

    def of_head(self, name: str, head: int) -> Matrix | None:
        """Return a step, or one head of it (0 is head 1); None if the key has no such head.

        Head numbers come from answers: only this function uses one as an index.
        """
        key = self.steps.get(name)
        if key is None or key.ndim == 2:
            return key
        return key[max(head, 1) - 1] if head <= len(key) else None

    def heads(self, name: str) -> int:
        """Return the number of heads of a step; 0 for none."""
        shape = self.shape(name)
        return shape[0] if len(shape) == 3 else 0

    def fits(self, name: str, values: Matrix) -> bool:
        """Return whether a matrix, or one head of it, has the shape of a step."""
        return self.shape(name)[-2:] == values.shape[-2:]

    def agreement(self, name: str, values: Matrix) -> float:
        """Return the share of numbers that agree with a step, from 0 to 1; 0 for another shape.

        Of several heads, one may be given, or all of them side by side.
        """
        key = self.steps.get(name)
        if key is None:
            return 0.0
        if key.ndim == 3 and values.ndim == 2:
            return max(share_alike(values, each) for each in (*key, np.hstack([*key])))
        return share_alike(values, key)


def are_weights(key: Matrix) -> bool:
    """Return whether the rows of a matrix sum to 1, within rounding."""
    return bool((key >= 0).all() and (abs(key.sum(axis=-1) - 1) <= NEAR * key.shape[-1]).all())


def share_alike(values: Matrix, others: Matrix) -> float:
    """Return the share of entries that two matrices have in common; 0 for different shapes."""
    if values.shape != others.shape or not values.size:
        return 0.0
    return float(near(values, others).mean())


def is_multiple(values: Matrix, scores: Matrix) -> bool:
    """Return whether numbers are scores times one factor, which is not 1."""
    if values.shape != scores.shape or not np.isfinite(scores).all() or not scores.any():
        return False
    with np.errstate(all="ignore"):
        factor = (scores * values).sum() / (scores**2).sum()
        is_other = 0 < factor < 0.9 or factor > 1.1
        return bool(is_other) and share_alike(values, scores * factor) == 1


def near(values: Matrix, other: Matrix) -> Matrix:
    """Return where numbers agree within rounding."""
    with np.errstate(invalid="ignore"):
        alike = np.abs(values - other) <= NEAR * np.maximum(1, np.abs(other) / 3)
        alike = np.where(np.isfinite(other), alike, np.isneginf(other) & (values <= MASKS))
    return np.asarray(alike | (values == other))


def floats(written: WrittenMatrix) -> Matrix:
    """Return the numbers of a matrix as written."""
    return written.values.astype(np.float64)
