"""Rows within sentences are read as rows; other numbers of sentences are not."""

from pathlib import Path
from typing import Any

import pytest

from attncalc import check, read_problem
from attncalc.problem.samples import sample

Q, K = "Q = [1 3; -1 1; 2.5 -2]", "K = [3 -0.5; 2 -1.5; -2.5 3.5]"
WHOLE = {
    "first and second": "The first row of Q is 1, 3 and the second -1, 1, the third 2.5, -2.",
    "a line of rows": "For K the rows are 3, -0.5; then 2, -1.5; and finally -2.5, 3.5.",
    "those of tokens": "The queries of token 1 are 1 and 3; those of token 2 are -1 and 1; "
    "those of token 3 are 2.5 and -2.",
    "two sentences": "Q has rows (1, 3), (-1, 1), (2.5, -2). K has rows (3, -0.5), (2, -1.5), "
    "(-2.5, 3.5).",
    "1st, 2nd": "The 1st row of K is (3, -.5), the 2nd row is (2, -1.5), the 3rd (-2.5, 3.5).",
}


def marking_of(text: str, folder: Path) -> Any:
    (folder / "mine.txt").write_text(text, encoding="utf-8")
    return check(read_problem(sample("self").path), folder / "mine.txt")


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_rows_in_sentences_are_read_completely(text: str, tmp_path: Path) -> None:
    marking = marking_of(text, tmp_path)
    found = {
        marks.step.name: marks.is_right
        for marks in marking.steps
        if marks.step.name not in marking.not_found
    }
    assert found
    assert all(found.values())
    assert not marking.is_provisional


@pytest.mark.parametrize(
    "text",
    [
        "In the first row of S 3 of 4 terms cancel, and in the second row 1 of 3.",
        "The first row of Q is 1, 3 and the second -1, 1.",
        "The first row of Q is 1, 3, 4 and the second -1, 1, 2, the third 2, 3, 4.",
    ],
    ids=["counts", "two of three rows", "three columns of two"],
)
def test_other_numbers_in_sentences_are_not_rows(text: str, tmp_path: Path) -> None:
    marking = marking_of(f"{K}\n{text}\n", tmp_path)
    found = {marks.step.name for marks in marking.steps if marks.step.name not in marking.not_found}
    assert "S" not in found
    assert marking.is_provisional or "Q" not in found


@pytest.mark.parametrize(
    ("text", "name", "row"),
    [
        ("The first row of Q is 1, 3 and the second -1, 2, the third 2.5, -2.", "Q", [-1, 2]),
        ("For K the rows are 3, -0.5; then 2, 1.5; and finally -2.5, 3.5.", "K", [2, 1.5]),
        ("The scores of token 1 are 1.5, -2.5 and 8, those of token 2 are -3.5, -3.5 and 7, and "
         "those of token 3 are 8.5, 8 and -13.25.", "S", [-3.5, -3.5, 7]),
    ],
)  # fmt: skip
def test_a_mistake_in_a_row_of_a_sentence_is_read(
    text: str, name: str, row: list[float], tmp_path: Path
) -> None:
    others = "" if name == "K" else f"{K}\n"
    answer = marking_of(f"{others}{text}\n", tmp_path).answer
    assert answer.matrices[name].values[1].tolist() == row
    assert not answer.has_unread_matrix
