"""`attncalc plot`: the map of which input each output attends to, and the heatmap."""

import sys
from collections.abc import Mapping
from typing import Any

from attncalc.base.errors import InputError, OutputError
from attncalc.cli.commands.beforehand import say_of_picture
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import as_flags, refuse
from attncalc.cli.streams import note
from attncalc.cli.targets import STDOUT, Target, check_targets, deliver, output, target_of
from attncalc.problem.problem import Problem
from attncalc.solving.plan import plan
from attncalc.solving.solution import Solution, solve
from attncalc.studies.patterns.pattern import needed_for_patterns
from attncalc.writing.files import is_straight
from attncalc.writing.plotting import drawing as pictures
from attncalc.writing.plotting.drawing import MOST_HEADS
from attncalc.writing.plotting.look import Look, read_size
from attncalc.writing.sentences import notes

DEFAULT_PLACE = "attention-map.png"


def plot(flags: Mapping[str, Any]) -> None:
    """Draw the connection map, the heatmap, or both, and print where the picture is."""
    out = DEFAULT_PLACE if flags["out"] is None else flags["out"]
    target = target_of("--out", out)
    form = _form(target)
    check_targets(target, STDOUT)
    with as_flags():
        size = read_size(flags["size"])
        look = Look(flags["kind"], flags["every_line"], flags["values"], flags["dark"], size)
    if flags["of"] is not None:
        refuse(flags, ("head", "explain"), "--of and {} together: --of draws all of a gradient")
        flags = {**flags, "backward": True}
    problem = problem_from(flags, fallback="self")
    check_targets(target, STDOUT)  # again, since inputs are known now
    if flags["of"] is not None:
        solution = solve(problem)
        with as_flags():
            picture = pictures.render_gradient(solution, flags["of"], form, look)
        _deliver(target, picture, "")
        return
    if not problem.attentions:
        raise InputError(pictures.NO_ATTENTION)
    say_of_picture(problem, look, 1 if flags["head"] else min(problem.n_heads, MOST_HEADS))
    solution = solve(problem, keep=_kept(problem, explain=flags["explain"]))
    for remark in notes(solution):
        note(remark.text)
    with as_flags():
        picture = pictures.render(
            solution, form, pictures.chosen_heads(solution, flags["head"]), look
        )
    _deliver(target, picture, _explained(solution) if flags["explain"] else "")


def _deliver(target: Target, picture: pictures.Picture, text: str) -> None:
    drawn = output(target, picture.content, *picture.notes, said="")
    if not drawn.is_printed:
        deliver(drawn, output(STDOUT, f"{target.place}\n{text}"))
        return
    if text:
        note(text.strip())
    deliver(drawn)


def _form(target: Target) -> str:
    """Return the form of the picture: by its ending, or PNG through a pipe."""
    place = target.place
    if place is None and sys.stdout.isatty():
        raise OutputError("a picture is binary: pass a file, as -o map.png")
    if place is None or (is_straight(place) and not place.suffix):
        return "png"
    return pictures.check_ending(place)


def _kept(problem: Problem, *, explain: bool) -> tuple[str, ...] | None:
    """Return which steps are needed; None is all of them."""
    steps = plan(problem)
    needed = pictures.needed_for_pictures(problem, steps)
    return (*needed, *needed_for_patterns(problem)) if explain and needed is not None else needed


def _explained(solution: Solution) -> str:
    """Return the patterns of the weights, below an empty line."""
    from attncalc.cli.commands.screens import tables_of  # here, for it loads rich
    from attncalc.writing.document import Document, Patterns
    from attncalc.writing.page import Contents, make_page

    page = make_page(solution, Contents((), given=False, patterns=True))
    told = (part for part in page.parts if isinstance(part, Patterns))
    return tables_of(Document("", tuple(told)), STDOUT)
