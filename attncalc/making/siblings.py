"""Siblings: other problems that are as hard as a given one."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

from attncalc.base.errors import InputError, about
from attncalc.making.asking import asked_of_recipe, typed_entries, wishes_of
from attncalc.making.drawing import given_upright
from attncalc.making.judging import lines_of, mean_spread
from attncalc.making.wishes import Wishes
from attncalc.problem.problem import Problem
from attncalc.solving.solution import Solution, solve

SPREADS = (Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(101, 100))
"""The limits of classes of spread, by the mean of e^H / n."""
ANY_SCORE = "1000000"


OF_ALL_SIBLINGS = ("entries", "margin", "same_digits", "sharp", "spread", "largest_score",
                   "tell_apart")  # fmt: skip
"""Conditions that siblings inherit from the recipe of the problem."""
COUNTED = ("ties", "second_lines", "negatives", "mean_spread")
"""Conditions that are counted in a problem, unless its siblings have others."""


def wishes_like(problem: Problem, asked: Mapping[str, Any], place: str = "") -> Wishes:
    """Return the conditions that a problem satisfies, so that its siblings are as hard.

    They have the shapes of its matrices, its conventions, numbers of the same kind, the same number
    of ties, second lines and negative entries, and a similar spread of weights. If it contains the
    conditions that it was made by, these apply again.

    Raises InputError if a condition is about what the problem determines, such as its sizes; if its
    `made_by` cannot be read; or if it cannot be solved.

    asked: conditions that differ for its siblings.
    place: its source, for messages.
    """
    for name in asked:
        if name not in (*OF_ALL_SIBLINGS, *COUNTED):
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"again: the problem already sets it; omit {flag}")
    with about(place):
        taken = wishes_taken_over(problem)
        wishes_of(taken)
        solution = solve(problem)
        found = _found(solution)
    wishes = wishes_of(
        taken | dict(asked), **{name: value for name, value in found.items() if name not in asked}
    )
    most = sum(prod(solution.shape_of(step.name)[:-1]) for step in solution.all_weights)
    for name in ("ties", "second_lines"):
        count = getattr(wishes, name)
        if count is not None and not 0 <= count <= most:
            raise InputError(f"{name} takes {'0 to ' * (most > 0)}{most} outputs, not {count}")
    return wishes


def wishes_taken_over(problem: Problem) -> dict[str, Any]:
    """Return the conditions of a problem's siblings, as typed."""
    if not problem.made_by:  # a problem that was not made by attncalc, and has no conditions
        anything = {"sharp": True, "tell_apart": False, "largest_score": ANY_SCORE}
        return {"entries": _entries(problem), "margin": "none", **anything}
    asked = asked_of_recipe(problem.made_by)
    kept = {name: asked[name] for name in OF_ALL_SIBLINGS if name in asked}
    return {"entries": _entries(problem), **kept}


def _found(solution: Solution) -> dict[str, Any]:
    """Return the countable properties of a problem."""
    problem = solution.problem
    ties, seconds = lines_of(solution)
    has_one = problem.what in ("self", "encoder")
    found: dict[str, Any] = {
        "like": problem,
        "kind": problem.what,
        "tokens": problem.n or 1,
        "keys": None if has_one else problem.m,
        "settings": {"heads": problem.n_heads},
        "ties": ties,
        "second_lines": seconds,
        "negatives": sum(value < 0 for value in _values(problem)),
    }
    if solution.all_weights:
        spread = mean_spread(solution)
        found["mean_spread"] = next(pair for pair in pairwise(SPREADS) if spread <= pair[1])
    return found


def _values(problem: Problem) -> list[Fraction]:
    return [Fraction(v) for matrix in given_upright(problem).values() for v in matrix.flat]


def _entries(problem: Problem) -> str:
    return typed_entries(set(_values(problem))).text
