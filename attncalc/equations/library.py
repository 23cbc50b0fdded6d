"""The equations of all operations by name, read from `attention.eq`."""

import re
from collections.abc import Collection
from functools import cache
from pkgutil import get_data
from typing import NamedTuple

from attncalc.equations.tree import Equation, chosen, parse

_QUOTED, _IN_BRACES = re.compile(r'"[^"]*"|[^"]+'), re.compile(r"\{[^{}|]*\}")
_NAME = re.compile(r"\b\w+\b(?!\|)")
_WHERE = re.compile(r" where (?=\w+ = )")
_HEAD = re.compile(r"(\w+)\(([^)]*)\):\s*")


class Stated(NamedTuple):
    """An equation as the library states it: its inputs in order, its text, and its notation.

    The notation is empty where it is read off the equation.
    """

    inputs: tuple[str, ...]
    text: str
    notation: str


@cache
def stated() -> dict[str, Stated]:
    """Return the library, each operation by its name."""
    text = (get_data(__package__, "attention.eq") or b"").decode()
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found: dict[str, Stated] = {}
    for line in re.sub(r"\n[ \t]+", " ", bare).splitlines():
        if head := _HEAD.match(line):
            inputs = tuple(each.strip() for each in head[2].split(","))
            text, _, notation = line[head.end() :].partition(" ~ ")
            found[head[1]] = Stated(inputs, _written_in(text), notation)
    return found


def _written_in(text: str) -> str:
    """Return an equation with the abbreviations behind its `where` written in."""
    right, *abbreviations = _WHERE.split(text)
    meanings: dict[str, str] = {}
    for name, meaning in (each.split(" = ", 1) for each in reversed(abbreviations)):
        meanings[name] = f"({_replaced(meaning.strip(), meanings)})"
    # of the words of a remark, those in braces alone
    return _QUOTED.sub(
        lambda part: (
            _IN_BRACES.sub(lambda number: _replaced(number[0], meanings), part[0])
            if part[0].startswith('"')
            else _replaced(part[0], meanings)
        ),
        right,
    )


def _replaced(text: str, by: dict[str, str]) -> str:
    return _NAME.sub(lambda found: by.get(found[0], found[0]), text)


@cache
def equation(name: str, given: frozenset[str] = frozenset()) -> Equation:
    """Return an equation of the library.

    Parameters
    ----------
    name
        Its name there, as "Scores".
    given
        The optional inputs and flags that it has.
    """
    return parse(stated()[name].text, given)


def notation(name: str, given: frozenset[str] = frozenset()) -> str:
    """Return the matrix notation that an equation states, or nothing; see `notation.py`."""
    return chosen(stated()[name].notation, given)


def inputs_of(name: str, given: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of the matrices that an operation reads, in their order.

    Examples
    --------
    >>> inputs_of("Project"), inputs_of("Project", {"b"})
    (('X', 'W'), ('X', 'W', 'b'))
    """
    named = stated()[name].inputs
    return tuple(n.rstrip("?") for n in named if not n.endswith("?") or n[:-1] in given)
