"""Layers of programs that do one thing otherwise throughout: named, from one output alone."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import mostly_slow
from gradient_kinds import Chance

from attncalc import Problem, check, solve

Fields = dict[str, Any]
Changes = Callable[[Problem], Problem]


def layer(chance: Chance, d: int = 4) -> Fields:
    weights = {name: chance.numbers(d, d) for name in ("W_Q", "W_K", "W_V", "W_O")}
    forward = {"W_1": chance.numbers(d, 6), "W_2": chance.numbers(6, d), "b_1": chance.numbers(6)}
    norms = {f"{each}_{n}": chance.numbers(d) for each in ("gamma", "beta") for n in (1, 2)}
    return weights | forward | norms


def post() -> Problem:
    chance = Chance(1)
    return Problem(block="encoder", X=chance.numbers(4, 4), heads=2, **layer(chance), decimals=4)


def pre() -> Problem:
    chance = Chance(2)
    fields = {name: each for name, each in layer(chance).items() if not name.startswith("beta")}
    return Problem(
        block="decoder",
        X=chance.numbers(4, 4),
        heads=2,
        norm="pre",
        normalization="rms",
        eps=1e-6,
        activation="silu",
        W_3=chance.numbers(4, 6),
        **fields,
    )


def stack() -> Problem:
    chance = Chance(3)
    layers = [layer(chance), layer(chance)]
    return Problem(
        block="decoder", X=chance.numbers(4, 4), heads=2, layers=layers, positions="rope",
        norm="pre", activation="gelu",
    )  # fmt: skip


def crossing() -> Problem:
    chance = Chance(4)
    sides = [{name: chance.numbers(4, 4) for name in ("W_Q", "W_K", "W_V")} for _ in range(2)]
    return Problem(
        X1=chance.numbers(3, 4), X2=chance.numbers(3, 4), self=sides[0], cross=sides[1], norm="pre"
    )


def memory(problem: Problem) -> Problem:
    """Return the result of a cross-attention for its query tokens."""
    own = solve(problem)["N_2"]
    return replace(problem, X2=own)


def with_settings(**settings: Any) -> Changes:
    if settings.get("norm") == "none":  # how tokens would be normalized is then read by nothing
        settings |= {"normalization": "layer", "eps": "1e-5", "eps_place": "inside", "ddof": 0}
    return lambda problem: replace(problem, **settings)


def exchanged(one: str, other: str) -> Changes:
    return lambda problem: replace(
        problem, **{one: getattr(problem, other), other: getattr(problem, one)}
    )


def less_one(problem: Problem) -> Problem:
    gains = {name: getattr(problem, name) - 1 for name in ("gamma_1", "gamma_2")}
    return replace(problem, **gains)


BUGS: dict[str, tuple[Callable[[], Problem], Changes, str]] = {
    # the layers, what is done otherwise in them, and the code that names it
    "norm before": (post, with_settings(norm="pre"), "norm-place:pre"),
    "norm behind": (pre, with_settings(norm="post"), "norm-place:post"),
    "no norm": (
        lambda: replace(pre(), gamma_1=None, gamma_2=None),
        with_settings(norm="none"),
        "norm-place:none",
    ),
    "by the mean square": (post, with_settings(normalization="rms"), "norm-other:rms"),
    "to mean 0": (pre, with_settings(normalization="layer"), "norm-other:layer"),
    "of a sample": (post, with_settings(ddof=1), "variance-other-count"),
    "epsilon outside": (post, with_settings(eps_place="outside"), "eps-outside"),
    "another epsilon": (pre, with_settings(eps=1e-5), "eps-other:1e-05"),
    "no epsilon": (post, with_settings(eps=0), "eps-forgotten"),
    "gains without the 1": (pre, less_one, "gains-less-one"),
    "another function": (pre, with_settings(activation="gelu"), "activation-other:gelu"),
    "another function in all": (stack, with_settings(activation="relu"), "activation-other:relu"),
    "nothing is added": (post, with_settings(residual=False), "residual-forgotten"),
    "weights exchanged": (pre, exchanged("W_K", "W_V"), "weights-swapped"),
    "a mask that is not asked for": (post, with_settings(causal=True), "mask-not-asked"),
    "no mask in all": (stack, with_settings(causal=False), "mask-forgotten"),
    "no scale in all": (stack, with_settings(scale="none"), "scale-forgotten"),
    "other pairs in all": (
        lambda: replace(stack(), heads=1),
        with_settings(rope_pairing="interleaved"),
        "rope-pairing",
    ),
    "no memory": (crossing, memory, "wrong-source:X1"),
}


def cases() -> list[tuple[str, str]]:
    """Return each bug with what is dumped: of stacks the outputs alone, for time."""
    alone = [(what, "Y") for what in BUGS]
    return alone + [(what, "all") for what, (make, *_) in BUGS.items() if make is not stack]


@pytest.mark.parametrize("case", mostly_slow(cases(), every=40, of_slow=2))
def test_a_different_convention_is_named(case: tuple[str, str], tmp_path: Path) -> None:
    """From only the last outputs, and from all steps; a right dump has no finding."""
    what, kept = case
    make, change, code = BUGS[what]
    problem = make()
    there = solve(change(problem))
    names = {step.name for step in solve(problem).plan}
    steps = {step.name: there[step.name] for step in there.plan if step.name in names}
    np.savez(tmp_path / "dump.npz", **({"Y": steps["Y"]} if kept == "Y" else steps))
    marking = check(problem, tmp_path / "dump.npz", atol=1e-9)
    first = next(marks for marks in marking.steps if marks.causes)
    found = {cause.code for cause in first.causes}
    assert code in found or (kept == "all" and code.partition(":")[0] in ALSO)
    right = solve(problem)
    np.savez(tmp_path / "right.npz", **{name: right[name] for name in steps})
    assert not any(
        marks.causes for marks in check(problem, tmp_path / "right.npz", atol=1e-9).steps
    )


ALSO = ("norm-place", "weights-swapped", "wrong-source", "scale-forgotten", "eps-forgotten")
"""A finding that one step shows, such as tokens that are not normalized."""


@pytest.mark.slow
def test_rounded_digits_get_the_same_statements(tmp_path: Path) -> None:
    """Of numbers rounded to four decimals, a sample's variance everywhere."""
    problem = post()
    there = solve(replace(problem, ddof=1))
    answer = {"Y": [[f"{x:.4f}" for x in row] for row in there["Y"]]}
    marks = next(marks for marks in check(problem, answer).steps if marks.causes)
    assert [cause.code for cause in marks.causes] == ["variance-other-count"]
    assert marks.causes[0].says == "the variance is divided by d - 1"
