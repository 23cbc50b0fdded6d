"""Names for unnamed matrices: from their position, shape and values."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.problem.fields import own_name
from attncalc.reading.answers.copying import Copies
from attncalc.reading.answers.expected import MASKS, Expected, is_multiple, share_alike
from attncalc.reading.answers.keeping import Collected, Loose
from attncalc.reading.answers.parts import Part, values_of
from attncalc.reading.naming.layer_words import kind_of

ENOUGH_ALONE, ENOUGH = 1 / 3, 1 / 2
"""The share of numbers that must be right, if one step fits, and if several do.

With less, the mark could be worse than without the matrix.
"""


MOST = 200
"""The largest number of unnamed matrices that are named."""


class _Fit(NamedTuple):
    name: str
    head: int
    share: float


def place_loose(found: Collected, expected: Expected) -> None:
    """Name unnamed matrices if there is no doubt; others are not read."""
    written, copies = _Written(found), Copies(expected)
    for loose in found.loose[:MOST]:
        _place(loose, found, expected, written, copies)
    for loose in found.loose[MOST:]:
        _leave(loose, found, [], "")


def _place(
    loose: Loose, found: Collected, expected: Expected, written: "_Written", copies: Copies
) -> None:
    values = values_of(loose.grid.heads)
    fits = _fits(loose, values, found, expected, written)
    is_step = loose.after > 0 and any(fit.share == 1 for fit in fits)  # V = X, behind other steps
    if not is_step and (name := copies.is_copy(loose.grid)):
        _note(found, loose, name, "given, copied")
        return
    is_turned = not fits and values.ndim == 2 and values.shape[0] == 1 < values.shape[1]
    if is_turned and (fits := _fits(loose, values.T, found, expected, written)):
        grid = loose.grid
        loose.grid = grid._replace(heads=([[cell] for cell in grid.rows[0]],))
        values = values.T
        found.tell(loose.block.line, "this row is taken as a column")
    best = fits[0] if loose.kind and len(fits) == 1 else _best(fits)
    is_another = loose.own_name and best is not None and best.share == 1
    if (again := written.already(values)) and not is_another:
        _note(found, loose, again, f"{again} again")
    elif loose.is_correction and (name := _corrected(values, found, expected)):
        why = f"its numbers are those of {name}"
        _put(loose, _Fit(name, 0, 1), f"taken as {name}, corrected: {why}", found)
    elif best is None:
        _leave(loose, found, fits, copies.name_of(loose.grid))
    else:
        _put(loose, best, f"taken as {best.name}: {_why(loose, found, values, len(fits))}", found)


def _put(loose: Loose, best: _Fit, how: str, found: Collected) -> None:
    """Give a matrix its name, and note it."""
    part = Part(best.name, best.head, 0, 0, loose.grid.rows, loose.block.line)
    several = enumerate(loose.grid.heads, start=1) if len(loose.grid.heads) > 1 else ()
    parts = [part._replace(head=head, rows=rows) for head, rows in several] or [part]
    found.parts[loose.after : loose.after] = parts
    for other in found.loose:
        other.after += len(parts) * (other.after >= loose.after and other is not loose)
    _note(found, loose, part.what, how)
    found.tell(loose.block.line, how)


def _corrected(values: Matrix, found: Collected, expected: Expected) -> str:
    """Return the step that a correction corrects, by its numbers."""
    there = {part.name for part in found.parts if part.is_whole and not part.head}
    shares = {name: expected.agreement(name, values) for name in there}
    best = max(shares, key=lambda name: shares[name], default="")
    return best if best and shares[best] >= ENOUGH else ""


def _fits(
    loose: Loose, values: Matrix, found: Collected, expected: Expected, written: "_Written"
) -> list[_Fit]:
    """Return the missing steps with this shape, between the steps around the matrix."""
    if loose.own_name and _is_of_loss(loose.own_name):
        return []
    there, partly = written.steps
    order = list(expected.steps)
    low, high = _between(loose, found, order)
    kind = kind_of(loose.own_name) if loose.own_name else loose.kind
    scores = [part for part in found.parts if own_name(part.name) == "S" and part.is_whole][-1:]
    fits = []
    for name in order[max(0, low + 1) : high]:
        key, own = expected.steps[name], own_name(name)
        if name in partly or (kind and not own.startswith(f"{kind}_")):
            continue
        if key.ndim == values.ndim and (name, 0) not in there:
            if key.shape == values.shape and _is_masked(key) == _is_masked(values):
                is_scaled = own == "S_scaled" and any(is_multiple(values, e.values) for e in scores)
                fits.append(_Fit(name, 0, 1.0 if is_scaled else share_alike(values, key)))
        elif key.ndim == 3 and values.ndim == 2:
            fits += [
                _Fit(name, h, share_alike(values, head))
                for h, head in enumerate(key, start=1)
                if head.shape == values.shape and not {(name, h), (name, 0)} & there
                if loose.head in (0, h)
            ]
    return fits


def _is_masked(matrix: Matrix) -> bool:
    """Return whether a matrix excludes entries."""
    return bool((matrix <= MASKS).any())


def _is_of_loss(own: str) -> bool:
    return len(own.strip()) > 60 or "loss" in own.lower() or "grad" in own.lower()


def _between(loose: Loose, found: Collected, order: list[str]) -> tuple[int, int]:
    """Return the positions in the plan of the steps before and after it."""
    low = _first_place(reversed(found.parts[: loose.after]), loose.head, order, -1)
    high = _first_place(found.parts[loose.after :], loose.head, order, len(order))
    if low >= high:  # the steps are not in order
        return -1, len(order)
    is_head = bool(found.parts) and any(p.head for p in found.parts)
    return (low - 1, high + 1) if is_head else (low, high)


def _first_place(parts: Iterable[Part], head: int, order: list[str], none: int) -> int:
    """Return the position in the plan of the first of these parts that has one, within its head."""
    own = (p.name for p in parts if p.name in order and (not head or p.head == head))
    return next(map(order.index, own), none)


def _best(fits: list[_Fit]) -> _Fit | None:
    if not fits:
        return None
    best = max(fits, key=lambda fit: fit.share)
    rivals = [fit for fit in fits if fit is not best and fit.share == best.share]
    enough = ENOUGH_ALONE if len(fits) == 1 else ENOUGH
    return None if best.share < enough or rivals else best


def _why(loose: Loose, found: Collected, values: Matrix, count: int) -> str:
    size = f"is {values.shape[-2]} × {values.shape[-1]}"
    before = found.parts[loose.after - 1].name if loose.after and found.parts else ""
    after = found.parts[loose.after].name if loose.after < len(found.parts) else ""
    where = f"follows {before} and " if before else f"precedes {after} and " if after else ""
    by_values = ", and its numbers are nearest to it" if count > 1 else ""
    return f"it {where}{size}{by_values}"


class _Written:
    """The matrices written before, by their numbers, each indexed once."""

    def __init__(self, found: Collected) -> None:
        self._found = found
        self._known: set[int] = set()
        self._names: dict[tuple[tuple[int, ...], bytes], str] = {}

    @property
    def steps(self) -> tuple[set[tuple[str, int]], set[str]]:
        """The steps and heads with an entire matrix, and those with a part."""
        whole = {(part.name, part.head) for part in self._found.parts if part.is_whole}
        return whole, {part.name for part in self._found.parts if not part.is_whole}

    def already(self, values: Matrix) -> str:
        """Return the step written before with the same numbers, or its transpose."""
        if values.size < 2 or np.isnan(values).any():
            return ""
        for part in self._found.parts:
            if part.is_whole and id(part) not in self._known:
                self._known.add(id(part))
                for each in (own := part.values, np.swapaxes(own, -1, -2)):
                    self._names.setdefault(_numbers(each), part.name)
        return self._names.get(_numbers(values), "")


def _numbers(values: Matrix) -> tuple[tuple[int, ...], bytes]:
    """Return a key that identifies a matrix by its numbers; -0 is 0."""
    return values.shape, (values + 0.0).tobytes()


def _note(found: Collected, loose: Loose, what: str, how: str) -> None:
    found.note(loose.block.line, what, how, loose.block.text, loose.block.last)


def _leave(loose: Loose, found: Collected, fits: list[_Fit], like: str) -> None:
    own = loose.own_name.strip()
    why = f'unknown name "{own[:40]}": it is not a step' if own else "it has no name"
    if loose.given:
        own = why = f"{loose.given} has other numbers in this problem"
    elif like:
        why += f"; it looks like {like}, with other numbers"
    elif len(fits) == 1:
        why += f"; it could be {fits[0].name}, but few of its numbers are those of {fits[0].name}"
    elif fits:
        names = list(dict.fromkeys(fit.name for fit in fits))
        why += f"; it could be {' or '.join(names)}"
    why += ": head it with one, as Q" if not own else ""
    found.leave(loose.block.line, loose.block.text, why)
