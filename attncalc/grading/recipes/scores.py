"""Wrong scores: other products, other scales."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from attncalc.base.types import Range
from attncalc.equations.operations import Multiply, Rotate, Scoring
from attncalc.equations.operations.normalising import Normalise
from attncalc.grading.recipes.common import (
    Read,
    Wrong,
    done_right,
    of_tiled_heads,
    times,
    transposed,
)
from attncalc.problem.attention.attention import Attention
from attncalc.problem.step import Plan, Step

TURNS = (Rotate, Normalise)
"""Operations on queries and keys before the scores."""


def of_scores(step: Step, problem: Attention, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of other products of queries, keys and values."""
    Q, K = step.inputs
    standing = problem.standing

    def product(left: str, right: str) -> str:
        """Return the notation of `left rightᵀ` in the problem's layout."""
        return " ".join(standing.pair(left, f"{right}ᵀ"))

    def scores(left: str, right: str, read: Read) -> Range:
        return step.operation.over(*_of_equal_heads(read(left), read(right)))

    def untransposed(read: Read) -> Range:
        queries, keys = _of_equal_heads(read(Q), read(K))
        return step.operation.over(queries, transposed(keys))

    def entrywise(read: Read) -> Range:
        queries, keys = _of_equal_heads(read(Q), read(K))
        if queries.is_point and keys.is_point:
            return Range.at(queries.low * keys.low)
        products = [a * b for a in queries for b in keys]
        return Range(np.min(products, axis=0), np.max(products, axis=0))

    plain = " ".join(standing.pair(Q, K))
    yield "k-not-transposed", f"{K} is not transposed ({plain})", untransposed
    swapped = f"{product(K, Q)} is computed, not {product(Q, K)}"
    yield "scores-transposed", f"{swapped}: the scores are transposed", partial(scores, K, Q)
    of_values = () if problem.is_bare("V") else (("q-v", Q, "V"),)
    for code, left, right in (("q-q", Q, Q), ("k-k", K, K), *of_values):
        says = f"{product(left, right)} is computed, not {product(Q, K)}"
        yield code, says, partial(scores, left, right)
    yield from of_tiled_heads(step, problem)
    yield "entrywise", f"{Q} and {K} are multiplied entry by entry", entrywise
    for code, done, left, right in _left_out(step, steps):
        says = f"queries and keys are not {done}"
        yield code, says, partial(scores, left, right)


def _left_out(step: Step, steps: Plan) -> Iterator[tuple[str, str, str, str]]:
    """Yield the operations that may be left out before the scores, and the remaining product."""
    by_name = {each.name: each for each in steps}
    pair = [by_name.get(name) for name in step.inputs]
    while all(each is not None and isinstance(each.operation, TURNS) for each in pair):
        made = [each for each in pair if each is not None]
        left, right = (each.inputs[0] for each in made)
        is_turned = isinstance(made[0].operation, Rotate)
        code, done = (
            ("rope-forgotten", "rotated") if is_turned else ("norm-forgotten", "normalised")
        )
        yield code, done, left, right
        pair = [by_name.get(left), by_name.get(right)]


def _of_equal_heads(left: Range, right: Range) -> tuple[Range, Range]:
    """Repeat the heads of the matrix that has fewer, as grouped queries do."""
    heads = max(len(each.low) if each.low.ndim == 3 else 1 for each in (left, right))

    def spread(values: Range) -> Range:
        if values.low.ndim == 2 or len(values.low) == heads:
            return values
        return values.map(lambda end: np.repeat(end, heads // len(end), axis=0))

    return spread(left), spread(right)


def _factors(problem: Attention) -> Iterator[tuple[str, str, float]]:
    """Yield the right and wrong factors of scores: code, words, factor."""
    if problem.start:
        yield "scale-none", "the scores are not scaled", 1.0
        return
    d_k = problem.d_k
    divided = "the scores are divided by"
    yield "scale-none", "the scores are not scaled", 1.0
    yield "scale-sqrt-dk", f"{divided} √d_k = √{d_k}", d_k**-0.5
    yield "scale-dk", f"{divided} d_k = {d_k}, not by its root", 1 / d_k
    yield "scale-multiplied", f"the scores are multiplied by √d_k = √{d_k}", d_k**0.5
    widths = {problem.given[X].shape[-1] for X in ("X", "X1", "X2") if X in problem.names}
    for width in sorted(widths | {problem.n_heads * d_k}):
        yield "scale-sqrt-d-model", f"{divided} √{width}, the root of d_model", width**-0.5
    for size in sorted({problem.n, problem.m}):
        yield "scale-sqrt-n", f"{divided} √{size}, the root of n", size**-0.5


def of_scale(step: Step, problem: Attention) -> Iterator[Wrong]:
    """Yield the results of other factors."""
    others = list(_factors(problem))
    right = problem.d_k**-0.5 if problem.d_k else 1.0
    if isinstance(step.operation, Multiply):
        right = float(step.operation.factor)
        if right:
            others.append(("scale-divided", "the scores are divided by the factor", 1 / right))
    for code, says, factor in others:
        if round(factor, 12) != round(right, 12):
            yield code, says, partial(_scaled, step.inputs[0], factor)


def _scaled(scores: str, factor: float, read: Read) -> Range:
    return times(read(scores), factor)


def of_scale_not_asked(step: Step, problem: Attention, steps: Plan) -> Iterator[Wrong]:
    """Yield the results of dividing by √d_k without a request, or too early."""
    if problem.d_k <= 1:
        return
    root, is_asked = problem.d_k**0.5, problem.scale != "none"
    plain = next((each.name for each in steps if isinstance(each.operation, Scoring)), None)
    if plain is None:  # an equation defines the scores
        return
    by_root = f"the scores are divided by √d_k = √{problem.d_k}"
    says = f"{by_root} already here" if is_asked else f"{by_root}, which is not asked for"
    if step.name == plain:
        yield "scale-not-asked", says, lambda read: times(done_right(step, read), 1 / root)
    elif step.inputs[0] == plain and not is_asked:
        others = step.inputs[1:]
        yield (
            "scale-not-asked",
            says,
            lambda read: step.operation.over(times(read(plain), 1 / root), *map(read, others)),
        )
