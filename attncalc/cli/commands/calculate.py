"""`attncalc self`, `cross`, `encoder`, `decoder` and `explain`: every step, or its patterns."""

from collections.abc import Mapping
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.types import Place
from attncalc.cli.commands.beforehand import say_of_page, sizes_of
from attncalc.cli.commands.equations import equations_of
from attncalc.cli.commands.pages import Form, form_from, output_of
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.streams import reporting
from attncalc.cli.targets import deliver
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan
from attncalc.reading.names import unknown
from attncalc.solving.choosing import attention_and_head, by_name, chosen_entries
from attncalc.solving.plan import plan
from attncalc.solving.solution import Solution, solve
from attncalc.studies.patterns.pattern import needed_for_patterns
from attncalc.writing.page import MOST_WRITTEN_OUT, Contents, folds_work, make_page

Flags = Mapping[str, Any]


def calculate(flags: Flags) -> None:
    """Solve a problem, and write the requested output."""
    kind = flags["command"]
    problem = problem_from(flags, fallback=kind, kind=kind)
    show_page(problem, flags)


def show_page(problem: Problem, flags: Flags) -> None:
    """Solve a problem, and write the requested page."""
    _check_combinations(flags)
    if flags["practice"]:
        flags = {**flags, "blank": True}
    form = form_from(flags)
    steps = plan(problem)
    chosen = _chosen(steps, flags["only"])
    kept = _kept(problem, steps, chosen, form, flags)
    # scores and weights may be recomputed row by row instead of kept
    is_by_rows = form.name not in ("csv", "json") or not problem.standing.by_columns
    remakes = problem.is_long and form.name != "npz" and is_by_rows
    sizes = sizes_of(problem, steps)
    entries = sum(sizes[step.name] for step in chosen)
    writes_out = flags["work"] and (flags["full"] or entries <= MOST_WRITTEN_OUT)
    full = flags["full"] or flags["blank"]
    say_of_page(problem, entries, form.name, full=full, work=writes_out, remakes=remakes)
    with reporting() as report:
        solution = solve(problem, kept, report, remakes=remakes, proves=form.name != "npz")
    page = make_page(solution, _contents(solution, chosen, form, flags))
    deliver(output_of(page, form))


def _check_combinations(flags: Flags) -> None:
    writes_out = "--work" if flags["work"] else "--entry" if flags["entry"] else ""
    empties = "--practice" if flags["practice"] else "--blank" if flags["blank"] else ""
    if empties and writes_out:
        raise InputError(f"{empties} and {writes_out} together: a worksheet has no work")
    if empties and flags["explain"]:
        raise InputError(f"{empties} and --explain together: a worksheet has no answers")
    if flags["entry"] and (flags["work"] or flags["only"]):
        other = "--work" if flags["work"] else "--only"
        raise InputError(f"--entry and {other} together: --entry selects what is shown")


def _kept(
    problem: Problem, steps: Plan, chosen: Plan, form: Form, flags: Flags
) -> dict[str, None] | None:
    """Return the names of the steps that are needed, or None for all of them."""
    if problem.is_long and flags["entry"]:
        scores = problem.most_scores
        raise InputError(f"--entry is for up to 4,000,000 scores: this problem has {scores:,}")
    if flags["work"] or flags["entry"] or flags["fractions"] or flags["mixed"]:
        return None
    if form.name == "html" and not problem.is_long:  # for its work, which it may fold
        return None
    names = [step.name for step in chosen]
    if flags["format"] != "npz" and not problem.is_long:  # for the connections
        names += [step.name for step in steps if step.role == "weights"]
    if flags["explain"]:
        names += needed_for_patterns(problem)
    return dict.fromkeys(names)


def _contents(solution: Solution, chosen: Plan, form: Form, flags: Flags) -> Contents:
    entries = _entries(solution, flags["entry"]) if flags["entry"] else None
    rational = flags["fractions"] or flags["mixed"]
    can_fold = form.name == "html" and not (flags["blank"] or entries)
    return Contents(
        chosen,
        given=flags["only"] is None,
        work=flags["work"] or (can_fold and folds_work(solution, chosen)),
        entries=entries,
        fractions=("mixed" if flags["mixed"] else "plain") if rational else None,
        full=flags["full"],
        blank=flags["blank"],
        patterns=flags["explain"],
        only_head=flags.get("head"),
    )


def _entries(solution: Solution, references: list[str]) -> dict[str, tuple[Place, ...]]:
    try:
        return chosen_entries(solution, references, by_name(solution.plan))
    except InputError as error:
        raise InputError(f"--entry {error}") from None


def _chosen(steps: Plan, only: str | None) -> Plan:
    """Return the steps that --only names, by name or title, in the order of the plan."""
    if only is None:
        return steps
    known = by_name(steps)
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    for name in wanted:
        if name.lower() not in known:
            raise InputError(f"--only: {unknown(name, [step.name for step in steps])}")
    if not wanted:
        raise InputError("--only takes the names of steps, as Q,A")
    names = {known[name.lower()].name for name in wanted}
    return tuple(step for step in steps if step.name in names)


def explain(flags: Flags) -> None:
    """Solve, and write the patterns to where they are asked for."""
    problem = problem_from(flags, fallback="self")
    if flags["as_equations"]:
        equations_of(problem, flags["out"])
        return
    form = form_from({**flags, "blank": False, "fractions": False, "mixed": False})
    with reporting() as report:
        solution = solve(problem, keep=needed_for_patterns(problem), report=report)
    full = flags["full"] or flags["all"]
    contents = Contents((), given=False, full=full, patterns=True, head=flags["head"])
    with as_flags():
        attention_and_head(solution, flags["head"], mean=False)
    deliver(output_of(make_page(solution, contents), form))
