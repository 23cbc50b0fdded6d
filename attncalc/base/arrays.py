"""Arrays from objects of programs: lists of arrays, tensors of any library, numbers."""

from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix

DEEPEST = 3
"""The depth of nested lists that may contain arrays: heads, their rows, the entries of a row."""


class Owned(NamedTuple):
    """An array without other references that could change it: it is not copied.

    array: an array of floats, such as from a mapped file.
    """

    array: Matrix


def as_array(given: Any) -> Matrix:
    """Return an object as one array, with its numbers unchanged.

    Raises InputError if a tensor cannot become an array; the text is the reason, without a name
    before it. Raises TypeError, ValueError if lists differ in length, with numpy's message.

    given: an array, a tensor, a number, or lists of these. No library of tensors is imported:
        tensors are detached and moved to the CPU by their own methods, and types that numpy lacks
        (bfloat16) become float64.

    >>> as_array([np.eye(2), [[1, 2], [3, 4]]]).shape
    (2, 2, 2)
    """
    if isinstance(given, Owned):
        return given.array
    if _is_array(given):
        return _out_of(given)
    if _holds_arrays(given):  # numpy would iterate over them number by number
        return np.asarray([as_array(each) for each in given])
    return np.asarray(given)


def only_value(given: Any) -> Any:
    """Return the only value of an array of one; any other object is unchanged.

    >>> int(only_value(np.array([4]))), only_value("rows")
    (4, 'rows')
    """
    if not _is_array(given):
        return given
    array = _out_of(given)
    return array.reshape(())[()] if array.size == 1 else given


def _is_array(given: object) -> bool:
    return hasattr(given, "__array__") and not isinstance(given, np.generic)


def _holds_arrays(given: Any) -> bool:
    """Return whether a list, or the first of its lists, contains arrays."""
    for _ in range(DEEPEST):
        if not isinstance(given, list | tuple) or not given:
            return False
        if any(map(_is_array, given)):
            return True
        given = given[0]
    return False


def _out_of(given: Any) -> Matrix:
    if hasattr(type(given), "filled") and np.any(given.mask):
        raise InputError("has masked entries: fill them, or pass the mask as keep or ignore")
    try:
        for step in ("detach", "cpu"):  # out of the graph of gradients, off a device
            if hasattr(type(given), step):
                given = getattr(given, step)()
        array = _in_numpy(given)
    except Exception as why:  # any error of a library of tensors
        reason = str(why).partition("\n")[0]
        raise InputError(f"cannot be read as an array: {reason}") from None
    if array.dtype.kind == "V" and np.can_cast(array.dtype, np.float64):
        return array.astype(np.float64)  # bfloat16, as JAX and TensorFlow hand it over
    return array


def _in_numpy(tensor: Any) -> Matrix:
    try:
        return np.asarray(tensor)
    except (TypeError, RuntimeError):
        if not hasattr(type(tensor), "double"):
            raise
        return np.asarray(tensor.double())  # PyTorch hands over no bfloat16
