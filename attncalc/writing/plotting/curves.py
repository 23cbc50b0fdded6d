"""Pictures of a problem, or of counts, for many values: curves, or heatmaps of a grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import ceil, floor, log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from attncalc.base.text import harmless, on_a_line
from attncalc.base.types import Matrix
from attncalc.problem.stated import heading
from attncalc.studies.changes import Change, Infinity, Value, value_text
from attncalc.studies.counting import Growth
from attncalc.studies.vary import Variation, curve
from attncalc.studies.watched import Watched
from attncalc.writing.plotting import figure, heatmap
from attncalc.writing.plotting.drawing import MOST_IN_A_ROW, Picture, picture_of
from attncalc.writing.plotting.look import Look, check_drawn
from attncalc.writing.plotting.placing import POINTS, widest
from attncalc.writing.plotting.style import NAME_SIZE, SMALL_SIZE, Palette, line_looks, palette_of
from attncalc.writing.studies.common import shown
from attncalc.writing.studies.variation import said_of

WIDTH, HEIGHT, LEAST = 6.4, 3.4, 1.5
"""Inches of a panel of lines, and its least side."""
WIDTH_OF_SEVERAL = 4.2
FEW, MOST_ACROSS, MOST_PANELS = 3, 3, 12
"""Panels in one column; in one row, if there are more; in all."""
MOST_LINES = 12
"""Lines of a panel; more could not be distinguished."""
MOST_GRIDS = 12
LEFT_OUT = f"{{}} of the watched values have no line: the picture shows the first {MOST_LINES}"
GRIDS_LEFT_OUT = f"{{}} of the watched values are missing: the picture shows the first {MOST_GRIDS}"
PANELS_LEFT_OUT = "{} of the watched values have no panel: select fewer with --watch"
LIMIT = 0.5
"""Distance of 0 and ∞ from the nearest number on a logarithmic axis, in tens."""
LABEL_GAP = 0.06
"""Inches between the end of a line and its name."""


@dataclass(frozen=True)
class Axis:
    """The positions of values along a picture, and which of them are named."""

    at: Matrix
    ticks: tuple[float, ...] | None
    names: tuple[str, ...]
    is_log: bool

    def place(self, value: float) -> float:
        """Return the position of a number."""
        return log10(value) if self.is_log else value


def draw(variation: Variation, look: Look) -> figure.HouseFigure:
    """Draw the lines of one change, or the heatmaps of two."""
    palette = palette_of(look)
    mosaic_of = _lines if len(variation.changes) == 1 else _grids
    check_drawn(float(np.abs(variation.values[np.isfinite(variation.values)]).max(initial=0.0)))
    said, changes = said_of(variation), [change.about for change in variation.changes]
    names = [each.name for each in variation.watched]
    of = f"{len(variation.points)} values of {' and '.join(map(on_a_line, changes))}"
    told = f"{', '.join(names[:MOST_LINES])} at {of}", *said
    texts = *names, *changes, *variation.problem.keys
    title, language = heading(variation.problem), variation.problem.language
    caption = figure.caption_of(title, figure.BETWEEN.join(said), texts, told, language)
    return figure.figure_of(mosaic_of(variation, palette), caption, palette, look.size)


# one change: lines


def _lines(variation: Variation, palette: Palette) -> figure.Mosaic:
    """Return a panel for the weights of each output, and one for everything else."""
    finer, groups = curve(variation), _groups(variation.watched)
    margin = widest((each.name for each in variation.watched), NAME_SIZE) + LABEL_GAP
    wide = WIDTH if len(groups) == 1 else WIDTH_OF_SEVERAL

    unseen = sum(map(len, groups[MOST_PANELS:]))

    def panel(places: list[int], axes: Axes, room: figure.Room) -> figure.LeftOut:
        left_out = draw_lines(axes, finer, places, room, margin, palette)
        return left_out + figure.LeftOut({PANELS_LEFT_OUT: unseen if places is groups[0] else 0})

    def part(number: int) -> figure.Mosaic:
        tracks = figure.Track(wide + margin, LEAST + margin), figure.Track(HEIGHT, LEAST)
        return figure.panel_of(f"lines {number}", *tracks, partial(panel, groups[number]))

    panels = [part(number) for number in range(min(len(groups), MOST_PANELS))]
    return figure.in_rows(panels, 1 if len(groups) < FEW else MOST_ACROSS)


def _groups(watched: Sequence[Watched]) -> list[list[int]]:
    """Return the groups of a panel each: the weights of an output; everything else."""
    groups: dict[Any, list[int]] = {}
    for i, each in enumerate(watched):
        groups.setdefault(each.place[:-1] if each.is_weight else None, []).append(i)
    return sorted(groups.values(), key=lambda group: not watched[group[0]].is_weight)


def draw_lines(
    axes: Axes,
    variation: Variation,
    places: Sequence[int],
    room: figure.Room,
    margin: float,
    palette: Palette,
) -> figure.LeftOut:
    """Draw a line for each watched value, named at its end; mark changes of the largest weight."""
    (change,) = variation.changes
    axis = axis_of(change, variation)
    drawn = places[:MOST_LINES]
    values = variation.values[:, drawn]
    for column, look in zip(values.T, line_looks(palette), strict=False):
        marker: Any = {} if change.is_smooth else {"marker": "o", "markersize": 4}
        axes.plot(axis.at, column, linewidth=1.6, solid_capstyle="round", **look, **marker)
    low, high = float(values.min()), float(values.max())
    are_weights = all(variation.watched[i].is_weight for i in places) and low >= 0 and high <= 1
    around = 0.02 if are_weights else 0.06 * ((high - low) or abs(high) or 1.0)
    span = float(axis.at[-1] - axis.at[0]) or 1.0
    axes.set_ylim((0.0 if are_weights else low) - around, (1.0 if are_weights else high) + around)
    axes.set_xlim(axis.at[0], axis.at[0] + span * room[0] / (room[0] - margin))
    _label(axes, axis, change, span, palette)
    _mark_changeovers(axes, variation, _found(variation, places), axis, palette)
    name_ends(axes, axis, [variation.watched[i].name for i in drawn], values[-1], room, palette)
    return figure.LeftOut({LEFT_OUT: len(places) - len(drawn)})


def _label(axes: Axes, axis: Axis, change: Change, span: float, palette: Palette) -> None:
    figure.furnish(axes, palette, harmless(change.about))
    axes.spines["bottom"].set_bounds(axis.at[0], axis.at[0] + span)
    ticks = axis.ticks
    if ticks is None:
        end = axis.at[0] + span
        locator = MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10])
        found = [float(tick) for tick in locator.tick_values(axis.at[0], end)]
        inside = [tick for tick in found if axis.at[0] - 1e-9 * span <= tick <= end + 1e-9 * span]
        axes.set_xticks(inside, [f"{tick:.6g}" for tick in inside])
    else:
        axes.set_xticks(ticks, axis.names, parse_math=False)


def axis_of(change: Change, variation: Variation) -> Axis:
    """Return the positions of the values of a change: even, in tens, or one after another."""
    values = [point[0] for point in variation.points]
    if any(isinstance(value, str) for value in values):
        at = np.arange(float(len(values)))
        return Axis(at, tuple(at), tuple(harmless(value_text(each)) for each in values), False)
    numbers = [float(value) for value in values]
    has_limit = any(isinstance(value, Infinity) for value in values)
    if not (has_limit or getattr(change.values, "is_log", False)) or min(numbers) < 0:
        return Axis(np.array(numbers), None, (), False)
    inner = [number for number in numbers if 0 < number < float("inf")]
    low, high = (log10(end) for end in (min(inner), max(inner))) if inner else (0.0, 0.0)
    away = max(LIMIT, 0.08 * (high - low))
    ends = {0.0: low - away, float("inf"): high + away}
    at = np.array([ends[number] if number in ends else log10(number) for number in numbers])
    ticks = tens(low, high)
    named = [(log10(tick), f"{tick:g}") for tick in ticks]
    named += [(ends[end], "∞" if end else "0") for end in ends if end in numbers]
    return Axis(at, tuple(place for place, _ in named), tuple(name for _, name in named), True)


def tens(low: float, high: float) -> list[float]:
    """Return the powers of ten between two, and where there are few their doubles and halves."""
    powers = [10.0**power for power in range(floor(low), ceil(high) + 1)]
    digits = (1, 2, 5) if high - low <= 2.5 else (1,)
    rungs = [power * digit for power in powers for digit in digits]
    return [rung for rung in rungs if low - 1e-9 <= log10(rung) <= high + 1e-9]


def _found(variation: Variation, places: Sequence[int]) -> list[float]:
    """Return where the largest weight moves: in a panel of weights, only that of its output."""
    watched = [variation.watched[i] for i in places if variation.watched[i].is_weight]
    rows = {(each.step, *each.place[:-1]) for each in watched}
    found = set()
    for each in variation.changeovers:
        several = variation.problem.attention_of(each.weights).n_heads > 1
        row = (each.weights, *((each.head,) if several else ()), each.output)
        if not rows or row in rows:
            found.add(round(each.at, 9))
    return sorted(found)


def _mark_changeovers(
    axes: Axes, variation: Variation, found: Sequence[float], axis: Axis, palette: Palette
) -> None:
    """Draw a line where the largest weight moves to another input, with the value above it."""
    decimals, last = variation.problem.decimals, -np.inf
    width = axes.get_xlim()[1] - axes.get_xlim()[0]
    for value in found:
        if axis.is_log and value <= 0:
            continue
        x = axis.place(value)
        axes.axvline(x, color=palette.rule, linewidth=0.9, linestyle=(0, (1, 2)), zorder=0)
        if x - last < 0.07 * width:  # its number would overlap the one before
            continue
        last = x
        text = shown(value, decimals)
        look: dict[str, Any] = {"size": SMALL_SIZE, "color": palette.small_print}
        axes.annotate(
            text, (x, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom", **look
        )


def name_ends(
    axes: Axes, axis: Axis, names: Sequence[str], ends: Matrix, room: figure.Room, palette: Palette
) -> None:
    """Write the name of each line at its end, moved up or down where two would overlap."""
    low, high = axes.get_ylim()
    inch = (high - low) / room[1]
    pitch = NAME_SIZE * 1.15 / POINTS * inch
    order = np.argsort(ends, kind="stable")
    at = apart(ends[order], pitch, low + pitch / 2, high - pitch / 2)
    right = float(axis.at[-1])
    gap = LABEL_GAP * (axes.get_xlim()[1] - axes.get_xlim()[0]) / room[0]
    looks = list(line_looks(palette))
    for y, place in zip(at, order, strict=True):
        look: dict[str, Any] = {"size": NAME_SIZE, "color": looks[place % len(looks)]["color"]}
        name = harmless(names[place])
        axes.text(right + gap, y, name, va="center", parse_math=False, gid="name", **look)


def apart(wanted: Matrix, pitch: float, low: float, high: float) -> Matrix:
    """Return increasing places near the given ones, at least a pitch apart.

    >>> apart(np.array([0.0, 0.0, 5.0]), 1.0, 0.0, 5.0).tolist()
    [0.0, 1.0, 5.0]
    """
    places = np.clip(wanted, low, high)
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + pitch)
    if len(places) and places[-1] > high:
        places[-1] = high
        for i in range(len(places) - 2, -1, -1):
            places[i] = min(places[i], places[i + 1] - pitch)
    return places


# two changes: heatmaps


def _grids(variation: Variation, palette: Palette) -> figure.Mosaic:
    """Return a heatmap for each watched value, those of weights on one scale."""
    count = min(len(variation.watched), MOST_GRIDS)
    panels = [_grid(variation, place, palette) for place in range(count)]
    return figure.in_rows(panels, MOST_IN_A_ROW)


def _grid(variation: Variation, place: int, palette: Palette) -> figure.Mosaic:
    cells, watched = cells_of_grid(variation, place), variation.watched[place]
    values = cells.values
    low, high = (0.0, 1.0) if watched.is_weight else (float(values.min()), float(values.max()))
    scale, label = (low, high + (low == high)), harmless(watched.name)
    unseen = 0 if place else max(0, len(variation.watched) - MOST_GRIDS)
    largest, left_out = heatmap.LARGEST_WITHOUT_VALUES, figure.LeftOut({GRIDS_LEFT_OUT: unseen})
    return heatmap.alone(f" {place}", cells, scale, label, palette, LEAST, largest, left_out)


def cells_of_grid(variation: Variation, place: int) -> heatmap.Cells:
    """Return the watched value at each pair of values, as cells with their digits."""
    shape = variation.shape
    values = variation.values[:, place].reshape(shape)
    down, across = variation.changes
    names = tuple(map(_named, down.values)), tuple(map(_named, across.values))
    texts: tuple[tuple[str, ...], ...] = ()
    if values.size <= heatmap.MOST_VALUES:
        flat = [row[place] for row in variation.digits]
        texts = tuple(tuple(flat[i * shape[1] : (i + 1) * shape[1]]) for i in range(shape[0]))
    titles = harmless(down.about), harmless(across.about)
    return heatmap.Cells(values, texts, names, titles, 0 if texts else values.size)


def _named(value: Value) -> str:
    return "∞" if isinstance(value, Infinity) else harmless(value_text(value))


# counts that grow: lines on logarithmic axes, of numbers and of bytes


def render_growth(growth: Growth, form: str, look: Look) -> Picture:
    """Draw how counts grow, as a file of the given form."""
    palette = palette_of(look)
    curves = {name: values for name, values in growth.curves().items() if all(values)}
    groups = [
        {name: values for name, values in curves.items() if name.endswith("bytes") == is_of_bytes}
        for is_of_bytes in (False, True)
    ]

    def panel(group: Mapping[str, Sequence[int]]) -> figure.Mosaic:
        margin = widest(group, NAME_SIZE) + LABEL_GAP
        wide, high = (figure.Track(WIDTH_OF_SEVERAL + margin, LEAST + margin),
                      figure.Track(HEIGHT, LEAST))  # fmt: skip
        draw = partial(_growth_lines, growth=growth, group=group, margin=margin, palette=palette)
        return figure.panel_of(next(iter(group)), wide, high, draw)

    panels = [panel(group) for group in groups if group]
    title = f"Counts at {len(growth.values)} values of {growth.size}"
    told = [f"{name}: {values[0]:,} to {values[-1]:,}" for name, values in curves.items()]
    caption = figure.caption_of(title, "", (), told)
    drawn = figure.figure_of(reduce(figure.beside, panels), caption, palette, look.size)
    return picture_of(drawn, form)


def _growth_lines(
    axes: Axes, room: figure.Room, growth: Growth, group: Mapping[str, Sequence[int]],
    margin: float, palette: Palette,
) -> None:  # fmt: skip
    # counts may be larger than any integer of numpy
    at, *lines = (np.array([*map(log10, each)]) for each in (growth.values, *group.values()))
    values = np.stack(lines)
    for line, look in zip(values, line_looks(palette), strict=False):
        axes.plot(at, line, linewidth=1.6, marker="o", markersize=3, **look)
    figure.furnish(axes, palette, harmless(growth.size))
    axes.spines["bottom"].set_bounds(at[0], at[-1])
    axes.set_xlim(at[0], at[0] + (at[-1] - at[0]) * room[0] / (room[0] - margin))
    axes.set_ylim(values.min() - 0.2, values.max() + 0.2)
    ticks = tens(float(at[0]), float(at[-1]))
    ticks = ticks[:: len(ticks) // 8 + 1]
    names = tuple(f"{tick:g}" for tick in ticks)
    axes.set_xticks(np.log10(ticks), names, parse_math=False)
    low, high = int(values.min()), int(values.max())
    powers = range(low, high + 1, (high - low) // 8 + 1)
    axes.set_yticks([*powers], [f"1e{power}" for power in powers])
    name_ends(axes, Axis(at, None, (), True), [*group], values[:, -1], room, palette)
