"""From a case that fails to a small one that fails in the same way."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from .calling import Case

MOST_SECONDS = 20.0

Fails = Callable[[Case], bool]


class _Enough(Exception):  # noqa: N818 - it is what happened, not what went wrong
    """Time is up."""


def shrunk(case: Case, fails: Fails, seconds: float = MOST_SECONDS) -> Case:
    """Return the smallest case found that fails: files, arguments, lines, then letters go."""
    best, end = case, time.monotonic() + seconds

    def holds(smaller: Case) -> bool:
        nonlocal best
        if time.monotonic() > end:
            raise _Enough
        if fails(smaller):
            best = smaller
            return True
        return False

    with suppress(_Enough):
        _less(case, holds)
    return best


def _less(case: Case, holds: Fails) -> None:
    names = fewest(list(case.files), lambda kept: holds(_with_files(case, kept)))
    case = _with_files(case, names)
    given = list(case.arguments[1:])
    kept = fewest(given, lambda some: holds(_asking(case, some)))
    case = _asking(case, kept)
    for cut in (_lines, _bytes):
        for name in case.files:
            pieces = fewest(
                cut(case.files[name]),
                lambda some, name=name, case=case: holds(_holding(case, name, b"".join(some))),
            )
            case = _holding(case, name, b"".join(pieces))
        pieces = fewest(
            cut(case.stdin), lambda some, case=case: holds(replace(case, stdin=b"".join(some)))
        )
        case = replace(case, stdin=b"".join(pieces))


def _with_files(case: Case, names: Sequence[str]) -> Case:
    return replace(case, files={name: case.files[name] for name in names})


def _asking(case: Case, arguments: Sequence[str]) -> Case:
    return replace(case, arguments=(*case.arguments[:1], *arguments))


def _holding(case: Case, name: str, data: bytes) -> Case:
    return replace(case, files=case.files | {name: data})


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _bytes(data: bytes) -> list[bytes]:
    return [data[place : place + 1] for place in range(len(data))]


def fewest(parts: list, fails: Callable[[list], bool]) -> list:
    """Return as few parts as still fail: halves are left out, then quarters, then single ones."""
    step = max(1, len(parts) // 2)
    while parts:
        start = 0
        while start < len(parts):
            fewer = parts[:start] + parts[start + step :]
            if fails(fewer):
                parts = fewer
            else:
                start += step
        if step == 1:
            return parts
        step //= 2
    return parts
