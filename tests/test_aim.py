"""`attncalc aim`: closed forms of orthonormal keys, keys that depend on each other, refusals."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, Command

from attncalc import Problem, read_problem
from attncalc.problem.samples import SAMPLES, sample
from attncalc.reading.queryless import ANY_QUERY
from attncalc.reading.studies.targets import read_target
from attncalc.solving.solution import solve
from attncalc.studies.aim import Aim, aim

AVERAGE = str(BUNDLED / "average.json")


def designed(target: str, **fields: Any) -> Aim:
    """Design a query for keys and values alone."""
    beta = Fraction(fields.pop("beta", 10))
    own = {name: fields.pop(name) for name in ("heads", "within") if name in fields}
    problem = Problem(Q=[[0] * len(fields["K"][0])], **{"scale": "none"} | fields)
    return aim(problem, read_target(target, problem), beta=beta, **own)


def orthonormal(count: int, seed: int) -> tuple[Any, Any]:
    """Return orthonormal keys in a space of two more dimensions, and values."""
    rng = np.random.default_rng(seed)
    keys, _ = np.linalg.qr(rng.standard_normal((count + 2, count)))
    return keys.T, rng.standard_normal((count, 3))


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 5, 12])
def test_orthonormal_keys_are_averaged_within_the_bound_of_the_theory(count: int) -> None:
    """Of q = β (k_a + k_b) c is within 2 (n - 2) e^-β max ‖v‖ of the average, for β 1 to 50."""
    K, V = orthonormal(count, seed=count)
    longest = max(math.hypot(*v) for v in V)
    for beta in range(1, 51):
        found = designed("1/2 v_1 + 1/2 v_2", K=K, V=V, beta=beta)
        np.testing.assert_allclose(found.queries[0], beta * (K[0] + K[1]), atol=1e-9)
        expected = [beta, beta, *[0] * (count - 2)]
        np.testing.assert_allclose(found.in_keys[0], expected, atol=1e-9)
        # plain Python on the query that was found
        scores = [math.exp(float(found.queries[0] @ k) - beta) for k in K]
        c = [sum(s * v[j] for s, v in zip(scores, V, strict=True)) / sum(scores) for j in range(3)]
        assert found.c == pytest.approx(c, abs=1e-9)
        target = (V[0] + V[1]) / 2
        assert found.error == pytest.approx(math.dist(c, target), abs=1e-9)
        assert found.error <= 2 * (count - 2) * math.exp(-beta) * longest + 1e-12


@pytest.mark.parametrize("target", ["v_2", "1/3 v_1 + 1/3 v_2 + 1/3 v_4", "1/4 v_1 + 3/4 v_3"])
@pytest.mark.parametrize("scale", ["none", "sqrt_dk", "1/3"])
def test_keys_in_any_directions_give_the_target_weights(target: str, scale: str) -> None:
    rng = np.random.default_rng(11)
    K, V = rng.standard_normal((4, 6)), rng.standard_normal((4, 2))
    found = designed(target, K=K, V=V, scale=scale, beta=40)
    wanted = [float(weight) for weight in found.target.weights]
    assert found.weights[0] == pytest.approx(wanted, abs=1e-9)
    factor = {"none": 1, "sqrt_dk": 1 / math.sqrt(6), "1/3": 1 / 3}[scale]
    scores = factor * K @ found.queries[0]
    aimed = [score for score, weight in zip(scores, wanted, strict=True) if weight]
    others = [score for score, weight in zip(scores, wanted, strict=True) if not weight]
    assert max(aimed) == pytest.approx(40, abs=1e-6)
    assert others == pytest.approx([0] * len(others), abs=1e-6)
    # of least norm: nothing of it is where no key is
    assert np.linalg.lstsq(K.T, found.queries[0], rcond=None)[1] == pytest.approx([0], abs=1e-9)


def test_the_query_has_the_least_norm() -> None:
    found = designed("v_1", K=[[1, 0, 0], [0, 1, 0]], V=[[1], [2]])
    assert found.queries.tolist() == [[10, 0, 0]]


def test_the_beta_that_reaches_an_error_reaches_it_and_no_smaller_one_does() -> None:
    """Of n orthonormal keys a copied value has the weight e^β / (e^β + n - 1)."""
    found = designed("v_1", K=np.eye(3), V=[[1], [0], [0]], within=0.001)
    assert found.within is not None
    _, beta = found.within
    # 1 - e^β / (e^β + 2) = 0.001
    assert beta == pytest.approx(math.log(2 * 999), abs=1e-9)


def test_an_error_that_no_beta_reaches_is_reported(attncalc: Command) -> None:
    found = designed("v_3", K=[[1, 0], [0, 1], [0.5, 0.5]], V=[[1], [2], [9]], within=0.001)
    assert found.within == (0.001, None)
    keys = ("--K", "1 0; 0 1; .5 .5", "--V", "1; 2; 9")
    run = attncalc("aim", *keys, "v_3", "--within", "0.001")
    assert run.code == 0
    assert (
        "Impossible: k_3 = 0.5 k_1 + 0.5 k_2, so for every query the score of 3 depends on the "
        "others: it is 0, and the target is 10."
    ) in run.out
    assert "No β brings the error to 0.001." in run.out


def test_keys_that_depend_on_each_other_are_named_and_passed_where_that_is_possible() -> None:
    """On a line, an end can be copied, and a middle cannot."""
    line: dict[str, Any] = {"K": [[1], [2], [3]], "V": [[1], [2], [3]]}
    end = designed("v_3", **line)
    assert end.obstacle is not None
    assert end.obstacle.is_passed
    # the score of 3 is β above that of 2, its neighbor
    assert end.queries.tolist() == [[10]]
    assert end.weights[0][2] == pytest.approx(1 / (1 + math.exp(-10) + math.exp(-20)), abs=1e-12)
    middle = designed("v_2", **line)
    assert middle.obstacle is not None
    assert not middle.obstacle.is_passed
    assert middle.obstacle.key == 1
    assert middle.obstacle.others == ((0, 0.5), (2, 0.5))


@pytest.mark.parametrize("seed", range(6))
def test_a_corner_among_many_keys_can_always_be_copied(seed: int) -> None:
    """Keys on a circle are corners all, though they depend on each other."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * math.pi, 6))
    K = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = designed("v_4", K=K, V=np.eye(6), beta=30)
    assert found.obstacle is None or found.obstacle.is_passed
    assert found.weights[0][3] > 1 - 1e-9


def test_equal_keys_cannot_have_different_weights() -> None:
    found = designed("v_1", K=[[1, 0], [1, 0], [0, 1]], V=[[1], [2], [3]])
    assert found.obstacle is not None
    assert not found.obstacle.is_passed
    assert {found.obstacle.key, found.obstacle.others[0][0]} == {0, 1}


def test_a_key_of_zeros_is_copied_by_turning_away_from_the_others() -> None:
    found = designed("v_1", K=[[0, 0], [1, 0], [0, 1]], V=[[1], [2], [3]])
    assert found.queries.tolist() == [[-10, -10]]
    assert found.obstacle is None


def test_heads_that_are_averaged_each_have_a_query_for_one_value() -> None:
    found = designed("1/2 v_1 + 1/2 v_3", K=np.eye(3), V=[[3], [1], [5]], heads=2)
    assert found.queries.tolist() == [[10, 0, 0], [0, 0, 10]]
    weight = math.exp(10) / (math.exp(10) + 2)
    assert found.weights[:, [0, 2]].diagonal() == pytest.approx([weight, weight])
    rest = (1 - weight) / 2
    assert found.c == pytest.approx([4 * (weight + rest) + 1 * 2 * rest / 2 * 1], abs=1e-3)
    assert found.aimed_at.tolist() == [4]
    thirds = designed("1/3 v_1 + 2/3 v_2", K=np.eye(3), V=[[3], [1], [5]], heads=3)
    assert thirds.queries.tolist() == [[10, 0, 0], [0, 10, 0], [0, 10, 0]]


def test_the_query_that_is_shown_gives_the_weights_that_are_shown() -> None:
    found = designed("1/4 v_1 + 3/4 v_2", K=[[1, 2], [0, 1]], V=[[1], [2]])
    again = solve(
        Problem(Q=found.queries, K=[[1, 2], [0, 1]], V=[[1], [2]], scale="none", decimals=6)
    )
    assert again["A"][0] == pytest.approx([0.25, 0.75], abs=1e-9)


# reading and writing


def test_no_query_is_needed_and_one_that_is_there_is_not_used(
    attncalc: Command, tmp_path: Path
) -> None:
    expected = {"a": 10, "b": 10}
    for fields in (
        {"K": np.eye(3).tolist(), "V": [[1], [2], [3]], "labels": {"K": ["a", "b", "c"]}},
        {"X": np.eye(3).tolist(), "W_K": np.eye(3).tolist(), "W_V": [[1], [2], [3]],
         "labels": ["a", "b", "c"]},
        {"X1": [[9, 9]], "X2": np.eye(3).tolist(), "W_Q": np.ones((2, 3)).tolist(),
         "W_K": np.eye(3).tolist(), "W_V": [[1], [2], [3]],
         "labels": {"X1": ["q"], "X2": ["a", "b", "c"]}},
    ):  # fmt: skip
        file = tmp_path / "keys.json"
        file.write_text(json.dumps(fields | {"scale": "none"}), encoding="utf-8")
        run = attncalc("aim", "keys.json", "1/2 v_a + 1/2 v_b", "--format", "json")
        assert run.code == 0, run.err
        assert json.loads(run.out)["in_keys"] == expected


def test_tokens_as_columns_have_their_keys_read(attncalc: Command) -> None:
    keys = ("--K", "1 0 0; 0 1 0", "--V", "1 2 3", "--layout", "columns", "--no-scale")
    run = attncalc("aim", *keys, "1/2 v_1 + 1/2 v_2", "--format", "json")
    assert json.loads(run.out)["q"] == [10, 10]


def test_json_has_the_keys_that_programs_read(attncalc: Command) -> None:
    run = attncalc("aim", AVERAGE, "1/2 v_a + 1/2 v_b", "--beta", "10", "--format", "json")
    found = json.loads(run.out)
    assert set(found) == {"q", "in_keys", "beta", "weights", "c", "target", "error"}
    assert found["q"] == [10, 10, 0]
    assert found["in_keys"] == {"a": 10, "b": 10}
    assert found["beta"] == 10
    assert found["target"] == [0.5, 2.5]
    assert sum(found["weights"]) == pytest.approx(1)
    assert found["error"] == pytest.approx(math.dist(found["c"], found["target"]))


@pytest.mark.slow
def test_the_page_shows_the_query_and_the_error_for_beta(attncalc: Command) -> None:
    run = attncalc("aim", AVERAGE, "1/2 v_a + 1/2 v_b", "--within", "0.001")
    assert "q = 10 k_a + 10 k_b" in run.out
    assert "The error ‖c - target‖ is 5.78725e-05." in run.out
    assert "From β = 7.15012 on the error is 0.001 or less." in run.out
    assert "│ 5  │   0.50    0.50    0.00    0.51    2.50      0.00856 │" in run.out


@pytest.mark.slow
def test_every_form_is_written(attncalc: Command, tmp_path: Path) -> None:
    for name in ("s.md", "s.tex", "s.csv", "s.json", "s.npz", "s.txt", "s.svg"):
        run = attncalc("aim", AVERAGE, "v_b", "-o", name)
        assert run.code == 0, run.err
        assert (tmp_path / name).stat().st_size > 200


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "1/2 v_a + 1/4 v_b",
            "the weights sum to 0.75, and those of a softmax to 1: write 2/3 v_a + 1/3 v_b",
        ),
        ("2 v_a", "the weights sum to 2, and those of a softmax to 1: write v_a"),
        ("2 v_a - v_b", "v_b has the weight -1, and no weight of a softmax is below 0"),
        ("v_a - v_a", "the weights sum to 0: write weights and values, as"),
        ("v_z", 'there are 3 values, and no value is called "z": there are a, b and c'),
        ("v_4", "there are 3 values, so there is no value 4: give 1 to 3"),
        ("half of a", 'write weights and values, as "1/2 v_a + 1/2 v_b", "v_b"'),
        ("1/2 v_a 1/2 v_b", "write weights and values, as"),
        ("1/0 v_a + v_b", '"1/0" divides by zero'),
    ],
)
def test_an_impossible_target_is_refused_with_alternatives(
    attncalc: Command, target: str, said: str
) -> None:
    run = attncalc("aim", AVERAGE, target)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f'error: "{target}": {said}')


def test_problems_in_which_a_query_does_not_decide_are_refused(attncalc: Command) -> None:
    start = "error: aim designs a query for a softmax over all keys of one head: "
    for flags, fault in (
        (("--causal",), "masks hide keys from a query"),
        (("--softcap", "3"), "softcap is not linear in the scores"),
        (("--normalizer", "hardmax"), "the normalizer is hardmax"),
        (("--scale", "0"), "scale is 0"),
    ):
        assert attncalc("aim", AVERAGE, "v_b", *flags).err == f"{start}{fault}\n"
    run = attncalc("aim", AVERAGE, "v_b", "--keep", "1 1 0")
    assert "a designed query sees every key: leave out keep" in run.err
    run = attncalc("aim", AVERAGE, "1/3 v_a + 2/3 v_b", "--heads", "2")
    assert run.err == (
        'error: "1/3 v_a + 2/3 v_b": 2 heads, one value each, average to parts of 1/2: '
        "give 3 heads\n"
    )
    for flag, said in (
        (("--beta", "-1"), "--beta -1: β must be above 0, for example 10"),
        (("--beta", "x"), '--beta takes a number above 0: "x" is not a number'),
        (("--within", "0"), "--within 0: an error must be above 0, as 0.001"),
    ):
        assert attncalc("aim", AVERAGE, "v_b", *flag).err == f"error: {said}\n"


def test_a_replaced_query_keeps_keys_and_values() -> None:
    problem = read_problem(AVERAGE, Q=ANY_QUERY)
    assert problem.Q.tolist() == [[0, 0, 0]]
    assert problem.keys == ("a", "b", "c")


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--heads", "2")])
def test_a_designed_problem_can_be_designed_again(
    attncalc: Command, tmp_path: Path, more: tuple[str, ...]
) -> None:
    asked = "1/2 v_a + 1/2 v_b", "--title", "Two", *more
    assert attncalc("aim", AVERAGE, *asked, "--save", "saved.json").code == 0
    first = attncalc("aim", AVERAGE, *asked).out
    again = attncalc("aim", "saved.json", *asked, "--save", "again.json")
    assert (again.code, again.out) == (0, first)
    assert (tmp_path / "again.json").read_text() == (tmp_path / "saved.json").read_text()


ONE_KEY = {"K": [[1, 0], [0, 1]], "V": [[1], [3]], "heads": 2, "scale": "none", "combine": "mean"}


@pytest.mark.parametrize(
    "queries",
    [
        {"Q": [[1, 0, 0, 1]]},
        {"Q": [[[1, 0]], [[0, 1]]]},
        {"X1": [[1]], "W_Q": [[1, 0, 0, 1]]},
        {"X1": [[1]], "W_Q": [[1], [0], [0], [1]], "weights_layout": "torch"},
        {"X1": [[1]], "W_Q": [[[1, 0]], [[0, 1]]]},
        {"Q": [[1], [0], [0], [1]], "K": [[1, 0], [0, 1]], "V": [[1, 3]], "layout": "columns"},
    ],
)
def test_a_query_is_designed_for_one_key_head_however_query_heads_are_given(
    attncalc: Command, tmp_path: Path, queries: dict[str, Any]
) -> None:
    (tmp_path / "in.json").write_text(json.dumps(ONE_KEY | queries))
    run = attncalc("aim", "in.json", "v_2", "--format", "json")
    assert run.code == 0, run.err
    assert json.loads(run.out)["q"] == [0, 10]


@pytest.mark.slow
def test_no_title_of_a_sample_is_a_command() -> None:
    """It is above pictures, where a shell command does not fit."""
    titles = {each.name: read_problem(sample(each.name).path).title for each in SAMPLES}
    assert not [name for name, title in titles.items() if "attncalc" in title or "--" in title]


@pytest.mark.slow
def test_a_designed_problem_is_saved_and_solved_again(attncalc: Command, tmp_path: Path) -> None:
    run = attncalc("aim", AVERAGE, "1/2 v_a + 1/2 v_b", "--heads", "2", "--save", "two.json")
    assert "written to two.json" in run.err
    saved = read_problem(tmp_path / "two.json")
    assert saved.Q.tolist() == [[[10, 0, 0]], [[0, 10, 0]]]
    assert (saved.combine, saved.keys) == ("mean", ("a", "b", "c"))
    again = attncalc("self", "two.json", "--only", "O", "--format", "json")
    assert json.loads(again.out)["steps"][0]["shown"] == [["0.50", "2.50"]]
    mine = tmp_path / "mine.json"
    mine.write_bytes(Path(AVERAGE).read_bytes())
    assert attncalc("aim", "mine.json", "v_b", "--save", "mine.json").code == 2
    assert mine.read_bytes() == Path(AVERAGE).read_bytes()
