"""Counts of a model from its config alone: the matrices of its family, and what a pass takes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.problem.fields import DECODER
from attncalc.reading.models.equations import Distances, distances
from attncalc.reading.models.families import families_of
from attncalc.reading.models.family import (
    CLASSES,
    FAIRSEQ,
    MASKED,
    NEXT,
    POOLED,
    Family,
    Head,
    check_config,
    may_have,
    own_first,
)
from attncalc.reading.models.folder import Config
from attncalc.reading.models.mixers import Sizes
from attncalc.studies.counting import MOST, Count, Load, visible

USUAL_TOKENS = 1024
MOST_LAYERS = 100_000
_WIDTHS = {"qwen3": 128, "gemma2": 256}
"""The width of a head, if the config has none; that of others follows from the heads."""
_STEPS_OF_EXPERTS = ("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval")
"""The keys of the number of layers from one with experts to the next."""
_FIRSTS = ("first_k_dense_replace", "moe_layer_start_index", "num_dense_layers")
"""The keys of the number of the first layer with experts."""
_LISTS_OF_EXPERTS = ("mlp_layer_types", "moe_layers", "mlp_only_layers")
"""The keys of the kind of each layer, of the layers with experts, and of those without."""
_NORMS = {"around": 4, "pre-second": 1}
"""The number of normalizations of a layer by its place; 2 for others, 3 with cross-attention."""
_OF_ONE_HEAD = ("gain_Q", "gain_K", "lambda_q1", "lambda_q2", "lambda_k1", "lambda_k2")
"""What equations read that is as wide as a head."""
_SHARED = ("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
           "shared_intermediate_size")  # fmt: skip
"""The width of a shared expert."""
_INNER = ("intermediate_size_mlp", "intermediate_size", "d_ff", "n_inner", "d_inner", "ffn_dim",
          "ffn_hidden_size", "hidden_dim")  # fmt: skip
_FOURFOLD = ("gpt2", "openai-gpt", "gpt_bigcode", "gptj", "codegen", "gpt_neo", "bloom", "falcon",
             "mpt")  # fmt: skip
"""The types whose feed-forward part is 4 times as wide as tokens, if the config does not say."""
_UNTIED = ("llama", "llama4_text", "mistral", "qwen2", "qwen3", "deepseek_v2", "deepseek_v3")
"""The types whose head has its own weights, if the config does not say."""


def count_config(config: Config, load: Load) -> Count:
    """Return the counts of a model, from its config.

    Raises InputError if the family or the head is unknown, or a size is missing or wrong.

    config: its config; the architecture determines its head.
    load: its use; without tokens, 1024 of them, or the patches of an image.
    """
    load.check()
    families = families_of(config)
    if families and config.says(families[0].inside):
        tower = config.get(f"{families[0].inside}.model_type", None) or families[0].types[-1]
        what = f"a config of one of its towers, such as {tower},"
        raise config.wrong("model_type", config.get("model_type"), what)
    if not families:
        raise config.wrong("model_type", config.get("model_type"), "a family that attncalc counts")
    family = families[0]
    config = family.own_config(config)
    check_config(config, family.asks, family.title)
    return _Counting(config, family, load).count()


class _Kind(NamedTuple):
    """What differs among layers.

    window, is_routed, norm: the window, whether there are experts, and the normalization.
    heads: the numbers of heads of queries and of keys, and their width.
    makes: the projections of its attention; a layer with the keys of another has only queries.
    """

    window: int | None
    is_routed: bool
    norm: str
    heads: tuple[int, int, int]
    makes: str
    attends: bool
    feeds: bool
    mixing: Sizes | None


class _Counting:
    """Collects the terms of a model."""

    def __init__(self, config: Config, family: Family, load: Load) -> None:
        self.config, self.family, self.load = config, family, load
        self.n = load.tokens or USUAL_TOKENS
        self.part, self.layers = "", 0
        names = config.get("architectures", None) or ["Model"]
        if not isinstance(names, list) or not isinstance(names[0], str):
            raise config.wrong("architectures", names, "a list of names")
        self.architecture = names[0]
        self.d = self._size("hidden_size", "d_model", "n_embd", "dim")
        keys: tuple[str, ...] = ()
        if family.widens:
            keys = ("input_embedding_size", "embedding_size", "word_embed_proj_dim")
        self.e = self._size(*keys, default=self.d)
        self.is_narrow = config.says(keys[-1]) and self.e != self.d if keys else False
        self.found = Count(load, self.d)

    def count(self) -> Count:
        last, head = self._head()
        for family in (self.family, last)[: 1 + (last is not self.family)]:
            self._side(family)
        self.part, self.layers = "head", 0
        if head is not None:
            self._outputs(head, bool(last.tokens))
        is_masked = head is not None and head.gives == MASKED  # not of ELECTRA
        is_of_both = is_masked and self.architecture.endswith("ForPreTraining")
        is_bird = self.architecture.startswith("BigBirdFor")
        if is_of_both or (is_bird and self.architecture.endswith(("LM", "Classification"))):
            self._project("pool", self.d, self.d, 1, bias=True)
        if is_of_both:
            self._project("next", self.d, 2, 1, bias=True)
        self.found.load = self.load._replace(tokens=self.n)
        self.found.window = last.setting("window", self.config)
        return self.found

    def _head(self) -> tuple[Family, Head | None]:
        """Return the last side of the model, and its head."""
        name, last = self.architecture, self.family.decoder or self.family
        for side in (last, self.family):
            for end, head in side.all_heads.items():
                if name.endswith(end) and "Double" not in name:
                    return side, head
        if name.endswith("EncoderModel") and self.family.decoder:
            return self.family, None
        others = "Head", "Encoder", "Decoder"
        if not name.endswith("Model") or any(each in name for each in others):
            raise self.config.wrong("architectures", name, "a model or known head")
        return last, None

    def _add(self, what: str, name: str, *factors: int) -> None:
        layers = self.layers
        if what == "parameters":  # layers may share them
            layers = len({self.family.of("stored", self.config, each) for each in range(layers)})
        self.found.add(what, name, *factors, part=self.part, layers=layers)

    def _vectors(self, *names: str, width: int = 0) -> None:
        for name in names:
            self._add("parameters", name, width or self.d)

    def _step(self, name: str, work: tuple[int, ...], result: tuple[int, ...]) -> None:
        self._add("multiply_adds", name, *work)
        self._add("results", name, *result)

    def _project(
        self, name: str, ins: int, outs: int, rows: int = 0,
        *, bias: bool = False, step: str = "", experts: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        """Add a projection: its weights, its bias and its step; of experts, all and those used."""
        own, dot, letter = name.rpartition(".")
        self._add("parameters", f"{own}{dot}W_{letter}", *experts[:1], ins, outs)
        if bias:
            self._add("parameters", f"{own}{dot}b_{letter}", *experts[:1], outs)
        rows_of_each = (rows or self.n, *experts[1:])
        self._step(step or name, (*rows_of_each, ins, outs), (*rows_of_each, outs))

    def _size(self, *keys: str, default: int = 0) -> int:
        ordered, own = own_first(self.config, keys)
        found = (self.config.count_or_none(key) for key in ordered)
        size = next(filter(None, found), default)
        if not size:
            kind = self.config.get("model_type", None)
            named = [key for key in ordered[: own or None] if may_have(kind, key)]
            names = " or ".join(map(quoted, named or ordered))
            raise InputError(f"{self.config.place}: it has no {names}, which its model needs")
        if size > MOST:
            raise InputError(f"{self.config.place}: a size of {size:.0e}: at most {MOST:,}")
        return size

    def _sizes(self, key: str) -> list[int]:
        found = self.config.get(key)
        if not isinstance(found, list) or not all(type(each) is int and each > 0 for each in found):
            raise self.config.wrong(key, found, "a list of whole numbers from 1")
        return found

    def _side(self, family: Family) -> None:
        """Add an encoder or a decoder: its embedding, its layers and its last normalization."""
        side = str(family.settings["block"])
        own, dot = (f"{side} ", f"{side}.") if self.family.decoder else ("", "")
        heads = family.setting("heads", self.config)
        self.part, self.layers = f"{own}embedding", 0
        self._tables(family, dot)
        self._convolve(family)
        for name in family.present(self.config, family.begins):
            self._begin(family, name, dot)
        self._of_kind(family, heads)
        if self.config.is_so("use_mask_token", False):
            self._vectors("mask_token")
        if self.e != self.d or "mapping" in family.widens:  # ALBERT always has it
            is_of_deberta = "embed_proj" in family.widens
            self._project("in", self.e, self.d, bias=not (self.is_narrow or is_of_deberta))
        far = distances(self.config) if "E_rel" in family.shared else None
        self._of_all_layers(family, heads, far, dot)
        for kind, layers in self._kinds(family).items():
            kinds = [f"window {kind.window}" if kind.window else "", "experts" * kind.is_routed]
            kinds.append("without attention" * (not kind.attends))
            self.part = ", ".join(filter(None, (f"{own}layers", *kinds)))
            self.layers = len(layers)
            self._layer(family, kind, layers[0])
            if far:
                self._distances(far, heads)
        self.part, self.layers = f"{own}end", 0
        self._end(family)

    def _of_kind(self, family: Family, heads: int) -> None:
        """Add what only some types have before the layers: tables for each of them, contacts."""
        kind, layers = self.config.get("model_type", None), family.of("count", self.config)
        if family.of_layers and (width := self.config.get("hidden_size_per_layer_input", 0)):
            rows = self._size("vocab_size_per_layer_input")
            self._add("parameters", "E_ple", rows, width * layers)
            self._project("begin", self.d, width * layers)
            self._vectors("gain_begin", width=width)
        if kind == "xlnet":
            self._vectors("masked_token")
        if kind == "esm":
            self._vectors("contacts", width=layers * heads + 1)
        if kind == "roformer":
            places = self._size("max_position_embeddings")
            self._add("parameters", "sinusoids", places, self.d // heads)

    def _tables(self, family: Family, dot: str) -> None:
        """Add the tables of tokens of a side: of both sides, its own, or both."""
        is_common = self.config.is_so("share_encoder_decoder_embeddings", True)
        is_tied = is_common and self.config.is_so("tie_word_embeddings", True)
        if family.tokens and is_common and (family is self.family or not self.family.tokens):
            self._add("parameters", "W_E", self._size("vocab_size"), self.e)
        if " shared" in family.tokens and not is_tied:
            self._add("parameters", f"{dot}W_E", self._size("vocab_size"), self.e)

    def _end(self, family: Family) -> None:
        """Add what follows the layers of a side, before a head."""
        self._vectors(*(n for n, at in family.present(self.config, family.ends).items() if at))
        if self.is_narrow:
            self._project("out", self.d, self.e)

    def _begin(self, family: Family, name: str, dot: str) -> None:
        """Add a tensor that precedes the layers of a side."""
        if name == "E":
            patch = self._size("patch_size")
            pairs = [("image_size", "patch_size")] * 2
            if family.convolutions:
                pairs = [("num_mel_bins", "frequency_stride"), ("max_length", "time_stride")]
            sides = [(self._size(side) - patch) // self._size(step) + 1 for side, step in pairs]
            count = sides[0] * sides[1]
            self.n = count + ("class_token" in family.begins) + self._more(family)
            if self.load.tokens not in (None, self.n):
                raise InputError(f"--tokens {self.load.tokens}: this model has {self.n} of them")
            channels = 1 if family.convolutions else self._size("num_channels", default=3)
            self._project("E", channels * patch**2, self.d, count, bias="b_E" in family.begins)
        elif name == "P" and family.sinusoids != FAIRSEQ:
            source = {"encoder": "max_source_positions", "decoder": "max_target_positions"}
            keys = source[family.settings["block"]], "max_position_embeddings", "n_positions"
            more = 0 if family.pads else family.offset or 0  # the former are among the positions
            has_registers = self.config.says("num_register_tokens")
            of_image = self.n - (self._more(family) if has_registers else 0)
            rows = of_image if "E" in family.begins else self._size(*keys)
            self._add("parameters", f"{dot}P", rows + more, self.d if self.is_narrow else self.e)
        elif name == "W_type":
            self._add("parameters", name, self._size("type_vocab_size"), self.e)
        elif name == "more_tokens":
            self._add("parameters", name, self._more(family), self.d)
        elif name not in ("P", "b_E") and family.begins[name]:
            self._vectors(name, width=self.d if "embed_proj" in family.widens else self.e)

    def _more(self, family: Family) -> int:
        """Return the number of learned tokens after the class token."""
        is_there = "more_tokens" in family.begins
        return int(self.config.whole("num_register_tokens", 1)) if is_there else 0

    def _kinds(self, family: Family) -> dict["_Kind", list[int]]:
        """Return the layers of each kind."""
        count = family.of("count", self.config)
        if count > MOST_LAYERS:
            raise InputError(f"{self.config.place}: {count:,} layers: at most {MOST_LAYERS:,}")

        def kind_of(layer: int) -> _Kind:
            reach = family.setting("reach", self.config, layer)
            window = 2 * reach + 1 if reach else family.setting("window", self.config, layer)
            norm = family.setting("norm", self.config, layer) or "pre"
            attends, feeds, mixing, routes = (
                family.of(name, self.config, layer)
                for name in ("attends", "feeds", "mixing", "routes")
            )
            is_routed = feeds and (self._is_routed(family, layer) if routes is None else routes)
            heads, makes = self._heads_of(family, layer, window) if attends else ((0, 0, 0), "")
            window = window if attends else None
            return _Kind(window, is_routed, norm, heads, makes, attends, feeds, mixing)

        found: dict[_Kind, list[int]] = {}
        for layer in range(count):
            found.setdefault(kind_of(layer), []).append(layer)
        return found

    def _heads_of(
        self, family: Family, layer: int, window: int | None
    ) -> tuple[tuple[int, int, int], str]:
        """Return the heads of queries and of keys of a layer, their width, and what it makes."""
        heads = int(family.setting("heads", self.config, layer))
        kv = family.of("key_heads", self.config, layer) or heads
        width = 0 if self.config.says("kv_lora_rank") else self._width(heads, layer, window)
        makes = "QKV" if family.of("sharing", self.config, layer) is None else "Q"
        is_one = window is None and self.config.is_so("attention_k_eq_v", False)
        return (heads, int(kv), width), makes.replace("V", "") if is_one else makes

    def _is_routed(self, family: Family, layer: int) -> bool:
        """Return whether a layer has experts: not in the first ones, and not in those listed."""
        if family.settings.get("top_k") is None:
            return False
        kinds, routed, dense = map(self._listed, _LISTS_OF_EXPERTS)
        if kinds is not None or routed is not None:
            return layer in (routed or ()) or (kinds or [])[layer : layer + 1] == ["sparse"]
        every = next(filter(self.config.says, _STEPS_OF_EXPERTS), _STEPS_OF_EXPERTS[0])
        first = self.config.whole(next(filter(self.config.says, _FIRSTS), _FIRSTS[0]), 0)
        last = self.config.number("moe_layer_end_index", -1)
        is_turn = (layer + 1) % self.config.count(every, 1) == 0
        is_between = first <= layer and (last < 0 or layer <= last)
        return is_between and layer not in (dense or ()) and is_turn

    def _listed(self, key: str) -> list[Any] | None:
        found = self.config.get(key, None)
        if not isinstance(found, list | None):
            raise self.config.wrong(key, found, "a list")
        return found

    def _layer(self, family: Family, kind: "_Kind", layer: int) -> None:
        """Add a layer: what mixes tokens, normalizations, and the feed-forward part."""
        biases = family.of("biases", self.config, layer)
        if kind.attends:
            self._attend(family, kind, layer)
        if kind.mixing is not None:
            self._mix(kind.mixing)
        norms = _NORMS.get(kind.norm, 3 if family.sides else 2)
        norms = 1 if family.setting("parallel", self.config) == "shared" else norms
        norms -= norms == 2 and not (kind.feeds and (kind.attends or kind.mixing is not None))
        kinds = self._gain_and_bias(family, family.settings["normalization"])
        self._vectors(*(f"{each}_{i + 1}" for i in range(norms) for each in kinds))
        if not kind.feeds:
            return
        is_gated = family.of("is_gated", self.config)
        if not kind.is_routed:
            routes = family.of("routes", self.config, layer)
            is_shared = routes is False and "W_s13" in family.own.values()  # the only part
            is_wide = kind.makes == "Q" and self.config.is_so("use_double_wide_mlp", False)
            inner = self._size(*_SHARED) if is_shared else self._inner(family) * (1 + is_wide)
            self._feed_forward("", inner, biases, is_gated=is_gated)
            return
        self._experts(family, biases, is_gated=is_gated)

    def _attend(self, family: Family, kind: "_Kind", layer: int) -> None:
        """Add the attention of a layer, or its two."""
        biases, n = family.of("biases", self.config, layer), self.n
        heads = kind.heads[0]
        is_causal = family.setting("causal", self.config)
        is_masked = is_causal or ("reach" in family.settings and kind.window)
        first = 1 if is_causal else (kind.window or 1) // 2 + 1
        hidden = n * n - visible(n, n, kind.window, first) if is_masked else 0
        if self.config.says("kv_lora_rank"):
            self._latent(heads, hidden)
            return
        is_cached = family.settings["block"] == DECODER and kind.makes != "Q"
        cached = min(n, kind.window or n) if is_cached else 0
        self._attention("", kind.heads, biases, hidden, cached, makes=kind.makes)
        if family.sides:
            self._attention("cross.", kind.heads, biases, 0, n)
        self._of_one_size(family, kind, layer)
        self._own(family, kind.heads)

    def _mix(self, sizes: Sizes) -> None:
        """Add what mixes tokens without an attention: of a recurrence, as it goes over tokens."""
        for name, ins, outs in sizes.projections:
            self._project(name, ins, outs)
        for name, count in sizes.vectors:
            self._add("parameters", name, count)
        width, taps = sizes.convolved
        if width:
            self._add("parameters", "W_conv", width, taps)
            self._step("U_conv", (self.n, width, taps), (self.n, width))
            self._add("cached", "U", taps - 1, width)
        if sizes.state:
            self._step("state", (sizes.passes, self.n, *sizes.state), (self.n, *sizes.state[1:]))
            self._add("cached", "state", *sizes.state)

    def _own(self, family: Family, heads: tuple[int, int, int]) -> None:
        """Add what equations and layer scales of a family read."""
        count, keys, width = heads
        buckets = self._size("relative_attention_num_buckets", default=32)
        sizes = {
            **dict.fromkeys(_OF_ONE_HEAD, width),
            **dict.fromkeys(("lambda_1", "lambda_2", "scale_1", "scale_2"), self.d),
            **dict.fromkeys(("xielu_alpha_p", "xielu_alpha_n"), 1),
            **{"sinks": count, "gain_C": count * width, "rel_bias": count * buckets},
            **{"gamma_gate": count, "strength": keys},
            "plane": count * self._plane("use_relative_position_bias"),
        }
        own = dict.fromkeys(family.own.values())
        for name in (name for name in own if sizes.get(name)):
            self._vectors(name, width=sizes[name])
        if "gain_G" in own:
            self._vectors("gain_G", width=self._inner(family))
        if "W_hgate" in own and self.config.is_so("use_attention_gate", True):
            self._project("hgate", self.d, count, step="C_gated")
        if {"W_gate", "W_Qgate"} & {*own}:
            is_of_head = self.config.get("gating", None) in (True, "per-head")
            bias = "W_Qgate" in own and self.config.is_so("attention_bias", False)
            outs = count * (1 if is_of_head else width)
            self._project("gate", self.d, outs, bias=bias, step="C_gated")
        if "W_mask" in own:
            bias = self.config.is_so("attention_bias", False)
            self._project("mask", keys * width, keys, bias=bias, step="step")
        if "W_gru" in own:
            self._project("gru", width, 8, self.n * count, bias=True)
        if "W_rel" in own:
            self._add("parameters", "W_rel", self.d, count * width)
            self._add("parameters", "biases of queries, and of segments", 5, count * width)
            rows = 2 * self.n
            self._step("K_rel", (rows, self.d, count * width), (rows, count * width))
            self._step("Q · K_rel", (count, self.n, rows, width), (count, self.n, rows))
        self._more_of_layer(family)

    def _more_of_layer(self, family: Family) -> None:
        """Add what layers of Longformer and Gemma 4 have beside their parts."""
        if self.config.get("model_type", None) == "longformer":  # for tokens that attend to all
            for name in "QKV":
                self._add("parameters", f"W_{name} and b_{name}, global", self.d + 1, self.d)
        if self.config.is_so("enable_moe_block", False):
            self._project("route", self.d, self._size("num_experts"))
            self._vectors("scale_experts", width=self._size("num_experts"))
            self._vectors("scale_route", "gain_mlp", "gain_moe", "gain_moe2")
            experts = self._size("num_experts"), self._size("top_k_experts")
            inner = self._size("moe_intermediate_size")
            self._feed_forward("experts.", inner, "", is_gated=True, experts=experts)
        if family.of_layers and (width := self.config.get("hidden_size_per_layer_input", 0)):
            self._project("ple", self.d, width)
            self._project("ple2", width, self.d)
            self._vectors("gain_ple")

    def _plane(self, key: str) -> int:
        """Return the number of distances of patches that a key asks for, 3 for the class token."""
        if not self.config.is_so(key, False):
            return 0
        return (2 * (self._size("image_size") // self._size("patch_size")) - 1) ** 2 + 3

    def _distances(self, far: Distances, heads: int) -> None:
        """Add the scores of distances of DeBERTa, for every row of their table."""
        is_first = self.config.get("model_type") == "deberta"
        rows = 2 * (min(far.span, self.n) if is_first else far.span)
        for name in far.kinds:
            if far.is_shared:
                self._step(f"{name}_rel", (rows, self.d, self.d), (rows, self.d))
            else:
                is_biased = name == "Q" or not is_first
                own = f"pos{name}", self.d, self.d, rows
                self._project(*own, bias=is_biased, step=f"{name}_rel")
            other = "QK"[name == "Q"]
            width = self.d // heads
            self._step(f"{other} · {name}_rel", (heads, self.n, rows, width), (heads, self.n, rows))

    def _of_all_layers(self, family: Family, heads: int, far: Distances | None, dot: str) -> None:
        """Add the tensors that all layers share: biases of distances, or embeddings of these."""
        for name in (name.rpartition(".")[2] for name in family.shared):
            if name == "rel_bias":
                buckets = self._size("relative_attention_num_buckets", default=32)
                self._add("parameters", f"{dot}{name}", buckets, heads)
            elif name == "distances":
                self._add("parameters", name, self._size("num_buckets", default=320), heads)
            elif name == "class_angle":
                self._vectors(name, width=self.d // heads // 2)
            elif name == "plane_of_all":
                rows = self._plane("use_shared_relative_position_bias")
                self._add("parameters", name, rows, heads)
            elif far is not None and name == "E_rel":
                self._add("parameters", name, 2 * far.span, self.d)
            elif far is not None and far.is_normed:
                self._vectors(name)

    def _convolve(self, family: Family) -> None:
        """Add the convolutions before the layers of Whisper, or of wav2vec 2.0."""
        if family.widens and family.convolutions:
            self._features()
            return
        convolutions = () if "E" in family.begins else family.convolutions
        for number, (name, stride) in enumerate(convolutions):
            ins, rows = self.d if number else self._size("num_mel_bins"), self.n * (3 - stride)
            self._project(name.rpartition(".")[2], 3 * ins, self.d, rows, bias=True)

    def _features(self) -> None:
        """Add the convolutions of audio before wav2vec 2.0, for the frames that they give."""
        keys = "conv_dim", "conv_kernel", "conv_stride"
        dims, kernels, strides = map(self._sizes, keys)
        if not len(dims) == len(kernels) == len(strides):
            raise self.config.wrong(keys[0], dims, "as many numbers as of the other two conv_ keys")
        rows = [self.n]
        for kernel, stride in zip(kernels[:0:-1], strides[:0:-1], strict=True):
            rows.insert(0, (rows[0] - 1) * stride + kernel)
        norms = 1 if self.config.get("feat_extract_norm", "group") == "group" else len(dims)
        for at, (ins, outs) in enumerate(zip([1, *dims], dims, strict=False)):
            sizes = ins * kernels[at], outs, rows[at]
            self._project(f"conv{at}", *sizes, bias=self.config.is_so("conv_bias", False))
            if at < norms:
                self._vectors(f"gamma_conv{at}", f"beta_conv{at}", width=outs)
        self._vectors("gamma_in", "beta_in", width=dims[-1])
        self._project("in", dims[-1], self.d, bias=True)
        if any(self.config.number(f"mask_{each}_prob", 0) for each in ("time", "feature")):
            self._vectors("masked_frame")
        places = "num_conv_pos_embeddings", "num_conv_pos_embedding_groups"
        kernel, groups = map(self._size, places)
        self._vectors("lengths_P", width=kernel)
        even = 1 - kernel % 2  # one result more, which is left out
        self._add("parameters", "W_P", self.d, self.d // groups, kernel)
        self._vectors("b_P")
        work = self.n + even, self.d, self.d // groups, kernel
        self._step("P", work, (self.n, self.d))

    def _experts(self, family: Family, biases: str, *, is_gated: bool) -> None:
        """Add a router, experts and a shared expert."""
        inner = self._size(
            "moe_intermediate_size", "intermediate_size", "ffn_config.ffn_hidden_size"
        )
        keys = "n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"
        top_k = family.setting("top_k", self.config)
        experts = self._size(*keys, "ffn_config.moe_num_experts"), top_k
        fields = family.own.values()
        self._project("router", self.d, experts[0], bias="b_router" in fields)
        kept = "moe_k", "route_scale", "moe_routed_scaling_factor"
        if any(map(self.config.says, kept)):  # a parameter only there
            self._vectors("b_choice", width=experts[0])
        own = "123" if {"b_13_in_out", "b_13"} & {*fields} else ""
        self._feed_forward("experts.", inner, own, is_gated=is_gated, experts=experts)
        several = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
        shared = next((self.config.whole(each) for each in several if self.config.get(each, 0)), 0)
        key = next((each for each in _SHARED if self.config.get(each, 0)), "")
        if shared or key:
            inner = self._size(key) if key else inner * shared
            self._feed_forward("shared.", inner, biases, is_gated=is_gated)
        if "W_sgate" in fields:
            self._project("shared.gate", self.d, 1)

    def _inner(self, family: Family) -> int:
        """Return the width of the feed-forward part; DINOv2 has a ratio."""
        dense = self.config.count_or_none("prefix_dense_intermediate_size")
        if dense is not None:
            return dense
        if self.config.is_so("block_auto_adjust_ff_dim", False):  # LFM2
            factor = self.config.number("block_ffn_dim_multiplier", None) or 1
            inner = int(factor * int(2 * self._size("block_ff_dim", "intermediate_size") / 3))
            multiple = self._size("block_multiple_of")
            return -(-inner // multiple) * multiple
        if not self.config.says("mlp_ratio"):
            usual = 4 * self.d if self.config.get("model_type", None) in _FOURFOLD else 0
            return self._size(f"{family.settings['block']}_ffn_dim", *_INNER, default=usual)
        inner = int(self.d * self.config.number("mlp_ratio"))
        return (inner * 2 // 3 + 7) // 8 * 8 if family.of("is_gated", self.config) else inner

    def _width(self, heads: int, layer: int, window: int | None) -> int:
        """Return the width of a head."""
        own = f"per_layer_config.{layer}.head_dim", *(["global_head_dim"] if not window else ())
        of_type = _WIDTHS.get(self.config.get("model_type"), 0)
        if not of_type and self.d % heads and not any(map(self.config.says, ("head_dim", "d_kv"))):
            where = self.config.place
            raise InputError(f"{where}: {heads} heads do not divide a width of {self.d}")
        return self._size(*own, "head_dim", "d_kv", default=of_type or self.d // heads)

    def _attention(
        self, own: str, heads: tuple[int, int, int], biases: str, hidden: int, cached: int,
        *, queries: int = 0, makes: str = "QKV",
    ) -> None:  # fmt: skip
        """Add an attention of heads of queries, of keys, and of a width; masks hide some pairs."""
        count, kv, width = heads
        for name, outs, rows in (("Q", count, queries), ("K", kv, 0), ("V", kv, 0)):
            if name in makes:
                self._project(own + name, self.d, outs * width, rows, bias=name in biases)
        halves = 1 + ("lambda_q1" in self.family.own.values())  # of values, which heads weigh
        self._weigh(own, (count, queries or self.n), (width, halves * width), hidden)
        self._project(f"{own}O", count * width, self.d, queries, bias="O" in biases)
        if cached:
            self._add("cached", f"{own}K, {own}V", 2, kv, cached, width)

    def _of_one_size(self, family: Family, layers: "_Kind", layer: int) -> None:
        """Add the gains of normalized queries and keys: one for all heads, or each without bias."""
        kind, (*counts, width) = family.setting("qk_norm", self.config, layer), layers.heads
        if kind is None or family.own_gains == "none":
            return
        is_each = family.own_gains == "each"
        kinds = ("gamma",) if is_each else self._gain_and_bias(family, kind)
        for name, count in zip(layers.makes[:2], counts, strict=False):
            own = count * width if is_each else width
            self._vectors(*(f"{each}_{name}" for each in kinds), width=own)

    def _weigh(self, own: str, rows: tuple[int, int], widths: tuple[int, int], hidden: int) -> None:
        """Add scores, weights and weighed values, for queries of each head."""
        pairs, (d_k, d_v) = (*rows, self.n), widths
        self._step(f"{own}S", (*pairs, d_k), pairs)
        for what in ("results", "weights"):
            self._add(what, f"{own}A", *pairs)
        self._step(f"{own}H", (*pairs, d_v), (*rows, d_v))
        self._add("hidden", f"{own}A", rows[0], hidden)
        self._add("masked", f"{own}S, {own}H", rows[0], hidden, d_k + d_v)

    def _latent(self, heads: int, hidden: int) -> None:
        """Add multi-head latent attention: keys and values from a vector that is cached."""
        keys = "kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"
        rank, turned, plain, d_v = map(self._size, keys)
        bias, ins = self.config.is_so("attention_bias", False), self.d
        if self.config.get("q_lora_rank", None) is not None:
            ins = self._size("q_lora_rank")
            self._project("DQ", self.d, ins, bias=bias)
            self._vectors("gamma_DQ", width=ins)
        self._project("Q", ins, heads * (plain + turned))
        self._project("DKV", self.d, rank + turned, bias=bias)
        self._vectors("gamma_DKV", width=rank)
        self._project("UKV", rank, heads * (plain + d_v))
        self._weigh("", (heads, self.n), (plain + turned, d_v), hidden)
        self._project("O", heads * d_v, self.d, bias=bias)
        self._add("cached", "C_KV, K_R", self.n, rank + turned)
        if self.config.says("index_topk"):
            count, width = self._size("index_n_heads"), self._size("index_head_dim")
            self._project("index.Q", ins, count * width)
            self._project("index.K", self.d, width)
            self._vectors("gamma_index", "beta_index", width=width)
            self._project("index.weights", self.d, count)
            pairs = count, self.n, self.n
            self._step("index.S", (*pairs, width + 1), pairs)

    def _feed_forward(
        self, own: str, inner: int, biases: str, *, is_gated: bool,
        experts: tuple[int, ...] = (), rows: int = 0,
    ) -> None:  # fmt: skip
        for name in ("1", "3", "2") if is_gated else ("1", "2"):
            ins, outs = (inner, self.d) if name == "2" else (self.d, inner)
            bias, step = name in biases, f"{own}F_{name}"
            self._project(own + name, ins, outs, rows, bias=bias, step=step, experts=experts)

    def _outputs(self, head: Head, has_words: bool) -> None:
        """Add the head: what gives logits of words or classes."""
        check_config(self.config, head.asks, self.architecture)
        d, is_of_classes = self.e if self.is_narrow else self.d, head.gives == CLASSES
        tensors = {
            name: names.split()[0]
            for name, names in head.tensors.items()
            if self.config.get(head.optional.get(name, ""), True)
        }
        reads = {"all", "last"} - {"last" if "W_pre" in tensors else ""}
        rows = self.n if head.gives in (NEXT, MASKED) or head.reads in reads else 1
        if head.behind and is_of_classes:
            d = self._size("classifier_proj_size")
            self._project("pre", self.d, d, bias=True)
        self._of_rows(tensors, d)
        if "W_pre" in tensors:
            wide = self._hidden(head, tensors["W_pre"], d)
            name = "pool" if head.gives == POOLED else "pre"
            self._project(name, d, wide, rows, bias="b_pre" in tensors)
            self._vectors(*(n for n in ("gamma_pre", "beta_pre") if n in tensors), width=wide)
            d = wide
        if "W_out" not in tensors:
            return
        is_of_words = "lm_head" in tensors["W_out"] or not is_of_classes
        outs = self._size("vocab_size") if is_of_words else len(head.labels) or self._labels()
        usual = self.config.get("model_type") not in _UNTIED
        is_tied = head.is_tied and has_words and self.config.is_so("tie_word_embeddings", usual)
        if not is_tied:
            self._add("parameters", "W_out", d, outs)
        if tensors.get("b_out", "").endswith(".bias"):  # others are buffers
            both = not is_tied and head.gives == MASKED and " " in head.tensors["b_out"]  # of BERT
            self._add("parameters", "b_out", *[2] * both, outs)
        self._step("out", (rows, d, outs), (rows, outs))

    def _of_rows(self, tensors: Mapping[str, str], d: int) -> None:
        """Add what a head does to all rows, or to the first and the mean of the others."""
        if "W_cls" in tensors:
            self._project("cls", 2 * d, self._labels(), 1, bias=True)
        if "W_probe" in tensors:
            self._pooling()
        elif "gain_pool" in tensors and "W_pool" not in tensors:
            self._vectors("gain_pool", "bias_pool")

    def _hidden(self, head: Head, name: str, d: int) -> int:
        """Return the width of the hidden layer of a head, whose weights have this name."""
        if head.gives == MASKED:
            return self._size("output_embedding_size", default=self.e)
        if head.gives != POOLED:
            return d
        projected = "projection_dim", "projection_size"
        return self._size(*(("pooler_output_size",) if "pooler" in name else projected), default=d)

    def _pooling(self) -> None:
        """Add the attention of a learned query of SigLIP, and the feed-forward part after it."""
        heads = self._size("num_attention_heads")
        self._vectors("probe")
        self._attention("pool.", (heads, heads, self.d // heads), "QKVO", 0, 0, queries=1)
        self._vectors("gamma_pool", "beta_pool")
        self._feed_forward("pool.", self._inner(self.family), "12", is_gated=False, rows=1)

    def _labels(self) -> int:
        names = self.config.get("id2label", None)
        return len(names) if isinstance(names, dict) else self._size("num_labels", default=2)

    def _gain_and_bias(self, family: Family, kind: str) -> tuple[str, ...]:
        """Return the parameters of each normalization: a LayerNorm may have no bias."""
        if not family.has_gains:
            return ()
        ends = family.present(self.config, family.ends)
        is_biased = not ends or "beta_out" in ends
        return ("gamma", "beta") if kind == "layer" and is_biased else ("gamma",)
