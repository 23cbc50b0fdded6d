"""The flags of `attncalc self` and `attncalc cross`."""

from typing import Annotated, Any, Literal

import typer

from attncalc.cli.flags.fields import Command, for_problems
from attncalc.cli.flags.shared import OUTPUT, Explain, File, Format, Full, Out, Standalone

SELF_HELP = """Compute self-attention, every step shown.

[bold]Examples[/bold]

    attncalc self                          the bundled homework
    attncalc self in.json                  your own problem
    attncalc self in.csv --only Q,A -d 3   some steps, three decimals
    attncalc self in.json --work           the arithmetic of every entry
    attncalc self in.json --entry "A[3,1]" --fractions
    attncalc self in.json --work -o hw.pdf
    attncalc self in.json --work --standalone -o key.tex
    attncalc self in.json --blank -o worksheet.md
    attncalc self in.json --explain        what the weights show
    attncalc self - < in.json              from standard input
    attncalc self --X "1 0; 0 1" --W_Q wq.csv --W_K wk.csv --W_V "1; 1/2"
    attncalc self in.json --format json -o steps.json
"""

CROSS_HELP = """Compute cross-attention, every step shown: the tokens of X1 attend to those of X2.

[bold]Examples[/bold]

    attncalc cross                         the bundled homework
    attncalc cross in.json                 your own problem
    attncalc cross in.json --no-scale --rounding each-step
    attncalc cross in.json --work -o key.md
    attncalc cross --X1 "1 0" --X2 x2.csv --W_Q wq.csv --W_K wk.csv --W_V wv.csv
"""

Only = Annotated[
    str | None,
    typer.Option(
        "--only", metavar="STEPS", help="Show these steps only, as Q,A.", rich_help_panel=OUTPUT
    ),
]
Work = Annotated[
    bool,
    typer.Option("--work", help="Write out every entry of every step.", rich_help_panel=OUTPUT),
]
Entry = Annotated[
    list[str] | None,
    typer.Option(
        "--entry",
        metavar="ENTRY",
        help="Write out this alone, as A[3,1], A[3,:], S or A['cat','sat']; may be repeated.",
        rich_help_panel=OUTPUT,
    ),
]
Fractions = Annotated[
    bool,
    typer.Option("--fractions", help="Show exact values as fractions.", rich_help_panel=OUTPUT),
]
Mixed = Annotated[
    bool,
    typer.Option("--mixed", help="The same, as mixed numbers: 2 1/2.", rich_help_panel=OUTPUT),
]
Blank = Annotated[
    bool,
    typer.Option(
        "--blank",
        help="A worksheet: the same page with every answer left out.",
        rich_help_panel=OUTPUT,
    ),
]


def command(kind: Literal["self", "cross"]) -> Command:
    """Return the command for one kind of attention; without a file, it solves the sample of it."""

    @for_problems(kind)
    def calculate(
        context: typer.Context,
        file: File = None,
        only: Only = None,
        work: Work = False,
        entry: Entry = None,
        fractions: Fractions = False,
        mixed: Mixed = False,
        blank: Blank = False,
        explain: Explain = False,
        full: Full = False,
        format: Format = None,  # noqa: A002 - the flag is --format
        standalone: Standalone = False,
        out: Out = None,
        **flags: Any,
    ) -> None:
        from attncalc.cli.commands.calculate import calculate

        calculate(kind, context.params)

    return calculate
