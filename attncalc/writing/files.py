"""A set of files, written completely or not at all: next to their places, then moved there."""

import errno
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PureWindowsPath
from typing import IO, NamedTuple

from attncalc.base.errors import OutputError
from attncalc.base.signals import held_back
from attncalc.base.sources import identity_of, refuse_to_fill, refuse_to_write
from attncalc.base.text import as_key, what_forbids

_DESCRIPTORS = ("/dev/fd", "/proc/self/fd")
"""The folders with open files by descriptor number."""
ON_WINDOWS = sys.platform == "win32"
MOST_LINKS = 40
"""Links that are followed from one to the next: more is a circle."""
Writer = Callable[[IO[bytes]], None]
Content = str | bytes | Writer | Iterator[str]
"""The entire content, a function that writes it, or its text in pieces."""
_NO_SYNC = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
"""Errors of file systems that cannot write a file through to the disk."""
FEW, AT_ONCE = 2, 16
"""From so many files on, so many are flushed at once: a thousand take a tenth of the time."""
LONGEST = 20
"""Letters of a name that the one has by which its file is written."""


def check_places(*places: Path) -> None:
    """Refuse places that cannot contain a file each."""
    for path in places:
        with naming(path):
            if ON_WINDOWS:
                _check_name(path)
            _check_place(path)
    _check_apart(places)


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be filled."""
    refuse_to_fill(folder)
    if ON_WINDOWS:
        _check_name(folder)
    with naming(folder):
        if not folder.exists() and not folder.is_symlink():
            _check_around(folder, folder.parent)
        elif not folder.is_dir():
            raise OutputError(f"cannot write {folder}: it is not a folder")
        elif not _may_fill(folder):
            raise OutputError(f"cannot write {folder}: no permission to create files in it")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the path to errors of the system."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None


def is_straight(path: Path) -> bool:
    """Return whether output to a path goes directly: a device, a pipe, or an open file."""
    with naming(path):
        keeps = path.is_file() or path.is_dir() or not path.exists()
    return not keeps or descriptor_of(path) is not None


def descriptor_of(path: Path) -> int | None:
    """Return the descriptor of an open file with this name, such as 1 for /dev/stdout.

    A shell may have opened it to append, so it is not replaced.

    >>> descriptor_of(Path("/dev/fd/7")), descriptor_of(Path("page.md"))
    (7, None)
    """
    way = path
    with naming(path):
        for _ in range(MOST_LINKS):
            is_open = os.path.realpath(way.parent) in map(os.path.realpath, _DESCRIPTORS)
            if way.name.isdecimal() and is_open:
                return int(way.name)
            if not way.is_symlink():
                return None
            way = way.parent / way.readlink()
    return None


def _check_name(path: Path) -> None:
    """Refuse names that Windows would silently redirect to a device, or change."""
    given = PureWindowsPath(path)
    for part in given.parts[1:] if given.anchor else given.parts:
        if part not in (".", "..") and (why := what_forbids(part)):
            raise OutputError(
                f"cannot write {path}: the name {part} {why}, which Windows does not allow"
            )


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder")
    if (descriptor := descriptor_of(path)) is not None:
        os.fstat(descriptor)  # the error if nothing is open
    elif not is_straight(path):
        _check_file(path)
    refuse_to_write(path)


def _check_file(path: Path) -> None:
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OutputError(f"cannot write {path}: it is a link that leads back to itself")
    _check_around(path, target.parent if path.is_symlink() else path.parent)
    if target.exists() and not os.access(target, os.W_OK):
        raise OutputError(f"cannot write {path}: it is write-protected")


def _check_around(path: Path, folder: Path) -> None:
    """Refuse a place in a folder where no file can be created."""
    if not folder.exists():
        raise OutputError(f"cannot write {path}: the folder {folder} does not exist")
    if not folder.is_dir():
        raise OutputError(f"cannot write {path}: {folder} is not a folder")
    if not _may_fill(folder):
        raise OutputError(f"cannot write {path}: no permission to create files in {folder}")


def _may_fill(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


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
                    "they are the same file; use two names"
                )
            taken[known] = path


class _Move(NamedTuple):
    """A file or a new folder, ready in a temporary place, its final place, and the path to name."""

    ready: Path
    place: Path
    called: Path

    @property
    def kept(self) -> Path:
        """Where the replaced file is kept until all have moved."""
        return self.ready.with_suffix(".old")


def write_files(files: Mapping[Path, Content], folder: Path | None = None) -> None:
    """Write several files: all of them, or none.

    Pipes and devices are written directly, and first: this cannot be undone. Files are written next
    to their places and flushed, and then all of them are moved. A killed run leaves at most names
    like `.page.md.1a2b3c4d.tmp`. Raises OutputError if a place cannot be written to, or was read;
    existing files stay.

    folder: a folder to create for them if it does not exist, with subfolders.
    """
    if folder is not None:
        check_folder(folder)
    new = folder if folder is not None and not folder.exists() else None
    check_places(*(path for path in files if new is None or new not in path.parents))
    straight = [path for path in files if is_straight(path)]
    for path in straight:
        content = files[path]
        with naming(path):
            again = descriptor_of(path)  # an open file is continued at its position
            with path.open("wb") if again is None else os.fdopen(os.dup(again), "wb") as file:
                _fill(file, as_bytes(content) if callable(content) else content, ())
    staged = {path: content for path, content in files.items() if path not in straight}
    with held_back() as came:
        _write_set(staged, new, came)


def as_bytes(content: Writer) -> bytes:
    """Return the bytes that a writer writes: it seeks in its file, which a pipe does not allow."""
    buffer = io.BytesIO()
    content(buffer)
    return buffer.getvalue()


def _write_set(files: Mapping[Path, Content], new: Path | None, came: Sequence[int]) -> None:
    moves: list[_Move] = []
    written: dict[Path, Path] = {}
    try:
        inside: Path | None = None
        if new is not None:  # a temporary folder, which is renamed when it is complete
            moves.append(_beside(new))
            inside = moves[-1].ready
            with naming(new):
                inside.mkdir()
        for path, content in files.items():
            if inside is not None and new is not None and new in path.parents:
                ready = inside / path.relative_to(new)
                with naming(path.parent):
                    ready.parent.mkdir(parents=True, exist_ok=True)
            else:
                moves.append(_beside(path))
                ready = moves[-1].ready
            written[path] = ready
            _write(path, ready, content, came)
        _put_on_disk(written, inside)
        _move_all(moves)
    finally:
        for move in moves:
            _remove(move.ready)


def _beside(path: Path) -> _Move:
    place = Path(os.path.realpath(path))  # a link stays a link
    ready = place.with_name(f".{place.name[:LONGEST]}.{os.urandom(4).hex()}.tmp")
    return _Move(ready, place, path)


def _write(path: Path, ready: Path, content: Content, came: Sequence[int]) -> None:
    """Write a private file, and then set the permissions of the one it replaces."""
    rights = 0o600 if path.exists() else 0o666
    with naming(path), open(ready, "xb", opener=lambda at, how: os.open(at, how, rights)) as file:
        _fill(file, content, came)


def _fill(file: IO[bytes], content: Content, came: Sequence[int]) -> None:
    if callable(content):
        content(file)
        return
    if isinstance(content, bytes):
        file.write(content)
        return
    for piece in [content] if isinstance(content, str) else content:
        if came:
            raise KeyboardInterrupt
        file.write(piece.encode())


def _put_on_disk(written: Mapping[Path, Path], new: Path | None) -> None:
    """Wait until files are on the disk: moved before, one could be empty after a power cut."""
    if len(written) <= FEW:
        for path, ready in written.items():
            _sync(path, ready)
    else:
        from concurrent.futures import ThreadPoolExecutor  # here, for most runs write few files

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(_sync, written, written.values()))
    if new is not None:
        for folder in {new, *(ready.parent for ready in written.values() if new in ready.parents)}:
            _sync_folder(folder)


def _sync(path: Path, ready: Path) -> None:
    with naming(path), ready.open("r+b") as file:
        try:
            os.fsync(file.fileno())
        except OSError as error:
            if error.errno not in _NO_SYNC:
                raise


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # Windows cannot open a folder, and its content is on the disk
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _move_all(moves: Sequence[_Move]) -> None:
    """Move all into place; where one cannot be moved, restore the others."""
    moved: dict[_Move, bool] = {}
    try:
        for move in moves:
            replaces = move.place.exists()
            with naming(move.called):
                _move(move, replaces=replaces, alone=len(moves) == 1)
            moved[move] = replaces
    except OutputError as error:
        stays = [str(move.called) for move in moved if not _taken_back(move, moved[move])]
        also = f"; written before that: {', '.join(stays)}" if stays else ""
        raise OutputError(f"{error}{also}") from None
    finally:
        for move in moves:
            _remove(move.kept)
    for folder in {move.place.parent for move in moves}:
        _sync_folder(folder)


def _move(move: _Move, *, replaces: bool, alone: bool) -> None:
    if replaces:
        move.ready.chmod(move.place.stat().st_mode & 0o7777)
    if replaces and not alone:
        with suppress(OSError):  # not every disk has a second name for a file
            move.kept.hardlink_to(move.place)
    try:
        move.ready.replace(move.place)
    except PermissionError as error:
        if not ON_WINDOWS:
            raise
        why = error.strerror or "it cannot be replaced"  # which no file that is open can be there
        raise OutputError(
            f"cannot write {move.called}: {why} (if it is open in another program, close it there)"
        ) from None


def _taken_back(move: _Move, replaced: bool) -> bool:
    """Restore the file of a place, and return whether that succeeded."""
    if replaced and not move.kept.exists():
        return False
    try:
        move.kept.replace(move.place) if replaced else move.place.replace(move.ready)
    except OSError:
        return False
    return True


def _remove(ready: Path) -> None:
    with suppress(OSError):
        if not ready.is_dir():
            ready.unlink(missing_ok=True)
            return
        for inside in ready.iterdir():
            _remove(inside)
        ready.rmdir()
