"""Attention as named steps.

Q = X W_Q, K = X W_K, V = X W_V, S = Q Kᵀ, S_scaled = S / √d_k, A = softmax(S_scaled), O = A V.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce

import numpy as np

from attncalc.base.types import Matrix
from attncalc.equations.operation import Operation
from attncalc.equations.operations.angles import Rotate, Sinusoids
from attncalc.equations.operations.assembling import Add, Concat, Given, Mean, Same, Stack
from attncalc.equations.operations.distances import Alibi, RelativeBias
from attncalc.equations.operations.entrywise import DivideBySqrt, Mask, Multiply, SoftCap
from attncalc.equations.operations.normalising import (
    DivideBySum,
    HardMax,
    HeadsSquares,
    Normalise,
    Softmax,
)
from attncalc.equations.operations.products import (
    AdditiveScores,
    ConcatScores,
    DistanceScores,
    Project,
    Scores,
    Scoring,
    Weigh,
)
from attncalc.problem.attention.attention import Attention
from attncalc.problem.attention.declared import ADDITIVE, CONCAT, DISTANCE, GENERAL, SQRT_DK
from attncalc.problem.embedding import has_positions
from attncalc.problem.fields import MASKS
from attncalc.problem.normalisation import with_statistics
from attncalc.problem.step import Axis, Role, Step

TITLES: dict[str, str] = {
    **dict.fromkeys(("P", "P1", "P2", "P3"), "positions"),
    **dict.fromkeys(("X_P", "X1_P", "X2_P", "X3_P"), "tokens at their places"),
    "Q": "queries",
    "K": "keys",
    "V": "values",
    "K_all": "keys, earlier ones first",
    "V_all": "values, earlier ones first",
    "mu_Q": "mean of each query",
    "mu_K": "mean of each key",
    "var_Q": "variance of each query",
    "var_K": "variance of each key",
    "ms_Q": "mean square of each query",
    "ms_K": "mean square of each key",
    "Q_norm": "normalized queries",
    "K_norm": "normalized keys",
    "Q_rot": "rotated queries",
    "K_rot": "rotated keys",
    "Q_S": "queries as scores take them",
    "K_S": "keys as scores take them",
    "S": "scores",
    "S_scaled": "scaled scores",
    "S_capped": "capped scores",
    "S_alibi": "scores less slope times distance",
    "S_rel": "scores with relative bias",
    "S_masked": "masked scores",
    "A": "attention weights",
    "H": "each head's outputs",
    "C": "heads side by side",
    "O": "outputs",
}
"""The steps of an attention, in order, with their titles."""


BETWEEN = ("Q_S", "K_S", "S_scaled", "S_alibi", "S_rel", "S_masked", "H", "C")
"""Steps that may be skipped if a later one is written: they are not asked for then."""


def attention_steps(attention: Attention) -> Iterator[Step]:
    """Yield the steps of an attention, each after those it reads."""
    made = (_positioned, _projected, _with_earlier, _of_one_size, _rotated, _scored, _normalised)
    for steps in (*made, _combined) if attention.has_values else made:
        for step in steps(attention):
            yield step._replace(is_between=step.is_between or step.name in BETWEEN)


def _positioned(attention: Attention) -> Iterator[Step]:
    axes: dict[str, Axis] = {"X": "queries", "X1": "queries", "X2": "keys", "X3": "values"}
    for X in attention.names:
        if X not in axes:
            continue
        P = X.replace("X", "P")
        if attention.positions == "sinusoidal":
            base = Fraction(attention.positions_base)
            waves = Sinusoids(sinusoidal_place(attention, X), base)
            yield Step(P, TITLES[P], waves, (X,), axes[X], "features")
        elif getattr(attention, P) is None:
            continue
        yield Step(f"{X}_P", TITLES[f"{X}_P"], Add(), (X, P), axes[X], "features")


def sinusoidal_place(attention: Attention, tokens: str) -> int:
    """Return the position of the first of these tokens; queries may be the last tokens."""
    return attention.query_place if tokens == attention.query_source else 0


def _projected(attention: Attention) -> Iterator[Step]:
    for name, source in attention.sources.items():
        if source == name or attention.is_bare(name):
            continue
        inputs = _with_bias(attention, _at_places(attention, source), name)
        yield Step(name, TITLES[name], Project(), inputs, "queries" if name == "Q" else "keys")


def _at_places(attention: Attention, source: str) -> str:
    """Return the name of tokens with their positions."""
    return f"{source}_P" if has_positions(attention, source) else source


def _own(attention: Attention, name: str) -> str:
    """Return the name of queries, keys or values: Q, K or V, or that of the tokens."""
    if not attention.is_bare(name):
        return name
    return _at_places(attention, attention.sources[name])


def _with_bias(attention: Attention, tokens: str, name: str) -> tuple[str, ...]:
    """Return the inputs of a projection: tokens, weights, and a bias if there is one."""
    return (tokens, f"W_{name}", *attention.those_given(f"b_{name}"))


def _with_earlier(attention: Attention) -> Iterator[Step]:
    """Place the cached keys and values before the new ones."""
    for name in "KV" if attention.n_past else "":
        inputs = (f"past_{name}", _own(attention, name))
        yield Step(f"{name}_all", TITLES[f"{name}_all"], Stack(), inputs, "keys")


def _all(attention: Attention, name: str) -> str:
    """Return the name of keys or values with those of a cache."""
    return f"{name}_all" if attention.n_past else _own(attention, name)


def _of_one_size(attention: Attention) -> Iterator[Step]:
    """Normalize each head's queries and keys over their features, before they are rotated."""
    sides: tuple[tuple[str, str, str, Axis], ...] = (
        ("Q", _own(attention, "Q"), "query", "queries"),
        ("K", _all(attention, "K"), "key", "keys"),
    )
    for name, source, of, axis in sides if attention.qk_norm != "none" else ():
        own = attention.those_given(f"gamma_{name}", f"beta_{name}")
        normalise = Normalise(
            attention.norm_eps,
            is_centred=attention.qk_norm == "layer",
            has_gain=f"gamma_{name}" in own,
            has_bias=f"beta_{name}" in own,
            of=of,
            eps_field="a qk_eps",
        )
        norm = f"{name}_norm"
        last = Step(norm, TITLES[norm], normalise, (source, *own), axis)
        is_joint = attention.qk_norm == "rms-all" and attention.heads_of(name) > 1
        squares = HeadsSquares() if is_joint else None
        yield from with_statistics(last, normalise, name, squares=squares)


def _pair(attention: Attention) -> tuple[str, str]:
    """Return the names of queries and keys before they are rotated."""
    if attention.qk_norm != "none":
        return "Q_norm", "K_norm"
    return _own(attention, "Q"), _all(attention, "K")


def _rotated(attention: Attention) -> Iterator[Step]:
    if attention.positions != "rope":
        return
    base, pairing = Fraction(attention.rope_base), attention.rope_pairing
    scaling, dims = attention.rope_scaling, attention.rope_dims
    of_queries, of_keys = (
        Rotate(base, place, pairing, scaling, dims, factor=Fraction(attention.rope_factor))
        for place in attention.rope_places
    )
    queries, keys = _pair(attention)
    own = tuple(attention.those_given("rope_frequencies"))
    yield Step("Q_rot", TITLES["Q_rot"], of_queries, (queries, *own))
    yield Step("K_rot", TITLES["K_rot"], of_keys, (keys, *own), "keys", "features")


def _scored(attention: Attention) -> Iterator[Step]:
    if attention.start:
        return
    rotated = attention.positions == "rope"
    queries, keys = ("Q_rot", "K_rot") if rotated else _pair(attention)
    of_queries = "W_S" if attention.score == GENERAL else "W_Sq"
    own = attention.those_given(*attention.of_score)
    if of_queries in own:
        yield Step("Q_S", TITLES["Q_S"], Project(), (queries, of_queries))
        queries = "Q_S"
    if "W_Sk" in own:
        yield Step("K_S", TITLES["K_S"], Project(), (keys, "W_Sk"), "keys")
        keys = "K_S"
    is_inside = attention.score in (ADDITIVE, CONCAT)  # the step of scores reads them itself
    inside = [name for name in ("W_S", "v_S", "b_S") if is_inside and name in own]
    # decimals as typed are multiplied and added exactly
    is_exact = attention.qk_norm == attention.positions == "none" and attention.is_decimal
    kind = OPERATIONS.get(attention.score)
    scoring = kind() if kind else Scores(attention.normalizer == "sum" and not is_exact)
    yield Step("S", TITLES["S"], scoring, (queries, keys, *inside), "queries", "keys")


OPERATIONS: dict[str, type[Scoring]] = {
    ADDITIVE: AdditiveScores,
    CONCAT: ConcatScores,
    DISTANCE: DistanceScores,
}
"""The operations of scores by kind; all others are dot products."""


def _normalised(attention: Attention) -> Iterator[Step]:
    """Go from scores to weights: scaled, capped, masked, normalized."""
    if attention.start == "A":
        title = "attention weights, as given"
        yield Step("A", title, Given(), ("A",), "queries", "keys", "weights")
        return
    last = "S"
    for name, operation, masks in _refinements(attention):
        role: Role = "masked" if isinstance(operation, Mask) else ""
        yield Step(name, TITLES[name], operation, (last, *masks), "queries", "keys", role)
        last = name
    sinks = tuple(attention.those_given("sinks"))
    kinds = {"softmax": Softmax(attention.may_forbid), "hardmax": HardMax(), "sum": DivideBySum()}
    weights: Operation = kinds[attention.normalizer]
    yield Step("A", TITLES["A"], weights, (last, *sinks), "queries", "keys", "weights")


def _refinements(attention: Attention) -> Iterator[tuple[str, Operation, tuple[str, ...]]]:
    if attention.scale == SQRT_DK:
        yield "S_scaled", DivideBySqrt(attention.d_k), ()
    # a step that multiplies by 1 would be one more matrix to copy by hand
    elif isinstance(attention.scale, Fraction) and attention.scale != 1:
        yield "S_scaled", Multiply(attention.scale), ()
    if attention.softcap is not None:
        yield "S_capped", SoftCap(Fraction(attention.softcap)), ()
    yield from _biased(attention)
    if attention.is_masked:
        masks = tuple(name for name in MASKS if getattr(attention, name) is not None)
        yield "S_masked", _mask(attention, masks), masks


def forbidden_in(attention: Attention) -> Matrix | None:
    """Return where queries may not attend to keys, (n, m) or (heads, n, m); None for nowhere."""
    found: list[Matrix] = []
    if attention.start != "A" and attention.is_masked:
        masks = {name: attention.upright_matrix(name) for name in attention.those_given(*MASKS)}
        operation = _mask(attention, tuple(masks))
        found = [*operation.forbidden((attention.n, attention.m), masks).values()]
    if attention.start == "S":
        found.append(np.isneginf(attention.upright_matrix("S")))
    hidden = reduce(np.logical_or, found) if found else np.zeros(1)
    if not hidden.any():
        return None
    return np.broadcast_to(hidden, (*hidden.shape[:-2], attention.n, attention.m))


def hidden_of(attention: Attention, head: int) -> Matrix | None:
    """Return where one head, from 1, may not attend; for 0, the mean, where none may."""
    hidden = forbidden_in(attention)
    if hidden is None or hidden.ndim == 2:
        return hidden
    if len(hidden) == 1 or head:
        return np.asarray(hidden[max(head, 1) - 1 if len(hidden) > 1 else 0])
    return np.asarray(hidden.all(axis=0))


def _biased(attention: Attention) -> Iterator[tuple[str, Operation, tuple[str, ...]]]:
    """Add biases by the distance of query and key to the scores."""
    place = attention.query_place
    is_inside = place >= 0 and place + attention.n <= attention.m
    if attention.has_alibi:
        own = tuple(attention.those_given("alibi_slopes"))
        alibi = Alibi(
            place,
            attention.n_heads,
            farthest=attention.farthest,
            is_near=is_inside and not attention.those_given(*MASKS),
            has_own=bool(own),
        )
        yield "S_alibi", alibi, own
    if attention.rel_bias is not None:
        buckets = attention.rel_bias.size // attention.n_heads
        longest, both_ways = attention.rel_max_distance, attention.rel_both_ways
        yield "S_rel", RelativeBias(place, buckets, longest, both_ways), ("rel_bias",)


def _mask(attention: Attention, masks: tuple[str, ...]) -> Mask:
    if not attention.causal and attention.window is None:
        return Mask(masks)
    # a query sees itself: aligned top-left, the first of them sees one key
    sees = 1 + attention.query_place
    return Mask(masks, sees, attention.window, is_causal=attention.causal)


def _combined(attention: Attention) -> Iterator[Step]:
    """Go from weights and values to outputs: each head's, the heads together, their projection."""
    projected = attention.W_O is not None or attention.b_O is not None
    # scores divided by their sum, and given weights, may be negative; with a sink they do not sum
    # to 1
    are_shares = attention.normalizer != "sum" and attention.start != "A"
    weigh = Weigh(of_shares=are_shares and attention.sinks is None)
    inputs: tuple[str, ...] = ("A", _all(attention, "V"))
    # a single head is the output already: no H and C that only repeat it
    if attention.n_heads == 1 and not projected:
        yield Step("O", TITLES["O"], weigh, inputs, role="outputs")
        return
    yield Step("H", TITLES["H"], weigh, inputs)
    joined = "H"
    if attention.n_heads > 1:
        joined = "C"
        concat = attention.combine == "concat"
        title = TITLES["C"] if concat else "mean of the heads"
        yield Step("C", title, Concat() if concat else Mean(), ("H",))
    last: Operation = Same() if attention.b_O is None else Add()
    inputs = (joined, *attention.those_given("b_O"))
    if attention.W_O is not None:
        last, inputs = Project(), _with_bias(attention, joined, "O")
    yield Step("O", TITLES["O"], last, inputs, role="outputs")
