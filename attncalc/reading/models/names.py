"""What models call the tensors of a layer, and which fields of a problem these are.

A table and nothing else: the end of a name stands for a field, or for several that are stored in
one array, whatever stands before it.
"""

from collections.abc import Mapping
from typing import NamedTuple

OUT_IN, IN_OUT = "torch", "in-out"
"""How weights stand: as `nn.Linear` keeps them, or as the Conv1D of GPT-2 does."""

_WEIGHTS = {
    # the ends of names without ".weight": the longest that fits holds
    "q_proj": "Q",
    "k_proj": "K",
    "v_proj": "V",
    "o_proj": "O",
    "out_proj": "O",
    "q_lin": "Q",
    "k_lin": "K",
    "v_lin": "V",
    "out_lin": "O",
    "query": "Q",
    "key": "K",
    "value": "V",
    "to_q": "Q",
    "to_k": "K",
    "to_v": "V",
    "wq": "Q",
    "wk": "K",
    "wv": "V",
    "wo": "O",
    "attention.output.dense": "O",
    "qkv_proj": "QKV",
    "qkv": "QKV",
    "Wqkv": "QKV",
    "in_proj": "QKV",
    "c_attn": "QKV",
    "attn.c_proj": "O",
    "linear1": "1",
    "linear2": "2",
    "fc1": "1",
    "fc2": "2",
    "c_fc": "1",
    "mlp.c_proj": "2",
    "intermediate.dense": "1",
    "output.dense": "2",
    "gate_proj": "1",
    "up_proj": "3",
    "down_proj": "2",
    **{f"SelfAttention.{each.lower()}": each for each in "QKVO"},
    **{f"EncDecAttention.{each.lower()}": each for each in "QKVO"},
    "DenseReluDense.wi": "1",
    "DenseReluDense.wi_0": "1",
    "DenseReluDense.wi_1": "3",
    "DenseReluDense.wo": "2",
}
_NORMS = {
    "q_norm": "Q",
    "k_norm": "K",
    "input_layernorm": "1",
    "post_attention_layernorm": "2",
    "pre_feedforward_layernorm": "3",
    "post_feedforward_layernorm": "4",
    "ln_1": "1",
    "ln_2": "2",
    "norm1": "1",
    "norm2": "2",
    "attention.output.LayerNorm": "1",
    "output.LayerNorm": "2",
    "layernorm_before": "1",
    "layernorm_after": "2",
    "self_attn_layer_norm": "1",
    "final_layer_norm": "2",
    "layer.0.layer_norm": "1",
    "layer.1.layer_norm": "2",
    "layer.2.layer_norm": "3",
}
_BARE = {
    # PyTorch's own, and masks that old files keep
    "in_proj_weight": "W_QKV",
    "in_proj_bias": "b_QKV",
    "q_proj_weight": "W_Q",
    "k_proj_weight": "W_K",
    "v_proj_weight": "W_V",
    "relative_attention_bias.weight": "rel_bias",
}
_LAST = {
    ".weight": ("W_", "gamma_"),
    ".bias": ("b_", "beta_"),
    ".gamma": ("", "gamma_"),
    ".beta": ("", "beta_"),
}
ENDS = {
    **{
        name + last: weights + field
        for last, (weights, _) in _LAST.items()
        if weights
        for name, field in _WEIGHTS.items()
    },
    **{
        name + last: gain + field
        for last, (_, gain) in _LAST.items()
        for name, field in _NORMS.items()
    },
    **_BARE,
}
"""The field that the end of a name stands for; W_QKV are three in one array."""
STORED_IN_OUT = ("c_attn", "c_proj", "c_fc")
"""What GPT-2 keeps in a Conv1D: weights (in, out)."""
BUFFERS = ("attn.bias", "attn.masked_bias", "rotary_emb.inv_freq", "position_ids")
"""What files hold beside weights: masks, frequencies, places. They follow from the config."""
OTHER_ORDERS = ("query_key_value.weight", "query_key_value.bias")
"""Q, K and V in one array, side by side within each head: models do not share the order."""


class Meaning(NamedTuple):
    """What a name stands for: a field, and what stands before the end that says so."""

    field: str
    prefix: str
    end: str

    @property
    def is_in_out(self) -> bool:
        """Whether it is kept in a Conv1D, where that is not asked of its shape."""
        return any(part in STORED_IN_OUT for part in self.end.split("."))


def meaning_of(name: str) -> Meaning | None:
    """Return what the name of a tensor stands for, by the longest end that is known.

    Examples
    --------
    >>> meaning_of("model.layers.3.self_attn.q_proj.weight")
    Meaning(field='W_Q', prefix='model.layers.3.self_attn.', end='q_proj.weight')
    >>> meaning_of("h.0.attn.c_attn.bias").field, meaning_of("lm_head.weight")
    ('b_QKV', None)
    """
    parts = name.split(".")
    for start in range(len(parts)):
        end = ".".join(parts[start:])
        if end in ENDS:
            return Meaning(ENDS[end], ".".join([*parts[:start], ""]) if start else "", end)
    return None


def renamed(name: str, own: Mapping[str, str]) -> Meaning | None:
    """Return what a name stands for where some ends of names have a meaning of their own."""
    for end, field in own.items():
        if name == end or name.endswith(f".{end}"):
            return Meaning(field, name.removesuffix(end), end)
    return meaning_of(name)


def is_buffer(name: str) -> bool:
    """Say whether a name is that of what is kept beside weights, and follows from the config."""
    return any(name == each or name.endswith(f".{each}") for each in BUFFERS)
