"""Entries of steps that are replaced by other numbers, as in ablation and activation patching.

The equation of the step becomes `replaced_H[i,c] if changed_H[i,c] > 0 else …`, with two matrices.
"""

from collections.abc import Mapping
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.equations.operation import UnstatedError
from attncalc.problem.problem import Problem
from attncalc.problem.stating import line_of
from attncalc.problem.step import shapes_of


def replacing(problem: Problem, changes: Mapping[str, tuple[Matrix, Matrix]]) -> Problem:
    """Return a problem in which entries of steps have other values.

    Raises InputError if there is no such step, or no equation of a user can state it.

    changes: by the name of each step, where its entries are replaced (true or false), and by what.

    >>> import numpy as np
    >>> from attncalc import solve
    >>> problem = Problem(Q=[[1, 1]], K=[[2, 0], [0, 1]], V=[[1, 2], [3, 4]])
    >>> where = np.array([[True, False]])
    >>> solve(replacing(problem, {"O": (where, np.zeros((1, 2)))})).shown("O")
    [['0.00', '2.66']]
    """
    steps = {step.name: step for step in problem.calculation.steps}
    shapes = shapes_of(problem.calculation.steps, problem.given)
    texts = {text.partition("[")[0]: text for text in problem.equations or ()}
    more: dict[str, Any] = dict(problem.more)
    for name, (where, values) in changes.items():
        if name not in steps:
            raise InputError(f"no step {name} that can be replaced: there are {', '.join(steps)}")
        try:
            left, _, right = line_of(steps[name], shapes).partition(" = ")
        except UnstatedError:
            raise InputError(f"{name} cannot be replaced: no equation states it") from None
        indices = left.partition("[")[2].rstrip("]").split(",")
        at = ",".join(index.partition(" in ")[0].strip() for index in indices)
        own = name.replace(".", "_")  # of one attention of two
        test = f"replaced_{own}[{at}] if changed_{own}[{at}] > 0"
        texts[name] = f"{left} = {test} else ({right})"
        dtype = problem.dtype
        more |= {f"changed_{own}": where.astype(dtype), f"replaced_{own}": values.astype(dtype)}
    return problem.with_fields({"equations": list(texts.values()), "more": more})
