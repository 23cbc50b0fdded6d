"""`attncalc aim`: the query that reaches given weights."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attncalc.base.errors import InputError
from attncalc.base.typed import NotANumber, read_number
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.commands.studies import show, wanted_from
from attncalc.cli.targets import check_targets, output, target_of
from attncalc.problem.fields import read_setting
from attncalc.reading.studies.targets import HOW_TO_AIM, read_target
from attncalc.studies.aim import aim as design
from attncalc.studies.aim import check_beta
from attncalc.writing.studies.forms import forms_of

FALLBACK = "average"


def aim(flags: Mapping[str, Any]) -> None:
    """Design a query, and write it with its result."""
    wanted, saved = wanted_from(flags), target_of("--save", flags["save"])
    if flags["save"] is not None:
        check_targets(wanted.target, saved)
    things, beta = flags["things"], _beta(flags["beta"])
    if len(things) > 2:
        raise InputError(f"one file and one target: {HOW_TO_AIM}")
    file = things[0] if len(things) == 2 else None
    heads = 1 if flags["heads"] is None else read_setting("heads", flags["heads"])
    own = {**flags, "file": file, "heads": None}
    problem = problem_from(own, fallback=FALLBACK, needs_query=False)
    if flags["within"] is not None and not flags["within"] > 0:
        raise InputError(f"--within {flags['within']:g}: an error must be above 0, as 0.001")
    target = read_target(things[-1], problem)
    found = design(problem, target, beta=beta, heads=heads, within=flags["within"])
    more = []
    if flags["save"] is not None:
        from attncalc.writing.page import Contents, make_page
        from attncalc.writing.page_data import write_json

        page = make_page(found.solution, Contents(found.solution.plan))
        more = [output(saved, "".join(write_json(page)))]
    show(forms_of(found, full=flags["full"]), wanted, flags, *more)


def _beta(text: str) -> Fraction:
    try:
        beta = Fraction(read_number(text))
    except NotANumber as reason:
        raise InputError(f"--beta takes a number above 0: {reason}") from None
    with as_flags():
        check_beta(beta)
    return beta
