"""A flag, and its Typer parameter."""

import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import typer

OUTPUT = "Output"


class Flag(NamedTuple):
    """An option or an argument of a command.

    typed: its syntax: "--out -o FILE", "--work", or "[FILE]" for an argument.
    panel: the heading of its group.
    takes: the type of its value, `bool` for a switch, `list` for one that may be repeated, or a
        tuple of all values.
    default: the value if it is not given; `...` if it is required.
    unsaid: the default as text.
    name: the name of the parameter, if it is not that of the flag.
    complete: returns the values that a shell suggests.
    """

    typed: str
    help: str
    panel: str = OUTPUT
    takes: Any = str
    default: Any = None
    unsaid: str = ""
    low: float | None = None
    high: float | None = None
    name: str = ""
    complete: Callable[..., list[Any]] | None = None

    @property
    def is_argument(self) -> bool:
        """Whether it is an argument, and not an option."""
        return not self.typed.startswith("-")

    @property
    def names(self) -> list[str]:
        """Its names: `["--out", "-o"]`."""
        return [each for each in self.typed.split() if each.startswith("-")]

    @property
    def metavar(self) -> str:
        """The placeholder of its value; "" for a switch."""
        return self.typed if self.is_argument else " ".join(self.typed.split()[len(self.names) :])

    @property
    def own_name(self) -> str:
        """The name of its parameter."""
        typed = self.typed.lower() if self.is_argument else self.names[0].split("/")[0]
        return self.name or typed.strip("-[].").replace("-", "_")

    @property
    def shown_default(self) -> str:
        """The default as help shows it; "" without one."""
        plain = "" if self.default in (None, False, True, ...) else str(self.default)
        return self.unsaid or plain

    def parameter(self) -> inspect.Parameter:
        """Return the parameter of a function, as Typer reads it."""
        more = {
            "help": self.help,
            "metavar": self.metavar or None,
            "autocompletion": self.complete,
            "min": self.low,
            "max": self.high,
            "callback": (lambda values: values or None) if self.takes is list else None,
        }
        make: Any = typer.Argument if self.is_argument else typer.Option
        return inspect.Parameter(
            self.own_name,
            inspect.Parameter.KEYWORD_ONLY,
            default=make(self.default, *self.names, **more),
            annotation=self._annotation(),
        )

    def _annotation(self) -> Any:
        literal: Any = Literal
        kind = literal[self.takes] if isinstance(self.takes, tuple) else self.takes
        kind = list[str] if kind is list else kind
        return kind if self.default is ... or self.default is False else kind | None
