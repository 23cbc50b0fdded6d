"""`attncalc plot`: the map of which input each output attends to."""

from pathlib import Path

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

DEFAULT_PLACE = "attention-map.png"


def plot(
    context: typer.Context,
    file: options.File = None,
    X: options.X = None,
    X1: options.X1 = None,
    X2: options.X2 = None,
    W_Q: options.W_Q = None,
    W_K: options.W_K = None,
    W_V: options.W_V = None,
    scale: options.Scale = None,
    no_scale: options.NoScale = False,
    rounding: options.Rounding = None,
    decimals: options.Decimals = None,
    title: options.Title = None,
    out: options.Out = None,
) -> None:
    """Draw the connection map."""
    from attncalc.cli.streams import emit, note
    from attncalc.plotting.picture import check_ending, render
    from attncalc.solution import solve
    from attncalc.writing.files import check_place, write_file

    path = Path(DEFAULT_PLACE if out is None else out)
    form = check_ending(path)
    check_place(path)
    solution = solve(options.problem_from(context.params, fallback="self"))
    picture = render(solution, form)
    write_file(path, picture.content)
    for text in picture.notes:
        note(text)
    emit(f"{path}\n")
