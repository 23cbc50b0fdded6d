"""Estimates of long times and large memory, printed before a computation starts."""

from math import prod
from typing import TYPE_CHECKING

from attncalc.cli.streams import note
from attncalc.problem.problem import Problem
from attncalc.problem.step import Plan, shapes_of
from attncalc.solving.limits import in_units, refuse_what_cannot_fit

if TYPE_CHECKING:  # it belongs to what draws
    from attncalc.writing.plotting.look import Look

MOST_LINES = 10_000
"""Lines that a picture draws."""
PATIENCE = 2.0
"""Seconds below which no estimate is printed."""
NO_MATTER = 300 * 2**20
"""Bytes below which no estimate is printed."""
PER_SCORE, PER_MARKED = 2e-7, 1e-6
"""Seconds for a score on a page, with its notes, and for an entry of a key, with its recipes."""
PER_ENTRY = {"csv": 1.2e-6, "json": 2.5e-6, "npz": 1e-7}
"""Seconds for an entry of a form that holds all of them; pages are the slower ones:"""
PER_CELL, BYTES_OF_CELL = 1.2e-5, 250
PER_DRAWN, PER_PANEL, PER_DRAWN_LINE = 1e-6, 0.1, 4e-4
"""Seconds for a weight of a picture, for a head, and for a line."""
PER_LINE_OF_WORK, PER_TERM = 4e-4, 8e-6
"""Seconds for an entry that is written out, and for each of its weights."""
BYTES_OF_NUMBER, BYTES_OF_MARKED, BYTES_OF_DRAWN = 8, 100, 100
BLOCKS = 150 * 2**20
"""Bytes of a long problem if no n × m matrix is kept."""


def sizes_of(problem: Problem, steps: Plan) -> dict[str, int]:
    """Return how many entries the matrix of each step has, before any is computed."""
    shapes = shapes_of(steps, problem.given)
    return {step.name: prod(shapes[step.name]) for step in steps}


def say_of_page(
    problem: Problem, entries: int, form: str, *, full: bool, work: bool, remakes: bool
) -> None:
    """Print an estimate for a page if it is large."""
    scores = sum(each.scores for each in problem.attentions)
    seconds, size = scores * PER_SCORE, BLOCKS if remakes else entries * BYTES_OF_NUMBER
    shown = form in PER_ENTRY or full or work
    if form in PER_ENTRY:
        seconds += entries * PER_ENTRY[form]
    elif full:
        seconds, size = seconds + entries * PER_CELL, size + entries * BYTES_OF_CELL
    if work:
        seconds += entries * (PER_LINE_OF_WORK + problem.m * PER_TERM)
    what = "written out" if work else "written" if shown else "computed, of which few are shown"
    _say(f"{entries:,} entries are {what}", seconds, size)


def say_of_marking(problem: Problem, steps: Plan) -> None:
    """Print an estimate for the key to a long problem; refuse one that cannot fit."""
    entries = sum(sizes_of(problem, steps).values())
    size = entries * BYTES_OF_MARKED
    way_out = "mark answers to a shorter problem, or on a larger machine"
    refuse_what_cannot_fit({f"the key of {entries:,} entries": size}, set(), way_out)
    _say(f"the key has {entries:,} entries", entries * PER_MARKED, size)


def say_of_picture(problem: Problem, look: "Look", heads: int) -> None:
    """Print an estimate for a picture of many heads; refuse one that cannot fit."""
    weights = problem.most_scores
    size = weights * BYTES_OF_DRAWN
    way_out = "attncalc self --only A shows the first and the last of them"
    refuse_what_cannot_fit({f"a picture of {weights:,} weights": size}, set(), way_out)
    panels = heads * (look.has_map + look.has_heatmap)
    lines = min(weights, MOST_LINES) if look.every_line and look.has_map else 0
    seconds = weights * PER_DRAWN + panels * PER_PANEL + lines * PER_DRAWN_LINE
    _say(f"a picture of {weights:,} weights", seconds, size)


def _say(what: str, seconds: float, size: int) -> None:
    if seconds > PATIENCE or size > NO_MATTER:
        memory = f" and {in_units(size)} of memory" if size > BLOCKS // 2 else ""
        note(f"{what}: this takes about {_in_time(seconds)}{memory}")


def _in_time(seconds: float) -> str:
    """Return a rounded time as text, because the speed of the machine is unknown.

    >>> _in_time(0.3), _in_time(17.2), _in_time(200), _in_time(9000)
    ('a second', '17 s', '4 min', '3 hours')
    """
    if seconds < 1:
        return "a second"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{-(-seconds // 60):.0f} min" if seconds < 6000 else f"{-(-seconds // 3600):.0f} hours"
