"""Attention as a part of a calculation: alone, or for tokens from other parts."""

from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc.base.errors import AttncalcError, InputError
from attncalc.base.text import distinct_names
from attncalc.problem.attention.attention import Attention
from attncalc.problem.attention.shapes import check_shapes
from attncalc.problem.attention.steps import TITLES, attention_steps
from attncalc.problem.calculation import Built, Part, Placed, Stream, Streams
from attncalc.problem.fields import TOKENS

if TYPE_CHECKING:
    from attncalc.base.types import Matrix

GIVEN = ("W_Q", "W_K", "W_V", "Q", "K", "V", "W_S", "W_Sq", "W_Sk", "v_S", "S", "A")
"""Fields that imply an attention."""
_NOT_HERE = ("X", "X1", "X2", "X3", "P", "P1", "P2", "P3")


def is_there(fields: Attention) -> bool:
    """Return whether fields are those of an attention."""
    return bool(fields.those_given(*GIVEN))


def _built(placed: Placed, streams: Streams) -> Built:
    """Return an attention that is the entire calculation, or one of the tokens it reads."""
    if not placed.reads:
        check_shapes(placed.fields)
        steps = tuple(attention_steps(placed.fields))
        named = {"A": placed.gives} if placed.gives else {}
        return Built(steps, names=named, attention=copy(placed.fields))
    read = [streams[name] for name in placed.reads]
    try:
        if placed.fields.start:
            raise InputError(
                f"{placed.fields.start} is given, but a layer computes it from its tokens: "
                "only attention takes it"
            )
        attention = _of_tokens(placed.fields, read)
        check_shapes(attention)
    except AttncalcError as error:
        raise placed.fault(type(error), str(error)) from None
    named = dict(zip(_sources(read), placed.reads, strict=True))
    if placed.gives:
        named["O"] = placed.gives
    steps = tuple(attention_steps(attention))
    name = named.get("O", placed.named("O"))
    out = Stream(name, attention.n, attention.d_out, attention.queries)
    return Built(steps, out, named, placed.prefix, attention)


def _sources(read: list[Stream]) -> tuple[str, ...]:
    return ("X",) if len(read) == 1 else ("X1", "X2", "X3")[: len(read)]


def _of_tokens(fields: Any, read: list[Stream]) -> Attention:
    """Return an attention with the tokens that it reads, of which only their size is known."""
    from attncalc.problem.scope import changed  # here, for a scope is an attention

    tokens: dict[str, Matrix | None] = dict.fromkeys(_NOT_HERE)
    if not (fields.Q is not None and fields.K is not None and fields.V is not None):
        for name, stream in zip(_sources(read), read, strict=True):
            shape = fields.standing.pair(stream.tokens, stream.width)
            tokens[name] = np.broadcast_to(np.zeros(()), shape)
    rotated = "rope" if fields.positions == "rope" else "none"
    made = changed(fields, **tokens, positions=rotated)
    asking, answering = read[0].labels, read[-1].labels
    keys = _with_earlier(made.n_past, answering)
    # given queries and keys may be others than the tokens
    if len(asking) == made.n:
        made.__dict__["queries"] = asking
    if len(keys) == made.m:
        made.__dict__["keys"] = keys
    return made


def _with_earlier(count: int, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of keys after earlier ones without names."""
    if not count:
        return labels
    earlier = tuple(str(number) for number in range(1, count + 1))
    if all(label.isdigit() for label in labels):
        labels = tuple(str(count + place) for place in range(1, len(labels) + 1))
    return distinct_names([*earlier, *labels])


def _settings(placed: Placed) -> Iterator[str]:
    fields, alone = placed.fields, not placed.reads
    yield from ("heads", "scale", "causal", "score", "window", "alibi", "softcap")
    # if positions do not matter, pages state that the alignment has no effect
    yield from ("qk_norm", "normalizer", "causal_alignment")
    if fields.has_values:
        yield "combine"
    if fields.qk_norm != "none":
        yield "eps" if fields.qk_eps is None else "qk_eps"
    if fields.rel_bias is not None:
        yield from ("rel_max_distance", "rel_bidirectional")
    if alone and fields.positions == "sinusoidal" and any(name in TOKENS for name in fields.names):
        yield from ("positions", "positions_base")
    if fields.positions == "rope":
        yield from ("positions", "rope_offset", "rope_query_offset", "rope_pairing", "rope_dims")
        yield from ("rope_scaling", "rope_factor")
        if fields.rope_frequencies is None:
            yield "rope_base"


ATTENTION = Part("attention", _built, TITLES, settings=_settings)
