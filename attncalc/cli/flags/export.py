"""The flags of `attncalc export`."""

from typing import Annotated, Any, Literal

import typer

from attncalc.cli.flags.check import (
    FollowPenalty,
    Points,
    PrecisionPenalty,
    RoundingPenalty,
    Steps,
    Weight,
)
from attncalc.cli.flags.fields import for_problems
from attncalc.cli.flags.shared import OUTPUT

HELP = """Write a problem for the system of a course, which gives it out and marks it.

[bold]Examples[/bold]

    attncalc export problem.json --to gradescope --points 10 -o autograder.zip
    attncalc export problem.json --to moodle -o question.xml
    attncalc export problem.json --to prairielearn -o attention/
    attncalc export problem.json --to numbas -o attention.exam
    attncalc export set/ --to moodle -o quiz.xml     the versions of a class

Gradescope, PrairieLearn and Numbas mark from the student's own values:
a mistake costs where it is made. Numbas holds attention, but no layers.
Moodle marks each entry alone: there a mistake costs in every step after it.
"""

File = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM", help="JSON, CSV, .npz, a folder of CSV files, -, or a set for a class."
    ),
]
To = Annotated[
    Literal["gradescope", "moodle", "prairielearn", "numbas"],
    typer.Option("--to", help="The system.", rich_help_panel=OUTPUT),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="PLACE",
        help="Write to this file; for prairielearn to this folder.",
        rich_help_panel=OUTPUT,
    ),
]


@for_problems(None)
def export(
    context: typer.Context,
    file: File,
    to: To,
    steps: Steps = None,
    weight: Weight = None,
    follow_penalty: FollowPenalty = None,
    rounding_penalty: RoundingPenalty = None,
    precision_penalty: PrecisionPenalty = None,
    points: Points = None,
    out: Out = None,
    **flags: Any,
) -> None:
    """Write the problem for a system."""
    from attncalc.cli.commands.export import export

    export(context.params)
