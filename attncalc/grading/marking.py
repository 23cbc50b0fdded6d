"""Marking: from a key and an answer to the status of each entry and of each line of the map."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from attncalc.grading.compare import CompareWalk
from attncalc.grading.credit import asked_of, passed_by
from attncalc.grading.digits import marks_of_digits
from attncalc.grading.framework import recognized
from attncalc.grading.key import Key, Style
from attncalc.grading.lines import LineMark, maps_of, mark_lines
from attncalc.grading.marks import Marking, StepMarks
from attncalc.grading.rules import Rules, Status
from attncalc.problem.fields import LINES
from attncalc.reading.answers.answer import Answer
from attncalc.solving.limits import refuse_what_cannot_fit

BYTES_OF_MARKING, BYTES_OF_KEY = 160, 120
"""The memory of marking for each written entry, and for each score of the problem."""

M = TypeVar("M", bound=Marking)


def mark(key: Key, answer: Answer, rules: Rules) -> Marking:
    """Mark an answer.

    Raises InputError if marking so many entries requires more memory than available.
    """
    return marked(Marking, key, answer, rules)


@np.errstate(over="ignore", invalid="ignore")  # an answer may contain 1e308, which is not right
def marked(kind: type[M], key: Key, answer: Answer, rules: Rules) -> M:
    """Return a marking of this class, such as one with a score."""
    # marking adds bounds and a status to each entry
    written = sum(each.values.size for each in answer.matrices.values())
    scores = key.problem.most_scores
    sizes = {"marking": BYTES_OF_MARKING * written, "key": BYTES_OF_KEY * scores}
    refuse_what_cannot_fit(sizes, set(), "check an answer that has fewer steps, as A and O alone")
    said = rules.asked if rules.asked is not None else key.problem.asked
    if rules.in_tolerance:
        answer = recognized(key, answer)
    asked, passed = asked_of(key, answer, rules), passed_by(key, answer, rules)
    rules = replace(rules, asked=asked)
    style: Style | None = None
    if rules.in_tolerance:
        steps = CompareWalk(key, answer, rules, key.slack).marks()
    else:
        steps, style = marks_of_digits(key, answer, rules)
    wanted = {*asked} - passed.keys()
    counted = tuple(each for each in steps if each.step.name in wanted)
    read = {name for each in counted if each.written for name in key.before[each.step.name]}
    grounds = tuple(each for each in steps if each.step.name in read - {*asked})
    # the cause of a step that does not count is deducted where it first follows in one that does
    pays: dict[str, list[StepMarks]] = {}
    for ground in filter(lambda each: each.deduction(rules), grounds):
        own = ground.step.name
        after = [e.step.name for e in counted if e.from_own and own in key.before[e.step.name]]
        if after:
            pays.setdefault(after[0], []).append(ground)
    counted = tuple(replace(each, pays_for=tuple(pays.get(each.step.name, ()))) for each in counted)
    known = (*key.steps, *key.problem.names)
    not_asked = tuple(name for name in answer.matrices if name not in known)
    lines = _lines(key, answer, counted, rules, is_explicit=said is not None)
    return kind(key, answer, counted, rules, style, not_asked, lines, passed, grounds)


def _lines(
    key: Key, answer: Answer, steps: tuple[StepMarks, ...], rules: Rules, *, is_explicit: bool
) -> tuple[LineMark, ...]:
    """Mark the lines of the map if they are asked for; of several maps, those that are drawn.

    Mark all of them if they are asked for explicitly.
    """
    if LINES not in (rules.asked or ()):
        return ()
    written = answer.connections or ()
    usable = {
        marks.step.name: marks.written
        for marks in steps
        if not (marks.count(Status.WRONG_SHAPE) or marks.problem)
    }
    return tuple(
        line
        for each in maps_of(key)
        if is_explicit or each.is_only or each.own(written)
        for line in mark_lines(each, written, usable.get(each.weights.name), rules)
    )
