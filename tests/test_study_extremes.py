"""Studies of numbers near the ends of float64: exact beside fractions, or refused in a sentence."""

import json
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command

from attncalc import InputError, Problem, aim, simulate, vary

BEYOND = "exceeds the largest float64 (about 1.8e+308)"


def of_values(first: object, second: object, size: int = 2) -> dict[str, Any]:
    """Return a problem of one query whose values are all alike, so that O is that value."""
    values = [[first, second]] * size
    return {"Q": [[1, 0]], "K": np.eye(size, 2).tolist(), "V": values, "scale": "none"}


def exact_norm(*numbers: float) -> float:
    """Return a Euclidean norm by whole numbers alone."""
    total = sum(Fraction(number) ** 2 for number in numbers)
    digits = 10**400  # the smallest square of a float is some 1e-648
    return float(Fraction(isqrt(int(total * digits**2)), digits))


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [(3e307, 4e307), (1e200, -1e200), (3e-200, 4e-200)])
def test_norms_and_distances_are_those_of_fractions(first: float, second: float) -> None:
    problem = Problem(**of_values(first, second))
    watch = ["norm(O)", "norm(V[1,:])", "distance(O, V[2])"]
    found = vary(problem, "scale=0:1:3", watch=watch).found.values
    # 0 at scale 0; else A carries the last digits of e, so O is as near as float64 comes
    assert found[:, :2] == pytest.approx(exact_norm(first, second), rel=1e-15)
    assert found[:, 2] == pytest.approx(0.0, abs=abs(first) * 1e-15)


def test_a_mean_of_rows_whose_sum_overflows_is_right() -> None:
    problem = Problem(**of_values(1.5e308, 1e308))
    found = vary(problem, "scale=0:1:2", watch="error(O, mean V[1,2])").found.values
    assert (found <= 1e293).all()


@pytest.mark.parametrize("watch", ["norm(O)", "distance(O, K[1])"])
def test_a_norm_beyond_floats_is_refused_and_named(watch: str) -> None:
    problem = Problem(**of_values(1.7e308, 1.7e308))
    with pytest.raises(InputError) as refused:
        vary(problem, "scale=0:1:2", watch=watch)
    named = watch.replace("(O", "(O[1,:]")
    assert str(refused.value) == f"{named} {BEYOND} at some of these values: use a smaller range"


def test_the_norm_of_masked_scores_is_refused_and_their_entries_are_not() -> None:
    problem = Problem(Q=np.eye(2), K=np.eye(2), V=np.eye(2), causal=True)
    with pytest.raises(InputError) as refused:
        vary(problem, "scale=1,2", watch="norm(S_masked)")
    assert str(refused.value) == (
        '"norm(S_masked)": S_masked is -∞ where a mask forbids, so it has no norm and no '
        "distance: watch A, or single entries of S_masked"
    )
    found = vary(problem, "scale=1,2", watch=["S_masked[1,2]", "max(S_masked)"]).found.values
    assert found.tolist() == [[-np.inf, 1.0, 1.0], [-np.inf, 2.0, 2.0]]


@pytest.mark.parametrize("size", [1e300, 1e-300, 1.0])
def test_statistics_scale_with_the_numbers(size: float) -> None:
    """What is drawn for values a power of two larger is as much larger, to the last bit."""
    power = 2.0 ** round(np.log2(size))
    one, other = (
        simulate(
            Problem(Q=[[1, 0]], K=np.eye(2), V=np.array([[1, 2], [3, -1.0]]) * factor),
            "Q ~ N(mu, 0.1 I)",
            watch=["O", "norm(O)"],
            count=40,
        ).found[0]
        for factor in (1.0, power)
    )
    for left, right in zip(one.statistics, other.statistics, strict=True):
        assert np.array(right[1:4]) == pytest.approx(np.array(left[1:4]) * power, rel=1e-12)
        assert right.quantiles == pytest.approx(np.array(left.quantiles) * power, rel=1e-12)
    (left,), (right,) = one.directions, other.directions
    assert right.along == pytest.approx(left.along)
    assert right.std == pytest.approx(left.std * power, rel=1e-12)
    assert right.share == pytest.approx(left.share)


@pytest.mark.parametrize("size", [1e150, 1e-150])
def test_a_query_is_designed_for_keys_of_any_size(size: float) -> None:
    keys = np.array([[1.0, 0.0], [0.6, 0.8], [-0.6, 0.8]])
    values = np.eye(3)
    found = [
        aim(Problem(Q=[[0, 0]], K=keys * factor, V=values), "1/2 v_1 + 1/2 v_2").found
        for factor in (1.0, size)
    ]
    assert found[1].queries * size == pytest.approx(found[0].queries, rel=1e-9)
    assert found[1].weights == pytest.approx(found[0].weights)


EXTREMES = {
    "values": of_values("3e307", "4e307"),
    "ends": {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [["1.7e308", 1], ["-1.7e308", 2]]},
    "keys": {"Q": [["1e-200", 0]], "K": [["1e200", 0], [0, "1e200"]], "V": [[1, 2], [3, 4]]},
    "tiny": {"Q": [["1e-300", 0]], "K": [["1e-300", 0], [0, 1]], "V": [["1e-308", 0], [0, 1]]},
}
COMMANDS = [
    ("vary", "scale=0:2:3", "--watch", "O,norm(O),norm(K),distance(O, V[1])"),
    ("vary", "V*=0.1:1:3", "scale=0.1:1:3", "--watch", "norm(O)", "-o", "out.png"),
    ("aim", "v_1"),
    ("aim", "1/3 v_1 + 2/3 v_2", "--within", "0.001", "--format", "json"),
    ("aim", "v_1", "--beta", "1e308"),
    ("simulate", "Q ~ N(mu, 0.1 I)", "--draws", "20"),
    ("simulate", "V ~ U(-1e308, 1e308)", "--draws", "20", "--watch", "O,norm(O)"),
    ("simulate", "V ~ N(mu, 1e300 I)", "--draws", "20", "-o", "out.png"),
    ("simulate", "V ~ N(1e308 mu, 1e308 mu mu^T)", "--draws", "20"),
    ("simulate", "V ~ N(mu, 0.1 I)", "--draws", "20", "--until", "1e-300"),
    ("simulate", "V ~ N(mu, 0.1 I)", "--draws", f"1{'0' * 320}"),
]


@pytest.mark.campaign(9)
@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_study_shows_inf_or_nan_or_a_warning(
    attncalc: Command, tmp_path: Path, name: str, arguments: tuple[str, ...]
) -> None:
    """Warnings are errors in tests, and would end with code 3."""
    (tmp_path / "in.json").write_text(json.dumps(EXTREMES[name]))
    command, *rest = arguments
    run = attncalc(command, "in.json", *rest)
    assert run.code in (0, 2)
    assert "Warning" not in run.err
    words = run.out.replace(",", " ").split()
    assert not {"inf", "nan", "Infinity", "NaN"} & set(words)
