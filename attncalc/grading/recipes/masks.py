"""Wrong masks: none, the inverse, one shifted by a key, a bias left out."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.equations.operations.entrywise import Mask
from attncalc.grading.recipes.common import Read, Wrong, done_right, entry_by_entry
from attncalc.problem.step import Step

MASKED = float("-inf")
FILL = -1e9
"""A replacement of -∞ in programs: any number far below all scores gives the same weights."""


def of_mask(step: Step, operation: Mask, scale: float) -> Iterator[Wrong]:
    """Yield the results without a mask, and with other ones."""
    scores, *masks = step.inputs

    def masked(change: Callable[[Matrix], Matrix], read: Read) -> Range | None:
        """Return the scores with another mask; biases are added where they are finite."""
        given, *others = map(read, step.inputs)
        shape = np.broadcast_shapes(given.low.shape, *(each.low.shape for each in others))
        probe = operation.over(Range.at(np.zeros(shape)), *others).low
        forbidden = change(np.isneginf(probe))
        bias = np.where(np.isneginf(probe), 0.0, probe)
        return given.map(lambda end: np.where(forbidden, MASKED, end + bias))

    yield "mask-forgotten", "no score is masked", partial(masked, np.zeros_like)
    inverted = "the mask is inverted: what may be attended to is forbidden"
    yield "mask-inverted", inverted, partial(masked, np.logical_not)

    def filled(read: Read) -> Range | None:
        """Return the scores with a number for -∞: it matters if all keys of a query are masked."""
        made = masked(np.logical_not, read)
        return made and made.map(lambda end: np.where(np.isneginf(end), FILL, end))

    yield "mask-inverted", inverted, filled
    turned = "the mask is transposed"
    yield "mask-turned", turned, partial(masked, lambda forbidden: forbidden.swapaxes(-1, -2))
    zero = "0 is written where a score is forbidden, not -∞"
    yield "mask-zero", zero, partial(_right_with_zeros, step)
    for by, way in ((1, "further"), (-1, "less")):
        says = f"the mask is shifted by one: each query sees one key {way}"
        yield "mask-shifted", says, partial(_shifted_mask, operation, scores, masks, by)
    if operation.masks and operation.masks != ("bias",):
        says = "the window is off by one: each query sees one key {} into the past"
        yield "window-off", says.format("further"), partial(masked, _wider)
        yield "window-off", says.format("less far"), partial(masked, _narrower)
    if "bias" in masks:
        yield "bias-not-added", f"{masks[-1]} is not added", partial(_unbiased, operation, step)
        says = f"{masks[-1]} is subtracted"
        yield "bias-subtracted", says, partial(_biased, operation, step, -1.0)
        says = f"{masks[-1]} is multiplied, not added"
        yield "bias-multiplied", says, partial(_times_bias, operation, step)
        if scale != 1:
            says = f"{masks[-1]} is added before the scores are scaled"
            yield "bias-before-scale", says, partial(_biased, operation, step, scale)


def _right_with_zeros(step: Step, read: Read) -> Range:
    return done_right(step, read).map(lambda end: np.where(np.isneginf(end), 0.0, end))


def _shifted_mask(operation: Mask, scores: str, masks: list[str], by: int, read: Read) -> Range:
    """Shift the causal edge by one key, or the columns of other masks."""
    if operation.causal_from is not None:
        moved = replace(operation, causal_from=operation.causal_from + by)
        return moved.over(read(scores), *map(read, masks))

    rolled = (read(name).map(lambda end: _rolled(end, by)) for name in masks)
    return operation.over(read(scores), *rolled)


def _rolled(mask: Matrix, by: int) -> Matrix:
    """Return a mask with its columns shifted by one; the one at the edge stays."""
    places = np.clip(np.arange(mask.shape[-1]) - by, 0, mask.shape[-1] - 1)
    moved: Matrix = mask[..., places]
    return moved


def _wider(forbidden: Matrix) -> Matrix:
    """Return a mask that also keeps the key before each kept one."""
    after = np.ones_like(forbidden)
    after[..., :-1] = forbidden[..., 1:]
    both: Matrix = forbidden & after
    return both


def _narrower(forbidden: Matrix) -> Matrix:
    """Return a mask that also excludes the first kept key after excluded ones."""
    before = np.zeros_like(forbidden)
    before[..., 1:] = forbidden[..., :-1]
    either: Matrix = forbidden | before
    return either


def _biased(operation: Mask, step: Step, factor: float, read: Read) -> Range:
    """Add a bias multiplied by a factor; masked entries stay masked."""
    scores, *masks = map(read, step.inputs)
    place = operation.masks.index("bias")
    masks[place] = masks[place].map(lambda end: np.where(np.isneginf(end), MASKED, end * factor))
    return operation.over(scores, *masks)


def _times_bias(operation: Mask, step: Step, read: Read) -> Range:
    """Multiply by a bias; masked entries stay masked."""
    scores, *masks = map(read, step.inputs)
    place = operation.masks.index("bias")
    bias = masks[place].low
    forbidden = np.isneginf(bias)
    masks[place] = Range.at(np.where(forbidden, MASKED, 0.0))
    return operation.over(entry_by_entry(scores, np.where(forbidden, 1.0, bias)), *masks)


def _unbiased(operation: Mask, step: Step, read: Read) -> Range:
    scores, *masks = map(read, step.inputs)
    bias = operation.masks.index("bias")
    masks[bias] = masks[bias].map(lambda end: np.where(np.isneginf(end), MASKED, 0.0))
    return operation.over(scores, *masks)
