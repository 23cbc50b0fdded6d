"""Digits proven by error bounds, beside exact decimals and fractions."""

import json
from dataclasses import replace
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from conftest import some_of
from test_equations import ADDED, CASES, MORE

from attncalc import InputError, Problem
from attncalc.base.decimals import Digits, decimals_of
from attncalc.base.rounding import half_away, round_decimals
from attncalc.equations import near as near_numbers
from attncalc.equations.evaluate import FUNCTIONS
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.near import OF_FUNCTIONS, Near, nearest_digits
from attncalc.equations.operations.distances import Alibi
from attncalc.equations.proven import Stage, UnprovenError, prove
from attncalc.equations.tree import parse
from attncalc.problem.samples import sample
from attncalc.problem.step import run
from attncalc.reading import read_problem
from attncalc.solving import proving
from attncalc.solving import solution as solutions
from attncalc.solving.exactness import needed_digits
from attncalc.solving.proving import stages
from attncalc.solving.solution import given_in_decimals, solve
from attncalc.writing.sentences import notes

pytestmark = pytest.mark.campaign(4)

GUARD = 60
EXACTLY = Digits(500, GUARD)


def _exactly():
    return localcontext(EXACTLY.context)


KINDS = {
    "ties": lambda rng: Fraction(int(rng.integers(-40, 41)), 20),
    "cents": lambda rng: Fraction(int(rng.integers(-300, 301)), 100),
    "zeros": lambda rng: Fraction(int(rng.integers(-1, 2)), 2),
    "long": lambda rng: Fraction(repr(float(rng.normal()))),
    "thirds": lambda rng: Fraction(int(rng.integers(-20, 21)), 6),
    "wide": lambda rng: int(rng.integers(-99, 100)) * Fraction(10) ** int(rng.integers(-9, 5)),
    "large": lambda rng: Fraction(int(rng.integers(-9999, 10000)), 8),
    "cancelling": lambda rng: (
        Fraction(int(rng.choice([-1, 1]))) * (10**9 + Fraction(int(rng.integers(0, 9)), 1000))
    ),
    "tiny": lambda rng: Fraction(int(rng.integers(-99, 100)), 10**12),
}  # fmt: skip
"""Numbers that are hard on digits: ties, cancellation, huge and tiny ones."""


def drawn(kind, shape, rng):
    """Return a matrix of numbers as typed."""
    each = [KINDS[kind](rng) for _ in range(int(np.prod(shape)))]
    return np.array([*each, None], object)[:-1].reshape(shape)


def exact_digits(value, decimals, guard=GUARD):
    """Return the shown digits of an exact value."""
    if not value.is_finite():
        return float(value)
    with localcontext(Context(prec=2000, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        return half_away(value.quantize(Decimal(1).scaleb(-guard)), decimals)


def assert_proven(made, exact, decimals, guard=GUARD, dust=350):
    """Check every bound and every digit of a matrix; exact decimals of thirds have dust."""
    values, errors, shown = made.value.values, made.value.errors, made.digits
    assert values.shape == exact.shape
    with localcontext(Context(prec=2000, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        for place in np.ndindex(exact.shape):
            want = exact[place]
            if not want.is_finite():
                assert values[place] == want
            elif np.isfinite(errors[place]):
                apart = abs(Decimal(float(values[place])) - want)
                assert apart <= Decimal(float(errors[place])) + Decimal(1).scaleb(-dust)
            digits = exact_digits(want, decimals, guard)
            assert Decimal(repr(float(shown[place]))) == digits, (place, want)


def proof(stage, given, decimals=2):
    return prove([stage], given, decimals, lambda: EXACTLY)[stage.name]


def _cases():
    for name, given, settings, operation, shapes in CASES:
        flags = frozenset(given.split())
        yield name, operation, shapes, Stage("Y", equation(name, flags), {}, settings), flags
    for operation, shapes in (*MORE, *ADDED):
        bare = [each[1] if isinstance(each[0], str) else each for each in shapes]
        if isinstance(operation, Alibi) and not operation.has_own:
            continue
        found = operation.statement(*bare)
        stage = Stage("Y", equation(found.name, found.given), {}, found.settings, found.tables)
        yield found.name, operation, shapes, stage, found.given


ALL = list(_cases())


def _matrices(shapes, kind, rng):
    made = []
    for shape in shapes:
        role, shape = shape if isinstance(shape[0], str) else ("", shape)
        matrix = drawn(kind, shape, rng)
        if role == "marks":
            matrix = matrix > 0
        elif role == "above 0":
            matrix = abs(matrix) + 1
        elif role == "ids":
            matrix = np.array([[Fraction(k) for k in (2, 1, 4, 2, 6)]], object)
        made.append(matrix)
    return made


def _has_long_numbers(exact, decimals):
    """Return whether a float cannot hold the digits of a matrix."""
    return max(abs(x) for x in exact.flat if x.is_finite()) * 10**decimals > 10**14


def check_operation(case, kind, seed):
    name, operation, shapes, stage, flags = case
    rng = np.random.default_rng(seed)
    matrices = _matrices(shapes, kind, rng)
    with _exactly():
        typed = [m if m.dtype == bool else decimals_of(m) for m in matrices]
        try:
            exact = operation.apply(*typed)
        except (InputError, ArithmeticError, ValueError):
            return  # a sum of 0 to divide by, the logarithm of a negative number
    names = inputs_of(name, flags)
    stage = stage._replace(inputs=dict(zip(names, names, strict=True)))
    for decimals in (0, 2, 5):
        given = dict(zip(names, matrices, strict=True))
        try:
            made = proof(stage, given, decimals)
        except UnprovenError:
            assert _has_long_numbers(exact, decimals)
            continue
        assert_proven(made, exact, decimals)


@pytest.mark.campaign(14)
@pytest.mark.parametrize("case", ALL, ids=lambda case: f"{case[0]}-{case[2]}")
def test_bounds_and_digits_of_an_operation(case):
    for seed, kind in enumerate(("ties", "long")):
        check_operation(case, kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_bounds_and_digits_of_all_operations(kind, seed):
    for number, case in enumerate(ALL):
        check_operation(case, kind, 1000 * seed + number)


def check_problem(problem):
    """Check bounds and digits of all steps of a problem against its exact decimals."""
    solution = solve(problem)
    given = dict(problem.given_as_typed)
    steps = stages(problem, solution.plan, given)
    assert solution.is_exact
    each_step = problem.rounding == "each-step" and problem.A is None
    guard = solution._digits.guard
    digits = solution._digits
    made = prove(steps, given, problem.decimals, lambda: digits, each_step=each_step)
    for step in solution.plan:
        exact = np.asarray(solution.exact[step.name])
        shown = np.asarray(solution.digits[step.name])
        assert_proven(made[step.name], exact, problem.decimals, guard, guard)
        own = np.vectorize(lambda x: Decimal(repr(float(x))))
        assert (own(made[step.name].digits) == shown).all()
    return made


@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize(
    "name", ["self", "encoder", "gradients", "gpt", "vit", "masks", "softmax", "rope"]
)
def test_samples_have_the_digits_of_exact_decimals(name, rounding):
    check_problem(replace(read_problem(sample(name).path), rounding=rounding))


def _problem(rng, kind):
    n, d = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    weights = {f"W_{each}": drawn(kind, (d, d), rng).tolist() for each in "QKV"}
    return Problem(
        X=drawn(kind, (n, d), rng).tolist(),
        **weights,
        decimals=int(rng.integers(0, 8)),
        rounding=str(rng.choice(["display", "each-step"])),
        causal=bool(rng.integers(0, 2)),
        normalizer=str(rng.choice(["softmax", "softmax", "softmax", "hardmax"])),
        scale=str(rng.choice(["sqrt_dk", "none"])),
    )


@pytest.mark.parametrize("seed", some_of(300))
def test_random_problems_have_the_digits_of_exact_decimals(seed):
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["ties", "cents", "zeros", "long", "thirds", "large"]))
    problem = _problem(rng, kind)
    try:
        check_problem(problem)
    except UnprovenError:
        exact = solve(problem).exact.values()
        assert any(_has_long_numbers(each, problem.decimals) for each in exact)


@pytest.mark.parametrize("name", ["exp", "tanh", "sin", "cos", "log", "erf"])
def test_functions_of_this_machine_are_within_half_of_the_assumed_error(name):
    rng = np.random.default_rng(2)
    x = rng.uniform(*{"exp": (-700, 700), "log": (1e-3, 9)}.get(name, (-9, 9)), 400)
    with localcontext(Context(prec=60)):
        exact = FUNCTIONS[name](np.array([Decimal(float(each)) for each in x], object))
        for value, true in zip(FUNCTIONS[name](x).tolist(), exact, strict=True):
            assert abs(Decimal(value) - true) <= abs(true) * Decimal(OF_FUNCTIONS) / 2


def test_only_a_tie_is_undecided():
    values = np.array([0.125, 0.1250000001, 0.12, -0.125, 1e300, np.inf, np.nan])
    errors = np.array([1e-17, 1e-14, 0.004, 1e-16, 1e284, 0.0, 0.0])
    assert nearest_digits(Near(values, errors), 2)[1].tolist() == [0, 3, 4, 6]


def test_floats_mean_their_shortest_decimals():
    matrix = Near.typed(np.array([[0.1, 2.675], [-1.005, 3.0]]))
    assert matrix.unit == Fraction(1, 1000)
    assert matrix.whole.tolist() == [[100, 2675], [-1005, 3000]]


def test_products_of_whole_multiples_have_no_error():
    rng = np.random.default_rng(0)
    X, W = (rng.integers(-300, 301, (40, 40)) / 100 for _ in range(2))
    stage = Stage("Y", equation("Project"), {"X": "X", "W": "W"})
    made = proof(stage, {"X": X, "W": W})
    whole = (np.rint(X * 100).astype(int) @ np.rint(W * 100).astype(int)).tolist()
    for row, own in zip(whole, np.rint(made.digits * 100).tolist(), strict=True):
        for k, digits in zip(row, own, strict=True):
            assert digits == (abs(k) + 50) // 100 * (1 if k > 0 else -1)
    assert made.opened == 0


def test_an_irrational_tie_is_reported():
    # sqrt(2) ** 2 / 16 is 0.125, which no number of digits shows
    stage = Stage("Y", parse("Y[i in n] = sqrt(X[i]) ** 2 / 16"), {"X": "X"})
    made = proof(stage, {"X": np.array([2.0, 3.0])})
    assert (made.digits.tolist(), made.ties, made.opened) == ([0.13, 0.19], ((0,),), 1)


def test_an_entry_is_decided_with_as_many_digits_as_it_needs():
    # 1 / 8 and 1e-40, 1e-55 more or less
    stage = Stage("Y", parse("Y[i in n] = sqrt(2) * sqrt(2) / 16 + X[i]"), {"X": "X"})
    X = np.array([Decimal("1e-40"), Decimal("-1e-40"), Decimal("-1e-55")])
    made = proof(stage, {"X": X})
    assert (made.digits.tolist(), made.ties, made.opened) == ([0.13, 0.12, 0.12], (), 3)


def test_a_recurrence_is_proven():
    text = "M[t in n, a in d] = exp(-g[t]) * (M[t - 1,a] if t > 0 else 0) + X[t,a] ** 2"
    stage = Stage("M", parse(text), {"X": "X", "g": "g"})
    rng = np.random.default_rng(3)
    X, g = drawn("ties", (6, 3), rng), drawn("ties", (6,), rng)
    g[:3] = Fraction(0)  # squares of ties, added up
    made = proof(stage, {"X": X, "g": g})
    with _exactly():
        row, rows = [Decimal(0)] * 3, []
        for x, decay in zip(decimals_of(X), decimals_of(g), strict=True):
            row = [(-decay).exp() * m + each * each for m, each in zip(row, x, strict=True)]
            rows.append(row)
    assert_proven(made, np.array(rows, object), 2)


def _shrinking(function):
    """Return a function whose bounds are too small by far."""

    def shrunk(*given, **named):
        made = function(*given, **named)
        return Near(made.values, made.errors * 1e-3)

    return shrunk


BROKEN = {
    "Scores": lambda patch: patch.setitem(
        near_numbers._UFUNCS, np.matmul, _shrinking(near_numbers._UFUNCS[np.matmul])
    ),
    "Softmax": lambda patch: patch.setattr(
        near_numbers, "_softmax", _shrinking(near_numbers._softmax)
    ),
    "GELU": lambda patch: patch.setattr(
        near_numbers.NearFrame, "function", _shrinking(near_numbers.NearFrame.function)
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_bound_that_is_too_small_is_caught(name, monkeypatch):
    cases = [case for case in ALL if name in case[0]]
    BROKEN[name](monkeypatch)
    pairs = [(case, seed) for case in cases for seed in range(20)]
    with pytest.raises(AssertionError):
        any(check_operation(case, "long", seed) for case, seed in pairs)


@pytest.fixture
def too_large(monkeypatch):
    """Make every problem too large for exact decimals."""
    monkeypatch.setattr(solutions, "digits_for", lambda *_: None)


def _larger(rng, rounding, **fields):
    """Return a problem that is too large for exact decimals."""
    numbers = {"X": (90, 3), "W_Q": (3, 3), "W_K": (3, 3), "W_V": (3, 3)}
    given = {name: rng.integers(-200, 201, shape) / 100 for name, shape in numbers.items()}
    return Problem(**given, rounding=rounding, **fields)


@pytest.mark.campaign(8)
@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("rounding", ["display", "each-step"])
@pytest.mark.parametrize(
    "problem",
    [
        *(sample(name).path for name in ("encoder", "gradients", "gpt", "vit", "masks", "rope")),
        {"heads": 3},
        {"causal": True, "normalizer": "hardmax", "decimals": 4},
    ],
    ids=str,
)
def test_digits_equal_exact_decimals_where_these_are_too_slow(problem, rounding):
    if isinstance(problem, dict):
        problem = _larger(np.random.default_rng(4), rounding, **problem)
    else:
        problem = replace(read_problem(problem), rounding=rounding)
    solution = solve(problem)
    assert not solution.is_exact
    assert solution.is_proven
    digits = needed_digits(problem, solution.plan)
    after = partial(round_decimals, decimals=problem.decimals, guard=digits.guard)
    rounds = rounding == "each-step" and problem.A is None
    with localcontext(digits.context):
        exact = run(solution.plan, given_in_decimals(problem), after if rounds else None)
        for name, matrix in exact.items():
            own = np.vectorize(repr, otypes=[object])(solution.digits[name].astype(object))
            assert (np.vectorize(Decimal, otypes=[object])(own) == after(matrix)).all()


TIED = {
    "Q": [[0.3, -0.2], [0.1, 0.7]],
    "K": [[0.5, 0.1], [-0.4, 0.2], [0.9, 0.3]],
    "V": [[0.125, 0.3], [0.125, 0.1], [0.125, -0.7]],
}
"""Of which outputs begin with 0.125, as every mean of 0.125 is: no number of digits shows that."""


@pytest.mark.usefixtures("too_large")
def test_an_irrational_value_that_ties_is_reported():
    solution = solve(Problem(**TIED))
    assert solution.digits["O"][:, 0].tolist() == [0.13, 0.13]
    assert solution.undecided == {"O": ((0, 0), (1, 0))}
    (note,) = (note.text for note in notes(solution) if note.step == "O")
    assert note.endswith("to decide, rounded away from zero: O[1,1] and 1 more")


@pytest.mark.usefixtures("too_large")
def test_a_tie_of_exact_decimals_is_not_reported():
    solution = solve(Problem(Q=[[0]], K=[[1]] * 8, V=[[2]] * 8))
    assert solution.digits["A"].tolist() == [[0.13] * 8]
    assert not solution.undecided


@pytest.mark.usefixtures("too_large")
def test_digits_that_need_too_much_work_are_those_of_floats(monkeypatch):
    monkeypatch.setattr(proving, "MOST_WORK", 100)
    solution = solve(Problem(**TIED))
    assert not solution.is_proven
    assert solution.digits["O"][0, 0] == 0.13
    assert any("come from float64" in note.text for note in notes(solution))


def test_programs_that_show_no_digits_have_none_proven(monkeypatch, attncalc, tmp_path):
    monkeypatch.setattr(proving, "prove", None)
    problem = _larger(np.random.default_rng(4), "display")
    assert solve(problem)["O"].shape == (90, 3)
    np.savez(tmp_path / "in.npz", **{name: problem.given[name] for name in problem.names})
    assert attncalc("self", "in.npz", "-o", "out.npz").code == 0


@pytest.mark.slow
@pytest.mark.usefixtures("too_large")
def test_a_page_states_what_is_proven_and_is_read_back(attncalc, tmp_path):
    (tmp_path / "in.json").write_text(json.dumps(TIED), encoding="utf-8")
    page = attncalc("cross", "in.json", "--work", "--format", "markdown", "-o", "page.md")
    assert page.code == 0
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "every result is proven; numbers within its work come from float64" in text
    assert "too near to a half to decide" in text
    assert "too large for exact decimals" not in text
    assert attncalc("check", "in.json", "page.md").code == 0


@pytest.mark.usefixtures("too_large")
def test_digits_of_float32_are_those_of_the_shortest_decimals():
    problem = Problem(**{name: np.float32(matrix) for name, matrix in TIED.items()})
    assert problem.dtype == np.float32
    solution = solve(problem)
    assert solution.is_proven
    expected = solve(Problem(**TIED))
    assert all((solution.digits[name] == expected.digits[name]).all() for name in expected.digits)
