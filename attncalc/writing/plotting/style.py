"""How pictures look: for gray print, for color-blind readers, and the same on every machine."""

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.font_manager import findfont, findSystemFonts, fontManager, get_font
from numpy.typing import NDArray

from attncalc.languages.catalogue import catalogue
from attncalc.writing.plotting.look import Look

FONT = "DejaVu Sans"
"""The font of matplotlib, so that a picture looks the same everywhere."""

WEIGHTS = "viridis"
"""The colors of a heatmap: perceptually uniform, and rising in gray print, too."""

GRADIENTS = "RdBu_r"
"""The colors of a gradient: blue below 0, white at 0, red above; distinct to all readers."""

TEXT_SIZE, NAME_SIZE, WEIGHT_SIZE = 11.0, 10.0, 8.5
TITLE_SIZE, SMALL_SIZE = 13.0, 7.5
"""Points of texts: headings and tokens of a map, names next to cells, weights; above and below."""

WORDS = (
    *("Inputs", "Outputs", "head 1", "largest weight", "second", "others", "Inputs (keys)"),
    *("Outputs (queries), one in each column", "attention weight (hatched: masked)", "weight"),
    *("image", "class token, head 1", "on itself"),
)
"""The words of maps and heatmaps."""

SOLID: Any = "solid"
DASHED: Any = (0, (5, 3))
DOTTED: Any = (0, (1, 1.6))

BLACK, WHITE = "#000000", "#ffffff"
LINE_CONTRAST = 3.0
"""The least contrast of a line with the paper (WCAG 2.1, success criterion 1.4.11)."""


@dataclass(frozen=True)
class Rank:
    """How the lines of a rank look; dashes make it distinct without color."""

    name: str
    label: str
    color: str
    linestyle: Any


@dataclass(frozen=True)
class Palette:
    """The colors of a picture by use; each has enough contrast with the background.

    paper, strong, ink, rule, small_print: the background, headings, names, the columns' lines, and
        the conventions.
    ranks: lines to the largest weight, to the second, and to all others.
    """

    paper: str
    strong: str
    ink: str
    rule: str
    small_print: str
    ranks: tuple[Rank, Rank, Rank]


def _ranks(most: str, second: str, others: str) -> tuple[Rank, Rank, Rank]:
    return (
        Rank("most", "largest weight", most, SOLID),
        Rank("second", "second", second, DASHED),
        Rank("others", "others", others, DOTTED),
    )


_LIGHT_RANKS = _ranks("#0b3c6f", "#b34700", "#4d4d4d")
_DARK_RANKS = _ranks("#7fbcff", "#ffab5e", "#bdbdbd")
LIGHT = Palette("white", "black", "#1a1a1a", "#8c8c8c", "#555555", _LIGHT_RANKS)
DARK = Palette("#14181d", "#ffffff", "#e6e6e6", "#8c8c8c", "#b0b0b0", _DARK_RANKS)


def palette_of(look: Look) -> Palette:
    """Return the colors of a picture."""
    return DARK if look.dark else LIGHT


def line_looks(palette: Palette) -> list[dict[str, Any]]:
    """Return how the lines of a picture look, one after another: no two are alike."""
    colors = _DARK_LINES if palette is DARK else _LIGHT_LINES
    dashes = (SOLID, DASHED, DOTTED)
    return [
        {"color": color, "linestyle": dashes[(i + j) % 3]}
        for j in range(3)
        for i, color in enumerate(colors)
    ]


_LIGHT_LINES = ("#0b3c6f", "#b34700", "#00695c", "#7a1f6b", "#4d4d4d")
_DARK_LINES = ("#7fbcff", "#ffab5e", "#5fd3bc", "#e59bd8", "#bdbdbd")
"""Colors of lines: each has three times the contrast of the paper that is needed to see it."""

_FONTS_FOR_THE_REST = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans", "Noto Emoji", "WenQuanYi Zen Hei"),
    *("IPAGothic", "Arial Unicode MS", "Hiragino Sans", "PingFang SC", "Yu Gothic"),
    *("Malgun Gothic", "Microsoft YaHei", "Segoe UI Emoji", "Symbola"),
)


@contextmanager
def house_style(texts: Iterable[str]) -> Iterator[None]:
    """Draw in attncalc's style with any settings of the user, with fonts for these texts."""
    settings: Any = {  # Any: matplotlib has a type for the names of settings
        "font.family": fonts_for(texts),
        "svg.hashsalt": "attncalc",
        # with letters as outlines a picture looks the same everywhere; letters that no font here
        # can draw stay text, for the viewer's fonts to draw
        "svg.fonttype": "none" if undrawable(texts) else "path",
        "pdf.fonttype": 42,
    }
    with mpl.rc_context(), warnings.catch_warnings():
        # attncalc reports them in a note
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        yield


def fonts_for(texts: Iterable[str]) -> list[str]:
    """Return the default font, then installed ones that may contain missing letters."""
    if not _missing(texts, [FONT]):
        return [FONT]
    _find_new_fonts()
    installed = {font.name for font in fontManager.ttflist}
    return [FONT, *(name for name in _FONTS_FOR_THE_REST if name in installed)]


@cache
def _find_new_fonts() -> None:
    """Add fonts that were installed after matplotlib listed them."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # on weights it lacks
    known = {font.fname for font in fontManager.ttflist}
    for path in findSystemFonts():
        if path not in known:
            with suppress(OSError, RuntimeError):  # it is no font that matplotlib can read
                fontManager.addfont(path)


def words_of(language: str) -> Callable[[str], str]:
    """Return what translates the words of a picture; they stay English without a font for them."""
    say = catalogue(language).say
    return str if undrawable([*map(say, WORDS)]) else say


def undrawable(texts: Iterable[str]) -> str:
    """Return the characters that no font at hand can draw."""
    return _missing(texts, fonts_for(texts))


def _missing(texts: Iterable[str], families: list[str]) -> str:
    fonts = [get_font(findfont(family)) for family in families]
    characters = sorted({c for text in texts for c in text if not c.isspace()})
    return "".join(c for c in characters if not any(font.get_char_index(ord(c)) for font in fonts))


def luminance(rgb: Any) -> Any:
    """Return the relative luminance of colors, as WCAG 2.1 has it: 0 for black, 1 for white.

    rgb: red, green and blue from 0 to 1 along the last axis.

    >>> luminance((1.0, 1.0, 1.0)).round(6), luminance((0.0, 0.0, 0.0))
    (np.float64(1.0), np.float64(0.0))
    """
    part = np.asarray(rgb, dtype=np.float64)[..., :3]
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def contrast(one: Any, other: Any) -> float:
    """Return the contrast ratio of two colors, from 1 to 21.

    >>> round(contrast("black", "white"), 6)
    21.0
    """
    low, high = sorted((float(luminance(to_rgb(one))), float(luminance(to_rgb(other)))))
    return (high + 0.05) / (low + 0.05)


def dark_enough_for_white(rgb: Any) -> Any:
    """Return on which colors white is more readable than black, with a contrast of 4.5:1."""
    return luminance(rgb) + 0.05 < np.sqrt(0.05 * 1.05)


def shades(color: str, paper: str, strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shades of a color on the background: pale if weak, and always visible.

    Returns red, green and blue, (k, 3).

    strengths: from 0 to 1, (k,).
    """
    full, bare = np.array(to_rgb(color)), np.array(to_rgb(paper))
    hundredths = np.arange(101)[:, np.newaxis] / 100
    tones = bare + hundredths * (full - bare)
    seen = (contrast(tone, paper) >= LINE_CONTRAST for tone in tones)
    palest = next((share for share, is_seen in enumerate(seen) if is_seen), 100) / 100
    mixed = palest + (1 - palest) * np.clip(strengths, 0.0, 1.0)
    return np.asarray(bare + mixed[:, np.newaxis] * (full - bare))
