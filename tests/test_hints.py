"""Graded hints: each level tells what it says and no more, and costs what the rubric says."""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from attncalc import check, new, solve
from attncalc.problem.serialising import in_json

PROBLEM = new(tokens=3, seed=11)
RIGHT = {step.name: solve(PROBLEM)[step.name].round(2).tolist() for step in solve(PROBLEM).plan}
STEPS = list(RIGHT)


def hinted(attncalc: Command, folder: Path, answer: dict[str, Any], level: int, *flags: str) -> str:
    (folder / "problem.json").write_text(json.dumps(in_json(PROBLEM)))
    (folder / "answer.json").write_text(json.dumps(answer))
    run = attncalc("check", "problem.json", "answer.json", "--hint", str(level), *flags)
    assert run.code in (0, 1), run.err
    return run.out


def numbers(text: str) -> list[str]:
    return re.findall(r"-?\d+(?:\.\d+)?", text)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_hint_tells_no_more_than_its_level(step: str, attncalc: Command, tmp_path: Path) -> None:
    wrong = [list(row) for row in RIGHT[step]]
    wrong[1][0] += 0.37
    answer = {**RIGHT, step: wrong}
    texts = [hinted(attncalc, tmp_path, answer, level) for level in (1, 2, 3)]
    assert texts[0] == f"Look at {step}, row 2, column 1.\n"
    opening, rule, cost = texts[1].splitlines()
    assert opening == texts[0].strip()
    assert rule.startswith(f"{step} = ")
    assert not [each for each in numbers(rule) if "." in each]  # names of matrices alone
    assert cost.startswith(f"This hint costs 1/4 of the points of {step}: ")
    line = texts[2].splitlines()[2]
    assert line.startswith(f"{step}[2,1] = ")
    assert line.partition(" (")[0].endswith("?") or line.endswith("?")
    result = f"{RIGHT[step][1][0]:.2f}"
    assert not re.search(rf"= {re.escape(result)}(?!\d)(?! ?[+·/])", line)


@pytest.mark.slow
def test_numbers_of_steps_that_are_not_shown_stay_unknown(
    attncalc: Command, tmp_path: Path
) -> None:
    answer = {"A": [[0.2, 0.3, 0.5]] * 3, "O": RIGHT["O"]}
    text = hinted(attncalc, tmp_path, answer, 3)
    assert "First compute Q: Q = X W_Q." in text
    assert "Q[1,1] = " in text
    assert "A[1,1] = " not in text


def test_a_right_answer_has_no_hint_and_a_missing_step_has(
    attncalc: Command, tmp_path: Path
) -> None:
    assert hinted(attncalc, tmp_path, RIGHT, 3) == "No mistakes found.\n"
    missing = {name: each for name, each in RIGHT.items() if name != "O"}
    assert hinted(attncalc, tmp_path, missing, 1) == "Look at O, which the answer does not show.\n"


def test_hints_cost_what_the_rubric_says(attncalc: Command, tmp_path: Path) -> None:
    taken = {**RIGHT, "problem": {"hints": {"Q": 1, "K": 2, "A": 3, "O": 9, "other": 2}}}
    (tmp_path / "problem.json").write_text(json.dumps(in_json(PROBLEM)))
    (tmp_path / "answer.json").write_text(json.dumps(taken))
    steps = len(STEPS)
    for rubric, lost in (
        ({}, Fraction(3, 4)),
        ({"hint_costs": {"1": "1/10", "3": 1}}, Fraction(1, 10) + Fraction(1, 4) + 1),
        ({"hint_costs": {"2": 0, "3": 0}}, Fraction(0)),
    ):
        (tmp_path / "rubric.json").write_text(json.dumps(rubric))
        flags = ("--rubric", "rubric.json", "--fractions")
        run = attncalc("check", "problem.json", "answer.json", *flags)
        assert f"Score: {steps - lost} of {steps}" in run.out
        assert "for a hint" in run.out or not lost
    wrong = {**RIGHT, "Q": [[9, 9], [9, 9], [9, 9]]}
    (tmp_path / "rubric.json").write_text('{"hint_costs": {"2": "1/3"}}')
    text = hinted(
        attncalc, tmp_path, wrong, 2, "--rubric", "rubric.json", "--points", str(3 * steps)
    )
    assert "This hint costs 1/3 of the points of Q: 1.0 of 3." in text


@pytest.mark.slow
def test_hints_take_one_answer_and_levels_from_1_to_3(attncalc: Command, tmp_path: Path) -> None:
    assert check(PROBLEM, RIGHT, hint_costs={"1": 1}).score.earned == len(STEPS)
    (tmp_path / "problem.json").write_text(json.dumps(in_json(PROBLEM)))
    (tmp_path / "answer.json").write_text(json.dumps(RIGHT))
    run = attncalc("check", "problem.json", "answer.json", "answer.json", "--hint", "1")
    assert run.code == 2
    assert "--hint takes one answer" in run.err
    assert attncalc("check", "problem.json", "answer.json", "--hint", "4").code == 2
    (tmp_path / "rubric.json").write_text('{"hint_costs": {"4": 1}}')
    run = attncalc("check", "problem.json", "answer.json", "--rubric", "rubric.json")
    assert 'hint_costs takes the levels 1 to 3, as {"2": "1/4"}' in run.err


def test_an_earlier_step_is_asked_for_only_where_the_line_needs_it(
    attncalc: Command, tmp_path: Path
) -> None:
    """O reads A and V, which are shown: no step before them is asked for."""
    answer = {name: RIGHT[name] for name in STEPS if name not in ("S_scaled", "O")}
    said = hinted(attncalc, tmp_path, answer, 3)
    assert "First compute" not in said
    assert "O[1,1] = (" in said
