"""Reading a given matrix: as floats, and as typed where floats are not exact."""

import numbers as abstract
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.arrays import as_array
from attncalc.base.errors import InputError
from attncalc.base.typed import NotANumber, Number, exact, read_number
from attncalc.base.types import Matrix
from attncalc.problem.fields import one_of, role_of

_EXACT = (Decimal, Fraction)
MOST_WHOLE = 2**53
"""Up to this number, float64 holds every whole one."""


class ReadMatrix(NamedTuple):
    """A matrix that was read.

    values: in floats; marks in booleans.
    typed: as typed, where floats are not exact.
    is_list: whether it was given as a list of numbers, and not as rows.
    """

    values: Matrix
    typed: Matrix | None
    is_list: bool


def read_matrix(
    name: str, given: Any, *, as_column: bool, kept: Matrix | None = None
) -> ReadMatrix:
    """Read a matrix: its floats, and the numbers as typed where floats are not exact.

    Raises InputError if it is no matrix, or an entry cannot be one; the message names its place.

    name: what messages call it; what its entries may be follows from it.
    given: rows of numbers, an array, or numbers of one row, which is a column if `as_column`.
    kept: the numbers as typed that an earlier reading kept: they stay while they equal the floats.
    """
    raw = _raw(name, given)
    is_own = isinstance(given, list | tuple)  # joined here: no other reference to this array
    values = _values(name, raw, is_own=is_own, as_column=as_column)
    return ReadMatrix(values, _typed(raw, values, kept), raw.ndim == 1)


def _raw(name: str, given: object) -> Matrix:
    """Return what is given as one array, its numbers as they are."""
    try:
        raw = as_array(given)
    except InputError as error:  # its text starts where the name ends
        raise InputError(f"{name} {error}") from None
    except (TypeError, ValueError, RecursionError):
        raise _no_matrix(name) from None
    if raw.dtype.kind in "UO" and raw.ndim and any(isinstance(each, str) for each in raw.flat):
        raw = _read_texts(name, raw)
    if raw.dtype.kind == "O" and raw.ndim and (raw == None).any():  # noqa: E711 - of each entry
        place = tuple(np.argwhere(raw == None)[0])  # noqa: E711
        raise InputError(f"{_where(name, place)}: None, but a number is needed")
    if raw.dtype.kind not in ("biufO" if role_of(name) == "marks" else "iufO"):
        raise _no_matrix(name)
    return raw


def _read_texts(name: str, raw: Matrix) -> Matrix:
    """Return an array with its texts read as those of files: "1/2" is a half."""
    numbers = raw.astype(object)
    for place in map(tuple, np.argwhere(np.ones(raw.shape))):
        if isinstance(numbers[place], str):
            try:
                numbers[place] = _read_text(name, numbers[place])
            except NotANumber as reason:
                raise InputError(f"{_where(name, place)}: {reason}") from None
    return numbers


def _read_text(name: str, text: str) -> Number:
    word, role = text.strip().lower().replace("−", "-"), role_of(name)
    if role == "marks" and word in ("true", "false"):
        return Decimal(word == "true")
    if (role == "scores" or name == "S") and word in ("-inf", "-infinity", "-∞"):
        return Decimal("-Infinity")
    return read_number(text)


def _where(name: str, place: tuple[int, ...]) -> str:
    head = f"{one_of(name)} {place[0] + 1}, " if len(place) == 3 else ""
    row = f"row {place[-2] + 1}, " if len(place) > 1 else ""
    return f"{name}, {head}{row}{'column' if row else 'entry'} {place[-1] + 1}"


def _no_matrix(name: str) -> InputError:
    return InputError(f"{name} is not a matrix of real numbers: give rows of equal length")


def _values(name: str, raw: Matrix, *, is_own: bool, as_column: bool) -> Matrix:
    """Return a read-only array of floats, or for marks of booleans."""
    try:
        numbers = raw.astype(np.float64) if raw.dtype == object else raw
        dtype: Any = np.float32 if numbers.dtype == np.float32 else np.float64
        dtype = np.bool_ if role_of(name) == "marks" else dtype
        values: Matrix = numbers.astype(dtype, copy=not is_own)
    except OverflowError:
        raise InputError(f"{name} has a number too large for float64") from None
    except (TypeError, ValueError):
        raise _no_matrix(name) from None
    if values.ndim == 1 and values.size:
        values = values[:, np.newaxis] if as_column else values[np.newaxis, :]
    if values.size == 0:
        raise InputError(f"{name} is empty: it needs at least one row and one column")
    if values.ndim not in (2, 3):
        raise InputError(f"{name} has {values.ndim} dimensions: a matrix has rows and columns")
    _check_entries(name, numbers.reshape(values.shape), values)
    values.flags.writeable = False
    return values


def _check_entries(name: str, numbers: Matrix, values: Matrix) -> None:
    """Refuse numbers that cannot be entries; `values` holds them as floats."""
    if role_of(name) == "marks":
        if numbers.dtype == np.bool_:  # large masks are: no array is made to look at them
            return
        right, why = values == numbers, "1 or 0 (true or false) is needed"
    elif role_of(name) == "scores" or name == "S":
        right, why = values < np.inf, "a number or -inf is needed"  # no number is less: nan is not
    else:
        right, why = np.isfinite(values), "a finite number is needed"
    if not right.all():
        place = tuple(np.argwhere(~right)[0])
        raise InputError(f"{_where(name, place)}: {numbers[place]:g}, where {why}")


def _typed(raw: Matrix, values: Matrix, kept: Matrix | None) -> Matrix | None:
    """Return the numbers as typed where floats are not exact, and else None."""
    if kept is not None and np.array_equal(kept.astype(values.dtype), values):
        return kept
    is_whole = raw.dtype.kind in "iu" and raw.dtype.itemsize == 8
    is_long = is_whole and (raw.max() > MOST_WHOLE or raw.min() < -MOST_WHOLE)
    if raw.dtype != object and not is_long:
        return None
    entries = raw.astype(object).reshape(values.shape)
    both = zip(entries.flat, values.flat, strict=True)
    if all(not isinstance(x, (*_EXACT, int)) or x == exact(float(value)) for x, value in both):
        return None
    typed: Matrix = np.frompyfunc(_as_number, 1, 1)(entries)
    typed.flags.writeable = False
    return typed


def _as_number(entry: Any) -> Number:
    if isinstance(entry, _EXACT):
        return entry
    return Decimal(int(entry)) if isinstance(entry, abstract.Integral) else exact(float(entry))
