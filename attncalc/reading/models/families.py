"""The families of models that can be opened. A new family is a row here.

Names and keys are those of the `transformers` library, whose classes define them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from attncalc.base.errors import InputError
from attncalc.reading.models.family import (
    ACTIVATIONS,
    CLASSES,
    MASKED,
    POOLED,
    SPAN,
    Family,
    Head,
    Said,
    a_count,
    a_number,
    a_number_or_none,
    a_window,
    a_window_but_in_every,
    a_window_of_local_layers,
    an_activation,
    one_over_root,
    root_of_width,
)
from attncalc.reading.models.folder import MISSING, Config
from attncalc.reading.models.names import LINEAR, OUT_IN, fields_by_end
from attncalc.reading.models.rope import (
    USUAL_BASE,
    a_base,
    a_scaling,
    a_share,
    remarks_on_share,
    scale_of_yarn,
)

_NORM = ("gamma", "beta")
_linear = partial(fields_by_end, kinds=LINEAR)
_normed = partial(fields_by_end, kinds={"weight": "gamma", "bias": "beta"})
_ENCODER = {"block": "encoder", "norm": "pre", "normalization": "layer"}
_DECODER = {"block": "decoder", "norm": "pre", "causal": True}
_LLAMA_FIXED = {**_DECODER, "normalization": "rms", "positions": "rope", "rope_pairing": "halves"}
_LLAMA_SAID = {
    "heads": a_count("num_attention_heads"),
    "eps": a_number("rms_norm_eps"),
    "activation": an_activation("hidden_act"),
    "rope_base": a_base,
    "rope_scaling": a_scaling,
}


def _at(kinds: tuple[str, str] = ("W", "b"), **places: str) -> dict[str, str]:
    """Return the tensors of projections or normalizations, by the ends of fields."""
    pairs = list(zip(kinds, ("weight", "bias"), strict=True))
    return {f"{kind}_{n}": f"{at}.{end}" for n, at in places.items() for kind, end in pairs}


def _held(kinds: tuple[str, str] = ("W", "b"), **places: str) -> dict[str, tuple[str, ...]]:
    """Return the same for a head, whose tensors may have several names."""
    return {name: (place,) for name, place in _at(kinds, **places).items()}


def _said(
    heads: str = "num_attention_heads", eps: str = "layer_norm_eps", activation: str = "hidden_act"
) -> dict[str, Said]:
    """Return the readers of the settings of most layers, by their keys."""
    return {"heads": a_count(heads), "eps": a_number(eps), "activation": an_activation(activation)}


def _as_classes(end: str, reads: str = "last") -> Head:
    """Return a classification head with one projection."""
    tensors = {"W_out": (f"{end}.weight",)}
    if reads != "last":
        tensors["b_out"] = (f"{end}.bias",)
    return Head(tensors, CLASSES, reads)


def _pooled(end: str, reads: str = "first", activation: str = "", *, bias: bool = True) -> Head:
    """Return a head of one projection, which gives a vector."""
    tensors = {"W_pre": (f"{end}.weight",)} | ({"b_pre": (f"{end}.bias",)} if bias else {})
    pooler = {"tanh": "tanh", **ACTIVATIONS}
    says = {
        "activation_pre": lambda config, layer: (
            activation or pooler[config.one_of("pooler_act", pooler, "tanh")]
        )
    }
    return Head(tensors, POOLED, reads, says=says)


def _llama_heads(**says: Said) -> dict[str, Head]:
    return {
        "ForCausalLM": Head({"W_out": ("lm_head.weight",)}, says=says, is_tied=True),
        "ForSequenceClassification": _as_classes("score"),
        "ForTokenClassification": _as_classes("score", "all"),
    }


def _biased(where: str, **keys: str) -> Said:
    """Return what reads the projections with a bias: these, and those of each key that is true."""

    def says(config: Config, layer: int) -> str:
        return where + "".join(more for key, more in keys.items() if config.is_so(key, False))

    return says


_BIASED = _biased("", attention_bias="QKVO", mlp_bias="123")
_NO_GATE: Said = lambda config, layer: False  # noqa: E731 - a value in rows


def _clipped(key: str, *normed: str) -> Said:
    """Return a reader of the equations of clipped queries, keys and values, if a key says so.

    normed: those that are normalized before, by the mean square over all heads.
    """

    def says(config: Config, layer: int) -> list[str] | None:
        if config.get(key, None) is None or (most := a_number_or_none(key)(config, layer)) is None:
            return None
        plain = "sum(N_1[i,a] * W_{0}[h,a,c] for a in d)"
        plain += " + b_{0}[h,0,c]" * config.is_so("attention_bias", False)
        after = "gamma_{0}[h,0,c] * {0}[h,i,c] / sqrt(ms_{0}[h,i,0] + {1})"
        lines = []
        for x, title in (("Q", "queries"), ("K", "keys"), ("V", "values")):
            step, right = (f"{x}_norm", after) if x in normed else (x, plain)
            right = right.format(x, float(config.number("rms_norm_eps", 0)))
            bounds = f"min(max({right}, -{float(most)}), {float(most)})"
            lines.append(f"{step}[h,i,c] = {bounds}  # {title}, clipped")
        return lines

    return says


def _layer_norm_if(key: str) -> Said:
    """Return a reader of the normalization of queries and keys: LayerNorm if a key is true."""
    return lambda config, layer: "layer" if config.is_so(key, False) else None


def _like_llama(
    title: str,
    *types: str,
    fixed: Mapping[str, Any] = MappingProxyType({}),
    said: Mapping[str, Said] = MappingProxyType({}),
    **own: Any,
) -> Family:
    """Return the row of a family with the names, heads and settings of Llama, and its own."""
    usual = {name: says for name, says in _LLAMA_SAID.items() if name not in fixed}
    of_llama = {
        "fixed": {**_LLAMA_FIXED, **fixed},
        "said": {**usual, **said},
        "tokens": "embed_tokens.weight",
        "ends": {"gamma_out": "norm.weight"},
        "heads": _llama_heads(),
        "biases": _biased("", attention_bias="QKVO"),
        "is_gated": lambda config, layer: True,
        "remarks": remarks_on_share if "rope_dims" not in said else lambda config: (),
        "usual": USUAL_BASE,
    }
    return Family(title, types, **{**of_llama, **own})


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
    return {
        "tokens": f"{side}.embed_tokens.weight shared.weight",
        "begins": {
            "P": f"{side}.embed_positions.weight",
            "gamma_E": f"{side}.layernorm_embedding.weight",
            "beta_E": f"{side}.layernorm_embedding.bias",
        },
        "positions": "P",
        "offset": 2,
        "factor": root_of_width("d_model", switch="scale_embedding"),
    }


def _of_sinusoids(side: str) -> dict[str, Any]:
    """Return the fields before the layers of a side, for Pegasus."""
    found = _of_words(side)
    return {**found, "begins": {"P": f"{side}.embed_positions.weight"}, "offset": 0}


_LATENT_EPS = Fraction(1, 10**6)
"""The epsilon of DeepSeek's latent vectors, whatever its config."""
_TORCH_EPS = Fraction(1, 100_000)
"""The default epsilon of PyTorch's LayerNorm."""
_OF_WORDS = Head({"W_out": ("lm_head.weight",)}, is_tied=True)
_GPT_HEADS = {
    "ForCausalLM": _OF_WORDS,
    "ForSequenceClassification": _as_classes("score"),
    "ForTokenClassification": _as_classes("classifier", "all"),
}
_OF_SEQUENCES = Head(
    _held(pre="classification_head.dense", out="classification_head.out_proj"), CLASSES
)
_OF_BIASED_WORDS = Head(_held(out="lm_head"), is_tied=True)
_BART_HEADS = {
    "ForConditionalGeneration": Head(
        {"W_out": ("lm_head.weight",), "b_out": ("final_logits_bias",)}, is_tied=True
    ),
    "ForSequenceClassification": _OF_SEQUENCES,
}


def _like_bart(
    title: str,
    kind: str,
    before: Callable[[str], Mapping[str, Any]],
    *,
    norm: str = "pre",
    heads: Mapping[str, Head] = MappingProxyType(_BART_HEADS),
    of_decoder: Mapping[str, Any] = MappingProxyType({}),
    **of_both: Any,
) -> Family:
    """Return the row of a family with the names of BART, an encoder with its decoder.

    before: returns the fields before the layers of a side.
    """

    def of_side(side: str, *types: str, **own: Any) -> Family:
        fixed = {"block": side, "causal": side == "decoder", "norm": norm}
        usual = {
            "layers": (f"{side}.layers.{{}}.",),
            "count": a_count(f"{side}_layers"),
            "fixed": {**fixed, "normalization": "layer", "eps": _TORCH_EPS},
            "said": {
                "heads": a_count(f"{side}_attention_heads"),
                "activation": an_activation("activation_function"),
            },
            "ends": _at(_NORM, out=f"{side}.layer_norm") if norm == "pre" else {},
        }
        return Family(title, types, **{**usual, **before(side), **own, **of_both})

    decoder = of_side(
        "decoder",
        sides={"self": "self_attn.", "cross": "encoder_attn."},
        own=_normed({"2": "encoder_attn_layer_norm", "3": "final_layer_norm"}),
        heads=heads,
        **of_decoder,
    )
    return of_side("encoder", kind, decoder=decoder)


_OF_FIRST_TOKEN = Head(
    _held(pre="pre_classifier", out="classifier"),
    CLASSES,
    "first",
    says={"activation_pre": lambda config, layer: "relu"},
)
_BERT_POOLER = {"W_pre": ("{}pooler.dense.weight",), "b_pre": ("{}pooler.dense.bias",)}
_GELU: Said = lambda config, layer: "gelu"  # noqa: E731 - a reader among others


_HIDDEN_ACT = an_activation("hidden_act")


def _masked(
    start: str, dense: str, norm: str, out: str, *biases: str, activation: Said = _HIDDEN_ACT
) -> Head:
    """Return a head of masked tokens: a hidden layer, its normalization, and the table.

    start: the start of all names.
    """
    tensors = {
        **_held(pre=start + dense),
        **_held(_NORM, pre=start + norm),
        "W_out": (f"{start}{out}.weight",),
        "b_out": (f"{start}{out}.bias", *(start + bias for bias in biases)),
    }
    return Head(tensors, MASKED, "all", says={"activation_pre": activation}, is_tied=True)


_OF_MASKED = _masked(
    "cls.predictions.", "transform.dense", "transform.LayerNorm", "decoder", "bias"
)
_OF_LM_HEAD = _masked("lm_head.", "dense", "layer_norm", "decoder", "bias", activation=_GELU)


def _t5(side: str, count: Said) -> dict[str, Any]:
    """Return the common fields of the encoder and the decoder of T5."""
    own = "SelfAttention.relative_attention_bias.weight"
    return {
        "layers": (f"{side}.block.{{}}.",),
        "count": count,
        "fixed": {
            "block": side,
            "causal": side == "decoder",
            "norm": "pre",
            "normalization": "rms",
            "scale": "none",
        },
        "said": {
            "heads": a_count("num_heads"),
            "eps": a_number("layer_norm_epsilon"),
            "rel_max_distance": a_count("relative_attention_max_distance", default=128),
            "activation": _t5_activation,
        },
        "tokens": f"shared.weight {side}.embed_tokens.weight",  # always tied
        "ends": {"gamma_out": f"{side}.final_layer_norm.weight"},
        "shared": {"rel_bias" if side == "encoder" else "self.rel_bias": f"layer.0.{own}"},
        "biases": _biased(""),
        "is_gated": lambda config, layer: str(config.get("feed_forward_proj", "relu")).startswith(
            "gated"
        ),
    }


def _t5_activation(config: Config, layer: int) -> str:
    """Return the activation of T5's feed-forward part, which follows the word for a gate."""
    if not config.says("feed_forward_proj"):  # as in the first version
        return "relu"
    if config.get("feed_forward_proj") == "gated-gelu":
        return "gelu-tanh"
    kinds = {f"{gate}{name}": kind for gate in ("", "gated-") for name, kind in ACTIVATIONS.items()}
    return kinds[config.one_of("feed_forward_proj", kinds)]


def _t5_shrinks(config: Config, layer: int) -> float:
    """Return the factor of the logits of T5, if its head is the table of its tokens."""
    key = "scale_decoder_outputs"
    key = key if config.says(key) else "tie_word_embeddings"
    return float(config.count("d_model")) ** -0.5 if config.is_so(key, True) else 1.0


def _like_t5(title: str, kind: str, shrinks: Said | None = None) -> Family:
    """Return the row of T5 or mT5, an encoder with its decoder."""
    of_words = Head({"W_out": ("lm_head.weight",)}, is_tied=True, shrinks=shrinks)
    decoder = Family(
        title,
        (),
        **_t5("decoder", a_count("num_decoder_layers", "num_layers")),
        sides={"self": "SelfAttention.", "cross": "EncDecAttention."},
        heads={
            "ForConditionalGeneration": of_words,
            "LMHeadModel": of_words,
            "ForSequenceClassification": _OF_SEQUENCES,
        },
    )
    of_tokens = {"ForTokenClassification": _as_classes("classifier", "all")}
    own = _t5("encoder", a_count("num_layers"))
    return Family(title, (kind,), **own, heads=of_tokens, decoder=decoder)


_BERT = Family(
    "BERT",
    ("bert",),
    layers=("encoder.layer.{}.",),
    fixed={"block": "encoder", "norm": "post", "normalization": "layer"},
    said=_said(),
    tokens="embeddings.word_embeddings.weight",
    begins={
        "P": "embeddings.position_embeddings.weight",
        "W_type": "embeddings.token_type_embeddings.weight",
        **_at(_NORM, E="embeddings.LayerNorm"),
    },
    positions="P",
    heads={
        "ForMaskedLM": _OF_MASKED,
        "ForPreTraining": _OF_MASKED,
        "ForSequenceClassification": Head(
            {**_BERT_POOLER, **_held(out="classifier")}, CLASSES, "first"
        ),
        "ForNextSentencePrediction": Head(
            {**_BERT_POOLER, **_held(out="cls.seq_relationship")},
            CLASSES,
            "first",
            labels=("is next", "is not next"),
        ),
        "ForTokenClassification": _as_classes("classifier", "all"),
        "BertModel": _pooled("{}pooler.dense"),
    },
    asks={
        "position_embedding_type": ("absolute", None),
        "is_decoder": (False,),
        "add_cross_attention": (False,),
    },
)


def _as_pooled_classes(activation: str = "tanh") -> Head:
    """Return a classification head that reads the first token, with a hidden layer."""
    tensors = _held(pre="classifier.dense", out="classifier.out_proj")
    says = {"activation_pre": lambda config, layer: activation}
    return Head(tensors, CLASSES, "first", says=says)


def _rope_in_some_layers(config: Config, layer: int) -> str | None:
    """Return no positions in the layers of SmolLM3 without rope."""
    kinds = config.get("no_rope_layers", None)
    if kinds is None:
        return None if (layer + 1) % config.whole("no_rope_layer_interval", 4) else "none"
    if not isinstance(kinds, list) or layer >= len(kinds) or kinds[layer] not in (0, 1):
        raise config.wrong("no_rope_layers", kinds, "0 or 1 for each layer")
    return None if kinds[layer] else "none"


def _normalized_if_turned(config: Config, layer: int) -> str | None:
    """Return the normalization of queries and keys of Llama 4, in layers with rope."""
    is_turned = _rope_in_some_layers(config, layer) is None
    return "rms" if is_turned and config.is_so("use_qk_norm", True) else None


def _tuned_or_chunked(config: Config, layer: int) -> list[str] | None:
    """Return the scores of Llama 4: in chunks with rope, else larger for later queries."""
    if _rope_in_some_layers(config, layer) is None:
        size = config.count_or_none("attention_chunk_size")
        one = "S[h,i,j] / sqrt(d_k)"
        within = (
            f"S_scaled[h,i,j] = {one} if i // {size} == j // {size} else -inf  # within a chunk"
        )
        return None if size is None else [within]
    if not config.is_so("attn_temperature_tuning", True):
        return None
    floor, scale = config.count("floor_scale", 8192), config.number("attn_scale", 0.1)
    tuned = f"log(1 + (i + 1) // {floor}) * {scale!r} + 1"
    return [f"S_scaled[h,i,j] = S[h,i,j] / sqrt(d_k) * ({tuned})  # tuned by position"]


class Distances(NamedTuple):
    """How DeBERTa scores distances.

    kinds: "K" if queries score keys of distances (c2p), "Q" if keys score their queries (p2c).
    span, most: half of the rows of the table of distances, and the largest distance.
    has_buckets, is_normed, is_shared: whether far distances share rows, by logarithms; whether the
        table is normalized; and whether its projections are those of tokens.
    """

    kinds: str
    span: int
    most: int
    has_buckets: bool
    is_normed: bool
    is_shared: bool


def distances(config: Config) -> Distances | None:
    """Return how a DeBERTa of any version scores distances; None if it does not."""
    kinds = config.get("pos_att_type", None) or []
    kinds = [each.strip() for each in kinds.lower().split("|")] if isinstance(kinds, str) else kinds
    if not config.is_so("relative_attention", False) and not kinds:
        return None
    if not config.is_so("relative_attention", False) or sorted(kinds) not in _KINDS_OF_DISTANCES:
        raise config.wrong("pos_att_type", kinds, "c2p, p2c or both, with relative_attention true,")
    most = config.get("max_relative_positions", -1)
    most = most if type(most) is int and most > 0 else config.count("max_position_embeddings")
    is_first = config.get("model_type") == "deberta"
    buckets = -1 if is_first else config.number("position_buckets", -1)
    return Distances(
        "".join(x for x, kind in (("K", "c2p"), ("Q", "p2c")) if kind in kinds),
        int(buckets) if buckets > 0 else most,
        most,
        buckets > 0,
        not is_first and "layer_norm" in str(config.get("norm_rel_ebd", "none")),
        not is_first and config.is_so("share_att_key", False),
    )


_KINDS_OF_DISTANCES = (["c2p"], ["p2c"], ["c2p", "p2c"])


def _disentangled(config: Config, layer: int) -> list[str] | None:
    """Return the scores of DeBERTa: of tokens, and of tokens with distances.

    He et al., *DeBERTa* (2021). Distances beyond half of the buckets are counted by logarithms.
    """
    if (found := distances(config)) is None:
        return None
    span, most, half = found.span, found.most, found.span // 2
    gap = "far[i,j]" if found.has_buckets else "abs(i - j)"
    slot = f"min(max(({gap} if i > j else -{gap}) + {span}, 0), {2 * span - 1})"
    log = f"log(abs(i - j) / {half}) / log({most - 1} / {half}) * {half - 1}"
    eps = float(config.number("layer_norm_eps"))
    normed = f"(E_rel[p,a] - mu_rel[p]) / sqrt(var_rel[p] + {eps!r}) * gain_rel[a] + bias_rel[a]"
    table = "N_rel" if found.is_normed else "E_rel"
    made = [
        "mu_rel[p] = sum(E_rel[p,a] for a in d) / d",
        "var_rel[p] = sum((E_rel[p,a] - mu_rel[p]) ** 2 for a in d) / d",
        f"N_rel[p,a] = {normed}  # distances, normalized",
    ]
    far = f"abs(i - j) if abs(i - j) <= {half} else {half} + sum(1 for k in {half} if k < {log})"
    heads = config.count("num_attention_heads")
    width = config.count("hidden_size") // heads
    place = f"h * {width} + c"
    is_first = config.get("model_type") == "deberta"  # its keys of distances have no bias

    def projected(x: str) -> str:
        if found.is_shared:
            return f"{x}_rel[h,p,c] = sum({table}[p,a] * W_{x}[h,a,c] for a in d) + b_{x}[h,0,c]"
        bias = "" if is_first and x == "K" else f" + b_pos{x}[{place}]"
        row = f"sum({table}[p,a] * W_pos{x}[{place},a] for a in d)"
        return f"{x}_rel[h in {heads},p,c in {width}] = {row}{bias}"

    tokens = {"K": "Q[h,i,c]", "Q": "K[h,j,c]"}
    products = [f"{tokens[x]} * {x}_rel[h,{slot},c]" for x in found.kinds]
    return [
        *(made if found.is_normed else ()),
        *([f"far[i in n,j in n] = {far}  # distances in buckets"] if found.has_buckets else ()),
        *map(projected, found.kinds),
        f"S_scaled[h,i,j] = (S[h,i,j] + sum({' + '.join(products)} for c in d_k)) "
        f"/ sqrt({1 + len(found.kinds)} * d_k)  # disentangled",
    ]


def _is_local(config: Config, layer: int) -> bool:
    """Return whether a layer of ModernBERT is local: in old configs, all but every third."""
    kinds = config.get("layer_types", None)
    if isinstance(kinds, list) and layer < len(kinds):
        return bool(kinds[layer] == "sliding_attention")
    return layer % int(config.count("global_attn_every_n_layers", 3)) != 0


def _is_both_ways(config: Config) -> bool:
    """Return whether queries of Gemma 3 also attend to later keys."""
    return bool(config.get("use_bidirectional_attention", None))


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


_MODERN_HEAD = replace(
    _masked(
        "", "head.dense", "head.norm", "decoder", activation=an_activation("classifier_activation")
    ),
    optional={"b_pre": "classifier_bias", "beta_pre": "norm_bias", "b_out": "decoder_bias"},
)


def _with_hidden(reads: str) -> Head:
    """Return the head of ModernBERT for classes: a hidden layer, normalized, and the classes."""
    pooling = {"cls": "first", "mean": "mean"}
    says = {
        **_MODERN_HEAD.says,
        "read": lambda config, layer: (
            pooling[config.one_of("classifier_pooling", pooling, "cls")]
            if reads == "first"
            else reads
        ),
    }
    tensors = {**_MODERN_HEAD.tensors, **_held(out="classifier")}
    optional = {name: key for name, key in _MODERN_HEAD.optional.items() if name != "b_out"}
    return replace(
        _MODERN_HEAD, tensors=tensors, gives=CLASSES, reads=reads, says=says, is_tied=False,
        optional=optional,
    )  # fmt: skip


def _in_group(config: Config) -> int:
    return int(config.count("inner_group_num", 1))


def _albert_layer(config: Config, layer: int) -> tuple[int, int]:
    """Return the group of shared layers of a layer of ALBERT, and its place in it."""
    turn, inner = divmod(layer, _in_group(config))
    return turn * config.count("num_hidden_groups", 1) // config.count("num_hidden_layers"), inner


_MASKED_ENCODERS = (
    replace(
        _BERT,
        title="ALBERT",
        types=("albert",),
        layers=("encoder.albert_layer_groups.{}.albert_layers.{}.",),
        count=lambda config, layer: config.count("num_hidden_layers") * _in_group(config),
        stored=_albert_layer,
        own={
            **_linear({"O": "attention.dense"}),
            **_normed({"1": "attention.LayerNorm"}),
            **_linear({"1": "ffn", "2": "ffn_output"}),
            **_normed({"2": "full_layer_layer_norm"}),
        },
        widens="encoder.embedding_hidden_mapping_in",
        heads={
            "ForMaskedLM": _masked("predictions.", "dense", "LayerNorm", "decoder", "bias"),
            "ForSequenceClassification": Head(
                _held(pre="{}pooler", out="classifier"), CLASSES, "first"
            ),
            "ForTokenClassification": _as_classes("classifier", "all"),
            "AlbertModel": _pooled("{}pooler"),
        },
    ),
    Family(
        "ModernBERT",
        ("modernbert",),
        is_gated=lambda config, layer: True,
        biases=_BIASED,
        fixed={**_ENCODER, "positions": "rope", "rope_pairing": "halves"},
        said={
            **_said("num_attention_heads", "norm_eps", "hidden_activation"),
            "norm": lambda config, layer: None if layer else "pre-second",
            **_of_kinds(_is_local, "local_rope_theta", "global_rope_theta", 160_000, 10_000),
            "reach": lambda config, layer: (
                config.count("local_attention", 128) // 2 if _is_local(config, layer) else None
            ),
        },
        tokens="embeddings.tok_embeddings.weight",
        begins=_at(_NORM, E="embeddings.norm"),
        optional=dict.fromkeys(("beta_E", "beta_out"), "norm_bias"),
        usual={"norm_bias": False, "classifier_bias": False},
        ends=_at(_NORM, out="final_norm"),
        own={
            **_normed({"1": "attn_norm", "2": "mlp_norm"}),
            **_linear({"O": "attn.Wo", "13": "mlp.Wi", "2": "mlp.Wo"}),
        },
        heads={
            "ForMaskedLM": _MODERN_HEAD,
            "ForSequenceClassification": _with_hidden("first"),
            "ForTokenClassification": _with_hidden("all"),
            "ForQuestionAnswering": replace(_with_hidden("all"), labels=SPAN),
            "ForMultipleChoice": replace(_with_hidden("first"), labels=("this choice",)),
        },
    ),
    replace(
        _BERT,
        title="MPNet",
        types=("mpnet",),
        fixed={**_BERT.fixed, "rel_max_distance": 128},
        begins={name: place for name, place in _BERT.begins.items() if name != "W_type"},
        offset=2,
        pads="pad_token_id",
        shared={"rel_bias": "encoder.relative_attention_bias.weight"},
        own={
            **_linear({each: f"attention.attn.{each.lower()}" for each in "QKVO"}),
            **_normed({"1": "attention.LayerNorm"}),
        },
        heads={
            "ForMaskedLM": _OF_LM_HEAD,
            "ForSequenceClassification": _as_pooled_classes(),
            "ForTokenClassification": _as_classes("classifier", "all"),
            "MPNetModel": _pooled("{}pooler.dense"),
        },
        asks={"relative_attention_num_buckets": (32,)},
    ),
)


_OF_PATCHES = {
    "E": "embeddings.patch_embeddings.projection.weight",
    "b_E": "embeddings.patch_embeddings.projection.bias",
    "class_token": "embeddings.cls_token",
    "P": "embeddings.position_embeddings",
}
_USUAL_SIZES = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_channels": 3,
    "image_size": 224,
}
_USUAL_OF_CLIP = {
    **_USUAL_SIZES,
    "projection_dim": 512,
    "layer_norm_eps": 1e-5,
    "hidden_act": "quick_gelu",
}
_USUAL_OF_SIGLIP = {
    **_USUAL_SIZES,
    "layer_norm_eps": 1e-6,
    "hidden_act": "gelu_pytorch_tanh",
}


def _end_of_text(config: Config, ids: Sequence[int]) -> int:
    """Return the first end of a text in CLIP; of old configs, the first largest id."""
    end = config.get("eos_token_id", 49407)
    end = max(ids) if end == 2 else end
    if end not in ids:
        raise InputError(f"tokens: no end of text ({end}): the head of CLIP reads the token there")
    return list(ids).index(end)


_OF_TEXT = replace(_pooled("text_projection", "last", "none", bias=False), stops=_end_of_text)
_OF_LAST_TOKEN = replace(_pooled("{}head", "last", "none"), stops=lambda config, ids: len(ids) - 1)
_OF_AN_IMAGE = _pooled("visual_projection", "first", "none", bias=False)


def _attention_pooled(config: Config, layer: int) -> list[str]:
    """Return the pooling of SigLIP: a learned query attends to all outputs of the layers.

    Zhai et al., *Scaling Vision Transformers* (2022). One array holds Q, K and V.
    """
    d, heads = config.count("hidden_size"), config.count("num_attention_heads")
    width = d // heads
    eps = float(config.number("layer_norm_eps"))
    tanh = "0.5 * {0} * (1 + tanh(sqrt(2 / pi) * ({0} + 0.044715 * {0} ** 3)))"
    known = {"gelu": "gelu({})", "gelu-tanh": tanh, "relu": "relu({})", "silu": "silu({})"}
    activation = an_activation("hidden_act")(config, 0)
    if activation not in known:
        raise config.wrong("hidden_act", config.get("hidden_act"), " or ".join(known))
    of_head = f"h in {heads},{{}},c in {width}"
    at = [f"h * {width} + c" + f" + {start}" * (start > 0) for start in (0, d, 2 * d)]
    query, tokens = "sum(W_probe[0,a] * ", "sum(Y[i,a] * "
    normed = (
        f"(O_pool[z,a] - mu_pool[z]) / sqrt(var_pool[z] + {eps!r}) * gain_pool[a] + bias_pool[a]"
    )
    return [
        *(
            f"{name}_pool[{of_head.format(rows)}] = {row}W_pool[{place},a] for a in d) "
            f"+ b_pool[{place}]  # {title} of the pooling"
            for name, rows, row, place, title in zip(
                "QKV",
                ("z in 1", "i", "i"),
                (query, tokens, tokens),
                at,
                ("learned query", "keys", "values"),
                strict=True,
            )
        ),
        f"S_pool[h,z,i] = sum(Q_pool[h,z,c] * K_pool[h,i,c] for c in {width}) / sqrt({width})"
        "  # scaled scores of the pooling",
        "A_pool[h,z,i] = softmax(S_pool[h,z,j] for j in n)[i]  # weights of the pooling",
        f"V_all[z in 1,c in d] = sum(A_pool[c // {width},z,i] * "
        f"V_pool[c // {width},i,c % {width}] for i in n)  # outputs of its heads",
        "O_pool[z,c] = sum(V_all[z,a] * W_poolO[c,a] for a in d) + b_poolO[c]  # projected",
        "mu_pool[z] = sum(O_pool[z,a] for a in d) / d",
        "var_pool[z] = sum((O_pool[z,a] - mu_pool[z]) ** 2 for a in d) / d",
        f"N_pool[z,a] = {normed}  # normalized",
        "F_pool[z,u] = sum(N_pool[z,a] * W_pool1[u,a] for a in d) + b_pool1[u]  # first projection",
        f"G_pool[z,u] = {known[activation].format('F_pool[z,u]')}",
        "F_pre[z,c] = O_pool[z,c] + sum(G_pool[z,u] * W_pool2[c,u] for u in columns(G_pool)) "
        "+ b_pool2[c]  # pooled output",
    ]


_OF_POOLED_PATCHES = Head(
    {
        "W_probe": ("{}head.probe",),
        "W_pool": ("{}head.attention.in_proj_weight",),
        "b_pool": ("{}head.attention.in_proj_bias",),
        **_held(poolO="{}head.attention.out_proj"),
        "gain_pool": ("{}head.layernorm.weight",),
        "bias_pool": ("{}head.layernorm.bias",),
        **_held(pool1="{}head.mlp.fc1", pool2="{}head.mlp.fc2"),
    },
    POOLED,
    "all",
    says={"equations": _attention_pooled},
    optional={"W_probe": "vision_use_head"},
)
_DINO = Family(
    "DINOv2",
    ("dinov2",),
    biases=lambda config, layer: "QKVO123" if config.is_so("qkv_bias", True) else "O123",
    is_gated=lambda config, layer: config.is_so("use_swiglu_ffn", False),
    layers=("encoder.layer.{}.",),
    fixed=_ENCODER,
    said={
        **_said(),
        "activation": lambda config, layer: (
            "silu" if config.is_so("use_swiglu_ffn", False) else _HIDDEN_ACT(config, layer)
        ),
    },
    begins=_OF_PATCHES,
    own={
        "layer_scale1.lambda1": "lambda_1",
        "layer_scale2.lambda1": "lambda_2",
        **_linear({"13": "mlp.weights_in", "2": "mlp.weights_out"}),
    },
    ends=_at(_NORM, out="layernorm"),
    usual={"use_mask_token": True},
)
_OF_ONE_IMAGE = {"ForImageClassification": _as_classes("classifier", "first")}
_VIT = Family(
    "ViT",
    ("vit",),
    biases=lambda config, layer: "QKVO12" if config.is_so("qkv_bias", True) else "O12",
    layers=("layers.{}.", "encoder.layer.{}."),
    fixed=_ENCODER,
    said=_said(),
    begins=_OF_PATCHES,
    ends=_at(_NORM, out="layernorm"),
    heads={**_OF_ONE_IMAGE, "ViTModel": _pooled("{}pooler.dense")},
)
_CLIP_TEXT = Family(
    "CLIP text",
    ("clip", "clip_text_model"),
    layers=("encoder.layers.{}.",),
    fixed={**_ENCODER, "causal": True},
    said=_said(),
    tokens="embeddings.token_embedding.weight",
    begins={"P": "embeddings.position_embedding.weight"},
    positions="P",
    own=_normed({"1": "layer_norm1", "2": "layer_norm2"}),
    ends=_at(_NORM, out="final_layer_norm"),
    heads={"CLIPModel": _OF_TEXT, "ModelWithProjection": _OF_TEXT},
    inside="text_config",
    tower="text_model.",
    usual={
        **_USUAL_OF_CLIP,
        "vocab_size": 49408,
        "hidden_size": 512,
        "intermediate_size": 2048,
        "num_attention_heads": 8,
        "max_position_embeddings": 77,
    },
)
_CLIP_VISION = replace(
    _CLIP_TEXT,
    title="CLIP vision",
    types=("clip", "clip_vision_model"),
    fixed=_ENCODER,
    tokens="",
    positions="",
    begins={
        "E": "embeddings.patch_embedding.weight",
        "class_token": "embeddings.class_embedding",
        "P": "embeddings.position_embedding.weight",
        **_at(_NORM, E="pre_layrnorm"),
    },
    ends=_at(_NORM, out="post_layernorm"),
    heads={"CLIPModel": _OF_AN_IMAGE, "ModelWithProjection": _OF_AN_IMAGE},
    inside="vision_config",
    tower="vision_model.",
    usual={**_USUAL_OF_CLIP, "patch_size": 32},
)
_OF_IMAGES = (
    _CLIP_TEXT,
    _CLIP_VISION,
    replace(
        _CLIP_TEXT,
        title="SigLIP text",
        types=("siglip", "siglip_text_model"),
        fixed=_ENCODER,
        heads={"Model": _OF_LAST_TOKEN},
        usual={**_USUAL_OF_SIGLIP, "vocab_size": 32000, "max_position_embeddings": 64},
    ),
    replace(
        _CLIP_VISION,
        title="SigLIP vision",
        types=("siglip", "siglip_vision_model"),
        begins={
            "E": "embeddings.patch_embedding.weight",
            "b_E": "embeddings.patch_embedding.bias",
            "P": "embeddings.position_embedding.weight",
        },
        heads={
            "ForImageClassification": _as_classes("classifier", "mean"),
            "Model": _OF_POOLED_PATCHES,
        },
        usual={**_USUAL_OF_SIGLIP, "patch_size": 16},
    ),
    _DINO,
    replace(
        _DINO,
        title="DINOv2 with registers",
        types=("dinov2_with_registers",),
        begins={**_OF_PATCHES, "more_tokens": "embeddings.register_tokens"},
    ),
    replace(
        _VIT,
        title="DeiT",
        types=("deit",),
        begins={**_OF_PATCHES, "more_tokens": "embeddings.distillation_token"},
        heads={**_OF_ONE_IMAGE, "DeiTModel": _pooled("{}pooler.dense")},
    ),
)


def _parallel(kind: str, *, default: bool) -> Said:
    """Return a reader of the arrangement of a layer, whose parts are parallel if a config says."""
    key = "use_parallel_residual"
    return lambda config, layer: kind if config.is_so(key, default) else "none"


DENSE = _linear(
    {
        "QKV": "query_key_value",
        "O": "attention.dense self_attention.dense self_attn.dense",
        "1": "dense_h_to_4h fc_in",
        "2": "dense_4h_to_h fc_out",
    }
)
"""The names of GPT-NeoX, GPT-J and those after them, whose parts are parallel."""
_GPT_J: dict[str, Any] = {
    "biases": lambda config, layer: "12",
    "layers": ("h.{}.",),
    "count": a_count("n_layer"),
    "fixed": {
        **_LLAMA_FIXED,
        "normalization": "layer",
        "rope_pairing": "interleaved",
        "parallel": "shared",
    },
    "said": {
        **_said("n_head", "layer_norm_epsilon", "activation_function"),
        "rope_dims": a_count("rotary_dim"),
    },
    "tokens": "wte.weight",
    "ends": _at(_NORM, out="ln_f"),
    "heads": {"ForCausalLM": _OF_BIASED_WORDS, "ForSequenceClassification": _as_classes("score")},
    "own": DENSE,
    "weights_layout": OUT_IN,
}


def _falcon_parallel(config: Config, layer: int) -> str:
    """Return the arrangement of Falcon's layers: with one normalization, with two, or in turn."""
    is_new = config.is_so("new_decoder_architecture", False)
    norms = config.get("num_ln_in_parallel_attn", None)
    if is_new and norms in (None, 2):
        return "own"
    return "shared" if is_new or config.is_so("parallel_attn", True) else "none"


def _falcon_key_heads(config: Config, layer: int) -> int | None:
    if config.is_so("new_decoder_architecture", False):
        return config.count_or_none("num_kv_heads")
    return 1 if config.is_so("multi_query", True) else None


def _exaone_window(config: Config, layer: int) -> int | None:
    """Return the window of EXAONE 4, which may have none in any layer."""
    if config.get("sliding_window", None) is None:
        return None
    found: int | None = a_window_but_in_every(4)(config, layer)
    return found


def _exaone_positions(config: Config, layer: int) -> str | None:
    """Return no positions in the layers without a window, if there are others with one."""
    if config.get("sliding_window", None) is None:
        return None
    return None if _exaone_window(config, layer) else "none"


_COHERE: dict[str, Any] = {
    "fixed": {"normalization": "layer", "rope_pairing": "interleaved", "parallel": "shared"},
    "heads": {
        "ForCausalLM": replace(
            _OF_WORDS, shrinks=lambda config, layer: float(config.number("logit_scale", 0.0625))
        )
    },
    "own_gains": "each",
}
_OF_OUTPUTS = {
    "post_attention_layernorm.weight": "gamma_1",
    "post_feedforward_layernorm.weight": "gamma_2",
}
_OLMO_2 = _like_llama(
    "OLMo 2",
    "olmo2",
    fixed={"norm": "output", "qk_norm": "rms-all"},
    own=_OF_OUTPUTS,
    own_gains="each",
)
_SINCE_LLAMA = (
    _like_llama(
        "OLMo",
        "olmo",
        fixed={"normalization": "layer", "eps": _TORCH_EPS},
        has_plain_end=True,
        has_gains=False,
        said={"equations": _clipped("clip_qkv")},
        ends={},
    ),
    _OLMO_2,
    replace(
        _OLMO_2,
        title="OLMo 3",
        types=("olmo3",),
        said={**_LLAMA_SAID, "window": a_window_but_in_every(4)},
        usual={},
    ),
    _like_llama(
        "EXAONE 4",
        "exaone4",
        biases=_biased(""),
        fixed={"norm": "output", "qk_norm": "rms"},
        said={"window": _exaone_window, "positions": _exaone_positions},
        own=_OF_OUTPUTS,
    ),
    _like_llama(
        "Nemotron",
        "nemotron",
        biases=_BIASED,
        fixed={"normalization": "layer"},
        said={"eps": a_number("norm_eps"), "rope_dims": a_share(0.5)},
        gain_above=1,
        own={"up_proj.weight": "W_1", "up_proj.bias": "b_1"},
        is_gated=_NO_GATE,
        ends=_at(_NORM, out="norm"),
    ),
    Family(
        "Bloom",
        ("bloom",),
        layers=("h.{}.",),
        count=a_count("n_layer", "num_hidden_layers"),
        fixed={**_DECODER, "normalization": "layer", "alibi": True, "activation": "gelu-tanh"},
        said={
            "heads": a_count("n_head", "num_attention_heads"),
            "eps": a_number("layer_norm_epsilon"),
        },
        tokens="word_embeddings.weight",
        begins=_at(_NORM, E="word_embeddings_layernorm"),
        ends=_at(_NORM, out="ln_f"),
        heads=_GPT_HEADS,
        asks={"apply_residual_connection_post_layernorm": (False,)},
        own=DENSE,
        fused=lambda config, layer: (a_count("n_head", "num_attention_heads")(config, 0), "QKV"),
    ),
    Family(
        "MPT",
        ("mpt",),
        biases=_biased(""),
        layers=("blocks.{}.",),
        count=a_count("n_layers"),
        fixed={**_DECODER, "normalization": "layer", "alibi": True, "activation": "gelu"},
        said={
            "heads": a_count("n_heads"),
            "eps": a_number("layer_norm_epsilon", 1e-5),
            "scale": a_number_or_none("attn_config.softmax_scale"),
            "equations": _clipped("attn_config.clip_qkv"),
        },
        tokens="wte.weight",
        ends={"gamma_out": "norm_f.weight"},
        heads={"ForCausalLM": _OF_WORDS, "ForSequenceClassification": _as_classes("score")},
        asks={
            "no_bias": (True,),
            "logit_scale": (None,),
            "attn_config.alibi": (True,),
            "attn_config.alibi_bias_max": (8,),
            "attn_config.attn_type": ("multihead_attention",),
            "attn_config.qk_ln": (False,),
            "attn_config.prefix_lm": (False,),
        },
        own={
            "norm_1.weight": "gamma_1",
            "norm_2.weight": "gamma_2",
            "ffn.up_proj.weight": "W_1",
            "ffn.down_proj.weight": "W_2",
        },
    ),
)
_EXPERTS = {
    "mlp.gate.weight": "W_router",
    "experts.gate_up_proj": "W_13",
    "experts.down_proj": "W_2",
    **{
        f"mlp.{own}.{name}_proj.weight": f"W_s{number}"
        for own in ("shared_expert", "shared_experts")
        for name, number in (("gate", 1), ("up", 3), ("down", 2))
    },
    "shared_expert_gate.weight": "W_sgate",
}
"""The names of experts and of their router; in memory, transformers keeps experts in one array."""
_MIXTRAL = {
    "block_sparse_moe.gate.weight": "W_router",
    **{f"experts.*.w{number}.weight": f"W_{number}" for number in (1, 2, 3)},
    **_EXPERTS,
}
_ROUTED = {"top_k": a_count("num_experts_per_tok")}
_QWEN_ROUTED = {
    **_ROUTED,
    "router_norm": lambda config, layer: config.is_so("norm_topk_prob", False),
}
_LATENT = {
    **_linear({"DQ": "q_a_proj"}),
    "q_a_layernorm.weight": "gamma_DQ",
    "q_b_proj.weight": "W_Q",
    **_linear({"DKV_KR": "kv_a_proj_with_mqa"}),
    "kv_a_layernorm.weight": "gamma_DKV",
    "kv_b_proj.weight": "W_UKV",
    "gate.e_score_correction_bias": "b_choice",
    **_EXPERTS,
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


_GRANITE_SAID = {
    "scale": a_number("attention_multiplier"),
    "residual_scale": a_number("residual_multiplier", 1.0),
}
_GRANITE: dict[str, Any] = {
    "heads": {
        "ForCausalLM": replace(
            _OF_WORDS, shrinks=lambda config, layer: 1 / float(config.number("logits_scaling", 1.0))
        )
    },
    "factor": lambda config, layer: float(config.number("embedding_multiplier")),
}
_DEEPSEEK_SAID = {
    **_ROUTED,
    "router_scale": a_number("routed_scaling_factor", 1.0),
    "router_groups": _groups("n_group"),
    "top_groups": _groups("topk_group"),
    "rope_dims": a_count("qk_rope_head_dim"),
    "scale": _latent_scale,
}
_DEEPSEEK: dict[str, Any] = {
    "biases": _biased("", attention_bias="O", mlp_bias="123"),
    "asks": {"moe_layer_freq": (1,)},
    "own": _LATENT,
    "key_heads": lambda config, layer: None,
}
_WITH_EXPERTS = (
    _like_llama(
        "DeepSeek-V2",
        "deepseek_v2",
        fixed={"rope_pairing": "interleaved", "qk_eps": _LATENT_EPS, "router_norm": False},
        said=_DEEPSEEK_SAID,
        **_DEEPSEEK,
    ),
    _like_llama(
        "DeepSeek-V3",
        "deepseek_v3",
        fixed={"qk_eps": _LATENT_EPS, "router": "sigmoid"},
        said={
            **_DEEPSEEK_SAID,
            "rope_pairing": lambda config, layer: (
                "interleaved" if config.is_so("rope_interleave", True) else "halves"
            ),
            "router_norm": lambda config, layer: config.is_so("norm_topk_prob", True),
        },
        **_DEEPSEEK,
    ),
    _like_llama(
        "Mixtral",
        "mixtral",
        biases=_biased(""),
        said={**_ROUTED, "window": a_window},
        own=_MIXTRAL,
        usual={},
    ),
    _like_llama(
        "Qwen2-MoE",
        "qwen2_moe",
        biases=lambda config, layer: "QKV" if config.is_so("qkv_bias", True) else "",
        said={**_QWEN_ROUTED, "window": a_window},
        own=_EXPERTS,
    ),
    _like_llama(
        "Qwen3-MoE",
        "qwen3_moe",
        fixed={"qk_norm": "rms"},
        said={**_QWEN_ROUTED, "window": a_window},
        own=_EXPERTS,
    ),
    _like_llama(
        "OLMoE",
        "olmoe",
        fixed={"qk_norm": "rms-all"},
        said={**_QWEN_ROUTED, "equations": _clipped("clip_qkv", "Q", "K")},
        own=_EXPERTS,
        own_gains="each",
    ),
    _like_llama(
        "GPT-OSS",
        "gpt_oss",
        fixed={"activation": "swish-clamped"},
        usual={},
        said={**_ROUTED, "window": a_window},
        asks={"swiglu_alpha": (1.702,), "swiglu_limit": (7.0, 7)},
        own={
            **_linear({"router": "mlp.router"}),
            "experts.gate_up_proj": "W_13_in_out",
            "experts.gate_up_proj_bias": "b_13_in_out",
            "experts.down_proj": "W_2_in_out",
            "experts.down_proj_bias": "b_2",
            "self_attn.sinks": "sinks",
        },
    ),
    _like_llama(
        "Llama 4",
        "llama4_text",
        "llama4",
        fixed={
            "rope_pairing": "interleaved",
            "router": "sigmoid",
            "router_scales": "inputs",
            "router_norm": False,
        },
        said={
            **_ROUTED,
            "positions": _rope_in_some_layers,
            "qk_norm": _normalized_if_turned,
            "equations": _tuned_or_chunked,
        },
        heads=dict.fromkeys(
            ("ForCausalLM", "ForConditionalGeneration"),
            Head({"W_out": ("lm_head.weight", "language_model.lm_head.weight")}, is_tied=True),
        ),
        own={
            "feed_forward.router.weight": "W_router",
            "experts.gate_up_proj": "W_13_halves",
            "experts.down_proj": "W_2_in_out",
            "shared_expert.gate_proj.weight": "W_s1",
            "shared_expert.up_proj.weight": "W_s3",
            "shared_expert.down_proj.weight": "W_s2",
        },
        own_gains="none",
        usual={"n_shared_experts": 1},
        inside="text_config",
        tower="language_model.model.",
        remarks=lambda config: (
            ("images are not read: this is the model of text",)
            if config.says("vision_config")
            else ()
        ),
    ),
    _like_llama(
        "Granite MoE",
        "granitemoe",
        "granitemoeshared",
        said={**_GRANITE_SAID, **_ROUTED},
        own={
            "router.layer.weight": "W_router",
            "router.weight": "W_router",
            "block_sparse_moe.input_linear.weight": "W_13",
            "block_sparse_moe.output_linear.weight": "W_2",
            "shared_mlp.input_linear.weight": "W_s13",
            "shared_mlp.output_linear.weight": "W_s2",
            **_EXPERTS,
        },
        **_GRANITE,
    ),
)
_PARALLEL = (
    _like_llama(
        "GPT-NeoX",
        "gpt_neox",
        biases=_biased("12", attention_bias="QKVO"),
        fixed={"normalization": "layer"},
        said={
            "eps": a_number("layer_norm_eps"),
            "rope_dims": a_share(0.25),
            "parallel": _parallel("own", default=True),
        },
        tokens="embed_in.weight",
        ends=_at(_NORM, out="final_layer_norm"),
        heads={
            **_GPT_HEADS,
            "ForCausalLM": Head({"W_out": ("embed_out.weight", "lm_head.weight")}, is_tied=True),
        },
        own=DENSE,
        is_gated=_NO_GATE,
        fused=lambda config, layer: (config.count("num_attention_heads"), "QKV"),
    ),
    Family("GPT-J", ("gptj",), **_GPT_J),
    Family("CodeGen", ("codegen",), **_GPT_J, fused=lambda config, layer: (4, "QVK")),
    _like_llama(
        "Falcon",
        "falcon",
        biases=_biased("", bias="QKVO12"),
        layers=("h.{}.",),
        fixed={"normalization": "layer"},
        said={
            "eps": a_number("layer_norm_epsilon"),
            "activation": lambda config, layer: ACTIVATIONS[
                config.one_of("activation", ACTIVATIONS, "gelu")
            ],
            "parallel": _falcon_parallel,
        },
        tokens="word_embeddings.weight",
        ends=_at(_NORM, out="ln_f"),
        heads=_GPT_HEADS,
        asks={"alibi": (False,)},
        own={**DENSE, **_normed({"1": "ln_attn", "2": "ln_mlp"})},
        is_gated=_NO_GATE,
        key_heads=_falcon_key_heads,
        fused=lambda config, layer: (
            _falcon_key_heads(config, 0) or config.count("num_attention_heads"),
            "QKV",
        ),
    ),
    _like_llama(
        "Phi",
        "phi",
        biases=_biased("QKVO123"),
        fixed={"normalization": "layer", "parallel": "shared"},
        said={
            "eps": a_number("layer_norm_eps"),
            "rope_dims": a_share(0.5),
            "qk_norm": _layer_norm_if("qk_layernorm"),
        },
        heads={**_llama_heads(), "ForCausalLM": _OF_BIASED_WORDS},
        own={**DENSE, **_normed({"Q": "q_layernorm", "K": "k_layernorm"})},
        is_gated=_NO_GATE,
        ends=_at(_NORM, out="final_layernorm"),
    ),
    _like_llama(
        "Cohere",
        "cohere",
        said={"eps": a_number("layer_norm_eps"), "qk_norm": _layer_norm_if("use_qk_norm")},
        usual={},
        **_COHERE,
    ),
    _like_llama(
        "Cohere 2",
        "cohere2",
        said={
            "eps": a_number("layer_norm_eps"),
            "window": a_window_but_in_every(4),
            "positions": lambda config, layer: (
                None if a_window_but_in_every(4)(config, layer) else "none"
            ),
        },
        **_COHERE,
    ),
)

_OF_AUDIO = Head(
    _held(out="classifier"),
    CLASSES,
    "mean",
    behind=("projector.weight", "projector.bias"),
    asks={"use_weighted_layer_sum": (False,)},
)
_WAV2VEC = Family(
    "wav2vec 2.0",
    ("wav2vec2",),
    layers=("encoder.layers.{}.",),
    fixed={"block": "encoder", "norm": "post", "normalization": "layer"},
    said={**_said(), "eps": a_number("layer_norm_eps", 1e-5)},
    begins=_at(_NORM, E="encoder.layer_norm"),
    own={
        **_normed({"1": "layer_norm"}),
        **_linear({"1": "feed_forward.intermediate_dense", "2": "feed_forward.output_dense"}),
    },
    convolutions=(("encoder.pos_conv_embed.conv", 1),),
    widens="feature_projection.",
    heads={
        "ForCTC": Head(_held(out="lm_head"), CLASSES, "all"),
        "ForSequenceClassification": _OF_AUDIO,
    },
    asks={
        "do_stable_layer_norm": (False,),
        "add_adapter": (False,),
        "adapter_attn_dim": (None,),
        "feat_extract_activation": ("gelu",),
    },
    remarks=lambda config: ("the convolutions of audio (feature_extractor) are not computed",),
)
_DEBERTA_V3 = replace(
    _BERT,
    title="DeBERTa-v3",
    types=("deberta-v2",),
    widens="embeddings.embed_proj",
    said={**_BERT.said, "equations": _disentangled},
    optional={"P": "position_biased_input", "W_type": "type_vocab_size"},
    usual={"type_vocab_size": 0},
    own={
        **_linear({"Q": "query_proj", "K": "key_proj", "V": "value_proj"}),
        **_linear({"posK": "pos_key_proj", "posQ": "pos_query_proj"}),
    },
    shared={
        "E_rel": "encoder.rel_embeddings.weight",
        "gain_rel": "encoder.LayerNorm.weight",
        "bias_rel": "encoder.LayerNorm.bias",
    },
    heads={
        "ForMaskedLM": replace(
            _OF_MASKED,
            tensors={
                name: (
                    *names,
                    names[0].replace("cls.predictions.transform", "lm_predictions.lm_head"),
                )
                for name, names in _OF_MASKED.tensors.items()
            }
            | {"b_out": (*_OF_MASKED.tensors["b_out"], "lm_predictions.lm_head.bias")},
        ),
        "ForSequenceClassification": Head(
            _held(pre="pooler.dense", out="classifier"),
            CLASSES,
            "first",
            says={"activation_pre": an_activation("pooler_hidden_act")},
        ),
        "ForTokenClassification": _as_classes("classifier", "all"),
    },
    asks={"conv_kernel_size": (0, None), "attention_head_size": (None,)},
)
_DEBERTA = (
    _DEBERTA_V3,
    replace(
        _DEBERTA_V3,
        title="DeBERTa",
        types=("deberta",),
        own={
            **{"q_bias": "b_Q", "v_bias": "b_V", "pos_proj.weight": "W_posK"},
            **_linear({"posQ": "pos_q_proj"}),
        },
        shared={"E_rel": "encoder.rel_embeddings.weight"},
        asks={"talking_head": (False,)},
        biases=_biased("QVO12"),
        fused=lambda config, layer: (config.count("num_attention_heads"), "QKV"),
    ),
)
_GPT2 = Family(
    "GPT-2",
    ("gpt2",),
    layers=("h.{}.",),
    count=a_count("n_layer"),
    fixed={**_DECODER, "normalization": "layer"},
    said={**_said("n_head", "layer_norm_epsilon", "activation_function"), "scale": _gpt2_scale},
    tokens="wte.weight",
    begins={"P": "wpe.weight"},
    positions="P",
    ends=_at(_NORM, out="ln_f"),
    heads={
        "LMHeadModel": _OF_WORDS,
        "DoubleHeadsModel": _OF_WORDS,
        "ForSequenceClassification": _as_classes("score"),
        "ForTokenClassification": _as_classes("classifier", "all"),
    },
    asks={"add_cross_attention": (False,)},
)
FAMILIES = (
    _GPT2,
    _like_llama("Llama", "llama", biases=_BIASED),
    _like_llama("Mistral", "mistral", "ministral", biases=_biased(""), said={"window": a_window}),
    _like_llama("Qwen2", "qwen2", biases=_biased("QKV"), said={"window": a_window}),
    _like_llama(
        "Qwen3",
        "qwen3",
        fixed={"qk_norm": "rms"},
        said={"window": a_window},
    ),
    _like_llama(
        "Gemma 2",
        "gemma2",
        fixed={"norm": "around"},
        said={
            "activation": an_activation("hidden_activation", "hidden_act"),
            "scale": one_over_root("query_pre_attn_scalar"),
            "softcap": a_number_or_none("attn_logit_softcapping"),
            "window": a_window_but_in_every(2, key=""),
        },
        heads=_llama_heads(softcap_out=a_number_or_none("final_logit_softcapping")),
        factor=root_of_width("hidden_size"),
        gain_above=1,
        asks={"use_bidirectional_attention": (None, False)},
    ),
    _like_llama(
        "Gemma",
        "gemma",
        said={"activation": an_activation("hidden_activation", "hidden_act")},
        factor=root_of_width("hidden_size"),
        gain_above=1,
        asks={"use_bidirectional_attention": (None, False)},
    ),
    _like_llama(
        "Gemma 3",
        "gemma3_text",
        fixed={"norm": "around", "qk_norm": "rms"},
        said={
            "activation": an_activation("hidden_activation", "hidden_act"),
            "scale": one_over_root("query_pre_attn_scalar"),
            "causal": lambda config, layer: not _is_both_ways(config),
            "window": lambda config, layer: (
                None if _is_both_ways(config) else a_window_but_in_every(6)(config, layer)
            ),
            "reach": lambda config, layer: (
                config.count("sliding_window") // 2
                if _is_both_ways(config) and a_window_but_in_every(6)(config, layer)
                else None
            ),
            **_of_kinds(a_window_but_in_every(6), "rope_local_base_freq", "rope_theta"),
        },
        usual={},
        heads=_llama_heads(softcap_out=a_number_or_none("final_logit_softcapping")),
        factor=root_of_width("hidden_size"),
        gain_above=1,
        asks={
            "attn_logit_softcapping": (None,),  # which the package ignores
        },
    ),
    _like_llama(
        "SmolLM3",
        "smollm3",
        biases=_BIASED,
        said={"window": a_window, "positions": _rope_in_some_layers},
        usual={},
    ),
    _like_llama(
        "Phi-3",
        "phi3",
        biases=_biased(""),
        said={"window": a_window, "rope_dims": a_share()},
    ),
    _like_llama(
        "Granite",
        "granite",
        biases=_BIASED,
        said=_GRANITE_SAID,
        **_GRANITE,
    ),
    _like_llama(
        "StableLM",
        "stablelm",
        biases=_biased("", use_qkv_bias="QKV"),
        fixed={"normalization": "layer"},
        said={
            "eps": a_number("layer_norm_eps"),
            "rope_dims": a_share(0.25),
            "parallel": _parallel("shared", default=False),
            "qk_norm": _layer_norm_if("qk_layernorm"),
        },
        own={f"{x}_layernorm.norms.*.weight": f"gamma_{x.upper()}" for x in "qk"},
        own_gains="each",
        ends=_at(_NORM, out="norm"),
    ),
    _like_llama(
        "StarCoder2",
        "starcoder2",
        biases=_biased("", use_bias="QKVO12"),
        fixed={"normalization": "layer"},
        said={"eps": a_number("norm_epsilon"), "window": a_window},
        ends=_at(_NORM, out="norm"),
        is_gated=_NO_GATE,
        weights_layout=OUT_IN,
    ),
    _like_llama(
        "GLM",
        "glm",
        biases=_biased("", attention_bias="QKV"),
        fixed={"rope_pairing": "interleaved"},
        said={"rope_dims": a_share(0.5)},
    ),
    _like_llama(
        "GLM-4",
        "glm4",
        biases=_biased("", attention_bias="QKV"),
        fixed={"rope_pairing": "interleaved", "norm": "around"},
        said={"rope_dims": a_share(0.5)},
        own={
            "post_self_attn_layernorm.weight": "gamma_2",
            "post_attention_layernorm.weight": "gamma_3",
            "post_mlp_layernorm.weight": "gamma_4",
        },
    ),
    _like_llama(
        "ERNIE 4.5",
        "ernie4_5",
        biases=_biased("", use_bias="QKVO123"),
        fixed={"rope_pairing": "interleaved"},
        usual={},
    ),
    Family(
        "OPT",
        ("opt",),
        layers=("decoder.layers.{}.",),
        biases=_biased("", enable_bias="QKVO12"),
        fixed={**_DECODER, "normalization": "layer", "eps": _TORCH_EPS},
        said={
            "heads": a_count("num_attention_heads"),
            "activation": an_activation("activation_function"),
            "norm": lambda config, layer: (
                None if config.is_so("do_layer_norm_before", True) else "post"
            ),
        },
        optional=dict.fromkeys(("gamma_out", "beta_out"), "do_layer_norm_before"),
        usual={"enable_bias": True},
        widens="decoder.project_in",
        tokens="decoder.embed_tokens.weight",
        begins={"P": "decoder.embed_positions.weight"},
        positions="P",
        offset=2,
        ends=_at(_NORM, out="decoder.final_layer_norm"),
        heads={
            "ForCausalLM": replace(_OF_WORDS, behind=("{}decoder.project_out.weight",)),
            "ForSequenceClassification": _as_classes("score"),
        },
        asks={
            "layer_norm_elementwise_affine": (True,),
            "_remove_final_layer_norm": (False,),
        },
    ),
    replace(
        _GPT2,
        title="GPT-BigCode",
        types=("gpt_bigcode",),
        said=_said("n_head", "layer_norm_epsilon", "activation_function"),
        heads=_GPT_HEADS,
        asks={"scale_attn_weights": (True,)},
        key_heads=lambda config, layer: 1 if config.is_so("multi_query", True) else None,
        fused=lambda config, layer: (
            1 if config.is_so("multi_query", True) else config.count("n_head"),
            "QKV",
        ),
        weights_layout=OUT_IN,
    ),
    replace(
        _GPT2,
        title="GPT-Neo",
        types=("gpt_neo",),
        biases=_biased("O12"),
        count=a_count("num_layers"),
        fixed={**_GPT2.fixed, "scale": "none"},
        said={
            **_said("num_heads", "layer_norm_epsilon", "activation_function"),
            "window": a_window_of_local_layers,
        },
        heads=_GPT_HEADS,
        asks={},
        weights_layout=OUT_IN,
    ),
    _BERT,
    replace(
        _BERT,
        title="RoBERTa",
        types=("roberta", "xlm-roberta", "camembert"),
        offset=None,
        pads="pad_token_id",
        heads={
            "ForMaskedLM": _OF_LM_HEAD,
            "ForSequenceClassification": _as_pooled_classes(),
            "ForTokenClassification": _as_classes("classifier", "all"),
            "RobertaModel": _pooled("{}pooler.dense"),
            "CamembertModel": _pooled("{}pooler.dense"),
        },
    ),
    replace(
        _BERT,
        title="DistilBERT",
        types=("distilbert",),
        layers=("transformer.layer.{}.",),
        count=a_count("n_layers"),
        fixed={**_BERT.fixed, "eps": Fraction(1, 10**12)},
        said={"heads": a_count("n_heads"), "activation": an_activation("activation")},
        begins={name: place for name, place in _BERT.begins.items() if name != "W_type"},
        own={
            **_normed({"1": "sa_layer_norm", "2": "output_layer_norm"}),
            **_linear({"1": "lin1", "2": "lin2"}),
        },
        heads={
            "ForMaskedLM": _masked(
                "vocab_",
                "transform",
                "layer_norm",
                "projector",
                activation=an_activation("activation"),
            ),
            "ForSequenceClassification": _OF_FIRST_TOKEN,
            "ForMultipleChoice": replace(_OF_FIRST_TOKEN, labels=("this choice",)),
            "ForTokenClassification": _as_classes("classifier", "all"),
        },
        asks={},
    ),
    *_DEBERTA,
    replace(
        _BERT,
        title="ELECTRA",
        types=("electra",),
        widens="embeddings_project",
        heads={
            "ForMaskedLM": _masked(
                "generator_",
                "predictions.dense",
                "predictions.LayerNorm",
                "lm_head",
                activation=_GELU,
            ),
            "ForSequenceClassification": _as_pooled_classes("gelu"),
            "ForTokenClassification": _as_classes("classifier", "all"),
            "ForPreTraining": Head(
                _held(
                    pre="discriminator_predictions.dense",
                    out="discriminator_predictions.dense_prediction",
                ),
                CLASSES,
                "all",
                says={"activation_pre": an_activation("hidden_act")},
                labels=("replaced",),
            ),
            "ForMultipleChoice": Head(
                _held(pre="sequence_summary.summary", out="classifier"),
                CLASSES,
                "first",
                says={"activation_pre": an_activation("summary_activation")},
                asks={"summary_type": ("first",), "summary_use_proj": (True,)},
                labels=("this choice",),
            ),
        },
    ),
    _VIT,
    *_OF_IMAGES,
    *_MASKED_ENCODERS,
    _like_bart(
        "Marian",
        "marian",
        _of_sinusoids,
        norm="post",
        heads={"MTModel": _BART_HEADS["ForConditionalGeneration"]},
        has_sinusoids=True,
    ),
    _like_bart("BART", "bart", _of_words, norm="post"),
    _like_bart("mBART", "mbart", _of_words),
    _like_bart("Pegasus", "pegasus", _of_sinusoids),
    replace(
        _like_bart(
            "Whisper",
            "whisper",
            lambda side: {"begins": {"P": f"{side}.embed_positions.weight"}},
            heads={"ForConditionalGeneration": Head({"W_out": ("proj_out.weight",)}, is_tied=True)},
            biases=_biased("QVO12"),
            of_decoder={"tokens": "decoder.embed_tokens.weight", "positions": "P"},
        ),
        convolutions=(("encoder.conv1", 1), ("encoder.conv2", 2)),
        heads={"ForAudioClassification": _OF_AUDIO},
    ),
    _like_t5("T5", "t5", _t5_shrinks),
    _like_t5("mT5", "mt5"),
    _WAV2VEC,
    replace(
        _WAV2VEC,
        fixed={**_WAV2VEC.fixed, "norm": "pre"},
        begins={},
        ends=_at(_NORM, out="encoder.layer_norm"),
        asks={**_WAV2VEC.asks, "do_stable_layer_norm": (True,)},
    ),
    *_SINCE_LLAMA,
    *_PARALLEL,
    *_WITH_EXPERTS,
)
"""A table of names, for each family."""


def families_of(config: Config) -> list[Family]:
    """Return the rows of a config: one for each tower; none if its family is unknown."""
    kind = config.get("model_type")
    found = [family for family in FAMILIES if kind in family.types]
    of_config = [
        each
        for each in found
        if all(config.get(key, values[0]) in values for key, values in each.asks.items())
    ]
    return of_config or found
