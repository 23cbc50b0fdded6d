"""Biases of scores by the distance between query and key: slopes of ALiBi, buckets of T5.

Neither makes a matrix of distances beyond the rows and keys that it is asked for.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from attncalc.base.decimals import in_system_of
from attncalc.base.types import Matrix, Place
from attncalc.equations.expressions import (
    Explanation,
    Expression,
    Operand,
    Power,
    Symbol,
    fraction,
    given,
    whole,
)
from attncalc.equations.operation import Operation, Shape, Statement

ENOUGH = 60.0
"""Beside e^x, e to 60 less is nothing in float64."""


def exponents_of_slopes(heads: int) -> tuple[Fraction, ...]:
    """Return x for each head, of which the slope is 2^-x.

    For a power of two they are 8/n, 16/n, … 8; for other numbers those of the power of two below,
    and then every other one of twice that power. Press et al. (2022), section 3, and its code.

    >>> [str(x) for x in exponents_of_slopes(4)], [str(x) for x in exponents_of_slopes(3)]
    (['2', '4', '6', '8'], ['4', '8', '2'])
    """
    below = 1 << (heads.bit_length() - 1)
    own = [Fraction(8 * number, below) for number in range(1, below + 1)]
    more = [Fraction(8 * number, 2 * below) for number in range(1, 2 * below + 1, 2)]
    return (*own, *more[: heads - below])


@dataclass(frozen=True, eq=False, repr=False)
class _ByDistance(Operation):
    """A bias by the distance of a key before its query; `place` is that of the first query."""

    place: int = 0

    def at(self, rows: slice, keys: slice = slice(None)) -> "_ByDistance":
        """Return the bias of these rows and keys: the places move with them."""
        return replace(self, place=self.place + (rows.start or 0) - (keys.start or 0))

    def before(self, n: int, m: int) -> Matrix:
        """Return the distances of m keys before n queries, the largest first."""
        return np.asarray(self.place + n - 1 - np.arange(n + m - 1))


def _laid_out(by_distance: Matrix, keys: int) -> Matrix:
    """Return, for each query and key, what belongs to their distance: a view, and no copy."""
    windows = np.lib.stride_tricks.sliding_window_view(by_distance, keys, axis=-1)
    return np.asarray(windows[..., ::-1, :])


@dataclass(frozen=True, eq=False, repr=False)
class Alibi(_ByDistance):
    """Scores less a slope times the distance of query and key, |i - j|.

    Press et al., *Train Short, Test Long* (2022). Slopes may follow as a second matrix, (1, 1) or
    (heads, 1, 1), in place of those of the paper.

    heads: how many heads there are: their slopes follow from that.
    head: which of them the scores are those of, from 0; None for all.
    is_near: whether each query may attend to a key at its own place.
    """

    heads: int = 1
    head: int | None = None
    farthest: int = 0
    is_near: bool = False
    has_own: bool = False

    @property
    def is_rational(self) -> bool:
        """Whether slopes are given, or those of the paper are all powers of two."""
        exponents = exponents_of_slopes(self.heads)
        return self.has_own or all(each.denominator == 1 for each in exponents)

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Take the slope times the distance off each score."""
        scores, *own = matrices
        distances = np.abs(self.before(*scores.shape[-2:])).astype(scores.dtype)
        slopes = own[0] if own else self.slopes(scores)
        taken = _laid_out((slopes * distances)[..., 0, :], scores.shape[-1])
        return np.asarray(np.subtract(scores, taken, out=out))

    def slopes(self, scores: Matrix) -> Matrix:
        """Return the slopes of the paper, (heads, 1, 1), or (1, 1) for one head."""
        system: Any = scores if scores.dtype == object else np.empty(0)
        two = in_system_of(system, Fraction(2))
        powers = [two ** -in_system_of(system, each) for each in exponents_of_slopes(self.heads)]
        slopes = np.array(powers, system.dtype).astype(scores.dtype)
        if self.head is not None:
            return slopes[self.head : self.head + 1, np.newaxis]
        return slopes[:, np.newaxis, np.newaxis] if self.heads > 1 else slopes[:, np.newaxis]

    def in_head(self, head: int) -> "Alibi":
        """Return the operation with the slope of this head."""
        return replace(self, head=head)

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the bound plus the largest bias, or as much of it as a softmax can tell."""
        slopes = matrices[0] if matrices else self.slopes(np.empty(0))
        most = float(np.abs(slopes).max()) * self.farthest
        # with a key at distance 0 in each row, weights too small to differ from 0 may be 0
        if self.is_near and float(slopes.min()) >= 0:
            most = min(most, ENOUGH)
        return largest + most

    def formula(self, *operands: Expression) -> Expression:
        """Return S - slope · distance."""
        return super().formula(*operands, *(() if self.has_own else (Symbol("slope"),)))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the slope times the distance."""
        if self.has_own:
            return super().explain(place, *operands)
        (scores,) = operands
        written = [_slope(each) for each in exponents_of_slopes(self.heads)]

        def quote(at: Place) -> Expression:
            return written[at[0] if len(at) > 2 else self.head or 0]

        slopes = scores._replace(name="slope", matrix=self.slopes(scores.matrix), quote=quote)
        return super().explain(place, scores, slopes)

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        tables = {} if self.has_own else {"slope": self.slopes(np.empty(0))}
        return Statement("Alibi", settings={"place": self.place}, tables=tables)


def _slope(exponent: Fraction) -> Expression:
    """Return 1/4, or 2^(-1/2) where that is no fraction."""
    if exponent.denominator == 1:
        return fraction(Fraction(1, 2**exponent.numerator))
    return Power(whole(2), given(-exponent))


@lru_cache(maxsize=64)
def starts_of(buckets: int, longest: int) -> Matrix:
    """Return the distance from which on each bucket after the first one counts.

    buckets: how many there are, for one direction.
    longest: from which distance on all are in the last one.

    >>> starts_of(16, 128).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
    """
    near = buckets // 2
    far = buckets - near
    starts = list(range(1, near + 1))
    for k in range(1, far):
        start = max(near, int(near * (longest / near) ** (k / far)) - 2)
        # log(d/near) / log(longest/near) · far ≥ k, in whole numbers: no logarithm is rounded
        while start**far * near**k < near**far * longest**k:
            start += 1
        starts.append(start)
    found = np.array(starts)
    found.flags.writeable = False
    return found


@dataclass(frozen=True, eq=False, repr=False)
class RelativeBias(_ByDistance):
    """Scores plus the number that a table has for the bucket of their distance.

    Raffel et al., *T5* (2020), section 2.1, and its code: distances near 0 have a bucket each, and
    farther ones share buckets that grow with their logarithm up to `longest`.

    longest: from which distance on all are in the last one.
    both_ways: whether keys after the query have their own buckets, the second half of all;
        otherwise they are in the first one.
    stands: the orientation of a table that is a step: `"rows"` with a row for each bucket, as it is
        given, `"columns"` with one for each head. A given table is a row in each head.
    """

    buckets: int = 32
    longest: int = 128
    both_ways: bool = False
    stands: Literal["", "rows", "columns"] = ""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add to each score the number of its bucket."""
        scores, table = matrices
        buckets = self.buckets_of(self.before(*scores.shape[-2:]))
        own = table[..., 0, :]
        if self.stands:
            rows = table if self.stands == "columns" else table.swapaxes(-1, -2)
            # of a family of problems every matrix keeps an axis for heads, here of one
            own = rows[:, 0] if rows.ndim > 3 else rows
            own = own if own.ndim == scores.ndim - 1 else own[0]
        bias = _laid_out(np.take(own, buckets, axis=-1), scores.shape[-1])
        if out is None or bias.shape != scores.shape:
            return np.asarray(scores + bias)
        return np.asarray(np.add(scores, bias, out=out))

    def buckets_of(self, before: Matrix) -> Matrix:
        """Return the bucket, from 0, of keys at these distances before their query."""
        sizes = np.abs(before) if self.both_ways else np.maximum(before, 0)
        bucket: Matrix = np.searchsorted(self._starts, sizes, side="right")
        return bucket + (before < 0) * (self.buckets // 2) if self.both_ways else bucket

    @property
    def _starts(self) -> Matrix:
        """The distances from which on the buckets of one direction count."""
        return starts_of(self.buckets // 2 if self.both_ways else self.buckets, self.longest)

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the bound plus the largest bias."""
        return largest + float(np.abs(matrices[0]).max())

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        settings = {"buckets": self.buckets, "place": self.place}
        tables = {"starts": self._starts[np.newaxis]}
        return Statement("RelativeBias", settings=settings, tables=tables).with_flags(
            both=self.both_ways,
            stands=self.stands,
            rows=self.stands == "rows",
            heads=len(shapes[0]) > 2,
        )
