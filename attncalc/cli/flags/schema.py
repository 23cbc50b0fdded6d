"""The flags of `attncalc schema`."""

from typing import Annotated

import typer

HELP = """List the JSON Schemas of what attncalc reads and prints, or write one out.

[bold]Examples[/bold]

    attncalc schema                    list them
    attncalc schema problem -o problem.schema.json
    attncalc schema marking

An editor that knows schemas helps to write a problem: say
"$schema": "problem.schema.json" in it.
"""


def _names() -> list[str]:
    from attncalc.schemas import NAMES

    return list(NAMES)


Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="The schema to write out.",
        show_default="list them",
        autocompletion=_names,
    ),
]
Out = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write to this file."),
]


def schema(name: Name = None, out: Out = None) -> None:
    """List the schemas, or write one out."""
    from attncalc.cli.commands.schema import schema

    schema(name, out)
