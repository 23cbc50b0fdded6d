"""A step: one named matrix of a calculation. A plan is the steps in order."""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.equations.operation import Operation, Shape, Stated

Axis = Literal["queries", "keys", "values", "features"]
Role = Literal["", "masked", "weights", "outputs"]
Plan = tuple["Step", ...]
Seen = Callable[[str, tuple[int | slice, ...], Matrix], None]
"""Called, on long inputs, with each block of a matrix that is not kept: name, place, values."""
Report = Callable[[int, int], None]
"""Called, on long inputs, with the number of finished blocks, and of all."""


class Step(NamedTuple):
    """One named matrix: its operation, and the meaning of its rows and columns.

    name, title: its name in equations, and its title.
    rows, columns: what they are: by default, those of most steps.
    role: its meaning: "masked" scores contain -∞, "weights" connect outputs with inputs, "outputs"
        are the result.
    is_between: whether an answer may skip it, such as the scaled scores between the scores and the
        weights.
    slices: the name of each of several matrices: a "head", or the "token" of a recurrence.
    rows_of: for a recurrence, the steps whose earlier rows it reads, and that are computed with it:
        its own first.
    """

    name: str
    title: str
    operation: Operation
    inputs: tuple[str, ...]
    rows: Axis = "queries"
    columns: Axis = "features"
    role: Role = ""
    is_between: bool = False
    slices: str = "head"
    rows_of: tuple[str, ...] = ()


def shapes_of(steps: Plan, given: Mapping[str, Matrix]) -> dict[str, Shape]:
    """Return the shapes of given matrices and of all steps, by name, without computing them."""
    shapes: dict[str, Shape] = {name: each.shape for name, each in given.items()}
    for step in steps:
        shapes[step.name] = step.operation.shape(*(shapes[name] for name in step.inputs))
    return shapes


def run(
    steps: Plan,
    given: Mapping[str, Matrix],
    after: Callable[[Matrix], Matrix] | None = None,
    made: dict[str, Matrix] | None = None,
) -> dict[str, Matrix]:
    """Compute the steps in order, and return each matrix by name, as the next step reads it.

    given: the given matrices, in any one number system.
    after: applied to a step's matrix before the next step reads it, for example rounding.
    made: the dictionary for unrounded matrices.
    """
    known = dict(given)
    for step in steps:
        inputs = [known[name] for name in step.inputs]
        try:
            if after is not None and isinstance(step.operation, Stated) and step.operation.recurs:
                matrix = step.operation.by_rows(after, *inputs)
            else:
                matrix = step.operation.apply(*inputs)
        except ArithmeticError:  # of Decimals: floats have nan and infinity
            read = ", ".join(step.inputs)
            raise InputError(
                f"{step.name} has no value: {read} has infinite, too large or too small numbers"
            ) from None
        # before rounding: marking and the written-out work also read the unrounded values
        if made is not None:
            made[step.name] = matrix
        # given matrices that are only shown as steps are read as given
        is_given = step.name in step.inputs
        known[step.name] = matrix if after is None or is_given else after(matrix)
    return {step.name: known[step.name] for step in steps}
