"""Answers as NumPy arrays: a step under each name, from a program."""

from dataclasses import replace
from math import prod

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.types import Matrix
from attncalc.problem.fields import SETTINGS
from attncalc.reading.answers.answer import (
    Answer,
    Unread,
    WrittenMatrix,
    is_sparse,
    matrix_of_entries,
    matrix_of_floats,
    not_filled,
)
from attncalc.reading.answers.parts import from_one
from attncalc.reading.answers.raw import MOST_HEADS, is_given, unread
from attncalc.reading.cells import Faults
from attncalc.reading.names import canonical
from attncalc.reading.naming.keys import name_of_key
from attncalc.reading.naming.name import Name
from attncalc.reading.npz_file import OWN, load_arrays
from attncalc.reading.plain.numerals import read_entry

STATES = {
    "query_states": "Q",
    "key_states": "K",
    "value_states": "V",
    "attention_probs": "A",
    "attn_probs": "A",
    "attention_scores": "S",
    "context_layer": "H",
}
"""Names of steps in the code of frameworks."""


def read_npz_answer(data: bytes, place: str) -> Answer:
    """Return the answer of an `.npz` file; batches of one are removed."""
    arrays = load_arrays(data, Faults(place))
    if isinstance(arrays, np.ndarray):
        raise InputError(f"{place}: one array without a name: give an .npz file, as Q=…, A=…")
    not_read: list[Unread] = []
    found: dict[str, dict[int, Matrix]] = {}
    for key, array in arrays.items():
        name = name_of_key(STATES.get(key, key))
        is_of_problem = canonical(key) in SETTINGS or key.startswith("labels ")
        if key == OWN or (OWN in arrays and (name is None or is_of_problem)):
            continue  # the settings and texts of attncalc's own output
        if name is None:
            shape = " × ".join(map(str, array.shape))
            may_be = array.ndim > 1 and array.dtype.kind in "biuf"
            what = unread(key, f"{shape or 'one'} of {array.dtype}")
            not_read.append(what._replace(could_be_matrix=may_be))
        elif not is_given(name.matrix):
            _keep(found, name, array, not_read)
    matrices = {name: _joined(heads) for name, heads in found.items()}
    return Answer(place, matrices, None, unread=tuple(not_read))


def _keep(
    found: dict[str, dict[int, Matrix]], name: Name, array: Matrix, not_read: list[Unread]
) -> None:
    what, head = name.matrix, name.head or name.number or name.row
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    dimensions = (2,) if head else (2, 3)
    if array.dtype.kind == "U" and array.ndim in dimensions and array.size:
        found.setdefault(what, {})[head] = array
        return
    if array.ndim == 1:
        array = array[np.newaxis]
    if array.dtype.kind not in "biuf" or array.ndim not in dimensions or not array.size:
        why = f"{array.ndim} dimensions of {array.dtype}, where numbers are needed"
        not_read.append(unread(what, why, is_step=True))
    elif head > MOST_HEADS:
        not_read.append(unread(what, f"there is no head {head}", is_step=True))
    else:
        found.setdefault(what, {})[head] = array


def _joined(heads: dict[int, Matrix]) -> WrittenMatrix:
    if 0 in heads:
        return _matrix(heads[0])
    heads = dict(zip(from_one([*heads]), heads.values(), strict=True))
    shape = next(iter(heads.values())).shape
    if is_sparse(max(heads) * prod(shape), len(heads) * prod(shape)):
        why = f"head {max(heads)} is written, and of those before it {len(heads) - 1}"
        return not_filled(why, "")
    has_texts = any(each.dtype.kind == "U" for each in heads.values())
    blank = np.full(shape, "" if has_texts else np.nan)
    listed = [heads.get(number, blank) for number in range(1, max(heads) + 1)]
    if any(each.shape != shape for each in listed):
        return replace(_matrix(listed[0]), problem="its heads differ in size")
    return _matrix(np.array(listed))


def _matrix(array: Matrix) -> WrittenMatrix:
    """Return the matrix of numbers, or of texts that are numbers as typed: 1/3."""
    if array.dtype.kind != "U":
        return matrix_of_floats(array)
    heads = array if array.ndim == 3 else array[np.newaxis]
    entries = [[[read_entry(str(cell)) for cell in row] for row in head] for head in heads]
    return matrix_of_entries(entries, "")
