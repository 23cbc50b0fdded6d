"""Documents for the terminal: every step under its equation."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import zip_longest
from textwrap import wrap

from rich.cells import cell_len
from rich.text import Text

from attncalc.base.text import on_a_line, within
from attncalc.languages.catalogue import catalogue
from attncalc.writing import document as parts
from attncalc.writing.frames import Continued, Screen, Styled, fitting, framed, padded
from attncalc.writing.mathematics import in_text
from attncalc.writing.prose import footnote, line_in_text, plain_entry
from attncalc.writing.sentences import BLANK
from attncalc.writing.translated import in_language

LONGEST_ROW_NAME = 24
LONGEST_COLUMN_NAME = 12
LONGEST_HEADING = 40
"""Characters of the heading of a column of a sheet, longer than the names of tokens."""
ROOM_FOR_WORK = 4
"""Empty lines that a worksheet leaves under each matrix."""
WIDTH_OF_TABLE = 80
RANKS = {"most": "●", "second": "○"}
STYLES = {"most": "bold reverse", "second": "underline", "follows": "cyan", "doubtful": "yellow"}
STYLES |= dict.fromkeys(("wrong", "unreadable"), "bold red")
OPENING = (parts.Field, parts.Facts, parts.Table, parts.Verdict)
"""The parts that follow the title without an empty line."""


def write_tables(document: parts.Document, screen: Screen) -> Iterator[Text]:
    """Yield the title, and each part of a document."""
    return _Terminal(screen).document(in_language(document))


def write_notes(document: parts.Document) -> Iterator[str]:
    """Yield the notes that go with the tables; advice is not handed in."""
    return _Terminal(Screen()).all_notes(in_language(document))


class _Terminal(parts.DocumentWriter[Text]):
    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.known = partial(within, screen.encoding)

    def document(self, document: parts.Document) -> Iterator[Text]:
        self.words = catalogue(document.language)
        if document.title:
            yield self._line(document.title, "bold")
        for part in document.parts:
            if isinstance(part, parts.Appendix):
                continue  # each of its documents can be requested separately
            if not isinstance(part, OPENING):
                yield Text()
            yield from self.write(part)

    def field(self, field: parts.Field) -> Iterator[Text]:
        if field.text is not None:
            yield self._line(f"{self.say(f'{field.label}:')} {field.text}")

    def facts(self, facts: parts.Facts) -> Iterator[Text]:
        yield self._line(" · ".join(facts.texts))

    def listed(self, texts: Iterable[str]) -> Iterator[Text]:
        yield from map(self._line, texts)

    def given(self, given: parts.Given) -> Iterator[Text]:
        for place, grid in enumerate(given.shown):
            if place:
                yield Text()
            yield self._line(grid.called, "bold")
            yield from self._matrix(grid)

    def section(self, section: parts.Section) -> Iterator[Text]:
        equation = self._line(f"{section.step.name} = {in_text(section.formula)}", "bold")
        yield equation.append(self.known(f"   {section.said}"), style="not bold")
        for grid in section.shown:
            if grid.head:
                count = grid.heads or section.grids[-1].head
                yield self._line(self.say(f"{section.step.slices} {grid.head} of {count}"))
            yield from self._matrix(grid)
        yield from (Continued(self.known(line_in_text(line))) for line in section.lines)
        if section.legend:
            yield from self.legend(parts.Legend(section.legend))
        yield from map(self._line, (*footnote(section, self.say), *section.remarks))
        if section.has_room:
            yield Text("\n" * (ROOM_FOR_WORK - 1))

    def legend(self, legend: parts.Legend) -> Iterator[Text]:
        signs = (f"{RANKS.get(key, key)} {means}" for key, means in legend.entries)
        yield self._line("   ".join(signs))

    def connections(self, connections: parts.Connections) -> Iterator[Text]:
        if connections.of:
            yield self._line(self.say(connections.title), "bold")
        for _, head, sentences in connections.shown:
            if head:
                yield self._line(self.say(f"Head {head}"), "bold")
            yield from map(self._line, sentences)
        if connections.is_blank:
            yield from self._dots(connections)

    def patterns(self, patterns: parts.Patterns) -> Iterator[Text]:
        yield self._line(self.say(parts.TITLE_OF_PATTERNS), "bold")
        yield from (Continued(self.known(text)) for text in patterns.shown(self.say))

    def _dots(self, connections: parts.Connections) -> Iterator[Text]:
        """Yield the two columns of dots to draw lines between."""
        sides = connections.inputs, connections.outputs
        inputs, outputs = ([self.known(on_a_line(name)) for name in names] for names in sides)
        width = max(cell_len(name) for name in (*inputs, self.say("Inputs")))
        dot, gap = self.known("●"), " " * 24
        heading = padded(self.say("Inputs"), width, left=False)
        yield Text()
        yield self._line(f"{heading}  {gap}  {self.say('Outputs')}", "bold")
        for left, right in zip_longest(inputs, outputs):
            start = padded(left, width, left=False) + f" {dot}" if left else " " * (width + 2)
            yield self._line(f"{start}{gap}{dot} {right}\n" if right else f"{start}\n")

    def verdict(self, verdict: parts.Verdict) -> Iterator[Text]:
        yield self._line(self.say(f"Score: {verdict.score} ({verdict.share})"), "bold")
        yield from map(self._line, verdict.sentences)

    def table(self, table: parts.Table) -> Iterator[Text]:
        """Yield the lines of each row, aligned on a terminal, no wider than it or 80 columns."""
        width = self.screen.width or WIDTH_OF_TABLE
        for place, *told in self._aligned(table.told):
            line = "   ".join([place, *told]).rstrip()
            if cell_len(line) <= width:
                yield Text(line)
                continue
            yield Continued(f"{place}   {told[0]}".rstrip())
            rest = wrap("   ".join(told[1:]), width - 4, break_on_hyphens=False)
            yield from (Text(f"    {piece}") for piece in rest)

    def sheet(self, sheet: parts.Sheet) -> Iterator[Text]:
        yield self._line(sheet.title, "bold")
        yield from self._matrix(sheet.grid, LONGEST_HEADING)

    def _aligned(self, rows: tuple[tuple[str, ...], ...]) -> list[list[str]]:
        known = [list(map(self.known, row)) for row in rows]
        if self.screen.width is not None and known:
            for column in (0, 1):
                widest = max(cell_len(row[column]) for row in known)
                for row in known:
                    row[column] = padded(row[column], widest, left=True)
        return known

    def _line(self, text: str, style: str = "") -> Text:
        return Text(self.known(text), style=style)

    def _matrix(self, grid: parts.Grid, longest: int = LONGEST_COLUMN_NAME) -> Iterator[Text]:
        """Yield a matrix as one table, or as one for each block of columns that fits the screen."""
        cells, places = self._cells(grid, longest), grid.column_places
        return framed(cells, places, self.screen, lambda text: self.known(self.say(text)))

    def _cells(self, grid: parts.Grid, longest: int) -> list[list[Styled]]:
        """Return the shown part of a matrix, its columns named above and its rows named before."""
        cells = grid.cells()
        known = [cell for row in cells for cell in row if cell]
        dagger = self.known(parts.DAGGER) if any(cell.hidden for cell in known) else ""
        wide = max((cell_len(self._sign(cell)) for cell in known), default=0)
        beside = " " * (len(dagger) + wide)

        def text(cell: parts.Cell | None) -> Styled:
            if cell is None:
                return self.screen.ellipsis + beside, ""
            hidden = dagger if cell.hidden else " " * len(dagger)
            look = cell.mark.look if cell.mark else cell.rank
            number = self.known(plain_entry(cell)) or BLANK
            return number + hidden + padded(self._sign(cell), wide, left=True), STYLES.get(look, "")

        names = fitting(grid.rows, grid.row_places, LONGEST_ROW_NAME, self.screen)
        headings = fitting(grid.columns, grid.column_places, longest, self.screen)
        return [
            [("", ""), *((heading + beside, "bold") for heading in headings)],
            *([(name, "bold"), *map(text, row)] for name, row in zip(names, cells, strict=True)),
        ]

    def _sign(self, cell: parts.Cell) -> str:
        """Return the sign that marks an entry without colors, after a blank."""
        sign = cell.mark.sign if cell.mark else RANKS.get(cell.rank, "")
        return self.known(f" {sign}") if sign else ""
