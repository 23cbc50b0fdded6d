"""The equations of all operations by name, read from `attention.eq`."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from pkgutil import get_data
from typing import NamedTuple

from attncalc.equations.tree import Equation, Node, chosen, equation_source, parse, read

_QUOTED, _IN_BRACES = re.compile(r'"[^"]*"|[^"]+'), re.compile(r"\{[^{}|]*\}")
_NAME = re.compile(r"\b\w+\b(?!\|)")
_WHERE = re.compile(r" where (?=\w+ = )")
_HEAD = re.compile(r"(\w+)\(([^)]*)\):\s*")
_BACK = re.compile(r" back (\w+): ")
_STEP = re.compile(r"(\w+)\(([^;)]*)(?:; (.*))?\)")
_REPEATED = re.compile(r"\{(\w+)\*\|([^{}]*)\}")
TURNED = "T"
"""The flag of any equation whose result is transposed."""
NO_INPUT = "-"
"""The name of an optional input of a backward equation that is not given."""


class Stated(NamedTuple):
    """An equation of the library: inputs in order, text, notation, gradients, source.

    The notation is empty if it is derived from the equation. An input marked + is never negative;
    the rows of one marked % are shares, and sum to 1.
    """

    inputs: tuple[str, ...]
    text: str
    notation: str
    backs: Mapping[str, str]
    marks: Mapping[str, str]
    paper: str = ""


class Back(NamedTuple):
    """The equation of the gradient of an input.

    name, given: the equation, and its optional inputs.
    reads: the names of its inputs: inputs of the operation, the result, and the gradient of the
        result (dY for Y).
    sizes: the numbers that it reads by name, in addition to those of the operation.
    """

    name: str
    given: frozenset[str]
    reads: tuple[str, ...]
    sizes: Mapping[str, Node]


def is_stated(name: str) -> bool:
    """Return whether the library has an operation with this name."""
    return name in stated()


def entry_of(name: str) -> Stated:
    """Return the entry of a name; an equation outside the library is its own entry."""
    return stated()[name] if name in stated() else _stated_by_itself(name)


@cache
def _stated_by_itself(text: str) -> Stated:
    own = parse(text, None)
    computed = {each.name for each in own.group}
    inputs = tuple(each for each in own.reads if each not in computed)
    known = tuple(f"{each}?" for each in own.recurring)  # known rows are read
    return Stated((*inputs, *known), text, "", dict.fromkeys(inputs, ""), {})


@cache
def stated() -> dict[str, Stated]:
    """Return the library, each operation by its name."""
    text = (get_data(__package__, "attention.eq") or b"").decode()
    bare = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    found: dict[str, Stated] = {}
    for line in re.sub(r"\n[ \t]+", " ", bare).splitlines():
        if head := _HEAD.match(line):
            marked = [each.strip() for each in head[2].split(",")]
            inputs = tuple(each.rstrip("%+") for each in marked)
            marks = {each.rstrip("%+?"): each[-1] for each in marked if each[-1] in "%+"}
            body, *ways = _BACK.split(line[head.end() :])
            body, _, paper = body.partition(" paper ")
            text, _, notation = body.partition(" ~ ")
            backs = dict(zip(ways[::2], ways[1::2], strict=True))
            found[head[1]] = Stated(inputs, _written_in(text), notation, backs, marks, paper)
    return found


def _written_in(text: str) -> str:
    """Return an equation with the abbreviations after its `where` inserted."""
    right, *abbreviations = _WHERE.split(text)
    meanings: dict[str, str] = {}
    for name, meaning in (each.split(" = ", 1) for each in reversed(abbreviations)):
        meanings[name] = f"({_replaced(meaning.strip(), meanings)})"
    # in the words of a remark, only those in braces
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
    """Return an equation of the library by name, or by its text, with its optional inputs."""

    def for_each(part: re.Match[str]) -> str:
        own = (each for each in inputs_of(name, given) if each.rstrip("0123456789") == part[1])
        return "".join(part[2].replace(part[1], each) for each in own)

    if name not in stated():
        return parse(name, None)
    made = parse(_REPEATED.sub(for_each, stated()[name].text), given)
    if TURNED in given:
        (*at, row, column), (*over, rows, columns) = made.at, made.over
        made = replace(made, at=(*at, column, row), over=(*over, columns, rows))
    return made


def notation(name: str, given: frozenset[str] = frozenset()) -> str:
    """Return the stated matrix notation of an equation, or ""; see `notation.py`."""
    return chosen(entry_of(name).notation, given)


@cache
def back(name: str, given: frozenset[str], to: str) -> Back | None:
    """Return the equation of the gradient of an input; None if the result does not depend on it."""
    if name not in stated():
        from attncalc.equations.derive import gradient  # here, and not at every start

        derived = gradient(equation(name), to)
        if derived is None:
            return None
        return Back(equation_source(derived), frozenset(), derived.reads, {})
    text = chosen(stated()[name].backs[to], given).strip()
    if text == "none":
        return None
    step = _STEP.fullmatch(text)
    assert step, text
    named = zip(stated()[step[1]].inputs, step[2].split(", "), strict=True)
    read_as = {
        own.rstrip("?"): each.rstrip("?")
        for own, each in named
        if each != NO_INPUT and (not each.endswith("?") or each[:-1] in given)
    }
    optional = {own[:-1] for own in stated()[step[1]].inputs if own.endswith("?")}
    sizes = (each.split(" = ") for each in step[3].split(", ")) if step[3] else ()
    return Back(
        step[1],
        frozenset(optional & set(read_as)),
        tuple(read_as.values()),
        {key: read(size) for key, size in sizes},
    )


def inputs_of(name: str, given: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of the matrices that an operation reads, in order.

    >>> inputs_of("Project"), inputs_of("Project", {"b"})
    (('X', 'W'), ('X', 'W', 'b'))
    """
    found = []
    for each in entry_of(name).inputs:
        own, kind = each.rstrip("?*"), each[-1]
        if kind == "*":
            numbered = (f"{own}{number}" for number in range(1, len(given) + 1))
            found += [each for each in numbered if each in given]
        elif kind != "?" or own in given:
            found.append(own)
    return tuple(found)
