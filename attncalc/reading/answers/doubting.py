"""Doubts about the reading of a step, from all numbers of an answer together.

A step that disagrees with the key is a mistake of the student, or a misreading. It is searched once
more in all numbers that no other step uses. If it is not found, and the rest of the answer
contradicts the reading, the step is listed as not read: nobody is accused of it.
"""

from collections.abc import Callable, Mapping

import numpy as np

from attncalc.base.types import Matrix
from attncalc.problem.fields import own_name
from attncalc.reading.answers.answer import Unread, WrittenMatrix
from attncalc.reading.answers.cuts import near
from attncalc.reading.answers.expected import Expected
from attncalc.reading.answers.keeping import Collected

SOUND = 0.5
"""The share of right entries above which a wrong entry is a mistake, and not a misreading."""
LEAST = 2
"""The smallest number of entries of a later step that contradicts an earlier one."""
OFF = 0.05
"""How far a weight, or its share of the sum of a row, may be off by rounding."""

Search = Callable[[Mapping[str, WrittenMatrix]], Mapping[str, WrittenMatrix]]
"""Searches the steps that are missing in a reading, in numbers that no step of it uses."""


def questioned(
    matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected, search: Search
) -> dict[str, WrittenMatrix]:
    """Return the matrices, with doubtful ones read elsewhere or listed as not read."""
    read = dict(matrices)
    follows = _follows(read, expected)
    for name in [n for n in expected.steps if n in read]:
        if not _is_off(name, read[name], expected, follows):
            continue
        taken, remarks = [*found.taken], [*found.remarks]
        unread = [*found.unread]
        others = {n: each for n, each in read.items() if n != name}
        found.taken[:] = [each for each in taken if each.step != name]
        other = search(others).get(name)
        if other is not None and _agrees(other, expected.steps[name]):
            read[name] = other
            continue
        found.taken[:], found.remarks[:], found.unread[:] = taken, remarks, unread
        if why := _contradiction(name, read, expected):
            line = next((each.line for each in taken if each.step == name), 0)
            text = "; ".join(each.text for each in taken if each.step == name)[:200]
            found.unread.append(Unread(line, text, f"it may not be {name}: {why}", True))
            del read[name]
    return read


def _is_off(
    name: str, written: WrittenMatrix, expected: Expected, follows: Mapping[str, Matrix]
) -> bool:
    """Return whether a step disagrees with the key and with what follows, as no slip does."""
    keys = [each for each in (expected.steps[name], follows.get(name)) if each is not None]
    return max(_share(written, key) for key in keys) <= SOUND


def _share(written: WrittenMatrix, key: Matrix) -> float:
    """Return the share of entries that agree with a key, of those that were written."""
    if written.shape != key.shape:
        return 0.0
    is_there = ~np.isnan(written.values)
    return float(near(written.values, key)[is_there].mean()) if is_there.any() else 1.0


def _agrees(written: WrittenMatrix, key: Matrix) -> bool:
    return written.shape == key.shape and bool(near(written.values, key).all())


def _follows(read: Mapping[str, WrittenMatrix], expected: Expected) -> Mapping[str, Matrix]:
    """Return the steps that follow from an answer's own matrices."""
    own = {
        n: each.values for n, each in read.items()
        if each.shape == expected.shape(n) and not np.isnan(each.values).any()
    }  # fmt: skip
    found: dict[str, Matrix] = {}
    for name in expected.steps:  # from the steps before it, and not from itself
        if name in own and expected.follows is not None:
            rest = {n: each for n, each in own.items() if n != name}
            found[name] = expected.follows(rest).get(name, expected.steps[name])
    return found


def _contradiction(name: str, read: Mapping[str, WrittenMatrix], expected: Expected) -> str:
    """Return why a reading is impossible beside the rest of the answer, or ""."""
    written, key = read[name], expected.steps[name]
    if written.shape == key.shape and expected.follows is not None:
        if np.isnan(written.values).any():
            return ""
        of_it = expected.follows({name: written.values})
    else:
        of_it = {}
    order = [*expected.steps]
    for later in order[order.index(name) + 1 :]:
        if later not in read or expected.steps[later].size < LEAST:
            continue
        if _agrees(read[later], expected.steps[later]) and (
            not of_it or (later in of_it and not near(of_it[later], expected.steps[later]).all())
        ):
            return f"{later} is right, and does not follow from it"
    if own_name(name) == "A" and written.shape == key.shape and _are_no_weights(written, key):
        return "these are no weights"
    return ""


def _are_no_weights(written: WrittenMatrix, key: Matrix) -> bool:
    """Return whether numbers are outside 0 to 1, where those of the key sum to 1 in rows."""
    values = written.values
    is_share = np.allclose(key.sum(axis=-1), 1)
    return is_share and bool((values < -OFF).any())
