"""A step: one named matrix of a calculation. A plan is the steps in their order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from attncalc.numbers.types import Matrix
from attncalc.operations.base import Operation

Axis = Literal["queries", "keys", "values", "features"]
Role = Literal["", "weights", "outputs"]
Plan = tuple["Step", ...]
Report = Callable[[int, int], None]
"""What is told, on long inputs, how many blocks of how many are done."""


@dataclass(frozen=True)
class Step:
    """One named matrix: the operation that makes it, and what its rows and columns stand for.

    Parameters
    ----------
    name, title
        What it is called in equations, and in words.
    operation, inputs
        How it is made, from which matrices.
    rows, columns
        What they stand for.
    role
        What it is to a reader: "weights" connect outputs with inputs, "outputs" are the result.
    """

    name: str
    title: str
    operation: Operation
    inputs: tuple[str, ...]
    rows: Axis
    columns: Axis
    role: Role = ""


def run(
    steps: Plan,
    given: Mapping[str, Matrix],
    after: Callable[[Matrix], Matrix] = lambda matrix: matrix,
) -> dict[str, Matrix]:
    """Take the steps in turn and return each one's matrix by name.

    Parameters
    ----------
    steps
        The plan.
    given
        The matrices the plan starts from, in any one number system.
    after
        What happens to a step's matrix before the next step reads it: rounding, say.
    """
    known = dict(given)
    for step in steps:
        known[step.name] = after(step.operation.apply(*(known[name] for name in step.inputs)))
    return {step.name: known[step.name] for step in steps}
