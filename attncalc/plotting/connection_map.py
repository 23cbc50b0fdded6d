"""The connection map: inputs left, outputs right, a line from each output to what it attends to.

A solid line leads to the input with the largest weight, a dashed one to the second. The picture is
laid out in inches: one unit of the axes is one inch on paper.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from attncalc.numbers.rounding import fixed
from attncalc.plotting.columns import (
    FOOTROOM,
    Layout,
    draw_columns,
    headroom,
    natural_gap,
    natural_pitch,
    side_by_side,
    write_panel_name,
)
from attncalc.plotting.contrast import shades
from attncalc.plotting.lines import OTHER, Drawn, Lines, lines_of
from attncalc.plotting.look import Look
from attncalc.plotting.page import (
    SMALLEST_TEXT,
    TEXT_SIZE,
    WEIGHT_SIZE,
    Frame,
    around,
    row_text_size,
    text_width,
)
from attncalc.plotting.placing import Line, Point, place
from attncalc.plotting.scale import Scale, scale_of
from attncalc.plotting.style import Palette
from attncalc.problem.problem import Problem
from attncalc.solving.solution import Head

THINNEST, THICKEST = 0.9, 3.4
"""Line widths in points, for weights of 0 and of 1."""
MOST_LINES = 10_000
"""Lines of a picture; more of them make one dark field."""
USUAL_PITCH = 0.2
"""Inches between rows below which lines become thinner."""
THINNEST_SHARE = 0.25
"""How much of their usual width lines keep however near the rows are."""
NARROW = 3.0
"""Inches between the columns below which the legend is written in rows."""
LEGEND_ROW = 0.21
WIDENINGS = 5
"""How often the columns are moved apart to find room for all weights."""


@dataclass(frozen=True)
class Panel:
    """The map of one head: its lines, where they run, and where their weights are written."""

    layout: Layout
    head: Head
    lines: Lines
    spots: tuple[Point | None, ...]

    @property
    def unwritten(self) -> int:
        """How many weights are not written, for there is no room."""
        pairs = zip(self.lines.drawn, self.spots, strict=True)
        return self.lines.unwritten + sum(spot is None for line, spot in pairs if line.text)


@dataclass(frozen=True)
class Map:
    """The maps of all heads, laid out side by side.

    Parameters
    ----------
    problem
        Whose tokens are shown.
    panels
        One for each head, all of the same size.
    scale
        What the widths and shades of lines mean, where every weight has one.
    """

    problem: Problem
    panels: tuple[Panel, ...]
    scale: Scale | None

    @property
    def frame(self) -> Frame:
        """What the dots of all panels span."""
        return around(panel.layout.frame for panel in self.panels)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Which ranks any line has."""
        return tuple(sorted({line.rank for panel in self.panels for line in panel.lines.drawn}))

    @property
    def headroom(self) -> float:
        """Inches above the dots before the title has room."""
        return headroom(named=any(panel.head.number for panel in self.panels))

    @property
    def legend_rows(self) -> int:
        """How many rows the legend takes; on a narrow page each rank has its own."""
        return len(self.ranks) if self.frame.width < NARROW else 1

    @property
    def footroom(self) -> float:
        """Inches below the dots before the conventions have room."""
        return FOOTROOM + LEGEND_ROW * max(0, self.legend_rows - 1)

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be said about lines and weights that are left out."""
        lines = [panel.lines for panel in self.panels]
        left_out, too_small = (
            sum(one.left_out for one in lines),
            sum(one.too_small for one in lines),
        )
        unwritten = sum(panel.unwritten for panel in self.panels)
        drawn = sum(len(one.drawn) for one in lines)
        zero = fixed(0.0, self.problem.decimals)
        found = {
            f"{left_out:,} smaller weights have no line in the picture: it shows the {drawn:,} "
            "largest": left_out,
            f"{too_small:,} weights have no line in the picture: they show as {zero} "
            "(more --decimals draw them)": too_small,
            f"{unwritten:,} weights are not written in the picture: there is no room for them": (
                unwritten
            ),
        }
        return tuple(text for text, count in found.items() if count)


def lay_out_map(
    problem: Problem, heads: Sequence[Head], look: Look, stretch: tuple[float, float]
) -> Map:
    """Choose the lines of each head, and where everything stands.

    Parameters
    ----------
    problem, heads
        What is drawn.
    look
        How it is wanted.
    stretch
        How much wider and higher than usual the space between the dots is.
    """
    across, down = stretch
    pitch = natural_pitch(problem) * down
    has_room = row_text_size(WEIGHT_SIZE, pitch) >= SMALLEST_TEXT
    chosen = [
        lines_of(
            problem,
            head,
            every_line=look.every_line,
            values=look.values,
            has_room=has_room,
            most_lines=MOST_LINES // len(heads),
        )
        for head in heads
    ]
    gap = max(_gap(Layout(problem, natural_gap(problem), pitch), each.drawn) for each in chosen)
    layouts = side_by_side(Layout(problem, gap * across, pitch), len(heads))
    panels = (
        Panel(layout, head, lines, tuple(_spots(layout, lines.drawn)))
        for layout, head, lines in zip(layouts, heads, chosen, strict=True)
    )
    return Map(problem, tuple(panels), scale_of(heads) if look.every_line else None)


def draw_map(axes: Axes, whole: Map, palette: Palette) -> None:
    """Draw the columns, the lines, the weights on them and the legend."""
    for panel in whole.panels:
        draw_columns(axes, panel.layout, palette)
        _draw_lines(axes, panel, whole.scale, palette)
        _write_weights(axes, panel, palette)
        if panel.head.number:
            write_panel_name(axes, panel.layout, panel.head.number, palette)
    _draw_legend(axes, whole, palette)


def _gap(layout: Layout, lines: Sequence[Drawn]) -> float:
    """Return how far apart the columns stand for no weight to be written on another."""
    gap = layout.gap
    for _ in range(WIDENINGS + 1):
        spots = _spots(replace(layout, gap=gap), lines)
        if all(spot for line, spot in zip(lines, spots, strict=True) if line.text):
            break
        gap *= 1.25
    return gap


def _spots(layout: Layout, drawn: Sequence[Drawn]) -> list[Point | None]:
    """Return where each weight is written, or None where none is or there is no room."""
    spots: list[Point | None] = [None] * len(drawn)
    with_text = [index for index, each in enumerate(drawn) if each.text]
    if not with_text:
        return spots
    size = layout.text_size(WEIGHT_SIZE)
    widths = {text: text_width(text, size) for text in {each.text for each in drawn} if text}
    lines = [
        Line(
            layout.output(each.output),
            layout.input(each.input),
            widths.get(each.text, 0.0),
            size * 1.25 / 72,
        )
        for each in drawn
    ]
    for index, spot in zip(with_text, place([lines[i] for i in with_text], lines), strict=True):
        spots[index] = spot
    return spots


def _draw_lines(axes: Axes, panel: Panel, scale: Scale | None, palette: Palette) -> None:
    """Draw all lines of a rank at once: thousands of single ones would take seconds."""
    layout = panel.layout
    thinner = min(1.0, max(THINNEST_SHARE, layout.pitch / USUAL_PITCH))
    for number, rank in enumerate(palette.ranks):
        lines = [line for line in panel.lines.drawn if line.rank == number]
        if not lines:
            continue
        weights = np.array([line.weight for line in lines])
        strengths = np.clip(weights, 0.0, 1.0) if scale is None else scale.strengths(weights)
        collection = LineCollection(
            [(layout.output(line.output), layout.input(line.input)) for line in lines],
            linewidths=thinner * (THINNEST + (THICKEST - THINNEST) * strengths),
            colors=rank.color if scale is None else shades(rank.color, palette.paper, strengths),
            linestyles=[rank.linestyle],
            zorder=1.5 if number == OTHER else 2,
            gid=rank.name,
        )
        axes.add_collection(collection)


def _write_weights(axes: Axes, panel: Panel, palette: Palette) -> None:
    for line, spot in zip(panel.lines.drawn, panel.spots, strict=True):
        if spot:
            axes.text(
                *spot,
                line.text,
                ha="center",
                va="center",
                size=panel.layout.text_size(WEIGHT_SIZE),
                color=palette.ranks[line.rank].color,
                bbox={"facecolor": palette.paper, "edgecolor": "none", "pad": 0.8},
                zorder=4,
                gid="weight",
            )


def _draw_legend(axes: Axes, whole: Map, palette: Palette) -> None:
    frame, ranks = whole.frame, [palette.ranks[number] for number in whole.ranks]
    handles = [
        Line2D([], [], linewidth=2.0, label=rank.label, color=rank.color, linestyle=rank.linestyle)
        for rank in ranks
    ]
    if handles:
        axes.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(frame.middle, frame.bottom - 0.35),
            bbox_transform=axes.transData,
            ncols=len(handles) if whole.legend_rows == 1 else 1,
            frameon=False,
            fontsize=TEXT_SIZE - 1,
            handlelength=4,
            labelcolor=palette.strong,
        )
