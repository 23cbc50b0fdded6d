"""Pictures of all layers: the weights of all heads in one grid, the logit lens, and rollout."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from attncalc.base.errors import InputError
from attncalc.base.text import harmless, on_a_line, shortened
from attncalc.base.types import Matrix
from attncalc.solving.solution import Solution
from attncalc.studies.layers import Comparison, Lens, Rollout, Walk
from attncalc.writing.plotting import figure, heatmap
from attncalc.writing.plotting.look import Look
from attncalc.writing.plotting.style import TEXT_SIZE, WEIGHTS, Palette, palette_of
from attncalc.writing.studies.common import shown
from attncalc.writing.studies.layers import Found

MOST_DOTS = 96
"""Dots of a head across: of more tokens, each dot is the largest weight of those it covers."""
INCHES, LEAST, GAP = 0.9, 0.25, 0.08
"""Inches of a head, at least, and the share of it between two heads."""
LONGEST, DECIMALS = 12, 2
"""Letters of a token, and decimals of numbers in cells."""


def draw(found: Found, look: Look) -> figure.HouseFigure:
    """Draw all layers."""
    palette, walk = palette_of(look), found.walk
    made = _heads(found, palette) if isinstance(found, Walk) else _cells(found, palette)
    texts = (*walk.words, *getattr(found, "names", {}).values())
    caption = figure.caption_of(walk.title, made[1], texts, walk.remarks)
    return figure.figure_of(made[0], caption, palette, look.size)


def _heads(walk: Walk, palette: Palette) -> tuple[figure.Mosaic, str]:
    """Return the weights of each head, a row for each layer, and what they show; on one scale."""
    rows = {number: _dots(solution) for number, solution in walk.run()}
    if not all(rows.values()):
        raise InputError("a picture of all heads needs the weights A of every layer: name A")
    most = max(map(len, rows.values()))
    tracks = (figure.Track(INCHES * most, LEAST * most),
              figure.Track(INCHES * len(rows), LEAST * len(rows)))  # fmt: skip
    panel = figure.panel_of("heads", *tracks, partial(_draw_heads, rows, most, palette))
    mosaic = heatmap.with_bar(panel, "bar", (0.0, 1.0), "attention weight", palette)
    return mosaic, "each square: queries down, keys across; the same colors for all heads"


def _dots(solution: Solution) -> list[Matrix]:
    """Return the weights of each head, with few dots if there are many tokens."""
    step = solution.weights
    if step is None:
        return []
    weights = np.atleast_3d(solution.floats[step.name].T).T  # (heads, n, m)
    stride = -(-max(weights.shape[1:]) // MOST_DOTS)
    rows, columns = (-side % stride for side in weights.shape[1:])
    full = np.pad(weights, ((0, 0), (0, rows), (0, columns)))
    tiles = full.reshape(len(full), full.shape[1] // stride, stride, -1, stride)
    return list(tiles.max(axis=(2, 4)))


def _draw_heads(
    rows: dict[int, list[Matrix]], most: int, palette: Palette, axes: Axes, _: figure.Room
) -> None:
    size = 1 - GAP
    colours, norm = colormaps[WEIGHTS], Normalize(0, 1)
    for i, heads in enumerate(rows.values()):
        for j, head in enumerate(heads):
            sides = (j + GAP / 2, j + GAP / 2 + size, i + GAP / 2 + size, i + GAP / 2)
            axes.imshow(head, colours, norm, extent=sides, interpolation="nearest", aspect="auto")
    axes.set(xlim=(0, most), ylim=(len(rows), 0))
    axes.spines[:].set_visible(False)
    axes.set_xticks(np.arange(most) + 0.5, [str(j + 1) for j in range(most)])
    axes.set_yticks(np.arange(len(rows)) + 0.5, [str(number) for number in rows])
    axes.tick_params(length=0, colors=palette.ink, labeltop=True, labelbottom=False)
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("head", size=TEXT_SIZE, color=palette.strong)
    axes.set_ylabel("layer", size=TEXT_SIZE, color=palette.strong)


def _cells(found: Lens | Rollout | Comparison, palette: Palette) -> tuple[figure.Mosaic, str]:
    """Return the logit lens, or the rollout after the last layer, as cells, and what they show."""
    if isinstance(found, Comparison):
        raise InputError("changes have no picture: write them as tables, html, json, csv or npz")
    if isinstance(found, Lens):
        values = found.shares[:, :, 0]
        texts = [_short([found.names[int(i)] for i in row]) for row in found.best[:, :, 0]]
        rows = tuple(map(str, found.numbers))
        titles, label, words = ("layer", "token"), "probability", found.walk.words or ("input",)
        said = "each cell: the most probable token after this layer"
    else:
        values = [*found.matrices.values()][-1]
        texts = [tuple(shown(x, DECIMALS) for x in row) for row in values.tolist()]
        rows = words = found.queries
        titles, label = ("token after the last layer", "input token"), "rollout"
        said = "attention rollout: mean of the heads and the identity, half each"
    if values.size > heatmap.MOST_VALUES:
        texts = []
    cells = heatmap.Cells(values, tuple(texts), (_short(rows), _short(words)), titles)
    return heatmap.alone("", cells, (0.0, 1.0), label, palette, LEAST), said


def _short(names: Sequence[str]) -> tuple[str, ...]:
    return shortened([harmless(on_a_line(name)) for name in names], LONGEST)
