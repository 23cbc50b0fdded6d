"""A solution as text: which input influences an output, and the size of a step."""

from functools import partial

import numpy as np

from attncalc.base.rounding import fixed
from attncalc.base.text import of_each, on_a_line
from attncalc.base.types import Matrix
from attncalc.problem.problem import Problem
from attncalc.problem.step import Step
from attncalc.solving.connections import Connection
from attncalc.solving.solution import Head, Solution


def influence(problem: Problem, head: Head, connection: Connection) -> str:
    """Return a sentence about the inputs that influence an output most and second most.

    >>> from attncalc import self_attention
    >>> solution = self_attention([[1], [2]], [[1]], [[1]], [[1]])
    >>> influence(solution.problem, solution.heads[0], solution.connections[1])
    'Output 2: most input 2 (0.88), second input 1 (0.12)'
    """
    tokens = head.attention or problem
    output = f"Output {on_a_line(tokens.queries[connection.output])}"
    if not connection.most:
        return f"{output}: no input (every weight is 0)"
    inputs = partial(_inputs, tokens.keys, head.rounded[connection.output], problem.decimals)
    if connection.second:
        return f"{output}: most {inputs(connection.most)}, second {inputs(connection.second)}"
    if len(connection.most) > 1:
        return f"{output}: most {inputs(connection.most)}, so no second"
    zero = fixed(0.0, problem.decimals)
    if (np.asarray(head.rounded[connection.output]) < 0).any():
        return f"{output}: most {inputs(connection.most)}, no second (no other weight is above 0)"
    rest = f"no second (the other weights show as {zero})" if len(tokens.keys) > 1 else "no other"
    return f"{output}: most {inputs(connection.most)}, {rest}"


def shape(solution: Solution, step: Step) -> str:
    """Return the shape of a step's matrix, such as "3 × 2", or "2 heads of 3 × 2"."""
    *heads, rows, columns = solution.shape_of(step.name)
    return f"{heads[0]} {step.slices}s of {rows} × {columns}" if heads else f"{rows} × {columns}"


def _inputs(keys: tuple[str, ...], rounded: Matrix, decimals: int, inputs: tuple[int, ...]) -> str:
    names = of_each([on_a_line(keys[index]) for index in inputs])
    weight = fixed(rounded[inputs[0]], decimals)
    if len(inputs) == 1:
        return f"input {names} ({weight})"
    return f"inputs {names} ({weight} each)"
