"""How many solves a study takes, and how long that may be."""

from attncalc.errors import InputError
from attncalc.problem.problem import Problem

MOST_UNASKED = 10_000_000
"""Solves that are made without a second asking."""
MOST_COUNTED = 10**18
"""Solves whose time is estimated; more take longer than anybody waits."""
LONGEST_UNASKED = 10.0
"""Seconds."""
OF_DRAW, OF_VALUE, OF_PROBLEM = 2e-6, 1e-4, 5e-3
"""Seconds of a solve: of a draw, of a value with its own digits, of one with its own plan."""
OF_SCORE, OF_NUMBER = 4e-8, 4e-9
"""Seconds of each score, and of each multiply-and-add."""


def seconds_of(problem: Problem, solves: int, each: float) -> float:
    """Return about how many seconds so many solves of a problem take, in floats."""
    attentions = problem.attentions
    scores = sum(each.scores for each in attentions)
    numbers = sum(matrix.size for matrix in problem.given.values())
    most = max((max(each.n, each.m) for each in attentions), default=problem.n)
    products = sum(each.scores * (each.d_k + each.d_v) for each in attentions) + numbers * most
    return solves * (each + OF_SCORE * scores + OF_NUMBER * products)


def check_count(problem: Problem, solves: int, each: float, *, agreed: bool) -> None:
    """Refuse a study that takes very long, where nobody has agreed to that.

    Parameters
    ----------
    problem, solves
        What is solved, and how often.
    each
        The seconds of a solve, beside those of its scores: `OF_DRAW` or `OF_VALUE`.
    agreed
        Whether it may take very long.

    Raises
    ------
    InputError
        That names the count, and about how long it would take; or for a problem so long that its
        scores are not kept even once.
    """
    if problem.is_long:
        scores = problem.most_scores
        raise InputError(f"studies are for up to 4,000,000 scores: this problem has {scores:,}")
    seconds = seconds_of(problem, min(solves, MOST_COUNTED), each)
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
