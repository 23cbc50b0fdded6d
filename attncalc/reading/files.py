"""From a path or a stream to bytes and text, with one message when that cannot be."""

import codecs
import os
from collections.abc import Sequence
from pathlib import Path

from attncalc.errors import InputError
from attncalc.reading.pickles import refuse_pickles
from attncalc.sources import remember

MOST_BYTES = 4 * 2**30
"""Bytes read of one file: more is no problem but a mistake, /dev/zero say."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file."""
    remember(path)  # before it can fail: of many answers, one that cannot be read is kept, too
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a folder, where a file is needed") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None
    if len(data) > MOST_BYTES:
        raise InputError(f"{path}: larger than {MOST_BYTES // 2**30} GiB")
    return data


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
    return [path for path in list_folder(folder) if path.suffix.lower() in endings]


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
