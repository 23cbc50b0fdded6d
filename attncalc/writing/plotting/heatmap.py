"""The heatmap: values as colored cells, with their digits, and a bar of the colors."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from attncalc.base.rounding import fixed
from attncalc.base.types import Matrix
from attncalc.problem.attention.steps import hidden_of
from attncalc.problem.problem import Problem
from attncalc.problem.step import Step
from attncalc.solving.solution import Head, Solution
from attncalc.writing.plotting import style
from attncalc.writing.plotting.figure import (
    NEAR,
    LeftOut,
    Mosaic,
    Room,
    Track,
    panel_of,
    room_of,
    with_column,
)
from attncalc.writing.plotting.placing import (
    POINTS,
    SMALLEST_TEXT,
    drawn_names,
    name_step,
    row_text_size,
    widest,
    wrapped,
)

VALUE_SIZE, TICK_SIZE = 9.0, 8.5
HATCH, STRIPES = "////", 100
"""How cells that a mask forbids are hatched; of an image, how many stripes there are."""
CELL, LEAST_SIDE = 0.5, 2.1
"""Inches of a cell's side, and of a side of all cells, at least, where there is room."""
FEW_NAMES, WIDEST_NAME = 12, 0.9
"""Columns, and inches, up to which cells become wider so that names above are horizontal."""
LARGEST = 12.0
"""Inches that a side grows to for numbers to be read."""
LARGEST_WITHOUT_VALUES = 8.0
MOST_VALUES = 5000
"""The largest number of cells with text; more of them take seconds."""
MOST_CELLS = 2500
"""Cells drawn as shapes, which stay sharp at any size; more of them become an image."""
MOST_DOTS = 2048
"""Dots of an image across, and down; of more values each dot shows the mean of those it covers."""
BAR_WIDTH = 0.18
"""Inches."""
NAME_GAP = 0.08
"""Inches between cells and the names next to them."""
TITLE_GAP = 6.0
"""Points between the names and their title."""
NOT_WRITTEN = "{} weights are not written in the heatmap: the cells are too small"

Texts = Sequence[Sequence[str]]
Scale = tuple[float, float]
"""The values of the first and of the last color."""


@dataclass(frozen=True)
class Cells:
    """The values and texts of cells, and the names next to them.

    values: the values of the colors, (rows, columns).
    texts: the texts in the cells, row by row; empty for none.
    titles: the names of the rows and the columns; "" without a name.
    unwritten: the number of values that are not written, since they are too many.
    colours: the colormap, by matplotlib's name.
    hidden: the masked cells, (rows, columns), which are hatched; None for none.
    """

    values: Matrix
    texts: tuple[tuple[str, ...], ...]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    titles: tuple[str, str] = ("", "")
    unwritten: int = 0
    colours: str = style.WEIGHTS
    hidden: Matrix | None = None

    @property
    def widest_text(self) -> float:
        """The width of the widest number; all digits are as wide as 0, so few are measured."""
        patterns = {re.sub("[1-9]", "0", text) for row in self.texts for text in row}
        return widest(patterns, VALUE_SIZE)


def cells_of(problem: Problem, head: Head, *, values: bool, most: int = MOST_VALUES) -> Cells:
    """Return the weights of a head as printed, and whether they are written in the cells."""
    attention = head.attention or problem
    is_self, standing = attention.kind == "self" or attention.start, problem.standing
    asking = "Outputs (queries)" if is_self else f"Outputs ({attention.query_source})"
    answering = "Inputs (keys)" if is_self else f"Inputs ({attention.key_source})"
    names = standing.pair(drawn_names(attention.queries), drawn_names(attention.keys))
    of_outputs = f"{asking}, one in each column" if standing.by_columns else asking
    titles = standing.pair(of_outputs, answering)
    weights = standing.shown(head.weights)
    too_many = weights.size > most
    rounded = standing.shown(np.asarray(head.rounded)) if values and not too_many else ()
    texts = tuple(tuple(fixed(value, problem.decimals) for value in row) for row in rounded)
    hidden = hidden_of(attention, head.number)
    if hidden is not None:
        hidden = standing.shown(hidden)
        texts = tuple(
            tuple("" if is_hidden else text for text, is_hidden in zip(row, masked, strict=True))
            for row, masked in zip(texts, hidden, strict=len(texts) > 0)
        )
    unwritten = weights.size if values and too_many else 0
    return Cells(weights, texts, names, titles, unwritten, hidden=hidden)


def gradient_cells(solution: Solution, step: Step, head: int, values: bool, most: int) -> Cells:
    """Return a gradient, or that of one head (from 0), as printed."""
    matrix = solution.precisely_tabled(step.name)
    own = matrix[head] if matrix.ndim == 3 else matrix
    place = (head,) if matrix.ndim == 3 else ()
    names = drawn_names(solution.row_labels(step)), drawn_names(solution.column_labels(step))
    too_many = own.size > most
    rows = range(len(own)) if values and not too_many else ()
    texts = tuple(tuple(solution.shown_row(step.name, place, row)) for row in rows)
    unwritten = own.size if values and too_many else 0
    return Cells(own, texts, names, ("", ""), unwritten, style.GRADIENTS)


def natural_cell(cells: Cells, side: float = 0.0, largest: float = LARGEST) -> Room:
    """Return the inches of a cell with a readable number, as far as the page allows."""
    rows, columns = np.shape(cells.values)
    wanted = max(side, CELL, LEAST_SIDE / rows), max(side, CELL, LEAST_SIDE / columns)
    names = cells.names[1]  # of few columns, short ones are horizontal
    below_names = widest(names, style.NAME_SIZE) + 0.06 if len(names) <= FEW_NAMES else 0.0
    wide = max(wanted[1], cells.widest_text + 0.1, below_names * (below_names <= WIDEST_NAME))
    cell = min(wide, largest / columns), min(wanted[0], largest / rows)
    if _value_size(cells, cell):
        return cell
    most = min(largest, LARGEST_WITHOUT_VALUES)
    return min(wide, most / columns), min(wanted[0], most / rows)


def draw_heatmap(
    axes: Axes,
    cells: Cells,
    scale: Scale,
    *,
    room: Room | None = None,
    palette: style.Palette = style.LIGHT,
    proportion: float | None = None,
) -> LeftOut:
    """Draw values as colored cells on any axes of matplotlib, the first row on top.

    Returns the number of values that are not written, since they would be illegible.

    room: the inches the axes will have; None for those it has.
    proportion: the height of a cell for a width of 1; None for cells that fill the axes.
    """
    width, height = _cell(cells, room or room_of(axes))
    if proportion is not None and not np.isclose(height, width * proportion, rtol=NEAR):
        axes.set_aspect(proportion)
    _write_names(axes, cells, _cell(cells, room or room_of(axes), proportion), palette)
    norm = Normalize(*scale)
    _draw_cells(axes, cells, norm, palette)
    _hatch(axes, cells, palette)
    size = _value_size(cells, _cell(cells, room or room_of(axes), proportion))
    if size:
        # whichever reads better
        white = style.dark_enough_for_white(colormaps[cells.colours](norm(cells.values)))
        write_in_cells(axes, cells.texts, white, size, "value")
    unwritten = cells.unwritten + (0 if size else sum(map(len, cells.texts)))
    return LeftOut({NOT_WRITTEN: unwritten, **_on_dots(cells.values)})


def with_bar(
    mosaic: Mosaic,
    name: str,
    scale: Scale,
    label: str,
    palette: style.Palette,
    colours: str = style.WEIGHTS,
    alpha: float | None = None,
    number: Callable[[str], str] = str,
) -> Mosaic:
    """Return a mosaic with a color bar to its right."""

    def draw(axes: Axes, _: Room) -> None:
        figure = axes.get_figure()
        assert isinstance(figure, Figure)
        shades = ScalarMappable(Normalize(*scale), colours)
        ticks = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10])
        form = FuncFormatter(lambda value, _: number(f"{value:g}"))
        bar = figure.colorbar(shades, cax=axes, alpha=alpha, ticks=ticks, format=form)
        bar.outline.set_visible(False)
        bar.ax.tick_params(color=palette.ink, labelcolor=palette.ink, labelsize=TICK_SIZE)
        bar.set_label(label, size=style.NAME_SIZE, color=palette.strong)

    return with_column(mosaic, name, BAR_WIDTH, draw)


def alone(
    number: str, cells: Cells, scale: Scale, label: str, palette: style.Palette, least: float,
    largest: float = LARGEST, left_out: LeftOut | None = None,
) -> Mosaic:  # fmt: skip
    """Return a heatmap of readable cells with its color bar, named by its number."""

    def draw(axes: Axes, room: Room) -> LeftOut:
        drawn = draw_heatmap(axes, cells, scale, room=room, palette=palette)
        return drawn + (left_out or LeftOut())

    width, height = natural_cell(cells, largest=largest)
    rows, columns = cells.values.shape
    tracks = Track(width * columns, least), Track(height * rows, least)
    panel = panel_of(f"heatmap{number}", *tracks, draw)
    return with_bar(panel, f"bar{number}", scale, label, palette)


def write_in_cells(
    axes: Axes, texts: Texts, white: NDArray[np.bool_], size: float, gid: str
) -> None:
    """Write each text in white or black on its cell."""
    look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "size": size, "zorder": 3}
    for (row, column), is_white in np.ndenumerate(white):
        ink = style.WHITE if is_white else style.BLACK
        text = axes.text(column, row, texts[row][column], color=ink, **look)
        text.set(gid=gid, in_layout=False)


def _cell(cells: Cells, room: Room, proportion: float | None = None) -> Room:
    """Return the inches of a cell in a room."""
    rows, columns = np.shape(cells.values)
    width, height = room[0] / columns, room[1] / rows
    if proportion is None:
        return width, height
    return min(width, height / proportion), min(height, width * proportion)


def _value_size(cells: Cells, cell: Room) -> float:
    """Return the points of the numbers in cells, or 0 where there are none or none can be read."""
    if not cells.texts:
        return 0.0
    size = min(
        VALUE_SIZE, VALUE_SIZE * cell[0] / (cells.widest_text + 0.04), cell[1] * POINTS * 0.65
    )
    return size if size >= SMALLEST_TEXT else 0.0


def _on_dots(values: Matrix) -> dict[str, int]:
    n, m = values.shape
    said = (
        f"the heatmap has {min(n, MOST_DOTS):,} × {min(m, MOST_DOTS):,} dots for {n:,} × {m:,} "
        "weights: each dot shows the mean of the weights it covers"
    )
    return {said: 1} if max(n, m) > MOST_DOTS else {}


def _in_dots(values: Matrix) -> Matrix:
    """Return the means of neighboring values, where there are more than an image has dots."""
    for axis, size in enumerate(values.shape):
        if size > MOST_DOTS:
            edges = np.linspace(0, size, MOST_DOTS + 1).astype(np.intp)
            counts = np.diff(edges).reshape((1, -1) if axis else (-1, 1))
            values = np.add.reduceat(values, edges[:-1], axis=axis) / counts
    return values


def _draw_cells(axes: Axes, cells: Cells, norm: Normalize, palette: style.Palette) -> None:
    values = cells.values
    rows, columns = np.shape(values)
    look: dict[str, Any] = {"cmap": cells.colours, "norm": norm, "zorder": 1}
    if values.size > MOST_CELLS:
        sides = (-0.5, columns - 0.5, rows - 0.5, -0.5)
        axes.imshow(_in_dots(values), aspect=axes.get_aspect(), extent=sides, **look)
    else:
        edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        axes.pcolormesh(*edges, values, edgecolors=palette.paper, linewidth=0.7, **look)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))


def _hatch(axes: Axes, cells: Cells, palette: style.Palette) -> None:
    """Draw stripes over the cells that a mask forbids."""
    if cells.hidden is None:
        return
    rows, columns = cells.hidden.shape
    if cells.values.size <= MOST_CELLS:
        corners = np.argwhere(cells.hidden)[:, ::-1] - 0.5
        square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        look: dict[str, Any] = {"facecolor": "none", "edgecolor": palette.rule, "linewidth": 0}
        cells_of_mask = corners[:, np.newaxis] + square
        stripes = PolyCollection(cells_of_mask, hatch=HATCH, zorder=2, **look)
        axes.add_collection(stripes, autolim=False)
        return
    dots = _in_dots(cells.hidden.astype(float)) >= 0.5
    i, j = np.indices(dots.shape)
    stripe = max(2, max(dots.shape) // STRIPES)
    ink = np.zeros((*dots.shape, 4))
    ink[dots & ((i + j) // stripe % 2 == 0)] = to_rgba(palette.rule, 0.6)
    sides = (-0.5, columns - 0.5, rows - 0.5, -0.5)
    axes.imshow(ink, aspect=axes.get_aspect(), extent=sides, zorder=2)


def _write_names(axes: Axes, cells: Cells, cell: Room, palette: style.Palette) -> None:
    """Write the names and the titles of rows and columns; wide names of columns are upright."""
    width, height = cell
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, pad=NAME_GAP * POINTS, labeltop=True, labelbottom=False)
    axes.xaxis.set_label_position("top")
    title: dict[str, Any] = {"size": style.TEXT_SIZE, "color": palette.strong}
    axes.set_ylabel(cells.titles[0], labelpad=TITLE_GAP, **title)
    column_title = wrapped(cells.titles[1], style.TEXT_SIZE, width * len(cells.names[1]))
    axes.set_xlabel(column_title, labelpad=TITLE_GAP, **title)
    look: dict[str, Any] = {"color": palette.ink, "parse_math": False}
    for axis, names, side in zip(
        (axes.yaxis, axes.xaxis), cells.names, (height, width), strict=True
    ):
        step = name_step(side)
        size = row_text_size(style.NAME_SIZE, side * step)
        axis.set_ticks(np.arange(0, len(names), step), names[::step], size=size, **look)
    if widest(cells.names[1][:: name_step(width)], size) > width * name_step(width):
        axes.tick_params(axis="x", rotation=90)
