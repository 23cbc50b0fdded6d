"""Tokens in another order: the problem with them, and whether its outputs are permuted alike."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from attncalc.problem.gradients.naming import is_of_the_way_back
from attncalc.problem.problem import Problem
from attncalc.solving.solution import solve

QUERIES = ("X", "X1", "Q")
PERMUTABLE = (*QUERIES, "X2", "X3", "K", "V")
"""Given matrices that have a row for each token."""
SAME = 1e-9
"""By how much outputs that are the same may differ, relative to the largest of them."""


class Moved(NamedTuple):
    """How the outputs change when tokens are in another order.

    how: "alike" if they are in the same new order, "same" if they do not change, "otherwise" else.
    outputs: which outputs differ from the expected ones, from 0.
    """

    step: str
    how: str
    outputs: tuple[int, ...]


def in_order(problem: Problem, names: Sequence[str], order: Sequence[int]) -> Problem:
    """Return a problem with the tokens of some matrices, and their labels, in another order.

    Masks, biases and positions stay where they are.
    """
    changed = problem
    labels: Any = problem.labels
    for name in names:
        axis = -1 if problem.standing.has_token_columns(name) else -2
        changed = changed.with_field(name, np.take(problem.as_typed(name), order, axis=axis))
        own = labels.get(name) if isinstance(labels, Mapping) else labels
        if own is not None and len(own) == len(order):
            moved = tuple(own[place] for place in order)
            labels = {**labels, name: moved} if isinstance(labels, Mapping) else moved
    return changed if labels is problem.labels else changed.with_field("labels", labels)


def tokens_in(problem: Problem, name: str) -> int:
    """Return how many tokens a given matrix has."""
    axis = -1 if problem.standing.has_token_columns(name) else -2
    return int(np.shape(problem.as_typed(name))[axis])


def moved(problem: Problem, names: Sequence[str], order: Sequence[int]) -> Moved:
    """Return how the outputs change with the tokens of some matrices in another order."""
    names_of_steps = (each.name for each in problem.calculation.steps)
    step = [name for name in names_of_steps if not is_of_the_way_back(name)][-1]
    before = solve(problem, keep=(step,)).floats[step]
    after = solve(in_order(problem, names, order), keep=(step,)).floats[step]
    near = SAME * max(1.0, float(np.abs(before).max()))
    is_of_queries = any(name in QUERIES for name in names) and before.shape[-2] == len(order)
    expected = before[..., list(order), :] if is_of_queries else before
    apart = np.abs(after - expected) > near
    differing = np.flatnonzero(apart.any(axis=(0, -1) if apart.ndim == 3 else -1))
    how = "otherwise" if len(differing) else "alike" if is_of_queries else "same"
    return Moved(step, how, tuple(differing.tolist()))


def orders(count: int) -> Iterator[list[int]]:
    """Yield a cycle and an exchange of so many tokens, which together make up every order."""
    places = list(range(count))
    if count > 2:
        yield [*places[1:], 0]
    yield [1, 0, *places[2:]]


def what_depends_on_order(problem: Problem) -> tuple[str, ...]:
    """Return what in a problem depends on the places of tokens: positions, masks, equations."""
    found: dict[str, None] = {}
    attentions = problem.attentions or (problem,)
    kind = next((each.positions for each in attentions if each.positions != "none"), "none")
    named = any(name.rpartition(".")[2] in ("P", "P1", "P2") for name in problem.names)
    if kind != "none" or named:
        found[f"the positions ({kind})" if kind != "none" else "the positions"] = None
    for each in attentions:
        words = {
            "the causal mask": each.causal,
            "the window": each.window is not None,
            "ALiBi": bool(each.alibi) or each.alibi_slopes is not None,
            "the relative bias": each.rel_bias is not None,
            "the mask keep": each.keep is not None,
            "the mask ignore": each.ignore is not None,
            "the bias": each.bias is not None,
            "the cache": each.past_K is not None or each.past_V is not None,
        }
        found |= dict.fromkeys(word for word, holds in words.items() if holds)
    if problem.equations:
        found["the equations"] = None
    return tuple(found)
