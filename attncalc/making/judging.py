"""The judgment of candidates: the first condition that a candidate does not satisfy."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.decimals import to_decimal
from attncalc.base.errors import InputError
from attncalc.base.rounding import Rounded, round_floats
from attncalc.base.typed import exact
from attncalc.base.types import Matrix, Range
from attncalc.grading.key import key_of
from attncalc.grading.rules import Rules
from attncalc.making.wishes import Wishes
from attncalc.problem.fields import TOKENS, own_name
from attncalc.problem.problem import Problem
from attncalc.solving.connections import count_ties
from attncalc.solving.solution import Solution, solve

MISTAKES = {
    "scores-transposed": "scores transposed",
    "scale-none": "scale forgotten",
    "softmax-columns": "softmax down the columns",
    "weights-swapped": "weights swapped",
}
"""The mistakes that each problem should show, by the code of their recipes."""


NOISE = 1e-9
"""More than the relative error of a float that is compared."""


class Rejected(NamedTuple):
    """Why a candidate is rejected.

    wish: the flag of the condition that it does not satisfy, without its dashes.
    says: the reason, as a short text: "a zero row".
    """

    wish: str
    says: str


ALIKE = Rejected("entries", "equal matrices or tokens")
UNSOLVED = Rejected("entries", "no solution in floats")
LARGE = Rejected("largest-score", "a score too large")
NEAR = Rejected("margin", "a digit near a rounding boundary")
DIFFERING = Rejected("same-digits", "digits that depend on when numbers are rounded")
TIES = Rejected("ties", "another number of ties")
TIES_AS_SHOWN = Rejected("ties", "weights that look equal but are not")
SECONDS = Rejected("second-lines", "another number of second lines")
SHARP = Rejected("sharp", "weights that are all 0 or 1")
SPREAD = Rejected("spread", "a row that is spread too little or too much")
MEAN_SPREAD = Rejected("mean-spread", "weights that are spread too little or too much")


Fault = tuple[str, int]
"""The name of a step and a head, from 0, that do not satisfy a condition."""


class Judged(NamedTuple):
    """The judgment of a candidate: why it is rejected, or None, and the heads that cause it."""

    rejected: Rejected | None = None
    heads: Mapping[str, Collection[int]] = {}

    @property
    def wish(self) -> str:
        """The condition that it does not satisfy, or ""."""
        return self.rejected.wish if self.rejected else ""


Judge = Callable[[Solution, Wishes], Rejected | None]


def at_sight(matrices: dict[str, Matrix]) -> Rejected | None:
    """Return why drawn matrices are rejected before anything is solved."""
    listed = [matrix.tolist() for matrix in matrices.values()]
    if any(one == other for one, other in combinations(listed, 2)):
        return ALIKE
    for name, matrix in matrices.items():
        if name not in TOKENS or matrix.shape[1] == 1:
            continue
        if len({tuple(row) for row in matrix.tolist()}) < len(matrix):
            return ALIKE
    return None


def judged(problem: Problem, wishes: Wishes) -> Judged:
    """Return the first condition that a problem does not satisfy, if any, and the heads."""
    return judged_by(JUDGES, lambda: solve(problem), wishes)


def judged_by(judges: Sequence[Judge], solved: Callable[[], Solution], wishes: Wishes) -> Judged:
    """Return the first of these conditions that a solution does not satisfy, and the heads."""
    try:
        solution = solved()
        for judge in judges:
            if (found := judge(solution, wishes)) is not None:
                return Judged(found, _heads_at_fault(solution, wishes, found))
    except InputError:  # numbers beyond floats, a sum of 0
        return Judged(UNSOLVED)
    return Judged()


def _heads_at_fault(solution: Solution, wishes: Wishes, found: Rejected) -> dict[str, set[int]]:
    """Return the heads that cause a rejection, by the prefix of their steps' names.

    None if all heads of an attention do: then the shared matrices do, too.
    """
    faulty: dict[str, set[int]] = {}
    if wishes.heads == 1:
        return faulty
    several = {step.name for step in solution.plan if len(solution.shape_of(step.name)) == 3}
    for name, head in chain.from_iterable(f(solution, wishes) for f in FAULTS.get(found, ())):
        if name in several:
            faulty.setdefault(name[: -len(own_name(name))], set()).add(head)
    all_of_one = any(len(heads) == wishes.heads for heads in faulty.values())
    return {} if all_of_one else faulty


def _sizes(solution: Solution, wishes: Wishes) -> Rejected | None:
    return LARGE if any(_large(solution, wishes)) else None


def _large(solution: Solution, wishes: Wishes) -> Iterator[Fault]:
    most = float(wishes.largest_score)
    for step in solution.plan:
        if step.columns != "keys" or step.role == "weights":
            continue
        scores = _heads(solution.floats[step.name])
        too_large = (np.abs(scores) > most) & np.isfinite(scores)
        if too_large.any():
            yield from ((step.name, int(n)) for n in np.flatnonzero(too_large.any(axis=(-2, -1))))


def _sharpness(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find a head whose weights are all 0 or 1 as they are shown."""
    if wishes.sharp:
        return None
    for step in solution.all_weights:
        shown = _heads(solution.digits[step.name])
        if shown.shape[-1] > 1 and np.isin(shown, (0.0, 1.0)).all(axis=(-2, -1)).any():
            return SHARP
    return None


def _spread(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find a row whose effective number of inputs, e^H / n, is outside of the condition."""
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
    """Find a wrong number of ties, for which floats are exact enough."""
    found = sum(_counted_ties(solution, solution.floats).values())
    return None if wishes.ties in (None, found) else TIES


def _tied(solution: Solution, wishes: Wishes) -> Iterator[Fault]:
    """Yield the heads with ties, where there are too many."""
    found = _counted_ties(solution, solution.floats)
    if wishes.ties is not None and sum(found.values()) > wishes.ties:
        yield from (fault for fault, count in found.items() if count)


def _tied_as_shown(solution: Solution, wishes: Wishes) -> Iterator[Fault]:
    found = _counted_ties(solution, solution.digits)
    yield from (fault for fault, count in found.items() if count)


def _counted_ties(solution: Solution, steps: Mapping[str, Any]) -> dict[Fault, int]:
    """Return the number of ties of each head, in floats or as shown."""
    return {
        (step.name, head): count_ties(weights)
        for step in solution.all_weights
        for head, weights in enumerate(_heads(steps[step.name]))
    }


def _lines(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find other ties than those shown, or another number of second lines."""
    ties, seconds = lines_of(solution)
    if wishes.ties not in (None, ties):
        return TIES
    is_counted = wishes.like is None and wishes.ties is not None
    if is_counted and sum(_counted_ties(solution, solution.digits).values()) != ties:
        return TIES_AS_SHOWN
    return None if wishes.second_lines in (None, seconds) else SECONDS


def lines_of(solution: Solution) -> tuple[int, int]:
    """Return the number of outputs with tied largest weights, and of second lines."""
    ties = seconds = 0
    for step in solution.all_weights:
        for head in solution.heads_of(step):
            ties += sum(len(each.most) > 1 for each in head.connections)
            seconds += sum(bool(each.second) for each in head.connections)
    return ties, seconds


def _heads(weights: Matrix | Rounded) -> Matrix:
    """Return the weights of one attention as floats, head by head."""
    heads = np.asarray(weights).astype(float)
    return heads.reshape(-1, *heads.shape[-2:])


def _margins(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find a value near the midpoint between two roundings."""
    if wishes.margin is not None and any(_near(solution, wishes.margin)):
        return NEAR
    if wishes.same_digits and solution.count_differing():
        return DIFFERING
    margin = wishes.margin or Fraction(0)
    is_near = wishes.same_digits and any(_near(solution.other_rounding, margin))
    return NEAR if is_near else None


def _near(solution: Solution, margin: Fraction) -> Iterator[Fault]:
    """Yield each step and head with a value near the midpoint between two roundings."""
    nearest, half = to_decimal(margin), Decimal("0.5")
    with solution.arithmetic():
        unit = Decimal(1).scaleb(solution.problem.decimals)
        for step in solution.plan:
            matrix = np.asarray(solution.exact[step.name])
            for head, values in enumerate(matrix.reshape(-1, *matrix.shape[-2:])):
                for value in values[_may_be_near(values, float(unit), float(nearest))]:
                    size = abs(value if isinstance(value, Decimal) else exact(float(value)))
                    if size.is_finite() and abs(size * unit % 1 - half) <= nearest:
                        yield step.name, head
                        break


def _may_be_near(values: Matrix, unit: float, nearest: float) -> Matrix:
    """Return which values floats cannot exclude: few, so that few are compared as decimals."""
    sizes = np.abs(values.astype(float)) * unit
    with np.errstate(invalid="ignore"):  # of infinities
        excluded: Matrix = np.abs(sizes % 1 - 0.5) > nearest + NOISE * (1 + sizes)
    return ~excluded


def _near_heads(solution: Solution, wishes: Wishes) -> Iterator[Fault]:
    """Yield the heads with a value near the midpoint, under the requested rounding."""
    margin = wishes.margin or Fraction(0)
    yield from _near(solution, margin)
    if wishes.same_digits:
        yield from _near(solution.other_rounding, margin)


def _differing(solution: Solution, wishes: Wishes) -> Iterator[Fault]:
    """Yield the heads whose digits depend on the rounding rule."""
    for step in solution.plan:
        pair = (np.asarray(each.digits[step.name]) for each in (solution, solution.other_rounding))
        one, other = (digits.reshape(-1, *digits.shape[-2:]) for digits in pair)
        for head in np.flatnonzero((one != other).any(axis=(-2, -1))):
            yield step.name, int(head)


def _mistakes(solution: Solution, wishes: Wishes) -> Rejected | None:
    """Find a common mistake that would change no digit, though in other problems it would."""
    if not wishes.tell_apart:
        return None
    decimals = solution.problem.decimals
    for each in common_mistakes(solution):
        if (each.step, each.code) in wishes.untold or each.made is None:
            continue
        digits = np.asarray(solution.digits[each.step]).astype(float)
        if each.made.shape == digits.shape and (round_floats(each.made, decimals) == digits).all():
            return Rejected("tell-apart", f"{each.says} changes no digit")
    return None


class Mistake(NamedTuple):
    """A common mistake in a step: its code, its description, and its result if it is possible.

    Shapes may not match, and a sum may be 0.
    """

    step: str
    code: str
    says: str
    made: Matrix | None


def common_mistakes(solution: Solution) -> Iterator[Mistake]:
    """Yield the mistakes that a problem should show, each with its step."""
    key = key_of(solution.problem, Rules())
    carried = {name: np.asarray(each, dtype=float) for name, each in solution.carried.items()}
    known = {**solution.problem.given, **carried}
    for step in solution.plan:
        for recipe in key.recipes[step.name]:
            code = recipe.code.split(":")[0]
            if code in MISTAKES:
                yield Mistake(step.name, recipe.code, MISTAKES[code], _made(recipe.make, known))


def _made(
    make: Callable[[Callable[[str], Range]], Range | None], known: dict[str, Matrix]
) -> Matrix | None:
    try:
        made = make(lambda name: Range.at(known[name]))
    except (ValueError, InputError):
        return None
    return None if made is None else made.low


IN_FLOATS: tuple[Judge, ...] = (_sizes, _ties, _sharpness, _lines, _spread, _margins)
"""Each tests one condition, the cheap ones first; in floats, they reject reliably."""
JUDGES: tuple[Judge, ...] = (*IN_FLOATS, _mistakes)
FAULTS: Mapping[Rejected, tuple[Callable[[Solution, Wishes], Iterator[Fault]], ...]] = {
    LARGE: (_large, _tied),
    TIES: (_tied,),
    TIES_AS_SHOWN: (_tied_as_shown,),
    NEAR: (_near_heads,),
    DIFFERING: (_differing,),
}
"""The functions that find the failing heads of a condition on single heads."""
