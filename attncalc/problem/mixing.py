"""What mixes the tokens of a layer without an attention of its own: equations of a problem.

One of them states its outputs O. Another may state weights A, which are then an attention map:
those of a state space or of linear attention, of which O weighs values.
"""

from collections.abc import Iterator

import numpy as np

from attncalc.equations.operations.assembling import Given, Same
from attncalc.problem.attention.declared import NONE
from attncalc.problem.calculation import Built, Part, Placed, Streams
from attncalc.problem.scope import Inner, Scope
from attncalc.problem.step import Step


def _states(fields: Scope, name: str) -> bool:
    from attncalc.equations.own import parsed  # here, for few state any

    return any(line.name == name for line in parsed(fields.equations))


def is_there(fields: Scope, prefix: str = "") -> bool:
    """Return whether an equation states the outputs of a layer."""
    return bool(fields.equations) and _states(fields, f"{prefix}O")


def _built(placed: Placed, streams: Streams) -> Built:
    """Return steps for the equations to replace: outputs like the tokens, and weights if any."""
    (name,) = placed.reads
    read, heads = streams[name], placed.fields.heads or 1
    steps, attention = [Step("O", "outputs", Same(), ("X",), role="outputs")], None
    if _states(placed.fields, placed.named("A")):
        shape = (heads, read.tokens, read.tokens)[heads == 1 :]
        attention = Inner({"A": np.broadcast_to(0.0, shape), "scale": NONE})
        attention.__dict__.update(queries=read.labels, keys=read.labels)
        weights = Step("A", "attention weights", Given(), ("A",), "queries", "keys", "weights")
        steps.insert(0, weights)
    named = {"X": name, "O": placed.gives}
    return Built(tuple(steps), read._replace(name=placed.gives), named, placed.prefix, attention)


def _settings(placed: Placed) -> Iterator[str]:
    yield "heads"


MIXING = Part("token mixing", _built, {}, settings=_settings)
