"""Attention as frameworks compute it, in plain numpy, with one mistake where that is asked for."""

from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_NEGATIVE = float(np.finfo(np.float32).min)
BUGS = {
    # what goes wrong, and the codes that name it
    "pairing": ("rope-pairing",),
    "sign": ("rope-sign",),
    "base": ("rope-base",),
    "split": ("heads-viewed",),
    "merge": ("heads-viewed",),
    "inverted": ("mask-inverted",),
    "columns": ("softmax-columns",),
    "unmasked": ("mask-forgotten",),
    "unscaled": ("scale-forgotten", "not-scaled", "unscaled"),
    "tiled": ("heads-tiled",),
}


@dataclass(frozen=True)
class Layer:
    """The weights (out, in) of an attention, and what it does."""

    heads: int = 4
    groups: int = 4
    width: int = 4
    is_causal: bool = True
    has_rope: bool = False
    window: int = 0
    base: float = 10_000.0
    seed: int = 0

    def arrays(self, tokens: int = 6) -> dict[str, Any]:
        """Return its tokens and weights, under the names of Llama."""
        random = np.random.default_rng(self.seed)
        d = self.heads * self.width
        own, shared = self.heads * self.width, self.groups * self.width
        rows = {"q": own, "k": shared, "v": shared}
        made = {f"{k}_proj.weight": random.normal(size=(r, d)) * 0.4 for k, r in rows.items()}
        made["o_proj.weight"] = random.normal(size=(d, own)) * 0.4
        return {"X": random.normal(size=(tokens, d)), **made}

    def said(self) -> dict[str, Any]:
        """Return its settings beside its weights."""
        said: dict[str, Any] = {"num_heads": self.heads, "causal": self.is_causal}
        if self.has_rope:
            said |= {"positions": "rope", "rope_base": self.base}
        return said | ({"window": self.window} if self.window else {})


def rotated(x: Any, base: float, *, pairing: str = "halves", sign: float = 1.0) -> Any:
    """Return (heads, tokens, width) turned by rope."""
    _, tokens, width = x.shape
    angles = np.arange(tokens)[:, None] / base ** (np.arange(0, width, 2) / width)
    cos, sin = np.cos(angles), sign * np.sin(angles)
    if pairing == "halves":
        a, b = x[..., : width // 2], x[..., width // 2 :]
        return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)
    a, b = x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


def run(layer: Layer, arrays: dict[str, Any], bug: str = "", fill: float = -1e9) -> dict[str, Any]:
    """Return what a program dumps: Q and K after rope, K and V repeated, S scaled and masked."""
    X = arrays["X"]
    tokens = len(X)

    def parted(name: str, heads: int) -> Any:
        flat = X @ arrays[f"{name}_proj.weight"].T
        if bug == "split":
            return flat.reshape(heads, tokens, layer.width)
        return flat.reshape(tokens, heads, layer.width).swapaxes(0, 1)

    Q = parted("q", layer.heads)
    K, V = (parted(name, layer.groups) for name in "kv")
    if layer.has_rope:
        how: dict[str, Any] = {"sign": -1.0 if bug == "sign" else 1.0}
        how["pairing"] = "interleaved" if bug == "pairing" else "halves"
        base = layer.base if bug != "base" else 500_000.0
        Q, K = (rotated(each, base, **how) for each in (Q, K))
    times = layer.heads // layer.groups
    if bug == "tiled":
        K, V = (np.tile(each, (times, 1, 1)) for each in (K, V))
    else:
        K, V = (np.repeat(each, times, axis=0) for each in (K, V))
    S = Q @ K.swapaxes(1, 2) / (1.0 if bug == "unscaled" else np.sqrt(layer.width))
    allowed = np.tri(tokens, dtype=bool) if layer.is_causal else np.ones((tokens, tokens), bool)
    if layer.window:
        allowed &= ~np.tri(tokens, k=-layer.window, dtype=bool)
    if bug == "inverted":
        allowed = ~allowed
    if bug != "unmasked":
        S = np.where(allowed, S, fill)
    axis = 1 if bug == "columns" else 2
    powers = np.exp(S - S.max(axis=axis, keepdims=True))
    A = powers / powers.sum(axis=axis, keepdims=True)
    H = A @ V
    joined = (H if bug == "merge" else H.swapaxes(0, 1)).reshape(tokens, -1)
    return {"Q": Q, "K": K, "V": V, "S": S, "A": A, "O": joined @ arrays["o_proj.weight"].T}
