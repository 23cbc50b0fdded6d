"""What a mark is made of: what was counted, what was not found, and what was not read at all."""

from collections.abc import Iterator, Sequence

from attncalc.grading.asked import passed_by
from attncalc.grading.marks import Marking
from attncalc.problem.fields import LINES
from attncalc.reading.answers.answer import Answer, Unread
from attncalc.text import on_a_line

MOST_UNREAD = 10
"""Of what was not read, and of faults and remarks, a verdict says no more of each."""
LONGEST = 60
"""Characters that are shown of what was not read."""


def counted(marking: Marking) -> Iterator[str]:
    """Yield whether the score may be trusted, what was counted, and what was not found."""
    if marking.is_provisional:
        yield _provisional(marking.answer)
    asked = marking.rules.asked or ()
    if not asked:
        return
    yield f"Counted: {names(asked)}."
    if marking.not_found:
        yield f"Not found: {names(marking.not_found)}."
    past = [name for name in passed_by(marking.key, marking.answer) if name not in asked]
    if past and not marking.rules.in_tolerance and marking.key.problem.asked is None:
        yield f"Not counted, for a later step is written: {names(past)}."
    if marking.not_counted:
        yield f"Not counted, for it is not asked for: {names(marking.not_counted)}."


def _provisional(answer: Answer) -> str:
    count = sum(each.could_be_matrix for each in answer.unread)
    parts = "1 part of the answer was" if count == 1 else f"{count} parts of the answer were"
    what = "a matrix" if count == 1 else "matrices"
    return f"This score is provisional: {parts} not read that could be {what}."


def names(steps: Sequence[str]) -> str:
    """Return all names of steps in a row, and the map in words.

    Examples
    --------
    >>> names(["Q", "A", "connections"])
    'Q, A and the lines of the map'
    """
    words = ["the lines of the map" if name == LINES else name for name in steps]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def not_read(answer: Answer) -> Iterator[str]:
    """Yield what of an answer was not read, how the rest was, and how many more there are."""
    unread = sorted(answer.unread, key=lambda each: not each.could_be_matrix)
    yield from _bounded("Not read", [in_words(each) for each in unread])
    yield from _bounded("Not read", list(map(on_a_line, answer.faults)))
    yield from _bounded("As read", list(map(on_a_line, answer.remarks)))


def in_words(unread: Unread) -> str:
    """Return what was not read: where, what and why.

    Examples
    --------
    >>> in_words(Unread(3, "1 2", "it has no name", could_be_matrix=True))
    'line 3: 1 2 (it has no name)'
    """
    text = on_a_line(" ".join(unread.text.split()))
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    where = f"line {unread.line}: " if unread.line else ""
    return f"{where}{text} ({on_a_line(unread.why)})"


def _bounded(opening: str, said: Sequence[str]) -> Iterator[str]:
    yield from (f"{opening}: {each}." for each in said[:MOST_UNREAD])
    if len(said) > MOST_UNREAD:
        yield f"{opening}: {len(said) - MOST_UNREAD} more like these."
