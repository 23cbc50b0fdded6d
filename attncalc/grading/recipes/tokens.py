"""Wrong tokens: patches flattened in another order, no class token, wrong rows."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from attncalc.base.types import Range
from attncalc.equations.operations import Add, Stack
from attncalc.equations.operations.assembling import Lookup, Patches
from attncalc.grading.recipes.common import Read, Wrong, done_right
from attncalc.problem.step import Plan, Step

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


def of_tokens(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the wrong recipes of a step that computes tokens."""
    operation = step.operation
    if isinstance(operation, Patches):
        yield from _of_patches(step, operation)
    elif isinstance(operation, Lookup):
        yield from _of_lookup(step, operation)
    elif isinstance(operation, Stack):
        yield from _of_class_token(step)
    elif isinstance(operation, Add) and step.name.endswith("_P"):
        yield from _of_positions(step, steps)


def _of_patches(step: Step, operation: Patches) -> Iterator[Wrong]:
    (image,) = step.inputs
    for code, (order, says) in ORDERS.items():
        yield f"patches-{code}", says, partial(_cut, replace(operation, order=order), image)
    down = replace(operation, down_first=True)
    yield (
        "patches-down-first",
        "patches are counted down the image first",
        partial(_cut, down, image),
    )
    p, _ = operation.size
    says = "rows of the image are cut into lengths, and not the image into patches"

    def in_lengths(read: Read) -> Range:
        return read(image).map(lambda end: end.reshape(done_right(step, read).low.shape))

    if p > 1:
        yield "patches-reshaped", says, in_lengths


def _cut(operation: Patches, image: str, read: Read) -> Range:
    return operation.over(read(image))


def _of_lookup(step: Step, operation: Lookup) -> Iterator[Wrong]:
    ids, table = step.inputs
    other = 1 - operation.first
    says = f"ids count from {other}, and not from {operation.first}"

    def shifted(read: Read) -> Range:
        rows = read(table).low.shape[-2]
        # an id outside the table has no row: the nearest is as wrong as any
        named = read(ids).map(lambda end: np.clip(end - other, 0, rows - 1))
        return Lookup().over(named, read(table))

    yield "ids-off-by-one", says, shifted


def _of_class_token(step: Step) -> Iterator[Wrong]:
    token, others = step.inputs

    def behind(read: Read) -> Range:
        return step.operation.over(read(others), read(token))

    yield "class-token-behind", f"{token} is after the others, not before them", behind
    says = f"{token} is forgotten"
    yield "class-token-forgotten", says, lambda read: read(others)


def _of_positions(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of adding positions before the class token."""
    before, positions = step.inputs
    stacked = next((each for each in steps if each.name == before), None)
    if stacked is None or not isinstance(stacked.operation, Stack):
        return
    token, others = stacked.inputs

    def early(read: Read) -> Range:
        # without a class token, the first token has the first position
        places = read(positions).map(lambda end: end[..., :-1, :])
        return stacked.operation.over(read(token), step.operation.over(read(others), places))

    def later(read: Read) -> Range:
        places = read(positions).map(lambda end: end[..., 1:, :])
        return stacked.operation.over(read(token), step.operation.over(read(others), places))

    says = f"{positions} is added before {token} is put in front: the first row to the first patch"
    yield "positions-before-class", says, early
    yield "positions-not-on-class", f"{positions} is not added to {token}", later

    def without(read: Read) -> Range:
        return step.operation.over(read(others), read(positions).map(lambda end: end[..., 1:, :]))

    yield "class-token-forgotten", f"{token} is forgotten", without
