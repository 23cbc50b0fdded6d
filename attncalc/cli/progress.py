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


@contextmanager
def reporting() -> Iterator["Report | None"]:
    """Yield the function to which a long solve reports its blocks; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.report
    finally:
        bar.close()


def counted(results: Iterable[R], of: int) -> Iterator[R]:
    """Yield results that take long, and show how many there are."""
    with reporting() as report:
        for done, each in enumerate(results, start=1):
            yield each
            if report is not None:
                report(done, of)


class _Bar:
    """A progress bar that appears when the work has taken a second and more is left."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.shown = False

    def report(self, done: int, blocks: int) -> None:
        """Draw how much is done."""
        if not self.shown and (time.monotonic() - self.start < PATIENCE or done == blocks):
            return
        self.shown = True
        width = 30
        filled = width * done // blocks
        bar = "#" * filled + "-" * (width - filled)
        sys.stderr.write(f"\r[{bar}] {100 * done // blocks:3d} %")
        sys.stderr.flush()

    def close(self) -> None:
        """Remove the bar."""
        if self.shown:
            sys.stderr.write("\r" + " " * 40 + "\r")
            sys.stderr.flush()
