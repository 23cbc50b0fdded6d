"""Tables for the terminal: every step under its equation."""

from collections.abc import Iterator
from itertools import zip_longest

from rich.cells import cell_len
from rich.text import Text

from attncalc.text import on_a_line, within
from attncalc.writing import page as pages
from attncalc.writing.frames import Cell, Screen, fitting, framed, padded
from attncalc.writing.mathematics import in_text
from attncalc.writing.page import MARK, Grid, Page, Section, kept
from attncalc.writing.prose import footnote, line_in_text, notes_on_the_middle, plain_entry
from attncalc.writing.sentences import BLANK, legend

MOST_LINES = 100
"""Outputs whose influences are told before their middle is left out."""
LONGEST_ROW_NAME = 24
LONGEST_COLUMN_NAME = 12
ROOM_FOR_WORK = 4
"""Empty lines that a worksheet leaves under each matrix."""


def write_tables(page: Page, screen: Screen) -> Iterator[Text]:
    """Yield the heading, the problem, each step with its work, and what the weights say."""
    yield _line(page.heading, style="bold")
    yield _line(" · ".join(page.conventions))
    for grid in page.given:
        yield Text()
        yield _line(grid.name if not grid.head else f"{grid.name}, head {grid.head}", style="bold")
        yield from _matrix(grid, screen)
    for section in page.sections:
        yield from _section(page, section, screen)
    if page.influences:
        yield Text()
        yield from _influences(page, screen)
    if page.is_blank and page.has_map:
        yield from _empty_map(page, screen)


def write_notes(page: Page, screen: Screen) -> Iterator[str]:
    """Yield what should be said beside the tables."""
    yield from page.notes
    yield from notes_on_the_middle(page, full=screen.full)


def _section(page: Page, section: Section, screen: Screen) -> Iterator[Text]:
    yield Text()
    equation = Text(f"{section.step.name} = {in_text(section.formula)}", style="bold")
    yield equation.append(f"   {section.step.title}, {section.shape}", style="not bold")
    for grid in section.grids:
        if grid.head:
            yield _line(f"head {grid.head} of {len(section.grids)}")
        yield from _matrix(grid, screen)
    for line in section.lines:
        yield _line(line_in_text(line))
    if section.grids and section.step.name == "A" and not page.is_blank:
        most, second = (_ranks(screen)[rank][0].strip() for rank in ("most", "second"))
        yield _line(legend(page.problem, most, second))
    for text in (*footnote(page, section, full=screen.full), *section.remarks):
        yield _line(text)
    if page.is_blank:
        yield Text("\n" * (ROOM_FOR_WORK - 1))


def _line(text: str, style: str = "") -> Text:
    return Text(text, style=style)


def _influences(page: Page, screen: Screen) -> Iterator[Text]:
    for head, sentences in page.influences:
        if head:
            yield _line(f"Head {head}", style="bold")
        for index in kept(len(sentences), full=screen.full, most=MOST_LINES):
            yield _line(screen.ellipsis if index is None else sentences[index])


def _empty_map(page: Page, screen: Screen) -> Iterator[Text]:
    """Yield the two columns of dots to draw lines between."""
    problem = page.problem
    sides = ([on_a_line(name) for name in names] for names in (problem.keys, problem.queries))
    inputs, outputs = ([within(screen.encoding, name) for name in side] for side in sides)
    width = max(cell_len(name) for name in (*inputs, "Inputs"))
    dot, gap = within(screen.encoding, "●"), " " * 24
    yield Text()
    yield _line(f"{padded('Inputs', width, left=False)}  {gap}  Outputs", style="bold")
    for left, right in zip_longest(inputs, outputs):
        start = padded(left, width, left=False) + f" {dot}" if left else " " * (width + 2)
        yield _line(f"{start}{gap}{dot} {right}\n" if right else f"{start}\n")


def _matrix(grid: Grid, screen: Screen) -> Iterator[Text]:
    """Yield a matrix as one table, or as one for each block of columns that fits the screen."""
    return framed(_cells(grid, screen), kept(len(grid.columns), full=screen.full), screen)


def _cells(grid: Grid, screen: Screen) -> list[list[Cell]]:
    """Return the shown part of a matrix, its columns named above and its rows named before."""
    rows, columns = (kept(len(names), full=screen.full) for names in (grid.rows, grid.columns))
    names = fitting(grid.rows, rows, LONGEST_ROW_NAME, screen)
    headings = fitting(grid.columns, columns, LONGEST_COLUMN_NAME, screen)
    cells = [[None if i is None or j is None else grid.cell(i, j) for j in columns] for i in rows]
    known = [cell for row in cells for cell in row if cell]
    mark = within(screen.encoding, MARK) if any(cell.hidden for cell in known) else ""
    ranks = _ranks(screen) if any(cell.rank for cell in known) else {}
    no_rank = ranks.get("", ("", ""))
    beside = " " * len(mark) + no_rank[0]

    def text(cell: pages.Cell | None) -> Cell:
        if cell is None:
            return screen.ellipsis + beside, ""
        rank, style = ranks.get(cell.rank, no_rank)
        return (plain_entry(cell) or BLANK) + (
            mark if cell.hidden else " " * len(mark)
        ) + rank, style

    return [
        [("", ""), *((heading + beside, "bold") for heading in headings)],
        *(
            [(name, "bold"), *(text(cell) for cell in row)]
            for name, row in zip(names, cells, strict=True)
        ),
    ]


def _ranks(screen: Screen) -> dict[str, Cell]:
    """Return the marks of the largest and of the second weight in a row, and their styles."""
    return {
        "most": (within(screen.encoding, " ●"), "bold reverse"),
        "second": (within(screen.encoding, " ○"), "underline"),
        "": ("  ", ""),
    }
