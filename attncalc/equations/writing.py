"""The written-out work of an equation: how one entry is calculated from the entries it reads.

    S[1,2] = (1·0) + (2·3) = 6.00

The tree is turned once into functions that write. Each writes its node for one entry (`Here`) at a
level: at level 0 everything is written out, at level 1 the innermost marked parts (`+x`) are
numbers, at level 2 those around them, and so on. A level is a form of the work.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from attncalc.base.decimals import in_system_of, infinity_of
from attncalc.base.typed import as_written
from attncalc.base.types import Matrix, Place
from attncalc.equations import expressions as document
from attncalc.equations import rows
from attncalc.equations.evaluate import Frame, compiled, constant, expanded
from attncalc.equations.expressions import Explanation, Expression, Operand, added, whole
from attncalc.equations.extents import Setting, extents
from attncalc.equations.tree import (
    ONE,
    SIDES,
    ZERO,
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
    parts,
    source,
    walk,
)

Form = Callable[["Here", int], Expression]
Terms = Callable[["Here", int], list[Expression]]

TITLES = {
    "relu": "ReLU", "gelu": "GELU", "silu": "SiLU", "Phi": "Φ", "phi": "φ", "dgelu": "GELU'",
}  # fmt: skip
"""How functions are written, where not by their name."""
LARGEST_EXPONENT = 230
"""e to this has 100 digits, the most a pocket calculator can hold."""
LARGEST_WHOLE = 10**15
"""Whole numbers below are written as they are, larger ones with a power of ten."""
NO_KEY = "no key is left to attend to"
FORBIDDEN = "a forbidden score counts as 0"


class Here:
    """The entry that is written out: what is known at its place.

    place: its place, with any leading axes, from 0.
    operands: what the equation reads and the work quotes, by the names of the equation.
    settings: the numbers that the equation reads by name.
    tables: matrices that only places and conditions read: ids, starts of buckets.
    """

    __slots__ = ("exact", "frame", "is_worked", "lead", "numbers", "operands", "pen", "remark")

    def __init__(
        self,
        equation: Equation,
        place: Place,
        operands: Mapping[str, Operand],
        settings: Mapping[str, Setting],
        tables: Mapping[str, Matrix],
    ) -> None:
        behind = len(place) - len(equation.at)
        head, own = place[:behind], place[behind:]
        matrices = dict(tables)
        self.lead: dict[str, Place] = {}
        for name, operand in operands.items():
            matrix = operand.matrix
            axes = matrix.ndim - _axes_of(equation).get(name, matrix.ndim)
            if axes > 0:
                beside = zip(head[behind - axes :], matrix.shape[:axes], strict=True)
                self.lead[name] = tuple(0 if side == 1 else at for at, side in beside)
                matrix = matrix[self.lead[name]]
            matrices[name] = matrix
        shapes = tuple((name, matrix.shape) for name, matrix in matrices.items())
        sizes = _sizes(equation, shapes, tuple(settings.items()))
        self.numbers: dict[str, Setting] = {**settings, **sizes}
        self.numbers.update(zip(equation.at, own, strict=True))
        self.frame = Frame(matrices, self.numbers)
        self.operands = operands
        self.pen = next(iter(operands.values()))
        self.remark = ""
        self.exact: Fraction | None = None
        self.is_worked = False

    def number(self, value: Any) -> Expression:
        """Write a setting, or a whole number that was computed from places and sizes."""
        if value.denominator == 1 and abs(value) < LARGEST_WHOLE:
            return whole(int(value))
        return self.pen.own(value)

    def each(self, index: str, holds: "Callable[[Here], bool] | None") -> Iterator[int]:
        """Yield each number of an index at which a condition holds, while the index has it."""
        before = self.numbers[index]
        for number in range(int(before)):
            self.numbers[index] = number
            if holds is None or holds(self):
                yield number
        self.numbers[index] = before


def explanation(
    equation: Equation,
    place: Place,
    operands: Mapping[str, Operand],
    settings: Mapping[str, Setting] | None = None,
    tables: Mapping[str, Matrix] | None = None,
) -> Explanation:
    """Return how an entry is calculated; the parameters are those of `Here`."""
    here = Here(equation, place, operands, settings or {}, tables or {})
    with np.errstate(all="ignore"):
        return _program(equation)(here)


@lru_cache(maxsize=1024)
def _axes_of(equation: Equation) -> dict[str, int]:
    """Return how many indices each matrix has in an equation."""
    entries = (y for form in (equation.right, *equation.taught) for y in walk(form))
    return {y.name: len(y.at) for y in entries if isinstance(y, Entry)}


@lru_cache(maxsize=4096)
def _sizes(equation: Equation, shapes: Any, settings: Any) -> dict[str, int]:
    return extents(equation, dict(shapes), dict(settings))


@lru_cache(maxsize=1024)
def _program(equation: Equation) -> Callable[[Here], Explanation]:
    """Return what explains an entry of an equation."""
    writer = _Writer(equation, frozenset(equation.at))
    taught = [(writer.form(each), height(each)) for each in equation.taught]
    explain = writer.branch(equation.right)

    def explained(here: Here) -> Explanation:
        # a taught form is shown once, its marked parts as numbers
        first = tuple(form(here, level) for form, level in taught)
        return explain(here, first)

    return explained


def height(x: Node) -> int:
    """Return how many levels of numbers a node has: that of +x is 0 for an entry x."""
    inner = max(map(height, parts(x)), default=0)
    is_level = isinstance(x, Marked) and not isinstance(x.body, Entry)
    return inner + (is_level or (isinstance(x, Row) and x.kind != "hardmax"))


class _Writer:
    """Turns nodes into functions that write them; `fixed` indices have a value."""

    def __init__(self, equation: Equation, fixed: frozenset[str]) -> None:
        self.equation = equation
        self.fixed = fixed
        self.sizes = equation.indices | names_in(*equation.sizes.values())

    # the top of an equation

    def branch(self, x: Node) -> Callable[[Here, tuple[Expression, ...]], Explanation]:
        """Return the forms of a right-hand side, after the existing ones."""
        match x:
            case If(test, then, otherwise):
                holds, yes, no = self.test(test), self.branch(then), self.branch(otherwise)
                return lambda here, first: (yes if holds(here) else no)(here, first)
            case Remark(body, words, where):
                inner, said = self.branch(body), [self.words(word) for word in words]
                applies = None if where is None else self.test(where)

                def remarked(here: Here, first: tuple[Expression, ...]) -> Explanation:
                    if applies is None or applies(here):
                        here.remark = "".join(each(here) for each in said)
                    return inner(here, first)

                return remarked
            case Entry(name, _):
                place = self.place(x)

                def named(here: Here, first: tuple[Expression, ...]) -> Explanation:
                    # its name, for the number alone does not tell where it comes from
                    there, operand = place(here), here.operands[name]
                    exact = operand.quote(there).exact
                    return Explanation((*first, operand.entry(there)), here.remark, exact)

                return named
        form, levels = self.form(x), height(x)
        known = self.known(x) if expanded(x) is not x else None

        def explained(here: Here, first: tuple[Expression, ...]) -> Explanation:
            begin = form(here, 0)
            forms = list(first) or [begin]
            for level in range(1, levels + 1):
                here.is_worked = False
                made = form(here, level)
                if here.is_worked:
                    forms.append(made)
            exact = here.exact if isinstance(x, Row) else None
            if exact is None:
                exact = begin.exact if known is None else known(here)
            return Explanation(tuple(forms), here.remark, exact)

        return explained

    def words(self, word: str | Node) -> Callable[[Here], str]:
        if isinstance(word, str):
            return lambda here: word
        number = self.number(word)
        return lambda here: as_written(number(here))

    # numbers that places, conditions and the second form need

    def value(self, x: Node, axes: tuple[str, ...] = ()) -> Callable[[Here], Any]:
        """Return what computes a node in the numbers of the matrices."""
        program = compiled(x, axes, self.equation.indices - self.fixed)

        def value(here: Here) -> Any:
            here.frame.kept.clear()  # the indices of sums have moved on
            made = program(here.frame)
            return np.asarray(made, here.frame.like.dtype) if axes else np.asarray(made)[()]

        return value

    def number(self, x: Node) -> Callable[[Here], Fraction]:
        """Return what computes a rational number from places, sizes and settings."""
        match x:
            case Name(name):
                return lambda here: Fraction(here.numbers[name])
            case _ if any(isinstance(y, Entry | Aggregate) for y in walk(x)):
                value = self.value(x)
                return lambda here: Fraction(int(value(here)))
        return lambda here: Fraction(constant(x, here.frame))

    def test(self, x: Node) -> Callable[[Here], bool]:
        if any(isinstance(y, Entry | Aggregate) for y in walk(x)):
            value = self.value(If(x, ONE, ZERO))
            return lambda here: bool(value(here))
        return lambda here: bool(constant(x, here.frame))

    def place(self, x: Entry) -> Callable[[Here], Place]:
        """Return what finds the place of an entry; a single row or column serves all."""
        name, at = x.name, [each.name if isinstance(each, Name) else "" for each in x.at]
        others = [(n, self.number(each)) for n, each in enumerate(x.at) if not at[n]]

        def place(here: Here) -> Place:
            numbers, sides = here.numbers, here.frame.matrices[name].shape
            own: list[Any] = [numbers[each] if each else 0 for each in at]
            for n, number in others:
                own[n] = int(number(here))
            own = own[len(own) - len(sides) :]  # a matrix without heads serves them all
            if 1 in sides:
                own = [0 if side == 1 else each for each, side in zip(own, sides, strict=True)]
            return (*here.lead.get(name, ()), *own)

        return place

    def known(self, x: Node) -> Callable[[Here], Fraction | None]:
        """Return a function that computes the true value of a node, if it is rational and known."""
        written = self.form(expanded(x))
        return lambda here: written(here, 0).exact

    def worked_out(self, x: Node, *, clears: bool = True) -> Callable[[Here], Expression]:
        """Return a function that writes a part as its value; `clears` leftovers of 0."""
        known, value = self.known(x), self.value(x)
        functions = {y.name for y in walk(expanded(x)) if isinstance(y, Function)}
        is_irrational, is_sine = not functions.isdisjoint(IRRATIONAL), "sin" in functions
        # sums with a power of e that is written as such never cancel
        is_power = any(isinstance(y, Function) and y.name == "exp" for y in walk(x))
        clears = clears and not is_power

        def number(here: Here) -> Expression:
            here.is_worked = True
            exact, like = known(here), here.frame.like
            # floats would have to round what is exact once more
            is_exact = exact is not None and like.dtype == object
            made = in_system_of(like, exact) if is_exact and exact is not None else value(here)
            if (exact and is_irrational) or is_sine:
                exact = None  # e^0, cos 0 and sin 0 are written as other values of functions are
            write = here.pen.write_sum if clears and not is_exact else here.pen.write
            return write(made, exact)

        return number

    # expressions

    def form(self, x: Node) -> Form:
        """Return what writes a node: one case for each kind."""
        match x:
            case Number(float()):
                return lambda here, level: document.Number("∞")
            case Number(value):
                return lambda here, level: here.number(value)
            case Name("pi"):
                return lambda here, level: document.PI
            case Operator("neg", (Number(value),)) if value == float("inf"):
                return lambda here, level: document.MINUS_INFINITY
            case Name() | Operator() | Function() if self._is_of_places(x):
                number = self.number(x)
                return lambda here, level: here.number(number(here))
            case Entry(name, _):
                place = self.place(x)
                return lambda here, level: here.operands[name].quote(place(here))
            case Marked(body):
                return self._marked(x, body)
            case Remark(body):
                return self.form(body)
            case If(test, then, otherwise):
                holds, yes, no = self.test(test), self.form(then), self.form(otherwise)
                return lambda here, level: (yes if holds(here) else no)(here, level)
            case Operator("+" | "-" | "neg", _) | Aggregate("sum"):
                terms = self.terms(x)
                return lambda here, level: added(*(terms(here, level) or [document.ZERO]))
            case Operator("*", _):
                factors = [self.form(each) for each in _factors(x)]
                is_ordered = _is_of_matrices(x)
                return lambda here, level: document.Product(
                    tuple(factor(here, level) for factor in factors), is_ordered=is_ordered
                )
            case Operator("/" | "**" as sign, (a, b)):
                top, bottom = self.form(a), self.form(b)
                kind = document.Quotient if sign == "/" else document.Power
                return lambda here, level: kind(top(here, level), bottom(here, level))
            case Function(name, arguments):
                return self._function(name, arguments)
            case Row():
                return self._row(x)
            case Aggregate("max"):
                return self._largest(x)
            case Operator("//" | "%", _):
                whole = self.number(x)
                return lambda here, level: here.number(whole(here))
        raise TypeError(f"this cannot be written out: {source(x)}")

    def terms(self, x: Node) -> Terms:
        """Return what writes the terms of a sum; a node that is no sum is one term."""
        match x:
            case Operator("neg", (a,)):
                inner = (self.terms if isinstance(a, Aggregate) else self.term)(a)
                return lambda here, level: list(map(document.Negative, inner(here, level)))
            case Operator("+" | "-" as sign, (a, b)) if not self._is_of_places(x):
                left = self.terms(a)
                right = self.terms(b) if isinstance(b, Aggregate) else self.term(b)
                turned: Any = partial(map, document.Negative) if sign == "-" else list
                return lambda here, level: [*left(here, level), *turned(right(here, level))]
            case Aggregate("sum"):
                return self._sum(x)
        return self.term(x)

    def term(self, x: Node) -> Terms:
        form = self.form(x)
        return lambda here, level: [form(here, level)]

    def _sum(self, x: Aggregate) -> Terms:
        index = x.index
        inside = _Writer(self.equation, self.fixed | {index})
        terms = (inside.terms if isinstance(x.body, Aggregate) else inside.term)(x.body)
        is_left_out = inside.is_nothing(x.body) if isinstance(x.body, If) else None
        holds = None if x.where is None else inside.test(x.where)

        def summed(here: Here, level: int) -> list[Expression]:
            made: list[Expression] = []
            for _ in here.each(index, holds):
                if is_left_out is None or not is_left_out(here):
                    made += terms(here, level)
            return made

        return summed

    def is_nothing(self, x: Node) -> Callable[[Here], bool]:
        """Return whether a condition makes a term 0: it is left out of its sum."""
        match x:
            case If(test, then, otherwise):
                holds, yes, no = self.test(test), self.is_nothing(then), self.is_nothing(otherwise)
                return lambda here: (yes if holds(here) else no)(here)
        return lambda here: x == ZERO

    def _marked(self, x: Marked, body: Node) -> Form:
        own, form = height(x), self.form(body)
        if not own:
            return form
        number = self.worked_out(body)
        return lambda here, level: number(here) if level >= own else form(here, level)

    def _function(self, name: str, arguments: tuple[Node, ...]) -> Form:
        if name in ("max", "min"):
            return self._larger(name, *arguments)
        (argument,) = arguments
        form = self.form(argument)
        if name == "exp":
            return lambda here, level: document.Power(document.E, form(here, level))
        if name == "sqrt":
            return lambda here, level: document.Root(form(here, level))
        if name == "log" and not self._is_of_places(argument):  # of what it is: 0.00 has none
            number = self.worked_out(argument, clears=False)
            return lambda here, level: document.Call("log", number(here))
        title = TITLES.get(name, name)
        return lambda here, level: document.Call(title, form(here, level))

    def _larger(self, name: str, a: Node, b: Node) -> Form:
        """Return what writes the larger, or the smaller one of two, whichever that is."""
        forms, values = [self.form(a), self.form(b)], [self.value(a), self.value(b)]

        def larger(here: Here, level: int) -> Expression:
            first, second = (value(here) for value in values)
            return forms[bool(first < second) == (name == "max")](here, level)

        return larger

    def _largest(self, x: Aggregate) -> Form:
        """Return what writes the largest term over an index, whichever that is."""
        inside = _Writer(self.equation, self.fixed | {x.index})
        form, value = inside.form(x.body), inside.value(x.body)
        holds = None if x.where is None else inside.test(x.where)

        def largest(here: Here, level: int) -> Expression:
            before = here.numbers[x.index]
            found = {number: value(here) for number in here.each(x.index, holds)}
            here.numbers[x.index] = max(found, key=found.__getitem__, default=0)
            written = form(here, level) if found else document.MINUS_INFINITY
            here.numbers[x.index] = before
            return written

        return largest

    def _is_of_places(self, x: Node) -> bool:
        """Whether a node is arithmetic of places and sizes: it is done, and not written."""
        return (
            not any(isinstance(y, Entry | Aggregate | Marked | Row | If) for y in walk(x))
            and all(y.sign in PLACES for y in walk(x) if isinstance(y, Operator))
            and all(y.name in PLACES for y in walk(x) if isinstance(y, Function))
            and (
                isinstance(x, Name)
                or any(isinstance(y, Function) and y.name in SIDES for y in walk(x))
                or not names_in(x).isdisjoint(self.sizes)
            )
        )

    # rows of weights

    def _row(self, x: Row) -> Form:
        """Return what writes a weight: e^s / (e^s + …), s / (s + …), or 1 for the largest."""
        inside, own = _Writer(self.equation, self.fixed | {x.index}), height(x)
        write = {"softmax": _softmax, "hardmax": _hardmax, "share": _share}[x.kind]
        entries = self._sum(Aggregate("sum", Remark(x.body, ()), x.index, x.size))
        scores, at = self.value(x.body, (x.index,)), self.number(x.at)
        beside = [(inside.form(each), inside.value(each)) for each in x.beside]

        def weight(here: Here, level: int) -> Expression:
            written = entries(here, min(level, own - 1))
            values = np.broadcast_to(scores(here), len(written))
            if beside:
                joined = np.array([value(here) for _, value in beside], values.dtype)
                values = np.concatenate([values, joined])
                written += [form(here, level) for form, _ in beside]
            row = _Scores(written, values, len(written) - len(beside))
            if not row.allowed[: row.keys].any():
                here.remark = NO_KEY
                return document.ZERO
            return write(here, row, int(at(here)), level >= own)

        return weight


PLACES = {"+", "-", "*", "//", "%", "neg", "abs", "max", "min", *SIDES}
"""Arithmetic of whole numbers."""
IRRATIONAL = {"exp", "log", "tanh", "sin", "cos", "erf"}


class _Scores:
    """The row of scores of a weight, followed by the sinks of its head."""

    def __init__(self, entries: list[Expression], values: Matrix, keys: int) -> None:
        self.entries, self.values, self.keys = entries, values, keys
        self.allowed: Matrix = values != -infinity_of(values)


def _softmax(here: Here, row: _Scores, j: int, is_worked: bool) -> Expression:
    """Write powers of e over their sum; the largest is taken off first where they are huge."""
    top = int(row.values.argmax())
    is_shifted = bool(np.abs(row.values[row.allowed]).max() > LARGEST_EXPONENT)
    if is_shifted:
        what = "the largest score" if top < row.keys else "the sink, larger than each score,"
        here.remark = f"{what} is taken off first"
    if is_worked:
        here.is_worked = True
        powers = rows.exponentials(row.values, row.values[top] if is_shifted else None)
        write = here.pen.write
        return document.Quotient(write(powers[j], None), write(powers.sum(), None))
    ties = bool((rows.winners(row.values) == row.allowed).all())
    alike = Fraction(1, int(row.allowed.sum())) if ties else None
    here.exact = alike if row.allowed[j] else Fraction(0)
    less = document.Negative(row.entries[top])
    written = [
        document.Power(document.E, document.Sum((each, less)) if is_shifted and counts else each)
        for each, counts in zip(row.entries, row.allowed, strict=True)
    ]
    return document.Quotient(written[j], added(*written))


def _hardmax(here: Here, row: _Scores, j: int, is_worked: bool) -> Expression:
    """Write 1 for the largest score, or its share where several are."""
    won = rows.winners(row.values)
    count = int(won.sum())
    if not won[j]:
        here.remark = "another score is larger"
        return document.ZERO
    here.remark = f"{count} scores share the first place" if count > 1 else "the largest score"
    return document.Quotient(whole(1), whole(count)) if count > 1 else whole(1)


def _share(here: Here, row: _Scores, j: int, is_worked: bool) -> Expression:
    """Write the score over the sum of its row."""
    if not row.allowed[j]:
        here.remark = FORBIDDEN
        return document.ZERO
    terms = [each for each, counts in zip(row.entries, row.allowed, strict=True) if counts]
    total = added(*terms)
    if is_worked:
        here.is_worked = True
        total = here.pen.write(row.values[row.allowed].sum(), total.exact)
    return document.Quotient(row.entries[j], total)


def _factors(x: Node) -> list[Node]:
    match x:
        case Operator("*", (a, b)):
            return [*_factors(a), b]
    return [x]


def _is_of_matrices(x: Operator) -> bool:
    """Whether a product is one of a product of matrices: tokens as columns turn it round.

    Each of its two entries then has an index that the other does not have.
    """
    match x.arguments:
        case (Entry() as a, Entry() as b):
            return bool(names_in(*a.at) - names_in(*b.at) and names_in(*b.at) - names_in(*a.at))
    return False
