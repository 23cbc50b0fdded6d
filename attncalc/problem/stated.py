"""A problem in words: what it is headed with, and every convention that it keeps."""

from collections.abc import Iterator
from fractions import Fraction

from attncalc.numbers.typed import as_written
from attncalc.problem.attention.fields import EACH_STEP, SQRT_DK
from attncalc.problem.attention.steps import sinusoidal_place
from attncalc.problem.fields import MASKS, TOKENS
from attncalc.problem.problem import Problem
from attncalc.text import on_a_line


def heading(problem: Problem) -> str:
    """Return what a page is headed with: the kind of attention, and the problem's title."""
    kind = {"self": "Self-attention", "cross": "Cross-attention"}[problem.kind]
    if not problem.has_tokens:
        kind = "Attention"
    return f"{kind}: {on_a_line(problem.title)}" if problem.title else kind


def conventions(problem: Problem) -> tuple[str, ...]:
    """State every convention of a problem, each in a few words.

    Examples
    --------
    >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
    >>> for convention in conventions(problem):
    ...     print(convention)
    tokens are rows
    scores divided by √d_k = √1
    shown to 2 decimals, halves away from zero
    full precision carried from step to step (rounding: display)
    """
    return (
        *_layout_in_words(problem),
        *_positions_in_words(problem),
        *_heads_in_words(problem),
        _scale_in_words(problem),
        *_masks_in_words(problem),
        *_rounding_in_words(problem),
    )


def _layout_in_words(problem: Problem) -> Iterator[str]:
    yield f"tokens are {problem.layout}"
    if problem.weights_layout == "torch":
        yield "weights are stored (out, in), as PyTorch keeps them"


def _positions_in_words(problem: Problem) -> Iterator[str]:
    if problem.positions == "sinusoidal":
        yield f"sinusoidal positions added to the tokens, {_sinusoidal_places(problem)}"
    if problem.positions == "rope":
        pairs = "half the width apart" if problem.rope_pairing == "halves" else "side by side"
        yield (
            f"queries and keys rotated by rope: base {as_written(Fraction(problem.rope_base))}, "
            f"{_rope_places(problem)}, paired columns {pairs} ({problem.rope_pairing})"
        )


def _sinusoidal_places(problem: Problem) -> str:
    places = {name: sinusoidal_place(problem, name) for name in TOKENS if name in problem.names}
    if len(set(places.values())) == 1:
        return f"the first at place {next(iter(places.values()))}"
    return ", ".join(f"the first of {name} at place {place}" for name, place in places.items())


def _rope_places(problem: Problem) -> str:
    query, key = map(as_written, problem.rope_places)
    if query == key:
        return f"the first token at place {key}"
    return f"the first query at place {query}, the first key at place {key}"


def _heads_in_words(problem: Problem) -> Iterator[str]:
    heads, groups = problem.n_heads, problem.n_kv_heads
    if heads == 1:
        return
    joined = "side by side" if problem.combine == "concat" else "averaged"
    yield f"{heads} heads, their outputs {joined} (combine: {problem.combine})"
    if groups < heads:
        each = (
            "the one key and value head" if groups == 1 else f"each of {groups} key and value heads"
        )
        yield f"{each} serves {heads // groups} query heads in turn"


def _scale_in_words(problem: Problem) -> str:
    if problem.scale == SQRT_DK:
        of = " of a head" if problem.n_heads > 1 else ""
        return f"scores divided by √d_k{of} = √{problem.d_k}"
    if isinstance(problem.scale, Fraction) and problem.scale != 1:
        return f"scores multiplied by {as_written(problem.scale)}"
    return "scores not scaled"


def _masks_in_words(problem: Problem) -> Iterator[str]:
    if problem.softcap is not None:
        yield f"scores capped at {as_written(Fraction(problem.softcap))} by tanh"
    if problem.causal:
        edge = "a query sees keys up to its own place"
        if problem.causal_alignment == "bottom-right":
            edge = "the last query sees all keys, each before it one less"
        yield f"causal, {problem.causal_alignment}: {edge}"
    meanings = {"keep": "1 may attend", "ignore": "1 may not attend", "bias": "added to the scores"}
    for name in MASKS:
        if getattr(problem, name) is not None:
            yield f"mask {name}: {meanings[name]}"
    if problem.normalizer != "softmax":
        means = {
            "hardmax": "all weight to the largest score, ties share it",
            "sum": "each score divided by the sum of its row",
        }
        yield f"normalizer {problem.normalizer}: {means[problem.normalizer]}"


def _rounding_in_words(problem: Problem) -> Iterator[str]:
    decimals = "1 decimal" if problem.decimals == 1 else f"{problem.decimals} decimals"
    yield f"shown to {decimals}, halves away from zero"
    if problem.rounding == EACH_STEP:
        yield "each step rounded before the next reads it (rounding: each-step)"
    else:
        yield "full precision carried from step to step (rounding: display)"
