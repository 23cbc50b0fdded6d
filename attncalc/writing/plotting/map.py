"""The connection map: inputs left, outputs right, a line from each output to its inputs.

A solid line leads to the input with the largest weight, a dashed one to the second. One unit down
an axes is one row; across, inputs are at 0 and outputs at 1.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from attncalc.base.rounding import fixed
from attncalc.problem.attention.attention import Attention
from attncalc.solving.solution import Head
from attncalc.writing.plotting import placing
from attncalc.writing.plotting.figure import LeftOut, Mosaic, Room, room_of, with_row
from attncalc.writing.plotting.style import LIGHT, TEXT_SIZE, WEIGHT_SIZE, Palette, shades

MOST_TEXTS = 3
"""Tied lines that each carry their weight; more of them share one text near the output."""
MOST_PLACED = 400
"""The largest number of weights written in a map; placing more takes seconds."""
MOST_PLACED_OTHERS = 40
"""The same for lines that are neither first nor second: more of them hide the lines."""
MOST, SECOND, OTHER = range(3)
"""The ranks of lines."""

Indices = NDArray[np.intp]
THINNEST, THICKEST = 0.9, 3.4
"""Line widths in points, for weights of 0 and of 1."""
USUAL_PITCH = 0.2
"""Inches between rows below which lines become thinner."""
THINNEST_SHARE = 0.25
"""The smallest share of their usual width for lines between narrow rows."""
TALLEST = 14.4
"""The default largest height of a column in inches: forty rows of usual size."""
WIDENINGS = 5
"""How often the columns are moved apart to find room for all weights."""
LEGEND_ROW = 0.2
"""Inches of an entry of a legend."""
NAME_GAP = 0.15
"""Inches between a dot and its name."""
NOT_WRITTEN = "{} weights are not written in the picture: there is no room for them"


@dataclass(frozen=True, eq=False)
class DrawnLines:
    """The lines of one head, output by output, the largest weight first; and omitted ones.

    outputs, inputs, ranks, weights: where each line starts and ends, its rank and its weight; (k,)
        each.
    left_out: the number of smaller weights without a line, since there would be too many.
    too_small: the number of weights without a line, since they round to zero.
    unwritten: the number of lines without text, since there would be too many.
    """

    outputs: Indices
    inputs: Indices
    ranks: Indices
    weights: NDArray[np.float64]
    texts: tuple[str, ...]
    left_out: int = 0
    too_small: int = 0
    unwritten: int = 0


def lines_of(
    head: Head, decimals: int, *, every_line: bool, values: bool, most_lines: int
) -> DrawnLines:
    """Choose the lines of a head.

    most_lines: the largest number of lines: first and second weights are kept before all others.
    """
    found = _found(head, every_line=every_line)
    count = found.shape[1]
    sizes = np.abs(head.weights[found[0], found[1]].astype(np.float64))
    kept = _largest(sizes, found[2], most_lines)
    outputs, inputs, ranks = found[:, kept]
    left_out = count - len(kept)
    too_small = int(np.count_nonzero(head.weights)) - count if every_line else 0
    texts, unwritten = [""] * len(kept), 0
    if values and left_out:
        unwritten = len(kept)
    elif values:
        texts, unwritten = _thinned(_texts(head, decimals, outputs, inputs, ranks), ranks)
    weights = head.weights[outputs, inputs].astype(np.float64)
    return DrawnLines(outputs, inputs, ranks, weights, tuple(texts), left_out, too_small, unwritten)


def _found(head: Head, *, every_line: bool) -> Indices:
    """Return the output, the input and the rank of all lines, (3, k), by output and rank."""
    groups = []
    for each, row in zip(head.connections, head.rounded, strict=True):
        ranked: list[tuple[Any, int]] = [(each.most, MOST), (each.second, SECOND)]
        if every_line:
            visible = np.asarray(row != 0, dtype=bool)
            visible[[*each.most, *each.second]] = False
            ranked.append((np.flatnonzero(visible), OTHER))
        for inputs, rank in ranked:
            columns = np.asarray(inputs, dtype=np.intp)
            ends = np.full_like(columns, each.output), columns
            groups.append(np.stack([*ends, np.full_like(columns, rank)]))
    if not groups:
        return np.zeros((3, 0), dtype=np.intp)
    found = np.concatenate(groups, axis=1)
    return found[:, np.lexsort((found[2], found[0]))]


def _largest(sizes: NDArray[np.float64], ranks: Indices, most: int) -> Indices:
    """Return which lines are kept: ranked ones first, then by weight, and evenly among ties."""
    if len(sizes) <= most:
        return np.arange(len(sizes))
    keys = sizes + np.where(ranks == OTHER, 0.0, 1.0 + sizes.max())
    cut = np.partition(keys, -most)[-most]
    sure, tied = np.flatnonzero(keys > cut), np.flatnonzero(keys == cut)
    evenly = np.linspace(0, len(tied) - 1, most - len(sure)).astype(np.intp)
    return np.sort(np.concatenate([sure, tied[evenly]]))


def _texts(
    head: Head, decimals: int, outputs: Indices, inputs: Indices, ranks: Indices
) -> list[str]:
    """Return the text on each line; of many tied ones, only on the middle one."""
    places = list(zip(outputs.tolist(), ranks.tolist(), strict=True))
    sharing, turn = Counter(places), Counter[tuple[int, int]]()
    texts = []
    for spot, column in zip(places, inputs.tolist(), strict=True):
        weight = fixed(head.rounded[spot[0], column], decimals)
        count = sharing[spot]
        if spot[1] == OTHER or count <= MOST_TEXTS:
            texts.append(weight)
        else:
            texts.append(f"{count} × {weight}" if turn[spot] == count // 2 else "")
        turn[spot] += 1
    return texts


def _thinned(texts: list[str], ranks: Indices) -> tuple[list[str], int]:
    """Remove the texts of which there are too many; return the others, and how many are removed."""
    wanted = sum(map(bool, texts))
    if (ranks == OTHER).sum() > MOST_PLACED_OTHERS:
        texts = ["" if rank == OTHER else text for text, rank in zip(texts, ranks, strict=True)]
    if sum(map(bool, texts)) > MOST_PLACED:
        texts = [""] * len(texts)
    return texts, wanted - sum(map(bool, texts))


@dataclass(frozen=True)
class Columns:
    """The two columns of a map: the names of tokens, from the top, and their headings."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    headings: tuple[str, str] = ("Inputs", "Outputs")

    @property
    def rows(self) -> int:
        """How many rows the longer column has."""
        return max(len(self.inputs), len(self.outputs))

    def heights(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the rows of the dots of a column; the shorter is centered next to the longer."""
        return np.arange(float(len(names))) + (self.rows - len(names)) / 2


def columns_of(attention: Attention, say: Callable[[str], str] = str) -> Columns:
    """Return the columns of an attention's map, with headings in a language."""
    is_alone = attention.kind == "self" or attention.start
    inputs = say("Inputs") if is_alone else f"{say('Inputs')} ({attention.key_source})"
    names = placing.drawn_names(attention.keys), placing.drawn_names(attention.queries)
    return Columns(*names, (inputs, say("Outputs")))


def natural_pitch(rows: int) -> float:
    """Return the default inches between two dots."""
    return min(0.75, max(0.36, 6.0 / rows), TALLEST / rows)


def natural_room(columns: Columns, chosen: Sequence[DrawnLines] = ()) -> Room:
    """Return the inches a map needs for no weight of any head to be written on another."""
    width = min(4.2 + 0.06 * max(0, columns.rows - 8), 7.0)
    height = natural_pitch(columns.rows) * columns.rows
    for lines in chosen:
        for _ in range(WIDENINGS):
            # where none is written, no width helps
            are_small = _weight_size(columns, (width, height)) < placing.SMALLEST_TEXT
            if are_small or None not in _spots(columns, lines, (width, height)).values():
                break
            width *= 1.25
    return width, height


def least_width(columns: Columns) -> float:
    """Return the inches between the columns at which their headings do not overlap."""
    widths = (placing.text_width(each, TEXT_SIZE * 1.15) for each in columns.headings)
    return sum(widths) / 2 + 0.1


def draw_map(
    axes: Axes,
    columns: Columns,
    lines: DrawnLines,
    *,
    room: Room | None = None,
    palette: Palette = LIGHT,
    reach: float | None = None,
) -> LeftOut:
    """Draw the map of one head on any axes of matplotlib.

    Returns the number of weights that are not written, since there is no space.

    room: the inches the axes will have; None for those it has.
    reach: the weight of the strongest color, if lines are shaded by weight.
    """
    draw_columns(axes, columns, room=room, palette=palette)
    room = room or room_of(axes)
    _draw_lines(axes, columns, lines, room, palette, reach)
    return _write_weights(axes, columns, lines, room, palette)


def draw_columns(
    axes: Axes, columns: Columns, *, room: Room | None = None, palette: Palette = LIGHT
) -> None:
    """Draw the dots of both columns, their names and their headings, and no line."""
    pitch = (room or room_of(axes))[1] / columns.rows
    axes.set(xlim=(0, 1), ylim=(columns.rows - 0.5, -0.5))
    axes.spines[["top", "bottom"]].set_visible(False)
    axes.spines[["left", "right"]].set(color=palette.rule, linewidth=1.0)
    axes.tick_params(length=0, labeltop=True, labelbottom=False, pad=NAME_GAP / 2 * placing.POINTS)
    heading: dict[str, Any] = {"size": TEXT_SIZE, "weight": "bold", "color": palette.strong}
    axes.set_xticks([0, 1], columns.headings, **heading)
    other_side = axes.secondary_yaxis("right")
    other_side.spines["right"].set_visible(False)
    for side, x, names, gid in (
        (axes, 0, columns.inputs, "inputs"),
        (other_side, 1, columns.outputs, "outputs"),
    ):
        step, rows = placing.name_step(pitch), columns.heights(names)
        side.tick_params(axis="y", length=0, pad=NAME_GAP * placing.POINTS)
        look: dict[str, Any] = {"color": palette.ink, "parse_math": False}
        size = placing.row_text_size(TEXT_SIZE, pitch * step)
        side.set_yticks(rows[::step], names[::step], size=size, **look)
        dots: dict[str, Any] = {"markersize": min(7.0, pitch * 20), "zorder": 5, "gid": gid}
        axes.plot(np.full(len(names), x), rows, "o", color=palette.ink, clip_on=False, **dots)


def draw_legend(
    axes: Axes,
    numbers: Sequence[int],
    palette: Palette,
    *,
    linewidth: float = 2.0,
    rows: int = 1,
    **where: Any,
) -> None:
    """Write the legend of lines of these ranks on an axes, in one row or several."""
    handles = [
        Line2D([], [], lw=linewidth, label=rank.label, color=rank.color, ls=rank.linestyle)
        for rank in (palette.ranks[number] for number in numbers)
    ]
    columns = len(handles) if rows == 1 else 1
    look: dict[str, Any] = {"frameon": False, "borderpad": 0, "handlelength": 4}
    look |= {"fontsize": TEXT_SIZE - 1, "labelcolor": palette.strong}
    axes.legend(handles=handles, ncols=columns, **look, **where)


def with_legend(
    mosaic: Mosaic, name: str, numbers: Sequence[int], palette: Palette, rows: int, **look: Any
) -> Mosaic:
    """Return a mosaic with the legend of lines of these ranks below it."""

    def draw(axes: Axes, _: Room) -> None:
        axes.set_axis_off()
        draw_legend(axes, numbers, palette, rows=rows, loc="center", **look)

    return with_row(mosaic, name, LEGEND_ROW * rows, draw)


def ranks_of(chosen: Sequence[DrawnLines]) -> list[int]:
    """Return which ranks any line has."""
    return sorted({int(rank) for lines in chosen for rank in np.unique(lines.ranks)})


def _draw_lines(
    axes: Axes,
    columns: Columns,
    lines: DrawnLines,
    room: Room,
    palette: Palette,
    reach: float | None,
) -> None:
    """Draw all lines of a rank at once: thousands of single ones would take seconds."""
    thinner = min(1.0, max(THINNEST_SHARE, room[1] / columns.rows / USUAL_PITCH))
    ends = _ends(columns, lines)
    strengths = np.clip(lines.weights if reach is None else np.abs(lines.weights) / reach, 0, 1)
    for number, rank in enumerate(palette.ranks):
        some = lines.ranks == number
        if not some.any():
            continue
        inks = rank.color if reach is None else shades(rank.color, palette.paper, strengths[some])
        collection = LineCollection(
            ends[some].tolist(),
            linewidths=thinner * (THINNEST + (THICKEST - THINNEST) * strengths[some]),
            colors=inks,
            linestyles=[rank.linestyle],
            zorder=1.5 if number == OTHER else 2,
            gid=rank.name,
        )
        axes.add_collection(collection, autolim=False)


def _write_weights(
    axes: Axes, columns: Columns, lines: DrawnLines, room: Room, palette: Palette
) -> LeftOut:
    look: dict[str, Any] = {"ha": "center", "va": "center", "size": _weight_size(columns, room)}
    behind = {"facecolor": axes.get_facecolor(), "edgecolor": "none", "pad": 0.8}
    unwritten = lines.unwritten
    for index, spot in _spots(columns, lines, room).items():
        if spot is None:
            unwritten += 1
            continue
        x, y = spot[0] / room[0], columns.rows * (1 - spot[1] / room[1]) - 0.5
        ink = palette.ranks[lines.ranks[index]].color
        text = axes.text(x, y, lines.texts[index], color=ink, bbox=behind, zorder=4, **look)
        text.set(gid="weight", in_layout=False)
    return LeftOut({NOT_WRITTEN: unwritten})


def _weight_size(columns: Columns, room: Room) -> float:
    return placing.row_text_size(WEIGHT_SIZE, room[1] / columns.rows)


def _ends(columns: Columns, lines: DrawnLines) -> NDArray[np.float64]:
    """Return both ends of each line, in units of the axes: (k, 2, 2), the output's first."""
    starts = columns.heights(columns.outputs)[lines.outputs]
    stops = columns.heights(columns.inputs)[lines.inputs]
    x = np.ones_like(starts), np.zeros_like(stops)
    return np.stack([np.stack([x[0], starts], axis=1), np.stack([x[1], stops], axis=1)], axis=1)


def _spots(columns: Columns, lines: DrawnLines, room: Room) -> dict[int, placing.Point | None]:
    """Return where each weight is written, in inches, by line; None without space."""
    labelled = list(compress(range(len(lines.texts)), lines.texts))
    size = _weight_size(columns, room)
    if size < placing.SMALLEST_TEXT or not labelled:
        return dict.fromkeys(labelled)
    widths = {text: placing.text_width(text, size) for text in {lines.texts[i] for i in labelled}}
    ends, high = _ends(columns, lines), size * 1.25 / placing.POINTS
    ends[..., 1] = columns.rows - 0.5 - ends[..., 1]
    ends *= room[0], room[1] / columns.rows
    segments = [
        placing.Segment(tuple(start), tuple(stop), widths.get(text, 0.0), high)
        for (start, stop), text in zip(ends.tolist(), lines.texts, strict=True)
    ]
    spots = placing.place([segments[i] for i in labelled], segments)
    return dict(zip(labelled, spots, strict=True))
