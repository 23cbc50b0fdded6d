"""Counts of a model from its config alone: the matrices of its family, and what a pass takes."""

from collections import Counter

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.reading.models.families import COUNTED, family_of
from attncalc.reading.models.family import CLASSES, Family, Head, check_config
from attncalc.reading.models.folder import Config
from attncalc.studies.counting import MOST, Count, Load, Term, visible

USUAL_TOKENS = 1024
MOST_LAYERS = 100_000
_D, _WORDS = ("hidden_size", "d_model", "n_embd"), ("vocab_size",)
_INNER = "intermediate_size", "d_ff", "n_inner"
_PLACES = "max_position_embeddings", "n_positions"
_WIDTHS = {"qwen3": 128, "gemma2": 256}
"""The width of a head, if the config has none; that of others follows from the heads."""
_UNTIED = ("llama", "mistral", "qwen2", "qwen3", "deepseek_v2", "deepseek_v3")
"""The types whose head has its own weights, if the config does not say."""


def count_config(config: Config, load: Load) -> Count:
    """Return the counts of a model, from its config.

    Parameters
    ----------
    config
        Its config; its architecture decides which head it has.
    load
        How it is used: without tokens, 1024 of them, or the patches of an image.

    Raises
    ------
    InputError
        When the family or the head is not known, or a size is missing or wrong.
    """
    load.check()
    family = family_of(config, COUNTED)
    if family is None:
        raise config.wrong("model_type", config.get("model_type"), "a family that attncalc counts")
    check_config(config, family.asks, family.title)
    return _Counting(config, family, load).count()


class _Counting:
    """Collects the terms of a model."""

    def __init__(self, config: Config, family: Family, load: Load) -> None:
        self.config, self.family, self.load = config, family, load
        self.n = load.tokens or USUAL_TOKENS
        self.part, self.layers = "", 0
        self.terms: dict[str, list[Term]] = {name: [] for name in Count.TERMS}
        names = config.get("architectures", None) or ["Model"]
        if not isinstance(names, list) or not isinstance(names[0], str):
            raise config.wrong("architectures", names, "a list of names")
        self.architecture = names[0]
        self.d = self._size(_D)

    def count(self) -> Count:
        last, head = self._head()
        for family in (self.family, last)[: 1 + (last is not self.family)]:
            self._side(family)
        self._in("head")
        if head is not None:
            self._outputs(head, bool(last.tokens))
        if self._has_pooler(head):
            self._project("pool", self.d, self.d, 1, bias=True)
        if self.architecture.endswith("ForPreTraining"):
            self._project("next", self.d, 2, 1, bias=True)
        window = last.said["window"](self.config, 0) if "window" in last.said else None
        terms = {name: tuple(each) for name, each in self.terms.items()}
        return Count(self.load._replace(tokens=self.n), self.d, window, **terms)

    def _head(self) -> tuple[Family, Head | None]:
        """Return the last side of the model, and its head."""
        name, last = self.architecture, self.family.decoder or self.family
        for side in (last, self.family):
            for end, head in side.heads.items():
                if name.endswith(end) and "Double" not in name:
                    return side, head
        others = "Head", "Encoder", "Decoder"
        if not name.endswith("Model") or any(each in name for each in others):
            raise self.config.wrong("architectures", name, "a model or known head")
        return last, None

    def _has_pooler(self, head: Head | None) -> bool:
        pools = self.family.title == "BERT" or self.family.takes == "image"
        return pools and (head is None or self.architecture.endswith("ForPreTraining"))

    def _in(self, part: str, layers: int = 0) -> None:
        self.part, self.layers = part, layers

    def _add(self, what: str, name: str, *factors: int) -> None:
        self.terms[what].append(Term(self.part, name, factors, self.layers))

    def _vectors(self, *names: str, width: int = 0) -> None:
        for name in names:
            self._add("parameters", name, width or self.d)

    def _step(self, name: str, work: tuple[int, ...], result: tuple[int, ...]) -> None:
        self._add("multiply_adds", name, *work)
        self._add("results", name, *result)

    def _project(
        self, name: str, ins: int, outs: int, rows: int = 0, *, bias: bool = False, step: str = ""
    ) -> None:
        """Add a projection: its weights, its bias and its step."""
        own, dot, letter = name.rpartition(".")
        self._add("parameters", f"{own}{dot}W_{letter}", ins, outs)
        if bias:
            self._add("parameters", f"{own}{dot}b_{letter}", outs)
        rows = rows or self.n
        self._step(step or name, (rows, ins, outs), (rows, outs))

    def _size(self, keys: tuple[str, ...], default: int = 0) -> int:
        found = (self.config.count_or_none(key) for key in keys)
        size = next(filter(None, found), default)
        if not size:
            raise InputError(
                f"{self.config.place}: it has no {' or '.join(map(quoted, keys))}, which its "
                "model needs"
            )
        if size > MOST:
            raise InputError(f"{self.config.place}: a size of {size:.0e}: at most {MOST:,}")
        return size

    def _side(self, family: Family) -> None:
        """Add an encoder or a decoder: its embedding, its layers and its last normalisation."""
        side = str(family.fixed["block"])
        own, dot = (f"{side} ", f"{side}.") if self.family.decoder else ("", "")
        heads = family.said["heads"](self.config, 0)
        self._in(f"{own}embedding")
        if family.tokens and (family is self.family or not self.family.tokens):
            self._add("parameters", "W_E", self._size(_WORDS), self.d)
        self._begin(family, dot)
        for name in family.shared:
            buckets = self._size(("relative_attention_num_buckets",), 32)
            self._add("parameters", dot + name.rpartition(".")[2], buckets, heads)
        for (window, is_routed), layers in self._kinds(family).items():
            kinds = f"window {window}" if window else "", "experts" if is_routed else ""
            self._in(", ".join(filter(None, (f"{own}layers", *kinds))), layers)
            self._layer(family, heads, window, is_routed=is_routed)
        self._in(f"{own}end")
        self._vectors(*family.ends)

    def _begin(self, family: Family, dot: str) -> None:
        """Add what precedes the layers of a side."""
        side = str(family.fixed["block"])
        for number, (name, stride) in enumerate(family.convolutions):
            ins = self.d if number else self._size(("num_mel_bins",))
            rows = self.n * (1 if stride > 1 else 2)
            self._project(name.rpartition(".")[2], 3 * ins, self.d, rows, bias=True)
        places = {"encoder": "max_source_positions", "decoder": "max_target_positions"}[side]
        for name in family.begins:
            if name == "E":
                size, patch = self._size(("image_size",)), self._size(("patch_size",))
                count = (size // patch) ** 2
                if self.load.tokens not in (None, count + 1):
                    given = self.load.tokens
                    raise InputError(f"--tokens {given}: this model has {count + 1} of them")
                self.n = count + 1
                channels = self._size(("num_channels",), 3)
                self._project("E", channels * patch**2, self.d, count, bias=True)
            elif name == "P":
                rows = self.n if "E" in family.begins else self._size((places, *_PLACES))
                self._add("parameters", f"{dot}P", rows + family.offset, self.d)
            elif name == "W_type":
                self._add("parameters", name, self._size(("type_vocab_size",)), self.d)
            elif name != "b_E":
                self._vectors(name)

    def _kinds(self, family: Family) -> dict[tuple[int | None, bool], int]:
        """Return how many layers have each window, with or without routed experts."""
        count, window = family.count(self.config, 0), family.said.get("window")
        if count > MOST_LAYERS:
            raise InputError(f"{self.config.place}: {count:,} layers: at most {MOST_LAYERS:,}")
        has_experts = self.config.get("n_routed_experts", None) is not None
        dense = self.config.whole("first_k_dense_replace", 0) if has_experts else count
        return Counter(
            (window(self.config, layer) if window else None, layer >= dense)
            for layer in range(count)
        )

    def _layer(self, family: Family, heads: int, window: int | None, *, is_routed: bool) -> None:
        fixed, biases = family.fixed, family.biases(self.config, 0)
        seen = visible(self.n, self.n, window) if fixed.get("causal") else self.n**2
        if self.config.says("kv_lora_rank"):
            self._latent(heads, seen)
        else:
            for own in ("", "cross.") if family.sides else ("",):
                rows = min(self.n, window or self.n) if fixed.get("causal") else 0
                self._attention(own, heads, biases, self.n**2 if own else seen, rows)
        width = self._width(heads)
        if "qk_norm" in fixed:
            self._vectors("gamma_Q", "gamma_K", width=width)
        norms = 4 if fixed["norm"] == "around" else 3 if family.sides else 2
        kinds = ("gamma", "beta") if fixed["normalization"] == "layer" else ("gamma",)
        self._vectors(*(f"{each}_{i + 1}" for i in range(norms) for each in kinds))
        is_gated = family.is_gated(self.config, 0)
        inner = self._size((f"{fixed['block']}_ffn_dim", *_INNER), 4 * self.d)
        if is_routed:
            self._experts(biases)
        else:
            self._feed_forward("", inner, biases, is_gated=is_gated)

    def _width(self, heads: int) -> int:
        """Return the width of a head."""
        of_type = _WIDTHS.get(self.config.get("model_type"), 0)
        found = self.config.count_or_none("head_dim") or self.config.count_or_none("d_kv")
        if not (found or of_type) and self.d % heads:
            raise InputError(
                f"{self.config.place}: {heads} heads do not divide a width of {self.d}"
            )
        return found or of_type or self.d // heads

    def _attention(self, own: str, heads: int, biases: str, seen: int, cached: int) -> None:
        """Add an attention with its projections; `seen` pairs are not masked."""
        width = self._width(heads)
        kv = self._size(("num_key_value_heads",), heads)
        for name, outs in (("Q", heads), ("K", kv), ("V", kv)):
            self._project(own + name, self.d, outs * width, bias=name in biases)
        self._weigh(own, heads, width, width, seen)
        self._project(f"{own}O", heads * width, self.d, bias="O" in biases)
        if cached:
            self._add("cached", f"{own}K, {own}V", 2, kv, self.n if own else cached, width)

    def _weigh(self, own: str, heads: int, d_k: int, d_v: int, seen: int) -> None:
        """Add scores, weights and weighed values."""
        n = self.n
        self._step(f"{own}S", (heads, n, n, d_k), (heads, n, n))
        for what in ("results", "weights"):
            self._add(what, f"{own}A", heads, n, n)
        self._step(f"{own}H", (heads, n, n, d_v), (heads, n, d_v))
        self._add("hidden", f"{own}A", heads, n * n - seen)
        self._add("masked", f"{own}S, {own}H", heads, n * n - seen, d_k + d_v)

    def _latent(self, heads: int, seen: int) -> None:
        """Add multi-head latent attention: keys and values from a vector that is cached."""
        rank, turned, plain, d_v = (
            self._size((key,))
            for key in ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
        )
        has_bias = self.config.is_so("attention_bias", False)
        queries, ins = heads * (plain + turned), self.config.count_or_none("q_lora_rank")
        if ins:
            self._project("DQ", self.d, ins, bias=has_bias)
            self._vectors("gamma_DQ", width=ins)
        self._project("UQ" if ins else "Q", ins or self.d, queries)
        self._project("DKV", self.d, rank + turned, bias=has_bias)
        self._vectors("gamma_DKV", width=rank)
        self._project("UKV", rank, heads * (plain + d_v))
        self._weigh("", heads, plain + turned, d_v, seen)
        self._project("O", heads * d_v, self.d, bias=has_bias)
        self._add("cached", "C_KV, K_R", self.n, rank + turned)

    def _feed_forward(self, own: str, inner: int, biases: str, *, is_gated: bool) -> None:
        for name, ins, outs in (("1", self.d, inner), ("3", self.d, inner), ("2", inner, self.d)):
            if is_gated or name != "3":
                has_bias = name in biases
                self._project(own + name, ins, outs, bias=has_bias, step=f"{own}F_{name}")

    def _experts(self, biases: str) -> None:
        """Add a router, its experts, of which each token uses some, and those that all share."""
        experts, used = map(self.config.count, ("n_routed_experts", "num_experts_per_tok"))
        inner, shared = (
            self.config.count("moe_intermediate_size"),
            self.config.count_or_none("n_shared_experts"),
        )
        self._project("router", self.d, experts)
        for name, ins, outs in (("1", self.d, inner), ("3", self.d, inner), ("2", inner, self.d)):
            self._add("parameters", f"experts.W_{name}", experts, ins, outs)
            self._step(f"experts.F_{name}", (self.n, used, ins, outs), (self.n, used, outs))
        if shared:
            self._feed_forward("shared.", shared * inner, biases, is_gated=True)

    def _outputs(self, head: Head, has_words: bool) -> None:
        """Add the head: what gives logits of words or classes."""
        d, is_of_classes = self.d, head.gives == CLASSES
        tensors = {name: names[0] for name, names in head.tensors.items()}
        is_each = not is_of_classes or head.reads == "all"
        rows = self.n if is_each or (head.reads == "last" and "W_pre" not in tensors) else 1
        if head.behind:
            width = self.config.count("classifier_proj_size")
            self._project("pre", d, width, self.n, bias=True)
            d = width
        if "W_pre" in tensors:
            self._project("pre", d, d, rows, bias=True)
            self._vectors(*(name for name in ("gamma_pre", "beta_pre") if name in tensors))
        outs = self._labels(tensors["W_out"]) if is_of_classes else self._size(_WORDS)
        usual = self.config.get("model_type") not in _UNTIED
        if not (head.is_tied and has_words and self.config.is_so("tie_word_embeddings", usual)):
            self._add("parameters", "W_out", d, outs)
        if tensors.get("b_out", "").endswith(".bias"):  # others are buffers
            self._add("parameters", "b_out", outs)
        self._step("out", (rows, d, outs), (rows, outs))

    def _labels(self, tensor: str) -> int:
        if "seq_relationship" in tensor:
            return 2
        names = self.config.get("id2label", None)
        return len(names) if isinstance(names, dict) else self._size(("num_labels",), 2)
