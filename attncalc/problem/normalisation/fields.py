"""The fields of a normalisation: its gain and bias, what it divides by, and what it adds there."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from attncalc.problem.field import LAYERS, choice, matrix, not_negative, setting, whole

GAINS = "Layers: normalisation"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class NormalisationFields:
    """Every matrix and every convention of a normalisation; `Problem` says what they mean."""

    gamma_1: Any = matrix("bias", "Gain of the first normalisation.", GAINS, LAYERS)
    beta_1: Any = matrix("bias", "Bias of the first normalisation.", GAINS, LAYERS)
    gamma_2: Any = matrix("bias", "Gain of the second.", GAINS, LAYERS)
    beta_2: Any = matrix("bias", "Bias of the second.", GAINS, LAYERS)
    gamma_3: Any = matrix("bias", "Gain of the third, of a decoder.", GAINS, LAYERS)
    beta_3: Any = matrix("bias", "Bias of the third, of a decoder.", GAINS, LAYERS)
    gamma_4: Any = matrix("bias", "Gain of the fourth, with norm around.", GAINS, LAYERS)
    beta_4: Any = matrix("bias", "Bias of the fourth, with norm around.", GAINS, LAYERS)
    gamma_E: Any = matrix("bias", "Gain of one of the embeddings.", GAINS, LAYERS)
    beta_E: Any = matrix("bias", "Bias of one of the embeddings.", GAINS, LAYERS)
    gamma_out: Any = matrix("bias", "Gain of one more, behind all layers.", GAINS, LAYERS)
    beta_out: Any = matrix("bias", "Bias of one more, behind all layers.", GAINS, LAYERS)
    normalization: str = choice(
        "layer", "rms", says="layer or rms: what tokens are divided by.", panel=GAINS, kind=LAYERS
    )
    eps: Any = setting(
        Fraction(1, 100_000),
        not_negative,
        "a number from 0",
        "What is added to the variance, 1e-5.",
        GAINS,
        kind=LAYERS,
    )
    eps_place: str = choice(
        "inside", "outside", says="inside or outside the root.", panel=GAINS, kind=LAYERS
    )
    ddof: int = setting(
        0,
        whole(0, 1),
        "0 or 1",
        "0, or 1: variances are divided by d - 1.",
        GAINS,
        kind=LAYERS,
        needs="a normalisation by the variance (normalization layer)",
    )
