"""Problems of rarer kinds, drawn at random: other scores, biases by distance, images, gradients."""

from fractions import Fraction
from random import Random
from typing import Any

from attncalc.solving.plan import outputs_of
from attncalc.solving.solution import Solution

SCORES = ("general", "additive", "concat", "distance")


def matrix(rng: Random, number: Any, rows: int, columns: int, heads: int = 0) -> Any:
    """Return rows of drawn numbers, or a list of these for each head."""
    if heads:
        return [matrix(rng, number, rows, columns) for _ in range(heads)]
    return [[number() for _ in range(columns)] for _ in range(rows)]


def rarer(rng: Random, number: Any) -> dict[str, Any]:
    """Return the fields of a rarer kind, beside the conventions."""
    make = rng.choice([scored, scored, started, distant, distant, distant, turned, embedded, seen])
    return make(rng, number)


def _given(rng: Random, number: Any, d_k: int = 0) -> dict[str, Any]:
    n, m = rng.randint(1, 4), rng.randint(1, 4)
    heads = rng.choice([0, 0, 0, 2, 3, 4])
    shared = rng.choice([1, heads]) if heads else 0
    d_k = d_k or rng.randint(1, 3)
    return {
        "Q": matrix(rng, number, n, d_k, heads),
        "K": matrix(rng, number, m, d_k, shared),
        "V": matrix(rng, number, m, rng.randint(1, 3), shared),
    }


def _heads_of(fields: dict[str, Any]) -> int:
    return len(fields["Q"]) if isinstance(fields["Q"][0][0], list) else 1


def scored(rng: Random, number: Any) -> dict[str, Any]:
    """Return another kind of score, now and then with queries and keys of other widths."""
    kind = rng.choice(SCORES)
    d_q, d_k, h = (rng.randint(1, 3) for _ in range(3))
    h += 1
    d_k = d_q if kind == "distance" else d_k
    n, m = rng.randint(1, 3), rng.randint(1, 3)
    heads = rng.choice([0, 0, 2])
    shared = rng.choice([1, heads]) if heads else 0
    fields = {
        "Q": matrix(rng, number, n, d_q, heads),
        "K": matrix(rng, number, m, d_k, shared),
        "V": matrix(rng, number, m, 2, shared),
        "score": kind,
        "scale": "none" if d_q != d_k else rng.choice(["none", "sqrt_dk", "1/3"]),
    }
    own = rng.choice([0, heads])
    if kind == "general":
        return fields | {"W_S": matrix(rng, number, d_q, d_k, own)}
    if kind == "additive":
        fields |= {"W_Sq": matrix(rng, number, d_q, h), "W_Sk": matrix(rng, number, d_k, h)}
    if kind == "concat":
        fields["W_S"] = matrix(rng, number, d_q + d_k, h, own)
    if kind in ("additive", "concat"):
        fields["v_S"] = matrix(rng, number, 1, h)
        if rng.random() < 0.5:
            fields["b_S"] = matrix(rng, number, 1, h)
    return fields


def started(rng: Random, number: Any) -> dict[str, Any]:
    """Return scores, or weights, that are given."""
    n, m, heads = rng.randint(1, 3), rng.randint(1, 4), rng.choice([0, 0, 2])
    fields = {rng.choice("SA"): matrix(rng, number, n, m, heads), "scale": "none"}
    if rng.random() < 0.7:
        fields["V"] = matrix(rng, number, m, 2, heads and rng.choice([1, heads]))
    return fields


def distant(rng: Random, number: Any) -> dict[str, Any]:
    """Return biases by distance, a window, sinks, or several of these."""
    fields = _given(rng, number)
    heads = _heads_of(fields)
    of = rng.sample(["alibi", "slopes", "rel", "window", "sinks"], rng.randint(1, 2))
    if "alibi" in of:
        fields["alibi"] = True
    if "slopes" in of and "alibi" not in of:
        fields["alibi_slopes"] = [number() for _ in range(heads)]
    if "rel" in of:
        buckets = rng.choice([2, 4, 6])
        fields["rel_bias"] = matrix(rng, number, buckets, heads)
        fields |= {"rel_max_distance": rng.randint(4, 12)}
        fields |= {"rel_bidirectional": rng.choice([True, False, None])}
    if "window" in of:
        fields["window"] = rng.randint(1, 3)
    if "sinks" in of:
        fields |= {"sinks": [number() for _ in range(heads)], "normalizer": "softmax"}
    return fields


def turned(rng: Random, number: Any) -> dict[str, Any]:
    """Return queries and keys that are normalized, or turned in other ways."""
    fields = _given(rng, number, d_k=rng.choice([2, 4, 6]))
    wide = len(fields["Q"][0] if _heads_of(fields) == 1 else fields["Q"][0][0])
    if rng.random() < 0.5:
        fields |= {"qk_norm": rng.choice(["rms", "layer"]), "qk_eps": rng.choice(["0.001", "1/7"])}
        if rng.random() < 0.5:
            fields |= {"gamma_Q": [number() for _ in range(wide)]}
    if rng.random() < 0.8:
        fields |= {"positions": "rope", "rope_pairing": rng.choice(["halves", "interleaved"])}
        fields |= {"rope_offset": rng.choice([0, 1, 1000, "1/2"])}
        how = rng.choice(["dims", "scaling", "own", "plain"])
        if how == "dims":
            fields["rope_dims"] = 2
        if how == "scaling":
            fields |= {"rope_base": 100, "rope_scaling": _scaling(rng)}
        if how == "own":
            fields["rope_frequencies"] = [number() for _ in range(wide // 2)]
    return fields


def _scaling(rng: Random) -> dict[str, Any]:
    if rng.random() < 0.4:
        return {"rope_type": "linear", "factor": rng.choice([2, 4, 2.5])}
    return {
        "rope_type": "llama3",
        "factor": rng.choice([2, 8]),
        "low_freq_factor": 1,
        "high_freq_factor": 4,
        "original_max_position_embeddings": rng.choice([4, 16, 64]),
    }


def _weights(rng: Random, number: Any, d: int) -> dict[str, Any]:
    return {name: matrix(rng, number, d, d) for name in ("W_Q", "W_K", "W_V")}


def embedded(rng: Random, number: Any) -> dict[str, Any]:
    """Return ids of a table of embeddings, and a head that is tied to it."""
    d, v, n = rng.randint(2, 3), rng.randint(2, 4), rng.randint(1, 3)
    first = rng.choice([0, 0, 1])
    fields = {
        "ids": [rng.randint(first, first + v - 1) for _ in range(n)],
        "W_E": matrix(rng, number, v, d),
        "first_id": first,
        **_weights(rng, number, d),
    }
    if rng.random() < 0.5:
        return fields
    fields |= {"block": "decoder", "tied": True, "norm": rng.choice(["pre", "none"])}
    fields |= {"W_1": matrix(rng, number, d, 2), "W_2": matrix(rng, number, 2, d)}
    return fields | ({"b_out": [number() for _ in range(v)]} if rng.random() < 0.5 else {})


def seen(rng: Random, number: Any) -> dict[str, Any]:
    """Return an image in patches, for a layer of a Vision Transformer."""
    p, q, down, across = (rng.randint(1, 2) for _ in range(4))
    channels, d = rng.choice([0, 1, 2]), 2
    return {
        "block": "vit",
        "image": matrix(rng, number, p * down, q * across, channels),
        "patch": (p, q),
        "E": matrix(rng, number, p * q * max(1, channels), d),
        "norm": "none",
        **_weights(rng, number, d),
        "W_1": matrix(rng, number, d, 2),
        "W_2": matrix(rng, number, 2, d),
    }


def with_gradients(rng: Random, number: Any, solution: Solution) -> dict[str, Any]:
    """Return the fields of the gradients of a solved problem."""
    names = {step.name for step in solution.plan}
    has_head, is_alone = "logits" in names, solution.problem.block == "attention"
    more: dict[str, Any] = {"backward": True}
    starts = ["ones", "arriving", "target", "ids"] if has_head else ["ones", "arriving", "target"]
    start = rng.choice(starts)
    made = "logits" if has_head else outputs_of(solution.problem)
    arriving = "dlogits" if has_head else "dO" if is_alone else "dY"
    if start == "arriving":
        more[arriving] = matrix(rng, number, *solution.shape_of(made))
    if start == "target":
        more["target"] = matrix(rng, number, *solution.shape_of(outputs_of(solution.problem)))
    if start == "ids":
        rows, classes = solution.floats["logits"].shape
        more["target_ids"] = [rng.randrange(classes) for _ in range(rows)]
    if rng.random() < 0.3:
        more["step"] = rng.choice(["0.1", Fraction(1, 3)])
    return more
