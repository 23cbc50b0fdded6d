"""The fields of a head: a hidden layer, the projection to logits, and which tokens it reads."""

from dataclasses import dataclass
from typing import Any

from attncalc.problem.field import LAYERS, choice, matrix, optional, positive, setting, yes_or_no

HEAD = "Layers: head"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class HeadFields:
    """Every matrix and every convention of a head; `Problem` says what they mean."""

    W_pre: Any = matrix("weights", "Weights of a hidden layer before it.", HEAD, LAYERS)
    b_pre: Any = matrix("bias", "Bias of the hidden layer.", HEAD, LAYERS)
    gamma_pre: Any = matrix("bias", "Gain of one behind the hidden layer.", HEAD, LAYERS)
    beta_pre: Any = matrix("bias", "Bias of one behind the hidden layer.", HEAD, LAYERS)
    W_out: Any = matrix("weights", "Weights of the head, for logits.", HEAD, LAYERS)
    b_out: Any = matrix("bias", "Bias of the head.", HEAD, LAYERS)
    read: str = choice(
        "all",
        "first",
        "last",
        "mean",
        says="all, first, last or mean: the tokens that the head reads.",
        panel=HEAD,
        kind=LAYERS,
        in_vit="first",
    )
    activation_pre: str = choice(
        "tanh",
        "relu",
        "gelu",
        "gelu-tanh",
        "silu",
        says="tanh, relu, gelu, gelu-tanh or silu: of the head's hidden layer.",
        panel=HEAD,
        kind=LAYERS,
        needs="a hidden layer of the head (W_pre)",
    )
    tied: bool = setting(
        False,
        yes_or_no,
        "true or false",
        "Whether the head's weights are W_E, transposed.",
        HEAD,
        kind=LAYERS,
    )
    softcap_out: Any = setting(
        None,
        optional(positive),
        "a number above 0",
        "Cap the logits at this number, by tanh.",
        HEAD,
        kind=LAYERS,
        needs="a head with logits (W_out, or tied)",
    )
