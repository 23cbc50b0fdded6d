"""A residual connection as a part: He et al., *Deep Residual Learning* (2016)."""

from collections.abc import Iterator
from typing import Any

from attncalc.base.errors import ShapeError
from attncalc.equations.operations import Add
from attncalc.problem.calculation import Built, Part, Placed, Streams
from attncalc.problem.step import Step

TITLES = dict.fromkeys(("R_1", "R_2", "R_3"), "residual sum")


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
    step = Step(name, TITLES["R_1"], Add(), placed.reads, "queries", "features")
    return Built((step,), read._replace(name=name))


_READ = {
    "shared": "the same tokens",
    "own": "the same tokens, each normalized by itself",
}


def _said(fields: Any) -> Iterator[str]:
    if fields.parallel != "none":
        what = f"attention and feed-forward read {_READ[fields.parallel]}, and one sum adds both"
        yield f"{what} (parallel: {fields.parallel})"


RESIDUAL = Part("residual", _built, TITLES, _said)
