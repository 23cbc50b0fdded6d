"""Tables for the terminal: every step under its equation, and no digit ever lost.

A matrix is drawn as a rich table of two columns: the names of its rows, and its rows as lines of
numbers already aligned. So rich cannot cut a number, a column block is a matter of counting
characters, and 200 × 200 entries take no longer than 200 lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from attncalc.labels import shortened
from attncalc.plan import Step, formula
from attncalc.rounding import Matrix, fixed
from attncalc.safe_text import harmless, on_a_line, within
from attncalc.solution import Solution
from attncalc.words import Note, conventions, heading, influence, notes, shape
from attncalc.writing.mathematics import in_text

MOST_SHOWN = 20
"""Rows and columns shown of a matrix before its middle is left out."""
MOST_LINES = 100
"""Outputs whose influences are told before their middle is left out."""
LONGEST_ROW_NAME = 24
LONGEST_COLUMN_NAME = 12
FRAME = 7
"""Characters a table adds to the names and the numbers of a line."""
BETWEEN = "  "
"""What parts two numbers."""

Cell = tuple[str, str]
"""A text and its style."""


@dataclass(frozen=True)
class Screen:
    """What the tables are drawn on.

    Parameters
    ----------
    width
        Characters in a line, or None where lines may be as long as they must be.
    full
        Show large matrices whole.
    encoding
        What its characters are encoded in; where that is not Unicode, ASCII is used.
    """

    width: int | None = None
    full: bool = False
    encoding: str = "utf-8"

    @property
    def ellipsis(self) -> str:
        """The mark for what is left out."""
        return within(self.encoding, "…")

    @property
    def ranks(self) -> tuple[str, str]:
        """The marks of the largest and of the second weight in a row."""
        return within(self.encoding, "●"), within(self.encoding, "○")


def write_tables(
    solution: Solution, steps: tuple[Step, ...], screen: Screen
) -> Iterator[RenderableType]:
    """Yield the heading, a table for each step that is wanted, and what the weights say."""
    yield _line(heading(solution.problem), style="bold")
    yield _line(" · ".join(conventions(solution.problem)))
    remarks = notes(solution)
    for step in steps:
        yield from _step(solution, step, remarks, screen)
    if any(step.name == "A" for step in steps):
        yield Text()
        yield from _influences(solution, screen)


def write_notes(solution: Solution, steps: tuple[Step, ...], screen: Screen) -> Iterator[str]:
    """Yield what should be said beside the tables."""
    yield from (note.text for note in notes(solution) if not note.step)
    cut = [
        step.name
        for step in steps
        if not screen.full and max(solution[step.name].shape[-2:]) > MOST_SHOWN
    ]
    if cut:
        yield f"the middle of {', '.join(cut)} is left out: --full shows all of it"


def on_screen(console: Console, renderables: Iterator[RenderableType], screen: Screen) -> str:
    """Return what they look like: tables as wide as they are, text in the screen's width."""
    console.width = 1_000_000  # wider than any table: rich cuts what is wider than its console
    page = [
        Constrain(each, screen.width) if isinstance(each, Text) else each for each in renderables
    ]
    with console.capture() as captured:
        console.print(Group(*page))
    return captured.get()


def _step(
    solution: Solution, step: Step, remarks: tuple[Note, ...], screen: Screen
) -> Iterator[RenderableType]:
    yield Text()
    equation = Text(f"{step.name} = {in_text(formula(step, solution.problem))}", style="bold")
    yield equation.append(f"   {step.title}, {shape(solution, step)}", style="not bold")
    matrix = solution.rounded(step.name)
    if matrix.ndim == 2:
        yield from _matrix(solution, step, matrix, screen)
    else:
        for number, part in enumerate(matrix, start=1):
            yield _line(f"head {number} of {len(matrix)}")
            yield from _matrix(solution, step, part, screen, head=number)
    if step.name == "A":
        most, second = screen.ranks
        line = "row" if solution.problem.layout == "rows" else "column"
        yield _line(f"{most} largest of its {line}   {second} second")
    for note in remarks:
        if note.step == step.name:
            yield _line(note.text)


def _line(text: str, style: str = "") -> Text:
    return Text(text, style=style)


def _influences(solution: Solution, screen: Screen) -> Iterator[Text]:
    for head in solution.heads:
        if head.number:
            yield _line(f"Head {head.number}", style="bold")
        for index in _kept(solution.problem.n, screen, MOST_LINES):
            if index is None:
                yield Text(screen.ellipsis)
            else:
                yield _line(influence(solution.problem, head, head.connections[index]))


def _matrix(
    solution: Solution, step: Step, matrix: Matrix, screen: Screen, head: int = 1
) -> Iterator[RenderableType]:
    """Yield a matrix as one table, or as one for each block of columns that fits the screen."""
    grid = _aligned(_grid(solution, step, matrix, screen, head))
    widths = [cell_len(text) for text, _ in grid[0]]
    room = None if screen.width is None else screen.width - widths[0] - FRAME
    blocks = list(_blocks(widths[1:], room))
    places = _kept(matrix.shape[1], screen)
    for start, stop in blocks:
        if len(blocks) > 1:
            yield _line(_block_caption(places[start:stop], matrix.shape[1]))
        yield _table(grid, start + 1, stop + 1)


def _grid(
    solution: Solution, step: Step, matrix: Matrix, screen: Screen, head: int
) -> list[list[Cell]]:
    """Return the shown part of a matrix, its columns named above and its rows named before."""
    decimals = solution.problem.decimals
    rows, columns = (_kept(length, screen) for length in matrix.shape)
    names = _fitting(solution.row_labels(step), rows, LONGEST_ROW_NAME, screen)
    headings = _fitting(solution.column_labels(step), columns, LONGEST_COLUMN_NAME, screen)
    ranks = _ranks(solution, head, screen) if step.name == "A" else {}
    unranked = ("  ", "") if ranks else ("", "")

    def cell(i: int | None, j: int | None) -> Cell:
        if i is None or j is None:
            return screen.ellipsis + unranked[0], ""
        mark, style = ranks.get((i, j), unranked)
        return fixed(matrix[i, j], decimals) + mark, style

    return [
        [("", ""), *((heading + unranked[0], "bold") for heading in headings)],
        *(
            [(name, "bold"), *(cell(i, j) for j in columns)]
            for name, i in zip(names, rows, strict=True)
        ),
    ]


def _kept(length: int, screen: Screen, most: int = MOST_SHOWN) -> list[int | None]:
    """Return the indices that are shown, with None where the middle is left out."""
    if screen.full or length <= most:
        return list(range(length))
    half = most // 2
    return [*range(half), None, *range(length - half, length)]


def _fitting(
    names: Sequence[str], kept: list[int | None], longest: int, screen: Screen
) -> list[str]:
    """Return the names that are shown, cut where they are long, and still told apart."""
    whole = [harmless(names[i]) for i in kept if i is not None]
    short = shortened(whole, longest, screen.ellipsis)
    shown = [within(screen.encoding, on_a_line(name)) for name in short]
    if None in kept:
        shown.insert(kept.index(None), screen.ellipsis)
    return shown


def _ranks(solution: Solution, head: int, screen: Screen) -> dict[tuple[int, int], Cell]:
    """Return the mark and the style of the largest and second weights, by their place."""
    most, second = screen.ranks
    ranks: dict[tuple[int, int], Cell] = {}
    for connection in solution.heads[head - 1].connections:
        for inputs, cell in (
            (connection.most, (f" {most}", "bold reverse")),
            (connection.second, (f" {second}", "underline")),
        ):
            ranks.update({(connection.output, index): cell for index in inputs})
    if solution.problem.layout == "columns":
        return {(index, output): cell for (output, index), cell in ranks.items()}
    return ranks


def _aligned(grid: list[list[Cell]]) -> list[list[Cell]]:
    """Pad each column to one width: names to the left, numbers to the right."""
    widths = [max(cell_len(text) for text, _ in column) for column in zip(*grid, strict=True)]
    return [
        [
            (_padded(text, width, left=place == 0), style)
            for place, ((text, style), width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in grid
    ]


def _padded(text: str, width: int, *, left: bool) -> str:
    blanks = " " * (width - cell_len(text))
    return text + blanks if left else blanks + text


def _blocks(widths: list[int], room: int | None) -> Iterator[tuple[int, int]]:
    """Yield the columns of each block, from start to before stop; at least one column each."""
    start, used = 0, 0
    for place, width in enumerate(widths):
        if room is not None and place > start and used + width > room:
            yield start, place
            start, used = place, 0
        used += width + len(BETWEEN)
    yield start, len(widths)


def _block_caption(places: list[int | None], of: int) -> str:
    """Say which columns of how many a block holds, as in "columns 1 to 8 of 40"."""
    shown = [place + 1 for place in places if place is not None]
    if len(shown) < 2:
        return f"column {shown[0]} of {of}" if shown else ""
    return f"columns {shown[0]} to {shown[-1]} of {of}"


def _table(grid: list[list[Cell]], start: int, stop: int) -> Table:
    table = Table(box=box.ROUNDED)
    lines = [Text(BETWEEN).join(Text(*cell) for cell in row[start:stop]) for row in grid]
    table.add_column(Text(grid[0][0][0]), no_wrap=True)
    table.add_column(lines[0], no_wrap=True)
    for row, line in zip(grid[1:], lines[1:], strict=True):
        table.add_row(Text(*row[0]), line)
    return table
