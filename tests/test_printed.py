"""What programs print is read as the matrices that it shows, or listed; never in part alone."""

from pathlib import Path

import numpy as np
import pytest
from answer_corpus import expected
from conftest import for_all

from attncalc.reading.answers import answers_in, read_answer_bytes
from attncalc.reading.answers.answer import Answer
from attncalc.reading.answers.text import read_text_answer
from attncalc.reading.naming import name_in

Q = [[1, 3], [-1, 1], [2.5, -2]]
K = [[3, -0.5], [2, -1.5], [-2.5, 3.5]]


def read(text: str, problem: str = "self", ending: str = "txt") -> Answer:
    return read_answer_bytes(text.encode(), f"answer.{ending}", expected(problem))


def assert_is(answer: Answer, **matrices: object) -> None:
    """Hold that these were read, and nothing else, and that nothing was left out."""
    assert not answer.has_unread_matrix, answer.unread
    assert set(answer.matrices) == set(matrices)
    for name, rows in matrices.items():
        assert np.array_equal(answer.matrices[name].values, np.array(rows, dtype=float)), name


@pytest.mark.campaign(2)
@pytest.mark.parametrize(
    "text",
    [
        "sage: Q = X*W_Q; Q\n[  1   3]\n[ -1   1]\n[5/2  -2]\n"
        "sage: E = S.apply_map(lambda s: exp(s)); E\n[4.48 0.08 2981.]\n[0.03 0.03 403.4]\n"
        "[4915. 2981. 0.0]",
        "Matrix(3, 2, {(1, 1) = 1, (1, 2) = 3, (2, 1) = -1, (2, 2) = 1, (3, 1) = 2.5, (3, 2) = -2},"
        "datatype = anything,shape = [])",
        "Q := Matrix(3, 2, [1, 3, -1, 1, 5/2, -2])",
        "Q[0][0] = 1  Q[0][1] = 3\nQ[1][0] = -1  Q[1][1] = 1\nQ[2][0] = 2.5  Q[2][1] = -2",
        "Q (shape (3, 2)):\n[[ 1.   3. ]\n [-1.   1. ]\n [ 2.5 -2. ]]",
        "``` r\nQ\n```\n\n##      [,1] [,2]\n"
        "## [1,]  1.0    3\n## [2,] -1.0    1\n## [3,]  2.5   -2\n",
        "Q\n╔══════╤══════╗\n║ q1   │ q2   ║\n╠══════╪══════╣\n║ 1    │ 3    ║\n║ -1   │ 1    ║\n"
        "║ 2.5  │ -2   ║\n╚══════╧══════╝",
        "Q\n+=====+=====+=====+\n|     | 1   | 2   |\n+=====+=====+=====+\n| a   | 1   | 3   |\n"
        "+-----+-----+-----+\n| b   | -1  | 1   |\n+-----+-----+-----+\n"
        "| c   | 2.5 | -2  |\n+-----+-----+-----+",
        "<tf.Tensor: shape=(3, 2), dtype=float32, numpy=\narray([[ 1. ,  3. ],\n"
        "       [-1. ,  1. ],\n       [ 2.5, -2. ]], dtype=float32)>",
        "(%i5) Q : X . WQ;\n(%o5) matrix([1,3],[-1,1],[5/2,-2])",
        "q = [[1.0, 3.0],\n [-1.0, 1.0],\n [2.5, -2.0]], shape=[3, 2], strides=[2, 1], "
        "layout=Cc (0x5), const ndim=2",
        "julia> DataFrame(Q, :auto)\n3×2 DataFrame\n Row │ x1       x2\n     │ Float64  Float64\n"
        "─────┼──────────────────\n   1 │     1.0      3.0\n   2 │    -1.0      1.0\n"
        "   3 │     2.5     -2.0",
        "2026-01-14 10:22:31,417 INFO attention: Q = [[1, 3], [-1, 1], [2.5, -2]]",
        "print(Q.shape)\n# (3, 2)\nprint(Q)\n# [[ 1.   3. ]\n#  [-1.   1. ]\n#  [ 2.5 -2. ]]",
    ],
)  # fmt: skip
def test_one_matrix_is_read_from_any_program(text: str) -> None:
    name = "" if "Q" in text or text.startswith("q") else "Q = "
    assert_is(read(name + text), Q=Q)


def test_matrices_in_a_dictionary_are_read_by_their_keys() -> None:
    text = "{'Q': array([[ 1. , 3. ],\n [-1. , 1. ],\n [ 2.5, -2. ]]), 'K': array([[ 3. , -0.5],\n"
    assert_is(read(text + " [ 2. , -1.5],\n [-2.5, 3.5]])}"), Q=Q, K=K)
    assert_is(read(str({"Q": Q, "K": K})), Q=Q, K=K)


def test_rows_that_bear_the_names_of_cells_again_and_again_are_labelled_rows() -> None:
    sheet = "Queries,,,\n,d1,d2,\nT1,1,3,\nT2,-1,1,\nT3,2.5,-2,\n,,,\nKeys,,,\n,d1,d2,\n"
    assert_is(read(sheet + "T1,3,-0.5,\nT2,2,-1.5,\nT3,-2.5,3.5,\n", ending="csv"), Q=Q, K=K)


def test_headings_among_the_rows_of_a_sheet_part_it() -> None:
    text = "Anfragen Q\t\t\n\td1\td2\na\t1\t3\nb\t-1\t1\nc\t2,5\t-2\nSchlüssel K\t\t\n"
    assert_is(read(text + "\td1\td2\na\t3\t-0,5\nb\t2\t-1,5\nc\t-2,5\t3,5\n"), Q=Q, K=K)


def test_the_size_above_a_matrix_of_stata_is_not_an_entry() -> None:
    text = ". matrix list Q\n\nQ[3,2]\n      c1   c2\n r1    1    3\n r2   -1    1\n r3  2.5   -2\n"
    assert_is(read(text), Q=Q)


def test_entries_that_numpy_omits_are_reported() -> None:
    answer = read(f"Q = {Q}\nA:\n[[0.1 ... 0.2]\n ...\n [0.6 ... 0.1]]")
    assert set(answer.matrices) == {"Q"}
    assert [each.line for each in answer.unread if each.could_be_matrix] == [3]
    assert "left out" in answer.unread[0].why


def test_a_matrix_for_each_head_under_one_name_is_not_a_correction() -> None:
    first, second = [[2, 1], [0, 2], [1, 1]], [[0, 1], [3, 1], [3, 3]]
    assert_is(read(f"Q = {first}\n\nQ = {second}", "heads"), Q=[first, second])


def test_outputs_of_each_head_differ_from_those_of_all() -> None:
    own = [[[1.31, 4.79], [1.5, 4.68], [1.33, 4.69]], [[1.99, 1], [2.18, 0.53], [2.1, 0.6]]]
    last = [[3.55, 5.54], [3.93, 4.96], [3.68, 5.04]]
    text = f"head_1:\n  output: {own[0]}\nhead_2:\n  output: {own[1]}\noutput: {last}"
    assert_is(read(text, "heads"), H=own, O=last)
    other = [[2.31, 3.79], [2.5, 3.68], [2.33, 3.69]]
    in_part = read(f"output: {other}\n\noutput: {last}", "heads")
    assert [each.line for each in in_part.unread] == [1]
    assert in_part.has_unread_matrix


def test_a_step_among_given_matrices_is_not_a_copy_with_a_slip() -> None:
    """K of the second sample is X2 but for one number."""
    keys = "[-2 1; -1 1; 0 1; 2 0]"
    answer = read(f"Q = [1 2; 1 1]\n\nInput\n{keys}", "cross")
    assert answer.matrices["K"].values.tolist() == [[-2, 1], [-1, 1], [0, 1], [2, 0]]


@for_all(
    ("text", "matrix"),
    [
        ("w @ V", "O"),
        ("jnp.matmul(w, V)", "O"),
        ("round(A @ V, 3)", "O"),
        ("Round[A, 0.01].V", "O"),
        ("MMULT(A;V)", "O"),
        ("Q @ K.T / jnp.sqrt(3)", "S_scaled"),
        ("pprint(Q*K.T, use_unicode=True)", "S"),
        ("tf.matmul(Q, K, transpose_b=True)", "S"),
        ("u @ V", None),
        ("np.einsum('ij,jk', Q, K) @ M", None),
        ("map(exp, S)", None),
    ],
)
def test_a_product_of_a_program_has_the_name_of_its_step_or_none(
    text: str, matrix: str | None
) -> None:
    name = name_in(text)
    assert (name.matrix if name else None) == matrix


def test_answers_of_a_folder_are_found_from_any_program(tmp_path: Path) -> None:
    names = ["a.yaml", "b.jl", "c.R", "d.Rmd", "e.txt"]
    for name in names:
        (tmp_path / name).write_text(f"Q = {Q}", encoding="utf-8")
    (tmp_path / "e.log").write_text("This is pdfTeX", encoding="utf-8")
    assert [path.name for path in answers_in(tmp_path) or []] == names


def test_several_prints_on_a_line_name_their_arrays_in_order() -> None:
    code = ">>> print(Q); print(V)\n[[ 1  3]\n [-1  1]]\n[[2 0]\n [0 5]]\n>>> print(K)\n"
    read = read_text_answer(f"{code}[[7 7]\n [7 7]]", "a.txt")
    assert {name: each.values.tolist() for name, each in read.matrices.items()} == {
        "Q": [[1, 3], [-1, 1]],
        "V": [[2, 0], [0, 5]],
        "K": [[7, 7], [7, 7]],
    }
