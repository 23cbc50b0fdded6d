"""The connection map: inputs left, outputs right, a line from each output to what it attends to.

A solid line leads to the input with the largest weight, a dashed one to the second. The picture is
laid out in inches: one unit of the axes is one inch on paper.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from attncalc.connections import Connection
from attncalc.labels import shortened
from attncalc.plotting.placing import Line, Point, place
from attncalc.plotting.style import INK, MOST, RULE, SECOND
from attncalc.rounding import fixed
from attncalc.safe_text import harmless
from attncalc.solution import Solution
from attncalc.words import heading

THINNEST, THICKEST = 0.9, 3.4
"""Line widths in points, for weights of 0 and of 1."""
MOST_TEXTS = 3
"""Tied lines that each carry their weight; more of them share one text beside the output."""
LONGEST_NAME = 28
TEXT_SIZE, WEIGHT_SIZE, TITLE_SIZE = 11.0, 8.5, 13.0


@dataclass(frozen=True)
class Layout:
    """Where everything stands, in inches."""

    solution: Solution
    gap: float

    @property
    def pitch(self) -> float:
        """The distance between two dots of a column."""
        rows = max(self.solution.problem.n, self.solution.problem.m)
        return min(0.75, max(0.36, 6.0 / rows), 45.0 / rows)

    @property
    def height(self) -> float:
        """The height of the longer column, from its first dot to its last."""
        return self.pitch * (max(self.solution.problem.n, self.solution.problem.m) - 1)

    def input(self, index: int) -> Point:
        """Return where an input's dot stands."""
        return 0.0, self._row(index, self.solution.problem.m)

    def output(self, index: int) -> Point:
        """Return where an output's dot stands."""
        return self.gap, self._row(index, self.solution.problem.n)

    def text_size(self, wanted: float) -> float:
        """Return a size of text, in points, that leaves two rows apart."""
        return min(wanted, self.pitch * 72 * 0.8)

    def _row(self, index: int, count: int) -> float:
        """Return the height of a dot; the shorter column is centred beside the longer."""
        return self.height / 2 + self.pitch * ((count - 1) / 2 - index)


@dataclass(frozen=True)
class Drawn:
    """One line of the map: from an output to an input, its look, and what is written on it."""

    output: int
    input: int
    weight: float
    look: dict[str, Any]
    text: str


def draw_map(solution: Solution) -> tuple[Figure, int]:
    """Draw the map.

    Returns
    -------
    Figure
        The picture.
    int
        How many weights found no free spot to be written at.
    """
    drawn = [line for each in solution.connections for line in _lines(solution, each)]
    layout, spots = _lay_out(solution, drawn)
    figure = Figure(figsize=(layout.gap + 0.4, layout.height + 0.6))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-0.2, layout.gap + 0.2)  # what stands outside widens the saved picture
    axes.set_ylim(-0.3, layout.height + 0.3)
    _draw_columns(axes, layout)
    _draw_lines(axes, layout, drawn)
    _write_weights(axes, layout, drawn, spots)
    _write_title(axes, layout)
    _draw_legend(axes, layout, drawn)
    return figure, sum(spot is None for line, spot in zip(drawn, spots, strict=True) if line.text)


def _lines(solution: Solution, connection: Connection) -> Iterator[Drawn]:
    for inputs, look in ((connection.most, MOST), (connection.second, SECOND)):
        for place_in_group, index in enumerate(inputs):
            text = fixed(solution.rounded("A")[connection.output, index], solution.problem.decimals)
            if len(inputs) > MOST_TEXTS:
                text = f"{len(inputs)} × {text}" if place_in_group == len(inputs) // 2 else ""
            weight = float(solution["A"][connection.output, index])
            yield Drawn(connection.output, index, weight, look, text)


def _lay_out(solution: Solution, drawn: Sequence[Drawn]) -> tuple[Layout, list[Point | None]]:
    """Return a layout wide enough for no weight to be written on another, if there is one."""
    rows = max(solution.problem.n, solution.problem.m)
    gap = min(4.2 + 0.06 * max(0, rows - 8), 7.0)
    for _ in range(6):
        layout = Layout(solution, gap)
        spots = _spots(layout, drawn)
        if all(spot for line, spot in zip(drawn, spots, strict=True) if line.text):
            break
        gap *= 1.25
    return layout, spots


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
    problem = layout.solution.problem
    size = layout.text_size(TEXT_SIZE)
    inputs = "Inputs" if problem.kind == "self" else "Inputs (X2)"
    sides = (
        (inputs, problem.keys, layout.input, -0.16, "right"),
        ("Outputs", problem.queries, layout.output, 0.16, "left"),
    )
    for title, names, spot, offset, side in sides:
        dots = [spot(index) for index in range(len(names))]
        x = dots[0][0]
        axes.plot([x, x], [-0.25, layout.height + 0.25], color=RULE, linewidth=1.0, zorder=1)
        axes.plot(
            [x] * len(dots),
            [y for _, y in dots],
            "o",
            color=INK,
            markersize=min(7.0, layout.pitch * 20),
            zorder=5,
            gid=title.split()[0].lower(),
        )
        heading_y = layout.height + 0.35
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
    for line in drawn:
        (x0, y0), (x1, y1) = layout.output(line.output), layout.input(line.input)
        thickness = THINNEST + (THICKEST - THINNEST) * line.weight
        axes.plot([x0, x1], [y0, y1], linewidth=thickness, zorder=2, **line.look)


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


def _write_title(axes: Axes, layout: Layout) -> None:
    width = max(24, int((layout.gap + 2) * 9))
    title = "\n".join(textwrap.wrap(harmless(heading(layout.solution.problem)), width)[:4])
    axes.text(
        layout.gap / 2,
        layout.height + 0.75,
        title,
        ha="center",
        va="bottom",
        size=TITLE_SIZE,
        weight="bold",
        parse_math=False,
        gid="title",
    )


def _draw_legend(axes: Axes, layout: Layout, drawn: Sequence[Drawn]) -> None:
    handles = [
        Line2D([], [], linewidth=2.0, label=label, **look)
        for look, label in ((MOST, "largest weight"), (SECOND, "second"))
        if any(line.look is look for line in drawn)
    ]
    if handles:
        axes.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(layout.gap / 2, -0.35),
            bbox_transform=axes.transData,
            ncols=2,
            frameon=False,
            fontsize=TEXT_SIZE - 1,
            handlelength=4,
        )
