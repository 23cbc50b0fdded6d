"""What goes back from patches to their image: each number to its place."""

from dataclasses import dataclass

from attncalc.numbers.types import Matrix, Place
from attncalc.operations.base import Operand, Operation, Shape
from attncalc.operations.expressions import Call, Explanation, Expression


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

    def formula(self, *operands: Expression) -> Expression:
        """Return unflatten(dpatches)."""
        return Call("unflatten", operands[0])

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Name the number of the patch that this one became."""
        (patches,) = operands
        *channel, row, column = place
        p, q = self.size
        (down, i), (across, j) = divmod(row, p), divmod(column, q)
        number = (channel[0] if channel else 0) * p * q + i * q + j
        there = (down * (self.to[-1] // q) + across, number)
        where = f"patch r{down + 1}c{across + 1}"
        return Explanation((patches.entry(there),), where, patches.quote(there).exact)
