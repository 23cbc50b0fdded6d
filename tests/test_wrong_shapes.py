"""A matrix of a wrong shape is charged once, and what comes after it is marked from it."""

import json
from typing import Any

import numpy as np
import planting
import pytest

from attncalc import Problem, check
from attncalc.grading.key import key_of
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Rules, Status
from attncalc.reading.answers import read_answer_bytes
from attncalc.writing.markdown import write_markdown
from attncalc.writing.reports.marking import as_values, marking_document
from attncalc.writing.verdict import verdict

X1 = np.array([[1.0, -1, 0.5], [0, 2, 1]])
X2 = np.array([[0.5, 1, 0], [-1, 0, 2], [1, 0.5, -0.5], [0, 1, 1.5]])
W_Q = np.array([[1.0, 0.5], [0, 1], [0.5, -1]])
W_K = np.array([[0.5, 1], [1, 0], [0, -0.5]])
W_V = np.array([[2.0, 0], [0, 1], [1, 0.5]])
FIELDS = {"X1": X1, "X2": X2, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}
PROBLEM = Problem(**FIELDS)


def cut(matrix: np.ndarray) -> np.ndarray:
    return planting.cut(matrix, 2, "half-away")


def script_of(Q: np.ndarray, K: np.ndarray, V: np.ndarray, **instead: Any) -> dict[str, np.ndarray]:
    """Take each step as a textbook has it, rounded to two decimals; `instead` says otherwise."""
    script = {"Q": cut(Q), "K": cut(K), "V": cut(V)}
    script["S"] = cut(instead.get("S", script["Q"] @ script["K"].T))
    script["S_scaled"] = cut(script["S"] / 2**0.5)
    script["A"] = cut(planting.softmax(script["S_scaled"]))
    weights = script["A"].T if instead.get("turned") else script["A"]
    return {**script, "O": cut(weights @ script["V"])}


def marked(script: dict[str, Any], problem: Problem = PROBLEM, **rules: Any) -> Marking:
    texts = {
        name: np.vectorize("{:.2f}".format)(matrix).tolist() for name, matrix in script.items()
    }
    said = Rules(asked=tuple(script), **rules)
    data = json.dumps(script_as_lists(script) if said.in_tolerance else texts).encode()
    return mark(key_of(problem, said), read_answer_bytes(data, "a.json"), said)


def script_as_lists(script: dict[str, np.ndarray]) -> dict[str, Any]:
    return {name: matrix.tolist() for name, matrix in script.items()}


def of(marking: Marking, name: str) -> StepMarks:
    return next(marks for marks in marking.steps if marks.step.name == name)


Q_OF_X2 = script_of(X2 @ W_Q, X2 @ W_K, X2 @ W_V)
"""X2 is used for the queries, too: everything after has a row for each of its tokens."""


@pytest.mark.parametrize("rules", [{}, {"atol": 0.01}])
def test_queries_of_the_other_tokens_are_charged_once(rules: dict[str, Any]) -> None:
    marking = marked(Q_OF_X2, **rules)
    assert [cause.code for cause in of(marking, "Q").causes] == ["wrong-source:X2"]
    assert marking.score == (6, 7)
    for name, columns in (("S", 4), ("S_scaled", 4), ("A", 4), ("O", 2)):
        marks = of(marking, name)
        assert marks.statuses.shape == (4, columns)
        assert marks.count(Status.FOLLOWS) == 4 * columns


def test_a_wrong_shape_that_later_steps_use_is_reported() -> None:
    assert verdict(marked(Q_OF_X2))[:3] == (
        "Q has the wrong shape: 4 × 2 is written, where it is 2 × 2. "
        "Later steps are marked from your Q where possible.",
        "Every entry of Q matches this mistake: Q is computed from X2, and not from X1.",
        "S, S_scaled, A and O are correct given your earlier values; no points deducted.",
    )


def test_the_page_shows_entries_that_have_no_counterpart_in_the_key() -> None:
    marking = marked(Q_OF_X2)
    page = write_markdown(marking_document(marking))
    assert "4 × 4 is written, where it is 2 × 4: so it follows from Q" in page
    assert page.count("→") > 4 * (4 + 4 + 4 + 2)
    (scores,) = (step for step in as_values(marking)["steps"] if step["name"] == "S")
    assert scores["entries"] == [["follows"] * 4] * 4


def test_a_slip_after_a_wrong_shape_is_the_only_wrong_entry_of_its_step() -> None:
    """Its right value is what follows: (X2 W_Q) (X2 W_K)ᵀ, rounded."""
    script = {name: matrix.copy() for name, matrix in Q_OF_X2.items()}
    right = float(cut((X2[3] @ W_Q) @ (X2[[1]] @ W_K).T)[0])
    script["S"][3, 1] += 5
    script = script_of(X2 @ W_Q, X2 @ W_K, X2 @ W_V, S=script["S"])
    marking = marked(script)
    marks = of(marking, "S")
    assert list(marks.places(Status.WRONG)) == [(3, 1)]
    assert marks.count(Status.FOLLOWS) == 15
    assert marks.expected[3, 1] == right
    assert all(not of(marking, name).count(Status.WRONG) for name in ("S_scaled", "A", "O"))
    assert any(f"S[4,2] is {right:.2f}, not {right + 5:.2f}" in text for text in verdict(marking))


def test_scores_of_keys_and_queries_exchanged_are_named_and_carried_on() -> None:
    """K Qᵀ is 4 × 2: weights of it cannot weigh V, and turned round they can, which costs nothing.

    Where the outputs are those of the key, they are as in the key and say so.
    """
    Q, K, V = X1 @ W_Q, X2 @ W_K, X2 @ W_V
    marking = marked(script_of(Q, K, V, S=K @ Q.T, turned=True))
    assert [cause.code for cause in of(marking, "S").causes] == ["scores-transposed"]
    assert of(marking, "A").count(Status.FOLLOWS) == 8
    assert [cause.code for cause in of(marking, "O").causes] == ["weights-turned"]
    assert marking.score == (6, 7)


def test_a_shape_that_nothing_can_read_is_marked_with_the_key_after_it() -> None:
    right = script_of(X1 @ W_Q, X2 @ W_K, X2 @ W_V)
    marking = marked({**right, "Q": np.ones((3, 5))})
    assert of(marking, "S").is_right
    assert "marked with the Q of the key" in " ".join(verdict(marking))


def test_a_step_in_the_right_shape_again_is_marked_by_the_key() -> None:
    right = script_of(X1 @ W_Q, X2 @ W_K, X2 @ W_V)
    marking = marked({**right, "Q": X2 @ W_Q})
    assert marking.score == (6, 7)
    assert all(of(marking, name).is_right for name in ("S", "A", "O"))


def test_blanks_and_masks_in_other_shapes_are_marked() -> None:
    """A mask for 2 queries does not cover 4; a blank means the value that should be there."""
    problem = Problem(**FIELDS, keep=[[1, 1, 0, 1], [0, 1, 1, 1]])
    script = {name: matrix.copy() for name, matrix in Q_OF_X2.items()}
    script["S"][0, 0] = np.nan
    marking = marked(script, problem)
    assert of(marking, "S").count(Status.FOLLOWS) == 15
    assert of(marking, "A").count(Status.WRONG_SHAPE) == 8
    assert of(marking, "O").count(Status.FOLLOWS) == 8
    write_markdown(marking_document(marking))


def test_several_heads_of_another_length_are_carried_on() -> None:
    fields = FIELDS | {"heads": 2, "W_O": np.eye(2)}
    Q, K, V = (cut(np.stack(np.split(X2 @ W, 2, axis=1))) for W in (W_Q, W_K, W_V))
    S = cut(Q @ K.swapaxes(1, 2))
    A = cut(planting.softmax(S))
    H = cut(A @ V)
    C = np.concatenate(list(H), axis=1)
    script = {"Q": cut(X2 @ W_Q), "K": K, "V": V, "S": S, "A": A, "H": H, "C": C, "O": C}
    marking = marked(script, Problem(**fields))
    assert marking.score == (7, 8)
    assert of(marking, "A").statuses.shape == (2, 4, 4)


@pytest.mark.slow
def test_an_output_wide_of_the_mark_is_marked_where_heads_may_be_out_of_order() -> None:
    """Two mistakes at once are tried: the first leaves two heads, the second reorders three."""
    Q = np.arange(24.0).reshape(2, 12) % 5
    of_keys = [np.arange(24.0).reshape(2, 12) % 7, np.arange(30.0).reshape(2, 15) % 6]
    problem = Problem(X=[[1, 2]], Q=Q, W_K=of_keys[0], W_V=of_keys[1], heads=3)
    found = marked({"O": np.array([[2.0, 2.0]])}, problem, atol=12.0)
    assert not found.score.earned


def test_a_column_is_not_repeated_for_a_product_that_needs_more() -> None:
    problem = Problem(X1=X1, X2=X2, W_Q=W_Q, W_K=W_K, W_V=W_V, bias=np.zeros((2, 4)))
    answer = {"Q": [[1], [0]], "S_scaled": [["", "4", "", ""], ["", "", "", ""]]}
    marking = check(problem, answer)
    assert "Later steps are marked with the Q of the key." in " ".join(marking.verdict)
