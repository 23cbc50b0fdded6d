"""How pictures look: for grey print, for colour-blind readers, and the same on every machine."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.font_manager import findfont, fontManager, get_font

FONT = "DejaVu Sans"
"""It comes with matplotlib, so a picture looks the same everywhere."""

WEIGHTS = "viridis"
"""The colours of a heatmap: perceptually uniform, and rising in grey print, too."""

SOLID: Any = "solid"
DASHED: Any = (0, (5, 3))
DOTTED: Any = (0, (1, 1.6))


@dataclass(frozen=True)
class Rank:
    """How the lines of a rank look; the dash tells it without colour."""

    name: str
    label: str
    color: str
    linestyle: Any


@dataclass(frozen=True)
class Palette:
    """The colours of a picture, by what they are for; each stands out from the paper.

    Parameters
    ----------
    paper, strong, ink, rule, small_print
        The background, headings, names, the columns' lines, and the conventions.
    ranks
        Lines to the largest weight, to the second, and to all others.
    """

    paper: str
    strong: str
    ink: str
    rule: str
    small_print: str
    ranks: tuple[Rank, Rank, Rank]


LIGHT = Palette(
    paper="white",
    strong="black",
    ink="#1a1a1a",
    rule="#8c8c8c",
    small_print="#555555",
    ranks=(
        Rank("most", "largest weight", "#0b3c6f", SOLID),
        Rank("second", "second", "#b34700", DASHED),
        Rank("others", "others", "#4d4d4d", DOTTED),
    ),
)
DARK = Palette(
    paper="#14181d",
    strong="#ffffff",
    ink="#e6e6e6",
    rule="#8c8c8c",
    small_print="#b0b0b0",
    ranks=(
        Rank("most", "largest weight", "#7fbcff", SOLID),
        Rank("second", "second", "#ffab5e", DASHED),
        Rank("others", "others", "#bdbdbd", DOTTED),
    ),
)

_FONTS_FOR_THE_REST = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans",
    "Noto Emoji",
    "WenQuanYi Zen Hei",
    "IPAGothic",
    "Arial Unicode MS",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Malgun Gothic",
    "Microsoft YaHei",
    "Segoe UI Emoji",
    "Symbola",
)


@contextmanager
def house_style(texts: Iterable[str]) -> Iterator[None]:
    """Draw in our style whatever the user's own settings are, with fonts for these texts."""
    settings: Any = {  # Any: the names of all settings are a type of their own to matplotlib
        "font.family": fonts_for(texts),
        "svg.hashsalt": "attncalc",
        # with letters as outlines a picture looks the same everywhere; letters that no font here
        # can draw stay text, for the viewer's fonts to draw
        "svg.fonttype": "none" if undrawable(texts) else "path",
        "pdf.fonttype": 42,
    }
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # our own note says so
        mpl.rcdefaults()
        mpl.rcParams.update(settings)
        yield


def fonts_for(texts: Iterable[str]) -> list[str]:
    """Return our font, and after it the installed ones that may hold what it lacks."""
    if not _missing(texts, [FONT]):
        return [FONT]
    installed = {font.name for font in fontManager.ttflist}
    return [FONT, *(name for name in _FONTS_FOR_THE_REST if name in installed)]


def undrawable(texts: Iterable[str]) -> str:
    """Return the characters that no font at hand can draw."""
    return _missing(texts, fonts_for(texts))


def _missing(texts: Iterable[str], families: list[str]) -> str:
    fonts = [get_font(findfont(family)) for family in families]
    characters = sorted({c for text in texts for c in text if not c.isspace()})
    return "".join(c for c in characters if not any(font.get_char_index(ord(c)) for font in fonts))
