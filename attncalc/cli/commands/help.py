"""`attncalc help`: topics, commands and fields explained, and the help of commands as text."""

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import groupby
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.cli.flags.fields import ALL_FIELDS, ALL_PANELS, OTHERS, default_of
from attncalc.cli.flags.flag import OUTPUT, Flag
from attncalc.cli.flags.table import COMMANDS, COMMON, SET, fields_of, summary, topics, usage_of
from attncalc.cli.streams import emit
from attncalc.problem.fields import GIVEN, SETTINGS

WIDEST, NARROW = 100, 60
"""The largest width of help in columns; on fewer than `NARROW`, a meaning is below its term."""
COLUMN = 28
"""Where meanings begin."""
HELP_ALL = Flag("--help-all", "Show all flags.", takes=bool, default=False)
HELP = Flag("--help -h", "Show this help.", takes=bool, default=False)
Rows = Iterable[tuple[str, str]]


def help(flags: Mapping[str, Any]) -> None:  # noqa: A001 - the command is help
    """Print the help of a topic or a command, or list all topics."""
    emit("\n".join(_lines(flags["topic"])) + "\n")


def _lines(topic: str | None) -> Iterator[str]:
    found = topics()
    name = "" if topic is None else topic.strip().lower().replace(" ", "-")
    if name == "fields":
        yield "Fields of a problem: keys of its JSON file, flags, and names for --set."
        yield from ("", *fields_help())
    elif name in found:
        for number, part in enumerate(found[name].strip("\n").split("\n\n")):
            yield from [""] if number else []
            if part.startswith("{"):
                yield from fields_help(part.strip("{}").split())
            else:
                yield from prose(part)
    elif name in COMMANDS:
        yield help_of(name).rstrip("\n")
    elif topic in ALL_FIELDS:
        yield from fields_help([topic])
    elif topic is None:
        yield from ("Usage: attncalc help TOPIC", "", bold("Topics:"))
        # a topic of two names is listed once
        listed = {text.partition("\n")[0]: each for each, text in reversed(found.items())}
        yield from definitions((each, text) for text, each in reversed(listed.items()))
        yield from ("", bold("Commands:"), *definitions((each, summary(each)) for each in COMMANDS))
    else:
        near = get_close_matches(name, [*found, *COMMANDS], n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise InputError(f"no help on {quoted(topic)}: {meant}attncalc help lists all topics")


def help_of(name: str, *, everything: bool = False) -> str:
    """Return the help of a command, with all flags or the most common ones."""
    command = COMMANDS[name]
    first, *rest = command.text.split("\n\n")
    lines = [f"Usage: attncalc {name} {usage_of(name)}", "", *_wrapped(first)]
    for text in rest:
        is_example = text.startswith("    ")
        lines += ["", *([bold("Examples:")] if is_example else []), *prose(text)]
    rare = [] if everything else command.rare.split()
    own = [each for each in command.own if each.own_name not in rare]
    own += [SET] if command.fields is not None else []
    if everything:
        lines += _grouped([*own, HELP])
        lines += _grouped(fields_of(command))
        return "\n".join(lines) + "\n"
    lines += ["", bold("Options:"), *definitions(map(_row, [*own, HELP_ALL, HELP]))]
    if command.fields is not None:
        fields = {each.own_name: each for each in fields_of(command)}
        common = [fields[name] for name in COMMON[command.fields].split()]
        lines += ["", bold("Fields:"), *definitions((_row(each)[0], each.help) for each in common)]
        lines += ["", *_wrapped("All flags: --help-all. All fields: attncalc help fields.")]
    return "\n".join(lines) + "\n"


def help_of_all(text: str, options: Iterable[Flag]) -> str:
    """Return the help of attncalc: its commands, and its options."""
    first, examples = text.split("\n\n")
    lines = ["Usage: attncalc [OPTIONS] COMMAND [ARGS]...", "", *_wrapped(first), ""]
    lines += [bold("Examples:"), *prose(examples), "", bold("Commands:")]
    lines += definitions((name, summary(name)) for name in COMMANDS)
    lines += ["", bold("Options:"), *definitions(map(_row, [*options, HELP]))]
    return "\n".join(lines) + "\n"


def fields_help(names: Iterable[str] | None = None) -> list[str]:
    """Return lines with the fields of problems, their defaults and meanings: all, or some."""
    rows = {name: (each.panel, name, each.says) for name, each in GIVEN.items()}
    for name, setting in SETTINGS.items():
        default = f" [{default_of(setting)}]" if default_of(setting) else ""
        rows[name] = setting.panel, name + default, setting.says
    rows |= {name: ("", name, text) for name, text in OTHERS.items()}
    if names is not None:
        return definitions(rows[name][1:] for name in names)
    lines = []
    for panel in (*ALL_PANELS, ""):
        of_panel = [row[1:] for row in rows.values() if row[0] == panel]
        lines += ["", bold(f"{panel or 'Other fields'}:"), *definitions(of_panel)]
    return lines[1:]


def _grouped(flags: Iterable[Flag]) -> Iterator[str]:
    by_panel = sorted(flags, key=lambda each: (not each.is_argument, each.panel != OUTPUT))
    for panel, group in groupby(
        by_panel, lambda each: "Arguments" if each.is_argument else each.panel
    ):
        yield from ("", bold(f"{panel}:"), *definitions(map(_row, group)))


def _row(flag: Flag) -> tuple[str, str]:
    names = flag.metavar if flag.is_argument else " ".join([", ".join(flag.names), flag.metavar])
    default = f" [default: {flag.shown_default}]" if flag.shown_default else ""
    return names.strip(), flag.help + default


def definitions(rows: Rows) -> list[str]:
    """Return lines with the term of each row, and its meaning next to it."""
    rows, lines = list(rows), []
    column = min(COLUMN, max(len(left) for left, _ in rows) + 4)
    for left, right in rows:
        if _width() < NARROW:
            lines += [*_wrapped(left, "  "), *_wrapped(right, " " * 6)]
        elif len(left) + 4 > column:
            lines += [f"  {left}", *_wrapped(right, " " * column)]
        else:
            lines += _wrapped(right, " " * column, f"  {left}".ljust(column))
    return lines


def prose(text: str) -> list[str]:
    """Return the lines of a text: paragraphs wrapped, indented lines unchanged."""
    lines: list[str] = []
    for is_verbatim, group in groupby(text.strip("\n").split("\n"), lambda x: x.startswith("    ")):
        block = list(group)
        lines += map(_example, block) if is_verbatim else _wrapped(" ".join(block))
    return lines


def _example(line: str) -> str:
    """Return a command; its description is omitted if it is too wide."""
    return re.sub(r"(?<=\S) {3,}\S.*", "", line[2:]) if len(line) - 2 > _width() else line[2:]


def _wrapped(text: str, indent: str = "", first: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        _width(),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _width() -> int:
    return min(WIDEST, max(20, shutil.get_terminal_size().columns))


def bold(text: str) -> str:
    """Return a text in bold on a terminal, otherwise unchanged."""
    is_old = sys.platform == "win32" and "WT_SESSION" not in os.environ
    is_plain = is_old or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return text if is_plain or not sys.stdout.isatty() else f"\x1b[1m{text}\x1b[0m"
