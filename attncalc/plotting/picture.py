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

from attncalc.errors import InputError, OutputError
from attncalc.numbers import quoted
from attncalc.plotting.connection_map import draw_map
from attncalc.plotting.style import house_style, undrawable
from attncalc.problem import Problem
from attncalc.safe_text import harmless
from attncalc.solution import Head, Solution
from attncalc.words import conventions, heading, influence

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


def chosen_heads(solution: Solution, wanted: str | None) -> tuple[Head, ...]:
    """Return the heads that are asked for: by number, the "mean" of all, or all of them.

    Raises
    ------
    InputError
        When there is no such head.
    """
    if wanted is None:
        return solution.heads
    if wanted.strip().lower() == "mean":
        return (solution.mean_head,)
    numbers = [str(number) for number in range(1, len(solution.heads) + 1)]
    if wanted.strip() not in numbers:
        raise InputError(f"--head takes 1 to {numbers[-1]}, or mean, not {quoted(wanted)}")
    return (solution.heads[int(wanted) - 1],)


def render(solution: Solution, form: str, heads: tuple[Head, ...] | None = None) -> Picture:
    """Draw the connection map as a file of the given form; the same input gives the same bytes."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # its words on font caches help nobody
    problem, heads = solution.problem, heads or solution.heads
    texts = [harmless(text) for text in (heading(problem), *problem.keys, *problem.queries)]
    with house_style(texts), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # said in our own note
        figure, unplaced = draw_map(problem, heads)
        content = _save(figure, form, harmless(heading(problem)))
    if form == "svg":
        content = _described(content.decode(), problem, heads).encode()
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


def _described(svg: str, problem: Problem, heads: tuple[Head, ...]) -> str:
    """Give the SVG a title and a description that screen readers speak."""
    title = escape(harmless(heading(problem)))
    lines = ["Connection map", *conventions(problem)]
    for head in heads:
        lines += [f"Head {head.number}"] if head.number else []
        lines += [influence(problem, head, connection) for connection in head.connections]
    description = escape(harmless(". ".join(lines) + "."))
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
