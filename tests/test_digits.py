"""Every shown digit of every step, against an oracle that works by hand in fractions."""

import math
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import many
from hypothesis import assume, example, given
from hypothesis import strategies as st
from oracle import (
    BLUR,
    SAME,
    Rows,
    as_carried,
    as_shown,
    connections_by_hand,
    exact_values,
    shown,
    solve_by_hand,
)

from attncalc import Problem, Solution, solve
from attncalc.base.rounding import round_floats

pytestmark = pytest.mark.campaign(4)

ROUNDINGS = ("display", "each-step")
SCALES = ("sqrt_dk", "none", *map(Fraction, ("1", "2", "0.5", "0.1", "0", "-1", "1/3")))
WITHIN_EXACT = Fraction(1, 10**20)
"""attncalc's exact digits take what is this little below a tie, such as 1 / (2 + e^-60), for it."""
WITHIN_FLOATS = Fraction(1, 10**9)
"""What float64 can hardly tell from a tie, after a few steps."""
TIE_DECIMALS = st.sampled_from((0, 1, 1, 2, 2, 2, 3, 5, 12))


@dataclass(frozen=True)
class Asked:
    """A problem in Fractions; for self-attention X1 and X2 are both X."""

    X1: Rows
    X2: Rows
    W_Q: Rows
    W_K: Rows
    W_V: Rows
    scale: str | Fraction
    rounding: str
    decimals: int
    is_self: bool = False

    def by_hand(self) -> tuple[Any, ...]:
        """Return the oracle's arguments."""
        matrices = (self.X1, self.X2, self.W_Q, self.W_K, self.W_V)
        return (*matrices, self.scale, self.rounding, self.decimals)

    def solved(self, **changes: Any) -> Solution:
        """Return attncalc's solution, of numbers in every form a person may give them in."""
        tokens = {"X": self.X1} if self.is_self else {"X1": self.X1, "X2": self.X2}
        matrices = {**tokens, "W_Q": self.W_Q, "W_K": self.W_K, "W_V": self.W_V}
        conventions = {
            "scale": self.scale,
            "rounding": self.rounding,
            "decimals": self.decimals,
        }
        given = {name: in_many_forms(matrix) for name, matrix in matrices.items()}
        return solve(Problem(**{**given, **conventions, **changes}))


def in_many_forms(matrix: Rows) -> list[list[Any]]:
    """Return the same numbers as ints, floats, Decimals and Fractions, in turn."""
    return [
        [_in_form((i + j) % 4, value) for j, value in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def _in_form(form: int, value: Fraction) -> Any:
    if form == 0 and value.denominator == 1:
        return int(value)
    if form <= 1 and Fraction(repr(float(value))) == value:
        return float(value)
    if form <= 2 and (decimal := _decimal(value)) is not None:
        return decimal
    return value


def _decimal(value: Fraction) -> Decimal | None:
    with localcontext(prec=60):
        decimal = Decimal(value.numerator) / Decimal(value.denominator)
    return decimal if Fraction(decimal) == value else None


def rows(text: str) -> Rows:
    """Return a matrix written as `1 -1/2; 0 2.5`."""
    return [[Fraction(number) for number in row.split()] for row in text.split(";")]


def texts(text: str) -> list[list[str]]:
    """Return shown rows written as `0.50 0.50; 1.00 0.00`."""
    return [row.split() for row in text.split(";")]


# -- strategies ----------------------------------------------------------------------------------


def matrices(n_rows: int, n_columns: int, entries: st.SearchStrategy[Any]) -> Any:
    """Draw a matrix of this size."""
    size = n_rows * n_columns
    return st.lists(entries, min_size=size, max_size=size).map(
        lambda flat: [flat[i : i + n_columns] for i in range(0, size, n_columns)]
    )


@st.composite
def multiples(draw: Any, units: tuple[Fraction, ...], largest: int = 3) -> Any:
    """Draw a strategy of entries: multiples of one unit, up to about `largest`."""
    unit = draw(st.sampled_from(units))
    most = max(3, int(largest / unit))
    return st.integers(-most, most).map(lambda count: count * unit)


@st.composite
def problems(
    draw: Any,
    entries: st.SearchStrategy[Any],
    decimals: st.SearchStrategy[int],
    scales: tuple[Any, ...] = SCALES,
    roundings: tuple[str, ...] = ROUNDINGS,
) -> Asked:
    """Draw a problem of 1 to 5 tokens and widths 1 to 4; `entries` draws each matrix's entries."""
    width = st.integers(1, 4)
    is_self = draw(st.booleans())
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    d_1, d_2, d_k, d_v = (draw(width) for _ in range(4))
    X1 = draw(matrices(n, d_1, draw(entries)))
    X2, d_2 = (X1, d_1) if is_self else (draw(matrices(m, d_2, draw(entries))), d_2)
    return Asked(
        X1=X1,
        X2=X2,
        W_Q=draw(matrices(d_1, d_k, draw(entries))),
        W_K=draw(matrices(d_2, d_k, draw(entries))),
        W_V=draw(matrices(d_2, d_v, draw(entries))),
        scale=draw(st.sampled_from(scales)),
        rounding=draw(st.sampled_from(roundings)),
        decimals=draw(decimals),
        is_self=is_self,
    )


SHORT = tuple(Fraction(1, 10**places) for places in range(4))
HALVES = tuple(map(Fraction, ("1", "0.5", "0.25", "0.125", "0.05", "0.005", "5")))

short_decimals = problems(multiples(SHORT), st.integers(0, 12))
few_decimals = problems(multiples(SHORT[:3]), st.integers(0, 6))
"""Within what float64 can tell from a tie."""

ratios = st.builds(Fraction, st.integers(-9, 9), st.sampled_from((1, 2, 3, 3, 6, 7, 9, 12, 30)))
fractions = problems(st.just(ratios), st.integers(0, 12))

long = st.integers(-(10**17), 10**17).map(lambda count: Fraction(count, 10**16))
long_decimals = problems(st.just(long), st.integers(0, 12))


@st.composite
def halfway(draw: Any, most_decimals: int = 12) -> Asked:
    """Draw units that multiply to half a unit of the last decimal, so that about half are ties."""
    decimals = min(draw(TIE_DECIMALS), most_decimals)
    units = (Fraction(1), Fraction(1, 2), Fraction(1, 2 * 10**decimals), Fraction(5, 10**decimals))
    return draw(problems(multiples((*units, *HALVES[:4]), largest=1), st.just(decimals)))


@st.composite
def cancelling(draw: Any) -> Asked:
    """Draw tokens whose large terms cancel and leave a tie: 1000.005 · 1 − 1000 · 1."""
    decimals = draw(TIE_DECIMALS)
    half = Fraction(1, 2 * 10**decimals)
    large = st.integers(-(10**6), 10**6)
    small = st.integers(-9, 9).map(lambda count: count * half)

    def tokens(size: int, pairs: int) -> Rows:
        flat = draw(matrices(size, pairs, st.tuples(large, small)))
        return [[x for big, tie in row for x in (big + tie, Fraction(big))] for row in flat]

    def weights(pairs: int, width: int) -> Rows:
        flat = draw(matrices(pairs, width, st.integers(-3, 3).map(Fraction)))
        return [[sign * x for x in row] for row in flat for sign in (1, -1)]

    n, m, d_k, d_v = (draw(st.integers(1, 3)) for _ in range(4))
    p_1, p_2 = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    return Asked(
        X1=tokens(n, p_1),
        X2=tokens(m, p_2),
        W_Q=weights(p_1, d_k),
        W_K=weights(p_2, d_k),
        W_V=weights(p_2, d_v),
        scale=draw(st.sampled_from(SCALES)),
        rounding=draw(st.sampled_from(ROUNDINGS)),
        decimals=decimals,
    )


@st.composite
def shared(draw: Any) -> Asked:
    """Draw inputs that share a place: weights 1/2, 1/4, 1/8 (or nearly), and outputs on ties.

    A token is (what its key is, what its value is), so that equal keys have different values.
    """
    decimals = draw(TIE_DECIMALS)
    m = draw(st.sampled_from((1, 2, 2, 3, 4, 4, 5, 8, 8)))
    levels = st.sampled_from(draw(st.sampled_from(((0,), (0, -2000), (0, -30), (0, -1, -2)))))
    keys = draw(st.lists(levels.map(Fraction), min_size=m, max_size=m))
    unit = Fraction(1, draw(st.sampled_from((1, 1, 2, 3))) * 10**decimals)
    values = draw(matrices(m, 2, st.integers(-9, 9).map(lambda count: count * unit)))
    return Asked(
        X1=draw(matrices(draw(st.integers(1, 3)), 1, st.sampled_from((0, 1, 3)).map(Fraction))),
        X2=[[key, *value] for key, value in zip(keys, values, strict=True)],
        W_Q=rows("1"),
        W_K=rows("1; 0; 0"),
        W_V=rows("0 0; 1 0; 0 1"),
        scale=draw(st.sampled_from(("none", "sqrt_dk", Fraction(1, 2)))),
        rounding=draw(st.sampled_from(ROUNDINGS)),
        decimals=decimals,
    )


# -- what is compared ----------------------------------------------------------------------------


def check_everything(asked: Asked) -> None:
    """Compare steps, texts, values and connections with the oracle's."""
    full = exact_values(*asked.by_hand())
    assume(not is_nearly_tied(asked, full, WITHIN_EXACT))
    solution, by_hand = asked.solved(), as_shown(full, asked.decimals)
    steps = as_carried(full, asked.rounding, asked.decimals)
    assert {step.name: solution.shown(step.name) for step in solution.steps} == by_hand
    if asked.rounding == "each-step":
        check_carried(solution, by_hand)
    else:
        check_values(asked, solution, steps)
    if asked.rounding == "each-step" or can_be_ranked_in_floats(asked, steps):
        found = [(ranked.most, ranked.second) for ranked in solution.connections]
        assert found == connections_by_hand(steps["A"], by_hand["A"])
    assert [ranked.output for ranked in solution.connections] == list(range(len(asked.X1)))


def is_nearly_tied(asked: Asked, full: dict[str, Rows], within: Fraction) -> bool:
    """Return whether a value lies just below a tie without being one, as 1 / (2 + e^-60) does."""
    unit = Fraction(1, 10**asked.decimals)
    values = (abs(value) for matrix in full.values() for row in matrix for value in row)
    return any(BLUR < unit / 2 - value % unit < within for value in values)


def can_be_ranked_in_floats(asked: Asked, steps: dict[str, Rows]) -> bool:
    """Return whether float64 keeps ties, and no weights are about as near as what counts as one."""
    sizes = sizes_of_terms(asked, steps)
    Q, K = (np.abs(np.array(steps[name], dtype=float)) for name in "QK")
    errors = 1e-15 * (sizes["Q"] @ K.T + Q @ sizes["K"].T)
    differences = (abs(a - b) / max(a, b, BLUR) for row in steps["A"] for a in row for b in row)
    return errors.max() < SAME / 10 and not any(SAME / 10 < x < SAME * 10 for x in differences)


def check_carried(solution: Solution, by_hand: dict[str, list[list[str]]]) -> None:
    """With each step rounded, the values are the shown ones and nothing else."""
    for name, matrix in by_hand.items():
        assert solution[name].tolist() == [[float(text) for text in row] for row in matrix], name


def check_values(asked: Asked, solution: Solution, steps: dict[str, Rows]) -> None:
    """Values in full are as near as float64 comes: within 1e-12 of the size of their terms."""
    for name, size in sizes_of_terms(asked, steps).items():
        exact = np.array(steps[name], dtype=float)
        assert solution[name].dtype == np.float64
        assert solution[name].shape == exact.shape
        assert (np.abs(solution[name] - exact) <= 1e-12 * size).all(), name
    assert np.allclose(solution["A"].sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (solution["A"] >= 0).all()


def sizes_of_terms(asked: Asked, steps: dict[str, Rows]) -> dict[str, Any]:
    """Return, for each step, the largest its terms could add up to without their signs."""
    X1, X2, W_Q, W_K, W_V = (
        np.abs(np.array(matrix, dtype=float)) for matrix in asked.by_hand()[:5]
    )
    Q, K, V = X1 @ W_Q, X2 @ W_K, X2 @ W_V
    S = Q @ K.T
    sizes = {"Q": Q, "K": K, "V": V, "S": S}
    if "S_scaled" in steps:
        factor = 1 / math.sqrt(K.shape[1]) if asked.scale == "sqrt_dk" else abs(asked.scale)
        S = sizes["S_scaled"] = S * float(factor)
    A = sizes["A"] = 1 + S.max(axis=1, keepdims=True)  # an error of a score is a factor of a weight
    sizes["O"] = A * V.sum(axis=0)
    return sizes


# -- the homework --------------------------------------------------------------------------------

SELF = Asked(
    *[rows("1 -1 0 2; 0 -1 2 1; -2 2 -1 0")] * 2,
    W_Q=rows("0 1; 1 0; -0.5 0; 1 1"),
    W_K=rows("1 -0.5; 0 1; 0.5 -0.5; 1 0.5"),
    W_V=rows("1 0.5; -0.5 0; -1 2; 0.5 -1"),
    scale="none",
    rounding="each-step",
    decimals=2,
    is_self=True,
)
CROSS = Asked(
    X1=rows("-1 1 0; 0 1 0"),
    X2=rows("-1 1; 0 1; 1 1; 2 0"),
    W_Q=rows("0 -1; 1 1; -1 0"),
    W_K=rows("1 0; -1 1"),
    W_V=rows("-1 0 1 2; 1 -1 0 -2"),
    scale="none",
    rounding="each-step",
    decimals=2,
)
SELF_STEPS = {
    "Q": texts("1.00 3.00; -1.00 1.00; 2.50 -2.00"),
    "K": texts("3.00 -0.50; 2.00 -1.50; -2.50 3.50"),
    "V": texts("2.50 -1.50; -1.00 3.00; -2.00 -3.00"),
    "S": texts("1.50 -2.50 8.00; -3.50 -3.50 6.00; 8.50 8.00 -13.25"),
    "A": texts("0.00 0.00 1.00; 0.00 0.00 1.00; 0.62 0.38 0.00"),
}
CROSS_STEPS = {
    "S": texts("0.00 1.00 2.00 2.00; -1.00 0.00 1.00 2.00"),
    "A": texts("0.05 0.15 0.40 0.40; 0.03 0.09 0.24 0.64"),
}
HOMEWORK = [
    (SELF, "each-step", SELF_STEPS, "-2.00 -3.00; -2.00 -3.00; 1.17 0.21"),
    (SELF, "display", SELF_STEPS, "-1.99 -3.00; -2.00 -3.00; 1.18 0.20"),
    (CROSS, "each-step", CROSS_STEPS, "-0.55 -0.60 1.15 1.10; -1.13 -0.36 1.49 2.26"),
    (CROSS, "display", CROSS_STEPS, "-0.54 -0.60 1.14 1.09; -1.14 -0.36 1.49 2.27"),
]


@pytest.mark.parametrize(("asked", "rounding", "steps", "outputs"), HOMEWORK)
def test_homework_is_right_to_the_digit_under_both_roundings(
    asked: Asked, rounding: str, steps: dict[str, list[list[str]]], outputs: str
) -> None:
    asked = replace(asked, rounding=rounding)
    solution, by_hand = asked.solved(), solve_by_hand(*asked.by_hand())
    for name, expected in {**steps, "O": texts(outputs)}.items():
        assert solution.shown(name) == expected, name
        assert by_hand[name] == expected, f"the oracle's {name}"
    assert [step.name for step in solution.steps] == ["Q", "K", "V", "S", "A", "O"]


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_homework_connections_have_a_second_only_where_one_is_shown(rounding: str) -> None:
    ranked = [(c.most, c.second) for c in SELF.solved(rounding=rounding).connections]
    assert ranked == [((2,), ()), ((2,), ()), ((0,), (1,))]


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_homework_connections_share_first_place_in_a_tie(rounding: str) -> None:
    ranked = [(c.most, c.second) for c in CROSS.solved(rounding=rounding).connections]
    assert ranked == [((2, 3), ()), ((3,), (2,))]


# -- the oracle itself ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [
        ("2.675", 2, "2.68"),
        ("0.125", 2, "0.13"),
        ("-1.005", 2, "-1.01"),
        ("-0.0049", 2, "0.00"),
        ("-0.5", 0, "-1"),
        ("0.4", 0, "0"),
        ("99.995", 2, "100.00"),
        ("1/3", 12, "0.333333333333"),
        ("1234567.5", 1, "1234567.5"),
    ],
)
def test_oracle_rounds_as_people_do(value: str, decimals: int, expected: str) -> None:
    assert shown(Fraction(value), decimals) == expected


def test_the_oracle_has_no_second_without_shown_weight_and_no_first_without_weight() -> None:
    weights = rows("0.6 0.4 0; 0.9 0.004 0.096; 0.99 0.004 0.006; 0.998 0.001 0.001; 0 0 0")
    weights += rows("0.5 0.25 0.25; 0.4 0.4 0.2")
    shown_rows = as_shown({"A": weights}, 2)["A"]
    assert connections_by_hand(weights, shown_rows) == [
        ((0,), (1,)),
        ((0,), (2,)),
        ((0,), (2,)),
        ((0,), ()),
        ((), ()),
        ((0,), (1, 2)),
        ((0, 1), ()),
    ]


# -- every digit ---------------------------------------------------------------------------------


@pytest.mark.slow
@many(400)
@given(short_decimals)
def test_problems_of_short_decimals(asked: Asked) -> None:
    check_everything(asked)


@pytest.mark.slow
@many(300)
@given(fractions)
def test_problems_of_fractions_such_as_a_third(asked: Asked) -> None:
    check_everything(asked)


@many(60)
@given(long_decimals)
def test_problems_of_numbers_with_sixteen_decimals(asked: Asked) -> None:
    check_everything(asked)


def test_products_of_typed_numbers_are_exact_however_near_a_tie() -> None:
    """Q is 1/2 and 1e-32, K is 1 and ∓1e-32, so the scores are 1/2 ∓ 1e-64 exactly."""
    diagonal = rows("1 0; 0 1e-16")
    tokens = rows("1 -1e-16; 1 0; 1 1e-16")
    asked = Asked(rows("0.5 1e-16"), tokens, diagonal, diagonal, diagonal, "none", "display", 0)
    assert asked.solved().shown("S") == [["0", "1", "1"]]
    assert solve_by_hand(*asked.by_hand())["S"] == [["0", "1", "1"]]


@pytest.mark.slow
@many(400)
@given(halfway())
def test_steps_that_end_on_ties(asked: Asked) -> None:
    check_everything(asked)


@pytest.mark.slow
@many(300)
@given(cancelling())
def test_large_terms_that_cancel_down_to_a_tie(asked: Asked) -> None:
    check_everything(asked)


@pytest.mark.slow
@many(400)
@given(shared())
def test_inputs_that_share_a_place(asked: Asked) -> None:
    check_everything(asked)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_equal_scores_of_eight_inputs_show_an_eighth_rounded_up(rounding: str) -> None:
    eight = [[Fraction(i)] for i in range(8)]
    asked = Asked(eight, eight, rows("0"), rows("1"), rows("1"), "sqrt_dk", rounding, 2, True)
    solution = asked.solved()
    assert solution.shown("A") == [["0.13"] * 8] * 8
    assert solution.shown("O") == [["3.50" if rounding == "display" else "3.64"]] * 8
    assert solution.connections[0].most == tuple(range(8))


# -- what must always hold -----------------------------------------------------------------------


@pytest.mark.slow
@many(100)
@given(short_decimals, st.randoms(use_true_random=False))
def test_inputs_in_another_order_move_the_weights_and_keep_the_outputs(
    asked: Asked, chance: Any
) -> None:
    order = list(range(len(asked.X2)))
    chance.shuffle(order)
    moved = replace(asked, X2=[asked.X2[i] for i in order], is_self=False).solved()
    solution = asked.solved()
    assert moved.shown("A") == [[row[i] for i in order] for row in solution.shown("A")]
    assert moved.shown("O") == solution.shown("O")


@many(100)
@given(few_decimals, st.integers(-9, 9))
def test_moving_all_keys_alike_changes_no_weight(asked: Asked, step: int) -> None:
    d_k, d_v = len(asked.W_K[0]), len(asked.W_V[0])
    moved = replace(
        asked,
        X2=[[*token, Fraction(1)] for token in asked.X2],
        W_K=[*asked.W_K, [Fraction(step)] * d_k],
        W_V=[*asked.W_V, [Fraction(0)] * d_v],
        rounding="display",
        is_self=False,
    )
    solution, moved_solution = asked.solved(rounding="display"), moved.solved()
    for name in ("Q", "V", "A", "O"):
        assert moved_solution.shown(name) == solution.shown(name), name


@pytest.mark.slow
@many(100)
@given(halfway())
def test_negated_values_show_the_same_digits_negated(asked: Asked) -> None:
    negated = replace(asked, W_V=[[-x for x in row] for row in asked.W_V]).solved()
    for name in ("V", "O"):
        mirrored = [[_negated(text) for text in row] for row in negated.shown(name)]
        assert mirrored == asked.solved().shown(name), name


def _negated(text: str) -> str:
    return text[1:] if text.startswith("-") else "-" * (text.strip("0.") != "") + text


@pytest.mark.slow
@many(60)
@given(problems(multiples(SHORT), st.integers(0, 12), scales=("sqrt_dk",)))
def test_dividing_by_the_root_of_four_is_a_factor_of_a_half(asked: Asked) -> None:
    four_wide = replace(
        asked,
        W_Q=[(row * 4)[:4] for row in asked.W_Q],
        W_K=[(row * 4)[:4] for row in asked.W_K],
    )
    divided, halved = four_wide.solved(), four_wide.solved(scale=Fraction(1, 2))
    for name in ("S_scaled", "A", "O"):
        assert divided.shown(name) == halved.shown(name), name


@pytest.mark.parametrize("unscaled", ["none", 1, 1.0, "1", Decimal("1.00"), Fraction(1)])
def test_without_scaling_there_is_no_scaled_step(unscaled: Any) -> None:
    names = [step.name for step in CROSS.solved(scale=unscaled).steps]
    assert names == ["Q", "K", "V", "S", "A", "O"]


@pytest.mark.parametrize("scale", [0.3, "0.3", "3/10", Decimal("0.3"), Fraction(3, 10)])
def test_a_factor_means_its_decimal_in_any_form(scale: Any) -> None:
    asked = replace(SELF, scale=Fraction(3, 10), decimals=12)
    expected = solve_by_hand(*asked.by_hand())
    assert {name: asked.solved(scale=scale).shown(name) for name in expected} == expected


def test_connections_and_precise_values_agree_with_the_shown_ones_where_float64_cancels() -> None:
    one = rows("1 0 0; 0 1 0; 0 0 1")
    X1, X2 = rows("100000000 1 -100000000"), rows("100000000 1 100000000; 100000000 0 100000000")
    solution = Asked(X1, X2, one, one, one, "none", "display", 2).solved()
    assert solution.shown("A") == [["0.73", "0.27"]]
    assert solution.connections[0].most == (0,)
    assert np.allclose(solution.precise("A"), [[0.73, 0.27]], rtol=0, atol=0.005)


def test_connections_share_first_place_where_float64_splits_equal_scores() -> None:
    """Both scores are 24497907.3 exactly, and 3.7e-9 apart in float64."""
    one = rows("1 0 0; 0 1 0; 0 0 1")
    nine_tenths = rows("0.9 0 0; 0 0.9 0; 0 0 0.9")
    X1, X2 = rows("1335 2371 4836"), rows("991 3084 3843; 3362 1749 3843")
    solution = Asked(X1, X2, nine_tenths, one, one, "none", "display", 2).solved()
    assert solution.shown("A") == [["0.50", "0.50"]]
    assert solution.connections[0].most == (0, 1)


# -- float64, for large problems -----------------------------------------------------------------


def by_decimal(value: float, decimals: int) -> float:
    """Return the number half-up rounding of the shortest decimal gives."""
    unit = Decimal(1).scaleb(-decimals)
    with localcontext(prec=60):
        return float(Decimal(repr(value)).quantize(unit, rounding=ROUND_HALF_UP))


@many(500)
@given(
    st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 9)), max_size=20),
    st.integers(0, 8),
)
@example([(2675, 3), (125, 3), (-1005, 3), (-1, 3), (-5, 3), (0, 0), (-4, 1)], 2)
@example([(10**9, 0), (999_999_999, 3), (-999_999_995, 3)], 2)
def test_floats_round_as_their_decimals_do(numbers: list[tuple[int, int]], decimals: int) -> None:
    values = [float(Fraction(count, 10**places)) for count, places in numbers]
    values = [value for value in values if abs(value) * 10**decimals < 2**51]
    result = round_floats(np.array(values, dtype=float), decimals).tolist()
    assert result == [by_decimal(value, decimals) for value in values]
    assert all(math.copysign(1, value) == 1 for value in result if value == 0)


@pytest.mark.slow
@many(500)
@given(
    st.lists(st.tuples(st.integers(-(10**6), 10**6), st.integers(0, 8)), min_size=1, max_size=20)
)
def test_floats_on_ties_round_away_from_zero(numbers: list[tuple[int, int]]) -> None:
    for count, decimals in numbers:
        tie = float(Fraction(2 * count + 1, 2 * 10**decimals))
        away = Fraction(count + (count >= 0), 10**decimals)
        assert round_floats(np.array([[tie]]), decimals).tolist() == [[float(away)]]


def test_floats_too_large_to_have_decimals_stay_as_they_are() -> None:
    values = np.random.default_rng(0).uniform(5e3, 1e9, size=1000)
    values[:4] = 2.0**53 + 2, -1e300, 1e15 + 0.5, 4503599627370497.5
    assert round_floats(values, 12).tolist() == values.tolist()


@pytest.mark.parametrize(("value", "decimals"), [(33763573.2, 8), (4457.1, 12), (-4438484478.6, 6)])
def test_floats_with_no_decimals_to_spare_stay_as_they_are(value: float, decimals: int) -> None:
    assert round_floats(np.array([value]), decimals).tolist() == [value]


def test_large_floats_near_a_half_are_not_ties() -> None:
    values = np.array([1e12 + 0.4, 1e12 + 0.5, -1e12 - 0.4, -1e12 - 0.5, 1e9 + 0.498])
    expected = [1e12, 1e12 + 1, -1e12, -1e12 - 1, 1e9]
    assert round_floats(values, 0).tolist() == expected


@pytest.mark.slow
@many(300)
@given(few_decimals | halfway(most_decimals=3))
def test_float64_shows_the_digits_that_exact_arithmetic_shows(asked: Asked) -> None:
    full = exact_values(*asked.by_hand())
    assume(not is_nearly_tied(asked, full, WITHIN_EXACT))
    is_near = is_nearly_tied(asked, full, WITHIN_FLOATS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attncalc.solving.exactness.LARGEST_COST", 0)
        found = asked.solved()
        assume(found.is_proven or not is_near)
        digits = {step.name: found.shown(step.name) for step in found.steps}
    assert digits == as_shown(full, asked.decimals)
    if asked.rounding == "each-step" and not is_near:
        check_carried(found, digits)


@pytest.mark.slow
@pytest.mark.campaign(2)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_three_hundred_tokens_show_the_digits_of_the_oracle(rounding: str) -> None:
    """Attention works row by row, so the oracle computes only a few rows."""
    counts = np.random.default_rng(1).integers(-200, 201, size=(300 + 3 * 4, 4)).tolist()
    X, *weights = (
        [[Fraction(x, 100) for x in row] for row in counts[i:j]]
        for i, j in ((0, 300), (300, 304), (304, 308), (308, 312))
    )
    asked = Asked(X, X, *weights, "sqrt_dk", rounding, 2, is_self=True)
    solution = asked.solved()
    by_hand = solve_by_hand(*replace(asked, X1=X[:3]).by_hand())
    for name, expected in by_hand.items():
        found = solution.shown(name)
        assert len(found) == 300
        assert found[: len(expected)] == expected, name


def test_scores_that_are_all_zero_share_a_hardmax() -> None:
    """Normalized features sum to 0, but for what roots and thirds leave in the last digits."""
    ones, square = [[1], [1], [1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    problem = Problem(
        block="encoder", norm="pre", residual=False, normalizer="hardmax", scale="none",
        X=[[1, 2, 4], [0, 1, 5]], W_Q=[[1], [0], [0]], W_K=ones, W_V=[[1], [2], [0]],
        W_O=[[1, 0, 0]], W_1=square, W_2=square,
    )  # fmt: skip
    assert solve(problem).shown("K") == [["0.00"], ["0.00"]]
    assert solve(problem).shown("A") == [["0.50", "0.50"], ["0.50", "0.50"]]
