"""The flags of `attncalc self`, `cross`, `encoder`, `decoder` and `vit`."""

from typing import Annotated, Any, Literal

import typer

from attncalc.cli.flags.fields import Command, for_problems
from attncalc.cli.flags.shared import OUTPUT, Explain, File, Format, Full, Out, Standalone

SELF_HELP = """Compute self-attention, every step shown.

[bold]Examples[/bold]

    attncalc self                          the bundled homework
    attncalc self in.json                  your own problem
    attncalc self in.json --only "Q,A"     some steps
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

ENCODER_HELP = """Compute an encoder layer, or several, every step shown.

[bold]Examples[/bold]

    attncalc encoder                       the bundled sample
    attncalc encoder in.json               your own layer, or a list of "layers"
    attncalc encoder in.json --norm pre --activation gelu
    attncalc encoder in.json --work -o key.md
    attncalc encoder --X "1 0 2; 0 1 1"    a normalisation alone
"""

DECODER_HELP = """Compute a decoder layer, or several: with an encoder's outputs, or without them.

[bold]Examples[/bold]

    attncalc decoder                       the bundled sample
    attncalc decoder in.json               your own layer, or a list of "layers"
    attncalc decoder in.json --only "self.A,cross.A,Y"
    attncalc decoder in.json --work -o key.md
"""

VIT_HELP = """Compute a Vision Transformer, every step shown: an image's patches are the tokens.

[bold]Examples[/bold]

    attncalc vit                           the bundled sample
    attncalc vit in.json                   your own image
    attncalc vit in.json --only "patches,X,A,prob"
    attncalc vit in.json --work -o key.md
    attncalc vit --image "1 0 2 1; 0 1 1 0" --patch 2 --E "1 0; 0 1; 1 1; 0 2"
    attncalc plot in.json -o map.png       the class token's weights, on the image
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
Practice = Annotated[
    bool,
    typer.Option(
        "--practice",
        help="A worksheet of HTML to fill in, and to check, where it is read.",
        rich_help_panel=OUTPUT,
    ),
]


def command(kind: Literal["self", "cross", "encoder", "decoder", "vit"]) -> Command:
    """Return the command for one kind of problem; without a file, it solves the sample of it."""

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
        practice: Practice = False,
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
