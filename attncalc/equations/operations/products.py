"""Projections X W + b, scores of queries and keys, and the weighted sum of values A V."""

from dataclasses import dataclass

import numpy as np

from attncalc.base.decimals import tolerance_of
from attncalc.base.types import Matrix
from attncalc.equations.operation import Operation, Shape, Statement

_LARGE = 10_000
"""The size of weights of several heads from which one product is much faster than many."""


@dataclass(frozen=True, eq=False, repr=False)
class Project(Operation):
    """A linear layer: X W, plus a bias when there is one.

    (n, d) and (d, d_k) give (n, d_k); weights of several heads, (h, d, d_k), give (h, n, d_k).

    is_turned: whether the weights are (out, in), X Wᵀ: those of a step that has them so, and a
        table of embeddings that a network's last weights are tied to (Press and Wolf, *Using the
        Output Embedding to Improve Language Models*, 2017).
    """

    is_turned: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply, and add the bias to each row."""
        X, W, *bias = matrices
        W = W.swapaxes(-1, -2) if self.is_turned else W
        product: Matrix
        if W.ndim == 3 and X.ndim == 2 and W.size > _LARGE and W.dtype.kind == "f":
            side_by_side = X @ W.swapaxes(0, 1).reshape(W.shape[1], -1)  # one large product
            product = side_by_side.reshape(len(X), len(W), -1).swapaxes(0, 1)
        else:
            product = X @ W
        return product + bias[0] if bias else product

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        name = "ProjectTurned" if self.is_turned else "Project"
        return Statement.of(name, len(shapes))


class Scoring(Operation):
    """A score of each query with each key: (n, …) and (m, …) give (n, m).

    Its first two inputs are queries and keys; what else it reads is the same for all of them.
    """

    def largest(self, *matrices: Matrix) -> float:
        """Return a bound for the size of a score."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Scoring):
    """The dot product of each query with each key, Q Kᵀ.

    (n, d_k) and (m, d_k) give (n, m). Where keys have fewer heads than queries, each of their
    heads serves consecutive query heads.

    clears_dust: whether a row is 0 where all of it is as small as what arithmetic leaves of 0: for
        a normalizer that divides by the sum of a row, and would make digits of that.
    """

    clears_dust: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply queries by transposed keys."""
        Q, K = matrices
        keys = for_heads_of(Q, K).swapaxes(-1, -2)
        scores: Matrix = np.matmul(Q, keys, out=out)
        if self.clears_dust:
            dust = np.matmul(abs(Q), abs(keys)) * tolerance_of(scores)
            scores[(abs(scores) <= dust).all(axis=-1)] *= 0
        return scores

    def largest(self, *matrices: Matrix) -> float:
        """Return a bound: |q · k| is at most |q| |k|."""
        squares = (np.vecdot(matrix, matrix) for matrix in matrices)
        return float(np.prod([np.sqrt(square.max()) for square in squares]))


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

    is_turned: whether the weights are a step's that has them (out, in): [q; k] W_Sᵀ.
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


@dataclass(frozen=True, eq=False, repr=False)
class Weigh(Operation):
    """The weighted sum A V: (n, m), (m, d_v) give (n, d_v). `of_shares`: rows of A sum to 1."""

    of_shares: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply weights by values."""
        A, V = matrices
        return np.asarray(np.matmul(A, for_heads_of(A, V), out=out))

    @property
    def shares(self) -> tuple[str, ...]:
        """The weights, where they are shares."""
        return ("A",) if self.of_shares else ()


def for_heads_of(asking: Matrix, answering: Matrix) -> Matrix:
    """Repeat each of the fewer heads of keys or values for the query heads that it serves."""
    if 2 in (answering.ndim, asking.ndim) or answering.shape[-3] in (1, asking.shape[-3]):
        return answering
    times, left = divmod(asking.shape[-3], answering.shape[-3])
    if not times or left:
        raise ValueError("heads that are asked serve as many as ask, each as many of them")
    return np.repeat(answering, times, axis=-3)
