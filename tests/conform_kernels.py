"""An attention kernel in numpy with one planted bug, and one over blocks of keys."""

import os
import time
from typing import Any

import numpy as np

CALLS = {"count": 0}


def attention_with(bug: str, xp: Any = np) -> Any:  # noqa: C901
    """Return a kernel with a bug; "" for none. `xp` is numpy, or a module like it."""

    def attention(  # noqa: C901
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
        softcap: float | None = None,
        window: int | None = None,
        sinks: Any = None,
        alibi_slopes: Any = None,
        query_offset: int | None = None,
        rope_base: float | None = None,
        rope_pairing: str = "halves",
        rope_dims: int | None = None,
        qk_norm: str | None = None,
        q_gain: Any = None,
        k_gain: Any = None,
    ) -> Any:
        dtype = query.dtype
        kind = dtype if bug == "low precision" or dtype == xp.float64 else xp.dtype(xp.float32)
        if bug == "float16 inside" and dtype == xp.float32:
            kind = xp.dtype(xp.float16)
        q, k, v = (each.astype(kind) for each in (query, key, value))
        batch, heads, n, width = q.shape
        m, groups = k.shape[2], heads // k.shape[1]
        if bug == "heads tiled":
            k, v = (xp.tile(each, (1, groups, 1, 1)) for each in (k, v))
        else:
            k, v = (xp.repeat(each, groups, axis=1) for each in (k, v))
        if bug == "first head":
            k, v = (xp.repeat(each[:, :1], heads, axis=1) for each in (k, v))
        if bug == "swapped" and n == m:
            q, k = k, q
        if bug == "v shifted":
            v = xp.roll(v, 1, axis=2)
        if bug == "q shifted":
            q = xp.roll(q, 1, axis=2)
        if bug == "k for v" and v.shape == k.shape:
            v = k
        if bug == "batch first":
            q, k, v = (xp.repeat(each[:1], batch, axis=0) for each in (q, k, v))
        if bug == "writes":
            query *= 0.5

        def normed(x: Any, gain: Any) -> Any:
            axes = (1, -1) if bug == "norm heads" else -1
            if bug == "norm layer":
                x = x - x.mean(-1, keepdims=True)
            eps = {"norm eps": 1e-5, "norm eps 0": 0}.get(bug, 1e-6)
            if bug == "norm eps outside":
                x = x / (xp.sqrt((x * x).mean(axes, keepdims=True)) + kind.type(eps))
            else:
                x = x / xp.sqrt((x * x).mean(axes, keepdims=True) + kind.type(eps))
            if gain is None or bug == "norm gain":
                return x
            return x * (gain + (bug == "norm one plus")).astype(kind)

        def turned(x: Any, first: int) -> Any:
            dims = width if rope_dims is None or bug == "rope partial" else rope_dims
            by = width if bug == "rope width" else dims
            exponent = xp.arange(dims // 2) * (1 if bug == "rope exponent" else 2) / by
            base = 10000.0 if bug == "rope base" else rope_base
            angle = xp.arange(first, first + x.shape[2])[:, None] * base**-exponent
            angle = -angle if bug == "rope direction" else angle
            cos, sin = xp.cos(angle).astype(kind), xp.sin(angle).astype(kind)
            out, halves = x.copy(), (rope_pairing == "halves") != (bug == "rope pairing")
            one = slice(0, dims // 2) if halves else slice(0, dims, 2)
            two = slice(dims // 2, dims) if halves else slice(1, dims, 2)
            out[..., one] = x[..., one] * cos - x[..., two] * sin
            out[..., two] = x[..., two] * cos + x[..., one] * sin
            return out

        gains = (k_gain, q_gain) if bug == "norm swapped" else (q_gain, k_gain)
        if qk_norm is not None and bug not in ("no norm", "norm after rope"):
            q = q if bug == "norm keys only" else normed(q, gains[0])
            k = normed(k, gains[1])
        if rope_base is not None and bug != "no rope":
            start = (query_offset or 0) + (bug == "rope position")
            q = turned(q, start)
            k = k if bug == "rope queries only" else turned(k, 0)
            if bug == "rope values":
                v = turned(v, 0)
        if qk_norm is not None and bug == "norm after rope":
            q, k = normed(q, q_gain), normed(k, k_gain)
        factor = width**-0.5 if scale is None or bug == "scale ignored" else scale
        factor = {"1/d": 1 / width, "no scale": 1.0, "twice": factor**2}.get(bug, factor)
        s = q @ k.swapaxes(-1, -2)
        if bug == "cap before scale" and softcap:
            s = softcap * xp.tanh(s / softcap)
        if bug == "mask before scale" and attn_mask is not None and attn_mask.dtype != bool:
            s = s + attn_mask.astype(kind)
        s = s * kind.type(factor)
        if bug == "one head":
            s[:, -1] /= factor
        fill = -1e9 if "-1e9" in bug else -xp.inf
        i, j = xp.arange(n)[:, None] + (query_offset or 0), xp.arange(m)
        if bug == "offset" and query_offset:
            i = i - 1
        if bug == "bottom-right" and query_offset is None:
            i = i + m - n

        def capped(s: Any) -> Any:
            if softcap is None or bug in ("no cap", "cap before scale"):
                return s
            if bug == "cap undivided":
                return softcap * xp.tanh(s)
            if bug == "cap product":
                return s * xp.tanh(s)
            if bug == "cap clipped":
                return xp.clip(s, -softcap, softcap)
            return softcap * xp.tanh(s / softcap)

        if bug not in ("cap after mask", "cap after alibi"):
            s = capped(s)
        if alibi_slopes is not None and bug != "no alibi":
            sign = -1 if bug == "alibi sign" else 1
            far = xp.abs(i - j)
            if bug in ("alibi one side", "alibi signed"):
                far = xp.maximum(i - j, 0) if bug == "alibi one side" else i - j
            s = s - sign * alibi_slopes.astype(kind)[:, None, None] * far.astype(kind)
        if bug == "cap after alibi":
            s = capped(s)
        if attn_mask is not None and not (is_causal and bug == "one mask"):
            mask = attn_mask
            if bug == "mask side":
                mask = mask[..., ::-1]
            if bug == "mask of batch" and mask.ndim == 4:
                mask = mask[:1]
            if bug == "mask of head" and mask.ndim == 4:
                mask = mask[:, :1]
            if bug == "mask inverted" and mask.dtype == bool:
                mask = ~mask
            if bug == "no mask":
                pass
            elif mask.dtype == bool and bug == "mask added":
                s = s + mask.astype(kind)
            elif mask.dtype == bool:
                s = xp.where(mask, s, fill)
            elif bug != "mask before scale":
                s = s + mask.astype(kind)
        allowed = j < i if "strict" in bug else j <= i
        if bug == "loose":
            allowed = j <= i + 1
        if (is_causal and bug != "no causal") or bug == "always causal":
            s = s + allowed if bug == "causal added" else xp.where(allowed, s, fill)
        if window is not None and bug != "no window":
            s = xp.where((j > i - window - (bug == "window")) & (j <= i), s, fill)
        if bug == "last key" and m > 1:
            s[..., -1] = -xp.inf
        if bug == "block" and m > 4 and m % 4:
            s[..., m // 4 * 4 :] = -xp.inf
        if bug == "cap after mask":
            s = capped(s)
        axis = {"columns": -2, "softmax heads": 1}.get(bug, -1)
        top = s.max(axis, keepdims=True)
        if sinks is not None:
            extra = sinks.astype(kind)[:, None, None] * (factor if bug == "sinks scaled" else 1)
            top = top if bug in ("sinks raw", "sinks unshifted") else xp.maximum(top, extra)
        top = xp.where(xp.isfinite(top), top, 0)
        if bug == "no maximum":
            top = xp.zeros_like(top)
        with np.errstate(all="ignore"):
            e = 2 ** (s - top) if bug == "base 2" else xp.exp(s - top)
            total = e.sum(axis, keepdims=True)
            if sinks is not None and bug != "no sinks":
                raw = {"sinks raw": extra, "sinks unshifted": xp.exp(extra)}
                total = total + raw.get(bug, xp.exp(extra - top))
            if bug == "plus one":
                total = total + xp.exp(-top)
            a = xp.where(total > 0, e / total, 0)
        if bug == "random":
            CALLS["count"] += 1
            a = a * (1 + 1e-3 * CALLS["count"])
        if bug == "noise":
            a = a + xp.asarray(np.random.default_rng(1).normal(size=a.shape)).astype(kind) * 1e-3
        if bug == "typo":
            a = a.copy()
            a[..., 0] *= kind.type(1.1)
        if bug == "crash":
            os.abort()
        if bug == "hang":
            time.sleep(3600)
        if bug == "shape":
            return (a @ v).swapaxes(1, 2).astype(dtype)
        return (a @ v).astype(dtype)

    return attention


def blocked(
    query: Any, key: Any, value: Any, is_causal: bool = False, scale: float | None = None
) -> Any:
    """Attention over blocks of keys with a running maximum, as FlashAttention computes it."""
    dtype = query.dtype
    q, k, v = (
        each.astype(np.promote_types(each.dtype, np.float32)) for each in (query, key, value)
    )
    factor = q.dtype.type(q.shape[-1] ** -0.5 if scale is None else scale)
    groups = q.shape[1] // k.shape[1]
    k, v = (np.repeat(each, groups, axis=1) for each in (k, v))
    top = np.full((*q.shape[:3], 1), -np.inf, q.dtype)
    total = np.zeros_like(top)
    out = np.zeros((*q.shape[:3], v.shape[-1]), q.dtype)
    for start in range(0, k.shape[2], 16):
        part = slice(start, start + 16)
        s = q @ k[:, :, part].swapaxes(-1, -2) * factor
        if is_causal:
            i, j = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[part]
            s = np.where(j <= i, s, -np.inf)
        new = np.maximum(top, s.max(axis=-1, keepdims=True))
        safe = np.where(np.isfinite(new), new, 0)
        e = np.exp(s - safe)
        shrink = np.exp(top - safe)
        out = out * shrink + e @ v[:, :, part]
        total = total * shrink + e.sum(axis=-1, keepdims=True)
        top = new
    return (out / total).astype(dtype)


def in_torch(bug: str) -> Any:
    """Return the kernel with a bug for tensors: the same lines in the numpy of torch."""
    import torch._numpy as numbers
    from torch import Tensor

    kernel = attention_with(bug, numbers)

    def attention(*arrays: Any, **named: Any) -> Any:
        if "bfloat16" in str(arrays[0].dtype):
            raise NotImplementedError("the numpy of torch has no bfloat16")
        tensors = {n: numbers.asarray(x) if isinstance(x, Tensor) else x for n, x in named.items()}
        return kernel(*map(numbers.asarray, arrays), **tensors).tensor

    return attention


RIGHT_WAYS = (
    *("einsum", "loops over heads", "scaled queries", "scale in both", "float64 inside"),
    *("powers of two", "log-sum-exp", "late division", "transposed scores", "grouped heads"),
    *("finite fill", "additive mask", "two passes", "one key at a time", "blocks of queries"),
    *("keys in reverse order", "sorted sums"),
)


def right_way(way: str) -> Any:  # noqa: C901
    """Return a right kernel that computes attention in its own way."""

    def attention(  # noqa: C901
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Any:
        kind = np.promote_types(query.dtype, np.float32)
        kind = np.dtype(np.float64) if way == "float64 inside" else kind
        q, k, v = (each.astype(kind) for each in (query, key, value))
        (batch, heads, n, width), m = q.shape, k.shape[2]
        groups = heads // k.shape[1]
        factor = kind.type(width**-0.5 if scale is None else scale)
        if way != "grouped heads":
            k, v = (np.repeat(each, groups, axis=1) for each in (k, v))
        allowed = np.ones((batch, heads, n, m), bool)
        bias = np.zeros((batch, heads, n, m), kind)
        if attn_mask is not None and attn_mask.dtype == bool:
            allowed &= attn_mask
        elif attn_mask is not None:
            bias = bias + attn_mask.astype(kind)
        if is_causal:
            allowed &= np.arange(m) <= np.arange(n)[:, None]
        if way == "keys in reverse order":
            k, v, allowed, bias = k[:, :, ::-1], v[:, :, ::-1], allowed[..., ::-1], bias[..., ::-1]
        if way == "blocks of queries":
            parts = [slice(start, start + 3) for start in range(0, n, 3)]
            found = [
                softmax(q[:, :, p] @ k.swapaxes(2, 3) * factor + bias[:, :, p], allowed[:, :, p])
                @ v
                for p in parts
            ]
            return np.concatenate(found, axis=2).astype(query.dtype)
        if way == "einsum":
            s = np.einsum("bhid,bhjd->bhij", q, k) * factor
        elif way == "loops over heads":
            s = np.empty((batch, heads, n, m), kind)
            for b, h in np.ndindex(batch, heads):
                s[b, h] = q[b, h] @ k[b, h].T * factor
        elif way == "scaled queries":
            s = (q * factor) @ k.swapaxes(2, 3)
        elif way == "scale in both" and factor > 0:
            s = (q * np.sqrt(factor)) @ (k * np.sqrt(factor)).swapaxes(2, 3)
        elif way == "transposed scores":
            s = (k @ q.swapaxes(2, 3) * factor).swapaxes(2, 3)
        elif way == "grouped heads":
            grouped = q.reshape(batch, heads // groups, groups, n, width)
            s = (grouped @ k[:, :, None].swapaxes(3, 4) * factor).reshape(batch, heads, n, m)
        elif way == "sorted sums":
            products = np.sort(q[:, :, :, None] * k[:, :, None], axis=-1)
            s = products.sum(-1) * factor
        else:
            s = q @ k.swapaxes(2, 3) * factor
        s = s + bias
        if way == "additive mask":
            s = s + np.where(allowed, 0, -np.inf).astype(kind)
            allowed = np.isfinite(s)
        if way == "one key at a time":
            return one_at_a_time(s, allowed, v).astype(query.dtype)
        if way == "late division":
            e, total = exponentials(s, allowed)
            return ((e @ v) / np.where(total == 0, 1, total)).astype(query.dtype)
        if way == "grouped heads":
            a = softmax(s, allowed).reshape(batch, heads // groups, groups, n, m)
            return (a @ v[:, :, None]).reshape(batch, heads, n, -1).astype(query.dtype)
        return (softmax(s, allowed, way) @ v).astype(query.dtype)

    return attention


def exponentials(s: Any, allowed: Any) -> tuple[Any, Any]:
    """Return e to each score less the largest of its row, and their sums."""
    masked = np.where(allowed, s, -np.inf)
    top = masked.max(-1, keepdims=True)
    e = np.exp(masked - np.where(np.isfinite(top), top, 0))
    return e, e.sum(-1, keepdims=True)


def softmax(s: Any, allowed: Any, way: str = "") -> Any:
    """Return the weights of scores; rows without a key are 0."""
    masked = np.where(allowed, s, -np.inf)
    top = masked.max(-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    if way == "powers of two":
        e = np.exp2((masked - top) * s.dtype.type(np.log2(np.e)))
    elif way == "finite fill":
        lowest = np.finfo(s.dtype).min
        e = np.exp(np.where(allowed, s, lowest) - top) * allowed
    else:
        e = np.exp(masked - top)
    if way == "two passes":
        half = e.shape[-1] // 2
        total = e[..., :half].sum(-1, keepdims=True) + e[..., half:].sum(-1, keepdims=True)
    else:
        total = e.sum(-1, keepdims=True)
    if way == "log-sum-exp":
        with np.errstate(divide="ignore"):
            whole = top + np.log(total)
        return np.where(np.isfinite(whole), np.exp(masked - np.maximum(whole, -1e30)), 0)
    return e / np.where(total == 0, 1, total)


def one_at_a_time(s: Any, allowed: Any, v: Any) -> Any:
    """Return the outputs, with a running maximum over single keys."""
    top = np.full((*s.shape[:3], 1), -np.inf, s.dtype)
    total = np.zeros_like(top)
    out = np.zeros((*s.shape[:3], v.shape[-1]), s.dtype)
    for j in range(s.shape[-1]):
        own = np.where(allowed[..., j : j + 1], s[..., j : j + 1], -np.inf)
        new = np.maximum(top, own)
        safe = np.where(np.isfinite(new), new, 0)
        shrink, e = np.exp(top - safe), np.exp(own - safe)
        out, total, top = out * shrink + e * v[:, :, j : j + 1], total * shrink + e, new
    return out / np.where(total == 0, 1, total)
