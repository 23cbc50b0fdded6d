"""What happens to each score on its own: scaled, capped, masked."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from attncalc.equations.expressions import Explanation, Operand
from attncalc.equations.operation import GRADIENT, RESULT, Operation, Shape, Statement, Way
from attncalc.numbers.decimals import in_system_of, infinity_of, tanh
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.masks import Masking


@dataclass(frozen=True, eq=False, repr=False)
class DivideBySqrt(Operation):
    """Division by √d_k, which keeps scores of wide queries and keys in the range of narrow ones.

    Vaswani et al. (2017), equation 1.
    """

    d_k: int

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Divide each score."""
        (scores,) = matrices
        root = np.sqrt(in_system_of(scores, Fraction(self.d_k)))
        scaled: Matrix = np.multiply(scores, 1 / root, out=out)  # faster than n × m divisions
        return scaled

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return the gradient divided likewise."""
        return Way(self)

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the bound divided likewise."""
        return float(largest / self.d_k**0.5)


@dataclass(frozen=True, eq=False, repr=False)
class Multiply(Operation):
    """Multiplication by a number of the person's own choice, kept exactly: 1/3 stays a third."""

    factor: Fraction

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply each score."""
        (scores,) = matrices
        scaled: Matrix = np.multiply(scores, in_system_of(scores, self.factor), out=out)
        return scaled

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return the gradient multiplied likewise."""
        return Way(self)

    def factors(self, *factors: int) -> int:
        """Return one more: the number itself."""
        return factors[0] + 1

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the bound multiplied likewise."""
        return largest * abs(float(self.factor))


@dataclass(frozen=True, eq=False, repr=False)
class MultiplyEach(Operation):
    """Multiplication of the scores of each of a family of problems by a factor of its own.

    Parameters
    ----------
    each
        One factor for each problem, (problems, 1, 1, 1).
    """

    each: Matrix

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply the scores, (problems or 1, heads, n, m)."""
        (scores,) = matrices
        scaled: Matrix = scores * self.each
        return scaled


@dataclass(frozen=True, eq=False, repr=False)
class SoftCap(Operation):
    """c · tanh(s / c): scores near 0 stay as they are, none goes beyond c.

    Gemma Team, *Gemma 2* (2024), section 2.
    """

    cap: Fraction

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Cap each score."""
        (scores,) = matrices
        cap = in_system_of(scores, self.cap)
        capped: Matrix = np.multiply(tanh(np.divide(scores, cap, out=out)), cap, out=out)
        return capped

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return dS ⊙ (1 - tanh²), the tanh of the capped score."""
        from attncalc.operations.back_scores import SoftCapBack

        return Way(SoftCapBack(self.cap), (RESULT, GRADIENT))

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a tanh for each score, which is worth two powers of e."""
        return prod(shapes[0]), 2 * prod(shapes[0])

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the cap, where it is the smaller one."""
        return min(largest, float(self.cap))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the function, and its tanh in decimals, also where it is 0."""
        (scores,) = operands
        in_decimals = scores._replace(write=lambda value, _: scores.write(value, None))
        return super().explain(place, in_decimals)

    def reach(self, *ranges: Range) -> Range:
        """Return the capped ends: a larger score stays the larger one."""
        return Range(*(self.apply(end) for end in ranges[0]))


@dataclass(frozen=True, eq=False, repr=False)
class Mask(Masking):
    """Scores plus their bias where a query may attend, and -∞ where it may not."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add, then forbid; what is forbidden never matters, whatever it was."""
        scores, *given = matrices
        masks = dict(zip(self.masks, given, strict=True))
        # a bias of -∞ beside a score of +∞ would be nan: forbidding comes last and overwrites it
        if "bias" in masks:
            masked: Matrix = np.add(scores, masks["bias"], out=out)
        else:
            masked = _copied(scores if out is scores else _at_full_size(scores, masks), out)
        for forbidden in self.forbidden(masked.shape, masks).values():
            np.copyto(masked, -infinity_of(masked), where=forbidden)
        return masked

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return the gradient where a query may attend, and 0 where it may not."""
        from attncalc.operations.back_products import SumTo
        from attncalc.operations.back_scores import MaskBack

        if to == 0:
            return Way(MaskBack(self), (GRADIENT, *range(1, len(shapes))))
        # what is forbidden has no weight, and so the gradient is 0 there
        if self.masks[to - 1] == "bias":
            return Way(SumTo(shapes[to]))
        return None if self.masks[to - 1] in ("keep", "ignore") else super().way_back(to, shapes)

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the scores, for each head where a mask has heads."""
        return np.broadcast_shapes(*shapes)

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the bound plus the largest finite bias."""
        masks = dict(zip(self.masks, matrices, strict=True))
        if "bias" not in masks:
            return largest
        finite = masks["bias"][np.isfinite(masks["bias"])]
        return largest + float(np.abs(finite).max(initial=0.0))

    def reach(self, *ranges: Range) -> Range:
        """Return the masked ends: masks are as they are given."""
        scores, *masks = ranges
        return Range(*(self.apply(end, *(mask.low for mask in masks)) for end in scores))

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return self.stated("Mask")


def _at_full_size(scores: Matrix, masks: dict[str, Matrix]) -> Matrix:
    """Return the scores, repeated for each head where only a mask has heads."""
    return np.broadcast_to(
        scores, np.broadcast_shapes(scores.shape, *(mask.shape for mask in masks.values()))
    )


def _copied(matrix: Matrix, out: Matrix | None) -> Matrix:
    if out is None:
        return matrix.copy()
    if out is matrix:
        return out
    np.copyto(out, matrix)
    return out
