"""The connection map: inputs left, outputs right, a line from each output to what it attends to.

A solid line leads to the input with the largest weight, a dashed one to the second. The picture is
laid out in inches: one unit of the axes is one inch on paper.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from attncalc.connections import Connection
from attncalc.labels import shortened
from attncalc.plotting.placing import Line, Point, place
from attncalc.plotting.style import INK, MOST, RULE, SECOND, SMALL_PRINT
from attncalc.problem import Problem
from attncalc.rounding import fixed
from attncalc.safe_text import harmless
from attncalc.solution import Head
from attncalc.words import conventions, heading

THINNEST, THICKEST = 0.9, 3.4
"""Line widths in points, for weights of 0 and of 1."""
MOST_TEXTS = 3
"""Tied lines that each carry their weight; more of them share one text beside the output."""
LONGEST_NAME = 28
MOST_PANELS_IN_A_ROW = 4
TEXT_SIZE, WEIGHT_SIZE, TITLE_SIZE, SMALL_SIZE = 11.0, 8.5, 13.0, 7.5


@dataclass(frozen=True)
class Layout:
    """Where everything of one panel stands, in inches; several heads have a panel each."""

    problem: Problem
    gap: float
    origin: Point = (0.0, 0.0)

    @property
    def pitch(self) -> float:
        """The distance between two dots of a column."""
        rows = max(self.problem.n, self.problem.m)
        return min(0.75, max(0.36, 6.0 / rows), 45.0 / rows)

    @property
    def height(self) -> float:
        """The height of the longer column, from its first dot to its last."""
        return self.pitch * (max(self.problem.n, self.problem.m) - 1)

    @property
    def left(self) -> float:
        """Where the inputs stand."""
        return self.origin[0]

    @property
    def right(self) -> float:
        """Where the outputs stand."""
        return self.origin[0] + self.gap

    @property
    def bottom(self) -> float:
        """The height of the lowest dot of the longer column."""
        return self.origin[1]

    @property
    def top(self) -> float:
        """The height of the highest dot of the longer column."""
        return self.origin[1] + self.height

    def input(self, index: int) -> Point:
        """Return where an input's dot stands."""
        return self.left, self._row(index, self.problem.m)

    def output(self, index: int) -> Point:
        """Return where an output's dot stands."""
        return self.right, self._row(index, self.problem.n)

    def text_size(self, wanted: float) -> float:
        """Return a size of text, in points, that leaves two rows apart."""
        return min(wanted, self.pitch * 72 * 0.8)

    def _row(self, index: int, count: int) -> float:
        """Return the height of a dot; the shorter column is centred beside the longer."""
        return self.bottom + self.height / 2 + self.pitch * ((count - 1) / 2 - index)


@dataclass(frozen=True)
class Drawn:
    """One line of the map: from an output to an input, its look, and what is written on it."""

    output: int
    input: int
    weight: float
    look: dict[str, Any]
    text: str


@dataclass(frozen=True)
class Panel:
    """The map of one head: its lines, where they run, and where their weights are written."""

    layout: Layout
    head: Head
    lines: tuple[Drawn, ...]
    spots: tuple[Point | None, ...]

    @property
    def unplaced(self) -> int:
        """How many weights found no free spot to be written at."""
        pairs = zip(self.lines, self.spots, strict=True)
        return sum(spot is None for line, spot in pairs if line.text)


def draw_map(problem: Problem, heads: Sequence[Head]) -> tuple[Figure, int]:
    """Draw the map, with a panel for each head.

    Returns
    -------
    Figure
        The picture.
    int
        How many weights found no free spot to be written at.
    """
    panels = _panels(problem, heads)
    width = max(panel.layout.right for panel in panels)
    top = max(panel.layout.top for panel in panels)
    bottom = min(panel.layout.bottom for panel in panels)
    figure = Figure(figsize=(width + 0.4, top - bottom + 0.6))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-0.2, width + 0.2)  # what stands outside widens the saved picture
    axes.set_ylim(bottom - 0.3, top + 0.3)
    for panel in panels:
        _draw_panel(axes, panel)
    several = any(panel.head.number for panel in panels)
    _write_title(axes, heading(problem), width, top + (1.1 if several else 0.75))
    _write_conventions(axes, problem, width, bottom)
    _draw_legend(axes, [line for panel in panels for line in panel.lines], width / 2, bottom)
    return figure, sum(panel.unplaced for panel in panels)


def _panels(problem: Problem, heads: Sequence[Head]) -> list[Panel]:
    """Lay the heads out side by side, four in a row, all of the same size."""
    drawn = [
        tuple(line for each in head.connections for line in _lines(problem, head, each))
        for head in heads
    ]
    gap = max(_gap(problem, lines) for lines in drawn)
    names = (*problem.keys, *problem.queries)
    size = Layout(problem, gap).text_size(TEXT_SIZE)
    margin = max(_text_width(name, size) for name in shortened(names, LONGEST_NAME)) + 0.35
    panels = []
    for i, (head, lines) in enumerate(zip(heads, drawn, strict=True)):
        row, column = divmod(i, MOST_PANELS_IN_A_ROW)
        layout = Layout(problem, gap)
        origin = (column * (gap + 2 * margin), -row * (layout.height + 1.4))
        layout = replace(layout, origin=origin)
        panels.append(Panel(layout, head, lines, tuple(_spots(layout, lines))))
    return panels


def _draw_panel(axes: Axes, panel: Panel) -> None:
    _draw_columns(axes, panel.layout)
    _draw_lines(axes, panel.layout, panel.lines)
    _write_weights(axes, panel.layout, panel.lines, panel.spots)
    if panel.head.number:
        middle = panel.layout.left + panel.layout.gap / 2
        name = f"head {panel.head.number}"
        axes.text(middle, panel.layout.top + 0.6, name, ha="center", va="bottom", size=TEXT_SIZE)


def _lines(problem: Problem, head: Head, connection: Connection) -> Iterator[Drawn]:
    for inputs, look in ((connection.most, MOST), (connection.second, SECOND)):
        for place_in_group, index in enumerate(inputs):
            text = fixed(head.rounded[connection.output, index], problem.decimals)
            if len(inputs) > MOST_TEXTS:
                text = f"{len(inputs)} × {text}" if place_in_group == len(inputs) // 2 else ""
            weight = float(head.weights[connection.output, index])
            yield Drawn(connection.output, index, weight, look, text)


def _gap(problem: Problem, lines: Sequence[Drawn]) -> float:
    """Return how far apart the columns stand for no weight to be written on another."""
    rows = max(problem.n, problem.m)
    gap = min(4.2 + 0.06 * max(0, rows - 8), 7.0)
    for _ in range(6):
        spots = _spots(Layout(problem, gap), lines)
        if all(spot for line, spot in zip(lines, spots, strict=True) if line.text):
            break
        gap *= 1.25
    return gap


def _spots(layout: Layout, drawn: Sequence[Drawn]) -> list[Point | None]:
    size = layout.text_size(WEIGHT_SIZE)

    def line(each: Drawn) -> Line:
        width = _text_width(each.text, size) if each.text else 0.0
        return Line(layout.output(each.output), layout.input(each.input), width, size * 1.25 / 72)

    lines = [line(each) for each in drawn]
    with_text = [index for index, each in enumerate(drawn) if each.text]
    spots: list[Point | None] = [None] * len(drawn)
    for index, spot in zip(with_text, place([lines[i] for i in with_text], lines), strict=True):
        spots[index] = spot
    return spots


def _text_width(text: str, size: float) -> float:
    """Return the width of a text in inches, with a little room at both sides."""
    return float(TextPath((0, 0), text, size=size).get_extents().width) / 72 + 0.06


def _draw_columns(axes: Axes, layout: Layout) -> None:
    problem = layout.problem
    size = layout.text_size(TEXT_SIZE)
    inputs = "Inputs" if problem.kind == "self" else f"Inputs ({problem.key_source})"
    sides = (
        (inputs, problem.keys, layout.input, -0.16, "right"),
        ("Outputs", problem.queries, layout.output, 0.16, "left"),
    )
    for title, names, spot, offset, side in sides:
        dots = [spot(index) for index in range(len(names))]
        x = dots[0][0]
        axes.plot(
            [x, x], [layout.bottom - 0.25, layout.top + 0.25], color=RULE, linewidth=1.0, zorder=1
        )
        axes.plot(
            [x] * len(dots),
            [y for _, y in dots],
            "o",
            color=INK,
            markersize=min(7.0, layout.pitch * 20),
            zorder=5,
            gid=title.split()[0].lower(),
        )
        heading_y = layout.top + 0.35
        axes.text(x, heading_y, title, ha="center", va="bottom", size=TEXT_SIZE, weight="bold")
        shown = shortened([harmless(name) for name in names], LONGEST_NAME)
        for name, (_, y) in zip(shown, dots, strict=True):
            axes.text(
                x + offset,
                y,
                name,
                ha=side,
                va="center",
                size=size,
                color=INK,
                parse_math=False,
            )


def _draw_lines(axes: Axes, layout: Layout, drawn: Sequence[Drawn]) -> None:
    """Draw all lines of a rank at once: thousands of single ones would take seconds."""
    for rank, look in (("most", MOST), ("second", SECOND)):
        lines = [line for line in drawn if line.look is look]
        if lines:
            collection = LineCollection(
                [(layout.output(line.output), layout.input(line.input)) for line in lines],
                linewidths=[THINNEST + (THICKEST - THINNEST) * line.weight for line in lines],
                colors=look["color"],
                linestyles=[look["linestyle"]],
                zorder=2,
                gid=rank,
            )
            axes.add_collection(collection)


def _write_weights(
    axes: Axes, layout: Layout, drawn: Sequence[Drawn], spots: Sequence[Point | None]
) -> None:
    for line, spot in zip(drawn, spots, strict=True):
        if spot:
            axes.text(
                *spot,
                line.text,
                ha="center",
                va="center",
                size=layout.text_size(WEIGHT_SIZE),
                color=line.look["color"],
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
                zorder=4,
                gid="weight",
            )


def _write_title(axes: Axes, title: str, width: float, bottom: float) -> None:
    lines = textwrap.wrap(harmless(title), max(24, int((width + 2) * 9)))
    axes.text(
        width / 2,
        bottom,
        "\n".join(lines[:4]),
        ha="center",
        va="bottom",
        size=TITLE_SIZE,
        weight="bold",
        parse_math=False,
        gid="title",
    )


def _write_conventions(axes: Axes, problem: Problem, width: float, bottom: float) -> None:
    """State the conventions in small print, for a picture that is shown without its tables."""
    lines = textwrap.wrap(" · ".join(conventions(problem)), max(50, int((width + 2) * 14)))
    axes.text(
        width / 2,
        bottom - 0.8,
        "\n".join(lines),
        ha="center",
        va="top",
        size=SMALL_SIZE,
        color=SMALL_PRINT,
        parse_math=False,
        gid="conventions",
    )


def _draw_legend(axes: Axes, drawn: Sequence[Drawn], middle: float, bottom: float) -> None:
    handles = [
        Line2D([], [], linewidth=2.0, label=label, **look)
        for look, label in ((MOST, "largest weight"), (SECOND, "second"))
        if any(line.look is look for line in drawn)
    ]
    if handles:
        axes.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(middle, bottom - 0.35),
            bbox_transform=axes.transData,
            ncols=2,
            frameon=False,
            fontsize=TEXT_SIZE - 1,
            handlelength=4,
        )
