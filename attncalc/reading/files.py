"""From a path or a stream to bytes and text, with one message if that fails."""

import codecs
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from attncalc.base.errors import InputError
from attncalc.base.sources import remember
from attncalc.reading.pickles import refuse_pickles

NUMPY_STARTS = (b"PK\x03\x04", b"\x93NUMPY")
"""The first bytes of NumPy's files."""
TENSORS_LENGTH = 8
"""The number of bytes with the length of the header, at the start of a safetensors file."""
MOST_BYTES = 4 * 2**30
PIECE = 2**22
"""The largest number of bytes read from one NumPy file."""
MOST_TEXT = 16 * 2**20
"""The largest number of bytes of a text: numbers as text take twenty times the memory of an array.
"""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def holds_arrays(start: bytes) -> bool:
    """Return whether bytes begin like a NumPy or safetensors file."""
    return start.startswith(NUMPY_STARTS) or looks_like_tensors(start)


def looks_like_tensors(start: bytes) -> bool:
    """Return whether bytes begin like a safetensors file: a length below 4 GiB, and an object.

    >>> looks_like_tensors(bytes([9, 0, 0, 0, 0, 0, 0, 0]) + b'{"a":'), looks_like_tensors(b"{}")
    (True, False)
    """
    length = TENSORS_LENGTH
    return start[length // 2 : length] == bytes(4) and start[length : length + 1] == b"{"


def read_bytes(path: Path, most_text: int = MOST_TEXT) -> bytes:
    """Return the content of a file; `most_text` is the limit for a text."""
    with opened(path) as file:
        return read_within(file, str(path), most_text)


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, with every failure as an input error."""
    remember(path)  # before it can fail: of many answers, one that cannot be read is kept, too
    try:
        with path.open("rb") as file:
            yield file
    except InputError:  # a ValueError that has its message already
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, where a file is needed") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None


def read_within(file: BinaryIO, place: str, most_text: int = MOST_TEXT) -> bytes:
    """Return all of an open file or stream, within the limit of its kind.

    Raises InputError if it is larger; its size is checked first, if it has one.

    file: a file, a pipe or a device: an endless one is read up to the limit.
    most_text: the largest number of bytes of a text.
    """
    size = _size(file)
    start = file.read(TENSORS_LENGTH + 1)
    most = MOST_BYTES if holds_arrays(start) else most_text
    if size <= most:
        rest = _up_to(file, most + 1 - len(start))
        if len(start) + len(rest) <= most:
            return start + rest
    what = "a text" if most == most_text else "a file of arrays"
    given = f"{in_units(size)}, where" if size else "too large:"
    mend = ": save large matrices as .npz, which may have 4 GiB" if most == MOST_TEXT else ""
    raise InputError(f"{place}: {given} {what} may have {in_units(most)}{mend}")


def _up_to(file: BinaryIO, most: int) -> bytes:
    """Return the rest of a file or stream, or its first bytes, in pieces without preallocation."""
    pieces: list[bytes] = []
    while most > 0 and (piece := file.read(min(most, PIECE))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def _size(file: BinaryIO) -> int:
    """Return the size of a file on disk; 0 for pipes and devices."""
    try:
        found = os.fstat(file.fileno())
    except (OSError, ValueError):
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def in_units(size: int) -> str:
    """Return a number of bytes with a unit.

    >>> in_units(20_000), in_units(16 * 2**20), in_units(7_200_000_000)
    ('20 kB', '16 MiB', '6.71 GiB')
    """
    if size >= 2**30:
        return f"{size / 2**30:.3g} GiB"
    return f"{-(-size // 2**20)} MiB" if size >= 2**20 else f"{-(-size // 1000)} kB"


def exists(text: str) -> bool:
    """Return whether a text is the name of an existing file or folder, readable or not."""
    if not text:  # for Path this would be the current folder
        return False
    try:
        Path(text).stat()
    except PermissionError:
        return True
    except (OSError, ValueError):  # missing, too long for a name, or with a NUL
        return False
    return True


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder; an inaccessible one is not."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises where it may not look


def list_folder(folder: Path) -> list[Path]:
    """Return the content of a folder, in order of names, without reading any file."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None


def files_of(folder: Path, endings: Sequence[str]) -> list[Path]:
    """Return the files of a folder whose names have these endings."""
    remember(folder, endings)
    found = [path for path in list_folder(folder) if path.suffix.lower() in endings]
    for path in found:
        refuse_found(path)
    return found


def why_not_read(path: Path, *, may_link: bool = False) -> str:
    """Return why an item of a folder is not read; "" for a file, a folder, or nothing.

    This rule applies to files that the user did not name, in folders of answers, problems and
    models: only regular files are read. A pipe could block forever, and a link could point to a key
    or a private file, whose content a returned page would quote.

    may_link: whether a link to a regular file is read: caches of models consist of links.
    """
    try:
        if not may_link and path.is_symlink():
            return "a link, which is not followed: put the file itself there"
        mode = path.stat().st_mode
    except (OSError, ValueError):  # the reader reports the error
        return ""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return ""
    return "a pipe or a device, where a file is needed"


def is_found(place: str, named: Sequence[str]) -> bool:
    """Return whether the user may not have named a file: a shell expands answers/*.

    A named pipe is different: a shell creates it for its input, as in <(cat mine).
    """
    is_pipe = os.path.exists(place) and not os.path.isfile(place) and not os.path.isdir(place)  # noqa: PTH110, PTH112, PTH113 - see is_folder
    return place not in named or (len(named) > 1 and not is_pipe)


def refuse_found(path: Path, *, may_link: bool = False) -> None:
    """Refuse an item of a folder that is not read: `why_not_read` returns the reason."""
    if why := why_not_read(path, may_link=may_link):
        raise InputError(f"{path}: {why}")


_NO_TEXT = (".pdf", ".npz", ".npy", ".safetensors", ".ipynb", ".png", ".jpg", ".jpeg")
"""File endings that promise another content than a text of someone's editor."""


_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f]")
"""Characters that no text has."""


def decode_numbers(data: bytes, place: str) -> tuple[str, tuple[str, ...]]:
    """Return bytes as text, and a remark if its letters are read as those of Windows.

    Numbers are the same there as in UTF-8. A text whose letters matter is read by `decode`.
    """
    try:
        return decode(data, place), ()
    except InputError:
        with suppress(UnicodeDecodeError):
            text = data.decode("cp1252")
            if text.strip() and not _CONTROLS.search(text):
                said = "its letters are not in UTF-8: they are read as those of Windows"
                return text, (said,)
        raise


def decode(data: bytes, place: str) -> str:
    """Return bytes as text: UTF-8, or UTF-16 with a mark or a first letter that shows it."""
    refuse_pickles(data, place)
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    if len(data) % 2 == 0 and 0 not in data[::2] and data[1:2] == b"\0":
        encoding = "utf-16-le"
    ending = Path(place).suffix.lower()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if ending in _NO_TEXT:
            raise InputError(
                f"{place}: damaged: it does not contain what {ending} files contain: save or "
                "export it again, or type its numbers into a text file"
            ) from None
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{place}: not text in UTF-8 (line {line}): save it as UTF-8, a sheet of Excel as "
            "CSV UTF-8"
        ) from None
    if "\0" in text:
        raise InputError(f"{place}: not text but a binary file: give JSON, CSV or .npz")
    if not text.strip():
        raise InputError(f"{place}: empty")
    return text
