"""`attncalc help`: topics, commands and fields explained."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.cli.flags.fields import ALL_FIELDS
from attncalc.cli.flags.helping import bold, definitions, fields_help, help_of, prose
from attncalc.cli.flags.table import COMMANDS, summary, topics
from attncalc.cli.streams import emit


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
        yield from _of_topic(found[name])
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


def _of_topic(text: str) -> Iterator[str]:
    """Yield the lines of a topic; a line `{mask keep}` becomes the help of these fields."""
    for number, part in enumerate(text.strip("\n").split("\n\n")):
        yield from [""] if number else []
        if part.startswith("{"):
            yield from fields_help(part.strip("{}").split())
        else:
            yield from prose(part)
