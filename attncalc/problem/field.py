"""What a field of a problem is: declared once, with all that files, flags and pages ask of it.

A part of a network declares its fields as those of a dataclass: `X: Any = matrix(...)`,
`scale: Any = setting(...)`. What is declared here is what `declared` finds.
"""

import re
from collections.abc import Callable
from dataclasses import field, fields
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from attncalc.numbers.typed import read_number

FIRST = "Matrices (a file, or text such as '1 0; 0 1')"
CONVENTIONS = "Conventions"
KINDS = "Kinds of attention"
MORE = "More matrices"
PANELS = (FIRST, CONVENTIONS, KINDS, MORE)
"""Under what flags stand, in this order."""


class Setting(NamedTuple):
    """A convention.

    Parameters
    ----------
    default
        What holds where nothing is said.
    read
        Returns the value, or raises `NotANumber` or `ValueError` where it cannot be one.
    takes
        What it takes, in words.
    says
        What it means, as its flag says it.
    panel
        Under which heading the flag stands, one of `PANELS`.
    short
        A second, short flag, as "-d".
    off
        The value that a switch `--no-…` stands for, where there is one.
    """

    default: Any
    read: Callable[[Any], Any]
    takes: str
    says: str
    panel: str
    short: str = ""
    off: str = ""

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off, and its flag takes no value."""
        return isinstance(self.default, bool)


class Given(NamedTuple):
    """A matrix that can be given.

    Parameters
    ----------
    role
        What it is: "tokens", "projected", "weights", "bias", "positions", "marks" or "scores".
    says, panel
        As of a `Setting`.
    kind
        The kind of attention that alone can have it, "self" or "cross"; "" for both.
    """

    role: str
    says: str
    panel: str
    kind: str = ""


F = TypeVar("F", Setting, Given)


def declared(owner: type, kind: type[F]) -> dict[str, F]:
    """Return the fields of one kind that a dataclass declares, by name, in order."""
    found = ((each.name, each.metadata.get("field")) for each in fields(owner))
    return {name: each for name, each in found if isinstance(each, kind)}


def setting(
    default: Any,
    read: Callable[[Any], Any],
    takes: str,
    says: str,
    panel: str,
    short: str = "",
    off: str = "",
) -> Any:
    """Declare a convention."""
    meaning = Setting(default, read, takes, says, panel, short, off)
    return field(default=default, metadata={"field": meaning})


def choice(*values: str, says: str, panel: str) -> Any:
    """Declare a convention that has one of these values, by default the first."""
    return setting(values[0], _one_of(*values), _said(*values), says, panel)


def matrix(
    role: str,
    says: str,
    panel: str,
    kind: str = "",
) -> Any:
    """Declare a matrix."""
    return field(default=None, metadata={"field": Given(role, says, panel, kind)})


def number(given: Any) -> Fraction:
    """Read a number of any kind, exactly."""
    if isinstance(given, bool):
        raise ValueError
    return given if isinstance(given, Fraction) else Fraction(read_number(str(given)))


def positive(given: Any) -> Fraction:
    """Read a number above 0."""
    value = number(given)
    if value <= 0:
        raise ValueError
    return value


def whole(low: int, high: int) -> Callable[[Any], int]:
    """Return what reads a whole number between two."""

    def read(given: Any) -> int:
        value = number(given)
        if value != int(value) or not low <= value <= high:
            raise ValueError
        return int(value)

    return read


def names(given: Any) -> tuple[str, ...]:
    """Read a list of names, or a text with commas or spaces between them.

    Examples
    --------
    >>> names("Q, S_scaled A")
    ('Q', 'S_scaled', 'A')
    """
    if not isinstance(given, str | list | tuple):
        raise ValueError
    listed = re.split(r"[,;\s]+", given.strip(" ,;")) if isinstance(given, str) else given
    if not listed or not all(isinstance(name, str) and name.strip() for name in listed):
        raise ValueError
    return tuple(dict.fromkeys(name.strip() for name in listed))


def yes_or_no(given: Any) -> bool:
    """Read true or false."""
    said = plain(given)
    if said not in ("true", "false", "1", "0"):
        raise ValueError
    return said in ("true", "1")


def optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what reads a value that may be left out."""
    return lambda given: None if given is None else read(given)


def plain(given: Any) -> str:
    """Return a word as it is compared: each-step, Each Step and each_step are one."""
    return str(given).strip().lower().replace("_", "-").replace(" ", "-")


def _one_of(*values: str) -> Callable[[Any], str]:
    def read(given: Any) -> str:
        said = plain(given)
        for value in values:
            if said == plain(value):
                return value
        raise ValueError

    return read


def _said(*values: str) -> str:
    quoted_values = [f'"{value}"' for value in values]
    return f"{', '.join(quoted_values[:-1])} or {quoted_values[-1]}"
