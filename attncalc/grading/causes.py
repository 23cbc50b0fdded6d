"""Causes: each wrong recipe is run on the script's own values, and must give every entry."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from typing import NamedTuple

import numpy as np

from attncalc.errors import InputError
from attncalc.grading.known import Known
from attncalc.grading.recipes import Recipe
from attncalc.numbers.types import Matrix, Range
from attncalc.operations.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

ANY_SLIP = "slip"
MOST_PAIRED = 1000
"""Entries of a step up to which pairs of mistakes are tried."""


class Cause(NamedTuple):
    """What may have gone wrong in a step.

    Parameters
    ----------
    code
        What it is called in JSON.
    says
        What was done, as a clause.
    step
        The step in which it happened: this one, or one left out before it.
    is_slip
        Whether it is about one entry, and not the way the step was done.
    """

    code: str
    says: str
    step: str
    is_slip: bool = False

    @property
    def family(self) -> str:
        """What kind of mistake it is: W_K for W_Q, and W_Q for W_K, are one confusion."""
        return self.code.split(":")[0]


def recipes_that_fit(known: Known, step: Step, written: WrittenMatrix) -> dict[Cause, int]:
    """Return what gives every entry of a step, and in how many entries it can be seen.

    Parameters
    ----------
    known
        What the script itself had to go on.
    step
        The step.
    written
        What was written, as the plan has it; of too few decimals where it fits no finer.
    """
    fine = np.maximum(written.decimals, known.key.problem.decimals)
    found = dict(_fitting(known, step, written, fine))
    if found or (written.decimals == fine).all():
        return found
    return dict(_fitting(known, step, written, written.decimals))


def _fitting(
    known: Known, step: Step, written: WrittenMatrix, decimals: Matrix
) -> Iterator[tuple[Cause, int]]:
    answered = ~np.isnan(written.values)
    if answered.sum() < 2 or written.problem:
        return
    found: set[str] = set()  # left out before or done here: one mistake
    for rule in known.rules(step):
        right = None
        with suppress(ValueError):  # of another shape than the plan can go on from
            right = known.result(step, rule)
        for recipe in _candidates(known, step):
            made = None
            if recipe.code not in found:
                with suppress(ValueError, InputError):  # shapes do not go together, a sum is 0
                    made = known.result(step, rule, recipe)
            if made is None or made.low.shape != written.shape:
                continue
            is_near = known.slack.as_written().near(written.values, decimals, made)[answered].all()
            if is_near and (seen_in := _differences(made, right, answered)):
                found.add(recipe.code)
                yield Cause(recipe.code, recipe.says, recipe.step), seen_in


def pairs_that_fit(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Cause]:
    """Yield two mistakes in two steps that together give every entry; large ones are not tried."""
    if written.values.size > MOST_PAIRED or np.isnan(written.values).any():
        return
    found: set[str] = set()  # left out before or done here: one mistake
    for first, second in combinations(_candidates(known, step), 2):
        code = f"{first.code}+{second.code}"
        if first.step == second.step or code in found:
            continue
        with suppress(ValueError, InputError):
            made = known.result(step, None, first, second)
            if made.low.shape == written.shape and (
                known.slack.near(written.values, written.decimals, made).all()
            ):
                says = f"{first.says} (in {first.step}), and {second.says} (in {second.step})"
                found.add(code)
                yield Cause(code, says, step.name)


def _differences(made: Range, right: Range | None, answered: Matrix) -> int:
    """Return in how many entries a recipe cannot come out as the right one does."""
    if right is None or made.low.shape != right.low.shape:
        return int(answered.sum())
    with np.errstate(invalid="ignore"):  # of infinities
        apart = (made.low > right.high) | (made.high < right.low)
    return int((apart & answered).sum())


def _candidates(known: Known, step: Step) -> Iterator[Recipe]:
    """Yield the wrong recipes of the step, and of those that are left out before it."""
    for each in (*dict.fromkeys(known.missing(step)), step):
        yield from known.key.recipes[each.name]
