"""The fields of attention: the matrices that can be given, and the conventions."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from attncalc.base.typed import NotANumber
from attncalc.problem.attention.rope_scaling import TAKES, read_rope_scaling
from attncalc.problem.field import (
    CONVENTIONS,
    FIRST,
    LAYERS,
    Whole,
    choice,
    from_one,
    matrix,
    names,
    not_negative,
    number,
    plain,
    positive,
    setting,
    yes_or_no,
)

SQRT_DK, NONE = "sqrt_dk", "none"
DISPLAY, EACH_STEP = "display", "each-step"
DOT, GENERAL, ADDITIVE, CONCAT, DISTANCE = "dot", "general", "additive", "concat", "distance"
OF_SCORE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    DOT: ((), ()),
    GENERAL: (("W_S",), ()),
    ADDITIVE: (("v_S",), ("W_Sq", "W_Sk", "b_S")),
    CONCAT: (("W_S", "v_S"), ("b_S",)),
    DISTANCE: ((), ()),
}
"""The matrices that each kind of score needs, and those that it can have."""
SCORES = tuple(OF_SCORE)
IN_ORDER = ("Q", "K", "V", "S", "S_scaled", "S_masked", "A", "H", "C", "O")
"""The results of an attention by itself, each after those that it depends on."""
MOST_DECIMALS = 12


def read_scale(given: Any) -> str | Fraction:
    """Read the scale of scores: a word, or a number."""
    for value in (SQRT_DK, NONE):
        if plain(given) == plain(value):
            return value
    if isinstance(given, bool):  # one way to write a value; in other libraries true differs
        raise NotANumber(f'for true write "{SQRT_DK}" (divided by √d_k), for false "{NONE}"')
    return number(given)


def even(given: Any) -> int:
    """Read an even number."""
    value = Whole(2, 1_000_000)(given)
    if value % 2:
        raise ValueError
    return value


OF_ROPE: dict[str, Any] = {"needs": "positions rope"}
OF_BUCKETS: dict[str, Any] = {"needs": "rel_bias"}
"""Of each setting of rope, and of relative biases."""


@dataclass(frozen=True, eq=False, repr=False, init=False)  # a Problem makes these of its own
class AttentionFields:
    """Every matrix and every convention of an attention; `Problem` describes them."""

    X: Any = matrix("tokens", "Tokens of self-attention, one per row.", FIRST, "self")
    X1: Any = matrix("tokens", "Query tokens of cross-attention, one per row.", FIRST, "cross")
    X2: Any = matrix("tokens", "Key and value tokens of cross-attention.", FIRST, "cross")
    X3: Any = matrix("tokens", "Value tokens, if they differ from X2.", kind="cross")
    Q: Any = matrix("projected", "Queries, given directly instead of tokens and W_Q.")
    K: Any = matrix("projected", "Keys, given directly.")
    V: Any = matrix("projected", "Values, given directly.")
    W_Q: Any = matrix("weights", "Query weights.", FIRST)
    W_K: Any = matrix("weights", "Key weights.", FIRST)
    W_V: Any = matrix("weights", "Value weights.", FIRST)
    W_O: Any = matrix("weights", "Output projection.")
    b_Q: Any = matrix("bias", "Query bias.")
    b_K: Any = matrix("bias", "Key bias.")
    b_V: Any = matrix("bias", "Value bias.")
    b_O: Any = matrix("bias", "Bias of the output projection.")
    gamma_Q: Any = matrix("bias", "Gain of the query normalization.")
    beta_Q: Any = matrix("bias", "Bias of the query normalization.")
    gamma_K: Any = matrix("bias", "Gain of the key normalization.")
    beta_K: Any = matrix("bias", "Bias of the key normalization.")
    P: Any = matrix("positions", "Position encodings added to X.", kind="self")
    P1: Any = matrix("positions", "Position encodings added to X1.", kind="cross")
    P2: Any = matrix("positions", "Position encodings added to X2.", kind="cross")
    P3: Any = matrix("positions", "Position encodings added to X3.", kind="cross")
    W_S: Any = matrix("weights", "Weights of general and concat scores.")
    W_Sq: Any = matrix("weights", "Query weights of additive scores.")
    W_Sk: Any = matrix("weights", "Key weights of additive scores.")
    v_S: Any = matrix("bias", "Vector that multiplies the tanh of additive and concat scores.")
    b_S: Any = matrix("bias", "Bias inside the tanh of additive and concat scores.")
    S: Any = matrix("start", "Scores, given directly instead of queries and keys.")
    A: Any = matrix("start", "Attention weights, given directly.")
    rope_frequencies: Any = matrix("frequencies", "RoPE frequencies, one per pair of columns.")
    past_K: Any = matrix(
        "past", "Cached keys of earlier tokens, placed before the new ones.", kind=LAYERS
    )
    past_V: Any = matrix("past", "Cached values of earlier tokens.", kind=LAYERS)
    keep: Any = matrix("marks", "Mask: 1 where a query may attend.")
    ignore: Any = matrix("marks", "Mask: 1 where a query may not attend, e.g. padding.")
    bias: Any = matrix("scores", "Additive mask: added to the scaled scores; -inf masks.")
    alibi_slopes: Any = matrix("heads", "ALiBi slopes, one per head.")
    rel_bias: Any = matrix("buckets", "T5 relative position bias: buckets × heads.")
    sinks: Any = matrix("heads", "Attention sinks: one extra logit per head in the softmax sum.")
    scale: Any = setting(
        SQRT_DK,
        read_scale,
        "sqrt_dk (divide by sqrt(d_k)), none, or a factor: 1/3.",
        CONVENTIONS,
        takes='"sqrt_dk", "none" or a number that multiplies the scores',
        off=NONE,
        is_open=True,
    )
    rounding: str = choice(
        f"{DISPLAY} {EACH_STEP}",
        "Round what is shown (display) or every step (each-step).",
        CONVENTIONS,
    )
    decimals: int = setting(
        2,
        Whole(0, MOST_DECIMALS),
        "Decimals shown, 0 to 12; halves round away from zero.",
        CONVENTIONS,
        short="-d",
    )
    language: str = choice(
        "en de fr es pt zh ja",
        "Language of pages and markings: en, de, fr, es, pt, zh or ja.",
        CONVENTIONS,
    )
    asked: Any = setting(
        None,
        names,
        "Steps that an answer must contain: Q,A,O,connections.",
        CONVENTIONS,
        takes="step names, e.g. Q, S, A, and connections for the map",
    )
    heads: int | None = setting(
        None, Whole(1, 10_000), "Number of heads, side by side in the weights."
    )
    combine: str = choice(
        "concat mean",
        "concat or mean: how the heads are combined.",
        needs="an attention with values (V, or W_V)",
    )
    causal: bool = setting(
        False, yes_or_no, "Mask keys after the query's position.", in_decoder=True
    )
    causal_alignment: str = choice(
        "top-left bottom-right", "top-left, or bottom-right: queries are the last tokens."
    )
    score: str = choice(" ".join(SCORES), "dot, general, additive, concat or distance.")
    window: int | None = setting(
        None, Whole(1, 10**15), "Sliding window: keys per query, up to its position."
    )
    alibi: bool = setting(
        False,
        yes_or_no,
        "ALiBi: subtract slope times distance from each score.",
        takes="true or false (for custom slopes use alibi_slopes)",
    )
    rel_max_distance: int = setting(
        128, Whole(2, 10**9), "Distance from which rel_bias has a single bucket.", **OF_BUCKETS
    )
    rel_bidirectional: bool | None = setting(
        None, yes_or_no, "Separate buckets for keys after the query (unless causal).", **OF_BUCKETS
    )
    softcap: Any = setting(None, positive, "Cap each score s at this value c: c tanh(s / c).")
    qk_norm: str = choice(
        "none rms layer rms-all", "rms or layer: normalize queries and keys per head; rms-all."
    )
    qk_eps: Any = setting(
        None,
        not_negative,
        "Epsilon of qk_norm; by default that of eps.",
        needs="qk_norm rms, layer or rms-all",
    )
    normalizer: str = choice(
        "softmax hardmax sum", "softmax, hardmax or sum: turns scores into weights."
    )
    positions: str = choice(
        "none sinusoidal rope",
        "sinusoidal (added to X), rope (rotates Q, K) or none.",
        needs="tokens to add them to, before all layers, or an attention for rope",
    )
    positions_base: Any = setting(
        Fraction(10_000),
        from_one,
        "Base of the sinusoidal frequencies.",
        needs="positions sinusoidal, and tokens to add them to",
    )
    rope_base: Any = setting(
        Fraction(10_000),
        positive,
        "Base of the RoPE frequencies.",
        needs="positions rope, and no rope_frequencies",
    )
    rope_offset: Any = setting(Fraction(0), number, "RoPE position of the first token.", **OF_ROPE)
    rope_query_offset: Any = setting(
        None, number, "RoPE position of the first query (default: see causal_alignment).", **OF_ROPE
    )
    rope_pairing: str = choice(
        "halves interleaved", "halves or interleaved: column pairs that RoPE rotates.", **OF_ROPE
    )
    rope_dims: int | None = setting(
        None,
        even,
        "Number of leading columns that RoPE rotates; by default all.",
        takes="an even whole number from 2",
        **OF_ROPE,
    )
    rope_factor: Any = setting(
        Fraction(1), positive, "Factor of the rotated columns, as in yarn.", **OF_ROPE
    )
    rope_scaling: Any = setting(
        None,
        read_rope_scaling,
        "RoPE frequency scaling: linear factor=4, or llama3.",
        takes=TAKES,
        **OF_ROPE,
    )
    layout: str = choice(
        "rows columns", "rows, or columns: tokens are columns, Q = W_Q X.", CONVENTIONS
    )
    weights_layout: str = choice(
        "in-out torch", "in-out, or torch: weights are stored as (out, in).", CONVENTIONS
    )
