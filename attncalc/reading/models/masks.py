"""Masks under the names of frameworks, each with its meaning there."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attncalc.base.types import Matrix

MASK_NAMES = ("attn_mask", "key_padding_mask", "attention_mask", "is_causal")
_SAYS = {"keep": "1 may attend", "ignore": "1 may not attend", "bias": "added to the scores"}


def mask_fields(
    arrays: Mapping[str, Matrix],
    fields: Mapping[str, Any],
    of_true: str | None,
    tell: Callable[[str], None],
    remarks: list[str],
) -> dict[str, Any]:
    """Return the masks of a file as `keep`, `ignore`, `bias` and `causal`.

    fields: the fields read so far.
    of_true: the meaning of a true entry of `attn_mask`: "ignore" in `MultiheadAttention`, "keep" in
        `scaled_dot_product_attention`; None if it is unknown.
    remarks: the list of remarks on how each mask was read.
    """
    found: dict[str, Any] = {}
    meanings = {"attn_mask": of_true, "key_padding_mask": "ignore", "attention_mask": "keep"}
    for name, meaning in meanings.items():
        if name not in arrays:
            continue
        mask = _flat(name, arrays[name], tell)
        if mask is None:
            continue
        is_marks = mask.dtype.kind in "biu"
        role = meaning if is_marks else "bias"
        if role is None:
            tell(
                f"{name} of true and false: MultiheadAttention forbids where it is true, "
                "scaled_dot_product_attention allows: name it ignore, or keep"
            )
            continue
        remarks.append(f"{name} is taken for {role}: {_SAYS[role]}")
        if role in fields:
            tell(f"{name} is {role}, which is given twice")
        else:
            found[role] = mask if role not in found else _together(role, found[role], mask)
    if "is_causal" in arrays and "causal" not in fields:
        given = arrays["is_causal"]
        if given.size != 1 or given.reshape(-1)[0] not in (0, 1):
            tell("is_causal takes true or false")
        else:
            found["causal"] = bool(given.reshape(-1)[0])
            remarks.append("is_causal is taken for causal")
    return found


def _together(role: str, one: Matrix, other: Matrix) -> Matrix:
    """Return the combination of two masks of one role."""
    if role == "bias":
        return one + other
    both = (one != 0, other != 0)
    joined: Matrix = np.logical_and(*both) if role == "keep" else np.logical_or(*both)
    return joined


def _flat(name: str, mask: Matrix, tell: Callable[[str], None]) -> Matrix | None:
    """Return a mask without a batch of one, and without an axis of equal heads."""
    given = mask.shape
    if mask.ndim == 4 and len(mask) == 1:
        mask = mask[0]
    if mask.ndim == 3 and len(mask) == 1:
        mask = mask[0]
    if mask.ndim == 1:
        mask = mask[np.newaxis]
    is_padding = name == "key_padding_mask" and mask.ndim == 2 and len(mask) > 1
    if mask.ndim > 3 or is_padding or not mask.ndim:
        size = " × ".join(map(str, given)) or "one number"
        tell(f"{name} is {size}: a batch of one is read, and no more: give one of it")
        return None
    return mask
