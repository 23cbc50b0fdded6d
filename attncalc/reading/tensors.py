"""Safetensors, read strictly and without a library: eight bytes of length, a header, raw arrays.

The format is that of huggingface/safetensors: a JSON header with the type, shape and place of each
tensor. The format is small enough that a reader with a message for each error costs less than
checking the results of a library. No tensor is read before it is used.
"""

import json
import mmap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import amount
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.reading.files import TENSORS_LENGTH as LENGTH
from attncalc.reading.files import in_units, opened, refuse_found
from attncalc.reading.json_values import Pairs

MOST_HEADER = 16 * 2**20
"""The largest number of bytes of a header: the largest models have one or two million."""
MOST_AXES = 8
_PIECE = 2**22
"""The number of 16-bit floats that are converted at once."""
_METADATA = "__metadata__"
_bytes = partial(amount, noun="byte")
_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
    "I16": "<i2", "I8": "<i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "<u1",
    "BOOL": "<u1",
}  # fmt: skip
_HALVES = {"F16": "float16", "BF16": "bfloat16"}


class _Wrong(Exception):  # noqa: N818 - a reason, which the reader completes
    """Why a file cannot be read."""


class Entry(NamedTuple):
    """The header of a tensor: its type, its shape, and the place of its bytes."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


Content = bytes | mmap.mmap
_Read = tuple[int, dict[str, str], dict[str, Entry]]


class Tensors(Mapping[str, Matrix]):
    """The tensors of a safetensors file by name, each converted to an array on access.

    content: its content, in memory or mapped.
    path: the file, if there is one: each tensor is then mapped separately, so that its memory is
        freed with it.
    """

    def __init__(self, place: str, content: Content, path: Path | None = None) -> None:
        self.place = place
        self._path = path
        self._content = content if path is None else b""
        try:
            self._start, self.metadata, self.entries = _read_header(content)
        except _Wrong as why:
            raise InputError(f"{place}: cannot be read as safetensors: {why}") from None

    def __getitem__(self, name: str) -> Matrix:
        """Return a tensor; float16 and bfloat16 become float32, which represents them exactly."""
        dtype, shape, *_ = self.entries[name]
        if dtype not in _HALVES:
            return _in_numpy(dtype, self._kept(name)).reshape(shape)
        wide = np.empty(prod(shape), np.float32)
        for at in range(0, len(wide), _PIECE):  # so that no more of the file is in memory at once
            _widen(dtype, self._kept(name, at, _PIECE), wide[at : at + _PIECE])
        return wide.reshape(shape)

    def rows(self, name: str, places: Sequence[int]) -> Matrix:
        """Return some rows of a tensor; other rows of a large table are not read."""
        kept = self._kept(name).reshape(self.entries[name].shape)
        return _in_numpy(self.entries[name].dtype, kept[np.array(places)])

    def _kept(self, name: str, at: int = 0, most: int | None = None) -> Matrix:
        """Return numbers of a tensor from an offset on, without a copy."""
        entry = self.entries[name]
        kind = np.dtype(_TYPES[entry.dtype])
        count = prod(entry.shape) - at
        count = count if most is None else min(count, most)
        start = self._start + entry.start + at * kind.itemsize
        if not count:
            return np.zeros(0, kind)
        if self._path is None:
            return np.frombuffer(self._content, kind, count, start)
        with opened(self._path) as file:
            return np.memmap(file, kind, "r", start, count).view(np.ndarray)

    def __iter__(self) -> Iterator[str]:
        """Yield the names, as in the header."""
        return iter(self.entries)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a tensor of this name, without reading it."""
        return name in self.entries

    def __len__(self) -> int:
        """Return the number of tensors."""
        return len(self.entries)

    def halves(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the 16-bit types of these tensors."""
        kinds = dict.fromkeys(self.entries[name].dtype for name in names)
        return tuple(_HALVES[kind] for kind in kinds if kind in _HALVES)


def open_tensors(path: Path) -> Tensors:
    """Return the tensors of a file, which is mapped: unused parts are not read."""
    return Tensors(str(path), mapped(path), path)


def mapped(path: Path) -> Content:
    """Return the content of a file, of which only what is used is read."""
    refuse_found(path, may_link=True)
    with opened(path) as file:
        has_content = bool(path.stat().st_size)
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if has_content else b""


def _in_numpy(dtype: str, array: Matrix) -> Matrix:
    if dtype in _HALVES:
        wide = np.empty(array.shape, np.float32)
        _widen(dtype, array, wide)
        return wide
    return array != 0 if dtype == "BOOL" else array


def _widen(dtype: str, halves: Matrix, wide: Matrix) -> None:
    """Convert float16 or bfloat16 numbers to float32, without an array in between."""
    if dtype == "BF16":  # the upper half of a float32
        np.left_shift(halves, 16, out=wide.view("<u4"), dtype="<u4")
    else:
        wide[...] = halves


def _read_header(content: Content) -> _Read:
    """Return the offset of the tensors, and their entries, after all checks."""
    size = len(content)
    if size <= LENGTH:
        raise _Wrong(f"its {size} bytes hold no header: it is cut off")
    length = int.from_bytes(content[:LENGTH], "little")
    if length > size - LENGTH:
        raise _Wrong(
            f"its header should have {_bytes(length)}, and the file has {_bytes(size)}: it is "
            "damaged or cut off"
        )
    if length > MOST_HEADER:
        raise _Wrong(f"its header has {in_units(length)}, where {in_units(MOST_HEADER)} are read")
    start = LENGTH + length
    pairs = _parsed(content[LENGTH:start])
    entries = _entries(pairs, size - start)
    _check_places(entries, size - start)
    return start, _metadata(pairs), entries


def _metadata(pairs: Pairs) -> dict[str, str]:
    """Return the metadata of the file: texts by name."""
    said = next((value for name, value in pairs if name == _METADATA), Pairs())
    texts: dict[str, Any] = dict(said) if isinstance(said, Pairs) else {"": None}
    if not all(isinstance(text, str) for text in texts.values()):
        raise _Wrong(f"{_METADATA} in its header is not an object of texts")
    return texts


def _parsed(header: bytes) -> Pairs:
    try:
        content = json.loads(header.decode("utf-8"), object_pairs_hook=Pairs)
    except UnicodeDecodeError:
        raise _Wrong("its header is not UTF-8 text") from None
    except (ValueError, RecursionError):
        raise _Wrong("its header is not JSON") from None
    if not isinstance(content, Pairs):
        raise _Wrong("its header is not a JSON object")
    return content


def _entries(pairs: Pairs, size: int) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for name, said in pairs:
        if name in entries:
            raise _Wrong(f"its header names {quoted(name)} twice")
        if name != _METADATA:
            entries[name] = _entry(name, said, size)
    return entries


def _entry(name: str, said: Any, size: int) -> Entry:
    """Return the entry of a tensor, after a check that it fits in the file."""
    fields = dict(said) if isinstance(said, Pairs) else {}
    said_of: list[Any] = [fields.get(key) for key in ("dtype", "shape", "data_offsets")]
    dtype, shape, offsets = said_of
    called = quoted(name)
    if not (_are_counts(shape) and _are_counts(offsets) and len(offsets) == 2):
        raise _Wrong(f"{called} has no dtype, shape and data_offsets in its header")
    if not isinstance(dtype, str) or dtype not in _TYPES:
        raise _Wrong(f"{called} is of type {quoted(str(dtype))}: read are {', '.join(_TYPES)}")
    if len(shape) > MOST_AXES:
        raise _Wrong(f"{called} has {len(shape)} dimensions, where {MOST_AXES} are read")
    start, end = offsets
    needed = prod(shape) * np.dtype(_TYPES[dtype]).itemsize
    if not start <= end <= size:
        raise _Wrong(
            f"{called} should be bytes {start:,} to {end:,}, and {size:,} follow the header: it is "
            "damaged or cut off"
        )
    if end - start != needed:
        axes = " × ".join(map(str, shape)) or "one number"
        raise _Wrong(
            f"{called} is {axes} of {dtype}, which takes {_bytes(needed)}, and should have "
            f"{_bytes(end - start)}"
        )
    return Entry(dtype, tuple(shape), start, end)


def _are_counts(given: Any) -> bool:
    """Return whether a value is a list of whole numbers from 0."""
    return isinstance(given, list) and all(
        type(each) is int and 0 <= each < 2**63 for each in given
    )


def _check_places(entries: Mapping[str, Entry], size: int) -> None:
    """Refuse tensors that share bytes, and bytes that belong to none."""
    placed = sorted(((each.start, each.end, name) for name, each in entries.items()))
    filled = [each for each in placed if each[1] > each[0]]
    for (_, end, name), (start, _, other) in pairwise(filled):
        if start < end:
            raise _Wrong(f"{quoted(name)} and {quoted(other)} overlap in the file")
    used = sum(end - start for start, end, _ in filled)
    if used != size:
        raise _Wrong(f"{_bytes(size - used)} of it belong to no tensor")
