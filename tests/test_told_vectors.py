"""What people tell in sentences and short notes is read whole, or listed; never as another step."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attncalc import check, read_problem
from attncalc.problem.problem import Problem
from attncalc.problem.samples import sample

THREE = {
    "Q": "(1, 3), (-1, 1) and (2.5, -2)",
    "K": "(3, -0.5), (2, -1.5) and (-2.5, 3.5)",
    "V": "(2.5, -1.5), (-1, 3) and (-2, -3)",
}
SELF = {
    "vectors in a sentence": f"The keys are {THREE['K']}; the values are {THREE['V']}.",
    "over two lines": f"The queries are {THREE['Q']}. The keys\nare {THREE['K']}.",
    "each for a token": "For the keys I got (3, -.5) for x1, (2, -1.5) for x2 and (-2.5, 3.5) "
    "for x3.",
    "slashes between rows": "[10:02] ana: ok Q = 1 3 / -1 1 / 2.5 -2\n[10:05] ben: scores "
    "1.5 -2.5 8 / -3.5 -3.5 6 / 8.5 8 -13.25 ?",
    "cells of a sheet": "A1: Q\nA2: 1 | 3\nA3: -1 | 1\nA4: 2.5 | -2\nD1: V\nD2: 2.5 | -1.5\n"
    "D3: -1 | 3\nD4: -2 | -3",
    "several matrices": "Q and K are [1 3; -1 1; 2.5 -2] and [3 -0.5; 2 -1.5; -2.5 3.5].",
    "products of a token": "x1 WQ = (1, 3), x2 WQ = (-1, 1), x3 WQ = (2.5, -2)",
    "after a sentence of other tokens": "The third token puts 0.62 on the first; the others look "
    "only at the third.\nValues: (2.5, -1.5), (-1, 3), (-2, -3)",
    "rows without commas": "Step 1. queries. row 1: 1 3, row 2: -1 1, row 3: 2.5 -2.",
}
CROSS = {
    "one sentence for each query": "For the first query, the scores are 0, 1, 2, 2, and the weights"
    " are 0.05, 0.15, 0.40, 0.40.\nFor the second query, the scores are -1, 0, 1, 2, and the "
    "weights are 0.03, 0.09, 0.24, 0.64.",
    "semicolons, decimal commas": "Poids : 0,05 ; 0,15 ; 0,40 ; 0,40 et 0,03 ; 0,09 ; 0,24 ; 0,64.",
}


def marking_of(text: str, problem: Any, folder: Path) -> Any:
    (folder / "mine.txt").write_text(text, encoding="utf-8")
    return check(problem, folder / "mine.txt")


def found_in(marking: Any) -> dict[str, bool]:
    return {
        marks.step.name: marks.is_right
        for marks in marking.steps
        if marks.step.name not in marking.not_found
    }


@pytest.mark.parametrize(
    ("problem", "text"),
    [("self", each) for each in SELF.values()] + [("cross", each) for each in CROSS.values()],
    ids=[*SELF, *CROSS],
)
def test_sentences_are_read_completely(problem: str, text: str, tmp_path: Path) -> None:
    marking = marking_of(text, read_problem(sample(problem).path), tmp_path)
    found = found_in(marking)
    assert found
    assert all(found.values())
    assert not marking.is_provisional


@pytest.mark.parametrize(
    ("text", "not_read"),
    [
        ("The scores come out as 1.5, -2.5, 8 for one and so on for all the others.", "S"),
        ("Weights as we all know them from the lecture: 0, 0, 1", "A"),
        ("The keys are (3, -0.5) and (2, -1.5).", "K"),
    ],
    ids=["a row in prose", "one row of three", "two vectors of three"],
)
def test_a_part_of_a_matrix_is_listed_and_no_matrix(
    text: str, not_read: str, tmp_path: Path
) -> None:
    marking = marking_of(
        f"Q = [1 3; -1 1; 2.5 -2]\n\n{text}\n", read_problem(sample("self").path), tmp_path
    )
    assert not_read not in found_in(marking)
    assert marking.is_provisional


def test_rows_called_a1_to_a3_are_not_cells(tmp_path: Path) -> None:
    text = "A1: 0 0 1\nA2: 0 0 1\nA3: 0.62 0.38 0"
    assert found_in(marking_of(text, read_problem(sample("self").path), tmp_path)) == {"A": True}


def test_tokens_that_look_like_columns_are_reported(tmp_path: Path) -> None:
    text = "Q = [1 -1 2.5; 3 1 -2]\nK = [3 2 -2.5; -0.5 -1.5 3.5]"
    marking = marking_of(text, read_problem(sample("self").path), tmp_path)
    assert marking.is_provisional
    assert "columns" in marking.answer.unread[0].why


def test_a_token_that_is_called_as_a_symbol_is_a_token(tmp_path: Path) -> None:
    """Elsewhere "we" is W_E."""
    problem = Problem(
        X=np.array([[1, 0], [0, 2]]), W_Q=np.eye(2), W_K=np.eye(2), W_V=np.eye(2),
        labels=("we", "go"), scale="none", decimals=2,
    )  # fmt: skip
    text = "Q:\nwe -> 1, 0\ngo -> 0, 2\n\nweights\nwe -> we 73%, go 27%\ngo -> go 98%, we 2%\n"
    marking = marking_of(text, problem, tmp_path)
    assert found_in(marking) == {"Q": True, "A": True}
    assert not marking.is_provisional


@pytest.mark.slow
def test_means_are_columns_however_they_are_typed(tmp_path: Path) -> None:
    problem = Problem(
        X=np.array([[1, -2], [0, 1]]), W_Q=np.array([[2, -2], [2, 1]]),
        W_K=np.array([[-1, 0], [2, -1]]), W_V=np.array([[1, 0], [-2, -1]]),
        W_1=np.array([[0, -2], [2, -1]]), W_2=np.array([[-1, 0], [0, -1]]), block="encoder",
        decimals=2,
    )  # fmt: skip
    residual = "residual: [4.63 -0.59; -2 0]"
    for said in ("mean = (2.02, -1.00)", "μ_1 = 2.02, μ_2 = -1.00", "mu_1 = (2.02, -1.00)"):
        marking = marking_of(f"{residual}\n{said}\n", problem, tmp_path)
        assert found_in(marking).get("mu_1"), said
        assert not marking.is_provisional, said
