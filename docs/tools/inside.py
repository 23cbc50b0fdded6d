"""Runs commands of attncalc in this process, which is faster than starting one for each."""

import io
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

SURROUNDINGS = {"COLUMNS": "80", "_TYPER_FORCE_DISABLE_TERMINAL": "1"}


def run(command: str, folder: Path) -> str:
    """Run `attncalc …` in a folder, and return its data, without the notes.

    Raises
    ------
    RuntimeError
        When it ends neither with 0 nor, as `check` may, with 1.
    """
    from attncalc.cli import run as run_command

    _, *arguments = shlex.split(command)
    out, notes = _stream(), _stream()
    with chdir(folder), _in_place(["attncalc", *arguments], out, notes):
        code = run_command()
    if code > 1:
        raise RuntimeError(f"{command}\nended with {code}:\n{_text(notes)}")
    return _text(out)


@contextmanager
def _in_place(
    arguments: list[str], out: io.TextIOWrapper, notes: io.TextIOWrapper
) -> Iterator[None]:
    before = sys.argv, sys.stdout, sys.stderr, dict(os.environ)
    sys.argv, sys.stdout, sys.stderr = arguments, out, notes
    os.environ.update(SURROUNDINGS)
    try:
        yield
    finally:
        sys.argv, sys.stdout, sys.stderr = before[:3]
        os.environ.clear()
        os.environ.update(before[3])


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
