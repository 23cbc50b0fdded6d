"""What goes back from patches to their image: each number to its place."""

from dataclasses import dataclass

from attncalc.equations.operation import Operation, Shape, Statement
from attncalc.numbers.types import Matrix


@dataclass(frozen=True, eq=False, repr=False)
class PatchesBack(Operation):
    """The gradients of patches, put together: (patches, numbers) gives (channels, H, W).

    Patches do not overlap, so that each number has one place, and nothing is added.

    Parameters
    ----------
    size
        The rows and the columns of a patch.
    to
        The shape of the image.
    """

    size: tuple[int, int]
    to: Shape

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Put each row in the place of its patch."""
        (patches,) = matrices
        *channels, H, W = self.to
        p, q = self.size
        is_family = patches.ndim > 2
        lead = patches.shape[:1] if is_family else ()
        C = channels[0] if channels else 1
        cut = patches.reshape(*lead, H // p, W // q, C, p, q)
        first = len(lead)
        order = (first + 2, first, first + 3, first + 1, first + 4)
        image = cut.transpose(*range(first), *order).reshape(*lead, C, H, W)
        return image if channels or is_family else image[..., 0, :, :]

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the image."""
        return self.to

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        (p, q), (*channels, H, W) = self.size, self.to
        count = channels[0] if channels else 1
        settings = {"p": p, "q": q, "H": H, "W": W, "channels": count}
        return Statement("PatchesBack", settings=settings).with_flags(channels=channels)
