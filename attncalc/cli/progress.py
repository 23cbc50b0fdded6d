"""A progress bar on standard error for work longer than a second."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from attncalc.problem.step import Report

R = TypeVar("R")
PATIENCE = 1.0
"""Seconds before a bar is shown."""
WIDTH = 30


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
