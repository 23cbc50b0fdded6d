"""Watched quantities of a study: entries of steps, and measures of their rows."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import entry_name
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.fields import MARKS
from attncalc.problem.problem import Problem
from attncalc.reading.names import unknown
from attncalc.reading.studies.names import (
    index_of,
    number_of,
    place_of,
    split_list,
    split_outside,
    tokens_of,
)
from attncalc.solving.choosing import by_name, chosen_entries
from attncalc.solving.plan import outputs_of
from attncalc.solving.solution import Solution, solve
from attncalc.studies.watched import (
    COMPARISONS,
    Condition,
    Measure,
    Watched,
    distance_of,
    effective_inputs,
    entropy,
    entry_of,
    largest,
    mean_of_rows,
    norm,
    row_of,
)

HOW_TO_WATCH = (
    "write an entry, a row or a step, as A[1,2], A[1,:], O, or a measure: entropy(A), max(A), "
    "distance(O, V[b]), error(O, mean V[a,b]), norm(O), q·k_a"
)
HOW_TO_COMPARE = 'compare two watched quantities or numbers, as "q·k_a > 0" or "A[1,1] <= A[1,2]"'
MOST_SHOWN_UNASKED = 12
"""The largest number of weights that are all watched by default."""


def read_watched(texts: Sequence[str], problem: Problem) -> tuple[Watched, ...]:
    """Read watched quantities, each once; the default is the weights."""
    solution = solve(problem)
    asked = [part for text in texts for part in split_outside(text)]
    if not asked:  # weights, and the outputs of layers
        asked = [_few(solution, step.name) for step in solution.all_weights]
        asked += [] if asked and problem.is_alone else [_few(solution, outputs_of(problem))]
    found = [each for text in asked for each in _watched(text, solution)]
    return tuple({each.name: each for each in found}.values())


def read_outputs(problem: Problem, *, weights_too: bool) -> tuple[Watched, ...]:
    """Return the default watched quantities of draws: outputs, and weights if they are few."""
    solution = solve(problem)
    weights = [_few(solution, step.name) for step in solution.all_weights]
    outputs = _few(solution, outputs_of(problem))
    return read_watched([*(weights if weights_too else []), outputs], problem)


_SIDE = r"((?:\[[^\]]{0,200}+\]|\{[^}]{0,200}+\}|[^<>≤≥])++)"
_COMPARED = re.compile(rf"{_SIDE}({'|'.join(COMPARISONS)}){_SIDE}")


def read_conditions(texts: Sequence[str], problem: Problem) -> tuple[Condition, ...]:
    """Read comparisons of watched quantities and numbers, as "q·k_a > 0"."""
    solution = solve(problem)
    return tuple(_condition(text.strip(), solution) for text in texts)


def _condition(text: str, solution: Solution) -> Condition:
    found = _COMPARED.fullmatch(text)
    sides = [_side(found[side].strip(), text, solution) for side in (1, 3)] if found else []
    if found is None or not any(each.name for each in sides):
        raise InputError(f"{quoted(text)} is not a comparison: {HOW_TO_COMPARE}")
    return Condition(text, found[2], (sides[0], sides[1]))


def _side(side: str, text: str, solution: Solution) -> Watched:
    try:
        number = np.array(float(number_of(side)))
    except (InputError, OverflowError):
        first, *others = _watched(side, solution)
        if others:
            how = f"is {len(others) + 1} numbers, {first.name} to {others[-1].name}: compare one"
            raise InputError(f"{quoted(text)}: {side} {how}") from None
        return first
    return Watched("", lambda _: number)


def _few(solution: Solution, name: str) -> str:
    """Return a step if it is small, otherwise its first row, or that of its first head."""
    if solution[name].size <= MOST_SHOWN_UNASKED:
        return name
    head = "1," if solution[name].ndim == 3 else ""
    first = ",".join(solution.problem.standing.pair("1", ":"))
    return f"{name}[{head}{first}]"


_MEASURE = re.compile(r"\s*+(\w++)\s*+\((.*)\)\s*+", re.DOTALL)
_ROWS = re.compile(
    r"\s*+(?P<mean>mean(?:\s++of)?\s++)?(?P<name>[\w.]++)\s*+(?:\[(?P<rows>.*)\])?\s*+", re.DOTALL
)
_OF_ROW: dict[str, tuple[tuple[str, Callable[[Matrix], Matrix]], ...]] = {
    "entropy": (("entropy", entropy), ("e^entropy", effective_inputs)),
    "max": (("max", largest),),
    "norm": (("norm", norm),),
}


_DOT = re.compile(r"([^·⋅\[]++(?:\[[^\]]*+\]\s*+)?)[·⋅]([^·⋅\[]++(?:\[[^\]]*+\])?)")
_LETTER = re.compile(r"([xkvq])(?:_(?:\{(.+)\}|(\w+)))?")
"""A row as in course notes: k_a, v_{the cat}, and q for a single query."""


def _watched(text: str, solution: Solution) -> Iterator[Watched]:
    measure = _MEASURE.fullmatch(text)
    if measure is None and (found := _DOT.fullmatch(text)):
        yield _dot([found[1].strip(), found[2].strip()], text, solution)
    elif measure is None:
        yield from _entries(text, solution)
    elif measure[1].lower() == "dot":
        yield _dot(split_outside(measure[2]), text, solution)
    elif measure[1].lower() in _OF_ROW:
        yield from _of_rows(measure[1].lower(), measure[2], text, solution)
    elif measure[1].lower() in ("distance", "error"):
        yield from _distances(measure[1].lower(), measure[2], text, solution)
    else:
        raise InputError(f"{quoted(text)} is not a measure: {HOW_TO_WATCH}")


def _dot(texts: list[str], text: str, solution: Solution) -> Watched:
    if len(texts) != 2:
        raise InputError(f"{quoted(text)} takes two: q·k_a, or dot(Q[1], K[a])")
    sides = [_rows(_as_rows(side, solution), text, solution) for side in texts]
    for side in sides:
        _refuse_masked(side.name, text, solution)
        if len(side.heads) > 1 or (len(side.rows) > 1 and not side.is_mean):
            one_row = side.named(solution.problem.standing, 0, 0)
            raise InputError(f"{quoted(text)}: name one row of {side.name}, as {one_row}")
    one, other = sides
    _refuse_other_width(one, other, text)
    means = [mean_of_rows(side.name, side.rows, side.heads[0]) for side in sides]
    return Watched("·".join(texts), lambda family: (means[0](family) * means[1](family)).sum(-1))


def _refuse_other_width(one: "_Rows", other: "_Rows", text: str) -> None:
    if one.width != other.width:
        widths = f"{one.name} is {one.width} wide, and {other.name} {other.width}"
        raise InputError(f"{quoted(text)}: {widths}")


def _as_rows(text: str, solution: Solution) -> str:
    """Return k_a as K[a], q as Q, and q_2 as Q[2,1,:] if each head has one query."""
    found = _LETTER.fullmatch(text)
    if found is None:
        return text
    name, row = found[1].upper(), found[2] or found[3]
    matrices = {**solution.problem.given, **solution.floats}
    is_head = name in matrices and matrices[name].ndim == 3 and matrices[name].shape[-2] == 1
    return f"{name}[{row}{',1,:' if is_head else ''}]" if row else name


def _entries(text: str, solution: Solution) -> Iterator[Watched]:
    problem = solution.problem
    given = {each.lower(): each for each in problem.names if each not in MARKS}
    found = _ROWS.fullmatch(text)
    if found and not found["mean"] and (name := given.get(found["name"].lower())):
        stored, internal = problem.stored(name), problem.places_of(name)
        flat = np.arange(stored.size).reshape(stored.shape)
        for entry in np.ravel(flat[place_of(name, found["rows"], problem)]):
            called = entry_name(name, map(int, np.unravel_index(entry, stored.shape)))
            place = tuple(map(int, np.argwhere(internal == entry)[0]))
            measure, masked = entry_of(name, place), _is_masked(name, solution)
            yield Watched(called, measure, name, place, is_masked=masked)
        return
    for name, places in chosen_entries(solution, [text], by_name(solution.plan)).items():
        is_weight = name in [step.name for step in solution.all_weights]
        is_masked = _is_masked(name, solution)
        for shown in places:
            place = solution.problem.standing.place(shown)
            called = entry_name(name, shown)
            yield Watched(called, entry_of(name, place), name, place, is_weight, is_masked)


class _Rows(NamedTuple):
    """Rows of a matrix: its name, its heads, the rows, and whether their mean is watched."""

    name: str
    heads: tuple[int, ...]
    has_heads: bool
    rows: tuple[int, ...]
    is_mean: bool
    width: int

    def named(self, standing: Any, head: int, row: int) -> str:
        which = ",".join(standing.pair(str(row + 1), ":"))
        return f"{self.name}[{f'{head + 1},' if self.has_heads else ''}{which}]"


def _rows(text: str, whole: str, solution: Solution) -> _Rows:
    found = _ROWS.fullmatch(text)
    problem = solution.problem
    steps = {name: step.name for name, step in by_name(solution.plan).items()}
    known = steps | {name.lower(): name for name in problem.names if name not in MARKS}
    name = known.get(found["name"].lower()) if found else None
    if found is None or name is None:
        raise InputError(
            f"{quoted(whole)}: {unknown(text.strip(), list(dict.fromkeys(known.values())))}"
        )
    matrix = solution.floats[name] if name in steps.values() else problem.given[name]
    heads = tuple(range(matrix.shape[0] if matrix.ndim == 3 else 1))
    count = matrix.shape[-2]
    axis = next((step.rows for step in solution.plan if step.name == name), None)
    if axis is None:
        labels = tokens_of(name, problem)
    else:
        attention = problem.attention_of(name)
        labels = attention.queries if axis == "queries" else attention.keys
    labels = labels if len(labels) == count else ()
    indices = split_list(found["rows"]) if found["rows"] else []
    has = f"{quoted(whole)}: {name} has"
    if len(heads) > 1 and len(indices) == 3 and indices[0] != ":":  # H[2,1,:]
        heads = (index_of(indices.pop(0), "head", len(heads), (), f"{has} {len(heads)} heads"),)
    what = f"{has} {count} row{'s' * (count > 1)}"
    wanted = [each for each in indices if each != ":"]
    rows = tuple(index_of(each, "row", count, labels, what) for each in wanted)
    has_heads = matrix.ndim == 3 and len(matrix) > 1
    rows = rows or tuple(range(count))
    return _Rows(name, heads, has_heads, rows, bool(found["mean"]), matrix.shape[-1])


def _is_masked(name: str, solution: Solution) -> bool:
    """Return whether a matrix has entries of -∞, for masked keys."""
    given = solution.problem.given
    values = given[name] if name in given else solution.floats[name]
    role = next((step.role for step in solution.plan if step.name == name), "")
    return role == "masked" or bool(np.isneginf(values).any())


def _refuse_masked(name: str, text: str, solution: Solution) -> None:
    """Refuse the norm of rows with entries of -∞."""
    if _is_masked(name, solution):
        weights = [step.name for step in solution.all_weights]
        raise InputError(
            f"{quoted(text)}: {name} is -∞ where a mask forbids, so it has no norm and no "
            f"distance: watch {weights[-1]}, or single entries of {name}"
        )


def _of_rows(kind: str, inner: str, text: str, solution: Solution) -> Iterator[Watched]:
    rows = _rows(inner, text, solution)
    weights = [step.name for step in solution.all_weights]
    if kind == "entropy" and rows.name not in weights:
        how = f": write entropy({weights[-1]})" if weights else ", and there are none"
        raise InputError(f"{quoted(text)}: entropy is of weights{how}")
    if kind == "entropy" and solution.problem.attention_of(rows.name).normalizer == "sum":
        raise InputError(
            f"{quoted(text)}: entropy is of shares, and the weights of the normalizer sum can be "
            "negative: watch them themselves"
        )
    if kind == "norm":
        _refuse_masked(rows.name, text, solution)
    masked = _is_masked(rows.name, solution)
    for head in rows.heads:
        for row in rows.rows:
            named = rows.named(solution.problem.standing, head, row)
            for called, of in _OF_ROW[kind]:
                measure = row_of(rows.name, head, row, of)
                yield Watched(f"{called}({named})", measure, is_masked=masked)


def _distances(kind: str, inner: str, text: str, solution: Solution) -> Iterator[Watched]:
    sides = split_outside(inner)
    if len(sides) != 2:
        raise InputError(f"{quoted(text)} takes two: {kind}(O, V[b]) or {kind}(O, mean V[a,b])")
    rows, target = (_rows(side, text, solution) for side in sides)
    for each in (rows, target):
        _refuse_masked(each.name, text, solution)
    if len(target.heads) > 1 or len(rows.heads) > 1:
        which = (target if len(target.heads) > 1 else rows).name
        raise InputError(f"{quoted(text)}: {which} has several heads, and one row is needed")
    if len(target.rows) > 1 and not target.is_mean:
        raise InputError(
            f"{quoted(text)}: name one row of {target.name}, or their mean, as mean {sides[1]}"
        )
    _refuse_other_width(rows, target, text)
    standing = solution.problem.standing
    of: Callable[[Any], Matrix] = mean_of_rows(target.name, target.rows, target.heads[0])
    head = rows.heads[0]
    for row in rows.rows:
        measure: Measure = distance_of(rows.name, head, row, of)
        yield Watched(f"{kind}({rows.named(standing, head, row)}, {sides[1]})", measure)
