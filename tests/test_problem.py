"""Problem: what it takes from Python, what it refuses, and what it keeps."""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import GOOD

from attncalc import AttncalcError, InputError, Problem, ShapeError, check, solve
from attncalc.base.text import distinct_names

pytestmark = pytest.mark.campaign(4)


def test_arrays_lists_and_exact_numbers_are_treated_alike() -> None:
    for X in (GOOD["X"], np.array(GOOD["X"]), np.array(GOOD["X"], dtype=np.float64)):
        assert Problem(**GOOD | {"X": X}).X.dtype == np.float64
    assert Problem(**GOOD | {"X": np.array(GOOD["X"], dtype=np.float32)}).X.dtype == np.float32
    third = Problem(**GOOD | {"W_V": [[Fraction(1, 3)], [Decimal("0.1")]]})
    assert third.as_typed("W_V").tolist() == [[Fraction(1, 3)], [Decimal("0.1")]]
    assert replace(third, decimals=3).as_typed("W_V")[0, 0] == Fraction(1, 3)
    assert replace(third, W_V=[[1], [1]]).as_typed("W_V")[0, 0] == 1


def test_a_flat_list_is_a_matrix_of_one_row() -> None:
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
    ({"X": [["a", "b"]]}, 'X, row 1, column 1: "a" is not a number'),
    ({"X": [[1, 2], [3]]}, "X is not a matrix of real numbers: give rows of equal length"),
    ({"X": [[1j, 2]]}, "X is not a matrix of real numbers: give rows of equal length"),
    ({"X": [[True, False]]}, "X is not a matrix of real numbers: give rows of equal length"),
    ({"X": [[1, None]]}, "X, row 1, column 2: None, but a number is needed"),
    ({"X": [["1/2", None]]}, "X, row 1, column 2: None, but a number is needed"),
    ({"X": "1 2"}, "X is not a matrix of real numbers: give rows of equal length"),
    ({"X": [[1, float("nan")]]}, "X, row 1, column 2: nan, where a finite number is needed"),
    ({"X": [[1, 10**400]]}, "X has a number too large for float64"),
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
    *(
        (
            {"scale": given},
            'scale takes "sqrt_dk", "none" or a number that multiplies the scores: '
            'for true write "sqrt_dk" (divided by √d_k), for false "none"',
        )
        for given in (True, False)
    ),
]


@pytest.mark.parametrize(("fields", "expected"), REFUSED)
def test_an_invalid_problem_is_refused(fields: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as error:
        Problem(**GOOD | fields)
    assert str(error.value) == expected


def test_cross_attention_accepts_a_list_of_labels_for_each_side() -> None:
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
        "Q, row 1, column 1 exceeds the largest float64 (about 1.8e+308): give smaller numbers"
    )


def test_large_scores_do_not_overflow_the_softmax() -> None:
    solution = solve(Problem(X=[[1e150], [-1e150]], W_Q=[[1]], W_K=[[1]], W_V=[[1]]))
    assert solution.shown("A") == [["1.00", "0.00"], ["0.00", "1.00"]]


def test_repeated_labels_get_distinct_numbers() -> None:
    assert distinct_names(["a", "a", "a (1)"]) == ("a (1)", "a (2)", "a (1) (3)")
    assert distinct_names(["", "b", ""]) == (" (1)", "b", " (3)")


def test_an_unknown_step_names_those_there_are() -> None:
    solution = solve(Problem(**GOOD, scale="none"))
    with pytest.raises(KeyError, match="no step S_scaled: there are Q, K, V, S, A, O"):
        solution["S_scaled"]


# -- arrays as programs hold them ----------------------------------------------------------------


def seconds(made: Callable[[], object]) -> float:
    """Return the shortest of several runs: the others were disturbed."""
    times = []
    for _ in range(7):
        start = time.perf_counter()
        made()
        times.append(time.perf_counter() - start)
    return min(times)


def peak(made: Callable[[], object]) -> int:
    """Return the most bytes that were held at once."""
    tracemalloc.start()
    try:
        made()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_list_of_heads_costs_what_one_array_costs() -> None:
    """Looked at number by number, it took a hundred times as long."""
    Q = np.random.default_rng(0).normal(size=(8, 512, 64))
    heads = [head.copy() for head in Q]
    listed, stacked = Problem(Q=heads, K=heads, V=heads), Problem(Q=Q, K=Q, V=Q)
    assert np.array_equal(listed.Q, Q)
    assert listed.Q.dtype == stacked.Q.dtype
    assert seconds(lambda: Problem(Q=heads, K=heads, V=heads)) < 5 * seconds(
        lambda: Problem(Q=Q, K=Q, V=Q)
    )
    assert peak(lambda: Problem(Q=heads, K=heads, V=heads)) < 1.1 * peak(
        lambda: Problem(Q=Q, K=Q, V=Q)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["keep", "ignore"])
def test_a_boolean_mask_is_stored_once_and_never_copied(name: str) -> None:
    mask = np.tri(2048, dtype=bool) if name == "keep" else np.triu(np.ones((2048, 2048), bool), 1)
    Q = np.ones((2048, 1))
    assert peak(lambda: Problem(Q=Q, K=Q, V=Q, **{name: mask})) < 1.2 * mask.nbytes
    whole = mask.astype(np.int64)
    assert peak(lambda: Problem(Q=Q, K=Q, V=Q, **{name: whole})) < 2.2 * mask.nbytes
    bias = np.where(mask, 0.0, -np.inf)
    assert peak(lambda: Problem(Q=Q, K=Q, V=Q, bias=bias)) < 1.2 * bias.nbytes


def test_a_mask_does_not_change_with_the_array_it_was_made_of() -> None:
    for mask in (np.array([[True, False]]), np.array([[1, 0]]), [np.array([True, False])]):
        problem = Problem(**GOOD, keep=mask)
        mask[0][0] = 0
        assert problem.keep.dtype == bool
        assert problem.keep.tolist() == [[True, False]]


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        (np.array([[1, 2], [1, 1]]), "row 1, column 2: 2"),
        (np.array([[1, 1], [np.nan, 1]]), "row 2, column 1: nan"),
        (np.array([[1, 1], [1, 0.5]], dtype=np.float32), "row 2, column 2: 0.5"),
        (np.array([[[1, 1], [-1, 1]]], dtype=np.int8), "head 1, row 2, column 1: -1"),
        ([[Decimal(1), Decimal(3)], [Decimal(0), Decimal(1)]], "row 1, column 2: 3"),
    ],
)
def test_a_mark_is_1_or_0_in_any_type(marks: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        Problem(**GOOD, keep=marks)
    assert str(error.value) == f"keep, {said}, where 1 or 0 (true or false) is needed"


@pytest.mark.parametrize(
    "X",
    [
        [np.array([0.5, 1.0]), [Fraction(1, 3), Decimal("0.1")]],
        [[0.5, 1], np.array([Fraction(1, 3), Decimal("0.1")])],
        (np.array([Decimal("0.5"), 1]), (Fraction(1, 3), Decimal("0.1"))),
    ],
)
def test_exact_numbers_stay_so_beside_arrays(X: Any) -> None:
    problem = Problem(**GOOD | {"X": X})
    exactly = [[Decimal("0.5"), Decimal(1)], [Fraction(1, 3), Decimal("0.1")]]
    assert problem.as_typed("X").tolist() == exactly
    assert problem.X.tolist() == [[float(entry) for entry in row] for row in exactly]


@pytest.mark.parametrize("as_given", [list, np.array])
def test_large_integers_stay_exact(as_given: Any) -> None:
    """2**53 + 1 is no float64; of 2**60 the shortest decimal is another number."""
    X = [[2**53 + 1, 2**60], [-(2**62) - 3, 7]]
    assert Problem(**GOOD | {"X": as_given(X)}).as_typed("X").tolist() == X
    assert Problem(**GOOD | {"X": as_given([[1, 2], [3, 2**53]])}).typed == {}
    assert Problem(**GOOD | {"X": [[10**30, 1], [1, 1]]}).as_typed("X")[0, 0] == 10**30


class Tensor:
    """What a library of tensors hands over: its array only out of the graph, and off the device."""

    def __init__(self, values: Any, at: str = "in the graph on the device") -> None:
        self.values, self.at = values, at
        self.ndim = np.ndim(values)

    def detach(self) -> "Tensor":
        """Return it out of the graph."""
        return Tensor(self.values, self.at.replace("in the graph ", ""))

    def cpu(self) -> "Tensor":
        """Return it off the device."""
        return Tensor(self.values, self.at.replace("on the device", ""))

    def double(self) -> "Tensor":
        """Return it in a type that numpy knows; of nothing there is none."""
        if self.values is None:
            return self
        return Tensor(np.asarray(self.values, dtype=np.float64), self.at)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self.at:
            raise RuntimeError(f"it is {self.at}")
        if isinstance(self.values, list):
            raise TypeError("Got unsupported ScalarType BFloat16")
        if self.values is None:
            raise NotImplementedError("there is nothing in it\nand a long list of places")
        return np.array(self.values)


def test_tensors_are_detached_and_moved_to_the_cpu() -> None:
    X = np.array(GOOD["X"], dtype=np.float32)
    rows = [Tensor(row) for row in X]
    for tensor in (Tensor(X), rows, [[Tensor(entry) for entry in row] for row in X]):
        problem = Problem(**GOOD | {"X": tensor})
        assert (problem.X.dtype, problem.X.tolist()) == (np.float32, GOOD["X"])
    assert Problem(**GOOD | {"X": Tensor(GOOD["X"])}).X.dtype == np.float64
    assert Problem(Q=[Tensor(X)] * 2, K=[Tensor(X)] * 2, V=[Tensor(X)] * 2).n_heads == 2


def test_an_error_of_a_tensor_is_one_line() -> None:
    for X in (Tensor(None), [Tensor(None)]):
        with pytest.raises(InputError) as error:
            Problem(**GOOD | {"X": X})
        assert str(error.value) == "X cannot be read as an array: there is nothing in it"


def test_an_array_with_masked_entries_is_refused_and_its_hidden_numbers_not_read() -> None:
    hidden = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
    with pytest.raises(InputError) as error:
        Problem(**GOOD | {"X": hidden})
    assert str(error.value) == (
        "X has masked entries: fill them, or pass the mask as keep or ignore"
    )
    assert Problem(**GOOD | {"X": hidden.filled(0)}).X[0, 1] == 0
    assert Problem(**GOOD | {"X": np.ma.array(GOOD["X"])}).X.tolist() == GOOD["X"]


NUMBERS_OF_LIBRARIES: list[Callable[[float], Any]] = [
    np.array,
    np.int64,
    np.uint8,
    np.float32,
    np.float64,
    lambda value: np.array([value]),
    lambda value: np.array([[value]], dtype=np.float16),
    lambda value: np.array([Fraction(value)]),
    lambda value: Tensor(np.array(value)),
]


@pytest.mark.parametrize("number", NUMBERS_OF_LIBRARIES)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("heads", 2),
        ("decimals", 3),
        ("scale", 2),
        ("softcap", 3),
        ("rope_base", 100),
        ("rope_offset", 1),
        ("causal", 1),
    ],
)
def test_a_setting_may_be_a_number_of_numpy_or_an_array_of_one(
    name: str, value: int, number: Callable[[float], Any]
) -> None:
    if name == "causal":
        assert Problem(**GOOD, causal=np.array([True])).causal is True
    else:
        fields = GOOD | {"W_V": [[1, 2], [3, 4]]}
        fields |= {"positions": "rope"} if name.startswith("rope") else {}
        assert getattr(Problem(**fields | {name: number(value)}), name) == value


def test_a_number_of_float32_is_the_decimal_it_shows() -> None:
    assert Problem(**GOOD, scale=np.float32(0.1)).scale == Fraction(1, 10)
    assert Problem(**GOOD, softcap=np.array([0.3], dtype=np.float32)).softcap == Fraction(3, 10)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.array([4, 2]), 'heads takes a whole number from 1: "[4 2]" is not a number'),
        (np.array([]), 'heads takes a whole number from 1: "[]" is not a number'),
        (np.array([2.5]), 'heads takes a whole number from 1, not "[2.5]"'),
        (np.bool_(True), 'heads takes a whole number from 1: "True" is not a number'),
        (Tensor(None), "heads cannot be read as an array: there is nothing in it"),
    ],
)
def test_an_array_that_is_not_a_setting_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        Problem(**GOOD, heads=given)
    assert str(error.value) == said


def test_an_answer_may_contain_arrays_tensors_and_fractions() -> None:
    problem = Problem(**GOOD, scale="none")
    Q = [np.array([1, 2]), [Fraction(3), Decimal(4)]]
    assert check(problem, {"Q": Q, "K": Tensor(np.array([[2, 1], [4, 3]]))}).score.earned == 2
    with pytest.raises(InputError) as error:
        check(problem, {"Q": {1, 2}})
    assert str(error.value) == "an answer contains matrices: lists, arrays or texts, not set"
    with pytest.raises(InputError) as error:
        check(problem, {"Q": Tensor(None)})
    assert str(error.value) == (
        "a matrix of the answer cannot be read as an array: there is nothing in it"
    )
