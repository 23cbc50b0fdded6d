"""A summary of a solution: every step as a table, computing only the shown digits.

A page has more (notes, the inputs each output attends to), for which it reads every row.
"""

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from attncalc.base.rounding import fixed
from attncalc.equations.expressions import MINUS_INFINITY, Number
from attncalc.problem.stated import conventions, heading
from attncalc.problem.step import Step
from attncalc.solving.influence import shape
from attncalc.solving.plan import formula
from attncalc.solving.solution import Solution
from attncalc.writing.document import Cell, Document, Facts, Grid, Section, kept
from attncalc.writing.page import ranks_of
from attncalc.writing.sentences import IN_FLOATS, legend

MOST_HEADS = 4
"""The number of heads of a step from which the middle ones are omitted."""


def glance(solution: Solution) -> Document:
    """Return the conventions and the kept steps, without the middle of large ones."""
    sections = [step_at_a_glance(solution, step, full=False) for step in solution.steps]
    facts = Facts(conventions(solution.problem))
    notes = () if solution.is_proven else (IN_FLOATS,)
    return Document(heading(solution.problem), (facts, *sections), notes)


def step_at_a_glance(solution: Solution, step: Step, *, full: bool) -> Section:
    """Return one step: its equation, and its matrix or that of each shown head."""
    return Section(
        step,
        formula(step, solution.problem),
        f"{step.title}, {shape(solution, step)}",
        tuple(_grids(solution, step, full=full)),
        tuple(_on_heads_left_out(solution, step, full=full)),
        legend=legend(solution.problem) if step.role == "weights" else (),
    )


def _grids(solution: Solution, step: Step, *, full: bool) -> Iterator[Grid]:
    digits = solution.digits[step.name]
    rows, columns = solution.row_labels(step), solution.column_labels(step)
    heads = len(digits) if digits.ndim == 3 else 0
    for head in kept(heads, full=full, most=MOST_HEADS) if heads else [-1]:
        if head is not None:
            place = () if head < 0 else (head,)
            cells = _cells(solution, step, place)
            yield Grid(step.name, head + 1, rows, columns, cells, full)._replace(one=step.slices)


def _on_heads_left_out(solution: Solution, step: Step, *, full: bool) -> Iterator[str]:
    digits = solution.digits[step.name]
    if digits.ndim == 3 and None in kept(len(digits), full=full, most=MOST_HEADS):
        most = MOST_HEADS // 2
        yield f"heads {most + 1} to {len(digits) - most} are left out"


def _cells(solution: Solution, step: Step, head: tuple[int, ...]) -> Callable[[int, int], Cell]:
    """Return a function of single entries: a large matrix is never rounded or ranked entirely."""
    standing, digits = solution.problem.standing, solution.digits[step.name]
    ranks = ranks_of(solution, step, head[0] if head else 0) if step.role == "weights" else None

    @cache  # called for digits, and for hidden values
    def cell(row: int, column: int) -> Cell:
        place = standing.place((row, column))
        text = fixed(np.asarray(digits[(*head, *place)]).item(), solution.problem.decimals)
        number = MINUS_INFINITY if text == "-inf" else Number(text)
        return Cell(number, ranks(place[0]).get(place[1], "") if ranks else "")

    return cell
