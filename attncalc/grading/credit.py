"""What an answer earns, in fractions: each step's weight times the share that is credited."""

from fractions import Fraction
from typing import NamedTuple

from attncalc.grading.marks import Marking
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
    for marks in marking.steps:
        weight = rules.weights.get(marks.step.name, Fraction(1))
        earned += weight * marks.credit(rules)
        possible += weight
    if marking.lines:
        weight = rules.weights.get(LINES, Fraction(1))
        earned += weight * share_of_lines(marking)
        possible += weight
    return Score(earned, possible)


def share_of_lines(marking: Marking) -> Fraction:
    """Return how many of the lines of the map lead where they should, from 0 to 1."""
    return sum((line.share for line in marking.lines), Fraction(0)) / len(marking.lines)
