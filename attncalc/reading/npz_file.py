"""NumPy's files: `.npy` with a matrix, `.npz` with a problem or a state dict. No pickles."""

import io
import warnings
import zipfile
from collections.abc import Mapping
from functools import partial
from math import prod
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from attncalc.base.errors import InputError
from attncalc.base.typed import NotANumber, quoted
from attncalc.base.types import Matrix
from attncalc.problem.fields import KNOWN, MATRICES, own_name
from attncalc.problem.serialising import from_texts
from attncalc.reading.cells import Faults, read_cell
from attncalc.reading.files import in_units, looks_like_tensors
from attncalc.reading.names import canonical, read_by_equations
from attncalc.reading.pickles import refuse_pickles
from attncalc.reading.state import read_state, setting_of
from attncalc.reading.tensors import Tensors

Fields = dict[str, Any]

ZIP, NPY = b"PK", b"\x93NUMPY"
_VERSIONS = ((1, 0), (2, 0), (3, 0))
MOST_MEMBERS = 1000
"""The largest number of arrays in one file: one for each head of each step, and texts."""
MOST_UNPACKED, MOST_RATIO = 16 * 2**20, 20
"""Bytes that any file may unpack to, and how many times its own size above that."""
MOST_SAID = 160
"""The largest number of letters quoted from a message of numpy, which may quote the file."""
OWN = "attncalc"
"""The array that identifies attncalc's output: it contains the version."""


def read_npz_problem(data: bytes, faults: Faults, changes: Fields | None = None) -> Fields:
    """Return the fields of the problem in an `.npz` or safetensors file.

    Names are those of a problem, or those of a state dict beside its tokens.
    """
    arrays = load_arrays(data, faults)
    if isinstance(arrays, np.ndarray):
        raise InputError(f"{faults.place}: one array, where a problem is needed: give an .npz file")
    if OWN in arrays:
        return _own_fields(arrays, faults)
    return read_state(arrays, faults, changes or {})


def _own_fields(arrays: Mapping[str, Matrix], faults: Faults) -> Fields:
    """Return the problem in attncalc's own output, without its steps and texts."""
    steps = np.ravel(arrays.get("steps", np.empty(0))).tolist()
    fields: Fields = {}
    labels: dict[str, Any] = {}

    def given(key: str) -> Matrix | None:
        typed = arrays.get(f"{key} typed")
        return arrays[key] if typed is None else _as_typed(key, typed, faults)

    for key, array in arrays.items():
        if key in steps:
            continue
        if key.startswith("labels "):
            labels[key.removeprefix("labels ")] = from_texts(array)
        elif key in MATRICES:
            fields[key] = given(key)
        elif key in KNOWN:
            fields[key] = from_texts(array) if key == "labels" else setting_of(array)
    read = read_by_equations(fields.get("equations"))
    for key in (each for each in arrays if each in read and each not in (*KNOWN, *steps)):
        fields["more"] = {**fields.get("more", {}), key: given(key)}
    faults.raise_if_any()
    return fields | ({"labels": labels} if labels else {})


def _as_typed(name: str, texts: Matrix, faults: Faults) -> Matrix | None:
    try:
        typed = np.array(from_texts(texts), dtype=object)
        read = partial(read_cell, own_name(name))  # scores may be -inf
        return np.asarray(np.frompyfunc(read, 1, 1)(typed), dtype=object)
    except (NotANumber, TypeError) as reason:
        faults.add(f"{name} typed: {reason}")
        return None


def read_npy_matrix(name: str, data: bytes, faults: Faults) -> Matrix:
    """Return the matrix of an `.npy` file, or of an `.npz` file with it or nothing else."""
    arrays = load_arrays(data, faults)
    if isinstance(arrays, np.ndarray):
        return arrays
    named = [key for key in arrays if canonical(key) == name]
    if not named and len(arrays) != 1:
        raise InputError(f"{faults.place}: it has {', '.join(arrays)}, and no {name}")
    return arrays[named[0] if named else next(iter(arrays))]


def load_arrays(data: bytes, faults: Faults) -> Matrix | Mapping[str, Matrix]:
    """Return the arrays of an `.npz` or safetensors file by name, or the one of an `.npy` file."""
    refuse_pickles(data, faults.place)
    if looks_like_tensors(data):
        return Tensors(faults.place, data)
    try:
        with warnings.catch_warnings(action="ignore"):  # of headers that Python 2 wrote
            if data.startswith(ZIP):
                return _members(data, faults)
            return _array(io.BytesIO(data), len(data), faults)
    except (InputError, MemoryError):
        raise
    except Exception as why:  # a damaged header makes zipfile and numpy fail in many ways
        raise InputError(
            f"{faults.place}: cannot be read as NumPy's arrays: {_reason(why)}"
        ) from None


def _reason(why: Exception) -> str:
    """Return why arrays cannot be read, in the words of zipfile or numpy if they have any."""
    said = str(why).partition("\n")[0]
    if "allow_pickle" in str(why):
        return "it has Python objects, not numbers"
    if "encrypted" in said:
        return "it is encrypted: save it without a password"
    if isinstance(why, ValueError | OSError | EOFError | zipfile.BadZipFile | NotImplementedError):
        return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"
    return "its header is damaged"


def _members(data: bytes, faults: Faults) -> dict[str, Matrix]:
    """Return the arrays of a zip, after a check of their number and size."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise InputError(
                f"{faults.place}: {len(members):,} arrays, where a file may contain "
                f"{MOST_MEMBERS:,}: keep those of the problem or the answer"
            )
        most = max(MOST_UNPACKED, MOST_RATIO * len(data))
        declared = sum(member.file_size for member in members)
        if declared > most:
            raise InputError(
                f"{faults.place}: its {in_units(len(data))} unpack to {in_units(declared)}, where "
                f"{in_units(most)} are allowed: save it with np.savez, which does not pack"
            )
        arrays: dict[str, Matrix] = {}
        for member in members:
            name = member.filename.removesuffix(".npy")
            # no more than the declared size is read, even if it is wrong
            with archive.open(member) as file:
                arrays[name] = _array(file, member.file_size, faults, f", {name}")
        return arrays


def _array(file: IO[bytes], size: int, faults: Faults, name: str = "") -> Matrix:
    """Return the array of an `.npy` file of this size, after a check of its header."""
    start = file.read(len(NPY))
    if start != NPY:
        what = f"{quoted(name.removeprefix(', '))} in it" if name else "it"
        raise InputError(f"{faults.place}: {what} is not an array of NumPy's")
    version = tuple(file.read(2))
    if version not in _VERSIONS:
        raise ValueError(f"it is of version {version[0]}, where 1 to 3 are read")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read_header(file)
    if dtype.hasobject:
        raise ValueError("allow_pickle")
    count = prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize > size:
        raise InputError(
            f"{faults.place}{name}: its header says {' × '.join(map(str, shape))} of {dtype}, "
            f"which the {in_units(size)} behind it cannot contain: it is damaged"
        )
    content = file.read(count * dtype.itemsize)
    array = np.frombuffer(content, dtype, count) if count and dtype.itemsize else None
    if array is None:
        return np.zeros(shape, dtype)
    return array.reshape(shape, order="F" if is_fortran else "C").copy()
