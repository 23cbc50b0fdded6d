"""The rope settings of a config: base, share of a head, and scaling."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attncalc.base.errors import InputError
from attncalc.reading.models.folder import Config

_NOT_OF_IT = ("rope_theta", "partial_rotary_factor")
"""Keys beside the numbers of a scaling that are separate fields."""


def a_base(config: Config, layer: int) -> Fraction:
    """Read the base of rope, from the parameters of rope or from the older key."""
    for key in ("rope_parameters.rope_theta", "rope_theta"):
        if config.says(key):
            found = config.number(key)
            if found <= 0:
                raise config.wrong(key, found, "a number above 0")
            return Fraction(str(found))
    return Fraction(10_000)


def a_scaling(config: Config, layer: int) -> Any:
    """Read the scaling of rope; None if there is none.

    Raises
    ------
    InputError
        If the scaling is not supported, naming the key.
    """
    from attncalc.problem.attention.rope_scaling import read_rope_scaling  # it loads numpy

    key = "rope_parameters" if config.get("rope_parameters", {}) else "rope_scaling"
    said = config.get(key, None)
    if said is None:
        return None
    if not isinstance(said, Mapping):
        raise config.wrong(key, said, "an object")
    try:
        return read_rope_scaling({k: v for k, v in said.items() if k not in _NOT_OF_IT})
    except (InputError, ValueError) as error:
        raise InputError(f"{config.place}: {key} {error}") from None


def remarks_on_share(config: Config) -> list[str]:
    """Return the remark that a partial_rotary_factor is ignored, as transformers ignores it.

    Raises
    ------
    InputError
        If rope is also scaled: transformers then fails.
    """
    for key in ("rope_parameters.partial_rotary_factor", "partial_rotary_factor"):
        if config.get(key, None) is not None and config.number(key) != 1:
            if a_scaling(config, 0) is not None:
                raise config.wrong(key, config.get(key), "1 (for rope that is scaled)")
            return [
                f"{key} is ignored, as transformers does for this family: rope turns all columns"
            ]
    return []
