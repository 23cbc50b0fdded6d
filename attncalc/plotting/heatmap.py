"""The heatmap: the attention weights as coloured cells, with their digits; heads share one scale.

The matrix is shown as the solution prints it: outputs along rows or, where tokens are columns,
along columns. Laid out in inches, as the map is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from attncalc.numbers.rounding import fixed
from attncalc.numbers.types import Matrix
from attncalc.plotting.contrast import BLACK, WHITE, dark_enough_for_white
from attncalc.plotting.look import Look
from attncalc.plotting.page import (
    MOST_PANELS_IN_A_ROW,
    POINTS,
    SMALLEST_TEXT,
    TEXT_SIZE,
    Frame,
    around,
    label_step,
    row_text_size,
    shown_names,
    text_width,
    widest,
)
from attncalc.plotting.scale import Scale, scale_of
from attncalc.plotting.style import WEIGHTS, Palette
from attncalc.problem.problem import Problem
from attncalc.solving.solution import Head

NAME_SIZE, VALUE_SIZE, TICK_SIZE = 10.0, 9.0, 8.5
CELL = 0.5
"""Inches of a cell's side, at least, where there is room."""
FEW_NAMES, WIDEST_NAME = 12, 0.9
"""Columns, and inches, up to which cells become wider for names to stand level above them."""
LARGEST_GRID, LARGEST_OF_SEVERAL = 12.0, 6.0
"""Inches that a grid grows to for its numbers to be read: alone, and as one of several heads."""
GRID_WITHOUT_VALUES = 8.0
MOST_VALUES = 5000
"""Cells that are written in; more of them take seconds."""
MOST_CELLS = 2500
"""Cells drawn as shapes; more of them become an image."""
MOST_DOTS = 2048
"""Dots of an image across, and down; of more weights each dot shows the mean of those it covers."""
BAR_GAP, BAR_WIDTH, LEAST_BAR = 0.35, 0.18, 1.2
LABEL_GAP = 0.1
"""Inches between a grid and the names beside it."""
LINE = 0.2
"""Inches from the bottom of a line of text to the next."""


@dataclass(frozen=True)
class Sides:
    """What stands beside the cells: the names of rows and columns, and what they are."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_title: str
    column_title: str


@dataclass(frozen=True)
class Cells:
    """The size of a cell and of what is written in it, and beside it.

    Parameters
    ----------
    width, height
        Of one cell, in inches.
    value_size
        Points of the numbers in the cells; 0 where they cannot be read.
    """

    width: float
    height: float
    value_size: float

    @property
    def row_step(self) -> int:
        """Every which row has room for its name."""
        return label_step(self.height)

    @property
    def column_step(self) -> int:
        """Every which column has room for its name."""
        return label_step(self.width)

    @property
    def row_name_size(self) -> float:
        """Points of the names of rows."""
        return row_text_size(NAME_SIZE, self.height * self.row_step)

    @property
    def column_name_size(self) -> float:
        """Points of the names of columns, which stand upright where they are wide."""
        return row_text_size(NAME_SIZE, self.width * self.column_step)


@dataclass(frozen=True)
class Grid:
    """The cells of one head, and where they stand: the left upper corner, in inches."""

    head: Head
    weights: Matrix
    texts: tuple[tuple[str, ...], ...]
    frame: Frame


@dataclass(frozen=True)
class Heatmap:
    """The heatmaps of all heads, and the bar that tells the colours of all.

    Parameters
    ----------
    grids
        One for each head, all of the same size.
    sides, cells
        What stands beside the cells, and how large they are.
    margin
        Inches that the names take: left of a grid, and above it.
    upright
        Whether the names of columns are turned.
    scale
        The smallest and the largest weight.
    unwritten
        How many cells are without their number, for it could not be read.
    """

    grids: tuple[Grid, ...]
    sides: Sides
    cells: Cells
    margin: tuple[float, float]
    upright: bool
    scale: Scale
    unwritten: int

    @property
    def grids_frame(self) -> Frame:
        """What the cells of all heads span."""
        return around(grid.frame for grid in self.grids)

    @property
    def frame(self) -> Frame:
        """All that is drawn: grids, names, titles and the colour bar."""
        grids = self.grids_frame
        left, above = self.margin
        title = text_width(self.sides.column_title, TEXT_SIZE) / 2
        return Frame(
            min(grids.left - left - LINE - 0.1, grids.middle - title),
            max(grids.right + BAR_GAP + BAR_WIDTH + 0.75, grids.middle + title),
            min(grids.bottom, self.bar.bottom, self.row_title_bottom),
            grids.top + above + LINE * (2.5 if self.grids[0].head.number else 1.2),
        )

    @property
    def space(self) -> tuple[float, float]:
        """How many inches of it, across and down, are cells."""
        width, height = self.grids[0].frame.width, self.grids[0].frame.height
        rows = -(-len(self.grids) // MOST_PANELS_IN_A_ROW)
        return width * min(len(self.grids), MOST_PANELS_IN_A_ROW), height * rows

    @property
    def row_title_bottom(self) -> float:
        """Where the upright title of the rows ends, which may be longer than a short grid."""
        grids = self.grids_frame
        length = text_width(self.sides.row_title, TEXT_SIZE)
        return min(grids.bottom, (grids.top + grids.bottom - length) / 2)

    @property
    def bar(self) -> Frame:
        """Where the colour bar stands."""
        grids = self.grids_frame
        left = grids.right + BAR_GAP
        return Frame(left, left + BAR_WIDTH, min(grids.bottom, grids.top - LEAST_BAR), grids.top)

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be said about numbers that are left out."""
        n, m = self.grids[0].weights.shape
        found = {
            f"{self.unwritten:,} weights are not written in the heatmap: "
            "they could not be read in cells as small as these": self.unwritten,
            f"the heatmap has {min(n, MOST_DOTS):,} × {min(m, MOST_DOTS):,} dots for {n:,} × {m:,} "
            "weights: each shows the mean of those it covers": max(n, m) > MOST_DOTS,
        }
        return tuple(text for text, is_said in found.items() if is_said)


def lay_out_heatmap(
    problem: Problem,
    heads: Sequence[Head],
    look: Look,
    stretch: tuple[float, float],
) -> Heatmap:
    """Decide where everything stands, the first grid with its left upper corner at (0, 0).

    Parameters
    ----------
    problem, heads
        What is drawn.
    look
        How it is wanted.
    stretch
        How much wider and higher than usual the cells are.
    """
    shown = [problem.standing.shown(head.weights) for head in heads]
    texts, unwritten = _texts(problem, heads, look)
    sides = _sides(problem)
    cells = _cells(sides, texts, len(heads) > 1, stretch)
    left = widest(sides.rows[:: cells.row_step], cells.row_name_size) + LABEL_GAP
    name_width = widest(sides.columns[:: cells.column_step], cells.column_name_size)
    upright = name_width > cells.width * cells.column_step
    above = LABEL_GAP + (name_width if upright else LINE)
    if texts and not cells.value_size:
        unwritten = sum(weights.size for weights in shown)
    whole = Heatmap((), sides, cells, (left, above), upright, scale_of(heads), unwritten)
    first = Frame(0.0, cells.width * len(sides.columns), -cells.height * len(sides.rows), 0.0)
    grids = tuple(
        Grid(head, weights, texts[i] if cells.value_size else (), _moved(first, whole.margin, i))
        for i, (head, weights) in enumerate(zip(heads, shown, strict=True))
    )
    return replace(whole, grids=grids)


def moved_to(whole: Heatmap, left: float, top: float) -> Heatmap:
    """Return the heatmap with the left upper corner of all that is drawn at this place."""
    across, up = left - whole.frame.left, top - whole.frame.top

    def moved(each: Frame) -> Frame:
        return Frame(each.left + across, each.right + across, each.bottom + up, each.top + up)

    grids = tuple(replace(grid, frame=moved(grid.frame)) for grid in whole.grids)
    return replace(whole, grids=grids)


def draw_heatmap(axes: Axes, whole: Heatmap, palette: Palette) -> None:
    """Draw the cells, their numbers, the names beside them and the colour bar."""
    norm = Normalize(whole.scale.low, whole.scale.high)
    many = sum(grid.weights.size for grid in whole.grids) > MOST_CELLS
    for grid in whole.grids:
        _draw_cells(axes, grid, norm, palette, as_image=many)
        _write_values(axes, grid, whole.cells, norm, palette)
        _write_names(axes, grid.frame, whole, palette)
    _write_titles(axes, whole, palette)
    _draw_bar(axes, whole, norm, palette)


def _texts(
    problem: Problem, heads: Sequence[Head], look: Look
) -> tuple[tuple[tuple[tuple[str, ...], ...], ...], int]:
    """Return the digits of each head's cells, or none and how many that leaves unwritten."""
    cells = problem.n * problem.m * len(heads)
    if not look.values:
        return (), 0
    if cells > MOST_VALUES:
        return (), cells
    rounded = (problem.standing.shown(np.asarray(head.rounded)) for head in heads)
    return tuple(
        tuple(tuple(fixed(value, problem.decimals) for value in row) for row in matrix)
        for matrix in rounded
    ), 0


def _cells(
    beside: Sides,
    texts: Sequence[Sequence[Sequence[str]]],
    several: bool,
    stretch: tuple[float, float],
) -> Cells:
    """Return how large cells are: for their numbers to be read, as far as the page allows."""
    rows, columns = len(beside.rows), len(beside.columns)
    across, down = stretch
    width = _widest_digits(text for head in texts for row in head for text in row)
    grid = LARGEST_OF_SEVERAL if several else LARGEST_GRID
    wanted = max(CELL, width + 0.1, _name_width(beside.columns))
    sides = min(wanted, grid / columns), min(CELL, grid / rows)
    if not texts or not _value_size(*sides, width):
        sides = min(wanted, GRID_WITHOUT_VALUES / columns), min(CELL, GRID_WITHOUT_VALUES / rows)
    cell = sides[0] * across, sides[1] * down
    return Cells(*cell, _value_size(*cell, width) if texts else 0.0)


def _widest_digits(texts: Iterable[str]) -> float:
    """Return the width of the widest number; all digits are as wide as 0, so few are measured."""
    patterns = {re.sub("[1-9]", "0", text) for text in texts}
    return widest(patterns, VALUE_SIZE) if patterns else 0.0


def _name_width(names: Sequence[str]) -> float:
    """Return the width of a cell for the names of few columns to stand above it, where short."""
    if len(names) > FEW_NAMES:
        return 0.0
    width = widest(names, NAME_SIZE) + 0.06
    return width if width <= WIDEST_NAME else 0.0


def _value_size(width: float, height: float, widest_text: float) -> float:
    """Return the points of numbers that fit into a cell, or 0 where they could not be read."""
    size = min(VALUE_SIZE, VALUE_SIZE * width / widest_text, height * POINTS * 0.65)
    return size if size >= SMALLEST_TEXT else 0.0


def _sides(problem: Problem) -> Sides:
    """Return the names of rows and columns; tokens as columns turn the matrix."""
    asking = "Outputs (queries)" if problem.kind == "self" else f"Outputs ({problem.query_source})"
    answering = "Inputs (keys)" if problem.kind == "self" else f"Inputs ({problem.key_source})"
    queries, keys = shown_names(problem.queries), shown_names(problem.keys)
    if problem.layout == "columns":
        return Sides(keys, queries, answering, f"{asking}, one in each column")
    return Sides(queries, keys, asking, answering)


def _moved(first: Frame, margin: tuple[float, float], index: int) -> Frame:
    """Return where the grid of a head stands, four in a row."""
    row, column = divmod(index, MOST_PANELS_IN_A_ROW)
    across = column * (first.width + margin[0] + BAR_GAP)
    down = row * (first.top - first.bottom + margin[1] + 2 * LINE + BAR_GAP)
    return Frame(first.left + across, first.right + across, first.bottom - down, first.top - down)


def _draw_cells(
    axes: Axes, grid: Grid, norm: Normalize, palette: Palette, *, as_image: bool
) -> None:
    """Draw shapes, which stay sharp at any size, or an image, which stays small and fast."""
    frame = grid.frame
    look: dict[str, Any] = {"cmap": WEIGHTS, "norm": norm, "zorder": 1}
    if as_image:
        sides = (frame.left, frame.right, frame.bottom, frame.top)
        axes.imshow(_in_dots(grid.weights), extent=sides, aspect="auto", **look)
        return
    rows, columns = grid.weights.shape
    x = np.linspace(frame.left, frame.right, columns + 1)
    y = np.linspace(frame.top, frame.bottom, rows + 1)
    axes.pcolormesh(x, y, grid.weights, edgecolors=palette.paper, linewidth=0.7, **look)


def _in_dots(weights: Matrix) -> Matrix:
    """Return the means of neighbouring weights, where there are more than an image has dots."""
    for axis, size in enumerate(weights.shape):
        if size > MOST_DOTS:
            edges = np.linspace(0, size, MOST_DOTS + 1).astype(np.intp)
            counts = np.diff(edges).reshape((1, -1) if axis else (-1, 1))
            weights = np.add.reduceat(weights, edges[:-1], axis=axis) / counts
    return weights


def _write_values(axes: Axes, grid: Grid, cells: Cells, norm: Normalize, palette: Palette) -> None:
    """Write each weight in black or white, whichever reads better on its cell."""
    if not grid.texts:
        return
    white = dark_enough_for_white(colormaps[WEIGHTS](norm(grid.weights)))
    for row, texts in enumerate(grid.texts):
        for column, text in enumerate(texts):
            axes.text(
                grid.frame.left + (column + 0.5) * cells.width,
                grid.frame.top - (row + 0.5) * cells.height,
                text,
                ha="center",
                va="center_baseline",
                size=cells.value_size,
                color=WHITE if white[row, column] else BLACK,
                zorder=3,
                gid="value",
            )


def _write_names(axes: Axes, frame: Frame, whole: Heatmap, palette: Palette) -> None:
    cells, sides = whole.cells, whole.sides
    look: dict[str, Any] = {"color": palette.ink, "parse_math": False}
    for row in range(0, len(sides.rows), cells.row_step):
        y = frame.top - (row + 0.5) * cells.height
        size = cells.row_name_size
        x = frame.left - LABEL_GAP
        axes.text(x, y, sides.rows[row], ha="right", va="center", size=size, **look)
    turned = {"rotation": 90, "ha": "center"} if whole.upright else {"ha": "center"}
    for column in range(0, len(sides.columns), cells.column_step):
        x = frame.left + (column + 0.5) * cells.width
        size = cells.column_name_size
        y = frame.top + LABEL_GAP
        axes.text(x, y, sides.columns[column], va="bottom", size=size, **turned, **look)


def _write_titles(axes: Axes, whole: Heatmap, palette: Palette) -> None:
    """Write once what rows and columns are, and above each grid which head it is."""
    left, above = whole.margin
    grids, sides = whole.grids_frame, whole.sides
    look: dict[str, Any] = {"size": TEXT_SIZE, "color": palette.strong}
    x, y = grids.left - left - 0.08, (grids.bottom + grids.top) / 2
    axes.text(x, y, sides.row_title, rotation=90, ha="right", va="center", **look)
    up = above + 0.08
    if whole.grids[0].head.number:
        for grid in whole.grids:
            x, y = grid.frame.middle, grid.frame.top + up
            name = f"head {grid.head.number}"
            axes.text(x, y, name, ha="center", va="bottom", weight="bold", **look)
        up += LINE * 1.3
    x, y = grids.middle, grids.top + up
    axes.text(x, y, sides.column_title, ha="center", va="bottom", **look)


def _draw_bar(axes: Axes, whole: Heatmap, norm: Normalize, palette: Palette) -> None:
    """Draw which colour stands for which weight."""
    frame, scale = whole.bar, whole.scale
    axes.imshow(
        np.linspace(scale.high, scale.low, 256)[:, np.newaxis],
        extent=(frame.left, frame.right, frame.bottom, frame.top),
        aspect="auto",
        cmap=WEIGHTS,
        norm=norm,
        zorder=1,
        gid="bar",
    )
    for tick in _ticks(scale):
        share = (tick - scale.low) / (scale.high - scale.low)
        y = frame.bottom + share * (frame.top - frame.bottom)
        ends = [frame.right, frame.right + 0.05]
        axes.plot(ends, [y, y], color=palette.ink, linewidth=0.8)
        look: dict[str, Any] = {"size": TICK_SIZE, "color": palette.ink, "gid": "tick"}
        axes.text(frame.right + 0.09, y, f"{tick:g}", ha="left", va="center", **look)
    x, y = frame.right + 0.5, (frame.bottom + frame.top) / 2
    look = {"size": NAME_SIZE, "color": palette.strong, "rotation": 90}
    axes.text(x, y, "attention weight", ha="left", va="center", **look)


def _ticks(scale: Scale) -> Iterator[float]:
    """Yield round weights along the bar."""
    for tick in MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]).tick_values(scale.low, scale.high):
        if scale.low <= tick <= scale.high:
            yield round(float(tick), 12)
