"""A Solution as one JSON object, for programs."""

import json
from fractions import Fraction
from typing import Any

import numpy as np

from attncalc import __version__
from attncalc.connections import Connection
from attncalc.fields import SETTINGS, SQRT_DK
from attncalc.plan import Step, formula
from attncalc.problem import Problem
from attncalc.rounding import Matrix, fixed
from attncalc.solution import Head, Solution
from attncalc.words import notes
from attncalc.writing.mathematics import in_text


def write_json(solution: Solution, steps: tuple[Step, ...]) -> str:
    """Return the JSON text: values in full precision, and as shown.

    Parameters
    ----------
    solution
        What to write.
    steps
        Those of its steps that are wanted.
    """
    problem = solution.problem
    content = {
        "attncalc": __version__,
        "kind": problem.kind,
        "title": problem.title,
        "conventions": _conventions(problem),
        "steps": [_step(solution, step) for step in steps],
        "connections": _all_connections(solution),
        "notes": [note.text for note in notes(solution)],
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _conventions(problem: Problem) -> dict[str, Any]:
    """Return the scale as the number the scores are multiplied by, and all that is no default."""
    stated: dict[str, Any] = {
        "scale": _factor(problem),
        "rounding": problem.rounding,
        "decimals": problem.decimals,
    }
    for name, setting in SETTINGS.items():
        value = getattr(problem, name)
        if name not in stated and value != setting.default:
            stated[name] = float(value) if isinstance(value, Fraction) else value
    if problem.n_heads > 1:
        stated |= {"heads": problem.n_heads, "kv_heads": problem.n_kv_heads}
    return stated


def _factor(problem: Problem) -> float:
    if problem.scale == SQRT_DK:
        return float(problem.d_k**-0.5)
    return 1.0 if isinstance(problem.scale, str) else float(problem.scale)


def _step(solution: Solution, step: Step) -> dict[str, Any]:
    matrix = solution.precise(step.name)
    heads = {"heads": len(matrix)} if matrix.ndim == 3 else {}
    return {
        "name": step.name,
        "formula": in_text(formula(step, solution.problem)),
        **heads,
        "rows": solution.row_labels(step),
        "columns": solution.column_labels(step),
        "values": _numbers(matrix),
        "shown": solution.shown(step.name),
    }


def _numbers(matrix: Matrix) -> Any:
    """Return nested lists of numbers; what a mask forbids is "-inf", for JSON has no infinity."""
    if np.isfinite(matrix).all():
        return matrix.tolist()
    if matrix.ndim > 1:
        return [_numbers(row) for row in matrix]
    return [float(value) if np.isfinite(value) else fixed(value, 0) for value in matrix]


def _all_connections(solution: Solution) -> list[Any]:
    """Return what each output attends to; with several heads, a list for each head."""
    if "A" not in solution.values:
        return []
    problem = solution.problem
    found = [
        [_connection(problem, head, each) for each in head.connections] for head in solution.heads
    ]
    return found[0] if len(found) == 1 else found


def _connection(problem: Problem, head: Head, connection: Connection) -> dict[str, Any]:
    def inputs(indices: tuple[int, ...]) -> list[dict[str, Any]]:
        weights = head.weights[connection.output]
        return [{"input": problem.keys[i], "weight": float(weights[i])} for i in indices]

    return {
        "output": problem.queries[connection.output],
        "most": inputs(connection.most),
        "second": inputs(connection.second),
    }
