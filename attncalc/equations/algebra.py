"""Builds expressions: products, quotients and sums, without ones and double signs."""

from functools import reduce

from attncalc.equations.tree import (
    COMPARISONS,
    ONE,
    ZERO,
    Aggregate,
    Marked,
    Node,
    Number,
    Operator,
    Remark,
    Row,
    names_in,
    rebuilt,
    renamed,
)

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def negative(x: Node) -> Node:
    """Return -x."""
    return x.arguments[0] if isinstance(x, Operator) and x.sign == "neg" else Operator("neg", (x,))


def times(a: Node, b: Node) -> Node:
    """Return a * b; a sign of either is put before the product."""
    match a, b:
        case Operator("neg", (inner,)), _:
            return negative(times(inner, b))
        case _, Operator("neg", (inner,)):
            return negative(times(a, inner))
    if ONE in (a, b):
        return b if a == ONE else a
    return Operator("*", (a, b))


def over(a: Node, b: Node) -> Node:
    """Return a / b."""
    match a:
        case Operator("neg", (inner,)):
            return negative(over(inner, b))
    return Operator("/", (a, b))


def plus(a: Node, b: Node) -> Node:
    """Return a + b."""
    match b:
        case Operator("neg", (inner,)):
            return Operator("-", (a, inner))
    return Operator("+", (a, b))


def lowered(a: Node, power: Node) -> Node:
    """Return a ** (power - 1)."""
    if not isinstance(power, Number):
        return Operator("**", (a, Operator("-", (power, ONE))))
    if power.value in (1, 2):
        return ONE if power.value == 1 else a
    return Operator("**", (a, Number(power.value - 1)))


def split(sign: str, x: Node) -> list[Node]:
    """Return the terms of a sum, or the factors of a product."""
    match x:
        case Operator(own, (a, b)) if own == sign:
            return [*split(sign, a), *split(sign, b)]
    return [x]


def factors(x: Node) -> list[Node]:
    """Return the factors of a product, those within marks and remarks included."""
    match bare(x):
        case Operator("*", (a, b)):
            return [*factors(a), *factors(b)]
        case factor:
            return [factor]


def joined(sign: str, listed: list[Node]) -> Node:
    """Return the sum of terms, or the product of factors."""
    if not listed:
        return ZERO if sign == "+" else ONE
    return reduce(lambda a, b: Operator(sign, (a, b)), listed)


def opposite(test: Node) -> Node:
    """Return the negation of a condition."""
    if isinstance(test, Operator) and test.sign in COMPARISONS:
        return Operator(_OPPOSITE[test.sign], test.arguments)
    return Operator("not", (test,))


def all_of(*tests: Node) -> Node:
    """Return the conjunction of conditions."""
    return tests[0] if len(tests) == 1 else Operator("and", tests)


def bare(x: Node, *kinds: type) -> Node:
    """Return a node without the marks and remarks around it, or without one kind."""
    while isinstance(x, Marked | Remark) and isinstance(x, kinds or object):
        x = x.body
    return x


def plain(x: Node, *kinds: type) -> Node:
    """Return a tree without marks and remarks, or without one kind."""
    return rebuilt(bare(x, *kinds), lambda y: plain(y, *kinds))


def apart(x: Node, used: frozenset[str]) -> Node:
    """Return a tree in which nested sums bind different indices."""
    if isinstance(x, Aggregate | Row):
        index = x.index
        while index in used or (index != x.index and index in names_in(x)):
            index += "1"
        x, used = renamed(x, index), used | {index}
    return rebuilt(x, lambda y: apart(y, used))
