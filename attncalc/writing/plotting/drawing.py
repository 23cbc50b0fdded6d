"""Pictures of a problem: the maps of its heads, their heatmaps or both, as a Figure or a file."""

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from matplotlib.axes import Axes

from attncalc.base.errors import InputError, OutputError
from attncalc.base.rounding import fixed
from attncalc.base.text import harmless, of_each, on_a_line
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.languages.catalogue import catalogue
from attncalc.problem.gradients.naming import gradient_from
from attncalc.problem.problem import Problem
from attncalc.problem.stated import conventions, heading
from attncalc.problem.step import Plan, Step
from attncalc.solving.choosing import attention_and_head
from attncalc.solving.influence import influence
from attncalc.solving.solution import Head, Solution
from attncalc.writing.plotting import figure, heatmap, patches
from attncalc.writing.plotting import map as maps
from attncalc.writing.plotting.figure import FORMS, HouseFigure
from attncalc.writing.plotting.look import Look
from attncalc.writing.plotting.style import (
    TEXT_SIZE,
    WORDS,
    Palette,
    house_style,
    palette_of,
    undrawable,
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
    parts, chosen = list[figure.Mosaic](), list[maps.DrawnLines]()
    with house_style(texts_of(problem)):
        if _is_of_class(problem, look):
            parts.append(_images(problem, heads, look))
        elif look.has_map:
            chosen = _chosen(problem, heads, look)
            parts.append(_maps(problem, heads, chosen, look))
        if look.has_heatmap:
            cells, language = _cells(problem, heads, look), problem.language
            is_masked = any(each.hidden is not None for each in cells)
            label = f"attention weight{' (hatched: masked)' if is_masked else ''}"
            numbers = [head.number for head in heads]
            parts.append(_colored(cells, numbers, scale_of(heads), label, look, language))
        mosaic = reduce(figure.beside if len(heads) == 1 else figure.below, parts)
    return _finished(problem, mosaic, look, count, _notes(problem, chosen))


def _finished(
    problem: Problem, mosaic: figure.Mosaic, look: Look, heads: int, notes: Iterable[str] = ()
) -> figure.HouseFigure:
    """Return a mosaic as a figure, with notes on the heads that it leaves out, and others."""
    say = words_of(problem.language)
    footnote, texts = figure.BETWEEN.join(map(say, conventions(problem))), texts_of(problem)
    with house_style(texts):
        caption = figure.Caption(harmless(say(heading(problem))), footnote, texts)
        drawn = figure.figure_of(mosaic, caption, palette_of(look), look.size)
    drawn.notes = (*_left_out(heads), *notes, *drawn.notes)
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
    return _finished(solution.problem, mosaic, look, count)


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
    return _finished(problem, map_panels, look, attention.n_heads)


def draw_on(axes: Axes, problem: Problem, head: Head, look: Look) -> tuple[str, ...]:
    """Draw the map of a head, or its heatmap, on an axes; return notes about it."""
    palette, scale = _palette(problem, look), scale_of([head])
    with house_style(texts_of(problem)):
        if look.has_heatmap:
            (found,) = _cells(problem, [head], look)
            cells = _in_language(found, problem.language)
            return figure.notes_of(heatmap.draw_heatmap(axes, cells, scale, palette=palette))
        if _is_of_class(problem, look):
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


def _is_of_class(problem: Problem, look: Look) -> bool:
    """Return whether the map shows the class token on the image, not lines between all tokens."""
    is_of_class = problem.image is not None and problem.class_token is not None
    return look.has_map and not look.every_line and is_of_class


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
        row, column = every[index].titles  # without those that another panel has
        titles = "" if index % MOST_IN_A_ROW else row, "" if index >= MOST_IN_A_ROW else column
        cells = replace(every[index], titles=titles)
        return heatmap.draw_heatmap(axes, cells, scale, room=room, **style)

    tracks = _tracks((cell[0] * columns, cell[1] * rows), LEAST_SIDE)
    cells = _in_rows("heatmap", [partial(panel, i) for i in range(len(every))], tracks)
    bar: Any = {"colours": every[0].colours, "number": number}
    return heatmap.with_bar(cells, "bar", scale, say(label), palette, **bar)


def _in_rows(
    kind: str, draws: Sequence[figure.Draw], tracks: tuple[figure.Track, figure.Track]
) -> figure.Mosaic:
    """Return panels of the same size, four in a row."""
    named = enumerate(draws, start=1)
    panels = [figure.panel_of(f"{kind} {number}", *tracks, draw) for number, draw in named]
    return figure.in_rows(panels, MOST_IN_A_ROW)


def _tracks(room: figure.Room, least: float) -> tuple[figure.Track, figure.Track]:
    width, height = room
    return figure.Track(width, min(least, width)), figure.Track(height, min(LEAST_SIDE, height))


def _named(axes: Axes, number: int, palette: Palette, say: Callable[[str], str] = str) -> None:
    """Write above a panel which head it shows, where there are several."""
    if number:
        title = say(f"head {number}")
        axes.set_title(title, pad=HEAD_GAP, size=TEXT_SIZE, color=palette.strong)


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


MOST_SPOKEN = 100
"""Number of outputs, and of weights, that a description lists."""

_KINDS = {
    "map": "Connection map",
    "heatmap": "Heatmap of the attention weights",
    "both": "Connection map, and heatmap of the attention weights",
}
_GRADIENT = "Heatmap of a gradient"
_OF_CLASS = "The image in its patches, and on each how much the class token attends to it"
_BLANK = "Connection map without its lines, to be drawn by hand"


@dataclass(frozen=True)
class Picture:
    """The bytes of a picture, and notes about it."""

    content: bytes
    notes: tuple[str, ...] = ()


NO_ATTENTION = "a picture shows attention weights, and this problem has no attention"


def check_ending(path: Path) -> str:
    """Return the form a file's ending asks for: "png", "svg" or "pdf"."""
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMS:
        found = f"{quoted(path.suffix)} is not a picture format" if path.suffix else "no ending"
        raise OutputError(f"{path}: {found}: use .png, .svg or .pdf")
    return form


def needed_for_pictures(problem: Problem, plan: Plan) -> tuple[str, ...] | None:
    """Return which steps of a long problem pictures and their notes need; None is all of them."""
    if not problem.is_long:
        return None
    return tuple(step.name for step in plan if step.role in ("masked", "weights"))


def chosen_heads(solution: Solution, wanted: str | int | None) -> tuple[Head, ...]:
    """Return the requested heads: by number, the "mean" of all, or all of them.

    With several attentions, they are those of the first, or of the named one: "cross.A", or
    "cross.A,2" for its second head. Raises InputError if there is no such head, or its weights were
    not kept.
    """
    if not solution.problem.attentions:
        raise InputError(NO_ATTENTION)
    if solution.weights is None:
        names = ", ".join(f'"{step.name}"' for step in solution.plan if step.role == "weights")
        raise InputError(
            f"a picture needs the weights: solve(problem, keep=({names}, …)) keeps them"
        )
    step, asked = attention_and_head(solution, wanted)
    heads = solution.heads_of(step)
    if not asked:
        return heads
    return (solution.mean_head_of(step),) if asked == "mean" else (heads[int(asked) - 1],)


def _of_several(solution: Solution, heads: Sequence[Head]) -> tuple[str, ...]:
    """Return the note on a picture that shows one attention of several."""
    names, of = [each.name for each in solution.all_weights], solution.problem.attention_of
    if len(names) < 2:
        return ()
    own = next(name for name in names if of(name) is heads[0].attention)
    other = [name for name in names if of(name) is not heads[0].attention][-1]
    return (f"the picture shows {own}: attncalc plot --head {other} draws another attention",)


def render(
    solution: Solution, form: str, heads: Sequence[Head] | None = None, look: Look | None = None
) -> Picture:
    """Draw a solution as a file of the given form; the same input gives the same bytes.

    Raises InputError if there are no weights to show, or the requested size is too small.
    """
    problem, look = solution.problem, look or Look()
    heads = heads or chosen_heads(solution, None)
    figure = draw(problem, heads, look)
    told = _told(problem, heads[:MOST_HEADS], look)
    figure.notes = (*_of_several(solution, heads), *figure.notes)
    kind = _KINDS[look.kind]
    if _is_of_class(problem, look):
        kind = kind.replace("Connection map", _OF_CLASS)
    return _picture(problem, figure, form, kind, told)


def gradient_step(solution: Solution, name: str, look: Look) -> Step:
    """Return the step of a gradient that is to be drawn."""
    if look.kind != "heatmap":
        raise InputError("of draws a gradient as a heatmap: ask for the kind heatmap")
    steps = {step.name.lower(): step for step in solution.plan if gradient_from(step.name)}
    step = steps.get(name.strip().lower())
    if step is None:
        known = ", ".join(each.name for each in steps.values()) or "none without backward"
        raise InputError(f"of takes a gradient, not {quoted(name)}: there are {known}")
    return step


def render_gradient(solution: Solution, name: str, form: str, look: Look) -> Picture:
    """Draw a gradient as a file of the given form, with white at 0."""
    step = gradient_step(solution, name, look)
    drawn = draw_gradient(solution, step, look)
    return _picture(solution.problem, drawn, form, _GRADIENT, [f"{step.name}, {step.title}"])


def render_blank(problem: Problem, form: str) -> Picture:
    """Draw the two columns of a problem without any line: a worksheet to draw the map on.

    Nothing in the file shows the answers; the problem need not be solved.
    """
    attention = problem.attentions[0]
    sides = (of_each([*map(on_a_line, each)]) for each in (attention.keys, attention.queries))
    names = map("{}: {}".format, ("Inputs", "Outputs"), sides)
    return _picture(problem, draw_blank(problem, Look()), form, _BLANK, names)


def plot_on(axes: Axes, solution: Solution, head: str | int | None, look: Look) -> Axes:
    """Draw a solution on the axes of another figure; a warning lists omitted parts."""
    if getattr(axes, "name", None) != "rectilinear":
        raise InputError(f"ax takes a matplotlib Axes, not {quoted(str(axes))}")
    if look.kind == "both":
        raise InputError("ax takes one picture: ask for the kind map or heatmap, not both")
    if look.size is not None:
        raise InputError("size sets the size of a whole figure: omit it with ax")
    heads = chosen_heads(solution, head)
    if len(heads) > 1:
        raise InputError(f"ax takes one head: ask for head 1 to {len(heads)}, or mean")
    for note in draw_on(axes, solution.problem, heads[0], look):
        warnings.warn(note, stacklevel=3)
    return axes


def _picture(
    problem: Problem, figure: HouseFigure, form: str, kind: str, told: Iterable[str]
) -> Picture:
    say = catalogue(problem.language).say
    return picture_of(figure, form, tuple(map(say, (kind, *conventions(problem), *told))))


def picture_of(figure: HouseFigure, form: str, told: Sequence[str] = ()) -> Picture:
    """Return the bytes of any figure, and its notes.

    told: the sentences that describe it for screen readers; by default those of its caption.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it logs messages on font caches
    content = figure.content(form)
    if form == "svg":
        said = told or figure.caption.told
        content = _described(content.decode(), figure.caption.title, said)
    missing = undrawable(figure.caption.letters)
    boxes = [f"no font here can draw {missing}: the picture shows boxes instead"]
    return Picture(content, (*(boxes if missing else ()), *figure.notes))


def _described(svg: str, heading: str, sentences: Sequence[str]) -> bytes:
    """Give the SVG a title and a description that screen readers speak."""
    title = escape(harmless(heading))
    description = escape(harmless(". ".join(sentences) + "."))
    before, _, rest = svg.partition("<svg ")
    tag, _, inside = rest.partition(">")
    return (
        f'{before}<svg role="img" aria-labelledby="map-title map-description" {tag}>\n'
        f' <title id="map-title">{title}</title>\n'
        f' <desc id="map-description">{description}</desc>{inside}'
    ).encode()


def _told(problem: Problem, heads: Sequence[Head], look: Look) -> Iterator[str]:
    """Yield sentences about a picture: the inputs each output attends to, a heatmap's digits."""
    number = catalogue(problem.language).number
    few = look.has_heatmap and sum(head.weights.size for head in heads) <= MOST_SPOKEN
    for head in heads:
        queries = (head.attention or problem).queries
        if head.number:
            yield f"Head {head.number}"
        for connection in head.connections[:MOST_SPOKEN]:
            yield influence(problem, head, connection)
        if len(queries) > MOST_SPOKEN:
            yield f"{len(queries) - MOST_SPOKEN} more outputs"
        for output, row in enumerate(head.rounded if few else ()):
            digits = ", ".join(number(fixed(weight, problem.decimals)) for weight in row)
            yield f"Weights of output {on_a_line(queries[output])}: {digits}"
