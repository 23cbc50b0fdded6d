"""Where output goes, and in which form: standard output, a file, or a folder."""

import io
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from attncalc.errors import InputError, OutputError
from attncalc.numbers.typed import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from attncalc.plotting.picture import Picture
    from attncalc.writing.files import Content
    from attncalc.writing.page import Page


class Target(NamedTuple):
    """Where a page goes.

    Parameters
    ----------
    form
        The form it is written in.
    place
        The file or folder, or None for standard output.
    is_folder
        Whether it is a folder, with a file for each step.
    standalone
        Whether LaTeX is a document of its own.
    """

    form: str
    place: Path | None
    is_folder: bool = False
    standalone: bool = False

    @property
    def picture(self) -> str | None:
        """The name of the picture that stands beside the page, where there is a place for one."""
        if self.place is None:
            return None
        stem = self.place.stem if re.fullmatch(r"[\w-]+", self.place.stem, re.ASCII) else "page"
        if self.form == "markdown":
            return f"{stem}-map.png"
        return f"{stem}-map.pdf" if self.standalone else None


class Written(NamedTuple):
    """What a page has become: files by path, and what should be said beside them."""

    files: "Mapping[Path, Content]"
    notes: tuple[str, ...] = ()


def place_of(flag: str, given: str | None) -> Path | None:
    """Return the file or folder that a flag names, or None for standard output.

    Raises
    ------
    OutputError
        When the name is empty, which as a path would be the current folder.
    """
    if given is not None and not given.strip():
        raise OutputError(f"{flag} names no file: its value is empty")
    return None if given in (None, "-", "/dev/stdout") else Path(str(given))


def check_outputs(*places: Path | None) -> None:
    """Refuse outputs that cannot be, or would do harm, before any work is done for them.

    Parameters
    ----------
    *places
        Files, with None for standard output.

    Raises
    ------
    OutputError
        When there can be no such file, it was read, or two of them are one.
    """
    from attncalc.cli.streams import check_printing
    from attncalc.writing.files import check_places

    check_places(*(place for place in places if place is not None))
    if None in places:
        check_printing()


def target_of(flags: dict[str, Any]) -> Target:
    """Return where the flags send the output; refuse what cannot be, or would do harm.

    Raises
    ------
    OutputError
        When there can be no such file or folder.
    InputError
        When the form cannot hold what is asked for; the message says which can.
    """
    from attncalc.reading.files import is_folder
    from attncalc.writing.files import check_folder

    place = place_of("--out", flags["out"])
    to_folder = place is not None and (flags["out"].endswith(("/", os.sep)) or is_folder(place))
    form = flags["format"] or _implied_form(place, flags, to_folder=to_folder)
    target = Target(form, place, to_folder, flags["standalone"])
    _check_form(target, flags)
    if place is not None and to_folder:
        check_folder(place)
    else:
        check_outputs(place)
    return target


def write_page(page: "Page", target: Target) -> None:
    """Write a page to its place, with what stands beside it, and say what is to be said."""
    from attncalc.cli.streams import emit, note
    from attncalc.writing.files import write_files

    written = _written(page, target)
    if target.place is None:
        (content,) = written.files.values()
        assert not isinstance(content, bytes)
        assert not callable(content)  # npz is written to files alone
        emit(content)
    else:
        write_files(written.files, folder=target.place if target.is_folder else None)
    for remark in written.notes:
        note(remark)
    if target.is_folder:
        note(f"{len(written.files)} files written to {target.place}")
    elif target.place is not None:
        note(f"written to {' and '.join(str(path) for path in written.files)}")


def _implied_form(place: Path | None, flags: dict[str, Any], *, to_folder: bool) -> str:
    """Return the form that the ending of the file asks for, or --standalone does."""
    from attncalc.writing.forms import FORMS, form_of

    if to_folder:
        return "csv"
    if place is None or not place.suffix:
        return "latex" if flags["standalone"] else "table"
    form = form_of(place.suffix)
    if form is None:
        endings = [endings[0] for endings in FORMS.values()]
        raise OutputError(
            f"{place}: {quoted(place.suffix)} is no form of output: end the name in "
            f"{', '.join(endings[:-1])} or {endings[-1]}, or say --format"
        )
    return form


def _check_form(target: Target, flags: dict[str, Any]) -> None:
    """Refuse what a form cannot hold, and say which can."""
    if target.form == "npz" and target.place is None:
        raise InputError("npz is no text: say where to write it, as -o steps.npz")
    if target.standalone and target.form != "latex":
        raise InputError(
            f"{target.form} has no documents of its own: --standalone is for --format latex"
        )
    if target.form == "npz" and flags["blank"]:
        raise InputError(
            "npz cannot hold a worksheet: table, markdown, latex, csv and json can (--format)"
        )
    if target.form == "npz" and (flags["fractions"] or flags["mixed"]):
        raise InputError(
            "npz cannot hold fractions: table, markdown, latex, csv and json can (--format)"
        )
    if target.is_folder and target.form != "csv":
        raise OutputError(
            f"{target.place} is a folder: csv is written to one, {target.form} to a file"
        )


def _written(page: "Page", target: Target) -> "Written":
    """Return what a page becomes: its text or its files, and what should be said beside them."""
    path = target.place or Path("-")
    if target.form == "table":
        return _table(page, target)
    if target.form == "json":
        from attncalc.writing.json_text import write_json

        return Written({path: write_json(page)})
    if target.form == "npz":
        from functools import partial

        from attncalc.writing.npz_file import write_npz

        return Written({path: partial(write_npz, page)})
    if target.form == "csv":
        from attncalc.writing.csv_text import write_csv, write_csv_files

        if not target.is_folder:
            return Written({path: write_csv(page)})
        return Written({path / name: text for name, text in write_csv_files(page).items()})
    return _typeset(page, target)


def _table(page: "Page", target: Target) -> "Written":
    """Draw the tables for a terminal, a pipe or a file; a file holds the notes too."""
    from rich.console import Console

    from attncalc.writing.frames import Screen, on_screen
    from attncalc.writing.terminal import write_notes, write_tables

    if target.place is not None:
        console, screen = Console(file=io.StringIO(), color_system=None), Screen()
    else:
        console = Console(file=sys.stdout)
        screen = Screen(console.width if console.is_terminal else None, console.encoding)
    text = on_screen(console, write_tables(page, screen), screen)
    notes = tuple(write_notes(page))
    if target.place is None:
        return Written({Path("-"): text}, notes)
    below = [f"note: {note}\n" for note in notes if note not in page.advice]
    return Written({target.place: "\n".join([text, *below])}, notes)


def _typeset(page: "Page", target: Target) -> "Written":
    """Write markdown or LaTeX, and beside a file the picture that it shows."""
    from attncalc.writing.latex import write_latex
    from attncalc.writing.markdown import write_markdown

    path = target.place or Path("-")
    files: dict[Path, Content] = {}
    notes: tuple[str, ...] = ()
    picture = target.picture if page.has_map else None
    if picture and not (page.is_blank and target.form == "latex"):  # which draws its own dots
        drawn = _map(page, Path(picture).suffix[1:])
        files[path.with_name(picture)] = drawn.content
        notes = drawn.notes
    if target.form == "latex":
        text = write_latex(page, standalone=target.standalone, picture=picture)
    else:
        text = write_markdown(page, picture=picture)
    shows_map = target.form == "markdown" or target.standalone
    if target.place is None and page.has_map and shows_map:
        notes = ("the map is left out: with -o FILE it stands beside the page",)
    return Written({path: text, **files}, (*page.advice, *notes))


def _map(page: "Page", form: str) -> "Picture":
    from attncalc.plotting.picture import render, render_blank

    return render_blank(page.problem, form) if page.is_blank else render(page.solution, form)
