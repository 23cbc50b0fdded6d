"""What every output says in sentences: the conventions, the connections, and the notes.

Names and titles in them are made harmless: a sentence can be shown as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.rounding import fixed
from attncalc.numbers.types import Matrix
from attncalc.operations.step import Step
from attncalc.problem.attention.fields import DISPLAY, EACH_STEP
from attncalc.problem.problem import Problem
from attncalc.solving.connections import Connection
from attncalc.solving.solution import Head, Solution
from attncalc.text import of_each, on_a_line

BLANK = "_____"
"""Where a worksheet wants an answer."""


@dataclass(frozen=True)
class Note:
    """Something a reader should know: of one step, or of the whole solution (`step` is "").

    Advice is for whoever works it out, and is no part of a page that is handed in.
    """

    text: str
    step: str = ""
    is_advice: bool = False


def influence(problem: Problem, head: Head, connection: Connection) -> str:
    """Say which input influences an output most, and which second.

    Examples
    --------
    >>> from attncalc import self_attention
    >>> solution = self_attention([[1], [2]], [[1]], [[1]], [[1]])
    >>> influence(solution.problem, solution.heads[0], solution.connections[1])
    'Output 2: most input 2 (0.88), second input 1 (0.12)'
    """
    output = f"Output {on_a_line(problem.queries[connection.output])}"
    if not connection.most:
        return f"{output}: no input (every weight is 0)"
    inputs = partial(_inputs, problem, head.rounded[connection.output])
    if connection.second:
        return f"{output}: most {inputs(connection.most)}, second {inputs(connection.second)}"
    if len(connection.most) > 1:
        return f"{output}: most {inputs(connection.most)}, so no second"
    zero = fixed(0.0, problem.decimals)
    rest = f"no second (the other weights show as {zero})" if problem.m > 1 else "no other"
    return f"{output}: most {inputs(connection.most)}, {rest}"


def influence_to_fill_in(problem: Problem, output: int) -> str:
    """Return a line of a worksheet that asks which inputs influence an output."""
    name = on_a_line(problem.queries[output])
    return f"Output {name}: solid line to {BLANK}, dashed line to {BLANK}"


def legend(problem: Problem) -> tuple[tuple[str, str], ...]:
    """Say what the ranks of the largest and of the second weight stand for."""
    return ("most", f"largest of its {problem.standing.line}"), ("second", "second")


def notes(solution: Solution) -> tuple[Note, ...]:
    """Return what a reader of this solution should know."""
    weights = solution.weights
    if weights is None:
        return tuple(_in_floats(solution))
    found = [
        *(Note(each, weights.name) for each in _row_sums(solution)),
        *(Note(each, weights.name) for each in _nothing_left(solution, weights)),
        *_in_floats(solution),
        *_rounding_matters(solution),
    ]
    return tuple(found)


def shape(solution: Solution, step: Step) -> str:
    """Return the shape of a step's matrix, as in "3 × 2", or "2 heads of 3 × 2"."""
    *heads, rows, columns = solution[step.name].shape
    return f"{heads[0]} heads of {rows} × {columns}" if heads else f"{rows} × {columns}"


def _inputs(problem: Problem, rounded: Matrix, inputs: tuple[int, ...]) -> str:
    names = of_each([on_a_line(problem.keys[index]) for index in inputs])
    weight = fixed(rounded[inputs[0]], problem.decimals)
    if len(inputs) == 1:
        return f"input {names} ({weight})"
    return f"inputs {names} ({weight} each)"


def _row_sums(solution: Solution) -> Iterator[str]:
    """State what the shown weights of a row sum to, where rounding made that miss 1."""
    problem, line = solution.problem, solution.problem.standing.line
    one = fixed(1.0, problem.decimals)
    for head in solution.heads:
        shown = [fixed(row.sum(), problem.decimals) for row in head.rounded]
        missing = [
            f"{line} {on_a_line(name)} sums to {total}"
            for name, total, weights in zip(problem.queries, shown, head.weights, strict=True)
            if total != one and weights.any()
        ]
        if missing:
            of = f" in head {head.number}" if head.number else ""
            yield f"weights are rounded as shown, so{of} {of_each(missing)}, not {one}"


def _nothing_left(solution: Solution, weights: Step) -> Iterator[str]:
    """Name the queries that a mask leaves without any key, by the scores that weights are of."""
    problem, scores = solution.problem, weights.inputs[0]
    if not (problem.is_masked and solution.keeps(scores)):
        return
    masked = solution.floats[scores]
    for number, head in enumerate(masked if masked.ndim == 3 else [masked], start=1):
        empty = (index for index, row in enumerate(head) if np.isneginf(row).all())
        names = [on_a_line(problem.queries[index]) for index in empty]
        if names:
            of = f" in head {number}" if masked.ndim == 3 else ""
            yield f"output {of_each(names)}{of}: no key is left to attend to, all weights are 0"


def _in_floats(solution: Solution) -> Iterator[Note]:
    if not solution.is_exact:
        yield Note("too large for exact decimals: the digits shown are those of float64 arithmetic")


def _rounding_matters(solution: Solution) -> Iterator[Note]:
    """Count the entries that the other rounding rule would show with other digits."""
    try:
        differ = solution.count_differing()
    except InputError:  # the other rule overflows where this one does not
        return
    total = sum(solution[step.name].size for step in solution.steps)
    if differ:
        rule = DISPLAY if solution.problem.rounding == EACH_STEP else EACH_STEP
        does = "rounding each step" if rule == EACH_STEP else "carrying full precision"
        yield Note(
            f"{does} (--rounding {rule}) would show other digits in {differ} of {total} entries",
            is_advice=True,
        )
