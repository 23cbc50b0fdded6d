"""Rows normalized: scores that become weights, and tokens over their features.

Ioffe and Szegedy, *Batch Normalization* (2015), section 3, derives the gradients.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from attncalc.base.decimals import in_system_of
from attncalc.base.errors import InputError
from attncalc.base.types import Matrix, Place
from attncalc.equations.expressions import Explanation, Operand
from attncalc.equations.operation import Operation, Shape, Stated, Statement, Way
from attncalc.equations.rows import share, softmax


@dataclass(frozen=True, eq=False, repr=False)
class Softmax(Operation):
    """Softmax along each row: exp(s_j) / Σ exp(s_i).

    The largest score of the row is subtracted first, which changes nothing but keeps exp finite.
    Attention sinks may follow as a second matrix, (1, 1) or (heads, 1, 1): exp(sink) is added to
    the denominator of each row, and goes to no key (OpenAI, *gpt-oss* model card, 2025; Xiao et
    al., *Efficient Streaming Language Models with Attention Sinks*, 2023).

    masked: whether scores may be -∞. A row of nothing else then gets weights of 0.
    shifted: whether the maximum is subtracted; not needed where scores are known to be small.
    """

    masked: bool = False
    shifted: bool = True

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

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Refuse: a step function has no slope to go back by."""
        from attncalc.equations.derive import NO_SLOPE  # here, and not at every start

        raise InputError(NO_SLOPE)


@dataclass(frozen=True, eq=False, repr=False)
class DivideBySum(Operation):
    """Each score divided by the sum of its row; a forbidden one counts as 0."""

    first_row: int = 0

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row of scores into weights that sum to 1; refuse a row that sums to 0."""
        return share(matrices[0], self.first_row)

    def at(self, rows: slice, keys: slice = slice(None)) -> "DivideBySum":
        """Return the operation for these rows, which it names by their place in the whole."""
        return replace(self, first_row=self.first_row + (rows.start or 0))


class FeatureMean(Operation):
    """The mean of the features of each token: (n, d) gives (n, 1)."""


@dataclass(frozen=True, eq=False, repr=False)
class FeatureVariance(Operation):
    """The variance of the features of each token, divided by their number less `ddof` (0 or 1)."""

    ddof: int = 0

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return super().statement(*shapes).with_flags(sample=self.ddof)


class FeatureSquares(Operation):
    """The mean of the squares of the features of each token."""


class HeadsSquares(Operation):
    """The mean of the squares of each token over the features of all heads, for each head."""


@dataclass(frozen=True, eq=False, repr=False)
class Normalise(Operation):
    """Each token less its mean, over the root of its variance, times a gain, plus a bias.

    It reads the tokens, their means (where they are centered), their variances, a gain and a bias
    (where there are any). Ba et al., *Layer Normalization* (2016); Zhang and Sennrich, *Root Mean
    Square Layer Normalization* (2019), where nothing is taken off.

    is_inside: whether eps is added inside the root, or to the root.
    is_centred: whether the mean is taken off.
    has_gain, has_bias: whether a gain, and a bias, follow among the inputs.
    of, eps_field: what its rows are, and what ε is called, in messages.
    """

    eps: Fraction
    is_inside: bool = True
    is_centred: bool = True
    has_gain: bool = False
    has_bias: bool = False
    of: str = "token"
    eps_field: str = "an eps"

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Normalize each row; refuse one that would be divided by 0."""
        variance = matrices[1 + self.is_centred]
        if (row := _first_row(variance == -in_system_of(variance, self.eps))) is not None:
            raise InputError(
                f"all features of {self.of} {row} are {'alike' if self.is_centred else '0'}: there "
                f"is nothing to divide by (give {self.eps_field} above 0)"
            )
        return super().apply(*matrices)

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return the way to the tokens, their means, their variances, the gain or the bias."""
        way = super().way_back(to, shapes)
        if way is not None and way.operation.name == "SpreadBack":
            of_variance = 1 + self.is_centred
            return Way(_SpreadBack(way.operation.statement(), of_variance), way.reads)
        return way

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return Statement("Normalise", settings={"eps": self.eps}).with_flags(
            mean=self.is_centred,
            gain=self.has_gain,
            bias=self.has_bias,
            inside=self.is_inside,
            eps=self.eps,
        )


@dataclass(frozen=True, eq=False, repr=False)
class _SpreadBack(Stated):
    """What reaches the variances, one of its inputs; refused where a root has no slope."""

    of_variance: int

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return the gradient of the variances; refuse one of 0 under a root."""
        variance = matrices[self.of_variance]
        if "inside" in self.stated.given:
            variance = variance + in_system_of(variance, Fraction(self.stated.settings["eps"]))
            variance = variance * np.sqrt(variance)
        if (row := _first_row(variance == 0)) is not None:
            raise InputError(
                f"all features of token {row} are alike: a root has no slope at 0 (give eps "
                "inside the root, above 0)"
            )
        return super().apply(*matrices)


def _first_row(holds: Matrix) -> int | None:
    """Return the first row in which something holds, from 1."""
    return int(np.argwhere(holds)[0][-2]) + 1 if holds.any() else None
