"""Tables for the terminal: every step under its equation, and no digit ever lost.

A matrix is drawn as lines of text in a frame: so nothing can cut a number, a column block is a
matter of counting characters, and 200 × 200 entries take no longer than 200 lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.text import Text

from attncalc import page as pages
from attncalc.expressions import MINUS_INFINITY, Number, Ratio
from attncalc.labels import shortened
from attncalc.page import MARK, Grid, Page, Section, kept
from attncalc.safe_text import harmless, on_a_line, within
from attncalc.words import legend
from attncalc.writing.blocks import blocks_of, caption
from attncalc.writing.mathematics import in_text
from attncalc.writing.prose import footnote, left_out, line_in_text

MOST_LINES = 100
"""Outputs whose influences are told before their middle is left out."""
LONGEST_ROW_NAME = 24
LONGEST_COLUMN_NAME = 12
FRAME = 7
"""Characters a table adds to the names and the numbers of a line."""
BETWEEN = "  "
"""What parts two numbers."""
ROOM_FOR_WORK = 4
"""Empty lines that a worksheet leaves under each matrix."""

BLANK = "_____"
"""Where a worksheet wants a number."""

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
    def frame(self) -> tuple[str, str, str, str]:
        """The corners and lines of the top, of the rule and of the bottom, and the bar."""
        if self.encoding.lower().startswith("utf"):
            return "╭─┬╮", "├─┼┤", "╰─┴╯", "│"
        return "+-++", "+-++", "+-++", "|"

    @property
    def ranks(self) -> dict[str, Cell]:
        """The marks of the largest and of the second weight in a row, and their styles."""
        return {
            "most": (within(self.encoding, " ●"), "bold reverse"),
            "second": (within(self.encoding, " ○"), "underline"),
            "": ("  ", ""),
        }


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
    cut = left_out(page, full=screen.full)
    if cut:
        yield f"the middle of {cut} is left out: --full shows all of it"


def on_screen(console: Console, texts: Iterator[Text], screen: Screen) -> str:
    """Return what they look like: tables as wide as they are, text in the screen's width."""
    console.width = 1_000_000  # wider than any table: rich cuts what is wider than its console
    with console.capture() as captured:
        console.print(Group(*(_within_screen(text, screen) for text in texts)))
    return captured.get()


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
        most, second = (screen.ranks[rank][0].strip() for rank in ("most", "second"))
        yield _line(legend(page.problem, most, second))
    for text in (*footnote(page, section, full=screen.full), *section.remarks):
        yield _line(text)
    if page.is_blank:
        yield Text("\n" * (ROOM_FOR_WORK - 1))


def _line(text: str, style: str = "") -> Text:
    return Text(text, style=style)


def _within_screen(text: Text, screen: Screen) -> RenderableType:
    """Break a text between words alone, for a number is never cut."""
    if screen.width is None or text.no_wrap:
        return text
    longest = max((cell_len(word) for word in text.plain.split()), default=0)
    return Constrain(text, max(screen.width, longest))


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
    yield _line(f"{_padded('Inputs', width, left=False)}  {gap}  Outputs", style="bold")
    for left, right in zip_longest(inputs, outputs):
        start = _padded(left, width, left=False) + f" {dot}" if left else " " * (width + 2)
        yield _line(f"{start}{gap}{dot} {right}\n" if right else f"{start}\n")


def _matrix(grid: Grid, screen: Screen) -> Iterator[Text]:
    """Yield a matrix as one table, or as one for each block of columns that fits the screen."""
    lines = _aligned(_cells(grid, screen))
    widths = [cell_len(text) for text, _ in lines[0]]
    room = None if screen.width is None else screen.width - widths[0] - FRAME
    blocks = list(blocks_of(widths[1:], room, len(BETWEEN)))
    places = kept(len(grid.columns), full=screen.full)
    for start, stop in blocks:
        if len(blocks) > 1:
            yield _line(caption("column", places[start:stop], len(grid.columns)))
        yield _framed(lines, start + 1, stop + 1, screen)


def _cells(grid: Grid, screen: Screen) -> list[list[Cell]]:
    """Return the shown part of a matrix, its columns named above and its rows named before."""
    rows, columns = (kept(len(names), full=screen.full) for names in (grid.rows, grid.columns))
    names = _fitting(grid.rows, rows, LONGEST_ROW_NAME, screen)
    headings = _fitting(grid.columns, columns, LONGEST_COLUMN_NAME, screen)
    cells = [[None if i is None or j is None else grid.cell(i, j) for j in columns] for i in rows]
    known = [cell for row in cells for cell in row if cell]
    mark = within(screen.encoding, MARK) if any(cell.hidden for cell in known) else ""
    ranks = screen.ranks if any(cell.rank for cell in known) else {}
    no_rank = ranks.get("", ("", ""))
    beside = " " * len(mark) + no_rank[0]

    def text(cell: pages.Cell | None) -> Cell:
        if cell is None:
            return screen.ellipsis + beside, ""
        rank, style = ranks.get(cell.rank, no_rank)
        return _number(cell.content) + (mark if cell.hidden else " " * len(mark)) + rank, style

    return [
        [("", ""), *((heading + beside, "bold") for heading in headings)],
        *(
            [(name, "bold"), *(text(cell) for cell in row)]
            for name, row in zip(names, cells, strict=True)
        ),
    ]


def _number(content: Number | Ratio | None) -> str:
    if content is None:
        return BLANK
    return "-inf" if content == MINUS_INFINITY else in_text(content)


def _fitting(
    names: Sequence[str], shown: list[int | None], longest: int, screen: Screen
) -> list[str]:
    """Return the names that are shown, cut where they are long, and still told apart."""
    whole = [harmless(names[i]) for i in shown if i is not None]
    short = shortened(whole, longest, screen.ellipsis)
    fitting = [within(screen.encoding, on_a_line(name)) for name in short]
    if None in shown:
        fitting.insert(shown.index(None), screen.ellipsis)
    return fitting


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


def _framed(grid: list[list[Cell]], start: int, stop: int, screen: Screen) -> Text:
    """Return the names of the rows, and these columns, in a frame with a rule under the headings.

    Each line of numbers is one text: rich, which draws 9,000 cells a second, is asked for none.
    """
    rows = [
        (Text(*row[0]), Text(BETWEEN).join(Text(*cell) for cell in row[start:stop])) for row in grid
    ]
    widths = [cell_len(part.plain) + 2 for part in rows[0]]
    *corners, bar = screen.frame
    rules = [
        left + cross.join(line * width for width in widths) + right
        for left, line, cross, right in map(tuple, corners)
    ]
    body = [
        Text.assemble(f"{bar} ", name, f" {bar} ", numbers, f" {bar}") for name, numbers in rows
    ]
    lines = [Text(rules[0]), body[0], Text(rules[1]), *body[1:], Text(rules[2])]
    return Text("\n", no_wrap=True).join(lines)
