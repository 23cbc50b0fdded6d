"""The key: the right value of each entry, and the values that each accepted rounding gives."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from attncalc.base.errors import InputError
from attncalc.base.rounding import Rule, round_floats
from attncalc.base.types import Matrix, Range
from attncalc.grading.recipes import Recipe, in_place, recipes, recipes_between, rewrites, roundings
from attncalc.grading.recipes.conventions import Otherwise, otherwise, worked_out
from attncalc.grading.rules import Rules
from attncalc.grading.slack import RULES, Slack, ToTheDigit, Within
from attncalc.problem.attention.declared import DISPLAY, EACH_STEP
from attncalc.problem.calculation import Built
from attncalc.problem.fields import role_of
from attncalc.problem.problem import Problem
from attncalc.problem.step import Step, run
from attncalc.reading.answers.expected import Expected
from attncalc.reading.naming.at_hand import names_at_hand
from attncalc.reading.naming.name import Tokens
from attncalc.solving.solution import Solution, solve
from attncalc.solving.work import Work


class Style(NamedTuple):
    """A rounding of all numbers of an answer, to some significant digits or 0."""

    rounding: str
    rule: Rule
    digits: int = 0

    @property
    def code(self) -> str:
        """Its code in JSON, such as `each-step, half-even`, or `3 digits`."""
        return f"{self.digits} digits" if self.digits else f"{self.rounding}, {self.rule}"


def key_of(problem: Problem, rules: Rules, share: float = 0.0) -> "Key":
    """Return the key to a problem for answers that are marked by these rules.

    `share` of the largest number of each step is added to the tolerance for programs.
    """
    if rules.in_tolerance:
        return Key(problem, Within(rules.atol or 0.0, rules.rtol or 0.0, share))
    return Key(problem, ToTheDigit(problem.decimals))


@dataclass(frozen=True, eq=False)
class Key:
    """The expected values of an answer to a problem, computed once for any number of answers.

    All matrices are in the layout of the plan.
    """

    problem: Problem
    slack: Slack

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments only; another process computes the derived values again."""
        return Key, (self.problem, self.slack)

    def prepare(self) -> None:
        """Compute the values that every marking requires, before processes are forked."""
        with np.errstate(all="ignore"), suppress(InputError):
            _ = self.expected, self.scripts, self.reached, self.recipes, self.roundings

    @cached_property
    def solution(self) -> Solution:
        """The solution of the problem."""
        return solve(self.problem)

    @cached_property
    def steps(self) -> Mapping[str, Step]:
        """The steps of its plan, by name; given matrices that are only shown are not asked for."""
        given = self.problem.names
        return {step.name: step for step in self.solution.plan if step.name not in given}

    @cached_property
    def before(self) -> Mapping[str, frozenset[str]]:
        """Each step, with all steps that it depends on, by name."""
        found: dict[str, frozenset[str]] = {}
        for name, step in self.steps.items():
            earlier = (found.get(read, frozenset()) for read in step.inputs)
            found[name] = frozenset({name}).union(*earlier)
        return found

    def names_at_hand(self) -> AbstractContextManager[None]:
        """Return the context that recognizes names of this problem, such as 1.Q, in an answer."""
        problem = self.problem
        # also those of its normalizations: mu_Q
        of_layers = problem.block != "attention" or problem.made_tokens
        if of_layers or problem.qk_norm != "none" or problem.equations:
            given = (name for name in problem.names if role_of(name) != "arriving")
            return names_at_hand((*self.steps, *given), self.steps)
        forward = {step.name for step in problem.calculation.parts[0].plan}
        of_gradients = tuple(name for name in self.steps if name not in forward)
        return names_at_hand(of_gradients, of_gradients)

    @cached_property
    def expected(self) -> Expected:
        """The content of an answer as plain values, which identify unnamed blocks."""
        problem = self.problem
        mapped = next(iter(problem.attentions), problem)
        return Expected(
            {name: problem.standing.shown(each) for name, each in self.shown.items()},
            {name: np.asarray(problem.stored(name), np.float64) for name in problem.names},
            Tokens(_words(mapped.queries), _words(mapped.keys)),
            problem.standing.by_columns,
            tuple(n for each in problem.attentions for n in (*each.queries, *each.keys)),
            self.following,
            self.mistaken,
        )

    def following(self, own: Mapping[str, Matrix]) -> dict[str, Matrix]:
        """Return the steps that follow from an answer's own matrices, in the problem's layout.

        Steps without a result, for example if a sum is 0, are left out.
        """
        known = self._followed(own).items()
        shown = self.problem.standing.shown
        return {n: shown(each) for n, each in known if n in self.steps and n not in own}

    def mistaken(
        self, own: Mapping[str, Matrix], names: Collection[str]
    ) -> Iterator[tuple[str, Matrix]]:
        """Yield what common mistakes give for some steps, from an answer's own matrices."""
        known = self._followed(own)
        for recipe in chain.from_iterable(self.recipes.get(name, ()) for name in names):
            with suppress(InputError, ValueError, KeyError), np.errstate(all="ignore"):
                made = recipe.make(lambda name: Range.at(known[name]))
                if made is not None and made.low.shape == known[recipe.step].shape:
                    yield recipe.step, self.problem.standing.shown(made.middle)

    def _followed(self, own: Mapping[str, Matrix]) -> dict[str, Matrix]:
        """Return the given matrices, an answer's own, and the steps that follow from them."""
        known: dict[str, Matrix] = {n: np.asarray(x) for n, x in self.problem.given.items()}
        for name, step in self.steps.items():
            if name in own:
                known[name] = self.problem.standing.shown(own[name])
            elif all(each in known for each in step.inputs):
                with suppress(InputError, ValueError), np.errstate(all="ignore"):
                    known[name] = step.operation.apply(*(known[each] for each in step.inputs))
        return known

    @cached_property
    def work(self) -> Work:
        """The written-out work of each entry, with digits from which it comes out as shown."""
        return Work(self.solution, comes_out=True)

    @cached_property
    def shown(self) -> Mapping[str, Matrix]:
        """Each step as an answer shows it: at the problem's decimals, or unrounded for programs."""
        return {name: self.slack.shown(self.solution, name) for name in self.steps}

    @cached_property
    def exact(self) -> Mapping[str, Matrix]:
        """Each step before it is rounded."""
        return _in_floats(self.solution)

    @cached_property
    def ranges(self) -> Mapping[str, Range]:
        """The ranges of the true values of the shown ones."""
        return {name: self._behind(name, shown) for name, shown in self.shown.items()}

    def _behind(self, name: str, shown: Matrix) -> Range:
        behind = self.slack.behind(shown, np.full(shown.shape, self.problem.decimals))
        if behind.is_point:
            return behind
        return behind.replaced(self.is_shown_exactly[name], Range.at(shown))

    @cached_property
    def is_shown_exactly(self) -> Mapping[str, Matrix]:
        """Where rounding changes nothing, there or in any earlier step."""
        true = self._carried or self.exact
        with np.errstate(invalid="ignore"):  # of infinities
            return {
                name: (np.abs(shown - true[name]) <= 1e-13 * np.abs(shown)) | ~np.isfinite(shown)
                for name, shown in self.shown.items()
            }

    def range_of(self, name: str) -> Range:
        """Return the range of the true values of a matrix; given ones are exact."""
        if name in self.steps:
            return self.ranges[name]
        if name not in self.problem.given:
            raise ValueError(name)  # an equation removed it: no recipe can read it
        return Range.at(self.problem.given[name])

    @cached_property
    def reached(self) -> Mapping[str, Range]:
        """The range of each step over all inexact numbers that it reads."""
        with np.errstate(all="ignore"):
            return {
                name: step.operation.over(*map(self.range_of, step.inputs))
                for name, step in self.steps.items()
            }

    @cached_property
    def recipes(self) -> Mapping[str, tuple[Recipe, ...]]:
        """The wrong recipes of each step."""
        return {
            part.name(step.name): self._recipes(step, part)
            for part in self.problem.calculation.parts
            for step in part.steps
            if part.name(step.name) in self.steps
        }

    def changes(self, step: Step) -> tuple[Recipe, ...]:
        """Return any single change of the equation of a step, for mistakes without a recipe."""
        return rewrites(step)

    def _recipes(self, step: Step, part: Built) -> tuple[Recipe, ...]:
        """Return the wrong recipes of a step, in the names of its attention."""
        if part.attention is None:
            return recipes(step, self.problem, self.solution.plan, None)
        placed = self.steps[part.name(step.name)]
        found = recipes(step, part.attention, part.steps, part.attention)
        between = recipes_between(placed, self.solution.plan)
        return (*(in_place(each, part) for each in found), *between)

    @cached_property
    def otherwise(self) -> tuple[Otherwise, ...]:
        """Its layers, computed with each other convention."""
        return tuple(otherwise(self.problem))

    @cached_property
    def in_floats(self) -> Mapping[str, Matrix]:
        """The steps in the floats that all other conventions are computed in.

        Empty if these overflow, or a divisor is 0.
        """
        with np.errstate(all="ignore"), suppress(InputError):
            return worked_out(self.problem)
        return {}

    @cached_property
    def roundings(self) -> Mapping[str, tuple[Recipe, ...]]:
        """The accepted roundings within each step."""
        return {name: roundings(step, self.problem.decimals) for name, step in self.steps.items()}

    @cached_property
    def scripts(self) -> Mapping[Style, Mapping[str, Matrix]]:
        """The steps of a flawless answer in each style of rounding; the key's style is first."""
        own = Style(self.problem.rounding, RULES[0])
        scripts = {own: self.shown}
        other = DISPLAY if own.rounding == EACH_STEP else EACH_STEP
        for style in (Style(each, rule) for each in (own.rounding, other) for rule in RULES):
            cut = partial(round_floats, decimals=self.problem.decimals, rule=style.rule)
            if style == own:
                continue
            if style.rounding == DISPLAY:
                scripts[style] = {name: cut(matrix) for name, matrix in self._carried.items()}
            else:
                with np.errstate(all="ignore"), suppress(InputError):  # a divisor is 0
                    scripts[style] = run(self.solution.plan, self.problem.given, cut)
        return scripts

    @cached_property
    def _carried(self) -> Mapping[str, Matrix]:
        """Return the steps computed with full precision; empty if that overflows."""
        is_own = self.problem.rounding == DISPLAY
        try:
            return self.exact if is_own else _in_floats(self.solution.other_rounding)
        except InputError:
            return {}


def _words(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of tokens, "" for those that are only counted."""
    return tuple("" if name.isdigit() else name for name in names)


def _in_floats(solution: Solution) -> Mapping[str, Matrix]:
    return {
        step.name: solution.exact[step.name].astype(np.float64, copy=False)
        for step in solution.plan
    }
