"""Ranges of equations, their shapes and sizes, beside the operations that they state."""

import tracemalloc

import numpy as np
import pytest
from test_equations import CASES, EPS

from attncalc.base.types import Range
from attncalc.equations.bound import reach
from attncalc.equations.evaluate import evaluate
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.measure import cost, factors, is_rational, shape
from attncalc.equations.operations.entrywise import KINDS, NUMBERS, Activate
from attncalc.equations.operations.normalising import Normalise
from attncalc.equations.operations.products import Weigh
from attncalc.equations.tree import parse

pytestmark = pytest.mark.campaign(4)

SLACK = 1e-9
GIVEN = {"bias", "keep", "ignore"}
"""What is known exactly where the operation reads it."""


def widened(name, shape, seed, width, low=-2.5, high=2.5):
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(low, high, shape)
    if name in GIVEN:
        return Range.at(matrix)
    return Range.around(matrix, width * rng.random(shape))


def inside(each, rng):
    """Return a point of a range: of its ends, or between them."""
    part = rng.choice([0.0, 0.3, 0.5, 1.0], each.low.shape)
    return each.low + part * (each.high - each.low) if not each.is_point else each.low


def contains(reached, made):
    slack = SLACK * (1 + np.abs(np.nan_to_num(made, neginf=0.0)))
    return (made >= reached.low - slack).all() and (made <= reached.high + slack).all()


def no_looser(made, today):
    ends = [np.nan_to_num(end, neginf=-1e9, posinf=1e9) for end in (*made, *today)]
    slack = SLACK * (1 + np.abs(ends[2]) + np.abs(ends[3]))
    return (ends[0] >= ends[2] - slack).all() and (ends[1] <= ends[3] + slack).all()


@pytest.mark.parametrize("width", [0.005, 0.3, 3.0])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[4]}")
def test_a_range_contains_all_results_and_equals_that_of_the_operation(case, width):
    name, given, settings, operation, shapes = case
    flags = frozenset(given.split())
    names = inputs_of(name, flags)
    stated = equation(name, flags)
    ranges = [
        widened(each, shape, seed, width)
        for seed, (each, shape) in enumerate(zip(names, shapes, strict=True))
    ]
    shares = ("A",) if name == "SoftmaxBack" else ()
    if shares:
        ranges[0] = Range(*(np.clip(end, 0, 1) for end in ranges[0]))
    made = reach(stated, dict(zip(names, ranges, strict=True)), settings, shares)
    today = operation.reach(*ranges)
    assert made.low.shape == today.low.shape
    assert no_looser(made, today)
    rng = np.random.default_rng(1)
    for _ in range(20):
        points = [inside(each, rng) for each in ranges]
        result = evaluate(stated, dict(zip(names, points, strict=True)), settings)
        assert contains(made, result)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[4]}")
def test_an_equation_has_the_measures_of_the_operation_that_it_states(case):
    name, given, settings, operation, shapes = case
    flags = frozenset(given.split())
    stated, names = equation(name, flags), inputs_of(name, flags)
    named = dict(zip(names, shapes, strict=True))
    assert shape(stated, named, settings) == operation.apply(*map(np.ones, shapes)).shape
    assert is_rational(stated, settings) == operation.is_rational
    rng = np.random.default_rng(3)
    for _ in range(4):
        counts = {each: int(rng.integers(1, 6)) for each in names}
        counts |= {"b": 1} if name.startswith("Project") else {}  # a bias is as it was typed
        today = 1 if name == "SoftCap" else operation.factors(*counts.values())
        assert (counts, factors(stated, counts, settings)) == (counts, today)
    products, functions = cost(stated, named, settings)
    today = operation.cost(*shapes)
    assert today[0] / 4 <= products <= 8 * today[0]
    assert today[1] / 3 <= functions <= 3 * today[1]


MORE = {
    "means": ("O[i in n, c in w] = sum(A[i,j] * V[j,c] for j in m)",
              {"A": (3, 5), "V": (5, 2)}, {}),
    "polynomial": ("y[i in n] = X[i] ** 2 * (1 - X[i] / 1000) - X[i]", {"X": (6,)}, {}),
    "cubes": ("y[i in n] = X[i] ** 3 - 2 * X[i] + abs(X[i]) ** 0.5", {"X": (6,)}, {}),
    "waves": ("y[i in n] = sin(X[i]) + cos(Z[i]) ** 2", {"X": (6,), "Z": (6,)}, {}),
    "wave alone": ("y[i in n] = sin(3 * X[i]) * X[i]", {"X": (6,)}, {}),
    "quotient": ("y[i in n] = X[i] / (Z[i] ** 2 + 1) - 1 / Z[i]", {"X": (6,), "Z": (6,)}, {}),
    "chosen": ("y[i in n] = X[i] if X[i] > Z[i] else (-Z[i] if not X[i] == 0 else 7)",
               {"X": (6,), "Z": (6,)}, {}),
    "counted": ("y[i in n] = sum(X[i,j] for j in m if X[i,j] >= 0 and j != 1)", {"X": (3, 4)}, {}),
    "largest": ("y[i in n] = max(X[i,j] for j in m) - min(X[i,0], 1)", {"X": (3, 4)}, {}),
    "attention": (
        "O[i in n, c in w] = sum(softmax(sum(Q[i,e] * K[k,e] for e in d) if k <= i else -inf"
        " for k in m)[j] * V[j,c] for j in m)",
        {"Q": (4, 2), "K": (4, 2), "V": (4, 2)},
        {},
    ),
    "shifted": ("Y[i in n, c in d] = sum(X[i - s,c] * w[s,c] if i - s >= 0 else 0 for s in k)",
                {"X": (5, 2), "w": (3, 2)}, {}),
    "recurrence": (
        "M[t in n, a in d] = exp(-g[t]) * (M[t - 1,a] if t > 0 else 0) + X[t,a] ** 2",
        {"g": (4,), "X": (4, 2)},
        {},
    ),
    "two sinks": ("A[i in n, j in m] = softmax((X[i,k] for k in m), a[0], b[0])[j]",
                  {"X": (2, 3), "a": (1,), "b": (1,)}, {}),
    "powers of sizes": ("y[i in n] = X[i] ** -1 * X[i] ** k", {"X": (6,)}, {"k": 4}),
}  # fmt: skip


@pytest.mark.parametrize("width", [0.005, 0.3, 3.0])
@pytest.mark.parametrize("what", MORE)
def test_the_range_of_an_own_equation_contains_all_results(what, width):
    text, shapes, settings = MORE[what]
    own, rng = parse(text), np.random.default_rng(2)
    exact = {"none", *list(shapes)[1:2]} if width == 0.3 else {"none"}
    ranges = {
        name: Range.at(rng.uniform(-2, 2, each)) if name in exact
        else Range.around(rng.uniform(-2, 2, each), width * rng.random(each))
        for name, each in shapes.items()
    }  # fmt: skip
    made = reach(own, ranges, settings)
    for _ in range(60):
        points = {name: inside(each, rng) for name, each in ranges.items()}
        assert contains(made, evaluate(own, points, settings))


@pytest.mark.parametrize(
    ("text", "low", "high", "expected"),
    [
        ("X[i] * (1 - X[i])", 0.0, 0.8, (0.0, 0.25)),
        ("X[i] ** 2 * (1 - X[i] / 1000)", 0.0, 900.0, (0.0, 4e6 / 27)),
        ("sin(X[i])", 0.0, 3.0, (0.0, 1.0)),
        ("cos(X[i])", 1.0, 7.0, (-1.0, 1.0)),
        ("cos(X[i])", 1.0, 2.0, (np.cos(2), np.cos(1))),
        ("silu(X[i])", -5.0, 0.0, (-0.27846454276107379, 0.0)),
        ("gelu(X[i] + 1)", -5.0, -1.0, (-0.16997120747990369, 0.0)),
        ("X[i] - X[i]", -5.0, 3.0, (0.0, 0.0)),
        ("X[i] ** 4 - X[i] ** 2", -1.0, 2.0, (-0.25, 12.0)),
        ("X[i] * sigmoid(X[i]) - 1", -np.inf, 2.0, (-np.inf, 2 / (1 + np.exp(-2)) - 1)),
    ],
)
def test_the_range_of_a_function_that_turns_is_tight(text, low, high, expected):
    made = reach(parse(f"y[i in n] = {text}"), {"X": Range(np.array([low]), np.array([high]))})
    assert (made.low[0], made.high[0]) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("kind", ["relu", "gelu", "gelu-tanh", "gelu-quick", "silu"])
def test_ranges_of_activations_are_those_of_their_least_value(kind):
    stated = KINDS[kind].equation
    rng = np.random.default_rng(4)
    middle = rng.uniform(-4, 4, (20, 10))
    given = Range.around(middle, rng.uniform(0, 3, (20, 10)))
    made, today = reach(equation(stated), {"X": given}, NUMBERS), Activate(kind).reach(given)
    assert np.allclose(made.low, today.low, atol=1e-9)
    assert np.allclose(made.high, today.high, atol=1e-9)


@pytest.mark.parametrize("spread", [0.005, 0.1, 0.6])
def test_weights_that_sum_to_1_have_the_range_of_the_operation(spread):
    rng = np.random.default_rng(5)
    weights = Range.around(rng.dirichlet(np.ones(5), (2, 3)), spread)
    values = Range.around(rng.normal(size=(2, 5, 4)), 0.1)
    made = reach(equation("Weigh"), {"A": weights, "V": values}, shares=("A",))
    today = Weigh(of_shares=True).reach(weights, values)
    assert no_looser(made, today)
    assert no_looser(today, made) or spread == 0.6


def test_exact_values_stay_points():
    X = np.random.default_rng(6).normal(size=(3, 4))
    for name in ("Softmax", "HardMax", "GELU", "FeatureSquares"):
        stated = equation(name)
        read = stated.reads[0]
        made = reach(stated, {read: Range.at(X)})
        assert made.is_point
        assert (made.low == evaluate(stated, {read: X})).all()


def test_a_normalised_row_has_the_range_of_the_operation():
    rng = np.random.default_rng(7)
    flags = frozenset({"mean", "eps", "inside", "gain", "bias"})
    shapes = [(3, 4), (3, 1), (3, 1), (1, 4), (1, 4)]
    ranges = [Range.around(rng.normal(size=each), 0.05) for each in shapes]
    ranges[2] = Range(*(np.abs(ranges[2].middle) + add for add in (0.0, 0.1)))
    operation = Normalise(EPS, is_centred=True, has_gain=True, has_bias=True)
    names = inputs_of("Normalise", flags)
    made = reach(equation("Normalise", flags), dict(zip(names, ranges, strict=True)), {"eps": EPS})
    assert no_looser(made, operation.reach(*ranges))


def test_a_product_of_long_ranges_needs_no_array_of_all_its_terms():
    rng = np.random.default_rng(8)
    Q, K = (Range.around(rng.normal(size=(256, 128)), 0.01) for _ in range(2))
    tracemalloc.start()
    reach(equation("Scores"), {"Q": Q, "K": K})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 * 256 * 256 * 8


def test_measures_of_equations_with_sizes_and_recurrences():
    scaled = parse("S[i in n, j in m] = sum(Q[i,c] * K[j,c] for c in d) / sqrt(d)")
    assert is_rational(scaled, {"d": 4})
    assert not is_rational(scaled, {"d": 3})
    assert not is_rational(scaled)
    assert factors(scaled, {"Q": 2, "K": 3}) == 5
    assert shape(scaled, {"Q": (2, 1, 3, 4), "K": (5, 6, 4)}) == (2, 5, 3, 6)
    assert cost(scaled, {"Q": (3, 4), "K": (6, 4)}) == (3 * 6 * 4 + 3 * 6, 0)
    decayed = parse("M[t in n] = g[t] * (M[t - 1] if t > 0 else 0) + X[t] ** 2")
    assert factors(decayed, {"g": 1, "X": 1}, steps=8) == 9
    fused = parse("A[i in n, j in m] = softmax(sum(Q[i,c] * K[k,c] for c in d) for k in m)[j]")
    assert factors(fused, {"Q": 2, "K": 3}) == 5
    assert factors(parse("y[i in n] = X[i] / 2 + t * X[i]"), {}, {"t": 2}) == 2
