"""Pictures of the parts of numbers: a bar for each part, a panel for each number."""

from collections.abc import Sequence
from functools import partial, reduce

import numpy as np
from matplotlib.axes import Axes

from attncalc.base.text import harmless, on_a_line, shortened
from attncalc.solving.why import Why
from attncalc.writing.plotting import figure
from attncalc.writing.plotting.look import Look
from attncalc.writing.plotting.placing import widest
from attncalc.writing.plotting.style import NAME_SIZE, SMALL_SIZE, TEXT_SIZE, Palette, palette_of
from attncalc.writing.reports.why import MORE, digits, largest

ROW, WIDTH, LEAST, MOST_PANELS, LONGEST = 0.24, 3.6, 1.0, 12, 60
"""Inches of a bar, and of a panel; the most panels, and letters of a name."""
LEFT_OUT = f"{{}} numbers are missing in the picture: it shows the first {MOST_PANELS}"


def draw_whys(whys: Sequence[Why], title: str, decimals: int, look: Look) -> figure.HouseFigure:
    """Draw a bar for each part, to the right above 0 and to the left below."""
    palette = palette_of(look)
    panels = [_panel(i, each, decimals, palette) for i, each in enumerate(whys[:MOST_PANELS])]
    told = [f"{each.entry} = {digits(each.value, decimals)}" for each in whys]
    caption = figure.caption_of(title, whys[0].how, told, told)
    drawn = figure.figure_of(reduce(figure.below, panels), caption, palette, look.size)
    left_out = figure.LeftOut({LEFT_OUT: max(0, len(whys) - MOST_PANELS)})
    drawn.notes = (*figure.notes_of(left_out), *drawn.notes)
    return drawn


def _panel(number: int, of: Why, decimals: int, palette: Palette) -> figure.Mosaic:
    parts = largest(of.parts, full=False)
    names = shortened([harmless(on_a_line(part.text)) for part in parts], LONGEST)
    margin = widest(names, NAME_SIZE)
    tracks = (figure.Track(WIDTH + margin, LEAST + margin),
              figure.Track(ROW * (len(parts) + 1), 0.5))  # fmt: skip
    heading = harmless(f"{of.entry} = {digits(of.value, decimals)}")
    values = [float(part.value) for part in parts]
    texts = [digits(part.value, decimals + MORE).replace("-", "−") for part in parts]
    draw = partial(_bars, names, values, texts, heading, palette)
    return figure.panel_of(f"why {number}", *tracks, draw)


def _bars(
    names: Sequence[str],
    values: Sequence[float],
    texts: Sequence[str],
    heading: str,
    palette: Palette,
    axes: Axes,
    room: figure.Room,
) -> None:
    shown = np.array([value if np.isfinite(value) else 0.0 for value in values])
    most, _, other = palette.ranks
    axes.barh(
        np.arange(len(shown)), shown, color=[most.color if x >= 0 else other.color for x in shown]
    )
    furthest = float(np.abs(shown).max(initial=0.0)) or 1.0
    for row, (value, text) in enumerate(zip(shown, texts, strict=True)):
        side = "left" if value >= 0 else "right"
        at = value + (0.02 if value >= 0 else -0.02) * furthest
        axes.text(at, row, text, ha=side, va="center", size=SMALL_SIZE, color=palette.ink)
    figure.furnish(axes, palette)
    axes.set_xlim(min(0.0, shown.min()) - 0.35 * furthest, max(0.0, shown.max()) + 0.35 * furthest)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_yticks(np.arange(len(shown)), names, parse_math=False)
    axes.axvline(0, color=palette.rule, linewidth=0.8)
    axes.set_title(heading, size=TEXT_SIZE, color=palette.strong, parse_math=False)
