"""`attncalc plot`: the map of which input each output attends to, and the heatmap."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attncalc.cli.commands.beforehand import say_of_picture
from attncalc.cli.commands.problem import problem_from
from attncalc.cli.streams import note
from attncalc.cli.targets import STDOUT, Target, check_targets, deliver, output, target_of
from attncalc.errors import InputError, OutputError
from attncalc.plotting.drawing import MOST_HEADS
from attncalc.plotting.look import Look, read_size
from attncalc.plotting.picture import check_ending, chosen_heads, needed_for_pictures, render
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.writing.places import is_straight
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
    problem = problem_from(flags, fallback="self")
    check_targets(target, STDOUT)  # once more, now that it is known what was read
    say_of_picture(problem, look, 1 if flags["head"] else min(problem.n_heads, MOST_HEADS))
    solution = solve(problem, keep=needed_for_pictures(problem, plan(problem)))
    for remark in notes(solution):
        note(remark.text)
    with as_flags():
        picture = render(solution, form, chosen_heads(solution, flags["head"]), look)
    drawn = output(target, picture.content, *picture.notes, said="")
    deliver(drawn, *([] if drawn.is_printed else [output(STDOUT, f"{target.place}\n")]))


def _form(target: Target) -> str:
    """Return the form of the picture: what its ending says, and PNG through a pipe without one."""
    place = target.place
    if place is None and sys.stdout.isatty():
        raise OutputError("a picture is no text: say where to write it, as -o map.png")
    if place is None or (is_straight(place) and not place.suffix):
        return "png"
    return check_ending(place)


@contextmanager
def as_flags() -> Iterator[None]:
    """Say of an option of a picture that is refused what its flag is called."""
    try:
        yield
    except InputError as error:  # its text starts with the name
        raise InputError(f"--{error}") from None
