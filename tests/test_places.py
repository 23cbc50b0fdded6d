"""The positions of queries among the keys: given, stated, written out and marked."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command
from test_pages import page_of, read_back
from test_work import work

from attncalc import InputError, Problem, check, read_problem, solve
from attncalc.problem.stated import conventions

CACHE = {
    "Q": [[1, 2]],
    "K": [[1, 0], [0, 1], [2, 1]],
    "V": [[1], [2], [4]],
    "positions": "rope",
    "causal": True,
}
LAST = CACHE | {"causal_alignment": "bottom-right"}
SAID = CACHE | {"rope_query_offset": "1/3", "rope_offset": 7}
SQUARE: dict[str, Any] = {name: np.eye(4) for name in ("W_Q", "W_K", "W_V")}
TOKENS = {
    "X1": [[1, 2]],
    "X2": [[1, 0], [0, 1], [2, 1]],
    "W_Q": [[1, 0], [0, 1]],
    "W_K": [[1, 0], [0, 1]],
    "W_V": [[1], [2]],
    "positions": "sinusoidal",
    "causal_alignment": "bottom-right",
}


def positions_said(fields: dict[str, Any]) -> str:
    (said,) = (each for each in conventions(Problem(**fields)) if ", the first " in each)
    return said.removesuffix(", paired columns half the width apart (halves)")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (CACHE, "the first token at place 0"),
        (CACHE | {"rope_offset": 7}, "the first token at place 7"),
        (LAST, "the first query at place 2, the first key at place 0"),
        (LAST | {"rope_offset": 7}, "the first query at place 9, the first key at place 7"),
        (SAID, "the first query at place 1/3, the first key at place 7"),
        (TOKENS, "the first of X1 at place 2, the first of X2 at place 0"),
        (TOKENS | {"causal_alignment": "top-left"}, "the first at place 0"),
    ],
)
def test_the_heading_states_the_positions_of_queries_and_keys(
    fields: dict[str, Any], said: str
) -> None:
    assert positions_said(fields).endswith(f", {said}")


def test_the_heading_states_the_positions_of_query_tokens() -> None:
    only = {"X": [[1, 2]], "W_Q": [[1, 0], [0, 1]], "K": CACHE["K"], "V": CACHE["V"]}
    fields = only | {"positions": "sinusoidal", "causal_alignment": "bottom-right"}
    assert positions_said(fields).endswith(", the first at place 2")
    whole = Problem(**only | {"X": [[0, 0], [0, 0], [1, 2]], "positions": "sinusoidal"})
    assert solve(Problem(**fields)).shown("Q") == solve(whole).shown("Q")[-1:]


@pytest.mark.slow
def test_every_form_keeps_a_given_position(tmp_path: Path) -> None:
    problem = Problem(**SAID)
    for again in read_back(page_of(problem), tmp_path):
        assert again.rope_query_offset == problem.rope_query_offset
        assert solve(again).shown("Q_rot") == solve(problem).shown("Q_rot")
    for again in read_back(page_of(Problem(**LAST)), tmp_path):
        assert again.rope_query_offset is None
        assert again.rope_places == (2, 0)


@pytest.mark.slow
def test_a_place_is_given_in_the_file_or_as_a_flag(attncalc: Command, tmp_path: Path) -> None:
    """In JSON for programs it is a number, also where it follows from the alignment."""
    (tmp_path / "in.json").write_text(json.dumps(LAST), encoding="utf-8")
    for flags, place in (
        ((), 2.0),
        (("--rope-query-offset", "1/2"), 0.5),
        (("--rope-offset", "3"), 5.0),
        (("--rope-query-offset", "4", "--rope-offset", "4"), 4.0),
    ):
        run = attncalc("cross", "in.json", *flags, "--format", "json")
        assert run.code == 0, run.err
        assert json.loads(run.out)["conventions"]["rope_query_offset"] == place
    (tmp_path / "said.json").write_text(json.dumps(SAID), encoding="utf-8")
    assert read_problem(tmp_path / "said.json").rope_places[0].denominator == 3
    assert "--rope-query-offset" in attncalc("cross", "--help-all", COLUMNS="120").out


def test_a_place_that_is_not_a_number_is_refused(attncalc: Command, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rope_query_offset takes a number"):
        Problem(**CACHE | {"rope_query_offset": "last"})
    (tmp_path / "in.json").write_text(json.dumps(CACHE), encoding="utf-8")
    run = attncalc("cross", "in.json", "--rope-query-offset", "last")
    assert run.code == 2
    assert run.err.startswith("error: --rope-query-offset takes a number")


def test_the_work_rotates_a_query_by_its_position() -> None:
    """-0.42 and -0.91 are cos 2 and sin 2, to two decimals."""
    first = "Q_rot[1,1] = (1·cos(2)) - (2·sin(2)) = (1·-0.42) - (2·0.91) ≈ -2.23"
    assert work(Problem(**LAST), "Q_rot")[0] == first
    assert work(Problem(**TOKENS), "P1")[0] == "P1[1,1] = sin(2) ≈ 0.91"


@pytest.mark.parametrize("fields", [LAST | {"rope_offset": 7}, SAID], ids=["last", "said"])
def test_an_answer_is_marked_by_the_position_of_queries(fields: dict[str, Any]) -> None:
    """The key is right; queries rotated from the keys' position are wrong, with the cause."""
    problem = Problem(**fields)
    right = {"Q_rot": solve(problem).shown("Q_rot")}
    assert check(problem, right).score.earned == 1
    first_key = problem.rope_places[1]
    wrong = solve(Problem(**fields | {"rope_query_offset": first_key})).shown("Q_rot")
    marking = check(problem, {"Q_rot": wrong})
    assert marking.score.earned == 0
    assert [cause.code for cause in marking.steps[0].causes] == ["places-of-keys"]


def test_sinusoids_have_any_base_as_a_published_example_has_100() -> None:
    """Width 4, base 100: the second pair turns ten times slower than the first.

    The table is published in Mehreen Saeed, "A Gentle Introduction to Positional Encoding"
    (machinelearningmastery.com): `getPositionEncoding(seq_len=4, d=4, n=100)`.
    """
    X = [[0] * 4] * 4
    problem = Problem(X=X, positions="sinusoidal", positions_base=100, decimals=8, **SQUARE)
    assert solve(problem).shown("P") == [
        ["0.00000000", "1.00000000", "0.00000000", "1.00000000"],
        ["0.84147098", "0.54030231", "0.09983342", "0.99500417"],
        ["0.90929743", "-0.41614684", "0.19866933", "0.98006658"],
        ["0.14112001", "-0.98999250", "0.29552021", "0.95533649"],
    ]
    assert work(problem, "P")[6] == "P[2,3] = sin(1 / 100^(2/4)) ≈ 0.09983342"
    wrong = solve(Problem(X=X, positions="sinusoidal", **SQUARE)).shown("P")
    marking = check(
        Problem(X=X, positions="sinusoidal", positions_base=100, **SQUARE), {"P": wrong}
    )
    assert [cause.code for cause in marking.steps[0].causes] == ["positions-base"]
    with pytest.raises(InputError, match="positions_base takes a number from 1"):
        Problem(X=X, positions="sinusoidal", positions_base=0, **SQUARE)


def test_sinusoids_at_the_positions_of_keys_are_named() -> None:
    problem = Problem(**TOKENS)
    wrong = solve(Problem(**TOKENS | {"causal_alignment": "top-left"})).shown("P1")
    marking = check(problem, {"P1": wrong})
    assert [cause.code for cause in marking.steps[0].causes] == ["places-of-keys"]
    assert check(problem, {"P1": solve(problem).shown("P1")}).score.earned == 1


def test_queries_at_the_end_have_the_sinusoids_of_the_last_positions() -> None:
    P1 = solve(Problem(**TOKENS))["P1"]
    assert np.allclose(P1, [[np.sin(2), np.cos(2)]], rtol=1e-15)
