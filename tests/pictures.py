"""What tests of pictures share: figures that are drawn once, and what a reader sees in them."""

from collections.abc import Sequence
from functools import cache
from itertools import chain, combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.text import Text

from attncalc import Solution, cross_attention, read_problem, self_attention, solve
from attncalc.problem.samples import sample
from attncalc.writing.plotting.drawing import draw
from attncalc.writing.plotting.figure import HouseFigure
from attncalc.writing.plotting.look import Look

STYLES = {"most": "solid", "second": "dashed", "others": "dotted"}
HOSTILE = [
    *("$x^2$", "$\\frac{", "$\\bad{$", "\\", "[red]", "<b>&amp;", "]]>", "-->"),
    *("a\x1b[31m\x00b", "line\nbreak", "שלום", "\u202eevil"),
]


@cache
def solved(name: str) -> Solution:
    return solve(read_problem(sample(name).path))


@cache
def random_problem(tokens: int, **conventions: Any) -> Solution:
    random = np.random.default_rng(7)
    weights = (random.normal(size=(4, 3)) for _ in range(3))
    labels = [f"token {i % 9}" for i in range(tokens)]
    return self_attention(random.normal(size=(tokens, 4)), *weights, labels=labels, **conventions)


def identity(scores: list[list[float]], **conventions: Any) -> Solution:
    """Return cross-attention whose scores are these: X1 = I, W_K = I and X2 = scores."""
    eye = np.eye(len(scores))
    values = [[1]] * len(scores)
    return cross_attention(eye, np.array(scores).T, eye, eye, values, scale="none", **conventions)


@cache
def drawn(solution: Solution, **look: Any) -> HouseFigure:
    """Return the figure of a solution, laid out; each is drawn once, so leave it as it is."""
    figure = draw(solution.problem, solution.heads, Look(**look))
    figure.draw_without_rendering()
    return figure


def panels(figure: Figure, label: str) -> list[Axes]:
    """Return the axes of a "map", a "heatmap", a "legend" or a "bar", in their order."""
    return [axes for axes in figure.axes if str(axes.get_label()).split()[:1] == [label]]


def the(figure: Figure, label: str) -> Axes:
    (axes,) = panels(figure, label)
    return axes


def texts(figure: Figure, gid: str | None = None) -> list[Text]:
    """Return all texts that show, or those of a kind: "weight", "value", "title"."""
    found = chain(figure.texts, *map(_texts_on, figure.axes))
    above, under = figure._suptitle, figure._supxlabel  # type: ignore[attr-defined]
    every = [*found, *(each for each in (above, under) if each and each not in figure.texts)]
    shown = [text for text in every if text.get_visible() and text.get_text().strip()]
    return [text for text in shown if gid is None or text.get_gid() == gid]


def _texts_on(axes: Any) -> list[Text]:
    found = [*axes.texts, axes.title]
    if legend := axes.get_legend():
        found += legend.get_texts()
    if axes.axison:
        found += [axes.xaxis.label, axes.yaxis.label, *tick_texts(axes, "x"), *tick_texts(axes)]
        found += chain.from_iterable(tick_texts(each) for each in axes.child_axes)
    return found


def tick_texts(axes: Any, side: str = "y") -> list[Text]:
    """Return the labels along an axis that show."""
    axis = axes.xaxis if side == "x" else axes.yaxis
    low, high = sorted(axis.get_view_interval())
    ticks = (tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high)
    both = chain.from_iterable((tick.label1, tick.label2) for tick in ticks)
    return [label for label in both if label.get_visible() and label.get_text()]


def names(axes: Any, column: str) -> list[str]:
    """Return the names beside the "inputs" or the "outputs" of a map."""
    side = axes if column == "inputs" else axes.child_axes[0]
    return [label.get_text() for label in tick_texts(side)]


def written(figure: Figure, gid: str) -> list[str]:
    return [text.get_text() for text in texts(figure, gid)]


def dots(axes: Axes, column: str) -> list[tuple[float, float]]:
    """Return the positions of the dots of the "inputs" or "outputs" of a map."""
    (found,) = (line for line in axes.lines if line.get_gid() == column)
    return list(zip(*found.get_data(), strict=True))


def lines(axes: Axes) -> dict[str, LineCollection]:
    """Return the lines of a map by their rank."""
    found = (each for each in axes.collections if isinstance(each, LineCollection))
    return {str(rank.get_gid()): rank for rank in found}


def ends(axes: Axes, rank: LineCollection) -> list[tuple[int, int]]:
    """Return which output and which input each line of a rank joins."""
    inputs, outputs = dots(axes, "inputs"), dots(axes, "outputs")
    pairs = (tuple(map(tuple, segment)) for segment in rank.get_segments())
    return [(outputs.index(start), inputs.index(end)) for start, end in pairs]


def connections(figure: Figure) -> set[tuple[int, int, str]]:
    """Return what the lines of the one map say: output, input, "solid" or "dashed"."""
    axes, found = the(figure, "map"), set()
    for name, rank in lines(axes).items():
        (_, dashes), *_ = rank.get_linestyles()
        assert (STYLES[name] == "solid") == (dashes is None)
        found |= {(*pair, STYLES[name]) for pair in ends(axes, rank)}
    return found


def meshes(figure: Figure) -> list[QuadMesh]:
    """Return the cells of each heatmap."""
    every = chain.from_iterable(axes.collections for axes in panels(figure, "heatmap"))
    return [each for each in every if isinstance(each, QuadMesh)]


def grid(figure: Figure) -> list[list[str]]:
    """Return the digits in the cells of the one heatmap, line by line, by their positions."""
    found = [text for text in the(figure, "heatmap").texts if text.get_gid() == "value"]
    found.sort(key=lambda text: (text.get_position()[1], text.get_position()[0]))
    columns = len({text.get_position()[0] for text in found})
    digits = [text.get_text() for text in found]
    return [digits[i : i + columns] for i in range(0, len(digits), columns)]


def overlapping(some: Sequence[Text]) -> list[tuple[str, str]]:
    """Return which texts overlap."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in some]
    return [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)]
