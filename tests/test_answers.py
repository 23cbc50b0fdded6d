"""Worked answers are read in every form in which a person or a program writes them."""

import json
from contextlib import suppress
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import any_text, for_all, many, mostly_slow
from hypothesis import given
from hypothesis import strategies as st

from attncalc import InputError, read_problem, solve
from attncalc.grading.key import key_of
from attncalc.grading.marking import mark
from attncalc.grading.rules import Rules
from attncalc.problem.samples import SAMPLES, sample
from attncalc.reading.answers import answers_in, read_answer, read_answer_bytes
from attncalc.reading.answers.answer import IN_FULL, Answer, Unread
from attncalc.reading.answers.expected import Expected
from attncalc.reading.plain.numerals import read_entry
from attncalc.reading.plain.rows import without_names
from attncalc.writing.frames import Screen, on_screen
from attncalc.writing.latex import write_latex
from attncalc.writing.markdown import write_markdown
from attncalc.writing.page import Contents, make_page
from attncalc.writing.page_data import write_csv, write_csv_files, write_json
from attncalc.writing.terminal import write_tables
from attncalc.writing.verdict import verdict

NAN = float("nan")


def read(text: str, name: str = "answer.md") -> Answer:
    return read_answer_bytes(text.encode(), name)


def numbers(answer: Answer, name: str) -> list[object]:
    return np.where(np.isnan(m := answer.matrices[name].values), None, m).tolist()


@for_all(
    ("text", "value", "decimals"),
    [
        ("0.30", Fraction(3, 10), 2),
        ("3/10", Fraction(3, 10), IN_FULL),
        (".3", Fraction(3, 10), 1),
        ("5/2", Fraction(5, 2), IN_FULL),
        ("2 1/2", Fraction(5, 2), IN_FULL),
        ("-2 1/2", Fraction(-5, 2), IN_FULL),
        ("½", Fraction(1, 2), IN_FULL),
        ("2½", Fraction(5, 2), IN_FULL),
        (r"\frac{1}{2}", Fraction(1, 2), IN_FULL),
        (r"-\dfrac{3}{4}", Fraction(-3, 4), IN_FULL),
        (r"2\tfrac{1}{2}", Fraction(5, 2), IN_FULL),
        (r"\frac12", Fraction(1, 2), IN_FULL),
        ("2.5×10^-3", Fraction(25, 10000), 4),
        ("2.5·10^{-3}", Fraction(25, 10000), 4),
        (r"2.5\times 10^{-3}", Fraction(25, 10000), 4),
        ("-10⁻²", Fraction(-1, 100), 2),
        ("2.5e-3", Fraction(25, 10000), 4),
        ("−1.50", Fraction(-3, 2), 2),
        ("- 2", Fraction(-2), 0),
        ("1.", Fraction(1), 0),
        ("0.00†", Fraction(0), 2),
        ("**0.80**", Fraction(4, 5), 2),
        ("*0.20*", Fraction(1, 5), 2),
        ("0.80 ●", Fraction(4, 5), 2),
        (r"{0.00}^{\dagger}", Fraction(0), 2),
        (r"\mathbf{0.80}", Fraction(4, 5), 2),
        (r"$\underline{0.20}$", Fraction(1, 5), 2),
        ("≈ 0.38", Fraction(38, 100), 2),
        ("(0.5)", Fraction(1, 2), 1),
    ],
)
def test_an_entry_is_kept_as_typed(text: str, value: Fraction, decimals: int) -> None:
    entry = read_entry(text)
    assert (entry.value, entry.decimals, entry.fault) == (value, decimals, "")
    assert entry.text == text.strip()


@for_all(
    "text",
    ["", " ", "?", "_____", "...", "…", "-", "—", r"\rule{0pt}{1.8em}\underline{\hspace{3em}}"],
)
def test_a_blank_or_a_question_mark_is_unanswered(text: str) -> None:
    entry = read_entry(text)
    assert (entry.value, entry.fault) == (None, "")


@for_all(
    "text",
    ["-inf", "-∞", r"-\infty", "−∞", "-Infinity", "float('-inf')", '-float("inf")', "-np.inf"],
)
def test_a_masked_score_is_read(text: str) -> None:
    assert read_entry(text).value == float("-inf")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("abc", '"abc" is not a number'),
        ("nan", '"nan" is not a number'),
        ("1/0", '"1/0" divides by zero'),
        ("1_000", '"1_000" is not a number: write it without underscores'),
        ("2.5×10^99999", '"2.5×10^99999" is out of range'),
        ("__import__('os')", "\"__import__('os')\" is not a number"),
        ("1" * 500, '"' + "1" * 39 + '…" is too long for a number'),
    ],
)
def test_an_invalid_number_states_why(text: str, fault: str) -> None:
    assert read_entry(text).fault == fault


@pytest.mark.slow
@many(100)
@given(any_text(40))
def test_no_text_of_an_entry_makes_the_reader_fail(text: str) -> None:
    entry = read_entry(text)
    assert entry.fault == "" or entry.value is None


@many(100)
@given(st.text(alphabet="QKSA=[]{}()|│\\&\n;:,. 12/-_#$?+", max_size=200))
def test_no_text_of_an_answer_makes_the_reader_fail(text: str) -> None:
    for name in ("a.md", "a.csv", "a.json", "a.txt"):
        with suppress(InputError):
            answer = read(text, name)
            assert answer.matrices or answer.connections


FORMS = {
    "latex.tex": r"\[Q = \begin{bmatrix} 1 & 3 \\ -1 & \frac{1}{2} \end{bmatrix}\]",
    "matlab.m": "Q = [1 3; -1 1/2];",
    "rows.m": "Q = [\n  1 3\n  -1 1/2\n]\n",
    "shown.m": "Q =\n\n     1     3\n    -1   0.5\n",
    "python.py": "Q = [[1, 3],\n     [-1, 0.5]]",
    "numpy.py": "Q = np.array([[1., 3.], [-1., .5]])",
    "printed.txt": "Q = [[ 1.   3. ]\n [-1.   0.5]]",
    "torch.py": "Q = tensor([[ 1.0,  3.0],\n        [-1.0,  0.5]], dtype=torch.float64)",
    "table.md": "## Q\n\n| 1 | 3 |\n|---|---|\n| -1 | 1/2 |\n",
    "labels.md": "**Queries**\n\n|   | 1 | 2 |\n|---|---|---|\n| cat | 1 | 3 |\n| dog | -1 | ½ |\n",
    "plain.txt": "Q:\n1 3\n-1 0.5\n",
    "commas.txt": "Queries:\n1, 3\n-1, 1/2\n",
    "blocks.csv": "Q\n1,3\n-1,1/2\n",
    "padded.csv": "Q,,\n1,3,\n-1,0.5,\n,,\nK,,\n2,2,\n",
    "semicolons.csv": "Q;\n1;3\n-1;0,5\n",
    "commas.csv": "Q\n1,00;3,00\n-1,00;0,50\n",
    "beside.txt": "Q = 1 3\n-1 0.5\n",
    "bare.md": "# Q\n\n 1 | 3\n---|---\n -1 | 0.5\n",
    "head.txt": "head 1: K = [1]\nQ = [1 3; -1 .5]\n",
    "named.csv": "Q\n,1,2\ncat,1,3\ndog,-1,0.5\n",
    "plain.json": '{"Q": [[1, 3], [-1, "1/2"]]}',
    "steps.json": '{"steps": [{"name": "Q", "shown": [["1", "3"], ["-1", "0.5"]]}]}',
    "text.json": '{"q": "1 3; -1 1/2"}',
    "batch.json": '{"Q": [[[1, 3], [-1, 0.5]]]}',
    "product.tex": r"$$Q = X W_Q = \begin{pmatrix}1&0\\0&1\end{pmatrix}"
    r"\begin{pmatrix}9&9\\9&9\end{pmatrix} = \begin{pmatrix}1&3\\-1&.5\end{pmatrix}$$",
}


@for_all("name", FORMS)
def test_every_form_of_a_matrix_is_read(name: str) -> None:
    answer = read(FORMS[name], name)
    assert numbers(answer, "Q") == [[1.0, 3.0], [-1.0, 0.5]]
    assert answer.faults == ()


@for_all(
    ("name", "step", "head"),
    [
        ("S_scaled", "S_scaled", 0),
        ("scaled scores", "S_scaled", 0),
        (r"S_{\text{scaled}}", "S_scaled", 0),
        ("attention weights", "A", 0),
        ("QK^T", "S", 0),
        ("A head 2", "A", 2),
        ("A^{(2)}", "A", 2),
        ("A_2", "A", 2),
    ],
)
def test_steps_are_known_by_the_names_people_give_them(name: str, step: str, head: int) -> None:
    answer = read(f"{name} = [1 2; 3 4]")
    matrix = answer.matrices[step].values
    assert matrix.shape == ((head, 2, 2) if head else (2, 2))
    assert (matrix[-1] if head else matrix).tolist() == [[1, 2], [3, 4]]


def test_unreadable_parts_are_named_and_the_rest_is_kept() -> None:
    answer = read("Q = [1 x; 3 ?]\nM = [1 2]\nA = [1 0; 0]\n")
    assert numbers(answer, "Q") == [[1.0, None], [3.0, None]]
    assert answer.faults == ('Q[1,2]: "x" is not a number',)
    assert answer.unread == (
        Unread(2, "M = [1 2]", 'unknown name "M": it is not a step', could_be_matrix=True),
    )
    assert answer.matrices["A"].problem == "row 1 has 2 entries, row 2 has 1"


def test_a_blank_row_or_column_is_unanswered_and_no_other_shape() -> None:
    assert numbers(read("A\n0,1\n,\n1,\n", "a.csv"), "A") == [[0, 1], [None, None], [1, None]]
    assert numbers(read("A\n0,\n1,\n", "a.csv"), "A") == [[0, None], [1, None]]
    table = "# A\n\n| |x|y|\n|-|-|-|\n|cat|||\n|dog|1|0|\n"
    assert numbers(read(table), "A") == [[None, None], [1, 0]]
    frame = (
        "A\n╭───┬──────╮\n│   │ 1  2 │\n├───┼──────┤\n│ 1 │      │\n│ 2 │ 1  0 │\n╰───┴──────╯\n"
    )
    assert numbers(read(frame, "a.txt"), "A") == [[None, None], [1, 0]]


def test_a_text_cannot_make_a_large_matrix_of_nothing() -> None:
    answer = read("# Q\nrows 999999 of 9999999\ncolumns 900000 of 9\n\n| |1|2|\n|-|-|-|\n|1|3|4|")
    assert answer.matrices["Q"].shape == (1, 2)


def test_brackets_are_followed_to_a_limited_depth() -> None:
    with pytest.raises(InputError, match="brackets are nested too deeply"):
        read("Q = " + "[" * 100_000)
    with pytest.raises(InputError, match="nested too deeply"):
        read('{"Q": ' + "[" * 100_000 + "}", "a.json")
    with pytest.raises(InputError, match="nested too deeply"):
        read('{"Q": ' + "[" * 900 + "1" + "]" * 900 + "}", "a.json")
    with pytest.raises(InputError, match="a text, where a list of rows is needed"):
        read('{"Q": "' + "[" * 20 + "1" + "]" * 20 + '"}', "a.json")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (
            "nothing here",
            "a.md",
            "a.md: no step is found in it (name each matrix, as in Q = [1 3; -1 1])",
        ),
        ("", "a.md", "a.md: empty"),
        (
            "[1, 2]",
            "a.json",
            'a.json: an answer is one JSON object, like {"Q": [[1, 3]], "A": [[0.3, 0.7]]}',
        ),
        ("1,2\n", "a.csv", "a.csv: no step is named: head each block with its name, as Q"),
        (
            '{"Q": null}',
            "a.json",
            "a.json: no step is found in it: Q: null, where a list of rows is "
            "needed (name each matrix, as in Q = [1 3; -1 1])",
        ),
    ],
)
def test_an_answer_without_a_step_is_refused(text: str, name: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, name)
    assert str(caught.value) == message


def test_arrays_of_a_program_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "dump.npz", Q=np.ones((1, 2, 3)), scores=np.zeros((2, 2)), extra=1)
    answer = read_answer(tmp_path / "dump.npz")
    assert answer.matrices["Q"].shape == (2, 3)
    assert answer.matrices["S"].shape == (2, 2)
    assert answer.faults == ()
    assert [(each.text, each.why, each.could_be_matrix) for each in answer.unread] == [
        ("extra: one of int64", 'unknown name "extra": it is not a step', False)
    ]
    assert (answer.matrices["Q"].decimals == 0).all()
    np.savez(tmp_path / "dump.npz", A=np.array([[0.62, 1 / 3]], dtype=np.float64))
    assert read_answer(tmp_path / "dump.npz").matrices["A"].decimals.tolist() == [[2, IN_FULL]]


def test_lines_of_the_map_are_read_from_sentences_and_json() -> None:
    text = "Output 1: most input cat (0.9), second inputs a and b (0.05 each)\n"
    text += "- Output 2: solid 3, dashed 1\nOutput 3: solid line to 2, no dashed line\n"
    text += "Output 4: most inputs 1 and 2 (0.50 each), so no second\nOutput 5: no input\n"
    found = read("Q = [1]\n" + text).connections
    assert found is not None
    assert [(each.output, each.most, each.second) for each in found] == [
        ("1", ("cat",), ("a", "b")),
        ("2", ("3",), ("1",)),
        ("3", ("2",), ()),
        ("4", ("1", "2"), ()),
        ("5", (), ()),
    ]
    text = "Q = [1]\nOutput 1: dashed 2, solid 1\nOutput 2 -> solid 3; dashed a (1)\\\\\n"
    found = read(text).connections
    assert found is not None
    assert [(each.most, each.second) for each in found] == [(("1",), ("2",)), (("3",), ("a (1)",))]
    content = {"connections": [{"output": 1, "most": 3, "second": [1, 2]}, "Output 2: solid 1"]}
    found = read(json.dumps(content), "a.json").connections
    assert found is not None
    assert [(each.output, each.most, each.second) for each in found] == [
        ("1", ("3",), ("1", "2")),
        ("2", ("1",), ()),
    ]


def console() -> Any:
    from rich.console import Console

    return Console(color_system=None)


def pages(name: str, tmp_path: Path, *, blank: bool, work: bool = False) -> dict[str, Answer]:
    """Return our own page of a sample in every form, read back as an answer."""
    solution = solve(read_problem(sample(name).path))
    page = make_page(solution, Contents(solution.plan, blank=blank, work=work, full=True))
    screen = Screen()
    texts = {
        "a.json": "".join(write_json(page)),
        "a.csv": "".join(write_csv(page)),
        "a.md": write_markdown(page),
        "a.tex": write_latex(page),
        "a.txt": on_screen(console(), write_tables(page, screen), screen),
    }
    for file, lines in write_csv_files(page).items():
        text = "".join(lines)
        (tmp_path / file).write_text(text, encoding="utf-8")
    with key_of(solution.problem, Rules()).names_at_hand():
        return {form: read(text, form) for form, text in texts.items()} | {
            "folder": read_answer(tmp_path)
        }


WRITTEN = mostly_slow(
    [
        pytest.param(each.name, work)
        for each in SAMPLES
        for work in (False, True)
        if not (work and each.name == "convolution-2d")
    ],
    11,
)
"""The samples, without and with their work; one is too long to be read to its end."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "work"), WRITTEN)
def test_output_is_read_back_as_a_correct_answer(name: str, work: bool, tmp_path: Path) -> None:
    solution = solve(read_problem(sample(name).path))
    key = key_of(solution.problem, Rules())
    for form, answer in pages(name, tmp_path, blank=False, work=work).items():
        marking = mark(key, answer, Rules())
        said = verdict(marking)
        assert any(each.startswith("Every entry is right") for each in said), form
        assert marking.is_right, (form, verdict(marking))
        assert marking.not_asked == ()
        assert answer.faults == (), form
        assert answer.unread == (), form
        for step in solution.plan:
            shown = np.array(solution.shown(step.name)).astype(float)
            assert np.array_equal(answer.matrices[step.name].values, shown), (form, step.name)
        found = answer.connections
        if len(solution.problem.attentions) != 1:
            continue
        assert found is not None, form
        assert len(found) == sum(len(head.connections) for head in solution.heads)


@pytest.mark.campaign(6)
@pytest.mark.parametrize("name", mostly_slow([each.name for each in SAMPLES], 12))
def test_a_worksheet_is_read_back_as_an_answer_that_is_blank(name: str, tmp_path: Path) -> None:
    solution = solve(read_problem(sample(name).path))
    for form, answer in pages(name, tmp_path, blank=True).items():
        assert answer.faults == (), form
        assert answer.unread == (), form
        asked = solution.problem.asked
        for step in solution.plan:
            if asked and step.name not in asked:
                continue
            matrix = answer.matrices[step.name]
            assert matrix.shape == solution[step.name].shape, (form, step.name)
            assert np.isnan(matrix.values).all()
        assert answer.connections is None


def test_a_matrix_and_a_line_of_the_map_on_one_line_are_both_read() -> None:
    answer = read("A = [1; 0] S = [2 3] Output 1: most input 3\n")
    assert (numbers(answer, "A"), numbers(answer, "S")) == ([[1.0], [0.0]], [[2.0, 3.0]])
    assert [(each.output, each.most) for each in answer.connections or ()] == [("1", ("3",))]


def test_attncalc_lines_and_other_sentences_are_read_in_one_sheet() -> None:
    lines = '"Output 1: solid line to 3, dashed line to 1 and 2"\n'
    lines += "Output 2 attends to input 3\n" + '"Output 3: solid line to _____"\n'
    text = f"Q\n1,2\n\nconnections\n{lines}"
    expected = key_of(read_problem(sample("self").path), Rules()).expected
    answer = read_answer_bytes(text.encode(), "a.csv", expected)
    found = [(each.output, each.most, each.second) for each in answer.connections or ()]
    assert found == [("1", ("3",), ("1", "2")), ("2", ("3",), ())]
    assert answer.unread == ()
    answer = read_answer_bytes(f"{text}Output 3 attends to\n".encode(), "a.csv", expected)
    assert [each.text for each in answer.unread] == ["Output 3 attends to"]


@pytest.mark.parametrize("form", ["a.txt", "a.md", "a.csv"])
def test_the_lines_of_a_worksheet_can_be_filled_in(form: str, tmp_path: Path) -> None:
    solution = solve(read_problem(sample("self").path))
    page = make_page(solution, Contents(solution.plan, blank=True))
    line = "Output 2: solid line to {}, dashed line to {}"
    blanks = {"a.md": "&#95;" * 5}
    blank = line.format(*[blanks.get(form, "_" * 5)] * 2)
    writers = {
        "a.txt": lambda: on_screen(console(), write_tables(page, Screen()), Screen()),
        "a.md": lambda: write_markdown(page),
        "a.csv": lambda: "".join(write_csv(page)),
    }
    worksheet = writers[form]()
    assert blank in worksheet
    found = read(worksheet.replace(blank, line.format("3", "1 and 2")), form).connections
    assert found is not None
    assert [(each.output, each.most, each.second) for each in found] == [("2", ("3",), ("1", "2"))]


def test_a_folder_is_one_answer_or_many(tmp_path: Path) -> None:
    one, many = tmp_path / "one", tmp_path / "many"
    one.mkdir()
    many.mkdir()
    (one / "Q.csv").write_text("1,2\n")
    (one / "A_head_2.csv").write_text("1,0\n")
    (many / "ann.json").write_text('{"Q": [[1]]}')
    (many / "bob.md").write_text("Q = [1]")
    (many / "notes.pdf").write_text("")
    (many / ".hidden.md").write_text("")
    assert answers_in(one) is None
    assert numbers(read_answer(one), "Q") == [[1.0, 2.0]]
    assert [path.name for path in answers_in(many) or []] == ["ann.json", "bob.md"]
    (empty := tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="this folder has no answers") as refused:
        answers_in(empty)
    endings = str(refused.value).partition("end in ")[2].split(", ")
    assert sorted(set(endings)) == sorted(endings)


def test_zeros_beside_a_blank_are_entries_and_no_names() -> None:
    """Names are counted from 1; a blank before zeros is an entry that is not filled in."""
    rows = [["", "0", "1"], ["0", "3", "7"]]
    assert without_names(rows) == rows
    assert without_names([["", "1", "2"], ["1", "3", "7"]]) == [["3", "7"]]


SIDE_BY_SIDE = "  Q        K\n 1  2 | 3 -4\n 5  6 | 7  8\n"


@pytest.mark.parametrize("bar", ["|", " | ", "  |  "])
def test_matrices_that_bars_separate_are_read_by_the_names_above_them(bar: str) -> None:
    answer = read(SIDE_BY_SIDE.replace(" | ", bar))
    assert numbers(answer, "Q") == [[1.0, 2.0], [5.0, 6.0]]
    assert numbers(answer, "K") == [[3, -4], [7, 8]]
    assert answer.unread == ()


def test_numbers_without_a_name_and_an_operator_are_listed_as_unread() -> None:
    answer = read("Q = [1 2; 3 4]\nand then\n1 2 3 | 4 -5 6 | 7\n")
    assert [each.text for each in answer.unread] == ["1 2 3 | 4 -5 6 | 7"]


RIGHT_OTHERS = {
    "Q": [[1, 3], [-1, 1], [2.5, -2]],
    "K": [[3, -0.5], [2, -1.5], [-2.5, 3.5]],
    "V": [[2.5, -1.5], [-1, 3], [-2, -3]],
    "A": [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]],
    "O": [[-2, -3], [-2, -3], [1.17, 0.21]],
}
EXPECTED = key_of(read_problem(sample("self").path), Rules()).expected
WRONG_SCORES = [[1.2, 2.5, 7.5], [-3.1, -2.5, 6.3], [8.2, 8.1, -13.5]]


def as_sheet(steps: dict[str, Any], sign: str = ",", point: str = ".") -> str:
    lines = [
        f"{name}\n" + "\n".join(sign.join(map(str, row)).replace(".", point) for row in rows)
        for name, rows in steps.items()
    ]
    return "\n\n".join(lines) + "\n"


def test_a_wrong_step_among_right_ones_is_read_as_written_in_every_form() -> None:
    """No other step says that it is wrong, so that it might be dropped as if it were not shown."""
    steps = {**RIGHT_OTHERS, "S": WRONG_SCORES}
    marked = {**RIGHT_OTHERS, "S": [[f"{each}*" for each in row] for row in WRONG_SCORES]}
    older = "\n".join(f"> {name} = {rows}" for name, rows in RIGHT_OTHERS.items())
    reply = "\n".join(f"{name} = {rows}" for name, rows in steps.items())
    key = key_of(read_problem(sample("self").path), Rules())
    for name, text in {
        "a.csv": as_sheet(steps),
        "b.csv": as_sheet(steps, ";", ","),
        "a.json": json.dumps(steps),
        "b.json": json.dumps(marked),
        "a.eml": f"{reply}\n\nOn Mon, Jan 5, 2026 at 10:12 AM Ann <a@b.c> wrote:\n{older}\n",
    }.items():
        answer = read_answer_bytes(text.encode(), name, key.expected)
        assert answer.matrices["S"].values.tolist() == WRONG_SCORES, name
        scores = next(e for e in mark(key, answer, Rules()).steps if e.step.name == "S")
        assert not scores.is_right, name


def test_a_cell_that_is_no_number_writes_no_other_step() -> None:
    cell = "8 Q = [[9,9],[9,9],[9,9]]"
    steps = {**RIGHT_OTHERS, "S": [[1.5, -2.5, cell], [-3.5, -3.5, 6], [8.5, 8, -13.25]]}
    answer = read_answer_bytes(json.dumps(steps).encode(), "a.json")
    assert answer.matrices["Q"].values.tolist() == RIGHT_OTHERS["Q"]
    assert answer.matrices["S"].faults


@for_all(
    ("said", "is_same"),
    [
        ("row 2: the same", True),
        ("row 2: igual", True),
        ("row 2: 同じ", True),
        ("row 2: not the same, I could not finish it", False),
        ("row 2: same rule, not done", False),
    ],
)
def test_words_for_the_same_are_the_row_before(said: str, is_same: bool) -> None:
    key = key_of(read_problem(sample("self").path), Rules())
    text = f"A\nrow 1: 0, 0, 1\n{said}\nrow 3: 0.62, 0.38, 0\n"
    values = read_answer_bytes(text.encode(), "a.txt", key.expected).matrices["A"].values
    assert values[[0, 2]].tolist() == [[0, 0, 1], [0.62, 0.38, 0]]
    assert values[1].tolist() == [0, 0, 1] if is_same else np.isnan(values[1]).all()


@for_all(
    ("heading", "wrong"),
    [*product(["{0} =", "# {0}", "**{0}**", "{0} = X W =", "{1}"], ["Q", "K", "A"])],
)
def test_a_wrong_step_below_its_name_is_marked_as_written(heading: str, wrong: str) -> None:
    """Right later steps do not make it a misreading."""
    words = {"Q": "Queries", "K": "Keys", "V": "Values", "A": "Weights", "O": "Outputs"}
    own = [[0.3, 0.3, 0.4], [0.2, 0.4, 0.4], [0.1, 0.5, 0.4]]
    steps = {**RIGHT_OTHERS, wrong: own if wrong == "A" else [[4, 7], [9, 6], [5, 8]]}
    text = "\n\n".join(
        heading.format(name, words[name]) + "\n" + "\n".join(" ".join(map(str, r)) for r in rows)
        for name, rows in steps.items()
    )
    key = key_of(read_problem(sample("self").path), Rules())
    answer = read_answer_bytes(text.encode(), "a.txt", key.expected)
    assert answer.matrices[wrong].values.tolist() == steps[wrong]
    assert not next(e for e in mark(key, answer, Rules()).steps if e.step.name == wrong).is_right


def test_a_table_of_entries_is_read_by_its_places_and_is_no_map() -> None:
    steps = {**RIGHT_OTHERS, "S": WRONG_SCORES}
    entries = [
        (name, i, j, value)
        for name, rows in steps.items()
        for i, row in enumerate(rows, start=1)
        for j, value in enumerate(row, start=1)
    ]
    key = key_of(read_problem(sample("self").path), Rules())
    for start in (1, 0):
        rows = (
            f"{n},{i - 1 + start},{j - 1 + start},{value},due 10/12" for n, i, j, value in entries
        )
        text = "\n".join(["Ada L.", "step,row,col,value,note", *rows, "Output 1: most input 3"])
        answer = read_answer_bytes(text.encode(), "a.csv", key.expected)
        assert {n: m.values.tolist() for n, m in answer.matrices.items()} == steps
        assert [each.says for each in answer.connections or ()] == ["output 1 → input 3"]
    twice = "\n".join(
        ["step,row,col,value", "S,1,1,2", "S,1,1,3", *(f"O,{i},1,2" for i in (1, 2, 3))]
    )
    answer = read_answer_bytes(twice.encode(), "a.csv", key.expected)
    assert [each.why for each in answer.unread] == [
        "S: row 1, column 1 is there twice: the later one counts"
    ]


def test_records_of_json_are_placed_by_their_rows_and_columns() -> None:
    entries = [
        {"step": name, "row": i, "col": j, "value": value}
        for name, rows in RIGHT_OTHERS.items()
        for i, row in enumerate(rows, start=1)
        for j, value in enumerate(row, start=1)
    ]
    rows = [
        {"step": name, "row": i, "values": row}
        for name, own in RIGHT_OTHERS.items()
        for i, row in enumerate(own, start=1)
    ]
    for listed in (entries, {"records": rows}):
        answer = read_answer_bytes(json.dumps(listed).encode(), "a.json", EXPECTED)
        assert {n: m.values.tolist() for n, m in answer.matrices.items()} == RIGHT_OTHERS


def test_an_answer_of_many_tokens_is_read_by_its_rows_and_entries() -> None:
    n = 200
    even, expected = np.full((n, n), 0.01), Expected({"A": np.full((n, n), 1 / n)})
    text = "A =\n" + "\n".join(" ".join(map(str, row)) for row in even)
    entries = [
        {"step": "A", "row": i, "col": j, "value": float(x)} for (i, j), x in np.ndenumerate(even)
    ]
    for data, name in ((text, "a.txt"), (json.dumps(entries), "a.json")):
        answer = read_answer_bytes(data.encode(), name, expected)
        assert np.array_equal(answer.matrices["A"].values, even)  # and no percentages
        assert not answer.unread


@for_all(
    "said",
    ["Misread Q[1,1] as 7 at first.", "Correction: Q[1,1] was 7", "I forgot why Q[1,1] is 7"],
)
def test_a_remark_about_a_past_mistake_changes_no_entry(said: str) -> None:
    key = key_of(read_problem(sample("self").path), Rules())
    text = as_sheet(RIGHT_OTHERS, "  ") + f"\n{said}\n"
    answer = read_answer_bytes(text.encode(), "a.txt", key.expected)
    assert answer.matrices["Q"].values.tolist() == RIGHT_OTHERS["Q"]


@for_all(
    ("titles", "order"),
    [
        ("step,row,col,value", "{0},{1},{2},{3}"),
        ("step,col,row,value", "{0},{2},{1},{3}"),
        ("step,row,col,work,value", "{0},{1},{2},1*1+0*2,{3}"),
    ],
)
def test_the_columns_of_a_table_of_entries_have_the_places_of_their_titles(
    titles: str, order: str
) -> None:
    rows = [
        order.format(name if (i, j) == (1, 1) else "", i, j, value)
        for name, own in RIGHT_OTHERS.items()
        for i, row in enumerate(own, start=1)
        for j, value in enumerate(row, start=1)
    ]
    for before, behind in (("", ""), ("", "# done")):
        text = "\n".join(filter(None, [before, titles, *rows, behind]))
        answer = read_answer_bytes(text.encode(), "a.csv", EXPECTED)
        assert {n: m.values.tolist() for n, m in answer.matrices.items()} == RIGHT_OTHERS
    text = "\n".join(["V", "2.5,-1.5", "-1,3", "-2,-3", titles, *rows[:12]])
    answer = read_answer_bytes(text.encode(), "a.csv", EXPECTED)
    assert "V" in answer.matrices or answer.has_unread_matrix


def test_tokens_as_columns_are_read_though_an_entry_is_wrong() -> None:
    steps = {**RIGHT_OTHERS, "V": [[2.5, -1.5], [-1, 3], [2, -3]]}
    turned = {n: [*zip(*rows, strict=True)] if n in "QKVO" else rows for n, rows in steps.items()}
    key = key_of(read_problem(sample("self").path), Rules())
    answer = read_answer_bytes(as_sheet(turned, ";", ",").encode(), "a.csv", key.expected)
    assert answer.matrices["V"].values.tolist() == steps["V"]


@for_all(
    "said",
    [
        "Sorry, in row 2 of the weights two are exchanged, correct is\n2) 0 0 1",
        "Korrektur: A[2,1] war falsch, richtig ist 0",
    ],
)
def test_a_correction_counts_though_it_is_below_its_sentence(said: str) -> None:
    weights = [[0, 0, 1], [1, 0, 0 if "two" in said else 1], [0.62, 0.38, 0]]
    key = key_of(read_problem(sample("self").path), Rules())
    text = as_sheet({**RIGHT_OTHERS, "A": weights}, "  ") + f"\n{said}\n"
    answer = read_answer_bytes(text.encode(), "a.txt", key.expected)
    assert answer.matrices["A"].values.tolist() == RIGHT_OTHERS["A"]
