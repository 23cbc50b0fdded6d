"""What every output says in sentences: the conventions, the connections, and the notes.

Names and titles in them are made harmless: a sentence can be shown as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.rounding import fixed
from attncalc.problem.attention.fields import DISPLAY, EACH_STEP
from attncalc.problem.problem import Problem
from attncalc.solving.solution import Solution
from attncalc.text import of_each, on_a_line

IN_FLOATS = "too large for exact decimals: the digits shown are those of float64 arithmetic"
MOST_HEADS_TOLD = 20
"""Heads that have a note each; of more it says how many."""
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
        *(Note(each, weights.name) for each in _nothing_left(solution)),
        *_in_floats(solution),
        *_rounding_matters(solution),
    ]
    return tuple(found)


def _row_sums(solution: Solution) -> Iterator[str]:
    """State what the shown weights of a row sum to, where rounding made that miss 1."""
    problem, line = solution.problem, solution.problem.standing.line
    one = fixed(1.0, problem.decimals)
    told = 0
    for head in solution.heads:
        rows = zip(problem.queries, head.rounded, head.weights, strict=True)
        missing = [
            f"{line} {on_a_line(name)} sums to {total}"
            for name, row, weights in rows
            if (total := fixed(row.sum(), problem.decimals)) != one and weights.any()
        ]
        told += bool(missing)
        if missing and told <= MOST_HEADS_TOLD:
            of = f" in head {head.number}" if head.number else ""
            yield f"weights are rounded as shown, so{of} {of_each(missing)}, not {one}"

    if told > MOST_HEADS_TOLD:
        more = told - MOST_HEADS_TOLD
        yield f"in {more} more heads, too, weights as shown sum to other than {one}"


def _nothing_left(solution: Solution) -> Iterator[str]:
    """Name the queries that a mask leaves without any key."""
    problem = solution.problem
    step = next((step for step in solution.steps if step.role == "masked"), None)
    if step is None:
        return
    masked, told = solution.floats[step.name], 0
    for number, head in enumerate(masked if masked.ndim == 3 else [masked], start=1):
        empty = (index for index, row in enumerate(head) if np.isneginf(row).all())
        names = [on_a_line(problem.queries[index]) for index in empty]
        told += bool(names)
        if names and told <= MOST_HEADS_TOLD:
            of = f" in head {number}" if masked.ndim == 3 else ""
            yield f"output {of_each(names)}{of}: no key is left to attend to, all weights are 0"
    if told > MOST_HEADS_TOLD:
        yield f"in {told - MOST_HEADS_TOLD} more heads, too, no key is left to some outputs"


def _in_floats(solution: Solution) -> Iterator[Note]:
    if not solution.is_exact:
        yield Note(IN_FLOATS)


def _rounding_matters(solution: Solution) -> Iterator[Note]:
    """Count the entries that the other rounding rule would show with other digits."""
    try:
        differ = solution.count_differing()
    except InputError:  # the other rule overflows where this one does not
        return
    total = sum(prod(solution.shape_of(step.name)) for step in solution.steps)
    if differ:
        rule = DISPLAY if solution.problem.rounding == EACH_STEP else EACH_STEP
        does = "rounding each step" if rule == EACH_STEP else "carrying full precision"
        yield Note(
            f"{does} (--rounding {rule}) would show other digits in {differ} of {total} entries",
            is_advice=True,
        )
