"""Gradients of what stands otherwise than the house has it: turned, as the matrix is given."""

from collections.abc import Sequence
from dataclasses import dataclass

from attncalc.equations.expressions import Explanation, Expression, Operand, Product, Transposed
from attncalc.equations.operation import Operation, Shape
from attncalc.numbers.types import Matrix, Place, Range


@dataclass(frozen=True, eq=False, repr=False)
class Turned(Operation):
    """What another operation makes, its rows and columns changed over: (p, q) gives (q, p).

    Parameters
    ----------
    of
        The other operation.
    """

    of: Operation

    @property
    def is_rational(self) -> bool:
        """Whether it is for the other."""
        return self.of.is_rational

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn what the other makes."""
        return self.of.apply(*matrices).swapaxes(-1, -2)

    def reach(self, *ranges: Range) -> Range:
        """Turn what the other reaches."""
        return self.of.reach(*ranges).map(lambda end: end.swapaxes(-1, -2))

    def shape(self, *shapes: Shape) -> Shape:
        """Return the other's, rows and columns changed over."""
        return _turned(self.of.shape(*shapes))

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return that of the other."""
        return self.of.cost(*shapes)

    def factors(self, *factors: int) -> int:
        """Return those of the other."""
        return self.of.factors(*factors)

    def formula(self, *operands: Expression) -> Expression:
        """Return the other's; of a product of matrices, that of both transposed."""
        made = self.of.formula(*operands)
        if not isinstance(made, Product) or not made.is_ordered:
            return made
        left, right = map(_transposed, made.factors)
        return Product((right, left), made.sign, is_ordered=True)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the entry that the other has there."""
        return self.of.explain(_turned(place), *operands)


def _transposed(expression: Expression) -> Expression:
    return expression.matrix if isinstance(expression, Transposed) else Transposed(expression)


def _turned(pair: Sequence[int]) -> tuple[int, ...]:
    *before, row, column = pair
    return (*before, column, row)
