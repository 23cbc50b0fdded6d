"""The commands, put together."""

from collections.abc import Sequence
from importlib import import_module
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
    attncalc equations Softmax        the equations that are built in
    attncalc doctor                   what a report of a mistake needs
"""

COMMANDS = {
    "self": ("calculate", "command", "SELF_HELP"),
    "cross": ("calculate", "command", "CROSS_HELP"),
    "encoder": ("calculate", "command", "ENCODER_HELP"),
    "decoder": ("calculate", "command", "DECODER_HELP"),
    "vit": ("calculate", "command", "VIT_HELP"),
    "plot": ("plot", "plot", "HELP"),
    "explain": ("explain", "explain", "HELP"),
    "check": ("check", "check", "HELP"),
    "vary": ("studies", "vary", "VARY_HELP"),
    "simulate": ("studies", "simulate", "SIMULATE_HELP"),
    "aim": ("studies", "aim", "AIM_HELP"),
    "open": ("open", "open_model", "HELP"),
    "new": ("new", "new", "HELP"),
    "export": ("export", "export", "HELP"),
    "samples": ("samples", "samples", "HELP"),
    "equations": ("equations", "equations", "HELP"),
    "schema": ("schema", "schema", "HELP"),
    "doctor": ("doctor", "doctor", "HELP"),
}
"""Each command: its module in `cli/flags/`, and the names of its function and its help there.

`command` makes the function of a kind of problem.
"""


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
        module, function, text = COMMANDS[name]
        flags = import_module(f"attncalc.cli.flags.{module}")
        # where something else comes first, no command runs: what they are for is all that is read
        is_run = named or not arguments
        command = _listed
        if is_run:
            made = getattr(flags, function)
            command = made(name) if function == "command" else made
        app.command(name, help=getattr(flags, text), cls=_Command)(command)
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
