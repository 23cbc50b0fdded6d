"""Problems from layers of `transformers`, and from a user's own modules of PyTorch.

A layer of `transformers` has a config: the row of its family reads it, as a model with one layer.
"""

import re
from collections.abc import Mapping
from dataclasses import fields as declarations
from typing import Any

import numpy as np

from attncalc.api.saving import saved
from attncalc.base.arrays import as_array
from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.problem.attention.declared import AttentionFields
from attncalc.problem.problem import Problem
from attncalc.reading.models.families import families_of
from attncalc.reading.models.family import Family
from attncalc.reading.models.folder import Config
from attncalc.reading.models.layer import Heads, layer_fields, named
from attncalc.reading.models.names import LINEAR, fields_by_end, is_buffer, renamed
from attncalc.reading.models.opening import Model

ENDS = fields_by_end(
    {
        "Q": "w_q W_q W_Q Wq q_linear linear_q q queries to_q.0",
        "K": "w_k W_k W_K Wk k_linear linear_k k keys to_k.0",
        "V": "w_v W_v W_V Wv v_linear linear_v v values to_v.0",
        "O": "w_o W_o W_O Wo o_linear linear_o o to_out to_out.0 out proj attn.proj fc_out dense",
        "QKV": "to_qkv in_proj qkv_linear",
        "1": "w1 lin1 linear_1 mlp.0 ffn.0 ff.0 feed_forward.0 mlp.fc_in mlp.up net.0 fc_in",
        "2": "w2 lin2 linear_2 mlp.2 ffn.2 ff.2 feed_forward.2 mlp.fc_out mlp.down net.2 mlp.3 "
        "ffn.3 ff.3 feed_forward.3 net.3",
        "3": "w3",
    },
    LINEAR,
) | fields_by_end(
    {
        "1": "ln1 norm_1 attention_norm attn_norm rms_1 rms1 pre_norm ln_attn",
        "2": "ln2 norm_2 ffn_norm mlp_norm ff_norm rms_2 rms2 ln_mlp ln_ffn",
    },
    {"weight": "gamma", "bias": "beta", "scale": "gamma"},
)
"""Fields by the ends of names that people give to their own modules."""
_STACKS = ("TransformerEncoder", "TransformerDecoder", "Transformer")
_HEADS = ("num_heads", "n_heads", "n_head", "num_attention_heads", "nhead", "heads", "h")
_KEY_HEADS = ("num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_kv_head", "kv_heads")
_WIDTHS = ("head_dim", "d_k", "dim_head", "head_size", "d_head")
_EPS = ("eps", "variance_epsilon", "epsilon")
_GELU = re.compile(r"newgelu|gelutanh|fastgelu", re.IGNORECASE)


def own_names(module: Any) -> dict[str, str]:
    """Return the fields of the ends of names that a module of a user's own has."""
    names = [f".{name}" for name, _ in module.named_parameters()]
    return {e: f for e, f in ENDS.items() if any(name.endswith(f".{e}") for name in names)}


def plain_problem(
    module: Any, tokens: Mapping[str, Any], conventions: Mapping[str, Any]
) -> Problem:
    """Return the problem of a module with the weights of an attention or of a layer.

    Raises InputError if it has other parameters, or a convention is missing.

    module: the module: its parameters have names such as q_proj, c_attn, qkv, query or w_q.
    tokens: the fields of its tokens.
    conventions: fields of `Problem`, which its code may not state: causal, norm, activation,
        positions; and the config of its model.
    """
    kind = type(module).__name__
    if kind in _STACKS:
        layer = next(name for name, _ in module.named_modules() if name.endswith("layers.0"))
        raise InputError(
            f"{kind} is a stack of layers: pass one of them with the tokens that it reads, or "
            f"trace(module, inputs, layer={layer!r})"
        )
    conventions = dict(conventions)
    config = conventions.pop("config", None)
    found_fields = family_fields(module, len(next(iter(tokens.values()))), config)
    if found_fields is not None:
        return Problem(**{**found_fields, **conventions, **tokens})
    arrays = {name: as_array(each) for name, each in module.named_parameters()}
    inside = next((e for e in _INSIDE if all(renamed(f"{e}{n}", ENDS) for n in arrays)), "")
    arrays = {f"{inside}{name}": each for name, each in arrays.items()}
    others = [name for name in arrays if renamed(name, ENDS) is None]
    faults = [f"nothing here reads its parameter {quoted(name)}" for name in others]
    found = named(arrays, faults.append, ENDS)
    if not found.keys() & {"W_Q", "W_QKV"}:
        raise InputError(
            f"{kind} is not one of the modules read: a MultiheadAttention, TransformerEncoderLayer "
            "or TransformerDecoderLayer of PyTorch, or a module with weights of an attention "
            "(q_proj, k_proj, v_proj and out_proj; c_attn; qkv; query, key, value); of a layer of "
            "transformers that holds no config, as Bloom's, pass config= of its model"
        )
    asking = conventions.get("heads") or _attribute(module, _HEADS)
    width = _attribute(module, _WIDTHS)
    if asking is None and width and "W_O" in found:
        asking = max(arrays[found["W_O"][0]].shape) // width
    if asking is None:
        raise InputError(f"{type(module).__name__} does not state its number of heads: pass heads=")
    heads = Heads(int(asking), _attribute(module, _KEY_HEADS))
    fields = layer_fields(arrays, found, heads, faults.append)
    if faults:
        raise InputError(f"{kind}: {'; '.join(faults)}")
    said = {"heads": heads.asking, **_settings(module, fields, conventions), **conventions}
    return Problem(**{**fields, **said, **tokens})


_INSIDE = (
    *("", "attn.", "self_attn.", "self_attention.", "attention.", "layer.0."),
    "layer.0.SelfAttention.",
)
"""The paths of an attention in its layer: its names are read by their ends."""


def family_fields(module: Any, tokens: int, config: Any = None) -> dict[str, Any] | None:
    """Return the fields of a layer of `transformers`, or of its attention; None for other modules.

    Raises InputError if the module alone does not tell all that it computes.

    module: a module in which one has a `config` of a supported family.
    config: the config of its model; None for one that the module holds.
    """
    held = (config, *(getattr(each, "config", None) for each in module.modules()))
    config = next((each for each in held if hasattr(each, "to_dict")), None)
    if config is None:
        return None
    state = {name: each for name, each in module.state_dict().items() if not is_buffer(name)}
    families = families_of(Config("config", config.to_dict()))
    is_decoder = any(getattr(each, "is_decoder", False) is True for each in module.modules())
    for family in families:
        for inside in () if family.decoder and is_decoder else _INSIDE:
            if all(renamed(f"{inside}{name}", family.own) is not None for name in state):
                return _of_family(module, state, family, inside, config, tokens)
    if families and type(module).__module__.startswith("transformers."):
        raise _not_alone(module, families[0])
    return None


def _of_family(
    module: Any, state: Mapping[str, Any], family: Family, inside: str, config: Any, tokens: int
) -> dict[str, Any]:
    """Return the fields of a layer of a family, whose names start with a path in it."""
    number = _attribute(module, ("layer_idx", "layer_id")) or 0
    pattern, *_ = family.layers[0].split(" ")
    first, start = (pattern.format(each) for each in (0, number))
    named_so = {f"{start}{inside}{name}": each for name, each in state.items()}
    named_so.setdefault(f"{first}position_ids", np.zeros(1))  # files have a layer 0
    with saved(named_so, config) as folder:
        model = Model(folder, family.takes)
        model.tokens = tokens
        fields = model.layer(number, is_whole=False)
        fields |= {"title": f"{family.title}, layer {number}", "remarks": model.remarks}
    has_norms = any(name.startswith("gamma_") and name[6:].isdigit() for name in fields)
    is_layer, is_latent = bool({"W_1", "W_router"} & fields.keys()), "W_DKV" in fields
    is_more = has_norms or is_latent or "equations" in fields  # than an attention alone states
    if {"reach", "self"} & fields.keys() or (is_more and not is_layer):
        raise _not_alone(module, family)
    if is_layer:
        return fields
    if "qk_norm" in fields:
        fields.setdefault("qk_eps", fields["eps"])
    known = {*(each.name for each in declarations(AttentionFields)), "title", "remarks"}
    return {name: each for name, each in fields.items() if name in known - {"block"}}


def _not_alone(module: Any, family: Family) -> InputError:
    return InputError(
        f"{type(module).__name__} is a part of {family.title} that does not tell all it computes: "
        "pass a whole layer, or the whole model to open_model or trace, with layer="
    )


def _attribute(module: Any, names: tuple[str, ...]) -> int | None:
    """Return the first whole number under one of these names, in a module or a config of it."""
    for each in module.modules():
        for owner in (each, getattr(each, "config", None), getattr(each, "cfg", None)):
            for name in names:
                value = getattr(owner, name, None)
                if type(value) is int and value > 0:
                    return value
    return None


def _settings(
    module: Any, fields: Mapping[str, Any], conventions: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of a layer that its modules state; refuse those that nothing states."""
    said: dict[str, Any] = {}
    has_gains = [name for name in fields if name.startswith("gamma_") and name[6:].isdigit()]
    rope = [n for n, each in module.named_modules() if re.search("rotary|rope", n.lower())]
    if rope and "positions" not in conventions:
        raise InputError(
            f"it has {rope[0]}: pass positions='rope', with rope_base and rope_pairing"
        )
    if not has_gains and "W_1" not in fields:
        return said
    said["block"] = "decoder" if conventions.get("causal") else "encoder"
    said["causal"] = False
    if "norm" not in conventions:
        if has_gains:
            raise InputError(
                "its order of normalization is unknown: pass norm='pre' or norm='post'"
            )
        said["norm"] = "none"
    if has_gains:
        said |= _normalization(module)
    if "W_1" in fields and "activation" not in conventions:
        said["activation"] = _activation(module)
    return said


def _normalization(module: Any) -> dict[str, Any]:
    norms = [
        each
        for name, each in module.named_modules()
        if (renamed(f"{name}.weight", ENDS) or ("",))[0].startswith("gamma_")
        and next(each.parameters(), None) is not None
    ]
    name, is_biased = type(norms[0]).__name__.lower(), getattr(norms[0], "bias", None) is not None
    is_rms = "rms" in name or "t5" in name or "layernorm" not in name
    kind = "rms" if is_rms and not is_biased else "layer"
    eps = next((getattr(norms[0], n) for n in _EPS if getattr(norms[0], n, None) is not None), None)
    return {"normalization": kind, **({} if eps is None else {"eps": str(eps)})}


def _activation(module: Any) -> str:
    found = next(filter(None, map(activation_of, module.modules())), "")
    if not found:
        raise InputError("its activation is unknown: pass activation='gelu', 'relu' or 'silu'")
    return found


def activation_of(given: Any) -> str:
    """Return the activation that a module or a function is; "" for any other.

    A GELU of other packages may be exact, or by tanh: it is none that is known.
    """
    named = given if hasattr(given, "__name__") else type(given)
    name = named.__name__.lower().removesuffix("activation")
    if name in ("relu", "silu"):
        return str(name)
    if "quickgelu" in name:
        return "gelu-quick"
    if _GELU.search(name) or getattr(given, "approximate", "none") == "tanh":
        return "gelu-tanh"
    is_exact = name == "gelu" and str(named.__module__).startswith(("torch.", "transformers."))
    return "gelu" if is_exact else ""
