"""Wrong projections: other weights, weights turned, other tokens, no bias, no product at all."""

from collections.abc import Iterator
from functools import partial

from attncalc.grading.recipes.common import Read, Wrong
from attncalc.numbers.types import Matrix, Range
from attncalc.operations.step import Step
from attncalc.problem.problem import Problem
from attncalc.problem.standing import split_heads


def of_projection(step: Step, problem: Problem) -> Iterator[Wrong]:
    """Yield what comes of other weights or tokens, or without the bias."""
    tokens, weights, *bias = step.inputs

    def with_weights(other: Matrix, read: Read) -> Range:
        return step.operation.over(read(tokens), Range.at(other), *map(read, bias))

    if bias:
        says = f"{bias[0]} is left out"
        yield "bias-forgotten", says, lambda read: step.operation.over(read(tokens), read(weights))
    stored = getattr(problem, weights)
    if stored.shape[-1] == stored.shape[-2]:
        turned = problem.turned(weights, stored.swapaxes(-1, -2))
        yield "weights-transposed", f"{weights} is transposed", partial(with_weights, turned)
    for other in ("W_Q", "W_K", "W_V"):
        if other in problem.names and other != weights and step.role != "outputs":
            says = f"{other} is used in place of {weights}"
            yield f"weights-swapped:{other}", says, partial(with_weights, problem.given[other])
    yield from _of_sources(step, problem)


def _of_sources(step: Step, problem: Problem) -> Iterator[Wrong]:
    """Yield what comes of other tokens, or of tokens that are not projected at all."""
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
            name = other + tokens.removeprefix(plain)
            says = f"{step.name} is computed from {other} and not from {plain}"
            yield f"wrong-source:{other}", says, partial(of_others, name)
