"""How many solves a study takes, and how long that may be."""

from attncalc.errors import InputError
from attncalc.problem.problem import Problem

MOST_UNASKED = 10_000_000
"""Solves that are made without a second asking."""
LONGEST_UNASKED = 600.0
"""Seconds."""
BASE, OF_SCORE, OF_NUMBER = 2e-7, 4e-8, 4e-9
"""Seconds of a solve, and of each score and of each multiply-and-add in it, in a large family."""


def seconds_of(problem: Problem, solves: int) -> float:
    """Return about how many seconds so many solves of a problem take, in floats."""
    scores = problem.n_heads * problem.n * problem.m
    numbers = sum(matrix.size for matrix in problem.given.values())
    products = scores * (problem.d_k + problem.d_v) + numbers * max(problem.n, problem.m)
    return solves * (BASE + OF_SCORE * scores + OF_NUMBER * products)


def check_count(problem: Problem, solves: int, *, agreed: bool) -> None:
    """Refuse a study that takes very long, where nobody has agreed to that.

    Raises
    ------
    InputError
        That names the count, and about how long it would take.
    """
    seconds = seconds_of(problem, solves)
    if agreed or (solves <= MOST_UNASKED and seconds <= LONGEST_UNASKED):
        return
    raise InputError(
        f"this is {solves:,} solves, which would take about {duration(seconds)}: "
        "ask for fewer, or say --yes"
    )


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(5), duration(600), duration(9000)
    ('5 seconds', '10 minutes', '2.5 hours')
    """
    for unit, size in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{max(1, round(seconds))} seconds"
