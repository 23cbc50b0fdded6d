"""What shows itself: as tables where it is printed, in colours where a notebook shows it."""

import io
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attncalc.writing.document import Document
    from attncalc.writing.frames import Screen

# rich takes as long to load as a problem to solve: it is imported where something is shown

ANY_WIDTH = 1_000_000
IN_A_NOTEBOOK = (
    '<pre class="tex2jax_ignore mathjax_ignore" style="line-height:1.25;overflow-x:auto">'
    "{code}</pre>"
)
"""MathJax is kept away: a token called $x$ stays what it is."""


class Displayed:
    """Anything that is a document when it is looked at; none is made before that."""

    def _as_document(self) -> "Document":
        """Return what is shown."""
        raise NotImplementedError

    def __str__(self) -> str:
        return as_text(self._as_document())

    def __repr__(self) -> str:
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        """Return the same tables in colours, for a notebook."""
        return _as_html(self._as_document())


def as_text(document: "Document") -> str:
    """Return a document as plain text, for the screen that a print would go to, and its notes."""
    from rich.console import Console

    from attncalc.text import within
    from attncalc.writing.frames import on_screen
    from attncalc.writing.terminal import write_tables

    screen = _screen_here()
    console = Console(file=io.StringIO(), color_system=None)
    text = on_screen(console, write_tables(document, screen), screen)
    said = [*document.notes, *_on_what_is_left_out(document)]
    notes = "".join(f"\nnote: {note}" for note in said)
    return within(screen.encoding, text + notes)


def _on_what_is_left_out(document: "Document") -> "Iterator[str]":
    if cut := document.left_out:
        yield f"the middle of {cut} is left out: solution[name] is the whole array"


def _screen_here() -> "Screen":
    """Return the screen of standard output: its width, where it is one, and its encoding."""
    from attncalc.writing.frames import Screen

    stream = sys.stdout
    is_terminal = stream is not None and stream.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else None
    return Screen(width, encoding=getattr(stream, "encoding", None) or "utf-8")


def _as_html(document: "Document") -> str:
    from rich.console import Console
    from rich.text import Text

    from attncalc.writing.frames import Screen, on_screen
    from attncalc.writing.terminal import write_tables

    screen = Screen()
    coloured = Console(file=io.StringIO(), force_terminal=True, color_system="standard")
    drawn = on_screen(coloured, write_tables(document, screen), screen)
    recorder = Console(file=io.StringIO(), record=True, width=ANY_WIDTH)
    recorder.print(Text.from_ansi(drawn, no_wrap=True))
    return recorder.export_html(inline_styles=True, code_format=IN_A_NOTEBOOK)
