"""The fields of a problem, or of a layer or an attention in it: those of all parts together."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from attncalc.problem import fields as declared
from attncalc.problem.attention.attention import Attention
from attncalc.problem.fields import DECODER, GIVEN, NESTED, SETTINGS


class Scope(
    declared.EquationFields,
    declared.GradientFields,
    declared.HeadFields,
    declared.FeedForwardFields,
    declared.LatentFields,
    declared.NormalisationFields,
    declared.LayerFields,
    declared.EmbeddingFields,
    declared.PatchFields,
    Attention,
):
    """The fields of all parts; a part reads its own."""

    @property
    def n_experts(self) -> int:  # type: ignore[override]
        """The number of experts of a feed-forward part; 0 without a router."""
        return 0 if self.W_router is None else self.width_of("W_router")

    says_scale: bool
    """Whether a scale was given, here or in an outer scope; otherwise it follows from the score."""


class Inner(Scope):
    """The checked fields of a layer, or of an attention in one; others have their defaults."""

    said: tuple[str, ...] = ()
    """The settings given here, and not in an outer scope."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        # frozen for other code: these are set as a dataclass would set them
        self.__dict__.update(fields)


class Outer(Scope):
    """The fields of a problem, and those of its layers by the prefix of their names."""

    inner: dict[str, Inner]

    @cached_property
    def made_tokens(self) -> str:
        """The name of tokens computed from an image or from ids; "" if they are given."""
        if not self.those_given("image", "patch", "ids"):
            return ""
        return "X1" if self.block == DECODER and self.X2 is not None else "X"


def changed(scope: Attention, **fields: Any) -> Inner:
    """Return the fields of a scope with changes."""
    own = {name: getattr(scope, name) for name in (*GIVEN, *SETTINGS, *NESTED)}
    return Inner(own | fields)
