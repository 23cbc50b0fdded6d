"""Data on standard output, messages and progress on standard error; `| head` ends quietly."""

import errno
import io
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn, TextIO, TypeVar

from attncalc.base.errors import InputError
from attncalc.base.sources import refuse_to_print, remember_stream
from attncalc.base.text import on_a_line, within

if TYPE_CHECKING:
    from attncalc.problem.step import Report

R = TypeVar("R")
PATIENCE = 1.0
"""Seconds before a bar of progress is shown."""
WIDTH = 30


def prepare() -> None:
    """Configure the streams so that no closed stream and no encoding can make a print fail."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _nowhere())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def receive() -> bytes:
    """Return all of standard input. Raises InputError if it is closed, or a folder."""
    from attncalc.reading.files import read_within

    if sys.stdin is None:
        raise InputError("standard input: it is closed")
    with suppress(OSError):  # a replacement without a file
        remember_stream(sys.stdin.fileno())
    try:
        return read_within(sys.stdin.buffer, "standard input")
    except OSError as error:
        raise InputError(f"standard input: cannot be read: {error.strerror}") from None


def emit_bytes(data: bytes) -> None:
    """Write bytes to standard output unchanged."""
    with _printing():
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()


def emit(text: str | Iterable[str]) -> None:
    """Write data, at once or in pieces; end without a message when its reader has ended."""
    encoding = sys.stdout.encoding or "utf-8"
    with _printing():
        for piece in [text] if isinstance(text, str) else text:
            sys.stdout.write(within(encoding, piece))
        sys.stdout.flush()


@contextmanager
def _printing() -> Iterator[None]:
    """Print inside: end quietly when the reader has ended, and with an error when it is full."""
    check_printing()
    try:
        yield
    except OSError as error:
        if nobody_reads(error):
            leave_quietly(0)
        give_up_on(error)


def nobody_reads(error: BaseException | None) -> bool:
    """Return whether a pipe is closed at its other end: Windows calls that an invalid argument."""
    is_windows_own = sys.platform == "win32" and getattr(error, "errno", 0) == errno.EINVAL
    return isinstance(error, BrokenPipeError) or is_windows_own


def check_printing() -> None:
    """Refuse to print to a file that was read."""
    with suppress(OSError):  # a replacement without a file
        refuse_to_print(sys.stdout.fileno())


def note(text: str) -> None:
    """Print a message on standard error."""
    _say(f"note: {text}")


def complain(text: str) -> None:
    """Print an error on standard error."""
    _say("error: " + text)


def give_up_on(error: OSError) -> NoReturn:
    """Print an error of the system, of a file or of standard output, and end."""
    place = error.filename or "cannot write to standard output"
    complain(f"{place}: {error.strerror or error}")
    leave_quietly(2)


def _say(text: str) -> None:
    lines = "\n".join(_wrapped(on_a_line(line)) for line in text.split("\n"))
    encoding = sys.stderr.encoding or "utf-8"
    try:
        sys.stderr.write(within(encoding, lines) + "\n")
        sys.stderr.flush()
    except OSError:  # full or without a reader: the error cannot be printed
        sys.stderr = _nowhere()


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


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
    """Exit without flushing: otherwise Python would report the broken stream again."""
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # a replacement without a file
            os.dup2(silence, stream.fileno())
    raise SystemExit(code)


@contextmanager
def reporting() -> Iterator["Report | None"]:
    """Yield the function to which a long solve reports its blocks; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    start, is_shown = time.monotonic(), False

    def report(done: int, of: int) -> None:
        """Draw how much is done, if it has taken a second and more is left."""
        nonlocal is_shown
        is_shown = is_shown or (time.monotonic() - start >= PATIENCE and done != of)
        if is_shown:
            bar = "#" * (WIDTH * done // of)
            sys.stderr.write(f"\r[{bar:-<{WIDTH}}] {100 * done // of:3d} %")
            sys.stderr.flush()

    try:
        yield report
    finally:
        if is_shown:
            sys.stderr.write("\r" + " " * 40 + "\r")
            sys.stderr.flush()


def counted(results: Iterable[R], of: int) -> Iterator[R]:
    """Yield results that take long, and show how many there are."""
    with reporting() as report:
        for done, each in enumerate(results, start=1):
            yield each
            if report is not None:
                report(done, of)
