"""The fields of attention: the matrices that can be given, and the conventions."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from attncalc.problem.attention.rope_scaling import TAKES, read_rope_scaling
from attncalc.problem.field import (
    CONVENTIONS,
    FIRST,
    KINDS,
    LAYERS,
    MORE,
    Whole,
    choice,
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
DOT, GENERAL, ADDITIVE, CONCAT, DISTANCE = SCORES = (
    "dot",
    "general",
    "additive",
    "concat",
    "distance",
)
OF_SCORE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    DOT: ((), ()),
    GENERAL: (("W_S",), ()),
    ADDITIVE: (("v_S",), ("W_Sq", "W_Sk", "b_S")),
    CONCAT: (("W_S", "v_S"), ("b_S",)),
    DISTANCE: ((), ()),
}
"""The matrices that each kind of score needs, and those that it can have."""
MOST_DECIMALS = 12


def read_scale(given: Any) -> str | Fraction:
    """Read what scores are scaled by: a word, or a number."""
    for value in (SQRT_DK, NONE):
        if plain(given) == plain(value):
            return value
    return number(given)


def even(given: Any) -> int:
    """Read an even number."""
    value = Whole(2, 1_000_000)(given)
    if value % 2:
        raise ValueError
    return value


@dataclass(frozen=True, eq=False, repr=False, init=False)  # a Problem makes these of its own
class AttentionFields:
    """Every matrix and every convention of an attention; what they mean is said in `Problem`."""

    X: Any = matrix("tokens", "Tokens of self-attention, one in each row.", FIRST, "self")
    X1: Any = matrix("tokens", "Tokens of cross-attention that ask (queries).", FIRST, "cross")
    X2: Any = matrix("tokens", "Tokens that are attended to (keys and values).", FIRST, "cross")
    X3: Any = matrix(
        "tokens", "Tokens whose values are read, where not those of X2.", MORE, "cross"
    )
    Q: Any = matrix("projected", "Queries themselves, in place of tokens and W_Q.", MORE)
    K: Any = matrix("projected", "Keys themselves.", MORE)
    V: Any = matrix("projected", "Values themselves.", MORE)
    W_Q: Any = matrix("weights", "Query weights.", FIRST)
    W_K: Any = matrix("weights", "Key weights.", FIRST)
    W_V: Any = matrix("weights", "Value weights.", FIRST)
    W_O: Any = matrix("weights", "Output projection.", MORE)
    b_Q: Any = matrix("bias", "Bias of the queries.", MORE)
    b_K: Any = matrix("bias", "Bias of the keys.", MORE)
    b_V: Any = matrix("bias", "Bias of the values.", MORE)
    b_O: Any = matrix("bias", "Bias of the output projection.", MORE)
    gamma_Q: Any = matrix("bias", "Gain of the normalised queries.", MORE)
    beta_Q: Any = matrix("bias", "Bias of the normalised queries.", MORE)
    gamma_K: Any = matrix("bias", "Gain of the normalised keys.", MORE)
    beta_K: Any = matrix("bias", "Bias of the normalised keys.", MORE)
    P: Any = matrix("positions", "Positions, added to X.", MORE, "self")
    P1: Any = matrix("positions", "Positions, added to X1.", MORE, "cross")
    P2: Any = matrix("positions", "Positions, added to X2.", MORE, "cross")
    P3: Any = matrix("positions", "Positions, added to X3.", MORE, "cross")
    W_S: Any = matrix("weights", "Weights of general and concat scores.", MORE)
    W_Sq: Any = matrix("weights", "Weights of queries in additive scores.", MORE)
    W_Sk: Any = matrix("weights", "Weights of keys in additive scores.", MORE)
    v_S: Any = matrix("bias", "What weighs the tanh of additive and concat scores.", MORE)
    b_S: Any = matrix("bias", "Bias inside that tanh.", MORE)
    S: Any = matrix("start", "Scores themselves, in place of queries and keys.", MORE)
    A: Any = matrix("start", "Attention weights themselves.", MORE)
    rope_frequencies: Any = matrix(
        "frequencies", "Rope's frequencies themselves, one a pair of columns.", MORE
    )
    past_K: Any = matrix("past", "Keys of earlier tokens, put before the new.", MORE, LAYERS)
    past_V: Any = matrix("past", "Values of earlier tokens.", MORE, LAYERS)
    keep: Any = matrix("marks", "Mask: 1 where a query may attend.", MORE)
    ignore: Any = matrix("marks", "Mask: 1 where a query may not attend.", MORE)
    bias: Any = matrix("scores", "Mask: numbers added to the scores; -inf forbids.", MORE)
    alibi_slopes: Any = matrix("heads", "ALiBi's slopes, a number a head.", MORE)
    rel_bias: Any = matrix("buckets", "T5's bias by distance: buckets × heads.", MORE)
    sinks: Any = matrix("heads", "A number a head whose power of e joins the sum.", MORE)
    scale: Any = setting(
        SQRT_DK,
        read_scale,
        "sqrt_dk (divide by the root of d_k), none, or a number to multiply by, as 1/3.",
        CONVENTIONS,
        takes='"sqrt_dk", "none" or a number that multiplies the scores',
        off=NONE,
        is_open=True,
    )
    rounding: str = choice(
        DISPLAY,
        EACH_STEP,
        says="display (only what is shown) or each-step (the next step reads rounded numbers).",
        panel=CONVENTIONS,
    )
    decimals: int = setting(
        2,
        Whole(0, MOST_DECIMALS),
        "Decimals shown, 0 to 12; halves go away from zero.",
        CONVENTIONS,
        short="-d",
    )
    asked: Any = setting(
        None,
        names,
        "The steps that answers are asked for, as Q,A,O,connections.",
        CONVENTIONS,
        takes="names of steps, as Q, S, A, and connections for the map",
    )
    heads: int | None = setting(
        None, Whole(1, 10_000), "How many heads stand side by side in the weights.", KINDS
    )
    combine: str = choice(
        "concat",
        "mean",
        says="concat or mean of the heads.",
        panel=KINDS,
        needs="an attention with values (V, or W_V)",
    )
    causal: bool = setting(
        False,
        yes_or_no,
        "A query may attend to keys up to its own place only.",
        KINDS,
        in_decoder=True,
    )
    causal_alignment: str = choice(
        "top-left",
        "bottom-right",
        says="top-left, or bottom-right: a decoder with earlier keys.",
        panel=KINDS,
    )
    score: str = choice(
        *SCORES,
        says="dot, general, additive, concat or distance: how a query meets a key.",
        panel=KINDS,
    )
    window: int | None = setting(
        None, Whole(1, 10**15), "A query sees so many keys: the last, up to its own place.", KINDS
    )
    alibi: bool = setting(
        False,
        yes_or_no,
        "Each score less a slope times the distance of query and key.",
        KINDS,
        takes="true or false (slopes of its own are alibi_slopes)",
    )
    rel_max_distance: int = setting(
        128,
        Whole(2, 10**9),
        "From which distance on rel_bias has one bucket.",
        KINDS,
        needs="rel_bias",
    )
    rel_bidirectional: bool | None = setting(
        None,
        yes_or_no,
        "Whether keys behind a query have buckets of their own: if not causal.",
        KINDS,
        needs="rel_bias",
    )
    softcap: Any = setting(None, positive, "Cap the scores at this number, by tanh.", KINDS)
    qk_norm: str = choice(
        "none",
        "rms",
        "layer",
        says="rms or layer: each head's queries and keys are normalised; or none.",
        panel=KINDS,
    )
    qk_eps: Any = setting(
        None,
        not_negative,
        "What qk_norm adds inside the root; without it, eps.",
        KINDS,
        needs="qk_norm rms or layer",
    )
    normalizer: str = choice(
        "softmax", "hardmax", "sum", says="softmax, hardmax or sum.", panel=KINDS
    )
    positions: str = choice(
        "none",
        "sinusoidal",
        "rope",
        says="sinusoidal (added to the tokens), rope (queries and keys turned) or none.",
        panel=KINDS,
        needs="tokens that they are added to, before all layers, or with rope an attention",
    )
    rope_base: Any = setting(
        Fraction(10_000),
        positive,
        "The base of rope's angles.",
        KINDS,
        needs="positions rope, and no rope_frequencies",
    )
    rope_offset: Any = setting(
        Fraction(0),
        number,
        "The place of the first token, for rope.",
        KINDS,
        needs="positions rope",
    )
    rope_query_offset: Any = setting(
        None,
        number,
        "The place of the first query: else as keys, m - n later if bottom-right.",
        KINDS,
        needs="positions rope",
    )
    rope_pairing: str = choice(
        "halves",
        "interleaved",
        says="halves or interleaved: which columns rope pairs.",
        panel=KINDS,
        needs="positions rope",
    )
    rope_dims: int | None = setting(
        None,
        even,
        "How many columns rope turns, the first ones; else all.",
        KINDS,
        takes="an even whole number from 2",
        needs="positions rope",
    )
    rope_scaling: Any = setting(
        None,
        read_rope_scaling,
        "How rope is slowed: linear factor=4, or llama3 with its numbers.",
        KINDS,
        takes=TAKES,
        needs="positions rope",
    )
    layout: str = choice(
        "rows",
        "columns",
        says="rows, or columns: tokens are columns, Q = W_Q X.",
        panel=CONVENTIONS,
    )
    weights_layout: str = choice(
        "in-out", "torch", says="in-out, or torch: weights stored (out, in).", panel=CONVENTIONS
    )
