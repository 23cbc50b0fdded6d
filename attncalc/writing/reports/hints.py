"""Graded hints on an answer: where to look, which rule, the line of work; never more than asked."""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from attncalc.base.types import Place
from attncalc.grading.credit import is_shown
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Status
from attncalc.languages.catalogue import catalogue
from attncalc.problem.fields import LINES
from attncalc.problem.step import Step
from attncalc.solving.plan import formula
from attncalc.writing.mathematics import in_text
from attncalc.writing.verdict import Said, entry_named

WHERE, RULE, LINE = 1, 2, 3
"""The levels of hints."""
ON_THE_MAP = (
    "The solid line leads to the input of the largest weight, the dashed to the second.",
    "Compare the weights in the row of this output.",
)
NOT_RIGHT = (Status.WRONG, Status.UNREADABLE, Status.PRECISION, Status.BLANK)


class _Target(NamedTuple):
    """What a hint is about: a step, "connections" for the map, and an entry, if there is one."""

    name: str
    place: Place | None
    where: str


def hint(marking: Marking, level: int, said: Said) -> Iterator[str]:
    """Yield a hint on the first mistake, or else on the first missing step, and its cost.

    It is in the language of the problem.

    level: 1 for where to look, 2 also for the rule, 3 also for the line of work without its result.
    """
    words = catalogue(marking.key.problem.language)
    return (words.say(text) for text in _hint(marking, level, said))


def _hint(marking: Marking, level: int, said: Said) -> Iterator[str]:
    if marking.is_provisional:
        yield "A part of the answer was not read, so this hint may not fit."
    target = _target(marking)
    if target is None:
        yield "No mistakes found."
        return
    yield f"Look at {target.where}."
    if target.name == LINES:
        yield from ON_THE_MAP[: level - WHERE]
    else:
        yield from _on_a_step(marking, target, level)
    yield from _cost(marking, target.name, level, said)


def _target(marking: Marking) -> _Target | None:
    for marks in marking.steps:
        name = marks.step.name
        if marks.written is None:
            return _Target(name, None, f"{name}, which the answer does not show")
        if marks.count(Status.WRONG_SHAPE):
            return _Target(name, None, f"the shape of {name}")
        if marks.count(*NOT_RIGHT):
            place = next(marks.places(*NOT_RIGHT))
            return _Target(name, place, f"{name}, {entry_named(marking, marks, place).where}")
    if any(line.share < 1 for line in marking.lines):
        number = next(line.right.output for line in marking.lines if line.share < 1) + 1
        return _Target(LINES, None, f"output {number} of the map")
    return None


def _on_a_step(marking: Marking, target: _Target, level: int) -> Iterator[str]:
    step = marking.key.steps[target.name]
    if level >= RULE:
        yield _rule(marking, step)
    if level < LINE:
        return
    missing = _missing(marking, target.name)
    if missing is None:
        yield _line(marking, step, target.place)
    else:  # the line would tell the numbers of a step that is not shown
        yield f"First compute {missing.name}: {_rule(marking, missing)}"
        yield _line(marking, missing, None)


def _missing(marking: Marking, name: str) -> Step | None:
    """Return the first step that this one needs and that the answer does not show."""
    steps = marking.key.steps
    for each in steps[name].inputs:
        if each in steps and not is_shown(marking.answer, each):
            return _missing(marking, each) or steps[each]
    return None


def _rule(marking: Marking, step: Step) -> str:
    words = catalogue(marking.key.problem.language)
    return words.number(f"{step.name} = {in_text(formula(step, marking.key.problem))}.")


def _line(marking: Marking, step: Step, place: Place | None) -> str:
    """Return the work of an entry, the first one by default, without its result."""
    first = (0,) * len(marking.key.solution.shape_of(step.name))
    line = marking.key.work.line(step.name, first if place is None else place)
    forms = [f" = {in_text(form)}" for form in line.forms]
    words = catalogue(marking.key.problem.language)
    remark = f" ({words.say(line.remark)})" if line.remark else ""
    return f"{words.number(in_text(line.entry) + ''.join(forms))} = ?{remark}"


def _cost(marking: Marking, name: str, level: int, said: Said) -> Iterator[str]:
    share = marking.rules.hint_cost(level)
    possible = marking.points.get(name, (Fraction(0), Fraction(0)))[1]
    if share:
        of = "the map" if name == LINES else name
        points = f"{said(share * possible)} of {said(possible, least=0)}"
        yield f"This hint costs {share} of the points of {of}: {points}."
