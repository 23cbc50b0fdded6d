"""A solution at a glance: every step as a table, and nothing worked out that is not shown.

A page says more (the notes, what each output attends to), and goes through every row for it.
"""

from collections.abc import Iterator

import numpy as np
from rich.text import Text

from attncalc.numbers.rounding import fixed
from attncalc.numbers.types import Matrix
from attncalc.operations.step import Step
from attncalc.problem.stated import conventions, heading
from attncalc.solving.connections import connections
from attncalc.solving.plan import formula
from attncalc.solving.solution import Solution
from attncalc.text import within
from attncalc.writing.frames import Cell, Screen, fitting, framed
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import kept
from attncalc.writing.sentences import legend, shape

MOST_HEADS = 4
"""Heads of a step before those in the middle are left out."""
LONGEST_ROW_NAME = 24
LONGEST_COLUMN_NAME = 12
MOST, SECOND = " ●", " ○"
"""What stands beside the largest weight of an output, and beside the second."""

IN_FLOATS = "too large for exact decimals: the digits shown are those of float64 arithmetic"

Kept = list[int | None]


def glance(solution: Solution, screen: Screen) -> Iterator[Text]:
    """Yield the heading, the conventions, and the kept steps, their middles left out if large."""
    yield Text(heading(solution.problem), style="bold")
    yield Text(" · ".join(conventions(solution.problem)))
    for step in solution.steps:
        yield Text()
        yield from step_in_tables(solution, step, screen)
    if not solution.is_exact:
        yield Text(f"\n{IN_FLOATS}")
    for name in [step.name for step in solution.steps if _is_cut(solution, step, screen)][:1]:
        yield Text(
            f'\n{screen.ellipsis} stands for what is left out: solution["{name}"] has it all'
        )


def step_in_tables(solution: Solution, step: Step, screen: Screen) -> Iterator[Text]:
    """Yield a step's equation, and its matrix or that of each head."""
    equation = Text(f"{step.name} = {in_text(formula(step, solution.problem))}", style="bold")
    yield equation.append(f"   {step.title}, {shape(solution, step)}", style="not bold")
    for head in _heads(solution, step, screen):
        if head is None:
            yield Text(screen.ellipsis)
            continue
        if head:
            yield Text(f"head {head[0] + 1} of {len(solution.digits[step.name])}")
        yield from _matrix(solution, step, head, screen)
    if step.role == "weights":
        signs = (within(screen.encoding, sign).strip() for sign in (MOST, SECOND))
        yield Text(legend(solution.problem, *signs))


def _heads(solution: Solution, step: Step, screen: Screen) -> Iterator[tuple[int, ...] | None]:
    """Yield what places begin with, for each head that is shown; None for those left out."""
    if solution.digits[step.name].ndim == 2:
        yield ()
        return
    count = len(solution.digits[step.name])
    for head in kept(count, full=screen.full, most=MOST_HEADS):
        yield None if head is None else (head,)


def _is_cut(solution: Solution, step: Step, screen: Screen) -> bool:
    sizes = solution.digits[step.name].shape[-2:]
    is_cut = any(None in kept(size, full=screen.full) for size in sizes)
    return is_cut or None in _heads(solution, step, screen)


def _matrix(
    solution: Solution, step: Step, head: tuple[int, ...], screen: Screen
) -> Iterator[Text]:
    height, width = solution.problem.standing.pair(*solution.digits[step.name].shape[-2:])
    rows, columns = (kept(size, full=screen.full) for size in (height, width))
    texts = iter(_texts(solution, step, head, rows, columns).flat)
    ranks = _ranks(solution, head, rows, columns) if step.role == "weights" else None
    signs = {rank: within(screen.encoding, rank) for rank in (MOST, SECOND, "  ")}
    beside = signs["  "] if ranks is not None else ""

    def cell(i: int | None, j: int | None) -> Cell:
        if i is None or j is None:
            return screen.ellipsis + beside, ""
        rank = "" if ranks is None else ranks.get((i, j), "  ")
        style = {MOST: "bold", SECOND: "underline"}.get(rank, "")
        return within(screen.encoding, next(texts)) + signs.get(rank, ""), style

    names = fitting(solution.row_labels(step), rows, LONGEST_ROW_NAME, screen)
    above = fitting(solution.column_labels(step), columns, LONGEST_COLUMN_NAME, screen)
    cells = [
        [("", ""), *((name + beside, "bold") for name in above)],
        *(
            [(name, "bold"), *(cell(i, j) for j in columns)]
            for name, i in zip(names, rows, strict=True)
        ),
    ]
    yield from framed(cells, columns, screen)


def _texts(
    solution: Solution, step: Step, head: tuple[int, ...], rows: Kept, columns: Kept
) -> Matrix:
    """Return the digits of what is shown of a matrix, row by row."""
    standing = solution.problem.standing
    places = standing.pair(*([i for i in each if i is not None] for each in (rows, columns)))
    # only these are rounded: a large matrix is never rounded whole
    shown = np.asarray(solution.digits[step.name][(*head, *np.ix_(*places))])
    decimals = solution.problem.decimals
    written = np.frompyfunc(lambda value: fixed(value, decimals).replace("inf", "∞"), 1, 1)
    return np.asarray(written(standing.shown(shown)), dtype=object)


def _ranks(
    solution: Solution, head: tuple[int, ...], rows: Kept, columns: Kept
) -> dict[tuple[int, int], str]:
    """Return where the largest and the second weight stand, of the outputs that are shown."""
    standing = solution.problem.standing
    of_outputs, _ = standing.pair(rows, columns)
    outputs = [output for output in of_outputs if output is not None]
    weights = solution.heads[head[0] if head else 0]
    visible = (weights.rounded[output] != 0 for output in outputs)
    ranks: dict[tuple[int, int], str] = {}
    for found in connections(weights.weights[outputs], visible):
        output = outputs[found.output]
        for inputs, sign in ((found.most, MOST), (found.second, SECOND)):
            for each in inputs:
                row, column = standing.place((output, each))
                ranks[row, column] = sign
    return ranks
