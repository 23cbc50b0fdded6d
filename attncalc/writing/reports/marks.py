"""The marks beside entries, which tell them apart without any colour."""

from attncalc.grading.credit import Score
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Status
from attncalc.numbers.types import Place
from attncalc.writing.document import Mark

MARKS = {
    Status.CORRECT: Mark("", "correct", ""),
    Status.ROUNDING: Mark("≈", "right but for rounding", ""),
    Status.FOLLOWS: Mark("→", "follows from your own values", "follows"),
    Status.MATCHES_KEY: Mark("!", "as in the key, not from your own values", "doubtful"),
    Status.PRECISION: Mark("…", "too few decimals", "doubtful"),
    Status.WRONG: Mark("✗", "wrong", "wrong"),
    Status.NOT_FOUND: Mark("", "not found", ""),
    Status.BLANK: Mark("", "blank", ""),
    Status.UNREADABLE: Mark("?", "not readable", "unreadable"),
    Status.WRONG_SHAPE: Mark("✗", "wrong", "wrong"),
}


def heads_of(marks: StepMarks) -> list[tuple[int, ...]]:
    """Return what places of a step begin with: nothing, or the number of each head, from 0."""
    if marks.statuses.ndim == 2:
        return [()]
    return [(head,) for head in range(len(marks.statuses))]


def place_of(marking: Marking, shown: Place) -> Place:
    """Return where an entry stands in the plan's matrix that is shown at a place."""
    return marking.key.work.turned(shown)


def percent(score: Score) -> str:
    """Return the share that is earned, as in 98 %; nothing where nothing can be."""
    if not score.possible:
        return "-"
    rounded = round(100 * score.earned / score.possible)
    if 0 < score.earned < score.possible:  # neither all of it nor nothing
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"
