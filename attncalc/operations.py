"""What a step does to whole matrices, and how its equation is written.

Each operation is written once, in numpy, and so runs on floats and on arrays of Decimals alike, on
whole matrices and on blocks of their rows. With `columns`, an equation is written for tokens as
columns, where every product is the other way round.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from attncalc.arithmetic import cos_sin, in_system_of, infinity_of, tanh, tolerance_of
from attncalc.errors import InputError
from attncalc.fields import as_written
from attncalc.rounding import Matrix


class Operation:
    """A pure function of matrices that can say its own equation.

    Most operations do the same to every row of the queries and to every score; those that do not
    say what they are for a part of them.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return the matrix of the step; written into `out` where that saves an array."""
        raise NotImplementedError

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return the right-hand side of the step's equation, for inputs of these names."""
        raise NotImplementedError

    def at(self, rows: slice, keys: slice = slice(None)) -> "Operation":
        """Return the operation for these rows of queries, and these keys, alone."""
        return self

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return a bound for the size of the results, from one for the first matrix."""
        return largest


class Project(Operation):
    """A linear layer: X W, plus a bias when there is one.

    (n, d) and (d, d_k) give (n, d_k); weights of several heads, (h, d, d_k), give (h, n, d_k).
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply, and add the bias to each row."""
        X, W, *bias = matrices
        product: Matrix = X @ W
        return product + bias[0] if bias else product

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `X W_Q + b_Q`."""
        X, W, *bias = names
        return " + ".join([f"{W} {X}" if columns else f"{X} {W}", *bias])


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

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `Q Kᵀ`."""
        Q, K = names
        return f"{K}ᵀ {Q}" if columns else f"{Q} {K}ᵀ"


class Weigh(Operation):
    """The weighted sum of the values, A V: (n, m) and (m, d_v) give (n, d_v)."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply weights by values."""
        A, V = matrices
        weighed: Matrix = np.matmul(A, _for_heads_of(A, V), out=out)
        return weighed

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `A V`."""
        A, V = names
        return f"{V} {A}" if columns else f"{A} {V}"


def _for_heads_of(asking: Matrix, answering: Matrix) -> Matrix:
    """Repeat each of the fewer heads of keys or values for the query heads that it serves."""
    if answering.ndim == 2 or answering.shape[0] == asking.shape[0]:
        return answering
    return np.repeat(answering, asking.shape[0] // answering.shape[0], axis=0)


@dataclass(frozen=True, eq=False, repr=False)
class DivideBySqrt(Operation):
    """Division by √d_k, which keeps scores of wide queries and keys in the range of narrow ones.

    Vaswani et al. (2017), equation 1.
    """

    d_k: int

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Divide each score."""
        (scores,) = matrices
        root = np.sqrt(np.full((1, 1), in_system_of(scores, Fraction(self.d_k)), scores.dtype))
        scaled: Matrix = np.multiply(scores, 1 / root, out=out)  # faster than n × m divisions
        return scaled

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the bound divided likewise."""
        return float(largest / self.d_k**0.5)

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `S / √d_k`."""
        return f"{names[0]} / √d_k"


@dataclass(frozen=True, eq=False, repr=False)
class Multiply(Operation):
    """Multiplication by a number of the person's own choice, kept exactly: 1/3 stays a third."""

    factor: Fraction

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Multiply each score."""
        (scores,) = matrices
        scaled: Matrix = np.multiply(scores, in_system_of(scores, self.factor), out=out)
        return scaled

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the bound multiplied likewise."""
        return largest * abs(float(self.factor))

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `S × 1/3`."""
        return f"{names[0]} × {as_written(self.factor)}"


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

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the cap, where it is the smaller one."""
        return min(largest, float(self.cap))

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `50 tanh(S / 50)`."""
        cap = as_written(self.cap)
        return f"{cap} tanh({names[0]} / {cap})"


@dataclass(frozen=True, eq=False, repr=False)
class Mask(Operation):
    """Scores plus their bias where a query may attend, and -∞ where it may not.

    Parameters
    ----------
    masks
        Which masks follow the scores among the inputs: "keep", "ignore", "bias".
    causal_from
        With a causal mask, how many keys the first query may attend to: 1, or m - n + 1 where
        the corners meet at the bottom right. None without one.
    """

    masks: tuple[str, ...] = ()
    causal_from: int | None = None

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add, then forbid; what is forbidden never matters, whatever it was."""
        scores, *given = matrices
        masks = dict(zip(self.masks, given, strict=True))
        if "bias" in masks:
            masked: Matrix = np.add(scores, masks["bias"], out=out)
        else:
            masked = _copied(_at_full_size(scores, masks), out)
        np.copyto(masked, -infinity_of(masked), where=self._forbidden(masked.shape, masks))
        return masked

    def at(self, rows: slice, keys: slice = slice(None)) -> "Mask":
        """Return the mask of these rows and keys: the causal edge moves with them."""
        if self.causal_from is None:
            return self
        return Mask(self.masks, self.causal_from + (rows.start or 0) - (keys.start or 0))

    def forbids_all(self, rows: int) -> bool:
        """Say whether the causal edge lies before the first key for so many rows."""
        return self.causal_from is not None and self.causal_from + rows - 1 <= 0

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return the bound plus the largest finite bias."""
        masks = dict(zip(self.masks, matrices, strict=True))
        if "bias" not in masks:
            return largest
        finite = masks["bias"][np.isfinite(masks["bias"])]
        return largest + float(np.abs(finite).max(initial=0.0))

    def _forbidden(self, shape: tuple[int, ...], masks: dict[str, Matrix]) -> Matrix:
        n, m = shape[-2:]
        forbidden: Matrix = np.zeros((1, 1), dtype=bool)
        if self.causal_from is not None:
            forbidden = np.arange(m) >= np.arange(n)[:, np.newaxis] + self.causal_from
        if "keep" in masks:
            forbidden = forbidden | ~masks["keep"]
        if "ignore" in masks:
            forbidden = forbidden | masks["ignore"]
        if "bias" in masks:
            forbidden = forbidden | (masks["bias"] == -infinity_of(masks["bias"]))
        return forbidden

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `S + bias where causal and keep, else -∞`."""
        conditions = ["causal"] if self.causal_from is not None else []
        conditions += [
            {"keep": "keep", "ignore": "not ignore"}[name] for name in self.masks if name != "bias"
        ]
        plus = f"{names[0]} + bias" if "bias" in self.masks else names[0]
        return f"{plus} where {' and '.join(conditions)}, else -∞" if conditions else plus


def _at_full_size(scores: Matrix, masks: dict[str, Matrix]) -> Matrix:
    """Return the scores, repeated for each head where only a mask has heads."""
    return np.broadcast_to(
        scores, np.broadcast_shapes(scores.shape, *(mask.shape for mask in masks.values()))
    )


def _copied(matrix: Matrix, out: Matrix | None) -> Matrix:
    if out is None:
        return matrix.copy()
    np.copyto(out, matrix)
    return out


def exponentials(scores: Matrix, shift: Matrix | None = None, out: Matrix | None = None) -> Matrix:
    """Return exp(s - shift) for each score: the numerators of a softmax."""
    if shift is not None:
        scores = out = np.subtract(scores, shift, out=out)
    powers: Matrix = np.exp(scores, out=out)
    return powers


def _largest(scores: Matrix, masked: bool) -> Matrix:
    """Return the largest score of each row; 0 for a row in which nothing is left."""
    largest: Matrix = scores.max(axis=-1, keepdims=True)
    return np.where(largest == -infinity_of(scores), 0, largest) if masked else largest


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
    """

    masked: bool = False
    shifted: bool = True

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row of scores into weights that sum to 1."""
        (scores,) = matrices
        shift = _largest(scores, self.masked) if self.shifted else None
        weights = exponentials(scores, shift, out=out)
        weights *= 1 / _nonzero(weights.sum(axis=-1, keepdims=True), self.masked)
        return weights

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `softmax(S)`."""
        return f"softmax({names[0]})"


@dataclass(frozen=True, eq=False, repr=False)
class HardMax(Operation):
    """All weight to the largest score of each row; scores that tie share it equally."""

    masked: bool = False

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row of scores into weights that sum to 1."""
        (scores,) = matrices
        largest = _largest(scores, self.masked)
        near = np.abs(largest) * tolerance_of(scores)
        one, zero = (in_system_of(scores, Fraction(each)) for each in (1, 0))
        winners = np.where(scores >= largest - near, one, zero)
        shared: Matrix = winners / _nonzero(winners.sum(axis=-1, keepdims=True), self.masked)
        return shared

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `hardmax(S)`."""
        return f"hardmax({names[0]})"


@dataclass(frozen=True, eq=False, repr=False)
class DivideBySum(Operation):
    """Each score divided by the sum of its row; a forbidden one counts as 0."""

    masked: bool = False
    first_row: int = 0

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row of scores into weights that sum to 1; refuse a row that sums to 0."""
        (scores,) = matrices
        one, zero = (in_system_of(scores, Fraction(each)) for each in (1, 0))
        allowed = scores != -infinity_of(scores)
        counted = np.where(allowed, scores, zero)
        largest = abs(counted).max(axis=-1, keepdims=True)
        counted = counted / np.where(largest == 0, one, largest)  # so that no sum overflows
        total = counted.sum(axis=-1, keepdims=True)
        size = abs(counted).sum(axis=-1, keepdims=True)
        empty = ~allowed.any(axis=-1, keepdims=True)
        divided_by_nothing = (abs(total) <= size * tolerance_of(scores)) & ~empty
        if divided_by_nothing.any():
            row = self.first_row + int(np.argwhere(divided_by_nothing)[0][-2]) + 1
            raise InputError(
                f"the scores of row {row} sum to 0: the normalizer sum cannot divide by that"
            )
        weights: Matrix = counted / np.where(empty, one, total)
        return weights

    def at(self, rows: slice, keys: slice = slice(None)) -> "DivideBySum":
        """Return the operation for these rows, which it names by their place in the whole."""
        return DivideBySum(self.masked, self.first_row + (rows.start or 0))

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `S / Σ S`."""
        return f"{names[0]} / Σ {names[0]}"


def _nonzero(total: Matrix, masked: bool) -> Matrix:
    """Return the sums to divide by, with 1 for a row that has nothing to sum."""
    return np.where(total == 0, in_system_of(total, Fraction(1)), total) if masked else total


class Sinusoids(Operation):
    """Sinusoidal positions of tokens: sin(t / 10000^(2i/d)) and, beside it, its cosine.

    Row t, counted from 0; Vaswani et al. (2017), section 3.5.
    """

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return positions for tokens of this shape."""
        (X,) = matrices
        n, d = X.shape
        cosines, sines = cos_sin(_angles(X, n, d, base=Fraction(10_000), offset=Fraction(0)))
        positions: Matrix = np.empty_like(X)
        positions[:, 0::2] = sines
        positions[:, 1::2] = cosines[:, : d // 2]
        return positions

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return the two formulas, for even and odd columns."""
        return "sin, cos(t / 10000^(2i/d))"


class Add(Operation):
    """The sum of two matrices, or of a matrix and a row."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Add them."""
        left, right = matrices
        total: Matrix = left + right
        return total

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `X + P`."""
        return " + ".join(names)


@dataclass(frozen=True, eq=False, repr=False)
class Rotate(Operation):
    """Rotary positions: each pair of columns turned by the angle t / base^(2i/d).

    Token t is counted from `offset`. Su et al., *RoFormer* (2021), equation 34; columns are
    paired with those half the width away ("halves") or beside them ("interleaved").
    """

    base: Fraction
    offset: Fraction
    pairing: str

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Turn each row by its place."""
        (X,) = matrices
        n, d = X.shape[-2:]
        cosines, sines = cos_sin(_angles(X, n, d, self.base, self.offset))
        halves = self.pairing == "halves"
        first = slice(0, d // 2) if halves else slice(0, None, 2)
        second = slice(d // 2, None) if halves else slice(1, None, 2)
        cosines, sines = cosines.astype(X.dtype), sines.astype(X.dtype)
        x, y = X[..., first], X[..., second]
        turned: Matrix = np.empty_like(X)
        turned[..., first] = x * cosines - y * sines
        turned[..., second] = x * sines + y * cosines
        return turned

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `rope(Q)`."""
        return f"rope({names[0]})"


def _angles(like: Matrix, n: int, d: int, base: Fraction, offset: Fraction) -> Matrix:
    """Return (t + offset) / base^(2i/d) for each of n tokens t and each pair i, (n, ⌈d/2⌉)."""
    system = like if like.dtype == object else np.empty(0)  # float64, for float32 too
    convert = np.frompyfunc(lambda number: in_system_of(system, number), 1, 1)
    places = convert([[Fraction(t) + offset] for t in range(n)]).astype(system.dtype)
    exponents = convert([[Fraction(2 * i, d) for i in range((d + 1) // 2)]]).astype(system.dtype)
    angles: Matrix = places / np.full((1, 1), convert(base), system.dtype) ** exponents
    return angles


class Concat(Operation):
    """The heads side by side: (h, n, d_v) gives (n, h · d_v)."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Join the heads."""
        (heads,) = matrices
        return np.concatenate(list(heads), axis=-1)

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `concat(H)`."""
        return f"concat({names[0]})"


class Mean(Operation):
    """The mean of the heads: (h, n, d_v) gives (n, d_v)."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Average the heads."""
        (heads,) = matrices
        mean: Matrix = heads.sum(axis=0) / in_system_of(heads, Fraction(len(heads)))
        return mean

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return `mean(H)`."""
        return f"mean({names[0]})"


class Same(Operation):
    """The matrix under another name."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return it."""
        return matrices[0]

    def formula(self, *names: str, columns: bool = False) -> str:
        """Return its own name."""
        return names[0]
