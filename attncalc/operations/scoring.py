"""Scores other than dot products: of a tanh that is weighed, and of distances."""

from dataclasses import dataclass

import numpy as np

from attncalc.equations.operation import Shape, Statement
from attncalc.numbers.types import Matrix
from attncalc.operations.products import Scoring


class AdditiveScores(Scoring):
    """The additive score of each query and key, v_Sᵀ tanh(q + k + b_S).

    (n, h), (m, h) and (1, h) give (n, m). Bahdanau, Cho and Bengio, *Neural Machine Translation by
    Jointly Learning to Align and Translate* (2015), appendix A.1.2; what they multiply queries and
    keys by is done before.
    """

    is_concat = False

    def largest(self, *matrices: Matrix) -> float:
        """Return the sum of the sizes of v: no tanh is beyond 1."""
        sizes: Matrix = np.abs(matrices[2 + self.is_concat]).sum(axis=-1)
        return float(sizes.max())


@dataclass(frozen=True, eq=False, repr=False)
class ConcatScores(AdditiveScores):
    """The score of each query and key side by side, v_Sᵀ tanh([q; k] W_S + b_S).

    (n, d_q), (m, d_k), (d_q + d_k, h) and (1, h) give (n, m). Luong, Pham and Manning, *Effective
    Approaches to Attention-based Neural Machine Translation* (2015), equation 8.

    Parameters
    ----------
    is_turned
        Whether the weights are a step's that has them (out, in): [q; k] W_Sᵀ.
    """

    is_turned: bool = False
    is_concat = True

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return super().statement(*shapes).with_flags(turned=self.is_turned)


class DistanceScores(Scoring):
    """Half the squared distance of each query from each key, with its sign turned: -‖q - k‖² / 2.

    (n, d) and (m, d) give (n, m). A softmax of these weighs by a Gaussian kernel of width 1, as
    Nadaraya (1964) and Watson (1964) do.
    """

    def largest(self, *matrices: Matrix) -> float:
        """Return a bound: no gap is wider than both together."""
        return sum(float(np.sqrt(np.vecdot(each, each).max())) for each in matrices) ** 2 / 2
