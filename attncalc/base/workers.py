"""The same work for many items, on several cores: results are in order, few at a time."""

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

from attncalc.base.signals import ENDING

FEW = 4
"""The number of items up to which work is done in this process: starting others takes longer."""
START = "fork" if sys.platform == "linux" else "spawn"
"""A fork has all imported modules; elsewhere a new process is started, since forks are unsafe."""
AHEAD = 4
"""Items per worker in progress or waiting: limits the memory."""

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def mapped(work: Callable[[T], R], things: Iterable[T], jobs: int = 1) -> Iterator[R]:
    """Yield the result of each item, in order.

    Raises Exception the error of the first item that fails.

    work: the function; with several jobs, it must be a picklable function of a module with
        picklable results.
    things: the items; they are read when workers are free.
    jobs: the number of processes; 1 for this one.

    >>> list(mapped(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    waiting = iter(things)
    first = list(islice(waiting, FEW + 1))
    if jobs <= 1 or len(first) <= FEW:
        yield from map(work, first)
        yield from map(work, waiting)
        return
    yield work(first[0])  # what it imports and keeps, a fork has too
    yield from _shared(work, chain(first[1:], waiting), jobs)


def _shared(work: Callable[[T], R], things: Iterator[T], jobs: int) -> Iterator[R]:
    from concurrent.futures import Future, ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(jobs, get_context(START), initializer=_as_worker, initargs=(work,))
    under_way: deque[Future[R]] = deque()
    try:
        for thing in things:
            under_way.append(pool.submit(_worked, thing))
            if len(under_way) >= AHEAD * jobs:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_WORK: list[Callable[[Any], Any]] = []
"""The function of a worker: it is sent once, and not with every item."""


def _worked(thing: Any) -> Any:
    return _WORK[-1](thing)


def _as_worker(work: Callable[[Any], Any]) -> None:
    """Ignore interrupts, which the process that distributes the work handles; end with it."""
    import threading
    from multiprocessing import parent_process

    for number in ENDING:
        ends = number == getattr(signal, "SIGTERM", None)
        signal.signal(number, signal.SIG_DFL if ends else signal.SIG_IGN)
    parent = parent_process()
    _WORK.append(work)

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
