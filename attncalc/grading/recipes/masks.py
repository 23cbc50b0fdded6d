"""Wrong masks: none, the inverse, one shifted by a key, a bias left out."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from attncalc.grading.recipes.common import Read, Wrong, done_right
from attncalc.numbers.types import Matrix, Range
from attncalc.operations import Mask
from attncalc.operations.step import Step

MASKED = float("-inf")


def of_mask(step: Step, operation: Mask) -> Iterator[Wrong]:
    """Yield what comes of no mask, and of other ones."""
    scores, *masks = step.inputs

    def masked(change: Callable[[Matrix], Matrix], read: Read) -> Range | None:
        """Return the scores under another mask; biases are added where they are finite."""
        given, *others = map(read, step.inputs)
        shape = np.broadcast_shapes(given.low.shape, *(each.low.shape for each in others))
        probe = operation.over(Range.at(np.zeros(shape)), *others).low
        forbidden = change(np.isneginf(probe))
        bias = np.where(np.isneginf(probe), 0.0, probe)
        return given.map(lambda end: np.where(forbidden, MASKED, end + bias))

    yield "mask-forgotten", "no score is masked", partial(masked, np.zeros_like)
    inverted = "the mask is inverted: what may be attended to is forbidden"
    yield "mask-inverted", inverted, partial(masked, np.logical_not)
    turned = "the mask is turned: rows and columns of it are exchanged"
    yield "mask-turned", turned, partial(masked, lambda forbidden: forbidden.swapaxes(-1, -2))
    zero = "0 is written where a score is forbidden, not -∞"
    yield "mask-zero", zero, partial(_right_with_zeros, step)
    for by, way in ((1, "further"), (-1, "less")):
        says = f"the mask is shifted by one: each query sees one key {way}"
        yield "mask-shifted", says, partial(_shifted_mask, operation, scores, masks, by)
    if "bias" in masks:
        yield "bias-not-added", f"{masks[-1]} is not added", partial(_unbiased, operation, step)


def _right_with_zeros(step: Step, read: Read) -> Range:
    return done_right(step, read).map(lambda end: np.where(np.isneginf(end), 0.0, end))


def _shifted_mask(operation: Mask, scores: str, masks: list[str], by: int, read: Read) -> Range:
    """Move the causal edge by one key, or else the columns of the masks."""
    if operation.causal_from is not None:
        moved = replace(operation, causal_from=operation.causal_from + by)
        return moved.over(read(scores), *map(read, masks))

    rolled = (read(name).map(lambda end: _rolled(end, by)) for name in masks)
    return operation.over(read(scores), *rolled)


def _rolled(mask: Matrix, by: int) -> Matrix:
    """Return a mask with its columns moved by one; the one at the edge stays."""
    places = np.clip(np.arange(mask.shape[-1]) - by, 0, mask.shape[-1] - 1)
    moved: Matrix = mask[..., places]
    return moved


def _unbiased(operation: Mask, step: Step, read: Read) -> Range:
    scores, *masks = map(read, step.inputs)
    bias = operation.masks.index("bias")
    masks[bias] = masks[bias].map(lambda end: np.where(np.isneginf(end), MASKED, 0.0))
    return operation.over(scores, *masks)
