"""Every kind of attention, against an oracle that works by hand, in every form it can be given."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import many, mostly_slow
from hypothesis import assume, event, given
from hypothesis import strategies as st
from oracle_kinds import (
    BLUR,
    Heads,
    Kind,
    Masked,
    Row,
    Rows,
    SumIsZeroError,
    as_shown,
    carried,
    exact_by_hand,
    shown_by_hand,
)

from attncalc import InputError, Problem, ShapeError, Solution, solve
from attncalc.problem.fields import MATRICES

pytestmark = pytest.mark.campaign(4)

ROUNDINGS = ("display", "each-step")
NORMALIZERS = ("softmax", "hardmax", "sum")
WITHIN_EXACT = Fraction(1, 10**20)
"""attncalc's exact digits take what is this little below a tie, such as 1 / (2 + e^-60), for it."""
WITHIN_FLOATS = Fraction(1, 10**9)
"""What float64 can hardly tell from a tie, after a few steps."""
INFINITY = float("inf")


def rows(text: str) -> Rows:
    """Return a matrix written as `1 -1/2; 0 2.5`."""
    return [[Fraction(number) for number in row.split()] for row in text.split(";")]


# -- the forms a problem can be given in ---------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """How a problem is typed: which way its matrices lie, and how its heads are given."""

    layout: str = "rows"
    weights_layout: str = "in-out"
    fused: bool = False
    flat: bool = False
    """A single row without its brackets, and marks as true and false."""

    def problem(self, kind: Kind, **changes: Any) -> Problem:
        """Return the problem in this form."""
        by_columns = self.layout == "columns"
        out_in = by_columns or self.weights_layout == "torch"
        fields: dict[str, Any] = {}
        for name in ("W_Q", "W_K", "W_V"):
            fields[name] = self._heads(getattr(kind, name), turned=out_in)
        for name in ("Q", "K", "V"):
            fields[name] = self._heads(getattr(kind, name), turned=by_columns)
        for name in ("X1", "X2", "X3", "P1", "P2", "P3"):
            fields[name] = self._matrix(getattr(kind, name), turned=by_columns)
        fields["W_O"] = self._matrix(kind.W_O, turned=out_in)
        for name in ("b_Q", "b_K", "b_V"):
            fields[name] = self._biases(getattr(kind, name))
        for name in ("gamma_Q", "beta_Q", "gamma_K", "rope_frequencies", "sinks", "alibi_slopes"):
            given = getattr(kind, name)
            fields[name] = None if given is None else numbers(given)
        fields["rel_bias"] = self._table(kind.rel_bias)
        fields["b_O"] = None if kind.b_O is None else numbers(kind.b_O)
        for name in ("keep", "ignore", "bias"):
            fields[name] = self._mask(getattr(kind, name), turned=by_columns)
        if kind.is_self:
            fields |= {"X": fields["X1"], "X1": None, "X2": None}
            fields |= {"P": fields["P1"], "P1": None}
        heads = kind.heads if self.fused or self.flat else None
        own = {"layout": self.layout, "weights_layout": self.weights_layout, "heads": heads}
        return Problem(**{**fields, **conventions(kind), **own, **changes})

    def turned(self, steps: dict[str, Any]) -> dict[str, Any]:
        """Return the texts of steps as this form's layout shows them."""
        if self.layout == "rows":
            return steps
        return {name: np.array(texts).swapaxes(-1, -2).tolist() for name, texts in steps.items()}

    def _heads(self, heads: Heads | None, *, turned: bool) -> Any:
        if heads is None:
            return None
        if self.fused:
            joined = [[x for row in parts for x in row] for parts in zip(*heads, strict=True)]
            return self._matrix(joined, turned=turned)
        matrices = [oriented(matrix, turned=turned) for matrix in heads]
        return matrices[0] if len(heads) == 1 and self.flat else matrices

    def _matrix(self, matrix: Rows | None, *, turned: bool) -> Any:
        if matrix is None:
            return None
        if self.flat and len(matrix) == 1 and turned == (self.layout == "columns"):
            return numbers(matrix[0])
        return oriented(matrix, turned=turned)

    def _biases(self, biases: Rows | None) -> Any:
        if biases is None:
            return None
        if self.fused or self.flat:
            return numbers([x for row in biases for x in row])
        return [numbers(row) for row in biases]

    def _table(self, table: Rows | None) -> Any:
        if table is None:
            return None
        flat = self.flat and len(table[0]) == 1
        return numbers([x for row in table for x in row]) if flat else [*map(numbers, table)]

    def _mask(self, mask: Any, *, turned: bool) -> Any:
        if mask is None:
            return None
        matrices = [oriented(matrix, turned=turned) for matrix in mask]
        return matrices if len(mask) > 1 or self.fused else matrices[0]


def conventions(kind: Kind) -> dict[str, Any]:
    """Return the settings of a problem that are no matrices."""
    names = """combine positions positions_base rope_base rope_offset rope_query_offset rope_pairing
    rope_dims rope_scaling scale softcap
    alibi rel_max_distance rel_bidirectional causal causal_alignment window qk_norm qk_eps
    normalizer rounding decimals"""
    return {name: getattr(kind, name) for name in names.split()}


def oriented(matrix: list[list[Any]], *, turned: bool) -> list[list[Any]]:
    """Return a matrix as it is typed."""
    lines = [numbers(row) for row in matrix]
    return [list(column) for column in zip(*lines, strict=True)] if turned else lines


def numbers(row: list[Any]) -> list[Any]:
    """Return numbers as ints, as floats, and as Fractions where floats have too few digits."""
    return [as_given(x) for x in row]


def as_given(x: Any) -> Any:
    """Return a number in the simplest type that has it; None is minus infinity."""
    if x is None:
        return -INFINITY
    if isinstance(x, bool) or x.denominator == 1:
        return x if isinstance(x, bool) or abs(x) > 2**60 else int(x)
    return float(x) if Fraction(repr(float(x))) == x else x


AS_ROWS = Form()
FORMS = [
    AS_ROWS,
    Form(flat=True),
    Form(fused=True),
    Form(weights_layout="torch"),
    Form(weights_layout="torch", fused=True),
    Form(layout="columns"),
    Form(layout="columns", flat=True),
    Form(layout="columns", fused=True),
    Form(layout="columns", weights_layout="torch", fused=True),
]


def form_name(form: Form) -> str:
    """Return a form's name in the list of tests."""
    joined = "fused" if form.fused else "flat" if form.flat else "lists"
    return f"{form.layout}-{form.weights_layout}-{joined}"


# -- strategies ----------------------------------------------------------------------------------

UNITS = tuple(map(Fraction, ("1", "1", "0.5", "0.25", "0.1", "0.1", "0.01")))
BINARY_UNITS = tuple(map(Fraction, ("1", "0.5", "0.25")))
SCALES = ("sqrt_dk", "sqrt_dk", "none", *map(Fraction, ("1", "2", "0.5", "0.1", "0", "-1", "1/3")))
SOFTCAPS = (None, None, *map(Fraction, ("1", "0.5", "2.5", "30", "1/3")))
BASES = tuple(map(Fraction, ("10000", "10000", "100", "2.5", "1", "500000")))
OFFSETS = tuple(map(Fraction, ("0", "0", "1", "7", "1000", "0.5", "-3")))


class Draw:
    """Draws the parts of a problem."""

    def __init__(self, draw: Any, units: tuple[Fraction, ...] = UNITS) -> None:
        self._draw = draw
        self._units = units

    def one_of(self, *values: Any) -> Any:
        """Draw one of these."""
        return self._draw(st.sampled_from(values))

    def size(self, most: int = 4) -> int:
        """Draw a number of rows or columns."""
        return int(self._draw(st.integers(1, most)))

    def chance(self, of: int = 2) -> bool:
        """Draw whether something is there, once in so many times; the simplest is that not."""
        return bool(self._draw(st.integers(0, of - 1)) == of - 1)

    def row(self, width: int) -> Row:
        """Draw short decimals of one unit, up to about 3."""
        unit = self.one_of(*self._units)
        most = max(3, int(3 / unit))
        counts = self._draw(st.lists(st.integers(-most, most), min_size=width, max_size=width))
        return [count * unit for count in counts]

    def matrix(self, n: int, width: int) -> Rows:
        """Draw a matrix."""
        flat = self.row(n * width)
        return [flat[i : i + width] for i in range(0, n * width, width)]

    def heads(self, count: int, n: int, width: int) -> Heads:
        """Draw a matrix for each head."""
        return [self.matrix(n, width) for _ in range(count)]

    def mask(self, heads: int, n: int, m: int, entries: st.SearchStrategy[Any]) -> list[Any]:
        """Draw n × m, 1 × m or heads × n × m entries."""
        count, height = self.one_of((1, n), (1, 1), (heads, n))
        lines = st.lists(st.lists(entries, min_size=m, max_size=m), min_size=height)
        return [self._draw(lines.map(lambda some: some[:height])) for _ in range(count)]


@st.composite
def kinds(draw: Any, rounding: tuple[str, ...] = ROUNDINGS, decimals: int = 6) -> Kind:
    """Draw a problem of any kind: every field is there in some of them."""
    some = Draw(draw)
    sizes = _Sizes.drawn(some)
    kind = Kind(
        normalizer=some.one_of("softmax", "softmax", "softmax", "hardmax", "sum"),
        scale=some.one_of(*SCALES),
        softcap=some.one_of(*SOFTCAPS),
        rounding=some.one_of(*rounding),
        decimals=draw(st.integers(0, decimals)),
    )
    kind = _with_norms(some, _with_positions(some, _with_inputs(some, kind, sizes)), sizes)
    return _with_masks(some, _with_outputs(some, kind, sizes), sizes)


@dataclass(frozen=True)
class _Sizes:
    """Which of Q, K, V are given; from which tokens the others come; and all sizes."""

    given: str
    tokens: str
    n: int
    m: int
    d_k: int
    d_v: int
    heads: int
    kv_heads: int

    @classmethod
    def drawn(cls, some: Draw) -> "_Sizes":
        given = some.one_of("", "", "", "QKV", "QKV", "Q", "K", "V", "QK", "QV", "KV")
        tokens = some.one_of("self", "self", "cross", "cross", "three")
        n = some.size()
        shares = tokens == "self" and "Q" not in given and given != "KV" and given != "QKV"
        heads = some.one_of(1, 1, 2, 2, 3, 4)
        return cls(
            given=given,
            tokens=tokens,
            n=n,
            m=n if shares else some.size(),
            d_k=some.size(),
            d_v=some.size(),
            heads=heads,
            kv_heads=some.one_of(*(count for count in (heads, 1, 2) if heads % count == 0)),
        )


def _with_inputs(some: Draw, kind: Kind, sizes: _Sizes) -> Kind:
    """Draw tokens, weights and biases, or their results."""
    fields: dict[str, Any] = {}
    projected = [name for name in "QKV" if name not in sizes.given]
    by_number = {"Q": "1", "K": "2", "V": "3" if sizes.tokens == "three" else "2"}
    if sizes.tokens == "self" and projected:
        height = sizes.n if projected == ["Q"] else sizes.m
        by_number = dict.fromkeys("QKV", "1")
        fields["X1"] = fields["X2"] = some.matrix(height, some.size())
    for name in "QKV":
        height, width = (sizes.n if name == "Q" else sizes.m), (sizes.d_v, sizes.d_k)[name != "V"]
        count = sizes.heads if name == "Q" else sizes.kv_heads
        if name in sizes.given:
            fields[name] = some.heads(count, height, width)
            continue
        tokens = "X" + by_number[name]
        if tokens not in fields:
            fields[tokens] = some.matrix(height, some.size())
        fields["W_" + name] = some.heads(count, len(fields[tokens][0]), width)
        if some.chance(3):
            fields["b_" + name] = some.matrix(count, width)
    return replace(kind, **fields)


LINEAR = {"rope_type": "linear", "factor": 4}
LLAMA3 = {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4}
LLAMA3 |= {"original_max_position_embeddings": 16}


def _with_positions(some: Draw, kind: Kind) -> Kind:
    numbers_of_tokens = [
        number
        for number in ("1", "2", "3")
        if getattr(kind, "X" + number) is not None and not (kind.is_self and number == "2")
    ]
    width = len((kind.Q or kind.W_Q or [])[0][0])
    turns = ("rope", "rope") if width % 2 == 0 else ()
    added = ("sinusoidal", "P") if numbers_of_tokens else ()
    positions = some.one_of("none", "none", *turns, *added)
    fields: dict[str, Any] = {"positions": positions}
    if positions == "sinusoidal":
        fields["positions_base"] = some.one_of(*BASES)
    if positions == "rope":
        fields |= {"rope_base": some.one_of(*BASES), "rope_offset": some.one_of(*OFFSETS)}
        fields["rope_query_offset"] = some.one_of(None, None, *OFFSETS)
        fields["rope_pairing"] = some.one_of("halves", "interleaved")
        fields["rope_scaling"] = some.one_of(None, None, LINEAR, LLAMA3)
        dims = fields["rope_dims"] = some.one_of(None, None, 2)
        if fields["rope_scaling"] is None and some.chance(5):
            fields["rope_frequencies"] = some.row((dims or width) // 2)
            del fields["rope_base"]  # nothing would read it
    if positions == "P":
        fields["positions"] = "none"
        for number in numbers_of_tokens:
            X = getattr(kind, "X" + number)
            fields["P" + number] = some.matrix(len(X), len(X[0]))
    return replace(kind, **fields)


def _with_norms(some: Draw, kind: Kind, sizes: _Sizes) -> Kind:
    if not some.chance(5):
        return kind
    fields: dict[str, Any] = {"qk_norm": some.one_of("rms", "layer")}
    fields["qk_eps"] = some.one_of(None, Fraction(1, 10), Fraction(1))
    for name, heads in (("gamma_Q", sizes.heads), ("gamma_K", sizes.kv_heads), ("beta_Q", 1)):
        if some.chance():
            fields[name] = some.row(sizes.d_k * some.one_of(1, heads))
    return replace(kind, **fields)


def _with_outputs(some: Draw, kind: Kind, sizes: _Sizes) -> Kind:
    combine = some.one_of("concat", "concat", "mean") if sizes.heads > 1 else "concat"
    width = sizes.d_v * (sizes.heads if combine == "concat" else 1)
    fields: dict[str, Any] = {"combine": combine}
    if some.chance():
        fields["W_O"] = some.matrix(width, width := some.size())
    if some.chance(3):
        fields["b_O"] = some.row(width)
    return replace(kind, **fields)


def _with_masks(some: Draw, kind: Kind, sizes: _Sizes) -> Kind:
    fields: dict[str, Any] = {}
    size = sizes.heads, sizes.n, sizes.m
    if some.chance(4):
        fields["causal"] = some.one_of(True, True, False)  # the alignment places queries without it
        fields["causal_alignment"] = some.one_of("top-left", "bottom-right")
    if some.chance(5):
        fields["window"] = some.one_of(1, 2, 3)
    fields |= _of_heads(some, kind, sizes.heads)
    if some.chance(4):
        fields["keep"] = some.mask(*size, st.sampled_from((True, True, False)))
    if some.chance(4):
        fields["ignore"] = some.mask(*size, st.sampled_from((False, False, True)))
        assume(not _both_mark(fields.get("keep"), fields["ignore"], size))
    if some.chance(4):
        unit = some.one_of(*UNITS)
        entries = st.none() | st.integers(-30, 30).map(lambda count: count * unit)
        fields["bias"] = some.mask(*size, entries)
    return replace(kind, **fields)


def _of_heads(some: Draw, kind: Kind, heads: int) -> dict[str, Any]:
    """Draw what each head has numbers of its own for: biases by distance, and sinks."""
    fields: dict[str, Any] = {}
    if some.chance(6):
        fields["alibi"] = True
        fields["alibi_slopes"] = some.row(heads) if some.chance() else None
    if some.chance(6):
        fields["rel_bias"] = some.matrix(some.one_of(4, 8), heads)
        fields["rel_max_distance"] = some.one_of(5, 20, 128)
        fields["rel_bidirectional"] = some.one_of(None, True, False)
    if kind.normalizer == "softmax" and some.chance(5):
        fields["sinks"] = some.row(heads)
    return fields


def _both_mark(keep: Any, ignore: Any, size: tuple[int, int, int]) -> bool:
    if keep is None:
        return False
    full = [np.broadcast_to(np.array(mask), size) for mask in (keep, ignore)]
    return bool((full[0] & full[1]).any())


# -- what is compared ----------------------------------------------------------------------------


def check_digits(kind: Kind, form: Form = AS_ROWS, within: Fraction = WITHIN_EXACT) -> None:
    """Every step of the problem in this form shows the oracle's digits and has its values."""
    try:
        exact = exact_by_hand(kind)
    except SumIsZeroError:
        event("a row sums to 0")
        assume(within == WITHIN_EXACT)  # floats may make 5e-17 of 0.1 + 0.2 - 0.3
        with pytest.raises(InputError, match=r"sum"):
            solve(form.problem(kind))
        return
    assume(not is_nearly_tied(kind, exact, within))
    assume(within == WITHIN_EXACT or not is_tied_at_0(kind, exact))
    assume(within == WITHIN_EXACT or not is_tied_where_terms_cancel(kind, exact))
    check_against(exact, kind, form)


def check_against(exact: dict[str, list[Masked]], kind: Kind, form: Form) -> None:
    """Every step of the problem in this form is the exact one, as is the order of steps."""
    solution = solve(form.problem(kind))
    by_hand = form.turned(as_shown(kind, exact))
    assert [step.name for step in solution.steps] == list(by_hand)
    for name, texts in by_hand.items():
        assert solution.shown(name) == texts, name
    if kind.rounding == "each-step":
        for name, texts in by_hand.items():
            assert solution[name].tolist() == np.array(texts).astype(float).tolist(), name
    else:
        check_values(solution, exact, form)


def check_values(solution: Solution, exact: dict[str, list[Masked]], form: Form) -> None:
    """Values in full are near the exact ones, in float64."""
    for name, heads in exact.items():
        expected = np.array(heads, dtype=float)  # None is nan
        expected = np.where(np.isnan(expected), -np.inf, expected)
        expected = expected[0] if len(expected) == 1 else expected
        found = solution[name]
        found = found.swapaxes(-1, -2) if form.layout == "columns" else found
        size = max(1.0, np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
        assert found.dtype == np.float64
        assert found.shape == expected.shape, name
        assert np.allclose(found, expected, rtol=1e-10, atol=1e-10 * size), name


def is_nearly_tied(kind: Kind, exact: dict[str, list[Masked]], within: Fraction) -> bool:
    """Return whether a digit, the winner of a hardmax or a sum depends on rounding errors."""
    unit = Fraction(1, 10**kind.decimals)
    entries = (x for heads in exact.values() for matrix in heads for row in matrix for x in row)
    if any(BLUR < unit / 2 - abs(x) % unit < within for x in entries if x is not None):
        return True
    scores = scores_read(kind, exact)
    if kind.normalizer == "hardmax":
        gaps = (max(row) - x for row in scores for x in row)
        return any(BLUR < gap < WITHIN_FLOATS * 100 for gap in gaps)
    if kind.normalizer == "sum":
        return any(0 < abs(sum(row)) < sum(map(abs, row)) / 100 for row in scores)
    return False


def is_tied_at_0(kind: Kind, exact: dict[str, list[Masked]]) -> bool:
    """Return whether the winners of a hardmax are scores of 0, which floats may make 5e-17."""
    if kind.normalizer != "hardmax":
        return False
    rows_ = [row for row in scores_read(kind, exact) if len(row) > 1]
    return any(abs(max(row)) <= BLUR and min(row) <= BLUR for row in rows_)


def is_tied_where_terms_cancel(kind: Kind, exact: dict[str, list[Masked]]) -> bool:
    """Return whether a sum is a tie so near to 0 that floats may miss it: 1/3 · 1/2 - 1/3 · 1/2."""
    unit = Fraction(1, 10**kind.decimals)
    entries = (x for heads in exact.values() for matrix in heads for row in matrix for x in row)
    small = (abs(x) for x in entries if x is not None and abs(x) < 100 * unit)
    return any(abs(unit / 2 - x % unit) <= BLUR for x in small)


def scores_read(kind: Kind, exact: dict[str, list[Masked]]) -> list[Row]:
    """Return each row of scores that become weights, of all heads, without those masked out."""
    *_, last = (name for name in exact if name.startswith("S"))
    matrices = [carried(kind, matrix) for matrix in exact[last]]
    return [[x for x in row if x is not None] for matrix in matrices for row in matrix]


@contextmanager
def floats_only() -> Iterator[None]:
    """Solve as large problems are solved."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attncalc.solving.exactness.LARGEST_COST", 0)
        yield


# -- every digit ---------------------------------------------------------------------------------


@pytest.mark.slow
@many(400)
@given(kinds())
def test_every_kind_shows_the_digits_of_the_oracle(kind: Kind) -> None:
    check_digits(kind)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS[1:], ids=form_name)
@many(60)
@given(kind=kinds())
def test_every_form_of_the_same_problem_shows_the_same_digits(form: Form, kind: Kind) -> None:
    check_digits(kind, form)


@pytest.mark.slow
@many(300)
@given(kinds(), st.sampled_from(FORMS))
def test_float64_shows_the_digits_of_the_oracle(kind: Kind, form: Form) -> None:
    with floats_only():
        check_digits(kind, form, WITHIN_FLOATS)


@pytest.mark.slow
@many(300)
@given(kinds(), st.sampled_from(FORMS))
def test_proven_digits_are_those_of_the_oracle(kind: Kind, form: Form) -> None:
    try:
        exact = exact_by_hand(kind)
    except SumIsZeroError:
        return
    assume(not is_nearly_tied(kind, exact, WITHIN_EXACT))
    with floats_only():
        solution = solve(form.problem(kind))
        assert solution.is_proven
        for name, texts in form.turned(as_shown(kind, exact)).items():
            assert solution.shown(name) == texts, name


@pytest.mark.slow
@many(150)
@given(kinds(rounding=("display",)), st.sampled_from(FORMS[1:]))
def test_every_form_gives_the_same_floats(kind: Kind, form: Form) -> None:
    exact = exact_or_none(kind)
    assume(exact is not None and not is_tied_at_0(kind, exact))
    plain, other = solve(AS_ROWS.problem(kind)), solve(form.problem(kind))
    for step in plain.steps:
        found = other[step.name]
        found = found.swapaxes(-1, -2) if form.layout == "columns" else found
        size = np.abs(plain[step.name][np.isfinite(plain[step.name])]).max(initial=1.0)
        assert np.allclose(found, plain[step.name], rtol=1e-12, atol=1e-12 * size), step.name


def exact_or_none(kind: Kind) -> dict[str, list[Masked]] | None:
    """Return the exact steps where floats can tell them, and where no row of scores sums to 0."""
    try:
        exact = exact_by_hand(kind)
    except SumIsZeroError:
        return None
    return None if is_nearly_tied(kind, exact, WITHIN_FLOATS) else exact


# -- each kind on its own ------------------------------------------------------------------------

TOKENS = rows("1 0.5; -1 2; 0.5 -1.5")
OTHERS = rows("0.5 1; 2 -1")
HEADS = [rows("1 0; 0.5 -1"), rows("0 1; 1 0.25"), rows("-1 0.5; 0 1"), rows("0.5 0.5; 1 -1")]
ONE = Kind(X1=TOKENS, X2=TOKENS, W_Q=HEADS[:1], W_K=HEADS[1:2], W_V=HEADS[2:3])
FOUR = Kind(X1=TOKENS, X2=TOKENS, W_Q=HEADS, W_K=HEADS[1:3], W_V=HEADS[2:4])
GIVEN = Kind(Q=[TOKENS], K=[OTHERS], V=[OTHERS])
CROSS = replace(ONE, X2=OTHERS)
THREE = [[[True, False, True], [True, True, False], [False, True, True]]]
KINDS = {
    "Q K V S S_scaled A O": ONE,
    "Q K V S A O": replace(ONE, scale="none"),
    "S S_scaled A O": GIVEN,
    "Q S S_scaled A O": replace(CROSS, X2=None, W_K=None, W_V=None, K=[OTHERS], V=[OTHERS]),
    "K V S S_scaled A O": replace(ONE, W_Q=None, Q=[rows("3 1")]),
    "Q K V S S_scaled A H O": replace(ONE, W_O=HEADS[0], b_O=rows("1 -1")[0]),
    "Q K V S S_scaled A H O ": replace(ONE, b_O=rows("1 -1")[0]),
    "Q K V S S_scaled A H C O": FOUR,
    "Q K V S S_scaled A H C O ": replace(FOUR, combine="mean", W_O=HEADS[0]),
    "Q K V S S_scaled S_capped S_masked A O": replace(ONE, softcap=Fraction(2), causal=True),
    "Q K V S S_masked A O": replace(ONE, scale="none", keep=THREE),
    "P X_P Q K V S S_scaled A O": replace(ONE, positions="sinusoidal"),
    "P1 X1_P P2 X2_P Q K V S S_scaled A O": replace(
        CROSS, positions="sinusoidal", positions_base=Fraction(100)
    ),
    "X_P Q K V S S_scaled A O": replace(ONE, P1=TOKENS),
    "X1_P Q K V S S_scaled A O": replace(CROSS, P1=TOKENS),
    "X2_P Q K V S S_scaled A O": replace(CROSS, P2=OTHERS),
    "Q K V Q_rot K_rot S S_scaled A O": replace(ONE, positions="rope"),
    "Q_rot K_rot S S_scaled A O": replace(GIVEN, positions="rope"),
}


@pytest.mark.campaign(3)
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("names", mostly_slow(KINDS, 4))
def test_each_kind_has_its_steps(names: str, rounding: str) -> None:
    kind = replace(KINDS[names], rounding=rounding)
    assert list(shown_by_hand(kind)) == names.split()
    for form in FORMS:
        check_against(exact_by_hand(kind), kind, form)


def test_each_key_and_value_head_serves_consecutive_query_heads() -> None:
    repeated = replace(
        FOUR, W_K=[HEADS[1]] * 2 + [HEADS[2]] * 2, W_V=[HEADS[2]] * 2 + [HEADS[3]] * 2
    )
    grouped, whole = (solve(AS_ROWS.problem(kind)) for kind in (FOUR, repeated))
    assert grouped["K"].shape == (2, 3, 2)
    for name in ("S", "A", "H", "C", "O"):
        assert grouped.shown(name) == whole.shown(name), name


def test_heads_carry_an_axis_and_their_sum_does_not() -> None:
    solution = solve(AS_ROWS.problem(FOUR))
    shapes = {step.name: solution[step.name].shape for step in solution.steps}
    assert shapes["A"] == (4, 3, 3)
    assert shapes["H"] == (4, 3, 2)
    assert shapes["C"] == shapes["O"] == (3, 8)
    assert len(solution.connections) == 4


def test_causal_alignment_states_which_corners_meet() -> None:
    key = [rows("1; 1; 1")]
    kind = Kind(Q=[rows("0; 0")], K=key, V=key, causal=True, decimals=1)
    top_left, bottom_right = (
        solve(AS_ROWS.problem(replace(kind, causal_alignment=alignment))).shown("S_masked")
        for alignment in ("top-left", "bottom-right")
    )
    assert top_left == [["0.0", "-inf", "-inf"], ["0.0", "0.0", "-inf"]]
    assert bottom_right == [["0.0", "0.0", "-inf"], ["0.0", "0.0", "0.0"]]


def test_scale_then_softcap_then_bias_then_softmax() -> None:
    """tanh(4 · 0.5 / 2) · 2 = 1.523…, and 10 is added after the cap."""
    kind = Kind(
        Q=[rows("4")],
        K=[rows("1; 0")],
        V=[rows("1; 0")],
        scale=Fraction(1, 2),
        softcap=Fraction(2),
        bias=[[[Fraction(10), Fraction(0)]]],
        decimals=3,
    )
    solution = solve(AS_ROWS.problem(kind))
    assert solution.shown("S_scaled") == [["2.000", "0.000"]]
    assert solution.shown("S_capped") == [["1.523", "0.000"]]
    assert solution.shown("S_masked") == [["11.523", "0.000"]]


def test_hardmax_shares_only_between_ties() -> None:
    kind = Kind(Q=[rows("1")], K=[rows("3; 1; 3; 2")], V=[rows("1; 2; 4; 8")], normalizer="hardmax")
    solution = solve(AS_ROWS.problem(kind))
    assert solution.shown("A") == [["0.50", "0.00", "0.50", "0.00"]]
    assert solution.shown("O") == [["2.50"]]


def test_hardmax_distinguishes_ties_from_near_ties() -> None:
    """100000 · 99999.9999 is 1e10 - 10."""
    near = {"Q": [[100000]], "K": [[100000], [99999.9999]], "V": [[1], [2]]}
    solution = solve(Problem(**near, normalizer="hardmax", scale="none"))
    assert solution.shown("A") == [["1.00", "0.00"]]
    assert solution["A"].tolist() == [[1, 0]]


def test_hardmax_values_share_the_tie_that_is_shown() -> None:
    """0.1 + 0.2 - 0.3 is 0, and 5e-17 in floats."""
    tied = {"Q": [[0.1, 0.2, -0.3]], "K": [[1, 1, 1], [0, 0, 0]], "V": [[1], [2]]}
    solution = solve(Problem(**tied, normalizer="hardmax"))
    assert solution.shown("A") == [["0.50", "0.50"]]
    assert solution["A"].tolist() == [[0.5, 0.5]]
    assert solution["O"].tolist() == [[1.5]]


@pytest.mark.parametrize("form", FORMS[::5], ids=form_name)
def test_rope_pairs_columns_as_it_says(form: Form) -> None:
    """At a base of 1 each pair turns by one angle; a quarter turn takes (x, y) to (-y, x)."""
    quarter = Fraction("1.57079632679489661923132169163975")
    kind = Kind(
        Q=[rows("1 2 3 4")],
        K=[rows("1 0 0 0")],
        V=[rows("1")],
        positions="rope",
        rope_base=Fraction(1),
        rope_offset=quarter,
    )
    for pairing, text in {"halves": "-3 -4 1 2", "interleaved": "-2 1 -4 3"}.items():
        found = solve(form.problem(replace(kind, rope_pairing=pairing)))["Q_rot"].ravel()
        assert np.allclose(found, [float(x) for x in text.split()])


@many(60)
@given(st.lists(st.integers(-20, 20), min_size=8, max_size=8), st.integers(-50, 50))
def test_rope_scores_depend_only_on_the_distance(entries: list[int], offset: int) -> None:
    Q, K = (np.array(part, dtype=float).reshape(1, 4) for part in (entries[:4], entries[4:]))
    two = {"Q": np.repeat(Q, 3, axis=0), "K": np.repeat(K, 3, axis=0), "V": np.eye(3)}
    S = solve(Problem(**two, positions="rope", rope_offset=offset))["S"]
    assert np.allclose(np.diag(S), np.full(3, S[0, 0]), atol=1e-9)
    assert np.allclose(S[1:, 1:], S[:2, :2], atol=1e-9)


# -- positions of queries -------------------------------------------------------------------------


@dataclass(frozen=True)
class Decoding:
    """A whole sequence, and its last tokens asking a cache of all keys and values."""

    whole: Kind
    last: Kind

    @property
    def earlier(self) -> int:
        """The number of tokens before the query tokens."""
        return self.last.query_place


@st.composite
def decodings(draw: Any) -> Decoding:
    """Draw a causal problem of n tokens, and the same asked by the last of them alone."""
    some = Draw(draw)
    n, heads, kv_heads = 1 + some.size(3), *some.one_of((1, 1), (2, 2), (2, 1))
    asking = some.size(n - 1)
    kind = Kind(
        scale=some.one_of("sqrt_dk", "none"),
        softcap=some.one_of(None, None, Fraction(5)),
        causal=True,
        rounding=some.one_of(*ROUNDINGS),
        decimals=draw(st.integers(0, 6)),
    )
    if some.chance():
        sizes = _Sizes("QKV", "cross", n, n, 2 * some.size(2), some.size(), heads, kv_heads)
        whole = _with_outputs(some, _with_inputs(some, kind, sizes), sizes)
        turns = {"rope_base": some.one_of(*BASES), "rope_offset": some.one_of(*OFFSETS)}
        turns["rope_pairing"] = some.one_of("halves", "interleaved")
        whole = replace(whole, positions="rope", **turns)
        changes: dict[str, Any] = {"Q": [matrix[-asking:] for matrix in whole.Q or []]}
    else:
        sizes = _Sizes("", "self", n, n, some.size(), some.size(), heads, kv_heads)
        whole = _with_outputs(some, _with_inputs(some, kind, sizes), sizes)
        whole = replace(whole, positions="sinusoidal")
        changes = {"X1": (whole.X1 or [])[-asking:]}
    return Decoding(whole, replace(whole, **changes, causal_alignment="bottom-right"))


@pytest.mark.slow
@pytest.mark.campaign(2)
@pytest.mark.parametrize("way", [floats_only, pytest.MonkeyPatch.context])
@many(150)
@given(decodings(), st.sampled_from(FORMS))
def test_a_step_of_decoding_with_a_cache_is_the_last_of_the_whole_sequence(
    way: Any, decoding: Decoding, form: Form
) -> None:
    """The last queries with all keys, aligned bottom-right, are the last rows to the digit."""
    with way():
        whole, last = (solve(form.problem(kind)) for kind in (decoding.whole, decoding.last))
        for name in {step.name for step in last.steps} - {"K", "V", "K_rot", "P2", "X2_P"}:
            of_whole = {"P1": "P", "X1_P": "X_P"}.get(name, name)
            if form.layout == "rows":
                expected = np.array(whole.shown(of_whole))[..., decoding.earlier :, :]
            else:
                expected = np.array(whole.shown(of_whole))[..., :, decoding.earlier :]
            assert last.shown(name) == expected.tolist(), name


def rotated_plainly(matrix: np.ndarray, first: float) -> np.ndarray:
    """Turn pairs of columns half the width apart as complex numbers, base 10000."""
    half = matrix.shape[-1] // 2
    rates = 10_000.0 ** (-np.arange(half) / half)
    turns = np.exp(1j * np.outer(first + np.arange(matrix.shape[-2]), rates))
    turned = (matrix[..., :half] + 1j * matrix[..., half:]) * turns
    return np.concatenate([turned.real, turned.imag], axis=-1)


PLACES: dict[str, tuple[dict[str, Any], float, float]] = {
    "as the keys": ({}, 0, 0),
    "as the keys, from their offset": ({"rope_offset": 7}, 7, 7),
    "the last": ({"causal_alignment": "bottom-right"}, 3, 0),
    "the last, from the keys' offset": (
        {"causal_alignment": "bottom-right", "rope_offset": 7},
        10,
        7,
    ),
    "where it is said": ({"rope_query_offset": 0.5, "rope_offset": 7}, 0.5, 7),
    "where it is said, and not last": (
        {"rope_query_offset": 0, "causal_alignment": "bottom-right"},
        0,
        0,
    ),
}


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("what", PLACES)
def test_queries_are_rotated_by_their_position(what: str, causal: bool) -> None:
    fields, query, key = PLACES[what]
    chance = np.random.default_rng(1)
    Q, K = chance.normal(size=(2, 6)), chance.normal(size=(5, 6))
    solution = solve(Problem(Q=Q, K=K, V=np.eye(5), positions="rope", causal=causal, **fields))
    expected = rotated_plainly(Q, query) @ rotated_plainly(K, key).T
    assert np.allclose(solution["S"], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_queries_of_a_long_input_are_rotated_by_their_position() -> None:
    chance = np.random.default_rng(2)
    Q, K, V = (chance.normal(size=(5000, 8)) for _ in range(3))
    rope = {"positions": "rope", "causal": True}
    whole = solve(Problem(Q=Q, K=K, V=V, **rope), keep=("O",))["O"]
    last = Problem(Q=Q[-3:], K=K, V=V, **rope, causal_alignment="bottom-right")
    assert np.allclose(solve(last, keep=("O",))["O"], whole[-3:], rtol=1e-11, atol=1e-12)


# -- masks ---------------------------------------------------------------------------------------

WAYS_TO_MASK_ALL: dict[str, dict[str, Any]] = {
    "keep": {"keep": [[1, 1], [0, 0], [1, 0]]},
    "ignore": {"ignore": [[0, 0], [1, 1], [0, 1]]},
    "bias": {"bias": [[0, 0], [-INFINITY, -INFINITY], [0, -INFINITY]]},
    "keep and bias": {"keep": [[1, 1], [0, 1], [1, 0]], "bias": [[0, 0], [0, -INFINITY], [0, 0]]},
    "causal and bias": {"causal": True, "bias": [[0, 0], [-INFINITY, -INFINITY], [0, -INFINITY]]},
}


@pytest.mark.campaign(5)
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
@pytest.mark.parametrize("way", WAYS_TO_MASK_ALL)
def test_a_row_with_every_key_masked_gets_weights_of_0(
    way: str, normalizer: str, rounding: str
) -> None:
    matrices = {"Q": [[1, 1], [2, 1], [1, 3]], "K": [[1, 0.5], [2, 1]], "V": [[3], [4]]}
    settings_ = {"normalizer": normalizer, "rounding": rounding, **WAYS_TO_MASK_ALL[way]}
    for floats in (False, True):
        with floats_only() if floats else pytest.MonkeyPatch.context():
            solution = solve(Problem(**matrices, **settings_, W_O=[[2]], b_O=[7]))
            assert solution.shown("S_masked")[1] == ["-inf", "-inf"]
            assert solution.shown("A")[1:] == [["0.00", "0.00"], ["1.00", "0.00"]]
            assert solution.shown("O")[1:] == [["7.00"], ["13.00"]]
            assert solution["A"][1].tolist() == [0, 0]
            assert solution.connections[1].most == ()


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_a_query_that_sees_nothing_in_one_head_still_sees_in_the_others(rounding: str) -> None:
    keep = [[[head != 1 or i != 2 for _ in range(3)] for i in range(3)] for head in range(4)]
    kind = replace(FOUR, keep=keep, rounding=rounding)
    for form in FORMS:
        check_against(exact_by_hand(kind), kind, form)
    assert solve(AS_ROWS.problem(kind))["A"][:, 2].any(axis=-1).tolist() == [
        True,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("width", [1, 3])
def test_an_infinite_bias_is_typed_in_any_way(width: int) -> None:
    matrices = {"Q": [[1] * width], "K": [[1] * width, [2] * width], "V": [[1], [2]]}
    for infinity in (-INFINITY, np.float32(-np.inf), np.float64(-np.inf)):
        solution = solve(Problem(**matrices, bias=[[infinity, 1]]))
        assert solution.shown("A") == [["0.00", "1.00"]]
    array = np.array([[-np.inf, 1]])
    assert solve(Problem(**matrices, bias=array)).shown("A") == [["0.00", "1.00"]]


@dataclass(frozen=True)
class Poisoned:
    """A problem whose key j is masked out for all, and the same with a terrible key j."""

    harmless: Kind
    terrible: Kind
    j: int


@st.composite
def poisoned(draw: Any) -> Poisoned:
    """Draw a problem in which a key is masked out that overflows its scores, or nearly."""
    some = Draw(draw, units=BINARY_UNITS)
    n, m, heads, d = some.size(3), 1 + some.size(3), some.one_of(1, 1, 2), some.size(2)
    sizes = _Sizes("QKV", "cross", n, m, d, some.size(), heads, heads)
    kind = Kind(
        normalizer=some.one_of(*NORMALIZERS),
        rounding=some.one_of(*ROUNDINGS),
        scale=some.one_of("sqrt_dk", "none"),
        softcap=some.one_of(None, None, Fraction(5)),
        causal=some.chance(4),
    )
    kind = _with_outputs(some, _with_inputs(some, kind, sizes), sizes)
    j = some.size(m) - 1
    out = [[[key == j for key in range(m)]]]
    masks = {
        "keep": [[[not is_out for is_out in out[0][0]]]],
        "ignore": out,
        "bias": [[[None if is_out else Fraction(1, 2) for is_out in out[0][0]]]],
    }
    way = some.one_of("keep", "ignore", "bias")
    kind = replace(kind, **{way: masks[way]})
    assert kind.K is not None
    assert kind.V is not None
    huge = Fraction(10) ** some.one_of(300, 308)
    keys = some.one_of([huge, huge], [-huge, huge], [huge, -huge], [-huge, -huge])
    K = [[*matrix[:j], keys[:d], *matrix[j + 1 :]] for matrix in kind.K]
    values = [Fraction(10) ** 300] * sizes.d_v
    V = [[*matrix[:j], values, *matrix[j + 1 :]] for matrix in kind.V]
    return Poisoned(kind, replace(kind, V=V, K=K if some.chance() else kind.K), j)


def without_key(kind: Kind, j: int) -> Kind:
    """Return the problem without key j, and without any of its entries."""

    def narrower(mask: Any) -> Any:
        return mask and [[[*row[:j], *row[j + 1 :]] for row in matrix] for matrix in mask]

    def shorter(matrices: Any) -> Any:
        return [[*matrix[:j], *matrix[j + 1 :]] for matrix in matrices]

    changes = {name: narrower(getattr(kind, name)) for name in ("keep", "ignore", "bias")}
    return replace(kind, **changes, K=shorter(kind.K), V=shorter(kind.V))


def solution_or_none(kind: Kind, form: Form) -> Solution | None:
    """Return the solution, or nothing where a row of scores sums to 0."""
    try:
        exact = exact_by_hand(kind)
    except SumIsZeroError:
        with pytest.raises(InputError, match=r"sum to 0"):
            solve(form.problem(kind))
        return None
    assume(not is_nearly_tied(kind, exact, WITHIN_FLOATS))
    return solve(form.problem(kind))


@pytest.mark.slow
@many(120)
@given(poisoned(), st.sampled_from(FORMS), st.sampled_from((True, True, False)))
def test_a_masked_key_never_affects_results(problems: Poisoned, form: Form, floats: bool) -> None:
    with floats_only() if floats else pytest.MonkeyPatch.context():
        expected = solution_or_none(problems.harmless, form)
        found = solution_or_none(problems.terrible, form)
        if expected is None or found is None:
            assert expected is found
            return
        for name in ("A", "O"):
            assert found.shown(name) == expected.shown(name), name
            assert np.allclose(found[name], expected[name], rtol=1e-13, atol=1e-13), name
        assert found.connections == expected.connections


@many(80)
@given(poisoned())
def test_a_masked_out_key_might_as_well_not_be_there(problems: Poisoned) -> None:
    assume(not problems.terrible.causal)
    expected = solution_or_none(without_key(problems.terrible, problems.j), AS_ROWS)
    with floats_only():
        found = solution_or_none(problems.terrible, AS_ROWS)
    if expected is None or found is None:
        assert expected is found
        return
    assert found.shown("O") == expected.shown("O")
    weights = np.delete(np.array(found.shown("A")), problems.j, axis=-1)
    assert weights.tolist() == expected.shown("A")


@pytest.mark.parametrize("keep", [None, ("O",), ("A",), ("S",), ("A", "O"), ("S_scaled", "O")])
def test_a_masked_out_score_may_overflow_whichever_steps_are_kept(keep: Any) -> None:
    matrices = {"Q": [[1e200]], "K": [[1e200], [1e-200]], "V": [[1e300], [2]]}
    solution = solve(Problem(**matrices, ignore=[[1, 0]]), keep=keep)
    for name, expected in {"A": [["0.00", "1.00"]], "O": [["2.00"]]}.items():
        if keep is None or name in keep:
            assert solution.shown(name) == expected


def test_a_score_that_is_nan_because_it_overflows_twice_is_masked_out() -> None:
    matrices = {"Q": [[1e200, 1e200]], "K": [[1e200, -1e200], [1e-200, 0]], "V": [[1e300], [2]]}
    for normalizer in NORMALIZERS:
        for softcap in (None, 5):
            limits = {"normalizer": normalizer, "softcap": softcap}
            with floats_only():
                solution = solve(Problem(**matrices, **limits, ignore=[[1, 0]]))
                assert solution["A"].tolist() == [[0, 1]]
                assert solution["O"].tolist() == [[2]]


# -- extremes ------------------------------------------------------------------------------------

both_ways = pytest.mark.parametrize("way", [floats_only, pytest.MonkeyPatch.context])


@both_ways
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("scale", ["sqrt_dk", "none", Fraction(1, 2)])
@pytest.mark.parametrize("normalizer", ["softmax", "hardmax"])
def test_scores_at_the_ends_of_float64(
    normalizer: str, scale: Any, rounding: str, way: Any
) -> None:
    ends = {"Q": [[1e154]], "K": [[1e154], [-1e154], [1e154]], "V": [[1], [2], [4]]}
    settings_ = {"normalizer": normalizer, "scale": scale, "rounding": rounding}
    with way():
        solution = solve(Problem(**ends, **settings_))
        assert solution["S"].tolist() == [[1e308, -1e308, 1e308]]
        assert solution.shown("A") == [["0.50", "0.00", "0.50"]]
        assert solution.shown("O") == [["2.50"]]


@both_ways
def test_scores_at_the_end_of_float64_that_are_summed(way: Any) -> None:
    ends = {"Q": [[1e154]], "K": [[1e154], [1e154]], "V": [[1], [2]]}
    with way():
        solution = solve(Problem(**ends, normalizer="sum"))
        assert solution.shown("A") == [["0.50", "0.50"]]


@both_ways
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_capped_scores_at_the_ends_of_float64(normalizer: str, way: Any) -> None:
    ends = {"Q": [[1e154]], "K": [[1e154], [-1e154], [1e154]], "V": [[1], [2], [4]]}
    with way():
        solution = solve(Problem(**ends, softcap=3, normalizer=normalizer))
        assert solution.shown("S_capped") == [["3.00", "-3.00", "3.00"]]
        assert solution["A"].sum() == pytest.approx(1)


@both_ways
def test_an_overflow_that_is_not_masked_out_is_refused_by_name(way: Any) -> None:
    matrices = {"Q": [[1e200], [1]], "K": [[1], [1e200]], "V": [[1], [2]]}
    with way(), pytest.raises(InputError, match=r"^S, row 1, column 2 exceeds the largest"):
        solve(Problem(**matrices))
    with way(), pytest.raises(InputError, match=r"exceeds the largest"):
        solve(Problem(**matrices, keep=[[1, 1], [1, 0]]))


@both_ways
def test_a_bias_that_overflows_a_score_is_refused(way: Any) -> None:
    matrices = {"Q": [[1e154]], "K": [[1e154]], "V": [[1]]}
    with way(), pytest.raises(InputError, match=r"S_masked, row 1, column 1 exceeds the largest"):
        solve(Problem(**matrices, bias=[[1.5e308]]))


@both_ways
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_scores_too_small_to_be_normal_numbers(normalizer: str, way: Any) -> None:
    tiny = {"Q": [[1]], "K": [[5e-324], [5e-324], [0]], "V": [[1], [2], [4]]}
    with way():
        solution = solve(Problem(**tiny, normalizer=normalizer, scale="none"))
        assert solution["S"].tolist() == [[5e-324, 5e-324, 0]]
        third = "0.33" if normalizer == "softmax" else "0.50"
        assert solution.shown("A")[0][:2] == [third, third]


@both_ways
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
@pytest.mark.parametrize("m", [1, 2, 4])
def test_equal_scores_share_equally(m: int, normalizer: str, rounding: str, way: Any) -> None:
    equal = {"Q": [[0.1], [7]], "K": [[0.3]] * m, "V": [[i] for i in range(m)]}
    with way():
        solution = solve(Problem(**equal, normalizer=normalizer, rounding=rounding))
        assert solution["A"].tolist() == [[1 / m] * m] * 2
        assert solution.shown("O") == [[f"{(m - 1) / 2:.2f}"]] * 2


@pytest.mark.slow
@many(100)
@given(kinds(rounding=("display",)), st.sampled_from(FORMS))
def test_one_key_has_all_the_weight(kind: Kind, form: Form) -> None:
    assume(not kind.is_masked and kind.normalizer != "sum" and kind.positions == "none")
    assume(kind.sinks is None)
    heads = len(kind.V or kind.W_V or [])
    width = len((kind.V or kind.W_V or [])[0][0])
    K = [[[Fraction(7)] * len((kind.Q or kind.W_Q or [])[0][0])]] * heads
    one = {"W_K": None, "b_K": None, "K": K, "W_V": None, "b_V": None}
    one |= {"V": [[[Fraction(i + 1) for i in range(width)]]] * heads, "X2": None, "X3": None}
    one |= {"P1": None, "P2": None, "P3": None}
    if kind.is_self:
        one["X2"] = kind.X1
    if kind.Q is not None:
        one |= {"X1": None, "X2": None}
    kind = replace(kind, **one)
    solution = solve(form.problem(kind))
    assert (solution["A"] == 1).all()
    check_digits(kind, form)


# -- float32 -------------------------------------------------------------------------------------

ARRAYS = [name for name in MATRICES if name not in ("keep", "ignore")]


@pytest.mark.slow
@many(150)
@given(kinds(rounding=("display",)), st.sampled_from(FORMS), st.booleans())
def test_float32_arrays_in_are_float32_arrays_out(kind: Kind, form: Form, floats: bool) -> None:
    assume(exact_or_none(kind) is not None)
    double = form.problem(kind)
    arrays = {name: getattr(double, name) for name in ARRAYS if getattr(double, name) is not None}
    with floats_only() if floats else pytest.MonkeyPatch.context():
        single = solve(replace(double, **{k: v.astype(np.float32) for k, v in arrays.items()}))
        expected = solve(double)
        for step in single.steps:
            found = single[step.name]
            size = np.abs(expected[step.name][np.isfinite(expected[step.name])]).max(initial=1.0)
            assert found.dtype == np.float32, step.name
            if kind.normalizer == "softmax":
                near = np.allclose(found, expected[step.name], rtol=1e-3, atol=1e-3 * size)
                assert near, step.name


@many(60)
@given(kinds(rounding=("each-step",)), st.booleans())
def test_float32_stays_float32_when_each_step_is_rounded(kind: Kind, floats: bool) -> None:
    double = AS_ROWS.problem(kind)
    arrays = {name: getattr(double, name) for name in ARRAYS if getattr(double, name) is not None}
    single = replace(double, **{k: v.astype(np.float32) for k, v in arrays.items()})
    with floats_only() if floats else pytest.MonkeyPatch.context():
        try:
            solution = solve(single)
        except InputError:  # a row of scores sums to 0
            return
        assert {solution[step.name].dtype for step in solution.steps} == {np.dtype(np.float32)}


# -- what does not fit ---------------------------------------------------------------------------

BAD: dict[str, tuple[dict[str, Any], type[InputError], str]] = {
    "Q and W_Q": ({"Q": [[1, 2]]}, InputError, r"Q and W_Q both given"),
    "heads that do not divide": ({"heads": 3}, ShapeError, r"W_Q .*3 heads"),
    "keep and ignore": ({"keep": [[1, 1]], "ignore": [[0, 1]]}, InputError, r"keep and ignore"),
    "a keep of another size": ({"keep": [[1, 1, 1]]}, ShapeError, r"keep is 1 × 3"),
    "marks of 2": ({"ignore": [[0, 2]]}, InputError, r"ignore, row 1, column 2"),
    "an infinite bias": ({"bias": [[0, INFINITY]]}, InputError, r"bias, row 1, column 2"),
    "a bias that is not a number": ({"bias": [[0, float("nan")]]}, InputError, r"bias, row 1"),
    "a negative softcap": ({"softcap": -1}, InputError, r"softcap takes"),
    "no softcap": ({"softcap": 0}, InputError, r"softcap takes"),
    "a normalizer": ({"normalizer": "max"}, InputError, r"normalizer takes .*hardmax"),
    "a combination": ({"combine": "sum"}, InputError, r"combine takes .*mean"),
    "an alignment": ({"causal_alignment": "left"}, InputError, r"causal_alignment takes"),
    "positions": ({"positions": "learned"}, InputError, r"positions takes .*rope"),
    "a base of 0": ({"positions": "rope", "rope_base": 0}, InputError, r"rope_base takes"),
    "a pairing": ({"rope_pairing": "both"}, InputError, r"rope_pairing takes"),
    "P twice": ({"positions": "sinusoidal", "P": [[0, 0]] * 2}, InputError, r"P is given"),
    "P of another size": ({"P": [[1, 2]]}, ShapeError, r"P is 1 × 2 and X is 2 × 2"),
    "P1 without X1": ({"P1": [[1, 2]]}, InputError, r"P1 is given"),
    "a W_O that does not fit": ({"W_O": [[1, 2, 3]]}, ShapeError, r"W_O is 1 × 3: it needs 2"),
    "a b_Q that does not fit": ({"b_Q": [1, 2, 3]}, ShapeError, r"b_Q has 3 numbers: it needs 2"),
    "a layout": ({"layout": "diagonal"}, InputError, r"layout takes"),
    "no heads": ({"heads": 0}, InputError, r"heads takes"),
}


@pytest.mark.parametrize("what", BAD)
def test_wrong_shapes_are_refused_by_name(what: str) -> None:
    changes, error, message = BAD[what]
    two = [[1, 2], [3, 4]]
    with pytest.raises(error, match=message):
        solve(Problem(**{"X": two, "W_Q": two, "W_K": two, "W_V": two, **changes}))


def test_rope_refuses_an_odd_width() -> None:
    with pytest.raises(ShapeError, match="even"):
        Problem(Q=[[1, 2, 3]], K=[[1, 2, 3]], V=[[1]], positions="rope")


def test_a_row_that_sums_to_0_is_refused_by_its_place() -> None:
    with pytest.raises(InputError, match="row 2 sum to 0"):
        solve(Problem(Q=[[1], [0]], K=[[1], [2]], V=[[1], [2]], normalizer="sum"))


def test_a_row_that_sums_to_0_is_refused_though_floats_make_5e_17_of_it() -> None:
    with pytest.raises(InputError, match="row 1 sum to 0"):
        solve(Problem(Q=[[0.1, 0.2, -0.3]], K=[[1, 1, 1]], V=[[1]], normalizer="sum"))


@pytest.mark.parametrize("name", ["X", "W_Q"])
def test_no_tokens_are_an_error(name: str) -> None:
    matrices = {"X": [[1.0]], "W_Q": [[1.0]], "W_K": [[1.0]], "W_V": [[1.0]]}
    with pytest.raises(InputError, match=f"{name} is empty"):
        Problem(**{**matrices, name: np.empty((0, 1))})
