"""Answers as NumPy's arrays: what a program dumped, a step under each name."""

from dataclasses import replace

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.typed import quoted
from attncalc.numbers.types import Matrix
from attncalc.problem.fields import MATRICES
from attncalc.reading.answers.answer import Answer, WrittenMatrix, matrix_of_floats
from attncalc.reading.answers.raw import MOST_HEADS, named
from attncalc.reading.cells import Faults
from attncalc.reading.naming.symbols import STEPS
from attncalc.reading.npz_file import OWN, load_arrays


def read_npz_answer(data: bytes, place: str) -> Answer:
    """Return the answer of an `.npz` file; batches of one are taken off."""
    arrays = load_arrays(data, Faults(place))
    if isinstance(arrays, np.ndarray):
        raise InputError(f"{place}: one array without a name: give an .npz file, as Q=…, A=…")
    faults: list[str] = []
    found: dict[str, dict[int, Matrix]] = {}
    for key, array in arrays.items():
        if key == OWN or (OWN in arrays and not named(key)):
            continue  # the settings and texts of our own output
        what = named(key)
        if what is None:
            faults.append(f"unknown name {quoted(key)}: it is no step")
        elif what[0] not in MATRICES or what[0] in STEPS:
            _keep(found, what, array, faults)
    matrices = {name: _joined(heads) for name, heads in found.items()}
    return Answer(place, matrices, None, tuple(faults))


def _keep(
    found: dict[str, dict[int, Matrix]], what: tuple[str, int], array: Matrix, faults: list[str]
) -> None:
    name, head = what
    while array.ndim > 2 and len(array) == 1:
        array = array[0]
    if array.ndim == 1:
        array = array[np.newaxis]
    if array.dtype.kind not in "biuf" or array.ndim not in (2, 3) or not array.size:
        faults.append(f"{name}: {array.ndim} dimensions of {array.dtype}, where numbers are needed")
        return
    if head > MOST_HEADS:
        faults.append(f"{name}: there is no head {head}")
        return
    found.setdefault(name, {})[head] = array


def _joined(heads: dict[int, Matrix]) -> WrittenMatrix:
    if 0 in heads:
        return matrix_of_floats(heads[0])
    shape = next(iter(heads.values())).shape
    blank = np.full(shape, np.nan)
    listed = [heads.get(number, blank) for number in range(1, max(heads) + 1)]
    if any(each.shape != shape for each in listed):
        return replace(matrix_of_floats(listed[0]), problem="its heads differ in size")
    return matrix_of_floats(np.array(listed))
