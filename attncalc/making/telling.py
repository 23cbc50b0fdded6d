"""Mistakes that no problem of some sizes can show: one score is its own transpose.

They are found if random numbers do not show them either.
"""

from dataclasses import replace
from math import prod
from random import Random

import numpy as np

from attncalc.base.errors import InputError
from attncalc.making.drawing import Shapes, problem_of
from attncalc.making.judging import Mistake, common_mistakes
from attncalc.making.wishes import Wishes
from attncalc.problem.attention.declared import DISPLAY
from attncalc.solving.solution import solve

SAME = 1e-9
"""The relative difference of numbers that only float errors explain."""


def untold(wishes: Wishes, shapes: Shapes) -> dict[tuple[str, str], str]:
    """Return the mistakes that no such problem can show: step and code, and their descriptions.

    wishes: the conditions.
    shapes: the shape of each matrix, as `shapes_of` has them.
    """
    random = Random(0)
    try:
        one, other = (_unseen(wishes, shapes, random) for _ in range(2))
    except InputError:  # random numbers may be impossible for such a problem
        return {}
    return {place: says for place, says in one.items() if place in other}


def _unseen(wishes: Wishes, shapes: Shapes, random: Random) -> dict[tuple[str, str], str]:
    """Return the mistakes that change nothing in one problem with random numbers."""
    matrices = {
        name: np.array([random.random() * 2 - 1 for _ in range(prod(shape))]).reshape(shape)
        for name, shape in shapes.items()
    }
    solution = solve(replace(problem_of(wishes, matrices, ""), rounding=DISPLAY))
    return {
        (each.step, each.code): each.says
        for each in common_mistakes(solution)
        if _is_same(each, np.asarray(solution.floats[each.step], dtype=float))
    }


def _is_same(mistake: Mistake, right: np.ndarray) -> bool:
    made = mistake.made
    return made is not None and made.shape == right.shape and np.allclose(made, right, SAME, SAME)
