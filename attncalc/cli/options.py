"""The flags that commands share, and how they become a Problem.

What a problem can say is listed once, in `attncalc.problem.fields`: each is a flag of all commands.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from attncalc.problem.problem import Problem

_MATRICES = "Matrices (a file, or text such as '1 0; 0 1')"
_MORE_MATRICES = "More matrices"
_CONVENTIONS = "Conventions"
_KINDS = "Kinds of attention"
_OUTPUT = "Output"

_MEANINGS = {
    "X": "Tokens of self-attention, one in each row.",
    "X1": "Tokens of cross-attention that ask (queries).",
    "X2": "Tokens that are attended to (keys and values).",
    "X3": "Tokens whose values are read, where not those of X2.",
    "W_Q": "Query weights.",
    "W_K": "Key weights.",
    "W_V": "Value weights.",
    "W_O": "Output projection.",
    "Q": "Queries themselves, in place of tokens and W_Q.",
    "K": "Keys themselves.",
    "V": "Values themselves.",
    "b_Q": "Bias of the queries.",
    "b_K": "Bias of the keys.",
    "b_V": "Bias of the values.",
    "b_O": "Bias of the output projection.",
    "P": "Positions, added to X.",
    "P1": "Positions, added to X1.",
    "P2": "Positions, added to X2.",
    "P3": "Positions, added to X3.",
    "keep": "Mask: 1 where a query may attend.",
    "ignore": "Mask: 1 where a query may not attend.",
    "bias": "Mask: numbers added to the scores; -inf forbids.",
}
_FIRST_MATRICES = {"self": ("X",), "cross": ("X1", "X2")}
_WEIGHTS = ("W_Q", "W_K", "W_V")
_OF_THE_OTHER_KIND = {"self": ("X1", "X2", "X3", "P1", "P2", "P3"), "cross": ("X", "P")}

_SETTINGS = {
    "scale": "sqrt_dk (divide by the root of d_k), none, or a number to multiply by, as 1/3.",
    "rounding": "display (only what is shown) or each-step (the next step reads rounded numbers).",
    "decimals": "Decimals shown, 0 to 12; halves go away from zero.",
    "layout": "rows, or columns: tokens are columns, Q = W_Q X.",
    "weights_layout": "in-out, or torch: weights stored (out, in).",
    "heads": "How many heads stand side by side in the weights.",
    "combine": "concat or mean of the heads.",
    "causal": "A query may attend to keys up to its own place only.",
    "causal_alignment": "top-left, or bottom-right: a decoder with earlier keys.",
    "softcap": "Cap the scores at this number, by tanh.",
    "normalizer": "softmax, hardmax or sum.",
    "positions": "sinusoidal (added to the tokens), rope (queries and keys turned) or none.",
    "rope_base": "The base of rope's angles.",
    "rope_offset": "The place of the first token, for rope.",
    "rope_query_offset": "The place of the first query: else as keys, m - n later if bottom-right.",
    "rope_pairing": "halves or interleaved: which columns rope pairs.",
}
_CONVENTIONS_FIRST = ("rounding", "decimals", "layout", "weights_layout")

File = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]",
        help="JSON, CSV, .npz, a folder of CSV files, or - for standard input.",
        show_default="the bundled sample",
    ),
]
Only = Annotated[
    str | None,
    typer.Option(
        "--only", metavar="STEPS", help="Show these steps only, as Q,A.", rich_help_panel=_OUTPUT
    ),
]
Format = Annotated[
    Literal["table", "markdown", "latex", "csv", "json", "npz"] | None,
    typer.Option(
        "--format",
        help="The form of the output.",
        show_default="table, or what the ending of --out says",
        rich_help_panel=_OUTPUT,
    ),
]
Work = Annotated[
    bool,
    typer.Option("--work", help="Write out every entry of every step.", rich_help_panel=_OUTPUT),
]
Entry = Annotated[
    list[str] | None,
    typer.Option(
        "--entry",
        metavar="ENTRY",
        help="Write out this alone, as A[3,1], A[3,:], S or A['cat','sat']; may be repeated.",
        rich_help_panel=_OUTPUT,
    ),
]
FractionsFlag = Annotated[
    bool,
    typer.Option("--fractions", help="Show exact values as fractions.", rich_help_panel=_OUTPUT),
]
Mixed = Annotated[
    bool,
    typer.Option("--mixed", help="The same, as mixed numbers: 2 1/2.", rich_help_panel=_OUTPUT),
]
Blank = Annotated[
    bool,
    typer.Option(
        "--blank",
        help="A worksheet: the same page with every answer left out.",
        rich_help_panel=_OUTPUT,
    ),
]
Standalone = Annotated[
    bool,
    typer.Option(
        "--standalone",
        help="For latex: a document of its own, with the map.",
        rich_help_panel=_OUTPUT,
    ),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full", help="Show large matrices whole, and all of their work.", rich_help_panel=_OUTPUT
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write to this file; for csv also to a folder.",
        rich_help_panel=_OUTPUT,
    ),
]

Command = Callable[..., None]


def for_problems(kind: str | None) -> Callable[[Command], Command]:
    """Give a command a flag for each matrix and each convention, before its own options.

    Parameters
    ----------
    kind
        "self" or "cross" for a command that takes problems of one kind.
    """

    def decorate(command: Command) -> Command:
        own = [
            parameter
            for parameter in inspect.signature(command).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        needed = sum(parameter.default is parameter.empty for parameter in own)
        first = max(2, needed)  # the context and the file, and what must be given
        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # Typer reads it
            [*own[:first], *_flags(kind), *own[first:]]
        )
        return command

    return decorate


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
    if kind is not None and problem.kind != kind and problem.has_tokens:
        holds = " and ".join(name for name in ("X", "X1", "X2") if name in problem.names)
        raise InputError(
            f"{flags['file'] or 'flags'}: this is a {problem.kind}-attention problem "
            f"(it holds {holds}): use attncalc {problem.kind}"
        )
    return problem


def _flags(kind: str | None) -> Iterator[inspect.Parameter]:
    """Yield a parameter for each matrix and each convention, those of the homework first."""
    first = (*_FIRST_MATRICES.get(kind or "", ("X", "X1", "X2")), *_WEIGHTS)
    unwanted = _OF_THE_OTHER_KIND.get(kind or "", ())
    more = [name for name in _MEANINGS if name not in (*first, *unwanted)]
    for name in first:
        yield _matrix(name, _MATRICES)
    yield _setting("scale", _CONVENTIONS)
    yield _switch("no_scale", "The same as --scale none.", _CONVENTIONS)
    for name in _CONVENTIONS_FIRST:
        yield _setting(name, _CONVENTIONS)
    title = _option("--title", "TEXT", "The heading.", _CONVENTIONS)
    yield _parameter("title", title, str | None, None)
    either = typer.Option("--causal/--no-causal", help=_SETTINGS["causal"], rich_help_panel=_KINDS)
    yield _parameter("causal", either, bool | None, None)
    for name in _SETTINGS:
        if name not in ("scale", "causal", *_CONVENTIONS_FIRST):
            yield _setting(name, _KINDS)
    for name in more:
        yield _matrix(name, _MORE_MATRICES)


@cache
def _matrix(name: str, panel: str) -> inspect.Parameter:
    return _parameter(
        name, _option(f"--{name}", "MATRIX", _MEANINGS[name], panel), str | None, None
    )


@cache
def _setting(name: str, panel: str) -> inspect.Parameter:
    short = ("-d",) if name == "decimals" else ()
    flag = f"--{name.replace('_', '-')}"
    option = _option(flag, "VALUE", _SETTINGS[name], panel, *short)
    return _parameter(name, option, str | None, None)


@cache
def _switch(name: str, meaning: str, panel: str) -> inspect.Parameter:
    option = typer.Option(f"--{name.replace('_', '-')}", help=meaning, rich_help_panel=panel)
    return _parameter(name, option, bool, False)


def _option(flag: str, metavar: str, meaning: str, panel: str, *short: str) -> Any:
    return typer.Option(flag, *short, metavar=metavar, help=meaning, rich_help_panel=panel)


def _parameter(name: str, option: Any, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=default,
        annotation=Annotated[kind, option],
    )


def _matrices(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Read the matrices given as flags, and the labels of tokens that their files hold."""
    from attncalc.problem.serialising import COLUMN_NAMES, ROW_NAMES
    from attncalc.reading import read_matrix

    names = (ROW_NAMES, COLUMN_NAMES)
    given: dict[str, Any] = {}
    for name in _MEANINGS:
        if flags.get(name) is not None:
            for key, value in read_matrix(name, flags[name]).items():
                given[key] = given.get(key, {}) | value if key in names else value
    return given


def _conventions(flags: Mapping[str, Any]) -> dict[str, Any]:
    from attncalc.errors import InputError
    from attncalc.problem.attention.fields import NONE
    from attncalc.problem.fields import read_setting

    names = (*_SETTINGS, "title")
    given = {name: flags[name] for name in names if flags[name] is not None}
    if flags["no_scale"] and "scale" in given:
        raise InputError("--scale and --no-scale together: give one of them")
    for name in given.keys() & _SETTINGS:
        try:
            read_setting(name, given[name])
        except InputError as error:  # its text starts with the name
            flag = name.replace("_", "-")
            raise InputError(f"--{flag}{str(error).removeprefix(name)}") from None
    return given | ({"scale": NONE} if flags["no_scale"] else {})


def _problem(
    file: str | None, matrices: dict[str, Any], conventions: dict[str, Any], fallback: str
) -> "Problem":
    from attncalc.cli.streams import note, receive
    from attncalc.problem.samples import sample
    from attncalc.reading import build, read_problem, read_stream

    changes = matrices | conventions
    if file == "-":
        return read_stream(receive(), "standard input", **changes)
    if file is not None:
        return read_problem(file, **changes)
    if matrices:
        return build("flags", {}, changes)
    note(f'no file given: this is the bundled sample "{fallback}" (attncalc samples {fallback})')
    return read_problem(sample(fallback).path, **changes)
