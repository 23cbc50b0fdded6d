"""Places of entries solved for their indices, and the sums over the indices that remain."""

from collections.abc import Callable
from typing import NamedTuple

from attncalc.equations.algebra import all_of, joined, split
from attncalc.equations.tree import (
    ONE,
    ZERO,
    Aggregate,
    Entry,
    Function,
    If,
    Name,
    Node,
    Number,
    Operator,
    names_in,
    rebuilt,
    replaced,
    walk,
)

Loops = tuple[tuple[str, Node], ...]
"""Indices, outermost first, and what each runs over."""
Rests = dict[str, Node | None]
"""Names that are not below 0, and for remainders what they are the remainder of."""


class Reached(NamedTuple):
    """An entry of the input, its adjoint, the indices that run over it, and where it counts."""

    entry: Entry
    adjoint: Node
    loops: Loops
    tests: tuple[Node, ...]


class _Inverse(NamedTuple):
    """The index that puts an entry at a place: how hard it is to find, and what it takes.

    rank: 0 for sums and differences alone, 1 where a remainder is summed over, 2 for a condition.
    rest: remainders that are free, and what each runs over.
    tests: where there is such an index.
    """

    rank: int
    value: Node
    rest: Loops = ()
    tests: tuple[Node, ...] = ()


def solved(
    reached: Reached, target: tuple[tuple[str, Node | None], ...], fresh: Callable[[], str]
) -> Node:
    """Return what one entry of an input adds to the gradient at a place.

    target: the indices of the gradient, and what each runs over.
    """
    adjoint, loops, tests = reached.adjoint, dict(reached.loops), list(reached.tests)
    places = list(reached.entry.at)
    sizes = [size.name for size in loops.values() if isinstance(size, Name)]
    rests: Rests = dict.fromkeys([*loops, *sizes, *(name for name, _ in target)])

    def put(index: str, value: Node) -> None:
        nonlocal adjoint, places, tests

        def change(x: Node) -> Node:
            return tidied(replaced(x, {index: value}), rests)

        adjoint, places, tests = change(adjoint), [*map(change, places)], [*map(change, tests)]

    for index, size in reached.loops:
        if size == ONE:  # a column of its own, as of means
            del loops[index]
            put(index, ZERO)
    for axis, (name, over) in enumerate(target):
        place = places[axis]
        if place == Name(name):
            tests += _within(place, loops.pop(name), name, over, rests)
            continue
        found = [
            (index, inverse)
            for index in loops
            if (inverse := _inverse(place, index, Name(name), loops, fresh)) is not None
        ]
        if not found:
            sides = (Name(name), place) if isinstance(place, Number) else (place, Name(name))
            tests.append(Operator("==", sides))
            continue
        index, inverse = min(found, key=lambda each: each[1].rank)
        size = loops.pop(index)
        loops = {**dict(inverse.rest), **loops}  # the innermost sum is a product of matrices
        rests |= dict(inverse.rest)
        value = tidied(inverse.value, rests)
        tests += [*inverse.tests, *_within(value, size, name, over, rests)]
        put(index, value)
    return _summed(adjoint, loops, tests, [name for name, _ in target])


def _inverse(
    place: Node, index: str, at: Node, loops: dict[str, Node], fresh: Callable[[], str]
) -> _Inverse | None:
    """Return the index at which a place is `at`, or None where no such formula is known."""

    def inside(x: Node) -> bool:
        return index in names_in(x)

    def go(part: Node, by: Node) -> _Inverse | None:
        return _inverse(part, index, by, loops, fresh)

    match place:
        case Name(name) if name == index:
            return _Inverse(0, at)
        case Operator("neg", (a,)):
            return go(a, Operator("neg", (at,)))
        case Operator(_, (a, b)) if inside(a) and inside(b):
            return None
        case Operator("+", (a, b)):
            return go(*((a, Operator("-", (at, b))) if inside(a) else (b, Operator("-", (at, a)))))
        case Operator("-", (a, b)):
            return go(*((a, Operator("+", (at, b))) if inside(a) else (b, Operator("-", (a, at)))))
        case Operator("*" | "//" as sign, (a, g)) if inside(a) and not names_in(g) & set(loops):
            if sign == "*":
                found = go(a, Operator("//", (at, g)))
                divides = Operator("==", (Operator("%", (at, g)), ZERO))
                return found and found._replace(rank=2, tests=(*found.tests, divides))
            rest = fresh()
            found = go(a, Operator("+", (Operator("*", (at, g)), Name(rest))))
            rank = 0 if found is None else max(found.rank, 1)
            return found and found._replace(rank=rank, rest=((rest, g), *found.rest))
    return None


def _within(value: Node, size: Node, name: str, over: Node | None, rests: Rests) -> list[Node]:
    """Return the conditions for an index from 0 to below its size."""
    tests: list[Node] = [] if _is_natural(value, rests) else [Operator("<=", (ZERO, value))]
    match value:
        case Name(index) if index == name and over in split("+", size):
            return tests
        case Operator("+", (Name(index), a)) if index == name and over is not None:
            if size in (Operator("+", (a, over)), Operator("+", (over, a))):
                return tests
        case Operator("+", (Operator("*", (Name(index), g)), Name())) if index == name:
            # t * g + r for t in T and r in g
            if over is not None and (
                size in (Operator("*", (over, g)), Operator("*", (g, over)))
                or g == Operator("//", (size, over))
            ):
                return tests
    return [*tests, Operator("<", (value, size))]


def _is_natural(x: Node, rests: Rests) -> bool:
    """Whether an expression of indices and sizes is plainly not below 0."""
    match x:
        case Number(value):
            return value >= 0
        case Name(name):
            return name in rests
        case Operator("+" | "*" | "//" | "%", (a, b)):
            return _is_natural(a, rests) and _is_natural(b, rests)
    return isinstance(x, Function)  # rows(X), columns(X) or heads(X)


def tidied(x: Node, rests: Rests) -> Node:
    """Return a tree with simplified places and conditions: (t * g + r) // g is t."""
    x = rebuilt(x, lambda y: tidied(y, rests))
    if isinstance(x, If) and x.test == _TRUE:
        return x.then
    if not isinstance(x, Operator) or any(isinstance(y, Entry) for y in walk(x)):
        return x
    match x:
        case Operator("-", (Operator("+", (a, b)), c)) if c in (a, b):
            return a if c == b else b
        case Operator("+", (Operator("-", (a, b)), c)) if b == c:
            return a
        case Operator("//" | "%" as sign, (a, g)):
            terms = [(term, _quotient(term, g)) for term in split("+", a)]
            whole = [quotient for _, quotient in terms if quotient is not None]
            left = [term for term, quotient in terms if quotient is None]
            rest = joined("+", left)
            is_rest = not left or (isinstance(rest, Name) and rests.get(rest.name) == g)
            if sign == "%":
                return rest if is_rest else Operator("%", (rest, g))
            if not is_rest:
                whole.append(Operator("//", (rest, g)))
            return joined("+", whole)
        case Operator(">=", (Operator("+", (a, b)), c)) if b == c and _is_natural(a, rests):
            return _TRUE
        case Operator(">=", (a, Number(value))) if value == 0 and _is_natural(a, rests):
            return _TRUE
        case Operator(">", (Operator("+", (a, Number(b))), Number(c))) if b > c and _is_natural(
            a, rests
        ):
            return _TRUE
    return x


_TRUE = Operator("==", (ZERO, ZERO))


def _quotient(x: Node, g: Node) -> Node | None:
    """Return x / g where g is among the factors of a product, else None."""
    have = split("*", x)
    for each in split("*", g):
        if each not in have:
            return None
        have.remove(each)
    return joined("*", have)


def _summed(adjoint: Node, loops: dict[str, Node], tests: list[Node], target: list[str]) -> Node:
    """Return an adjoint summed over the indices that run over it, where the conditions hold."""
    if isinstance(adjoint, Operator) and adjoint.sign == "neg":
        return Operator("neg", (_summed(adjoint.arguments[0], loops, tests, target),))
    factors = _cancelled(split("*", adjoint))
    tests = [test for test in dict.fromkeys(tests) if test != _TRUE]
    left = dict(loops)
    while left:
        reads = {index: [f for f in factors if index in names_in(f)] for index in left}
        index = min(reversed(left), key=lambda each: len(reads[each]))
        size = left.pop(index)
        where = [test for test in tests if index in names_in(test)]
        tests = [test for test in tests if test not in where]
        body = joined("*", _in_order(reads[index] or factors, target))
        place = factors.index((reads[index] or factors)[0])
        made = Aggregate("sum", body, index, size, all_of(*where) if where else None)
        others = [f for f in factors if f not in reads[index]] if reads[index] else []
        factors = [*others[:place], made, *others[place:]]
    out = joined("*", factors)
    return If(all_of(*tests), out, ZERO) if tests else out


def _cancelled(factors: list[Node]) -> list[Node]:
    """Return factors without a number that one of them is divided by: x / 2 * 2."""
    for k, each in enumerate(factors):
        match each:
            case Operator("/", (a, Number() as by)) if by in factors:
                factors[k] = a
                factors.remove(by)
                return _cancelled(factors)
    return factors


def _in_order(factors: list[Node], target: list[str]) -> list[Node]:
    """Return two entries as a product of matrices reads them: dS[i,j] * Q[i,c] at [j,c]."""
    match factors:
        case [Entry(_, first), Entry(_, second)] if len(target) > 1:
            row = Name(target[-2])
            if row in second and row not in first:
                return [factors[1], factors[0]]
    return factors
