"""Operations with another setting: other positions, pairs, slopes, windows, activations."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from attncalc.base.typed import as_written
from attncalc.base.types import Matrix, Range
from attncalc.equations.operation import Operation
from attncalc.equations.operations import Mask, Rotate, Sinusoids
from attncalc.equations.operations.assembling import Lookup, Patches
from attncalc.equations.operations.distances import Alibi, RelativeBias
from attncalc.equations.operations.entrywise import KINDS, Activate, Gate
from attncalc.grading.recipes.common import Read, Wrong, done_right, entry_by_entry, times
from attncalc.problem.attention.attention import Attention
from attncalc.problem.step import Step

OTHER_BASES = (Fraction(10_000), Fraction(500_000), Fraction(1_000_000))
"""The bases of rope in common models, which may be confused."""
MOST_SHIFTED = 16
"""The largest difference of places: by tokens of padding, or of a cache."""
ORDERS = {
    "column-first": (
        ("channel", "column", "row"),
        "each patch is flattened column by column, and not row by row",
    ),
    "channels-last": (
        ("row", "column", "channel"),
        "the channels of a pixel are side by side, not one channel after the other",
    ),
}
"""Other orders of the numbers of a patch."""


def of_settings(step: Step, attention: Attention | None) -> Iterator[Wrong]:
    """Yield an operation with other settings."""
    match step.operation:
        case Sinusoids() as operation:
            yield from _of_sinusoids(step, operation)
        case Mask(window=int(window)):
            yield from _of_window(step, window)
        case Activate() | Gate() as operation:
            yield from _of_activation(step, operation)
        case Patches() as operation:
            yield from _of_patches(step, operation)
        case Lookup() as operation:
            yield from _of_lookup(step, operation)
    if attention is not None:
        yield from _of_places(step, attention)


def _of_places(step: Step, attention: Attention) -> Iterator[Wrong]:
    match step.operation:
        case Rotate() as operation:
            yield from _of_rotation(step, operation, attention)
        case Alibi() as operation:
            yield from _of_alibi(step, operation, attention)
        case RelativeBias() as operation:
            yield from _of_relative(step, operation, attention)


def scale_of(problem: Attention) -> float:
    """Return the factor of the scores of a problem."""
    if isinstance(problem.scale, Fraction):
        return float(problem.scale)
    return 1.0 if problem.scale == "none" else float(problem.d_k**-0.5)


def _done_by(operation: Operation, inputs: tuple[str, ...], read: Read) -> Range:
    return operation.over(*map(read, inputs))


def _otherwise(step: Step, read: Read, **change: Any) -> Range:
    return _done_by(replace(step.operation, **change), step.inputs, read)  # type: ignore[type-var]


def _of_sinusoids(step: Step, operation: Sinusoids) -> Iterator[Wrong]:
    if operation.offset:
        says = "places are counted from 0, as those of keys"
        yield "places-of-keys", says, partial(_otherwise, step, offset=0)
    if operation.base != Sinusoids.base:
        says = f"the base of the angles is 10000, not {as_written(operation.base)}"
        yield "positions-base", says, partial(_otherwise, step, base=Sinusoids.base)


def _of_rotation(step: Step, operation: Rotate, problem: Attention) -> Iterator[Wrong]:
    """Yield other pairs, positions, frequencies, and columns."""
    first, *own = step.inputs
    yield "rope-forgotten", f"{first} is not rotated", lambda read: read(first)
    if operation.scaling is not None:
        says = "rope_scaling is left out"
        yield "rope-unscaled", says, partial(_otherwise, step, scaling=None)
    if own:
        says = f"the frequencies are those of the base, and not {own[0]}"
        yield "rope-unscaled", says, partial(_done_by, operation, (first,))
    if operation.dims not in (None, problem.d_k) and not own and problem.d_k % 2 == 0:
        says = f"all {problem.d_k} columns are rotated, and not the first {operation.dims} alone"
        yield "rope-all-columns", says, partial(_otherwise, step, dims=None)
    other = "interleaved" if operation.pairing == "halves" else "halves"
    says = f"the columns are paired in the other way ({other})"
    yield "rope-pairing", says, partial(_otherwise, step, pairing=other)
    says = "the columns are rotated in the opposite direction: the sines have the wrong sign"
    yield "rope-sign", says, partial(_turned_back, step, operation)
    for base in OTHER_BASES:
        if not own and base != operation.base:
            says = f"the base of the angles is {as_written(base)}, not {as_written(operation.base)}"
            yield "rope-base", says, partial(_otherwise, step, base=base)
    if operation.offset != problem.rope_offset:
        of_keys = problem.rope_places[1]
        says = f"places are counted from {as_written(of_keys)}, as those of keys"
        yield "places-of-keys", says, partial(_otherwise, step, offset=of_keys)
    yield from _from_other_places(step, operation, problem.rope_offset)


def _from_other_places(step: Step, operation: Rotate, of_keys: Fraction) -> Iterator[Wrong]:
    """Yield places that start too high or too low, other than those of keys."""
    for by in (sign * count for count in range(1, MOST_SHIFTED + 1) for sign in (1, -1)):
        if operation.offset + by != of_keys:
            count, way = "one" if abs(by) == 1 else abs(by), "high" if by > 0 else "low"
            says = f"places start {count} too {way}"
            yield "rope-offset", says, partial(_otherwise, step, offset=operation.offset + by)


def _turned_back(step: Step, operation: Rotate, read: Read) -> Range:
    """Return the rows rotated by the negative angles: mirrored, rotated, and mirrored again."""
    first, *own = map(read, step.inputs)
    width = operation.dims or first.low.shape[-1]
    signs = np.ones(first.low.shape[-1])
    of_second = slice(width // 2, width) if operation.pairing == "halves" else slice(1, width, 2)
    signs[of_second] = -1.0
    return entry_by_entry(operation.over(entry_by_entry(first, signs), *own), signs)


def _of_alibi(step: Step, operation: Alibi, problem: Attention) -> Iterator[Wrong]:
    """Yield biases by distance without slopes, and with other ones."""
    scores, *own = step.inputs
    of_paper, scale = operation.slopes(np.empty(0)), scale_of(problem)

    def with_slopes(change: Any, read: Read) -> Range:
        slopes = read(own[0]).low if own else of_paper
        return operation.over(read(scores), Range.at(change(slopes)))

    says = "slope times distance is not subtracted from the scores"
    yield "alibi-forgotten", says, lambda read: read(scores)
    says = "slope times distance is added to the scores, not subtracted"
    yield "alibi-added", says, partial(with_slopes, np.negative)
    if scale != 1:
        says = "slope times distance is subtracted before the scores are scaled"
        yield "alibi-before-scale", says, partial(with_slopes, lambda slopes: slopes * scale)
    if operation.heads > 1:
        says = "the slopes of the heads are in reverse order"
        yield "alibi-slopes-reversed", says, partial(with_slopes, lambda slopes: slopes[::-1])
    for start, code in ((1, "alibi-slopes-halved"), (0, "alibi-slopes-from-1")) if not own else ():
        powers = (2.0 ** -np.arange(start, start + operation.heads)).reshape(of_paper.shape)
        named = "1/2, 1/4, …" if start else "1, 1/2, …"
        says = f"the slopes of the heads are {named}, and not those of the paper"
        yield code, says, partial(with_slopes, lambda _, powers=powers: powers)


def _of_relative(step: Step, operation: RelativeBias, problem: Attention) -> Iterator[Wrong]:
    """Yield no relative bias, one added too early, and other buckets."""
    scores, table = step.inputs
    scale = scale_of(problem)

    def times_table(factor: float, read: Read) -> Range:
        return operation.over(read(scores), times(read(table), factor))

    yield "rel-bias-forgotten", f"{table} is not added", lambda read: read(scores)
    yield "rel-bias-subtracted", f"{table} is subtracted", partial(times_table, -1.0)
    if scale != 1:
        says = f"{table} is added before the scores are scaled"
        yield "rel-bias-before-scale", says, partial(times_table, scale)
    if operation.both_ways:
        says = "all keys after a query share the first bucket"
        yield "rel-bias-one-way", says, partial(_otherwise, step, both_ways=False)
    elif operation.buckets % 2 == 0 and operation.buckets > 2:
        says = "half of the buckets are kept for keys after a query"
        yield "rel-bias-both-ways", says, partial(_otherwise, step, both_ways=True)


def _of_window(step: Step, window: int) -> Iterator[Wrong]:
    """Yield a window of one key more or less, and none."""
    for width in (window + 1, window - 1) if window > 1 else (window + 1,):
        says = f"the window is off by one: its width is {width}, not {window}"
        yield "window-off", says, partial(_otherwise, step, window=width)
    says = "the window is left out: each query sees all keys up to its own place"
    yield "window-forgotten", says, partial(_otherwise, step, window=None)


def _of_activation(step: Step, operation: Activate | Gate) -> Iterator[Wrong]:
    """Yield other activations, and a gate that is left out or exchanged."""
    first, *gate = step.inputs
    for kind, other in KINDS.items():
        if kind not in (operation.kind, "tanh"):
            says = f"{other.title} is taken{other.by}"
            yield f"activation-other:{kind}", says, partial(_otherwise, step, kind=kind)
    if gate:
        says = f"it is not multiplied by {gate[0]}"
        yield "gate-forgotten", says, partial(_done_by, Activate(operation.kind), (first,))
        says = f"{KINDS[operation.kind].title} is taken of {gate[0]}, and not of {first}"
        yield "gate-swapped", says, partial(_done_by, operation, (gate[0], first))


def _of_patches(step: Step, operation: Patches) -> Iterator[Wrong]:
    """Yield patches that are flattened, or counted, in another order."""
    for code, (order, says) in ORDERS.items():
        yield f"patches-{code}", says, partial(_otherwise, step, order=order)
    says = "patches are counted down the image first"
    yield "patches-down-first", says, partial(_otherwise, step, down_first=True)
    says = "the image is reshaped row by row, not cut into patches"

    def in_lengths(read: Read) -> Range:
        shape = done_right(step, read).low.shape
        return read(step.inputs[0]).map(lambda end: end.reshape(shape))

    if operation.size[0] > 1:
        yield "patches-reshaped", says, in_lengths


def _of_lookup(step: Step, operation: Lookup) -> Iterator[Wrong]:
    """Yield the rows of ids that count from another number."""
    ids, table = step.inputs
    other = 1 - operation.first

    def shifted(read: Read) -> Range:
        rows: Matrix = read(table).low
        # an id outside the table has no row: the nearest is as wrong as any
        named = read(ids).map(lambda end: np.clip(end - other, 0, rows.shape[-2] - 1))
        return Lookup().over(named, read(table))

    says = f"ids count from {other}, and not from {operation.first}"
    yield "ids-off-by-one", says, shifted
