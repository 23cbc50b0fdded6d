"""`attncalc plot`: the map of which input each output attends to, and the heatmap."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from attncalc.cli import options

HELP = """Draw the map of which input each output attends to, or the weights as a heatmap.

A solid line leads to the input that influences an output most, a dashed line to the second.

[bold]Examples[/bold]

    attncalc plot                        the bundled homework, as attention-map.png
    attncalc plot in.json -o map.svg     your own problem; .png, .svg or .pdf
    attncalc plot in.json --kind both    the map, and the weights as coloured cells
    attncalc plot in.json --all          a line for every weight
    attncalc plot in.json --dark --size 12x8 -o slide.png
    attncalc plot in.json --no-scale --title "Unscaled" -o map.pdf
"""
"""What `attncalc plot --help` says."""

Kind = Annotated[
    Literal["map", "heatmap", "both"],
    typer.Option("--kind", help="What is drawn.", rich_help_panel="Output"),
]
Every = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Draw a line for every weight that does not show as zero.",
        rich_help_panel="Output",
    ),
]
Values = Annotated[
    bool,
    typer.Option(
        "--values/--no-values", help="Write the weights in the picture.", rich_help_panel="Output"
    ),
]
Dark = Annotated[
    bool,
    typer.Option("--dark", help="Draw on a dark background.", rich_help_panel="Output"),
]
Size = Annotated[
    str | None,
    typer.Option(
        "--size",
        metavar="INCHES",
        help="Width and height, as 12x8, or a width alone.",
        show_default="what the picture needs",
        rich_help_panel="Output",
    ),
]
Head = Annotated[
    str | None,
    typer.Option(
        "--head",
        metavar="HEAD",
        help="Draw this head alone, counted from 1, or the mean of all.",
        show_default="all of them, beside one another",
        rich_help_panel="Output",
    ),
]

DEFAULT_PLACE = "attention-map.png"


@options.for_problems(None)
def plot(
    context: typer.Context,
    file: options.File = None,
    kind: Kind = "map",
    every_line: Every = False,
    values: Values = True,
    head: Head = None,
    dark: Dark = False,
    size: Size = None,
    out: options.Out = None,
    **flags: Any,
) -> None:
    """Draw the connection map, the heatmap, or both."""
    from attncalc.cli.streams import emit, note
    from attncalc.cli.targets import check_outputs, place_of
    from attncalc.plotting.look import Look, read_size
    from attncalc.plotting.picture import (
        check_ending,
        chosen_heads,
        needed_for_pictures,
        render,
    )
    from attncalc.solving.solution import solve
    from attncalc.writing.files import write_file
    from attncalc.writing.sentences import notes

    path = place_of("--out", DEFAULT_PLACE if out is None else out) or Path("-")
    form = check_ending(path)
    check_outputs(path, None)
    with as_flags():
        look = Look(kind, every_line, values, dark, read_size(size))
    problem = options.problem_from(context.params, fallback="self")
    check_outputs(path, None)  # once more, now that it is known what was read
    solution = solve(problem, keep=needed_for_pictures(problem))
    for remark in notes(solution):
        note(remark.text)
    with as_flags():
        picture = render(solution, form, chosen_heads(solution, head), look)
    write_file(path, picture.content)
    for text in picture.notes:
        note(text)
    emit(f"{path}\n")


@contextmanager
def as_flags() -> Iterator[None]:
    """Say of an option of a picture that is refused what its flag is called."""
    from attncalc.errors import InputError

    try:
        yield
    except InputError as error:  # its text starts with the name
        raise InputError(f"--{error}") from None
