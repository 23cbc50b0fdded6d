"""The flags of `attncalc check`."""

from typing import Annotated, Any, Literal

import typer

from attncalc.cli.flags.fields import for_problems
from attncalc.cli.flags.shared import OUTPUT, Jobs, Out

HELP = """Mark a worked answer: which entry went wrong first, why, and what follows from it.

[bold]Examples[/bold]

    attncalc check problem.json answer.json
    attncalc check problem.json answer.md --format json
    attncalc check problem.json answers/ --csv marks.csv   many answers
    attncalc check problem.json answers/ -o marked/        a page for each
    attncalc check set/ answers/ -o marked/                a set for a class
    attncalc check layer.npz dump.npz --atol 1e-6          a program's
    attncalc check --lesson lesson.md                      a lesson's own numbers

An answer holds any of the steps, as JSON, CSV, .npz, Markdown, LaTeX, a matrix of MATLAB or
Python, or the worksheet of --blank filled in. The exit code is 0 when everything is right.
"""

_MARKING = "Marking"
_TOLERANCE = "Numbers of a program"

File = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM", help="The problem: a file or a folder; or a set for a class."
    ),
]
Answers = Annotated[
    list[str] | None,
    typer.Argument(metavar="ANSWER...", help="Answers: files, folders, or - for standard input."),
]
Lesson = Annotated[
    bool,
    typer.Option(
        "--lesson",
        help="Check lessons by their own numbers: every file named is a document with examples.",
        rich_help_panel=_MARKING,
    ),
]
Steps = Annotated[
    str | None,
    typer.Option(
        "--steps",
        metavar="STEPS",
        help="What is asked for, as Q,S,A,O,connections.",
        show_default="what the problem asks for, or all its steps",
        rich_help_panel=_MARKING,
    ),
]
Weight = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="STEP=NUMBER",
        help="What a step counts, as A=2, or connections=1/2; may be repeated.",
        show_default="1 each",
        rich_help_panel=_MARKING,
    ),
]


def _penalty(name: str, meaning: str, default: str) -> Any:
    return typer.Option(
        f"--{name}-penalty",
        metavar="SHARE",
        help=f"What an entry loses that {meaning}, from 0 to 1.",
        show_default=default,
        rich_help_panel=_MARKING,
    )


Points = Annotated[
    str | None,
    typer.Option(
        "--points",
        metavar="NUMBER",
        help="What a flawless answer earns.",
        show_default="what its steps count",
        rich_help_panel=_MARKING,
    ),
]
Require = Annotated[
    str | None,
    typer.Option(
        "--require",
        metavar="STEPS",
        help="What must be shown though a later step is written, as Q,K,S.",
        show_default="what is asked for by name",
        rich_help_panel=_MARKING,
    ),
]
Rubric = Annotated[
    str | None,
    typer.Option(
        "--rubric",
        metavar="JSON",
        help="A rubric: points, what each step counts, deductions by cause, as JSON.",
        rich_help_panel=_MARKING,
    ),
]
FollowPenalty = Annotated[str | None, _penalty("follow", "follows from an earlier mistake", "0")]
RoundingPenalty = Annotated[
    str | None, _penalty("rounding", "differs from the key by rounding", "0")
]
PrecisionPenalty = Annotated[str | None, _penalty("precision", "has too few decimals", "1/2")]
Atol = Annotated[
    float | None,
    typer.Option(
        "--atol", help="Compare within this absolute error.", rich_help_panel=_TOLERANCE, min=0
    ),
]
Rtol = Annotated[
    float | None,
    typer.Option(
        "--rtol", help="Compare within this relative error.", rich_help_panel=_TOLERANCE, min=0
    ),
]
Format = Annotated[
    Literal["table", "json", "markdown", "latex", "html", "csv"] | None,
    typer.Option(
        "--format",
        help="The form of the output.",
        show_default="table, or what the ending of --out says",
        rich_help_panel=OUTPUT,
    ),
]
Brief = Annotated[
    bool,
    typer.Option(
        "--brief",
        help="The score and the verdict alone, in pages and JSON too.",
        rich_help_panel=OUTPUT,
    ),
]
Full = Annotated[
    bool,
    typer.Option("--full", help="Show the matrices too, large ones whole.", rich_help_panel=OUTPUT),
]
Reading = Annotated[
    bool,
    typer.Option(
        "--reading",
        help="Do not mark: show what was read, as what, from which lines. With -o FILE.json the "
        "answer as it was read, to be corrected and marked.",
        rich_help_panel=OUTPUT,
    ),
]
Fractions = Annotated[
    bool,
    typer.Option(
        "--fractions",
        help="Points as fractions, not decimals.",
        rich_help_panel=OUTPUT,
    ),
]
MarksDecimals = Annotated[
    int | None,
    typer.Option(
        "--marks-decimals",
        metavar="NUMBER",
        min=0,
        max=12,
        help="Decimals that points have at most.",
        show_default="2; 4 in CSV",
        rich_help_panel=OUTPUT,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        help="Write a row for each answer to this file, too.",
        rich_help_panel=OUTPUT,
    ),
]


@for_problems(None)
def check(
    context: typer.Context,
    file: File,
    answers: Answers = None,
    lesson: Lesson = False,
    steps: Steps = None,
    weight: Weight = None,
    points: Points = None,
    require: Require = None,
    rubric: Rubric = None,
    follow_penalty: FollowPenalty = None,
    rounding_penalty: RoundingPenalty = None,
    precision_penalty: PrecisionPenalty = None,
    atol: Atol = None,
    rtol: Rtol = None,
    format: Format = None,  # noqa: A002 - the flag is --format
    sheet: Sheet = None,
    fractions: Fractions = False,
    marks_decimals: MarksDecimals = None,
    reading: Reading = False,
    brief: Brief = False,
    full: Full = False,
    jobs: Jobs = None,
    out: Out = None,
    **flags: Any,
) -> None:
    """Mark the answers, write what is asked for, and leave with 1 where anything is wrong."""
    from attncalc.cli.commands.check import check

    if not (answers or lesson):
        context.fail("Missing argument 'ANSWER...'.")
    raise typer.Exit(check(context.params))
