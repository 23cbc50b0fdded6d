"""Safetensors files as tests write them, honest ones and ones that lie, by struct and json."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "int64": "I64",
    "int32": "I32",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}


def packed(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    """Return a file with this header, as an object or as bytes, and a length that may be a lie."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensors(metadata: dict[str, str] | None = None, **arrays: Any) -> bytes:
    """Return a file of these arrays; (dtype, shape, bytes) is of a type that numpy lacks."""
    header: dict[str, Any] = {"__metadata__": metadata or {"format": "pt"}}
    data = b""
    for name, given in arrays.items():
        if not isinstance(given, tuple):
            array = np.asarray(given, order="C")
            given = (TYPES[array.dtype.name], array.shape, array.tobytes())
        dtype, shape, raw = given
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": offsets}
        data += raw
    return packed(header, data)


def bfloat16(given: Any) -> tuple[str, tuple[int, ...], bytes]:
    """Return numbers as bfloat16: the upper halves of float32, cut off."""
    bits = np.asarray(given, dtype="<f4").view("<u4") >> 16
    return "BF16", bits.shape, bits.astype("<u2").tobytes()


def save_tensors(path: Path, **arrays: Any) -> Path:
    """Write a file of these arrays."""
    path.write_bytes(tensors(**arrays))
    return path
