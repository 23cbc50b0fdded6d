"""What another choice would change: another scale, no mask, weights of 0 where they show as 0.

Each is the same plan once more, run on a problem, or an attention, that differs in that alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_UP, Context, Decimal
from itertools import islice
from typing import Any

import numpy as np

from attncalc.numbers.rounding import blocks_of_rows
from attncalc.numbers.types import Matrix, Place
from attncalc.patterns.attended import Attended
from attncalc.patterns.pattern import MOST_LISTED, Amount, Pattern
from attncalc.patterns.view import Rows, counted, rows_of
from attncalc.problem.attention.declared import SQRT_DK
from attncalc.problem.step import run
from attncalc.solving.solution import Solution, given_in_decimals

NO_SCALE = "none"
UP = Context(prec=2, rounding=ROUND_UP)
"""How a bound is shown: with two digits, and never too low."""


def scaling(attended: Attended) -> Iterator[Pattern]:
    """Yield how spread the rows are, and would be with scores that are scaled another way."""
    fields = attended.fields
    scale = fields.scale
    # of what is not scaled by custom nobody wonders about √d_k, and given scores have none
    if scale == fields.default_scale == NO_SCALE:
        return
    other: Any = NO_SCALE if scale not in (NO_SCALE, 1) else SQRT_DK
    if SQRT_DK in (scale, other) and fields.d_k == 1:
        return  # divided by 1, nothing changes
    changed = attended.otherwise(scale=other)
    if changed is None:
        return
    own, others = _all_rows(head.weights for head in attended.heads), _all_rows(changed)
    known = np.isfinite(own.entropy) & np.isfinite(others.entropy)
    if known.any() and fields.m > 1:
        values = {
            "scale": scale if isinstance(scale, str) else float(scale),
            "other": other,
            "d_k": fields.d_k,
            "entropy": _with_and_without(attended, own.entropy[known], others.entropy[known]),
            "effective": _with_and_without(attended, own.effective[known], others.effective[known]),
        }
        yield attended.pattern("scaling", attended.weights.name, values)


def _with_and_without(attended: Attended, own: Matrix, others: Matrix) -> dict[str, Any]:
    return {"here": attended.amount(own.mean()), "other": attended.amount(others.mean())}


def _all_rows(heads: Iterable[Matrix]) -> Rows:
    return Rows(*(np.concatenate(parts) for parts in zip(*map(rows_of, heads), strict=True)))


def masked(attended: Attended) -> Iterator[Pattern]:
    """Yield how many weights a mask forbids, and how large they would be without it."""
    where = attended.forbidden
    if where is None or not (where.any() or attended.fields.bias is not None):
        return  # nothing is forbidden to a last query, say, and nothing added
    open_to_all: dict[str, Any] = {
        "causal": False,
        "window": None,
        # else a bias by distance would have another direction once nothing is causal
        "rel_bidirectional": (
            None if attended.fields.rel_bias is None else attended.fields.rel_both_ways
        ),
        "keep": None,
        "ignore": None,
        "bias": None,
    }
    free = attended.otherwise(**open_to_all)
    if free is None:
        return
    heads = [head.weights for head in attended.heads]
    parted = [where] * len(heads) if where.ndim == 2 else list(where)
    pairs = zip(parted, free, strict=True)
    taken = np.array([np.where(at, head, 0).sum(axis=1) for at, head in pairs])
    moved = [np.abs(own - head).sum(axis=1) / 2 for own, head in zip(heads, free, strict=True)]
    number, output = np.unravel_index(int(taken.argmax()), taken.shape)
    values = {
        "forbidden": sum(int(np.broadcast_to(at, heads[0].shape).sum()) for at in parted),
        "of": sum(each.size for each in heads),
        "mean": attended.amount(taken.mean()),
        "most": {
            "output": int(output) + 1,
            "head": attended.heads[int(number)].number,
            "taken": attended.amount(taken.max()),
        },
        "moved": attended.amount(np.max(moved)),
        "adds": attended.fields.bias is not None,
    }
    yield attended.pattern("masked", attended.weights.name, values)


def rounded_away(attended: Attended) -> Iterator[Pattern]:
    """Yield which weights are not 0 and show as 0, and how much they matter to an output."""
    solution, name = attended.solution, attended.weights.name
    made = solution.exact[name]
    hidden = _hidden(attended, made)
    count = int(hidden.sum())
    if not count or solution.plan[-1].name == name:  # nothing is made of them
        return
    change = np.abs(_outputs(attended, np.where(hidden, made, made * 0)))
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
    if not attended.is_alone:  # the outputs of a network are others
        values["of"] = attended.outputs.name
    yield attended.pattern("rounded-away", name, values)


def _hidden(attended: Attended, made: Matrix) -> Matrix:
    digits = attended.solution.digits[attended.weights.name]
    hidden = np.zeros(made.shape, bool)
    for place in blocks_of_rows(made.shape):
        hidden[place] = (made[place] != 0) & (np.asarray(digits[place]) == 0)
    return hidden


def _outputs(attended: Attended, weights: Matrix) -> Matrix:
    """Return how far these weights move the outputs: what follows them, less what 0 gives."""
    solution, name = attended.solution, attended.weights.name
    place = [step.name for step in attended.steps].index(name)
    after = attended.steps[place + 1 :]
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
