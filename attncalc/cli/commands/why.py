"""`attncalc why`: the parts of an entry, or of a logit."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from attncalc.api.generating import is_model
from attncalc.api.models import Given
from attncalc.api.why import Whys, why_of_model, why_of_problem
from attncalc.base.errors import InputError
from attncalc.cli.commands.models import ignored_from, opened_from
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import typed
from attncalc.cli.commands.studies import show, wanted_from
from attncalc.cli.streams import reporting
from attncalc.problem.fields import GIVEN, SETTINGS
from attncalc.solving.solution import solve
from attncalc.writing.reports.why import why_as_json, why_document
from attncalc.writing.studies.forms import Forms

FORMS = ("table", "markdown", "html", "json")


def why(flags: Mapping[str, Any]) -> None:
    """Write the parts of an entry to where they are asked for."""
    wanted = wanted_from(flags)
    if wanted.form not in (*FORMS, "picture"):
        raise InputError(f"why is written as {', '.join(FORMS)}, or a picture: -o why.png")
    problem, entry = flags["file"], flags["entry"]
    if "[" in str(problem) and not Path(problem).exists() and Path(entry).exists():
        raise InputError(f'the problem comes first: attncalc why {entry} "{problem}"')
    found = _of_model(flags) if is_model(flags["file"]) else _of_problem(flags)
    content = found.found, found.title, found.decimals
    forms = Forms(
        partial(why_document, *content, full=flags["full"]),
        partial(why_as_json, found.found, found.decimals),
        picture=partial(_picture, found),
    )
    show(forms, wanted, flags, with_table=False)


def _picture(found: Whys, form: str, look: Any) -> Any:
    from attncalc.writing.plotting.bars import draw_whys
    from attncalc.writing.plotting.drawing import picture_of

    return picture_of(draw_whys(found.found, found.title, found.decimals, look), form)


def _of_problem(flags: Mapping[str, Any]) -> Whys:
    plain = {**flags, "set": ()}  # of fields, which a problem has
    of_models = (name for name in Given._fields if name not in GIVEN)
    for flag in typed(plain, of_models) if Path(flags["file"]).exists() else ():
        raise InputError(f"{flag} is for the folder of a model, with a config.json")
    problem = problem_from(flags, fallback="self")
    if problem.is_long:
        raise InputError(f"why is for short problems, not for {problem.most_scores:,} scores")
    with reporting() as report:
        return why_of_problem(solve(problem, report=report), flags["entry"], flags["of"])


def _of_model(flags: Mapping[str, Any]) -> Whys:
    fitting = (*Given._fields, "ignore", "decimals")
    for flag in typed(flags, (name for name in (*GIVEN, *SETTINGS) if name not in fitting)):
        raise InputError(f"{flag} is for a problem: the files of a model define it: omit the flag")
    opened = opened_from(flags["file"], flags)
    said = {} if flags["decimals"] is None else {"decimals": flags["decimals"]}
    return why_of_model(opened, said | ignored_from(flags), flags["entry"], flags["of"])
