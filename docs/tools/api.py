"""The page of the Python interface: what `attncalc` exports, from its docstrings."""

import inspect
from collections.abc import Iterator

import attncalc

RETURNED = {"Marking": "attncalc.api.marking"}
"""What a function gives that is not exported itself, and where it is."""


def page() -> str:
    """Return the page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield "# The Python interface\n"
    yield "What `import attncalc` gives; [examples](../python.md) stand on a page of their own.\n"
    kinds = {"Functions": inspect.isfunction, "Classes": _is_class, "Errors": _is_error}
    for heading, is_one in kinds.items():
        yield f"## {heading}\n"
        names = sorted(name for name in attncalc.__all__ if is_one(getattr(attncalc, name)))
        yield from map(_directive, names)
        if heading == "Classes":
            yield from map(_directive, RETURNED)


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def _is_class(thing: object) -> bool:
    return isinstance(thing, type) and not _is_error(thing)


def _directive(name: str) -> str:
    thing = getattr(attncalc, name, None)
    kind = "function" if inspect.isfunction(thing) else "class"
    # of a problem its fields are what matters, and its docstring has them
    shown = kind == "class" and not _is_error(thing) and name != "Problem"
    members = "\n   :members:\n   :inherited-members: Exception, tuple" if shown else ""
    place = RETURNED.get(name, "attncalc")
    return f"```{{eval-rst}}\n.. auto{kind}:: {place}.{name}{members}\n```\n"
