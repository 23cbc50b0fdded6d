"""Every kind of attention by hand: an oracle of plain Python that shares no code with attncalc.

Numbers are Fractions. What is rational stays exact; roots, exponentials, sines and cosines are
taken to 120 digits or more, so that only `BLUR` separates them from the truth. Written from the
requirements alone: tokens are rows, and whatever differs from head to head is a list of heads.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from math import isqrt
from typing import Any

Row = list[Fraction]
Rows = list[Row]
Heads = list[Rows]
Masked = list[list[Fraction | None]]
"""Scores, or numbers added to scores, where None is minus infinity."""
Reader = Callable[[list[Masked]], list[Masked]]
"""Maps matrices as computed to the values that the next step reads."""

BLUR = Fraction(1, 10**100)
"""Values this near each other are the same value, and this little below a tie is the tie."""

_DIGITS = Context(
    prec=160,
    rounding=ROUND_HALF_EVEN,
    Emin=-999_999_999_999_999_999,
    Emax=999_999_999_999_999_999,
    traps=[],
)


class SumIsZeroError(Exception):
    """The scores of a row are to be divided by their sum, which is 0."""


@dataclass(frozen=True)
class Kind:
    """A problem of any kind, in Fractions.

    Tokens `X1` give queries, `X2` keys, and `X2` or else `X3` values; for self-attention X1 and X2
    are the same object, and P1 is what is added to it.
    `W_Q` `W_K` `W_V` and `Q` `K` `V` are lists of heads, `b_Q` `b_K` `b_V` a row for each head.
    `keep`, `ignore` and `bias` are lists of one matrix or one for each head, of n rows or of one.
    """

    X1: Rows | None = None
    X2: Rows | None = None
    X3: Rows | None = None
    W_Q: Heads | None = None
    W_K: Heads | None = None
    W_V: Heads | None = None
    b_Q: Rows | None = None
    b_K: Rows | None = None
    b_V: Rows | None = None
    Q: Heads | None = None
    K: Heads | None = None
    V: Heads | None = None
    W_O: Rows | None = None
    b_O: Row | None = None
    combine: str = "concat"
    qk_norm: str = "none"
    qk_eps: Fraction | None = None
    gamma_Q: Row | None = None
    beta_Q: Row | None = None
    gamma_K: Row | None = None
    positions: str = "none"
    P1: Rows | None = None
    P2: Rows | None = None
    P3: Rows | None = None
    positions_base: Fraction = Fraction(10000)
    rope_base: Fraction = Fraction(10000)
    rope_offset: Fraction = Fraction(0)
    rope_query_offset: Fraction | None = None
    rope_pairing: str = "halves"
    rope_dims: int | None = None
    rope_scaling: dict[str, Any] | None = None
    rope_frequencies: Row | None = None
    scale: str | Fraction = "sqrt_dk"
    softcap: Fraction | None = None
    causal: bool = False
    causal_alignment: str = "top-left"
    window: int | None = None
    keep: list[list[list[bool]]] | None = None
    ignore: list[list[list[bool]]] | None = None
    bias: list[Masked] | None = None
    alibi: bool = False
    alibi_slopes: Row | None = None
    rel_bias: Rows | None = None
    rel_max_distance: int = 128
    rel_bidirectional: bool | None = None
    normalizer: str = "softmax"
    sinks: Row | None = None
    rounding: str = "display"
    decimals: int = 2

    @property
    def heads(self) -> int:
        """How many heads the queries have."""
        return len(self.W_Q or self.Q or [])

    @property
    def is_self(self) -> bool:
        """Whether one matrix of tokens gives queries, keys and values."""
        return self.X1 is self.X2 and self.X3 is None

    @property
    def query_place(self) -> int:
        """The position of the first query, counted from the first key."""
        if self.causal_alignment == "top-left":
            return 0
        n, m = (len(given[0] if given else tokens or []) for given, tokens in self._sides)
        return m - n

    @property
    def _sides(self) -> tuple[tuple[Heads | None, Rows | None], ...]:
        return (self.Q, self.X1), (self.K, self.X2)

    @property
    def is_masked(self) -> bool:
        """Whether anything is masked or added to the scores."""
        given = (self.window, self.keep, self.ignore, self.bias)
        return self.causal or any(x is not None for x in given)


def shown_by_hand(kind: Kind) -> dict[str, list[object]]:
    """Return every step as it is shown, in order; heads come first where it has several.

    Examples
    --------
    >>> one, two = [[Fraction(1)]], [[Fraction(1)], [Fraction(1)]]
    >>> causal = Kind(Q=[two], K=[two], V=[two], causal=True, decimals=1)
    >>> shown_by_hand(causal)["A"]
    [['1.0', '0.0'], ['0.5', '0.5']]
    """
    return as_shown(kind, exact_by_hand(kind))


def as_shown(kind: Kind, steps: dict[str, list[Masked]]) -> dict[str, list[object]]:
    """Return the texts of every entry of every step."""
    found: dict[str, list[object]] = {}
    for name, heads in steps.items():
        texts = [[[shown(x, kind.decimals) for x in row] for row in matrix] for matrix in heads]
        found[name] = list(texts if len(texts) > 1 else texts[0])
    return found


def exact_by_hand(kind: Kind) -> dict[str, list[Masked]]:
    """Return every step before rounding, computed from the values of the steps before it.

    Each is a list of heads; of one where it is not done head by head, or has but one.
    """
    return dict(_steps(kind))


def carried(kind: Kind, matrix: Masked) -> Masked:
    """Return a matrix as the next step reads it."""
    if kind.rounding == "display":
        return matrix
    return [[None if x is None else rounded(x, kind.decimals) for x in row] for row in matrix]


def _steps(kind: Kind) -> Iterator[tuple[str, list[Masked]]]:
    """Yield each step's name and its matrices, in the order of computation."""

    def read(matrices: list[Masked]) -> list[Masked]:
        return [carried(kind, matrix) for matrix in matrices]

    tokens = {}
    for number, given in _tokens(kind).items():
        tokens[number] = yield from _positioned(kind, number, *given, read)
    ready = yield from _projections(kind, tokens, read)
    each = range(kind.heads)
    Q, K, V = ready["Q"], _repeated(ready["K"], kind), _repeated(ready["V"], kind)
    yield "S", (scores := [_product(Q[h], _turned(K[h])) for h in each])
    for name, change in _changes_of_scores(kind, d_k=len(Q[0][0])):
        carried_scores = read(scores)
        yield name, (scores := [change(h, carried_scores[h]) for h in each])
    normalize = {"softmax": softmax, "hardmax": hardmax, "sum": shares}[kind.normalizer]
    carried_scores = read(scores)
    weights = [[normalize(row) for row in matrix] for matrix in carried_scores]
    if kind.sinks is not None:
        pairs = zip(carried_scores, kind.sinks, strict=True)
        weights = [[beside_sink(row, sink) for row in matrix] for matrix, sink in pairs]
    yield "A", weights
    weights = read(weights)
    yield from _outputs(kind, [_product(weights[h], V[h]) for h in each], read)


def _positioned(
    kind: Kind, number: str, tokens: Rows | None, added: Rows | None, read: Reader
) -> Generator[tuple[str, Heads], None, Rows | None]:
    """Return the tokens as they are projected."""
    if tokens is None:
        return None
    if kind.positions == "sinusoidal":
        asks = kind.Q is None and number in ("", "1")
        first = kind.query_place if asks else 0
        yield "P" + number, [table := sinusoids(tokens, first, kind.positions_base)]
        (added,) = read([table])
    if added is None:
        return tokens
    yield f"X{number}_P", [total := _plus(tokens, added)]
    return read([total])[0]


def _projections(
    kind: Kind, tokens: dict[str, Rows | None], read: Reader
) -> Generator[tuple[str, Heads], None, dict[str, Heads]]:
    """Return the queries, keys and values of each head as the scores and outputs read them."""
    values = "2" if kind.X3 is None else "3"
    numbers = ("", "", "") if kind.is_self else ("1", "2", values)
    ready = {}
    for name, number in zip("QKV", numbers, strict=True):
        ready[name] = getattr(kind, name)
        if ready[name] is None:
            projected = _projected(kind, name, tokens[number])
            yield name, projected
            ready[name] = read(projected)
    for name in "QK" if kind.qk_norm != "none" else "":
        gain, bias = getattr(kind, f"gamma_{name}"), getattr(kind, f"beta_{name}", None)
        ready[name] = yield from _normalised(kind, name, ready[name], gain, bias, read)
    if kind.positions == "rope":
        query = kind.rope_query_offset
        query = kind.rope_offset + kind.query_place if query is None else query
        for name, first in (("Q", query), ("K", kind.rope_offset)):
            turned = [rotated(kind, matrix, first) for matrix in ready[name]]
            yield name + "_rot", turned
            ready[name] = read(turned)
    return ready


def _normalised(
    kind: Kind, name: str, heads: Heads, gain: Row | None, bias: Row | None, read: Reader
) -> Generator[tuple[str, Heads], None, Heads]:
    """Return each row over the root of its mean square, less its mean before if it is centered."""
    means = [[[Fraction(0)] for _ in matrix] for matrix in heads]
    if kind.qk_norm == "layer":
        yield f"mu_{name}", (found := [[[_mean(row)] for row in matrix] for matrix in heads])
        means = read(found)
    less = [
        [[x - mean for x in row] for row, (mean,) in zip(*pair, strict=True)]
        for pair in zip(heads, means, strict=True)
    ]
    squares = [[[_mean([x * x for x in row])] for row in matrix] for matrix in less]
    yield f"{'var' if kind.qk_norm == 'layer' else 'ms'}_{name}", squares
    eps = Fraction(1, 100_000) if kind.qk_eps is None else kind.qk_eps
    made = []
    for matrix, below in zip(less, read(squares), strict=True):
        roots = [Fraction(_DIGITS.sqrt(_decimal(square + eps))) for (square,) in below]
        made.append([[x / root for x in row] for row, root in zip(matrix, roots, strict=True)])
    d_k = len(heads[0][0])

    def own(numbers: Row | None, head: int, otherwise: int) -> Row:
        if numbers is None:
            return [Fraction(otherwise)] * d_k
        return numbers if len(numbers) == d_k else numbers[head * d_k : (head + 1) * d_k]

    for h, matrix in enumerate(made):
        pairs = list(zip(own(gain, h, 1), own(bias, h, 0), strict=True))
        made[h] = [[x * g + b for x, (g, b) in zip(row, pairs, strict=True)] for row in matrix]
    yield f"{name}_norm", made
    return read(made)


def _mean(row: Row) -> Fraction:
    return sum(row, Fraction(0)) / len(row)


def _tokens(kind: Kind) -> dict[str, tuple[Rows | None, Rows | None]]:
    """Return the tokens, and what is added to them, by the number in their name."""
    if kind.is_self:
        return {"": (kind.X1, kind.P1)}
    return {"1": (kind.X1, kind.P1), "2": (kind.X2, kind.P2), "3": (kind.X3, kind.P3)}


def _projected(kind: Kind, name: str, tokens: Rows) -> Heads:
    weights, biases = getattr(kind, "W_" + name), getattr(kind, "b_" + name)
    products = [_product(tokens, matrix) for matrix in weights]
    if biases is None:
        return products
    return [
        _plus(product, [bias] * len(product))
        for product, bias in zip(products, biases, strict=True)
    ]


def _repeated(heads: Heads, kind: Kind) -> Heads:
    """Return as many heads as the queries have; each key/value head serves consecutive ones."""
    serves, left_over = divmod(kind.heads, len(heads))
    assert left_over == 0
    return [matrix for matrix in heads for _ in range(serves)]


def _outputs(kind: Kind, means: Heads, read: Reader) -> Iterator[tuple[str, Heads]]:
    if kind.heads == 1 and kind.W_O is None and kind.b_O is None:
        yield "O", means
        return
    yield "H", means
    (together,) = read(means[:1])
    if kind.heads > 1:
        yield "C", [combined := _combined(kind.combine, read(means))]
        (together,) = read([combined])
    if kind.W_O is not None:
        together = _product(together, kind.W_O)
    if kind.b_O is not None:
        together = _plus(together, [kind.b_O] * len(together))
    yield "O", [together]


def _combined(combine: str, heads: Heads) -> Rows:
    if combine == "concat":
        return [[x for row in rows for x in row] for rows in zip(*heads, strict=True)]
    return [
        [sum(entries, Fraction(0)) / len(heads) for entries in zip(*rows, strict=True)]
        for rows in zip(*heads, strict=True)
    ]


# -- from scores to weights ----------------------------------------------------------------------


def _changes_of_scores(
    kind: Kind, d_k: int
) -> Iterator[tuple[str, Callable[[int, Masked], Masked]]]:
    """Yield what happens to the scores of a head on their way to the normalizer."""
    factor = scale_factor(kind.scale, d_k)
    if factor is not None:
        yield "S_scaled", lambda _, rows: [[x * factor for x in row] for row in rows]
    if kind.softcap is not None:
        cap = kind.softcap
        yield "S_capped", lambda _, rows: [[cap * tanh(x / cap) for x in row] for row in rows]
    if kind.alibi or kind.alibi_slopes is not None:
        yield "S_alibi", lambda head, rows: _less_slopes(kind, head, rows)
    if kind.rel_bias is not None:
        yield "S_rel", lambda head, rows: _with_buckets(kind, head, rows)
    if kind.is_masked:
        yield "S_masked", lambda head, rows: masked(kind, head, rows)


def _behind(kind: Kind, rows: Rows) -> list[list[int]]:
    """Return the position of each key relative to its query, as T5 does."""
    offset = len(rows[0]) - len(rows) if kind.causal_alignment == "bottom-right" else 0
    return [[j - (i + offset) for j in range(len(rows[0]))] for i in range(len(rows))]


def _less_slopes(kind: Kind, head: int, rows: Rows) -> Rows:
    slopes = kind.alibi_slopes or slopes_of_the_paper(kind.heads)
    return [
        [x - slopes[head] * abs(place) for x, place in zip(*pair, strict=True)]
        for pair in zip(rows, _behind(kind, rows), strict=True)
    ]


def slopes_of_the_paper(heads: int) -> Row:
    """Return a geometric sequence that starts at 2^(-8/n): Press et al. (2022), section 3.

    Of other numbers than powers of two, that of the power below, and every other one of the power
    above, as the code of the paper has it.

    Examples
    --------
    >>> [str(slope) for slope in slopes_of_the_paper(8)[:3]]
    ['1/2', '1/4', '1/8']
    """
    power = 1
    while 2 * power <= heads:
        power *= 2
    if power == heads:
        first = Fraction(_DIGITS.power(Decimal(2), _decimal(Fraction(-8, heads))))
        return [first**number for number in range(1, heads + 1)]
    return slopes_of_the_paper(power) + slopes_of_the_paper(2 * power)[::2][: heads - power]


def _with_buckets(kind: Kind, head: int, rows: Rows) -> Rows:
    table = kind.rel_bias or []
    both_ways = not kind.causal if kind.rel_bidirectional is None else kind.rel_bidirectional
    return [
        [
            x + table[bucket(place, len(table), kind.rel_max_distance, both_ways=both_ways)][head]
            for x, place in zip(*pair, strict=True)
        ]
        for pair in zip(rows, _behind(kind, rows), strict=True)
    ]


def bucket(place: int, buckets: int, longest: int, *, both_ways: bool) -> int:
    """Return the bucket of a relative position, as T5's code has it, without rounding.

    Examples
    --------
    >>> [bucket(place, 32, 128, both_ways=True) for place in (-200, -16, -8, -7, 0, 1, 8, 200)]
    [15, 10, 8, 7, 0, 17, 24, 31]
    """
    first = 0
    if both_ways:
        buckets //= 2
        first = buckets if place > 0 else 0
        size = abs(place)
    else:
        size = max(-place, 0)
    near = buckets // 2
    if size < near:
        return first + size
    far = buckets - near
    k = 0
    while k < far and Fraction(size, near) ** far >= Fraction(longest, near) ** (k + 1):
        k += 1
    return first + min(near + k, buckets - 1)


def masked(kind: Kind, head: int, scores: Rows) -> Masked:
    """Return a head's scores with what is masked gone and what is added added."""
    n, m = len(scores), len(scores[0])
    offset = m - n if kind.causal_alignment == "bottom-right" else 0

    def entry(i: int, j: int) -> Fraction | None:
        is_out = kind.causal and j > i + offset
        if kind.window is not None:
            is_out = is_out or j not in range(i + offset + 1 - kind.window, i + offset + 1)
        is_out = is_out or (kind.keep is not None and not _entry(kind.keep, head, i, j))
        is_out = is_out or (kind.ignore is not None and bool(_entry(kind.ignore, head, i, j)))
        added = Fraction(0) if kind.bias is None else _entry(kind.bias, head, i, j)
        return None if is_out or added is None else scores[i][j] + added

    return [[entry(i, j) for j in range(m)] for i in range(n)]


def _entry(mask: list[list[list[Any]]], head: int, i: int, j: int) -> Any:
    matrix = mask[head if len(mask) > 1 else 0]
    return matrix[i if len(matrix) > 1 else 0][j]


def scale_factor(scale: str | Fraction, d_k: int) -> Fraction | None:
    """Return what multiplies the scores, or nothing where they are not scaled."""
    if scale == "none" or scale == 1:
        return None
    if scale != "sqrt_dk":
        return Fraction(scale)
    root = isqrt(d_k)
    if root * root == d_k:
        return Fraction(1, root)
    return 1 / Fraction(_DIGITS.sqrt(Decimal(d_k)))


def softmax(scores: Sequence[Fraction | None]) -> Row:
    """Return e^s of each score over their sum; of no scores, 0."""
    largest = max((x for x in scores if x is not None), default=None)
    if largest is None:
        return [Fraction(0)] * len(scores)
    powers = [Fraction(0) if x is None else _exp(x - largest) for x in scores]
    return [power / sum(powers) for power in powers]


def beside_sink(scores: Sequence[Fraction | None], sink: Fraction) -> Row:
    """Return e^s of each score over their sum with e^sink."""
    return softmax([*scores, sink])[:-1]


def hardmax(scores: Sequence[Fraction | None]) -> Row:
    """Return equal parts of 1 for the largest scores and 0 for the others.

    Examples
    --------
    >>> [str(x) for x in hardmax([Fraction(3), None, Fraction(1), Fraction(3)])]
    ['1/2', '0', '0', '1/2']
    """
    largest = max((x for x in scores if x is not None), default=None)
    first = [x is not None and largest - x <= BLUR for x in scores]
    return [Fraction(is_first, max(1, sum(first))) for is_first in first]


def shares(scores: Sequence[Fraction | None]) -> Row:
    """Return each score over their sum; what is masked counts as 0."""
    there = [x for x in scores if x is not None]
    if not there:
        return [Fraction(0)] * len(scores)
    total = sum(there)
    if abs(total) <= BLUR:
        raise SumIsZeroError
    return [Fraction(0) if x is None else x / total for x in scores]


# -- positions -----------------------------------------------------------------------------------


def sinusoids(tokens: Rows, first: int, base: Fraction) -> Rows:
    """Return sin(t / base^(2i/d)) in columns 2i and its cosine in columns 2i + 1."""
    table, d = [], len(tokens[0])
    for t in range(first, first + len(tokens)):
        turns = [sin_cos(angle(Fraction(t), base, j // 2, d)) for j in range(d)]
        table.append([turn[j % 2] for j, turn in enumerate(turns)])
    return table


def rotated(kind: Kind, matrix: Rows, start: Fraction) -> Rows:
    """Return queries or keys turned by their positions, the first of them at this one."""
    d = kind.rope_dims or len(matrix[0])
    halves = [(j, j + d // 2) for j in range(d // 2)]
    pairs = halves if kind.rope_pairing == "halves" else list(pairwise(range(d)))[::2]
    rows = [list(row) for row in matrix]
    for t, row in enumerate(rows):
        for j, (first, second) in enumerate(pairs):
            sin, cos = sin_cos((t + start) * frequency(kind, j, d))
            x, y = row[first], row[second]
            row[first], row[second] = x * cos - y * sin, x * sin + y * cos
    return rows


def frequency(kind: Kind, j: int, d: int) -> Fraction:
    """Return by how much a pair of columns is turned from place to place."""
    if kind.rope_frequencies is not None:
        return kind.rope_frequencies[j]
    plain = angle(Fraction(1), kind.rope_base, j, d)
    scaling = kind.rope_scaling
    if scaling is None:
        return plain
    slow = plain / Fraction(scaling["factor"])
    if scaling["rope_type"] == "linear":
        return slow
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * plain / (2 * PI)
    if turns > high:
        return plain
    if turns < low:
        return slow
    share = (turns - low) / (high - low)
    return (1 - share) * slow + share * plain


def _pi() -> Fraction:
    """Return π, by Machin's formula."""

    def arctan(n: int) -> Fraction:
        terms = (Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(120))
        return sum(terms, Fraction(0))

    exact = 16 * arctan(5) - 4 * arctan(239)
    return Fraction(round(exact * 10**150), 10**150)


PI = _pi()


def angle(position: Fraction, base: Fraction, j: int, d: int) -> Fraction:
    """Return position / base^(2j/d)."""
    return position / Fraction(_DIGITS.power(_decimal(base), _decimal(Fraction(2 * j, d))))


def sin_cos(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return the sine and cosine: of a small part of the angle, doubled back to the whole.

    Examples
    --------
    >>> [round(float(part), 9) for part in sin_cos(Fraction(7))]
    [0.656986599, 0.753902254]
    """
    doublings = 0
    while abs(x) > Fraction(1, 8):
        x, doublings = x / 2, doublings + 1
    small = _decimal(x)
    sin, cos, term, k = Decimal(0), Decimal(0), Decimal(1), 0
    while term and term.adjusted() > -_DIGITS.prec:
        part = term if k % 4 < 2 else -term
        sin, cos = (_DIGITS.add(sin, part), cos) if k % 2 else (sin, _DIGITS.add(cos, part))
        k += 1
        term = _DIGITS.divide(_DIGITS.multiply(term, small), Decimal(k))
    for _ in range(doublings):
        sin_times_cos, sin_squared = _DIGITS.multiply(sin, cos), _DIGITS.multiply(sin, sin)
        sin = _DIGITS.multiply(Decimal(2), sin_times_cos)
        cos = _DIGITS.subtract(Decimal(1), _DIGITS.multiply(Decimal(2), sin_squared))
    return Fraction(sin), Fraction(cos)


# -- numbers -------------------------------------------------------------------------------------


def shown(value: Fraction | None, decimals: int) -> str:
    """Return a number at its decimals, rounded half away from zero, and never as -0.

    Examples
    --------
    >>> [shown(Fraction(text), 2) for text in ("2.675", "-1.005", "-0.004", "3")] + [shown(None, 2)]
    ['2.68', '-1.01', '0.00', '3.00', '-inf']
    """
    if value is None:
        return "-inf"
    units = _units(value, decimals)
    digits = str(abs(units)).rjust(decimals + 1, "0")
    whole, part = digits[: len(digits) - decimals], digits[len(digits) - decimals :]
    return ("-" if units < 0 else "") + whole + ("." + part if part else "")


def rounded(value: Fraction, decimals: int) -> Fraction:
    """Return the number that is shown.

    Examples
    --------
    >>> rounded(Fraction("-0.125"), 2)
    Fraction(-13, 100)
    """
    return Fraction(_units(value, decimals), 10**decimals)


def _units(value: Fraction, decimals: int) -> int:
    size = (abs(value) + BLUR) * 10**decimals + Fraction(1, 2)
    units = size.numerator // size.denominator
    return -units if value < 0 else units


def tanh(x: Fraction) -> Fraction:
    """Return the hyperbolic tangent.

    Examples
    --------
    >>> [round(float(tanh(Fraction(x, 2))), 9) for x in (-1, 0, 3)]
    [-0.462117157, 0.0, 0.905148254]
    """
    power = _exp(-2 * abs(x))
    return (-1 if x < 0 else 1) * (1 - power) / (1 + power)


def _exp(exponent: Fraction) -> Fraction:
    if exponent < -700:  # e^-700 is 1e-304: far beyond every decimal that is shown
        return Fraction(0)
    return Fraction(_DIGITS.exp(_decimal(exponent)))


def _decimal(value: Fraction) -> Decimal:
    numerator = _DIGITS.create_decimal(value.numerator)
    return _DIGITS.divide(numerator, _DIGITS.create_decimal(value.denominator))


def _product(left: Rows, right: Rows) -> Rows:
    return [
        [
            sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))
            for column in zip(*right, strict=True)
        ]
        for row in left
    ]


def _plus(left: Rows, right: Rows) -> Rows:
    return [
        [a + b for a, b in zip(row, added, strict=True)]
        for row, added in zip(left, right, strict=True)
    ]


def _turned(matrix: Rows) -> Rows:
    return [list(column) for column in zip(*matrix, strict=True)]
