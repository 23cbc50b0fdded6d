"""The page of commands and flags, from the commands as Typer declares them."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from attncalc.cli.app import app_for
from attncalc.problem.field import LAYER_PANELS, PANELS

COMMANDS: dict[str, Any] = typer.main.get_command(app_for([])).commands  # type: ignore[attr-defined]
EXAMPLES = re.compile(r"\[bold\]Examples\[/bold\]\n\n((?:    .*\n|\n)+)")


def page() -> str:
    """Return the page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# Commands and flags\n"
    yield (
        "Each command, its arguments and its own flags; then the flags of problems, which many "
        "commands share. `attncalc COMMAND --help` says the same.\n"
    )
    for name, command in COMMANDS.items():
        yield from _of_command(name, command)
    yield "## Flags of problems\n"
    yield (
        "Each is a field of the problem's file too: [fields](../fields.md). A matrix is a file, or "
        'a text such as `"1 0; 0 1"`.\n'
    )
    shared = _shared()
    for panel in (*PANELS, *LAYER_PANELS):
        rows = [(each, of) for each, of in shared if each.rich_help_panel == panel]
        if rows:
            yield f"### {panel.split(' (')[0]}\n"
            yield "| flag | what it does | commands |\n|---|---|---|"
            for each, of in rows:
                yield f"| {_names(each)} | {_words(each.help)} | {_commands(of)} |"
            yield ""


def _of_command(name: str, command: Any) -> Iterator[str]:
    says = f"{command.help or ''}\n"
    yield f"## attncalc {name}\n"
    yield _words(says.split("\n")[0]) + "\n"
    for example in EXAMPLES.findall(says):
        unescaped = re.sub(r"^    ", "", example.rstrip().replace("\\[", "["), flags=re.MULTILINE)
        yield f"```text\n{unescaped}\n```\n"
    rest = EXAMPLES.sub("", says).split("\n", 1)[1:]
    if rest and (words := " ".join(rest[0].split())):
        yield _words(words) + "\n"
    yield "| argument or flag | what it is | where nothing is said |\n|---|---|---|"
    for each in command.params:
        if not _is_field(each) and each.name != "help":
            yield f"| {_names(each)} | {_words(each.help)} | {_default(each)} |"
    yield ""


def _shared() -> list[tuple[Any, list[str]]]:
    """Return each flag of a problem, and which commands have it."""
    found: dict[tuple[str, ...], tuple[Any, list[str]]] = {}
    for name, command in COMMANDS.items():
        for each in filter(_is_field, command.params):
            found.setdefault(tuple(each.opts), (each, []))[1].append(name)
    return list(found.values())


def _is_field(parameter: Any) -> bool:
    return getattr(parameter, "rich_help_panel", None) in (*PANELS, *LAYER_PANELS)


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name}`"
    metavar = "" if parameter.is_flag else f" {parameter.metavar or _choices(parameter)}"
    names = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join(f"`{name}`" for name in names) + (f" `{metavar.strip()}`" if metavar else "")


def _choices(parameter: Any) -> str:
    choices = getattr(parameter.type, "choices", None)
    return ", ".join(map(str, choices)) if choices else parameter.type.name.upper()


def _words(text: str | None) -> str:
    """Return the words of a declaration as they are in Markdown."""
    return re.sub(r"([|*_<\[\]])", r"\\\1", text or "")


def _default(parameter: Any) -> str:
    if parameter.required:
        return "it must be given"
    said = getattr(parameter, "show_default", None)
    if isinstance(said, str):
        return _words(said)
    value = parameter.default
    return "" if value in (None, False, True, "", ()) else f"`{value}`"


def _commands(names: list[str]) -> str:
    return "all" if len(names) == len(COMMANDS) else ", ".join(f"`{name}`" for name in names)
