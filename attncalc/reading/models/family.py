"""A family of models: the fields of its tensors and of the keys of a config.

A family is data. The names that all families share are in `names`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.reading.models.folder import MISSING, Config
from attncalc.reading.models.names import table

Said = Callable[[Config, int], Any]
"""Returns the value of a field in a config, for a layer from 0."""


def value_of(given: Any, config: Config, layer: int = 0) -> Any:
    """Return a value of a row: a constant, or what a config says."""
    return given(config, layer) if callable(given) else given


ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "quick_gelu": "gelu-quick",
    "relu": "relu",
    "relu2": "relu2",
    "silu": "silu",
    "swish": "silu",
}


_OF_ATTENTIONS = (
    "scale window softcap positions qk_norm qk_eps rope_base rope_scaling rope_dims rope_pairing"
)
"""The settings of a layer that only an attention reads."""
_WORDS = {"None": None, "True": True, "False": False}
USUAL, FAIRSEQ = "usual", "fairseq"
NEXT, MASKED, CLASSES, POOLED = "next", "masked", "classes", "pooled"
"""The output of a head: the next token, the masked token, classes, or a vector."""


@dataclass(frozen=True)
class Head:
    """The head of an architecture, after its layers.

    tensors: its tensors, by field: of several names, separated by spaces, the first existing one
        counts. {} is the prefix of the names of layers.
    gives: the meaning of its output: NEXT, MASKED, CLASSES or POOLED.
    reads: the tokens that it reads: "last", "first", "mean" or "all".
    settings: its other fields, as in Family.
    is_tied: whether the table of tokens may be its weights.
    shrinks: the factor of its weights.
    behind: the weights and the bias of a projection before it, without an activation in between,
        if they exist.
    asks: as in Family.
    labels: the names of its classes, if they do not come from the config.
    optional: as in Family.
    stops: returns the position of the token that it reads, of token ids; None for the last one that
        is not padding.
    beside: what its class has and it does not read, as in shapes.txt.
    is_read: whether it is more than counted.
    """

    tensors: Mapping[str, str]
    gives: str = NEXT
    reads: str = "last"
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_tied: bool = False
    shrinks: Any = 1
    behind: tuple[str, ...] = ()
    asks: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    optional: Mapping[str, str] = field(default_factory=dict)
    stops: Callable[[Config, Sequence[int]], int] | None = None
    beside: tuple[str, ...] = ()
    is_read: bool = True


_NORMS = {"around": 4, "pre-second": 1}
"""The number of normalizations of a layer by its place; 2 for others, 3 with cross-attention."""
WITHOUT_EQUATIONS = ("sinks", "rel_bias", "lambda_1", "lambda_2")
"""Fields of some families alone that no equation of theirs reads."""
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
"""The keys of the number of layers."""
SPAN = ("start", "end")
"""The classes of a token in question answering, each of whose scores is compared among tokens."""
_OF_SPANS = Head(
    {"W_out": "qa_outputs.weight", "b_out": "qa_outputs.bias"}, CLASSES, "all", labels=SPAN
)
USUAL_HEADS = {
    "ForQuestionAnswering": _OF_SPANS,
    "ForQuestionAnsweringSimple": _OF_SPANS,
    "ForMultipleChoice": Head(
        {
            "W_pre": "{}pooler.dense.weight {}pooler.weight",
            "b_pre": "{}pooler.dense.bias {}pooler.bias",
            "W_out": "classifier.weight",
            "b_out": "classifier.bias",
        },
        CLASSES,
        "first",
        labels=("this choice",),
    ),
}
"""Heads of all families, unless a family has its own."""


@dataclass(frozen=True)
class Family:
    """A family of models, as a table from names to fields of a problem.

    Of `count`, `settings`, `factor`, `remarks`, `biases`, `is_gated`, `key_heads`, `fused`,
    `stored`, `attends`, `feeds`, `routes` and `mixing`, each value is constant, or read from a
    config (`value_of`).

    title: its name.
    types: the `model_type` of its configs.
    layers: the prefix of the tensors of a layer, its place as {}: the first existing one counts. A
        layer with several prefixes has them separated by spaces.
    count: the number of layers.
    settings: the fields that are no tensors; one that is None has its usual value.
    tokens: the table of embeddings; "" if there is none. Of several names, separated by spaces, the
        first existing one counts; a tied head has the last one.
    begins: the tensors before the layers, by field, as in tokens; the name of a gain of ones is "".
    optional: the key of each of its tensors that is missing where a config says false, 0 or null.
    ends: the tensors after the layers, by field, as in begins.
    outputs: its possible heads, by the end of the architecture's name.
    places: the field of `begins` with a row for each position; the first ones are used.
    longest: the largest number of tokens, if transformers reads no more, or others otherwise.
    skips: whether positions count only the tokens that are not padding.
    turns: the table of sines and cosines that rope turns by, with base 10000, if it is stored.
    offset: the number of rows of positions before that of the first token; None for those up to
        the id of padding.
    factor: the factor of embeddings.
    gain_above: the number added to the gains of normalizations.
    asks: the requirements for a config: keys, and their possible values, the first of which is the
        default.
    remarks: remarks about a config, one sentence each.
    sides: the prefix of the tensors of each attention of a layer, by its side, if it has two.
    own: names that only this family uses: fields, by the ends of names, in which {} is a number.
    shared: fields whose tensors are in the first layer, and apply to all.
    convolutions: the convolutions of a spectrogram before the layers: the names of the tensors, and
        the stride.
    decoder: the row of what reads what this one gives, of a model with an encoder.
    biases: the projections of a layer that have a bias, from "QKVO123"; "n" for its normalizations,
        where that after the layers has none.
    is_gated: whether the feed-forward part has a gate, W_3.
    key_heads: the number of key heads; None if there are as many as query heads.
    own_gains: which gains normalized queries and keys have: one for all heads, each, or none.
    fused: how one array holds Q, K and V: the number of its equal blocks, and their order in each.
    weights_layout: how all weights are stored, whatever their names suggest: "torch" for (out, in),
        "in-out".
    pads: the key of the id without a position of its own, which is refused as a token.
    inside, tower: of a model with several towers: the key of this one's config, and the prefix of
        its tensors. The input determines the tower.
    usual: the values of keys that a config may omit.
    widens: the projection of embedded tokens to the width of the layers, if it exists.
    sinusoids: positions that no file contains, first the sines: USUAL, or FAIRSEQ, whose slowest
        angle of a position is exactly 1/10,000 of it; "" for none.
    source, stated, ignored: of a family in a file: its path, the tensors that it names by their
        places in it, and the ends of the names of tensors that it leaves out.
    sharing: the layer whose keys and values, with the input, another one uses; None for its own.
    of_layers: tensors before the layers with a part for each layer, by the field of the part: that
        of an embedding E has rows for the tokens.
    stored: the place of a layer in the names of its tensors: its number, or that of a group of
        shared layers, and the place in it.
    attends: whether a layer has an attention; otherwise its equations mix the tokens, if any do.
    feeds: whether a layer has a feed-forward part.
    routes: whether a layer with a feed-forward part has experts; None if other keys say it.
    mixing: the sizes of what mixes tokens without an attention; None for nothing.
    sinks: whether a layer has those that `own` names.
    rearranged: returns the fields of a layer from those that its tensors are named for.
    """

    title: str
    types: tuple[str, ...]
    layers: tuple[str, ...] = ("layers.{}.",)
    count: Any = lambda config, layer: config.count(_first(config, _LAYERS))
    settings: Mapping[str, Any] = field(default_factory=dict)
    tokens: str = ""
    begins: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)
    ends: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, Head] = field(default_factory=dict)
    places: str = ""
    longest: Any = None
    offset: int | None = 0
    skips: bool = False
    turns: str = ""
    factor: Any = None
    gain_above: int = 0
    asks: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    remarks: Any = ()
    sides: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    shared: Mapping[str, str] = field(default_factory=dict)
    convolutions: Sequence[tuple[str, int]] = ()
    decoder: "Family | None" = None
    biases: Any = "QKVO123"
    is_gated: Any = False
    key_heads: Any = lambda config, layer: config.count_or_none("num_key_value_heads")
    own_gains: str = "one"
    fused: Any = (1, "QKV")
    weights_layout: str = ""
    pads: str = ""
    inside: str = ""
    tower: str = ""
    usual: Mapping[str, Any] = field(default_factory=dict)
    widens: str = ""
    sinusoids: str = ""
    source: str = ""
    stated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    sharing: Any = None
    of_layers: Mapping[str, str] = field(default_factory=dict)
    stored: Any = lambda config, layer: (layer, 0)
    attends: Any = True
    feeds: Any = True
    routes: Any = None
    mixing: Any = None
    sinks: Any = True
    rearranged: Callable[[Config, int, dict[str, Any]], dict[str, Any]] = lambda *given: given[-1]

    def like(self, named: str = "", said: str = "", /, **own: Any) -> "Family":
        """Return a row with what this one has, and its own fields and settings.

        named: its title and the types of its configs, as "Phi: phi phi2"; "" for the same.
        said: those of one word or number, as "norm=post qk_norm=None".
        own: fields of `Family`; all others are settings.
        """
        words = (each.partition("=")[::2] for each in said.split())
        own |= {name: _WORDS.get(it, int(it) if it.isdigit() else it) for name, it in words}
        if "rope_dims" in own:  # the share of columns that rope turns is not ignored
            own.setdefault("remarks", ())
        title, _, types = named.rpartition(": ")
        settings = {n: own.pop(n) for n in [*own] if n not in self.__dataclass_fields__}
        own |= {"title": title, "types": (*types.split(),)} if named else {}
        return replace(self, settings={**self.settings, **settings}, **own)

    def own_config(self, config: Config) -> Config:
        """Return the config of its tower, with the usual values of omitted keys.

        Keys that only other types have are left out, as their classes ignore them, and so are those
        of a model of another type around it.
        """
        inner = config.get(self.inside, {}) if self.inside else {}
        if not isinstance(inner, Mapping):
            raise config.wrong(self.inside, inner, "an object")
        is_within = self.inside and config.get("model_type", None) not in self.types
        outer = (
            {} if is_within else {n: e for n, e in config.values.items() if n != "architectures"}
        )
        named = {key: config.get(key, None) for key in ("architectures", "tie_word_embeddings")}
        named = {key: each for key, each in named.items() if each is not None}
        given = {**outer, **inner, **named}
        if not self.source:
            kind = given.get("model_type")
            given = {key: each for key, each in given.items() if may_have(kind, key)}
        return Config(config.place, {**self.usual, **given})

    def present(self, config: Config, tensors: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of its tensors, by field, that a model of this config has."""
        keys = {name: self.optional.get(name) for name in tensors}
        return {
            name: tensors[name] for name, key in keys.items() if not key or config.get(key, True)
        }

    @property
    def all_heads(self) -> Mapping[str, Head]:
        """Its heads, and the usual ones; before a decoder, its own alone."""
        both = {**self.outputs, **USUAL_HEADS, **self.outputs}  # its own come first
        return self.outputs if self.decoder else both

    @property
    def has_gains(self) -> bool:
        """Whether its normalizations have gains."""
        return "" not in self.ends.values()

    def gains(self, config: Config, layer: int) -> list[str]:
        """Return the gains and biases of the normalizations of a layer."""
        attends, feeds, mixing = (self.of(n, config, layer) for n in ("attends", "feeds", "mixing"))
        norm = self.setting("norm", config, layer) or "pre"
        count = _NORMS.get(norm, 3 if self.sides else 2)
        count = 1 if self.setting("parallel", config) == "shared" else count
        count -= count == 2 and not (feeds and (attends or mixing is not None))
        kinds = self._gain_and_bias(config, self.settings["normalization"])
        first = 2 if norm == "pre-second" else 1
        return [f"{kind}_{first + number}" for number in range(count) for kind in kinds]

    def gains_of_heads(self, config: Config, layer: int) -> list[str]:
        """Return the gains and biases of normalized queries and keys."""
        kind = self.setting("qk_norm", config, layer)
        if kind is None or self.own_gains == "none":
            return []
        kinds = ("gamma",) if self.own_gains == "each" else self._gain_and_bias(config, kind)
        return [f"{each}_{name}" for name in "QK" for each in kinds]

    def _gain_and_bias(self, config: Config, kind: str) -> tuple[str, ...]:
        """Return the parameters of each normalization: a LayerNorm may have no bias."""
        if not self.has_gains:
            return ()
        ends = self.present(config, self.ends)
        is_biased = not ends or "beta_out" in ends or "n" in self.of("biases", config)
        return ("gamma", "beta") if kind == "layer" and is_biased else ("gamma",)

    @property
    def takes(self) -> str:
        """Its input: tokens, an image, or a spectrogram."""
        if self.convolutions:
            return "spectrogram"
        return "tokens" if self.tokens else "image"

    def of(self, name: str, config: Config, layer: int = 0) -> Any:
        """Return one of its values that a config may set."""
        return value_of(getattr(self, name), config, layer)

    def setting(self, name: str, config: Config, layer: int = 0) -> Any:
        """Return one setting of a layer, without reading the keys of others; None for none."""
        return value_of(self.settings.get(name), config, layer)

    def of_layer(self, config: Config, layer: int) -> dict[str, Any]:
        """Return the settings of a layer; those of rope only if it has such positions."""
        names = [*self.settings]
        if not self.of("attends", config, layer):
            names = [name for name in names if name not in _OF_ATTENTIONS.split()]
        elif self.setting("positions", config, layer) != "rope":
            names = [name for name in names if not name.startswith("rope_")]
        said = {name: self.setting(name, config, layer) for name in names}
        return {name: value for name, value in said.items() if value is not None}


def check_config(config: Config, asks: Mapping[str, tuple[Any, ...]], title: str) -> None:
    """Refuse a config with values that are not supported.

    Raises InputError naming the key, and the values that it may have.
    """
    for key, values in asks.items():
        found = config.get(key, values[0])
        if found not in values:
            needed = " or ".join(quoted(str(value)) for value in values)
            raise InputError(
                f"{config.place}: {quoted(key)} is {quoted(str(found))}: of {title} "
                f"{needed} is read"
            )


_USUAL_KEYS = "num_hidden_layers num_attention_heads hidden_size max_position_embeddings"
"""The keys of sizes that most types have."""


def said_of(kind: Any, what: str) -> str:
    """Return what a line of types.txt that begins with a word says of a type; "" for nothing."""
    lines = table("types.txt", what).items()
    return next((said for said, kinds in lines if kind in kinds.split()), "")


@cache
def _types_by_key() -> Mapping[str, frozenset[str]]:
    """Return the types whose classes have a key, of keys with a meaning for some types alone."""
    return {key: frozenset(types.split()) for key, types in table("keys.txt").items()}


def may_have(kind: Any, key: str) -> bool:
    """Return whether a key has a meaning for a type; of a type that no line names, all have."""
    types = _types_by_key()
    return kind in types.get(key, (kind,)) or not any(kind in each for each in types.values())


def own_first(config: Config, keys: Sequence[str]) -> tuple[list[str], int]:
    """Return keys of one meaning, first those of its type, and the number of the latter."""
    kind = config.get("model_type", "")
    own = said_of(kind, "keys") or _USUAL_KEYS
    first = [key for key in keys if key in own.split()]
    return first + [key for key in keys if key not in first], len(first)


def _first(config: Config, keys: Sequence[str]) -> str:
    """Return the first key with a value, that of its type before others, or else the first one."""
    keys, _ = own_first(config, keys)
    return next((key for key in keys if config.get(key, None) is not None), keys[0])


def where(is_there: Callable[[Config, int], Any], yes: Any, no: Any = None) -> Said:
    """Return a reader of one of two values, by what holds for a config and a layer."""
    return lambda config, layer: value_of(yes if is_there(config, layer) else no, config, layer)


def if_so(key: str, yes: Any, no: Any = None, *, default: bool = False) -> Said:
    """Return a reader of one of two values, by a key that is true or false."""
    return where(lambda config, layer: config.is_so(key, default), yes, no)


def if_given(key: str, yes: Any, no: Any = None) -> Said:
    """Return a reader of one of two values: the first if a key has a value other than null."""
    return where(lambda config, layer: config.get(key, None) is not None, yes, no)


def a_count(*keys: str, default: Any = MISSING) -> Said:
    """Return a reader of a whole number, from the first existing key."""
    return lambda config, layer: config.count(_first(config, keys), default)


def a_number(key: str, default: Any = MISSING) -> Said:
    """Return a reader of a number from 0, exactly as written."""

    def says(config: Config, layer: int) -> Fraction:
        found = config.number(key, default)
        if found < 0:
            raise config.wrong(key, found, "a number from 0")
        return Fraction(str(found))

    return says


def a_number_or_none(key: str) -> Said:
    """Return a reader of a number above 0, exactly as written; null is None."""

    def says(config: Config, layer: int) -> Fraction | None:
        found = config.get(key)
        if found is not None and config.number(key) <= 0:
            raise config.wrong(key, found, "a number above 0, or null for none,")
        return None if found is None else Fraction(str(found))

    return says


def one_of(values: Mapping[str, str], *keys: str, default: Any = MISSING) -> Said:
    """Return a reader of a text with a meaning, from the first existing key."""
    return lambda config, layer: values[config.one_of(_first(config, keys), values, default)]


an_activation = partial(one_of, ACTIVATIONS)
"""Return a reader of the activation of a feed-forward part, from the first existing key."""


def a_window_of_all(config: Config, layer: int) -> int | None:
    """Read the width of the window of a query, which all layers have, whatever their kinds."""
    return config.count_or_none("sliding_window")


def a_window(config: Config, layer: int) -> int | None:
    """Read the width of the window of a query, in the layers that have one."""
    if config.get("layer_types", None) is not None:
        kind = config.of_layer("layer_types", layer, ("full_attention", "sliding_attention"))
        return config.count("sliding_window") if kind == "sliding_attention" else None
    window = config.count_or_none("sliding_window")
    if window is None or not config.is_so("use_sliding_window", True):
        return None
    return None if layer < config.whole("max_window_layers", 0) else window


def a_window_but_in_every(nth: int, key: str = "sliding_window_pattern") -> Said:
    """Return a reader of a window: without kinds of layers, in all but every nth, or by a key."""

    def says(config: Config, layer: int) -> int | None:
        if config.get("layer_types", None) is not None:
            return a_window(config, layer)
        every = config.count(key, nth) if key else nth
        return None if (layer + 1) % every == 0 else int(config.count("sliding_window"))

    return says


def a_window_of_local_layers(config: Config, layer: int) -> int | None:
    """Read the window of GPT-Neo, whose layers are global or local."""
    kind = config.of_layer("attention_layers", layer, ("global", "local"))
    return int(config.count("window_size")) if kind == "local" else None


def one_over_root(key: str) -> Said:
    """Return a reader of 1 divided by the root of a number, the factor of scores."""

    def says(config: Config, layer: int) -> Fraction:
        found = config.number(key)
        if found <= 0:
            raise config.wrong(key, found, "a number above 0")
        root = math.isqrt(int(found))
        return Fraction(1, root) if root * root == found else Fraction(str(found**-0.5))

    return says


def root_of_width(key: str) -> Said:
    """Return a reader of the root of a width."""
    return lambda config, layer: float(config.count(key)) ** 0.5
