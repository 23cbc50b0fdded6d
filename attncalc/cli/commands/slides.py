"""`attncalc slides`: each idea of a calculation as a slide, for lectures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attncalc.base.errors import InputError
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.streams import reporting
from attncalc.cli.targets import Output, Target, check_targets, deliver, output, target_of
from attncalc.reading.files import is_folder
from attncalc.solving.choosing import by_name, chosen_entries
from attncalc.solving.solution import solve
from attncalc.writing.page import Contents, make_page
from attncalc.writing.slides import animated, beamer, deck, files_of, slides_of

MOST_SLIDES = 400
ENDINGS = (".html", ".htm", ".tex", ".svg")


def slides(flags: Mapping[str, Any]) -> None:
    """Write the slides to where they are asked for."""
    problem = problem_from(flags, fallback="self")
    target = _target(flags["out"])
    check_targets(target)
    if problem.is_long:
        raise InputError(
            f"slides are for short problems: this one has {problem.most_scores:,} scores"
        )
    with reporting() as report:
        solution = solve(problem, report=report)
    page = make_page(solution, Contents(solution.plan))
    entries = {}
    if flags["entry"]:
        with as_flags():
            entries = chosen_entries(solution, flags["entry"], by_name(solution.plan))
    made = list(slides_of(page, entries))
    if len(made) > MOST_SLIDES:
        raise InputError(
            f"these are {len(made):,} slides, and {MOST_SLIDES} are the most: choose fewer entries"
        )
    ending = target.place.suffix.lower() if target.place else ".html"
    if target.is_folder and target.place is not None:
        digits = len(str(len(made)))
        files = {
            target.place / f"slide-{number:0{digits}}.svg": text
            for number, text in enumerate(files_of(made), start=1)
        }
        deliver(Output(target, files, said=f"{len(files)} slides in {target.place}"))
    elif ending == ".svg":
        deliver(output(target, animated(made)))
    elif ending == ".tex":
        deliver(output(target, beamer(page, entries)))
    else:
        deliver(output(target, deck(made, page)))


def _target(out: str | None) -> Target:
    target = target_of("--out", out)
    if target.place is None:
        return target
    if not is_folder(target.place) and target.place.suffix.lower() in ENDINGS:
        return target
    if target.place.suffix and not is_folder(target.place):
        check_targets(target)  # an input is refused as one
        raise InputError(
            f"{target.place}: slides end in .html, .tex (beamer) or .svg (animated), or are a "
            "folder of pictures"
        )
    return Target(Path(target.place), is_folder=True)
