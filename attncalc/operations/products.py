"""Matrix products: projections X W + b, scores Q Kᵀ, and the weighted sum of values A V."""

import numpy as np

from attncalc.expressions import (
    Explanation,
    Expression,
    Product,
    Sum,
    Transposed,
    added,
    explained,
)
from attncalc.operations.base import Operand, Operation, Place
from attncalc.rounding import Matrix


class Project(Operation):
    """A linear layer: X W, plus a bias when there is one.

    (n, d) and (d, d_k) give (n, d_k); weights of several heads, (h, d, d_k), give (h, n, d_k).
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply, and add the bias to each row."""
        X, W, *bias = matrices
        product: Matrix = X @ W
        return product + bias[0] if bias else product

    def formula(self, *operands: Expression, columns: bool = False) -> Expression:
        """Return X W_Q + b_Q."""
        X, W, *bias = operands
        product = _product(X, W, columns=columns, sign="")
        return Sum((product, *bias)) if bias else product

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out a row of tokens times a column of weights."""
        X, W, *bias = operands
        *head, i, j = place
        terms = [
            _product(X.at(*head, i, k), W.at(*head, k, j), columns=X.columns)
            for k in range(X.matrix.shape[-1])
        ]
        return explained(added(*terms, *(b.at(*head, 0, j) for b in bias)))


class Scores(Operation):
    """The dot product of each query with each key, Q Kᵀ.

    (n, d_k) and (m, d_k) give (n, m). Where keys have fewer heads than queries, each of their
    heads serves consecutive query heads.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply queries by transposed keys."""
        Q, K = matrices
        scores: Matrix = np.matmul(Q, _for_heads_of(Q, K).swapaxes(-1, -2), out=out)
        return scores

    def formula(self, *operands: Expression, columns: bool = False) -> Expression:
        """Return Q Kᵀ."""
        Q, K = operands
        return Product((Transposed(K), Q) if columns else (Q, Transposed(K)), sign="")

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out a query times a key."""
        Q, K = operands
        *head, i, j = place
        key_head = _head_serving(Q.matrix, K.matrix, head)
        terms = [
            _product(Q.at(*head, i, k), K.at(*key_head, j, k), columns=Q.columns)
            for k in range(Q.matrix.shape[-1])
        ]
        return explained(added(*terms))


class Weigh(Operation):
    """The weighted sum of the values, A V: (n, m) and (m, d_v) give (n, d_v)."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply weights by values."""
        A, V = matrices
        weighed: Matrix = np.matmul(A, _for_heads_of(A, V), out=out)
        return weighed

    def formula(self, *operands: Expression, columns: bool = False) -> Expression:
        """Return A V."""
        A, V = operands
        return _product(A, V, columns=columns, sign="")

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out a row of weights times a column of values."""
        A, V = operands
        *head, i, j = place
        value_head = _head_serving(A.matrix, V.matrix, head)
        terms = [
            _product(A.at(*head, i, k), V.at(*value_head, k, j), columns=A.columns)
            for k in range(A.matrix.shape[-1])
        ]
        return explained(added(*terms))


def _product(left: Expression, right: Expression, *, columns: bool, sign: str = "·") -> Expression:
    return Product((right, left) if columns else (left, right), sign)


def _for_heads_of(asking: Matrix, answering: Matrix) -> Matrix:
    """Repeat each of the fewer heads of keys or values for the query heads that it serves."""
    if answering.ndim == 2 or answering.shape[0] == asking.shape[0]:
        return answering
    return np.repeat(answering, asking.shape[0] // answering.shape[0], axis=0)


def _head_serving(asking: Matrix, answering: Matrix, head: list[int]) -> list[int]:
    """Return which head of keys or values serves a query head."""
    if answering.ndim == 2:
        return []
    return [head[0] // (asking.shape[0] // answering.shape[0])]
