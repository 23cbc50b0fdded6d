"""Embeddings as parts: rows of a table named by ids, a class token, types and positions.

Devlin et al., *BERT* (2019), section 3: tokens, positions and types are added, then normalized.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.base.errors import InputError, ShapeError
from attncalc.base.typed import as_written
from attncalc.equations.operations.angles import Sinusoids
from attncalc.equations.operations.assembling import Add, Lookup, Stack
from attncalc.problem.attention.attention import size_of
from attncalc.problem.calculation import Built, Part, Placed, Stream, Streams
from attncalc.problem.step import Step

LOOKED_UP = "rows of the table"
TITLES = {
    "X_cls": "tokens behind the class token",
    "T": "types",
    "X_type": "tokens with their types",
}


def _embedded(placed: Placed, streams: Streams) -> Built:
    """Return the rows of W_E that ids name."""
    fields = placed.fields
    _check_ids(placed, "ids", "W_E", fields.first_id)
    step = Step(placed.gives, LOOKED_UP, Lookup(fields.first_id), ("ids", "W_E"))
    count, labels = fields.ids.size, fields.queries
    width = fields.width_of("W_E")
    return Built((step,), Stream(step.name, count, width, labels[-count:]))


def _check_ids(placed: Placed, ids: str, table: str, first: int) -> None:
    """Refuse ids that are no list of whole numbers, or that name no row of their table."""
    fields = placed.fields
    placed.check_given(table, ids)
    placed.check_given(ids, table)
    given, rows = getattr(fields, ids), getattr(fields, table)
    if given.ndim != 2 or min(given.shape) != 1:
        raise placed.fault(ShapeError, f"{ids} is {size_of(given)}: it takes a list of ids")
    if rows.ndim != 2:
        raise placed.fault(ShapeError, f"{table} is {size_of(rows)}: a table is one matrix")
    last = first + fields.standing.upright(table, rows).shape[0] - 1
    flat = np.ravel(given)
    wrong = (flat != np.floor(flat)) | (flat < first) | (flat > last)
    if wrong.any():
        at = int(np.argmax(wrong))
        name = "ids" if ids == "ids" else "types"
        raise placed.fault(
            InputError,
            f"{ids}, entry {at + 1}: {flat[at]:.12g}, and the {name} of {table}, which is "
            f"{size_of(rows)}, are the whole numbers from {first} to {last}",
        )


def _with_class(placed: Placed, streams: Streams) -> Built:
    """Return the class token, and below it the others."""
    (name,) = placed.reads
    tokens, fields = streams[name], placed.fields
    placed.check_features("class_token", tokens)
    step = Step(placed.gives, TITLES["X_cls"], Stack(), ("class_token", name))
    out = tokens._replace(name=step.name, tokens=tokens.tokens + 1, labels=fields.queries)
    return Built((step,), out)


def _with_types(placed: Placed, streams: Streams) -> Built:
    """Return tokens with the rows of W_type that their types name added."""
    (name,) = placed.reads
    tokens, fields = streams[name], placed.fields
    _check_ids(placed, "type_ids", "W_type", 0)
    count, width = fields.type_ids.size, fields.width_of("W_type")
    if (count, width) != (tokens.tokens, tokens.width):
        raise placed.fault(
            ShapeError,
            f"{tokens.name} is {placed.size((tokens.tokens, tokens.width))}, and the types of "
            f"type_ids in W_type are {placed.size((count, width))}: matrices that are added need "
            "the same shape",
        )
    types = Step("T", TITLES["T"], Lookup(), ("type_ids", "W_type"))
    step = Step(placed.gives, TITLES["X_type"], Add(), (name, "T"))
    return Built((types, step), tokens._replace(name=step.name))


EMBEDDING = Part(
    "embedding",
    _embedded,
    {},
    lambda fields: [f"token ids count from {fields.first_id}: that is the first of W_E (first_id)"],
    lambda placed: ["first_id"],
)
CLASS_TOKEN = Part("class token", _with_class, TITLES, lambda fields: ["a class token comes first"])
TYPES = Part("types", _with_types, {})


def positions_of(tokens: str) -> str:
    """Return what the positions of tokens are called.

    >>> positions_of("X1"), positions_of("X_cls"), positions_of("patches")
    ('P1', 'P', 'P')
    """
    return f"P{tokens[1:].partition('_')[0]}" if tokens.startswith("X") else "P"


def has_positions(fields: object, tokens: str) -> bool:
    """Return whether positions are added to these tokens."""
    given = getattr(fields, positions_of(tokens))
    return given is not None or getattr(fields, "positions", "") == "sinusoidal"


def base_of(fields: Any) -> str:
    """Return the base of sinusoids as text, if it is not the default."""
    base = fields.positions_base
    return "" if base == Sinusoids.base else f", base {as_written(Fraction(base))}"


def _positioned(placed: Placed, streams: Streams) -> Built:
    (name,) = placed.reads
    tokens, P = streams[name], positions_of(name)
    given = getattr(placed.fields, P)
    steps = []
    if given is None:
        # after those of the cache
        places = Sinusoids(int(placed.number or 0), Fraction(placed.fields.positions_base))
        steps.append(Step(P, "positions", places, (name,)))
    elif placed.fields.positions == "sinusoidal":
        said = f"{P} is given, and positions are sinusoidal: give one of them"
        raise placed.fault(ShapeError, said)
    elif given.shape != placed.fields.standing.pair(tokens.tokens, tokens.width):
        size = placed.size((tokens.tokens, tokens.width))
        said = f"{P} is {size_of(given)} and {name} is {size}: positions need the shape of their"
        raise placed.fault(ShapeError, f"{said} tokens")
    gives = placed.gives or f"{name}_P"
    step = Step(gives, "tokens at their places", Add(), (name, P))
    return Built((*steps, step), tokens._replace(name=step.name))


def _said(fields: Any) -> Iterator[str]:
    if fields.positions == "sinusoidal":
        yield f"sinusoidal positions added to the tokens before all layers{base_of(fields)}"


def _settings(placed: Placed) -> Iterator[str]:
    if placed.fields.positions == "sinusoidal":
        yield from ("positions", "positions_base")


POSITIONS = Part("positions", _positioned, {}, _said, _settings)
