"""The parts that a calculation is a list of. A new part goes in here, and nowhere else.

A part owns, in a folder of its own, its fields, its rules of shape and its steps. Its fields stand
beside those of the others in `attncalc.problem.fields` and in `Problem`.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from attncalc.operations.step import Step
from attncalc.problem.attention.shapes import check_shapes
from attncalc.problem.attention.steps import TITLES, attention_steps


class Part(NamedTuple):
    """A part of a network.

    Parameters
    ----------
    check
        Raises an `InputError` or a `ShapeError` where its matrices are missing or do not fit.
    steps
        Returns the steps it takes, each after those it reads; none where it is left out.
    titles
        Every step that it can have, in order, and what it is in words.
    """

    check: Callable[[Any], None]
    steps: Callable[[Any], Iterable[Step]]
    titles: dict[str, str]


PARTS = (Part(check_shapes, attention_steps, TITLES),)
STEP_TITLES = {name: title for part in PARTS for name, title in part.titles.items()}
"""Every step that a plan can have, and what it is in words."""
