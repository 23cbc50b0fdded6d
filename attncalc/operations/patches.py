"""An image cut into its patches, each a row of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attncalc.numbers.types import Matrix, Place
from attncalc.operations.base import Operand, Operation, Shape, Way
from attncalc.operations.expressions import Call, Explanation, Expression

CHANNELS_FIRST = ("channel", "row", "column")


@dataclass(frozen=True, eq=False, repr=False)
class Patches(Operation):
    """The patches of an image, flattened: (H, W) or (channels, H, W) gives (patches, numbers).

    Dosovitskiy et al., *An Image is Worth 16x16 Words* (2021), section 3.1.

    Parameters
    ----------
    size
        The rows and the columns of a patch.
    order
        What changes least often within a patch, and what more often: by default channel, row,
        column, as the weights of a convolution are flattened.
    down_first
        Whether patches are counted down the image first, and not in reading order.
    """

    size: tuple[int, int]
    order: tuple[str, ...] = CHANNELS_FIRST
    down_first: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Cut the image; every patch becomes a row."""
        (image,) = matrices
        is_family = image.ndim > 3
        channels = image[np.newaxis] if image.ndim == 2 else image
        *lead, C, H, W = channels.shape
        p, q = self.size
        cut = channels.reshape(*lead, C, H // p, p, W // q, q)
        first = len(lead)
        across = {"channel": first, "row": first + 2, "column": first + 4}
        places = (first + 3, first + 1) if self.down_first else (first + 1, first + 3)
        axes = (*range(first), *places, *(across[each] for each in self.order))
        flat = cut.transpose(axes).reshape(*lead, (H // p) * (W // q), C * p * q)
        # of a family of problems every matrix keeps an axis for heads, here of one
        return flat[..., np.newaxis, :, :] if is_family else flat

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return the gradient of each number where that stands in the image."""
        from attncalc.operations.back_patches import PatchesBack

        return Way(PatchesBack(self.size, shapes[0]))

    def shape(self, *shapes: Shape) -> Shape:
        """Return a row for each patch, as wide as a patch has numbers."""
        *channels, H, W = shapes[0]
        p, q = self.size
        return (H // p) * (W // q), (channels[0] if channels else 1) * p * q

    def formula(self, *operands: Expression) -> Expression:
        """Return flatten(image)."""
        return Call("flatten", operands[0])

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Name the number of the image that stands here, and where in its patch it is."""
        (image,) = operands
        patch, number = place[-2:]
        p, q = self.size
        down, across = divmod(patch, image.matrix.shape[-1] // q)
        channel, within = divmod(number, p * q)
        row, column = divmod(within, q)
        there = (down * p + row, across * q + column)
        named = (channel, *there) if image.matrix.ndim == 3 else there
        where = f"patch r{down + 1}c{across + 1}: its row {row + 1}, column {column + 1}"
        of = f" of channel {channel + 1}" if image.matrix.ndim == 3 else ""
        return Explanation((image.entry(named),), where + of, image.quote(named).exact)
