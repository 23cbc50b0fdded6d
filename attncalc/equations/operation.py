"""What every operation is: a pure function of matrices, and the equation that states it."""

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from attncalc.equations.expressions import Explanation, Expression, Operand
from attncalc.equations.library import equation, inputs_of, notation, stated
from attncalc.errors import InputError
from attncalc.numbers.types import Matrix, Place, Range

Setting = Fraction | int | float
Shape = tuple[int, ...]
GRADIENT, RESULT = -1, -2
"""What a way back may read behind the inputs: the gradient that arrives, and the result."""


class Way(NamedTuple):
    """How a gradient goes back through an operation to one of its inputs.

    Parameters
    ----------
    operation
        What makes the gradient of the input.
    reads
        What that reads: inputs by their number, `RESULT` and `GRADIENT`.
    """

    operation: "Operation"
    reads: tuple[int, ...] = (GRADIENT,)


class UnstatedError(LookupError):
    """No equation of the library states an operation on matrices of these shapes."""


class Statement(NamedTuple):
    """The equation of the library that states an operation.

    Parameters
    ----------
    name
        Its name there.
    given
        The optional inputs and the flags that it has.
    settings
        The numbers that it reads by name.
    tables
        Matrices that only its places and conditions read, such as ids.
    """

    name: str
    given: frozenset[str] = frozenset()
    settings: Mapping[str, Setting] = {}
    tables: Mapping[str, Matrix] = {}

    @classmethod
    def of(cls, name: str, inputs: int) -> "Statement":
        """Return the equation of a name with so many inputs, the first optional ones given."""
        return cls(name, _first_given(name, inputs))

    def with_flags(self, **flags: object) -> "Statement":
        """Return the equation with those flags that hold."""
        return self._replace(given=self.given | {name for name, holds in flags.items() if holds})


@cache
def _first_given(name: str, inputs: int) -> frozenset[str]:
    listed = stated()[name].inputs
    optional = [each[:-1] for each in listed if each.endswith("?")]
    return frozenset(optional[: max(0, inputs - len(listed) + len(optional))])


PLAIN = (1, 1)
"""The shape of a matrix where only the notation is asked for, which depends on none."""


class Operation:
    """A pure function of matrices that can say its own equation, and explain each entry.

    Most operations do the same to every row of the queries and to every score; those that do not
    say what they are for a part of them.
    """

    @property
    def is_rational(self) -> bool:
        """Whether rational numbers stay rational."""
        from attncalc.equations.measure import is_rational  # here, and not at every start

        found = self.statement(PLAIN, PLAIN, PLAIN)
        return is_rational(equation(found.name, found.given), found.settings)

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return the matrix of the step; written into `out` where that saves an array."""
        raise NotImplementedError

    def statement(self, *shapes: Shape) -> Statement:
        """Return the equation of the library that this is, for inputs of these shapes.

        By default it has the name of the class, and the operation's numbers for settings.

        Raises
        ------
        UnstatedError
            When there is none.
        """
        if type(self).__name__ not in stated():
            raise UnstatedError(type(self).__name__)
        settings: dict[str, Setting] = {}
        own: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        for field in own:
            value = getattr(self, field.name)
            if isinstance(value, int | Fraction) and not isinstance(value, bool):
                settings[field.name] = value
        return Statement.of(type(self).__name__, len(shapes))._replace(settings=settings)

    def formula(self, *operands: Expression) -> Expression:
        """Return the right-hand side of the step's equation in matrix notation."""
        from attncalc.equations.notation import formula  # here, and not at every start

        found = self.statement(*[PLAIN] * len(operands))
        named = dict(zip(inputs_of(found.name, found.given), operands, strict=True))
        text = notation(found.name, found.given)
        return formula(equation(found.name, found.given), named, found.settings, text)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Return how the entry at a place results from entries of the inputs."""
        from attncalc.equations.writing import explanation  # here, and not at every start

        served = _for_each_head(operands)
        found = self.statement(*(each.matrix.shape for each in served))
        named = dict(zip(inputs_of(found.name, found.given), served, strict=True))
        own = equation(found.name, found.given)
        return explanation(own, place, named, found.settings, found.tables)

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return how a gradient goes back to an input; None where the result does not depend on it.

        Parameters
        ----------
        to
            Which input, from 0.
        shapes
            The shapes of all inputs.

        Raises
        ------
        InputError
            When no way back is known, or there is none.
        """
        raise InputError(f"no way back through {type(self).__name__} is known")

    def reach(self, *ranges: Range) -> Range:
        """Return between which values the results lie when each input lies within its range.

        An operation that adds products of its inputs, as most do, reaches furthest where all
        terms have one sign: |x| + δ in place of |x| tells how far.
        """
        sizes = [np.abs(each.middle) for each in ranges]
        # (|x| + δ)(|y| + ε) - |x||y| is the furthest a product can be off, whatever the signs
        grown = (size + each.spread for size, each in zip(sizes, ranges, strict=True))
        spread = np.abs(self.added(*grown) - self.added(*sizes))
        return Range.around(self.apply(*(each.middle for each in ranges)), spread)

    def added(self, *sizes: Matrix) -> Matrix:
        """Return what it makes of sizes where all of its terms are added, and none is taken off."""
        return self.apply(*sizes)

    def over(self, *ranges: Range) -> Range:
        """Return what the step comes to on these ranges: one value each, where inputs have one."""
        if all(each.is_point for each in ranges):
            return Range.at(self.apply(*(each.low for each in ranges)))
        return self.reach(*ranges)

    def shape(self, *shapes: Shape) -> Shape:
        """Return the shape of the result, from those of the inputs."""
        return shapes[0]

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return how many multiply-and-adds it takes, and how many values of functions."""
        return prod(self.shape(*shapes)), 0

    def factors(self, *factors: int) -> int:
        """Return how many numbers are multiplied into one entry, from those of the inputs."""
        return max(factors)

    def at(self, rows: slice, keys: slice = slice(None)) -> "Operation":
        """Return the operation for these rows of queries, and these keys, alone."""
        return self

    def in_head(self, head: int) -> "Operation":
        """Return the operation for the scores of one head alone, counted from 0."""
        return self

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return a bound for the size of the results, from one for the first matrix."""
        return largest


def is_grouped(shapes: Sequence[Shape]) -> bool:
    """Say whether the second of two matrices has fewer heads, each for several of the first."""
    first, second = shapes[:2]
    return len(first) > 2 < len(second) and first[0] != second[0] != 1


def of_all_heads(name: str, shapes: Sequence[Shape]) -> Statement:
    """Return the equation of one number from the entries of all heads."""
    return Statement(name).with_flags(heads=len(shapes[0]) > 2)


def _for_each_head(operands: Sequence[Operand]) -> list[Operand]:
    """Return operands with an entry for each head, where fewer heads serve several."""
    most = max((each.matrix.shape[0] for each in operands if each.matrix.ndim == 3), default=1)
    return [
        _repeated(each, most) if each.matrix.ndim == 3 and each.matrix.shape[0] != most else each
        for each in operands
    ]


def _repeated(operand: Operand, heads: int) -> Operand:
    sharing = heads // operand.matrix.shape[0]

    def own(place: Place) -> Place:
        return (place[0] // sharing, *place[1:])

    return operand._replace(
        matrix=np.repeat(operand.matrix, sharing, axis=0),
        quote=lambda place: operand.quote(own(place)),
        entry=lambda place: operand.entry(own(place)),
    )
