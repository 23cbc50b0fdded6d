"""New problems: candidates are drawn and solved until one is what was wished for."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from attncalc.errors import InputError
from attncalc.making.drawing import draw, problem_of, shapes_of
from attncalc.making.judging import LARGE, Rejected, at_sight, judged
from attncalc.making.wishes import Wishes
from attncalc.making.words import words
from attncalc.problem.problem import Problem

MOST_TRIED = 1000
"""Candidates that are solved before a wish is said to be too much."""
MOST_SCORES = 150_000
"""Scores of all of them together, after which it is said, too: large problems take their time."""
PER_SOLVED = 100
"""Candidates that are seen through at sight, for each that is solved."""
CALMER, CALMEST = 0.97, 0.2
"""How much less often large entries are drawn after a score that was too large, and how little;
of more than 100 scores the largest is large more often."""


@dataclass(frozen=True)
class Made:
    """A new problem, and what it took.

    Parameters
    ----------
    problem
        The problem.
    tried
        How many candidates there were, this one among them.
    rejected
        How many of them were not what was wished for, by why not; the most frequent first.
    """

    problem: Problem
    tried: int
    rejected: Mapping[Rejected, int]

    @property
    def report(self) -> str:
        """What it took, as a sentence."""
        if self.tried == 1:
            return "the first candidate is what was wished for"
        return f"{self.tried:,} candidates were tried; rejected: {_counted(self.rejected)}"


def make(wishes: Wishes, seed: int, made_by: str = "") -> Made:
    """Return the first problem, of those that a seed stands for, that is what is wished for.

    The same seed gives the same problem on every machine: Python promises the numbers of its
    generator, and the digits that decide are exact.

    Raises
    ------
    InputError
        When none of the candidates is: it says which wish is to blame.
    """
    _refuse_one_number(wishes)
    shapes, random = shapes_of(wishes), Random(seed)
    rejected: Counter[Rejected] = Counter()
    solved = tried = 0
    calm = 1.0
    most = max(10, min(MOST_TRIED, MOST_SCORES // wishes.scores))
    while solved < most and tried < most * PER_SOLVED:
        tried += 1
        matrices = draw(wishes, shapes, random, calm)
        found = at_sight(matrices)
        if found is None:
            solved += 1
            problem = problem_of(wishes, matrices, made_by)
            found = judged(problem, wishes)
        if found is None:
            return Made(problem, tried, dict(rejected.most_common()))
        if found == LARGE:
            calm = max(calm * CALMER ** (1 + wishes.scores // 100), CALMEST)
        rejected[found] += 1
    raise InputError(_blamed(rejected, tried))


def _refuse_one_number(wishes: Wishes) -> None:
    """Refuse at once what a hundred thousand candidates would all be turned down for."""
    values = set(wishes.entries.values)
    if len(values) == 1 and values != {0}:  # of zeros, drawing says what is wrong
        raise InputError(
            f"entries: of {wishes.entries.text} alone all matrices are alike: give more numbers"
        )


def _blamed(rejected: Counter[Rejected], tried: int) -> str:
    """Return what to say where nothing fits: the wish that turned most candidates down."""
    worst, count = rejected.most_common(1)[0]
    return (
        f"no problem is as wished for: of {tried:,} candidates {count:,} had {worst.says}. "
        f"Change --{worst.wish}, or what it goes against (rejected: {_counted(rejected)})"
    )


def _counted(rejected: Mapping[Rejected, int]) -> str:
    ordered = sorted(rejected.items(), key=lambda each: -each[1])
    return ", ".join(f"{count:,} × {reason.says}" for reason, count in ordered)


def with_words(wishes: Wishes, seed: int) -> Wishes:
    """Return the wishes with names for tokens, out of the words that are there."""
    count = wishes.tokens
    if wishes.kind in ("cross", "decoder"):
        count += wishes.keys or wishes.tokens
    start = int(Random(f"words {seed}").random() * 1000)
    return replace(wishes, labels=words(count, start))
