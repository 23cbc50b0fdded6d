"""`attncalc generate`, and the input of a model from flags, for every command that opens one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attncalc.api.generating import is_model, source_of
from attncalc.api.models import Given, Opened
from attncalc.base.errors import InputError
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.commands.studies import show, wanted_from
from attncalc.cli.flags.table import GENERATING
from attncalc.cli.streams import reporting
from attncalc.problem.fields import read_setting
from attncalc.reading import read_matrix
from attncalc.reading.models.tokens import read_ids
from attncalc.studies.generate import USUAL, Settings, Source, room
from attncalc.studies.generate import generate as generate_tokens
from attncalc.writing.studies.forms import forms_of

NEEDED = {
    "tokens": '--tokens "3, 7", or --text',
    "image": "--image x.npy",
    "spectrogram": "--spectrogram x.npy",
}
"""The required input, by the kind of model."""
_NEEDED = {**NEEDED, "image": "a model that generates tokens: this one has none"}
_SETTINGS = ("temperature", "top_k", "top_p", "seed", "beams", "length_penalty")


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


def generate(flags: Mapping[str, Any]) -> None:
    """Generate tokens, and write the candidates of each step."""
    wanted = wanted_from(flags)
    own = {name: flags[name] for name in _SETTINGS}
    count = flags["count"]
    with as_flags():  # before a model is read
        Settings(1 if count is None else count, **own).check()
    shown = {"decimals": flags["decimals"], "language": flags.get("language")}
    shown = {name: value for name, value in shown.items() if value is not None}
    with as_flags(tuple(shown)):
        for name, value in shown.items():
            read_setting(name, value)
    source, end = _source(flags)
    for name, value in shown.items():
        setattr(source, name, value)
    if flags["eos"] is not None:
        end = () if flags["eos"] == "none" else tuple(read_ids(flags["eos"], "--eos"))
    count = min(USUAL, max(room(source), 1)) if count is None else count
    names = ("count", "eos")
    with reporting() as report, as_flags(names):
        found = generate_tokens(source, Settings(count, **own, end=end), report)
    show(forms_of(found, full=flags["full"], cache=flags["cache"]), wanted, flags)


def refuse_alone(flags: Mapping[str, Any]) -> None:
    """Refuse flags of generating if nothing is generated."""
    for flag in GENERATING:
        if flags[flag.own_name] != flag.default:
            raise InputError(f"--{flag.own_name.replace('_', '-')} needs --generate")


def _source(flags: Mapping[str, Any]) -> tuple[Source, tuple[int, ...]]:
    given, said = given_from(flags)
    place = flags["source"]
    names = tuple(Given._fields)
    with as_flags(() if is_model(place) else names):
        return source_of(place, given, said, _NEEDED)
