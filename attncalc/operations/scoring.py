"""Scores other than dot products: of a tanh that is weighed, and of distances."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from attncalc.equations.expressions import (
    Call,
    Explanation,
    Expression,
    Operand,
    Product,
    added,
    explained,
)
from attncalc.equations.operation import GRADIENT, Shape, Statement, Way
from attncalc.numbers.decimals import in_system_of, tanh
from attncalc.numbers.typed import exact
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.products import Scoring, for_heads_of, head_serving

HALF = Fraction(1, 2)


class _OfTanh(Scoring):
    """Scores that weigh the tanh of a hidden row, one for each query and key."""

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return the sums of dS v (1 - tanh²) and what they are multiplied by, or of dS tanh."""
        from attncalc.operations.back_scoring import TanhBack

        return Way(TanhBack(self, to, tuple(shapes)), (*range(len(shapes)), GRADIENT))

    is_concat = False
    """Whether queries and keys are multiplied by weights within it."""

    def halves(self, Q: Matrix, K: Matrix, W: Matrix | None = None) -> tuple[Matrix, Matrix]:
        """Return what a tanh takes of queries and of keys, whose sum it is taken of.

        Parameters
        ----------
        Q, K
            Queries (n, d_q) and keys (m, d_k).
        W
            What both are multiplied by, (d_q + d_k, h), where they are.
        """
        if W is None:
            return Q, for_heads_of(Q, K)
        # q W₁ + k W₂ is [q; k] W, without a row of both for each of n × m pairs
        left: Matrix = Q @ W[..., : Q.shape[-1], :]
        return left, for_heads_of(left, _by_lower(Q, K, W))

    @property
    def is_rational(self) -> bool:
        """Never: tanh is not."""
        return False

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a tanh for each hidden number of each score, worth two powers of e, and more."""
        hidden = self._hidden(*shapes)
        count = prod(self.shape(*shapes)) * hidden
        return count + sum(prod(each[:-1]) * each[-1] * hidden for each in shapes[:2]), 2 * count

    def largest(self, *matrices: Matrix) -> float:
        """Return the sum of the sizes of v: no tanh is beyond 1."""
        sizes: Matrix = np.abs(self._v(*matrices)).sum(axis=-1)
        return float(sizes.max())

    def _hidden(self, *shapes: Shape) -> int:
        """Return how many numbers the tanh is taken of, for each score."""
        raise NotImplementedError

    def _v(self, *matrices: Matrix) -> Matrix:
        """Return what weighs them."""
        raise NotImplementedError

    def arguments(self, place: Place, *operands: Operand) -> list[tuple[Expression, ...]]:
        """Return the terms that tanh is taken of, for each hidden number."""
        raise NotImplementedError

    def _weighed(self, place: Place, v: Operand, *operands: Operand) -> Explanation:
        """Write out the sum of v tanh(…), and what each tanh comes to."""
        *head, _, _ = place
        arguments = self.arguments(place, *operands)
        values = self.values(place, *operands)
        factors = [v.at(*head, 0, c) for c in range(len(arguments))]
        terms = [
            Product((factor, Call("tanh", added(*argument))))
            for factor, argument in zip(factors, arguments, strict=True)
        ]
        tangents = tanh(values)
        written = [
            Product((factor, v.write(tangent, Fraction(0) if tangent == 0 else None)))
            for factor, tangent in zip(factors, tangents, strict=True)
        ]
        between = [added(*_sums(factors, arguments, values, v))] if self._is_long else []
        return explained(added(*terms), *between, added(*written))

    _is_long = False
    """Whether what stands inside a tanh is a sum of products, which is first worked out."""

    def values(self, place: Place, *operands: Operand) -> Matrix:
        """Return the numbers that tanh is taken of."""
        raise NotImplementedError


def _sums(
    factors: list[Expression],
    arguments: list[tuple[Expression, ...]],
    values: Matrix,
    v: Operand,
) -> Iterator[Expression]:
    for factor, argument, value in zip(factors, arguments, values, strict=True):
        yield Product((factor, Call("tanh", v.write(value, added(*argument).exact))))


def _tanh_sum(
    left: Matrix, right: Matrix, v: Matrix, b: Matrix | None, out: Matrix | None = None
) -> Matrix:
    """Return Σ_c v_c tanh(left_ic + right_jc + b_c) for each row i of one and j of the other."""
    right = for_heads_of(left, right)
    _check_widths(left, right, v)
    total: Matrix | None = None
    # one hidden number after another: all of them at once would take as many times the memory
    for c in range(left.shape[-1]):
        inner = left[..., :, c, np.newaxis] + right[..., np.newaxis, :, c]
        if b is not None:
            inner = inner + _number_of(b, c)
        term = tanh(inner) * _number_of(v, c)
        total = term if total is None else np.add(total, term, out=total)
    assert total is not None
    return _put(total, out)


def _check_widths(*matrices: Matrix) -> None:
    """Refuse rows of different lengths, as numpy refuses a product: some answers have them."""
    widths = list(dict.fromkeys(each.shape[-1] for each in matrices))
    if len(widths) > 1:
        raise ValueError(f"rows of {widths[0]} and of {widths[1]} numbers have no score")


def _number_of(row: Matrix, c: int) -> Matrix:
    """Return one number of a row, or of that of each head, as scores are multiplied by it."""
    number: Matrix = row[..., 0, c, np.newaxis, np.newaxis]
    return number


def _put(matrix: Matrix, out: Matrix | None) -> Matrix:
    if out is None:
        return matrix
    np.copyto(out, matrix)
    return out


def _tanh_reach(inner: list[Range], v: Range, b: Range | None) -> Range:
    """Return where Σ_c v_c tanh(…) lies, from where each pair of rows lies: tanh never falls."""
    left, right = inner
    _check_widths(left.low, right.low, v.low)
    low = high = None
    for c in range(left.low.shape[-1]):
        ends = []
        for one, other, shift in zip(left, right, b or (None, None), strict=True):
            total = one[..., :, c, np.newaxis] + other[..., np.newaxis, :, c]
            ends.append(np.tanh(total if shift is None else total + _number_of(shift, c)))
        products = [end * _number_of(each, c) for end in ends for each in v]
        least, most = np.min(products, axis=0), np.max(products, axis=0)
        low, high = (least, most) if low is None else (low + least, high + most)
    assert low is not None
    assert high is not None
    return Range(low, high)


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveScores(_OfTanh):
    """The additive score of each query and key, v_Sᵀ tanh(q + k + b_S).

    (n, h), (m, h) and (1, h) give (n, m). Bahdanau, Cho and Bengio, *Neural Machine Translation by
    Jointly Learning to Align and Translate* (2015), appendix A.1.2; what they multiply queries and
    keys by is done before.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Weigh the tanh of each sum."""
        Q, K, v, *b = matrices
        return _tanh_sum(Q, K, v, b[0] if b else None, out)

    def reach(self, *ranges: Range) -> Range:
        """Return the scores of the ends."""
        Q, K, v, *b = ranges
        K = K.map(lambda end: for_heads_of(Q.low, end))
        return _tanh_reach([Q, K], v, b[0] if b else None)

    def factors(self, *factors: int) -> int:
        """Return those of v times one: a tanh is a number of its own."""
        return factors[2] + 1

    def _hidden(self, *shapes: Shape) -> int:
        return shapes[0][-1]

    def _v(self, *matrices: Matrix) -> Matrix:
        return matrices[2]

    def arguments(self, place: Place, *operands: Operand) -> list[tuple[Expression, ...]]:
        """Return the terms that tanh is taken of, for each hidden number."""
        Q, K, *b = operands
        *head, i, j = place
        key_head = head_serving(Q.matrix, K.matrix, head)
        return [
            (Q.at(*head, i, c), K.at(*key_head, j, c), *(each.at(*head, 0, c) for each in b))
            for c in range(Q.matrix.shape[-1])
        ]

    def values(self, place: Place, *operands: Operand) -> Matrix:
        """Return the numbers that tanh is taken of."""
        Q, K, *b = operands
        *head, i, j = place
        key_head = head_serving(Q.matrix, K.matrix, head)
        rows = [_row_of(Q, *head, i), _row_of(K, *key_head, j)]
        rows += [_row_of(each, *head, 0) for each in b]
        return np.asarray(np.sum(_in_one_system(rows), axis=0))


@dataclass(frozen=True, eq=False, repr=False)
class ConcatScores(_OfTanh):
    """The score of each query and key side by side, v_Sᵀ tanh([q; k] W_S + b_S).

    (n, d_q), (m, d_k), (d_q + d_k, h) and (1, h) give (n, m). Luong, Pham and Manning, *Effective
    Approaches to Attention-based Neural Machine Translation* (2015), equation 8.

    Parameters
    ----------
    is_turned
        Whether the weights are a step's that has them (out, in): [q; k] W_Sᵀ.
    """

    is_turned: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply each half by its half of the weights, and weigh the tanh of the sums."""
        Q, K, W, v, *b = matrices
        left, right = self.halves(Q, K, self._upright(W))
        return _tanh_sum(left, right, v, b[0] if b else None, out)

    def reach(self, *ranges: Range) -> Range:
        """Return the scores of the ends of what tanh is taken of."""
        Q, K, W, v, *b = ranges
        K, W = K.map(lambda end: for_heads_of(Q.low, end)), W.map(self._upright)
        width = Q.low.shape[-1]
        upper, lower = W.map(lambda end: end[..., :width, :]), W.map(lambda e: e[..., width:, :])
        halves = [_product_reach(Q, upper), _product_reach(K, lower)]
        return _tanh_reach(halves, v, b[0] if b else None)

    def _upright(self, W: Matrix) -> Matrix:
        """Return weights (in, out)."""
        return W.swapaxes(-1, -2) if self.is_turned else W

    def factors(self, *factors: int) -> int:
        """Return those inside the tanh, or outside, whichever are more."""
        return max(factors[0] + factors[2], factors[1] + factors[2], factors[3] + 1)

    _is_long = True
    is_concat = True

    def _hidden(self, *shapes: Shape) -> int:
        return shapes[2][-2 if self.is_turned else -1]

    def _v(self, *matrices: Matrix) -> Matrix:
        return matrices[3]

    def arguments(self, place: Place, *operands: Operand) -> list[tuple[Expression, ...]]:
        """Return the terms that tanh is taken of, for each hidden number."""
        Q, K, W, *b = operands
        *head, i, j = place
        key_head = head_serving(Q.matrix, K.matrix, head)
        pairs = [Q.at(*head, i, a) for a in range(Q.matrix.shape[-1])]
        pairs += [K.at(*key_head, j, a) for a in range(K.matrix.shape[-1])]
        return [
            (
                *(
                    _times(each, W.at(*head, *((c, a) if self.is_turned else (a, c))))
                    for a, each in enumerate(pairs)
                ),
                *(each.at(*head, 0, c) for each in b),
            )
            for c in range(self._upright(W.matrix).shape[-1])
        ]

    def values(self, place: Place, *operands: Operand) -> Matrix:
        """Return the numbers that tanh is taken of."""
        Q, K, W, *b = operands
        *head, i, j = place
        key_head = head_serving(Q.matrix, K.matrix, head)
        rows = [_row_of(Q, *head, i), _row_of(K, *key_head, j)]
        weights = self._upright(W.matrix if W.matrix.ndim == 2 else W.matrix[head[0]])
        query, key, weights, *shift = _in_one_system(
            [*rows, weights, *(_row_of(each, *head, 0) for each in b)]
        )
        total: Matrix = np.concatenate([query, key]) @ weights
        return total + shift[0] if shift else total

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return super().statement(*shapes).with_flags(turned=self.is_turned)


def _times(left: Expression, right: Expression) -> Product:
    return Product((left, right), is_ordered=True)


def _by_lower(Q: Matrix, K: Matrix, W: Matrix) -> Matrix:
    """Return keys times their half of the weights, for each query head where it has its own."""
    lower = W[..., Q.shape[-1] :, :]
    keys = for_heads_of(Q, K) if W.ndim > 2 else K
    product: Matrix = keys @ lower
    return product


def _product_reach(left: Range, right: Range) -> Range:
    """Return where a product of matrices lies when each lies within its range."""
    sizes = [np.abs(each.middle) for each in (left, right)]
    grown = [size + each.spread for size, each in zip(sizes, (left, right), strict=True)]
    spread = np.abs(grown[0] @ grown[1] - sizes[0] @ sizes[1])
    return Range.around(left.middle @ right.middle, spread)


def _in_one_system(matrices: list[Matrix]) -> list[Matrix]:
    """Return matrices as Decimals where any is: what is given stands in floats beside steps."""
    if all(matrix.dtype != object for matrix in matrices):
        return matrices
    return [each if each.dtype == object else _as_decimals(each) for each in matrices]


def _as_decimals(matrix: Matrix) -> Matrix:
    return np.asarray(np.frompyfunc(exact, 1, 1)(matrix), dtype=object)


def _row_of(operand: Operand, *place: int) -> Matrix:
    """Return a row of a matrix; one without heads, or of a single row, serves all alike."""
    *leading, _ = operand.place(*place, 0)
    row: Matrix = operand.matrix[tuple(leading)]
    return row


@dataclass(frozen=True, eq=False, repr=False)
class DistanceScores(Scoring):
    """Half the squared distance of each query from each key, with its sign turned: -‖q - k‖² / 2.

    (n, d) and (m, d) give (n, m). A softmax of these weighs by a Gaussian kernel of width 1, as
    Nadaraya (1964) and Watson (1964) do.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add the squares feature by feature; q·k - q²/2 - k²/2 would lose digits far from 0."""
        Q, K = matrices
        K = for_heads_of(Q, K)
        _check_widths(Q, K)
        total: Matrix | None = None
        for c in range(Q.shape[-1]):
            gap = Q[..., :, c, np.newaxis] - K[..., np.newaxis, :, c]
            gap *= gap
            total = gap if total is None else np.add(total, gap, out=total)
        assert total is not None
        # 0 less, and not times -1/2: of two that are one and the same that would be -0
        total *= in_system_of(total, HALF)
        return _put(_zero_of(total) - total, out)

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way:
        """Return dS K - rowsum(dS) Q to queries, and the same of dSᵀ to keys."""
        from attncalc.operations.back_scoring import DistanceBack

        return Way(DistanceBack(shapes[to], is_of_keys=to == 1), (0, 1, GRADIENT))

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a square for each feature of each pair."""
        return prod(self.shape(*shapes)) * shapes[0][-1], 0

    def factors(self, *factors: int) -> int:
        """Return twice those of one, and the half."""
        return 2 * max(factors[:2]) + 1

    def largest(self, *matrices: Matrix) -> float:
        """Return a bound: no gap is wider than both together."""
        Q, K = matrices
        return sum(float(np.sqrt((each * each).sum(axis=-1).max())) for each in (Q, K)) ** 2 / 2

    def reach(self, *ranges: Range) -> Range:
        """Return half the squares of the narrowest and the widest gaps."""
        Q, K = ranges
        K = K.map(lambda end: for_heads_of(Q.low, end))
        low: Any = 0.0
        high: Any = 0.0
        for c in range(Q.low.shape[-1]):
            least = Q.low[..., :, c, np.newaxis] - K.high[..., np.newaxis, :, c]
            most = Q.high[..., :, c, np.newaxis] - K.low[..., np.newaxis, :, c]
            squares = least * least, most * most
            narrow = np.where((least <= 0) & (most >= 0), 0.0, np.minimum(*squares))
            low, high = low - np.maximum(*squares) / 2, high - narrow / 2
        return Range(low, high)


def _zero_of(matrix: Matrix) -> Any:
    return in_system_of(matrix, Fraction(0))
