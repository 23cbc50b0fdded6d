"""Measures of an equation: the shape of its result, its cost, and its exact digits."""

from collections.abc import Mapping
from fractions import Fraction
from math import prod

from attncalc.base.errors import ShapeError
from attncalc.base.typed import root_of
from attncalc.equations.extents import Setting, Shape, extents, lead, whole
from attncalc.equations.tree import (
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
    walk,
)

FUNCTION_COSTS = {
    "exp": 1, "tanh": 2, "sigmoid": 1, "silu": 1, "phi": 1, "log": 3, "erf": 3, "Phi": 3,
    "gelu": 3, "sin": 4, "cos": 4,
}  # fmt: skip
"""The cost of a function, in powers of e; others cost as much as a product."""
RATIONAL = {"abs", "max", "min", "relu", "rows", "columns", "heads"}
"""The functions that map rational numbers to rational numbers."""
_ARITHMETIC = {"+", "-", "*", "/", "**"}
_NO_NUMBERS: dict[str, Setting] = {}


def shape(
    equation: Equation, shapes: Mapping[str, Shape], settings: Mapping[str, Setting] = _NO_NUMBERS
) -> Shape:
    """Return the shape of the result, with the axes before those that the equation names."""
    runs = extents(equation, shapes, settings)
    return (*lead(equation, shapes), *(runs[index] for index in equation.at))


def cost(
    equation: Equation, shapes: Mapping[str, Shape], settings: Mapping[str, Setting] = _NO_NUMBERS
) -> tuple[int, int]:
    """Return the number of multiply-adds, and the cost of functions in powers of e."""
    runs = extents(equation, shapes, settings)
    products = functions = 0

    def go(x: Node) -> set[str]:
        """Count a node, and return the indices that it depends on."""
        nonlocal products, functions
        match x:
            case Name(name):
                return {name} & equation.indices
            case Entry(_, at):
                return names_in(*at) & equation.indices
            case If(test, then, otherwise):
                return (names_in(test) & equation.indices) | go(then) | go(otherwise)
            case Marked(body) | Remark(body, _):
                return go(body)
            case Operator(sign, arguments) | Function(sign, arguments):
                over = set().union(*map(go, arguments))
                if isinstance(x, Operator):
                    products += count(over) * (sign in _ARITHMETIC)
                functions += count(over) * FUNCTION_COSTS.get(sign, 0)
                return over
            case Aggregate(_, body, index, _, _):
                over = go(body)
                if not (isinstance(body, Operator) and body.sign == "*"):
                    products += count(over | {index})
                return over - {index}
            case Row(kind, body, index, _, _, at):
                over = (go(body) - {index}) | (names_in(at) & equation.indices)
                products += count(over)
                functions += count(over) * (kind == "softmax")
                return over
        return set()

    def count(over: set[str]) -> int:
        return prod(runs[index] for index in over)

    go(equation.right)
    times = prod(lead(equation, shapes))
    entries = prod(shape(equation, shapes, settings))
    return max(entries, products * times), functions * times


def is_rational(equation: Equation, numbers: Mapping[str, Setting] = _NO_NUMBERS) -> bool:
    """Return whether rational numbers stay rational; the root of a square setting does."""
    return not any(_is_irrational(x, numbers) for each in equation.group for x in each.nodes)


def _is_irrational(x: Node, numbers: Mapping[str, Setting]) -> bool:
    match x:
        case Name("pi"):
            return "pi" not in numbers
        case Row(kind):
            return kind == "softmax"
        case Function("sqrt", (a,)):
            value = _known(a, numbers)
            return value is None or root_of(value) is None
        case Function(name):
            return name not in RATIONAL
        case Operator("**", (_, b)):
            value = _known(b, numbers)
            return value is None or value.denominator > 1
    return False


def _known(x: Node, numbers: Mapping[str, Setting]) -> Fraction | None:
    """Return the value of a setting, or of an expression of settings; None of others."""
    try:
        return whole(x, numbers)
    except ShapeError:
        return None


def factors(
    equation: Equation,
    counts: Mapping[str, int],
    settings: Mapping[str, Setting] = _NO_NUMBERS,
    steps: int = 1,
) -> int:
    """Return how many numbers are multiplied into one entry at most.

    A quotient, a weight or the value of a function counts as one number; its parts count if they
    are products.

    counts: the number of factors of an entry of each input; 1 by default.
    settings: the numbers that it reads by name, without sizes: division by a size requires no
        digits.
    steps: for a recurrence, the number of rows.
    """
    if equation.recurs is None:
        return _Factors(counts, settings, equation.indices).most(equation.right)
    own = dict.fromkeys(equation.recurring, 0)
    for _ in range(steps):
        for each in equation.recurs.order:
            own[each.name] = _Factors({**counts, **own}, settings, each.indices).most(each.right)
    return own[equation.name]


class _Factors:
    """Counts the factors of a node; `inner` counts those of its parts."""

    def __init__(
        self, counts: Mapping[str, int], settings: Mapping[str, Setting], indices: frozenset[str]
    ) -> None:
        self.counts, self.settings, self.indices = counts, settings, indices
        self.inner = 0

    def most(self, x: Node) -> int:
        return max(self.of(x), self.inner)

    def of(self, x: Node) -> int:
        if not _entries(x):
            return self.constant(x)
        match x:
            case Entry(name, _):
                return self.counts.get(name, 1)
            case Marked(body) | Remark(body, _) | Aggregate(_, body) | Operator("neg", (body,)):
                return self.of(body)
            case If(_, then, otherwise):
                return max(self.of(then), self.of(otherwise))
            case Operator("+" | "-", arguments):
                return max(map(self.of, arguments))
            case Function(name, arguments) if name in RATIONAL:
                return max(map(self.of, arguments))
            case _ if _is_curve(x):
                return 1
            case Operator("*", (a, b)):
                return self.of(a) + self.of(b)
            case Operator("/", (a, b)) if not _entries(b):
                return self.of(a) + self.divisor(b)
            case Operator("**", (a, Number(power))) if power >= 0 and power % 1 == 0:
                return int(power) * self.of(a)
        return self.own(*(x.arguments if isinstance(x, Operator | Function) else parts(x)))

    def own(self, *made_of: Node) -> int:
        """Return 1, for a single number, and note the products in its parts."""
        for part in made_of:
            alone = max((self.counts.get(y.name, 1) for y in _entries(part)), default=0)
            if (count := self.of(part)) > alone:
                self.inner = max(self.inner, count)
        return 1

    def constant(self, x: Node) -> int:
        """Return 1 for a number; 0 for sizes, indices and their functions."""
        if names_in(x) & self.indices or any(isinstance(y, Function) for y in walk(x)):
            return 0
        if isinstance(x, Number):  # one digit is among the spare ones
            return int(x.value not in range(-9, 10))
        return int(bool(names_in(x) & set(self.settings)))

    def divisor(self, x: Node) -> int:
        """Return 1 for a divisor that is not a count or root."""
        names = names_in(x) & set(self.settings)
        fine = any(Fraction(self.settings[name]) % 1 for name in names)
        return int(isinstance(x, Number)) or (self.constant(x) if fine or not names else 0)


def _entries(x: Node) -> set[Entry]:
    return {y for y in walk(x) if isinstance(y, Entry)}


def _is_curve(x: Node) -> bool:
    """Whether a node is an irrational function of one entry."""
    return len(_entries(x)) == 1 and any(
        isinstance(y, Function) and y.name not in RATIONAL and _entries(y) for y in walk(x)
    )
