"""Problems that need no query, since one is to be designed: a placeholder replaces it."""

from typing import Any

import numpy as np

from attncalc.base.errors import InputError
from attncalc.problem.attention.declared import DOT
from attncalc.problem.field import IMAGE, LAYERS, plain
from attncalc.problem.fields import ALONE, GIVEN, MASKS, NESTED, SETTINGS

ANY_QUERY = object()
"""The value of Q that replaces every query of a problem by zeros."""
OF_LAYERS = (
    *(name for name, each in (GIVEN | SETTINGS).items() if each.kind in (LAYERS, IMAGE)),
    *NESTED,
)
OF_QUERIES = ("Q", "W_Q", "b_Q", "X1", "P1")


def with_any_query(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with queries of zeros."""
    of_layers = [name for name in OF_LAYERS if fields.get(name) is not None]
    if of_layers and fields.get("block") != ALONE:
        raise InputError(f"a query is designed for an attention alone: leave out {of_layers[0]}")
    for name in ("S", "A"):
        if fields.get(name) is not None:
            raise InputError(f"a query is designed for keys and values: leave out {name}")
    if plain(fields.get("score") or DOT) != DOT:
        raise InputError("a query is designed for its dot products with keys: leave out score")
    for name in MASKS:
        if fields.get(name) is not None:
            raise InputError(f"a designed query sees every key: leave out {name}")
    kept = {name: value for name, value in fields.items() if name not in OF_QUERIES}
    by_columns = str(fields.get("layout")).strip().lower() == "columns"
    *heads, width = _heads_and_width(fields, by_columns=by_columns)
    labels = fields.get("labels")
    if isinstance(labels, dict):
        labels = {name: names for name, names in labels.items() if name not in OF_QUERIES}
    zeros = np.zeros((*heads, *((width, 1) if by_columns else (1, width))))
    return kept | {"Q": zeros, "labels": labels or None}


def _heads_and_width(fields: dict[str, Any], *, by_columns: bool) -> tuple[int, ...]:
    """Return the width of the query, after the number of its heads if they are listed.

    It is the width of the keys; with several heads, that of the given queries, since it determines
    the number of heads of the keys.
    """
    several = fields.get("heads") is not None
    names = [name for name in ("Q", "W_Q", "K", "W_K") if fields.get(name) is not None]
    several = several or any(np.ndim(fields[name]) == 3 for name in names)
    if not several:
        names = [name for name in names if name in ("K", "W_K")]
    if not names:
        return (1,)
    (name, *_), weights = names, ("W_Q", "W_K")
    shape = np.shape(fields[name])
    torch = str(fields.get("weights_layout")).lower() == "torch"
    out_in = by_columns or (name in weights and torch)
    if len(shape) < 2:
        return (1,) if out_in or not shape else shape
    heads = shape[:-2] if name in ("Q", "W_Q") else ()
    return (*heads, int(shape[-2] if out_in else shape[-1]))
