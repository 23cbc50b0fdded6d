"""Pages: lines of boxes are put onto sheets of A4, and drawn with matplotlib."""

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon
from matplotlib.transforms import IdentityTransform

from attncalc.problem.step import Report
from attncalc.writing.paper.ink import (
    Box,
    Disc,
    Ink,
    Letters,
    Look,
    Mark,
    Stroke,
    moved,
    placed,
    properties,
    scaled,
)

WIDTH, HEIGHT, MARGIN = 595.3, 841.9, 56.7
"""A4 and its margins, in points."""
ROOM = WIDTH - 2 * MARGIN
TALLEST = HEIGHT - 2 * MARGIN
LEAST_LAST = TALLEST / 3
"""The height that a last page has, if the page before it can give it something."""
SMALLEST_PICTURE = 0.75
"""How small a picture becomes to fit on a page, as a share of its size."""
_POINTS = 72.0
_SMALL = Look(8.5, grey=0.35)


class Line(NamedTuple):
    """A line of a page.

    stays: whether the next line stays with it.
    shrinks: whether it may be smaller, such as a picture.
    """

    box: Box
    space: float = 0.0
    stays: bool = False
    shrinks: bool = False

    def scaled(self, share: float) -> "Line":
        """Return the line at a share of its size."""
        return self._replace(box=scaled(self.box, share), space=self.space * share)


class Sheet(NamedTuple):
    """One document: its lines, and the texts at the top and bottom of its pages."""

    title: str
    name: str
    lines: list[Line]


def make_pdf(sheets: Sequence[Sheet], ink: Ink, report: Report | None = None) -> bytes:
    """Return documents as a PDF, each on a new sheet, with page numbers of its own."""
    filled = [list(_filled(sheet.lines)) for sheet in sheets]
    last = len(sheets) - 1
    done, of = 0, sum(map(len, filled))
    buffer = io.BytesIO()
    about = {"Title": sheets[0].title, "Creator": "attncalc", "CreationDate": None}
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on letters: the notes name them
        mpl.rcdefaults()
        mpl.rcParams.update({"pdf.fonttype": 42, "pdf.compression": 6})
        with PdfPages(buffer, metadata=about) as file:
            for place, (sheet, pages) in enumerate(zip(sheets, filled, strict=True)):
                for number, page in enumerate(pages, start=1):
                    marks = [*page, *_around(sheet, number, len(pages), ink)]
                    file.savefig(_drawn(marks))
                    done += 1
                    if report is not None:
                        report(done, of)
                if len(pages) % 2 and place < last:  # to print on both sides
                    file.savefig(_drawn([]))
    return buffer.getvalue()


def _filled(lines: Sequence[Line]) -> Iterator[list[Mark]]:
    """Yield the marks of each page."""
    for page in _balanced(broken(lines)):
        marks: list[Mark] = []
        y = HEIGHT - MARGIN + page[0].space if page else 0.0
        for line in page:
            y -= line.space + line.box.up
            marks += [moved(mark, MARGIN, y) for mark in line.box.marks]
            y -= line.box.down
        yield marks


def broken(lines: Sequence[Line]) -> list[list[Line]]:
    """Return the lines of each page: lines that stay together are on one, if it has the room."""
    pages: list[list[Line]] = [[]]
    for group in _groups(lines):
        used = _height(pages[-1])
        group = _fitting(group, TALLEST - used)
        height = _height(group)
        if pages[-1] and used + height > TALLEST and (height <= TALLEST or used > TALLEST / 2):
            pages.append([])
            group = _fitting(group, TALLEST)
        for line in group:
            if pages[-1] and _height([*pages[-1], line]) > TALLEST:
                pages.append([])
            pages[-1].append(line)
    return pages


def _height(lines: Sequence[Line]) -> float:
    return sum(line.box.height + line.space for line in lines)


def _fitting(group: list[Line], room: float) -> list[Line]:
    """Return lines, with smaller pictures where they then fit into the room."""
    missing, pictures = _height(group) - room, sum(x.box.height for x in group if x.shrinks)
    share = int(1000 * (1 - missing / pictures)) / 1000 if pictures else 1.0
    if not SMALLEST_PICTURE <= share < 1:
        return group
    return [x.scaled(share) if x.shrinks else x for x in group]


def _balanced(pages: list[list[Line]]) -> list[list[Line]]:
    """Return pages whose last is not nearly empty, if the page before it can give it lines."""
    if len(pages) < 2:
        return pages
    *others, before, last = pages
    groups = list(_groups(before))
    while len(groups) > 1 and _height(last) < LEAST_LAST:
        last = groups.pop() + last
    before = [line for group in groups for line in group]
    fits = _height(last) <= TALLEST and _height(before) >= LEAST_LAST
    return [*others, before, last] if fits else pages


def _groups(lines: Iterable[Line]) -> Iterator[list[Line]]:
    group: list[Line] = []
    for line in lines:
        group.append(line)
        if not line.stays:
            yield group
            group = []
    if group:
        yield group


def _around(sheet: Sheet, number: int, of: int, ink: Ink) -> Sequence[Mark]:
    """Return what is around the text: the title and the name from the second page, the number."""
    count = ink.text(f"{number} / {of}", _SMALL)
    parts = [((WIDTH - count.width) / 2, MARGIN * 0.55, count)]
    if number > 1:
        name, title = (ink.text(each, _SMALL) for each in (sheet.name, sheet.title))
        y = HEIGHT - MARGIN * 0.6
        parts.append((WIDTH - MARGIN - name.width, y, name))
        if title.width + name.width + 20 <= ROOM:
            parts.append((MARGIN, y, title))
    return placed(parts).marks


class _Words(Artist):
    """Letters at their place: what `Text` also finds, such as their box, takes most of its time."""

    def __init__(self, letters: Letters, order: int) -> None:
        super().__init__()
        self.letters = letters
        self.set_zorder(order)

    def draw(self, renderer: RendererBase) -> None:
        """Draw the letters."""
        x, y, text, look = self.letters.x, self.letters.y, self.letters.text, self.letters.look
        font = properties(self.letters.families, look.bold, look.slanted, look.size)
        gc = renderer.new_gc()
        gc.set_foreground(str(look.grey))
        renderer.draw_text(gc, x, y, text, font, 90 if self.letters.turned else 0)
        gc.restore()


def _drawn(marks: Sequence[Mark]) -> Figure:
    """Return a page as a figure: later marks are above earlier ones."""
    figure = Figure(figsize=(WIDTH / _POINTS, HEIGHT / _POINTS))
    for order, mark in enumerate(_joined(marks)):
        figure.add_artist(_Words(mark, order) if isinstance(mark, Letters) else _shape(mark, order))
    return figure


def _joined(marks: Iterable[Mark]) -> Iterator[Mark]:
    """Yield marks with the texts that continue one another as one: fewer, and read as lines."""
    last: Mark | None = None
    for mark in marks:
        one = last.joined(mark) if isinstance(last, Letters) and not last.turned else None
        if one is None and last is not None:
            yield last
        last = one or mark
    if last is not None:
        yield last


def _shape(mark: Stroke | Disc, order: int) -> Line2D | Polygon | Circle:
    """Return a shape whose coordinates are points of the page."""
    points = IdentityTransform()  # figures of PDF have 72 dots per inch
    if isinstance(mark, Disc):
        where = (mark.x, mark.y)
        return Circle(where, mark.radius, color="0", lw=0, transform=points, zorder=order)
    style = (0, (4, 2.5)) if mark.dashed else "solid"
    if mark.fill is None:
        line = Line2D(mark.xs, mark.ys, lw=mark.width, color=str(mark.grey))
        line.set(linestyle=style, transform=points, zorder=order)
        return line
    corners = list(zip(mark.xs, mark.ys, strict=True))
    filled = Polygon(corners, closed=True, transform=points, zorder=order, lw=mark.width)
    filled.set(facecolor=str(mark.fill), edgecolor=str(mark.grey) if mark.width else "none")
    if mark.hatched:
        filled.set(hatch="//////", edgecolor="0.6")
    return filled
