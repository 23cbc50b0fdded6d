"""A rubric: what steps count, how many points there are, and what a cause costs."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BUNDLED, Command
from test_schemas import faults

from attncalc import Problem, check

pytestmark = pytest.mark.campaign(4)

PROBLEM = str(BUNDLED / "self.json")
UNSCALED = {"Q": [[1, 0], [0, 1]], "K": [[1, 1], [0, 2]], "V": [[-2, 2], [4, -1]]}
TRANSPOSED = str(BUNDLED / "answers" / "transposed-scores.txt")
SIGN = str(BUNDLED / "answers" / "lost-sign.tex")
RUBRIC = {
    "points": 10,
    "weights": {"A": 2, "connections": "1/2"},
    "deductions": {"scores-transposed": "1/2", "conceptual": 1},
    "follow_penalty": 0,
}


@pytest.mark.slow
def test_a_conceptual_error_costs_its_step_and_a_slip_its_entry() -> None:
    assert check(PROBLEM, TRANSPOSED).score == (6, 7)
    assert check(PROBLEM, SIGN).score == (6 + Fraction(5, 6), 7)
    content = json.loads((BUNDLED / "answers" / "hand.json").read_text("utf-8"))
    content["A"] = [["0", "0", "0.88"], ["0", "0", "0.12"], ["1", "1", "0"]]
    marking = check(PROBLEM, {name: content[name] for name in "QKVSA"})
    assert [cause.code for cause in marking.steps[4].causes] == ["softmax-columns"]
    assert marking.score == (4, 6)
    content.pop("O")
    kept = check(PROBLEM, content, deductions={"conceptual": 0})
    assert kept.score == (6, 7)


@pytest.mark.parametrize("steps", ["S, A, O", "S, O", "O", "S, S_scaled, A, O"])
def test_a_conceptual_error_costs_the_same_where_its_step_does_not_count(steps: str) -> None:
    given = {name: np.array(rows) for name, rows in UNSCALED.items()}
    scores = given["Q"] @ given["K"].T
    weights = (np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)).round(2)
    answer = {"S": scores, "A": weights, "O": (weights @ given["V"]).round(2)}
    asked = steps.split(", ")
    for written in (answer, {**answer, "S_scaled": scores}):
        marking = check(Problem(**UNSCALED), written, asked=asked)
        lost = 2 if "S_scaled" in asked and written is answer else 1  # it was asked for
        assert marking.score == (len(asked) - lost, len(asked)), marking.verdict


def test_an_unknown_cause_is_refused_with_all_that_are_known(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "rubric.json").write_text(json.dumps({"deductions": {"foo": 1}}))
    told = attncalc("check", PROBLEM, TRANSPOSED, "--rubric", "rubric.json").err
    assert "softmax-columns" in told
    assert "…" not in told


@pytest.mark.slow
def test_feedback_shows_the_points_weights_and_deductions_of_a_rubric(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "rubric.json").write_text(json.dumps(RUBRIC))
    assert faults("rubric", RUBRIC) == []
    run = attncalc("check", PROBLEM, TRANSPOSED, "--rubric", "rubric.json")
    assert "Score: 9.33 of 10 (93 %)\n" in run.out
    assert "S 0.67 of 1.33 (−0.67 for its cause), A 2.67, O 1.33, the lines" in run.out
    run = attncalc("check", PROBLEM, TRANSPOSED, "--rubric", "rubric.json", "--fractions")
    assert "Score: 28/3 of 10 (93 %)\n" in run.out
    flags = ("--rubric", "rubric.json", "--points", "15/2", "--weight", "A=0", "--format", "json")
    content = json.loads(attncalc("check", PROBLEM, TRANSPOSED, *flags).out)
    assert content["score"] == {"earned": "75/11", "possible": "15/2"}
    assert content["steps"][3]["deduction"] == "1/2"
    (tmp_path / "both").mkdir()
    for place in (TRANSPOSED, SIGN):
        (tmp_path / "both" / Path(place).name).write_bytes(Path(place).read_bytes())
    run = attncalc("check", PROBLEM, "both", "--rubric", "rubric.json", "-o", "marked/")
    assert "of 10 (" in run.out
    assert (
        "**Score: 9.33 of 10 (93 %)**" in (tmp_path / "marked" / "transposed-scores.md").read_text()
    )
    assert check(PROBLEM, TRANSPOSED, rubric=tmp_path / "rubric.json").score.possible == 10


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("[]", "rubric.json: a rubric is one JSON object, between { and }"),
        ('{"points": ', "rubric.json: not JSON at line 1, column 12: Expecting value"),
        ('{"points": 1, "points": 2}', 'rubric.json: "points" is given twice'),
        ('{"point": 1}', 'rubric.json: unknown name "point": did you mean points?'),
        ('{"points": 0}', "rubric.json: points takes a number above 0, not 0"),
        ('{"points": "many"}', 'rubric.json: points: "many" is not a number'),
        ('{"points": true}', 'rubric.json: points: "True" is not a number'),
        ('{"weights": 3}', 'rubric.json: weights takes numbers by name, as {"A": 2}'),
        ('{"weights": {"A": -1}}', "rubric.json: weights of A takes a number from 0, not -1"),
        (
            '{"deductions": {"scale-none": 2}}',
            "rubric.json: deductions of scale-none takes a number from 0 to 1, not 2",
        ),
        ('{"asked": [1]}', 'rubric.json: asked takes names, as "Q,A"'),
        ('{"steps": "Q", "asked": "Q"}', "rubric.json: steps and asked are the same here"),
        ('{"weights": {"Z": 1}}', 'rubric.json: weights: unknown name "Z"'),
        ('{"require": "Q,Z"}', 'rubric.json: require: unknown name "Z"'),
        ('{"deductions": {"softmax-colums": 1}}', '"softmax-colums": did you mean softmax-columns'),
        (
            '{"deductions": {"foo": 1}}',
            'deductions: unknown name "foo" (known: a-k, a-q, a-x, base',
        ),
        ('{"deductions": {"Bad One": 1}}', 'rubric.json: deductions: unknown name "Bad One"'),
    ],
)
def test_an_invalid_rubric_states_why(
    said: str, message: str, attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "rubric.json").write_text(said)
    run = attncalc("check", PROBLEM, SIGN, "--rubric", "rubric.json")
    assert (run.code, run.out) == (2, "")
    assert message in run.err


@pytest.mark.slow
def test_a_rubric_may_contain_steps_of_other_problems(attncalc: Command, tmp_path: Path) -> None:
    said: dict[str, Any] = {"$schema": "r.json", "deductions": {"mask-inverted": 1, "copying": 1}}
    (tmp_path / "rubric.json").write_text(json.dumps(said))
    assert attncalc("check", PROBLEM, SIGN, "--rubric", "rubric.json").code == 1
    assert faults("rubric", said) == []
    assert faults("rubric", {"point": 1})
    assert attncalc("check", PROBLEM, SIGN, "--rubric", "none.json").code == 2
