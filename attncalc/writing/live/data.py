"""A problem as the page's script reads it: its plans, and what was typed, as texts."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from attncalc import text
from attncalc.equations.expressions import Symbol
from attncalc.errors import AttncalcError
from attncalc.numbers.types import Matrix
from attncalc.operations.step import Plan, Step
from attncalc.problem.attention.fields import DISPLAY, EACH_STEP
from attncalc.problem.fields import role_of
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import as_typed, in_json, settings
from attncalc.problem.stated import conventions
from attncalc.solving.exactness import digits_for, most_digits
from attncalc.solving.plan import formula, plan
from attncalc.text import harmless, on_a_line, told_apart
from attncalc.writing import prose, sentences
from attncalc.writing.html import heatmap, picture
from attncalc.writing.html import map as map_
from attncalc.writing.live.mirrored import step_in_data, unknown_in
from attncalc.writing.mathematics import in_text

NO_NUMBER = ("sqrt_dk", "none")
ANY_NUMBER = "2"
"""Stands in a plan for a number that a reader is going to choose."""
HARDMAX = "hardmax"
MOST_ENTRIES = 20_000
"""Entries of given matrices up to which a page holds plans for other conventions, too."""

LOOK = {
    "deep": heatmap.DEEP,
    "middle": heatmap.MIDDLE,
    "full": heatmap.FULL_FROM,
    "thinnest": map_.THINNEST,
    "thickest": map_.THICKEST,
    "near": map_.NEAR,
    "between": map_.BETWEEN,
    "written": map_.MOST_WRITTEN,
    "tied": map_.MOST_TIED,
    "letter": picture.LETTER,
    "listed": text.LISTED,
    "named": text.MOST_NAMED,
    "footnotes": prose.MOST_NAMED,
    "heads": sentences.MOST_HEADS_TOLD,
}
"""What pictures are drawn with, and how long sentences are, that are made again."""


def live_data(problem: Problem, *, in_fractions: bool = False) -> dict[str, Any]:
    """Return all that the script needs to work the problem out.

    Of a page in fractions, which of its steps keep fractions, too.
    """
    steps = plan(problem)
    digits = digits_for(problem, steps)
    return {
        "settings": _settings(problem),
        "digits": None if digits is None else digits._asdict(),
        "given": {name: given_data(problem, name) for name in problem.names},
        "steps": [step_in_data(step, in_fractions=in_fractions) for step in steps],
    }


def page_data(problem: Problem, *, in_fractions: bool = False) -> dict[str, Any]:
    """Return the same with what a reader may change, and what is said then."""
    known: dict[str, int] = {}
    texts: dict[str, int] = {}
    number_of = partial(_number_of, known=known, in_fractions=in_fractions)
    plans = {
        key: {
            "steps": [number_of(each, other) for each in steps],
            "most": most_digits(other, steps),
            "conventions": {
                rounding: [texts.setdefault(each, len(texts)) for each in said]
                for rounding, said in _conventions(other)
            },
        }
        for key, other, steps in _plans(problem)
    }
    return live_data(problem, in_fractions=in_fractions) | {
        "steps": [json.loads(each) for each in known],
        "plans": plans,
        "texts": list(texts),
        "look": LOOK,
        "problem": in_json(problem),
        "weights": {step.name: _labels(problem, step) for step in plan(problem)
                    if step.role == "weights"},
    }  # fmt: skip


def practice_data(problem: Problem, *, in_fractions: bool = False) -> dict[str, Any]:
    """Return what a worksheet tells by what is right: the problem, and its own plan."""
    return live_data(problem, in_fractions=in_fractions) | {"problem": in_json(problem)}


def _conventions(problem: Problem) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what is said of a plan under either rounding: not only that line depends on it."""
    for rounding in (DISPLAY, EACH_STEP):
        is_own = rounding == problem.rounding
        yield rounding, conventions(problem if is_own else replace(problem, rounding=rounding))


def key_of(problem: Problem) -> str:
    """Return what the plan of a problem depends on, of all that a reader may change."""
    scale = problem.scale if problem.scale in NO_NUMBER else "number"
    cap = "none" if problem.softcap is None else "number"
    return f"{scale}|{str(problem.causal).lower()}|{cap}|{problem.normalizer}"


def _plans(problem: Problem) -> Iterator[tuple[str, Problem, Plan]]:
    """Yield the problem's own plan, and those under other conventions of all its attentions."""
    yield key_of(problem), problem, plan(problem)
    entries = sum(problem.stored(name).size for name in problem.names)
    if not problem.attentions or entries > MOST_ENTRIES:
        return
    scale = ANY_NUMBER if problem.scale in NO_NUMBER else problem.scale
    cap = ANY_NUMBER if problem.softcap is None else problem.softcap
    normalizers = dict.fromkeys([problem.normalizer, HARDMAX])
    if problem.normalizer != "softmax":
        normalizers.pop(HARDMAX, None)
        normalizers[problem.normalizer] = None
    for choice in product((*NO_NUMBER, scale), (False, True), (None, cap), normalizers):
        names = ("scale", "causal", "softcap", "normalizer")
        try:
            other = replace(problem, **dict(zip(names, choice, strict=True)), asked=None)
            steps = plan(other)
        except AttncalcError:  # a mask that leaves nothing to a query, say
            continue
        is_new = key_of(other) != key_of(problem)
        if is_new and unknown_in(steps) is None and _are_of_all(other):
            yield key_of(other), other, steps


def _are_of_all(problem: Problem) -> bool:
    """Say whether the conventions of a problem are those of all its attentions.

    One may have its own. A causal mask is not of those that read what another one gives.
    """
    first, *_ = problem.attentions
    own = (problem.scale, problem.softcap, problem.normalizer)
    return first.causal == problem.causal and all(
        (each.scale, each.softcap, each.normalizer) == own
        and each.causal in (problem.causal, False)
        for each in problem.attentions
    )


def _number_of(step: Step, problem: Problem, *, known: dict[str, int], in_fractions: bool) -> int:
    """Return the place of a step among all that are known; most plans have most of them."""
    equation = f"{in_text(Symbol(step.name))} = {in_text(formula(step, problem))}"
    said = json.dumps(step_in_data(step, in_fractions=in_fractions) | {"equation": equation})
    return known.setdefault(said, len(known))


def _labels(problem: Problem, step: Step) -> dict[str, list[str]]:
    attention = problem.attention_of(step.name)
    sides = {"inputs": attention.keys, "outputs": attention.queries}
    said = {side: [on_a_line(name) for name in names] for side, names in sides.items()}
    return said | {"named": [harmless(name) for name in told_apart(attention.queries)]}


def _settings(problem: Problem) -> dict[str, Any]:
    said = settings(problem)
    return {
        "decimals": problem.decimals,
        "rounding": problem.rounding,
        "scale": said["scale"],
        "softcap": said.get("softcap"),
        "softcap_out": said.get("softcap_out"),
        "step": said.get("step"),
        "causal": problem.causal,
        "normalizer": problem.normalizer,
        "layout": problem.layout,
    }


def given_data(problem: Problem, name: str) -> dict[str, Any]:
    """Return a given matrix as the plan reads it, and where each entry stands in what was given."""
    as_given = problem.as_given(name)
    places = np.arange(as_given.size).reshape(as_given.shape)
    read = problem.given_as_typed[name]
    stands = problem.turned(name, places).ravel().tolist()
    return {
        "role": role_of(name),
        "shape": _shape(read),
        "entries": [as_typed(value) for value in read.flat],
        **({} if stands == list(range(as_given.size)) else {"from": stands}),
        "given": _shape(as_given),
    }


def _shape(matrix: Matrix) -> list[int]:
    """Return heads (0 for none), rows and columns."""
    return [0, *matrix.shape] if matrix.ndim == 2 else list(matrix.shape)
