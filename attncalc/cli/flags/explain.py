"""The flags of `attncalc explain`."""

from typing import Annotated, Any

import typer

from attncalc.cli.flags.fields import for_problems
from attncalc.cli.flags.shared import OUTPUT, File, Format, Full, Out, Standalone

HELP = """Say what the weights show: who takes whom, what is equal, what scale and mask change.

[bold]Examples[/bold]

    attncalc explain                      the bundled homework
    attncalc explain in.json              your own problem, of any kind
    attncalc explain in.json --all        every fact, not only the first three
    attncalc explain in.json --no-scale
    attncalc explain in.json --format json
    attncalc explain in.json -o patterns.md
    attncalc explain in.json --head cross.A   of one attention of a decoder
    attncalc self in.json --explain       below all the steps
    attncalc explain in.json --equations  every step as an equation

Each sentence is a fact of the weights, with its numbers and its threshold.
"""


Head = Annotated[
    str | None,
    typer.Option(
        "--head",
        metavar="HEAD",
        help="Of this head alone, counted from 1, or of an attention: cross.A, or cross.A,2.",
        show_default="all of them",
        rich_help_panel=OUTPUT,
    ),
]


All = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Show every sentence, and not only the three that tell most.",
        rich_help_panel=OUTPUT,
    ),
]


Equations = Annotated[
    bool,
    typer.Option(
        "--equations",
        help="Print the calculation as equations, to edit and to give back.",
        rich_help_panel=OUTPUT,
    ),
]


@for_problems(None)
def explain(
    context: typer.Context,
    file: File = None,
    head: Head = None,
    all: All = False,  # noqa: A002 - the flag is --all
    as_equations: Equations = False,
    full: Full = False,
    format: Format = None,  # noqa: A002 - the flag is --format
    standalone: Standalone = False,
    out: Out = None,
    **flags: Any,
) -> None:
    """Say what the weights show."""
    from attncalc.cli.commands.explain import explain

    explain(context.params)
