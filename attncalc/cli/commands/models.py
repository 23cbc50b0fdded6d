"""The input of a model from flags, for every command that opens one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attncalc.api.models import Given, Opened
from attncalc.base.errors import InputError
from attncalc.reading import read_matrix
from attncalc.reading.models.tokens import read_ids

NEEDED = {
    "tokens": '--tokens "3, 7", or --text',
    "image": "--image x.npy",
    "spectrogram": "--spectrogram x.npy",
}
"""The required input, by the kind of model."""


def check_one_input(flags: Mapping[str, Any]) -> None:
    """Refuse two inputs of a model."""
    given = [name for name in Given._fields[:4] if flags.get(name) is not None]
    if len(given) > 1:
        raise InputError(f"--{given[0]} and --{given[1]} together: give one of them")


def given_from(flags: Mapping[str, Any]) -> tuple[Given, dict[str, str]]:
    """Return what a model reads, and the names of its fields for messages."""
    check_one_input(flags)
    given: dict[str, Any] = {name: flags.get(name) for name in Given._fields}
    said = {name: f"--{name.replace('_', '-')}" for name in given}
    for name in ("image", "spectrogram"):
        if given[name] is not None:
            said[name] = given[name]
    for name in ("tokens", "decoder_tokens", "type_ids"):
        if given[name] is not None:
            given[name] = read_ids(given[name], said[name])
    if given["decoder_ignore"] is not None:
        given["decoder_ignore"] = read_matrix("ignore", given["decoder_ignore"])["ignore"]
    return Given(**given), said


def opened_from(folder: str, flags: Mapping[str, Any]) -> Opened:
    """Return the model of a folder with its input."""
    given, said = given_from(flags)
    return Opened(Path(folder), given, said, NEEDED)


def ignored_from(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the padding mask as a field of all layers; {} if none is given."""
    if flags["ignore"] is None:
        return {}
    return {"ignore": read_matrix("ignore", flags["ignore"])["ignore"]}
