"""Doubts about the reading of a step, from all numbers of an answer together.

A step that disagrees with the key is a mistake of the student, or a misreading. It is searched once
more in all numbers that no other step uses. If it is not found, and the rest of the answer
contradicts the reading, the step is listed as not read, and is not marked.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from attncalc.base.types import Matrix
from attncalc.problem.fields import own_name
from attncalc.reading.answers.answer import Taken, Unread, WrittenMatrix
from attncalc.reading.answers.cuts import Number, numbers_of
from attncalc.reading.answers.expected import Expected, are_weights, near, share_alike
from attncalc.reading.answers.keeping import Collected
from attncalc.reading.answers.map_order import is_ranked
from attncalc.reading.answers.prose import IN_SENTENCE
from attncalc.reading.answers.witness import is_side_by_side

SOUND = 0.5
"""The share of right entries above which a wrong entry is a mistake, and not a misreading."""
LONGEST = 200
"""The length of the text of a doubtful step in a list of what is not read."""
LEAST = 2
"""The smallest number of entries of a later step that contradicts an earlier one."""
OFF = 0.05
"""How far a weight, or its share of the sum of a row, may be off by rounding."""

_NAMES = {"its name", "its heading", "the words above it"}
"""The reasons for a step that are its name, and not its numbers."""

Search = Callable[[Mapping[str, WrittenMatrix]], Mapping[str, WrittenMatrix]]
"""Searches the steps that are missing in a reading, in numbers that no step of it uses."""


def questioned(
    matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected, search: Search
) -> dict[str, WrittenMatrix]:
    """Return the matrices, with doubtful ones read elsewhere or listed as not read."""
    follows = followed(matrices, expected)
    read = [name for name in expected.steps if name in matrices]
    hows: dict[str, set[str]] = {}
    for each in found.taken:
        hows.setdefault(each.step, set()).add(each.how)
    named = {
        name
        for name in read
        if hows.get(name, {""}) <= _NAMES
        and {*matrices[name].shape} == {*expected.steps[name].shape}
        and not _are_places(matrices[name], matrices, expected)
    }
    off = {
        name
        for name in read
        if not (name in named and hows[name] == {"its name"})
        and not is_side_by_side(matrices[name], expected.steps[name])
        and _is_off(name, matrices[name], expected, follows)
    }
    if not off:
        return dict(matrices)
    before = [*found.taken], [*found.unread], [*found.remarks]
    elsewhere = search(_without(off, matrices, found))
    right = {n for n in off if n in elsewhere and _is_right(n, elsewhere[n], expected)}
    lines, others = _lines_of(before[0]), _lines_of(found.taken)
    # numbers below a name are those of the step, unless they are a missing step or read otherwise
    instead = [own for name, own in others.items() if name in elsewhere and name not in matrices]
    right -= {
        n for n in right & named if others.get(n) != lines.get(n) and lines.get(n) not in instead
    }
    exchanged = {  # by the student: no reading exchanges two blocks with their names
        n
        for n in right
        for m in right
        if lines.get(n) != lines.get(m)
        and (others.get(n), others.get(m)) == (lines.get(m), lines.get(n))
    }
    off, right = off - exchanged, right - exchanged
    found.taken[:], found.unread[:], found.remarks[:] = before
    doubts = {n: _contradiction(n, matrices, expected) for n in off - right - named}
    doubted = {each for each in doubts if doubts[each]}
    lost = {
        name: [each for each in found.taken if each.step == name]
        for name in sorted(doubted, key=read.index)
    }
    again = right | doubted
    made = search(_without(again, matrices, found)) if again else matrices
    for name, own in lost.items():
        text = "; ".join(each.text for each in own)[:LONGEST]
        line = min((each.line for each in own), default=0)
        why = f"it may not be {name}: {doubts[name]}"
        found.unread.append(Unread(line, text, why, could_be_matrix=True))
    return dict(_without(doubted & {*made}, made, found))


def _lines_of(taken: Iterable[Taken]) -> dict[str, set[int]]:
    """Return the lines of each step."""
    lines: dict[str, set[int]] = {}
    for each in taken:
        lines.setdefault(each.step, set()).update(each.lines)
    return lines


def _without(
    names: set[str], matrices: Mapping[str, WrittenMatrix], found: Collected
) -> Mapping[str, WrittenMatrix]:
    """Return a reading without some steps, and remove the notes about them."""
    found.taken[:] = [each for each in found.taken if each.step not in names]
    said = tuple(f": read as {name}, " for name in names)
    found.remarks[:] = [each for each in found.remarks if not any(one in each for one in said)]
    return {name: each for name, each in matrices.items() if name not in names}


def leave_noise(
    matrices: Mapping[str, WrittenMatrix], expected: Expected, found: Collected
) -> None:
    """Note that unread numbers are no step, if all steps were read and none would be right by them.

    Numbers that repeat entries of the answer change nothing; an entry that disagrees with the key
    may be a misreading only if the number of the key is unread.
    """
    if not expected.steps or not all(name in matrices for name in expected.steps):
        return
    keys = {name: _laid_out(key, matrices[name]) for name, key in expected.steps.items()}
    if any(matrices[name].shape != key.shape for name, key in keys.items()):
        return
    off = [keys[name][~near(matrices[name].values, keys[name])] for name in keys]
    right = np.concatenate([each.ravel() for each in off])
    known = {value for each in matrices.values() for value in each.values.ravel().tolist()}
    for place, each in enumerate(found.unread):
        said = numbers_of(each.text)
        is_old = each.why == IN_SENTENCE and (_repeats(said, known) or _count(said))
        if is_old or not _would_be_right(said, right):
            found.unread[place] = each._replace(could_be_matrix=False)


def _would_be_right(said: list[Number], right: Matrix) -> bool:
    """Return whether half of some numbers are among right ones; counts are not: 1 2 3."""
    values = np.array([each.value for each in said])
    if not said or np.array_equal(values, np.arange(values.size) + 1):
        return False
    return bool(near(values[:, None], right[None, :]).any(axis=-1).mean() >= SOUND)


def _count(said: list[Number]) -> bool:
    """Return whether numbers are all those from 0 or 1 on, in any order: 1, 2, 1, 3."""
    values = {each.value for each in said}
    return any(values == {*range(start, start + len(values))} for start in (0, 1))


def _repeats(said: list[Number], known: set[float]) -> bool:
    """Return whether all decimals of a text are in the matrices of the answer."""
    decimals = {each.value for each in said if each.entry.decimals}
    return bool(decimals) and decimals <= known


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


def _is_right(name: str, written: WrittenMatrix, expected: Expected) -> bool:
    return share_alike(written.values, _laid_out(expected.steps[name], written)) == 1


def _laid_out(key: Matrix, written: WrittenMatrix) -> Matrix:
    """Return a step of the key with its heads side by side, if they are written so."""
    return np.hstack([*key]) if is_side_by_side(written, key) else key


def followed(read: Mapping[str, WrittenMatrix], expected: Expected) -> Mapping[str, Matrix]:
    """Return the steps that follow from an answer's own matrices."""
    own = expected.whole(read)
    found: dict[str, Matrix] = {}
    for name in expected.steps:  # from the steps before it, and not from itself
        if name in own:
            rest = {n: each for n, each in own.items() if n != name}
            found[name] = expected.follows(rest).get(name, expected.steps[name])
    return found


def _contradiction(name: str, read: Mapping[str, WrittenMatrix], expected: Expected) -> str:
    """Return why a reading is impossible beside the rest of the answer, or ""."""
    written, key = read[name], expected.steps[name]
    is_of_shape = written.shape == key.shape
    if is_of_shape and np.isnan(written.values).any():
        return ""
    # of another shape, anything that depends on it
    other = written.values if is_of_shape else key + np.arange(key.size).reshape(key.shape) + 1.0
    of_it = expected.follows({name: other})
    order = [*expected.steps]
    for later in order[order.index(name) + 1 :]:
        right = expected.steps[later]
        if later not in read or later not in of_it or right.size < LEAST:
            continue
        if _is_right(later, read[later], expected) and not near(of_it[later], right).all():
            return f"{later} is right, and does not follow from it"
    if own_name(name) == "A" and is_of_shape and _are_no_weights(written, key):
        return "these are no weights"
    return "these are inputs of the map" if _are_places(written, read, expected) else ""


def _are_places(
    written: WrittenMatrix, read: Mapping[str, WrittenMatrix], expected: Expected
) -> bool:
    """Return whether rows are the places of the largest weights, as in a map: o_1 → 2, 1."""
    weights = read["A"].values if "A" in read else expected.steps.get("A", np.zeros(0))
    if not written.values.ndim == weights.ndim == 2 or len(weights) != len(written.values):
        return False
    if (np.ptp(weights, 1) <= OFF).any():
        return False
    counts = (written.values - first for first in (1, 0))  # of a program, from 0
    return any(
        bool(np.isin(places, range(weights.shape[1])).all())
        and all(map(is_ranked, places.astype(int).tolist(), weights))
        for places in counts
    )


def _are_no_weights(written: WrittenMatrix, key: Matrix) -> bool:
    """Return whether numbers are outside 0 to 1, where those of the key sum to 1 in rows."""
    values = written.values
    return are_weights(key) and bool((values < -OFF).any())
