"""Problem: what it takes from Python, what it refuses, and what it keeps."""

from dataclasses import FrozenInstanceError, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import GOOD

from attncalc import AttncalcError, InputError, Problem, ShapeError, solve
from attncalc.text import told_apart


def test_arrays_lists_and_exact_numbers_are_taken_alike() -> None:
    for X in (GOOD["X"], np.array(GOOD["X"]), np.array(GOOD["X"], dtype=np.float64)):
        assert Problem(**GOOD | {"X": X}).X.dtype == np.float64
    assert Problem(**GOOD | {"X": np.array(GOOD["X"], dtype=np.float32)}).X.dtype == np.float32
    third = Problem(**GOOD | {"W_V": [[Fraction(1, 3)], [Decimal("0.1")]]})
    assert third.as_typed("W_V").tolist() == [[Fraction(1, 3)], [Decimal("0.1")]]
    assert replace(third, decimals=3).as_typed("W_V")[0, 0] == Fraction(1, 3)
    assert replace(third, W_V=[[1], [1]]).as_typed("W_V")[0, 0] == 1


def test_a_row_alone_is_a_matrix_of_one_row() -> None:
    assert Problem(**GOOD | {"X": [1, 2]}).X.shape == (1, 2)


def test_a_problem_cannot_be_changed_nor_change_with_the_arrays_it_was_made_of() -> None:
    X = np.array(GOOD["X"], dtype=float)
    problem = Problem(**GOOD | {"X": X})
    X[0, 0] = 99
    assert problem.X[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        problem.X[0, 0] = 5
    with pytest.raises(FrozenInstanceError):
        problem.decimals = 3  # type: ignore[misc]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"X": [["a", "b"]]}, "X is not a matrix of real numbers: give rows of equal length"),
    ({"X": [[1, 2], [3]]}, "X is not a matrix of real numbers: give rows of equal length"),
    ({"X": [[1j, 2]]}, "X is not a matrix of real numbers: give rows of equal length"),
    ({"X": [[True, False]]}, "X is not a matrix of real numbers: give rows of equal length"),
    ({"X": "1 2"}, "X is not a matrix of real numbers: give rows of equal length"),
    ({"X": [[1, float("nan")]]}, "X, row 1, column 2: nan, where a finite number is needed"),
    ({"X": [[1, 10**400]]}, "X holds a number too large for float64"),
    ({"X": np.zeros((0, 2))}, "X is empty: it needs at least one row and one column"),
    ({"X": np.zeros((1, 1, 2, 2))}, "X has 4 dimensions: a matrix has rows and columns"),
    ({"labels": "ab"}, "labels of X must be a list of texts"),
    ({"decimals": -1}, 'decimals takes a whole number from 0 to 12, not "-1"'),
    ({"decimals": True}, 'decimals takes a whole number from 0 to 12, not "True"'),
    (
        {"scale": float("nan")},
        'scale takes "sqrt_dk", "none" or a number that multiplies the scores: '
        '"nan" is not a number',
    ),
]


@pytest.mark.parametrize(("fields", "expected"), REFUSED)
def test_what_is_no_problem_is_refused(fields: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as error:
        Problem(**GOOD | fields)
    assert str(error.value) == expected


def test_cross_attention_takes_a_list_of_labels_for_each_side() -> None:
    fields = {**GOOD, "X1": GOOD["X"], "X2": [[1, 2]], "X": None}
    with pytest.raises(InputError) as error:
        Problem(**fields, labels=["a", "b"])
    assert str(error.value) == (
        'labels of cross-attention take a list for each: {"X1": […], "X2": […]}'
    )
    problem = Problem(**fields, labels={"X2": ["k"]})
    assert (problem.queries, problem.keys) == (("1", "2"), ("k",))


def test_errors_are_one_family() -> None:
    assert issubclass(ShapeError, InputError)
    assert issubclass(InputError, AttncalcError)
    assert issubclass(InputError, ValueError)


def test_numbers_that_grow_beyond_float64_are_refused_and_never_shown() -> None:
    problem = Problem(**GOOD | {"X": [[1e200, 1], [1, 1]], "W_Q": [[1e200, 0], [0, 1]]})
    with pytest.raises(InputError) as error:
        solve(problem)
    assert str(error.value) == (
        "Q, row 1, column 1 grows beyond the largest float64 (about 1.8e+308): give smaller numbers"
    )


def test_large_scores_do_not_overflow_the_softmax() -> None:
    solution = solve(Problem(X=[[1e150], [-1e150]], W_Q=[[1]], W_K=[[1]], W_V=[[1]]))
    assert solution.shown("A") == [["1.00", "0.00"], ["0.00", "1.00"]]


def test_repeated_labels_are_told_apart_even_from_their_own_marks() -> None:
    assert told_apart(["a", "a", "a (1)"]) == ("a (1)", "a (2)", "a (1) (3)")
    assert told_apart(["", "b", ""]) == (" (1)", "b", " (3)")


def test_an_unknown_step_names_those_there_are() -> None:
    solution = solve(Problem(**GOOD, scale="none"))
    with pytest.raises(KeyError, match="no step S_scaled: there are Q, K, V, S, A, O"):
        solution["S_scaled"]
