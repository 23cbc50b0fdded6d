"""Time, as this machine takes it: what is promised in seconds is promised of an ordinary one.

A machine that is slower, or that has other work, is allowed more: as many times the seconds as it
takes longer, just then, for a piece of Python that always is the same.
"""

import json
import re
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

ORDINARY = 0.006
"""Seconds of the processor that an ordinary machine takes for the piece."""
PIECES = 5
TRIES = 3
"""A machine that was disturbed is asked again before something is called slow."""


def slowness() -> float:
    """Return how many times as long as an ordinary machine this one takes just now; at least 1."""
    return max(1.0, sum(seconds(_piece) for _ in range(PIECES)) / PIECES / ORDINARY)


def seconds(work: Callable[[], Any]) -> float:
    """Return how many seconds of the processor some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def takes_longer(work: Callable[[], Any], most: float) -> str:
    """Say how long some work takes, where that is over so many seconds; "" where it is not."""
    for _ in range(TRIES):
        took, allowed = seconds(work), most * slowness()
        if took < allowed:
            return ""
    return f"{took:.2f} s, of {allowed:.2f}"


def _piece() -> object:
    """Do a little of all that attncalc does: numbers, text, small matrices."""
    numbers = [Fraction(number, 7) for number in range(2000)]
    text = json.dumps({str(number): [float(number), number > 9] for number in numbers})
    found = [json.loads(text)[each] for each in re.findall(r'"(\d+/7)"', text)[:2]]
    matrix = np.eye(4)
    for _ in range(2000):
        matrix = matrix @ matrix.T
    return found, matrix
