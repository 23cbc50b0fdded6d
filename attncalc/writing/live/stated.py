"""The plan of a problem as data: the equation of each step, what it reads, settings and tables."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from attncalc.equations.operation import Operation, Shape
from attncalc.equations.tree import Equation, equation_source
from attncalc.numbers.typed import as_written
from attncalc.numbers.types import Matrix
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import as_typed
from attncalc.solving.exactness import digits_for
from attncalc.solving.plan import plan
from attncalc.writing.live.data import given_data


class Statement(Protocol):
    """The equation of an operation, the names in it of what the step reads, settings and tables."""

    equation: Equation
    inputs: tuple[str, ...]
    settings: Mapping[str, Any]
    tables: Mapping[str, Matrix]


def stated_data(
    problem: Problem, state: Callable[[Operation, list[Shape]], Statement | None]
) -> dict[str, Any]:
    """Return a problem as the interpreter of equations in a page reads it.

    Parameters
    ----------
    problem
        The problem.
    state
        Returns the equation of an operation on matrices of these shapes.

    Returns
    -------
    dict
        `given` matrices as typed; `steps`, each with its name, its equation, `inputs` (the
        matrices by their names in the equation), `settings`, `tables`, and whether it keeps
        fractions; `settings` and `digits` of the problem.
    """
    steps = plan(problem)
    shapes: dict[str, Shape] = {name: matrix.shape for name, matrix in problem.given.items()}
    said = []
    for step in steps:
        own = [shapes[name] for name in step.inputs]
        shapes[step.name] = step.operation.shape(*own)
        found = state(step.operation, own)
        if found is None:
            raise NotImplementedError(f"no equation states {type(step.operation).__name__}")
        pairs = zip(found.inputs, step.inputs, strict=False)  # tables are behind the inputs
        said.append(
            {
                "name": step.name,
                "equation": equation_source(found.equation),
                "inputs": dict(pairs),
                "settings": {key: as_written(Fraction(n)) for key, n in found.settings.items()},
                "tables": {key: _table(matrix) for key, matrix in found.tables.items()},
                "rational": step.operation.is_rational,
            }
        )
    digits = digits_for(problem, steps)
    return {
        "settings": {
            "decimals": problem.decimals,
            "rounding": problem.rounding,
            "layout": problem.layout,
        },
        "digits": None if digits is None else digits._asdict(),
        "given": {name: given_data(problem, name) for name in problem.names},
        "steps": said,
    }


def _table(matrix: Matrix) -> dict[str, Any]:
    """Return a table as texts; an irrational power of two is one already, as 2^-1/2."""
    texts = (x if isinstance(x, str) else as_typed(x) for x in np.ravel(matrix))
    return {"shape": list(matrix.shape), "entries": list(texts)}
