"""Names that people use for different steps: resolved by the plan and by values."""

from collections import Counter

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.expected import (
    MINUS_INFINITY_WRITTEN,
    SCORES,
    Expected,
    are_weights,
    is_multiple,
    share_alike,
)
from attncalc.reading.answers.keeping import Collected
from attncalc.reading.answers.parts import Part, matrix_of

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
_AFTER = ("S", "S_scaled", "S_masked", "S_capped", "A", "H", "C", "O")
"""Steps that words confuse: a matrix under one of these names may be another of them."""
SURE = 0.5
NEARLY = 0.75
FEW = 3
"""The largest number of entries that may agree with another step by chance."""
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
    parts = _weights_among_scores(parts, expected, found)
    for _ in range(PASSES):
        parts = _named_by_values(parts, expected, found)
    return _named_by_following(_pieces_by_values(parts, expected, found), expected, found)


def _weights_among_scores(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return the parts with wrong scores renamed to missing weights, if they sum to 1."""
    wholes = [each for each in parts if each.is_whole]
    if "A" not in expected.steps or any(
        each.name == "A" and expected.fits("A", each.values) for each in wholes
    ):
        return parts
    for name in SCORES:
        own = [each for each in wholes if each.name == name]
        sides = [(part.values, part.values.T) for part in own]
        are_off = all(expected.agreement(name, e) <= SURE for both in sides for e in both)
        have_decimals = any((each != np.round(each)).any() for each, _ in sides)
        if have_decimals and are_off and all(any(map(are_weights, both)) for both in sides):
            return _renamed(parts, own, "A", "its rows or columns sum to 1", found)
    return parts


def _named_by_following(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return the parts with a matrix renamed to the missing step that follows from the others.

    "S = QKᵀ, and S = S/√2", or "A.V" under the name V: the second has the numbers of a step that
    follows from the answer's own values before it, right or wrong.
    """
    own, there = dict[str, Matrix](), {each.name for each in parts}
    for part in parts[:MOST]:
        if part.name not in expected.steps or not part.is_whole or part.head:
            continue
        values, before = part.values, dict(own)
        if part.name not in own and expected.is_whole(part.name, values):
            own[part.name] = values
            if part.name not in _AFTER or expected.agreement(part.name, values) > SURE:
                continue
        if meant := _following(part.name, values, before, there, expected):
            parts = _renamed(parts, [part], meant, "it follows from the steps before it", found)
            there.add(meant)
    return parts


def _following(
    name: str, values: Matrix, before: dict[str, Matrix], there: set[str], expected: Expected
) -> str:
    """Return the missing step that follows from others, and has the numbers of a matrix, or ""."""
    followed = expected.follows(before).items()
    shares = {each: share_alike(values, other) for each, other in followed}
    if "S_scaled" in shares and is_multiple(values, before.get(name, values)):
        shares["S_scaled"] = 1.0
    missing = [each for each in shares if each in _AFTER and each not in there]
    meant = max(missing, key=lambda each: shares[each], default=name)
    is_nearly = shares.get(meant, 0) >= NEARLY and shares[meant] > shares.get(name, 0)
    return meant if is_nearly and _differs(np.ravel(values)) else ""


def _named_by_values(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return the parts, renamed if their numbers agree with another step."""
    wholes = Counter(part[:2] for part in parts if part.is_whole)
    there = {each.name for each in parts}
    for part in (each for each in parts[:MOST] if each.is_whole):
        is_doubled = wholes[part[:2]] + wholes[part.name, 0] * (part.head > 0) > 1
        if meant := _by_values(part, there, expected, is_doubled=is_doubled):
            heads = [
                each
                for each in parts
                if each.name == part.name and each.head
                if wholes[part[:2]] < 2 or _is_best(meant, each, there, expected)
            ]
            parts = _renamed(parts, [part, *heads], meant, "", found)
            there = {each.name for each in parts}
    return parts


def _is_best(meant: str, part: Part, there: set[str], expected: Expected) -> bool:
    """Return whether a head agrees more with a step than with its own name or a missing step."""
    others = {part.name, *expected.steps} - there.difference([part.name]) - {meant}
    best = max(expected.agreement(each, part.values) for each in others)
    return expected.agreement(meant, part.values) > best


def _renamed(
    parts: list[Part], own: list[Part], meant: str, why: str, found: Collected
) -> list[Part]:
    """Return the parts with some of them renamed, and note it."""
    first, why = own[0], why or f"its numbers are those of {meant}"
    found.tell(first.line, f"{first.name} is read as {meant}, because {why}")
    lines = {(part.line, part.what) for part in own}
    for i, taken in enumerate(found.taken):
        if (taken.line, taken.what) in lines:
            what = taken.what.replace(first.name, meant, 1)
            found.taken[i] = taken._replace(
                what=what, how=f"{taken.how}; read as {meant}, because {why}"
            )
    same = {id(part) for part in own}
    return [part._replace(name=meant) if id(part) in same else part for part in parts]


def _differs(numbers: Matrix) -> bool:
    """Return whether numbers are not all equal."""
    return bool((numbers != numbers[:1]).any())


def _is_unmasked(values: Matrix, masked: Matrix) -> bool:
    """Return whether scores are written wherever the mask forbids them."""
    if not values.size or masked.size % values.size:
        return False
    heads = np.isneginf(masked).reshape(-1, values.size)  # one head, or all of them
    written = values.ravel() > MINUS_INFINITY_WRITTEN
    return any(mask.any() and bool(written[mask].all()) for mask in heads)


def _pieces_by_values(parts: list[Part], expected: Expected, found: Collected) -> list[Part]:
    """Return the parts, with rows and entries renamed if all of them agree with another step."""
    there = {each.name for each in parts}
    for name in sorted(there.intersection(expected.steps)):
        own = [part for part in parts if part.name == name and not part.head]
        if any(part.is_whole for part in own) or not own:
            continue
        others = [each for each in _AFTER if each in expected.steps and each not in there]
        for again in _repetitions(own):
            values = matrix_of(again, expected.shape(name), expected.by_columns).values
            meant = next((e for e in others if _agreement(e, values, expected) == 1), None)
            if meant and _agreement(name, values, expected) <= SURE:
                parts = _renamed(parts, again, meant, "", found)
                others.remove(meant)
                own = [part for part in own if part not in again]
        options = [meant for each, meant in _ALSO if each == name and meant in others]
        values = matrix_of(own, expected.shape(name), expected.by_columns).values
        if _agreement(name, values, expected) > SURE or np.isfinite(values).sum() < len(own):
            continue
        if meant := next((e for e in options if _agreement(e, values, expected) == 1), None):
            parts = _renamed(parts, own, meant, "", found)
    return parts


def _repetitions(own: list[Part]) -> list[list[Part]]:
    """Return the rows or entries that are written again, if all are: s_11 for S and S/√d_k.

    Each time, they begin with the same one; others may be written again to correct them.
    """
    sets = list[list[Part]]()
    for part in own:
        if not sets or (part.row, part.column) == (own[0].row, own[0].column):
            sets.append([])
        sets[-1].append(part)
    places = [{(part.row, part.column) for part in each} for each in sets]
    return sets[1:] if all(each == places[0] for each in places) else []


def _agreement(name: str, values: Matrix, expected: Expected) -> float:
    """Return the share of the written numbers that agree with a step: of some rows, of half."""
    is_written = ~np.isnan(values)
    if is_written.all() or not is_written.any():
        return expected.agreement(name, values)
    return expected.agreement(name, values) * values.size / int(is_written.sum())


def _by_values(part: Part, there: set[str], expected: Expected, *, is_doubled: bool) -> str | None:
    """Return the step that most numbers under a name agree with, if few agree with their own."""
    options = [
        meant
        for name, meant in _ALSO
        if name == part.name and meant not in there and meant in expected.steps
    ]
    if sum(map(len, part.rows)) > max(np.size(each) for each in expected.steps.values()):
        return None  # more numbers than any step has
    values = part.values
    if is_doubled or not expected.fits(part.name, values):
        options = [name for name in expected.steps if name not in there]
    elif values.size > FEW and part.name in _AFTER:
        others = [name for name in _AFTER if name in expected.steps and name not in there]
        options += [name for name in others if expected.agreement(name, values) == 1]
    # if all numbers of a step are equal, as for scores times 0, agreement proves nothing
    options = [name for name in options if _differs(np.ravel(expected.steps.get(name, 0)))]
    are_masked = bool(np.isneginf(values).any())  # even if not where they should be
    masked = expected.steps.get("S_masked", values[:0])
    if "S_masked" in options and not are_masked and _is_unmasked(values, masked):
        options.remove("S_masked")
    if not options:
        return None
    if "S_masked" in options and part.name in SCORES and are_masked:
        finite = np.where(np.isneginf(values), np.nan, values)
        own, other = (_agreement(n, finite, expected) for n in (part.name, "S_masked"))
        is_early = part.name == "S" and own > other and not is_doubled
        has_mask = np.isneginf(expected.steps["S_masked"]).any()
        return "S_masked" if has_mask and not is_early else None
    own = _agreement(part.name, values, expected)
    if is_doubled and part.name == "S_masked" and _is_unmasked(values, expected.steps[part.name]):
        own = 0
    shares = {meant: _agreement(meant, values, expected) for meant in options}
    best = max(shares, key=lambda each: shares[each])
    is_surely = own <= SURE and shares[best] == 1
    return best if is_surely or own < SURE < shares[best] else None
