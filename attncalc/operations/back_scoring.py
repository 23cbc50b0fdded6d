"""What goes back through scores other than dot products, to what they are made of."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np

from attncalc.equations.expressions import (
    COLUMN_SUM,
    ENTRYWISE,
    ROW_SUM,
    Call,
    Explanation,
    Expression,
    Negative,
    Operand,
    Power,
    Product,
    Stacked,
    Sum,
    Transposed,
    added,
    explained,
    whole,
)
from attncalc.equations.operation import Operation, Shape, Statement, UnstatedError
from attncalc.numbers.decimals import in_system_of, tanh
from attncalc.numbers.types import Matrix, Place, Range
from attncalc.operations.back_products import (
    TimesTransposed,
    TransposedTimes,
    gathered,
    heads_in,
    ordered,
    transposed,
)
from attncalc.operations.ranges import times, total


@dataclass(frozen=True, eq=False, repr=False)
class DistanceBack(Operation):
    """dS K - rowsum(dS) ⊙ Q: the slope of -‖q - k‖² / 2 in q is k - q; to keys the same of dSᵀ.

    It reads the queries, the keys and the gradient of the scores.

    Parameters
    ----------
    to
        The shape of the result.
    is_of_keys
        Whether it is that of the keys.
    """

    to: Shape
    is_of_keys: bool

    @property
    def is_rational(self) -> bool:
        """Always: it adds products."""
        return True

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply each gap by its gradient, and add."""
        own, other, slopes = self._turned(matrices)
        if self.is_of_keys:
            own = _for_heads(own, slopes)
        else:
            other = _for_heads(other, slopes)
        made = slopes @ other - slopes.sum(axis=-1, keepdims=True) * own
        return gathered(made, heads_in(self.to))

    def added(self, *sizes: Matrix) -> Matrix:
        """Add the products of what it is of, which are taken off in the sums."""
        own = int(self.is_of_keys)
        return self.apply(*(-size if place == own else size for place, size in enumerate(sizes)))

    def _turned(self, parts: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Return what the gradient is of, what it is scored with, and dS with its rows first."""
        Q, K, slopes = parts
        return (K, Q, slopes.swapaxes(-1, -2)) if self.is_of_keys else (Q, K, slopes)

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the queries, or of the keys."""
        return self.to

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a product for each feature of each pair."""
        return 2 * prod(shapes[2]) * shapes[0][-1], 0

    def factors(self, *factors: int) -> int:
        """Return those of the gradient, and of a query or a key."""
        return factors[2] + max(factors[:2])

    def formula(self, *operands: Expression) -> Expression:
        """Return dS K - rowsum(dS) ⊙ Q, or dSᵀ Q - colsum(dS)ᵀ ⊙ K."""
        Q, K, slopes = operands
        own, other = (K, Q) if self.is_of_keys else (Q, K)
        left = transposed(slopes) if self.is_of_keys else slopes
        summed: Expression = Call(COLUMN_SUM if self.is_of_keys else ROW_SUM, slopes)
        weighed = Product((transposed(summed) if self.is_of_keys else summed, own), ENTRYWISE)
        return Sum((ordered(left, other, sign=""), Negative(weighed)))

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out each gradient times the gap of its query and key."""
        Q, K, slopes = operands
        row, column = place[-2:]
        terms = []
        for head in _heads_sharing(place, self.to, slopes.matrix.shape):
            for k in range(slopes.matrix.shape[-1 - self.is_of_keys]):
                i, j = (k, row) if self.is_of_keys else (row, k)
                query = Q.at(*head, i, column)
                key = K.at(*_serving(head, K.matrix, slopes.matrix), j, column)
                gap = (query, Negative(key)) if self.is_of_keys else (key, Negative(query))
                terms.append(Product((slopes.at(*head, i, j), Sum(gap))))
        return explained(added(*terms))


class Tanhs(Protocol):
    """What knows what a tanh is taken of: the scores that go back here."""

    is_concat: bool

    def halves(self, Q: Matrix, K: Matrix, W: Matrix | None = None) -> tuple[Matrix, Matrix]:
        """Return what a tanh takes of queries and of keys."""

    def arguments(self, place: Place, *operands: Operand) -> list[tuple[Expression, ...]]:
        """Return the terms that tanh is taken of, for each hidden number."""

    def values(self, place: Place, *operands: Operand) -> Matrix:
        """Return the numbers that tanh is taken of."""


class _Parts(NamedTuple):
    """What a tanh score reads, and its gradient: W is None in additive ones."""

    Q: Any
    K: Any
    W: Any
    v: Any
    b: Any
    slopes: Any

    @property
    def inside(self) -> tuple[Any, ...]:
        """All that tanh is taken of."""
        return tuple(each for each in (self.Q, self.K, self.W, self.b) if each is not None)


@dataclass(frozen=True, eq=False, repr=False)
class TanhBack(Operation):
    """Sums of dS_ij v_c (1 - t²), with t = tanh(…) of the pair: what reaches what t is taken of.

    To v it is the sum of dS_ij t. It reads all that the scores read, and their gradient.

    Parameters
    ----------
    scores
        What made them.
    to
        Which of its inputs, from 0.
    shapes
        The shapes of all of them.
    """

    scores: Tanhs
    to: int
    shapes: tuple[Shape, ...]

    @property
    def _name(self) -> str:
        names = ("Q", "K", "W", "v", "b") if self.scores.is_concat else ("Q", "K", "v", "b")
        return names[self.to]

    @property
    def is_rational(self) -> bool:
        """Never: tanh is not."""
        return False

    def _parted(self, inputs: Sequence[Any]) -> _Parts:
        Q, K, *rest, slopes = inputs
        W = rest.pop(0) if self.scores.is_concat else None
        v, *b = rest
        return _Parts(Q, K, W, v, b[0] if b else None, slopes)

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add up, one hidden number after another."""
        parts = self._parted(matrices)
        left, right = self.scores.halves(parts.Q, parts.K, parts.W)
        one = in_system_of(parts.slopes, Fraction(1))

        def of_pairs(c: int) -> Range:
            inner = left[..., :, c, np.newaxis] + right[..., np.newaxis, :, c]
            t = tanh(inner if parts.b is None else inner + _number_of(parts.b, c))
            if self._name == "v":
                return Range.at(parts.slopes * t)
            return Range.at(parts.slopes * _number_of(parts.v, c) * (one - t * t))

        points = _Parts(*(each if each is None else Range.at(each) for each in parts))
        return self._together(points, map(of_pairs, range(left.shape[-1]))).low

    def statement(self, *shapes: Shape) -> Statement:
        """Refuse: the equation of this name is the gradient of an activation."""
        raise UnstatedError("gradients of additive scores")

    def reach(self, *ranges: Range) -> Range:
        """Return the sums of the products at the corners of slopes and of gradients."""
        parts = self._parted(ranges)
        left, right = self._halves(parts)

        def of_pairs(c: int) -> Range:
            ends = zip(left, right, parts.b or (None, None), strict=True)
            low, high = (
                one[..., :, c, np.newaxis]
                + other[..., np.newaxis, :, c]
                + (0.0 if shift is None else _number_of(shift, c))
                for one, other, shift in ends
            )
            t = Range(np.tanh(low), np.tanh(high))
            if self._name == "v":
                return times(parts.slopes, t)
            v = parts.v.map(lambda end: _number_of(end, c))
            return times(times(parts.slopes, v), _slope_of(t))

        return self._together(parts, map(of_pairs, range(left.low.shape[-1])))

    def _halves(self, parts: _Parts) -> tuple[Range, Range]:
        """Return where what a tanh takes of queries, and of keys, may lie."""
        keys = parts.K.map(lambda end: _for_heads(end, parts.slopes.low))
        if parts.W is None:
            return parts.Q, keys
        upper, lower = self._halves_of_weights(parts)
        times_upper = TimesTransposed(_heads_of(parts.Q)).over(parts.Q, _turned(upper))
        return times_upper, TimesTransposed(_heads_of(keys)).over(keys, _turned(lower))

    def _halves_of_weights(self, parts: _Parts) -> tuple[Range, Range]:
        width = parts.Q.low.shape[-1]
        return (
            parts.W.map(lambda end: end[..., :width, :]),
            parts.W.map(lambda end: end[..., width:, :]),
        )

    def _together(self, parts: _Parts, of_each: Iterable[Range]) -> Range:
        """Add over queries and keys, lead on behind weights, and add heads that share a matrix."""
        sums = {"Q": _over_keys, "K": _over_queries}.get(self._name, _over_both)
        if self._name == "W":
            both = [(_over_keys(each), _over_queries(each)) for each in of_each]
            of_queries, of_keys = (_side_by_side(list(each)) for each in zip(*both, strict=True))
            keys = parts.K.map(lambda end: _for_heads(end, parts.slopes.low))
            made = _stacked(_turned_times(parts.Q, of_queries), _turned_times(keys, of_keys))
        else:
            made = _side_by_side([sums(each) for each in of_each])
            if parts.W is not None and self._name in ("Q", "K"):
                own = self._halves_of_weights(parts)[self._name == "K"]
                made = TimesTransposed(_heads_of(made)).over(made, own)
        return made.map(lambda end: gathered(end, heads_in(self.shapes[self.to])))

    def shape(self, *shapes: Shape) -> Shape:
        """Return that of the input."""
        return self.shapes[self.to]

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return a tanh for each hidden number of each score, worth two powers of e, and more."""
        hidden = shapes[2][-1]
        count = prod(shapes[-1]) * hidden
        return 4 * count, 2 * count

    def factors(self, *factors: int) -> int:
        """Return those of all that is multiplied, and of a slope that is a number of its own."""
        return sum(factors) + 2

    def formula(self, *operands: Expression) -> Expression:
        """Return Σ dS v_Sᵀ (1 - tanh(Q + K + b_S)²), times what each is multiplied by."""
        parts = self._parted(operands)
        both: Expression = Stacked((parts.Q, parts.K))
        of_both = (parts.Q, parts.K) if parts.W is None else (ordered(both, parts.W, sign=""),)
        t = Call("tanh", added(*of_both, *(() if parts.b is None else (parts.b,))))
        if self._name == "v":
            return Call("sum", Product((parts.slopes, t), ENTRYWISE))
        slope = Sum((whole(1), Negative(Power(t, whole(2)))))
        product = Product((parts.slopes, Transposed(parts.v), slope), ENTRYWISE)
        over = {"Q": "Σ_keys", "K": "Σ_queries"}.get(self._name, "sum")
        summed = Call(over, product)
        if parts.W is None or self._name == "b":
            return summed
        if self._name == "W":
            return ordered(transposed(both), summed, sign="")
        return ordered(summed, transposed(parts.W), sign="")

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Write out each product, and what each tanh in it comes to."""
        parts = self._parted(operands)
        long: list[Expression] = []
        short: list[Expression] = []
        for head, i, j in self._pairs(place, parts):
            there = (*head, i, j)
            arguments = self.scores.arguments(there, *parts.inside)
            tangents = tanh(self.scores.values(there, *parts.inside))
            for c in self._hidden(place, len(arguments)):
                written = parts.v.write(tangents[c], Fraction(0) if tangents[c] == 0 else None)
                for terms, t in (
                    (long, Call("tanh", added(*arguments[c]))),
                    (short, written),
                ):
                    terms.append(self._term(place, parts, (head, i, j, c), t))
        return explained(added(*long), added(*short))

    def _term(self, place: Place, parts: _Parts, at: Any, t: Expression) -> Expression:
        """Return what one hidden number of one pair adds."""
        head, i, j, c = at
        slope = parts.slopes.at(*head, i, j)
        if self._name == "v":
            return Product((slope, t))
        factors = [slope, parts.v.at(*head, 0, c), Sum((whole(1), Negative(Power(t, whole(2)))))]
        own = place[-2] if self._name == "W" else place[-1]
        width = parts.Q.matrix.shape[-1]
        if self._name == "W":
            is_query = own < width
            key_head = _serving(head, parts.K.matrix, parts.slopes.matrix)
            entry = parts.Q.at(*head, i, own) if is_query else parts.K.at(*key_head, j, own - width)
            factors.append(entry)
        elif parts.W is not None and self._name in ("Q", "K"):
            factors.append(parts.W.at(*head, own + (width if self._name == "K" else 0), c))
        return Product(tuple(factors))

    def _hidden(self, place: Place, count: int) -> Sequence[int]:
        """Return the hidden numbers that an entry hangs on."""
        hangs_on_all = self.scores.is_concat and self._name in ("Q", "K")
        return range(count) if hangs_on_all else (place[-1],)

    def _pairs(self, place: Place, parts: _Parts) -> Iterator[tuple[Place, int, int]]:
        """Yield the heads, queries and keys whose scores an entry is in."""
        n, m = parts.slopes.matrix.shape[-2:]
        rows = (place[-2],) if self._name == "Q" else range(n)
        keys = (place[-2],) if self._name == "K" else range(m)
        for head in _heads_sharing(place, self.shapes[self.to], parts.slopes.matrix.shape):
            yield from ((head, i, j) for i in rows for j in keys)


def _number_of(row: Matrix, c: int) -> Matrix:
    """Return one number of a row, or of that of each head, as scores are multiplied by it."""
    number: Matrix = row[..., 0, c, np.newaxis, np.newaxis]
    return number


def _for_heads(shared: Matrix, slopes: Matrix) -> Matrix:
    """Repeat the fewer heads of keys for the query heads that they serve."""
    if 2 in (shared.ndim, slopes.ndim) or shared.shape[-3] in (1, slopes.shape[-3]):
        return shared
    return np.repeat(shared, slopes.shape[-3] // shared.shape[-3], axis=-3)


def _slope_of(t: Range) -> Range:
    """Return where 1 - t² lies."""
    squares = t.low * t.low, t.high * t.high
    least = np.where((t.low <= 0) & (t.high >= 0), 0.0, np.minimum(*squares))
    return Range(1 - np.maximum(*squares), 1 - least)


def _over_keys(of_pairs: Range) -> Range:
    return total(of_pairs, axis=-1)


def _over_queries(of_pairs: Range) -> Range:
    return _turned(total(of_pairs, axis=-2))


def _over_both(of_pairs: Range) -> Range:
    return total(total(of_pairs, axis=-1), axis=-2)


def _turned(values: Range) -> Range:
    return values.map(lambda end: end.swapaxes(-1, -2))


def _side_by_side(columns: list[Range]) -> Range:
    low = np.concatenate([each.low for each in columns], axis=-1)
    if all(each.is_point for each in columns):
        return Range.at(low)
    return Range(low, np.concatenate([each.high for each in columns], axis=-1))


def _stacked(upper: Range, lower: Range) -> Range:
    return _turned(_side_by_side([_turned(upper), _turned(lower)]))


def _heads_of(values: Range) -> int | None:
    return heads_in(values.low.shape[-3:])


def _turned_times(left: Range, right: Range) -> Range:
    """Return Xᵀ dY for each head."""
    return TransposedTimes(_heads_of(right)).over(left, right)


def _heads_sharing(place: Place, own: Shape, scores: Shape) -> list[Place]:
    """Return the heads of scores that an entry of a matrix of this shape is read by."""
    if len(scores) == 2:
        return [()]
    count = scores[0] // (heads_in(own) or 1)
    first = place[0] * count if len(place) > 2 else 0
    return [(head,) for head in range(first, first + count)]


def _serving(head: Place, keys: Matrix, scores: Matrix) -> Place:
    """Return which head of keys serves one of the scores."""
    if keys.ndim == 2 or not head:
        return ()
    return (head[0] // (len(scores) // len(keys)),)
