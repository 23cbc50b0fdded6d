"""The wrong ways to come by a step that people are known for.

Each is made of the right operations on other matrices, so none of them is a second implementation;
each says what is done as a clause: "every entry is what comes out when …".
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import NamedTuple

import numpy as np

from attncalc.layout import in_plan_form, split_heads
from attncalc.operations import (
    Add,
    Concat,
    DivideBySqrt,
    DivideBySum,
    Mask,
    Mean,
    Multiply,
    Project,
    Range,
    Rotate,
    Same,
    Scores,
    SoftCap,
    Softmax,
    Weigh,
    exponentials,
)
from attncalc.plan import Plan, Step
from attncalc.problem import Problem
from attncalc.rounding import Matrix

Read = Callable[[str], Range]
"""Returns where the values of a matrix may lie."""


class Recipe(NamedTuple):
    """A wrong way to come by a step.

    Parameters
    ----------
    code
        What it is called in JSON.
    says
        What was done, as a clause: "K was not transposed".
    step
        The step it stands in for.
    make
        Returns what it comes to, from what it reads; None where shapes do not allow it.
    """

    code: str
    says: str
    step: str
    make: Callable[[Read], Range | None]


Make = Callable[[Read], Range | None]
Wrong = tuple[str, str, Make]
"""A code, what is done, and what comes of it."""

MOST_PERMUTED = 4
"""Heads up to which every order of them is tried; of more, the reverse alone."""
MASKED = float("-inf")


def recipes(step: Step, problem: Problem, steps: Plan) -> tuple[Recipe, ...]:
    """Return the wrong ways to come by a step of a problem's plan."""
    found: list[Wrong] = []
    operation = step.operation
    if isinstance(operation, Project):
        found += _of_projection(step, problem)
    elif isinstance(operation, Scores):
        found += _of_scores(step, problem)
    elif isinstance(operation, DivideBySqrt | Multiply):
        found += _of_scale(step, problem)
    elif isinstance(operation, Mask):
        found += _of_mask(step, operation)
    elif isinstance(operation, Weigh):
        found += _of_outputs(step, problem, steps)
    elif step.name == "A":
        found += _of_weights(step, problem, steps)
    else:
        found += _of_others(step)
    found += _of_scale_not_asked(step, problem)
    found += _of_the_whole(step, problem)
    return tuple(Recipe(code, says, step.name, make) for code, says, make in found)


def _swapped(values: Range) -> Range:
    return values.map(lambda end: end.swapaxes(-1, -2))


def _times(values: Range, factor: float) -> Range:
    product = values.map(lambda end: end * factor)
    return product if factor >= 0 else Range(product.high, product.low)


def _right(step: Step, read: Read) -> Range:
    return step.operation.over(*map(read, step.inputs))


def _of_projection(step: Step, problem: Problem) -> Iterator[Wrong]:
    tokens, weights, *bias = step.inputs

    def with_weights(other: Matrix, read: Read) -> Range:
        return step.operation.over(read(tokens), Range.at(other), *map(read, bias))

    if bias:
        yield (
            "bias-forgotten",
            f"{bias[0]} is left out",
            lambda read: step.operation.over(read(tokens), read(weights)),
        )
    stored = getattr(problem, weights)
    if stored.shape[-1] == stored.shape[-2]:
        turned = in_plan_form(problem, weights, stored.swapaxes(-1, -2))
        yield (
            "weights-transposed",
            f"{weights} is transposed",
            partial(with_weights, turned),
        )
    for other in ("W_Q", "W_K", "W_V"):
        if other in problem.names and weights not in (other, "W_O"):
            yield (
                f"weights-swapped:{other}",
                f"{other} is used in place of {weights}",
                partial(with_weights, problem.in_plan_form(other)),
            )
    yield from _of_sources(step, problem)


def _of_sources(step: Step, problem: Problem) -> Iterator[Wrong]:
    """Yield what comes of other tokens, or of tokens that are not projected at all."""
    tokens, weights, *bias = step.inputs
    if weights == "W_O":
        yield (
            "unprojected",
            f"{tokens} itself is taken for {step.name}: the product with W_O is left out",
            lambda read: read(tokens),
        )
        return
    heads = problem.n_heads if step.name == "Q" else problem.n_kv_heads

    def unprojected(read: Read) -> Range:
        return read(tokens).map(lambda end: split_heads(end, heads))

    def of_others(other: str, read: Read) -> Range:
        return step.operation.over(read(other), read(weights), *map(read, bias))

    product = f"the product with {weights} is left out"
    yield "unprojected", f"{tokens} itself is taken for {step.name}: {product}", unprojected
    plain = tokens.removesuffix("_P")
    if plain != tokens:
        says = "the positions are not added to the tokens"
        yield "positions-forgotten", says, partial(of_others, plain)
    for other in ("X1", "X2", "X3"):
        if other in problem.names and other != plain:
            name = other + tokens.removeprefix(plain)
            says = f"{step.name} is computed from {other} and not from {plain}"
            yield f"wrong-source:{other}", says, partial(of_others, name)


def _of_scores(step: Step, problem: Problem) -> Iterator[Wrong]:
    Q, K = step.inputs
    columns = problem.layout == "columns"

    def product(left: str, right: str) -> str:
        """Return how `left rightᵀ` is written in the problem's layout."""
        return f"{right}ᵀ {left}" if columns else f"{left} {right}ᵀ"

    def scores(left: str, right: str, read: Read) -> Range:
        return step.operation.over(*_of_equal_heads(read(left), read(right)))

    def untransposed(read: Read) -> Range:
        queries, keys = _of_equal_heads(read(Q), read(K))
        return step.operation.over(queries, _swapped(keys))

    def entrywise(read: Read) -> Range:
        queries, keys = _of_equal_heads(read(Q), read(K))
        if queries.is_point and keys.is_point:
            return Range.at(queries.low * keys.low)
        products = [a * b for a in queries for b in keys]
        return Range(np.min(products, axis=0), np.max(products, axis=0))

    plain = f"{K} {Q}" if columns else f"{Q} {K}"
    yield "k-not-transposed", f"{K} is not transposed ({plain})", untransposed
    swapped = f"{product(K, Q)} is computed, not {product(Q, K)}"
    yield "scores-transposed", f"{swapped}: the scores are transposed", partial(scores, K, Q)
    for code, left, right in (("q-q", Q, Q), ("k-k", K, K), ("q-v", Q, "V")):
        says = f"{product(left, right)} is computed, not {product(Q, K)}"
        yield code, says, partial(scores, left, right)
    yield "entrywise", f"{Q} and {K} are multiplied entry by entry", entrywise
    if Q != "Q":
        says = "queries and keys are not rotated"
        yield "rope-forgotten", says, partial(scores, "Q", "K")


def _of_equal_heads(left: Range, right: Range) -> tuple[Range, Range]:
    """Repeat the heads of the one that has fewer, as grouped queries do."""
    heads = max(len(each.low) if each.low.ndim == 3 else 1 for each in (left, right))

    def spread(values: Range) -> Range:
        if values.low.ndim == 2 or len(values.low) == heads:
            return values
        return values.map(lambda end: np.repeat(end, heads // len(end), axis=0))

    return spread(left), spread(right)


def _factors(problem: Problem) -> Iterator[tuple[str, str, float]]:
    """Yield what scores are multiplied by, rightly or wrongly: code, words, factor."""
    d_k, m, n = problem.d_k, problem.m, problem.n
    yield "scale-none", "the scores are not scaled", 1.0
    yield "scale-sqrt-dk", f"the scores are divided by √d_k = √{d_k}", d_k**-0.5
    yield "scale-dk", f"the scores are divided by d_k = {d_k}, not by its root", 1 / d_k
    yield "scale-multiplied", f"the scores are multiplied by √d_k = √{d_k}", d_k**0.5
    widths = {
        int(getattr(problem, X).shape[-1 if problem.layout == "rows" else -2])
        for X in ("X", "X1", "X2")
        if X in problem.names
    }
    for width in sorted(widths | {problem.n_heads * d_k}):
        yield (
            "scale-sqrt-d-model",
            f"the scores are divided by √{width}, the root of d_model",
            (width**-0.5),
        )
    for size in sorted({n, m}):
        yield "scale-sqrt-n", f"the scores are divided by √{size}, the root of n", size**-0.5


def _of_scale(step: Step, problem: Problem) -> Iterator[Wrong]:
    (scores, *_) = step.inputs
    right = problem.d_k**-0.5
    if isinstance(step.operation, Multiply):
        right = float(step.operation.factor)
    others = list(_factors(problem))
    if isinstance(step.operation, Multiply):
        others.append(("scale-divided", "the scores are divided by the factor", 1 / right))
    for code, says, factor in others:
        if round(factor, 12) != round(right, 12):
            yield code, says, partial(_scaled, scores, factor)


def _scaled(scores: str, factor: float, read: Read) -> Range:
    return _times(read(scores), factor)


def _of_scale_not_asked(step: Step, problem: Problem) -> Iterator[Wrong]:
    """Yield what comes of dividing by √d_k where that is not asked for, or not yet."""
    root, d_k = problem.d_k**0.5, problem.d_k
    if d_k == 1:
        return
    if step.name == "S":
        says = f"the scores are divided by √d_k = √{d_k} already here"
        if problem.scale == "none":
            says = f"the scores are divided by √d_k = √{d_k}, which is not asked for"
        yield "scale-not-asked", says, lambda read: _times(_right(step, read), 1 / root)
    elif step.inputs[0] == "S" and problem.scale == "none":
        scores, *others = step.inputs
        yield (
            "scale-not-asked",
            f"the scores are divided by √d_k = √{d_k}, which is not asked for",
            lambda read: step.operation.over(_times(read(scores), 1 / root), *map(read, others)),
        )


def _of_mask(step: Step, operation: Mask) -> Iterator[Wrong]:
    scores, *masks = step.inputs

    def masked(change: Callable[[Matrix], Matrix], read: Read) -> Range | None:
        """Return the scores under another mask; biases are added where they are finite."""
        given, *others = map(read, step.inputs)
        shape = np.broadcast_shapes(given.low.shape, *(each.low.shape for each in others))
        probe = operation.over(Range.at(np.zeros(shape)), *others).low
        forbidden = change(np.isneginf(probe))
        bias = np.where(np.isneginf(probe), 0.0, probe)
        return given.map(lambda end: np.where(forbidden, MASKED, end + bias))

    yield "mask-forgotten", "no score is masked", partial(masked, np.zeros_like)
    inverted = "the mask is inverted: what may be attended to is forbidden"
    yield "mask-inverted", inverted, partial(masked, np.logical_not)
    for by, way in ((1, "further"), (-1, "less")):
        says = f"the mask is shifted by one: each query sees one key {way}"
        yield "mask-shifted", says, partial(_shifted_mask, operation, scores, masks, by)
    if "bias" in masks:
        yield "bias-not-added", f"{masks[-1]} is not added", partial(_unbiased, operation, step)


def _shifted_mask(operation: Mask, scores: str, masks: list[str], by: int, read: Read) -> Range:
    """Move the causal edge by one key, or else the columns of the masks."""
    if operation.causal_from is not None:
        moved = replace(operation, causal_from=operation.causal_from + by)
        return moved.over(read(scores), *map(read, masks))

    def roll(mask: Range) -> Range:
        return mask.map(lambda end: _rolled(end, by))

    return operation.over(read(scores), *(roll(read(name)) for name in masks))


def _rolled(mask: Matrix, by: int) -> Matrix:
    """Return a mask with its columns moved by one; the one at the edge stays."""
    places = np.clip(np.arange(mask.shape[-1]) - by, 0, mask.shape[-1] - 1)
    moved: Matrix = mask[..., places]
    return moved


def _unbiased(operation: Mask, step: Step, read: Read) -> Range:
    scores, *masks = step.inputs
    zero = [
        Range.at(np.where(np.isneginf(read(name).low), MASKED, 0.0))
        if name == "bias"
        else read(name)
        for name in masks
    ]
    return operation.over(read(scores), *zero)


def _of_weights(step: Step, problem: Problem, steps: Plan) -> Iterator[Wrong]:
    (scores,) = step.inputs
    by_columns = problem.layout == "columns"
    line, other = ("column", "row") if by_columns else ("row", "column")
    softmax = Softmax(masked=problem.is_masked)
    to_sum = DivideBySum(masked=problem.is_masked)

    def of(change: Callable[[Range], Range], read: Read) -> Range:
        return step.operation.over(change(read(scores)))

    def across(read: Read) -> Range:
        return _swapped(step.operation.over(_swapped(read(scores))))

    def together(read: Read) -> Range:
        values = read(scores)
        flat = values.map(lambda end: end.reshape(*end.shape[:-2], 1, -1))
        made = step.operation.over(flat)
        return made.map(lambda end: end.reshape(values.low.shape))

    def powers(read: Read) -> Range:
        return read(scores).map(exponentials)

    yield "softmax-columns", f"each {other} is made to sum to 1, not each {line}", across
    yield "softmax-whole", "the whole matrix is made to sum to 1, not each " + line, together
    if isinstance(step.operation, Softmax):
        yield (
            "no-exp",
            f"each score is divided by the sum of its {line}: exp is left out",
            lambda read: to_sum.over(read(scores)),
        )
        yield "not-normalised", "exp of each score is taken, and not divided by the sum", powers
        for base in (2, 10):
            says = f"powers of {base} are taken, not of e"
            yield f"base-{base}", says, partial(of, partial(_times, factor=float(np.log(base))))
        yield (
            "exp-negative",
            "exp(-s) is taken, not exp(s)",
            partial(of, partial(_times, factor=-1.0)),
        )
    else:
        yield "softmax-not-asked", "softmax is taken", lambda read: softmax.over(read(scores))
    yield from _of_earlier_scores(step, steps)


def _of_earlier_scores(step: Step, steps: Plan) -> Iterator[Wrong]:
    """Yield the weights of scores that are not scaled, capped or masked yet."""
    (scores,) = step.inputs
    by_name = {each.name: each for each in steps}
    says = {
        "S_scaled": ("scale-none", "the weights are those of the scores before they are scaled"),
        "S_capped": ("cap-forgotten", "the weights are those of the scores before they are capped"),
        "S_masked": ("mask-forgotten", "the weights are those of the scores before the mask"),
    }
    name = scores
    while name in says:
        before = by_name[name].inputs[0]
        code, words = says[name]
        yield code, words, partial(_weights_of, step, before)
        if name == "S_masked":
            after = "the mask is laid on the weights after the softmax: they no longer sum to 1"
            yield "mask-after-softmax", after, partial(_masked_after, step, name, before)
        name = before


def _weights_of(step: Step, scores: str, read: Read) -> Range:
    return step.operation.over(read(scores))


def _masked_after(step: Step, masked: str, scores: str, read: Read) -> Range:
    forbidden = np.isneginf(read(masked).low)
    return _weights_of(step, scores, read).map(lambda end: np.where(forbidden, 0.0, end))


def _of_outputs(step: Step, problem: Problem, steps: Plan) -> Iterator[Wrong]:
    A, V = step.inputs
    columns = problem.layout == "columns"

    def product(left: str, right: str) -> str:
        return f"{right} {left}" if columns else f"{left} {right}"

    def weighed(weights: str, values: str, read: Read) -> Range:
        return step.operation.over(read(weights), read(values))

    def turned(read: Read) -> Range:
        return step.operation.over(_swapped(read(A)), read(V))

    yield "weights-turned", f"{product('Aᵀ', V)} is computed, not {product(A, V)}", turned
    tokens = {"V": "X" if problem.kind == "self" else "X2"}.get(problem.value_source)
    tokens = tokens or problem.value_source
    for code, other in (("a-x", tokens), ("a-k", "K"), ("a-q", "Q")):
        if other in problem.names or other in {each.name for each in steps}:
            says = f"{product(A, other)} is computed, not {product(A, V)}"
            yield code, says, partial(weighed, A, other)
    for each in steps:
        if isinstance(each.operation, Scores | DivideBySqrt | Multiply | SoftCap | Mask):
            says = f"the scores {each.name} weigh the values, and not A"
            yield f"scores-for-weights:{each.name}", says, partial(weighed, each.name, V)


def _of_others(step: Step) -> Iterator[Wrong]:
    """Yield what comes of leaving out what is added, rotated, capped, or joined otherwise."""
    operation, first = step.operation, step.inputs[0]
    if isinstance(operation, Add):
        code = "bias-forgotten" if step.name == "O" else "positions-forgotten"
        yield code, f"{step.inputs[1]} is not added", lambda read: read(first)
    elif isinstance(operation, Rotate):
        yield "rope-forgotten", f"{first} is not rotated", lambda read: read(first)
        other = "interleaved" if operation.pairing == "halves" else "halves"
        yield (
            "rope-pairing",
            f"the columns are paired otherwise ({other})",
            lambda read: replace(operation, pairing=other).over(read(first)),
        )
        yield (
            "rope-offset",
            "places are counted from one more",
            lambda read: replace(operation, offset=operation.offset + 1).over(read(first)),
        )
    elif isinstance(operation, SoftCap):
        yield "cap-forgotten", "the scores are not capped", lambda read: read(first)
    elif isinstance(operation, Concat):
        mean = "the heads are averaged, not set side by side"
        yield "mean-for-concat", mean, lambda read: Mean().over(read(first))
    elif isinstance(operation, Mean):
        side = "the heads are set side by side, not averaged"
        yield "concat-for-mean", side, lambda read: Concat().over(read(first))
        total = "the heads are added, and not divided by their number"
        yield (
            "sum-for-mean",
            total,
            lambda read: _times(_right(step, read), float(len(read(first).low))),
        )


def _of_the_whole(step: Step, problem: Problem) -> Iterator[Wrong]:
    """Yield what can happen to the matrix of any step: turned, or its heads in another order."""
    if not isinstance(step.operation, Scores | Same):
        yield (
            "transposed",
            f"the rows of {step.name} are written as columns",
            lambda read: _swapped(_right(step, read)),
        )
    heads = problem.n_kv_heads if step.name in ("K", "V", "K_rot") else problem.n_heads
    if heads == 1:
        return
    orders = (
        list(permutations(range(heads)))[1:]
        if heads <= MOST_PERMUTED
        else [tuple(range(heads))[::-1]]
    )
    for order in orders:
        named = ", ".join(str(head + 1) for head in order)
        yield (
            f"heads-order:{named.replace(' ', '')}",
            f"the heads stand in the order {named}",
            partial(_reordered, step, list(order)),
        )


def _reordered(step: Step, order: list[int], read: Read) -> Range | None:
    if isinstance(step.operation, Concat):
        return step.operation.over(read(step.inputs[0]).map(lambda end: end[order]))
    right = _right(step, read)
    if right.low.ndim != 3:
        return None
    return right.map(lambda end: end[order])
