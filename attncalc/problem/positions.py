"""Positions as a part: given ones, or sinusoids, added to tokens before all layers."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attncalc.base.errors import ShapeError
from attncalc.base.typed import as_written
from attncalc.equations.operations.angles import Sinusoids
from attncalc.equations.operations.assembling import Add
from attncalc.problem.attention.attention import size_of
from attncalc.problem.calculation import Built, Part, Placed, Streams
from attncalc.problem.step import Step


def positions_of(tokens: str) -> str:
    """Return what the positions of tokens are called.

    >>> positions_of("X1"), positions_of("X_cls"), positions_of("patches")
    ('P1', 'P', 'P')
    """
    return f"P{tokens[1:].partition('_')[0]}" if tokens.startswith("X") else "P"


def is_there(fields: object, tokens: str) -> bool:
    """Return whether positions are added to these tokens."""
    given = getattr(fields, positions_of(tokens))
    return given is not None or getattr(fields, "positions", "") == "sinusoidal"


def base_of(fields: Any) -> str:
    """Return the base of sinusoids as text, if it is not the default."""
    base = fields.positions_base
    return "" if base == Sinusoids.base else f", base {as_written(Fraction(base))}"


def _built(placed: Placed, streams: Streams) -> Built:
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


POSITIONS = Part("positions", _built, {}, _said, _settings)
