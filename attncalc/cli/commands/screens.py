"""What tables are drawn on: a terminal, a pipe, or a file."""

import io
import sys

from rich.console import Console

from attncalc.cli.targets import Target
from attncalc.writing.frames import Screen


def screen_of(target: Target, *, full: bool) -> tuple[Console, Screen]:
    """Return what draws tables for a target, and what is known of it."""
    if target.place is not None:
        return Console(file=io.StringIO(), color_system=None), Screen(full=full)
    console = Console(file=sys.stdout)
    width = console.width if console.is_terminal else None
    return console, Screen(width, full, console.encoding)
