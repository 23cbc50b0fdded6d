"""Exams for Numbas, marked by the runtime of Numbas itself if NUMBAS is its path."""

import json
import os
import re
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
IS_MATRIX = re.compile(r"[^,]+(, (head|Kopf) \d+)?")
"""The name of the part of a matrix, or of one head; lines of the map are called "cat, second"."""
needs_numbas = pytest.mark.skipif(
    NODE is None or not NUMBAS,
    reason="NUMBAS is not the folder tests/ of Numbas, with its packages, or there is no node",
)


def in_numbas(exam: str, *answers: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the right matrices for Numbas, and the score of each for each answer.

    Drop-downs of the map are left out: `test_lines_in_systems.py` tests them.
    """
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
    right, *scores = (
        {part: each for part, each in parts.items() if IS_MATRIX.fullmatch(part)}
        for parts in (told["right"], *told["scores"])
    )
    return right, scores


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
def test_numbas_takes_decimal_commas_and_answers_in_german(
    attncalc: Command, tmp_path: Path
) -> None:
    given = problem_with({"language": "de"})
    (tmp_path / "in.json").write_text(json.dumps(given))
    exam = attncalc("export", "in.json", "--to", "numbas").out
    solution = solve(read_problem(tmp_path / "in.json"))
    asked = [step.name for step in solution.plan if not step.is_between]
    commas = {n: [[t.replace(".", ",") for t in row] for row in solution.shown(n)] for n in asked}
    _, scores = in_numbas(exam, commas, {"Q": commas["Q"], "S": [["9"] * 3] * 3})
    assert scores[0] == dict.fromkeys(asked, 1)
    assert scores[1] == {**dict.fromkeys(asked, 0), "Q": 1}


@needs_numbas
def test_a_sign_lost_in_q_costs_only_its_entry(attncalc: Command, tmp_path: Path) -> None:
    """Later steps are computed here from the answer's own Q, independently of Numbas."""
    given = problem_with({})
    (tmp_path / "in.json").write_text(json.dumps(given))
    asked = ("--points", "12", "--steps", "Q,K,V,S,A,O")
    exam = attncalc("export", "in.json", "--to", "numbas", *asked).out
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


LAYERS = ("encoder", "decoder", "columns", "masks", "vit")


@needs_numbas
@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_layers_and_other_layouts_are_marked_alike(name: str, attncalc: Command) -> None:
    solution = solve(read_problem(sample(name).path))
    last = ",".join(step.name for step in solution.plan[-9:])  # all steps of vit are too many
    steps = ("--steps", last) if name == "vit" else ()
    done = attncalc("export", str(sample(name).path), "--to", "numbas", *steps)
    assert done.code == 0, done.err
    answer = by_part({step.name: solution.shown(step.name) for step in solution.plan})
    right, (scores,) = in_numbas(done.out, answer)
    assert right == {part: numbers(answer[part]) for part in right}
    assert sum(scores.values()) == pytest.approx(len({part.split(",")[0] for part in right}))


OF_HEADS: list[tuple[str, dict[str, Any]]] = [
    ("heads", {}),
    ("heads", {"rounding": "each-step", "causal": True}),
    ("heads", {"weights_layout": "torch"}),
    ("grouped", {}),
    ("heads", {"combine": "mean", "W_O": None, "b_O": None}),
    ("torch", {"normalizer": "softmax"}),
]
"""Samples with heads or biases, and what is changed of them; of one, heads share keys."""


def sample_with(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    given = json.loads(sample(name).path.read_text(encoding="utf-8"))
    if name == "heads" and changes.get("weights_layout") == "torch":
        for weights in ("W_Q", "W_K", "W_V", "W_O"):
            given[weights] = [list(row) for row in zip(*given[weights], strict=True)]
    return {name: value for name, value in {**given, **changes}.items() if value is not None}


def by_part(shown: dict[str, Any]) -> dict[str, Any]:
    """Return what is shown by the names of parts: each head is one."""
    parts = {}
    for name, matrix in shown.items():
        if isinstance(matrix[0][0], list):
            parts |= {f"{name}, head {head}": own for head, own in enumerate(matrix, 1)}
        else:
            parts[name] = matrix
    return parts


@needs_numbas
@pytest.mark.parametrize(("name", "changes"), OF_HEADS, ids=str)
def test_the_right_answer_of_each_head_earns_all(
    name: str, changes: dict[str, Any], attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "in.json").write_text(json.dumps(sample_with(name, changes)))
    done = attncalc("export", "in.json", "--to", "numbas")
    assert done.code == 0, done.err
    solution = solve(read_problem(tmp_path / "in.json"))
    shown = {s.name: solution.shown(s.name) for s in solution.plan if not s.is_between}
    answer = by_part({n: m for n, m in shown.items() if n != "S_masked"})
    right, (scores,) = in_numbas(done.out, answer)
    assert right == {part: numbers(matrix) for part, matrix in answer.items()}
    assert sum(scores.values()) == pytest.approx(len({part.split(",")[0] for part in answer}))


@needs_numbas
def test_a_sign_lost_in_one_head_costs_only_its_entry(attncalc: Command, tmp_path: Path) -> None:
    """Later steps are computed from each head's own Q, K and V, and joined here."""
    given = sample_with("heads", {"rounding": "each-step"})
    (tmp_path / "in.json").write_text(json.dumps(given))
    steps = ("Q", "K", "V", "S", "A", "H", "C", "O")
    asked = ("--steps", ",".join(steps), "--points", "16")
    exam = attncalc("export", "in.json", "--to", "numbas", *asked).out
    solution = solve(read_problem(tmp_path / "in.json"))
    answer = by_part({name: solution.shown(name) for name in steps})
    Q = [list(row) for row in answer["Q, head 2"]]
    assert float(Q[2][1])
    Q[2][1] = f"{-float(Q[2][1]):.2f}"
    own = {"K": answer["K, head 2"], "V": answer["V, head 2"], "rounding": "each-step"}
    (tmp_path / "own.json").write_text(json.dumps({"Q": Q, **own}))
    follows = solve(read_problem(tmp_path / "own.json"))
    head = {"S": follows.shown("S"), "A": follows.shown("A"), "H": follows.shown("O")}
    carried = answer | {"Q, head 2": Q} | {f"{name}, head 2": head[name] for name in head}
    joined = zip(answer["H, head 1"], head["H"], strict=True)
    C = [[*one, *other] for one, other in joined]
    W_O, b_O = given["W_O"], given["b_O"]
    O = [  # noqa: E741 - the field's own name
        [
            f"{sum(float(c) * w[j] for c, w in zip(row, W_O, strict=True)) + b_O[j]:.2f}"
            for j in range(2)
        ]
        for row in C
    ]
    carried |= {"C": C, "O": O}
    assert carried["O"] != answer["O"]
    _, scores = in_numbas(exam, carried)
    expected = {part: 1 if "head" in part else 2 for part in answer}
    expected["Q, head 2"] = pytest.approx(5 / 6, abs=0.01)
    assert scores == [expected]


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
    (part,) = question["parts"]
    gaps = {gap["customName"]: gap for gap in part["gaps"]}
    assert {name: gap["marks"] for name, gap in gaps.items()} == {"Q": 1, "S": 2, "O": 1}
    assert {name: gap["numRows"] + gap["numColumns"] for name, gap in gaps.items()} == {
        "Q": "32",
        "S": "33",
        "O": "32",
    }
    assert all(f"[[{number}]]" in part["prompt"] for number in range(3))


@needs_numbas
def test_of_a_class_set_each_student_gets_some_version_of_each_problem(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "roster.csv").write_text("name\nAda\nBob\nCarl\n")
    spec = {"problems": [{"rounding": "each-step"}, {"tokens": 2}], "formats": []}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    made = ("new", "--class", "roster.csv", "--problems", "spec.json", "-o", "set")
    assert attncalc(*made).code == 0
    done = attncalc("export", "set", "--to", "numbas")
    assert done.code == 0, done.err
    groups = json.loads(done.out.partition("\n")[2])["question_groups"]
    assert [len(group["questions"]) for group in groups] == [1, 1]
    versions = [
        {step: numbers(solution.shown(step)) for step in ("Q", "K", "V", "S", "A", "O")}
        for solution in (
            solve(read_problem(tmp_path / "set" / name / "1" / "problem.json"))
            for name in ("Ada", "Bob", "Carl")
        )
    ]
    right, _ = in_numbas(done.out)
    assert right in versions


def test_an_exam_has_a_part_for_each_head(attncalc: Command) -> None:
    problem = str(sample("heads").path)
    done = attncalc("export", problem, "--to", "numbas", "--steps", "Q,A,O", "--points", "12")
    (group,) = json.loads(done.out.partition("\n")[2])["question_groups"]
    (part,) = group["questions"][0]["parts"]
    marks = {gap["customName"]: gap["marks"] for gap in part["gaps"]}
    halves = ("Q, head 1", "Q, head 2", "A, head 1", "A, head 2")
    assert marks == {**dict.fromkeys(halves, 2), "O": 4}


REFUSED = [
    (
        "causal --steps Q,S_masked",
        "S_masked has -inf, which a Numbas gap cannot contain: use --steps Q",
    ),
    (
        "self --title a{b}",
        '"a{b}": Numbas takes { } $ \\ for parts of a formula: give the title or the token '
        "another name",
    ),
]


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_what_numbas_cannot_contain_is_reported(
    attncalc: Command, tmp_path: Path, words: str, said: str
) -> None:
    name, *flags = words.split()
    done = attncalc("export", str(sample(name).path), "--to", "numbas", *flags)
    assert (done.code, done.out, done.err) == (2, "", f"error: {said}\n")
