"""Steps that the numbers of an answer show where neither layout nor wording does."""

import numpy as np
import pytest
from answer_corpus import expected

from attncalc import Problem
from attncalc.grading.key import Key
from attncalc.grading.slack import ToTheDigit
from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.answers.answer import Answer
from attncalc.reading.answers.cuts import cuts, numbers_of

ROWS = {"Q": "1 3; -1 1; 2.5 -2", "K": "3 -0.5; 2 -1.5; -2.5 3.5", "V": "2.5 -1.5; -1 3; -2 -3"}
FOUND = {
    "entries by their places": (
        "Q",
        "my numbers for problem set 4\ne11 = 1  e12 = 3\ne21 = -1 e22 = 1\ne31 = 2.5 e32 = -2\n",
    ),
    "a dimension behind a matrix": (
        "Q",
        r"$Q = \begin{pmatrix} 1 & 3 \\ -1 & 1 \\ 2.5 & -2 \end{pmatrix}"
        r" \in \mathbb{R}^{3\times 2}$",
    ),
    "names beside the middle row": (
        "QK",
        "   1.0   3.0\nQ =  -1.0   1.0\n   2.5  -2.0\n\n"
        "   3.0  -0.5\nK =  2.0  -1.5\n  -2.5   3.5\n",
    ),
    "letters for digits": ("K", "K:\n3 -O.5\n2 -1.5\n-2.5 3.5\n"),
}


def read(text: str, name: str = "answer.txt") -> Answer:
    return read_answer_bytes(text.encode(), name, expected("self"))


def rows(step: str) -> np.ndarray:
    return np.array([[float(x) for x in row.split()] for row in ROWS[step].split(";")])


@pytest.mark.parametrize("way", FOUND)
def test_a_step_is_found_by_its_numbers_with_a_remark(way: str) -> None:
    steps, text = FOUND[way]
    answer = read(text)
    for step in steps:
        np.testing.assert_array_equal(answer.matrices[step].values, rows(step))
        reasons = ("its numbers are those of", "its rows are named")
        said = [f"read as {step}, because {reason} {step}" for reason in reasons]
        assert any(each in remark for each in said for remark in answer.remarks)
    assert not answer.has_unread_matrix


def test_a_sentence_with_dates_alone_below_all_steps_is_no_step() -> None:
    steps = expected("self").steps
    whole = "\n".join(f"{name} = {matrix.tolist()}" for name, matrix in steps.items())
    answer = read(f"{whole}\n\nThen May 5, 2024 p. 3/4 May 5, 2024.\n")
    assert {*answer.matrices} == {*steps}
    assert not answer.has_unread_matrix


def test_a_mistake_among_the_numbers_stays() -> None:
    answer = read("the queries, they are [1, 3], [-1, 1] and [2.5, -3]\n")
    assert answer.matrices["Q"].values.tolist() == [[1, 3], [-1, 1], [2.5, -3]]


def test_rows_found_by_their_numbers_are_those_of_the_tokens_that_name_them() -> None:
    problem = Problem(
        X=[[1, 2], [0, 1]], W_Q=[[1, 0], [1, 3]], W_K=[[1, 0], [0, 1]], W_V=[[1], [4]],
        labels=("ich", "lese"),
    )  # fmt: skip
    expected = Key(problem, ToTheDigit(2)).expected
    text = "+------+\n| QUERIES  lese  3  6 |\n|          ich   1  3 |\n+------+\n"
    answer = read_answer_bytes(text.encode(), "a.txt", expected)
    assert answer.matrices["Q"].values.tolist() == [[1, 3], [3, 6]]


def test_letters_that_are_read_as_digits_are_reported() -> None:
    answer = read("K:\n3 -O.5\n2 -1.5\n-2.5 3.5\n")
    because = "its numbers are those of K (letters read as digits: -O.5 = -0.5)"
    assert f"lines 2 to 4: read as K, because {because}" in answer.remarks


def test_a_named_matrix_of_its_shape_is_never_replaced_by_numbers_that_agree() -> None:
    wrong = "Q = [1 3; 1 1; 2.5 2]\n\nI also had 1 3, then -1 1, then 2.5 -2 somewhere\n"
    assert read(wrong).matrices["Q"].values.tolist() == [[1, 3], [1, 1], [2.5, 2]]


def test_numbers_in_a_row_without_any_cut_are_not_taken() -> None:
    answer = read("here are my numbers\n\n1 3 -1 1 2.5 -2\nV = [2.5 -1.5; -1 3; -2 -3]\n")
    assert "Q" not in answer.matrices
    assert answer.has_unread_matrix


def test_a_few_agreeing_numbers_are_not_enough() -> None:
    answer = read("the queries: (1, 3), (7, 8), (9, -2)\nV = [2.5 -1.5; -1 3; -2 -3]\n")
    assert "Q" not in answer.matrices or not any("because" in each for each in answer.remarks)


def test_half_of_a_number_with_a_decimal_comma_is_not_a_number() -> None:
    """2,5 is 2.5, or nothing: read as 2 it would be called a mistake."""
    text = "S = [1.5 -2.5 8; -3.5 -3.5 6; 8.5 8 -13.25]\nabfragen 1 | 3 / -1 | 1 / 2,5 | -2"
    answer = read_answer_bytes(text.encode(), "answer.txt", expected("self"))
    assert "Q" not in answer.matrices or answer.matrices["Q"].values[2, 0] == 2.5


def test_flat_numbers_in_json_have_the_shape_beside_them() -> None:
    text = '{"Q": {"data": [1, 3, -1, 1, 2.5, -2], "shape": [3, 2]}}'
    answer = read_answer_bytes(text.encode(), "a.json", expected("self"))
    assert answer.matrices["Q"].values.tolist() == [[1, 3], [-1, 1], [2.5, -2]]


def test_a_slash_separates_numbers_where_these_are_a_step() -> None:
    text = "q: 1/3, -1/1, 2.5/-2\nk: 3/-.5, 2/-1.5, -2.5/3.5\n"
    answer = read_answer_bytes(text.encode(), "a.txt", expected("self"))
    assert answer.matrices["Q"].values.tolist() == [[1, 3], [-1, 1], [2.5, -2]]
    assert answer.matrices["K"].values.tolist() == [[3, -0.5], [2, -1.5], [-2.5, 3.5]]


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        ("self", "The keys: the first one is (3, 2) and the second (2, 1), as I see it here."),
        ("self", "exp & more: -2 -3 | -2 -3 | .38 .62"),
    ],
)
def test_a_possible_unread_step_is_listed(problem: str, line: str) -> None:
    answer = read_answer_bytes(
        f"Q = [1 3; -1 1; 2.5 -2]\n{line}\n".encode(), "a.txt", expected(problem)
    )
    assert answer.has_unread_matrix


def test_steps_in_one_table_under_their_own_words_are_separated() -> None:
    rows = ["| dot product, query 1 | 0 | 1 | 2 | 2 |", "| dot product, query 2 | -1 | 0 | 1 | 2 |"]
    rows += ["| weight, query 1 | 0.05 | 0.15 | 0.40 | 0.40 |"]
    rows += ["| weight, query 2 | 0.03 | 0.09 | 0.24 | 0.64 |"]
    text = "\n".join(["| | k1 | k2 | k3 | k4 |", "|---|---|---|---|---|", *rows])
    answer = read_answer_bytes(text.encode(), "a.md", expected("cross"))
    assert answer.matrices["A"].values.tolist() == [
        [0.05, 0.15, 0.4, 0.4],
        [0.03, 0.09, 0.24, 0.64],
    ]
    assert answer.matrices["S"].values.tolist() == [[0, 1, 2, 2], [-1, 0, 1, 2]]


def test_numbers_below_the_name_of_an_unread_step_are_listed() -> None:
    text = "Q = [1 3; -1 1; 2.5 -2]\n\nKeys\nabout 3, or so\nthen 2, 4 or 7 I think\nlast 9\n"
    answer = read(text)
    assert "K" not in answer.matrices
    assert answer.has_unread_matrix


def test_powers_of_scores_are_not_their_later_version() -> None:
    answer = read(
        "Scores\n1 2 0\n0 1 1\n2 0 1\n\nScores, now e to the power of each\n"
        "2.72 7.39 1.00\n1.00 2.72 2.72\n7.39 1.00 2.72\n"
    )
    assert answer.matrices["S"].values.tolist() == [[1, 2, 0], [0, 1, 1], [2, 0, 1]]


@pytest.mark.parametrize(
    "text",
    [
        "Q <- rbind(c(1, 3),\n  c(-1, 1),\n  c(2.5, -2))\n",
        "Q = cbind(a = c(1, -1, 2.5), b = c(3, 1, -2))\n",
        "Queries\n  column 1: 1, -1, 2.5\n  column 2: 3, 1, -2\n",
        "Queries\n  Spalte 1: 1 -1 2.5\n  Spalte 2: 3 1 -2\n",
        "Queries\n  satır 1: 1 3\n  satır 2: -1 1\n  satır 3: 2.5 -2\n",
        "Q transposed:\n1 -1 2.5\n3 1 -2\n",
    ],
)
def test_rows_and_columns_on_lines(text: str) -> None:
    np.testing.assert_array_equal(read(text).matrices["Q"].values, rows("Q"))


@pytest.mark.parametrize(
    "words", ["no wait, row 2 should be", "oops, row 2 =", "correction: row 2:"]
)
def test_a_row_of_the_matrix_above_is_corrected(words: str) -> None:
    answer = read(f"Q:\n1 3\n-1 7\n2.5 -2\n{words} [-1 1]\n")
    np.testing.assert_array_equal(answer.matrices["Q"].values, rows("Q"))
    assert any("Q[2,:] is corrected here" in each for each in answer.remarks)


def test_a_row_that_is_all_masked_has_no_place_in_a_cut() -> None:
    key = np.array([[-np.inf, -np.inf], [-1.0, 2.0], [0.5, 1.5]])
    numbers = numbers_of("-1.00 0.5\n2.00 1.5\n")
    found = cuts(numbers, key, np.ones(len(numbers), bool), turned=True, least=0.5)
    assert all(all(each.written) for each in found)
