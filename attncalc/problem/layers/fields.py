"""The fields of layers: what is put together, in which order, and the fields of each of several."""

from dataclasses import dataclass
from typing import Any

from attncalc.problem.field import LAYERS, choice, nested

ATTENTION, ENCODER, DECODER, VIT = "attention", "encoder", "decoder", "vit"
IN_WORDS = {
    ATTENTION: "attention",
    ENCODER: "encoder",
    DECODER: "decoder",
    VIT: "Vision Transformer",
}
"""What each block is called in messages."""
LAST = "Y"
"""What the last outputs are called, and those of each layer behind its number."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class LayerFields:
    """What layers are made of; `Problem` says what it means."""

    block: str = choice(
        ATTENTION,
        ENCODER,
        DECODER,
        VIT,
        says="attention, encoder, decoder or vit.",
        panel="",
        kind=LAYERS,
    )
    norm: str = choice(
        "post",
        "pre",
        "around",
        "none",
        says="post, pre, around or none: where tokens are normalised.",
        panel="Layers",
        kind=LAYERS,
    )
    layers: Any = nested("fields of each layer, one after the other", several=True)
    self: Any = nested("fields of a decoder's self-attention")
    cross: Any = nested("fields of a decoder's cross-attention")
