"""Whole files or none: written beside their place, then moved into it."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from attncalc.errors import OutputError

Writer = Callable[[IO[bytes]], None]


def check_place(path: Path) -> None:
    """Refuse a place that cannot hold a file, before any work is done for it.

    Raises
    ------
    OutputError
        When it is a folder, or lies in one that does not exist.
    """
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise OutputError(f"cannot write {path}: the folder {path.parent} does not exist")


def write_file(path: Path, content: bytes | Writer) -> None:
    """Write a file so that nobody ever sees half of it.

    Parameters
    ----------
    path
        Where.
    content
        Its bytes, or a function that writes them to an open file.

    Raises
    ------
    OutputError
        When the folder does not exist, or the place cannot be written to; what was there stays.
    """
    check_place(path)
    target = Path(os.path.realpath(path))  # a link stays a link
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:  # a device or a pipe is written to, never replaced
                _fill(file, content)
        else:
            _replace(target, content)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def _replace(target: Path, content: bytes | Writer) -> None:
    import tempfile  # here, for most runs write no file

    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _fill(file, content)
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _fill(file: IO[bytes], content: bytes | Writer) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
