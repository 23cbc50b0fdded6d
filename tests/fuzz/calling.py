"""One call of the command in this process, and all that can be seen of it."""

import hashlib
import io
import os
import resource
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HARD_CPU = 10
"""Seconds of CPU after which a call is broken off."""
MOST_MEMORY = 8 * 2**30
"""Bytes that this process may take at all: what asks for more gets a MemoryError."""
PROCESS = Path("/proc/self")


@dataclass(frozen=True)
class Case:
    """What is asked: the arguments, and the files they may name."""

    arguments: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""


@dataclass(frozen=True)
class Outcome:
    """Its outcome."""

    code: int | None
    out: str
    err: str
    seconds: float
    megabytes: float
    growth: float
    changed: tuple[str, ...] = ()
    appeared: tuple[str, ...] = ()
    raised: str = ""


class TooSlow(BaseException):
    """A call has taken all the time that any may take."""


def bound_this_process() -> None:
    """Keep a bomb from taking the machine with it, and warnings from showing once only."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    warnings.simplefilter("always")
    for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", kind)  # as Python does for those who use a program


def _break_off(*_: object) -> None:
    raise TooSlow


def call(case: Case, folder: Path) -> Outcome:
    """Run the command in a folder that holds the files of a case, and nothing else."""
    fill(folder, case.files)
    before = _contents(folder)
    out, err = io.BytesIO(), io.BytesIO()
    with _streams(case.stdin, out, err, case.arguments), _in(folder):
        made = measured(_run)
    after = _contents(folder)
    return Outcome(
        made.value,
        out.getvalue().decode(errors="backslashreplace"),
        err.getvalue().decode(errors="backslashreplace"),
        made.seconds,
        made.megabytes,
        made.growth,
        tuple(sorted(name for name in before if after.get(name) != before[name])),
        tuple(sorted(set(after) - set(before))),
        made.raised,
    )


@dataclass(frozen=True)
class Measured:
    """The value of a function, or what it raised; its time and memory."""

    value: Any
    raised: str
    seconds: float
    megabytes: float
    growth: float


def measured(function: Callable[[], Any]) -> Measured:
    """Call a function, within the hard limits."""
    before = _reset_peak()
    start = time.process_time()
    value, raised = None, ""
    handled = signal.signal(signal.SIGPROF, _break_off)
    signal.setitimer(signal.ITIMER_PROF, HARD_CPU)
    try:
        value = function()
    except TooSlow:
        raised = f"TooSlow: more than {HARD_CPU} s"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of a package in Rust is no Exception
        raised = f"{type(error).__name__} at {_where(error)}: {str(error).partition(chr(10))[0]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handled)
    peak = _peak()
    return Measured(value, raised, time.process_time() - start, peak, peak - before)


def _run() -> int:
    from attncalc.cli import run

    return run()


def _where(error: BaseException) -> str:
    """Return the innermost place in attncalc that an exception passed."""
    place, trace = "?", error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if "attncalc" in path.parts:
            place = f"{'/'.join(path.parts[-2:])}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def fill(folder: Path, files: dict[str, bytes]) -> None:
    """Make a folder hold these files alone."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for name, data in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@contextmanager
def _in(folder: Path) -> Iterator[None]:
    here = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


@contextmanager
def _streams(
    given: bytes, out: io.BytesIO, err: io.BytesIO, arguments: tuple[str, ...]
) -> Iterator[None]:
    """Put a person's side in the place of this process's own."""
    kept = sys.stdin, sys.stdout, sys.stderr, sys.argv
    made = [io.TextIOWrapper(each, "utf-8", write_through=True) for each in (out, err)]
    sys.stdin, (sys.stdout, sys.stderr) = io.TextIOWrapper(io.BytesIO(given), "utf-8"), made
    sys.argv = ["attncalc", *arguments]
    try:
        yield
    finally:
        for stream in made:
            stream.flush()
            stream.detach()
        sys.stdin, sys.stdout, sys.stderr, sys.argv = kept


def _reset_peak() -> float:
    """Forget how much memory was taken at most, where the system can; return what is taken."""
    with suppress(OSError):
        (PROCESS / "clear_refs").write_text("5")
    return _peak()


def _peak() -> float:
    """Return the most memory that was taken since, in megabytes."""
    try:
        status = (PROCESS / "status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
