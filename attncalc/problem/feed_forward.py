"""A feed-forward part: F_1 = N W_1 + b_1, G = act(F_1), F_2 = G W_2 + b_2."""

from collections.abc import Iterator
from typing import Any

from attncalc.base.errors import InputError, ShapeError
from attncalc.equations.operations import Project
from attncalc.equations.operations.entrywise import Activate, Gate
from attncalc.problem.attention.attention import size_of
from attncalc.problem.calculation import Built, Part, Placed, Stream, Streams
from attncalc.problem.step import Step

TITLES = {
    "F_1": "first projection",
    "F_3": "gate",
    "G": "activations",
    "F_2": "feed-forward outputs",
}
GIVEN = ("W_1", "b_1", "W_2", "b_2", "W_3", "b_3")
"""Where one of these is given, there is a feed-forward part."""


def _built(placed: Placed, streams: Streams) -> Built:
    (name,) = placed.reads
    tokens = streams[name]
    _check(placed, tokens)
    gives = placed.gives or placed.named("F_2")
    steps = tuple(_steps(placed, name, gives))
    out = tokens._replace(name=gives, width=placed.fields.width_of("W_2"))
    return Built(steps, out)


def _check(placed: Placed, tokens: Stream) -> None:
    fields = placed.fields
    _check_presence(placed)
    for name in ("W_1", "W_3"):
        if getattr(fields, name) is not None:
            placed.check_product(tokens, name)
    inner = fields.width_of("W_1")
    if fields.W_3 is not None and fields.width_of("W_3") != inner:
        sizes = [size_of(getattr(fields, name)) for name in ("W_1", "W_3")]
        raise placed.fault(
            ShapeError,
            f"{placed.named('W_1')} is {sizes[0]} and {placed.named('W_3')} is {sizes[1]}: what is "
            "multiplied entry by entry must have one shape",
        )
    placed.check_product(Stream("G", tokens.tokens, inner), "W_2")
    for name in fields.those_given("b_1", "b_2", "b_3"):
        placed.check_bias(name, f"W{name[1:]}")


def _check_presence(placed: Placed) -> None:
    fields = placed.fields
    there = fields.those_given(*GIVEN)
    needed = ("W_1", "W_2", *(("W_3",) if fields.b_3 is not None else ()))
    for name in needed:
        if getattr(fields, name) is None:
            other = "b_3" if name == "W_3" else there[0]
            raise placed.fault(InputError, f"{placed.named(other)} is given, and no {name}")


def _steps(placed: Placed, tokens: str, gives: str) -> Iterator[Step]:
    first, gate, inner = (placed.named(name) for name in ("F_1", "F_3", "G"))
    kind = placed.fields.activation
    yield _projected(placed, first, tokens, "1")
    if placed.fields.W_3 is None:
        operation, inputs = Activate(kind), (first,)
        yield Step(inner, TITLES["G"], operation, inputs, "queries", "features")
    else:
        yield _projected(placed, gate, tokens, "3")
        yield Step(inner, TITLES["G"], Gate(kind), (first, gate), "queries", "features")
    yield _projected(placed, gives, inner, "2")


def _projected(placed: Placed, name: str, tokens: str, number: str) -> Step:
    own = placed.fields.those_given(f"W_{number}", f"b_{number}")
    inputs = (tokens, *map(placed.named, own))
    return Step(name, TITLES[f"F_{number}"], Project(), inputs, "queries", "features")


IN_WORDS = {
    "relu": "ReLU",
    "gelu": "GELU, by the error function",
    "gelu-tanh": "GELU, approximated by tanh",
    "gelu-quick": "GELU, approximated by the logistic function",
    "silu": "SiLU",
}


def _said(fields: Any) -> Iterator[str]:
    gated = "" if fields.W_3 is None else ", gated"
    kind = fields.activation
    yield f"feed-forward with {IN_WORDS[kind]}{gated} (activation: {kind})"


FEED_FORWARD = Part("feed-forward", _built, TITLES, _said, lambda placed: ("activation",))
