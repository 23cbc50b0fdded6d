"""The inputs of a run, which it never overwrites.

Readers remember each file, folder and stream; writers of files check them here.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from attncalc.base.errors import OutputError
from attncalc.base.text import as_key

Identity = tuple[int, int]
"""Device and inode: links and other ways to write a path all lead to the same."""


class Source(NamedTuple):
    """A file or folder that was read: its name, its path, and the endings read in a folder."""

    name: str
    path: Path | None
    endings: tuple[str, ...] = ()

    def lies_in(self, folder: Identity | None) -> bool:
        """Return whether it is in a folder, by its name or after following links."""
        if self.path is None or folder is None:
            return False
        ways = (self.path, Path(os.path.realpath(self.path)))
        return any(identity_of(way.parent) == folder for way in ways)


_READ: ContextVar[dict[Identity, Source] | None] = ContextVar("_READ", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Remember inputs within the context; outside, a program may overwrite what it read.

    >>> with remembering():
    ...     remember(Path(__file__))
    ...     refuse_to_write(Path(__file__))
    Traceback (most recent call last):
      ...
    attncalc.base.errors.OutputError: cannot write ...: it is ..., which was read: ...
    """
    token = _READ.set({})
    try:
        yield
    finally:
        _READ.reset(token)


def remember(path: Path, endings: Sequence[str] = ()) -> None:
    """Remember a file that is read, or a folder of which names with these endings are."""
    _keep(identity_of(path), Source(str(path), path, tuple(endings)))


def remember_stream(descriptor: int) -> None:
    """Remember the file of standard input, if it is one."""
    _keep(_identity(os.fstat(descriptor)), Source("standard input", None))


def refuse_to_write(place: Path) -> None:
    """Refuse a file that was read, or that is or would be part of a folder that was.

    Every existing file in such a folder is part of it, at any depth, whether or not this run opens
    it: an input, or output of an earlier command. A new file is part of it if it has an ending that
    is read. Raises OutputError if it is one; the message names both.
    """
    if source := _source(identity_of(place)):
        raise _refused(place, "is", source)
    real = Path(os.path.realpath(place))
    exists = identity_of(real) is not None
    for folder in real.parents if _READ.get() else ():
        source = _source(identity_of(folder))
        if source is not None and exists:
            raise _refused(place, "is already in", source)
        if source is not None and folder == real.parent and place.suffix.lower() in source.endings:
            raise _refused(place, "would be part of", source)


def refuse_to_fill(folder: Path) -> None:
    """Refuse a folder that was read, or that contains an input."""
    identity = identity_of(folder)
    if source := _source(identity):
        raise _refused(folder, "is", source)
    for held in (_READ.get() or {}).values():
        if held.lies_in(identity):
            raise _refused(folder, "has", held)


def refuse_to_print(descriptor: int) -> None:
    """Refuse to print to a file that was read, as `>> in.json` would."""
    if source := _source(_identity(os.fstat(descriptor))):
        raise _refused("standard output", "is", source)


def identity_of(place: Path) -> Identity | None:
    """Return the identity of a file or folder; None for a device, or if it does not exist."""
    try:
        found = place.stat()
        if found.st_ino:
            return _identity(found)
        # some disks of Windows do not number files: there, the path identifies the file
        return (-1, hash(as_key(os.path.realpath(place)))) if _keeps(found) else None
    except (OSError, ValueError):
        return None


def _identity(found: os.stat_result) -> Identity | None:
    """Return device and inode of a file that keeps its content; None for a pipe."""
    return (found.st_dev, found.st_ino) if found.st_ino and _keeps(found) else None


def _keeps(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)


def _keep(identity: Identity | None, source: Source) -> None:
    read = _READ.get()
    if read is not None and identity is not None:
        read.setdefault(identity, source)


def _source(identity: Identity | None) -> Source | None:
    return None if identity is None else (_READ.get() or {}).get(identity)


def _refused(place: Path | str, relation: str, source: Source) -> OutputError:
    return OutputError(
        f"cannot write {place}: it {relation} {source.name}, which was read: use another path"
    )
