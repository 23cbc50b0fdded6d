"""Display of results: as tables when printed, as a page in a notebook."""

import io
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attncalc.writing.document import Document

# rich takes as long to load as a problem to solve: it is imported when needed

IN_A_NOTEBOOK = "width:100%;height:{height}em;border:0;resize:vertical;overflow:auto"
SHORTEST, SHORTEST_LIVE, TALLEST, OF_PART, OF_ROW = 12, 36, 44, 5, 1.7
"""Heights of a page in a notebook, in em: the minima, the maximum, the text and a row."""


class Displayed:
    """An object that displays as a document, which is made when needed."""

    def _as_document(self) -> "Document":
        """Return the displayed document."""
        raise NotImplementedError

    def __str__(self) -> str:
        return as_text(self._as_document())

    def __repr__(self) -> str:
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        """Return an embedded page for a notebook, without network access.

        It is the interactive page where there is one. Its scripts cannot read the notebook.
        """
        return as_html(self._as_document(), self._as_page())

    def _as_page(self) -> str | None:
        """Return the interactive page; None if there is none."""
        return None


def as_text(document: "Document") -> str:
    """Return a document as plain text for standard output, with its notes."""
    from rich.console import Console

    from attncalc.base.text import within
    from attncalc.writing.frames import Screen, on_screen
    from attncalc.writing.terminal import write_tables

    stream = sys.stdout
    is_terminal = stream is not None and stream.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else None
    screen = Screen(width, encoding=getattr(stream, "encoding", None) or "utf-8")
    console = Console(file=io.StringIO(), color_system=None, force_jupyter=False)
    text = on_screen(console, write_tables(document, screen), screen)
    said = [*document.notes]
    if cut := document.left_out:
        said.append(f"the middle of {cut} is omitted: solution[name] is the whole array")
    return within(screen.encoding, text + "".join(f"\nnote: {note}" for note in said))


def as_html(document: "Document", page: str | None) -> str:
    """Return a page, or that of a document, for a notebook; the document decides the height."""
    from attncalc.writing.document import Section, Sheet
    from attncalc.writing.html.elements import element, within_attribute
    from attncalc.writing.html.page import write_html

    least, rows = SHORTEST if page is None else SHORTEST_LIVE, 0
    for part in document.parts:
        grids = part.shown if isinstance(part, Section) else ()
        grids = [part.grid] if isinstance(part, Sheet) else grids
        rows += max((len(grid.row_places) for grid in grids), default=0)
    height = f"{min(max(least, OF_PART * len(document.parts) + OF_ROW * rows), TALLEST):.0f}"
    return element(
        "iframe",
        srcdoc=within_attribute(page or write_html(document, compact=True)),
        # what runs in it has an origin of its own: it reaches neither the notebook nor a network
        sandbox="allow-scripts" if page else True,
        title=document.title or "attncalc",
        style=IN_A_NOTEBOOK.format(height=height),
    )
