"""Compares two dumps, with the first as the key: differences, and layouts."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from attncalc.base.types import Matrix
from attncalc.reading.answers.expected import MINUS_INFINITY_WRITTEN

AXES = {
    (0, 1, 2): "",
    (1, 0, 2): "its first two axes are exchanged",
    (0, 2, 1): "its last two axes are exchanged",
    (2, 1, 0): "its first and last axes are exchanged",
    (1, 2, 0): "its first axis is last",
    (2, 0, 1): "its last axis is first",
    (0, 1): "",
    (1, 0): "it is transposed",
    (0,): "",
}


class Compared(NamedTuple):
    """An array of the second dump, compared with that of the first.

    differ, entries: the number of entries with an error above the tolerance (all if shapes differ),
        and of all.
    worst: the place of the largest error; None if nothing could be compared.
    says: the layout of the second, the only head that differs, or the relation of all numbers to
        those of the first.
    """

    name: str
    shape: tuple[int, ...]
    differ: int
    entries: int
    absolute: float
    worst: tuple[int, ...] | None
    says: tuple[str, ...] = ()


def compared(
    key: Mapping[str, Matrix], other: Mapping[str, Matrix], atol: float, rtol: float
) -> tuple[Compared, ...]:
    """Compare the arrays that both dumps contain."""
    return tuple(
        _compared(name, key[name], other[name], atol, rtol) for name in key if name in other
    )


def _compared(name: str, right: Matrix, other: Matrix, atol: float, rtol: float) -> Compared:
    right, other = _of_one_batch(right), _of_one_batch(other)
    nearest: Compared | None = None
    for array, says in _forms(other, right.shape):
        found = _beside(name, right, array, atol, rtol)
        found = found._replace(says=(*says, *found.says))
        if not found.differ:
            return found
        nearest = nearest or found
    if right.ndim == 3 and other.shape == right.shape[1:]:
        says = ("averaged over the first axis, of heads: means are compared",)
        return _beside(name, right.mean(axis=0), other, atol, rtol)._replace(says=says)
    if nearest is None:
        said = f"{_size(other.shape)}, where the first has {_size(right.shape)}"
        return Compared(name, right.shape, right.size, right.size, np.inf, None, (said,))
    return nearest._replace(says=(*nearest.says, *_factor(right, other, atol, rtol)))


def _forms(other: Matrix, shape: tuple[int, ...]) -> Iterator[tuple[Matrix, tuple[str, ...]]]:
    """Yield an array in each layout that has a shape."""
    for axes, says in AXES.items():
        if len(axes) != other.ndim:
            continue
        turned = other.transpose(axes)
        said = (says,) if says else ()
        if turned.shape == shape:
            yield turned, said
        elif turned.ndim == len(shape) == 3 and turned.shape[1:] == shape[1:]:
            times, rest = divmod(len(turned), shape[0])
            if times > 1 and not rest and (turned == np.repeat(turned[::times], times, 0)).all():
                yield turned[::times], (*said, f"its heads are repeated {times} times, in turn")


def _beside(name: str, right: Matrix, other: Matrix, atol: float, rtol: float) -> Compared:
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(other - right)
        # a replacement of −∞ is equal to any other
        same = (other == right) | (_is_forbidden(right) & _is_forbidden(other))
        off = np.where(same, 0.0, np.where(np.isnan(off), np.inf, off))
        allowed = np.where(np.isfinite(right), atol + rtol * np.abs(right), 0.0)
    worst = tuple(int(i) for i in np.unravel_index(int(off.argmax()), off.shape))
    differs = off > allowed
    count = int(differs.sum())
    says: tuple[str, ...] = ()
    if right.ndim == 3 and count > 1:
        heads = np.flatnonzero(differs.any(axis=(1, 2)))
        if len(heads) == 1:
            says = (f"all in head {heads[0] + 1} (heads are the first axis)",)
    return Compared(name, right.shape, count, right.size, float(off.max()), worst, says)


def _is_forbidden(array: Matrix) -> Matrix:
    seen = np.abs(array[array > MINUS_INFINITY_WRITTEN])
    largest = float(seen[np.isfinite(seen)].max(initial=0.0))
    return np.asarray(array <= min(MINUS_INFINITY_WRITTEN, -10 * largest))


def _factor(right: Matrix, other: Matrix, atol: float, rtol: float) -> tuple[str, ...]:
    """Return the common factor of all numbers of two arrays, if there is one, as a clause."""
    if right.shape != other.shape:
        return ()
    counted = np.isfinite(right) & ~_is_forbidden(right)
    place = np.unravel_index(int(np.where(counted, np.abs(right), 0).argmax()), right.shape)
    if not right[place] or not np.isfinite(other[place] / right[place]):
        return ()
    factor = float(other[place] / right[place])
    scaled = np.where(_is_forbidden(right), right, right * factor)
    if factor == 0 or _beside("", scaled, other, atol, rtol).differ:
        return ()
    return (f"every number is {factor:.6g} times the first's",)


def _of_one_batch(array: Matrix) -> Matrix:
    wide = array.astype(np.float64)
    while wide.ndim > 2 and len(wide) == 1:
        wide = wide[0]
    return wide


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "one number"
