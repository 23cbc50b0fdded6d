"""The flags that several commands have."""

from typing import Annotated, Literal

import typer

OUTPUT = "Output"

File = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]",
        help="JSON, CSV, .npz, a folder of CSV files, or - for standard input.",
        show_default="the bundled sample",
    ),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full", help="Show large matrices whole, and all of their work.", rich_help_panel=OUTPUT
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain", help="Say what the weights show, in sentences.", rich_help_panel=OUTPUT
    ),
]
Format = Annotated[
    Literal["table", "markdown", "latex", "html", "csv", "json", "npz"] | None,
    typer.Option(
        "--format",
        help="The form of the output.",
        show_default="table, or what the ending of --out says",
        rich_help_panel=OUTPUT,
    ),
]
Standalone = Annotated[
    bool,
    typer.Option(
        "--standalone",
        help="For latex: a document of its own, with the map.",
        rich_help_panel=OUTPUT,
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write to this file; for csv also to a folder.",
        rich_help_panel=OUTPUT,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="NUMBER",
        min=1,
        help="How many cores share the work on a class, or on a folder of answers.",
        show_default="all",
        rich_help_panel="For a class",
    ),
]
