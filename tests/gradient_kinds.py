"""Random problems to differentiate: attention of every kind, layers of every part."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from attncalc import InputError, Problem

Fields = dict[str, Any]
NOT_FIELDS = ("start", "kv_heads", "seed", "first")
_IDLE = re.compile(r"(\w+) is .+, but this \w[\w ]* does not use it")


class Chance:
    """Random fields of problems."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def numbers(self, *shape: int, size: float = 0.7) -> Any:
        """Return random numbers."""
        return self.random.normal(size=shape) * size

    def one_of(self, *values: Any) -> Any:
        """Return one of these."""
        return values[self.random.integers(len(values))]

    def between(self, low: int, high: int) -> int:
        """Return a whole number, the ends among them."""
        return int(self.random.integers(low, high + 1))

    def some(self) -> bool:
        """Say yes as often as no."""
        return bool(self.random.random() < 0.5)

    def marks(self, *shape: int) -> Any:
        """Return marks that leave the first key to each query."""
        marked = self.random.random(shape) < 0.7
        marked[..., 0] = True
        return marked


def attention_fields(
    chance: Chance, d: int, d_2: int | None = None, d_out: int | None = None
) -> Fields:
    """Return weights of an attention, of tokens of width d (and d_2 of those attended to)."""
    heads = chance.one_of(1, 1, 2, 4)
    groups = chance.one_of(*(each for each in (1, 2, 4) if heads % each == 0 and each <= heads))
    d_k, d_v = 2 * chance.between(1, 2), chance.between(1, 3)
    combine = "concat" if d_out else chance.one_of("concat", "mean")
    joined = d_v * (heads if combine == "concat" else 1)
    d_2 = d_2 or d
    fields: Fields = {
        "W_Q": chance.numbers(d, heads * d_k),
        "W_K": chance.numbers(d_2, groups * d_k),
        "W_V": chance.numbers(d_2, groups * d_v),
        "heads": heads,
        "kv_heads": groups,
        "combine": combine,
        "scale": chance.one_of("sqrt_dk", "none", "1/3"),
    }
    widths = {"b_Q": heads * d_k, "b_K": groups * d_k, "b_V": groups * d_v}
    fields |= {name: chance.numbers(1, width) for name, width in widths.items() if chance.some()}
    if d_out or chance.some():
        fields["W_O"] = chance.numbers(joined, d_out or chance.between(1, 3))
    if chance.some():
        width = fields["W_O"].shape[1] if "W_O" in fields else joined
        fields["b_O"] = chance.numbers(1, width)
    if chance.some():
        fields["softcap"] = chance.one_of("1.5", "4")
    return fields


def mask_fields(chance: Chance, heads: int, n: int, m: int) -> Fields:
    shape = chance.one_of((n, m), (1, m), (heads, n, m) if heads > 1 else (n, m))
    fields: Fields = {}
    kind = chance.one_of("none", "causal", "keep", "ignore", "bias", "bias and causal")
    if "causal" in kind:
        fields["causal"] = True
        fields["causal_alignment"] = (
            chance.one_of("top-left", "bottom-right") if n <= m else "top-left"
        )
    if kind == "keep":
        fields["keep"] = chance.marks(*shape)
    if kind == "ignore":
        fields["ignore"] = ~chance.marks(*shape)
    if "bias" in kind:
        fields["bias"] = np.where(chance.marks(*shape), chance.numbers(*shape), -np.inf)
    return fields


def kind_of_attention(seed: int) -> Fields:
    """Return a random attention alone."""
    chance = Chance(seed)
    d, n = 2 * chance.between(1, 2), chance.between(1, 5)
    is_self = chance.some()
    m = n if is_self else chance.between(1, 5)
    d_2 = d if is_self else chance.between(1, 4)
    fields = attention_fields(chance, d, d_2)
    fields |= mask_fields(chance, fields["heads"], n, m)
    tokens = {"X": (n, d)} if is_self else {"X1": (n, d), "X2": (m, d_2)}
    fields |= {name: chance.numbers(*shape) for name, shape in tokens.items()}
    if not is_self and chance.some():
        fields["X3"] = chance.numbers(m, d_2)
    positions = chance.one_of("none", "none", "sinusoidal", "rope", "learned")
    if positions == "learned":
        for name, shape in tokens.items():
            fields[name.replace("X", "P")] = chance.numbers(*shape)
    elif positions != "none":
        fields["positions"] = positions
        fields["rope_pairing"] = chance.one_of("halves", "interleaved")
        fields["rope_offset"] = 2
        if n > m:
            fields.pop("causal_alignment", None)
    start = chance.one_of("ones", "dO", "target")
    return fields | {"start": start, "seed": seed}


def norm_fields(chance: Chance, d: int, numbers: str) -> Fields:
    fields: Fields = {"norm": chance.one_of("pre", "post", "post", "none")}
    fields["normalization"] = chance.one_of("layer", "layer", "rms")
    fields["eps"] = chance.one_of(1e-5, 0.1)
    fields["eps_place"] = chance.one_of("inside", "inside", "outside")
    if fields["normalization"] == "layer":
        fields["ddof"] = chance.one_of(0, 0, 1)
    return fields


def gains(chance: Chance, d: int, numbers: str, norm: str) -> Fields:
    if norm == "none":
        return {}
    return {
        f"{letter}_{number}": chance.numbers(1, d)
        for number in numbers
        for letter in ("gamma", "beta")
        if chance.some()
    }


def forward_fields(chance: Chance, d: int) -> Fields:
    inner = chance.between(1, 4)
    fields = {"W_1": chance.numbers(d, inner), "W_2": chance.numbers(inner, d)}
    fields |= {"b_1": chance.numbers(1, inner)} if chance.some() else {}
    fields |= {"b_2": chance.numbers(1, d)} if chance.some() else {}
    if chance.some():
        fields["W_3"] = chance.numbers(d, inner)
        fields |= {"b_3": chance.numbers(1, inner)} if chance.some() else {}
    return fields


def kind_of_layers(seed: int) -> Fields:  # noqa: C901 - one choice after the other
    """Return a random encoder or decoder."""
    chance = Chance(seed)
    d, n, m = 4, chance.between(2, 4), chance.between(1, 4)
    fields: Fields = norm_fields(chance, d, "12")
    fields["activation"] = chance.one_of("relu", "gelu", "gelu-tanh", "gelu-quick", "silu")
    is_decoder = chance.some()
    fields["block"] = "decoder" if is_decoder else "encoder"
    fields["causal"] = is_decoder

    def one_layer() -> Fields:
        own: Fields = {}
        if is_decoder:
            own["self"] = attention_fields(chance, d, d, d)
            own["cross"] = attention_fields(chance, d, 3, d)
        elif chance.random.random() < 0.9:
            own |= attention_fields(chance, d, d, d)
        if not own or chance.random.random() < 0.8:
            own |= forward_fields(chance, d)
        count = 2 * is_decoder + ("W_Q" in own) + ("W_1" in own)
        return own | gains(chance, d, "123"[:count], fields["norm"])

    if chance.some():
        fields["layers"] = [one_layer() for _ in range(chance.between(1, 3))]
        if chance.some():
            fields["gamma_out"] = chance.numbers(1, d)
    else:
        fields |= one_layer()
    fields |= (
        {"X1": chance.numbers(n, d), "X2": chance.numbers(m, 3)}
        if is_decoder
        else {"X": chance.numbers(n, d)}
    )
    if chance.some():
        fields["P1" if is_decoder else "P"] = chance.numbers(n, d)
    elif chance.some():
        fields["positions"] = "sinusoidal"
    starts = ["ones", "dO", "target"]
    if chance.some():
        fields["W_out"] = chance.numbers(d, 3)
        fields["read"] = chance.one_of("all", "first", "last", "mean")
        fields |= {"b_out": chance.numbers(1, 3)} if chance.some() else {}
        starts += ["target_ids"] * 3
    return fields | {"start": chance.one_of(*starts), "seed": seed}


def without_counts(fields: Fields) -> Fields:
    """Return the fields that a problem knows."""
    known: Fields = {}
    for name, value in fields.items():
        if name in NOT_FIELDS:
            continue
        if isinstance(value, dict):
            value = without_counts(value)
        if name == "layers":
            value = [without_counts(each) for each in value]
        known[name] = value
    return known


def posed(fields: Fields, **further: Any) -> Problem:
    """Return the problem, without the settings that nothing in it happens to read."""
    known = without_counts(fields) | further
    while True:
        try:
            return Problem(**known)
        except InputError as error:
            idle = _IDLE.match(str(error))
            if idle is None:
                raise
            del known[idle[1]]


def _heads(chance: Chance, heads: int = 2, groups: int = 0, d_k: int = 2) -> Fields:
    """Return tokens of self-attention, and weights of its heads."""
    groups = groups or heads
    return {
        "X": chance.numbers(3, 4),
        "W_Q": chance.numbers(4, heads * d_k),
        "W_K": chance.numbers(4, groups * d_k),
        "W_V": chance.numbers(4, groups * 2),
        "heads": heads,
    }


def _cross(chance: Chance) -> Fields:
    return {"X1": chance.numbers(3, 2), "X2": chance.numbers(4, 3)}


FURTHER: dict[str, Callable[[Chance], Fields]] = {
    "gains that heads share, rms": lambda c: (
        _heads(c)
        | {
            "qk_norm": "rms",
            "gamma_Q": c.numbers(2),
            "beta_Q": c.numbers(2),
            "gamma_K": c.numbers(2),
        }
    ),
    "gains that heads share, layer": lambda c: (
        _heads(c, 4, 2, 4) | {"qk_norm": "layer", "gamma_K": c.numbers(4), "beta_Q": c.numbers(4)}
    ),
    "a sink": lambda c: _heads(c, 1) | {"sinks": c.numbers(1)},
    "sinks": lambda c: _heads(c) | {"sinks": c.numbers(2), "causal": True},
    "a slope": lambda c: _heads(c, 1) | {"alibi_slopes": c.numbers(1)},
    "slopes": lambda c: _heads(c) | {"alibi_slopes": c.numbers(2), "causal": True},
    "a table of distances": lambda c: _heads(c, 1) | {"rel_bias": c.numbers(6, 1), "causal": True},
    "tables of distances": lambda c: _heads(c) | {"rel_bias": c.numbers(12, 2)},
    "distance": lambda c: {"X1": c.numbers(3, 2), "X2": c.numbers(4, 2), "score": "distance"},
    "distance, keys shared": lambda c: _heads(c, 4, 2) | {"score": "distance"},
    "general": lambda c: _cross(c) | {"score": "general", "W_S": c.numbers(2, 3)},
    "additive": lambda c: (
        _cross(c)
        | {"score": "additive", "W_Sq": c.numbers(2, 3), "W_Sk": c.numbers(3, 3)}
        | {"v_S": c.numbers(3), "b_S": c.numbers(3)}
    ),
    "additive, keys shared": lambda c: (
        _heads(c, 4, 2) | {"score": "additive", "v_S": c.numbers(2), "b_S": c.numbers(8)}
    ),
    "concat": lambda c: (
        _cross(c)
        | {"score": "concat", "W_S": c.numbers(5, 2), "v_S": c.numbers(2), "b_S": c.numbers(2)}
    ),
    "concat, keys shared": lambda c: (
        _heads(c, 4, 2)
        | {"score": "concat", "W_S": c.numbers(4, 2), "v_S": c.numbers(8), "causal": True}
    ),
    "concat, weights of each head": lambda c: (
        _heads(c) | {"score": "concat", "W_S": c.numbers(2, 4, 2), "v_S": c.numbers(2)}
    ),
    "ids": lambda c: (
        {"ids": [2, 1, 2], "first_id": 1, "W_E": c.numbers(4, 3)}
        | {name: c.numbers(3, 2) for name in ("W_Q", "W_K", "W_V")}
    ),
    "a small model of language": lambda c: (
        {"block": "decoder", "ids": [0, 3, 0], "tied": True}
        | {"W_E": c.numbers(4, 3), "P": c.numbers(3, 3), "b_out": c.numbers(4), "norm": "pre"}
        | {"W_Q": c.numbers(3, 2), "W_K": c.numbers(3, 2), "W_V": c.numbers(3, 3)}
    ),
    "types": lambda c: (
        {"block": "encoder", "X": c.numbers(3, 3), "type_ids": [0, 1, 1]}
        | {"W_type": c.numbers(2, 3), "W_1": c.numbers(3, 2), "W_2": c.numbers(2, 3)}
    ),
    "patches": lambda c: (
        {"image": c.numbers(4, 4), "patch": 2, "E": c.numbers(4, 3)}
        | {"W_Q": c.numbers(3, 2), "W_K": c.numbers(3, 2), "W_V": c.numbers(3, 3)}
        | {"class_token": c.numbers(3), "W_out": c.numbers(3, 2), "norm": "none"}
    ),
    "patches of channels": lambda c: (
        {"image": c.numbers(2, 2, 4), "patch": 2, "norm": "none"}
        | {"E": c.numbers(8, 3), "W_1": c.numbers(3, 2), "W_2": c.numbers(2, 3)}
    ),
    "a head that is normalized": lambda c: (
        {"block": "encoder", "X": c.numbers(3, 4)}
        | {"W_1": c.numbers(4, 2), "W_2": c.numbers(2, 4), "W_pre": c.numbers(4, 3)}
        | {"gamma_pre": c.numbers(3), "beta_pre": c.numbers(3), "activation_pre": "relu"}
        | {"W_out": c.numbers(3, 2)}
    ),
}
"""Kinds of problems, by what is gone back through in each."""
