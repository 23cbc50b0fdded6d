"""The code of a problem as a QR code, drawn in SVG, if segno is installed (attncalc[qr])."""

from importlib.util import find_spec
from itertools import groupby

from attncalc.writing.html.elements import Html, element

MODULE, QUIET = 3, 4
"""Pixels of a module; modules of the margin that readers need."""


def qr_code(text: str) -> Html | None:
    """Return the QR code of a text; None without a text, or without segno."""
    if not text or find_spec("segno") is None:
        return None
    import segno

    rows = segno.make(text, error="h", micro=False).matrix
    side = MODULE * (len(rows) + 2 * QUIET)
    bars = []
    for y, row in enumerate(rows, QUIET):
        x = QUIET
        for is_dark, run in groupby(row):
            width = len([*run])
            if is_dark:
                place = {"x": x * MODULE, "y": y * MODULE, "width": width * MODULE}
                bars.append(element("rect", **place, height=MODULE))
            x += width
    ground = element("rect", width=side, height=side, class_="ground", fill_opacity=0)
    label = {"role": "img", "aria_label": text}
    return element("svg", ground, *bars, class_="qr", width=side, height=side, **label)
