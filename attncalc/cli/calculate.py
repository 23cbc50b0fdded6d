"""`attncalc self` and `attncalc cross`: every step, as tables or as JSON."""

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from attncalc.cli import options
from attncalc.errors import InputError, OutputError
from attncalc.numbers import quoted

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


@options.for_problems("self")
def self_attention(
    context: typer.Context,
    file: options.File = None,
    only: options.Only = None,
    full: options.Full = False,
    format: options.Format = None,  # noqa: A002 - the flag is --format
    out: options.Out = None,
    **flags: Any,
) -> None:
    """Compute self-attention."""
    _show(options.problem_from(context.params, fallback="self", kind="self"), context.params)


@options.for_problems("cross")
def cross_attention(
    context: typer.Context,
    file: options.File = None,
    only: options.Only = None,
    full: options.Full = False,
    format: options.Format = None,  # noqa: A002 - the flag is --format
    out: options.Out = None,
    **flags: Any,
) -> None:
    """Compute cross-attention."""
    _show(options.problem_from(context.params, fallback="cross", kind="cross"), context.params)


def _show(problem: "Problem", flags: dict[str, Any]) -> None:
    """Solve, and write what is asked for to where it is asked for."""
    from attncalc.cli.progress import reporting
    from attncalc.plan import plan
    from attncalc.solution import solve

    out = _place(flags)
    form = flags["format"] or _form_of(out)
    if form == "npz" and out is None:
        raise InputError("npz is no text: say where to write it, as -o steps.npz")
    steps = _chosen(plan(problem), flags["only"])
    keep = [step.name for step in steps]
    if form != "npz" and not problem.is_long:
        keep.append("A")  # for what each output attends to
    with reporting() as report:
        solution = solve(problem, keep=dict.fromkeys(keep), report=report)
    if form == "json":
        from attncalc.writing.json_text import write_json

        _deliver(write_json(solution, steps), out)
    elif form == "npz" and out is not None:
        _save_arrays(solution, steps, out)
    else:
        _show_tables(solution, steps, out, full=flags["full"])


def _place(flags: dict[str, Any]) -> Path | None:
    """Return the file to write to, or None for standard output; refuse what would do harm."""
    from attncalc.writing.files import check_place

    if flags["out"] in (None, "-", "/dev/stdout"):
        return None
    out = Path(flags["out"])
    check_place(out)
    source = flags["file"]
    if source not in (None, "-") and out.exists() and out.samefile(source):
        raise OutputError(f"cannot write {out}: it is the problem itself")
    return out


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


def _form_of(out: Path | None) -> str:
    """Return the form that the ending of the output file asks for."""
    forms = {"": "table", ".txt": "table", ".json": "json", ".npz": "npz"}
    if out is None:
        return "table"
    if out.suffix.lower() not in forms:
        raise OutputError(
            f"{out}: {quoted(out.suffix)} is no form of output: "
            "end the name in .json, .npz or .txt, or say --format"
        )
    return forms[out.suffix.lower()]


def _save_arrays(solution: "Solution", steps: "tuple[Step, ...]", out: Path) -> None:
    from functools import partial

    from attncalc.cli.streams import note
    from attncalc.writing.files import write_file
    from attncalc.writing.npz_file import write_npz

    write_file(out, partial(write_npz, solution, steps))
    note(f"written to {out}")


def _chosen(steps: "tuple[Step, ...]", only: str | None) -> "tuple[Step, ...]":
    """Return the steps that --only names, by name or title, in the order of the plan."""
    from attncalc.reading.names import unknown

    if only is None:
        return steps
    plain = {step.name.lower(): step.name for step in steps}
    plain |= {step.title: step.name for step in steps}
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    for name in wanted:
        if name.lower() not in plain:
            raise InputError(f"--only: {unknown(name, [step.name for step in steps])}")
    if not wanted:
        raise InputError("--only takes the names of steps, as Q,A")
    names = {plain[name.lower()] for name in wanted}
    return tuple(step for step in steps if step.name in names)


def _deliver(text: str, out: Path | None) -> None:
    from attncalc.cli.streams import emit, note
    from attncalc.writing.files import write_file

    if out is None:
        emit(text)
    else:
        write_file(out, text.encode())
        note(f"written to {out}")
