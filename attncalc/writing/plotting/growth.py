"""A picture of counts that grow: lines on logarithmic axes, of numbers and of bytes."""

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from math import log10

import numpy as np
from matplotlib.axes import Axes

from attncalc.base.text import harmless
from attncalc.studies.counting import Growth
from attncalc.writing.plotting import figure
from attncalc.writing.plotting.curves import (
    HEIGHT,
    LABEL_GAP,
    LEAST,
    WIDTH_OF_SEVERAL,
    Axis,
    name_ends,
    tens,
)
from attncalc.writing.plotting.look import Look
from attncalc.writing.plotting.picture import Picture, picture_of
from attncalc.writing.plotting.placing import widest
from attncalc.writing.plotting.style import NAME_SIZE, Palette, line_looks, palette_of


def render(growth: Growth, form: str, look: Look) -> Picture:
    """Draw how counts grow, as a file of the given form."""
    palette = palette_of(look)
    curves = {name: values for name, values in growth.curves().items() if all(values)}
    groups = [
        {name: values for name, values in curves.items() if name.endswith("bytes") == is_of_bytes}
        for is_of_bytes in (False, True)
    ]
    panels = [_panel(growth, group, palette) for group in groups if group]
    title = f"Counts at {len(growth.values)} values of {growth.size}"
    caption = figure.caption_of(title, "", ())
    drawn = figure.figure_of(reduce(figure.beside, panels), caption, palette, look.size)
    told = [f"{name}: {values[0]:,} to {values[-1]:,}" for name, values in curves.items()]
    return picture_of(drawn, form, told)


def _panel(growth: Growth, group: Mapping[str, Sequence[int]], palette: Palette) -> figure.Mosaic:
    margin = widest(group, NAME_SIZE) + LABEL_GAP
    tracks = figure.Track(WIDTH_OF_SEVERAL + margin, LEAST + margin), figure.Track(HEIGHT, LEAST)
    draw = partial(_lines, growth=growth, group=group, margin=margin, palette=palette)
    return figure.panel_of(next(iter(group)), *tracks, draw)


def _lines(
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
