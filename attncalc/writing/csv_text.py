"""A page as CSV: one file of blocks that can be read back as the problem, or a file for each step.

The problem stands first. What follows the line "results" is for people and spreadsheets: reading
it back, attncalc works all of it out anew.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.types import Matrix
from attncalc.problem.fields import BIASES, LABELLED, WEIGHTS
from attncalc.problem.problem import Problem
from attncalc.problem.serialising import OWN_PROBLEM, RESULTS, TOKEN, as_typed, settings
from attncalc.text import harmless
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import Grid, Page, Section
from attncalc.writing.prose import line_in_text, texts_of_row

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""How a text begins that a spreadsheet would take for a formula."""

Row = Sequence[str]


def write_csv(page: Page) -> Iterator[str]:
    """Yield the page as one file of blocks, line by line.

    Raises
    ------
    InputError
        When the problem has masks for each head, which blocks cannot hold.
    """
    return _lines(_blocks(page))


def _blocks(page: Page) -> Iterator[Row]:
    yield from _problem(page.problem)
    yield from ([], [RESULTS])
    for section in page.sections:
        for grid in section.grids:
            yield from ([], [_name(grid)])
            yield from _labelled(grid)
    for name, block in _words(page):
        yield from ([], [name], *block)


def write_csv_files(page: Page) -> dict[str, Iterator[str]]:
    """Return the page as files by name: the problem, one for each step, and what is said."""
    files = {OWN_PROBLEM: _lines(_problem(page.problem))}
    for section in page.sections:
        files[f"{section.step.name}.csv"] = _lines(_section(section))
    for name, block in _words(page):
        files[f"{name}.csv"] = _lines(block)
    return files


def _problem(problem: Problem) -> Iterator[Row]:
    """Yield what a file of blocks says of a problem."""
    joined = {name: _joined(problem, name) for name in problem.names}
    said = settings(problem)
    if problem.n_heads > 1:
        said["heads"] = problem.n_heads
    for name, value in said.items():
        yield [name, harmless_cell(str(value).lower() if isinstance(value, bool) else str(value))]
    for name, matrix in joined.items():
        yield []
        yield [name]
        yield from _given(problem, name, matrix)


def _joined(problem: Problem, name: str) -> Matrix:
    """Return a given matrix in two dimensions, its heads side by side."""
    matrix = problem.as_given(name)
    if matrix.ndim == 2 or len(matrix) == 1:
        return matrix if matrix.ndim == 2 else matrix[0]
    if name not in (*WEIGHTS, *BIASES, *LABELLED, "V"):
        raise InputError(
            f"csv cannot hold {name}, a mask for each head: json and npz can (--format json)"
        )
    heads = problem.turned(name, matrix)
    upright = heads if heads.ndim == 2 else np.concatenate(list(heads), axis=-1)
    return upright.T if problem.standing.is_turned(name) else upright


def _given(problem: Problem, name: str, matrix: Matrix) -> Iterator[Row]:
    """Yield the rows of a given matrix, and the names of its tokens where it has any."""
    texts = ([as_typed(value) for value in row] for row in matrix)
    labels = _labels(problem, name)
    if labels is None:
        yield from texts
    elif problem.layout == "columns":
        yield [TOKEN, *labels]
        for number, row in enumerate(texts, start=1):
            yield [f"feature {number}", *row]
    else:
        yield [TOKEN, *(f"feature {number}" for number in range(1, matrix.shape[1] + 1))]
        for label, row in zip(labels, texts, strict=True):
            yield [label, *row]


def _labels(problem: Problem, name: str) -> list[str] | None:
    """Return the names of a matrix's tokens as they were given, if they were."""
    if name not in LABELLED or problem.labels is None:
        return None
    if isinstance(problem.labels, Mapping):
        names = problem.labels.get(name)
    else:
        names = problem.labels if name == "X" else None
    return None if names is None else [harmless_cell(str(each)) for each in names]


def _section(section: Section) -> Iterator[Row]:
    for place, grid in enumerate(section.grids):
        if grid.head:
            yield from [[], [_name(grid)]] if place else [[_name(grid)]]
        yield from _labelled(grid)


def _name(grid: Grid) -> str:
    return f"{grid.name} head {grid.head}" if grid.head else grid.name


def _labelled(grid: Grid) -> Iterator[Row]:
    """Yield the rows of a matrix as it is shown, between the names of its rows and columns."""
    yield ["", *(harmless_cell(name) for name in grid.columns)]
    for i, name in enumerate(grid.rows):
        yield [harmless_cell(name), *texts_of_row(grid, i)]


def _words(page: Page) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the blocks of the work, of what each output attends to, and of the notes."""
    if page.lines:
        yield "work", [[line_in_text(line)] for line in page.lines]
    connections = [
        [f"head {head}" if head else "", harmless_cell(text)]
        for head, sentences in page.influences
        for text in sentences
    ]
    if connections:
        yield "connections", connections
    hidden = [
        [f"not zero: {in_text(entry)}", in_text(value)]
        for section in page.sections
        for entry, value in page.hidden_of(section, full=False)
    ]
    said = (*page.conventions, *page.remarks, *page.notes)
    notes = [["note", harmless_cell(text)] for text in said]
    yield "notes", [*hidden, *notes]


def harmless_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula; reading it back mends it."""
    plain = harmless(text)
    return f"'{plain}" if _FORMULA.match(plain) else plain


def _lines(rows: Iterable[Row]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
