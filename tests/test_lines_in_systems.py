"""The lines of the map in course systems: chosen from drop-downs, and marked as `check` marks them.

What is right is computed here in plain Python, from the numbers of the weights.
"""

import json
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from test_numbas import NODE, NUMBAS

from attncalc import Problem, new, read_problem, solve
from attncalc.base.text import distinct_names
from attncalc.exporting.typed_in import correct_answers, marked
from attncalc.problem.samples import sample
from attncalc.problem.serialising import in_json

ONE = [[1, 0], [0, 1]]
TIED = Problem(X=[[2, 0], [2, 0], [0, 1]], W_Q=ONE, W_K=ONE, W_V=ONE)
FLAT = Problem(
    X=[[9, 0], [0, 9], [0, 1]], W_Q=ONE, W_K=ONE, W_V=ONE, labels=["the", "a & b", "the"]
)
PROBLEMS = {
    "drawn": new(tokens=4, seed=5),
    "heads": new(tokens=3, heads=2, seed=3),
    "tied": TIED,
    "flat": FLAT,
    "German": Problem(**{**in_json(new(tokens=3, seed=2)), "language": "de"}),
}
ANSWERS = [
    (next(iter(PROBLEMS)), 3),
    *(pytest.param(name, 12, marks=pytest.mark.slow) for name in PROBLEMS),
]
"""Names of problems, and how many answers to each."""


@pytest.mark.parametrize(
    ("system", "out", "field"),
    [
        ("moodle", "a.xml", ":MULTICHOICE:"),
        ("stack", "a.xml", "<type>dropdown</type>"),
        ("numbas", "a.exam", '"dropdownlist"'),
        ("prairielearn", "q", "<pl-dropdown "),
    ],
)
def test_questions_ask_for_the_map_by_default(
    attncalc: Command, tmp_path: Path, system: str, out: str, field: str
) -> None:
    assert attncalc("export", str(sample("self").path), "--to", system, "-o", out).code == 0
    made = tmp_path / out
    text = (made / "question.html" if made.is_dir() else made).read_text()
    assert text.count(field) == 2 * len(read_problem(sample("self").path).queries)


def ranked(full: list[float], seen: list[float]) -> list[set[int]]:
    """Return the right inputs of the solid and of the dashed line; {-1} for none."""
    top = max(full)
    first = {j for j, x in enumerate(full) if top - x <= 1e-9 * top}
    rest = [x if seen[j] and j not in first else 0 for j, x in enumerate(full)]
    second = {j for j, x in enumerate(rest) if x and max(rest) - x <= 1e-9 * max(rest)}
    return [first, second if len(first) == 1 and second else {-1}]


def earned(weights: list[float], shown: list[float], typed: list[str], chosen: list[int]) -> float:
    """Return the share of an output, as `check` gives it: the better of key and own weights."""
    own = [float(text) if text else weights[j] for j, text in enumerate(typed)]
    ways = (ranked(weights, shown), ranked(own, own))
    return max(sum(c in r for c, r in zip(chosen, way, strict=True)) / 2 for way in ways)


def numbers(problem: Problem) -> tuple[list[Any], list[Any]]:
    """Return the weights of each head, in full and as shown."""
    solution = solve(problem)
    full, shown = solution.floats["A"].tolist(), solution.shown("A")
    return (full, shown) if isinstance(full[0][0], list) else ([full], [shown])


def answers(problem: Problem, count: int) -> list[tuple[list[Any], list[Any]]]:
    """Return typed weights with mistakes, some blank, and options for each output."""
    rng, (_, shown) = random.Random(7), numbers(problem)
    made = []
    for _ in range(count):
        changes = rng.choice([[], [], ["0.9"], ["", "0.5", "0.3"]])
        typed = [[[rng.choice([t, t, *changes]) for t in row] for row in head] for head in shown]
        inputs = range(-1, len(shown[0][0]))
        chosen = [[[rng.choice(inputs), rng.choice(inputs)] for _ in head] for head in shown]
        made.append((typed, chosen))
    return made


def expected(problem: Problem, typed: list[Any], chosen: list[Any]) -> float:
    full, shown = numbers(problem)
    shares = [
        earned(full[h][i], [float(t) for t in shown[h][i]], typed[h][i], pair)
        for h, head in enumerate(chosen)
        for i, pair in enumerate(head)
    ]
    return sum(shares) / len(shares)


def named(chosen: list[Any], of: str = "map") -> dict[str, int]:
    """Return the chosen inputs by the names of their fields."""
    return {
        f"{of}{f'_h{h}' if len(chosen) > 1 else ''}_{i}_{kind}": option
        for h, head in enumerate(chosen, 1)
        for i, pair in enumerate(head, 1)
        for kind, option in zip(("most", "second"), pair, strict=True)
    }


def exported(attncalc: Command, folder: Path, problem: Problem, system: str) -> Path:
    (folder / "p.json").write_text(json.dumps(in_json(problem)))
    run = attncalc("export", "p.json", "--to", system, "--steps", "A,connections", "-o", "out")
    assert run.code == 0, run.err
    return folder / "out"


@pytest.mark.parametrize(("name", "count"), ANSWERS)
def test_prairielearn_marks_the_lines(
    attncalc: Command, tmp_path: Path, name: str, count: int
) -> None:
    problem = PROBLEMS[name]
    folder = exported(attncalc, tmp_path, problem, "prairielearn")
    page = (folder / "question.html").read_text("utf-8")
    drops = re.findall(r'<pl-dropdown answers-name="(\w+)".*?>(.*?)</pl-dropdown>', page)
    full, shown = numbers(problem)
    for (field, options), (right,) in zip(
        drops,
        ([way] for h, head in enumerate(full) for i, row in enumerate(head)
         for way in ranked(row, [float(t) for t in shown[h][i]])),
        strict=True,
    ):  # fmt: skip
        texts = re.findall(r'<pl-answer correct="(true|false)">(.*?)</pl-answer>', options)
        marked_right = [k for k, (each, _) in enumerate(texts) if each == "true"]
        assert len(marked_right) == 1  # the element allows one
        assert (marked_right[0] if marked_right[0] < len(texts) - 1 else -1) in right, field
    texts = [text for _, text in texts]
    for typed, chosen in answers(problem, count):
        fields = {each: texts[option] for each, option in named(chosen).items()}
        fields |= {
            f"A{f'_h{h}' if len(typed) > 1 else ''}_{i}_{j}": text
            for h, head in enumerate(typed, 1)
            for i, row in enumerate(head, 1)
            for j, text in enumerate(row, 1)
        }
        found = marked(str(folder), fields)["partial_scores"]
        lines = [each for key, each in found.items() if key.startswith("map")]
        share = sum(each["score"] * each["weight"] for each in lines)
        assert share == pytest.approx(expected(problem, typed, chosen)), (typed, chosen)
        assert sum(each["weight"] for each in lines) == pytest.approx(1)
    right = correct_answers(str(folder))
    assert marked(str(folder), right)["score"] == 0.5  # a map that is not chosen earns nothing


@pytest.mark.skipif(NODE is None, reason="there is no node")
@pytest.mark.parametrize(("name", "count"), ANSWERS)
def test_numbas_marks_the_lines(attncalc: Command, tmp_path: Path, name: str, count: int) -> None:
    problem = PROBLEMS[name]
    text = exported(attncalc, tmp_path, problem, "numbas").read_text("utf-8")
    given = answers(problem, count)
    word, most, second = (
        ("Kopf", "größtes Gewicht", "zweitgrößtes")
        if problem.language == "de"
        else ("head", "largest weight", "second")
    )
    outputs = distinct_names(problem.attention_of("A").queries)
    written, lines_of = [], dict[str, str]()
    for h, head in enumerate(given[0][1], 1):
        for i in range(len(head)):
            for kind, rank in (("most", most), ("second", second)):
                field = f"map{f'_h{h}' if len(given[0][1]) > 1 else ''}_{i + 1}_{kind}"
                said = f"{outputs[i]}, {rank}"
                lines_of[field] = f"{word} {h}, {said}" if len(given[0][1]) > 1 else said
    for typed, chosen in given:
        none = len(typed[0][0])
        matrices = {f"A, {word} {h}": m for h, m in enumerate(typed, 1)}
        matrices = matrices if len(typed) > 1 else {"A": typed[0]}
        lines = {lines_of[k]: none if v < 0 else v for k, v in named(chosen).items()}
        written.append(matrices | lines)
    program = Path(__file__).with_name("numbas.mjs" if NUMBAS else "numbas_plain.mjs")
    done = subprocess.run(
        [str(NODE), str(program)],
        input=json.dumps({"text": text, "answers": written}),
        cwd=NUMBAS or None, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    for (typed, chosen), scores in zip(given, told["scores"], strict=True):
        share = sum(each for part, each in scores.items() if part in lines_of.values())
        assert share == pytest.approx(expected(problem, typed, chosen), abs=1e-4), (typed, chosen)


@pytest.mark.parametrize("name", PROBLEMS)
def test_moodle_accepts_tied_inputs(attncalc: Command, tmp_path: Path, name: str) -> None:
    problem = PROBLEMS[name]
    text = exported(attncalc, tmp_path, problem, "moodle").read_text("utf-8")
    gaps = re.findall(r"\{1:MULTICHOICE:(.*?)(?<!\\)\}", text)
    full, shown = numbers(problem)
    wanted = [
        way
        for h, head in enumerate(full)
        for i, row in enumerate(head)
        for way in ranked(row, [float(t) for t in shown[h][i]])
    ]
    assert len(gaps) == len(wanted)
    for gap, right in zip(gaps, wanted, strict=True):
        options = gap.split("~")
        found = {k for k, each in enumerate(options) if each.startswith("=")}
        assert {k if k < len(options) - 1 else -1 for k in found} >= right


def test_stack_asks_for_the_map_with_drop_downs(attncalc: Command, tmp_path: Path) -> None:
    run = attncalc("export", str(sample("self").path), "--to", "stack", "--steps", "A,connections")
    assert run.code == 0
    assert run.out.count("<type>dropdown</type>") == 2 * 3
