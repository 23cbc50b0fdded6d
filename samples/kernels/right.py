"""Attention in NumPy, as a kernel that `attncalc conform` tests."""

import numpy as np


def attention(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """Return the outputs: all arrays are (batch, heads, tokens, width)."""
    scores = query @ key.swapaxes(-1, -2)
    scores = scores * (query.shape[-1] ** -0.5 if scale is None else scale)
    if attn_mask is not None and attn_mask.dtype == bool:
        scores = np.where(attn_mask, scores, -np.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(largest), largest, 0))
    sums = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(sums == 0, 1, sums)
    return (weights @ value).astype(query.dtype)
