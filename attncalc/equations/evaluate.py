"""Values of an equation: its tree, compiled once into array operations for floats and Decimals.

A compiled node is a function of a Frame. It returns a number, or an array whose last axes are the
requested indices (of length 1 if the node does not depend on one). Leading axes, of heads or of a
family of problems, are broadcast as in numpy.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import getcontext
from fractions import Fraction
from functools import lru_cache, reduce
from math import prod
from typing import Any

import numpy as np

from attncalc.base.decimals import (
    cos_sin,
    erf,
    in_system_of,
    infinity_of,
    ln,
    not_a_number,
    pi_of,
    tanh,
)
from attncalc.base.errors import ShapeError
from attncalc.base.typed import root_of
from attncalc.base.types import Matrix
from attncalc.equations import rows
from attncalc.equations.algebra import all_of, factors, joined
from attncalc.equations.extents import ARITHMETIC, Setting, Shape, extents, lead, shapes_together
from attncalc.equations.tree import (
    COMPARISONS,
    ONE,
    SIDES,
    TWO,
    Aggregate,
    Entry,
    Equation,
    Function,
    If,
    Marked,
    Name,
    Node,
    Number,
    Operator,
    Remark,
    Row,
    names_in,
    parse,
    rebuilt,
    replaced,
    source,
    walk,
)

Axes = tuple[str, ...]
Value = Any
Compiled = Callable[["Frame"], Value]

MOST_KNOWN = 64
"""The number of combinations of shapes for which a program caches derived values."""
LARGEST_SUM = 1 << 17
"""Terms of a sum that are stored at once; of more, slices are summed."""

UFUNCS: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide,
    "%": np.mod, "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal,
    ">": np.greater, ">=": np.greater_equal, "and": np.logical_and, "or": np.logical_or,
    "max": np.maximum, "min": np.minimum,
}  # fmt: skip

_DEFINED: dict[str, Node] = {
    name: parse(f"y[i] = {text}").right
    for name, text in {
        "relu": "max(x, 0)",
        "Phi": "(1 + erf(x / sqrt(2))) / 2",
        "phi": "exp(-x ** 2 / 2) / sqrt(2 * pi)",
        "gelu": "x * Phi(x)",
        "silu": "x / (1 + exp(-x))",
        "sigmoid": "1 / (1 + exp(-x))",
    }.items()
}
"""Functions defined by others, as expressions of `x`."""
_NONE = np.empty(0)


def defined(function: str, argument: Node) -> Node | None:
    """Return the expression that defines a function of a node; None for a basic function."""
    own = _DEFINED.get(function)
    return None if own is None else replaced(own, {"x": argument})


def expanded(x: Node) -> Node:
    """Return a tree with the functions replaced that are defined by others."""
    if not any(isinstance(y, Function) and y.name in _DEFINED for y in walk(x)):
        return x
    if isinstance(x, Function) and (own := defined(x.name, x.arguments[0])) is not None:
        return expanded(own)
    return rebuilt(x, expanded)


class Frame:
    """The inputs of a compiled equation.

    matrices: the matrices it reads, by name, in one number system.
    numbers: sizes, settings and indices that are fixed, by name.
    kept: a cache of values that depend only on shapes, settings and the number system.
    after: for a recurrence: the function applied to a row before later ones read it, such as
        rounding.
    """

    __slots__ = ("after", "kept", "like", "matrices", "numbers", "spans")

    def __init__(
        self,
        matrices: Mapping[str, Matrix],
        numbers: dict[str, Setting],
        *,
        kept: dict[Any, Any] | None = None,
        after: Callable[[Matrix], Matrix] | None = None,
    ) -> None:
        self.matrices, self.numbers, self.after = matrices, numbers, after
        self.spans: dict[str, slice] = {}
        self.kept = {} if kept is None else kept
        self.like = next((each for each in matrices.values() if each.dtype.kind in "fO"), _NONE)

    def number(self, value: Setting) -> Any:
        """Return a number in the type of the entries."""
        if isinstance(value, float) and not np.isfinite(value):
            infinite = infinity_of(self.like)
            return infinite if value > 0 else -infinite if value < 0 else not_a_number(self.like)
        try:
            return in_system_of(self.like, Fraction(value))
        except OverflowError:  # of floats
            return infinity_of(self.like) * (1 if value > 0 else -1)

    # other kinds of number define these themselves, such as ranges

    def constant(self, x: Node) -> Any:
        """Return the number of a node that depends on no entry and no index."""
        return _in_system(constant(x, self), self)

    def of_whole(self, value: Any) -> Value:
        """Return whole numbers, of places and sizes, in the type of the entries."""
        if self.like.dtype != object:
            return np.asarray(value).astype(self.like.dtype)
        each = np.frompyfunc(lambda v: self.number(Fraction(int(v))), 1, 1)
        return np.asarray(each(value), object)

    def array(self, value: Value) -> Matrix:
        """Return a value as an array."""
        return np.asarray(value, self.like.dtype)

    def zeros(self, shape: tuple[int, ...]) -> Matrix:
        """Return a writable array of zeros."""
        return np.full(shape, self.number(0), self.like.dtype)

    def function(self, name: str, argument: Matrix) -> Matrix:
        """Return a function of each entry."""
        return FUNCTIONS[name](argument)

    def weigh(self, kind: str, scores: Matrix, beside: list[Matrix]) -> Matrix:
        """Return rows of weights."""
        if kind == "softmax":
            return rows.softmax(scores, beside)
        return rows.hardmax(scores) if kind == "hardmax" else rows.share(scores)

    def numbered(self, index: str) -> Matrix:
        """Return the values of an index."""
        span = self.span(index)
        return np.arange(span.start, span.stop)

    def span(self, index: str) -> slice:
        """Return where an index starts and stops: in a slice of a sum, at those of the slice."""
        return self.spans.get(index) or slice(0, int(self.numbers[index]))

    def count(self, index: str) -> int:
        """Return the number of values of an index."""
        span = self.span(index)
        return int(span.stop - span.start)


class Program:
    """An equation compiled into array operations, by the compiler of a kind of number."""

    def __init__(self, equation: Equation, compiler: "Compiler | None" = None) -> None:
        self.equation = equation
        value = (compiler or Compiler(equation.indices)).value
        self._entries = [value(each.right, axes) for each, axes in _computed(equation)]
        self._known: dict[Any, tuple[dict[str, Setting], Shape, dict[Any, Any]]] = {}

    def __call__(
        self,
        matrices: Mapping[str, Matrix],
        settings: Mapping[str, Setting] | None = None,
        after: Callable[[Matrix], Matrix] | None = None,
    ) -> Matrix:
        """Return the matrix of the equation.

        matrices: the matrices it reads, by name: floats, or Decimals in the current context's
            precision.
        settings: the numbers it reads by name, such as `factor`.
        """
        numbers, shape, kept = self.know(matrices, settings or {})
        return self.run(Frame(matrices, numbers, kept=kept, after=after), shape)

    def run(self, frame: Frame, shape: Shape) -> Matrix:
        """Return the matrix of the equation, of this shape, in the frame's kind of number."""
        with np.errstate(all="ignore"):
            if self.equation.recurs is not None:
                return _recurrence(self.equation, self._entries, frame)
            value, rank = self._entries[0](frame), len(shape)
            if isinstance(value, np.ndarray) and value.shape[value.ndim - rank :] == shape:
                return value
            array = frame.array(value)  # at its full size, if it did not depend on some index
            whole = (*array.shape[: max(0, array.ndim - rank)], *shape)
            return array if array.shape == whole else np.broadcast_to(array, whole).copy()

    def know(
        self, matrices: Mapping[str, Matrix], settings: Mapping[str, Setting]
    ) -> tuple[dict[str, Setting], Shape, dict[Any, Any]]:
        """Return all numbers by name, the shape of the result, and a cache for these."""
        of_each = tuple([(m.shape, m.dtype.char) for m in matrices.values()])
        key = (of_each, tuple(settings.items()), getcontext().prec)
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            shapes = {name: matrix.shape for name, matrix in matrices.items()}
            numbers = {**settings, **extents(self.equation, shapes, settings)}
            self._known[key] = numbers, tuple(int(numbers[i]) for i in self.equation.at), {}
        return self._known[key]


@lru_cache(maxsize=1024)
def program(equation: Equation) -> Program:
    """Return the program of an equation, compiled once."""
    return Program(equation)


def evaluate(
    equation: Equation,
    matrices: Mapping[str, Matrix],
    settings: Mapping[str, Setting] | None = None,
) -> Matrix:
    """Return the matrix of an equation, as its program does."""
    return program(equation)(matrices, settings)


def evaluated(equation: Equation, frame: Frame) -> Matrix:
    """Return the matrix of an equation, in the frame's kind of number."""
    return program(equation).run(frame, tuple(int(frame.numbers[i]) for i in equation.at))


def is_of_products(equation: Equation) -> bool:
    """Return whether each sum of an equation is computed as a product of matrices."""
    sums = [x for x in equation.nodes if isinstance(x, Aggregate | Row)]
    compiler = Compiler(equation.indices)
    return (
        equation.recurs is None
        and bool(sums)
        and all(isinstance(x, Aggregate) and compiler.is_product(x, equation.at) for x in sums)
    )


def _computed(equation: Equation) -> list[tuple[Equation, Axes]]:
    """Return the equations to compute, and the axes of each: for a recurrence, of a row."""
    if equation.recurs is None:
        return [(equation, equation.at)]
    axes = equation.recurs.axes
    return [
        (each, (*each.at[: axes[each.name]], *each.at[axes[each.name] + 1 :]))
        for each in equation.recurs.order
    ]


def _recurrence(equation: Equation, rows: list[Compiled], frame: Frame) -> Matrix:
    """Return a matrix that reads earlier rows, row by row, together with those it reads."""
    recurs = equation.recurs
    assert recurs is not None
    given = {name: matrix.shape for name, matrix in frame.matrices.items()}
    shapes = {**given, **shapes_together(equation, given, frame.numbers)}
    numbers = {equation.name: frame.numbers}
    for each in equation.together:
        numbers[each.name] = {**frame.numbers, **extents(each, shapes, frame.numbers)}
    made: dict[str, Matrix] = {}
    read = dict(frame.matrices)
    before = lead(equation, given)
    for each in recurs.order:
        name, shape = each.name, tuple(int(numbers[each.name][i]) for i in each.at)
        if name in given and given[name][-len(shape) :] != shape:
            raise ShapeError(f"{name} has the shape {given[name]}, not {shape}")
        made[name] = frame.zeros((*before, *shape))
        if name not in given:
            read[name] = made[name] if frame.after is None else made[name].copy()
    order = range(int(frame.numbers[equation.at[recurs.axes[equation.name]]]))
    for number in reversed(order) if recurs.is_backward else order:
        for each, row in zip(recurs.order, rows, strict=True):
            name, axis = each.name, recurs.axes[each.name]
            at_index = {**numbers[name], each.at[axis]: number}
            value = frame.array(row(type(frame)(read, at_index)))
            at_row: Any = (..., number, *[slice(None)] * (len(each.at) - axis - 1))
            made[name][at_row] = value
            if frame.after is not None and name not in given:
                read[name][at_row] = frame.after(value)
    return made[equation.name]


@lru_cache(maxsize=4096)
def compiled(x: Node, axes: Axes, indices: frozenset[str]) -> Compiled:
    """Return a function of a frame that computes a node along these axes, of these indices."""
    return Compiler(indices).value(x, axes)


class Compiler:
    """Compiles each node to a function of a frame; other kinds of number extend it."""

    def __init__(self, indices: frozenset[str]) -> None:
        self.indices = indices

    def value(self, x: Node, axes: Axes) -> Compiled:
        """Return the numbers of a node."""
        if self._is_constant(x):
            return _kept(lambda frame: frame.constant(x))
        match x:
            case Name() | Operator("//" | "%", _):
                whole = self.whole(x, axes)
                return lambda frame: frame.of_whole(whole(frame))
            case Entry():
                return self.entry(x, axes)
            case Marked(body) | Remark(body, _):
                return self.value(body, axes)
            case Operator("neg", (a,)):
                return self.value(Operator("-", (Number(Fraction(0)), a)), axes)
            case Operator("**", (a, b)):
                return self._power(a, b, axes)
            case Operator("/", (a, b)) if self._is_constant(b) and _has_root(b):
                # fewer divisions, by a root, which is rounded anyway
                return self._binary("*", a, Operator("/", (ONE, b)), axes)
            case Operator("+" | "-" | "*" | "/" as sign, (a, b)) | Function(
                "max" | "min" as sign, (a, b)
            ):
                return self._binary(sign, a, b, axes)
            case Operator():
                return self.test(x, axes)
            case Function(name, arguments):
                return self._function(name, arguments, axes)
            case If(test, then, otherwise):
                return self._choice(test, then, otherwise, axes)
            case Aggregate():
                return self._aggregate(x, axes)
            case Row():
                return self._row(x, axes)
        raise TypeError(source(x))

    def _is_constant(self, x: Node) -> bool:
        """Whether a node depends on no entry and no index."""
        return not any(
            isinstance(y, Entry | Aggregate | Row)
            or (isinstance(y, Name) and y.name in self.indices)
            for y in walk(x)
        )

    def _depends(self, x: Node, axes: Axes) -> bool:
        return not names_in(x).isdisjoint(axes)

    def _binary(self, sign: str, a: Node, b: Node, axes: Axes) -> Compiled:
        left, right, ufunc = self.value(a, axes), self.value(b, axes), UFUNCS[sign]
        is_fresh = _is_fresh(a) and not self._is_constant(a)

        def made(frame: Frame) -> Value:
            x = left(frame)
            y = right(frame)
            may_hold = is_fresh and np.size(x) > SMALL and x.dtype != object
            if may_hold and np.broadcast_shapes(x.shape, np.shape(y)) == x.shape:
                return ufunc(x, y, out=x)
            return ufunc(x, y)

        return made

    def _power(self, a: Node, b: Node, axes: Axes) -> Compiled:
        base = self.value(a, axes)
        if b in (TWO, Number(Fraction(3))):
            times = int(b.value) if isinstance(b, Number) else 0
            is_fresh = _is_fresh(a)

            def power(frame: Frame) -> Value:
                x = base(frame)
                if times == 2 and is_fresh and np.size(x) > SMALL and x.dtype != object:
                    return np.multiply(x, x, out=x)
                return x * x if times == 2 else x * x * x

            return power
        exponent = self.value(b, axes)
        return lambda frame: _raised(base(frame), exponent(frame))

    def _function(self, name: str, arguments: tuple[Node, ...], axes: Axes) -> Compiled:
        if (own := defined(name, arguments[0])) is not None:
            return self.value(own, axes)

        (argument,) = (self.value(each, axes) for each in arguments)

        def made(frame: Frame) -> Value:
            return frame.function(name, frame.array(argument(frame)))

        if any(isinstance(y, Entry | Aggregate | Row) for y in walk(arguments[0])):
            return made
        kept = _kept(made)  # only of places, such as the angles of rotations
        return lambda frame: made(frame) if frame.spans else kept(frame)

    def _choice(self, test: Node, then: Node, otherwise: Node, axes: Axes) -> Compiled:
        if isinstance(test, Operator) and test.sign == "and":
            # conditions that apply to all entries come first: they exclude reads beyond the last
            # row
            fixed = [each for each in test.arguments if not self._depends(each, axes)]
            others = [each for each in test.arguments if each not in fixed]
            if fixed and others:
                inner = If(all_of(*others), then, otherwise)
                return self._choice(all_of(*fixed), inner, otherwise, axes)
        holds, yes, no = self.test(test, axes), self.value(then, axes), self.value(otherwise, axes)

        def chosen(frame: Frame) -> Value:
            where = holds(frame)
            if np.ndim(where) == 0:
                return yes(frame) if where else no(frame)
            return np.where(where, yes(frame), no(frame))

        return chosen

    # conditions and whole numbers

    def test(self, x: Node, axes: Axes) -> Compiled:
        """Return a condition, as a bool or an array of them."""
        match x:
            case Operator("and" | "or" as sign, arguments):
                tests = [self.test(each, axes) for each in arguments]
                return lambda frame: reduce(UFUNCS[sign], (each(frame) for each in tests))
            case Operator("not", (a,)):
                inner = self.test(a, axes)
                return lambda frame: np.logical_not(inner(frame))
            case Operator(sign, (a, b)) if sign in COMPARISONS:
                is_whole = not any(_is_fractional(y) for y in walk(x))
                side = self.whole if is_whole else self.value
                left, right = side(a, axes), side(b, axes)
                return lambda frame: UFUNCS[sign](left(frame), right(frame))
        value = self.value(x, axes)
        return lambda frame: np.asarray(value(frame)).astype(bool)

    def whole(self, x: Node, axes: Axes) -> Compiled:
        """Return whole numbers: places of entries, and what conditions compare."""
        match x:
            case Number(value):
                number = _int(value)
                return lambda frame: number
            case Name(name) if name in axes:
                shape = tuple(-1 if axis == name else 1 for axis in axes)
                return lambda frame: frame.numbered(name).reshape(shape)
            case Name(name):
                return lambda frame: _int(frame.numbers[name])
            case Function(side, (Name(matrix),)) if side in SIDES:
                return lambda frame: int(frame.numbers[f"{side}({matrix})"])
            case Function("abs", (a,)):
                inner = self.whole(a, axes)
                return lambda frame: np.abs(inner(frame))
            case Operator("neg", (a,)):
                inner = self.whole(a, axes)
                return lambda frame: -inner(frame)
            case Function(sign, (a, b)) | Operator(sign, (a, b)) if sign in UFUNCS:
                left, right, ufunc = self.whole(a, axes), self.whole(b, axes), UFUNCS[sign]
                return lambda frame: ufunc(left(frame), right(frame))
            case Entry() | Aggregate() | If():
                entry = self.value(x, axes)
                return lambda frame: np.asarray(entry(frame)).astype(float)
        raise TypeError(source(x))

    # entries

    def entry(self, x: Entry, axes: Axes) -> Compiled:
        """Return entries of a matrix: a view of it if possible."""
        free = [place.name for place in x.at if isinstance(place, Name) and place.name in axes]
        is_plain = all(
            (isinstance(place, Name) and place.name in axes) or not self._depends(place, axes)
            for place in x.at
        ) and len(set(free)) == len(free)
        if not is_plain or any(isinstance(y, Entry) for place in x.at for y in walk(place)):
            return self._gathered(x, axes)
        return self._view(x, axes, free)

    def _view(self, x: Entry, axes: Axes, free: list[str]) -> Compiled:
        """Return an entry whose places are axes or single numbers: a view of its matrix."""
        name, order = x.name, sorted(free, key=axes.index)
        turn = [free.index(each) for each in order] if order != free else None
        inserted = tuple(slice(None) if axis in free else np.newaxis for axis in axes)
        is_spread = np.newaxis in inserted
        places = [
            place.name if isinstance(place, Name) and place.name in free else self.whole(place, ())
            for place in x.at
        ]

        rank = len(places)
        find_cut = _kept(lambda frame: _cut(_of_rank(frame.matrices[name], rank), places, frame))

        def view(frame: Frame) -> Matrix:
            matrix: Matrix = _of_rank(frame.matrices[name], rank)
            cut = _cut(matrix, places, frame) if frame.spans else find_cut(frame)
            if cut is not None:
                matrix = matrix[cut]
            if turn is not None:
                matrix = _turned(matrix, turn)
            return matrix[(..., *inserted)] if is_spread else matrix

        return view

    def _gathered(self, x: Entry, axes: Axes) -> Compiled:
        """Return an entry with computed places: clipped where conditions exclude them, else nan."""
        name, places = x.name, [self.whole(place, axes) for place in x.at]

        def gather(frame: Frame) -> Matrix:
            matrix: Matrix = _of_rank(frame.matrices[name], len(places))
            sides = matrix.shape[matrix.ndim - len(places) :]
            at = [
                (np.asarray(place(frame)), side) for place, side in zip(places, sides, strict=True)
            ]
            wrong = [(x % 1 != 0) | (x < 0) | (x >= side) for x, side in at if x.dtype == float]
            kept = [np.clip(np.nan_to_num(x), 0, side - 1).astype(np.intp) for x, side in at]
            spread = [each.reshape((1,) * (len(axes) - each.ndim) + each.shape) for each in kept]
            if all(each.ndim == len(axes) for each in spread):
                found: Matrix = matrix[(..., *spread)]
                if any(each.any() for each in wrong) and isinstance(found, np.ndarray):
                    return np.where(reduce(np.logical_or, wrong), not_a_number(found), found)
                return found
            # places differ from problem to problem of a family
            lead = matrix.shape[: matrix.ndim - len(places)]
            lead = np.broadcast_shapes(lead, *(each.shape[: -len(axes)] for each in spread))
            own = np.ogrid[tuple(map(slice, (*lead, *[1] * len(axes))))][: len(lead)]
            return np.asarray(np.broadcast_to(matrix, (*lead, *sides))[(*own, *spread)])

        return gather

    # sums

    def _aggregate(self, x: Aggregate, axes: Axes) -> Compiled:
        if x.kind == "sum" and x.where is None and (product := self._contraction(x, axes)):
            return product
        before = _axis_of(x, axes)
        inner = (*axes[:before], x.index, *axes[before:])
        body = self.value(x.body, inner)
        test = None if x.where is None else self.test(x.where, inner)
        axis = before - len(inner)
        adds = x.kind == "sum"
        is_fresh = _is_fresh(x.body)

        def reduced(frame: Frame) -> Value:
            terms: Value = body(frame)
            if test is not None:
                nothing = frame.number(0 if adds else float("-inf"))
                terms = np.where(test(frame), terms, nothing)
            count = frame.count(x.index)
            terms = _along(terms, axis, count, len(inner), frame)
            if is_fresh and count == 1 and isinstance(terms, np.ndarray):
                return terms.squeeze(axis)
            return terms.sum(axis=axis) if adds else terms.max(axis=axis)

        if not adds or isinstance(x.body, Entry):
            return reduced

        def made(frame: Frame) -> Value:
            count = frame.count(x.index)
            terms = count * prod(map(frame.count, axes))
            if terms <= LARGEST_SUM or count < 2:
                return reduced(frame)
            # slices of the index need little memory
            step = max(1, count * LARGEST_SUM // terms)
            total: Value = None
            for start in range(0, count, step):
                frame.spans[x.index] = slice(start, min(start + step, count))
                part = reduced(frame)
                total = part if total is None else np.add(total, part, out=total)
            del frame.spans[x.index]
            return total

        return made

    def is_product(self, x: Aggregate, axes: Axes) -> bool:
        """Return whether a sum is computed as a product of matrices."""
        is_sum = x.kind == "sum" and x.where is None
        return is_sum and self._contraction(x, axes) is not None

    def _contraction(self, x: Aggregate, axes: Axes) -> Compiled | None:
        """Return a sum of products of two parts as a matrix product, or None."""
        inside = [each for each in factors(x.body) if self._depends(each, (x.index,))]
        outside = [each for each in factors(x.body) if not self._depends(each, (x.index,))]
        if len(inside) < 2 or any(isinstance(each, Aggregate) for each in inside):
            return None
        left: list[Node] = [inside[0]]
        right: list[Node] = []
        for each in inside[1:]:
            (left if self._axes_of(each, axes) <= self._axes_of(inside[0], axes) else right).append(
                each
            )
        if not right:
            return None
        of_left = set().union(*(self._axes_of(each, axes) for each in left))
        of_right = set().union(*(self._axes_of(each, axes) for each in right))
        rows_ = [axis for axis in axes if axis in of_left - of_right]
        columns = [axis for axis in axes if axis in of_right - of_left]
        if not rows_ or not columns:
            return None
        shared = [axis for axis in axes if axis in of_left & of_right]
        *more_rows, row = rows_
        *more_columns, column = columns
        batch = (*shared, *more_rows, *more_columns)
        one = self.value(joined("*", left), (*batch, row, x.index))
        other = self.value(joined("*", right), (*batch, x.index, column))
        arrange = _arranged((*batch, row, column), axes)
        rest = self.value(joined("*", outside), axes) if outside else None

        def product(frame: Frame) -> Value:
            made = np.matmul(one(frame), other(frame))
            if arrange is not None:
                made = arrange(made)
            return made if rest is None else made * rest(frame)

        return product

    def _axes_of(self, x: Node, axes: Axes) -> set[str]:
        return names_in(x) & set(axes)

    # rows

    def _row(self, x: Row, axes: Axes) -> Compiled:
        at = x.at
        if not (isinstance(at, Name) and at.name in axes and at.name not in names_in(x.body)):
            return self._row_elsewhere(x, axes)
        # the row along its own axis: S[i,k] for k, read at j, is S[i,j]
        body = self.value(replaced(x.body, {x.index: at}), axes)
        beside = [self.value(each, axes) for each in x.beside]
        axis = axes.index(at.name) - len(axes)

        def made(frame: Frame) -> Value:
            count = frame.count(at.name)
            scores = _along(frame.array(body(frame)), axis, count, len(axes), frame)
            others = [frame.array(each(frame)) for each in beside]
            if axis != -1:
                scores = np.moveaxis(scores, axis, -1)
                others = [np.moveaxis(each, axis, -1) for each in others]
            weights = frame.weigh(x.kind, scores, others)
            return weights if axis == -1 else np.moveaxis(weights, -1, axis)

        return made

    def _row_elsewhere(self, x: Row, axes: Axes) -> Compiled:
        """Return one place of a row: computes the entire row."""
        body = self.value(x.body, (*axes, x.index))
        beside = [self.value(each, (*axes, x.index)) for each in x.beside]
        at = self.whole(x.at, axes)

        def made(frame: Frame) -> Value:
            count = frame.count(x.index)
            scores = _along(frame.array(body(frame)), -1, count, len(axes) + 1, frame)
            row = frame.weigh(x.kind, scores, [frame.array(each(frame)) for each in beside])
            there = np.asarray(at(frame))[..., np.newaxis]
            there = np.broadcast_to(there, (*row.shape[:-1], 1))
            return np.take_along_axis(row, there, -1)[..., 0]

        return made


MOST_BITS = 1 << 16
"""Bits of a constant power that is computed as a fraction."""
SMALL = 1 << 12
"""Entries up to which a temporary array costs nothing."""


def constant(x: Node, frame: Frame) -> Any:
    """Return the value of an expression of numbers: exact if it is rational."""
    match x:
        case Number(value):
            return value
        case Name("pi"):
            return pi_of(frame.like)
        case Name(name):
            return Fraction(frame.numbers[name])
        case Marked(body) | Remark(body, _):
            return constant(body, frame)
        case Function(side, (Name(matrix),)) if side in SIDES:
            return Fraction(frame.numbers[f"{side}({matrix})"])
        case If(test, then, otherwise):
            return constant(then if constant(test, frame) else otherwise, frame)
        case Operator("neg", (a,)):
            return -constant(a, frame)
        case Operator("not", (a,)):
            return not constant(a, frame)
        case Operator("and", arguments):
            return all(constant(each, frame) for each in arguments)
        case Operator("or", arguments):
            return any(constant(each, frame) for each in arguments)
        case Operator(sign, (a, b)):
            return _plain(sign, constant(a, frame), constant(b, frame), frame)
        case Function(name, (a, *_)) if (own := defined(name, a)) is not None:
            return constant(own, frame)
        case Function("max" | "min" as name, (a, b)):
            pair = _alike(constant(a, frame), constant(b, frame), frame)
            return max(pair) if name == "max" else min(pair)
        case Function(name, (a,)):
            number = constant(a, frame)
            is_root = name == "sqrt" and isinstance(number, Fraction)
            if is_root and (root := root_of(number)) is not None:
                return root
            number = _in_system(number, frame)
            return FUNCTIONS[name](np.full(1, number, frame.like.dtype))[0]
    raise TypeError(source(x))


_PLAIN: dict[str, Any] = ARITHMETIC | {
    "**": operator.pow, "<": operator.lt, "<=": operator.le, "==": operator.eq,
    "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _plain(sign: str, a: Any, b: Any, frame: Frame) -> Any:
    """Return a constant from two others: not a number where it has no value, as 1 / 0."""
    a, b = _alike(a, b, frame)
    if sign == "**" and isinstance(a, Fraction):
        bits = abs(b) * max(each.bit_length() for each in a.as_integer_ratio())
        if b.denominator != 1 or bits > MOST_BITS:
            a, b = _in_system(a, frame), _in_system(b, frame)
    try:
        return _PLAIN[sign](a, b)
    except ArithmeticError:
        return float("nan")


def _raised(base: Any, exponent: Any) -> Any:
    """Return powers; x to the power of 0 is 1, as for floats, also of a Decimal 0."""
    if np.asarray(base).dtype != object or np.all(exponent):
        return base**exponent
    return np.where(np.equal(exponent, 0), 1, base) ** exponent


def _in_system(value: Any, frame: Frame) -> Any:
    return frame.number(value) if isinstance(value, Fraction | float | int) else value


def _alike(a: Any, b: Any, frame: Frame) -> tuple[Any, Any]:
    """Return two numbers in one system: Fractions if both are rational."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a, b
    return _in_system(a, frame), _in_system(b, frame)


FUNCTIONS: dict[str, Callable[[Matrix], Matrix]] = {
    "exp": np.exp,
    "log": ln,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "tanh": tanh,
    "erf": erf,
    "sin": lambda x: cos_sin(x)[1],
    "cos": lambda x: cos_sin(x)[0],
}


def _of_rank(matrix: Matrix, rank: int) -> Matrix:
    """Return a matrix with at least so many axes: one without heads applies to all."""
    return matrix if matrix.ndim >= rank else matrix[np.newaxis]


def _cut(matrix: Matrix, places: Sequence[Any], frame: Frame) -> tuple[Any, ...] | None:
    """Return the index of a view, or None for the entire matrix.

    A single row or column applies to all places. An index may run over less than a side, and, if a
    condition excludes the rest, over more: then the last place is repeated.
    """
    cut: list[Any] = []
    is_whole = True
    for place, side in zip(places, matrix.shape[matrix.ndim - len(places) :], strict=True):
        if not isinstance(place, str):
            at: Any = 0 if side == 1 else int(place(frame))
            if at >= side:
                raise ShapeError(f"place {at + 1} is read where there are {side}")
        elif side == 1 or (not frame.spans and side == frame.numbers[place]):
            cut.append(slice(None))
            continue
        else:
            at = frame.span(place)
            if at.stop > side:
                at = np.minimum(np.arange(at.start, at.stop), side - 1)
        cut.append(at)
        is_whole = False
    return None if is_whole else (..., *cut)


def _kept(find: Compiled) -> Compiled:
    """Return a function that is computed once for all frames of the same shapes and numbers."""

    def found(frame: Frame) -> Value:
        if find not in frame.kept:
            frame.kept[find] = find(frame)
        return frame.kept[find]

    return found


def _axis_of(x: Aggregate, axes: Axes) -> int:
    """Return the axis before which to insert the summed one, so that no matrix is transposed."""
    for y in walk(x.body):
        if isinstance(y, Entry):
            names = [place.name for place in y.at if isinstance(place, Name)]
            if x.index in names:
                behind = [n for n in names[names.index(x.index) + 1 :] if n in axes]
                return axes.index(behind[0]) if behind else len(axes)
    return len(axes)


def _arranged(have: Axes, want: Axes) -> Callable[[Matrix], Matrix] | None:
    """Return a function that rearranges axes; None if nothing changes."""
    if have == want:
        return None
    order = [have.index(axis) for axis in want if axis in have]
    inserted = tuple(slice(None) if axis in have else np.newaxis for axis in want)

    return lambda matrix: _turned(matrix, order)[(..., *inserted)]


def _turned(matrix: Matrix, order: list[int]) -> Matrix:
    """Return a matrix with its last axes in this order."""
    lead = matrix.ndim - len(order)
    return matrix.transpose([*range(lead), *(lead + each for each in order)])


def _along(value: Value, axis: int, count: int, least: int, frame: Frame) -> Matrix:
    """Return terms along an index; those that do not depend on it, once for each value."""
    if np.ndim(value) >= -axis and value.shape[axis] == count:
        return value  # type: ignore[no-any-return]
    terms = frame.array(value)
    if terms.ndim < least:
        terms = terms.reshape((1,) * (least - terms.ndim) + terms.shape)
    shape = list(terms.shape)
    shape[axis] = count
    return np.broadcast_to(terms, shape)


def _is_fresh(x: Node) -> bool:
    """Whether the value of a node is a new array, which may be overwritten."""
    match x:
        case Marked(body) | Remark(body, _):
            return _is_fresh(body)
        case Operator() | Aggregate() | Row():
            return True
        case Function(name, _):
            return name not in _DEFINED
    return False


def _is_fractional(x: Node) -> bool:
    """Whether a node is a number that is impossible for places and sizes."""
    return isinstance(x, Entry) or (isinstance(x, Operator) and x.sign in ("/", "**"))


def _has_root(x: Node) -> bool:
    return any(isinstance(y, Function) and y.name == "sqrt" for y in walk(x))


def _int(value: Setting) -> Any:
    return int(value) if np.isfinite(float(value)) and value == int(value) else float(value)
