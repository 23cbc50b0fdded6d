"""From scores to weights: softmax, hardmax, or each score over the sum of its row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attncalc.equations.expressions import Explanation, Operand
from attncalc.equations.operation import Operation, Shape, Stated, Way
from attncalc.equations.rows import share, softmax
from attncalc.errors import InputError
from attncalc.numbers.types import Matrix, Place


@dataclass(frozen=True, eq=False, repr=False)
class Softmax(Operation):
    """Softmax along each row: exp(s_j) / Σ exp(s_i).

    The largest score of the row is subtracted first, which changes nothing but keeps exp finite.

    Parameters
    ----------
    masked
        Whether scores may be -∞. A row of nothing else then gets weights of 0.
    shifted
        Whether the maximum is subtracted; not needed where scores are known to be small.
    has_sink
        Whether a second matrix follows, (1, 1) or (heads, 1, 1): e to each head's sink joins the
        sum of each of its rows, and goes to no key (OpenAI, *gpt-oss* model card, 2025; Xiao et
        al., *Efficient Streaming Language Models with Attention Sinks*, 2023).
    """

    masked: bool = False
    shifted: bool = True
    has_sink: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row of scores into weights that sum to 1, or to less beside a sink."""
        scores, *sinks = matrices
        return softmax(scores, sinks, masked=self.masked, shifted=self.shifted, out=out)

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return the Jacobian diag(a) - a aᵀ of each row times the gradient; to a sink, its sum."""
        way = super().way_back(to, shapes)
        if to or way is None or not isinstance(way.operation, Stated):
            return way
        return way._replace(operation=_SoftmaxBack(way.operation.stated))


class _SoftmaxBack(Stated):
    """A ⊙ (dA - rowsum(A ⊙ dA)); an entry counts as rational only where its own weight does.

    Bridle, *Probabilistic Interpretation of Feedforward Classification Network Outputs* (1990).
    """

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out the entry."""
        made = super().explain(place, *operands)
        return made if operands[0].at(*place).exact is not None else made._replace(exact=None)


@dataclass(frozen=True, eq=False, repr=False)
class HardMax(Operation):
    """All weight to the largest score of each row; scores that tie share it equally."""

    masked: bool = False

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Refuse: a step function has no slope to go back by."""
        raise InputError(
            "hardmax jumps where two scores change places and is flat everywhere else, so it has "
            "no gradient to go back by (the normalizers softmax and sum have)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class DivideBySum(Operation):
    """Each score divided by the sum of its row; a forbidden one counts as 0."""

    masked: bool = False
    first_row: int = 0

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row of scores into weights that sum to 1; refuse a row that sums to 0."""
        return share(matrices[0], self.first_row)

    def at(self, rows: slice, keys: slice = slice(None)) -> "DivideBySum":
        """Return the operation for these rows, which it names by their place in the whole."""
        return replace(self, first_row=self.first_row + (rows.start or 0))
