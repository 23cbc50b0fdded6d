"""Whether a candidate is what was wished for: the first wish that it does not meet."""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from attncalc.errors import InputError
from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.making.wishes import Wishes
from attncalc.numbers.rounding import Rounded, round_floats
from attncalc.numbers.types import Matrix, Range
from attncalc.operations.step import Step
from attncalc.problem.fields import TOKENS
from attncalc.problem.problem import Problem
from attncalc.solving.connections import connections
from attncalc.solving.solution import Solution, solve

MISTAKES = {
    "scores-transposed": "scores transposed",
    "scale-none": "scale forgotten",
    "softmax-columns": "softmax down the columns",
    "weights-swapped": "weights swapped",
}
"""What each problem should tell apart from what is right, by the code of its recipe."""


class Rejected(NamedTuple):
    """Why a candidate is not what was wished for.

    Parameters
    ----------
    wish
        The flag of the wish that it does not meet, without its dashes.
    says
        What it is, as a few words: "a zero row".
    """

    wish: str
    says: str


ALIKE = Rejected("entries", "matrices or tokens that are alike")
UNSOLVED = Rejected("entries", "no solution in floats")
LARGE = Rejected("largest-score", "a score too large")
NEAR = Rejected("margin", "a digit near a rounding boundary")
DIFFERING = Rejected("same-digits", "digits that depend on when one rounds")
TIES = Rejected("ties", "another number of ties")
TIES_AS_SHOWN = Rejected("ties", "weights that look alike and are not")
SECONDS = Rejected("second-lines", "another number of second lines")
SHARP = Rejected("sharp", "weights that are all 0 or 1")
SPREAD = Rejected("spread", "a row that is spread too little or too much")
MEAN_SPREAD = Rejected("mean-spread", "weights that are spread too little or too much")


def at_sight(matrices: dict[str, Matrix]) -> Rejected | None:
    """Return what is wrong with drawn matrices before anything is solved."""
    listed = [matrix.tolist() for matrix in matrices.values()]
    if any(one == other for one, other in combinations(listed, 2)):
        return ALIKE
    for name, matrix in matrices.items():
        if name not in TOKENS or matrix.shape[1] == 1:
            continue
        if len({tuple(row) for row in matrix.tolist()}) < len(matrix):
            return ALIKE
    return None


def judged(problem: Problem, wishes: Wishes) -> Rejected | None:
    """Return the first wish that a problem does not meet, or None where it meets all of them."""
    try:
        solution = solve(problem)
        for judge in JUDGES:
            if (found := judge(solution, wishes)) is not None:
                return found
    except InputError:  # numbers beyond floats, a sum of 0
        return UNSOLVED
    return None


def _sizes(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find a score that is too large."""
    for step in solution.plan:
        if step.columns != "keys" or step.role == "weights":
            continue
        scores = np.asarray(solution.floats[step.name], dtype=float)
        if (np.abs(scores[np.isfinite(scores)]) > float(wishes.largest_score)).any():
            return LARGE
    return None


def _sharpness(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find a head whose weights are all 0 or 1 as they are shown."""
    if wishes.sharp:
        return None
    for weights in _shown_weights(solution):
        if np.isin(weights, (0.0, 1.0)).all() and weights.shape[-1] > 1:
            return SHARP
    return None


def _spread(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find a row whose effective number of inputs, e^H / n, is outside of what is wished for."""
    if wishes.spread is not None:
        low, high = map(float, wishes.spread)
        if any(((each < low) | (each > high)).any() for each in _spreads(solution)):
            return SPREAD
    if wishes.mean_spread is not None:
        low, high = map(float, wishes.mean_spread)
        return None if low <= mean_spread(solution) <= high else MEAN_SPREAD
    return None


def mean_spread(solution: Solution) -> float:
    """Return the mean of e^H / n of all rows of weights."""
    return float(np.mean(np.concatenate([each.ravel() for each in _spreads(solution)])))


def _spreads(solution: Solution) -> Iterator[Matrix]:
    from attncalc.studies.watched import effective_inputs  # here, for few ask for it

    for step in solution.all_weights:
        weights = np.asarray(solution.floats[step.name], dtype=float)
        yield effective_inputs(weights) / weights.shape[-1]


def _ties(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find another number of ties than is wished for: floats are enough to tell."""
    found = _count_ties(_heads(solution.floats[step.name]) for step in solution.all_weights)
    return None if wishes.ties in (None, found) else TIES


def _lines(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find other ties than those that are shown, or another number of second lines."""
    ties, seconds = lines_of(solution)
    if wishes.ties not in (None, ties):
        return TIES
    is_counted = wishes.like is None and wishes.ties is not None
    if is_counted and _count_ties([_shown_weights(solution)]) != ties:
        return TIES_AS_SHOWN
    return None if wishes.second_lines in (None, seconds) else SECONDS


def _count_ties(attentions: Iterable[Iterable[Matrix]]) -> int:
    """Return how many outputs attend to several inputs alike, in all heads together."""
    heads = (head for attention in attentions for head in attention)
    rows = (each for weights in heads for each in connections(weights, weights != 0))
    return sum(len(each.most) > 1 for each in rows)


def lines_of(solution: Solution) -> tuple[int, int]:
    """Return how many outputs attend to several inputs alike, and how many have a second line."""
    ties = seconds = 0
    for step in solution.all_weights:
        for head in solution.heads_of(step):
            ties += sum(len(each.most) > 1 for each in head.connections)
            seconds += sum(bool(each.second) for each in head.connections)
    return ties, seconds


def _shown_weights(solution: Solution) -> Iterator[Matrix]:
    for step in solution.all_weights:
        yield from _heads(solution.digits[step.name])


def _heads(weights: Matrix | Rounded) -> Matrix:
    """Return the weights of one attention as floats, head by head."""
    heads = np.asarray(weights).astype(float)
    return heads.reshape(-1, *heads.shape[-2:])


def _margins(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find a value that is near the middle between two roundings."""
    if wishes.margin is not None and _is_near(solution, wishes.margin):
        return NEAR
    if wishes.same_digits and solution.count_differing():
        return DIFFERING
    if wishes.same_digits and _is_near(solution.other_rounding, wishes.margin or Fraction(0)):
        return NEAR
    return None


def _is_near(solution: Solution, margin: Fraction) -> bool:
    nearest = Decimal(margin.numerator) / Decimal(margin.denominator)
    with solution.arithmetic():
        unit = Decimal(1).scaleb(solution.problem.decimals)
        for step in solution.plan:
            for value in np.asarray(solution.exact[step.name]).flat:
                exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
                if exact.is_finite() and abs(abs(exact) * unit % 1 - Decimal("0.5")) <= nearest:
                    return True
    return False


def _mistakes(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find a common mistake that would change no digit."""
    if not wishes.tell_apart:
        return None
    key = key_of(solution.problem, Rules())
    carried = {name: np.asarray(each, dtype=float) for name, each in solution.carried.items()}
    known = {**solution.problem.given, **carried}
    for step in solution.plan:
        for recipe in key.recipes[step.name]:
            code = recipe.code.split(":")[0]
            if code in MISTAKES and not _shows(solution, step, recipe.make, known):
                return Rejected("tell-apart", f"{MISTAKES[code]} would change no digit")
    return None


def _shows(
    solution: Solution,
    step: Step,
    make: Callable[[Callable[[str], Range]], Range | None],
    known: dict[str, Matrix],
) -> bool:
    """Say whether a mistake changes a digit; one that cannot be made needs not be told apart."""
    try:
        made = make(lambda name: Range.at(known[name]))
    except (ValueError, InputError):  # shapes do not go together, a sum is 0
        return True
    digits = np.asarray(solution.digits[step.name]).astype(float)
    if made is None or made.low.shape != digits.shape:
        return True
    return bool((round_floats(made.low, solution.problem.decimals) != digits).any())


JUDGES: tuple[Callable[[Solution, Wishes], Rejected | None], ...] = (
    _sizes,
    _ties,
    _sharpness,
    _lines,
    _spread,
    _margins,
    _mistakes,
)
"""Each looks at one wish, the cheap ones first."""
