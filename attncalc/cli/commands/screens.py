"""Tables of a document for a terminal, a pipe, or a file."""

import io
import sys

from rich.console import Console

from attncalc.cli.targets import Target
from attncalc.writing.document import Document
from attncalc.writing.frames import Screen, on_screen
from attncalc.writing.terminal import write_tables


def tables_of(document: Document, target: Target) -> str:
    """Return the tables of a document as drawn for a target."""
    if target.place is not None:
        console, screen = Console(file=io.StringIO(), color_system=None), Screen()
    else:
        console = Console(file=sys.stdout)
        screen = Screen(console.width if console.is_terminal else None, console.encoding)
    return on_screen(console, write_tables(document, screen), screen)
