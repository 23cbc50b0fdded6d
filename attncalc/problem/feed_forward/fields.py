"""The fields of a feed-forward part: two projections, a gate, and the function between them."""

from dataclasses import dataclass
from typing import Any

from attncalc.problem.field import LAYERS, choice, matrix

FORWARD = "Layers: feed-forward"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class FeedForwardFields:
    """Every matrix and every convention of a feed-forward part; `Problem` says what they mean."""

    W_1: Any = matrix("weights", "Weights of the first projection.", FORWARD, LAYERS)
    b_1: Any = matrix("bias", "Bias of the first projection.", FORWARD, LAYERS)
    W_3: Any = matrix("weights", "Weights of a gate beside it.", FORWARD, LAYERS)
    b_3: Any = matrix("bias", "Bias of the gate.", FORWARD, LAYERS)
    W_2: Any = matrix("weights", "Weights of the second projection.", FORWARD, LAYERS)
    b_2: Any = matrix("bias", "Bias of the second projection.", FORWARD, LAYERS)
    activation: str = choice(
        "relu",
        "gelu",
        "gelu-tanh",
        "silu",
        says="relu, gelu (by erf), gelu-tanh or silu.",
        panel=FORWARD,
        kind=LAYERS,
    )
