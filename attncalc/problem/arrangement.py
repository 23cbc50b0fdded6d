"""The parts of a problem: one attention, or those of an encoder or a decoder.

Settings and matrices that no part reads are refused. A setting is read if a part reads or overrides
it, and also if it has no effect only because of sizes (the mean of one head, a window wider than
the text).
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc.base.errors import AttncalcError, InputError
from attncalc.base.typed import as_written
from attncalc.equations.operation import Shape
from attncalc.equations.operations.angles import RopeScaling
from attncalc.problem.attention.attention import size_of
from attncalc.problem.attention.declared import NONE
from attncalc.problem.attention.placed import ATTENTION, is_there
from attncalc.problem.attention.rope_scaling import scaling_as_typed
from attncalc.problem.calculation import Calculation, Placed, Stream
from attncalc.problem.feed_forward import FEED_FORWARD
from attncalc.problem.field import IMAGE, LAYERS
from attncalc.problem.fields import (
    ALONE,
    DECODER,
    ENCODER,
    GIVEN,
    IN_WORDS,
    SETTINGS,
    TOKENS,
    VIT,
    role_of,
)
from attncalc.problem.mixing import MIXING
from attncalc.problem.normalisation import NORMALISATION
from attncalc.problem.scope import Inner, Outer, changed


def arranged(problem: Outer) -> Calculation:
    """Return the calculation of a problem."""
    if problem.block == ALONE:
        _refuse_those_of_layers(problem)
    placed, given = _placed(problem)
    parts = Calculation(placed, given)
    refuse_unread(problem, placed)
    replaced = {name for step in parts.steps for name in step.inputs}
    if problem.equations:
        from attncalc.problem.stating import with_equations  # here, for few state any

        parts = with_equations(problem, parts)
    arriving = [name for name in problem.names if role_of(name) == "arriving"]
    # before gradients: their shapes are those of every given matrix, also of one nothing reads
    others = [name for name in problem.names if name not in (*arriving, *replaced)]
    _refuse_not_read(problem, parts, others)
    if problem.backward:
        from attncalc.problem.gradients.way_back import with_gradients  # here, for few go back

        parts = with_gradients(problem, parts)
    _refuse_not_read(problem, parts, arriving)
    return parts


def _refuse_not_read(problem: Outer, calculation: Calculation, names: Sequence[str]) -> None:
    read = {name for step in calculation.steps for name in step.inputs}
    for name in names:
        if name not in read:
            what = IN_WORDS[problem.block]
            raise InputError(f"{name} is given, but this {what} does not use it")


def _placed(problem: Outer) -> tuple[list[Placed], list[Stream]]:
    """Return the parts in their places, and the given tokens."""
    if problem.block == ALONE and not problem.made_tokens and problem.W_E is None:
        return _attention(problem), []
    from attncalc.problem.layers import parts_of_layers  # here, for most are one part

    tokens = _tokens(problem)
    given = [_stream(problem, name) for name in TOKENS if name in problem.names]
    return parts_of_layers(problem, problem.inner, tokens), given


def _attention(problem: Outer) -> list[Placed]:
    """Return the attention, which may read results of equations; [] if there are only equations."""
    own = Placed(ATTENTION, problem)
    if not problem.equations:
        return [own]
    try:
        Calculation([own])
    except AttncalcError as error:
        from attncalc.problem.stating import placeholders, read_by, weights_of

        for shapes in placeholders(problem):
            zeros = {name: np.broadcast_to(0.0, shape) for name, shape in shapes.items()}
            stated = Placed(ATTENTION, changed(problem, **zeros))
            with suppress(AttncalcError):
                Calculation([stated])
                return [stated]
        forward = {name for name in problem.names if role_of(name) != "arriving"}
        if is_there(problem) and not forward <= read_by(problem.equations):
            name = str(error).partition(" ")[0]
            if name not in problem.names or name not in read_by(problem.equations):
                raise
            raise type(error)(
                f"{error}; {name} is a matrix of the attention: give what an equation alone reads "
                "another name"
            ) from None
        return [_of_weights(problem, *found) for found in weights_of(problem)]
    return [own]


def _of_weights(problem: Outer, name: str, shape: Shape) -> Placed:
    """Return an attention of which an equation states the weights, and others all the rest."""
    fields = Inner({"A": np.broadcast_to(0.0, shape), "scale": NONE})
    for side, count in (("queries", shape[-2]), ("keys", shape[-1])):
        labels = getattr(problem, side)
        if len(labels) == count:
            fields.__dict__[side] = labels
    return Placed(WEIGHTS, fields, gives=name)


WEIGHTS = ATTENTION._replace(settings=lambda placed: ())
"""An attention whose weights an equation defines: it reads no setting."""


def _refuse_those_of_layers(problem: Outer) -> None:
    for name in (*problem.those_given(*GIVEN), *problem.inner):
        kind = GIVEN[name].kind if name in GIVEN else LAYERS
        if kind in (LAYERS, IMAGE):
            of = "a Vision Transformer" if kind == IMAGE else "an encoder or a decoder"
            raise InputError(
                f"{name.rstrip('.')} is given, but attention does not use it: it belongs to "
                f"{of} (block)"
            )


def _tokens(problem: Outer) -> str:
    """Return the name of the tokens that the first layer reads, given or made."""
    _refuse_both(problem)
    given = [name for name in ("X", "X1") if name in problem.names]
    has_memory = "X2" in problem.names
    wanted = "X1" if problem.block == DECODER and (given != ["X"] or has_memory) else "X"
    if problem.made_tokens and (problem.ids is None or problem.block != VIT):
        wanted = problem.made_tokens
    elif problem.block == VIT:
        raise InputError("missing matrices: image, which a Vision Transformer cuts into patches")
    elif wanted not in given and problem.W_E is not None:
        raise InputError("W_E is given, and no ids: they say which of its rows are the tokens")
    elif wanted not in given:
        also = " (or X, in a decoder without an encoder)" if problem.block == DECODER else ""
        what = IN_WORDS[problem.block]
        raise InputError(f"missing matrices: {wanted}{also}, the tokens of this {what}")
    reads_memory = any(name.endswith("cross.") for name in problem.inner)
    if reads_memory and not has_memory:
        raise InputError("missing matrices: X2, the outputs of an encoder that cross reads")
    return wanted


def _refuse_both(problem: Outer) -> None:
    image = problem.those_given("image", "patch", "E", "b_E", "channels")
    if image and problem.block != VIT:
        raise InputError(
            f"{image[0]} is given, and this is {'an' if problem.block == ENCODER else 'a'} "
            f"{IN_WORDS[problem.block]}: an image is of a Vision Transformer (attncalc vit)"
        )
    sources = problem.those_given("image", "ids", "X", "X1")
    if len(sources) > 1 and problem.made_tokens:
        raise InputError(
            f"{' and '.join(sources)} are given: tokens are made of one of them, so leave out "
            f"{'the others' if len(sources) > 2 else 'the other'}"
        )


def _stream(problem: Outer, name: str) -> Stream:
    matrix = problem.standing.upright(name, problem.stored(name))
    if matrix.ndim != 2:
        raise InputError(f"{name} is {size_of(matrix)}: tokens are one matrix for all heads")
    labels = problem.keys if name == "X2" else problem.queries
    tokens, width = matrix.shape
    return Stream(name, tokens, width, labels[-tokens:])


OF_ALL = (
    *("rounding", "decimals", "language", "asked", "layout", "weights_layout", "block"),
    *("backward", "target_ids", "step", "equations"),
)
"""Settings of the entire problem, with any parts; gradients check their own."""


def refuse_unread(problem: Outer, parts: Sequence[Placed]) -> None:
    """Refuse settings that nothing reads, in the problem, its layers and their attentions."""
    _check(problem, "", _said(problem), parts)
    for prefix, own in problem.inner.items():
        placed = [each for each in parts if each.prefix.startswith(prefix)]
        if not placed:
            raise InputError(
                f"{prefix.rstrip('.')} is given, and so are layers: each of them says its own"
            )
        _check(problem, prefix, {name: getattr(own, name) for name in own.said}, placed)


def _said(problem: Outer) -> dict[str, Any]:
    """Return the settings of the entire problem that differ from their defaults."""
    said = {name: getattr(problem, name) for name in SETTINGS if name not in OF_ALL}
    if not problem.says_scale or problem.scale == problem.default_scale:
        del said["scale"]
    return {n: v for n, v in said.items() if v != SETTINGS[n].default_in(problem.block)}


def _check(problem: Outer, prefix: str, said: dict[str, Any], parts: Sequence[Placed]) -> None:
    for name, value in said.items():
        if value is False or value == SETTINGS[name].default_in(problem.block):
            continue  # a part that is turned off
        if any(name in _read_by(each) for each in parts):
            continue  # if each has its own, the heading names them
        what = f"layer {prefix.rstrip('.')}" if prefix else f"this {IN_WORDS[problem.block]}"
        raise InputError(
            f"{prefix}{name} is {_as_typed(value)}, but {what} does not use it: it needs "
            f"{SETTINGS[name].needs}"
        )


def _read_by(placed: Placed) -> Iterator[str]:
    """Yield the settings that a part reads in its place."""
    yield from placed.part.settings(placed)
    if placed.fields.block == ALONE or placed.number in ("E", "out"):
        return
    if placed.part in (ATTENTION, MIXING, FEED_FORWARD):
        yield from ("residual", "parallel")
    if placed.part in (ATTENTION, MIXING, FEED_FORWARD, NORMALISATION):
        yield "norm"


def _as_typed(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        return as_written(value)
    if isinstance(value, RopeScaling):
        return scaling_as_typed(value)
    return " × ".join(map(str, value)) if isinstance(value, tuple) else str(value)
