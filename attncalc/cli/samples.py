"""`attncalc samples`: list what is bundled, or write one out."""

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
    from attncalc.errors import InputError
    from attncalc.writing.files import write_file

    if name is None:
        emit(_listing())
        return
    chosen = sample(name)
    if chosen.path.is_dir():
        if out is None:
            raise InputError(f"{name} is a folder of files: say where to write it, as -o my-{name}")
        _copy_folder(chosen.path, Path(out))
        note(f"written to {out}")
    elif out is None:
        emit_bytes(chosen.path.read_bytes())
    else:
        write_file(Path(out), chosen.path.read_bytes())
        note(f"written to {out}")


def _listing() -> str:
    width = max(len(each.name) for each in (*SAMPLES, *ANSWERS))
    lines = [f"{each.name:{width}}  {each.kind:6}  {each.shows}\n" for each in (*SAMPLES, *ANSWERS)]
    return "".join(lines) + "\nWrite one out:  attncalc samples NAME > my-problem\n"


def _copy_folder(source: Path, target: Path) -> None:
    """Copy the files of a sample into a folder, which is made where its parent exists."""
    from attncalc.errors import OutputError
    from attncalc.writing.files import write_file

    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror}") from None
    for file in sorted(path for path in source.iterdir() if path.is_file()):
        write_file(target / file.name, file.read_bytes())
