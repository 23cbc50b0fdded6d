"""The flags of `attncalc samples`."""

from typing import Annotated

import typer

HELP = """List the bundled problems and answers, or write one out to start from.

[bold]Examples[/bold]

    attncalc samples                    what there is
    attncalc samples cross > mine.json  a copy to change
    attncalc samples folder -o mine     a sample that is a folder
"""


def _names() -> list[str]:
    from attncalc.problem.samples import ANSWERS, SAMPLES

    return [each.name for each in (*SAMPLES, *ANSWERS)]


def samples(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="The sample to write out.",
            show_default="list them",
            autocompletion=_names,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="PLACE", help="Write to this file or folder."),
    ] = None,
) -> None:
    """List the samples, or write one out."""
    from attncalc.cli.commands.samples import samples

    samples(name, out)
