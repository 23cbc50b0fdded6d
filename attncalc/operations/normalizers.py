"""From scores to weights: softmax, hardmax, or each score over the sum of its row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, getcontext
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.equations.expressions import (
    ZERO,
    Explanation,
)
from attncalc.equations.operation import GRADIENT, RESULT, Operation, Shape, Way
from attncalc.equations.rows import exponentials
from attncalc.errors import InputError
from attncalc.numbers.decimals import in_system_of, infinity_of, tolerance_of
from attncalc.numbers.types import Matrix, Range

LARGEST_EXPONENT = 230
"""e to this has 100 digits, the most a pocket calculator can hold."""
LAST_DIGITS = 30
"""Digits of those that are carried that say nothing, where all before them cancel."""
NOTHING_LEFT = Explanation((ZERO,), "no key is left to attend to", Fraction(0))


def _largest(scores: Matrix, masked: bool) -> Matrix:
    """Return the largest score of each row; 0 for a row in which nothing is left."""
    largest: Matrix = scores.max(axis=-1, keepdims=True)
    return np.where(largest == -infinity_of(scores), 0, largest) if masked else largest


def _nonzero(total: Matrix, masked: bool) -> Matrix:
    """Return the sums to divide by, with 1 for a row that has nothing to sum."""
    return np.where(total == 0, in_system_of(total, Fraction(1)), total) if masked else total


def _sum_of_others(matrix: Matrix) -> Matrix:
    """Return for each entry what all others of its row sum to: nothing is taken off again."""
    # the sum less the entry would cancel where one entry is nearly all of the sum
    before, after = np.zeros_like(matrix), np.zeros_like(matrix)
    np.cumsum(matrix[..., :-1], axis=-1, out=before[..., 1:])
    np.cumsum(matrix[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before + after


def _winners(scores: Matrix, largest: Matrix) -> Matrix:
    """Say which scores share first place in their row."""
    apart = np.abs(largest) * tolerance_of(scores)
    if scores.dtype == object:  # of scores that are all 0, what roots leave in the last digits
        apart = apart + Decimal(1).scaleb(LAST_DIGITS - getcontext().prec)
    winners: Matrix = scores >= largest - apart
    return winners


@dataclass(frozen=True, eq=False, repr=False)
class Softmax(Operation):
    """Softmax along each row: exp(s_j) / Σ exp(s_i).

    The largest score of the row is subtracted first, which changes nothing but keeps exp finite.

    Parameters
    ----------
    masked
        Whether scores may be -∞. A row of nothing else then gets weights of 0.
    shifted
        Whether the maximum is subtracted; not needed where scores are known to be small.
    has_sink
        Whether a second matrix follows, (1, 1) or (heads, 1, 1): e to each head's sink joins the
        sum of each of its rows, and goes to no key (OpenAI, *gpt-oss* model card, 2025; Xiao et
        al., *Efficient Streaming Language Models with Attention Sinks*, 2023).
    """

    masked: bool = False
    shifted: bool = True
    has_sink: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row of scores into weights that sum to 1, or to less beside a sink."""
        scores, *sinks = matrices
        shift = self._shift(scores, sinks) if self.shifted else None
        weights = exponentials(scores, shift, out=out)
        total = weights.sum(axis=-1, keepdims=True)
        for sink in sinks:
            total = total + exponentials(sink, shift)
        # n divisions and n × m products: faster than n × m divisions
        weights *= 1 / _nonzero(total, self.masked)
        return weights

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return A ⊙ (dA - rowsum(A ⊙ dA)): its Jacobian, diag(a) - a aᵀ, times the gradient.

        To a sink it is the same, of a score whose weight goes to no key, and hence whose own
        gradient is 0.
        """
        from attncalc.operations.back_scores import SinkBack, SoftmaxBack

        if to == 0:
            return Way(SoftmaxBack(), (RESULT, GRADIENT))
        if not self.has_sink:
            return super().way_back(to, shapes)
        return Way(SinkBack(shapes[to]), (RESULT, GRADIENT))

    def _shift(self, scores: Matrix, sinks: list[Matrix]) -> Matrix:
        """Return what is taken off each row: its largest score, or the sink if that is larger."""
        largest = _largest(scores, self.masked)
        for sink in sinks:
            largest = np.maximum(largest, sink)
        return largest

    def factors(self, *factors: int) -> int:
        """Return 1: a weight is a number of its own, whatever its scores were made of."""
        return 1

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a power of e for each score."""
        return prod(shapes[0]), prod(shapes[0])

    def reach(self, *ranges: Range) -> Range:
        """Return the weights where a score is lowest and all others highest, and the reverse."""
        scores, *sinks = ranges
        # one shift for both ends, so that their powers can be compared
        largest = _largest(scores.high, masked=True)
        for sink in sinks:
            largest = np.maximum(largest, sink.high)
        low, high = (exponentials(each, largest) for each in scores)
        others_low, others_high = (_sum_of_others(each) for each in (low, high))
        for sink in sinks:
            others_low = others_low + exponentials(sink.low, largest)
            others_high = others_high + exponentials(sink.high, largest)
        return Range(
            low / _nonzero(low + others_high, masked=True),
            high / _nonzero(high + others_low, masked=True),
        )


@dataclass(frozen=True, eq=False, repr=False)
class HardMax(Operation):
    """All weight to the largest score of each row; scores that tie share it equally."""

    masked: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row of scores into weights that sum to 1."""
        (scores,) = matrices
        one, zero = (in_system_of(scores, Fraction(each)) for each in (1, 0))
        winners = np.where(_winners(scores, _largest(scores, self.masked)), one, zero)
        shared: Matrix = winners / _nonzero(winners.sum(axis=-1, keepdims=True), self.masked)
        return shared

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Refuse: a step function has no slope to go back by."""
        raise InputError(
            "hardmax jumps where two scores change places and is flat everywhere else, so it has "
            "no gradient to go back by (the normalizers softmax and sum have)"
        )

    def factors(self, *factors: int) -> int:
        """Return 1: a weight is a number of its own, whatever its scores were made of."""
        return 1

    def reach(self, *ranges: Range) -> Range:
        """Return 0 to 1 for a score that may be the largest or not; else what it gets."""
        (scores,) = ranges
        best = np.where(np.isfinite(scores.low), scores.low, -np.inf).max(axis=-1, keepdims=True)
        # whatever the true scores are, the winner is at least the largest low end
        may_win = (scores.high >= best) & np.isfinite(scores.high)
        weights = self.apply(np.where(may_win, scores.middle, -np.inf))
        alone = may_win.sum(axis=-1, keepdims=True) <= 1
        return Range(np.where(alone, weights, 0.0), np.where(alone, weights, may_win * 1.0))


@dataclass(frozen=True, eq=False, repr=False)
class DivideBySum(Operation):
    """Each score divided by the sum of its row; a forbidden one counts as 0."""

    masked: bool = False
    first_row: int = 0

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row of scores into weights that sum to 1; refuse a row that sums to 0."""
        (scores,) = matrices
        one, zero = (in_system_of(scores, Fraction(each)) for each in (1, 0))
        allowed = scores != -infinity_of(scores)
        counted = np.where(allowed, scores, zero)
        largest = abs(counted).max(axis=-1, keepdims=True)
        counted = counted / np.where(largest == 0, one, largest)  # so that no sum overflows
        total = counted.sum(axis=-1, keepdims=True)
        size = abs(counted).sum(axis=-1, keepdims=True)
        empty = ~allowed.any(axis=-1, keepdims=True)
        # compared with the sizes that were added: 1e-17 of 1 - 1 is 0, and of 1e-17 alone is not
        divided_by_nothing = (abs(total) <= size * tolerance_of(scores)) & ~empty
        if divided_by_nothing.any():
            row = self.first_row + int(np.argwhere(divided_by_nothing)[0][-2]) + 1
            raise InputError(
                f"the scores of row {row} sum to 0: the normalizer sum cannot divide by that"
            )
        weights: Matrix = counted / np.where(empty, one, total)
        return weights

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return (dA - rowsum(A ⊙ dA)) / rowsum(S)."""
        from attncalc.operations.back_scores import DivideBySumBack

        return Way(DivideBySumBack(), (0, RESULT, GRADIENT))

    def at(self, rows: slice, keys: slice = slice(None)) -> "DivideBySum":
        """Return the operation for these rows, which it names by their place in the whole."""
        return replace(self, first_row=self.first_row + (rows.start or 0))

    def factors(self, *factors: int) -> int:
        """Return 1: a weight is a number of its own, whatever its scores were made of."""
        return 1

    def reach(self, *ranges: Range) -> Range:
        """Return the least and the largest share at the corners of what score and sum may be.

        A sum that may be 0 leaves nothing that a share could not be.
        """
        (scores,) = ranges
        allowed = np.isfinite(scores.low)
        low, high = (np.where(allowed, each, 0.0) for each in scores)
        others = [_sum_of_others(each) for each in (low, high)]
        sums = [[own + other for other in others] for own in (low, high)]
        crosses = (np.minimum.reduce(sums[0]) <= 0) & (np.maximum.reduce(sums[1]) >= 0)
        crosses &= scores.spread.max(axis=-1, keepdims=True) > 0
        shares = [
            own / np.where(total == 0, 1.0, total)
            for own, row in zip((low, high), sums, strict=True)
            for total in row
        ]
        return Range(
            np.where(crosses & allowed, -np.inf, np.minimum.reduce(shares)),
            np.where(crosses & allowed, np.inf, np.maximum.reduce(shares)),
        )
