"""From a path or a stream to bytes and text, with one message when that cannot be."""

import codecs
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from attncalc.errors import InputError
from attncalc.reading.pickles import refuse_pickles
from attncalc.sources import remember

NUMPY_STARTS = (b"PK\x03\x04", b"\x93NUMPY")
"""How the bytes of NumPy's files begin."""
TENSORS_LENGTH = 8
"""Bytes that say how long the header of a safetensors file is, with which it begins."""
MOST_BYTES = 4 * 2**30
PIECE = 2**22
"""Bytes read of one file of NumPy's: more is no problem but a mistake."""
MOST_TEXT = 16 * 2**20
"""Bytes read of one text: numbers in words take twenty times the memory of an array's."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def holds_arrays(start: bytes) -> bool:
    """Say whether bytes begin as a file of NumPy's does, or one of safetensors."""
    return start.startswith(NUMPY_STARTS) or looks_like_tensors(start)


def looks_like_tensors(start: bytes) -> bool:
    """Say whether bytes begin as a safetensors file does: a length below 4 GiB, and an object.

    Examples
    --------
    >>> looks_like_tensors(bytes([9, 0, 0, 0, 0, 0, 0, 0]) + b'{"a":'), looks_like_tensors(b"{}")
    (True, False)
    """
    length = TENSORS_LENGTH
    return start[length // 2 : length] == bytes(4) and start[length : length + 1] == b"{"


def read_bytes(path: Path) -> bytes:
    """Return the content of a file."""
    with opened(path) as file:
        return read_within(file, str(path))


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Give a file to read, whatever is wrong with it said as a fault of what was given."""
    remember(path)  # before it can fail: of many answers, one that cannot be read is kept, too
    try:
        with path.open("rb") as file:
            yield file
    except InputError:  # a ValueError, but one that is said already
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, where a file is needed") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None


def read_within(file: BinaryIO, place: str) -> bytes:
    """Return all of an open file or stream, within what one of its kind may have.

    Parameters
    ----------
    file
        A file, a pipe or a device: what has no end is read up to the limit.
    place
        Its name, for messages.

    Raises
    ------
    InputError
        When it is larger: its size is asked for first, where it has one.
    """
    size = _size(file)
    start = file.read(TENSORS_LENGTH + 1)
    most = MOST_BYTES if holds_arrays(start) else MOST_TEXT
    if size <= most:
        rest = _up_to(file, most + 1 - len(start))
        if len(start) + len(rest) <= most:
            return start + rest
    is_text = most == MOST_TEXT
    what = "a text" if is_text else "a file of arrays"
    given = f"{in_units(size)}, where" if size else "too large:"
    mend = ": save large matrices as .npz, which may have 4 GiB" if is_text else ""
    raise InputError(f"{place}: {given} {what} may have {in_units(most)}{mend}")


def _up_to(file: BinaryIO, most: int) -> bytes:
    """Return what is left of a file or stream, or its first bytes, in pieces: no room is kept."""
    pieces: list[bytes] = []
    while most > 0 and (piece := file.read(min(most, PIECE))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def _size(file: BinaryIO) -> int:
    """Return the size of a file on the disk; 0 of what has none, as pipes and devices."""
    try:
        found = os.fstat(file.fileno())
    except (OSError, ValueError):
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def in_units(size: int) -> str:
    """Return a number of bytes as people write it.

    Examples
    --------
    >>> in_units(20_000), in_units(16 * 2**20), in_units(7_200_000_000)
    ('20 kB', '16 MiB', '6.71 GiB')
    """
    if size >= 2**30:
        return f"{size / 2**30:.3g} GiB"
    return f"{-(-size // 2**20)} MiB" if size >= 2**20 else f"{-(-size // 1000)} kB"


def exists(text: str) -> bool:
    """Say whether a text is the name of something on the disk, readable or not."""
    if not text:  # to Path this would be the current folder
        return False
    try:
        Path(text).stat()
    except PermissionError:
        return True
    except (OSError, ValueError):  # nothing there, too long for a name, or a NUL in it
        return False
    return True


def is_folder(path: Path) -> bool:
    """Say whether a path is a folder; one that may not be looked at is none."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises where it may not look


def list_folder(folder: Path) -> list[Path]:
    """Return what a folder holds, in order of names: a glance, which reads nothing of it."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None


def files_of(folder: Path, endings: Sequence[str]) -> list[Path]:
    """Return the files of a folder that is read whole: those whose names end in these."""
    remember(folder, endings)
    found = [path for path in list_folder(folder) if path.suffix.lower() in endings]
    for path in found:
        refuse_pipe(path)
    return found


def refuse_pipe(path: Path) -> None:
    """Refuse what is no file where nobody asked for it by name: it could be waited for for ever."""
    if os.path.exists(path) and not os.path.isfile(path) and not is_folder(path):  # noqa: PTH110, PTH113 - see is_folder
        raise InputError(f"{path}: a pipe or a device, where a file is needed")


def decode(data: bytes, place: str) -> str:
    """Return bytes as text: UTF-8, or UTF-16 as spreadsheets mark it."""
    refuse_pickles(data, place)
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{place}: not text in UTF-8 (line {line}): save it as UTF-8, JSON or CSV"
        ) from None
    if "\0" in text:
        raise InputError(f"{place}: not text but a binary file: give JSON, CSV or .npz")
    if not text.strip():
        raise InputError(f"{place}: empty")
    return text
