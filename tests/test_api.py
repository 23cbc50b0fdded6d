"""What people hold in Python: it shows itself, becomes a page, a frame or a picture."""

import inspect
import json
import re
import subprocess
import sys
from fractions import Fraction
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command, clean_environment
from html_pages import matrix_of, read_page

import attncalc.api.glance as glancing
import attncalc.solving.solution as solving
from attncalc import (
    InputError,
    Problem,
    Solution,
    check,
    cross_attention,
    read_problem,
    self_attention,
    solve,
)
from attncalc.grading import marks
from attncalc.problem.fields import GIVEN, NESTED, SETTINGS, TEXTS
from attncalc.problem.samples import SAMPLES, sample
from attncalc.writing.plotting import drawing as picture

pytestmark = pytest.mark.campaign(4)

HOSTILE = ("</td><script>alert(1)</script>", "$x$ [red] :smile:", "\x1b[31mred\x1b]8;;http://x\x07")


def solved_sample(name: str) -> Solution:
    return solve(read_problem(sample(name).path))


def long_solution(n: int = 300, **conventions: Any) -> Solution:
    numbers = np.random.default_rng(1).normal(size=(3, n, 4))
    return solve(Problem(Q=numbers[0], K=numbers[1], V=numbers[2], **conventions))


def frames_of(text: str) -> list[list[list[str]]]:
    """Return the numbers of each frame, row by row, without what ranks them."""
    frames: list[list[list[str]]] = []
    for line in text.splitlines():
        if line.startswith("╭"):
            frames.append([])
        elif parts := re.fullmatch(r"│ (.*?) │ (.*?) +│", line.replace("│ │", "│  │")):
            frames[-1].append(parts[2].replace("●", "").replace("○", "").split())
    return [frame[1:] for frame in frames]  # without the names of the columns


@pytest.mark.campaign(24)
@pytest.mark.parametrize("name", [each.name for each in SAMPLES if each.name != "convolution-2d"])
def test_a_printed_solution_contains_the_digits_of_every_step(name: str) -> None:
    """Of nine heads, as in convolution-2d, it shows the first and last."""
    solution = solved_sample(name)
    expected = []
    for step in solution.steps:
        shown = solution.shown(step.name)
        expected += shown if solution[step.name].ndim == 3 else [shown]
    assert frames_of(str(solution)) == expected
    assert repr(solution) == str(solution).rstrip("\n")


@pytest.mark.slow
def test_the_largest_and_the_second_weight_are_marked_as_on_the_command_line(
    attncalc: Command,
) -> None:
    for name, command in (("translation", "cross"), ("columns", "self"), ("heads", "self")):
        printed = attncalc(command, str(sample(name).path), "--only", "A").out
        table = solved_sample(name).table("A")
        assert "●" in table
        assert marked_lines(table) == marked_lines(printed), name


def marked_lines(text: str) -> list[str]:
    """Return the lines of tables, their words alone: pages also mark what shows as 0.00."""
    lines = (line.replace("†", "").split() for line in text.splitlines() if line[:1] == "│")
    return [" ".join(line) for line in lines]


@pytest.mark.slow
def test_a_large_solution_is_shown_without_its_middle_with_a_note() -> None:
    text = repr(long_solution())
    assert text.count("\n") < 150
    assert max(map(len, text.splitlines())) < 300
    assert "the middle of S, S_scaled, A, O is omitted: solution[name] is the whole" in text
    assert "those of float64 arithmetic" not in text


def test_heads_in_the_middle_are_left_out_too() -> None:
    numbers = np.random.default_rng(1).normal(size=(3, 9, 2, 2))
    text = repr(solve(Problem(Q=numbers[0], K=numbers[1], V=numbers[2])))
    of_weights = text.split("A = softmax")[1].split("\n\n")[0]
    assert re.findall(r"^head \d+ of 9$|^heads .*$", of_weights, re.MULTILINE) == [
        *("head 1 of 9", "head 2 of 9", "head 8 of 9", "head 9 of 9", "heads 3 to 7 are left out")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ["display", "each-step"])
def test_hidden_digits_are_not_computed(monkeypatch: pytest.MonkeyPatch, rounding: str) -> None:
    solution = long_solution(700, rounding=rounding)
    written, ranked = [], []
    ranks = solving.connections
    monkeypatch.setattr(glancing, "fixed", lambda *given: written.append(given) or "0")
    monkeypatch.setattr(
        solving,
        "connections",
        lambda weights, visible: ranked.append(len(weights)) or ranks(weights, visible),
    )
    repr(solution)
    assert len(written) == 3 * 20 * 20 + 20 * 4  # S, S_scaled and A, and O
    assert ranked == [1] * 20  # the outputs that are shown, one by one
    assert "other_rounding" not in vars(solution)


def test_only_steps_that_were_kept_are_shown() -> None:
    problem = read_problem(sample("self").path)
    text = repr(solve(problem, keep=("O",)))
    assert "O = A V" in text
    assert "softmax" not in text


@pytest.mark.slow
def test_names_in_a_notebook_are_data() -> None:
    eye = np.eye(3)
    solution = self_attention(eye, eye, eye, eye, labels=HOSTILE, title="<b>\\(x\\)")
    html = solution._repr_html_()
    assert re.findall(r"<(/?\w+)", html) == ["iframe", "/iframe"]
    assert "\x1b" not in html
    assert "$x$ [red] :smile:" in html
    page = read_page(unescape(re.findall(r'srcdoc="([^"]*)"', html)[0]))
    names = [each.text for each in page.one("table", data_step="Q").one("tbody").all("th")]
    assert names[0] == "</td><script>alert(1)</script>"
    assert matrix_of(page.one("table", data_step="Q")) == solution.shown("Q")


def test_a_notebook_sees_wrong_entries_marked() -> None:
    marking = check(sample("self").path, {"Q": [[1, 3], [-1, 1], ["2.5", 2]]})
    page = read_page(unescape(re.findall(r'srcdoc="([^"]*)"', marking._repr_html_())[0]))
    assert page.one("td", class_="wrong").text == "2 ✗ wrong"


def test_a_solution_can_be_printed_where_there_is_only_ascii() -> None:
    program = "import attncalc as a; print(a.self_attention(*[[[1, 2], [3, 4]]] * 4, labels='äß'))"
    program = program.replace("'äß'", "['ä', 'ß']")
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=clean_environment() | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    assert "| \\xe4 |" in done.stdout


@pytest.mark.slow
def test_a_table_is_one_step_and_can_be_complete() -> None:
    solution = long_solution(30)
    short, whole = solution.table("S"), solution.table("S", full=True)
    assert frames_of(whole) == [solution.shown("S")]
    assert len(frames_of(short)[0]) == 21
    assert whole.startswith("S = Q Kᵀ   scores, 30 × 30\n")
    assert [*solution] == ["S", "S_scaled", "A", "O"]
    assert "A" in solution
    assert "Z" not in solution
    with pytest.raises(KeyError, match="no step Z: there are S, S_scaled, A, O"):
        solution.table("Z")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "flags"),
    [
        ({}, []),
        ({"work": True, "fractions": True}, ["--work", "--fractions"]),
        ({"fractions": "mixed"}, ["--mixed"]),
        ({"blank": True}, ["--blank"]),
        ({"only": ["Q", "A"]}, ["--only", "Q,A"]),
    ],
)
def test_pages_are_those_of_the_command(
    attncalc: Command, asked: dict[str, Any], flags: list[str]
) -> None:
    problem = read_problem(sample("sentence").path)
    solution = solve(problem, keep=asked.get("only"))
    for form, written in (("markdown", solution.to_markdown), ("latex", solution.to_latex)):
        printed = attncalc("self", str(sample("sentence").path), "--format", form, *flags)
        assert written(**asked) == printed.out
    assert solution.to_latex(standalone=True).startswith("\\documentclass")


def test_a_page_lists_what_it_cannot_contain() -> None:
    problem = read_problem(sample("self").path)
    with pytest.raises(InputError, match="no step Z: there are Q, K, V, S, A, O"):
        solve(problem).to_markdown(["Z"])
    with pytest.raises(InputError, match=r"only A, O is kept: call solve\(problem\) without keep"):
        solve(problem, keep=("A", "O")).to_latex(work=True)


def test_a_frame_has_the_labels_of_the_tables() -> None:
    pytest.importorskip("pandas")
    solution = solved_sample("translation")
    frame = solution.to_frame("A")
    assert tuple(frame.index) == solution.problem.queries
    assert tuple(frame.columns) == solution.problem.keys
    assert (frame.index.name, frame.columns.name) == ("queries", "keys")
    assert frame.to_numpy().tolist() == solution["A"].tolist()
    frame.iloc[0, 0] = 7
    assert solution["A"][0, 0] != 7
    assert list(solution.to_frame("O").columns) == [1, 2, 3]


def test_a_frame_of_columns_has_the_queries_above() -> None:
    pytest.importorskip("pandas")
    frame = solved_sample("columns").to_frame("A")
    assert (frame.index.name, frame.columns.name) == ("keys", "queries")
    assert frame["x1"].tolist() == [0, 0, 1]


def test_a_frame_of_heads_has_two_levels() -> None:
    pytest.importorskip("pandas")
    solution = solved_sample("heads")
    frame = solution.to_frame("A")
    assert frame.index.names == ["head", "queries"]
    assert frame.loc[(2, "see"), "you"] == solution["A"][1, 1, 2]


def test_a_frame_without_pandas_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"to_frame needs pandas.*python -m pip install pandas"):
        solved_sample("self").to_frame("A")


@pytest.mark.skipif(not hasattr(picture, "plot_on"), reason="no axes of one's own yet")
def test_a_picture_is_drawn_on_existing_axes() -> None:
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert solved_sample("self").plot("heatmap", ax=axes) is axes
    assert axes.has_data()


@pytest.mark.slow
def test_a_printed_marking_equals_the_command(attncalc: Command, tmp_path: Path) -> None:
    answer = tmp_path / "mine.json"
    answer.write_text('{"Q": [[1, 3], [-1, 1], [2.5, 2]], "A": [[1]]}', encoding="utf-8")
    marking = check(sample("self").path, answer)
    run = attncalc("check", str(sample("self").path), str(answer))
    assert str(marking) == run.out
    assert repr(marking) == run.out.rstrip("\n")
    markdown = attncalc("check", str(sample("self").path), str(answer), "--format", "markdown")
    assert marking.to_markdown() == markdown.out


def test_a_marking_in_python_has_all_results() -> None:
    marking = check(sample("self").path, {"Q": [[1, 3], [-1, 1], ["2.5", 2]]})
    assert isinstance(marking, marks.Marking)
    assert marking.score.earned.denominator == 6
    assert marking.verdict[-1] == (
        "Points: Q 0.83 of 1, K 0 of 1, V 0 of 1, S 0 of 1, A 0 of 1, O 0 of 1."
    )
    assert marking.verdict[0].startswith("The first mistake is in Q, row 3, column 2")


def documented(function: Any) -> dict[str, str]:
    """Return what a docstring says of each argument, by name."""
    text = inspect.getdoc(function) or ""
    parts = re.split(r"^([^\n]+)\n-+\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    found: dict[str, str] = {}
    for section in ("Parameters", "Other Parameters"):
        lists = re.split(r"^(\w[^\n]*)\n", sections[section], flags=re.MULTILINE)
        for names, says in zip(lists[1::2], lists[2::2], strict=True):
            found |= dict.fromkeys(names.split(", "), says)
    return found


@pytest.mark.parametrize(
    ("function", "kind"), [(self_attention, "self"), (cross_attention, "cross")]
)
def test_every_field_is_documented_where_it_can_be_given(function: Any, kind: str) -> None:
    said = documented(function)
    matrices = [name for name, each in GIVEN.items() if each.kind in ("", kind)]
    settings = [name for name, each in SETTINGS.items() if each.kind in ("", kind)]
    assert set(said) == {*matrices, *settings, "labels", "title", "more"}
    for name in matrices:
        assert re.search(r"\((n|m|d|d_\w+|1|heads)\b.*\)", said[name]), name


def test_every_field_is_documented_in_the_problem() -> None:
    text = inspect.getdoc(Problem) or ""
    names = re.findall(r"^(\w+(?:, \w+)*)$", text.split("Raises\n")[0], flags=re.MULTILINE)
    listed = {each for line in names for each in line.split(", ")} - {"Parameters"}
    texts = ("labels", *TEXTS, "remarks", "more")
    assert listed == {*GIVEN, *SETTINGS, *NESTED, *texts}


def test_solving_loads_no_module_that_writes_draws_or_marks() -> None:
    program = (
        "import sys, attncalc\n"
        "eye = [[1, 0], [0, 1]]\n"
        "attncalc.self_attention(eye, eye, eye, eye)['A']\n"
        "names = ('rich', 'matplotlib', 'pandas', 'attncalc.grading', 'attncalc.writing')\n"
        "print([name for name in names if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_where_tokens_are_columns_the_largest_weight_of_each_column_is_marked() -> None:
    problem = Problem(Q=[[9, 8]], K=[[0, 1, 2]], V=[[1, 1, 1]], layout="columns", scale="none")
    rows = [line for line in marked_lines(solve(problem).table("A")) if "●" in line]
    assert rows == ["│ 3 │ 1.00 ● 1.00 ● │"]


def test_a_print_in_a_notebook_shows_its_text_and_no_block_of_html(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[object] = []
    notebook = ModuleType("IPython.display")
    monkeypatch.setattr(notebook, "display", shown.append, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "Q = X W_Q" in str(self_attention([[1]], [[1]], [[1]], [[1]]))
    assert not shown


def test_texts_in_lists_are_read_as_those_of_files_are(tmp_path: Path) -> None:
    texts = [[0, "1/3"], ["−½", 0.1]]
    eye = [[1, 0], [0, 1]]
    fields: dict[str, Any] = {"X": eye, "W_Q": texts, "W_K": eye, "W_V": [["2.5e-1"], [1]]}
    (tmp_path / "in.json").write_text(json.dumps(fields), encoding="utf-8")
    here, there = Problem(**fields), read_problem(tmp_path / "in.json")
    assert here.typed["W_Q"].tolist() == [
        [0, Fraction(1, 3)],
        [Fraction(-1, 2), Fraction(1, 10)],
    ]
    assert there.typed["W_Q"].tolist() == here.typed["W_Q"].tolist()
    assert solve(here).to_markdown(work=True) == solve(there).to_markdown(work=True)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([[0, "1/3"], ["x", 1]], 'W_Q, row 2, column 1: "x" is not a number'),
        ([[["y"]], [[1]]], 'W_Q, head 1, row 1, column 1: "y" is not a number'),
        ([["1/0", 1]], 'W_Q, row 1, column 1: "1/0" divides by zero'),
        ([["nan", 1]], 'W_Q, row 1, column 1: "nan" is not a number'),
    ],
)
def test_a_text_that_is_not_a_number_is_reported_with_its_place(given: Any, told: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(told)}$"):
        Problem(X=[[1, 0]], W_Q=given, W_K=[[1], [1]], W_V=[[1], [1]])


MARKED = Problem(X=[[1, 2]], W_Q=[[3], [4]], W_K=[[1], [1]], W_V=[[1], [1]])


@pytest.mark.slow
def test_steps_are_counted_under_the_name_of_their_flag() -> None:
    answer = {"Q": [[12]], "S": [[33]]}
    for said in ("q, S", ["Q", "S"], ("scores", "Q")):
        marking = check(MARKED, answer, steps=said)
        assert (marking.score.earned, marking.score.possible) == (1, 2)
    assert check(MARKED, answer, weights={"s": "1/2"}).score.possible == Fraction(13, 2)


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"stesp": "Q"}, "did you mean steps"),
        ({"steps": "Q,Z"}, 'steps: unknown name "Z"'),
        ({"steps": 3}, "steps takes names"),
        ({"steps": "Q", "asked": "Q"}, "pass only one"),
        ({"follow_penalty": 7}, "follow_penalty takes a number from 0 to 1, not 7"),
        ({"weights": {"Z": 2}}, 'weights: unknown name "Z"'),
        ({"weights": {"Q": -1}}, "weights of Q takes a number from 0, not -1"),
        ({"atol": float("nan")}, 'atol: "nan" is not a number'),
    ],
)
def test_an_unknown_rule_is_refused(rules: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        check(MARKED, {"Q": [[11]]}, **rules)


def test_numbers_of_a_program_show_alike_from_arrays_lists_and_files(tmp_path: Path) -> None:
    wrong = np.array([[-2.087838527665174]])
    np.savez(tmp_path / "dump.npz", Q=wrong)
    shown = [
        check(MARKED, answer, atol=1e-9).verdict
        for answer in (tmp_path / "dump.npz", {"Q": wrong}, {"Q": wrong.tolist()})
    ]
    assert shown[0] == shown[1] == shown[2]
    assert "not -2.087838528." in " ".join(shown[0])
    typed = check(MARKED, {"Q": [["-2.087838527665174"]]}).verdict
    assert "not -2.087838527665174" in " ".join(typed)


def test_a_problem_prints_its_fields_and_the_sizes_of_large_ones() -> None:
    small = Problem(Q=[[1, 2]], K=[[0, 3]], V=[[1, 4]], scale="none", title="One")
    same = "Problem(title='One', Q=[[1.0, 2.0]], K=[[0.0, 3.0]], V=[[1.0, 4.0]], scale='none')"
    assert repr(small) == str(small) == same
    for each in SAMPLES:
        problem = solved_sample(each.name).problem
        shown = str(problem)
        assert len(shown) < 5000
        assert all(f"{name}=" in shown for name in problem.names)
