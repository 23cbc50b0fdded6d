"""Answers are read as people write them, and no number in them is lost without a word."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from answer_corpus import FOLDER, KNOWN, compared, expected, outcome
from answer_writing import FORMS, written
from conftest import Command, for_all, mostly_slow
from fuzz.pace import takes_longer
from hypothesis import given, settings
from hypothesis import strategies as st

from attncalc import InputError, Problem, read_problem, solve
from attncalc.grading.key import Key
from attncalc.grading.slack import ToTheDigit
from attncalc.problem.samples import sample
from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.answers.answer import Answer
from attncalc.reading.answers.prose import role_of_words
from attncalc.reading.naming import name_in
from attncalc.reading.plain.numerals import read_entry

SELF = {
    "Q": [[1, 3], [-1, 1], [2.5, -2]],
    "K": [[3, -0.5], [2, -1.5], [-2.5, 3.5]],
    "V": [[2.5, -1.5], [-1, 3], [-2, -3]],
    "S": [[1.5, -2.5, 8], [-3.5, -3.5, 6], [8.5, 8, -13.25]],
    "A": [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]],
    "O": [[-2, -3], [-2, -3], [1.17, 0.21]],
}
"""The first sample's solution, as its homework prints it."""


EYE = [[1, 0], [0, 1]]


def read(text: str, problem: str = "self") -> Answer:
    return read_answer_bytes(text.encode(), "answer.txt", expected(problem))


def values(answer: Answer, name: str) -> list[object]:
    found: list[object] = answer.matrices[name].values.tolist()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_an_answer_of_the_corpus_is_read_correctly(name: str) -> None:
    assert outcome(name).became == "whole", outcome(name).why


def test_the_corpus_is_large_and_every_file_is_listed() -> None:
    files = {path.name for path in FOLDER.iterdir()} - {"expected.json", "problems"}
    assert files == set(KNOWN)
    assert len(files) >= 120
    assert {known["problem"] for known in KNOWN.values()} >= {"self", "cross", "heads"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", mostly_slow(range(6), 6))
def test_answers_in_mixed_forms_are_read_completely_or_listed(seed: int) -> None:
    """Of 40 documents drawn at random none is lost without a word, and 97 in 100 are read."""
    rng = random.Random(seed)
    became = []
    for _ in range(40):
        problem = rng.choice(["self", "cross", "sentence"])
        solution = solve(read_problem(sample(problem).path))
        steps = {step.name: solution.shown(step.name) for step in solution.plan}
        document = written(steps, {}, rng)
        truth = {
            name: [[float(cell) for cell in row] for row in rows]
            for name, rows in document.truth.items()
        }
        found = compared(read(document.text, problem), truth)
        assert found.became != "silent", (found.why, document.text)
        became.append(found.became)
    assert became.count("whole") >= 39
    assert len(FORMS) >= 20


@for_all(
    ("text", "matrix"),
    [
        *((text, "S") for text in ("QK^T", "Q @ K.T", "QKᵀ", "QK'", "raw scores", "logits")),
        *((text, "S_scaled") for text in ("QKᵀ/√d_k", "(QK^T)/(√(d_k))", "skalierte Scores")),
        *((text, "A") for text in ("softmax(S)", "Attention map", "α", "poids d'attention")),
        *(
            (text, "O")
            for text in ("AV", "softmax(QK^T)V", "Attention(Q, K, V)", "context vectors")
        ),
        *((text, "O") for text in ("weighted sum of values", "Salidas", "Ausgabe", "Z")),
        *((text, "K") for text in ("**Keys**", "Schlüssel", "clés", "claves", "3) key =")),
        ("query weights", "W_Q"),
        ("## Step 4: Scores", "S"),
        ("we get", None),
        ("d_k", None),
    ],
)
def test_a_name_is_known_in_symbols_expressions_and_words(text: str, matrix: str | None) -> None:
    name = name_in(text)
    assert (name.matrix if name else None) == matrix


@for_all(
    ("text", "place"),
    [
        ("Q[1,2]", ("Q", 0, 1, 2)),
        ("Q_{12}", ("Q", 0, 1, 2)),
        ("Q12", ("Q", 0, 1, 2)),
        ("q_2", ("Q", 0, 2, 0)),
        ("q1·k2", ("S", 0, 1, 2)),
        ("q_1^T k_2", ("S", 0, 1, 2)),
        ("a_{13}", ("A", 0, 1, 3)),
        ("α_1", ("A", 0, 1, 0)),
        ("softmax(s2)", ("A", 0, 2, 0)),
        ("Q^{(2)}", ("Q", 2, 0, 0)),
        ("S_{1,2}^{scaled (2)}", ("S_scaled", 2, 1, 2)),
        ("output for token 2", ("O", 0, 2, 0)),
    ],
)
def test_an_index_is_a_row_an_entry_or_a_head(text: str, place: tuple[str, int, int, int]) -> None:
    name = name_in(text)
    assert name is not None
    assert (name.matrix, name.head, name.row, name.column) == place


@for_all(
    ("text", "value"),
    [
        ("62%", 0.62), ("-13 1/4", -13.25), ("~0", 0), ("≈0.5", 0.5), ("1/√4", 0.5), ("1/√2", 0.5**0.5),
        ("e^{0}/(e^{0}+e^{0})", 0.5), ("2.5e-3", 0.0025),
    ],
)  # fmt: skip
def test_a_number_is_valued(text: str, value: float) -> None:
    assert float(read_entry(text).value or 0) == pytest.approx(value, abs=1e-15)


def test_a_whole_number_and_a_fraction_are_one_number_only_with_a_blank() -> None:
    """The width of the other rows says which; a comma between them says that they are two."""
    assert values(read("K = [1 1/2 2; 3 4; 5 6]"), "K") == [[1.5, 2], [3, 4], [5, 6]]
    text = "q1 = (1, 1/2)\nq2 = (2, 3/4)\nq3 = (0, 1)"
    assert values(read(text), "Q") == [[1, 0.5], [2, 0.75], [0, 1]]


def test_a_mixed_number_that_became_a_power_is_asked_back() -> None:
    entry = read_entry("2^{1/2}")
    assert entry.value is None
    assert entry.fault == '"2^{1/2}" is 2 1/2 or a power: write the one that is meant'


def test_a_slip_of_copying_is_found_in_a_chain() -> None:
    text = (
        "K = X W_K = [1 -1 0 2; 0 -1 2 1; -2 2 -1 0] [1 -0.5; 0 1; 5 -0.5; 1 0.5] = [1 2; 3 4; 5 6]"
    )
    answer = read(text)
    assert values(answer, "K") == [[1, 2], [3, 4], [5, 6]]
    assert answer.remarks == ("line 1: W_K[3,1] is copied as 5, where 0.5 is given",)


def test_struck_out_and_corrected_parts_are_named_in_the_remarks() -> None:
    answer = read(
        "Q = [9 9; 9 9; 9 9]\nCorrection: Q = [1 3; -1 1; 2.5 -2]\n~~K = [1 1; 1 1; 1 1]~~"
    )
    assert values(answer, "Q") == SELF["Q"]
    assert "K" not in answer.matrices
    assert answer.remarks == ("Q is written on line 1 and again on line 2: the later one counts",)
    assert [each.how for each in answer.taken][-1] == "struck out"


@for_all(
    ("rows", "last"),
    [
        ("mat: 3 4\ncat: 1 2\nsat: 5 6\n", [3, 4]),
        ("| | x | y |\n|-|-|-|\n| mat | 3 | 4 |\n| cat | 1 | 2 |\n| sat | 5 | 6 |\n", [3, 4]),
        ("cat, mat: 1 2\nsat: 5 6\n\n", [1, 2]),
        ("cat: 1 2\nsat: 5 6\nmat: wie cat\n", [1, 2]),
        ("cat: 1 2\nsat: 5 6\nmat: the same as cat (3, 4)\n", [3, 4]),
    ],
)
def test_named_rows_are_those_of_their_tokens(rows: str, last: list[int]) -> None:
    weights = dict.fromkeys(("W_Q", "W_K", "W_V"), EYE)
    problem = Problem(X=[*EYE, [1, 1]], labels=["cat", "sat", "mat"], **weights)
    key = Key(problem, ToTheDigit(2)).expected
    answer = read_answer_bytes(f"Q\n{rows}".encode(), "answer.txt", key)
    assert values(answer, "Q") == [[1, 2], [5, 6], last]


def test_an_unnamed_matrix_is_identified_and_reported_as_a_guess() -> None:
    text = "V = [2.5 -1.5; -1 3; -2 -3]\n\n1.5 -2.5 8\n-3.5 -3.5 6\n8.5 8 -13.25\n\nA = [0 0 1; 0 0 1; 1 0 0]"
    answer = read(text)
    assert values(answer, "S") == SELF["S"]
    assert answer.remarks == ("line 3: taken as S: it follows V and is 3 × 3",)


def test_a_matrix_unlike_all_steps_is_not_read_as_one() -> None:
    answer = read("V = [2.5 -1.5; -1 3; -2 -3]\n\n7 7 7\n7 7 7\n7 7 7\n")
    assert "S" not in answer.matrices
    assert answer.has_unread_matrix
    assert answer.unread[0][:3] == (
        3,
        "7 7 7 / 7 7 7 / 7 7 7",
        "it has no name; it could be S or A: head it with one, as Q",
    )


def test_a_given_matrix_with_other_numbers_is_not_called_nameless() -> None:
    answer = read("W_Q = [9 8; 7 6; 5 4]\n\nV = [2.5 -1.5; -1 3; -2 -3]\n")
    assert [each.why for each in answer.unread] == ["W_Q has other numbers in this problem"]


def test_a_matrix_that_has_a_name_is_never_written_over_by_one_that_has_none() -> None:
    answer = read("S = [1 1 1; 2 2 2; 3 3 3]\n\n1.5 -2.5 8\n-3.5 -3.5 6\n8.5 8 -13.25\n")
    assert values(answer, "S") == [[1, 1, 1], [2, 2, 2], [3, 3, 3]]
    assert answer.has_unread_matrix


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("I rounded to 2 decimals.", "words"),
        ("The third token attends mostly to the first one (0.62).", "prose with its numbers"),
        ("e^1.5 = 4.48, e^8 = 2980.96", "a line of work"),
        ("1·0 + (-1)·1 + 2·1 = 1", "a line of work"),
        ("Q is a 3 × 2 matrix", "words"),
        ("1 3 -1 1 2.5 -2 3 and 4 5", ""),
    ],
)
def test_numbers_in_a_line_of_words_are_separated(line: str, role: str) -> None:
    assert role_of_words(line) == role


def test_pictures_and_documents_are_refused_with_the_readable_forms() -> None:
    for data, name in ((b"%PDF-1.7 x", "a.pdf"), (b"\x89PNG\r\n\x1a\n", "a.png"),
                       (b"PK\x03\x04...", "a.docx"), (b"PK\x03\x04...", "a.zip"),
                       (b"\xff\xd8\xff\xe0", "photo.jpg")):  # fmt: skip
        with pytest.raises(InputError, match="cannot be read: type the matrices into a text"):
            read_answer_bytes(data, name)


def test_the_reading_is_shown_and_can_be_corrected_and_fed_back(
    attncalc: Command, tmp_path: Path
) -> None:
    problem = str(sample("self").path)
    (tmp_path / "a.txt").write_text("Q:\n1 3\n-1 1\n2 1/2 -2\n\nnumbers: 4 5 6 7 8\n")
    shown = attncalc("check", problem, "a.txt", "--reading")
    assert shown.code == 0
    assert "  2-4       Q" in shown.out
    assert "not read\n  line 6    numbers: 4 5 6 7 8" in shown.out
    made = attncalc("check", problem, "a.txt", "--reading", "-o", "reading.json")
    assert made.code == 0
    content = json.loads((tmp_path / "reading.json").read_text())
    assert content["Q"] == [["1", "3"], ["-1", "1"], ["2 1/2", "-2"]]
    again = read_answer_bytes((tmp_path / "reading.json").read_bytes(), "reading.json")
    assert values(again, "Q") == SELF["Q"]
    assert attncalc("check", problem, "reading.json", "--steps", "Q").code == 0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Q = [1 3; -1 1; 2.5 -2]  # was [1 3; 1 1; 2.5 -2] before\n", "a.txt"),
        ("Q = [1 3; -1 1; 2.5 -2];  % or 0.25 0.75 1.25\n", "a.m"),
        (r"$Q = \begin{bmatrix}1 & 3\\ -1 & 1\\ 2.5 & -2\end{bmatrix}$ % 0.25 0.75 1.25", "a.tex"),
    ],
)
def test_numbers_in_a_comment_are_listed(text: str, name: str) -> None:
    answer = read_answer_bytes(text.encode(), name, expected("self"))
    assert values(answer, "Q") == SELF["Q"]
    assert [each.could_be_matrix for each in answer.unread] == [True]


def test_a_comment_is_not_part_of_its_row() -> None:
    answer = read("K:\n3 -0.5   # x1 W_K\n2 -1.5   <- not sure\n-2.5 3.5 // row 3 of 3\n")
    assert values(answer, "K") == SELF["K"]
    assert answer.unread == ()
    assert [each.text for each in answer.taken if "comment" in each.how] == [
        "x1 W_K",
        "not sure",
        "row 3 of 3",
    ]


def test_a_line_of_latex_that_is_commented_out_is_not_handed_in() -> None:
    answer = read("\\section{Q}\n% K = [9 9; 9 9; 9 9]\nQ = [1 3; -1 1; 2.5 -2]\n")
    assert list(answer.matrices) == ["Q"]
    assert "commented out" in [each.how for each in answer.taken]


def test_a_line_of_a_program_that_is_a_comment_may_contain_its_result() -> None:
    answer = read('disp("\\n")\n% K = [3 -0.5; 2 -1.5; -2.5 3.5]\n')
    assert values(answer, "K") == SELF["K"]


@pytest.mark.slow
def test_more_brackets_than_are_looked_at_are_not_silent() -> None:
    answer = read("Q = [1 3; -1 1; 2.5 -2]\n" + "[1 2] " * 5001)
    said = [each.why for each in answer.unread]
    assert "only the first 5,000 matrices in brackets are looked at" in said


def test_a_percent_sign_in_brackets_is_not_a_comment() -> None:
    answer = read("α₁ = (~0, ~0, 100%)\nα₂ = (0 %, 0%, 100 %)\nα₃ = (62%, 38%, ~0)\n")
    assert values(answer, "A") == [[0, 0, 1], [0, 0, 1], [0.62, 0.38, 0]]


def test_in_round_brackets_semicolons_part_a_row() -> None:
    answer = read("Q = (1 ; 3)\n    (-1 ; 1)\n    (2,5 ; -2)\n")
    assert values(answer, "Q") == SELF["Q"]


def test_a_matrix_of_its_steps_size_is_not_replaced_by_one_of_another() -> None:
    answer = read("Q = [1 3; -1 1; 2.5 -2]\n\nQ = [1 2 3 4; 5 6 7 8]\n")
    assert values(answer, "Q") == SELF["Q"]
    assert [each.why for each in answer.unread] == ["Q is on line 1 too"]


def test_words_call_no_matrix_given_that_is_another() -> None:
    """A product called "the weights times V, output" is no W_O, and is not passed over as one."""
    answer = read("And finally the weights times V, output tokens:\n-2 -3\n-2 -3\n1.17 0.21\n")
    assert values(answer, "O") == SELF["O"]


def test_the_macros_of_a_document_are_read_in_place() -> None:
    text = "\\newcommand{\\q}{\\mathbf{Q}}\n$\\q = \\begin{pmatrix} 1 & 3 \\\\ -1 & 1 \\\\ 2.5 & -2 \\end{pmatrix}$"
    assert values(read(text), "Q") == SELF["Q"]


def test_a_token_is_recognised_by_its_word_on_its_side() -> None:
    text = "values:\n  I: [3, -1]\n  am: [-1, 3]\n"
    problem = Problem(
        X1=[[1, 0], [0, 1], [1, 1]], X2=[[1, 0], [0, 1]], W_Q=EYE, W_K=EYE, W_V=EYE,
        labels={"X1": ["je", "suis", "la"], "X2": ["I", "am"]},
    )  # fmt: skip
    key = Key(problem, ToTheDigit(2)).expected
    answer = read_answer_bytes(text.encode(), "answer.txt", key)
    assert values(answer, "V") == [[3, -1], [-1, 3]]


def test_patterns_are_not_part_of_an_answer() -> None:
    """Our own sentences hold many numbers, and no step."""
    answer = read("Q = [1 3; -1 1; 2.5 -2]\n\n## What the weights show\n\n"
                  "- Output 1 mixes inputs 1, 2 and 3 (0.4, 0.4 and 0.2)\n")  # fmt: skip
    assert not answer.unread


def test_keys_and_blocks_are_named_as_texts_are() -> None:
    content = {
        "Schlüssel": SELF["K"],
        "QK^T": SELF["S"],
        "attention_weights": SELF["A"],
        "v1": [2.5, -1.5],
        "v_2": [[-1, 3]],
        "value vector 3": ["-2", "-3"],
        "extra": [[1, 2], [3, 4]],
        "matrikelnummer": 12345,
    }
    answer = read_answer_bytes(json.dumps(content).encode(), "a.json")
    for name in ("K", "S", "A", "V"):
        assert values(answer, name) == SELF[name]
    assert answer.faults == ()
    assert [(each.text, each.could_be_matrix) for each in answer.unread] == [
        ("extra: 1 2; 3 4", True),
        ("matrikelnummer: 12345", False),
    ]
    sheet = "Clés\n3,-0.5\n2,-1.5\n-2.5,3.5\n\nmystery\n1,2\n"
    answer = read_answer_bytes(sheet.encode(), "a.csv")
    assert values(answer, "K") == SELF["K"]
    assert answer.faults == ()
    assert [(each.line, each.why) for each in answer.unread] == [
        (7, 'unknown name "mystery": it is not a step')
    ]


HOSTILE = {
    "comments": "[1 2] # [1 2]\n" * 7_000, "braced": "\\underbrace{[1]}_{Q} " * 5_000,
    "uneven": "Q = [1 2]  K = [1 2]\n    [1 2]\n" * 3_000, "rows": "1 / 2 / 3\n" * 10_000,
    "uneven rows": "[1 2]\n[1 2] [1 2]\n" * 5_000, "tokens": "Token 1\n(1, 2)\n" * 6_000,
    "tables": "| | Q | | K | |\n|1|1|2|3|4|\n\n" * 3_000, "paragraphs": "<div>1 2</div>" * 7_000,
    "factors": "A = softmax([1 2]) [1 2] x\n" * 4_000, "tex comments": "[1 2] %%\\% 1 2\n" * 7_000,
    "blanks": " " * 100_000, "brackets": "[" * 100_000, "open and closed": "[ ] " * 25_000,
    "round": "( 1 " * 25_000, "dashes": "- " * 50_000, "rule": "-" * 100_000, "bars": "|" * 100_000,
    "digits": "1" * 100_000, "ones": "1 " * 50_000, "commas": "1,2," * 25_000, "slashes": "1/" * 50_000,
    "tabs": "1\t" * 50_000, "equals": "=" * 100_000, "names": "Q=1," * 25_000, "lines": "1 2\n" * 25_000,
    "braces": "{" * 100_000, "frac": "\\frac" * 20_000, "begin": "\\begin{bmatrix}" * 6_000,
    "words": "keys and queries " * 6_000, "struck": "~~a" * 33_000, "tags": "<td>1" * 20_000,
    "unclosed": "[1 2\n" * 20_000, "powers": "9^" * 50_000, "labels": "x1: 1 3\n" * 12_000,
    "entries": "Q[1,2] = 1*2 = 3\n" * 6_000, "headings": "# Q\n1 2\n" * 12_000,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_slow(HOSTILE, 40))
def test_no_text_takes_long(kind: str) -> None:
    """100 kB of anything are read, or refused, in less than two seconds of a core."""

    def read() -> None:
        try:
            read_answer_bytes(HOSTILE[kind].encode(), "a.txt", expected("self"))
        except InputError as error:
            assert str(error).startswith("a.txt: ")  # noqa: PT017 - both ends are right ones

    assert not takes_longer(read, 2)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="QKSA=[]{}()|│\\&\n;:,. 12/-_#$?+⎡⎤^qk·→\t%~<>", max_size=120))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    """Any text is read or refused, also beside a problem."""
    try:
        answer = read(text)
    except InputError:
        return
    for matrix in answer.matrices.values():
        assert np.asarray(matrix.values).ndim in (2, 3)


PROBLEM = r"""
# Three tokens
scale = none
decimals: 2
rounding: each-step

X =
1 -1 0 2
0 -1 2 1
-2 2 -1 0

$$W_Q = \begin{bmatrix} 0 & 1 \\ 1 & 0 \\ -\frac12 & 0 \\ 1 & 1 \end{bmatrix}$$
W_K = np.array([[1, -0.5], [0, 1], [0.5, -0.5], [1, 0.5]])
W_V = [1 .5; -1/2 0; -1 2; .5 -1];
"""


def test_what_is_not_read_is_quoted_as_typed_and_what_is_read_is_not_listed() -> None:
    rows = "1 und 3", "-1 und 1", "2.5 und -2"
    text = "\n".join(f"Query von Token {n}: {row}" for n, row in enumerate(rows, start=1))
    for name in ("K", "V", "S", "A", "O"):
        text += f"\n{name} = [{'; '.join(' '.join(map(str, row)) for row in SELF[name])}]"
    answer = read(f"{text}\nPerdón, en Q la entrada (3,2) es -2")
    assert values(answer, "Q") == SELF["Q"]
    assert [each.text for each in answer.unread] == ["Perdón, en Q la entrada (3,2) es -2"]


def test_a_row_that_contradicts_its_matrix_is_listed() -> None:
    """The whole counts, and the row would be lost; one that only rounds it says nothing else."""
    answer = read("Q = [1 3; -1 1; 2.5 -2]\nq2 = (-1, 7)\nq3 = (2.5, -2)")
    assert values(answer, "Q") == SELF["Q"]
    assert [(each.line, each.text, each.could_be_matrix) for each in answer.unread] == [
        (2, "q2 = (-1, 7)", True)
    ]


def test_numbers_under_the_name_of_a_given_matrix_are_not_a_copy_if_few_agree() -> None:
    answer = read("Q = [1 3; -1 1; 2.5 -2]\nX2: [7 7 7; 8 8 8]\nx3 = 5")
    assert [each.line for each in answer.unread if each.could_be_matrix] == [2, 3]
    renamed = read("Q = [1 3; -1 1; 2.5 -2]\nX = [7 7 7 7; 8 8 8 8; 9 9 9 9]")
    assert [each.line for each in renamed.unread if each.could_be_matrix] == [2]
    copied = read(
        "X = [1 -1 0 2; 0 -1 2 1; -2 2 -1 0]\nx1 = (1, -1, 0, 2)\nQ = [1 3; -1 1; 2.5 -2]"
    )
    assert not copied.unread


def test_work_that_has_the_numbers_of_a_step_is_not_passed_over() -> None:
    """What is called a sum, and is the scores, is read or listed; powers of e are work."""
    answer = read("Q = [1 3; -1 1; 2.5 -2]\nsums = [1.5 -2.5 8; -3.5 -3.5 6; 8.5 8 -13.25]")
    assert values(answer, "S") == SELF["S"]
    work = read("Q = [1 3; -1 1; 2.5 -2]\nexp(S) = [4.48 0.08 2981; 0.03 0.03 403; 4915 2981 0]")
    assert "S" not in work.matrices
    assert not work.unread


@pytest.mark.parametrize("mark", ["x", "-", "—"])
def test_a_cross_or_a_dash_is_minus_infinity_where_a_mask_forbids_and_nowhere_else(
    mark: str,
) -> None:
    text = f"S_masked =\n-3.54 {mark} {mark} {mark}\n2.12 0.71 {mark} {mark}\n"
    text += f"-2.83 2.83 {mark} {mark}\n-1.41 0.00 -2.12 -1.41"
    answer = read(text, "h3")
    found = answer.matrices["S_masked"].values
    assert np.isneginf(found[np.triu_indices(4, 1)]).all()
    assert np.isnan(found[2, 2])
    assert any("-∞" in remark for remark in answer.remarks)


LAYER = {
    "W_Q": [[2, 0], [1, -1], [2, 1]], "W_K": [[-1, 2], [0, -1], [-1, -2]],
    "W_V": [[-1, 1], [-1, -1], [0, -2]], "W_O": [[-1, -2, 1], [-2, 1, -1]],
    "W_1": [[1, 1, -1], [2, 1, 0], [-2, 0, -1]], "W_2": [[0, 2, 2], [-2, 1, 2], [0, -2, 2]],
}  # fmt: skip


@pytest.mark.slow
def test_the_steps_of_a_layer_are_known_by_words_and_expressions() -> None:
    """Also where all of their numbers are wrong: their names say what they are."""
    problem = Problem(X=[[2, 1, 0], [2, -1, -1]], block="encoder", **LAYER)
    key = Key(problem, ToTheDigit(2))
    rows = "[9 8 7; 6 5 4]"
    named = {
        "residual 1": "R_1", "X + MHA": "R_1", "LayerNorm 1": "N_1", "LN(X + O)": "N_1",
        "max(0, N_1 W_1)": "G", "feed-forward output": "F_2", "hidden layer before ReLU": "F_1",
        "zweite Residualverbindung": "R_2", "LayerNorm 2": "Y", "encoder output": "Y",
    }  # fmt: skip
    with key.names_at_hand():
        for name, step in named.items():
            answer = read_answer_bytes(f"{name} = {rows}".encode(), "a.txt", key.expected)
            assert list(answer.matrices) == [step], name


def test_json_of_any_shape_is_read_by_the_names_in_it() -> None:
    heads = [{"Q": [[-2, 5], [-1, 2], [1, -2]]}, {"Q": [[1, 1], [0, 1], [-1, -3]]}]
    shapes = [
        {"heads": heads},
        {"solution": {"head 1": heads[0], "head_2": heads[1]}, "date": "2024-11-20"},
        {"Q": {"head 1": heads[0]["Q"], "head 2": heads[1]["Q"]}},
        [{"step": "Q", "value": [each["Q"] for each in heads]}],
    ]
    for content in shapes:
        answer = read_answer_bytes(json.dumps(content).encode(), "a.json", expected("h4"))
        assert values(answer, "Q") == [each["Q"] for each in heads], content
        assert not answer.has_unread_matrix


def test_a_problem_is_read_from_notes(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(PROBLEM)
    problem = read_problem(tmp_path / "notes.txt")
    right = read_problem(sample("self").path)
    for name in ("X", "W_Q", "W_K", "W_V"):
        assert np.array_equal(problem.as_typed(name), right.as_typed(name))
    assert (problem.scale, problem.rounding, problem.decimals) == ("none", "each-step", 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("W_Z = [1 2]", 'line 16: unknown name "W_Z": did you mean W_V?'),
        ("1 2 3\n", 'line 16: "1 2 3" is not part of a matrix'),
        ("X = [1 2 3 4]", "line 16: X is given twice (line 8 too)"),
        ("b_Q = [1 x]", 'b_Q, row 1, column 2 (line 16): "x" is not a number'),
    ],
)
def test_a_problem_in_notes_is_read_strictly(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "notes.txt").write_text(PROBLEM + "\n" + text)
    with pytest.raises(InputError) as caught:
        read_problem(tmp_path / "notes.txt")
    assert message in str(caught.value)


NOTES: dict[str, object] = {
    "Q": [[20, 20, 0]],
    "K": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "V": [[2, 1], [-1, 4], [3, 3]],
    "labels": {"Q": ["q"], "K": ["a", "b", "c"]},
    "scale": "none",
}


@pytest.mark.campaign(5)
@pytest.mark.parametrize(
    "text",
    [
        "alpha = 0.6 0.4 0\nc = (0.80, 2.30)",
        "alpha_1 = 0.6, alpha_2 = 0.4, alpha_3 = 0\nc = (0.80, 2.30)",
        "α_1 = 0.6\nα_2 = 0.4\nα_3 = 0\ncontext vector c = [0.80, 2.30]",
        "alpha_a = 0.6\nalpha_b = 0.4\nalpha_c = 0\nc = (0.80, 2.30)",
        "$\\alpha_1 \\approx 0.6, \\alpha_2 \\approx 0.4, \\alpha_3 = 0$\n\n$c = (0.80, 2.30)$",
    ],
)
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_one_query_has_weights_alpha_and_an_output_c_as_in_course_notes(
    text: str, layout: str
) -> None:
    """The third key is called c, too; wrong numbers keep their names."""
    fields = dict(NOTES)
    if layout == "columns":
        turned = {name: np.transpose(fields[name]).tolist() for name in "QKV"}
        fields |= {"layout": "columns", **turned}
    key = Key(Problem(**fields), ToTheDigit(2))
    answer = read_answer_bytes(text.encode(), "answer.md", key.expected)
    assert np.ravel(values(answer, "A")).tolist() == [0.6, 0.4, 0]
    assert np.ravel(values(answer, "O")).tolist() == [0.8, 2.3]
    assert not answer.unread


def test_a_step_of_ones_own_named_c_is_not_the_output() -> None:
    key = Key(Problem(**NOTES, equations=["c[i,j] = 2 * O[i,j]"]), ToTheDigit(2))
    text = b"alpha = 0.5 0.5 0\no = 0.50 2.50\nc = 1.00 5.00"
    answer = read_answer_bytes(text, "answer.txt", key.expected)
    assert values(answer, "c") == [[1, 5]]
    assert values(answer, "O") == [[0.5, 2.5]]


def test_flags_know_the_names_of_course_notes(attncalc: Command, tmp_path: Path) -> None:
    weights = {"A": [[0.5, 0.5]], "V": [[1, 2], [3, 4]]}
    (tmp_path / "in.json").write_text(json.dumps(weights), encoding="utf-8")
    entry = attncalc("cross", "in.json", "--entry", "c[1,1]").out
    assert "O[1,1] = (0.5·1) + (0.5·3) = 2.00" in entry
    assert attncalc("cross", "in.json", "--only", "c").out.count("╮") == 1


@for_all(
    ("sheet", "remarks"),
    [
        ("Q\n1,00,3,00\n-1,00,1,00\n2,50,-2,00", 1),
        ("Q\ncat,1,00,3,00\nsat,-1,00,1,00\nmat,2,50,-2,00", 1),
        ("Q\n1,1,00,3,00\n2,-1,00,1,00\n3,2,50,-2,00", 1),
        ("Q\n1,3\n-1,1\n2.50,-2", 0),
    ],
)
def test_decimal_commas_may_separate_the_cells_of_a_sheet_too(sheet: str, remarks: int) -> None:
    answer = read_answer_bytes(sheet.encode(), "a.csv", expected("self"))
    assert answer.matrices["Q"].values.tolist() == [[1, 3], [-1, 1], [2.5, -2]]
    assert len(answer.remarks) == remarks


@for_all("word", ["masked", "gizli", "-unendl.", "mascarado"])
def test_any_word_may_be_the_sign_of_a_causal_mask(word: str) -> None:
    rows = [["-1.5", "2.0", "0.5"], ["1.5", "0.0", "2.5"], ["-1.5", "1.5", "3.0"]]
    lines = ["  ".join([*row[: i + 1], *[word] * (2 - i)]) for i, row in enumerate(rows)]
    answer = read_answer_bytes(
        ("S_masked =\n" + "\n".join(lines)).encode(), "a.txt", expected("causal")
    )
    values = answer.matrices["S_masked"].values
    assert np.isneginf(values[np.triu_indices(3, 1)]).all()
    assert values[np.tril_indices(3)].tolist() == [-1.5, 1.5, 0.0, -1.5, 1.5, 3.0]


@for_all("word", ["masked", "null", "gizli"])
def test_a_word_for_masked_weights_is_zero_and_is_said(word: str) -> None:
    rows = [["1.00"], ["0.40", "0.60"], ["0.20", "0.30", "0.50"], ["0.10", "0.20", "0.30", "0.40"]]
    lines = "\n".join(" ".join([*row, *[word] * (4 - len(row))]) for row in rows)
    answer = read_answer_bytes(f"A =\n{lines}\n".encode(), "a.txt", expected("causal"))
    values = answer.matrices["A"].values
    assert not values[np.triu_indices(4, 1)].any()
    assert values.sum(axis=1).tolist() == pytest.approx([1, 1, 1, 1])
    assert any(f'"{word}" is read as the sign' in each for each in answer.remarks)


def test_a_mail_replaces_the_older_one_that_it_quotes_and_restates() -> None:
    new = "the queries are (1; 3), (-1; 1) and (2.5; -2)\nK = [3 -0.5; 2 -1.5; -2.5 3.5]\n"
    old = "> Q = [9 3; -1 1; 2.5 -2]\n> K = [9 -0.5; 2 -1.5; -2.5 3.5]\n"
    head = "On Mon, 4 Mar 2024 at 19:40, Ada wrote:\n"
    answer = read_answer_bytes(f"{new}\n{head}{old}".encode(), "a.txt", expected("self"))
    assert answer.matrices["Q"].values[0, 0] == 1
    assert answer.matrices["K"].values[0, 0] == 3
    # the quoted mail is needed where the new one states only a part
    answer = read_answer_bytes(f"Sorry.\n\n{head}{old}".encode(), "a.txt", expected("self"))
    assert answer.matrices["Q"].values[0, 0] == 9
    # steps between quoted lines, and a step that only the quoted mail has
    between = f"{new}\n{head}> are the values right?\nV = [2.5 -1.5; -1 3; -2 -3]\n"
    answer = read_answer_bytes(
        f"{between}> K = [9 9; 9 9; 9 9]\n".encode(), "a.txt", expected("self")
    )
    assert answer.matrices["V"].values[0, 0] == 2.5
    assert answer.matrices["K"].values[0, 0] == 3
    answer = read_answer_bytes(
        f"{new}\n{head}> V = [8 8; 8 8; 8 8]\n".encode(), "a.txt", expected("self")
    )
    assert answer.matrices["V"].values[0, 0] == 8


@for_all(
    ("text", "matrix", "head"),
    [("V, κεφαλή 2", "V", 2), ("K (fej 2)", "K", 2), ("Q, 머리 1", "Q", 1), ("α_1", "A", 0)],
)
def test_heads_are_named_in_many_languages(text: str, matrix: str, head: int) -> None:
    found = name_in(text)
    assert found is not None
    assert (found.matrix, found.head) == (matrix, head)
