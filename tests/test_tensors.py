"""Safetensors: each type read as it is, and each wrong header refused with a message."""

import importlib.util
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import GOOD, Command, for_all
from tensor_files import TYPES, bfloat16, packed, save_tensors, tensors

from attncalc import InputError, read_problem
from attncalc.reading.files import in_units
from attncalc.reading.tensors import MOST_HEADER, Tensors, open_tensors

FLOATS = {name: np.array(matrix, dtype=float) for name, matrix in GOOD.items()}


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_is_read_unchanged(kind: str, tmp_path: Path) -> None:
    values = np.array([[0, 1, 0], [1, 1, 0]]).astype(kind)
    found = open_tensors(save_tensors(tmp_path / "a.safetensors", one=values, two=values[0]))
    assert list(found) == ["one", "two"]
    assert (found["one"] == values).all()
    assert found["two"].shape == (3,)
    kept = "float32" if kind == "float16" else kind
    assert found["one"].dtype == kept


def test_bfloat16_is_the_upper_half_of_a_float32() -> None:
    """1.5 is 0x3FC0, -2 is 0xC000, and 2^-126 the smallest of float32's normal numbers."""
    raw = struct.pack("<4H", 0x3FC0, 0xC000, 0x0080, 0x7F7F)
    found = Tensors("a", tensors(a=("BF16", (4,), raw)))["a"]
    assert found.dtype == np.float32
    assert found.tolist() == [1.5, -2.0, 2.0**-126, (2 - 2.0**-7) * 2.0**127]


def test_unused_tensors_are_not_read(tmp_path: Path) -> None:
    """A file of 64 GiB, most of it a hole: its one small tensor is there at once."""
    large, size = 2**36, 2**36 + 16
    header = {
        "large": {"dtype": "U8", "shape": [large], "data_offsets": [0, large]},
        "small": {"dtype": "F64", "shape": [2], "data_offsets": [large, size]},
    }
    path = tmp_path / "large.safetensors"
    start = packed(header)
    with path.open("wb") as file:
        file.write(start)
        file.seek(len(start) + large)
        file.write(struct.pack("<2d", 1.5, -2))
    assert open_tensors(path)["small"].tolist() == [1.5, -2]


@pytest.mark.parametrize("way", ["file", "stdin", "another ending"])
def test_a_problem_may_be_a_safetensors_file(way: str, attncalc: Command, tmp_path: Path) -> None:
    name = "in.npz" if way == "another ending" else "in.safetensors"
    path = save_tensors(tmp_path / name, **FLOATS)
    np.savez(tmp_path / "other.npz", **FLOATS)  # type: ignore[arg-type]
    expected = attncalc("self", "other.npz", "--only", "O", "--format", "json")
    read = ("-", path.read_bytes()) if way == "stdin" else (name, b"")
    run = attncalc("self", read[0], "--only", "O", "--format", "json", stdin=read[1])
    assert (run.code, run.out) == (0, expected.out)


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_halves_are_read_as_float32_and_reported(kind: str, tmp_path: Path) -> None:
    """1.2 in bfloat16, cut off, is 1.1953125, and in float16 1.2001953125."""
    made = {
        name: bfloat16(matrix) if kind == "bfloat16" else matrix.astype(np.float16)
        for name, matrix in (FLOATS | {"X": np.array([[1.2, 0], [0, 1]])}).items()
    }
    problem = read_problem(save_tensors(tmp_path / "in.safetensors", **made))
    assert problem.X[0, 0] == (1.1953125 if kind == "bfloat16" else 1.2001953125)
    assert problem.dtype == np.float32
    assert problem.remarks == (
        f"given in {kind}, read as float32, and computed in it where nothing else is wider",
    )


SMALL = {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}
LIES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "its 0 bytes hold no header: it is cut off"),
    "no header": (b"12345678", "its 8 bytes hold no header: it is cut off"),
    "a header longer than the file": (
        packed({"a": SMALL}, bytes(16), length=2**20),
        "its header should have 1,048,576 bytes, and the file has 86 bytes: it is damaged or "
        "cut off",
    ),
    "a header of 1 GB": (
        packed({"a": SMALL}, bytes(16), length=10**9),
        "its header should have 1,000,000,000 bytes, and the file has 86 bytes: it is damaged "
        "or cut off",
    ),
    "a header of more than 4 GB": (
        packed({"a": SMALL}, bytes(16), length=2**63),
        "its header should have 9,223,372,036,854,775,808 bytes, and the file has 86 bytes: "
        "it is damaged or cut off",
    ),
    "no JSON": (packed(b"{nothing}"), "its header is not JSON"),
    "JSON in JSON": (packed(b"[" * 9999), "its header is not JSON"),
    "no text": (packed(b"{\xff\xfe}"), "its header is not UTF-8 text"),
    "a list": (packed([SMALL]), "its header is not a JSON object"),
    "a name twice": (
        packed(
            b'{"a":{},"a":{}}'.replace(b"{}", b'{"dtype":"U8","shape":[0],"data_offsets":[0,0]}')
        ),
        'its header names "a" twice',
    ),
    "no shape": (
        packed({"a": {"dtype": "F64", "data_offsets": [0, 16]}}, bytes(16)),
        '"a" has no dtype, shape and data_offsets in its header',
    ),
    "a shape below 0": (
        packed({"a": SMALL | {"shape": [-2]}}, bytes(16)),
        '"a" has no dtype, shape and data_offsets in its header',
    ),
    "a shape of booleans": (
        packed({"a": SMALL | {"shape": [True, 2]}}, bytes(16)),
        '"a" has no dtype, shape and data_offsets in its header',
    ),
    "an unknown type": (
        packed({"a": SMALL | {"dtype": "F8_E4M3"}}, bytes(16)),
        '"a" is of type "F8_E4M3": read are F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, '
        "U8, BOOL",
    ),
    "offsets beyond the file": (
        packed({"a": SMALL}, bytes(8)),
        '"a" should be bytes 0 to 16, and 8 follow the header: it is damaged or cut off',
    ),
    "10 GB claimed in 1 kB": (
        packed(
            {"a": {"dtype": "F64", "shape": [1250000000], "data_offsets": [0, 10**10]}}, bytes(900)
        ),
        '"a" should be bytes 0 to 10,000,000,000, and 900 follow the header: it is damaged or '
        "cut off",
    ),
    "10 GB claimed in offsets of 16 bytes": (
        packed({"a": SMALL | {"shape": [1250000000]}}, bytes(16)),
        '"a" is 1250000000 of F64, which takes 10,000,000,000 bytes, and should have 16 bytes',
    ),
    "offsets the wrong way round": (
        packed({"a": SMALL | {"data_offsets": [16, 0]}}, bytes(16)),
        '"a" should be bytes 16 to 0, and 16 follow the header: it is damaged or cut off',
    ),
    "tensors that overlap": (
        packed({"a": SMALL, "b": SMALL | {"data_offsets": [8, 24]}}, bytes(24)),
        '"a" and "b" overlap in the file',
    ),
    "bytes of no tensor": (
        packed({"a": SMALL}, bytes(20)),
        "4 bytes of it belong to no tensor",
    ),
    "metadata that are no texts": (
        packed({"__metadata__": {"a": 1}, "a": SMALL}, bytes(16)),
        "__metadata__ in its header is not an object of texts",
    ),
    "nine dimensions": (
        packed({"a": SMALL | {"shape": [1] * 8 + [2]}}, bytes(16)),
        '"a" has 9 dimensions, where 8 are read',
    ),
}


@pytest.mark.parametrize("what", LIES)
def test_a_header_that_lies_is_refused_with_a_message(
    what: str, attncalc: Command, tmp_path: Path
) -> None:
    data, why = LIES[what]
    (tmp_path / "in.safetensors").write_bytes(data)
    run = attncalc("self", "in.safetensors", "-o", "out.md")
    assert (run.code, run.out) == (2, "")
    assert run.err == f"error: in.safetensors: cannot be read as safetensors: {why}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["in.safetensors"]


def test_a_header_of_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "in.safetensors"
    with path.open("wb") as file:
        file.write(struct.pack("<Q", 2**30) + b"{")
        file.truncate(2**30 + 8)
    with pytest.raises(InputError) as error:
        open_tensors(path)
    assert str(error.value) == (
        f"{path}: cannot be read as safetensors: its header has 1 GiB, where "
        f"{in_units(MOST_HEADER)} are read"
    )


def test_a_file_that_is_not_there_is_one_line(attncalc: Command) -> None:
    run = attncalc("self", "none.safetensors")
    assert (run.code, run.err) == (2, "error: none.safetensors: no such file\n")


@for_all("cut", range(0, 400, 23))
def test_a_file_cut_off_anywhere_is_refused(cut: int) -> None:
    whole = tensors(X=np.ones((3, 2)), W_Q=np.ones((2, 2)), empty=np.ones((0, 3)))
    Tensors("a", whole)
    with pytest.raises(InputError, match="cannot be read as safetensors"):
        Tensors("a", whole[: min(cut, len(whole) - 1)])


@pytest.mark.skipif(
    importlib.util.find_spec("safetensors") is None, reason="safetensors is not installed"
)
@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "int64", "int32", "bool"])
def test_files_of_the_safetensors_package_are_read(kind: str, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    random = np.random.default_rng(0)
    made: dict[str, Any] = {
        name: np.asarray(random.normal(size=shape) * 9).astype(kind)
        for name, shape in (("a", (3, 2)), ("b.weight", (4,)), ("none", (0, 2)), ("one", ()))
    }
    save_file(made, str(tmp_path / "a.safetensors"), {"format": "np"})
    found = open_tensors(tmp_path / "a.safetensors")
    assert set(found) == set(made)
    for name, array in made.items():
        assert found[name].shape == array.shape
        assert (found[name] == array).all()
