"""Problems that need no query, for one is to be designed: any stands in for it."""

from typing import Any

import numpy as np

from attncalc.errors import InputError
from attncalc.problem.attention.fields import DOT
from attncalc.problem.field import IMAGE, LAYERS, plain
from attncalc.problem.fields import GIVEN, MASKS, NESTED, SETTINGS
from attncalc.problem.layers.fields import ATTENTION

ANY_QUERY = object()
"""In place of Q: whatever query a problem has is taken out, and one of zeros stands there."""
OF_LAYERS = (
    *(name for name, each in (GIVEN | SETTINGS).items() if each.kind in (LAYERS, IMAGE)),
    *NESTED,
)
OF_QUERIES = ("Q", "W_Q", "b_Q", "X1", "P1")


def with_any_query(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with a query of zeros in place of those that they have.

    Raises
    ------
    InputError
        When there are masks, whose rows are queries, fields of layers, or scores that are no dot
        products of queries and keys.
    """
    of_layers = [name for name in OF_LAYERS if fields.get(name) is not None]
    if of_layers and fields.get("block") != ATTENTION:
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
    width = _width(fields, by_columns=by_columns)
    labels = fields.get("labels")
    if isinstance(labels, dict):
        labels = {name: names for name, names in labels.items() if name not in OF_QUERIES}
    zeros = np.zeros((width, 1) if by_columns else (1, width))
    return kept | {"Q": zeros, "labels": labels or None}


def _width(fields: dict[str, Any], *, by_columns: bool) -> int:
    """Return how wide keys are."""
    name = "K" if fields.get("K") is not None else "W_K"
    shape: tuple[int, ...] = np.shape(fields[name]) if fields.get(name) is not None else ()
    out_in = by_columns or (name == "W_K" and str(fields.get("weights_layout")).lower() == "torch")
    if len(shape) < 2:
        return shape[-1] if shape and not out_in else 1
    return int(shape[-2] if out_in else shape[-1])
