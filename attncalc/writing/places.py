"""Where a file can stand: refused before any work is done for it, with what mends it."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath

from attncalc.errors import OutputError
from attncalc.sources import identity_of, refuse_to_fill, refuse_to_write
from attncalc.text import as_key, what_forbids

_DESCRIPTORS = ("/dev/fd", "/proc/self/fd")
ON_WINDOWS = sys.platform == "win32"
MOST_LINKS = 40
"""Links that are followed from one to the next: more is a circle."""


def check_places(*places: Path) -> None:
    """Refuse places that cannot hold a file each.

    Raises
    ------
    OutputError
        When one is a folder, lies in one that does not exist or was read, or two are one file.
    """
    for path in places:
        with naming(path):
            if ON_WINDOWS:
                _check_name(path)
            _check_place(path)
    _check_apart(places)


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be filled.

    Raises
    ------
    OutputError
        When it lies in one that does not exist, is a file, or what it holds was read.
    """
    refuse_to_fill(folder)
    if ON_WINDOWS:
        _check_name(folder)
    with naming(folder):
        if not folder.exists() and not folder.is_symlink():
            _check_around(folder, folder.parent)
        elif not folder.is_dir():
            raise OutputError(f"cannot write {folder}: it is no folder, and files are put into one")
        elif not _may_fill(folder):
            raise OutputError(f"cannot write {folder}: no file may be made in it")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Say of what the system refuses which place it is about."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def is_straight(path: Path) -> bool:
    """Say whether what is written there goes on: a device, a pipe, or what is open already."""
    with naming(path):
        keeps = path.is_file() or path.is_dir() or not path.exists()
    return not keeps or descriptor_of(path) is not None


def descriptor_of(path: Path) -> int | None:
    """Return the number of what is open already and goes by this name, as 1 of /dev/stdout.

    A shell may have opened it to append, and what it opened is not to be replaced.

    Examples
    --------
    >>> descriptor_of(Path("/dev/fd/7")), descriptor_of(Path("page.md"))
    (7, None)
    """
    way = path
    with naming(path):
        for _ in range(MOST_LINKS):
            if way.name.isdecimal() and os.path.realpath(way.parent) in _open_already():
                return int(way.name)
            if not way.is_symlink():
                return None
            way = way.parent / way.readlink()
    return None


def _check_name(path: Path) -> None:
    """Refuse what Windows would write to a device, or under another name, without a word."""
    given = PureWindowsPath(path)
    for part in given.parts[1:] if given.anchor else given.parts:
        if part not in (".", "..") and (why := what_forbids(part)):
            raise OutputError(f"cannot write {path}: the name {part} {why}, as no file on Windows")


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder")
    if (descriptor := descriptor_of(path)) is not None:
        os.fstat(descriptor)  # says where nothing is open
    elif not is_straight(path):
        _check_file(path)
    refuse_to_write(path)


def _check_file(path: Path) -> None:
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OutputError(f"cannot write {path}: it is a link that leads back to itself")
    _check_around(path, target.parent if path.is_symlink() else path.parent)
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"cannot write {path}: it is protected from writing")


def _check_around(path: Path, folder: Path) -> None:
    """Refuse a place in a folder that takes no new file."""
    if not folder.exists():
        raise OutputError(f"cannot write {path}: the folder {folder} does not exist")
    if not folder.is_dir():
        raise OutputError(f"cannot write {path}: {folder} is no folder")
    if not _may_fill(folder):
        raise OutputError(f"cannot write {path}: no file may be made in the folder {folder}")


def _may_fill(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def _open_already() -> set[str]:
    """Return the folders in which what is open already goes by its number."""
    return {os.path.realpath(folder) for folder in _DESCRIPTORS}


def _check_apart(places: Iterable[Path]) -> None:
    """Refuse two places that are one file, of which the second would replace the first."""
    taken: dict[object, Path] = {}
    for path in places:
        if path.exists() and not path.is_file():
            continue  # a device keeps nothing that could be replaced
        # not every folder has a page.md and a Page.md: where they are one, the second would win
        for known in {identity_of(path), as_key(os.path.realpath(path))} - {None}:
            if known in taken:
                raise OutputError(
                    f"cannot write both {taken[known]} and {path}: "
                    "they are one file: give each a file of its own"
                )
            taken[known] = path
