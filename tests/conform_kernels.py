"""An attention kernel in numpy with one planted bug, and one over blocks of keys."""

import os
import time
from typing import Any

import numpy as np

CALLS = {"count": 0}


def attention_with(bug: str) -> Any:  # noqa: C901
    """Return a kernel with a bug; "" for none."""

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
    ) -> Any:
        dtype = query.dtype
        kind = dtype if bug == "low precision" or dtype == np.float64 else np.dtype(np.float32)
        if bug == "float16 inside" and dtype == np.float32:
            kind = np.dtype(np.float16)
        q, k, v = (each.astype(kind) for each in (query, key, value))
        batch, heads, n, width = q.shape
        m, groups = k.shape[2], heads // k.shape[1]
        if bug == "heads tiled":
            k, v = (np.tile(each, (1, groups, 1, 1)) for each in (k, v))
        else:
            k, v = (np.repeat(each, groups, axis=1) for each in (k, v))
        if bug == "first head":
            k, v = (np.repeat(each[:, :1], heads, axis=1) for each in (k, v))
        if bug == "swapped" and n == m:
            q, k = k, q
        if bug == "v shifted":
            v = np.roll(v, 1, axis=2)
        if bug == "q shifted":
            q = np.roll(q, 1, axis=2)
        if bug == "k for v" and v.shape == k.shape:
            v = k
        if bug == "batch first":
            q, k, v = (np.repeat(each[:1], batch, axis=0) for each in (q, k, v))
        if bug == "writes":
            query *= 0.5
        factor = width**-0.5 if scale is None or bug == "scale ignored" else scale
        factor = {"1/d": 1 / width, "no scale": 1.0, "twice": factor**2}.get(bug, factor)
        s = q @ k.swapaxes(-1, -2)
        if bug == "cap before scale" and softcap:
            s = softcap * np.tanh(s / softcap)
        if bug == "mask before scale" and attn_mask is not None and attn_mask.dtype != bool:
            s = s + attn_mask.astype(kind)
        s = s * kind.type(factor)
        if bug == "one head":
            s[:, -1] /= factor
        fill = -1e9 if "-1e9" in bug else -np.inf
        i, j = np.arange(n)[:, None] + (query_offset or 0), np.arange(m)
        if bug == "offset" and query_offset:
            i = i - 1
        if bug == "bottom-right" and query_offset is None:
            i = i + m - n

        def capped(s: Any) -> Any:
            if softcap is None or bug in ("no cap", "cap before scale"):
                return s
            if bug == "cap undivided":
                return softcap * np.tanh(s)
            if bug == "cap product":
                return s * np.tanh(s)
            if bug == "cap clipped":
                return np.clip(s, -softcap, softcap)
            return softcap * np.tanh(s / softcap)

        if bug != "cap after mask":
            s = capped(s)
        if alibi_slopes is not None and bug != "no alibi":
            sign = -1 if bug == "alibi sign" else 1
            s = s - sign * alibi_slopes.astype(kind)[:, None, None] * np.abs(i - j).astype(kind)
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
                s = np.where(mask, s, fill)
            elif bug != "mask before scale":
                s = s + mask.astype(kind)
        allowed = j < i if "strict" in bug else j <= i
        if bug == "loose":
            allowed = j <= i + 1
        if (is_causal and bug != "no causal") or bug == "always causal":
            s = s + allowed if bug == "causal added" else np.where(allowed, s, fill)
        if window is not None and bug != "no window":
            s = np.where((j > i - window - (bug == "window")) & (j <= i), s, fill)
        if bug == "last key" and m > 1:
            s[..., -1] = -np.inf
        if bug == "block" and m > 4 and m % 4:
            s[..., m // 4 * 4 :] = -np.inf
        if bug == "cap after mask":
            s = capped(s)
        axis = {"columns": -2, "softmax heads": 1}.get(bug, -1)
        top = s.max(axis, keepdims=True)
        if sinks is not None:
            extra = sinks.astype(kind)[:, None, None]
            top = np.maximum(top, extra)
        top = np.where(np.isfinite(top), top, 0)
        if bug == "no maximum":
            top = np.zeros_like(top)
        with np.errstate(all="ignore"):
            e = 2 ** (s - top) if bug == "base 2" else np.exp(s - top)
            total = e.sum(axis, keepdims=True)
            if sinks is not None and bug != "no sinks":
                total = total + np.exp(extra - top)
            if bug == "plus one":
                total = total + np.exp(-top)
            a = np.where(total > 0, e / total, 0)
        if bug == "random":
            CALLS["count"] += 1
            a = a * (1 + 1e-3 * CALLS["count"])
        if bug == "noise":
            a = a + np.random.default_rng(1).normal(size=a.shape).astype(kind) * 1e-3
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
