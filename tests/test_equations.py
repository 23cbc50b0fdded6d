"""The equations of the library, beside the operations that they state."""

from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest

from attncalc.base.decimals import decimals_of
from attncalc.equations.evaluate import program
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operation import Stated, Statement
from attncalc.equations.operations import distances
from attncalc.equations.operations.angles import RopeScaling, Rotate, Sinusoids
from attncalc.equations.operations.assembling import (
    Add,
    Concat,
    Given,
    Lookup,
    Mean,
    Patches,
    Same,
    Stack,
    TakeRow,
    TokenMean,
)
from attncalc.equations.operations.entrywise import KINDS as EVERY_KIND
from attncalc.equations.operations.entrywise import (
    Activate,
    DivideBySqrt,
    Gate,
    Mask,
    Multiply,
    SoftCap,
)
from attncalc.equations.operations.losses import CrossEntropy, descend, less_one_hot, ones, summed
from attncalc.equations.operations.normalising import (
    DivideBySum,
    FeatureMean,
    FeatureSquares,
    FeatureVariance,
    HardMax,
    HeadsSquares,
    Normalise,
    Softmax,
)
from attncalc.equations.operations.products import (
    AdditiveScores,
    ConcatScores,
    DistanceScores,
    Project,
    Scores,
    Weigh,
)

pytestmark = pytest.mark.campaign(4)

EPS = Fraction(1, 100_000)
TENTH = Fraction(1, 10)
CUBE, HALF = Fraction(44715, 1_000_000), Fraction(1, 2)
SLOPE = Fraction(1702, 1000)
NEWER = ("GELUquick", "GatedGELUquick")
"""Equations that are newer than the recorded work."""


def way_back(operation, to, *shapes):
    """Return what makes the gradient of an input."""
    return operation.way_back(to, shapes).operation


SOFTMAX_BACK = way_back(Softmax(), 0, (3, 4))
IGNORE = Mask(("ignore",), 2)
AHEAD = Mask((), 3, 2, is_causal=False)


def stated(name, given="", **settings):
    """Return an operation of which the library says all there is."""
    return Stated(Statement(name, frozenset(given.split()), settings))


# what is stated, what is given, its settings, the operation, the shapes of its inputs
CASES = [
    ("Project", "", {}, Project(), [(3, 4), (4, 2)]),
    ("Project", "b", {}, Project(), [(3, 4), (2, 4, 2), (2, 1, 2)]),
    ("ProjectTurned", "b", {}, Project(is_turned=True), [(3, 4), (2, 4), (1, 2)]),
    ("Scores", "", {}, Scores(), [(3, 4), (5, 4)]),
    ("Scores", "", {}, Scores(), [(2, 3, 4), (2, 5, 4)]),
    ("GroupedScores", "", {}, Scores(), [(4, 3, 2), (2, 5, 2)]),
    ("Weigh", "", {}, Weigh(), [(3, 5), (5, 2)]),
    ("GroupedWeigh", "", {}, Weigh(), [(4, 3, 5), (2, 5, 2)]),
    ("AdditiveScores", "b", {}, AdditiveScores(), [(3, 2), (4, 2), (1, 2), (1, 2)]),
    ("ConcatScores", "b", {}, ConcatScores(), [(3, 2), (4, 5), (7, 3), (1, 3), (1, 3)]),
    ("DistanceScores", "", {}, DistanceScores(), [(3, 2), (4, 2)]),
    ("DivideBySqrt", "", {"d_k": 3}, DivideBySqrt(3), [(2, 3, 4)]),
    ("DivideBySqrt", "", {"d_k": 4}, DivideBySqrt(4), [(3, 4)]),
    ("Multiply", "", {"factor": Fraction(1, 3)}, Multiply(Fraction(1, 3)), [(3, 4)]),
    ("SoftCap", "", {"cap": Fraction(5)}, SoftCap(Fraction(5)), [(3, 4)]),
    ("Mask", "causal", {"first": 1}, Mask(causal_from=1), [(3, 4)]),
    (
        "Mask",
        "ahead",
        {"first": 2, "window": 2},
        Mask(causal_from=2, window=2, is_causal=False),
        [(5, 5)],
    ),
    ("Mask", "bias", {}, Mask(("bias",)), [(2, 3, 4), (3, 4)]),
    ("Softmax", "", {}, Softmax(), [(2, 3, 4)]),
    ("Softmax", "sink", {}, Softmax(), [(2, 3, 4), (2, 1, 1)]),
    ("HardMax", "", {}, HardMax(), [(3, 4)]),
    ("DivideBySum", "", {}, DivideBySum(), [(3, 4)]),
    ("FeatureMean", "", {}, FeatureMean(), [(3, 4)]),
    ("FeatureVariance", "", {"ddof": 1}, FeatureVariance(1), [(3, 4), (3, 1)]),
    ("FeatureSquares", "", {}, FeatureSquares(), [(3, 4)]),
    ("Add", "more1", {}, Add(), [(3, 4), (1, 4), (3, 4)]),
    ("Concat", "", {}, Concat(), [(2, 3, 4)]),
    ("Mean", "", {}, Mean(), [(2, 3, 4)]),
    ("Stack", "", {}, Stack(), [(2, 4), (3, 4)]),
    ("Same", "", {}, Same(), [(3, 4)]),
    ("TakeFirst", "", {}, TakeRow("first"), [(3, 4)]),
    ("TakeLast", "", {}, TakeRow("last"), [(3, 4)]),
    ("TokenMean", "", {}, TokenMean(), [(3, 4)]),
    ("HalfSquares", "", {}, summed("HalfSquares", (3, 4)), [(3, 4), (3, 4)]),
    ("Total", "", {}, summed("Total", (3, 4)), [(3, 4)]),
    ("TotalProduct", "", {}, summed("TotalProduct", (3, 4)), [(3, 4), (3, 4)]),
    ("Difference", "", {}, stated("Difference"), [(3, 4), (3, 4)]),
    ("Descend", "", {"rate": TENTH}, stated("Descend", rate=TENTH), [(3, 4), (3, 4)]),
    ("TransposedTimes", "", {}, stated("TransposedTimes"), [(3, 4), (3, 2)]),
    ("TimesTransposed", "", {}, stated("TimesTransposed"), [(3, 4), (2, 4)]),
    ("SoftmaxBack", "", {}, SOFTMAX_BACK, [(3, 4), (3, 4)]),
    ("ReLU", "", {}, Activate("relu"), [(3, 4)]),
    ("GELU", "", {}, Activate("gelu"), [(3, 4)]),
    ("GELUtanh", "", {"half": HALF, "cube": CUBE}, Activate("gelu-tanh"), [(3, 4)]),
    ("GELUquick", "", {"slope": SLOPE}, Activate("gelu-quick"), [(3, 4)]),
    ("SiLU", "", {}, Activate("silu"), [(3, 4)]),
    ("Tanh", "", {}, Activate("tanh"), [(3, 4)]),
    ("GatedReLU", "", {}, Gate("relu"), [(3, 4), (3, 4)]),
    ("GatedGELU", "", {}, Gate("gelu"), [(3, 4), (3, 4)]),
    ("GatedGELUquick", "", {"slope": SLOPE}, Gate("gelu-quick"), [(3, 4), (3, 4)]),
    ("GatedSiLU", "", {}, Gate("silu"), [(3, 4), (3, 4)]),
]


def _given(shape, seed, decimals):
    rng = np.random.default_rng(seed)
    whole = rng.integers(-20, 21, shape)
    if not decimals:
        return whole / 8
    return decimals_of(np.asarray([Fraction(int(v), 8) for v in whole.flat], object).reshape(shape))


LARGE = [("Project", "b", {}, Project(), [(3, 40), (4, 40, 80), (4, 1, 80)])]
"""Weights of several heads that are multiplied in one product."""


@pytest.mark.parametrize("decimals", [False, True], ids=["floats", "decimals"])
@pytest.mark.parametrize("case", CASES + LARGE, ids=lambda case: f"{case[0]}-{case[1]}-{case[4]}")
def test_an_equation_has_the_values_of_the_operation_that_it_states(case, decimals):
    name, given, settings, operation, shapes = case
    flags = frozenset(given.split())
    with localcontext() as context:
        context.prec = 60
        matrices = [_given(shape, seed, decimals) for seed, shape in enumerate(shapes)]
        named = dict(zip(inputs_of(name, flags), matrices, strict=True))
        made = program(equation(name, flags))(named, settings)
        expected = operation.apply(*matrices)
        assert made.shape == expected.shape
        assert made.dtype == expected.dtype
        differs = made != expected
        gap = np.abs(made[differs] - expected[differs]).astype(float).max(initial=0)
    assert gap <= (1e-50 if decimals else 1e-12)


# operations that say which equation they are; an input of
# marks, of ids or of numbers above 0 says so before its shape
BASE, TURNS = Fraction(100), {"base": Fraction(100), "offset": Fraction(3, 2)}
KINDS = [kind for kind in EVERY_KIND if kind not in ("relu2", "swish-clamped", "gelu-quick")]
"""The activations whose work is recorded."""
SLOW = [
    RopeScaling("linear", Fraction(4)),
    RopeScaling("llama3", Fraction(8), original=Fraction(30)),
]
NORMS = [
    Normalise(EPS, True, True, True, True),
    Normalise(EPS, False, True, True, False),
    Normalise(EPS, True, False, False, False),
    Normalise(Fraction(0), True, True, False, True),
    Normalise(Fraction(0), True, False, True, False),
]


def _of_norm(norm, *parts):
    shapes = {"X": (3, 4), "mean": (3, 1), "var": ("above 0", (3, 1)), "gain": (1, 4), "G": (3, 4)}
    has = {"mean": norm.is_centred, "gain": norm.has_gain}
    return [shapes[part] for part in parts if has.get(part, True)]


def _normalise(norm):
    return norm, _of_norm(norm, "X", "mean", "var", "gain") + [(1, 4)] * norm.has_bias


def _norm_back(to, norm, *parts):
    """Return the gradient of a normalization in one of its inputs."""
    inputs, shapes = inputs_of("Normalise", norm.statement().given), _normalise(norm)[1]
    plain = [each[-1] if isinstance(each[0], str) else each for each in shapes]
    way = norm.way_back(inputs.index(to), plain) if to in inputs else None
    gain = Stated(norm.statement()._replace(name="GainBack"))
    return (way.operation if way else gain), _of_norm(norm, *parts)


MORE = [
    (Project(is_turned=True), [(3, 4), (5, 4), (1, 5)]),
    (Mask(("keep",), 2), [(4, 5), ("marks", (4, 5))]),
    (Mask(("ignore", "bias"), 1, 2), [(4, 4), ("marks", (4, 4)), (4, 4)]),
    (Mask(("keep", "bias")), [(2, 3, 4), ("marks", (3, 4)), (2, 3, 4)]),
    (way_back(IGNORE, 0, (4, 5), (4, 5)), [(4, 5), ("marks", (4, 5))]),
    (way_back(AHEAD, 0, (2, 5, 5)), [(2, 5, 5)]),
    (Given(), [(3, 4)]),
    (Add(), [(3, 4)] * 4),
    (Multiply(Fraction(3)), [(3, 4)]),
    *[(distances.Alibi(1, heads), [(heads, 3, 4)]) for heads in (4, 3)],
    (distances.Alibi(2), [(3, 5)]),
    (distances.Alibi(4, 2, head=1), [(3, 5)]),
    (distances.Alibi(0, 2, has_own=True), [(2, 3, 4), (2, 1, 1)]),
    (distances.RelativeBias(2, 4, 6), [(3, 6), (1, 4)]),
    (distances.RelativeBias(0, 8, 20, both_ways=True), [(2, 6, 6), (2, 1, 8)]),
    (distances.RelativeBias(0, 4, 6, stands="rows"), [(2, 6, 6), (4, 2)]),
    (distances.RelativeBias(1, 4, 6, stands="columns"), [(2, 6, 6), (2, 4)]),
    (way_back(distances.Alibi(1, has_own=True), 1, (3, 4), (1, 1)), [(3, 4)]),
    (way_back(distances.Alibi(0, 2, has_own=True), 1, (2, 3, 3), (2, 1, 1)), [(2, 3, 3)]),
    (way_back(distances.Alibi(0, has_own=True), 1, (1, 1), (1, 1)), [(1, 1)]),
    (way_back(distances.RelativeBias(1, 4, 6), 1, (5, 6), (1, 4)), [(5, 6)]),
    (way_back(distances.RelativeBias(0, 8, 20, True), 1, (2, 4, 4), (2, 1, 8)), [(2, 4, 4)]),
    (Sinusoids(3), [(3, 5)]),
    *[(Rotate(**TURNS, pairing=way), [(3, 4)]) for way in ("halves", "interleaved")],
    *[
        (Rotate(**TURNS, pairing=way, dims=4, is_back=back), [(2, 3, 6)])
        for way in ("halves", "interleaved")
        for back in (False, True)
    ],
    (Rotate(BASE, Fraction(0), "halves"), [(3, 4), (1, 2)]),
    *[(Rotate(**TURNS, pairing="halves", scaling=each), [(3, 8)]) for each in SLOW],
    (Rotate(**TURNS, pairing="interleaved", scaling=SLOW[1], is_back=True), [(3, 8)]),
    *map(_normalise, NORMS),
    (stated("MeanBack", d=4), [(3, 1)]),
    (stated("VarianceBack", "sample", ddof=1), [(3, 4), (3, 1), (3, 1)]),
    (stated("SquaresBack"), [(3, 4), (3, 1)]),
    *[_norm_back("X", norm, "var", "gain", "G") for norm in NORMS],
    *[
        (Stated(norm.statement()._replace(name="CentreBack")), _of_norm(norm, "var", "gain", "G"))
        for norm in NORMS
    ],
    *[_norm_back("var", norm, "X", "mean", "var", "gain", "G") for norm in NORMS],
    *[_norm_back("gain", norm, "X", "mean", "var", "G") for norm in NORMS],
    (
        NORMS[0].way_back(3, [(2, 3, 4), (2, 3, 1), (2, 3, 1), (1, 4), (1, 4)]).operation,
        [(2, 3, 4), (2, 3, 1), ("above 0", (2, 3, 1)), (2, 3, 4)],
    ),
    *[(Activate(kind).way_back(0, [(3, 4)]).operation, [(3, 4)] * 2) for kind in KINDS],
    *[(Gate(kind).way_back(0, [(3, 4)] * 2).operation, [(3, 4)] * 3) for kind in KINDS],
    *[(Gate(kind), [(3, 4)] * 2) for kind in ("gelu-tanh", "tanh")],
    (way_back(SoftCap(Fraction(5, 2)), 0, (3, 4)), [(3, 4)] * 2),
    (way_back(Softmax(), 1, (2, 3, 4), (2, 1, 1)), [(2, 3, 4)] * 2),
    (way_back(DivideBySum(), 0, (3, 4)), [("above 0", (3, 4)), (3, 4), (3, 4)]),
    (ConcatScores(is_turned=True), [(3, 2), (4, 5), (3, 7), (1, 3)]),
    (AdditiveScores(), [(2, 3, 2), (2, 4, 2), (2, 1, 2)]),
    (stated("TransposedTimes"), [(3, 4), (2, 3, 5)]),
    (stated("TransposedTimes", "grouped", sharing=2), [(4, 3, 4), (4, 3, 5)]),
    (stated("TransposedTimes", "heads", sharing=2), [(2, 3, 4), (2, 3, 5)]),
    (stated("TransposedTimes", "turned"), [(3, 4), (3, 5)]),
    (stated("TimesTransposed", "heads", sharing=2), [(2, 3, 4), (2, 5, 4)]),
    (stated("TimesTransposed", "grouped", sharing=2), [(4, 3, 4), (4, 5, 4)]),
    (stated("TimesTransposed"), [(2, 3, 4), (5, 4)]),
    (stated("SumTo", "rows"), [(3, 4)]),
    (stated("SumTo", "rows heads"), [(2, 3, 4)]),
    (stated("SumTo", "rows"), [(2, 3, 4)]),
    (stated("SumTo", "rows grouped", sharing=2), [(2, 3, 4)]),
    (stated("SumTo", "heads"), [(2, 3, 4)]),
    (stated("SplitHeads", heads=2), [(3, 6)]),
    (stated("ShareAmongHeads", heads=3), [(3, 4)]),
    (stated("TakeRows", start=1, stop=3), [(2, 4, 4)]),
    *[(stated(f"Place{which}", n=3), [(1, 4)]) for which in ("First", "Last")],
    (stated("ShareAmongRows", n=3), [(1, 4)]),
    (stated("GatherRows", v=6, first=1), [("ids", (1, 5)), (5, 3)]),
    (Lookup(1), [("ids", (1, 5)), (6, 3)]),
    (Patches((2, 3)), [(4, 6)]),
    (Patches((2, 3)), [(2, 4, 6)]),
    (Patches((2, 3)).way_back(0, [(4, 6)]).operation, [(4, 6)]),
    (Patches((2, 3)).way_back(0, [(2, 4, 6)]).operation, [(4, 12)]),
    (CrossEntropy((1, 0, 3)), [("above 0", (3, 4))]),
    (less_one_hot((1, 0, 3)), [(3, 4)]),
    (ones((3, 4)), [(3, 4)]),
    (ones((2, 3, 4)), [(2, 3, 4)]),
    *[(each, [(2, 3, 4)]) for each in (summed("Total", (2, 3, 4)), TokenMean())],
    *[(summed(each, (2, 3, 4)), [(2, 3, 4)] * 2) for each in ("HalfSquares", "TotalProduct")],
    (descend(TENTH, (4, 3), is_turned=True, of_heads=False), [(4, 3), (3, 4)]),
    (descend(TENTH, (2, 1, 4), is_turned=False, of_heads=True), [(2, 1, 4), (2, 4)]),
    (ConcatScores(), [(3, 1), (2, 2), (3, 2), (1, 2)]),  # one feature is no row for all
]
ADDED = [
    (Patches((2, 3), ("row", "column", "channel"), down_first=True), [(2, 4, 6)]),
    (Activate("relu2"), [(3, 4)]),
    (Gate("relu2"), [(3, 4)] * 2),
    (way_back(Activate("relu2"), 0, (3, 4)), [(3, 4)] * 2),
    (way_back(Gate("relu2"), 0, (3, 4), (3, 4)), [(3, 4)] * 3),
    (way_back(Activate("gelu-quick"), 0, (3, 4)), [(3, 4)] * 2),
    (way_back(Gate("gelu-quick"), 0, (3, 4), (3, 4)), [(3, 4)] * 3),
    (HeadsSquares(), [(2, 3, 4)]),
    (way_back(HeadsSquares(), 0, (2, 3, 4)), [(2, 3, 4), (2, 3, 1)]),
]
"""Those since the work of others was recorded."""


def matrices_for(shapes, decimals):
    """Return a matrix for each input of an operation."""
    made = []
    for seed, shape in enumerate(shapes):
        kind, shape = shape if isinstance(shape[0], str) else ("", shape)
        matrix = _given(shape, seed, decimals)
        if kind == "marks":
            matrix = matrix > 0
        elif kind == "above 0":
            matrix = abs(matrix) + 1
        elif kind == "ids":
            matrix = _given((1, 5), 0, decimals) * 0 + [[2, 1, 4, 2, 6]]
        made.append(matrix)
    return made


@pytest.mark.campaign(5)
@pytest.mark.parametrize("decimals", [False, True], ids=["floats", "decimals"])
@pytest.mark.parametrize(
    "case", [*MORE, *ADDED], ids=lambda case: f"{type(case[0]).__name__}-{case[1]}"
)
def test_other_equations_have_the_values_of_the_operations_that_they_state(case, decimals):
    operation, shapes = case
    with localcontext() as context:
        context.prec = 60
        matrices = matrices_for(shapes, decimals)
        expected = operation.apply(*matrices)
        found = operation.statement(*(matrix.shape for matrix in matrices))
        if isinstance(operation, distances.Alibi) and not operation.has_own:
            matrices.append(operation.slopes(matrices[0]))
        named = dict(zip(inputs_of(found.name, found.given), matrices, strict=True))
        stating = program(equation(found.name, found.given))
        made = stating({**found.tables, **named}, found.settings)
        assert made.shape == expected.shape
        assert made.dtype == expected.dtype
        differs = made != expected
        gap = np.abs(made[differs] - expected[differs]).astype(float).max(initial=0)
    assert gap <= (1e-50 if decimals else 1e-12)
