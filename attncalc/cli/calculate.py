"""`attncalc self` and `attncalc cross`: every step, in the form in which it is handed in."""

from typing import TYPE_CHECKING, Any, Literal

import typer

from attncalc.cli import options
from attncalc.errors import InputError

if TYPE_CHECKING:
    from attncalc.numbers.types import Place
    from attncalc.operations.step import Step
    from attncalc.problem.problem import Problem
    from attncalc.solving.solution import Solution
    from attncalc.writing.page import Contents

SELF_HELP = """Compute self-attention, every step shown.

[bold]Examples[/bold]

    attncalc self                          the bundled homework
    attncalc self in.json                  your own problem
    attncalc self in.csv --only Q,A -d 3   some steps, three decimals
    attncalc self in.json --work           the arithmetic of every entry
    attncalc self in.json --entry "A[3,1]" --fractions
    attncalc self in.json --work --standalone -o key.tex
    attncalc self in.json --blank -o worksheet.md
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


def command(kind: Literal["self", "cross"]) -> options.Command:
    """Return the command for one kind of attention; without a file, it solves the sample of it."""

    @options.for_problems(kind)
    def calculate(
        context: typer.Context,
        file: options.File = None,
        only: options.Only = None,
        work: options.Work = False,
        entry: options.Entry = None,
        fractions: options.FractionsFlag = False,
        mixed: options.Mixed = False,
        blank: options.Blank = False,
        full: options.Full = False,
        format: options.Format = None,  # noqa: A002 - the flag is --format
        standalone: options.Standalone = False,
        out: options.Out = None,
        **flags: Any,
    ) -> None:
        given = context.params
        _show(options.problem_from(given, fallback=kind, kind=kind), given)

    return calculate


def _show(problem: "Problem", flags: dict[str, Any]) -> None:
    """Solve, and write what is asked for to where it is asked for."""
    from attncalc.cli.progress import reporting
    from attncalc.cli.targets import target_of, write_page
    from attncalc.solving.plan import plan
    from attncalc.solving.solution import solve
    from attncalc.writing.page import make_page

    _check_combinations(flags)
    target = target_of(flags)
    steps = _chosen(plan(problem), flags["only"])
    with reporting() as report:
        solution = solve(problem, keep=_kept(problem, steps, flags), report=report)
    page = make_page(solution, _contents(solution, steps, flags))
    write_page(page, target)


def _check_combinations(flags: dict[str, Any]) -> None:
    """Refuse flags that contradict one another."""
    writes_out = "--work" if flags["work"] else "--entry" if flags["entry"] else ""
    if flags["blank"] and writes_out:
        raise InputError(f"--blank and {writes_out} together: a worksheet holds no work")
    if flags["entry"] and (flags["work"] or flags["only"]):
        other = "--work" if flags["work"] else "--only"
        raise InputError(f"--entry and {other} together: --entry says what is shown")


def _kept(
    problem: "Problem", steps: "tuple[Step, ...]", flags: dict[str, Any]
) -> dict[str, None] | None:
    """Return the names of the steps that are needed, or None for all of them."""
    names = [step.name for step in steps]
    if problem.is_long and flags["entry"]:
        scores = problem.n_heads * problem.n * problem.m
        raise InputError(f"--entry is for up to 4,000,000 scores: this problem has {scores:,}")
    if flags["work"] or flags["entry"] or flags["fractions"] or flags["mixed"]:
        return None
    if flags["format"] != "npz" and not problem.is_long:
        names.append("A")  # for what each output attends to
    return dict.fromkeys(names)


def _contents(solution: "Solution", steps: "tuple[Step, ...]", flags: dict[str, Any]) -> "Contents":
    from attncalc.writing.page import Contents

    entries = _entries(solution, flags["entry"]) if flags["entry"] else None
    rational = flags["fractions"] or flags["mixed"]
    return Contents(
        steps,
        given=flags["only"] is None,
        work=flags["work"],
        entries=entries,
        fractions=("mixed" if flags["mixed"] else "plain") if rational else None,
        full=flags["full"],
        blank=flags["blank"],
    )


def _entries(solution: "Solution", references: list[str]) -> "dict[str, tuple[Place, ...]]":
    from attncalc.solving.entries import chosen_entries

    try:
        return chosen_entries(solution, references, _by_name(solution.plan))
    except InputError as error:
        raise InputError(f"--entry {error}") from None


def _by_name(steps: "tuple[Step, ...]") -> "dict[str, Step]":
    """Return the steps under all that a person may call them, in small letters."""
    return {step.title: step for step in steps} | {step.name.lower(): step for step in steps}


def _chosen(steps: "tuple[Step, ...]", only: str | None) -> "tuple[Step, ...]":
    """Return the steps that --only names, by name or title, in the order of the plan."""
    from attncalc.reading.names import unknown

    if only is None:
        return steps
    known = _by_name(steps)
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    for name in wanted:
        if name.lower() not in known:
            raise InputError(f"--only: {unknown(name, [step.name for step in steps])}")
    if not wanted:
        raise InputError("--only takes the names of steps, as Q,A")
    names = {known[name.lower()].name for name in wanted}
    return tuple(step for step in steps if step.name in names)
