"""Pictures of generated tokens: a column for each step, a line from each candidate to the next."""

from functools import partial
from math import inf
from typing import Any

from matplotlib.axes import Axes

from attncalc.base.text import harmless, on_a_line
from attncalc.studies.generate import Candidate, Generation
from attncalc.writing.plotting import figure
from attncalc.writing.plotting.look import Look
from attncalc.writing.plotting.placing import widest
from attncalc.writing.plotting.style import NAME_SIZE, SMALL_SIZE, Palette, palette_of
from attncalc.writing.studies.common import shown
from attncalc.writing.studies.generation import said_of

MOST_STEPS, MOST_ROWS, LONGEST = 20, 12, 16
"""Steps and candidates of a step that are drawn, and letters of a token."""
ROW, GAP, LEAST = 0.42, 0.55, 1.0
"""Inches of a row, between two columns, and of the least side."""
STEPS_LEFT_OUT = f"{{}} steps are missing in the picture: it shows the first {MOST_STEPS}"
ROWS_LEFT_OUT = f"{{}} candidates are missing in the picture: it shows {MOST_ROWS} of each step"
Columns = list[dict[int, float]]
"""For each step, the row of each drawn candidate, by its place."""
LINES = "thick line: the result; solid: kept; dotted: dropped"


def draw(made: Generation, look: Look) -> figure.HouseFigure:
    """Draw the tree of the candidates, or of the beams."""
    columns = _columns(made)
    names = [_short(name) for name in made.names.values()]
    wide = widest((*names, "-00.0000"), NAME_SIZE) + GAP
    width, height = wide * (len(columns) + 1), ROW * max(3, *map(len, columns))
    palette = palette_of(look)
    panel = partial(_draw, made, columns, palette, GAP / wide)
    tracks = figure.Track(width, LEAST), figure.Track(height, LEAST)
    measure = "sum of ln p" if made.settings.beams > 1 else "p"
    said = said_of(made)
    footnote = " · ".join((f"below each token: {measure}", LINES, *said))
    texts, language = (*said, made.text), made.source.language
    caption = figure.caption_of(made.source.title, footnote, names, texts, language)
    return figure.figure_of(figure.panel_of("tree", *tracks, panel), caption, palette, look.size)


def _short(name: str) -> str:
    text = harmless(on_a_line(name))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _columns(made: Generation) -> Columns:
    """Return the heights of drawn candidates for each step, in the order of their parents."""
    columns: list[dict[int, float]] = []
    above = {-1: 0.0}
    for step in made.steps[:MOST_STEPS]:
        drawn = sorted(enumerate(step.candidates), key=lambda each: _rank(each[1]))[:MOST_ROWS]
        places = [place for place, each in drawn if each.parent in above]
        places.sort(key=lambda i: (above[step.candidates[i].parent], _rank(step.candidates[i])))
        above = {place: float(row) for row, place in enumerate(places)}
        columns.append(above)
    return columns


def _rank(each: Candidate) -> tuple[bool, bool, float]:
    return not each.is_chosen, not each.is_kept, -each.total if each.total > -inf else inf


def _draw(
    made: Generation, columns: Columns, palette: Palette, gap: float, axes: Axes, room: figure.Room
) -> figure.LeftOut:
    axes.set_axis_off()
    axes.set_xlim(-0.5, len(columns) + 0.5)
    axes.set_ylim(max(3, *map(len, columns)) - 0.5, -0.5)
    start = _short(made.names[made.source.prompt[-1]])
    look: dict[str, Any] = {"color": palette.ink, "size": NAME_SIZE, "parse_math": False}
    axes.text(0, 0, f"… {start}", ha="center", va="center", **look)
    before = {-1: 0.0}
    for number, column in enumerate(columns, start=1):
        for place, y in column.items():
            each = made.steps[number - 1].candidates[place]
            best, _, other = palette.ranks
            look = {"color": best.color, "linewidth": 2.4}
            if not each.is_chosen:
                style = "solid" if each.is_kept else other.linestyle
                look = {"color": other.color, "linewidth": 0.9, "linestyle": style}
            ends = [number - 0.5 - gap / 2, number - 0.5 + gap / 2]
            axes.plot(ends, [before[each.parent], y], **look)
            _write(axes, made, each, (number, y), palette)
        before = column
    rows = sum(max(0, len(each.candidates) - MOST_ROWS) for each in made.steps)
    steps = len(made.steps) - len(columns)
    return figure.LeftOut({STEPS_LEFT_OUT: steps, ROWS_LEFT_OUT: rows})


def _write(
    axes: Axes, made: Generation, each: Candidate, at: tuple[float, float], palette: Palette
) -> None:
    """Write a token, and below it its probability or the sum of ln p."""
    value = each.total if made.settings.beams > 1 else each.probability
    color = palette.strong if each.is_chosen else palette.ink
    weight = "bold" if each.is_chosen else "normal"
    x, y = at
    name = _short(made.names[each.token])
    common: dict[str, Any] = {"ha": "center", "parse_math": False}
    axes.text(x, y - 0.02, name, va="bottom", color=color, size=NAME_SIZE, weight=weight, **common)
    text = shown(value, made.source.decimals)
    axes.text(x, y + 0.06, text, va="top", color=palette.small_print, size=SMALL_SIZE, **common)
