"""The pages of the Python interface, from the docstrings of what `attncalc` exports."""

import inspect
from collections.abc import Callable, Iterator

import attncalc

RETURNED = {"Marking": "attncalc.api.marking"}
"""Classes that functions return and `attncalc` does not export, with their modules."""


def functions() -> str:
    """Return the page of functions and errors."""
    return "\n".join(_functions())


def classes() -> str:
    """Return the page of classes."""
    parts = [*map(_section, _names(_is_class)), *map(_section, RETURNED)]
    return "\n".join(["# Python classes\n", *parts])


def _functions() -> Iterator[str]:
    yield "# Python functions\n"
    yield "The functions of `attncalc`. [Python](../python.md) has examples.\n"
    yield from map(_section, _names(inspect.isfunction))
    yield "## Errors\n"
    yield from map(_directive, _names(_is_error))


def _names(is_one: Callable[[object], bool]) -> list[str]:
    return sorted(name for name in attncalc.__all__ if is_one(getattr(attncalc, name)))


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def _is_class(thing: object) -> bool:
    return isinstance(thing, type) and not _is_error(thing)


def _section(name: str) -> str:
    return f"## {name}\n\n{_directive(name)}"


def _directive(name: str) -> str:
    thing = getattr(attncalc, name, None)
    kind = "function" if inspect.isfunction(thing) else "class"
    # the docstring of Problem describes its fields
    shown = kind == "class" and not _is_error(thing) and name != "Problem"
    members = "\n   :members:\n   :inherited-members: Exception, tuple" if shown else ""
    place = RETURNED.get(name, "attncalc")
    return f"```{{eval-rst}}\n.. auto{kind}:: {place}.{name}{members}\n```\n"
