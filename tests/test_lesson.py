"""Lessons: right ones have no findings, and each wrong digit is found at its line."""

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from conftest import SLOW, Command, for_all, mostly_slow

import attncalc
from attncalc.base.errors import InputError
from attncalc.base.rounding import round_floats
from attncalc.cli.commands.check_lesson import findings_of
from attncalc.grading.lesson import Finding, Read
from attncalc.problem.samples import sample
from attncalc.reading.lesson import read_lesson
from attncalc.reading.sums import sums_in
from attncalc.reading.table_sums import sums_of_tables

Rows = list[list[str]]
WORDS = {
    "X": "Embeddings",
    "W_Q": "Query weights",
    "W_K": "Key weights",
    "W_V": "Value weights",
    "Q": "Queries",
    "K": "Keys",
    "V": "Values",
    "S": "Scores",
    "S_scaled": "Scaled scores",
    "A": "Attention weights",
    "O": "Outputs",
}
FORMULAS = {
    **{"Q": "XW_Q", "K": "XW_K", "V": "XW_V", "S": "QK^T"},
    **{"A": r"\mathrm{softmax}(S)", "O": "AV"},
}


def _table(name: str, rows: Rows) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows]
    lines[0] = [f"d{j + 1}" for j in range(len(rows[0]))]
    return f"**{WORDS.get(name, name)}**\n\n" + "\n".join(
        f"| {' | '.join(each)} |" for each in lines
    )


def _printed(name: str, rows: Rows) -> str:
    inside = "\n ".join(f"[{' '.join(each)}]" for each in rows)
    return f"The {WORDS.get(name, name).lower()}, {name}, are:\n\n```\n[{inside}]\n```"


def _matrix(name: str, rows: Rows) -> str:
    inside = " \\\\ ".join(" & ".join(each) for each in rows)
    formula = f" = {FORMULAS[name]}" if name in FORMULAS else ""
    symbol = "S_{\\text{scaled}}" if name == "S_scaled" else name
    return f"\\[ {symbol}{formula} = \\begin{{bmatrix}} {inside} \\end{{bmatrix}} \\]"


def _tall(name: str, rows: Rows) -> str:
    inside = " \\\\\n".join(" & ".join(each) for each in rows)
    matrix = f"\\begin{{pmatrix}}\n{inside}\n\\end{{pmatrix}}"
    return f"We find\n\\begin{{align}}\n{name} &= {matrix}\n\\end{{align}}"


def _array(name: str, rows: Rows) -> str:
    inside = ",\n".join(f"    [{', '.join(each)}]" for each in rows)
    return f"{name} = np.array([\n{inside}\n])".replace("-inf", "-np.inf")


def _inline(name: str, rows: Rows) -> str:
    inside = "; ".join(" ".join(each) for each in rows)
    return f"{WORDS.get(name, name)}: {name} = [{inside}]"


def _html(name: str, rows: Rows) -> str:
    inside = "\n".join(f"<tr>{''.join(f'<td>{c}</td>' for c in each)}</tr>" for each in rows)
    return f"<h3>{name}</h3>\n<table>\n{inside}\n</table>"


def _pre(name: str, rows: Rows) -> str:
    inside = "\n".join("  ".join(c.rjust(6) for c in each) for each in rows)
    return f"<p>{WORDS.get(name, name)} {name}:</p>\n<pre>\n{inside}\n</pre>"


STYLES = {
    each.__name__.strip("_"): each
    for each in (_table, _printed, _matrix, _tall, _array, _inline, _html, _pre)
}


class Written(NamedTuple):
    """A lesson, the texts of its results, and the style it is written in."""

    given: dict[str, Rows]
    results: dict[str, Rows]
    style: str

    def text(self) -> str:
        """Return the document."""
        write = STYLES[self.style]
        pieces = [write(name, rows) for name, rows in (self.given | self.results).items()]
        text = "\n\n".join(pieces)
        if self.style in ("html", "pre"):
            return f"<!DOCTYPE html>\n<html><body>\n<h1>Attention</h1>\n{text}\n</body></html>\n"
        return f"# Attention, worked\n\n{text}\n"


CONVENTIONS = ("plain", "unscaled", "rounded at each step", "causal", "columns", "base 2")


def lesson(seed: int, style: str, convention: str, decimals: int) -> Written:
    """Return a right lesson with random numbers."""
    numbers = np.random.default_rng(seed)
    n, d, k = (int(each) for each in numbers.integers(2, 5, 3))
    x = numbers.integers(-1, 4, (n, d)).astype(float)
    weights = {
        name: numbers.integers(-1, 3, (d, k)).astype(float) for name in ("W_Q", "W_K", "W_V")
    }

    def cut(values: np.ndarray) -> np.ndarray:
        return round_floats(values, decimals) if convention == "rounded at each step" else values

    q, key, v = (cut(x @ each) for each in weights.values())
    found = {"Q": q, "K": key, "V": v, "S": cut(q @ key.T)}
    scores = found["S"]
    if convention != "unscaled":
        scores = found["S_scaled"] = cut(scores / np.sqrt(k))
    allowed = np.tril(np.ones((n, n))) > 0 if convention == "causal" else np.ones((n, n)) > 0
    powers = np.where(allowed, (2.0 if convention == "base 2" else np.e) ** scores, 0)
    found["A"] = cut(powers / powers.sum(axis=-1, keepdims=True))
    found["O"] = cut(found["A"] @ v)
    turned = convention == "columns"

    def texts(values: np.ndarray, count: int) -> Rows:
        shown = values.T if turned else values
        return [[f"{each:.{count}f}" for each in row] for row in round_floats(shown, count) + 0.0]

    given = {"X": x} | weights
    whole = {name: 0 if name in "QKVS" else decimals for name in found}
    return Written(
        {name: texts(each, 0) for name, each in given.items()},
        {name: texts(each, whole[name]) for name, each in found.items()},
        style,
    )


def planted(written: Written, rng: random.Random) -> tuple[Written, str, str]:
    """Return a lesson with one wrong digit: which step, and the number as printed."""
    name = rng.choice([each for each in written.results if each != "S_scaled"])
    i = rng.randrange(len(written.results[name]))
    j = rng.randrange(len(written.results[name][i]))
    before = written.results[name][i][j]
    digit = str((int(before[-1]) + rng.randrange(3, 8)) % 10)
    after = f"{before[:-1]}{digit}"
    rows = [list(each) for each in written.results[name]]
    rows[i][j] = after
    return written._replace(results=written.results | {name: rows}), name, after


def checked(text: str) -> Read:
    """Return what is found in a text."""
    return findings_of(read_lesson("lesson", text.encode()), {})


def at_line(text: str, found: Finding) -> str:
    """Return the line that a finding names."""
    return text.split("\n")[found.line - 1]


CASES = [
    pytest.param(seed, style, convention)
    for seed, style in enumerate(STYLES)
    for convention in CONVENTIONS
]


@pytest.mark.parametrize(("seed", "style", "convention"), mostly_slow(CASES, 48))
def test_a_right_lesson_has_no_wrong_numbers(seed: int, style: str, convention: str) -> None:
    decimals = 2 + seed % 3
    written = lesson(seed * 7 + len(convention), style, convention, decimals)
    read = checked(written.text())
    assert not read.of("wrong")
    assert {each.name for each in read.of("right")} >= {"Q", "K", "V", "S", "A", "O"}


@pytest.mark.parametrize(("seed", "style", "convention"), mostly_slow(CASES[1:], 52))
def test_a_wrong_digit_is_found_at_its_line(seed: int, style: str, convention: str) -> None:
    written = lesson(seed * 11 + len(convention), style, convention, 3)
    wrong, name, printed = planted(written, random.Random(seed))
    text = wrong.text()
    found = checked(text).of("wrong")
    assert [(each.name, each.found) for each in found] == [(name, printed)]
    assert printed in at_line(text, found[0])


FORMS = ("markdown", "latex", "html")


def own_page(seed: int, form: str) -> str:
    """Return a page of our own."""
    numbers = np.random.default_rng(seed)
    n, d = (int(each) for each in numbers.integers(2, 5, 2))
    weights = {f"W_{each}": numbers.integers(-2, 4, (d, d)).tolist() for each in "QKV"}
    tokens = numbers.integers(-2, 4, (n, d)).tolist()
    given = {"X": tokens, **weights, "causal": bool(seed % 2), "decimals": 2 + seed % 2}
    found = attncalc.solve(attncalc.Problem(**given))
    return str(getattr(found, f"to_{form}")())


@SLOW
@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize("form", FORMS)
def test_attncalc_pages_are_right_and_a_changed_digit_is_found(seed: int, form: str) -> None:
    text = own_page(seed, form)
    read = read_lesson("page", text.encode())
    found = findings_of(read, {})
    assert not found.of("wrong")
    weights = next(each for each in found.of("right") if each.name == "A")
    lines = text.split("\n")
    place = weights.last - 1
    if form == "html" and "</table>" in lines[place]:
        place = next(i for i in range(place, 0, -1) if "0." in lines[i])
    at = lines[place].rindex("0.") + 2
    lines[place] = (
        lines[place][:at] + str((int(lines[place][at]) + 4) % 10) + lines[place][at + 1 :]
    )
    again = findings_of(read_lesson("page", "\n".join(lines).encode()), {})
    assert "A" in {each.name for each in again.of("wrong")}
    assert place + 1 in {each.line for each in again.of("wrong")}


LESSONS = Path(__file__).parent / "lessons"
WRONG = {
    "a02.md": [("line 79", "A[2,3]")],
    "a04.tex": [("line 16", "S[2,1]")],
    "a06.ipynb": [
        ("cell 8, line 3 of its output", "A[3,1]"),
        ("cell 8, line 3 of its output", "A[3,3]"),
    ],
    "a08.md": [("line 5", "S[1,2]")],
    "a10.html": [("line 53", "O[3,1]")],
    "a12.md": [("line 24", f"A[{i},{j}]") for i in (1, 2) for j in (1, 2)],
    "b02.md": [("line 15", "O[1,2]")],
    "b04.md": [("line 32", "A[1,1]"), ("line 32", "A[1,2]")],
    "b06.md": [("line 45", "K[2,1,1]")],
    "b08.md": [("line 50", "O[2,1]")],
    "b10.rst": [("line 18", "S[1,3]")],
    "b12.ipynb": [("cell 7, line 2 of its output", "A[2,2]")],
    "c02.md": [("line 24", "A[2,1]")],
    "c04.html": [("line 14", "O[2,2]")],
    "c06.tex": [("line 15", "S[3,1]")],
    "c08.md": [("line 13", "K[2,2]")],
    "c10.ipynb": [("cell 7, line 1 of its output", "S[1,3]")],
    "c12.md": [("line 8", "A[1,1]"), ("line 8", "A[1,2]")],
    "d02.md": [("line 29", "O[1,2]")],
    "d04.md": [("line 31", "A[2,1]")],
    "d06.md": [("line 13", "S_scaled[1,2]")],
    "d08.md": [("line 28", "O[3,1]")],
    "e02.md": [("line 36", "Q[2,2]")],
    "e04.html": [("line 28", "Q[2,2]")],
}
"""What is wrong in lessons in the manner of blogs and courses; the others are right."""


@pytest.mark.parametrize(
    "path", mostly_slow(sorted(LESSONS.iterdir()), len(WRONG) + 99), ids=lambda path: path.name
)
def test_lessons_as_blogs_write_them(path: Path) -> None:
    found = findings_of(read_lesson(path.name, path.read_bytes()), {})
    assert [(each.where, each.what) for each in found.of("wrong")] == WRONG.get(path.name, [])
    assert found.of("right")


def test_conventions_are_named_and_not_mistakes() -> None:
    text = "Q = [1 0; 0 2]\n\nK = [1 1; 0 1]\n\nscores Q K^T = [1 0; 2 2]\n\n"
    text += "softmax = [0.731 0.269; 0.500 0.500]\n"
    (weights,) = (each for each in checked(text).of("right") if each.name == "A")
    assert (weights.where, weights.under) == ("line 7", ("the scores are not scaled",))


@pytest.mark.slow
def test_weights_that_do_not_follow_from_their_scores_are_found() -> None:
    text = "Scores:\n\nS = [2 1; 0 3]\n\nWeights:\n\nA = [0.73 0.27; 0.12 0.88]\n"
    found = checked(text).of("wrong")
    assert [(each.what, each.found, each.right, each.line) for each in found] == [
        ("A[2,1]", "0.12", "0.05", 7),
        ("A[2,2]", "0.88", "0.95", 7),
    ]


@pytest.mark.slow
def test_results_of_right_arithmetic_with_other_numbers_are_not_wrong() -> None:
    text = "A = [0.5 0.5; 1 0]\n\nV = [1 0; 3 4]\n\n"
    other = "Output O = [[1, 2],[3, 4]] · [[1, 1],[0, 1]] = [[1, 3],[3, 7]]\n"
    found = checked(text + other)
    assert not found.of("wrong")
    assert [each.why for each in found.of("unchecked")] == [
        "the lesson computes it from other numbers than those read before it"
    ]
    assert checked(text + other.replace("[3, 7]", "[3, 8]")).of("wrong")


@pytest.mark.slow
def test_each_example_has_its_given_matrices() -> None:
    first = "Q = [1 0; 0 1], K = [1 1; 0 1]\n\nQ K^T = [1 0; 1 1]\n"
    second = "## Another\n\nQ = [2 0; 0 2], K = [1 0; 1 1]\n\nQ K^T = [2 2; 0 3]\n"
    found = checked(f"{first}\n{second}").of("wrong")
    assert [(each.what, each.line, each.right) for each in found] == [("S[2,2]", 9, "2")]


@pytest.mark.slow
def test_a_result_of_a_printed_value_is_right() -> None:
    text = "S = [2 1; 0 3]\n\nA = [0.73 0.27; 0.15 0.95]\n\n"
    text += "V = [1 0; 0 10]\n\nO = [0.73 2.70; 0.15 9.50]\n"
    assert [each.what for each in checked(text).of("wrong")] == ["A[2,1]"]


def test_arithmetic_is_checked_with_its_rounded_numbers() -> None:
    lines = ["3.32096/2 = 1.66082 and", "3.32096/2 = 1.66048", "1.41·2.00 = 2.83", "1·0 + 2·4 = 9"]
    assert [each.is_right for each in sums_in(lines)] == [False, True, True, False]
    tiny = r"A_{1,1} &= \frac{4.48}{2985.52} \approx {0.00}^{\dagger}"
    wrong = tiny.replace("0.00", "0.05")
    assert [each.is_right for each in sums_in([tiny, wrong])] == [True, False]


def test_nothing_that_is_left_out_is_silent() -> None:
    read = checked(
        "Q = [1 0; 0 1]\n\nK = [1 0; 0 1]\n\nS = [1 0; 0 1]\n\nThe loss is 0.25, 0.75.\n"
    )
    said = {line for each in read.findings for line in range(each.line, each.last + 1)}
    assert said >= {1, 3, 5, 7}


NOTEBOOK = {
    "nbformat": 4,
    "cells": [
        {"cell_type": "markdown", "source": ["# Attention"]},
        {
            "cell_type": "code",
            "source": "Q = np.array([[1, 0], [0, 2]])\nK = np.array([[1, 1], [0, 1]])",
        },
        {
            "cell_type": "code",
            "source": ["scores = Q @ K.T\n", "print(scores)"],
            "outputs": [{"output_type": "stream", "text": ["[[1 0]\n", " [2 3]]\n"]}],
        },
    ],
}  # fmt: skip


@pytest.mark.slow
def test_a_line_of_a_notebook_is_named_by_its_cell(attncalc: Command, tmp_path: Path) -> None:
    (tmp_path / "lesson.ipynb").write_text(json.dumps(NOTEBOOK))
    done = attncalc("check", "--lesson", "lesson.ipynb")
    assert done.code == 1
    assert "cell 3, line 2 of its output" in done.out


RIGHT = "Q = [1 0; 0 1]\n\nK = [1 1; 0 1]\n\nQ K^T = [1 0; 1 1]\n"


@pytest.mark.slow
def test_the_command_ends_as_check_does(attncalc: Command, tmp_path: Path) -> None:
    files = {"a.md": RIGHT, "b.md": RIGHT.replace("1 1]\n", "1 4]\n"), "c.md": "no numbers\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe\xfd\x00")
    names = [*files, "bad.md"]
    assert [attncalc("check", "--lesson", each).code for each in names] == [0, 1, 2, 2]
    assert attncalc("check", "--lesson", *names).code == 1
    assert attncalc("check", "--lesson", ".").code == 1
    assert attncalc("check", "--lesson", "a.md", "c.md", "missing.md").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("form", mostly_slow(["html", "json", "latex", "markdown"], 2))
def test_reports_have_forms_and_contain_no_escapes(
    form: str, attncalc: Command, tmp_path: Path
) -> None:
    text = "Q = [1 0; 0 1]\n\nK = [1 1; 0 1]\n\nQ K^T = [1 0; 1 4]\n\n\x1b[31m<b>3 7</b> [red]\n"
    (tmp_path / "lesson.md").write_text(text)
    done = attncalc("check", "--lesson", "lesson.md", "--format", form)
    assert done.code == 1
    assert "\x1b" not in done.out


@pytest.mark.parametrize("flags", [("--points", "10"), ("--format", "csv"), ("--X", "1 0")])
def test_flags_for_answers_are_refused(
    flags: tuple[str, ...], attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "lesson.md").write_text(RIGHT)
    assert attncalc("check", "--lesson", "lesson.md", *flags).code == 2


HERE = Path(__file__).parent
FOLDERS = (HERE / "hostile", HERE / "answers")
OTHERS = [path for each in FOLDERS for path in sorted(each.rglob("*")) if path.is_file()]


@SLOW
@pytest.mark.parametrize("part", range(10))
def test_any_text_can_be_read_as_a_lesson(part: int) -> None:
    for path in OTHERS[part::10]:
        try:
            lesson = read_lesson(path.name, path.read_bytes())
        except InputError:
            continue
        findings_of(lesson, {})


@SLOW
@pytest.mark.parametrize("lines", [400, 2000])
def test_a_large_document_takes_time_that_grows_with_its_length(lines: int) -> None:
    text = "Some words about 3 things and Q = [1 0; 0 1] here.\n" * lines
    assert checked(text).of("wrong") == ()


DOCS = sorted((HERE.parent / "docs").glob("*.md"))
SHOWN_WRONG = {"check.md": ["A[2,2]"], "student.md": ["Q[3,2]"], "exercises.md": ["A[1,3]"]}
"""The errors that the documentation shows on purpose: a lesson, and a published example."""


@pytest.mark.parametrize("path", mostly_slow(DOCS, 30), ids=lambda path: path.name)
def test_no_output_in_the_documentation_is_accused(path: Path) -> None:
    found = findings_of(read_lesson(path.name, path.read_bytes()), {})
    assert [each.what for each in found.of("wrong")] == SHOWN_WRONG.get(path.name, [])


OWN = {
    **{"self": "QKVSAO", "cross": "QKVSAO", "softmax": "AO", "positions": "QKVSAO"},
    **{"causal": "QKVSAO", "masks": "QKVSAO", "heads": "QKVSAHCO", "columns": "QKVSAO"},
    **{"sentence": "QKVSAO", "rope": "QKV", "cosine": "QKVA", "torch": "", "gaussian": ""},
}
"""Samples, and the steps that are checked on their pages; the others state other rules."""


@pytest.mark.campaign(6)
@pytest.mark.parametrize(
    ("name", "form"),
    mostly_slow((pytest.param(n, f) for n in sorted(OWN, key="softmax".__ne__) for f in FORMS), 99),
)
def test_pages_of_samples_are_right(name: str, form: str) -> None:
    solution = attncalc.solve(attncalc.read_problem(str(sample(name).path)))
    text = getattr(solution, f"to_{form}")(work=True)
    found = findings_of(read_lesson("page", text.encode()), {})
    assert not found.of("wrong")
    assert {each.name for each in found.of("right")} >= {*OWN[name]}


@SLOW
@pytest.mark.parametrize("name", ["self", "cross", "softmax", "causal", "masks", "heads", "blocks"])
@pytest.mark.parametrize("seed", range(3))
def test_a_digit_changed_in_a_page_of_a_sample_is_the_only_wrong_one(name: str, seed: int) -> None:
    rng = random.Random(seed)
    solution = attncalc.solve(attncalc.read_problem(str(sample(name).path)))
    lines = solution.to_markdown().split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("## `"))
    rows = [i for i, line in enumerate(lines) if i > start and re.match(r"\| .*\d\.\d", line)]
    place = rng.choice(rows)
    cell = rng.choice([*re.finditer(r"(?<![\d.])\d+\.\d+", lines[place])])
    wrong = f"{cell[0][:-1]}{(int(cell[0][-1]) + rng.randrange(3, 8)) % 10}"
    lines[place] = lines[place][: cell.start()] + wrong + lines[place][cell.end() :]
    found = findings_of(read_lesson("page", "\n".join(lines).encode()), {}).of("wrong")
    assert [(each.line, each.found.lstrip("-")) for each in found] == [(place + 1, wrong)]


GIVEN_IN_WORDS = (
    "Let X = [1 2; 0 1; 2 -1], W_V = [1 1; 0 2].",
    "We use three tokens with $X = [1 2; 0 1; 2 -1]$ and the projection $W_V = [1 1; 0 2]$.",
    "The input is\nX = [[1, 2], [0, 1], [2, -1]]\nand our weights are W_V = [[1, 1], [0, 2]].",
)


@pytest.mark.parametrize("given", mostly_slow(GIVEN_IN_WORDS, 3))
def test_given_matrices_are_read_behind_words(given: str) -> None:
    found = checked(f"{given}\n\nV = X W_V = [1 5; 0 2; 2 1]\n").of("wrong")
    assert [(each.what, each.found, each.right) for each in found] == [("V[3,2]", "1", "0")]


@pytest.mark.parametrize("names", [("The matrix X is", "W_V is"), ("Our tokens", "Let $W_V$ be")])
@pytest.mark.slow
def test_given_matrices_are_read_below_words_or_known_by_their_product(
    names: Sequence[str],
) -> None:
    tokens, weights = names
    given = f"{tokens}\n\n[1 2; 0 1; 2 -1; 1 1]\n\n{weights}\n\n[1 1; 0 2]\n\n"
    found = checked(f"{given}V = [1 5; 0 2; 2 1; 1 3]\n").of("wrong")
    assert [(each.what, each.found, each.right) for each in found] == [("V[3,2]", "1", "0")]


@pytest.mark.slow
def test_each_sequence_of_a_batch_is_checked() -> None:
    given = "X = [[[1, 2], [0, 1]], [[2, -1], [1, 1]]]\n\nW_V = [[1, 1], [0, 2]]\n\n"
    assert not checked(f"{given}V = [[[1, 5], [0, 2]], [[2, 0], [1, 3]]]\n").of("wrong")
    found = checked(f"{given}V = [[[1, 5], [0, 2]], [[2, 1], [1, 3]]]\n").of("wrong")
    assert [(each.what, each.found, each.right) for each in found] == [("V[2,1,2]", "1", "0")]


@pytest.mark.slow
def test_a_row_quoted_of_a_head_does_not_replace_the_matrix() -> None:
    given = "X = [1 2; 0 1; 2 -1]\n\nW_Q = [1 0 1 1; 0 2 1 0]\n\n"
    made = "Q = [1 4 3 1; 0 2 1 0; 2 -2 1 3]\n\nThe first query of head 1 is [1, 4].\n"
    found = checked(f"{given}{made}").of("wrong")
    assert [(each.what, each.found, each.right) for each in found] == [("Q[3,4]", "3", "2")]


SCORES = "Q = [3 2; 1 1; 1 -1]\n\nK = [2 -1; 1 -1; -1 3]\n\nS = [4 1 3; 1 0 2; 3 2 -4]\n\n"
CUT = "0.61 0.07 0.30; 0.28 0.14 0.57; 0.66 0.32 0.00"


@pytest.mark.slow
def test_cut_digits_among_rounded_ones_are_reported() -> None:
    mixed = "0.62 0.07 0.31; 0.28 0.14 0.58; 0.67 0.32 0.00"
    (found,) = checked(f"{SCORES}A = [{mixed}]\n").of("wrong")
    assert (found.what, found.found, found.right) == ("A[3,2]", "0.32", "0.33")
    assert found.why == "its digits are cut off, where others are rounded"


@pytest.mark.slow
def test_a_number_that_is_rounded_without_intermediate_rounding_is_not_cut() -> None:
    given = "Q = [4 -2; -7 3; -1 -1]\n\nK = [-1 -3; 3 1; 0 0]\n\nV = [-3 -5; 5 5; 0 2]\n\n"
    weights = "A = [0.003 0.996 0.001; 0.196 0.000 0.804; 0.941 0.003 0.056]\n\n"
    assert not checked(f"{given}{weights}O = [4.97 4.96; -0.59 0.63; -2.81 -4.58]\n").of("wrong")


@pytest.mark.slow
def test_a_lesson_that_cuts_all_digits_is_right_under_this_convention() -> None:
    read = checked(f"{SCORES}A = [{CUT}]\n")
    assert not read.of("wrong")
    assert read.of("right")[-1].under == ("digits are cut off",)
    (found,) = checked(f"{SCORES}A = [{CUT.replace('0.57', '0.51')}]\n").of("wrong")
    assert found.what == "A[2,3]"


def test_a_result_is_not_compared_with_the_givens_of_another_page() -> None:
    page = "Attention\ntokens are rows · shown to 2 decimals, halves away from zero"
    page += " · full precision carried from step to step (rounding: display)\n\n"
    text = f"{SCORES}```text\n{page}A = [0.05 0.15 0.80; 0.10 0.20 0.70; 0.30 0.30 0.40]\n```\n"
    read = checked(text)
    assert not read.of("wrong")
    assert [each.name for each in read.of("unchecked")] == ["A"]


ROWS = """# Attention

Q = [[1, 0], [0, 1], [1, 1]]

K = [[1, 2], [0, 1], [2, 0]]

S = [[1, 0, 2], [2, 1, 0], [3, 1, 2]]

The exponentials are:

    2.718  1.000  7.389
    7.389  2.718  1.000
   20.086  2.718  7.389

with sums 11.107, 11.107 and 30.193.

A = [[0.245, 0.090, 0.665], [0.665, 0.245, 0.090], [0.665, 0.090, 0.245]]

So token 1 has the weights 0.245, 0.090 and 0.665.
"""


def test_a_misprint_in_a_row_between_the_results_is_found() -> None:
    assert not _findings(ROWS).of("wrong")
    (found,) = _findings(ROWS.replace("20.086  2.718", "20.086  2.778")).of("wrong")
    assert (found.what, found.right) == ("the exponentials of line 7", "2.718")


@pytest.mark.parametrize(
    ("was", "now", "right"),
    [("6.649)", "6.469)", "6.649"), ("(1.243", "(-1.243", "1.243"), ("6.649)", "6.650)", "")],
)
def test_a_row_that_a_sentence_repeats_with_a_misprint_is_found(
    was: str, now: str, right: str
) -> None:
    text = "O = [[1.243, 6.649], [3.028, 4.277]]\n\nThe new vector for cats is (1.243, 6.649).\n"
    found = _findings(text.replace(was, now)).of("wrong")
    assert [each.right for each in found] == [right] * bool(right)
    assert not _findings(text).of("wrong")


H = "H = [[1.25, 0.50], [0.40, 1.75], [0.90, 0.30]]\n\n"
SHARES = "B = [[0.6295, 0.3705], [0.2779, 0.7221], [0.6045, 0.3955]]\n"
RELATED = {
    "the product of line 1 and line 3": "M = [[1.10, -0.20], [0.45, 2.30]]\n\n"
    "N = [[1.600, 0.900], [1.2275, 3.945], [1.125, 0.510]]\n",
    "the softmax of 1/√2 times line 1": SHARES,
    "the exponentials of line 1": "E = [[3.4903, 1.6487], [1.4918, 5.7546], [2.4596, 1.3499]]\n",
    "the tanh of line 1": "E = [[0.8483, 0.4621], [0.3799, 0.9414], [0.7163, 0.2913]]\n",
    "the sum of line 1 and line 3": "P = [[0.11, -0.27], [0.33, 0.48], [-0.72, 0.14]]\n\n"
    "R = [[1.36, 0.23], [0.73, 2.23], [0.18, 0.44]]\n",
    "1/√2 times line 1": "G = [[0.8839, 0.3536], [0.2828, 1.2374], [0.6364, 0.2121]]\n",
}


@pytest.mark.parametrize("what", RELATED)
def test_a_wrong_entry_of_a_matrix_with_any_name_is_found(what: str) -> None:
    """It follows from the matrices before in all other entries."""
    text = H + RELATED[what]
    assert not _findings(text).of("wrong")
    number = text.split()[-1].strip("]")  # its last entry
    planted = f"{float(number) + 0.3:.{len(number.partition('.')[2])}f}"
    changed = number.join(text.split(number)[:-1]) + planted + "]]\n"
    (found,) = _findings(changed).of("wrong")
    assert (found.what, found.found, found.right) == (what, planted, number)


def test_a_misprinted_term_of_a_sum_and_an_unconfirmed_input_are_told_apart() -> None:
    text = H + RELATED["the sum of line 1 and line 3"]
    (found,) = _findings(text.replace("0.48]", "0.84]")).of("wrong")
    assert (found.line, found.found, found.right) == (3, "0.84", "0.48")
    (found,) = _findings(text.replace("0.48]", "-0.48]")).of("wrong")  # or the sum is wrong
    assert (found.line, found.found, found.right) == (5, "2.23", "1.27")
    scaled = f"{H}{RELATED['1/√2 times line 1']}\n{SHARES}"
    assert not _findings(scaled.replace("1.75]", "-1.75]")).of("wrong")  # the input is misprinted


TABLE = """| key | score | exp | weight |
|---|---|---|---|
| 1 | 2.0 | 7.389 | 0.640 |
| 2 | 1.0 | 2.718 | 0.235 |
| 3 | 0.2 | 1.221 | 0.106 |
| 4 | -1.5 | 0.223 | 0.019 |
"""


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        (TABLE, "2.718", "2.178"),
        ("e = [0.2 1.1 -0.5 0.9]\n\nalpha = [0.1675 0.4120 0.0832 0.3373]\n", "0.4120", "0.4210"),
        ("The weights are 0.1755, 0.4317 and 0.3928. The largest is 0.4317.\n", "0.3928", ""),
    ],
)  # fmt: skip
def test_a_misprint_in_columns_rows_and_sentences_is_found(
    text: str, right: str, wrong: str
) -> None:
    assert not _findings(text).of("wrong")
    if wrong:
        (found,) = _findings(text.replace(right, wrong)).of("wrong")
        assert (found.found, found.right) == (wrong.split()[0], right.split()[0])


def test_the_portuguese_word_e_is_no_number() -> None:
    text = "U h = (1,0; 0,4), pois 1·0,5 + 0,5·1 = 1,0 e −0,4·0,5 + 0,6·1 = 0,4 e 0,5·0,5 = 0,25\n"
    assert not _findings(text).of("wrong")


def test_integers_agree_by_chance_and_are_not_accused() -> None:
    text = "U = [[1, 2], [0, 1]]\n\nT = [[1, 1], [2, 0]]\n\nZ = [[5, 1], [2, 3]]\n"
    assert not _findings(text).of("wrong")


def test_the_input_with_the_largest_share_of_a_product_is_used() -> None:
    text = "enc = [1 0 1; 0 2 1; 1 1 0]\n\ndec = [2 1 0; 0 1 1]\n\nW_Q = [1 0; 0 1; 1 1]\n\n"
    assert not _findings(f"{text}Q = [2 1; 1 2]\n").of("wrong")


def test_the_context_of_cross_attention_has_any_name() -> None:
    given = "X = [1 2; 0 1]\n\nC = [2 -1; 1 1; 0 3]\n\nW_Q = [1 0; 0 2]\n\nW_K = [1 1; 0 2]\n\n"
    found = checked(f"{given}Q = [1 4; 0 2]\n\nK = [2 0; 1 3; 0 9]\n").of("wrong")
    assert [(each.what, each.found, each.right) for each in found] == [("K[3,2]", "9", "6")]


@pytest.mark.parametrize(
    "name", mostly_slow(["W_V^2", "W^V_2", "W_{V,2}", "W_{V_2}", "W^{(2)}_V", "W_2^V"], 6)
)
def test_projections_of_heads_are_numbered_in_any_way(name: str) -> None:
    given = f"X = [1 2; 0 1]\n\n{name.replace('2', '1')} = [1 0; 0 1]\n\n{name} = [1 1; 0 2]\n\n"
    found = checked(f"{given}V_1 = [1 2; 0 1]\n\nV_2 = [1 5; 0 9]\n").of("wrong")
    assert [(each.what, each.found, each.right) for each in found] == [("V[2,2,2]", "9", "2")]


def test_a_table_of_exponentials_and_sums_is_no_step() -> None:
    head = "## Softmax\n\n| word | exponentials | sum | weights |\n|---|---|---|---|\n"
    table = "| a | 54.598; 2.718; 20.086 | 77.402 | 0.71; 0.04; 0.26 |\n| b | 2.718 | 2.718 | 1 |\n"
    assert not _findings(f"{SCORES}{head}{table}").of("wrong")


def _findings(text: str) -> Read:
    return findings_of(read_lesson("lesson.md", text.encode()), {})


def test_a_wrong_entry_that_later_results_carry_on_is_found() -> None:
    """A product of the printed matrices is wrong, whatever follows from it."""
    text = H + RELATED["the product of line 1 and line 3"].replace("3.945", "3.645")
    later = "\nP = [[2.1650, 1.7500], [2.9905, 8.1380], [1.4670, 0.9480]]\n"
    (found,) = _findings(text + later).of("wrong")
    assert (found.found, found.right) == ("3.645", "3.945")


def test_scaled_products_normalized_rows_and_columns_of_weights_are_compared() -> None:
    x = "a = [[1.0, 0.0], [0.5, 1.0], [-1.0, 2.0]]\n\n"
    scores = "b =\n[0.7071 0.3536 -0.7071]\n[0.3536 0.8839 {}]\n[-0.7071 1.0607 3.5355]\n"
    assert not _findings(x + scores.format("1.0607")).of("wrong")
    (found,) = _findings(x + scores.format("1.0907")).of("wrong")
    assert (found.line, found.found, found.right) == (5, "1.0907", "1.0607")
    bias = "[0.00 -0.25 -0.50 -0.75]\n[-0.25 0.00 -0.25 -0.50]\n[{} -0.25 0.00 -0.25]\n"
    assert not _findings("bias:\n" + bias.format("-0.50")).of("wrong")
    (found,) = _findings("bias:\n" + bias.format("-0.75")).of("wrong")
    assert (found.line, found.found, found.right) == (4, "-0.75", "-0.50")
    rows = "[1.269 -1.239 -0.030]\n[0.033 3.658 -0.132]\n\ny =\n"
    normal = "[1.239 -1.210 -0.029]\n[{} 1.413 -0.754]\n"
    assert not _findings("r =\n" + rows + normal.format("-0.660")).of("wrong")
    (found,) = _findings("r =\n" + rows + normal.format("0.660")).of("wrong")
    assert (found.line, found.found) == (7, "0.660")


def test_a_sum_names_the_terms_that_may_be_wrong_instead() -> None:
    terms = "[0.31 -0.22 1.07]\n[0.16 0.83 -0.44]\n\n[0.52 0.13 0.71]\n[0.94 -0.65 0.28]\n\n"
    (found,) = _findings(f"{terms}[0.83 -0.09 1.78]\n[1.10 0.68 -0.16]\n").of("wrong")
    assert (found.found, found.right) == ("0.68", "0.18")
    assert "0.83 + -0.65" in found.why


def test_weights_that_equal_each_other_are_all_given() -> None:
    text = "X = [[1,0],[2,1]]\n\nW_Q = W_K = W_V = [[1,1],[0,1]]\n\nV = [[1,1],[2,4]]\n"
    assert [each.what for each in _findings(text).of("wrong")] == ["V[2,2]"]


def test_numbers_of_another_layer_or_of_other_scores_are_no_errors() -> None:
    own = "softmax(2.0, 1.0, 0.1, -\\infty) = (0.659, 0.242, 0.099, 0.000)"
    assert not _findings(f"Scores $s = (2.0, 1.0, 0.1, -1.2)$.\n\n$$ {own} $$\n").of("wrong")
    given = (
        "$X = [[1, 0], [0, 1], [1, 1]]$\n\n"
        "$W_Q^{(1)} = [[1, 1], [0, 2]]$, $W_Q^{(2)} = [[0.5, 0], [1, 1]]$\n\n"
        "$Q^{(1)} = [[1, 1], [0, 2], [1, 3]]$\n\n"
        "$Q^{(2)} = H W_Q^{(2)} = [[1.2546, 0.0000], [1.5061, 0.3374], [1.5026, 0.1413]]$\n"
    )
    assert not _findings(given).of("wrong")
    (found,) = _findings(given.replace("[0, 2], [1, 3]", "[0, 2], [1, 4]")).of("wrong")
    assert (found.what, found.found, found.right) == ("Q[1,3,2]", "4", "3")


def test_a_column_that_halves_the_count_of_rows_by_chance_is_no_error() -> None:
    table = "| i | U h | tanh |\n|---|---|---|\n| 1 | 0.50 | 0.4621 |\n"
    table += "| 2 | -1.00 | -0.7616 |\n| 3 | 1.50 | 0.9051 |\n"
    assert not _findings(f"# Step 2\n\n{table}").of("wrong")


def test_a_sine_is_compared() -> None:
    assert not _findings("Position 3: $\\sin(3) = 0.1411$, and sin(30) = 0.5.\n").of("wrong")
    (found,) = _findings("Position 3: $\\sin(3) = 0.4111$.\n").of("wrong")
    assert (found.found, found.right) == ("0.4111", "0.1411")


def test_results_of_a_misprinted_matrix_are_not_accused() -> None:
    """Every score of key 3 is wrong by the misprint in K; and so are the sums of a copied term."""
    text = (
        "X = [[1.0, 0.0, 2.0], [-1.0, 1.0, 0.5]], its columns are tokens.\n\n"
        "W_Q = [[1.0, -0.5], [0.0, 2.0]]\n\nW_K = [[0.5, 0.5], [1.0, -1.0]]\n\n"
        "Q = W_Q X = [[1.50, -0.50, 1.75], [-2.00, 2.00, 1.00]]\n\n"
        "K = W_K X = [[0.00, 0.50, 1.25], [2.00, -1.00, 1.50]]\n\n"
        "S = Kᵀ Q = [[-4.000, 4.000, 2.000], [2.750, -2.250, -0.125], [-1.125, 2.375, 3.688]]\n"
    )
    assert not _findings(text).of("wrong")
    (found,) = _findings(text.replace("-1.00, 1.50]]", "-1.00, -1.50]]")).of("wrong")
    assert (found.line, found.found, found.right) == (9, "-1.50", "1.50")
    sums = (
        "S1 = [[1.400, 2.800], [0.549, 1.098]]\n\nT = [[-0.301, 0.151], [-1.900, 0.950]]\n\n"
        "S2 = [[1.099, 2.951], [-1.351, 2.048]]\n\nU = [[5.100, -3.400], [3.600, -2.400]]\n\n"
        "S3 = [[1.099 + 5.100, 9.251 + (-3.400)], [-1.351 + 3.600, 2.048 + (-2.400)]]\n\n"
        "S3 = [[6.199, 5.851], [2.249, -0.352]]\n"
    )
    (found,) = _findings(sums).of("wrong")
    assert (found.line, found.found, found.right) == (9, "9.251", "2.951")


WEIGHTS = (
    "Q = [1.0 0.0; 0.0 2.0; 1.0 1.0]\n\nK = [2.0 1.0; 1.0 3.0; 0.0 1.0]\n\n"
    "S = Q Kᵀ = [2.0 1.0 0.0; 2.0 6.0 2.0; 3.0 4.0 1.0]\n\n"
    "S / √2 = [1.414 0.707 0.000; 1.414 4.243 1.414; 2.121 2.828 0.707]\n\n"
    "A = [0.576 0.284 0.140; 0.053 0.894 0.053; 0.200 0.300 0.500]\n"
)


def test_weights_wrong_throughout_are_reported_unless_they_follow_from_a_reported_number() -> None:
    found = _findings(WEIGHTS).of("wrong")
    assert [each.what for each in found] == ["A[3,1]", "A[3,2]", "A[3,3]"]
    read = _findings(WEIGHTS.replace("2.0; 3.0", "2.0; 3.5"))
    assert [each.what for each in read.of("wrong")] == ["S[3,1]"]
    (found,) = (each for each in read.of("unchecked") if each.name == "A")
    assert found.why == "it follows from a wrong number before it, line 5, and is no second error"


def test_weights_of_printed_exponentials_are_not_accused() -> None:
    """The misprint in an exponent is reported, and not the weights that follow from it."""
    text = (
        "Q = [0,5 1,0; 1,0 0,2]\n\nK = [0,02 0,00; 0,90 0,45; 0,80 0,10]\n\n"
        "S = Q Kᵀ, nicht skaliert:\n\n|  | das | alte | Haus |\n|---|---|---|---|\n"
        "| Ziel 1 | 0,01 | 0,90 | 0,50 |\n| Ziel 2 | 0,02 | 0,99 | 0,82 |\n\n"
        "Zeile 2: $e^{0,02}=1,02$, $e^{0,99}=2,69$, $e^{0,28}=1,32$; die Summe ist $5,03$.\n\n"
        "A = [0,19 0,48 0,32; 0,20 0,53 0,26]\n"
    )
    (found,) = _findings(text).of("wrong")
    assert (found.line, found.found, found.right) == (12, "0.28", "0.82")


def test_the_gradient_of_a_loss_is_no_wrong_softmax() -> None:
    text = "s = (0.18, 2.47, 0.53), p = (0.081, 0.803, 0.115)\n\np - y = (0.081, 0.803, -0.885)\n"
    assert not _findings(text).of("wrong")


NAMED = (
    ("mu = 1.25\nx = (2, -1, 0.5)\nx - mu = (0.75, -2.25, {})", "-0.75", "0.75"),
    ("p = (0.8581, 0.1419), y = (0, 1)\ndL/dz = p - y = (0.8581, {})", "-0.8581", "-0.8851"),
    (r"$x = \begin{pmatrix}1 & 0.5\end{pmatrix}$, $g = \begin{pmatrix}0.85 & -0.85\end{pmatrix}$"
     "\n" r"$x^\top g = \begin{pmatrix}0.850 & -0.850 \\ 0.425 & %s\end{pmatrix}$",
     "-0.425", "0.425"),
    ("| n | 512 |\n| d_ff | 2048 |\n\n2 * n * d_ff = {} floats",
     "2097152", "2079152"),
    ("y = g * h + b, and\n\ng = [1.5, 2.0]\nh = [0.41, -1.34]\nb = [0.5, 0.1]\n\ny = [1.115, {}]",
     "-2.580", "2.580"),
    ("in all 12 × 7,087,872 = {}", "85,054,464", "85,045,464"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "right", "wrong"), NAMED)
def test_a_misprint_in_a_formula_over_printed_names_is_found(
    text: str, right: str, wrong: str
) -> None:
    texts = [text.replace("{}", each).replace("%s", each).split("\n") for each in (right, wrong)]
    assert all(each.is_right for each in sums_in(texts[0]))
    found = [(each.result, each.right) for each in sums_in(texts[1]) if not each.is_right]
    plain = [(e.replace(",", ""), r.replace(",", "")) for e, r in [(wrong, right)]]
    assert found == plain


def test_what_follows_from_a_misprint_or_an_earlier_number_is_not_accused() -> None:
    text = "W = (0.2, -0.4), g = (0.85, 0.15)\nd = 2 · g = (1.70, -0.30)\nW - d = (-1.50, -0.70)"
    wrong = [(each.text, each.result) for each in sums_in(text.split("\n")) if not each.is_right]
    assert wrong == [("2 · g", "-0.30")]
    text = "T = 0.5\nz = (2, 1)\nz / T = (4.00, 2.00)\nT = 2\nz / T = (4.00, 2.00)"
    assert all(each.is_right for each in sums_in(text.split("\n")))


def test_a_number_of_a_unit_is_not_compared_with_one_of_another() -> None:
    assert not [*sums_in(["2 * 6 * 8 * 64 * 1024 * 2 = 12 MiB"])]


TABLES = (
    ("pos | sin(pos)", "0 | 0.0000", "1 | 0.8415", "2 | 0.9093", "3 | {}", "0.1411", "0.4111"),
    ("x | x²", "1.5 | 2.25", "-2.0 | 4.00", "0.5 | 0.25", "2.5 | {}", "6.25", "6.75"),
    ("part | count | n", "a | 589824 + 768 | 590592", "b | 2359296 + 3072 | 2362368",
     "c | 768 + 768 | 1536", "d | 2359296 + 768 | {}", "2360064", "2306064"),
)  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_a_wrong_number_in_a_column_that_follows_from_others_is_found(
    table: Sequence[str],
) -> None:
    *rows, right, wrong = table
    lines = [[f"| {row.replace('{}', each)} |" for row in rows] for each in (right, wrong)]
    assert not [*sums_of_tables(lines[0])]
    found = [(each.line, each.result, each.right) for each in sums_of_tables(lines[1])]
    assert found == [(len(rows), wrong, right)]


FOLLOWING = (
    ("x = [0.5 -1.0 0.8 0.1; 1.2 0.3 -0.4 -0.9; -0.6 0.7 0.2 1.1]\n\n"
     "The means are 0.1, 0.05 and 0.35; the variances are 0.465, 0.6225 and 0.4025.\n",
     "0.6225", "0.6252"),
    ("q = (-1.2722, -1.8389, 0.2955, -0.9553)\n\nk = (-0.5714, 0.9611, 1.2929, 2.1397)\n\n"
     "The products:\n\n 0.7269\n-1.7674\n 0.3821\n-2.0441\n", "0.3821", "0.3281"),
    ("$$0.2516\\cdot 0.67 + 0.1579\\cdot 0.4 + 0.3785\\cdot (-0.46) + 0.2119\\cdot 0.02$$\n\n"
     "The products are 0.1686, 0.0632, -0.1741 and 0.0042; together about 0.0618.\n",
     "0.0042", "0.0424"),
    ("x = (2; -1; 3; 4)\n\nNormalized: 0.000; -1.603; 0.534; 1.069.\n", "1.069", "1.096"),
    ("S = [2 6; 1 -1]\n\nT = [1.41 4.24; 0.71 -0.71]\n\nB = [0.06 0.94; 0.81 0.19]\n",
     "4.24", "2.24"),
)  # fmt: skip


@for_all("case", FOLLOWING)
def test_numbers_that_follow_by_their_values_are_compared(case: tuple[str, str, str]) -> None:
    text, right, wrong = case
    assert not _findings(text).of("wrong")
    found = _findings(text.replace(right, wrong)).of("wrong")
    assert [each.found for each in found] == [wrong]
