"""The fields of an image that is cut into patches."""

from dataclasses import dataclass
from typing import Any

from attncalc.problem.field import IMAGE, matrix, optional, setting, sides, whole

PATCHES = "Patches of an image"
MOST_CHANNELS = 10_000


@dataclass(frozen=True, eq=False, repr=False, init=False)
class PatchFields:
    """An image, how it is cut, and what a patch is multiplied by; `Problem` says more."""

    image: Any = matrix("image", "The image, or a list of its channels.", PATCHES, IMAGE)
    E: Any = matrix("weights", "What each patch is multiplied by.", PATCHES, IMAGE)
    b_E: Any = matrix("bias", "Bias of that projection.", PATCHES, IMAGE)
    patch: Any = setting(
        None,
        optional(sides),
        "one side of a patch, as 2, or its rows and columns, as 2x3",
        "The side of a patch, as 16, or its rows and columns, as 2x3.",
        PATCHES,
        kind=IMAGE,
        is_list=True,
    )
    channels: int | None = setting(
        None,
        optional(whole(1, MOST_CHANNELS)),
        "a whole number from 1",
        "How many channels stand side by side in the image.",
        PATCHES,
        kind=IMAGE,
    )


def patch_of(fields: Any) -> tuple[int, int]:
    """Return the rows and the columns of a patch."""
    return fields.patch if isinstance(fields.patch, tuple) else (fields.patch, fields.patch)
