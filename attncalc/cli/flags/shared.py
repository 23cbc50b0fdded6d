"""The flags that several commands have."""

from typing import Annotated

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
