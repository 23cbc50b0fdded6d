"""`attncalc plot`: the map of which input each output attends to, and the heatmap."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attncalc.cli.commands.problem import problem_from
from attncalc.cli.commands.refusals import as_flags
from attncalc.cli.streams import note
from attncalc.cli.targets import STDOUT, Target, check_targets, deliver, output, target_of
from attncalc.plotting.look import Look, read_size
from attncalc.plotting.picture import check_ending, chosen_heads, needed_for_pictures, render
from attncalc.solving.plan import plan
from attncalc.solving.solution import solve
from attncalc.writing.sentences import notes

DEFAULT_PLACE = "attention-map.png"


def plot(flags: Mapping[str, Any]) -> None:
    """Draw the connection map, the heatmap, or both, and print where the picture is."""
    out = DEFAULT_PLACE if flags["out"] is None else flags["out"]
    path = target_of("--out", out).place or Path("-")
    form = check_ending(path)
    check_targets(Target(path), STDOUT)
    with as_flags():
        size = read_size(flags["size"])
        look = Look(flags["kind"], flags["every_line"], flags["values"], flags["dark"], size)
    problem = problem_from(flags, fallback="self")
    check_targets(Target(path), STDOUT)  # once more, now that it is known what was read
    solution = solve(problem, keep=needed_for_pictures(problem, plan(problem)))
    for remark in notes(solution):
        note(remark.text)
    with as_flags():
        picture = render(solution, form, chosen_heads(solution, flags["head"]), look)
    deliver(
        output(Target(path), picture.content, *picture.notes, said=""),
        output(STDOUT, f"{path}\n"),
    )
