"""What is asked of an answer: it is the problem's to say, whoever else hands something in."""

from attncalc.errors import InputError
from attncalc.grading.key import Key
from attncalc.grading.lines import maps_of
from attncalc.grading.rules import Rules
from attncalc.numbers.typed import quoted
from attncalc.problem.fields import LINES
from attncalc.reading.answers.answer import Answer


def asked_of(key: Key, answer: Answer, rules: Rules) -> tuple[str, ...]:
    """Return the steps that are counted, in the order of the plan, and "connections" for the map.

    They are those that the rules name, or else the problem. Where neither does, every step is asked
    for, less those that one may go past, as S_scaled, where a later one is written; and the map
    where it is drawn. A program's dump says itself what it holds.

    Raises
    ------
    InputError
        When the rules ask for what is no step of the problem.
    """
    said = rules.asked if rules.asked is not None else key.problem.asked
    known = (*key.steps, *((LINES,) if key.problem.attentions else ()))
    for name in said or ():
        if name not in known:
            listed = ", ".join(known)
            raise InputError(f"asked names {quoted(name)}, which is no step (known: {listed})")
    if said is not None:
        return tuple(name for name in known if name in said)
    if rules.same_for_all:
        return tuple(name for name in key.steps if name not in passed_by(key, answer))
    written = answer.connections or ()
    # a discussion that mentions one output draws no map
    is_blank = answer.connections == () and len(key.problem.attentions) == 1
    has_map = is_blank or any(each.is_drawn(written) for each in maps_of(key))
    drawn = (LINES,) if has_map else ()
    if rules.in_tolerance:
        return (*(name for name in key.steps if name in answer.matrices), *drawn)
    past = passed_by(key, answer)
    return (*(name for name in key.steps if name not in past), *drawn)


def all_asked(key: Key, rules: Rules) -> tuple[str, ...]:
    """Return what every answer is asked for, whatever somebody happens to write."""
    said = rules.asked if rules.asked is not None else key.problem.asked
    return tuple(key.steps) if said is None else said


def passed_by(key: Key, answer: Answer) -> tuple[str, ...]:
    """Return the steps between that are left out, where a later step is written.

    Parameters
    ----------
    key
        The key, whose steps say which of them one may go past.
    answer
        What was written.
    """
    names = list(key.steps)
    last = max((names.index(name) for name in answer.matrices if name in key.steps), default=-1)
    return tuple(
        name
        for name in names[: last + 1]
        if key.steps[name].is_between and name not in answer.matrices
    )
