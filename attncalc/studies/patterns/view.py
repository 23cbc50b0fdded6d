"""One attention of a solution: its weights, the steps around them, and alternatives."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import blocks_of_rows, fixed
from attncalc.base.types import Matrix
from attncalc.equations.operations.products import Weigh
from attncalc.problem.attention.attention import Attention
from attncalc.problem.attention.steps import attention_steps
from attncalc.problem.calculation import Built
from attncalc.problem.scope import changed
from attncalc.problem.step import Plan, Step, run
from attncalc.solving.connections import TIE
from attncalc.solving.long_inputs import run_in_blocks
from attncalc.solving.solution import Head, Solution, given_in_decimals, solve
from attncalc.studies.patterns.pattern import ALONE, Amount, Pattern
from attncalc.studies.watched import entropy


@dataclass(frozen=True, eq=False)
class SolvedAttention:
    """An attention of a solution: the only one, or one in layers.

    weights: the step of its weights.
    """

    solution: Solution
    weights: Step

    @property
    def part(self) -> Built:
        """Its part of the calculation."""
        return self.solution.problem.calculation.part_of(self.weights.name)

    @property
    def fields(self) -> Attention:
        """Its matrices and conventions."""
        return self.part.attention or self.solution.problem

    @cached_property
    def steps(self) -> Plan:
        """Its own steps, with their names in the calculation."""
        return self.part.plan

    @property
    def heads(self) -> tuple[Head, ...]:
        """The weights of each of its heads."""
        return self.solution.heads_of(self.weights)

    @cached_property
    def forbidden(self) -> Matrix | None:
        """Where a mask excludes a key for a query, or None without a mask."""
        step = next((step for step in self.steps if step.role == "masked"), None)
        return None if step is None else np.isneginf(self.solution.floats[step.name])

    @property
    def outputs(self) -> Step:
        """The step of its outputs; with equations, the one that reads the weights."""
        own = (step for step in self.steps if step.role == "outputs")
        readers = (step for step in self.solution.plan if self.weights.name in step.inputs)
        return next(chain(own, readers, (self.weights,)))

    def amount(self, value: Any) -> Amount:
        """Return a number that follows from the solution, with its shown digits."""
        return Amount(float(value), self.solution.in_digits(value))

    def pattern(self, code: str, about: str, values: Any, head: int = 0) -> Pattern:
        """Return a pattern, which is about a part of this attention."""
        weights = self.weights.name
        where = self.solution.problem.where(weights)
        parts = [where] if about != weights else []
        named = ", ".join(part for part in (*parts, about) if part)
        return Pattern(code, named, values, head, weights, where)

    def otherwise(self, **fields: Any) -> tuple[Matrix, ...] | None:
        """Return the weights of each head with other fields; None if they exceed floats."""
        if not self.solution.problem.is_alone:
            return _weights_otherwise(self.solution, self.weights, fields)
        try:
            problem = replace(self.solution.problem, asked=None, **fields)
            found = solve(problem, keep=(self.weights.name,))
        except InputError:
            return None
        return tuple(head.weights for head in found.heads)


class Rows(NamedTuple):
    """Derived values of each row of weights: arrays, one entry for each output.

    lead, runner: the inputs with the largest and the second weight, from 0, the first of those that
        tie.
    top, second: those weights; with only one input, the second is 0.
    sharing, sharing_second: the number of inputs that tie for the largest and for the second
        weight.
    total: the sum of the absolute weights.
    entropy: H = -Σ p ln p in nats, of the weights divided by their sum; nan where one is negative,
        or all are 0.
    """

    lead: Matrix
    runner: Matrix
    top: Matrix
    second: Matrix
    sharing: Matrix
    sharing_second: Matrix
    total: Matrix
    entropy: Matrix

    @property
    def effective(self) -> Matrix:
        """The effective number of inputs of each row: e^H."""
        return np.asarray(np.exp(self.entropy))


def rows_of(weights: Matrix) -> Rows:
    """Return the derived values of each row of one head's weights, in blocks if it is large.

    >>> rows_of(np.array([[0.5, 0.5, 0.0]])).effective.round(2).tolist()
    [2.0]
    """
    blocks = [_rows(weights[place]) for place in blocks_of_rows(weights.shape)]
    return Rows(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def _rows(weights: Matrix) -> Rows:
    lead = weights.argmax(axis=1)
    rest = weights.copy()
    every = np.arange(len(weights))
    top = weights[every, lead]
    rest[every, lead] = -np.inf
    runner = rest.argmax(axis=1)
    second = weights[every, runner] if weights.shape[1] > 1 else np.zeros(len(weights))
    shares_first = (weights >= (top * (1 - TIE))[:, None]).sum(axis=1)
    shares_second = (rest >= (second * (1 - TIE))[:, None]).sum(axis=1)
    sums, total = weights.sum(axis=1), np.abs(weights).sum(axis=1)
    usable = (weights.min(axis=1) >= 0) & (sums > 0)
    shares = weights / np.where(usable, sums, 1)[:, None]
    spread = np.where(usable, np.abs(entropy(shares)), np.nan)
    return Rows(lead, runner, top, second, shares_first, shares_second, total, spread)


@dataclass(frozen=True, eq=False)
class View:
    """One head of a solution (attended: its attention)."""

    attended: SolvedAttention
    head: Head

    @property
    def solution(self) -> Solution:
        """Its solution."""
        return self.attended.solution

    @property
    def weights(self) -> Matrix:
        """Its weights, (n, m), as exactly as floats allow."""
        return self.head.weights

    @property
    def n(self) -> int:
        """The number of outputs."""
        return int(self.weights.shape[0])

    @property
    def m(self) -> int:
        """The number of inputs."""
        return int(self.weights.shape[1])

    @cached_property
    def rows(self) -> Rows:
        """Derived values of each row."""
        return rows_of(self.weights)

    @cached_property
    def alone(self) -> Matrix:
        """The outputs that attend almost only to one input."""
        return np.asarray((self.rows.top >= ALONE * self.rows.total) & (self.rows.total > 0))

    @property
    def has_own(self) -> bool:
        """Whether output i and input i are one token."""
        fields = self.attended.fields
        return fields.query_source == fields.key_source and self.n == self.m

    @cached_property
    def forbidden(self) -> Matrix | None:
        """The masked positions, (n, m), or None without any."""
        found = self.attended.forbidden
        if found is None:
            return None
        return found[max(self.head.number - 1, 0)] if found.ndim == 3 else found

    def weight(self, output: int, source: int) -> Amount:
        """Return a weight as the table shows it."""
        digits = np.asarray(self.head.rounded[output, source]).item()
        shown = fixed(digits, self.solution.problem.decimals)
        return Amount(float(self.weights[output, source]), shown)

    def difference(self, output: int, one: int, other: int) -> Amount:
        """Return the difference of two weights of a row, exact if they are."""
        matrix = self.solution.carried[self.attended.weights.name]
        head = (self.head.number - 1,) if self.head.number else ()
        row = matrix[(*head, output)]
        return self.attended.amount(row[one] - row[other])

    def pattern(self, code: str, values: Mapping[str, Any], output: int | None = None) -> Pattern:
        """Return a pattern of this head, or of one of its outputs."""
        number = self.head.number
        named = [f"head {number}"] if number else []
        named += [] if output is None else [f"output {self.attended.fields.queries[output]}"]
        about = ", ".join(named) or self.attended.weights.name
        return self.attended.pattern(code, about, values, number)


def counted(indices: Any) -> list[int]:
    """Return places counted from 1."""
    return [int(index) + 1 for index in indices]


def _weights_otherwise(
    solution: Solution, weights: Step, fields: Mapping[str, Any]
) -> tuple[Matrix, ...] | None:
    """Return the weights of each head with other fields and the same inputs; None beyond floats."""
    part = solution.problem.calculation.part_of(weights.name)
    assert part.attention is not None
    steps = part._replace(steps=tuple(attention_steps(changed(part.attention, **fields)))).plan
    end = next(i for i, step in enumerate(steps) if isinstance(step.operation, Weigh))
    steps = steps[: end + 1]  # blocks of long inputs end with the step that weighs the values
    known = {**solution.problem.given, **solution.carried}
    if solution.is_exact:
        known = {**given_in_decimals(solution.problem), **solution.carried}
        with solution.arithmetic():
            found = run(steps, known, solution.rounding_between)[weights.name]
    else:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = _in_floats(solution, steps, known)[weights.name]
    made = np.asarray(found).astype(np.float64)
    if not np.isfinite(made).all():
        return None
    return tuple(made) if made.ndim == 3 else (made,)


def _in_floats(solution: Solution, steps: Plan, known: Mapping[str, Matrix]) -> Mapping[str, Any]:
    if not solution.problem.is_long:
        return run(steps, known, solution.rounding_between)
    decimals = solution.problem.decimals if solution.rounding_between else None
    return run_in_blocks(steps, known, {step.name for step in steps[-2:]}, decimals)
