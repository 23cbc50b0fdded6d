"""Standard input, output and error: data on one, words on the other, and `| head` ends quietly."""

import io
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import NoReturn

from attncalc.sources import refuse_to_print, remember_stream
from attncalc.text import on_a_line, within


def prepare() -> None:
    """Make the streams such that nothing a person sets up can make a print fail.

    A stream that is closed writes nowhere; a letter that its encoding lacks is spelled out.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def receive() -> bytes:
    """Return all of standard input."""
    from attncalc.reading.files import read_within

    if sys.stdin is None:
        return b""
    with suppress(OSError):  # a stand-in without a file behind it
        remember_stream(sys.stdin.fileno())
    return read_within(sys.stdin.buffer, "standard input")


def emit_bytes(data: bytes) -> None:
    """Write bytes to standard output as they are."""
    check_printing()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def emit(text: str | Iterable[str]) -> None:
    """Write data to standard output, all of it, or end quietly when nobody reads on.

    Its pieces, where it comes in pieces, are written as they come.
    """
    check_printing()
    encoding = sys.stdout.encoding or "utf-8"
    try:
        for piece in [text] if isinstance(text, str) else text:
            sys.stdout.write(within(encoding, piece))
        sys.stdout.flush()
    except BrokenPipeError:
        leave_quietly(0)


def check_printing() -> None:
    """Refuse to print to a file that was read."""
    with suppress(OSError):  # a stand-in without a file behind it
        refuse_to_print(sys.stdout.fileno())


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
        leave_quietly(0)


def _wrapped(line: str) -> str:
    """Break a line between words where a terminal would break it inside one."""
    if not sys.stderr.isatty():
        return line
    import shutil
    import textwrap

    width = shutil.get_terminal_size().columns
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def leave_quietly(code: int) -> NoReturn:
    """End with nothing more to flush: Python would else report the broken stream once more."""
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(silence, stream.fileno())
    raise SystemExit(code)
