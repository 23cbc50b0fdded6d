"""Attention as named steps.

Q = X W_Q, K = X W_K, V = X W_V, S = Q Kᵀ, S_scaled = S / √d_k, A = softmax(S_scaled), O = A V.
"""

from collections.abc import Iterator
from fractions import Fraction

from attncalc.operations import (
    Add,
    Concat,
    DivideBySqrt,
    DivideBySum,
    HardMax,
    Mask,
    Mean,
    Multiply,
    Operation,
    Project,
    Rotate,
    Same,
    Scores,
    Sinusoids,
    SoftCap,
    Softmax,
    Weigh,
)
from attncalc.operations.step import Axis, Role, Step
from attncalc.problem.attention.attention import Attention
from attncalc.problem.attention.fields import SQRT_DK
from attncalc.problem.fields import MASKS

TITLES: dict[str, str] = {
    **dict.fromkeys(("P", "P1", "P2", "P3"), "positions"),
    **dict.fromkeys(("X_P", "X1_P", "X2_P", "X3_P"), "tokens at their places"),
    "Q": "queries",
    "K": "keys",
    "V": "values",
    "Q_rot": "rotated queries",
    "K_rot": "rotated keys",
    "S": "scores",
    "S_scaled": "scaled scores",
    "S_capped": "capped scores",
    "S_masked": "masked scores",
    "A": "attention weights",
    "H": "each head's outputs",
    "C": "heads side by side",
    "O": "outputs",
}
"""Every step that an attention can have, in order, and what it is in words."""


BETWEEN = ("S_scaled", "S_masked", "H", "C")
"""Steps that people go past where they write a later one: they are not asked for then."""


def attention_steps(attention: Attention) -> Iterator[Step]:
    """Yield the steps of an attention, each after those it reads."""
    for step in _steps(attention):
        yield step._replace(is_between=step.name in BETWEEN)


def _steps(attention: Attention) -> Iterator[Step]:
    yield from _positioned(attention)
    yield from _projected(attention)
    yield from _rotated(attention)
    yield from _scored(attention)
    yield from _combined(attention)


def _positioned(attention: Attention) -> Iterator[Step]:
    """Add positions to each matrix of tokens."""
    axes: dict[str, Axis] = {"X": "queries", "X1": "queries", "X2": "keys", "X3": "values"}
    for X in attention.names:
        if X not in axes:
            continue
        P = X.replace("X", "P")
        if attention.positions == "sinusoidal":
            place = sinusoidal_place(attention, X)
            yield Step(P, "positions", Sinusoids(place), (X,), axes[X], "features")
        elif getattr(attention, P) is None:
            continue
        yield Step(f"{X}_P", "tokens at their places", Add(), (X, P), axes[X], "features")


def sinusoidal_place(attention: Attention, tokens: str) -> int:
    """Return the place of the first of these tokens; those that ask may be the last of all."""
    return attention.query_place if tokens == attention.query_source else 0


def _projected(attention: Attention) -> Iterator[Step]:
    sides: tuple[tuple[str, str, str, Axis], ...] = (
        ("Q", "queries", attention.query_source, "queries"),
        ("K", "keys", attention.key_source, "keys"),
        ("V", "values", attention.value_source, "keys"),
    )
    for name, title, source, axis in sides:
        if source == name:
            continue
        positioned = (
            attention.positions == "sinusoidal"
            or getattr(attention, source.replace("X", "P")) is not None
        )
        tokens = f"{source}_P" if positioned else source
        yield Step(name, title, Project(), _with_bias(attention, tokens, name), axis, "features")


def _with_bias(attention: Attention, tokens: str, name: str) -> tuple[str, ...]:
    """Return what a projection reads: tokens, weights, and a bias when there is one."""
    bias = () if getattr(attention, f"b_{name}") is None else (f"b_{name}",)
    return (tokens, f"W_{name}", *bias)


def _rotated(attention: Attention) -> Iterator[Step]:
    if attention.positions != "rope":
        return
    base, pairing = Fraction(attention.rope_base), attention.rope_pairing
    of_queries, of_keys = (Rotate(base, place, pairing) for place in attention.rope_places)
    yield Step("Q_rot", "rotated queries", of_queries, ("Q",), "queries", "features")
    yield Step("K_rot", "rotated keys", of_keys, ("K",), "keys", "features")


def _scored(attention: Attention) -> Iterator[Step]:
    """Go from queries and keys to weights: scores, scaled, capped, masked, normalised."""
    rotated = "_rot" if attention.positions == "rope" else ""
    yield Step("S", "scores", Scores(), (f"Q{rotated}", f"K{rotated}"), "queries", "keys")
    last = "S"
    for name, title, operation, masks in _refinements(attention):
        role: Role = "masked" if isinstance(operation, Mask) else ""
        yield Step(name, title, operation, (last, *masks), "queries", "keys", role)
        last = name
    normalizers: dict[str, type[Softmax | HardMax | DivideBySum]] = {
        "softmax": Softmax,
        "hardmax": HardMax,
        "sum": DivideBySum,
    }
    weights = normalizers[attention.normalizer](masked=attention.is_masked)
    yield Step("A", "attention weights", weights, (last,), "queries", "keys", "weights")


def _refinements(attention: Attention) -> Iterator[tuple[str, str, Operation, tuple[str, ...]]]:
    if attention.scale == SQRT_DK:
        yield "S_scaled", "scaled scores", DivideBySqrt(attention.d_k), ()
    # a step that multiplies by 1 would be one more matrix to copy by hand
    elif isinstance(attention.scale, Fraction) and attention.scale != 1:
        yield "S_scaled", "scaled scores", Multiply(attention.scale), ()
    if attention.softcap is not None:
        yield "S_capped", "capped scores", SoftCap(Fraction(attention.softcap)), ()
    if attention.is_masked:
        masks = tuple(name for name in MASKS if getattr(attention, name) is not None)
        yield "S_masked", "masked scores", Mask(masks, _causal_from(attention)), masks


def _causal_from(attention: Attention) -> int | None:
    if not attention.causal:
        return None
    # a query sees itself: from the top left, the first of them sees one key
    return 1 + attention.query_place


def _combined(attention: Attention) -> Iterator[Step]:
    """Go from weights and values to outputs: each head's, the heads together, their projection."""
    projected = attention.W_O is not None or attention.b_O is not None
    # scores over their sum may be negative, and then are no shares
    weigh = Weigh(of_shares=attention.normalizer != "sum")
    # one head alone is the output already: no H and no C that only repeat it
    if attention.n_heads == 1 and not projected:
        yield Step("O", "outputs", weigh, ("A", "V"), "queries", "features", "outputs")
        return
    yield Step("H", "each head's outputs", weigh, ("A", "V"), "queries", "features")
    joined = "H"
    if attention.n_heads > 1:
        joined = "C"
        concat = attention.combine == "concat"
        title = "heads side by side" if concat else "mean of the heads"
        yield Step("C", title, Concat() if concat else Mean(), ("H",), "queries", "features")
    if attention.W_O is not None:
        inputs = _with_bias(attention, joined, "O")
        yield Step("O", "outputs", Project(), inputs, "queries", "features", "outputs")
    elif attention.b_O is not None:
        yield Step("O", "outputs", Add(), (joined, "b_O"), "queries", "features", "outputs")
    else:
        yield Step("O", "outputs", Same(), (joined,), "queries", "features", "outputs")
