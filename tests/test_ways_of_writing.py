"""Ways of writing that people use, each read completely."""

import json

import numpy as np
import pytest
from answer_corpus import expected

from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.problem.samples import sample
from attncalc.reading import read_stream
from attncalc.reading.answers import read_answer_bytes

Q = [[1, 3], [-1, 1], [2.5, -2]]
K = [[3, -0.5], [2, -1.5], [-2.5, 3.5]]
QUERIES = "[1 3; -1 1; 2.5 -2]"
KEYS = "[3 -0.5; 2 -1.5; -2.5 3.5]"
BOTH = {
    "two names before two matrices": f"Q, K = {QUERIES}, {KEYS}",
    "Maxima and SymPy, sizes first": "Q = Matrix(3, 2, [1, 3, -1, 1, 2.5, -2])\n"
    "K = Matrix(3, 2, [[3, -1/2], [2, Rational(-3, 2)], [-5/2, 7/2]])",
    "matrices in the cells of a table": "| Q | K |\n|---|---|\n"
    "| 1 3<br>-1 1<br>2.5 -2 | 3 -0.5<br>2 -1.5<br>-2.5 3.5 |",
    "a condition beside": f"Q = {QUERIES}\nS_masked = S where N = 1, else -inf\nK = {KEYS}",
    "bullets of a word processor": "○ q1 = (1, 3)\n○ q2 = (-1, 1)\n○ q3 = (2.5, -2)\n"
    "● k1 = (3, -0.5)\n● k2 = (2, -1.5)\n● k3 = (-2.5, 3.5)",
    "dashes of lists": "Q:\n\n- 1 3\n- -1 1\n- 2.5 -2\n\nK:\n\n- 3 -0.5\n- 2 -1.5\n- -2.5 3.5",
    "angle brackets": "q1 = <1, 3>, q2 = <-1, 1>, q3 = <2.5, -2>\n"
    "k1 = ⟨3, -0.5⟩, k2 = ⟨2, -1.5⟩, k3 = ⟨-2.5, 3.5⟩",
    "numbered headings with tabs": "1.\tQueries\n1\t3\n-1\t1\n2.5\t-2\n"
    "2.\tKeys\n3\t-0.5\n2\t-1.5\n-2.5\t3.5",
    "places behind a blank": "Q (1,1) = 1\nQ (1,2) = 3\nQ (2,1) = -1\nQ (2,2) = 1\nQ (3,1) = 2.5\n"
    f"Q (3,2) = -2\nK = {KEYS}",
    "remarks within a matrix": "Q = [1 3 % first\n-1 1 % second\n2.5 -2]\n"
    "K = [[3, -0.5],  # k1\n [2, -1.5],  # k2\n [-2.5, 3.5]]",
    "transposed vectors": "q1 = (1, 3)^T\nq2 = (-1, 1)^T\nq3 = (2.5, -2)^T\n"
    "K^T = [3 2 -2.5; -0.5 -1.5 3.5]",
    "tables without outer bars": "Q\n\na | b\n--|--\n1 | 3\n-1 | 1\n2.5 | -2\n\n"
    "K\n\na | b\n--|--\n3 | -0.5\n2 | -1.5\n-2.5 | 3.5",
    "tags of HTML": "<p>The <b>Q</b></p><p>1 3<br>-1 1<br/>2.5 <b>-2</b></p>"
    "<ul><li>k<sub>1</sub> = (3, -0.5)</li><li>k<sub>2</sub> = (2, -1.5)</li>"
    "<li>k<sub>3</sub> = (-2.5, 3.5)</li></ul>",
    "a corrected row behind another equals sign": "q1 = (1, 3)\n"
    "q2 = [-2, 1] no, a sign is wrong, so = [-1, 1]\nq3 = (2.5, -2)\n"
    "KT =\n3 2 -2.5\n-0.5 -1.5 3.5",
    "names of rows in R": "Q <- matrix(c(1,3, -1,1, 2.5,-2), nrow=3, byrow=TRUE, dimnames=list("
    f'c("a","b","c"), NULL))\nK = {KEYS}',
    "decimal commas between any words": "q1: 1 ja 3\nq2: -1 ja 1\nq3: 2,5 ja -2\n"
    "k1: 3 ja -0,5\nk2: 2 ja -1,5\nk3: -2,5 ja 3,5",
    "a right row in a message behind a wrong one": f"Q = [1 3; -1 1; 2.5 2]\nK = {KEYS}\n"
    "*the last one is [2.5 -2], of course",
}
"""Answers with the queries and the keys of the first sample."""


@pytest.mark.parametrize("text", BOTH.values(), ids=BOTH)
def test_a_way_of_writing_is_read_completely(text: str) -> None:
    answer = read_answer_bytes(text.encode(), "answer.md", expected("self"))
    assert {name: each.values.tolist() for name, each in answer.matrices.items()} == {
        "Q": Q,
        "K": K,
    }
    assert not answer.has_unread_matrix


ONE = {
    "work that continues below": ("Q11 = 1*1\n  + 2*1 = 3", "Q", (0, 0), 3),
    "an index, then the scale": ("$S_{1,2}^{scaled} = -1.77$", "S", (0, 1), -1.77),
    "work behind an entry": (
        "S\n1.5 (because 3 - 1.5 = 1.5)  -2.5 (2 - 4.5 = -2.5)  8\n-3.5 -3.5 6\n8.5 8 -13.25",
        "S",
        (0, 0),
        1.5,
    ),
    "multiples of a root": (
        "S = [3/4*2^(1/2) 1 2; 1 1 1; 1 1 17/4*√2]", "S", (2, 2), pytest.approx(6.0104, abs=1e-4)
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "name", "place", "value"), ONE.values(), ids=ONE)
def test_an_entry_is_not_its_work(
    text: str, name: str, place: tuple[int, int], value: object
) -> None:
    answer = read_answer_bytes(text.encode(), "answer.txt", expected("self"))
    assert answer.matrices[name].values[place] == value


SCORES = "q_we · k_we = 8 → 5.66\nq_like · k_we = 8 → 5.66\nq_like · k_like = 6 → 4.24\n" \
    "q_green · k_we = 4 → 2.83\nq_green · k_like = 3 → 2.12\nq_green · k_green = 2 → 1.41\n" \
    "q_tea · k_we = 4 → 2.83\nq_tea · k_like = 3 → 2.12\nq_tea · k_green = 2 → 1.41\n" \
    "q_tea · k_tea = 2 → 1.41"  # fmt: skip
PARAGRAPHS = "\n".join(
    f"{token}:\ndot products q·k: {scores}\ndivided by √2: {scaled}\n"
    for token, scores, scaled in (
        ("we", "8", "5.66"),
        ("like", "8; 6", "5.66; 4.24"),
        ("green", "4; 3; 2", "2.83; 2.12; 1.41"),
        ("tea", "4; 3; 2; 2", "2.83; 2.12; 1.41; 1.41"),
    )
)


@pytest.mark.parametrize("text", [SCORES, PARAGRAPHS])
def test_scores_that_a_mask_removes_may_be_left_out(text: str) -> None:
    read = read_answer_bytes(text.encode(), "answer.txt", expected("bu1")).matrices
    scaled = read["S_scaled"] if "S_scaled" in read else read["S_masked"]
    n = np.nan
    np.testing.assert_array_equal(
        read["S"].values, [[8, n, n, n], [8, 6, n, n], [4, 3, 2, n], [4, 3, 2, 2]]
    )
    np.testing.assert_array_equal(scaled.values[1:, :2], [[5.66, 4.24], [2.83, 2.12], [2.83, 2.12]])


def test_inputs_of_a_map_are_no_outputs() -> None:
    text = "V = [0 0; -2 0; -1 -2; -1 -1]\n" + "\n".join(f"o_{k} → 3, 4" for k in range(1, 5))
    answer = read_answer_bytes(text.encode(), "answer.txt", expected("bv4"))
    assert {*answer.matrices} == {"V"}
    assert [(*each.most, *each.second) for each in answer.connections or ()] == [
        ("chased", "it")
    ] * 4


def test_weights_below_a_heading_of_scores_are_weights() -> None:
    text = f"Q = {QUERIES}\nK = {KEYS}\nS\n1.5 -2.5 8\n-3.5 -3.5 6\n8.5 8 -13.25\n" \
        "divided by the sum:\n0.25 0.3 0.45\n0.25 0.3 0.45\n0.5 0.4 0.1"  # fmt: skip
    read = read_answer_bytes(text.encode(), "answer.txt", expected("self")).matrices
    assert {*read} == {"Q", "K", "S", "A"}


def test_unread_text_is_listed_as_it_was_typed() -> None:
    text = "S/√2: four equal rows (0,71 ; 0 ; 1,41).\nO:\n0,5 1,25\n2,25 0,75\n"
    answer = read_answer_bytes(text.encode(), "answer.txt", expected("self"))
    listed = " ".join([*(e.text for e in answer.unread), *(e.text for e in answer.taken)])
    assert "0,71" in listed
    assert all(character.isprintable() for character in listed)


def test_outputs_of_equal_weights_are_no_inputs_of_a_map() -> None:
    text = "A = [0.33 0.33 0.33; 0.33 0.33 0.33; 0.33 0.33 0.33]\nO = [2 1; 2 1; 2 1]"
    read = read_answer_bytes(text.encode(), "answer.txt", expected("bv2")).matrices
    assert {*read} == {"A", "O"}


WORDS = {"labels": ["cat", "sat", "mat"]}
OF_WORDS = {
    "two tokens in one name": (
        "Scores\ncat·cat = 1.5\ncat·sat = -2.5\ncat·mat = 8\nsat·cat = -3.5\nsat·sat = -4.5\n"
        "sat·mat = 6\nmat·cat = 8.5\nmat·sat = 8\nmat·mat = -13.25\n",
        {"S": [[1.5, -2.5, 8], [-3.5, -4.5, 6], [8.5, 8, -13.25]]},
    ),
    "a token in brackets, and a column": (
        "k(cat)_1 = 1·3 = 3\nk(cat)_2 = 0 - 0.5 = -0.5\nk(sat)_1 = 2\nk(sat)_2 = -1.5\n"
        "k(mat)_1 = -2.5\nk(mat)_2 = 5 - 1 - 1.5 = 2.5\n",
        {"K": [[3, -0.5], [2, -1.5], [-2.5, 2.5]]},
    ),
    "a row in brackets that equals another": (
        "Q\ncat (1; 3)\nsat (-1; 1)\nmat : pareil que cat\n",
        {"Q": [[1, 3], [-1, 1], [1, 3]]},
    ),
    "the negative of another row": (
        "k1 = (3, -0.5), k2 = (2, -1.5), k3 = -k2 = (-2, 1.5)",
        {"K": [[3, -0.5], [2, -1.5], [-2, 1.5]]},
    ),
    "queries that only count outputs": (
        "Q = [1 3; -1 1; 2.5 -2]\nOutput vectors:\nfor query 1: -2 | -3\nfor query 2: -2 | -3\n"
        "for query 3: 1.18 | 0.2\n",
        {"Q": Q, "O": [[-2, -3], [-2, -3], [1.18, 0.2]]},
    ),
}
"""Answers with names of tokens; some numbers differ from the key, so that only names place them."""


@pytest.mark.parametrize(("text", "steps"), OF_WORDS.values(), ids=OF_WORDS)
def test_names_of_tokens_place_numbers(text: str, steps: dict[str, list[list[float]]]) -> None:
    fields = json.loads(sample("self").path.read_text("utf-8")) | WORDS
    key = key_of(read_stream(json.dumps(fields).encode(), "words.json"), Rules())
    answer = read_answer_bytes(text.encode(), "answer.txt", key.expected)
    assert {name: each.values.tolist() for name, each in answer.matrices.items()} == steps
    assert not answer.has_unread_matrix


def test_a_sheet_may_have_an_entry_on_each_line() -> None:
    rows = [
        f"{name},{i},{j},{number}"
        for name, matrix in (("query", [[1, 3], [-1, 1], [2.5, 2]]), ("key", K))
        for i, row in enumerate(matrix, 1)
        for j, number in enumerate(row, 1)
    ]
    text = "\n".join(["step,row,col,value", *rows])
    read = read_answer_bytes(text.encode(), "a.csv", expected("self")).matrices
    assert read["Q"].values.tolist() == [[1, 3], [-1, 1], [2.5, 2]]
    assert read["K"].values.tolist() == K


def test_crosses_at_the_end_of_rows_are_masked() -> None:
    answer = read_answer_bytes(
        "S_masked\n1.5 × × ×\n-3.5 2 × ×\n8.5 8 1 ×\n1 2 3 4\n".encode(),
        "a.txt",
        expected("causal"),
    )
    assert np.isneginf(answer.matrices["S_masked"].values[np.triu_indices(4, 1)]).all()


def test_the_root_in_a_key_is_no_row() -> None:
    text = '{"score_sqrt2": {"a": [1, 2, 3], "b": [4, 5, 6], "c": [7, 8, 9], "d": [1, 0, 2]}}'
    scaled = read_answer_bytes(text.encode(), "a.json", expected("causal")).matrices["S_scaled"]
    assert scaled.values.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 0, 2]]


def test_percent_signs_may_precede_numbers() -> None:
    text = "Weights\n| %50   %50 |\n| %67   %33 |\n"
    weights = read_answer_bytes(text.encode(), "a.txt", expected("self")).matrices["A"]
    assert weights.values.tolist() == [[0.5, 0.5], [0.67, 0.33]]
