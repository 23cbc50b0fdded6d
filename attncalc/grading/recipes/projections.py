"""Wrong projections: other weights, weights transposed, other tokens, no bias, no product."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from attncalc.base.types import Matrix, Range
from attncalc.equations.operations import Concat
from attncalc.grading.recipes.common import Read, Wrong, done_right, entry_by_entry, times
from attncalc.problem.attention.attention import Attention
from attncalc.problem.standing import split_heads
from attncalc.problem.step import Step


def of_projection(step: Step, problem: Attention) -> Iterator[Wrong]:
    """Yield the results of other weights or tokens, or without the bias."""
    tokens, weights, *bias = step.inputs

    def with_weights(other: Matrix, read: Read) -> Range:
        return step.operation.over(read(tokens), Range.at(other), *map(read, bias))

    if bias:
        says = f"{bias[0]} is left out"
        yield "bias-forgotten", says, lambda read: step.operation.over(read(tokens), read(weights))
        yield "bias-subtracted", f"{bias[0]} is subtracted", partial(_with_bias, step, _negative)
        says = f"the product is multiplied by {bias[0]}, to which it should be added"
        yield "bias-multiplied", says, partial(_times_bias, step)
    signless = np.abs(problem.given[weights])
    if (signless != problem.given[weights]).any():
        says = f"the minus signs of {weights} are left out"
        yield "weights-signless", says, partial(with_weights, signless)
    says = f"{weights} is multiplied by {tokens}, and not {tokens} by {weights}"
    yield "weights-first", says, partial(_weights_first, step)
    yield from _of_splitting(step, problem)
    stored = getattr(problem, weights)
    if stored.shape[-1] == stored.shape[-2]:
        turned = problem.turned(weights, stored.swapaxes(-1, -2))
        yield "weights-transposed", f"{weights} is transposed", partial(with_weights, turned)
    for other in ("W_Q", "W_K", "W_V"):
        if other in problem.names and other != weights and step.role != "outputs":
            says = f"{other} is used in place of {weights}"
            yield f"weights-swapped:{other}", says, partial(with_weights, problem.given[other])
    yield from _of_sources(step, problem)


def _of_splitting(step: Step, problem: Attention) -> Iterator[Wrong]:
    """Yield the results of other ways to split heads."""
    heads = problem.n_heads if step.rows == "queries" else problem.n_kv_heads
    if heads > 1 and step.role != "outputs":
        says = "the heads alternate column by column, and are not side by side"
        yield "heads-interleaved", says, partial(_split, step, _interleaved)
        says = "the heads are split by a view alone, without exchanging rows and heads"
        yield "heads-viewed", says, partial(_split, step, _viewed)


def _with_bias(step: Step, change: Callable[[Range], Range], read: Read) -> Range:
    tokens, weights, bias = map(read, step.inputs)
    return step.operation.over(tokens, weights, change(bias))


def _negative(values: Range) -> Range:
    return times(values, -1.0)


def _times_bias(step: Step, read: Read) -> Range:
    tokens, weights, bias = map(read, step.inputs)
    return entry_by_entry(step.operation.over(tokens, weights), bias.low)


def _weights_first(step: Step, read: Read) -> Range:
    tokens, weights, *bias = map(read, step.inputs)
    if weights.low.ndim == 2 or bias:
        return step.operation.over(weights, tokens, *bias)
    made = step.operation.over(Concat().over(weights), tokens)
    return made.map(partial(split_heads, heads=len(weights.low)))


def _split(step: Step, split: Callable[[int, Matrix], Matrix], read: Read) -> Range:
    right = done_right(step, read)
    return Concat().over(right).map(partial(split, len(right.low)))


def _interleaved(heads: int, beside: Matrix) -> Matrix:
    return beside.reshape(len(beside), -1, heads).transpose(2, 0, 1)


def _viewed(heads: int, beside: Matrix) -> Matrix:
    return beside.reshape(heads, len(beside), -1)


def _of_sources(step: Step, problem: Attention) -> Iterator[Wrong]:
    """Yield the results of other tokens, or of tokens that are not projected."""
    tokens, weights, *bias = step.inputs
    product = f"the product with {weights} is left out"
    says = f"{tokens} itself is taken for {step.name}: {product}"
    if step.role == "outputs":
        yield "unprojected", says, lambda read: read(tokens)
        return
    heads = problem.n_heads if step.rows == "queries" else problem.n_kv_heads

    def of_others(other: str, read: Read) -> Range:
        return step.operation.over(read(other), read(weights), *map(read, bias))

    yield (
        "unprojected",
        says,
        lambda read: read(tokens).map(lambda end: split_heads(end, heads)),
    )
    plain = tokens.removesuffix("_P")
    if plain != tokens:
        says = "the positions are not added to the tokens"
        yield "positions-forgotten", says, partial(of_others, plain)
    for other in ("X1", "X2", "X3"):
        if other in problem.names and other != plain:
            placed = problem.positions == "sinusoidal" or f"P{other[1:]}" in problem.names
            name = other + tokens.removeprefix(plain) if placed else other
            says = f"{step.name} is computed from {other} and not from {plain}"
            yield f"wrong-source:{other}", says, partial(of_others, name)
