"""The names of the tensors of a layer, and their fields of a problem.

A table: the end of a name, with any prefix, determines a field, or several stored in one array.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

OUT_IN, IN_OUT = "torch", "in-out"
"""Layouts of weights: as in `nn.Linear`, or as in the Conv1D of GPT-2."""

_WEIGHTS = {
    # the ends of names without ".weight": the longest match counts
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
    "gate_up_proj": "13",
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
    # PyTorch's own names, and masks in old files
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
"""The field for the end of a name; W_QKV are three in one array."""
STORED_IN_OUT = ("c_attn", "c_proj", "c_fc")
"""Weights that GPT-2 stores in a Conv1D, (in, out)."""
EXPERT, OF_EACH = re.compile(r"(?<=\.experts\.)\d+(?=\.)"), "*"
"""The number of an expert in the name of a tensor, and what replaces it for all of them."""
BUFFERS = ("attn.bias", "attn.masked_bias", "rotary_emb.inv_freq", "position_ids")
"""Other content of files: masks, frequencies, positions. They follow from the config."""
OTHER_ORDERS = ("query_key_value.weight", "query_key_value.bias")
"""Q, K and V in one array, side by side within each head: models differ in the order."""


class Meaning(NamedTuple):
    """The meaning of a name: a field, and the text before the end that determines it."""

    field: str
    prefix: str
    end: str

    @property
    def is_in_out(self) -> bool:
        """Whether it is stored in a Conv1D, unless its shape decides."""
        return any(part in STORED_IN_OUT for part in self.end.split("."))


def meaning_of(name: str) -> Meaning | None:
    """Return the meaning of the name of a tensor, by the longest known end.

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
    """Return the meaning of a name, if some ends of names have a special meaning."""
    for end, field in own.items():
        if name == end or name.endswith(f".{end}"):
            return Meaning(field, name.removesuffix(end), end)
    return meaning_of(name)


def is_buffer(name: str) -> bool:
    """Return whether a name is that of a buffer, which follows from the config."""
    return any(name == each or name.endswith(f".{each}") for each in BUFFERS)
