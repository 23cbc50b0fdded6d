"""What a verdict may say: of two entries, quotients, causes to the digit, and how one rounds."""

import json
import math
import random
import re
from fractions import Fraction
from typing import Any

import numpy as np
import planting
import pytest

from attncalc import Problem
from attncalc.base.errors import AttncalcError
from attncalc.grading.key import Key
from attncalc.grading.marking import mark
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Rules
from attncalc.grading.slack import ToTheDigit
from attncalc.reading.answers import read_answer_bytes
from attncalc.writing.prose import line_in_text
from attncalc.writing.verdict import verdict

QUOTIENT = re.compile(r"= ([\d.]+) / ([\d.]+) ≈ ([\d.]+)$")
QS = np.array([[1.0, -1.5], [0.5, 2.0]])
GIVEN: dict[str, Any] = {"X": QS, "W_Q": np.eye(2), "W_K": np.eye(2), "W_V": np.eye(2)}


def marked(fields: dict[str, Any], **answer: Any) -> Marking:
    problem = Problem(**fields)
    data = json.dumps(answer).encode()
    key = Key(problem, ToTheDigit(problem.decimals))
    return mark(key, read_answer_bytes(data, "a.json"), Rules(asked=tuple(answer)))


def test_both_of_two_entries_are_two_entries() -> None:
    fields = {"X": [[1], [2]]} | {f"W_{side}": [[1]] for side in "QKV"}
    said = " ".join(verdict(marked(fields, Q=[["7.25"], ["9.5"]])))
    assert "2 entries of Q are wrong." in said
    assert "All 2" not in said


@pytest.mark.slow
def test_a_quotient_has_enough_digits_for_its_result() -> None:
    """0.02 / 0.03 is 0.67, and the weight is 0.60: four digits give it."""
    fields = {"X": [[1], [1.1]], "W_Q": [[-4]], "W_K": [[1]], "W_V": [[1]], "scale": "none"}
    said = " ".join(verdict(marked(fields, A=[["0.10", "0.90"], ["0.60", "0.40"]])))
    powers = math.exp(-4), math.exp(-4.4)
    assert f"{powers[0]:.4f} / {sum(powers):.4f} ≈ 0.60" in said


@pytest.mark.parametrize("seed", range(8))
def test_no_quotient_is_written_that_has_another_result(seed: int) -> None:
    """Read back from the text with fractions: what is divided, rounded, is the result."""
    task = planting.random_task(random.Random(seed))
    task.fields["W_Q"] = (-np.abs(task.given["W_Q"])).tolist()  # small powers, few digits
    key = Key(Problem(**task.fields), ToTheDigit(task.decimals))
    try:
        places = list(np.ndindex(key.shown["A"].shape))
    except AttncalcError:
        return
    lines = [line_in_text(key.work.line("A", place)) for place in places]
    found = [match.groups() for line in lines if (match := QUOTIENT.search(line))]
    for top, bottom, result in found:
        half = Fraction(1, 2 * 10**task.decimals)
        assert abs(Fraction(top) / Fraction(bottom) - Fraction(result)) <= half, (top, bottom)
    assert found


def test_a_cause_must_match_all_written_decimals() -> None:
    """S / 2 in four decimals is named; what agrees with it in the key's two alone is not."""
    S = (QS @ QS.T).tolist()
    by_d_k = QS @ QS.T / 2
    texts = [[f"{value:.4f}" for value in row] for row in by_d_k]
    _, marks = marked(GIVEN, S=S, S_scaled=texts).steps
    assert [cause.code for cause in marks.causes] == ["scale-dk"]
    nearly = [[f"{value + 0.0031:.4f}" for value in row] for row in by_d_k]
    _, marks = marked(GIVEN, S=S, S_scaled=nearly).steps
    assert marks.causes == ()
    rounded = [[f"{value + 0.0031:.2f}" for value in row] for row in by_d_k]
    _, marks = marked(GIVEN, S=S, S_scaled=rounded).steps
    assert [cause.code for cause in marks.causes] == ["scale-dk"]


@pytest.mark.parametrize(
    ("tokens", "queries", "says"),
    [
        ([0.5, 0.7, 0.6], ["0.2", "0.4", "0.3"], ""),
        ([0.5, 0.7, 0.9], ["0.2", "0.4", "0.4"], "halves go to the even digit"),
        ([0.56, 0.6, 0.4], ["0.2", "0.3", "0.2"], ""),
        ([0.56, 0.78, 0.4], ["0.2", "0.3", "0.2"], "digits are cut off, not rounded"),
    ],
)
def test_a_rule_of_rounding_is_reported_if_two_entries_show_it(
    tokens: list[float], queries: list[str], says: str
) -> None:
    """0.25, 0.35 and 0.45, or 0.28 and 0.39, to one decimal; one entry has no remark."""
    fields = {"X": [[token] for token in tokens], "W_Q": [[0.5]], "W_K": [[1]], "W_V": [[1]]}
    marking = marked(fields | {"decimals": 1}, Q=[[query] for query in queries])
    assert marking.is_right
    said = " ".join(verdict(marking))
    assert says in said
    if not says:
        assert "halves" not in said
        assert "cut off" not in said
