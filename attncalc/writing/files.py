"""Whole files or none: written beside their place, then moved into it."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from attncalc.errors import OutputError
from attncalc.sources import identity_of, refuse_to_fill, refuse_to_write

Writer = Callable[[IO[bytes]], None]
Content = str | bytes | Writer | Iterator[str]
"""All of it, what writes it, or its text piece by piece."""


def check_places(*places: Path) -> None:
    """Refuse places that cannot hold a file each, before any work is done for them.

    Raises
    ------
    OutputError
        When one is a folder, lies in one that does not exist or was read, or two are one file.
    """
    for path in places:
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder")
        if not path.parent.is_dir():
            raise OutputError(f"cannot write {path}: the folder {path.parent} does not exist")
        refuse_to_write(path)
    _check_apart(places)


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be filled, before any work is done for it.

    Raises
    ------
    OutputError
        When it lies in one that does not exist, or what it holds was read.
    """
    if not folder.parent.is_dir():
        raise OutputError(f"cannot write {folder}: the folder {folder.parent} does not exist")
    refuse_to_fill(folder)


def _check_apart(places: Iterable[Path]) -> None:
    """Refuse two places that are one file, of which the second would replace the first."""
    taken: dict[object, Path] = {}
    for path in places:
        if path.exists() and not path.is_file():
            continue  # a device keeps nothing that could be replaced
        for known in {identity_of(path), os.path.realpath(path)} - {None}:
            if known in taken:
                raise OutputError(
                    f"cannot write both {taken[known]} and {path}: "
                    "they are one file: give each a file of its own"
                )
            taken[known] = path


def write_files(files: Mapping[Path, Content], folder: Path | None = None) -> None:
    """Write several files, none of them before all are ready.

    Parameters
    ----------
    files
        Their contents by path.
    folder
        A folder that is made for them, where it does not exist.

    Raises
    ------
    OutputError
        When a place cannot be written to, or was read; what was there stays.
    """
    if folder is not None:
        check_folder(folder)
        _make_folder(folder)
    check_places(*files)
    staged: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path, content in files.items():
            if path.exists() and not path.is_file():
                with path.open("wb") as file:  # a device or a pipe is written to, not replaced
                    _fill(file, content)
            else:
                target = Path(os.path.realpath(path))  # a link stays a link
                staged.append((_staged(target, content), target))
        for temporary, target in staged:
            temporary.replace(target)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        for temporary, _ in staged:
            with suppress(OSError):
                temporary.unlink()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from None


def _staged(target: Path, content: Content) -> Path:
    """Write a file beside its place, whole, and return where."""
    import tempfile  # here, for most runs write no file

    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _fill(file, content)
        temporary.chmod(mode)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    return temporary


def _fill(file: IO[bytes], content: Content) -> None:
    if callable(content):
        content(file)
    elif isinstance(content, bytes):
        file.write(content)
    else:
        for piece in [content] if isinstance(content, str) else content:
            file.write(piece.encode())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
