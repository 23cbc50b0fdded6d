"""The flags of `attncalc equations`."""

from typing import Annotated

import typer

HELP = """List the equations that are built in, each with the paper it comes from.

[bold]Examples[/bold]

    attncalc equations                 all of them
    attncalc equations softmax rotate  those whose names hold one of these words
    attncalc explain in.json --equations
                                       the equations of a problem, to edit and to give back
"""

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="[WORD]...", help="Parts of names.", show_default="all"),
]
Out = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write to this file."),
]


def equations(words: Words = None, out: Out = None) -> None:
    """List the equations that are built in."""
    from attncalc.cli.commands.equations import equations

    equations(words or [], out)
