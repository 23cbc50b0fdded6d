"""Patches as a part: an image is cut, each patch flattened, and projected: X = patches E + b_E.

Dosovitskiy et al., *An Image is Worth 16x16 Words* (2021), equation 1.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from attncalc.base.errors import AttncalcError, InputError, ShapeError
from attncalc.equations.operations.assembling import Patches
from attncalc.equations.operations.products import Project
from attncalc.problem.calculation import Built, Part, Placed, Stream, Streams
from attncalc.problem.step import Step

TITLES = {"patches": "patches, flattened"}
MOST_CHANNELS_LAST = 4
"""Channels that an image has where its last axis may be that of its channels."""


class PatchGrid(NamedTuple):
    """How an image is cut: its channels (0 of a matrix), and the patches down and across."""

    channels: int
    down: int
    across: int

    @property
    def patches(self) -> int:
        """How many patches there are."""
        return self.down * self.across

    @property
    def labels(self) -> tuple[str, ...]:
        """What the patches are called, by their row and column: no name that numbers look like."""
        return tuple(
            f"r{i}c{j}" for i in range(1, self.down + 1) for j in range(1, self.across + 1)
        )


def patch_of(fields: Any) -> tuple[int, int]:
    """Return the rows and the columns of a patch."""
    return fields.patch if isinstance(fields.patch, tuple) else (fields.patch, fields.patch)


def cut_of(fields: Any) -> PatchGrid:
    """Return how the image is cut."""
    for name, what in (("image", "the image that is cut"), ("patch", "how large a patch is")):
        if getattr(fields, name) is None:
            raise InputError(f"missing: {name}, {what}")
    channels, H, W = _sides(fields)
    p, q = patch_of(fields)
    if H % p or W % q:
        size = fields.size("image")
        said = f"image is {size} and patch is {p} × {q}: "
        side, of, name = (p, H, "rows") if H % p else (q, W, "columns")
        of_channel = " of a channel" if channels and fields.image.ndim == 2 else ""
        said += f"{side} does not divide its {of} {name}{of_channel}"
        shape = fields.image.shape
        if len(shape) == 3 and shape[2] <= MOST_CHANNELS_LAST < min(shape[:2]):
            said += ". Its channels seem to be last; image needs them first"
        raise ShapeError(said)
    return PatchGrid(channels, H // p, W // q)


def _sides(fields: Any) -> tuple[int, int, int]:
    """Return the channels, 0 for a matrix, and the rows and columns of each."""
    shape, said = fields.image.shape, fields.channels
    if len(shape) == 3:
        if said not in (None, shape[0]):
            raise ShapeError(f"channels is {said}, and image lists {shape[0]} matrices")
        return (shape[0] if shape[0] > 1 else 0), shape[1], shape[2]
    if said is None or said == 1:
        return 0, shape[0], shape[1]
    if shape[1] % said:
        raise ShapeError(
            f"image is {fields.size('image')}: its {shape[1]} columns cannot be divided into "
            f"{said} channels"
        )
    return said, shape[0], shape[1] // said


def _built(placed: Placed, streams: Streams) -> Built:
    fields = placed.fields
    try:
        cut = cut_of(fields)
    except AttncalcError as error:
        raise placed.fault(type(error), str(error)) from None
    p, q = patch_of(fields)
    width = max(cut.channels, 1) * p * q
    steps = [Step("patches", TITLES["patches"], Patches((p, q)), ("image",))]
    if fields.E is not None or fields.b_E is not None:
        placed.check_given("E", "b_E")
        patches = Stream("patches", cut.patches, width)
        placed.check_projection(patches, "E", "b_E", ", one for each number of a patch")
        inputs = ("patches", *fields.those_given("E", "b_E"))
        steps.append(Step(placed.gives, "tokens", Project(), inputs))
        width = fields.width_of("E")
    labels = fields.queries[-cut.patches :]
    return Built(tuple(steps), Stream(steps[-1].name, cut.patches, width, labels))


def _said(fields: Any) -> Iterator[str]:
    p, q = patch_of(fields)
    of_channels = "channel by channel, " if cut_of(fields).channels else ""
    yield (
        f"the image is cut into patches of {p} × {q}, counted in reading order (r1c2 is the second "
        f"of the first row); each is flattened {of_channels}row by row"
    )


PATCHES = Part("patches", _built, TITLES, _said, lambda placed: ("patch", "channels"))
