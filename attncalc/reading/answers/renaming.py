"""Names that people use for different steps: resolved by the plan and by values."""

from collections import Counter

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.answer import matrix_of_entries
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.keeping import Collected
from attncalc.reading.answers.parts import Part, entries_of

_OTHER_NAMES = {
    "S_scaled": ("S",),
    "S_masked": ("S_scaled", "S"),
    "S_capped": ("S_scaled", "S"),
    "O": ("H", "C"),
    "H": ("O", "C"),
    "C": ("O",),
    "Q_rot": ("Q",),
    "K_rot": ("K",),
}
"""Names of steps that are missing in a plan, and the steps that they may mean."""
_ALSO = (("S", "S_scaled"), ("S", "S_masked"), ("S_scaled", "S_masked"), ("A", "S"),
         ("A", "S_scaled"),
         ("O", "H"), ("O", "C"), ("H", "C"), ("S", "A"), ("S_scaled", "S"), ("V", "O"))  # fmt: skip
"""Pairs of a name and the step that it may mean, if the numbers show it."""
SURE = 0.5
MINUS_INFINITY_WRITTEN = -1e4
"""The largest number that people write for -∞."""
PASSES = 3
"""The number of passes over the names: a renamed step makes room for another."""
MOST = 500
"""The largest number of parts of an answer whose numbers are compared."""


def with_better_names(found: Collected, expected: Expected) -> list[Part]:
    """Return the parts under the names of steps of the plan.

    A step with its correct name is never replaced.
    """
    if not expected.steps:
        return found.parts
    parts = found.parts
    for name in dict.fromkeys(part.name for part in parts):
        if name not in expected.steps:
            there = {part.name for part in parts}
            options = [each for each in _OTHER_NAMES.get(name, ()) if each in expected.steps]
            if meant := next((each for each in options if each not in there), None):
                own = [part for part in parts if part.name == name]
                parts = _renamed(parts, own, meant, "the problem has no other", found)
    for _ in range(PASSES):
        parts = _named_by_values(parts, expected, found)
    return parts


def _named_by_values(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return the parts, renamed if their numbers agree with another step."""
    wholes = Counter(part[:2] for part in parts if part.is_whole)
    there = {each.name for each in parts}
    for part in parts[:MOST]:
        meant = _by_values(part, there, expected, is_doubled=wholes[part[:2]] > 1)
        if part.is_whole and meant:
            own = [part, *(each for each in parts if each.name == part.name and each.head)]
            parts = _renamed(parts, own, meant, "its numbers are", found)
            there = {each.name for each in parts}
    return parts


def _renamed(
    parts: list[Part], own: list[Part], meant: str, why: str, found: Collected
) -> list[Part]:
    """Return the parts with some of them renamed, and note it."""
    first = own[0]
    found.remarks.append(f"line {first.line}: {first.name} is taken as {meant}: {why}")
    lines = {(part.line, part.what) for part in own}
    for i, taken in enumerate(found.taken):
        if (taken.line, taken.what) in lines:
            what = taken.what.replace(first.name, meant, 1)
            found.taken[i] = taken._replace(what=what, how=f"{taken.how}; taken as {meant}: {why}")
    same = {id(part) for part in own}
    return [part._replace(name=meant) if id(part) in same else part for part in parts]


def _differs(numbers: Matrix) -> bool:
    """Return whether numbers are not all equal."""
    return bool((numbers != numbers[:1]).any())


def _is_unmasked(values: Matrix, masked: Matrix) -> bool:
    """Return whether scores are written wherever the mask forbids them."""
    forbidden = np.isneginf(masked).ravel()
    if not forbidden.any() or values.size != forbidden.size:
        return False
    return bool((values.ravel()[forbidden] > MINUS_INFINITY_WRITTEN).all())


def _by_values(part: Part, there: set[str], expected: Expected, *, is_doubled: bool) -> str | None:
    """Return the step that most numbers under a name agree with, if few agree with their own."""
    options = [
        meant
        for name, meant in _ALSO
        if name == part.name and meant not in there and meant in expected.steps
    ]
    if sum(map(len, part.rows)) > max(np.size(each) for each in expected.steps.values()):
        return None  # more numbers than any step has
    values = matrix_of_entries([entries_of(part.rows)], "").values
    if is_doubled or not expected.fits(part.name, values):
        options = [name for name in expected.steps if name not in there]
    # if all numbers of a step are equal, as for scores times 0, agreement proves nothing
    options = [name for name in options if _differs(np.ravel(expected.steps.get(name, 0)))]
    if "S_masked" in options and _is_unmasked(values, expected.steps["S_masked"]):
        options.remove("S_masked")
    if not options:
        return None
    if "S_masked" in options and part.name in ("S", "S_scaled") and np.isneginf(values).any():
        return "S_masked" if np.isneginf(expected.steps["S_masked"]).any() else None
    own = expected.agreement(part.name, values)
    shares = {meant: expected.agreement(meant, values) for meant in options}
    best = max(shares, key=lambda each: shares[each])
    is_surely = own <= SURE and shares[best] == 1
    return best if is_surely or own < SURE < shares[best] else None
