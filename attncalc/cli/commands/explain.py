"""`attncalc explain`: the patterns of the weights of a problem, in sentences."""

from collections.abc import Mapping
from typing import Any

from attncalc.cli.commands.equations import equations_of
from attncalc.cli.commands.pages import form_from, output_of
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.streams import reporting
from attncalc.cli.targets import deliver
from attncalc.solving.choosing import attention_and_head
from attncalc.solving.solution import solve
from attncalc.studies.patterns.pattern import needed_for_patterns
from attncalc.writing.page import Contents, make_page


def explain(flags: Mapping[str, Any]) -> None:
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
