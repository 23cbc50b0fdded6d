"""Frames of text: matrices on a terminal, in a pipe or in a file, without losing a digit.

A matrix is drawn as lines of text: nothing can cut a number, a block of columns requires counting
characters, and 200 × 200 entries take no longer than 200 lines.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.text import Text

from attncalc.base.text import on_a_line, shown_names, within
from attncalc.writing.document import blocks_of, caption

FRAME = 7
"""Characters a table adds to the names and the numbers of a line."""
BETWEEN = "  "
"""The gap between two numbers."""

Styled = tuple[str, str]
"""A text and its style."""


@dataclass(frozen=True)
class Screen:
    """The target of tables: its width (None for any), and its encoding (not Unicode: ASCII)."""

    width: int | None = None
    encoding: str = "utf-8"

    @property
    def ellipsis(self) -> str:
        """The mark of omitted parts."""
        return within(self.encoding, "…")

    @property
    def frame(self) -> tuple[str, str, str, str]:
        """The corners and lines of the top, of the rule and of the bottom, and the bar."""
        if self.encoding.lower().startswith("utf"):
            return "╭─┬╮", "├─┼┤", "╰─┴╯", "│"
        return "+-++", "+-++", "+-++", "|"


class Continued(Text):
    """A text that continues indented, by `under` characters, if a line is too short."""

    under = 4


def on_screen(console: Console, texts: Iterator[Text], screen: Screen) -> str:
    """Return the printed texts: tables at full width, text at the width of the screen."""
    console.width = 1_000_000  # wider than any table: rich cuts what is wider than its console
    with console.capture() as captured:
        console.print(Group(*(_within_screen(text, screen, console) for text in texts)))
    return captured.get()


def _within_screen(text: Text, screen: Screen, console: Console) -> RenderableType:
    """Break a text only between words: a number is never cut."""
    if screen.width is None or text.no_wrap:
        return text
    longest = max((cell_len(word) for word in text.plain.split()), default=0)
    if not isinstance(text, Continued) or cell_len(text.plain) <= screen.width:
        return Constrain(text, max(screen.width, longest))
    lines = text.wrap(console, max(screen.width - text.under, longest))
    for line in lines:
        line.rstrip()
    return Text("\n" + " " * text.under, no_wrap=True).join(lines)


def framed(
    cells: list[list[Styled]],
    places: Sequence[int | None],
    screen: Screen,
    say: Callable[[str], str] = str,
) -> Iterator[Text]:
    """Yield a matrix as one frame, or as one for each block of columns that fits the screen."""
    lines = _aligned(cells)
    widths = [cell_len(text) for text, _ in lines[0]]
    room = None if screen.width is None else screen.width - widths[0] - FRAME
    blocks = list(blocks_of(widths[1:], room, len(BETWEEN)))
    count = max((place + 1 for place in places if place is not None), default=0)
    for start, stop in blocks:
        if len(blocks) > 1:
            yield Text(say(caption("column", places[start:stop], count)))
        yield _framed(lines, start + 1, stop + 1, screen)


def fitting(
    names: Sequence[str], shown: list[int | None], longest: int, screen: Screen
) -> list[str]:
    """Return the names that are shown, long ones cut, and still distinct."""

    def known(name: str) -> str:
        return within(screen.encoding, on_a_line(name))

    return shown_names(names, shown, longest, known, (screen.ellipsis, screen.ellipsis))


def _aligned(grid: list[list[Styled]]) -> list[list[Styled]]:
    """Pad each column to one width: names to the left, numbers to the right."""
    widths = [max(cell_len(text) for text, _ in column) for column in zip(*grid, strict=True)]
    return [
        [
            (padded(text, width, left=place == 0), style)
            for place, ((text, style), width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in grid
    ]


def padded(text: str, width: int, *, left: bool) -> str:
    """Return a text with blanks up to a width, on its right or on its left."""
    blanks = " " * (width - cell_len(text))
    return text + blanks if left else blanks + text


def _framed(grid: list[list[Styled]], start: int, stop: int, screen: Screen) -> Text:
    """Return the names of the rows, and these columns, in a frame with a rule under the headings.

    Each line of numbers is one text: rich, which draws 9,000 cells a second, is asked for none.
    """
    rows = [(Text(*row[0]), _in_line(row[start:stop])) for row in grid]
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


def _in_line(cells: list[Styled]) -> Text:
    """Return the cells of a line; only those with a style are passed to rich one by one."""
    line = Text(BETWEEN.join(text for text, _ in cells))
    start = 0
    for text, style in cells:
        if style:
            line.stylize(style, start, start + len(text))
        start += len(text) + len(BETWEEN)
    return line
