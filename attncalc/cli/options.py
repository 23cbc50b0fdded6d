"""The flags that commands share, and how they become a Problem."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from attncalc.problem import Problem

_MATRICES = "Matrices (a file, or text such as '1 0; 0 1')"
_CONVENTIONS = "Conventions"
_OUTPUT = "Output"

File = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]",
        help="JSON, CSV, a folder of CSV files, or - for standard input.",
        show_default="the bundled sample",
    ),
]


def _matrix(name: str, meaning: str) -> Any:
    return typer.Option(f"--{name}", metavar="MATRIX", help=meaning, rich_help_panel=_MATRICES)


X = Annotated[str | None, _matrix("X", "Tokens of self-attention, one in each row.")]
X1 = Annotated[str | None, _matrix("X1", "Tokens of cross-attention that ask (queries).")]
X2 = Annotated[str | None, _matrix("X2", "Tokens that are attended to (keys and values).")]
W_Q = Annotated[str | None, _matrix("W_Q", "Query weights.")]
W_K = Annotated[str | None, _matrix("W_K", "Key weights.")]
W_V = Annotated[str | None, _matrix("W_V", "Value weights.")]

Scale = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="sqrt_dk (divide the scores by √d_k), none, or a number to multiply them by, as 1/3.",
        rich_help_panel=_CONVENTIONS,
    ),
]
NoScale = Annotated[
    bool,
    typer.Option("--no-scale", help="The same as --scale none.", rich_help_panel=_CONVENTIONS),
]
Rounding = Annotated[
    str | None,
    typer.Option(
        "--rounding",
        metavar="RULE",
        help="display (only what is shown) or each-step (the next step reads the rounded numbers).",
        rich_help_panel=_CONVENTIONS,
    ),
]
Decimals = Annotated[
    str | None,
    typer.Option(
        "--decimals",
        "-d",
        metavar="0-12",
        help="Decimals shown; halves go away from zero.",
        rich_help_panel=_CONVENTIONS,
    ),
]
Title = Annotated[
    str | None,
    typer.Option("--title", metavar="TEXT", help="The heading.", rich_help_panel=_CONVENTIONS),
]
Only = Annotated[
    str | None,
    typer.Option(
        "--only", metavar="STEPS", help="Show these steps only, as Q,A.", rich_help_panel=_OUTPUT
    ),
]
Format = Annotated[
    Literal["table", "json"] | None,
    typer.Option(
        "--format",
        help="The form of the output.",
        show_default="table, or what the ending of --out says",
        rich_help_panel=_OUTPUT,
    ),
]
Full = Annotated[
    bool,
    typer.Option("--full", help="Show large matrices whole.", rich_help_panel=_OUTPUT),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="FILE", help="Write to this file.", rich_help_panel=_OUTPUT
    ),
]


def problem_from(flags: Mapping[str, Any], *, fallback: str, kind: str | None = None) -> "Problem":
    """Return the Problem that a command's parameters ask for.

    Parameters
    ----------
    flags
        The command's parameters by name; None where one was not given.
    fallback
        The sample that is used when no file and no matrix is given.
    kind
        The kind of attention the command is for, where it is for one only.

    Raises
    ------
    InputError, ShapeError
        As `attncalc.read_problem` does, and for a problem of the other kind.
    """
    from attncalc.errors import InputError

    problem = _problem(flags["file"], _matrices(flags), _conventions(flags), fallback)
    if kind is not None and problem.kind != kind:
        holds = "X" if problem.kind == "self" else "X1 and X2"
        raise InputError(
            f"{flags['file'] or 'flags'}: this is a {problem.kind}-attention problem "
            f"(it holds {holds}): use attncalc {problem.kind}"
        )
    return problem


def _matrices(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Read the matrices given as flags, and the labels of tokens that their files hold."""
    from attncalc.problem import MATRICES
    from attncalc.reading import read_matrix

    given: dict[str, Any] = {}
    labels: dict[str, Any] = {}
    for name in MATRICES:
        if flags.get(name) is not None:
            given |= read_matrix(name, flags[name])
            labels |= given.pop("labels", {})
    return given | ({"labels": labels} if labels else {})


def _conventions(flags: Mapping[str, Any]) -> dict[str, Any]:
    from attncalc.errors import InputError
    from attncalc.problem import NONE, read_decimals, read_rounding, read_scale

    readers = {"scale": read_scale, "rounding": read_rounding, "decimals": read_decimals}
    given = {name: flags[name] for name in (*readers, "title") if flags[name] is not None}
    if flags["no_scale"] and "scale" in given:
        raise InputError("--scale and --no-scale together: give one of them")
    for name in readers.keys() & given:
        try:
            readers[name](given[name])
        except InputError as error:
            raise InputError(f"--{error}") from None  # its text starts with the name
    return given | ({"scale": NONE} if flags["no_scale"] else {})


def _problem(
    file: str | None, matrices: dict[str, Any], conventions: dict[str, Any], fallback: str
) -> "Problem":
    from attncalc.cli.streams import note
    from attncalc.reading import build, read_bytes, read_problem
    from attncalc.samples import sample

    changes = matrices | conventions
    if file == "-":
        return read_bytes(sys.stdin.buffer.read(), "standard input", **changes)
    if file is not None:
        return read_problem(file, **changes)
    if matrices:
        return build("flags", {}, changes)
    note(f"no file given: this is the bundled sample {fallback} (attncalc samples {fallback})")
    return read_problem(sample(fallback).path, **changes)
