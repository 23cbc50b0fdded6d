"""The names of the tensors of a layer, and their fields of a problem.

A table: the end of a name, with any prefix, determines a field, or several stored in one array.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from attncalc.base.text import harmless

OUT_IN, IN_OUT = "torch", "in-out"
"""Layouts of weights: as in `nn.Linear`, or as in the Conv1D of GPT-2."""


def fields_by_end(names: Mapping[str, str], kinds: Mapping[str, str]) -> dict[str, str]:
    """Return fields by the ends of names.

    names: the names of modules, by what follows the kind in a field.
    kinds: the kinds of fields, by the last parts of names.
    """
    return {
        f"{name}.{last}": f"{kind}_{field}"
        for field, listed in names.items()
        for name in listed.split()
        for last, kind in kinds.items()
    }


LINEAR = {"weight": "W", "bias": "b"}
_WEIGHTS = {
    # the longest match counts
    "Q": "q_proj q_lin query query_proj to_q wq SelfAttention.q EncDecAttention.q",
    "K": "k_proj k_lin key key_proj to_k wk SelfAttention.k EncDecAttention.k",
    "V": "v_proj v_lin value value_proj to_v wv SelfAttention.v EncDecAttention.v",
    "O": "o_proj out_proj out_lin to_out wo attention.output.dense attn.c_proj SelfAttention.o "
    "attn.Wo EncDecAttention.o attention.dense self_attention.dense self_attn.dense "
    "self_attn.projection",
    "QKV": "qkv_proj qkv Wqkv in_proj c_attn",
    "1": "linear1 lin1 fc1 fc_in c_fc c_fc_0 intermediate.dense gate_proj DenseReluDense.wi "
    "DenseReluDense.wi_0 dense_h_to_4h feed_forward.w1 feed_forward.intermediate_dense ff.layer_1",
    "2": "linear2 lin2 fc2 fc_out mlp.c_proj output.dense down_proj DenseReluDense.wo ffn_output "
    "dense_4h_to_h mlp.Wo mlp.weights_out feed_forward.w2 feed_forward.output_dense ff.layer_2",
    "3": "up_proj c_fc_1 DenseReluDense.wi_1 feed_forward.w3",
    "13": "gate_up_proj mlp.Wi mlp.weights_in",
}
_NORMS = {
    "Q": "q_norm norm_q q_layernorm",
    "K": "k_norm norm_k k_layernorm",
    "1": "input_layernorm attention_norm ln_1 norm1 norm_1 layer_norm1 attention.output.LayerNorm "
    "attn_norm layernorm_before self_attn_layer_norm sa_layer_norm layer.0.layer_norm "
    "operator_norm attention.LayerNorm rel_attn.layer_norm attention_layernorm "
    "attention_layer_norm",
    "2": "post_attention_layernorm ln_2 norm2 norm_2 layer_norm2 output.LayerNorm mlp_norm "
    "layernorm_after final_layer_norm output_layer_norm layer.1.layer_norm ffn_norm ff.layer_norm "
    "full_layer_layer_norm feedforward_layernorm feedforward_layer_norm pre_ff_layernorm",
    "3": "pre_feedforward_layernorm layer.2.layer_norm",
    "4": "post_feedforward_layernorm",
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
OF_NORMS = {"weight": "gamma", "bias": "beta", "gamma": "gamma", "beta": "beta"}
_EXPERTS = {
    # in memory, transformers keeps experts in one array
    **{
        f"{at}.{of}.weight": "W_router"
        for at in ("mlp", "block_sparse_moe", "feed_forward", "ffn", "mixer")
        for of in ("gate", "router", "router.gate")
    },
    **dict.fromkeys(("router.layer.weight", "gate.wg.weight"), "W_router"),
    "e_score_correction_bias": "b_choice",
    "expert_bias": "b_choice",
    "experts.gate_up_proj": "W_13",
    "experts.down_proj": "W_2",
    **{f"experts.*.w{number}.weight": f"W_{number}" for number in (1, 2, 3)},
    **{
        f"{own}.{name}_proj.{end}": f"{kind}_s{number}"
        for end, kind in LINEAR.items()
        for own in ("shared_expert", "shared_experts", "shared_mlp")
        for name, number in (("gate", 1), ("up", 3), ("down", 2))
    },
}
ENDS = fields_by_end(_WEIGHTS, LINEAR) | fields_by_end(_NORMS, OF_NORMS) | _BARE | _EXPERTS
"""The field for the end of a name; W_QKV are three in one array."""
STORED_IN_OUT = ("c_attn", "c_proj", "c_fc")
"""Weights that GPT-2 stores in a Conv1D, (in, out)."""
EXPERT, OF_EACH = (
    re.compile(r"(?:(?<=\.experts\.)|(?<=\.experts\.expert_)|(?<=norm\.norms\.))\d+(?=\.)"),
    "*",
)
"""The number of an expert, or of a head's normalization, in a name, and what replaces it."""
NUMBER = re.compile(r"(?<=\.)\d+(?=\.)|(?<=_)\d+(?=\.[^.]+\.)")
"""A number between the dots of a name, such as that of a layer, or after block_ and the like."""
_OF_LIST = re.compile(r"(?<=[._])\d+(?=\.[^.]+\.)")
"""The number of a module with others in it, unlike that of a projection, as in ffn.2.weight."""
BUFFERS = ("attn.bias", "attn.masked_bias", "inv_freq", "position_ids", "relative_position_index")
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
    """Return the meaning of a name, if some ends of names have a special meaning.

    In these ends, {} is any number.
    """
    dotted = f".{name}", f".{NUMBER.sub('{}', name)}"
    for end, field in own.items():
        if any(each.endswith(f".{end}") for each in dotted):
            return Meaning(field, name.removesuffix(end), end)
    return meaning_of(name)


def form_of(name: str) -> str:
    """Return a name with # for the numbers of layers, experts and the like.

    >>> form_of("h.11.ffn.2.weight"), form_of("heads.3.weight")
    ('h.#.ffn.2.weight', 'heads.#.weight')
    """
    form = _OF_LIST.sub("#", name)
    return form if "#" in form else NUMBER.sub("#", name, count=1)


def whole(name: str) -> str:
    """Return the name of a tensor as a message shows it: in quotes, harmless, and never cut."""
    return f'"{harmless(name)}"'


def is_buffer(name: str) -> bool:
    """Return whether a name is that of a buffer, which follows from the config."""
    return any(name == each or name.endswith(f".{each}") for each in BUFFERS)
