"""Mistakes in a step as equations: well-known ones of `mistakes.eq`, and any single change.

A change is of one node of the tree: also in equations of users.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from pkgutil import get_data
from typing import NamedTuple

from attncalc.equations.algebra import plain
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operation import NAMES_HEADS, PLAIN, Setting, Stated, Statement
from attncalc.equations.operations.assembling import Stack
from attncalc.equations.operations.entrywise import KINDS
from attncalc.equations.operations.products import Project
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
    chosen,
    equation_source,
    names_in,
    parse,
    parts,
    read,
    rebuilt,
    replaced,
    source,
    walk,
)
from attncalc.grading.recipes.common import Steps, Wrong, by_equation
from attncalc.grading.recipes.inputs import scale_of
from attncalc.problem.attention.attention import Attention
from attncalc.problem.gradients.naming import is_of_the_way_back
from attncalc.problem.problem import Problem
from attncalc.problem.step import Step

_MISTAKE = re.compile(r"    ([\w:-]+): (?>(.*?)  # )(.*)")
_WHOLE = re.compile(r"\w+\[[^\]]*\] = ")
_BRACES = re.compile(r"\{([^{}|]+)\}")
MOST = 40
"""The largest number of changes of one equation that are tried."""
OTHER = {"<=": "<", "<": "<=", ">=": ">", ">": ">="}
"""Conditions that are off by one."""
Change = tuple[str, str, Node]
"""A code, a clause, and the node that replaces another."""


class _Wrong(NamedTuple):
    """An equation that is computed instead: its text, and the names that it requires."""

    text: str
    reads: tuple[str, ...]
    numbers: frozenset[str]
    names_heads: bool


@cache
def _mistakes() -> Mapping[str, list[tuple[str, str, str]]]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    names: list[str] = []
    for line in (get_data(__package__, "mistakes.eq") or b"").decode().splitlines():
        if mistake := _MISTAKE.fullmatch(line):
            for name in names:
                found.setdefault(name, []).append((mistake[1], mistake[2], mistake[3]))
        elif line and not line.startswith("#"):
            names = line.split(", ")
    return found


def codes() -> Iterator[str]:
    """Yield the codes of all mistakes."""
    yield from (code for listed in _mistakes().values() for code, *_ in listed)


@cache
def _wrong(name: str, given: frozenset[str], right: str) -> _Wrong:
    own = equation(name, given)
    if _WHOLE.match(right):
        made = parse(right, None)
    else:
        made = replace(own, name="Z", right=read(right), taught=())
    sizes = {size.name for size in made.sizes.values() if isinstance(size, Name)}
    numbers = names_in(made.right, *made.over) - made.indices - sizes - {*made.reads}
    text = equation_source(made)
    return _Wrong(text, inputs_of(text), frozenset(numbers), len(made.at) > 2)


def of_equation(
    step: Step, problem: Problem | Attention, steps: Steps, attention: Attention | None
) -> Iterator[Wrong]:
    """Yield the well-known mistakes in the equation of a step."""
    found = step.operation.statement(*[PLAIN] * len(step.inputs))
    name = found.name.removeprefix("Grouped")
    if name not in _mistakes():
        return
    inputs = [name for name in inputs_of(found.name, found.given) if name not in found.tables]
    names = dict(zip(inputs, step.inputs, strict=True))
    result = equation(name, found.given).name
    numbers = {**found.settings, **({} if attention is None else _numbers(attention))}
    if attention is not None:
        usual = "X" if attention.kind == "self" else "X2"
        names |= {"tokens": (usual if attention.value_source == "V" else attention.value_source)}
    names |= _class_token(step, steps)
    known = {*names, *problem.names, *steps}
    given = found.given | _flags(step, attention) | {*found.tables}
    given |= {"token"} & names.keys() | {name for name, n in found.settings.items() if n}
    if int(found.settings.get("sharing", 1)) > 1:
        given |= {"shared"}
    for code, text, clause in _mistakes()[name]:
        if not (right := chosen(text, given)):
            continue
        wrong = _wrong(name, found.given, right)
        inputs = [each for each in wrong.reads if each not in found.tables]
        if known.issuperset({*inputs} - {result}) and wrong.numbers <= numbers.keys():
            made = Stated(Statement(wrong.text, settings=numbers, tables=found.tables))
            if wrong.names_heads:
                made = Stated(made.stated.with_flags(**{NAMES_HEADS: True}))
            reads = [None if each == result else names.get(each, each) for each in inputs]
            words = names | {key: str(value) for key, value in numbers.items()}
            says = _says(chosen(clause, given), words, step, problem)
            yield code, says, partial(by_equation, step, made, reads)


def _class_token(step: Step, steps: Steps) -> dict[str, str]:
    """Return the name of the class token that tokens begin with, to which positions are added."""
    tokens = steps.get(step.inputs[0])
    if tokens is None or not (step.name.endswith("_P") and isinstance(tokens.operation, Stack)):
        return {}
    return {"token": tokens.inputs[0]}


def _flags(step: Step, attention: Attention | None) -> set[str]:
    """Return the flags for conditions in `mistakes.eq`, in addition to those of the equation."""
    is_back, is_layer = is_of_the_way_back(step.name), attention is None
    is_sum = not is_back and step.operation.name == "Add"
    outputs = is_sum and step.role == "outputs" and not is_layer
    embeds = is_sum and not outputs and (not is_layer or step.name.endswith("_P"))
    flags = {
        "back": is_back,
        "layer": is_layer,
        "outputs": outputs,
        "positions": embeds,
        "embedded": embeds and is_layer,
        "residual": is_sum and not outputs and not embeds,
        "scored": step.name in ("Q_S", "K_S"),
    }
    if attention is not None:
        heads = attention.n_heads if step.rows == "queries" else attention.n_kv_heads
        is_projection = isinstance(step.operation, Project) and step.role != "outputs"
        flags["split"] = is_projection and heads > 1
        flags["tiled"] = 1 < attention.n_kv_heads < attention.n_heads
        flags["values"] = not attention.is_bare("V")
        flags["several"] = attention.n_heads > 1
        flags["scaled"] = scale_of(attention) != 1
        flags["unasked"] = attention.scale == "none"
        flags["wide"] = attention.d_k > 1
    return {name for name, holds in flags.items() if holds}


def _numbers(problem: Attention) -> dict[str, Setting]:
    """Return the sizes that may scale scores, and their scale."""
    found: dict[str, Setting] = {"scale": scale_of(problem)}
    if problem.start:
        return found
    d_k = problem.d_k
    found |= {"d_k": d_k, "d_heads": problem.n_heads * d_k, "queries": problem.n, "keys": problem.m}
    tokens = [problem.given[X].shape[-1] for X in ("X", "X1", "X2") if X in problem.names]
    return found | dict(zip(("d_model", "d_other"), tokens, strict=False))


def _says(clause: str, words: Mapping[str, str], step: Step, problem: Problem | Attention) -> str:
    standing = problem.standing
    words = {
        **words,
        "step": step.name,
        "line": standing.line,
        "across": standing.line_across,
        "activation": KINDS[kind].title if (kind := getattr(step.operation, "kind", "")) else "",
    }

    def word(part: re.Match[str]) -> str:
        if part[1] in words:
            return words[part[1]]
        pair = ((x.removesuffix("ᵀ"), x) for x in part[1].split())
        left, right = (words.get(name, name) + x[len(name) :] for name, x in pair)
        return " ".join(standing.pair(left, right))

    return _BRACES.sub(word, clause)


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
                if _is_number(factor, own) or (
                    isinstance(factor, Entry) and factor.at == tuple(map(Name, own.at))
                ):
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
