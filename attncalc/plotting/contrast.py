"""What can be read on what: relative luminance and contrast as WCAG 2.1 defines them."""

from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

TEXT_CONTRAST = 4.5
"""The least contrast of a text with what it stands on (WCAG 2.1, success criterion 1.4.3)."""
LINE_CONTRAST = 3.0
"""The least contrast of a line with the paper (WCAG 2.1, success criterion 1.4.11)."""
BLACK, WHITE = "#000000", "#ffffff"

Colours = NDArray[np.float64]


def luminance(rgb: Any) -> Any:
    """Return the relative luminance of colours: 0 for black, 1 for white.

    Parameters
    ----------
    rgb
        Red, green and blue from 0 to 1 along the last axis.

    Examples
    --------
    >>> luminance((1.0, 1.0, 1.0)).round(6), luminance((0.0, 0.0, 0.0))
    (np.float64(1.0), np.float64(0.0))
    """
    part = np.asarray(rgb, dtype=np.float64)[..., :3]
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, from 1 to 21.

    Examples
    --------
    >>> round(contrast("black", "white"), 6)
    21.0
    """
    low, high = sorted((float(luminance(to_rgb(one))), float(luminance(to_rgb(other)))))
    return (high + 0.05) / (low + 0.05)


def dark_enough_for_white(rgb: Any) -> Any:
    """Say on which colours white reads better than black; the better one has at least 4.5:1.

    Black and white are equally far from a luminance of √(0.05 · 1.05) − 0.05 ≈ 0.179.
    """
    return luminance(rgb) + 0.05 < np.sqrt(0.05 * 1.05)


def shades(color: str, paper: str, strengths: Colours) -> Colours:
    """Return shades of a colour on the paper: pale where weak, and never too pale to be seen.

    Parameters
    ----------
    color
        The full colour, for a strength of 1.
    paper
        What it is drawn on.
    strengths
        From 0 to 1, (k,).

    Returns
    -------
    NDArray
        Red, green and blue, (k, 3).
    """
    full, bare = np.array(to_rgb(color)), np.array(to_rgb(paper))
    share = _palest_share(color, paper)
    mixed = share + (1 - share) * np.clip(strengths, 0.0, 1.0)
    return np.asarray(bare + mixed[:, np.newaxis] * (full - bare))


def _palest_share(color: str, paper: str) -> float:
    """Return the least share of a colour, in hundredths, that can be seen on the paper."""
    full, bare = np.array(to_rgb(color)), np.array(to_rgb(paper))
    for hundredths in range(100):
        mixed = bare + hundredths / 100 * (full - bare)
        if contrast(tuple(mixed), paper) >= LINE_CONTRAST:  # type: ignore[arg-type]
            return hundredths / 100
    return 1.0
