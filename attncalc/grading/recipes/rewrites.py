"""Mistakes in any equation, also those of users: its tree with one node changed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations

from attncalc.equations.algebra import plain
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operation import PLAIN, Stated
from attncalc.equations.tree import (
    Aggregate,
    Entry,
    Equation,
    Function,
    If,
    Name,
    Node,
    Operator,
    Row,
    equation_source,
    names_in,
    parts,
    rebuilt,
    replaced,
    source,
    walk,
)
from attncalc.grading.recipes.common import Wrong, by_equation
from attncalc.problem.step import Step

MOST = 40
"""The largest number of changes of one equation that are tried."""
OTHER = {"<=": "<", "<": "<=", ">=": ">", ">": ">="}
"""Conditions that are off by one."""
Change = tuple[str, str, Node]
"""A code, a clause, and the node that replaces another."""


def of_rewritten(step: Step) -> Iterator[Wrong]:
    """Yield the equation of a step with one change."""
    found = step.operation.statement(*[PLAIN] * len(step.inputs))
    found = found._replace(name=found.name.removeprefix("Grouped"))
    own = equation(found.name, found.given)
    own = replace(own, right=plain(own.right), taught=())
    inputs = (name for name in inputs_of(found.name, found.given) if name not in found.tables)
    names = dict(zip(inputs, step.inputs, strict=True))
    seen = {equation_source(own)}
    for code, says, right in _changed(own, names):
        text = equation_source(replace(own, right=right))
        if text not in seen and len(seen) <= MOST:
            seen.add(text)
            code, says = (each.replace("[0,0]", "") for each in (code, says))
            reads = [names[name] for name in inputs_of(text) if name in names]
            made = Stated(found._replace(name=text))
            yield f"equation-{code}", says, partial(by_equation, step, made, reads)


def _changed(own: Equation, names: dict[str, str]) -> Iterator[Change]:
    """Yield the right-hand side with one node changed, in all known ways."""
    for node in own.nodes:
        for code, says, other in _instead(node, own, names):
            yield code, says, _with(own.right, node, other)
    entries = [x for x in own.nodes if isinstance(x, Entry) and x.name in names]
    listed = dict.fromkeys(x.name for x in entries)
    for name in listed:
        if all(len(x.at) > 1 for x in entries if x.name == name):
            turned = _everywhere(own.right, partial(_transposed, name=name))
            yield f"transposed:{names[name]}", f"{names[name]} is transposed", turned
    for one, two in combinations(listed, 2):
        swapped = _everywhere(own.right, partial(_renamed, names={one: two, two: one}))
        says = f"{names[one]} and {names[two]} are exchanged"
        yield f"exchanged:{names[one]},{names[two]}", says, swapped


def _instead(x: Node, own: Equation, names: dict[str, str]) -> Iterator[Change]:
    """Yield the nodes that may replace a node by mistake."""

    def text(node: Node) -> str:
        return source(_everywhere(node, partial(_renamed, names=names)))

    match x:
        case Operator("/", (a, b)):
            yield f"no-division:{text(b)}", f"the division by {text(b)} is left out", a
        case Operator("*", (a, b)):
            for factor, rest in ((a, b), (b, a)):
                if _is_number(factor, own) or _is_of_entry(factor, own):
                    said = f"the factor {text(factor)} is left out"
                    yield f"no-factor:{text(factor)}", said, rest
        case Operator("**", (a, b)):
            yield f"no-power:{text(b)}", f"the power of {text(b)} is left out", a
        case Operator("neg", (a,)):
            yield "sign", "the minus is left out", a
        case Operator("-", (a, b)):
            yield "added", f"{text(b)} is added, and not subtracted", Operator("+", (a, b))
            yield "no-term", f"{text(b)} is left out", a
        case Operator("+", (a, b)):
            yield "no-term", f"{text(b)} is left out", a
            yield "no-term", f"{text(a)} is left out", b
        case Function(name, (a,)) if any(isinstance(y, Entry) for y in walk(a)):
            yield f"no-function:{name}", f"{name} is left out", a
        case If(Operator(sign, ends) as test, then, otherwise) if sign in OTHER:
            near = If(Operator(OTHER[sign], ends), then, otherwise)
            said = f"{text(test)} is taken as {text(near.test)} (off by one)"
            yield f"off-by-one:{text(test)}", said, near
            yield f"no-condition:{text(test)}", f"the condition {text(test)} is left out", then
        case If(test, then, _):
            yield f"no-condition:{text(test)}", f"the condition {text(test)} is left out", then
        case Row(kind, body, index, _, (), Name(at)) if at in own.at and len(own.at) > 1:
            other = own.at[-2] if at == own.at[-1] else own.at[-1]
            size = own.sizes.get(other)
            if size is not None:
                along = replaced(replaced(body, {index: Name(at)}), {other: Name(index)})
                made = Row(kind, along, index, size, (), Name(other))
                yield f"{kind}-across", f"{kind} is taken along the other axis", made
        case Aggregate("sum", _, _, size, None):
            yield "mean", "the mean is taken, and not the sum", Operator("/", (x, size))


def _is_number(x: Node, own: Equation) -> bool:
    """Return whether a factor is a number, or the only entry of a matrix."""
    is_plain = all(not isinstance(y, Aggregate | Row) for y in walk(x))
    return is_plain and not names_in(x) & own.indices


def _is_of_entry(x: Node, own: Equation) -> bool:
    """Return whether a factor is the entry of another matrix at the same place, like a gate."""
    return isinstance(x, Entry) and x.at == tuple(map(Name, own.at))


def _with(x: Node, node: Node, other: Node) -> Node:
    """Return a tree with one of its nodes, by identity, replaced."""
    return other if x is node else rebuilt(x, lambda y: _with(y, node, other))


def _everywhere(x: Node, change: Callable[[Node], Node]) -> Node:
    made = rebuilt(x, lambda y: _everywhere(y, change)) if parts(x) else x
    return change(made)


def _transposed(x: Node, name: str) -> Node:
    if isinstance(x, Entry) and x.name == name:
        return Entry(name, (*x.at[:-2], x.at[-1], x.at[-2]))
    return x


def _renamed(x: Node, names: dict[str, str]) -> Node:
    return Entry(names.get(x.name, x.name), x.at) if isinstance(x, Entry) else x
