"""An image cut into its patches, each a row of numbers."""

from dataclasses import dataclass

import numpy as np

from attncalc.equations.operation import Operation, Shape, Statement
from attncalc.numbers.types import Matrix

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

    def shape(self, *shapes: Shape) -> Shape:
        """Return a row for each patch, as wide as a patch has numbers."""
        *channels, H, W = shapes[0]
        p, q = self.size
        return (H // p) * (W // q), (channels[0] if channels else 1) * p * q

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        (p, q), (*channels, H, W) = self.size, shapes[0]
        lengths = {"channel": channels[0] if channels else 1, "row": p, "column": q}
        settings, stride = {"p": p, "q": q}, 1
        for axis in reversed(self.order):
            settings[f"of_{axis}"] = stride
            stride *= lengths[axis]
        settings["of_down"] = 1 if self.down_first else W // q
        settings["of_across"] = H // p if self.down_first else 1
        return Statement("Patches", settings=settings).with_flags(channels=channels)
