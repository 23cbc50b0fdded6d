"""Gradients in answers: names as people write them, and planted mistakes that are found."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import planting
import pytest
from conftest import mostly_slow
from test_recipes import causes, texts

from attncalc import Problem
from attncalc.grading.key import Key
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.rules import NUMBER_OF, Rules, Status
from attncalc.grading.slack import ToTheDigit, Within
from attncalc.reading.answers import read_answer_bytes

Script = dict[str, np.ndarray]
Fields = dict[str, Any]

X = np.array([[1.0, -1, 0.5], [0, 2, 1], [-1, 0.5, 2]])
W_Q = np.array([[0.5, 1, 0], [1, 0, -0.5], [0, 0.5, 1]])
W_K = np.array([[1, 0.5, 0], [0, 1, 0.5], [-0.5, 0, 1]])
W_V = np.array([[1, 0, 2], [0.5, -1, 0], [0, 1.5, 1]])
TARGET = np.array([[1.0, 0, 2], [0, 1, 1], [-1, 0.5, 0]])
SELF: Fields = {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "target": TARGET, "decimals": 4}


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def by_hand(causal: bool = False) -> Script:
    """Return every step, forward and backward, in plain numpy."""
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    S = Q @ K.T
    scaled = S / 3**0.5
    masked = np.where(np.tril(np.ones((3, 3))) > 0, scaled, -np.inf) if causal else scaled
    A = softmax(masked)
    outputs = A @ V
    missed = outputs - TARGET
    made = {"Q": Q, "K": K, "V": V, "S": S, "S_scaled": scaled}
    made |= {"S_masked": masked} if causal else {}
    made |= {"A": A, "O": outputs, "L": np.array([[(missed**2).sum() / 2]]), "dO": missed}
    made["dV"], made["dA"] = A.T @ missed, missed @ V.T
    back = A * (made["dA"] - (A * made["dA"]).sum(axis=1, keepdims=True))
    made |= {"dS_masked": back} if causal else {}
    made |= {"dS_scaled": back, "dS": back / 3**0.5}
    made["dQ"], made["dK"] = made["dS"] @ K, made["dS"].T @ Q
    made |= {f"dW_{name}": X.T @ made[f"d{name}"] for name in "QKV"}
    weights = {"Q": W_Q, "K": W_K, "V": W_V}
    made |= {f"dX_{name}": made[f"d{name}"] @ weights[name].T for name in "QKV"}
    made["dX"] = made["dX_Q"] + made["dX_K"] + made["dX_V"]
    return made


def marked(fields: Fields, script: Script, tolerance: float | None = None) -> Marking:
    """Mark a script; of a program's dump within a tolerance."""
    problem = Problem(**fields)
    slack = ToTheDigit(problem.decimals) if tolerance is None else Within(tolerance, 0.0)
    key = Key(problem, slack)
    if tolerance is None:
        answer = {name: texts(matrix, problem.decimals) for name, matrix in script.items()}
    else:
        answer = {name: matrix.tolist() for name, matrix in script.items()}
    rules = Rules(asked=tuple(script), atol=tolerance)
    with key.names_at_hand():
        return mark(key, read_answer_bytes(json.dumps(answer).encode(), "answer.json"), rules)


Planted = tuple[str, str, Callable[[Script], np.ndarray]]


def mistakes() -> Iterator[Planted]:
    """Yield each mistake: its code, its step, and what is written there."""
    yield "transpose-forgotten", "dV", lambda m: m["A"] @ m["dO"]
    yield "transpose-forgotten", "dK", lambda m: m["dS"] @ m["Q"]
    yield "transpose-forgotten", "dW_Q", lambda m: X @ m["dQ"]
    yield "transpose-forgotten", "dA", lambda m: m["dO"] @ m["V"]
    yield "transpose-forgotten", "dX_V", lambda m: m["dV"] @ W_V
    yield "product-turned", "dA", lambda m: m["V"] @ m["dO"].T
    yield "weights-turned", "dQ", lambda m: m["dS"].T @ m["K"]
    yield "gradient-swapped:dK", "dW_Q", lambda m: X.T @ m["dK"]
    yield "factor-swapped:K", "dK", lambda m: m["dS"].T @ m["K"]
    yield "jacobian-diagonal", "dS_scaled", lambda m: m["dA"] * m["A"] * (1 - m["A"])
    yield (
        "rowsum-axis",
        "dS_scaled",
        lambda m: m["A"] * (m["dA"] - (m["A"] * m["dA"]).sum(axis=0, keepdims=True)),
    )
    yield "rowsum-forgotten", "dS_scaled", lambda m: m["A"] * m["dA"]
    yield (
        "rowsum-unweighted",
        "dS_scaled",
        lambda m: m["A"] * (m["dA"] - m["dA"].sum(axis=1, keepdims=True)),
    )
    yield "softmax-back-forgotten", "dS_scaled", lambda m: m["dA"]
    yield "scale-back-forgotten", "dS", lambda m: m["dS_scaled"]
    yield "scale-back-twice", "dS", lambda m: m["dS_scaled"] / 3
    yield "scale-back-inverse", "dS", lambda m: m["dS_scaled"] * 3**0.5
    yield "part-not-added:dX_V", "dX", lambda m: m["dX_Q"] + m["dX_K"]
    yield "part-alone:dX_Q", "dX", lambda m: m["dX_Q"]
    yield "negated", "dO", lambda m: TARGET - m["O"]
    yield "target-forgotten", "dO", lambda m: m["O"]


@pytest.mark.campaign(4)
@pytest.mark.parametrize(("code", "step", "make"), [(*each[:2], each[2]) for each in mistakes()])
def test_a_planted_mistake_is_named(code: str, step: str, make: Callable[..., np.ndarray]) -> None:
    script = by_hand()
    script[step] = make(script)
    del script["dX" if step != "dX" else "L"]
    assert code in causes(marked(SELF, script), step)


def test_a_gradient_that_is_not_0_where_the_mask_forbids_is_named() -> None:
    script = by_hand(causal=True)
    A, dA = softmax(script["S_scaled"]), script["dA"]
    script["dS_masked"] = A * (dA - (A * dA).sum(axis=1, keepdims=True))
    found = causes(marked(SELF | {"causal": True}, script), "dS_masked")
    assert "mask-gradient" in found
    script = by_hand(causal=True)
    script["dS_masked"] = np.where(np.triu(np.ones((3, 3)), 1) > 0, dA, script["dS_masked"])
    found = causes(marked(SELF | {"causal": True}, script), "dS_masked")
    assert "mask-gradient" in found


def test_a_forgotten_scale_is_found_without_dS() -> None:
    script = by_hand()
    script["dQ"] = script["dS_scaled"] @ script["K"]
    del script["dS"]
    assert "scale-back-forgotten" in causes(marked(SELF, script), "dQ")


ALONE: dict[str, tuple[str, str, Callable[[Script], np.ndarray]]] = {
    # what is done, and the code and the step of its cause, from dQ alone
    "its signs turned": ("negated", "dQ", lambda s: -s["dQ"]),
    "Q for K": ("factor-swapped:Q", "dQ", lambda s: s["dS"] @ s["Q"]),
    "dK for dQ": ("gradient-swapped:dK", "dQ", lambda s: s["dK"]),
    "dS transposed": ("weights-turned", "dQ", lambda s: s["dS"].T @ s["K"]),
    "K for V": ("factor-swapped:K", "dA", lambda s: through(s, s["dO"] @ s["K"].T)),
    "ones for what arrives": (
        "arriving-ones",
        "dA",
        lambda s: through(s, np.ones((3, 3)) @ s["V"].T),
    ),
    "V dOᵀ": ("product-turned", "dA", lambda s: through(s, s["dA"].T)),
    "no scale": ("scale-back-forgotten", "dS", lambda s: s["dS_scaled"] @ s["K"]),
}


def through(s: Script, dA: np.ndarray) -> np.ndarray:
    """Return dQ of another gradient of the weights."""
    return s["A"] * (dA - (s["A"] * dA).sum(axis=1, keepdims=True)) / 3**0.5 @ s["K"]


@pytest.mark.campaign(3)
@pytest.mark.parametrize("what", ALONE)
def test_the_cause_of_a_wrong_dQ_is_found_in_backpropagation(what: str) -> None:
    """What is left out may hold the mistake; V, all of whose signs do as much, did no wrong."""
    code, step, make = ALONE[what]
    fields = {**SELF, "dO": TARGET}
    del fields["target"]
    script = by_hand()
    script |= {"dO": TARGET, "dA": TARGET @ script["V"].T}
    script["dS_scaled"] = through(script, script["dA"]) @ np.linalg.inv(script["K"]) * 3**0.5
    script["dS"] = script["dS_scaled"] / 3**0.5
    script["dK"] = script["dS"].T @ script["Q"]
    script["dQ"] = script["dS"] @ script["K"]
    (marks,) = marked(fields, {"dQ": make(script)}, 1e-9).steps
    assert (marks.causes[0].code, marks.causes[0].step) == (code, step)


@pytest.mark.slow
def test_gradients_of_shared_heads_that_are_not_added_are_named() -> None:
    random = np.random.default_rng(3)
    Q, K, V = (random.normal(size=shape).round(2) for shape in ((2, 3, 2), (3, 2), (3, 2)))
    A = softmax(Q @ K.T / 2**0.5)
    dO = np.arange(12.0).reshape(3, 4) / 4
    each = np.stack(np.split(dO, 2, axis=1))
    both = A.swapaxes(-1, -2) @ each
    fields = {"Q": Q, "K": K, "V": V, "dO": dO, "decimals": 4}
    first = {"A": A, "dV": both[0]}
    assert "heads-not-added" in causes(marked(fields, first), "dV")
    assert "heads-averaged" in causes(marked(fields, {"A": A, "dV": both.mean(axis=0)}), "dV")
    right = marked(fields, {"A": A, "dV": both.sum(axis=0)})
    assert all(marks.is_right for marks in right.steps)


def test_a_result_of_a_mistake_is_not_a_second_mistake() -> None:
    """After half a Jacobian, dQ and dW_Q of the script's own dS follow."""
    script = by_hand()
    A, dA = script["A"], script["dA"]
    script["dS_scaled"] = dA * A * (1 - A)
    script["dS"] = script["dS_scaled"] / 3**0.5
    script["dQ"] = script["dS"] @ script["K"]
    marking = marked(SELF, {name: script[name] for name in ("A", "dA", "dS_scaled", "dS", "dQ")})
    (marks,) = (each for each in marking.steps if each.step.name == "dQ")
    assert not marks.causes
    assert (marks.statuses == NUMBER_OF[Status.FOLLOWS]).all()


def test_a_row_sum_that_is_rounded_within_a_step_is_accepted() -> None:
    script = {name: planting.cut(each, 2, "half-away") for name, each in by_hand().items()}
    A, dA = script["A"], script["dA"]
    mean = planting.cut((A * dA).sum(axis=1, keepdims=True), 2, "half-away")
    script["dS_scaled"] = planting.cut(A * (dA - mean), 2, "half-away")
    fields = SELF | {"decimals": 2, "rounding": "each-step"}
    marking = marked(fields, {name: script[name] for name in ("A", "dA", "dS_scaled")})
    assert not causes(marking, "dS_scaled")


NAMES = {
    "dQ": ("dQ", "dL/dQ", "∂L/∂Q", "grad_Q", "Q.grad", "grad Q", "gradient of Q", "dL_dQ", "∇_Q L"),
    "dW_Q": ("dW_Q", "dL/dW_Q", "∂L/∂W_Q", "grad_W_Q", "W_Q.grad", "dWq", "dL/dWq", "grad W_Q"),
    "dS_scaled": ("dS_scaled", "∂L/∂S_scaled", "S_scaled.grad"),
    "dX": ("dX", "X.grad", "dL/dX", "∂ℒ/∂X"),
    "dX_Q": ("dX_Q", "∂L/∂X via Q", "dX via Q"),
    "dV": (r"\frac{\partial L}{\partial V}", "dLoss/dV", "Gradient von V", "gradient de V"),
}


@pytest.mark.campaign(4)
@pytest.mark.parametrize(
    ("step", "name"), [(k, name) for k, names in NAMES.items() for name in names]
)
def test_gradients_are_known_by_the_names_that_people_write(step: str, name: str) -> None:
    script = by_hand()
    problem = Problem(**SELF)
    key = Key(problem, ToTheDigit(4))
    rows = "; ".join(" ".join(row) for row in texts(script[step], 4))
    with key.names_at_hand():
        in_json = read_answer_bytes(json.dumps({name: texts(script[step], 4)}).encode(), "a.json")
        in_text = read_answer_bytes(f"{name} = [{rows}]\n".encode(), "a.txt", key.expected)
    assert list(in_json.matrices) == [step]
    assert list(in_text.matrices) == [step]


def test_without_backward_there_are_no_gradients() -> None:
    """What is asked is the problem's to say: dQ is then nothing that is marked."""
    fields = {name: each for name, each in SELF.items() if name != "target"}
    key = Key(Problem(**fields), ToTheDigit(4))
    data = json.dumps({"Q": [["1", "2"]], "dQ": [["1", "2"]]}).encode()
    with key.names_at_hand():
        answer = read_answer_bytes(data, "a.json")
    assert list(answer.matrices) == ["Q"]


def test_a_dump_of_autograd_is_marked_within_a_tolerance() -> None:
    script = by_hand()
    dump = {f"{name}.grad": script[f"d{name}"] for name in ("Q", "K", "V", "W_Q", "X")}
    problem = Problem(**SELF)
    key = Key(problem, Within(1e-9, 0.0))
    data = json.dumps({name: each.tolist() for name, each in dump.items()}).encode()
    with key.names_at_hand():
        answer = read_answer_bytes(data, "a.json")
    marking = mark(key, answer, Rules(atol=1e-9))
    assert {marks.step.name for marks in marking.steps} == {"dQ", "dK", "dV", "dW_Q", "dX"}
    assert all(marks.is_right for marks in marking.steps)


SMALL: Fields = {"X": [[1, 2], [0, 1]], "W_V": [[2, 1], [1, 0]], "backward": True}
SQUARE: Fields = SMALL | {"W_Q": [[1, 0], [0, 1]], "W_K": [[1, 1], [0, 1]]}
OF_HEADS: Fields = SMALL | {
    "X": [[1, 2], [0, 1], [1, 0]],
    "W_Q": [[[1, 2, 0], [0, 1, 1]], [[0, 1, 1], [1, 0, 2]]],
    "W_K": [[1, 0, 1], [0, 2, 1]],
}
NO_CRASH = {
    "after a step": (SQUARE | {"step": "0.1"}, "Q_new"),
    "of gathered heads": (OF_HEADS, "dK"),
    "through a scale of 0": (SQUARE | {"scale": "0"}, "dS"),
    "of scores that are given": (
        {"S": [[1, 0], [0, 2]], "V": [[1, 2], [3, 4]], "scale": "none", "backward": True},
        "dS",
    ),
    "of weights that are given": ({"A": [[1, 0], [0.5, 0.5]], "V": [[1, 2], [3, 4]]}, "O"),
}


@pytest.mark.slow
@pytest.mark.campaign(2)
@pytest.mark.parametrize("kind", mostly_slow(NO_CRASH, 4))
def test_mistakes_are_marked_where_few_recipes_exist(kind: str) -> None:
    """Each of these once ended the check in a traceback."""
    fields, step = NO_CRASH[kind]
    key = Key(Problem(**fields), ToTheDigit(2))
    slip = key.shown[step].copy()
    slip.flat[-1] = 9
    for matrix in (slip, np.full(slip.shape, 9.0)):
        data = json.dumps({step: matrix.tolist()}).encode()
        with key.names_at_hand():
            answer = read_answer_bytes(data, "a.json")
        (marks,) = mark(key, answer, Rules(asked=(step,))).steps
        assert NUMBER_OF[Status.WRONG] in marks.statuses
