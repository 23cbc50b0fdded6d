"""The fields of attention: the matrices that can be given, and the conventions."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from attncalc.problem.field import (
    CONVENTIONS,
    FIRST,
    KINDS,
    MORE,
    choice,
    matrix,
    names,
    number,
    optional,
    plain,
    positive,
    setting,
    whole,
    yes_or_no,
)

SQRT_DK, NONE = "sqrt_dk", "none"
DISPLAY, EACH_STEP = "display", "each-step"
MOST_DECIMALS = 12


def _scale(given: Any) -> str | Fraction:
    for value in (SQRT_DK, NONE):
        if plain(given) == plain(value):
            return value
    return number(given)


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
    P: Any = matrix("positions", "Positions, added to X.", MORE, "self")
    P1: Any = matrix("positions", "Positions, added to X1.", MORE, "cross")
    P2: Any = matrix("positions", "Positions, added to X2.", MORE, "cross")
    P3: Any = matrix("positions", "Positions, added to X3.", MORE, "cross")
    keep: Any = matrix("marks", "Mask: 1 where a query may attend.", MORE)
    ignore: Any = matrix("marks", "Mask: 1 where a query may not attend.", MORE)
    bias: Any = matrix("scores", "Mask: numbers added to the scores; -inf forbids.", MORE)
    scale: Any = setting(
        SQRT_DK,
        _scale,
        '"sqrt_dk", "none" or a number that multiplies the scores',
        "sqrt_dk (divide by the root of d_k), none, or a number to multiply by, as 1/3.",
        CONVENTIONS,
        off=NONE,
    )
    rounding: str = choice(
        DISPLAY,
        EACH_STEP,
        says="display (only what is shown) or each-step (the next step reads rounded numbers).",
        panel=CONVENTIONS,
    )
    decimals: int = setting(
        2,
        whole(0, MOST_DECIMALS),
        f"a whole number from 0 to {MOST_DECIMALS}",
        "Decimals shown, 0 to 12; halves go away from zero.",
        CONVENTIONS,
        short="-d",
    )
    asked: Any = setting(
        None,
        optional(names),
        "names of steps, as Q, S, A, and connections for the map",
        "The steps that answers are asked for, as Q,A,O,connections.",
        CONVENTIONS,
    )
    heads: int | None = setting(
        None,
        optional(whole(1, 10_000)),
        "a whole number from 1",
        "How many heads stand side by side in the weights.",
        KINDS,
    )
    combine: str = choice("concat", "mean", says="concat or mean of the heads.", panel=KINDS)
    causal: bool = setting(
        False,
        yes_or_no,
        "true or false",
        "A query may attend to keys up to its own place only.",
        KINDS,
    )
    causal_alignment: str = choice(
        "top-left",
        "bottom-right",
        says="top-left, or bottom-right: a decoder with earlier keys.",
        panel=KINDS,
    )
    softcap: Any = setting(
        None,
        optional(positive),
        "a number above 0",
        "Cap the scores at this number, by tanh.",
        KINDS,
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
    )
    rope_base: Any = setting(
        Fraction(10_000), positive, "a number above 0", "The base of rope's angles.", KINDS
    )
    rope_offset: Any = setting(
        Fraction(0), number, "a number", "The place of the first token, for rope.", KINDS
    )
    rope_query_offset: Any = setting(
        None,
        optional(number),
        "a number",
        "The place of the first query: else as keys, m - n later if bottom-right.",
        KINDS,
    )
    rope_pairing: str = choice(
        "halves",
        "interleaved",
        says="halves or interleaved: which columns rope pairs.",
        panel=KINDS,
    )
    layout: str = choice(
        "rows",
        "columns",
        says="rows, or columns: tokens are columns, Q = W_Q X.",
        panel=CONVENTIONS,
    )
    weights_layout: str = choice(
        "in-out",
        "torch",
        says="in-out, or torch: weights stored (out, in).",
        panel=CONVENTIONS,
    )
