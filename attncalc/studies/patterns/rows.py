"""Patterns of one head: the inputs of its outputs, equal rows, and spread."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from attncalc.base.rounding import blocks_of_rows
from attncalc.base.types import Matrix
from attncalc.solving.connections import TIE
from attncalc.studies.patterns.pattern import (
    ALONE,
    EVEN,
    MOST_LISTED,
    MOST_ROWS,
    NEAR,
    OFTEN,
    Pattern,
    little,
)
from attncalc.studies.patterns.view import View, counted

FEWEST = 4
"""Tokens from which the previous token is one of several."""
SEED = 1
"""The seed of random factors for sums of rows, which find rows that could be equal."""


def identity(view: View) -> Iterator[Pattern]:
    """Yield that each output attends almost only to its own input."""
    if view.n == view.m > 1 and view.alone.all() and (view.rows.lead == np.arange(view.n)).all():
        yield view.pattern("identity", {"is_own": view.has_own, "threshold": ALONE})


def permutation(view: View) -> Iterator[Pattern]:
    """Yield that the outputs attend almost only to the inputs in another order, each once."""
    lead = view.rows.lead
    is_one = view.n == view.m > 1 and view.alone.all() and len(np.unique(lead)) == view.n
    if is_one and (lead != np.arange(view.n)).any():
        yield view.pattern("permutation", {"inputs": counted(lead), "threshold": ALONE})


def shift(view: View) -> Iterator[Pattern]:
    """Yield that each output attends almost only to the input a fixed distance away.

    At the edge, where there is no such input, an output may be different. At least two outputs, and
    half of all, are required.
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
    """Yield the outputs that attend almost only to one input."""
    found = np.flatnonzero(view.alone)
    if len(found):
        values = {"outputs": counted(found), "inputs": counted(view.rows.lead[found])}
        yield view.pattern("one-hot", {**values, "threshold": ALONE})


class _Window(NamedTuple):
    """The range of positions, relative to its own, that outputs attend to."""

    low: int
    high: int

    @property
    def width(self) -> int:
        return self.high - self.low + 1


def band(view: View) -> Iterator[Pattern]:
    """Yield the kernel of the rows, if they are translates and narrower than all inputs.

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
    """Return the narrowest window outside of which each row has a total of less than `NEAR`."""
    lows, highs = [], []
    for place in blocks_of_rows(weights.shape):
        sizes = np.abs(weights[place])
        if not sizes.any(axis=1).all():  # a row without any weight is not a translate
            return None
        outputs = np.arange(len(weights))[place[0]]
        from_left = sizes.cumsum(axis=1) >= NEAR / 2
        from_right = sizes[:, ::-1].cumsum(axis=1) >= NEAR / 2
        lows.append((from_left.argmax(axis=1) - outputs).min())
        highs.append((weights.shape[1] - 1 - from_right.argmax(axis=1) - outputs).max())
    return _Window(int(min(lows)), int(max(highs)))


def _are_translates(weights: Matrix, window: _Window, start: int, stop: int) -> bool:
    """Return whether the rows in which the window fits are near each other in it."""
    first = weights[start:, start + window.low :]
    down, across = first.strides
    shape = (stop - start, window.width)
    inside = as_strided(first, shape, (down + across, across), writeable=False)
    return all(
        bool((np.abs(inside[place] - inside[0]).sum(axis=1) < NEAR).all())
        for place in blocks_of_rows(shape)
    )


def uniform(view: View) -> Iterator[Pattern]:
    """Yield the outputs with uniform weights for all unmasked inputs, two or more."""
    left, even = np.full(view.n, view.m), _is_even(view.weights, view.forbidden)
    if view.forbidden is not None:
        left = (~np.broadcast_to(view.forbidden, view.weights.shape)).sum(axis=1)
    found = np.flatnonzero(even & (left > 1))
    if len(found):
        each = {"outputs": counted(found), "inputs": left[found].tolist()}
        is_all = bool(even[left > 1].all())
        weight = view.weight(int(found[0]), int(view.rows.lead[found[0]]))
        yield view.pattern("uniform", {**each, "all": is_all, "weight": weight, "threshold": EVEN})


def _is_even(weights: Matrix, forbidden: Matrix | None) -> Matrix:
    """Return for each row whether its unmasked weights are near their mean."""
    if forbidden is None:
        low, high, mean = weights.min(axis=1), weights.max(axis=1), weights.mean(axis=1)
    else:
        open_to = ~forbidden
        low = np.where(open_to, weights, np.inf).min(axis=1)
        high = np.where(open_to, weights, -np.inf).max(axis=1)
        mean = weights.sum(axis=1) / np.maximum(open_to.sum(axis=1), 1)
    off = np.maximum(high - mean, mean - low)
    return np.asarray((mean > 0) & (off <= EVEN * mean))


def sink(view: View) -> Iterator[Pattern]:
    """Yield the input with the largest weight of every output, without ties."""
    rows = view.rows
    leads = (rows.lead == rows.lead[0]) & (rows.sharing == 1) & (rows.top > 0)
    if view.n > 1 and view.m > 1 and leads.all():
        source = int(rows.lead[0])
        low, high = int(rows.top.argmin()), int(rows.top.argmax())
        ends = {"lowest": view.weight(low, source), "highest": view.weight(high, source)}
        yield view.pattern("sink", {"input": source + 1, **ends})


def unattended(view: View) -> Iterator[Pattern]:
    """Yield the inputs that no output attends to."""
    limit = little(view.m)
    largest = np.maximum(view.weights.max(axis=0), -view.weights.min(axis=0))
    found = np.flatnonzero(largest < limit)
    if view.m > 1 and len(found):
        yield view.pattern("unattended", {"inputs": counted(found), "threshold": limit})


def none_own(view: View) -> Iterator[Pattern]:
    """Yield that no output attends to its own position."""
    limit = little(view.m)
    if view.has_own and view.n > 1 and (np.abs(np.diagonal(view.weights)) < limit).all():
        yield view.pattern("none-own", {"threshold": limit})


def all_own(view: View) -> Iterator[Pattern]:
    """Yield that every output attends to its own position."""
    own, limit = np.diagonal(view.weights), little(view.m)
    if view.has_own and view.n > 1 and (own >= limit).all():
        low, high = int(own.argmin()), int(own.argmax())
        ends = {"lowest": view.weight(low, low), "highest": view.weight(high, high)}
        leads = bool((own >= view.rows.top * (1 - TIE)).all())
        yield view.pattern("all-own", {**ends, "leads": leads, "threshold": limit})


def ties(view: View) -> Iterator[Pattern]:
    """Yield the inputs that tie for the largest or the second weight of an output."""
    found = [*_ties(view)]
    if found:
        yield view.pattern("ties", {"ties": found, "threshold": TIE})


def _ties(view: View) -> Iterator[dict[str, object]]:
    rows = view.rows
    first = (rows.sharing > 1) & (rows.top > 0)
    second = ~first & (rows.sharing_second > 1) & (rows.second > 0)
    for output in np.flatnonzero(first | second).tolist():
        is_first = bool(first[output])
        value = rows.top[output] if is_first else rows.second[output]
        weight = view.weight(output, int((rows.lead if is_first else rows.runner)[output]))
        if not is_first and not float(weight.shown):  # a weight shown as 0.00 is never second
            continue
        row = view.weights[output]
        share = np.flatnonzero((row >= value * (1 - TIE)) & (row <= value * (1 + TIE)))
        yield {
            "output": output + 1,
            "place": 1 if is_first else 2,
            "count": len(share),
            "inputs": counted(share[:MOST_LISTED]),  # if all tie, each output would list all
            "weight": weight,
        }


def blocks(view: View) -> Iterator[Pattern]:
    """Yield groups of outputs and inputs without weights between groups.

    There are two or more, and at least one has two outputs and two inputs.
    """
    limit = little(view.m)
    found = _groups(np.abs(view.weights) >= limit)
    if len(found) > 1 and any(len(outputs) > 1 < len(inputs) for outputs, inputs in found):
        listed = [{"outputs": counted(one), "inputs": counted(other)} for one, other in found]
        yield view.pattern("blocks", {"blocks": listed, "threshold": limit})


def _groups(linked: Matrix) -> list[tuple[list[int], list[int]]]:
    """Return which rows and columns are connected, visiting each of them once."""
    rows_left, columns_left = np.ones(linked.shape[0], bool), np.ones(linked.shape[1], bool)
    groups = []
    for start in range(len(rows_left)):
        if not rows_left[start] or not linked[start].any():
            continue
        rows_left[start] = False
        rows, columns, waiting = [start], [], [start]
        while waiting:
            new = np.flatnonzero(linked[waiting.pop()] & columns_left)
            columns_left[new] = False
            columns.extend(new.tolist())
            for column in new:
                more = np.flatnonzero(linked[:, column] & rows_left)
                rows_left[more] = False
                rows.extend(more.tolist())
                waiting.extend(more.tolist())
        groups.append((sorted(rows), sorted(columns)))
    return groups


def equal_rows(view: View) -> Iterator[Pattern]:
    """Yield the outputs with equal weights, and whether they show the same digits."""
    found = _equal(view)
    if found:
        same = [_shown_alike(view, group) for group in found]
        values = {"outputs": [counted(group) for group in found], "same_outputs": all(same)}
        yield view.pattern("equal-rows", {**values, "threshold": TIE})


def _equal(view: View) -> list[list[int]]:
    """Return groups of rows that are equal within `TIE` of their largest weight.

    A sum of each row, with a random factor for each input, finds rows that could be equal, so that
    not all pairs are compared.
    """
    factors = np.random.default_rng(SEED).uniform(0.5, 1.5, view.m)
    sums = view.weights @ factors
    near = 2 * TIE * view.m * np.abs(view.rows.top) + TIE**2
    groups: list[list[int]] = []
    for row in np.argsort(sums, kind="stable").tolist():
        for group in reversed(groups):
            first = group[0]
            if sums[row] - sums[first] > near[row] + near[first]:
                groups.append([row])
                break
            size = TIE * abs(max(view.rows.top[first], view.rows.top[row]))
            if (np.abs(view.weights[first] - view.weights[row]) <= size).all():
                group.append(row)
                break
        else:
            groups.append([row])
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _shown_alike(view: View, group: list[int]) -> bool:
    """Return whether the outputs of a group have the same digits; not so with several heads."""
    outputs = view.attended.outputs
    if not view.solution.keeps(outputs.name):
        return False
    digits = np.asarray(view.solution.digits[outputs.name])
    return bool((digits[..., group[1:], :] == digits[..., group[:1], :]).all())


def previous_token(view: View) -> Iterator[Pattern]:
    """Yield the mean weight of the previous token, if it is large; of four tokens or more."""
    if view.has_own and view.n >= FEWEST:
        yield from _scored(view, "previous-token", {i: [i - 1] for i in range(1, view.n)})


def duplicate_token(view: View) -> Iterator[Pattern]:
    """Yield the mean weight of earlier tokens of the same name, if it is large."""
    yield from _scored(view, "duplicate-token", _earlier(view))


def induction(view: View) -> Iterator[Pattern]:
    """Yield the mean weight of the tokens after earlier ones of the same name, if it is large.

    Olsson et al., *In-context Learning and Induction Heads* (2022).
    """
    after = {i: [j + 1 for j in js if j + 1 < i] for i, js in _earlier(view).items()}
    yield from _scored(view, "induction", {i: js for i, js in after.items() if js})


def _earlier(view: View) -> dict[int, list[int]]:
    """Return the places of earlier tokens of the same id or label, for each token with any."""
    problem = view.solution.problem
    labels = problem.labels if isinstance(problem.labels, list | tuple) else ()
    names = labels if problem.ids is None else problem.ids.ravel().tolist()
    if not view.has_own or len(names) != view.n:
        return {}
    same = {i: [j for j in range(i) if names[j] == name] for i, name in enumerate(names)}
    return {i: js for i, js in same.items() if js}


def _scored(view: View, code: str, read: dict[int, list[int]]) -> Iterator[Pattern]:
    """Yield the mean, over two outputs or more, of their weight of the inputs that they read."""
    if len(read) < 2:
        return
    score = float(np.mean([view.weights[i, js].sum() for i, js in read.items()]))
    if score >= OFTEN * (1 - TIE):
        values = {"score": view.attended.amount(score), "outputs": counted(read)}
        yield view.pattern(code, {**values, "threshold": OFTEN})


def spread(view: View) -> Iterator[Pattern]:
    """Yield the bounds of the spread of the rows, or of each row if these are few."""
    effective = view.rows.effective
    known = np.flatnonzero(np.isfinite(effective))
    if view.m == 1 or not len(known):
        return
    if view.n * view.attended.fields.n_heads <= MOST_ROWS:
        yield from (_of_output(view, int(output)) for output in known)
        return
    ends = (known[effective[known].argmin()], known[effective[known].argmax()])
    lowest, highest = (
        {"output": int(output) + 1, "effective": view.attended.amount(effective[output])}
        for output in ends
    )
    mean = view.attended.amount(effective[known].mean())
    each = [float(value) if np.isfinite(value) else None for value in effective]
    values = {"lowest": lowest, "highest": highest, "mean": mean, "of": view.m}
    yield view.pattern("spread", {**values, "effective": each})


def _of_output(view: View, output: int) -> Pattern:
    digits = np.asarray(view.head.rounded[output])
    seen = np.flatnonzero(digits != 0)
    order = seen[np.argsort(-view.weights[output, seen], kind="stable")]
    values = {
        "output": output + 1,
        "inputs": counted(order),
        "weights": [view.weight(output, int(source)) for source in order],
        "entropy": view.attended.amount(view.rows.entropy[output]),
        "effective": view.attended.amount(view.rows.effective[output]),
        "of": view.m,
    }
    return view.pattern("spread", values, output)


def margin(view: View) -> Iterator[Pattern]:
    """Yield the bounds of the difference of the largest and the second weight."""
    known = np.flatnonzero(view.rows.total > 0)
    if view.m == 1 or not len(known):
        return
    margins = view.rows.top - view.rows.second
    ends = (known[margins[known].argmin()], known[margins[known].argmax()])
    lowest, highest = (_lead(view, int(output)) for output in ends)
    values = {"lowest": lowest, "highest": highest, "margins": margins.tolist()}
    yield view.pattern("margin", values)


def _lead(view: View, output: int) -> dict[str, object]:
    first, second = int(view.rows.lead[output]), int(view.rows.runner[output])
    return {
        "output": output + 1,
        "first": first + 1,
        "second": second + 1,
        "margin": view.difference(output, first, second),
    }


OF_A_HEAD: tuple[Callable[[View], Iterator[Pattern]], ...] = (
    *(identity, permutation, shift, band, blocks, uniform, one_hot, sink, equal_rows, ties),
    *(unattended, none_own, all_own, induction, previous_token, duplicate_token, spread, margin),
)
"""The functions that find the patterns of a head."""
