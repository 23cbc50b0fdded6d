"""A problem as text: its heading, and every convention that it uses."""

from collections.abc import Iterator
from fractions import Fraction

from attncalc.base.text import amount, on_a_line
from attncalc.base.typed import as_written
from attncalc.equations.operations.angles import LINEAR, RopeScaling
from attncalc.equations.operations.distances import exponents_of_slopes
from attncalc.equations.own import Own
from attncalc.problem.attention.attention import Attention
from attncalc.problem.attention.declared import (
    ADDITIVE,
    CONCAT,
    DISTANCE,
    DOT,
    EACH_STEP,
    GENERAL,
    SQRT_DK,
)
from attncalc.problem.attention.steps import sinusoidal_place
from attncalc.problem.embedding import base_of
from attncalc.problem.fields import IN_WORDS, MASKS, TOKENS
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan

MOST_SLOPES = 8
"""The number of slopes that a heading lists."""


def heading(problem: Problem) -> str:
    """Return the heading of a page: the kind of attention, and the title of the problem."""
    kind = f"{problem.kind}-attention" if problem.is_alone else IN_WORDS[problem.block]
    if not problem.has_tokens:
        kind = "attention"
    if problem.is_alone and not problem.attentions:
        kind = "equations"
    kind = f"{kind[0].upper()}{kind[1:]}"
    return f"{kind}: {on_a_line(problem.title)}" if problem.title else kind


def conventions(problem: Problem, rounding: str = "") -> tuple[str, ...]:
    """Return every convention of a problem, as short texts; or those under another rounding.

    >>> problem = Problem(X=[[1, 0]], W_Q=[[1], [0]], W_K=[[1], [1]], W_V=[[2], [4]])
    >>> for convention in conventions(problem):
    ...     print(convention)
    tokens are rows
    scores divided by √d_k = √1
    shown to 2 decimals, halves away from zero
    full precision carried from step to step (rounding: display)
    """
    return tuple(_in_words(problem, rounding or problem.rounding))


def _in_words(problem: Problem, rounding: str) -> Iterator[str]:
    yield f"tokens are {problem.layout}"
    if problem.weights_layout == "torch":
        yield "weights are stored (out, in), as PyTorch keeps them"
    attentions = [
        (part.prefix, tuple(_attention_in_words(part.attention, part.steps, rounding)))
        for part in problem.calculation.parts
        if part.attention is not None
    ]
    for text in dict.fromkeys(text for _, texts in attentions for text in texts):
        places = [prefix.rstrip(".") for prefix, texts in attentions if text in texts]
        yield text if len(places) == len(attentions) else f"{', '.join(places)}: {text}"
    others = [part for part in problem.calculation.parts if part.attention is None]
    if others and not problem.residual:
        yield "no residual connections (residual: false)"
    yield from dict.fromkeys(text for part in others for text in part.says)
    yield f"shown to {amount(problem.decimals, 'decimal')}, halves away from zero"
    if rounding == EACH_STEP:
        yield "each step rounded before the next reads it (rounding: each-step)"
    else:
        yield "full precision carried from step to step (rounding: display)"
    yield from problem.remarks


def _attention_in_words(attention: Attention, steps: Plan, rounding: str) -> Iterator[str]:
    """Yield the conventions of an attention, without those of replaced steps."""
    kept = {step.name for step in steps if not isinstance(step.operation, Own)}
    yield from _norm_in_words(attention)
    yield from _positions_in_words(attention)
    if kept:
        yield from _heads_in_words(attention)
    if {"S", "A"} & kept:
        yield from _score_in_words(attention, rounding)
    is_scaled = attention.scale == SQRT_DK or attention.scale not in ("none", 1)
    if ("S_scaled" if is_scaled and attention.start != "A" else "A") in kept:
        yield from _scale_in_words(attention)
    if {"S_masked", "A"} & kept:
        yield from _masks_in_words(attention)


def _norm_in_words(problem: Attention) -> Iterator[str]:
    if problem.qk_norm == "none":
        return
    is_centred, is_joint = problem.qk_norm == "layer", problem.qk_norm == "rms-all"
    how = "to mean 0, variance 1" if is_centred else "by the root of the mean square"
    how += " of all heads together" if is_joint else ""
    eps = f"ε = {as_written(problem.norm_eps)} inside the root"
    before = ", before rope" if problem.positions == "rope" else ""
    what = f"each head's queries and keys normalized {how}{before}"
    yield f"{what} (qk_norm: {problem.qk_norm}), {eps}"


def _positions_in_words(problem: Attention) -> Iterator[str]:
    if problem.positions == "sinusoidal":
        first = {n: sinusoidal_place(problem, n) for n in TOKENS if n in problem.names}
        places = ", ".join(f"the first of {name} at place {at}" for name, at in first.items())
        if len({*first.values()}) == 1:
            places = f"the first at place {first.popitem()[1]}"
        yield f"sinusoidal positions added to the tokens, {places}{base_of(problem)}"
    if problem.positions == "rope":
        pairs = "half the width apart" if problem.rope_pairing == "halves" else "side by side"
        turned = "" if problem.rope_dims is None else f" in their first {problem.rope_dims} columns"
        query, key = map(as_written, problem.rope_places)
        places = f"the first query at place {query}, the first key at place {key}"
        if query == key:
            places = f"the first token at place {key}"
        factor = Fraction(problem.rope_factor)
        grown = "" if factor == 1 else f", times {as_written(factor)} (rope_factor)"
        yield (
            f"queries and keys rotated by RoPE{turned}: {_rope_speed(problem)}, {places}, "
            f"paired columns {pairs} ({problem.rope_pairing}){grown}"
        )


def _rope_speed(problem: Attention) -> str:
    if problem.rope_frequencies is not None:
        return "frequencies as given"
    base = f"base {as_written(Fraction(problem.rope_base))}"
    scaling: RopeScaling | None = problem.rope_scaling
    if scaling is None:
        return base
    factor = as_written(scaling.factor)
    if scaling.kind == LINEAR:
        return f"{base}, frequencies divided by {factor} (rope_scaling: linear)"
    low, high, original = map(as_written, scaling[2:])
    return (
        f"{base}, frequencies that turn fewer than {low} times in {original} tokens divided by "
        f"{factor}, those of more than {high} turns kept, and between in part "
        "(rope_scaling: llama3)"
    )


def _heads_in_words(problem: Attention) -> Iterator[str]:
    heads, groups = problem.n_heads, problem.n_kv_heads
    if heads == 1:
        return
    joined = "side by side" if problem.combine == "concat" else "averaged"
    yield f"{heads} heads, their outputs {joined} (combine: {problem.combine})"
    if groups < heads:
        each = "the one key and value head"
        if groups > 1:
            each = f"each of {groups} key and value heads"
        yield f"{each} serves {heads // groups} query heads in turn"


def _score_in_words(problem: Attention, rounding: str) -> Iterator[str]:
    """Yield the kind of score, if it is not a dot product or given."""
    if problem.start == "A":
        yield "weights A are given: they are neither normalized nor rounded before they are used"
    if problem.start == "S":
        yield "scores S are given"
    if problem.score == DOT:
        return
    yield f"{problem.score} scores, {_score_formula(problem)} of each query q and key k"
    for name, of in (("Q", "queries"), ("K", "keys"), ("V", "values")):
        if problem.is_bare(name):
            yield f"tokens {problem.sources[name]} are the {of} themselves (no W_{name})"
    if rounding == EACH_STEP and problem.score in (ADDITIVE, CONCAT):
        yield "inside a score, tanh and its argument are not rounded"


def _score_formula(problem: Attention) -> str:
    """Return the formula of a kind of score as in the literature."""
    plus = " + b_S" if problem.b_S is not None else ""
    if problem.score == ADDITIVE:
        sides = [
            side if getattr(problem, name) is None else " ".join(problem.standing.pair(side, name))
            for side, name in (("q", "W_Sq"), ("k", "W_Sk"))
        ]
        return f"v_Sᵀ tanh({' + '.join(sides)}{plus})"
    both = " ".join(problem.standing.pair("[q; k]", "W_S"))
    formulas = {GENERAL: "qᵀ W_S k", CONCAT: f"v_Sᵀ tanh({both}{plus})", DISTANCE: "-‖q - k‖² / 2"}
    return formulas[problem.score]


def _scale_in_words(problem: Attention) -> Iterator[str]:
    if problem.start == "A":
        return
    if problem.scale == SQRT_DK:
        of = " of a head" if problem.n_heads > 1 else ""
        yield f"scores divided by √d_k{of} = √{problem.d_k}"
    elif isinstance(problem.scale, Fraction) and problem.scale != 1:
        yield f"scores multiplied by {as_written(problem.scale)}"
    elif problem.start == "S":
        yield "scores not scaled: S is taken as it is (scale takes a number to multiply by)"
    else:
        yield "scores not scaled"


def _masks_in_words(problem: Attention) -> Iterator[str]:
    if problem.softcap is not None:
        yield f"scores capped at {as_written(Fraction(problem.softcap))} by tanh"
    yield from _distances_in_words(problem)
    yield from _edges_in_words(problem)
    meanings = {"keep": "1 may attend", "ignore": "1 may not attend", "bias": "added to the scores"}
    for name in MASKS:
        if getattr(problem, name) is not None:
            yield f"mask {name}: {meanings[name]}"
    if problem.sinks is not None:
        yield "sinks: each head's sink is added to the softmax of its rows as an extra logit"
    if problem.normalizer != "softmax":
        means = "each score divided by the sum of its row"
        if problem.normalizer == "hardmax":
            means = "all weight to the largest score, shared by ties"
        yield f"normalizer {problem.normalizer}: {means}"


def _distances_in_words(problem: Attention) -> Iterator[str]:
    if problem.has_alibi:
        slopes = "as given"
        if problem.alibi_slopes is None:
            powers = [str(each) for each in exponents_of_slopes(problem.n_heads)]
            if len(powers) > MOST_SLOPES:
                powers[MOST_SLOPES - 1 : -1] = ["…"]
            slopes = f"of Press et al. (2022), 2^-x for x = {', '.join(powers)}"
        yield f"ALiBi: slope times distance |i - j| taken off each score, slopes {slopes}"
    if problem.rel_bias is not None:
        buckets = problem.rel_bias.size // problem.n_heads
        ways = "half of them for keys" if problem.rel_both_ways else "the first for all keys"
        yield (
            f"relative bias in {buckets} buckets by distance, {ways} behind a query, the last from "
            f"distance {problem.rel_max_distance} at most"
        )


def _edges_in_words(problem: Attention) -> Iterator[str]:
    in_scores = problem.causal or problem.window is not None or problem.has_alibi
    counts_places = in_scores or problem.rel_bias is not None or problem.positions != "none"
    if problem.causal_alignment == "bottom-right" and not counts_places:
        yield "the last query is at the last key (bottom-right), which has no effect here"
    if problem.causal:
        edge = "a query sees keys up to its own place"
        if problem.causal_alignment == "bottom-right":
            edge = "the last query sees all keys, each before it one less"
        if problem.n_past:
            tokens = "token" if problem.n_past == 1 else f"{problem.n_past} tokens"
            yield f"causal, behind the {tokens} of a cache: {edge}"
        else:
            yield f"causal, {problem.causal_alignment}: {edge}"
    if problem.window is not None:
        keys = f"the last {problem.window} keys" if problem.window > 1 else "one key"
        own = "its own place included" if problem.window > 1 else "that at its own place"
        where = ""
        if not problem.causal:
            where = " and none after it"
            if problem.causal_alignment == "bottom-right":
                where += "; the last query is at the last key (bottom-right)"
        yield f"window {problem.window}: a query sees {keys}, {own}{where}"
