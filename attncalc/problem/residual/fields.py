"""The field of a residual connection: whether there is one."""

from dataclasses import dataclass

from attncalc.problem.field import LAYERS, setting, yes_or_no


@dataclass(frozen=True, eq=False, repr=False, init=False)
class ResidualFields:
    """Whether what a part read is added to what it gives; `Problem` says more."""

    residual: bool = setting(
        True,
        yes_or_no,
        "true or false",
        "Whether what a part read is added to what it gives.",
        "Layers",
        kind=LAYERS,
    )
