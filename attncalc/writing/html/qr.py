"""The code of a problem as a QR code, in SVG or TeX, if segno is installed (attncalc[qr])."""

from importlib.util import find_spec
from itertools import groupby

from attncalc.writing.html.elements import Html, element

MODULE, QUIET = 3, 4
"""Pixels of a module; modules of the margin that readers need."""
TALL = 1.02
"""The height of a rule, in modules: no white hair between rows."""


Bar = tuple[int, int, int]
"""Dark modules in a row: where the first of them is, from the top left, and their number."""


def bars_of(text: str) -> tuple[int, tuple[Bar, ...]]:
    """Return the side of the QR code of a text, and its bars; 0 without text or without segno."""
    if not text or find_spec("segno") is None:
        return 0, ()
    import segno

    rows, bars = segno.make(text, error="h", micro=False).matrix, list[Bar]()
    for y, row in enumerate(rows):
        x = 0
        for is_dark, run in groupby(row):
            width = len([*run])
            if is_dark:
                bars.append((x, y, width))
            x += width
    return len(rows), tuple(bars)


def qr_code(text: str) -> Html | None:
    """Return the QR code of a text in SVG; None without a text, or without segno."""
    modules, bars = bars_of(text)
    if not modules:
        return None
    side = MODULE * (modules + 2 * QUIET)
    rects = [
        element("rect", x=MODULE * (x + QUIET), y=MODULE * (y + QUIET), width=MODULE * width,
                height=MODULE)
        for x, y, width in bars
    ]  # fmt: skip
    ground = element("rect", width=side, height=side, class_="ground", fill_opacity=0)
    label = {"role": "img", "aria_label": text}
    return element("svg", ground, *rects, class_="qr", width=side, height=side, **label)


def in_rules(text: str) -> str:
    """Return the QR code of a text in rules of TeX; "" if there is none.

    It is at the right margin, and the next paragraph is beside it.
    """
    side, bars = bars_of(text)
    rules = "".join(
        rf"\put({x},{side - y - 1}){{\rule{{{width}\unitlength}}{{{TALL}\unitlength}}}}"
        for x, y, width in bars
    )
    code = (
        rf"\setlength{{\unitlength}}{{2pt}}\begin{{picture}}({side},{side}){rules}\end{{picture}}"
    )
    placed = rf"\hfill\smash{{\raisebox{{1.5ex}}{{\raisebox{{-\height}}{{{code}}}}}}}\par"
    return rf"{placed}\setlength{{\hangindent}}{{-60pt}}\hangafter-\maxdimen" if bars else r"\par"
