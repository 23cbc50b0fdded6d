"""A Figure in our own style: the same on paper, on a screen and in a notebook, now and later.

matplotlib reads its settings when a figure is built *and* when it is drawn or saved. A figure that
a person holds is saved long after it was built, so it brings its settings along.
"""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attncalc.plotting.style import Palette, house_style

DOTS_PER_INCH = 200
NOTEBOOK_DOTS_PER_INCH = 100
MARGIN = 0.2
"""Inches of paper around what is drawn."""

_METADATA: dict[str, dict[str, Any]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
FORMS = tuple(_METADATA)


class AttentionFigure(Figure):
    """A matplotlib Figure that is drawn and saved in our style, whatever the settings then are.

    Parameters
    ----------
    texts
        All names and titles in it: their letters decide which fonts are needed.
    palette
        Its colours.
    title
        What a saved file calls it.

    Attributes
    ----------
    notes
        What should be said about it: what was left out, and why.
    """

    def __init__(self, texts: Iterable[str], palette: Palette, title: str) -> None:
        self._texts = tuple(texts)
        self._title = title
        self._is_exact = False
        self.notes: tuple[str, ...] = ()
        super().__init__(facecolor=palette.paper)
        FigureCanvasAgg(self)

    def draw(self, renderer: Any) -> None:
        """Draw in our style."""
        with house_style(self._texts):
            super().draw(renderer)

    def savefig(self, fname: Any, **settings: Any) -> None:
        """Save as `matplotlib.figure.Figure.savefig` does, by default just as attncalc does."""
        form = settings.get("format") or Path(str(fname)).suffix.removeprefix(".")
        ours: dict[str, Any] = {"dpi": DOTS_PER_INCH, "facecolor": self.get_facecolor()}
        if form.lower() in FORMS:
            ours["metadata"] = {"Title": self._title, **_METADATA[form.lower()]}
        if not self._is_exact:
            ours |= {"bbox_inches": "tight", "pad_inches": MARGIN}
        with house_style(self._texts):
            super().savefig(fname, **ours | settings)

    def content(self, form: str, **settings: Any) -> bytes:
        """Return the bytes of a file of the given form."""
        buffer = io.BytesIO()
        self.savefig(buffer, format=form, **settings)
        return buffer.getvalue()

    def tight_size(self) -> tuple[float, float]:
        """Return the width and the height, in inches, of all that is drawn and its margin."""
        box = self.get_tightbbox()
        return float(box.width) + 2 * MARGIN, float(box.height) + 2 * MARGIN

    def fix_size(self, width: float, height: float) -> None:
        """Make the figure exactly this large, with what is drawn in its middle.

        The one axes fills the figure, and one unit of it is one inch.
        """
        (axes,) = self.axes
        box = self.get_tightbbox()
        x = axes.get_xlim()[0] + (box.x0 + box.x1) / 2
        y = axes.get_ylim()[0] + (box.y0 + box.y1) / 2
        self.set_size_inches(width, height)
        axes.set_xlim(x - width / 2, x + width / 2)
        axes.set_ylim(y - height / 2, y + height / 2)
        self._is_exact = True

    def _repr_png_(self) -> bytes:
        """Show the picture in a notebook; without pyplot nothing else would."""
        return self.content("png", dpi=NOTEBOOK_DOTS_PER_INCH)
