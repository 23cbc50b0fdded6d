"""Standard input, output and error: data on one, words on the other, and `| head` ends quietly."""

import os
import shutil
import sys
import textwrap
from typing import NoReturn

from attncalc.safe_text import on_a_line, within


def emit(text: str) -> None:
    """Write data to standard output, all of it, or end quietly when nobody reads on."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(within(encoding, text))
        sys.stdout.flush()
    except BrokenPipeError:
        _leave_quietly()


def note(text: str) -> None:
    """Say something beside the data, on standard error."""
    _say(f"note: {text}")


def complain(text: str) -> None:
    """Say what is wrong, on standard error."""
    _say("error: " + text)


def _say(text: str) -> None:
    lines = "\n".join(_wrapped(on_a_line(line)) for line in text.split("\n"))
    encoding = sys.stderr.encoding or "utf-8"
    try:
        sys.stderr.write(within(encoding, lines) + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        _leave_quietly()


def _wrapped(line: str) -> str:
    """Break a line between words where a terminal would break it inside one."""
    if not sys.stderr.isatty():
        return line
    width = shutil.get_terminal_size().columns
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _leave_quietly() -> NoReturn:
    """End with nothing more to flush: Python would else report the broken pipe once more."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, sys.stdout.fileno())
    os.dup2(silence, sys.stderr.fileno())
    raise SystemExit(0)
