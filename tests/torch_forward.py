"""Attention and layers in PyTorch, written from the requirements: what autograd differentiates.

Fields are those of a problem, as tensors of float64: tokens are rows, weights (in, out), heads
side by side or a list of matrices.
"""

import math
from typing import Any

import torch

Fields = dict[str, Any]


def heads_of(matrix: Any, count: int) -> Any:
    """Return a matrix of heads side by side as (heads, rows, columns)."""
    if matrix.ndim == 3:
        return matrix
    return torch.stack(matrix.chunk(count, dim=-1))


def projected(f: Fields, name: str, tokens: Any, count: int) -> Any:
    """Return queries, keys or values of each head."""
    if f.get(name) is not None:
        return heads_of(f[name], count)
    made = tokens @ heads_of(f[f"W_{name}"], count)
    bias = f.get(f"b_{name}")
    return made if bias is None else made + torch.stack(bias.reshape(1, -1).chunk(count, dim=-1))


def rotated(X: Any, first: float, f: Fields) -> Any:
    """Turn pairs of columns by their place."""
    n, d = X.shape[-2:]
    base = float(f.get("rope_base", 10000))
    places = torch.arange(n, dtype=X.dtype)[:, None] + first
    angles = places / base ** (torch.arange(0, d, 2, dtype=X.dtype) / d)
    cos, sin = angles.cos(), angles.sin()
    if f.get("rope_pairing", "halves") == "halves":
        x, y = X[..., : d // 2], X[..., d // 2 :]
        return torch.cat([x * cos - y * sin, x * sin + y * cos], dim=-1)
    x, y = X[..., 0::2], X[..., 1::2]
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1).flatten(-2)


def sinusoids(n: int, d: int, first: int, base: float) -> Any:
    """Return the positions of Vaswani et al."""
    found = torch.zeros(n, d, dtype=torch.float64)
    for t in range(n):
        for column in range(d):
            angle = (t + first) / base ** ((column - column % 2) / d)
            found[t, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return found


def of_one_size(f: Fields, X: Any, name: str) -> Any:
    """Return each head's queries or keys normalized."""
    given = {n: f.get(f"{n}_{name}") for n in ("gamma", "beta")}
    split = {
        n: each if each is None or each.numel() == X.shape[-1] else each.reshape(len(X), 1, -1)
        for n, each in given.items()
    }
    centred = X - X.mean(dim=-1, keepdim=True) if f["qk_norm"] == "layer" else X
    made = centred / ((centred * centred).mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    made = made if split["gamma"] is None else made * split["gamma"]
    return made if split["beta"] is None else made + split["beta"]


def scores(f: Fields, Q: Any, K: Any) -> Any:
    """Return how each query meets each key."""
    kind = f.get("score", "dot")
    if kind == "dot":
        return Q @ K.transpose(-1, -2)
    if kind == "general":
        return Q @ f["W_S"] @ K.transpose(-1, -2)
    pairs = Q.shape[-2], K.shape[-2]
    q = Q.unsqueeze(-2).expand(-1, *pairs, -1)
    k = K.unsqueeze(-3).expand(-1, *pairs, -1)
    if kind == "distance":
        return -((q - k) ** 2).sum(dim=-1) / 2
    if kind == "additive":
        inner = (q @ f["W_Sq"] if "W_Sq" in f else q) + (k @ f["W_Sk"] if "W_Sk" in f else k)
    else:
        W = f["W_S"] if f["W_S"].ndim == 2 else f["W_S"].unsqueeze(1)
        inner = torch.cat([q, k], dim=-1) @ W
    v, b = (
        None if f.get(n) is None else f[n].reshape(-1, 1, 1, inner.shape[-1])
        for n in ("v_S", "b_S")
    )
    return ((inner if b is None else inner + b).tanh() * v).sum(dim=-1)


def by_distance(f: Fields, S: Any, place: int) -> Any:
    """Return the scores with what is added to them by distance."""
    n, m = S.shape[-2:]
    before = torch.arange(n)[:, None] + place - torch.arange(m)
    if f.get("alibi_slopes") is not None:
        S = S - f["alibi_slopes"].reshape(-1, 1, 1) * before.abs()
    if f.get("rel_bias") is not None:
        S = S + f["rel_bias"][buckets(before, len(f["rel_bias"]), not f.get("causal"))].permute(
            2, 0, 1
        )
    return S


def buckets(before: Any, count: int, both_ways: bool) -> Any:
    """Return T5's buckets of distances so near that each has one of its own."""
    assert before.abs().max() < (count // 4 if both_ways else count // 2)
    if not both_ways:
        return before.clamp(min=0)
    return before.abs() + (before < 0) * (count // 2)


def attention(  # noqa: C901 - one step after the other
    f: Fields, asking: Any, answering: Any, values: Any
) -> Any:
    """Return the outputs of an attention whose tokens these are (None where Q, K, V are given)."""
    heads = f.get("heads") or 1
    for name in ("Q", "W_Q"):
        if f.get(name) is not None and f[name].ndim == 3:
            heads = len(f[name])
    groups = f.get("kv_heads") or heads
    Q = projected(f, "Q", asking, heads)
    K, V = (projected(f, n, t, groups) for n, t in (("K", answering), ("V", values)))
    past = 0
    if f.get("past_K") is not None:
        past = f["past_K"].shape[-2]
        K = torch.cat([heads_of(f["past_K"], groups), K], dim=-2)
        V = torch.cat([heads_of(f["past_V"], groups), V], dim=-2)
    n, m = Q.shape[-2], K.shape[-2]
    place = past or (m - n if f.get("causal_alignment") == "bottom-right" else 0)
    if f.get("positions") == "rope":
        offset = float(f.get("rope_offset", 0))
        Q, K = rotated(Q, offset + place, f), rotated(K, offset, f)
    K, V = (each.repeat_interleave(heads // groups, dim=0) for each in (K, V))
    if f.get("qk_norm"):
        Q, K = (of_one_size(f, each, name) for each, name in ((Q, "Q"), (K, "K")))
    S = scores(f, Q, K)
    scale = f.get("scale", "sqrt_dk" if f.get("score", "dot") == "dot" else "none")
    if scale == "sqrt_dk":
        S = S / math.sqrt(Q.shape[-1])
    elif scale != "none":
        S = S * float(scale)
    if f.get("softcap") is not None:
        cap = float(f["softcap"])
        S = cap * torch.tanh(S / cap)
    S = by_distance(f, S, place)
    allowed = torch.ones(S.shape, dtype=torch.bool)
    if f.get("bias") is not None:
        bias = f["bias"]
        allowed = allowed & (bias != -math.inf)
        S = S + torch.where(bias == -math.inf, torch.zeros_like(bias), bias)
    if f.get("causal"):
        allowed = allowed & torch.ones(n, m, dtype=torch.bool).tril(place)
    if f.get("keep") is not None:
        allowed = allowed & f["keep"]
    if f.get("ignore") is not None:
        allowed = allowed & ~f["ignore"]
    if f.get("normalizer") == "sum":
        counted = torch.where(allowed, S, torch.zeros_like(S))
        A = counted / counted.sum(dim=-1, keepdim=True)
    elif f.get("sinks") is not None:
        powers = torch.where(allowed, S.exp(), torch.zeros_like(S))
        A = powers / (powers.sum(dim=-1, keepdim=True) + f["sinks"].reshape(-1, 1, 1).exp())
    else:
        powers = torch.where(allowed, S, torch.full_like(S, -1e30))
        A = torch.where(allowed, torch.softmax(powers, dim=-1), torch.zeros_like(S))
    H = A @ V
    C = H.mean(dim=0) if f.get("combine") == "mean" else torch.cat(list(H), dim=-1)
    if f.get("W_O") is not None:
        C = C @ f["W_O"]
    return C if f.get("b_O") is None else C + f["b_O"].reshape(1, -1)


def alone(f: Fields) -> Any:
    """Return the outputs of an attention alone."""
    sides = {}
    for number in ("", "1", "2", "3"):
        X = f.get(f"X{number}")
        if X is None:
            continue
        if f.get(f"P{number}") is not None:
            X = X + f[f"P{number}"]
        elif f.get("positions") == "sinusoidal":
            late = number in ("", "1") and f.get("causal_alignment") == "bottom-right"
            other = f.get("X2", f.get("X"))
            first = other.shape[0] - X.shape[0] if late and other is not None else 0
            X = X + sinusoids(*X.shape, first, float(f.get("positions_base", 10000)))
        sides[number] = X
    asking = sides.get("", sides.get("1"))
    answering = sides.get("", sides.get("2"))
    return attention(f, asking, answering, sides.get("3", answering))


def normalised(f: Fields, X: Any, number: str) -> Any:
    """Return tokens normalized."""
    gain, bias = f.get(f"gamma_{number}"), f.get(f"beta_{number}")
    eps = float(f.get("eps", 1e-5))
    if f.get("normalization") == "rms":
        above, spread = X, (X * X).mean(dim=-1, keepdim=True)
    else:
        above = X - X.mean(dim=-1, keepdim=True)
        spread = (above * above).sum(dim=-1, keepdim=True) / (X.shape[-1] - f.get("ddof", 0))
    inside = f.get("eps_place", "inside") == "inside"
    made = above / (torch.sqrt(spread + eps) if inside else torch.sqrt(spread) + eps)
    made = made if gain is None else made * gain.reshape(1, -1)
    return made if bias is None else made + bias.reshape(1, -1)


ACTIVATIONS = {
    "relu": torch.nn.functional.relu,
    "relu2": lambda x: torch.nn.functional.relu(x) ** 2,
    "gelu": torch.nn.functional.gelu,
    "gelu-tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "gelu-quick": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": torch.nn.functional.silu,
}


def forward_part(f: Fields, X: Any) -> Any:
    """Return the outputs of a feed-forward part."""

    def linear(tokens: Any, number: str) -> Any:
        made = tokens @ f[f"W_{number}"]
        return made if f.get(f"b_{number}") is None else made + f[f"b_{number}"].reshape(1, -1)

    inner = ACTIVATIONS[f.get("activation", "relu")](linear(X, "1"))
    if f.get("W_3") is not None:
        inner = inner * linear(X, "3")
    return linear(inner, "2")


def layer(f: Fields, X: Any, memory: Any, settings: Fields) -> Any:
    """Return the outputs of one layer."""
    f = settings | f
    insides = []
    if f.get("self") is not None:
        insides.append(lambda N: attention(settings | f["self"], N, N, N))
    if f.get("W_Q") is not None:
        insides.append(lambda N: attention(f, N, N, N))
    if f.get("cross") is not None:
        own = settings | {"causal": False, "positions": "none"} | f["cross"]
        insides.append(lambda N: attention(own, N, memory, memory))
    if f.get("W_1") is not None:
        insides.append(lambda N: forward_part(f, N))
    norm, residual = f.get("norm", "post"), f.get("residual", True)
    for number, inside in enumerate(insides, start=1):
        made = inside(normalised(f, X, str(number)) if norm == "pre" else X)
        X = X + made if residual else made
        X = normalised(f, X, str(number)) if norm == "post" else X
    if not insides and norm != "none":
        X = normalised(f, X, "1")
    return X


SETTINGS = (
    *("norm", "residual", "normalization", "eps", "eps_place", "ddof", "activation", "causal"),
    *("scale", "softcap", "heads", "combine", "rope_base", "rope_pairing", "kv_heads"),
)


def layers(f: Fields) -> Any:
    """Return the outputs of an encoder or a decoder, or the logits of its head."""
    settings = {name: f[name] for name in SETTINGS if name in f}
    if f.get("positions") == "rope":
        settings["positions"] = "rope"
    X = f["X"] if f.get("X") is not None else f["X1"]
    P = f.get("P") if f.get("X") is not None else f.get("P1")
    if P is not None:
        X = X + P
    elif f.get("positions") == "sinusoidal":
        base = float(f.get("positions_base", 10000))
        X = X + sinusoids(*X.shape, f.get("first", 0), base)
    for each in f.get("layers") or [f]:
        X = layer(each, X, f.get("X2"), settings)
    if f.get("gamma_out") is not None or f.get("beta_out") is not None:
        X = normalised(f, X, "out")
    if f.get("W_out") is None:
        return X
    read = f.get("read", "all")
    rows = {"all": X, "first": X[:1], "last": X[-1:], "mean": X.mean(dim=0, keepdim=True)}[read]
    logits = rows @ f["W_out"]
    return logits if f.get("b_out") is None else logits + f["b_out"].reshape(1, -1)
