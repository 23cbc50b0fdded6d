"""`attncalc simulate`: what is drawn, beside the normal's own moments, quantiles and integrals."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, Command, mostly_slow

from attncalc import Problem, read_problem
from attncalc import simulate as simulate_in_python
from attncalc.problem.fields import MARKS
from attncalc.reading.studies.draws import read_draw
from attncalc.reading.studies.watched import read_conditions, read_watched
from attncalc.solving.solution import solve
from attncalc.studies.draws import Normal, root_of
from attncalc.studies.simulate import Simulation, simulate, variance_ratios
from attncalc.writing.plotting.look import Look
from attncalc.writing.plotting.spreads import draw as draw_simulations

AVERAGE = str(BUNDLED / "average.json")
BETA = 2
KEYS: dict[str, Any] = {"K": [[1, 0], [0, 1]], "V": [[2, 1], [-1, 4]], "scale": "none"}
LABELS = {"Q": ["q"], "K": ["a", "b"]}
ONE: dict[str, Any] = {"Q": [[BETA, BETA]], "labels": LABELS, "title": "one", **KEYS}
TWO: dict[str, Any] = {
    "Q": [[[BETA, 0]], [[0, BETA]]],
    "labels": LABELS,
    "title": "two",
    "heads": 2,
    "combine": "mean",
    **KEYS,
}
LONGER = "K[a] ~ N(mu, 1/2 mu muT)"
"""The key of a keeps its direction, and its length is normal: 1 + z / √2."""


def drawn(problem: Problem, *texts: str, watch: str = "A, O", **how: Any) -> Simulation:
    draws = [read_draw(text, problem) for text in texts]
    return simulate(problem, draws, read_watched([watch], problem), **{"seed": 1} | how)


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def moments(of: Callable[[float], float]) -> tuple[float, float]:
    """Return mean and variance of a function of a standard normal, by a fine sum over it."""
    normal, step = NormalDist(), 1e-3
    points = [i * step for i in range(-8000, 8001)]
    mean = sum(of(z) * normal.pdf(z) for z in points) * step
    square = sum(of(z) ** 2 * normal.pdf(z) for z in points) * step
    return mean, square - mean**2


def weight_of_a(z: float) -> float:
    """Return the weight of a where its score is β (1 + z / √2), and that of b is β."""
    return logistic(BETA * z / math.sqrt(2))


def test_with_a_key_of_random_length_the_weight_is_the_logistic_of_a_normal() -> None:
    """Each quantile is within five of its standard errors of the one the normal gives."""
    found = drawn(Problem(**ONE), LONGER, watch="A[1,1]", count=20_000)
    (weight,) = found.statistics
    for share, quantile in zip((0.05, 0.5, 0.95), weight.quantiles, strict=True):
        z = NormalDist().inv_cdf(share)
        exact = weight_of_a(z)
        slope = BETA / math.sqrt(2) * exact * (1 - exact)
        error = slope * math.sqrt(share * (1 - share) / found.count) / NormalDist().pdf(z)
        assert abs(quantile - exact) < 5 * error
    mean, variance = moments(weight_of_a)
    assert abs(weight.mean - mean) < 5 * weight.standard_error
    assert weight.std**2 == pytest.approx(variance, rel=5 * math.sqrt(2 / found.count))
    assert weight.standard_error == pytest.approx(weight.std / math.sqrt(20_000))


@pytest.mark.slow
def test_two_heads_that_are_averaged_spread_less_by_the_ratio_of_their_variances() -> None:
    one, two = (drawn(Problem(**each), LONGER, watch="O", count=20_000) for each in (ONE, TWO))
    _, of_one = moments(weight_of_a)
    # the head of a: score β (1 + z / √2) beside 0; that of b does not see k_a. Their mean is half
    _, of_two = moments(lambda z: logistic(BETA * (1 + z / math.sqrt(2))) / 2)
    ratios = variance_ratios([one, two])
    assert list(ratios) == ["O[1,1]", "O[1,2]"]
    for (ratio,) in ratios.values():
        assert ratio == pytest.approx(of_one / of_two, rel=0.06)
    # the values are three apart, in both numbers
    assert one.statistics[0].std ** 2 == pytest.approx(9 * of_one, rel=0.05)


@pytest.mark.parametrize(
    ("covariance", "expected"),
    [
        ("0.01 I", [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]]),
        ("0.01 I + 1/2 mu muT", [[0.51, 1, 0], [1, 2.01, 0], [0, 0, 0.01]]),
        ("mu mu^T", [[1, 2, 0], [2, 4, 0], [0, 0, 0]]),
        ("2 μ μᵀ - 0 I", [[2, 4, 0], [4, 8, 0], [0, 0, 0]]),
        ("[[2, -1, 0], [-1, 2, 0], [0, 0, 1]]", [[2, -1, 0], [-1, 2, 0], [0, 0, 1]]),
        ("1e-2 I + [1, 0, 1] [1, 0, 1]T", [[1.01, 0, 1], [0, 0.01, 0], [1, 0, 1.01]]),
        ("I + k_b k_bT", [[1, 0, 0], [0, 2, 0], [0, 0, 1]]),
        ("I + K[2] K[2]T", [[1, 0, 0], [0, 2, 0], [0, 0, 1]]),
    ],
)
def test_normals_have_the_mean_and_the_covariance_that_were_typed(
    covariance: str, expected: list[list[float]]
) -> None:
    """Means and covariances of the draws are within five standard errors."""
    problem = Problem(
        Q=[[1, 1, 1]],
        K=[[1, 2, 0], [0, 1, 0]],
        V=[[1], [2]],
        labels={"K": ["a", "b"], "Q": ["q"]},
    )
    draw = read_draw(f"K[a] ~ N(mu, {covariance})", problem)
    count = 50_000
    rows = draw.on_each(problem.K[np.newaxis], np.random.default_rng(3), count)[:, 0]
    sigma = np.array(expected)
    errors = np.sqrt(sigma.diagonal() / count)
    assert (np.abs(rows.mean(axis=0) - [1, 2, 0]) <= 5 * errors + 1e-12).all()
    found = np.cov(rows.T)
    spread = np.sqrt((np.outer(sigma.diagonal(), sigma.diagonal()) + sigma**2) / count)
    assert (np.abs(found - sigma) <= 5 * spread + 1e-12).all()


def test_a_mean_can_be_given_and_uniforms_lie_between_their_ends() -> None:
    problem = read_problem(AVERAGE)
    law = read_draw("K[a] ~ N([1, -1/2, 3], I)", problem).law
    assert isinstance(law, Normal)
    assert law.means.tolist() == [[1, -0.5, 3]]
    assert read_draw("K[a] ~ N(2 mu, I)", problem).law.means.tolist() == [[2, 0, 0]]  # type: ignore[union-attr]
    assert read_draw("K[a] ~ N(0, I)", problem).law.means.tolist() == [[0, 0, 0]]  # type: ignore[union-attr]
    assert read_draw("K ~ N(0.1 I)", problem).law.means.tolist() == problem.K.tolist()  # type: ignore[union-attr]
    draw = read_draw("K[1,2] ~ U(-1, 1/2)", problem)
    keys = draw.on_each(problem.K[np.newaxis], np.random.default_rng(0), 10_000)
    numbers = keys[:, 0, 1]
    assert -1 <= numbers.min() < -0.99
    assert 0.49 < numbers.max() < 0.5
    assert abs(numbers.mean() + 0.25) < 5 * 1.5 / math.sqrt(12 * 10_000)
    assert (np.delete(keys.reshape(-1, 9), 1, axis=1) == np.delete(problem.K.ravel(), 1)).all()


def test_rows_of_a_matrix_are_each_drawn_about_their_own_mean() -> None:
    problem = read_problem(AVERAGE)
    law = read_draw("K ~ N(mu, mu muT)", problem).law
    assert isinstance(law, Normal)
    for row, root in zip(problem.K, law.roots, strict=True):
        assert (root @ root.T == np.outer(row, row)).all()


def test_tokens_as_columns_are_drawn_as_tokens() -> None:
    given = {"W_Q": [[1, 1]], "W_K": [[1, 0]], "W_V": [[1, 2]], "layout": "columns"}
    problem = Problem(X=[[1, 3, 5], [2, 4, 6]], **given)
    draw = read_draw("X ~ N(mu, mu muT)", problem)
    found = draw.on_each(problem.X[np.newaxis], np.random.default_rng(0), 5)
    for drawn_X in found:  # each token stays on its own line through 0
        assert drawn_X[0] * problem.X[1] == pytest.approx(drawn_X[1] * problem.X[0])


def test_a_root_gives_the_covariance_back_where_directions_are_left_out() -> None:
    rng = np.random.default_rng(5)
    for rank in range(1, 5):
        half = rng.standard_normal((4, rank))
        covariance = half @ half.T
        root = root_of(covariance)
        np.testing.assert_allclose(root @ root.T, covariance, atol=1e-9)


def test_every_draw_equals_solving_it_alone() -> None:
    problem = read_problem(BUNDLED / "heads.json")
    found = drawn(problem, "X[1] ~ N(mu, 0.1 I)", watch="A[1,1,1], O[2,1]", count=20)
    draw = read_draw("X[1] ~ N(mu, 0.1 I)", problem)
    tokens = draw.on_each(problem.X[np.newaxis], np.random.default_rng(1), 20)
    given = {name: getattr(problem, name) for name in problem.names if name != "X"}
    settings = {"heads": problem.heads, "scale": problem.scale, "combine": problem.combine}
    for X, values in zip(tokens, found.values, strict=True):
        alone = solve(Problem(X=X, **given, **settings))  # type: ignore[arg-type]
        assert values == pytest.approx([alone["A"][0, 0, 0], alone["O"][1, 0]], abs=1e-12)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_digits_however_much_is_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch, attncalc: Command
) -> None:
    texts = ("K[a] ~ N(mu, 0.1 I)", "V[b] ~ U(0, 1)")
    problem = read_problem(AVERAGE)
    whole = drawn(problem, *texts, count=500)
    monkeypatch.setattr("attncalc.studies.family.AT_ONCE", 300)
    in_parts = drawn(problem, *texts, count=500)
    assert (whole.values == in_parts.values).all()
    assert not (whole.values == drawn(problem, *texts, count=500, seed=2).values).all()
    first, second = (attncalc("simulate", AVERAGE, *texts, "--seed", "7") for _ in range(2))
    assert first.out == second.out
    assert "numpy's default_rng(7)" in first.out


def test_draws_continue_until_the_standard_error_is_small(attncalc: Command) -> None:
    found = drawn(Problem(**ONE), LONGER, watch="A[1,1]", count=100, until=0.002)
    assert found.statistics[0].standard_error <= 0.002
    # the standard deviation is about 0.25: (0.25 / 0.002)² draws
    assert 12_000 < found.count < 20_000
    few = drawn(Problem(**ONE), LONGER, watch="A[1,1]", count=100, until=0.5)
    assert few.count == 100
    run = attncalc("simulate", AVERAGE, "K[a] ~ N(mu, 0.1 I)", "--until", "0.02")
    assert "stopped when every standard error was 0.02 or less" in run.err


def test_shares_of_first_place_part_a_tie() -> None:
    """One key is drawn along nothing: both tie in every draw. The other follows a coin."""
    problem = Problem(**ONE)
    same = drawn(problem, "V[a] ~ U(0, 1)", watch="A[1,1]", count=10)
    assert same.first[0].shares == (0.5, 0.5)
    coin = drawn(problem, LONGER, watch="A[1,1]", count=20_000)
    assert coin.first[0].shares[0] == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(20_000))
    assert sum(coin.first[0].shares) == pytest.approx(1)


def test_the_main_direction_is_that_from_one_value_to_the_other() -> None:
    (direction,) = drawn(Problem(**ONE), LONGER).directions
    # v_b - v_a is (-3, 3)
    assert np.abs(direction.along) == pytest.approx([1 / math.sqrt(2)] * 2)
    assert direction.along[0] * direction.along[1] < 0
    assert direction.share == pytest.approx(1)


# what is written


def test_json_has_the_keys_that_programs_read(attncalc: Command) -> None:
    run = attncalc(
        "simulate", AVERAGE, "K[a] ~ N(mu, 0.1 I)", "--seed", "1", "--watch", "A[1,1]",
        "--format", "json",
    )  # fmt: skip
    found = json.loads(run.out)
    assert set(found) == {"draws", "seed", "watched", "first"}
    assert (found["draws"], found["seed"]) == (1000, 1)
    (weight,) = found["watched"]
    assert set(weight) == {"name", "mean", "std", "standard_error", "quantiles"}
    assert set(weight["quantiles"]) == {"5", "50", "95"}
    (first,) = found["first"]
    assert first["output"] == 1
    assert set(first["shares"]) == {"1", "2", "3"}


def test_several_problems_are_side_by_side(attncalc: Command, tmp_path: Path) -> None:
    for name, fields in (("one.json", ONE), ("two.json", TWO)):
        (tmp_path / name).write_text(json.dumps(fields), encoding="utf-8")
    run = attncalc("simulate", "one.json", "two.json", LONGER, "--seed", "1")
    assert run.code == 0
    assert "1: Attention: one" in run.out
    assert "Ratios of the variances" in run.out
    run = attncalc("simulate", "one.json", "two.json", LONGER, "--seed", "1", "--format", "json")
    found = json.loads(run.out)
    stds = [each["watched"][0]["std"] for each in found["problems"]]
    assert found["variance_ratios"][0] == {
        "name": "O[1,1]",
        "ratios": [pytest.approx((stds[0] / stds[1]) ** 2)],
    }


@pytest.mark.slow
def test_every_form_is_written(attncalc: Command, tmp_path: Path) -> None:
    for name in ("s.md", "s.tex", "s.csv", "s.json", "s.npz", "s.txt", "s.svg"):  # vary: .png, .pdf
        run = attncalc("simulate", AVERAGE, "K[a] ~ N(mu, 0.01 I)", "-o", name, "--seed", "1")
        assert run.code == 0, run.err
        assert (tmp_path / name).stat().st_size > 400
    assert np.load(tmp_path / "s.npz")["values"].shape == (1000, 5)
    assert "default_rng(1)" in (tmp_path / "s.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_pictures_of_several_problems_are_on_one_scale() -> None:
    pair = [drawn(Problem(**each), LONGER, watch="O") for each in (ONE, TWO)]
    figure = draw_simulations(pair, Look())
    one, two, cloud, other = figure.axes
    edges = [[patch.get_x() for patch in axes.patches] for axes in (one, two)]
    assert edges[0] == edges[1]
    assert one.get_xlim() == two.get_xlim()
    # all draws of one problem are in its bars
    heights = [patch.get_height() for patch in two.patches]
    assert sum(heights) == pytest.approx(1)
    assert two.get_ylim()[1] > max(heights)
    assert one.get_ylim() == two.get_ylim()
    assert cloud.get_xlim() == other.get_xlim()
    assert {text.get_text() for text in cloud.texts} == {"v_a", "v_b"}
    assert [line.get_xydata().tolist() for line in cloud.lines] in (
        [[[2, 1], [-1, 4]]],
        [[[-1, 4], [2, 1]]],
    )


# conditions


def conditioned(*given: str, watch: str = "A[1,1,1], O, K[a]", **how: Any) -> Simulation:
    problem = Problem(**TWO)
    return drawn(problem, LONGER, watch=watch, given=read_conditions(given, problem), **how)


@pytest.mark.slow
def test_under_a_condition_the_weight_has_the_moments_of_a_normal_cut_off() -> None:
    """The score β (1 + z / √2) is above 0 where z > -√2; the sum over that part is exact."""
    found = conditioned("q_1·k_a > 0", count=20_000)
    normal, step = NormalDist(), 1e-3
    points = [-math.sqrt(2) + (i + 0.5) * step for i in range(9000)]
    of = [logistic(BETA * (1 + z / math.sqrt(2))) for z in points]
    density = [normal.pdf(z) for z in points]
    mean = sum(map(math.prod, zip(of, density, strict=True))) / sum(density)
    square = sum(x * x * p for x, p in zip(of, density, strict=True)) / sum(density)
    weight, kept = found.statistics[0], normal.cdf(math.sqrt(2))
    assert found.everything.count == 20_000
    assert abs(found.count / 20_000 - kept) < 5 * math.sqrt(kept * (1 - kept) / 20_000)
    assert abs(weight.mean - mean) < 5 * weight.standard_error
    assert weight.std**2 == pytest.approx(square - mean**2, rel=5 * math.sqrt(2 / found.count))
    everything = drawn(Problem(**TWO), LONGER, watch="A[1,1,1], O, K[a]", count=20_000)
    assert found.everything.statistics == everything.statistics


def test_a_condition_keeps_those_of_the_same_draws_that_meet_it() -> None:
    """Written in any way, and as a selection of all draws after the fact."""
    everything = drawn(Problem(**TWO), LONGER, watch="A[1,1,1], O, K[a]")
    for given in (
        ["q_1·k_a > 0"], ["dot(Q[1,1,:], K[a]) > 0"], ["S[1,1,1] > 0"], ["0 < K[a,1]"],
        ["Q[1,1,:]·K[a] ≥ 0"], ["A[1,1,1] > 1/2"], ["A[1,1,2] < A[1,1,1]"],
    ):  # fmt: skip
        found = conditioned(*given)
        assert np.array_equal(found.values, everything.values[everything.values[:, 3] > 0])
        assert np.array_equal(found.everything.values, everything.values)
        assert np.array_equal(found.outputs[:, 0], found.values[:, 1:3])
        assert found.first[0].shares == (1.0, 0.0)
    both = conditioned("q_1·k_a > 0", "norm(K[a]) <= 1")
    length = everything.values[:, 3]
    assert np.array_equal(both.values, everything.values[(length > 0) & (length <= 1)])


def test_drawn_rows_are_watched_in_the_layout_in_which_they_are_given() -> None:
    rows = Problem(**ONE)
    columns = Problem(
        **{**ONE, "layout": "columns"}
        | {name: list(zip(*ONE[name], strict=True)) for name in "QKV"}
    )
    one = drawn(rows, LONGER, watch="K[a], q·k_a, K[b,1]")
    other = drawn(columns, LONGER, watch="K[a], q·k_a, K[1,b]")
    assert [each.name for each in one.watched] == ["K[1,1]", "K[1,2]", "q·k_a", "K[2,1]"]
    assert [each.name for each in other.watched] == ["K[1,1]", "K[2,1]", "q·k_a", "K[1,2]"]
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.values[:, 2], BETA * one.values[:, 0])
    heads = Problem(**{**TWO, "K": [[[1, 0], [0, 1]], [[3, 4], [0, 2]]]})
    of_head = read_watched(["K[2,1,2], norm(K[2,1,:])"], heads)
    assert [each.name for each in of_head] == ["K[2,1,2]", "norm(K[2,1,:])"]
    assert simulate(heads, [], of_head, count=2).values[0].tolist() == [4, 5]


@pytest.mark.parametrize("name", mostly_slow(["columns", "torch", "grouped", "decoder", "vit"]))
def test_every_given_matrix_of_a_sample_is_watched_as_it_is_given(name: str) -> None:
    problem = read_problem(BUNDLED / f"{name}.json")
    for given in (each for each in problem.names if each not in MARKS):
        (values,) = simulate(problem, [], read_watched([given], problem), count=1).values
        assert np.array_equal(values, np.ravel(problem.stored(given)).astype(float))


def test_what_is_thrown_away_is_counted_in_every_form(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "two.json").write_text(json.dumps(TWO), encoding="utf-8")
    run = ("simulate", "two.json", LONGER, "--given", "q_1·k_a>0", "--watch", "O[1,1]", "--draws")
    text = attncalc(*run, "100").out
    assert "100 draws · given q_1·k_a>0: 92 kept, 8 thrown away" in text
    assert "Watched quantities, all draws" in text
    assert "Watched quantities, kept draws" in text
    found = json.loads(attncalc(*run, "100", "--format", "json").out)
    assert (found["draws"], found["kept"], found["thrown_away"]) == (100, 92, 8)
    assert found["given"] == ["q_1·k_a>0"]
    assert found["watched_in_all"][0]["std"] > 1.4 * found["watched"][0]["std"]
    lines = attncalc(*run, "100", "--format", "csv").out.splitlines()
    assert lines[0].startswith("problem,draws,watched,mean")
    assert [line.split(",")[:2] for line in lines[1:]] == [["1", "all"], ["1", "kept"]]
    assert attncalc(*run, "100", "-o", "s.npz").code == 0
    arrays = np.load(tmp_path / "s.npz")
    assert (len(arrays["values"]), len(arrays["all"])) == (92, 100)
    until = json.loads(attncalc(*run, "100", "--until", "0.005", "--format", "json").out)
    assert until["watched"][0]["standard_error"] <= 0.005
    assert until["kept"] + until["thrown_away"] == until["draws"]
    study = simulate_in_python(Problem(**TWO), LONGER, given="q_1·k_a > 0", count=100)
    assert study.found[0].count == 92


@pytest.mark.campaign(4)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("K[a,1] > 9", '0 of 1,000 draws meet "K[a,1] > 9", and at least 10 must: make more draws'),
        ("K[a,1] > 2.8", '3 of 1,000 draws meet "K[a,1] > 2.8", and at least 10 must'),
        ("q·k_a > 0", '"q·k_a": name one row of Q, as Q[1,1,:]'),
        ("q_3·k_a > 0", '"q_3·k_a": Q has 2 heads, so there is no head 3: give 1 to 2'),
        ("q_1·k_z > 0", '"q_1·k_z": K has 2 rows, and no row is called "z": there are a and b'),
        ("q_1·k_a", '"q_1·k_a" is not a comparison: compare two watched quantities or numbers, as'),
        ("A[1,1,1] == 1", '"A[1,1,1] == 1" is not a comparison'),
        ("1 < 2", '"1 < 2" is not a comparison: compare two watched quantities or numbers'),
        ("0 < K[1,1] < 100", '"0 < K[1,1] < 100" is not a comparison'),
        ("K[a] > 0", '"K[a] > 0": K[a] is 2 numbers, K[1,1] to K[1,2]: compare one'),
        ("dot(K[a]) > 0", '"dot(K[a])" takes two: q·k_a, or dot(Q[1], K[a])'),
    ],
)
def test_conditions_that_cannot_be_are_refused(
    attncalc: Command, tmp_path: Path, given: str, said: str
) -> None:
    (tmp_path / "two.json").write_text(json.dumps(TWO), encoding="utf-8")
    run = attncalc("simulate", "two.json", LONGER, "--given", given)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"error: {said}")


@pytest.mark.slow
def test_the_picture_shows_kept_draws_all_draws_and_the_range_of_a_key() -> None:
    found = conditioned("q_1·k_a > 0", watch="O, K[a]")
    histogram, outputs, keys = draw_simulations([found], Look()).axes
    bars = [patch for patch in histogram.patches if hasattr(patch, "get_height")]
    assert sum(bar.get_height() for bar in bars) == pytest.approx(found.count / 1000)
    assert "all draws (dotted outline)" in histogram.get_xlabel()
    for axes, columns in ((outputs, [0, 1]), (keys, [2, 3])):
        rings, dots, *_ = (each.get_offsets() for each in axes.collections)
        assert np.array_equal(rings, found.everything.values[:, columns])
        assert np.array_equal(dots, found.values[:, columns])
    assert [line.get_xydata().tolist() for line in keys.lines] == [[[0, 0], [1, 0]]]


# what is refused


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        ("K[z] ~ U(0, 1)", 'K is 3 × 3, and no row is called "z": there are a, b and c'),
        (
            "X[1] ~ U(0, 1)",
            "this problem has no X, and only what is given can change: there are Q, K and V",
        ),
        ("K[a] ~ U(1, 0)", "U(1, 0) is empty: the first is below the second"),
        ("K[a] ~ U(1)", "U takes two numbers, as U(0, 1)"),
        ("K[a] ~ Z(0, 1)", 'write what is drawn and how, as "K[a] ~ N(mu, 0.01 I)"'),
        (
            "K[a] ~ N(mu, [[1,2,0],[2,1,0],[0,0,1]])",
            "not a covariance because it has the eigenvalue -1: no direction may have a variance "
            "below 0",
        ),
        (
            "K[a] ~ N(mu, [[1,2,0],[3,1,0],[0,0,1]])",
            "not a covariance because it is not symmetric: row 1, column 2 is 2, and row 2, "
            "column 1 is 3",
        ),
        ("K[a] ~ N(mu, -1 I)", "not a covariance because it has the eigenvalue -1"),
        ("K[1,1] ~ N(mu, -1)", "not a covariance because it has the eigenvalue -1"),
        ("K[a] ~ N(mu, [[1,2],[2,1]])", "[[1,2],[2,1]] is not 3 × 3, as the covariance of 3"),
        ("K[a] ~ N(mu, 0.1)", '"0.1" is not a covariance of 3 numbers: a covariance is a number'),
        ("K[a] ~ N(mu, mu v_aT)", "v_a has 2 numbers, where 3 are drawn"),
        ("K[a] ~ N([1,2], I)", "[1,2] has 2 numbers, where 3 are drawn"),
        ("K[a] ~ N(mu, I, I)", "N takes a mean and a covariance, as N(mu, 0.01 I)"),
    ],
)
def test_an_impossible_draw_is_refused_with_alternatives(
    attncalc: Command, draw: str, said: str
) -> None:
    run = attncalc("simulate", AVERAGE, draw)
    assert (run.code, run.out) == (2, "")
    shown = draw if len(draw) <= 40 else draw[:39] + "…"
    assert run.err.startswith(f'error: "{shown}": {said}')


def test_numbers_of_draws_that_cannot_be_are_refused(attncalc: Command) -> None:
    draw = "K[a] ~ N(mu, I)"
    run = attncalc("simulate", AVERAGE, draw, "--draws", "1")
    assert run.err == "error: --draws 1: a standard deviation needs at least 2 draws\n"
    run = attncalc("simulate", AVERAGE, draw, "--until", "0")
    assert run.err == "error: --until 0: a standard error must be above 0, for example 0.001\n"
    run = attncalc("simulate", AVERAGE, draw, "--draws", "1000000000")
    assert run.err.startswith("error: this is 1,000,000,000 solves, which would take about")
    run = attncalc("simulate", AVERAGE, draw, "--until", "1e-6")
    assert "solves, which would take about" in run.err
    assert run.err.endswith("reduce them, or pass --yes\n")
    run = attncalc("simulate", AVERAGE)
    assert run.err.startswith("error: nothing is drawn: write what is drawn and how")


def test_fractions_are_read_exactly() -> None:
    law = read_draw("K[a] ~ N([1/3, 0, 0], 1/9 I)", read_problem(AVERAGE)).law
    assert isinstance(law, Normal)
    assert law.means[0, 0] == float(Fraction(1, 3))
    assert law.roots[0, 0, 0] == pytest.approx(1 / 3, abs=1e-15)


@pytest.mark.slow
def test_of_many_values_only_those_are_named_that_a_segment_joins() -> None:
    """Names of forty points would overlap; those of the two that matter do not."""
    keys = [[math.cos(k), math.sin(k)] for k in range(20)]
    problem = Problem(Q=[[1, 1]], K=keys, V=keys, scale="none")
    study = simulate_in_python(problem, "K[1] ~ N(mu, 0.1 I)", count=50, seed=1)
    figure = study.plot()
    named = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert len([name for name in named if name.startswith("v_")]) == 2
