"""What people say of their own numbers is read: corrections, repetitions, results behind work."""

import numpy as np
import pytest
from answer_corpus import expected

from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.answers.answer import Answer
from attncalc.reading.answers.prose import PROSE, is_telephone, role_of_words
from attncalc.reading.naming.layer_words import step_of_layer
from attncalc.reading.plain.corrections import with_corrections
from attncalc.reading.plain.programs import without_session

WRONG = "Q = [1 3; 1 1; 2.5 -2]\n\n"
RIGHT = [[1, 3], [-1, 1], [2.5, -2]]


def read(text: str, problem: str = "self", name: str = "a.txt") -> Answer:
    return read_answer_bytes(text.encode(), name, expected(problem))


@pytest.mark.parametrize(
    "said",
    [
        "sorry, Q[2,1] should be -1, I lost the sign",
        "Q_21 should read -1 instead of 1.",
        "Oops: Q[2,1] = -1, not 1",
        "EDIT: Q(2,1) is -1",
        "The second row of Q should be (-1, 1).",
        "Q_{2,1} müsste -1 sein",
        "Q[2,1] devrait être -1",
        "row 2 of Q should have been [-1, 1]",
    ],
)
def test_a_correction_in_a_sentence_counts_and_is_reported(said: str) -> None:
    answer = read(WRONG + said + "\n")
    assert answer.matrices["Q"].values.tolist() == RIGHT
    assert any("is corrected here" in remark for remark in answer.remarks)
    assert not answer.has_unread_matrix


@pytest.mark.parametrize(
    "said",
    [
        "I think Q[2,1] should be -1, and Q[3,2] should be 2",
        "the last row of Q should be (2.5, -2, 4)",
    ],
)
def test_a_correction_that_is_not_understood_is_listed(said: str) -> None:
    answer = read(WRONG + said + "\n")
    assert answer.has_unread_matrix


@pytest.mark.parametrize(
    "said",
    [
        "oops: the first entry of the second row should be -1, I typed it wrongly.",
        "Typo above, bottom left of the small block: not 1.0, correct is -1.0",
        "Ups: in der zweiten Zeile von Q muss die erste Zahl -1 sein.",
        "訂正：2行目の最初は -1",
        "Q[2,1] should be -1 because 0·1 + 1·(-1) = -1",
    ],
)
def test_the_numbers_place_a_correction_in_any_words(said: str) -> None:
    answer = read(WRONG + said + "\n")
    assert answer.matrices["Q"].values.tolist() == RIGHT
    assert "line 3: Q[2,1] is corrected here" in answer.remarks
    assert not answer.has_unread_matrix


def test_a_correction_that_fits_no_entry_or_several_is_listed() -> None:
    assert read(WRONG + "Sorry, one entry above should be 9.\n").has_unread_matrix
    several = read("Q = [1 3; 1 -1; 2.5 -2]\n\nOops, one entry above must be -1... or is it 1?\n")
    assert several.has_unread_matrix


def test_a_correction_states_a_row_in_full() -> None:
    answer = read("Q = [1 3; 1 -1; 2.5 -2]\n\nPS: the second row must be -1 1, not 1 -1.\n")
    assert answer.matrices["Q"].values.tolist() == RIGHT
    assert "line 3: Q, row 2, is corrected here" in answer.remarks


def test_a_row_that_is_only_mentioned_corrects_nothing() -> None:
    wrong = "Q = [1 3; 1 -1; 2.5 -2]\n\n"
    for said in ("Correction: I first had -1 1 and then changed it to 1 -1.",
                 "Sorry, the row is not -1 1 but 1 -1.",
                 "Corrected: my neighbor has -1 1, I don't know who is right."):  # fmt: skip
        assert read(f"{wrong}{said}\n").matrices["Q"].values[1].tolist() == [1, -1]


def test_a_correction_agrees_with_the_answers_own_mistakes() -> None:
    queries, keys = "Q = [1 3; 1 1; 2.5 -2]\n", "K = [3 -0.5; 2 -1.5; -2.5 3.5]\n"
    scores = "S = [1.5 -2.5 8; 5.2 0.5 1; 8.5 8 -13.25]\n"
    said = "oops, in row 2 the first number must be 2.5"  # of the wrong query: the key has -3.5
    answer = read(queries + keys + scores + said)
    assert answer.matrices["S"].values[1].tolist() == [2.5, 0.5, 1]


def test_a_matrix_with_a_blank_is_corrected() -> None:
    said = "oops: the first entry of the second row should be -1, I typed it wrongly."
    answer = read(f"Q = [1 3; 1 1; ? -2]\n\n{said}\n")
    assert answer.matrices["Q"].values[1].tolist() == [-1, 1]


def test_words_about_errors_before_the_steps_or_about_sums_correct_nothing() -> None:
    for text in ("Sorry for being 2 days late.\n\n" + WRONG, WRONG + "each row should sum to 1\n"):
        assert not any("corrected" in remark for remark in read(text).remarks)


def test_the_last_version_of_a_corrected_matrix_counts() -> None:
    answer = read(WRONG + "Q[2,1] should be 7\n\nOnce more:\nQ = [1 3; -1 1; 2.5 -2]\n")
    assert answer.matrices["Q"].values.tolist() == RIGHT
    assert answer.has_unread_matrix


def test_sentences_without_an_entry_are_not_corrections() -> None:
    rows = ("the sum of row 1 should be 1", "row 2 should be 1", "a row 2 should be 1")
    for text in (
        *rows,
        "Each row should be normalised to 1",
        "it should be 3 by 2",
        "d_k = 2 here",
    ):
        assert with_corrections(text) == text


def test_numbers_in_sentences_are_listed_unless_they_are_elsewhere() -> None:
    told = "the score of token 1 with token 1 is 1.5, with token 2 is -2.5, with token 3 is 8\n"
    assert read("Q = [1 3; -1 1; 2.5 -2]\n\n" + told).has_unread_matrix
    scores = "S = [1.5 -2.5 8; -3.5 -3.5 6; 8.5 8 -13.25]\n\n"
    assert not read(scores + told).has_unread_matrix


def test_numbers_after_a_sum_are_not_work_if_a_step_is_named() -> None:
    text = (
        "O = [0.76 0.33; 0.16 0.96; 0.85 0.85]\n\ne^2 = 7.4. Sum 11.1. Weights 0.67, 0.24, 0.09.\n"
    )
    assert read(text, "softmax").has_unread_matrix


def test_vectors_among_words_are_not_taken_for_prose() -> None:
    text = "For the values I get by this (2.5, -1.5) at first, then (-1, 3) as I said and (-2, -3)"
    answer = read(f"Q = [1 3; -1 1; 2.5 -2]\n\n{text} for what is left of it\n")
    assert "V" in answer.matrices or answer.has_unread_matrix


def test_a_row_far_beyond_a_step_is_none_of_it() -> None:
    answer = read("Q = [1 3; -1 1; 2.5 -2]\n\na_1 = (0, 0, 1)\na_12 = 0\na_9 = (0, 1, 0)\n")
    matrix = answer.matrices.get("A")
    assert matrix is None or matrix.shape == (3, 3)
    assert any("A has 3 rows" in each.why for each in answer.unread)


def test_the_sum_of_a_row_is_not_an_entry() -> None:
    weights = "A = [0 0 1; 0 0 1; 0.62 0.38 0]\n\n"
    answer = read(weights + "The weights of row 3 should sum to 1: 0.62 + 0.38 + 0 = 1\n")
    assert not answer.has_unread_matrix


def test_rows_alike_after_words_are_all_read() -> None:
    text = "A by rows.\nThe first two are equal: a1 = a2 = (0, 0, 1)\na3 = (0.62, 0.38, 0)\n"
    values = read(text).matrices["A"].values.tolist()
    assert values == [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]]


def test_matlabs_factor_is_multiplied_in() -> None:
    text = "S =\n\n   1.0e+03 *\n\n    0.0015   -2.5000\n    0.1000    0.0000\n\nQ =\n\n    1.5\n"
    rows = without_session(text).split("\n")
    assert [each.split() for each in rows[4:6]] == [["1.5", "-2500.0"], ["100.0", "0.0"]]
    assert rows[-2].strip() == "1.5"


def test_a_letter_for_powers_of_e_is_not_a_step() -> None:
    scores = "S = [1.5 -2.5 8; -3.5 -3.5 6; 8.5 8 -13.25]\n\n"
    powers = "E = exp(S)\n\nE =\n\n 4.48 0.08 2980.96\n 0.03 0.03 403.43\n 4914.77 2980.96 0\n"
    answer = read(scores + powers)
    assert answer.matrices["S"].values[0].tolist() == [1.5, -2.5, 8]
    assert not answer.has_unread_matrix


@pytest.mark.parametrize("text", ["06 12 34 56 78", "Tel.: +49 30 1234567", "(0221) 123 456"])
def test_a_telephone_number_is_not_a_row(text: str) -> None:
    assert is_telephone(text)


@pytest.mark.parametrize("text", ["0 12 34", "10 12", "-0.5 0.25", "1 2 3 4", "0.5 06"])
def test_a_row_is_not_a_telephone_number(text: str) -> None:
    assert not is_telephone(text)


def test_a_sheet_side_by_side_reports_lines_of_its_file() -> None:
    sheet = (
        "Exercise,,,,,,\n,,,,,,\nQ,,,,K,,\n1,2,,,-2,1\n1,1,,,-1,1\n,,,,0,1\n,,,,2,0\n"
        ",,,,,,\nmystery,,,,,,\n7,8,,,,,\n9,7,,,,,\n"
    )
    answer = read(sheet, "cross", "a.csv")
    assert answer.matrices["Q"].values.tolist() == [[1, 2], [1, 1]]
    assert answer.matrices["K"].values.tolist() == [[-2, 1], [-1, 1], [0, 1], [2, 0]]
    assert [each.line for each in answer.unread if each.could_be_matrix] == [9] or (
        answer.unread[0].line in (9, 10)
    )


def test_a_correction_is_never_only_prose() -> None:
    assert role_of_words("oh, and I see now that S[3,3] of all numbers should be 7.5 then") == ""
    assert role_of_words("the sum of row 1 should be 1, as it is here") == PROSE


def test_sums_after_rows_are_removed() -> None:
    head = "A\n      k1   k2   k3   sum\n"
    rows = "q1  0.00 0.00 1.00 1.00\nq2  0.00 0.00 1.00 1.00\nq3  0.62 0.38 0.00 1.00\n"
    values = read(head + rows).matrices["A"].values
    assert np.array_equal(values, [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]])


def test_a_sum_before_a_norm_is_not_called_the_norm() -> None:
    known = {"R_1", "mu_1", "var_1", "N_1", "R_2", "mu_2", "var_2", "Y"}
    assert step_of_layer("Add & norm, first the sum:", known) == ("", "words")
    assert step_of_layer("LayerNorm 1", known) == ("N_1", "words")


def test_a_vector_of_a_numbered_list_is_never_lost() -> None:
    listed = read("Q = [1 3; -1 1; 2.5 -2]\n\nMystery\n1. $[7, 8, 9]$\n\nand so on\n")
    assert listed.has_unread_matrix
    text = "Softmax\n1. $[0, 0, 1]$\n2. $[0, 0, 1]$\n3. $[0.62, 0.38, 0]$\n"
    assert read(text).matrices["A"].values[2].tolist() == [0.62, 0.38, 0]


def test_a_row_of_another_width_is_not_written_over_one_that_fits() -> None:
    answer = read("q1 = (1, 3)\nq2 = (-1, 1)\nq3 = (2.5, -2)\n\nq1 → 0 0 1\n")
    assert answer.matrices["Q"].values.tolist() == RIGHT
    assert answer.has_unread_matrix


@pytest.mark.parametrize("word", ["1. Zeile", "1ère ligne", "1st row", "1ª fila"])
def test_a_row_is_counted_before_its_word_too(word: str) -> None:
    text = f"Scores:\n{word}: 1.5 -2.5 8\nrow 2: -3.5 -3.5 6\nrow 3: 8.5 8 -13.25\n"
    assert read(text).matrices["S"].values[0].tolist() == [1.5, -2.5, 8]


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("k2 = 2, 2 -> no, 2, 1", "k2 = 2, 1"),
        ("late: 5 2 7 9 x  no wait. late: 5 2 7 8 x", "late: 5 2 7 8 x"),
        ("s23 = (-1)(3) + 0 = 3 -> yanlış, işaret: -3", "s23 = (-1)(3) + 0 = -3"),
        ("Q = 1 2; K (no bias): 3 4", "Q = 1 2; K (no bias): 3 4"),
        ("q: 1 2, and k, no bias, 3 4", "q: 1 2, and k, no bias, 3 4"),
        ("S: 1 2 there is no mask 3 4", "S: 1 2 there is no mask 3 4"),
    ],
)
def test_only_words_directly_behind_a_row_correct_it(line: str, read: str) -> None:
    assert with_corrections(line) == read
