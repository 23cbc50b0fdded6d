"""Gradients: an equation determines the equation of each input's gradient.

    S[i,j] = sum(Q[i,c] * K[j,c] for c in d)    gives    dK[j,c] = sum(dS[i,j] * Q[i,c] for i in n)

One walk carries the adjoint, dL/d(this part), down to each entry of the input. The places of the
entry are then solved for its indices, so that nothing is scattered: K[h // g] at t is read where
h = t * g + r for r in g, X[i - s] where i = t + s, and table[ids[i]] where ids[i] == t.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, reduce

from attncalc.base.errors import InputError
from attncalc.equations.algebra import (
    all_of,
    apart,
    bare,
    joined,
    lowered,
    negative,
    opposite,
    over,
    plain,
    plus,
    times,
)
from attncalc.equations.evaluate import defined
from attncalc.equations.places import Loops, Reached, solved
from attncalc.equations.tree import (
    INFINITY,
    ONE,
    SIDE_OF_AXIS,
    TWO,
    ZERO,
    Aggregate,
    Entry,
    Equation,
    Function,
    If,
    Marked,
    Name,
    Node,
    Operator,
    Remark,
    Row,
    names_in,
    parse,
    replaced,
    unique,
    walk,
)

NO_SLOPE = (
    "hardmax jumps where two scores change places and is flat everywhere else, so it has "
    "no gradient to go back by (the normalizers softmax and sum have)"
)
SLOPES: dict[str, Node] = {
    name: parse(f"y[i] = {text}").right
    for name, text in {
        "exp": "exp(x)",
        "log": "1 / x",
        "sqrt": "1 / (2 * sqrt(x))",
        "abs": "1 if x > 0 else (-1 if x < 0 else 0)",
        "tanh": "1 - tanh(x) ** 2",
        "sin": "cos(x)",
        "cos": "-sin(x)",
        "erf": "2 * exp(-x ** 2) / sqrt(pi)",
        "relu": "1 if x > 0 else 0",
        "sigmoid": "sigmoid(x) * (1 - sigmoid(x))",
        "silu": "sigmoid(x) * (1 + x * (1 - sigmoid(x)))",
        "gelu": "Phi(x) + x * phi(x)",
        "Phi": "phi(x)",
        "phi": "-x * phi(x)",
    }.items()
}
"""The derivative of each function of `x`, in a form that does not overflow."""
_FRESH: tuple[str, ...] = (*"tuvwxyz", *(f"t{number}" for number in range(1000)))


def gradient_name(equation: Equation, of: str | None = None) -> str:
    """Return the name of dL/d(result), or of dL/d(an input): a d before its name."""
    name = f"d{equation.name if of is None else of}"
    while name in equation.reads or name in {each.name for each in equation.group}:
        name = "d" + name
    return name


def total_name(equation: Equation, group: Equation | None = None) -> str:
    """Return the name of dL/d(result), including later rows of a recurrence."""
    return f"total_{gradient_name(group or equation, equation.name)}"


@lru_cache(maxsize=256)
def total(equation: Equation, arriving: tuple[int, ...] | None = None) -> Equation:
    """Return the equation of dL/d(result), including later rows of a recurrence.

    For a mutual recurrence these are computed together, from the last row back.

    arriving: the number of upstream gradients of each matrix of the group; by default one,
        `gradient_name`.
    """
    counts = (None,) * len(equation.group) if arriving is None else arriving
    made = [_total(each, equation, n) for each, n in zip(equation.group, counts, strict=True)]
    return replace(made[0], together=tuple(made[1:]))


def _total(of: Equation, equation: Equation, count: int | None) -> Equation:
    walker = _Walk(of, of.name, equation)
    reached: list[Reached] = []
    for each in equation.group:
        seed = Entry(total_name(each, equation), tuple(map(Name, each.at)))
        within = _Walk(each, of.name, equation)
        within.taken = walker.taken
        reached += within.entries(each.right, seed, within.loops(), ())
    own = gradient_name(equation, of.name)
    names = [own] if count is None else [f"{own}_{number}" for number in range(1, count + 1)]
    return walker.summed(total_name(of, equation), reached, names)


@lru_cache(maxsize=1024)
def gradient(equation: Equation, name: str) -> Equation | None:
    """Return the equation of dL/d(input) from dL/d(result).

    It reads the inputs of the equation, `gradient_name` (for a recurrence `total_name`, see
    `total`), for weights the result, and sizes of the forward equation. A broadcast side of 1
    counts as full. None if the result does not depend on the values of
    the input. Raises InputError if there is no gradient: through hardmax.
    """
    arriving = gradient_name(equation) if equation.recurs is None else total_name(equation)
    walker = _Walk(equation, name)
    seed = Entry(arriving, tuple(map(Name, equation.at)))
    reached = list(walker.entries(equation.right, seed, walker.loops(), ()))
    return walker.summed(gradient_name(equation, name), reached) if reached else None


def slope_of(x: Node) -> Node:
    """Return the derivative of a function of the one entry that it reads."""
    (name,) = {y.name for y in walk(x) if isinstance(y, Entry)}
    walker = _Walk(Equation("y", (), (), x), name)
    parts = (
        If(all_of(*each.tests), each.adjoint, ZERO) if each.tests else each.adjoint
        for each in walker.entries(x, ONE, (), ())
    )
    return reduce(plus, parts)


class _Walk:
    """Finds the entries of an input, with the adjoint of each."""

    def __init__(self, equation: Equation, name: str, group: Equation | None = None) -> None:
        self.equation, self.name = equation, name
        self.taken = set[str]()
        for each in (group or equation).group:
            self.taken |= names_in(each.right, *each.over) | each.indices
            self.taken |= {*each.reads, each.name}

    def loops(self) -> Loops:
        """Return the indices of the result, with their ranges."""
        return tuple((index, self.size_of(axis)) for axis, index in enumerate(self.equation.at))

    def size_of(self, axis: int) -> Node:
        """Return the range of an index of the result."""
        size = self.equation.over[axis] or _side(gradient_name(self.equation), axis, self.equation)
        if size is None:
            index = self.equation.at[axis]
            raise InputError(f"{self.equation.name}: write how far {index} runs, as {index} in n")
        return size

    def fresh(self) -> str:
        """Return an index that the equation does not use."""
        free = next(each for each in _FRESH if each not in self.taken)
        self.taken.add(free)
        return free

    def summed(self, name: str, reached: list[Reached], arriving: Iterable[str] = ()) -> Equation:
        """Return the equation of a gradient: the sum of what arrives, and of what is reached."""
        at, over = self.targets(reached)
        target = tuple(zip(at, over, strict=True))
        terms: list[Node] = [Entry(each, tuple(map(Name, at))) for each in arriving]
        terms += [solved(each, target, self.fresh) for each in reached]
        right = unique(apart(reduce(plus, terms), frozenset(at)), dict(target))
        return Equation(name, at, over, right)

    def targets(self, reached: list[Reached]) -> tuple[tuple[str, ...], tuple[Node | None, ...]]:
        """Return the indices of the gradient, with their ranges."""
        if self.name == self.equation.name:
            own = tuple(self.fresh() for _ in self.equation.at)
            return own, tuple(self.size_of(axis) for axis in range(len(own)))
        at, over = [], []
        for axis, place in enumerate(reached[0].entry.at):
            size: Node | None = _side(self.name, axis, reached[0].entry)
            if isinstance(place, Name) and all(_is_own(place, axis, each) for each in reached):
                at.append(place.name)
                forward = dict(reached[0].loops)[place.name]
                size = forward if isinstance(forward, Name) else size
            else:
                at.append(self.fresh())
            over.append(size)
        return tuple(at), tuple(over)

    def entries(
        self, x: Node, adjoint: Node, loops: Loops, tests: tuple[Node, ...]
    ) -> Iterator[Reached]:
        """Yield the entries of the input in a part of the equation."""
        if not any(isinstance(y, Entry) and y.name == self.name for y in walk(x)):
            return

        def go(part: Node, by: Node, *where: Node) -> Iterator[Reached]:
            return self.entries(part, by, loops, (*tests, *where))

        match x:
            case Entry(name, _) if name == self.name:
                yield Reached(x, plain(adjoint, Remark), loops, tests)
            case Marked(body) | Remark(body, _):
                yield from go(body, adjoint)
            case Operator("neg", (a,)):
                yield from go(a, negative(adjoint))
            case Operator("+" | "-" as sign, (a, b)):
                yield from go(a, adjoint)
                yield from go(b, adjoint if sign == "+" else negative(adjoint))
            case Operator("*", (a, b)):
                yield from go(a, times(adjoint, b))
                yield from go(b, times(a, adjoint))
            case Operator("/", (a, _)) if plain(x) == defined("silu", plain(a)):
                yield from go(Function("silu", (a,)), adjoint)
            case Operator("/", (a, b)):
                yield from go(a, over(adjoint, b))
                yield from go(b, negative(over(times(adjoint, a), Operator("**", (b, TWO)))))
            case Operator("**", (a, b)):
                yield from go(a, times(adjoint, times(b, lowered(a, b))))
                yield from go(b, times(adjoint, times(x, Function("log", (a,)))))
            case Function("max" | "min" as name, (a, b)):
                wins = Operator(">" if name == "max" else "<", (a, b))  # a tie selects the second
                yield from go(a, adjoint, wins)
                yield from go(b, adjoint, opposite(wins))
            case Function(name, (a,)):
                yield from go(a, times(adjoint, replaced(SLOPES[name], {"x": a})))
            case If(_, then, otherwise) if plain(then) == plain(otherwise):
                yield from go(otherwise, adjoint)
            case If(test, then, otherwise):
                yield from go(then, adjoint, test)
                yield from go(otherwise, adjoint, opposite(test))
            case Aggregate(kind, body, index, size, where):
                tests = tests if where is None else (*tests, where)
                if kind == "max":  # ties share the gradient equally
                    is_first = Operator("==", (body, x))
                    first = is_first if where is None else all_of(where, is_first)
                    count = Aggregate("sum", ONE, index, size, first)
                    adjoint, tests = over(adjoint, count), (*tests, is_first)
                yield from self.entries(body, adjoint, (*loops, (index, size)), tests)
            case Row("hardmax"):
                raise InputError(NO_SLOPE)
            case Row():
                yield from self.row(x, adjoint, loops, tests)

    def row(
        self, x: Row, adjoint: Node, loops: Loops, tests: tuple[Node, ...]
    ) -> Iterator[Reached]:
        """Yield the entries in a row of weights A: softmax gives A * (dA - sum(A * dA))."""
        at, key = x.at, Name(self.fresh())
        own = Entry(self.equation.name, tuple(map(Name, self.equation.at)))
        is_result = x == bare(self.equation.right) and at in own.at
        weight: Node = own if is_result else x
        of_key: Node = replace(x, at=key)
        if isinstance(at, Name) and is_result:
            of_key = replaced(own, {at.name: key})
        if isinstance(at, Name) and at.name in dict(loops) and not _reads(x, at):
            # summed over the place: one row of gradients for one row of weights
            if tests:
                adjoint, tests = If(all_of(*tests), adjoint, ZERO), ()
            arriving = times(of_key, replaced(adjoint, {at.name: key}))
            mean: Node = Aggregate("sum", arriving, key.name, x.size)
            place, inner = at, loops
            outer = tuple(each for each in loops if each[0] != at.name)
        else:
            mean = times(adjoint, weight)
            place, weight, outer, inner = key, of_key, loops, (*loops, (key.name, x.size))
            adjoint = If(Operator("==", (key, at)), adjoint, ZERO)
        left = Operator("-", (adjoint, mean))
        body = replaced(x.body, {x.index: place})
        if x.kind == "share":
            counts = Operator(">", (x.body, negative(INFINITY)))
            total = Aggregate("sum", x.body, x.index, x.size, counts)
            allowed = replaced(counts, {x.index: place})
            yield from self.entries(body, over(left, total), inner, (*tests, allowed))
            return
        yield from self.entries(body, times(weight, left), inner, tests)
        rest = Operator("-", (ONE, Aggregate("sum", of_key, key.name, x.size)))
        for each in x.beside:  # their weights go to no key, so they have no gradient
            own_part: Node = rest
            if others := [Operator("-", (y, each)) for y in x.beside if y is not each]:
                own_part = over(rest, joined("+", [ONE, *(Function("exp", (y,)) for y in others)]))
            yield from self.entries(each, negative(times(own_part, mean)), outer, tests)


def _reads(x: Row, at: Name) -> bool:
    """Whether the row itself depends on the index at which it is read."""
    return at.name != x.index and at.name in names_in(x.body, *x.beside)


def _side(name: str, axis: int, of: Entry | Equation) -> Node | None:
    """Return rows(X), columns(X) or heads(X), whichever an axis is."""
    named = SIDE_OF_AXIS.get(axis - len(of.at))
    return None if named is None else Function(named, (Name(name),))


def _is_own(place: Name, axis: int, reached: Reached) -> bool:
    """Whether an index is the one at this axis, and at no other, of an entry."""
    at = reached.entry.at
    others = names_in(*(each for k, each in enumerate(at) if k != axis))
    return at[axis] == place and place.name in dict(reached.loops) and place.name not in others
