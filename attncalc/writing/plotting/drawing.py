"""Which panels a picture of a problem has: the maps of its heads, their heatmaps, or both."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from attncalc.base.rounding import fixed
from attncalc.base.text import harmless
from attncalc.base.types import Matrix
from attncalc.languages.catalogue import catalogue
from attncalc.problem.problem import Problem
from attncalc.problem.stated import conventions, heading
from attncalc.problem.step import Step
from attncalc.solving.solution import Head, Solution
from attncalc.writing.plotting import figure, heatmap, patches
from attncalc.writing.plotting import map as maps
from attncalc.writing.plotting.look import Look
from attncalc.writing.plotting.style import (
    TEXT_SIZE,
    WORDS,
    Palette,
    house_style,
    palette_of,
    words_of,
)

MOST_IN_A_ROW = 4
"""Heads."""
LARGEST_OF_SEVERAL = 6.0
"""Inches of a side of a heatmap of one of several heads."""
MOST_HEADS = 16
"""Heads that one picture shows: four rows of panels, drawn in two seconds."""
MOST_LINES = 10_000
"""Lines of a picture; more of them make one dark field."""
LEAST_SIDE = 0.8
"""Inches that a panel keeps at least."""
HEAD_GAP = 9.0
"""Points below the name of a head."""
FRAMED = (maps.MOST, maps.SECOND)
"""The ranks of patches that have a frame."""
LEGEND_WIDTH = 1.8
"""Inches of an entry of a legend."""
FULL_FROM = 0.5
"""A largest weight from which the colors reach to 1; a smaller one ends the scale itself."""


def draw(problem: Problem, heads: Sequence[Head], look: Look) -> figure.HouseFigure:
    """Draw a picture of these heads; its `notes` list omitted parts."""
    count, heads = len(heads), heads[:MOST_HEADS]
    with house_style(texts_of(problem)):
        of_class = _is_of_class(problem, heads[0], look)
        chosen = _chosen(problem, heads, look) if look.has_map and not of_class else []
        map_panels = _images(problem, heads, look) if of_class else None
        parts = [map_panels or _maps(problem, heads, chosen, look)] if look.has_map else []
        parts += [_heatmaps(problem, heads, look)] if look.has_heatmap else []
        mosaic = reduce(figure.beside if len(heads) == 1 else figure.below, parts)
        drawn = figure.figure_of(mosaic, _caption(problem), palette_of(look), look.size)
    drawn.notes = (*_left_out(count), *_notes(problem, chosen), *drawn.notes)
    return drawn


def _left_out(heads: int) -> tuple[str, ...]:
    """Return the message if one picture cannot show all heads."""
    if heads <= MOST_HEADS:
        return ()
    return (
        f"the picture shows heads 1 to {MOST_HEADS} of {heads:,}: attncalc plot --head N draws "
        "any of them, and --head mean their mean",
    )


def draw_gradient(solution: Solution, step: Step, look: Look) -> figure.HouseFigure:
    """Draw a gradient as a heatmap, with white at 0; its `notes` list omitted parts."""
    matrix = solution.precisely_tabled(step.name)
    count = len(matrix) if matrix.ndim == 3 else 1
    heads = range(min(count, MOST_HEADS))
    most = heatmap.MOST_VALUES // len(heads)
    every = [heatmap.gradient_cells(solution, step, head, look.values, most) for head in heads]
    furthest = max(float(np.abs(cells.values).max()) for cells in every) or 1.0
    numbers = [head + 1 if matrix.ndim == 3 else 0 for head in heads]
    with house_style(texts_of(solution.problem)):
        ends, language = (-furthest, furthest), solution.problem.language
        mosaic = _colored(every, numbers, ends, step.name, look, language)
        drawn = figure.figure_of(mosaic, _caption(solution.problem), palette_of(look), look.size)
    drawn.notes = (*_left_out(count), *drawn.notes)
    return drawn


def draw_blank(problem: Problem, look: Look) -> figure.HouseFigure:
    """Draw the dots and the names of the map, and no line: a worksheet to draw the map on."""
    attention = problem.attentions[0]
    say = words_of(problem.language)
    columns, palette = maps.columns_of(attention, say), palette_of(look)

    def panel(number: int, axes: Axes, room: figure.Room) -> None:
        maps.draw_columns(axes, columns, room=room, palette=palette)
        _named(axes, number, palette, say)

    with house_style(texts_of(problem)):
        most = min(attention.n_heads, MOST_HEADS)
        numbers = range(1, most + 1) if most > 1 else [0]
        tracks = _tracks(maps.natural_room(columns), maps.least_width(columns))
        map_panels = _in_rows("map", [partial(panel, number) for number in numbers], tracks)
        drawn = figure.figure_of(map_panels, _caption(problem), palette, look.size)
    drawn.notes = (*_left_out(attention.n_heads), *drawn.notes)
    return drawn


def draw_on(axes: Axes, problem: Problem, head: Head, look: Look) -> tuple[str, ...]:
    """Draw the map of a head, or its heatmap, on an axes; return notes about it."""
    palette, scale = _palette(problem, look), scale_of([head])
    with house_style(texts_of(problem)):
        if look.has_heatmap:
            (found,) = _cells(problem, [head], look)
            cells = _in_language(found, problem.language)
            return figure.notes_of(heatmap.draw_heatmap(axes, cells, scale, palette=palette))
        if _is_of_class(problem, head, look):
            below_it: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.08)}
            maps.draw_legend(axes, FRAMED, palette, linewidth=patches.FRAME, **below_it)
            attended = patches.attended_by_class(problem, head, values=look.values)
            scale = _ends([attended.weights])
            return figure.notes_of(
                patches.draw_attended(axes, problem, attended, scale, palette=palette)
            )
        chosen = _chosen(problem, [head], look)
        maps.draw_legend(
            axes, maps.ranks_of(chosen), palette, loc="upper center", bbox_to_anchor=(0.5, 0.0)
        )
        reach = _reach(scale, look)
        left_out = maps.draw_map(
            axes, _columns(problem, head), chosen[0], palette=palette, reach=reach
        )
        return (*_notes(problem, chosen), *figure.notes_of(left_out))


def texts_of(problem: Problem) -> tuple[str, ...]:
    """Return all texts from outside that a picture shows."""
    names = (name for each in problem.attentions for name in (*each.keys, *each.queries))
    say = catalogue(problem.language).say
    words = map(words_of(problem.language), WORDS)
    return tuple(map(harmless, (say(heading(problem)), *words, *names)))


def _palette(problem: Problem, look: Look) -> Palette:
    """Return the colors of a map, with the names of its lines in the language of the problem."""
    palette, say = palette_of(look), words_of(problem.language)
    most, second, others = (replace(each, label=say(each.label)) for each in palette.ranks)
    return replace(palette, ranks=(most, second, others))


def _columns(problem: Problem, head: Head) -> maps.Columns:
    return maps.columns_of(head.attention or problem, words_of(problem.language))


def scale_of(heads: Sequence[Head]) -> heatmap.Scale:
    """Return the smallest and the largest weight that the colors of all these heads show.

    From 0 to 1 for most; weights that were divided by their sum may be negative or beyond 1, and
    where many tokens share the weight, the scale ends at the largest.

    >>> import numpy as np
    >>> weights = np.array([[0.2, 0.8]])
    >>> scale_of([Head(0, weights, weights)])
    (0.0, 1.0)
    >>> scale_of([Head(0, weights / 10, weights / 10)])
    (0.0, 0.08)
    """
    low, high = _ends([head.weights for head in heads])
    return low, 1.0 if FULL_FROM <= high <= 1 else high


def _maps(
    problem: Problem, heads: Sequence[Head], chosen: Sequence[maps.DrawnLines], look: Look
) -> figure.Mosaic:
    """Return the maps of all heads, four in a row, with a legend below."""
    columns, palette = _columns(problem, heads[0]), _palette(problem, look)
    ranks, say = maps.ranks_of(chosen), words_of(problem.language)
    reach = _reach(scale_of(heads), look)

    def panel(head: Head, lines: maps.DrawnLines, axes: Axes, room: figure.Room) -> figure.LeftOut:
        _named(axes, head.number, palette, say)
        return maps.draw_map(axes, columns, lines, room=room, palette=palette, reach=reach)

    tracks = _tracks(maps.natural_room(columns, chosen), maps.least_width(columns))
    panels = [partial(panel, *each) for each in zip(heads, chosen, strict=True)]
    map_panels = _in_rows("map", panels, tracks)
    if not ranks:
        return map_panels
    rows = _legend_rows(len(ranks), len(heads), look)
    return maps.with_legend(map_panels, "legend", ranks, palette, rows)


def _is_of_class(problem: Problem, head: Head, look: Look) -> bool:
    """Return whether the map shows the class token on the image, not lines between all tokens."""
    return look.has_map and not look.every_line and patches.has_class_map(problem)


def _images(problem: Problem, heads: Sequence[Head], look: Look) -> figure.Mosaic:
    """Return the image, and for each head the weights of the class token on its patches."""
    palette, say = _palette(problem, look), words_of(problem.language)
    every = [patches.attended_by_class(problem, head, values=look.values) for head in heads]
    scale = _ends([each.weights for each in every])

    def image(axes: Axes, room: figure.Room) -> figure.LeftOut:
        return patches.draw_image(axes, problem, room=room, palette=palette)

    def panel(index: int, axes: Axes, room: figure.Room) -> figure.LeftOut:
        number = heads[index].number
        title = f"class token, head {number}" if number else "class token"
        axes.set_title(say(title), size=TEXT_SIZE, color=palette.strong)
        style: Any = {"room": room, "palette": palette}
        return patches.draw_attended(axes, problem, every[index], scale, **style)

    tracks = _tracks(patches.natural_room_of_image(problem), LEAST_SIDE)
    panels = [partial(panel, index) for index in range(len(heads))]
    if look.has_heatmap and len(heads) > 1:  # heads are aligned with those of the heatmaps
        cells = figure.below(
            _in_rows("image", [image], tracks), _in_rows("attended", panels, tracks)
        )
    else:
        cells = _in_rows("image", [image, *panels], tracks)
    rows = _legend_rows(2, len(heads), look)
    bar: Any = {"alpha": patches.COVER, "number": catalogue(problem.language).number}
    both = heatmap.with_bar(cells, "shades", scale, say("weight"), palette, **bar)
    return maps.with_legend(both, "frames", FRAMED, palette, rows, linewidth=patches.FRAME)


def _ends(weights: Sequence[Matrix]) -> heatmap.Scale:
    """Return the smallest and the largest weight, at most and at least 0; 0 and 1 if all are 0."""
    low, high = (float(end) for end in (min(map(np.min, weights)), max(map(np.max, weights))))
    return (min(low, 0.0), max(high, 0.0)) if high > 0 or low < 0 else (0.0, 1.0)


def _legend_rows(ranks: int, heads: int, look: Look) -> int:
    """Return in how many rows the legend has room below the maps of a page."""
    if look.size is None:
        return 1
    is_beside = look.has_heatmap and heads == 1
    return 1 if look.size[0] >= LEGEND_WIDTH * ranks * (2 if is_beside else 1) else ranks


def _heatmaps(problem: Problem, heads: Sequence[Head], look: Look) -> figure.Mosaic:
    numbers = [head.number for head in heads]
    cells = _cells(problem, heads, look)
    is_masked = any(each.hidden is not None for each in cells)
    label = f"attention weight{' (hatched: masked)' if is_masked else ''}"
    return _colored(cells, numbers, scale_of(heads), label, look, problem.language)


def _colored(
    every: Sequence[heatmap.Cells],
    numbers: Sequence[int],
    scale: heatmap.Scale,
    label: str,
    look: Look,
    language: str,
) -> figure.Mosaic:
    """Return the heatmaps of all heads, four in a row, with a color bar."""
    palette, say, number = palette_of(look), words_of(language), catalogue(language).number
    every = [_in_language(cells, language) for cells in every]
    rows, columns = every[0].values.shape
    least = maps.natural_pitch(max(rows, columns)) if look.has_map else 0.0  # in line with the dots
    largest = heatmap.LARGEST if len(every) == 1 else LARGEST_OF_SEVERAL
    cell = heatmap.natural_cell(every[0], least, largest)
    is_beside = look.has_map and len(every) == 1  # its rows are level with the tokens of the map
    is_filled = is_beside or (
        look.size is not None and look.size[1] is not None and not look.has_map
    )
    style: Any = {"palette": palette, "proportion": None if is_filled else cell[1] / cell[0]}

    def panel(index: int, axes: Axes, room: figure.Room) -> figure.LeftOut:
        _named(axes, numbers[index], palette, say)
        cells = every[index].untitled(row=index % MOST_IN_A_ROW > 0, column=index >= MOST_IN_A_ROW)
        return heatmap.draw_heatmap(axes, cells, scale, room=room, **style)

    tracks = _tracks((cell[0] * columns, cell[1] * rows), LEAST_SIDE)
    cells = _in_rows("heatmap", [partial(panel, i) for i in range(len(every))], tracks)
    bar: Any = {"colours": every[0].colours, "number": number}
    return heatmap.with_bar(cells, "bar", scale, say(label), palette, **bar)


def _in_rows(
    kind: str, draws: Sequence[figure.Draw], tracks: tuple[figure.Track, figure.Track]
) -> figure.Mosaic:
    """Return panels of the same size, four in a row."""
    names = {f"{kind} {number}": draw for number, draw in enumerate(draws, start=1)}
    columns, rows = min(len(names), MOST_IN_A_ROW), -(-len(names) // MOST_IN_A_ROW)
    places = [*names, *"." * (columns * rows - len(names))]
    table = tuple(tuple(places[i * columns : (i + 1) * columns]) for i in range(rows))
    return figure.Mosaic(table, (tracks[0],) * columns, (tracks[1],) * rows, names)


def _tracks(room: figure.Room, least: float) -> tuple[figure.Track, figure.Track]:
    width, height = room
    return figure.Track(width, min(least, width)), figure.Track(height, min(LEAST_SIDE, height))


def _named(axes: Axes, number: int, palette: Palette, say: Callable[[str], str] = str) -> None:
    """Write above a panel which head it shows, where there are several."""
    if number:
        title = say(f"head {number}")
        axes.set_title(title, pad=HEAD_GAP, size=TEXT_SIZE, color=palette.strong)


def _caption(problem: Problem) -> figure.Caption:
    say = words_of(problem.language)
    footnote = " · ".join(map(say, conventions(problem)))
    return figure.Caption(harmless(say(heading(problem))), footnote, texts_of(problem))


def _reach(scale: heatmap.Scale, look: Look) -> float | None:
    """Return the weight of the strongest line, if all lines are shaded by weight."""
    return max(scale[1], -scale[0]) if look.every_line else None


def _chosen(problem: Problem, heads: Sequence[Head], look: Look) -> list[maps.DrawnLines]:
    most = MOST_LINES // len(heads)
    wishes = {"every_line": look.every_line, "values": look.values}
    found = (maps.lines_of(head, problem.decimals, most_lines=most, **wishes) for head in heads)
    number = catalogue(problem.language).number
    return [replace(lines, texts=tuple(map(number, lines.texts))) for lines in found]


def _cells(problem: Problem, heads: Sequence[Head], look: Look) -> list[heatmap.Cells]:
    most = heatmap.MOST_VALUES // len(heads)
    return [heatmap.cells_of(problem, head, values=look.values, most=most) for head in heads]


def _in_language(cells: heatmap.Cells, language: str) -> heatmap.Cells:
    rows, columns = map(words_of(language), cells.titles)
    texts = tuple(tuple(map(catalogue(language).number, row)) for row in cells.texts)
    return replace(cells, texts=texts, titles=(rows, columns))


def _notes(problem: Problem, chosen: Sequence[maps.DrawnLines]) -> tuple[str, ...]:
    shown = f"it shows the {sum(len(lines.texts) for lines in chosen):,} largest"
    zeros = f"they show as {fixed(0.0, problem.decimals)} (more --decimals draw them)"
    left_out, without = figure.LeftOut(), "weights have no line in the picture"
    left_out[f"{{}} smaller {without}: {shown}"] = sum(lines.left_out for lines in chosen)
    left_out[f"{{}} {without}: {zeros}"] = sum(lines.too_small for lines in chosen)
    return figure.notes_of(left_out)
