"""`attncalc vary`: families beside single solves, closed forms, limits, changeovers, refusals."""

import csv
import io
import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, Command
from fuzz.pace import takes_longer

from attncalc import InputError, Problem, read_problem
from attncalc.problem.samples import sample
from attncalc.reading.studies.changes import read_change
from attncalc.reading.studies.watched import read_watched
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.studies.changes import Change
from attncalc.studies.family import at_point, families
from attncalc.studies.vary import Variation, vary
from attncalc.writing.studies.variation import document as variation_document

pytestmark = pytest.mark.campaign(4)

SAMPLES = BUNDLED
AVERAGE = str(SAMPLES / "average.json")
TWO: dict[str, Any] = {
    "Q": [[1, 1]],
    "K": [[2, 0], [0, 1]],
    "V": [[1], [3]],
    "labels": {"Q": ["q"], "K": ["a", "b"]},
    "scale": "none",
}


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def study(problem: Problem, *changes: str, watch: str = "A") -> Variation:
    read = [read_change(change, problem) for change in changes]
    return vary(problem, read, read_watched([watch], problem))


def change_of(problem: Problem, text: str) -> Change:
    return read_change(text, problem)


# one plan for all


@pytest.mark.campaign(4)
@pytest.mark.parametrize(
    ("sample", "change"),
    [
        ("self", "X[2,1] = -2:2"),
        ("self", "W_Q *= -1:3"),
        ("cross", "X2[1] *= 0:3"),
        ("cross", "scale=0.1:10:log"),
        ("heads", "W_K[1,1] = -2:2"),
        ("heads", "X[1] += 0:2"),
        ("heads", "b_V[1] = -1:1"),
        ("heads", "W_O *= -1:2"),
        ("heads", "scale=0:3"),
        ("grouped", "X *= 0:3"),
        ("grouped", "W_V[1,1,1] = 0:3"),
        ("masks", "X1[1,1] = -1:1"),
        ("causal", "X[2] *= 0:2"),
        ("positions", "X[2,1] = -2:2"),
        ("rope", "X[1] *= 0:2"),
        ("columns", "X[1] *= 0.1:2"),
        ("columns", "W_Q[1,2] = 0.1:2"),
        ("torch", "W_Q[1,1] = 1:2"),
    ],
)
def test_a_family_equals_its_problems_solved_one_by_one(sample: str, change: str) -> None:
    """With heads, masks, positions, layouts and rounding: the leading axis changes nothing."""
    problem = read_problem(SAMPLES / f"{sample}.json")
    changed = (change_of(problem, change),)
    points = [(value,) for value in changed[0].values]
    ((family, count),) = families(problem, changed, points)
    for place, point in enumerate(points):
        alone = solve(at_point(problem, changed, point))
        for step in plan(alone.problem):
            together = np.broadcast_to(family[step.name], (count, *family[step.name].shape[1:]))
            expected = alone.floats[step.name]
            np.testing.assert_allclose(
                together[place].reshape(expected.shape), expected, rtol=1e-9, atol=1e-12
            )


@pytest.mark.slow
def test_ten_thousand_solves_of_three_tokens_need_less_than_ten_seconds() -> None:
    problem = replace(read_problem(SAMPLES / "self.json"), rounding="display")
    for change in ("scale=0.1:10:10000", "X[2,1] = -2:2:10000"):
        made: list[Any] = []
        assert not takes_longer(lambda to=made, of=change: to.append(study(problem, of)), 10)
        found = made[-1]
        assert len(found.points) == 10_000
        last = solve(at_point(problem, found.changes, found.points[-1]))
        assert found.digits[-1][:3] == tuple(last.shown("A")[0])
        assert not found.is_exact


# closed forms


def test_of_two_keys_the_weight_is_logistic_in_the_scale() -> None:
    found = study(Problem(**TWO), "scale=0:10:21", watch="A[1,1]")
    for (beta,), (weight,) in zip(found.points, found.values, strict=True):
        # scores 2 and 1: their difference is β
        assert weight == pytest.approx(logistic(float(str(float(beta)))), abs=1e-14)  # type: ignore[arg-type]


def test_the_limits_of_the_scale_are_equal_weights_and_a_hardmax_that_ties_share() -> None:
    problem = Problem(
        Q=[[1, 1]], K=[[1, 1], [2, 0], [0, 1]], V=[[1], [2], [3]], scale="none", decimals=4
    )
    found = study(problem, "scale=0:inf")
    assert found.digits[0] == ("0.3333", "0.3333", "0.3333")
    assert found.digits[-1] == ("0.5000", "0.5000", "0.0000")
    assert [str(value) for value in found.points[-1]] == ["inf"]
    ladder = [float(value) for (value,) in found.points[1:-1]]  # type: ignore[arg-type]
    assert ladder == [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]


@pytest.mark.slow
def test_a_mask_applies_at_both_limits() -> None:
    problem = Problem(**TWO, keep=[[0, 1]])
    assert study(problem, "scale=0:inf").digits[0] == ("0.00", "1.00")
    assert study(problem, "scale=0:inf").digits[-1] == ("0.00", "1.00")


@pytest.mark.slow
def test_a_longer_key_gets_the_largest_weight_when_its_score_is_larger() -> None:
    """Scores are 2 t and 1.7: they tie at 0.85, which is no value of the grid."""
    problem = Problem(**{**TWO, "K": [[2, 0], [0, Fraction(17, 10)]]})
    (found,) = study(problem, "K[a] *= 0:3").changeovers
    assert found.at == pytest.approx(0.85, abs=1e-9)
    assert (found.output, found.before, found.after) == (0, (1,), (0,))


@pytest.mark.slow
def test_a_changeover_at_a_root_is_found_to_nine_digits() -> None:
    """With x in both query and key, x² = 2 is where the second key is passed."""
    problem = Problem(
        X=[[1, 0], [0, 1]], W_Q=[[1], [0]], W_K=[[1], [2]], W_V=[[1], [2]], scale="none"
    )
    found = [each for each in study(problem, "X[1,1] = 0:3").changeovers if each.output == 0]
    # scores of output 1: x · x and 2 x
    assert [each.at for each in found] == [pytest.approx(2.0, abs=1e-9)]


@pytest.mark.slow
def test_a_third_input_that_leads_for_a_moment_between_two_values_is_seen() -> None:
    """Scores t, 3 - t and 1.5001: the third is first between 1.4999 and 1.5001 alone."""
    third = Fraction(15001, 10000)
    problem = Problem(Q=[[1, 1]], K=[[0, 1], [3, -1], [third, 0]], V=[[1], [2], [3]], scale="none")
    found = study(problem, "Q[1,2] = 0:3.1").changeovers
    assert [each.at for each in found] == pytest.approx([1.4999, 1.5001], abs=1e-9)
    assert [(each.before, each.after) for each in found] == [((1,), (2,)), ((2,), (0,))]


@pytest.mark.slow
def test_a_changeover_at_a_root_of_two_is_found_to_its_last_digits() -> None:
    """Of token 1, x in query and key, the score is x²; that of token 2 is a bias of 2."""
    W = [[1], [0]]
    problem = Problem(X=[[1, 0], [0, 1]], W_Q=W, W_K=W, W_V=W, scale="none", bias=[[0, 2], [0, 0]])
    found = [each for each in study(problem, "X[1,1] = 0:3").changeovers if each.output == 0]
    assert [each.at for each in found] == [pytest.approx(math.sqrt(2), abs=1e-12)]


@pytest.mark.slow
def test_inputs_that_always_tie_never_change() -> None:
    """Their scores are the same sums in another order: equal, but for the last bit of floats."""
    numbers = [1.1, 0.3, 0.7, 0.9, 0.21]
    K = [numbers[i:] + numbers[:i] for i in range(5)]
    sums = [{sum(0.3 * t * number for number in row) for row in K} for t in range(1, 8)]
    assert any(len(each) > 1 for each in sums)
    problem = Problem(Q=[[0.3] * 5], K=[*K, [0] * 5], V=[[i] for i in range(6)], scale="none")
    assert study(problem, "Q *= 0:7").changeovers == ()
    assert study(problem, "scale=0:inf").changeovers == ()


@pytest.mark.slow
def test_where_the_sign_of_the_scale_turns_the_last_becomes_first() -> None:
    (found,) = study(Problem(**TWO), "scale=-1:1").changeovers
    assert found.at == pytest.approx(0.0, abs=1e-9)
    assert (found.before, found.after) == ((1,), (0,))


@pytest.mark.slow
def test_measures_equal_plain_python() -> None:
    problem = read_problem(AVERAGE)
    watch = "A, entropy(A), max(A), norm(O), distance(O, V[b]), error(O, mean V[a,b])"
    found = study(problem, "K[a] *= 0.8:1.2:9", watch=watch)
    V = [[2, 1], [-1, 4], [3, 3]]
    for row in found.values:
        a = row[:3]
        O = [sum(w * v[j] for w, v in zip(a, V, strict=True)) for j in range(2)]  # noqa: E741
        H = -sum(w * math.log(w) for w in a)
        expected = [
            *(H, math.exp(H), max(a), math.hypot(*O), math.dist(O, V[1])),
            math.dist(O, [0.5, 2.5]),
        ]
        assert list(row[3:]) == pytest.approx(expected, abs=1e-12)
    assert [each.name for each in found.watched[3:]] == [
        *("entropy(A[1,:])", "e^entropy(A[1,:])", "max(A[1,:])", "norm(O[1,:])"),
        *("distance(O[1,:], V[b])", "error(O[1,:], mean V[a,b])"),
    ]


@pytest.mark.slow
def test_digits_equal_those_of_self() -> None:
    """Rounded at each step, with ties: the shown digits are those of exact decimals."""
    problem = read_problem(SAMPLES / "cross.json")
    found = study(problem, "X1[2,1] = -2:2:9", watch="A, O")
    assert found.is_exact
    for point, digits in zip(found.points, found.digits, strict=True):
        alone = solve(at_point(problem, found.changes, point))
        assert digits == (*chain(*alone.shown("A")), *chain(*alone.shown("O")))


def test_a_direction_moves_a_row_and_is_exact() -> None:
    problem = read_problem(AVERAGE)
    change = change_of(problem, "K[a] += 0:1:4 * [1, -1/3, 0]")
    moved = at_point(problem, (change,), (Fraction(1, 3),))
    assert moved.as_typed("K")[0].tolist() == [Fraction(4, 3), Fraction(-1, 9), Fraction(0)]
    assert [float(value) for value in change.values] == pytest.approx(
        [0, 1 / 3, 2 / 3, 1], abs=1e-6
    )  # type: ignore[arg-type]


@pytest.mark.slow
def test_tokens_as_columns_are_changed_by_their_columns() -> None:
    rows = Problem(X=[[1, 2], [3, 4]], W_Q=[[1], [1]], W_K=[[1], [0]], W_V=[[1], [2]])
    turned = Problem(X=[[1, 3], [2, 4]], W_Q=[[1, 1]], W_K=[[1, 0]], W_V=[[1, 2]], layout="columns")
    one, other = (study(each, "X[2] *= 0:2") for each in (rows, turned))
    np.testing.assert_allclose(one.values[:, 1], other.values[:, 2])
    assert other.watched[2].name == "A[2,1]"


def test_words_and_whole_numbers_can_change_too() -> None:
    problem = Problem(**TWO)
    assert study(problem, "normalizer=softmax,hardmax").digits == (
        ("0.73", "0.27"),
        ("1.00", "0.00"),
    )
    assert study(problem, "decimals=0:2", watch="A[1,1]").digits == (("1",), ("0.7",), ("0.73",))
    assert study(problem, "scale=sqrt_dk,none", watch="A[1,1]").digits == (("0.67",), ("0.73",))


# ranges


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("scale=0:1", [i / 10 for i in range(11)]),
        ("scale=0:1:3", [0, 0.5, 1]),
        ("scale=0.1:10:log", [0.1, 0.158489, 0.251189, 0.398107, 0.630957, 1]),
        ("scale=1:100:3:log", [1, 10, 100]),
        ("scale=1:100:log:3", [1, 10, 100]),
        ("scale=0.1,1,10", [0.1, 1, 10]),
        ("scale=1/3", [1 / 3]),
        ("scale=10,0.1", [10, 0.1]),
    ],
)
def test_a_range_has_these_values(text: str, values: list[float]) -> None:
    change = change_of(Problem(**TWO), text)
    assert [float(each) for each in change.values][: len(values)] == values  # type: ignore[arg-type]


REFUSED = [
    ("K[z] *= 0:3", 'K is 3 × 3, and no row is called "z": there are a, b and c'),
    ("K[4] = 1", "K is 3 × 3, so there is no row 4: give 1 to 3"),
    ("K[1,7] = 0:1", "K is 3 × 3, so there is no column 7: give 1 to 3"),
    ("K[1,2,3] = 0:1", "K is 3 × 3: write K[row,column], with : for all"),
    (
        "X[1] = 0:1",
        "this problem has no X, and only what is given can change: there are Q, K and V",
    ),
    ("A[1,1] = 0:1", "A is computed here, and only what is given can change: there are Q, K"),
    ("scale=3:1", '"3:1" goes backward: write 1:3'),
    ("scale=3:1:log", '"3:1:log" goes backward: write 1:3:log'),
    ("scale=2:2", '"2:2" is empty: it begins where it ends'),
    (
        "scale=0:1:log",
        '"0:1:log": a logarithmic range starts above 0, e.g. at 0.01',
    ),
    (
        "scale=-1:1:log",
        '"-1:1:log": a logarithmic range starts above 0, e.g. at 0.01',
    ),
    ("K[a] *= 0:inf", "only scale has a limit at inf: give K a largest value"),
    ("softcap=1:inf", "only scale has a limit at inf: give softcap a largest value"),
    ("scale=0:1:1", '"1" is not a number of steps: give a whole number from 2, or log'),
    ("scale=inf:1", "a range begins at a number: inf can only end it"),
    ("scale *= 2", "a setting takes its values by =, as scale=2"),
    ("scale=warm", 'scale takes "sqrt_dk", "none" or a number that multiplies the scores'),
    ("decimals=0:20", 'decimals takes a whole number from 0 to 12, not "20"'),
    ("K[a] += 0:1 * [1, 0]", "[1, 0] has 2 numbers, where K has 3 here: give one for each"),
    ("K[a] *= 0:1 * [1, 0, 0]", "a matrix is multiplied by numbers alone: write += to move"),
    ("K[a] = one", '"one" is not a number: write from:to, from:to:steps, from:to:log, or values'),
    ("K[a] 3", 'write what changes and its values, as "scale=0.1:10:log", "K[a] *= 0:3"'),
    ("K[a] ~ N(0, 1)", "what is drawn is for attncalc simulate; here, write what changes"),
]


@pytest.mark.campaign(2)
@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_an_impossible_change_is_refused_with_alternatives(
    attncalc: Command, change: str, said: str
) -> None:
    run = attncalc("vary", AVERAGE, change if "=" in change else "scale=1", change)
    if "=" in change:
        run = attncalc("vary", AVERAGE, change)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f'error: "{change}": {said}')
    assert run.err.count("\n") == 1


@pytest.mark.campaign(4)
@pytest.mark.parametrize(
    ("first", "second", "is_refused"),
    [
        ("scale=1:2", "scale=1:3", True),
        ("K[a,1]=0:1", "K[a]=0:2", True),
        ("K *= 1:2", "K = 0:1", True),
        ("K[a]=0:1", "K[b]=0:1", False),
        ("K=0:1", "K[a]=0:1", False),
        ("K[a]=0:1", "K[a] += 0:1", False),
    ],
)
def test_a_change_that_another_leaves_nothing_of_is_refused(
    attncalc: Command, first: str, second: str, is_refused: bool
) -> None:
    run = attncalc("vary", AVERAGE, first, second)
    said = f'error: "{first}" and "{second}" set the same, so the first has no effect\n'
    assert (run.code, run.err) == (2, said) if is_refused else run.code == 0


@pytest.mark.parametrize(
    ("watch", "said"),
    [
        ("A[9,1]", '"A[9,1]": A is 1 × 3, so there is no row 9: use 1 to 1'),
        ("foo(A)", '"foo(A)" is not a measure: write an entry, a row or a step'),
        ("Z", '"Z" is not an entry: write A[3,1]'),
        ("entropy(O)", '"entropy(O)": entropy is of weights: write entropy(A)'),
        ("distance(O, V)", '"distance(O, V)": name one row of V, or their mean, as mean V'),
        ("distance(O)", '"distance(O)" takes two: distance(O, V[b]) or distance(O, mean V[a,b])'),
        ("distance(O, V[z])", '"distance(O, V[z])": V has 3 rows, and no row is called "z"'),
        ("distance(O, K[a])", '"distance(O, K[a])": O is 2 wide, and K 3'),
    ],
)
def test_an_impossible_watched_quantity_is_refused(
    attncalc: Command, watch: str, said: str
) -> None:
    run = attncalc("vary", AVERAGE, "scale=1,2", "--watch", watch)
    assert run.code == 2
    assert run.err.startswith(f"error: {said}")


def test_a_billion_solves_are_refused_with_their_count_and_their_time(attncalc: Command) -> None:
    run = attncalc("vary", AVERAGE, "scale=0:1:1000000000")
    assert run.code == 2
    assert run.err == (
        "error: this is 1,000,000,000 solves, which would take about 27.9 hours: reduce them, or "
        "pass --yes\n"
    )
    grid = attncalc("vary", AVERAGE, "scale=0:1:100000", "K[a] *= 0:3:100000")
    assert "this is 10,000,000,000 solves" in grid.err


@pytest.mark.slow
def test_a_limit_that_depends_on_a_bias_or_a_cap_is_refused(attncalc: Command) -> None:
    run = attncalc("vary", AVERAGE, "scale=0:inf", "--softcap", "5")
    assert "with a softcap scores have no limit at inf: give scale a largest value" in run.err
    run = attncalc("vary", AVERAGE, "scale=0:inf", "--bias", "1 0 0")
    assert "a bias is added to the scaled scores, so ties at inf would depend on it" in run.err
    assert attncalc("vary", AVERAGE, "scale=0:inf", "--bias", "0 -inf 0").code == 0


def test_numbers_beyond_floats_are_refused(attncalc: Command) -> None:
    run = attncalc("vary", AVERAGE, "V[a] *= 1e300:1e308:1000", "--V", "9e307 1; 2 1; 3 1")
    assert run.code == 2
    assert "exceeds the largest float64" in run.err


def test_nothing_and_too_much_that_changes_are_refused(attncalc: Command) -> None:
    assert attncalc("vary", AVERAGE).err.startswith("error: nothing changes: write what changes")
    run = attncalc("vary", AVERAGE, "scale=1", "scale=2", "scale=3")
    assert run.err == "error: 3 changes: one makes a curve, two make a grid\n"
    assert attncalc("vary", "none.json", "scale=1").err == "error: none.json: no such file\n"


# what is written


def test_json_has_the_keys_that_programs_read(attncalc: Command) -> None:
    run = attncalc("vary", AVERAGE, "K[a] *= 0.5:2:2", "--watch", "A[1,1]", "--format", "json")
    found = json.loads(run.out)
    assert set(found) == {"changes", "watched", "rows", "changeovers"}
    assert found["changes"] == ["K[a] *="]
    assert found["watched"] == ["A[1,1]"]
    assert found["rows"][0]["at"] == ["0.5"]
    exact = [pytest.approx(logistic(20), abs=1e-15)]
    assert found["rows"][1] == {"at": ["2"], "values": ["1.00"], "exact": exact}
    assert found["changeovers"] == [
        {"at": pytest.approx(1, abs=1e-9), "output": 1, "from": 2, "to": 1}
    ]
    run = attncalc("vary", AVERAGE, "scale=1,inf", "--format", "json")
    assert json.loads(run.out)["rows"][1]["at"] == ["inf"]


@pytest.mark.slow
def test_the_table_lists_every_value_and_where_first_places_change(attncalc: Command) -> None:
    run = attncalc("vary", AVERAGE, "K[a] *= 0:3")
    assert run.code == 0
    assert "│ 0.9 │   0.12    0.88    0.00 │" in run.out
    assert run.out.endswith("Output q: most input b up to K[a] *= 1.00, most input a beyond\n")
    long = attncalc("vary", AVERAGE, "K[a] *= 0:3:100")
    assert "the middle of the table is left out: --full shows all of it" in long.err
    assert attncalc("vary", AVERAGE, "K[a] *= 0:3:100", "--full").out.count("\n") > 100


def test_two_changes_make_a_grid(attncalc: Command) -> None:
    run = attncalc("vary", AVERAGE, "K[a] *= 1,2", "scale=0,1/20", "--watch", "A[1,1]")
    assert "A[1,1]: K[a] *= down, scale across" in run.out
    assert "│ 2 │ 0.33  0.67 │" in run.out  # e^2 / (e^2 + e + 1)
    data = attncalc(
        "vary", AVERAGE, "K[a] *= 1,2", "scale=0,1/20", "--watch", "A[1,1]", "--format", "csv"
    )
    rows = list(csv.reader(io.StringIO(data.out)))
    assert rows[0] == ["K[a] *=", "scale", "A[1,1]"]
    assert rows[4] == ["2", "0.05", "0.67"]


def test_many_values_have_a_note_about_floats(attncalc: Command) -> None:
    run = attncalc("vary", AVERAGE, "K[a] *= 0:3:600")
    assert "the digits shown come from float64 arithmetic" in run.err


@pytest.mark.slow
def test_every_form_is_written(attncalc: Command, tmp_path: Path) -> None:
    for name in ("s.md", "s.tex", "s.csv", "s.json", "s.npz", "s.txt", "s.png", "s.svg", "s.pdf"):
        run = attncalc("vary", AVERAGE, "K[a] *= 0:3", "-o", name)
        assert run.code == 0, run.err
        assert (tmp_path / name).stat().st_size > 200
    assert "| **0.9** | 0.12 | 0.88 | 0.00 |" in (tmp_path / "s.md").read_text(encoding="utf-8")
    assert r"0.9 & 0.12 & 0.88 & 0.00 \\" in (tmp_path / "s.tex").read_text(encoding="utf-8")
    arrays = np.load(tmp_path / "s.npz")
    assert arrays["values"].shape == (11, 3)
    assert arrays["watched"].tolist() == ["A[1,1]", "A[1,2]", "A[1,3]"]
    assert "most input b up to" not in (tmp_path / "s.csv").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_picture_names_its_lines_and_marks_where_first_places_change(
    attncalc: Command, tmp_path: Path
) -> None:
    from attncalc.writing.plotting.curves import draw as draw_variation
    from attncalc.writing.plotting.look import Look

    problem = read_problem(AVERAGE)
    figure = draw_variation(study(problem, "K[a] *= 0:3"), Look())
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert {"A[1,1]", "A[1,2]", "A[1,3]", "1.00"} <= set(texts)
    *curves, mark = axes.lines
    assert [len(line.get_xdata()) for line in curves] == [301, 301, 301]
    assert mark.get_xdata() == pytest.approx([1, 1])
    grid = draw_variation(study(problem, "K[a] *= 0:3:4", "scale=0,1"), Look())
    assert len(grid.axes) == 6  # a heatmap and its colors for each of three weights
    run = attncalc("vary", AVERAGE, "scale=0:inf", "-o", "limits.svg")
    assert run.code == 0
    assert "scale=0:inf" in (tmp_path / "limits.svg").read_text(encoding="utf-8")


def test_what_was_read_is_never_written(attncalc: Command, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    mine.write_bytes(Path(AVERAGE).read_bytes())
    run = attncalc("vary", "mine.json", "scale=1", "-o", "mine.json", "--format", "json")
    assert run.code == 2
    assert mine.read_bytes() == Path(AVERAGE).read_bytes()


@pytest.mark.slow
def test_the_number_of_solves_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = read_problem(AVERAGE)
    told: list[tuple[int, int]] = []
    change = change_of(problem, "scale=1,2,3")
    watched = read_watched(["A"], problem)
    vary(problem, [change], watched, lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    told.clear()
    monkeypatch.setattr("attncalc.studies.family.AT_ONCE", 3000)
    vary(problem, [change_of(problem, "scale=1:2:600")], watched, lambda *each: told.append(each))
    assert told[-1] == (600, 600)
    assert len(told) > 2


@pytest.mark.slow
def test_large_problems_skip_changeovers_with_a_note() -> None:
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((120, 2)), np.eye(2)
    found = study(Problem(X=X, W_Q=W, W_K=W, W_V=W), "scale=1,2", watch="A[1,1]")
    assert not found.is_sought
    assert found.is_exact
    document = variation_document(found)
    assert (
        "changes of the largest weight are only searched for up to 10,000 scores" in document.notes
    )
    assert not any("float64" in note for note in document.notes)


def test_entropy_of_weights_that_may_be_negative_is_refused() -> None:
    problem = Problem(**TWO, normalizer="sum")
    with pytest.raises(InputError, match="the weights of the normalizer sum can be negative"):
        read_watched(["entropy(A)"], problem)


# from Python


@pytest.mark.slow
def test_python_equals_the_command(attncalc: Command) -> None:
    import attncalc as public

    shown = public.vary(AVERAGE, "K[a] *= 0:3", watch=["A[1,:]", "norm(O)"])
    run = attncalc("vary", AVERAGE, "K[a] *= 0:3", "--watch", "A[1,:]", "--watch", "norm(O)")
    assert str(shown).startswith(run.out)
    assert json.loads(shown.to_json())["watched"][-1] == "norm(O[1,:])"
    assert "| **0.9** |" in shown.to_markdown()
    assert r"\begin{tabular}" in shown.to_latex()
    assert len(shown.plot().axes) == 2
    drawn = public.simulate([AVERAGE, AVERAGE], "K[a] ~ N(mu, 0.1 I)", seed=1, count=200)
    assert len(drawn.found) == 2
    assert "Ratios of the variances" in str(drawn)
    assert len(drawn.plot(size=12).axes) == 4
    aimed = public.aim(AVERAGE, "1/2 v_a + 1/2 v_b", beta=20)
    assert aimed.found.queries.tolist() == [[20, 20, 0]]
    assert json.loads(aimed.to_json())["beta"] == 20
    assert len(aimed.plot().axes) == 2
    for call, said in (
        (lambda: public.vary(AVERAGE), "0 changes: write what changes"),
        (lambda: public.simulate(AVERAGE), "no matrix is random: write what is drawn"),
        (lambda: public.simulate(AVERAGE, "K[a] ~ N(I)", count=1), "draws 1: a standard deviation"),
        (lambda: public.aim(AVERAGE, "v_b", beta="x"), "beta takes a number above 0"),
    ):
        with pytest.raises(InputError, match=said):
            call()


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("self", "permute X = 3 1 2", "3 1 2: the outputs O are permuted alike"),
        ("cross", "permute X2 = 2 1", "2 1: the outputs O do not change"),
        ("rope", "permute X = 2 1 3", "rows 1 and 2, because of the positions (rope)"),
        ("causal", "permute X = dog saw cat a", "because of the causal mask"),
    ],
)
def test_tokens_in_another_order_move_the_outputs_or_not(name: str, change: str, said: str) -> None:
    problem = read_problem(sample(name).path)
    if name == "causal":
        problem = problem.with_field("labels", ("a", "cat", "saw", "dog"))
    elif name == "cross":
        change = f"permute X2 = {' '.join(map(str, range(problem.m, 0, -1)))}"
        said = said.replace("2 1", change.partition("= ")[2])
    document = variation_document(vary(problem, [read_change(change, problem)], []))
    assert said in str(document)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("permute X = 3 1", "X has 3 tokens, and this order has 2: token 2 is missing"),
        ("permute X = 3 1 1", "token 1 is there twice: an order has each of 3 once"),
        ("permute X = 1 2 9", "X has 3 tokens, so there is no token 9: give 1 to 3"),
        ("permute W_Q = 2 1", '"W_Q" has no tokens to permute: only X can be permuted'),
    ],
)
def test_an_order_of_tokens_that_is_none_is_refused(
    attncalc: Command, change: str, why: str
) -> None:
    run = attncalc("vary", str(sample("self").path), change)
    assert (run.code, run.err) == (2, f'error: "{change}": {why}\n')
