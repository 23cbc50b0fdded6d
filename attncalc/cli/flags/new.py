"""The flags of `attncalc new`."""

import inspect
from typing import Annotated, Any

import typer

from attncalc.cli.flags.fields import (
    flag_of,
    parameter,
    settings_of_problems,
    with_parameters,
)
from attncalc.cli.flags.shared import Jobs

HELP = """Make a new problem: random matrices whose solution is what you wish for.

[bold]Examples[/bold]

    attncalc new --seed 7                         three tokens, small
    attncalc new --tokens 3 --d 4 --d-k 2 --seed 7 -o problem.json
    attncalc new --kind cross --tokens 2 --keys 4 --no-scale
    attncalc new --entries "-2:2:1/2" --spread 0.3:0.8
    attncalc new --same-digits                    both roundings show the same
    attncalc new --ties 1 --second-lines 1        a tie, and a dashed line
    attncalc new --heads 2 --also "W_O,b_Q" --words
    attncalc new --again problem.json --seed 8    another one, as hard
    attncalc new --class roster.csv --problems spec.json -o set/

No value stands near the middle between two roundings, no two weights tie,
no score is beyond 15, and each common mistake changes a digit, unless you
wish for something else. A class gets a set: each student their own problem.
"""

_SIZES, _WISHES = "Sizes and numbers", "What should come of it"
_CLASS = "For a class"

VALUES = (
    ("kind", "KIND", "self, cross, encoder or decoder.", "self", _SIZES),
    ("tokens", "NUMBER", "How many tokens ask.", "3", _SIZES),
    ("keys", "NUMBER", "How many are attended to, in cross and decoder.", "as many", _SIZES),
    ("d", "NUMBER", "Features of a token.", "4", _SIZES),
    ("d_keys", "NUMBER", "Features of a token that is attended to.", "as many", _SIZES),
    ("d_k", "NUMBER", "Features of a head's queries and keys.", "2", _SIZES),
    ("d_v", "NUMBER", "Features of a head's values.", "as d-k", _SIZES),
    ("d_ff", "NUMBER", "Features within a feed-forward part.", "as d", _SIZES),
    ("also", "NAMES", "Further matrices, as W_O,b_Q,P.", "none", _SIZES),
    ("entries", "NUMBERS", "from:to, from:to:step, or a list.", "-2:2", _SIZES),
    ("labels", "NAMES", "Names of the tokens, between commas.", "none", _SIZES),
    ("title", "TEXT", "The heading.", "none", _SIZES),
    ("margin", "NUMBER", "How near to a turn of its last digit no value is.", "0.01", _WISHES),
    ("ties", "NUMBER", "How many outputs have two inputs first, or any.", "0", _WISHES),
    ("second_lines", "NUMBER", "How many outputs have a dashed line.", "any", _WISHES),
    ("spread", "FROM:TO", "Of each row's e^H / n, as 0.3:0.8.", "any", _WISHES),
    ("largest_score", "NUMBER", "How large a score may be.", "15", _WISHES),
    ("negatives", "NUMBER", "How many entries are below 0.", "any", _WISHES),
)
"""Wishes with a value: name, metavar, help, default, panel."""
SWITCHES = (
    ("words", "--words", "Names of tokens, from a short list.", _SIZES),
    ("same_digits", "--same-digits", "Rounding each step gives the same digits.", _WISHES),
    ("sharp", "--sharp", "All weights may be 0 or 1.", _WISHES),
    (
        "tell_apart",
        "--tell-apart/--no-tell-apart",
        "Each common mistake changes a digit.",
        _WISHES,
    ),
)


def _wishes() -> list[inspect.Parameter]:
    values = [
        parameter(
            name,
            str | None,
            typer.Option(
                flag_of(name),
                metavar=metavar,
                help=says,
                show_default=default,
                rich_help_panel=panel,
            ),
        )
        for name, metavar, says, default, panel in VALUES
    ]
    return values + [
        parameter(name, bool | None, typer.Option(flag, help=says, rich_help_panel=panel))
        for name, flag, says, panel in SWITCHES
    ]


@with_parameters(_wishes, settings_of_problems)
def new(
    context: typer.Context,
    again: Annotated[
        str | None,
        typer.Option("--again", metavar="PROBLEM", help="Another one like this problem, as hard."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            show_default="another each time",
            help="It stands for one problem.",
        ),
    ] = None,
    class_: Annotated[
        str | None,
        typer.Option(
            "--class",
            metavar="ROSTER",
            help="A problem for each name of this list (CSV: name, id, email).",
            rich_help_panel=_CLASS,
        ),
    ] = None,
    problems: Annotated[
        str | None,
        typer.Option(
            "--problems",
            metavar="SPEC",
            help="What each gets (JSON: problems, formats, seed, secret; or a set's manifest).",
            rich_help_panel=_CLASS,
        ),
    ] = None,
    jobs: Jobs = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write to this file, .json or .csv; or a new folder.",
        ),
    ] = None,
    **flags: Any,
) -> None:
    """Make a new problem."""
    if class_ is not None or problems is not None:
        from attncalc.cli.commands.new_class import new_class

        new_class(context.params)
        return
    from attncalc.cli.commands.new import new

    new(context.params)
