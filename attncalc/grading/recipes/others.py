"""Wrong outputs, and mistakes possible in any step: left out, transposed, heads permuted."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from attncalc.base.typed import as_written
from attncalc.base.types import Matrix, Range
from attncalc.equations.operations import (
    Add,
    Concat,
    DistanceScores,
    DivideBySqrt,
    Mask,
    Mean,
    Multiply,
    Rotate,
    Same,
    Scoring,
    Sinusoids,
    SoftCap,
    Stack,
    Weigh,
)
from attncalc.equations.operations.distances import Alibi, RelativeBias
from attncalc.grading.recipes.common import (
    Read,
    Wrong,
    done_right,
    entry_by_entry,
    of_tiled_heads,
    times,
    transposed,
)
from attncalc.problem.attention.attention import Attention
from attncalc.problem.step import Plan, Step

OTHER_BASES = (Fraction(10_000), Fraction(500_000), Fraction(1_000_000))
"""The bases of rope in common models, which may be confused."""
MOST_PERMUTED = 4
"""The largest number of heads of which every order is tried; of more, only the reverse."""

OF_SCORES = (Scoring, DivideBySqrt, Multiply, SoftCap, Mask, Alibi, RelativeBias)
"""The operations that compute scores, finished or not."""


def of_outputs(step: Step, problem: Attention, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of weighing with, or weighing, another matrix."""
    A, V = step.inputs
    weigh = Weigh()  # any numbers, whether or not they sum to 1

    def product(left: str, right: str) -> str:
        return " ".join(problem.standing.pair(left, right))

    def weighed(weights: str, values: str, read: Read) -> Range:
        return weigh.over(read(weights), read(values))

    def turned(read: Read) -> Range:
        return weigh.over(transposed(read(A)), read(V))

    yield from of_tiled_heads(step, problem)
    yield "weights-turned", f"{product(f'{A}ᵀ', V)} is computed, not {product(A, V)}", turned
    tokens = {"V": "X" if problem.kind == "self" else "X2"}.get(problem.value_source)
    tokens = tokens or problem.value_source
    for code, other in (("a-x", tokens), ("a-k", "K"), ("a-q", "Q")):
        if other in problem.names or other in {each.name for each in steps}:
            says = f"{product(A, other)} is computed, not {product(A, V)}"
            yield code, says, partial(weighed, A, other)
    for each in steps:
        if isinstance(each.operation, OF_SCORES):
            says = f"the scores {each.name} weigh the values, and not {A}"
            yield f"scores-for-weights:{each.name}", says, partial(_scores_weigh, each.name, V)


def _scores_weigh(scores: str, values: str, read: Read) -> Range:
    """Return the values weighed with scores; masked ones are 0, since people do not write -∞."""
    finite = read(scores).map(lambda end: np.where(np.isneginf(end), 0.0, end))
    return Weigh().over(finite, read(values))


def of_others(step: Step, problem: Attention) -> Iterator[Wrong]:
    """Yield the results without an addition, rotation or cap, or with another concatenation."""
    operation, first = step.operation, step.inputs[0]
    if isinstance(operation, Add):
        yield from _of_sum(step)
    elif isinstance(operation, Rotate):
        yield from _of_rotation(step, operation, problem)
    elif isinstance(operation, Sinusoids) and operation.offset:
        says = "places are counted from 0, as those of keys"
        yield "places-of-keys", says, lambda read: replace(operation, offset=0).over(read(first))
    elif isinstance(operation, Stack):
        earlier, new = step.inputs
        says = f"{new} is put before {earlier}: a cache comes first"
        yield "cache-order", says, lambda read: operation.over(read(new), read(earlier))
        yield "cache-forgotten", f"{earlier} is left out", lambda read: read(new)
    elif isinstance(operation, SoftCap):
        yield "cap-forgotten", "the scores are not capped", lambda read: read(first)
    elif isinstance(operation, Concat):
        mean = "the heads are averaged, not set side by side"
        yield "mean-for-concat", mean, lambda read: Mean().over(read(first))
        total = "the heads are added, not set side by side"
        yield "sum-for-concat", total, lambda read: times(Mean().over(read(first)), problem.n_heads)
        turns = "the heads alternate column by column, and are not side by side"
        yield "heads-interleaved", turns, lambda read: read(first).map(_taking_turns)
        merged = "the heads are merged by a view alone, without exchanging rows and heads"
        yield "heads-viewed", merged, lambda read: read(first).map(_viewed)
    elif isinstance(operation, Mean):
        side = "the heads are set side by side, not averaged"
        yield "concat-for-mean", side, lambda read: Concat().over(read(first))
        total = "the heads are added, and not divided by their number"
        yield "sum-for-mean", total, lambda read: times(done_right(step, read), problem.n_heads)


def _of_sum(step: Step) -> Iterator[Wrong]:
    """Yield the results without a bias or positions, or with these misapplied."""
    first, other = step.inputs
    what = "bias" if step.role == "outputs" else "positions"
    yield f"{what}-forgotten", f"{other} is not added", lambda read: read(first)

    def less(read: Read) -> Range:
        return step.operation.over(read(first), times(read(other), -1.0))

    def multiplied(read: Read) -> Range:
        return entry_by_entry(read(first), read(other).middle)

    yield f"{what}-subtracted", f"{other} is subtracted", less
    says = f"{first} is multiplied by {other}, which should be added to it"
    yield f"{what}-multiplied", says, multiplied


def _taking_turns(heads: Matrix) -> Matrix:
    return heads.transpose(1, 2, 0).reshape(heads.shape[1], -1)


def _viewed(heads: Matrix) -> Matrix:
    return heads.reshape(heads.shape[1], -1)


def _of_rotation(step: Step, operation: Rotate, problem: Attention) -> Iterator[Wrong]:
    """Yield the results of other pairs, positions, frequencies, and columns."""
    first, *own = step.inputs
    yield "rope-forgotten", f"{first} is not rotated", lambda read: read(first)

    def otherwise(read: Read, **change: Any) -> Range:
        return replace(operation, **change).over(*map(read, step.inputs))

    if operation.scaling is not None:
        says = "the frequencies are not slowed down: rope_scaling is left out"
        yield "rope-unscaled", says, partial(otherwise, scaling=None)
    if own:
        says = f"the frequencies are those of the base, and not {own[0]}"
        yield "rope-unscaled", says, lambda read: operation.over(read(first))
    if operation.dims not in (None, problem.d_k) and not own and problem.d_k % 2 == 0:
        says = f"all {problem.d_k} columns are rotated, and not the first {operation.dims} alone"
        yield "rope-all-columns", says, partial(otherwise, dims=None)
    other = "interleaved" if operation.pairing == "halves" else "halves"
    says = f"the columns are paired otherwise ({other})"
    yield "rope-pairing", says, partial(otherwise, pairing=other)
    says = "the columns are rotated the other way round: its sines have the other sign"
    yield "rope-sign", says, partial(_turned_back, step, operation)
    for base in OTHER_BASES:
        if not own and base != operation.base:
            says = f"the base of the angles is {as_written(base)}, not {as_written(operation.base)}"
            yield "rope-base", says, partial(otherwise, base=base)
    says = "places are counted from one more"
    yield "rope-offset", says, partial(otherwise, offset=operation.offset + 1)
    if operation.offset != problem.rope_offset:
        of_keys = problem.rope_places[1]
        says = f"places are counted from {as_written(of_keys)}, as those of keys"
        yield "places-of-keys", says, partial(otherwise, offset=of_keys)


def _turned_back(step: Step, operation: Rotate, read: Read) -> Range:
    """Return the rows rotated by the negative angles: mirrored, rotated, and mirrored again."""
    first, *own = map(read, step.inputs)
    width = operation.dims or first.low.shape[-1]
    signs = np.ones(first.low.shape[-1])
    of_second = slice(width // 2, width) if operation.pairing == "halves" else slice(1, width, 2)
    signs[of_second] = -1.0
    return entry_by_entry(operation.over(entry_by_entry(first, signs), *own), signs)


def of_the_whole(step: Step, problem: Attention) -> Iterator[Wrong]:
    """Yield mistakes of the matrix of any step: transposed, or its heads permuted."""
    if not isinstance(step.operation, Scoring | Same):
        says = f"the rows of {step.name} are written as columns"
        yield "transposed", says, lambda read: transposed(done_right(step, read))
    if step.role != "weights" and not isinstance(step.operation, DistanceScores):
        negated = "every sign is the other one"
        yield "negated", negated, lambda read: times(done_right(step, read), -1.0)
    heads = problem.n_kv_heads if step.rows == "keys" else problem.n_heads
    if heads > 1:
        says = "the axes of heads and of tokens are exchanged"
        yield "axes-swapped", says, partial(_with_axes_swapped, step)
    for head in range(heads if heads > 1 else 0):
        says = f"head {head + 1} is written for every head"
        yield f"head-repeated:{head + 1}", says, partial(_reordered, step, [head] * heads)
    for order in _orders(heads):
        named = ", ".join(str(head + 1) for head in order)
        says = f"the heads are in the order {named}"
        yield f"heads-order:{named.replace(' ', '')}", says, partial(_reordered, step, list(order))


def _orders(heads: int) -> Iterator[tuple[int, ...]]:
    """Yield the wrong orders of heads."""
    every = permutations(range(heads)) if heads <= MOST_PERMUTED else [tuple(range(heads))[::-1]]
    return (order for order in every if order != tuple(range(heads)))


def _with_axes_swapped(step: Step, read: Read) -> Range | None:
    right = done_right(step, read)
    return right.map(lambda end: end.swapaxes(0, 1)) if right.low.ndim == 3 else None


def _reordered(step: Step, order: list[int], read: Read) -> Range | None:
    of_heads = (
        read(step.inputs[0]) if isinstance(step.operation, Concat) else done_right(step, read)
    )
    # after another recipe there may be more heads, or fewer
    if of_heads.low.ndim != 3 or len(of_heads.low) != len(order):
        return None
    turned = of_heads.map(lambda end: end[order])
    return step.operation.over(turned) if isinstance(step.operation, Concat) else turned
