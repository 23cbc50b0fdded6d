"""A page as CSV: one file of blocks that can be read back as the problem, or a file for each step.

The problem stands first. What follows the line "results" is for people and spreadsheets: reading
it back, attncalc works all of it out anew.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from attncalc.problem.serialising import OWN_PROBLEM, RESULTS, Row, in_csv
from attncalc.text import harmless_cell
from attncalc.writing.document import Connections, Grid, Section
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import Page
from attncalc.writing.prose import line_in_text, texts_of_row


def write_csv(page: Page) -> Iterator[str]:
    """Yield the page as one file of blocks, line by line.

    Raises
    ------
    InputError
        When the problem has masks for each head, which blocks cannot hold.
    """
    return as_lines(_blocks(page))


def _blocks(page: Page) -> Iterator[Row]:
    yield from in_csv(page.problem)
    yield from ([], [RESULTS])
    for section in page.sections:
        for grid in section.grids:
            yield from ([], [_name(grid)])
            yield from _labelled(grid)
    for name, block in _words(page):
        yield from ([], [name], *block)


def write_csv_files(page: Page) -> dict[str, Iterator[str]]:
    """Return the page as files by name: the problem, one for each step, and what is said."""
    files = {OWN_PROBLEM: as_lines(in_csv(page.problem))}
    for section in page.sections:
        files[f"{section.step.name}.csv"] = as_lines(_section(section))
    for name, block in _words(page):
        files[f"{name}.csv"] = as_lines(block)
    return files


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
    """Yield the blocks of the work, the connections, the patterns and the notes."""
    if page.lines:
        yield "work", [[line_in_text(line)] for line in page.lines]
    connections = [
        [", ".join(filter(None, (part.of, f"head {head}" if head else ""))), harmless_cell(text)]
        for part in page.parts
        if isinstance(part, Connections)
        for head, sentences in part.heads
        for text in sentences
    ]
    if connections:
        yield "connections", connections
    if page.shown_patterns:
        yield "patterns", [[harmless_cell(text)] for text in page.shown_patterns]
    hidden = [
        [f"not zero: {in_text(entry)}", in_text(value)]
        for section in page.sections
        for entry, value in _elided(section).hidden
    ]
    said = (*page.conventions, *page.remarks, *page.notes)
    notes = [["note", harmless_cell(text)] for text in said]
    yield "notes", [*hidden, *notes]


def _elided(section: Section) -> Section:
    """Return a step as a page shows it: what is hidden is told of no more than that."""
    return section._replace(grids=tuple(grid._replace(full=False) for grid in section.grids))


def as_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a CSV file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
