"""An image in its patches, with the weights of the class token, the two largest framed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, to_rgb
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from attncalc.base.rounding import fixed
from attncalc.languages.catalogue import catalogue
from attncalc.problem.image import cut_of, patch_of
from attncalc.problem.problem import Problem
from attncalc.solving.solution import Head
from attncalc.writing.plotting.figure import NEAR, LeftOut, Room, room_of
from attncalc.writing.plotting.heatmap import Scale, Texts, write_in_cells
from attncalc.writing.plotting.placing import (
    POINTS,
    SMALLEST_TEXT,
    name_step,
    row_text_size,
    widest,
)
from attncalc.writing.plotting.style import (
    BLACK,
    LIGHT,
    NAME_SIZE,
    WEIGHT_SIZE,
    WEIGHTS,
    Palette,
    dark_enough_for_white,
    words_of,
)

CLASS = 0
"""The place of the class token."""
SMALLEST_CELL, LARGEST_SIDE = 0.5, 5.0
"""The default smallest side of a patch, and largest side of an image, in inches."""
LEAST_SIDE = 2.1
"""Inches that a small image grows to."""
MOST_PIXELS = 400
"""Numbers that are written in an image; more of them could not be read."""
PALEST = 0.62
"""How light the darkest pixel is under the weights, for contrast."""
COVER = 0.62
"""How opaque the color of a weight is, which lets the image through."""
FRAME = 2.6
"""Points of the line around a patch."""
FRAME_SHARE = 0.08
"""The largest share of a patch's side for this line."""
INSET = 0.05
"""How far inside its patch that line is, relative to its side."""
RGB = 3
"""Channels of an image that is drawn in colors."""
NOT_WRITTEN = "{} weights are not written in the picture: the patches are too small"
SHOWN_AS_ZERO = "{} weights are not written on the image: they show as {}"
MOST_ZEROS = 64
"""Patches up to which weights that show as zero are written as well."""
IN_GREY = "the picture shows the mean of the channels of the image, of which there are {}"


@dataclass(frozen=True)
class PatchWeights:
    """The weights of the class token on each patch.

    weights: the weight of each patch, by its place in the image, (down, across).
    ranks: 0 for a patch with the largest weight, 1 for a second, -1 for any other, (down, across).
    itself: the text of the class token's weight on itself, and its rank.
    unwritten: the number of weights that round to zero and are not written, to keep the image
        visible.
    """

    weights: NDArray[np.float64]
    texts: tuple[tuple[str, ...], ...]
    ranks: NDArray[np.intp]
    itself: tuple[str, int]
    unwritten: int = 0


def attended_by_class(problem: Problem, head: Head, *, values: bool) -> PatchWeights:
    """Return the weights of the class token in a head."""
    cut, row = cut_of(problem), head.weights[CLASS].astype(np.float64)
    connection, rounded = head.connection(CLASS), np.asarray(head.rounded[CLASS])
    ranks = np.full(len(row), -1, dtype=np.intp)
    for rank, places in enumerate((connection.most, connection.second)):
        ranks[list(places)] = rank
    words = catalogue(problem.language)
    written = [words.number(fixed(value, problem.decimals)) for value in rounded]
    itself = words_of(problem.language)("on itself")
    is_hidden = (rounded[CLASS + 1 :] == 0) & (values and cut.patches > MOST_ZEROS)
    texts = np.where(is_hidden, "", written[CLASS + 1 :]).reshape(cut.down, cut.across)
    return PatchWeights(
        row[CLASS + 1 :].reshape(cut.down, cut.across),
        tuple(map(tuple, texts.tolist())) if values else (),
        ranks[CLASS + 1 :].reshape(cut.down, cut.across),
        (f"{itself}: {written[CLASS]}" if values else itself, int(ranks[CLASS])),
        int(is_hidden.sum()),
    )


def natural_room_of_image(problem: Problem) -> Room:
    """Return the inches of an image in which the weights of its patches can be read."""
    cut, (p, q) = cut_of(problem), patch_of(problem)
    width = widest(["0." + "0" * problem.decimals], WEIGHT_SIZE) + 0.16
    a_pixel = max(SMALLEST_CELL / min(p, q), width / q)
    H, W = cut.down * p, cut.across * q
    a_pixel = max(a_pixel, LEAST_SIDE / max(H, W))
    a_pixel = min(a_pixel, LARGEST_SIDE / max(H, W))
    return W * a_pixel, H * a_pixel


def draw_image(
    axes: Axes, problem: Problem, *, room: Room | None = None, palette: Palette = LIGHT
) -> LeftOut:
    """Draw the image, the lines between its patches, and its numbers where they are few."""
    image = _channels(problem)
    is_rgb = len(image) == RGB
    pixels = np.moveaxis(_from_0_to_1(image), 0, -1) if is_rgb else _in_grey(image)
    _draw_pixels(axes, pixels, problem, room, palette)
    axes.set_title(words_of(problem.language)("image"), size=NAME_SIZE, color=palette.strong)
    if len(image) == 1:
        _write_pixels(axes, problem, image[0], room or room_of(axes))
        return LeftOut()
    return LeftOut() if is_rgb else LeftOut({IN_GREY.format(len(image)): 1})


def draw_attended(
    axes: Axes,
    problem: Problem,
    attended: PatchWeights,
    scale: Scale,
    *,
    room: Room | None = None,
    palette: Palette = LIGHT,
) -> LeftOut:
    """Draw a pale image with the weight of the class token on each patch."""
    grey = _in_grey(_channels(problem))
    _draw_pixels(axes, PALEST + (1 - PALEST) * grey, problem, room, palette)
    edges = _edges(problem)
    look: dict[str, Any] = {"cmap": WEIGHTS, "norm": Normalize(*scale), "alpha": COVER, "zorder": 2}
    axes.pcolormesh(*edges, attended.weights, edgecolors="none", gid="attended", **look)
    cut, (p, q), inches = cut_of(problem), patch_of(problem), room or room_of(axes)
    a_pixel = min(inches[0] / (cut.across * q), inches[1] / (cut.down * p))
    patch = a_pixel * q, a_pixel * p
    _frame(axes, problem, attended, patch, palette)
    _say_of_itself(axes, attended, palette)
    size = _size_of_texts(attended.texts, patch, 0.1, 0.55)
    if size:
        _write_weights(axes, problem, attended, size)
    written = sum(1 for row in attended.texts for text in row if text)
    zeros = SHOWN_AS_ZERO.format("{}", fixed(0.0, problem.decimals))
    return LeftOut({NOT_WRITTEN: 0 if size else written, zeros: attended.unwritten})


def _channels(problem: Problem) -> NDArray[np.float64]:
    """Return the image as a list of channels, (channels, H, W)."""
    image = problem.given["image"].astype(np.float64)
    return image[np.newaxis] if image.ndim == 2 else image


def _in_grey(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the channels, from 0 for the smallest number to 1 for the largest."""
    return _from_0_to_1(image.mean(axis=0))


def _from_0_to_1(values: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = float(values.min()), float(values.max())
    if high == low:
        return np.full_like(values, 0.5)
    # halved first: the difference of the largest floats is none
    return (values / 2 - low / 2) / (high / 2 - low / 2)


def _edges(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where patches begin and end, across and down, in pixels."""
    cut, (p, q) = cut_of(problem), patch_of(problem)
    return np.arange(cut.across + 1.0) * q - 0.5, np.arange(cut.down + 1.0) * p - 0.5


def _draw_pixels(
    axes: Axes, pixels: NDArray[np.float64], problem: Problem, room: Room | None, palette: Palette
) -> None:
    """Draw pixels, the larger their number the lighter, and the lines between patches."""
    H, W = pixels.shape[:2]
    width, height = room or room_of(axes)
    is_square = np.isclose(height / H, width / W, rtol=NEAR)
    look: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    axes.imshow(pixels, aspect="auto" if is_square else "equal", zorder=1, **look)
    across, down = _edges(problem)
    lines: dict[str, Any] = {"color": palette.rule, "linewidth": 0.8, "zorder": 2.5}
    axes.vlines(across, -0.5, H - 0.5, gid="cuts", **lines)
    axes.hlines(down, -0.5, W - 0.5, **lines)
    axes.set(xlim=(-0.5, W - 0.5), ylim=(H - 0.5, -0.5))
    axes.spines[:].set_visible(False)
    _number_patches(axes, (width / (len(across) - 1), height / (len(down) - 1)), problem, palette)


def _number_patches(axes: Axes, cell: Room, problem: Problem, palette: Palette) -> None:
    """Write numbers next to the rows and columns of patches, as in their names."""
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    look: dict[str, Any] = {"color": palette.ink}
    edges = _edges(problem)
    for axis, places, side in zip((axes.xaxis, axes.yaxis), edges, cell, strict=True):
        step, middle = name_step(side), (places[1:] + places[:-1]) / 2
        names = [str(number) for number in range(1, len(middle) + 1)]
        size = row_text_size(NAME_SIZE, side * step)
        axis.set_ticks(middle[::step], names[::step], size=size, **look)


def _write_pixels(axes: Axes, problem: Problem, image: NDArray[np.float64], room: Room) -> None:
    """Write the numbers of a small image, as typed, if they are legible."""
    if image.size > MOST_PIXELS:
        return
    texts = [[f"{value:.4g}" for value in row] for row in image]
    pixel = room[0] / image.shape[1], room[1] / image.shape[0]
    if size := _size_of_texts(texts, pixel, 0.04, 0.6):
        white = dark_enough_for_white(np.stack([_from_0_to_1(image)] * 3, axis=-1))
        write_in_cells(axes, texts, white, size, "pixel")


def _frame(
    axes: Axes, problem: Problem, attended: PatchWeights, patch: Room, palette: Palette
) -> None:
    """Draw frames around the patches that are attended to most, and second."""
    p, q = patch_of(problem)
    inset = INSET * min(p, q)
    width = min(FRAME, FRAME_SHARE * min(patch) * POINTS)
    for (i, j), number in np.ndenumerate(attended.ranks):
        if number < 0:
            continue
        rank = palette.ranks[number]
        corner = (j * q - 0.5 + inset, i * p - 0.5 + inset)
        look: dict[str, Any] = {"width": q - 2 * inset, "height": p - 2 * inset, "fill": False}
        ground = Rectangle(corner, edgecolor=palette.paper, linewidth=1.7 * width, zorder=4, **look)
        look |= {"linestyle": rank.linestyle, "linewidth": width, "gid": rank.name}
        axes.add_patch(ground)
        axes.add_patch(Rectangle(corner, edgecolor=rank.color, zorder=4.1, **look))


def _say_of_itself(axes: Axes, attended: PatchWeights, palette: Palette) -> None:
    """Write the weight of the class token on itself below the image, in a frame of its rank."""
    text, number = attended.itself
    box: dict[str, Any] = {"facecolor": "none", "edgecolor": "none", "pad": 3.0}
    if number >= 0:
        rank = palette.ranks[number]
        box |= {"edgecolor": rank.color, "linestyle": rank.linestyle, "linewidth": FRAME / 1.6}
    axes.set_xlabel(text, size=WEIGHT_SIZE, color=palette.ink, labelpad=7, bbox=box)


def _size_of_texts(texts: Texts, cell: Room, around: float, share: float) -> float:
    """Return the points of texts in cells, or 0 where none can be read.

    around, share: the inches around the widest, and the largest share of a cell's height.
    """
    if not texts:
        return 0.0
    wide = widest({text for row in texts for text in row}, WEIGHT_SIZE) + around
    size = min(WEIGHT_SIZE, WEIGHT_SIZE * cell[0] / wide, cell[1] * POINTS * share)
    return size if size >= SMALLEST_TEXT else 0.0


def _write_weights(axes: Axes, problem: Problem, attended: PatchWeights, size: float) -> None:
    """Write each weight in the middle of its patch, on a pale ground that the image cannot blur."""
    p, q = patch_of(problem)
    look: dict[str, Any] = {"ha": "center", "va": "center", "size": size, "zorder": 5}
    behind = {"facecolor": to_rgb("white"), "alpha": 0.8, "edgecolor": "none", "pad": 1.0}
    for i, row in enumerate(attended.texts):
        for j, written in enumerate(row):
            x, y = (j + 0.5) * q - 0.5, (i + 0.5) * p - 0.5
            if written:
                text = axes.text(x, y, written, color=BLACK, bbox=behind, **look)
                text.set(gid="weight", in_layout=False)
