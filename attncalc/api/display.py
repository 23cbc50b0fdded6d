"""What shows itself: as tables where it is printed, in colours where a notebook shows it."""

import io
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from attncalc.writing.frames import Screen

# rich takes as long to load as a problem to solve: it is imported where something is shown

ANY_WIDTH = 1_000_000
IN_A_NOTEBOOK = (
    '<pre class="tex2jax_ignore mathjax_ignore" style="line-height:1.25;overflow-x:auto">'
    "{code}</pre>"
)
"""MathJax is kept away: a token called $x$ stays what it is."""


class Displayed:
    """Anything that can be drawn as tables; none of them is drawn before it is looked at."""

    def _in_tables(self, screen: "Screen") -> "Iterator[Text]":
        """Yield what is shown, line by line and table by table."""
        raise NotImplementedError

    def __str__(self) -> str:
        return as_text(self._in_tables(screen := screen_here()), screen)

    def __repr__(self) -> str:
        return str(self).rstrip("\n")

    def _repr_html_(self) -> str:
        """Return the same tables in colours, for a notebook."""
        from attncalc.writing.frames import Screen

        return _as_html(self._in_tables(screen := Screen()), screen)


def screen_here() -> "Screen":
    """Return the screen that a print would go to: its width, where it is one, and its encoding."""
    from attncalc.writing.frames import Screen

    stream = sys.stdout
    is_terminal = stream is not None and stream.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else None
    return Screen(width, encoding=getattr(stream, "encoding", None) or "utf-8")


def as_text(texts: "Iterator[Text]", screen: "Screen") -> str:
    """Return tables as plain text."""
    from rich.console import Console

    from attncalc.text import within
    from attncalc.writing.frames import on_screen

    console = Console(file=io.StringIO(), color_system=None)
    return within(screen.encoding, on_screen(console, texts, screen))


def _as_html(texts: "Iterator[Text]", screen: "Screen") -> str:
    from rich.console import Console
    from rich.text import Text

    from attncalc.writing.frames import on_screen

    coloured = Console(file=io.StringIO(), force_terminal=True, color_system="standard")
    recorder = Console(file=io.StringIO(), record=True, width=ANY_WIDTH)
    recorder.print(Text.from_ansi(on_screen(coloured, texts, screen), no_wrap=True))
    return recorder.export_html(inline_styles=True, code_format=IN_A_NOTEBOOK)
