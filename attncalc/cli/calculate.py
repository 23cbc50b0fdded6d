"""`attncalc self` and `attncalc cross`: every step, as tables or as JSON."""

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from attncalc.cli import options

if TYPE_CHECKING:
    from attncalc.plan import Step
    from attncalc.problem import Problem
    from attncalc.solution import Solution

SELF_HELP = """Compute self-attention, every step shown.

[bold]Examples[/bold]

    attncalc self                          the bundled homework
    attncalc self in.json                  your own problem
    attncalc self in.csv --only Q,A -d 3   some steps, three decimals
    attncalc self - < in.json              from standard input
    attncalc self --X "1 0; 0 1" --W_Q wq.csv --W_K wk.csv --W_V "1; 1/2"
    attncalc self in.json --format json -o steps.json
"""

CROSS_HELP = """Compute cross-attention, every step shown: the tokens of X1 attend to those of X2.

[bold]Examples[/bold]

    attncalc cross                         the bundled homework
    attncalc cross in.json                 your own problem
    attncalc cross in.json --no-scale --rounding each-step
    attncalc cross --X1 "1 0" --X2 x2.csv --W_Q wq.csv --W_K wk.csv --W_V wv.csv
"""


def self_attention(
    context: typer.Context,
    file: options.File = None,
    X: options.X = None,
    W_Q: options.W_Q = None,
    W_K: options.W_K = None,
    W_V: options.W_V = None,
    scale: options.Scale = None,
    no_scale: options.NoScale = False,
    rounding: options.Rounding = None,
    decimals: options.Decimals = None,
    title: options.Title = None,
    only: options.Only = None,
    full: options.Full = False,
    format: options.Format = None,  # noqa: A002 - the flag is --format
    out: options.Out = None,
) -> None:
    """Compute self-attention."""
    problem = options.problem_from(context.params, fallback="self", kind="self")
    _show(problem, context.params)


def cross_attention(
    context: typer.Context,
    file: options.File = None,
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
    only: options.Only = None,
    full: options.Full = False,
    format: options.Format = None,  # noqa: A002 - the flag is --format
    out: options.Out = None,
) -> None:
    """Compute cross-attention."""
    problem = options.problem_from(context.params, fallback="cross", kind="cross")
    _show(problem, context.params)


def _show(problem: "Problem", flags: dict[str, Any]) -> None:
    """Solve, and write what is asked for to where it is asked for."""
    from attncalc.solution import solve

    solution = solve(problem)
    steps = _chosen(solution, flags["only"])
    out = None if flags["out"] is None else Path(flags["out"])
    form = flags["format"] or ("json" if out and out.suffix.lower() == ".json" else "table")
    if form == "json":
        from attncalc.writing.json_text import write_json

        _deliver(write_json(solution, steps), out)
    else:
        _show_tables(solution, steps, out, full=flags["full"])


def _show_tables(
    solution: "Solution", steps: "tuple[Step, ...]", out: Path | None, *, full: bool
) -> None:
    from rich.console import Console

    from attncalc.cli.streams import note
    from attncalc.writing.tables import Screen, on_screen, write_notes, write_tables

    if out:
        console, screen = Console(file=io.StringIO(), color_system=None), Screen(full=full)
    else:
        console = Console(file=sys.stdout)
        screen = Screen(
            width=console.width if console.is_terminal else None,
            full=full,
            encoding=console.encoding,
        )
    _deliver(on_screen(console, write_tables(solution, steps, screen), screen), out)
    for text in write_notes(solution, steps, screen):
        note(text)


def _chosen(solution: "Solution", only: str | None) -> "tuple[Step, ...]":
    """Return the steps that --only names, by name or title, in the order of the plan."""
    from attncalc.errors import InputError
    from attncalc.reading.names import unknown

    if only is None:
        return solution.steps
    plain = {step.name.lower(): step.name for step in solution.steps}
    plain |= {step.title: step.name for step in solution.steps}
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    for name in wanted:
        if name.lower() not in plain:
            raise InputError(f"--only: {unknown(name, [step.name for step in solution.steps])}")
    if not wanted:
        raise InputError("--only takes the names of steps, as Q,A")
    names = {plain[name.lower()] for name in wanted}
    return tuple(step for step in solution.steps if step.name in names)


def _deliver(text: str, out: Path | None) -> None:
    from attncalc.cli.streams import emit, note
    from attncalc.writing.files import write_file

    if out is None:
        emit(text)
    else:
        write_file(out, text.encode())
        note(f"written to {out}")
