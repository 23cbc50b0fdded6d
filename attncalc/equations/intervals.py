"""Interval arithmetic: arrays of pairs of bounds, which implement numpy's functions."""

import operator
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from attncalc.base.types import Matrix
from attncalc.equations import rows

SMALL = 1 << 12
"""Products of entries of two matrices that are computed at once."""


class Interval(np.lib.mixins.NDArrayOperatorsMixin):
    """Two arrays of one shape: the bounds of ranges, or whether a condition must and can hold."""

    dtype = np.dtype(object)  # so that the evaluator does not write over it

    def __init__(self, low: Matrix, high: Matrix) -> None:
        self.low, self.high = low, high

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of both arrays."""
        return np.shape(self.low)

    @property
    def ndim(self) -> int:
        """The number of their axes."""
        return np.ndim(self.low)

    def each(self, function: Callable[[Matrix], Matrix]) -> "Interval":
        """Return the results of a monotonic function at both bounds."""
        return Interval(function(self.low), function(self.high))

    def __getitem__(self, at: Any) -> "Interval":
        return self.each(lambda end: end[at])

    def __setitem__(self, at: Any, value: Any) -> None:
        self.low[at], self.high[at] = ends_of(value)

    def __getattr__(self, name: str) -> Any:
        """Return sums, maxima, transposes, copies and other shapes, like an array."""
        if name not in ("sum", "max", "transpose", "reshape", "copy"):
            raise AttributeError(name)
        return lambda *args, **named: self.each(lambda end: getattr(end, name)(*args, **named))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        if ufunc is np.multiply and inputs[0] is inputs[1]:
            return even(inputs[0], lambda end: end * end)
        with np.errstate(all="ignore"):
            return _UFUNCS[ufunc](*inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        if function is np.where:
            return _where(*args)
        if function in (np.ndim, np.size, np.shape):
            return function(self.low)
        return args[0].each(lambda end: function(end, *args[1:], **named))


class Weights(Interval):
    """Weights whose rows, along the last axis, sum to 1; `bare` if no row can."""

    def __init__(self, low: Matrix, high: Matrix, bare: Interval | None = None) -> None:
        super().__init__(low, high)
        self.bare = Interval(low, high) if bare is None else bare


def ends_of(x: Any) -> tuple[Any, Any]:
    """Return both bounds: equal for exact values."""
    return (x.low, x.high) if isinstance(x, Interval) else (x, x)


def _hull(ends: list[Matrix]) -> Interval:
    return Interval(reduce(np.minimum, ends), reduce(np.maximum, ends))


def even(x: Interval, function: Callable[[Matrix], Matrix]) -> Interval:
    """Return an even function with its minimum at 0."""
    made = _hull([function(x.low), function(x.high)])
    return Interval(
        np.where((x.low <= 0) & (x.high >= 0), function(0 * x.low), made.low), made.high
    )


def wave(x: Interval, of: Callable[[Matrix], Matrix], at: float) -> Interval:
    """Return a sine or cosine, which is 1 at `at` of a turn, and -1 half a turn later."""
    turns = [end / (2 * np.pi) - at for end in ends_of(x)]
    made = x.each(of)
    ends = _hull([made.low, made.high])
    top, bottom = (np.floor(turns[1] - half) >= np.ceil(turns[0] - half) for half in (0.0, 0.5))
    return Interval(np.where(bottom, -1.0, ends.low), np.where(top, 1.0, ends.high))


def _times(a: Any, b: Any) -> Interval:
    made = [one * other for one in ends_of(a) for other in ends_of(b)]
    return _hull([np.where(np.isnan(end), 0.0, end) for end in made])  # 0 times infinity


def _over(a: Any, b: Any) -> Interval:
    low, high = ends_of(b)
    made = _hull([one / other for one in ends_of(a) for other in (low, high)])
    crosses = (low <= 0) & (high >= 0)
    return Interval(np.where(crosses, -np.inf, made.low), np.where(crosses, np.inf, made.high))


def _power(a: Any, b: Any) -> Interval:
    if isinstance(b, Interval) or np.ndim(b) or b != np.floor(b):  # of nonnegative numbers
        sides = [np.maximum(end, 0.0) for end in ends_of(a)]
        return _hull([one**other for one in sides for other in ends_of(b)])
    if b < 0:
        return _over(1.0, _power(a, -b))
    return a.each(lambda end: end**b) if b % 2 else even(a, lambda end: end**b)


def _compared(strict: bool, a: Any, b: Any) -> Interval:
    """Return whether a < b, or a <= b: certainly, and possibly."""
    (low, high), (least, most) = ends_of(a), ends_of(b)
    less = np.less if strict else np.less_equal
    return Interval(less(high, least), less(low, most))


def _equal(a: Any, b: Any) -> Interval:
    (low, high), (least, most) = ends_of(a), ends_of(b)
    same = (low == high) & (least == most) & (low == least)
    return Interval(same, (low <= most) & (high >= least))


def _not(a: Interval) -> Interval:
    return Interval(~a.high, ~a.low)


def _where(test: Any, a: Any, b: Any) -> Interval:
    """Return one of two if a condition is decided, and both otherwise."""
    must, can = ends_of(test)
    (low, high), (least, most) = ends_of(a), ends_of(b)
    return Interval(
        np.where(must, low, np.where(can, np.minimum(low, least), least)),
        np.where(must, high, np.where(can, np.maximum(high, most), most)),
    )


def _matmul(a: Any, b: Any) -> Interval:
    """Return a matrix product: the sum of the hulls of products of entries."""
    if isinstance(a, Weights):
        return _means(a, b)
    (low, high), (least, most) = ends_of(a), ends_of(b)
    if np.size(low) * np.shape(least)[-1] <= SMALL:
        made: Interval = _times(a[..., np.newaxis], b[..., np.newaxis, :, :]).sum(axis=-2)
        return made
    if not all(np.isfinite(end).all() for end in (low, high, least, most)):
        terms = (_times(a[..., :, k, None], b[..., None, k, :]) for k in range(b.shape[-2]))
        return reduce(operator.add, terms)
    if least is most:  # exact values
        up_, down_ = np.maximum(least, 0), np.maximum(-least, 0)
        return Interval(low @ up_ - high @ down_, high @ up_ - low @ down_)
    if low is high:
        up_, down_ = np.maximum(low, 0), np.maximum(-low, 0)
        return Interval(up_ @ least - down_ @ most, up_ @ most - down_ @ least)
    up = [np.maximum(end, 0) for end in (low, high, least, most)]
    down = [np.maximum(-end, 0) for end in (low, high, least, most)]
    # each term is max(p, q) - max(r, s) of products p, q, r, s that are not below 0 (Goldsztejn,
    # 2008), and max(p, q) is p + q - min(p, q), whose last part is 0 but where both ranges hold 0
    bottom = up[0] @ up[2] + down[1] @ down[3] - (up[1] @ down[2] + down[0] @ up[3])
    top = up[1] @ up[3] + down[0] @ down[2] - (up[0] @ down[3] + down[1] @ up[2])
    left, right = (low < 0) & (high > 0), (least < 0) & (most > 0)
    of_left = left.any(axis=tuple(range(left.ndim - 2)))
    of_right = right.any(axis=tuple(range(right.ndim - 2)))
    for k in np.flatnonzero(of_left.any(axis=0) & of_right.any(axis=1)):
        rows_, columns = np.flatnonzero(of_left[:, k]), np.flatnonzero(of_right[k])
        at = (..., rows_[:, np.newaxis], columns)
        x = [part[..., rows_, k, np.newaxis] for part in (up[1], down[0])]
        y = [part[..., np.newaxis, k, columns] for part in (up[3], down[2])]
        bottom[at] += np.minimum(x[0] * y[1], x[1] * y[0])
        top[at] -= np.minimum(x[0] * y[0], x[1] * y[1])
    return Interval(bottom, top)


_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: lambda a, b: Interval(*map(np.add, ends_of(a), ends_of(b))),
    np.subtract: lambda a, b: Interval(*map(np.subtract, ends_of(a), ends_of(b)[::-1])),
    np.multiply: _times,
    np.true_divide: _over,
    np.power: _power,
    np.maximum: lambda a, b: Interval(*map(np.maximum, ends_of(a), ends_of(b))),
    np.minimum: lambda a, b: Interval(*map(np.minimum, ends_of(a), ends_of(b))),
    np.less: partial(_compared, True),
    np.less_equal: partial(_compared, False),
    np.greater: lambda a, b: _compared(True, b, a),
    np.greater_equal: lambda a, b: _compared(False, b, a),
    np.equal: _equal,
    np.not_equal: lambda a, b: _not(_equal(a, b)),
    np.logical_and: lambda a, b: Interval(*map(np.logical_and, ends_of(a), ends_of(b))),
    np.logical_or: lambda a, b: Interval(*map(np.logical_or, ends_of(a), ends_of(b))),
    np.logical_not: _not,
    np.matmul: _matmul,
}


# rows of weights


def _others(row: Matrix) -> Matrix:
    """Return, for each entry, the sum of the others in its row, without subtraction."""
    before, after = np.zeros_like(row), np.zeros_like(row)
    np.cumsum(row[..., :-1], axis=-1, out=before[..., 1:])
    np.cumsum(row[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before + after


def softmax(low: Matrix, high: Matrix, beside: list[tuple[Matrix, Matrix]]) -> Interval:
    """Return the weights with one score lowest and all others highest, and the reverse."""
    shift = reduce(np.maximum, (end for _, end in beside), high.max(axis=-1, keepdims=True))
    shift = np.where(shift == -np.inf, 0.0, shift)  # one for both bounds
    low, high = rows.exponentials(low, shift), rows.exponentials(high, shift)
    ends = []
    for own, others, side in ((low, high, 1), (high, low, 0)):
        total = own + _others(others)
        for each in beside:
            total = total + rows.exponentials(each[side], shift)
        ends.append(own / np.where(total == 0, 1.0, total))
    return Interval(*ends)


def hardmax(low: Matrix, high: Matrix) -> Interval:
    """Return 0 to 1 for a score that may be the largest or not; otherwise its weight."""
    best = np.where(np.isfinite(low), low, -np.inf).max(axis=-1, keepdims=True)
    may_win = (high >= best) & np.isfinite(high)
    weights = rows.hardmax(np.where(may_win, (low + high) / 2, -np.inf))
    alone = may_win.sum(axis=-1, keepdims=True) <= 1
    return Interval(np.where(alone, weights, 0.0), np.where(alone, weights, may_win * 1.0))


def share(low: Matrix, high: Matrix) -> Interval:
    """Return the smallest and the largest share at the corners of score and sum."""
    allowed = np.isfinite(low)
    low, high = np.where(allowed, low, 0.0), np.where(allowed, high, 0.0)
    totals = [[own + others for others in (_others(low), _others(high))] for own in (low, high)]
    crosses = (np.minimum(*totals[0]) <= 0) & (np.maximum(*totals[1]) >= 0)
    crosses &= allowed & (high > low).any(axis=-1, keepdims=True)
    made = _hull(
        [
            own / np.where(total == 0, 1.0, total)
            for own, each in zip((low, high), totals, strict=True)
            for total in each
        ]
    )
    return Interval(np.where(crosses, -np.inf, made.low), np.where(crosses, np.inf, made.high))


def _means(weights: Weights, values: Any) -> Interval:
    """Return the means of values by weights that sum to 1; others are not normalized."""
    low, high = weights.low, weights.high
    least, most = ends_of(values)
    if low.shape[-1] != np.shape(least)[-2]:
        raise ValueError("these weights are of other values")
    means = Interval(-_largest_means(low, high, -least), _largest_means(low, high, most))
    possible = ((low.sum(axis=-1) <= 1) & (high.sum(axis=-1) >= 1))[..., np.newaxis]
    if possible.all():
        return means
    return _where(possible, means, _matmul(weights.bare, values))


def _largest_means(low: Matrix, high: Matrix, values: Matrix) -> Matrix:
    """Return the largest means: the remaining weight goes to the largest values first."""
    values = np.broadcast_to(values, (*low.shape[:-2], *values.shape[-2:]))
    order = np.argsort(-values, axis=-2)  # (..., m, columns)
    left = (1 - low.sum(axis=-1, keepdims=True))[..., np.newaxis]
    room = np.take_along_axis((high - low)[..., np.newaxis], order[..., np.newaxis, :, :], axis=-2)
    given = np.clip(left - (np.cumsum(room, axis=-2) - room), 0.0, room)  # (..., n, m, columns)
    best = np.take_along_axis(values, order, axis=-2)[..., np.newaxis, :, :]
    return np.asarray(low @ values + (given * best).sum(axis=-2))
