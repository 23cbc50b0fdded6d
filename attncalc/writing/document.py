"""Documents as values, whose parts define content and order; each form is a visitor."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast

from attncalc.base.text import numbered
from attncalc.equations.expressions import Expression, Indexed, Number, Ratio
from attncalc.languages.catalogue import ENGLISH, catalogue
from attncalc.problem.fields import one_of
from attncalc.problem.step import Step
from attncalc.solving.work import Derivation

Extent = Literal["brief", "elided", "full"]
"""The shown part of a marking: only the verdict, large matrices elided, or everything."""
MOST_SHOWN = 20
"""Rows and columns shown of a matrix before its middle is left out."""
MOST_HEADS = 20
"""Heads shown of a matrix before those in the middle are left out."""
MOST_SENTENCES = 100
"""Sentences of a list before its middle is left out."""
LEADING = 3
"""Facts about the weights that are shown unless all are asked for."""
DAGGER = "†"
"""The sign after a value that is not 0 and is shown as 0.00."""
TITLE_OF_PATTERNS = "What the weights show"
LEFT_OUT = "…"
"""Where the middle of a list is left out."""


class Mark(NamedTuple):
    """The sign after a marked entry, its meaning, and its appearance."""

    sign: str
    means: str
    look: str = ""


class Cell(NamedTuple):
    """One entry as shown.

    content: the number, or the text of an answer; None for a blank of a worksheet.
    rank: "most" for the largest weight of its row, "second" for the second, otherwise "".
    hidden: its value, if it is not zero but shown as 0.00.
    """

    content: Number | Ratio | str | None
    rank: str = ""
    hidden: Number | None = None
    mark: Mark | None = None


class Grid(NamedTuple):
    """A matrix, or one head of one, as shown.

    head: its head, or channel of an image, from 1; 0 if there are none.
    rows, columns: the names of its rows and columns: tokens, or numbers of features.
    cell: returns the entry at a row and a column, from 0.
    full: whether it is shown completely, at any size.
    texts: returns the digits of a row, from 0, at once; None if they are not decimals.
    heads: the number of heads, if not all of them are shown.
    one: the kind of each of several: a head by default, a channel of an image, or a token.
    said: which of several it is, in the language of its document; "" for English.
    """

    name: str
    head: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cell: Callable[[int, int], Cell]
    full: bool = False
    texts: Callable[[int], list[str]] | None = None
    heads: int = 0
    one: str = ""
    said: str = ""

    @property
    def which(self) -> str:
        """Which of several matrices of one name it is, as "head 2"; "" for the only one."""
        which = f"{self.one or one_of(self.name)} {self.head}" if self.head else ""
        return self.said or which

    @property
    def called(self) -> str:
        """Its name, and which of several it is."""
        return f"{self.name}, {self.which}" if self.head else self.name

    def entry(self, row: int, column: int) -> Indexed:
        """Return the name of an entry, whose row and column are from 0."""
        head = (self.head,) if self.head else ()
        return Indexed(self.name, (*head, row + 1, column + 1))

    @property
    def tokens(self) -> tuple[bool, bool]:
        """Whether rows, and whether columns, have names that are more than numbers."""
        names = self.rows, self.columns
        return names[0] != numbered(len(names[0])), names[1] != numbered(len(names[1]))

    @property
    def row_places(self) -> list[int | None]:
        """Which rows are shown, with None where the middle is left out."""
        return kept(len(self.rows), full=self.full)

    @property
    def column_places(self) -> list[int | None]:
        """Which columns are shown, with None where the middle is left out."""
        return kept(len(self.columns), full=self.full)

    @property
    def is_cut(self) -> bool:
        """Whether it is too large to be shown completely."""
        return None in (*self.row_places, *self.column_places)

    def cells(self) -> list[list[Cell | None]]:
        """Return the shown entries, row by row, with None for omitted ones."""
        columns = self.column_places
        return [
            [None if i is None or j is None else self.cell(i, j) for j in columns]
            for i in self.row_places
        ]

    def hidden(self) -> Iterator[tuple[Indexed, Number]]:
        """Yield the entries that are shown as 0.00 and are not 0."""
        for i, row in zip(self.row_places, self.cells(), strict=True):
            for j, cell in zip(self.column_places, row, strict=True):
                if i is not None and j is not None and cell and cell.hidden:
                    yield self.entry(i, j), cell.hidden


class LazySentences(Sequence[str]):
    """Sentences that `tell` computes when read: of very many, few are shown."""

    def __init__(self, count: int, tell: Callable[[int], str]) -> None:
        self._places, self._tell = range(count), tell

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._places)

    def __getitem__(self, place: Any) -> Any:
        """Return one of them, or some as a list."""
        chosen = self._places[place]
        return self._tell(chosen) if isinstance(chosen, int) else [*map(self._tell, chosen)]


class Section(NamedTuple):
    """A step: its equation, its matrix for each head, remarks on it, its work.

    said: its title and shape, or the credit of a marked step.
    legend: ranks with their meanings.
    is_marked: whether it shows an answer, which has no equation.
    has_room: whether there is space for work.
    """

    step: Step
    formula: Expression
    said: str
    grids: tuple[Grid, ...] = ()
    remarks: tuple[str, ...] = ()
    lines: tuple[Derivation, ...] = ()
    legend: tuple[tuple[str, str], ...] = ()
    is_marked: bool = False
    has_room: bool = False

    @property
    def shown(self) -> list[Grid]:
        """The heads that are shown, of very many without the middle."""
        return _without_middle(self.grids)

    @property
    def hidden(self) -> tuple[tuple[Indexed, Number], ...]:
        """The values that are shown as 0.00 and are not 0."""
        if self.grids:
            return tuple(pair for grid in self.shown for pair in grid.hidden())
        return tuple((line.entry, line.hidden) for line in self.lines if line.hidden)


class Field(NamedTuple):
    """Something under its name: who answered; on a worksheet (None), a line to write on.

    `code` is what pages also show as a QR code.
    """

    label: str
    text: str | None
    code: str = ""


class Facts(NamedTuple):
    """Short facts in a line: the conventions."""

    texts: tuple[str, ...]


class Bullets(NamedTuple):
    """Separate sentences."""

    texts: tuple[str, ...]


class Given(NamedTuple):
    """The matrices of the problem, each under its name."""

    grids: tuple[Grid, ...]

    @property
    def shown(self) -> list[Grid]:
        """Those that are shown: of each matrix of very many heads, without the middle."""
        named = groupby(self.grids, lambda grid: grid.name)
        return [grid for _, grids in named for grid in _without_middle(tuple(grids))]


class Attended(NamedTuple):
    """The inputs that one output attends to, for pictures.

    most, second: the inputs with the largest weight, and with the second, from 0.
    weights, texts: its weight for each input, and the shown digits.
    masked: whether each input is masked; empty if none is.
    """

    most: tuple[int, ...]
    second: tuple[int, ...]
    weights: Sequence[float]
    texts: Sequence[str]
    masked: Sequence[bool] = ()


class Connections(NamedTuple):
    """The inputs that each output attends to.

    heads: for each head its number (0 for the only one) and sentences.
    is_blank: whether it is a worksheet, on which the map is drawn.
    full: whether it is shown completely.
    of: the name of the weights, if there are several attentions.
    are_columns: whether the outputs are columns of the weights as shown, and not rows.
    attended: returns the inputs of an output of a head, both from 0; None if they are not drawn.
    """

    heads: tuple[tuple[int, Sequence[str]], ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    is_blank: bool
    full: bool
    of: str = ""
    weights: str = ""
    are_columns: bool = False
    attended: Callable[[int, int], Attended] | None = None

    @property
    def title(self) -> str:
        """Its heading."""
        return "What each output attends to" + (f": {self.of}" if self.of else "")

    @property
    def shown(self) -> Iterator[tuple[int, int, list[str]]]:
        """Each shown head: its index, its number, and its sentences, without the middle of many."""
        for index in kept(len(self.heads), full=self.full, most=MOST_HEADS):
            if index is None:
                continue  # the notes report it
            head, texts = self.heads[index]
            places = kept(len(texts), full=self.full, most=MOST_SENTENCES)
            yield index, head, [LEFT_OUT if place is None else texts[place] for place in places]


class Patterns(NamedTuple):
    """The patterns of the weights: sentences, the most informative first, and whether it is all."""

    texts: tuple[str, ...]
    full: bool

    def shown(self, say: Callable[[str], str]) -> list[str]:
        """Return the sentences that are shown: all, or the first, and how to see the others."""
        if self.full or len(self.texts) <= LEADING:
            return list(self.texts)
        more = len(self.texts) - LEADING
        others = f"{more:,} more sentence{'s' * (more > 1)}: attncalc explain --all shows them"
        return [*self.texts[:LEADING], say(others)]


class Verdict(NamedTuple):
    """The result of a marking: the score, its share, and the verdict in sentences."""

    score: str
    share: str
    sentences: tuple[str, ...]


class Legend(NamedTuple):
    """Signs with their meanings."""

    entries: tuple[tuple[str, str], ...]


class Table(NamedTuple):
    """Rows of texts under their headings, with a title; and each row as sentences.

    is_of_names: whether the first text of each row is a name, in any language.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    told: tuple[tuple[str, ...], ...]
    is_of_names: bool = True


class Sheet(NamedTuple):
    """Numbers with headings that are not a step: the watched quantities of a study.

    is_of_names: whether its rows are names, in any language.
    """

    title: str
    grid: Grid
    is_of_names: bool = False

    @property
    def grids(self) -> tuple[Grid]:
        """Its numbers, as of other parts."""
        return (self.grid,)

    @property
    def shown(self) -> list[Grid]:
        """Its numbers, which have no heads."""
        return [self.grid]


WITH_GRIDS = Given | Section | Sheet
"""The parts that have `grids`, of which some are `shown`."""


class Scan(NamedTuple):
    """A page of an answer as a picture (PNG), and the text that was recognized on it."""

    picture: bytes
    text: str


class Appendix(NamedTuple):
    """Separate documents that follow on paper."""

    documents: "tuple[Document, ...]"


_OF_TEXTS = Field | Facts | Bullets | Patterns | Verdict | Legend | Table
Part = WITH_GRIDS | _OF_TEXTS | Connections | Scan | Appendix


@dataclass(frozen=True)
class Document:
    """All of it, in order, with the notes on it; advice, of the notes, is not handed in."""

    title: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    language: str = "en"

    @property
    def sections(self) -> tuple[Section, ...]:
        """Its steps."""
        return tuple(part for part in self.parts if isinstance(part, Section))

    @property
    def left_out(self) -> str:
        """The names of the matrices that are not shown completely."""
        with_grids = (part for part in self.parts if isinstance(part, WITH_GRIDS))
        grids = [grid for part in with_grids for grid in part.shown]
        return ", ".join(dict.fromkeys(grid.name for grid in grids if grid.is_cut))

    @property
    def heads_left_out(self) -> Iterator[str]:
        """Which heads of which matrices are not shown."""
        with_grids = (part for part in self.parts if isinstance(part, WITH_GRIDS))
        found = (grid for part in with_grids for grid in part.grids)
        grids = groupby(found, lambda each: each.name)
        counts = [(name, len(heads)) for name, each in grids if _cuts(heads := tuple(each))]
        half = MOST_HEADS // 2
        for count in dict.fromkeys(count for _, count in counts):
            names = ", ".join(dict.fromkeys(name for name, each in counts if each == count))
            yield f"heads {half + 1} to {count - half} of {names} are left out"


def _cuts(heads: tuple[Grid, ...]) -> bool:
    """Return whether a matrix has so many heads that those in the middle are left out."""
    return len(heads) > MOST_HEADS and not heads[0].full


def _without_middle(heads: tuple[Grid, ...]) -> list[Grid]:
    """Return the heads of a matrix that are shown."""
    places = kept(len(heads), full=not _cuts(heads), most=MOST_HEADS)
    return [heads[place] for place in places if place is not None]


T = TypeVar("T")


def is_to_fill_in(part: Part) -> bool:
    """Return whether a part is a step of a worksheet."""
    return isinstance(part, Section) and part.has_room


def is_tile(part: Part) -> bool:
    """Return whether a part is a step that can be beside others: without work or marks."""
    return isinstance(part, Section) and not (part.lines or part.is_marked)


class DocumentWriter(Generic[T]):
    """A form of output: it writes a part by the method that is named like its class."""

    hint = ": --full shows all of it"
    """How to see omitted parts."""
    words = catalogue(ENGLISH)
    """The language of the document that is written."""
    is_titled = False
    """Whether the document has a title, above the titles of its tables."""

    def say(self, text: str) -> str:
        """Return a heading or a label in the language of the document."""
        return self.words.say(text)

    def write(self, part: Part) -> Iterator[T]:
        """Yield the part in this form."""
        yield from getattr(self, type(part).__name__.lower())(part)

    def document(self, document: Document) -> Iterator[T]:
        """Yield a document in this form."""
        self.words, self.is_titled = catalogue(document.language), bool(document.title)
        if document.title:
            yield from self.title(document.title)
        yield from self.body(document.parts)
        if notes := list(self.notes(document)):
            yield from self.told("Notes", notes)

    def body(self, content: Iterable[Part]) -> Iterator[T]:
        """Yield the parts of a document."""
        for is_beside, group in groupby(content, self.is_beside):
            if is_beside:
                yield from self.in_rows(cast("list[Section]", [*group]))
            else:
                yield from chain.from_iterable(map(self.write, group))

    def is_beside(self, part: Part) -> bool:
        """Return whether a part may be beside others like it: a step of a worksheet."""
        return is_to_fill_in(part)

    def in_rows(self, sections: Sequence[Section]) -> Iterator[T]:
        """Yield steps that may be side by side."""
        return chain.from_iterable(map(self.write, sections))

    def title(self, text: str) -> Iterator[T]:
        """Yield the title of a document."""
        raise NotImplementedError

    def heading(self, text: str) -> Iterator[T]:
        """Yield a heading within a document."""
        raise NotImplementedError

    def listed(self, texts: Iterable[str]) -> Iterator[T]:
        """Yield texts as a list."""
        raise NotImplementedError

    def told(self, heading: str, texts: Iterable[str]) -> Iterator[T]:
        """Yield texts as a list under a heading."""
        yield from self.heading(self.say(heading))
        yield from self.listed(texts)

    def bullets(self, bullets: Bullets) -> Iterator[T]:
        """Yield sentences as a list."""
        yield from self.listed(bullets.texts)

    def patterns(self, patterns: Patterns) -> Iterator[T]:
        """Yield what is remarkable about the weights."""
        yield from self.told(TITLE_OF_PATTERNS, patterns.shown(self.say))

    def appendix(self, appendix: Appendix) -> Iterator[T]:
        """Yield the documents that follow, one after another."""
        for document in appendix.documents:
            yield from self.document(document)

    def scan(self, scan: Scan) -> Iterator[T]:
        """Yield a scanned page, in forms that can show one beside its text."""
        return iter(())

    def notes(self, document: Document) -> Iterator[str]:
        """Yield the notes except advice, and the omitted parts."""
        return (note for note in self.all_notes(document) if note not in document.advice)

    def all_notes(self, document: Document) -> Iterator[str]:
        """Yield all notes, and the omitted parts."""
        yield from document.notes
        if cut := document.left_out:
            yield self.say(f"the middle of {cut} is left out{self.hint}")
        for heads in document.heads_left_out:
            yield self.say(f"{heads}{self.hint}")


def kept(length: int, *, full: bool, most: int = MOST_SHOWN) -> list[int | None]:
    """Return the indices that are shown, with None where the middle is left out.

    >>> kept(9, full=False, most=4)
    [0, 1, None, 7, 8]
    """
    if full or length <= most:
        return list(range(length))
    half = most // 2
    return [*range(half), None, *range(length - half, length)]


def blocks_of(
    widths: Sequence[float], room: float | None, between: float
) -> Iterator[tuple[int, int]]:
    """Yield the columns of each block, from start to before stop; at least one column each.

    room: that of a line, or None where it may be as long as it must be.

    >>> list(blocks_of([4, 4, 4], room=10, between=2))
    [(0, 2), (2, 3)]
    """
    start, used = 0, 0.0
    for place, width in enumerate(widths):
        if room is not None and place > start and used + width > room:
            yield start, place
            start, used = place, 0.0
        used += width + between
    yield start, len(widths)


def parts_of(
    grid: Grid, widths: Sequence[float], room: float, between: float, most: int,
    say: Callable[[str], str],
) -> Iterator[tuple[slice, slice, list[str]]]:  # fmt: skip
    """Yield the rows and columns of each part of a matrix, and which they are if not all.

    widths, room, between: as in `blocks_of`.
    most: the number of rows of a part.
    """
    rows, columns = grid.row_places, grid.column_places
    across = list(blocks_of(widths, room, between))
    down = list(blocks_of([1] * len(rows), most, 0))
    for top, bottom in down:
        for left, right in across:
            said = [caption("row", rows[top:bottom], len(grid.rows))] if len(down) > 1 else []
            if len(across) > 1:
                said.append(caption("column", columns[left:right], len(grid.columns)))
            yield slice(top, bottom), slice(left, right), [*map(say, said)]


def caption(kind: str, places: Sequence[int | None], of: int) -> str:
    """Return which rows or columns a block contains, and of how many.

    >>> caption("column", [0, 1, None, 7], 40)
    'columns 1 to 8 of 40'
    """
    shown = [place + 1 for place in places if place is not None]
    if len(shown) < 2:
        return f"{kind} {shown[0]} of {of}" if shown else ""
    return f"{kind}s {shown[0]} to {shown[-1]} of {of}"
