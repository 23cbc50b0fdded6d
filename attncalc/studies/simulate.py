"""Random draws of a problem: the spread of watched quantities, and the largest weights."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.typed import quoted
from attncalc.base.types import Matrix
from attncalc.problem.problem import Problem
from attncalc.problem.step import Report
from attncalc.solving.connections import leading
from attncalc.solving.plan import outputs_of, plan
from attncalc.studies.draws import Draw, generators
from attncalc.studies.family import OF_DRAW, ProblemFamily, check_count
from attncalc.studies.watched import (
    Condition,
    Matrices,
    Watched,
    beyond_floats,
    scaled,
    watched_values,
)

QUANTILES = (5, 50, 95)
USUAL_DRAWS = 1000
LEAST_KEPT = 10
"""The fewest draws that must meet a condition for statistics."""
MOST_KEPT = 2000
"""The number of draws whose outputs are kept, for a picture of their cloud."""
STEP = 1000
"""Draws after which the standard error is checked again."""


class Statistic(NamedTuple):
    """The statistics of a watched value over all draws."""

    name: str
    mean: float
    std: float
    standard_error: float
    quantiles: tuple[float, ...]


class First(NamedTuple):
    """The share of the draws in which each input has the largest weight; ties share a draw."""

    head: int
    output: int
    shares: tuple[float, ...]
    weights: str = "A"


class Direction(NamedTuple):
    """The direction in which the outputs vary most, and its share of their variance.

    along: a unit vector, (d_v,); its largest number is above 0.
    std: the standard deviation along it.
    share: its share of the total variance; 0 if nothing varies.
    """

    output: int
    along: tuple[float, ...]
    std: float
    share: float


@dataclass(frozen=True, eq=False)
class Simulation:
    """The draws of a problem, and their results.

    problem, draws, watched: the arguments.
    seed: the seed of the generator.
    values: the watched values, (draws, watched).
    first, directions: for each output.
    outputs: the outputs of the first draws, (draws, n, d_v).
    until: the requested standard error, or None.
    given, of_all: the conditions that these draws meet, and all draws; none, and None, without
        conditions.
    """

    problem: Problem
    draws: tuple[Draw, ...]
    watched: tuple[Watched, ...]
    seed: int
    values: Matrix
    first: tuple[First, ...]
    directions: tuple[Direction, ...]
    outputs: Matrix
    until: float | None = None
    given: tuple[Condition, ...] = ()
    of_all: "Simulation | None" = None

    @property
    def count(self) -> int:
        """The number of draws."""
        return len(self.values)

    @property
    def parts(self) -> "dict[str, Simulation]":
        """All draws and those that meet the conditions, by name; without conditions "" alone."""
        return {"all": self.of_all, "kept": self} if self.of_all else {"": self}

    @property
    def everything(self) -> "Simulation":
        """All draws, whether they meet the conditions or not."""
        return self.of_all or self

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """Mean, standard deviation, standard error and quantiles of each watched quantity."""
        means, stds = mean(self.values), spread(self.values)
        small, power = scaled(self.values, 0)
        shares = [share / 100 for share in QUANTILES]
        quantiles = np.ldexp(np.quantile(small, shares, axis=0), power)
        columns = zip(self.watched, means, stds, quantiles.T, strict=True)
        return tuple(
            Statistic(
                of.name, float(m), float(s), float(s) / sqrt(self.count), tuple(map(float, q))
            )
            for of, m, s, q in columns
        )


@np.errstate(over="ignore", invalid="ignore")  # overflow is refused where it is visible
def simulate(
    problem: Problem,
    draws: Sequence[Draw],
    watched: Sequence[Watched],
    *,
    count: int = USUAL_DRAWS,
    seed: int = 0,
    until: float | None = None,
    given: Sequence[Condition] = (),
    report: Report | None = None,
    agreed: bool = False,
) -> Simulation:
    """Draw a problem repeatedly, and solve all of its draws with one plan.

    Raises InputError if it would take very long and `agreed` is false, numbers exceed floats, or
    hardly any draw meets the conditions.

    draws, watched: the draws, and the watched quantities.
    count: the number of draws; with `until`, the smallest number.
    seed: the same seed gives the same draws.
    until: draw until the standard error of each mean is below this.
    given: conditions: draws that do not meet all of them are left out.
    report: called with the number of finished draws, and of all.
    agreed: whether to run even if it takes very long.
    """
    check_count(problem, count, OF_DRAW, agreed=agreed)
    run = _Run(problem, tuple(draws), tuple(watched), seed, tuple(given))
    run.draw(count, report)
    if given and run.met.count < LEAST_KEPT:
        texts = " and ".join(quoted(each.text) for each in given)
        raise InputError(
            f"{run.met.count} of {run.count:,} draws meet {texts}, and at least {LEAST_KEPT} "
            "must: make more draws, or a weaker condition"
        )
    while until is not None and (needed := run.needed(until)) > run.count:
        check_count(problem, needed, OF_DRAW, agreed=agreed)
        run.draw(STEP * ceil((needed - run.count) / STEP), report)
    return run.simulation(until)


class _Run:
    """Draws as they are made, and their sums so far; with conditions, also those that meet them."""

    def __init__(
        self,
        problem: Problem,
        draws: tuple[Draw, ...],
        watched: tuple[Watched, ...],
        seed: int,
        given: tuple[Condition, ...] = (),
    ) -> None:
        self.draws, self.watched, self.seed, self.given = draws, watched, seed, given
        self.met = _Run(problem, draws, watched, seed) if given else self
        self.count = 0
        self.values: list[Matrix] = []
        self.kept: list[Matrix] = []
        self._problem, self._family = problem, ProblemFamily(problem)
        self._generators = generators(seed, len(draws))
        steps = plan(problem)
        weights = [step.name for step in steps if step.role == "weights"]
        self._outputs = outputs_of(problem)
        self._shares: dict[str, Matrix | float] = dict.fromkeys(weights, 0.0)
        self._origin: Matrix | None = None
        self._power = 0
        self._sums: Matrix | float = 0.0
        self._squares: Matrix | float = 0.0

    def draw(self, count: int, report: Report | None) -> None:
        done = 0
        while done < count:
            now = min(self._family.chunk, count - done)
            self._take(self._solved(now), now)
            done += now
            if report:
                report(done, count)

    def _solved(self, count: int) -> Matrices:
        matrices: dict[str, Matrix] = {}
        for draw, generator in zip(self.draws, self._generators, strict=True):
            before = matrices.get(draw.name, self._problem.stored(draw.name)[np.newaxis])
            matrices[draw.name] = draw.on_each(before, generator, count)
        return self._family.solve(matrices)

    def _take(self, family: Matrices, count: int) -> None:
        if not count:
            return
        if self.given:
            met = np.logical_and.reduce([each.holds(family, count) for each in self.given])
            those = {name: each if len(each) == 1 else each[met] for name, each in family.items()}
            self.met._take(those, int(met.sum()))
        self.values.append(watched_values(self.watched, family, count))
        for name, shares in self._shares.items():
            weights = np.broadcast_to(family[name], (count, *family[name].shape[1:]))
            self._shares[name] = shares + first_shares(weights).sum(axis=0)
        outputs = family[self._outputs][:, 0]
        outputs = np.broadcast_to(outputs, (count, *outputs.shape[1:]))
        if self.count < MOST_KEPT:
            self.kept.append(outputs[: MOST_KEPT - self.count].copy())
        if self._origin is None:  # near the mean: otherwise squares would cancel
            self._origin = mean(outputs)
            # relative to the spread, so that its squares are floats
            halves = np.ldexp(outputs, -1) - np.ldexp(self._origin, -1)
            self._power = scaled(halves, None)[1].item() + 1
        away = np.ldexp(outputs, -self._power) - np.ldexp(self._origin, -self._power)
        self._sums = self._sums + away.sum(axis=0)
        self._squares = self._squares + np.einsum("bni,bnj->nij", away, away)
        self.count += count

    def needed(self, until: float) -> int:
        """Return how many draws reach this standard error of each mean, by an estimate."""
        worst = float(spread(np.concatenate(self.met.values)).max())
        return ceil((Fraction(worst) / Fraction(until)) ** 2 * self.count / self.met.count)

    def simulation(self, until: float | None) -> Simulation:
        values, kept = np.concatenate(self.values), np.concatenate(self.kept)[:MOST_KEPT]
        asked = self._problem, self.draws, self.watched, self.seed
        found = Simulation(*asked, values, self.first(), self.directions(), kept, until)
        if not self.given:
            return found
        return replace(self.met.simulation(until), given=self.given, of_all=found)

    def first(self) -> tuple[First, ...]:
        return tuple(
            First(head, output, tuple(map(float, row / self.count)), name)
            for name, shares in self._shares.items()
            for head, rows in enumerate(np.asarray(shares))
            for output, row in enumerate(rows)
        )

    def directions(self) -> tuple[Direction, ...]:
        means = np.asarray(self._sums) / self.count
        degrees = max(1, self.count - 1)
        outer = np.einsum("ni,nj->nij", means, means) * self.count
        covariances = (np.asarray(self._squares) - outer) / degrees
        if not np.isfinite(covariances).all():
            raise beyond_floats(f"the variance of {self._outputs}")
        found = (_direction(output, each) for output, each in enumerate(covariances))
        return tuple(each._replace(std=float(np.ldexp(each.std, self._power))) for each in found)


def _direction(output: int, covariance: Matrix) -> Direction:
    values, vectors = np.linalg.eigh(covariance)
    along = vectors[:, -1]
    along = along * np.sign(along[np.abs(along).argmax()])  # otherwise its sign would be random
    largest, total = max(float(values[-1]), 0.0), max(float(covariance.trace()), 0.0)
    numbers = tuple(float(number) + 0.0 for number in along)
    return Direction(output, numbers, sqrt(largest), min(largest / total, 1.0) if total else 0.0)


def first_shares(weights: Matrix) -> Matrix:
    """Return the share of the largest weight of each input in its row; 0 without weights.

    >>> first_shares(np.array([[0.4, 0.4, 0.2]])).tolist()
    [[0.5, 0.5, 0.0]]
    """
    leads = leading(weights)
    return np.asarray(leads / np.maximum(leads.sum(axis=-1, keepdims=True), 1))


def mean(values: Matrix) -> Matrix:
    """Return the mean of each column, with a sum that does not overflow."""
    small, power = scaled(values, 0)
    return np.asarray(np.ldexp(small.mean(axis=0), power[0]))


def spread(values: Matrix) -> Matrix:
    """Return the sample standard deviation of each column."""
    if len(values) < 2:
        return np.zeros(values.shape[1:])
    is_fixed = values.max(axis=0) == values.min(axis=0)  # its mean may be a last bit off
    small, power = scaled(values, 0)
    return np.where(is_fixed, 0.0, np.ldexp(small.std(axis=0, ddof=1), power[0]))


def variance_ratios(simulations: Sequence[Simulation]) -> dict[str, tuple[float | None, ...]]:
    """Return the variance in the first of several problems divided by that in each other, by name.

    Only quantities watched in all of them; None if nothing varies in the other.
    """
    first, *others = ({each.name: each for each in one.statistics} for one in simulations)
    shared = [name for name in first if all(name in other for other in others)]
    return {
        name: tuple(
            _squared(first[name].std / other[name].std, name) if other[name].std else None
            for other in others
        )
        for name in shared
    }


def _squared(ratio: float, name: str) -> float:
    if ratio > sqrt(sys.float_info.max):
        raise beyond_floats(f"the ratio of the variances of {name}")
    return ratio * ratio


def check_draws(count: int, until: float | None) -> None:
    """Refuse impossible numbers of draws and standard errors."""
    if count < 2:
        raise InputError(f"draws {count}: a standard deviation needs at least 2 draws")
    if until is not None and not until > 0:
        raise InputError(f"until {until:g}: a standard error must be above 0, for example 0.001")
