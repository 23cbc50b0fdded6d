"""Rows of scores turned into rows of weights: softmax, hardmax, and each score over its row's sum.

    softmax(s)_j = exp(s_j - max s) / sum_k exp(s_k - max s)

The one implementation of each, for floats and for arrays of Decimals.
"""

from collections.abc import Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.base.decimals import in_system_of, infinity_of, tolerance_of
from attncalc.base.errors import InputError
from attncalc.base.types import Matrix

LAST_DIGITS = 30
"""Digits carried beyond those that mean anything where all before them cancel."""


def exponentials(scores: Matrix, shift: Matrix | None = None, out: Matrix | None = None) -> Matrix:
    """Return exp(s - shift) for each score: the numerators of a softmax."""
    if shift is not None:
        scores = out = np.subtract(scores, shift, out=out)
    powers: Matrix = np.exp(scores, out=out)
    return powers


def softmax(
    scores: Matrix,
    beside: Sequence[Matrix] = (),
    *,
    masked: bool = True,
    shifted: bool = True,
    out: Matrix | None = None,
) -> Matrix:
    """Return the softmax of each row, the last axis; 0 for a row of -inf alone.

    beside: numbers that join the sum of a row and get no weight: attention sinks (..., 1).
    masked: whether scores may be -inf.
    shifted: whether the largest score is subtracted first. It changes no value, and keeps exp
        finite.
    """
    shift = None
    if shifted:
        shift = scores.max(axis=-1, keepdims=True)
        for each in beside:
            shift = np.maximum(shift, each)
        if masked:
            shift = np.where(shift == -infinity_of(scores), 0, shift)
    weights = exponentials(scores, shift, out=out)
    total = weights.sum(axis=-1, keepdims=True)
    for each in beside:
        total = total + exponentials(each, shift)
    if masked:
        total = np.where(total == 0, in_system_of(total, Fraction(1)), total)
    weights *= 1 / total  # n divisions and n × m products: faster than n × m divisions
    return weights


def winners(scores: Matrix) -> Matrix:
    """Return which scores share the first place in their row."""
    largest = scores.max(axis=-1, keepdims=True)
    largest = np.where(largest == -infinity_of(scores), in_system_of(scores, Fraction(0)), largest)
    apart = np.abs(largest) * tolerance_of(scores)
    if scores.dtype == object:  # of scores that are all 0, what roots leave in the last digits
        apart = apart + Decimal(1).scaleb(LAST_DIGITS - getcontext().prec)
    first: Matrix = (scores >= largest - apart) & (scores != -infinity_of(scores))
    return first


def hardmax(scores: Matrix) -> Matrix:
    """Return weights that all go to the largest score of each row; ties share them equally."""
    one, zero = (in_system_of(scores, Fraction(each)) for each in (1, 0))
    won = np.where(winners(scores), one, zero)
    count = won.sum(axis=-1, keepdims=True)
    shared: Matrix = won / np.where(count == 0, one, count)
    return shared


def share(scores: Matrix, first_row: int = 0) -> Matrix:
    """Return each score over the sum of its row; a score of -inf counts as 0.

    Raises InputError if the scores of a row sum to 0.

    first_row: the number of the first row, which an error counts from.
    """
    one, zero = (in_system_of(scores, Fraction(each)) for each in (1, 0))
    allowed = scores != -infinity_of(scores)
    counted = np.where(allowed, scores, zero)
    largest = abs(counted).max(axis=-1, keepdims=True)
    counted = counted / np.where(largest == 0, one, largest)  # so that no sum overflows
    total = counted.sum(axis=-1, keepdims=True)
    size = abs(counted).sum(axis=-1, keepdims=True)
    empty = ~allowed.any(axis=-1, keepdims=True)
    # compared with the sizes that were added: 1e-17 of 1 - 1 is 0, and of 1e-17 alone is not
    vanishes: Any = (abs(total) <= size * tolerance_of(scores)) & ~empty
    if vanishes.any():
        row = first_row + int(np.argwhere(vanishes)[0][-2 if scores.ndim > 1 else -1]) + 1
        raise InputError(
            f"the scores of row {row} sum to 0: the normalizer sum cannot divide by that"
        )
    weights: Matrix = counted / np.where(empty, one, total)
    return weights
