"""Pages in every form: written whole or not at all, and read back as the same problem."""

import csv
import io
import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from conftest import GOOD, Command, many, mostly_slow
from hypothesis import given
from hypothesis import strategies as st
from oracle_kinds import Kind
from test_kinds import FORMS, Form, kinds

from attncalc import InputError, Problem, Solution, read_problem, solve
from attncalc.problem.samples import SAMPLES
from attncalc.problem.serialising import in_arrays, in_csv, in_json
from attncalc.solving.work import Fractions
from attncalc.writing.document import Part
from attncalc.writing.latex import _Latex, write_latex
from attncalc.writing.markdown import _Markdown, write_markdown
from attncalc.writing.page import Contents, Page, make_page
from attncalc.writing.page_data import write_csv, write_csv_files, write_json, write_npz
from attncalc.writing.plotting.drawing import render, render_blank
from attncalc.writing.prose import line_in_text
from attncalc.writing.terminal import _Terminal

pytestmark = pytest.mark.campaign(4)

HOSTILE = [
    "=cmd()",
    "+1",
    "-x",
    "@y",
    "'=z",
    "7",
    "1/2",
    'a"b',
    "c,d;e",
    "[red]",
    "",
    "שלום",
    "👩‍👩‍👧",
    "X",
    "results",
    "token",
]


def page_of(problem: Problem, **contents: Any) -> Page:
    solution = solve(problem)
    return make_page(solution, Contents(solution.steps, **{"full": True, **contents}))


def is_solvable(problem: Problem) -> bool:
    """Return whether no row of scores sums to 0, where weights are scores over their sum."""
    try:
        solve(problem)
    except InputError as error:
        if "sum to 0" not in str(error):
            raise
        return False
    return True


def check_same(first: Problem, second: Problem) -> None:
    """Assert that two problems have the same steps, digits, values and names."""
    one, other = solve(first), solve(second)
    assert [step.name for step in one.steps] == [step.name for step in other.steps]
    for step in one.steps:
        assert one.shown(step.name) == other.shown(step.name)
        assert np.array_equal(one.precise(step.name), other.precise(step.name))
        assert one.row_labels(step) == other.row_labels(step)
        assert one.column_labels(step) == other.column_labels(step)
    assert first.title == second.title


def read_back(page: Page, folder: Path) -> list[Problem]:
    """Return the problem as it is read back from JSON, npz, CSV and a folder of CSV files."""
    (folder / "page.json").write_text("".join(write_json(page)), encoding="utf-8")
    with (folder / "page.npz").open("wb") as file:
        write_npz(page, file)
    (folder / "page.csv").write_text("".join(write_csv(page)), encoding="utf-8")
    (folder / "page").mkdir(exist_ok=True)
    for name, lines in write_csv_files(page).items():
        text = "".join(lines)
        (folder / "page" / name).write_text(text, encoding="utf-8")
    names = ("page.json", "page.npz", "page.csv", "page")
    return [read_problem(folder / name) for name in names]


@pytest.mark.parametrize("name", mostly_slow([each.name for each in SAMPLES], 16))
def test_every_sample_is_read_back_from_every_form(name: str, tmp_path: Path) -> None:
    problem = read_problem(next(each.path for each in SAMPLES if each.name == name))
    for again in read_back(page_of(problem, work=True), tmp_path):
        check_same(problem, again)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_names_that_look_like_something_else_are_read_back(layout: str, tmp_path: Path) -> None:
    X = np.arange(2 * len(HOSTILE)).reshape(-1, 2)
    eye = [[1, 0], [0, 1]]
    problem = Problem(
        X=X if layout == "rows" else X.T,
        W_Q=eye,
        W_K=eye,
        W_V=eye,
        labels=HOSTILE,
        layout=layout,
        title="=1+1",
    )
    for again in read_back(page_of(problem), tmp_path):
        check_same(problem, again)


@pytest.mark.slow
@many(60)
@given(kinds(), st.sampled_from(FORMS))
def test_every_kind_in_every_form_is_read_back(tmp_path: Path, kind: Kind, form: Form) -> None:
    problem = form.problem(kind)
    if not is_solvable(problem):
        return
    page = page_of(problem)
    masks = (problem.keep, problem.ignore, problem.bias)
    if any(mask is not None and mask.ndim == 3 and len(mask) > 1 for mask in masks):
        with pytest.raises(InputError, match="a mask for each head: json and npz can"):
            "".join(write_csv(page))
        return
    for again in read_back(page, tmp_path):
        check_same(problem, again)


@many(40)
@given(kinds(), st.sampled_from(FORMS), st.sampled_from([None, "plain"]))
def test_every_kind_in_every_form_is_written_out(
    kind: Kind, form: Form, fractions: Fractions | None
) -> None:
    """Each entry has a line, which ends in the digits that its table shows."""
    problem = form.problem(kind)
    if not is_solvable(problem):
        return
    page = page_of(problem, work=True, fractions=fractions)
    assert write_latex(page)
    assert write_markdown(page)
    for section in page.sections:
        count = sum(len(grid.rows) * len(grid.columns) for grid in section.grids)
        assert len(section.lines) == count
        for line in section.lines:
            *head, row, column = line.entry.place
            grid = section.grids[head[0] - 1 if head else 0]
            assert grid.cell(row - 1, column - 1).content == line.result
            equals = line_in_text(line).split("   (")[0].rpartition(" ")[0]
            assert equals.endswith(" =" if line.is_exact else " ≈")


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_csv_contains_everything_in_blocks() -> None:
    found = rows("".join(write_csv(page_of(read_problem(SAMPLES[0].path), work=True))))
    for row in (
        ["title", "Three tokens"],
        ["rounding", "each-step"],
        ["-0.5", "0"],
        ["results"],
        ["3", "0.62", "0.38", "0.00"],
        ["A[3,1] = e^8.50 / (e^8.50 + e^8.00 + e^-13.25) = 4914.77 / 7895.73 ≈ 0.62"],
        ["not zero: A[1,1]", "0.0015"],
        ["", "Output 3: most input 1 (0.62), second input 2 (0.38)"],
    ):
        assert row in found
    assert any(row[0] == "note" and "with full precision" in row[1] for row in found if row)


@pytest.mark.slow
def test_no_cell_of_csv_is_a_formula() -> None:
    X = np.arange(2 * len(HOSTILE)).reshape(-1, 2)
    problem = Problem(X=X, W_Q=[[1], [1]], W_K=[[1], [1]], W_V=[[1], [1]], labels=HOSTILE)
    for row in rows("".join(write_csv(page_of(problem, work=True)))):
        for cell in row:
            number = cell.lstrip("-").replace(".", "").replace("/", "").isdigit()
            assert number or cell[:1] not in ("=", "+", "-", "@") or cell == "-"


@pytest.mark.slow
def test_csv_to_a_folder_is_one_file_a_step(attncalc: Command, tmp_path: Path) -> None:
    run = attncalc("self", "--work", "-o", "steps/")
    assert run.err.endswith("note: 10 files written to steps\n")
    names = {path.name for path in (tmp_path / "steps").iterdir()}
    steps = {f"{name}.csv" for name in "QKVSAO"}
    assert names == steps | {"problem.csv", "work.csv", "connections.csv", "notes.csv"}
    assert rows((tmp_path / "steps" / "O.csv").read_text()) == [
        ["", "1", "2"],
        ["1", "-2.00", "-3.00"],
        ["2", "-2.00", "-3.00"],
        ["3", "1.17", "0.21"],
    ]
    again = attncalc("self", "steps", "--only", "O")
    assert again.out.endswith(attncalc("self", "--only", "O").out)


def test_masks_of_heads_are_too_much_for_csv(attncalc: Command) -> None:
    values = {"W_V": [[1, 1], [1, 1]]}
    problem = GOOD | values | {"heads": 2, "keep": [[[1, 1], [1, 1]], [[1, 0], [1, 1]]]}
    run = attncalc("self", "-", "--format", "csv", stdin=json.dumps(problem))
    assert (run.code, run.out) == (2, "")
    assert run.err == (
        "error: csv cannot contain keep, a mask for each head: json and npz can (--format json)\n"
    )


def test_json_contains_the_work(attncalc: Command) -> None:
    content = json.loads(attncalc("self", "--entry", "A[3,1]", "--format", "json").out)
    assert content["work"] == [
        {
            "step": "A",
            "row": 3,
            "column": 1,
            "work": "A[3,1] = e^8.50 / (e^8.50 + e^8.00 + e^-13.25) = 4914.77 / 7895.73 ≈ 0.62",
            "shown": "0.62",
            "exact": False,
        }
    ]
    assert content["steps"] == []
    fractions = json.loads(attncalc("self", "--fractions", "--format", "json").out)
    assert fractions["steps"][0]["shown"] == [["1", "3"], ["-1", "1"], ["5/2", "-2"]]
    assert fractions["steps"][4]["shown"][2] == ["0.62", "0.38", "0.00"]


def test_tables_show_fractions_too(attncalc: Command) -> None:
    assert "│ 3 │ 5/2  -2 │" in attncalc("self", "--fractions", "--only", "Q").out
    assert "│ 3 │ 2 1/2  -2 │" in attncalc("self", "--mixed", "--only", "Q").out


def test_npz_contains_the_work_and_the_notes(attncalc: Command, tmp_path: Path) -> None:
    assert attncalc("self", "--work", "-o", "page.npz").code == 0
    with np.load(tmp_path / "page.npz", allow_pickle=False) as arrays:
        assert "A[3,1] = e^8.50" in arrays["work"][33]
        assert arrays["connections"][2] == "Output 3: most input 1 (0.62), second input 2 (0.38)"
        assert "with full precision" in arrays["notes"][-1]
        assert arrays["conventions"][0] == "tokens are rows"


def test_a_table_in_a_file_contains_the_problem_and_the_notes(
    attncalc: Command, tmp_path: Path
) -> None:
    assert attncalc("self", "--work", "-o", "page.txt").code == 0
    text = (tmp_path / "page.txt").read_text(encoding="utf-8")
    assert "│ 3 │ -0.5  0 │" in text
    assert "with full precision" not in text  # advice to its author is no part of a page


# -- worksheets ----------------------------------------------------------------------------------


def test_a_worksheet_on_a_terminal_has_the_problem_and_the_dots(attncalc: Command) -> None:
    run = attncalc("cross", "--blank")
    assert "│ 4 │  2  0 │" in run.out
    assert run.out.count("_____") == 2 * 2 + 4 * 2 + 4 * 4 + 2 * 4 * 3 + 2 * 2
    assert "Inputs                            Outputs\n" in run.out
    assert run.out.count("●") == 4 + 2
    assert "0.40" not in run.out + run.err
    assert "other digits" not in run.err


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "html", "csv", "json"])
def test_a_worksheet_contains_no_answer_in_any_form(attncalc: Command, form: str) -> None:
    run = attncalc("self", "--blank", "--format", form)
    assert run.code == 0
    for answer in ("13.25", "0.62", "1.17", "8.50", "most input", "sums to", "not zero"):
        assert answer not in run.out + run.err


@pytest.mark.slow
def test_the_picture_of_a_worksheet_shows_only_dots(attncalc: Command, tmp_path: Path) -> None:
    attncalc("self", "--blank", "-o", "sheet.md")
    attncalc("self", "-o", "key.md")
    problem = read_problem(SAMPLES[0].path)
    assert (tmp_path / "sheet-map.png").read_bytes() == render_blank(problem, "png").content
    assert (tmp_path / "key-map.png").read_bytes() == render(solve(problem), "png").content


@pytest.mark.slow
def test_key_and_worksheet_come_from_the_same_file(attncalc: Command) -> None:
    for name in ("heads", "rope", "columns", "masks"):
        kind = "cross" if name == "masks" else "self"
        attncalc("samples", name, "-o", "in.json")
        key = attncalc(kind, "in.json", "--format", "markdown").out
        sheet = attncalc(kind, "in.json", "--format", "markdown", "--blank").out
        headings = [line for line in key.split("\n") if line.startswith("##")]
        assert [line for line in sheet.split("\n") if line.startswith("##")] == [
            heading for heading in headings if heading != "## Notes"
        ]


# -- where it goes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        (
            ("--blank", "--format", "npz", "-o", "x.npz"),
            "npz cannot contain a worksheet: table, markdown, latex, html, csv and json can "
            "(--format)",
        ),
        (
            ("--fractions", "-o", "x.npz"),
            "npz cannot contain fractions: table, markdown, latex, html, csv and json can "
            "(--format)",
        ),
        (
            ("--standalone", "--format", "json"),
            "json has no complete documents: --standalone is for --format latex",
        ),
        (
            ("--format", "json", "-o", "here/"),
            "here is a folder: csv is written to one, json to a file",
        ),
        (("-o", "no/there/"), "cannot write no/there: the folder no does not exist"),
        (("-o", "no/x.md"), "cannot write no/x.md: the folder no does not exist"),
    ],
)
def test_parts_that_a_form_cannot_contain_are_refused(
    attncalc: Command, tmp_path: Path, flags: tuple[str, ...], error: str
) -> None:
    (tmp_path / "here").mkdir()
    run = attncalc("self", *flags)
    assert (run.code, run.out) == (2, "")
    assert run.err.endswith(f"error: {error}\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["here"]


@pytest.mark.slow
def test_a_page_and_its_picture_are_written_both_or_neither(
    attncalc: Command, tmp_path: Path
) -> None:
    (tmp_path / "page.md").write_text("mine")
    (tmp_path / "page-map.png").mkdir()
    run = attncalc("self", "-o", "page.md")
    assert run.code == 2
    assert "page-map.png: it is a folder" in run.err
    assert (tmp_path / "page.md").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page-map.png", "page.md"]


def test_the_folder_of_the_problem_is_never_written_to(attncalc: Command, tmp_path: Path) -> None:
    attncalc("samples", "folder", "-o", "animals")
    before = sorted(path.name for path in (tmp_path / "animals").iterdir())
    run = attncalc("self", "animals", "-o", "animals/")
    assert run.err == (
        "error: cannot write animals: it is animals, which was read: use another path\n"
    )
    attncalc("samples", "self", "-o", "animals/in.json")
    run = attncalc("self", "animals/in.json", "-o", "animals")
    assert run.err == (
        "error: cannot write animals: it has animals/in.json, which was read: use another path\n"
    )
    assert sorted(path.name for path in (tmp_path / "animals").iterdir()) == [*before, "in.json"]


@pytest.mark.slow
def test_the_ending_chooses_the_form(attncalc: Command, tmp_path: Path) -> None:
    for ending, start in (
        (".tex", "% \\input"),
        (".md", "# Self-attention"),
        (".MARKDOWN", "# Self-attention"),
        (".csv", "title,"),
        (".json", "{"),
        (".txt", "Self-attention"),
        ("", "Self-attention"),
    ):
        assert attncalc("self", "-o", f"page{ending}").code == 0
        assert (tmp_path / f"page{ending}").read_text(encoding="utf-8").startswith(start)
    assert attncalc("self", "-o", "page.md", "--format", "json").code == 0
    assert (tmp_path / "page.md").read_text().startswith("{")


@pytest.mark.slow
def test_a_solution_read_back_shows_the_same_page(attncalc: Command) -> None:
    first = attncalc("cross", "--work", "--format", "markdown")
    for name in ("a.json", "a.npz", "a.csv", "a/"):
        attncalc("cross", "-o", name)
        assert attncalc("cross", name, "--work", "--format", "markdown").out == first.out


def test_values_survive_a_round_trip(tmp_path: Path) -> None:
    """float32 stays float32 in npz, and a third a third in all forms."""
    tokens = np.float32([[0.1, 0.2]])
    eye = np.eye(2, dtype=np.float32)
    problem = Problem(X=tokens, W_Q=eye, W_K=eye, W_V=eye)
    again = read_back(page_of(problem), tmp_path)
    assert again[1].dtype == np.float32
    solution: Solution = solve(again[0])
    assert solution.shown("Q") == solve(problem).shown("Q")


@pytest.mark.slow
@pytest.mark.parametrize("name", [each.name for each in SAMPLES])
def test_a_problem_is_serialised_without_being_solved(name: str, tmp_path: Path) -> None:
    problem = read_problem(next(each.path for each in SAMPLES if each.name == name))
    (tmp_path / "problem.json").write_text(json.dumps(in_json(problem)), encoding="utf-8")
    np.savez(tmp_path / "problem.npz", **in_arrays(problem))
    with (tmp_path / "problem.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(in_csv(problem))
    for form in ("json", "npz", "csv"):
        check_same(problem, read_problem(tmp_path / f"problem.{form}"))


def test_forms_write_every_part() -> None:
    """A new part of documents must not reach a form that does not know it."""
    names = {part.__name__.lower() for part in get_args(Part)} - {"appendix"}
    for form in (_Terminal, _Markdown, _Latex):
        assert names <= set(dir(form)), form
