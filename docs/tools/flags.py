"""The pages of commands and of field flags, generated from the table of the command line."""

import re
from collections.abc import Iterator

from attncalc.cli.flags.fields import ALL_PANELS
from attncalc.cli.flags.flag import Flag
from attncalc.cli.flags.table import COMMANDS, SET, fields_of


def commands() -> str:
    """Return the page of commands."""
    return "\n".join(_commands_page())


def fields() -> str:
    """Return the page of the flags of fields."""
    return "\n".join(_fields_page())


def _commands_page() -> Iterator[str]:
    yield "# Commands\n"
    yield (
        "Each command with its arguments and its own flags. Many commands also take the "
        "[flags of fields](flags.md). `attncalc COMMAND --help-all` shows both.\n"
    )
    for name in COMMANDS:
        yield from _of_command(name)


def _fields_page() -> Iterator[str]:
    yield "# Flags of fields\n"
    yield (
        "Each is also a [field](../fields.md) of a problem file, and `--set FIELD=VALUE` sets any "
        'field. A matrix is a file, or text such as `"1 0; 0 1"`.\n'
    )
    shared = _shared()
    for panel in ALL_PANELS:
        yield f"## {panel.split(' (')[0]}\n"
        yield "| flag | meaning | default | commands |\n|---|---|---|---|"
        for each, of in shared:
            if each.panel == panel:
                yield (
                    f"| {_names(each)} | {_words(each.help)} | {_default(each)} | {_quoted(of)} |"
                )
        yield ""


def _of_command(name: str) -> Iterator[str]:
    command = COMMANDS[name]
    first, *rest = command.text.split("\n\n")
    yield f"## attncalc {name}\n"
    yield _words(first) + "\n"
    for text in rest:
        examples = re.sub(r"^    ", "", text.rstrip(), flags=re.MULTILINE)
        is_example = text.startswith("    ")
        yield f"```text\n{examples}\n```\n" if is_example else _words(" ".join(text.split())) + "\n"
    yield "| argument or flag | meaning | default |\n|---|---|---|"
    for each in (*command.own, *([SET] if command.fields is not None else [])):
        yield f"| {_names(each)} | {_words(each.help)} | {_default(each)} |"
    yield ""


def _shared() -> list[tuple[Flag, list[str]]]:
    """Return each flag of a problem's fields, and which commands have it."""
    found: dict[str, tuple[Flag, list[str]]] = {}
    for name, command in COMMANDS.items():
        for each in fields_of(command):
            found.setdefault(each.typed, (each, []))[1].append(name)
    return list(found.values())


def _names(flag: Flag) -> str:
    if flag.is_argument:
        return f"`{flag.metavar}`"
    names = [each for both in flag.names for each in both.split("/")]
    return ", ".join(f"`{name}`" for name in names) + (f" `{flag.metavar}`" * bool(flag.metavar))


def _words(text: str) -> str:
    """Return words as they are in Markdown."""
    return re.sub(r"([|*_<\[\]])", r"\\\1", text)


def _default(flag: Flag) -> str:
    return "required" if flag.default is ... else _words(flag.shown_default)


def _quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
