"""What another choice would change: another scale, no mask, weights of 0 where they show as 0.

Each is the same plan once more, run on a problem that differs in that alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import ROUND_UP, Context, Decimal
from itertools import islice
from typing import Any

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.rounding import blocks_of_rows
from attncalc.numbers.types import Matrix, Place
from attncalc.operations.step import run
from attncalc.patterns.pattern import MOST_LISTED, Amount, Pattern
from attncalc.patterns.view import Rows, amount, counted, forbidden, rows_of, weights_name
from attncalc.problem.attention.fields import SQRT_DK
from attncalc.problem.problem import Problem
from attncalc.solving.solution import Solution, given_in_decimals, solve

NO_SCALE = "none"
UP = Context(prec=2, rounding=ROUND_UP)
"""How a bound is shown: with two digits, and never too low."""


def scaling(solution: Solution) -> Iterator[Pattern]:
    """Yield how spread the rows are, and would be with scores that are scaled another way."""
    scale = solution.problem.scale
    other: Any = NO_SCALE if scale not in (NO_SCALE, 1) else SQRT_DK
    if SQRT_DK in (scale, other) and solution.problem.d_k == 1:
        return  # divided by 1, nothing changes
    changed = _solved(solution, replace(solution.problem, scale=other, asked=None))
    if changed is None:
        return
    own, others = _all_rows(solution), _all_rows(changed)
    known = np.isfinite(own.entropy) & np.isfinite(others.entropy)
    if known.any() and solution.problem.m > 1:
        values = {
            "scale": scale if isinstance(scale, str) else float(scale),
            "other": other,
            "d_k": solution.problem.d_k,
            "entropy": _with_and_without(solution, own.entropy[known], others.entropy[known]),
            "effective": _with_and_without(solution, own.effective[known], others.effective[known]),
        }
        yield Pattern("scaling", weights_name(solution), values)


def _with_and_without(solution: Solution, own: Matrix, others: Matrix) -> dict[str, Any]:
    return {"here": amount(solution, own.mean()), "other": amount(solution, others.mean())}


def _all_rows(solution: Solution) -> Rows:
    each = [rows_of(head.weights) for head in solution.heads]
    return Rows(*(np.concatenate(parts) for parts in zip(*each, strict=True)))


def _solved(solution: Solution, problem: Problem) -> Solution | None:
    """Return the weights of another problem; None where its numbers grow beyond floats."""
    try:
        return solve(problem, keep=(weights_name(solution),))
    except InputError:
        return None


def masked(solution: Solution) -> Iterator[Pattern]:
    """Yield how many weights a mask forbids, and how large they would be without it."""
    where = forbidden(solution)
    if where is None:
        return
    open_to_all: dict[str, Any] = {
        "causal": False,
        "keep": None,
        "ignore": None,
        "bias": None,
        "asked": None,
    }
    free = _solved(solution, replace(solution.problem, **open_to_all))
    if free is None:
        return
    heads = [head.weights for head in solution.heads]
    parted = [where] * len(heads) if where.ndim == 2 else list(where)
    pairs = zip(parted, free.heads, strict=True)
    taken = np.array([np.where(at, head.weights, 0).sum(axis=1) for at, head in pairs])
    moved = [
        np.abs(own - head.weights).sum(axis=1) / 2
        for own, head in zip(heads, free.heads, strict=True)
    ]
    number, output = np.unravel_index(int(taken.argmax()), taken.shape)
    values = {
        "forbidden": sum(int(np.broadcast_to(at, heads[0].shape).sum()) for at in parted),
        "of": sum(each.size for each in heads),
        "mean": amount(solution, taken.mean()),
        "most": {
            "output": int(output) + 1,
            "head": solution.heads[int(number)].number,
            "taken": amount(solution, taken.max()),
        },
        "moved": amount(solution, np.max(moved)),
        "adds": solution.problem.bias is not None,
    }
    yield Pattern("masked", weights_name(solution), values)


def rounded_away(solution: Solution) -> Iterator[Pattern]:
    """Yield which weights are not 0 and show as 0, and how much they matter to an output."""
    name = weights_name(solution)
    made = solution.exact[name]
    hidden = _hidden(solution, made)
    count = int(hidden.sum())
    if not count:
        return
    change = np.abs(_outputs(solution, np.where(hidden, made, made * 0)))
    values: dict[str, Any] = {
        "step": name,
        "count": count,
        "weights": [
            _shown_place(solution, place) for place in islice(_places(hidden), MOST_LISTED)
        ],
        "decimals": solution.problem.decimals,
    }
    values["change"] = _bound(change.max())
    values["output"] = int(np.unravel_index(int(change.argmax()), change.shape)[0]) + 1
    yield Pattern("rounded-away", name, values)


def _hidden(solution: Solution, made: Matrix) -> Matrix:
    digits = solution.digits[weights_name(solution)]
    hidden = np.zeros(made.shape, bool)
    for place in blocks_of_rows(made.shape):
        hidden[place] = (made[place] != 0) & (np.asarray(digits[place]) == 0)
    return hidden


def _outputs(solution: Solution, weights: Matrix) -> Matrix:
    """Return how far these weights move the outputs: what follows them, less what 0 gives."""
    name = weights_name(solution)
    place = [step.name for step in solution.plan].index(name)
    after = solution.plan[place + 1 :]
    with solution.arithmetic():
        known: Mapping[str, Matrix] = solution.problem.given
        if solution.is_exact:
            known = given_in_decimals(solution.problem)
        known = {**known, **solution.carried}
        moved = run(after, {**known, name: weights})[after[-1].name]
        still = run(after, {**known, name: weights * 0})[after[-1].name]
        return np.asarray(moved - still)


def _bound(value: Any) -> Amount:
    """Return a bound, shown with two digits that are rounded up: 0.0038, or 4.7×10^-13."""
    bound = UP.create_decimal(Decimal(value))
    power = bound.adjusted() if bound else 0
    if -5 < power < 6:
        return Amount(float(value), f"{bound:f}")
    return Amount(float(value), f"{bound.scaleb(-power):f}×10^{power}")


def _places(hidden: Matrix) -> Iterator[Place]:
    """Yield where entries are hidden, row by row: of a large matrix they are millions."""
    for place in np.ndindex(hidden.shape[:-1]):
        for column in np.flatnonzero(hidden[place]).tolist():
            yield (*place, column)


def _shown_place(solution: Solution, place: Place) -> list[int]:
    """Return where an entry is shown, counted from 1: its head where there are any, row, column."""
    return counted(solution.problem.standing.place(place))
