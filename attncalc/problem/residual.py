"""A residual connection as a part: He et al., *Deep Residual Learning* (2016)."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attncalc.base.errors import ShapeError
from attncalc.base.typed import as_written
from attncalc.equations.operations.assembling import Add
from attncalc.equations.operations.entrywise import Multiply
from attncalc.problem.calculation import Built, Part, Placed, Streams
from attncalc.problem.step import Step

TITLES = {
    **dict.fromkeys(("R_1", "R_2", "R_3"), "residual sum"),
    **{f"{name}_scaled": "scaled outputs" for name in ("O", "F_2", "N_1", "N_2", "N_3", "N_4")},
}


def _built(placed: Placed, streams: Streams) -> Built:
    """Return the sum of the input and the output of a part, or of parallel parts."""
    read, *others = (streams[name] for name in placed.reads)
    for given in others:
        if (read.tokens, read.width) == (given.tokens, given.width):
            continue
        sizes = [placed.size((each.tokens, each.width)) for each in (read, given)]
        raise placed.fault(
            ShapeError,
            f"{read.name} is {sizes[0]} and {given.name} is {sizes[1]}: matrices that "
            'are added need the same shape (or set "residual": false)',
        )
    name = placed.gives or placed.named(f"R_{placed.number}")
    steps, added = [], [each.name for each in others]
    if placed.fields.residual and (factor := Fraction(placed.fields.residual_scale)) != 1:
        added = [f"{each}_scaled" for each in added]
        steps = [
            Step(scaled, "scaled outputs", Multiply(factor), (each.name,))
            for scaled, each in zip(added, others, strict=True)
        ]
    whole = Step(name, TITLES["R_1"], Add(), (read.name, *added))
    return Built((*steps, whole), read._replace(name=name))


_READ = {"shared": "the same tokens", "own": "the same tokens, each normalized by itself"}


def _said(fields: Any) -> Iterator[str]:
    if fields.parallel != "none":
        what = f"attention and feed-forward read {_READ[fields.parallel]}, and one sum adds both"
        yield f"{what} (parallel: {fields.parallel})"
    if fields.residual and fields.residual_scale != 1:
        factor = as_written(Fraction(fields.residual_scale))
        yield f"outputs times {factor} are added (residual_scale)"


def _settings(placed: Placed) -> Iterator[str]:
    yield from ("residual_scale",) if placed.fields.residual else ()


RESIDUAL = Part("residual", _built, TITLES, _said, _settings)
