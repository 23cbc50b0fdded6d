"""The flags of `attncalc doctor`."""

from typing import Annotated, Literal

import typer

HELP = """Tell what a report of a mistake needs: versions, the terminal, fonts, LaTeX.

[bold]Examples[/bold]

    attncalc doctor                    versions, threads, the terminal, what is installed
    attncalc doctor in.json            and which letters of its labels fonts lack
    attncalc doctor -o doctor.txt      to a file; paste it into the report

It names no folders and no people: the home folder is ~.
"""

File = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]", help="A problem, whose labels are looked at.", show_default="none"
    ),
]
Form = Annotated[
    Literal["table", "json"] | None,
    typer.Option(
        "--format", help="The form.", show_default="table, or what the ending of --out says"
    ),
]
Out = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="FILE", help="Write to this file."),
]


def doctor(file: File = None, form: Form = None, out: Out = None) -> None:
    """Tell what there is on this machine."""
    from attncalc.cli.commands.doctor import doctor

    doctor(file, form, out)
