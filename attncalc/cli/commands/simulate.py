"""`attncalc simulate`: problems drawn again and again."""

from collections.abc import Mapping
from typing import Any

from attncalc.base.errors import InputError
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.commands.studies import show, wanted_from
from attncalc.cli.progress import reporting
from attncalc.problem.problem import Problem
from attncalc.reading.studies.draws import HOW_TO_DRAW, read_draw
from attncalc.reading.studies.watched import read_conditions, read_outputs, read_watched
from attncalc.studies.simulate import check_draws
from attncalc.studies.simulate import simulate as solve_draws
from attncalc.writing.studies.forms import forms_of


def simulate(flags: Mapping[str, Any]) -> None:
    """Draw and solve, and write the distribution of the watched quantities."""
    wanted = wanted_from(flags)
    with as_flags():
        check_draws(flags["draws"], flags["until"])
    texts = [thing for thing in flags["things"] if "~" in thing]
    if not texts:
        raise InputError(f"nothing is drawn: {HOW_TO_DRAW}")
    files = [thing for thing in flags["things"] if thing not in texts] or [None]
    problems = [problem_from({**flags, "file": file}, fallback="self") for file in files]
    with reporting() as report:
        found = [
            solve_draws(
                problem,
                [read_draw(text, problem) for text in texts],
                _watched(flags, problem, alone=len(problems) == 1),
                count=flags["draws"],
                seed=flags["seed"],
                until=flags["until"],
                given=read_conditions(flags["given"] or (), problem),
                report=report,
                agreed=flags["yes"],
            )
            for problem in problems
        ]
    show(forms_of(found, full=flags["full"]), wanted, flags)


def _watched(flags: Mapping[str, Any], problem: Problem, *, alone: bool) -> Any:
    if flags["watch"]:
        return read_watched(flags["watch"], problem)
    # outputs are comparable for any heads of their problems
    return read_outputs(problem, weights_too=alone)
