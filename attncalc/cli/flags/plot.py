"""The flags of `attncalc plot`."""

from typing import Annotated, Any, Literal

import typer

from attncalc.cli.flags.fields import for_problems
from attncalc.cli.flags.shared import OUTPUT, Explain, File, Out

HELP = """Draw the map of which input each output attends to, or the weights as a heatmap.

A solid line leads to the input that influences an output most, a dashed line to the second.

[bold]Examples[/bold]

    attncalc plot                      the homework's, as attention-map.png
    attncalc plot in.json -o map.svg   your own problem; .png, .svg or .pdf
    attncalc plot in.json --kind both  the map, and the weights in colours
    attncalc plot in.json --all        a line for every weight
    attncalc plot in.json --dark --size 12x8 -o slide.png
    attncalc plot in.json --no-scale --title "Unscaled" -o map.pdf
    attncalc plot in.json --kind heatmap --of dS -o ds.png
"""

Kind = Annotated[
    Literal["map", "heatmap", "both"],
    typer.Option("--kind", help="What is drawn.", rich_help_panel=OUTPUT),
]
Every = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Draw a line for every weight that does not show as zero.",
        rich_help_panel=OUTPUT,
    ),
]
Values = Annotated[
    bool,
    typer.Option(
        "--values/--no-values", help="Write the weights in the picture.", rich_help_panel=OUTPUT
    ),
]
Dark = Annotated[
    bool,
    typer.Option("--dark", help="Draw on a dark background.", rich_help_panel=OUTPUT),
]
Size = Annotated[
    str | None,
    typer.Option(
        "--size",
        metavar="INCHES",
        help="Width and height, as 12x8, or a width alone.",
        show_default="what the picture needs",
        rich_help_panel=OUTPUT,
    ),
]
Head = Annotated[
    str | None,
    typer.Option(
        "--head",
        metavar="HEAD",
        help="Draw this head alone, counted from 1, or the mean of all.",
        show_default="all of them, beside one another",
        rich_help_panel=OUTPUT,
    ),
]


Of = Annotated[
    str | None,
    typer.Option(
        "--of",
        metavar="GRADIENT",
        help="Draw the heatmap of this gradient, as dS, and not of the weights.",
        rich_help_panel=OUTPUT,
    ),
]


@for_problems(None)
def plot(
    context: typer.Context,
    file: File = None,
    kind: Kind = "map",
    every_line: Every = False,
    values: Values = True,
    head: Head = None,
    of: Of = None,
    dark: Dark = False,
    size: Size = None,
    explain: Explain = False,
    out: Out = None,
    **flags: Any,
) -> None:
    """Draw the connection map, the heatmap, or both."""
    from attncalc.cli.commands.plot import plot

    plot(context.params)
