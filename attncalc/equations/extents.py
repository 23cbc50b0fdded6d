"""The ranges of the indices of an equation, from the shapes of the matrices it reads."""

import operator
from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from attncalc.base.errors import ShapeError
from attncalc.equations.tree import (
    SIDES,
    Entry,
    Equation,
    Function,
    Name,
    Node,
    Number,
    Operator,
    source,
)

Setting = Fraction | int | float
Shape = tuple[int, ...]
ARITHMETIC: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip


def extents(
    equation: Equation, shapes: Mapping[str, Shape], settings: Mapping[str, Setting]
) -> dict[str, int]:
    """Return the range of each index, and the value of each named size.

    A side of 1 is broadcast to all values of an index, as in numpy. Raises ShapeError if an index
    runs over sides of different lengths, or over nothing known.

    shapes: the shapes of the matrices it reads, any leading axes included.
    """
    shapes = {**shapes, **shapes_together(equation, shapes, settings)}
    found: dict[str, int] = {}
    asked = equation.sizes
    free = {
        index
        for index, size in asked.items()
        if size is None or (isinstance(size, Name) and size.name not in settings)
    }
    for entry in equation.nodes:
        if isinstance(entry, Entry) and entry.name in shapes:
            _note(entry, shapes[entry.name], asked, free, found)
    known = dict(settings) | sides(shapes)
    for index, size in asked.items():
        if isinstance(size, Name) and index in found:
            known.setdefault(size.name, found[index])
    for index, size in asked.items():
        if size is None or (isinstance(size, Name) and size.name not in known):
            continue
        count = whole(size, known)
        if count.denominator > 1 or count < 0:
            raise ShapeError(f"{index} runs over {count}: sizes are whole numbers")
        found[index] = int(count)
    for index in asked:
        if index not in found:
            raise ShapeError(f"{equation.name}: the range of the index {index} is unknown")
    sizes = {name: int(value) for name, value in known.items() if name not in settings}
    return {**sizes, **found}


def shapes_together(
    equation: Equation, shapes: Mapping[str, Shape], settings: Mapping[str, Setting]
) -> dict[str, Shape]:
    """Return the shapes of all equations of a mutual recurrence, without the known ones."""
    found: dict[str, Shape] = {}
    open_ = [replace(each, together=()) for each in equation.group if equation.together]
    while open_ := [each for each in open_ if each.name not in {*found, *shapes}]:
        failed: list[ShapeError] = []
        for each in open_:
            try:
                runs = extents(each, {**shapes, **found}, settings)
            except ShapeError as error:
                failed.append(error)
                continue
            found[each.name] = (*lead(equation, shapes), *(runs[index] for index in each.at))
        if len(failed) == len(open_):
            raise failed[0]
    return found


def lead(equation: Equation, shapes: Mapping[str, Shape]) -> Shape:
    """Return the axes before those that an equation names, of the matrices that it reads."""
    entries = [
        x for y in equation.group for x in y.nodes if isinstance(x, Entry) and x.name in shapes
    ]
    leads = [shapes[x.name][: max(0, len(shapes[x.name]) - len(x.at))][::-1] for x in entries]
    return tuple(max(sides) for sides in zip_longest(*leads, fillvalue=1))[::-1]


def sides(shapes: Mapping[str, Shape]) -> dict[str, int]:
    """Return the values of rows(X), columns(X) and heads(X) for each matrix."""
    return {
        f"{side}({name})": shape[axis]
        for name, shape in shapes.items()
        for side, axis in SIDES.items()
        if len(shape) >= -axis
    }


def _note(
    entry: Entry, shape: Shape, asked: Collection[str], free: Collection[str], found: dict[str, int]
) -> None:
    """Store the ranges of the indices of an entry; in K[i - s] the shift keeps the length."""
    if (len(shape), len(entry.at)) == (2, 3):  # a matrix without heads applies to them all
        shape = (1, *shape)
    sides = shape[max(0, len(shape) - len(entry.at)) :]
    if len(sides) < len(entry.at):
        raise ShapeError(
            f"{source(entry)} has {len(entry.at)} indices, but {entry.name} has {len(shape)} axes"
        )
    for place, side in zip(entry.at, sides, strict=True):
        match place:
            case Name(index) if index in asked:
                if found.get(index, 1) == 1:  # a single row or column applies to all
                    found[index] = side
                elif index in free and side not in (1, found[index]):
                    raise ShapeError(
                        f"{source(entry)}: {index} runs to {side} here, and elsewhere to "
                        f"{found[index]}"
                    )
            case Operator("+" | "-", (Name(index), _)) if index in asked:
                found.setdefault(index, side)


def whole(x: Node, known: Mapping[str, Setting]) -> Fraction:
    """Return the value of an expression of sizes and settings."""
    match x:
        case Number(Fraction() as value):
            return value
        case Name(name) if name in known:
            return Fraction(known[name])
        case Function(side, (Name(matrix),)) if f"{side}({matrix})" in known:
            return Fraction(known[f"{side}({matrix})"])
        case Operator("neg", (a,)):
            return -whole(a, known)
        case Operator(sign, (a, b)) if sign in ARITHMETIC:
            one, other = whole(a, known), whole(b, known)
            if other or sign in "+-*":
                return Fraction(ARITHMETIC[sign](one, other))
            raise ShapeError(f"{source(x)} divides by 0")
    raise ShapeError(f"{source(x)} is not a size that is known here")
