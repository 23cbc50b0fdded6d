"""Which input an output takes alone: its own, another's, each its own, the one some places away."""

from collections.abc import Iterator

import numpy as np

from attncalc.patterns.pattern import ALONE, Pattern
from attncalc.patterns.view import View, counted


def identity(view: View) -> Iterator[Pattern]:
    """Yield that each output takes its own input alone."""
    if view.n == view.m > 1 and view.alone.all() and (view.rows.lead == np.arange(view.n)).all():
        yield view.pattern("identity", {"is_own": view.has_own, "threshold": ALONE})


def permutation(view: View) -> Iterator[Pattern]:
    """Yield that the outputs take the inputs in another order, each alone and each once."""
    lead = view.rows.lead
    is_one = view.n == view.m > 1 and view.alone.all() and len(np.unique(lead)) == view.n
    if is_one and (lead != np.arange(view.n)).any():
        yield view.pattern("permutation", {"inputs": counted(lead), "threshold": ALONE})


def shift(view: View) -> Iterator[Pattern]:
    """Yield that each output takes the input alone that is some places from its own.

    At the edge, where there is no such input, an output may do anything. It takes two outputs, and
    half of all.
    """
    offsets = (view.rows.lead - np.arange(view.n))[view.alone]
    for by in np.unique(offsets[offsets != 0]).tolist():
        start, stop = max(0, -by), min(view.n, view.m - by)
        if stop - start < max(2, view.n / 2):
            continue
        rows = slice(start, stop)
        if view.alone[rows].all() and (view.rows.lead[rows] == np.arange(start, stop) + by).all():
            outputs = [start + 1, stop]
            yield view.pattern("shift", {"by": by, "outputs": outputs, "threshold": ALONE})


def one_hot(view: View) -> Iterator[Pattern]:
    """Yield which outputs take one input alone."""
    found = np.flatnonzero(view.alone)
    if len(found):
        values = {"outputs": counted(found), "inputs": counted(view.rows.lead[found])}
        yield view.pattern("one-hot", {**values, "threshold": ALONE})
