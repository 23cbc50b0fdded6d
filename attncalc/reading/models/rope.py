"""The rope settings of a config: base, share of a head, and scaling."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attncalc.base.errors import InputError
from attncalc.reading.models.family import Said
from attncalc.reading.models.folder import Config

_NOT_OF_IT = ("rope_theta", "partial_rotary_factor")
"""Keys beside the numbers of a scaling that are separate fields."""
_LOCAL = ("sliding_attention",)


def _kind(config: Config, layer: int) -> str:
    """Return the kind of a layer, such as sliding_attention; "" where a config has none."""
    kinds = config.get("layer_types", None)
    return str(kinds[layer]) if isinstance(kinds, list) and layer < len(kinds) else ""


_SHARES = (
    "rope_parameters.partial_rotary_factor",
    "partial_rotary_factor",
    "rotary_pct",
    "rope_pct",
)


def a_share(default: float = 1) -> Said:
    """Return a reader of the number of columns of a head that rope rotates; None for all."""

    def says(config: Config, layer: int) -> int | None:
        key = next((key for key in _SHARES if config.get(key, None) is not None), _SHARES[0])
        width = config.count_or_none("head_dim") or (
            config.count("hidden_size") // config.count("num_attention_heads")
        )
        found = int(width * config.number(key, default))
        return None if found == width else found

    return says


def a_base(config: Config, layer: int) -> Fraction:
    """Read the base of rope, from the parameters of rope or from an older key."""
    own = f"rope_parameters.{_kind(config, layer)}.rope_theta"
    local = config.get("rope_local_base_freq", None) is not None and own.split(".")[1] in _LOCAL
    first = "rope_local_base_freq" if local else own
    for key in (first, "rope_parameters.rope_theta", "rope_theta", "rotary_emb_base"):
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
    if isinstance(said, Mapping) and _kind(config, layer) in said:  # one for each kind of layers
        said = said[_kind(config, layer)]
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
