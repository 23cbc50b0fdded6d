"""From a Solution to the bytes of a picture: PNG, SVG or PDF."""

import io
import logging
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from matplotlib.figure import Figure

from attncalc.errors import OutputError
from attncalc.numbers import quoted
from attncalc.plotting.connection_map import draw_map
from attncalc.plotting.style import house_style, undrawable
from attncalc.safe_text import harmless
from attncalc.solution import Solution
from attncalc.words import heading, influence

DOTS_PER_INCH = 200

_METADATA: dict[str, dict[str, Any]] = {
    "png": {},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
FORMS = tuple(_METADATA)


@dataclass(frozen=True)
class Picture:
    """The bytes of a picture, and what should be said about it."""

    content: bytes
    notes: tuple[str, ...] = ()


def check_ending(path: Path) -> str:
    """Return the form a file's ending asks for: "png", "svg" or "pdf".

    Raises
    ------
    OutputError
        For any other ending.
    """
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMS:
        found = f"{quoted(path.suffix)} is no kind of picture" if path.suffix else "no ending"
        raise OutputError(f"{path}: {found}: end the name in .png, .svg or .pdf")
    return form


def render(solution: Solution, form: str) -> Picture:
    """Draw the connection map as a file of the given form; the same input gives the same bytes."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its words on font caches help nobody
    problem = solution.problem
    texts = [harmless(text) for text in (heading(problem), *problem.keys, *problem.queries)]
    with house_style(texts), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # said in our own note
        figure, unplaced = draw_map(solution)
        content = _save(figure, form, harmless(heading(problem)))
    if form == "svg":
        content = _described(content.decode(), solution).encode()
    return Picture(content, tuple(_notes(undrawable(texts), unplaced)))


def _save(figure: Figure, form: str, title: str) -> bytes:
    buffer = io.BytesIO()
    metadata = {"Title": title, **_METADATA[form]}
    figure.savefig(
        buffer,
        format=form,
        dpi=DOTS_PER_INCH,
        bbox_inches="tight",
        pad_inches=0.2,
        facecolor="white",
        metadata=metadata,
    )
    return buffer.getvalue()


def _described(svg: str, solution: Solution) -> str:
    """Give the SVG a title and a description that screen readers speak."""
    title = escape(harmless(heading(solution.problem)))
    lines = [influence(solution, connection) for connection in solution.connections]
    description = escape(harmless("Connection map. " + ". ".join(lines) + "."))
    return re.sub(
        r"<svg ([^>]*)>",
        lambda tag: (
            f'<svg role="img" aria-labelledby="map-title map-description" {tag[1]}>\n'
            f' <title id="map-title">{title}</title>\n'
            f' <desc id="map-description">{description}</desc>'
        ),
        svg,
        count=1,
    )


def _notes(missing: str, unplaced: int) -> list[str]:
    found = []
    if missing:
        found.append(f"no font here can draw {missing}: boxes stand for them in the picture")
    if unplaced:
        found.append(
            f"{unplaced} weights are not written in the picture: there is no room for them"
        )
    return found
