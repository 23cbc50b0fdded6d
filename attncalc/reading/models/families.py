"""The families of models that can be opened. A new family is a row here.

Names and keys are those of the `transformers` library, whose classes define them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.reading.models import equations, mixers
from attncalc.reading.models.family import (
    ACTIVATIONS,
    CLASSES,
    FAIRSEQ,
    MASKED,
    NEXT,
    POOLED,
    SPAN,
    USUAL,
    USUAL_HEADS,
    Family,
    Head,
    Said,
    a_count,
    a_number,
    a_number_or_none,
    a_window,
    a_window_but_in_every,
    a_window_of_all,
    a_window_of_local_layers,
    an_activation,
    if_given,
    if_so,
    one_of,
    one_over_root,
    root_of_width,
    where,
)
from attncalc.reading.models.folder import MISSING, Config
from attncalc.reading.models.layer import split_of_groups
from attncalc.reading.models.names import LINEAR, OF_NORMS, OUT_IN, fields_by_end
from attncalc.reading.models.rope import (
    PARTS_OF_ROPE,
    a_base,
    a_scaling,
    a_share,
    remarks_on_share,
    scale_of_yarn,
    turned_back,
)

_NORM = ("gamma", "beta")
_linear = partial(fields_by_end, kinds=LINEAR)
_normed = partial(fields_by_end, kinds=OF_NORMS)


def _around(*places: str) -> dict[str, str]:
    """Return the names of the second to the fourth normalization of a layer."""
    return _normed(dict(zip("234", places, strict=True)))


def _at(kinds: tuple[str, str] = ("W", "b"), **places: str) -> dict[str, str]:
    """Return the tensors of projections or normalizations, by the ends of fields."""
    pairs = list(zip(kinds, ("weight", "bias"), strict=True))
    return {f"{kind}_{n}": f"{at}.{end}" for n, at in places.items() for kind, end in pairs}


def _said(eps: str = "layer_norm_eps", activation: str = "hidden_act") -> dict[str, Any]:
    """Return the readers of the settings of most layers, by their keys."""
    heads = a_count("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads")
    return {"heads": heads, "eps": a_number(eps), "activation": an_activation(activation)}


_LAST = {
    "gamma_out": "norm.weight ln_f.weight norm_f.weight embedding_norm.weight "
    "final_layernorm.weight final_layer_norm.weight",
    "beta_out": "norm.bias ln_f.bias final_layernorm.bias final_layer_norm.bias",
}
"""The usual names of the normalization after the layers of a decoder."""
_LAST_GAIN = {"gamma_out": _LAST["gamma_out"]}
_BY_LAYER = {"normalization": "layer", "eps": a_number("layer_norm_eps"), "ends": _LAST}
_HIDDEN_ACT = an_activation("hidden_act")
_POST = Family(
    "", (), settings={"block": "encoder", "norm": "post", "normalization": "layer", **_said()}
)
_PRE = _POST.like(norm="pre")


def _classes(at: str, reads: str = "last") -> Head:
    """Return a classification head with one projection, which has a bias unless it reads last."""
    tensors = _at(out=at) if reads != "last" else {"W_out": f"{at}.weight"}
    return Head(tensors, CLASSES, reads)


_OF_TOKENS = {"ForTokenClassification": _classes("classifier", "all")}


def _pooled(end: str, reads: str = "first", activation: Any = "tanh", *, bias: bool = True) -> Head:
    """Return a head of one projection, which gives a vector."""
    tensors = _at(pre=end) if bias else {"W_pre": f"{end}.weight"}
    return Head(tensors, POOLED, reads, {"activation_pre": activation})


_OF_POOLER = _pooled("{}pooler.dense")


def _of_encoder(masked: Head, classes: Head, **others: Head) -> dict[str, Head]:
    """Return the heads of an encoder like BERT, which gives masked words and classes."""
    both = dict.fromkeys(("ForMaskedLM", "ForCausalLM"), masked)
    return {**both, "ForSequenceClassification": classes, **_OF_TOKENS, **others}


def _biased(where: str, **keys: str) -> Said:
    """Return what reads the projections with a bias: these, and those of each key that is true."""

    def says(config: Config, layer: int) -> str:
        return where + "".join(more for key, more in keys.items() if config.is_so(key, False))

    return says


_BIASED = _biased("", attention_bias="QKVO", mlp_bias="123")
_OF_WORDS = Head({"W_out": "lm_head.weight embed_out.weight"}, is_tied=True)
_OF_UNTIED_WORDS = replace(_OF_WORDS, is_tied=False)
_OF_BIASED_WORDS = Head(_at(out="lm_head"), is_tied=True)
_HEADS = {
    **dict.fromkeys(("ForCausalLM", "LMHeadModel", "DoubleHeadsModel"), _OF_WORDS),
    "ForSequenceClassification": _classes("score"),
    "ForTokenClassification": Head(
        {"W_out": "score.weight classifier.weight", "b_out": "score.bias classifier.bias"},
        CLASSES,
        "all",
    ),
}
_DECODER = Family(
    "",
    (),
    ("layers.{}.", "h.{}.", "blocks.{}."),
    tokens="wte.weight word_embeddings.weight embed_in.weight embeddings.weight embedding.weight "
    "embed_tokens.weight",
    ends=_LAST,
    outputs=_HEADS,
    settings={**_POST.settings, "block": "decoder", "norm": "pre", "causal": True},
)
_SIDES = {"encoder": _PRE, "decoder": _DECODER}
_CAPPED = {"softcap_out": a_number_or_none("final_logit_softcapping")}
_CAPPED_HEADS = {**_HEADS, "ForCausalLM": replace(_OF_WORDS, settings=_CAPPED)}
_LLAMA = _DECODER.like(
    "Llama: llama internlm3 iquestcoder emu3_text_model",
    "positions=rope normalization=rms rope_pairing=halves is_gated=True",
    **_said(eps="rms_norm_eps"),
    rope_base=a_base,
    rope_scaling=a_scaling,
    ends=_LAST_GAIN,
    biases=_BIASED,
    remarks=remarks_on_share,
)
_like_llama = _LLAMA.like


def _shrunk(by: Said) -> dict[str, Head]:
    """Return the head of words with a factor of its weights."""
    return {"ForCausalLM": replace(_OF_WORDS, shrinks=by)}


def _gpt2_scale(config: Config, layer: int) -> Any:
    """Return the factor of the scores of GPT-2, which a config can turn off."""
    by_layer = config.is_so("scale_attn_by_inverse_layer_idx", False)
    if not config.is_so("scale_attn_weights", True):
        return Fraction(1, layer + 1) if by_layer else "none"
    if not by_layer:
        return "sqrt_dk"
    width = config.count("n_embd") / config.count("n_head")
    return Fraction(str(width**-0.5)) / (layer + 1)


def _of_words(side: str) -> dict[str, Any]:
    """Return the fields before the layers of a side, for BART and mBART."""
    begins = {"P": f"{side}.embed_positions.weight"}
    begins |= _at(_NORM, E=f"{side}.layernorm_embedding")
    factor = if_so("scale_embedding", root_of_width("d_model"), 1.0)
    return {
        "tokens": f"{side}.embed_tokens.weight shared.weight",
        "begins": begins,
        "places": "P",
        "offset": 2,
        "factor": factor,
    }


def _of_sinusoids(side: str) -> dict[str, Any]:
    """Return the fields before the layers of a side, for Pegasus."""
    found = _of_words(side)
    return {**found, "begins": {"P": f"{side}.embed_positions.weight"}, "offset": 0}


_LATENT_EPS = Fraction(1, 10**6)
"""The epsilon of DeepSeek's latent vectors, whatever its config."""
_TORCH_EPS = Fraction(1, 100_000)
"""The default epsilon of PyTorch's LayerNorm."""


def _end_of_encoded(usual: int) -> Callable[[Config, Sequence[int]], int]:
    """Return a reader of the place of the last end of a text, which a decoder's classes read."""

    def stops(config: Config, ids: Sequence[int]) -> int:
        end = config.get("eos_token_id", usual)
        if end not in ids:
            raise InputError(f"tokens: no end of text ({end}): the head reads the token there")
        return len(ids) - 1 - ids[::-1].index(end)

    return stops


_OF_SEQUENCES = Head(
    _at(pre="classification_head.dense", out="classification_head.out_proj"),
    CLASSES,
    stops=_end_of_encoded(2),
)
_BART_HEADS = {
    "ForConditionalGeneration": Head(
        {"W_out": "lm_head.weight", "b_out": "final_logits_bias"}, is_tied=True
    ),
    "ForSequenceClassification": _OF_SEQUENCES,
}


def _like_bart(
    named: str,
    before: Callable[[str], Mapping[str, Any]],
    *,
    norm: str = "pre",
    outputs: Mapping[str, Head] = MappingProxyType(_BART_HEADS),
    of_decoder: Mapping[str, Any] = MappingProxyType({}),
    **of_both: Any,
) -> Family:
    """Return the row of a family with the names of BART, an encoder with its decoder.

    before: returns the fields before the layers of a side.
    """

    def of_side(side: str, **own: Any) -> Family:
        usual = {
            "layers": (f"{side}.layers.{{}}.",),
            "count": a_count(f"{side}_layers"),
            "norm": norm,
            **_said(activation="activation_function"),
            "heads": a_count(f"{side}_attention_heads"),
            "eps": _TORCH_EPS,
            "ends": _at(_NORM, out=f"{side}.layer_norm") if norm == "pre" else {},
            "asks": {"is_encoder_decoder": (True,)},
        }
        return _SIDES[side].like(named, **{**usual, **before(side), **own, **of_both})

    decoder = of_side(
        "decoder",
        sides={"self": "self_attn.", "cross": "encoder_attn."},
        own=_normed({"2": "encoder_attn_layer_norm", "3": "final_layer_norm"}),
        outputs=outputs,
        **of_decoder,
    )
    return of_side("encoder", decoder=decoder)


_OF_CROSS = tuple(f"encoder_attn.{each}_proj.{end}" for each in (*"qkv", "out") for end in LINEAR)
_OF_CROSS += tuple(f"encoder_attn_layer_norm.{end}" for end in LINEAR)


def _alone(row: Family) -> Family:
    """Return the row of the decoder of a family without an encoder, as of its ForCausalLM."""
    decoder = row.decoder or row
    equations_ = decoder.settings.get("equations") and equations.normed_before_places("")
    return decoder.like(
        f"{row.title} decoder: {' '.join(row.types)}",
        equations=equations_,
        tokens=decoder.tokens.split()[0],
        sides={},
        own={},
        ignored=tuple(end for end in _OF_CROSS if "K" in decoder.biases or ".k_proj.b" not in end),
        outputs={
            "ForCausalLM": Head(
                {"W_out": "lm_head.weight proj_out.weight output_projection.weight"}, is_tied=True
            )
        },
        asks={**decoder.asks, "is_encoder_decoder": (False,)},
        remarks=("it has no encoder: its cross-attention is not computed",),
    )


def _masked(
    start: str, dense: str, norm: str, out: str, *biases: str, activation: Any = _HIDDEN_ACT
) -> Head:
    """Return a head of masked tokens: a hidden layer, its normalization, and the table.

    start: the start of all names.
    """
    tensors = {
        **_at(pre=start + dense),
        **_at(_NORM, pre=start + norm),
        "W_out": f"{start}{out}.weight",
        "b_out": " ".join((f"{start}{out}.bias", *(start + bias for bias in biases))),
    }
    return Head(tensors, MASKED, "all", {"activation_pre": activation}, is_tied=True)


_OF_MASKED = _masked(
    "cls.predictions.", "transform.dense", "transform.LayerNorm", "decoder", "bias"
)
_OF_LM_HEAD = _masked("lm_head.", "dense", "layer_norm", "decoder", "bias", activation="gelu")


def _hidden_classes(
    pre: str, out: str = "classifier", activation: Any = None, reads: str = "first", **own: Any
) -> Head:
    """Return a classification head with a hidden layer."""
    settings = {} if activation is None else {"activation_pre": activation}
    return Head(_at(pre=pre, out=out), CLASSES, reads, settings, **own)


_of_first_dense = partial(_hidden_classes, "classifier.dense", "classifier.out_proj")
_OF_FIRST_TOKEN = _hidden_classes("pre_classifier", activation="relu")


def _t5(
    side: str, named: str, tokens: str = "shared.weight {}.embed_tokens.weight", **own: Any
) -> Family:
    """Return the row of the encoder or the decoder of T5, whose tables are always tied."""
    shared = "layer.0.SelfAttention.relative_attention_bias.weight"
    return _SIDES[side].like(
        named,
        "normalization=rms scale=none",
        eps=a_number("layer_norm_epsilon"),
        activation=if_given("dense_act_fn", an_activation("dense_act_fn"), _t5_activation),
        layers=(f"{side}.block.{{}}.",),
        biases="",
        rel_max_distance=a_count("relative_attention_max_distance", default=128),
        tokens=tokens.format(side),
        ends={"gamma_out": f"{side}.final_layer_norm.weight"},
        is_gated=lambda config, layer: config.is_so(
            "is_gated_act", "gated" in str(config.get("feed_forward_proj", "relu"))
        ),
        **{"shared": {"rel_bias" if side == "encoder" else "self.rel_bias": shared}, **own},
    )


def _t5_activation(config: Config, layer: int) -> str:
    """Return the activation of T5's feed-forward part, which follows the word for a gate."""
    kinds = {f"{gate}{name}": kind for gate in ("", "gated-") for name, kind in ACTIVATIONS.items()}
    kinds["gated-gelu"] = "gelu-tanh"
    return kinds[config.one_of("feed_forward_proj", kinds, "relu")]


def _t5_shrinks(config: Config, layer: int) -> float:
    """Return the factor of the logits of T5, if its head is the table of its tokens."""
    key = "scale_decoder_outputs"
    key = key if config.says(key) else "tie_word_embeddings"
    return float(config.count("d_model")) ** -0.5 if config.is_so(key, True) else 1.0


def _sparse(side: str) -> Said:
    """Return a reader of whether a layer of a side of Switch has experts."""

    def says(config: Config, layer: int) -> bool:
        step = config.count(f"{side}_sparse_step")
        return bool(step == 1 or layer % step == 1)

    return says


def _like_t5(named: str, shrinks: Any = 1, **of_both: Any) -> Family:
    """Return the row of T5 or mT5, an encoder with its decoder."""
    of_words = replace(_OF_WORDS, shrinks=shrinks)
    of_classes = replace(_OF_SEQUENCES, stops=_end_of_encoded(1))
    heads = {"ForConditionalGeneration": of_words, "LMHeadModel": of_words}
    decoder = _t5(
        "decoder",
        named,
        count=a_count("num_decoder_layers", "num_layers"),
        sides={"self": "SelfAttention.", "cross": "EncDecAttention."},
        outputs={**heads, "ForSequenceClassification": of_classes},
        **of_both,
    )
    count = a_count("num_layers")
    return _t5("encoder", named, count=count, outputs=_OF_TOKENS, decoder=decoder, **of_both)


_BERT = _POST.like(
    "BERT: bert dpr align_text_model chinese_clip_text_model",
    layers=("encoder.layer.{}.",),
    tokens="embeddings.word_embeddings.weight",
    begins={
        "P": "embeddings.position_embeddings.weight",
        "W_type": "embeddings.token_type_embeddings.weight",
        **_at(_NORM, E="embeddings.LayerNorm"),
    },
    places="P",
    outputs={
        **dict.fromkeys(("ForMaskedLM", "ForCausalLM", "LMHeadModel"), _OF_MASKED),
        "ForPreTraining": replace(_OF_MASKED, beside=("W_pooler", "W_next")),
        "ForSequenceClassification": _hidden_classes("{}pooler.dense"),
        "ForNextSentencePrediction": _hidden_classes(
            "{}pooler.dense", "cls.seq_relationship", labels=("is next", "is not next")
        ),
        **_OF_TOKENS,
        "Model": _OF_POOLER,
    },
    asks={
        "position_embedding_type": ("absolute", None),
        "is_decoder": (False,),
        "add_cross_attention": (False,),
    },
)
_TYPES = {"W_type": "embeddings.token_type_embeddings.weight"}
_ROTARY_BERT = _BERT.like(
    "",
    "positions=rope rope_pairing=halves",
    layers=("encoder.layers.{}.",),
    rope_base=a_base,
    rope_scaling=a_scaling,
    places="",
    asks={},
    # as in files of GTE, and in memory
    own=_normed({"1": "attn_ln post_attention_layernorm", "2": "mlp_ln post_mlp_layernorm"}),
)
_WITH_POOLER = {
    name: replace(each, beside=("W_pooler",)) if name in ("ForMaskedLM", *_OF_TOKENS) else each
    for name, each in _BERT.outputs.items()
}
_OF_PLACE_0 = ("twice_x", "twice_y", "once_h", "once_w")
"""Tables whose first row all tokens of LayoutLM have, for both sides of a box or for its size."""
_WITHOUT_NORM = {name: place for name, place in _BERT.begins.items() if not name.endswith("_E")}
_WITHOUT_PLACES = {name: place for name, place in _BERT.begins.items() if name != "P"}
_WITHOUT_TYPES = {name: place for name, place in _BERT.begins.items() if name != "W_type"}


def _has_rope(config: Config, layer: int) -> bool:
    """Return whether a layer of SmolLM3 or Llama 4 has rope."""
    if config.get("no_rope_layers", None) is None:
        return bool((layer + 1) % config.whole("no_rope_layer_interval", 4))
    return bool(config.of_layer("no_rope_layers", layer, (0, 1)))


def _is_local(config: Config, layer: int) -> bool:
    """Return whether a layer of ModernBERT is local: in old configs, all but every third."""
    kinds = config.get("layer_types", None)
    if isinstance(kinds, list) and layer < len(kinds):
        return bool(kinds[layer] == "sliding_attention")
    return layer % int(config.count("global_attn_every_n_layers", 3)) != 0


_LOCAL = {
    "reach": lambda config, layer: config.count_of_layer("attention_window", layer) // 2,
    "ignored": (*_linear({"": "query_global key_global value_global"}),),
}
_WITHOUT_GLOBAL = ("no token attends to all others (global attention)",)


def _says_what_is_local(config: Config, layer: int) -> tuple[str, ...]:
    """Return the remark on Longformer; refuse heads for which some tokens attend to all others."""
    if any(
        each in str(config.get("architectures", "")) for each in ("Sequence", "Quest", "Choice")
    ):
        raise config.wrong(
            "architectures", config.get("architectures"), "one without global tokens"
        )
    return _WITHOUT_GLOBAL


def _most_of_bigbird(config: Config, layer: int) -> int | None:
    """Return the number of tokens up to which BigBird attends to all of them."""
    if config.get("attention_type", "block_sparse") == "original_full":
        return None
    return int((5 + 2 * config.count("num_random_blocks")) * config.count("block_size"))


def _is_both_ways(config: Config, layer: int) -> bool:
    """Return whether queries of Gemma 3 also attend to later keys."""
    return bool(config.get("use_bidirectional_attention", None))


def _half_of(key: str, default: Any = MISSING) -> Said:
    """Return a reader of half of a width: how far a query attends to both sides."""
    return lambda config, layer: config.count(key, default) // 2


def _factor(key: str, default: Any = MISSING) -> Said:
    """Return a reader of a factor."""
    return lambda config, layer: float(config.number(key, default))


def _of_kinds(is_local: Said, local: str, other: str, *usual: int) -> dict[str, Said]:
    """Return the readers of rope where local layers have their own base, which is not scaled."""
    is_new: Callable[[Config], bool] = lambda config: config.says("rope_parameters")  # noqa: E731

    def base(config: Config, layer: int) -> Any:
        pairs = zip((other, local), usual or (MISSING, 10_000), strict=True)
        key, default = [*pairs][bool(is_local(config, layer))]
        return (a_base if is_new(config) else a_number(key, default))(config, layer)

    def scaling(config: Config, layer: int) -> Any:
        return a_scaling(config, layer) if is_new(config) or not is_local(config, layer) else None

    return {"rope_base": base, "rope_scaling": scaling}


def _modern_head(hidden: str) -> Head:
    """Return the head of ModernBERT for masked words."""
    activation = an_activation("classifier_activation")
    made = _masked("", f"{hidden}.dense", f"{hidden}.norm", "decoder", activation=activation)
    keys = {"b_pre": "classifier_bias", "beta_pre": "norm_bias", "b_out": "decoder_bias"}
    return replace(made, optional=keys)


_MODERN_HEAD = _modern_head("head")


def _without_masks(config: Config, layer: int) -> Any:
    """Return the factors of the tokens of ESM, which grow for those that masks replace."""
    if not config.is_so("token_dropout", False):
        return None
    mask = config.get("mask_token_id", None)

    def factors(ids: Sequence[int], read: int) -> list[list[float]]:
        is_masked = [each == mask for each in ids]
        grown = (1 - 0.15 * 0.8) / max(1 - sum(is_masked) / read, 1 / read)
        return [[0.0 if each else grown] for each in is_masked]

    return factors


def _with_hidden(read: Any, **own: Any) -> Head:
    """Return the head of ModernBERT for classes: a hidden layer, normalized, and the classes."""
    keys = {key: each for key, each in _MODERN_HEAD.optional.items() if key != "b_out"}
    return replace(
        _MODERN_HEAD,
        tensors={**_MODERN_HEAD.tensors, **_at(out="classifier")},
        gives=CLASSES,
        settings={**_MODERN_HEAD.settings, "read": read},
        is_tied=False,
        optional=keys,
        **own,
    )


_POOLING = one_of({"cls": "first", "mean": "mean"}, "classifier_pooling", default="cls")
_in_group = a_count("inner_group_num", default=1)


def _albert_layer(config: Config, layer: int) -> tuple[int, int]:
    """Return the group of shared layers of a layer of ALBERT, and its place in it."""
    turn, inner = divmod(layer, _in_group(config, layer))
    return turn * config.count("num_hidden_groups", 1) // config.count("num_hidden_layers"), inner


_MODERNBERT = _PRE.like(
    "ModernBERT: modernbert",
    "is_gated=True positions=rope rope_pairing=halves",
    biases=_BIASED,
    **_said("norm_eps", "hidden_activation"),
    norm=where(lambda config, layer: layer, "pre", "pre-second"),
    **_of_kinds(_is_local, "local_rope_theta", "global_rope_theta", 160_000, 10_000),
    reach=where(_is_local, _half_of("local_attention", 128)),
    tokens="embeddings.tok_embeddings.weight",
    begins=_at(_NORM, E="embeddings.norm"),
    optional=dict.fromkeys(("beta_E", "beta_out"), "norm_bias"),
    usual={"norm_bias": False, "classifier_bias": False},
    ends=_at(_NORM, out="final_norm"),
    outputs={
        "ForMaskedLM": _MODERN_HEAD,
        "ForSequenceClassification": _with_hidden(_POOLING, reads="first"),
        "ForTokenClassification": _with_hidden("all"),
        "ForQuestionAnswering": _with_hidden("all", labels=SPAN),
        "ForMultipleChoice": _with_hidden(_POOLING, reads="first", labels=("this choice",)),
    },
)
_OF_PATCHES = {
    "E": "embeddings.patch_embeddings.projection.weight",
    "b_E": "embeddings.patch_embeddings.projection.bias",
    "class_token": "embeddings.cls_token",
    "P": "embeddings.position_embeddings",
}
_USUAL_OF_CLIP = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_channels": 3,
    "image_size": 224,
    "layer_norm_eps": 1e-5,
    "hidden_act": "quick_gelu",
}
_USUAL_OF_SIGLIP = {**_USUAL_OF_CLIP, "layer_norm_eps": 1e-6, "hidden_act": "gelu_pytorch_tanh"}


def _end_of_text(config: Config, ids: Sequence[int]) -> int:
    """Return the first end of a text in CLIP; of old configs, the first largest id."""
    end = config.get("eos_token_id", 49407)
    is_old = end == 2 and str(config.get("model_type")).startswith("clip")
    end = max(ids) if is_old else end
    if end not in ids:
        raise InputError(f"tokens: no end of text ({end}): the head of CLIP reads the token there")
    return list(ids).index(end)


_OF_TEXT = replace(_pooled("text_projection", "last", "none", bias=False), stops=_end_of_text)
_OF_LAST_TOKEN = replace(_pooled("{}head", "last", "none"), stops=lambda config, ids: len(ids) - 1)
_OF_AN_IMAGE = _pooled("visual_projection", "first", "none", bias=False)
_POOLING_PATCHES = {
    "W_probe": "{}head.probe",
    "W_pool": "{}head.attention.in_proj_weight",
    "b_pool": "{}head.attention.in_proj_bias",
    **_at(poolO="{}head.attention.out_proj"),
    **_at(("gain", "bias"), pool="{}head.layernorm"),
    **_at(pool1="{}head.mlp.fc1", pool2="{}head.mlp.fc2"),
}
_OF_POOLED_PATCHES = Head(
    _POOLING_PATCHES,
    POOLED,
    "all",
    {"equations": equations.attention_pooled},
    optional=dict.fromkeys(_POOLING_PATCHES, "vision_use_head"),
)
_DINO = _PRE.like(
    "DINOv2: dinov2",
    biases=if_so("qkv_bias", "QKVO123", "O123", default=True),
    is_gated=if_so("use_swiglu_ffn", True, False),
    layers=("encoder.layer.{}.",),
    activation=if_so("use_swiglu_ffn", "silu", _HIDDEN_ACT),
    begins=_OF_PATCHES,
    own={"layer_scale1.lambda1": "lambda_1", "layer_scale2.lambda1": "lambda_2"},
    ends=_at(_NORM, out="layernorm"),
    outputs={
        "ForImageClassification": Head(
            _at(cls="classifier"), CLASSES, "all", {"equations": equations.by_first_and_mean}
        )
    },
    usual={"use_mask_token": True},
)
_OF_ONE_IMAGE = {"ForImageClassification": _classes("classifier", "first")}
_OF_IMAGE_POOLER = _pooled(
    "{}pooler.dense",
    activation=one_of({"tanh": "tanh", **ACTIVATIONS}, "pooler_act", default="tanh"),
)
_OF_VIT = {name: f"{at} vit.{at}" for name, at in _OF_PATCHES.items()}
"""Files of ViT-MSN have layers without a prefix beside others with one."""
_VIT = _PRE.like(
    "ViT: vit vit_msn",
    biases=if_so("qkv_bias", "QKVO12", "O12", default=True),
    layers=("layers.{}.", "encoder.layer.{}."),
    begins=_OF_VIT,
    ends={name: f"{at} vit.{at}" for name, at in _at(_NORM, out="layernorm").items()},
    outputs={**_OF_ONE_IMAGE, "ViTModel": _OF_IMAGE_POOLER},
)
_DINO_V3 = _DINO.like(
    "DINOv3: dinov3_vit",
    biases=_biased("", query_bias="Q", key_bias="K", value_bias="V", proj_bias="O", mlp_bias="123"),
    is_gated=if_so("use_gated_mlp", True, False),
    layers=("layer.{}.",),
    activation=_HIDDEN_ACT,
    equations=equations.turned_in_plane,
    begins={
        "E": "embeddings.patch_embeddings.weight",
        "b_E": "embeddings.patch_embeddings.bias",
        "class_token": "embeddings.cls_token",
        "more_tokens": "embeddings.register_tokens",
    },
    optional={"more_tokens": "num_register_tokens"},
    ends=_at(_NORM, out="norm"),
    usual={
        **dict.fromkeys(("query_bias", "value_bias", "proj_bias", "mlp_bias"), True),
        **{"use_mask_token": True, "num_register_tokens": 0, "use_swiglu_ffn": False},
    },
)
_OF_POOLER_NORM = _at(("gain", "bias"), pool="{}pooler.layernorm")
_OF_MEAN_PATCH = Head(
    {**_at(out="classifier"), **_OF_POOLER_NORM},
    CLASSES,
    "mean",
    {"equations": equations.normed_mean("i > 0", "n - 1")},
)
_MEAN_PATCH = replace(_OF_MEAN_PATCH, gives=POOLED, reads="all", tensors=_OF_POOLER_NORM)
_BEIT = _VIT.like(
    "BEiT: beit data2vec-vision",
    biases="QVO12",
    equations=equations.biased_in_plane,
    optional={"P": "use_absolute_position_embeddings"},
    usual={"use_absolute_position_embeddings": False},
    own={
        **{f"lambda_{part}": f"lambda_{part}" for part in "12"},
        "relative_position_bias_table": "plane",
    },
    shared={"plane_of_all": "encoder.relative_position_bias.relative_position_bias_table"},
    ends={},
    outputs={"ForImageClassification": _OF_MEAN_PATCH, "BeitModel": _MEAN_PATCH},
    asks={"use_mean_pooling": (True,)},
)
_OF_BOTH_TOWERS = ("CLIPModel", "MetaClip2Model", "OwlViTModel", "Owlv2Model", "WithProjection")
_CLIP_TEXT = _PRE.like(
    "CLIP text: clip clip_text_model metaclip_2 metaclip_2_text_model clipseg clipseg_text_model "
    "owlvit owlvit_text_model owlv2 owlv2_text_model xclip_text_model groupvit_text_model",
    "causal=True places=P inside=text_config",
    layers=("encoder.layers.{}.",),
    tokens="embeddings.token_embedding.weight",
    begins={"P": "embeddings.position_embedding.weight"},
    ends=_at(_NORM, out="final_layer_norm"),
    outputs=dict.fromkeys(_OF_BOTH_TOWERS, _OF_TEXT),
    tower="text_model.",
    usual={**_USUAL_OF_CLIP, "num_attention_heads": 8},
)
_CLIP_VISION = _CLIP_TEXT.like(
    "CLIP vision: clip clip_vision_model metaclip_2 metaclip_2_vision_model clipseg "
    "clipseg_vision_model altclip_vision_model chinese_clip_vision_model "
    "kosmos_2_vision_model",
    "causal=None inside=vision_config",
    tokens="",
    places="",
    begins={
        "E": "embeddings.patch_embedding.weight",
        "class_token": "embeddings.class_embedding",
        "P": "embeddings.position_embedding.weight",
        **_at(_NORM, E="pre_layrnorm"),
    },
    ends=_at(_NORM, out="post_layernorm"),
    outputs={
        **dict.fromkeys(_OF_BOTH_TOWERS, _OF_AN_IMAGE),
        "ForImageClassification": Head(
            _at(cls="classifier"), CLASSES, "all", {"equations": equations.by_mean_before_norm}
        ),
    },
    remarks=("Y is normalized, as pooler_output is, and last_hidden_state is not",),
    tower="vision_model.",
    usual={**_USUAL_OF_CLIP, "patch_size": 32},
)
_SIGLIP = _CLIP_VISION.like(
    "SigLIP vision: siglip siglip_vision_model idefics2_vision idefics3_vision smolvlm_vision",
    begins={
        "E": "embeddings.patch_embedding.weight",
        "b_E": "embeddings.patch_embedding.bias",
        "P": "embeddings.position_embedding.weight",
    },
    outputs={
        "ForImageClassification": _classes("classifier", "mean"),
        "Model": _OF_POOLED_PATCHES,
    },
    usual={**_USUAL_OF_SIGLIP, "patch_size": 16},
    remarks=(),
)
_AIM: dict[str, Any] = {
    "biases": _biased("", qkv_bias="QKVO", mlp_bias="123"),
    "normalization": "rms",
    "eps": a_number("rms_norm_eps"),
    "is_gated": True,
    "own": _normed({"1": "rms_norm1", "2": "rms_norm2"}),
    "ends": {"gamma_out": "rms_norm.weight"},
}
_USUAL_OF_AIM = {"rms_norm_eps": 1e-5, "hidden_act": "silu", "num_channels": 3, "patch_size": 14}
_USUAL_OF_AIM |= {"num_attention_heads": 8, "num_hidden_layers": 24, "hidden_size": 1024}
_AIM_VISION = _CLIP_VISION.like(
    "AIMv2 vision: aimv2 aimv2_vision_model",
    **_AIM,
    equations=equations.normed_patches,
    begins={
        "E": "embeddings.patch_embed.weight",
        "b_E": "embeddings.patch_embed.bias",
        "P": "embeddings.position_embedding.weight",
        "gamma_E": "embeddings.rms_norm.weight",
    },
    outputs={
        "Model": Head(
            {
                "W_probe": "{}head.cls_token",
                **_at(poolK="{}head.k_proj", poolV="{}head.v_proj", poolO="{}head.output_proj"),
            },
            POOLED,
            "all",
            {"equations": equations.class_pooled},
            optional=dict.fromkeys(("b_poolK", "b_poolV"), "qkv_bias"),
        )
    },
    usual={**_USUAL_OF_AIM, "image_size": 224},
    asks={"is_native": (False,)},
    remarks=(),
)
_AIM_TEXT = _CLIP_TEXT.like(
    "AIMv2 text: aimv2 aimv2_text_model",
    **_AIM,
    outputs={"Aimv2Model": _OF_TEXT},
    usual={**_USUAL_OF_AIM, "num_attention_heads": 6, "num_hidden_layers": 12, "hidden_size": 768},
    remarks=("a query sees no later keys, as with an attention_mask",),
)
DENSE = _linear({"QKV": "query_key_value"})
"""The names of GPT-NeoX, GPT-J and those after them, whose parts are parallel."""
_GPT_NEOX = _like_llama(
    "GPT-NeoX: gpt_neox",
    biases=_biased("12", attention_bias="QKVO"),
    **_BY_LAYER,
    rope_dims=a_share(0.25),
    parallel=if_so("use_parallel_residual", "own", "none", default=True),
    own=DENSE,
    is_gated=False,
    fused=lambda config, layer: (config.count("num_attention_heads"), "QKV"),
)
_GPT_J = _DECODER.like(
    "GPT-J: gptj",
    "positions=rope rope_pairing=interleaved parallel=shared",
    biases="12",
    **_said("layer_norm_epsilon", "activation_function"),
    rope_dims=a_count("rotary_dim"),
    outputs={"ForCausalLM": _OF_BIASED_WORDS, "ForSequenceClassification": _classes("score")},
    own=DENSE,
    weights_layout=OUT_IN,
)


def _all_three_of(*keys: str) -> Said:
    """Return a reader of how one array holds Q, K and V: those of each head together."""
    return lambda config, layer: (a_count(*keys)(config, layer), "QKV")


def _falcon_parallel(config: Config, layer: int) -> str:
    """Return the arrangement of Falcon's layers: with one normalization, with two, or in turn."""
    is_new = config.is_so("new_decoder_architecture", False)
    norms = config.get("num_ln_in_parallel_attn", None)
    if is_new and norms in (None, 2):
        return "own"
    return "shared" if is_new or config.is_so("parallel_attn", True) else "none"


_ONE_KEY_HEAD = if_so("multi_query", 1, default=True)
_FALCON_KEY_HEADS = if_so(
    "new_decoder_architecture",
    lambda config, layer: config.count_or_none("num_kv_heads"),
    _ONE_KEY_HEAD,
)


_WINDOW_BUT_IN_EVERY_4 = a_window_but_in_every(4)
_WINDOW_BUT_IN_FIRST_OF_4 = where(
    lambda config, layer: layer % 4 or config.get("layer_types", None), a_window
)
_like_cohere = _like_llama(
    "",
    "normalization=layer rope_pairing=interleaved parallel=shared own_gains=each",
    eps=a_number("layer_norm_eps"),
    outputs=_shrunk(_factor("logit_scale", 0.0625)),
).like
_COHERE_2 = _like_cohere(
    "Cohere 2: cohere2",
    window=_WINDOW_BUT_IN_EVERY_4,
    positions=where(_WINDOW_BUT_IN_EVERY_4, "rope", "none"),
)


def _is_turned_in_cohere(config: Config, layer: int) -> bool:
    """Return whether a layer of Cohere 2 MoE has rope: one with a window, or without experts."""
    is_dense = config.of_layer("mlp_layer_types", layer) == "dense"
    is_forced = is_dense and config.count("prefix_dense_sliding_window_pattern", 1) == 1
    return is_forced or a_window(config, layer) is not None


_OF_OUTPUTS = _normed({"1": "post_attention_layernorm", "2": "post_feedforward_layernorm"})
_OLMO_2 = _like_llama(
    "OLMo 2: olmo2", norm="output", qk_norm="rms-all", own=_OF_OUTPUTS, own_gains="each"
)
_EXAONE_4 = _like_llama(
    "EXAONE 4: exaone4",
    "norm=output qk_norm=rms",
    window=if_given("sliding_window", _WINDOW_BUT_IN_EVERY_4),
    positions=if_given("sliding_window", where(_WINDOW_BUT_IN_EVERY_4, "rope", "none"), "rope"),
    own=_OF_OUTPUTS,
    usual={"sliding_window": 4096},
)
_SINKS = {"self_attn.sinks": "sinks"}
_ROUTED = {"top_k": a_count("num_experts_per_tok")}
_BY_CONFIG = if_so("norm_topk_prob", True, False, default=True)
_QWEN_ROUTED = {**_ROUTED, "router_norm": if_so("norm_topk_prob", True, False)}
_LATENT = {
    **_linear({"DQ": "q_a_proj"}),
    "q_a_layernorm.weight": "gamma_DQ",
    "q_b_proj.weight": "W_Q",
    **_linear({"DKV_KR": "kv_a_proj_with_mqa"}),
    "kv_a_layernorm.weight": "gamma_DKV",
    "kv_b_proj.weight": "W_UKV",
}


def _latent_scale(config: Config, layer: int) -> Any:
    """Return the scale of DeepSeek, which yarn makes larger."""
    width = config.count("qk_nope_head_dim") + config.count("qk_rope_head_dim")
    grown = scale_of_yarn(config)
    return None if grown == 1 else Fraction(str(grown**2 * width**-0.5))


def _groups(key: str) -> Said:
    """Return a reader of a number of groups of experts, where experts are chosen by groups."""

    def says(config: Config, layer: int) -> Any:
        is_greedy = config.get("topk_method", None) == "greedy"
        return None if is_greedy else config.count_or_none(key)

    return says


_GRANITE = _like_llama(
    "Granite: granite granite4_vision_text granite_docling_text",
    scale=a_number("attention_multiplier"),
    residual_scale=a_number("residual_multiplier", 1.0),
    outputs=_shrunk(lambda config, _: 1 / float(config.number("logits_scaling", 1.0))),
    factor=_factor("embedding_multiplier"),
)
_ROUTED_BY_GROUPS = {
    **_ROUTED,
    "router": "sigmoid",
    "router_norm": _BY_CONFIG,
    "router_scale": a_number("routed_scaling_factor", 1.0),
    "router_groups": _groups("n_group"),
    "top_groups": _groups("topk_group"),
}
_DEEPSEEK_V3 = _like_llama(
    "DeepSeek-V3: deepseek_v3 sarvam_mla",
    biases=_biased("", attention_bias="O"),
    **_ROUTED_BY_GROUPS,
    rope_dims=a_count("qk_rope_head_dim"),
    rope_pairing=if_so("rope_interleave", "interleaved", "halves", default=True),
    scale=_latent_scale,
    qk_eps=_LATENT_EPS,
    asks={"moe_layer_freq": (1,)},
    own=_LATENT,
    key_heads=None,
)
_OF_INDEXER = tuple(f"indexer.{each}.weight" for each in ("wq_b", "wk", "k_norm", "weights_proj"))
_OF_INDEXER += ("indexer.k_norm.bias",)
_ALL_KEYS = ("an indexer chooses keys: all of them for so many tokens as here are the most",)
_YOUTU = _DEEPSEEK_V3.like("Youtu: youtu", top_k=None)


def _depth_scale(config: Config, layer: int) -> Fraction:
    """Return the factor of the outputs of parts of MiniCPM3, smaller in deep models."""
    scale = float(config.number("scale_depth")) / config.count("num_hidden_layers") ** 0.5
    return Fraction(str(scale))


_KINDS = {
    **dict.fromkeys(("full_attention", "sliding_attention", "attention", "*"), "attention"),
    **dict.fromkeys(("conv", "linear_attention", "mamba", "hybrid", "M"), "mixing"),
    **dict.fromkeys(("moe", "mlp", "E", "-"), "feed-forward"),
}
_OF_KINDS = ("layers_block_type", "layer_types", "hybrid_override_pattern")


def _words(config: Config) -> Any:
    """Return the words or letters of the layers of a hybrid; () if its config has none."""
    key = next((each for each in _OF_KINDS if config.get(each, None)), "")
    found = config.get(key, ())
    if not isinstance(found, list | tuple | str) or not {*map(str, found)} <= {*_KINDS}:
        raise config.wrong(key, found, f"a list with one of {', '.join(_KINDS)} for each layer")
    return found


def _word(config: Config, layer: int) -> str:
    """Return the word or letter of a layer; "" if its config has none."""
    words = _words(config)
    if words and layer >= len(words):
        raise config.wrong(_OF_KINDS[0], list(words), f"a list with {layer + 1} or more words")
    return str(words[layer]) if words else ""


def _kind(config: Config, layer: int) -> str:
    """Return the kind of a layer of a hybrid; "" if its config says none."""
    return _KINDS.get(_word(config, layer), "")


def _never(config: Config, layer: int) -> bool:
    return False


def _attends(other: Said) -> Said:
    """Return a reader of whether a layer has an attention: by its kind, or else by another."""

    def says(config: Config, layer: int) -> bool:
        kind = _kind(config, layer)
        return kind == "attention" if kind else bool(other(config, layer))

    return says


def _is_listed(key: str, *, usual: bool = False, first: int = 0) -> Said:
    """Return a reader of whether a layer is among those in a list, counted from a first number."""

    def says(config: Config, layer: int) -> bool:
        if (found := config.get(key, None)) is not None and not isinstance(found, list):
            raise config.wrong(key, found, "a list of layers")
        return usual if found is None else layer + first in found

    return says


def _around_if(key: str) -> dict[str, Any]:
    """Return the fields of a family whose outputs of parts are normalized if a key is true."""

    def rearranged(config: Config, layer: int, fields: dict[str, Any]) -> dict[str, Any]:
        is_around = config.is_so(key, True)
        return {"gamma_2" if n == "gamma_3" and not is_around else n: e for n, e in fields.items()}

    return {"norm": if_so(key, "around", "pre", default=True), "rearranged": rearranged}


_GRANITE_MOE = _GRANITE.like(
    "Granite MoE: granitemoe granitemoeshared",
    **_ROUTED,
    own={
        "block_sparse_moe.input_linear.weight": "W_13",
        "block_sparse_moe.output_linear.weight": "W_2",
        "shared_mlp.input_linear.weight": "W_s13",
        "shared_mlp.output_linear.weight": "W_s2",
    },
)


def _shared_alone(config: Config, layer: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a layer of Granite: a shared expert alone is its feed-forward part."""
    alone = "W_router" not in fields
    return {n.replace("W_s", "W_") if alone else n: each for n, each in fields.items()}


def _scaled_values(config: Config, layer: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a layer of MiMo, whose values have a factor."""
    factor = config.number("attention_value_scale", None) or 1
    return {n: e * e.dtype.type(factor) if n[2:] == "V" else e for n, e in fields.items()}


def _own_base(config: Config, layer: int) -> Fraction | None:
    """Return the base of rope of a layer of Granite with windows; None if it is not turned."""
    if config.get("layer_rope_theta", None) is None:
        return a_base(config, layer)
    base = config.of_layer("layer_rope_theta", layer)
    return a_number("base")(Config(config.place, {"base": base}), layer) or None


_OF_BASES = {
    "window": _WINDOW_BUT_IN_FIRST_OF_4,
    "rope_base": _own_base,
    "positions": where(_own_base, "rope", "none"),
}
_HUNYUAN = _like_llama(
    "HunYuan: hunyuan_v1_dense hunyuan_vl_text",
    equations=equations.normed_after_rope("gain_"),
    own={"query_layernorm.weight": "gain_Q", "key_layernorm.weight": "gain_K"},
)
_QWEN3_MOE = _like_llama(
    "Qwen3-MoE: qwen3_moe",
    **_QWEN_ROUTED,
    qk_norm="rms",
    window=if_so("use_sliding_window", a_window_of_all),
)
_GLM_4_MOE = _like_llama(
    "GLM-4 MoE: glm4_moe glm4v_moe_text",
    biases=_biased("", attention_bias="QKV"),
    **_ROUTED_BY_GROUPS,
    qk_norm=if_so("use_qk_norm", "rms"),
    rope_dims=a_share(0.5),
)
_PHI = _like_llama(
    "Phi: phi",
    "biases=QKVO123 parallel=shared is_gated=False",
    **_BY_LAYER,
    rope_dims=a_share(0.5),
    qk_norm=if_so("qk_layernorm", "layer"),
    outputs={**_HEADS, "ForCausalLM": _OF_BIASED_WORDS},
    own={**DENSE, **_normed({"Q": "q_layernorm", "K": "k_layernorm"})},
)


def _is_nth(key: str, usual: int, offset: str = "", usual_offset: int = -1) -> Said:
    """Return a reader of whether a layer is the last of each so many, or another one of them."""

    def says(config: Config, layer: int) -> bool:
        every = config.count(key, usual)
        place = config.whole(offset, usual_offset) if offset else every - 1
        return bool(layer % every == place)

    return says


def _mixed(
    attends: Said, mixer: mixers.Mixer, own: Said | None = None, **asks: tuple[Any, ...]
) -> dict[str, Any]:
    """Return the fields of a family with a mixer in the layers that have no attention.

    own: the equations of the others.
    asks: requirements for a config, besides the activation.
    """
    heads = lambda config, layer: mixer.sizes(config, layer)["h"]  # noqa: E731
    return {
        "attends": attends,
        "heads": where(attends, a_count("num_attention_heads"), heads),
        "equations": where(attends, own, mixer.equations),
        "mixing": where(attends, None, mixer.sizes),
        "asks": {"hidden_act": ("silu",), **asks},
    }


_OF_MIXERS = {
    **_linear({"in": "in_proj", "conv": "conv1d conv.conv"}),
    "A_log": "A_log",
    "dt_bias": "b_dt",
}
"""The names of what mixes tokens without an attention."""
_LFM2_ATTENDS = _attends(_is_listed("full_attn_idxs", usual=True))
_LFM2 = _like_llama(
    "LFM2: lfm2",
    "activation=silu qk_norm=rms",
    biases=where(_LFM2_ATTENDS, "", _biased("", conv_bias="O")),
    eps=a_number("norm_eps"),
    **_mixed(_LFM2_ATTENDS, mixers.CONVOLUTION),
    own=_OF_MIXERS,
)
_ATTENDS = _attends(_never)


_LFM3 = _LFM2.like(
    "LFM3: lfm3",
    **_mixed(_ATTENDS, mixers.CONVOLUTION, equations.gated_by_head),
    biases=where(_ATTENDS, _BIASED, _biased("", conv_bias="O")),
    **_around_if("use_sandwich_norm"),
    window=where(_ATTENDS, a_window),
    own={
        **_LFM2.own,
        **_normed({"2": "post_operator_norm", "3": "ffn_norm", "4": "post_ffn_norm"}),
        **_linear({"hgate": "self_attn.gate_proj self_attn.g_proj"}),
    },
)
_LFM2_MOE = _LFM2.like(
    "LFM2-MoE: lfm2_moe",
    **_ROUTED,
    router="sigmoid",
    router_norm=_BY_CONFIG,
    router_scale=a_number("routed_scaling_factor", 1.0),
    equations=mixers.with_routed(_LFM2_ATTENDS),
)
_QWEN_ATTENDS = _attends(_is_nth("full_attention_interval", 4))


def _qwen_linear(config: Config, layer: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a layer of Qwen3-Next, whose arrays hold several by heads."""
    made = dict(fields)
    for kind in "Wb":
        if (both := made.pop(f"{kind}_Qgate", None)) is not None:
            heads = config.count("num_attention_heads")
            width = len(both) // heads // 2
            parts = split_of_groups(both, heads, width, width)
            made |= zip((f"{kind}_Q", f"{kind}_gate"), parts, strict=True)
    if "W_QKVZ" in made:
        keys, heads, d_k, d_v, *_ = mixers.delta_of(config)
        wide = heads // keys * d_v
        *qkv, made["W_Z"] = split_of_groups(made.pop("W_QKVZ"), keys, d_k, d_k, wide, wide)
        made["W_in"] = np.concatenate(qkv)
        shares = heads // keys, heads // keys
        made["W_beta"], made["W_dt"] = split_of_groups(made.pop("W_beta_dt"), keys, *shares)
    return made


_QWEN_3_NEXT = _like_llama(
    "Qwen3-Next: qwen3_next",
    "qk_norm=rms gain_above=1",
    **_QWEN_ROUTED,
    **_mixed(_QWEN_ATTENDS, mixers.delta(), equations.gated()),
    rope_dims=a_share(0.25),
    rearranged=_qwen_linear,
    own={
        **_linear({"Qgate": "self_attn.q_proj", "QKVZ": "in_proj_qkvz", "beta_dt": "in_proj_ba"}),
        **_linear({"in": "in_proj_qkv", "Z": "in_proj_z", "beta": "in_proj_b", "dt": "in_proj_a"}),
        "linear_attn.norm.weight": "gain_H",
        **_OF_MIXERS,
        "shared_expert_gate.weight": "W_sgate",
    },
)
_ATTENDS_FIRST = _attends(lambda config, layer: layer % 2 == 0)
_BAMBA_ATTENDS = _attends(_is_listed("attn_layer_indices"))
_OF_SPACES = {**_OF_MIXERS, "D": "skip", "mamba.norm.weight": "gain_space"}
"""The names of a state space of Mamba-2."""


def _of_spaces(attends: Said, biases: Any, others: Said, **asks: tuple[Any, ...]) -> dict[str, Any]:
    """Return the fields of a family some of whose layers are state spaces of Mamba-2.

    biases, others: the projections with a bias of layers with an attention, and of the others.
    """
    mixed = _mixed(attends, mixers.SPACE, None, **asks)
    is_mixing = lambda config, layer: _kind(config, layer) in ("mixing", "")  # noqa: E731
    own = {name: where(is_mixing, mixed[name]) for name in ("equations", "mixing")}
    return {**mixed, **own, "biases": where(attends, biases, others)}


_BAMBA = _like_llama(
    "Bamba: bamba",
    **_of_spaces(_BAMBA_ATTENDS, _BIASED, _biased("", mamba_proj_bias="O", mlp_bias="123")),
    rope_dims=a_share(0.5),
    own=_OF_SPACES,
)


_OF_SELECTIVE = {
    **_OF_SPACES,
    **_linear({"x": "x_proj", "dt": "dt_proj"}),
    **{f"{own}_layernorm.weight": f"gain_x_{own}" for own in ("dt", "b", "c")},
}
"""The names of a state space of the first Mamba."""
_JAMBA_ATTENDS = _attends(_is_nth("attn_layer_period", 8, "attn_layer_offset", 4))
_JAMBA = _like_llama(
    "Jamba: jamba",
    "router_norm=False positions=None",
    **_ROUTED,
    **_mixed(_JAMBA_ATTENDS, mixers.selective("rms_norm_eps", has_gains=True)),
    biases=where(_JAMBA_ATTENDS, "", _biased("", mamba_proj_bias="O")),
    routes=where(
        _is_nth("expert_layer_period", 2, "expert_layer_offset", 1),
        lambda config, layer: config.count("num_experts", 16) > 1,
        False,
    ),
    own=_OF_SELECTIVE,
)


_OF_NORMS = {"mixer.norm.weight": "gain_space", "norm.weight": "gamma_1"}
_MAMBA = _like_llama(
    "Mamba: mamba",
    "activation=silu positions=None feeds=False",
    **_mixed(_never, mixers.selective()),
    eps=a_number("layer_norm_epsilon"),
    biases=_biased("", use_bias="O"),
    own={**_OF_SELECTIVE, **_OF_NORMS},
)


def _joined(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with the projections of Q, K and V, and their convolutions, in one array."""
    made = dict(fields)
    for name in ("W_in", "W_conv"):
        if f"{name}Q" in fields:
            made[name] = np.concatenate([made.pop(f"{name}{each}") for each in "QKV"])
    return made


def _olmo_hybrid(config: Config, layer: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a layer of OLMo hybrid, whose attentions have their outputs normed."""
    if "A_log" in fields:
        return _joined(fields)
    gains = {"gamma_1": fields["gamma_2"], "gamma_2": fields["gamma_4"]}
    return {name: each for name, each in fields.items() if name != "gamma_4"} | gains


_DELTA_IN = {
    f"{each}_{kind}.weight": f"W_{field}{each.upper()}"
    for each in "qkv"
    for kind, field in (("proj", "in"), ("conv1d", "conv"))
}


def _kimi(config: Config, layer: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a layer of Kimi Linear, whose gates are products of two weights."""
    if "A_log" not in fields:
        return fields
    made = _joined({name.replace("W_", "W_in") if name[2:] in ("Q", "K", "V") else name: each
                    for name, each in fields.items()})  # fmt: skip
    for name in ("W_Z", "W_dt"):
        made[name] = made.pop(f"{name}_b") @ made.pop(f"{name}_a")
    return made | {"A_log": made["A_log"].reshape(-1)}


_KIMI_ATTENDS = _attends(_is_listed("linear_attn_config.full_attn_layers", first=1))
_KIMI = _DEEPSEEK_V3.like(
    "Kimi Linear: kimi_linear",
    **_mixed(_KIMI_ATTENDS, mixers.delta(gate="sigmoid"), moe_layer_freq=(1,)),
    biases=where(_KIMI_ATTENDS, _biased("", attention_bias="O"), ""),
    top_k=a_count("num_experts_per_tok", "num_experts_per_token"),
    router_norm=if_so("moe_renormalize", True, False, default=True),
    router_groups=_groups("num_expert_group"),
    positions=None,
    outputs={"ForCausalLM": _OF_UNTIED_WORDS},
    rearranged=_kimi,
    remarks=("W_Z and W_dt are each the product of two weights of the model",),
    own={
        **_linear({"Z_a": "g_a_proj", "Z_b": "g_b_proj", "dt_a": "f_a_proj", "dt_b": "f_b_proj"}),
        **{name: field for name, field in _DELTA_IN.items() if "conv" in name},
        "self_attn.b_proj.weight": "W_beta",
        "o_norm.weight": "gain_H",
        **_OF_MIXERS,
        **_LATENT,
    },
)
_OLMO_HYBRID = _OLMO_2.like(
    "OLMo hybrid: olmo_hybrid",
    **_mixed(_ATTENDS, mixers.delta(1e-5)),
    norm=where(_ATTENDS, "output", "pre"),
    positions=if_given("rope_parameters.rope_theta", "rope", "none"),
    rearranged=_olmo_hybrid,
    own={
        **{f"linear_attn.{name}": field for name, field in _DELTA_IN.items()},
        **_linear({"Z": "linear_attn.g_proj", "beta": "linear_attn.b_proj"}),
        "linear_attn.a_proj.weight": "W_dt",
        "linear_attn.o_norm.weight": "gain_H",
        **_OF_MIXERS,
    },
)


def _multiplied(config: Config, layer: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a layer of Falcon-H1 with its multipliers in the weights."""
    one = partial(config.number, default=1.0)
    gate, down = config.numbers("mlp_multipliers", 2)
    ins = dict.fromkeys(("W_Q", "W_K", "W_V"), one("attention_in_multiplier"))
    after = {"K": one("key_multiplier"), "O": one("attention_out_multiplier"), "1": gate}
    after |= {"2": down, "mO": one("ssm_out_multiplier")}
    of = mixers.space_of(config)
    parts = (of.inner, of.inner, *[of.groups * of.state] * 2, of.heads)
    rows = np.repeat(config.numbers("ssm_multipliers", 5), parts)
    made = dict(fields)
    for name, each in fields.items():
        if name in ("W_in", "b_in"):
            in_all = one("ssm_in_multiplier") if each.ndim == 2 else 1.0
            scale = (rows * in_all).astype(each.dtype)
            made[name] = (each.T * scale).T
        elif (factor := ins.get(name, 1.0) * after.get(name[2:], 1.0)) != 1:
            made[name] = each * each.dtype.type(factor)
    return made | {"W_mO": made["W_mO"].T}


_FALCON_H1 = _like_llama(
    "Falcon-H1: falcon_h1",
    equations=mixers.beside_attention,
    mixing=mixers.SPACE.sizes,
    factor=_factor("embedding_multiplier", 1.0),
    rearranged=_multiplied,
    remarks=("weights contain the multipliers of the config",),
    own={**_linear({"mO": "mamba.out_proj"}), **_OF_SPACES},
    outputs=_shrunk(_factor("lm_head_multiplier", 1.0)),
    usual={"mamba_rms_norm": False, "mamba_norm_before_gate": True, "projectors_bias": False},
    asks={"hidden_act": ("silu",)},
)
_NEMOTRON_H = _like_llama(
    "Nemotron-H: nemotron_h",
    "is_gated=False positions=None",
    **_of_spaces(
        _ATTENDS,
        "",
        _biased("", use_bias="O", mlp_bias="12"),
        **{"moe_latent_size": (None,), "mamba_hidden_act": ("silu",), "sliding_window": (None,)},
    ),
    **_ROUTED_BY_GROUPS,
    outputs={"ForCausalLM": _OF_UNTIED_WORDS},
    feeds=lambda config, layer: _kind(config, layer) == "feed-forward",
    routes=lambda config, layer: _word(config, layer) in ("moe", "E"),
    count=lambda config, layer: len(_words(config)),
    eps=a_number("layer_norm_epsilon"),
    activation=an_activation("mlp_hidden_act"),
    own={
        **_OF_SPACES,
        **_OF_NORMS,
        "experts.up_proj": "W_1",
        **_linear({"s1": "shared_experts.up_proj", "1": "up_proj"}),
    },
)
_OF_AUDIO = Head(
    _at(out="classifier"),
    CLASSES,
    "mean",
    behind=("projector.weight", "projector.bias"),
    asks={"use_weighted_layer_sum": (False,)},
)
_WAV2VEC = _POST.like(
    "wav2vec 2.0: wav2vec2 hubert unispeech unispeech-sat",
    layers=("encoder.layers.{}.",),
    eps=a_number("layer_norm_eps", 1e-5),
    begins=_at(_NORM, E="encoder.layer_norm"),
    own=_normed({"1": "layer_norm"}),
    convolutions=(("encoder.pos_conv_embed.conv", 1),),
    widens="feature_projection.",
    outputs={
        "ForCTC": Head(_at(out="lm_head"), CLASSES, "all"),
        "ForSequenceClassification": _OF_AUDIO,
        "ForAudioFrameClassification": replace(_OF_AUDIO, reads="all", behind=()),
    },
    asks={
        "do_stable_layer_norm": (False,),
        "add_adapter": (False,),
        "adapter_attn_dim": (None,),
        "feat_extract_activation": ("gelu",),
        "feat_proj_layer_norm": (True,),
        "conv_pos_batch_norm": (False,),
    },
    remarks=("the convolutions of audio (feature_extractor) are not computed",),
)


def _with_pre_norm(row: Family) -> tuple[Family, Family]:
    """Return the rows of wav2vec 2.0: as it is, and normalized before each part."""
    own = {"norm": "pre", "begins": {}, "ends": _at(_NORM, out="encoder.layer_norm")}
    asks = {**row.asks, "do_stable_layer_norm": (True,)}
    return row, row.like(asks=asks, **own)


_OF_LM_PREDICTIONS = _masked("lm_predictions.lm_head.", "dense", "LayerNorm", "decoder", "bias")
_OF_EITHER_VERSION = {
    name: f"{names} {_OF_LM_PREDICTIONS.tensors[name]}"
    for name, names in _OF_MASKED.tensors.items()
}
_OF_DEBERTA = _hidden_classes("pooler.dense", activation=an_activation("pooler_hidden_act"))
_OF_BEAMS = Head(  # the end of an answer is searched for each of the best starts
    {},
    CLASSES,
    beside=(
        *("W_beam_start", "W_beam_end", "gamma_beam", "beta_beam", "W_beam_end1"),
        *("W_beam_answer", "beam_answer"),
    ),
    is_read=False,
)
_OF_LAST_SUMMARY = _hidden_classes(
    "sequence_summary.summary",
    "logits_proj",
    one_of({"tanh": "tanh", **ACTIVATIONS}, "summary_activation"),
    "last",
    asks={"summary_type": ("last",), "summary_use_proj": (True,)},
)
_OF_SUMMARY: dict[str, Any] = {
    "summary_type": ("first",),
    "summary_use_proj": (True,),
    "summary_proj_to_labels": (True,),
    "summary_activation": (None,),
}
_XLM = _POST.like(
    "XLM: xlm flaubert",
    "places=P pads=pad_token_id",
    layers=("attentions.{}. layer_norm1.{}. ffns.{}. layer_norm2.{}.",),
    norm=if_so("pre_norm", "pre", "post"),
    activation=if_so("gelu_activation", "gelu", "relu", default=True),
    tokens="embeddings.weight",
    begins={"P": "position_embeddings.weight", **_at(_NORM, E="layer_norm_emb")},
    own=_normed({each: f"layer_norm{each}.{{}}" for each in "12"}),
    outputs={
        "LMHeadModel": Head(_at(out="pred_layer.proj"), MASKED, "all", is_tied=True),
        "ForMultipleChoice": Head(
            _at(out="logits_proj"),
            CLASSES,
            "first",
            behind=("sequence_summary.summary.weight", "sequence_summary.summary.bias"),
            asks=_OF_SUMMARY,
            labels=("this choice",),
        ),
        "ForSequenceClassification": Head(
            _at(out="sequence_summary.summary"), CLASSES, "first", asks=_OF_SUMMARY
        ),
        **_OF_TOKENS,
        "ForQuestionAnswering": _OF_BEAMS,
    },
    usual={"layer_norm_eps": 1e-12, "pad_token_id": 2},
    asks={"causal": (False,), "is_encoder": (True,), "asm": (False,), "pad_index": (2,)},
    remarks=where(
        lambda config, _: config.count("n_langs", 1) > 1,
        ("tokens have no language, as without langs",),
        (),
    ),
)
_DEBERTA_V3 = _BERT.like(
    "DeBERTa-v3: deberta-v2",
    widens="embeddings.embed_proj",
    equations=equations.disentangled,
    optional={"P": "position_biased_input", "W_type": "type_vocab_size"},
    usual={"type_vocab_size": 0},
    own=_linear({"posK": "pos_key_proj", "posQ": "pos_query_proj"}),
    shared={
        "E_rel": "encoder.rel_embeddings.weight",
        **_at(("gain", "bias"), rel="encoder.LayerNorm"),
    },
    outputs={
        "ForMaskedLM": replace(_OF_MASKED, tensors=_OF_EITHER_VERSION),
        "ForSequenceClassification": _OF_DEBERTA,
        "ForMultipleChoice": replace(_OF_DEBERTA, labels=("this choice",)),
        **_OF_TOKENS,
    },
    asks={"conv_kernel_size": (0, None), "attention_head_size": (None,)},
)
_GPT2 = _DECODER.like(
    "GPT-2: gpt2",
    **_said("layer_norm_epsilon", "activation_function"),
    scale=_gpt2_scale,
    tokens="wte.weight",
    begins={"P": "wpe.weight"},
    places="P",
    asks={"add_cross_attention": (False,)},
)
_GEMMA = _like_llama(
    "Gemma: gemma",
    activation=an_activation("hidden_activation", "hidden_act"),
    factor=root_of_width("hidden_size"),
    gain_above=1,
    asks={"use_bidirectional_attention": (None, False)},
)
_GEMMA_2 = _GEMMA.like(
    "Gemma 2: gemma2",
    norm="around",
    scale=one_over_root("query_pre_attn_scalar"),
    softcap=a_number_or_none("attn_logit_softcapping"),
    window=a_window_but_in_every(2, key=""),
    outputs=_CAPPED_HEADS,
    usual={"head_dim": 256},
)


def _of_t5_gemma(side: str, **own: Any) -> Family:
    """Return the row of the encoder or the decoder of T5Gemma."""
    return _GEMMA_2.like(
        "T5Gemma: t5gemma",
        layers=(f"{side}.layers.{{}}.",),
        tokens=f"{side}.embed_tokens.weight",
        ends={"gamma_out": f"{side}.norm.weight"},
        inside=side,
        **own,
    )


_WINDOW_OF_GEMMA_2 = _GEMMA_2.settings["window"]
_T5_GEMMA = _of_t5_gemma(
    "encoder",
    block="encoder",
    causal=None,
    window=None,
    reach=where(_WINDOW_OF_GEMMA_2, a_count("sliding_window")),
    own=_normed({"1": "pre_self_attn_layernorm", "2": "post_self_attn_layernorm"}),
    outputs={},
    decoder=_of_t5_gemma(
        "decoder",
        norm="pre",
        equations=equations.with_three_normed,
        sides={"self": "self_attn.", "cross": "cross_attn."},
        own={
            **_normed({"1": "pre_self_attn_layernorm", "2": "pre_cross_attn_layernorm"}),
            "post_self_attn_layernorm.weight": "gain_1",
            "post_cross_attn_layernorm.weight": "gain_2",
            "post_feedforward_layernorm.weight": "gain_3",
        },
        outputs={
            "ForConditionalGeneration": Head(
                {"W_out": "lm_head.out_proj.weight"}, is_tied=True, settings=_CAPPED
            )
        },
    ),
)
_USUAL_OF_GEMMA = {
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh",
    "rms_norm_eps": 1e-6,
    "final_logit_softcapping": None,
}
"""What configs of Gemma 3 with 4 billion parameters and more omit, and those of Gemma 4."""
_GEMMA_4 = _GEMMA_2.like(
    "Gemma 4: gemma4_text",
    "qk_norm=rms scale=none softcap=None gain_above=0",
    window=a_window,
    equations=equations.with_embedding_of_layer,
    sharing=equations.sharing_layer,
    key_heads=equations.keys_of_gemma_4,
    own={
        "layer_scalar": "layer_scalar",
        "per_layer_input_gate.weight": "W_ple",
        "per_layer_projection.weight": "W_ple2",
        "post_per_layer_input_norm.weight": "gain_ple",
        "router.proj.weight": "W_route",
        "router.scale": "scale_route",
        "router.per_expert_scale": "scale_experts",
        "experts.gate_up_proj": "W_both",
        "experts.down_proj": "W_down",
        "post_feedforward_layernorm_1.weight": "gain_mlp",
        "pre_feedforward_layernorm_2.weight": "gain_moe",
        "post_feedforward_layernorm_2.weight": "gain_moe2",
    },
    of_layers={
        "E_ple": "embed_tokens_per_layer.weight",
        "W_begin": "per_layer_model_projection.weight",
        "gain_begin": "per_layer_projection_norm.weight",
    },
    asks={"use_bidirectional_attention": (None, "vision")},
    usual={
        **_USUAL_OF_GEMMA,
        "global_head_dim": 512,
        "sliding_window": 512,
        "hidden_size_per_layer_input": 256,
        "max_position_embeddings": 131_072,
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            "full_attention": {
                "rope_type": "proportional",
                "partial_rotary_factor": 0.25,
                "rope_theta": 1e6,
            },
        },
    },
    remarks=(),
)
_WINDOW_BUT_IN_EVERY_6 = a_window_but_in_every(6)
_ARCEE = _like_llama("Arcee: arcee", is_gated=False)
_OPT = _DECODER.like(
    "OPT: opt",
    "places=P offset=2 skips=True",
    layers=("decoder.layers.{}.",),
    biases=_biased("", enable_bias="QKVO12"),
    eps=_TORCH_EPS,
    activation=an_activation("activation_function"),
    norm=if_so("do_layer_norm_before", "pre", "post", default=True),
    optional=dict.fromkeys(("gamma_out", "beta_out"), "do_layer_norm_before"),
    usual={"enable_bias": True},
    widens="decoder.project_in",
    tokens="decoder.embed_tokens.weight",
    begins={"P": "decoder.embed_positions.weight"},
    ends=_at(_NORM, out="decoder.final_layer_norm"),
    outputs={
        name: replace(head, behind=("{}decoder.project_out.weight",))
        for name, head in {
            "ForCausalLM": _OF_WORDS,
            "ForSequenceClassification": _classes("score"),
            "ForQuestionAnswering": USUAL_HEADS["ForQuestionAnswering"],
        }.items()
    },
    asks={"layer_norm_elementwise_affine": (True,), "_remove_final_layer_norm": (False,)},
)
_BIOGPT = _DECODER.like(
    "BioGPT: biogpt",
    "biases=QKVO12 places=P offset=2",
    eps=_TORCH_EPS,
    factor=if_so("scale_embedding", root_of_width("hidden_size"), 1.0, default=True),
    begins={"P": "embed_positions.weight"},
    ends=_at(_NORM, out="layer_norm"),
    outputs={"ForCausalLM": Head({"W_out": "output_projection.weight"}, is_tied=True)},
)
_ROBERTA = _BERT.like(
    "RoBERTa: roberta xlm-roberta camembert data2vec-text clap_text_model bridgetower_text_model",
    "offset=None pads=pad_token_id",
    outputs=_of_encoder(_OF_LM_HEAD, _of_first_dense("tanh"), Model=_OF_POOLER),
)
_ESM = _ROBERTA.like(
    "ESM: esm",
    "norm=pre activation=gelu positions=rope rope_pairing=halves",
    rope_base=a_number("rope_theta", 10_000),
    places="",
    begins=_at(_NORM, E="embeddings.layer_norm"),
    optional=dict.fromkeys(("gamma_E", "beta_E"), "emb_layer_norm_before"),
    factor=_without_masks,
    outputs={
        **_ROBERTA.outputs,
        "ForMaskedLM": replace(
            _OF_LM_HEAD, tensors={**_OF_LM_HEAD.tensors, "b_out": "lm_head.bias"}
        ),
    },
    own=_normed({"1": "attention.LayerNorm", "2": "LayerNorm"}),
    ends=_at(_NORM, out="encoder.emb_layer_norm_after"),
    asks={**_BERT.asks, "position_embedding_type": ("rotary",)},
    usual={"emb_layer_norm_before": False, "position_embedding_type": "absolute"},
)
_GLM_4 = _like_llama(
    "GLM-4: glm4",
    "rope_pairing=interleaved norm=around",
    biases=_biased("", attention_bias="QKV"),
    rope_dims=a_share(0.5),
    own=_around("post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm"),
)
_GPT_OSS = _like_llama(
    "GPT-OSS: gpt_oss",
    **_ROUTED,
    activation="swish-clamped",
    window=a_window,
    asks={"swiglu_alpha": (1.702,), "swiglu_limit": (7.0, 7)},
    own={
        **_linear({"router": "mlp.router"}),
        "experts.gate_up_proj": "W_13_in_out",
        "experts.gate_up_proj_bias": "b_13_in_out",
        "experts.down_proj": "W_2_in_out",
        "experts.down_proj_bias": "b_2",
        **_SINKS,
    },
)
FAMILIES: tuple[Family, ...] = (
    _GPT2,
    _GPT2.like(
        "GPT: openai-gpt",
        "norm=post scale=None",
        activation=one_of({**ACTIVATIONS, "gelu": "gelu-tanh"}, "afn"),
        tokens="tokens_embed.weight",
        begins={"P": "positions_embed.weight"},
        ends={},
        asks={},
    ),
    _GPT2.like(
        "CTRL: ctrl",
        "activation=relu scale=None",
        eps=Fraction(1, 10**6),
        factor=root_of_width("n_embd"),
        sinusoids=USUAL,
        tokens="w.weight",
        begins={"P": "pos_encoding"},
        ends=_at(_NORM, out="layernorm"),
        own={
            **_linear({x.upper(): f"multi_head_attention.W{x}" for x in "qkv"}),
            **_linear({"O": "multi_head_attention.dense", "1": "ffn.0", "2": "ffn.2"}),
            **_normed({"1": "layernorm1", "2": "layernorm2"}),
        },
        outputs={
            "LMHeadModel": _OF_BIASED_WORDS,
            "ForSequenceClassification": _classes("classifier"),
        },
        asks={"layer_norm_epsilon": (1e-6,)},
    ),
    _LLAMA,
    _like_llama("Mistral: mistral", window=a_window_of_all),
    _like_llama("Ministral: ministral", window=a_window),
    _like_llama("CWM: cwm", window=_WINDOW_BUT_IN_FIRST_OF_4),
    _like_llama(
        "Ministral 3: ministral3", window=a_window_of_all, equations=equations.tuned_if_long
    ),
    _like_llama(
        "Qwen2: qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text qwen2_5_omni_text "
        "qwen2_5_omni_talker",
        biases="QKV",
        window=a_window,
    ),
    _like_llama("Qwen3: qwen3", qk_norm="rms", window=a_window, usual={"head_dim": 128}),
    _like_llama("Qwen3-VL: qwen3_vl_text", qk_norm="rms"),
    _GEMMA_2,
    _GEMMA_4,
    _T5_GEMMA,
    _GEMMA_4.like(
        "Gemma 4, unified: gemma4_unified_text",
        usual={**_GEMMA_4.usual, "hidden_size_per_layer_input": 0},
    ),
    _GEMMA_4.like(
        "EmbeddingGemma 2: embedding_gemma2_text",
        "block=encoder causal=None window=None",
        reach=where(a_window, a_count("sliding_window")),
        of_layers={
            "W_begin": "ple.per_layer_model_projection.weight",
            "gain_begin": "ple.per_layer_projection_norm.weight",
        },
        outputs={"Model": _pooled("{}embedding_projection", "all", "none", bias=False)},
        asks={},
        usual={},
    ),
    _GEMMA_2.like(
        "VaultGemma: vaultgemma", norm="pre", own={"pre_feedforward_layernorm.weight": "gamma_2"}
    ),
    _GEMMA,
    # configs of 4 billion parameters and more omit usual keys; the package ignores a cap of scores
    _GEMMA.like(
        "Gemma 3: gemma3_text",
        "norm=around qk_norm=rms",
        scale=one_over_root("query_pre_attn_scalar"),
        causal=where(_is_both_ways, False, True),
        window=where(_is_both_ways, None, _WINDOW_BUT_IN_EVERY_6),
        reach=where(_is_both_ways, where(_WINDOW_BUT_IN_EVERY_6, _half_of("sliding_window"))),
        **_of_kinds(_WINDOW_BUT_IN_EVERY_6, "rope_local_base_freq", "rope_theta"),
        usual={**_USUAL_OF_GEMMA, "query_pre_attn_scalar": 256, "rope_theta": 1e6},
        outputs=_CAPPED_HEADS,
        asks={"attn_logit_softcapping": (None,)},
    ),
    _like_llama("SmolLM3: smollm3", window=a_window, positions=where(_has_rope, "rope", "none")),
    _like_llama(
        "Seed-OSS: seed_oss",
        biases=_biased("", attention_bias="QKV", attention_out_bias="O", mlp_bias="123"),
    ),
    _like_llama(
        "Apertus: apertus apertus1p5_text",
        "activation=relu qk_norm=rms is_gated=False",
        equations=equations.by_xielu,
        own={f"act_fn.{each}": f"xielu_{each}" for each in ("alpha_p", "alpha_n", "beta", "eps")},
        asks={"hidden_act": ("xielu",)},
    ),
    _like_llama(
        "NanoChat: nanochat",
        "rope_base=None is_gated=False",
        equations=equations.normed_after_rope(),
        rope_frequencies=turned_back,
        begins={"gamma_E": ""},
        ends={"gamma_out": ""},
        outputs=_CAPPED_HEADS,
        asks={"rope_parameters.rope_type": ("default",)},
    ),
    _like_llama(
        "DiffLlama: diffllama",
        equations=equations.differential,
        own={f"lambda_{kind}{of}": f"lambda_{kind}{of}" for kind in "qk" for of in "12"},
    ),
    _like_llama(
        "Doge: doge",
        qk_norm="rms",
        longest=a_count("keep_window_size", default=2048),
        window=a_window_of_all,
        equations=equations.with_dynamic_mask,
        own={
            "self_attn.A": "strength",
            **_linear({"mask": "self_attn.dt_proj"}),
            "input_residual": "scale_1",
            "post_attention_residual": "scale_2",
        },
        asks={"is_moe": (False,)},
    ),
    _like_llama(
        "BitNet: bitnet",
        equations=equations.normed_within,
        own={"attn_sub_norm.weight": "gain_C", "ffn_sub_norm.weight": "gain_G"},
    ),
    _ARCEE,
    _ARCEE.like("Cosmos 3 Edge: cosmos3_edge_text"),
    _ARCEE.like("Jais 2: jais2", **_BY_LAYER),
    _like_llama(
        "Helium: helium",
        biases=_biased("", attention_bias="QKV", mlp_bias="123"),
        rope_pairing="interleaved",
    ),
    _like_llama("Phi-3: phi3 phi4_multimodal", window=a_window_of_all, rope_dims=a_share()),
    _GRANITE,
    _GRANITE.like(
        "HyperCLOVA X: hyperclovax",
        **_around_if("use_post_norm"),
        outputs=_shrunk(_factor("logits_scaling", 1.0)),
        own=_around("post_norm1", "post_attention_layernorm", "post_norm2"),
    ),
    _like_llama(
        "StableLM: stablelm",
        biases=_biased("", use_qkv_bias="QKV"),
        **_BY_LAYER,
        rope_dims=a_share(0.25),
        parallel=if_so("use_parallel_residual", "shared", "none"),
        qk_norm=if_so("qk_layernorm", "layer"),
        own={f"{x}_layernorm.norms.*.weight": f"gamma_{x.upper()}" for x in "qk"},
        own_gains="each",
    ),
    _like_llama(
        "StarCoder2: starcoder2",
        "normalization=layer is_gated=False",
        biases=_biased("", use_bias="QKVO12"),
        eps=a_number("norm_epsilon"),
        window=a_window_of_all,
        ends=_LAST,
        weights_layout=OUT_IN,
    ),
    _like_llama(
        "GLM: glm",
        biases=_biased("", attention_bias="QKV"),
        rope_pairing="interleaved",
        rope_dims=a_share(0.5),
    ),
    _GLM_4,
    _GLM_4.like("GLM-4V: glm4v_text", biases="QKV", rope_dims=a_share()),
    _GLM_4.like("GLM-OCR: glm_ocr_text", rope_dims=a_share()),
    _GLM_4.like("GLM-Image: glm_image_text", "rope_pairing=halves", rope_dims=a_share()),
    _like_llama(
        "ERNIE 4.5: ernie4_5", biases=_biased("", use_bias="QKVO123"), rope_pairing="interleaved"
    ),
    _like_llama("PaddleOCR-VL: paddleocr_vl_text", biases=_biased("", use_bias="QKVO123")),
    _OPT,
    _BIOGPT,
    _BIOGPT.like(
        "XGLM: xglm",
        activation=an_activation("activation_function"),
        factor=if_so("scale_embedding", root_of_width("d_model"), default=True),
        begins={"P": "embed_positions.weights"},
        outputs=_HEADS,
        sinusoids=FAIRSEQ,
        asks={"add_cross_attention": (False,)},
    ),
    _GPT2.like(
        "ImageGPT: imagegpt",
        normalization="rms",
        ends=_LAST_GAIN,
        asks={},
        outputs={"ForCausalImageModeling": _OF_UNTIED_WORDS},
    ),
    _GPT2.like(
        "GPT-BigCode: gpt_bigcode",
        scale=None,
        asks={"scale_attn_weights": (True,)},
        key_heads=_ONE_KEY_HEAD,
        fused=if_so("multi_query", (1, "QKV"), _all_three_of("n_head"), default=True),
        weights_layout=OUT_IN,
    ),
    _GPT2.like(
        "GPT-Neo: gpt_neo",
        "biases=O12 scale=none",
        window=a_window_of_local_layers,
        asks={},
        weights_layout=OUT_IN,
    ),
    _BERT,
    _BERT.like(
        "Splinter: splinter",
        outputs={
            **_OF_TOKENS,
            "ForQuestionAnswering": Head(  # reads the token of the question
                {f"W_{end}": f"splinter_qass.{end}_classifier.weight" for end in SPAN},
                CLASSES,
                beside=(*("W_qa", "gamma_qa", "beta_qa") * 4,),
                is_read=False,
            ),
        },
    ),
    _BERT.like(
        "BERT generation: bert-generation",
        causal=if_so("is_decoder", True),
        begins=_WITHOUT_TYPES,
        outputs={
            "Encoder": Head({}, POOLED),
            "Decoder": Head(
                {"W_out": "lm_head.decoder.weight", "b_out": "lm_head.decoder.bias lm_head.bias"},
                is_tied=True,
            ),
        },
        asks={"add_cross_attention": (False,)},
    ),
    _BERT.like("ERNIE: ernie", asks={**_BERT.asks, "use_task_id": (False,)}),
    _BERT.like(
        "LayoutLM: layoutlm",
        begins={
            **_BERT.begins,
            **{name: f"embeddings.{name[-1]}_position_embeddings.weight" for name in _OF_PLACE_0},
        },
        outputs=_WITH_POOLER,
        asks={},
        remarks=("all tokens are at place 0 of the page, as without bbox",),
    ),
    _BERT.like(
        "Megatron-BERT: megatron-bert",
        norm="pre",
        begins=_WITHOUT_NORM,
        own=_normed({"1": "attention.ln", "2": "ln"}),
        ends=_at(_NORM, out="encoder.ln"),
    ),
    _ROBERTA,
    _ROBERTA.like(
        "I-BERT: ibert",
        ignored=("_integer", "scaling_factor", ".x_min", ".x_max", ".shift"),
        asks={**_BERT.asks, "quant_mode": (False,)},
    ),
    _ROBERTA.like(
        "XLM-R XL: xlm-roberta-xl",
        norm="pre",
        begins=_WITHOUT_NORM,
        own=_normed({"1": "self_attn_layer_norm", "2": "LayerNorm"}),
        ends=_at(_NORM, out="encoder.LayerNorm"),
    ),
    _ROBERTA.like(
        "RoBERTa, pre-norm: roberta-prelayernorm",
        norm="pre",
        own=_normed({"1": "attention.LayerNorm", "2": "intermediate.LayerNorm"}),
        ends=_at(_NORM, out="LayerNorm"),
    ),
    _ESM,
    _ESM.like(
        "ESM: esm",
        "positions=none places=P",
        begins={"P": _BERT.begins["P"], **_ESM.begins},
        asks={**_ESM.asks, "position_embedding_type": ("absolute",)},
    ),
    _BERT.like(
        "DistilBERT: distilbert",
        layers=("transformer.layer.{}.",),
        eps=Fraction(1, 10**12),
        activation=an_activation("activation"),
        begins=_WITHOUT_TYPES,
        outputs=_of_encoder(
            _masked(
                "vocab_",
                "transform",
                "layer_norm",
                "projector",
                activation=an_activation("activation"),
            ),
            _OF_FIRST_TOKEN,
            ForMultipleChoice=replace(_OF_FIRST_TOKEN, labels=("this choice",)),
        ),
        asks={},
    ),
    _ROBERTA.like(
        "Longformer: longformer",
        **_LOCAL,
        outputs={"ForMaskedLM": _OF_LM_HEAD, **_OF_TOKENS, "Model": _OF_POOLER},
        remarks=_says_what_is_local,
    ),
    _BERT.like(
        "BigBird: big_bird",
        biases=if_so("use_bias", "QKVO12", "O12", default=True),
        longest=_most_of_bigbird,
        factor=if_so("rescale_embeddings", root_of_width("hidden_size")),
        outputs={
            **{
                name: replace(head, beside=("W_pooler",))
                for name, head in _of_encoder(_OF_MASKED, _of_first_dense(_HIDDEN_ACT)).items()
            },
            "ForPreTraining": _BERT.outputs["ForPreTraining"],
            "ForQuestionAnswering": replace(  # separators decide on types of tokens, and on logits
                USUAL_HEADS["ForQuestionAnswering"],
                beside=("W_qa1", "W_qa2", "gamma_qa", "beta_qa"),
                is_read=False,
            ),
            "Model": _pooled("{}pooler"),
        },
        remarks=("attention is not sparse, as for few tokens",),
    ),
    _BERT.like(
        "RoFormer: roformer",
        "positions=rope rope_base=10000 rope_pairing=interleaved widens=embeddings_project "
        "turns=encoder.embed_positions.weight",
        places="",
        begins=_WITHOUT_PLACES,
        outputs={
            **_of_encoder(_OF_MASKED, _of_first_dense(_HIDDEN_ACT)),
            "ForMultipleChoice": Head(_at(out="classifier"), CLASSES, labels=("this choice",)),
        },
        asks={**_BERT.asks, "rotary_value": (False,)},
    ),
    _POST.like(
        "XLNet: xlnet",
        layers=("layer.{}.",),
        **_said(activation="ff_activation"),
        equations=equations.with_relative_keys,
        tokens="word_embedding.weight",
        own={
            **{f"rel_attn.{each}": f"W_{each.upper()}" for each in "qkvo"},
            "rel_attn.r": "W_rel",
            "rel_attn.r_w_bias": "bias_near",
            "rel_attn.r_r_bias": "bias_far",
        },
        ignored=("rel_attn.r_s_bias", "rel_attn.seg_embed"),
        biases="12",
        outputs={
            "LMHeadModel": Head(_at(out="lm_loss"), MASKED, "all", is_tied=True),
            "ForSequenceClassification": _OF_LAST_SUMMARY,
            "ForMultipleChoice": replace(_OF_LAST_SUMMARY, labels=("this choice",)),
            **_OF_TOKENS,
            "ForQuestionAnswering": _OF_BEAMS,
        },
        asks={"attn_type": ("bi",), "bi_data": (False,), "clamp_len": (-1,)},
        remarks=("tokens have no segments, as without token_type_ids",),
    ),
    _XLM,
    _XLM.like(
        "XLM: xlm flaubert",
        "block=decoder causal=True",
        outputs={
            **_XLM.outputs,
            "LMHeadModel": replace(_XLM.outputs["LMHeadModel"], gives=NEXT, reads="last"),
        },
        asks={**_XLM.asks, "causal": (True,)},
    ),
    _DEBERTA_V3,
    _DEBERTA_V3.like(
        "DeBERTa: deberta",
        own={
            "q_bias": "b_Q",
            "v_bias": "b_V",
            "pos_proj.weight": "W_posK",
            **_linear({"posQ": "pos_q_proj"}),
        },
        shared={"E_rel": "encoder.rel_embeddings.weight"},
        asks={"talking_head": (False,)},
        biases="QVO12",
        fused=_all_three_of("num_attention_heads"),
    ),
    _BERT.like(
        "ELECTRA: electra",
        widens="embeddings_project",
        outputs=_of_encoder(
            _masked(
                "generator_",
                "predictions.dense",
                "predictions.LayerNorm",
                "lm_head",
                activation="gelu",
            ),
            _of_first_dense("gelu"),
            ForPreTraining=_hidden_classes(
                "discriminator_predictions.dense",
                "discriminator_predictions.dense_prediction",
                _HIDDEN_ACT,
                "all",
                labels=("replaced",),
            ),
            ForMultipleChoice=_hidden_classes(
                "sequence_summary.summary",
                activation=an_activation("summary_activation"),
                asks={"summary_type": ("first",), "summary_use_proj": (True,)},
                labels=("this choice",),
            ),
        ),
    ),
    _VIT,
    _VIT.like("DPT: dpt", outputs={"Model": _OF_IMAGE_POOLER}),
    _VIT.like(
        "FLAVA image: flava_image_model",
        outputs={"Model": _OF_POOLER},
        usual={"use_mask_token": True},
    ),
    _VIT.like(
        "InternVL vision: internvl_vision qianfan_ocr_vision",
        biases=_biased("O12", attention_bias="QKV"),
        ends={},
        outputs={},
        asks={
            "use_mean_pooling": (True,),
            "use_qk_norm": (False,),
            "norm_type": ("layer_norm",),
        },
        own={
            **{f"lambda_{part}": f"lambda_{part}" for part in "12"},
            **_linear({"O": "attention.projection_layer"}),
        },
    ),
    _VIT.like(
        "I-JEPA: ijepa",
        begins={name: at for name, at in _OF_PATCHES.items() if name != "class_token"},
        outputs={"ForImageClassification": _classes("classifier", "mean")},
    ),
    _CLIP_TEXT,
    _CLIP_VISION,
    _CLIP_VISION.like("GIT vision: git_vision_model", remarks=()),
    _CLIP_VISION.like(
        "BLIP vision: blip blip_vision_model blip_2_vision_model instructblip_vision_model "
        "instructblipvideo_vision_model",
        begins={
            "E": "embeddings.patch_embedding.weight",
            "b_E": "embeddings.patch_embedding.bias",
            "class_token": "embeddings.class_embedding",
            "P": "embeddings.position_embedding",
        },
        usual={**_CLIP_VISION.usual, "image_size": 384, "patch_size": 16, "hidden_act": "gelu"},
        remarks=(),
    ),
    _CLIP_VISION.like(
        "OWL-ViT vision: owlvit owlvit_vision_model owlv2 owlv2_vision_model",
        begins={**_CLIP_VISION.begins, **_at(_NORM, E="pre_layernorm")},
    ),
    _SIGLIP,
    _SIGLIP.like(
        "Janus vision: janus_vision_model",
        biases=_biased("O12", attention_bias="QKV"),
        own=_linear({"O": "projection_layer"}),
        outputs={},
        asks={"use_qk_norm": (False,)},
    ),
    _CLIP_TEXT.like(
        "SigLIP text: siglip siglip_text_model siglip2 siglip2_text_model",
        causal=None,
        outputs={"Model": _OF_LAST_TOKEN},
        usual=_USUAL_OF_SIGLIP,
    ),
    _AIM_TEXT,
    _AIM_VISION,
    _DINO_V3,
    _BEIT,
    _BEIT.like(
        ends=_at(_NORM, out="layernorm"), outputs=_OF_ONE_IMAGE, asks={"use_mean_pooling": (False,)}
    ),
    _CLIP_VISION.like(
        "MLCD: mlcd mlcd_vision_model",
        equations=equations.turned_in_plane,
        begins={name: at for name, at in _CLIP_VISION.begins.items() if name != "P"},
        shared={"class_angle": "class_pos_emb"},
    ),
    _DINO,
    _DINO.like(
        "DINOv2 with registers: dinov2_with_registers",
        begins={**_OF_PATCHES, "more_tokens": "embeddings.register_tokens"},
        usual={**_DINO.usual, "num_register_tokens": 4},
    ),
    _VIT.like(
        "DeiT: deit",
        begins={**_OF_PATCHES, "more_tokens": "embeddings.distillation_token"},
        outputs={
            **_OF_ONE_IMAGE,
            "ForImageClassificationWithTeacher": Head(
                _at(first="cls_classifier", second="distillation_classifier"),
                CLASSES,
                "all",
                {"equations": equations.by_first_two},
            ),
            "Model": _OF_IMAGE_POOLER,
        },
    ),
    _VIT.like(
        "AST: audio-spectrogram-transformer",
        begins={**_OF_PATCHES, "more_tokens": "embeddings.distillation_token"},
        convolutions=(("embeddings.patch_embeddings.projection", 1),),
        outputs={
            "ForAudioClassification": Head(
                {
                    **_at(out="classifier.dense"),
                    **_at(("gain", "bias"), pool="classifier.layernorm"),
                },
                CLASSES,
                "mean",
                {"equations": equations.normed_mean("i < 2", "2")},
            )
        },
    ),
    _BERT.like(
        "ALBERT: albert",
        layers=("encoder.albert_layer_groups.{}.albert_layers.{}.",),
        count=lambda config, layer: config.count("num_hidden_layers") * _in_group(config, layer),
        stored=_albert_layer,
        own=_linear({"1": "ffn"}),
        widens="encoder.embedding_hidden_mapping_in",
        outputs=_of_encoder(
            _masked("predictions.", "dense", "LayerNorm", "decoder", "bias"),
            _hidden_classes("{}pooler"),
            Model=_pooled("{}pooler"),
        ),
    ),
    _BERT.like(
        "RemBERT: rembert",
        widens="encoder.embedding_hidden_mapping_in",
        outputs=_of_encoder(
            replace(_masked("cls.predictions.", "dense", "LayerNorm", "decoder"), is_tied=False),
            _BERT.outputs["ForSequenceClassification"],
            Model=_OF_POOLER,
        ),
    ),
    _MODERNBERT,
    _BERT.like(
        "FLAVA text: flava_text_model",
        norm="pre",
        biases=if_so("qkv_bias", "QKVO12", "O12", default=True),
        ends=_at(_NORM, out="layernorm"),
        outputs={"Model": _OF_POOLER},
        asks={},
    ),
    _MODERNBERT.like(
        "ModernBERT decoder: modernbert-decoder",
        "block=decoder causal=True reach=None",
        window=a_window,
        outputs={"ForCausalLM": replace(_modern_head("lm_head"), gives=NEXT, reads="last")},
    ),
    _ROTARY_BERT.like(
        "Nomic BERT: nomic_bert",
        is_gated=True,
        biases="",
        own={**_linear({"3": "fc11", "1": "fc12"}), **_ROTARY_BERT.own},
        begins=_TYPES | _at(_NORM, E="emb_ln"),
        outputs={
            "ForMaskedLM": _masked(
                "cls.predictions.", "transform.dense", "transform.layer_norm", "decoder", "bias"
            ),
            **_OF_TOKENS,
        },
    ),
    _ROTARY_BERT.like(
        "Jina v3: jina_embeddings_v3",
        begins=_TYPES | _at(_NORM, E="emb_ln"),
        outputs=_of_encoder(_OF_LM_HEAD, _of_first_dense("tanh"), Model=_OF_POOLER),
    ),
    _ROTARY_BERT.like(
        "GTE: gte",
        "is_gated=True biases=QKVO2",
        layers=("encoder.layer.{}.",),
        begins=_TYPES | _at(_NORM, E="embeddings.LayerNorm"),
        optional={"W_type": "type_vocab_size"},
        own={"up_gate_proj.weight": "W_31", **_ROTARY_BERT.own},
        outputs={
            "ForMaskedLM": _masked("lm_head.", "dense", "norm", "decoder", activation="gelu"),
            "ForSequenceClassification": _hidden_classes("{}pooler.dense"),
            **_OF_TOKENS,
        },
    ),
    _like_llama(
        "ESM C: esmc",
        "block=encoder causal=None normalization=layer qk_norm=layer own_gains=each",
        eps=_TORCH_EPS,
        equations=equations.normed_over_heads,
        residual_scale=lambda config, _: Fraction(
            str((36 / config.count("num_hidden_layers")) ** 0.5)
        ),
        biases=_biased("n", attention_bias="QKVO", mlp_bias="123"),
        outputs=_of_encoder(
            _masked("lm_head.", "dense", "layer_norm", "decoder", activation="gelu"),
            _of_first_dense("tanh"),
            ForTokenClassification=_classes("score", "all"),
        ),
    ),
    _like_llama(
        "UltraBERT: ultrabert",
        "block=encoder causal=None",
        reach=where(a_window, a_count("sliding_window")),
        outputs={"ForTokenClassification": _classes("classifier", "all")},
    ),
    _like_llama(
        "EuroBERT: eurobert",
        "block=encoder causal=None",
        outputs={
            "ForMaskedLM": replace(
                _OF_BIASED_WORDS, gives=MASKED, reads="all", optional={"b_out": "mlp_bias"}
            ),
            "ForTokenClassification": _classes("classifier", "all"),
            "ForSequenceClassification": Head(
                _at(pre="dense", out="classifier"),
                CLASSES,
                settings={
                    "activation_pre": "gelu",
                    "read": one_of({"bos": "first", "mean": "mean"}, "classifier_pooling"),
                },
            ),
        },
    ),
    _BERT.like(
        "MPNet: mpnet",
        "rel_max_distance=128 offset=2 pads=pad_token_id",
        begins=_WITHOUT_TYPES,
        shared={"rel_bias": "encoder.relative_attention_bias.weight"},
        own=_linear({each: f"attention.attn.{each.lower()}" for each in "QKVO"}),
        outputs=_of_encoder(_OF_LM_HEAD, _of_first_dense("tanh"), Model=_OF_POOLER),
        asks={"relative_attention_num_buckets": (32,)},
    ),
    _like_bart(
        "Marian: marian",
        _of_sinusoids,
        norm="post",
        outputs={"MTModel": _BART_HEADS["ForConditionalGeneration"]},
        sinusoids=USUAL,
    ),
    _like_bart("BART: bart", _of_words, norm="post"),
    _like_bart("mBART: mbart", _of_words),
    _like_bart("Pegasus: pegasus", _of_sinusoids),
    _like_bart("Blenderbot: blenderbot", _of_sinusoids),
    _like_bart(
        "Blenderbot small: blenderbot-small",
        lambda side: _of_words(side) | {"offset": 0},
        norm="post",
        of_decoder={"equations": equations.normed_before_places("1"), "factor": None},
    ),
    _like_bart(
        "M2M-100 and NLLB: m2m_100",
        lambda side: {
            **_of_sinusoids(side),
            "begins": {"P": f"{side}.embed_positions.weights"},
            "offset": None,
            "pads": "pad_token_id",
        },
        sinusoids=FAIRSEQ,
    ),
    _like_bart(
        "FSMT: fsmt",
        lambda side: _of_sinusoids(side) | {"offset": None, "pads": "pad_token_id"},
        norm="post",
        outputs={
            "ForConditionalGeneration": Head(
                {"W_out": "{}decoder.output_projection.weight"}, is_tied=True
            )
        },
        sinusoids=FAIRSEQ,
    ),
    _like_bart("LED: led", lambda side: _of_words(side) | {"offset": 0}, norm="post").like(
        "LED: led", **_LOCAL, own=_linear({"O": "self_attn.output"}), remarks=_WITHOUT_GLOBAL
    ),
    _like_bart(
        "MVP: mvp",
        _of_words,
        norm="post",
        asks={"use_prompt": (False,), "is_encoder_decoder": (True,)},
    ),
    _like_bart("PLBart: plbart", _of_words, norm="post"),
    replace(
        _like_bart(
            "Whisper: whisper",
            lambda side: {"begins": {"P": f"{side}.embed_positions.weight"}},
            outputs={"ForConditionalGeneration": Head({"W_out": "proj_out.weight"}, is_tied=True)},
            biases="QVO12",
            of_decoder={"tokens": "decoder.embed_tokens.weight", "places": "P"},
        ),
        convolutions=(("encoder.conv1", 1), ("encoder.conv2", 2)),
        outputs={"ForAudioClassification": _OF_AUDIO},
    ),
    _like_t5("T5: t5", _t5_shrinks),
    _like_t5("mT5: mt5"),
    _like_t5(
        "UMT5: umt5", _t5_shrinks, shared={}, own={"relative_attention_bias.weight": "rel_bias"}
    ),
    _like_t5("LongT5: longt5", _t5_shrinks).like(
        "LongT5: longt5",
        reach=a_count("local_radius"),
        own=_linear({x.upper(): f"LocalSelfAttention.{x}" for x in "qkvo"}),
        shared={"rel_bias": "layer.0.LocalSelfAttention.relative_attention_bias.weight"},
        asks={"encoder_attention_type": ("local",)},
    ),
    _like_t5(
        "Switch: switch_transformers",
        _t5_shrinks,
        tokens="{}.embed_tokens.weight shared.weight",
        top_k=1,
        router_norm=False,
        longest=a_count("expert_capacity"),
        own={
            "mlp.router.classifier.weight": "W_router",
            **{f"{at}wi.weight": "W_1" for at in ("mlp.", "experts.expert_*.")},
            **{f"{at}wo.weight": "W_2" for at in ("mlp.", "experts.expert_*.")},
        },
        routes=_sparse("decoder"),
        asks={"router_bias": (False,)},
        remarks=("experts take as many tokens as expert_capacity says: no more are read",),
    ).like(routes=_sparse("encoder")),
    *_with_pre_norm(_WAV2VEC),
    *_with_pre_norm(
        _WAV2VEC.like(
            "WavLM: wavlm",
            equations=equations.biased_by_gates,
            own={
                **_WAV2VEC.own,
                "rel_attn_embed.weight": "distances",
                "gru_rel_pos_const": "gamma_gate",
                **_linear({"gru": "gru_rel_pos_linear"}),
            },
            shared={"distances": "attention.rel_attn_embed.weight"},
        )
    ),
    _like_llama(
        "OLMo: olmo",
        normalization="layer",
        eps=_TORCH_EPS,
        equations=equations.clipped("clip_qkv"),
        ends={"gamma_out": ""},
    ),
    _OLMO_2,
    _OLMO_2.like("OLMo 3: olmo3", window=_WINDOW_BUT_IN_EVERY_4),
    _EXAONE_4,
    _like_llama(
        "EXAONE: exaone",
        eps=if_given(
            "layer_norm_epsilon", a_number("layer_norm_epsilon"), a_number("rms_norm_eps")
        ),
        activation=an_activation("activation_function", "hidden_act"),
        weights_layout=OUT_IN,
    ),
    _like_llama(
        "Nemotron: nemotron",
        "normalization=layer gain_above=1 is_gated=False",
        eps=a_number("norm_eps"),
        rope_dims=a_share(0.5),
        ends=_LAST,
    ),
    _DECODER.like(
        "Bloom: bloom",
        "alibi=True activation=gelu-tanh",
        eps=a_number("layer_norm_epsilon"),
        begins=_at(_NORM, E="word_embeddings_layernorm"),
        asks={"apply_residual_connection_post_layernorm": (False,)},
        own=DENSE,
        fused=_all_three_of("n_head", "num_attention_heads"),
    ),
    _DECODER.like(
        "MPT: mpt",
        "alibi=True activation=gelu",
        biases="",
        eps=a_number("layer_norm_epsilon", 1e-5),
        scale=a_number_or_none("attn_config.softmax_scale"),
        equations=equations.clipped("attn_config.clip_qkv"),
        longest=a_count("max_seq_len"),
        ends=_LAST_GAIN,
        asks={
            "no_bias": (True,),
            "logit_scale": (None,),
            "attn_config.alibi": (True,),
            "attn_config.alibi_bias_max": (8,),
            "attn_config.attn_type": ("multihead_attention",),
            "attn_config.qk_ln": (False,),
            "attn_config.prefix_lm": (False,),
        },
        own=_linear({"1": "ffn.up_proj"}),
    ),
    _GPT_NEOX,
    _GPT_NEOX.like(
        "GPT-NeoX Japanese: gpt_neox_japanese",
        parallel=None,
        rope_dims=a_share(),
        biases=lambda config, layer: "O" * (layer == config.count("num_hidden_layers") - 1),
        own={**DENSE, "attention.dense_bias": "b_O"},
    ),
    _GPT_J,
    _GPT_J.like("CodeGen: codegen", fused=(4, "QVK")),
    _like_llama(
        "Falcon: falcon",
        "normalization=layer is_gated=False",
        biases=_biased("", bias="QKVO12"),
        eps=a_number("layer_norm_epsilon"),
        activation=an_activation("activation", default="gelu"),
        parallel=_falcon_parallel,
        ends=_LAST,
        asks={"alibi": (False,)},
        own={**DENSE, **_normed({"1": "ln_attn", "2": "ln_mlp"})},
        key_heads=_FALCON_KEY_HEADS,
        fused=lambda config, layer: (
            _FALCON_KEY_HEADS(config, 0) or config.count("num_attention_heads"),
            "QKV",
        ),
    ),
    _PHI,
    _PHI.like(
        "Persimmon: persimmon",
        parallel=None,
        outputs=_HEADS,
        fused=_all_three_of("num_attention_heads"),
    ),
    _like_cohere("Cohere: cohere", qk_norm=if_so("use_qk_norm", "layer")),
    _COHERE_2,
    _like_cohere(
        "Cohere Compass: cohere_compass_text",
        rope_pairing="halves",
        window=a_window,
        positions=lambda config, layer: (
            "rope"
            if config.get("rope_parameters." + config.of_layer("layer_types", layer))
            else "none"
        ),
        outputs=_shrunk(if_given("logit_scale", _factor("logit_scale"), 1)),
    ),
    _COHERE_2.like(
        "Cohere 2 MoE: cohere2_moe",
        **_ROUTED,
        router=one_of({"softmax": "softmax", "sigmoid": "sigmoid"}, "expert_selection_fn"),
        router_norm=where(
            lambda config, _: config.get("expert_selection_fn") == "sigmoid", _BY_CONFIG, True
        ),
        normalization=if_given("rms_norm_eps", "rms", "layer"),
        eps=if_given("rms_norm_eps", a_number("rms_norm_eps", 0), a_number("layer_norm_eps")),
        positions=where(_is_turned_in_cohere, "rope", "none"),
        equations=equations.with_mean_of_experts,
    ),
    _like_llama(
        "Laguna: laguna",
        "router=sigmoid qk_norm=rms",
        heads=lambda config, layer: config.count_of_layer("num_attention_heads_per_layer", layer),
        **_ROUTED,
        router_scale=a_number("moe_routed_scaling_factor", 1.0),
        window=a_window,
        rope_dims=a_share(),
        equations=equations.gated("log(1 + exp({0}))", (True, "per-head")),
        own={"self_attn.g_proj.weight": "W_gate"},
        asks={"moe_router_logit_softcapping": (0,)},
    ),
    _DEEPSEEK_V3.like(
        "DeepSeek-V2: deepseek_v2",
        "rope_pairing=interleaved router_norm=False router=None",
        biases=_biased("", attention_bias="O", mlp_bias="123"),
    ),
    _DEEPSEEK_V3,
    _DEEPSEEK_V3.like(
        "Mistral 4: mistral4",
        "router=None router_groups=None top_groups=None",
        equations=lambda config, layer: equations.tuned_if_long(
            config, layer, _latent_scale(config, layer)
        ),
        asks={"n_group": (1, None)},
    ),
    _DEEPSEEK_V3.like(
        "A.X K1: axk1",
        equations=equations.with_normed_experts,
        own={**_LATENT, "post_mlp_layernorm.weight": "gain_moe"},
    ),
    _DEEPSEEK_V3.like(
        "GLM-4 MoE Lite: glm4_moe_lite",
        asks={**_DEEPSEEK_V3.asks, **dict.fromkeys(PARTS_OF_ROPE, (1, None))},
    ),
    _DEEPSEEK_V3.like(
        "DeepSeek-V3.2: deepseek_v32 glm_moe_dsa",
        longest=a_count("index_topk"),
        ignored=_OF_INDEXER,
        remarks=_ALL_KEYS,
    ),
    _YOUTU,
    _YOUTU.like(
        "MiniCPM3: minicpm3",
        biases=_biased("", attention_bias="O", mlp_bias="123"),
        rope_pairing="halves",
        residual_scale=_depth_scale,
        factor=_factor("scale_emb"),
        outputs=_shrunk(lambda it, _: it.count("dim_model_base") / it.count("hidden_size")),
    ),
    _GLM_4_MOE,
    _GLM_4_MOE.like("Solar Open: solar_open", qk_norm=None, rope_dims=a_share()),
    _GLM_4_MOE.like(
        "Sarvam MoE: sarvam_moe",
        rope_dims=a_share(),
        own={**DENSE, **_normed({"Q": "query_layernorm", "K": "key_layernorm"})},
    ),
    _like_llama(
        "MiMo-V2-Flash: mimo_v2_flash",
        biases=_biased("", attention_bias="QKV"),
        **_ROUTED_BY_GROUPS,
        window=a_window,
        rope_dims=a_share(),
        key_heads=lambda config, layer: (
            config.count("num_key_value_heads") * (2 if a_window(config, layer) else 1)
        ),
        rearranged=_scaled_values,
        sinks=a_window,
        own={**_SINKS, "attention_sink_bias": "sinks"},
        remarks=("W_V and b_V contain attention_value_scale",),
    ),
    _like_llama("dots.llm1: dots1", **_ROUTED_BY_GROUPS, qk_norm="rms", window=a_window),
    _like_llama(
        "MiniMax-M2: minimax_m2",
        "router=sigmoid qk_norm=rms-all own_gains=each",
        **_ROUTED,
        rope_dims=a_share(),
    ),
    _like_llama(
        "Kolibri: kolibri1",
        "router=sigmoid norm=around qk_norm=rms",
        **_QWEN_ROUTED,
        window=a_window,
        positions=where(a_window, "rope", "none"),
        equations=equations.CHOSEN_BY_LOGITS,
        own=_around("post_attn_norm", "post_attention_layernorm", "post_ffn_norm"),
    ),
    _like_llama(
        "MiniMax-M3: minimax_m3_vl_text",
        "activation=swish-clamped router=sigmoid qk_norm=rms gain_above=1",
        **_ROUTED,
        router_scale=a_number("routed_scaling_factor"),
        rope_dims=a_share(),
        longest=lambda config, _: (
            config.count("index_topk_blocks", 16) * config.count("index_block_size", 128)
        ),
        own=_linear({"s13": "shared_experts.gate_up_proj"}),
        ignored=tuple(f"indexer.{x}_{of}.weight" for x in "qk" for of in ("proj", "norm")),
        asks={"swiglu_alpha": (1.702,), "swiglu_limit": (7.0, 7)},
        remarks=_ALL_KEYS,
    ),
    _like_llama(
        "DeepSeek-OCR: deepseek_ocr2_text unlimited_ocr_text",
        **{**_ROUTED_BY_GROUPS, "router": None, "router_norm": False},
        remarks=("text has no images or answers before: all tokens see it",),
    ),
    _like_llama("Mixtral: mixtral", **_ROUTED, window=a_window_of_all),
    _like_llama(
        "DBRX: dbrx",
        normalization="layer",
        eps=_TORCH_EPS,
        activation=an_activation("ffn_config.ffn_act_fn.name", default="silu"),
        rope_base=if_given("rope_parameters", a_base, a_number("attn_config.rope_theta", 10_000)),
        equations=equations.clipped("attn_config.clip_qkv", key_heads="attn_config.kv_n_heads"),
        top_k=a_count("ffn_config.moe_top_k"),
        router_norm=if_given("ffn_config.moe_normalize_expert_weights", True, False),
        key_heads=a_count("attn_config.kv_n_heads"),
        own={"experts.mlp.w1": "W_1", "experts.mlp.v1": "W_3", "experts.mlp.w2": "W_2"},
        asks={"ffn_config.moe_normalize_expert_weights": (1, None)},
    ),
    _like_llama(
        "PhiMoE: phimoe",
        "router_norm=False normalization=layer",
        **_ROUTED,
        equations=equations.sparsely_mixed,
        window=a_window_of_all,
        ends=_LAST,
        outputs={"ForCausalLM": replace(_OF_BIASED_WORDS, optional={"b_out": "lm_head_bias"})},
        usual={"lm_head_bias": False},
        asks={"num_experts_per_tok": (2,)},
    ),
    _like_llama(
        "AFMoE: afmoe",
        "router=sigmoid norm=around qk_norm=rms",
        **_ROUTED,
        router_scale=a_number("route_scale", 1.0),
        window=a_window,
        positions=where(a_window, "rope", "none"),
        equations=equations.gated(),
        factor=if_so("mup_enabled", root_of_width("hidden_size")),
        own={
            "self_attn.gate_proj.weight": "W_gate",
            **_around("post_attention_layernorm", "pre_mlp_layernorm", "post_mlp_layernorm"),
        },
    ),
    _like_llama(
        "Aria: aria_text",
        asks={"hidden_act": ("silu",)},  # that of shared experts alone
        top_k=a_count("moe_topk"),
        own={"experts.fc1.weight": "W_13", "experts.fc2.weight": "W_2"},
    ),
    _EXAONE_4.like("EXAONE MoE: exaone_moe", **_ROUTED_BY_GROUPS, norm="pre", own={}),
    _OLMO_2.like("FlexOlmo: flex_olmo", **_QWEN_ROUTED),
    _like_llama(
        "Qwen2-MoE: qwen2_moe",
        biases=if_so("qkv_bias", "QKV", "", default=True),
        **_QWEN_ROUTED,
        window=a_window,
        own={"shared_expert_gate.weight": "W_sgate"},
    ),
    _QWEN3_MOE,
    _QWEN3_MOE.like("Qwen3-Omni-MoE: qwen3_omni_moe_text", window=None),
    _QWEN3_MOE.like("Mellum: mellum", window=a_window),
    _QWEN3_MOE.like(
        "Flint: flint",
        router="sigmoid",
        window=a_window,
        positions=where(a_window, "rope", "none"),
        own={"self_attn.softmax_offset": "sinks"},
    ),
    _like_llama(
        "HunYuan 3: hy_v3",
        "router=sigmoid qk_norm=rms",
        **_ROUTED,
        router_scale=a_number("router_scaling_factor"),
    ),
    _QWEN3_MOE.like("Qwen3-VL-MoE: qwen3_vl_moe_text", router_norm=True, window=None),
    _HUNYUAN,
    _HUNYUAN.like(
        "HunYuan MoE: hunyuan_v1_moe", top_k=a_count("moe_topk"), usual={"n_shared_experts": 1}
    ),
    _like_llama(
        "ERNIE 4.5 MoE: ernie4_5_moe",
        biases=_biased("", use_bias="QKVO123"),
        outputs={"ForCausalLM": replace(_OF_BIASED_WORDS, optional={"b_out": "use_bias"})},
        usual={"use_bias": False},
        top_k=a_count("moe_k"),
        rope_pairing="interleaved",
    ),
    _like_llama(
        "OLMoE: olmoe",
        "qk_norm=rms-all own_gains=each",
        **_QWEN_ROUTED,
        equations=equations.clipped("clip_qkv", "Q", "K"),
    ),
    _GPT_OSS,
    _GPT_OSS.like(
        "OpenAI privacy filter: openai_privacy_filter",
        "block=encoder causal=None window=None rope_pairing=interleaved",
        reach=a_count("sliding_window"),
        own={
            **_GPT_OSS.own,
            "experts.gate_up_proj": "W_13",
            "experts.gate_up_proj_bias": "b_13",
            "experts.down_proj": "W_2",
        },
    ),
    _like_llama(
        "Llama 4: llama4_text",
        "router=sigmoid router_scales=inputs router_norm=False "
        "rope_pairing=interleaved own_gains=none",
        **_ROUTED,
        positions=where(_has_rope, "rope", "none"),
        qk_norm=where(_has_rope, if_so("use_qk_norm", "rms", default=True)),
        equations=equations.tuned_or_chunked(_has_rope),
        usual={"n_shared_experts": 1},
    ),
    _LFM2,
    _LFM3,
    _LFM2_MOE,
    _QWEN_3_NEXT,
    _QWEN_3_NEXT.like("Qwen3.5: qwen3_5_text", top_k=None),
    _QWEN_3_NEXT.like("Qwen3.5 MoE: qwen3_5_moe_text", router_norm=None),
    _BAMBA,
    _JAMBA,
    _MAMBA,
    _MAMBA.like(
        "Falcon Mamba: falcon_mamba", equations=mixers.selective("mixer_rms_eps").equations
    ),
    _MAMBA.like("Mamba-2: mamba2", **_mixed(_never, mixers.SPACE), own={**_OF_SPACES, **_OF_NORMS}),
    _FALCON_H1,
    _like_llama(
        "MiniMax: minimax",
        **_ROUTED,
        **_mixed(_ATTENDS_FIRST, mixers.LIGHTNING, mixers.weighed("full_attn")),
        window=a_window_of_all,
        own={**_linear({"in": "qkv_proj", "Z": "output_gate"}), "self_attn.norm.weight": "gain_H"},
        ignored=("slope_rate", "query_decay", "key_decay", "diagonal_decay"),
    ),
    _OLMO_HYBRID,
    _KIMI,
    _NEMOTRON_H,
    _GRANITE_MOE,
    _GRANITE_MOE.like(
        "Granite hybrid: granitemoehybrid",
        **_of_spaces(_ATTENDS, _BIASED, _biased("", mamba_proj_bias="O")),
        positions=where(
            lambda config, layer: config.get("position_embedding_type", None) == "rope",
            "rope",
            "none",
        ),
        rearranged=_shared_alone,
        routes=lambda config, layer: config.whole("num_local_experts", 8) > 0,
        own={**_GRANITE_MOE.own, **_OF_SPACES},
    ),
    _GRANITE.like("Granite with windows: granite_swa", **_OF_BASES, own=_SINKS),
    _GRANITE_MOE.like(
        "Granite MoE with windows: granitemoe_swa", **_OF_BASES, own={**_GRANITE_MOE.own, **_SINKS}
    ),
)
FAMILIES += (
    *(
        _alone(row)
        for row in FAMILIES
        if row.decoder and row.decoder.sides["cross"] == "encoder_attn."
    ),
    _alone(
        _like_bart(
            "TrOCR: trocr",
            _of_words,
            norm="post",
            optional=dict.fromkeys(("gamma_E", "beta_E"), "layernorm_embedding"),
            asks={"use_learned_position_embeddings": (True,)},
        )
    ),
)
"""A table of names, for each family."""


_AS_ALONE = (
    "blip-2 cohere_compass gemma4 gemma4_unified granite4_vision granite_docling instructblip "
    "instructblipvideo hyperclovax_vision_v2 nemotron_h_omni paligemma"
)
"""The types whose logits have the factor or the cap of their model of text; others do not."""
_OF_WORDS_WITHIN = ("ForCausalLM", "ForConditionalGeneration", "Omni_Reasoning_V3")


def _within(text: Family, whole: Config) -> Family:
    """Return the row of a model of text within one that also reads images, with its config."""
    what = "images" if whole.says("vision_config") else "other inputs"
    said = f"{what} are not read: this is the model of text"

    def remarks(config: Config, layer: int) -> tuple[str, ...]:
        return (said, *text.of("remarks", config, layer))

    asks = dict(text.asks)
    if whole.get("model_type", None) == "paligemma":
        asks.pop("use_bidirectional_attention")
        said += ", whose tokens see those before them, as without token_type_ids"
    outputs = dict(text.outputs)
    if (head := outputs.get("ForCausalLM")) is not None:
        if whole.get("model_type", None) not in _AS_ALONE.split():
            head = replace(head, shrinks=1, settings={})
        outputs |= dict.fromkeys(_OF_WORDS_WITHIN, head)
    inside, tower = "text_config", "language_model."
    return replace(text, asks=asks, remarks=remarks, outputs=outputs, inside=inside, tower=tower)


def families_of(config: Config) -> list[Family]:
    """Return the rows of a config: one for each tower; none if its family is unknown.

    Of a model of text and images that has no row, the rows of its model of text. What a config
    leaves out is as the first row has it, or asks.
    """
    kind = config.get("model_type")
    found = [family for family in FAMILIES if kind in family.types]
    text = config.get("text_config", None)
    is_within = isinstance(text, Mapping) and not any(each.inside for each in found)
    if is_within and "model_type" in text:
        return [_within(each, config) for each in families_of(Config(config.place, text))]
    usual = {key: values[0] for each in reversed(found) for key, values in each.asks.items()}
    usual |= found[0].usual if found else {}
    wrong = [
        sum(config.get(key, usual[key]) not in values for key, values in each.asks.items())
        for each in found
    ]
    return [each for each, count in zip(found, wrong, strict=True) if count == min(wrong)]
