"""The whole picture: a map, a heatmap or both on one page, under a title, over the conventions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes

from attncalc.errors import InputError
from attncalc.plotting.columns import (
    FOOTROOM,
    Layout,
    draw_columns,
    headroom,
    name_margin,
    natural_gap,
    natural_pitch,
    side_by_side,
    space_of,
    write_panel_name,
)
from attncalc.plotting.connection_map import draw_map, lay_out_map
from attncalc.plotting.figure import MARGIN, AttentionFigure
from attncalc.plotting.heatmap import Heatmap, draw_heatmap, lay_out_heatmap, moved_to
from attncalc.plotting.look import Look, Size
from attncalc.plotting.page import Frame, around, write_conventions, write_title
from attncalc.plotting.style import DARK, LIGHT, Palette, house_style
from attncalc.problem.problem import Problem
from attncalc.problem.stated import heading
from attncalc.solving.solution import Head
from attncalc.text import harmless

APART = 0.5
"""Inches between the map and the heatmap."""
LEAST_SPACE = 0.8
"""Inches that must be left between two columns, or for a grid."""
TRIES = 8
NEAR = 0.005
"""The share by which the space may miss what was asked for; the page is set in its middle."""

TOO_FAR = 0.1
"""Inches that may be taken from the margins at most."""

Stretch = tuple[float, float]


@dataclass(frozen=True)
class Part:
    """A part of a page: where it stands, in inches, and how it is drawn.

    Parameters
    ----------
    frame
        Its core; the page is at least as large.
    headroom, footroom
        Inches above and below the core that it fills, too.
    space
        Inches, across and down, that can be stretched.
    notes
        What should be said about it.
    draw
        Draws it on axes with a palette.
    """

    frame: Frame
    headroom: float
    footroom: float
    space: tuple[float, float]
    notes: tuple[str, ...]
    draw: Callable[[Axes, Palette], None]


@dataclass(frozen=True)
class Page:
    """A figure, and how many inches of it, across and down, can be stretched."""

    figure: AttentionFigure
    space: tuple[float, float]


Parts = Callable[[Stretch, Look], list[Part]]
DrawPage = Callable[[Stretch, Size | None], Page]


def draw(problem: Problem, heads: Sequence[Head], look: Look) -> AttentionFigure:
    """Draw a picture of these heads.

    Returns
    -------
    AttentionFigure
        The picture; its `notes` say what was left out.

    Raises
    ------
    InputError
        When the size that is asked for is too small.
    """

    def parts(stretch: Stretch, look: Look) -> list[Part]:
        if not look.has_heatmap:
            return [_map(problem, heads, look, stretch)]
        if not look.has_map:
            return [_heatmap(problem, heads, look, stretch, None)]
        left = _map(problem, heads, look, stretch)
        return [left, _heatmap(problem, heads, look, stretch, left)]

    return _fitted(problem, look, parts, stacked=len(heads) > 1)


def draw_blank(problem: Problem, look: Look) -> AttentionFigure:
    """Draw the dots and the names of the map, and no line: a worksheet to draw the map on."""

    def parts(stretch: Stretch, _: Look) -> list[Part]:
        pitch = natural_pitch(problem) * stretch[1]
        one = Layout(problem, natural_gap(problem) * stretch[0], pitch)
        layouts = side_by_side(one, problem.n_heads)

        def draw(axes: Axes, palette: Palette) -> None:
            for number, layout in enumerate(layouts, start=1):
                draw_columns(axes, layout, palette)
                if len(layouts) > 1:
                    write_panel_name(axes, layout, number, palette)

        frame = around(layout.frame for layout in layouts)
        above = headroom(named=len(layouts) > 1)
        return [Part(frame, above, FOOTROOM, space_of(layouts), (), draw)]

    return _fitted(problem, look, parts, stacked=False)


def texts_of(problem: Problem) -> list[str]:
    """Return all texts from outside that stand in a picture."""
    return [harmless(text) for text in (heading(problem), *problem.keys, *problem.queries)]


def _map(problem: Problem, heads: Sequence[Head], look: Look, stretch: Stretch) -> Part:
    whole = lay_out_map(problem, heads, look, stretch)
    return Part(
        whole.frame,
        whole.headroom,
        whole.footroom,
        space_of([panel.layout for panel in whole.panels]),
        whole.notes,
        lambda axes, palette: draw_map(axes, whole, palette),
    )


def _heatmap(
    problem: Problem, heads: Sequence[Head], look: Look, stretch: Stretch, beside: Part | None
) -> Part:
    """Lay out the heatmap: alone, to the right of one map, or below the maps of several heads."""
    below = beside is not None and len(heads) > 1
    whole = (_below if below else lay_out_heatmap)(problem, heads, look, stretch)
    if beside is not None:
        layout = Layout(problem, 0.0, natural_pitch(problem) * stretch[1])
        margin, other = name_margin(layout), beside.frame
        if below:
            left = other.middle - whole.frame.width / 2
            top = other.bottom - beside.footroom - APART
        else:
            left = other.right + margin + APART
            top = (other.bottom + other.top + whole.frame.height) / 2
        whole = moved_to(whole, left, top)
    return Part(
        whole.frame,
        0.3,
        0.3,
        whole.space,
        whole.notes,
        lambda axes, palette: draw_heatmap(axes, whole, palette),
    )


def _below(problem: Problem, heads: Sequence[Head], look: Look, stretch: Stretch) -> Heatmap:
    """Lay out a heatmap below maps: its cells become narrower only as far as the page asks."""
    across, down = stretch
    if look.size is not None and across < 1:
        usual = lay_out_heatmap(problem, heads, look, (1.0, 1.0))
        width, _ = usual.space
        room = look.size[0] - 4 * MARGIN - (usual.frame.width - width)
        across = min(1.0, max(across, room / width))
        down = across if look.size[1] is None else down
    return lay_out_heatmap(problem, heads, look, (across, down))


def _fitted(problem: Problem, look: Look, parts: Parts, *, stacked: bool) -> AttentionFigure:
    """Draw a page; and again, stretched, until it has the size that is asked for."""

    def page(stretch: Stretch, size: Size | None) -> Page:
        wanted = replace(look, size=size)
        return _page(problem, wanted, parts(stretch, wanted), stacked=stacked)

    with house_style(texts_of(problem)):
        if look.size is None:
            return page((1.0, 1.0), None).figure
        figure = _stretched(page, look.size)
        drawn = figure.tight_size()
        if not _fits(look.size, drawn):
            raise InputError(_too_small(page, look.size, drawn))
        figure.fix_size(look.size[0], look.size[1] or drawn[1])
        return figure


def _stretched(draw_page: DrawPage, size: Size) -> AttentionFigure:
    """Draw a page as near to a size as it can be."""
    stretch: Stretch = (1.0, 1.0)
    page = draw_page(stretch, size)
    least = tuple(min(LEAST_SPACE, space) for space in page.space)
    for _ in range(TRIES):
        ratios = _ratios(page, size, least)
        if max(abs(ratio - 1) for ratio in ratios) < NEAR:
            break
        stretch = stretch[0] * ratios[0], stretch[1] * ratios[1]
        page = draw_page(stretch, size)
    return page.figure


def _ratios(page: Page, size: Size, least: Sequence[float]) -> Stretch:
    """Return how much wider and higher the space of a page must be for it to have its size.

    With a width alone, the picture keeps its proportions. What cannot be stretched (the height of
    one row) stays as it is.
    """
    drawn = page.figure.tight_size()
    wanted = (size[0], size[1] or drawn[1])
    across, down = (
        max(space + want - have, small) / space if space else 1.0
        for space, want, have, small in zip(page.space, wanted, drawn, least, strict=True)
    )
    if size[1] is None:
        down = max(across, least[1] / page.space[1]) if page.space[1] else across
    return across, down


def _fits(size: Size, drawn: tuple[float, float]) -> bool:
    """Say whether what is drawn, however near its parts stand, has room on a page."""
    return drawn[0] <= size[0] + TOO_FAR and (size[1] is None or drawn[1] <= size[1] + TOO_FAR)


def _too_small(draw_page: DrawPage, size: Size, drawn: tuple[float, float]) -> str:
    """Say that a size is too small, and which one is not."""
    enough: Size = size
    for _ in range(TRIES):  # a wider page may be a higher one: names have more room
        enough = _rounded_up(max(enough[0], drawn[0])), _rounded_up(max(enough[1] or 0, drawn[1]))
        drawn = _stretched(draw_page, enough).tight_size()
        if _fits(enough, drawn):
            break
    return f"size {_in_words(size)} is too small: this picture needs {_in_words(enough)} inches"


def _rounded_up(inches: float) -> float:
    return math.ceil(10 * inches) / 10


def _in_words(size: Size) -> str:
    return " x ".join(f"{side:g}" for side in size if side is not None)


def _page(problem: Problem, look: Look, parts: list[Part], *, stacked: bool) -> Page:
    """Draw the parts, the title above them and the conventions below."""
    palette = DARK if look.dark else LIGHT
    frame = around(part.frame for part in parts)
    figure = AttentionFigure(texts_of(problem), palette, harmless(heading(problem)))
    figure.set_size_inches(frame.width + 0.4, frame.height + 0.6)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(frame.left - 0.2, frame.right + 0.2)  # what stands outside widens the picture
    axes.set_ylim(frame.bottom - 0.3, frame.top + 0.3)
    for part in parts:
        part.draw(axes, palette)
    width = None if look.size is None else look.size[0]
    title_bottom = max(part.frame.top + part.headroom for part in parts)
    write_title(axes, heading(problem), frame, title_bottom, palette, width)
    foot = min(part.frame.bottom - part.footroom for part in parts)
    write_conventions(axes, problem, frame, foot, palette, width)
    figure.notes = tuple(note for part in parts for note in part.notes)
    spaces = list(zip(*(part.space for part in parts), strict=True))
    across, down = (max, sum) if stacked else (sum, max)
    return Page(figure, (float(across(spaces[0])), float(down(spaces[1]))))
