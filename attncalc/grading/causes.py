"""Causes: each wrong recipe is run on the script's own values, and must give every entry."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attncalc.grading.known import Known
from attncalc.grading.programs import findings
from attncalc.grading.recipes import Recipe
from attncalc.grading.slips import slips
from attncalc.numbers.types import Matrix, Range
from attncalc.operations.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

ANY_SLIP = "slip"


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


def causes_of(
    known: Known, step: Step, written: WrittenMatrix, wrong: Matrix | None = None
) -> tuple[Cause, ...]:
    """Return what explains every entry of a step that went wrong; several where one cannot tell.

    Parameters
    ----------
    known
        What the script itself had to go on.
    step
        The step.
    written
        What was written, as the plan has it.
    wrong
        Which entries are wrong; None where the matrix as a whole has the wrong shape. A recipe
        that is seen in a single entry is never alone: a slip can do the same.
    """
    asked = known.key.problem.decimals
    found = _recipes_that_fit(known, step, written, np.maximum(written.decimals, asked))
    if not found and (written.decimals < asked).any():
        found = _recipes_that_fit(known, step, written, written.decimals)
    causes = tuple(cause for cause, _ in found)
    if known.key.in_tolerance:
        return causes or tuple(
            Cause(code, says, step.name) for code, says in findings(known, step, written)
        )
    if wrong is None or (wrong.sum() > 1 and any(seen_in > 1 for _, seen_in in found)):
        return causes
    slipped = tuple(_slips(known, step, written, wrong)) if wrong.sum() == 1 else ()
    if not causes and not slipped:
        return ()
    return (*causes, *slipped, Cause(ANY_SLIP, "it is a slip of another kind", step.name, True))


def _recipes_that_fit(
    known: Known, step: Step, written: WrittenMatrix, decimals: Matrix
) -> list[tuple[Cause, int]]:
    """Return the recipes that give every entry, and in how many they differ from the right one."""
    answered = ~np.isnan(written.values)
    if answered.sum() < 2 or written.problem:
        return []
    found: dict[str, tuple[Cause, int]] = {}  # left out before or done here: one mistake
    for rule in known.rules(step):
        right = known.result(step, rule)
        for recipe in _candidates(known, step):
            if recipe.code in found:
                continue
            made = known.by(recipe, step, rule)
            if made is None or made.low.shape != written.shape:
                continue
            if not known.slack.near(written.values, decimals, made)[answered].all():
                continue
            if seen_in := _differences(made, right, answered):
                cause = Cause(recipe.code, recipe.says, recipe.step)
                found[recipe.code] = cause, seen_in
    return list(found.values())


def _differences(made: Range, right: Range, answered: Matrix) -> int:
    """Return in how many entries a recipe cannot come out as the right one does."""
    if made.low.shape != right.low.shape:
        return int(answered.sum())
    with np.errstate(invalid="ignore"):  # of infinities
        apart = (made.low > right.high) | (made.high < right.low)
    return int((apart & answered).sum())


def _candidates(known: Known, step: Step) -> Iterator[Recipe]:
    """Yield the wrong recipes of the step, and of those that are left out before it."""
    key = known.key
    for each in (*dict.fromkeys(known.missing(step)), step):
        yield from key.recipes[each.name]


def _slips(known: Known, step: Step, written: WrittenMatrix, wrong: Matrix) -> Iterator[Cause]:
    (place,) = map(tuple, np.argwhere(wrong).tolist())
    value, decimals = float(written.values[place]), int(written.decimals[place])
    found: dict[str, str] = {}
    for rule in known.rules(step):
        right = known.result(step, rule)
        for code, says in slips(known, step, place, value, decimals, right):
            found.setdefault(code, says)
    for code, says in found.items():
        yield Cause(code, says, step.name, True)
