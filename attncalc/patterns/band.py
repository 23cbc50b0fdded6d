"""Rows that are translates of one another: A[i, i + k] = kernel[k], a convolution of the values."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from attncalc.numbers.rounding import blocks_of_rows
from attncalc.numbers.types import Matrix
from attncalc.patterns.pattern import NEAR, Pattern
from attncalc.patterns.view import View


class _Window(NamedTuple):
    """From which to which place, beside its own, any output attends."""

    low: int
    high: int

    @property
    def width(self) -> int:
        return self.high - self.low + 1


def band(view: View) -> Iterator[Pattern]:
    """Yield the kernel of the rows, where they are translates and narrower than all the inputs.

    Outputs so near an edge that the kernel does not fit are not compared; there must be two others.
    """
    window = _window(view.weights)
    if window is None or window.width == 1:
        return
    start, stop = max(0, -window.low), min(view.n, view.m - window.high)
    if stop - start < 2 or not _are_translates(view.weights, window, start, stop):
        return
    inside = range(start + window.low, start + window.high + 1)
    kernel = [view.weight(start, column) for column in inside]
    offsets = {"from": window.low, "to": window.high}
    yield view.pattern(
        "band", {**offsets, "kernel": kernel, "outputs": [start + 1, stop], "threshold": NEAR}
    )


def _window(weights: Matrix) -> _Window | None:
    """Return the narrowest window outside of which each row has less than `NEAR` in all."""
    lows, highs = [], []
    for place in blocks_of_rows(weights.shape):
        sizes = np.abs(weights[place])
        if not sizes.any(axis=1).all():  # a row without any weight is no translate
            return None
        outputs = np.arange(len(weights))[place[0]]
        from_left = sizes.cumsum(axis=1) >= NEAR / 2
        from_right = sizes[:, ::-1].cumsum(axis=1) >= NEAR / 2
        lows.append((from_left.argmax(axis=1) - outputs).min())
        highs.append((weights.shape[1] - 1 - from_right.argmax(axis=1) - outputs).max())
    return _Window(int(min(lows)), int(max(highs)))


def _are_translates(weights: Matrix, window: _Window, start: int, stop: int) -> bool:
    """Say whether the rows in which the window fits hold the same in it, but for `NEAR` each."""
    first = weights[start:, start + window.low :]
    down, across = first.strides
    shape = (stop - start, window.width)
    inside = as_strided(first, shape, (down + across, across), writeable=False)
    return all(
        bool((np.abs(inside[place] - inside[0]).sum(axis=1) < NEAR).all())
        for place in blocks_of_rows(shape)
    )
