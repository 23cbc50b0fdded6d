"""Targets of output, for all commands: standard output, a file, or a folder of files.

A command checks its targets before it works, and delivers its outputs when all of them are ready.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from attncalc.base.errors import OutputError
from attncalc.cli.streams import check_printing, emit, emit_bytes, note
from attncalc.writing.files import (
    Content,
    as_bytes,
    check_folder,
    check_places,
    descriptor_of,
    write_files,
)
from attncalc.writing.forms import form_of


class Target(NamedTuple):
    """A target of output: a file or a folder of files; None for standard output."""

    place: Path | None = None
    is_folder: bool = False

    @property
    def form(self) -> str | None:
        """The form that the ending of the file asks for; None if there is none."""
        return None if self.place is None else form_of(self.place.suffix)


STDOUT = Target()


class Output(NamedTuple):
    """Files for a target, and messages about them.

    files: the content of each file, by path; printed content is the only one, with any path.
    said: the message after it is written; None for its path.
    """

    target: Target
    files: Mapping[Path, Content]
    notes: tuple[str, ...] = ()
    said: str | None = None

    @property
    def is_printed(self) -> bool:
        """Whether it is printed to standard output."""
        return self.target.place is None


def target_of(flag: str, given: str | None) -> Target:
    """Return where a flag sends output: to a file, or where it is not given to standard output."""
    if given is not None and not given.strip():
        raise OutputError(f"{flag} names no file: its value is empty")
    if given in (None, "-") or descriptor_of(Path(given)) == 1:
        return STDOUT
    return Target(Path(given))


def target_or_folder(flag: str, given: str | None) -> Target:
    """Return the same, or a folder of files, where one exists or the name ends in a slash."""
    from attncalc.reading.files import is_folder

    target = target_of(flag, given)
    if target.place is None:
        return target
    return Target(target.place, str(given).endswith(("/", os.sep)) or is_folder(target.place))


def check_targets(*targets: Target) -> None:
    """Refuse targets that cannot be, or would do harm, before any work is done for them."""
    for target in targets:
        if target.is_folder and target.place is not None:
            check_folder(target.place)
    check_places(*(place for place, is_folder in targets if place is not None and not is_folder))
    if STDOUT in targets:
        check_printing()


def output(target: Target, content: Content, *notes: str, said: str | None = None) -> Output:
    """Return an output for standard output, or for a file."""
    return Output(target, {target.place or Path("-"): content}, notes, said)


def deliver(*outputs: Output) -> None:
    """Write the files of all outputs, or none; print texts and notes."""
    written = [each for each in outputs if not each.is_printed]
    files = {path: content for each in written for path, content in each.files.items()}
    folder = next((each.target.place for each in written if each.target.is_folder), None)
    write_files(files, folder=folder)
    for each in written:
        _say(each, _where(each) if each.said is None else each.said)
    for each in outputs:
        if each.is_printed:
            _print(*each.files.values())
            _say(each, each.said or "")


def _where(written: Output) -> str:
    if written.target.is_folder:
        count = len(written.files)
        return f"{count} file{'s' * (count != 1)} written to {written.target.place}"
    return f"written to {' and '.join(map(str, written.files))}"


def _say(written: Output, where: str) -> None:
    for remark in (*written.notes, where):
        if remark:
            note(remark)


def _print(content: Content) -> None:
    if callable(content):
        content = as_bytes(content)
    if isinstance(content, bytes):
        emit_bytes(content)
    else:
        emit(content)
