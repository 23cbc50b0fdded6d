"""The commands, put together."""

from typing import Annotated

import typer

from attncalc import __version__
from attncalc.cli import calculate, plot, samples

HELP = """Attention by hand, checked by machine: every step from your matrices to the outputs.

[bold]Examples[/bold]

    attncalc self                     solve the bundled homework
    attncalc self in.json             solve your own self-attention problem
    attncalc cross in.json            the same with two sets of tokens
    attncalc plot in.json -o map.png  draw which input each output attends to
    attncalc samples cross > my.json  start from a sample
"""

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.command("self", help=calculate.SELF_HELP)(calculate.self_attention)
app.command("cross", help=calculate.CROSS_HELP)(calculate.cross_attention)
app.command("plot", help=plot.HELP)(plot.plot)
app.command("samples", help=samples.HELP)(samples.samples)


def _print_version(wanted: bool) -> None:
    if wanted:
        from attncalc.cli.streams import emit

        emit(f"attncalc {__version__}\n")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""
