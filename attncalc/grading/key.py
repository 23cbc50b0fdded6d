"""The key: what each entry should be, and what every honest way of rounding makes of it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from attncalc.errors import InputError
from attncalc.grading.recipes import Recipe, recipes
from attncalc.grading.rules import Rules
from attncalc.grading.slack import Slack, ToTheDigit, Within
from attncalc.numbers.rounding import Rule, round_floats
from attncalc.numbers.types import Matrix, Range
from attncalc.operations.step import Step, run
from attncalc.problem.attention.fields import DISPLAY, EACH_STEP
from attncalc.problem.problem import Problem
from attncalc.reading.answers.answer import WrittenMatrix
from attncalc.solving.solution import Solution, solve
from attncalc.solving.work import Work

RULES: tuple[Rule, ...] = ("half-away", "half-even", "truncate")


class Style(NamedTuple):
    """A way to carry and to cut numbers through a whole script."""

    rounding: str
    rule: Rule

    @property
    def code(self) -> str:
        """Its code in JSON, as in `each-step, half-even`."""
        return f"{self.rounding}, {self.rule}"


def key_of(problem: Problem, rules: Rules) -> "Key":
    """Return the key to a problem for answers that are marked by these rules."""
    if rules.in_tolerance:
        return Key(problem, Within(rules.atol or 0.0, rules.rtol or 0.0))
    return Key(problem, ToTheDigit(problem.decimals))


@dataclass(frozen=True, eq=False)
class Key:
    """What an answer to a problem is compared with, worked out once for any number of answers.

    All matrices are as the plan has them.
    """

    problem: Problem
    slack: Slack

    @property
    def in_tolerance(self) -> bool:
        """Whether numbers are compared within a tolerance, and not digit by digit."""
        return isinstance(self.slack, Within)

    @cached_property
    def solution(self) -> Solution:
        """The problem, solved."""
        return solve(self.problem)

    @cached_property
    def steps(self) -> Mapping[str, Step]:
        """The steps of its plan, by name."""
        return {step.name: step for step in self.solution.plan}

    @cached_property
    def work(self) -> Work:
        """How each entry comes about."""
        return Work(self.solution)

    @cached_property
    def given(self) -> Mapping[str, Matrix]:
        """The matrices of the problem, in floats."""
        return self.problem.given

    @cached_property
    def shown(self) -> Mapping[str, Matrix]:
        """Each step at the decimals that are handed in; in full, for programs."""
        if self.in_tolerance:
            return {
                name: self.solution.carried[name].astype(np.float64, copy=False)
                for name in self.steps
            }
        return {
            name: np.asarray(self.solution.digits[name]).astype(np.float64) for name in self.steps
        }

    @cached_property
    def exact(self) -> Mapping[str, Matrix]:
        """Each step as it comes out of its operation, before it is rounded."""
        return {
            name: self.solution.exact[name].astype(np.float64, copy=False) for name in self.steps
        }

    @cached_property
    def ranges(self) -> Mapping[str, Range]:
        """Where the true values behind the shown ones may lie."""
        return {name: self._behind(name, shown) for name, shown in self.shown.items()}

    def _behind(self, name: str, shown: Matrix) -> Range:
        if self.in_tolerance:
            return Range.at(shown)
        rounded = self.slack.behind(shown, np.full(shown.shape, self.problem.decimals))
        return Range(*(np.where(self.is_shown_exactly[name], shown, end) for end in rounded))

    @cached_property
    def is_shown_exactly(self) -> Mapping[str, Matrix]:
        """Where nothing is lost by rounding, there or in any step before."""
        true = self._carried or self.exact
        with np.errstate(invalid="ignore"):  # of infinities
            return {
                name: (np.abs(shown - true[name]) <= 1e-13 * np.abs(shown)) | ~np.isfinite(shown)
                for name, shown in self.shown.items()
            }

    def range_of(self, name: str) -> Range:
        """Return where the true values of a matrix lie, given ones exactly."""
        if name in self.steps:
            return self.ranges[name]
        return Range.at(self.given[name])

    @cached_property
    def reached(self) -> Mapping[str, Range]:
        """What each step comes to when every inexact number that it reads varies."""
        with np.errstate(all="ignore"):
            return {
                name: step.operation.over(*map(self.range_of, step.inputs))
                for name, step in self.steps.items()
            }

    def allows(self, name: str, written: WrittenMatrix) -> Matrix:
        """Say which numbers of a program are within the tolerance, before a rounding or after."""
        values, decimals = written.values, written.decimals
        exact, shown = self.exact[name], self.shown[name]
        near = self.slack.near(values, decimals, Range.at(exact))
        return near if exact is shown else near | self.slack.near(values, decimals, Range.at(shown))

    @cached_property
    def recipes(self) -> Mapping[str, tuple[Recipe, ...]]:
        """The wrong ways to come by each step."""
        steps = self.solution.plan
        return {step.name: recipes(step, self.problem, steps) for step in steps}

    @cached_property
    def scripts(self) -> Mapping[Style, Mapping[str, Matrix]]:
        """What a flawless script holds in each style of rounding; the key's own comes first."""
        own = Style(self.problem.rounding, "half-away")
        scripts = {own: self.shown}
        other = DISPLAY if own.rounding == EACH_STEP else EACH_STEP
        for style in (Style(each, rule) for each in (own.rounding, other) for rule in RULES):
            if style == own:
                continue
            cut = partial(round_floats, decimals=self.problem.decimals, rule=style.rule)
            if style.rounding == DISPLAY:
                scripts[style] = {name: cut(matrix) for name, matrix in self._carried.items()}
            else:
                with np.errstate(all="ignore"), suppress(InputError):  # nothing to divide by
                    scripts[style] = run(self.solution.plan, self.given, cut)
        return scripts

    @cached_property
    def _carried(self) -> Mapping[str, Matrix]:
        """Return the steps with full precision carried; nothing where that overflows."""
        try:
            full = (
                self.solution if self.problem.rounding == DISPLAY else self.solution.other_rounding
            )
            return {name: full.exact[name].astype(np.float64) for name in self.steps}
        except InputError:
            return {}
