"""Counts of a model from its config alone: the fields of its family, and their sizes.

The rows of families say which fields a model has, and its equations which of their own they read.
shapes.txt has their sizes.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from math import prod
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.problem.fields import DECODER, KNOWN
from attncalc.problem.stating import read_by
from attncalc.reading.models.equations import distances
from attncalc.reading.models.families import families_of
from attncalc.reading.models.family import (
    CLASSES,
    MASKED,
    NEXT,
    POOLED,
    WITHOUT_EQUATIONS,
    Family,
    Head,
    check_config,
    may_have,
    own_first,
    said_of,
)
from attncalc.reading.models.folder import Config
from attncalc.reading.models.mixers import Sizes
from attncalc.reading.models.names import table
from attncalc.studies.counting import MOST, Count, Load, visible

USUAL_TOKENS = 1024
MOST_LAYERS = 10_000
_STEPS_OF_EXPERTS = ("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval")
"""The keys of the number of layers from one with experts to the next."""
_FIRSTS = ("first_k_dense_replace", "moe_layer_start_index", "num_dense_layers")
"""The keys of the number of the first layer with experts."""
_LISTS_OF_EXPERTS = ("mlp_layer_types", "moe_layers", "mlp_only_layers")
"""The keys of the kind of each layer, of the layers with experts, and of those without."""
_SHARED = ("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
           "shared_intermediate_size")  # fmt: skip
"""The width of a shared expert."""
_BESIDE = {"esm": "contacts", "roformer": "sinusoids", "xlnet": "masked_token"}
"""What no layer reads, before the layers of some types."""
_WITHOUT_STEP = ("W_E", "W_type", "W_conv")
"""Tables, and weights of another step than a projection of all rows."""
_Term = tuple[str, str, tuple[int, ...]]


@cache
def _shapes() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the keys of sizes, and the sizes of fields, from shapes.txt."""
    fields = table("shapes.txt", "field").items()
    return (
        {name: keys.split() for name, keys in table("shapes.txt", "size").items()},
        {name: shape for names, shape in fields for name in names.split()},
    )


def _read(family: Family, config: Config, layer: int = 0) -> set[str]:
    """Return what the equations of a layer read and do not define."""
    return read_by(tuple(family.setting("equations", config, layer) or ()))


def count_config(config: Config, load: Load) -> Count:
    """Return the counts of a model, from its config.

    Raises InputError if the family or the head is unknown, or a size is missing or wrong.

    config: its config; the architecture determines its head.
    load: its use; without tokens, 1024 of them, or the patches of an image.
    """
    load.check()
    families = families_of(config)
    if families and any(map(config.says, (families[0].inside, "vision_config"))):
        if families[0].decoder:
            raise InputError(f"{config.place}: {families[0].title} has a config of each side, and "
                             "is not counted")  # fmt: skip
        tower = config.get(f"{families[0].inside}.model_type", None) or families[0].types[-1]
        what = f"a config of one of its towers, such as {tower},"
        raise config.wrong("model_type", config.get("model_type"), what)
    if not families:
        raise config.wrong("model_type", config.get("model_type"), "a family that attncalc counts")
    family = families[0]
    config = family.own_config(config)
    check_config(config, family.asks, family.title)
    return _Counting(config, family, load).count()


class _Counting:
    """Collects the terms of a model."""

    def __init__(self, config: Config, family: Family, load: Load) -> None:
        self.config, self.family, self.load = config, family, load
        self.made: list[_Term] = []
        names = config.get("architectures", None) or ["Model"]
        if not isinstance(names, list) or not isinstance(names[0], str):
            raise config.wrong("architectures", names, "a list of names")
        self.architecture = names[0]
        self.sizes: dict[str, int] = {"n": load.tokens or USUAL_TOKENS, "span": 0}
        self.d = d = self._of("d")
        keys: tuple[str, ...] = ()
        if family.widens:
            keys = ("input_embedding_size", "embedding_size", "word_embed_proj_dim")
        e = self._size(*keys, default=d)
        self.is_narrow = config.says(keys[-1]) and e != d if keys else False
        begun = d if "embed_proj" in family.widens else e
        self.sizes |= {"d": d, "e": e, "begun": begun, "a": d}
        self.sizes["cross"] = self._size("cross_attention_hidden_size", default=d)
        self.found = Count(load, d)

    @property
    def n(self) -> int:
        """The number of tokens."""
        return self.sizes["n"]

    def count(self) -> Count:
        last, head = self._head()
        if last.decoder:  # an encoder alone
            check_config(self.config, {"is_decoder": (False,)}, self.architecture)
        for family in (self.family, last)[: 1 + (last is not self.family)]:
            self._side(family)
        if head is not None:
            self._outputs(head, bool(last.tokens))
            self._fields(head.beside, bias=True)
        self._put("head", self.made)
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

    def _put(
        self, part: str, terms: Iterable[_Term], family: Family | None = None,
        layers: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """Count terms in a part, and start the next; some layers may share their parameters."""
        stored = {family.of("stored", self.config, each) for each in layers if family}
        for what, name, factors in terms:
            own = len(stored if what == "parameters" else layers)
            self.found.add(what, name, *factors, part=part, layers=own)
        self.made = []

    def _add(self, what: str, name: str, *factors: int) -> None:
        self.made.append((what, name, factors))

    def _vectors(self, *names: str, width: int = 0) -> None:
        for name in names:
            self._add("parameters", name, width or self.d)

    def _step(self, name: str, work: tuple[int, ...], result: tuple[int, ...]) -> None:
        self._add("multiply_adds", name, *work)
        self._add("results", name, *result)

    def _project(
        self, name: str, ins: int, outs: int, rows: int | None = None,
        *, bias: bool = False, experts: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """Add a projection: its weights, its bias and its step; of experts, all and those used.

        rows: of its inputs; None for those of the tokens.
        """
        own, dot, letter = name.rpartition(".")
        step = f"{own}{dot}{'F_' * (letter in '123')}{letter}"
        self._add("parameters", f"{own}{dot}W_{letter}", *experts[:1], ins, outs)
        if bias:
            self._add("parameters", f"{own}{dot}b_{letter}", *experts[:1], outs)
        rows_of_each = (self.n if rows is None else rows, *experts[1:])
        if rows != 0:
            self._step(step, (*rows_of_each, ins, outs), (*rows_of_each, outs))

    def _fields(self, names: Iterable[str], at: str = "", *, bias: bool = False) -> None:
        """Add fields of shapes.txt, of one prefix: of weights, also their step.

        bias: whether weights have biases.
        """
        for name in names:
            shape, *rows = _shapes()[1][name].split(" @ ")
            sizes, of_step = [*map(self._of, shape.split())], [*map(self._of, rows)]
            if name.startswith("W_") and len(sizes) > 1 and name not in _WITHOUT_STEP:
                *experts, ins, outs = sizes
                experts = [*experts, self._of("t")] if experts else []
                self._project(at + name[2:], ins, outs, *of_step, bias=bias, experts=experts)
            else:
                self._add("parameters", at + name, *sizes)
                for each in of_step:
                    self._step(name, (each, *sizes), (each, *sizes[1:]))

    def _of(self, size: str) -> int:
        """Return a size: of a layer, of a key of the config, or a sum of products of some."""
        if "+" in size:
            return sum(map(self._of, size.split("+")))
        if "*" in size or "/" in size:
            first, *others = size.split("/")
            return prod(map(self._of, first.split("*"))) // prod(map(self._of, others))
        if size in self.sizes:
            return self.sizes[size]
        if size.isdigit():
            return int(size)
        *keys, last = _shapes()[0][size]
        is_usual = last.isdigit()
        return self._size(*keys, *[last] * (not is_usual), default=int(last) if is_usual else 0)

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
        config, side = self.config, str(family.settings["block"])
        own, dot = (f"{side} ", f"{side}.") if self.family.decoder else ("", "")
        count, heads = family.of("count", config), int(family.setting("heads", config))
        if count > MOST_LAYERS:
            raise InputError(f"{config.place}: {count:,} layers: at most {MOST_LAYERS:,}")
        self.sizes |= {"h": heads, "layers": count}
        self._before(family, dot)
        self._put(f"{own}embedding", self.made)
        kinds: dict[tuple[str, tuple[_Term, ...]], list[int]] = {}
        for layer in range(count):
            label = self._layer(family, layer)
            kinds.setdefault((label, tuple(self.made)), []).append(layer)
            self.made = []
        for (label, terms), layers in kinds.items():
            self._put(f"{own}layers{label}", terms, family, layers)
        self._vectors(*(n for n, place in family.present(config, family.ends).items() if place))
        if self.is_narrow:
            self._project("out", self.d, self.sizes["e"])
        self._put(f"{own}end", self.made)

    def _before(self, family: Family, dot: str) -> None:
        """Add what precedes the layers of a side, and tensors that all of them share."""
        config, sizes = self.config, self.sizes
        self._tables(family, dot)
        self._convolve(family)
        for name in family.present(config, family.begins):
            self._begin(family, name, dot)
        self._of_distances(family)
        self._fields([_BESIDE[kind]] if (kind := config.get("model_type", "")) in _BESIDE else ())
        self._fields(["mask_token"] * config.is_so("use_mask_token", False))
        if sizes["e"] != sizes["d"] or "mapping" in family.widens:  # ALBERT always has it
            bias = not (self.is_narrow or "embed_proj" in family.widens)
            self._project("in", sizes["e"], sizes["d"], bias=bias)
        shared = {*family.of_layers, *(each.rpartition(".")[2] for each in family.shared)}
        self._fields(sorted(shared & (_read(family, config) | {*KNOWN})), dot)

    def _of_distances(self, family: Family) -> None:
        """Set the sizes of tables of distances: of DeBERTa, and of patches of an image."""
        if family.shared and (far := distances(self.config)) is not None:
            rows = 2 * (min(far.span, self.n) if far.is_first else far.span)
            self.sizes |= {"rel": far.span, "span": rows}
        if "plane" in family.own.values():
            across = self._size("image_size") // self._size("patch_size")
            self.sizes["plane"] = (2 * across - 1) ** 2 + 3  # of the class token

    def _tables(self, family: Family, dot: str) -> None:
        """Add the tables of tokens of a side: of both sides, its own, or both."""
        is_common = not self.config.says("tgt_vocab_size")
        is_common = self.config.is_so("share_encoder_decoder_embeddings", is_common)
        is_tied = is_common and self.config.is_so("tie_word_embeddings", True)
        if family.settings["block"] == DECODER and not (is_common and self.family.decoder):
            self.sizes["v"] = self._size(
                "decoder_vocab_size", "tgt_vocab_size", default=self._of("v")
            )
        if family.tokens and is_common and (family is self.family or not self.family.tokens):
            self._fields(["W_E"])
        if " shared" in family.tokens and not is_tied:
            self._fields(["W_E"], dot)

    def _begin(self, family: Family, name: str, dot: str) -> None:
        """Add a tensor that precedes the layers of a side."""
        if name == "E":
            patch = self._size("patch_size")
            pairs = [("image_size", "patch_size")] * 2
            if family.convolutions:
                pairs = [("num_mel_bins", "frequency_stride"), ("max_length", "time_stride")]
            count = prod((self._size(side) - patch) // self._size(step) + 1 for side, step in pairs)
            is_there = "more_tokens" in family.begins
            more = int(self.config.whole("num_register_tokens", 1)) if is_there else 0
            n = count + ("class_token" in family.begins) + more
            self.sizes |= {"n": n, "more": more}
            if self.load.tokens not in (None, n):
                raise InputError(f"--tokens {self.load.tokens}: this model has {n} of them")
            channels = 1 if family.convolutions else self._of("channels")
            self._project("E", channels * patch**2, self.d, count, bias="b_E" in family.begins)
        elif name == "P" and (not family.sinusoids or family.begins["P"].endswith("weight")):
            rows = self.n - self.config.says("num_register_tokens") * self.sizes.get("more", 0)
            if "E" not in family.begins:
                rows = self._of(f"{family.settings['block']}.positions")
                pads = self.config.whole(family.pads, 1) + 1 if family.sinusoids else 0
                rows += pads if family.pads else family.offset or 0  # others are among them
            self._add("parameters", f"{dot}P", rows, self.sizes["d" if self.is_narrow else "e"])
        elif name not in ("P", "b_E") and family.begins[name]:
            self._fields([name])

    def _layer(self, family: Family, layer: int) -> str:
        """Add a layer: what mixes tokens, normalizations and a feed-forward part; return its kind.

        Its kind is the end of the name of its part.
        """
        config = self.config
        attends, feeds, mixing, routes, biases = (
            family.of(name, config, layer)
            for name in ("attends", "feeds", "mixing", "routes", "biases")
        )
        reach = family.setting("reach", config, layer)
        window = 2 * reach + 1 if reach else family.setting("window", config, layer)
        is_routed = feeds and (self._is_routed(family, layer) if routes is None else routes)
        self.sizes["inner"] = self._inner(family, layer) if feeds and not is_routed else 0
        if attends:
            self._attend(family, layer, window, biases)
        read = _read(family, config, layer)
        if mixing is not None:
            self._mix(mixing)
            if not attends:
                self._fields(["W_O"], bias="b_O" in read)
        self._own(family, read - {*KNOWN, *family.shared, *family.of_layers})
        self._vectors(*family.gains(config, layer))
        if is_routed:
            self._experts(family, biases)
        elif feeds:
            self._feed_forward("", self.sizes["inner"], biases, family)
        kind = f", window {window}" if window and attends else ""
        return kind + ", experts" * bool(is_routed) + ", without attention" * (not attends)

    def _own(self, family: Family, read: set[str]) -> None:
        """Add what equations of a layer read beside the usual fields; some read products of two."""
        own, known = family.own.values(), _shapes()[1]
        split = {name for name in read if name[:2] == "W_" and f"{name}_a" in own}
        read = read - split | {f"{name}_{end}" for name in split for end in "ab"}
        for name in sorted(read):
            if name in known:
                self._fields([name])
            elif name.startswith("b_") and (weights := f"W{name[1:]}") in known:
                self._add("parameters", name, self._of(known[weights].split(" @ ")[0].split()[-1]))

    def _attend(self, family: Family, layer: int, window: int | None, biases: str) -> None:
        """Add the attention of a layer, or its two."""
        config, n, own = self.config, self.n, {*family.own.values()}
        heads = int(family.setting("heads", config, layer))
        keys = int(family.of("key_heads", config, layer) or heads)
        self.sizes |= {"h": heads, "g": keys, "a": self.d}
        is_causal = family.setting("causal", config)
        is_masked = is_causal or ("reach" in family.settings and window)
        first = 1 if is_causal else (window or 1) // 2 + 1
        hidden = n * n - visible(n, n, window, first) if is_masked else 0
        if "W_UKV" in own:
            self._latent(hidden, biases)
        else:
            width = self._width(heads, layer, window)
            is_of_head = config.get("gating", None) in (True, "per-head")
            wide = self._size("v_head_dim", default=width)
            self.sizes |= {"k": width, "c": wide, "gates": heads * (1 if is_of_head else width)}
            is_own = family.of("sharing", config, layer) is None
            is_one = window is None and config.is_so("attention_k_eq_v", False)
            makes = "QK"[: 1 + is_own] + "V" * (is_own and not is_one)
            is_cached = is_own and family.settings["block"] == DECODER
            for at in ("", "cross.")[: 1 + bool(family.sides)]:
                for each in makes:
                    self._fields([f"W_{each}"], at, bias=each in biases)
                halves = 1 + ("lambda_q1" in own)  # of values, which heads weigh
                self._weigh(at, (heads, n), (width, halves * wide), 0 if at else hidden)
                self._fields(["W_O"], at, bias="O" in biases)
                if is_cached:
                    kept = n if at else min(n, window or n)
                    both = (2, keys, kept, width) if wide == width else (keys, kept, width + wide)
                    self._add("cached", f"{at}K, {at}V", *both)
            self._of_one_size(family, layer, makes)
            self._score_distances(family)
        kinds = self._listed("layer_types") or []
        if kinds[layer : layer + 1] != ["full_attention"]:  # such a layer has no indexer
            self._fields(each for each in family.ignored if each in _shapes()[1])
        own -= set() if family.of("sinks", config, layer) else {"sinks"}
        self._fields(each for each in WITHOUT_EQUATIONS if each in own)

    def _mix(self, sizes: Sizes) -> None:
        """Add what mixes tokens without an attention: of a recurrence, as it goes over tokens."""
        self.sizes |= sizes
        if taps := sizes.get("taps", 0):
            self._step("U_conv", (self.n, sizes["mixed"], taps), (self.n, sizes["mixed"]))
            self._add("cached", "U", taps - 1, sizes["mixed"])
        if rows := sizes.get("rows", 0):
            heads, columns = sizes["h"], sizes["c"]
            work = sizes.get("passes", 2), self.n, heads, rows, columns
            self._step("state", work, (self.n, heads, columns))
            self._add("cached", "state", heads, rows, columns)

    def _score_distances(self, family: Family) -> None:
        """Add the scores of distances of DeBERTa and XLNet, for every row of their tables."""
        far = distances(self.config) if "E_rel" in family.shared else None
        rows = 2 * self.n if "W_rel" in family.own.values() else self.sizes["span"]
        d, h, n = self.d, self.sizes["h"], self.n
        for name in far.kinds if far else "K" * bool(rows):
            if far and far.is_shared:
                self._step(f"{name}_rel", (rows, d, d), (rows, d))
            self._step(f"{'QK'[name == 'Q']} · {name}_rel", (h, n, rows, d // h), (h, n, rows))

    def _latent(self, hidden: int, biases: str) -> None:
        """Add multi-head latent attention: keys and values from a vector that is cached."""
        bias, h, n = self.config.is_so("attention_bias", False), self.sizes["h"], self.n
        self.sizes |= {"k": self._of("plain+turned"), "c": self._of("d_v")}
        if self.config.get("q_lora_rank", None) is not None:
            self._fields(["W_DQ", "gamma_DQ"], bias=bias)
            self.sizes["a"] = self._of("q")
        self._fields(["W_Q"])
        self._fields(["W_DKV", "gamma_DKV"], bias=bias)
        self._fields(["W_UKV"])
        self._weigh("", (h, n), (self.sizes["k"], self.sizes["c"]), hidden)
        self._fields(["W_O"], bias="O" in biases)
        self._add("cached", "C_KV, K_R", n, self._of("latent+turned"))
        if self.config.says("index_topk"):
            pairs = self._of("ih"), n, n
            self._step("index.S", (*pairs, self._of("iw") + 1), pairs)

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

    def _convolve(self, family: Family) -> None:
        """Add the convolutions before the layers of Whisper, or of wav2vec 2.0."""
        if family.widens and family.convolutions:
            self._features()
            return
        convolutions = () if "E" in family.begins else family.convolutions
        for number, (name, stride) in enumerate(convolutions):
            ins, rows = self.d if number else self._of("bands"), self.n * (3 - stride)
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
            self._fields(["masked_frame"])
        kernel, share = self._of("places"), self.d // self._of("groups")
        self._vectors("lengths_P", width=kernel)
        even = 1 - kernel % 2  # one result more, which is left out
        self._add("parameters", "W_P", self.d, share, kernel)
        self._vectors("b_P")
        self._step("P", (self.n + even, self.d, share, kernel), (self.n, self.d))

    def _experts(self, family: Family, biases: str) -> None:
        """Add a router, experts and a shared expert."""
        inner, fields = self._of("m"), family.own.values()
        experts = self._of("x"), family.setting("top_k", self.config)
        self._project("router", self.d, experts[0], bias="b_router" in fields)
        kept = "moe_k", "route_scale", "moe_routed_scaling_factor"
        if any(map(self.config.says, kept)):  # a parameter only there
            self._vectors("b_choice", width=experts[0])
        own = "123" if {"b_13_in_out", "b_13"} & {*fields} else ""
        self._feed_forward("experts.", inner, own, family, experts)
        several = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
        shared = next((self.config.whole(each) for each in several if self.config.get(each, 0)), 0)
        key = next((each for each in _SHARED if self.config.get(each, 0)), "")
        if shared or key:
            inner = self._size(key) if key else inner * shared
            self._feed_forward("shared.", inner, biases, family)
        if "W_sgate" in fields:
            self._project("shared.gate", self.d, 1)

    def _inner(self, family: Family, layer: int) -> int:
        """Return the width of the feed-forward part of a layer; DINOv2 has a ratio."""
        config = self.config
        if family.of("routes", config, layer) is False and "W_s13" in family.own.values():
            return self._size(*_SHARED)  # the shared expert is the only part
        dense = config.count_or_none("prefix_dense_intermediate_size")
        if dense is not None:
            return dense
        if config.is_so("block_auto_adjust_ff_dim", False):  # LFM2
            factor = config.number("block_ffn_dim_multiplier", None) or 1
            inner = int(factor * int(2 * self._size("block_ff_dim", "intermediate_size") / 3))
            multiple = self._size("block_multiple_of")
            return -(-inner // multiple) * multiple
        if key := next(filter(config.says, ("mlp_ratio", "intermediate_multiple_size")), ""):
            inner = int(self.d * config.number(key))
            return (inner * 2 // 3 + 7) // 8 * 8 if family.of("is_gated", config) else inner
        usual = int(said_of(config.get("model_type", None), "inner") or 0) * self.d
        keys = f"{family.settings['block']}_ffn_dim", *_shapes()[0]["f"]
        is_shared = family.of("sharing", config, layer) is not None
        is_wide = is_shared and config.is_so("use_double_wide_mlp", False)
        return self._size(*keys, default=usual) * (1 + is_wide)

    def _width(self, heads: int, layer: int, window: int | None) -> int:
        """Return the width of a head."""
        own = f"per_layer_config.{layer}.head_dim", *(["global_head_dim"] if not window else ())
        if self.d % heads and not any(map(self.config.says, ("head_dim", "d_kv"))):
            where = self.config.place
            raise InputError(f"{where}: {heads} heads do not divide a width of {self.d}")
        return self._size(*own, "head_dim", "d_kv", default=self.d // heads)

    def _of_one_size(self, family: Family, layer: int, makes: str) -> None:
        """Add the gains of normalized queries and keys: one for all heads, or each without bias."""
        for name in family.gains_of_heads(self.config, layer):
            if name[-1] in makes:
                each = "hg"["QK".index(name[-1])] + "*" if family.own_gains == "each" else ""
                self._vectors(name, width=self._of(f"{each}k"))

    def _weigh(self, own: str, rows: tuple[int, int], widths: tuple[int, int], hidden: int) -> None:
        """Add scores, weights and weighed values, for queries of each head."""
        pairs, (d_k, d_v) = (*rows, self.n), widths
        self._step(f"{own}S", (*pairs, d_k), pairs)
        for what in ("results", "weights"):
            self._add(what, f"{own}A", *pairs)
        self._step(f"{own}H", (*pairs, d_v), (*rows, d_v))
        self._add("hidden", f"{own}A", rows[0], hidden)
        self._add("masked", f"{own}S, {own}H", rows[0], hidden, d_k + d_v)

    def _feed_forward(
        self, own: str, inner: int, biases: str, family: Family, experts: tuple[int, ...] = ()
    ) -> None:
        for name in ("1", "3", "2") if family.of("is_gated", self.config) else ("1", "2"):
            ins, outs = (inner, self.d) if name == "2" else (self.d, inner)
            self._project(own + name, ins, outs, bias=name in biases, experts=experts)

    def _outputs(self, head: Head, has_words: bool) -> None:
        """Add the head: what gives logits of words or classes."""
        check_config(self.config, head.asks, self.architecture)
        is_of_classes, known = head.gives == CLASSES, _shapes()[1]
        tensors = {
            name: names.split()[0]
            for name, names in head.tensors.items()
            if self.config.get(head.optional.get(name, ""), True)
        }
        reads = {"all", "last"} - {"last" if "W_pre" in tensors else ""}
        rows = self.n if head.gives in (NEXT, MASKED) or head.reads in reads else 1
        ins = wide = self.sizes["e" if self.is_narrow else "d"]
        self.sizes["labels"] = len(head.labels) or self._labels()
        if head.behind and is_of_classes:
            wide = self._labels() if head.labels else self._size("classifier_proj_size")
            self._project("pre", self.d, wide, bias=True)
        elif "W_pre" in tensors:
            wide = self._hidden(head, tensors["W_pre"], ins)
            name = "pool" if head.gives == POOLED else "pre"
            self._project(name, ins, wide, rows, bias="b_pre" in tensors)
            self._vectors(*(n for n in ("gamma_pre", "beta_pre") if n in tensors), width=wide)
        if "W_probe" in tensors:  # a learned query, which all tokens answer
            heads, both = self._size("num_attention_heads"), 2 * self.n + ("W_pool" in tensors)
            self.sizes["inner"] = self._inner(self.family, 0)
            self._weigh("pool.", (heads, 1), (self.d // heads, self.d // heads), 0)
            self._step("pool.QKV", (both, self.d, self.d), (both, self.d))
        for name in (name for name in tensors if name in known):
            self._fields([name], bias=f"b_{name[2:]}" in tensors)
        if "W_out" not in tensors:
            return
        is_of_words = "lm_head" in tensors["W_out"] or not is_of_classes
        outs = self._of("v" if is_of_words else "labels")
        usual = not said_of(self.config.get("model_type"), "head")
        is_tied = head.is_tied and has_words and self.config.is_so("tie_word_embeddings", usual)
        if not is_tied:
            self._add("parameters", "W_out", wide, outs)
        if tensors.get("b_out", "").endswith(".bias"):  # others are buffers
            both = not is_tied and head.gives == MASKED and " " in head.tensors["b_out"]  # of BERT
            self._add("parameters", "b_out", *[2] * both, outs)
        self._step("out", (rows, wide, outs), (rows, outs))

    def _hidden(self, head: Head, name: str, d: int) -> int:
        """Return the width of the hidden layer of a head, whose weights have this name."""
        if head.gives == MASKED:
            return self._size("output_embedding_size", default=self.sizes["e"])
        if head.gives != POOLED:
            return d
        projected = "projection_dim", "projection_size", "embedding_dim"
        return self._size(*(("pooler_output_size",) if "pooler" in name else projected), default=d)

    def _labels(self) -> int:
        names = self.config.get("id2label", None)
        return len(names) if isinstance(names, dict) else self._size("num_labels", default=2)
