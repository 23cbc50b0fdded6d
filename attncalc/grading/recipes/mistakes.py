"""Well-known mistakes in a step, as equations in `mistakes.eq`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from pkgutil import get_data
from typing import NamedTuple

from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operation import NAMES_HEADS, PLAIN, Setting, Stated, Statement
from attncalc.equations.operations.entrywise import KINDS
from attncalc.equations.operations.products import Project
from attncalc.equations.tree import Name, chosen, equation_source, names_in, parse, read
from attncalc.grading.recipes.common import Steps, Wrong, by_equation
from attncalc.problem.attention.attention import Attention
from attncalc.problem.gradients.naming import is_of_the_way_back
from attncalc.problem.problem import Problem
from attncalc.problem.step import Step

_MISTAKE = re.compile(r"    ([\w:-]+): (?>(.*?)  # )(.*)")
_WHOLE = re.compile(r"\w+\[[^\]]*\] = ")
_BRACES = re.compile(r"\{([^{}|]+)\}")


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
    inputs = (name for name in inputs_of(found.name, found.given) if name not in found.tables)
    names = dict(zip(inputs, step.inputs, strict=True))
    result = equation(name, found.given).name
    numbers = {**found.settings, **({} if attention is None else _numbers(attention))}
    if attention is not None:
        names |= {"tokens": _tokens_of_values(attention)}
    known = {*names, *problem.names, *steps}
    given = found.given | _flags(step, attention)
    if int(found.settings.get("sharing", 1)) > 1:
        given |= {"shared"}
    for code, text, clause in _mistakes()[name]:
        if not (right := chosen(text, given)):
            continue
        wrong = _wrong(name, found.given, right)
        if known.issuperset({*wrong.reads} - {result}) and wrong.numbers <= numbers.keys():
            made = Stated(Statement(wrong.text, settings=numbers))
            if wrong.names_heads:
                made = Stated(made.stated.with_flags(**{NAMES_HEADS: True}))
            reads = [None if each == result else names.get(each, each) for each in wrong.reads]
            words = names | {key: str(value) for key, value in numbers.items()}
            says = _says(chosen(clause, given), words, step, problem)
            yield code, says, partial(by_equation, step, made, reads)


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
    return {name for name, holds in flags.items() if holds}


def _numbers(problem: Attention) -> dict[str, Setting]:
    """Return the sizes that may scale scores."""
    if problem.start:
        return {}
    d_k = problem.d_k
    found = {"d_k": d_k, "d_heads": problem.n_heads * d_k, "queries": problem.n, "keys": problem.m}
    tokens = [problem.given[X].shape[-1] for X in ("X", "X1", "X2") if X in problem.names]
    return found | dict(zip(("d_model", "d_other"), tokens, strict=False))


def _tokens_of_values(problem: Attention) -> str:
    usual = "X" if problem.kind == "self" else "X2"
    return usual if problem.value_source == "V" else problem.value_source


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
