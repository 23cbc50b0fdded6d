"""Causes: each wrong recipe is applied to the answer's own values, and must give every entry."""

from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from itertools import combinations

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.text import of_each
from attncalc.base.types import Matrix, Range
from attncalc.grading.known import Known
from attncalc.grading.recipes import Recipe
from attncalc.grading.rules import Cause
from attncalc.problem.gradients.naming import is_of_the_way_back
from attncalc.problem.step import Step
from attncalc.reading.answers.answer import WrittenMatrix

MOST_LEFT_OUT = 40
"""The largest number of left-out steps that are searched for a mistake: about two layers."""
MOST_OF_TWO = 12
"""The same for two mistakes at once: about one attention."""
TOGETHER = (("Q_rot", "K_rot"), ("Q", "K"), ("Q", "K", "V"), ("K", "V"), ("S", "H"))
"""Steps that one function of a program computes."""
SHARED = ("rope-", "heads-viewed", "heads-interleaved", "heads-tiled", "wrong-source")
"""The start of the codes of mistakes of such a function."""
MOST_PAIRED = 1000
"""The largest number of entries of a step for which pairs of mistakes are tried."""
MOST_IN_PAIRS = 150
"""The largest number of mistakes for which an order of heads is combined with another one."""
_Recipes = tuple[Recipe, ...]
"""A recipe, and its twins in other steps."""


def recipes_that_fit(known: Known, step: Step, written: WrittenMatrix) -> dict[Cause, int]:
    """Return the causes that give every entry of a step, and the number of entries that show each.

    written: the matrix in the answer, in the layout of the plan; with few decimals if only these
        fit.
    """
    answered = ~np.isnan(written.values)
    if answered.sum() < 2 or written.problem:
        return {}
    fine = np.maximum(written.decimals, known.key.problem.decimals)
    listed = list(_tried(known, step))
    found = dict(_fitting(known, step, written, fine, listed))
    if not found and not (written.decimals == fine).all():
        found = dict(_fitting(known, step, written, written.decimals, listed))
    found = found or dict(_by_other_conventions(known, step, written))
    if found:
        return found
    changes = [(recipe,) for recipe in known.key.changes(step)]
    changed = _fitting(known, step, written, fine, changes)
    return {cause: seen_in for cause, seen_in in changed if seen_in > 1}  # in one entry: a slip


def _fitting(
    known: Known, step: Step, written: WrittenMatrix, decimals: Matrix, tried: Sequence[_Recipes]
) -> Iterator[tuple[Cause, int]]:
    answered = ~np.isnan(written.values)
    found: set[str] = set()  # left out before or done here: one mistake
    for cause, made, right in _made_instead(known, step, tried, found):
        if made.low.shape != written.shape:
            continue
        is_near = known.slack.as_written().near(written.values, decimals, made)[answered].all()
        if is_near and (seen_in := _differences(made, right, answered)):
            found.add(cause.code)
            yield cause, seen_in


def made_instead(known: Known, step: Step) -> Iterator[tuple[Cause, Range]]:
    """Yield what each known mistake makes of a step, for each rounding of steps left out.

    Those that show in a single entry are left out: a slip has the same effect.
    """
    for cause, made, right in _made_instead(known, step, list(_tried(known, step))):
        everywhere = np.ones(made.low.shape, dtype=bool)
        is_alike = right is not None and made.low.shape == right.low.shape
        if is_alike and _differences(made, right, everywhere) > 1:
            yield cause, made


def _made_instead(
    known: Known, step: Step, tried: Sequence[_Recipes], found: Container[str] = ()
) -> Iterator[tuple[Cause, Range, Range | None]]:
    """Yield each recipe whose code is not found yet, with its result and the right one."""
    for rule in known.rules(step):
        right = None
        with suppress(ValueError):  # of a shape that the plan cannot continue from
            right = known.result(step, rule)
        for recipe, *twins in tried:
            made = None
            if recipe.code not in found:
                with suppress(ValueError, InputError):  # shapes do not match, a sum is 0
                    made = known.result(step, rule, recipe, *twins)
            if made is not None:
                yield Cause(recipe.code, _says(recipe, twins), recipe.step), made, right


def _by_other_conventions(
    known: Known, step: Step, written: WrittenMatrix
) -> Iterator[tuple[Cause, int]]:
    """Yield the conventions that give every entry of a step, in the whole problem.

    Nothing is yielded if the problem's own conventions give them too: the difference is rounding of
    floats, such as float32.
    """
    answered = ~np.isnan(written.values)
    if not known.key.otherwise:
        return

    def gives_all(made: Range) -> bool:
        near = known.slack.as_written().near(written.values, written.decimals, made)
        return bool(near[answered].all())

    own = known.key.in_floats.get(step.name)
    right = Range.at(known.key.exact[step.name] if own is None else own)
    if right.low.shape == written.shape and gives_all(right):
        return
    for code, says, steps in known.key.otherwise:
        made = steps.get(step.name)
        if made is None or made.shape != written.shape:
            continue
        seen_in = _differences(Range.at(made), right, answered)
        if seen_in and gives_all(Range.at(made)):
            yield Cause(code, says, step.name), seen_in


def pairs_that_fit(known: Known, step: Step, written: WrittenMatrix) -> Iterator[Cause]:
    """Yield pairs of mistakes in two steps that give every entry; large steps are not tried."""
    if written.values.size > MOST_PAIRED or np.isnan(written.values).any():
        return
    found: set[str] = set()  # left out before or done here: one mistake
    candidates = list(_candidates(known, step, MOST_OF_TWO))
    if len(candidates) > MOST_IN_PAIRS:  # most of them are orders of heads
        candidates = [each for each in candidates if not each.code.startswith("heads-order")]
    for first, second in combinations(candidates, 2):
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
    """Return in how many entries a recipe cannot give the right result."""
    if right is None or made.low.shape != right.low.shape:
        return int(answered.sum())
    with np.errstate(invalid="ignore"):  # of infinities
        apart = (made.low > right.high) | (made.high < right.low)
    return int((apart & answered).sum())


def results_of_recipes(known: Known, step: Step) -> Iterator[Matrix]:
    """Yield the result of each wrong recipe of a step, or of those that are left out before it."""
    for recipes in _tried(known, step):
        with suppress(ValueError, InputError):
            yield known.result(step, None, *recipes).low


def _tried(known: Known, step: Step) -> Iterator[_Recipes]:
    """Yield each recipe, and those that one line of a program shares, as of queries and keys."""
    yield from ((recipe,) for recipe in _candidates(known, step))
    missing = [each.name for each in known.missing(step)]
    for group in TOGETHER:
        for first in missing:
            prefix, _, own = first.rpartition(".")
            names = [f"{prefix}.{name}" if prefix else name for name in group]
            if own != group[0] or not all(name in missing for name in names):
                continue
            for recipe in known.key.recipes[first]:
                if recipe.code.startswith(SHARED):
                    others = [_same_done(known, recipe, name) for name in names[1:]]
                    yield (recipe, *(each for each in others if each is not None))


def _same_done(known: Known, recipe: Recipe, step: str) -> Recipe | None:
    alike = [each for each in known.key.recipes[step] if each.code == recipe.code]
    return next((each for each in alike if each.says == recipe.says), next(iter(alike), None))


def _says(recipe: Recipe, twins: list[Recipe]) -> str:
    if not twins:
        return recipe.says
    return f"{recipe.says} (in {of_each([recipe.step, *(each.step for each in twins)])})"


def _candidates(known: Known, step: Step, most: int = MOST_LEFT_OUT) -> Iterator[Recipe]:
    """Yield the wrong recipes of the step, and of the last of those that are left out before it.

    For a gradient, recipes of the backward pass come first, the nearest first: they explain more
    than recipes of V, which also reverse all signs.
    """
    tried = (*tuple(known.missing(step))[-most:], step)
    if is_of_the_way_back(step.name):
        back = [each for each in tried if is_of_the_way_back(each.name)]
        tried = (*reversed(back), *(each for each in tried if each not in back))
    for each in tried:
        yield from known.key.recipes[each.name]
