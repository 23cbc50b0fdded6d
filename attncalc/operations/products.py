"""Matrix products: projections X W + b, scores Q Kᵀ, and the weighted sum of values A V."""

from dataclasses import dataclass
from math import prod

import numpy as np

from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.base import Operand, Operation, Shape
from attncalc.operations.expressions import (
    Explanation,
    Expression,
    Product,
    Sum,
    Transposed,
    added,
    explained,
)


class _Product(Operation):
    """A product of matrices."""

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the products of all rows with all columns."""
        return prod(self.shape(*shapes)) * shapes[0][-1], 0

    def factors(self, *factors: int) -> int:
        """Return those of both matrices; a bias that is added has none."""
        return sum(factors[:2])


class Project(_Product):
    """A linear layer: X W, plus a bias when there is one.

    (n, d) and (d, d_k) give (n, d_k); weights of several heads, (h, d, d_k), give (h, n, d_k).
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply, and add the bias to each row."""
        X, W, *bias = matrices
        product: Matrix = X @ W
        return product + bias[0] if bias else product

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the tokens, as wide as the weights, for each head of these."""
        tokens, weights = shapes[:2]
        return (*np.broadcast_shapes(tokens[:-2], weights[:-2]), tokens[-2], weights[-1])

    def formula(self, *operands: Expression) -> Expression:
        """Return X W_Q + b_Q."""
        X, W, *bias = operands
        product = _product(X, W, sign="")
        return Sum((product, *bias)) if bias else product

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out a row of tokens times a column of weights."""
        X, W, *bias = operands
        *head, i, j = place
        terms = [_product(X.at(*head, i, k), W.at(*head, k, j)) for k in range(X.matrix.shape[-1])]
        return explained(added(*terms, *(b.at(*head, 0, j) for b in bias)))


class Scores(_Product):
    """The dot product of each query with each key, Q Kᵀ.

    (n, d_k) and (m, d_k) give (n, m). Where keys have fewer heads than queries, each of their
    heads serves consecutive query heads.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply queries by transposed keys."""
        Q, K = matrices
        scores: Matrix = np.matmul(Q, _for_heads_of(Q, K).swapaxes(-1, -2), out=out)
        return scores

    def shape(self, *shapes: Shape) -> Shape:
        """Return a column for each key."""
        queries, keys = shapes
        return (*queries[:-1], keys[-2])

    def formula(self, *operands: Expression) -> Expression:
        """Return Q Kᵀ."""
        Q, K = operands
        return _product(Q, Transposed(K), sign="")

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out a query times a key."""
        Q, K = operands
        *head, i, j = place
        # grouped heads: the entry is quoted from the head that serves, not from a copy of it
        key_head = _head_serving(Q.matrix, K.matrix, head)
        terms = [
            _product(Q.at(*head, i, k), K.at(*key_head, j, k)) for k in range(Q.matrix.shape[-1])
        ]
        return explained(added(*terms))


@dataclass(frozen=True, eq=False, repr=False)
class Weigh(_Product):
    """The weighted sum of the values, A V: (n, m) and (m, d_v) give (n, d_v).

    Parameters
    ----------
    of_shares
        Whether no weight is negative and those of each row sum to 1, as after a softmax.
    """

    of_shares: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply weights by values."""
        A, V = matrices
        weighed: Matrix = np.matmul(A, _for_heads_of(A, V), out=out)
        return weighed

    def shape(self, *shapes: Shape) -> Shape:
        """Return rows as wide as the values."""
        weights, values = shapes
        return (*weights[:-1], values[-1])

    def reach(self, *ranges: Range) -> Range:
        """Return the smallest and the largest means of the values that the weights can make.

        Weights that cannot sum to 1 within their ranges are taken as any others.
        """
        weights, values = ranges
        widest = super().reach(weights, values)
        if not self.of_shares:
            return widest
        low, high = (np.clip(end, 0.0, 1.0) for end in weights)
        possible = (low.sum(axis=-1) <= 1) & (high.sum(axis=-1) >= 1)
        largest = _largest_mean(low, high, _for_heads_of(low, values.high))
        smallest = -_largest_mean(low, high, -_for_heads_of(low, values.low))
        return Range(
            np.where(possible[..., np.newaxis], smallest, widest.low),
            np.where(possible[..., np.newaxis], largest, widest.high),
        )

    def formula(self, *operands: Expression) -> Expression:
        """Return A V."""
        A, V = operands
        return _product(A, V, sign="")

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out a row of weights times a column of values."""
        A, V = operands
        *head, i, j = place
        value_head = _head_serving(A.matrix, V.matrix, head)
        terms = [
            _product(A.at(*head, i, k), V.at(*value_head, k, j)) for k in range(A.matrix.shape[-1])
        ]
        return explained(added(*terms))


def _largest_mean(low: Matrix, high: Matrix, values: Matrix) -> Matrix:
    """Return the largest Σ a_j v_j of weights a between low and high that sum to 1.

    What is left of 1 above the low ends goes to the largest values first.
    """
    values = np.broadcast_to(values, (*low.shape[:-2], *values.shape[-2:]))
    # a small linear program, solved greedily: each weight starts at its least, the rest goes to the
    # best
    order = np.argsort(-values, axis=-2)  # (…, m, d_v)
    left = (1 - low.sum(axis=-1, keepdims=True))[..., np.newaxis]  # (…, n, 1, 1)
    room = np.take_along_axis((high - low)[..., np.newaxis], order[..., np.newaxis, :, :], axis=-2)
    before = np.cumsum(room, axis=-2) - room
    given = np.clip(left - before, 0.0, room)  # (…, n, m, d_v)
    sorted_values = np.take_along_axis(values, order, axis=-2)
    means: Matrix = low @ values + (given * sorted_values[..., np.newaxis, :, :]).sum(axis=-2)
    return means


def _product(left: Expression, right: Expression, sign: str = "·") -> Expression:
    """Return a product whose order the layout decides: of matrices, or of their entries."""
    return Product((left, right), sign, is_ordered=True)


def _for_heads_of(asking: Matrix, answering: Matrix) -> Matrix:
    """Repeat each of the fewer heads of keys or values for the query heads that it serves."""
    if 2 in (answering.ndim, asking.ndim) or answering.shape[-3] in (1, asking.shape[-3]):
        return answering
    return np.repeat(answering, asking.shape[-3] // answering.shape[-3], axis=-3)


def _head_serving(asking: Matrix, answering: Matrix, head: list[int]) -> list[int]:
    """Return which head of keys or values serves a query head."""
    if answering.ndim == 2:
        return []
    return [head[0] // (asking.shape[0] // answering.shape[0])]
