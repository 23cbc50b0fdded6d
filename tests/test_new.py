"""New problems are what is wished for: asked of the oracle, which shares no code with us."""

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command, mostly_slow, some_of
from oracle import as_shown, exact_values, solve_by_hand

from attncalc import InputError, new, read_problem, solve
from attncalc.making.asking import recipe, wishes_of
from attncalc.making.maker import make
from attncalc.making.siblings import wishes_like
from attncalc.problem.samples import GROUPS, sample

pytestmark = pytest.mark.campaign(4)

HALF = Fraction(1, 2)
STEPS = ("Q", "K", "V", "S", "A", "O")


def rows(matrix: Any) -> list[list[Fraction]]:
    return [[Fraction(str(value)) for value in row] for row in matrix]


def given(problem: dict[str, Any]) -> tuple[Any, ...]:
    X1, X2 = (problem.get("X1", problem.get("X")), problem.get("X2", problem.get("X")))
    return tuple(map(rows, (X1, X2, problem["W_Q"], problem["W_K"], problem["W_V"])))


def made(attncalc: Command, *flags: str) -> dict[str, Any]:
    run = attncalc("new", *flags)
    assert run.code == 0, run.err
    problem: dict[str, Any] = json.loads(run.out)
    return problem


def distance(value: Fraction, decimals: int) -> Fraction:
    """Return how far a value is from the middle between two roundings, in last digits."""
    return abs(abs(value) * 10**decimals % 1 - HALF)


@pytest.mark.campaign(3)
@pytest.mark.parametrize("seed", some_of(60))
@pytest.mark.parametrize("rounding", ["display", "each-step"])
def test_no_value_is_near_a_boundary_no_score_large_and_nothing_ties(
    seed: int, rounding: str, attncalc: Command
) -> None:
    problem = made(attncalc, "--seed", str(seed), "--rounding", rounding, "--no-scale")
    exact = exact_values(*given(problem), "none", rounding, 2)
    for step in STEPS:
        for row in exact[step]:
            assert all(distance(value, 2) > Fraction(1, 100) for value in row), step
    assert max(abs(value) for row in exact["S"] for value in row) <= 15
    shown = as_shown({"A": exact["A"]}, 2)["A"]
    for values, texts in zip(exact["A"], shown, strict=True):
        assert sum(value == max(values) for value in values) == 1
        assert sum(float(text) == max(map(float, texts)) for text in texts) == 1
    assert {float(text) for row in shown for text in row} - {0.0, 1.0}


@pytest.mark.campaign(4)
@pytest.mark.parametrize("seed", some_of(30))
def test_both_roundings_have_the_same_digits(seed: int, attncalc: Command) -> None:
    problem = made(attncalc, "--seed", str(seed), "--same-digits")
    one, other = (
        solve_by_hand(*given(problem), "sqrt_dk", rounding, 2)
        for rounding in ("display", "each-step")
    )
    assert {step: one[step] for step in STEPS} == {step: other[step] for step in STEPS}


@pytest.mark.parametrize("seed", some_of(30))
def test_each_common_mistake_changes_a_digit(seed: int, attncalc: Command) -> None:
    problem = made(attncalc, "--seed", str(seed), "--tokens", "3", "--d", "4")
    X, _, W_Q, W_K, W_V = given(problem)

    def shown(scale: str, *weights: Any) -> Any:
        return solve_by_hand(X, X, *weights, scale, "display", 2)

    right = shown("sqrt_dk", W_Q, W_K, W_V)
    assert [list(each) for each in zip(*right["S"], strict=True)] != right["S"]
    assert shown("none", W_Q, W_K, W_V)["A"] != right["A"]
    for other in ((W_K, W_Q, W_V), (W_V, W_K, W_V)):
        assert shown("sqrt_dk", *other)["Q"] != right["Q"]
    assert shown("sqrt_dk", W_Q, W_V, W_V)["K"] != right["K"]


@pytest.mark.parametrize("seed", some_of(12))
def test_ties_and_second_lines_are_as_many_as_wished(seed: int, attncalc: Command) -> None:
    problem = made(attncalc, "--seed", str(seed), "--ties", "1", "--second-lines", "1")
    exact = exact_values(*given(problem), "sqrt_dk", "display", 2)["A"]
    shown = as_shown({"A": exact}, 2)["A"]
    most = [[value == max(row) for value in row] for row in exact]
    assert sum(sum(row) > 1 for row in most) == 1
    dashed = [
        sum(row) == 1 and any(float(t) and not m for t, m in zip(texts, row, strict=True))
        for row, texts in zip(most, shown, strict=True)
    ]
    assert sum(dashed) == 1


def test_requested_sizes_numbers_and_conventions_are_met(attncalc: Command) -> None:
    flags = ("--kind", "cross", "--tokens", "2", "--keys", "4", "--d", "3", "--d-keys", "5")
    more = ("--d-k", "2", "--d-v", "1", "--entries", "-1:1:1/2", "--also", "b_Q", "--decimals", "3")
    problem = made(attncalc, *flags, *more, "--labels", "a,b,c,d,e,f", "--title", "Ours")
    shapes = {n: (len(m), len(m[0])) for n, m in problem.items() if n[:2] in ("X1", "X2", "W_")}
    wanted = {"X1": (2, 3), "X2": (4, 5), "W_Q": (3, 2), "W_K": (5, 2), "W_V": (5, 1)}
    assert shapes == wanted
    assert len(problem["b_Q"]) == 2
    assert problem["labels"] == {"X1": ["a", "b"], "X2": ["c", "d", "e", "f"]}
    assert (problem["title"], problem["decimals"]) == ("Ours", 3)
    numbers = {Fraction(str(v)) for name in wanted for row in problem[name] for v in row}
    assert numbers <= {Fraction(each, 2) for each in range(-2, 3)}


@pytest.mark.parametrize("kind", ["general", "additive", "concat"])
def test_the_matrices_of_scores_are_made(kind: str, attncalc: Command, tmp_path: Path) -> None:
    """The scores of the made problem are those of the textbook, in numpy."""
    problem = made(attncalc, "--score", kind, "--d-k", "3", "--seed", "2")
    file = tmp_path / "new.json"
    file.write_text(json.dumps(problem | {"decimals": 9}))
    solution = solve(read_problem(file))
    q, k, ours = (np.array(solution.shown(name), float) for name in "QKS")
    pairs = np.array([[[*one, *other] for other in k] for one in q])
    if kind == "general":
        scores = q @ np.array(problem["W_S"]) @ k.T
    elif kind == "additive":
        scores = np.tanh(q[:, None] + k[None]) @ np.array(problem["v_S"])
    else:
        scores = np.tanh(pairs @ np.array(problem["W_S"])) @ np.array(problem["v_S"])
    assert ours == pytest.approx(scores, abs=1e-8)
    assert {float(v) for name in ("W_S", "v_S") for v in np.ravel(problem.get(name, []))} <= {
        *range(-2, 3)
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    [
        ("--kind", "encoder"),
        ("--kind", "decoder", "--keys", "2"),
        ("--heads", "2", "--also", "W_O"),
        ("--heads", "2", "--combine", "mean", "--also", "W_O"),
        ("--kind", "encoder", "--heads", "2", "--combine", "mean"),
        ("--layout", "columns"),
        ("--weights-layout", "torch", "--causal"),
        ("--spread", "0.4:0.9", "--words"),
        ("--score", "general", "--heads", "2"),
        ("--score", "additive", "--also", "W_Sq,W_Sk,b_S", "--layout", "columns"),
        ("--kind", "encoder", "--score", "concat", "--weights-layout", "torch"),
        ("--kind", "decoder", "--score", "additive", "--keys", "2"),
    ],
)
def test_every_kind_is_made_and_read_back(
    flags: tuple[str, ...], attncalc: Command, tmp_path: Path
) -> None:
    for ending in (".json", ".csv"):
        if ending == ".csv" and "decoder" in flags:
            continue  # a name for each part is what CSV has too, and JSON reads
        file = tmp_path / f"new{ending}"
        assert attncalc("new", "--seed", "5", *flags, "-o", str(file)).code == 0
        problem = read_problem(file)
        assert recipe({}, 5).partition(" new")[0] in problem.made_by
        kind = flags[1] if flags[0] == "--kind" else "self"
        assert attncalc(kind, str(file)).code == 0


def test_a_seed_determines_one_problem(attncalc: Command) -> None:
    problem = made(attncalc, "--seed", "7")
    assert made(attncalc, "--seed", "7") == problem
    assert made(attncalc, "--seed", "8")["X"] != problem["X"]
    assert problem["X"] == [[-1, -1, 0, 2], [1, 0, 0, 0], [0, -1, -2, -1]]  # on every machine
    assert problem["made_by"].endswith(": attncalc new --seed 7")
    again = problem["made_by"].partition(": attncalc ")[2].split()
    assert json.loads(attncalc(*again).out) == problem


def test_a_drawn_seed_is_reported(attncalc: Command) -> None:
    run = attncalc("new")
    seed = re.match(r"note: seed (\d+): ", run.err)
    assert seed is not None
    assert json.loads(attncalc("new", "--seed", seed[1]).out) == json.loads(run.out)


@pytest.mark.parametrize("seed", some_of(12))
def test_siblings_have_as_many_ties_seconds_and_negatives(seed: int) -> None:
    parent = make(wishes_of({"ties": 1, "scale": "none"}), seed).problem
    sibling = make(wishes_like(parent, {}), seed + 1).problem

    def counted(problem: Any) -> tuple[Any, ...]:
        names = ("X", "W_Q", "W_K", "W_V")
        matrices = {name: problem.as_given(name).tolist() for name in names}
        exact = exact_values(*given(matrices), "none", "display", 2)["A"]
        shown = as_shown({"A": exact}, 2)["A"]
        most = [[value == max(row) for value in row] for row in exact]
        dashed = [
            sum(row) == 1 and any(float(t) and not m for t, m in zip(texts, row, strict=True))
            for row, texts in zip(most, shown, strict=True)
        ]
        below = sum(v < 0 for name in names for row in matrices[name] for v in row)
        return sum(sum(row) > 1 for row in most), sum(dashed), below

    assert counted(sibling) == counted(parent)
    assert (sibling.as_given("X") != parent.as_given("X")).any()


@pytest.mark.slow
def test_siblings_of_siblings_and_of_given_problems(attncalc: Command, tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    assert attncalc("samples", "cross", "-o", str(one)).code == 0
    assert attncalc("new", "--again", str(one), "--seed", "1", "-o", str(two)).code == 0
    problem = made(attncalc, "--again", str(two), "--seed", "2")
    assert (len(problem["X1"]), len(problem["X2"]), problem["rounding"]) == (2, 4, "each-step")
    assert "--again two.json --seed 2" in problem["made_by"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--entries", "3:1"), "--entries takes from:to, from:to:step or a list, as -2:2, "
         '-2:2:1/2 or 0,1, not "3:1"'),
        (("--entries", "0:9999999"), "--entries 0:9999999: 10,000,000 numbers are too many to "
         "draw from"),
        (("--entries", "-2"), "--entries: of -2 all matrices are equal: allow more numbers"),
        (("--entries", "a,b"), '--entries: "a" is not a number'),
        (("--ties", "9"), "--ties takes 0 to 3 outputs, not 9"),
        (("--ties", "1.5"), '--ties takes a whole number, not "1.5"'),
        (("--second-lines", "9"), "--second-lines takes 0 to 3 outputs, not 9"),
        (("--tokens", "1", "--ties", "1"), "--ties takes 0 outputs, not 1: there is one input "
         "to attend to"),
        (("--tokens", "1", "--spread", "0.3:0.8"), "--spread: there is one input to attend to, and "
         "e^H / n is 1"),
        (("--d-k", "0"), "--d-k takes 1 to 64, not 0"),
        (("--also", "Z"), "--also accepts other matrices of this problem (P, b_Q, b_K, b_V, W_O, "
         "b_O), not Z"),
        (("--again", "nowhere.json"), "nowhere.json: no such file"),
        (("--kind", "vision"), "--kind takes self, cross, encoder or decoder, not vision"),
        (("--keys", "2"), "--keys: self has one set of tokens: omit it"),
        (("--spread", "2"), '--spread takes from:to, as 0.3:0.8, not "2"'),
        (("--labels", "a,,b"), "--labels takes names between commas, but one of them is empty"),
        (("--tokens", "1000"), "--tokens takes 1 to 64, not 1000"),
        (("--margin", "0.5"), "--margin takes a fraction of the last digit from 0 to below 0.5, "
         "for example 0.01"),
        (("--scale", "big"), '--scale takes "sqrt_dk", "none" or a number that multiplies the '
         'scores: "big" is not a number'),
    ],
)  # fmt: skip
def test_impossible_conditions_are_reported(
    flags: tuple[str, ...], message: str, attncalc: Command
) -> None:
    run = attncalc("new", *flags, "--seed", "1")
    assert (run.code, run.out) == (2, "")
    assert run.err == f"error: {message}\n"


EXAMPLES = [
    "--tokens 3 --d 4 --d-k 2",
    "--kind cross --tokens 2 --keys 4 --no-scale",
    '--entries "-2:2:1/2" --spread 0.3:0.8',
    "--same-digits",
    "--ties 1 --second-lines 1",
    '--heads 2 --also "W_O,b_Q" --words',
    "--set heads=2 --set causal=true",
]


@pytest.mark.campaign(2)
@pytest.mark.parametrize("example", EXAMPLES)
def test_conditions_are_met_from_other_seeds(example: str, attncalc: Command) -> None:
    made(attncalc, *shlex.split(example), "--seed", "3")


def test_an_unreadable_problem_is_named_by_its_file(attncalc: Command, tmp_path: Path) -> None:
    one = {"X": [[1]], "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}
    file = tmp_path / "one.json"
    for changed, said in (
        ({"X": [[1e300]], "W_Q": [[1e300]]}, "Q, row 1, column 1 exceeds the largest float64"),
        ({"made_by": "me"}, 'made_by is not a command of attncalc new: "me"'),
        ({"made_by": "attncalc 1: attncalc new --margin x"}, 'margin: "x" is not a number'),
    ):
        file.write_text(json.dumps({**one, **changed}))
        run = attncalc("new", "--again", str(file), "--seed", "1")
        assert run.code == 2
        assert run.err.startswith(f"error: {file}: {said}")
        with pytest.raises(InputError, match=re.escape(f"{file}: {said}")):
            new(1, again=file)


@pytest.mark.slow
def test_siblings_have_as_many_lines_as_the_problem_has_outputs(
    attncalc: Command, tmp_path: Path
) -> None:
    """A problem made without another one has three query tokens."""
    file = tmp_path / "five.json"
    flags = ("--tokens", "5", "--ties", "any", "--margin", "none", "--seed", "1", "-o", str(file))
    assert attncalc("new", *flags).code == 0
    sibling = ("new", "--again", str(file), "--seed", "2", "--second-lines")
    assert attncalc(*sibling, "5", "--ties", "0").code == 0
    run = attncalc(*sibling, "6")
    assert run.err == "error: --second-lines takes 0 to 5 outputs, not 6\n"


@pytest.mark.slow
def test_where_nothing_fits_the_wish_to_blame_is_named(attncalc: Command) -> None:
    run = attncalc("new", "--largest-score", "0.1", "--seed", "1")
    assert run.code == 2
    assert "Change --largest-score" in run.err
    run = attncalc("new", "--entries", "0", "--seed", "1")
    assert run.err == (
        "error: --entries: of 0 every 3 × 4 matrix drawn had a row or a column of zeros\n"
    )


NO_MISTAKE = [
    ("--tokens 1", "scores transposed in S, scale forgotten in A, softmax down the columns in A"),
    ("--kind cross --tokens 2 --keys 1", "scale forgotten in A"),
    ("--d 1", "scores transposed in S"),
    ("--normalizer hardmax --sharp", "scale forgotten in A"),
]
"""What no problem of such sizes and conventions shows: reckoned by hand, see below."""


@pytest.mark.parametrize(("flags", "said"), NO_MISTAKE)
def test_mistakes_that_nothing_can_show_are_waived_and_named(
    flags: str, said: str, attncalc: Command
) -> None:
    """One score is its own transpose, and its weight is 1 at any scale; x w w′ x′ is symmetric."""
    run = attncalc("new", *flags.split(), "--seed", "3")
    assert run.code == 0, run.err
    _, _, waived = run.err.strip().partition("distinguishes: ")
    assert sorted(waived.split(", ")) == sorted(said.split(", "))
    assert "distinguishes" not in attncalc("new", *flags.split(), "--no-tell-apart").err


@pytest.mark.slow
def test_of_one_token_the_other_wishes_hold(attncalc: Command) -> None:
    for seed in range(3):
        problem = made(attncalc, "--tokens", "1", "--seed", str(seed))
        exact = exact_values(*given(problem), "sqrt_dk", "display", 2)
        assert exact["A"] == [[1]]
        assert abs(exact["S"][0][0]) <= 15
        assert exact["Q"] != exact["K"]  # weights swapped would show
        for step in STEPS:
            assert all(distance(value, 2) > Fraction(1, 100) for value in exact[step][0]), step


@pytest.mark.parametrize("seed", some_of(6))
@pytest.mark.parametrize("flags", ["--heads 5", "--heads 5 --tokens 5 --d 8"])
def test_many_heads_are_found_head_by_head(seed: int, flags: str, attncalc: Command) -> None:
    """Of 25 rows at once hardly any candidate has no tie: a thousand were not enough."""
    run = attncalc("new", *flags.split(), "--seed", str(seed))
    assert run.code == 0, run.err
    tried = re.search(r"([\d,]+) candidates were tried", run.err)
    assert tried is not None
    assert int(tried[1].replace(",", "")) < 300
    problem = json.loads(run.out)
    X, _, *weights = given(problem)
    for head in range(5):
        own = [[row[2 * head : 2 * head + 2] for row in matrix] for matrix in weights]
        exact = exact_values(X, X, *own, "sqrt_dk", "display", 2)
        assert max(abs(value) for row in exact["S"] for value in row) <= 15
        assert all(sum(value == max(row) for value in row) == 1 for row in exact["A"])
        for step in STEPS:
            for row in exact[step]:
                assert all(distance(value, 2) > Fraction(1, 100) for value in row), step
    for matrix in (X, *weights):
        assert all(map(any, matrix))
        assert all(map(any, zip(*matrix, strict=True)))


@pytest.mark.slow
def test_siblings_of_many_heads_have_as_many_negatives(attncalc: Command, tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    assert attncalc("new", "--heads", "5", "--seed", "1", "-o", str(file)).code == 0
    one, other = (
        json.loads(text)
        for text in (file.read_text(), attncalc("new", "--again", str(file), "--seed", "2").out)
    )
    names = ("X", "W_Q", "W_K", "W_V")
    assert one["W_Q"] != other["W_Q"]
    counts = [
        sum(v < 0 for name in names for row in each[name] for v in row) for each in (one, other)
    ]
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_matrices_that_must_be_alike_are_given_up_soon(attncalc: Command) -> None:
    """A column of 0 and 1 without a row of zeros is one of ones: a hundred thousand are that."""
    run = attncalc("new", "--entries", "0,1", "--d-k", "1", "--seed", "1")
    assert run.code == 2
    assert "of 1,000 candidates 1,000 had equal matrices or tokens" in run.err


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["self", "cross"])
def test_forty_tokens_are_made_at_once_all_of_them_different(kind: str, attncalc: Command) -> None:
    flags = ("--tokens", "40", "--ties", "any", "--margin", "none", "--seed", "3")
    problem = made(attncalc, "--kind", kind, *flags)
    for name in {"self": ("X",), "cross": ("X1", "X2")}[kind]:
        assert len({tuple(row) for row in problem[name]}) == 40
        assert all(map(any, problem[name]))
    assert "--tokens 40 --margin none --ties any --seed 3" in problem["made_by"]


def test_a_drawn_seed_has_128_bits() -> None:
    seeds = {int(new(tokens=2).made_by.rpartition(" ")[2]) for _ in range(3)}
    assert len(seeds) == 3
    assert all(seed.bit_length() > 100 for seed in seeds)


@pytest.mark.parametrize(
    "name",
    mostly_slow([x.name for x in GROUPS["Equations of papers"] if x.name != "differential"], 9),
)
def test_a_sibling_of_equations_has_other_numbers_and_the_same_equations(name: str) -> None:
    problem = read_problem(sample(name).path)
    made = make(wishes_like(problem, {}), 1).problem
    assert made.equations == problem.equations
    assert {n: each.shape for n, each in made.given.items()} == {
        n: each.shape for n, each in problem.given.items()
    }
    same = {n for n in problem.names if np.array_equal(made.given[n], problem.given[n])}
    assert same < {*problem.names}
    assert same <= {*problem.more}
    assert name != "graph" or same == {"N"}
