"""LaTeX as a PDF, through whichever program is installed that typesets it."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from attncalc.base.errors import OutputError
from attncalc.base.signals import held_back
from attncalc.base.text import on_a_line

_LATEX = ("-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error")
TYPESETTERS = {"pdflatex": _LATEX, "tectonic": ("--untrusted", "--keep-logs"), "lualatex": _LATEX}
"""The programs that typeset, in order of preference, and options that run no other program."""
PATIENCE = 300
"""Seconds until a run is stopped; tectonic first loads its packages."""
GLANCE = 0.2
"""Seconds after which it is asked whether we are to end before it does."""
MOST_SAID = 300
"""Letters of an error that are shown."""
_JOB = "page"


def typesetter() -> str | None:
    """Return the program that typesets LaTeX here; None if none is installed."""
    return next((name for name in TYPESETTERS if shutil.which(name)), None)


def write_pdf(latex: str, beside: Mapping[str, bytes], name: str) -> bytes:
    """Return a LaTeX document as a PDF.

    Raises OutputError if it fails; the message contains the error.
    """
    with held_back() as came, tempfile.TemporaryDirectory(prefix="attncalc-") as made:
        folder = Path(made)
        (folder / f"{_JOB}.tex").write_text(latex, encoding="utf-8")
        for file, content in beside.items():
            (folder / file).write_bytes(content)
        said = _run(name, folder, came)
        pdf = folder / f"{_JOB}.pdf"
        if said is None and pdf.is_file():
            return pdf.read_bytes()
        log, lines = folder / f"{_JOB}.log", list[str]()
        if log.is_file():
            lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
        wrong = [line for line in lines if line.startswith(("! ", "l."))]  # and its place
        stuck = " ".join(wrong[:2]).removeprefix("! ")
        raise _failed(name, stuck or said or "it created no PDF")


def _run(name: str, folder: Path, came: Sequence[int]) -> str | None:
    """Run a program on the page in a folder; return its output if it failed."""
    # the same page gives the same bytes, and a line of the log is never broken
    settings = {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1", "max_print_line": "1000"}
    try:
        with subprocess.Popen(
            [name, *TYPESETTERS[name], f"{_JOB}.tex"],
            cwd=folder,
            env=settings | os.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as running:
            said = _waited(running, came)
    except subprocess.TimeoutExpired:
        raise _failed(name, f"not finished within {PATIENCE} seconds") from None
    except OSError as error:
        raise _failed(name, error.strerror or str(error)) from None
    if running.returncode == 0:
        return None
    lines = said.decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it printed no message")


def _waited(running: "subprocess.Popen[bytes]", came: Sequence[int]) -> bytes:
    """Return the output of a program; stop it after a time limit, or when this process ends."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return running.communicate(timeout=GLANCE)[0]
        except subprocess.TimeoutExpired:
            if came or time.monotonic() > until:
                running.kill()
                raise


def _failed(name: str, why: str) -> OutputError:
    said = on_a_line(why)[:MOST_SAID].rstrip(" .")
    return OutputError(f"{name} failed: {said} (a .tex with --standalone shows the source)")
