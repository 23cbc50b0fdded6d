"""Marking: from a key and an answer to what is said of each entry, and of each line of the map."""

from typing import TypeVar

from attncalc.grading.compare import CompareWalk
from attncalc.grading.digits import marks_of_digits, style_of
from attncalc.grading.key import Key
from attncalc.grading.lines import LineMark, mark_lines
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import LINES, Rules, Status
from attncalc.reading.answers.answer import Answer

M = TypeVar("M", bound=Marking)


def mark(key: Key, answer: Answer, rules: Rules) -> Marking:
    """Mark an answer.

    Parameters
    ----------
    key
        The problem, solved; one key serves any number of answers.
    answer
        What was written.
    rules
        How it is marked.
    """
    return marked(Marking, key, answer, rules)


def marked(kind: type[M], key: Key, answer: Answer, rules: Rules) -> M:
    """Return a marking of this kind: one that can say its score, say."""
    steps = (
        CompareWalk(key, answer, rules, key.slack).marks()
        if rules.in_tolerance
        else marks_of_digits(key, answer, rules)
    )
    if rules.asked is not None:
        steps = tuple(marks for marks in steps if marks.step.name in rules.asked)
    style = None if rules.in_tolerance else style_of(key, steps)
    known = (*key.steps, *key.problem.names)
    not_asked = tuple(name for name in answer.matrices if name not in known)
    return kind(key, answer, steps, rules, style, not_asked, _lines(key, answer, steps, rules))


def _lines(
    key: Key, answer: Answer, steps: tuple[StepMarks, ...], rules: Rules
) -> tuple[LineMark, ...]:
    """Mark the lines of the map, where the answer says anything of them."""
    if answer.connections is None and LINES not in (rules.asked or ()):
        return ()
    own = next((marks for marks in steps if marks.step.role == "weights"), None)
    usable = own is not None and not own.count(Status.WRONG_SHAPE)
    weights = own.written if own and usable else None
    return mark_lines(key, answer.connections or (), weights, rules)
