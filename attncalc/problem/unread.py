"""What is said of a problem and read by nothing in it: refused, for it would be dropped silently.

A setting counts where a part reads it, or says its own instead. What sizes alone make idle (the
mean of one head, a window wider than the text) is read all the same.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from attncalc.errors import InputError
from attncalc.numbers.typed import as_written
from attncalc.operations.frequencies import RopeScaling
from attncalc.problem.attention.fields import AttentionFields
from attncalc.problem.attention.part import ATTENTION
from attncalc.problem.attention.rope import scaling_as_typed
from attncalc.problem.embedding.fields import EmbeddingFields
from attncalc.problem.feed_forward.fields import FeedForwardFields
from attncalc.problem.feed_forward.part import FEED_FORWARD
from attncalc.problem.field import Setting, declared
from attncalc.problem.fields import SETTINGS
from attncalc.problem.head.fields import HeadFields
from attncalc.problem.layers.fields import ATTENTION as ALONE
from attncalc.problem.layers.fields import IN_WORDS, LayerFields
from attncalc.problem.normalisation.fields import NormalisationFields
from attncalc.problem.normalisation.part import NORMALISATION
from attncalc.problem.part import Placed
from attncalc.problem.patches.fields import PatchFields
from attncalc.problem.residual.fields import ResidualFields
from attncalc.problem.scope import Outer

OF_ALL = (
    *("rounding", "decimals", "asked", "layout", "weights_layout", "block"),
    *("backward", "target_ids", "step", "equations"),
)
"""Settings that the whole reads, whatever its parts: of gradients their own rules refuse."""
NEEDED = {
    AttentionFields: "an attention (W_Q, W_K and W_V)",
    EmbeddingFields: "ids and W_E",
    FeedForwardFields: "a feed-forward part (W_1 and W_2)",
    HeadFields: "a head (W_out)",
    LayerFields: "a layer of an encoder or a decoder",
    NormalisationFields: "a normalisation",
    PatchFields: "an image",
    ResidualFields: "a layer with an attention or a feed-forward part",
}
"""What reads the settings of each owner."""


def refuse_unread(problem: Outer, parts: Sequence[Placed]) -> None:
    """Refuse settings that nothing reads, in the whole and in each layer and attention of it.

    Parameters
    ----------
    problem
        The problem.
    parts
        The parts it is made of, in their places.

    Raises
    ------
    InputError
        That names the setting, and what would make it count.
    """
    _check(problem, "", _said(problem), parts)
    for prefix, own in problem.inner.items():
        placed = [each for each in parts if each.prefix.startswith(prefix)]
        if not placed:
            raise InputError(
                f"{prefix.rstrip('.')} is given, and so are layers: each of them says its own"
            )
        _check(problem, prefix, {name: getattr(own, name) for name in own.said}, placed)


def _said(problem: Outer) -> dict[str, Any]:
    """Return the settings of the whole that are not what holds where nothing is said."""
    said = {name: getattr(problem, name) for name in SETTINGS if name not in OF_ALL}
    if not problem.says_scale or problem.scale == problem.default_scale:
        del said["scale"]
    return {n: v for n, v in said.items() if v != SETTINGS[n].default_in(problem.block)}


def _check(problem: Outer, prefix: str, said: dict[str, Any], parts: Sequence[Placed]) -> None:
    for name, value in said.items():
        if value is False or value == SETTINGS[name].default_in(problem.block):
            continue  # what is not to be done is not done
        if any(name in _read_by(each) for each in parts):
            continue  # where each says its own instead, the heading names what that is
        what = f"layer {prefix.rstrip('.')}" if prefix else f"this {IN_WORDS[problem.block]}"
        raise InputError(
            f"{prefix}{name} is {_as_typed(value)}, and nothing in {what} reads it: it needs "
            f"{_needs(name)}"
        )


def _read_by(placed: Placed) -> Iterator[str]:
    """Yield the settings that a part reads in its place."""
    yield from placed.part.settings(placed)
    if placed.fields.block == ALONE or placed.number in ("E", "out"):
        return
    if placed.part in (ATTENTION, FEED_FORWARD):
        yield "residual"
    if placed.part in (ATTENTION, FEED_FORWARD, NORMALISATION):
        yield "norm"


def _needs(name: str) -> str:
    """Return what would make a setting count."""
    return SETTINGS[name].needs or next(
        needed for owner, needed in NEEDED.items() if name in declared(owner, Setting)
    )


def _as_typed(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        return as_written(value)
    if isinstance(value, RopeScaling):
        return scaling_as_typed(value)
    return " × ".join(map(str, value)) if isinstance(value, tuple) else str(value)
