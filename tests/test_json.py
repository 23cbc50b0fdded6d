"""The JSON that programs read."""

import json
from typing import Any

from attncalc import __version__, cross_attention, read_problem, self_attention, solve
from attncalc.problem.samples import sample
from attncalc.writing.page import Contents, make_page
from attncalc.writing.page_data import write_json


def content(solution: Any) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(
        "".join(write_json(make_page(solution, Contents(solution.steps))))
    )
    return loaded


def test_the_homework_as_json_contains_every_field() -> None:
    found = content(solve(read_problem(sample("self").path)))
    steps = {step["name"]: step for step in found.pop("steps")}
    assert found == {
        "attncalc": __version__,
        "kind": "self",
        "title": "Three tokens",
        "problem": json.loads(sample("self").path.read_text()),
        "conventions": {"scale": 1.0, "rounding": "each-step", "decimals": 2},
        "connections": [
            {"output": "1", "most": [{"input": "3", "weight": 1.0}], "second": []},
            {"output": "2", "most": [{"input": "3", "weight": 1.0}], "second": []},
            {
                "output": "3",
                "most": [{"input": "1", "weight": 0.62}],
                "second": [{"input": "2", "weight": 0.38}],
            },
        ],
        "notes": ["with full precision (--rounding display), 3 of 42 entries differ"],
    }
    assert list(steps) == ["Q", "K", "V", "S", "A", "O"]
    assert steps["O"] == {
        "name": "O",
        "formula": "A V",
        "rows": ["1", "2", "3"],
        "columns": ["1", "2"],
        "values": [[-2.0, -3.0], [-2.0, -3.0], [1.17, 0.21]],
        "shown": [["-2.00", "-3.00"], ["-2.00", "-3.00"], ["1.17", "0.21"]],
    }


def test_values_have_full_precision_and_shown_has_the_digits() -> None:
    """softmax(1, 0) is 1 / (1 + e⁻¹) = 0.7310585786300049 (float64)."""
    found = content(self_attention([[1], [0]], [[1]], [[1]], [[1]], labels=["a", "a"]))
    weights = next(step for step in found["steps"] if step["name"] == "A")
    assert weights["values"][0] == [0.7310585786300049, 0.2689414213699951]
    assert weights["shown"][0] == ["0.73", "0.27"]
    assert weights["rows"] == weights["columns"] == ["a (1)", "a (2)"]
    assert weights["formula"] == "softmax(S_scaled)"


def test_the_scale_is_the_number_the_scores_are_multiplied_by() -> None:
    for scale, factor in (("sqrt_dk", 0.5), ("none", 1.0), ("1/4", 0.25), (3, 3.0)):
        wide = [[1, 1, 1, 1]]
        found = content(self_attention([[1]], wide, wide, [[1]], scale=scale))
        assert found["conventions"]["scale"] == factor


def test_cross_attention_names_rows_by_queries_and_columns_by_keys() -> None:
    solution = cross_attention(
        [[1]], [[1], [2]], [[1]], [[1]], [[1]], labels={"X1": ["q"], "X2": ["\x1b!", 'k"']}
    )
    found = content(solution)
    weights = next(step for step in found["steps"] if step["name"] == "A")
    assert (found["kind"], weights["rows"], weights["columns"]) == ("cross", ["q"], ["\x1b!", 'k"'])


def test_no_value_is_minus_zero() -> None:
    """0 · -1 is -0.0 in floats, and 0 for a reader."""
    solution = self_attention([[0]], [[1]], [[1]], [[-1]])
    written = "".join(write_json(make_page(solution, Contents(solution.steps))))
    assert '"V"' in written
    assert "-0.0" not in written
