"""Text beside numbers in answers: words in several languages, sums, work, and their meanings.

Each case was read wrongly, or in part without a word, before.
"""

import pytest
from conftest import for_all

from attncalc import read_problem
from attncalc.grading.key import Key
from attncalc.grading.slack import ToTheDigit
from attncalc.problem.samples import sample
from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.answers.answer import Answer
from attncalc.reading.plain.other_words import in_english
from attncalc.reading.plain.tables import is_numbered_heading
from attncalc.reading.plain.tex import without_macros


def answered(problem: str, text: str) -> Answer:
    """Return what an answer to a sample is read as, with its names at hand."""
    known = read_problem(sample(problem).path)
    key = Key(known, ToTheDigit(known.decimals))
    with key.names_at_hand():
        return read_answer_bytes(text.encode(), "answer.txt", key.expected)


def values(answer: Answer, step: str) -> object:
    return answer.matrices[step].values.tolist()


@for_all(
    ("typed", "meant"),
    [
        ("rij 2: 1", "row 2: 1"),
        ("seconda riga: 1", "row 2: 1"),
        ("terceira linha = 1", "row 3 = 1"),
        ("第二行：1，3", "row 2: 1, 3"),
        ("3行目: 1", "row 3: 1"),
        ("トークン4: 1", "token 4: 1"),
        ("第2个头", "head 2"),
        ("Testa 1, pesi", "head 1, pesi"),
        ("行列 Q = 1", "行列 Q = 1"),
        ("Zeile 2: 1", "Zeile 2: 1"),
    ],
)
def test_rows_are_counted_in_english_from_then_on(typed: str, meant: str) -> None:
    assert in_english(typed) == meant


def test_a_letter_between_two_numbers_is_not_a_number() -> None:
    answer = answered("cross", "Query\ntoken 1: 1 e 2\ntoken 2: 1 e 1\n")
    assert values(answer, "Q") == [[1, 2], [1, 1]]


def test_a_single_e_in_a_matrix_is_refused() -> None:
    answer = answered("cross", "Q = [e 2; 1 1]")
    assert answer.matrices["Q"].faults == {(0, 0): '"e" is not a number'}


def test_a_gradient_is_not_a_weight() -> None:
    text = "dS, softmax backward:\n-0.10 -0.16 -0.08 0.34\n-0.09 -0.17 -0.18 0.44\n"
    answer = answered("gradients-target", text)
    assert [*answer.matrices] == ["dS"]


@pytest.mark.parametrize(
    "text",
    [
        "loss L = 0.57. is that correct? my friend gets 0.75",
        "With L = 1/2 Σ (O - T)^2 = 0.57 we start.",
        "L = 1/2∑(O-T)^2 = 0.57",
    ],
)
def test_a_loss_is_the_result_of_its_work(text: str) -> None:
    assert values(answered("gradients-target", text), "L") == [[0.57]]


def test_a_comparison_does_not_name_a_matrix() -> None:
    text = "Values\nsame as the queries: once = (3, 2); upon = (-1, 0); a = (2, 1); time = (0, 3)\n"
    assert [*answered("causal", text).matrices] == ["V"]


def test_crosses_below_nothing_are_a_row_and_no_heads() -> None:
    text = "Masked scores\n| once | 2.83 | x | x | x |\n| upon | -1.41 | 0 | x | x |\n"
    text += "| a | 2.12 | 0.71 | 2.83 | x |\n| time | -2.12 | 2.12 | 4.24 | -4.24 |\n"
    assert answered("causal", text).matrices["S_masked"].values.shape == (4, 4)


def test_a_column_of_sums_is_not_part_of_a_matrix_in_any_language() -> None:
    text = "A\n|   | k1 | k2 | k3 | yht |\n|---|---|---|---|---|\n"
    text += "| q1 | 0 | 0 | 1 | 1 |\n| q2 | 0 | 0 | 1 | 1 |\n| q3 | 0.62 | 0.38 | 0 | 1 |\n"
    assert values(answered("self", text), "A") == [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]]


def test_a_last_column_other_than_a_sum_is_listed() -> None:
    text = "A\n|   | k1 | k2 | k3 | yht |\n|---|---|---|---|---|\n"
    text += "| q1 | 0 | 0 | 1 | 2 |\n| q2 | 0 | 0 | 1 | 1 |\n| q3 | 0.62 | 0.38 | 0 | 1 |\n"
    answer = answered("self", text)
    assert answer.matrices["A"].values.shape == (3, 3)
    assert [(each.line, each.text) for each in answer.unread] == [(4, "2"), (5, "1"), (6, "1")]
    assert answer.has_unread_matrix


def test_pairs_of_tokens_are_entries() -> None:
    text = "Scores\ns1 with the: 1.14\ns1 with cat: 0.73\ns1 with sat: 0.31\n"
    text += "s2 with the: -0.08\ns2 with cat: 0\ns2 with sat: -1.14\n"
    assert values(answered("additive", text), "S") == [[1.14, 0.73, 0.31], [-0.08, 0, -1.14]]


def test_a_pair_that_is_left_out_makes_no_row() -> None:
    text = "Scores\ns1 with the: 1.14\ns1 with cat: 0.73\ns2 with the: -0.08\n"
    answer = answered("additive", f"{text}\nA = [0.47 0.32 0.21; 0.41 0.45 0.14]")
    assert answer.matrices["A"].values.shape == (2, 3)
    assert "S" not in answer.matrices or answer.matrices["S"].values.shape != (2, 3)


def test_decimal_commas_are_recognised_before_sentences_are_split() -> None:
    text = "S:\nrow 1: 1,5 / -2,5 / 8\nrow 2: -3,5 / -3,5 / 6\nrow 3: 8,5 / 8 / -13,25\n"
    found = answered("self", text)
    assert values(found, "S") == [[1.5, -2.5, 8], [-3.5, -3.5, 6], [8.5, 8, -13.25]]


def test_patterns_of_a_single_token_are_listed() -> None:
    text = "Q = [3 2; -1 0; 2 1; 0 3]\n\n“upon” attends: once 0.20; upon 0.80\n"
    assert answered("causal", text).has_unread_matrix


def test_a_correction_that_is_not_understood_is_listed() -> None:
    text = "Q = [1 2; 1 1]\n\nSorry, Q[1,2] was read as 2 from my sheet, see page 3.\n"
    assert answered("cross", text).has_unread_matrix


def test_the_square_of_a_variance_counts_nothing() -> None:
    text = "Q = [3 0; 1 1; 2 1]\nvariance σ² = (0.25, 0.90, 1.24)\n"
    assert "var_2" not in answered("encoder", text).matrices


def test_macro_arguments_are_inserted_and_lines_are_kept() -> None:
    text = "\\newcommand{\\v}[2]{(#1; #2)}\n\\v{1}\n{2{3}} and \\v{4"
    assert without_macros(text) == "\n(1; 2{3})\n and \\v{4"


def test_headings_that_word_processors_number_are_not_rows() -> None:
    assert is_numbered_heading("2.\tClaves")
    assert not is_numbered_heading("2.\t1\t3")
    assert not is_numbered_heading("2.\trow\t3")


def test_fractions_of_one_character_are_numbers_of_a_calculation() -> None:
    text = "q₁·k₁ = 3 − 1½ = 1½ ;  q₁·k₂ = 2 − 4½ = −2½ ;  q₁·k₃ = −2½ + 10½ = 8\n"
    text += "q₂·k₁ = −3½ ; q₂·k₂ = −3½ ; q₂·k₃ = 6\n"
    text += "q₃·k₁ = 8½ ; q₃·k₂ = 8 ; q₃·k₃ = −6¼ − 7 = −13¼\n"
    found = values(answered("self", text), "S")
    assert found == [[1.5, -2.5, 8], [-3.5, -3.5, 6], [8.5, 8, -13.25]]


def test_a_step_before_its_row_beats_the_heading() -> None:
    text = "S = [1.5 -2.5 8; -3.5 -3.5 6; 8.5 8 -13.25]\n"
    text += "softmax → row 1: ≈ (0, 0, 1); row 2: ≈ (0, 0, 1); row 3: ≈ (0.62, 0.38, 0)\n"
    assert values(answered("self", text), "A") == [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]]


def test_powers_and_their_sum_are_not_rows_of_the_weights() -> None:
    text = "Softmax\n\nRij 1\n  machten: 1, 2.72, 7.39, 7.39\n  som: 18.50\n"
    text += "  gewichten: 0.05, 0.15, 0.40, 0.40\nRij 2\n  machten: 0.37, 1, 2.72, 7.39\n"
    text += "  som: 11.48\n  gewichten: 0.03, 0.09, 0.24, 0.64\n"
    answer = answered("cross", text)
    assert values(answer, "A") == [[0.05, 0.15, 0.4, 0.4], [0.03, 0.09, 0.24, 0.64]]


def test_work_below_the_name_of_its_row_is_of_that_row() -> None:
    text = "V = [2 -1 -1 -4; 1 -1 0 -2; 0 -1 1 0; -2 0 2 4]\n\nOutput\n\nRow 1\n"
    text += "  0.05·(2, -1, -1, -4) + 0.95·(-2, 0, 2, 4) = (-0.55, -0.60, 1.15, 1.10)\nRow 2\n"
    text += "  0.03·(2, -1, -1, -4) + 0.97·(-2, 0, 2, 4) = (-1.13, -0.36, 1.49, 2.26)\n"
    found = values(answered("cross", text), "O")
    assert found == [[-0.55, -0.6, 1.15, 1.1], [-1.13, -0.36, 1.49, 2.26]]
