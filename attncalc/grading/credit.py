"""The steps that are asked for, those that are left out, and the possible points."""

from fractions import Fraction

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.equations.operations.assembling import Same
from attncalc.grading.key import Key
from attncalc.grading.lines import maps_of
from attncalc.grading.rules import Rules
from attncalc.problem.fields import LINES
from attncalc.reading.answers.answer import Answer


def asked_of(key: Key, answer: Answer, rules: Rules) -> tuple[str, ...]:
    """Return the steps that are counted, in the order of the plan, and "connections" for the map.

    They are those that the rules or the problem ask for, and those that must be shown. If neither
    names any, every step is asked for, and the map if it is drawn, or if the problem is one of a
    set, whose worksheets ask for it. Of a program's dump, the steps that it contains are counted.
    Raises InputError if the rules ask for a step that the problem does not have, or none counts.
    """
    said = rules.asked if rules.asked is not None else key.problem.asked
    known = (*key.steps, *((LINES,) if key.problem.attentions else ()))
    for name in (*(said or ()), *rules.require):
        if name not in known:
            listed = ", ".join(known)
            raise InputError(f"asked names {quoted(name)}, which is not a step (known: {listed})")
    wanted = {*all_asked(key, rules)}
    if said is None and rules.in_tolerance:
        wanted &= {*answer.matrices}
    if said is None and _has_map(key, answer):
        wanted.add(LINES)
    found = tuple(name for name in known if name in wanted or name in rules.require)
    if found and not any(map(rules.weight, found)):
        raise InputError("no step that is asked for counts: give one a weight above 0")
    return found


def _has_map(key: Key, answer: Answer) -> bool:
    """Return whether a map is drawn: a discussion that mentions one output is not a map."""
    written = answer.connections or ()
    is_blank = answer.connections == () and len(key.problem.attentions) == 1
    return is_blank or any(each.is_drawn(written) for each in maps_of(key))


def all_asked(key: Key, rules: Rules) -> tuple[str, ...]:
    """Return the steps that every answer is asked for, independent of its content."""
    said = rules.asked if rules.asked is not None else key.problem.asked
    if said is None:
        is_of_set = key.problem.code and len(key.problem.attentions) == 1
        said = (*key.steps, *((LINES,) if is_of_set else ()))
    return tuple(dict.fromkeys((*said, *rules.require)))


def passed_by(key: Key, answer: Answer, rules: Rules) -> dict[str, str]:
    """Return the steps left out, each with the first written later step that follows from it.

    A step that only copies a written one, such as O = C without W_O, follows from that one. A step
    that is asked for by name must be written.
    """
    said = rules.asked if rules.asked is not None else key.problem.asked
    if (said is not None and not rules.may_skip) or rules.in_tolerance:
        return {}
    shown = [name for name in key.steps if is_shown(answer, name)]
    found: dict[str, str] = {}
    for name in key.steps:
        later = next((each for each in shown if name in key.before[each]), None)
        if later is None and isinstance(key.steps[name].operation, Same):
            later = next((each for each in key.steps[name].inputs if each in shown), None)
        if later is not None and name not in shown and name not in rules.require:
            found[name] = later
    return found


def is_shown(answer: Answer, name: str) -> bool:
    """Return whether the answer contains anything of a step."""
    written = answer.matrices.get(name)
    if written is None:
        return False
    return bool(written.problem or written.faults or not np.isnan(written.values).all())


def possible_of(key: Key, rules: Rules) -> Fraction:
    """Return the largest possible points of an answer: those of the steps that are asked for."""
    total = sum(map(rules.weight, all_asked(key, rules)), Fraction(0))
    return total if rules.points is None or not total else rules.points
