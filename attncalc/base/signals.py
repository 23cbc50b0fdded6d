"""Interrupted runs: by a key, by the shell, or by a shutdown."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""The signals that end a run; Windows has no SIGHUP."""


def end_with_a_line() -> None:
    """Install handlers that end this process with one line and its code, 128 plus the number.

    Nothing is unwound, so that any moment is safe; signals are delayed during cleanup.
    """
    for number in _heeded():
        signal.signal(number, _end)


@contextmanager
def held_back() -> Iterator[list[int]]:
    """Delay these signals within the context, and raise them at its end; yield those received.

    Long work inside checks the list, and stops if it is not empty.

    >>> with held_back() as came:
    ...     came
    []
    """
    import threading  # here, for most runs write no file

    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came  # a signal interrupts only the main thread
        return
    before = {
        number: signal.signal(number, lambda number, _: came.append(number)) for number in _heeded()
    }
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)


def _heeded() -> list[int]:
    """Return the signals that are not ignored, as those of `nohup` are, nor in other hands."""
    return [n for n in ENDING if signal.getsignal(n) not in (signal.SIG_IGN, None)]


def _end(number: int, frame: FrameType | None) -> NoReturn:
    what = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    start = "\r" if os.isatty(2) else ""  # over a bar of progress
    with suppress(OSError):
        os.write(2, f"{start}{f'error: {what}: no file is incomplete':<46}".rstrip().encode())
        os.write(2, b"\n")
    os._exit(128 + number)
