"""`attncalc plot`: the map of which input each output attends to."""

from pathlib import Path
from typing import Annotated, Any

import typer

from attncalc.cli import options

HELP = """Draw the map of which input each output attends to.

A solid line leads to the input that influences an output most, a dashed line to the second.

[bold]Examples[/bold]

    attncalc plot                        the bundled homework, as attention-map.png
    attncalc plot in.json -o map.svg     your own problem; .png, .svg or .pdf
    attncalc plot in.json --no-scale --title "Unscaled" -o map.pdf
"""
"""What `attncalc plot --help` says."""

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
    head: Head = None,
    out: options.Out = None,
    **flags: Any,
) -> None:
    """Draw the connection map."""
    from attncalc.cli.streams import emit, note
    from attncalc.plotting.picture import check_ending, chosen_heads, render
    from attncalc.solution import solve
    from attncalc.words import notes
    from attncalc.writing.files import check_place, write_file

    path = Path(DEFAULT_PLACE if out is None else out)
    form = check_ending(path)
    check_place(path)
    solution = solve(options.problem_from(context.params, fallback="self"))
    for remark in notes(solution):
        note(remark.text)
    picture = render(solution, form, chosen_heads(solution, head))
    write_file(path, picture.content)
    for text in picture.notes:
        note(text)
    emit(f"{path}\n")
