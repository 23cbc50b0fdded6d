"""The rope settings of a config: base, share of a head, and scaling."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attncalc.base.errors import InputError
from attncalc.reading.models.family import Said, said_of
from attncalc.reading.models.folder import MISSING, Config

_NOT_OF_IT = ("rope_theta", "partial_rotary_factor")
"""Keys beside the numbers of a scaling that are separate fields."""
_BY_FREQUENCIES = ("yarn", "longrope", "dynamic", "proportional")
"""The scalings whose frequencies are computed here; others are settings of a problem."""


def _kind(config: Config, layer: int) -> str:
    """Return the kind of a layer, such as sliding_attention; "" where a config has none."""
    kinds = config.get("layer_types", None)
    return str(kinds[layer]) if isinstance(kinds, list) and layer < len(kinds) else ""


PARTS_OF_ROPE = ("rope_parameters.partial_rotary_factor", "partial_rotary_factor")
"""The keys of the share of the columns of a head that rope turns."""
_SHARES = (*PARTS_OF_ROPE, "rotary_pct", "rope_pct")


def head_width(config: Config) -> int:
    """Return the width of a head, by its key or else by the number of heads."""
    own = config.count_or_none("head_dim")
    return own or int(config.count("hidden_size") // config.count("num_attention_heads"))


def a_share(default: float = 1) -> Said:
    """Return a reader of the number of columns of a head that rope rotates; None for all."""

    def says(config: Config, layer: int) -> int | None:
        keys = (f"rope_parameters.{_kind(config, layer)}.partial_rotary_factor", *_SHARES)
        key = next((key for key in keys if config.get(key, None) is not None), _SHARES[0])
        if (share := config.number(key, default)) == 1:
            return None
        found = int((width := head_width(config)) * share)
        return None if found == width else found

    return says


def a_base(config: Config, layer: int) -> Fraction:
    """Read the base of rope, from the parameters of rope or from an older key.

    Raises InputError if there is none, and its type also scales rope then.
    """
    own = f"rope_parameters.{_kind(config, layer)}.rope_theta"
    keys = (own, "rope_parameters.rope_theta", "rotary_emb_base")
    key = next((key for key in keys if config.says(key)), "rope_theta")
    kind = config.get("model_type", None)
    own = said_of(kind, "rope") or "10000"
    usual = MISSING if own == "unknown" else float(own)
    if (found := config.number(key, usual)) <= 0:
        raise config.wrong(key, found, "a number above 0")
    if alpha := _alpha(config, layer):
        found = _stretched(config, found, alpha, config.count("head_dim"))
    return Fraction(str(found))


def _alpha(config: Config, layer: int) -> float:
    """Return what stretches the base of HunYuan, whose type of scaling is dynamic; 0 for none."""
    said = _parameters(config, layer)[1].get("alpha") or 0
    found = Config(config.place, {"alpha": said}).number("alpha")
    return float(found) if "hunyuan" in str(config.get("model_type", "")) and found > 0 else 0


def _stretched(config: Config, base: float, by: float, dims: int) -> float:
    if dims < 4:
        raise InputError(f"{config.place}: a base of rope stretches with 4 columns or more")
    return float(base * by ** (dims / (dims - 2)))


def a_scaling(config: Config, layer: int) -> Any:
    """Read the scaling of rope; None if there is none.

    Raises InputError if the scaling is not supported, naming the key.
    """
    # it loads numpy
    from attncalc.problem.attention.rope_scaling import NEEDS, UNSCALED, read_rope_scaling

    key, said = _scaling(config, layer)
    if not said or _type(said) in _BY_FREQUENCIES:
        return None
    kinds = (UNSCALED, *NEEDS, *_BY_FREQUENCIES)
    if _type(said) not in kinds:
        raise config.wrong(f"{key}.rope_type", _type(said), f"one of {', '.join(kinds)}")
    try:
        return read_rope_scaling({k: v for k, v in said.items() if k not in _NOT_OF_IT})
    except (InputError, ValueError) as error:
        raise InputError(f"{config.place}: {key} {error}") from None


def _scaling(config: Config, layer: int) -> tuple[str, Mapping[str, Any]]:
    """Return the key of the scaling of rope, and its parameters for a layer; {} for none.

    There is none with a position per axis of an image, equal for text, or in the base (alpha).
    """
    key, said = _parameters(config, layer)
    return key, {} if not said or _type(said) == "mrope" or _alpha(config, layer) else said


def _parameters(config: Config, layer: int) -> tuple[str, Mapping[str, Any]]:
    """Return the key of the parameters of rope, and those of a layer.

    Raises InputError if a config has two: transformers reads rope_scaling alone, and no base.
    """
    both = {key: config.get(key, None) for key in ("rope_scaling", "rope_parameters")}
    if all(both.values()) and both["rope_scaling"] != both["rope_parameters"]:
        raise config.wrong("rope_scaling", both["rope_scaling"], "null beside rope_parameters")
    key = "rope_parameters" if both["rope_parameters"] else "rope_scaling"
    said = both[key]
    if isinstance(said, Mapping) and _kind(config, layer) in said:  # one for each kind of layers
        said = said[_kind(config, layer)]
    if said is not None and not isinstance(said, Mapping):
        raise config.wrong(key, said, "an object")
    return key, said or {}


def _type(said: Mapping[str, Any]) -> str:
    kind = str(said.get("rope_type", said.get("type", "default")))
    return "longrope" if kind == "su" else kind


def turned_back(config: Config, layer: int) -> list[float]:
    """Return the frequencies of NanoChat, which turns columns the other way."""
    width = head_width(config)
    return [-(float(a_base(config, layer)) ** (-at / width)) for at in range(0, width, 2)]


def frequencies(config: Config, layer: int, dims: int, tokens: int) -> dict[str, Any]:
    """Return the frequencies and the factor of rope, for scalings without a setting of problems.

    They are yarn, longrope, dynamic and proportional, in which the last pairs do not turn.
    Peng et al., *YaRN* (2023); Ding et al., *LongRoPE* (2024). {} for other scalings.

    dims: the number of columns that are turned.
    tokens: the number of tokens, which decides between short and long texts.
    """
    key, said = _scaling(config, layer)
    kind = _type(said)
    if kind not in _BY_FREQUENCIES:
        return {}
    own = Config(f"{config.place}, {key}", {**config.values, **said})
    base, most = float(a_base(config, layer)), config.count("max_position_embeddings")
    original = own.count("original_max_position_embeddings", most)
    factor = float(own.number("factor", None) or most / original)
    grows = 1.0
    if kind == "dynamic":
        longer = max(tokens, most) / most
        base = _stretched(config, base, factor * longer - (factor - 1), dims)
    plain = [base ** (-2 * pair / dims) for pair in range(dims // 2)]
    if kind == "proportional":  # the columns after a share of them do not turn
        turned = int(own.number("partial_rotary_factor", 1.0) * dims // 2)
        by = float(own.number("factor", 1.0))
        return {"rope_frequencies": [e / by * (at < turned) for at, e in enumerate(plain)]}
    if kind == "longrope":
        length = "long" if tokens > original else "short"
        mscale = own.number(f"{length}_mscale", None)  # of PhiMoE, whose factors do not change
        each = own.get(f"{length}_factor" if mscale is None else "short_factor")
        if not isinstance(each, list) or len(each) != len(plain):
            raise own.wrong("short_factor", each, f"{len(plain)} numbers, one for each pair,")
        plain = [one / float(by) for one, by in zip(plain, each, strict=True)]
        grows = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 else 1.0
        grows = mscale or grows
    elif kind == "yarn":
        plain = _by_yarn(own, plain, (base, dims, original), factor)
        grows = _yarn_factor(own, factor)
    grows = float(own.number("attention_factor", None) or grows)
    return {"rope_frequencies": plain, **({"rope_factor": grows} if grows != 1 else {})}


def _by_yarn(
    own: Config, plain: list[float], sizes: tuple[float, int, int], factor: float
) -> list[float]:
    """Return frequencies, of which the slow ones are divided by the factor."""
    base, dims, original = sizes

    def pair(turns: float) -> float:
        """Return the pair that turns so often within the original length."""
        return dims * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = (
        pair(own.number(key, None) or default)
        for key, default in (("beta_fast", 32), ("beta_slow", 1))
    )
    if own.is_so("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dims - 1)
    high += 0.001 if low == high else 0
    ramp = [min(max((at - low) / (high - low), 0), 1) for at in range(len(plain))]
    return [one / factor * far + one * (1 - far) for one, far in zip(plain, ramp, strict=True)]


def _yarn_factor(own: Config, factor: float) -> float:
    """Return the factor of rotated columns, of one or two scales."""
    scales = [float(own.number(key, None) or 0) for key in ("mscale", "mscale_all_dim")]
    if not all(scales):
        return _grown(1, factor)
    return _grown(scales[0], factor) / _grown(scales[1], factor)


def _grown(scale: float, factor: float) -> float:
    """Return the factor of yarn for a scale."""
    return 0.1 * scale * math.log(factor) + 1 if factor > 1 else 1.0


def scale_of_yarn(config: Config) -> float:
    """Return the factor of queries, and of keys, by which DeepSeek's scores grow with yarn."""
    key, said = _scaling(config, 0)
    own = Config(f"{config.place}, {key}", said)
    scale = own.number("mscale_all_dim", None) or 0
    if _type(said) == "default" or not scale:
        return 1.0
    return _grown(scale, own.number("factor"))


def longest(config: Config) -> int | None:
    """Return the number of tokens up to which frequencies stay the same; None for any."""
    _, said = _scaling(config, 0)
    most = config.get("max_position_embeddings", None)
    original = said.get("original_max_position_embeddings") or config.get(
        "original_max_position_embeddings", None
    )
    return {"dynamic": most, "longrope": original or most}.get(_type(said))


def remarks_on_share(config: Config, layer: int) -> list[str]:
    """Return the remark that a partial_rotary_factor is ignored, as transformers ignores it.

    Raises InputError if rope is also scaled: transformers then fails.
    """
    for key in PARTS_OF_ROPE:
        if config.get(key, None) is not None and config.number(key) != 1:
            if _type(_scaling(config, 0)[1]) != "default":
                raise config.wrong(key, config.get(key), "1 (for rope that is scaled)")
            return [
                f"{key} is ignored, as transformers does for this family: rope turns all columns"
            ]
    return []
