"""No small file takes long or much memory: sizes are known before they are taken."""

import io
import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from conftest import mostly_slow
from fuzz.pace import takes_longer

from attncalc.base.errors import InputError
from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.problem.problem import Problem
from attncalc.reading import read_problem, read_stream
from attncalc.reading.answers import read_answer_bytes
from attncalc.reading.cells import Faults
from attncalc.reading.files import MOST_TEXT, read_within
from attncalc.reading.inline_text import read_inline_cells
from attncalc.reading.npz_file import MOST_MEMBERS
from attncalc.writing.plotting.drawing import MOST_HEADS

pytestmark = pytest.mark.campaign(4)

LONGEST = 2.0
"""Seconds of the processor that a file of less than 100 kB may take."""
EXPECTED = key_of(
    Problem(X=[[1, 0], [0, 1]], W_Q=[[1]] * 2, W_K=[[1]] * 2, W_V=[[1]] * 2), Rules()
).expected
KEYS = "{" + ",".join(f'"k{i}":1' for i in range(3000)) + "}"

PROBLEMS = {
    "lists one behind another.json": '{"X": "[[1]' + "  [1]" * 18_000 + 'x"}',
    "digits and an x.csv": "X\n" + "1" * 90_000 + "x,1\n",
    "digits and an x below.csv": "X\n1,2\n" + "1" * 8000 + "x,1\n",
    "dashes and bars.txt": "a|b\n" + "-" * 40_000 + "|" * 40_000,
    "blank lines.txt": "Q\n" + "\n" * 90_000 + " x",
    "brackets never closed.txt": "[\n" * 30_000,
    "names that are unknown.json": KEYS,
    "columns, then one each.csv": "X\n" + "1,1\n" * 12_000 + "1\n" * 12_000,
}
ANSWERS = {
    "lists one behind another.txt": "Q = [1  2]\n" + "[[1]  " * 16_000,
    "dashes and bars.md": "a|b\n" + "-" * 40_000 + "|" * 40_000,
    "a head far off.txt": "A head 1000 = [" + "1 " * 40_000 + "]",
    "blanks in a name.json": json.dumps(
        {"connections": [{"output": "1", "most": "1" + " " * 60_000 + "x", "second": "2"}]}
    ),
    "blanks before a matrix.txt": "a" * 60 + " " * 90_000 + "[1 2]",
    "brackets never closed.txt": "[\n" * 30_000,
    "an entry far off.json": '{"Q[4096,4096]": 1}',
    "a diagonal of entries.txt": "\n".join(f"Q[{i},{i}] = 1" for i in range(1, 2000)),
    "uneven rows.json": json.dumps({"Q": [[1] * 20_000, *[[1]] * 20_000]}),
    "uneven rows.csv": "Q\n" + "1," * 24_000 + "1\n" + "1,1\n" * 12_000,
    "names that are unknown.json": '{"Q": [[1]], ' + KEYS[1:],
    "bands side by side.csv": "Q\n" + "1,," * 8000 + "\n" + "1\n" * 10_000,
    "abbreviations never closed.tex": r"\newcommand{\m}[1]{(#1)}" + "\\m{" * 30_000,
    "list signs and blanks.txt": "Q = 1\n" + "○ \t" * 20_000 + "\n" + "第 " * 20_000,
    "a word before the last.txt": "token 1: " + "1 " * 40_000 + "e x",
    "marked all over.md": "Q\n" + "==1" * 30_000,
    "a wide row above many.csv": "Q\n" + "," * 20_000 + "1\n" + "1\n" * 10_000,
}


def _takes_long(read: Callable[[], object]) -> str:
    def ended() -> None:
        with suppress(InputError):
            read()

    return takes_longer(ended, LONGEST)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_no_small_problem_takes_long(name: str) -> None:
    assert not _takes_long(lambda: read_stream(PROBLEMS[name].encode(), name))


@pytest.mark.slow
@pytest.mark.campaign(5)
@pytest.mark.parametrize("name", mostly_slow(ANSWERS, 4))
def test_no_small_answer_takes_long(name: str) -> None:
    assert not _takes_long(lambda: read_answer_bytes(ANSWERS[name].encode(), name))


@pytest.mark.slow
def test_no_matrix_of_a_flag_takes_long() -> None:
    """Exponential once: 180 characters took minutes."""
    faults = Faults("--X")
    text = "[[1]" + "  [1]" * 5000
    assert not _takes_long(lambda: read_inline_cells("X", text, faults))
    assert "is not a matrix" in faults.found[0]


def test_ten_unknown_names_are_listed_and_the_rest_counted() -> None:
    with pytest.raises(InputError, match="2,990 more names are not known") as told:
        read_stream(KEYS.encode(), "in.json")
    assert str(told.value).count("did you mean") == 10


def test_a_text_has_a_limit_that_arrays_have_not(tmp_path: Path) -> None:
    large = tmp_path / "in.txt"
    with large.open("wb") as file:
        file.truncate(MOST_TEXT + 1)
    with pytest.raises(InputError, match=r"17 MiB, where a text may have 16 MiB: .*\.npz"):
        read_problem(large)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_an_endless_input_is_not_read_forever() -> None:
    with pytest.raises(InputError, match="a text may have 16 MiB"):
        read_problem("/dev/zero")
    with Path("/dev/zero").open("rb") as file, pytest.raises(InputError, match="too large"):
        read_within(file, "standard input")


def _npz(members: dict[str, bytes], packing: int = zipfile.ZIP_BZIP2) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return data.getvalue()


def _npy(shape: str, content: bytes = b"") -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content


def _both(data: bytes, message: str) -> None:
    for read in (read_stream, read_answer_bytes):
        with pytest.raises(InputError, match=message):
            read(data, "in.npz")


@pytest.mark.slow
def test_a_large_archive_is_refused_with_both_sizes() -> None:
    """20 MB of zeros in a few kB."""
    bomb = _npz({"X.npy": _npy("(2500, 1000)", bytes(20_000_000))}, zipfile.ZIP_DEFLATED)
    _both(bomb, "unpack to 20 MiB, where 16 MiB")


def test_members_are_counted() -> None:
    many = _npz({f"m{i}": b"" for i in range(MOST_MEMBERS + 1)}, zipfile.ZIP_STORED)
    _both(many, "1,001 arrays, where a file may contain 1,000")


@pytest.mark.parametrize("shape", ["(1000000000,)", "(100000000000000000000,)", "(3, 2**2)"])
def test_a_header_with_a_wrong_size_allocates_nothing(shape: str) -> None:
    for data in (_npy(shape), _npz({"X.npy": _npy(shape)})):
        _both(data, "damaged|cannot be read as NumPy")


def test_arrays_survive_a_round_trip() -> None:
    """Fortran's order, no rows, no dimension, texts, complex and small types: as numpy loads."""
    rng = np.random.default_rng(1)
    arrays = {
        "a": np.asfortranarray(rng.normal(size=(3, 4))), "b": np.zeros((0, 3)), "c": np.array(7),
        "d": np.array(["x", "yz"]), "e": rng.normal(size=(2, 3, 4)).astype(np.float32),
        "f": np.array([[True, False]]),
    }  # fmt: skip
    from attncalc.reading.npz_file import load_arrays

    data = io.BytesIO()
    np.savez_compressed(data, **arrays)
    loaded = load_arrays(data.getvalue(), Faults("in.npz"))
    assert list(loaded) == list(arrays)
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        assert np.array_equal(loaded[name], array)


@pytest.mark.campaign(3)
@pytest.mark.parametrize("name", ["an entry far off.json", "uneven rows.json", "uneven rows.csv"])
def test_gaps_are_reported_and_not_filled(name: str) -> None:
    written = read_answer_bytes(ANSWERS[name].encode(), name).matrices["Q"]
    assert written.values.size == 1
    assert "row" in written.problem


def test_one_long_label_widens_only_its_column(tmp_path: Path) -> None:
    from attncalc import solve

    labels = ["x" * 200_000, *(f"t{i}" for i in range(99))]
    problem = Problem(X=[[1]] * 100, W_Q=[[1]], W_K=[[1]], W_V=[[1]], labels=labels)
    place = tmp_path / "out.npz"
    from attncalc.problem.serialising import in_arrays

    np.savez(place, **in_arrays(solve(problem).problem))
    assert place.stat().st_size < 2_000_000
    assert list(read_problem(place).labels) == labels


def test_a_picture_of_many_heads_shows_some_with_a_note() -> None:
    from attncalc.writing.plotting.drawing import _left_out

    assert _left_out(MOST_HEADS) == ()
    assert f"heads 1 to {MOST_HEADS} of 3,000" in _left_out(3000)[0]


def test_sines_count_when_exactness_is_chosen() -> None:
    """512 columns of sinusoids took half a minute of decimals for a problem of 10 tokens."""
    from attncalc.solving.exactness import digits_for
    from attncalc.solving.plan import plan

    W = [[1, 0]] * 512
    problem = Problem(X=[[1] * 512] * 10, W_Q=W, W_K=W, W_V=W, positions="sinusoidal")
    assert digits_for(problem, plan(problem)) is None
    small = Problem(X=[[1] * 8] * 3, W_Q=W[:8], W_K=W[:8], W_V=W[:8], positions="sinusoidal")
    assert digits_for(small, plan(small)) is not None


@pytest.mark.slow
@pytest.mark.parametrize("ending", mostly_slow(["txt", "md", "csv"]))
@pytest.mark.parametrize(
    "line", mostly_slow(["|-(1, 2)", "<td>Q = [1 2", "[1,{", "+ 1(1, 2)", "|->"], 5)
)
def test_a_table_that_is_none_is_not_tried_again_from_each_line(line: str, ending: str) -> None:
    """Quadratic once, and worse where each cell was asked: 16 kB took 20 s."""
    data = f"{line}\n".encode() * (15_000 // len(line)) + b" x"
    assert not _takes_long(lambda: read_answer_bytes(data, f"in.{ending}"))
    assert not _takes_long(lambda: read_stream(data, f"in.{ending}"))


@pytest.mark.slow
def test_written_matrices_are_indexed_once_for_unnamed_ones() -> None:
    """200 of them beside 1,000 that have one: 8 kB took 4 s, 16 kB took 9 s."""
    data = "Q\n1 2\na,1\nQ\n1 2\na,1\nQ\n1 2\na,1\na" * 500
    assert not _takes_long(lambda: read_answer_bytes(data.encode(), "in.txt", EXPECTED))
