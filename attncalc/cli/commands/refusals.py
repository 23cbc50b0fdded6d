"""Errors of options, with the names of their flags."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attncalc.base.errors import InputError
from attncalc.cli.flags.fields import flag_of
from attncalc.problem.fields import GIVEN, SETTINGS

_NAME = re.compile(r"\w+")


@contextmanager
def as_flags(names: Container[str] | None = None) -> Iterator[None]:
    """Add the name of the flag to the error of an option, of these names if others are possible."""
    try:
        yield
    except InputError as error:  # its text starts with the name
        found = _NAME.match(str(error))
        if found is None or (names is not None and found[0] not in names):
            raise
        raise InputError(f"{flag_of(found[0])}{str(error)[found.end() :]}") from None


def refuse(flags: Mapping[str, Any], names: Iterable[str], why: str) -> None:
    """Refuse the first of these flags that is given; {} in the reason is the flag."""
    for name in names:
        if flags.get(name) is not None and flags[name] is not False:
            own = name if name in GIVEN else {"sheet": "csv"}.get(name, name.replace("_", "-"))
            raise InputError(why.format(f"--{own}"))


def refuse_of_a_set(flags: Mapping[str, Any]) -> None:
    """Refuse matrices and conventions with a set, since each of its problems has its own."""
    for flag in typed(flags, (*GIVEN, *(name for name in SETTINGS if name != "asked"), "title")):
        raise InputError(f"{flag}: each problem of a set defines it: omit the flag")


def typed(flags: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    """Yield the options that were typed, by the names of their flags: --no-scale, too.

    >>> list(typed({"W_Q": "1", "scale": None, "no_scale": True, "causal": False}, SETTINGS))
    ['--no-scale', '--no-causal']
    """
    for name in names:
        flag = f"--{name}" if name in GIVEN else flag_of(name)
        if flags.get(name) not in (None, [], ()):  # of one that may be repeated: none
            yield flag.replace("--", "--no-", 1) if flags[name] is False else flag
        if flags.get(f"no_{name}"):
            yield flag.replace("--", "--no-", 1)
    yield from (f"--set {text.partition('=')[0]}" for text in flags.get("set") or ())
