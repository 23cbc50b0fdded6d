"""The query with given target weights: q = β (k_a + k_b) for orthonormal keys.

In general, the least-norm q whose scaled scores are β on the target inputs and 0 elsewhere; unequal
weights differ by the logarithms of their ratios.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.decimals import each_entry
from attncalc.base.errors import InputError
from attncalc.base.text import entry_name
from attncalc.base.typed import fraction_of
from attncalc.base.types import Matrix, Place
from attncalc.problem.attention.declared import SQRT_DK
from attncalc.problem.problem import Problem
from attncalc.solving.plan import plan
from attncalc.solving.solution import Solution, solve
from attncalc.studies.changes import Change, Span, value_text
from attncalc.studies.family import at_point, families, of_solution
from attncalc.studies.vary import POINTS, Variation, vary
from attncalc.studies.watched import Matrices, Watched, beyond_floats, distance, entry_of, scaled

USUAL_BETA = Fraction(10)
SHOWN_BETAS = tuple(map(Fraction, (1, 2, 5, 10, 20, 50)))
NOTHING = 1e-9
"""The share of the scores up to which a residual is rounding error."""
DIGITS = 12
"""Significant digits of a shown query, and the digits to which it is rounded if it is close."""
LEAST_BETA, LARGEST_BETA, LOOKED_AT = 1e-3, 1e6, 2000
HALVINGS = 200
SWEEPS = 5000
"""The number of sweeps after which no query is assumed to exist."""


@dataclass(frozen=True, eq=False)
class TargetWeights:
    """The target: a weight for each input, as typed."""

    text: str
    weights: tuple[Fraction, ...]


class Obstacle(NamedTuple):
    """Why no query has the target scores: a key is a sum of others, so its score is fixed.

    others: the keys that it is a combination of, with their shares, which sum to 1.
    makes, wanted: its score for β = 1 if the others have their targets, and its own target.
    is_passed: whether another query reaches the weights anyway.
    """

    key: int
    others: tuple[tuple[int, float], ...]
    makes: float
    wanted: float
    is_passed: bool = False


@dataclass(frozen=True, eq=False)
class Aim:
    """A designed query, or one for each head, and its result.

    problem: keys and values, with the part of the queries that β does not change.
    change: the change of the queries with β.
    beta: the requested β.
    queries, in_keys: the query of each head, (heads, d_k), and its coefficients of the keys,
        (heads, m).
    obstacle: why the weights are impossible, or None.
    within: the requested error, and the β that reaches it, or None.
    left_out: the parts of the problem after the weighed values, which c omits.
    """

    problem: Problem
    target: TargetWeights
    change: Change
    beta: Fraction
    queries: Matrix
    in_keys: Matrix
    obstacle: Obstacle | None = None
    within: tuple[float, float | None] | None = None
    left_out: tuple[str, ...] = ()

    @cached_property
    def solution(self) -> Solution:
        """The problem with the designed query, solved."""
        return solve(at_point(self.problem, (self.change,), (self.beta,)))

    @property
    def weights(self) -> Matrix:
        """The weights of each head, (heads, m)."""
        return self._family[step_of(self.problem, "weights")][0, :, 0, :]

    @property
    def c(self) -> Matrix:
        """The output, (d_v,)."""
        return self._family[step_of(self.problem, "outputs")][0, 0, 0, :]

    @property
    def aimed_at(self) -> Matrix:
        """The target output, (d_v,)."""
        return aimed_at(self._family, self.target)

    @property
    def error(self) -> float:
        """How far the output is from it, ‖c - target‖."""
        return float(distance(self.c, self.aimed_at))

    @cached_property
    def over_beta(self) -> Variation:
        """The weights, the output and the error at several β."""
        betas = sorted({*SHOWN_BETAS, self.beta})
        change = replace(self.change, values=tuple(betas))
        return vary(self.problem, (change,), watched_of(self.problem, self.target))

    @cached_property
    def curve(self) -> Variation:
        """The same at the β of a picture."""
        largest = max(Fraction(50), 2 * self.beta)
        values = Span(Fraction(1, 10), largest, POINTS, is_log=True)
        text = f"β = {value_text(values.first)}:{value_text(largest)}:log"
        change = replace(self.change, text=text, values=values)
        watched = watched_of(self.problem, self.target)
        shown = tuple(each for each in watched if each.is_weight or not each.step)
        return vary(self.problem, (change,), shown)

    @cached_property
    def _family(self) -> Matrices:
        return of_solution(self.solution)


@np.errstate(over="ignore", invalid="ignore")  # overflow is refused
def aim(
    problem: Problem,
    target: TargetWeights,
    *,
    beta: Fraction = USUAL_BETA,
    heads: int = 1,
    within: float | None = None,
) -> Aim:
    """Design the query, or one for each head, that reaches given weights.

    Raises InputError if the problem has masks, heads or positions that do not allow a designed
    query, or the weights cannot be divided among the heads.

    problem: the problem with keys and values; its queries are ignored.
    beta: the difference between the scaled scores of the target inputs and of the others.
    heads: with several heads, each has a query for one value, and their outputs are averaged.
    within: a target error: the smallest β that reaches it is computed.
    """
    check_aim(problem)
    solution = solve(problem)
    values: dict[str, Any] = {
        name: problem.turned(name, problem.as_typed(name))
        if name in problem.names
        else solution.carried[name]
        for name in ("K", "V")
    }
    keys = np.asarray(values["K"], dtype=np.float64)
    scale = problem.scale
    factor = float(scale) if isinstance(scale, Fraction) else 1.0
    if scale == SQRT_DK:
        factor = 1 / sqrt(problem.d_k)
    # keys of about 1 in size: the squares of others may overflow
    small, power = scaled(keys, None)
    designs = [_design(small * factor, weights) for weights in _of_heads(target, heads)]
    slopes = np.ldexp(np.stack([design.slope for design in designs]), -power)
    offsets = np.ldexp(np.stack([design.offset for design in designs]), -power)
    own: dict[str, Any] = {
        name: getattr(problem, name)
        for name in ("scale", "rounding", "decimals", "title", "language")
    }
    Q = _exact(offsets) if len(offsets) == 1 else _exact(offsets)[:, np.newaxis]
    if len(offsets) > 1:
        own |= {"heads": len(offsets), "combine": "mean"}
    base = Problem(Q=Q, labels={"Q": ["q"], "K": list(problem.keys)}, **values, **own)
    direction = _exact(slopes).reshape(base.Q.shape)
    change = Change(f"β = {value_text(beta)}", "Q", "β", "add", (beta,), (), direction)
    queries = offsets + float(beta) * slopes
    if not np.isfinite(queries).all():
        raise beyond_floats("the query")
    in_keys = np.stack([np.linalg.lstsq(small.T, query, rcond=NOTHING)[0] for query in queries])
    in_keys = np.ldexp(in_keys, -power)
    obstacle = next((design.obstacle for design in designs if design.obstacle), None)
    found = Aim(base, target, change, beta, _clean(queries), _clean(in_keys), obstacle)
    found = replace(found, left_out=tuple(problem.those_given("W_O", "b_O")))
    if not np.isfinite(found.error):
        raise beyond_floats("the error")
    if within is None:
        return found
    return replace(found, within=(within, _least_beta(base, change, target, within)))


def check_aim(problem: Problem) -> None:
    """Refuse problems in which the query does not determine the weights."""
    faults = {
        "masks hide keys from a query": problem.is_masked,
        "scores have a bias by distance": problem.has_alibi or problem.rel_bias is not None,
        "a sink receives part of the weights": problem.sinks is not None,
        "qk_norm is not linear in the queries": problem.qk_norm != "none",
        "softcap is not linear in the scores": problem.softcap is not None,
        "rope rotates queries by their position": problem.positions == "rope",
        f"the normalizer is {problem.normalizer}": problem.normalizer != "softmax",
        "keys of several heads": problem.n_kv_heads > 1,
        "scale is 0": problem.scale == 0,
    }
    if found := [fault for fault, is_so in faults.items() if is_so]:
        what = "aim designs a query for a softmax over all keys of one head"
        raise InputError(f"{what}: {found[0]}")


def aimed_at(family: Matrices, target: TargetWeights) -> Matrix:
    """Return the target output: the weighted values, (d_v,)."""
    weights = np.array([float(weight) for weight in target.weights])
    return np.asarray(weights @ family["V"][0, 0])


def watched_of(problem: Problem, target: TargetWeights) -> tuple[Watched, ...]:
    """Return the watched quantities of a designed query: weights, outputs, and their error."""
    weights, outputs = step_of(problem, "weights"), step_of(problem, "outputs")
    heads: list[Place] = (
        [(head,) for head in range(problem.n_heads)] if problem.n_heads > 1 else [()]
    )
    entries = [(weights, (*head, 0, key)) for head in heads for key in range(problem.m)]
    entries += [(outputs, (0, column)) for column in range(problem.d_v)]

    def error(family: Matrices) -> Matrix:
        return distance(family[outputs][:, 0, 0, :], aimed_at(family, target))

    watched = [
        Watched(entry_name(name, place), entry_of(name, place), name, place, name == weights)
        for name, place in entries
    ]
    return (*watched, Watched("error", error))


def step_of(problem: Problem, role: str) -> str:
    """Return the name of the step with a role: weights, outputs."""
    return next(step.name for step in plan(problem) if step.role == role)


def _of_heads(target: TargetWeights, heads: int) -> list[tuple[Fraction, ...]]:
    """Return the target weights of each head: all of them, or a single value each."""
    if heads == 1:
        return [target.weights]
    shares = [weight * heads for weight in target.weights]
    if any(share.denominator != 1 for share in shares):
        least = np.lcm.reduce([weight.denominator for weight in target.weights])
        raise InputError(
            f'"{target.text}": {heads} heads, one value each, average to parts of 1/{heads}: '
            f"give {least} heads"
        )
    count = len(target.weights)
    return [
        tuple(Fraction(int(other == key)) for other in range(count))
        for key, share in enumerate(shares)
        for _ in range(int(share))
    ]


class _Design(NamedTuple):
    """A query for each unit of β, a constant part, and the obstacle."""

    slope: Matrix
    offset: Matrix
    obstacle: Obstacle | None = None


def _design(keys: Matrix, weights: Sequence[Fraction]) -> _Design:
    """Return the least-norm query with the target scores, or with all of them plus a constant.

    If there is none, return the one whose target scores are at least β above all others; if that
    does not exist either, the one with the nearest scores.
    """
    numbers = np.array([float(weight) for weight in weights])
    scores = np.where(numbers > 0, 1.0, 0.0)  # for each unit of β, in addition to an offset
    logs = np.log(np.where(numbers > 0, numbers / numbers.max(), 1.0))
    slope, offset = _query(keys, scores), _query(keys, logs)
    missed = _missed(keys, slope, scores)
    if missed is None and _missed(keys, offset, logs) is None:
        return _Design(slope, offset)
    beyond = _beyond(keys, scores > 0, logs)
    if missed is None:
        missed, scores = _missed(keys, offset, logs), logs
    assert missed is not None
    # the error is a vanishing sum of keys
    key = int(np.abs(missed).argmax())
    shares = -missed / missed[key]
    dust = NOTHING * 1000
    others = tuple(
        (other, float(f"{share:.10g}"))
        for other, share in enumerate(shares)
        if other != key and abs(share) > dust
    )
    makes = sum(share * float(scores[other]) for other, share in others)
    obstacle = Obstacle(key, others, makes, float(scores[key]))
    if beyond is None:
        return _Design(slope, offset, obstacle)
    return _Design(*beyond, obstacle._replace(is_passed=True))


def _query(keys: Matrix, scores: Matrix) -> Matrix:
    """Return the least-norm query with these scores, or with all of them shifted by a constant."""
    query = _least(keys, scores)
    if np.abs(keys @ query - scores).max() <= NOTHING * np.abs(scores).max(initial=1e-300):
        return query
    # weights do not change when all scores shift by a constant
    return _least(keys - keys.mean(axis=0), scores - scores.mean())


def _missed(keys: Matrix, query: Matrix, scores: Matrix) -> Matrix | None:
    """Return the error of a query's scores, except for a common constant."""
    missed = scores - keys @ query
    missed = missed - missed.mean()
    return missed if np.abs(missed).max() > NOTHING * np.abs(scores).max(initial=0.0) else None


def _beyond(keys: Matrix, aimed: Matrix, logs: Matrix) -> tuple[Matrix, Matrix] | None:
    """Return the least-norm query whose target scores tie, at least 1 above all others.

    Also return the part for unequal weights; None if there is no such query.
    """
    first = int(np.flatnonzero(aimed)[0])
    ties = keys[aimed] - keys[first]
    offset = _least(ties, logs[aimed] - logs[first])
    if np.abs(ties @ offset - (logs[aimed] - logs[first])).max() > NOTHING:
        return None
    _, sizes, rows = np.linalg.svd(ties)
    rank = int((sizes > NOTHING * max(float(np.abs(keys).max()), 1e-300)).sum())
    free = rows[rank:]  # along these the target scores stay equal
    ahead = (keys[first] - keys[~aimed]) @ free.T
    if np.abs(ahead).max(axis=1, initial=0.0).min(initial=1.0) <= NOTHING * np.abs(keys).max():
        return None  # the target scores cannot move without one of the others
    found = _margin(ahead)
    return None if found is None else (_clean(found @ free), offset)


def _margin(ahead: Matrix) -> Matrix | None:
    """Return the shortest w with (ahead) w at least 1; None if there is none.

    Hildreth (1957): the dual is solved one multiplier at a time.
    """
    products = ahead @ ahead.T
    sizes = products.diagonal()
    multipliers = np.zeros(len(sizes))
    for _ in range(SWEEPS):
        for row in range(len(sizes)):
            short = (1 - products[row] @ multipliers) / sizes[row]
            multipliers[row] = max(0.0, multipliers[row] + short)
        if (products @ multipliers).min() >= 1 - NOTHING:
            return np.asarray(multipliers @ ahead)
    return None


def _least(keys: Matrix, scores: Matrix) -> Matrix:
    found: Matrix = np.linalg.lstsq(keys, scores, rcond=NOTHING)[0]
    # relative to that of a single key, the rest is rounding error
    size = np.abs(scores).max() / max(float(np.abs(keys).max()), 1e-300)
    return _clean(np.where(np.abs(found) > 1e-12 * size, found, 0.0))


def _least_beta(
    problem: Problem, change: Change, target: TargetWeights, within: float
) -> float | None:
    """Return the smallest β from which the error stays this small; None if there is none."""

    def error(betas: Matrix) -> Matrix:
        points = [(Fraction(float(beta)),) for beta in betas]
        ((family, count),) = families(problem, (change,), points)
        return np.broadcast_to(watched_of(problem, target)[-1].measure(family), (count,))

    betas = np.concatenate([[0.0], np.geomspace(LEAST_BETA, LARGEST_BETA, LOOKED_AT)])
    above = np.flatnonzero(error(betas) > within)
    if not len(above):
        return 0.0
    if above[-1] == len(betas) - 1:
        return None
    low, high = betas[above[-1]], betas[above[-1] + 1]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if error(np.array([middle]))[0] > within else (low, middle)
    return float(high)


def _clean(matrix: Matrix) -> Matrix:
    """Return numbers without rounding errors: 10 for 10.000000000000002."""
    dust = 1e-14 * float(np.abs(matrix).max(initial=0.0))
    short = np.array([float(f"{number:.{DIGITS}g}") for number in matrix.flat])
    near = np.where(np.abs(matrix) <= 100 * dust, 0.0, short.reshape(matrix.shape))
    return np.where(np.abs(near - matrix) <= 100 * dust * (near == 0) + dust, near, matrix) + 0.0


def _exact(matrix: Matrix) -> Matrix:
    return each_entry(lambda number: Fraction(str(number)), _clean(matrix))


def read_beta(given: object) -> Fraction:
    """Return β. Raises InputError if it is no number, or not above 0."""
    if (beta := fraction_of(given, "beta takes a number above 0")) <= 0:
        raise InputError(f"beta {value_text(beta)}: β must be above 0, for example 10")
    return beta
