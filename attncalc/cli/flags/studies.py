"""The flags that studies have: `attncalc vary`, `attncalc simulate`, `attncalc aim`."""

from typing import Annotated, Any

import typer

from attncalc.cli.flags.fields import for_problems
from attncalc.cli.flags.shared import OUTPUT, Format, Full

VARY_HELP = """Solve a problem at many values of something, and watch what that does.

[bold]Examples[/bold]

    attncalc vary in.json "scale=0.1:10:log" --watch "A[1,:]"
    attncalc vary in.json "scale=0:inf"           both limits: equal weights, hardmax
    attncalc vary in.json "K\\[a] *= 0:3" -o curve.png
    attncalc vary in.json "K\\[a] += 0:1 * [1, 0]"  a key moved along a direction
    attncalc vary in.json "X[2,1] = -2:2" "scale=0.5,1,2"
    attncalc vary in.json "W_Q *= 1:10" --watch "entropy(A)" --watch "norm(O)"

A range is from:to, from:to:steps or from:to:log; two changes make a grid.
"""

SIMULATE_HELP = """Draw a problem again and again, and watch how that spreads.

[bold]Examples[/bold]

    attncalc simulate in.json "K\\[a] ~ N(mu, 0.01 I)" --draws 1000 --seed 1
    attncalc simulate in.json "K\\[a] ~ N(mu, 0.01 I + 1/2 mu muT)" -o cloud.png
    attncalc simulate in.json "X[2,1] ~ U(-1, 1)" --watch "A[2,:]" --until 0.001
    attncalc simulate one-head.json two-heads.json "K\\[a] ~ N(mu, 0.1 I)"

mu is what is given. The same seed gives the same digits.
"""

AIM_HELP = """Design the query that copies a value, or averages some: q = β (k_a + k_b).

[bold]Examples[/bold]

    attncalc aim in.json "1/2 v_a + 1/2 v_b" --beta 10
    attncalc aim in.json "v_b" --within 0.001     which β is enough
    attncalc aim in.json "1/3 v_a + 2/3 v_c"
    attncalc aim in.json "1/2 v_a + 1/2 v_b" --heads 2 --save two-heads.json
    attncalc aim in.json "v_b" -o weights-over-beta.png

No query is needed in the problem. With --heads each head has a query for one value, and their
outputs are averaged.
"""

_STUDY = "Study"

Things = Annotated[
    list[str],
    typer.Argument(metavar="[FILE] CHANGE...", help="The problem, and one or two changes."),
]
Drawn = Annotated[
    list[str],
    typer.Argument(metavar="[FILE...] DRAW...", help="Problems, and what is drawn of them."),
]
Draws = Annotated[int, typer.Option("--draws", help="How many draws.", rich_help_panel=_STUDY)]
Seed = Annotated[
    int, typer.Option("--seed", help="That of the generator.", rich_help_panel=_STUDY, min=0)
]
Until = Annotated[
    float | None,
    typer.Option(
        "--until",
        metavar="ERROR",
        help="Draw until the standard error of each mean is as small.",
        rich_help_panel=_STUDY,
    ),
]
Aimed = Annotated[
    list[str],
    typer.Argument(metavar="[FILE] TARGET", help="Keys and values, and what is aimed for."),
]
Beta = Annotated[
    str,
    typer.Option(
        "--beta",
        metavar="NUMBER",
        help="By how much the scaled scores of what is aimed for are above the others.",
        rich_help_panel=_STUDY,
    ),
]
Within = Annotated[
    float | None,
    typer.Option(
        "--within",
        metavar="ERROR",
        help="Find the β from which the error is as small.",
        rich_help_panel=_STUDY,
    ),
]
Save = Annotated[
    str | None,
    typer.Option(
        "--save",
        metavar="FILE",
        help="Write the problem with its designed query, as JSON, for simulate, vary and self.",
        rich_help_panel=OUTPUT,
    ),
]
Watch = Annotated[
    list[str] | None,
    typer.Option(
        "--watch",
        metavar="WHAT",
        help="What is watched: A[1,2], A[1,:], O, entropy(A), max(A), distance(O, V\\[b]), "
        "error(O, mean V\\[a,b]), norm(O); may be repeated.",
        show_default="the weights; of draws the outputs, too",
        rich_help_panel=_STUDY,
    ),
]
Yes = Annotated[
    bool,
    typer.Option("--yes", help="Go on, however long it takes.", rich_help_panel=_STUDY),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write to this file; .png, .svg and .pdf are a picture.",
        rich_help_panel=OUTPUT,
    ),
]
Dark = Annotated[
    bool, typer.Option("--dark", help="A picture on a dark background.", rich_help_panel=OUTPUT)
]
Size = Annotated[
    str | None,
    typer.Option(
        "--size",
        metavar="INCHES",
        help="Width and height of a picture, as 12x8, or a width alone.",
        show_default="what the picture needs",
        rich_help_panel=OUTPUT,
    ),
]


@for_problems(None)
def vary(
    context: typer.Context,
    things: Things,
    watch: Watch = None,
    yes: Yes = False,
    full: Full = False,
    format: Format = None,  # noqa: A002 - the flag is --format
    dark: Dark = False,
    size: Size = None,
    out: Out = None,
    **flags: Any,
) -> None:
    """Solve at each value, and write what is watched."""
    from attncalc.cli.commands.vary import vary

    vary(context.params)


@for_problems(None)
def simulate(
    context: typer.Context,
    things: Drawn,
    draws: Draws = 1000,
    seed: Seed = 0,
    until: Until = None,
    watch: Watch = None,
    yes: Yes = False,
    full: Full = False,
    format: Format = None,  # noqa: A002 - the flag is --format
    dark: Dark = False,
    size: Size = None,
    out: Out = None,
    **flags: Any,
) -> None:
    """Draw, solve each draw, and write how what is watched spreads."""
    from attncalc.cli.commands.simulate import simulate

    simulate(context.params)


@for_problems("attention")
def aim(
    context: typer.Context,
    things: Aimed,
    beta: Beta = "10",
    within: Within = None,
    save: Save = None,
    full: Full = False,
    format: Format = None,  # noqa: A002 - the flag is --format
    dark: Dark = False,
    size: Size = None,
    out: Out = None,
    **flags: Any,
) -> None:
    """Design the query, and write what it comes to."""
    from attncalc.cli.commands.aim import aim

    aim(context.params)
