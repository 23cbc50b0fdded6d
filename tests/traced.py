"""Blocks of GPT-2 and Llama in plain PyTorch, with one mistake or in a right variant."""

import math
from typing import Any

torch: Any = __import__("torch")
nn, F = torch.nn, torch.nn.functional

OF_GPT2 = {
    # what goes wrong: the first step that differs, and the codes of which one names it
    "unscaled": ("S_scaled S_masked", ("scale-none",)),
    "scaled by d_k": ("S_scaled S_masked", ("scale-dk",)),
    "no mask": ("S_masked A", ("mask-forgotten",)),
    "mask off by one": ("S_masked", ("mask-shifted",)),
    "mask turned": ("S_masked", ("mask-turned",)),
    "softmax over queries": ("A", ("softmax-columns",)),
    "heads viewed": ("Q", ("heads-viewed",)),
    "heads merged by a view": ("C", ("heads-viewed",)),
    "V and K exchanged": ("S", ("q-v",)),
    "no bias": ("O", ("bias-forgotten",)),
    "post-norm": ("N_1", ("norm-place:post",)),
    "other GELU": ("G", ("activation-other",)),
    "eps": ("N_1", ("eps-",)),
    "variance by d - 1": ("N_1", ("variance-other-count",)),
    "no residual": ("R_1", ("residual-forgotten",)),
    "residual of the norm": ("R_1", ("residual-of-normalised",)),
    "one head": ("H", ()),
}
OF_LLAMA = {
    "unscaled": ("S_scaled S_masked", ("scale-none",)),
    "scaled by d_model": ("S_scaled S_masked", ("scale-sqrt-d-model",)),
    "no mask": ("S_masked A", ("mask-forgotten",)),
    "mask off by one": ("S_masked", ("mask-shifted",)),
    "softmax over queries": ("A", ("softmax-columns",)),
    "rope pairing": ("Q_rot", ("rope-pairing",)),
    "rope sign": ("Q_rot", ("rope-sign",)),
    "rope base": ("Q_rot", ("rope-base",)),
    "rope of keys only": ("Q_rot S", ("rope-",)),
    "no rope": ("S", ("rope-forgotten",)),
    "rope of queries late": ("Q_rot S", ("rope-offset",)),
    "rope of queries early": ("Q_rot S", ("rope-offset",)),
    "rope after padding": ("Q_rot S", ("rope-offset",)),
    "rope of V": ("H", ()),
    "heads tiled": ("S H", ("heads-tiled",)),
    "eps": ("N_1", ("eps-",)),
    "LayerNorm": ("N_1", ("norm-other:layer",)),
    "gain forgotten": ("N_2", ("gain-forgotten",)),
    "gate and up exchanged": ("G", ("gate-swapped",)),
    "no activation": ("G", ("activation-forgotten",)),
    "other activation": ("G", ("activation-other",)),
    "no residual": ("Y", ("residual-forgotten",)),
}
RIGHT_GPT2 = ("", "sdpa", "scale in Q", "baddbmm", "einsum", "by hand", "mask of -1e9", "nested")
RIGHT_LLAMA = ("", "sdpa", "einsum", "grouped", "scale in Q", "complex rope", "mask of -1e9")


def redrawn(module: Any, seed: int = 3) -> Any:
    """Return a module with random parameters, its gains around 1."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for each in module.parameters():
            each.copy_(torch.randn_like(each) * 0.4 + (each.ndim == 1))
    return module


def scored(Q: Any, K: Any, kind: str, scale: float) -> Any:
    """Return the scaled scores."""
    if kind == "scale in Q":
        return (Q * scale) @ K.transpose(-1, -2)
    if kind == "einsum":
        return torch.einsum("bhqd,bhkd->bhqk", Q, K) * scale
    if kind == "baddbmm":
        flat, count = [each.flatten(0, 1) for each in (Q, K)], Q.shape[-2]
        bias = torch.zeros(len(flat[0]), count, count)
        S = torch.baddbmm(bias, flat[0], flat[1].transpose(1, 2), beta=0, alpha=scale)
        return S.unflatten(0, Q.shape[:2])
    factor = {"unscaled": 1.0, "scaled by d_k": scale**2, "scaled by d_model": 0.25}
    return Q @ K.transpose(-1, -2) * factor.get(kind, scale)


def masked(S: Any, kind: str) -> Any:
    """Return the causal scores."""
    allowed = torch.tril(torch.ones_like(S[0, 0]), int(kind == "mask off by one")) > 0
    if kind == "no mask":
        return S
    fill = -1e9 if kind == "mask of -1e9" else -math.inf
    return S.masked_fill(~(allowed.T if kind == "mask turned" else allowed), fill)


def attended(Q: Any, K: Any, V: Any, kind: str, scale: float) -> Any:
    """Return the outputs of heads, (batch, heads, tokens, width), causal."""
    if kind == "sdpa":
        return F.scaled_dot_product_attention(Q, K, V, is_causal=True)
    S = masked(scored(Q, K, kind, scale), kind)
    if kind == "by hand":
        powers = (S - S.amax(-1, keepdim=True)).exp()
        A = powers / powers.sum(-1, keepdim=True)
    else:
        A = F.softmax(S, dim=-2 if kind == "softmax over queries" else -1)
    if kind == "one head":
        A = torch.cat([A[:, :1], A[:, 1:2].flip(-1), A[:, 2:]], 1)
    return torch.einsum("bhqk,bhkd->bhqd", A, V) if kind == "einsum" else A @ V


class Norm(nn.Module):
    """LayerNorm or RMSNorm with a mistake."""

    def __init__(self, width: int, eps: float, kind: str = "", *, rms: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = None if rms else nn.Parameter(torch.zeros(width))
        self.eps, self.kind, self.rms = eps, kind, rms

    def forward(self, x: Any) -> Any:  # noqa: D102 - as PyTorch names it
        eps = 1e-3 if self.kind == "eps" else self.eps
        if self.rms and self.kind != "LayerNorm":
            made = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
        else:
            ddof = int(self.kind == "variance by d - 1")
            variance = x.var(-1, keepdim=True, correction=ddof)
            made = (x - x.mean(-1, keepdim=True)) / torch.sqrt(variance + eps)
        made = made if self.kind == "gain forgotten" else made * self.weight
        return made if self.bias is None else made + self.bias


class Attention(nn.Module):
    """The attention of GPT-2."""

    def __init__(self, width: int, heads: int, kind: str) -> None:
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.n_head, self.kind = heads, kind

    def forward(self, x: Any) -> Any:  # noqa: D102 - as PyTorch names it
        batch, count, width = x.shape
        Q, K, V = self.c_attn(x).split(width, dim=-1)
        if self.kind == "V and K exchanged":
            K, V = V, K
        shape = (batch, count, self.n_head, width // self.n_head)
        if self.kind == "heads viewed":
            shape = (batch, self.n_head, count, width // self.n_head)
            Q, K, V = (each.reshape(shape) for each in (Q, K, V))
        else:
            Q, K, V = (each.view(shape).transpose(1, 2) for each in (Q, K, V))
        H = attended(Q, K, V, self.kind, shape[-1] ** -0.5)
        H = H if self.kind == "heads merged by a view" else H.transpose(1, 2)
        C = H.reshape(batch, count, width)
        return F.linear(C, self.c_proj.weight) if self.kind == "no bias" else self.c_proj(C)


class Mlp(nn.Module):
    """The feed-forward part of GPT-2."""

    def __init__(self, width: int, kind: str) -> None:
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.kind = kind

    def forward(self, x: Any) -> Any:  # noqa: D102 - as PyTorch names it
        by = "none" if self.kind == "other GELU" else "tanh"
        return self.c_proj(F.gelu(self.c_fc(x), approximate=by))


class Gpt2(nn.Module):
    """A block of GPT-2."""

    SAID = {"causal": True, "norm": "pre", "activation": "gelu-tanh", "eps": "1e-5"}

    def __init__(self, kind: str = "", width: int = 12, heads: int = 3) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = (Norm(width, 1e-5, kind) for _ in "12")
        self.attn, self.mlp, self.kind = Attention(width, heads, kind), Mlp(width, kind), kind

    def forward(self, x: Any) -> Any:  # noqa: D102 - as PyTorch names it
        if self.kind == "post-norm":
            x = self.ln_1(x + self.attn(x))
            return self.ln_2(x + self.mlp(x))
        read = self.ln_1(x)
        given = self.attn(read)
        if self.kind == "no residual":
            x = given
        else:
            x = (read if self.kind == "residual of the norm" else x) + given
        return x + self.mlp(self.ln_2(x))


def turned(x: Any, kind: str, *, of_key: bool) -> Any:
    """Return queries or keys turned by rope."""
    if kind == "no rope" or (kind == "rope of keys only" and not of_key):
        return x
    count, width = x.shape[-2:]
    shifts = {"rope of queries late": -1, "rope of queries early": 1, "rope after padding": 7}
    by = 0 if of_key else shifts.get(kind, 0)
    base = 500_000.0 if kind == "rope base" else 10_000.0
    angles = torch.outer(torch.arange(count) + by, base ** (-torch.arange(0, width, 2) / width))
    cos, sin = angles.cos(), angles.sin() * (-1 if kind == "rope sign" else 1)
    if kind == "complex rope":
        z = torch.complex(x[..., : width // 2], x[..., width // 2 :]) * torch.polar(
            torch.ones_like(angles), angles
        )
        return torch.cat([z.real, z.imag], -1)
    if kind == "rope pairing":
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


class GroupedAttention(nn.Module):
    """The attention of Llama: rope, and two heads of keys for four of queries."""

    def __init__(self, width: int, kind: str) -> None:
        super().__init__()
        self.q_proj, self.o_proj = (nn.Linear(width, width, bias=False) for _ in "qo")
        self.k_proj, self.v_proj = (nn.Linear(width, width // 2, bias=False) for _ in "kv")
        self.num_heads, self.num_key_value_heads, self.kind = 4, 2, kind

    def forward(self, x: Any) -> Any:  # noqa: D102 - as PyTorch names it
        batch, count, width = x.shape
        wide, kind = width // 4, self.kind
        Q, K, V = (
            each(x).view(batch, count, -1, wide).transpose(1, 2)
            for each in (self.q_proj, self.k_proj, self.v_proj)
        )
        Q, K = turned(Q, kind, of_key=False), turned(K, kind, of_key=True)
        if kind == "rope of V":
            V = turned(V, "", of_key=True)
        if kind == "grouped":
            wider = Q.unflatten(1, (2, 2)).flatten(0, 1)
            K, V = (each.flatten(0, 1)[:, None].expand(-1, 2, -1, -1) for each in (K, V))
            H = attended(wider, K, V, "", wide**-0.5).unflatten(0, (batch, 2)).flatten(1, 2)
        else:
            if kind == "heads tiled":
                K, V = (each.repeat(1, 2, 1, 1) for each in (K, V))
            else:
                K, V = (each.repeat_interleave(2, 1) for each in (K, V))
            H = attended(Q, K, V, kind, wide**-0.5)
        return self.o_proj(H.transpose(1, 2).reshape(batch, count, width))


class GatedMlp(nn.Module):
    """The feed-forward part of Llama."""

    def __init__(self, width: int, kind: str) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = (nn.Linear(width, 24, bias=False) for _ in "gu")
        self.down_proj, self.kind = nn.Linear(24, width, bias=False), kind

    def forward(self, x: Any) -> Any:  # noqa: D102 - as PyTorch names it
        gate, up = self.gate_proj(x), self.up_proj(x)
        if self.kind == "gate and up exchanged":
            gate, up = up, gate
        if self.kind != "no activation":
            gate = F.gelu(gate) if self.kind == "other activation" else F.silu(gate)
        return self.down_proj(gate * up)


class Llama(nn.Module):
    """A block of Llama."""

    SAID = {"causal": True, "norm": "pre", "activation": "silu", "eps": "1e-6", "positions": "rope"}

    def __init__(self, kind: str = "", width: int = 16) -> None:
        super().__init__()
        self.input_layernorm = Norm(width, 1e-6, kind if kind != "gain forgotten" else "", rms=True)
        self.post_attention_layernorm = Norm(width, 1e-6, kind, rms=True)
        self.self_attn, self.mlp = GroupedAttention(width, kind), GatedMlp(width, kind)
        self.kind = kind

    def forward(self, x: Any) -> Any:  # noqa: D102 - as PyTorch names it
        x = x + self.self_attn(self.input_layernorm(x))
        given = self.mlp(self.post_attention_layernorm(x))
        return given if self.kind == "no residual" else x + given
