"""The two columns of the map: inputs on the left, outputs on the right, a dot and a name each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes

from attncalc.plotting.page import (
    MOST_PANELS_IN_A_ROW,
    TEXT_SIZE,
    Frame,
    label_step,
    row_text_size,
    shown_names,
    widest,
)
from attncalc.plotting.placing import Point
from attncalc.plotting.style import Palette
from attncalc.problem.problem import Problem

TALLEST = 14.4
"""Inches a column takes at most where nothing else is asked for: forty rows of usual size."""

FOOTROOM = 0.8
"""Inches between the lowest dots and the conventions: the legend stands there."""


def headroom(*, named: bool) -> float:
    """Return the inches above the dots before a title has room, over panels named or not."""
    return 1.1 if named else 0.75


def natural_pitch(problem: Problem) -> float:
    """Return the distance between two dots where nothing else is asked for, in inches."""
    rows = max(problem.n, problem.m)
    return min(0.75, max(0.36, 6.0 / rows), TALLEST / rows)


def natural_gap(problem: Problem) -> float:
    """Return the distance between the two columns where no text asks for more, in inches."""
    return min(4.2 + 0.06 * max(0, max(problem.n, problem.m) - 8), 7.0)


@dataclass(frozen=True)
class Layout:
    """Where everything of one panel stands, in inches; several heads have a panel each.

    Parameters
    ----------
    problem
        Whose tokens are named.
    gap
        The distance between the two columns.
    pitch
        The distance between two dots of a column.
    origin
        Where the lowest dot of the left column stands, were it the longer one.
    """

    problem: Problem
    gap: float
    pitch: float
    origin: Point = (0.0, 0.0)

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

    @property
    def frame(self) -> Frame:
        """What the dots span."""
        return Frame(self.left, self.right, self.bottom, self.top)

    @property
    def step(self) -> int:
        """Every which row has room for its name."""
        return label_step(self.pitch)

    @property
    def name_size(self) -> float:
        """The size of the names, in points."""
        return row_text_size(TEXT_SIZE, self.pitch * self.step)

    def input(self, index: int) -> Point:
        """Return where an input's dot stands."""
        return self.left, self._row(index, self.problem.m)

    def output(self, index: int) -> Point:
        """Return where an output's dot stands."""
        return self.right, self._row(index, self.problem.n)

    def text_size(self, wanted: float) -> float:
        """Return a size of text, in points, that leaves two rows apart."""
        return row_text_size(wanted, self.pitch)

    def _row(self, index: int, count: int) -> float:
        """Return the height of a dot; the shorter column is centred beside the longer."""
        return self.bottom + self.height / 2 + self.pitch * ((count - 1) / 2 - index)


def side_by_side(layout: Layout, count: int) -> tuple[Layout, ...]:
    """Return as many layouts of the same size, four in a row, with room for the names between."""

    def at(index: int) -> Layout:
        row, column = divmod(index, MOST_PANELS_IN_A_ROW)
        across, down = column * (layout.gap + 2 * margin), -row * (layout.height + 1.4)
        return replace(layout, origin=(across, down))

    margin = name_margin(layout)
    return tuple(at(index) for index in range(count))


def name_margin(layout: Layout) -> float:
    """Return the inches that the names take beside a column."""
    shown = shown_names((*layout.problem.keys, *layout.problem.queries))[:: layout.step]
    return widest(shown, layout.name_size) + 0.35


def space_of(layouts: Sequence[Layout]) -> tuple[float, float]:
    """Return how many inches, across and down, lie between the columns and between the rows."""
    rows = -(-len(layouts) // MOST_PANELS_IN_A_ROW)
    across = layouts[0].gap * min(len(layouts), MOST_PANELS_IN_A_ROW)
    return across, layouts[0].height * rows


def draw_columns(axes: Axes, layout: Layout, palette: Palette) -> None:
    """Draw the dots of both columns, their names and their headings."""
    problem = layout.problem
    inputs = "Inputs" if problem.kind == "self" else f"Inputs ({problem.key_source})"
    sides = (
        (inputs, problem.keys, layout.input, -0.16, "right"),
        ("Outputs", problem.queries, layout.output, 0.16, "left"),
    )
    for title, names, spot, offset, side in sides:
        dots = [spot(index) for index in range(len(names))]
        _draw_dots(axes, layout, dots, palette, gid=title.split()[0].lower())
        axes.text(
            dots[0][0],
            layout.top + 0.35,
            title,
            ha="center",
            va="bottom",
            size=TEXT_SIZE,
            weight="bold",
            color=palette.strong,
        )
        named = list(zip(shown_names(names), dots, strict=True))
        for name, (x, y) in named[:: layout.step]:
            axes.text(
                x + offset,
                y,
                name,
                ha=side,
                va="center",
                size=layout.name_size,
                color=palette.ink,
                parse_math=False,
            )


def write_panel_name(axes: Axes, layout: Layout, number: int, palette: Palette) -> None:
    """Write above a panel which head it shows."""
    middle = layout.left + layout.gap / 2
    axes.text(
        middle,
        layout.top + 0.6,
        f"head {number}",
        ha="center",
        va="bottom",
        size=TEXT_SIZE,
        color=palette.strong,
    )


def _draw_dots(
    axes: Axes, layout: Layout, dots: Sequence[Point], palette: Palette, gid: str
) -> None:
    x = dots[0][0]
    axes.plot(
        [x, x],
        [layout.bottom - 0.25, layout.top + 0.25],
        color=palette.rule,
        linewidth=1.0,
        zorder=1,
    )
    axes.plot(
        [x] * len(dots),
        [y for _, y in dots],
        "o",
        color=palette.ink,
        markersize=min(7.0, layout.pitch * 20),
        zorder=5,
        gid=gid,
    )
