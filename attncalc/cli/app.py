"""The commands, put together from their table."""

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from attncalc.base import __version__
from attncalc.base.text import on_a_line
from attncalc.cli.flags.fields import completed
from attncalc.cli.flags.flag import Flag
from attncalc.cli.flags.table import COMMANDS, flags_of, summary, usage_of

HELP = """Compute attention by hand: every step from your matrices to the outputs.

    attncalc self                       solve the bundled homework
    attncalc self in.json --work -o hw.html
    attncalc check in.json mine.md      mark a worked answer
"""
OPTIONS = (
    Flag("--version", "Show the version and exit.", takes=bool),
    Flag("--install-completion", "Install completion for this shell.", takes=bool),
    Flag("--show-completion", "Print the completion script of this shell.", takes=bool),
)


class _Command(TyperCommand):
    """A command with help from the table; its errors are on one line."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        """Parse the arguments; escape the typed text in Typer's errors."""
        try:
            return super().make_context(*given, **more)
        except Exception as refused:
            if isinstance(message := getattr(refused, "message", None), str):
                refused.message = on_a_line(message)  # type: ignore[attr-defined]
            raise

    def collect_usage_pieces(self, _: Any) -> list[str]:
        return [usage_of(str(self.name))]

    def format_help(self, _: Any, formatter: Any) -> None:
        from attncalc.cli.commands.help import help_of  # most runs print no help

        formatter.write(help_of(str(self.name)))


class _Group(TyperGroup):
    def format_help(self, _: Any, formatter: Any) -> None:
        from attncalc.cli.commands.help import help_of_all

        formatter.write(help_of_all(HELP, OPTIONS))


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the application for a command line: the named command, or the list of all.

    Each command has some fifty flags: creating those of all commands takes as long as importing
    numpy.
    """
    _complete_in_bash()
    app = typer.Typer(
        cls=_Group,
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(main)
    named = [name for name in arguments[:1] if name in COMMANDS]
    for name in named or COMMANDS:
        # otherwise no command runs: only the descriptions are read
        function = _function(name) if named or not arguments else _listed
        app.command(name, help=summary(name), cls=_Command)(function)
    return app


def _complete_in_bash() -> None:
    """Print the values that follow `--set FIELD=`: bash splits words at =."""
    if os.environ.get("_ATTNCALC_COMPLETE") != "complete_bash":
        return
    words = os.environ["COMP_WORDS"].split()[: int(os.environ["COMP_CWORD"]) + 1]
    if found := re.search(r" --set (\w+) =(?: (\S*))?$", " ".join(words)):
        values = (each.partition("=")[2] for each in completed(f"{found[1]}="))
        starting = (each for each in values if each.startswith(found[2] or ""))
        print("\n".join(starting))  # noqa: T201 - for the shell
        raise SystemExit(0)


def _listed() -> None:
    """Do nothing: replaces a command in the list of all."""


def _function(name: str) -> Callable[..., None]:
    """Return the function of a command, with a parameter for each flag."""
    command = COMMANDS[name]

    def run(context: typer.Context, **_: Any) -> None:
        module = import_module(f"attncalc.cli.commands.{command.module}")
        work: Callable[[Mapping[str, Any]], int | None]
        work = getattr(module, command.function)
        raise typer.Exit(work({**context.params, "command": name}) or 0)

    def show_all(wanted: bool) -> None:
        if wanted:
            from attncalc.cli.commands.help import help_of

            _print(help_of(name, everything=True))

    context, *_ = inspect.signature(run).parameters.values()
    option = typer.Option("--help-all", callback=show_all, is_eager=True, expose_value=False)
    help_all = inspect.Parameter(
        "help_all",
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, option],
    )
    flags = [each.parameter() for each in flags_of(command)]
    run.__signature__ = inspect.Signature([context, *flags, help_all])  # type: ignore[attr-defined]
    return run


def _print(text: str, code: int = 0) -> None:
    from attncalc.cli.streams import emit

    emit(text)
    raise typer.Exit(code)


def _print_version(wanted: bool) -> None:
    if wanted:
        _print(f"attncalc {__version__}\n")


def main(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Read the options before a command; without a command, print the help."""
    if context.invoked_subcommand is None:
        _print(f"{context.get_help()}\n", 2)
