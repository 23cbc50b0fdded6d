"""From the flags of a command to its Problem."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.flags.fields import flag_of
from attncalc.cli.streams import note, receive
from attncalc.problem.fields import (
    GIVEN,
    MATRICES,
    NESTED,
    SETTINGS,
    TEXTS,
    TOKENS,
    own_name,
    read_setting,
)
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import COLUMN_NAMES, ROW_NAMES
from attncalc.reading import build, read_matrix, read_problem, read_stream
from attncalc.reading.cells import Faults
from attncalc.reading.json_text import read_json_field
from attncalc.reading.names import canonical, unknown
from attncalc.reading.queryless import ANY_QUERY
from attncalc.reading.vectors import read_vectors

Fields = dict[str, Any]


def problem_from(
    flags: Mapping[str, Any], *, fallback: str, kind: str | None = None, needs_query: bool = True
) -> Problem:
    """Return the Problem that a command's parameters ask for.

    Raises InputError, ShapeError as `attncalc.read_problem` does, and for a problem of the other
    kind.

    needs_query: whether it needs a query; else it gets one of zeros.
    """
    changes: Fields = {"block": kind} if kind in ("encoder", "decoder", "vit") else {}
    changes |= conventions_of(flags)
    given: Fields = {}
    for each in GIVEN:
        if flags.get(each) is not None:
            _add(given, read_matrix(each, flags[each]))
    _add(changes, given)
    _add(changes, fields_set(flags))
    _add(changes, _embedded(flags, changes))
    is_given = flags["file"] is not None or any(n in MATRICES or n in NESTED for n in changes)
    if is_given and not needs_query:
        changes["Q"] = ANY_QUERY
    if not is_given:
        from attncalc.problem.samples import sample  # most runs have their own problem

        note(
            f'no file given: this is the bundled sample "{fallback}" (attncalc samples {fallback})'
        )
    problem = _problem(flags["file"] if is_given else str(sample(fallback).path), changes)
    if flags.get("vectors") and problem.layout == "columns":
        raise InputError("--vectors gives tokens as rows, and here they are columns (layout)")
    if kind is not None and problem.what != kind and problem.has_tokens:
        what = f"this problem is {_A[problem.what]}"
        if {kind, problem.what} == {"self", "cross"}:
            sources = [name for name in (*TOKENS, "ids") if name in problem.names and name != "X3"]
            what = f"this is a {problem.kind}-attention problem (it has {' and '.join(sources)})"
        raise InputError(f"{flags['file'] or 'flags'}: {what}: use attncalc {problem.what}")
    return problem


_A = {
    "self": "self-attention",
    "cross": "cross-attention",
    "encoder": "an encoder",
    "decoder": "a decoder",
    "vit": "a Vision Transformer",
}


def _embedded(flags: Mapping[str, Any], changes: Fields) -> Fields:
    path, text = flags.get("vectors"), flags.get("text")
    if path is None and text is None:
        return {}
    if path is None or text is None or "X" in changes:
        raise InputError("--vectors and --text give X together: give both, and no other X")
    fields, said = read_vectors(Path(path), text)
    if said:
        note(said)
    return fields


def _add(fields: Fields, more: Fields) -> None:
    """Add fields: names of rows and columns, and equations, to those that are there."""
    for key, value in more.items():
        if key in (ROW_NAMES, COLUMN_NAMES):
            fields[key] = fields.get(key, {}) | value
        else:
            fields[key] = [*fields.get(key, ()), *value] if key == "equations" and value else value


def conventions_of(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conventions in the flags; each is read here, so that an error names its flag."""
    names = (*SETTINGS, "title")
    given = {name: flags[name] for name in names if flags.get(name) is not None}
    for name, setting in SETTINGS.items():
        if setting.off and flags.get(f"no_{name}"):
            if name in given:
                raise InputError(f"{flag_of(name)} and --no-{name} together: give one of them")
            given[name] = setting.off
    with as_flags():
        for name in given.keys() & SETTINGS:
            read_setting(name, given[name])
    return given


def fields_set(flags: Mapping[str, Any]) -> Fields:
    """Return the fields of `--set`, each read like its flag or its JSON."""
    fields: Fields = {}
    for text in flags.get("set") or ():
        typed, sign, value = (each.strip() for each in text.partition("="))
        if not sign:
            raise InputError(f"--set takes FIELD=VALUE, e.g. --set window=3, not {quoted(text)}")
        name = typed if typed in NESTED else canonical(typed)
        if name is None:
            raise InputError(f"--set: {unknown(typed)}")
        flag_says = flags.get(name)
        is_given = flag_says not in (None, [], ()) and str(flag_says).lower() != value.lower()
        if is_given or flags.get(f"no_{name}"):
            flag = flag_of(name) if name in SETTINGS else f"--{name}"
            raise InputError(f"{flag} and --set {name} together: give one of them")
        _add(fields, _value_set(name, value))
    return fields


def _value_set(name: str, value: str) -> Fields:
    """Return the field of a value of `--set`, and the labels in its file, if any."""
    own = own_name(name)
    is_json = own in NESTED or value == "null" or value.startswith('"')
    if not is_json and own not in TEXTS:
        is_json = value.startswith(("[", "{")) and (own not in MATRICES or _is_json(value))
    if is_json:
        fields = read_json_field(name, value, Faults(f"--set {name}"))
    elif own in MATRICES:
        fields = read_matrix(name, value)
    elif name == "labels":
        fields = {name: [each.strip() for each in value.split(",")]}
    else:
        fields = {name: [value] if name == "equations" else value}
    if own in SETTINGS and name in fields and fields[name] is not None:
        try:
            read = read_setting(name, fields[name])
        except InputError as error:  # its text starts with the name
            raise InputError(f"--set {error}") from None
        fields[name] = read if SETTINGS[own].is_switch or own == "equations" else fields[name]
    return fields


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):  # the text of a matrix, such as [1/2 0; 0 1]
        return False
    return True


def _problem(file: str | None, changes: Fields) -> Problem:
    if file == "-":
        return read_stream(receive(), "standard input", **changes)
    return build("flags", {}, changes) if file is None else read_problem(file, **changes)
