"""Scaling of RoPE frequencies, as in the configuration of a model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attncalc.base.errors import InputError
from attncalc.base.typed import as_written, quoted
from attncalc.problem.field import plain, positive

if TYPE_CHECKING:
    from attncalc.equations.operations.angles import RopeScaling

NEEDS = {
    "linear": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
}
"""The parameters of each type of scaling."""
UNSCALED = "default"
TAKES = "an object with rope_type linear or llama3 and its parameters, or text: linear factor=4"


def read_rope_scaling(given: Any) -> "RopeScaling | None":
    """Read the scaling of RoPE frequencies, in the form of Hugging Face's configurations.

    Raises InputError for an unknown type, and for missing, unknown or inconsistent numbers; the
    text has no name of the field. Raises ValueError for a value that is neither an object nor a
    text.

    >>> read_rope_scaling({"rope_type": "linear", "factor": 4}).factor
    Fraction(4, 1)
    >>> read_rope_scaling("linear factor=4") == read_rope_scaling({"type": "linear", "factor": 4})
    True
    """
    # here, for a command line needs no numpy
    from attncalc.equations.operations.angles import RopeScaling

    if isinstance(given, RopeScaling):
        return given
    said = _said(given)
    kind = _kind(said)
    if kind == UNSCALED:
        return None
    needed = NEEDS[kind]
    missing = [name for name in needed if said.get(name) in (None, "")]
    if missing:
        raise InputError(f"of {kind} has no {', '.join(missing)}")
    strange = [name for name in said if name not in needed]
    if strange:
        raise InputError(f"of {kind} takes {', '.join(needed)}, and no {quoted(strange[0])}")
    numbers = []
    for name in NEEDS[kind]:
        try:
            numbers.append(positive(said[name]))
        except ValueError:
            raise InputError(
                f"of {kind} takes a {name} above 0, not {quoted(str(said[name]))}"
            ) from None
    scaling = RopeScaling(kind, *numbers)
    if scaling.high <= scaling.low:
        raise InputError("of llama3 needs a high_freq_factor above its low_freq_factor")
    return scaling


def scaling_as_typed(scaling: "RopeScaling") -> str:
    """Return it as a text that is read back."""
    numbers = zip(NEEDS[scaling.kind], scaling[1:], strict=False)
    return " ".join([scaling.kind, *(f"{name}={as_written(each)}" for name, each in numbers)])


def scaling_as_object(scaling: "RopeScaling") -> dict[str, Any]:
    """Return it in the form of a configuration."""
    numbers = zip(NEEDS[scaling.kind], scaling[1:], strict=False)
    return {"rope_type": scaling.kind} | {name: float(each) for name, each in numbers}


def _said(given: Any) -> dict[str, Any]:
    """Return the parameters of an object or a text, by name."""
    if isinstance(given, Mapping):
        return {plain(name).replace("-", "_"): value for name, value in given.items()}
    text = str(given).strip()
    if not isinstance(given, str) or not text:
        raise ValueError
    if text.startswith("{"):
        import json

        try:
            return _said(json.loads(text))
        except (json.JSONDecodeError, RecursionError):
            raise ValueError from None
    kind, *pairs = text.replace(",", " ").split()
    split = [pair.partition("=") for pair in pairs]
    return {"rope_type": kind} | {name.lower(): value for name, _, value in split}


def _kind(said: dict[str, Any]) -> str:
    kinds = [str(said.pop(name)) for name in ("rope_type", "type") if name in said]
    if not kinds:
        raise InputError('has no "rope_type": linear or llama3')
    kind = plain(kinds[0]).replace("-", "")
    if kind not in (*NEEDS, UNSCALED):
        raise InputError(f"takes the types linear and llama3, and not {quoted(kinds[0])}")
    return kind
