"""What an answer earns, in fractions: each step's weight times the share that is credited."""

from fractions import Fraction
from typing import NamedTuple

from attncalc.grading.asked import all_asked, passed_by
from attncalc.grading.key import Key
from attncalc.grading.marks import Marking
from attncalc.grading.rules import Rules
from attncalc.problem.fields import LINES


class Score(NamedTuple):
    """What is earned, of what could be."""

    earned: Fraction
    possible: Fraction


def score(marking: Marking) -> Score:
    """Return what an answer earns.

    A step counts 1, or what the rules say; and so do the lines of the map, where they are drawn.
    """
    rules = marking.rules
    earned = possible = Fraction(0)
    for name, credit in credits_of(marking).items():
        weight = rules.weights.get(name, Fraction(1))
        earned += weight * credit
        possible += weight
    if marking.lines:
        weight = rules.weights.get(LINES, Fraction(1))
        earned += weight * share_of_lines(marking)
        possible += weight
    return Score(earned, possible)


def credits_of(marking: Marking) -> dict[str, Fraction]:
    """Return the share of each step that is earned: gone past, it earns what the next one does."""
    rules = marking.rules
    shares = {marks.step.name: marks.credit(rules) for marks in marking.steps}
    if not rules.same_for_all:
        return shares
    past = passed_by(marking.key, marking.answer)
    names = [name for name in marking.key.steps if name in shares or name in past]
    found: dict[str, Fraction] = {}
    for name in reversed(names):
        following = next(reversed(found.values()), Fraction(0))
        found[name] = shares.get(name, following)
    return {name: found[name] for name in names}


def possible_of(key: Key, rules: Rules) -> Fraction:
    """Return what can be earned in every answer to a problem: what it asks for."""
    weights = (rules.weights.get(name, Fraction(1)) for name in all_asked(key, rules))
    return sum(weights, Fraction(0))


def share_of_lines(marking: Marking) -> Fraction:
    """Return how many of the lines of the map lead where they should, from 0 to 1."""
    return sum((line.share for line in marking.lines), Fraction(0)) / len(marking.lines)
