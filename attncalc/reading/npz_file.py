"""NumPy's own files: `.npy` with a matrix, `.npz` with a problem or a PyTorch layer. No pickles."""

import io
import warnings
import zipfile
from math import prod
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from attncalc.errors import InputError
from attncalc.numbers.typed import NotANumber, quoted, read_number
from attncalc.numbers.types import Matrix
from attncalc.problem.fields import KNOWN, MATRICES, SETTINGS
from attncalc.problem.serialising import from_texts
from attncalc.reading.cells import Faults
from attncalc.reading.files import in_units
from attncalc.reading.names import canonical, tell_unknown
from attncalc.reading.pickles import refuse_pickles

Fields = dict[str, Any]

ZIP, NPY = b"PK", b"\x93NUMPY"
_VERSIONS = ((1, 0), (2, 0), (3, 0))
MOST_MEMBERS = 1000
"""Arrays that one file may hold: one for each head of each step, and texts."""
MOST_UNPACKED, MOST_RATIO = 16 * 2**20, 20
"""Bytes that any file may unpack to, and how many times its own size beyond."""
MOST_SAID = 160
"""Letters of what numpy says of a file, which may quote all of it."""
OWN = "attncalc"
"""The array that tells our own output from other files: it holds the version."""
_TORCH_TOKENS = ("query", "key", "value")
_TORCH_WEIGHTS = {
    "q_proj_weight": "W_Q",
    "k_proj_weight": "W_K",
    "v_proj_weight": "W_V",
    "out_proj.weight": "W_O",
    "out_proj.bias": "b_O",
}
_TORCH_STATE = (*_TORCH_WEIGHTS, "in_proj_weight", "in_proj_bias")
_TORCH_HEADS = "num_heads"
_TORCH = (*_TORCH_TOKENS, *_TORCH_STATE, _TORCH_HEADS)
_HOW_TO_GIVE_HEADS = (
    "a PyTorch layer, and nothing says how many heads it has (no state dict does): add the array "
    f"{_TORCH_HEADS} to the file, or give --heads (in Python: read_problem(…, heads=…))"
)


def read_npz_problem(data: bytes, faults: Faults, changes: Fields | None = None) -> Fields:
    """Return the fields of a problem that an `.npz` file holds.

    Names are those of a problem, or those of the state dict of a `torch.nn.MultiheadAttention`
    beside its `query`, `key` and `value`. No state dict says how many heads the layer has: without
    `num_heads` in the file, or `heads` among the changes, it is refused.
    """
    arrays = load_arrays(data, faults)
    if isinstance(arrays, np.ndarray):
        raise InputError(f"{faults.place}: one array, where a problem is needed: give an .npz file")
    if OWN in arrays:
        return _own_fields(arrays, faults)
    fields = _torch_fields(arrays, faults)
    strange: list[str] = []
    for key, array in arrays.items():
        name = canonical(key)
        if key in _TORCH:
            continue
        if name is None:
            strange.append(key)
        elif name in fields:
            faults.add(f"{name} is given twice")
        else:
            fields[name] = array if name in (*MATRICES, *SETTINGS) else _setting(array)
    tell_unknown(strange, faults.add, (*KNOWN, *_TORCH))
    if not arrays.keys().isdisjoint(_TORCH_STATE) and "heads" not in _said(fields, changes or {}):
        faults.add(_HOW_TO_GIVE_HEADS)
    faults.raise_if_any()
    return fields


def _said(fields: Fields, changes: Fields) -> set[str]:
    """Return the names of the fields that have a value, in the file or beside it."""
    return {name for name, value in (fields | changes).items() if value is not None}


def _own_fields(arrays: dict[str, Matrix], faults: Faults) -> Fields:
    """Return the problem that attncalc's own output holds beside its steps and texts."""
    steps = np.ravel(arrays.get("steps", np.empty(0))).tolist()
    fields: Fields = {}
    labels: dict[str, Any] = {}
    for key, array in arrays.items():
        if key in steps:
            continue
        if key.startswith("labels "):
            labels[key.removeprefix("labels ")] = from_texts(array)
        elif key in MATRICES:
            typed = arrays.get(f"{key} typed")
            fields[key] = array if typed is None else _as_typed(key, typed, faults)
        elif key in KNOWN:
            fields[key] = from_texts(array) if key == "labels" else _setting(array)
    faults.raise_if_any()
    return fields | ({"labels": labels} if labels else {})


def _as_typed(name: str, texts: Matrix, faults: Faults) -> Matrix | None:
    """Return the numbers that texts stand for, exactly."""
    try:
        typed = np.array(from_texts(texts), dtype=object)
        return np.asarray(np.frompyfunc(read_number, 1, 1)(typed), dtype=object)
    except (NotANumber, TypeError) as reason:
        faults.add(f"{name} typed: {reason}")
        return None


def read_npy_matrix(name: str, data: bytes, faults: Faults) -> Matrix:
    """Return the matrix of an `.npy` file, or of an `.npz` file that holds it or nothing else."""
    arrays = load_arrays(data, faults)
    if isinstance(arrays, np.ndarray):
        return arrays
    named = [key for key in arrays if canonical(key) == name]
    if not named and len(arrays) != 1:
        raise InputError(f"{faults.place}: it holds {', '.join(arrays)}, and no {name}")
    return arrays[named[0] if named else next(iter(arrays))]


def load_arrays(data: bytes, faults: Faults) -> Matrix | dict[str, Matrix]:
    """Return the arrays of an `.npz` file by name, or the one array of an `.npy` file."""
    refuse_pickles(data, faults.place)
    try:
        with warnings.catch_warnings(action="ignore"):  # of headers that Python 2 wrote
            if data.startswith(ZIP):
                return _members(data, faults)
            return _array(io.BytesIO(data), len(data), faults)
    except (InputError, MemoryError):
        raise
    except Exception as why:  # a damaged header stops zipfile and numpy in a dozen ways
        raise InputError(
            f"{faults.place}: cannot be read as NumPy's arrays: {_reason(why)}"
        ) from None


def _reason(why: Exception) -> str:
    """Return why arrays cannot be read, in the words of zipfile or numpy where they have any."""
    said = str(why).partition("\n")[0]
    if "allow_pickle" in str(why):
        return "it holds Python objects, not numbers"
    if "encrypted" in said:
        return "it is encrypted: save it without a password"
    if isinstance(why, ValueError | OSError | EOFError | zipfile.BadZipFile | NotImplementedError):
        return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"
    return "its header is damaged"


def _members(data: bytes, faults: Faults) -> dict[str, Matrix]:
    """Return the arrays of a zip, once it is known that they are few and what they take."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise InputError(
                f"{faults.place}: {len(members):,} arrays, where a file may hold "
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
            # no more than is declared is read, even where that is a lie
            with archive.open(member) as file:
                arrays[name] = _array(file, member.file_size, faults, f", {name}")
        return arrays


def _array(file: IO[bytes], size: int, faults: Faults, name: str = "") -> Matrix:
    """Return the array of an `.npy` file of this size, after a look at what it says it holds."""
    start = file.read(len(NPY))
    if start != NPY:
        what = f"{quoted(name.removeprefix(', '))} in it" if name else "it"
        raise InputError(f"{faults.place}: {what} is no array of NumPy's")
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
            f"which the {in_units(size)} behind it cannot hold: it is damaged"
        )
    content = file.read(count * dtype.itemsize)
    array = np.frombuffer(content, dtype, count) if count and dtype.itemsize else None
    if array is None:
        return np.zeros(shape, dtype)
    return array.reshape(shape, order="F" if is_fortran else "C").copy()


def _setting(array: Matrix) -> Any:
    return array.tolist() if array.ndim else array.item()


def _torch_fields(arrays: dict[str, Matrix], faults: Faults) -> Fields:
    """Translate the state dict of a PyTorch layer: weights are stored (out, in) there."""
    for name in ("bias_k", "bias_v"):
        if name in arrays:
            faults.add(f"{name}: keys and values added by a layer (add_bias_kv) are not known here")
            del arrays[name]
    fields: Fields = {
        ours: arrays[theirs] for theirs, ours in _TORCH_WEIGHTS.items() if theirs in arrays
    }
    if _TORCH_HEADS in arrays:
        fields["heads"] = _setting(arrays[_TORCH_HEADS])
    for name, part in (("in_proj_weight", "W"), ("in_proj_bias", "b")):
        if name in arrays:
            thirds = _thirds(name, arrays[name], faults)
            fields |= {f"{part}_{ours}": third for ours, third in zip("QKV", thirds, strict=False)}
    if any(name.startswith("W_") for name in fields):
        fields["weights_layout"] = "torch"
    return fields | _torch_tokens(arrays)


def _thirds(name: str, stacked: Matrix, faults: Faults) -> list[Matrix]:
    """Return the parts for Q, K and V that PyTorch keeps in one array, or note why not."""
    if not stacked.ndim:
        faults.add(f"{name} is one number, where rows for Q, K and V are needed")
        return []
    if len(stacked) % 3:
        faults.add(f"{name}: its {len(stacked)} rows are not parts for Q, K and V")
        return []
    return list(np.split(stacked, 3))


def _torch_tokens(arrays: dict[str, Matrix]) -> Fields:
    given = {name: arrays[name] for name in _TORCH_TOKENS if name in arrays}
    query, key, value = (given.get(name) for name in _TORCH_TOKENS)
    same_value = value is None or _same(key, value)
    if query is not None and (key is None or _same(query, key)) and (value is None or same_value):
        return {"X": query}
    found = {"X1": query, "X2": key, "X3": None if same_value else value}
    return {name: array for name, array in found.items() if array is not None}


def _same(left: Matrix | None, right: Matrix | None) -> bool:
    return left is not None and right is not None and np.array_equal(left, right)
