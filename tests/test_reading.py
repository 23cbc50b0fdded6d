"""Every form of input gives the same problem; every fault one clear message."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import GOOD, for_all, many
from hypothesis import given
from hypothesis import strategies as st

from attncalc import InputError, Problem, ShapeError, read_problem
from attncalc.reading import read_matrix, read_stream
from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.names import unknown

BLOCKS = "X\n1,2\n3,4\nW_Q\n1,0\n0,1\nW_K\n0,1\n1,0\nW_V\n1\n1\n"


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_json(folder: Path, **changes: Any) -> Path:
    return written(folder, "in.json", json.dumps(GOOD | changes))


def message(path: Path) -> str:
    """Return the error of a bad file, without the folder's name."""
    with pytest.raises(InputError) as error:
        read_problem(path)
    return str(error.value).replace(f"{path.parent}/", "")


def same(left: Problem, right: Problem) -> bool:
    return all(np.array_equal(left.as_typed(name), right.as_typed(name)) for name in (*left.names,))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("comma.csv", BLOCKS),
        ("crlf.csv", BLOCKS.replace("\n", "\r\n")),
        ("bom.csv", "\ufeff" + BLOCKS),
        ("semicolon.csv", BLOCKS.replace(",", ";")),
        ("tab.tsv", BLOCKS.replace(",", "\t")),
        ("spaced.csv", BLOCKS.replace(",", " , ").replace("W_K", "w k :")),
        ("spreadsheet.csv", BLOCKS.replace("X\n", "X,,\n").replace("W_V\n1\n1", "W_V,,\n1,,\n1,,")),
        ("blank-lines.csv", BLOCKS.replace("W_", "\n\nW_")),
        ("utf16.csv", BLOCKS.encode("utf-16")),
        ("header.csv", BLOCKS.replace("X\n", "X\nd1,d2\n")),
        ("no-ending", BLOCKS),
        ("in.json", json.dumps(GOOD)),
        ("bom.json", "\ufeff" + json.dumps(GOOD)),
        ("json-without-ending", json.dumps(GOOD)),
        ("texts.json", json.dumps(GOOD | {"X": [["1", "4/2"], ["3.0", "4"]]})),
        ("inline.json", json.dumps(GOOD | {"X": "1 2; 3 4"})),
    ],
)
def test_every_form_of_a_file_is_the_same_problem(
    tmp_path: Path, name: str, content: str | bytes
) -> None:
    assert same(read_problem(written(tmp_path, name, content)), Problem(**GOOD))


def test_a_folder_gives_the_same_problem(tmp_path: Path) -> None:
    written(tmp_path, "X.csv", "token;a;b\nthe;1;2\ncat;3;4\n")
    written(tmp_path, "w_q.CSV", "1,0\n0,1\n")
    written(tmp_path, "W_K.tsv", "0\t1\n1\t0\n")
    written(tmp_path, "W_V.csv", "W_V\n1\n1\n")
    written(tmp_path, "README.md", "not a matrix")
    problem = read_problem(tmp_path)
    assert same(problem, Problem(**GOOD))
    assert problem.queries == ("the", "cat")


def test_the_names_of_the_homework_work_in_any_case(tmp_path: Path) -> None:
    homework = {
        "Input tokens": GOOD["X"],
        "QUERY WEIGHTS": GOOD["W_Q"],
        "key_weights": GOOD["W_K"],
        "valueWeights": GOOD["W_V"],
        "Decimals": 3,
    }
    problem = read_problem(written(tmp_path, "in.json", json.dumps(homework)))
    assert same(problem, Problem(**GOOD))
    assert problem.decimals == 3


@for_all(
    ("text", "rows"),
    [
        ("1 0; 0 1", [[1, 0], [0, 1]]),
        ("1,0;0,1", [[1, 0], [0, 1]]),
        ("[[1,0],[0,1]]", [[1, 0], [0, 1]]),
        ("[[1 0] [0 1]]", [[1, 0], [0, 1]]),
        ("[1, 0; 0, 1]", [[1, 0], [0, 1]]),
        ("1 0\n0 1\n", [[1, 0], [0, 1]]),
        ("1 0; 0 1;", [[1, 0], [0, 1]]),
        ("-1/2 ½ −3 2.5e-3", [[Fraction(-1, 2), Fraction(1, 2), -3, Fraction(1, 400)]]),
        ("1e5", [[100_000]]),
        ("5", [[5]]),
    ],
)
def test_inline_text_is_a_matrix(text: str, rows: list[list[Fraction]]) -> None:
    assert read_matrix("W_Q", text)["W_Q"].tolist() == rows


def test_a_flag_accepts_a_file_of_any_form(tmp_path: Path) -> None:
    for name, content in (("a.csv", "a;b\n1;2,5\n"), ("b.json", "[[1, 2.5]]"), ("c", "1\t2,5\n")):
        fields = read_matrix("X", str(written(tmp_path, name, content)))
        assert [float(entry) for entry in fields["X"][0]] == [1, 2.5]
        assert "row names" not in fields


def test_numbers_are_kept_as_typed(tmp_path: Path) -> None:
    """A third typed as 1/3 is a third, not the float64 nearest to it."""
    problem = read_problem(as_json(tmp_path, W_V=[["1/3"], [0.1]]))
    assert problem.as_typed("W_V").tolist() == [[Fraction(1, 3)], [Fraction(1, 10)]]
    assert problem.W_V.tolist() == [[1 / 3], [0.1]]


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ("the,1,2\ncat,3,4", ("the", "cat")),
        ("the,1,2\nthe,3,4", ("the (1)", "the (2)")),
        ("token,a,b\n7,1,2\ncat,3,4", ("7", "cat")),
        ('"a,b",1,2\n";",3,4', ("a,b", ";")),
        ("1,2\n3,4", ("1", "2")),
    ],
)
def test_a_first_column_of_tokens_gives_the_labels(
    tmp_path: Path, rows: str, labels: tuple[str, ...]
) -> None:
    problem = read_problem(written(tmp_path, "in.csv", BLOCKS.replace("1,2\n3,4", rows)))
    assert problem.queries == labels
    assert same(problem, Problem(**GOOD))


@pytest.mark.parametrize(("layout", "labels"), [("rows", ("a", "b")), ("columns", ("the", "cat"))])
def test_a_sheet_names_its_tokens_in_either_layout(
    tmp_path: Path, layout: str, labels: tuple[str, ...]
) -> None:
    sheet = "X\n,the,cat\na,1,3\nb,2,4"
    text = BLOCKS.replace("X\n1,2\n3,4", sheet).replace("W_V\n1\n1", "W_V\n1,0\n0,1")
    problem = read_problem(written(tmp_path, "in.csv", f"layout,{layout}\n{text}"))
    assert problem.queries == labels
    assert problem.X.tolist() == [[1, 3], [2, 4]]


def test_lines_before_the_first_block_set_the_conventions(tmp_path: Path) -> None:
    settings_ = "title,Mine\nscale,1/3\nrounding,each step\ndecimals,4\n"
    problem = read_problem(written(tmp_path, "in.csv", settings_ + BLOCKS))
    assert (problem.title, problem.scale, problem.rounding, problem.decimals) == (
        "Mine",
        Fraction(1, 3),
        "each-step",
        4,
    )


def test_a_decimal_comma_is_read_only_in_numbers(tmp_path: Path) -> None:
    text = "title;Ann, Bob\nscale;1,5\n" + BLOCKS.replace(",", ";")
    problem = read_problem(written(tmp_path, "in.csv", text))
    assert (problem.title, problem.scale) == ("Ann, Bob", Fraction(3, 2))


def test_positions_may_be_the_matrix_itself(tmp_path: Path) -> None:
    for key in ("P", "positions"):
        problem = read_problem(as_json(tmp_path, **{key: [[1, 1], [0, 0]]}))
        assert problem.P.tolist() == [[1, 1], [0, 0]]


def test_changes_override_the_file(tmp_path: Path) -> None:
    path = as_json(tmp_path, decimals=5, labels=["the", "cat"])
    assert read_problem(path).queries == ("the", "cat")
    changed = read_problem(path, decimals=1, X=[[1, 2]])
    assert changed.decimals == 1
    assert changed.queries == ("1",), "labels of other tokens must not be kept"


BAD_JSON = {
    '{"X": [[1,2],\n [3 4]]}': "in.json: not JSON at line 2, column 5: Expecting ',' delimiter",
    "[1]": 'in.json: a problem is one JSON object, like {"X": [[1, 0]], "W_Q": …}; this is a list',
    "[" * 100_000: "in.json: not a problem: its lists are nested too deeply",
    "  ": "in.json: empty",
    '{"X": [[1]], "x": [[2]]}': 'in.json: X is given twice ("X" and "x")',
    '{"X": [[1]], "X": [[2]]}': 'in.json: X is given twice ("X")',
    '{"X": [[1]]}': "in.json: missing matrices: W_Q, W_K, W_V",
    "{}": (
        "in.json: missing matrices: "
        "X (self-attention) or X1 and X2 (cross-attention), W_Q, W_K, W_V"
    ),
    '{"X": {"a": 1}}': "in.json: X: an object, where a list of rows is needed",
    '{"X": [[1], 2]}': "in.json: X, row 2: a number, where a list of numbers is needed",
    '{"X": [["a", null], [true, NaN]]}': (
        "in.json: 4 things are wrong\n"
        '  X, row 1, column 1: "a" is not a number\n'
        "  X, row 1, column 2: null is not a number\n"
        "  X, row 2, column 1: true is not a number\n"
        '  X, row 2, column 2: "NaN" is not a number'
    ),
    '{"X": [[1e400]]}': (
        'in.json: X, row 1, column 1: "1e400" is too large (the largest number is about 1.8e308)'
    ),
    '{"X": [[1, 2], [3]]}': "in.json: X, row 2: 1 entry, where row 1 has 2",
    '{"X": []}': "in.json: X is empty: it needs at least one row and one column",
    '{"X": [[]]}': "in.json: X is empty: it needs at least one row and one column",
    '{"X": [[[1]]]}': "in.json: missing matrices: W_Q, W_K, W_V",
    '{"W_Q": [[[1]], [1]]}': (
        "in.json: W_Q, head 2, row 1: a number, where a list of numbers is needed"
    ),
    '{"W_Q": [[[1]], [["a"]]]}': 'in.json: W_Q, head 2, row 1, column 1: "a" is not a number',
    '{"W_Q": [[[1]], [[1, 2]]]}': "in.json: W_Q: its heads differ in shape",
    '{"W_Q": [[[[1]]]]}': "in.json: W_Q, head 1, row 1, column 1: a list is not a number",
    '{"X": "1 2 [3"}': (
        'in.json: X: "1 2 [3" is not a matrix: write rows like "1 0; 0 1" or "[[1, 0], [0, 1]]"'
    ),
    '{"labels": "the cat"}': "in.json: labels: a text, where a list of texts is needed",
    '{"labels": {"X": ["the", "cat"], "x": ["a", "dog"]}}': (
        "in.json: labels of X are given twice"
    ),
    '{"decimals": [2]}': "in.json: decimals: a list cannot be read here",
}


@pytest.mark.parametrize("content", BAD_JSON, ids=range(len(BAD_JSON)))
def test_bad_json_is_refused_with_one_clear_message(tmp_path: Path, content: str) -> None:
    assert message(written(tmp_path, "in.json", content)) == BAD_JSON[content]


BAD_FIELDS = [
    (
        {"W_QQ": 1},
        'in.json: unknown name "W_QQ": did you mean W_Q?',
    ),
    ({"decimals": 13}, 'in.json: decimals takes a whole number from 0 to 12, not "13"'),
    ({"decimals": 1.5}, 'in.json: decimals takes a whole number from 0 to 12, not "1.5"'),
    (
        {"scale": "sqrt"},
        'in.json: scale takes "sqrt_dk", "none" or a number that multiplies the scores: '
        '"sqrt" is not a number',
    ),
    ({"rounding": "up"}, 'in.json: rounding takes "display" or "each-step", not "up"'),
    (
        {"labels": ["a"]},
        "in.json: labels of X: 1 given, but X is 2 × 2: one is needed for each row",
    ),
    ({"labels": {"X1": ["a"]}}, "in.json: labels names X1: it takes X"),
    (
        {"X1": [[1, 2]]},
        "in.json: X together with X1 or X2: "
        "self-attention takes X, cross-attention takes X1 and X2",
    ),
]


@pytest.mark.parametrize(("fields", "expected"), BAD_FIELDS)
def test_bad_fields_are_refused_with_one_clear_message(
    tmp_path: Path, fields: dict[str, Any], expected: str
) -> None:
    assert message(as_json(tmp_path, **fields)) == expected


BAD_SHAPES = [
    (
        {"X": [[1, 2, 3]]},
        "in.json: X is 1 × 3, and the weights it is multiplied by (W_Q, W_K, W_V) have 2 rows: "
        "X needs 2 columns",
    ),
    (
        {"X": [[1, 2, 3]], "W_V": [[1], [2], [3]]},
        "in.json: 2 things are wrong\n"
        "  X is 1 × 3 and W_Q is 2 × 2: for X W_Q, W_Q needs as many rows as X has columns (3)\n"
        "  X is 1 × 3 and W_K is 2 × 2: for X W_K, W_K needs as many rows as X has columns (3)",
    ),
    (
        {name: [[1, 2], [3, 4], [5, 6]] for name in ("W_Q", "W_K", "W_V")},
        "in.json: X is 2 × 2, and the weights it is multiplied by (W_Q, W_K, W_V) have 3 rows: "
        "X needs 3 columns; or, where the weights are stored (out, in), set weights_layout torch",
    ),
    (
        {"W_Q": [[1, 2], [3, 4], [5, 6]]},
        "in.json: X is 2 × 2 and W_Q is 3 × 2: "
        "for X W_Q, W_Q needs as many rows as X has columns (2). W_Q looks transposed",
    ),
    (
        {"W_V": [[1], [2], [3]]},
        "in.json: X is 2 × 2 and W_V is 3 × 1: "
        "for X W_V, W_V needs as many rows as X has columns (2)",
    ),
    (
        {"X": [[1, 2, 3], [4, 5, 6]]},
        "in.json: X is 2 × 3, and the weights it is multiplied by (W_Q, W_K, W_V) have 2 rows: "
        "X needs 2 columns. X looks transposed: tokens are rows",
    ),
    (
        {"W_K": [[1], [2]]},
        "in.json: W_Q is 2 × 2 and W_K is 2 × 1: "
        "both need the same number of columns (d_k), for Q Kᵀ to exist",
    ),
]


@pytest.mark.parametrize(("fields", "expected"), BAD_SHAPES)
def test_shapes_that_do_not_fit_are_named_both(
    tmp_path: Path, fields: dict[str, Any], expected: str
) -> None:
    path = as_json(tmp_path, **fields)
    assert message(path) == expected
    with pytest.raises(ShapeError):
        read_problem(path)


BAD_CSV = {
    "1,2\n3,4\n": (
        "in.csv: no matrix is named: head each block with a line that has its name, as X or W_Q"
    ),
    BLOCKS.replace("3,4", "3,x"): 'in.csv: X, row 2, column 2 (line 3): "x" is not a number',
    BLOCKS.replace("3,4", "3,"): (
        "in.csv: X, row 2, column 2 (line 3): blank, but a number is needed"
    ),
    BLOCKS.replace("3,4", "3"): "in.csv: X, row 2 (line 3): 1 entry, where row 1 has 2",
    BLOCKS + "X\n1,2\n": "in.csv: line 13: X is given twice",
    BLOCKS + "W_Z\n1\n": ('in.csv: line 13: unknown name "W_Z": did you mean W_V?'),
    BLOCKS.replace("1,2", '"1,2'): (
        "in.csv: not CSV at line 12: a quotation mark is opened and never closed"
    ),
    "1,1\n" + BLOCKS: (
        "in.csv: line 1: these cells are not part of a matrix: "
        "head each block with a line that has its name, as X or W_Q"
    ),
    "X\nW_Q\n1\n": "in.csv: X is empty: it needs at least one row and one column",
}


@pytest.mark.parametrize("content", BAD_CSV, ids=range(len(BAD_CSV)))
def test_bad_csv_is_refused_with_one_clear_message(tmp_path: Path, content: str) -> None:
    assert message(written(tmp_path, "in.csv", content)) == BAD_CSV[content]


def test_twenty_faults_are_listed_and_the_rest_counted(tmp_path: Path) -> None:
    text = message(as_json(tmp_path, X=[["a", "b"]] * 50))
    lines = text.split("\n")
    assert lines[0] == "in.json: 100 things are wrong"
    assert lines[20] == '  X, row 10, column 2: "b" is not a number'
    assert lines[21:] == ["  … and 80 more"]


def test_files_that_are_not_text_are_refused(tmp_path: Path) -> None:
    refused = {
        b"\x89PNG\r\n\x1a\n\xff": "x: not text in UTF-8 (line 1): save it as UTF-8, a sheet "
        "of Excel as CSV UTF-8",
        b"\0\0\0": "x: not text but a binary file: give JSON, CSV or .npz",
        b"": "x: empty",
    }
    for content, expected in refused.items():
        assert message(written(tmp_path, "x", content)) == expected


def test_an_answer_in_other_encodings_is_read_and_a_problem_is_not_guessed(tmp_path: Path) -> None:
    text = "für Q =\n1,5 2\n-3 4\n"
    numbers = [[1.5, 2.0], [-3.0, 4.0]]
    for encoding, remarks in (("cp1252", 1), ("utf-16-le", 0), ("utf-16", 0), ("utf-8", 0)):
        answer = read_answer_bytes(text.encode(encoding), "a.txt")
        assert answer.matrices["Q"].values.tolist() == numbers
        assert len(answer.remarks) == remarks
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_answer_bytes(b"Q = 1 2 \xff\x01", "a.txt")
    assert "CSV UTF-8" in message(written(tmp_path, "X.csv", "für,1\n".encode("cp1252")))


def test_missing_files_and_strange_folders_are_refused(tmp_path: Path) -> None:
    assert message(tmp_path / "in.json") == "in.json: no such file"
    folder = tmp_path / "folder"
    folder.mkdir()
    assert message(folder) == "folder: this folder has no X.csv, W_Q.csv, …"
    written(folder, "X.csv", "1,z\n")
    written(folder, "W_Z.csv", "1\n")
    assert message(folder) == (
        "folder: 2 things are wrong\n"
        '  W_Z.csv: unknown name "W_Z": did you mean W_V?\n'
        '  X.csv: X, row 1, column 2 (line 1): "z" is not a number'
    )


@many(300)
@given(st.one_of(st.binary(max_size=200), st.text(alphabet='XW_Q{}[]",;:\n\t123.-½', max_size=80)))
def test_no_content_brings_down_the_reader(content: bytes | str) -> None:
    """Whatever a file holds, it is a problem or an InputError; nothing else comes out."""
    data = content.encode() if isinstance(content, str) else content
    try:
        read_stream(data, "in")
    except InputError as error:
        assert str(error).startswith("in: ")  # noqa: PT017 - both ends are right ones


cells = st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-999, max_value=999)


@many(100)
@given(
    st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=4),
    st.sampled_from([",", ";", "\t"]),
)
def test_csv_with_any_delimiter_reads_back_what_was_written(
    rows: list[list[Any]], delimiter: str
) -> None:
    """With semicolons and tabs the decimals are written with a comma, as spreadsheets do."""
    point = "." if delimiter == "," else ","
    lines = [delimiter.join(str(cell).replace(".", point) for cell in row) for row in rows]
    text = "\n".join(["X", *lines, *BLOCKS.replace(",", delimiter).split("\n")[3:]])
    problem = read_stream(text.encode(), "in")
    assert problem.as_typed("X").tolist() == rows


def test_asked_may_be_in_several_cells(tmp_path: Path) -> None:
    path = tmp_path / "problem.csv"
    path.write_text("asked,Q,A\n" + BLOCKS, "utf-8")
    assert read_problem(path).asked == ("Q", "A")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tokens", "write their vectors in X, and their names in labels"),
        ("context", "write the tokens of the queries in X1, and the context in X2"),
        ("queries", "write Q"),
        ("dropout", "no dropout is applied: leave it out"),
    ],
)
def test_a_name_of_other_programs_is_explained(name: str, says: str) -> None:
    assert unknown(name) == f'unknown name "{name}": {says}'
