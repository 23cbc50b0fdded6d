"""`attncalc samples`: list what is bundled, or write one out."""

import shutil
import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from attncalc.problem.samples import ANSWERS, SAMPLES, sample

HELP = """List the bundled problems and answers, or write one out to start from.

[bold]Examples[/bold]

    attncalc samples                    what there is
    attncalc samples cross > mine.json  a copy to change
    attncalc samples folder -o mine     a sample that is a folder
"""


def samples(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="The sample to write out.",
            show_default="list them",
            autocompletion=lambda: [each.name for each in (*SAMPLES, *ANSWERS)],
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="PLACE", help="Write to this file or folder."),
    ] = None,
) -> None:
    """List the samples, or write one out."""
    from attncalc.cli.streams import emit, emit_bytes, note
    from attncalc.cli.targets import place_of
    from attncalc.errors import InputError
    from attncalc.writing.files import write_file

    if name is None:
        emit(_listing())
        return
    chosen, place = sample(name), place_of("--out", out)
    if chosen.path.is_dir():
        if place is None:
            raise InputError(f"{name} is a folder of files: say where to write it, as -o my-{name}")
        _copy_folder(chosen.path, place)
        note(f"written to {out}")
    elif place is None:
        emit_bytes(_content(chosen.path))
    else:
        write_file(place, _content(chosen.path))
        note(f"written to {out}")


def _listing() -> str:
    width = max(len(each.name) for each in (*SAMPLES, *ANSWERS))
    lines = [
        _wrapped(f"{each.name:{width}}  {each.kind:6}  ", each.shows)
        for each in (*SAMPLES, *ANSWERS)
    ]
    return "".join(lines) + "\nWrite one out:  attncalc samples NAME > my-problem\n"


def _wrapped(name: str, shows: str) -> str:
    """Return a line, or on a terminal that is narrow several, the next ones below the words."""
    if not sys.stdout.isatty():
        return f"{name}{shows}\n"
    room = max(shutil.get_terminal_size().columns - len(name), 20)
    return name + f"\n{' ' * len(name)}".join(textwrap.wrap(shows, room)) + "\n"


def _copy_folder(source: Path, target: Path) -> None:
    """Copy the files of a sample into a folder, which is made where its parent exists."""
    from attncalc.sources import remember
    from attncalc.writing.files import write_files

    remember(source)
    files = sorted(path for path in source.iterdir() if path.is_file())
    write_files({target / file.name: _content(file) for file in files}, folder=target)


def _content(file: Path) -> bytes:
    from attncalc.sources import remember

    remember(file)
    return file.read_bytes()
