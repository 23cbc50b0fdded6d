"""One attention of a solution: its weights, the steps around them, and what others would make."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from attncalc.errors import InputError
from attncalc.numbers.types import Matrix
from attncalc.patterns.pattern import Amount, Pattern
from attncalc.problem.attention.attention import Attention
from attncalc.problem.calculation import Built
from attncalc.problem.step import Plan, Step
from attncalc.solving.otherwise import weights_otherwise
from attncalc.solving.solution import Head, Solution, solve


@dataclass(frozen=True, eq=False)
class Attended:
    """An attention of a solution: the only one, or one in layers.

    Parameters
    ----------
    solution
        What it is an attention of.
    weights
        The step of its weights.
    """

    solution: Solution
    weights: Step

    @property
    def part(self) -> Built:
        """The part that it is."""
        return self.solution.problem.calculation.part_of(self.weights.name)

    @property
    def fields(self) -> Attention:
        """Its matrices and conventions."""
        return self.part.attention or self.solution.problem

    @cached_property
    def steps(self) -> Plan:
        """Its own steps, as they are called in the calculation."""
        return self.part.plan

    @property
    def heads(self) -> tuple[Head, ...]:
        """The weights of each of its heads."""
        return self.solution.heads_of(self.weights)

    @property
    def is_alone(self) -> bool:
        """Whether it is the whole of the problem."""
        return self.solution.problem.is_alone

    @property
    def where(self) -> str:
        """Where it stands among several, as "cross", "1.self" and "layer 2"; "" for the only."""
        return self.solution.problem.where(self.weights.name)

    @cached_property
    def forbidden(self) -> Matrix | None:
        """Where a mask forbids a query to attend to a key, or None where there is no mask."""
        step = next((step for step in self.steps if step.role == "masked"), None)
        return None if step is None else np.isneginf(self.solution.floats[step.name])

    @property
    def outputs(self) -> Step:
        """The step of its outputs."""
        return next(step for step in self.steps if step.role == "outputs")

    def amount(self, value: Any) -> Amount:
        """Return a number that follows from the solution, with the digits that are shown of it."""
        return Amount(float(value), self.solution.in_digits(value))

    def pattern(self, code: str, about: str, values: Any, head: int = 0) -> Pattern:
        """Return a pattern; what it is about is said with where that stands."""
        parts = [self.where] if about != self.weights.name else []
        named = ", ".join(part for part in (*parts, about) if part)
        return Pattern(code, named, values, head, self.weights.name, self.where)

    def otherwise(self, **fields: Any) -> tuple[Matrix, ...] | None:
        """Return the weights of each head with other fields; None where they grow beyond floats."""
        if not self.is_alone:
            return weights_otherwise(self.solution, self.weights, fields)
        try:
            problem = replace(self.solution.problem, asked=None, **fields)
            found = solve(problem, keep=(self.weights.name,))
        except InputError:
            return None
        return tuple(head.weights for head in found.heads)


def attended(solution: Solution) -> tuple[Attended, ...]:
    """Return the attentions of a solution whose weights are kept."""
    return tuple(Attended(solution, weights) for weights in solution.all_weights)
