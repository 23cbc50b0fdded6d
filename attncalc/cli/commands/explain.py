"""`attncalc explain`: what the weights of a problem show, in sentences."""

from collections.abc import Mapping
from typing import Any

from attncalc.cli.commands.pages import form_from, output_of
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.progress import reporting
from attncalc.cli.targets import deliver
from attncalc.patterns.plan import needed_for_patterns
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.writing.page import Contents, make_page


def explain(flags: Mapping[str, Any]) -> None:
    """Solve, and write the patterns to where they are asked for."""
    problem = problem_from(flags, fallback="self")
    form = form_from({**flags, "blank": False, "fractions": False, "mixed": False})
    with reporting() as report:
        solution = solve(problem, keep=needed_for_patterns(plan(problem)), report=report)
    contents = Contents((), given=False, full=flags["full"], patterns=True)
    deliver(output_of(make_page(solution, contents), form))
