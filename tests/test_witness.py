"""Steps that the numbers of an answer show where neither layout nor wording does."""

import numpy as np
import pytest
from answer_corpus import expected

from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.answers.answer import Answer

ROWS = {"Q": "1 3; -1 1; 2.5 -2", "K": "3 -0.5; 2 -1.5; -2.5 3.5", "V": "2.5 -1.5; -1 3; -2 -3"}
FOUND = {
    "entries by their places": (
        "Q",
        "my numbers for problem set 4\ne11 = 1  e12 = 3\ne21 = -1 e22 = 1\ne31 = 2.5 e32 = -2\n",
    ),
    "vectors behind words": ("Q", "the queries, they are [1, 3], [-1, 1] and [2.5, -2]\n"),
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
def test_a_step_is_found_by_its_numbers_and_that_is_said(way: str) -> None:
    steps, text = FOUND[way]
    answer = read(text)
    for step in steps:
        np.testing.assert_array_equal(answer.matrices[step].values, rows(step))
        assert any(f"read as {step}, because its numbers are" in each for each in answer.remarks)
    assert not answer.has_unread_matrix


def test_a_mistake_among_the_numbers_stays() -> None:
    answer = read("the queries, they are [1, 3], [-1, 1] and [2.5, -3]\n")
    assert answer.matrices["Q"].values.tolist() == [[1, 3], [-1, 1], [2.5, -3]]


def test_letters_that_are_read_as_digits_are_said() -> None:
    answer = read("K:\n3 -O.5\n2 -1.5\n-2.5 3.5\n")
    assert "lines 2 to 4: read as K, because its numbers are those of K, with -O.5 as -0.5" in (
        answer.remarks
    )


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
