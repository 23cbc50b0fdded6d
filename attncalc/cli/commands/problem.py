"""From the flags of a command to its Problem."""

from collections.abc import Mapping
from typing import Any

from attncalc.cli.flags.fields import flag_of
from attncalc.cli.streams import note, receive
from attncalc.errors import InputError
from attncalc.problem.fields import GIVEN, SETTINGS, TOKENS, read_setting
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import COLUMN_NAMES, ROW_NAMES
from attncalc.reading import build, read_matrix, read_problem, read_stream
from attncalc.reading.queryless import ANY_QUERY


def problem_from(
    flags: Mapping[str, Any],
    *,
    fallback: str,
    kind: str | None = None,
    needs_query: bool = True,
) -> Problem:
    """Return the Problem that a command's parameters ask for.

    Parameters
    ----------
    flags
        The command's parameters by name; None where one was not given.
    fallback
        The sample that is used when no file and no matrix is given.
    kind
        The kind of attention the command is for, where it is for one only.
    needs_query
        Whether it needs a query; else it gets one of zeros.

    Raises
    ------
    InputError, ShapeError
        As `attncalc.read_problem` does, and for a problem of the other kind.
    """
    of_layers = {"block": kind} if kind in ("encoder", "decoder", "vit") else {}
    matrices, conventions = _matrices(flags), of_layers | conventions_of(flags)
    if not needs_query and (matrices or flags["file"] is not None):
        matrices["Q"] = ANY_QUERY
    problem = _problem(flags["file"], matrices, conventions, fallback)
    if kind is not None and problem.what != kind and problem.has_tokens:
        if kind not in ("self", "cross") or problem.what not in ("self", "cross"):
            raise InputError(
                f"{flags['file'] or 'flags'}: this problem is {_A[problem.what]}: "
                f"use attncalc {problem.what}"
            )
        sources = (*TOKENS, "ids")
        holds = " and ".join(name for name in sources if name in problem.names and name != "X3")
        raise InputError(
            f"{flags['file'] or 'flags'}: this is a {problem.kind}-attention problem "
            f"(it holds {holds}): use attncalc {problem.kind}"
        )
    return problem


_A = {
    "self": "self-attention",
    "cross": "cross-attention",
    "encoder": "an encoder",
    "decoder": "a decoder",
    "vit": "a Vision Transformer",
}


def _matrices(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Read the matrices given as flags, and the labels of tokens that their files hold."""
    names = (ROW_NAMES, COLUMN_NAMES)
    given: dict[str, Any] = {}
    for name in GIVEN:
        if flags.get(name) is not None:
            for key, value in read_matrix(name, flags[name]).items():
                given[key] = given.get(key, {}) | value if key in names else value
    return given


def conventions_of(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the flags say of conventions; each is read here, so that a fault names it."""
    names = (*SETTINGS, "title")
    given = {name: flags[name] for name in names if flags.get(name) is not None}
    for name, setting in SETTINGS.items():
        if setting.off and flags.get(f"no_{name}"):
            if name in given:
                raise InputError(f"{flag_of(name)} and --no-{name} together: give one of them")
            given[name] = setting.off
    for name in given.keys() & SETTINGS:
        try:
            read_setting(name, given[name])
        except InputError as error:  # its text starts with the name
            raise InputError(f"{flag_of(name)}{str(error).removeprefix(name)}") from None
    return given


def _problem(
    file: str | None, matrices: dict[str, Any], conventions: dict[str, Any], fallback: str
) -> Problem:
    changes = matrices | conventions
    if file == "-":
        return read_stream(receive(), "standard input", **changes)
    if file is not None:
        return read_problem(file, **changes)
    if matrices:
        return build("flags", {}, changes)
    from attncalc.problem.samples import sample  # here, for most bring a problem of their own

    note(f'no file given: this is the bundled sample "{fallback}" (attncalc samples {fallback})')
    return read_problem(sample(fallback).path, **changes)
