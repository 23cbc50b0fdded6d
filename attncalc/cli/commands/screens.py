"""Documents as text: tables for a terminal, a pipe or a file, and the forms of every document."""

import io
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from attncalc.base.errors import OutputError
from attncalc.base.typed import quoted
from attncalc.cli.targets import Output, Target, output
from attncalc.writing.document import Document
from attncalc.writing.forms import form_of
from attncalc.writing.frames import Screen, on_screen
from attncalc.writing.terminal import write_notes, write_tables


def form_by_ending(place: Path | None, ending: str, endings: Sequence[str]) -> str:
    """Return the form that the ending of a file asks for; the error lists all endings."""
    if form := form_of(ending) if ending else "table":
        return form
    raise OutputError(
        f"{place}: {quoted(ending)} is not an output format: end the name in "
        f"{', '.join(endings[:-1])} or {endings[-1]}, or pass --format"
    )


def written(document: Document, form: str, target: Target) -> str:
    """Return a document as a table, or in markdown, LaTeX or HTML."""
    if form == "markdown":
        from attncalc.writing.markdown import write_markdown

        return write_markdown(document)
    if form == "latex":
        from attncalc.writing.latex import write_latex

        return write_latex(document)
    if form == "html":
        from attncalc.writing.html.page import write_html

        return write_html(document)
    return tables_of(document, target)


def table_of(document: Document, target: Target) -> Output:
    """Return the tables of a document with its notes, which a file contains, too."""
    text, notes = tables_of(document, target), tuple(write_notes(document))
    if target.place is not None:
        below = (f"note: {note}\n" for note in notes if note not in document.advice)
        text = "\n".join([text, *below])
    return output(target, text, *notes)


def tables_of(document: Document, target: Target) -> str:
    """Return the tables of a document as drawn for a target."""
    if target.place is not None:
        console, screen = Console(file=io.StringIO(), color_system=None), Screen()
    else:
        console = Console(file=sys.stdout)
        screen = Screen(console.width if console.is_terminal else None, console.encoding)
    return on_screen(console, write_tables(document, screen), screen)
