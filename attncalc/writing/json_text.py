"""A Solution as one JSON object, for programs."""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from attncalc import __version__
from attncalc.equations.operations.angles import RopeScaling
from attncalc.numbers.rounding import fixed
from attncalc.numbers.types import Matrix
from attncalc.problem.attention.attention import Attention
from attncalc.problem.attention.declared import SQRT_DK
from attncalc.problem.attention.rope_scaling import scaling_as_object
from attncalc.problem.fields import SETTINGS
from attncalc.problem.gradients.naming import given_matrix_of
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import in_json
from attncalc.problem.step import Step
from attncalc.solving.connections import Connection
from attncalc.solving.solution import Head
from attncalc.solving.work import Derivation
from attncalc.text import numbered
from attncalc.writing.document import Grid, Section
from attncalc.writing.json_pieces import json_pieces
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import Page
from attncalc.writing.prose import line_in_text, plain_entry

if TYPE_CHECKING:  # few pages are asked for them
    from attncalc.patterns.pattern import Pattern


def write_json(page: Page) -> Iterator[str]:
    """Yield the JSON text: the problem as it can be read back, values in full, and as shown."""
    problem = page.problem
    content: dict[str, Any] = {
        "attncalc": __version__,
        "kind": problem.what,
        "title": problem.title,
        "problem": in_json(problem),
        "conventions": _conventions(problem),
        "steps": (_step(page, section) for section in page.sections if section.grids),
    }
    if page.lines:
        content["work"] = [_line(line) for line in page.lines]
    if not page.is_blank:
        content["connections"] = _all_connections(page)
    if page.patterns is not None:
        content["patterns"] = [_pattern(problem, pattern) for pattern in page.patterns]
    content["notes"] = [*page.remarks, *page.notes]
    yield from json_pieces(content)
    yield "\n"


def _line(line: Derivation) -> dict[str, Any]:
    *head, row, column = line.entry.place
    return {
        "step": line.step,
        **({"head": head[0]} if head else {}),
        "row": row,
        "column": column,
        "work": line_in_text(line),
        "shown": in_text(line.result),
        "exact": line.is_exact,
    }


def _pattern(problem: Problem, pattern: "Pattern") -> dict[str, Any]:
    from attncalc.writing.patterns import sentence

    return {
        "code": pattern.code,
        "about": pattern.about,
        "text": sentence(problem, pattern),
        "values": pattern.plain,
    }


def _conventions(problem: Problem) -> dict[str, Any]:
    """Return all that is no default, and as numbers what follows: the scale, the queries' place."""
    alone = problem.attentions[0] if len(problem.attentions) == 1 else None
    stated: dict[str, Any] = {
        **({"scale": _factor(alone)} if alone else {}),
        "rounding": problem.rounding,
        "decimals": problem.decimals,
    }
    for name, setting in SETTINGS.items():
        value = getattr(problem, name)
        if name not in stated and value != setting.default_in(problem.block):
            stated[name] = _plain(value)
    if alone and alone.positions == "rope" and len(set(alone.rope_places)) > 1:
        stated["rope_query_offset"] = float(alone.rope_places[0])
    if alone and alone.n_heads > 1:
        stated |= {"heads": alone.n_heads, "kv_heads": alone.n_kv_heads}
    return stated


def _plain(value: Any) -> Any:
    """Return the value of a setting in numbers and texts."""
    if isinstance(value, RopeScaling):
        return scaling_as_object(value)
    return float(value) if isinstance(value, Fraction) else value


def _factor(problem: Attention) -> float:
    if problem.scale == SQRT_DK:
        return float(problem.d_k**-0.5)
    return 1.0 if isinstance(problem.scale, str) else float(problem.scale)


def _step(page: Page, section: Section) -> dict[str, Any]:
    solution, step = page.solution, section.step
    matrix = solution.precise(step.name)
    rows, columns = np.atleast_2d(matrix).shape[-2:]
    described = {
        "name": step.name,
        "formula": in_text(section.formula),
        **({"heads": len(matrix)} if matrix.ndim == 3 else {}),
        "rows": _fitting(solution.row_labels(step), rows),
        "columns": _fitting(solution.column_labels(step), columns),
    }
    if page.is_blank:
        return {**described, "shown": np.full(matrix.shape, "").tolist()}
    return {**described, "values": _numbers(matrix), "shown": _shown(page, section)}


def _fitting(labels: tuple[str, ...], size: int) -> tuple[str, ...]:
    """Return the labels of a table; where heads that it has apart stand side by side, numbers."""
    return labels if len(labels) == size else numbered(size)


def _shown(page: Page, section: Section) -> Any:
    """Return the digits, in the shape that the values have."""
    solution, name = page.solution, section.step.name
    if not page.fractions and given_matrix_of(name) not in page.problem.names:
        return solution.shown_rows(name)  # row by row: it may be long
    shown = [_texts(grid) for grid in section.grids] if page.fractions else solution.shown(name)
    if page.fractions and solution.digits[name].ndim == 2:
        (shown,) = shown
    return solution.as_given(name, np.array(shown, dtype=object)).tolist()


def _texts(grid: Grid) -> list[list[str]]:
    def text(i: int, j: int) -> str:
        return plain_entry(grid.cell(i, j))

    return [[text(i, j) for j in range(len(grid.columns))] for i in range(len(grid.rows))]


def _numbers(matrix: Matrix) -> Any:
    """Return rows of numbers; what a mask forbids is "-inf", for JSON has no infinity."""
    if matrix.ndim > 1:
        return map(_numbers, matrix)
    matrix = matrix + 0.0  # -0.0 is 0.0
    if np.isfinite(matrix).all():
        return matrix.tolist()
    return [float(value) if np.isfinite(value) else fixed(value, 0) for value in matrix]


def _all_connections(page: Page) -> Any:
    """Return what each output attends to; with several heads, a list for each head."""
    if page.solution.weights is None or not any(each.grids for each in page.sections):
        return []
    weights = page.solution.all_weights
    if len(page.problem.attentions) > 1:
        return {step.name: _connections_of(page, step) for step in weights}
    return _connections_of(page, weights[0])


def _connections_of(page: Page, step: Step) -> Any:
    attention = page.problem.attention_of(step.name)

    def of(head: Head) -> Iterator[dict[str, Any]]:
        each = map(head.connection, range(len(attention.queries)))
        return (_connection(attention, head, connection) for connection in each)

    heads = page.solution.heads_of(step)
    return of(heads[0]) if len(heads) == 1 else map(of, heads)


def _connection(attention: Attention, head: Head, connection: Connection) -> dict[str, Any]:
    def inputs(indices: tuple[int, ...]) -> list[dict[str, Any]]:
        weights = head.weights[connection.output]
        return [{"input": attention.keys[i], "weight": float(weights[i])} for i in indices]

    return {
        "output": attention.queries[connection.output],
        "most": inputs(connection.most),
        "second": inputs(connection.second),
    }
