"""A Figure in attncalc's style, with panels of the size they need: the same now and later.

matplotlib reads its settings when a figure is built *and* when it is drawn or saved. A figure may
be saved long after it was built, so it contains its settings.
"""

import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import Formatter
from matplotlib.transforms import Bbox

from attncalc.base.errors import InputError
from attncalc.base.text import harmless
from attncalc.languages.catalogue import ENGLISH, ONE_NUMBER, catalogue
from attncalc.writing.plotting import style
from attncalc.writing.plotting.look import Size
from attncalc.writing.plotting.placing import BOLD, wrapped

DOTS_PER_INCH = 200
NOTEBOOK_DOTS_PER_INCH = 100
PADDING = 0.17, 0.14
"""Inches left and right of each panel, and above and below it."""
TITLE_LINES = 4
DIGITS = 7
"""Decimals of the places of axes, in shares of the page."""
PASSES = 3
"""How often a page of a given size is drawn: names that are turned or smaller leave more room."""
NEAR = 0.02
"""The share by which panels may miss the size they were drawn for."""
SLACK = 0.1
"""Inches by which panels may be smaller than their least."""
BETWEEN = " · "
"""What is between the sentences of a footnote."""
AROUND = 6.0
"""More inches than the labels around a panel need."""

_METADATA: dict[str, dict[str, Any]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
FORMS = tuple(_METADATA)

Room = tuple[float, float]
"""The width and the height of an axes, in inches."""
LeftOut = Counter[str]
"""How often something was left out, by its note, with {} for the count."""
Draw = Callable[[Axes, Room], LeftOut | None]
Rooms = tuple[list[float], list[float]]
"""The inches of all columns and of all rows of a mosaic."""


@dataclass(frozen=True)
class Track:
    """A column or row of panels: its natural and smallest size in inches; a rigid one keeps it."""

    inches: float = 0.0
    least: float = 0.0
    is_rigid: bool = False

    def __or__(self, other: "Track") -> "Track":
        """Return a track in which the panels of both have room."""
        larger = max(self, other, key=lambda track: track.inches)
        return replace(larger, least=max(self.least, other.least))


@dataclass(frozen=True)
class Mosaic:
    """Panels in rows and columns, as in `Figure.subplot_mosaic`.

    rows: the name of the panel in each place, "." for none. A panel with several places fills them
        all; the first panel has one.
    widths, heights: the tracks of the columns and of the rows.
    draws: the function that draws each panel, by name.
    """

    rows: tuple[tuple[str, ...], ...]
    widths: tuple[Track, ...]
    heights: tuple[Track, ...]
    draws: Mapping[str, Draw]


@dataclass(frozen=True)
class Caption:
    """The texts of a figure.

    title, footnote, texts: those that it shows, whose letters decide the fonts.
    told: the sentences that describe it for screen readers.
    """

    title: str = ""
    footnote: str = ""
    texts: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    language: str = ENGLISH

    @property
    def letters(self) -> tuple[str, ...]:
        """The texts whose letters need a font."""
        return self.title, *self.texts


def caption_of(
    title: str, footnote: str, texts: Iterable[str], told: Iterable[str], language: str = ENGLISH
) -> Caption:
    """Return the texts of a figure without what could change how it is shown."""
    say, safe = style.words_of(language), (*map(harmless, texts),)
    title, footnote = say(title), BETWEEN.join(map(say, footnote.split(BETWEEN)))
    return Caption(harmless(title), harmless(footnote), safe, (*map(say, told),), language)


def panel_of(name: str, width: Track, height: Track, draw: Draw) -> Mosaic:
    """Return a mosaic of one panel."""
    return Mosaic(((name,),), (width,), (height,), {name: draw})


def with_column(mosaic: Mosaic, name: str, inches: float, draw: Draw) -> Mosaic:
    """Return a mosaic with a rigid panel to its right, as high as all of it."""
    count, width = len(mosaic.heights), Track(inches, inches, is_rigid=True)
    column = Mosaic(((name,),) * count, (width,), (Track(),) * count, {name: draw})
    return beside(mosaic, column)


def with_row(mosaic: Mosaic, name: str, inches: float, draw: Draw) -> Mosaic:
    """Return a mosaic with a rigid panel below it, as wide as all of it."""
    count, height = len(mosaic.widths), Track(inches, inches, is_rigid=True)
    return below(mosaic, Mosaic(((name,) * count,), (Track(),) * count, (height,), {name: draw}))


def beside(left: Mosaic, right: Mosaic) -> Mosaic:
    """Return both, the second to the right of the first, their first rows in one line."""
    none = "." * len(left.widths), "." * len(right.widths)
    pairs = zip_longest(left.rows, right.rows)
    rows = tuple((*(one or none[0]), *(other or none[1])) for one, other in pairs)
    heights = _merged(left.heights, right.heights)
    return Mosaic(rows, left.widths + right.widths, heights, {**left.draws, **right.draws})


def below(upper: Mosaic, lower: Mosaic) -> Mosaic:
    """Return both, the second below the first, their first columns in one line."""
    widths = _merged(upper.widths, lower.widths)
    rows = ((*row, *"." * (len(widths) - len(row))) for row in (*upper.rows, *lower.rows))
    draws = {**upper.draws, **lower.draws}
    return Mosaic(tuple(rows), widths, upper.heights + lower.heights, draws)


def in_rows(panels: Sequence[Mosaic], across: int) -> Mosaic:
    """Return mosaics in rows of so many."""
    rows = (panels[start : start + across] for start in range(0, len(panels), across))
    return reduce(below, (reduce(beside, row) for row in rows))


def _merged(some: Sequence[Track], others: Sequence[Track]) -> tuple[Track, ...]:
    return tuple(one | other for one, other in zip_longest(some, others, fillvalue=Track()))


class SteadyLayout(ConstrainedLayoutEngine):
    """Constrained layout with the same result each time, to the last digit.

    It always starts from axes that fill their places: otherwise margins would depend on earlier
    positions. Its solver adds in any order, so its results are rounded.
    """

    def execute(self, fig: Figure) -> None:
        """Lay out a figure."""
        aspects = [axes.get_aspect() for axes in fig.axes]
        for axes in fig.axes:
            axes.set_aspect("auto")
            if place := axes.get_subplotspec():
                self._move(axes, place.get_position(fig))
        super().execute(fig)
        for axes, aspect in zip(fig.axes, aspects, strict=True):
            axes.set_aspect(aspect)
            self._move(axes, axes.get_position(original=True))

    @staticmethod
    def _move(axes: Axes, box: Bbox) -> None:
        axes.set_position(Bbox(box.get_points().round(DIGITS)))
        axes.set_in_layout(True)  # which setting the position has ended


class HouseFigure(Figure):
    """A matplotlib Figure that is drawn and saved in attncalc's style, with any settings."""

    def __init__(self, caption: Caption, palette: style.Palette) -> None:
        self.caption = caption
        self.notes: tuple[str, ...] = ()
        engine = SteadyLayout(w_pad=PADDING[0], h_pad=PADDING[1], wspace=0, hspace=0)
        super().__init__(facecolor=palette.paper, layout=engine)
        FigureCanvasAgg(self)

    def draw(self, renderer: Any) -> None:
        """Draw in our style."""
        with style.house_style(self.caption.letters):
            super().draw(renderer)

    def savefig(self, fname: Any, **settings: Any) -> None:
        """Save as `matplotlib.figure.Figure.savefig` does, by default just as attncalc does."""
        form = settings.get("format") or Path(str(fname)).suffix.removeprefix(".")
        ours: dict[str, Any] = {"dpi": DOTS_PER_INCH, "facecolor": self.get_facecolor()}
        if form.lower() in FORMS:
            ours["metadata"] = {"Title": self.caption.title, **_METADATA[form.lower()]}
        with style.house_style(self.caption.letters), self._laid_out():
            super().savefig(fname, **ours | settings)

    def content(self, form: str, **settings: Any) -> bytes:
        """Return the bytes of a file of the given form."""
        buffer = io.BytesIO()
        self.savefig(buffer, format=form, **settings)
        return buffer.getvalue()

    @contextmanager
    def _laid_out(self) -> Iterator[None]:
        """Lay out once: matplotlib would draw everything twice, first to lay it out."""
        if engine := self.get_layout_engine():
            engine.execute(self)
        self.set_layout_engine(None)
        try:
            yield
        finally:
            self.set_layout_engine(engine)

    def _repr_png_(self) -> bytes:
        """Show the picture in a notebook, without pyplot."""
        return self.content("png", dpi=NOTEBOOK_DOTS_PER_INCH)


def figure_of(
    mosaic: Mosaic, caption: Caption, palette: style.Palette = style.LIGHT, size: Size | None = None
) -> HouseFigure:
    """Draw a figure in which each panel has the size it needs, or the page the size asked for."""
    with style.house_style(caption.letters):
        fit = partial(_fitted, mosaic, caption, palette)
        figure, needed = fit(size)
        if size is not None and (
            needed[0] > size[0] + SLACK or (size[1] is not None and needed[1] > size[1] + SLACK)
        ):
            raise InputError(_too_small(fit, size, needed))
        return figure


def furnish(
    axes: Axes, palette: style.Palette, *labels: str, size: float = style.TEXT_SIZE
) -> None:
    """Set two sides, the colors of ticks, and labels across and up, of an axes with curves."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(palette.rule)
    axes.tick_params(colors=palette.ink, labelsize=style.WEIGHT_SIZE, color=palette.rule)
    for axis, text in zip((axes.xaxis, axes.yaxis), labels, strict=False):
        axis.set_label_text(text, size=size, color=palette.strong, parse_math=False)


def notes_of(left_out: LeftOut) -> tuple[str, ...]:
    """Return the notes on omitted parts."""
    return tuple(note.format(f"{count:,}") for note, count in left_out.items() if count)


def room_of(axes: Axes) -> Room:
    """Return the inches that an axes has, once its figure is laid out."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    box = axes.get_position(original=True)  # where its height is not tied to its width
    width, height = figure.get_size_inches()
    return float(box.width * width), float(box.height * height)


def _fitted(
    mosaic: Mosaic, caption: Caption, palette: style.Palette, size: Size | None
) -> tuple[HouseFigure, Room]:
    """Draw a mosaic, and return the size of the page it needs; again if that differs.

    The labels around the panels take the same inches at any size, except that names shrink or turn
    if there is little space: so a page of a given size is drawn, measured, and drawn for the
    remaining space.
    """
    rooms = _stretched(mosaic, None, None)
    for _ in range(PASSES):
        figure = _drawn(mosaic, rooms, caption, palette)
        width, height = _page(figure, rooms)
        words = _write(figure, caption, palette, width if size is None else size[0])
        page = width, height + words
        if size is None:
            break
        drawn, margins = rooms, (page[0] - sum(rooms[0]), page[1] - sum(rooms[1]))
        room = size[0] - margins[0], None if size[1] is None else size[1] - margins[1]
        rooms = _stretched(mosaic, *room)
        page = margins[0] + sum(rooms[0]), margins[1] + sum(rooms[1])
        if np.allclose([*drawn[0], *drawn[1]], [*rooms[0], *rooms[1]], rtol=NEAR):
            break
    figure.set_size_inches(page if size is None else (size[0], size[1] or page[1]))
    return figure, page


def _stretched(mosaic: Mosaic, width: float | None, height: float | None) -> Rooms:
    """Return the inches of all tracks, for so many in all; without a height, in proportion."""
    across = _share(mosaic.widths, width)
    down = across if height is None else _share(mosaic.heights, height)
    return _times(mosaic.widths, across), _times(mosaic.heights, down)


def _share(tracks: Sequence[Track], inches: float | None) -> float:
    """Return the factor by which tracks must exceed their natural size to fill so many inches."""
    rigid = sum(track.inches for track in tracks if track.is_rigid)
    natural = sum(track.inches for track in tracks) - rigid
    return 1.0 if inches is None else (inches - rigid) / natural


def _times(tracks: Sequence[Track], share: float) -> list[float]:
    return [
        track.inches if track.is_rigid else max(track.inches * share, track.least)
        for track in tracks
    ]


def _drawn(mosaic: Mosaic, rooms: Rooms, caption: Caption, palette: style.Palette) -> HouseFigure:
    widths, heights = rooms
    figure = HouseFigure(caption, palette)
    panels = figure.subplot_mosaic(
        [list(row) for row in mosaic.rows],
        width_ratios=widths,
        height_ratios=heights,
        subplot_kw={"facecolor": palette.paper},
    )
    left_out = LeftOut()
    for name, axes in panels.items():
        place = axes.get_subplotspec()
        assert place is not None
        room = sum(widths[i] for i in place.colspan), sum(heights[i] for i in place.rowspan)
        left_out += mosaic.draws[name](axes, room) or LeftOut()
        if caption.language != ENGLISH:
            _translate(axes, caption.language)
    figure.notes = notes_of(left_out)
    return figure


def _translate(axes: Axes, language: str) -> None:
    """Set the labels of an axes, and its numbers, in a language."""
    say, number = style.words_of(language), catalogue(language).number
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_label_text("\n".join(map(say, axis.get_label().get_text().split("\n"))))
        axis.set_major_formatter(partial(_as, number, axis, axis.get_major_formatter()))
    for text in axes.texts:
        if ONE_NUMBER.fullmatch(text.get_text()):
            text.set_text(number(text.get_text()))


def _as(number: Callable[[str], str], axis: Axis, form: Formatter, x: float, pos: int) -> str:
    """Return the text of a tick, its number as in a language."""
    form.set_locs([*axis.get_majorticklocs()])
    return number(form(x, pos))


def _write(figure: HouseFigure, caption: Caption, palette: style.Palette, width: float) -> float:
    """Write title and footnote in lines for a page of this width; return their inches."""
    room = width - 2 * PADDING[0]
    title = wrapped(caption.title, style.TITLE_SIZE * BOLD, room, most_lines=TITLE_LINES)
    look: dict[str, Any] = {"size": style.TITLE_SIZE, "weight": "bold", "color": palette.strong}
    above = figure.suptitle(title, parse_math=False, gid="title", **look)
    footnote = wrapped(caption.footnote, style.SMALL_SIZE, room)
    look = {"size": style.SMALL_SIZE, "color": palette.small_print}
    under = figure.supxlabel(footnote, parse_math=False, gid="conventions", **look)
    heights = [text.get_window_extent().height / figure.dpi for text in (above, under)]
    return sum(height + 2 * PADDING[1] for height in heights)


def _page(figure: HouseFigure, rooms: Rooms) -> Room:
    """Return the size of a page on which tracks have their inches, from a larger one."""
    widths, heights = rooms
    across, down = sum(widths) + AROUND * len(widths), sum(heights) + AROUND * len(heights)
    figure.set_size_inches(across, down)
    width, height = room_of(figure.axes[0])  # all others are in proportion to it
    return (
        across - sum(widths) * (width / widths[0] - 1),
        down - sum(heights) * (height / heights[0] - 1),
    )


def _too_small(fit: Callable[[Size], tuple[Any, Room]], size: Size, needed: Room) -> str:
    """Return the message on a size that is too small, with one that is not."""
    width = _rounded_up(max(size[0], needed[0]))
    _, needed = fit((width, size[1]))  # on a wider page the title needs fewer lines
    height = _rounded_up(max(size[1] or 0, needed[1]))
    asked = " x ".join(f"{side:g}" for side in size if side is not None)
    return f"size {asked} is too small: this picture needs {width:g} x {height:g} inches"


def _rounded_up(inches: float) -> float:
    return math.ceil(10 * inches) / 10
