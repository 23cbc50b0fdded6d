"""A Solution as one JSON object, for programs."""

import json
from typing import Any

from attncalc import __version__
from attncalc.connections import Connection
from attncalc.plan import Step
from attncalc.problem import SQRT_DK, Problem
from attncalc.solution import Solution
from attncalc.words import notes


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
        "conventions": {
            "scale": _factor(problem),
            "rounding": problem.rounding,
            "decimals": problem.decimals,
        },
        "steps": [_step(solution, step) for step in steps],
        "connections": [_connection(solution, each) for each in solution.connections],
        "notes": [note.text for note in notes(solution)],
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _factor(problem: Problem) -> float:
    """Return the number the scores are multiplied by."""
    if problem.scale == SQRT_DK:
        return float(problem.d_k**-0.5)
    return 1.0 if isinstance(problem.scale, str) else float(problem.scale)


def _step(solution: Solution, step: Step) -> dict[str, Any]:
    return {
        "name": step.name,
        "formula": step.formula,
        "rows": solution.row_labels(step),
        "columns": solution.column_labels(step),
        "values": solution[step.name].tolist(),
        "shown": solution.shown(step.name),
    }


def _connection(solution: Solution, connection: Connection) -> dict[str, Any]:
    def inputs(indices: tuple[int, ...]) -> list[dict[str, Any]]:
        weights = solution["A"][connection.output]
        return [{"input": solution.problem.keys[i], "weight": float(weights[i])} for i in indices]

    return {
        "output": solution.problem.queries[connection.output],
        "most": inputs(connection.most),
        "second": inputs(connection.second),
    }
