"""Counts of a model from its config: the matrices of each family, and the cost of a pass."""

from attncalc.base.errors import InputError
from attncalc.reading.models.families import family_of
from attncalc.reading.models.family import check_config
from attncalc.reading.models.folder import Config
from attncalc.studies.counting import Count, Load, Term

_USUAL_TOKENS = 1024
_ROTARY = ("llama", "mistral", "qwen2", "qwen3", "gemma2")


def count_config(config: Config, load: Load) -> Count:
    """Return the counts of a model, from its config.

    Parameters
    ----------
    config
        Its config; the architecture determines its head.
    load
        Its use; without tokens, 1024 of them, or the patches of an image.

    Raises
    ------
    InputError
        If the family or the head is unknown, or a size is missing or wrong.
    """
    load.check()
    family = family_of(config)
    if family is None:
        raise config.wrong("model_type", config.get("model_type"), "a family that attncalc opens")
    check_config(config, family.asks, family.title)
    return _Counting(config, load).count()


class _Counting:
    """Collects the terms of a model."""

    def __init__(self, config: Config, load: Load) -> None:
        self.config, self.kind = config, config.get("model_type")
        self.n = load.tokens or _USUAL_TOKENS
        self.load = load
        self.part, self.layers = "", 0
        self.parameters: list[Term] = []
        self.work: list[Term] = []
        self.results: list[Term] = []
        self.weights: list[Term] = []
        self.cached: list[Term] = []
        names = config.get("architectures", None) or ["Model"]
        if not isinstance(names, list) or not isinstance(names[0], str):
            raise config.wrong("architectures", names, "a list of names")
        self.architecture = names[0]

    def count(self) -> Count:
        if self.kind in _ROTARY:
            self._rotary()
        elif self.kind in ("bart", "mbart", "whisper", "t5", "mt5"):
            self._two_sided()
        else:
            {"gpt2": self._gpt2, "bert": self._bert, "vit": self._vit}[self.kind]()
        terms = self.parameters, self.work, self.results, self.weights, self.cached
        return Count(self.load._replace(tokens=self.n), *map(tuple, terms))

    def _in(self, part: str, layers: int = 0) -> None:
        self.part, self.layers = part, layers

    def _matrix(self, name: str, *shape: int) -> None:
        self.parameters.append(Term(self.part, name, shape, self.layers))

    def _norm(self, name: str, width: int, *, bias: bool = True) -> None:
        self._matrix(f"gamma_{name}", width)
        if bias:
            self._matrix(f"beta_{name}", width)

    def _step(self, name: str, work: tuple[int, ...], result: tuple[int, ...]) -> None:
        self.work.append(Term(self.part, name, work, self.layers))
        self.results.append(Term(self.part, name, result, self.layers))

    def _linear(self, name: str, ins: int, outs: int, rows: int, *, bias: bool = True) -> None:
        """Add a projection: its weights, its bias and its step."""
        self._matrix(f"W_{name}", ins, outs)
        if bias:
            self._matrix(f"b_{name}", outs)
        self._step(name, (rows, ins, outs), (rows, outs))

    def _attention(
        self, d: int, heads: int, *, own: str = "", kv: int = 0, width: int = 0,
        biases: str = "QKVO", cached: bool = False, keys: int = 0,
    ) -> None:  # fmt: skip
        """Add an attention with its projections."""
        n, m = self.n, keys or self.n
        kv, width = kv or heads, width or d // heads
        for name, rows, outs in (("Q", n, heads), ("K", m, kv), ("V", m, kv)):
            self._linear(own + name, d, outs * width, rows, bias=name in biases)
        self._step(f"{own}S", (heads, n, m, width), (heads, n, m))
        self.weights.append(Term(self.part, f"{own}A", (heads, n, m), self.layers))
        self.results.append(self.weights[-1])
        self._step(f"{own}H", (heads, n, m, width), (heads, n, width))
        self._linear(f"{own}O", heads * width, d, n, bias="O" in biases)
        if cached:
            self.cached.append(Term(self.part, f"{own}K, {own}V", (2, kv, m, width), self.layers))

    def _feed_forward(self, d: int, inner: int, *, bias: bool = True, gate: bool = False) -> None:
        for name, ins, outs in (("gate", d, inner), ("1", d, inner), ("2", inner, d)):
            if gate or name != "gate":
                self._linear(name, ins, outs, self.n, bias=bias)

    def _size(self, key: str, default: int = 0) -> int:
        found: int = self.config.count_or_none(key) or default or self.config.count(key)
        return found

    def _labels(self) -> int:
        names = self.config.get("id2label", None)
        return len(names) if isinstance(names, dict) else self._size("num_labels", 2)

    def _ends(self, *ends: str) -> bool:
        return self.architecture.endswith(ends)

    def _split(self, d: int, heads: int) -> int:
        if d % heads:
            raise InputError(f"{self.config.place}: {heads} heads do not divide a width of {d}")
        return d // heads

    def _head_of_words(self, d: int, words: int, *, tied: bool, bias: bool = False) -> None:
        if not tied:
            self._matrix("W_out", d, words)
        if bias:
            self._matrix("b_out", words)
        self._step("out", (self.n, d, words), (self.n, words))

    def _heads_of_texts(self, d: int, words: int, *, tied: bool) -> None:
        """Add the head of a decoder without an encoder."""
        self._in("head")
        if self._ends("LMHeadModel", "ForCausalLM"):
            self._head_of_words(d, words, tied=self.config.is_so("tie_word_embeddings", tied))
        elif self._ends("ForSequenceClassification", "ForTokenClassification"):
            own = self._ends("ForTokenClassification")
            self._linear("out", d, self._labels(), self.n, bias=own)
        else:
            self._refuse_head()

    def _refuse_head(self) -> None:
        others = "Head", "Encoder", "Decoder"
        if not self._ends("Model") or any(each in self.architecture for each in others):
            raise self.config.wrong("architectures", self.architecture, "a model or known head")

    def _gpt2(self) -> None:
        d, words = self._size("n_embd"), self._size("vocab_size")
        heads = self._size("n_head")
        self._split(d, heads)
        self._in("embedding")
        self._matrix("W_E", words, d)
        self._matrix("P", self._size("n_positions"), d)
        self._in("layers", self._size("n_layer"))
        self._norm("1", d)
        self._attention(d, heads, cached=True)
        self._norm("2", d)
        self._feed_forward(d, self._size("n_inner", 4 * d))
        self._in("end")
        self._norm("out", d)
        self._heads_of_texts(d, words, tied=True)

    def _rotary(self) -> None:
        """Count Llama and models with the same structure."""
        d, words = self._size("hidden_size"), self._size("vocab_size")
        heads = self._size("num_attention_heads")
        width = {"qwen3": 128, "gemma2": 256}.get(self.kind) or d // heads
        width = self._size("head_dim", width)
        kv = self._size("num_key_value_heads", heads)
        has_bias = self.config.is_so("attention_bias", False)
        biases = "QKV" if self.kind == "qwen2" else "QKVO" if has_bias else ""
        self._in("embedding")
        self._matrix("W_E", words, d)
        self._in("layers", self._size("num_hidden_layers"))
        for number in range(1, 5 if self.kind == "gemma2" else 3):
            self._norm(str(number), d, bias=False)
        self._attention(
            d, heads, kv=kv, width=width, cached=True,
            biases="" if self.kind == "mistral" else biases,
        )  # fmt: skip
        if self.kind == "qwen3":
            self._norm("Q", width, bias=False)
            self._norm("K", width, bias=False)
        bias = self.kind == "llama" and self.config.is_so("mlp_bias", False)
        self._feed_forward(d, self._size("intermediate_size"), bias=bias, gate=True)
        self._in("end")
        self._norm("out", d, bias=False)
        if self._ends("ForTokenClassification", "ForSequenceClassification", "ForCausalLM"):
            self._heads_of_texts(d, words, tied=self.kind == "gemma2")
        else:
            self._refuse_head()

    def _encoder_layers(self, d: int, biases: str = "QKVO") -> None:
        heads = self._size("num_attention_heads")
        self._split(d, heads)
        self._in("layers", self._size("num_hidden_layers"))
        self._attention(d, heads, biases=biases)
        self._norm("1", d)
        self._feed_forward(d, self._size("intermediate_size"))
        self._norm("2", d)

    def _bert(self) -> None:
        d, words = self._size("hidden_size"), self._size("vocab_size")
        self._in("embedding")
        self._matrix("W_E", words, d)
        self._matrix("P", self._size("max_position_embeddings"), d)
        self._matrix("W_type", self._size("type_vocab_size"), d)
        self._norm("E", d)
        self._encoder_layers(d)
        self._in("head")
        if not self._ends("ForMaskedLM", "ForTokenClassification"):
            self._linear("pool", d, d, 1)
        if self._ends("ForMaskedLM", "ForPreTraining"):
            self._linear("pre", d, d, self.n)
            self._norm("pre", d)
            tied = self.config.is_so("tie_word_embeddings", True)
            self._head_of_words(d, words, tied=tied, bias=True)
        if self._ends("ForPreTraining", "ForNextSentencePrediction"):
            self._linear("next", d, 2, 1)
        elif self._ends("ForTokenClassification", "ForSequenceClassification"):
            rows = self.n if self._ends("ForTokenClassification") else 1
            self._linear("out", d, self._labels(), rows)
        elif not self._ends("ForMaskedLM"):
            self._refuse_head()

    def _vit(self) -> None:
        d, side, patch = (self._size(key) for key in ("hidden_size", "image_size", "patch_size"))
        channels = self._size("num_channels", 3)
        patches = (side // patch) ** 2
        if self.load.tokens not in (None, patches + 1):
            raise InputError(f"--tokens {self.load.tokens}: this model has {patches + 1} of them")
        self.n = patches + 1
        self._in("embedding")
        self._linear("E", channels * patch * patch, d, patches)
        self._matrix("class_token", d)
        self._matrix("P", self.n, d)
        self._encoder_layers(d, "QKVO" if self.config.is_so("qkv_bias", True) else "O")
        self._in("head")
        self._norm("out", d)
        if self._ends("ForImageClassification"):
            self._linear("out", d, self._labels(), 1)
        else:
            self._refuse_head()
            self._linear("pool", d, d, 1)

    def _two_sided(self) -> None:
        is_t5 = self.kind in ("t5", "mt5")
        d, words = self._size("d_model"), self._size("vocab_size")
        self._in("embedding")
        self._matrix("W_E", words, d)
        for side in ("encoder", "decoder"):
            (self._side_of_t5 if is_t5 else self._side_of_bart)(side, d)
        self._in("head")
        if self._ends("ForConditionalGeneration"):
            tied = self.config.is_so("tie_word_embeddings", True)
            self._head_of_words(d, words, tied=tied)
        else:
            self._refuse_head()

    def _side_of_bart(self, side: str, d: int) -> None:
        is_whisper = self.kind == "whisper"
        heads = self._size(f"{side}_attention_heads")
        self._split(d, heads)
        self._in(f"{side} embedding")
        if is_whisper:
            key = "max_source_positions" if side == "encoder" else "max_target_positions"
            self._matrix(f"{side}.P", self._size(key), d)
            if side == "encoder":
                self._linear("conv1", 3 * self._size("num_mel_bins"), d, 2 * self.n)
                self._linear("conv2", 3 * d, d, self.n)
        else:
            self._matrix(f"{side}.P", self._size("max_position_embeddings") + 2, d)
            self._norm("E", d)
        biases = "QVO" if is_whisper else "QKVO"
        self._in(f"{side} layers", self._size(f"{side}_layers"))
        for own in ("", "cross.") if side == "decoder" else ("",):
            self._attention(d, heads, own=own, biases=biases, cached=side == "decoder")
            self._norm(f"{own}1", d)
        self._feed_forward(d, self._size(f"{side}_ffn_dim"))
        self._norm("2", d)
        if self.kind != "bart":
            self._in(f"{side} end")
            self._norm("out", d)

    def _side_of_t5(self, side: str, d: int) -> None:
        heads, width = self._size("num_heads"), self._size("d_kv")
        self._in(side)
        self._matrix(f"{side}.rel_bias", self._size("relative_attention_num_buckets", 32), heads)
        count = self._size("num_layers")
        count = self._size("num_decoder_layers", count) if side == "decoder" else count
        self._in(f"{side} layers", count)
        for own in ("", "cross.") if side == "decoder" else ("",):
            is_cached = side == "decoder"
            self._attention(d, heads, own=own, width=width, biases="", cached=is_cached)
            self._norm(f"{own}1", d, bias=False)
        gate = str(self.config.get("feed_forward_proj", "relu")).startswith("gated")
        self._feed_forward(d, self._size("d_ff"), bias=False, gate=gate)
        self._norm("2", d, bias=False)
        self._in(f"{side} end")
        self._norm("out", d, bias=False)
