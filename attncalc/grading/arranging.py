"""From a matrix as written to the layout of the plan: transposed, split into heads, checked."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from attncalc.base.types import Matrix
from attncalc.grading.key import Key
from attncalc.grading.slack import stands_for_minus_infinity
from attncalc.problem.standing import split_heads
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenMatrix
from attncalc.reading.answers.expected import MINUS_INFINITY_WRITTEN

MOST_CARRIED = 1000
"""The largest number of rows and columns of a matrix of another shape that later steps use."""
SMALLEST_CUT_SHORT = 10
"""From two digits on, a whole number may be a truncated one."""


def arranged(
    key: Key, shape: tuple[int, ...], given: WrittenMatrix
) -> tuple[WrittenMatrix | None, str]:
    """Return a matrix in a shape, in the layout of the plan, or None and the error of its shape."""
    written = turned(key, given)
    if written.problem:
        return None, written.problem
    if len(shape) == 2:
        written = _without_one_head(written)
    if len(shape) == 3 and written.values.ndim == 2:
        if written.shape == (shape[1], shape[0] * shape[2]):
            written = written.arranged(partial(split_heads, heads=shape[0]))
        elif written.shape == (shape[0] * shape[1], shape[2]):  # weights (out, in) of all heads
            written = written.arranged(lambda matrix: matrix.reshape(shape))
        else:
            written = written.arranged(lambda matrix: matrix[np.newaxis])
    if len(shape) == 3 and written.shape[1:] == shape[1:] and len(written.values) < shape[0]:
        written = written.with_heads(shape[0])
    written = _without_names(written, shape)
    if written.shape != shape:
        return None, f"{_size(key, given.shape)} is written, where it is {_size(key, shape, True)}"
    return written, ""


def with_masked(
    key: Key, step: Step, given: WrittenMatrix, following: Callable[[Step], Matrix]
) -> WrittenMatrix:
    """Return a matrix with the masked entries inserted as they follow.

    They are left out, or they are -∞ before the step that masks them.
    """
    right = np.asarray(key.problem.standing.shown(key.shown[step.name]))
    texts = given.texts
    if texts is None or step.columns != "keys" or texts.shape != right.shape:
        return given
    missing = np.isnan(given.values)
    if not (missing | (given.values <= MINUS_INFINITY_WRITTEN)).any():
        return given
    if (texts[missing] != "").any():
        return given  # ? is not an entry that is left out
    forbidden = _forbidden(key, step, right)
    if step.role not in ("weights", "masked"):
        missing |= stands_for_minus_infinity(given.values, np.where(forbidden, -np.inf, right))
    if not missing.any():
        return given
    if given.problem:  # rows that end at the mask
        forbidden |= (right == 0) | np.isneginf(right)
    are_ends = (np.sort(missing, axis=-1) == missing).all()
    if (missing & ~forbidden).any() or (given.problem and not are_ends):
        return given
    right = np.asarray(key.problem.standing.shown(following(step)))
    shown = np.vectorize(lambda x: f"{x:g}")(right).astype(object)
    decimals = np.where(missing, key.problem.decimals, given.decimals)
    values = np.where(missing, right, given.values)
    texts = np.where(missing, shown, texts)
    return replace(given, values=values, decimals=decimals, texts=texts, problem="")


def _forbidden(key: Key, step: Step, right: Matrix) -> Matrix:
    """Return where a mask of the step's own attention excludes a key."""
    calculation = key.problem.calculation
    own = calculation.part_of(step.name).plan
    masked = [each.name for each in own if each.role == "masked" and each.name in key.shown]
    shown = (key.problem.standing.shown(key.shown[name]) for name in masked)
    found = [np.isneginf(each) for each in shown if each.shape == right.shape]
    return np.asarray(np.logical_or.reduce([np.zeros(right.shape, bool), *found]))


def _without_one_head(written: WrittenMatrix) -> WrittenMatrix:
    if written.values.ndim == 3 and len(written.values) == 1:
        return written.arranged(lambda matrix: matrix[0])
    return written


def in_own_shape(key: Key, step: Step, given: WrittenMatrix) -> WrittenMatrix | None:
    """Return a matrix of another shape than the key's if later steps can read it, or None.

    It must be complete, have as many heads as the key, and not be very large.
    """
    shape, written = key.shown[step.name].shape, turned(key, given)
    if len(shape) == 2:
        written = _without_one_head(written)
    elif written.values.ndim == 2 and written.shape[1] % shape[0] == 0:
        written = written.arranged(partial(split_heads, heads=shape[0]))
    is_whole = not written.problem and written.values.size and not np.isnan(written.values).any()
    alike = len(written.shape) == len(shape) and written.shape[:-2] == shape[:-2]
    return written if is_whole and alike and max(written.shape) <= MOST_CARRIED else None


def other_size(key: Key, step: Step, shape: tuple[int, ...]) -> str:
    """Return a message with the size of a matrix and of the key, if they differ."""
    right = key.shown[step.name].shape
    if shape == right:
        return ""
    return f"{_size(key, shape, True)} is written, where it is {_size(key, right, True)}"


def _without_names(written: WrittenMatrix, shape: tuple[int, ...]) -> WrittenMatrix:
    """Return a matrix without a row 1, 2, 3 … above it, or numbers of tokens around it."""
    if written.values.ndim != 2 or len(shape) != 2:
        return written
    rows, columns = written.shape
    if (rows, columns) == (shape[0] + 1, shape[1] + 1) and np.isnan(written.values[0, 0]):
        return written.arranged(lambda matrix: matrix[1:, 1:])
    counted = np.array_equal(written.values[0], np.arange(1, columns + 1))
    if (rows, columns) == (shape[0] + 1, shape[1]) and counted:
        return written.arranged(lambda matrix: matrix[1:])
    return written


def with_plain_whole_numbers(written: WrittenMatrix, asked: int) -> WrittenMatrix:
    """Read whole numbers exactly: 8 is 8.00, and not a truncated 8.3.

    Large ones in a matrix without any decimals may be truncated.
    """
    values, decimals = written.values, written.decimals
    has_decimals = bool((decimals[np.isfinite(values)] > 0).any())
    whole = (decimals == 0) & (has_decimals | (np.abs(values) < SMALLEST_CUT_SHORT))
    return replace(written, decimals=np.where(whole, asked, decimals))


def turned(key: Key, given: WrittenMatrix) -> WrittenMatrix:
    """Return a matrix with tokens as rows, in the layout of the plan."""
    if not key.problem.standing.by_columns:
        return given
    return given.arranged(key.problem.standing.shown)


def _size(key: Key, shape: tuple[int, ...], in_plan_form: bool = False) -> str:
    """Return a shape as text: 3 × 2, or 2 heads of 3 × 2."""
    *heads, rows, columns = shape
    if in_plan_form:
        rows, columns = key.problem.standing.pair(rows, columns)
    return f"{heads[0]} heads of {rows} × {columns}" if heads else f"{rows} × {columns}"
