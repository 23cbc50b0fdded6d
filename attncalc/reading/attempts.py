"""Which of several answers is the newest, and which are late: by their names, or their file times.

Course systems put a date, a number or LATE into the names of the files that they export.
"""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from attncalc.base.errors import InputError

SAME_TIME = 60.0
"""File times of one copy or one unpacked archive differ by fewer seconds."""
LATE = "_LATE_"
"""The word in the names of late files in downloads of Canvas."""
_DATE = re.compile(
    r"(?<!\d)(20\d\d)(?:-|_|\.)([01]\d)(?:-|_|\.)([0-3]\d)"
    r"(?:[T _.-]+([0-2]\d)[-_.:h]?([0-5]\d)(?:[-_.:]?([0-5]\d))?)?(?!\d)"
)
_NUMBER = re.compile(
    r"(?<![^\W_])(?:v|version|attempt|try|rev|revision|submission|resubmission)[ _-]*(\d+)(?!\d)"
    r"|\((\d{1,2})\)",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"^[^_]+(?:_LATE)?_\d+_\d+_.+-(\d+)$")
"""A later file of the same name, as downloads of Canvas have it: ada_1017_4711_answer-2."""


def newest(places: Sequence[Path]) -> tuple[int, str] | None:
    """Return the index of the newest of several answers, and the evidence; None without any.

    Names come first: file times change when files are copied.
    """
    whole = [place.absolute() for place in places]
    root = os.path.commonpath([place.parent for place in whole])
    names = [os.path.relpath(place, root) for place in whole]
    kinds: tuple[tuple[Callable[[str], str | int], str], ...] = (
        (_date_in, "the date in its name"),
        (_number_in, "its number"),
    )
    for read, evidence in kinds:
        found: list[Any] = list(map(read, names))
        *_, second, last = sorted(found)
        if last > second:
            return found.index(last), evidence
    times = [_time_of(place) for place in places]
    *_, before, latest = sorted(times)
    return (times.index(latest), "its file time") if latest - before > SAME_TIME else None


def is_late(place: Path, due: datetime | None) -> bool:
    """Return whether an answer is late: its system says so, or its date or file time is later."""
    if LATE in place.name:
        return True
    if due is None:
        return False
    said = _date_in(place.name)
    if not said:
        return _time_of(place) > due.timestamp()
    return said > (f"{due:%Y%m%d%H%M%S}" if len(said) > len("20260131") else f"{due:%Y%m%d}")


def due_date(text: str | None) -> datetime | None:
    """Return a date as typed; a day without a time ends at midnight."""
    if text is None:
        return None
    with suppress(ValueError):
        whole = f"{text.strip()} 23:59:59" if len(text.strip()) == len("2026-01-31") else text
        return datetime.fromisoformat(whole.strip())
    raise InputError(f"--due takes a date, such as 2026-01-31 or 2026-01-31T18:00, not {text}")


def without_number(name: str) -> str:
    """Return a name without dates and numbers of attempts, which could be those of a problem.

    >>> without_number("ada 2 (1)"), without_number("ada_1_v2"), without_number("ada 3 2026-01-03")
    ('ada 2  ', 'ada_1_ ', 'ada 3  ')
    """
    return _NUMBER.sub(" ", _DATE.sub(" ", name))


def _date_in(name: str) -> str:
    """Return the last date in a name as digits, which sort by time."""
    found = [date for date in _DATE.findall(name) if "01" <= date[1] <= "12"]
    return "".join(found[-1]) if found else ""


def _number_in(name: str) -> int:
    """Return the number of an attempt in a name; 0 without one."""
    again = _AGAIN.match(os.path.splitext(os.path.basename(name))[0])  # noqa: PTH119, PTH122
    numbers = [int(one or other) for one, other in _NUMBER.findall(name)]
    return int(again[1]) if again else (numbers or [0])[-1]


def _time_of(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:  # reading it reports the error
        return 0.0
