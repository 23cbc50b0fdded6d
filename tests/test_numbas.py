"""Exams for Numbas, marked by the runtime of Numbas itself where NUMBAS says where it lies."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from attncalc import read_problem, solve
from attncalc.problem.samples import sample

RUN = Path(__file__).parent / "numbas.mjs"
NODE = shutil.which("node") or shutil.which("nodejs")
NUMBAS = os.environ.get("NUMBAS", "")
needs_numbas = pytest.mark.skipif(
    NODE is None or not NUMBAS,
    reason="NUMBAS is not the folder tests/ of Numbas, with its packages, or there is no node",
)


def in_numbas(exam: str, *answers: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what Numbas takes for right, and the score of each step of each answer."""
    done = subprocess.run(
        [str(NODE), str(RUN)],
        input=json.dumps({"text": exam, "answers": answers}),
        cwd=NUMBAS,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    told = json.loads(done.stdout)
    return told["right"], told["scores"]


def numbers(matrix: Any) -> list[list[float]]:
    return [[float(text) for text in row] for row in matrix]


PROBLEMS: list[dict[str, Any]] = [
    {},
    {"rounding": "display", "scale": "sqrt_dk"},
    {"causal": True, "scale": "sqrt_dk", "decimals": 3},
    {"scale": "1/3", "weights_layout": "torch", "W_Q": [[0, 1, 1, 0], [1, 0, 0, 2]]},
    {"P": [[1, 0, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0.5]]},
]
"""What is changed of homework 1."""


def problem_with(changes: dict[str, Any]) -> dict[str, Any]:
    given = json.loads(sample("self").path.read_text(encoding="utf-8"))
    if changes.get("weights_layout") == "torch":
        for name in ("W_K", "W_V"):
            given[name] = [list(row) for row in zip(*given[name], strict=True)]
    return {**given, **changes}


@needs_numbas
@pytest.mark.parametrize("changes", PROBLEMS, ids=str)
def test_the_right_answer_earns_all(
    changes: dict[str, Any], attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text(json.dumps(problem_with(changes)))
    done = attncalc("export", "in.json", "--to", "numbas")
    assert done.code == 0, done.err
    solution = solve(read_problem(tmp_path / "in.json"))
    asked = [step.name for step in solution.plan if not step.is_between]
    answer = {name: solution.shown(name) for name in asked}
    right, (scores,) = in_numbas(done.out, answer)
    assert right == {name: numbers(answer[name]) for name in asked}
    assert scores == dict.fromkeys(asked, 1)


@needs_numbas
def test_a_sign_lost_in_q_and_carried_on_costs_its_entry_alone(
    attncalc: Command, tmp_path: Path
) -> None:
    """What follows is worked out here, from the answer's own Q, by other means than Numbas'."""
    given = problem_with({})
    (tmp_path / "in.json").write_text(json.dumps(given))
    exam = attncalc("export", "in.json", "--to", "numbas", "--points", "12").out
    solution = solve(read_problem(tmp_path / "in.json"))
    answer = {name: solution.shown(name) for name in ("Q", "K", "V", "S", "A", "O")}
    own = {name: given[name] for name in ("decimals", "rounding", "scale") if name in given}
    Q = [*answer["Q"][:2], ["2.50", "2.00"]]
    (tmp_path / "own.json").write_text(
        json.dumps({"Q": Q, "K": answer["K"], "V": answer["V"], **own})
    )
    follows = solve(read_problem(tmp_path / "own.json"))
    carried = answer | {"Q": Q} | {name: follows.shown(name) for name in ("S", "A", "O")}
    assert carried["S"] != answer["S"]
    only_q = answer | {"Q": Q}
    _, scores = in_numbas(exam, carried, only_q)
    expected = {"Q": pytest.approx(2 * 5 / 6, abs=0.01), "K": 2, "V": 2, "S": 2, "A": 2, "O": 2}
    assert scores == [expected, expected]


@needs_numbas
@pytest.mark.parametrize(
    ("key", "shown"), [("-1.005", -1.01), ("1.005", 1.01), ("2.675", 2.68), ("-0.125", -0.13)]
)
def test_halves_are_rounded_away_from_zero(
    key: str, shown: float, attncalc: Command, tmp_path: Path
) -> None:
    """Numbas' own precround(-1.005, 2) is -1.00."""
    problem = {"Q": [[1]], "K": [[key]], "V": [[1]], "scale": "none", "rounding": "each-step"}
    (tmp_path / "in.json").write_text(json.dumps(problem))
    right, _ = in_numbas(attncalc("export", "in.json", "--to", "numbas").out)
    assert right["S"] == [[shown]]


@needs_numbas
def test_words_of_a_problem_are_only_shown(attncalc: Command, tmp_path: Path) -> None:
    problem = problem_with({"title": '<b>"a"#\'', "labels": ["i", "pi", "</td>"]})
    (tmp_path / "in.json").write_text(json.dumps(problem))
    right, _ = in_numbas(attncalc("export", "in.json", "--to", "numbas").out)
    assert right["Q"] == [[1, 3], [-1, 1], [2.5, -2]]


def test_an_exam_has_a_part_for_each_step_that_is_asked_for(attncalc: Command) -> None:
    done = attncalc(
        "export", str(sample("self").path), "--to", "numbas", "--steps", "Q,S,O", "--weight", "S=2"
    )
    assert "note: Numbas marks each step from the student's own earlier matrices" in done.err
    first, _, text = done.out.partition("\n")
    assert first.startswith("// Numbas version: ")
    (group,) = json.loads(text)["question_groups"]
    (question,) = group["questions"]
    parts = {part["customName"]: part for part in question["parts"]}
    assert {name: part["marks"] for name, part in parts.items()} == {"Q": 1, "S": 2, "O": 1}
    assert {name: part["numRows"] + part["numColumns"] for name, part in parts.items()} == {
        "Q": "32",
        "S": "33",
        "O": "32",
    }
    assert all(part["type"] == "matrix" and part["markPerCell"] for part in parts.values())
    replaced = {
        name: [(each["variable"], each["part"]) for each in part["variableReplacements"]]
        for name, part in parts.items()
    }
    assert replaced == {"Q": [], "S": [("attn_Q", "p0")], "O": [("attn_S", "p1")]}


REFUSED = [
    ("columns", "the exam for Numbas holds attention alone, with tokens as rows"),
    ("encoder", "the exam for Numbas holds attention alone, with tokens as rows"),
    ("heads", "Q has several heads: the exam for Numbas holds one"),
    (
        "torch",
        "Q = X W_Qᵀ + b_Q: the exam for Numbas holds products, sums, scales, causal masks and "
        "softmax, of one head alone",
    ),
    ("masks", "bias is no single matrix of finite numbers, as Numbas needs it"),
    (
        "causal --steps Q,S_masked",
        "S_masked holds -inf, which no cell can: say --steps Q",
    ),
    (
        "self --rounding-penalty 1/2",
        "--rounding-penalty: Numbas takes nothing off, and knows no such entries",
    ),
    ("self --steps Q,connections", "Numbas asks for numbers, not for connections: say --steps Q"),
    (
        "self --title a{b}",
        '"a{b}": Numbas takes { } $ \\ for parts of a formula: give the title or the token '
        "another name",
    ),
]


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_what_numbas_cannot_hold_is_said(
    attncalc: Command, tmp_path: Path, words: str, said: str
) -> None:
    name, *flags = words.split()
    done = attncalc("export", str(sample(name).path), "--to", "numbas", *flags)
    assert (done.code, done.out, done.err) == (2, "", f"error: {said}\n")
