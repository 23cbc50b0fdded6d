"""The commands, put together."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from attncalc import __version__
from attncalc.text import on_a_line

HELP = """Attention by hand, checked by machine: every step from your matrices to the outputs.

[bold]Examples[/bold]

    attncalc self                     solve the bundled homework
    attncalc self in.json             solve your own self-attention problem
    attncalc cross in.json            the same with two sets of tokens
    attncalc encoder in.json          a whole layer; attncalc decoder in.json another
    attncalc vit in.json              an image, cut into patches that attend to each other
    attncalc plot in.json -o map.png  draw which input each output attends to
    attncalc explain in.json          what the weights show, in sentences
    attncalc check in.json mine.md    mark a worked answer
    attncalc vary in.json "K\\[a] *= 0:3"
                                      watch what a longer key does
    attncalc open gpt2 --text "A cat" every number of a model's layer
    attncalc new --seed 7 -o new.json make a problem
    attncalc export in.json --to moodle -o question.xml
                                      into the course's system
    attncalc samples cross > my.json  start from a sample
    attncalc doctor                   what a report of a mistake needs
"""

Built = tuple[Callable[..., None], str]
"""A command and its help."""


def _self() -> Built:
    from attncalc.cli.flags import calculate

    return calculate.command("self"), calculate.SELF_HELP


def _cross() -> Built:
    from attncalc.cli.flags import calculate

    return calculate.command("cross"), calculate.CROSS_HELP


def _encoder() -> Built:
    from attncalc.cli.flags import calculate

    return calculate.command("encoder"), calculate.ENCODER_HELP


def _decoder() -> Built:
    from attncalc.cli.flags import calculate

    return calculate.command("decoder"), calculate.DECODER_HELP


def _vit() -> Built:
    from attncalc.cli.flags import calculate

    return calculate.command("vit"), calculate.VIT_HELP


def _plot() -> Built:
    from attncalc.cli.flags import plot

    return plot.plot, plot.HELP


def _check() -> Built:
    from attncalc.cli.flags import check

    return check.check, check.HELP


def _explain() -> Built:
    from attncalc.cli.flags import explain

    return explain.explain, explain.HELP


def _vary() -> Built:
    from attncalc.cli.flags import studies

    return studies.vary, studies.VARY_HELP


def _simulate() -> Built:
    from attncalc.cli.flags import studies

    return studies.simulate, studies.SIMULATE_HELP


def _aim() -> Built:
    from attncalc.cli.flags import studies

    return studies.aim, studies.AIM_HELP


def _open() -> Built:
    from attncalc.cli.flags import open as opening

    return opening.open_model, opening.HELP


def _new() -> Built:
    from attncalc.cli.flags import new

    return new.new, new.HELP


def _export() -> Built:
    from attncalc.cli.flags import export

    return export.export, export.HELP


def _samples() -> Built:
    from attncalc.cli.flags import samples

    return samples.samples, samples.HELP


def _schema() -> Built:
    from attncalc.cli.flags import schema

    return schema.schema, schema.HELP


def _doctor() -> Built:
    from attncalc.cli.flags import doctor

    return doctor.doctor, doctor.HELP


COMMANDS = {
    "self": _self,
    "cross": _cross,
    "encoder": _encoder,
    "decoder": _decoder,
    "vit": _vit,
    "plot": _plot,
    "explain": _explain,
    "check": _check,
    "vary": _vary,
    "simulate": _simulate,
    "aim": _aim,
    "open": _open,
    "new": _new,
    "export": _export,
    "samples": _samples,
    "schema": _schema,
    "doctor": _doctor,
}


class _Command(TyperCommand):
    """A command that complains of what was typed without doing what stands in it."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        """Parse the arguments; Typer repeats some of what it refuses as it was typed."""
        try:
            return super().make_context(*given, **more)
        except Exception as refused:
            if isinstance(message := getattr(refused, "message", None), str):
                refused.message = on_a_line(message)  # type: ignore[attr-defined]
            raise


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the application for a command line: the command it names, or all to choose from.

    Each command has some fifty flags: making those of all of them takes as long as numpy.
    """
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(main)
    named = [name for name in arguments[:1] if name in COMMANDS]
    for name in named or COMMANDS:
        command, text = COMMANDS[name]()
        # where something else comes first, no command runs: what they are for is all that is read
        is_run = named or not arguments
        app.command(name, help=text, cls=_Command)(command if is_run else _listed)
    return app


def _listed() -> None:
    """Stand in for a command in the list of all: it is not run, and no flag of it is shown."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from attncalc.cli.streams import emit

        emit(f"attncalc {__version__}\n")
        raise typer.Exit


def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""
