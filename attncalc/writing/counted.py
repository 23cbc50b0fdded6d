"""What a mark is made of: what was counted, what was not found, and what was not read at all."""

from collections.abc import Iterator, Sequence

from attncalc.grading.asked import passed_by
from attncalc.grading.marks import Marking
from attncalc.problem.fields import LINES
from attncalc.text import on_a_line

MOST_UNREAD = 10
"""Of what was not read, and of faults and remarks, a verdict says no more of each."""
LONGEST = 60
"""Characters that are shown of what was not read."""


def counted(marking: Marking) -> Iterator[str]:
    """Yield whether the score may be trusted, what was counted, and what was not found."""
    if marking.is_provisional:
        count = sum(each.could_be_matrix for each in marking.answer.unread)
        if count:
            yield _provisional(count)
        if lines := marking.unread_lines:
            parts = "1 statement" if len(lines) == 1 else f"{len(lines)} statements"
            yield f"This score is provisional: {parts} about the map could not be read."
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


def _provisional(count: int) -> str:
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


def not_read(marking: Marking) -> Iterator[str]:
    """Yield what of an answer was not read, how the rest was, and how many more there are."""
    yield from _bounded("Not read", unread_in_words(marking))
    answer = marking.answer
    yield from _bounded("Not read", list(map(on_a_line, answer.faults)))
    yield from _bounded("As read", list(map(on_a_line, answer.remarks)))


def unread_in_words(marking: Marking) -> list[str]:
    """Return what was not read, what could be a matrix first."""
    unread = sorted(marking.answer.unread, key=lambda each: not each.could_be_matrix)
    return [in_words(each.line, each.text, each.why) for each in unread]


def in_words(line: int, text: str, why: str) -> str:
    """Return what was not read: where, what and why.

    Examples
    --------
    >>> in_words(3, "1 2", "it has no name")
    'line 3: 1 2 (it has no name)'
    """
    shown = on_a_line(" ".join(text.split()))
    shown = shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
    where = f"line {line}: " if line else ""
    return f"{where}{shown} ({on_a_line(why)})"


def _bounded(opening: str, said: Sequence[str]) -> Iterator[str]:
    yield from (f"{opening}: {each}." for each in said[:MOST_UNREAD])
    if len(said) > MOST_UNREAD:
        yield f"{opening}: {len(said) - MOST_UNREAD} more like these."
