"""A problem for the script of a page: its plans as equations, and typed values as texts."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from attncalc.base import text
from attncalc.base.errors import AttncalcError
from attncalc.base.text import distinct_names, harmless, on_a_line
from attncalc.base.typed import as_written
from attncalc.base.types import Matrix
from attncalc.equations.expressions import Symbol
from attncalc.equations.library import equation, inputs_of
from attncalc.equations.operation import PLAIN, Shape, Stated, UnstatedError, is_grouped
from attncalc.equations.operations.distances import Alibi, exponents_of_slopes
from attncalc.equations.operations.entrywise import Multiply
from attncalc.equations.tree import equation_source
from attncalc.languages.catalogue import catalogue
from attncalc.problem.attention.declared import DISPLAY, EACH_STEP
from attncalc.problem.fields import role_of
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import as_typed, in_json, settings
from attncalc.problem.stated import conventions
from attncalc.problem.step import Plan, Step
from attncalc.solving.exactness import digits_for, longest_product, most_digits
from attncalc.solving.plan import formula, plan
from attncalc.solving.work import Fractions
from attncalc.writing import prose, sentences
from attncalc.writing.html import pictures
from attncalc.writing.mathematics import in_text

NO_NUMBER = ("sqrt_dk", "none")
ANY_NUMBER = "2"
"""A placeholder in a plan for a number that the reader chooses."""
HARDMAX = "hardmax"
CHOSEN = Fraction(987654321)
"""A number to find in an equation, where a number that a reader chooses is."""
CAPPED = ("SoftCap", "SoftCapBack")
LONGEST_NAME = 80
"""Characters in the name of a downloaded file."""
MOST_ENTRIES = 20_000
"""Entries of given matrices up to which a page contains plans for other conventions, too."""

LOOK = {
    "deep": pictures.DEEP,
    "middle": pictures.MIDDLE,
    "full": pictures.FULL_FROM,
    "thinnest": pictures.THINNEST,
    "thickest": pictures.THICKEST,
    "near": pictures.NEAR,
    "between": pictures.BETWEEN,
    "written": pictures.MOST_WRITTEN,
    "tied": pictures.MOST_TIED,
    "letter": pictures.LETTER,
    "listed": text.LISTED,
    "named": text.MOST_NAMED,
    "footnotes": prose.MOST_NAMED,
    "heads": sentences.MOST_HEADS_TOLD,
}
"""The appearance of pictures and the length of sentences that the script makes again."""

TOLD: Mapping[str, Mapping[str, Any]] = {
    "Rotate": {"own": True},
    "SoftCap": {"written": True},
    "SoftmaxBack": {"exact": "A"},
}
"""The remarks of `explain` that differ from the equations, for some operations.

Among fractions, whether given numbers, or computed numbers, are decimals; and the input that must
be rational for an entry to count as rational, or None.
"""


def live_data(problem: Problem, fractions: Fractions | None = None) -> dict[str, Any]:
    """Return a problem as the interpreter of equations in a page reads it.

    Returns `given` matrices as typed; the `steps`, see `stated_steps`; `settings` and `digits` of
    the problem, and `fractions`. Raises UnstatedError if no equation states one of its steps.
    """
    steps = plan(problem)
    return _facts(problem, fractions, steps) | {"steps": stated_steps(problem, steps)}


def _facts(problem: Problem, fractions: Fractions | None, steps: Plan) -> dict[str, Any]:
    digits, said = digits_for(problem, steps), settings(problem)
    numbers = {name: said.get(name) for name in ("scale", "softcap", "softcap_out", "step")}
    shown = {"decimals": problem.decimals, "rounding": problem.rounding, **numbers}
    shown |= {name: getattr(problem, name) for name in ("causal", "normalizer", "layout")}
    return {
        "settings": shown,
        "digits": None if digits is None else digits._asdict(),
        "fractions": fractions,
        "given": {name: given_data(problem, name) for name in problem.names},
    }


def page_data(
    problem: Problem, fractions: Fractions | None = None, *, others: bool = True
) -> dict[str, Any]:
    """Return the same with settings that a reader may change, and plans for other conventions."""
    known: dict[str, int] = {}
    texts: dict[str, int] = {}
    plans = {
        key: {
            "steps": [known.setdefault(json.dumps(each), len(known)) for each in said],
            "most": most_digits(other, steps),
            "longest": longest_product(steps),
            "conventions": {
                rounding: [texts.setdefault(x, len(texts)) for x in conventions(other, rounding)]
                for rounding in (DISPLAY, EACH_STEP)  # several lines depend on it
            },
        }
        for key, other, steps, said in _plans(problem, others=others)
    }
    return _facts(problem, fractions, plan(problem)) | {
        "steps": [json.loads(each) for each in known],
        "plans": plans,
        "texts": list(texts),
        "look": LOOK,
        "problem": in_json(problem),
        "weights": {step.name: _labels(problem, step) for step in plan(problem)
                    if step.role == "weights"},
    }  # fmt: skip


def unmarked_data(problem: Problem) -> dict[str, Any]:
    """Return the data of a worksheet that marks nothing: whose it is, and the name of its download.

    The problem itself is left out: it may state the seed that it was made with.
    """
    words = re.findall(r"[^\W_]+", f"{problem.student.partition(' (')[0]} {problem.title}".lower())
    file = "-".join(words)[:LONGEST_NAME] if problem.student else "answers"
    said = {"title": problem.title, "student": problem.student, "code": problem.code}
    return {"problem": {name: text for name, text in said.items() if text}, "file": f"{file}.json"}


def language_data(problem: Problem, source: str) -> dict[str, Any]:
    """Return the words of a script in the language of a problem, and its decimal comma."""
    words = catalogue(problem.language)
    return {"words": words.within(source), "comma": words.has_comma}


def stated_steps(problem: Problem, steps: Plan) -> list[dict[str, Any]]:
    """Return steps as data, each after those it reads.

    Each has its `name`, `title` and `role`; its `equation` as computed, and the shown `formula`;
    `inputs`, the matrices by their names in the equation, and `rows`, those whose earlier rows a
    recurrence reads; its numbers (`settings`) and `tables`; the setting of the problem that is its
    number (`chosen`), and whether it keeps fractions (`rational`). Raises UnstatedError if no
    equation states one of them; with its name.
    """
    shapes: dict[str, Shape] = {name: matrix.shape for name, matrix in problem.given.items()}
    found = []
    for step in steps:
        own = [shapes[name] for name in step.inputs]
        shapes[step.name] = step.operation.shape(*own)
        try:
            found.append(_step_in_data(step, problem, own))
        except UnstatedError:
            raise UnstatedError(step.name) from None
    return found


def _step_in_data(step: Step, problem: Problem, shapes: list[Shape]) -> dict[str, Any]:
    operation = step.operation
    stated = operation.statement(*shapes)
    if is_grouped(shapes) and not stated.name.startswith("Grouped"):
        raise UnstatedError
    own, inputs = equation(stated.name, stated.given), inputs_of(stated.name, stated.given)
    tables = dict(stated.tables)
    if isinstance(operation, Alibi) and not operation.has_own:
        # the slopes of ALiBi as in its paper, such as 2^-1/2; a problem lacks them
        slopes = np.array([f"2^{-x}" for x in exponents_of_slopes(operation.heads)], object)
        one = len(shapes[0]) < 3
        tables["slope"] = slopes.reshape((1, 1) if one else (len(slopes), 1, 1))
    return {
        "name": step.name,
        "title": step.title,
        "role": step.role,
        "equation": equation_source(own),
        "inputs": dict(zip(inputs, step.inputs, strict=False)),  # tables follow the inputs
        **({"rows": dict(zip(own.recurring, step.rows_of, strict=True))} if step.rows_of else {}),
        "settings": {name: as_written(Fraction(n)) for name, n in stated.settings.items()},
        **({"tables": {name: _table(held) for name, held in tables.items()}} if tables else {}),
        **({"rational": True} if operation.is_rational else {}),
        **({"told": TOLD[operation.name]} if operation.name in TOLD else {}),
        **_shown(step, problem),
    }


def _table(matrix: Matrix) -> dict[str, Any]:
    """Return a table as texts; an irrational power of two is one already."""
    texts = (x if isinstance(x, str) else as_typed(x) for x in np.ravel(matrix))
    return {"shape": list(matrix.shape), "entries": list(texts)}


def _shown(step: Step, problem: Problem) -> dict[str, Any]:
    """Return the formula of a step, with # for a number that a reader may choose, and which."""
    operation, chosen = step.operation, dict[str, str]()
    if isinstance(operation, Multiply) and operation.factor == problem.scale:
        operation, chosen = replace(operation, factor=CHOSEN), {"factor": "scale"}
    elif operation.name in CAPPED and "logits" not in step.name:
        found = operation.statement(PLAIN, PLAIN)
        if found.settings["cap"] == problem.softcap:
            settings = {**found.settings, "cap": CHOSEN}
            operation, chosen = Stated(found._replace(settings=settings)), {"cap": "softcap"}
    right = formula(step._replace(operation=operation), problem)
    said = f"{in_text(Symbol(step.name))} = {in_text(right)}"
    if not chosen:
        return {"formula": said}
    return {"formula": said.replace(as_written(CHOSEN), "#"), "chosen": chosen}


def key_of(problem: Problem) -> str:
    """Return a key of the settings that determine the plan and that a reader may change."""
    scale = problem.scale if problem.scale in NO_NUMBER else "number"
    cap = "none" if problem.softcap is None else "number"
    return f"{scale}|{str(problem.causal).lower()}|{cap}|{problem.normalizer}"


def _plans(
    problem: Problem, *, others: bool
) -> Iterator[tuple[str, Problem, Plan, list[dict[str, Any]]]]:
    """Yield the problem's own plan, and those under other conventions of all its attentions."""
    yield key_of(problem), problem, plan(problem), stated_steps(problem, plan(problem))
    entries = sum(problem.stored(name).size for name in problem.names)
    if not others or not problem.attentions or entries > MOST_ENTRIES:
        return
    scale = ANY_NUMBER if problem.scale in NO_NUMBER else problem.scale
    cap = ANY_NUMBER if problem.softcap is None else problem.softcap
    normalizers = [problem.normalizer, *([HARDMAX] if problem.normalizer == "softmax" else [])]
    for choice in product((*NO_NUMBER, scale), (False, True), (None, cap), normalizers):
        names = ("scale", "causal", "softcap", "normalizer")
        try:
            other = replace(problem, **dict(zip(names, choice, strict=True)), asked=None)
            steps = plan(other)
            said = stated_steps(other, steps)
        except (AttncalcError, UnstatedError):  # for example, a mask that leaves no key to a query
            continue
        if key_of(other) != key_of(problem) and _are_of_all(other):
            yield key_of(other), other, steps, said


def _are_of_all(problem: Problem) -> bool:
    """Return whether the conventions of a problem apply to all its attentions."""
    first, *_ = problem.attentions
    own = (problem.scale, problem.softcap, problem.normalizer)
    return first.causal == problem.causal and all(
        (each.scale, each.softcap, each.normalizer) == own
        and each.causal in (problem.causal, False)
        for each in problem.attentions
    )


def _labels(problem: Problem, step: Step) -> dict[str, list[str]]:
    attention = problem.attention_of(step.name)
    sides = {"inputs": attention.keys, "outputs": attention.queries}
    said = {side: [on_a_line(name) for name in names] for side, names in sides.items()}
    return said | {"named": [harmless(name) for name in distinct_names(attention.queries)]}


def given_data(problem: Problem, name: str) -> dict[str, Any]:
    """Return a given matrix as the plan reads it, and the place of each entry as given."""
    read, stands = problem.given_as_typed[name], problem.places_of(name).ravel().tolist()
    return {
        "role": role_of(name),
        "shape": _shape(read),
        "entries": [as_typed(value) for value in read.flat],
        **({} if stands == list(range(len(stands))) else {"from": stands}),
        "given": _shape(problem.stored(name)),
    }


def _shape(matrix: Matrix) -> list[int]:
    """Return heads (0 for none), rows and columns."""
    return [0, *matrix.shape] if matrix.ndim == 2 else list(matrix.shape)
