"""Arithmetic of ranges: between which values sums, products and quotients lie."""

from collections.abc import Iterable

import numpy as np

from attncalc.numbers.types import Matrix, Range


def hull(ends: Iterable[Matrix]) -> Range:
    """Return from the lowest to the highest of these, entry by entry."""
    listed = list(ends)
    return Range(np.minimum.reduce(listed), np.maximum.reduce(listed))


def less(left: Range, right: Range) -> Range:
    """Return the differences."""
    return Range(left.low - right.high, left.high - right.low)


def times(left: Range, right: Range) -> Range:
    """Return the products, entry by entry."""
    return hull(one * other for one in left for other in right)


def over(top: Range, bottom: Range) -> Range:
    """Return the quotients; of what may be divided by 0, all that there is."""
    crosses = (bottom.low <= 0) & (bottom.high >= 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        made = hull(one / other for one in top for other in bottom)
    return Range(np.where(crosses, -np.inf, made.low), np.where(crosses, np.inf, made.high))


def total(values: Range, axis: int) -> Range:
    """Return the sums along an axis, which stays."""
    return values.map(lambda end: end.sum(axis=axis, keepdims=True))


def negative(values: Range) -> Range:
    """Return the values with the other sign."""
    return Range(-values.high, -values.low)
