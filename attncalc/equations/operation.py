"""The interface of an operation: a pure function of matrices, with its equation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix, Place, Range
from attncalc.equations import measure
from attncalc.equations.algebra import all_of
from attncalc.equations.evaluate import Program, program
from attncalc.equations.expressions import Explanation, Expression, Operand
from attncalc.equations.extents import sides, whole
from attncalc.equations.library import (
    TURNED,
    back,
    entry_of,
    equation,
    inputs_of,
    is_stated,
    notation,
)
from attncalc.equations.tree import (
    ONE,
    ZERO,
    Entry,
    Equation,
    Function,
    If,
    Name,
    Node,
    Number,
    Operator,
    equation_source,
    parts,
    rebuilt,
    replaced,
    source,
)

Setting = Fraction | int | float
Shape = tuple[int, ...]
GRADIENT, RESULT = -1, -2
"""What a backward equation may read after the inputs: the upstream gradient, and the result.

Results of equations that are computed together with it follow, each one number less."""


class Way(NamedTuple):
    """The gradient of an input: its operation, whose inputs are numbers, `RESULT`, `GRADIENT`."""

    operation: "Operation"
    reads: tuple[int, ...] = (GRADIENT,)


class UnstatedError(LookupError):
    """The library has no equation of a step for matrices with these heads."""


NAMES_HEADS = "names_heads"
"""The flag of an equation that indexes the head of each matrix."""


class Statement(NamedTuple):
    """The equation of an operation in the library.

    given: its optional inputs and flags.
    settings: the numbers that it reads by name.
    tables: matrices that only its places and conditions read, such as ids.
    """

    name: str
    given: frozenset[str] = frozenset()
    settings: Mapping[str, Setting] = {}
    tables: Mapping[str, Matrix] = {}

    @classmethod
    def of(cls, name: str, inputs: int) -> "Statement":
        """Return the equation with a name for so many inputs, including the first optional ones."""
        return cls(name, _first_given(name, inputs))

    def with_flags(self, **flags: object) -> "Statement":
        """Return the equation with the flags that apply."""
        return self._replace(given=self.given | {name for name, holds in flags.items() if holds})

    def summing(self, shapes: Sequence[Shape], to: Shape) -> "Statement":
        """Return the equation with the flags, and the size, of what is summed to reach a shape.

        to: the shape of the result: without heads all are added (`heads`), with fewer, `sharing` of
            them each (`grouped`); of a single row, all rows (`rows`); `one` where none is.
        """
        most = max((each[-3] for each in shapes if len(each) > 2), default=0)
        own = to[-3] if len(to) > 2 else 0
        grouped = 0 < own < most
        flags = {"heads": most and not own, "grouped": grouped, "rows": to[-2] == 1}
        made = self.with_flags(**flags, one=not any(flags.values()))
        if flags["heads"] or grouped:
            made = made._replace(settings={**self.settings, "sharing": most // (own or 1)})
        return made


@cache
def _first_given(name: str, inputs: int) -> frozenset[str]:
    listed = entry_of(name).inputs
    if listed[-1].endswith("*"):
        return frozenset(f"{listed[-1][:-1]}{n}" for n in range(1, inputs - len(listed) + 2))
    optional = [each[:-1] for each in listed if each.endswith("?")]
    return frozenset(optional[: max(0, inputs - len(listed) + len(optional))])


PLAIN = (1, 1)
"""The shape of a matrix if only the notation is requested, which depends on none."""


class Operation:
    """A pure function of matrices with its equation, which explains each entry."""

    @property
    def shares(self) -> tuple[str, ...]:
        """Inputs of which each row sums to 1, in addition to those that the library marks."""
        return ()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process, which computes the cached shapes again."""
        return {name: value for name, value in vars(self).items() if name != "_known"}

    @property
    def name(self) -> str:
        """Its name: that of its equation if the equation defines it completely."""
        return type(self).__name__

    @property
    def is_rational(self) -> bool:
        """Whether rational numbers stay rational."""
        found = self.statement(PLAIN, PLAIN, PLAIN)
        return measure.is_rational(equation(found.name, found.given), found.settings)

    recurs = False
    """Whether a row of the result reads earlier rows of it."""
    names_heads = False
    """Whether its equation indexes the head of each matrix, as those of users do."""

    def apply(self, *matrices: Matrix, out: Matrix | None = None) -> Matrix:
        """Return the matrix of the step; written into `out` if that saves an array."""
        return self._applied(matrices)

    def _applied(
        self, matrices: Sequence[Matrix], after: Callable[[Matrix], Matrix] | None = None
    ) -> Matrix:
        known = self._on(*(each.shape for each in matrices))
        named = self._by_name(known, matrices)
        made = known.program(named, known.settings, after)
        return self._of_family(made, known, matrices) if known.is_family else made

    def _by_name(self, known: "_Known", matrices: Sequence[Matrix]) -> dict[str, Matrix]:
        served = list(matrices) if self.names_heads else for_each_head(matrices)
        for place in known.of_one_head:
            served[place] = served[place][:, 0]
        return {**dict(zip(known.inputs, served, strict=True)), **known.tables}

    def _of_family(self, made: Matrix, known: "_Known", matrices: Sequence[Matrix]) -> Matrix:
        """Return a matrix of each problem of a family, with an axis for heads."""
        has_heads = len(known.equation.at) > 2
        while made.ndim < 4:
            made = made[np.newaxis] if has_heads else made[..., np.newaxis, :, :]
        problems = max(len(each) for each in (made, *matrices) if each.ndim > 3)
        return np.broadcast_to(made, (problems, *made.shape[1:]))

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation: by default that of its class, with its numbers as settings."""
        settings: dict[str, Setting] = {}
        own: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        for field in own:
            value = getattr(self, field.name)
            if isinstance(value, int | Fraction) and not isinstance(value, bool):
                settings[field.name] = value
        name = type(self).__name__
        if is_grouped(shapes) and is_stated(f"Grouped{name}"):
            name = f"Grouped{name}"
        return Statement.of(name, len(shapes))._replace(settings=settings)

    def formula(self, *operands: Expression) -> Expression:
        """Return the right-hand side in matrix notation, for operands as in `explain`."""
        from attncalc.equations.notation import formula  # here, and not at every start

        found = self.statement(*[PLAIN] * len(operands))
        own = equation(found.name, found.given)
        names = (*inputs_of(found.name, found.given), *own.recurring)
        named = dict(zip(names, operands, strict=True))
        text = notation(found.name, found.given)
        is_turned = bool(text) and TURNED in found.given
        return formula(own, named, found.settings, text, is_turned=is_turned)

    def explain(self, place: Place, *operands: Operand) -> Explanation:
        """Return how an entry results from the inputs, and last the results of a recurrence."""
        from attncalc.equations.writing import explanation  # here, and not at every start

        served = operands if self.names_heads else _operands_for_each_head(operands)
        found = self.statement(*(each.matrix.shape for each in served))
        own = equation(found.name, found.given)
        names = inputs_of(found.name, found.given)
        named = dict(zip((*names, *own.recurring), served, strict=True))
        return explanation(own, place, named, found.settings, found.tables)

    def way_back(self, to: int, shapes: Sequence[Shape]) -> Way | None:
        """Return the gradient of an input; None if the result does not depend on it.

        Raises InputError if its gradient is unknown, or it has none.

        to: the index of the input, from 0.
        """
        from attncalc.equations.derive import gradient_name, total_name  # here, as above
        from attncalc.equations.extents import shapes_together

        found = self.statement(*shapes)
        inputs = [n for n in inputs_of(found.name, found.given) if n not in found.tables]
        own = equation(found.name, found.given)
        if to >= len(inputs) or inputs[to] not in entry_of(found.name).backs:
            raise InputError(f"no gradient of {type(self).__name__} is known")
        made = back(found.name, found.given, inputs[to])
        if made is None:
            return None
        places = {name: place for place, name in enumerate(inputs)}
        places |= _results(own) | {f"d{own.name}": GRADIENT}
        places |= {gradient_name(own): GRADIENT, total_name(own): GRADIENT}
        known = {**found.settings, **sides(dict(zip(inputs, shapes, strict=True)))}
        name = made.name if is_stated(made.name) else _simple(equation(made.name), known)
        names = made.reads if name == made.name else equation(name).reads
        reads = tuple(places[each] for each in names)
        if made.name == found.name and reads == (GRADIENT,):
            return Way(self)
        sizes = {key: int(whole(size, known)) for key, size in made.sizes.items()}
        beside = shapes_together(own, dict(zip(inputs, shapes, strict=True)), found.settings)
        of_each = [
            shapes[place] if place >= 0 else beside.get(each) or self.shape(*shapes)
            for place, each in zip(reads, names, strict=True)
        ]
        flags = found.given - set(inputs) | made.given
        statement = Statement(name, flags, {**found.settings, **sizes})
        statement = statement.summing(of_each, shapes[to])
        read = equation(name, statement.given).reads
        tables = {name: found.tables[name] for name in read if name in found.tables}
        return Way(Stated(statement._replace(tables=tables)), reads)

    def through_rows(self, arriving: Sequence[int], *shapes: Shape) -> Way:
        """Return the gradient of a recurrence, including later rows.

        arriving: the number of upstream gradients of it, and of each equation that is computed with
            it: they follow its inputs.
        """
        from attncalc.equations.derive import gradient_name, total

        found = self.statement(*shapes)
        own = equation(found.name, found.given)
        made = total(own, tuple(arriving))
        inputs = inputs_of(found.name, found.given)
        names = [
            f"{gradient_name(own, each.name)}_{number}"
            for each, count in zip(own.group, arriving, strict=True)
            for number in range(1, count + 1)
        ]
        places = {name: place for place, name in enumerate((*inputs, *names))} | _results(own)
        # sizes are sides of the first
        places |= {n.removesuffix("_1"): places[n] for n in names if n.endswith("_1")}
        text = equation_source(made)
        return Way(
            Stated(Statement(text, found.given, found.settings)),
            tuple(places[name] for name in inputs_of(text)),
        )

    def reach(self, *ranges: Range) -> Range:
        """Return the bounds of the results if each input is within its range."""
        from attncalc.equations import bound  # here, and not at every start

        known = self._on(*(each.low.shape for each in ranges))
        served = list(ranges)
        if not self.names_heads:
            served = [
                Range.at(ends[0]) if each.is_point else Range(*ends)
                for each, *ends in zip(
                    ranges, *map(for_each_head, zip(*ranges, strict=True)), strict=True
                )
            ]
        named = dict(zip(known.inputs, served, strict=True))
        marks = entry_of(known.name).marks
        for name in named:
            if marks.get(name) == "+":
                named[name] = named[name].map(lambda end: np.maximum(end, 0.0))
        named |= {name: Range.at(table) for name, table in known.tables.items()}
        shares = {name for name, mark in marks.items() if mark == "%"} | set(self.shares)
        return bound.reach(known.equation, named, known.settings, shares)

    def over(self, *ranges: Range) -> Range:
        """Return the result of the step on these ranges: one value each for exact inputs."""
        if all(each.is_point for each in ranges):
            return Range.at(self.apply(*(each.low for each in ranges)))
        return self.reach(*ranges)

    def shape(self, *shapes: Shape) -> Shape:
        """Return the shape of the result, from those of the inputs."""
        known = self._on(*shapes)
        made: Shape = _measured(measure.shape, known.equation, known.shapes, known.numbers)
        return made

    def cost(self, *shapes: Shape) -> tuple[int, int]:
        """Return the number of multiply-adds, and of values of functions."""
        known = self._on(*shapes)
        made: tuple[int, int]
        made = _measured(measure.cost, known.equation, known.shapes, known.numbers)
        return made

    def factors(self, *factors: int) -> int:
        """Return how many numbers are multiplied into one entry, from those of the inputs."""
        known = self._on(*[PLAIN] * len(factors))
        counts = tuple(zip(known.inputs, factors, strict=True))
        return int(_measured(measure.factors, known.equation, counts, known.numbers))

    def _on(self, *shapes: Shape) -> "_Known":
        """Return the cached properties of the operation on matrices of these shapes."""
        kept: dict[tuple[Shape, ...], _Known] = vars(self).setdefault("_known", {})
        if shapes not in kept:
            kept[shapes] = _Known.of(self, shapes)
        return kept[shapes]

    def at(self, rows: slice, keys: slice = slice(None)) -> "Operation":
        """Return the operation for only these rows of queries, and these keys."""
        return self

    def in_head(self, head: int) -> "Operation":
        """Return the operation for the scores of one head, counted from 0."""
        return self

    def bound(self, largest: float, *matrices: Matrix) -> float:
        """Return a bound of the results, from one of the first matrix."""
        made = self.reach(Range.around(np.zeros((1, 1)), largest), *map(Range.at, matrices))
        return float(max(np.abs(end).max() for end in made))


@dataclass(frozen=True, eq=False, repr=False)
class Stated(Operation):
    """An operation that its equation defines completely."""

    stated: Statement

    @property
    def names_heads(self) -> bool:  # type: ignore[override]
        """Whether its equation indexes the head of each matrix."""
        return NAMES_HEADS in self.stated.given

    @cached_property
    def recurs(self) -> bool:  # type: ignore[override]
        """Whether a row of the result reads earlier rows of it."""
        name = self.stated.name
        return not is_stated(name) and equation(name).recurs is not None

    def by_rows(self, after: Callable[[Matrix], Matrix], *matrices: Matrix) -> Matrix:
        """Return the matrix of a recurrence; `after` may round each row before others read it."""
        return self._applied(matrices, after)

    def of_known_rows(self, known: Sequence[bool]) -> Operation:
        """Return a recurrence that reads the given rows of its known matrices, after its inputs."""
        names = equation(self.stated.name).recurring
        given = {name for name, is_known in zip(names, known, strict=True) if is_known}
        return Stated(self.stated._replace(given=self.stated.given | given))

    @property
    def name(self) -> str:
        """Its name in the library."""
        return self.stated.name

    def statement(self, *shapes: Shape) -> Statement:
        """Return its equation."""
        return self.stated


def _results(own: Equation) -> dict[str, int]:
    """Return the results that a backward equation reads, by name: its own, and those with it."""
    return {own.name: RESULT} | {name: RESULT - k for k, name in enumerate(own.recurring)}


def is_grouped(shapes: Sequence[Shape]) -> bool:
    """Return whether some matrix has fewer heads than another, each for several of these."""
    return len({each[-3] for each in shapes if len(each) > 2} - {1}) > 1


def for_each_head(matrices: Sequence[Matrix]) -> list[Matrix]:
    """Return matrices with an entry for each head, if fewer heads serve several."""
    most = max((each.shape[-3] for each in matrices if each.ndim > 2), default=1)
    return [
        np.repeat(each, most // each.shape[-3], axis=-3)
        if each.ndim > 2 and each.shape[-3] not in (1, most)
        else each
        for each in matrices
    ]


def _simple(own: Equation, known: Mapping[str, Setting]) -> str:
    """Return the text of an equation without conditions that are always true."""
    runs = {i: size for i, size in zip(own.at, own.over, strict=True) if size is not None}
    sizes = {i: known.get(source(size)) for i, size in runs.items()}
    is_one = {i: sizes[i] == 1 and isinstance(size, Function) for i, size in runs.items()}
    only = {i: ZERO for i, size in runs.items() if size == ONE or is_one[i]}
    right = replaced(own.right, only)

    def ends(x: Node) -> tuple[Fraction | float, Fraction | float] | None:
        if isinstance(x, Number):
            return x.value, x.value
        if isinstance(x, Name) and (size := sizes.get(x.name)) is not None:
            return Fraction(0), Fraction(size) - 1
        value = known.get(source(x))
        return None if value is None else (Fraction(value), Fraction(value))

    def holds(test: Node) -> bool | None:
        """Return whether a condition is true at every place, or at none; None for some."""
        if not isinstance(test, Operator) or test.sign not in ("==", "<", "<=", ">", ">="):
            return None
        one, other = map(ends, test.arguments)
        if one is None or other is None:
            return None
        if test.sign in (">", ">="):
            one, other = other, one
        if test.sign == "==":
            return one == other if one[0] == one[1] and other[0] == other[1] else None
        if test.sign in ("<", ">"):
            return True if one[1] < other[0] else False if one[0] >= other[1] else None
        return True if one[1] <= other[0] else False if one[0] > other[1] else None

    def put(x: Node) -> Node:
        x = rebuilt(x, put)
        if not isinstance(x, If):
            return x
        is_and = isinstance(x.test, Operator) and x.test.sign == "and"
        all_tests = parts(x.test) if is_and else [x.test]
        tests = [each for each in all_tests if holds(each) is not True]
        if any(holds(each) is False for each in tests):
            return x.otherwise
        return If(all_of(*tests), x.then, x.otherwise) if tests else x.then

    return equation_source(replace(own, right=put(right)))


class _Known(NamedTuple):
    """An operation on matrices of known shapes: its equation, and its inputs by name."""

    name: str
    equation: Equation
    program: Program
    inputs: tuple[str, ...]
    shapes: tuple[tuple[str, Shape], ...]
    settings: Mapping[str, Setting]
    numbers: tuple[tuple[str, Setting], ...]
    tables: Mapping[str, Matrix]
    is_family: bool
    of_one_head: tuple[int, ...]

    @classmethod
    def of(cls, operation: Operation, shapes: Sequence[Shape]) -> "_Known":
        """Return what is known of an operation on matrices of these shapes."""
        most = max((each[-3] for each in shapes if len(each) > 2), default=1)
        served = [
            (*each[:-3], most, *each[-2:])
            if len(each) > 2 and each[-3] != 1 and not operation.names_heads
            else each
            for each in shapes
        ]
        is_family = any(len(each) > 3 for each in served)
        name, given, settings, tables = operation.statement(*(each[-3:] for each in served))
        inputs = tuple(each for each in inputs_of(name, given) if each not in tables)
        own = equation(name, given)
        # of a family of problems every matrix keeps an axis for heads, here of one; an equation
        # that names heads goes without it where a matrix has none
        flat: tuple[int, ...] = ()
        if is_family:
            nodes = (x for each in own.group for x in each.nodes)
            axes = {each.name: len(each.at) for each in nodes if isinstance(each, Entry)}
            if max((len(own.at), *axes.values())) > 2:
                flat = tuple(place for place, each in enumerate(inputs) if axes.get(each) == 2)
        named = *zip(inputs, served, strict=True), *((key, tables[key].shape) for key in tables)
        numbers = tuple(settings.items())
        return cls(
            name, own, program(own), inputs, named, settings, numbers, tables, is_family, flat
        )


@lru_cache(maxsize=3 * 4096)
def _measured(what: Callable[..., Any], own: Equation, of_inputs: Any, settings: Any) -> Any:
    """Return a measure of an equation, by the shape or the count of each input."""
    return what(own, dict(of_inputs), dict(settings))


def _operands_for_each_head(operands: Sequence[Operand]) -> list[Operand]:
    """Return operands with an entry for each head, if fewer heads serve several."""
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
